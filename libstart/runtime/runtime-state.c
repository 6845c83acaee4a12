/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <libcrun/container.h>
#include <libcrun/status.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/oci/spec.h"
#include "libstart/runtime/runtime-state.h"

static int open_file(const RuntimeContainer *container, const char *name, GError **error) {
        g_autofree char *path = g_build_filename(container->state_root, container->id, name, NULL);
        int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

        return fd >= 0 ? fd : error_negative_errno(error, errno, "Cannot write '%s'", path);
}

bool runtime_state_describe(const RuntimeContainer *container, GError **error) {
        _cleanup_close_ int fd = open_file(container, "config.json", error);

        return fd >= 0 && spec_write_json(container->spec, container->environment, fd, error);
}

static bool write_filter(const RuntimeContainer *container, GError **error) {
        _cleanup_close_ int fd = open_file(container, "seccomp.bpf", error);
        gsize size;
        const void *filter = g_bytes_get_data(container->filter, &size);

        if (fd >= 0 && !fd_write_all(fd, filter, size))
                error_set_errno(error, errno, "Cannot write the seccomp filter");
        return !*error;
}

/* Not g_date_time_format(), which looks for the locale's character set. */
static char *format_now(void) {
        g_autoptr(GDateTime) now = g_date_time_new_now_utc();
        int year, month, day;

        g_date_time_get_ymd(now, &year, &month, &day);
        return g_strdup_printf("%04d-%02d-%02dT%02d:%02d:%02d.%06dZ", year, month, day, g_date_time_get_hour(now),
                               g_date_time_get_minute(now), g_date_time_get_second(now),
                               g_date_time_get_microsecond(now));
}

/* As libcrun would write it, without two things that take 200 us. The owner's name needs NSS, and libstart is root,
 * if only in a user's view. The kinds of the standard streams are of use to CRIU alone. */
int runtime_state_adopt(const RuntimeContainer *container, pid_t process, libcrun_error_t *err) {
        g_autofree char *created = format_now();
        libcrun_container_status_t status = {
                .pid = process,
                .bundle = (char *) container->state_root,
                .rootfs = container->spec->root->path,
                .created = created,
                .detached = container->request->detach,
                .external_descriptors = (char *) "[\"/dev/null\",\"/dev/null\",\"/dev/null\"]",
                .owner = (char *) "root",
        };

        return libcrun_write_container_status(container->state_root, container->id, &status, err);
}

/* The status comes last: without it crun knows no container, and so none without its filter. */
int runtime_state_write(const RuntimeContainer *container, pid_t payload, libcrun_error_t *err) {
        g_autoptr(GError) error = NULL;

        if (!runtime_state_describe(container, &error) || (container->filter && !write_filter(container, &error)))
                return libcrun_make_error(err, 0, "%s", error->message);
        return runtime_state_adopt(container, payload, err);
}

bool runtime_enter_bundle(const RuntimeContainer *container, GError **error) {
        return chdir(container->state_root) == 0 ||
               error_set_errno(error, errno, "Cannot enter '%s'", container->state_root);
}
