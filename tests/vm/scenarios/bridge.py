# SPDX-License-Identifier: LGPL-2.1-or-later
"""Ten cameras on a bridge from power-on: when the last one has its first frame, beside Network=host and Podman."""

import json

import lanes

COUNT = 10
LANES = (
    ('host', 'keyturn, Network=host', lanes.keyturn),
    ('bridge', 'keyturn, Network=bridge', lanes.keyturn_bridge),
    ('podman-bridge', 'Podman Quadlet, Network=bridge, without network-online', lanes.podman_bridge),
    ('native', 'native services', lanes.native),
)
# Of the time in user space with Network=host, the last camera should come no more than this much later on a bridge (issue
# 14). It is measured, not asserted: README.md says why it is more.
ASKED = 0.05


def run(vm):
    lanes_data = []
    for name, title, files in LANES:
        report = vm.boot({**lanes.NETWORK_MODULES, **files(COUNT)}, exact=True, seconds=900,
                         script='systemctl is-active "camera*.service"; ls /sys/class/net/podman0/brif | wc -l')
        frames = lanes.frames(report)
        assert report.status == 0 and len(frames) == COUNT, f'{name}: {len(frames)} frames\n{report.trouble()}'
        on_bridge = report.out.split()[-1]
        assert on_bridge == (str(COUNT) if 'bridge' in name else '0'), f'{name}: {on_bridge} on the bridge'
        since = report.microseconds('Userspace')
        points = {'userspace': since, 'first-frame': frames[0], 'last-frame': frames[-1],
                  'finish': report.microseconds('Finish')}
        lanes_data.append({'name': name, 'title': title, 'points': points, 'units': json.loads(report['plot.json'])})
        vm.measured(f'{name}: first camera after the start of user space', frames[0] - since)
        vm.measured(f'{name}: last camera after the start of user space', frames[-1] - since)
        vm.measured(f'{name}: user space until all is started', points['finish'] - since)

    vm.data['bridge'] = lanes_data
    points = {lane['name']: lane['points'] for lane in lanes_data}
    since_start = {name: lane['last-frame'] - lane['userspace'] for name, lane in points.items()}
    vm.measured('asked for: later than with Network=host',
                round(ASKED * (points['host']['finish'] - points['host']['userspace'])))
    vm.measured('bridge: later than with Network=host', since_start['bridge'] - since_start['host'])
    vm.measured('podman-bridge: later than keyturn\'s', since_start['podman-bridge'] - since_start['bridge'])
    assert since_start['bridge'] < since_start['podman-bridge'], 'with Podman the last camera is there sooner'
