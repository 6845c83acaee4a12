/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>
#include <signal.h>
#include <stdlib.h>

#include "libstart/base/program.h"

static const Program programs[] = {
        { "keyturnctl", keyturnctl_main },         { "keyturn-cdi", keyturn_cdi_main },
        { "keyturn-image", keyturn_image_main },   { "keyturn-kube", keyturn_kube_main },
        { "keyturn-verify", keyturn_verify_main },
};

int main(int argc, char *argv[]) {
        signal(SIGCHLD, SIG_DFL); /* whoever calls may ignore it, and no child could be waited for */
        (void) atexit(program_flush);
        return program_called(programs, G_N_ELEMENTS(programs), argv[0])->main(argc, argv);
}
