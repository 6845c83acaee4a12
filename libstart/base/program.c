/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/program.h"

const Program *program_called(const Program *programs, size_t n, const char *name) {
        const char *slash = name ? strrchr(name, '/') : NULL;

        for (size_t i = 0; name && i < n; i++)
                if (strcmp(programs[i].name, slash ? slash + 1 : name) == 0)
                        return programs + i;
        return programs;
}
