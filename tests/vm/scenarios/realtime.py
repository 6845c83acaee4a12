# SPDX-License-Identifier: LGPL-2.1-or-later
"""A kernel with PREEMPT_RT: what its RCU costs a start, and that keyturnctl analyze says what to set."""

import lanes

SUITE = 'trixie-realtime'
EXPEDITED = 'rcupdate.rcu_normal_after_boot=0'
LANES = (
    ('native', lanes.native, ''),
    ('keyturn', lanes.keyturn, ''),
    ('native, RCU expedited', lanes.native, EXPEDITED),
    ('keyturn, RCU expedited', lanes.keyturn, EXPEDITED),
    ('podman-early', lanes.podman_early, ''),
    ('podman-early, RCU expedited', lanes.podman_early, EXPEDITED),
)
STARTS = 9

# Once the machine is idle: a start in systemctl's own time, which is what somebody would measure on a board.
SCRIPT = rf'''
cat /sys/kernel/realtime /sys/kernel/rcu_normal
ls /sys/module/rcupdate/parameters/rcu_normal_after_boot >/dev/null
for i in $(seq {STARTS}); do
        systemctl stop camera; systemctl reset-failed camera 2>/dev/null || true
        begin=$(date +%s%N)
        systemctl start camera
        end=$(date +%s%N)
        echo $(((end - begin) / 1000))
done
{lanes.TIMING}
keyturnctl analyze 2>&1 >/dev/null | sed 's/^/said: /'
'''


def run(vm):
    starts = {}
    for name, files, cmdline in LANES:
        if vm.quick and name.startswith('podman'):
            continue
        report = vm.boot(files(), exact=True, cmdline=cmdline, units=['camera.service'], script=SCRIPT, seconds=400)
        assert report.status == 0, f'{name}: {report.trouble()}'
        realtime, normal, *lines = report.out.splitlines()
        assert realtime == '1' and normal == ('0' if cmdline else '1'), f'{name}: {report.out}'
        times = sorted(int(line) for line in lines[:STARTS])
        starts[name] = times[STARTS // 2]
        vm.measured(f'{name}: systemctl start, median of {STARTS}', starts[name])
        phases = lanes.phases('\n'.join(line for line in lines[STARTS:] if not line.startswith('said: ')))
        if phases:
            vm.measured(f'{name}: phases: ' + ' '.join(f'{phase}={time}' for phase, time in phases),
                        sum(time for _, time in phases))
        hints = [line for line in lines if line.startswith('said: ') and 'rcu_normal' in line]
        if name.startswith('keyturn'):
            assert len(hints) == (0 if cmdline else 1), f'{name}: {report.out}'
    vm.data['realtime'] = starts
