/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>
#include <string.h>

#include "libstart/value/runtime-kind.h"

RuntimeKind runtime_kind_find(const char *program) {
        static const struct {
                const char *name;
                RuntimeKind kind;
        } names[] = {
                { "crun", RUNTIME_CRUN },
                { "krun", RUNTIME_CRUN },
                { "runc", RUNTIME_RUNC },
                { "runsc", RUNTIME_RUNSC },
        };
        const char *slash = strrchr(program, '/'), *name = slash ? slash + 1 : program;

        for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
                size_t length = strlen(names[i].name);

                if (strncmp(name, names[i].name, length) == 0 && strchr("-._", name[length]))
                        return names[i].kind;
        }
        return RUNTIME_OTHER;
}
