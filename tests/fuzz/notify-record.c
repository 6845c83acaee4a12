/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/relay-client/record.h"
#include "tests/fuzz/fuzz.h"

/* What is believed can be written, and is read as the same. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        g_autofree char *text = fuzz_text(data, size), *first = NULL, *second = NULL;
        g_auto(NotifyRecord) record = { 0 }, again = { 0 };
        g_autoptr(GError) error = NULL;
        bool ok = notify_record_parse(text, &record, &error);

        require_error(ok, error, text);
        (void) notify_record_is(text);
        if (!ok)
                return 0;
        first = notify_record_format(&record, &error);
        require(first, "%s", error->message);
        require(notify_record_is(first) && notify_record_parse(first, &again, &error), "'%s' is not read", first);
        second = notify_record_format(&again, NULL);
        require(g_strcmp0(first, second) == 0, "'%s' became '%s'", first, second);
        return 0;
}
