/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <arpa/inet.h>
#include <errno.h>
#include <glib.h>
#include <linux/rtnetlink.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libstart/base/fd.h"
#include "libstart/ctl/container/payload-addresses.h"

/* A payload that has CAP_NET_ADMIN in its network makes as many addresses as it likes, and changes them while they
 * are read. getifaddrs(3) takes all of them into memory, and begins anew for as long as they do not fit together. So
 * the kernel is asked here, once, and what nobody could read is not. */
#define SHOWN_MAX 16
#define ANSWERS_MAX 256
#define ANSWER_SIZE (32U << 10)

#define LOOPBACK_INDEX 1 /* the kernel's for "lo", in each namespace */

typedef struct Addresses {
        GString *text;
        guint n;
        bool ended;
} Addresses;

static const void *find_bytes(const struct nlmsghdr *header) {
        const struct ifaddrmsg *message = NLMSG_DATA(header);
        size_t size = message->ifa_family == AF_INET ? sizeof(struct in_addr) : sizeof(struct in6_addr);
        const void *found = NULL;
        unsigned left = IFA_PAYLOAD(header);

        for (const struct rtattr *one = IFA_RTA(message); RTA_OK(one, left); one = RTA_NEXT(one, left))
                if (RTA_PAYLOAD(one) >= size &&
                    (one->rta_type == IFA_LOCAL || (one->rta_type == IFA_ADDRESS && !found)))
                        found = RTA_DATA(one);
        return found;
}

static void take_address(Addresses *addresses, const struct nlmsghdr *header) {
        const struct ifaddrmsg *message = NLMSG_DATA(header);
        char address[INET6_ADDRSTRLEN];
        const void *bytes = NULL;

        if (message->ifa_index != LOOPBACK_INDEX &&
            (message->ifa_family == AF_INET || message->ifa_family == AF_INET6))
                bytes = find_bytes(header);
        if (!bytes || (message->ifa_family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL((const struct in6_addr *) bytes)))
                return;
        addresses->ended = addresses->n++ == SHOWN_MAX;
        g_string_append_printf(addresses->text, "%s%s", addresses->n > 1 ? "\n" : "",
                               addresses->ended ? "..." :
                                                  inet_ntop(message->ifa_family, bytes, address, sizeof address));
}

static void take_answer(Addresses *addresses, const char *answer, int length) {
        for (const struct nlmsghdr *header = (const void *) answer; NLMSG_OK(header, length) && !addresses->ended;
             header = NLMSG_NEXT(header, length)) {
                if (header->nlmsg_type == RTM_NEWADDR)
                        take_address(addresses, header);
                addresses->ended |= header->nlmsg_type == NLMSG_DONE;
        }
}

static int ask(void) {
        const struct {
                struct nlmsghdr header;
                struct ifaddrmsg message;
        } question = { .header = { .nlmsg_len = sizeof question,
                                   .nlmsg_type = RTM_GETADDR,
                                   .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP } };
        _cleanup_close_ int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);

        return fd >= 0 && send(fd, &question, sizeof question, 0) == sizeof question ? fd_steal(&fd) : -1;
}

/* NULL where not all that is to be shown has come. */
static char *list_addresses(void) {
        g_autoptr(GString) text = g_string_new(NULL);
        Addresses addresses = { .text = text };
        g_autofree char *answer = g_malloc(ANSWER_SIZE);
        _cleanup_close_ int fd = ask();

        for (int i = 0; fd >= 0 && i < ANSWERS_MAX && !addresses.ended; i++) {
                ssize_t n = recv(fd, answer, ANSWER_SIZE, 0);

                if (n < 0 && errno != EINTR)
                        break;
                take_answer(&addresses, answer, (int) MAX(n, 0));
        }
        return addresses.ended ? g_strdup(addresses.n > 0 ? text->str : "none") : NULL;
}

/* A thread that ends in there: a user could not come back, as the machine's network is not hers. */
static void *look_inside(void *payload) {
        struct stat own, inside;

        if (setns(GPOINTER_TO_INT(payload), CLONE_NEWNET) < 0 || stat("/proc/self/ns/net", &own) < 0 ||
            stat("/proc/thread-self/ns/net", &inside) < 0)
                return NULL;
        return own.st_ino == inside.st_ino ? g_strdup("host") : list_addresses();
}

char *payload_find_addresses(int payload) {
        GThread *thread = g_thread_try_new("addresses", look_inside, GINT_TO_POINTER(payload), NULL);

        return thread ? g_thread_join(thread) : NULL;
}
