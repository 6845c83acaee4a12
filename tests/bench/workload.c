/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* usage: workload serve PORT COMMAND...     the payload: has COMMAND run for who connects, and says how long it took
 *        workload ask ADDRESS PORT          does that, and prints it
 *        workload time COMMAND...           the same without a payload
 *
 * Nanoseconds from its vfork to its end, by the same code beside and in a container. The container is there already,
 * and waits in accept(2), so that no start is part of what is measured. */
#include <arpa/inet.h>
#include <err.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long long nanoseconds(void) {
        struct timespec now;

        clock_gettime(CLOCK_MONOTONIC, &now);
        return now.tv_sec * 1000000000LL + now.tv_nsec;
}

/* Or less than nothing: the command failed. */
static long long run(char **command) {
        long long began = nanoseconds();
        int status, error;
        pid_t pid;

        error = posix_spawnp(&pid, command[0], NULL, NULL, command, environ);
        if (error != 0)
                errx(125, "'%s': %s", command[0], strerror(error));
        if (waitpid(pid, &status, 0) < 0)
                err(125, "waitpid");
        return status == 0 ? nanoseconds() - began : -1;
}

static struct sockaddr_in address(const char *host, const char *port) {
        struct sockaddr_in name = { .sin_family = AF_INET, .sin_port = htons((uint16_t) atoi(port)) };

        if (inet_pton(AF_INET, host, &name.sin_addr) != 1)
                errx(2, "'%s': no address", host);
        return name;
}

static int new_socket(void) {
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

        if (fd < 0)
                err(1, "socket");
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int) { 1 }, sizeof(int));
        return fd;
}

static int serve(const char *port, char **command) {
        struct sockaddr_in name = address("0.0.0.0", port);
        int listening = new_socket(), fd;

        if (bind(listening, (struct sockaddr *) &name, sizeof(name)) < 0 || listen(listening, 1) < 0)
                err(1, "port %s", port);
        while ((fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
                dprintf(fd, "%lld\n", run(command));
                close(fd);
        }
        err(1, "accept");
}

static long long ask(const char *host, const char *port) {
        struct sockaddr_in name = address(host, port);
        char answer[32];
        int fd = new_socket();
        ssize_t n;

        if (connect(fd, (struct sockaddr *) &name, sizeof(name)) < 0)
                err(1, "%s, port %s", host, port);
        n = recv(fd, answer, sizeof(answer) - 1, MSG_WAITALL);
        if (n <= 0)
                errx(1, "no answer from %s, port %s", host, port);
        answer[n] = '\0';
        return atoll(answer);
}

int main(int argc, char **argv) {
        long long took;

        if (argc > 3 && strcmp(argv[1], "serve") == 0)
                return serve(argv[2], argv + 3);
        if (argc == 4 && strcmp(argv[1], "ask") == 0)
                took = ask(argv[2], argv[3]);
        else if (argc > 2 && strcmp(argv[1], "time") == 0)
                took = run(argv + 2);
        else
                errx(2, "usage: workload serve PORT COMMAND... | ask ADDRESS PORT | time COMMAND...");
        if (took < 0)
                errx(1, "the command failed");
        printf("%lld\n", took);
        return 0;
}
