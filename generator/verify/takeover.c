/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "generator/files/names.h"
#include "generator/files/podman-generator.h"
#include "generator/files/tree.h"
#include "generator/verify/generation.h"
#include "generator/verify/takeover.h"
#include "libstart/base/paths.h"
#include "libstart/base/printable.h"
#include "libstart/table/table.h"

static void taken_free(void *data) {
        Taken *taken = data;

        g_free(taken->unit);
        g_free(taken);
}

static GPtrArray *new_array(void) {
        return g_ptr_array_new_with_free_func(taken_free);
}

static bool is_active(const char *root, bool *ret, GError **error) {
        Tree tree;

        if (!tree_open(&tree, root[0] ? root : NULL, error))
                return false;
        *ret = podman_generator_is_active(&tree, false);
        tree_close(&tree);
        return true;
}

/* Of "---NAME---" those that are services of files, in their order. */
static GPtrArray *find_units(const char *printed) {
        GPtrArray *all = new_array();
        g_auto(GStrv) lines = g_strsplit(printed, "\n", -1);

        for (char **line = lines; *line && line[1]; line++) {
                size_t length = strlen(*line);
                Taken *taken;

                if (!g_str_has_prefix(*line, "---") || !g_str_has_suffix(*line, ".service---") ||
                    !g_str_has_prefix(line[1], "# Made by keyturn-generator from ") ||
                    g_str_has_prefix(*line, "---keyturn-"))
                        continue;
                taken = g_new0(Taken, 1);
                taken->unit = g_strndup(*line + 3, length - 6);
                taken->handover = "start";
                g_ptr_array_add(all, taken);
        }
        return all;
}

/* systemd makes the directory when keyturn's service starts. */
static bool is_handed_over(const char *unit) {
        g_autofree char *stem = g_strndup(unit, strlen(unit) - strlen(".service"));
        const char *plus = strchr(name_state_directory(unit), '+') ? "+" : "";
        g_autofree char *directory = g_strconcat(PATH_RUN "/", plus, stem, NULL);

        return g_file_test(directory, G_FILE_TEST_IS_DIR);
}

/* A template runs only as its instances, which systemd lists. */
static bool is_template(const Taken *taken) {
        return g_str_has_suffix(taken->unit, "@.service");
}

/* One line of `systemctl is-active` for each. Where systemd does not run, nothing does. */
static void find_handovers(const GPtrArray *all) {
        static const char *const command[] = { "systemctl", "is-active", "--" };
        g_autoptr(GPtrArray) argv = g_ptr_array_new(), asked = g_ptr_array_new();
        g_autofree char *said = NULL;

        for (size_t i = 0; i < G_N_ELEMENTS(command); i++)
                g_ptr_array_add(argv, (void *) command[i]);
        for (guint i = 0; i < all->len; i++)
                if (!is_template(all->pdata[i])) {
                        g_ptr_array_add(asked, all->pdata[i]);
                        g_ptr_array_add(argv, ((const Taken *) all->pdata[i])->unit);
                }
        g_ptr_array_add(argv, NULL);
        if (!g_spawn_sync(NULL, (char **) argv->pdata, NULL, G_SPAWN_SEARCH_PATH | G_SPAWN_STDERR_TO_DEV_NULL, NULL,
                          NULL, &said, NULL, NULL, NULL))
                return;
        g_auto(GStrv) lines = g_strsplit(said, "\n", -1);
        for (guint i = 0; i < asked->len && lines[i]; i++) {
                Taken *taken = asked->pdata[i];

                if (g_str_equal(lines[i], "active") || g_str_equal(lines[i], "reloading"))
                        taken->handover = is_handed_over(taken->unit) ? "done" : "restart";
        }
}

GPtrArray *takeover_find(const char *generator, const char *root, const GPtrArray *search_path, GError **error) {
        g_autofree char *printed = NULL;
        bool active = false;
        GPtrArray *all;

        if (!is_active(root, &active, error))
                return NULL;
        if (!active)
                return new_array();
        /* What is refused or left to Podman is not printed. What else it says is said by --verify. */
        if (!generation_call(generator, "--dry-run", NULL, root, search_path, &printed, NULL, NULL, error))
                return NULL;
        all = find_units(printed);
        if (all->len > 0 && !root[0])
                find_handovers(all);
        return all;
}

const char *takeover_get(const GPtrArray *all, const char *unit) {
        for (guint i = 0; i < all->len; i++) {
                const Taken *taken = all->pdata[i];

                if (g_str_equal(taken->unit, unit))
                        return taken->handover;
        }
        return NULL;
}

static void print_taken(const Taken *taken) {
        g_autofree char *unit = printable(taken->unit);

        if (g_str_equal(taken->handover, "restart"))
                printable_print(
                        "  %s: Podman has started it, and it runs on; 'systemctl restart %s' hands it over (after "
                        "podman stop of its container, as else podman ps goes on showing it)\n",
                        unit, unit);
        else if (is_template(taken))
                printable_print("  %s: of its instances the next start is keyturn's\n", unit);
        else if (g_str_equal(taken->handover, "start"))
                printable_print("  %s: does not run; its next start is keyturn's\n", unit);
        else
                printable_print("  %s: keyturn has started it\n", unit);
}

static void print_json(const GPtrArray *all) {
        static const char *const columns[] = { "UNIT", "HANDOVER", NULL };
        g_autoptr(Table) table = table_new(columns);

        for (guint i = 0; i < all->len; i++) {
                const Taken *taken = all->pdata[i];

                table_add(table, g_strdup(taken->unit), g_strdup(taken->handover));
        }
        table_print(table, true);
}

void takeover_print(const GPtrArray *all, bool json) {
        if (json) {
                print_json(all);
                return;
        }
        if (all->len == 0)
                return;
        printable_print("Taken over from Podman's generator, which is active here: %u\n", all->len);
        for (guint i = 0; i < all->len; i++)
                print_taken(all->pdata[i]);
}
