/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A payload that says to systemd what it is told to say, one word after the other, a line of FILE each:
 *
 *   speak FILE
 *
 *   say TEXT          send TEXT to $NOTIFY_SOCKET (in every TEXT: \n, \r, \e, \0 and \xff are what they mean)
 *   connect TEXT      the same, on a connected socket
 *   child TEXT        a child says it and is gone
 *   as UID TEXT       a child says it as another user
 *   bytes N           send STATUS=aaa..., N bytes in all
 *   fds N TEXT        send TEXT with N descriptors
 *   linger TEXT       send TEXT with a connection that nobody reads, whose last close waits for minutes
 *   count FROM TO     send STATUS=FROM to STATUS=TO, one by one
 *   flood N TEXT      send TEXT for N seconds, print how often
 *   barrier           as sd_notify_barrier(3), print how it ended
 *   to PATH TEXT      send TEXT to another socket, @NAME for an abstract one
 *   on-term TEXT      on SIGTERM, send TEXT five times a second for ten seconds, and then end
 *   on-usr1           on SIGUSR1, say what a reload says
 *   sleep MSEC, wait FILE, print TEXT, exit STATUS, forever
 *
 * What fails is printed, and the next word is next. It is static: it runs in any image.
 */

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char *on_term;

static long msec(void) {
        struct timespec now;

        clock_gettime(CLOCK_MONOTONIC, &now);
        return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* In place; returns the length, for there may be a NUL byte. */
static size_t unescape(char *text) {
        static const char names[] = "nre0x", bytes[] = "\n\r\033\0\377";
        char *to = text;

        for (const char *from = text; *from; from++) {
                const char *name = *from == '\\' && from[1] ? strchr(names, from[1]) : NULL;

                *to++ = name ? bytes[name - names] : *from;
                if (name)
                        from += *name == 'x' ? 3 : 1;
        }
        *to = '\0';
        return (size_t) (to - text);
}

static socklen_t address_of(const char *path, struct sockaddr_un *ret) {
        *ret = (struct sockaddr_un) { .sun_family = AF_UNIX };
        strncpy(ret->sun_path, path, sizeof ret->sun_path - 1);
        if (path[0] == '@')
                ret->sun_path[0] = '\0';
        return (socklen_t) (offsetof(struct sockaddr_un, sun_path) + strlen(path));
}

static void send_to(const char *path, const void *data, size_t size, const int *fds, size_t n_fds) {
        char control[CMSG_SPACE(253 * sizeof(int))] = { 0 };
        struct sockaddr_un name;
        struct iovec vector = { (void *) data, size };
        struct msghdr message = { .msg_name = &name, .msg_iov = &vector, .msg_iovlen = 1 };
        int s = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), large = 8 << 20;

        setsockopt(s, SOL_SOCKET, SO_SNDBUF, &large, sizeof large);
        message.msg_namelen = address_of(path ?: "/none", &name);
        if (n_fds > 0) {
                struct cmsghdr *header = (struct cmsghdr *) control;

                message.msg_control = control;
                message.msg_controllen = CMSG_SPACE(n_fds * sizeof(int));
                header->cmsg_level = SOL_SOCKET;
                header->cmsg_type = SCM_RIGHTS;
                header->cmsg_len = CMSG_LEN(n_fds * sizeof(int));
                memcpy(CMSG_DATA(header), fds, n_fds * sizeof(int));
        }
        if (sendmsg(s, &message, MSG_NOSIGNAL) < 0)
                printf("cannot send to %s: %s\n", path, strerror(errno));
        close(s);
}

static void say(const void *data, size_t size) {
        send_to(getenv("NOTIFY_SOCKET"), data, size, NULL, 0);
}

static void say_connected(const char *data, size_t size) {
        int s = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        struct sockaddr_un name;
        socklen_t length = address_of(getenv("NOTIFY_SOCKET"), &name);

        if (connect(s, (struct sockaddr *) &name, length) < 0 || write(s, data, size) != (ssize_t) size)
                printf("cannot connect: %s\n", strerror(errno));
        close(s);
}

static void say_in_child(const char *data, size_t size, uid_t uid) {
        pid_t pid = fork();

        if (pid == 0) {
                if (uid != 0 && (setgid(uid) < 0 || setuid(uid) < 0))
                        printf("cannot become %d\n", (int) uid);
                say(data, size);
                fflush(stdout);
                _exit(0);
        }
        waitpid(pid, NULL, 0);
}

static void say_with_fds(const char *data, size_t size, size_t n) {
        int fds[253];

        for (size_t i = 0; i < n; i++)
                fds[i] = open("/dev/null", O_RDONLY | O_CLOEXEC);
        send_to(getenv("NOTIFY_SOCKET"), data, size, fds, n);
        for (size_t i = 0; i < n; i++)
                close(fds[i]);
}

/* Who drops the last reference to such a connection sleeps until all is read, or the time is over: the relay's child,
 * or where that is faster a child of ours, for which nobody waits longer than until it has spoken. */
static void say_with_linger(const char *data, size_t size) {
        int spoken[2];
        struct linger linger = { .l_onoff = 1, .l_linger = 600 };
        struct sockaddr_in name = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
        socklen_t length = sizeof name;
        int listener = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0), small = 1;
        static char bytes[65536];

        setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
        if (bind(listener, (struct sockaddr *) &name, length) < 0 || listen(listener, 1) < 0 ||
            getsockname(listener, (struct sockaddr *) &name, &length) < 0 ||
            connect(client, (struct sockaddr *) &name, length) < 0)
                printf("cannot make a connection: %s\n", strerror(errno));
        fcntl(client, F_SETFL, O_NONBLOCK);
        while (write(client, bytes, sizeof bytes) > 0)
                ;
        fcntl(client, F_SETFL, 0); /* a close that may wait */
        setsockopt(client, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
        if (pipe(spoken) == 0 && fork() == 0) {
                close(listener);
                close(spoken[0]);
                /* The parent's is closed first, or the parent would sleep. */
                usleep(50000);
                send_to(getenv("NOTIFY_SOCKET"), data, size, &client, 1);
                close(spoken[1]);
                _exit(0);
        }
        close(client); /* the listener stays, and reads nothing */
        close(spoken[1]);
        (void) !read(spoken[0], bytes, 1);
        close(spoken[0]);
}

static void count(int from, int to) {
        for (int i = from; i <= to; i++) {
                char text[32];

                say(text, (size_t) snprintf(text, sizeof text, "STATUS=%d", i));
        }
}

static void flood(int seconds, const char *data, size_t size) {
        long end = msec() + seconds * 1000L, n = 0;
        int s = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        struct sockaddr_un name;
        socklen_t length = address_of(getenv("NOTIFY_SOCKET"), &name);

        for (; msec() < end; n++)
                if (sendto(s, data, size, 0, (struct sockaddr *) &name, length) < 0)
                        break;
        printf("flood of %ld\n", n);
        close(s);
}

static void barrier(void) {
        int fds[2], hung_up;
        struct pollfd polled;

        if (pipe(fds) < 0)
                return;
        send_to(getenv("NOTIFY_SOCKET"), "BARRIER=1", strlen("BARRIER=1"), &fds[1], 1);
        close(fds[1]);
        polled = (struct pollfd) { .fd = fds[0] };
        hung_up = poll(&polled, 1, 20000) == 1 && polled.revents & POLLHUP;
        printf("barrier %s\n", hung_up ? "passed" : "stuck");
        close(fds[0]);
}

static void handle_term(int signal) {
        for (int i = 0; i < 50; i++) {
                say(on_term, strlen(on_term));
                usleep(200000);
        }
        _exit(0);
}

static void handle_usr1(int signal) {
        struct timespec now;
        char text[100];

        clock_gettime(CLOCK_MONOTONIC, &now);
        say(text, (size_t) snprintf(text, sizeof text, "RELOADING=1\nMONOTONIC_USEC=%lld",
                                    (long long) now.tv_sec * 1000000 + now.tv_nsec / 1000));
        usleep(100000);
        say("READY=1\nSTATUS=reloaded", strlen("READY=1\nSTATUS=reloaded"));
}

/* Each sends a SIGCHLD. */
static void have_children(int msec) {
        struct timespec begin, now;

        clock_gettime(CLOCK_MONOTONIC, &begin);
        do {
                if (fork() == 0)
                        _exit(0);
                wait(NULL);
                clock_gettime(CLOCK_MONOTONIC, &now);
        } while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < msec);
}

static char *next(char ***words) {
        char *word = **words;

        if (!word) {
                printf("a word is missing\n");
                exit(2);
        }
        (*words)++;
        return word;
}

/* Returns false where `what` is none of those that send a text. */
static bool speak(const char *what, char ***words) {
        static const char *const known[] = { "say", "connect", "child", "as", "fds", "linger", "flood", "to" };
        const char *before = NULL;
        size_t i = 0, size;
        char *text;

        while (i < sizeof known / sizeof *known && strcmp(what, known[i]) != 0)
                i++;
        if (i == sizeof known / sizeof *known)
                return false;
        if (strchr("aft", what[0])) /* as, fds, flood, to */
                before = next(words);
        text = next(words);
        size = unescape(text);
        if (!strcmp(what, "say"))
                say(text, size);
        else if (!strcmp(what, "connect"))
                say_connected(text, size);
        else if (!strcmp(what, "child"))
                say_in_child(text, size, 0);
        else if (!strcmp(what, "as"))
                say_in_child(text, size, (uid_t) atoi(before));
        else if (!strcmp(what, "fds"))
                say_with_fds(text, size, (size_t) atoi(before));
        else if (!strcmp(what, "linger"))
                say_with_linger(text, size);
        else if (!strcmp(what, "flood"))
                flood(atoi(before), text, size);
        else
                send_to(before, text, size, NULL, 0);
        return true;
}

static void do_else(const char *what, char ***words) {
        if (!strcmp(what, "bytes")) {
                size_t size = (size_t) atoi(next(words));
                char *text = malloc(size);

                memset(text, 'a', size);
                memcpy(text, "STATUS=", strlen("STATUS="));
                say(text, size);
        } else if (!strcmp(what, "count")) {
                int from = atoi(next(words));

                count(from, atoi(next(words)));
        } else if (!strcmp(what, "barrier"))
                barrier();
        else if (!strcmp(what, "on-term")) {
                on_term = next(words);
                signal(SIGTERM, handle_term);
        } else if (!strcmp(what, "on-usr1"))
                signal(SIGUSR1, handle_usr1);
        else if (!strcmp(what, "sleep"))
                usleep((useconds_t) atoi(next(words)) * 1000);
        else if (!strcmp(what, "children"))
                have_children(atoi(next(words)));
        else if (!strcmp(what, "wait")) {
                const char *path = next(words);

                while (access(path, F_OK) < 0)
                        usleep(5000);
        } else if (!strcmp(what, "print"))
                printf("%s\n", next(words));
        else if (!strcmp(what, "exit"))
                exit(atoi(next(words)));
        else if (!strcmp(what, "forever"))
                for (;;)
                        pause();
        else
                printf("what is '%s'?\n", what);
}

static char **read_words(const char *path) {
        static char text[65536], *words[1000];
        size_t n = 0;
        FILE *file = fopen(path, "re");

        if (!file || fread(text, 1, sizeof text - 1, file) == 0) {
                printf("cannot read '%s'\n", path);
                exit(2);
        }
        for (char *word = strtok(text, "\n"); word && n < 999; word = strtok(NULL, "\n"))
                words[n++] = word;
        return words;
}

int main(int argc, char **argv) {
        setvbuf(stdout, NULL, _IOLBF, 0);
        for (char **words = read_words(argc == 2 ? argv[1] : "/words"); *words;) {
                const char *what = next(&words);

                if (!speak(what, &words))
                        do_else(what, &words);
        }
        return 0;
}
