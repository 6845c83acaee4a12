/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "libstart/relay/source.h"
#include "tests/unit/relay/played.h"

/* The relay's part for output. */

static char *journal_path;
static int journal;      /* listens; streams are accepted from it */
static int systemd_ours; /* "the connection that systemd made": our end */
static int systemd_unit; /* the unit's end, its descriptors 1 and 2 */

static void listen_for_streams(void) {
        journal = bind_at(journal_path, SOCK_STREAM);
        ask_for_senders(journal);
        ck_assert_int_eq(listen(journal, 10), 0);
}

static void setup(void) {
        int pair[2];

        play_systemd();
        journal_path = g_strconcat(directory, "/journal", NULL);
        listen_for_streams();
        ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
        systemd_ours = pair[0];
        systemd_unit = pair[1];
        ask_for_senders(systemd_ours);
        ck_assert_int_eq(fcntl(systemd_ours, F_SETFL, O_NONBLOCK), 0);
}

static void teardown(void) {
        unlink(journal_path);
        remove_directory();
}

/* As libstart does, with these descriptors 1 and 2. Returns the ends of the payload. */
static void start_with(int out_stream, int err_stream, pid_t pid, int *ret_out, int *ret_err) {
        RelayRecord payload = {
                .payload = pid, .unit = (char *) "cam.service", .tag = (char *) "cam", .uid = 1234, .gid = 1235
        };
        g_auto(RelayPipes) pipes = RELAY_PIPES_NULL;
        int out[2], err[2];

        ck_assert_int_eq(pipe2(out, O_CLOEXEC), 0);
        ck_assert_int_eq(pipe2(err, O_CLOEXEC), 0);
        pipes.read[0] = out[0];
        pipes.read[1] = err[0];
        pipes.socket = dup(queue[0]);
        pipes.journal = g_strdup(journal_path);
        ck_assert(relay_register(&pipes, out_stream, err_stream, &payload, NULL));
        *ret_out = out[1];
        *ret_err = err[1];
}

static void start_container(pid_t pid, int *ret_out, int *ret_err) {
        start_with(systemd_unit, systemd_unit, pid, ret_out, ret_err);
}

/* Append what is there to be read, up to so much; *ret_sender is the last sender. Returns false at the end of the
 * stream. */
static bool hear_some(int fd, GString *text, gsize max, struct ucred *ret_sender) {
        char buffer[4096];
        union {
                struct cmsghdr header;
                char space[CMSG_SPACE(sizeof(struct ucred))];
        } control;
        struct iovec data = { buffer, sizeof buffer };

        for (gsize all = text->len + max; text->len < all;) {
                struct msghdr message = {
                        .msg_iov = &data, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control
                };
                ssize_t n = recvmsg(fd, &message, MSG_DONTWAIT);

                if (n <= 0)
                        return n != 0;
                g_string_append_len(text, buffer, n);
                if (ret_sender && CMSG_FIRSTHDR(&message))
                        memcpy(ret_sender, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof *ret_sender);
        }
        return true;
}

static bool hear(int fd, GString *text, struct ucred *ret_sender) {
        return hear_some(fd, text, G_MAXSIZE - text->len, ret_sender);
}

/* What is not waited for, or is not to happen. */
static void steps(Relay *relay, int n) {
        while (n-- > 0)
                ck_assert(relay_step(relay, 20, NULL));
}

static void steps_for(Relay *relay, gint64 usec) {
        gint64 end = g_get_monotonic_time() + usec;

        while (g_get_monotonic_time() < end)
                steps(relay, 1);
}

#define PATIENCE (20 * G_TIME_SPAN_SECOND)

/* A worker does what is waited for, and comes late where others have the processors. */
#define STEPS_UNTIL(relay, condition)                                   \
        do {                                                            \
                gint64 end_ = g_get_monotonic_time() + PATIENCE;        \
                bool met_ = (condition);                                \
                                                                        \
                while (!met_ && g_get_monotonic_time() < end_) {        \
                        steps(relay, 1);                                \
                        met_ = (condition);                             \
                }                                                       \
                ck_assert_msg(met_, "never came true: %s", #condition); \
        } while (0)

/* Until it has ended, a child writes this. We could not wait for room and move at once. */
static void steps_while_said(Relay *relay, int fd, const char *text, int times) {
        pid_t pid = fork();

        if (pid == 0) {
                while (times-- > 0)
                        say(fd, text);
                _exit(0);
        }
        STEPS_UNTIL(relay, waitpid(pid, NULL, WNOHANG) == pid);
}

/* All that was heard so far. */
static bool heard(int fd, GString *text, struct ucred *ret_sender, const char *expected) {
        (void) hear(fd, text, ret_sender);
        return g_str_equal(text->str, expected);
}

START_TEST(test_two_streams) {
        g_autoptr(FdStore) store = fd_store_open(systemd_path, NULL);
        g_autoptr(Relay) relay = open_relay(store);
        g_autoptr(GString) out_text = g_string_new(NULL), err_text = g_string_new(NULL);
        struct ucred sender = { 0 };
        int out, err, stream;

        start_container(getpid(), &out, &err);
        say(out, "to out\n");
        STEPS_UNTIL(relay, heard(systemd_ours, out_text, &sender, "to out\n"));
        ck_assert_uint_eq(n_stored(store), 5); /* the record, the process, two pipes, a connection */
        ck_assert_int_eq(sender.pid, getpid());
        ck_assert_uint_eq(sender.uid, 1234);
        ck_assert_int_eq(accept(journal, NULL, NULL), -1);

        say(err, "to err\n<7>debug\n");
        STEPS_UNTIL(relay, (stream = accept(journal, NULL, NULL)) >= 0);
        STEPS_UNTIL(relay, heard(stream, err_text, &sender, "cam\ncam.service\n27\n1\n0\n0\n0\nto err\n<7>debug\n"));
        ck_assert_int_eq(sender.pid, getpid());

        close(out);
        steps(relay, 5);
        ck_assert_uint_eq(relay_n_sources(relay), 1);
        say(err, "last");
        close(err);
        STEPS_UNTIL(relay, relay_n_sources(relay) == 0 && n_stored(store) == 0);
        STEPS_UNTIL(relay, !hear(stream, err_text, NULL));
        ck_assert(g_str_has_suffix(err_text->str, "\nlast"));
}
END_TEST

/* The payload is gone, but somebody else has got its pipe and goes on: what was in there at its end is all there is,
 * or each container that ends could leave a pipe, a process id and a place in the store behind. */
START_TEST(test_pipe_outlives_payload) {
        g_autoptr(FdStore) store = fd_store_open(systemd_path, NULL);
        g_autoptr(Relay) relay = open_relay(store);
        g_autoptr(GString) text = g_string_new(NULL);
        int out, err;
        pid_t pid = fork();

        if (pid == 0)
                for (;;)
                        pause();
        signal(SIGPIPE, SIG_IGN);
        start_container(pid, &out, &err);
        steps(relay, 3);
        say(out, "alive\n");
        STEPS_UNTIL(relay, heard(systemd_ours, text, NULL, "alive\n"));

        say(out, "last words\nand mo");
        kill(pid, SIGKILL);
        ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
        /* However much is written from now on. */
        for (int i = 0; i < 30; i++) {
                (void) !write(out, "of another\n", 11);
                usleep(2000);
                steps(relay, 1);
        }
        STEPS_UNTIL(relay, relay_n_sources(relay) == 0 && n_stored(store) == 0);
        STEPS_UNTIL(relay, write(out, "x", 1) == -1);
        ck_assert_int_eq(errno, EPIPE);
        (void) hear(systemd_ours, text, NULL);
        ck_assert_msg(strstr(text->str, "last words\n"), "'%s'", text->str);
        ck_assert_uint_le(text->len, strlen("alive\nlast words\nand mo") + 8 * strlen("of another\n"));
}
END_TEST

/* It is root in its container, and gives its pipe to another user. */
START_TEST(test_payload_changes_the_pipes_owner) {
        g_autoptr(FdStore) store = fd_store_open(systemd_path, NULL);
        g_autoptr(Relay) relay = open_relay(store);
        g_autoptr(GString) text = g_string_new(NULL);
        struct ucred sender = { 0 };
        int out, err;

        start_container(getpid(), &out, &err);
        steps(relay, 3);
        ck_assert_int_eq(fchown(out, 4321, 4321), 0);
        say(out, "who am I\n");
        STEPS_UNTIL(relay, heard(systemd_ours, text, &sender, "who am I\n"));
        ck_assert_uint_eq(sender.uid, 1234);
        ck_assert_uint_eq(sender.gid, 1235);
}
END_TEST

#define LARGE_WRITES 50

/* Lines, and one whose end comes with the rest of one write(2), larger than the pipe. The writer waits for room and
 * goes on when there is some: from then on nothing tells of it until all is written. That may be long after there was
 * room: the second time it is frozen meanwhile. */
START_TEST(test_large_writes) {
        g_autoptr(FdStore) store = fd_store_open(NULL, NULL);
        g_autoptr(Relay) relay = open_relay(store);
        g_autoptr(GString) text = g_string_new(NULL);
        g_autofree char *large = g_strnfill(200000, 'x');
        int out, err;
        bool frozen = false;
        pid_t pid;

        large[999] = large[50000] = large[199999] = '\n';
        start_container(getpid(), &out, &err);
        pid = fork();
        if (pid == 0) {
                for (int i = 0; i < LARGE_WRITES; i++)
                        say(out, large);
                _exit(0);
        }
        for (int idle = 0; text->len < LARGE_WRITES * 200000 && idle < 200;) {
                gsize before = text->len;

                ck_assert(relay_step(relay, 100, NULL));
                ck_assert(hear(systemd_ours, text, NULL));
                idle = text->len == before ? idle + 1 : 0;
                if (_i == 1 && !frozen && text->len > 1000000) {
                        frozen = true;
                        ck_assert_int_eq(kill(pid, SIGSTOP), 0);
                        steps_for(relay, 3 * G_TIME_SPAN_SECOND);
                        ck_assert_int_eq(kill(pid, SIGCONT), 0);
                }
        }
        ck_assert_uint_eq(text->len, LARGE_WRITES * 200000);
        ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}
END_TEST

static bool contains(int file, const char *expected) {
        char content[65536] = "";

        ck_assert_int_ge(pread(file, content, sizeof content - 1, 0), 0);
        return g_str_equal(content, expected);
}

/* One file is a FIFO that nobody reads, and keeps its writer waiting; the other one goes on. */
START_TEST(test_files) {
        g_autoptr(FdStore) store = fd_store_open(systemd_path, NULL);
        g_autoptr(Relay) relay = open_relay(store);
        g_autofree char *path = g_build_filename(directory, "fifo", NULL), *full = g_strnfill(60000, 'x');
        FILE *file = tmpfile();
        int out, err, fifo;

        ck_assert_int_eq(mkfifo(path, 0600), 0);
        fifo = open(path, O_RDWR | O_CLOEXEC);
        ck_assert_int_eq(unlink(path), 0);
        start_with(fifo, fileno(file), getpid(), &out, &err);
        steps(relay, 3);
        steps_while_said(relay, out, full, 2);
        say(err, "<0>no line, ");
        STEPS_UNTIL(relay, contains(fileno(file), "<0>no line, "));
        ck_assert_uint_eq(n_stored(store), 6);
        say(err, "a line\n");
        STEPS_UNTIL(relay, contains(fileno(file), "<0>no line, a line\n"));
        close(err);
        steps(relay, 20);
        ck_assert_uint_eq(relay_n_sources(relay), 1);
        close(out);
        for (gsize left = 120000; left > 0;) {
                ssize_t n;

                STEPS_UNTIL(relay, poll(&(struct pollfd) { .fd = fifo, .events = POLLIN }, 1, 0) == 1);
                n = read(fifo, full, MIN(left, 60000));
                ck_assert_int_gt(n, 0);
                left -= (gsize) n;
        }
        STEPS_UNTIL(relay, relay_n_sources(relay) == 0 && n_stored(store) == 0);
}
END_TEST

/* What a full disk does not take is dropped, and said once; the payload is not stopped. */
START_TEST(test_file_is_full) {
        g_autoptr(FdStore) store = fd_store_open(systemd_path, NULL);
        g_autoptr(Relay) relay = open_relay(store);
        g_autofree char *text = g_strnfill(60000, 'x');
        int out, err, full = open("/dev/full", O_WRONLY | O_CLOEXEC);

        start_with(full, full, getpid(), &out, &err);
        steps_while_said(relay, out, text, 20);
        close(out);
        close(err);
        STEPS_UNTIL(relay, relay_n_sources(relay) == 0);
}
END_TEST

/* The next relay finds pipe and file again. */
START_TEST(test_files_restored) {
        g_autoptr(FdStore) store = fd_store_open(systemd_path, NULL);
        FILE *file = tmpfile(), *other = tmpfile();
        Relay *relay = open_relay(store);
        int out, err;

        start_with(fileno(file), fileno(other), getpid(), &out, &err);
        say(out, "one\n");
        STEPS_UNTIL(relay, contains(fileno(file), "one\n"));
        relay_free(relay);
        say(out, "two\n");
        say(err, "three\n");
        relay = open_relay(store);
        ck_assert(relay_restore(relay, NULL));
        STEPS_UNTIL(relay, contains(fileno(file), "one\ntwo\n"));
        STEPS_UNTIL(relay, contains(fileno(other), "three\n"));
        relay_free(relay);
}
END_TEST

/* Killed between storing a registration and taking it from the queue, the next relay finds it in both. */
START_TEST(test_registered_twice) {
        g_autoptr(FdStore) store = fd_store_open(NULL, NULL);
        g_autoptr(Relay) relay = open_relay(store);
        g_autoptr(GString) text = g_string_new(NULL);
        char datagram[4096], control[1024];
        struct iovec data = { datagram, sizeof datagram };
        struct msghdr message = {
                .msg_iov = &data, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control
        };
        int out, err;

        start_container(getpid(), &out, &err);
        data.iov_len = (size_t) recvmsg(queue[1], &message, 0);
        ck_assert_int_gt(sendmsg(queue[0], &message, 0), 0);
        ck_assert_int_gt(sendmsg(queue[0], &message, 0), 0);
        say(out, "once\n");
        STEPS_UNTIL(relay, heard(systemd_ours, text, NULL, "once\n"));
        steps(relay, 5);
        ck_assert_uint_eq(relay_n_sources(relay), 1);
        ck_assert(heard(systemd_ours, text, NULL, "once\n"));
}
END_TEST

START_TEST(test_bad_registrations) {
        g_autoptr(FdStore) store = fd_store_open(NULL, NULL);
        g_autoptr(Relay) relay = open_relay(store);
        int out, err;

        say(queue[0], "nonsense");
        say(queue[0], "UNIT=a.service\nTAG=a\nJOURNAL=/j\nPID=1\n");
        say(queue[0], "UNIT=a.service\nTAG=a\nJOURNAL=/j\nPID=1\nROLES=15\n");
        ck_assert_int_eq(send(queue[0], "", 0, 0), 0);
        start_container(getpid(), &out, &err);
        steps(relay, 5);
        ck_assert_uint_eq(relay_n_sources(relay), 1);
}
END_TEST

/* One container's journal connection is full; the others go on, and so does that one once it is read. */
START_TEST(test_one_blocks) {
        g_autoptr(FdStore) store = fd_store_open(NULL, NULL);
        g_autoptr(Relay) relay = open_relay(store);
        g_autoptr(GString) text = g_string_new(NULL), other = g_string_new(NULL);
        g_autofree char *line = g_strnfill(999, 'x');
        int out, err, stream;
        gsize written = 0;

        line[998] = '\n';
        start_container(getpid(), &out, &err);
        ck_assert_int_eq(fcntl(out, F_SETFL, O_NONBLOCK), 0);
        for (int idle = 0; idle < 10;) {
                ssize_t n = write(out, line, 999);

                idle = n < 0 ? idle + 1 : 0;
                written += n < 0 ? 0 : (gsize) n;
                steps(relay, 1);
        }
        say(err, "free\n");
        STEPS_UNTIL(relay, (stream = accept(journal, NULL, NULL)) >= 0);
        STEPS_UNTIL(relay, hear(stream, other, NULL) && g_str_has_suffix(other->str, "\nfree\n"));

        close(out);
        while (hear(systemd_ours, text, NULL) && text->len < written)
                steps(relay, 3);
        ck_assert_uint_eq(text->len, written);
}
END_TEST

/* journald closes a connection: the relay makes another, says again whose lines follow, and repeats what
 * was not taken. */
START_TEST(test_journal_hangs_up) {
        g_autoptr(FdStore) store = fd_store_open(NULL, NULL);
        g_autoptr(Relay) relay = open_relay(store);
        g_autoptr(GString) text = g_string_new(NULL);
        int out, err, stream;

        start_container(getpid(), &out, &err);
        steps(relay, 5);
        close(systemd_ours);
        unlink(journal_path);
        close(journal);
        say(out, "kept\n");
        for (int i = 0; i < 5; i++)
                ck_assert(relay_step(relay, 50, NULL));
        listen_for_streams();
        STEPS_UNTIL(relay, (stream = accept(journal, NULL, NULL)) >= 0);
        STEPS_UNTIL(relay, heard(stream, text, NULL, "cam\ncam.service\n30\n1\n0\n0\n0\nkept\n"));
}
END_TEST

#define LINES 200000
#define KILLS 100

static pid_t fork_payload(int out) {
        pid_t pid = fork();
        FILE *file;

        if (pid != 0)
                return pid;
        file = fdopen(out, "w"); /* blocks of 4 KiB, which end within a line */
        for (int i = 0; i < LINES; i++)
                fprintf(file, "line %d of the payload\n", i);
        fclose(file);
        _exit(0);
}

/* Every line is there, and each is whole, whatever is repeated. */
static void check_lines(char *text) {
        g_autofree bool *seen = g_new0(bool, LINES);
        char *rest = text;

        for (char *line = strsep(&rest, "\n"); line && rest; line = strsep(&rest, "\n")) {
                int number = -1, end = 0;

                ck_assert_msg(sscanf(line, "line %d of the payload%n", &number, &end) == 1 && line[end] == '\0' &&
                                      number >= 0 && number < LINES,
                              "garbled: '%s'", line);
                seen[number] = true;
        }
        for (int i = 0; i < LINES; i++)
                ck_assert_msg(seen[i], "line %d is lost", i);
}

START_TEST(test_killed_at_any_moment) {
        g_autoptr(FdStore) store = fd_store_open(systemd_path, NULL);
        g_autoptr(Relay) last = NULL;
        g_autoptr(GString) text = g_string_new(NULL);
        g_autoptr(GRand) random = g_rand_new_with_seed(4711);
        int out, err, ends[2], kills = 0, kills_in_time = 0;
        siginfo_t info = { 0 };
        pid_t relay, payload;

        receive_ends(ends);
        start_container(getpid(), &out, &err);
        payload = fork_payload(out);
        relay = fork_relay(ends);
        close(out);
        close(err);
        close(systemd_unit);
        /* A little at a time, or the payload could be done before it was to be seen. The stream ends when no relay
         * has it, and the store has not. */
        while (hear_some(systemd_ours, text, kills < KILLS ? 32768 : LINES * 32, NULL) || kills < KILLS) {
                usleep((useconds_t) g_rand_int_range(random, 0, 3000));
                if (kills == KILLS)
                        continue;
                kills_in_time += waitid(P_PID, (id_t) payload, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
                                 info.si_pid == 0;
                relay = replace_relay(relay, ends);
                kills++;
        }
        ck_assert_int_eq(waitpid(payload, NULL, 0), payload);
        kill(relay, SIGKILL);
        waitpid(relay, NULL, 0);
        last = open_relay(store);
        ck_assert(relay_restore(last, NULL));
        STEPS_UNTIL(last, n_stored(store) == 0);
        ck_assert_int_gt(kills_in_time, 20); /* else this tested nothing */
        check_lines(text->str);
}
END_TEST

/* What the store gives back cannot be used: the relay says so, and drops it. */
START_TEST(test_restore_nonsense) {
        g_autoptr(FdStore) store = fd_store_open(systemd_path, NULL);
        g_autoptr(Relay) relay = open_relay(store);
        int ends[2];

        ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
        ck_assert(fd_store_add(store, "17", ends, 2, NULL));
        ck_assert(relay_restore(relay, NULL));
        ck_assert_uint_eq(relay_n_sources(relay), 0);
        ck_assert_uint_eq(n_stored(store), 0);
        steps(relay, 5);
        close(ends[1]);
        ck_assert_int_eq(read(ends[0], ends, 1), 0); /* nobody has a copy of the other end */
}
END_TEST

/* n_left: of descriptors that it may have. */
static RelaySource *make_source(pid_t pid, rlim_t n_left, GError **error) {
        RelayRecord record = {
                .payload = pid, .unit = g_strdup("cam.service"), .tag = g_strdup("cam"), .journal = g_strdup("/j")
        };
        int ends[2], next, fds[RELAY_ROLES] = { -1, -1, -1, -1 };
        struct rlimit limit, few;
        RelaySource *source;

        ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
        fds[RELAY_STDOUT_PIPE] = ends[0];
        next = dup(ends[1]);
        close(next);
        ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
        few = (struct rlimit) { (rlim_t) next + n_left, limit.rlim_max };
        ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
        source = relay_source_new(&record, fds, error);
        ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
        return source;
}

/* There is one for the record, and none for the payload. */
START_TEST(test_payload_cannot_be_watched) {
        g_autoptr(RelaySource) source = NULL;
        g_autoptr(GError) error = NULL;

        source = make_source(getpid(), 1, &error);
        ck_assert_ptr_null(source);
        ck_assert_msg(strstr(error->message, "Cannot watch process"), "%s", error->message);
}
END_TEST

/* Its id is still that of its process group. */
START_TEST(test_payload_has_ended) {
        g_autoptr(RelaySource) source = NULL;
        pid_t pid = fork();

        if (pid == 0) {
                ck_assert_int_eq(setpgid(0, 0), 0);
                if (fork() == 0)
                        for (;;)
                                pause();
                _exit(0);
        }
        ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
        source = make_source(pid, 10, NULL);
        kill(-pid, SIGKILL);
        ck_assert_ptr_nonnull(source);
        ck_assert(source->ended);
}
END_TEST

/* Calls that fail for a moment: in the worker, too, which is forked from here. */
static int failing_tees, failing_ioctls;

ssize_t tee(int in, int out, size_t size, unsigned flags) {
        if (failing_tees-- <= 0)
                return syscall(SYS_tee, in, out, size, flags);
        errno = EAGAIN;
        return -1;
}

int ioctl(int fd, unsigned long request, ...) {
        va_list words;
        void *word;

        va_start(words, request);
        word = va_arg(words, void *);
        va_end(words);
        if (failing_ioctls-- <= 0)
                return (int) syscall(SYS_ioctl, fd, request, word);
        errno = ENOMEM;
        return -1;
}

/* The payload has ended before it was known, and somebody else has its pipes. */
START_TEST(test_last_words_are_not_seen_at_once) {
        g_autoptr(FdStore) store = fd_store_open(NULL, NULL);
        g_autoptr(Relay) relay = open_relay(store);
        g_autoptr(GString) text = g_string_new(NULL);
        int out, err;
        pid_t pid = fork();

        if (pid == 0)
                _exit(0);
        ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
        start_container(pid, &out, &err);
        say(out, "last words\n");
        failing_tees = _i == 0 ? 3 : 0;
        failing_ioctls = _i == 1 ? 3 : 0;
        STEPS_UNTIL(relay, heard(systemd_ours, text, NULL, "last words\n"));
        STEPS_UNTIL(relay, relay_n_sources(relay) == 0);
}
END_TEST

TEST_MAIN("relay", {
        tcase_set_timeout(tcase, 60);
        tcase_add_checked_fixture(tcase, setup, teardown);
        tcase_add_test(tcase, test_two_streams);
        tcase_add_test(tcase, test_pipe_outlives_payload);
        tcase_add_test(tcase, test_payload_changes_the_pipes_owner);
        tcase_add_loop_test(tcase, test_large_writes, 0, 2);
        tcase_add_test(tcase, test_files);
        tcase_add_test(tcase, test_file_is_full);
        tcase_add_test(tcase, test_files_restored);
        tcase_add_test(tcase, test_registered_twice);
        tcase_add_test(tcase, test_bad_registrations);
        tcase_add_test(tcase, test_one_blocks);
        tcase_add_test(tcase, test_journal_hangs_up);
        tcase_add_test(tcase, test_killed_at_any_moment);
        tcase_add_test(tcase, test_restore_nonsense);
        tcase_add_test(tcase, test_payload_cannot_be_watched);
        tcase_add_test(tcase, test_payload_has_ended);
        tcase_add_loop_test(tcase, test_last_words_are_not_seen_at_once, 0, 2);
})
