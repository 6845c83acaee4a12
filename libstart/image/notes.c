/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "libstart/base/directory.h"
#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/log.h"
#include "libstart/base/paths.h"
#include "libstart/base/state-format.h"
#include "libstart/image/notes.h"

/* Three lines with 64 digits, a time and a word or two: less than a sector, which is written whole or not at all. */
#define SIZE_MAX_NOTES 255
#define KEEP "keep=1"
#define KNOWN "known=1"

static bool read_text(int lock, char text[static SIZE_MAX_NOTES + 1], GError **error) {
        ssize_t n = fd_read_begin(lock, text, SIZE_MAX_NOTES);

        text[MAX(n, 0)] = '\0';
        return n >= 0 || error_set_errno(error, errno, "Cannot read what is known of an image");
}

char *image_path(const char *directory, const char *name) {
        g_autofree char *hash = g_compute_checksum_for_string(G_CHECKSUM_SHA256, name, -1);

        return g_build_filename(directory, hash, NULL);
}

/* Whoever has it is waited for, for as long as its own deadlines allow. */
static bool wait_for_lock(int fd, const char *name) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0)
                return true;
        if (errno == EWOULDBLOCK)
                log_info("Waiting for another process, which has the lock of '%s'", name);
        return flock(fd, LOCK_EX) == 0;
}

static bool check_format(int fd, const char *path, GError **error) {
        char text[SIZE_MAX_NOTES + 1];

        return read_text(fd, text, error) && state_format_check(path, text, error);
}

int image_lock(const char *name, GError **error) {
        g_autofree char *path = image_path(PATH_IMAGES, name);
        _cleanup_close_ int fd = -1;

        if (!directory_make_kept(PATH_IMAGES, 0700, error))
                return -1;
        /* Who may open the file may lock it. */
        if ((fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600)) < 0 || !wait_for_lock(fd, name))
                return error_negative_errno(error, errno, "Cannot lock '%s'", path);
        return check_format(fd, path, error) ? fd_steal(&fd) : -1;
}

void image_notes_clear(ImageNotes *notes) {
        g_clear_pointer(&notes->rejected, g_free);
        g_clear_pointer(&notes->previous, g_free);
        g_clear_pointer(&notes->bad, g_free);
}

/* NAME=VALUE lines. */
bool image_notes_read(int lock, ImageNotes *ret, GError **error) {
        char text[SIZE_MAX_NOTES + 1];
        g_auto(GStrv) lines = NULL;
        struct stat st;

        if (!read_text(lock, text, error))
                return false;
        if (fstat(lock, &st) == 0)
                ret->since = st.st_mtim.tv_sec * G_USEC_PER_SEC + st.st_mtim.tv_nsec / 1000;
        lines = g_strsplit(text, "\n", -1);
        for (char **line = lines; *line; line++) {
                if (g_str_has_prefix(*line, "rejected=sha256:"))
                        ret->rejected = g_strdup(strchr(*line, '=') + 1);
                else if (g_str_has_prefix(*line, "previous="))
                        ret->previous = g_strdup(strchr(*line, '=') + 1);
                else if (g_str_has_prefix(*line, "bad="))
                        ret->bad = g_strdup(strchr(*line, '=') + 1);
                else if (g_str_has_prefix(*line, "since="))
                        ret->since = g_ascii_strtoll(strchr(*line, '=') + 1, NULL, 10);
                else if (g_str_equal(*line, KEEP))
                        ret->keep = true;
                else if (g_str_equal(*line, KNOWN))
                        ret->known = true;
        }
        return true;
}

/* Always as long, over what was there: between cutting a file and filling it there is a moment without notes. */
bool image_notes_write(int lock, const ImageNotes *notes, GError **error) {
        g_autoptr(GString) text = g_string_new(NULL);

        if (notes->rejected)
                g_string_append_printf(text, "rejected=%s\n", notes->rejected);
        if (notes->previous)
                g_string_append_printf(text, "previous=%s\n", notes->previous);
        if (notes->bad)
                g_string_append_printf(text, "bad=%s\n", notes->bad);
        if (notes->bad && notes->since > 0)
                g_string_append_printf(text, "since=%" G_GINT64_FORMAT "\n", notes->since);
        if (notes->keep)
                g_string_append(text, KEEP "\n");
        if (notes->known)
                g_string_append(text, KNOWN "\n");
        while (text->len < SIZE_MAX_NOTES)
                g_string_append_c(text, '\n');
        return (lseek(lock, 0, SEEK_SET) == 0 && fd_write_all(lock, text->str, text->len) && fdatasync(lock) == 0) ||
               error_set_errno(error, errno, "Cannot write down what is known of an image");
}

bool image_notes_lead_back(const char *file) {
        g_autofree char *path = g_build_filename(PATH_IMAGES, file, NULL);
        _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
        g_auto(ImageNotes) notes = { 0 };

        return fd < 0 ? errno != ENOENT : !image_notes_read(fd, &notes, NULL) || notes.previous;
}

bool image_notes_any_lead_back(void) {
        g_auto(GStrv) files = directory_list(PATH_IMAGES, NULL);
        bool found = !files;

        for (char **file = files; !found && *file; file++)
                found = image_notes_lead_back(*file);
        return found;
}

/* Of an image that was not judged nothing is known; not where somebody is at work. */
static bool forget_way_back(const char *path, GError **error) {
        _cleanup_close_ int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
        g_auto(ImageNotes) notes = { 0 };
        ImageNotes kept = { 0 };

        if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0 || !check_format(fd, path, NULL) ||
            !image_notes_read(fd, &notes, NULL) || !notes.previous)
                return true;
        kept.rejected = notes.bad || notes.known ? notes.rejected : NULL;
        return image_notes_write(fd, &kept, error);
}

void image_notes_forget_others(GHashTable *paths) {
        g_auto(GStrv) files = directory_list(PATH_IMAGES, NULL);

        for (char **file = files; file && *file; file++) {
                g_autofree char *path = g_build_filename(PATH_IMAGES, *file, NULL);
                g_autoptr(GError) error = NULL;

                if (!g_hash_table_contains(paths, path) && !forget_way_back(path, &error))
                        log_warning("'%s': %s", path, error->message);
        }
}
