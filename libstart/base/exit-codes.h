/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* libstart's exit status: the payload's own, or one of these (as `podman run`; man libstart(8), EXIT STATUS). */
enum {
        EXIT_KEYTURN = 125,        /* keyturn itself failed; the payload never ran */
        EXIT_NOT_EXECUTABLE = 126, /* the payload was found and cannot be executed */
        EXIT_NOT_FOUND = 127,      /* the payload was not found */
        EXIT_NO_IMAGE = 199,       /* what brings the image has failed, and starts this again when it has it */
};
