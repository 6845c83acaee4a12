/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/request/label-option.h"

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#define NAME LETTERS "0123456789_.-"
#define LEVEL NAME ":,"

static const struct {
        const char *name;
        size_t offset;
        const char *characters;
        const char *example;
} parts[] = {
        { "user", offsetof(LabelRequest, user), NAME, "system_u" },
        { "role", offsetof(LabelRequest, role), NAME, "system_r" },
        { "type", offsetof(LabelRequest, type), NAME, "container_t" },
        { "level", offsetof(LabelRequest, level), LEVEL, "s0:c100,c200" },
        { "filetype", offsetof(LabelRequest, file_type), NAME, "container_file_t" },
};

static char **part(const LabelRequest *request, size_t i) {
        return (char **) (void *) ((char *) request + parts[i].offset);
}

void label_request_clear(LabelRequest *request) {
        for (size_t i = 0; i < G_N_ELEMENTS(parts); i++)
                g_clear_pointer(part(request, i), g_free);
}

bool label_request_has_parts(const LabelRequest *request) {
        for (size_t i = 0; i < G_N_ELEMENTS(parts); i++)
                if (*part(request, i))
                        return true;
        return false;
}

static bool set_part(LabelRequest *request, size_t i, const char *value, GError **error) {
        if (!*value || value[strspn(value, parts[i].characters)])
                return error_set(error, KT_ERROR_USAGE, "'%s' is no SELinux %s, such as %s", value, parts[i].name,
                                 parts[i].example);
        g_free(*part(request, i));
        *part(request, i) = g_strdup(value);
        return true;
}

bool label_option_parse(const char *value, LabelRequest *request, GError **error) {
        const char *colon = strchr(value, ':');

        if (g_str_equal(value, "disable"))
                return request->disable = true;
        if (g_str_equal(value, "nested"))
                return request->nested = true;
        for (size_t i = 0; colon && i < G_N_ELEMENTS(parts); i++)
                if (strlen(parts[i].name) == (size_t) (colon - value) && g_str_has_prefix(value, parts[i].name))
                        return set_part(request, i, colon + 1, error);
        return error_set(error, KT_ERROR_USAGE,
                         "'label=%s' is no label option: there are disable, nested, type:TYPE, level:LEVEL, "
                         "filetype:TYPE, user:USER and role:ROLE",
                         value);
}
