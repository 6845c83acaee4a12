/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>
#include <sys/auxv.h>

#include "libstart/base/error.h"
#include "libstart/cdi/cdi-file.h"
#include "libstart/oci/environment.h"
#include "libstart/value/env-list.h"

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

static const char *find_entry(const char *const *environment, const char *name, size_t length) {
        for (size_t i = 0; environment && environment[i]; i++)
                if (has_name(environment[i], name, length))
                        return environment[i];
        return NULL;
}

/* A caller's environment may hold other strings, too. */
static bool is_assignment(const char *entry) {
        const char *equals = strchr(entry, '=');

        return equals && equals > entry;
}

static bool is_private(const char *entry) {
        for (size_t i = 0; private_names[i]; i++)
                if (has_name(entry, private_names[i], strlen(private_names[i])))
                        return true;
        return false;
}

typedef struct Slot {
        guint hash;
        guint entry; /* its place in `entries`, plus one; 0: the slot is free */
} Slot;

/* The environment while it is made. A later assignment replaces an earlier one, and stands in its own place. */
typedef struct Environment {
        const char **entries; /* NULL where a later one has taken the name */
        guint n_entries, size;
        Slot *slots; /* the last entry of each name; a power of two of them, at most three quarters taken */
        guint n_slots, n_names;
        guint multiplier; /* of the hash: see choose_multiplier() */
        GPtrArray *owned;
} Environment;

/* Not known to the maker of an image, who could otherwise name all of its variables so that they meet in one slot.
 * The kernel gives each program random bytes. In the low bits, what is good for a multiplier. */
static guint choose_multiplier(void) {
        const void *random = (const void *) getauxval(AT_RANDOM);
        guint multiplier = 0;

        if (random)
                memcpy(&multiplier, random, sizeof multiplier);
        return multiplier << 3 | 5;
}

/* Returns where it ends: at '=', or at the entry's end. */
static const char *scan_name(const Environment *env, const char *entry, guint *ret_hash) {
        guint hash = 5381;

        for (; *entry && *entry != '='; entry++)
                hash = hash * env->multiplier + (guint) *entry;
        *ret_hash = hash;
        return entry;
}

static bool same_name(const char *x, const char *y) {
        while (*x == *y && *x != '=')
                x++, y++;
        return *x == *y;
}

static Slot *find_slot(const Environment *env, const char *entry, guint hash) {
        for (guint i = hash;; i++) {
                Slot *slot = &env->slots[i & (env->n_slots - 1)];

                if (slot->entry == 0 || (slot->hash == hash && same_name(env->entries[slot->entry - 1], entry)))
                        return slot;
        }
}

static void double_slots(Environment *env) {
        g_autofree Slot *old = env->slots;
        guint n_old = env->n_slots;

        env->n_slots = n_old * 2;
        env->slots = g_new0(Slot, env->n_slots);
        for (guint i = 0; i < n_old; i++)
                if (old[i].entry)
                        *find_slot(env, env->entries[old[i].entry - 1], old[i].hash) = old[i];
}

static void append(Environment *env, const char *entry) {
        if (env->n_entries == env->size) {
                env->size *= 2;
                env->entries = g_renew(const char *, env->entries, env->size);
        }
        env->entries[env->n_entries++] = entry; /* NOLINT(clang-analyzer-*): the size is never 0 */
}

static void add_hashed(Environment *env, const char *entry, guint hash) {
        Slot *slot = find_slot(env, entry, hash);
        bool is_new = slot->entry == 0;

        if (!is_new)
                env->entries[slot->entry - 1] = NULL;
        append(env, entry);
        *slot = (Slot) { hash, env->n_entries };
        if (is_new && ++env->n_names > env->n_slots / 4 * 3)
                double_slots(env);
}

static void add(Environment *env, const char *entry) {
        guint hash;

        scan_name(env, entry, &hash);
        add_hashed(env, entry, hash);
}

static void add_pair(Environment *env, const char *name_and_equals, const char *value) {
        char *entry = g_strconcat(name_and_equals, value, NULL);

        g_ptr_array_add(env->owned, entry);
        add(env, entry);
}

static const char *find_value(const Environment *env, const char *name_and_equals) {
        const Slot *slot;
        guint hash;

        scan_name(env, name_and_equals, &hash);
        slot = find_slot(env, name_and_equals, hash);
        return slot->entry ? env->entries[slot->entry - 1] + strlen(name_and_equals) : NULL;
}

static char *skip_blanks(char *text) {
        while (*text == ' ' || *text == '\t')
                text++;
        return text;
}

/* All of the caller's variables that begin with prefix. */
static void add_from_host(Environment *env, const HostFacts *host, const char *prefix, size_t length) {
        for (size_t i = 0; host->environment && host->environment[i]; i++) {
                const char *entry = host->environment[i];

                if (strncmp(entry, prefix, length) == 0 && is_assignment(entry) && !is_private(entry))
                        add(env, entry);
        }
}

/* NAME=VALUE, NAME or PREFIX*. */
static bool add_entry(Environment *env, const char *entry, const HostFacts *host, GError **error) {
        guint hash;
        const char *end = scan_name(env, entry, &hash), *found;

        if (end == entry)
                return error_set(error, KT_ERROR_USAGE, "a variable has no name before '='");
        if (*end == '=') {
                add_hashed(env, entry, hash);
        } else if (end[-1] == '*') {
                add_from_host(env, host, entry, (size_t) (end - 1 - entry));
        } else {
                found = find_entry(host->environment, entry, (size_t) (end - entry));
                if (found)
                        add(env, found);
        }
        return true;
}

/* Each line becomes a string, where it stands. */
static bool add_file(Environment *env, const char *path, char *content, const HostFacts *host, GError **error) {
        unsigned int number = 1;

        for (char *line = content, *next; *line; line = next, number++) {
                char *end = strchrnul(line, '\n');

                next = *end ? end + 1 : end;
                if (end > line && end[-1] == '\r')
                        end--;
                *end = '\0';
                line = skip_blanks(line);
                if (*line && *line != '#' && !add_entry(env, line, host, error))
                        return error_prefix(error, "%s:%u: ", path, number);
        }
        return true;
}

static bool add_image(Environment *env, const ImageConfig *image, GError **error) {
        for (size_t i = 0; image->env && image->env[i]; i++) {
                const char *equals = strchr(image->env[i], '=');

                if (!equals)
                        return error_set(error, KT_ERROR_USAGE, "The image's environment: '%s' has no '='",
                                         image->env[i]);
                if (equals == image->env[i])
                        return error_set(error, KT_ERROR_USAGE,
                                         "The image's environment: a variable has no name before '='");
                add(env, image->env[i]);
        }
        return true;
}

static bool add_files(Environment *env, const SpecInput *input, GError **error) {
        const GPtrArray *paths = input->request->env_files;

        for (guint i = 0; input->env_files && i < paths->len; i++)
                if (!add_file(env, paths->pdata[i], input->env_files[i], input->host, error))
                        return false;
        return true;
}

static void add_proxies(Environment *env, const HostFacts *host) {
        for (size_t i = 0; proxy_names[i]; i++) {
                const char *found = find_entry(host->environment, proxy_names[i], strlen(proxy_names[i]));

                if (found)
                        add(env, found);
        }
}

/* What systemd would have told the payload, had it started it itself. */
static void add_systemd(Environment *env, const SpecInput *input) {
        const HostFacts *host = input->host;

        if (host->listen_fds > 0) {
                char number[16];

                g_snprintf(number, sizeof number, "%d", host->listen_fds);
                add(env, "LISTEN_PID=1");
                add_pair(env, "LISTEN_FDS=", number);
                if (host->listen_fd_names)
                        add_pair(env, "LISTEN_FDNAMES=", host->listen_fd_names);
        }
        if (input->notify_socket) {
                const char *watchdog = find_entry(host->environment, "WATCHDOG_USEC", strlen("WATCHDOG_USEC"));

                add(env, "NOTIFY_SOCKET=" NOTIFY_SOCKET_INSIDE);
                if (watchdog)
                        add(env, watchdog);
        }
}

/* A user who was named and has no entry in passwd gets one (libstart/root/etc-content.c), whose home is
 * where the payload starts: podman's choice. */
static const char *find_home(const SpecInput *input) {
        const char *named = input->request->user ?: input->image->user;

        if (input->user->in_passwd || !named || !*named)
                return input->user->home;
        return input->request->workdir ?: input->image->working_dir ?: "/";
}

/* In the place of one that is left out in the end. */
static const char no_home[] = "HOME=";

/* An empty HOME is none, whoever sets it before. */
static void add_home(Environment *env, const char *home) {
        const char *set = find_value(env, "HOME=");

        if (set && *set)
                return;
        if (*home)
                add_pair(env, "HOME=", home);
        else
                add(env, no_home);
}

static void add_defaults(Environment *env, const SpecInput *input) {
        add_home(env, find_home(input));
        if (!find_value(env, "HOSTNAME="))
                add_pair(env, "HOSTNAME=", input->hostname);
        if (input->uuid && !find_value(env, "container_uuid="))
                add_pair(env, "container_uuid=", input->uuid);
        add_systemd(env, input);
}

/* The container's --env, with those that keyturn-generator wrote apart. Transfer container. */
static GPtrArray *merge_list(const SpecInput *input, GError **error) {
        return env_list_merge(input->env_list, input->env_list_length, input->request->env, error) ?:
                       error_prefix_null(error, "'%s': ", input->request->env_list);
}

static bool add_sources(Environment *env, const SpecInput *input, const GPtrArray *own, GError **error) {
        const ContainerRequest *request = input->request;

        add(env, DEFAULT_PATH);
        if (!request->rootfs) /* podman names itself to images only */
                add(env, "container=podman");
        if (!add_image(env, input->image, error))
                return false;
        if (request->env_host)
                add_from_host(env, input->host, "", 0);
        else if (request->http_proxy)
                add_proxies(env, input->host);
        if (!add_files(env, input, error))
                return false;
        for (guint i = 0; i < own->len; i++)
                if (!add_entry(env, skip_blanks(own->pdata[i]), input->host, error))
                        return false;
        for (guint i = 0; input->secret_variables && i < input->secret_variables->len; i++)
                add(env, input->secret_variables->pdata[i]);
        return true;
}

/* The last word: CDI edits a container that is described already. */
static void add_cdi(Environment *env, const GPtrArray *cdi) {
        for (guint i = 0; cdi && i < cdi->len; i++) {
                const GPtrArray *variables = ((const CdiEdits *) cdi->pdata[i])->env;

                for (guint j = 0; j < variables->len; j++)
                        add(env, variables->pdata[j]);
        }
}

static void close_gaps(Environment *env) {
        guint n = 0;

        for (guint i = 0; i < env->n_entries; i++)
                if (env->entries[i] && env->entries[i] != no_home)
                        env->entries[n++] = env->entries[i];
        env->n_entries = n;
}

/* Lines of files may be shorter than 32 bytes: the estimate only saves growing in steps. */
static guint estimate_entries(const SpecInput *input, const GPtrArray *own) {
        gsize n = 32 + own->len;

        for (guint i = 0; input->env_files && input->env_files[i]; i++)
                n += strlen(input->env_files[i]) / 32;
        return (guint) n;
}

char **environment_build(const SpecInput *input, GPtrArray *owned, GError **error) {
        g_autoptr(GPtrArray) merged = input->env_list ? merge_list(input, error) : NULL;
        const GPtrArray *own = input->env_list ? merged : input->request->env;
        guint size, n_slots;

        if (!own)
                return NULL;
        size = estimate_entries(input, own);
        n_slots = 1U << g_bit_storage(size + size / 3);

        Environment env = {
                .entries = g_new(const char *, size),
                .size = size,
                .slots = g_new0(Slot, n_slots),
                .n_slots = n_slots,
                .multiplier = choose_multiplier(),
                .owned = owned,
        };
        bool built = add_sources(&env, input, own, error);

        if (built) {
                add_defaults(&env, input);
                add_cdi(&env, input->cdi);
                close_gaps(&env);
                append(&env, NULL);
        } else {
                g_clear_pointer(&env.entries, g_free);
        }
        g_free(env.slots);
        return (char **) env.entries;
}
