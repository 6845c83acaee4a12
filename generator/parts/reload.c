/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "generator/parts/reload.h"
#include "libstart/value/signal-name.h"
#include "libstart/value/unit-words.h"

/* systemd looks the programs up itself, so that a reload needs no shell. systemctl returns when the signal is sent,
 * and is where systemd is: kill(1) may not be installed. */
#define SEND_SIGNAL "systemctl %skill --kill-whom=main --signal=%s %%n"
#define RUN_COMMAND "keyturnctl %sexec %%n"

bool handle_reload_cmd(Conversion *container, const Key *key, const Value *value, GError **error) {
        g_ptr_array_add(container->reload.command, g_strdup(value->text));
        return true;
}

bool handle_reload_signal(Conversion *container, const Key *key, const Value *value, GError **error) {
        return signal_name_parse(value->text, &container->reload.signal, error);
}

static const char *say_user(const Conversion *container) {
        return container->is_users ? "--user " : "";
}

static void set_reload(Conversion *container, const char *key, const char *command) {
        const UnitLine *line = service_user_line(container->service, "ExecReload");

        if (line)
                conversion_problem(container, line, "%s in [Container] makes it, too; remove one of the two", key);
        service_set(container->service, "ExecReload", command);
}

static void set_signal(Conversion *container) {
        g_autofree char *name = signal_name_print(container->reload.signal);
        g_autofree char *command = g_strdup_printf(SEND_SIGNAL, say_user(container), name);

        set_reload(container, "ReloadSignal=", command);
}

static void set_command(Conversion *container) {
        g_autoptr(GString) command = g_string_new(NULL);

        g_string_printf(command, RUN_COMMAND, say_user(container));
        unit_words_add_command(command, container->reload.command);
        set_reload(container, "ReloadCmd=", command->str);
}

void reload_service(Conversion *container) {
        bool has_command = container->reload.command->len > 0;

        if (container->reload.signal && has_command)
                conversion_problem(container, conversion_line(container, "Container", "ReloadSignal"),
                                   "ReloadCmd= is given, too; remove one of the two");
        else if (container->reload.signal)
                set_signal(container);
        else if (has_command)
                set_command(container);
}
