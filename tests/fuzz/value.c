/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/request/device-request.h"
#include "libstart/request/launch-args.h"
#include "libstart/request/launch-request.h"
#include "libstart/request/secret-request.h"
#include "libstart/value/host-entry.h"
#include "libstart/value/signal-name.h"
#include "libstart/value/size.h"
#include "libstart/value/sysctl.h"
#include "libstart/value/ulimit.h"
#include "libstart/value/user-spec.h"
#include "tests/fuzz/fuzz.h"

/* Values that are checked here alone and become a part of something else. */

static void after_name(const char *value) {
        require(!strpbrk(value, "/ \n") && value[0] != '.', "the name '%s'", value);
}

static void after_hostname(const char *value) {
        require(!strpbrk(value, "/ \n") && strlen(value) <= 64, "the host name '%s'", value);
}

static void after_timezone(const char *value) {
        require(value[0] != '/' && !strchr(value, '.'), "the zone '%s'", value);
}

static void after_size(const char *value) {
        guint64 bytes = 0;

        require(size_parse(value, &bytes, NULL) && bytes <= G_MAXINT64, "'%s' has too many bytes", value);
}

static void after_ulimit(const char *value) {
        Ulimit ulimit;

        require(ulimit_parse(value, &ulimit, NULL) && ulimit.soft <= ulimit.hard, "the limit '%s'", value);
}

static void after_sysctl(const char *value) {
        g_autoptr(Sysctl) sysctl = sysctl_parse(value, NULL);

        require(sysctl && !strchr(sysctl->name, '/') && !strstr(sysctl->name, ".."), "'%s' sets something else",
                value);
}

static void after_signal(const char *value) {
        g_autofree char *name = NULL;
        int number = 0, again = 0;

        require(signal_name_parse(value, &number, NULL) && number > 0 && number <= 64, "'%s' is signal %d", value,
                number);
        name = signal_name_print(number);
        require(signal_name_parse(name, &again, NULL) && again == number, "'%s' is signal %d, not %d", name, again,
                number);
}

static void after_device(const char *value) {
        g_autoptr(DeviceRequest) request = device_request_parse(value, NULL);

        if (request->kind == DEVICE_CDI) {
                require(request->source[0] != '/' && !strchr(request->source, ' '), "the name '%s'", request->source);
                return;
        }
        require_clean(request->source);
        require(g_str_has_prefix(request->source, "/dev/") || g_str_equal(request->source, "/dev"), "the device '%s'",
                request->source);
        if (request->destination)
                require_clean(request->destination);
        require(*request->access && !request->access[strspn(request->access, "rwm")], "access '%s'", request->access);
}

/* Its lines are those of hosts(5), each with an address and names. */
static void after_add_host(const char *value) {
        g_autoptr(GString) lines = g_string_new(NULL);

        require(host_entry_append(lines, value, NULL), "'%s' is refused", value);
        g_auto(GStrv) all = g_strsplit(lines->str, "\n", -1);
        for (char **line = all; *line && **line; line++) {
                g_auto(GStrv) fields = g_strsplit(*line, "\t", -1);

                require(g_strv_length(fields) == 2 && *fields[0] && *fields[1], "the line '%s'", *line);
        }
}

/* Its name is that of one file, and its target a path or a variable. */
static void after_secret(const char *value) {
        g_autoptr(SecretRequest) request = secret_request_parse(value, NULL);

        require(request && *request->name && !strpbrk(request->name, "/=,"), "the secret '%s'", value);
        require(!g_str_equal(request->name, ".") && !g_str_equal(request->name, ".."), "the secret '%s'", value);
        require(request->mode <= 0777, "the mode %o", request->mode);
        if (request->is_variable)
                require(*request->target && !strchr(request->target, '='), "the variable '%s'", request->target);
        else
                require_clean(request->target);
}

/* A number is the id that it says. */
static void after_user(const char *value) {
        g_autofree char *user = NULL, *group = NULL;
        bool numeric = false;
        guint32 id = 0;

        require(user_spec_parse(value, &user, &group, NULL), "'%s' is refused", value);
        require(user_spec_parse_id(user, &numeric, &id, NULL), "'%s' is refused", user);
        require(!numeric || id == g_ascii_strtoull(user, NULL, 10), "user %s is %u", user, id);
}

static void after_env(const char *value) {
        value += strspn(value, " \t");
        require(*value && *value != '=', "'%s' has no name", value);
}

static const struct {
        char letter; /* what an input begins with */
        const char *option;
        void (*after)(const char *value);
} kinds[] = {
        { 'A', "--annotation", NULL },
        { 'C', "--cap-add", NULL },
        { 'D', "--device", after_device },
        { 'E', "--env", after_env },
        { 'G', "--group-add", NULL },
        { 'H', "--hostname", after_hostname },
        { 'K', "--sysctl", after_sysctl },
        { 'L', "--log-opt", NULL },
        { 'M', "--network", NULL },
        { 'N', "--name", after_name },
        { 'O', "--security-opt", NULL },
        { 'P', "--workdir", NULL },
        { 'R', "--log-driver", NULL },
        { 'S', "--shm-size", after_size },
        { 'T', "--tz", after_timezone },
        { 'U', "--user", after_user },
        { 'V', "--device-cgroup-rule", NULL },
        { 'X', "--add-host", after_add_host },
        { 'Y', "--sdnotify", NULL },
        { 'Z', "--stop-signal", after_signal },
        { 'l', "--ulimit", after_ulimit },
        { 's', "--secret", after_secret },
};

/* As on libstart's command line. */
static bool read_value(const char *option, const char *value, GError **error) {
        const char *const words[] = { option, value, "image", NULL };
        g_autoptr(LaunchArgs) args = launch_args_parse(words, error);
        g_auto(ContainerRequest) request = { 0 };

        return args && launch_args_read(args, &request, error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        g_autofree char *text = fuzz_text(data, size);

        for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++) {
                g_autoptr(GError) error = NULL;
                bool ok;

                if (text[0] != kinds[i].letter)
                        continue;
                ok = read_value(kinds[i].option, text + 1, &error);
                require_error(ok, error, text);
                if (ok && kinds[i].after)
                        kinds[i].after(text + 1);
        }
        return 0;
}
