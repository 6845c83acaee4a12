/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "seccomp-precompile/bpf-simulate.h"

static bool load(guint32 *a, const struct sock_filter *insn, const struct seccomp_data *data) {
        if (insn->code != (BPF_LD | BPF_W | BPF_ABS) || insn->k % sizeof *a != 0 || insn->k >= sizeof *data)
                return false;
        memcpy(a, (const char *) data + insn->k, sizeof *a);
        return true;
}

/* Sets *ret_skip: how many instructions to leave out. */
static bool jump(guint32 a, const struct sock_filter *insn, size_t *ret_skip) {
        bool yes;

        switch (insn->code) {
        case BPF_JMP | BPF_JA:
                *ret_skip = insn->k;
                return true;
        case BPF_JMP | BPF_JEQ | BPF_K:
                yes = a == insn->k;
                break;
        case BPF_JMP | BPF_JGT | BPF_K:
                yes = a > insn->k;
                break;
        case BPF_JMP | BPF_JGE | BPF_K:
                yes = a >= insn->k;
                break;
        case BPF_JMP | BPF_JSET | BPF_K:
                yes = a & insn->k;
                break;
        default:
                return false;
        }
        *ret_skip = yes ? insn->jt : insn->jf;
        return true;
}

bool bpf_simulate(const struct sock_filter *program, size_t length, const struct seccomp_data *data,
                  guint32 *ret_action) {
        guint32 a = 0;

        if (length > BPF_MAXINSNS)
                return false;
        for (size_t i = 0; i < length; i++) {
                const struct sock_filter *insn = &program[i];
                size_t skip = 0;

                if (insn->code == (BPF_RET | BPF_K)) {
                        *ret_action = insn->k;
                        return true;
                }
                if (insn->code == (BPF_ALU | BPF_AND | BPF_K))
                        a &= insn->k;
                else if (BPF_CLASS(insn->code) == BPF_JMP ? !jump(a, insn, &skip) || skip >= length - i :
                                                            !load(&a, insn, data))
                        return false;
                i += skip;
        }
        return false; /* fell off the end */
}
