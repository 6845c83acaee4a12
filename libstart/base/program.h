/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* keyturn's programs are two files (programs/), in which each is a main function with a name. Links have these names,
 * and which program is meant says the name that the file is called by. */
typedef int ProgramMain(int argc, char *argv[]);

typedef struct Program {
        const char *name;
        ProgramMain *main;
} Program;

/* The one that argv[0] names, whatever directory is before it. The first one if none is: whoever copies or links the
 * file under a name of his own wants that. */
const Program *program_called(const Program *programs, size_t n, const char *name);

/* Where its only argument is --version: prints it, and returns true. */
bool program_says_version(const char *name, int argc, char *argv[]);

/* Writes what has been printed, and ends the program with EXIT_KEYTURN where that fails. Not by atexit(3) in a start,
 * which would read its page for that. */
void program_flush(void);

/* In the folders that the programs are named after. */
extern ProgramMain keyturn_cdi_main;
extern ProgramMain keyturn_generator_main;
extern ProgramMain keyturn_hooks_main;
extern ProgramMain keyturn_image_main;
extern ProgramMain keyturn_kube_main;
extern ProgramMain keyturn_network_main;
extern ProgramMain keyturn_relay_main;
extern ProgramMain keyturn_verify_main;
extern ProgramMain keyturnctl_main;
extern ProgramMain libstart_main;
extern ProgramMain seccomp_precompile_main;
