/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <ocispec/runtime_spec_schema_config_schema.h>
#include <stdbool.h>
#include <sys/mount.h>
#include <sys/types.h>

#include "libstart/request/mount-request.h"

/* The mounts of a container as one table: what each is, who makes it, and in which order. Requests begin it,
 * spec-mounts.h adds what every container has, CDI and hooks may change it; the list of the OCI spec is printed from
 * it, and mount/mounts.h makes what it says. */

typedef runtime_spec_schema_defs_mount OciMount;

/* Flags that only take something away: of mount(2), statvfs(3) and, as MOUNT_ATTR_*, of mount_setattr(2). */
#define MOUNT_RESTRICTIONS (MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC)

/* Who makes a mount, in the order of a start. */
typedef enum MountMaker {
        MAKER_KERNEL,  /* mount/kernel-mounts.h */
        MAKER_BIND,    /* mount/bind-mounts.h */
        MAKER_LIBCRUN, /* of the others the first one, and what comes behind that: it may lie on it */
        MAKER_LAST,    /* mount/bind-mounts.h, after libcrun: what it cannot make, and what lies on such */
        MAKER_SHARED,  /* mount/shared-mounts.h, after all others and the masks */
} MountMaker;

/* How SELinux's label gets onto what is a container's own. */
typedef enum MountLabelled {
        NOT_LABELLED,
        LABELLED_AS_MOUNT,
        LABELLED_AS_FILE,
} MountLabelled;

/* A file system of the kernel's that every container has, unless something else is to be mounted there. */
typedef struct KernelMount {
        const char *destination, *type, *source;
        const char *options[8];
        MountLabelled labelled;
} KernelMount;

enum { N_KERNEL_MOUNTS = 7 };
extern const KernelMount kernel_mounts[N_KERNEL_MOUNTS]; /* parents first */

typedef struct ContainerMount {
        OciMount *oci;               /* the spec's, as soon as there is one */
        const MountRequest *request; /* what a user asks for, or NULL: it is keyturn's own, or a hook's */
        const KernelMount *kernel;   /* that one of them which is of this type and on this place, or NULL */
        unsigned long flags;         /* the options: MS_* of mount(2), MS_REC with the mounts below a source */
        unsigned long granted;       /* those that an option takes away: exec, suid, dev, rw */
        bool is_bind;                /* of that type */
        bool is_plain;    /* no option means more than that, and than what keyturn does with its requests */
        bool is_volume;   /* where the image, or a user, wants a volume without a name */
        bool is_first;    /* one of the kernel's that is below none of the others */
        MountMaker maker; /* mount_plan_divide() */

        /* For mount/mounts.h: */
        bool is_masked; /* in part: fd stays open until masks.h has hidden that */
        int fd;         /* what was opened for it or made of it, or -1 */
        int target;     /* where it goes, or -1 */
        dev_t device;   /* what is to be seen there, or 0 */
} ContainerMount;

typedef struct MountPlan {
        ContainerMount **mounts;
        guint n_mounts;
        GHashTable *destinations; /* destination -> ContainerMount, neither owned */
        GPtrArray *left_out;      /* of const char*: volumes of the image that would hide what the kernel shows */
        bool is_printed;          /* a spec owns the mounts of OCI */
} MountPlan;

MountPlan *mount_plan_new(void);
void mount_plan_free(MountPlan *plan);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(MountPlan, mount_plan_free)

/* A mount for a spec. options: NULL-terminated, or NULL. Transfer full. */
OciMount *oci_mount_new(const char *destination, const char *type, const char *source, const char *const *options);

/* What it has already is not added. */
void oci_mount_add_option(OciMount *mount, const char *option);

/* As a request has it; `volumes` is the host's directory of named ones. Transfer full. */
OciMount *oci_mount_new_requested(const MountRequest *request, const char *volumes);

/*
 * To fill it. Each takes ownership of `oci`, whose options are complete.
 */

void mount_plan_add(MountPlan *plan, OciMount *oci);

/* Where that is possible it comes first: keyturn makes the first mounts itself, up to one that it does not know. */
void mount_plan_add_default(MountPlan *plan, OciMount *oci);

/* Refuses another mount on the same place; the same once more is no mistake. */
bool mount_plan_add_only(MountPlan *plan, OciMount *oci, GError **error);

/* All but volumes without names, which need not be mounts; into a plan that has none yet. `requests` outlive it. */
bool mount_plan_add_requests(MountPlan *plan, const GPtrArray *requests, const char *volumes, GError **error);

/* As the last one, and in the place of what is on its destination; what was asked for there goes for this one. */
void mount_plan_replace(MountPlan *plan, OciMount *oci);

/* The first ones, and then the others, deeper ones later: otherwise the one above would hide them. */
void mount_plan_sort(MountPlan *plan);

/* Put all into the spec, in their order. It owns them from now on, and must outlive the plan. */
void mount_plan_print(MountPlan *plan, runtime_spec_schema_config_schema *spec);

/* Take all from a spec that somebody has made of the one that was printed. */
void mount_plan_take(MountPlan *plan, const runtime_spec_schema_config_schema *spec);

/*
 * To read it
 */

ContainerMount *mount_plan_find(const MountPlan *plan, const char *destination);

/* Is there a mount on `path` or above it? */
bool mount_plan_covers(const MountPlan *plan, const char *path);

/* Is what is mounted in it mounted on the host, too? The host has no part in a tmpfs but by what that lies on. */
bool mount_plan_is_shared(const ContainerMount *mount);

/* The first one that is, or NULL. */
const ContainerMount *mount_plan_find_shared(const MountPlan *plan);

/* Does one bring what is mounted in its source, too? */
bool mount_plan_clones_trees(const MountPlan *plan);

/* The source of a mount that lies in the directory itself; borrowed. NULL: there is none. */
const char *mount_plan_find_source_in(const MountPlan *plan, const char *directory);

/* Refuses a path in a mount with shared propagation: what a start mounts there would be mounted on the host, too, and
 * outlive the container. `what` begins the message. Links are not followed. */
bool mount_plan_check_not_shared(const MountPlan *plan, const char *path, const char *what, GError **error);

/* Say who makes each, and put them into that order. cgroup2: the host has the unified hierarchy and nothing else.
 * Fails where libcrun would have to mount something on what is mounted last, and where anything would be mounted in
 * what is shared with the host. */
bool mount_plan_divide(MountPlan *plan, bool cgroup2, GError **error);

/* Is there one of libcrun's, or a later one? Then libcrun prepares the root. */
bool mount_plan_needs_libcrun(const MountPlan *plan);

/* That. Transfer of the array alone. */
OciMount **mount_plan_list_for_libcrun(const MountPlan *plan, size_t *ret_length);

/* An option of the file system's own. */
bool mount_option_is_data(const char *option);

/* Give the mount the options for what its source is under, flags of statvfs(3), unless it says otherwise. */
void container_mount_restrict(ContainerMount *mount, unsigned long flags);
