/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/json/walk.h"
#include "libstart/seccomp/names.h"
#include "libstart/seccomp/profile.h"
#include "libstart/value/capability.h"

/* A profile needs seven. */
#define MAX_DEPTH 32

#define MAX_ARGUMENTS 6

#define NO_ERRNO G_MAXUINT32

/* An action while it is read. Its errno may stand before or after it, under two keys. */
typedef struct ActionText {
        const char *action;
        const char *errno_name; /* a newer key, which wins */
        guint32 errno_number;   /* NO_ERRNO: not given */
} ActionText;

typedef struct RuleText {
        ActionText action;
        SeccompRule rule;
        const char *name; /* of the older format, which has one in place of "names" */
} RuleText;

typedef struct ProfileText {
        ActionText action;
        SeccompProfile profile;
} ProfileText;

static void rule_free(void *p) {
        SeccompRule *rule = p;

        g_ptr_array_unref(rule->names);
        g_array_unref(rule->arguments);
        g_ptr_array_unref(rule->includes.arches);
        g_ptr_array_unref(rule->excludes.arches);
        g_free(rule);
}

static SeccompRule *rule_new(size_t position) {
        SeccompRule *rule = g_new0(SeccompRule, 1);

        rule->position = position;
        rule->names = g_ptr_array_new_with_free_func(g_free);
        rule->arguments = g_array_new(FALSE, FALSE, sizeof(SeccompArgument));
        rule->includes.arches = g_ptr_array_new_with_free_func(g_free);
        rule->excludes.arches = g_ptr_array_new_with_free_func(g_free);
        return rule;
}

static void arch_map_free(void *p) {
        SeccompArchMap *map = p;

        g_free(map->architecture);
        g_ptr_array_unref(map->sub_architectures);
        g_free(map);
}

void seccomp_profile_free(SeccompProfile *profile) {
        g_ptr_array_unref(profile->architectures);
        g_ptr_array_unref(profile->arch_map);
        g_ptr_array_unref(profile->rules);
        g_free(profile);
}

/* ---- actions ---- */

static bool set_errno_number(yajl_val value, void *ret, GError **error) {
        guint64 number;

        if (!json_get_number(value, SECCOMP_RET_DATA, &number, error))
                return false;
        *(guint32 *) ret = (guint32) number;
        return true;
}

static bool finish_action(const ActionText *text, const char *key, guint32 *ret_action, GError **error) {
        guint32 number = text->errno_number, action;

        if (!text->action || !text->action[0])
                return error_set(error, KT_ERROR_FAILED, "'%s' is missing", key);
        if (!seccomp_action_parse(text->action, &action, error))
                return error_prefix(error, "'%s': ", key);
        if (text->errno_name && text->errno_name[0] && !seccomp_errno_parse(text->errno_name, &number, error))
                return false;
        if (number != NO_ERRNO && !seccomp_action_has_errno(action))
                return error_set(error, KT_ERROR_FAILED, "an errno is given, and '%s' returns none", text->action);
        if (seccomp_action_has_errno(action))
                action |= number == NO_ERRNO ? EPERM : number;
        *ret_action = action;
        return true;
}

/* ---- conditions ---- */

static bool add_capability(yajl_val value, void *mask, GError **error) {
        const char *name;

        if (!json_get_string(value, &name, error))
                return false;
        for (unsigned int i = 0; i < CAPABILITY_COUNT; i++)
                if (g_str_equal(capability_name(i), name)) {
                        *(guint64 *) mask |= G_GUINT64_CONSTANT(1) << i;
                        return true;
                }
        return error_set(error, KT_ERROR_FAILED, "'%s' is no capability; they are spelt CAP_SYS_ADMIN", name);
}

static bool set_min_kernel(yajl_val value, void *ret, GError **error) {
        const char *text;
        unsigned major, minor;
        char rest;

        if (!json_get_string(value, &text, error))
                return false;
        if (sscanf(text, "%5u.%5u%c", &major, &minor, &rest) != 2)
                return error_set(error, KT_ERROR_FAILED, "'%s' is no kernel version; they look like 5.10", text);
        *(guint32 *) ret = seccomp_kernel_version(major, minor);
        return true;
}

static const JsonKey condition_keys[] = {
        { "caps", NULL, offsetof(SeccompCondition, caps), add_capability },
        { "arches", json_append_strings, offsetof(SeccompCondition, arches) },
        { "minKernel", set_min_kernel, offsetof(SeccompCondition, min_kernel) },
        {},
};

/* ---- arguments ---- */

static bool set_index(yajl_val value, void *ret, GError **error) {
        guint64 index;

        if (!json_get_number(value, MAX_ARGUMENTS - 1, &index, error))
                return false;
        *(guint32 *) ret = (guint32) index;
        return true;
}

static bool set_value(yajl_val value, void *ret, GError **error) {
        return json_get_number(value, G_MAXUINT64, ret, error);
}

static bool set_op(yajl_val value, void *ret, GError **error) {
        const char *name;

        return json_get_string(value, &name, error) && seccomp_operator_parse(name, ret, error);
}

static const JsonKey argument_keys[] = {
        { "index", set_index, offsetof(SeccompArgument, index) },
        { "value", set_value, offsetof(SeccompArgument, value) },
        { "valueTwo", set_value, offsetof(SeccompArgument, value2) },
        { "op", set_op, offsetof(SeccompArgument, op) },
        {},
};

static bool add_argument(yajl_val value, void *arguments, GError **error) {
        SeccompArgument argument = { 0 };

        if (!json_walk_object(value, argument_keys, &argument, error))
                return false;
        if (argument.op == 0)
                return error_set(error, KT_ERROR_FAILED, "'op' is missing");
        g_array_append_val(*(GArray **) arguments, argument);
        return true;
}

/* ---- rules ---- */

static bool set_condition(yajl_val value, void *condition, GError **error) {
        return json_walk_object(value, condition_keys, condition, error);
}

static const JsonKey rule_keys[] = {
        { "name", json_get_string, offsetof(RuleText, name) },
        { "names", json_append_strings, offsetof(RuleText, rule.names) },
        { "action", json_get_string, offsetof(RuleText, action.action) },
        { "errno", json_get_string, offsetof(RuleText, action.errno_name) },
        { "errnoRet", set_errno_number, offsetof(RuleText, action.errno_number) },
        { "args", NULL, offsetof(RuleText, rule.arguments), add_argument },
        { "includes", set_condition, offsetof(RuleText, rule.includes) },
        { "excludes", set_condition, offsetof(RuleText, rule.excludes) },
        { "comment", NULL, 0 },
        {},
};

static bool finish_rule(RuleText *text, GError **error) {
        SeccompRule *rule = &text->rule;
        bool named = text->name && text->name[0];

        if (named && rule->names->len > 0)
                return error_set(error, KT_ERROR_FAILED, "both 'name' and 'names' are given, one is enough");
        if (named)
                g_ptr_array_add(rule->names, g_strdup(text->name));
        if (rule->names->len == 0)
                return error_set(error, KT_ERROR_FAILED, "'names' is missing");
        if (rule->arguments->len > MAX_ARGUMENTS)
                return error_set(error, KT_ERROR_FAILED,
                                 "'args' has %u conditions, and %d are the most: split the rule",
                                 rule->arguments->len, MAX_ARGUMENTS);
        return finish_action(&text->action, "action", &rule->action, error);
}

/* People look for a rule by its system calls, not by its number. */
static void suffix_rule(GError **error, const RuleText *text) {
        const GPtrArray *names = text->rule.names;
        const char *name = names->len > 0 ? names->pdata[0] : text->name;

        if (!error || !name)
                return;
        g_autofree char *message = (*error)->message;
        (*error)->message = g_strdup_printf("%s (rule of '%s')", message, name);
}

static bool add_rule(yajl_val value, void *p, GError **error) {
        SeccompProfile *profile = p;
        SeccompRule *rule = rule_new(profile->rules->len);
        RuleText text = { .rule = *rule, .action.errno_number = NO_ERRNO };
        bool ok;

        g_ptr_array_add(profile->rules, rule); /* owns the lists, which `text` uses */
        ok = json_walk_object(value, rule_keys, &text, error) && finish_rule(&text, error);
        if (!ok)
                suffix_rule(error, &text);
        *rule = text.rule;
        if (rule->includes.min_kernel || rule->excludes.min_kernel)
                profile->asks_kernel = true;
        return ok;
}

/* ---- the profile ---- */

static const JsonKey arch_map_keys[] = {
        { "architecture", json_copy_string, offsetof(SeccompArchMap, architecture) },
        { "subArchitectures", json_append_strings, offsetof(SeccompArchMap, sub_architectures) },
        {},
};

static bool add_arch_map(yajl_val value, void *array, GError **error) {
        SeccompArchMap *map = g_new0(SeccompArchMap, 1);

        map->sub_architectures = g_ptr_array_new_with_free_func(g_free);
        g_ptr_array_add(*(GPtrArray **) array, map);
        if (!json_walk_object(value, arch_map_keys, map, error))
                return false;
        return map->architecture || error_set(error, KT_ERROR_FAILED, "'architecture' is missing");
}

/* Flags say how a filter is loaded. libstart loads with SPEC_ALLOW, and TSYNC means nothing to a process of one
 * thread: these two are accepted. */
static bool check_flag(yajl_val value, void *has_spec_allow, GError **error) {
        const char *flag;

        if (!json_get_string(value, &flag, error))
                return false;
        if (g_str_equal(flag, "SECCOMP_FILTER_FLAG_SPEC_ALLOW"))
                *(bool *) has_spec_allow = true;
        else if (!g_str_equal(flag, "SECCOMP_FILTER_FLAG_TSYNC"))
                return error_set(error, KT_ERROR_UNSUPPORTED, "keyturn cannot load a filter with '%s': remove it",
                                 flag);
        return true;
}

static bool check_flags(yajl_val value, void *unused, GError **error) {
        bool has_spec_allow = false;

        if (!json_walk_array(value, check_flag, &has_spec_allow, error))
                return false;
        return has_spec_allow || value->u.array.len == 0 ||
               error_set(error, KT_ERROR_UNSUPPORTED,
                         "keyturn loads filters with SECCOMP_FILTER_FLAG_SPEC_ALLOW, which is not "
                         "listed: add it, "
                         "or remove the key");
}

static bool refuse_listener(yajl_val value, void *unused, GError **error) {
        const char *text;

        if (!json_get_string(value, &text, error))
                return false;
        return !text[0] || error_set(error, KT_ERROR_UNSUPPORTED,
                                     "keyturn has no listeners for seccomp: remove the key, or start this container "
                                     "with podman");
}

static const JsonKey profile_keys[] = {
        { "defaultAction", json_get_string, offsetof(ProfileText, action.action) },
        { "defaultErrno", json_get_string, offsetof(ProfileText, action.errno_name) },
        { "defaultErrnoRet", set_errno_number, offsetof(ProfileText, action.errno_number) },
        { "architectures", json_append_strings, offsetof(ProfileText, profile.architectures) },
        { "archMap", NULL, offsetof(ProfileText, profile.arch_map), add_arch_map },
        { "syscalls", NULL, offsetof(ProfileText, profile), add_rule },
        { "flags", check_flags, 0 },
        { "listenerPath", refuse_listener, 0 },
        { "listenerMetadata", refuse_listener, 0 },
        { "comment", NULL, 0 },
        {},
};

static bool read_profile(yajl_val tree, ProfileText *text, GError **error) {
        SeccompProfile *profile = &text->profile;

        if (!json_walk_object(tree, profile_keys, text, error))
                return false;
        if (!text->action.action && profile->rules->len == 0)
                return error_set(error, KT_ERROR_FAILED,
                                 "neither 'defaultAction' nor 'syscalls' are there; a container without a filter "
                                 "is spelt seccomp=unconfined");
        if (profile->architectures->len > 0 && profile->arch_map->len > 0)
                return error_set(error, KT_ERROR_FAILED,
                                 "both 'architectures' and 'archMap' are given, one is enough");
        return finish_action(&text->action, "defaultAction", &profile->default_action, error);
}

static void strip_leading_dot(GError **error) {
        if (error && (*error)->message[0] == '.')
                memmove((*error)->message, (*error)->message + 1, strlen((*error)->message));
}

SeccompProfile *seccomp_profile_parse(const char *text, gsize length, GError **error) {
        g_autoptr(SeccompProfile) profile = g_new0(SeccompProfile, 1);
        ProfileText state;

        profile->architectures = g_ptr_array_new_with_free_func(g_free);
        profile->arch_map = g_ptr_array_new_with_free_func(arch_map_free);
        profile->rules = g_ptr_array_new_with_free_func(rule_free);
        if (length > SECCOMP_PROFILE_MAX_BYTES)
                return error_null(error, KT_ERROR_FAILED, "larger than %d bytes", SECCOMP_PROFILE_MAX_BYTES);
        g_auto(yajl_val) tree = json_parse(text, length, MAX_DEPTH, error);
        if (!tree)
                return NULL;
        state = (ProfileText) { .profile = *profile, .action.errno_number = NO_ERRNO };
        bool ok = read_profile(tree, &state, error); /* nothing of the tree outlives it */
        *profile = state.profile;
        if (!ok)
                strip_leading_dot(error);
        return ok ? g_steal_pointer(&profile) : NULL;
}
