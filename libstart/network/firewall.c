/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <string.h>
#include <sys/socket.h>

#include "libstart/base/fd.h"
#include "libstart/base/user-view.h"
#include "libstart/json/member.h"
#include "libstart/network/bridge.h"
#include "libstart/network/firewall.h"
#include "libstart/network/namespace-state.h"

#define TABLE "netavark" /* of family inet: its nftables driver's */

/* Asks for the table: the answer is the table, or an error. */
static bool has_table(void) {
        struct {
                struct nlmsghdr header;
                struct nfgenmsg family;
                struct nlattr attribute;
                char name[NLA_ALIGN(sizeof TABLE)];
        } question = {
                .header = { .nlmsg_len = sizeof question,
                            .nlmsg_type = NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_GETTABLE,
                            .nlmsg_flags = NLM_F_REQUEST },
                .family = { .nfgen_family = NFPROTO_INET, .version = NFNETLINK_V0 },
                .attribute = { .nla_len = NLA_HDRLEN + sizeof TABLE, .nla_type = NFTA_TABLE_NAME },
                .name = TABLE,
        };
        union {
                struct nlmsghdr header;
                char bytes[4096];
        } answer;
        _cleanup_close_ int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_NETFILTER);

        return fd >= 0 && send(fd, &question, sizeof question, 0) == sizeof question &&
               recv(fd, &answer, sizeof answer, 0) >= (ssize_t) sizeof answer.header &&
               answer.header.nlmsg_type == (NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_NEWTABLE);
}

/* A network that was described anew meanwhile has other subnets, of which the firewall knows nothing. */
static bool is_same(const SummaryNetwork *network, const NetworkDefinition *definition) {
        if (!g_str_equal(network->name, definition->name) || network->addresses->len != definition->subnets->len)
                return false;
        for (guint i = 0; i < definition->subnets->len; i++) {
                const IpPrefix *prefix = &g_array_index(definition->subnets, NetworkSubnet, i).prefix;
                bool found = false;

                for (guint j = 0; j < network->addresses->len; j++)
                        found |= ip_prefix_contains(prefix, &g_array_index(network->addresses, IpAddress, j));
                if (!found)
                        return false;
        }
        return true;
}

static bool is_in(const char *unit, const NetworkDefinition *definition) {
        g_autoptr(SetupSummary) setup = NULL;

        if (namespace_state_is_whole(unit))
                (void) namespace_state_read_summary(unit, &setup, NULL);
        for (guint i = 0; setup && i < setup->networks->len; i++)
                if (is_same(setup->networks->pdata[i], definition))
                        return true;
        return false;
}

/* Options may ask for rules of their own. A payload may remove its interface, and so be in the network as far as its
 * files say, but the bridge and its rules go with the last port. */
static bool is_plain_and_used(const NetworkDefinition *definition) {
        yajl_val options = json_member(definition->tree, "options", yajl_t_object);

        return g_str_equal(definition->driver, "bridge") && (!options || options->u.object.len == 0) &&
               bridge_is_used(definition->interface);
}

static bool has_neighbour(char *const *units, const char *unit, const NetworkDefinition *definition) {
        for (; units && *units; units++)
                if (!g_str_equal(*units, unit) && is_in(*units, definition))
                        return true;
        return false;
}

bool firewall_is_ready(const NetworkConf *conf, const char *unit, const GPtrArray *attachments) {
        g_auto(GStrv) units = namespace_state_list(NULL);

        if (user_view_is_here()) /* sysfs knows the machine's interfaces, and these are in a namespace */
                return false;
        if (conf->firewall_driver && !g_str_equal(conf->firewall_driver, "nftables"))
                return false;
        for (guint i = 0; i < attachments->len; i++) {
                const Attachment *attachment = attachments->pdata[i];

                if (!is_plain_and_used(attachment->definition) || !has_neighbour(units, unit, attachment->definition))
                        return false;
        }
        return has_table();
}
