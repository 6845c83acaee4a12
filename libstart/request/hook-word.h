/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A value of --hook is the absolute path of a file of hooks.d that is for the container. With this before it, whether
 * it is depends on what only the start knows: what systemd has to expand, and the image's command. */
#define HOOK_WORD_MAYBE "maybe:"
