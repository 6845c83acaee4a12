/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <systemd/sd-bus.h>

/* Names of the services that keyturn-generator has made, at boot, at a reload, or when the system image was built:
 * those whose text has one of the commands in it, such as "/libstart run ". In the place of templates the instances
 * that systemd has loaded. Sorted, of char*; NULL with an error. */
GPtrArray *generated_units_list(sd_bus *bus, const char *const *commands, GError **error);

/* Is there a template with that in its text, also one of which no instance is loaded? */
bool generated_units_have_template(const char *word);
