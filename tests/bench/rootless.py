# SPDX-License-Identifier: LGPL-2.1-or-later
"""`systemctl --user start` and `stop` of a user's containers, one and fifty at once."""

import containers
import services
import users
from bench import TOOLS

SUMMARY = 'systemctl --user start and stop of 1 and 50 units of a user: plain, keyturn, rootless Podman'

# As of units.py: rounds, and how often those that are quick are measured in each of them. Of 60 starts, two differ by 3 ms.
COUNTS = {1: (20, 16), 50: (3, 3)}
GENERATOR = '/usr/lib/systemd/user-generators/podman-user-generator'
UNITS, FILES, PODMANS = (f'/home/alice/{place}' for place in ('.config/systemd/user', '.config/containers/systemd', 'podmans'))
AS_ALICE = ['setpriv', '--reuid', '1234', '--regid', '1234', '--init-groups', 'env', 'XDG_RUNTIME_DIR=/run/user/1234',
            'HOME=/home/alice', 'systemctl', '--user']


def native(machine, names):
    machine.run(['cp', f'{containers.layers(machine)[-1]}/bin/busybox', f'{TOOLS}/busybox'])
    for name in names:
        machine.write(f'{UNITS}/{name}.service', services.UNIT.format(section='', service=services.NATIVE))


def keyturn(machine, names):
    for name in names:
        machine.write(f'{FILES}/{name}.container', services.UNIT.format(section=services.CONTAINER, service=''))


def podman(machine, names):
    for name in names:
        machine.write(f'{PODMANS}/{name}.container',
                      services.UNIT.format(section=services.CONTAINER + services.NO_NETWORK_ONLINE, service=''))
    # The process that holds its namespace, which else is one of a unit's and ends with it.
    users.as_user(machine, 'podman unshare true')
    users.as_user(machine, f'env QUADLET_UNIT_DIRS={PODMANS} {GENERATOR} {UNITS}')


KINDS = {'native': native, 'keyturn': keyturn, 'podman': podman}


def install(bench, count):
    kinds = [kind for kind in KINDS if kind != 'podman' or bench.has('rootless/podman', GENERATOR)]
    users.make_user(bench.machine, 'alice')
    users.as_user(bench.machine, f'mkdir -p {UNITS} {FILES} {PODMANS}')
    for kind in kinds:
        KINDS[kind](bench.machine, [f'{kind}-{number}' for number in range(1, count + 1)])
    # As where they are enabled: units that nothing wants are read from their files at each start.
    users.as_user(bench.machine, f'mkdir -p {UNITS}/default.target.wants; cd {UNITS}/default.target.wants; '
                  f'for i in $(seq {count}); do for kind in {" ".join(kinds)}; do ln -sf ../$kind-$i.service .; done; done; '
                  'systemctl --user daemon-reload')
    return kinds


def plan(kinds, count, repeats):
    quick = [kind for kind in kinds if kind != 'podman']
    for kind in quick * repeats + [kind for kind in kinds if kind not in quick]:
        for verb in ('start', 'stop'):
            yield (f'rootless/{verb}-{count}/{kind}',
                   [*AS_ALICE, verb, *(f'{kind}-{number}' for number in range(1, count + 1))])


def measure(bench):
    counts = [1] if bench.quick else list(COUNTS)
    kinds = install(bench, max(counts))
    for count in counts:
        rounds, repeats = (2, 1) if bench.quick else COUNTS[count]
        for name, values in bench.turns(list(plan(kinds, count, repeats)), bench.rounds(rounds)).items():
            bench.record(name, values, 'ms')
