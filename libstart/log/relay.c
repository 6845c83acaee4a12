/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "keyturn-config.h"
#include "libstart/base/error.h"
#include "libstart/base/log.h"
#include "libstart/log/relay-loop.h"

/* keyturn-relay.service: see keyturn-relay.service(8). It has no state but what lies in systemd's store
 * and in the payloads' pipes, so it may be killed at any time, and needs no handler for any signal. */

#define SOCKET_NAME "keyturn-relay.socket" /* systemd's name for what the socket unit listens on */

#define EXIT_USAGE 2 /* the service is not restarted then (RestartPreventExitStatus=) */

static int take_socket(ListenFd *received) {
        for (ListenFd *r = received; r->fd >= 0; r++)
                if (g_str_equal(r->name, SOCKET_NAME))
                        return r->fd;
        return -1;
}

/* Descriptors of one container have one name, but nothing is said about their order. */
static void restore_all(Relay *relay, const ListenFd *received) {
        g_autoptr(GHashTable) groups = g_hash_table_new_full(g_str_hash, g_str_equal, NULL,
                                                             (GDestroyNotify) g_array_unref);
        GHashTableIter iter;
        gpointer name, fds;

        for (const ListenFd *r = received; r->fd >= 0; r++) {
                if (g_str_equal(r->name, SOCKET_NAME))
                        continue;
                if (!g_hash_table_contains(groups, r->name))
                        g_hash_table_insert(groups, (gpointer) r->name,
                                            g_array_new(FALSE, FALSE, sizeof(int)));
                g_array_append_val(g_hash_table_lookup(groups, r->name), r->fd);
        }
        g_hash_table_iter_init(&iter, groups);
        while (g_hash_table_iter_next(&iter, &name, &fds))
                relay_restore(relay, name, (const int *) ((GArray *) fds)->data, ((GArray *) fds)->len);
}

static bool run(GError **error) {
        g_auto(GStrv) names = NULL;
        g_autofree ListenFd *received = fd_store_received(getenv("LISTEN_PID"), getenv("LISTEN_FDS"),
                                                          getenv("LISTEN_FDNAMES"), &names);
        g_autoptr(FdStore) store = fd_store_open(getenv("NOTIFY_SOCKET"), error);
        g_autoptr(Relay) relay = NULL;
        int socket = take_socket(received);

        if (!store)
                return false;
        relay = relay_new(socket, store, error);
        if (!relay)
                return false;
        restore_all(relay, received);
        if (socket < 0 && relay_n_sources(relay) == 0)
                return error_set(error, KT_ERROR_USAGE,
                                 "No socket was passed: start it with 'systemctl start " SOCKET_NAME "'");
        while (relay_step(relay, -1, error))
                ;
        return false;
}

int main(int argc, char **argv) {
        g_autoptr(GError) error = NULL;

        if (argc == 2 && strcmp(argv[1], "--version") == 0) {
                puts("keyturn-relay " KEYTURN_VERSION);
                return EXIT_SUCCESS;
        }
        if (argc > 1) {
                fprintf(stderr, "usage: keyturn-relay [--version]\n"
                                "Run by systemd as keyturn-relay.service; see keyturn-relay.service(8).\n");
                return EXIT_USAGE;
        }
        log_open("keyturn-relay", LOG_TO_STDERR, LOG_INFO);
        (void) run(&error);
        log_error("%s", error->message);
        return g_error_matches(error, KT_ERROR, KT_ERROR_USAGE) ? EXIT_USAGE : EXIT_FAILURE;
}
