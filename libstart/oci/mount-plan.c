/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/base/path-value.h"
#include "libstart/oci/mount-plan.h"

const KernelMount kernel_mounts[N_KERNEL_MOUNTS] = {
        { "/proc", "proc", "proc", { "nosuid", "noexec", "nodev" } },
        { "/dev", "tmpfs", "tmpfs", { "nosuid", "strictatime", "mode=755", "size=65536k" }, LABELLED_AS_MOUNT },
        { "/sys", "sysfs", "sysfs", { "nosuid", "noexec", "nodev", "ro" } },
        { "/dev/pts",
          "devpts",
          "devpts",
          { "nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620", "gid=5" },
          LABELLED_AS_MOUNT },
        { "/dev/mqueue", "mqueue", "mqueue", { "nosuid", "noexec", "nodev" }, LABELLED_AS_FILE },
        { "/dev/shm", "tmpfs", "shm", { "nosuid", "noexec", "nodev", "mode=1777" }, LABELLED_AS_MOUNT },
        { "/sys/fs/cgroup", "cgroup", "cgroup", { "rprivate", "nosuid", "noexec", "nodev", "relatime" } },
};

/* For what keyturn itself mounts an option may stand: of files of the host's, and of a file system of the kernel's.
 */
enum {
        ON_BIND = 1 << 0,
        ON_KERNEL = 1 << 1,
};

/* rprivate needs nothing done: the container's mounts are private unless somebody asks for something else. */
static const struct MountWord {
        const char *name;
        unsigned where;
        unsigned long set, clear;
} words[] = {
        { "bind", ON_BIND },
        { "rbind", ON_BIND, MS_REC },
        { "rw", ON_BIND, .clear = MS_RDONLY },
        { "ro", ON_BIND | ON_KERNEL, MS_RDONLY },
        { "suid", ON_BIND, .clear = MS_NOSUID },
        { "nosuid", ON_BIND | ON_KERNEL, MS_NOSUID },
        { "dev", ON_BIND, .clear = MS_NODEV },
        { "nodev", ON_BIND | ON_KERNEL, MS_NODEV },
        { "exec", ON_BIND, .clear = MS_NOEXEC },
        { "noexec", ON_BIND | ON_KERNEL, MS_NOEXEC },
        { "relatime", ON_KERNEL, MS_RELATIME },
        { "strictatime", ON_KERNEL, MS_STRICTATIME },
        { "private", ON_BIND, MS_PRIVATE },
        { "rprivate", ON_BIND | ON_KERNEL, MS_PRIVATE },
        { "slave", 0, MS_SLAVE },
        { "rslave", 0, MS_SLAVE },
        { "shared", ON_BIND, MS_SHARED },
        { "rshared", ON_BIND, MS_SHARED },
        { "unbindable", 0, MS_UNBINDABLE },
        { "runbindable", 0, MS_UNBINDABLE },
};

static const struct MountWord *find_word(const char *option) {
        for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
                if (words[i].name[0] == option[0] && g_str_equal(words[i].name, option)) /* 500 times a start */
                        return &words[i];
        return NULL;
}

bool mount_option_is_data(const char *option) {
        return strchr(option, '=') || g_str_equal(option, "newinstance");
}

/* The last word counts, as on mount(8)'s command line. */
static void read_options(ContainerMount *mount) {
        bool bind = mount->is_bind;

        mount->is_plain = true;
        for (size_t i = 0; i < mount->oci->options_len; i++) {
                const char *option = mount->oci->options[i];
                const struct MountWord *word = find_word(option);

                if (word) {
                        mount->flags = (mount->flags & ~word->clear) | word->set;
                        mount->granted |= word->clear;
                }
                if (word ? !(word->where & (bind ? ON_BIND : ON_KERNEL)) : bind || !mount_option_is_data(option))
                        mount->is_plain = false;
        }
}

static const KernelMount *find_kernel_mount(const OciMount *mount) {
        for (size_t i = 0; i < N_KERNEL_MOUNTS; i++)
                if (g_str_equal(mount->destination, kernel_mounts[i].destination) &&
                    g_strcmp0(mount->type, kernel_mounts[i].type) == 0)
                        return &kernel_mounts[i];
        return NULL;
}

/*
 * The mount of a spec
 */

OciMount *oci_mount_new(const char *destination, const char *type, const char *source, const char *const *options) {
        OciMount *mount = g_new0(OciMount, 1);

        mount->destination = g_strdup(destination);
        mount->type = g_strdup(type);
        mount->source = g_strdup(source);
        mount->options = g_strdupv((char **) options);
        mount->options_len = options ? g_strv_length(mount->options) : 0;
        return mount;
}

void oci_mount_add_option(OciMount *mount, const char *option) {
        for (size_t i = 0; i < mount->options_len; i++)
                if (g_str_equal(mount->options[i], option))
                        return;
        mount->options = g_renew(char *, mount->options, mount->options_len + 2);
        mount->options[mount->options_len++] = g_strdup(option);
        mount->options[mount->options_len] = NULL;
}

OciMount *oci_mount_new_requested(const MountRequest *request, const char *volumes) {
        static const char *const types[] = {
                [MOUNT_BIND] = "bind",   [MOUNT_VOLUME] = "bind",   [MOUNT_IMAGE] = "bind",
                [MOUNT_GLOB] = "bind",   [MOUNT_ARTIFACT] = "bind", /* until they have been expanded */
                [MOUNT_TMPFS] = "tmpfs", [MOUNT_RAMFS] = "ramfs",   [MOUNT_DEVPTS] = "devpts",
        };
        const char *type = types[request->type];
        g_autofree char *volume = request->type == MOUNT_VOLUME ?
                                          g_build_filename(volumes, request->source, "_data", NULL) :
                                          NULL;
        OciMount *mount = oci_mount_new(request->destination, type, volume ?: request->source ?: type, NULL);

        for (guint i = 0; i < request->options->len; i++)
                oci_mount_add_option(mount, request->options->pdata[i]);
        return mount;
}

/*
 * The table
 */

MountPlan *mount_plan_new(void) {
        MountPlan *plan = g_new0(MountPlan, 1);

        plan->destinations = g_hash_table_new(g_str_hash, g_str_equal);
        plan->left_out = g_ptr_array_new();
        return plan;
}

static void clear_mounts(MountPlan *plan) {
        for (guint i = 0; i < plan->n_mounts; i++) {
                if (!plan->is_printed)
                        free_runtime_spec_schema_defs_mount(plan->mounts[i]->oci);
                g_free(plan->mounts[i]);
        }
        g_clear_pointer(&plan->mounts, g_free);
        plan->n_mounts = 0;
        g_hash_table_remove_all(plan->destinations);
}

void mount_plan_free(MountPlan *plan) {
        if (!plan)
                return;
        clear_mounts(plan);
        g_hash_table_unref(plan->destinations);
        g_ptr_array_unref(plan->left_out);
        g_free(plan);
}

ContainerMount *mount_plan_find(const MountPlan *plan, const char *destination) {
        return g_hash_table_lookup(plan->destinations, destination);
}

/* Of any type, if an option says so: "none" in the OCI's own examples. */
static bool is_bind(const OciMount *oci) {
        bool found = g_strcmp0(oci->type, "bind") == 0;

        for (size_t i = 0; !found && i < oci->options_len; i++)
                found = g_str_equal(oci->options[i], "bind") || g_str_equal(oci->options[i], "rbind");
        return found;
}

static ContainerMount *add_container_mount(MountPlan *plan, OciMount *oci, const MountRequest *request) {
        ContainerMount *mount = g_new0(ContainerMount, 1);

        mount->oci = oci;
        mount->is_bind = is_bind(oci);
        mount->request = request;
        mount->kernel = find_kernel_mount(oci);
        mount->fd = mount->target = -1;
        read_options(mount);
        plan->mounts = g_renew(ContainerMount *, plan->mounts, plan->n_mounts + 1);
        plan->mounts[plan->n_mounts++] = mount;
        g_hash_table_replace(plan->destinations, oci->destination, mount);
        return mount;
}

void mount_plan_add(MountPlan *plan, OciMount *oci) {
        add_container_mount(plan, oci, NULL);
}

void mount_plan_add_default(MountPlan *plan, OciMount *oci) {
        bool below = false;

        for (guint i = 0; i < plan->n_mounts; i++)
                below |= !plan->mounts[i]->is_first &&
                         path_value_covers(plan->mounts[i]->oci->destination, oci->destination);
        add_container_mount(plan, oci, NULL)->is_first = !below;
}

static bool is_same(const OciMount *a, const OciMount *b) {
        if (!g_str_equal(a->type, b->type) || !g_str_equal(a->source, b->source) || a->options_len != b->options_len)
                return false;
        for (size_t i = 0; i < a->options_len; i++)
                if (!g_str_equal(a->options[i], b->options[i]))
                        return false;
        return true;
}

bool mount_plan_add_only(MountPlan *plan, OciMount *oci, GError **error) {
        const ContainerMount *other = mount_plan_find(plan, oci->destination);
        bool ok = !other || is_same(other->oci, oci);

        if (!ok)
                error_set(error, KT_ERROR_USAGE, MOUNT_REQUEST_TWO, oci->destination);
        if (other)
                free_runtime_spec_schema_defs_mount(oci);
        else
                add_container_mount(plan, oci, NULL);
        return ok;
}

bool mount_plan_add_requests(MountPlan *plan, const GPtrArray *requests, const char *volumes, GError **error) {
        for (guint i = 0; i < requests->len; i++) {
                const MountRequest *request = requests->pdata[i];
                const ContainerMount *other = mount_plan_find(plan, request->destination);

                if (other && !mount_request_check_beside(request, other->request, error))
                        return false;
                if (!other && !mount_request_is_anonymous(request))
                        add_container_mount(plan, oci_mount_new_requested(request, volumes), request);
        }
        return true;
}

void mount_plan_replace(MountPlan *plan, OciMount *oci) {
        ContainerMount *other = mount_plan_find(plan, oci->destination);
        guint n = 0;

        add_container_mount(plan, oci, other ? other->request : NULL);
        for (guint i = 0; i < plan->n_mounts; i++)
                if (plan->mounts[i] != other)
                        plan->mounts[n++] = plan->mounts[i];
        plan->n_mounts = n;
        if (other)
                free_runtime_spec_schema_defs_mount(other->oci);
        g_free(other);
}

static int count_slashes(const char *path) {
        int n = 0;

        for (; *path; path++)
                n += *path == '/';
        return n;
}

static int compare_depth(const void *a, const void *b, void *data) {
        const ContainerMount *first = *(ContainerMount *const *) a, *second = *(ContainerMount *const *) b;

        if (first->is_first || second->is_first)
                return second->is_first - first->is_first;
        return count_slashes(first->oci->destination) - count_slashes(second->oci->destination);
}

static void sort_mounts(MountPlan *plan, GCompareDataFunc compare) {
        g_qsort_with_data(plan->mounts, (int) plan->n_mounts, sizeof *plan->mounts, compare, NULL); /* stable */
}

void mount_plan_sort(MountPlan *plan) {
        sort_mounts(plan, compare_depth);
}

static OciMount **list_mounts(const MountPlan *plan, bool of_libcrun, size_t *ret_length) {
        OciMount **mounts = g_new(OciMount *, plan->n_mounts + 1);

        *ret_length = 0;
        for (guint i = 0; i < plan->n_mounts; i++)
                if (!of_libcrun || plan->mounts[i]->maker == MAKER_LIBCRUN)
                        mounts[(*ret_length)++] = plan->mounts[i]->oci;
        return mounts;
}

void mount_plan_print(MountPlan *plan, runtime_spec_schema_config_schema *spec) {
        g_free(spec->mounts);
        spec->mounts = list_mounts(plan, false, &spec->mounts_len);
        plan->is_printed = true;
}

OciMount **mount_plan_list_for_libcrun(const MountPlan *plan, size_t *ret_length) {
        return list_mounts(plan, true, ret_length);
}

/* What a user asks for on a place is asked of whatever is mounted there. */
void mount_plan_take(MountPlan *plan, const runtime_spec_schema_config_schema *spec) {
        g_autofree const MountRequest **requests = g_new0(const MountRequest *, spec->mounts_len + 1);

        for (size_t i = 0; i < spec->mounts_len; i++) {
                const ContainerMount *before = mount_plan_find(plan, spec->mounts[i]->destination);

                requests[i] = before ? before->request : NULL;
        }
        clear_mounts(plan);
        for (size_t i = 0; i < spec->mounts_len; i++)
                add_container_mount(plan, spec->mounts[i], requests[i]);
}

/*
 * What it says
 */

bool mount_plan_covers(const MountPlan *plan, const char *path) {
        for (guint i = 0; i < plan->n_mounts; i++)
                if (path_value_covers(plan->mounts[i]->oci->destination, path))
                        return true;
        return false;
}

bool mount_plan_is_shared(const ContainerMount *mount) {
        return mount->flags & MS_SHARED && mount->is_bind;
}

const ContainerMount *mount_plan_find_shared(const MountPlan *plan) {
        for (guint i = 0; i < plan->n_mounts; i++)
                if (mount_plan_is_shared(plan->mounts[i]))
                        return plan->mounts[i];
        return NULL;
}

bool mount_plan_clones_trees(const MountPlan *plan) {
        for (guint i = 0; i < plan->n_mounts; i++)
                if (plan->mounts[i]->flags & MS_REC)
                        return true;
        return false;
}

const char *mount_plan_find_source_in(const MountPlan *plan, const char *directory) {
        for (guint i = 0; i < plan->n_mounts; i++) {
                const ContainerMount *mount = plan->mounts[i];
                g_autofree char *above = mount->is_bind ? g_path_get_dirname(mount->oci->source) : NULL;

                if (g_strcmp0(above, directory) == 0)
                        return mount->oci->source;
        }
        return NULL;
}

static const ContainerMount *find_shared_above(const MountPlan *plan, const char *path, const ContainerMount *but) {
        for (guint i = 0; i < plan->n_mounts; i++) {
                const ContainerMount *mount = plan->mounts[i];

                if (mount_plan_is_shared(mount) && mount != but && path_value_covers(mount->oci->destination, path))
                        return mount;
        }
        return NULL;
}

bool mount_plan_check_not_shared(const MountPlan *plan, const char *path, const char *what, GError **error) {
        g_autofree char *clean = path_value_clean(path);
        const ContainerMount *mount = find_shared_above(plan, clean, NULL);

        return !mount || mount_request_refuse_in_shared(what, path, mount->oci->destination, error);
}

/*
 * Who makes it
 */

static bool has_mode(const OciMount *mount) {
        for (size_t i = 0; i < mount->options_len; i++)
                if (g_str_has_prefix(mount->options[i], "mode="))
                        return true;
        return false;
}

/* Not a tmpfs that is to be read-only, as something must be put into it first, nor one that takes its mode from the
 * directory below it. */
static MountMaker find_maker(const ContainerMount *mount, bool cgroup2) {
        const OciMount *oci = mount->oci;

        if (!mount->is_plain)
                return MAKER_LIBCRUN;
        if (mount->is_bind)
                return mount_plan_is_shared(mount) ? MAKER_SHARED : MAKER_BIND;
        if (!mount->kernel || (!cgroup2 && g_str_equal(oci->type, "cgroup")) ||
            (g_str_equal(oci->type, "tmpfs") && (mount->flags & MS_RDONLY || !has_mode(oci))))
                return MAKER_LIBCRUN;
        return MAKER_KERNEL;
}

/* For libcrun it would be a bind mount of all of the source, which the payload could write to. */
static bool is_ours_alone(const MountRequest *request) {
        return request && (request->type == MOUNT_IMAGE || request->overlay || request->subpath);
}

static bool is_on_last(const MountPlan *plan, guint n, const char *path) {
        for (guint i = 0; i < n; i++)
                if (plan->mounts[i]->maker == MAKER_LAST &&
                    path_value_covers(plan->mounts[i]->oci->destination, path))
                        return true;
        return false;
}

static bool put_behind(const MountPlan *plan, guint at, bool is_bind_mount, GError **error) {
        ContainerMount *mount = plan->mounts[at];
        bool covered = is_on_last(plan, at, mount->oci->destination);

        mount->maker = covered || is_ours_alone(mount->request) ? MAKER_LAST : MAKER_LIBCRUN;
        if (mount->maker == MAKER_LIBCRUN || is_bind_mount)
                return true;
        return covered ?
                       error_set(error, KT_ERROR_UNSUPPORTED,
                                 "Cannot mount on the container's '%s': above it is an overlay (O), an image or "
                                 "a subpath, which is mounted last; choose another place for one of the two",
                                 mount->oci->destination) :
                       error_set(error, KT_ERROR_FAILED, "Cannot mount '%s' with these options", mount->oci->source);
}

static int compare_makers(const void *a, const void *b, void *data) {
        const ContainerMount *first = *(ContainerMount *const *) a, *second = *(ContainerMount *const *) b;

        return (int) MAX(first->maker, MAKER_BIND) - (int) MAX(second->maker, MAKER_BIND);
}

#define NOT_ASKED_FOR "Mount that the container has all the same (the kernel, ReadOnly=, Notify=, VOLUME), on"

static bool check_shared(const MountPlan *plan, GError **error) {
        if (!mount_plan_find_shared(plan))
                return true;
        for (guint i = 0; i < plan->n_mounts; i++) {
                const ContainerMount *mount = plan->mounts[i],
                                     *other = find_shared_above(plan, mount->oci->destination, mount);

                if (other)
                        return mount_request_refuse_in_shared(mount->request ? "Mount on" : NOT_ASKED_FOR,
                                                              mount->oci->destination, other->oci->destination,
                                                              error);
                if (mount_plan_is_shared(mount) && !mount->is_plain)
                        return error_set(error, KT_ERROR_UNSUPPORTED,
                                         "Cannot mount '%s' shared with the host and with its other options",
                                         mount->oci->source);
        }
        return true;
}

bool mount_plan_divide(MountPlan *plan, bool cgroup2, GError **error) {
        bool behind = false;

        if (!check_shared(plan, error))
                return false;
        for (guint i = 0; i < plan->n_mounts; i++) {
                ContainerMount *mount = plan->mounts[i];

                mount->maker = find_maker(mount, cgroup2);
                behind |= mount->maker == MAKER_LIBCRUN;
                if (behind && mount->maker != MAKER_SHARED && !put_behind(plan, i, mount->maker == MAKER_BIND, error))
                        return false;
        }
        sort_mounts(plan, compare_makers);
        return true;
}

bool mount_plan_needs_libcrun(const MountPlan *plan) {
        return plan->n_mounts > 0 && plan->mounts[plan->n_mounts - 1]->maker >= MAKER_LIBCRUN;
}

/* Where the source is read-only "rw" grants nothing: a remount for another flag would lift that. */
void container_mount_restrict(ContainerMount *mount, unsigned long flags) {
        flags &= MOUNT_RESTRICTIONS & (~mount->granted | MS_RDONLY);
        mount->flags |= flags;
        for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
                if (words[i].set & flags)
                        oci_mount_add_option(mount->oci, words[i].name);
}
