# SPDX-License-Identifier: LGPL-2.1-or-later
"""One container, started by hand, until its true(1) has ended."""

import containers

SUMMARY = 'single starts: floor, libstart, crun, runc, Podman'


def plan(bench):
    machine = bench.machine
    floor = bench.build('floor')
    layers = containers.layers(machine)
    filter_ = containers.raw_filter(machine)
    check_floor(machine, floor, layers, filter_)
    bundle = containers.Bundles(machine).write('single', ['/bin/true'])
    commands = [
        ('exec', [f'{layers[-1]}/bin/busybox', 'true']),
        ('floor', [floor, ':'.join(layers), '-', '/bin/true']),
        ('floor-seccomp', [floor, ':'.join(layers), filter_, '/bin/true']),
        ('libstart', containers.libstart('/bin/true')),
        ('libstart-detach', containers.libstart('/bin/true', options=['--detach'])),
        ('crun', containers.crun(bundle)),
        ('runc', containers.runc(bundle)),
        ('podman', containers.podman('/bin/true')),
    ]
    return [(f'single/{name}', words) for name, words in commands if bench.has(f'single/{name}', words[0])]


def check_floor(machine, floor, layers, filter_):
    """That floor does what it is compared for."""
    for given, expected in (('-', '0'), (filter_, '1')):
        out = machine.run([floor, ':'.join(layers), given,
                           '/bin/grep', 'Seccomp_filters', '/proc/self/status']).out
        assert out.split()[1] == expected, f'floor with filter {given}: {out}'


def measure(bench):
    for name, values in bench.turns(plan(bench), bench.rounds(100)).items():
        bench.record(name, values, 'ms')
    bench.note('single/floor', 'no seccomp filter')
    bench.note('single/floor-seccomp', 'loads the same filter as libstart')
    bench.note('single/libstart-detach', 'until the payload has been executed, and libstart is gone')
    bench.note('single/crun', 'the root is mounted before; crun\'s own seccomp cache is warm')
    bench.note('single/runc', 'the root is mounted before')
