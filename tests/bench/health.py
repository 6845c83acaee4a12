# SPDX-License-Identifier: LGPL-2.1-or-later
"""What health checks each second cost the machine: the processor time of all its processes, from PID 1 to the checks
themselves, for each check that really was run. Where the processors are busy, systemd runs fewer than one a second."""

import os
import time

import services
from bench import TOOLS

SUMMARY = 'processor time of the whole machine per health check, one a second, of 5, 20, 50 containers'

COUNTS, SECONDS = (5, 20, 50), 8
TICKS = '/run/bench/ticks'
KINDS = {'keyturn': services.keyturn, 'podman': services.podman}

CHECK = f'''Volume={TOOLS}/tick:/tick
Volume={TICKS}:/ticks
HealthCmd=["/tick", "/ticks/%N"]
HealthInterval=1s
'''


def install(bench, count):
    bench.build('tick')
    bench.machine.run(['mkdir', '-p', TICKS])
    kinds = [kind for kind in KINDS if kind != 'podman' or bench.has('health/podman', services.QUADLET)]
    for kind in kinds:
        KINDS[kind](bench.machine, [f'{kind}-{number}' for number in range(1, count + 1)], CHECK)
    bench.machine.reload()
    return kinds


def ticks(machine, units):
    """Seen from outside, so that looking costs the machine nothing."""
    sizes = []
    for unit in units:
        try:
            sizes.append(os.stat(machine.path(f'{TICKS}/{unit}')).st_size)
        except FileNotFoundError:
            sizes.append(0)
    return sizes


def count(machine, units, seconds):
    """Milliseconds of processor time per check, and checks a second of each container."""
    before, began, checks = machine.processor_seconds(), time.monotonic(), sum(ticks(machine, units))
    time.sleep(seconds)
    used, checks = machine.processor_seconds() - before, sum(ticks(machine, units)) - checks
    return used / checks * 1000, checks / (time.monotonic() - began) / len(units)


def measure_kind(bench, units, seconds):
    machine = bench.machine
    machine.run(['systemctl', 'start', *units], timeout=300)
    machine.wait_for(lambda: all(ticks(machine, units)), timeout=120)
    time.sleep(min(seconds, 2))
    found = count(machine, units, seconds)
    machine.run(['systemctl', 'stop', *units], timeout=300)
    machine.run(f'rm -f {TICKS}/*')
    return found


def measure(bench):
    counts, seconds = ((2,), 2) if bench.quick else (COUNTS, SECONDS)
    kinds = install(bench, max(counts))
    for number in counts:
        found = {kind: [] for kind in kinds}
        for _ in range(bench.rounds(3)):
            for kind in kinds:
                found[kind].append(measure_kind(bench, [f'{kind}-{i}' for i in range(1, number + 1)], seconds))
        for kind in kinds:
            bench.record(f'health/{kind}/{number}', [cost for cost, _ in found[kind]], 'ms')
            bench.record(f'health/{kind}/{number}-checks-a-second', [rate for _, rate in found[kind]], '')
