/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* compare-filters A.bpf B.bpf
 *
 * Runs two filters on every system call number of every architecture that they look at, with arguments
 * around every constant that either of them compares with, and says where their verdicts differ. Exit
 * status 1 then. */
#include <linux/audit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "seccomp-precompile/bpf-simulate.h"

#define CALLS 1024
#define X32_BIT 0x40000000U
#define RANDOM_ROUNDS 32
#define MAX_REPORTS 20

typedef struct Filter {
        const char *name;
        struct sock_filter *program;
        size_t length;
} Filter;

static Filter arg_filters[2];
static GArray *constants; /* guint32: whatever the filters compare with, and its neighbours */
static size_t cases, differences;

static void read_filter(Filter *filter, const char *name) {
        g_autoptr(GError) error = NULL;
        gsize size;

        filter->name = name;
        if (!g_file_get_contents(name, (char **) &filter->program, &size, &error))
                g_error("%s", error->message);
        filter->length = size / sizeof(struct sock_filter);
        if (size == 0 || size % sizeof(struct sock_filter) != 0)
                g_error("'%s' is no filter", name);
}

static void collect_constants(const Filter *filter) {
        for (size_t i = 0; i < filter->length; i++) {
                guint32 k = filter->program[i].k;

                if (BPF_CLASS(filter->program[i].code) != BPF_JMP && BPF_CLASS(filter->program[i].code) != BPF_ALU)
                        continue;
                for (guint32 value = k - 1; value != k + 2; value++)
                        g_array_append_val(constants, value);
        }
}

static void compare(const struct seccomp_data *data) {
        guint32 verdicts[2];

        for (int i = 0; i < 2; i++)
                if (!bpf_simulate(arg_filters[i].program, arg_filters[i].length, data, &verdicts[i]))
                        g_error("'%s' is no valid filter", arg_filters[i].name);
        cases++;
        if (verdicts[0] == verdicts[1] || differences++ >= MAX_REPORTS)
                return;
        printf("arch %08x call %d (%llx %llx %llx %llx %llx %llx): %08x and %08x\n", data->arch, data->nr,
               data->args[0], data->args[1], data->args[2], data->args[3], data->args[4], data->args[5], verdicts[0],
               verdicts[1]);
}

static guint64 pick(GRand *random) {
        guint32 low = g_array_index(constants, guint32, g_rand_int_range(random, 0, (gint32) constants->len));
        guint32 high = g_array_index(constants, guint32, g_rand_int_range(random, 0, (gint32) constants->len));

        switch (g_rand_int_range(random, 0, 4)) {
        case 0:
                return (guint64) high << 32 | low;
        case 1:
                return (guint64) high << 32;
        default:
                return low;
        }
}

static void compare_call(guint32 arch, guint32 call, bool thorough, GRand *random) {
        struct seccomp_data data = { .nr = (int) call, .arch = arch };

        compare(&data);
        memset(data.args, 0xff, sizeof data.args);
        compare(&data);
        for (int i = 0; i < (thorough ? 100 : 1) * RANDOM_ROUNDS; i++) {
                for (size_t k = 0; k < G_N_ELEMENTS(data.args); k++)
                        data.args[k] = pick(random);
                compare(&data);
        }
        for (size_t k = 0; k < G_N_ELEMENTS(data.args); k++)
                for (guint i = 0; i < constants->len; i++) {
                        memset(data.args, 0, sizeof data.args);
                        data.args[k] = g_array_index(constants, guint32, i);
                        if (thorough)
                                compare(&data);
                        data.args[k] <<= 32;
                        if (thorough)
                                compare(&data);
                }
}

/* Does the filter look at this call's arguments at all? Then it deserves more than a few samples. */
static bool depends_on_arguments(guint32 arch, guint32 call, GRand *random) {
        struct seccomp_data data = { .nr = (int) call, .arch = arch };
        guint32 first, other;

        if (!bpf_simulate(arg_filters[0].program, arg_filters[0].length, &data, &first))
                return true;
        for (int i = 0; i < 100; i++) {
                for (size_t k = 0; k < G_N_ELEMENTS(data.args); k++)
                        data.args[k] = pick(random);
                if (!bpf_simulate(arg_filters[0].program, arg_filters[0].length, &data, &other) || other != first)
                        return true;
        }
        return false;
}

int main(int argc, char **argv) {
        static const guint32 arches[] = { AUDIT_ARCH_X86_64,
                                          AUDIT_ARCH_I386,
                                          AUDIT_ARCH_AARCH64,
                                          AUDIT_ARCH_ARM,
                                          AUDIT_ARCH_S390X,
                                          AUDIT_ARCH_S390,
                                          0 };
        g_autoptr(GRand) random = g_rand_new_with_seed(1);
        static const guint32 offsets[] = { 0, X32_BIT, X32_BIT | 0x80000000U, (guint32) -CALLS };

        if (argc != 3) {
                fprintf(stderr, "usage: compare-filters A.bpf B.bpf\n");
                return EXIT_FAILURE;
        }
        constants = g_array_new(FALSE, FALSE, sizeof(guint32));
        for (int i = 0; i < 2; i++) {
                read_filter(&arg_filters[i], argv[i + 1]);
                collect_constants(&arg_filters[i]);
        }
        for (size_t a = 0; a < G_N_ELEMENTS(arches); a++)
                for (size_t o = 0; o < G_N_ELEMENTS(offsets); o++)
                        for (guint32 i = 0; i < CALLS; i++) {
                                guint32 call = offsets[o] + i;

                                compare_call(arches[a], call, depends_on_arguments(arches[a], call, random), random);
                        }
        printf("%zu cases, %zu differences\n", cases, differences);
        return differences > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
