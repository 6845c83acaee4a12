# SPDX-License-Identifier: LGPL-2.1-or-later
"""A container on a bridge: its starts beside those with the host's network, its packets beside those of Podman's."""

import services
from bench import IMAGE, TOOLS

SUMMARY = "on a bridge: start, restart, stop, start anew beside the host's network; throughput and latency beside Podman's"

# What keeps the network while its container is stopped: the start that is measured finds it.
HOLDER = '[Unit]\nRequires=keyturn-network@bench-bridge.service\n[Service]\nExecStart=sleep infinity\n'

SERVER = f'''
[Container]
Image={IMAGE}
Network=bridge
IP={{address}}
PublishPort={{port}}:9000
Volume={TOOLS}:{TOOLS}:ro
Exec={TOOLS}/net-load serve 9000
StopSignal=SIGKILL

'''
# The halves of a network that Podman and keyturn give addresses from.
ADDRESSES = {'keyturn': ('10.88.200.9', '9001'), 'podman': ('10.88.0.9', '9002')}
HERE, OUTSIDE = '192.0.2.1', '192.0.2.2'


def measure_starts(bench):
    """Also of one whose network goes with it, and comes again before its next start is waited for."""
    machine = bench.machine
    for name, network in ('host', 'host'), ('bridge', 'bridge'), ('free', 'bridge'):
        section = services.CONTAINER.replace('Network=host', f'Network={network}')
        machine.container(f'bench-{name}', services.UNIT.format(section=section, service=''), reload=False)
    machine.unit('bench-holder', HOLDER)
    machine.run(['systemctl', 'start', 'bench-holder'])

    def lane(name, verbs=('start', 'restart', 'stop'), prefix='bridge'):
        return [(f'{prefix}/{verb}/{name}' if prefix else '', ['systemctl', verb, f'bench-{name}']) for verb in verbs]

    # What a lane leaves to be cleaned up falls upon the next: each follows itself as often as the other, and what
    # comes after the network that goes is not measured.
    turns = [*lane('host'), *lane('bridge'), *lane('bridge'), *lane('host'),
             *lane('free', ['start'], ''), ('bridge/stop/bridge-that-goes', ['systemctl', 'stop', 'bench-free']),
             *lane('host', prefix='')]
    for name, values in bench.turns(turns, bench.rounds(50)).items():
        bench.record(name, values, 'ms')
    machine.run(['systemctl', 'stop', 'bench-holder'])


def measure_anew(bench):
    """Of a container that is alone on its own network: again, a start that follows its stop, and anew, where nothing of the
    network is there. Podman's stop has removed it."""
    machine, kinds = bench.machine, ['host', 'bridge']
    machine.container('lonely.network', '[Network]\n', reload=False)
    for name, network in ('host', 'host'), ('bridge', 'lonely.network'):
        section = services.CONTAINER.replace('Network=host', f'Network={network}')
        machine.container(f'anew-{name}', services.UNIT.format(section=section, service=''), reload=False)
    if bench.has('bridge/anew/podman', services.QUADLET):
        section = services.CONTAINER.replace('Network=host', 'Network=alone.network') + services.NO_NETWORK_ONLINE
        services.quadlet(machine, {'alone.network': '[Network]\n' + services.NO_NETWORK_ONLINE,
                                   'anew-podman': services.UNIT.format(section=section, service='')})
        kinds.append('podman')
    machine.reload()
    turns = []
    for name in kinds:
        network = [f'keyturn-network@anew-{name}'] if name == 'bridge' else []
        turns += [(f'bridge/anew/{name}', ['systemctl', 'start', f'anew-{name}']),
                  (f'bridge/again/{name}', ['sh', '-c', f'systemctl stop anew-{name}; systemctl start anew-{name}']),
                  ('', ['systemctl', 'stop', f'anew-{name}', *network])]
    for name, values in bench.turns(turns, bench.rounds(30)).items():
        bench.record(name, values, 'ms')


def start_servers(bench):
    """Returns the kinds that there are."""
    machine, kinds = bench.machine, ['keyturn']
    for name, (address, port) in ADDRESSES.items():
        text = SERVER.format(address=address, port=port)
        if name == 'keyturn':
            machine.container('load-keyturn', text, reload=False)
        elif bench.has('bridge/throughput/podman', services.QUADLET):
            services.quadlet(machine, {'load-podman': text + services.NO_NETWORK_ONLINE})
            kinds.append(name)
    machine.reload()
    for name in kinds:
        machine.run(['systemctl', 'start', f'load-{name}'])
    return kinds


def measure_packets(bench):
    """From the machine to the container's address, and from another machine, on a cable, to the published port."""
    machine = bench.machine
    bench.build('net-load')
    machine.run('ip netns add world; ip link add cable type veth peer name cable netns world; ip link set cable up; '
                f'ip addr add {HERE}/24 dev cable; ip -n world addr add {OUTSIDE}/24 dev cable; ip -n world link set cable up')
    kinds = start_servers(bench)
    ways = [(f'{what}/{name}/{way}', where, *to) for what in ('latency', 'throughput')
            for way in ('address', 'port') for name in kinds
            for where, to in [([], (ADDRESSES[name][0], '9000')) if way == 'address' else
                              (['ip', 'netns', 'exec', 'world'], (HERE, ADDRESSES[name][1]))]]
    found = {name: [] for name, *_ in ways}
    for _ in range(bench.rounds(25)):
        for name, where, address, port in ways:
            what = name.split('/')[0]
            much = '20' if bench.quick else '4000' if what == 'latency' else '200'
            out = machine.run([*where, f'{TOOLS}/net-load', what, address, port, much]).out
            found[name].append(float(out) / (1000 if what == 'latency' else 1))
    for name, values in found.items():
        bench.record(f'bridge/{name}', values, 'us' if name.startswith('latency') else 'MB/s')
    machine.run(['systemctl', 'stop', *(f'load-{name}' for name in kinds)])
    machine.run('ip netns del world')


def measure(bench):
    measure_starts(bench)
    measure_anew(bench)
    measure_packets(bench)
