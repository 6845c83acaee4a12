/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/ctl/profile/parts.h"

enum { PID_INIT = 1, PID_KTHREADD = 2 };

const struct PartLook part_looks[N_PARTS] = {
        [PART_PID1] = { "PID 1", "#7fa8d4" },        [PART_EXECUTOR] = { "systemd-executor", "#6fc2ba" },
        [PART_LIBSTART] = { "libstart", "#7cc06f" }, [PART_PAYLOAD] = { "payload", "#f2a65a" },
        [PART_RELAY] = { "relay", "#c79a6b" },       [PART_KERNEL] = { "kernel threads", "#e58a88" },
        [PART_OTHER] = { "others", "#c9a9d6" },      [PART_IDLE] = { "idle", "#eeeeee" },
};

static void free_process(void *data) {
        g_free(((Process *) data)->name);
        g_free(data);
}

Parts *parts_new(void) {
        return g_hash_table_new_full(NULL, NULL, NULL, free_process);
}

static Process *replace(Parts *parts, int pid, Part part, bool is_foreign, const char *name) {
        Process *process = g_new0(Process, 1);

        *process = (Process) { .part = part, .is_foreign = is_foreign, .name = g_strdup(name) };
        g_hash_table_replace(parts, GINT_TO_POINTER(pid), process);
        return process;
}

Process *parts_get(Parts *parts, int pid) {
        Process *process = g_hash_table_lookup(parts, GINT_TO_POINTER(pid));

        if (process)
                return process;
        return replace(parts, pid,
                       pid == PID_INIT     ? PART_PID1 :
                       pid == PID_KTHREADD ? PART_KERNEL :
                                             PART_OTHER,
                       false, "");
}

void parts_set(Parts *parts, int pid, Part part, bool is_foreign) {
        replace(parts, pid, part, is_foreign, "")->is_known = true;
}

void parts_fork(Parts *parts, int pid, int parent) {
        const Process *from;

        /* A thread, or PID 1 and the like, whose parent is the kernel. */
        if (pid == parent || parent <= 0 || pid <= PID_KTHREADD || parts_get(parts, pid)->is_known)
                return;
        from = parts_get(parts, parent);
        replace(parts, pid, from->part == PART_PID1 ? PART_EXECUTOR : from->part, from->is_foreign, from->name);
}

static Part find_part(const char *name) {
        return g_str_equal(name, "libstart")      ? PART_LIBSTART :
               g_str_equal(name, "keyturn-relay") ? PART_RELAY :
                                                    PART_OTHER;
}

/* systemd calls its process "(PROGRAM)" when it knows what that will execute, and executes its executor before that
 * from version 255 on. libcrun's process is "keyturn" when it executes the payload; what else libstart executes are
 * hooks. What root directory a service has, nobody says. */
static void change_part(Process *process, const char *name, bool is_exec) {
        if (process->part == PART_EXECUTOR && is_exec && process->name[0] == '(') {
                process->part = find_part(name);
                process->is_foreign = process->part == PART_OTHER;
        } else if (process->part == PART_EXECUTOR && !is_exec && name[0] != '(')
                process->part = find_part(name); /* it ran before the recording */
        else if (process->part == PART_LIBSTART && is_exec && g_str_equal(process->name, "keyturn")) {
                process->part = PART_PAYLOAD;
                process->is_foreign = true;
        }
}

void parts_name(Parts *parts, int pid, const char *name, bool is_exec) {
        Process *process = parts_get(parts, pid);

        if (!process->is_known)
                change_part(process, name, is_exec);
        g_free(process->name);
        process->name = g_strdup(name);
}

void parts_exit(Parts *parts, int pid) {
        parts_get(parts, pid)->is_known = false;
}
