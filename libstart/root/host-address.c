/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <netinet/in.h>

#include "libstart/base/error.h"
#include "libstart/root/host-address.h"

static const void *address_bytes(const struct sockaddr *address) {
        return address->sa_family == AF_INET ?
                       (const void *) &((const struct sockaddr_in *) (const void *) address)->sin_addr :
                       (const void *) &((const struct sockaddr_in6 *) (const void *) address)->sin6_addr;
}

/* Neither the loopback's, nor of one link only, nor of many machines. */
static bool is_global(const struct sockaddr *address) {
        if (address->sa_family == AF_INET) {
                in_addr_t ip = ntohl(((const struct sockaddr_in *) (const void *) address)->sin_addr.s_addr);

                return ip != INADDR_ANY && ip != INADDR_BROADCAST && !IN_MULTICAST(ip) &&
                       ip >> IN_CLASSA_NSHIFT != IN_LOOPBACKNET && ip >> IN_CLASSB_NSHIFT != 0xa9fe; /* 169.254 */
        }
        if (address->sa_family == AF_INET6) {
                const struct in6_addr *ip = &((const struct sockaddr_in6 *) (const void *) address)->sin6_addr;

                return !IN6_IS_ADDR_UNSPECIFIED(ip) && !IN6_IS_ADDR_LOOPBACK(ip) && !IN6_IS_ADDR_MULTICAST(ip) &&
                       !IN6_IS_ADDR_LINKLOCAL(ip);
        }
        return false;
}

char *host_address_find(GError **error) {
        const struct sockaddr *found = NULL;
        char text[INET6_ADDRSTRLEN] = "";
        struct ifaddrs *all;

        if (getifaddrs(&all) < 0)
                return error_null_errno(error, errno, "Cannot ask for the machine's addresses");
        for (const struct ifaddrs *one = all; one; one = one->ifa_next)
                if (one->ifa_addr && is_global(one->ifa_addr) &&
                    (!found || (found->sa_family == AF_INET6 && one->ifa_addr->sa_family == AF_INET)))
                        found = one->ifa_addr;
        if (found)
                (void) inet_ntop(found->sa_family, address_bytes(found), text, sizeof text);
        else
                error_set(error, KT_ERROR_FAILED,
                          "host-gateway (AddHost=, --add-host): the machine has no address yet: start the container "
                          "after network-online.target (After= and Wants= in [Unit]), or name the address");
        freeifaddrs(all);
        return found ? g_strdup(text) : NULL;
}
