/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* Is this a value that the option of launch-args.c can have? Each fails with KT_ERROR_USAGE, or with
 * KT_ERROR_UNSUPPORTED for one that podman has and keyturn has not, saying what to do instead. Each is a
 * thin wrapper around the parser that libstart uses on the same value, so that the two cannot disagree. */
bool check_name(const char *value, GError **error);
bool check_hostname(const char *value, GError **error);
bool check_annotation(const char *value, GError **error);
bool check_user(const char *value, GError **error);
bool check_group_add(const char *value, GError **error);
bool check_absolute_path(const char *value, GError **error);
bool check_env(const char *value, GError **error);
bool check_volume(const char *value, GError **error);
bool check_mount(const char *value, GError **error);
bool check_tmpfs(const char *value, GError **error);
bool check_add_host(const char *value, GError **error);
bool check_device(const char *value, GError **error);
bool check_size(const char *value, GError **error);
bool check_storage_opt(const char *value, GError **error);
bool check_network(const char *value, GError **error);
bool check_capability(const char *value, GError **error);
bool check_security_opt(const char *value, GError **error);
bool check_ulimit(const char *value, GError **error);
bool check_sysctl(const char *value, GError **error);
bool check_log_driver(const char *value, GError **error);
bool check_log_opt(const char *value, GError **error);
bool check_sdnotify(const char *value, GError **error);
bool check_signal(const char *value, GError **error);
bool check_timezone(const char *value, GError **error);
