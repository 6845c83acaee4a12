# SPDX-License-Identifier: LGPL-2.1-or-later
"""Ten cameras at boot: when the last one has its first frame."""

import lanes

COUNT = 10
LANES = (('native', lanes.native), ('keyturn', lanes.keyturn), ('podman-early', lanes.podman_early))


def run(vm):
    last = {}
    for name, files in LANES:
        report = vm.boot(files(COUNT), exact=True, seconds=400, script='systemctl is-active "camera*.service"')
        frames = lanes.frames(report)
        assert report.status == 0 and len(frames) == COUNT, f'{name}: {len(frames)} frames\n{report.trouble()}'
        since = report.microseconds('Userspace')
        last[name] = frames[-1] - since
        vm.measured(f'{name}: first camera after the start of user space', frames[0] - since)
        vm.measured(f'{name}: last camera after the start of user space', last[name])
    vm.data['ten'] = last
    assert last['keyturn'] < last['podman-early'], 'with Podman the last camera is there sooner'
