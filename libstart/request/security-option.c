/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/base/path-value.h"
#include "libstart/request/label-option.h"
#include "libstart/request/security-option.h"
#include "libstart/value/flag-word.h"

static bool parse_no_new_privileges(const char *value, SecurityOption *option, GError **error) {
        option->kind = SECURITY_NO_NEW_PRIVILEGES;
        option->enabled = true;
        if (value && !flag_word_parse(value, &option->enabled))
                return error_set(error, KT_ERROR_USAGE, "'no-new-privileges=%s' is neither true nor false", value);
        return true;
}

static bool parse_seccomp(const char *value, SecurityOption *option, GError **error) {
        if (!value || (value[0] != '/' && !g_str_equal(value, "unconfined")))
                return error_set(error, KT_ERROR_USAGE,
                                 "seccomp needs the absolute path of a profile, or unconfined");
        option->kind = SECURITY_SECCOMP;
        option->enabled = value[0] == '/';
        option->profile = option->enabled ? value : NULL;
        return true;
}

/* Masked, "/" would be a container without files. */
static bool check_path(const char *path, SecurityOptionKind kind, GError **error) {
        g_autofree char *clean = NULL;

        if (kind == SECURITY_UNMASK && g_ascii_strcasecmp(path, SECURITY_UNMASK_ALL) == 0)
                return true;
        if (!path_value_check(path, error))
                return false;
        clean = path_value_clean(path);
        return kind == SECURITY_UNMASK || !g_str_equal(clean, "/") ||
               error_set(error, KT_ERROR_USAGE, "'%s' is the whole container, and cannot be masked", path);
}

/* What fnmatch(3) takes for a negation, a class or a member, and Podman's matcher does not: more would be unmasked
 * than there. The colons of a class are none between paths, so that this is looked at first. */
static bool check_patterns(const char *value, GError **error) {
        static const char *const foreign[] = { "[!", "[]", "[^]", "[:", "[.", "[=" };

        for (size_t i = 0; i < G_N_ELEMENTS(foreign); i++)
                if (strstr(value, foreign[i]))
                        return error_set(
                                error, KT_ERROR_USAGE,
                                "'%s' in the pattern '%s' is not supported: a set is negated by ^ alone, has no "
                                "classes, and does not begin with ']'; write [^...], or name the characters",
                                foreign[i], value);
        return true;
}

static bool parse_paths(const char *value, SecurityOptionKind kind, SecurityOption *option, GError **error) {
        g_auto(GStrv) paths = g_strsplit(value ?: "", ":", -1);

        if (!*paths)
                return error_set(error, KT_ERROR_USAGE, "the path is empty");
        if (kind == SECURITY_UNMASK && !check_patterns(value, error))
                return false;
        for (char **path = paths; *path; path++)
                if (!check_path(*path, kind, error))
                        return false;
        option->kind = kind;
        option->paths = value;
        return true;
}

static bool parse_label(const char *value, SecurityOption *option, GError **error) {
        LabelRequest scratch = { 0 };
        bool ok = label_option_parse(value ?: "", &scratch, error);

        label_request_clear(&scratch);
        option->kind = SECURITY_LABEL;
        option->text = value;
        return ok;
}

static bool parse_apparmor(const char *value, SecurityOption *option, GError **error) {
        if (!value || !*value || strpbrk(value, "\n\t"))
                return error_set(error, KT_ERROR_USAGE,
                                 "apparmor needs the name of a profile that the system has loaded, or unconfined");
        option->kind = SECURITY_APPARMOR;
        option->text = value;
        return true;
}

bool security_option_parse(const char *value, SecurityOption *ret, GError **error) {
        size_t length = strcspn(value, strchr(value, '=') ? "=" : ":");
        const char *argument = value[length] ? value + length + 1 : NULL;
        g_autofree char *name = g_strndup(value, length);
        SecurityOption option = { 0 };
        bool ok;

        if (g_str_equal(name, "no-new-privileges"))
                ok = parse_no_new_privileges(argument, &option, error);
        else if (g_str_equal(name, "seccomp"))
                ok = parse_seccomp(argument, &option, error);
        else if (g_str_equal(name, "mask"))
                ok = parse_paths(argument, SECURITY_MASK, &option, error);
        else if (g_str_equal(name, "unmask"))
                ok = parse_paths(argument, SECURITY_UNMASK, &option, error);
        else if (g_str_equal(name, "label"))
                ok = parse_label(argument, &option, error);
        else if (g_str_equal(name, "apparmor"))
                ok = parse_apparmor(argument, &option, error);
        else
                ok = error_set(error, KT_ERROR_UNSUPPORTED,
                               "security option '%s' is not supported: there are no-new-privileges, seccomp, mask, "
                               "unmask, label and apparmor",
                               name);
        if (ok)
                *ret = option;
        return ok;
}
