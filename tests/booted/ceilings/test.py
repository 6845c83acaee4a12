# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a start may cost, in counts that do not depend on the machine's mood.

A commit that needs a higher ceiling says why. The subject: an image of several layers, the host's network, the
default seccomp profile compiled ahead, no options; until the payload, true(1), has ended.
"""

import re

# Counted on systemd 257 and 252 alike; the slack is for another libc or kernel.
CEILINGS = {
    'system calls': 680,
    'execve': 2,       # libstart and the payload
    'clone': 2,        # the process that runs libcrun, and the payload
    'mount': 24,       # what is attached to the container's tree
    'files opened': 84,
    'bytes written': 17500,  # the state for `crun exec`, most of it
}

# strace -f cuts a call in two where another process comes between: it counts where it begins, its result where it ends.
LINE = re.compile(r'^\d+ +(?P<resumed><\.\.\. )?(?P<call>\w+)(?:\(| resumed>).*?(?: = (?P<result>-?\d+).*)?$')
WRITES = ('write', 'pwrite64', 'writev', 'sendmsg', 'sendto')


def count(trace):
    counts = dict.fromkeys(CEILINGS, 0)
    for match in filter(None, map(LINE.match, trace.splitlines())):
        call, result = match['call'], int(match['result'] or -1)
        if call == 'execve' and result == 0:
            counts['execve'] += 1
        if call in WRITES and result > 0:
            counts['bytes written'] += result
        if match['resumed']:
            continue
        counts['system calls'] += 1
        counts['clone'] += call in ('clone', 'clone3', 'fork', 'vfork')
        counts['mount'] += call in ('mount', 'move_mount')
        counts['files opened'] += call in ('open', 'openat', 'openat2')
    return counts


def trace_start(machine):
    machine.run('rm -rf /run/keyturn/counted; mkdir -p /run/keyturn/counted')
    machine.run('strace -f -o /run/counted.trace /usr/lib/keyturn/libstart run --name counted --detach --network host '
                '--state-dir /run/keyturn/counted --entrypoint /bin/true localhost/test/layers:4 </dev/null >/dev/null 2>&1',
                check=False)
    trace = machine.run('cat /run/counted.trace').out
    machine.run('rm -rf /run/keyturn/counted /run/counted.trace')
    assert 'execve("/bin/true"' in trace, trace[-2000:]
    return trace


def test_ceilings_of_a_start(machine):
    trace_start(machine)  # leaves the filter, should it not have been there
    counts = count(trace_start(machine))
    over = [f'{what}: {counts[what]}, the ceiling is {most}' for what, most in CEILINGS.items() if counts[what] > most]
    assert not over, '; '.join(over) + ' (raise it in tests/booted/ceilings only if the commit says why)'
    # A count of nothing would always be low enough.
    assert all(counts[what] >= most / 2 for what, most in CEILINGS.items()), counts
