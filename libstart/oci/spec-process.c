/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/base/error.h"
#include "libstart/oci/payload-args.h"
#include "libstart/oci/spec-parts.h"
#include "libstart/option/security-option.h"

static runtime_spec_schema_config_schema_process_user *make_user(const UserIdentity *identity) {
        runtime_spec_schema_config_schema_process_user *user = g_new0(typeof(*user), 1);
        const GArray *gids = identity->additional_gids;

        user->uid = identity->uid;
        user->gid = identity->gid;
        user->umask = 0022;
        user->uid_present = user->gid_present = user->umask_present = true;
        if (gids->len > 0) {
                user->additional_gids = g_memdup2(gids->data, gids->len * sizeof(gid_t));
                user->additional_gids_len = gids->len;
        }
        return user;
}

/* The last one counts. */
static bool set_no_new_privileges(Spec *spec, const LaunchArgs *args, GError **error) {
        for (guint i = 0; i < args->security_opt->len; i++) {
                SecurityOption option;

                if (!security_option_parse(args->security_opt->pdata[i], &option, error))
                        return false;
                if (option.kind == SECURITY_NO_NEW_PRIVILEGES) {
                        spec->process->no_new_privileges = option.enabled;
                        spec->process->no_new_privileges_present = option.enabled;
                }
        }
        return true;
}

bool spec_add_process(Spec *spec, const SpecInput *input, GError **error) {
        runtime_spec_schema_config_schema_process *process = g_new0(typeof(*process), 1);
        const char *workdir = input->args->workdir ?: input->image->working_dir;

        spec->process = process;
        process->cwd = g_strdup(workdir ?: "/");
        process->user = make_user(input->user);
        process->env = spec_copy_strings(input->environment, &process->env_len);
        process->args = payload_args_build(input->args, input->image, error);
        if (!process->args)
                return false;
        process->args_len = g_strv_length(process->args);
        return set_no_new_privileges(spec, input->args, error);
}
