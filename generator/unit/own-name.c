/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "generator/unit/own-name.h"
#include "libstart/value/names.h"

void own_name_find(const char *service, OwnName *ret) {
        g_autofree char *stem = g_strndup(service, strlen(service) - strlen(".service"));

        ret->prefix = g_strndup(stem, strcspn(stem, "@"));
        ret->full = g_strconcat(stem, g_str_has_suffix(stem, "@") ? "%i" : "", NULL);
        ret->instance = g_strdup(strchr(ret->full, '@') ? strchr(ret->full, '@') + 1 : "");
}

void own_name_clear(OwnName *name) {
        g_free(name->full);
        g_free(name->prefix);
        g_free(name->instance);
}

bool own_name_has_instance(const OwnName *own) {
        return strchr(own->full, '@');
}

/* What a specifier of the service's name stands for; NULL for others, which are the same in both units. Of an
 * instance that is known, %I is that with '/' for '-'. Transfer full. */
static char *find_own(char letter, const OwnName *own) {
        const char *dash = strrchr(own->prefix, '-');

        switch (letter) {
        case 'N':
                return g_strdup(own->full);
        case 'n':
                return g_strconcat(own->full, ".service", NULL);
        case 'p':
                return g_strdup(own->prefix);
        case 'j':
                return g_strdup(dash ? dash + 1 : own->prefix);
        case 'i':
                return g_strdup(own->instance);
        case 'I':
                return g_str_equal(own->instance, "%i") ? NULL : g_strdelimit(g_strdup(own->instance), "-", '/');
        default:
                return NULL;
        }
}

char *own_name_replace(const char *text, const OwnName *own) {
        GString *result = g_string_new(NULL);

        for (const char *c = text; *c; c++) {
                g_autofree char *found = *c == '%' ? find_own(c[1], own) : NULL;

                if (found)
                        g_string_append(result, found);
                else
                        g_string_append_len(result, c, *c == '%' && c[1] ? 2 : 1);
                c += *c == '%' && c[1];
        }
        return g_string_free(result, FALSE);
}

char *own_name_replace_of(const char *service, const char *text) {
        g_auto(OwnName) own = { 0 };

        own_name_find(service, &own);
        return own_name_replace(text, &own);
}

char *own_name_unit(const OwnName *own, const char *kind) {
        return name_ahead_unit(kind, own->full);
}

char *own_name_file(const OwnName *own, const char *kind, const char *dropin) {
        g_autofree char *unit = own_name_unit(own, kind);

        return own_name_has_instance(own) ? g_strdup_printf("keyturn-%s-%s@%s.service", kind, own->prefix,
                                                            g_str_equal(own->instance, "%i") ? "" : own->instance) :
                                            g_strdup_printf("%s.d/%s", unit, dropin);
}
