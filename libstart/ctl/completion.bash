# SPDX-License-Identifier: LGPL-2.1-or-later
# bash completion for keyturnctl(8)

_keyturnctl() {
        local current=${COMP_WORDS[COMP_CWORD]} command= word
        for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
                case $word in
                list | analyze | networks | images | exec) command=$word; break ;;
                esac
        done
        if [[ $current == -* ]]; then
                mapfile -t COMPREPLY < <(compgen -W \
                        '--json --svg --env --user --workdir --interactive --tty --version --help' -- "$current")
        elif [ -z "$command" ]; then
                mapfile -t COMPREPLY < <(compgen -W 'list analyze networks images exec' -- "$current")
        elif [[ $command == analyze || $command == exec ]]; then
                mapfile -t COMPREPLY < <(compgen -W \
                        "$(NO_COLOR=1 keyturnctl list 2>/dev/null | tail -n +2 | cut -d' ' -f1)" -- "$current")
        fi
}
complete -F _keyturnctl keyturnctl
