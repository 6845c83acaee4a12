# SPDX-License-Identifier: LGPL-2.1-or-later
"""`systemctl start` and `systemctl stop`, of one unit and of many at once."""

import services

SUMMARY = 'systemctl start and stop of 1, 10, 50, 100 units: plain, RootDirectory=, keyturn, Podman'

# Of how many at once: rounds, and how often those that are quick are measured in each of them.
COUNTS = {1: (25, 4), 10: (5, 2), 50: (4, 3), 100: (2, 3)}


def pair(kind, count):
    units = [f'{kind}-{number}' for number in range(1, count + 1)]
    return [(f'units/start-{count}/{kind}', ['systemctl', 'start', *units]),
            (f'units/stop-{count}/{kind}', ['systemctl', 'stop', *units])]


def plan(kinds, count, repeats):
    quick = [kind for kind in kinds if kind != 'podman']
    return [line for kind in quick * repeats + [kind for kind in kinds if kind not in quick]
            for line in pair(kind, count)]


def measure(bench):
    counts = [1] if bench.quick else list(COUNTS)
    kinds = services.install(bench, 'units', max(counts))
    for count in counts:
        rounds, repeats = (2, 1) if bench.quick else COUNTS[count]
        for name, values in bench.turns(plan(kinds, count, repeats), bench.rounds(rounds)).items():
            bench.record(name, values, 'ms')
