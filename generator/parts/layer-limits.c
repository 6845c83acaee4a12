/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "generator/parts/layer-limits.h"
#include "libstart/request/storage-option.h"

/* Specifiers do not work in these values, so a % is doubled: "10%" is a percentage. */
static void add_option(Conversion *container, const char *name, const char *value) {
        g_autofree char *option = g_strconcat(name, "=", value, g_str_has_suffix(value, "%") ? "%" : NULL, NULL);

        (void) launch_args_set(container->args, "storage-opt", option, NULL);
}

/* WritableLayerSize= and WritableLayerInodes=; key->text says which. */
bool handle_layer_limit(Conversion *container, const Key *key, const Value *value, GError **error) {
        g_autofree char *option = g_strconcat(key->text, "=", value->text, NULL);
        StorageLimits limits = { 0 };

        if (!storage_option_parse(option, &limits, error))
                return false;
        add_option(container, key->text, value->text);
        return true;
}

/* The whole of keyturn.conf may be wrong, which the network has been told, too. */
static bool is_said(const Conversion *container, const char *message) {
        for (guint i = 0; i < container->findings->len; i++) {
                const Finding *finding = container->findings->pdata[i];

                if (strstr(finding->text, message))
                        return true;
        }
        return false;
}

void layer_limits_finish(Conversion *container) {
        static const struct {
                const char *name, *key;
                Setting setting;
        } limits[] = {
                { "size", "WritableLayerSize", SETTING_LAYER_SIZE },
                { "inodes", "WritableLayerInodes", SETTING_LAYER_INODES },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(limits); i++) {
                const char *value, *origin;
                g_autoptr(GError) error = NULL;

                if (launch_args_last(container->args->storage_opt, limits[i].name))
                        continue;
                if (!keyturn_conf_default(container->conf, limits[i].setting, &value, &origin, &error)) {
                        if (!is_said(container, error->message))
                                conversion_problem(container, NULL, "%s= is not known: %s", limits[i].key,
                                                   error->message);
                } else if (value) {
                        add_option(container, limits[i].name, value);
                        service_comment(container->service, "%s=%s, from %s: the file itself does not say.",
                                        limits[i].key, value, origin);
                }
        }
}
