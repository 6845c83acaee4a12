/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/volume/volume-users.h"
#include "libstart/volume/volume-witness.h"

#define MESSAGE_MAX 8192

/* Of the process outside; there is one at most. */
static int witness = -1;

/* Both are one process's, before and after it has entered another namespace: the ids of files are the same. */
typedef struct Question {
        dev_t device;
        ino_t inode;
        char text[]; /* the volume's name and the path of its directory, each with a 0 behind */
} Question;

static bool is_whole(const Question *question, ssize_t length) {
        const char *end = (const char *) question + length, *second;

        if (length <= (ssize_t) sizeof *question || end[-1] != '\0')
                return false;
        second = question->text + strlen(question->text) + 1;
        return second < end && second + strlen(second) + 1 == end;
}

/* "0": nobody. "1" or "2" and a text: who, or an error. Transfer full. */
static char *answer(const Question *question) {
        const char *name = question->text, *path = name + strlen(name) + 1;
        _cleanup_close_ int volume = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        g_autoptr(GError) error = NULL;
        g_autofree char *user = NULL;
        struct stat st;

        if (volume < 0 || fstat(volume, &st) < 0 || st.st_dev != question->device || st.st_ino != question->inode)
                return g_strdup_printf("2'%s' is another directory outside of keyturn-view.service", path);
        user = volume_find_user(volume, name, &error);
        return error ? g_strconcat("2", error->message, NULL) : user ? g_strconcat("1", user, NULL) : g_strdup("0");
}

G_NORETURN static void serve(int socket) {
        _Alignas(Question) char buffer[MESSAGE_MAX];
        ssize_t length = recv(socket, buffer, sizeof buffer, 0);
        g_autofree char *said = is_whole((const Question *) buffer, length) ? answer((const Question *) buffer) :
                                                                              NULL;

        if (said)
                (void) send(socket, said, MIN(strlen(said), MESSAGE_MAX - 1), MSG_NOSIGNAL);
        _exit(EXIT_SUCCESS);
}

bool volume_witness_start(GError **error) {
        int sockets[2];
        pid_t child;

        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) < 0)
                return error_set_errno(error, errno, "Cannot make a socket");
        child = fork();
        if (child == 0) {
                close(sockets[0]);
                serve(sockets[1]);
        }
        close(sockets[1]);
        witness = sockets[0];
        return child > 0 || error_set_errno(error, errno, "Cannot make a process");
}

static bool ask(int volume, const char *name, GError **error) {
        g_autofree char *link = g_strdup_printf("/proc/self/fd/%d", volume), *path = g_file_read_link(link, error);
        g_autoptr(GByteArray) question = g_byte_array_new();
        Question head = { 0 };
        struct stat st;

        if (!path)
                return false;
        if (fstat(volume, &st) < 0)
                return error_set_errno(error, errno, "Cannot look at '%s'", path);
        head.device = st.st_dev;
        head.inode = st.st_ino;
        g_byte_array_append(question, (const guint8 *) &head, sizeof head);
        g_byte_array_append(question, (const guint8 *) name, (guint) strlen(name) + 1);
        g_byte_array_append(question, (const guint8 *) path, (guint) strlen(path) + 1);
        return send(witness, question->data, question->len, MSG_NOSIGNAL) == (ssize_t) question->len ||
               error_set_errno(error, errno, "Nobody can be asked who has the volume '%s'", name);
}

char *volume_witness_ask(int volume, const char *name, GError **error) {
        char said[MESSAGE_MAX] = "";
        ssize_t length;

        if (!ask(volume, name, error))
                return NULL;
        length = recv(witness, said, sizeof said - 1, 0);
        if (length == 1 && said[0] == '0')
                return NULL;
        if (length > 1 && said[0] == '1')
                return g_strdup(said + 1);
        return error_null(error, KT_ERROR_FAILED, "%s",
                          length > 1 ? said + 1 : "It cannot be found out who has the volume");
}
