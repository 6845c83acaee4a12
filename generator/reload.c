/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "generator/reload.h"
#include "generator/handlers.h"
#include "generator/words.h"
#include "libstart/base/error.h"
#include "libstart/option/signal-name.h"

/* systemd looks the programs up itself, so that a reload needs no shell. systemctl returns when the signal is sent, and
 * is where systemd is: kill(1) may not be installed. */
#define SEND_SIGNAL "systemctl kill --kill-whom=main --signal=%s %%n"
#define RUN_COMMAND "keyturnctl exec %n"

bool handle_reload_cmd(Container *container, const Key *key, const Value *value, GError **error) {
        g_ptr_array_add(container->reload_cmd, g_strdup(value->text));
        container->reload_cmd_line = value->line;
        return true;
}

bool handle_reload_signal(Container *container, const Key *key, const Value *value, GError **error) {
        container->reload_signal_line = value->line;
        return signal_name_parse(value->text, &container->reload_signal, error);
}

static void check_is_alone(Container *container, const char *key) {
        const UnitLine *line = service_user_line(container->service, "ExecReload");

        if (line)
                container_problem(container, line, "%s in [Container] makes it, too; remove one of the two", key);
}

static void set_signal(Container *container) {
        g_autofree char *name = signal_name_print(container->reload_signal);
        g_autofree char *command = g_strdup_printf(SEND_SIGNAL, name);

        check_is_alone(container, "ReloadSignal=");
        service_set(container->service, "ExecReload", command);
}

static void set_command(Container *container) {
        g_autoptr(GString) command = g_string_new(RUN_COMMAND);

        check_is_alone(container, "ReloadCmd=");
        for (guint i = 0; i < container->reload_cmd->len; i++)
                words_append_quoted(command, container->reload_cmd->pdata[i]);
        service_set(container->service, "ExecReload", command->str);
}

void reload_service(Container *container) {
        if (container->reload_signal_line && container->reload_cmd_line)
                container_problem(container, container->reload_signal_line,
                                  "ReloadCmd= is given, too; remove one of the two");
        else if (container->reload_signal_line)
                set_signal(container);
        else if (container->reload_cmd_line)
                set_command(container);
}
