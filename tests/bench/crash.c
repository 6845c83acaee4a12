/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* usage: crash payload SOCKET
 *        crash kill ROUNDS PAUSE NAME=SOCKET...
 *
 * A payload says at its first instruction what time it is, and does nothing more. The other one kills the payloads of
 * several services in turns, PAUSE milliseconds apart, and prints for each "NAME", a tab, and how many nanoseconds
 * passed until the next payload of the same service was there. The kernel says by the socket which process is to be
 * killed, whatever PID namespace it is in. Each round has another order: what one service leaves to be cleaned up
 * would else always be paid by the same other one. The first round, which warms up, is not printed. */
#include <err.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { SERVICES = 32, PATIENCE = 60000 };

typedef struct Service {
        char *name;
        int listener;
        int payload; /* the connection of the one that runs */
} Service;

static long long nanoseconds(void) {
        struct timespec now;

        clock_gettime(CLOCK_MONOTONIC, &now);
        return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static struct sockaddr_un address(const char *path) {
        struct sockaddr_un a = { .sun_family = AF_UNIX };

        if (strlen(path) >= sizeof(a.sun_path))
                errx(125, "'%s' is too long", path);
        memcpy(a.sun_path, path, strlen(path) + 1);
        return a;
}

static int be_payload(const char *path) {
        long long born = nanoseconds();
        struct sockaddr_un a = address(path);
        int fd = socket(AF_UNIX, SOCK_STREAM, 0);

        if (fd < 0 || connect(fd, (struct sockaddr *) &a, sizeof(a)) < 0 ||
            write(fd, &born, sizeof(born)) != sizeof(born))
                err(125, "cannot say so at '%s'", path);
        for (;;)
                pause();
}

static void listen_for(Service *service, char *word) {
        char *path = strchr(word, '=');
        struct sockaddr_un a;

        if (!path)
                errx(125, "no '=' in '%s'", word);
        *path++ = '\0';
        a = address(path);
        service->name = word;
        service->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (service->listener < 0 || bind(service->listener, (struct sockaddr *) &a, sizeof(a)) < 0 ||
            chmod(path, 0666) < 0 || listen(service->listener, 8) < 0)
                err(125, "cannot listen on '%s'", path);
}

/* When its next payload was born. */
static long long wait_for(Service *service) {
        struct pollfd ready = { .fd = service->listener, .events = POLLIN };
        long long born;

        if (poll(&ready, 1, PATIENCE) != 1)
                errx(1, "'%s' has no payload within %d ms", service->name, PATIENCE);
        service->payload = accept(service->listener, NULL, NULL);
        if (service->payload < 0 || read(service->payload, &born, sizeof(born)) != sizeof(born))
                err(125, "'%s'", service->name);
        return born;
}

static long long crash(Service *service) {
        struct ucred who;
        socklen_t size = sizeof(who);
        long long killed;

        if (getsockopt(service->payload, SOL_SOCKET, SO_PEERCRED, &who, &size) < 0)
                err(125, "getsockopt");
        close(service->payload);
        killed = nanoseconds();
        if (kill(who.pid, SIGKILL) < 0)
                err(125, "kill %d of '%s'", who.pid, service->name);
        return wait_for(service) - killed;
}

static void shuffle(Service **order, int count) {
        for (int i = count - 1; i > 0; i--) {
                int other = (int) (random() % (i + 1));
                Service *service = order[i];

                order[i] = order[other];
                order[other] = service;
        }
}

int main(int argc, char **argv) {
        static Service services[SERVICES];
        Service *order[SERVICES];
        int count = argc - 4;

        if (argc == 3 && strcmp(argv[1], "payload") == 0)
                return be_payload(argv[2]);
        if (argc < 5 || count > SERVICES || strcmp(argv[1], "kill") != 0)
                errx(2, "usage: crash payload SOCKET | crash kill ROUNDS PAUSE NAME=SOCKET...");
        for (int i = 0; i < count; i++) {
                listen_for(&services[i], argv[i + 4]);
                order[i] = &services[i];
        }
        puts("ready");
        fflush(stdout);
        for (int i = 0; i < count; i++)
                (void) wait_for(&services[i]);
        for (int round = 0; round <= atoi(argv[2]); round++) {
                shuffle(order, count);
                for (int i = 0; i < count; i++) {
                        usleep((useconds_t) atoi(argv[3]) * 1000);
                        long long took = crash(order[i]);
                        if (round > 0)
                                printf("%s\t%lld\n", order[i]->name, took);
                }
        }
        return 0;
}
