/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <unistd.h>

#include "keyturn-config.h"
#include "libstart/base/error.h"
#include "libstart/ctl/commands.h"

#define VERIFY KEYTURN_LIBDIR "/keyturn-verify"

/* Of files, with no system running: what looks at them is not keyturnctl's. */
int command_check(const GPtrArray *all, const Options *options, char **words, GError **error) {
        g_autoptr(GPtrArray) argv = g_ptr_array_new();

        if (options->taken && (words[0] || options->files_only))
                return error_negative(error, KT_ERROR_USAGE,
                                      "--taken is of this machine: it takes neither files nor --files-only");
        g_ptr_array_add(argv, (void *) VERIFY);
        g_ptr_array_add(argv, (void *) (options->taken ? "--taken" : "--migrate"));
        if (options->files_only)
                g_ptr_array_add(argv, (void *) "--files-only");
        if (options->json)
                g_ptr_array_add(argv, (void *) "--json");
        g_ptr_array_add(argv, (void *) "--");
        for (; *words; words++)
                g_ptr_array_add(argv, *words);
        g_ptr_array_add(argv, NULL);
        execv(VERIFY, (char **) argv->pdata);
        return error_negative_errno(error, errno, "Cannot execute '%s'", VERIFY);
}
