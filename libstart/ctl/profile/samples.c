/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>
#include <string.h>

#include "libstart/ctl/profile/samples.h"

Samples *samples_new(void) {
        Samples *samples = g_new0(Samples, 1);

        samples->parts = parts_new();
        samples->root = flame_new("all");
        samples->stack = g_ptr_array_new_with_free_func(g_free);
        samples->pid = -1;
        return samples;
}

void samples_free(Samples *samples) {
        g_hash_table_unref(samples->parts);
        flame_free(samples->root);
        g_ptr_array_unref(samples->stack);
        g_free(samples);
}

/* Another PID namespace's processes are 0 to perf, as the idle ones are. */
static bool is_idle(const Samples *samples) {
        return g_ptr_array_find_with_equal_func(samples->stack, "kdo_idle", g_str_equal, NULL) ||
               g_ptr_array_find_with_equal_func(samples->stack, "kcpu_startup_entry", g_str_equal, NULL);
}

/* Of kernel workers not the numbers, of which there are many. Transfer full. */
static char *show_process(const Samples *samples, const Process *process) {
        if (samples->pid == 0)
                return g_strdup("(of another PID namespace)");
        if (process->part == PART_KERNEL)
                return g_strndup(process->name, strcspn(process->name, "/"));
        if (process->part == PART_EXECUTOR && g_ascii_isdigit(process->name[0]))
                return g_strdup("systemd-executor"); /* executed by the number of a descriptor */
        return g_strdup(process->name[0] ? process->name : "(unnamed)");
}

void samples_end(Samples *samples) {
        const Process *process;
        FlameFrame *frame = samples->root;

        if (samples->pid < 0)
                return;
        frame->samples++;
        process = parts_get(samples->parts, samples->pid);
        if (samples->pid == 0 && is_idle(samples))
                frame = flame_add(frame, part_looks[PART_IDLE].name, false, 1);
        else {
                g_autofree char *name = show_process(samples, process);

                frame = flame_add(frame, part_looks[process->part].name, false, 1);
                if (process->part != PART_PID1)
                        frame = flame_add(frame, name, false, 1);
                /* Of one that is too deep the callers are left out: kernel.perf_event_max_stack may be anything. */
                for (guint i = MIN(samples->stack->len, FLAME_DEPTH_MAX - 3); i > 0; i--) {
                        const char *call = samples->stack->pdata[i - 1];

                        frame = flame_add(frame, call + 1, call[0] == 'k', 1);
                }
        }
        frame->self++;
        samples->pid = -1;
        g_ptr_array_set_size(samples->stack, 0);
}

/* The file in the place of a function that has no name, or whose file perf has not looked for in its own root. What
 * is in one file is one frame: without frame pointers there are numbers of any kind on such a stack. */
static void add_file(Samples *samples, const char *file) {
        g_autofree char *base = g_path_get_basename(file), *call = g_strdup_printf("u[%s]", base);
        guint n = samples->stack->len;

        if (n == 0 || !g_str_equal(samples->stack->pdata[n - 1], call))
                g_ptr_array_add(samples->stack, g_steal_pointer(&call));
}

/* "	ffffffff816c8064 __x64_sys_execve ([kernel.kallsyms])" */
static void add_call(Samples *samples, const char *line) {
        const Process *process = parts_get(samples->parts, samples->pid);
        const char *address = line + strspn(line, " \t"), *name = strchr(address, ' '), *file = strrchr(line, '(');
        g_autofree char *function = NULL, *path = NULL;
        bool is_kernel;

        if (!name || !file || file <= name + 1)
                return;
        function = g_strndup(name + 1, (gsize) (file - name - 2));
        path = g_strndup(file + 1, strcspn(file + 1, ")"));
        if (g_str_equal(path, "[unknown]"))
                return; /* no address at all, as stacks without frame pointers have them */
        is_kernel = name - address == 16 && address[0] >= '8';
        if (!is_kernel && process->part == PART_LIBSTART) {
                samples->has_libstart_names |= !g_str_equal(function, "[unknown]");
                samples->lacks_libstart_names |= g_str_equal(function, "[unknown]");
        }
        if (!is_kernel && (process->is_foreign || g_str_equal(function, "[unknown]")))
                add_file(samples, path);
        else
                g_ptr_array_add(samples->stack, g_strconcat(is_kernel ? "k" : "u", function, NULL));
}

/* "sleep 71/71 PERF_RECORD_COMM exec: sleep:71/71", "libstart 68/68 PERF_RECORD_FORK(70:70):(68:68)" */
static bool add_event(Samples *samples, const char *line) {
        const char *event = strstr(line, " PERF_RECORD_");
        int pid, tid, parent;

        if (!event)
                return false;
        event += strlen(" PERF_RECORD_");
        if (sscanf(event, "FORK(%d:%d):(%d:", &pid, &tid, &parent) == 3)
                parts_fork(samples->parts, pid, parent);
        else if (sscanf(event, "EXIT(%d:%d)", &pid, &tid) == 2) {
                if (pid == tid)
                        parts_exit(samples->parts, pid);
        } else if (g_str_has_prefix(event, "COMM")) {
                const char *name = strchr(event, ' '), *numbers = strrchr(event, ':');
                bool is_exec = g_str_has_prefix(event, "COMM exec: ");

                name = is_exec ? event + strlen("COMM exec: ") : name ? name + 1 : NULL;
                if (name && numbers && numbers >= name && sscanf(numbers, ":%d/%d", &pid, &tid) == 2 && pid == tid) {
                        g_autofree char *copy = g_strndup(name, (gsize) (numbers - name));

                        parts_name(samples->parts, pid, copy, is_exec);
                }
        }
        return true;
}

/* "(libstart) 68/68 " begins a sample. */
static void begin(Samples *samples, const char *line) {
        g_autofree char *copy = g_strchomp(g_strdup(line));
        const char *numbers = strrchr(copy, ' ');
        int pid, tid;

        if (numbers && sscanf(numbers, " %d/%d", &pid, &tid) == 2)
                samples->pid = MAX(pid, 0);
}

void samples_add_line(Samples *samples, const char *line) {
        if (samples->pid >= 0 && line[0] == '\t')
                add_call(samples, line);
        else {
                samples_end(samples);
                if (line[0] && !add_event(samples, line))
                        begin(samples, line);
        }
}
