/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/process.h"
#include "libstart/base/user-view.h"
#include "libstart/config/small-file.h"
#include "libstart/network/netavark-json.h"
#include "libstart/network/netavark.h"
#include "libstart/network/user-bridges.h"

#define STATE "/run/containers/networks"
#define FIREWALL_DRIVER STATE "/firewall/firewall-driver" /* root's */
#define OUTPUT_MAX ((size_t) 1 << 20)

bool netavark_check(const NetworkConf *conf, bool with_dns, GError **error) {
        g_autofree char *netavark = network_conf_find_helper(conf, "netavark");
        g_autofree char *aardvark = network_conf_find_helper(conf, "aardvark-dns");

        if (!netavark)
                return error_set(error, KT_ERROR_NOT_FOUND,
                                 "Networks are made by netavark, which is not there: install the package netavark");
        if (with_dns && !aardvark)
                return error_set(error, KT_ERROR_NOT_FOUND,
                                 "The network has names, for which aardvark-dns is needed: install the package "
                                 "aardvark-dns, or say DisableDNS=true in the .network file");
        return true;
}

static const char *find_state(void) {
        return user_view_is_here() ? USER_BRIDGES_STATE : STATE;
}

static char **make_words(const NetworkConf *conf, const char *verb, const char *netns) {
        g_autoptr(GStrvBuilder) words = g_strv_builder_new();
        g_autofree char *netavark = network_conf_find_helper(conf, "netavark"),
                        *aardvark = network_conf_find_helper(conf, "aardvark-dns");

        g_strv_builder_add_many(words, netavark, "--config", find_state(),
                                user_view_is_here() ? "--rootless=true" : "--rootless=false", NULL);
        if (aardvark)
                g_strv_builder_add_many(words, "--aardvark-binary", aardvark, NULL);
        g_strv_builder_add_many(words, verb, netns, NULL);
        return g_strv_builder_end(words);
}

/* netavark looks for systemd-run in $PATH, so that aardvark-dns gets a scope of its own. */
static char **make_environment(const NetworkConf *conf) {
        char **environment = g_environ_setenv(g_get_environ(), "PATH", "/usr/sbin:/usr/bin:/sbin:/bin", FALSE);

        if (conf->firewall_driver)
                environment = g_environ_setenv(environment, "NETAVARK_FW", conf->firewall_driver, FALSE);
        if (conf->dns_port > 0) {
                g_autofree char *port = g_strdup_printf("%u", conf->dns_port);

                environment = g_environ_setenv(environment, "NETAVARK_DNS_PORT", port, FALSE);
        }
        return environment;
}

/* Files in memory: nobody waits for the end of a pipe that aardvark-dns, which stays, might have, too. */
static int open_memory(const char *text, GError **error) {
        _cleanup_close_ int fd = memfd_create("keyturn-network", MFD_CLOEXEC);

        if (fd >= 0 && fd_write_all(fd, text, strlen(text)) && lseek(fd, 0, SEEK_SET) == 0)
                return fd_steal(&fd);
        return error_negative_errno(error, errno, "Cannot talk to netavark");
}

static bool wait_for(GPid pid, GError **error) {
        int status;

        if (process_wait(pid, &status, 0) < 0)
                return error_set_errno(error, errno, "Cannot wait for netavark");
        return g_spawn_check_wait_status(status, error);
}

/* Of the child, before it is netavark. */
static void enter(void *bridges) {
        if (setns(GPOINTER_TO_INT(bridges), CLONE_NEWNET) < 0)
                _exit(EXIT_FAILURE);
}

static bool begin(const NetworkConf *conf, const char *verb, const char *netns, const char *document, int *ret_output,
                  GPid *ret_pid, GError **error) {
        g_auto(GStrv) environment = make_environment(conf);
        g_auto(GStrv) words = NULL;
        _cleanup_close_ int input = -1, output = -1, bridges = -1;
        const char *state = find_state();

        /* netavark's locks in there are readable for all, and who may read them may lock them. */
        if (g_mkdir_with_parents(state, 0700) < 0 || chmod(state, 0700) < 0)
                return error_set_errno(error, errno, "Cannot make '%s'", state);
        if (user_view_is_here() && (bridges = user_bridges_open()) < 0)
                return error_set(error, KT_ERROR_NOT_FOUND, "There is no network namespace for the user's bridges");
        input = open_memory(document, error);
        output = input >= 0 ? open_memory("", error) : -1;
        if (output < 0)
                return false;
        words = make_words(conf, verb, netns);
        if (!g_spawn_async_with_pipes_and_fds(NULL, (const char *const *) words, (const char *const *) environment,
                                              G_SPAWN_DO_NOT_REAP_CHILD, bridges >= 0 ? enter : NULL,
                                              GINT_TO_POINTER(bridges), input, output, -1, NULL, NULL, 0, ret_pid,
                                              NULL, NULL, NULL, error))
                return false;
        *ret_output = fd_steal(&output);
        return true;
}

bool netavark_run(const NetworkConf *conf, const char *verb, const char *netns, const char *document,
                  char **ret_output, GError **error) {
        g_autofree char *text = NULL, *problem = NULL;
        g_autoptr(GError) failure = NULL;
        _cleanup_close_ int output = -1;
        GPid pid;
        bool ok;

        if (!netavark_check(conf, false, error))
                return false;
        if (!begin(conf, verb, netns, document, &output, &pid, &failure))
                return error_set(error, KT_ERROR_NOT_EXECUTABLE, "Cannot run netavark: %s", failure->message);
        ok = wait_for(pid, &failure);
        (void) lseek(output, 0, SEEK_SET);
        if (!file_read_fd(output, "what netavark says", OUTPUT_MAX, &text, NULL, error))
                return false;
        if (ok && ret_output)
                *ret_output = g_steal_pointer(&text);
        if (ok)
                return true;
        problem = netavark_parse_error(text, strlen(text));
        return error_set(error,
                         problem || failure->domain == G_SPAWN_EXIT_ERROR ? KT_ERROR_FAILED : KT_ERROR_NOT_EXECUTABLE,
                         "netavark %s: %s", verb, problem ?: failure->message);
}

/* netavark keeps its driver's name for firewalld's reload: that others have one must not be forgotten. */
bool netavark_setup_without_rules(const NetworkConf *conf, const char *netns, const char *document, char **ret_output,
                                  GError **error) {
        NetworkConf without = *conf;
        g_autofree char *driver = NULL;
        bool ok;

        if (!file_read(FIREWALL_DRIVER, &driver, NULL, error))
                return false;
        without.firewall_driver = (char *) "none";
        ok = netavark_run(&without, "setup", netns, document, ret_output, error);
        return (!driver || g_file_set_contents_full(FIREWALL_DRIVER, driver, -1, G_FILE_SET_CONTENTS_CONSISTENT, 0644,
                                                    ok ? error : NULL)) &&
               ok;
}
