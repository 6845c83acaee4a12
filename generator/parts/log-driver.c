/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "generator/parts/log-driver.h"

bool handle_log_driver(Container *container, const Key *key, const Value *value, GError **error) {
        static const char *const files[] = { "k8s-file", "json-file", NULL };
        const char *driver = value->text;

        if (g_strv_contains(files, driver)) {
                container_difference(
                        container, value->line,
                        "the journal keeps the lines, where Podman's '%s' has a file for each container: see "
                        "journalctl -u NAME; for a file, write StandardOutput=append:FILE in [Service]",
                        driver);
                driver = "journald";
        }
        return key_set_option(container, "log-driver", driver, error);
}

bool handle_log_option(Container *container, const Key *key, const Value *value, GError **error) {
        if (!g_str_has_prefix(value->text, "max-size=") && !g_str_has_prefix(value->text, "max-file="))
                return key_set_option(container, "log-opt", value->text, error);
        container_warning(container, value->line,
                          "'%s' does nothing: the journal has limits of its own (journald.conf(5))", value->text);
        return true;
}
