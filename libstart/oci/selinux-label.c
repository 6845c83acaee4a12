/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/oci/selinux-label.h"

/* As the library that Podman has reads it: the last line of a key counts, and what is no assignment is no line. */
char *selinux_contexts_find(const char *text, const char *key) {
        g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
        char *found = NULL;

        for (char **line = lines; *line; line++) {
                char *equals = strchr(*line, '=');
                const char *name = g_strchug(*line);

                if (!equals || *name == '#' || *name == ';')
                        continue;
                equals = strchr(*line, '=');
                *equals = '\0';
                if (!g_str_equal(g_strchomp(*line), key))
                        continue;

                char *value = g_strstrip(equals + 1);
                size_t length = strlen(value);
                bool quoted = length > 1 && value[0] == '"' && value[length - 1] == '"';

                g_free(found);
                found = quoted ? g_strndup(value + 1, length - 2) : g_strdup(value);
        }
        return found;
}

#define CATEGORIES 1024

/* FNV-1a: short, and neighbouring names ("camera1", "camera2") come out far from each other after the last mixing. */
static guint64 hash(const char *name, unsigned attempt) {
        guint64 value = 14695981039346656037U ^ attempt;

        for (; *name; name++)
                value = (value ^ (guchar) *name) * 1099511628211U;
        value ^= value >> 32;
        value *= 0xd6e8feb86659fd93U;
        return value ^ value >> 32;
}

char *selinux_level_choose(const char *name, unsigned attempt) {
        guint64 value = hash(name, attempt);
        unsigned first = value % CATEGORIES;
        unsigned second = (first + 1 + (value >> 32) % (CATEGORIES - 1)) % CATEGORIES; /* another one */
        char *level = g_strdup_printf("s0:c%u,c%u", MIN(first, second), MAX(first, second));

        if (!g_str_equal(level, SELINUX_LEVEL_DISABLED))
                return level;
        g_free(level);
        return g_strdup("s0:c1021,c1023");
}

enum { USER, ROLE, TYPE, LEVEL, N_PARTS };

/* No quotation mark: a label becomes an option of mount(2). */
#define CHARACTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-:,"

/* NULL-terminated; NULL where it is no label. */
static char **split(const char *label, GError **error) {
        char **parts = g_strsplit(label, ":", N_PARTS);

        if (g_strv_length(parts) == N_PARTS && !label[strspn(label, CHARACTERS)])
                return parts;
        error_set(error, KT_ERROR_FAILED,
                  "The SELinux policy's label of containers is not USER:ROLE:TYPE:LEVEL: look at its file "
                  "contexts/lxc_contexts");
        g_strfreev(parts);
        return NULL;
}

static void replace(char **part, const char *value) {
        if (value) {
                g_free(*part);
                *part = g_strdup(value);
        }
}

void selinux_labels_clear(SelinuxLabels *labels) {
        g_clear_pointer(&labels->process, g_free);
        g_clear_pointer(&labels->file, g_free);
}

bool selinux_labels_make(const LabelRequest *request, const char *process, const char *file, const char *level,
                         SelinuxLabels *ret, GError **error) {
        g_auto(GStrv) of_process = split(process, error);
        g_auto(GStrv) of_file = of_process ? split(file, error) : NULL;

        if (!of_file)
                return false;
        *ret = (SelinuxLabels) { 0 };
        if (request->disable) {
                replace(&of_file[LEVEL], SELINUX_LEVEL_DISABLED);
                ret->file = g_strjoinv(":", of_file);
                return true;
        }
        replace(&of_process[USER], request->user);
        replace(&of_process[ROLE], request->role);
        replace(&of_process[TYPE], request->type);
        replace(&of_process[LEVEL], request->level ?: level);
        replace(&of_file[USER], request->user);
        replace(&of_file[TYPE], request->file_type);
        replace(&of_file[LEVEL], request->level ?: level);
        ret->process = g_strjoinv(":", of_process);
        ret->file = g_strjoinv(":", of_file);
        return true;
}

char *selinux_label_level(const char *label) {
        g_auto(GStrv) parts = split(label, NULL);

        return parts ? g_strdup(parts[LEVEL]) : NULL;
}

char *selinux_label_share(const char *label) {
        g_auto(GStrv) parts = g_strsplit(label, ":", N_PARTS);

        if (g_strv_length(parts) == N_PARTS)
                replace(&parts[LEVEL], "s0");
        return g_strjoinv(":", parts);
}

bool selinux_path_is_systems(const char *path) {
        static const char *const systems[] = {
                "/",           "/bin",     "/boot",         "/dev",      "/etc",     "/etc/passwd", "/etc/pki",
                "/etc/shadow", "/home",    "/lib",          "/lib64",    "/media",   "/opt",        "/proc",
                "/root",       "/run",     "/sbin",         "/srv",      "/sys",     "/tmp",        "/usr",
                "/usr/bin",    "/usr/lib", "/usr/lib64",    "/usr/sbin", "/var",     "/var/home",   "/var/lib",
                "/var/log",    "/var/opt", "/var/roothome", "/var/run",  "/var/srv", NULL,
        };

        return g_strv_contains(systems, path);
}
