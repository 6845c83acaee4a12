# SPDX-License-Identifier: LGPL-2.1-or-later
"""Memory that ends, at each size once, and what becomes of the operation.

So much of data is what a command may have (RLIMIT_DATA: the size of the program does not count); from some page on it has no
more, and GLib ends it there. Right is what matrix.py calls so, but that who is ended may leave what the next one takes away."""

import os
import random
import time

from matrix import STATE, changes, differences

PAGE = 4096
# The smallest of all programs here needs more to begin, and none needs more than that.
LEAST, MOST = 1 << 16, 1 << 26
SAMPLE = 40
# Ended by a signal: what a program does that takes NULL for memory. It may end itself (SIGABRT, SIGTRAP), or the kernel does so
# before its first instruction (SIGKILL).
CRASHES = {128 + 11: 'SIGSEGV', 128 + 7: 'SIGBUS', 128 + 4: 'SIGILL'}


def limited(machine, operation, size):
    command = operation.command.replace('{}', f'prlimit --data={size}')
    return machine.run(f'sh -c \'"$@"; echo $? >/run/status\' - timeout --signal=KILL 20 {command}', check=False, timeout=60)


def works(machine, operation, size):
    status = limited(machine, operation, size)
    machine.run(operation.undo, check=False)
    return int(machine.read('/run/status')) == 0 and status.status == 0


def border(fits, low, high):
    """The least number of pages with which it fits."""
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if fits(middle * PAGE) else (middle + 1, high)
    return low


def try_size(machine, operation, right, size):
    done = limited(machine, operation, size)
    status, said = int(machine.read('/run/status')), done.out + done.err
    result = machine.run(operation.result, check=False).out
    problems = []
    if status in CRASHES:
        problems.append(f'it crashes ({CRASHES[status]})')
    if status == 128 + 9:
        problems.append('it hangs')
    # What has been shown is what is always shown, and all of it unless it failed.
    if status == 0 and result != right['result'] and not (operation.warns and 'warning' in said):
        problems.append('it succeeds with another result: ' + changes(right['result'], result))
    if status != 0 and operation.failure == 'true' and set(result.split('\n')) - set(right['result'].split('\n')):
        problems.append('it fails, and has another result: ' + changes(right['result'], result))
    if status != 0 and not said.strip():
        problems.append('it fails without a word')
    half = machine.run(operation.failure, check=False)
    if half.status != 0:
        problems.append(f'half done: {half.out}{half.err}')
    machine.run(operation.undo, check=False)
    # Who could not remove something has said so, and the next one does.
    if (status != 0 or 'warning' in said) and not works(machine, operation, MOST):
        problems.append('the next one does not work')
    left = differences(machine, operation, right['state'])
    if left:
        problems.append(f'left: {left}')
    return problems and f'{size // 1024} KiB: {"; ".join(problems)}\n{status} {said[:400]}'


def run(machine, operation):
    """Each size at which it does not work, from the one that lets it begin; a sample, another one each day, or all."""
    assert works(machine, operation, MOST)
    state = machine.run(STATE, check=False).out
    limited(machine, operation, MOST)
    right = {'result': machine.run(operation.result).out, 'state': state}
    machine.run(operation.undo)
    enough = border(lambda size: works(machine, operation, size), LEAST // PAGE, MOST // PAGE)
    # Below, the kernel does not even load it.
    begins = border(lambda size: machine.run(f'prlimit --data={size} /usr/lib/keyturn/libstart --version', check=False).status == 0,
                    LEAST // PAGE, enough)
    assert begins < enough, (begins, enough)
    # Somewhere below there are sizes at which it works nevertheless: with less, less is asked for.
    sizes = range(begins, enough + 1)
    if os.environ.get('KEYTURN_FAULTS') != 'all':
        sizes = sorted(random.Random(time.strftime('%Y-%m-%d')).sample(sizes, min(SAMPLE, len(sizes))))
    problems = [problem for problem in (try_size(machine, operation, right, size * PAGE) for size in sizes) if problem]
    print(f'# {len(sizes)} sizes of {enough - begins + 1}, from {begins * 4} KiB to {enough * 4} KiB')
    assert not problems, f'{len(problems)} of {len(sizes)} sizes:\n' + '\n'.join(problems[:40])
