/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <glib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libstart/relay/journal.h"
#include "libstart/relay/late-pid.h"
#include "tests/unit/test-main.h"

static pid_t dead_child(void) {
        pid_t pid = fork();

        if (pid == 0)
                _exit(0);
        ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
        return pid;
}

static void assert_not_found(pid_t pid) {
        g_autofree char *path = g_strdup_printf("/proc/%d", (int) pid);

        ck_assert_int_eq(access(path, F_OK), -1);
        ck_assert_int_eq(errno, ENOENT);
}

START_TEST(test_cannot_be_looked_up) {
        pid_t wanted = dead_child();
        LatePid late = { 0 };

        ck_assert_int_eq(late_pid_open(&late, wanted), 0);
        assert_not_found(late.pid);
        ck_assert_int_eq(getpgid(late.holder), late.pid);
        if (geteuid() == 0)
                ck_assert_int_eq(late.pid, wanted);
        late_pid_close(&late);
        ck_assert_int_eq(late.pid, 0);
        ck_assert_int_eq(waitpid(-1, NULL, __WALL), -1);
        ck_assert_int_eq(errno, ECHILD);
}
END_TEST

START_TEST(test_id_in_use) {
        LatePid late = { 0 };

        ck_assert_int_eq(late_pid_open(&late, getpid()), 0);
        ck_assert_int_ne(late.pid, getpid());
        assert_not_found(late.pid);
        late_pid_close(&late);
}
END_TEST

/* The point of it: the kernel takes the id for a sender, which it does not do with that of the dead. (As
 * another user than root it takes no id but our own.) */
START_TEST(test_can_send) {
        struct ucred sender = { .pid = dead_child(), .uid = geteuid(), .gid = getegid() };
        int expected = geteuid() == 0 ? -ESRCH : -EPERM;
        LatePid late = { 0 };
        int sockets[2];

        ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), 0);
        ck_assert_int_eq(journal_send(sockets[0], "x", 1, &sender), expected);
        ck_assert_int_eq(late_pid_open(&late, sender.pid), 0);
        sender.pid = late.pid;
        ck_assert_int_eq(journal_send(sockets[0], "x", 1, &sender), geteuid() == 0 ? 1 : -EPERM);
        late_pid_close(&late);
}
END_TEST

/* Under an id that nobody has held a descriptor of, Linux 6.17 would send nothing, now or later. */
START_TEST(test_no_descriptor) {
        struct rlimit limit, none;
        LatePid late = { 0 };
        int r;

        ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
        none = (struct rlimit) { 0, limit.rlim_max };
        ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
        r = late_pid_open(&late, 0);
        ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
        ck_assert_int_eq(r, -EMFILE);
        ck_assert_int_eq(late.pid, 0);
        ck_assert_int_eq(waitpid(-1, NULL, __WALL), -1);
}
END_TEST

TEST_MAIN("late-pid", {
        tcase_add_test(tcase, test_cannot_be_looked_up);
        tcase_add_test(tcase, test_id_in_use);
        tcase_add_test(tcase, test_can_send);
        tcase_add_test(tcase, test_no_descriptor);
})
