/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/relay/socket.h"
#include "libstart/run/systemd-call.h"

/* One call, as of the D-Bus specification ("Message Protocol", "Authentication Protocol"). */

#define ADDRESS "/run/systemd/private"
#define TIMEOUT_MSEC 5000
#define REPLY_MAX 65536

enum { METHOD_CALL = 1, METHOD_RETURN = 2, METHOD_ERROR = 3 };
enum { FIELD_PATH = 1, FIELD_INTERFACE = 2, FIELD_MEMBER = 3, FIELD_SIGNATURE = 8 };

#define HEADER_SIZE 16 /* with the length of the fields, which is its last number */
#define BODY_LENGTH_AT 4
#define SERIAL_AT 8
#define FIELDS_LENGTH_AT 12

static void align(GString *message, gsize boundary) {
        while (message->len % boundary != 0)
                g_string_append_c(message, '\0');
}

static void set_number(GString *message, gsize at, guint32 number) {
        memcpy(message->str + at, &number, sizeof number);
}

static guint32 get_number(const char *at) {
        guint32 number;

        memcpy(&number, at, sizeof number);
        return number;
}

static void add_string(GString *message, const char *text) {
        gsize at;

        align(message, 4);
        at = message->len;
        g_string_append_len(message, "\0\0\0\0", 4);
        set_number(message, at, (guint32) strlen(text));
        g_string_append_len(message, text, (gssize) strlen(text) + 1);
}

static void add_field(GString *message, char code, char type, const char *value) {
        const char head[] = { code, 1, type, '\0' };

        align(message, 8);
        g_string_append_len(message, head, sizeof head);
        if (type != 'g') {
                add_string(message, value);
                return;
        }
        g_string_append_c(message, (char) strlen(value));
        g_string_append_len(message, value, (gssize) strlen(value) + 1);
}

static GString *make_call(const char *method, const char *unit) {
        const char first[HEADER_SIZE] = { G_BYTE_ORDER == G_LITTLE_ENDIAN ? 'l' : 'B', METHOD_CALL, 0, 1 };
        GString *message = g_string_new_len(first, sizeof first);
        gsize body;

        set_number(message, SERIAL_AT, 1);
        add_field(message, FIELD_PATH, 'o', "/org/freedesktop/systemd1");
        add_field(message, FIELD_INTERFACE, 's', "org.freedesktop.systemd1.Manager");
        add_field(message, FIELD_MEMBER, 's', method);
        add_field(message, FIELD_SIGNATURE, 'g', "ss");
        set_number(message, FIELDS_LENGTH_AT, (guint32) message->len - HEADER_SIZE);
        align(message, 8);
        body = message->len;
        add_string(message, unit);
        add_string(message, "fail"); /* rather than in the place of a stop that somebody has asked for */
        set_number(message, BODY_LENGTH_AT, (guint32) (message->len - body));
        return message;
}

static bool write_all(int fd, const char *data, size_t size, GError **error) {
        ssize_t n = socket_send(fd, NULL, data, size, NULL, 0); /* a fresh socket has room for it */

        return n == (ssize_t) size ||
               error_set_errno(error, n < 0 ? (int) -n : EMSGSIZE, "Cannot write to '" ADDRESS "'");
}

static bool read_more(int fd, GString *text, GError **error) {
        struct pollfd readable = { .fd = fd, .events = POLLIN };
        char buffer[4096];
        ssize_t n;

        if (poll(&readable, 1, TIMEOUT_MSEC) == 0)
                return error_set(error, KT_ERROR_FAILED, "systemd does not answer");
        n = read(fd, buffer, sizeof buffer);
        if (n < 0 && errno != EINTR)
                return error_set_errno(error, errno, "Cannot read from '" ADDRESS "'");
        if (n == 0 || text->len > REPLY_MAX)
                return error_set(error, KT_ERROR_FAILED, "systemd answers with nothing of use");
        g_string_append_len(text, buffer, MAX(n, 0));
        return true;
}

/* What comes with it in one piece, systemd would leave lying there. */
static bool authenticate(int fd, GError **error) {
        static const char credentials[] = "\0AUTH EXTERNAL 30\r\nBEGIN\r\n"; /* "0", root, in hexadecimal digits */
        g_autoptr(GString) answer = g_string_new(NULL);

        if (!write_all(fd, credentials, sizeof credentials - 1, error))
                return false;
        do
                if (!read_more(fd, answer, error))
                        return false;
        while (!strchr(answer->str, '\n'));
        return g_str_has_prefix(answer->str, "OK ") || error_set(error, KT_ERROR_FAILED, "systemd refuses us");
}

/* Returns false as long as it is not complete. What systemd tells all its listeners comes before it. */
static bool find_reply(const GString *text, int *ret_type, const char **ret_body, gsize *ret_size) {
        const char *end = text->str + text->len;

        for (const char *at = text->str; end - at >= HEADER_SIZE;) {
                gsize fields = ((gsize) get_number(at + FIELDS_LENGTH_AT) + 7) & ~(gsize) 7;
                gsize body = get_number(at + BODY_LENGTH_AT);

                if ((gsize) (end - at) < HEADER_SIZE + fields + body)
                        return false;
                *ret_type = (unsigned char) at[1];
                *ret_body = at + HEADER_SIZE + fields;
                *ret_size = body;
                if (*ret_type == METHOD_RETURN || *ret_type == METHOD_ERROR)
                        return true;
                at = *ret_body + body;
        }
        return false;
}

bool systemd_call(const char *method, const char *unit, GError **error) {
        _cleanup_close_ int fd = socket_connect(SOCK_STREAM, ADDRESS, error);
        g_autoptr(GString) call = make_call(method, unit), text = g_string_new(NULL);
        const char *body;
        gsize size;
        int type;

        if (fd < 0 || !authenticate(fd, error) || !write_all(fd, call->str, call->len, error))
                return false;
        do
                if (!read_more(fd, text, error))
                        return false;
        while (!find_reply(text, &type, &body, &size));
        if (type == METHOD_RETURN)
                return true;
        /* The body of an error begins with a sentence. */
        return error_set(error, KT_ERROR_FAILED, "systemd says: %.*s", (int) (size > 4 ? size - 4 : 0), body + 4);
}
