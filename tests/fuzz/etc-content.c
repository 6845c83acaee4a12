/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/root/etc-content.h"
#include "tests/fuzz/fuzz.h"

/* Each line has at least two words, and no comment. */
static void check_lines(const char *text, const char *comment) {
        g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

        require(!*text || g_str_has_suffix(text, "\n"), "the last line has no end: '%s'", text);
        for (char **line = lines; *line && **line; line++)
                require(strpbrk(*line, " \t") && !strpbrk(*line, comment), "the line '%s'", *line);
}

/* The host's hosts and resolv.conf. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        g_auto(GStrv) parts = fuzz_parts(data, size, 2);
        g_autofree char *hosts = etc_hosts("192.0.2.1\tadded\n", parts[0], "127.0.0.1\tbox camera\n");
        g_autofree char *shared = etc_hosts(NULL, parts[0], NULL);
        const DnsRequest unasked = { 0 };
        g_autofree char *resolv_conf = etc_resolv_conf(parts[1], &unasked, NULL);

        check_lines(hosts, "#");
        check_lines(shared, "#");
        check_lines(resolv_conf, "#");
        require(g_str_has_prefix(hosts, "192.0.2.1\tadded\n"), "the added entry is not the first: '%s'", hosts);
        require(strstr(hosts, "box"), "it does not find itself");
        return 0;
}
