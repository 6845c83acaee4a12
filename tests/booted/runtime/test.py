# SPDX-License-Identifier: LGPL-2.1-or-later
"""Other OCI runtimes ([Keyturn] Runtime=): crun and runc as programs, and gVisor's runsc. What holds for a container holds
for theirs, too."""

import itertools
import os
import random
import re
import signal
import time

PACKAGES = ('runc', 'runsc')
BUSYBOX = 'localhost/test/busybox'
PROGRAMS = ('crun', 'runc')
RUNTIMES = (*PROGRAMS, 'runsc')
WAIT = '''sh -c "trap 'exit 0' TERM; echo begun; while :; do sleep 0.1; done"'''


def container(machine, name, runtime, command=WAIT, lines='', service='', image=BUSYBOX, more=''):
    """All of `lines` are of [Container]; `runtime` None: crun's library."""
    machine.container(name, '\n'.join((
        '[Unit]', 'StartLimitIntervalSec=0',
        '[Container]', f'Image={image}', f'Exec={command}' if command else '', *lines.split('\n'),
        '[Keyturn]', f'Runtime={runtime}' if runtime else '', more,
        '[Service]', *service.split('\n'))))


def footprint(machine, seen=None):
    """Without the units: they are others for each runtime."""
    seen = {kind: set(of) for kind, of in (seen or machine.footprint()).items()}
    return {**seen, 'files': {file for file in seen['files'] if not file.startswith('/run/systemd/generator')}}


def settled(machine):
    """With a relay, which is executed later than systemd says that it has started it."""
    machine.run('systemctl start keyturn-relay')
    machine.wait_for(lambda: machine.run('pgrep -x keyturn-relay', check=False).out)
    return footprint(machine, machine.settled())


def is_left_nothing(machine, before):
    machine.is_as(before, lambda: footprint(machine))


def processes(machine, unit):
    """In its control group, and below that."""
    group = machine.show(unit, 'ControlGroup')
    return machine.run(f'find /sys/fs/cgroup{group} -name cgroup.procs -exec cat {{}} +').out.split() if group else []


def test_it_runs_as_the_service(machine):
    container(machine, 'it', None)
    before = settled(machine)
    for runtime in RUNTIMES:
        container(machine, 'it', runtime)
        machine.run('systemctl start it')
        pid = machine.show('it', 'MainPID')
        assert re.search(r'^PPid:\s*1$', machine.read(f'/proc/{pid}/status'), re.M), runtime
        # The payload, or gVisor's sandbox and what belongs to it: no process of ours stays, and all are under the limits.
        assert pid in processes(machine, 'it'), runtime
        machine.wait_for(lambda: not machine.run('pgrep -x libstart', check=False).out)
        machine.wait_for(lambda: 'begun' in machine.journal('it').splitlines())
        machine.wait_for(lambda: (len(processes(machine, 'it')) <= 2) == (runtime != 'runsc'))
        assert 'not our child' not in machine.journal()
        machine.run('systemctl stop it')
        assert machine.ended('it') == ('success', 0), runtime
        machine.wait_for(lambda: machine.run('ls -A /run/keyturn/it', check=False).status != 0)
        is_left_nothing(machine, before)


def test_exit_status(machine):
    for runtime in RUNTIMES:
        container(machine, 'three', runtime, 'sh -c "exit 3"')
        machine.run('systemctl start three', check=False)
        assert machine.ended('three') == ('exit-code', 3), runtime
        # In the foreground it is libstart that ends so.
        container(machine, 'once', runtime, 'sh -c "echo done; exit 4"', service='Type=oneshot')
        assert machine.run('systemctl start once', check=False).status != 0
        assert machine.ended('once') == ('exit-code', 4), runtime
        machine.wait_for(lambda: 'done' in machine.journal('once').splitlines())


def test_a_payload_that_ends_at_once(machine):
    for runtime in RUNTIMES:
        for _ in range(5):
            container(machine, 'short', runtime, 'true')
            machine.run('systemctl start short', check=False)
            assert machine.ended('short') == ('success', 0), runtime
            container(machine, 'short', runtime, 'false')
            machine.run('systemctl start short', check=False)
            assert machine.ended('short') == ('exit-code', 1), runtime


def test_stop_signal(machine):
    for runtime in RUNTIMES:
        container(machine, 'usr', runtime, '''sh -c "trap 'echo heard; exit 0' USR1; echo listens; while :; do sleep 0.1; done"''',
                  lines='StopSignal=USR1')
        machine.run('systemctl start usr')
        machine.wait_for(lambda: 'listens' in machine.journal('usr').splitlines())
        machine.run('systemctl stop usr')
        assert machine.ended('usr') == ('success', 0), runtime
        machine.wait_for(lambda: 'heard' in machine.journal('usr').splitlines())
        machine.mark()


def test_crash_and_restart(machine):
    for runtime in RUNTIMES:
        container(machine, 'again', runtime, service='Restart=always\nRestartSec=0')
        machine.run('systemctl start again')
        for _ in range(2):
            pid = machine.show('again', 'MainPID')
            machine.run(f'kill -9 {pid}')
            machine.wait_for(lambda: machine.show('again', 'MainPID') not in ('0', pid) and
                             machine.show('again', 'ActiveState') == 'active', 20)
        machine.run('systemctl stop again')


def test_nothing_is_left_after_any_kill(machine):
    container(machine, 'gone', None)
    before = settled(machine)
    for runtime in RUNTIMES:
        container(machine, 'gone', runtime)
        machine.run('systemctl start gone')
        n = len(processes(machine, 'gone'))
        machine.run('systemctl stop gone')
        for i in range(min(n, 4)):
            machine.run('systemctl start gone')
            all_of_it = processes(machine, 'gone')
            machine.run(f'kill -9 {all_of_it[min(i, len(all_of_it) - 1)]}', check=False)
            machine.run('systemctl stop gone; systemctl reset-failed gone', check=False)
            is_left_nothing(machine, before)
            machine.wait_for(lambda: not machine.show('gone', 'ControlGroup'))


SLOW = '''#!/bin/sh
for word; do
    [ "$word" = {command} ] && {{ : >/run/reached; sleep 1000; }}
done
exec /usr/bin/{runtime} "$@"
'''


def test_a_stop_in_the_middle_of_a_start(machine):
    """Whichever of the runtime's commands is under way: nothing is left."""
    container(machine, 'slow', None)
    before = settled(machine)
    for runtime in RUNTIMES:
        for command in ('create', 'start'):
            machine.write(f'/usr/local/bin/{runtime}-slow', SLOW.format(command=command, runtime=runtime), 0o755)
            container(machine, 'slow', f'{runtime}-slow', service='TimeoutStopSec=2')
            machine.run('systemctl start --no-block slow')
            machine.wait_for(lambda: machine.run('rm /run/reached', check=False).status == 0)
            machine.run('systemctl stop slow', check=False)
            machine.run('systemctl reset-failed slow', check=False)
            is_left_nothing(machine, before)
            # The same where libstart is killed, and nobody else.
            machine.run('systemctl start --no-block slow')
            machine.wait_for(lambda: machine.run('rm /run/reached', check=False).status == 0)
            machine.run('systemctl kill --kill-whom=main --signal=KILL slow')
            machine.wait_for(lambda: machine.show('slow', 'ActiveState') == 'failed', 20)
            machine.run('systemctl reset-failed slow')
            is_left_nothing(machine, before)


def test_a_kill_by_hand_takes_the_container_along(machine):
    """Before its create, between that and its start, and when the payload runs: no control group ends it there."""
    def left():
        return machine.run('pgrep -a -f "sleep [4]321|[r]unsc-sandbox|[r]unsc-gofer|[r]unc init|/usr/bin/[c]run"', check=False).out

    def is_gone():
        return not left() and not machine.run('pgrep -x libstart', check=False).out

    stalls = SLOW.replace('sleep 1000', 'exec sleep 1000')
    kills, seed = (int(os.environ.get(f'KEYTURN_TEST_{name}', otherwise)) for name, otherwise in (('KILLS', 10), ('SEED', time.time())))
    chance = random.Random(seed)
    signal.alarm(120 + 2 * kills)  # the usual time is for fewer
    print(f'# KEYTURN_TEST_SEED={seed}')
    for runtime in RUNTIMES:
        # With a '-' all of its job is killed, as by a shell or timeout(1): the one that is to remove it must not be.
        for command, whom in itertools.product(('create', 'start', 'nothing'), ('', '-')):
            machine.write(f'/usr/local/bin/{runtime}-slow', stalls.format(command=command, runtime=runtime), 0o755)
            machine.run(f'setsid /usr/lib/keyturn/libstart run --name hand --network none --runtime-program /usr/local/bin/{runtime}-slow '
                        f'--log-driver passthrough {BUSYBOX} sleep 4321 >/dev/null 2>/run/hand.log </dev/null & echo $! >/run/hand')
            machine.wait_for(lambda command=command: 'sleep 4321' in left() if command == 'nothing' else
                             machine.run('rm /run/reached', check=False).status == 0)
            machine.run(f'kill -9 {whom}$(cat /run/hand)')
            machine.wait_for(is_gone)
        # At any moment: a create that is killed may not have noted yet what it made.
        for _ in range(kills):
            delay = chance.uniform(0, 0.12)
            machine.run(f'setsid /usr/lib/keyturn/libstart run --name hand --network none --runtime-program /usr/bin/{runtime} '
                        f'--log-driver passthrough {BUSYBOX} sleep 4321 >/dev/null 2>/run/hand.log </dev/null & '
                        f'sleep {delay:.4f}; kill -9 {chance.choice(("", "-"))}$! || kill -9 $!')
            machine.wait_for(is_gone)
        # And the next one is as the first.
        done = machine.run(f'/usr/lib/keyturn/libstart run --name hand --network none --runtime-program /usr/bin/{runtime} '
                           f'--log-driver passthrough {BUSYBOX} sh -c "echo again; exit 3" 2>&1 </dev/null', check=False)
        said = done.out.splitlines()
        assert done.status == 3 and said[-1] == 'again' and len(said) <= 2, (runtime, done)  # and that something was left
        # One error, and no warning of what else cannot be done.
        gone = machine.run(f'/usr/lib/keyturn/libstart run --runtime-program /usr/bin/{runtime}-gone {BUSYBOX} true', check=False)
        assert gone.status == 125 and gone.err.count('\n') == 1 and 'is it installed' in gone.err, gone
        other = machine.run(f'/usr/lib/keyturn/libstart run --runtime-program /bin/true {BUSYBOX} true', check=False)
        assert (other.status, other.err.count('\n')) == (125, 1) and 'is it an OCI runtime?' in other.err, other
        # A create that is killed has not noted yet what it made, and one that fails may forget it.
        for end, said in (('kill -9 $$', 'was killed by signal 9'), ('exit 7', 'ended with status 7'), ('exit 255', 'ended with status 255')):
            machine.write(f'/usr/local/bin/{runtime}-lost', f'#!/bin/sh\ncase "$*" in *" create "*) setsid sleep 4321 & {end};; esac\n', 0o755)
            lost = machine.run(f'/usr/lib/keyturn/libstart run --runtime-program /usr/local/bin/{runtime}-lost {BUSYBOX} true 2>&1', check=False)
            assert lost.status == 125 and said in lost.out, (runtime, lost)
            machine.wait_for(is_gone)
        # Who calls may ignore its children, and that is inherited.
        done = machine.run(f'timeout -s KILL 20 env --ignore-signal=CHLD /usr/lib/keyturn/libstart run --name hand --network none '
                           f'--runtime-program /usr/bin/{runtime} {BUSYBOX} sh -c "exit 3" </dev/null', check=False)
        assert done.status == 3, (runtime, done)
        machine.wait_for(lambda: not machine.run('ls -d /run/keyturn/hand /run/runsc* /tmp/runsc* 2>/dev/null', check=False).out)


def test_a_mask_that_others_could_move_away_is_refused(machine):
    """crun and runc look for it by its path: in a race, what lies in a volume of a volume was shown in a fourth of the starts."""
    machine.run('rm -rf /srv/around /srv/root; mkdir -p /srv/around/in /srv/kept /srv/root/bin /srv/root/x && echo hidden >/srv/kept/key && '
                'cp /usr/bin/busybox /srv/root/bin/ && ln -s busybox /srv/root/bin/sh && ln -s busybox /srv/root/bin/cat && ln -s x /srv/root/led; ln -s in /srv/around/own')
    for runtime in PROGRAMS:
        for root, places, mask, around in (
                (':O', ('/x',), '/x', None), (':O', ('/led',), '/x', None), ('', ('/y', '/x'), '/y', 'a root directory (Rootfs=)'),
                (':O', ('/x', '/x/in'), '/x/in', 'another one'), (':O', ('/x', '/led/in'), '/x/in', 'another one'),
                (':O', ('/led', '/x/in'), '/led/in', 'another one'), (':O', ('/x', '/x/in'), '/led/in', 'another one'),
                (':O', ('/x', '/x/in'), '/x/own', 'another one')):
            volumes = ' '.join(f'-v {source}:{place}' for source, place in zip(('/srv/around', '/srv/kept')[-len(places):], places))
            done = machine.run(f'/usr/lib/keyturn/libstart run --name hand --network none --log-driver passthrough --runtime-program /usr/bin/{runtime} '
                               f'{volumes} --security-opt mask={mask}/key --rootfs /srv/root{root} sh -c "cat {mask}/key {places[-1]}/key; echo over" '
                               '2>&1 </dev/null', check=False)
            assert 'hidden' not in done.out, (runtime, root, places, mask, done)
            assert (f'is mounted in {around}, where others could move it away' if around else 'over') in done.out, (runtime, root, places, mask, done)


LAST = re.compile('call userfaultfd|Finished')


def facts(machine, name):
    """What the payload sees, without what belongs to this start."""
    machine.run(f'systemctl start {name}')

    def said():
        lines = machine.journal(name).splitlines()
        # Its last line may be there later than what systemd says of its end.
        return {'call userfaultfd', 'Finished'} <= {found[0] for found in map(LAST.match, lines) if found} and lines
    lines = machine.wait_for(said)
    return {line for line in lines if not line.startswith(('Starting', 'Finished', 'Seccomp filter compiled', 'Couldn', 'The container wants another network', f'{name}.service'))}


# Which file stands for one that is hidden, and how a runtime mounts it; crun and runc forget on remounts that the root
# has no devices, which the unit's DevicePolicy= sees to; and crun gives the container's user the /dev/null of its own.
# What an overlay (/lower) writes to lies below it with crun's library only.
OTHERWISE = re.compile(r'(mount|masked) /(proc|sys)/|mount (/home tmpfs|/sys sysfs) whole ro|mount (/ overlay|/lower tmpfs) |device /dev/(core|null) |'
                       r'sysctl kernel/hostname|hostname |env HOSTNAME|file /etc/host')
PROTECTED = ('Seccomp', 'NoNewPrivs', 'CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb')


# Where nothing says which mode a tmpfs has, crun 1.8 takes that of a new one, and not that of the directory below it.
OLD = re.compile(r'(mount|path|root|writable) /run ')


def test_the_payload_sees_the_same(machine):
    """Capabilities, filter, limits, mounts, ids, what is masked: as with crun's library."""
    machine.write('/srv/volume/file', 'mine')
    machine.run('printf secret | podman secret create runtime-secret -')
    for file in ('/etc/subuid', '/etc/subgid'):
        machine.write(file, 'containers:2147483647:2147483648\n')
    machine.container('street.network', '[Network]\nSubnet=10.79.0.0/24\n')
    for name, lines in {
        'plain': 'HostName=plain',
        'tight': 'Volume=/srv/volume:/volume:ro\nVolume=named:/named\nTmpfs=/scratch:size=4m\nSecret=runtime-secret\n'
                 'DropCapability=CAP_CHOWN\nAddCapability=CAP_NET_ADMIN\nNoNewPrivileges=true\nReadOnly=true\n'
                 'Ulimit=nofile=1234:2345\nWorkingDir=/tmp\nUser=driver\nEnvironment=A=b\nHostName=tight\n'
                 'Mask=/proc/cpuinfo:/home\nUnmask=/proc/acpi',
        'alone': 'Network=none\nSysctl=net.ipv4.ip_unprivileged_port_start=80\nVolume=/srv/volume:/lower:O\n'
                 f'Mount=type=image,source={BUSYBOX},destination=/image\nAddDevice=/dev/zero:/dev/nothing\n'
                 'HostName=alone',
        'other-ids': 'UserNS=auto\nVolume=named:/named\nSecret=runtime-secret\nHostName=other-ids',
        'other-network': 'UserNS=auto\nNetwork=street.network\nHostName=other-network',
        'unconfined': 'SeccompProfile=unconfined\nHostName=unconfined',
    }.items():
        seen = {}
        for runtime in (None, *PROGRAMS):
            container(machine, name, runtime, '', lines, 'Type=oneshot', 'localhost/test/dump')
            seen[runtime] = facts(machine, name)
            machine.mark()
        # Who has the machine's network would see what is kept of this one's for a moment.
        machine.run('systemctl stop "keyturn-idle@*"')
        machine.wait_for(lambda: 'podman1' not in machine.run('ls /sys/class/net').out)
        for runtime in PROGRAMS:
            other = {line for line in seen[None] ^ seen[runtime] if not OTHERWISE.match(line) and
                     not (machine.suite == 'bookworm' and OLD.match(line)) and
                     not (name.startswith('other-') and re.match(r'(uid_map|gid_map|keyring |mount /named|(mount|device|masked) /dev/)', line))}
            assert not other, f'{name}, {runtime}:\n' + '\n'.join(
                sorted(('<' if line in seen[None] else '>') + line for line in other))
            assert [line for line in seen[runtime] if line.startswith('status Seccomp ')] == \
                [f'status Seccomp {0 if name == "unconfined" else 2}'], (name, runtime)
            # What is hidden stays hidden, whatever hides it.
            masked = [{line.split()[1] for line in of if line.startswith('masked ')} for of in (seen[None], seen[runtime])]
            assert masked[0] == masked[1], (name, runtime, masked)


def test_the_sandbox_protects_as_asked(machine):
    """gVisor's kernel is another one; but these it has."""
    container(machine, 'boxed', 'runsc', '', 'DropCapability=all\nAddCapability=CAP_KILL\nReadOnly=true\nNetwork=none',
              'Type=oneshot', 'localhost/test/dump')
    seen = facts(machine, 'boxed')
    for line in ('status CapBnd 0000000000000020', 'status CapEff 0000000000000020', 'status Seccomp 2',
                 'writable /etc EROFS'):
        assert line in seen, (line, sorted(seen))
    container(machine, 'boxed', 'runsc', 'sh -c "dmesg; cat /proc/net/dev"', 'Network=none', 'Type=oneshot')
    machine.run('systemctl start boxed')
    machine.wait_for(lambda: 'gVisor' in machine.journal('boxed'))
    assert 'eth0' not in machine.journal('boxed')


def test_writable_layer_has_its_limit(machine):
    for runtime in RUNTIMES:
        container(machine, 'full', runtime, 'sh -c "dd if=/dev/zero of=/much bs=1M count=64; echo status $?"',
                  service='Type=oneshot', more='WritableLayerSize=16M')
        machine.run('systemctl start full')
        machine.wait_for(lambda: 'status 1' in machine.journal('full').splitlines())
        machine.mark()


def test_commands_beside_the_payload(machine):
    for runtime in RUNTIMES:
        container(machine, 'beside', runtime, lines='Environment=COLOUR=blue')
        machine.run('systemctl start beside')
        answer = machine.run('keyturnctl exec -i beside sh -c "cat; echo $COLOUR; exit 5"'.replace('$', r'\$'),
                             check=False, input='given\n')
        assert (answer.out, answer.status) == ('given\nblue\n', 5), (runtime, answer)
        # gVisor lays the filter upon the payload alone, as keyturn.container(5) says.
        assert machine.run('keyturnctl exec beside grep Seccomp: /proc/self/status').out.split() == \
            ['Seccomp:', '0' if runtime == 'runsc' else '2'], runtime
        assert machine.run('keyturnctl exec beside no-such-thing', check=False).status != 0
        others = machine.run('keyturnctl cp beside:/etc/passwd /tmp/copied', check=False)
        assert (others.status == 0) == (runtime != 'runsc'), (runtime, others)
        assert runtime != 'runsc' or 'sandbox' in others.err
        assert machine.run('keyturnctl exec -u 5:6 beside sh -c "id -u; id -g"').out == '5\n6\n', runtime
        named = machine.run('keyturnctl exec -u root beside true', check=False)
        assert (named.status == 0) == (runtime != 'runsc') and ('UID:GID' in named.err) == (runtime == 'runsc'), named
        machine.run('rm -f /tmp/copied; systemctl stop beside')


def test_a_payload_that_mounts_its_own_programs_gets_no_root(machine):
    """In a user namespace that it makes, it puts another program in the place of what a command beside it is."""
    machine.write('/srv/evil', '#!/bin/sh\ntouch /data/ran\n', mode=0o755)
    machine.write('/srv/hide', '#!/bin/sh\nexec unshare -Urm sh -c "mount --bind /evil /usr/bin/id; exec sleep 1000"\n', mode=0o755)
    for runtime in PROGRAMS:
        machine.run('rm -rf /srv/data; mkdir /srv/data; chmod 0777 /srv/data')
        container(machine, 'fakes', runtime, '/hide', 'User=1234:1234\nVolume=/srv/data:/data\nVolume=/srv/evil:/evil:ro\n'
                  'Volume=/srv/hide:/hide:ro\nStopSignal=SIGKILL', image='localhost/test/debian')
        machine.run('systemctl restart fakes')
        pid = machine.show('fakes', 'MainPID')
        machine.wait_for(lambda pid=pid: machine.run(f'cat /proc/{pid}/comm').out == 'sleep\n')
        for words in ('-u root fakes id', '-u 0:0 fakes id', '-u root fakes /evil', 'fakes id'):
            done = machine.run(f'keyturnctl exec {words}', check=False)
            assert runtime == 'crun' or (done.status == 125 and 'has made a user namespace' in done.err), (runtime, words, done)
        owners = machine.run('stat -c %u /srv/data/*', check=False).out.split()
        machine.run('systemctl stop fakes', check=False)
        assert '0' not in owners, (runtime, owners)


def test_health_checks(machine):
    for runtime in RUNTIMES:
        container(machine, 'well', runtime, lines='HealthCmd=test ! -e /ill\nHealthInterval=1s\nHealthRetries=1\n'
                                                  'HealthOnFailure=kill\nNotify=healthy')
        machine.run('systemctl start well')
        assert 'healthy' in machine.run('keyturnctl health well').out
        machine.run('keyturnctl exec well touch /ill')
        machine.wait_for(lambda: machine.show('well', 'ActiveState') == 'failed', 20)


def test_a_check_that_hangs(machine):
    """It is killed with what it has started, but in gVisor's sandbox, as the manual says."""
    def failed():
        found = re.search(r'(\d+) failed', machine.run('keyturnctl health hung', check=False).out)
        return int(found[1]) if found else 0

    for runtime in PROGRAMS:
        container(machine, 'hung', runtime, lines='HealthCmd=sh -c "sleep 7654 & sleep 7654"\nHealthInterval=1s\n'
                                                  'HealthTimeout=1s\nHealthRetries=100')
        machine.run('systemctl start hung')
        for count in (1, 3):
            machine.wait_for(lambda: failed() >= count, 60)
            # At most those of the check that is under way.
            machine.wait_for(lambda: len(machine.run('pgrep -f "^sleep 7654"', check=False).out.split()) <= 2)
        machine.run('systemctl stop hung')
        machine.wait_for(lambda: not machine.run('pgrep -f "^sleep 7654"', check=False).out)


def test_networks(machine):
    machine.container('street.network', '[Network]\nSubnet=10.78.0.0/24\n')
    for runtime in RUNTIMES:
        container(machine, 'shop', runtime, f'sh -c "echo open-{runtime} >/tmp/index.html; exec httpd -f -p 80 -h /tmp"',
                  'Network=street.network\nPublishPort=127.0.0.1:8099:80\nStopSignal=SIGKILL')
        for _ in range(2):  # the namespace stays, and what a runtime does to it
            machine.run('systemctl restart shop')
            machine.wait_for(lambda: machine.run('busybox wget -q -O - http://127.0.0.1:8099/', check=False).out ==
                             f'open-{runtime}\n')
        machine.run('systemctl stop shop')


def test_sockets_and_notifications(machine):
    machine.write('/srv/say', '''use Socket;
        socket(my $s, AF_UNIX, SOCK_DGRAM, 0) or die $!;
        select(undef, undef, undef, 0.3);
        send($s, "READY=1", 0, pack_sockaddr_un($ENV{NOTIFY_SOCKET})) or die $!;
        open(my $listener, "+<&=", 3) or die $!;
        while (accept(my $client, $listener)) { syswrite($client, "fds $ENV{LISTEN_FDS} pid $ENV{LISTEN_PID} $$\\n") }
    ''')
    machine.unit('bell.socket', '[Socket]\nListenStream=127.0.0.1:7778\n')
    for runtime in PROGRAMS:
        container(machine, 'bell', runtime, 'perl /say', 'Volume=/srv/say:/say:ro\nNotify=true\nStopSignal=SIGKILL',
                  image='localhost/test/debian')
        machine.run('systemctl start bell.socket')
        assert machine.run('busybox nc 127.0.0.1 7778 </dev/null').out == 'fds 1 pid 1 1\n', runtime
        machine.wait_for(lambda: machine.show('bell', 'ActiveState') == 'active')
        machine.run('systemctl stop bell.socket bell')
    container(machine, 'bell', 'runsc')
    # The socket starts it again and again, and ends only where that is quick enough for its TriggerLimitBurst=.
    machine.run('systemctl start bell.socket; timeout 2 busybox nc 127.0.0.1 7778 </dev/null', check=False)
    machine.wait_for(lambda: 'passes no sockets into its sandbox' in machine.journal('bell'))
    machine.run('systemctl stop bell.socket bell', check=False)


def test_what_cannot_be_started(machine):
    """It says why, and nothing is left."""
    machine.write('/srv/text', 'no program\n', 0o755)
    container(machine, 'never', None)
    before = settled(machine)
    for runtime in RUNTIMES:
        for command, lines in (('no-such-program', ''), ('/text', 'Volume=/srv/text:/text:ro')):
            container(machine, 'never', runtime, command, lines)
            machine.mark()
            assert machine.run('systemctl start never', check=False).status != 0, (runtime, command)
            assert command in machine.journal('never'), (runtime, machine.journal('never'))
            machine.run('systemctl reset-failed never')
            is_left_nothing(machine, before)


def hook_at(machine, stage):
    """It notes that it was run, and by which umask."""
    machine.write(f'/usr/local/bin/at-{stage}', f'#!/bin/sh\ncat >/dev/null\necho {stage} $(umask) >>/run/stages\n', 0o755)
    machine.write(f'/etc/containers/oci/hooks.d/{stage}.json',
                  f'{{"version": "1.0.0", "hook": {{"path": "/usr/local/bin/at-{stage}"}}, "when": {{"always": true}}, '
                  f'"stages": ["{stage}"]}}')


def test_hooks(machine):
    """Each is run once: those at the end by libstart, not by the runtime's delete as well. gVisor would leave one out.
    The program crun sets a umask of its own."""
    def are_run(runtime, stages):
        container(machine, 'hooked', runtime)
        machine.run('rm -f /run/stages; systemctl start hooked && systemctl stop hooked')
        run = machine.read('/run/stages').replace(' 0000', ' 0022' if runtime == 'crun' else '').splitlines()
        assert run == [f'{stage} 0022' for stage in stages], (runtime, run)

    stages = ['createRuntime', 'poststart', 'poststop']
    for stage in stages:
        hook_at(machine, stage)
    for runtime in RUNTIMES:
        are_run(runtime, stages)
    hook_at(machine, 'createContainer')
    container(machine, 'hooked', 'runsc')
    assert machine.run('rm /run/stages; systemctl start hooked', check=False).status != 0
    assert "'/usr/bin/runsc' leaves out createContainer hooks" in machine.journal('hooked'), machine.journal('hooked')
    for runtime in PROGRAMS:
        are_run(runtime, [stages[0], 'createContainer', *stages[1:]])
    machine.run('rm /run/stages /etc/containers/oci/hooks.d/*')


def test_names_of_runtimes(machine):
    """containers.conf says where they are; PodmanArgs= and GlobalArgs= name them, too."""
    machine.write('/etc/containers/containers.conf.d/runtimes.conf',
                  '[engine.runtimes]\nbox = ["/nowhere/runc", "/usr/bin/runc"]\n')
    for line in ('PodmanArgs=--runtime=box', 'GlobalArgs=--runtime box', 'PodmanArgs=--runtime /usr/bin/runc'):
        container(machine, 'named', None, lines=line)
        assert '--runtime-program /usr/bin/runc' in machine.run('systemctl cat named').out, line
    container(machine, 'named', None, lines='PodmanArgs=--runtime=crun')
    assert '--runtime-program' not in machine.run('systemctl cat named').out.split('ExecStart=')[-1]
    machine.run('systemctl start named')


def test_a_link_leads_no_mount_onto_what_protects(machine):
    """CVE-2019-16884, CVE-2019-19921: crun follows a link of the image's, or one in a shared volume, when /proc is mounted already."""
    machine.run('''
        rm -rf /srv/linked /srv/data /srv/fake; mkdir -p /srv/linked/bin /srv/data /srv/fake/sys
        cp /bin/busybox /srv/linked/bin/; ln -s busybox /srv/linked/bin/sh
        ln -s /proc /srv/linked/a; ln -s /sys/kernel /srv/linked/b; ln -s dev /srv/linked/c; ln -s /proc/self /srv/linked/d
        ln -s /proc /srv/data/a; tar -C /srv/linked -c . | podman import -q - localhost/test/linked >/dev/null''')
    users = 'UIDMap=0:100000:65536\nGIDMap=0:100000:65536\n'
    for runtime, keys in (*((runtime, '') for runtime in RUNTIMES), *((runtime, users) for runtime in PROGRAMS)):
        for place in ('/a', '/b', '/c', '/a/sys', '/d/attr', *(() if keys else ('/vol/a',))):
            container(machine, 'led', runtime, 'sh -c "echo it has run"', service='Type=oneshot', image='localhost/test/linked',
                      lines=f'{keys}Volume=/srv/data:/vol\nVolume=/srv/fake:{place}')
            machine.mark()
            assert machine.run('systemctl start led', check=False).status != 0, (runtime, place)
            said = machine.journal('led')
            assert 'a link in it leads into /proc, /sys or /dev' in said, (runtime, place, said)
        container(machine, 'led', runtime, 'sh -c "echo it has run"', service='Type=oneshot', image='localhost/test/linked',
                  lines=f'{keys}Volume=/srv/data:/vol\nVolume=/srv/fake:/vol/own/fake\nVolume=/srv/fake:/x/y')
        machine.run('systemctl start led')
    # What lies on a tmpfs has its place there, and not in a directory of the host's.
    machine.run('mkdir /srv/linked/t')
    for runtime in PROGRAMS:
        machine.container('led', f'[Container]\nRootfs=/srv/linked\nExec=sh -c "echo it has run"\nTmpfs=/t\nVolume=/srv/fake:/t/o\n'
                                 f'[Keyturn]\nRuntime={runtime}\n[Service]\nType=oneshot\n')
        machine.run('systemctl start led')
        assert 'it has run' in machine.journal('led') and machine.run('ls /srv/linked/t').out == ''
    machine.run('podman rmi -f localhost/test/linked; rm -r /srv/linked /srv/data /srv/fake')


def test_an_overlay_below_a_tmpfs_in_a_user_namespace(machine):
    """What it writes to was mounted in the root, and copied into the tmpfs."""
    machine.run('rm -rf /srv/lower; mkdir -p /srv/lower; echo old >/srv/lower/file; chmod -R go+rwX /srv/lower')
    for runtime in PROGRAMS:
        container(machine, 'below', runtime, lines='UIDMap=0:100000:65536\nGIDMap=0:100000:65536\nTmpfs=/t\nVolume=/srv/lower:/t/o:O')
        machine.run('systemctl start below')
        seen = machine.run('keyturnctl exec below sh -c "echo new >/t/o/file; cat /t/o/file; grep -c /t/o /proc/self/mounts"').out
        assert seen == 'new\n1\n' and machine.read('/srv/lower/file') == 'old\n', (runtime, seen)
        machine.run('systemctl stop below')
