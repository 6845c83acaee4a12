# SPDX-License-Identifier: LGPL-2.1-or-later
"""From the kernel's start to the camera's first frame: native service, keyturn, Podman's Quadlet."""

import json

import lanes
from vm import MINE

LANES = (
    ('native', 'native service', lanes.native),
    ('keyturn', 'keyturn', lanes.keyturn),
    ('keyturn-compiling', 'keyturn, filters compiled at boot', lanes.keyturn_compiling),
    ('podman-early', 'Podman Quadlet, without network-online', lanes.podman_early),
    ('podman', 'Podman Quadlet', lanes.podman),
)
# Of the native boot's user-space time, the camera may come this much later as a container (issue 5).
ALLOWED = 0.05

# With --ci; and of another architecture's boots, which take longer, only the two that must be near to each other.
QUICK = ('native', 'keyturn', 'podman-early')


def run(vm):
    lanes_data = []
    wanted = [name for name, _, _ in LANES if not vm.quick] or QUICK[:3 if vm.arch == MINE else 2]
    for name, title, files in LANES:
        if (name.startswith('keyturn') and not vm.build) or name not in wanted:
            continue
        report = vm.boot(files(), exact=True, units=['camera.service'],
                         script='systemctl is-active camera.service; cat /proc/$(systemctl show --property=MainPID '
                                f'--value camera.service)/comm; {lanes.TIMING}')
        assert report.status == 0 and len(lanes.frames(report)) == 1, f'{name}: {report.trouble()}'
        _, main, timing = report.out.split('\n', 2)
        assert main == ('conmon' if name.startswith('podman') else 'camera'), f'{name}: main process is {main}'
        assert report.manager['NFailedUnits'] == '0', f'{name}: {report.trouble()}'

        points = lanes.milestones(report)
        lanes_data.append({'name': name, 'title': title, 'points': points, 'phases': lanes.phases(timing),
                           'units': json.loads(report['plot.json'])})
        vm.measured(f'{name}: first frame after the start of user space', lanes.first_frame(points))
        vm.measured(f'{name}: first frame after the unit\'s start', points['first-frame'] - points['unit-start'])
        vm.measured(f'{name}: generators', points['generators-finish'] - points['generators-start'])
        vm.measured(f'{name}: user space until all is started', points['finish'] - points['userspace'])

    vm.data['camera'] = lanes_data
    points = {lane['name']: lane['points'] for lane in lanes_data}
    if 'keyturn' not in points:
        return
    native = points['native']
    budget = ALLOWED * (native['finish'] - native['userspace'])
    vm.measured('allowed: later than native', round(budget))
    later = lanes.first_frame(points['keyturn']) - lanes.first_frame(native)
    vm.measured('keyturn: later than native', later)
    assert later <= budget, f'the camera comes {later} us later than as a native service; allowed are {budget:.0f}'
    if 'podman-early' not in points:
        return
    sooner = lanes.first_frame(points['podman-early']) - lanes.first_frame(points['keyturn'])
    assert sooner > 0, 'Podman shows the first frame sooner'
