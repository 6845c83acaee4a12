/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/request/request.h"
#include "libstart/base/error.h"

#define ID_DIGITS 12

static void free_list(GPtrArray **list) {
        g_clear_pointer(list, g_ptr_array_unref);
}

void container_request_clear(ContainerRequest *request) {
        free_list(&request->groups);
        free_list(&request->image_stores);
        free_list(&request->mounts);
        free_list(&request->devices);
        free_list(&request->secrets);
        dns_request_clear(&request->dns);
        free_list(&request->masked);
        free_list(&request->unmasked);
        free_list(&request->sysctls);
        g_clear_pointer(&request->device_rules, g_array_unref);
        userns_request_clear(&request->userns);
        label_request_clear(&request->label);
        g_clear_pointer(&request->health.regular.command, g_strfreev);
        g_clear_pointer(&request->health.startup.command, g_strfreev);
        g_clear_pointer(&request->ulimits, g_array_unref);
        if (request->hosts)
                g_string_free(request->hosts, TRUE);
        *request = (ContainerRequest) { 0 };
}

const char *container_request_find_key(const ContainerRequest *request, const char *path) {
        if (g_str_equal(path, "/etc/hosts"))
                return request->hosts->len > 0 ? "AddHost= (--add-host)" : NULL;
        if (g_str_equal(path, "/etc/localtime"))
                return request->timezone ? "Timezone= (--tz)" : NULL;
        return !g_str_equal(path, "/etc/resolv.conf") || dns_request_is_empty(&request->dns) ||
                               request->dns.of_image ?
                       NULL :
                       "DNS=, DNSSearch= or DNSOption= (--dns...)";
}

bool container_request_refuse_hidden(const ContainerRequest *request, const char *destination, const char *path,
                                     GError **error) {
        return error_set(error, KT_ERROR_USAGE,
                         "The mount on '%s' hides the '%s' that %s asks for: remove the key and bring that file by "
                         "the mount, or remove the mount",
                         destination, path, container_request_find_key(request, path));
}

char *container_request_hostname(const ContainerRequest *request, const char *host_hostname) {
        if (request->hostname)
                return g_strdup(request->hostname);
        if (request->network.mode == NETWORK_HOST || request->uts.host)
                return g_strdup(host_hostname);

        g_autofree char *id = g_compute_checksum_for_string(G_CHECKSUM_SHA256, request->name ?: "", -1);
        return g_strndup(id, ID_DIGITS);
}
