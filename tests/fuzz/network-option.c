/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/value/port-mapping.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/request/network-format.h"

/* Nothing in it that could begin a line, a word or a path where it is written. */
static void check_word(const char *word) {
        require(word[0] && word[0] != '.' && !word[strcspn(word, " \t\r\n,/")], "the word '%s'", word);
}

static void check_request(const NetworkRequest *request) {
        g_autoptr(GPtrArray) again = g_ptr_array_new_with_free_func((GDestroyNotify) network_request_free);
        g_autofree char *written = format_network(request), *same = NULL;

        if (request->name)
                check_word(request->name);
        if (request->interface_name)
                check_word(request->interface_name);
        require(network_request_parse(written, again, NULL) && again->len == 1, "'%s' cannot be read", written);
        same = format_network(again->pdata[0]);
        require(g_str_equal(written, same), "'%s' became '%s'", written, same);
}

static void fuzz_network(const char *text) {
        g_autoptr(GPtrArray) requests = g_ptr_array_new_with_free_func((GDestroyNotify) network_request_free);
        g_autoptr(GError) error = NULL;
        bool ok = network_request_parse(text, requests, &error);

        require_error(ok, error, text);
        for (guint i = 0; ok && i < requests->len; i++)
                check_request(requests->pdata[i]);
}

static void fuzz_port(const char *text) {
        g_autofree char *written = NULL, *same = NULL;
        g_autoptr(GError) error = NULL;
        PortMapping port, again;
        bool ok = port_mapping_parse(text, &port, &error);

        require_error(ok, error, text);
        if (!ok)
                return;
        require(port.range > 0 && port.container_port + port.range - 1 <= 65535 &&
                        port.host_port + port.range - 1 <= 65535,
                "ports from %u on: %u", port.host_port, port.range);
        written = port_mapping_format(&port);
        require(port_mapping_parse(written, &again, NULL), "'%s' cannot be read", written);
        same = port_mapping_format(&again);
        require(g_str_equal(written, same), "'%s' became '%s'", written, same);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        g_autofree char *text = fuzz_text(data, size);

        fuzz_network(text);
        fuzz_port(text);
        return 0;
}
