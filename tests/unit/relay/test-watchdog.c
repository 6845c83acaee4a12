/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "libstart/relay/watchdog.h"
#include "tests/unit/test-main.h"

#define SECOND G_TIME_SPAN_SECOND

static char address[64];
static int systemd;

static void setup(void) {
        struct sockaddr_un name = { .sun_family = AF_UNIX };
        int length = snprintf(address, sizeof address, "@keyturn-test-watchdog-%d", (int) getpid());

        memcpy(name.sun_path + 1, address + 1, (size_t) length - 1);
        systemd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        ck_assert_int_eq(bind(systemd, (struct sockaddr *) &name,
                              (socklen_t) (offsetof(struct sockaddr_un, sun_path) + (size_t) length)),
                         0);
}

static void teardown(void) {
        close(systemd);
}

static int told(void) {
        char text[64];
        int n = 0;

        for (ssize_t size; (size = recv(systemd, text, sizeof text, 0)) > 0; n++)
                ck_assert_mem_eq(text, "WATCHDOG=1", (size_t) size);
        return n;
}

START_TEST(test_told_while_awake) {
        Watchdog watchdog = watchdog_new(address, "40000000", NULL);
        gint64 now = 100 * SECOND;

        watchdog_tell(&watchdog, now);
        ck_assert_int_eq(told(), 1);
        for (int i = 0; i < 9; i++)
                watchdog_tell(&watchdog, now + i * SECOND);
        ck_assert_int_eq(told(), 0);
        watchdog_tell(&watchdog, now + 10 * SECOND);
        ck_assert_int_eq(told(), 1);
}
END_TEST

/* Once in half of the time, and it is told then. */
START_TEST(test_asleep) {
        Watchdog watchdog = watchdog_new(address, "40000000", NULL);
        gint64 now = 100 * SECOND;
        int timeout;

        watchdog_tell(&watchdog, now);
        timeout = watchdog_timeout(&watchdog, now);
        ck_assert_int_ge(timeout, 20000);
        ck_assert_int_le(timeout, 20001);
        watchdog_tell(&watchdog, now + timeout * G_TIME_SPAN_MILLISECOND);
        ck_assert_int_eq(told(), 2);
        ck_assert_int_ge(watchdog_timeout(&watchdog, now + timeout * G_TIME_SPAN_MILLISECOND), 20000);
}
END_TEST

START_TEST(test_systemd_does_not_read) {
        Watchdog watchdog = watchdog_new(address, "40000000", NULL);
        gint64 now = 100 * SECOND;
        int queued = 0;

        for (; watchdog.heard == now - 10 * SECOND || queued == 0; queued++, now += 10 * SECOND)
                watchdog_tell(&watchdog, now);
        ck_assert_int_gt(queued, 1);
        now += 60 * SECOND;
        ck_assert_int_gt(watchdog_timeout(&watchdog, now), 0);
        ck_assert_int_le(watchdog_timeout(&watchdog, now), 1000);
        ck_assert_int_gt(told(), 0);
        watchdog_tell(&watchdog, now);
        ck_assert_int_eq(told(), 1);
}
END_TEST

START_TEST(test_nobody_waits) {
        g_autofree char *other = g_strdup_printf("%d", (int) getpid() + 1);
        Watchdog watchdogs[] = {
                watchdog_new(NULL, "40000000", NULL),     watchdog_new(address, NULL, NULL),
                watchdog_new(address, "0", NULL),         watchdog_new(address, "x", NULL),
                watchdog_new(address, "40000000", other),
        };

        for (gsize i = 0; i < G_N_ELEMENTS(watchdogs); i++) {
                ck_assert_int_eq(watchdog_timeout(&watchdogs[i], SECOND), -1);
                watchdog_tell(&watchdogs[i], 1000 * SECOND);
        }
        ck_assert_int_eq(told(), 0);
}
END_TEST

TEST_MAIN("watchdog", {
        tcase_add_checked_fixture(tcase, setup, teardown);
        tcase_add_test(tcase, test_told_while_awake);
        tcase_add_test(tcase, test_asleep);
        tcase_add_test(tcase, test_systemd_does_not_read);
        tcase_add_test(tcase, test_nobody_waits);
})
