/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "generator/files/unit-file.h"
#include "generator/kinds/container-service.h"
#include "tests/fuzz/fuzz.h"

#define SOURCE "/etc/containers/systemd/a.container"

static void check_findings(const GPtrArray *findings) {
        for (guint i = 0; i < findings->len; i++) {
                const char *text = ((const Finding *) findings->pdata[i])->text;

                require(g_str_has_prefix(text, SOURCE ":"), "'%s' names no file", text);
                require(g_utf8_validate(text, -1, NULL), "'%s' is not UTF-8", text);
        }
}

/* Made below the output directory, and leading to the service beside it. */
static void check_links(const GPtrArray *links) {
        for (guint i = 0; i < links->len; i++) {
                const Link *link = links->pdata[i];

                g_auto(GStrv) names = g_strsplit(link->path, "/", -1);

                /* "..x" is a name as any other. */
                require(link->path[0] != '/' && !g_strv_contains((const char *const *) names, ".."), "a link at '%s'",
                        link->path);
                require(g_str_has_suffix(link->target, ".service"), "a link to '%s'", link->target);
        }
}

static const char *find_only(const UnitFile *unit, const char *section_name, const char *key) {
        const UnitSection *section = unit_file_section(unit, section_name);
        const char *value = NULL;

        for (guint i = 0; section && i < section->lines->len; i++) {
                const UnitLine *line = &g_array_index(section->lines, UnitLine, i);

                if (g_strcmp0(line->key, key) != 0)
                        continue;
                require(!value, "%s= is there twice", key);
                value = line->value;
        }
        require(value, "%s= is missing", key);
        return value;
}

/* All but those of the command: $NAME is one word in braces. */
static void keep_whole(GPtrArray *words, guint n) {
        for (guint i = 0; i < n; i++) {
                const char *word = words->pdata[i];
                bool is_name = g_regex_match_simple("^\\$[A-Za-z0-9_]+$", word, G_REGEX_DOLLAR_ENDONLY, 0);
                g_autofree char *whole = is_name ? g_strdup_printf("${%s}", word + 1) : g_strconcat("$", word, NULL);

                if (word[0] == '$' && word[1] != '{' && word[1] != '$')
                        words->pdata[i] = (void *) g_intern_string(whole);
        }
}

/* systemd calls libstart with the words that the file means, and libstart knows them. */
static void check_exec_start(const UnitFile *unit, const LaunchArgs *args) {
        g_autoptr(GPtrArray) words = g_ptr_array_new_with_free_func(g_free), wanted = launch_args_build(args);
        g_autoptr(GError) error = NULL;

        require(words_split(words, find_only(unit, "Service", "ExecStart"), WORDS_ESCAPED, &error), "%s",
                error->message);
        keep_whole(wanted, wanted->len - args->command->len);
        g_ptr_array_add(words, NULL);
        g_ptr_array_add(wanted, NULL);
        require(words->len > 2 && g_str_has_suffix(words->pdata[0], "/libstart"), "ExecStart=%s",
                (char *) words->pdata[0]);
        require_same((char *const *) wanted->pdata, (char *const *) words->pdata + 2);
        g_autoptr(LaunchArgs) read = launch_args_parse((const char *const *) wanted->pdata, &error);
        require(read, "%s", error->message);
}

static void check_unit(Conversion *container) {
        g_autoptr(UnitFile) unit = unit_file_new();
        g_autoptr(GError) error = NULL;

        service_exec_start(container->service, container->args);
        g_autoptr(GString) text = service_print(container->service, SOURCE);
        require(g_utf8_validate(text->str, (gssize) text->len, NULL), "the unit is not UTF-8");
        require(unit_file_parse(unit, "UNIT", text->str, text->len, &error), "%s\n%s", error->message, text->str);
        check_exec_start(unit, container->args);
}

static void check_file(const SourceFile *file, const UnitNames *names, const Tree *tree) {
        g_autoptr(GError) error = NULL;
        const char *service = unit_names_service(names, file, &error);
        g_autoptr(KeyturnConf) conf = keyturn_conf_new(tree);
        g_autoptr(MachineConf) machine = machine_conf_new(NULL);
        g_autoptr(Hooks) hooks = hooks_new(NULL);

        require_error(service, error, "");
        if (!service)
                return;
        g_autoptr(Conversion) container = container_convert(file, g_strdup(service), names, conf, machine, hooks);
        check_findings(conversion_findings(container));
        check_links(container->service->links);
        if (!container->is_refused)
                check_unit(container);
}

/* A .container file, and the unit that is made of it. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        const char *directory = fuzz_root(SOURCE, data, size);
        g_autoptr(GPtrArray) search_path = load_search_path(NULL);
        Tree tree;

        require(tree_open(&tree, directory, NULL), "cannot open '%s'", directory);
        g_autoptr(Sources) sources = load_sources(&tree, search_path);
        g_autoptr(UnitNames) names = unit_names_new(sources);
        require(sources->files->len == 1, "%u files", sources->files->len);
        const SourceFile *file = sources->files->pdata[0];
        require(!file->is_masked == (size > 0), "masked, or not");
        require(!file->unit == (file->is_masked || file->error), "a unit and an error, or neither");
        if (file->unit)
                check_file(file, names, &tree);
        tree_close(&tree);
        return 0;
}
