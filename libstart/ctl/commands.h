/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "libstart/ctl/container/commands.h"

int command_list(const GPtrArray *all, const Options *options, char **words, GError **error);
int command_networks(const GPtrArray *all, const Options *options, char **words, GError **error);
int command_pods(const GPtrArray *all, const Options *options, char **words, GError **error);
int command_volumes(const GPtrArray *all, const Options *options, char **words, GError **error);
int command_images(const GPtrArray *all, const Options *options, char **words, GError **error);
int command_end_payload(const GPtrArray *all, const Options *options, char **words, GError **error);
int command_send_stop_signal(const GPtrArray *all, const Options *options, char **words, GError **error);
int command_inspect(const GPtrArray *all, const Options *options, char **words, GError **error);
int command_logs(const GPtrArray *all, const Options *options, char **words, GError **error);
int command_top(const GPtrArray *all, const Options *options, char **words, GError **error);
int command_metrics(const GPtrArray *all, const Options *options, char **words, GError **error);
int command_check(const GPtrArray *all, const Options *options, char **words, GError **error);
