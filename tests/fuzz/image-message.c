/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/root/image-message.h"
#include "tests/fuzz/fuzz.h"

/* Whoever has become the user may have been taken over by her, and say what it likes. What is taken is what would
 * have been written. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        g_auto(ImageMessage) message = { 0 };
        g_autoptr(GError) error = NULL;
        bool ok = image_message_read((const char *) data, size, &message, &error);

        require_error(ok, error, "");
        if (!ok) {
                require(!message.id && !message.config && !message.health, "something is left of what was refused");
                return 0;
        }
        require(message.id && strlen(message.id) == 64, "'%s' is no id", message.id);
        require(!message.config->working_dir || message.config->working_dir[0] == '/', "'%s' is not absolute",
                message.config->working_dir);
        for (char **volume = message.config->volumes; volume && *volume; volume++)
                require_clean(*volume);
        if (message.config->volumes)
                require_unique(message.config->volumes);

        g_autoptr(GString) again = image_message_write(message.id, message.config, message.health);
        g_auto(ImageMessage) same = { 0 };
        require(image_message_read(again->str, again->len, &same, NULL), "what is written is not read");
        require(g_strcmp0(same.config->user, message.config->user) == 0, "another user");
        require(!same.health == !message.health, "another health check");
        return 0;
}
