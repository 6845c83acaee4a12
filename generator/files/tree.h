/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <sys/stat.h>

/* The tree that files are read from: the machine's own, or one below a directory (--root). Paths are absolute and
 * mean the same in both; links in a foreign tree never lead out of it. */
typedef struct Tree {
        int fd;
        bool is_foreign;
} Tree;

bool tree_open(Tree *tree, const char *directory, GError **error); /* NULL: the machine's own */
void tree_close(Tree *tree);

/* open(2) for reading; -1 with errno set on failure. */
int tree_open_path(const Tree *tree, const char *path, int flags);

/* The same for `name` in a directory, which is given both open and as a path: this is cheaper where no link can lead
 * out of the tree. */
int tree_open_at(const Tree *tree, int directory_fd, const char *directory, const char *name, bool is_link,
                 int flags);

/* Where an open directory is in the tree, without links; `path` if the kernel does not tell. Transfer full. */
char *tree_find_directory(const Tree *tree, int fd, const char *path);

/* Who besides the owner may read something: bits of mode 0044. Files may hold secrets, so what is made of them must
 * not have more readers than they have. */
#define READERS_ALL ((mode_t) 0044)
#define READERS_NONE ((mode_t) 0)

/* Of what is in a directory of that mode. */
static inline mode_t readers_below(mode_t directory_mode) {
        return (directory_mode & 0011) << 2;
}

/* Read a whole regular file. *ret_text is terminated; transfer full. *ret_length is 0 where the file is masked
 * (/dev/null, or empty). Those who may not read the file are taken from *readers, which may be NULL. */
bool tree_read(int fd, char **ret_text, size_t *ret_length, mode_t *readers, GError **error);

/* The same for `name` in a directory, as tree_open_at(). A link to /dev/null is masked in a foreign tree, too. Errors
 * do not name the file. */
bool tree_read_at(const Tree *tree, int directory_fd, const char *directory, const char *name, bool is_link,
                  char **ret_text, size_t *ret_length, mode_t *readers, GError **error);

/* Is `name` in that directory a link to /dev/null? Only the text of the link counts: a foreign tree need not have
 * that file. */
bool tree_is_null_link(int directory_fd, const char *name);
