/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>
#include <signal.h>

#include "libstart/base/own-program.h"
#include "libstart/base/program.h"

/* The first one is looked for first: it is what the time of a start is made of. */
static const Program programs[] = {
        { "libstart", libstart_main },
        { "keyturn-generator", keyturn_generator_main },
        { "keyturn-hooks", keyturn_hooks_main },
        { "keyturn-network", keyturn_network_main },
        { "keyturn-relay", keyturn_relay_main },
        { "seccomp-precompile", seccomp_precompile_main },
        { "keyturn-user-generator", keyturn_generator_main },
};

/* An image may call the file by any name. */
int main(int argc, char *argv[]) {
        const Program *program = program_called(programs, G_N_ELEMENTS(programs), argv[0]);

        signal(SIGCHLD, SIG_DFL); /* whoever calls may ignore it, and no child could be waited for */
        own_program_refuse_container(program == programs ? NULL : program->name);
        return program->main(argc, argv);
}
