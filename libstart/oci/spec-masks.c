/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <fnmatch.h>

#include "libstart/base/path-value.h"
#include "libstart/oci/spec-parts.h"
#include "libstart/option/security-option.h"

/* What is hidden from a container, and what it cannot write: Podman's lists, without what the file unmasks, and what it
 * masks itself. */

#define CGROUP "/sys/fs/cgroup"

static const char *const masked_paths[] = {
        "/proc/acpi",          "/proc/interrupts",
        "/proc/kcore",         "/proc/keys",
        "/proc/latency_stats", "/proc/sched_debug",
        "/proc/scsi",          "/proc/timer_list",
        "/proc/timer_stats",   "/sys/devices/virtual/powercap",
        "/sys/firmware",       "/sys/fs/selinux",
};

static const char *const readonly_paths[] = {
        "/proc/asound", "/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger",
};

/* All paths of the options of a kind, in their order; bad options were refused before. Transfer full. */
static char **list_paths(const LaunchArgs *args, SecurityOptionKind kind) {
        g_autoptr(GString) paths = g_string_new(NULL);

        for (guint i = 0; i < args->security_opt->len; i++) {
                SecurityOption option;

                if (!security_option_parse(args->security_opt->pdata[i], &option, NULL) || option.kind != kind)
                        continue;
                g_string_append_printf(paths, "%s%s", paths->len > 0 ? ":" : "", option.paths);
        }
        return g_strsplit(paths->str, ":", -1);
}

static bool is_unmasked(const char *path, char *const *unmasked) {
        for (char *const *pattern = unmasked; *pattern; pattern++)
                if (g_ascii_strcasecmp(*pattern, SECURITY_UNMASK_ALL) == 0 ||
                    fnmatch(*pattern, path, FNM_PATHNAME) == 0)
                        return true;
        return false;
}

static void add_path(GPtrArray *paths, const char *path, char *const *unmasked) {
        if (!is_unmasked(path, unmasked))
                g_ptr_array_add(paths, (void *) path);
}

bool spec_add_masks(Spec *spec, const SpecInput *input, GError **error) {
        g_autoptr(GPtrArray) masked = g_ptr_array_new(), readonly = g_ptr_array_new(); /* own nothing */
        g_auto(GStrv) unmask = list_paths(input->args, SECURITY_UNMASK);
        g_auto(GStrv) mask = list_paths(input->args, SECURITY_MASK);
        char *const *throttle = input->host->thermal_throttle;

        for (size_t i = 0; i < G_N_ELEMENTS(masked_paths); i++)
                add_path(masked, masked_paths[i], unmask);
        for (; throttle && *throttle; throttle++)
                add_path(masked, *throttle, unmask);
        for (char **path = mask; *path; path++) {
                if (!spec_check_not_shared(spec->mounts, spec->mounts_len, *path, "Mask=", error))
                        return false;
                g_ptr_array_add(masked, *path);
        }
        for (size_t i = 0; i < G_N_ELEMENTS(readonly_paths); i++)
                add_path(readonly, readonly_paths[i], unmask);
        g_ptr_array_add(masked, NULL);
        g_ptr_array_add(readonly, NULL);
        spec->linux->masked_paths = spec_copy_strings((const char *const *) masked->pdata,
                                                      &spec->linux->masked_paths_len);
        spec->linux->readonly_paths = spec_copy_strings((const char *const *) readonly->pdata,
                                                        &spec->linux->readonly_paths_len);
        return true;
}

/* Podman's rule, which knows no patterns here, and ALL only as the first one. */
bool spec_has_writable_cgroup(const SpecInput *input) {
        g_auto(GStrv) unmask = list_paths(input->args, SECURITY_UNMASK);

        if (*unmask && g_str_equal(*unmask, SECURITY_UNMASK_ALL))
                return true;
        for (char **path = unmask; *path; path++) {
                g_autofree char *clean = path_value_clean(*path);

                if (g_str_equal(clean, CGROUP))
                        return true;
        }
        return false;
}
