/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "generator/kinds/resource.h"
#include "generator/files/names.h"
#include "generator/kinds/sections.h"

Conversion *resource_new(const SourceFile *source, char *service_name, const UnitNames *names, KeyturnConf *conf,
                         const KeyTable *keys) {
        Conversion *resource = conversion_new(source, service_name, names);

        resource->conf = conf;
        resource->is_users = keyturn_conf_is_users(conf);
        resource->keys = keys;
        resource->section = keys->section;
        sections_begin(resource);
        if (name_is_template(source->name) && !name_is_template(service_name))
                conversion_problem(resource, unit_names_line(source), "the service of a template is one, too: NAME@");
        keys_apply(resource, keys);
        keys_apply(resource, &keys_quadlet);
        return resource;
}

void resource_service(Conversion *resource, const char *mounts) {
        Service *service = resource->service;

        service_unit_first(service, "DefaultDependencies", "no");
        service_unit_first(service, "Conflicts", "shutdown.target");
        service_unit_first(service, "Before", "shutdown.target");
        service_unit_first(service, "After", "systemd-remount-fs.service");
        sections_source_path(resource);
        service_unit(service, "RequiresMountsFor", mounts);
        service_set(service, "Type", "oneshot");
        service_set(service, "RemainAfterExit", "yes");
        service_set(service, "NotifyAccess", "main"); /* it says why it fails */
        if (!service_user_line(service, "SyslogIdentifier"))
                service_set(service, "SyslogIdentifier", "%N");
}
