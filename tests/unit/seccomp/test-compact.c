/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <linux/bpf_common.h>
#include <linux/seccomp.h>
#include <stddef.h>

#include "libstart/seccomp/compact.h"
#include "tests/unit/test-main.h"

/* Filters as libseccomp makes them, at random; both forms are run and must agree. */

#define NR offsetof(struct seccomp_data, nr)
#define ARCH offsetof(struct seccomp_data, arch)
#define ARG(n) ((guint32) offsetof(struct seccomp_data, args) + 8 * (n))

typedef struct sock_filter Instruction;

static void add(GArray *program, guint16 code, guint8 jt, guint8 jf, guint32 k) {
        Instruction i = { code, jt, jf, k };

        g_array_append_val(program, i);
}

static void load(GArray *program, guint32 k) {
        add(program, BPF_LD | BPF_W | BPF_ABS, 0, 0, k);
}

static void verdict(GArray *program, guint32 k) {
        add(program, BPF_RET | BPF_K, 0, 0, k);
}

static guint32 run(const Instruction *program, gsize length, const struct seccomp_data *data) {
        guint32 a = 0;

        for (gsize pc = 0; pc < length; pc++) {
                const Instruction *i = &program[pc];

                switch (i->code) {
                case BPF_LD | BPF_W | BPF_ABS:
                        memcpy(&a, (const char *) data + i->k, sizeof a);
                        break;
                case BPF_ALU | BPF_AND | BPF_K:
                        a &= i->k;
                        break;
                case BPF_JMP | BPF_JA:
                        pc += i->k;
                        break;
                case BPF_JMP | BPF_JEQ | BPF_K:
                        pc += a == i->k ? i->jt : i->jf;
                        break;
                case BPF_JMP | BPF_JGT | BPF_K:
                        pc += a > i->k ? i->jt : i->jf;
                        break;
                case BPF_JMP | BPF_JGE | BPF_K:
                        pc += a >= i->k ? i->jt : i->jf;
                        break;
                case BPF_JMP | BPF_JSET | BPF_K:
                        pc += a & i->k ? i->jt : i->jf;
                        break;
                case BPF_RET | BPF_K:
                        return i->k;
                default:
                        ck_abort_msg("instruction %#x", i->code);
                }
        }
        ck_abort_msg("the program has no end");
}

/* One argument, compared in one of the ways that a profile can ask for. */
static void add_condition(GArray *program, GRand *rand, guint32 otherwise) {
        static const guint16 ops[] = { BPF_JEQ, BPF_JGT, BPF_JGE, BPF_JSET };

        load(program, ARG((guint32) g_rand_int_range(rand, 0, 6)));
        if (g_rand_boolean(rand))
                add(program, BPF_ALU | BPF_AND | BPF_K, 0, 0, (guint32) g_rand_int_range(rand, 0, 16));
        add(program, (guint16) (BPF_JMP | ops[g_rand_int_range(rand, 0, 4)] | BPF_K), 0, 1,
            (guint32) g_rand_int_range(rand, 0, 8));
        verdict(program, SECCOMP_RET_ALLOW);
        verdict(program, otherwise);
}

/* A list for one architecture: every number with a verdict or a condition of its own. */
static void add_list(GArray *program, GRand *rand, guint n_verdicts, bool conditions) {
        guint32 number = 0;
        guint n = (guint) g_rand_int_range(rand, 1, 300);

        load(program, NR);
        for (guint i = 0; i < n; i++) {
                guint at = program->len;

                number += (guint32) (g_rand_int_range(rand, 0, 10) ? 1 : g_rand_int_range(rand, 1, 50));
                add(program, BPF_JMP | BPF_JEQ | BPF_K, 0, 0, number);
                if (conditions && g_rand_int_range(rand, 0, 12) == 0)
                        add_condition(program, rand, SECCOMP_RET_ERRNO | 1);
                else
                        verdict(program, SECCOMP_RET_ERRNO | (guint32) g_rand_int_range(rand, 0, (int) n_verdicts));
                g_array_index(program, Instruction, at).jf = (guint8) (program->len - at - 1);
        }
        verdict(program, SECCOMP_RET_ERRNO | 38);
}

static GArray *make_program(GRand *rand, guint n_verdicts, bool conditions) {
        GArray *program = g_array_new(FALSE, FALSE, sizeof(Instruction));
        guint n = (guint) g_rand_int_range(rand, 1, 4);

        load(program, ARCH);
        for (guint i = 0; i < n; i++) {
                guint at = program->len;

                add(program, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, 0xc000003e + i);
                add(program, BPF_JMP | BPF_JA, 0, 0, 0);
                add_list(program, rand, n_verdicts, conditions);
                g_array_index(program, Instruction, at + 1).k = program->len - at - 2;
        }
        verdict(program, SECCOMP_RET_KILL_PROCESS);
        return program;
}

static void compare(const GArray *old, GBytes *compact, GRand *rand) {
        gsize size;
        const Instruction *new = g_bytes_get_data(compact, &size);

        for (guint i = 0; i < 4000; i++) {
                struct seccomp_data data = {
                        .arch = 0xc000003c + (guint32) g_rand_int_range(rand, 0, 6),
                        .nr = g_rand_int_range(rand, 0, 20) ? g_rand_int_range(rand, 0, 1000) :
                                                              (int) g_rand_int(rand),
                };

                for (guint arg = 0; arg < G_N_ELEMENTS(data.args); arg++)
                        data.args[arg] = (guint64) g_rand_int_range(rand, 0, 16);
                ck_assert_uint_eq(run((const Instruction *) (void *) old->data, old->len, &data),
                                  run(new, size / sizeof *new, &data));
        }
}

START_TEST(test_random_programs) {
        g_autoptr(GRand) rand = g_rand_new_with_seed((guint32) _i);
        /* Few verdicts make long ranges, many make trees that no comparison can jump over. */
        guint n_verdicts = _i % 3 == 0 ? 1 : _i % 3 == 1 ? 3 : 1000;
        g_autoptr(GArray) program = make_program(rand, n_verdicts, _i % 2);
        GBytes *compact = seccomp_compact((const Instruction *) (void *) program->data, program->len);

        if (!compact) { /* nothing to be gained where all are different */
                ck_assert_uint_eq(n_verdicts, 1000);
                return;
        }
        ck_assert_uint_lt(g_bytes_get_size(compact), program->len * sizeof(Instruction));
        compare(program, compact, rand);
        g_bytes_unref(compact);
}
END_TEST

static const struct {
        const char *what;
        Instruction program[8];
        gsize length;
} refused[] = {
        { "nothing", { { 0 } }, 0 },
        { "no end", { { BPF_LD | BPF_W | BPF_ABS, 0, 0, NR } }, 1 },
        { "a jump out of it", { { BPF_JMP | BPF_JA, 0, 0, 1 }, { BPF_RET | BPF_K, 0, 0, 0 } }, 2 },
        { "bits of the number",
          { { BPF_LD | BPF_W | BPF_ABS, 0, 0, NR },
            { BPF_JMP | BPF_JSET | BPF_K, 0, 1, 1 },
            { BPF_RET | BPF_K, 0, 0, 0 },
            { BPF_RET | BPF_K, 0, 0, 1 } },
          4 },
        { "arithmetic on the number",
          { { BPF_LD | BPF_W | BPF_ABS, 0, 0, NR },
            { BPF_ALU | BPF_AND | BPF_K, 0, 0, 1 },
            { BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 1 },
            { BPF_RET | BPF_K, 0, 0, 0 },
            { BPF_RET | BPF_K, 0, 0, 1 } },
          5 },
        { "a comparison with nothing",
          { { BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 1 }, { BPF_RET | BPF_K, 0, 0, 0 }, { BPF_RET | BPF_K, 0, 0, 1 } },
          3 },
        { "a verdict from the accumulator",
          { { BPF_LD | BPF_W | BPF_ABS, 0, 0, NR }, { BPF_RET | BPF_A, 0, 0, 0 } },
          2 },
        { "what is short already", { { BPF_RET | BPF_K, 0, 0, 0 } }, 1 },
};

START_TEST(test_refused) {
        ck_assert_msg(!seccomp_compact(refused[_i].program, refused[_i].length), "%s", refused[_i].what);
}
END_TEST

/* A file in memory may be cut anywhere. Here the first comparisons lead to the last instruction. */
START_TEST(test_cut_programs) {
        g_autoptr(GRand) rand = g_rand_new_with_seed((guint32) _i);
        g_autoptr(GArray) program = make_program(rand, 3, _i % 2);
        const Instruction *instructions = (const Instruction *) (void *) program->data;

        ck_assert(seccomp_is_well_formed(instructions, program->len));
        for (guint length = 0; length < program->len; length++)
                ck_assert_msg(!seccomp_is_well_formed(instructions, length), "%u of %u", length, program->len);
}
END_TEST

TEST_MAIN("compact", {
        tcase_add_loop_test(tcase, test_cut_programs, 0, 10);
        tcase_add_loop_test(tcase, test_random_programs, 0, 60);
        tcase_add_loop_test(tcase, test_refused, 0, G_N_ELEMENTS(refused));
})
