# SPDX-License-Identifier: LGPL-2.1-or-later
"""What never answers."""

import contextlib
import ctypes
import os

from machine import CLONE_NEWNS, libc


@contextlib.contextmanager
def hanging(machine, path):
    """A file system whose server has gone silent, as a network's: a FUSE that nobody answers."""
    machine.run(f'mkdir -p {path}')
    fuse = os.open('/dev/fuse', os.O_RDWR)
    child = os.fork()
    if child == 0:
        namespace = os.open(f'/proc/{machine.pid1}/ns/mnt', os.O_RDONLY)
        options = f'fd={fuse},rootmode=40000,user_id=0,group_id=0,allow_other'
        os._exit(libc.setns(namespace, CLONE_NEWNS) or libc.mount(b'hung', path.encode(), b'fuse', 0, options.encode()) and ctypes.get_errno())
    assert os.waitpid(child, 0)[1] == 0
    try:
        yield
    finally:
        os.close(fuse)  # whoever waits gets an error
        machine.run(f'umount -l {path}')
