/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/base/error.h"
#include "libstart/ctl/commands.h"
#include "libstart/ctl/container/running-facts.h"
#include "libstart/ctl/ports.h"
#include "libstart/table/table.h"

static char *join_mounts(const runtime_spec_schema_config_schema *spec) {
        g_autoptr(GPtrArray) words = g_ptr_array_new_with_free_func(g_free);

        for (size_t i = 0; i < spec->mounts_len; i++) {
                const runtime_spec_schema_defs_mount *mount = spec->mounts[i];
                const char *source = mount->source ?: mount->type ?: "";

                g_ptr_array_add(words, g_strconcat(source, ":", mount->destination, NULL));
        }
        return table_join((char **) words->pdata, words->len);
}

/* No environment, in which secrets are: who wants it reads `config`. */
static void add(Table *table, const ContainerUnit *c, const RunningFacts *facts) {
        const runtime_spec_schema_config_schema *spec = facts->config ? facts->config->container_def : NULL;
        const runtime_spec_schema_config_schema_process *process = spec ? spec->process : NULL;
        g_autofree char *directory = container_unit_state_dir(c);

        table_add(table, g_strdup(c->args->name), g_strdup(c->unit), g_strdup(c->source), g_strdup(c->state),
                  c->pid ? g_strdup_printf("%u", c->pid) : NULL, g_strdup(c->args->image), g_strdup(facts->image_id),
                  g_strdup(facts->created), facts->image ? g_strdup(facts->image->store) : NULL,
                  facts->image ? table_join(facts->image->layers, g_strv_length(facts->image->layers)) : NULL,
                  process ? table_join(process->args, process->args_len) : NULL,
                  process ? g_strdup_printf("%u:%u", process->user->uid, process->user->gid) : NULL,
                  process ? g_strdup(process->cwd) : NULL, spec ? g_strdup(spec->hostname) : NULL,
                  g_strdup(facts->addresses), container_ports(c), spec ? join_mounts(spec) : NULL,
                  c->cgroup[0] ? g_strdup(c->cgroup) : NULL, g_strdup(facts->memory), g_strdup(facts->cpu_ms),
                  g_strdup_printf("%u", c->restarts),
                  facts->config ? g_build_filename(directory, c->args->name, "config.json", NULL) : NULL);
}

int command_inspect(const GPtrArray *all, const Options *options, char **words, GError **error) {
        static const char *const columns[] = { "CONTAINER", "UNIT",     "SOURCE",    "STATE",   "#PID",     "IMAGE",
                                               "IMAGE-ID",  "~CREATED", "STORE",     "@LAYERS", "@COMMAND", "USER",
                                               "WORKDIR",   "HOSTNAME", "@ADDRESS",  "@PORTS",  "@MOUNTS",  "CGROUP",
                                               "%MEMORY",   "#CPU-MS",  "#RESTARTS", "CONFIG",  NULL };
        const ContainerUnit *container = words[0] ? container_units_get(all, words[0], error) : NULL;
        g_autoptr(Table) table = table_new(columns);
        g_auto(RunningFacts) facts = { 0 };

        if (!words[0])
                error_set(error, KT_ERROR_USAGE, "'inspect' takes one container");
        if (!container)
                return -1;
        running_facts_find(container, &facts);
        add(table, container, &facts);
        table_print_long(table, options->json);
        return 0;
}
