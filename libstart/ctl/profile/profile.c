/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/host-program.h"
#include "libstart/base/log.h"
#include "libstart/base/output-file.h"
#include "libstart/config/small-file.h"
#include "libstart/ctl/container/payload.h"
#include "libstart/ctl/profile/commands.h"
#include "libstart/ctl/profile/flame-stacks.h"
#include "libstart/ctl/profile/profile-report.h"
#include "libstart/ctl/profile/recording.h"

/* Samples a second: of a start, which is short, many. Not a multiple of what the kernel's own clock ticks with. */
enum { START_FREQUENCY = 1499, RUN_FREQUENCY = 999, STARTS_MAX = 1000, SECONDS_MAX = 600 };

typedef struct Profile {
        char **units;       /* "camera.service", borrowed */
        GPtrArray *cgroups; /* of those that run, borrowed */
        guint starts;       /* 0: it watches what runs */
        guint frequency;
        guint64 usec; /* that were recorded */
} Profile;

/* What a container's start costs is seen beside that of a service without one, so it may be one as well. */
static bool is_plain_service(const char *word, GError **error) {
        if (!g_str_has_suffix(word, ".service") || !g_error_matches(*error, KT_ERROR, KT_ERROR_NOT_FOUND))
                return false;
        g_clear_error(error);
        return true;
}

/* In the place of the word comes the unit that it means. */
static bool find_unit(const GPtrArray *all, char **word, Profile *profile, GError **error) {
        const ContainerUnit *container = container_units_get(all, *word, error);

        if (!container)
                return profile->starts > 0 && is_plain_service(*word, error);
        if (profile->starts == 0 && !payload_check_running(container, error))
                return false;
        *word = container->unit;
        g_ptr_array_add(profile->cgroups, container->cgroup);
        return true;
}

static bool check(const GPtrArray *all, const Options *options, char **words, Profile *profile, GError **error) {
        if (!words[0])
                return error_set(error, KT_ERROR_USAGE, "'profile' takes the container, or several");
        if ((options->starts > 0) == (options->seconds > 0))
                return error_set(
                        error, KT_ERROR_USAGE,
                        "'profile' takes --starts, for which containers are stopped and started so often, or "
                        "--seconds, for how long they are watched as they run");
        if (options->starts > STARTS_MAX || options->seconds > SECONDS_MAX)
                return error_set(error, KT_ERROR_USAGE, "No more than %d starts, or %d seconds", STARTS_MAX,
                                 SECONDS_MAX);
        if (geteuid() != 0)
                return error_set(error, KT_ERROR_USAGE, "Only root may take samples of the whole machine");
        profile->starts = (guint) options->starts;
        profile->frequency = profile->starts > 0 ? START_FREQUENCY : RUN_FREQUENCY;
        profile->units = words;
        for (; *words; words++)
                if (!find_unit(all, words, profile, error))
                        return false;
        return true;
}

/* All of them in one call, as at a boot. */
static bool systemctl(const Profile *profile, const char *verb, GError **error) {
        g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
        g_autofree char *what = g_strdup_printf("systemctl %s", verb);
        g_auto(GStrv) words = NULL;

        g_strv_builder_add_many(builder, "/usr/bin/systemctl", verb, "--", NULL);
        g_strv_builder_addv(builder, (const char **) profile->units);
        words = g_strv_builder_end(builder);
        return host_program_run((const char *const *) words, what, error);
}

/* The first start, which is not recorded, brings what is there once, ahead of all others: filters, networks. What is
 * started is left running. */
static bool record_starts(Profile *profile, Recording *recording, GError **error) {
        if (!systemctl(profile, "start", error))
                return false;
        for (guint i = 0; i < profile->starts; i++) {
                gint64 begin;

                if (!systemctl(profile, "stop", error))
                        return false;
                systemctl(profile, "reset-failed", NULL); /* StartLimitBurst= is not for us */
                if (!recording_switch(recording, true, error))
                        return false;
                begin = g_get_monotonic_time();
                if (!systemctl(profile, "start", error))
                        return false;
                profile->usec += (guint64) (g_get_monotonic_time() - begin);
                if (!recording_switch(recording, false, error))
                        return false;
        }
        return true;
}

static bool record_seconds(Profile *profile, Recording *recording, guint seconds, GError **error) {
        if (!recording_switch(recording, true, error))
                return false;
        recording_wait(recording, seconds);
        profile->usec = (guint64) seconds * G_USEC_PER_SEC;
        return recording_switch(recording, false, error);
}

static bool is_in_cgroup(const Profile *profile, const char *cgroup) {
        for (guint i = 0; i < profile->cgroups->len; i++) {
                const char *own = profile->cgroups->pdata[i];
                gsize length = strlen(own);

                if (length > 0 && strncmp(cgroup, own, length) == 0 &&
                    (cgroup[length] == '/' || cgroup[length] == '\0'))
                        return true;
        }
        return false;
}

static void set_process(const Profile *profile, Samples *samples, const char *pid, const struct stat *root) {
        g_autofree char *cgroup_path = g_build_filename("/proc", pid, "cgroup", NULL), *cgroup = NULL;
        g_autofree char *root_path = g_build_filename("/proc", pid, "root", NULL);
        bool is_foreign, is_payload;
        struct stat own;
        char *line;

        /* Kernel threads have none of their own, and who has ended none any more. */
        if (stat(root_path, &own) != 0 || !g_file_get_contents(cgroup_path, &cgroup, NULL, NULL))
                return;
        is_foreign = own.st_dev != root->st_dev || own.st_ino != root->st_ino;
        /* That of cgroup v2 is the last one, where there are others. */
        line = g_str_has_prefix(cgroup, "0::") ? cgroup : strstr(cgroup, "\n0::");
        is_payload = line && is_in_cgroup(profile, strchr(g_strchomp(line), '/') ?: "");
        if (is_payload || is_foreign)
                parts_set(samples->parts, atoi(pid), is_payload ? PART_PAYLOAD : PART_OTHER, is_foreign);
}

/* perf knows the names of those that ran before. Not in which container they are, nor whose files they see. */
static bool find_processes(const Profile *profile, Samples *samples, GError **error) {
        g_autoptr(GDir) proc = g_dir_open("/proc", 0, error);
        struct stat root;
        const char *name;

        if (!proc)
                return false;
        if (stat("/", &root) != 0)
                return error_set_errno(error, errno, "Cannot look at /");
        while ((name = g_dir_read_name(proc)))
                if (g_ascii_isdigit(name[0]))
                        set_process(profile, samples, name, &root);
        return true;
}

/* Transfer full. */
static char *make_title(const Profile *profile) {
        g_autofree char *names = g_strjoinv(" ", profile->units);
        long processors = sysconf(_SC_NPROCESSORS_ONLN);

        if (profile->starts == 0)
                return g_strdup_printf("%s for %.0f s, %ld processors", names,
                                       (double) profile->usec / G_USEC_PER_SEC, processors);
        return g_strdup_printf("%u starts of %s, %.1f ms each, %ld processors", profile->starts, names,
                               (double) profile->usec / 1000 / profile->starts, processors);
}

static bool show(const Profile *profile, const Samples *samples, const Options *options, GError **error) {
        g_autofree char *title = make_title(profile);
        const FlameGraph graphs[] = { { 0 },
                                      { samples->root, 1000.0 / profile->frequency / MAX(profile->starts, 1) } };

        if (samples->root->samples == 0)
                return error_set(error, KT_ERROR_FAILED, "perf has taken no samples on this machine");
        log_notice("%s", title);
        if (samples->lacks_libstart_names && !samples->has_libstart_names)
                log_notice("libstart's own functions have no names: Debian's package keyturn-dbgsym has them");
        return profile_report(graphs, title, options, error);
}

static bool read_graph(const char *file, FlameGraph *ret, GError **error) {
        g_autofree char *text = NULL;
        size_t length = 0;

        if (!file_read(file, &text, &length, error))
                return false;
        if (!text)
                return error_set(error, KT_ERROR_NOT_FOUND, "'%s' is not there", file);
        ret->root = flame_stacks_read(text, length, &ret->msec, error);
        if (!ret->root)
                g_prefix_error(error, "'%s': ", file);
        return ret->root;
}

/* --diff BEFORE.svg AFTER.svg: what has changed most, and with --output a picture of the second one, in the colours
 * of the change. */
static bool compare(const Options *options, char **files, GError **error) {
        g_autofree char *title = NULL;
        FlameGraph graphs[2] = { { 0 } };
        bool ok;

        if (options->starts > 0 || options->seconds > 0 || g_strv_length(files) != 2)
                return error_set(
                        error, KT_ERROR_USAGE,
                        "'profile --diff' takes two pictures that --output has made, and neither --starts nor "
                        "--seconds");
        title = g_strdup_printf("%s, and what has changed since %s", files[1], files[0]);
        ok = read_graph(files[0], &graphs[0], error) && read_graph(files[1], &graphs[1], error) &&
             profile_report(graphs, title, options, error);
        for (int i = 0; i < 2; i++)
                g_clear_pointer(&graphs[i].root, flame_free);
        return ok;
}

int command_profile(const GPtrArray *all, const Options *options, char **words, GError **error) {
        g_autoptr(GPtrArray) cgroups = g_ptr_array_new();
        Profile profile = { .cgroups = cgroups };
        g_autoptr(Samples) samples = samples_new();
        g_autoptr(Recording) recording = NULL;

        if (options->output && !output_file_check(options->output, error))
                return -1;
        if (options->diff)
                return compare(options, words, error) ? 0 : -1;
        if (!check(all, options, words, &profile, error) || !(recording = recording_begin(profile.frequency, error)))
                return -1;
        if (profile.starts > 0 ? !record_starts(&profile, recording, error) :
                                 !find_processes(&profile, samples, error) ||
                                         !record_seconds(&profile, recording, (guint) options->seconds, error))
                return -1;
        return recording_read(recording, samples, error) && show(&profile, samples, options, error) ? 0 : -1;
}
