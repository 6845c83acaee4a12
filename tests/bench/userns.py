# SPDX-License-Identifier: LGPL-2.1-or-later
"""File descriptors of user namespaces, which ID-mapped mounts need.

What a start with a user namespace pays for the descriptor in the usual way, in the cheapest, which is libstart's
(libstart/userns/userns-descriptor.c), and would pay with one that was made ahead."""

SUMMARY = 'a user namespace\'s descriptor: fork, zombie (as libstart), pinned'

PIN = '/run/bench-userns'
# The static libstart has less than 2 MiB; a container engine in Go has 64.
BALLAST = (0, 64)


def measure(bench):
    tool = bench.build('userns-fd')
    found = {}
    for _ in range(bench.rounds(10)):
        for ballast in BALLAST:
            for way in ('fork', 'zombie', 'pinned'):
                out = bench.machine.run([tool, way, '20', str(ballast), PIN]).out
                found.setdefault(f'userns/{way}/{ballast}-MiB', []).extend(
                    int(nanoseconds) / 1000 for nanoseconds in out.split())
    for name, values in found.items():
        bench.record(name, values, 'us')
    bench.note('userns/fork/0-MiB', 'zombie is how libstart makes it')
