# SPDX-License-Identifier: LGPL-2.1-or-later
"""What is full, read-only, slow, or too many: the error names the thing, nothing is left, and the next start works."""

import os
import random
import re
import time

import registry
from hanging import hanging

BUSYBOX = 'localhost/test/busybox'
TEST_SECONDS = 300  # each number of descriptors takes two seconds and more
GENERATOR = '/usr/lib/systemd/system-generators/keyturn-generator'
LEFT = 'find /run/keyturn -xdev ! -path "*/seccomp/*" | sort; cut -d" " -f5 /proc/1/mountinfo | sort'


def container(machine, keys='', more=''):
    machine.container('web', f'[Container]\nImage={BUSYBOX}\nNetwork=none\nStopSignal=SIGKILL\nExec=sleep 1000\n{keys}\n'
                             f'[Service]\nSuccessExitStatus=SIGKILL\n{more}\n')


def works(machine):
    machine.run('systemctl reset-failed; systemctl start web')
    machine.run('systemctl stop web')


def is_left(machine, before):
    machine.is_as(before, lambda: machine.run(LEFT).out)


def fails(machine, *words):
    """Within its time, with these words, and with nothing that is left."""
    before = machine.run(LEFT).out
    done = machine.run('timeout 20 systemctl start web', check=False)
    assert done.status not in (0, 124), done
    said = machine.journal()
    for word in words:
        assert word in said, (word, said)
    machine.run('systemctl stop web; systemctl reset-failed', check=False)
    is_left(machine, before)


def test_run_is_full(machine):
    """Of bytes, and of inodes."""
    container(machine)
    works(machine)
    for kind, column in (('size', '$3 * 1024'), ('nr_inodes', '$3')):
        flag = '-i' if kind == 'nr_inodes' else '-k'
        machine.run(f"mount -o remount,{kind}=$(df {flag} /run | awk 'NR == 2 {{ print {column} }}') /run")
        try:
            fails(machine, 'No space left on device')
        finally:
            machine.run('mount -o remount,size=1G,nr_inodes=100000 /run')
        works(machine)


def test_the_disk_of_volumes_is_full(machine):
    volumes = '/var/lib/containers/storage/volumes'
    container(machine)
    works(machine)
    machine.run(f'mkdir -p {volumes} && mount -t tmpfs -o size=64k small {volumes}')
    try:
        container(machine, 'Volume=data:/bin')
        fails(machine, 'No space left on device', "volume 'data'")
        # It is filled as soon as there is room, and not half.
        machine.run(f'mount -o remount,size=64M {volumes}')
        works(machine)
        assert 'busybox' in machine.run(f'ls {volumes}/data/_data').out
    finally:
        machine.run(f'umount -l {volumes}')


def test_what_is_kept_is_read_only(machine):
    """A volume cannot be made; addresses are kept until the next boot."""
    machine.container('shop.network', '[Network]\n', reload=False)
    container(machine)
    machine.container('net', f'[Container]\nImage={BUSYBOX}\nNetwork=shop.network\nStopSignal=SIGKILL\nExec=sleep 1000\n')
    machine.run('mount --bind /var/lib/keyturn /var/lib/keyturn && mount -o remount,bind,ro /var/lib/keyturn')
    try:
        works(machine)
        machine.run('systemctl start net')
        assert 'remembered until the next boot only' in machine.journal('keyturn-network@net.service')
        machine.run('systemctl stop net keyturn-network@net', check=False)
    finally:
        machine.run('umount -l /var/lib/keyturn')


def test_the_store_is_read_only(machine):
    """Starts do not write to it. Who has to names it, changes nothing, and works as soon as it can be written."""
    store = '/var/lib/containers/storage'
    registry.start(machine)
    registry.push(machine, 'app:1', env=['IS=first'])
    machine.container('app', f'[Container]\nImage={registry.NAME}/app:1\nPull=missing\nAutoUpdate=registry\nNetwork=none\n'
                             'StopSignal=SIGKILL\n')
    machine.container('new', f'[Container]\nImage={registry.NAME}/new:1\nPull=missing\nRetry=0\nNetwork=none\nStopSignal=SIGKILL\n')
    container(machine, 'Volume=data:/data')
    container(machine)
    works(machine)
    machine.run('systemctl start app')
    pid, before = machine.show('app', 'MainPID'), machine.run(LEFT).out
    registry.push(machine, 'app:1', env=['IS=second'], size=1000)
    registry.push(machine, 'new:1')
    machine.run(f'mount --bind {store} {store} && mount -o remount,bind,ro {store}')
    try:
        works(machine)
        done = machine.run('timeout 60 keyturnctl update', check=False)
        assert done.status == 1 and 'read-only file system' in done.out, done
        assert machine.show('app', 'MainPID') == pid
        done = machine.run('timeout 60 systemctl start new', check=False)
        assert done.status not in (0, 124) and 'read-only file system' in machine.journal('keyturn-pull-new.service')
        machine.run('systemctl stop new keyturn-pull-new; systemctl reset-failed', check=False)
        container(machine, 'Volume=data:/data')
        done = machine.run('timeout 20 systemctl start web', check=False)
        said = machine.journal()
        assert done.status not in (0, 124) and "'data'" in said and 'Read-only file system' in said, (done, said[-2000:])
    finally:
        machine.run(f'umount -l {store}')
    machine.run('systemctl reset-failed', check=False)
    works(machine)
    machine.run('systemctl stop keyturn-volume@data')
    is_left(machine, before)
    assert 'true' in machine.run('keyturnctl update').out and machine.show('app', 'MainPID') != pid
    machine.run('systemctl start new')


# Who is to have few descriptors, and what starts and stops it with all that it needs.
FEW = {
    'web.service': 'web',
    'keyturn-network@net.service': 'net',
    'keyturn-userns@net.service': 'net',
    'keyturn-volume@data.service': 'net',
    'shop-pod.service': 'shop-pod',
}
# Where not even systemd can execute anything, it says so.
ENOUGH = 'Too many open files|[Ff]ile descriptor|status=203/EXEC'
STOP = 'systemctl stop web net shop-pod keyturn-network@net keyturn-userns@net keyturn-volume@data shop-network; systemctl reset-failed; ' \
       'rm -rf /var/lib/containers/storage/volumes/data'


def few_descriptors(machine, service, unit, limit):
    machine.unit(f'{service}.d/limit.conf', f'[Service]\nLimitNOFILE={limit}:524288\n')
    done = machine.run(f'timeout 30 systemctl start {unit}', check=False)
    said = machine.run(f'systemctl show -P StatusText {service}; journalctl -q -o cat -u {service} --since=-1min').out
    assert done.status == 0 or done.status != 124 and re.search(ENOUGH, said), (service, limit, done, said)
    machine.run(f'rm /etc/systemd/system/{service}.d/limit.conf; systemctl daemon-reload; {STOP}', check=False)
    return done.status == 0


def test_no_descriptors(machine):
    """Each number of them once (a sample, another one each day; KEYTURN_FAULTS=all): it fails with a word of its reason, or starts."""
    container(machine)
    for file in ('/etc/subuid', '/etc/subgid'):
        machine.write(file, 'containers:2147483647:2147483648\n')
    machine.container('shop.network', '[Network]\nDisableDNS=true\n', reload=False)
    machine.container('shop.pod', '[Pod]\nNetwork=shop.network\n', reload=False)
    machine.container('net', f'[Container]\nImage={BUSYBOX}\nNetwork=shop.network\nUserNS=auto\nVolume=data:/data\nStopSignal=SIGKILL\n'
                             'Exec=sleep 1000\n')
    chance, failed = random.Random(time.strftime('%Y-%m-%d')), 0
    for service, unit in FEW.items():
        machine.run(f'systemctl start {unit}')
        machine.run(STOP)
        before = machine.run(LEFT).out
        limits = range(3, 45)
        if os.environ.get('KEYTURN_FAULTS') != 'all':
            limits = [3, *chance.sample(range(4, 40), 3)]
        started = [limit for limit in limits if few_descriptors(machine, service, unit, limit)]
        is_left(machine, before)
        print(f'# {service}: starts with {len(started)} of {len(limits)} numbers of descriptors')
        failed += len(limits) - len(started)
        machine.run(f'systemctl start {unit}')
        machine.run(STOP)
    assert failed > 0


def test_a_source_that_makes_wait(machine):
    """A FIFO that nobody writes is mounted, and read by nobody but the payload."""
    machine.run('mkdir -p /srv/slow && mkfifo /srv/slow/fifo; chmod 666 /srv/slow/fifo')
    for keys in ('Volume=/srv/slow/fifo:/fifo', 'EnvironmentFile=/srv/slow/fifo', 'Volume=/srv/slow:/slow'):
        container(machine, keys)
        done = machine.run('timeout 20 systemctl start web', check=False)
        assert done.status != 124, keys
        assert done.status == 0 or '/srv/slow/fifo' in machine.journal('web'), (keys, done)
        machine.run('systemctl stop web; systemctl reset-failed', check=False)


def test_a_source_that_hangs(machine):
    """Who needs it waits, as long as its service may; nobody else does, and no command."""
    container(machine)
    works(machine)
    before, results = machine.run(LEFT).out, []
    with hanging(machine, '/srv/hung'):
        for keys in ('Volume=/srv/hung:/data', 'Volume=/srv/hung/below:/data', 'Mount=type=bind,source=/srv/hung,destination=/data',
                     'EnvironmentFile=/srv/hung/file', 'Volume=/srv/hung/below:/data:U'):
            machine.container('waits', f'[Container]\nImage={BUSYBOX}\nNetwork=none\nStopSignal=SIGKILL\nExec=sleep 1000\n{keys}\n'
                                       '[Service]\nTimeoutStartSec=3\nTimeoutStopSec=3\n', reload=False)
            machine.run('timeout 20 systemctl daemon-reload')
            machine.run('systemctl start --no-block waits')
            works(machine)
            for command in ('list', 'inspect waits', 'report', 'update'):
                assert machine.run(f'timeout 20 keyturnctl {command}', check=False).status != 124, (keys, command)
            machine.wait_for(lambda: machine.show('waits', 'ActiveState') in ('failed', 'active'), timeout=30)
            results.append(machine.show('waits', 'Result'))
            machine.run('timeout 30 systemctl stop waits; systemctl reset-failed', check=False)
            assert machine.show('waits', 'ActiveState') == 'inactive', keys
            works(machine)
            machine.wait_for(lambda: not machine.run('pgrep -a libstart', check=False).out)
    is_left(machine, before)
    print(f'# how starts ended: {" ".join(results)}')
    assert 'timeout' in results, results


def generate(machine, count):
    """How long the generator takes for so many files, and how much address space, in steps of a fourth; seconds, KiB."""
    machine.run(f"""rm -rf /run/many /run/made && mkdir /run/many /run/made
        for i in $(seq {count}); do printf '[Container]\\nImage={BUSYBOX}\\nEnvironment=NUMBER=%s\\n' $i >/run/many/unit$i.container; done""")
    begin = time.monotonic()
    machine.run(f'QUADLET_UNIT_DIRS=/run/many {GENERATOR} /run/made /run/made /run/made', timeout=300)
    took = time.monotonic() - begin
    space = 2048
    while machine.run(f'mkdir -p /run/less && ulimit -v {space} && QUADLET_UNIT_DIRS=/run/many {GENERATOR} /run/less /run/less /run/less',
                      check=False, timeout=300).status != 0:
        space = space * 5 // 4
        assert space < 1 << 20
    machine.run('rm -rf /run/less')
    assert machine.run("find /run/made -maxdepth 1 -name 'unit*.service' | wc -l").out == f'{count}\n'
    right = r"cd /run/made; grep -Eo 'NUMBER=[0-9]+' unit*.service | sed -n 's/^unit\([0-9]*\).service:NUMBER=\1$/&/p' | sort -u | wc -l"
    assert machine.run(right).out == f'{count}\n'
    return took, space


def test_ten_thousand_units(machine):
    """Each is what its file says, and they take no more than so many times the time of a tenth, and its memory."""
    counts = (1000, 10000) if os.environ.get('KEYTURN_ENDURANCE') else (200, 2000)
    (few, less), (many, more) = (generate(machine, count) for count in counts)
    print(f'# {counts[0]} units: {few:.2f} s, {less} KiB; {counts[1]} units: {many:.2f} s, {more} KiB; for a file {many / few / 10:.2f} '
          'times the time')
    assert many < 30 * few, (few, many)
    assert more < 15 * less, (less, more)
