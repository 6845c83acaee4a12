/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* The names that profiles use, and what they stand for. What cannot be parsed is KT_ERROR_FAILED. Strings are static
 * but where something else is said. */

/* SCMP_ACT_… -> SECCOMP_RET_…, without errno. Fails for an unknown one. */
bool seccomp_action_parse(const char *name, guint32 *ret_action, GError **error);

/* SECCOMP_RET_…, whatever its errno -> SCMP_ACT_…; NULL for none that there is. */
const char *seccomp_action_name(guint32 action);

/* Does this action carry an errno (ERRNO, TRACE)? */
bool seccomp_action_has_errno(guint32 action);

/* "ALLOW", "ERRNO(EPERM)", … Transfer full. */
char *seccomp_action_describe(guint32 action);

/* SCMP_CMP_… -> enum scmp_compare. */
bool seccomp_operator_parse(const char *name, int *ret_op, GError **error);

/* The other way. */
const char *seccomp_operator_name(int op);

/* "EPERM", or a decimal number. */
bool seccomp_errno_parse(const char *name, guint32 *ret_errno, GError **error);

/* The machine's architecture as the profile's "arches" name it ("amd64"), or NULL if podman has no name
 * for it. */
const char *seccomp_arch_go_name(guint32 token);

/* The same as "archMap" names it ("SCMP_ARCH_X86_64"), or NULL if podman adds no sub-architectures to it. */
const char *seccomp_arch_map_name(guint32 token);

/* SCMP_ARCH_… (the prefix may be missing, the case be any, as crun has it) -> SCMP_ARCH_… token. */
bool seccomp_arch_parse(const char *name, guint32 *ret_token, GError **error);
