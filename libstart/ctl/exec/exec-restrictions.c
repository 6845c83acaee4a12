/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "keyturn-config.h"
#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/ctl/container/unit-properties.h"
#include "libstart/ctl/exec/exec-restrictions.h"

/*
 * What systemd knows of the unit: org.freedesktop.systemd1(5)
 */

typedef bool Read(sd_bus_message *reply, GString *value);

/* All namespaces may be made: systemd has -1 for it. */
static const struct {
        const char *name;
        guint64 flag;
} namespaces[] = {
        { "cgroup", CLONE_NEWCGROUP }, { "ipc", CLONE_NEWIPC },   { "net", CLONE_NEWNET }, { "mnt", CLONE_NEWNS },
        { "pid", CLONE_NEWPID },       { "user", CLONE_NEWUSER }, { "uts", CLONE_NEWUTS },
};

static bool read_namespaces(sd_bus_message *reply, GString *value) {
        bool all = true;
        guint64 flags;

        if (sd_bus_message_read(reply, "t", &flags) < 0)
                return false;
        for (size_t i = 0; i < G_N_ELEMENTS(namespaces); i++)
                if (flags & namespaces[i].flag)
                        g_string_append_printf(value, " %s", namespaces[i].name);
                else
                        all = false;
        if (all)
                g_string_truncate(value, 0);
        else if (value->len == 0)
                g_string_append(value, "yes");
        return true;
}

static bool read_words(sd_bus_message *reply, GString *value) {
        const char *word;
        int r;

        if (sd_bus_message_enter_container(reply, 'a', "s") < 0)
                return false;
        while ((r = sd_bus_message_read(reply, "s", &word)) > 0)
                g_string_append_printf(value, " %s", word);
        return r == 0 && sd_bus_message_exit_container(reply) >= 0;
}

/* Those that are allowed, or that are not. */
static bool read_list(sd_bus_message *reply, GString *value) {
        int allowed;

        if (sd_bus_message_enter_container(reply, 'r', "bas") < 0 || sd_bus_message_read(reply, "b", &allowed) < 0 ||
            !read_words(reply, value))
                return false;
        if (allowed && value->len == 0)
                g_string_append(value, "none");
        else if (!allowed && value->len > 0)
                value->str[0] = '~';
        return true;
}

static bool read_flag(sd_bus_message *reply, GString *value) {
        int flag;

        if (sd_bus_message_read(reply, "b", &flag) < 0)
                return false;
        g_string_append(value, flag ? "yes" : "");
        return true;
}

/* Out of their range, what is filtered kills: systemd's default. */
#define ERRNO_MAX 4095

static bool read_errno(sd_bus_message *reply, GString *value) {
        int number;

        if (sd_bus_message_read(reply, "i", &number) < 0)
                return false;
        if (number > 0 && number <= ERRNO_MAX)
                g_string_append_printf(value, "%d", number);
        return true;
}

/* All of which systemd 257 makes filters for seccomp(2). `filter`: says something by itself. */
static const struct {
        const char *name, *type;
        Read *read;
        bool filter;
} properties[] = {
        { "SystemCallFilter", "(bas)", read_list, true },
        { "SystemCallLog", "(bas)", read_list, true },
        { "SystemCallArchitectures", "as", read_words, true },
        { "SystemCallErrorNumber", "i", read_errno, false },
        { "RestrictAddressFamilies", "(bas)", read_list, true },
        { "RestrictNamespaces", "t", read_namespaces, true },
        { "RestrictRealtime", "b", read_flag, true },
        { "RestrictSUIDSGID", "b", read_flag, true },
        { "LockPersonality", "b", read_flag, true },
        { "MemoryDenyWriteExecute", "b", read_flag, true },
        { "PrivateDevices", "b", read_flag, true },
        { "ProtectClock", "b", read_flag, true },
        { "ProtectHostname", "b", read_flag, true },
        { "ProtectKernelLogs", "b", read_flag, true },
        { "ProtectKernelModules", "b", read_flag, true },
        { "ProtectKernelTunables", "b", read_flag, true },
};

static bool find_all(sd_bus *bus, const char *path, GPtrArray *words, GError **error) {
        bool any = false;

        for (size_t i = 0; i < G_N_ELEMENTS(properties); i++) {
                g_autoptr(GString) value = g_string_new(NULL);
                g_autoptr(sd_bus_message) reply = NULL;

                if (sd_bus_get_property(bus, BUS_SYSTEMD, path, BUS_SERVICE, properties[i].name, NULL, &reply,
                                        properties[i].type) < 0 ||
                    !properties[i].read(reply, value))
                        return error_set(error, KT_ERROR_FAILED, "systemd does not say what %s= is",
                                         properties[i].name);
                if (value->len == 0)
                        continue;
                any |= properties[i].filter;
                g_ptr_array_add(words, g_strdup_printf("--property=%s=%s", properties[i].name, value->str));
        }
        if (!any)
                g_ptr_array_set_size(words, 0);
        return true;
}

GPtrArray *exec_restrictions_find(const ContainerUnit *container, GError **error) {
        g_autoptr(GPtrArray) words = g_ptr_array_new_with_free_func(g_free);
        g_autofree char *path = NULL;
        g_autoptr(sd_bus) bus = bus_open(error);
        bool ok = bus && sd_bus_path_encode(BUS_OBJECT "/unit", container->unit, &path) >= 0 &&
                  find_all(bus, path, words, error);

        return ok ? g_steal_pointer(&words) : NULL;
}

/*
 * Under them
 */

void exec_restrictions_run(GPtrArray *restrictions, GPtrArray *words, GError **error) {
        static const char *const first[] = { "--quiet",
                                             "--collect",
                                             "--wait",
                                             "--pipe",
                                             "--description=Command in a Container",
                                             "--property=LogLevelMax=notice" };
        g_autoptr(GPtrArray) call = g_ptr_array_new();

        g_ptr_array_add(call, (char *) "systemd-run");
        for (size_t i = 0; i < G_N_ELEMENTS(first); i++)
                g_ptr_array_add(call, (char *) first[i]);
        for (guint i = 0; i < restrictions->len; i++)
                g_ptr_array_add(call, restrictions->pdata[i]);
        g_ptr_array_add(call, (char *) "--");
        g_ptr_array_add(call, (char *) KEYTURN_BINDIR "/keyturnctl");
        for (guint i = 0; i < words->len; i++) { /* systemd expands $ in them */
                g_autoptr(GString) word = g_string_new(words->pdata[i]);

                g_string_replace(word, "$", "$$", 0);
                g_ptr_array_add(call, g_strdup(word->str));
        }
        g_ptr_array_add(call, NULL);
        (void) execv("/usr/bin/systemd-run", (char **) call->pdata);
        error_set_errno(error, errno,
                        "Cannot execute '/usr/bin/systemd-run', to have systemd lay upon the command what "
                        "[Service] lays upon the payload");
}

void exec_restrictions_watch(pid_t caller) {
        _cleanup_close_ int fd = (int) syscall(SYS_pidfd_open, caller, 0);
        struct pollfd ask = { .fd = fd, .events = POLLIN };
        pid_t self = getpid();

        if (fork() != 0)
                return;
        (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() == self && fd >= 0)
                while (poll(&ask, 1, -1) < 0 && errno == EINTR)
                        ;
        (void) kill(self, SIGHUP);
        _exit(0);
}
