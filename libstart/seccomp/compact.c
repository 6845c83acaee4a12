/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <linux/bpf_common.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <string.h>

#include "libstart/seccomp/compact.h"

/* libseccomp's filter is a tree over all numbers of system calls, and most neighbours have the same verdict. It tells
 * numbers (and architectures) apart only at the constants that it compares them with, so it is run once for each
 * interval between these: it ends with a verdict, or where it first loads an argument. Neighbours with the same end
 * become one range, found by binary search; the instructions behind a loaded argument are copied in their old order.
 * Then both programs are run for every interval, and must end in the same way; if not, libseccomp's is taken as it
 * is. */

/* What the accumulator holds. */
typedef enum Held { NOTHING, ARCH, NUMBER, N_HELD } Held;

/* How a program ends for one architecture and number. */
typedef struct End {
        bool known; /* else it does something that is not understood here */
        bool rest;
        guint32 value; /* the verdict, or where the rest begins */
} End;

typedef struct Range {
        guint32 first;
        End end;      /* of a number */
        GArray *tree; /* of an architecture: Range, its numbers */
} Range;

/* An instruction of the new program that everything with this end can share. */
typedef struct Leaf {
        End end;
        guint32 position;
} Leaf;

typedef struct Compaction {
        const struct sock_filter *old;
        size_t length;
        GArray *bounds[N_HELD]; /* guint32: where the intervals begin */
        GArray *new;            /* struct sock_filter */
        GArray *leaves;         /* Leaf */
        guint8 *copied;         /* of each old instruction: can a rest reach it? */
        guint32 *places;        /* and how many of those come before it; of all at [length] */
} Compaction;

static void compaction_clear(Compaction *c) {
        for (int held = 0; held < N_HELD; held++)
                g_array_unref(c->bounds[held]);
        g_array_unref(c->new);
        g_array_unref(c->leaves);
        g_free(c->copied);
        g_free(c->places);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Compaction, compaction_clear)

static void range_clear(void *data) {
        Range *range = data;

        g_clear_pointer(&range->tree, g_array_unref);
}

static GArray *ranges_new(void) {
        GArray *ranges = g_array_new(FALSE, FALSE, sizeof(Range));

        g_array_set_clear_func(ranges, range_clear);
        return ranges;
}

static Held loaded_by(const struct sock_filter *i) {
        return i->k == offsetof(struct seccomp_data, nr)   ? NUMBER :
               i->k == offsetof(struct seccomp_data, arch) ? ARCH :
                                                             NOTHING;
}

/* BPF_JSET and arithmetic are not among them: libseccomp uses these on arguments only. */
static bool is_comparison(const struct sock_filter *i) {
        return i->code == (BPF_JMP | BPF_JEQ | BPF_K) || i->code == (BPF_JMP | BPF_JGT | BPF_K) ||
               i->code == (BPF_JMP | BPF_JGE | BPF_K);
}

static bool is_true(const struct sock_filter *i, guint32 value) {
        guint op = BPF_OP(i->code);

        return op == BPF_JEQ ? value == i->k : op == BPF_JGT ? value > i->k : value >= i->k;
}

static End run(const struct sock_filter *program, size_t length, guint32 arch, guint32 number) {
        Held held = NOTHING;

        for (size_t pc = 0; pc < length; pc++) {
                const struct sock_filter *i = &program[pc];

                if (i->code == (BPF_RET | BPF_K))
                        return (End) { .known = true, .value = i->k };
                if (i->code == (BPF_LD | BPF_W | BPF_ABS)) {
                        held = loaded_by(i);
                        if (held == NOTHING)
                                return (End) { .known = true, .rest = true, .value = (guint32) pc };
                } else if (i->code == (BPF_JMP | BPF_JA)) {
                        pc += i->k;
                } else if (is_comparison(i) && held != NOTHING) {
                        pc += is_true(i, held == ARCH ? arch : number) ? i->jt : i->jf;
                } else {
                        break;
                }
        }
        return (End) { 0 };
}

/* All jumps lead forwards: whoever goes through a program in its order meets no instruction before those that lead
 * to it. */
static void mark_next(const Compaction *c, size_t pc, guint8 *marks, guint8 mark) {
        const struct sock_filter *i = &c->old[pc];
        size_t a = pc + 1, b = pc + 1;

        if (BPF_CLASS(i->code) == BPF_RET)
                return;
        if (i->code == (BPF_JMP | BPF_JA)) {
                a = b = pc + 1 + i->k;
        } else if (BPF_CLASS(i->code) == BPF_JMP) {
                a = pc + 1 + i->jt;
                b = pc + 1 + i->jf;
        }
        if (a < c->length)
                marks[a] |= mark;
        if (b < c->length)
                marks[b] |= mark;
}

static int compare_numbers(const void *a, const void *b) {
        guint32 x = *(const guint32 *) a, y = *(const guint32 *) b;

        return x < y ? -1 : x > y;
}

static void sort_uniquely(GArray *numbers) {
        guint n = 0;

        g_array_sort(numbers, compare_numbers);
        for (guint i = 0; i < numbers->len; i++)
                if (n == 0 || g_array_index(numbers, guint32, i) != g_array_index(numbers, guint32, n - 1))
                        g_array_index(numbers, guint32, n++) = g_array_index(numbers, guint32, i);
        g_array_set_size(numbers, n);
}

static void collect_bounds(Compaction *c) {
        g_autofree guint8 *marks = g_malloc0(c->length); /* which Held it may meet, bit by bit */
        static const guint32 zero = 0;

        marks[0] = 1 << NOTHING;
        for (size_t pc = 0; pc < c->length; pc++) {
                const struct sock_filter *i = &c->old[pc];
                bool load = i->code == (BPF_LD | BPF_W | BPF_ABS);
                guint32 next = i->k + 1;

                if (marks[pc] == 0 || (load && loaded_by(i) == NOTHING))
                        continue;
                mark_next(c, pc, marks, load ? (guint8) (1 << loaded_by(i)) : marks[pc]);
                for (int held = ARCH; held <= NUMBER && is_comparison(i); held++)
                        if (marks[pc] & 1 << held) {
                                g_array_append_val(c->bounds[held], i->k);
                                g_array_append_val(c->bounds[held], next);
                        }
        }
        for (int held = ARCH; held <= NUMBER; held++) {
                g_array_append_val(c->bounds[held], zero);
                sort_uniquely(c->bounds[held]);
        }
}

static bool is_same_end(const End *a, const End *b) {
        return a->known == b->known && a->rest == b->rest && a->value == b->value;
}

/* NULL where an end is not known. */
static GArray *find_numbers(Compaction *c, guint32 arch) {
        g_autoptr(GArray) ranges = ranges_new();

        for (guint i = 0; i < c->bounds[NUMBER]->len; i++) {
                guint32 first = g_array_index(c->bounds[NUMBER], guint32, i);
                Range range = { .first = first, .end = run(c->old, c->length, arch, first) };

                if (!range.end.known)
                        return NULL;
                if (range.end.rest)
                        c->copied[range.end.value] = 1;
                if (ranges->len == 0 || !is_same_end(&range.end, &g_array_index(ranges, Range, ranges->len - 1).end))
                        g_array_append_val(ranges, range);
        }
        return g_steal_pointer(&ranges);
}

static bool is_same_tree(const GArray *a, const GArray *b) {
        if (a->len != b->len)
                return false;
        for (guint i = 0; i < a->len; i++) {
                const Range *x = &g_array_index(a, Range, i), *y = &g_array_index(b, Range, i);

                if (x->first != y->first || !is_same_end(&x->end, &y->end))
                        return false;
        }
        return true;
}

static GArray *find_architectures(Compaction *c) {
        g_autoptr(GArray) ranges = ranges_new();

        for (guint i = 0; i < c->bounds[ARCH]->len; i++) {
                Range range = { .first = g_array_index(c->bounds[ARCH], guint32, i) };

                range.tree = find_numbers(c, range.first);
                if (!range.tree)
                        return NULL;
                if (ranges->len > 0 && is_same_tree(range.tree, g_array_index(ranges, Range, ranges->len - 1).tree))
                        range_clear(&range);
                else
                        g_array_append_val(ranges, range);
        }
        return g_steal_pointer(&ranges);
}

/* The new program is written from its end: what an instruction jumps to is there already. Its position is counted
 * from the end, too. */
static guint32 prepend(Compaction *c, guint16 code, guint8 jt, guint8 jf, guint32 k) {
        struct sock_filter i = { .code = code, .jt = jt, .jf = jf, .k = k };

        g_array_append_val(c->new, i);
        return c->new->len - 1;
}

/* From the next instruction to be written. */
static guint32 distance(const Compaction *c, guint32 position) {
        return c->new->len - position - 1;
}

static void remember(Compaction *c, const End *end, guint32 position) {
        Leaf leaf = { *end, position };

        g_array_append_val(c->leaves, leaf);
}

/* The last place that ends like this, if a comparison can still jump there. */
static guint32 write_leaf(Compaction *c, const End *end) {
        guint32 position = G_MAXUINT32;

        for (guint i = c->leaves->len; i > 0 && position == G_MAXUINT32; i--) {
                const Leaf *leaf = &g_array_index(c->leaves, Leaf, i - 1);

                if (is_same_end(&leaf->end, end))
                        position = leaf->position;
        }
        if (position != G_MAXUINT32 && distance(c, position) <= G_MAXUINT8)
                return position;
        position = end->rest ? prepend(c, BPF_JMP | BPF_JA, 0, 0, distance(c, position)) :
                               prepend(c, BPF_RET | BPF_K, 0, 0, end->value);
        remember(c, end, position);
        return position;
}

static guint32 write_tree(Compaction *c, const GArray *ranges, guint begin, guint end);

static guint32 write_range(Compaction *c, const Range *range) {
        guint32 position = range->tree ? write_tree(c, range->tree, 0, range->tree->len) : write_leaf(c, &range->end);

        if (!range->tree || range->tree->len == 1)
                return position;
        return prepend(c, BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, nr));
}

/* A comparison jumps over 255 instructions at most. */
static guint32 bring_near(Compaction *c, guint32 position) {
        return distance(c, position) <= G_MAXUINT8 - 1 ? position :
                                                         prepend(c, BPF_JMP | BPF_JA, 0, 0, distance(c, position));
}

static guint32 write_tree(Compaction *c, const GArray *ranges, guint begin, guint end) {
        guint middle = (begin + end) / 2;
        guint32 upper, lower;

        if (end - begin == 1)
                return write_range(c, &g_array_index(ranges, Range, begin));
        upper = write_tree(c, ranges, middle, end);
        lower = write_tree(c, ranges, begin, middle);
        lower = bring_near(c, lower);
        upper = bring_near(c, upper);
        return prepend(c, BPF_JMP | BPF_JGE | BPF_K, (guint8) distance(c, upper), (guint8) distance(c, lower),
                       g_array_index(ranges, Range, middle).first);
}

static void find_copied(Compaction *c) {
        guint32 n = 0;

        for (size_t pc = 0; pc < c->length; pc++) {
                c->places[pc] = n;
                if (!c->copied[pc])
                        continue;
                n++;
                mark_next(c, pc, c->copied, 1);
        }
        c->places[c->length] = n;
}

/* Nothing comes between two instructions that was not there: no jump becomes longer. */
static void write_rests(Compaction *c) {
        for (size_t pc = c->length; pc-- > 0;) {
                const struct sock_filter *i = &c->old[pc];
                guint32 next = c->places[pc] + 1;
                End end = { .known = true, .rest = true, .value = (guint32) pc };

                if (!c->copied[pc])
                        continue;
                if (i->code == (BPF_JMP | BPF_JA))
                        prepend(c, i->code, 0, 0, c->places[pc + 1 + i->k] - next);
                else if (BPF_CLASS(i->code) == BPF_JMP)
                        prepend(c, i->code, (guint8) (c->places[pc + 1 + i->jt] - next),
                                (guint8) (c->places[pc + 1 + i->jf] - next), i->k);
                else
                        prepend(c, i->code, 0, 0, i->k);
                remember(c, &end, c->new->len - 1);
        }
}

static void write_program(Compaction *c, const GArray *architectures) {
        guint32 position;

        write_rests(c);
        position = write_tree(c, architectures, 0, architectures->len);
        if (distance(c, position) > 0)
                prepend(c, BPF_JMP | BPF_JA, 0, 0, distance(c, position));
        prepend(c, BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, arch));
        for (guint i = 0, j = c->new->len - 1; i < j; i++, j--) {
                struct sock_filter first = g_array_index(c->new, struct sock_filter, i);

                g_array_index(c->new, struct sock_filter, i) = g_array_index(c->new, struct sock_filter, j);
                g_array_index(c->new, struct sock_filter, j) = first;
        }
}

/* The new program compares with no other constants: one of each interval tells of all. */
static bool is_equivalent(const Compaction *c) {
        const struct sock_filter *new = (const struct sock_filter *) (void *) c->new->data;

        for (guint i = 0; i < c->bounds[ARCH]->len; i++)
                for (guint j = 0; j < c->bounds[NUMBER]->len; j++) {
                        guint32 arch = g_array_index(c->bounds[ARCH], guint32, i);
                        guint32 number = g_array_index(c->bounds[NUMBER], guint32, j);
                        End expected = run(c->old, c->length, arch, number);
                        End found = run(new, c->new->len, arch, number);

                        if (expected.rest)
                                expected.value = c->new->len - c->places[c->length] + c->places[expected.value];
                        if (!found.known || !is_same_end(&expected, &found))
                                return false;
                }
        return true;
}

bool seccomp_is_well_formed(const struct sock_filter *program, size_t length) {
        for (size_t pc = 0; pc < length; pc++) {
                const struct sock_filter *i = &program[pc];
                size_t left = length - pc - 1;

                if (i->code == (BPF_JMP | BPF_JA) ? i->k >= left :
                    BPF_CLASS(i->code) == BPF_JMP ? i->jt >= left || i->jf >= left :
                                                    false)
                        return false;
        }
        return length > 0 && BPF_CLASS(program[length - 1].code) == BPF_RET;
}

GBytes *seccomp_compact(const struct sock_filter *program, size_t length) {
        g_auto(Compaction) c = { .old = program, .length = length };
        g_autoptr(GArray) architectures = NULL;

        for (int held = 0; held < N_HELD; held++)
                c.bounds[held] = g_array_new(FALSE, FALSE, sizeof(guint32));
        c.new = g_array_new(FALSE, FALSE, sizeof(struct sock_filter));
        c.leaves = g_array_new(FALSE, FALSE, sizeof(Leaf));
        c.copied = g_malloc0(length + 1);
        c.places = g_new0(guint32, length + 1);
        if (!seccomp_is_well_formed(program, length))
                return NULL;
        collect_bounds(&c);
        architectures = find_architectures(&c);
        if (!architectures)
                return NULL;
        find_copied(&c);
        write_program(&c, architectures);
        if (c.new->len >= length ||
            !seccomp_is_well_formed((const struct sock_filter *) (void *) c.new->data, c.new->len) ||
            !is_equivalent(&c))
                return NULL;
        return g_bytes_new(c.new->data, c.new->len * sizeof(struct sock_filter));
}
