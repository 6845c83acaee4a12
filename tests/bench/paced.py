# SPDX-License-Identifier: LGPL-2.1-or-later
"""Starts with 100 ms between them against the same back to back.

Whoever waits for a grace period of RCU does so only when starts are paced."""

import containers

SUMMARY = 'a start paced at 100 ms against one back to back'

BLOCKS, EACH = 4, 15


def measure(bench):
    floor = bench.build('floor')
    layers = containers.layers(bench.machine)
    filter_ = containers.raw_filter(bench.machine)
    plan = [('floor', [floor, ':'.join(layers), filter_, '/bin/true']),
            ('libstart', containers.libstart('/bin/true')),
            ('libstart-detach', containers.libstart('/bin/true', options=['--detach']))]
    found = {}
    for _ in range(bench.rounds(BLOCKS)):
        for how, pause in (('back-to-back', 0), ('100ms', 100)):
            # Each by itself: in turns, the others would be what happens before a start.
            for line in plan:
                for name, values in bench.turns([line], 2 if bench.quick else EACH, pause).items():
                    found.setdefault(f'paced/{name}/{how}', []).extend(values)
    for name, values in found.items():
        bench.record(name, values, 'ms')
