/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A server, and a client that measures how fast it answers: `net-load serve PORT`, `net-load latency ADDRESS PORT
 * ROUNDS` (nanoseconds for one byte there and back, the mean), `net-load throughput ADDRESS PORT MILLISECONDS` (MB/s
 * from there). */
#include <arpa/inet.h>
#include <err.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static char buffer[1 << 16];

static int64_t now(void) {
        struct timespec t;

        clock_gettime(CLOCK_MONOTONIC, &t);
        return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static int make_socket(void) {
        int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;

        if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) < 0 ||
            setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) < 0)
                err(1, "socket");
        return fd;
}

static struct sockaddr_in make_address(const char *address, const char *port) {
        struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons((uint16_t) atoi(port)) };

        if (inet_pton(AF_INET, address, &in.sin_addr) != 1)
                errx(1, "'%s' is no address", address);
        return in;
}

/* The first byte says what is wanted. */
static void answer(int fd) {
        char wish;

        if (read(fd, &wish, 1) != 1)
                return;
        if (wish == 't')
                while (write(fd, buffer, sizeof buffer) > 0)
                        ;
        else
                while (read(fd, &wish, 1) == 1 && write(fd, &wish, 1) == 1)
                        ;
}

static void serve(const char *port) {
        struct sockaddr_in in = make_address("0.0.0.0", port);
        int fd = make_socket(), one = 1;

        if (bind(fd, (struct sockaddr *) &in, sizeof in) < 0 || listen(fd, 16) < 0)
                err(1, "bind");
        signal(SIGPIPE, SIG_IGN);
        signal(SIGCHLD, SIG_IGN);
        for (;;) {
                int client = accept(fd, NULL, NULL);

                if (client < 0 || setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) < 0)
                        err(1, "accept");
                if (fork() == 0) {
                        answer(client);
                        _exit(0);
                }
                close(client);
        }
}

static int call(const char *address, const char *port, char wish) {
        struct sockaddr_in in = make_address(address, port);
        int fd = make_socket();

        if (connect(fd, (struct sockaddr *) &in, sizeof in) < 0 || write(fd, &wish, 1) != 1)
                err(1, "connect");
        return fd;
}

static void measure_latency(int fd, int rounds) {
        int64_t began = now();
        char byte = 0;

        for (int i = 0; i < rounds; i++)
                if (write(fd, &byte, 1) != 1 || read(fd, &byte, 1) != 1)
                        err(1, "latency");
        printf("%.0f\n", (double) (now() - began) / rounds);
}

static void measure_throughput(int fd, int milliseconds) {
        int64_t began = now(), end = began + milliseconds * INT64_C(1000000), bytes = 0;

        while (now() < end) {
                ssize_t n = read(fd, buffer, sizeof buffer);

                if (n <= 0)
                        err(1, "throughput");
                bytes += n;
        }
        printf("%.1f\n", (double) bytes * 1000 / (double) (now() - began));
}

int main(int argc, char **argv) {
        if (argc == 3 && strcmp(argv[1], "serve") == 0)
                serve(argv[2]);
        if (argc != 5)
                errx(2, "see the beginning of net-load.c");
        if (strcmp(argv[1], "latency") == 0)
                measure_latency(call(argv[2], argv[3], 'l'), atoi(argv[4]));
        else
                measure_throughput(call(argv[2], argv[3], 't'), atoi(argv[4]));
        return 0;
}
