/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/request/request.h"

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
        g_clear_pointer(&request->ulimits, g_array_unref);
        if (request->hosts)
                g_string_free(request->hosts, TRUE);
        *request = (ContainerRequest) { 0 };
}

char *container_request_hostname(const ContainerRequest *request, const char *host_hostname) {
        if (request->hostname)
                return g_strdup(request->hostname);
        if (request->network.mode == NETWORK_HOST || request->uts.host)
                return g_strdup(host_hostname);

        g_autofree char *id = g_compute_checksum_for_string(G_CHECKSUM_SHA256, request->name ?: "", -1);
        return g_strndup(id, ID_DIGITS);
}
