/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "keyturn-config.h"
#include "libstart/base/exit-codes.h"
#include "libstart/base/log.h"
#include "libstart/base/printable.h"
#include "libstart/base/program.h"

const Program *program_called(const Program *programs, size_t n, const char *name) {
        const char *slash = name ? strrchr(name, '/') : NULL;

        for (size_t i = 0; name && i < n; i++)
                if (strcmp(programs[i].name, slash ? slash + 1 : name) == 0)
                        return programs + i;
        return programs;
}

void program_flush(void) {
        g_autoptr(GError) error = NULL;

        if (printable_flush(&error))
                return;
        log_error("%s", error->message);
        _exit(EXIT_KEYTURN);
}

bool program_says_version(const char *name, int argc, char *argv[]) {
        if (argc != 2 || strcmp(argv[1], "--version") != 0)
                return false;
        printf("%s " KEYTURN_VERSION "\n", name);
        program_flush();
        return true;
}
