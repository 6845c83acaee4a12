/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libstart/ctl/container/commands.h"
#include "tests/unit/base/expect-error.h"
#include "tests/unit/own-tree.h"

/* What a command of keyturnctl prints, of containers that systemd would have told of. */

typedef int Command(const GPtrArray *all, const Options *options, char **words, GError **error);

/* No option is given. */
static const Options plain = { 0 };

/* A directory of each test's own, for what a start leaves. */
static char *work;

static inline void make_work(void) {
        work = g_dir_make_tmp("keyturnctl-XXXXXX", NULL);
        ck_assert_ptr_nonnull(work);
}

static inline void remove_work(void) {
        own_tree_remove(work);
}

static inline void write_file(const char *name, const char *text) {
        own_tree_put(work, name, text);
}

/* containers.conf is one in which a key of a section leads to `place` in the directory. */
static inline void set_conf(const char *section, const char *key, const char *place) {
        g_autofree char *path = g_build_filename(work, "containers.conf", NULL),
                        *text = g_strdup_printf("[%s]\n%s = \"%s/%s\"\n", section, key, work, place);

        write_file("containers.conf", text);
        ck_assert_int_eq(setenv("CONTAINERS_CONF", path, 1), 0);
}

/* One that does not run. words: of `libstart run`, one behind each "|". */
static inline ContainerUnit *add_container(GPtrArray *all, const char *unit, const char *words) {
        ContainerUnit *container = g_new0(ContainerUnit, 1);
        g_auto(GStrv) split = g_strsplit(words, "|", -1);

        container->unit = g_strdup(unit);
        container->args = launch_args_parse((const char *const *) split, NULL);
        ck_assert_ptr_nonnull(container->args);
        container->active = g_strdup("inactive");
        container->state = g_strdup("inactive (dead)");
        container->cgroup = g_strdup("");
        container->source = g_strdup("/etc/containers/systemd/a.container");
        g_ptr_array_add(all, container);
        return container;
}

/* One that runs as the configuration says: as a process that has just ended, so that this one's network is not looked
 * at. */
static inline ContainerUnit *add_running(GPtrArray *all, const char *unit, const char *name, const char *config) {
        g_autofree char *words = g_strdup_printf("--name=%s|--state-dir=%s|localhost/i", name, work);
        g_autofree char *status = g_strdup_printf("%s/status", name), *file = g_strdup_printf("%s/config.json", name);
        ContainerUnit *container = add_container(all, unit, words);

        g_free(container->active);
        container->active = g_strdup("active");
        container->pid = G_MAXINT32;
        write_file(status, "{}");
        write_file(file, config);
        return container;
}

static inline GPtrArray *new_containers(void) {
        return g_ptr_array_new_with_free_func((GDestroyNotify) container_unit_free);
}

/* Transfer full. */
static inline char *print_command(Command *command, const GPtrArray *all, const Options *options, char **words,
                                  int status) {
        static char *none[] = { NULL };
        int file = memfd_create("printed", MFD_CLOEXEC), own = dup(STDOUT_FILENO);
        g_autoptr(GError) error = NULL;
        struct stat st;
        char *text;

        fflush(stdout);
        ck_assert_int_ge(dup2(file, STDOUT_FILENO), 0);
        ck_assert_int_eq(command(all, options, words ?: none, &error), status);
        fflush(stdout);
        ck_assert_int_ge(dup2(own, STDOUT_FILENO), 0);
        ck_assert_ptr_null(error);
        ck_assert_int_eq(fstat(file, &st), 0);
        text = g_malloc0((gsize) st.st_size + 1);
        ck_assert_int_eq(pread(file, text, (size_t) st.st_size, 0), st.st_size);
        close(file);
        close(own);
        return text;
}

/* JSON without its blanks and line breaks, also those in strings. Transfer full. */
static inline char *print_dense(Command *command, const GPtrArray *all, char **words, int status) {
        static const Options json = { .json = TRUE };
        g_autofree char *text = print_command(command, all, &json, words, status);
        g_auto(GStrv) parts = g_strsplit_set(text, " \n", -1);

        return g_strjoinv("", parts);
}
