/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A payload's addresses, by its pidfd, without those of loopback: one on each line, after sixteen "..."; "host" or
 * "none". NULL: cannot be told. Transfer full. */
char *payload_find_addresses(int payload);
