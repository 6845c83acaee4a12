/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/base/path-value.h"
#include "libstart/request/label-option.h"
#include "libstart/request/security-option.h"
#include "libstart/value/flag-word.h"

static bool parse_no_new_privileges(SecurityOption *option, GError **error) {
        option->enabled = true;
        if (option->text && !flag_word_parse(option->text, &option->enabled))
                return error_set(error, KT_ERROR_USAGE, "'no-new-privileges=%s' is neither true nor false",
                                 option->text);
        return true;
}

static bool parse_seccomp(SecurityOption *option, GError **error) {
        option->enabled = option->text && option->text[0] == '/';
        return option->enabled || g_strcmp0(option->text, "unconfined") == 0 ||
               error_set(error, KT_ERROR_USAGE, "seccomp needs the absolute path of a profile, or unconfined");
}

/* Links to what each process has of its own: masked would be the first one's, and the others see theirs. */
static bool is_of_each_process(const char *path) {
        static const char *const links[] = { "/proc/mounts", "/proc/net", "/proc/self", "/proc/thread-self" };

        for (size_t i = 0; i < G_N_ELEMENTS(links); i++)
                if (path_value_covers(links[i], path))
                        return true;
        return false;
}

static bool check_mask(const char *path, GError **error) {
        g_autofree char *clean = path_value_clean(path);

        if (g_str_equal(clean, "/"))
                return error_set(error, KT_ERROR_USAGE, "'%s' is the whole container, and cannot be masked", path);
        if (g_str_equal(clean, "/dev"))
                return error_set(error, KT_ERROR_USAGE,
                                 "'%s' cannot be masked, as nothing starts without /dev/null: name what is in it",
                                 path);
        if (strstr(path, "/../") || g_str_has_suffix(path, "/.."))
                return error_set(error, KT_ERROR_USAGE,
                                 "'%s' cannot be masked: behind a link, '..' is not what stands before it; write the "
                                 "path without",
                                 path);
        return !is_of_each_process(clean) ||
               error_set(error, KT_ERROR_USAGE,
                         "'%s' is another one for each process, and would be masked for the first one alone: leave "
                         "it out",
                         path);
}

static bool check_path(const char *path, SecurityOptionKind kind, GError **error) {
        if (kind == SECURITY_UNMASK && g_ascii_strcasecmp(path, SECURITY_UNMASK_ALL) == 0)
                return true;
        return path_value_check(path, error) && (kind == SECURITY_UNMASK || check_mask(path, error));
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

static bool parse_paths(SecurityOption *option, GError **error) {
        g_auto(GStrv) paths = g_strsplit(option->text ?: "", ":", -1);

        if (!*paths)
                return error_set(error, KT_ERROR_USAGE, "the path is empty");
        if (option->kind == SECURITY_UNMASK && !check_patterns(option->text, error))
                return false;
        for (char **path = paths; *path; path++)
                if (!check_path(*path, option->kind, error))
                        return false;
        return true;
}

static bool parse_label(SecurityOption *option, GError **error) {
        LabelRequest scratch = { 0 };
        bool ok = label_option_parse(option->text ?: "", &scratch, error);

        label_request_clear(&scratch);
        return ok;
}

static bool parse_apparmor(SecurityOption *option, GError **error) {
        return (option->text && *option->text && !strpbrk(option->text, "\n\t")) ||
               error_set(error, KT_ERROR_USAGE,
                         "apparmor needs the name of a profile that the system has loaded, or unconfined");
}

bool security_option_parse(const char *value, SecurityOption *ret, GError **error) {
        static const struct {
                const char *name;
                bool (*parse)(SecurityOption *option, GError **error);
        } kinds[] = {
                [SECURITY_NO_NEW_PRIVILEGES] = { "no-new-privileges", parse_no_new_privileges },
                [SECURITY_SECCOMP] = { "seccomp", parse_seccomp },
                [SECURITY_MASK] = { "mask", parse_paths },
                [SECURITY_UNMASK] = { "unmask", parse_paths },
                [SECURITY_LABEL] = { "label", parse_label },
                [SECURITY_APPARMOR] = { "apparmor", parse_apparmor },
        };
        size_t length = strcspn(value, strchr(value, '=') ? "=" : ":");
        g_autofree char *name = g_strndup(value, length);

        for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++)
                if (g_str_equal(kinds[i].name, name)) {
                        *ret = (SecurityOption) { .kind = (SecurityOptionKind) i,
                                                  .text = value[length] ? value + length + 1 : NULL };
                        return kinds[i].parse(ret, error);
                }
        return error_set(error, KT_ERROR_UNSUPPORTED,
                         "security option '%s' is not supported: there are no-new-privileges, seccomp, mask, "
                         "unmask, label and apparmor",
                         name);
}
