/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/request/dns-request.h"
#include "libstart/value/ip-address.h"
#include "libstart/value/names.h"

/* Takes ownership of text. */
static void add(GPtrArray **list, char *text) {
        if (!*list)
                *list = g_ptr_array_new_with_free_func(g_free);
        g_ptr_array_add(*list, text);
}

static bool add_server(DnsRequest *request, const char *text, GError **error) {
        IpAddress address;

        if (g_str_equal(text, "none")) {
                request->of_image = true;
                return true;
        }
        if (!ip_address_parse(text, &address))
                return error_set(error, KT_ERROR_USAGE, "'%s' is no address of a server, nor none", text);
        add(&request->servers, ip_address_format(&address));
        return true;
}

/* podman's rule: labels of letters, digits and, inside, '-'; a letter somewhere; at most one dot at the end. */
static bool is_domain(const char *text) {
        g_autofree char *domain = g_strndup(text, strlen(text) - g_str_has_suffix(text, "."));
        g_auto(GStrv) labels = g_strsplit(domain, ".", -1);
        bool has_letter = false;

        for (const char *c = domain; *c; c++)
                has_letter |= g_ascii_isalpha(*c);
        for (char **label = labels; *label; label++)
                if (!name_is_made_of(*label, "-") || (*label)[0] == '-' || g_str_has_suffix(*label, "-"))
                        return false;
        return has_letter && strlen(domain) < 255;
}

static bool add_search(DnsRequest *request, const char *text, GError **error) {
        if (!g_str_equal(text, ".") && !is_domain(text))
                return error_set(error, KT_ERROR_USAGE,
                                 "'%s' is no domain: letters, digits, '-' and '.'; or '.' alone for none", text);
        add(&request->searches, g_strdup(text));
        return true;
}

/* Another line could be another setting. What the resolver does not know it skips. */
static bool add_option(DnsRequest *request, const char *text, GError **error) {
        for (const char *c = text; *c; c++)
                if (g_ascii_iscntrl(*c) || *c == '#')
                        return error_set(
                                error, KT_ERROR_USAGE,
                                "a control character or '#' is in it, which no option of resolv.conf(5) has");
        add(&request->options, g_strdup(text));
        return true;
}

static bool add_each(DnsRequest *request, const char *value,
                     bool (*add_one)(DnsRequest *request, const char *text, GError **error), GError **error) {
        g_auto(GStrv) parts = g_strsplit(value, ",", -1);

        for (char **part = parts; *part; part++)
                if (**part && !add_one(request, *part, error))
                        return false;
        return true;
}

bool dns_request_add_servers(const char *value, DnsRequest *request, GError **error) {
        return add_each(request, value, add_server, error);
}

bool dns_request_add_searches(const char *value, DnsRequest *request, GError **error) {
        return add_each(request, value, add_search, error);
}

bool dns_request_add_options(const char *value, DnsRequest *request, GError **error) {
        return add_each(request, value, add_option, error);
}

bool dns_request_is_empty(const DnsRequest *request) {
        return !request->servers && !request->searches && !request->options && !request->of_image;
}

bool dns_request_check(const DnsRequest *request, NetworkMode network, const char **ret_option, GError **error) {
        GPtrArray *searches = request->searches;

        *ret_option = request->of_image || request->servers ? "dns" : searches ? "dns-search" : "dns-option";
        if (network == NETWORK_NONE && !dns_request_is_empty(request))
                return error_set(
                        error, KT_ERROR_USAGE,
                        "with Network=none nobody can be asked, and /etc/resolv.conf is the image's, as with "
                        "Podman: remove it");
        if (request->of_image && (request->servers || searches || request->options))
                return error_set(error, KT_ERROR_USAGE,
                                 "DNS=none leaves /etc/resolv.conf to the image: remove it, or the others");
        *ret_option = "dns-search";
        if (searches && searches->len > 1 && g_ptr_array_find_with_equal_func(searches, ".", g_str_equal, NULL))
                return error_set(error, KT_ERROR_USAGE,
                                 "DNSSearch=. means that no domain is searched: remove the others");
        return true;
}

void dns_request_clear(DnsRequest *request) {
        g_clear_pointer(&request->servers, g_ptr_array_unref);
        g_clear_pointer(&request->searches, g_ptr_array_unref);
        g_clear_pointer(&request->options, g_ptr_array_unref);
        request->of_image = false;
}
