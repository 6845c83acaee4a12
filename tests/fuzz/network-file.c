/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/network/definition.h"
#include "tests/fuzz/fuzz.h"

static void check_subnet(const NetworkSubnet *subnet, bool shared) {
        require(ip_prefix_contains(&subnet->prefix, &subnet->ours.first) &&
                        ip_prefix_contains(&subnet->prefix, &subnet->ours.last),
                "addresses of another subnet");
        require(ip_address_compare(&subnet->ours.first, &subnet->ours.last) <= 0,
                "a range that ends before it begins");
        require(!shared || (!address_range_contains(&subnet->range, &subnet->ours.first) &&
                            !address_range_contains(&subnet->ours, &subnet->range.first)),
                "Podman's addresses are keyturn's, too");
}

/* What is written is read again, and is the same. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        g_autofree char *text = fuzz_text(data, size), *written = NULL, *again_written = NULL;
        g_autoptr(GError) error = NULL;
        g_autoptr(NetworkDefinition) definition = network_definition_parse(text, strlen(text), "web", &error),
                                     again = NULL;

        require_error(definition, error, text);
        if (!definition)
                return 0;
        (void) network_definition_share(definition);
        for (guint i = 0; i < definition->subnets->len; i++)
                check_subnet(&g_array_index(definition->subnets, NetworkSubnet, i), definition->shared);
        written = network_definition_format(definition);
        again = network_definition_parse(written, strlen(written), "web", NULL);
        require(again, "what was written cannot be read: %s", written);
        again_written = network_definition_format(again);
        require(g_str_equal(written, again_written), "'%s' became '%s'", written, again_written);
        return 0;
}
