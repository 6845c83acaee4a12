# SPDX-License-Identifier: LGPL-2.1-or-later
"""From the moment in which a payload is killed to the first instruction of the next one: Restart=always, RestartSec=0."""

import containers
import services
from bench import IMAGE, TOOLS

SUMMARY = "a payload is killed: until the next one's first instruction, on the host's network, on a bridge, in a pod"

SOCKETS = '/run/bench/crash'
ROUNDS, PAUSE = 40, 100  # ms: time for what the last one leaves to be cleaned up

SERVICE = '''Restart=always
RestartSec=0
KillSignal=SIGKILL
'''
CONTAINER = f'''[Container]
Image={IMAGE}
Volume={TOOLS}:{TOOLS}:ro
Volume={SOCKETS}:{SOCKETS}
StopSignal=SIGKILL
Exec={TOOLS}/crash payload {SOCKETS}/%N
{{more}}
'''
NETWORKS = {'host': 'Network=host', 'bridge': 'Network=bridge', 'pod': 'Pod=crash-pod-{kind}.pod'}
POD = '[Pod]\nNetwork=bridge\n'
# There is no catatonit in the machines.
INFRA = f'PodmanArgs="--infra-image={IMAGE}" "--infra-command=sleep infinity"\n'
# A pod is stopped with its last container: here another one stays.
KEEPER = f'[Container]\nImage={IMAGE}\nPod=crash-pod-{{kind}}.pod\nStopSignal=SIGKILL\nExec=sleep infinity\n'


def plain(name, more):
    return services.UNIT.format(section='', service=f'Type=exec\nExecStart={TOOLS}/crash payload {SOCKETS}/{name}\n{SERVICE}{more}')


def files(kind):
    """What keyturn and Podman read alike."""
    found = {f'crash-pod-{kind}.pod': POD, f'crash-{kind}-keeper': KEEPER.format(kind=kind)}
    for where, network in NETWORKS.items():
        section = CONTAINER.format(more=network.format(kind=kind))
        found[f'crash-{kind}-{where}'] = services.UNIT.format(section=section, service=SERVICE)
    return found


def install(bench):
    """The services, by what is measured of each."""
    machine = bench.machine
    containers.mount_root(machine)
    machine.run(['mkdir', '-p', SOCKETS])
    machine.unit('crash-native', plain('crash-native', ''), reload=False)
    machine.unit('crash-root', plain('crash-root', f'RootDirectory={containers.ROOT}\nMountAPIVFS=yes\n'
                                     f'BindPaths={TOOLS} {SOCKETS}\n'), reload=False)
    units = {'native': 'crash-native', 'root-directory': 'crash-root'}
    kinds = ['keyturn']
    for name, text in files('keyturn').items():
        machine.container(name, text, reload=False)
    if bench.has('crash/podman', services.QUADLET):
        services.quadlet(machine, {name: text + (INFRA if name.endswith('.pod') else services.NO_NETWORK_ONLINE)
                                   for name, text in files('podman').items()})
        kinds.append('podman')
    machine.reload()
    return units | {f'{kind}/{where}': f'crash-{kind}-{where}' for kind in kinds for where in NETWORKS}, kinds


def measure(bench):
    machine, tool = bench.machine, bench.build('crash')
    units, kinds = install(bench)
    keepers = [f'crash-{kind}-keeper' for kind in kinds]
    machine.run(f'rm -f {SOCKETS}/*')
    words = ' '.join(f'{name}={SOCKETS}/{unit}' for name, unit in units.items())
    # The sockets have to be there before the payloads.
    script = (f'{{ {tool} kill {bench.rounds(ROUNDS)} {PAUSE} {words} || echo; }} | '
              f'{{ read -r ready; systemctl start {" ".join([*keepers, *units.values()])} || echo; cat; }}')
    done = machine.run(script, timeout=600)
    found = {}
    for line in done.out.splitlines():
        name, _, nanoseconds = line.partition('\t')
        if not nanoseconds:
            raise RuntimeError(done.err)
        found.setdefault(name, []).append(int(nanoseconds) / 1e6)
    for name, values in found.items():
        bench.record(f'crash/{name}', values, 'ms')
    machine.run(['systemctl', 'stop', *units.values(), *keepers], timeout=300)
