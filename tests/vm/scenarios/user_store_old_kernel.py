# SPDX-License-Identifier: LGPL-2.1-or-later
"""Store=user on Debian 12's kernel, which mounts overlays in the old way."""

from scenarios import user_store

SUITE = 'bookworm'


def run(vm):
    kernel = user_store.run(vm)
    assert [int(part) for part in kernel.split('.')[:2]] < [6, 8], kernel
