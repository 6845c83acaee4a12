/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/paths.h"
#include "libstart/kube/fields.h"
#include "libstart/kube/parts.h"
#include "libstart/kube/quantity.h"

typedef struct Variable {
        const char *name;
        char *value;
        bool is_secret; /* its value must not stand in a unit, which everybody can read */
        const YamlNode *node;
} Variable;

static void free_variable(void *item) {
        Variable *variable = item;

        g_free(variable->value);
        g_free(variable);
}

static const Variable *find(const GPtrArray *variables, const char *name, size_t length) {
        for (guint i = 0; i < variables->len; i++) {
                const Variable *variable = variables->pdata[i];

                if (strncmp(variable->name, name, length) == 0 && !variable->name[length])
                        return variable;
        }
        return NULL;
}

/* The last of a name counts. Takes ownership of value. */
static void set(KubeContainer *container, GPtrArray *variables, const char *name, char *value, bool is_secret,
                const YamlNode *node) {
        Variable *variable = (Variable *) find(variables, name, strlen(name));

        if (!name[0] || strpbrk(name, "=\n \t")) {
                kube_error(container->pod->kube, node, "'%s' is no name of a variable", name);
                g_free(value);
                return;
        }
        if (!variable) {
                variable = g_new0(Variable, 1);
                g_ptr_array_add(variables, variable);
        }
        g_free(variable->value);
        *variable = (Variable) { name, value, is_secret, node };
}

/* $(NAME) is the variable's value, $$(NAME) is $(NAME); what names none stays. ret_secret: becomes true
 * where one of a Secret was in it. Transfer full. */
static char *expand(const GPtrArray *variables, const char *text, bool *ret_secret) {
        GString *result = g_string_new(NULL);

        while (*text) {
                const char *end = text[0] == '$' && text[1] == '(' ? strchr(text, ')') : NULL;
                const Variable *variable = end ? find(variables, text + 2, (size_t) (end - text) - 2) : NULL;

                if (text[0] == '$' && text[1] == '$') {
                        g_string_append_c(result, '$');
                        text += 2;
                } else if (variable) {
                        g_string_append(result, variable->value);
                        *ret_secret |= variable->is_secret;
                        text = end + 1;
                } else
                        g_string_append_c(result, *text++);
        }
        return g_string_free(result, FALSE);
}

static char *to_text(Kube *kube, const YamlNode *node, GBytes *bytes) {
        gsize length;
        const char *data = g_bytes_get_data(bytes, &length);

        if (!memchr(data ?: "", 0, length))
                return g_strndup(data ?: "", length);
        kube_error(kube, node, "a zero byte is in the value, which no variable can have");
        return NULL;
}

static void take_key(KubeContainer *container, GPtrArray *variables, const char *name, const YamlNode *ref,
                     bool is_secret) {
        Kube *kube = container->pod->kube;
        const YamlNode *map = kube_check(kube, ref, "name key optional", NULL) ?
                                      kube_data_find(kube, ref, "name", is_secret) :
                                      NULL;
        const char *key = map ? kube_text(kube, ref, "key") : NULL;
        g_autoptr(GBytes) bytes = key ? kube_data_value(kube, map, key) : NULL;
        char *text = bytes ? to_text(kube, ref, bytes) : NULL;

        if (text)
                set(container, variables, name, text, is_secret, ref);
        else if (map && !bytes && !kube_flag(kube, ref, "optional", false))
                kube_error(kube, ref, "'%s' has no key '%s'", kube_text(kube, ref, "name"), key ?: "");
}

/* "metadata.labels['app']" */
static const char *find_named(Kube *kube, const KubePod *pod, const char *path, const char *field) {
        g_autofree char *prefix = g_strconcat("metadata.", field, "['", NULL), *key = NULL;

        if (!g_str_has_prefix(path, prefix) || !g_str_has_suffix(path, "']") || strlen(path) < strlen(prefix) + 3)
                return NULL;
        key = g_strndup(path + strlen(prefix), strlen(path) - strlen(prefix) - 2);
        return kube_text(kube, yaml_node_get(pod->metadata, field), key) ?: "";
}

static void take_field(KubeContainer *container, GPtrArray *variables, const char *name, const YamlNode *ref) {
        const KubePod *pod = container->pod;
        const char *path = kube_check(pod->kube, ref, "fieldPath apiVersion", NULL) ?
                                   kube_text(pod->kube, ref, "fieldPath") :
                                   NULL;
        const char *value = !path                                   ? NULL :
                            g_str_equal(path, "metadata.name")      ? pod->name :
                            g_str_equal(path, "metadata.namespace") ? "default" :
                            g_str_has_prefix(path, "metadata.labels[") ?
                                                                      find_named(pod->kube, pod, path, "labels") :
                                                                      find_named(pod->kube, pod, path, "annotations");

        if (value)
                set(container, variables, name, g_strdup(value), false, ref);
        else
                kube_error(pod->kube, ref,
                           "'%s' is not known ahead: metadata.name, metadata.namespace, metadata.labels['KEY'] and "
                           "metadata.annotations['KEY'] are",
                           path ?: "");
}

/* In whole units of the divisor, rounded up. */
static void take_resource(KubeContainer *container, GPtrArray *variables, const char *name, const YamlNode *ref) {
        Kube *kube = container->pod->kube;
        const char *path = kube_check(kube, ref, "resource divisor containerName", NULL) ?
                                   kube_text(kube, ref, "resource") :
                                   NULL;
        const char *divisor = kube_text(kube, ref, "divisor"), *owner = kube_text(kube, ref, "containerName");
        g_auto(GStrv) parts = g_strsplit(path ?: "", ".", 2);
        const YamlNode *resources = yaml_node_get(container->node, "resources");
        const char *text = parts[0] && parts[1] ? kube_text(kube, yaml_node_get(resources, parts[0]), parts[1]) :
                                                  NULL;
        guint64 amount, unit;

        if (owner && !g_str_equal(owner, container->name))
                kube_error(kube, ref, "another container's resources are not known here");
        else if (!text)
                kube_error(kube, ref, "'%s': the container has no such resource", path ?: "");
        else if (!quantity_parse(text, &amount) || !quantity_parse(divisor ?: "1", &unit) || unit == 0)
                kube_error(kube, ref, "'%s' or its divisor is no quantity", text);
        else
                set(container, variables, name,
                    g_strdup_printf("%" G_GUINT64_FORMAT, amount / unit + (amount % unit > 0)), false, ref);
}

static void take_from(KubeContainer *container, GPtrArray *variables, const char *name, const YamlNode *from) {
        const YamlNode *ref;

        if (!kube_check(container->pod->kube, from, "configMapKeyRef secretKeyRef fieldRef resourceFieldRef", NULL))
                return;
        if ((ref = yaml_node_get(from, "configMapKeyRef")))
                take_key(container, variables, name, ref, false);
        else if ((ref = yaml_node_get(from, "secretKeyRef")))
                take_key(container, variables, name, ref, true);
        else if ((ref = yaml_node_get(from, "fieldRef")))
                take_field(container, variables, name, ref);
        else if ((ref = yaml_node_get(from, "resourceFieldRef")))
                take_resource(container, variables, name, ref);
        else
                kube_error(container->pod->kube, from, "names no source");
}

static void take_variable(KubeContainer *container, GPtrArray *variables, const YamlNode *node) {
        Kube *kube = container->pod->kube;
        const char *name = kube_check(kube, node, "name value valueFrom", NULL) ? kube_text(kube, node, "name") :
                                                                                  NULL;
        const YamlNode *from = yaml_node_get(node, "valueFrom");
        bool is_secret = false;
        char *value;

        if (!name) {
                kube_error(kube, node, "name is missing");
                return;
        }
        if (from) {
                take_from(container, variables, name, from);
                return;
        }
        value = expand(variables, kube_text(kube, node, "value") ?: "", &is_secret);
        set(container, variables, name, value, is_secret, node);
}

static void take_all(KubeContainer *container, GPtrArray *variables, const YamlNode *source) {
        Kube *kube = container->pod->kube;
        const YamlNode *secret = yaml_node_get(source, "secretRef"),
                       *ref = secret ?: yaml_node_get(source, "configMapRef"), *map;
        const char *prefix = kube_check(kube, source, "prefix configMapRef secretRef", NULL) ?
                                     kube_text(kube, source, "prefix") :
                                     NULL;
        g_autoptr(GPtrArray) keys = NULL;

        if (!ref || !kube_check(kube, ref, "name optional", NULL)) {
                kube_error(kube, source, "names neither a ConfigMap nor a Secret");
                return;
        }
        map = kube_data_find(kube, ref, "name", secret);
        keys = map ? kube_data_keys(kube, map) : g_ptr_array_new();
        for (guint i = 0; i < keys->len; i++) {
                g_autofree char *name = g_strconcat(prefix ?: "", keys->pdata[i], NULL);
                g_autoptr(GBytes) bytes = kube_data_value(kube, map, keys->pdata[i]);
                char *text = bytes ? to_text(kube, map, bytes) : NULL;

                if (text)
                        set(container, variables, g_intern_string(name), text, secret, map);
        }
}

/* Those of Secrets go into a file that only root can read, in Podman's format: a line each. */
static void put(KubeContainer *container, const GPtrArray *variables) {
        g_autoptr(GString) secrets = g_string_new(NULL);

        for (guint i = 0; i < variables->len; i++) {
                const Variable *variable = variables->pdata[i];
                g_autofree char *word = g_strconcat(variable->name, "=", variable->value, NULL);

                if (!variable->is_secret)
                        kube_line_word(&container->file, variable->node, "Environment", word);
                else if (strpbrk(word, "\r\n") || variable->name[0] == '#')
                        kube_error(
                                container->pod->kube, variable->node,
                                "the variable '%s' is of a Secret and has several lines: mount the Secret as a file",
                                variable->name);
                else
                        g_string_append_printf(secrets, "%s\n", word);
        }
        if (secrets->len > 0) {
                g_autofree char *name = g_strconcat("env/", container->name, NULL);

                kube_line(&container->file, NULL, "EnvironmentFile", PATH_KUBE "/%s/%s", container->pod->directory,
                          name);
                kube_data_add(container->pod, name, g_bytes_new(secrets->str, secrets->len), 0600);
        }
}

/* Words that go into the unit. Transfer full. */
static GPtrArray *expand_words(KubeContainer *container, const GPtrArray *variables, const char *field) {
        const GPtrArray *items = kube_list(container->pod->kube, container->node, field);
        GPtrArray *words = g_ptr_array_new_with_free_func(g_free);

        for (guint i = 0; i < items->len; i++) {
                const char *text = kube_scalar(container->pod->kube, items->pdata[i]);
                bool is_secret = false;

                g_ptr_array_add(words, expand(variables, text ?: "", &is_secret));
                if (is_secret)
                        kube_error(
                                container->pod->kube, items->pdata[i],
                                "a variable of a Secret is in it, and would stand in the unit, which everybody can "
                                "read; let a shell in the container expand it, or mount the Secret as a file");
        }
        return words;
}

static void put_command(KubeContainer *container, const GPtrArray *variables) {
        g_autoptr(GPtrArray) command = expand_words(container, variables, "command"),
                             args = expand_words(container, variables, "args");

        if (command->len > 0)
                kube_line_json(&container->file, yaml_node_get(container->node, "command"), "Entrypoint", command);
        if (args->len > 0)
                kube_line_words(&container->file, yaml_node_get(container->node, "args"), "Exec", args);
}

void kube_environment(KubeContainer *container) {
        g_autoptr(GPtrArray) variables = g_ptr_array_new_with_free_func(free_variable);
        const GPtrArray *sources = kube_list(container->pod->kube, container->node, "envFrom"),
                        *given = kube_list(container->pod->kube, container->node, "env");

        for (guint i = 0; i < sources->len; i++)
                take_all(container, variables, sources->pdata[i]);
        for (guint i = 0; i < given->len; i++)
                take_variable(container, variables, given->pdata[i]);
        put(container, variables);
        put_command(container, variables);
}
