/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "libstart/base/error.h"
#include "libstart/base/log.h"
#include "libstart/base/program.h"
#include "libstart/relay/relay-loop.h"
#include "libstart/relay/view-keeper.h"
#include "libstart/relay/watchdog.h"

/* keyturn-relay.service: see keyturn-relay.service(8). It has no state but what lies in the store that systemd keeps
 * and in the payloads' pipes, so it may be killed at any time, and needs no handler for any signal. */

#define SOCKET_NAME "keyturn-relay.socket" /* systemd's name for what the socket unit listens on */

#define EXIT_USAGE 2 /* the service is not restarted then (RestartPreventExitStatus=) */

static void take_received(const ListenFd *received, int *ret_socket, int ends[2], guint *ret_n_ends) {
        *ret_socket = -1;
        *ret_n_ends = 0;
        for (const ListenFd *r = received; r->fd >= 0; r++) {
                if (g_str_equal(r->name, SOCKET_NAME))
                        *ret_socket = r->fd;
                else if (g_str_equal(r->name, FD_STORE_NAME) && *ret_n_ends < 2)
                        ends[(*ret_n_ends)++] = r->fd;
        }
}

static bool refuse(GError **error) {
        return error_set(error, KT_ERROR_USAGE,
                         "No socket was passed: start it with 'systemctl start " SOCKET_NAME "'");
}

static bool run(GError **error) {
        g_auto(GStrv) names = NULL;
        g_autofree ListenFd *received = fd_store_received(getenv("LISTEN_PID"), getenv("LISTEN_FDS"),
                                                          getenv("LISTEN_FDNAMES"), &names);
        g_autoptr(FdStore) store = NULL;
        g_autoptr(Relay) relay = NULL;
        Watchdog watchdog = watchdog_new(getenv("NOTIFY_SOCKET"), getenv("WATCHDOG_USEC"), getenv("WATCHDOG_PID"));
        int socket, ends[2];
        guint n_ends;

        take_received(received, &socket, ends, &n_ends);
        if (socket < 0 && n_ends < 2)
                return refuse(error);
        if (!view_keeper_take(received, getenv("NOTIFY_SOCKET"), n_ends == 2, error))
                return false;
        store = n_ends == 2 ? fd_store_reopen(ends, error) : fd_store_open(getenv("NOTIFY_SOCKET"), error);
        if (!store)
                return false;
        relay = relay_new(socket, store, getenv("NOTIFY_SOCKET"), error);
        if (!relay || !relay_restore(relay, error))
                return false;
        if (socket < 0 && relay_n_sources(relay) == 0)
                return refuse(error);
        do
                watchdog_tell(&watchdog, g_get_monotonic_time());
        while (relay_step(relay, watchdog_timeout(&watchdog, g_get_monotonic_time()), error));
        return false;
}

int keyturn_relay_main(int argc, char *argv[]) {
        g_autoptr(GError) error = NULL;

        if (program_says_version("keyturn-relay", argc, argv))
                return EXIT_SUCCESS;
        if (argc > 1) {
                fprintf(stderr, "usage: keyturn-relay [--version]\n"
                                "Run by systemd as keyturn-relay.service; see keyturn-relay.service(8).\n");
                return EXIT_USAGE;
        }
        /* A reader that has gone, and a file that is too large, are errors of one write. */
        signal(SIGPIPE, SIG_IGN);
        signal(SIGXFSZ, SIG_IGN);
        log_open("keyturn-relay", LOG_TO_STDERR, LOG_INFO);
        (void) run(&error);
        log_error("%s", error->message);
        return g_error_matches(error, KT_ERROR, KT_ERROR_USAGE) ? EXIT_USAGE : EXIT_FAILURE;
}
