/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/oci/environment.h"
#include "libstart/oci/hostname.h"
#include "libstart/oci/notify.h"

#define DEFAULT_PATH "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

static const char *const proxy_names[] = {
        "http_proxy",  "https_proxy", "ftp_proxy", "no_proxy", "HTTP_PROXY",
        "HTTPS_PROXY", "FTP_PROXY",   "NO_PROXY",  NULL,
};

/* systemd's words to libstart itself, which are wrong for anyone else. The payload's own are added at the
 * end. */
static const char *const private_names[] = {
        "LISTEN_PID",    "LISTEN_PIDFDID", "LISTEN_FDS",    "LISTEN_FDNAMES",
        "NOTIFY_SOCKET", "WATCHDOG_PID",   "WATCHDOG_USEC", NULL,
};

static bool has_name(const char *entry, const char *name, size_t length) {
        return strncmp(entry, name, length) == 0 && entry[length] == '=';
}

static const char *find_entry(const char *const *environment, const char *name) {
        for (size_t i = 0; environment && environment[i]; i++)
                if (has_name(environment[i], name, strlen(name)))
                        return environment[i];
        return NULL;
}

static bool is_private(const char *entry) {
        for (size_t i = 0; private_names[i]; i++)
                if (has_name(entry, private_names[i], strlen(private_names[i])))
                        return true;
        return false;
}

/* All of the caller's variables that begin with prefix. */
static void add_from_host(GPtrArray *list, const HostFacts *host, const char *prefix, size_t length) {
        for (size_t i = 0; host->environment && host->environment[i]; i++)
                if (strncmp(host->environment[i], prefix, length) == 0 && !is_private(host->environment[i]))
                        g_ptr_array_add(list, g_strdup(host->environment[i]));
}

/* NAME=VALUE, NAME or PREFIX*: `length` bytes, with podman's leniency for blanks in front. */
static bool add_entry(GPtrArray *list, const char *entry, size_t length, const HostFacts *host, GError **error) {
        const char *equals = memchr(entry, '=', length);

        if (length == 0 || equals == entry)
                return error_set(error, KT_ERROR_USAGE, "a variable has no name before '='");
        if (equals) {
                g_ptr_array_add(list, g_strndup(entry, length));
        } else if (entry[length - 1] == '*') {
                add_from_host(list, host, entry, length - 1);
        } else {
                g_autofree char *name = g_strndup(entry, length);
                const char *found = find_entry(host->environment, name);

                if (found)
                        g_ptr_array_add(list, g_strdup(found));
        }
        return true;
}

static size_t skip_blanks(const char *text, size_t length) {
        size_t n = 0;

        while (n < length && (text[n] == ' ' || text[n] == '\t'))
                n++;
        return n;
}

static bool add_file(GPtrArray *list, const char *path, const char *content, const HostFacts *host,
                     GError **error) {
        unsigned int number = 1;

        for (const char *line = content; *line; number++) {
                const char *end = strchrnul(line, '\n');
                size_t length = (size_t) (end - line);
                size_t blanks;

                if (length > 0 && end[-1] == '\r')
                        length--;
                blanks = skip_blanks(line, length);
                if (length > blanks && line[blanks] != '#' &&
                    !add_entry(list, line + blanks, length - blanks, host, error)) {
                        g_prefix_error(error, "%s:%u: ", path, number);
                        return false;
                }
                line = *end ? end + 1 : end;
        }
        return true;
}

static bool add_image(GPtrArray *list, const ImageConfig *image, GError **error) {
        for (size_t i = 0; image->env && image->env[i]; i++) {
                const char *equals = strchr(image->env[i], '=');

                if (!equals)
                        return error_set(error, KT_ERROR_USAGE, "the image's environment: '%s' has no '='",
                                         image->env[i]);
                if (equals == image->env[i])
                        return error_set(error, KT_ERROR_USAGE,
                                         "the image's environment: a variable has no name before '='");
                g_ptr_array_add(list, g_strdup(image->env[i]));
        }
        return true;
}

static bool add_files(GPtrArray *list, const LaunchArgs *args, const char *const *contents,
                      const HostFacts *host, GError **error) {
        for (guint i = 0; contents && contents[i] && i < args->env_files->len; i++)
                if (!add_file(list, args->env_files->pdata[i], contents[i], host, error))
                        return false;
        return true;
}

static void add_proxies(GPtrArray *list, const HostFacts *host) {
        for (size_t i = 0; proxy_names[i]; i++) {
                const char *found = find_entry(host->environment, proxy_names[i]);

                if (found)
                        g_ptr_array_add(list, g_strdup(found));
        }
}

/* What systemd would have told the payload, had it started it itself. */
static void add_systemd(GPtrArray *list, const LaunchArgs *args, const HostFacts *host) {
        if (host->listen_fds > 0) {
                g_ptr_array_add(list, g_strdup("LISTEN_PID=1"));
                g_ptr_array_add(list, g_strdup_printf("LISTEN_FDS=%d", host->listen_fds));
                if (host->listen_fd_names)
                        g_ptr_array_add(list, g_strconcat("LISTEN_FDNAMES=", host->listen_fd_names, NULL));
        }
        if (notify_is_for_container(args, host)) {
                const char *watchdog = find_entry(host->environment, "WATCHDOG_USEC");

                g_ptr_array_add(list, g_strdup("NOTIFY_SOCKET=" NOTIFY_SOCKET_INSIDE));
                if (watchdog)
                        g_ptr_array_add(list, g_strdup(watchdog));
        }
}

/* Entries by the name before their '=', without copies of it. Not GHashTable, which grows nine times on the way to 5,000
 * variables and made up a third of the time. */
typedef struct NameSet {
        const char **slots; /* NULL is free; a power of two of them */
        guint mask;
} NameSet;

static guint hash_name(const char *entry) {
        guint hash = 5381;

        for (; *entry != '='; entry++)
                hash = hash * 33 + (guint) *entry;
        return hash;
}

static bool same_name(const char *x, const char *y) {
        while (*x == *y && *x != '=')
                x++, y++;
        return *x == *y;
}

/* False if one with this name is there already. */
static bool name_set_add(NameSet *set, const char *entry) {
        guint slot = hash_name(entry) & set->mask;

        for (; set->slots[slot]; slot = (slot + 1) & set->mask)
                if (same_name(set->slots[slot], entry))
                        return false;
        set->slots[slot] = entry;
        return true;
}

/* runc's rules: of several assignments the last counts, where it stands; an empty HOME is none. Steals
 * the list's strings. */
static char **drop_shadowed(GPtrArray *list) {
        guint n_slots = 1U << (g_bit_storage(list->len) + 1); /* at most half of them are taken */
        g_autofree const char **slots = g_new0(const char *, n_slots);
        NameSet seen = { slots, n_slots - 1 };
        GPtrArray *kept = g_ptr_array_sized_new(list->len + 1);

        for (guint i = list->len; i-- > 0;) {
                char *entry = list->pdata[i];

                if (name_set_add(&seen, entry) && !g_str_equal(entry, "HOME="))
                        g_ptr_array_add(kept, g_steal_pointer(&list->pdata[i]));
        }
        for (guint i = 0; i < kept->len / 2; i++) {
                void *entry = kept->pdata[i];

                kept->pdata[i] = kept->pdata[kept->len - 1 - i];
                kept->pdata[kept->len - 1 - i] = entry;
        }
        g_ptr_array_add(kept, NULL);
        return (char **) g_ptr_array_free(kept, FALSE);
}

static void add_default(GPtrArray *list, const char *name, const char *value) {
        size_t length = strlen(name);

        for (guint i = list->len; i-- > 0;)
                if (has_name(list->pdata[i], name, length)) {
                        if (((const char *) list->pdata[i])[length + 1] || !g_str_equal(name, "HOME"))
                                return;
                        break; /* the last HOME is empty, and does not uncover an earlier one */
                }
        g_ptr_array_add(list, g_strconcat(name, "=", value, NULL));
}

/* A user who was named and has no entry in passwd gets one (libstart/run/etc-content.c), whose home is
 * where the payload starts: podman's choice. */
static const char *find_home(const LaunchArgs *args, const ImageConfig *image, const UserIdentity *user) {
        const char *named = args->user ?: image->user;

        if (user->in_passwd || !named || !*named)
                return user->home;
        return args->workdir ?: image->working_dir ?: "/";
}

char **environment_build(const LaunchArgs *args, const ImageConfig *image, const UserIdentity *user,
                         const HostFacts *host, const char *const *env_file_contents, GError **error) {
        g_autoptr(GPtrArray) list = g_ptr_array_new_with_free_func(g_free);
        g_autofree char *hostname = hostname_choose(args, host);

        g_ptr_array_add(list, g_strdup(DEFAULT_PATH));
        if (args->rootfs != FLAG_TRUE) /* podman names itself to images only */
                g_ptr_array_add(list, g_strdup("container=podman"));
        if (!add_image(list, image, error))
                return NULL;
        if (args->env_host == FLAG_TRUE)
                add_from_host(list, host, "", 0);
        else if (args->http_proxy != FLAG_FALSE)
                add_proxies(list, host);
        if (!add_files(list, args, env_file_contents, host, error))
                return NULL;
        for (guint i = 0; i < args->env->len; i++) {
                const char *entry = args->env->pdata[i];
                size_t length = strlen(entry), blanks = skip_blanks(entry, length);

                if (!add_entry(list, entry + blanks, length - blanks, host, error))
                        return NULL;
        }
        add_default(list, "HOME", find_home(args, image, user));
        add_default(list, "HOSTNAME", hostname);
        add_systemd(list, args, host);
        return drop_shadowed(list);
}
