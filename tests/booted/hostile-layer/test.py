# SPDX-License-Identifier: LGPL-2.1-or-later
"""A payload that writes as much as it can: neither the host's /run nor systemd's memory is what it writes into, and
nothing that was left behind keeps a container from starting. And what an image can do before its container runs: device
nodes and FIFOs in the place of files that are read."""

import contextlib
import re

BUSYBOX = 'localhost/test/busybox'
LIBSTART = '/usr/lib/keyturn/libstart'
ROOT = '/srv/hostile-root'

# 1,000 levels at a time, put on top of what is there: no path gets too long, and no program but mkdir and mv is needed.
NEST = '''
    path=n; i=0; while [ $i -lt 999 ]; do path=$path/d; i=$((i+1)); done;
    mkdir top; i=0;
    while [ $i -lt 25 ]; do mkdir -p $path && mv top $path/ && mv n top || exit 1; i=$((i+1)); done;
    echo nested; exec sleep 1000
'''


def container(machine, name, command, more='', image=f'Image={BUSYBOX}'):
    command = command.replace('\n', ' ').replace('\\', '\\\\').replace('"', '\\"').replace('$', '$$').replace('%', '%%')
    machine.container(name, f'[Container]\n{image}\nExec=sh -c "{command}"\nStopSignal=SIGKILL\n{more}\n')


def start(machine, name):
    machine.run(f'systemctl start {name}')
    return machine.show(name, 'MainPID')


def wait_for_line(machine, name, line):
    machine.wait_for(lambda: line in machine.journal(name).splitlines(), timeout=60)


def enter(machine, pid, command):
    """As the payload sees it."""
    return machine.run(f'nsenter -t {pid} -m -r -w -p -- /bin/sh -c \'{command}\'', check=False)


def memory_of_pid1(machine):
    """The most that it ever had, in KiB; what it has now would depend on what the C library gives back."""
    return int(re.search(r'VmHWM:\s+(\d+)', machine.read('/proc/1/status'))[1])


def free(machine, path):
    return [int(n) for n in machine.run(['stat', '--file-system', '--format=%a %d', path]).out.split()]


@contextlib.contextmanager
def small_run(machine):
    """A /run of 64 MiB and 20,000 inodes, so that to fill it takes neither long nor much."""
    options = re.search(r' /run \S+ .* - tmpfs \S+ (\S+)$', machine.read('/proc/1/mountinfo'), re.M)[1]
    old = ','.join(re.findall(r'(?:size|nr_inodes)=\w+', options))
    machine.run('mount -o remount,size=64m,nr_inodes=20000 /run')
    try:
        yield
    finally:
        machine.run(f'mount -o remount,{old} /run')


def check_run_works(machine, before):
    """Units are started, also such as were not there before, and containers."""
    after = free(machine, '/run')
    assert after[0] > before[0] * 0.9 and after[1] > before[1] * 0.9, (before, after)
    machine.run('systemctl daemon-reload')
    assert machine.run('systemd-run --quiet --wait --pipe echo well').out == 'well\n'
    container(machine, 'neighbour', 'exec sleep 1000')
    start(machine, 'neighbour')


def test_content_without_end(machine):
    with small_run(machine):
        before = free(machine, '/run')
        container(machine, 'hostile', 'dd if=/dev/zero of=/fill bs=1M count=200; echo ended; exec sleep 1000')
        start(machine, 'hostile')
        wait_for_line(machine, 'hostile', 'ended')
        check_run_works(machine, before)
        machine.run('systemctl kill --signal=KILL hostile; systemctl stop hostile')


def test_files_without_end(machine):
    with small_run(machine):
        before = free(machine, '/run')
        container(machine, 'hostile', 'mkdir /f; cd /f; i=0; while [ $i -lt 30000 ] && : > $i; do i=$((i+1)); done; '
                                      'echo ended; exec sleep 1000')
        start(machine, 'hostile')
        wait_for_line(machine, 'hostile', 'ended')
        check_run_works(machine, before)
        machine.run('systemctl stop hostile')


def make_root(machine):
    machine.run(f'rm -rf {ROOT}; mkdir -p {ROOT}/bin {ROOT}/dev {ROOT}/proc {ROOT}/sys {ROOT}/etc {ROOT}/run {ROOT}/tmp && '
                f'cp /bin/busybox {ROOT}/bin/ && for tool in sh sleep; do ln -s busybox {ROOT}/bin/$tool; done && '
                f'touch {ROOT}/etc/hosts {ROOT}/etc/hostname')


def test_generated_files_of_a_root_directory(machine):
    """They are mounted on its files one by one, and can be written. With further mounts, libcrun's way through it."""
    for name, more in (('hostile', ''), ('hostile-more', 'Tmpfs=/tmp\nVolume=/srv:/srv:rslave')):
        with small_run(machine):
            make_root(machine)
            before = free(machine, '/run')
            container(machine, name, 'busybox grep localhost /etc/hosts; '
                                     'busybox dd if=/dev/zero of=/etc/hosts bs=1M seek=1 count=200; echo ended; exec sleep 1000',
                      more, image=f'Rootfs={ROOT}')
            pid = start(machine, name)
            wait_for_line(machine, name, 'ended')
            check_run_works(machine, before)
            assert 'localhost' in machine.journal(name)
            assert '/.private' not in machine.read(f'/proc/{pid}/mountinfo')
            machine.run(f'systemctl stop {name}')


def limits(machine, pid):
    """Size in KiB and inodes of the container's root, as it sees them."""
    return [int(enter(machine, pid, f'df {option} /').out.splitlines()[-1].split()[1]) for option in ('-k', '-i')]


def memory_total(machine):
    return int(re.search(r'MemTotal:\s+(\d+)', machine.read('/proc/meminfo'))[1])


def near(a, b):
    return abs(a - b) <= 8 + b / 1000


def test_limits_are_those_of_the_file(machine):
    total = memory_total(machine)
    for settings, size, inodes in (
            ('', total / 10, total / 40), ('WritableLayerSize=8m', 8192, 2048), ('WritableLayerSize=1%', total / 100, total / 400),
            ('WritableLayerSize=8m\nWritableLayerInodes=500', 8192, 500), ('WritableLayerInodes=500', total / 10, 500)):
        container(machine, 'limited', 'dd if=/dev/zero of=/fill bs=1M count=9; echo ended; exec sleep 1000', f'[Keyturn]\n{settings}\n')
        pid = start(machine, 'limited')
        found = limits(machine, pid)
        assert near(found[0], size) and near(found[1], inodes), (settings, found, size, inodes)
        wait_for_line(machine, 'limited', 'ended')
        if size == 8192:
            assert 'No space left on device' in machine.journal('limited'), settings
        machine.run('systemctl stop limited')


def test_limits_of_keyturn_conf(machine):
    machine.write('/etc/keyturn/keyturn.conf.d/10-layer.conf',
                  '[Keyturn]\nDefaultWritableLayerSize=4m\nDefaultWritableLayerInodes=300\n')
    for more, expected in (('', [4096, 300]), ('[Keyturn]\nWritableLayerSize=16m\n', [16384, 300]),
                           ('PodmanArgs=--storage-opt=size=2m\n', [2048, 300])):
        container(machine, 'limited', 'exec sleep 1000', more)
        assert limits(machine, start(machine, 'limited')) == expected, more
        machine.run('systemctl stop limited')


def test_limits_that_leave_no_room_for_a_start(machine):
    for limit in ('--storage-opt size=0', '--storage-opt inodes=0', '--storage-opt size=-1', '--storage-opt size=infinity',
                  '--storage-opt size=0%', '--storage-opt size=101%', '--storage-opt inodes=18446744073709551616'):
        done = machine.run(f'{LIBSTART} run --name limited {limit} {BUSYBOX} true 2>&1 </dev/null', check=False)
        assert done.status == 125 and '--storage-opt: ' in done.out, (limit, done)
    make_root(machine)
    machine.run(f'head -c 100000 /dev/zero | tr "\\0" "\\n" > {ROOT}/etc/passwd')
    done = machine.run(f'{LIBSTART} run --name limited --storage-opt size=64k --user 7 --rootfs {ROOT}:O sh 2>&1 </dev/null',
                       check=False)
    assert done.status == 125 and 'WritableLayerSize=' in done.out, done
    assert machine.run('test -e /run/keyturn/limited', check=False).status == 1


def test_a_deep_tree_is_nobodys_to_remove(machine):
    container(machine, 'hostile', NEST)
    container(machine, 'harmless', 'exec sleep 1000')
    for name in ('harmless', 'hostile', 'harmless'):  # what a stop always needs
        start(machine, name)
        machine.run(f'systemctl stop {name}')
    before = memory_of_pid1(machine)
    for _ in range(2):
        start(machine, 'hostile')
        wait_for_line(machine, 'hostile', 'nested')
        machine.run('systemctl stop hostile')
        assert machine.run('test -e /run/keyturn/hostile', check=False).status == 1
        machine.run('systemctl reset-failed hostile', check=False)
    grown = memory_of_pid1(machine) - before
    assert grown < 4096, f'systemd has grown by {grown} KiB'


def test_a_directory_that_was_left(machine):
    """Its service was masked while the container ran: systemd does not remove the directory, and the next start has to. For a
    file that was removed or is refused, a service still says how its container is stopped."""
    def lose(name, path):
        machine.run(f'rm {path}')

    def break_(name, path):
        machine.write(path, '[Container]\nImag=typo\n')

    def mask(name, path):
        machine.run(f'ln -s /dev/null /etc/systemd/system/{name}.service')

    for number, change in enumerate((lose, break_, mask)):
        name = f'left{number}'
        path = f'/etc/containers/systemd/{name}.container'
        container(machine, name, 'echo old > /file; exec sleep 1000')
        pid = start(machine, name)
        text = machine.read(path)
        change(name, path)
        machine.run('systemctl daemon-reload')
        assert machine.run(f'test -d /proc/{pid}', check=False).status == 0
        # What the unit said of how it is stopped is not known where it is masked.
        machine.run(f'systemctl kill --signal=KILL {name}; systemctl stop {name}')
        is_left = machine.run(f'test -d /run/keyturn/{name}/systemd-{name}', check=False).status == 0
        assert is_left == (change == mask), name
        machine.run(f'rm -f /etc/systemd/system/{name}.service')
        machine.container(name, text)
        pid = start(machine, name)
        assert machine.show(name, 'ActiveState') == 'active'
        assert f'"pid": {pid}' in machine.run(f'crun --root /run/keyturn/{name} state systemd-{name}').out
        assert (f'/run/keyturn/{name}\' was left by' in machine.journal()) == is_left, machine.journal()
        machine.run(f'systemctl stop {name}; systemctl reset-failed {name}', check=False)
        assert machine.run(f'test -e /run/keyturn/{name}', check=False).status == 1


def test_a_socket_that_was_left(machine):
    """The payload's, which is no file of the state. Its service is masked, as else the stop would remove it."""
    machine.container('heard', '''
        [Container]
        Image=localhost/test/dump
        Notify=true
        StopSignal=KILL
        Exec=--ready --hold
    ''')
    for _ in range(2):
        machine.run('systemctl start heard')
        machine.run('ln -s /dev/null /etc/systemd/system/heard.service; systemctl daemon-reload')
        machine.run('systemctl kill --signal=KILL heard; systemctl stop heard; test -S /run/keyturn/heard/.private/notify')
        machine.run('rm /etc/systemd/system/heard.service; systemctl daemon-reload')


def by_hand(machine, name, words, state='', check=False):
    return machine.run(f'{LIBSTART} run --name {name} --network host {state} {words} 2>&1 </dev/null', check=check)


def test_what_runs_is_left_alone(machine):
    container(machine, 'alive', 'exec sleep 1000')
    pid = start(machine, 'alive')
    before = machine.run('find /run/keyturn/alive -type f | xargs cksum').out
    for name in ('systemd-alive', 'another'):
        done = by_hand(machine, name, f'{BUSYBOX} true', '--state-dir /run/keyturn/alive')
        assert done.status == 125 and 'which runs' in done.out, done
    assert machine.run('find /run/keyturn/alive -type f | xargs cksum').out == before
    assert machine.show('alive', 'MainPID') == pid
    machine.run('keyturnctl exec alive true')


def test_libstart_was_killed(machine):
    # Waiting for its payload: which ends with it, as nobody else would end it, and leaves the directory. A stop signal of
    # the image changes nothing.
    for image in ('localhost/test/nginx', BUSYBOX):
        machine.run(f'{LIBSTART} run --name killed --network host {image} sleep 1000 >/dev/null 2>&1 </dev/null & echo $! > /run/killed.pid')
        payload = machine.wait_for(lambda: machine.run('cat /run/keyturn/killed/killed/status', check=False).out)
        payload = re.search(r'"pid":\s*(\d+)', payload)[1]
        machine.wait_for(lambda: 'sleep' in machine.read(f'/proc/{payload}/cmdline'))
        machine.run('kill -KILL $(cat /run/killed.pid); rm /run/killed.pid')
        machine.wait_for(lambda: machine.run(f'test -d /proc/{payload}', check=False).status == 1)
    # Another process has the number now, as far as the state can tell.
    machine.run('sed -i "s/\\"pid\\": *[0-9]*/\\"pid\\":1/" /run/keyturn/killed/killed/status')
    assert by_hand(machine, 'killed', f'{BUSYBOX} true').status == 0
    assert machine.run('test -e /run/keyturn/killed', check=False).status == 1
    # At any moment of a start, also while it removes the directory.
    for delay in range(40):
        machine.run(f'timeout --signal=KILL 0.{delay:03} {LIBSTART} run --name killed --network host {BUSYBOX} true '
                    '>/dev/null 2>&1 </dev/null', check=False)
        machine.wait_for(lambda: by_hand(machine, 'killed', f'{BUSYBOX} true').status == 0)
        machine.run('test ! -e /run/keyturn/killed')


def test_two_at_once(machine):
    """Of several with one name one runs; the others are told so, and end first."""
    machine.run('rm -rf /srv/same; mkdir /srv/same')
    out = machine.run(f'for i in 1 2 3 4 5 6; do ({LIBSTART} run --name same --network host -v /srv/same:/same {BUSYBOX} '
                      'sh -c "echo runs; until test -e /same/go; do sleep 0.05; done" 2>&1 </dev/null; '
                      'echo $i >>/srv/same/ended) & done; '
                      'until [ "$(cat /srv/same/ended 2>/dev/null | wc -l)" = 5 ]; do sleep 0.05; done; '
                      'touch /srv/same/go; wait').out
    assert out.count('runs\n') == 1, out
    assert machine.run('test -e /run/keyturn/same', check=False).status == 1


def test_a_tree_of_an_earlier_version(machine):
    """Which had what the payload wrote in the state directory. It is put aside, and not walked by anybody."""
    container(machine, 'upgraded', 'exec sleep 1000')
    machine.run('mkdir -p /run/keyturn/upgraded/.private/root /run/keyturn/upgraded/.private/work/work '
                '/run/keyturn/upgraded/.private/upper /run/keyturn/upgraded/systemd-upgraded && '
                'echo \'{"pid": 1, "process-start-time": 1, "cgroup-path": "", "rootfs": "", "bundle": "", "created": "", '
                '"systemd-cgroup": false}\' > /run/keyturn/upgraded/systemd-upgraded/status && '
                'touch /run/keyturn/upgraded/systemd-upgraded/config.json')
    nest = NEST.replace('; exec sleep 1000', '')
    machine.run(f'cd /run/keyturn/upgraded/.private/upper && {nest}')
    before = memory_of_pid1(machine)
    start(machine, 'upgraded')
    machine.run('systemctl stop upgraded; systemctl reset-failed upgraded', check=False)
    assert machine.run('test -e /run/keyturn/upgraded', check=False).status == 1
    aside = machine.run('echo /run/keyturn/.left-over-upgraded-*').out.strip()
    machine.run(f'test -d {aside}/upper/top')
    assert aside in machine.journal()
    assert memory_of_pid1(machine) - before < 4096
    start(machine, 'upgraded')
    machine.run(f'rm -r {aside}', timeout=60)


def opened_for_reading(trace, name):
    return re.findall(rf'^.*open(?:at2?)?\(.*"[^"]*{name}"(?!.*O_PATH).* = \d+.*$', trace, re.M)


def test_nothing_but_files_is_read_from_an_image(machine):
    """To open a device can do something: a watchdog's begins to count. To open a FIFO waits."""
    kinds = {'a device': 'mknod {} c 1 3', 'a block device': 'mknod {} b 7 0', 'a FIFO': 'mkfifo {}', 'a directory': 'mkdir {}',
             'a link to a device': f'mknod {ROOT}/etc/node c 1 3 && ln -s /etc/node {{}}'}
    trace = f'strace -f -y -o /run/hostile.trace {LIBSTART} run --name nodes --network host --rootfs'
    for kind, command in kinds.items():
        for name in ('passwd', 'group'):
            make_root(machine)
            machine.run(command.format(f'{ROOT}/etc/{name}'))
            for words in (f'{ROOT}:O sh -c true', f'{ROOT} /bin/sh -c true', f'--print-spec {ROOT} sh', f'--print-spec {ROOT}:O sh'):
                done = machine.run(f'{trace} {words} 2>&1 </dev/null', check=False, timeout=20)
                assert done.status == 125, (kind, name, words, done)
                assert re.search(rf"'etc/{name}' of the image is (not a regular file|a .*, not a regular file)", done.out), (kind, done.out)
                if 'device' in kind:
                    found = opened_for_reading(machine.read('/run/hostile.trace'), f'etc/{name}')
                    assert not found, (kind, words, found)


def test_ids_are_counted_in_files_only(machine):
    """UserNS=auto looks into the layers in the store, where an image's device is one. In the unit, and by hand."""
    prepare_subids(machine)
    for kind in ('mknod {} c 1 3', 'mknod {} b 7 0', 'mkfifo {}', f'mknod {ROOT}/etc/node c 1 3 && ln -s /etc/node {{}}'):
        for name in ('passwd', 'group'):
            make_root(machine)
            machine.run(kind.format(f'{ROOT}/etc/{name}'))
            machine.run('rm -rf /var/lib/keyturn/ids')
            done = machine.run(f'strace -f -o /run/hostile.trace {LIBSTART} userns hostile-ids --userns auto --rootfs {ROOT} sh',
                               timeout=20)
            found = opened_for_reading(machine.read('/run/hostile.trace'), f'etc/(?:{name}|node)')
            assert not found, (kind, name, found)
            assert machine.run('ls /var/lib/keyturn/ids').out == 'hostile-ids\n', done
            machine.run(f'{LIBSTART} userns --unpin hostile-ids')
    # Were one opened all the same, it would not be a device of the machine's.
    assert machine.show('keyturn-userns@x.service', 'DevicePolicy') == 'closed'


def prepare_subids(machine):
    for file in ('/etc/subuid', '/etc/subgid'):
        machine.write(file, 'containers:2147483647:2147483648\n')


def test_no_link_of_a_layer_is_followed_on_the_host(machine):
    """Below a layer that has /etc, another one has a link in its place, which leads to the host. To follow one is to
    change when it was last used."""
    machine.run('mkdir -p /srv/trap')
    machine.container('links', '[Container]\nImage=localhost/test/four-layers\nExec=sleep 1000\nStopSignal=SIGKILL\n')
    start(machine, 'links')
    layers = re.findall(r'/var/\S+?/diff', machine.run('keyturnctl inspect links').out)
    machine.run('systemctl stop links; systemctl reset-failed links')
    assert len(layers) == 4, layers
    for layer in layers[1:]:
        machine.run(f'rm -rf {layer}/etc && ln -s /srv/trap {layer}/etc && touch -h -a -d 2001-01-01 {layer}/etc')
    machine.run(f'mkdir -p {layers[0]}/etc; rm -f {layers[0]}/etc/mtab')
    pid = start(machine, 'links')
    assert machine.run(f'readlink /proc/{pid}/root/etc/mtab').out == '/proc/mounts\n'
    for layer in layers[1:]:
        assert machine.run(f'stat -c %X {layer}/etc').out == machine.run('date -d 2001-01-01 +%s').out, layer


def test_the_layer_is_seen_by_nobody_else(machine):
    container(machine, 'quiet', 'exec sleep 1000')
    start(machine, 'quiet')  # the filter, and whatever is made once
    machine.run('systemctl stop quiet')
    before = machine.read('/proc/1/mountinfo')
    for number, command in enumerate(('systemctl start quiet',
                                      f'setarch --uname-2.6 {LIBSTART} run --detach --name old --network host {BUSYBOX} sleep 1000 '
                                      '</dev/null >/dev/null 2>&1')):
        machine.run(command)
        state = ('quiet/systemd-quiet', 'old/old')[number]
        pid = re.search(r'"pid":\s*(\d+)', machine.read(f'/run/keyturn/{state}/status'))[1]
        machine.wait_for(lambda: machine.read('/proc/1/mountinfo') == before)
        inside = machine.read(f'/proc/{pid}/mountinfo')
        points = [line.split()[4] for line in inside.splitlines() if ' - tmpfs ' in line]
        # and the masks', which are read-only and empty
        assert all(point.startswith(('/dev', '/proc/', '/sys/')) for point in points), inside
        assert inside.count(' / / ') == 1 and ' - overlay ' in inside, inside
        # No descriptor of it is left, in the payload or in anybody else.
        # libstart ends after it has said that it is ready.
        machine.wait_for(lambda: not machine.run('ls -l /proc/[0-9]*/fd 2>/dev/null | grep -E "(/upper|/work)( |$)" || true').out)
        assert not machine.run(f'ls /proc/{pid}/fd').out.split()[3:]
        machine.run(f'kill -KILL {pid}; rm -rf /run/keyturn/old')
    machine.run('systemctl stop quiet', check=False)


ESCAPE = '''
    (ls /..; ls /../..; cat /../etc/host-marker /../../etc/host-marker) 2>&1;
    for i in 1 2 3 4 5; do umount -l / 2>&1; done;
    ls / /.. 2>&1; cat /etc/host-marker /../etc/host-marker 2>&1;
    nsenter --mount=/proc/1/ns/mnt /bin/sh -c "ls /; cat /etc/host-marker" 2>&1;
    echo ended; exec sleep 1000
'''


def check_no_way_back(machine, names):
    machine.write('/etc/host-marker', 'this is the host\n')
    machine.run('mkdir -p /srv/volume')
    for name, more in names:
        container(machine, name, ESCAPE, f'AddCapability=all\nSeccompProfile=unconfined\nUnmask=ALL\n{more}\n')
        start(machine, name)
        wait_for_line(machine, name, 'ended')
        assert 'this is the host' not in machine.journal(name), machine.journal(name)
        machine.run(f'systemctl stop {name}')


WAYS = (('plain', ''), ('shared', 'Volume=/srv/volume:/volume:rshared'))


def test_no_way_back_to_the_hosts_root(machine):
    check_no_way_back(machine, WAYS)


def test_no_way_back_where_the_hosts_root_is_covered(machine):
    """Something is mounted over the "/" that the host's processes have: they, and their container, come from below it."""
    with machine.another() as other:
        other.run('mkdir -p /srv/volume; mount --make-rprivate /; mount -t tmpfs cover /')
        check_no_way_back(other, WAYS)
        other.run('cd /; umount /.. || true')
