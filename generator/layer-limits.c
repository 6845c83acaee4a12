/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "generator/layer-limits.h"
#include "libstart/option/storage-option.h"

/* Specifiers do not work in these values, so a % is doubled: "10%" is a percentage. */
static void add_option(Container *container, const char *name, const char *value) {
        g_autofree char *option = g_strconcat(name, "=", value, g_str_has_suffix(value, "%") ? "%" : NULL, NULL);

        (void) launch_args_set(container->args, "storage-opt", option, NULL);
}

/* WritableLayerSize= and WritableLayerInodes=; key->text says which. */
bool handle_layer_limit(Container *container, const Key *key, const Value *value, GError **error) {
        g_autofree char *option = g_strconcat(key->text, "=", value->text, NULL);
        StorageLimits limits = { 0 };

        if (!storage_option_parse(option, &limits, error))
                return false;
        add_option(container, key->text, value->text);
        return true;
}

void layer_limits_finish(Container *container, KeyturnConf *conf) {
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

                if (key_last_option(container->args->storage_opt, limits[i].name))
                        continue;
                if (!keyturn_conf_default(conf, limits[i].setting, &value, &origin, &error)) {
                        if (container->args->network) /* else that is not known either, and it has been said why */
                                container_problem(container, NULL, "%s= is not known: %s", limits[i].key,
                                                  error->message);
                } else if (value) {
                        add_option(container, limits[i].name, value);
                        service_comment(container->service, "%s=%s, from %s: the file itself does not say.",
                                        limits[i].key, value, origin);
                }
        }
}
