# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a start does not do, seen from the kernel's side: every system call up to the payload's execution."""

import re

FORBIDDEN = {'fsync', 'fdatasync', 'sync', 'syncfs', 'sync_file_range', 'msync', 'nanosleep', 'clock_nanosleep',
             'pause', 'bind', 'listen', 'accept', 'accept4',
             # libcrun forgets a service's CPUAffinity= by it, on kernels that take an empty mask
             'sched_setaffinity'}
MAKERS = {'mkdir', 'mkdirat', 'symlink', 'symlinkat', 'rename', 'renameat', 'renameat2', 'link', 'linkat', 'unlink',
          'unlinkat', 'rmdir', 'mknod', 'mknodat', 'creat', 'truncate'}
SOCKETS = {'/run/systemd/notify', '/run/keyturn/relay'}


def trace(machine, name):
    """The calls of libstart and of all it starts, up to the payload: (call, arguments, result)."""
    machine.reload()
    text = machine.run(f'systemctl cat {name}').out.replace('\\\n', ' ')
    command = re.search(r'^ExecStart=(.*)$', text, re.M)[1]
    # -D: libstart itself stays the service's main process.
    machine.unit(f'{name}.service.d/strace.conf', f'''
        [Service]
        ExecStart=
        ExecStart=/usr/bin/strace -D -f -y -s 200 -o /run/trace {command}
    ''')
    # So that no filter is missing, as after a boot with this file.
    machine.run(f'systemctl start keyturn-seccomp && systemctl reload keyturn-seccomp && systemctl start {name}')
    payload = machine.show(name, 'MainPID')
    # The kernel tells strace later than libstart that the payload is executed.
    machine.wait_for(lambda: re.search(rf'^{payload} .*execve.*\) += 0$', machine.read('/run/trace'), re.M))
    machine.run(f'systemctl stop {name}')
    calls, pending = [], {}
    for line in machine.read('/run/trace').splitlines():
        pid, _, rest = line.partition(' ')
        rest = rest.strip()
        if rest.endswith('<unfinished ...>'):
            pending[pid] = rest[:-len('<unfinished ...>')].rstrip()
            continue
        resumed = re.match(r'<\.\.\. \w+ resumed>(.*)', rest)
        if resumed:
            rest = pending.pop(pid, '') + resumed[1]
        call = re.match(r'(\w+)\((.*)\)\s+= (.*)', rest)
        if not call:
            continue
        # The payload is its own master from here on.
        if pid == payload and any(p == pid and c == 'execve' and r == '0' for p, c, _, r in calls):
            continue
        calls.append((pid, *call.groups()))
    assert len(calls) > 100, calls
    return calls


def written_path(call, arguments):
    """The absolute path of the file that a call makes, changes or opens for writing; or None."""
    if call in ('open', 'openat', 'openat2'):
        if not re.search(r'O_WRONLY|O_RDWR|O_CREAT|O_TRUNC', arguments):
            return None
    elif call not in MAKERS:
        return None
    directory = re.match(r'(?:AT_FDCWD|\d+)<([^>]*)>', arguments)
    path = re.search(r'"([^"]*)"', arguments)[1]
    if call in ('symlink', 'symlinkat'):
        directory = re.search(r'", (?:AT_FDCWD|\d+)<([^>]*)>', arguments)
        path = re.findall(r'"([^"]*)"', arguments)[1]
    return path if path.startswith('/') or not directory else directory[1].rstrip('/') + '/' + path


def is_in_new_mount(call, arguments, result, descriptors):
    """Whether the call's path is below a mount that libstart has made and attached nowhere: to write there leaves
    nothing on the host, but for the mount points in a directory of Rootfs=, which is the container's own.
    `descriptors` are those of such mounts and of what was opened below them."""
    directory = re.match(r'(?:"[^"]*", )?(\d+)<', arguments) if call == 'symlinkat' else re.match(r'(\d+)<', arguments)
    inside = bool(directory) and directory[1] in descriptors and not arguments[directory.end():].count('"/')
    opened = re.match(r'(\d+)', result)
    if call == 'close' and directory:
        descriptors.discard(directory[1])
    elif opened and (call in ('fsmount', 'open_tree') or (call in ('openat', 'openat2') and inside)):
        descriptors.add(opened[1])
    return inside


def check(machine, name):
    calls = trace(machine, name)
    descriptors = set()
    for _, call, arguments, result in calls:
        what = f'{call}({arguments}) = {result}'
        assert call not in FORBIDDEN, what
        if call == 'socket':
            assert arguments.startswith('AF_UNIX'), what
        if call in ('connect', 'sendto', 'sendmsg'):
            path = re.search(r'sun_path=@?"([^"]*)"', arguments)
            assert not path or path[1] in SOCKETS, what
        if call == 'poll' or call == 'ppoll':
            assert not re.search(r'\(?NULL, 0', arguments), what
        inside = is_in_new_mount(call, arguments, result, descriptors)
        path = written_path(call, arguments)
        if path and not inside and not result.startswith('-1'):
            assert re.match(r'/run/|/proc/|/dev/(null|pts|shm|mqueue|full|zero|random|urandom|tty|console)', path), what
    executed = [arguments for _, call, arguments, result in calls if call == 'execve' and result == '0']
    assert len(executed) == 2, executed
    assert '/libstart"' in executed[0], executed
    assert 'sleep' in executed[1], executed
    return calls


def test_a_start_of_an_image(machine):
    machine.container('traced', '''
        [Container]
        Image=localhost/test/busybox
        Exec=sleep 1000
        StopSignal=SIGKILL
    ''')
    calls = check(machine, 'traced')
    # The name is the host's already: nobody who waits for that one to change is to be woken.
    assert not any(call == 'sethostname' for _, call, _, _ in calls)


def test_a_start_with_everything(machine):
    machine.write('/etc/traced.env', 'A=1\n')
    machine.container('traced', '''
        [Container]
        Image=localhost/test/debian
        Exec=sleep 1000
        User=www-data
        Volume=/etc:/host:ro
        Tmpfs=/cache
        ReadOnly=true
        EnvironmentFile=/etc/traced.env
        HostName=traced
        ShmSize=8m
        AddCapability=CAP_NET_ADMIN
        Ulimit=nofile=100:200
        StopSignal=SIGKILL
    ''')
    calls = check(machine, 'traced')
    assert any(call == 'sethostname' for _, call, _, _ in calls)


def test_a_start_of_a_directory(machine):
    machine.run('mkdir -p /srv/traced/bin /srv/traced/dev /srv/traced/proc /srv/traced/sys /srv/traced/etc '
                '/srv/traced/run && cp /bin/busybox /srv/traced/bin/sleep')
    machine.container('traced', '''
        [Container]
        Rootfs=/srv/traced
        Exec=/bin/sleep 1000
        StopSignal=SIGKILL
    ''')
    check(machine, 'traced')


def test_the_generator_has_libstart_read(machine):
    def wanted():
        machine.run('strace -y -e trace=fadvise64 -o /run/trace /usr/lib/systemd/system-generators/keyturn-generator /run',
                    check=False)
        found = re.findall(r'^fadvise64\(\d+<(.*)>, (\d+), (\d+), POSIX_FADV_WILLNEED\) += 0', machine.read('/run/trace'), re.M)
        return {(path, offset // 4096) for path, begin, length in found
                for offset in range(int(begin), int(begin) + int(length), 4096)}

    machine.container('traced', '[Container]\n')
    assert not wanted(), 'and there is no service'
    machine.container('traced', '[Container]\nImage=localhost/test/busybox\n')
    libstart = '/usr/lib/keyturn/libstart'
    # What it comes to, and no more (libstart/programs/order.ld); ceilings/cold_boot looks whether that is what is read.
    pages = wanted()
    assert {path for path, _ in pages} == {libstart} and 256 < len(pages) < 512, sorted(pages)
    assert {(libstart, page) for page in range(192)} <= pages, sorted(pages)


def test_a_start_on_a_bridge(machine):
    """The network is there: it is entered, and what it says of names is read once. No netlink, no helper, no wait."""
    machine.container('traced', '''
        [Container]
        Image=localhost/test/busybox
        Network=host
        Exec=sleep 1000
        StopSignal=SIGKILL
    ''')
    host = check(machine, 'traced')
    machine.container('traced', '''
        [Container]
        Image=localhost/test/busybox
        Network=bridge
        AddHost=machine:host-gateway
        Exec=sleep 1000
        StopSignal=SIGKILL
    ''')
    calls = check(machine, 'traced')
    opened = [arguments for _, call, arguments, _ in calls if call == 'openat' and '/run/keyturn/network/' in arguments]
    assert sorted(re.search(r'network/traced/(\w+)', path)[1] for path in opened) == ['names', 'netns', 'netns'], opened
    assert [call for _, call, _, _ in calls].count('setns') == 1
    # With a network of its own it has a name of its own, and /sys of its own.
    assert len(calls) < len(host) + 30, (len(calls), len(host))
