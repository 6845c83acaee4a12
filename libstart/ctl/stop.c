/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/log.h"
#include "libstart/ctl/commands.h"
#include "libstart/ctl/container/payload.h"
#include "libstart/value/signal-name.h"

/* What keyturn-stop@.service does when it is stopped: systemd/stop-unit.h. */

/* As libstart left it in the state; 0 without. */
static int read_signal(const ContainerUnit *container, GError **error) {
        libcrun_container_t *config = payload_read_config(container, error);
        const char *value = config ? payload_find_annotation(config, "org.opencontainers.image.stopSignal") : NULL;
        int number = 0;

        if (value)
                (void) signal_name_parse(value, &number, NULL);
        if (config)
                libcrun_container_free(config);
        return number;
}

static bool send_signal(const ContainerUnit *container, int payload, int number, GError **error) {
        return syscall(SYS_pidfd_send_signal, payload, number, NULL, 0) == 0 || errno == ESRCH ||
               error_set_errno(error, errno, "Cannot send the payload of %s a signal", container->unit);
}

/* Who has ended needs no signal. What else is the matter fails the command, and the unit whose ExecStop= it is: the
 * container's own is stopped by systemd's signal then. */
static int without_payload(GError **error) {
        if (!g_error_matches(*error, KT_ERROR, KT_ERROR_NOT_FOUND))
                return -1;
        g_clear_error(error);
        return EXIT_SUCCESS;
}

/* Like systemd, which counts from its own signal on. */
static bool await_end(int payload, guint64 usec) {
        struct pollfd end = { .fd = payload, .events = POLLIN };
        gint64 deadline = usec == G_MAXUINT64 ? G_MAXINT64 : g_get_monotonic_time() + (gint64) usec;
        gint64 left;

        while ((left = deadline - g_get_monotonic_time()) > 0) {
                int msec = (int) MIN(left / G_TIME_SPAN_MILLISECOND + 1, G_MAXINT);

                if (poll(&end, 1, msec) > 0)
                        return true;
        }
        return false;
}

static int end_payload(const ContainerUnit *container, int payload, int number, const char *whose, GError **error) {
        g_autofree char *name = signal_name_print(number);

        if (!send_signal(container, payload, number, error))
                return -1;
        if (await_end(payload, container->stop_timeout))
                return EXIT_SUCCESS;
        log_warning("%s did not end within %u s of %s, %s stop signal: it is killed", container->unit,
                    (guint) (container->stop_timeout / G_USEC_PER_SEC), name, whose);
        return send_signal(container, payload, SIGKILL, error) ? EXIT_SUCCESS : -1;
}

/* A check may name the payload that it means: no later one is stopped for it. In the foreground it is a child of the
 * main process, which passes the signal on. */
static bool is_meant(const ContainerUnit *container, const char *payload, GError **error) {
        return !payload || payload_has_process(container, (guint) g_ascii_strtoull(payload, NULL, 10), error);
}

/* As `podman stop`, not as systemctl's: what follows from a payload that ends is up to the unit (Restart=). */
int command_end_payload(const GPtrArray *all, const Options *options, char **words, GError **error) {
        const ContainerUnit *container = words[0] ? container_units_get(all, words[0], error) : NULL;
        _cleanup_close_ int payload = -1;
        int number;

        if (!words[0])
                error_set(error, KT_ERROR_USAGE, "'end-payload' takes a container");
        if (!container)
                return -1;
        if (words[1] && !g_ascii_string_to_unsigned(words[1], 10, 1, G_MAXINT, NULL, NULL))
                return error_negative(error, KT_ERROR_USAGE, "'%s' is no number of a process", words[1]);
        payload = is_meant(container, words[1], error) ? payload_open(container, error) : -1;
        if (payload < 0)
                return without_payload(error);
        number = container->kill_signal != SIGTERM ? container->kill_signal : read_signal(container, error);
        return *error ? -1 : end_payload(container, payload, number ?: SIGTERM, "its", error);
}

int command_send_stop_signal(const GPtrArray *all, const Options *options, char **words, GError **error) {
        const ContainerUnit *container = words[0] ? container_units_get(all, words[0], error) : NULL;
        _cleanup_close_ int payload = -1;
        int number;

        if (!words[0])
                error_set(error, KT_ERROR_USAGE, "'send-stop-signal' takes a container");
        if (!container)
                return -1;
        /* A KillSignal= that a drop-in of systemd's brings is somebody's decision. */
        if (container->kill_signal != SIGTERM)
                return EXIT_SUCCESS;
        payload = payload_open(container, error);
        if (payload < 0)
                return without_payload(error);
        number = read_signal(container, error);
        if (number == 0)
                return *error ? -1 : EXIT_SUCCESS;
        return end_payload(container, payload, number, "its image's", error);
}
