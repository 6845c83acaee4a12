# SPDX-License-Identifier: LGPL-2.1-or-later
"""Health checks of containers that do what they can against whoever checks them: a check has no more rights than the payload,
takes no longer than it may, leaves nothing behind, and what it says is bounded."""

import itertools
import json
import re
import statistics
import time

BUSYBOX = 'localhost/test/busybox'

# What a process has: who it is, what it may do, where it is. Of the cgroup, that it is the unit's or below.
REPORT = r'''#!/bin/busybox sh
exec </dev/null
id; pwd; umask
grep -E "^(Uid|Gid|Groups|Cap|NoNewPrivs|Seccomp|Cpus_allowed)" /proc/self/status
cut -d' ' -f19 /proc/self/stat; cat /proc/self/oom_score_adj /proc/self/limits /proc/self/attr/current 2>&1
for i in cgroup ipc mnt net pid user uts; do readlink /proc/self/ns/$i; done
env | grep -vE "^(SHLVL|_|PWD|OLDPWD)=" | sort
ls -l /proc/self/fd | grep -vE "pipe:|socket:|/dev/null|/proc/" | sed "s/.* -> //"
'''


def container(machine, name, check, lines='', payload='trap "exit 0" TERM; sleep 1000 & wait', service=''):
    machine.write(f'/etc/test-{name}/check', check, 0o755)
    machine.write(f'/etc/test-{name}/payload', '#!/bin/busybox sh\n' + payload, 0o755)
    machine.container(name, '\n'.join((
        '[Container]', f'Image={BUSYBOX}', f'Volume=/etc/test-{name}:/test', 'Exec=/test/payload',
        'HealthCmd=["/test/check", ""]', 'HealthInterval=disable', 'HealthRetries=1', lines, '[Service]', service)))
    machine.run(f'systemctl start {name}')


def health(machine, name):
    return json.loads(machine.read(f'/run/keyturn/{name}/.health.json'))


def check(machine, name, timeout=20):
    began = time.monotonic()
    machine.run(f'systemctl start keyturn-health@{name}', timeout=timeout)
    return time.monotonic() - began, health(machine, name)


def processes(machine, name):
    return machine.run(f'ps -e -o args= | grep -F {name} | grep -v grep', check=False).out


def test_the_standard_streams_of_a_check_are_nobody_elses(machine):
    for i, more in enumerate(('', 'User=nobody\nDropCapability=all')):
        container(machine, f'streams{i}', '#!/bin/busybox sh\nfor i in 0 1 2; do chmod 0 /proc/self/fd/$i; done; exit 0\n', more)
        check(machine, f'streams{i}')
        assert machine.run('stat -c %u:%g:%a /dev/null').out == '0:0:666\n', 'the host has lost its /dev/null'


def test_a_check_is_what_the_payload_is(machine):
    for file in ('/etc/subuid', '/etc/subgid'):
        machine.write(file, 'containers:2147483647:2147483648\n')
    for i, more in enumerate(('', 'User=1234:1235\nGroupAdd=77', 'NoNewPrivileges=true\nDropCapability=all',
                              'AddCapability=CAP_SYS_TIME\nEnvironment=A=b "C=d e"\nWorkingDir=/tmp\nUlimit=nofile=100:200',
                              'SeccompProfile=unconfined\nNetwork=none', 'UserNS=auto')):
        name = f'same{i}'
        machine.run(f'mkdir -m 1777 -p /run/test-{name}; rm -f /run/test-{name}/*')
        machine.write(f'/etc/test-{name}/report', REPORT)
        container(machine, name, '#!/bin/busybox sh\nexec /bin/busybox sh /test/report >/out/check\n',
                  f'Volume=/run/test-{name}:/out\n{more}',
                  '/bin/busybox sh /test/report >/out/payload; trap "exit 0" TERM; sleep 1000 & wait',
                  'OOMScoreAdjust=100\nNice=5\nNoNewPrivileges=yes\nLimitFSIZE=1000000\nLockPersonality=yes\nCPUAffinity=0\n'
                  'RestrictAddressFamilies=AF_UNIX AF_NETLINK AF_INET\nProtectClock=yes\nProtectKernelLogs=yes\n'
                  'ProtectKernelModules=yes\nSystemCallLog=swapon\n' +
                  ('' if 'Network=' in more else 'ProtectHostname=yes'))  # a network has a host name of its own
        machine.wait_for(lambda name=name: 'PATH=' in machine.run(f'cat /run/test-{name}/payload', check=False).out)
        _, found = check(machine, name)
        assert found['Status'] == 'healthy', found
        assert machine.run('stat -c %u:%g:%a /dev/null').out == '0:0:666\n', 'the host has lost its /dev/null'
        payload, checked = (machine.read(f'/run/test-{name}/{what}') for what in ('payload', 'check'))
        assert payload.count('\n') > 40 and checked == payload, (more, checked, payload)


def test_in_the_limits_of_the_container(machine):
    container(machine, 'inside', '#!/bin/busybox sh\nsleep 1234\n')
    machine.run('systemctl start --no-block keyturn-health@inside')
    group = machine.show('inside', 'ControlGroup')
    commands = machine.wait_for(lambda: machine.run(
        f'for i in $(cat /sys/fs/cgroup{group}/keyturn-health/cgroup.procs); do tr "\\0" " " </proc/$i/cmdline; echo; done',
        check=False).out.count('sleep 1234'))
    assert commands == 1


def test_one_that_does_not_end(machine):
    """Everything that it has started is killed, whatever it ignores, and however it has gone away from its parent."""
    container(machine, 'endless', '''#!/bin/busybox sh
        trap "" TERM HUP INT QUIT
        (setsid sh -c 'trap "" TERM; sleep 1111 & sleep 1111; wait' >/dev/null 2>&1 &)
        chain() { (usleep 1000; chain) & }
        chain
        echo before
        sleep 1111
        ''', 'HealthTimeout=3s')
    seconds, found = check(machine, 'endless')
    assert found['Status'] == 'unhealthy' and found['Log'][-1]['ExitCode'] == -1, found
    assert found['Log'][-1]['Output'] == 'before\n' and seconds < 15, (seconds, found)
    machine.wait_for(lambda: not processes(machine, 'sleep 1111') and not processes(machine, '/test/check'))
    assert machine.show('endless', 'ActiveState') == 'active'
    assert 'it took too long, and was killed: before' in machine.journal()


def test_what_it_leaves_behind(machine):
    """Nor is anybody waited for who holds its output open."""
    container(machine, 'leaves', '''#!/bin/busybox sh
        setsid sleep 2222 &
        (setsid sleep 2222 >/dev/null 2>&1 &)
        echo done
        ''')
    seconds, found = check(machine, 'leaves')
    assert found['Status'] == 'healthy' and found['Log'][-1]['Output'] == 'done\n' and seconds < 15, (seconds, found)
    machine.wait_for(lambda: not processes(machine, 'sleep 2222'))


def test_its_output(machine):
    """Of an endless one the beginning is kept, and it costs us nothing; a closed one is no end; nor are bytes that are no
    text, or that forge lines of the journal."""
    container(machine, 'floods', '#!/bin/busybox sh\nyes 0123456789\n', 'HealthTimeout=3s\nHealthMaxLogSize=0')
    machine.run('systemctl start --no-block keyturn-health@floods')
    used = 0
    while machine.show('keyturn-health@floods', 'ActiveState') == 'activating' or not health(machine, 'floods')['Log']:
        pid = machine.show('keyturn-health@floods', 'MainPID')
        stat = machine.run(f'cat /proc/{pid}/stat', check=False).out.rpartition(')')[2].split()
        used = max(used, sum(map(int, stat[11:13])) if stat else 0)
    output = health(machine, 'floods')['Log'][-1]['Output']
    assert len(output) == 65536 and output.startswith('0123456789\n'), len(output)
    assert used <= 30, f'{used} hundredths of a second of a second'

    container(machine, 'closes', '#!/bin/busybox sh\nexec >&- 2>&- <&-\nsleep 0.3\nexit 4\n')
    _, found = check(machine, 'closes')
    assert (found['Log'][-1]['ExitCode'], found['Log'][-1]['Output']) == (4, ''), found

    container(machine, 'forges', '''#!/bin/busybox sh
        printf 'a\\000b\\377\\033[2J\\n<0>forged\\nKEYTURN_HEALTH=healthy\\n'; exit 1''')
    _, found = check(machine, 'forges')
    assert found['Log'][-1]['Output'] == 'a' or 'forged' in found['Log'][-1]['Output'], found
    machine.sync_journal()
    entries = [json.loads(line) for line in machine.run('journalctl -q -o json -u forges.service SYSLOG_IDENTIFIER=keyturn '
                                                        '--since=-20s').out.splitlines()]
    assert all(entry['KEYTURN_HEALTH'] == 'unhealthy' and '\n' not in entry['MESSAGE'] and '\033' not in entry['MESSAGE']
               for entry in entries) and entries, entries


def test_no_filter_no_check(machine):
    container(machine, 'unfiltered', '#!/bin/busybox sh\ntouch /tmp/ran\n')
    machine.run('rm /run/keyturn/unfiltered/systemd-unfiltered/seccomp.bpf')
    assert machine.run('systemctl start keyturn-health@unfiltered', check=False).status != 0
    assert 'has a seccomp filter' in machine.journal('keyturn-health@unfiltered')
    assert health(machine, 'unfiltered')['Log'] == []


def test_filters_of_drop_ins(machine):
    """Those for the service are not upon its checks: none is run, which says nothing of the container."""
    for name, line in (('dropped0', 'SystemCallFilter=~swapon'), ('dropped1', 'MemoryDenyWriteExecute=yes')):
        machine.write(f'/etc/systemd/system/{name}.service.d/50-test.conf', f'[Service]\n{line}\n')
        container(machine, name, '#!/bin/busybox sh\ntouch /tmp/ran\n', 'HealthOnFailure=kill\nTmpfs=/tmp')
        main = machine.show(name, 'MainPID')
        assert machine.run(f'systemctl start keyturn-health@{name}', check=False).status != 0
        assert machine.run(f'keyturnctl exec {name} ls /tmp').out == ''
        found = health(machine, name)
        assert (found['Status'], found['FailingStreak']) == ('starting', 0), found
        assert all('not run' in result['Output'] and result['ExitCode'] == 125 for result in found['Log']), found
        assert found['Log'] and f'drop-ins for {name}.service' in machine.journal(f'keyturn-health@{name}')
        assert machine.show(name, 'MainPID') == main
        # As the message says; a drop-in for the checks does, too.
        machine.write(f'/etc/systemd/system/keyturn-health@{name}.service.d/50-test.conf', f'[Service]\n{line}\n')
        machine.reload()
        assert check(machine, name)[1]['Status'] == 'healthy'
        assert machine.run(f'keyturnctl exec {name} ls /tmp').out == 'ran\n'


def test_filters_gone_from_the_unit(machine):
    """The payload keeps them, and nobody comes in without them."""
    container(machine, 'eased', '#!/bin/busybox sh\ntouch /tmp/ran\n', 'Tmpfs=/tmp', service='SystemCallFilter=~swapon')
    check(machine, 'eased')
    assert machine.run('keyturnctl exec eased rm /tmp/ran').status == 0
    machine.run('sed -i /SystemCallFilter/d /etc/containers/systemd/eased.container')
    machine.reload()
    assert machine.run('systemctl start keyturn-health@eased', check=False).status != 0
    result = machine.run('keyturnctl exec eased touch /tmp/ran', check=False)
    assert result.status == 125 and "of systemd's filters are upon the payload" in result.err, result
    pid = machine.show('eased', 'MainPID')
    assert machine.run(f'ls /proc/{pid}/root/tmp').out == ''


def test_a_check_of_the_image_in_a_template(machine):
    """Which the image's author has written, and the file's has filters that nothing could lay upon it."""
    machine.write('/root/checked/Containerfile', f'FROM {BUSYBOX}\nHEALTHCHECK --interval=1s CMD touch /tmp/ran\n')
    machine.run('cd /root/checked && buildah bud --format docker --isolation chroot -t localhost/test/checked .', timeout=100)
    text = '[Container]\nImage=localhost/test/checked\nExec=sleep 1000\nTmpfs=/tmp\n\n[Service]\nKillSignal=SIGKILL\n'
    for name, more in (('each@', 'SystemCallFilter=~chroot\n'), ('free@', '')):
        machine.container(name, text + more, reload=False)
    machine.reload()
    machine.run('systemctl start each@1 free@1')
    machine.wait_for(lambda: health(machine, 'free@1')['Status'] == 'healthy')
    machine.run('systemctl start keyturn-health@each@1')
    assert machine.run('keyturnctl exec each@1 ls /tmp').out == ''
    assert machine.run('ls /run/keyturn/each@1/.health.json', check=False).status != 0


def test_the_program_cannot_be_written(machine):
    """CVE-2019-5736: by a payload that watches for whoever comes in, or by a check that executes who executed it."""
    before = machine.run('sha256sum /usr/lib/keyturn/libstart').out
    container(machine, 'thief', '#!/bin/busybox sh\nsleep 0.05\n', 'AddCapability=CAP_SYS_PTRACE\nStopTimeout=1', '''
        while :; do for p in /proc/[1-9]*; do
            case $(readlink $p/exe) in *libstart*) (exec 3<$p/exe && sleep 1 && echo x >/proc/self/fd/3) &
            esac
        done; done''')
    for _ in range(8):
        check(machine, 'thief')
    container(machine, 'interpreter', '#!/proc/self/exe\n', 'StopTimeout=1', '''
        while :; do for p in /proc/[1-9]*; do
            case $(readlink $p/exe) in */busybox) ;; *) (exec 3<$p/exe && sleep 0.2 && echo x >/proc/self/fd/3) & esac
        done; done''')
    for _ in range(3):
        check(machine, 'interpreter')
    machine.run('sleep 1; systemctl stop thief interpreter')
    assert machine.run('sha256sum /usr/lib/keyturn/libstart').out == before


def test_the_end_of_the_container(machine):
    """What a check was about is over: nothing is written of it, nor into the place of the next start."""
    container(machine, 'ends', '#!/bin/busybox sh\nsleep 1000\n')
    machine.run('systemctl start --no-block keyturn-health@ends')
    group = machine.show('ends', 'ControlGroup')
    machine.wait_for(lambda: machine.run(f'cat /sys/fs/cgroup{group}/keyturn-health/cgroup.procs', check=False).out)
    began = time.monotonic()
    machine.run('systemctl kill --signal=SIGKILL --kill-whom=main ends')
    machine.wait_for(lambda: machine.show('keyturn-health@ends', 'ActiveState') != 'activating')
    # systemd may have heard of the check's end first.
    machine.wait_for(lambda: machine.show('ends', 'ActiveState') == 'failed')
    assert time.monotonic() - began < 10
    assert machine.run('ls -d /run/keyturn/ends', check=False).status != 0
    machine.run('systemctl start ends; systemctl start --no-block keyturn-health@ends')
    machine.wait_for(lambda: machine.run(f'cat /sys/fs/cgroup{group}/keyturn-health/cgroup.procs', check=False).out)
    machine.run('systemctl restart ends')
    assert health(machine, 'ends') == {
        'Status': 'starting', 'FailingStreak': 0, 'StartupPassed': False, 'StartupSuccesses': 0, 'StartupFailures': 0,
        'ToldReady': False, 'Log': []}


def test_many_restarts(machine):
    """A check each moment, and restarts: each result is of the start whose state it is in."""
    machine.write('/etc/test-count/check', '#!/bin/busybox sh\ncat /tmp/start\n', 0o755)
    machine.container('count', f'''
        [Unit]
        StartLimitIntervalSec=0

        [Container]
        Image={BUSYBOX}
        Volume=/etc/test-count:/test
        Exec=/bin/busybox sh -c 'echo $INVOCATION_ID >/tmp/new; mv /tmp/new /tmp/start; trap "exit 0" TERM; sleep 1000 & wait'
        Environment=INVOCATION_ID
        HealthCmd=/test/check
        HealthInterval=10ms
    ''')
    machine.run('systemctl start count')
    for _ in range(8):
        time.sleep(0.15)
        machine.run('systemctl restart count')
        invocation = machine.show('count', 'InvocationID')
        found = machine.wait_for(lambda: [result for result in health(machine, 'count')['Log'] if result['ExitCode'] == 0])
        assert {result['Output'].strip() for result in found} == {invocation}, found
    # systemd 262 misses the controllers, which these machines have not.
    assert not re.search('Cannot|Failed(?! to read pids.max)', machine.journal()), machine.journal()


def test_strangers_in_one_turn(machine):
    """Containers that are checked together: one whose check takes for ever, one that floods, one that forks and kills what it
    sees, one that ends in the middle, are no reason for another to be checked later, or less. What is later is said by what
    the same machine does just before, and by how long whoever would be waited for takes."""
    bad = {'hangs': 'test -e /tmp/on || exit 0\ntrap "" TERM\nsleep 1000',
           'slow': 'test -e /tmp/on || exit 0\nsleep 3',
           'floods': 'test -e /tmp/on || exit 0\nyes 0123456789',
           'kills': 'test -e /tmp/on || exit 0\n(setsid sleep 3333 &)\nkill -9 $PPID\nkill -9 -1\nkill -9 $$',
           'changes': 'test -e /tmp/on || exit 0\nulimit -v 1000\nexec /bin/busybox setpriv --nnp false'}
    machine.run('mkdir -m 1777 -p /run/test-strangers; rm -f /run/test-strangers/*')
    for name, what in bad.items():
        container(machine, name, f'#!/bin/busybox sh\n{what}\n',
                  'HealthInterval=500ms\nHealthTimeout=8s\nHealthMaxLogCount=0\nStopTimeout=1\nTmpfs=/tmp')
    container(machine, 'good', '#!/bin/busybox sh\ngrep "open files" /proc/self/limits >/out/new; mv /out/new /out/limit\n'
              'echo $(cat /proc/uptime) >>/out/good\n',
              'HealthInterval=500ms\nHealthMaxLogCount=0\nVolume=/run/test-strangers:/out\nUlimit=host')
    names = [*bad, 'good']
    machine.wait_for(lambda: all(health(machine, name)['Status'] == 'healthy' for name in names))
    machine.wait_for(lambda: machine.run('ls -d /run/keyturn/*/.health-every | wc -l').out == f'{len(names)}\n')
    main = {name: machine.show(name, 'MainPID') for name in names}
    assert machine.run(f'grep "open files" /proc/{main["good"]}/limits').out == machine.read('/run/test-strangers/limit')

    def times():
        return [float(line.split()[0]) for line in machine.read('/run/test-strangers/good').splitlines()]

    def gaps(first, last=None):
        return [b - a for a, b in itertools.pairwise(times()[first:last])]

    calm = len(times())
    machine.wait_for(lambda: len(times()) >= calm + 5, timeout=60)
    results = {name: len(health(machine, name)['Log']) for name in bad}
    bad_from = len(times())
    for name in bad:
        machine.run(f'keyturnctl exec {name} touch /tmp/on')
    # The first of them can be one that began before.
    machine.wait_for(lambda: all(len(health(machine, name)['Log']) >= results[name] + 3 for name in bad), timeout=60)
    alone, among = gaps(calm, bad_from), gaps(bad_from)
    assert max(among) < max(alone) + 2 and statistics.median(among) < 3 * statistics.median(alone), (alone, among)
    found = {name: health(machine, name)['Log'][-1]['ExitCode'] for name in names}
    assert found['hangs'] == found['floods'] == -1 and found['slow'] == found['good'] == 0, found
    assert found['kills'] in (-1, 137) and found['changes'] != 0, found
    assert {name: machine.show(name, 'MainPID') for name in names} == main
    assert machine.run('stat -c %u:%g:%a /dev/null').out == '0:0:666\n', 'the host has lost its /dev/null'
    machine.wait_for(lambda: not processes(machine, 'sleep 3333'))  # a check of it may be under way
    # One that is stopped in its check ends it; nothing of it is written down any more.
    machine.run(f'systemctl stop {" ".join(bad)}', timeout=60)
    machine.run('systemctl stop good')
    machine.wait_for(lambda: machine.show('keyturn-health-every@500ms.timer', 'ActiveState') == 'inactive')
    machine.wait_for(lambda: not processes(machine, 'health-every'))


def checked_together(machine, names):
    """Waits until they are."""
    machine.wait_for(lambda: all(machine.run(f'test -h /run/keyturn/{name}/.health-every', check=False).status == 0
                                 for name in names), timeout=60)


def test_what_a_failure_leads_to_is_nobody_elses(machine):
    """One is stopped for its failure, and takes its time: whatever waits for that holds nothing of another whose check was
    under way when it began."""
    container(machine, 'stubborn', '#!/bin/busybox sh\ntest -e /tmp/on || exit 0\nsleep 0.3\nexit 1\n',
              'HealthInterval=1s\nHealthOnFailure=stop\nStopTimeout=50\nTmpfs=/tmp',
              'trap "touch /tmp/asked" TERM; while :; do sleep 0.2; done')
    container(machine, 'victim', '#!/bin/busybox sh\nsleep 0.7\n', 'HealthInterval=1s\nHealthMaxLogCount=0')
    checked_together(machine, ['stubborn', 'victim'])
    machine.run('keyturnctl exec stubborn touch /tmp/on')
    machine.wait_for(lambda: machine.run('keyturnctl exec stubborn test -e /tmp/asked', check=False).status == 0, timeout=40)
    # Its first round can meet the check of its start.
    before, left_out = len(health(machine, 'victim')['Log']), machine.journal().count('is not checked this time')
    machine.wait_for(lambda: len(health(machine, 'victim')['Log']) >= before + 3, timeout=40)
    assert machine.show('stubborn', 'ActiveState') == 'active', 'nothing has been shown'
    assert machine.journal().count('is not checked this time') == left_out
    machine.run('systemctl kill --signal=SIGKILL stubborn; systemctl stop stubborn victim')


def test_descriptors_are_enough(machine):
    """Checks for which there is none wait for others to end, and do not count as failed."""
    names = [f'one{i}' for i in range(9)]
    machine.write('/etc/systemd/system/keyturn-health-every@.service.d/few.conf', '[Service]\nLimitNOFILE=20:50\n')
    for name in names:
        # The machine may not raise a limit above the unit's.
        machine.container(name, f'[Container]\nImage={BUSYBOX}\nExec=sleep 1000\nHealthCmd=sleep 0.4\nHealthInterval=2s\n'
                          'HealthRetries=1\nHealthMaxLogCount=0\nUlimit=host\nStopTimeout=1\n', reload=False)
    machine.run(f'systemctl daemon-reload; systemctl start {" ".join(names)}')
    checked_together(machine, names)
    results = {name: len(health(machine, name)['Log']) for name in names}
    machine.wait_for(lambda: all(len(health(machine, name)['Log']) >= results[name] + 2 for name in names), timeout=60)
    assert {health(machine, name)['Status'] for name in names} == {'healthy'}
    machine.run(f'systemctl stop {" ".join(names)}; rm -r /etc/systemd/system/keyturn-health-every@.service.d; '
                'systemctl daemon-reload')


def hold(machine):
    """The kernel's lock of a check's output is held by the payload, whom nobody kills for what a check does. Who waits for the
    lock cannot be killed."""
    machine.build('hostile-logs/hostile.c', '/usr/local/bin/hostile', '-static', '-pthread')
    # After so much it was read slowly, so that there always was something left to be read.
    container(machine, 'holder', '#!/bin/busybox sh\ntest -e /tmp/on || exit 0\nhead -c 2000000 /dev/zero\necho $$ >/tmp/new; mv /tmp/new /tmp/check; sleep 1000\n',
              'HealthInterval=1s\nHealthTimeout=5s\nHealthMaxLogCount=0\nTmpfs=/tmp\nVolume=/usr/local/bin/hostile:/hostile:ro',
              'while :; do mv /tmp/check /tmp/now 2>/dev/null && /hostile hold >/proc/$(cat /tmp/now)/fd/1; sleep 0.1; done',
              'CPUWeight=1\nKillSignal=SIGKILL')


def waiting_for_lock(machine):
    """The processes of ours that wait in the kernel, for as long as one looks."""
    found = None
    for _ in range(5):
        now = set(machine.run('ps -C libstart -o pid=,stat= | grep D', check=False).out.split()[::2])
        found = now if found is None else found & now
        time.sleep(0.1)
    return found


def failures(machine, name):
    return [result for result in health(machine, name)['Log'] if result['ExitCode'] == -1]


def test_a_check_that_cannot_be_killed(machine):
    """Whoever reads its output may wait for ever. Others are checked, restarted, and told that they are ready, also by a round
    that was begun meanwhile."""
    more = 'HealthInterval=1s\nHealthMaxLogCount=0\nStopTimeout=1\nVolume=/run/test-hold:/hold'
    machine.run('mkdir -p /run/test-hold; rm -f /run/test-hold/*')
    hold(machine)
    container(machine, 'good', '#!/bin/busybox sh\necho well\n', more)
    container(machine, 'sick', '#!/bin/busybox sh\n! rm /hold/sick 2>/dev/null\n', more + '\nHealthOnFailure=restart')
    machine.container('late', f'[Container]\nImage={BUSYBOX}\nExec=sleep 1000\nHealthCmd=test -e /hold/ready\nHealthRetries=1\n'
                      f'Notify=healthy\n{more}\n')
    machine.run('systemctl start --no-block late')
    checked_together(machine, ['holder', 'good', 'sick', 'late'])

    def good_goes_on(seconds=14):  # the payload does not let go for 20
        before = len(health(machine, 'good')['Log'])
        machine.wait_for(lambda: len(health(machine, 'good')['Log']) >= before + 2, seconds)

    machine.run('keyturnctl exec holder touch /tmp/on')
    machine.wait_for(lambda: waiting_for_lock(machine), 60)
    good_goes_on()
    main = machine.show('sick', 'MainPID')
    machine.run('touch /run/test-hold/sick /run/test-hold/ready')
    machine.wait_for(lambda: machine.show('sick', 'MainPID') not in ('0', main), 14)
    machine.wait_for(lambda: machine.show('late', 'ActiveState') == 'active', 14)
    machine.wait_for(lambda: 'is not waited for' in machine.journal(), 18)
    machine.wait_for(lambda: len(failures(machine, 'holder')) >= 2, 40)

    machine.wait_for(lambda: waiting_for_lock(machine), 60)
    machine.run('systemctl stop keyturn-health-every@1s.service', timeout=14)
    good_goes_on()
    machine.run('systemctl start keyturn-health@good keyturn-health@holder', timeout=15)
    good_goes_on()
    # The one that reads, and the one in which libcrun is.
    assert len(waiting_for_lock(machine)) <= 2, 'each check leaves another process behind'
    machine.run('systemctl stop holder', timeout=30)
    machine.wait_for(lambda: not waiting_for_lock(machine), 20)
    machine.run('systemctl restart holder', timeout=20)
    machine.wait_for(lambda: health(machine, 'holder')['Status'] == 'healthy', 20)
    machine.run('systemctl stop holder good sick late')


def test_records_have_a_limit(machine):
    """Whatever the keys say, and one that is too large or no record ends no checks."""
    container(machine, 'talks', '#!/bin/busybox sh\ntr "\\0" "\\1" </dev/zero | head -c 70000\n',
              'HealthMaxLogCount=0\nHealthMaxLogSize=0')
    for _ in range(12):
        seconds, found = check(machine, 'talks')
    path = '/run/keyturn/talks/.health.json'
    size = int(machine.run(f'stat -c %s {path}').out)
    assert sum(len(result['Output']) for result in found['Log']) == len(found['Log']) * 65536 == 512 << 10, len(found['Log'])
    assert size < 4 << 20 and seconds < 15, (size, seconds)
    for spoil in ('head -c 70M /dev/zero >', 'echo nonsense >', 'rm'):
        machine.run(f'{spoil} {path}')
        _, found = check(machine, 'talks')
        assert (found['Status'], len(found['Log'])) == ('healthy', 1), (spoil, found['Status'])
    assert machine.journal('keyturn-health@talks').count('begun anew') == 3
    machine.run('systemctl stop talks')


def test_what_a_check_prints_is_private(machine):
    """And all else of a container's on the host that is for root: no other user finds it."""
    machine.write('/run/test-environment', 'SECRET=in-a-variable\n', 0o600)
    machine.run('mkdir -p /srv/private; useradd -u 4321 somebody')
    container(machine, 'private', '#!/bin/busybox sh\necho out-of-a-check\n',
              'EnvironmentFile=/run/test-environment\nHealthLogDestination=/srv/private\nStopTimeout=1', 'echo out-of-a-payload; mkdir /kept; echo written-inside >/kept/file; sleep 1000')
    machine.run("echo old >/run/keyturn/private/.health.json.new; chmod 644 /run/keyturn/private/.health.json.new")
    check(machine, 'private')
    somebody = ['setpriv', '--reuid=4321', '--regid=4321', '--clear-groups']
    for word in ('in-a-variable', 'out-of-a-check', 'out-of-a-payload', 'written-inside'):
        found = machine.run([*somebody, 'grep', '-rlse', word, '/run/keyturn', '/run/systemd', '/var/lib/keyturn',
                             '/srv/private'], check=False).out
        assert found == '', (word, found)
    result = machine.run([*somebody, 'keyturnctl', 'health', 'private'], check=False)
    assert result.status != 0 and 'Only root may read' in result.err, result
    machine.run('systemctl stop private')
