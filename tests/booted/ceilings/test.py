# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a start may cost, in counts that do not depend on the machine's mood.

A commit that needs a higher ceiling says why. The subject: an image of several layers, the host's network, the
default seccomp profile compiled ahead, no options but those that switch off the image's health check and stop signal;
until the payload, true(1), has ended.
"""

import contextlib
import os
import pathlib
import platform
import re
import tempfile

from machine import host


# Counted on systemd 257 and 252 alike; the slack, a tenth or less, is for another libc, processor or kernel.
CEILINGS = {
    'system calls': 610,  # 590
    'execve': 2,       # libstart and the payload
    'clone': 2,        # the process that runs libcrun, and the payload
    'mount': 21,       # what is attached to the container's tree
    'files opened': 80,
    'bytes written': 6000,  # the state for `crun exec`, most of it
    # In the foreground, of libstart, the container's process and the payload (busybox, about 60): 186.
    'page faults': 200,
    # The same with 5,000 variables of 31 bytes in a file: 308, where Debian 13 has built it 329. 40 pages of them, 9 of
    # pointers, 16 of their hashes.
    'page faults with variables': 335 if platform.freedesktop_os_release().get('VERSION_ID') == '13' else 320,
    # libstart's own, up to the clone(2): what callgrind would count. A third is SHA-256 of the image's configuration.
    'instructions': 1_445_000,
    # A boot with one container, from the file system that has the programs: the generator with 20 files, a filter that is
    # compiled, the relay, the start. The kernel reads 128 KiB around a page that is not there.
    'bytes read by a cold boot': 2 << 20,  # 1,778,688; a page touched elsewhere is 128 KiB more, and tests/order/make brings it back
}

# strace -f cuts a call in two where another process comes between: it counts where it begins, its result where it ends.
LINE = re.compile(r'^\d+ +(?P<resumed><\.\.\. )?(?P<call>\w+)(?:\(| resumed>).*?(?: = (?P<result>-?\d+).*)?$')
WRITES = ('write', 'pwrite64', 'writev', 'sendmsg', 'sendto')
TRACED = ('system calls', 'execve', 'clone', 'mount', 'files opened', 'bytes written')


def count(trace):
    counts = dict.fromkeys(TRACED, 0)
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


def start(machine, under, options=''):
    """Starts it under another program, and returns what that prints."""
    machine.run('rm -rf /run/keyturn/counted; mkdir -p /run/keyturn/counted')
    out = machine.run(f'{under} /usr/lib/keyturn/libstart run --name counted {options} --network host --no-healthcheck '
                      '--stop-signal TERM --state-dir /run/keyturn/counted --entrypoint /bin/true localhost/test/layers:4 '
                      '</dev/null 2>/dev/null',
                      check=False, timeout=120).out
    machine.run('rm -rf /run/keyturn/counted')
    return out


def trace_start(machine):
    start(machine, 'strace -f -o /run/counted.trace', '--detach')
    trace = machine.run('cat /run/counted.trace; rm /run/counted.trace').out
    assert 'execve("/bin/true"' in trace, trace[-2000:]
    return trace


def check(counts):
    over = [f'{what}: {number}, the ceiling is {CEILINGS[what]}' for what, number in counts.items()
            if number > CEILINGS[what]]
    assert not over, '; '.join(over) + ' (raise it in tests/booted/ceilings only if the commit says why)'
    # A count of nothing would always be low enough.
    assert all(number >= CEILINGS[what] / 2 for what, number in counts.items()), counts


def test_ceilings_of_a_start(machine):
    trace_start(machine)  # leaves the filter, should it not have been there
    check(count(trace_start(machine)))


def test_ceiling_of_page_faults(machine):
    machine.build('ceilings/count.c', '/usr/local/bin/count')
    start(machine, '')
    machine.write('/run/counted.env', ''.join(f'VARIABLE_{i:04}={i:017}\n' for i in range(5000)))
    # A page that the kernel has just taken back is a fault more.
    for what, options in (('page faults', ''), ('page faults with variables', '--env-file /run/counted.env')):
        check({what: min(int(start(machine, 'count faults', options)) for _ in range(5))})


def test_ceiling_of_instructions(machine):
    """Single steps: 3 to 30 s. Each suite has a libstart of its own, by another compiler and libc:
    1,433,000 and 1,430,900, and up to 2,000 more on another day."""
    machine.build('ceilings/count.c', '/usr/local/bin/count')
    start(machine, '')
    check({'instructions': int(start(machine, 'count instructions'))})


@contextlib.contextmanager
def disk_of(directory):
    """A loop device with an ext4 of what is in a directory; it reads ahead as far as disks do without being told otherwise."""
    with tempfile.TemporaryDirectory() as work:
        image = os.path.join(work, 'disk.ext4')
        host('mkfs.ext4', '-q', '-d', str(directory), image, '32M')
        device = host('losetup', '--find', '--show', '--read-only', image).strip()
        try:
            pathlib.Path('/sys/block', os.path.basename(device), 'queue/read_ahead_kb').write_text('128')
            yield device
        finally:
            host('losetup', '--detach', device)


def bytes_read(device):
    return int(pathlib.Path('/sys/block', os.path.basename(device), 'stat').read_text().split()[2]) * 512


def test_ceiling_of_a_cold_boot(machine):
    programs = machine.path('/usr/lib/keyturn')
    with disk_of(programs) as device:
        before = 0

        def prepare(root):
            nonlocal before
            host('mount', '-o', 'ro', device, f'{root}/usr/lib/keyturn')
            before = bytes_read(device)
            for number in range(20):
                path = pathlib.Path(root, f'etc/containers/systemd/cold{number}.container')
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text('[Container]\nImage=localhost/test/four-layers\nExec=sleep 1000\nStopSignal=SIGKILL\n'
                                'Volume=/srv:/srv\n' + ('' if number else '[Install]\nWantedBy=multi-user.target\n'))

        with machine.another(prepare) as other:
            assert other.run('systemctl is-active cold0 keyturn-relay keyturn-seccomp').out.split() == ['active'] * 3
            check({'bytes read by a cold boot': bytes_read(device) - before})
