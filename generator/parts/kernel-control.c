/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <linux/bpf.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "generator/parts/kernel-control.h"
#include "libstart/base/device-program.h"
#include "libstart/base/fd.h"

#define ROOT "/sys/fs/cgroup"

/* Inode of the first user namespace (PROC_USER_INIT_INO of the kernel). */
#define USER_NAMESPACE_INITIAL 0xEFFFFFFDU

static const struct {
        KernelControl control;
        const char *name, *key, *option; /* what asks for it: of [Container], and in PodmanArgs= */
        const char *settings[3];         /* of [Service], which stand for these; or what they begin with */
        const char *advice;
} controllers[] = {
        { KERNEL_CONTROL_CPU, "cpu", NULL, "--cpu", { "CPUQuota", "CPUWeight" }, "" },
        { KERNEL_CONTROL_CPUSET, "cpuset", NULL, "--cpuset", { "AllowedCPUs", "AllowedMemoryNodes" }, "" },
        { KERNEL_CONTROL_MEMORY,
          "memory",
          "Memory",
          "memory",
          { "Memory" },
          "; boot it without cgroup_disable=memory (a Raspberry Pi: with cgroup_enable=memory in cmdline.txt)" },
        { KERNEL_CONTROL_PIDS, "pids", "PidsLimit", "--pids-limit", { "TasksMax" }, "" },
        { KERNEL_CONTROL_IO, "io", NULL, NULL, { "IORead", "IOWrite" }, "" }, /* of users' alone */
};

/* What a user's manager may hand on was given to its service (Delegate=). Transfer full. */
static char *find_group(bool is_users) {
        return is_users ? g_strdup_printf(ROOT "/user.slice/user-%u.slice/user@%u.service", getuid(), getuid()) :
                          g_strdup(ROOT);
}

static unsigned find_missing_controllers(bool is_users) {
        g_autofree char *text = NULL, *group = find_group(is_users);
        g_autofree char *path = g_build_filename(group, "cgroup.controllers", NULL);
        g_auto(GStrv) names = NULL;
        unsigned missing = 0;

        if (!g_file_get_contents(path, &text, NULL, NULL))
                return 0;
        names = g_strsplit(g_strchomp(text), " ", -1);
        for (size_t i = 0; i < G_N_ELEMENTS(controllers); i++)
                if (!g_strv_contains((const char *const *) names, controllers[i].name))
                        missing |= controllers[i].control;
        return missing;
}

static bool is_in_user_namespace(void) {
        struct stat st;

        return stat("/proc/self/ns/user", &st) == 0 && st.st_ino != USER_NAMESPACE_INITIAL;
}

/* As systemd asks it. */
static bool has_device_programs(void) {
        static const struct bpf_insn allow_all[] = {
                { .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 1 },
                { .code = BPF_JMP | BPF_EXIT },
        };
        _cleanup_close_ int program = device_program_load(allow_all, G_N_ELEMENTS(allow_all), "");

        return program >= 0;
}

unsigned kernel_control_missing(bool is_users) {
        bool has_devices = is_users || has_device_programs() || is_in_user_namespace();

        return find_missing_controllers(is_users) | (has_devices ? 0 : KERNEL_CONTROL_DEVICES);
}

void kernel_control_need(Conversion *container, const char *setting) {
        for (size_t i = 0; i < G_N_ELEMENTS(controllers); i++)
                for (const char *const *one = controllers[i].settings; *one; one++)
                        if (controllers[i].option && g_str_has_prefix(setting, *one))
                                container->limits.controls |= controllers[i].control;
}

static void refuse_devices(Conversion *container) {
        conversion_problem(container, NULL,
                           "the kernel cannot keep it from the machine's devices: it must be built with "
                           "CONFIG_CGROUP_BPF (in systemd-nspawn: --system-call-filter=bpf); DevicePolicy=auto in "
                           "[Service] allows it whatever it has a node of");
}

#define USERS_WANT                                                                                                   \
        "nothing would keep to it, as the manager of this user has no controller '%s' for cgroups: 'systemctl edit " \
        "user@.service', with Delegate=cpu cpuset io memory pids in [Service]; then restart it"

/* Of [Service]: a number that is not to be exceeded, or the processors that there are. */
static bool is_limit(const UnitLine *line) {
        static const char *const none[] = { "", "infinity", "100%", NULL };
        static const char *const others[] = { "MemoryAccounting",
                                              "MemoryPressureWatch",
                                              "MemoryPressureThresholdSec",
                                              "MemoryKSM",
                                              "MemoryDenyWriteExecute",
                                              "MemoryTHP",
                                              "CPUWeight",
                                              NULL };

        return line->key && !g_strv_contains(none, line->value) && !g_strv_contains(others, line->key);
}

/* Root's manager has them all, or systemd says so; a user's has what was handed on, and says nothing. */
static void check_users_line(Conversion *container, const UnitLine *line, unsigned missing) {
        const char *key = line->key + (g_str_has_prefix(line->key, "Startup") ? strlen("Startup") : 0);

        for (size_t i = 0; i < G_N_ELEMENTS(controllers); i++)
                for (const char *const *one = controllers[i].settings; *one; one++)
                        if (missing & controllers[i].control && g_str_has_prefix(key, *one)) {
                                conversion_problem(container, line, USERS_WANT, controllers[i].name);
                                return;
                        }
}

static void check_users_service(Conversion *container, unsigned missing) {
        const UnitSection *section = container->is_users ? container->service->user_service : NULL;

        for (guint i = 0; section && i < section->lines->len; i++) {
                const UnitLine *line = &g_array_index(section->lines, UnitLine, i);

                if (is_limit(line))
                        check_users_line(container, line, missing);
        }
}

static void refuse_limit(Conversion *container, size_t i) {
        const UnitLine *line = NULL;

        if (controllers[i].key)
                line = conversion_line(container, "Container", controllers[i].key);
        if (!line)
                line = conversion_line_with(container, "Container", "PodmanArgs", controllers[i].option);
        if (container->is_users)
                conversion_problem(container, line, USERS_WANT, controllers[i].name);
        else
                conversion_problem(container, line,
                                   "the kernel would not keep to it, as it has no controller '%s' for cgroups%s",
                                   controllers[i].name, controllers[i].advice);
}

void kernel_control_check(Conversion *container, unsigned missing) {
        unsigned refused = missing & container->limits.controls;

        check_users_service(container, missing);
        if (refused & KERNEL_CONTROL_DEVICES)
                refuse_devices(container);
        for (size_t i = 0; i < G_N_ELEMENTS(controllers); i++)
                if (refused & controllers[i].control)
                        refuse_limit(container, i);
}
