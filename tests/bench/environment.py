# SPDX-License-Identifier: LGPL-2.1-or-later
"""What 5,000 more variables cost: runc's ExecInBigEnv, as a start. The payload is env(1)."""

import random

import containers

SUMMARY = '4 against 5,004 environment variables: no container, libstart, crun, runc'

FEW = ['HOME=/root', 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
       'HOSTNAME=integration', 'TERM=xterm']


def many():
    chance = random.Random(1)
    names, values = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_', 'abcdefghijklmnopqrstuvwxyz0123456789_'
    # A name must not begin with a digit; runc's benchmark does not care.
    return FEW + [f'{"".join(chance.choices(names[:26], k=1) + chance.choices(names, k=9))}='
                  f'{"".join(chance.choices(values, k=20))}' for _ in range(5000)]


def commands(machine, bundles, name, variables):
    machine.write(f'/run/bench/{name}.env', '\n'.join(variables) + '\n')
    bundle = bundles.write(f'env-{name}', ['env'], variables)
    return {'exec': [*variables, f'{containers.layers(machine)[-1]}/bin/busybox', 'env'],
            'libstart': containers.libstart('env', options=['--env-file', f'/run/bench/{name}.env']),
            'crun': containers.crun(bundle),
            'runc': containers.runc(bundle)}


def check(machine, who, words, variables):
    """All of them, byte for byte and in order, among what a runtime adds of its own."""
    out = machine.run([word.replace('@@', f'check-{len(variables)}') for word in words]).out.splitlines()
    given = set(variables)
    assert [line for line in out if line in given] == variables, f'{who}: env(1) was given something else'


def measure(bench):
    machine = bench.machine
    bundles = containers.Bundles(machine)
    plan = []
    for name, variables in (('4', FEW), ('5004', many())):
        for who, words in commands(machine, bundles, name, variables).items():
            if who != 'exec':
                if not bench.has(f'environment/{who}/{name}', words[0]):
                    continue
                check(machine, who, words, variables)
            plan.append((f'environment/{who}/{name}', words))
    for name, values in bench.turns(plan, bench.rounds(40)).items():
        bench.record(name, values, 'ms')
