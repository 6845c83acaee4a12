/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/json/walk.h"
#include "libstart/option/capability.h"
#include "libstart/seccomp/names.h"
#include "libstart/seccomp/profile.h"

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

/* Both begin with the action, so that the same handlers read it. */
typedef struct RuleText {
        ActionText action;
        SeccompRule *rule;
        const char *name; /* of the older format, which has one in place of "names" */
} RuleText;

typedef struct ProfileText {
        ActionText action;
        SeccompProfile *profile;
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

static bool set_action(yajl_val value, void *text, GError **error) {
        return json_get_string(value, &((ActionText *) text)->action, error);
}

static bool set_errno_name(yajl_val value, void *text, GError **error) {
        return json_get_string(value, &((ActionText *) text)->errno_name, error);
}

static bool set_errno_number(yajl_val value, void *text, GError **error) {
        guint64 number;

        if (!json_get_number(value, SECCOMP_RET_DATA, &number, error))
                return false;
        ((ActionText *) text)->errno_number = (guint32) number;
        return true;
}

static bool finish_action(const ActionText *text, const char *key, guint32 *ret_action, GError **error) {
        guint32 number = text->errno_number, action;

        if (!text->action || !text->action[0])
                return error_set(error, KT_ERROR_FAILED, "'%s' is missing", key);
        if (!seccomp_action_parse(text->action, &action, error)) {
                g_prefix_error(error, "'%s': ", key);
                return false;
        }
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

static bool set_caps(yajl_val value, void *condition, GError **error) {
        return json_walk_array(value, add_capability, &((SeccompCondition *) condition)->caps, error);
}

static bool set_arches(yajl_val value, void *condition, GError **error) {
        return json_walk_array(value, json_append_string, ((SeccompCondition *) condition)->arches, error);
}

static bool set_min_kernel(yajl_val value, void *condition, GError **error) {
        const char *text;
        unsigned major, minor;
        char rest;

        if (!json_get_string(value, &text, error))
                return false;
        if (sscanf(text, "%5u.%5u%c", &major, &minor, &rest) != 2)
                return error_set(error, KT_ERROR_FAILED, "'%s' is no kernel version; they look like 5.10", text);
        ((SeccompCondition *) condition)->min_kernel = seccomp_kernel_version(major, minor);
        return true;
}

static const JsonKey condition_keys[] = {
        { "caps", set_caps },
        { "arches", set_arches },
        { "minKernel", set_min_kernel },
        {},
};

/* ---- arguments ---- */

static bool set_index(yajl_val value, void *argument, GError **error) {
        guint64 index;

        if (!json_get_number(value, MAX_ARGUMENTS - 1, &index, error))
                return false;
        ((SeccompArgument *) argument)->index = (guint32) index;
        return true;
}

static bool set_value(yajl_val value, void *argument, GError **error) {
        return json_get_number(value, G_MAXUINT64, &((SeccompArgument *) argument)->value, error);
}

static bool set_value2(yajl_val value, void *argument, GError **error) {
        return json_get_number(value, G_MAXUINT64, &((SeccompArgument *) argument)->value2, error);
}

static bool set_op(yajl_val value, void *argument, GError **error) {
        const char *name;

        return json_get_string(value, &name, error) &&
               seccomp_operator_parse(name, &((SeccompArgument *) argument)->op, error);
}

static const JsonKey argument_keys[] = {
        { "index", set_index }, { "value", set_value }, { "valueTwo", set_value2 }, { "op", set_op }, {},
};

static bool add_argument(yajl_val value, void *arguments, GError **error) {
        SeccompArgument argument = { 0 };

        if (!json_walk_object(value, argument_keys, &argument, error))
                return false;
        if (argument.op == 0)
                return error_set(error, KT_ERROR_FAILED, "'op' is missing");
        g_array_append_val(arguments, argument);
        return true;
}

/* ---- rules ---- */

static bool set_name(yajl_val value, void *text, GError **error) {
        return json_get_string(value, &((RuleText *) text)->name, error);
}

static bool set_names(yajl_val value, void *text, GError **error) {
        return json_walk_array(value, json_append_string, ((RuleText *) text)->rule->names, error);
}

static bool set_args(yajl_val value, void *text, GError **error) {
        return json_walk_array(value, add_argument, ((RuleText *) text)->rule->arguments, error);
}

static bool set_includes(yajl_val value, void *text, GError **error) {
        return json_walk_object(value, condition_keys, &((RuleText *) text)->rule->includes, error);
}

static bool set_excludes(yajl_val value, void *text, GError **error) {
        return json_walk_object(value, condition_keys, &((RuleText *) text)->rule->excludes, error);
}

static const JsonKey rule_keys[] = {
        { "name", set_name },
        { "names", set_names },
        { "action", set_action },
        { "errno", set_errno_name },
        { "errnoRet", set_errno_number },
        { "args", set_args },
        { "includes", set_includes },
        { "excludes", set_excludes },
        { "comment", NULL },
        {},
};

static bool finish_rule(RuleText *text, GError **error) {
        SeccompRule *rule = text->rule;
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
        const GPtrArray *names = text->rule->names;
        const char *name = names->len > 0 ? names->pdata[0] : text->name;

        if (!error || !name)
                return;
        g_autofree char *message = (*error)->message;
        (*error)->message = g_strdup_printf("%s (rule of '%s')", message, name);
}

static bool add_rule(yajl_val value, void *p, GError **error) {
        SeccompProfile *profile = ((ProfileText *) p)->profile;
        RuleText text = { .rule = rule_new(profile->rules->len), .action.errno_number = NO_ERRNO };

        g_ptr_array_add(profile->rules, text.rule);
        if (!json_walk_object(value, rule_keys, &text, error) || !finish_rule(&text, error)) {
                suffix_rule(error, &text);
                return false;
        }
        if (text.rule->includes.min_kernel || text.rule->excludes.min_kernel)
                profile->asks_kernel = true;
        return true;
}

/* ---- the profile ---- */

static bool set_architecture(yajl_val value, void *map, GError **error) {
        const char *name;

        if (!json_get_string(value, &name, error))
                return false;
        ((SeccompArchMap *) map)->architecture = g_strdup(name);
        return true;
}

static bool set_sub_architectures(yajl_val value, void *map, GError **error) {
        return json_walk_array(value, json_append_string, ((SeccompArchMap *) map)->sub_architectures, error);
}

static const JsonKey arch_map_keys[] = {
        { "architecture", set_architecture },
        { "subArchitectures", set_sub_architectures },
        {},
};

static bool add_arch_map(yajl_val value, void *array, GError **error) {
        SeccompArchMap *map = g_new0(SeccompArchMap, 1);

        map->sub_architectures = g_ptr_array_new_with_free_func(g_free);
        g_ptr_array_add(array, map);
        if (!json_walk_object(value, arch_map_keys, map, error))
                return false;
        return map->architecture || error_set(error, KT_ERROR_FAILED, "'architecture' is missing");
}

static bool set_architectures(yajl_val value, void *text, GError **error) {
        return json_walk_array(value, json_append_string, ((ProfileText *) text)->profile->architectures, error);
}

static bool set_arch_map(yajl_val value, void *text, GError **error) {
        return json_walk_array(value, add_arch_map, ((ProfileText *) text)->profile->arch_map, error);
}

static bool set_syscalls(yajl_val value, void *text, GError **error) {
        return json_walk_array(value, add_rule, text, error);
}

/* Flags say how a filter is loaded. libstart loads with SPEC_ALLOW, and TSYNC means nothing to a process of one
 * thread: these two are accepted. */
static bool check_flag(yajl_val value, void *unused, GError **error) {
        const char *flag;

        if (!json_get_string(value, &flag, error))
                return false;
        if (g_str_equal(flag, "SECCOMP_FILTER_FLAG_SPEC_ALLOW") || g_str_equal(flag, "SECCOMP_FILTER_FLAG_TSYNC"))
                return true;
        return error_set(error, KT_ERROR_UNSUPPORTED, "keyturn cannot load a filter with '%s': remove it", flag);
}

static bool check_flags(yajl_val value, void *unused, GError **error) {
        if (!json_walk_array(value, check_flag, NULL, error))
                return false;
        for (size_t i = 0; i < value->u.array.len; i++)
                /* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): check_flag() lets only strings pass */
                if (g_str_equal(YAJL_GET_STRING(value->u.array.values[i]), "SECCOMP_FILTER_FLAG_SPEC_ALLOW"))
                        return true;
        return value->u.array.len == 0 ||
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
        { "defaultAction", set_action },
        { "defaultErrno", set_errno_name },
        { "defaultErrnoRet", set_errno_number },
        { "architectures", set_architectures },
        { "archMap", set_arch_map },
        { "syscalls", set_syscalls },
        { "flags", check_flags },
        { "listenerPath", refuse_listener },
        { "listenerMetadata", refuse_listener },
        { "comment", NULL },
        {},
};

static bool read_profile(yajl_val tree, ProfileText *text, GError **error) {
        SeccompProfile *profile = text->profile;

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
        ProfileText state = { .profile = profile, .action.errno_number = NO_ERRNO };

        profile->architectures = g_ptr_array_new_with_free_func(g_free);
        profile->arch_map = g_ptr_array_new_with_free_func(arch_map_free);
        profile->rules = g_ptr_array_new_with_free_func(rule_free);
        if (length > SECCOMP_PROFILE_MAX_BYTES) {
                error_set(error, KT_ERROR_FAILED, "larger than %d bytes", SECCOMP_PROFILE_MAX_BYTES);
                return NULL;
        }
        yajl_val tree = json_parse(text, length, MAX_DEPTH, error);
        if (!tree)
                return NULL;
        bool ok = read_profile(tree, &state, error); /* nothing of the tree outlives it */
        yajl_tree_free(tree);
        if (!ok)
                strip_leading_dot(error);
        return ok ? g_steal_pointer(&profile) : NULL;
}
