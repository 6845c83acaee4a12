# SPDX-License-Identifier: LGPL-2.1-or-later
"""From the kernel's start to the camera's first frame: native service, keyturn, Podman's Quadlet."""

import json

import lanes

LANES = (
    ('native', 'native service', lanes.native),
    ('keyturn', 'keyturn', lanes.keyturn),
    ('podman-early', 'Podman Quadlet, without network-online', lanes.podman_early),
    ('podman', 'Podman Quadlet', lanes.podman),
)
# Of the native boot's user-space time, the camera may come this much later as a container (issue 5).
ALLOWED = 0.05


def milestones(report):
    unit = report.unit('camera.service')
    frame, = lanes.frames(report)
    return {
        'userspace': report.microseconds('Userspace'),
        'generators-start': report.microseconds('GeneratorsStart'),
        'generators-finish': report.microseconds('GeneratorsFinish'),
        'unit-start': int(unit['InactiveExitTimestampMonotonic']),
        'exec-start': int(unit['ExecMainStartTimestampMonotonic']),
        'unit-active': int(unit['ActiveEnterTimestampMonotonic']),
        'first-frame': frame,
        'finish': report.microseconds('Finish'),
    }


def first_frame(points):
    return points['first-frame'] - points['userspace']


def run(vm):
    lanes_data = []
    for name, title, files in LANES:
        if name == 'keyturn' and not vm.has_keyturn:
            continue
        report = vm.boot(files(), exact=True, units=['camera.service'],
                         script='systemctl is-active camera.service; cat /proc/$(systemctl show --property=MainPID '
                                '--value camera.service)/comm')
        assert report.status == 0 and len(lanes.frames(report)) == 1, f'{name}: {report.trouble()}'
        main = report.out.split()[1]
        assert main == ('conmon' if name.startswith('podman') else 'camera'), f'{name}: main process is {main}'
        assert report.manager['NFailedUnits'] == '0', f'{name}: {report.trouble()}'

        points = milestones(report)
        lanes_data.append({'name': name, 'title': title, 'points': points, 'units': json.loads(report['plot.json'])})
        vm.measured(f'{name}: first frame after the start of user space', points['first-frame'] - points['userspace'])
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
    later = first_frame(points['keyturn']) - first_frame(native)
    vm.measured('keyturn: later than native', later)
    assert later <= budget, f'the camera comes {later} us later than as a native service; allowed are {budget:.0f}'
    assert first_frame(points['keyturn']) < first_frame(points['podman-early']), 'Podman shows the first frame sooner'
