# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the groups of measurements share: the machine, turns, and the arithmetic.

A group is a module with SUMMARY (one line) and measure(bench), which records what it finds:

    bench.record('single/floor', values, 'ms')      values of one thing, to be summarised
    bench.note('units/at-once', 'why a number means less than it seems')
    bench.missing('single/runc', 'runc is not installed in the machine')
"""

import os
import statistics
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'booted'))

from machine import Machine, host  # noqa: E402, F401

IMAGE = 'localhost/test/four-layers'
LIBSTART = '/usr/lib/keyturn/libstart'
TOOLS = '/usr/local/lib/keyturn-bench'
PAUSE = 30  # ms. From 20 ms on, a start waits for the grace period of RCU that tight loops never see.


def summarise(values, unit):
    # Of one value, a count, all are the same.
    several = values if len(values) > 1 else values * 2
    low, median, high = statistics.quantiles(several, n=4, method='inclusive')
    return {'unit': unit, 'n': len(values), 'min': min(values), 'quartiles': [low, high], 'median': median,
            'max': max(values)}


class Bench:
    def __init__(self, machine, rounds=1.0, quick=False):
        """rounds: how many of the usual rounds to do, as a factor; quick: as few as possible"""
        self.machine = machine
        self.factor = 0 if quick else rounds
        self.quick = quick
        self.results = {}
        self.absent = {}
        self.notes = {}

    def rounds(self, usual):
        """Never less than two: one value has no spread."""
        return max(2, round(usual * self.factor))

    def record(self, name, values, unit):
        self.results[name] = summarise(values, unit)

    def missing(self, name, reason):
        self.absent[name] = reason

    def note(self, name, text):
        self.notes[name] = text

    def build(self, tool):
        """Compiles TOOL.c statically, and puts it into the machine."""
        os.makedirs(self.machine.path(TOOLS), exist_ok=True)
        host('gcc', '-std=gnu17', '-D_GNU_SOURCE', '-O2', '-static', os.path.join(HERE, tool + '.c'),
             '-o', self.machine.path(f'{TOOLS}/{tool}'))
        return f'{TOOLS}/{tool}'

    def has(self, name, program):
        if self.machine.run(['sh', '-c', 'command -v "$0"', program], check=False).status == 0:
            return True
        self.missing(name, f"'{program}' is not installed in the machine")
        return False

    def turns(self, plan, rounds, pause=PAUSE, timeout=300):
        """Runs a plan of (name or '', words) and returns {name: [milliseconds]}; see turns.c."""
        # What libstart leaves to systemd to remove is in the way of the next container of that name.
        self.machine.run('rm -rf /run/keyturn/bench-*')
        text = ''.join('\t'.join([name, *words]) + '\n' for name, words in plan)
        out = self.machine.run([f'{TOOLS}/turns', str(rounds), str(pause)], input=text, timeout=timeout).out
        times = {}
        for line in out.splitlines():
            name, nanoseconds = line.split('\t')
            times.setdefault(name, []).append(int(nanoseconds) / 1e6)
        return times
