/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "libstart/base/socket.h"
#include "libstart/relay-client/record.h"
#include "libstart/relay/notify-loop.h"
#include "tests/unit/relay/played.h"

/* The relay's part for notifications. */

static char *payload_path;
static pid_t payload;

static void setup(void) {
        play_systemd();
        payload_path = g_strconcat(directory, "/payload", NULL);
        payload = fork();
        if (payload == 0)
                for (;;)
                        pause();
}

static void teardown(void) {
        kill(payload, SIGKILL);
        waitpid(payload, NULL, 0);
        unlink(payload_path);
        remove_directory();
}

/* As libstart does. Returns a socket that the payload could have. */
static int start_container(void) {
        NotifyRecord record = { .address = systemd_path, .payload = payload, .unit = (char *) "cam.service" };
        g_autofree char *text = notify_record_format(&record, NULL);
        int reader = bind_at(payload_path, SOCK_DGRAM), pidfd = (int) syscall(SYS_pidfd_open, payload, 0),
            writer = socket_connect(SOCK_DGRAM | SOCK_NONBLOCK, payload_path, NULL);

        ck_assert_int_ge(pidfd, 0);
        ck_assert(relay_send(queue[0], text, (const int[]) { reader, pidfd }, 2, NULL));
        close(reader);
        close(pidfd);
        return writer;
}

static void steps(Relay *relay, int n) {
        while (n-- > 0)
                ck_assert(relay_step(relay, 0, NULL));
}

static void say_with_fd(int fd, const char *text, int passed) {
        union {
                struct cmsghdr header;
                char space[CMSG_SPACE(sizeof(int))];
        } control = { 0 };
        struct iovec data = { (char *) text, strlen(text) };
        struct msghdr message = {
                .msg_iov = &data, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control
        };

        control.header.cmsg_level = SOL_SOCKET;
        control.header.cmsg_type = SCM_RIGHTS;
        control.header.cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(&control.header), &passed, sizeof passed);
        ck_assert_int_eq(sendmsg(fd, &message, 0), (ssize_t) strlen(text));
}

/* The next message, in the payload's name, and in no user's that systemd would believe more than it; NULL: there is
 * none. */
static char *hear(void) {
        static char text[4097];
        union {
                struct cmsghdr header;
                char space[CMSG_SPACE(sizeof(struct ucred)) + CMSG_SPACE(4 * sizeof(int))];
        } control;
        struct iovec data = { text, sizeof text - 1 };
        struct msghdr message = {
                .msg_iov = &data, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control
        };
        struct ucred sender;
        ssize_t n = recvmsg(systemd, &message, MSG_CMSG_CLOEXEC);

        if (n < 0)
                return NULL;
        text[n] = '\0';
        if (g_str_has_prefix(text, "FDSTORE=1"))
                return hear();
        ck_assert_int_eq(message.msg_flags & (MSG_CTRUNC | MSG_TRUNC), 0);
        ck_assert_int_eq(CMSG_FIRSTHDR(&message)->cmsg_type, SCM_CREDENTIALS);
        ck_assert_ptr_null(CMSG_NXTHDR(&message, CMSG_FIRSTHDR(&message)));
        memcpy(&sender, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof sender);
        ck_assert_int_eq(sender.pid, payload);
        ck_assert_uint_eq(sender.uid, 65534);
        return text;
}

/* After something that another process has to do, which may come late. */
static const char *hear_late(Relay *relay) {
        const char *word = hear();

        for (int i = 0; i < 2000 && !word; i++) {
                ck_assert(relay_step(relay, 10, NULL));
                word = hear();
        }
        ck_assert_ptr_nonnull(word);
        return word;
}

START_TEST(test_life) {
        g_autoptr(FdStore) store = fd_store_open(NULL, NULL);
        g_autoptr(Relay) relay = open_relay(store);
        int writer = start_container();

        say(writer, "STATUS=before anybody knew\nMAINPID=1");
        steps(relay, 3);
        ck_assert_uint_eq(relay_n_sources(relay), 1);
        ck_assert_uint_eq(n_stored(store), 2);
        ck_assert_str_eq(hear(), "STATUS=before anybody knew");
        say(writer, "MAINPID=1");
        say(writer, "");
        say(writer, "READY=1");
        steps(relay, 4);
        ck_assert_str_eq(hear(), "READY=1");
        ck_assert_ptr_null(hear());

        /* The last words of a process that nobody has reaped yet. */
        kill(payload, SIGKILL);
        ck_assert_int_eq(waitid(P_PID, (id_t) payload, NULL, WEXITED | WNOWAIT), 0);
        say(writer, "STATUS=killed");
        steps(relay, 4);
        ck_assert_str_eq(hear(), "STATUS=killed");
        ck_assert_uint_eq(relay_n_sources(relay), 0);
        ck_assert_uint_eq(n_stored(store), 0);
        ck_assert_int_lt(send(writer, "x", 1, MSG_NOSIGNAL), 0);
}
END_TEST

START_TEST(test_reaped) {
        g_autoptr(FdStore) store = fd_store_open(NULL, NULL);
        g_autoptr(Relay) relay = open_relay(store);
        int writer = start_container();

        steps(relay, 2);
        say(writer, "STATUS=too late");
        kill(payload, SIGKILL);
        waitpid(payload, NULL, 0);
        steps(relay, 4);
        ck_assert_ptr_null(hear());
        ck_assert_uint_eq(relay_n_sources(relay), 0);
}
END_TEST

START_TEST(test_systemd_does_not_read) {
        g_autoptr(FdStore) store = fd_store_open(NULL, NULL);
        g_autoptr(Relay) relay = open_relay(store);
        int writer = start_container(), sent = 0, heard = 0, barrier[2];
        char text[32];

        ck_assert_int_eq(pipe2(barrier, O_CLOEXEC | O_NONBLOCK), 0);
        for (; sent < 30; sent++) {
                snprintf(text, sizeof text, "STATUS=%d", sent);
                if (send(writer, text, strlen(text), 0) < 0)
                        break; /* its queue is full, and so is systemd's */
                steps(relay, 2);
        }
        ck_assert_int_gt(sent, 5);
        for (int idle = 0; idle < 20; idle++) {
                const char *word = hear();

                steps(relay, 2);
                if (!word)
                        continue;
                idle = 0;
                snprintf(text, sizeof text, "STATUS=%d", heard++);
                ck_assert_str_eq(word, text);
        }
        ck_assert_int_eq(heard, sent);

        /* A barrier is closed when systemd has read what came before it. */
        say(writer, "STATUS=first");
        say_with_fd(writer, "BARRIER=1", barrier[1]);
        say(writer, "STATUS=second");
        close(barrier[1]);
        steps(relay, 20);
        ck_assert_int_lt(read(barrier[0], text, 1), 0);
        ck_assert_str_eq(hear(), "STATUS=first");
        ck_assert_ptr_null(hear());
        for (int i = 0; i < 2000 && read(barrier[0], text, 1) != 0; i++)
                ck_assert(relay_step(relay, 10, NULL));
        ck_assert_int_eq(read(barrier[0], text, 1), 0);
        ck_assert_str_eq(hear_late(relay), "STATUS=second");
}
END_TEST

static guint n_descriptors(void) {
        g_autoptr(GDir) dir = g_dir_open("/proc/self/fd", 0, NULL);
        guint n = 0;

        while (g_dir_read_name(dir))
                n++;
        return n;
}

START_TEST(test_descriptors) {
        g_autoptr(FdStore) store = fd_store_open(NULL, NULL);
        g_autoptr(Relay) relay = open_relay(store);
        int writer = start_container();
        guint before;

        steps(relay, 2);
        before = n_descriptors();
        say_with_fd(writer, "FDSTORE=1\nSTATUS=one", 0);
        say_with_fd(writer, "FDSTORE=1", 0);
        say_with_fd(writer, "", 0);
        say(writer, "STATUS=two");
        ck_assert_str_eq(hear_late(relay), "STATUS=one");
        ck_assert_str_eq(hear_late(relay), "STATUS=two");
        for (int i = 0; i < 1000 && n_descriptors() != before; i++)
                ck_assert(relay_step(relay, 20, NULL));
        ck_assert_uint_eq(n_descriptors(), before);
        ck_assert_int_eq(waitpid(-1, NULL, WNOHANG | __WCLONE), -1); /* no child of the relay's is left */
}
END_TEST

/* Much at once, then little; the rest waits. */
START_TEST(test_flood) {
        g_autoptr(FdStore) store = fd_store_open(NULL, NULL);
        g_autoptr(Relay) relay = open_relay(store);
        int writer = start_container(), heard = 0;
        gint64 began = g_get_monotonic_time();

        for (int i = 0; i < 2000; i++) {
                (void) send(writer, "STATUS=flood", strlen("STATUS=flood"), 0);
                steps(relay, 1);
                heard += hear() != NULL;
        }
        ck_assert_int_ge(heard, 64);
        ck_assert_int_le(heard, 65 + (int) ((g_get_monotonic_time() - began) / 20000));
        while (hear())
                ;
        heard = 0;
        for (int i = 0; i < 1000 && heard == 0; i++) {
                ck_assert(relay_step(relay, 20, NULL));
                heard += hear() != NULL;
        }
        ck_assert_int_eq(heard, 1);
}
END_TEST

START_TEST(test_bad_registrations) {
        g_autoptr(FdStore) store = fd_store_open(NULL, NULL);
        g_autoptr(Relay) relay = open_relay(store);
        g_autofree char *text = g_strdup_printf("NOTIFY=%s\nPID=%d\nUNIT=a.service\n", systemd_path, (int) payload);

        say(queue[0], "NOTIFY=");
        say(queue[0], "NOTIFY=/x\nPID=1\n");
        say(queue[0], "NOTIFY=/x\nPID=0\n");
        say(queue[0], text);
        ck_assert(relay_send(queue[0], text, (const int[]) { systemd }, 1, NULL));
        /* Nobody is told when a file ends: it is not served halfway. */
        ck_assert(relay_send(queue[0], text, (const int[]) { systemd, memfd_create("file", MFD_CLOEXEC) }, 2, NULL));
        ck_assert(relay_send(queue[0], "NOTIFY=/run/other\nPID=1\nUNIT=a.service\n", (const int[]) { systemd, 0 }, 2,
                             NULL));
        steps(relay, 8);
        ck_assert_uint_eq(relay_n_sources(relay), 0);
        ck_assert_uint_eq(n_stored(store), 0);
}
END_TEST

static guint n_watched(int epoll) {
        g_autofree char *path = g_strdup_printf("/proc/self/fdinfo/%d", epoll), *text = NULL;
        guint n = 0;

        ck_assert(g_file_get_contents(path, &text, NULL, NULL));
        for (const char *at = text; (at = strstr(at, "tfd:")); at++)
                n++;
        return n;
}

/* systemd's socket and then the container's: at a try that works, all is watched. */
START_TEST(test_what_cannot_be_watched_is_tried_again) {
        g_autoptr(FdStore) store = fd_store_open(NULL, NULL);
        g_autofree char *text = g_strdup_printf("NOTIFY=%s\nPID=%d\nUNIT=a.service\n", systemd_path, (int) payload);
        int fds[] = { bind_at(payload_path, SOCK_DGRAM), (int) syscall(SYS_pidfd_open, payload, 0) };
        int epoll = memfd_create("no epoll", MFD_CLOEXEC), right = epoll_create1(EPOLL_CLOEXEC);
        NotifyLoop *loop = notify_loop_new(epoll, store, systemd_path);

        ck_assert(!notify_loop_register(loop, text, fds, 2, NULL));
        ck_assert_int_eq(dup3(right, epoll, O_CLOEXEC), epoll);
        ck_assert(notify_loop_register(loop, text, fds, 2, NULL));
        ck_assert_uint_eq(n_watched(epoll), 3);
        notify_loop_free(loop);
}
END_TEST

#define MESSAGES 300

START_TEST(test_killed_at_any_moment) {
        g_autoptr(FdStore) store = fd_store_open(systemd_path, NULL);
        g_autoptr(GRand) random = g_rand_new_with_seed(4711);
        int ends[2] = { -1, -1 }, writer, said = 0, heard = 0, kills = 0;
        char text[32];
        pid_t relay;

        receive_ends(ends);
        writer = start_container();
        relay = fork_relay(ends);
        while (heard < MESSAGES) {
                const char *word;
                int number;

                snprintf(text, sizeof text, "STATUS=%d", said);
                if (said < MESSAGES && send(writer, text, strlen(text), 0) > 0)
                        said++;
                else
                        usleep(1000);
                while ((word = hear())) {
                        ck_assert_int_eq(sscanf(word, "STATUS=%d", &number), 1);
                        /* A kill may repeat one. */
                        ck_assert_int_le(number, heard);
                        ck_assert_int_ge(number, heard - 1);
                        heard = MAX(heard, number + 1);
                }
                if (g_rand_int_range(random, 0, 8) == 0) {
                        relay = replace_relay(relay, ends);
                        kills++;
                }
        }
        kill(relay, SIGKILL);
        waitpid(relay, NULL, 0);
        ck_assert_int_gt(kills, 20);
}
END_TEST

TEST_MAIN("notify-loop", {
        tcase_set_timeout(tcase, 60);
        tcase_add_checked_fixture(tcase, setup, teardown);
        tcase_add_test(tcase, test_life);
        tcase_add_test(tcase, test_reaped);
        tcase_add_test(tcase, test_systemd_does_not_read);
        tcase_add_test(tcase, test_descriptors);
        tcase_add_test(tcase, test_flood);
        tcase_add_test(tcase, test_bad_registrations);
        tcase_add_test(tcase, test_what_cannot_be_watched_is_tried_again);
        tcase_add_test(tcase, test_killed_at_any_moment);
})
