# SPDX-License-Identifier: LGPL-2.1-or-later
# bash completion for keyturnctl(8). Its commands and options are read from its help, where each command that takes a
# container says NAME.

_keyturnctl() {
        local current=${COMP_WORDS[COMP_CWORD]} help command= arguments= at=1 words=
        help=$(keyturnctl --help 2>/dev/null)
        while ((at < COMP_CWORD)) && [[ ${COMP_WORDS[at]} == -* ]]; do
                ((at++))
        done
        if ((at < COMP_CWORD)); then
                command=${COMP_WORDS[at]}
                arguments=$(sed -n "s/^  $command  *\(.*\)/\1/p" <<<"$help" 2>/dev/null)
        fi
        case $arguments in
        *NAME:PATH*)
                # A name, and what is in the container is not looked up.
                compopt -o nospace -o default
                words=$(keyturnctl list --quiet 2>/dev/null | sed 's/$/:/')
                ;;
        NAME* | '[NAME'*)
                ((COMP_CWORD == at + 1)) && words=$(keyturnctl list --quiet 2>/dev/null)
                ((COMP_CWORD == at + 1)) || compopt -o default
                ;;
        '') [ -n "$command" ] || words=$(sed -n '/keyturnctl/d; s/^  \([a-z][a-z-]*\) .*/\1/p' <<<"$help") ;;
        esac
        if [[ $current == -* ]]; then
                words=$(grep -o -e '--[a-z][a-z-]*' <<<"$help" | sort -u)
        fi
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
        # bash takes the colon for the end of a word.
        ! declare -F __ltrim_colon_completions >/dev/null || __ltrim_colon_completions "$current"
}
complete -F _keyturnctl keyturnctl
