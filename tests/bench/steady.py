# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a system call costs for as long as the payload runs: namespaces are free, the filter is not."""

import services
from bench import IMAGE, TOOLS

SUMMARY = 'steady state: one getpid(2), in a plain service, a keyturn and a Podman container'

OUT = '/run/bench/steady'
LOOP = f'{TOOLS}/getpid-loop'

CONTAINER = f'''
[Container]
Image={IMAGE}
Network=host
Volume={TOOLS}:{TOOLS}:ro
Volume={OUT}:{OUT}
Exec={LOOP} {OUT}/{{name}}

[Service]
Type=oneshot
'''


def install(bench):
    machine = bench.machine
    bench.build('getpid-loop')
    machine.run(['mkdir', '-p', OUT])
    machine.unit('steady-native', f'[Service]\nType=oneshot\nExecStart={LOOP} {OUT}/native\n', reload=False)
    machine.container('steady-keyturn', CONTAINER.format(name='keyturn'), reload=False)
    kinds = ['native', 'keyturn']
    if bench.has('steady/podman', services.QUADLET):
        services.quadlet(machine, {'steady-podman': CONTAINER.format(name='podman')})
        kinds.append('podman')
    machine.reload()
    return kinds


def measure(bench):
    kinds = install(bench)
    found = {kind: [] for kind in kinds}
    for _ in range(bench.rounds(15)):
        for kind in kinds:
            bench.machine.run(['systemctl', 'start', f'steady-{kind}'])
            found[kind].append(int(bench.machine.read(f'{OUT}/{kind}')) / 1000)
    for kind, values in found.items():
        bench.record(f'steady/{kind}', values, 'ns')
