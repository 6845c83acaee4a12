/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <sys/stat.h>

/* The tree that is looked at: the machine's own, or one below a directory (--root). Paths are absolute and
 * mean the same in both; links in a foreign tree never lead out of it. */
typedef struct Tree {
        int fd;
        bool is_foreign;
} Tree;

bool tree_open(Tree *tree, const char *directory, GError **error); /* NULL: the machine's own */
void tree_close(Tree *tree);

/* open(2) for reading; -1 with errno set on failure. */
int tree_open_path(const Tree *tree, const char *path, int flags);

/* The same for `name` in the directory that `directory_fd` and `directory` both stand for: cheaper where no
 * link can lead out of the tree. */
int tree_open_at(const Tree *tree, int directory_fd, const char *directory, const char *name, bool is_link,
                 int flags);

/* Who but the owner may read something: bits of mode 0044. What is made of files that hold secrets must not
 * have more readers than they have. */
#define READERS_ALL ((mode_t) 0044)
#define READERS_NONE ((mode_t) 0)

/* Of what is in a directory of that mode. */
static inline mode_t readers_below(mode_t directory_mode) {
        return (directory_mode & 0011) << 2;
}

/* Read a whole regular file. *ret_text is terminated; transfer full. KT_ERROR_NOT_FOUND where there is none.
 * The file is masked (a link to /dev/null, or empty) where *ret_length is 0. Those who may not read it are
 * taken from *readers; NULL: nobody asks. */
bool tree_read(int fd, char **ret_text, size_t *ret_length, mode_t *readers, GError **error);

/* Is `name` in that directory a link to /dev/null? Looked at as text: a foreign tree need not have one. */
bool tree_is_null_link(int directory_fd, const char *name);
