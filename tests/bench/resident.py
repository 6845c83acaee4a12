# SPDX-License-Identifier: LGPL-2.1-or-later
"""What stays beside 50 payloads that do nothing: processes, their memory, how often they wake up."""

import os
import re
import time

import services

SUMMARY = 'beside 50 running containers: processes, memory, wake-ups in 30 s, timers'

COUNT, SECONDS = 50, 30
# Whose is it? By the name that a program was executed by; all others are systemd's or payloads.
OWNERS = {'keyturn': ('libstart', 'keyturn-relay'), 'podman': ('conmon', 'podman', 'crun', 'runc')}


class Process:
    def __init__(self, pid):
        self.pid = pid
        self.program = self.read('comm').strip()
        self.cgroup = self.read('cgroup')

    def read(self, name):
        with open(f'/proc/{self.pid}/{name}') as file:
            return file.read()

    def memory(self):
        """Its share of memory (PSS), in KiB."""
        return int(re.search(r'^Pss:\s+(\d+)', self.read('smaps_rollup'), re.M)[1])

    def switches(self):
        return sum(int(count) for thread in os.listdir(f'/proc/{self.pid}/task')
                   for count in re.findall(r'ctxt_switches:\s+(\d+)', self.read(f'task/{thread}/status')))


def processes(machine):
    found = []
    for pid in filter(str.isdigit, os.listdir('/proc')):
        try:
            with open(f'/proc/{pid}/cgroup') as file:
                if f'/{machine.name}/' in file.read():
                    found.append(Process(pid))
        except (FileNotFoundError, ProcessLookupError):
            pass  # has ended meanwhile, or is a zombie
    return found


def of(owner, found):
    return [process for process in found if process.program in OWNERS[owner]]


def timers(machine, owner):
    """Timers that are named after a container, or after whom it belongs to."""
    out = machine.run(['systemctl', 'list-units', '--all', '--plain', '--no-legend', '--type=timer']).out
    return [line for line in out.splitlines() if owner in line]


def start(machine, kinds, units):
    """Starts all of them; returns the processes that their owners have then, by kind."""
    for kind in kinds:
        machine.run(['systemctl', 'start', *units[kind]])
    time.sleep(2)  # what ends with a start has ended
    return {kind: of(kind, processes(machine)) for kind in kinds}


def count_switches(found):
    return {kind: sum(process.switches() for process in found[kind]) for kind in found}


def memory(found):
    return sum(process.memory() for process in found)


def measure(bench):
    machine = bench.machine
    count, seconds = (3, 1) if bench.quick else (COUNT, SECONDS)
    kinds = [kind for kind in services.install(bench, 'resident', count) if kind in OWNERS]
    units = {kind: [f'{kind}-{number}' for number in range(1, count + 1)] for kind in kinds}
    found = start(machine, kinds, units)
    before = count_switches(found)
    time.sleep(seconds)
    after = count_switches(found)
    for kind in kinds:
        mine = found[kind]
        if {process.pid for process in of(kind, processes(machine))} != {process.pid for process in mine}:
            raise AssertionError(f'{kind}: processes came or went while nothing happened')
        of_containers = [process for process in mine if re.search(rf'/{kind}-\d+\.service', process.cgroup)]
        for what, number, unit in (('processes', len(mine), ''),
                                   ('processes-of-containers', len(of_containers), ''),
                                   ('memory', memory(mine), 'KiB'),
                                   ('memory-of-containers', memory(of_containers), 'KiB'),
                                   ('wake-ups', after[kind] - before[kind], ''),
                                   ('timers', len(timers(machine, kind)), '')):
            bench.record(f'resident/{kind}/{what}', [number], unit)
        machine.run(['systemctl', 'stop', *units[kind]])
