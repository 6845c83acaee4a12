/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "generator/parts/image-service.h"
#include "generator/parts/users-container.h"
#include "generator/unit/specifiers.h"
#include "keyturn-config.h"
#include "libstart/base/paths.h"
#include "libstart/request/storage-option.h"
#include "libstart/store/image.h"
#include "libstart/value/unit-words.h"

/* A registry may be away for a minute or for a day. systemd waits, no process does. */
static void try_again(Service *service, const char *seconds) {
        if (service_user_line(service, "Restart"))
                return;
        service_unit_first(service, "StartLimitIntervalSec", "0");
        service_set(service, "Restart", "on-failure");
        if (!service_user_line(service, "RestartSec"))
                service_set(service, "RestartSec", seconds);
}

void image_service_common(const Conversion *container, Service *service, const char *seconds) {
        g_autofree char *escaped = specifiers_escape(container->source->path, "%");

        service_unit(service, "SourcePath", escaped);
        service_unit(service, "RequiresMountsFor", container->is_users ? "%h" : "/var/lib/containers/storage");
        users_container_unit(container, service);
        service_set(service, "Type", "oneshot");
        service_set(service, "NotifyAccess", "main"); /* for STATUS= */
        service_limit_start(service, "4h");           /* a registry may be silent */
        try_again(service, seconds);
        if (!service_user_line(service, "SyslogIdentifier"))
                service_set(service, "SyslogIdentifier", "%N");
}

/* keyturn-image COMMAND OPTION... -- */
static GString *begin_command(const Conversion *container, const char *command, const char *option,
                              const char *value) {
        GString *line = g_string_new(KEYTURN_LIBDIR "/keyturn-image ");
        g_autofree char *first = option ? g_strconcat(option, value, NULL) : NULL;

        g_string_append(line, command);
        if (first)
                unit_words_add(line, first);
        g_string_append(line, " --unit %n");
        if (container->image.is_offline)
                unit_words_add(line, "--offline");
        for (guint i = 0; i < container->image.tool_words->len; i++)
                unit_words_add(line, container->image.tool_words->pdata[i]);
        unit_words_add(line, "--");
        return line;
}

void image_service_pull(const Conversion *container, Service *service) {
        g_autoptr(GString) command = container->image.pull ?
                                             begin_command(container, "pull", "--policy=", container->image.pull) :
                                             begin_command(container, "artifact", NULL, NULL);

        unit_words_add(command, container->image.name);
        service_set(service, "ExecStart", command->str);
}

void image_service_build(const Conversion *container, const char *context) {
        g_autoptr(GString) command = begin_command(container, "build", "--tag=", container->image.name);

        for (guint i = 0; i < container->podman.args->len; i++)
                unit_words_add(command, g_array_index(container->podman.args, Noted, i).text);
        unit_words_add_option(command, "--", context);
        service_set(container->service, "ExecStart", command->str);
}

/* Of conditions with "|" one is enough: no other may join those of the file. */
static bool has_choices(const Service *service) {
        for (guint i = 0; service->user_unit && i < service->user_unit->lines->len; i++) {
                const UnitLine *line = &g_array_index(service->user_unit->lines, UnitLine, i);

                if (line->key && g_str_has_prefix(line->key, "Condition") && line->value[0] == '|')
                        return true;
        }
        return false;
}

void image_skip_present(const Conversion *container, const char *root) {
        const char *name = container->image.wanted;
        g_autoptr(GPtrArray) stores = name ? storage_option_find_stores(container->args->storage_opt) : NULL;
        g_autoptr(StoreImage) image = NULL;
        g_autofree char *path = NULL, *condition = NULL;
        Service *service = container->image.puller ?: container->service;

        if (!name || unit_word_is_unexpanded(name) ||
            container->is_users) /* whose store is to be seen in her view alone */
                return;
        image = store_image_find(root, name, stores, NULL);
        if (!image)
                return;
        path = specifiers_escape(image->store + strlen(root), "%");
        condition = g_strconcat(has_choices(service) ? "!" : "|!", path, "/overlay-images/", image->id, NULL);
        service_unit(service, "ConditionPathIsDirectory", condition);
        if (condition[0] ==
            '|') /* after a power cut in a pull the image may have its name, and be empty: it is said */
                service_unit(service, "ConditionDirectoryNotEmpty", "|" PATH_UNSYNCED);
}
