/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/request/dns-request.h"
#include "tests/unit/base/parse-tests.h"

/* "s" servers, "d" domains, "o" options, "n" no network, each with a value; separated by blanks, as none has one. All
 * were tried with Podman 5.4.2, which takes and refuses the same. */
static const GoodValue good[] = {
        { "s1.1.1.1", "[1.1.1.1]" },
        { "s1.1.1.1,2001:DB8::1 s1.1.1.1", "[1.1.1.1][2001:db8::1][1.1.1.1]" },
        { "s::ffff:1.2.3.4", "[1.2.3.4]" },
        { "snone", "none" },
        { "s", "" },
        { "da.b-c,d d", "[a.b-c][d]" },
        { "dexample.com.", "[example.com.]" },
        { "d.", "[.]" },
        { "ondots:5,rotate oq", "[ndots:5][rotate][q]" },
        { "n", "" },
};

static const BadValue bad[] = {
        { "sbad", KT_ERROR_USAGE, "'bad' is no address of a server" },
        { "s1.1.1.1,bad", KT_ERROR_USAGE, "'bad' is no address of a server" },
        { "s010.1.1.1", KT_ERROR_USAGE, "'010.1.1.1' is no address" },
        { "sfe80::1%eth0", KT_ERROR_USAGE, "'fe80::1%eth0' is no address" },
        { "sNONE", KT_ERROR_USAGE, "'NONE' is no address" },
        { "da_b", KT_ERROR_USAGE, "'a_b' is no domain" },
        { "d123", KT_ERROR_USAGE, "'123' is no domain" },
        { "d-a", KT_ERROR_USAGE, "'-a' is no domain" },
        { "da-.b", KT_ERROR_USAGE, "'a-.b' is no domain" },
        { "dx..y", KT_ERROR_USAGE, "'x..y' is no domain" },
        { "dx..", KT_ERROR_USAGE, "'x..' is no domain" },
        { "dx\nnameserver", KT_ERROR_USAGE, "is no domain" },
        { "ox\nnameserver", KT_ERROR_USAGE, "a control character" },
        { "ox#y", KT_ERROR_USAGE, "'#' is in it" },
        { "d. dx", KT_ERROR_USAGE, "no domain is searched" },
        { "dx,.", KT_ERROR_USAGE, "no domain is searched" },
        { "snone s1.1.1.1", KT_ERROR_USAGE, "DNS=none leaves" },
        { "snone dx", KT_ERROR_USAGE, "DNS=none leaves" },
        { "snone ox", KT_ERROR_USAGE, "DNS=none leaves" },
        { "s1.1.1.1 n", KT_ERROR_USAGE, "with Network=none" },
        { "snone n", KT_ERROR_USAGE, "with Network=none" },
        { "ox n", KT_ERROR_USAGE, "with Network=none" },
};

static bool add(DnsRequest *request, NetworkMode *network, const char *word, GError **error) {
        switch (word[0]) {
        case 's':
                return dns_request_add_servers(word + 1, request, error);
        case 'd':
                return dns_request_add_searches(word + 1, request, error);
        case 'o':
                return dns_request_add_options(word + 1, request, error);
        default:
                *network = NETWORK_NONE;
                return true;
        }
}

static void print(GString *text, const GPtrArray *list) {
        for (guint i = 0; list && i < list->len; i++)
                g_string_append_printf(text, "[%s]", (const char *) list->pdata[i]);
}

static char *parse(const char *value, GError **error) {
        g_auto(GStrv) words = g_strsplit(value, " ", -1);
        g_auto(DnsRequest) request = { 0 };
        NetworkMode network = NETWORK_HOST;
        const char *option;
        GString *text;

        for (char **word = words; *word; word++)
                if (!add(&request, &network, *word, error))
                        return NULL;
        if (!dns_request_check(&request, network, &option, error))
                return NULL;
        text = g_string_new(request.of_image ? "none" : NULL);
        print(text, request.servers);
        print(text, request.searches);
        print(text, request.options);
        return g_string_free(text, FALSE);
}

PARSE_TESTS(parse)

TEST_MAIN("dns-request", {
        tcase_add_loop_test(tcase, test_good, 0, G_N_ELEMENTS(good));
        tcase_add_loop_test(tcase, test_bad, 0, G_N_ELEMENTS(bad));
})
