# SPDX-License-Identifier: LGPL-2.1-or-later
# bash completion for keyturnctl(8). Its commands are read from its help, where each that takes a container says NAME, and the
# options of a command from the help of that.

# Services, which are what one starts and stops, and containers.
_keyturnctl_names() {
        keyturnctl list --json 2>/dev/null | sed -n 's/^ *"unit": "\(.*\)[.]service".*/\1/p; s/^ *"container": "\(.*\)".*/\1/p' |
                sort -u
}

_keyturnctl() {
        local current=${COMP_WORDS[COMP_CWORD]} help command= arguments= at=1 words=
        help=$(keyturnctl --help 2>/dev/null)
        # What runs on another machine is not looked up.
        if [[ ${COMP_WORDS[1]} == @(-H|--host) ]]; then
                COMPREPLY=()
                ((COMP_CWORD != 2)) || return 0
                at=3
        fi
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
                words=$(_keyturnctl_names | sed 's/$/:/')
                ;;
        NAME* | '[NAME'*)
                ((COMP_CWORD == at + 1 && at < 3)) && words=$(_keyturnctl_names)
                ((COMP_CWORD == at + 1)) || compopt -o default
                ;;
        '') [ -n "$command" ] || words=$(sed -n '/keyturnctl/d; s/^  \([a-z][a-z-]*\) .*/\1/p' <<<"$help") ;;
        esac
        if [[ $current == -* ]]; then
                [ -z "$command" ] || help=$(keyturnctl "$command" --help 2>/dev/null)
                words=$(grep -o -e '--[a-z][a-z-]*' <<<"$help" | sort -u)
        fi
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
        # bash takes the colon for the end of a word.
        ! declare -F __ltrim_colon_completions >/dev/null || __ltrim_colon_completions "$current"
}
complete -F _keyturnctl keyturnctl
