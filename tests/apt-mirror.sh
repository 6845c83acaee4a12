# SPDX-License-Identifier: LGPL-2.1-or-later
# Sourced by the test tools: where this machine gets Debian from.
#
# No mirror is named anywhere in keyturn. Every tool that needs a package of some Debian suite asks apt
# itself (which reads one-line and deb822 sources alike) what this machine already uses and trusts.
#
#   apt_mirror_find SUITE   sets APT_MIRROR (the archive's URI, without trailing slash) and APT_KEYRING;
#                           returns 1 with a message when this machine has no Debian source
#   apt_mirror_options      prints this machine's own settings for fetching (proxies, clock checks), one
#                           apt.conf line each
#   apt_mirror_try COMMAND  runs it up to three times: a mirror that is just renewed, or out of reach for a moment
#   mmdebstrap ...          the program, tried so, its options as --NAME=VALUE

# Prints "URI<TAB>sources-file:entry" of this machine's main Debian archives, the requested suite first.
apt_mirror_list() {
        apt-get indextargets --format '$(RELEASE) $(REPO_URI) $(SOURCESENTRY)' \
                'Created-By: Packages' 'Component: main' 'Label: Debian' |
                awk -v suite="$1" '
                        $1 == suite { print 0 "\t" $2 "\t" $3 }
                        $1 != suite { print 1 "\t" $2 "\t" $3 }' |
                sort -s -k1,1n | cut -f2- | awk '!seen[$0]++'
}

# Prints the keyring that entry NUMBER of sources FILE names, if it names one by path.
apt_mirror_signed_by() {
        local file=${1%:*} number=${1##*:}

        case $file in
        *.sources)
                # A deb822 entry is a paragraph; apt counts from 1 and skips those that hold only comments.
                awk -v number="$number" '
                        function flush() { if (fields) { n++; if (n == number && key ~ /^\//) print key }
                                           fields = 0; key = "" }
                        /^#/ { next }
                        /^[ \t]*$/ { flush(); next }
                        { fields = 1 }
                        tolower($1) == "signed-by:" { key = $2 }
                        END { flush() }' "$file"
                ;;
        *)
                sed -n "${number}s/^[^#]*\[[^]]*signed-by=\(\/[^] ]*\).*/\1/p" "$file"
                ;;
        esac
}

apt_mirror_try() {
        local try

        for try in 1 2 3; do
                ! "$@" || return 0
                [ "$try" = 3 ] || { echo "apt-mirror: trying again: $1" >&2; sleep 20; }
        done
        return 1
}

# What a try has left there is in the way of the next one.
apt_mirror_bootstrap() {
        [ -z "$1" ] || rm -rf --one-file-system "$1"
        command mmdebstrap "${@:2}"
}

mmdebstrap() {
        local word words=()

        for word; do
                [[ $word = -* ]] || words+=("$word")
        done
        # Not what somebody else has there.
        [ ! -e "${words[1]:-}" ] || words[1]=
        apt_mirror_try apt_mirror_bootstrap "${words[1]:-}" "$@"
}

# Several may want that at once, and apt does not wait for its lock. It fails only where all of its sources do.
apt_mirror_update() {
        [ -n "$(apt_mirror_list "$1")" ] || flock /var/lib/apt apt-get update -q >&2
}

apt_mirror_find() {
        local suite=$1 uri entry

        # apt knows a source's label only after its index was fetched once; a fresh machine has none.
        apt_mirror_try apt_mirror_update "$suite" || true
        IFS=$'\t' read -r uri entry < <(apt_mirror_list "$suite")
        if [ -z "${uri:-}" ]; then
                echo "apt-mirror: no Debian archive (component main) in this machine's apt sources;" \
                     "add one to /etc/apt/sources.list.d and run 'apt-get update'" >&2
                return 1
        fi

        APT_MIRROR=${uri%/}
        APT_KEYRING=$(apt_mirror_signed_by "$entry")
        APT_KEYRING=${APT_KEYRING:-/usr/share/keyrings/debian-archive-keyring.gpg}
        if [ ! -r "$APT_KEYRING" ]; then
                echo "apt-mirror: cannot read keyring '$APT_KEYRING' of '$entry';" \
                     "install the package debian-archive-keyring" >&2
                return 1
        fi
}

apt_mirror_options() {
        # A bare machine has none, which is no error.
        apt-config dump |
                awk '/^Acquire::(http|https|Check-Valid-Until|Check-Date|Retries)(::| )/ && !/ "";$/'
}
