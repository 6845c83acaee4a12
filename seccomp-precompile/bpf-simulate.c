/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "seccomp-precompile/bpf-simulate.h"

typedef struct Machine {
        guint32 a, x, memory[BPF_MEMWORDS];
        const struct seccomp_data *data;
} Machine;

static bool load(Machine *machine, const struct sock_filter *insn) {
        switch (insn->code) {
        case BPF_LD | BPF_W | BPF_ABS:
                if (insn->k % sizeof(guint32) != 0 || insn->k >= sizeof *machine->data)
                        return false;
                memcpy(&machine->a, (const char *) machine->data + insn->k, sizeof machine->a);
                return true;
        case BPF_LD | BPF_W | BPF_LEN:
                machine->a = sizeof *machine->data;
                return true;
        case BPF_LDX | BPF_W | BPF_LEN:
                machine->x = sizeof *machine->data;
                return true;
        case BPF_LD | BPF_IMM:
                machine->a = insn->k;
                return true;
        case BPF_LDX | BPF_IMM:
                machine->x = insn->k;
                return true;
        }
        if (insn->k >= BPF_MEMWORDS)
                return false;
        if (insn->code == (BPF_LD | BPF_MEM))
                machine->a = machine->memory[insn->k];
        else if (insn->code == (BPF_LDX | BPF_MEM))
                machine->x = machine->memory[insn->k];
        else if (insn->code == BPF_ST)
                machine->memory[insn->k] = machine->a;
        else if (insn->code == BPF_STX)
                machine->memory[insn->k] = machine->x;
        else
                return false;
        return true;
}

static bool calculate(Machine *machine, const struct sock_filter *insn) {
        guint32 operand = BPF_SRC(insn->code) == BPF_X ? machine->x : insn->k;

        switch (BPF_OP(insn->code)) {
        case BPF_ADD:
                machine->a += operand;
                return true;
        case BPF_SUB:
                machine->a -= operand;
                return true;
        case BPF_MUL:
                machine->a *= operand;
                return true;
        case BPF_DIV:
                machine->a = operand ? machine->a / operand : 0;
                return operand != 0;
        case BPF_OR:
                machine->a |= operand;
                return true;
        case BPF_AND:
                machine->a &= operand;
                return true;
        case BPF_XOR:
                machine->a ^= operand;
                return true;
        case BPF_LSH:
                machine->a = operand < 32 ? machine->a << operand : 0;
                return true;
        case BPF_RSH:
                machine->a = operand < 32 ? machine->a >> operand : 0;
                return true;
        case BPF_NEG:
                machine->a = -machine->a;
                return true;
        }
        return false;
}

/* Sets *ret_skip: how many instructions to leave out. */
static bool jump(const Machine *machine, const struct sock_filter *insn, size_t *ret_skip) {
        guint32 operand = BPF_SRC(insn->code) == BPF_X ? machine->x : insn->k;
        bool yes;

        switch (BPF_OP(insn->code)) {
        case BPF_JA:
                *ret_skip = insn->k;
                return true;
        case BPF_JEQ:
                yes = machine->a == operand;
                break;
        case BPF_JGT:
                yes = machine->a > operand;
                break;
        case BPF_JGE:
                yes = machine->a >= operand;
                break;
        case BPF_JSET:
                yes = machine->a & operand;
                break;
        default:
                return false;
        }
        *ret_skip = yes ? insn->jt : insn->jf;
        return true;
}

bool bpf_simulate(const struct sock_filter *program, size_t length, const struct seccomp_data *data,
                  guint32 *ret_action) {
        Machine machine = { .data = data };

        if (length > BPF_MAXINSNS)
                return false;
        for (size_t i = 0; i < length; i++) {
                const struct sock_filter *insn = &program[i];
                size_t skip = 0;
                bool ok = true;

                switch (BPF_CLASS(insn->code)) {
                case BPF_RET:
                        *ret_action = BPF_RVAL(insn->code) == BPF_A ? machine.a : insn->k;
                        return true;
                case BPF_ALU:
                        ok = calculate(&machine, insn);
                        break;
                case BPF_JMP:
                        ok = jump(&machine, insn, &skip) && skip < length - i;
                        break;
                case BPF_MISC:
                        if (BPF_MISCOP(insn->code) == BPF_TAX)
                                machine.x = machine.a;
                        else
                                machine.a = machine.x;
                        break;
                default:
                        ok = load(&machine, insn);
                }
                if (!ok)
                        return false;
                i += skip;
        }
        return false; /* fell off the end */
}
