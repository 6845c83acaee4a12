/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stdlib.h>

#include "libstart/seccomp/names.h"
#include "seccomp-precompile/bpf-disassemble.h"

/* What is known of the machine's state before an instruction: which word of seccomp_data is in the
 * accumulator, and for which architecture the program has found itself running. Programs only jump
 * forwards, so one pass is enough. */
typedef struct State {
        enum { UNREACHED, KNOWN, MIXED } loaded_state;
        guint32 loaded; /* offset in seccomp_data */
        guint32 arch;   /* 0: not asked yet, or differs */
} State;

#define NR offsetof(struct seccomp_data, nr)
#define ARCH offsetof(struct seccomp_data, arch)
#define ARGS offsetof(struct seccomp_data, args)
#define X32_BIT 0x40000000U

static void merge(State *into, State from) {
        if (into->loaded_state == UNREACHED)
                *into = from;
        if (into->loaded != from.loaded)
                into->loaded_state = MIXED;
        if (into->arch != from.arch)
                into->arch = 0;
}

/* Hands what is known after instruction i on to the instructions that may follow it. */
static void propagate(State *states, const struct sock_filter *program, size_t length, size_t i) {
        const struct sock_filter *insn = &program[i];
        State state = states[i], yes;

        if (BPF_CLASS(insn->code) == BPF_RET)
                return;
        if (insn->code == (BPF_LD | BPF_W | BPF_ABS)) {
                state.loaded_state = KNOWN;
                state.loaded = insn->k;
        } else if (BPF_CLASS(insn->code) != BPF_JMP)
                state.loaded_state = MIXED;
        if (BPF_CLASS(insn->code) != BPF_JMP || BPF_OP(insn->code) == BPF_JA) {
                size_t next = i + 1 + (BPF_CLASS(insn->code) == BPF_JMP ? insn->k : 0);

                if (next < length)
                        merge(&states[next], state);
                return;
        }
        yes = state;
        if (insn->code == (BPF_JMP | BPF_JEQ | BPF_K) && state.loaded_state == KNOWN && state.loaded == ARCH)
                yes.arch = insn->k;
        if (i + 1 + insn->jt < length)
                merge(&states[i + 1 + insn->jt], yes);
        if (i + 1 + insn->jf < length)
                merge(&states[i + 1 + insn->jf], state);
}

static char *describe_field(guint32 offset) {
        if (offset == NR)
                return g_strdup("number of the system call");
        if (offset == ARCH)
                return g_strdup("architecture");
        if (offset < ARGS)
                return g_strdup("instruction pointer");
        guint32 word = (offset - ARGS) / sizeof(guint32);
        bool high = word % 2 == (G_BYTE_ORDER == G_LITTLE_ENDIAN ? 1 : 0);
        return g_strdup_printf("argument %u, %s half", word / 2, high ? "high" : "low");
}

static char *describe_constant(State state, guint32 k) {
        char *name = NULL;

        if (state.loaded_state != KNOWN)
                return NULL;
        if (state.loaded == ARCH)
                return g_strdup(seccomp_arch_go_name(k));
        if (state.loaded != NR)
                return NULL;
        /* x32 has the architecture of the 64-bit calls and a bit in its numbers. */
        if (state.arch == SCMP_ARCH_X86_64 && (k & X32_BIT))
                name = seccomp_syscall_resolve_num_arch(SCMP_ARCH_X32, (int) k);
        else if (state.arch)
                name = seccomp_syscall_resolve_num_arch(state.arch, (int) k);
        char *copy = g_strdup(name); /* libseccomp's is malloc()'s */
        free(name);
        return copy;
}

static void append_jump(GString *text, const struct sock_filter *insn, size_t i, State state) {
        static const char *const operators[] = {
                [BPF_JEQ >> 4] = "==", [BPF_JGT >> 4] = ">", [BPF_JGE >> 4] = ">=", [BPF_JSET >> 4] = "&"
        };

        if (BPF_OP(insn->code) == BPF_JA) {
                g_string_append_printf(text, "goto %zu", i + 1 + insn->k);
                return;
        }
        g_autofree char *name = describe_constant(state, insn->k);
        g_string_append_printf(text, "if %s 0x%08x%s%s%s goto %zu else %zu", operators[BPF_OP(insn->code) >> 4],
                               insn->k, name ? " (" : "", name ? name : "", name ? ")" : "", i + 1 + insn->jt,
                               i + 1 + insn->jf);
}

static void append_insn(GString *text, const struct sock_filter *insn, size_t i, State state) {
        g_autofree char *what = NULL;

        g_string_append_printf(text, "%4zu  ", i);
        if (BPF_CLASS(insn->code) == BPF_RET) {
                what = seccomp_action_describe(insn->k);
                g_string_append_printf(text, "return %s", what);
        } else if (insn->code == (BPF_LD | BPF_W | BPF_ABS)) {
                what = describe_field(insn->k);
                g_string_append_printf(text, "load %s", what);
        } else if (insn->code == (BPF_ALU | BPF_AND | BPF_K))
                g_string_append_printf(text, "and 0x%08x", insn->k);
        else if (BPF_CLASS(insn->code) == BPF_JMP && BPF_SRC(insn->code) == BPF_K && BPF_OP(insn->code) <= BPF_JSET)
                append_jump(text, insn, i, state);
        else
                g_string_append_printf(text, "code 0x%02x jt %u jf %u k 0x%08x", insn->code, insn->jt, insn->jf,
                                       insn->k);
        g_string_append_c(text, '\n');
}

char *bpf_disassemble(const struct sock_filter *program, size_t length) {
        g_autofree State *states = g_new0(State, length);
        GString *text = g_string_new(NULL);

        states[0].loaded_state = MIXED;
        for (size_t i = 0; i < length; i++) {
                append_insn(text, &program[i], i, states[i]);
                propagate(states, program, length, i);
        }
        return g_string_free(text, FALSE);
}
