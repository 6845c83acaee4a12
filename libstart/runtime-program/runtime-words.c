/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/runtime-program/runtime-words.h"
#include "libstart/value/runtime-kind.h"

static void add(GPtrArray *words, const char *word) {
        g_ptr_array_add(words, g_strdup(word));
}

static void add_path(GPtrArray *words, const char *option, const char *directory, const char *name) {
        g_ptr_array_add(words, g_strdup(option));
        g_ptr_array_add(words, g_build_filename(directory, name, NULL));
}

GPtrArray *runtime_program_words(const char *program, const char *state_dir) {
        GPtrArray *words = g_ptr_array_new_with_free_func(g_free);

        add(words, program);
        add_path(words, "--root", state_dir, RUNTIME_PROGRAM_STATE);
        /* Else each would want a control group of its own from systemd, beside the service's. */
        if (runtime_kind_find(program) == RUNTIME_CRUN)
                add(words, "--cgroup-manager=disabled");
        return words;
}

/* Without --network=host gVisor would take the addresses of the container's network namespace for itself, and a later
 * start would find none in it; so its sockets are the kernel's, in that namespace or in the host's. Without
 * --oci-seccomp it ignores the filter, and without --overlay2 what is written to the root would go to memory of its
 * own, past the limit of the writable layer. */
static void add_sandbox(GPtrArray *words, const ContainerRequest *request) {
        add(words, "--ignore-cgroups");
        add(words, "--overlay2=none");
        add(words, request->network.mode == NETWORK_NONE ? "--network=none" : "--network=host");
        if (!request->unconfined)
                add(words, "--oci-seccomp");
}

GPtrArray *runtime_program_start_words(const ContainerRequest *request, const char *state_dir) {
        GPtrArray *words = runtime_program_words(request->runtime, state_dir);

        add_path(words, "--log", state_dir, RUNTIME_PROGRAM_LOG);
        add(words, "--log-format=json");
        if (runtime_kind_find(request->runtime) == RUNTIME_RUNSC)
                add_sandbox(words, request);
        return words;
}
