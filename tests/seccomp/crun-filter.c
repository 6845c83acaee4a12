/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * crun-filter CONFIG.JSON > FILTER.bpf
 *
 * The filter that crun's own code makes of a container's resolved configuration.
 */
#include <config.h>

#include <libcrun/container.h>
#include <libcrun/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv) {
        struct libcrun_seccomp_gen_ctx_s context;
        libcrun_error_t error = NULL;
        libcrun_container_t *container;

        if (argc != 2) {
                fprintf(stderr, "usage: crun-filter CONFIG.JSON > FILTER.bpf\n");
                return EXIT_FAILURE;
        }
        container = libcrun_container_load_from_file(argv[1], &error);
        if (!container)
                libcrun_fail_with_error(error->status, "%s", error->msg);
        libcrun_seccomp_gen_ctx_init(&context, container, true, LIBCRUN_SECCOMP_SKIP_CACHE);
        context.fd = STDOUT_FILENO;
        if (libcrun_generate_seccomp(&context, &error) < 0)
                libcrun_fail_with_error(error->status, "%s", error->msg);
        return EXIT_SUCCESS;
}
