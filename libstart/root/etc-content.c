/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "keyturn-config.h"
#include "libstart/base/error.h"
#include "libstart/config/small-file.h"
#include "libstart/root/etc-content.h"
#include "libstart/value/names.h"

/* The blank-separated words of a line, up to a comment. */
static GPtrArray *split_line(char *line) {
        GPtrArray *words = g_ptr_array_new();
        char *save = NULL;

        line[strcspn(line, "#")] = '\0';
        for (char *word = strtok_r(line, " \t\r", &save); word; word = strtok_r(NULL, " \t\r", &save))
                g_ptr_array_add(words, word);
        return words;
}

/* Adds the names of hosts in the text to `names`; the strings belong to `lines`. */
static void append_hosts(GString *text, char *const *lines, GHashTable *names) {
        for (char *const *line = lines; *line; line++) {
                g_autoptr(GPtrArray) words = split_line(*line);

                if (words->len < 2)
                        continue;
                g_string_append(text, words->pdata[0]);
                for (guint i = 1; i < words->len; i++) {
                        g_string_append_printf(text, "%s%s", i == 1 ? "\t" : " ", (char *) words->pdata[i]);
                        g_hash_table_add(names, words->pdata[i]);
                }
                g_string_append_c(text, '\n');
        }
}

/* A line of an address and its names, of which `names` has none yet. */
static void append_free_names(GString *text, const char *line, const GHashTable *names) {
        g_auto(GStrv) words = g_strsplit_set(line, "\t ", -1);
        size_t begin = text->len;

        for (char **word = words[0] ? words + 1 : words; *word; word++)
                if (**word && !g_hash_table_contains((GHashTable *) names, *word) &&
                    !g_strv_contains((const char *const *) word + 1, *word))
                        g_string_append_printf(text, "%s%s", text->len == begin ? "\t" : " ", *word);
        if (text->len > begin) {
                g_string_insert(text, (gssize) begin, words[0]);
                g_string_append_c(text, '\n');
        }
}

static void append_own_line(GString *text, const char *address, const char *hostname, const char *container_name,
                            const char *aliases) {
        bool is_host = name_is_host(container_name) && !g_str_equal(hostname, container_name);

        g_string_append_printf(text, "%s\t%s%s%s %s\n", address, hostname, is_host ? " " : "",
                               is_host ? container_name : "", aliases);
}

char *etc_own_hosts(const NetworkNames *names, const char *hostname, const char *container_name) {
        GString *text = g_string_new(NULL);

        if (!names)
                append_own_line(text, "127.0.0.1", hostname, container_name, "");
        else if (names->gateway)
                g_string_append_printf(text, "%s\thost.containers.internal host.docker.internal\n", names->gateway);
        for (guint i = 0; names && i < names->addresses->len; i++)
                append_own_line(text, names->addresses->pdata[i], hostname, container_name, names->aliases->pdata[i]);
        return g_string_free(text, FALSE);
}

char *etc_hosts(const char *added, const char *host_hosts, const char *own) {
        g_autofree char *all = g_strconcat(added ?: "", host_hosts, NULL);
        g_auto(GStrv) lines = g_strsplit(all, "\n", -1), own_lines = g_strsplit(own ?: "", "\n", -1);
        g_autoptr(GHashTable) names = g_hash_table_new(g_str_hash, g_str_equal);
        GString *text = g_string_new(NULL);

        append_hosts(text, lines, names);
        if (!g_hash_table_contains(names, "localhost"))
                g_string_append(text, "127.0.0.1\tlocalhost\n::1\tlocalhost\n");
        for (char **line = own_lines; *line; line++)
                append_free_names(text, *line, names);
        return g_string_free(text, FALSE);
}

/* What a resolv.conf(5) says. Strings belong to `lines`. */
typedef struct Resolver {
        char **lines;
        GPtrArray *servers, *searches, *options;
} Resolver;

static void resolver_clear(Resolver *resolver) {
        g_strfreev(resolver->lines);
        g_ptr_array_unref(resolver->servers);
        g_ptr_array_unref(resolver->searches);
        g_ptr_array_unref(resolver->options);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Resolver, resolver_clear)

static bool is_server(const char *text) {
        g_autofree char *address = g_strndup(text, strcspn(text, "%")); /* an interface may follow one of a link */
        struct in6_addr any;

        return inet_pton(AF_INET, text, &any) == 1 || inet_pton(AF_INET6, address, &any) == 1;
}

/* The last line counts, as for the C library. */
static void replace_words(GPtrArray *list, const GPtrArray *line) {
        g_ptr_array_set_size(list, 0);
        for (guint i = 1; i < line->len; i++)
                g_ptr_array_add(list, line->pdata[i]);
}

static void read_resolver(const char *text, Resolver *ret) {
        ret->lines = g_strsplit(text ?: "", "\n", -1);
        for (char **line = ret->lines; *line; line++) {
                g_autoptr(GPtrArray) words = split_line(*line);
                const char *keyword = words->len > 0 ? words->pdata[0] : "";

                if (g_str_equal(keyword, "nameserver") && words->len == 2 && is_server(words->pdata[1]))
                        g_ptr_array_add(ret->servers, words->pdata[1]);
                else if (g_str_equal(keyword, "search"))
                        replace_words(ret->searches, words);
                else if (g_str_equal(keyword, "options"))
                        replace_words(ret->options, words);
        }
}

static void append_words(GString *text, const char *keyword, const GPtrArray *words) {
        for (guint i = 0; i < words->len; i++)
                g_string_append_printf(text, "%s %s", i == 0 ? keyword : "", (const char *) words->pdata[i]);
        if (words->len > 0)
                g_string_append_c(text, '\n');
}

/* What is asked for, and then the host's if it counts. Transfer container. */
static GPtrArray *combine(const GPtrArray *asked, const GPtrArray *host, bool with_host) {
        GPtrArray *all = g_ptr_array_new();

        for (guint i = 0; asked && i < asked->len; i++)
                g_ptr_array_add(all, asked->pdata[i]);
        for (guint i = 0; (!asked || with_host) && i < host->len; i++)
                g_ptr_array_add(all, host->pdata[i]);
        return all;
}

static bool is_dot(const GPtrArray *searches) {
        return searches && searches->len == 1 && g_str_equal(searches->pdata[0], ".");
}

const char *etc_resolv_conf_elsewhere(const char *host_resolv_conf) {
        g_auto(Resolver)
                host = { .servers = g_ptr_array_new(), .searches = g_ptr_array_new(), .options = g_ptr_array_new() };
        const char *server;

        read_resolver(host_resolv_conf, &host);
        server = host.servers->len == 1 ? host.servers->pdata[0] : "";
        return g_str_equal(server, "127.0.0.53") ? "/run/systemd/resolve/resolv.conf" :
               g_str_equal(server, "127.0.0.1")  ? "/run/NetworkManager/no-stub-resolv.conf" :
                                                   NULL;
}

static bool has_ipv6(const NetworkNames *names) {
        for (guint i = 0; i < names->addresses->len; i++)
                if (strchr(names->addresses->pdata[i], ':'))
                        return true;
        return false;
}

/* What cannot be reached from another network than the host's. */
static void remove_unreachable(GPtrArray *servers, bool ipv6) {
        for (guint i = servers->len; i > 0; i--) {
                const char *server = servers->pdata[i - 1];

                if (g_str_has_prefix(server, "127.") || g_str_equal(server, "::1") || (!ipv6 && strchr(server, ':')))
                        g_ptr_array_remove_index(servers, i - 1);
        }
        if (servers->len > 0)
                return;
        g_ptr_array_add(servers, (void *) "8.8.8.8");
        g_ptr_array_add(servers, (void *) "8.8.4.4");
        if (ipv6) {
                g_ptr_array_add(servers, (void *) "2001:4860:4860::8888");
                g_ptr_array_add(servers, (void *) "2001:4860:4860::8844");
        }
}

/* Of a network, those that its file asks for; else those of the request. */
static const GPtrArray *choose(const GPtrArray *network, const GPtrArray *request) {
        return network && network->len > 0 ? network : request;
}

char *etc_resolv_conf(const char *host_resolv_conf, const DnsRequest *dns, const NetworkNames *names) {
        g_auto(Resolver)
                host = { .servers = g_ptr_array_new(), .searches = g_ptr_array_new(), .options = g_ptr_array_new() };
        const GPtrArray *asked_servers = choose(names ? names->servers : NULL, dns->servers);
        const GPtrArray *asked_searches = dns->searches ?: choose(names ? names->search : NULL, NULL);
        GString *text = g_string_new(NULL);
        bool with_host = !asked_servers;

        read_resolver(host_resolv_conf, &host);
        if (names && names->forwarder)
                g_ptr_array_insert(host.servers, 0, (void *) names->forwarder);
        if (names)
                remove_unreachable(host.servers, has_ipv6(names));
        g_autoptr(GPtrArray) servers = combine(asked_servers, host.servers, false);
        g_autoptr(GPtrArray) searches = combine(asked_searches, host.searches, with_host && !is_dot(dns->searches));
        g_autoptr(GPtrArray) options = combine(dns->options, host.options, with_host);

        if (!is_dot(searches))
                append_words(text, "search", searches);
        for (guint i = 0; i < servers->len; i++)
                g_string_append_printf(text, "nameserver %s\n", (const char *) servers->pdata[i]);
        append_words(text, "options", options);
        return g_string_free(text, FALSE);
}

static const char *newline_after(const char *text) {
        return !text || !*text || g_str_has_suffix(text, "\n") ? "" : "\n";
}

/* Of passwd(5) and group(5): both have the name first, and then the number as the third field. */
enum {
        FIELD_NAME = 0,
        FIELD_NUMBER = 2,
};

/* The first line that has `value` there. NULL where there is none. */
static const char *find_line(const char *text, int wanted, const char *value) {
        size_t length = strlen(value);

        for (const char *line = text; line && *line; line += strcspn(line, "\n"), line += *line == '\n') {
                const char *field = line;

                for (int i = 0; field && i < wanted; i++) {
                        field += strcspn(field, ":\n");
                        field = *field == ':' ? field + 1 : NULL;
                }
                if (field && strncmp(field, value, length) == 0 && strchr(":\n", field[length]))
                        return line;
        }
        return NULL;
}

static const char *find_number(const char *text, guint32 number) {
        char digits[sizeof "4294967295"];

        (void) snprintf(digits, sizeof digits, "%u", number);
        return find_line(text, FIELD_NUMBER, digits);
}

/* Transfer full. */
static char *find_name(const char *text, guint32 number) {
        const char *line = find_number(text, number);

        return line && *line != ':' ? g_strndup(line, strcspn(line, ":\n")) : NULL;
}

KeptUser kept_user_find(uid_t uid, gid_t gid, const char *passwd, const char *group) {
        return (KeptUser) { uid, gid, find_name(passwd, uid), find_name(group, gid) };
}

void kept_user_clear(KeptUser *kept) {
        g_clear_pointer(&kept->name, g_free);
        g_clear_pointer(&kept->group, g_free);
}

/* Neither the number is there nor the name. */
static bool is_missing(const char *text, const char *name, guint32 number) {
        return name && !find_number(text, number) && !find_line(text, FIELD_NAME, name);
}

/* Transfer full; NULL for no lines. */
static char *append(const char *text, GString *lines) {
        g_autofree char *added = g_string_free(lines, FALSE);

        return added[0] ? g_strconcat(text ?: "", newline_after(text), added, NULL) : NULL;
}

char *etc_passwd(const char *text, const UserIdentity *user, const KeptUser *kept, const char *workdir) {
        /* The working directory may be the image's: it must not begin another field or line. */
        const char *home = workdir[strcspn(workdir, ":\n")] ? "/" : workdir;
        bool with_kept = kept && is_missing(text, kept->name, kept->uid);
        GString *lines = g_string_new(NULL);

        if (with_kept)
                g_string_append_printf(lines, "%s:*:%u:%u::%s:/bin/sh\n", kept->name, kept->uid, kept->gid, home);
        if (!user->in_passwd && user->uid != 0 && (!with_kept || user->uid != kept->uid))
                g_string_append_printf(lines, "%u:*:%u:%u:container user:%s:/bin/sh\n", user->uid, user->uid,
                                       user->gid, home);
        return append(text, lines);
}

char *etc_group(const char *text, const UserIdentity *user, const KeptUser *kept) {
        gid_t gid = user->explicit_group ? user->gid : user->uid;
        bool with_kept = kept && is_missing(text, kept->group, kept->gid);
        GString *lines = g_string_new(NULL);

        if (with_kept)
                g_string_append_printf(lines, "%s:x:%u:%s\n", kept->group, kept->gid, kept->name ?: "");
        if ((user->explicit_group || (user->uid != 0 && !user->in_passwd)) && !find_number(text, gid) &&
            (!with_kept || gid != kept->gid))
                g_string_append_printf(lines, "%u:x:%u:%u\n", gid, gid, user->uid);
        return append(text, lines);
}

char *etc_containerenv(const char *name, const char *image, const char *image_id) {
        g_autofree char *quoted = g_strescape(image ?: "", NULL);

        return g_strdup_printf("engine=\"keyturn-" KEYTURN_VERSION "\"\nname=\"%s\"\nid=\"%s\"\nimage=\"%s\"\n"
                               "imageid=\"%s\"\nrootless=0\n",
                               name, name, quoted, image_id ?: "");
}

bool etc_localtime(const char *root, const char *zone, char **ret_content, gsize *ret_length, GError **error) {
        static const char magic[] = { 'T', 'Z', 'i', 'f' };
        bool local = g_str_equal(zone, "local");
        g_autofree char *path = local ? g_build_filename(root, "etc/localtime", NULL) :
                                        g_build_filename(root, "usr/share/zoneinfo", zone, NULL);
        g_autofree char *content = NULL, *why = NULL;
        g_autoptr(GError) problem = NULL;
        gsize length = 0;

        /* Directories and lists are among the zones; libc would take them for UTC, and say nothing. */
        if (file_read(path, &content, &length, &problem) && length >= sizeof magic &&
            memcmp(content, magic, sizeof magic) == 0) {
                *ret_content = g_steal_pointer(&content);
                *ret_length = length;
                return true;
        }
        why = problem ? g_strdup(problem->message) : g_strdup_printf("'%s' is no zone", path);
        return local ? error_set(error, KT_ERROR_FAILED,
                                 "The host has no time zone to pass on: %s; name one, or set the host's (timedatectl "
                                 "set-timezone)",
                                 why) :
                       error_set(error, KT_ERROR_FAILED,
                                 "There is no time zone '%s': %s; name one that is there (timedatectl "
                                 "list-timezones), or install tzdata",
                                 zone, why);
}
