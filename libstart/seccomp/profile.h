/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* A seccomp profile as people write it, read into structs: the format of containers-common (seccomp.json)
 * and of the OCI runtime specification's linux.seccomp, which is a subset of it. Pure: text in, struct
 * out. */

#define SECCOMP_PROFILE_MAX_BYTES (1024 * 1024) /* the default profile has 16 KiB */

/* Only the first two numbers count, as in minKernel's "5.10". */
static inline guint32 seccomp_kernel_version(guint32 major, guint32 minor) {
        return (major << 16) | (minor & 0xffff);
}

/* Both parts of a rule's "includes" and "excludes". */
typedef struct SeccompCondition {
        guint64 caps;       /* bit n: capability number n is listed */
        GPtrArray *arches;  /* names as Go has them: amd64, arm64, x86, ... */
        guint32 min_kernel; /* seccomp_kernel_version(); 0: none given */
} SeccompCondition;

typedef struct SeccompArgument {
        guint32 index;  /* 0 to 5 */
        int op;         /* enum scmp_compare */
        guint64 value;  /* for SCMP_CMP_MASKED_EQ the mask */
        guint64 value2; /* for SCMP_CMP_MASKED_EQ the value; else without meaning */
} SeccompArgument;

typedef struct SeccompRule {
        size_t position;   /* in the file: syscalls[position] */
        GPtrArray *names;  /* of system calls, never empty */
        guint32 action;    /* what the filter returns: SECCOMP_RET_…, with its errno */
        GArray *arguments; /* SeccompArgument; empty: whatever they are */
        SeccompCondition includes;
        SeccompCondition excludes;
} SeccompRule;

typedef struct SeccompArchMap {
        char *architecture; /* SCMP_ARCH_… */
        GPtrArray *sub_architectures;
} SeccompArchMap;

typedef struct SeccompProfile {
        guint32 default_action;   /* as SeccompRule.action */
        GPtrArray *architectures; /* SCMP_ARCH_…; empty: the native one, or what arch_map adds to it */
        GPtrArray *arch_map;      /* SeccompArchMap */
        GPtrArray *rules;         /* SeccompRule, in the order of the file */
        bool asks_kernel;         /* some rule has a minKernel, so the filter depends on the kernel's version */
} SeccompProfile;

/* Fails, naming the place ("syscalls[3].args[0].op: … (rule of 'clone')"), for anything that is no
 * profile and for whatever the filter could not keep: an unknown key, action or capability,
 * SCMP_ACT_NOTIFY's listener. Meanings are those of podman run --security-opt seccomp=FILE. The text need
 * not end in NUL. Transfer full. */
SeccompProfile *seccomp_profile_parse(const char *text, gsize length, GError **error);

void seccomp_profile_free(SeccompProfile *profile);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SeccompProfile, seccomp_profile_free)
