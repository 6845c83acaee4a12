# SPDX-License-Identifier: LGPL-2.1-or-later
# Sourced by the test tools: programs of another architecture.
#
#   foreign_compiler ARCHITECTURE   prints the name of the C compiler for it
#   foreign_programs ARCHITECTURE   from now on the kernel runs them, by QEMU's user emulation; also in a chroot with
#                                   nothing of QEMU in it. Returns 1 with a message when it cannot be made to.

# Debian's name of the architecture, and QEMU's; and what an ELF file of it begins with, after the magic number.
declare -A foreign_qemu=([arm64]=aarch64)
declare -A foreign_elf=([arm64]='\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00')

foreign_known() {
        [ -n "${foreign_qemu[$1]:-}" ] && return
        echo "foreign: unknown architecture '$1' (there are: ${!foreign_qemu[*]})" >&2
        return 1
}

foreign_compiler() {
        foreign_known "$1" && echo "${foreign_qemu[$1]}-linux-gnu-gcc"
}

foreign_programs() {
        local sysroot name=keyturn-$1 binfmt=/proc/sys/fs/binfmt_misc

        foreign_known "$1" || return
        # A container, as CI runs in, does not have it mounted.
        [ -e "$binfmt/register" ] || mount -t binfmt_misc binfmt_misc "$binfmt" || return
        [ ! -e "$binfmt/$name" ] || return 0
        sysroot=$("${BASH_SOURCE[0]%/*}/cross/sysroot" "$1") || return
        # The mask: any ABI version, programs and shared objects. F: opened now, not where it is run. Two may do so at once.
        printf ':%s:M::\\x7fELF%s:\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\x00\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xfe\\xff\\xff\\xff:%s:F' \
                "$name" "${foreign_elf[$1]}" "$sysroot/qemu-${foreign_qemu[$1]}" 2>/dev/null >"$binfmt/register" ||
                [ -e "$binfmt/$name" ]
}
