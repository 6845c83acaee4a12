/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/base/path-value.h"
#include "libstart/root/image-message.h"
#include "libstart/store/manifest.h"

/* In this order, before the lists. */
static const size_t texts[] = {
        offsetof(ImageConfig, user),
        offsetof(ImageConfig, working_dir),
        offsetof(ImageConfig, stop_signal),
};

static const size_t lists[] = {
        offsetof(ImageConfig, entrypoint), offsetof(ImageConfig, cmd),    offsetof(ImageConfig, env),
        offsetof(ImageConfig, volumes),    offsetof(ImageConfig, labels),
};

/*
 * Writing. A text begins with TEXT; there is NONE in place of one that is not there, and behind the last of a list.
 */

#define TEXT '+'
#define NONE '-'

static void write_text(GString *to, const char *text) {
        g_string_append_c(to, text ? TEXT : NONE);
        if (text)
                g_string_append_len(to, text, (gssize) strlen(text) + 1);
}

static void write_list(GString *to, char *const *list) {
        for (; list && *list; list++)
                write_text(to, *list);
        write_text(to, NULL);
}

static void write_number(GString *to, guint64 number) {
        g_autofree char *text = g_strdup_printf("%" G_GUINT64_FORMAT, number);

        write_text(to, text);
}

static void *member_of(const ImageConfig *config, size_t offset) {
        return (char *) config + offset;
}

GString *image_message_write(const char *id, const ImageConfig *config, const ImageHealth *health) {
        GString *to = g_string_new(NULL);

        write_text(to, id);
        for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
                write_text(to, *(char **) member_of(config, texts[i]));
        for (size_t i = 0; i < G_N_ELEMENTS(lists); i++)
                write_list(to, *(char ***) member_of(config, lists[i]));
        write_text(to, health ? "" : NULL);
        if (health) {
                write_list(to, health->test);
                write_number(to, health->interval);
                write_number(to, health->timeout);
                write_number(to, health->start_period);
                write_number(to, health->retries);
        }
        return to;
}

/*
 * Reading
 */

#define TEXTS_MAX 65536U /* each takes more room here than it does there */

/* As of image_health_parse(): what there is in nanoseconds, here in microseconds. */
#define SPAN_MAX (G_MAXINT64 / 1000 + 1)

typedef struct Reader {
        const char *at, *end;
        unsigned n_texts;
        bool failed; /* nothing is read from then on */
} Reader;

/* NULL where there is none. */
static const char *read_text(Reader *reader) {
        gsize left = (gsize) (reader->end - reader->at);
        const char *text = reader->at + 1,
                   *end = left > 1 && *reader->at == TEXT ? memchr(text, '\0', left - 1) : NULL;

        if (!reader->failed && left > 0 && *reader->at == NONE) {
                reader->at++;
                return NULL;
        }
        reader->failed |= !end || ++reader->n_texts > TEXTS_MAX || !g_utf8_validate(text, end - text, NULL);
        if (reader->failed)
                return NULL;
        reader->at = end + 1;
        return text;
}

static char *copy_text(Reader *reader) {
        return g_strdup(read_text(reader));
}

/* NULL for an empty one. Transfer full. */
static char **copy_list(Reader *reader) {
        g_autoptr(GPtrArray) list = g_ptr_array_new_with_free_func(g_free);

        for (char *text; (text = copy_text(reader));)
                g_ptr_array_add(list, text);
        if (list->len == 0)
                return NULL;
        g_ptr_array_add(list, NULL);
        return (char **) g_ptr_array_steal(list, NULL);
}

static guint64 read_number(Reader *reader, guint64 max) {
        const char *text = read_text(reader);
        guint64 number = 0;

        reader->failed |= !text || !g_ascii_string_to_unsigned(text, 10, 0, max, &number, NULL);
        return number;
}

static ImageHealth *read_health(Reader *reader) {
        ImageHealth *health;

        if (!read_text(reader))
                return NULL;
        health = g_new0(ImageHealth, 1);
        health->test = copy_list(reader) ?: g_new0(char *, 1);
        health->interval = read_number(reader, SPAN_MAX);
        health->timeout = read_number(reader, SPAN_MAX);
        health->start_period = read_number(reader, SPAN_MAX);
        health->retries = (guint) read_number(reader, G_MAXINT32);
        return health;
}

static bool is_printable(const char *path) {
        for (const char *c = path; *c; c++)
                if (g_ascii_iscntrl(*c))
                        return false;
        return path_value_check(path, NULL);
}

/* As image_config_parse() leaves volumes. */
static bool is_clean(const char *path) {
        g_autofree char *clean = is_printable(path) ? path_value_clean(path) : NULL;

        return clean && g_str_equal(clean, path);
}

static bool is_sound(const ImageMessage *message) {
        const char *workdir = message->config->working_dir;
        char **volumes = message->config->volumes;
        const char *user = message->config->user, *signal = message->config->stop_signal;

        if ((user && !*user) || (signal && !*signal)) /* which stands for none */
                return false;
        for (char **label = message->config->labels; label && *label; label++)
                if (!strchr(*label, '='))
                        return false;
        for (char **volume = volumes; volume && *volume; volume++)
                if (!is_clean(*volume) || (volume > volumes && strcmp(volume[-1], *volume) >= 0))
                        return false;
        return message->id && id_is_valid(message->id) && (!workdir || is_printable(workdir));
}

bool image_message_read(const char *text, gsize length, ImageMessage *ret, GError **error) {
        g_auto(ImageMessage) message = { .config = g_new0(ImageConfig, 1) };
        Reader reader = { .at = text, .end = text + length };

        message.id = copy_text(&reader);
        for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
                *(char **) member_of(message.config, texts[i]) = copy_text(&reader);
        for (size_t i = 0; i < G_N_ELEMENTS(lists); i++)
                *(char ***) member_of(message.config, lists[i]) = copy_list(&reader);
        message.health = read_health(&reader);
        if (reader.failed || reader.at != reader.end || !is_sound(&message))
                return error_set(error, KT_ERROR_FAILED, "what is said of the image is not understood");
        *ret = message;
        message = (ImageMessage) { 0 };
        return true;
}

void image_message_clear(ImageMessage *message) {
        g_clear_pointer(&message->id, g_free);
        g_clear_pointer(&message->config, image_config_free);
        g_clear_pointer(&message->health, image_health_free);
}
