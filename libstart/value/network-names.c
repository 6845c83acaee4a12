/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/value/network-names.h"

/* The line's next word; *rest is what follows. */
static char *take_word(char **rest) {
        char *word = *rest + strspn(*rest, " ");
        size_t length = strcspn(word, " ");

        *rest = word + length;
        if (**rest)
                *(*rest)++ = '\0';
        return word;
}

static void read_line(NetworkNames *names, char *line) {
        const char *word = take_word(&line);
        char *value = take_word(&line);

        if (!value[0])
                return;
        if (g_str_equal(word, "host")) {
                g_ptr_array_add(names->addresses, value);
                g_ptr_array_add(names->aliases, g_strstrip(line));
        } else if (g_str_equal(word, "nameserver"))
                g_ptr_array_add(names->servers, value);
        else if (g_str_equal(word, "search"))
                g_ptr_array_add(names->search, value);
        else if (g_str_equal(word, "gateway") && !names->gateway)
                names->gateway = value;
        else if (g_str_equal(word, "forwarder") && !names->forwarder)
                names->forwarder = value;
        else if (g_str_equal(word, "id") && !names->id)
                names->id = value;
}

void network_names_parse(const char *text, NetworkNames *ret) {
        *ret = (NetworkNames) {
                .lines = g_strsplit(text, "\n", -1),
                .addresses = g_ptr_array_new(),
                .aliases = g_ptr_array_new(),
                .servers = g_ptr_array_new(),
                .search = g_ptr_array_new(),
        };
        for (char **line = ret->lines; *line; line++)
                read_line(ret, *line);
}

void network_names_clear(NetworkNames *names) {
        g_clear_pointer(&names->lines, g_strfreev);
        g_clear_pointer(&names->addresses, g_ptr_array_unref);
        g_clear_pointer(&names->aliases, g_ptr_array_unref);
        g_clear_pointer(&names->servers, g_ptr_array_unref);
        g_clear_pointer(&names->search, g_ptr_array_unref);
        names->gateway = names->id = names->forwarder = NULL;
}
