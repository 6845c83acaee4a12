/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/log.h"
#include "libstart/config/small-file.h"
#include "libstart/seccomp/compact.h"
#include "libstart/seccomp/compile.h"
#include "libstart/seccomp/names.h"

/* 2: the system call is looked up in a binary tree instead of a list. What that gains is in
 * tests/seccomp/README.md. */
#define OPTIMIZE_BINARY_TREE 2

#define MAX_ARGUMENTS 6

#define EXPORT_SIZE_MAX ((size_t) 64 << 20) /* far more than the kernel takes, for the error to say how much it is */

G_DEFINE_AUTO_CLEANUP_FREE_FUNC(scmp_filter_ctx, seccomp_release, NULL)

static bool refuse_notify(guint32 action, GError **error) {
        if ((action & SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_USER_NOTIF)
                return error_set(error, KT_ERROR_UNSUPPORTED,
                                 "SCMP_ACT_NOTIFY needs a program that answers for the kernel, and keyturn has none: "
                                 "use SCMP_ACT_ERRNO, or start this container with podman");
        return true;
}

/* libseccomp begins with the architecture of this process. */
static bool set_native(scmp_filter_ctx context, guint32 arch, GError **error) {
        int r = arch == seccomp_arch_native() ? 0 : seccomp_arch_add(context, arch);

        if (r == 0 && arch != seccomp_arch_native())
                r = seccomp_arch_remove(context, SCMP_ARCH_NATIVE);
        return r == 0 || error_set_errno(error, -r, "no filter can be made for another architecture");
}

static bool add_architectures(scmp_filter_ctx context, const GPtrArray *names, GError **error) {
        for (guint i = 0; i < names->len; i++) {
                const char *name = names->pdata[i];
                guint32 token;

                if (!seccomp_arch_parse(name, &token, error))
                        return false;
                int r = seccomp_arch_add(context, token);
                if (r < 0 && r != -EEXIST)
                        return error_set_errno(error, -r, "the architecture '%s' cannot be added", name);
        }
        return true;
}

/* libseccomp takes each argument only once in a rule. Where a rule has two conditions on one argument, crun and runc
 * make all of its conditions alternatives: each is enough. So does this. */
static bool is_list_of_alternatives(const GArray *arguments) {
        guint seen = 0;

        for (guint i = 0; i < arguments->len; i++) {
                guint bit = 1U << g_array_index(arguments, SeccompArgument, i).index;

                if (seen & bit)
                        return true;
                seen |= bit;
        }
        return false;
}

static bool add_call(scmp_filter_ctx context, const SeccompRule *rule, const char *name, GError **error) {
        struct scmp_arg_cmp compare[MAX_ARGUMENTS];
        guint n = rule->arguments->len;
        int call = seccomp_syscall_resolve_name(name), r = 0;

        if (call == __NR_SCMP_ERROR) {
                log_debug("syscalls[%zu]: this libseccomp does not know '%s', ignoring", rule->position, name);
                return true;
        }
        for (guint i = 0; i < n; i++) {
                const SeccompArgument *argument = &g_array_index(rule->arguments, SeccompArgument, i);

                compare[i] = (struct scmp_arg_cmp) {
                        .arg = argument->index,
                        .op = (enum scmp_compare) argument->op,
                        .datum_a = argument->value,
                        .datum_b = argument->value2,
                };
        }
        if (is_list_of_alternatives(rule->arguments))
                for (guint i = 0; r == 0 && i < n; i++)
                        r = seccomp_rule_add_array(context, rule->action, call, 1, &compare[i]);
        else
                r = seccomp_rule_add_array(context, rule->action, call, n, compare);
        if (r < 0)
                return error_set_errno(error, -r, "libseccomp refuses the rule for '%s'", name);
        return true;
}

static bool add_rule(scmp_filter_ctx context, const SeccompRule *rule, guint32 default_action, GError **error) {
        if (rule->action == default_action)
                return true; /* says nothing new, and libseccomp would refuse it */
        if (!refuse_notify(rule->action, error))
                return false;
        for (guint i = 0; i < rule->names->len; i++)
                if (!add_call(context, rule, rule->names->pdata[i], error))
                        return false;
        return true;
}

static bool add_rules(scmp_filter_ctx context, const SeccompProfile *profile, const SeccompTarget *target,
                      GError **error) {
        for (guint i = 0; i < profile->rules->len; i++) {
                const SeccompRule *rule = profile->rules->pdata[i];

                if (seccomp_rule_obstacle(rule, target))
                        continue;
                if (!add_rule(context, rule, profile->default_action, error))
                        return error_prefix(error, "syscalls[%zu]: ", rule->position);
        }
        return true;
}

static bool check_size(GBytes *filter, GError **error) {
        gsize n = g_bytes_get_size(filter) / sizeof(struct sock_filter);

        return n <= BPF_MAXINSNS || error_set(error, KT_ERROR_FAILED,
                                              "the filter would have %zu instructions, and the kernel takes %d: "
                                              "the profile needs fewer rules with arguments",
                                              n, BPF_MAXINSNS);
}

/* libseccomp takes what write(2) says for a success, also where memory was short and it wrote a part. A part whose
 * jumps stay inside, and which ends with a verdict, is never left: it says what the whole says. */
static bool check_whole(GBytes *filter, GError **error) {
        gsize size;
        const struct sock_filter *program = g_bytes_get_data(filter, &size);

        return (size % sizeof *program == 0 && seccomp_is_well_formed(program, size / sizeof *program)) ||
               error_set(error, KT_ERROR_FAILED, "libseccomp has not written all of the filter");
}

static GBytes *compact_filter(GBytes *filter) {
        gsize size;
        const struct sock_filter *program = g_bytes_get_data(filter, &size);
        GBytes *compact = seccomp_compact(program, size / sizeof *program);

        return compact ?: g_bytes_ref(filter);
}

static bool fill(scmp_filter_ctx context, const SeccompProfile *profile, const SeccompTarget *target,
                 GError **error) {
        g_autoptr(GPtrArray) architectures = seccomp_profile_architectures(profile, target);
        int r = seccomp_attr_set(context, SCMP_FLTATR_CTL_OPTIMIZE, OPTIMIZE_BINARY_TREE);

        if (r < 0)
                return error_set_errno(error, -r, "libseccomp has no binary tree");
        return set_native(context, target->arch, error) && add_architectures(context, architectures, error) &&
               add_rules(context, profile, target, error);
}

/* Through a file in memory: seccomp_export_bpf_mem() is in libseccomp from 2.6 on only. */
static GBytes *export_filter(scmp_filter_ctx context, GError **error) {
        _cleanup_close_ int fd = memfd_create("seccomp.bpf", MFD_CLOEXEC);
        struct stat st;
        char *bpf;
        int r;

        if (fd < 0)
                return error_null_errno(error, errno, "cannot make a file in memory for the filter");
        r = seccomp_export_bpf(context, fd);
        if (r < 0 || lseek(fd, 0, SEEK_SET) < 0)
                return error_null_errno(error, r < 0 ? -r : errno, "libseccomp cannot generate the filter");
        if (!file_read_fd(fd, "the filter", EXPORT_SIZE_MAX, &bpf, &st, error))
                return NULL;
        return g_bytes_new_take(bpf, (gsize) st.st_size);
}

GBytes *seccomp_filter_compile(const SeccompProfile *profile, const SeccompTarget *target, GError **error) {
        if (!refuse_notify(profile->default_action, error))
                return error_prefix_null(error, "'defaultAction': ");
        g_auto(scmp_filter_ctx) context = seccomp_init(profile->default_action);
        if (!context)
                return error_null(error, KT_ERROR_FAILED,
                                  "'defaultAction': libseccomp does not take it on this kernel");
        if (!fill(context, profile, target, error))
                return NULL;
        g_autoptr(GBytes) filter = export_filter(context, error);
        if (!filter || !check_whole(filter, error))
                return NULL;
        g_autoptr(GBytes) compact = compact_filter(filter);
        return check_size(compact, error) ? g_steal_pointer(&compact) : NULL;
}

static bool check_names(const GPtrArray *names, GError **error) {
        guint32 token;

        for (guint i = 0; i < names->len; i++)
                if (!seccomp_arch_parse(names->pdata[i], &token, error))
                        return false;
        return true;
}

bool seccomp_filter_check(const SeccompProfile *profile, GError **error) {
        SeccompTarget target = seccomp_target_here(0);
        g_autoptr(GPtrArray) architectures = seccomp_profile_architectures(profile, &target);

        if (!check_names(architectures, error))
                return false;
        if (!refuse_notify(profile->default_action, error))
                return error_prefix(error, "'defaultAction': ");
        for (guint i = 0; i < profile->rules->len; i++) {
                const SeccompRule *rule = profile->rules->pdata[i];
                bool always = rule->includes.caps == 0 && rule->excludes.caps == 0 &&
                              !seccomp_rule_obstacle(rule, &target);

                if (always && !refuse_notify(rule->action, error))
                        return error_prefix(error, "syscalls[%zu]: ", rule->position);
        }
        return true;
}
