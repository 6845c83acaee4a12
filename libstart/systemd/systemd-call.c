/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/socket.h"
#include "libstart/base/user-view.h"
#include "libstart/systemd/systemd-call.h"

/* One call, as of the D-Bus specification ("Message Protocol", "Authentication Protocol"). */

#define ADDRESS "/run/systemd/private"

/* systemd closes all connections while it executes itself anew (0.3 s), and answers nobody while it reloads (seconds,
 * with many units). Neither says anything of what it is asked. */
#define AGAIN_USEC (5 * G_USEC_PER_SEC)
#define ANSWER_USEC (30 * G_USEC_PER_SEC)
#define PAUSE_USEC (G_USEC_PER_SEC / 10)
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

typedef struct Call {
        const char *path, *interface, *method, *words[2];
} Call;

static GString *make_call(const Call *call) {
        const char first[HEADER_SIZE] = { G_BYTE_ORDER == G_LITTLE_ENDIAN ? 'l' : 'B', METHOD_CALL, 0, 1 };
        GString *message = g_string_new_len(first, sizeof first);
        gsize body;

        set_number(message, SERIAL_AT, 1);
        add_field(message, FIELD_PATH, 'o', call->path);
        add_field(message, FIELD_INTERFACE, 's', call->interface);
        add_field(message, FIELD_MEMBER, 's', call->method);
        add_field(message, FIELD_SIGNATURE, 'g', "ss");
        set_number(message, FIELDS_LENGTH_AT, (guint32) message->len - HEADER_SIZE);
        align(message, 8);
        body = message->len;
        add_string(message, call->words[0]);
        add_string(message, call->words[1]);
        set_number(message, BODY_LENGTH_AT, (guint32) (message->len - body));
        return message;
}

/* What is tried again. */
static bool fail_untried(const char *what, int errnum, GError **error) {
        return error_set(error, KT_ERROR_UNTRIED, "%s" ADDRESS "': %s", what, error_describe(errnum));
}

static int open_connection(GError **error) {
        GError *problem = NULL;
        int fd = socket_connect(SOCK_STREAM, ADDRESS, &problem);

        if (problem && access(ADDRESS, W_OK) == 0) /* else systemd is not here, or not for us */
                problem->code = KT_ERROR_UNTRIED;
        if (problem)
                g_propagate_error(error, problem);
        return fd;
}

static bool write_all(int fd, const char *data, size_t size, GError **error) {
        ssize_t n = socket_send(fd, NULL, data, size, NULL, 0); /* a fresh socket has room for it */

        return n == (ssize_t) size || fail_untried("Cannot write to '", n < 0 ? (int) -n : EMSGSIZE, error);
}

/* until: of g_get_monotonic_time(). */
static bool read_more(int fd, gint64 until, GString *text, GError **error) {
        struct pollfd readable = { .fd = fd, .events = POLLIN };
        char buffer[4096];
        ssize_t n;

        if (poll(&readable, 1, (int) (MAX(until - g_get_monotonic_time(), 0) / 1000)) == 0)
                return error_set(error, KT_ERROR_UNTRIED, "systemd does not answer");
        n = read(fd, buffer, sizeof buffer);
        if (n == 0 || (n < 0 && errno != EINTR))
                return fail_untried("Cannot read from '", n < 0 ? errno : ECONNRESET, error);
        if (text->len > REPLY_MAX)
                return error_set(error, KT_ERROR_FAILED, "systemd answers with nothing of use");
        g_string_append_len(text, buffer, MAX(n, 0));
        return true;
}

/* The id as its manager knows it, whose digits are in hexadecimal digits. */
static GString *make_credentials(void) {
        g_autofree char *id = g_strdup_printf("%u", user_view_is_entered() ? user_view_find_uid() : 0);
        GString *credentials = g_string_new_len("\0AUTH EXTERNAL ", sizeof "\0AUTH EXTERNAL " - 1);

        for (const char *digit = id; *digit; digit++)
                g_string_append_printf(credentials, "%02x", (unsigned char) *digit);
        return g_string_append(credentials, "\r\nBEGIN\r\n");
}

/* What comes with it in one piece, systemd would leave lying there. Not so its answer: what it tells all its
 * listeners can follow, and is left in *text, which is empty before. */
static bool authenticate(int fd, gint64 until, GString *text, GError **error) {
        g_autoptr(GString) credentials = make_credentials();
        const char *end;

        if (!write_all(fd, credentials->str, credentials->len, error))
                return false;
        do
                if (!read_more(fd, until, text, error))
                        return false;
        while (!(end = strchr(text->str, '\n')));
        if (!g_str_has_prefix(text->str, "OK "))
                return error_set(error, KT_ERROR_FAILED, "systemd refuses us");
        g_string_erase(text, 0, end + 1 - text->str);
        return true;
}

/* Returns false as long as it is not complete. What systemd tells all its listeners comes before it, and is dropped.
 */
static bool find_reply(GString *text, int *ret_type, const char **ret_body, gsize *ret_size) {
        while (text->len >= HEADER_SIZE) {
                gsize fields = ((gsize) get_number(text->str + FIELDS_LENGTH_AT) + 7) & ~(gsize) 7;
                gsize body = get_number(text->str + BODY_LENGTH_AT);

                if (text->len < HEADER_SIZE + fields + body)
                        return false;
                *ret_type = (unsigned char) text->str[1];
                *ret_body = text->str + HEADER_SIZE + fields;
                *ret_size = body;
                if (*ret_type == METHOD_RETURN || *ret_type == METHOD_ERROR)
                        return true;
                g_string_erase(text, 0, (gssize) (HEADER_SIZE + fields + body));
        }
        return false;
}

/* Returns the body of the answer, with a NUL behind it. Transfer full. */
static char *make_once(const GString *call, gint64 until, gsize *ret_size, GError **error) {
        _cleanup_close_ int fd = open_connection(error);
        g_autoptr(GString) text = g_string_new(NULL);
        const char *body;
        gsize size;
        int type;

        if (fd < 0 || !authenticate(fd, until, text, error) || !write_all(fd, call->str, call->len, error))
                return NULL;
        while (!find_reply(text, &type, &body, &size))
                if (!read_more(fd, until, text, error))
                        return NULL;
        if (type == METHOD_RETURN) {
                *ret_size = size;
                return g_string_free(g_string_new_len(body, (gssize) size), FALSE);
        }
        /* The body of an error begins with a sentence. */
        return error_null(error, KT_ERROR_FAILED, "systemd says: %.*s", (int) (size > 4 ? size - 4 : 0), body + 4);
}

/* What systemd has put into its queue and could not say so is asked for twice: a second start changes nothing, a
 * second restart is one more. */
static char *make(const Call *what, gsize *ret_size, GError **error) {
        gint64 begin = g_get_monotonic_time();
        g_autoptr(GString) call = make_call(what);

        for (;; g_usleep(PAUSE_USEC)) {
                GError *problem = NULL;
                char *answer = make_once(call, begin + ANSWER_USEC, ret_size, &problem);

                if (!g_error_matches(problem, KT_ERROR, KT_ERROR_UNTRIED) ||
                    g_get_monotonic_time() > begin + AGAIN_USEC) {
                        if (problem)
                                g_propagate_error(error, problem);
                        return answer;
                }
                g_error_free(problem);
        }
}

bool systemd_call(const char *method, const char *unit, const char *mode, GError **error) {
        const Call call = { "/org/freedesktop/systemd1", "org.freedesktop.systemd1.Manager", method, { unit, mode } };
        gsize size;
        g_autofree char *answer = make(&call, &size, error);

        return answer != NULL;
}

/* A variant: its signature in 4 bytes, and the value. Transfer full. */
#define VALUE_AT 4

static char *get(const char *unit, const char *interface, const char *name, gsize *ret_size, GError **error) {
        g_autoptr(GString) path = g_string_new("/org/freedesktop/systemd1/unit/");
        Call call = { NULL, "org.freedesktop.DBus.Properties", "Get", { interface, name } };

        for (const char *c = unit; *c; c++)
                if (g_ascii_isalpha(*c) || (c > unit && g_ascii_isdigit(*c)))
                        g_string_append_c(path, *c);
                else
                        g_string_append_printf(path, "_%02x", (unsigned char) *c);
        call.path = path->str;
        return make(&call, ret_size, error);
}

/* Its length is before it. */
char *systemd_unit_text(const char *unit, const char *interface, const char *name, GError **error) {
        gsize size;
        g_autofree char *value = get(unit, interface, name, &size, error);

        return value ? g_strdup(size > VALUE_AT + 4 ? value + VALUE_AT + 4 : "") : NULL;
}

guint32 systemd_unit_number(const char *unit, const char *interface, const char *name, GError **error) {
        gsize size;
        g_autofree char *value = get(unit, interface, name, &size, error);

        return value && size >= VALUE_AT + 4 ? get_number(value + VALUE_AT) : 0;
}

char *systemd_unit_state(const char *unit, GError **error) {
        return systemd_unit_text(unit, SYSTEMD_UNIT, "ActiveState", error);
}

GPtrArray *systemd_unit_list(const char *unit, const char *interface, const char *name, GError **error) {
        gsize size, length;
        g_autofree char *value = get(unit, interface, name, &size, error);
        GPtrArray *list = value ? g_ptr_array_new_with_free_func(g_free) : NULL;

        for (gsize at = VALUE_AT + 4; value && at + 4 < size; at = (at + 4 + length + 1 + 3) & ~(gsize) 3) {
                length = get_number(value + at);
                if (length > size - at - 4)
                        break;
                g_ptr_array_add(list, g_strndup(value + at + 4, length));
        }
        return list;
}
