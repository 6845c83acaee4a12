/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/systemd/unit-failure.h"
#include "tests/unit/test-main.h"

/* What systemd receives of that message. */
static char *tell(const char *message) {
        g_autofree char *directory = g_dir_make_tmp(NULL, NULL), *path = g_strconcat(directory, "/notify", NULL);
        struct sockaddr_un name = { .sun_family = AF_UNIX };
        int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        g_autoptr(GError) error = NULL;
        char buffer[8192];
        ssize_t n;

        g_strlcpy(name.sun_path, path, sizeof name.sun_path);
        ck_assert_int_eq(bind(fd, (struct sockaddr *) &name, sizeof name), 0);
        g_setenv("NOTIFY_SOCKET", path, TRUE);
        error_set(&error, KT_ERROR_FAILED, "%s", message);
        unit_failure_tell(error);
        n = recv(fd, buffer, sizeof buffer, MSG_DONTWAIT);
        close(fd);
        unlink(path);
        rmdir(directory);
        return n < 0 ? NULL : g_strndup(buffer, (gsize) n);
}

/* Whoever chose a word of it, an image for example, says nothing else to systemd. */
START_TEST(test_one_line) {
        g_autofree char *told = tell("'a\nREADY=1' is no name\nMAINPID=1");

        ck_assert_str_eq(told, "STATUS='a\\nREADY=1' is no name\\nMAINPID=1");
}
END_TEST

START_TEST(test_long) {
        g_autofree char *message = g_strnfill(5000, 'x'), *told = NULL;

        for (guint i = 1000; i + 1 < 3000; i += 2) /* two bytes each, wherever it is cut */
                memcpy(message + i, "\xc3\xa4", 2);
        told = tell(message);
        ck_assert(told && strlen(told) <= 2048 && g_utf8_validate(told, -1, NULL));
}
END_TEST

START_TEST(test_nobody_listens) {
        g_autoptr(GError) error = NULL;

        error_set(&error, KT_ERROR_FAILED, "it failed");
        g_unsetenv("NOTIFY_SOCKET");
        unit_failure_tell(error);
        g_setenv("NOTIFY_SOCKET", "/nowhere/notify", TRUE);
        unit_failure_tell(error);
}
END_TEST

TEST_MAIN("unit-failure", {
        tcase_add_test(tcase, test_one_line);
        tcase_add_test(tcase, test_long);
        tcase_add_test(tcase, test_nobody_listens);
})
