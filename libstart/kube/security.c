/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/kube/fields.h"
#include "libstart/kube/parts.h"

static const char pod_read[] =
        "runAsUser runAsGroup runAsNonRoot supplementalGroups fsGroup seccompProfile appArmorProfile seLinuxOptions "
        "sysctls";
static const KubeField pod_others[] = {
        { "supplementalGroupsPolicy", KUBE_REFUSED, "groups of the image's are always there" },
        { "fsGroupChangePolicy", KUBE_IGNORED, "volumes keep their owners" },
        { "seLinuxChangePolicy", KUBE_IGNORED, "volumes keep their labels" },
        { "windowsOptions", KUBE_SILENT, NULL },
        { 0 },
};

static const char own_read[] =
        "runAsUser runAsGroup runAsNonRoot readOnlyRootFilesystem privileged allowPrivilegeEscalation capabilities "
        "procMount seccompProfile appArmorProfile seLinuxOptions";
static const KubeField own_others[] = { { "windowsOptions", KUBE_SILENT, NULL }, { 0 } };

/* Sysctls are the pod's, all else the containers'. */
void kube_pod_security(const KubePod *pod, KubeFile *file) {
        const YamlNode *context = yaml_node_get(pod->spec, "securityContext");
        const GPtrArray *sysctls = kube_list(pod->kube, context, "sysctls");

        kube_check(pod->kube, context, pod_read, pod_others);
        for (guint i = 0; i < sysctls->len; i++) {
                const YamlNode *sysctl = sysctls->pdata[i];
                bool ok = kube_check(pod->kube, sysctl, "name value", NULL);
                const char *name = ok ? kube_text(pod->kube, sysctl, "name") : NULL,
                           *value = ok ? kube_text(pod->kube, sysctl, "value") : NULL;
                g_autofree char *word = g_strdup_printf("--sysctl=%s=%s", name ?: "", value ?: "");

                if (name && value)
                        kube_line_word(file, sysctl, "PodmanArgs", word);
                else
                        kube_error(pod->kube, sysctl, "needs name and value");
        }
}

/* The container's own counts before its pod's. */
static const YamlNode *find(const KubeContainer *container, const char *name) {
        return yaml_node_get(yaml_node_get(container->node, "securityContext"), name) ?:
                       yaml_node_get(yaml_node_get(container->pod->spec, "securityContext"), name);
}

static bool find_number(KubeContainer *container, const char *name, gint64 *ret) {
        const YamlNode *node = find(container, name);

        return node && kube_number(container->pod->kube, node->parent, name, ret);
}

static void put_user(KubeContainer *container) {
        const YamlNode *user_node = find(container, "runAsUser"), *group_node = find(container, "runAsGroup"),
                       *careful = find(container, "runAsNonRoot");
        KubeFile *file = &container->file;
        gint64 user = 0, group;

        if (find_number(container, "runAsUser", &user))
                kube_line(file, user_node, "User", "%" G_GINT64_FORMAT, user);
        if (find_number(container, "runAsGroup", &group)) {
                if (user_node)
                        kube_line(file, group_node, "Group", "%" G_GINT64_FORMAT, group);
                else
                        kube_error(container->pod->kube, group_node, "needs runAsUser beside it");
        }
        if (careful && kube_flag(container->pod->kube, careful->parent, "runAsNonRoot", false) && user == 0)
                kube_error(container->pod->kube, careful,
                           "whether the image's user is root is not known ahead: name one in runAsUser");
}

/* A number only: "keep-groups" would be those of the service. */
static void put_group(KubeContainer *container, const YamlNode *node) {
        const char *text = kube_scalar(container->pod->kube, node);
        guint64 number;

        if (text && g_ascii_string_to_unsigned(text, 10, 0, G_MAXINT32, &number, NULL))
                kube_line(&container->file, node, "GroupAdd", "%s", text);
        else
                kube_error(container->pod->kube, node, "must be a number from 0 to %d", G_MAXINT32);
}

static void put_groups(KubeContainer *container) {
        Kube *kube = container->pod->kube;
        const YamlNode *context = yaml_node_get(container->pod->spec, "securityContext"),
                       *group = yaml_node_get(context, "fsGroup");
        const GPtrArray *groups = kube_list(kube, context, "supplementalGroups");

        for (guint i = 0; i < groups->len; i++)
                put_group(container, groups->pdata[i]);
        if (!group)
                return;
        kube_warning(kube, group, "is a group of the payload's, and volumes keep their owners");
        put_group(container, group);
}

static void put_capabilities(KubeContainer *container, const YamlNode *context) {
        Kube *kube = container->pod->kube;
        const YamlNode *capabilities = yaml_node_get(context, "capabilities");
        const char *const names[][2] = { { "add", "AddCapability" }, { "drop", "DropCapability" } };

        if (!kube_check(kube, capabilities, "add drop", NULL))
                return;
        for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
                const GPtrArray *list = kube_list(kube, capabilities, names[i][0]);

                for (guint j = 0; j < list->len; j++) {
                        const char *name = kube_scalar(kube, list->pdata[j]);

                        if (name)
                                kube_line(&container->file, list->pdata[j], names[i][1], "%s", name);
                }
        }
}

/* Of both kinds of profiles. localhost: what a name is written behind; NULL: it is refused. */
static void put_profile(KubeContainer *container, const char *name, const char *key, bool has_names) {
        Kube *kube = container->pod->kube;
        const YamlNode *profile = find(container, name);
        const char *type = kube_check(kube, profile, "type localhostProfile", NULL) ?
                                   kube_text(kube, profile, "type") :
                                   NULL,
                   *named = kube_text(kube, profile, "localhostProfile");

        if (!profile || g_strcmp0(type, "RuntimeDefault") == 0)
                return;
        if (g_strcmp0(type, "Unconfined") == 0)
                kube_line(&container->file, profile, key, "unconfined");
        else if (g_strcmp0(type, "Localhost") == 0 && named && (has_names || named[0] == '/'))
                kube_line(&container->file, profile, key, "%s", named);
        else
                kube_error(kube, profile,
                           "type must be RuntimeDefault, Unconfined, or Localhost with %s in "
                           "localhostProfile",
                           has_names ? "a name" : "an absolute path");
}

static void put_selinux(KubeContainer *container) {
        static const char *const parts[] = { "type", "level", "user", "role", NULL };
        Kube *kube = container->pod->kube;
        const YamlNode *options = find(container, "seLinuxOptions");

        if (!options || !kube_check(kube, options, "type level user role", NULL))
                return;
        for (const char *const *part = parts; *part; part++) {
                const char *value = kube_text(kube, options, *part);
                g_autofree char *word = g_strdup_printf("--security-opt=label=%s:%s", *part, value ?: "");

                if (value)
                        kube_line_word(&container->file, options, "PodmanArgs", word);
        }
}

void kube_security(KubeContainer *container) {
        Kube *kube = container->pod->kube;
        const YamlNode *context = yaml_node_get(container->node, "securityContext");
        const char *proc = NULL;

        if (!kube_check(kube, context, own_read, own_others))
                return;
        put_user(container);
        put_groups(container);
        put_capabilities(container, context);
        put_profile(container, "seccompProfile", "SeccompProfile", false);
        put_profile(container, "appArmorProfile", "AppArmor", true);
        put_selinux(container);
        if (kube_flag(kube, context, "readOnlyRootFilesystem", false))
                kube_line(&container->file, context, "ReadOnly", "true");
        if (!kube_flag(kube, context, "allowPrivilegeEscalation", true))
                kube_line(&container->file, context, "NoNewPrivileges", "true");
        if (kube_flag(kube, context, "privileged", false))
                kube_line(&container->file, context, "PodmanArgs", "--privileged");
        proc = kube_text(kube, context, "procMount");
        if (g_strcmp0(proc, "Unmasked") == 0)
                kube_line(&container->file, context, "Unmask", "ALL");
        else if (proc && !g_str_equal(proc, "Default"))
                kube_error(kube, context, "procMount must be Default or Unmasked");
}
