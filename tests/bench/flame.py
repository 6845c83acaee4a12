# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a container adds to a start, by the clock and by the parts of `keyturnctl profile`. The machine has one processor
for it: where nothing is done beside anything else, the parts add up to what the clock says. Means are compared: a
profile knows no other, and a start waits for a multiple of the kernel's tick, so that medians jump by four milliseconds."""

import json
import statistics

import services

SUMMARY = 'on one processor: what a container adds to systemctl start, by the clock and by the parts of its profile'

ROUNDS, STARTS, TURNS = 8, 150, 150
ONE = ['taskset', '--cpu-list', '0']
KINDS = ('native', 'keyturn')


def pin(machine):
    """All that there is, and so all that it starts."""
    machine.run('for pid in /proc/[0-9]*; do taskset -a -p -c 0 "${pid#/proc/}"; done >/dev/null 2>&1 || true')


def clock(bench, turns):
    plan = [(f'{kind}/{verb}', [*ONE, 'systemctl', verb, f'{kind}-1']) for kind in KINDS for verb in ('start', 'stop')]
    return bench.turns(plan, turns)


def profile(machine, kind, starts):
    """Milliseconds of a start, by part."""
    said = machine.run([*ONE, 'keyturnctl', 'profile', '--json', '--output', '/tmp/bench.svg', '--starts', str(starts),
                        f'{kind}-1.service'], timeout=300).out
    return {row['part']: row['ms'] for row in json.loads(said) if not row['function']}


def measure(bench):
    """Each round is whole, so that what else the host does is in both of its halves."""
    machine, rounds = bench.machine, []
    if not bench.has('flame/parts', 'perf'):
        return
    services.install(bench, 'flame', 1)
    pin(machine)
    for _ in range(bench.rounds(ROUNDS)):
        times = clock(bench, 2 if bench.quick else TURNS)
        parts = {kind: profile(machine, kind, 4 if bench.quick else STARTS) for kind in KINDS}
        added = {part: parts['keyturn'].get(part, 0) - parts['native'].get(part, 0) for part in {**parts['native'], **parts['keyturn']}}
        rounds.append((times, added))
    for kind in KINDS:
        bench.record(f'flame/start/{kind}', [value for times, _ in rounds for value in times[f'{kind}/start']], 'ms')
    for part in rounds[0][1]:
        bench.record(f'flame/added/{part}', [added.get(part, 0) for _, added in rounds], 'ms')
    bench.record('flame/added, sum without idle', [sum(ms for part, ms in added.items() if part != 'idle') for _, added in rounds], 'ms')
    bench.record('flame/added, by the clock', [statistics.mean(times['keyturn/start']) - statistics.mean(times['native/start'])
                                             for times, _ in rounds], 'ms')
