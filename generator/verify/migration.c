/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "generator/unit/key.h"
#include "generator/verify/migration.h"
#include "generator/verify/takeover.h"
#include "generator/verify/user-files.h"
#include "libstart/base/printable.h"
#include "libstart/table/table.h"

typedef enum Verdict {
        VERDICT_WORKS,
        VERDICT_DIFFERS,
        VERDICT_REFUSED,
        VERDICT_USER,
        N_VERDICTS,
} Verdict;

static const struct {
        const char *name, *heading;
} verdicts[N_VERDICTS] = {
        [VERDICT_WORKS] = { "works", "Work as they are" },
        [VERDICT_DIFFERS] = { "differs", "Work, and mean something else" },
        [VERDICT_REFUSED] = { "refused", "Are refused" },
        [VERDICT_USER] = { "user",
                           "Are users' files, which stay Podman's: keyturn makes services of the system's only" },
};

/* What is different for all of them. */
static const char everywhere[] =
        "For each of them: images come before a start, which never pulls; what is written outside of volumes is in "
        "memory, limited, and gone\n"
        "when the container stops. See 'Different from Podman's Quadlet' in keyturn's README.";

/* Podman pulls an image, keyturn says in a start that it is missing: that is no other meaning of a file, and the same
 * for all of them. */
static const char missing[] =
        "keyturn pulls none in a start: Pull=, an .image file or podman pull bring them before; "
        "'keyturn-generator --verify' says which they are.";

/* One thing about a file. */
typedef struct Point {
        guint line;
        char *text;
} Point;

static void point_clear(void *data) {
        g_free(((Point *) data)->text);
}

typedef struct Checked {
        const SourceFile *source;
        const MadeUnit *unit; /* or NULL */
        guint containers;     /* that are made of it */
        Verdict verdict;
        GArray *points;       /* of Point */
        const char *gain;     /* or NULL */
        const char *handover; /* of one that is taken over from Podman here, or NULL */
} Checked;

static void checked_free(void *data) {
        Checked *checked = data;

        g_array_unref(checked->points);
        g_free(checked);
}

/* `text` is taken over. */
static void add_point(Checked *checked, guint line, char *text) {
        Point point = { line, text };

        g_array_append_val(checked->points, point);
}

static bool is_container(const Checked *checked) {
        return g_str_has_suffix(checked->source->name, ".container");
}

/* Its own, not that of its Pull=. */
static const MadeUnit *find_unit(const Generation *generation, const SourceFile *source) {
        for (guint i = 0; i < generation->units->len; i++) {
                const MadeUnit *unit = generation->units->pdata[i];

                if (unit->source == source && !g_str_has_prefix(unit->name, "keyturn-pull-"))
                        return unit;
        }
        return NULL;
}

/* Transfer full. */
static char *say(const Remark *remark, const char *place) {
        return g_strdup_printf("%s%s%s%s%s", place ?: "", remark->key ? "'" : "", remark->key ?: "",
                               remark->key ? "=': " : "", remark->message);
}

/* What the generator refuses. All else that is found is the same for Podman. */
static void add_remarks(Checked *checked, const Generation *generation, const Report *report) {
        for (guint i = 0; i < report->remarks->len; i++) {
                const Remark *remark = &g_array_index(report->remarks, Remark, i);

                if (!remark->is_error || !generation_is_about(generation, checked->source, remark))
                        continue;
                const bool is_own = remark->line == 0 || g_str_equal(remark->file, checked->source->path);
                g_autofree char *place = is_own ? NULL : g_strdup_printf("%s:%u: ", remark->file, remark->line);

                checked->verdict = VERDICT_REFUSED;
                add_point(checked, is_own ? remark->line : 0, say(remark, place));
        }
}

/* The unit says what its network is where the file does not. */
static void add_network(Checked *checked) {
        const char *comment = checked->unit ? strstr(checked->unit->text, "\n# Network=") : NULL;

        if (!comment || checked->verdict == VERDICT_REFUSED || g_str_has_prefix(comment, "\n# Network=bridge,"))
                return;
        checked->verdict = VERDICT_DIFFERS;
        comment += strlen("\n# ");
        add_point(checked, 0, g_strdup_printf("%.*s Podman makes a bridge.", (int) strcspn(comment, "\n"), comment));
}

/* Podman's generator has each unit wait for the network that does not ask it not to. */
static const char *find_gain(const SourceFile *source) {
        const UnitLine *line = source_find_line(source, "Quadlet", "DefaultDependencies", NULL);
        bool waits = true;

        if (line)
                (void) key_parse_boolean(line->value, &waits, NULL);
        return waits ? "no conmon, no wait for network-online.target" : "no conmon";
}

/* A .kube file makes any number of them. */
static guint count_containers(const Generation *generation, const SourceFile *source) {
        guint n = g_str_has_suffix(source->name, ".container");

        for (guint i = 0; g_str_has_suffix(source->name, ".kube") && i < generation->units->len; i++) {
                const MadeUnit *unit = generation->units->pdata[i];

                n += unit->source == source && unit->args && !unit->is_refused;
        }
        return n;
}

static Checked *check(const Generation *generation, const SourceFile *source, const Report *report,
                      const GPtrArray *taken) {
        Checked *checked = g_new0(Checked, 1);

        checked->source = source;
        checked->unit = user_file_is(source->path) ? NULL : find_unit(generation, source);
        checked->containers = count_containers(generation, source);
        checked->points = g_array_new(FALSE, FALSE, sizeof(Point));
        g_array_set_clear_func(checked->points, point_clear);
        add_remarks(checked, generation, report);
        if (user_file_is(source->path))
                checked->verdict = VERDICT_USER;
        else if (is_container(checked))
                add_network(checked);
        if (is_container(checked) && checked->verdict < VERDICT_REFUSED)
                checked->gain = find_gain(source);
        if (checked->unit)
                checked->handover = takeover_get(taken, checked->unit->name);
        return checked;
}

static GPtrArray *check_all(const Generation *generation, GPtrArray *files, const Report *report,
                            const GPtrArray *taken) {
        GPtrArray *all = g_ptr_array_new_with_free_func(checked_free);

        for (guint i = 0; i < generation->sources->files->len; i++) {
                const SourceFile *source = generation->sources->files->pdata[i];

                if (!source->is_masked &&
                    (files->len == 0 || g_ptr_array_find_with_equal_func(files, source->path, g_str_equal, NULL)))
                        g_ptr_array_add(all, check(generation, source, report, taken));
        }
        return all;
}

static guint count(const GPtrArray *all, Verdict verdict, bool containers) {
        guint n = 0;

        for (guint i = 0; i < all->len; i++) {
                const Checked *checked = all->pdata[i];

                if (checked->verdict == verdict)
                        n += containers ? checked->containers : 1;
        }
        return n;
}

/* Errors that no file has: keyturn.conf's, or a directory's that cannot be read. Transfer container, of Remark. */
static GPtrArray *find_others(const GPtrArray *all, const Report *report) {
        GPtrArray *others = g_ptr_array_new();

        for (guint i = 0; i < report->remarks->len; i++) {
                Remark *remark = &g_array_index(report->remarks, Remark, i);
                bool is_known = !remark->is_error;

                for (guint j = 0; !is_known && j < all->len; j++)
                        is_known = source_has_path(((const Checked *) all->pdata[j])->source, remark->file);
                if (!is_known)
                        g_ptr_array_add(others, remark);
        }
        return others;
}

static void print_checked(const Checked *checked) {
        g_autofree char *path = printable(checked->source->path);

        printable_print("  %s%s%s\n", path, checked->gain ? "  gains: " : "", checked->gain ?: "");
        for (guint i = 0; i < checked->points->len; i++) {
                const Point *point = &g_array_index(checked->points, Point, i);
                g_autofree char *text = printable(point->text);

                if (point->line > 0)
                        printable_print("      line %u: %s\n", point->line, text);
                else
                        printable_print("      %s\n", text);
        }
}

static void print_others(const GPtrArray *others) {
        if (others->len == 0)
                return;
        printable_print("Errors outside of these files: %u\n", others->len);
        for (guint i = 0; i < others->len; i++) {
                g_autofree char *line = remark_print(others->pdata[i]);

                printable_print("  %s\n", line);
        }
        printable_print("\n");
}

/* One line, whatever the number of files. */
static void print_images(const Report *report) {
        guint n = 0;

        for (guint i = 0; i < report->remarks->len; i++) {
                const Remark *remark = &g_array_index(report->remarks, Remark, i);

                n += g_str_equal(remark->rule, "image-missing");
                if (!g_str_equal(remark->rule, "no-images"))
                        continue;
                printable_print(
                        "There are no images here, so none was looked at; --files-only leaves out all that is "
                        "of this machine.\n\n");
                return;
        }
        if (n > 0)
                printable_print("Files whose image is not here: %u. %s\n\n", n, missing);
}

static void print_text(const GPtrArray *all, const GPtrArray *others, const Report *report, const GPtrArray *taken) {
        guint containers = count(all, VERDICT_WORKS, true) + count(all, VERDICT_DIFFERS, true);

        for (guint verdict = 0; verdict < N_VERDICTS; verdict++) {
                guint n = count(all, verdict, false);

                if (n == 0)
                        continue;
                printable_print("%s: %u\n", verdicts[verdict].heading, n);
                for (guint i = 0; i < all->len; i++)
                        if (((const Checked *) all->pdata[i])->verdict == verdict)
                                print_checked(all->pdata[i]);
                printable_print("\n");
        }
        print_others(others);
        takeover_print(taken, false);
        if (taken->len > 0)
                printable_print("\n");
        print_images(report);
        printable_print(
                "%u of %u files would be keyturn's. Containers that would start without Podman, and run without "
                "conmon: %u.\n%s\n",
                count(all, VERDICT_WORKS, false) + count(all, VERDICT_DIFFERS, false), all->len, containers,
                everywhere);
}

static void print_json(const GPtrArray *all, const GPtrArray *others) {
        static const char *const columns[] = {
                "FILE", "UNIT", "VERDICT", "GAIN", "#LINE", "MESSAGE", "HANDOVER", NULL
        };
        g_autoptr(Table) table = table_new(columns);

        for (guint i = 0; i < all->len; i++) {
                const Checked *checked = all->pdata[i];
                guint n = MAX(checked->points->len, 1);

                for (guint j = 0; j < n; j++) {
                        const Point *point = j < checked->points->len ? &g_array_index(checked->points, Point, j) :
                                                                        NULL;
                        bool has_line = point && point->line > 0;

                        table_add(table, g_strdup(checked->source->path),
                                  checked->unit ? g_strdup(checked->unit->name) : NULL,
                                  g_strdup(verdicts[checked->verdict].name), g_strdup(checked->gain),
                                  has_line ? g_strdup_printf("%u", point->line) : NULL,
                                  point ? g_strdup(point->text) : NULL, g_strdup(checked->handover));
                }
        }
        for (guint i = 0; i < others->len; i++) {
                const Remark *remark = others->pdata[i];

                table_add(table, g_strdup(remark->file), NULL, g_strdup(verdicts[VERDICT_REFUSED].name), NULL,
                          remark->line > 0 ? g_strdup_printf("%u", remark->line) : NULL, say(remark, NULL), NULL);
        }
        table_print(table, true);
}

bool migration_print(const Generation *generation, GPtrArray *files, const Report *report, const GPtrArray *taken,
                     bool json) {
        g_autoptr(GPtrArray) all = check_all(generation, files, report, taken), others = find_others(all, report);

        if (json)
                print_json(all, others);
        else
                print_text(all, others, report, taken);
        return count(all, VERDICT_REFUSED, false) == 0 && others->len == 0;
}
