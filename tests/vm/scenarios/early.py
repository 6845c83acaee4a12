# SPDX-License-Identifier: LGPL-2.1-or-later
"""Early=yes: a camera that is not behind basic.target, as native service and as container, and one that is."""

import lanes

LANES = (
    ('native-early', 'native service before basic.target (overlayfs in the initrd)', lanes.native_early),
    ('keyturn-early', 'keyturn with Early=yes (overlayfs in the initrd)', lanes.keyturn_early),
)
# The same container without Early=yes, in the same boot.
LATE = 'etc/containers/systemd/late.container'


# The initrd loads overlayfs, as if the kernel had it built in: so early, nothing else could without being waited for.
CMDLINE = 'vm.overlay'


def run(vm):
    lanes_data = []
    for name, title, files in LANES:
        is_container = name == 'keyturn-early'
        report = vm.boot({**files(), **({LATE: lanes.CONTAINER.format(more='')} if is_container else {})}, exact=True,
                         cmdline=CMDLINE, units=['camera.service', 'basic.target'], script=lanes.TIMING)
        assert report.status == 0 and report.manager['NFailedUnits'] == '0', f'{name}: {report.trouble()}'
        assert 'ordering cycle' not in report.journal, f'{name}: {report.trouble()}'
        points = lanes.milestones(report)
        lanes_data.append({'name': name, 'title': title, 'points': points, 'phases': lanes.phases(report.out)})
        vm.measured(f'{name}: first frame after the start of user space', lanes.first_frame(points))
        basic = int(report.unit('basic.target')['ActiveEnterTimestampMonotonic'])
        vm.measured(f'{name}: first frame before basic.target', basic - points['first-frame'])
        assert points['first-frame'] < basic, f'{name}: basic.target was reached before the first frame'
        if is_container:
            late, = lanes.frames(report, 'late')
            vm.measured('without Early=yes: first frame after the start of user space', late - points['userspace'])
            assert points['first-frame'] < late, 'Early=yes makes the camera later'
    vm.data['early'] = lanes_data
    native, keyturn = (lanes.first_frame(lane['points']) for lane in lanes_data)
    vm.measured('keyturn-early: later than native-early', keyturn - native)
