/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/option/request.h"

/* The seam of the project: what a container is to be, as the generator writes it into ExecStart= and
 * `libstart run` reads it back. Names and meanings are those of `podman run` (podman-run(1)), of which this is a
 * subset; options of our own are marked. Both directions come from one table (launch-args.c), and
 * parse(build(x)) == x.
 *
 * Values stay strings here: in the generator they may still hold systemd's specifiers (%i) and variables
 * (${NAME}), which systemd expands before libstart sees them. What they mean is a ContainerRequest. */

typedef enum LaunchFlag {
        FLAG_UNSET, /* the default of podman run applies */
        FLAG_FALSE,
        FLAG_TRUE,
} LaunchFlag;

typedef struct LaunchArgs {
        /* who it is */
        char *name;
        char *hostname;
        GPtrArray *labels;      /* KEY=VALUE */
        GPtrArray *annotations; /* KEY=VALUE */

        /* what runs */
        char *entrypoint;     /* "" clears the image's; a JSON array; else one word */
        char *user;           /* USER[:GROUP] */
        GPtrArray *group_add; /* GROUP[,GROUP...] */
        LaunchFlag init;      /* below an init of the host's */
        char *init_path;      /* which; else catatonit */
        char *systemd; /* is the payload an init itself? true (default: if it is called like one), always, false */
        char *workdir;
        GPtrArray *env;       /* NAME=VALUE, NAME (from the launcher's environment), PREFIX* */
        GPtrArray *env_files; /* absolute paths, in podman's format */
        LaunchFlag env_host;
        LaunchFlag http_proxy;
        char *timezone; /* local, or a name in the host's zoneinfo */

        /* what it sees */
        LaunchFlag rootfs; /* `image` is a directory instead of an image reference */
        LaunchFlag read_only;
        LaunchFlag read_only_tmpfs;
        GPtrArray *volumes;      /* SOURCE:DESTINATION[:OPTIONS] */
        GPtrArray *mounts;       /* type=…,source=…,destination=… */
        GPtrArray *tmpfs;        /* DESTINATION[:OPTIONS] */
        GPtrArray *devices;      /* [-]SOURCE[:DESTINATION][:PERMISSIONS] */
        GPtrArray *device_rules; /* TYPE MAJOR:MINOR ACCESS */
        LaunchFlag privileged;
        GPtrArray *secrets; /* NAME[,type=TYPE][,target=TARGET][,uid=N][,gid=N][,mode=MODE] */
        char *shm_size;
        char *shm_path;         /* keyturn's own: a directory of the host, which is /dev/shm instead */
        char *pid;              /* private, host */
        char *ipc, *uts;        /* private, host, ns:PATH */
        char *image_volume;     /* anonymous, tmpfs, ignore */
        GPtrArray *storage_opt; /* size=SIZE, size=PERCENT%, inodes=NUMBER */
        char *network;          /* host, none, pinned:NAME, owned:NAME, ns:PATH, container:UNIT */
        char *network_id;       /* of pinned:NAME, keyturn's own */
        GPtrArray *add_hosts;   /* NAME[;NAME...]:ADDRESS */
        LaunchFlag no_hosts;    /* /etc/hosts is the image's */
        GPtrArray *dns, *dns_search, *dns_option;

        /* what it may do */
        char *userns;       /* auto[:OPTIONS], keep-id[:OPTIONS], ns:PATH, host */
        GPtrArray *uidmaps; /* [FLAGS]INSIDE:[@]OUTSIDE[:COUNT] */
        GPtrArray *gidmaps;
        char *subuidname; /* a user in /etc/subuid */
        char *subgidname;
        GPtrArray *cap_add;
        GPtrArray *cap_drop;
        GPtrArray *security_opt; /* as in security-option.h */
        GPtrArray *ulimits;      /* NAME=SOFT[:HARD] or host */
        GPtrArray *sysctls;      /* NAME=VALUE */

        /* how systemd has it */
        char *log_driver; /* journald (default), passthrough, none */
        GPtrArray *log_opt;
        char *sdnotify;    /* conmon (default: READY=1 once the payload was executed), container, healthy, ignore */
        char *stop_signal; /* told to systemd by the generator; here for the OCI state only */
        /* what is run to see whether it is well: health-request.h */
        char *health_cmd, *health_interval, *health_retries, *health_timeout, *health_start_period,
                *health_on_failure;
        char *health_startup_cmd, *health_startup_interval, *health_startup_retries, *health_startup_success,
                *health_startup_timeout;
        char *health_log_destination, *health_max_log_count, *health_max_log_size;
        LaunchFlag no_healthcheck;
        LaunchFlag detach; /* hand the payload over to systemd and exit, rather than wait for it */
        char *cidfile;     /* file that the container's name is written to */

        /* keyturn's own */
        char *env_list;       /* file with more of `env`, in its order (env-list.h) */
        char *untrusted_list; /* file with the directories of the host that payloads can write to (run/host-path.h) */
        GPtrArray *hooks;     /* files of hooks.d as in hook-word.h, in their order */
        LaunchFlag guard_devices; /* libstart forbids other devices: only the start knows which these are */
        char *state_dir;          /* the container's directory on /run, made and removed by systemd */
        LaunchFlag timing;        /* say where the time of the start went */
        LaunchFlag print_spec;    /* print the OCI config.json and start nothing */

        /* positional */
        char *image;        /* reference, or a directory with --rootfs; may be NULL while options are collected */
        GPtrArray *command; /* words after the image */
} LaunchArgs;

LaunchArgs *launch_args_new(void);
void launch_args_free(LaunchArgs *args);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LaunchArgs, launch_args_free)

/* Add one option, by its long name without dashes ("ulimit"). A list grows, anything else is replaced. `value` is
 * copied; for a flag it is "true" or "false" (podman's spellings: 1 t T TRUE true True, 0 f F FALSE false False).
 * The value is checked as far as it is known: one that still holds % or $ is left for libstart to check.
 * Fails with KT_ERROR_USAGE, naming the option, and leaves args as it was. */
bool launch_args_set(LaunchArgs *args, const char *option, const char *value, GError **error);

/* How many words the option that `word` begins has: 1 or 2. 0 if it is none that there is. */
unsigned launch_args_option_words(const char *word);

/* Add options only, as PodmanArgs= has them: a word that is no option is an error. Values are checked as by
 * launch_args_set(). `words` is NULL-terminated. */
bool launch_args_parse_options(LaunchArgs *args, const char *const *words, GError **error);

/* Options, then the image, then the command. "--" ends the options. Values are not looked at, for in a unit they may
 * still hold what systemd is to expand; but one that a later option replaces is checked here, as nobody else sees it. */
LaunchArgs *launch_args_parse(const char *const *words, GError **error);

/* Read all values, each once, whatever they hold. The request uses the strings of `args`. Errors name the option; *ret is
 * left alone then. */
bool launch_args_read(const LaunchArgs *args, ContainerRequest *ret, GError **error);

/* Whether what is in `args` can be together. Values that systemd has still to complete (% and $) are left out. */
bool launch_args_check(const LaunchArgs *args, GError **error);

/* The words of a command line that mean `args`, in the order of the table. An option and its value are two words,
 * so that systemd expands a value that is only "$NAME" as Quadlet's users expect. Transfer container: the words
 * belong to `args`. */
GPtrArray *launch_args_build(const LaunchArgs *args);

/* Append `word` to `line` so that systemd, which expands % and $ in it, reads one word from it; a blank before it unless
 * line is empty. */
void launch_args_append_word(GString *line, const char *word);
void launch_args_append_words(GString *line, const GPtrArray *words);

/* Append an option and its value so; nothing where the value is NULL, and once for each of several. */
void launch_args_append_option(GString *line, const char *option, const char *value);
void launch_args_append_options(GString *line, const char *option, const GPtrArray *values);

/* Append all of launch_args_build() so: the rest of an ExecStart=. */
void launch_args_append(const LaunchArgs *args, GString *line);

/* The value of the last NAME=VALUE in a list of values, labels for example; or NULL. */
const char *launch_args_last(const GPtrArray *values, const char *name);

/* One line of help an option, for --help and the man page's test. Transfer full. */
char *launch_args_help(void);
