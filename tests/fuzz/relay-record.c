/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/relay-client/record.h"
#include "tests/fuzz/fuzz.h"

/* What is believed can be written, is read as the same, and always has the same length. */
static void check_format(const RelayRecord *record) {
        g_auto(RelayRecord) again = { 0 };
        g_autoptr(GError) error = NULL;
        g_autofree char *text = relay_record_format(record, &error);

        require(text, "%s", error->message);
        require(relay_record_parse(text, &again, &error), "%s", error->message);
        g_autofree char *text_again = relay_record_format(&again, NULL);
        require(g_strcmp0(text, text_again) == 0, "'%s' became '%s'", text, text_again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        g_autofree char *text = fuzz_text(data, size);
        g_auto(RelayRecord) record = { 0 };
        g_autoptr(GError) error = NULL;
        bool ok = relay_record_parse(text, &record, &error);

        require_error(ok, error, text);
        if (!ok)
                return 0;
        require(record.payload > 0 && record.roles < 1U << RELAY_ROLES, "payload %d, roles %u", (int) record.payload,
                record.roles);
        check_format(&record);
        return 0;
}
