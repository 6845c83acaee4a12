/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

/* Keeps the file of the running program from being written by way of /proc/PID/exe: executes the program once more,
 * from a read-only mount that is in no mount namespace. See own-program.c. Call it first in main(), with main()'s
 * argv.
 *
 * Returns when there is nothing (more) to do: the program is linked statically and enters no container that runs
 * (`enters`), it runs from such a mount already, or it lacks the right to make mounts, and so to make or enter
 * containers. Otherwise it does not return; if the program cannot be protected it says so and ends with EXIT_KEYTURN.
 */
void own_program_protect(char *const argv[], bool enters);

/* Does not return where the file that libstart is in is the payload of a container. Before anything else in main().
 * program: the one that is to be run, if another than libstart is: the build of a system's image may do so as its
 * first process, but only from where keyturn is installed. */
void own_program_refuse_container(const char *program);
