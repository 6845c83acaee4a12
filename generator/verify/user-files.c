/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "generator/verify/user-files.h"

/* podman-systemd.unit(5). $XDG_CONFIG_HOME can name another one, which is asked of the caller's environment. */
static const char *const directories[] = {
        "/etc/containers/systemd/users/",
        "/usr/share/containers/systemd/users/",
};

/* "/run/user/1000/containers/systemd/": users' own, until they log out. */
static bool is_runtime(const char *path) {
        static const char start[] = "/run/user/";
        size_t digits;

        if (!g_str_has_prefix(path, start))
                return false;
        path += strlen(start);
        digits = strspn(path, "0123456789");
        return digits > 0 && g_str_has_prefix(path + digits, "/containers/systemd/");
}

bool user_file_is(const char *path) {
        g_autofree char *own = g_build_filename(g_get_user_config_dir(), "containers/systemd/", NULL);

        for (size_t i = 0; i < G_N_ELEMENTS(directories); i++)
                if (g_str_has_prefix(path, directories[i]))
                        return true;
        return is_runtime(path) || strstr(path, "/.config/containers/systemd/") || g_str_has_prefix(path, own);
}

static bool is_users(const Generation *generation, const Remark *remark) {
        for (guint i = 0; remark->file && i < generation->sources->files->len; i++) {
                const SourceFile *source = generation->sources->files->pdata[i];

                if (user_file_is(source->path) && source_has_path(source, remark->file))
                        return true;
        }
        return false;
}

void user_files_settle(const Generation *generation, bool (*is_chosen)(const SourceFile *source, const void *data),
                       const void *data, Report *report) {
        for (guint i = report->remarks->len; i > 0; i--)
                if (is_users(generation, &g_array_index(report->remarks, Remark, i - 1)))
                        g_array_remove_index(report->remarks, i - 1);
        for (guint i = 0; i < generation->sources->files->len; i++) {
                const SourceFile *source = generation->sources->files->pdata[i];

                if (!source->is_masked && user_file_is(source->path) && is_chosen(source, data))
                        report_add(
                                report, source->path, 0, NULL, false, "user-file",
                                "a user's file, which is not looked at here: Podman's it stays unless it has a section "
                                "[Keyturn], keyturn-user-generator --verify looks at it");
        }
}
