/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>
#include <string.h>

#include "libstart/base/log.h"
#include "libstart/base/refusal.h"

void refusal_log(const char *path) {
        static const char mark[] = "# " REFUSAL_MARK;
        g_autoptr(GError) error = NULL;
        g_autofree char *text = NULL;

        if (!g_file_get_contents(path, &text, NULL, &error)) {
                log_error("The file of this service was refused, see journalctl -b -t keyturn-generator (%s)",
                          error->message);
                return;
        }
        g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
        for (char **line = lines; g_str_has_prefix(*line, "#"); line++)
                if (g_str_has_prefix(*line, mark))
                        log_error("%s", *line + strlen(mark));
}
