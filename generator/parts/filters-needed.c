/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>
#include <unistd.h>

#include "generator/parts/filters-needed.h"
#include "keyturn-config.h"
#include "libstart/base/log.h"
#include "libstart/base/string-order.h"
#include "libstart/base/string-prefix.h"
#include "libstart/request/seccomp-request.h"
#include "libstart/value/capability.h"
#include "libstart/value/unit-words.h"

#define PROGRAM KEYTURN_LIBDIR "/seccomp-precompile"

struct FiltersNeeded {
        const char *root_path; /* NULL: this machine's */
        guint64 available;     /* capabilities that there are */
        GPtrArray *needed;     /* of SeccompRequest */
        GHashTable *checked;   /* profile -> what is wrong with it, or "" */
};

FiltersNeeded *filters_needed_new(const Tree *tree, const char *root_path, bool for_image) {
        FiltersNeeded *filters = g_new0(FiltersNeeded, 1);

        filters->root_path = root_path;
        filters->available = CAPABILITY_ALL;
        if (!tree->is_foreign && !for_image) /* where it cannot be asked, a start makes what is missing */
                (void) bounding_set_read(&filters->available, NULL);
        filters->needed = g_ptr_array_new_with_free_func((GDestroyNotify) seccomp_request_free);
        filters->checked = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
        return filters;
}

void filters_needed_free(FiltersNeeded *filters) {
        g_ptr_array_unref(filters->needed);
        g_hash_table_unref(filters->checked);
        g_free(filters);
}

/* An option that changes no filter, whatever systemd makes of its value. */
static bool is_another(const char *text) {
        static const char *const others[] = { "mask=", "unmask=", "label=", "apparmor=", NULL };

        return string_prefix(text, others);
}

SecurityOption filters_needed_option(const LaunchArgs *args, bool *ret_is_known) {
        SecurityOption last = { .enabled = args->privileged != FLAG_TRUE };
        bool is_known = true;

        for (guint i = 0; i < args->security_opt->len; i++) {
                const char *text = args->security_opt->pdata[i];
                SecurityOption option;

                if (is_another(text))
                        continue;
                is_known = is_known && !unit_word_is_unexpanded(text);
                if (security_option_parse(text, &option, NULL) && option.kind == SECURITY_SECCOMP)
                        last = option;
        }
        if (ret_is_known)
                *ret_is_known = is_known;
        return last;
}

/* Sets *ret_profile to NULL for the default profile. False: the container has no filter, or which one is not known.
 */
static bool find_profile(const LaunchArgs *args, const char **ret_profile) {
        bool is_known;
        SecurityOption option = filters_needed_option(args, &is_known);

        *ret_profile = option.text;
        return is_known && option.enabled;
}

/* The generator does not parse JSON. seccomp-precompile does: it takes about a millisecond, and is only run where a
 * file names a profile of its own. */
static char *ask(const FiltersNeeded *filters, const char *profile) {
        const char *argv[] = { PROGRAM,   "--root", filters->root_path ? filters->root_path : "/",
                               "--check", profile,  NULL };
        g_autofree char *problem = NULL;
        g_autoptr(GError) error = NULL;
        int status;

        if (!g_spawn_sync(NULL, (char **) argv, NULL, G_SPAWN_STDOUT_TO_DEV_NULL, NULL, NULL, NULL, &problem, &status,
                          &error)) {
                log_warning("'%s' is not checked before the start: %s", profile, error->message);
                return g_strdup("");
        }
        if (status == 0)
                return g_strdup("");
        g_strchomp(problem);
        const char *said = strstr(problem, "seccomp profile '"); /* behind the program's name or a priority */
        return g_strdup(said ? said : problem[0] ? problem : "the seccomp profile cannot be checked");
}

static const char *find_problem(FiltersNeeded *filters, const char *profile) {
        g_autofree char *path = g_strconcat(filters->root_path ? filters->root_path : "", profile, NULL);
        const char *known = g_hash_table_lookup(filters->checked, profile);

        if (known)
                return known;
        char *problem = access(path, R_OK) == 0 ? ask(filters, profile) : g_strdup("");
        g_hash_table_insert(filters->checked, g_strdup(profile), problem);
        return problem;
}

void filters_needed_check(FiltersNeeded *filters, Conversion *container) {
        const UnitLine *line = conversion_line(container, "Container", "SeccompProfile");
        const char *profile, *problem;

        if (!find_profile(container->args, &profile) || !profile)
                return;
        problem = find_problem(filters, profile);
        if (problem[0])
                conversion_problem(container, line ?: conversion_line(container, "Container", "PodmanArgs"), "%s",
                                   problem);
}

static SeccompRequest *find_filter(FiltersNeeded *filters, const char *profile, guint64 caps) {
        SeccompRequest *request;

        for (guint i = 0; i < filters->needed->len; i++) {
                request = filters->needed->pdata[i];
                if (request->bounding_caps == caps && g_strcmp0(request->profile, profile) == 0)
                        return request;
        }
        request = seccomp_request_new(profile, caps);
        g_ptr_array_add(filters->needed, request);
        return request;
}

void filters_needed_add(FiltersNeeded *filters, const Conversion *container) {
        const char *profile;
        guint64 added = 0, dropped = 0, bounding;

        if (container->args->runtime || !find_profile(container->args, &profile) ||
            !capability_parse_all(container->args->cap_add, &added, NULL) ||
            !capability_parse_all(container->args->cap_drop, &dropped, NULL) ||
            !bounding_set_check(added, dropped, NULL))
                return;
        bounding = bounding_set_find(container->args->privileged == FLAG_TRUE, added, dropped, filters->available);
        g_ptr_array_add(find_filter(filters, profile, bounding)->units, g_strdup(container->service->name));
}

/* Profiles by name, the default one last. */
static int compare_filters(gconstpointer a, gconstpointer b) {
        const SeccompRequest *left = *(const SeccompRequest *const *) a, *right = *(const SeccompRequest *const *) b;
        int r = !left->profile - !right->profile;

        if (r == 0)
                r = g_strcmp0(left->profile, right->profile);
        return r != 0 ? r :
                        (left->bounding_caps > right->bounding_caps) - (left->bounding_caps < right->bounding_caps);
}

GString *filters_needed_print(const FiltersNeeded *filters) {
        if (filters->needed->len == 0)
                return NULL;
        g_ptr_array_sort(filters->needed, compare_filters);
        for (guint i = 0; i < filters->needed->len; i++)
                g_ptr_array_sort(((SeccompRequest *) filters->needed->pdata[i])->units, string_order);

        g_autofree char *text = seccomp_requests_format_dropin(filters->needed);
        return g_string_new(text);
}
