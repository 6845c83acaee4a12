/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "generator/unit/specifiers.h"
#include "libstart/base/error.h"
#include "libstart/base/path-value.h"

char *specifiers_escape(const char *text, const char *special) {
        GString *escaped = g_string_new(NULL);
        size_t length;

        for (; text[length = strcspn(text, special)]; text += length + 1) {
                g_string_append_len(escaped, text, (gssize) length + 1);
                g_string_append_c(escaped, text[length]);
        }
        g_string_append(escaped, text);
        return g_string_free(escaped, FALSE);
}

const char *specifiers_find_directory(char specifier) {
        static const struct {
                char specifier;
                const char *directory;
        } all[] = { { 'C', "/var/cache" }, { 'E', "/etc" },     { 'L', "/var/log" }, { 'S', "/var/lib" },
                    { 'T', "/tmp" },       { 'V', "/var/tmp" }, { 'h', "/root" },    { 't', "/run" } };

        for (size_t i = 0; i < G_N_ELEMENTS(all); i++)
                if (all[i].specifier == specifier)
                        return all[i].directory;
        return NULL;
}

/* Of these, systemd makes absolute paths. */
static bool is_absolute(const char *path) {
        return path[0] == '/' || (path[0] == '%' && (path[1] == 'd' || specifiers_find_directory(path[1])));
}

char *specifiers_required_path(const char *path) {
        size_t length = strcspn(path, "$");

        if (!is_absolute(path))
                return NULL;
        if (!path[length])
                return g_strdup(path);
        while (length > 0 && path[length - 1] != '/')
                length--;
        return length > 1 ? g_strndup(path, length) : NULL;
}

/* Absolute, or NULL. Transfer full. */
static char *find_users_directory(char specifier) {
        const char *home = g_getenv("HOME"), *config = g_getenv("XDG_CONFIG_HOME"),
                   *runtime = g_getenv("XDG_RUNTIME_DIR");
        g_autofree char *found = specifier == 'h'           ? g_strdup(home) :
                                 specifier == 't'           ? g_strdup(runtime) :
                                 config && config[0] == '/' ? g_strdup(config) :
                                                              g_build_filename(home ?: "", ".config", NULL);

        return found && found[0] == '/' ? g_steal_pointer(&found) : NULL;
}

/* NULL: it is none of these. Transfer full. */
static char *complete(char specifier) {
        if (specifier == '%')
                return g_strdup("%");
        if (!specifier || !strchr("hEt", specifier))
                return NULL;
        /* root's own manager has no containers */
        return geteuid() == 0 ? g_strdup(specifiers_find_directory(specifier)) : find_users_directory(specifier);
}

char *specifiers_file_path(const char *directory, const char *name, GError **error) {
        g_autoptr(GString) path = g_string_new(NULL);
        g_autofree char *joined = NULL;

        for (const char *c = name; *c; c++) {
                g_autofree char *completed = *c == '%' ? complete(c[1]) : NULL;

                if (*c == '%' && !completed)
                        return error_null(
                                error, KT_ERROR_USAGE,
                                "'%s': the file is read before systemd completes specifiers: %%h, %%E and %%t can "
                                "be here, and %%%% for a percent sign",
                                name);
                if (completed) {
                        g_string_append(path, completed);
                        c++;
                } else
                        g_string_append_c(path, *c);
        }
        joined = path->str[0] == '/' ? g_strdup(path->str) : g_build_filename(directory, path->str, NULL);
        return path_value_clean(joined);
}

/* Those of systemd 252 to 257, with those that are only read still. Before anything else, '%' is a plain character:
 * "50% off". */
const char *specifiers_find_unknown(const char *text) {
        for (const char *c = strchr(text, '%'); c; c = strchr(c, '%')) {
                if (g_ascii_isalnum(c[1]) && !strchr("aAbBcCdDEfgGhHiIjJlLmMnNopPqrRsStTuUvVwWyY", c[1]))
                        return c;
                c += c[1] ? 2 : 1;
        }
        return NULL;
}
