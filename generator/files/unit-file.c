/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "generator/files/unit-file.h"
#include "libstart/base/error.h"

static void section_free(void *data) {
        UnitSection *section = data;

        g_array_unref(section->lines);
        g_free(section);
}

UnitFile *unit_file_new(void) {
        UnitFile *file = g_new0(UnitFile, 1);

        file->sections = g_ptr_array_new_with_free_func(section_free);
        file->strings = g_string_chunk_new(1024);
        file->problems = g_array_new(FALSE, FALSE, sizeof(UnitProblem));
        file->dropins = g_ptr_array_new();
        return file;
}

void unit_file_free(UnitFile *file) {
        if (!file)
                return;
        g_ptr_array_unref(file->sections);
        g_string_chunk_free(file->strings);
        g_array_unref(file->problems);
        g_ptr_array_unref(file->dropins);
        g_free(file);
}

const char *unit_file_keep(UnitFile *file, const char *string) {
        return g_string_chunk_insert(file->strings, string);
}

UnitSection *unit_file_section(const UnitFile *file, const char *name) {
        for (guint i = 0; i < file->sections->len; i++) {
                UnitSection *section = file->sections->pdata[i];

                if (g_strcmp0(section->name, name) == 0)
                        return section;
        }
        return NULL;
}

static inline const UnitLine *find_last(const UnitSection *section, const char *key, const char *text, bool at_end) {
        for (guint i = section ? section->lines->len : 0; i > 0; i--) {
                const UnitLine *line = &g_array_index(section->lines, UnitLine, i - 1);

                if (line->key && g_str_equal(line->key, key) &&
                    (at_end ? g_str_has_suffix(line->value, text) : strstr(line->value, text) != NULL))
                        return line;
        }
        return NULL;
}

const UnitLine *unit_section_last_with(const UnitSection *section, const char *key, const char *text) {
        return find_last(section, key, text, false);
}

const UnitLine *unit_section_last_ending(const UnitSection *section, const char *key, const char *end) {
        return find_last(section, key, end, true);
}

const UnitLine *unit_section_last(const UnitSection *section, const char *key) {
        return unit_section_last_with(section, key, "");
}

bool unit_section_takes_back(const UnitSection *section, const UnitLine *line) {
        const UnitLine *end = &g_array_index(section->lines, UnitLine, section->lines->len);

        for (const UnitLine *later = line + 1; later < end; later++)
                if (g_strcmp0(later->key, line->key) == 0 && !later->value[0])
                        return true;
        return false;
}

char *unit_file_value(const UnitFile *file, const char *section, const char *key) {
        const UnitLine *line = unit_section_last(unit_file_section(file, section), key);
        g_autofree char *value = line ? words_unquote(line->value) : NULL;

        return value && value[0] ? g_steal_pointer(&value) : NULL;
}

/* A piece of the text, never terminated. */
typedef struct Slice {
        const char *start;
        size_t length;
} Slice;

typedef struct Reader {
        UnitFile *file;
        const char *path;
        Slice rest;
        unsigned number; /* of the line that next_line() gave */
        Slice text;      /* of what is being read, from its first line to its last */
        bool is_lost;    /* which section this is in is not known, and has been reported */
} Reader;

static void enter_section(const Reader *reader, const char *name) {
        UnitFile *file = reader->file;
        UnitSection *section = unit_file_section(file, name);

        if (!section) {
                section = g_new0(UnitSection, 1);
                section->name = name ? unit_file_keep(file, name) : NULL;
                section->header = (UnitLine) {
                        .path = reader->path,
                        .number = reader->number,
                        .place = file->n_places++,
                };
                section->lines = g_array_new(FALSE, FALSE, sizeof(UnitLine));
                g_ptr_array_add(file->sections, section);
        }
        file->current = section;
}

static const char *keep_slice(UnitFile *file, Slice slice) {
        return g_string_chunk_insert_len(file->strings, slice.start, (gssize) slice.length);
}

static bool next_line(Reader *reader, Slice *ret) {
        Slice line = reader->rest;
        const char *newline;

        if (line.length == 0)
                return false;
        newline = memchr(line.start, '\n', line.length);
        if (newline)
                line.length = (size_t) (newline - line.start);
        reader->rest.start += line.length + !!newline;
        reader->rest.length -= line.length + !!newline;
        reader->number++;
        *ret = line;
        return true;
}

static Slice trim(Slice slice) {
        while (slice.length > 0 && g_ascii_isspace(slice.start[slice.length - 1]))
                slice.length--;
        while (slice.length > 0 && g_ascii_isspace(slice.start[0])) {
                slice.start++;
                slice.length--;
        }
        return slice;
}

static bool is_comment(Slice line) {
        return line.length == 0 || line.start[0] == '#' || line.start[0] == ';';
}

static bool is_continued(Slice line) {
        return line.length > 0 && line.start[line.length - 1] == '\\';
}

/* Join `line` (trimmed, ends in a backslash) and the lines that continue it. Returns whether systemd would read
 * the same from the lines as they are: it joins with a blank, where Podman joins with nothing; it stops at an empty
 * line, and at one with a blank behind the backslash. */
static bool join_lines(Reader *reader, Slice line, GString *joined) {
        Slice next = reader->text; /* as it is in the file */
        bool same = true;

        g_string_truncate(joined, 0);
        while (is_continued(line)) {
                same = same && is_continued(next);
                line.length--;
                g_string_append_len(joined, line.start, (gssize) line.length);
                same = same && line.length > 0 && g_ascii_isspace(line.start[line.length - 1]);
                do {
                        if (!next_line(reader, &next))
                                return false;
                        reader->text.length = (size_t) (next.start + next.length - reader->text.start);
                        line = trim(next);
                        same = same && line.length > 0;
                } while (is_comment(line));
        }
        g_string_append_len(joined, line.start, (gssize) line.length);
        return same;
}

static void add_line(Reader *reader, UnitLine line) {
        line.path = reader->path;
        line.place = reader->file->n_places++;
        g_array_append_val(reader->file->current->lines, line);
}

/* `text` is not copied. */
static void add_problem(const Reader *reader, unsigned number, const char *text) {
        UnitProblem problem = {
                .line = { .path = reader->path, .number = number, .place = reader->file->n_places++ },
                .text = text,
        };

        g_array_append_val(reader->file->problems, problem);
}

static bool check(const UnitFile *file, GError **error) {
        const UnitProblem *first = &g_array_index(file->problems, UnitProblem, 0);

        return file->problems->len == 0 ||
               error_set(error, KT_ERROR_USAGE, "%s:%u: %s", first->line.path, first->line.number, first->text);
}

/* Makes of *line what it and those that continue it say. Returns how that is printed: on as many lines, if systemd
 * reads the same from them. */
static const char *read_continued(Reader *reader, Slice *line) {
        g_autoptr(GString) joined = g_string_new(NULL);
        bool same = join_lines(reader, *line, joined);

        *line = trim((Slice) { joined->str, joined->len });
        line->start = keep_slice(reader->file, *line);
        /* Comments in between may be anything. */
        if (same && !memchr(reader->text.start, '\r', reader->text.length) &&
            g_utf8_validate(reader->text.start, (gssize) reader->text.length, NULL))
                return keep_slice(reader->file, reader->text);
        return line->start;
}

static void parse_assignment(Reader *reader, Slice line) {
        unsigned number = reader->number;
        const char *text = is_continued(line) ? read_continued(reader, &line) :
                                                keep_slice(reader->file, reader->text);
        const char *equals;

        /* In a unit it would end in a backslash, too: systemd would join the next line to it. */
        if (is_continued(line)) {
                add_problem(reader, number, "the last line of the file ends in two backslashes");
                return;
        }
        if (reader->is_lost)
                return;
        /* Joined, it may look like a section to whoever reads what is printed. */
        equals = memchr(line.start, '=', line.length);
        if (!equals || equals == line.start || line.start[0] == '[') {
                add_problem(reader, number, "neither a [Section], a KEY=VALUE nor a # comment");
                return;
        }
        if (!reader->file->current || !reader->file->current->name) {
                add_problem(reader, number, "an assignment before the first [Section]");
                reader->is_lost = true;
                return;
        }
        if (!g_utf8_validate(line.start, (gssize) line.length, NULL)) {
                add_problem(reader, number, "the line is not UTF-8");
                return;
        }

        Slice key = trim((Slice) { line.start, (size_t) (equals - line.start) });
        Slice value = trim((Slice) { equals + 1, line.length - (size_t) (equals + 1 - line.start) });

        add_line(reader, (UnitLine) {
                                 .key = keep_slice(reader->file, key),
                                 .value = keep_slice(reader->file, value),
                                 .text = text,
                                 .number = number,
                         });
}

static const char *find_section_problem(Slice line) {
        const char *end = memchr(line.start, ']', line.length);

        if (!end || end != line.start + line.length - 1 || line.length == 2 ||
            memchr(line.start + 1, '[', line.length - 1))
                return "a section is written [Name]";
        return g_utf8_validate(line.start, (gssize) line.length, NULL) ? NULL : "the line is not UTF-8";
}

static void parse_section(Reader *reader, Slice line) {
        const char *problem = find_section_problem(line);
        g_autofree char *name = NULL;

        reader->is_lost = problem;
        if (problem) {
                add_problem(reader, reader->number, problem);
                return;
        }
        name = g_strndup(line.start + 1, line.length - 2);
        enter_section(reader, name);
}

static void parse_comment(Reader *reader, Slice line) {
        UnitFile *file = reader->file;

        if (!file->current)
                enter_section(reader, NULL);
        /* A unit must be UTF-8 as a whole: a comment that is not is left out. */
        if (!g_utf8_validate(line.start, (gssize) line.length, NULL))
                return;
        add_line(reader, (UnitLine) { .text = keep_slice(file, line), .number = reader->number });
}

#define BYTE_ORDER_MARK "\xef\xbb\xbf"

bool unit_file_parse(UnitFile *file, const char *path, const char *text, size_t length, GError **error) {
        Reader reader = { .file = file, .path = unit_file_keep(file, path), .rest = { text, length } };
        Slice line;

        file->current = unit_file_section(file, NULL);
        if (length >= strlen(BYTE_ORDER_MARK) && memcmp(text, BYTE_ORDER_MARK, strlen(BYTE_ORDER_MARK)) == 0) {
                add_problem(
                        &reader, 1,
                        "the file begins with a byte order mark (BOM), which editors rarely show: save it as UTF-8 "
                        "without one");
                reader.rest.start += strlen(BYTE_ORDER_MARK);
                reader.rest.length -= strlen(BYTE_ORDER_MARK);
        }
        while (next_line(&reader, &line)) {
                Slice trimmed = trim(line);

                if (line.length > 0 && line.start[line.length - 1] == '\r')
                        line.length--;
                reader.text = line;
                if (memchr(line.start, '\0', line.length))
                        add_problem(&reader, reader.number, "the line holds a NUL byte");
                else if (is_comment(trimmed))
                        parse_comment(&reader, line);
                else if (trimmed.start[0] == '[')
                        parse_section(&reader, trimmed);
                else
                        parse_assignment(&reader, trimmed);
        }
        return check(file, error);
}

void unit_section_print(const UnitSection *section, GString *output) {
        for (guint i = 0; i < section->lines->len; i++) {
                g_string_append(output, g_array_index(section->lines, UnitLine, i).text);
                g_string_append_c(output, '\n');
        }
}

/*
 * Words of a value
 */

#define BLANKS " \t\n\r"

/* `digits` digits of `base` at *text, which is moved. All of them, \x and octal too, give one character of UTF-8, as
 * with Podman (systemd takes these two for a byte). */
static bool append_code(GString *word, const char **text, unsigned digits, unsigned base) {
        gunichar code = 0;

        for (; digits > 0; digits--) {
                int digit = g_ascii_xdigit_value(*(*text)++);

                if (digit < 0 || (unsigned) digit >= base)
                        return false;
                code = code * base + (unsigned) digit;
        }
        if (code == 0 || !g_unichar_validate(code) || (base == 8 && code > 0xff))
                return false;
        g_string_append_unichar(word, code);
        return true;
}

/* *text is behind the backslash. */
static bool append_escape(GString *word, const char **text, WordsSyntax syntax) {
        static const char letters[] = "abfnrtvs\\\"'", meanings[] = "\a\b\f\n\r\t\v \\\"'";
        const char *letter;

        switch (**text) {
        case '\0':
                return false;
        case 'x':
                ++*text;
                return append_code(word, text, 2, 16);
        case 'u':
                ++*text;
                return append_code(word, text, 4, 16);
        case 'U':
                ++*text;
                return append_code(word, text, 8, 16);
        case '0' ... '7':
                return append_code(word, text, 3, 8);
        default:
                letter = strchr(letters, **text);
                if (!letter && syntax != WORDS_RELAXED)
                        return false;
                if (!letter) /* as systemd does: regular expressions are written so */
                        g_string_append_c(word, '\\');
                g_string_append_c(word, letter ? meanings[letter - letters] : **text);
                ++*text;
                return true;
        }
}

/* The length of the backslash and the whole character behind it: half a character would make the message unreadable
 * in the journal. */
static int escape_length(const char *text) {
        return text[1] ? (int) (g_utf8_next_char(text + 1) - text) : 1;
}

static bool refuse_escape(const char *text, GError **error) {
        int length = escape_length(text);

        if (!text[1] || !strchr("xuU01234567", text[1]))
                return error_set(error, KT_ERROR_USAGE, "unknown escape '%.*s' (a backslash is written '\\\\')",
                                 length, text);
        length += (int) strspn(text + length, "0123456789abcdefABCDEF");
        return error_set(
                error, KT_ERROR_USAGE,
                "malformed escape '%.*s': there are \\xHH, \\uHHHH, \\UHHHHHHHH and octal \\OOO up to \\377, and "
                "none for NUL",
                length, text);
}

/* The word at *text, which is no blank and not the end. Quotes may open and close in the middle of a word. */
static bool read_word(GString *word, const char **text, WordsSyntax syntax, GError **error) {
        char quote = 0;

        while (**text && (quote || !strchr(BLANKS, **text))) {
                const char *start = *text;
                char c = *(*text)++;

                if (c == '\\' && syntax != WORDS_PLAIN) {
                        if (!append_escape(word, text, syntax))
                                return refuse_escape(start, error);
                } else if (c == quote)
                        quote = 0;
                else if (!quote && (c == '"' || c == '\''))
                        quote = c;
                else
                        g_string_append_c(word, c);
        }
        if (quote)
                return error_set(error, KT_ERROR_USAGE, "the quote %c is not closed", quote);
        if (!g_utf8_validate(word->str, (gssize) word->len, NULL))
                return error_set(error, KT_ERROR_USAGE, "a word is not UTF-8");
        return true;
}

bool words_split(GPtrArray *words, const char *line, WordsSyntax syntax, GError **error) {
        g_autoptr(GString) word = g_string_sized_new(64);
        guint before = words->len;

        for (line += strspn(line, BLANKS); *line; line += strspn(line, BLANKS)) {
                g_string_truncate(word, 0);
                if (!read_word(word, &line, syntax, error)) {
                        g_ptr_array_set_size(words, (int) before);
                        return false;
                }
                g_ptr_array_add(words, g_strndup(word->str, word->len));
        }
        return true;
}

char *words_unquote(const char *text) {
        size_t length = strlen(text);

        if (length >= 2 && text[0] == '"' && text[length - 1] == '"')
                return g_strndup(text + 1, length - 2);
        return g_strdup(text);
}
