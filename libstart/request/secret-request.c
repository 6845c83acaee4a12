/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/base/path-value.h"
#include "libstart/request/secret-request.h"
#include "libstart/value/names.h"

#define DIRECTORY "/run/secrets"
#define DEFAULT_MODE 0444

void secret_request_free(SecretRequest *request) {
        g_free(request->name);
        g_free(request->target);
        g_free(request);
}

/* podman's rule: a value without a comma is a name, whatever is in it; else the first field, unless that is an
 * option. */
char *secret_request_find_name(const char *value) {
        g_auto(GStrv) fields = g_strsplit(value, ",", -1);
        char *name = NULL;

        if (!fields[0] || !fields[1] || !strchr(fields[0], '='))
                return g_strdup(fields[0]);
        for (char **field = fields; *field; field++)
                if (g_str_has_prefix(*field, "source=")) {
                        g_free(name);
                        name = g_strdup(*field + strlen("source="));
                }
        return name;
}

bool secret_name_can_be_credential(const char *name) {
        return name_is_made_of(name, "_.-@+%");
}

/* podman's rule for names; and it becomes a part of a path. */
static bool check_name(const char *name, GError **error) {
        if (!*name)
                return error_set(error, KT_ERROR_USAGE,
                                 "the secret's name is missing: NAME[,type=mount|env][,target=TARGET]");
        if (strlen(name) > 253 || strpbrk(name, "/=") || g_str_equal(name, ".") || g_str_equal(name, ".."))
                return error_set(error, KT_ERROR_USAGE,
                                 "'%s' is no name of a secret: at most 253 bytes, without '/', '=' and ','", name);
        return true;
}

static bool parse_id(const char *value, id_t *ret, GError **error) {
        guint64 id;

        if (!g_ascii_string_to_unsigned(value, 10, 0, G_MAXUINT32 - 1, &id, NULL))
                return error_set(error, KT_ERROR_USAGE, "'%s' is no numeric id of a user or group", value);
        *ret = (id_t) id;
        return true;
}

static bool parse_mode(const char *value, mode_t *ret, GError **error) {
        guint64 mode;

        if (!g_ascii_string_to_unsigned(value, 8, 0, 0777, &mode, NULL))
                return error_set(error, KT_ERROR_USAGE, "'%s' is no octal mode such as 0400", value);
        *ret = (mode_t) mode;
        return true;
}

/* What has been said, for what only both together tell. */
typedef struct Said {
        bool type, of_file;
        const char *target;
} Said;

static bool parse_type(SecretRequest *request, const char *value, Said *said, GError **error) {
        request->is_variable = g_str_equal(value, "env");
        if (!request->is_variable && !g_str_equal(value, "mount"))
                return error_set(error, KT_ERROR_USAGE, "type '%s' is neither mount nor env", value);
        if (said->type)
                return error_set(error, KT_ERROR_USAGE,
                                 "a secret has one type; repeat the secret to have it as both");
        said->type = true;
        return true;
}

static bool parse_option(SecretRequest *request, const char *field, Said *said, GError **error) {
        const char *equals = strchr(field, '=');
        g_autofree char *key = equals ? g_strndup(field, (gsize) (equals - field)) : NULL;
        const char *value = equals ? equals + 1 : NULL;

        if (!key)
                return error_set(error, KT_ERROR_USAGE, "'%s': the form is OPTION=VALUE", field);
        if (g_str_equal(key, "source"))
                return true;
        if (g_str_equal(key, "type"))
                return parse_type(request, value, said, error);
        if (g_str_equal(key, "target")) {
                said->target = value;
                return true;
        }
        said->of_file = true;
        if (g_ascii_strcasecmp(key, "uid") == 0)
                return parse_id(value, &request->uid, error);
        if (g_ascii_strcasecmp(key, "gid") == 0)
                return parse_id(value, &request->gid, error);
        if (g_str_equal(key, "mode"))
                return parse_mode(value, &request->mode, error);
        return error_set(error, KT_ERROR_USAGE, "unknown option '%s': there are type, target, uid, gid and mode",
                         key);
}

static bool set_variable(SecretRequest *request, const Said *said, GError **error) {
        const char *name = said->target && *said->target ? said->target : request->name;

        if (said->of_file)
                return error_set(error, KT_ERROR_USAGE, "uid, gid and mode are for a file, not for type=env");
        if (strchr(name, '='))
                return error_set(error, KT_ERROR_USAGE, "target: '%s' is no name of a variable", name);
        request->target = g_strdup(name);
        return true;
}

/* In /dev it mounts some directories; all of /proc and /sys is its own. */
static bool is_kernels(const char *path) {
        static const char *const places[] = { "/dev", "/dev/mqueue", "/dev/pts", "/dev/shm", NULL };

        return path_value_covers("/proc", path) || path_value_covers("/sys", path) || g_strv_contains(places, path);
}

/* A relative target is below podman's directory, as text: "../x" is /run/x there, too. */
static bool set_path(SecretRequest *request, const Said *said, GError **error) {
        const char *target = said->target && *said->target ? said->target : request->name;
        g_autofree char *path = target[0] == '/' ? g_strdup(target) : g_strconcat(DIRECTORY "/", target, NULL);

        request->target = path_value_clean(path);
        if (is_kernels(request->target))
                return error_set(error, KT_ERROR_USAGE,
                                 "target: no file can be on '%s', where the kernel shows something: choose another",
                                 request->target);
        return !g_str_equal(request->target, "/") ||
               error_set(error, KT_ERROR_USAGE, "target: '%s' is no path of a file", target);
}

static bool parse_options(SecretRequest *request, const char *value, GError **error) {
        g_auto(GStrv) fields = g_strsplit(value, ",", -1);
        bool has_options = fields[0] && fields[1];
        Said said = { 0 };

        for (char **field = fields; has_options && *field; field++)
                if ((field > fields || strchr(*field, '=')) && !parse_option(request, *field, &said, error))
                        return false;
        return (request->is_variable ? set_variable : set_path)(request, &said, error);
}

SecretRequest *secret_request_parse(const char *value, GError **error) {
        g_autoptr(SecretRequest) request = g_new0(SecretRequest, 1);

        request->mode = DEFAULT_MODE;
        request->name = secret_request_find_name(value) ?: g_strdup("");
        return check_name(request->name, error) && parse_options(request, value, error) ? g_steal_pointer(&request) :
                                                                                          NULL;
}

bool secret_request_refuse_beside(const char *target, const char *mount, GError **error) {
        if (g_str_equal(target, mount))
                return error_set(error, KT_ERROR_USAGE,
                                 "Secret= (--secret): another mount is on its target '%s': remove one of the two",
                                 target);
        return error_set(
                error, KT_ERROR_USAGE,
                "Secret= (--secret): the mount on '%s' shares what is mounted in it with the host, and the "
                "secret could come there: give that mount slave propagation (rslave), or the secret type=env",
                mount);
}
