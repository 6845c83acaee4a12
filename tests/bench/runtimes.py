# SPDX-License-Identifier: LGPL-2.1-or-later
"""`systemctl start` and `stop` of a container by each OCI runtime: keyturn's Runtime=, and Podman's --runtime=."""

import services

SUMMARY = 'systemctl start and stop with crun, runc and runsc as the runtime: keyturn and Podman'

# With what Podman needs to be told of each. The machines have no cgroup controllers, which gVisor would insist
# upon, and its own network cannot be had with the host's.
RUNTIMES = {'crun': '', 'runc': '', 'runsc': ' --runtime-flag=ignore-cgroups --runtime-flag=network=host'}


def install(bench):
    """The units, and what is measured of each."""
    machine, units = bench.machine, {'native': 'native-1', 'keyturn/library': 'keyturn-1'}
    services.native(machine, ['native-1'])
    services.keyturn(machine, ['keyturn-1'])
    quadlets = {}
    for runtime, flags in RUNTIMES.items():
        if not bench.has(f'runtimes/{runtime}', runtime):
            continue
        text = services.UNIT.format(section=services.CONTAINER + '{more}', service='')
        machine.container(f'keyturn-{runtime}', text.format(more=f'[Keyturn]\nRuntime={runtime}\n'), reload=False)
        units[f'keyturn/{runtime}'] = f'keyturn-{runtime}'
        if bench.has(f'runtimes/podman/{runtime}', services.QUADLET):
            more = f'GlobalArgs=--runtime={runtime}{flags}\n' + services.NO_NETWORK_ONLINE
            quadlets[f'podman-{runtime}'] = text.format(more=more)
            units[f'podman/{runtime}'] = f'podman-{runtime}'
    services.quadlet(machine, quadlets)
    machine.reload()
    return units


def measure(bench):
    plan = [(f'runtimes/{verb}/{name}', ['systemctl', verb, unit])
            for name, unit in install(bench).items() for verb in ('start', 'stop')]
    for name, values in bench.turns(plan, bench.rounds(25)).items():
        bench.record(name, values, 'ms')
