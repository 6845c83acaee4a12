# SPDX-License-Identifier: LGPL-2.1-or-later
"""A hostile payload, and `keyturnctl exec` beside it; keyrings; what others may read; what reaches a terminal.

The first tests are attacks. Those in the middle say that who uses `keyturnctl exec` does not notice what protects him:
the bytes, their order and the exit status are the same."""

import json
import os
import re

BUSYBOX = 'localhost/test/busybox'
TEST_SECONDS = 240  # some attacks are tried until they meet what they want


def start(machine, name, more='', command='sleep 1000'):
    """/data is a directory of the host's, /srv/data, where a payload leaves what it found."""
    machine.run('rm -rf /srv/data; mkdir -pm 0777 /srv/data && chmod 0777 /srv/data')
    machine.container(name, f'''
        [Container]
        Image={BUSYBOX}
        Volume=/srv/data:/data
        Exec={command}
        {more}

        [Service]
        KillSignal=SIGKILL
    ''')
    machine.run(f'systemctl start {name}')


def bash(machine, script, check=True, timeout=60):
    return machine.run(['bash', '-c', script], check=check, timeout=timeout)


def on_terminal(machine, script, check=True):
    """Runs it in a shell on a terminal, and returns what is shown there."""
    result = machine.run(['script', '-qec', script, '/dev/null'], check=check)
    result.out = result.out.replace('\r', '').replace('^@', '').replace('\0', '')  # script(1) has no input
    return result


# ---- the caller's descriptors

def test_files_of_the_caller_stay_his(machine):
    start(machine, 'box', 'User=1234:1235')
    machine.run('cd /root && rm -f f.* && echo words >f.in && chmod 600 f.in')
    for words in ('true', 'sh -c "chmod 4777 /proc/self/fd/[012]; chown 1:1 /proc/self/fd/[012]; cat; id -u >&2"'):
        machine.run(f"cd /root && umask 077 && keyturnctl exec box {words} <f.in >f.out 2>f.err || true")
        owners = machine.run('cd /root && stat -c "%n %u:%g %a" f.in f.out f.err').out
        assert owners == 'f.in 0:0 600\nf.out 0:0 600\nf.err 0:0 600\n', (words, owners)
    assert machine.read('/root/f.out') == 'words\n'
    assert machine.read('/root/f.err').endswith('1234\n')  # after what chmod(1) complained of
    machine.run('rm /root/f.*')


# In every process but itself: writes to what is open there.
TYPE = ("sh -c 'while :; do for p in /proc/[0-9]*; do case $(cat $p/cmdline | tr -d \"\\\\0\") in sleep77) "
        "for n in 0 1 2; do echo PWNED >$p/fd/$n; readlink $p/fd/$n; done >>/data/links 2>&1; touch /data/done; esac; "
        "done; done' 2>/dev/null")


def test_terminal_of_the_caller_cannot_be_reached(machine):
    """The payload, root with Podman's rights, does all it can with the descriptors of a command beside it."""
    start(machine, 'box', command=TYPE)
    on_terminal(machine, 'keyturnctl exec box sleep 77 </dev/tty & '
                         'until [ -e /srv/data/done ]; do sleep 0.05; done; kill $!; wait')
    assert machine.run('ls /srv/data').out == 'done\nlinks\n'  # it did find the command
    links = machine.read('/srv/data/links').split('\n')
    assert not [line for line in links if 'pts' in line or 'tty' in line], set(links)


def test_a_terminal_is_one_of_the_containers(machine):
    start(machine, 'box')
    words = 'keyturnctl exec -t box sh -c "tty; for n in 0 1 2; do readlink /proc/self/fd/$n; done; stat -Lc %d /dev/pts"'
    seen = on_terminal(machine, words.replace('$', '\\$')).out.split()
    # Not the host's of this number.
    assert seen[:4] == ['/dev/pts/0'] * 4 and seen[4] != machine.run('stat -Lc %d /dev/pts').out.strip(), seen


# Everything that any process but this shell has open, and where it is, as fast as can be.
LOOK = ("sh -c 'while :; do for f in /proc/[0-9]*/fd/* /proc/[0-9]*/cwd /proc/[0-9]*/root; do "
        "case $f in /proc/1/*) ;; *) readlink $f;; esac; done >>/data/links; done' 2>/dev/null")


def test_nothing_of_the_caller_is_open_on_the_way_in(machine):
    """A payload that may trace others sees the process that comes in before it executes the command, too."""
    start(machine, 'box', 'AddCapability=CAP_SYS_PTRACE', LOOK)
    machine.run('echo secret >/root/callers-file')
    for _ in range(60):
        bash(machine, 'cd /var/tmp && keyturnctl exec box true </root/callers-file 7</root/callers-file '
                      '>>/root/callers-file 2>/root/callers-errors 8</etc')
    machine.run('systemctl stop box; rm /root/callers-*')
    links = set(machine.read('/srv/data/links').splitlines())
    assert any(link.startswith('pipe:') for link in links), links  # it has seen some of it
    bad = {link for link in links if link.startswith(('/root', '/var', '/etc', '/run', '/dev/pts', '/sys'))}
    assert not bad, bad


def taken(machine, more, enter, times):
    """What a payload that traces whoever comes in has taken: (capabilities, filter, what was open) of itself, and of each."""
    machine.build('hostile-exec/tracer.c', '/srv/bin/tracer')
    start(machine, 'box', f'AddCapability=CAP_SYS_PTRACE\nVolume=/srv/bin:/attack\n{more}', 'sh -c "exec /attack/tracer >/data/taken"')
    machine.wait_for(lambda: machine.run('cat /srv/data/taken').out)
    lines = []
    for _ in range(times):  # some come and go unseen
        if len(lines) < 12:
            enter()
            lines = [line.split() for line in machine.read('/srv/data/taken').splitlines()]
    machine.run('systemctl stop box; systemctl reset-failed box; rm -r /srv/bin')
    return [(int(line[0], 16), line[1], line[2:]) for line in lines]


def test_who_comes_in_has_no_more_than_the_payload(machine):
    """CVE-2016-9962 by who may trace: it would have the process's rights and memory, or be without a filter, or out by what is open."""
    # Who is stopped in a system call may find it interrupted, and fail.
    ended = []

    def command(words):
        return lambda: ended.append(bash(machine, words, check=False).status)

    for more, enter in (('', command('A_SECRET=1 keyturnctl exec box true')),
                        ('NoNewPrivileges=yes', command('keyturnctl exec box true')),
                        ('User=1234', command('keyturnctl exec -u 0 box true')),
                        ('UIDMap=0:100000:65536\nGIDMap=0:100000:65536', command('keyturnctl exec box sleep 0.02')),
                        ('', lambda: ended.append(on_terminal(machine, 'keyturnctl exec -t box true', check=False).status)),
                        ('HealthCmd=true', command('systemctl start keyturn-health@box'))):
        (capabilities, has_filter, _), *others = taken(machine, more, enter, 200)
        assert len(others) >= 8 and 0 in ended, (more, len(others), ended)
        ended.clear()
        for its, filtered, files in others:
            assert its & ~capabilities == 0 and filtered == has_filter == '2', (more, hex(its), hex(capabilities), filtered)
            bad = [name for name in files if not name.startswith(('pipe:', 'socket:', '/dev/null', '/dev/pts/', '/dev/ptmx'))]
            assert not bad, (more, files)


def test_who_comes_in_cannot_be_taken_for_another(machine):
    """Who traces the new process has it tell libcrun a PID before the true one comes: that process would be moved, and signalled."""
    machine.build('hostile-exec/forger.c', '/srv/bin/forger')
    machine.build('hostile-exec/late.c', '/srv/late.so', '-shared', '-fPIC')
    machine.unit('other', '[Service]\nType=exec\nExecStart=sleep 4242\nCPUAffinity=0\n')
    machine.run('systemctl start other')
    other = machine.show('other', 'MainPID')
    look = f'cat /proc/{{1,{other}}}/{{stat,cgroup}} | cut -d" " -f1-4; grep -h Cpus_allowed_list /proc/{{1,{other}}}/status'
    # systemd runs now and then.
    before = machine.wait_for(lambda: (found := bash(machine, look).out).count(') S ') == 2 and found)
    assert before.count('Cpus_allowed_list:\t0\n') == 1, before

    def forge(pid):
        start(machine, 'box', 'AddCapability=CAP_SYS_PTRACE\nVolume=/srv/bin:/attack', f'sh -c "exec /attack/forger {pid} >/data/told"')
        machine.wait_for(lambda: machine.run('cat /srv/data/told').out)
        # Were it believed, the signal would go to the other one.
        done = bash(machine, 'LD_PRELOAD=/srv/late.so timeout --signal=TERM --kill-after=5 10 '
                             'keyturnctl exec box touch /data/came', check=False)
        came, told = 'came' in machine.run('ls /srv/data').out, machine.read('/srv/data/told')
        machine.wait_for(lambda: machine.run('pgrep -x keyturnctl', check=False).status != 0)
        machine.run('systemctl stop box; systemctl reset-failed box')
        return done, came, told
    for pid in ('1', other, 'own', '0', '-1', f'-{other}'):
        for _ in range(5):  # the attacker itself may come too late
            done, came, told = forge(pid)
            if told == 'begin\ntold\n':
                break
        assert told == 'begin\ntold\n', (pid, told, done)
        assert done.status == 125 and 'is not the new one' in done.err and not came, (pid, done, came)
        machine.wait_for(lambda: bash(machine, look).out == before)
    machine.run('systemctl stop other; rm -r /srv/bin /srv/late.so')


def test_a_command_beside_who_may_trace_is_as_any(machine):
    """It comes in by another way: its status, output, directory, terminal, and what is said where it cannot be executed."""
    outs = []
    for more in ('AddCapability=CAP_SYS_PTRACE', 'AddCapability=CAP_SYS_NICE'):
        start(machine, 'box', f'{more}\nWorkingDir=/etc\nUser=1234:1235\nEnvironment=A=b')
        said = [bash(machine, f'keyturnctl exec {words} 2>&1', check=False) for words in (
            'box sh -c "pwd; id; env | sort; umask; echo x >&2; exit 7"', 'box nothing', 'box /etc', '-u 0 box id', '-w /nowhere box true',
            'box sh -c "kill -9 \\$\\$"')]
        said.append(on_terminal(machine, 'keyturnctl exec -t box sh -c "tty; stty size; exit 3"', check=False))
        said += [on_terminal(machine, f"keyturnctl exec -t {words}", check=False) for words in ("box /etc", "-w /nowhere box true", "box nothing")]
        # On a terminal libcrun puts a colour and the time before it.
        outs.append([(one.status, re.sub(r'\033\[[0-9;]*m|\d{4}-[^ ]*Z: ', '', one.out)) for one in said])
        machine.run('systemctl stop box')
    assert outs[0] == outs[1], outs


def test_a_payload_that_mounts_its_own_programs_gets_no_root(machine):
    """In a user namespace that it makes it puts another program in the place of what root executes, as root of the container."""
    machine.write('/etc/containers/systemd/mates.pod', '[Pod]\n')
    for hides, pod in ((False, ''), (True, ''), (True, 'Pod=mates.pod')):  # in a pod libcrun enters namespaces one by one
        hide = 'exec unshare -Urm sh -c "mount --bind /evil /usr/bin/id; exec sleep 1000"' if hides else 'exec sleep 1000'
        machine.write('/srv/evil', '#!/bin/sh\ntouch /data/ran\n', mode=0o755)
        machine.write('/srv/hide', f'#!/bin/sh\n{hide}\n', mode=0o755)
        machine.run('rm -rf /srv/data; mkdir /srv/data; chmod 0777 /srv/data')
        machine.container('fakes', '[Unit]\nStartLimitIntervalSec=0\n[Container]\nImage=localhost/test/debian\nUser=1234:1234\nExec=/hide\n'
                                   f'{pod}\nVolume=/srv/data:/data\nVolume=/srv/evil:/evil:ro\nVolume=/srv/hide:/hide:ro\n[Service]\nKillSignal=SIGKILL\n')
        machine.run('systemctl restart fakes')
        pid = machine.show('fakes', 'MainPID')
        machine.wait_for(lambda: machine.run(f'cat /proc/{pid}/comm').out == 'sleep\n')
        for words in ('-u root fakes id', '-u 0:0 fakes id', '-u root fakes /evil', 'fakes id'):
            machine.run(f'keyturnctl exec {words}', check=False)
        owners = machine.run('stat -c %u /srv/data/*', check=False).out.split()
        assert owners == ([] if hides else ['0']), (hides, pod, owners)


def test_working_directory_is_no_descriptor(machine):
    """CVE-2024-21626: a directory of the host's that happens to be open is no way out."""
    start(machine, 'box')
    for n in range(3, 24):
        result = bash(machine, f'cd /etc; for n in {{9..23}}; do eval "exec $n</etc"; done; '
                               f'keyturnctl exec -w /proc/self/fd/{n} box ls -d machine-id systemd 2>&1', check=False)
        assert result.status == 127 or result.status == 125, (n, result)
        assert 'ls: ' not in result.out and '\nsystemd\n' not in result.out, (n, result)


def test_out_of_memory_score_is_the_payloads(machine):
    """A process that the kernel spares must not come into the hands of a payload."""
    start(machine, 'box')
    payload = machine.run(f'cat /proc/{machine.show("box", "MainPID")}/oom_score_adj').out
    # That the caller has a lower one than the payload needs no right when the payload's is raised.
    machine.container('box.container.d/10-score.conf', '[Service]\nOOMScoreAdjust=700\n')
    machine.run('systemctl restart box')
    out = machine.run('cat /proc/self/oom_score_adj; keyturnctl exec box cat /proc/self/oom_score_adj').out
    assert out == f'{payload}700\n' and payload != '700\n', (out, payload)


def test_limits_processors_and_priority_are_the_payloads(machine):
    """Whatever the caller has: those of [Service], of a drop-in of systemd's, of Ulimit=, and what the payload made of them."""
    machine.write('/etc/systemd/system/box.service.d/50-test.conf',
                  '[Unit]\nStartLimitIntervalSec=0\n[Service]\nLimitCORE=0\nLimitFSIZE=1000000\nCPUAffinity=0\nNice=7\n')
    for file in ('/etc/subuid', '/etc/subgid'):
        machine.write(file, 'containers:2147483647:2147483648\n')
    machine.write('/etc/test-look', "cat /proc/self/limits; grep Cpus_allowed_list /proc/self/status; cut -d' ' -f19 /proc/self/stat")
    for lines, lowered in (('', ':'), ('Ulimit=nofile=100:200', ':'), ('User=1234', 'ulimit -n 66; ulimit -t 777'),
                           ('UserNS=auto', 'ulimit -n 66; ulimit -c 0')):
        start(machine, 'box', f'Volume=/etc/test-look:/look\n{lines}',
              f"sh -c '{lowered}; sh /look >/data/payload; touch /data/done; sleep 1000'")
        machine.wait_for(lambda: machine.run('ls /srv/data/done', check=False).status == 0)
        payload = machine.read('/srv/data/payload')
        assert payload.endswith('\t0\n7\n') and (lowered == ':') != (' 66 ' in payload), payload
        for caller in ('', 'ulimit -S -n 4096; nice -n -5 ', 'ulimit -S -n 40; ulimit -S -u 50; nice -n 19 '):
            seen = bash(machine, f'{caller} keyturnctl exec box sh /look').out
            assert seen == payload, (lines, caller, seen, payload)
        machine.run('systemctl stop box')
    # Who may not have as much has what he may, and not more.
    start(machine, 'box', 'Volume=/etc/test-look:/look')
    none = '=-sys_resource,-sys_nice'
    seen = bash(machine, f'ulimit -n 99; setpriv --inh-caps{none} --bounding-set{none} nice -n 15 keyturnctl exec box sh /look').out
    assert ' 99 ' in seen and int(seen.split()[-1]) > 7, seen
    # A payload can make itself too small for a command, but neither keep its caller waiting nor what has come in.
    for small in ('ulimit -n 3', 'ulimit -v 2000', 'ulimit -f 0 -c 0', 'ulimit -s 8'):
        machine.run('systemctl stop box')
        start(machine, 'box', command=f"sh -c 'mkfifo /f && exec <>/f; {small}; read x'")
        result = machine.run('keyturnctl exec box true; echo $?', check=False, timeout=20)
        assert result.out in ('0\n', '125\n', '126\n', '139\n'), (small, result)
        machine.wait_for(lambda: machine.run('pgrep -a keyturnctl', check=False).out == '')
        assert machine.show('box', 'ActiveState') == 'active', small
    # One that has forbidden itself to make processes, as HAProxy does, has commands beside it nevertheless, within the file's limit.
    for lines, seen in (('Ulimit=host', None), ('[Service]\nLimitNPROC=50', ['50', '50']), ('Ulimit=nproc=70:71', ['70', '71'])):
        machine.run('systemctl stop box')
        # The kernel counts a user's processes on all machines beside this one: no other test has this user.
        start(machine, 'box', f'User=54321\n{lines}', "sh -c 'ulimit -u 0; : >/data/done; exec sleep 1000'")
        machine.wait_for(lambda: machine.run('ls /srv/data/done', check=False).status == 0)
        limit = machine.run('keyturnctl exec box grep processes /proc/1/limits /proc/self/limits').out.splitlines()
        assert limit[0].split()[2:4] == ['0', '0'], limit
        assert '0' not in limit[1].split()[2:4] and seen in (None, limit[1].split()[2:4]), limit
    machine.run('rm -r /etc/systemd/system/box.service.d')
    machine.reload()


# ---- the same bytes, the same status

def test_bytes_are_the_same(machine):
    start(machine, 'box')
    machine.run('cd /root && rm -f b.*; head -c 10485760 /dev/urandom >b.in && head -c 1000001 /dev/urandom >b.small')
    for script in ('keyturnctl exec box cat <b.in >b.out',
                   'cat b.in | keyturnctl exec box cat | cat >b.out',
                   'cat b.in | keyturnctl exec box cat >b.out 2>&1',
                   'keyturnctl exec box cat <b.in | cat >b.out',
                   'keyturnctl exec box sh -c "cat >&2" <b.in 2>b.out',
                   'perl -MSocket -e \'socketpair(A, B, AF_UNIX, SOCK_STREAM, 0); if (fork) { open(STDIN, "<&A"); '
                   'close A; close B; exec qw(keyturnctl exec box cat) } else { close A; open(F, "b.in"); '
                   'print B $_ while read(F, $_, 65536); close B; exit }\' >b.out',
                   'keyturnctl exec -u 1:1 box sh -c "cat </proc/self/fd/0 >/proc/self/fd/1" <b.in >b.out'):
        bash(machine, f'set -o pipefail; cd /root; rm -f b.out; {script} && cmp b.in b.out')
    machine.run('cd /root && rm b.*')


def test_order_of_both_outputs(machine):
    start(machine, 'box')
    loop = "'i=0; while [ $i -lt 600 ]; do echo $i; i=$((i+1)); echo $i >&2; i=$((i+1)); done'"
    machine.run(f'keyturnctl exec box sh -c {loop} >/root/both 2>&1')
    assert machine.read('/root/both') == ''.join(f'{i}\n' for i in range(600))
    machine.run(f'rm /root/both; keyturnctl exec box sh -c {loop} >/root/out 2>/root/err')
    assert machine.read('/root/out') == ''.join(f'{i}\n' for i in range(0, 600, 2))
    assert machine.read('/root/err') == ''.join(f'{i}\n' for i in range(1, 600, 2))


def test_what_is_not_read_stays(machine):
    """As with the caller's own descriptor, so that a loop of the shell can read what it was given."""
    start(machine, 'box')
    machine.run('seq 1 9999 >/root/numbers')
    loop = 'while read -r n && [ $n -lt 5 ]; do keyturnctl exec box echo "<$n>"; done'
    for script in (f'{loop} </root/numbers', f'cat /root/numbers | {loop}', f'seq 1 9999 | {loop}'):
        assert bash(machine, script).out == '<1>\n<2>\n<3>\n<4>\n', script
    rest = '{ keyturnctl exec box dd bs=1 count=4 status=none; cat; }'
    for script in (f'{rest} </root/numbers', f'seq 1 9999 | {rest}', f'(sleep 0.5; seq 1 9999) | {rest}'):
        assert bash(machine, script).out == machine.read('/root/numbers'), script
    # Closed by the command long before its end; all of it; none of it, with a reader that stays.
    closed = "{ keyturnctl exec box sh -c 'exec <&-; sleep 0.3'; cat; } "
    assert bash(machine, f'seq 1 9999 | {closed}').out == machine.read('/root/numbers')
    assert bash(machine, "seq 1 9999 | { keyturnctl exec box cat; echo -; cat; }").out.endswith('9999\n-\n')
    left = "{ keyturnctl exec box sh -c 'sleep 1000 <&0 >/dev/null 2>&1 & exec <&-'; cat; }"
    for script in (f'{left} </root/numbers', f'seq 1 9999 | {left}'):
        assert bash(machine, script).out == machine.read('/root/numbers'), script


def test_statuses_are_the_same(machine):
    start(machine, 'box')
    for words, status in (('box true', 0), ('box false', 1), ("box sh -c 'exit 7'", 7), ("box sh -c 'kill -9 $$'", 137),
                          ("box sh -c 'kill $$'", 143), ('box nonesuch', 127), ('box /etc/passwd', 126),
                          ('-w /none box true', 127)):
        result = machine.run(f'keyturnctl exec {words}', check=False)
        assert result.status == status, (words, result)
    out = bash(machine, 'keyturnctl exec box yes | head -n 1; echo ${PIPESTATUS[0]}').out
    assert out == 'y\n141\n', out
    assert machine.run("keyturnctl exec box sh -c 'echo lost' >/dev/full", check=False).status == 125
    for closed in ('<&-', '>&-', '2>&-', '<&- >&- 2>&-'):
        assert machine.run(f"keyturnctl exec box sh -c 'cat; echo out; exit 5' {closed}", check=False).status == 5, closed


def test_what_stays_behind_is_not_waited_for(machine):
    start(machine, 'box')
    script = "timeout 20 keyturnctl exec box sh -c 'head -c 60000 /dev/zero; sleep 1000 & exit 4' | (sleep 1; wc -c); " \
             "echo ${PIPESTATUS[0]}"
    assert bash(machine, script).out == '60000\n4\n'
    # One that floods what it has does not keep it either.
    script = "timeout 20 keyturnctl exec box sh -c 'yes & sleep 0.3; exit 3' | (sleep 1; tail -c 1 | wc -c); " \
             "echo ${PIPESTATUS[0]}"
    assert bash(machine, script).out == '1\n3\n'
    for words in ('exec', 'exec -t'):
        result = on_terminal(machine, f"timeout --foreground 20 keyturnctl {words} box sh -c "
                             "'trap \"\" HUP; sleep 1000 & exit 6'", check=False)
        assert result.status == 6, result


def count_in(machine, unit):
    return len(machine.run(f'cat /sys/fs/cgroup$(systemctl show -P ControlGroup {unit})/cgroup.procs').out.split())


def test_signals(machine):
    start(machine, 'box')
    for name, status in (('INT', 130), ('TERM', 143), ('HUP', 129), ('USR1', 138)):
        # A job in the background of a shell that is not interactive ignores SIGINT: perl gives it back its meaning.
        script = "perl -e '$SIG{INT} = q(DEFAULT); exec @ARGV' keyturnctl exec box " \
                 "sh -c 'echo up >/data/up; exec sleep 1000' & " \
                 f"until [ -s /srv/data/up ]; do sleep 0.05; done; kill -{name} $!; wait $!; echo $?"
        assert bash(machine, f'rm -f /srv/data/up; {script}').out == f'{status}\n', name
    bash(machine, "rm -f /srv/data/up; nohup keyturnctl exec box sh -c 'echo up >/data/up; sleep 1; exit 9' "
                  ">/dev/null 2>&1 & until [ -s /srv/data/up ]; do sleep 0.05; done; kill -HUP $!; wait $!; [ $? = 9 ]")
    # Killed, it cannot do anything more; the command is told, and nothing stays.
    bash(machine, "rm -f /srv/data/up; keyturnctl exec box sh -c 'echo up >/data/up; exec sleep 1000' & "
                  "until [ -s /srv/data/up ]; do sleep 0.05; done; kill -KILL $!; wait $!; [ $? = 137 ]", check=False)
    machine.wait_for(lambda: count_in(machine, 'box') == 1)


# A payload that is an init, which freezes the control group that commands come into.
FREEZE = """#!/bin/sh
cd /sys/fs/cgroup; mkdir init other; echo 0 >init/cgroup.procs
(echo 0 >other/cgroup.procs; echo 1 >init/cgroup.freeze; touch /data/frozen; exec sleep 1000) &
wait
"""


def test_signals_end_who_is_held_up_on_the_way_in(machine):
    """Stopped or frozen by the payload before it executes the command, for as long as that likes."""
    machine.build('hostile-exec/stopper.c', '/srv/bin/stopper')
    for more, options in (('', ''), ('AddCapability=CAP_SYS_PTRACE', ''), ('', '-t')):
        start(machine, 'box', f'Volume=/srv/bin:/attack:ro\n{more}', 'sh -c "exec /attack/stopper >/data/stopped"')
        for signal, status in (('TERM', '124'), ('KILL', '137')):
            for _ in range(40):  # some come and go unseen
                ended = on_terminal(machine, f'timeout --foreground -s {signal} -k 5 1 keyturnctl exec {options} box true; echo = $?').out.split()[-1]
                if ended == status:
                    break
            assert ended == status, (more, options, signal, ended)
            # Who has been stopped while libcrun waits for a terminal of his is the container's until its end.
            left = 'pgrep -x keyturnctl' if not options else 'ps -C keyturnctl -o stat= | grep -v T'
            machine.wait_for(lambda: machine.run(left, check=False).out == '')
        machine.run('systemctl stop box')
        machine.wait_for(lambda: machine.run('pgrep -x keyturnctl', check=False).out == '')
    machine.write('/srv/freeze', FREEZE, mode=0o755)
    start(machine, 'box', 'Volume=/srv/freeze:/sbin/init:ro', '/sbin/init')
    machine.wait_for(lambda: machine.run('ls /srv/data/frozen', check=False).status == 0)
    for signal, status in (('TERM', 124), ('KILL', 137)):
        assert bash(machine, f'timeout --foreground -s {signal} -k 5 1 keyturnctl exec box true', check=False).status == status, signal
        machine.wait_for(lambda: machine.run('pgrep -x keyturnctl', check=False).out == '')
    machine.run('systemctl stop box; rm -r /srv/bin')


def test_the_service_ends_under_a_command(machine):
    start(machine, 'box')
    script = "keyturnctl exec box sh -c 'echo up >/data/up; exec sleep 1000' & " \
             "until [ -s /srv/data/up ]; do sleep 0.05; done; systemctl stop box; wait $!; echo $?"
    assert bash(machine, script).out == '137\n'


def test_terminal(machine):
    start(machine, 'box')
    script = 'stty rows 33 cols 77; before=$(stty -g); keyturnctl exec -t box sh -c "stty size; stty -echo; exit 3"; ' \
             'echo status $?; [ "$before" = "$(stty -g)" ] && echo restored'
    seen = on_terminal(machine, script).out.split('\n')
    assert seen[:3] == ['33 77', 'status 3', 'restored'], seen
    # However early the command asks.
    sizes = on_terminal(machine, 'stty rows 33 cols 77; for i in $(seq 20); do keyturnctl exec -t box stty size; done').out
    assert sizes == '33 77\n' * 20, sizes
    # All of the output, also when the command ends at once.
    for _ in range(5):
        seen = on_terminal(machine, 'keyturnctl exec -t box seq 1 20000').out
        assert seen == ''.join(f'{i}\n' for i in range(1, 20001)), (len(seen), seen[-100:])
    # Keys are the command's: ^C is a signal there, not here.
    machine.write('/root/keys.sh', '''
        wait_for() { until [ -e /srv/data/$1 ]; do sleep 0.05; done; }
        (wait_for up; echo abc; wait_for got; printf '\\003') | script -qec "keyturnctl exec -t box sh -c '
            trap \\"echo caught; exit 8\\" INT
            touch /data/up
            read line && echo got \\$line && touch /data/got
            while :; do sleep 0.1; done'" /dev/null
        echo $?
    ''')
    script = 'timeout --foreground 30 sh /root/keys.sh'
    seen = bash(machine, script).out.replace('\r', '')
    assert 'got abc\n' in seen and 'caught\n' in seen and seen.endswith('8\n'), seen
    # A new size is passed on: stty(1) is of the same session, behind the command's back.
    machine.write('/root/size.sh', '''
        (until [ -s /srv/data/up ]; do sleep 0.05; done; stty rows 44 cols 88 </dev/tty) &
        exec keyturnctl exec -t box sh -c 'trap "stty size; exit 0" WINCH; echo up >/data/up; while :; do sleep 0.1; done'
    ''')
    assert '44 88\n' in on_terminal(machine, 'timeout --foreground 20 sh /root/size.sh').out
    result = machine.run('keyturnctl exec -t box true </dev/null 2>&1', check=False)
    assert result.status == 125 and 'standard input is none' in result.out, result
    assert machine.run('ls -A /run/keyturn/box').out.count('.exec') == 0


def test_background_job_of_a_shell(machine):
    """What is typed for another program does not stop it, and is not its."""
    start(machine, 'box')
    machine.write('/root/job.sh', '''
        set -m
        keyturnctl exec box sh -c "touch /data/up; until [ -e /data/typed ]; do sleep 0.05; done; echo late" &
        read -r line
        echo "read $line"
        sleep 0.5
        touch /srv/data/typed
        wait $!
        echo status $?
    ''')
    script = "(until [ -e /srv/data/up ]; do sleep 0.05; done; echo typed; sleep 2) | " \
             "script -qec 'timeout --foreground 30 bash /root/job.sh' /dev/null"
    seen = bash(machine, script).out.replace('\r', '')
    assert 'read typed\n' in seen and 'late\n' in seen and 'status 0\n' in seen, seen


def test_reload(machine):
    """ReloadCmd= has the journal's sockets as its streams."""
    start(machine, 'box', 'ReloadCmd=sh -c "echo to the journal; echo and this >&2; cat; readlink /proc/self/fd/1"')
    machine.run('systemctl reload box')
    lines = machine.journal('box').splitlines()
    assert 'to the journal' in lines and 'and this' in lines and any(line.startswith('pipe:') for line in lines), lines
    machine.container('box.container.d/10-fails.conf', '[Container]\nReloadCmd=sh -c "exit 5"\n')
    assert machine.run('systemctl reload box', check=False).status != 0


# ---- files out of a container and into it, and what it has written

def test_copies_bring_no_rights_out(machine):
    """What a payload gives root to copy is no program with root's rights, no device, and no FIFO to wait on."""
    machine.build('hostile-exec/keys.c', '/srv/bin/program')
    start(machine, 'box', 'AddCapability=MKNOD SETFCAP\nVolume=/srv/bin:/attack')
    machine.run("""keyturnctl exec box sh -c 'mkdir /out && cd /out && cp /attack/program suid && chmod 6755 suid &&
        mkfifo fifo && mknod null c 1 3 && ln -s /etc/shadow link && mkdir deep && chmod 3777 deep &&
        ln suid again && ln -s /out self'""")
    machine.run('mknod -m 0600 /srv/data/node c 1 3; rm -rf /root/got')
    said = machine.run('keyturnctl cp box:/out /root/got 2>&1; keyturnctl cp box:/data /root/got/data 2>&1').out
    assert '2 left out' in said and '1 left out' in said, said
    found = machine.run("cd /root/got && find . -printf '%P %y %m %U %l\\n' | sort").out
    assert found == (' d 755 0 \nagain f 755 0 \ndata d 777 0 \ndeep d 777 0 \nlink l 777 0 /etc/shadow\n'
                     'self l 777 0 /out\nsuid f 755 0 \n'), found
    for node in ('null', 'fifo'):
        said = machine.run(f'timeout 5 keyturnctl cp box:/out/{node} /root/got/x 2>&1', check=False)
        assert said.status == 125 and 'neither a file nor a directory' in said.out, said
    # What comes in has the payload's owner and no more than the nine bits, either.
    machine.run('cp /root/got/suid /root/own && chmod 6755 /root/own && keyturnctl cp /root/own box:/out/suid')
    assert machine.run('keyturnctl exec box stat -c "%a %u" /out/suid').out == '755 0\n'
    machine.run('rm -rf /root/got /root/own /srv/data/node /srv/bin')


# Directories become links and links directories, files FIFOs and nodes, as fast as can be.
SWAP = ("sh -c 'mkdir -p /t /away; echo inside >/away/file; i=0; while :; do "
        "mkdir /t/d /t/d/e && echo inside >/t/d/file; rm -rf /t/d; ln -s /etc /t/d; rm /t/d; ln -s /proc/1/root/etc /t/d; rm /t/d; "
        "ln -s ../../../../../../../../../etc /t/d; rm /t/d; mkfifo /t/f; rm /t/f; mknod /t/f c 4 64; rm /t/f; echo inside >/t/f; rm /t/f; "
        "ln -s /srv/host/secret /t/f; rm /t/f; done' 2>/dev/null")


def test_no_exchange_leads_a_copy_to_the_host(machine):
    """Neither does a copy out read a file of the host's, nor one in write it."""
    machine.run('rm -rf /srv/host /root/out /root/in; mkdir -p /srv/host /root/in/d; echo SECRET >/srv/host/secret; '
                'echo SECRET >/etc/file-of-the-host; echo from-the-host >/root/in/d/file-of-the-host; '
                'echo from-the-host >/root/in/f')
    start(machine, 'box', 'AddCapability=MKNOD', SWAP)
    before = machine.run('find /etc /srv/host | sort; cat /etc/file-of-the-host /srv/host/secret').out
    # Forty rounds, and more where each has met something else than a file of the container's.
    script = """for i in $(seq 300); do
        timeout 20 keyturnctl cp box:/t /root/out; timeout 20 keyturnctl cp box:/t/d /root/out/d$i
        timeout 20 keyturnctl cp box:/t/f /root/out/f; timeout 20 keyturnctl cp /root/in/. box:/t
        timeout 20 keyturnctl cp /root/in/f box:/t/f; timeout 20 keyturnctl cp /root/in/d box:/t/d
        [ $i -lt 40 ] || ! grep -rq inside /root/out || break; done 2>&1
        timeout 20 keyturnctl diff box >/dev/null; echo $?"""
    out = bash(machine, script, timeout=110).out
    assert out.splitlines()[-1] == '0', out[-500:]
    machine.run('systemctl stop box')
    assert machine.run('find /etc /srv/host | sort; cat /etc/file-of-the-host /srv/host/secret').out == before
    assert machine.run('grep -rl inside /root/out').out  # some of it did arrive
    assert machine.run('grep -rl SECRET /root/out', check=False).out == ''
    assert machine.run("find /root/out ! -type f ! -type d ! -type l -o -name 'shadow' -o -name '.keyturnctl*'").out == ''
    machine.run('rm -rf /srv/host /root/out /root/in /etc/file-of-the-host')


def test_what_is_written_at_once_is_shown(machine):
    """To the files of the start, before anybody has written down that there is a container; and through a mapping, for which
    the kernel sets no times. What was not touched is not shown."""
    start(machine, 'hasty', 'User=1234:1235')
    assert json.loads(machine.run('keyturnctl diff hasty --json').out) == []
    machine.run('systemctl stop hasty')
    machine.build('hostile-exec/map.c', '/srv/bin/map')
    machine.write('/etc/hosts', '127.0.0.1 localhost\n')
    machine.write('/etc/resolv.conf', 'nameserver 192.0.2.1\n')
    more = 'Volume=/srv/bin:/attack\nAddHost=one:192.0.2.7'
    last = {'hasty': '"$(readlink etc/mtab)" = /evil', 'maps': '"$(head -c 1 etc/hostname)" = "!"'}
    for name, command in (('hasty', "sh -c 'for i in /etc/hosts /etc/resolv.conf /etc/hostname; do echo evil >$$i; done; "
                                    "chmod 666 /run/.containerenv; ln -sf /evil /etc/mtab; exec sleep 1000'"),
                          ('maps', '/attack/map /etc/hosts /etc/resolv.conf /etc/hostname')):
        start(machine, name, more, command)
        root = f'/proc/{machine.show(name, "MainPID")}/root'
        machine.wait_for(lambda: machine.run(f'cd {root} && test {last[name]}', check=False).status == 0)
        found = {c['path'] for c in json.loads(machine.run(f'keyturnctl diff {name} --json').out)}
        asked = {'/etc/hosts', '/etc/resolv.conf', '/etc/hostname'} | \
            ({'/run/.containerenv', '/etc/mtab'} if name == 'hasty' else set())
        assert found == asked, (name, found)
        machine.run(f'systemctl stop {name}')


def test_a_copy_gives_nothing_away(machine):
    """What was made is exchanged for a directory, a file or a link of root's before it is looked at again. The copy into the
    container is made slower where that can be done."""
    for kind, make, call in (('d', 'mkdir -p theirs && echo root >theirs/file && chmod 700 theirs', 'mkdirat'),
                             ('f', 'echo root >theirs && chmod 600 theirs', 'symlinkat'),
                             ('l', 'ln -s root theirs', 'symlinkat')):
        machine.run(f'rm -rf /srv/shared /root/in; mkdir -m 777 /srv/shared; cd /srv/shared; {make}; mkdir -p /root/in; cd /root/in; '
                    'mkdir d; echo words >d/in; ln -s target f; ln -s target l')
        before = machine.run('cd /srv/shared && stat -c "%u:%g %a %F" theirs && ls -A theirs 2>&1').out
        # Whatever appears beside it is at once replaced by it.
        start(machine, 'box', 'User=1234:1235\nVolume=/srv/shared:/s', "sh -c 'cd /s; while :; do for i in .key* d f l; do "
              '[ "$$i" = ".key*" ] || { [ -e $$i -o -L $$i ] && mv $$i /s/.old-$$i && mv theirs $$i && exec sleep 1000; }; done; done\' 2>/dev/null')
        machine.run(f'timeout 30 strace -f -o /dev/null -e inject={call}:delay_exit=300000 keyturnctl cp /root/in/. box:/s', check=False)
        machine.run('systemctl stop box')
        found = machine.run('cd /srv/shared; for i in theirs .key* d f l; do [ "$(stat -c %u $i 2>/dev/null)" = 0 ] && '
                            'stat -c "%u:%g %a %F" $i && ls -A $i 2>&1; done; true').out.replace('/srv/shared/', '')
        assert before.splitlines()[0] in found.splitlines(), (kind, before, found, machine.run('ls -lnA /srv/shared').out)
        assert 'in' not in found.split('\n')[1:], (kind, found)


def test_a_copy_is_made_as_its_user(machine):
    """Root makes what the container's user could make himself, wherever that is, with nobody's groups."""
    start(machine, 'box', 'User=1234:1235', "sh -c 'mkdir /tmp/own; sleep 1000'")
    machine.wait_for(lambda: machine.run('keyturnctl exec box test -d /tmp/own', check=False).status == 0)
    machine.run('echo words >/root/words; chmod 600 /root/words; keyturnctl cp /root/words box:/tmp/own/')
    pid = machine.show('box', 'MainPID')
    assert machine.run(f'stat -c "%u:%g %a" /proc/{pid}/root/tmp/own/words').out == '1234:1235 600\n'
    said = machine.run('keyturnctl cp /root/words box:/etc/words 2>&1', check=False)
    assert said.status == 125 and 'Permission denied' in said.out and 'user 1234' in said.out, said
    machine.run('rm /root/words')


def test_a_file_that_fills_while_it_is_copied(machine):
    """Its bytes count when they are copied, not as they were when it was looked at."""
    start(machine, 'box')
    machine.run('keyturnctl exec box truncate -s 100M /data/holes')
    # The second file that is opened there is the copy: 6 s later, and /root/trace has its name before.
    out = bash(machine, """rm -f /root/trace
        timeout 50 strace -f -o /root/trace -P /root -e inject=openat:delay_enter=6s:when=2 \
        keyturnctl cp --limit=1M box:/data/holes /root/filled 2>&1 &
        until [ "$(grep -c openat /root/trace)" = 2 ]; do sleep 0.05; done 2>/dev/null
        keyturnctl exec box dd if=/dev/zero of=/data/holes bs=1M count=64 conv=notrunc 2>/dev/null; wait $!; echo $?""").out
    assert out.endswith('\n125\n') and 'more to copy than the limit allows' in out, out
    machine.run('test ! -e /root/filled; rm -f /srv/data/holes')


def test_a_copy_ends(machine):
    """A tree that grows for ever, one that is deep, a file that is larger than any disk."""
    start(machine, 'box', command="sh -c 'mkdir /grow; cd /grow; i=0; while :; do mkdir -p $i/a/b; echo $i >$i/a/b/f; "
                                  "i=$((i+1)); [ $i = 400 ] && { rm -rf /grow/*; i=0; }; done' 2>/dev/null")
    out = bash(machine, 'timeout 50 keyturnctl cp --limit=100k box:/grow /root/grown 2>&1; echo $?; '
                        'du -s --apparent-size /root/grown | cut -f1').out.split('\n')
    assert out[-3] in ('0', '125') and int(out[-2]) < 2000, out
    machine.run("""keyturnctl exec box sh -c 'mkdir /deep /big; cd /deep; i=0; while [ $i -lt 400 ]; do mkdir x; cd x;
        i=$((i+1)); done; truncate -s 100G /big/holes'""")
    said = machine.run('keyturnctl cp box:/deep /root/deep 2>&1', check=False)
    assert said.status == 125 and 'directories in each other' in said.out, said
    said = machine.run('timeout 20 keyturnctl cp box:/big/holes /root/holes && stat -c "%b %s" /root/holes').out
    assert said == f'0 {100 << 30}\n', said
    machine.run('systemctl stop box; rm -rf /root/grown /root/deep /root/holes')


def test_nothing_hides_from_diff(machine):
    """Times that are set back, a root that was moved, names that control a terminal, a tree deeper than a path is long."""
    start(machine, 'box', 'AddCapability=SYS_CHROOT')
    machine.run("""keyturnctl exec box sh -c '
        touch -d 1970-01-01 /forged; mkdir -p /jail/bin /d; cp /bin/busybox /jail/bin; touch -r /bin /jail /d
        chmod 4755 /bin/busybox; touch -r /etc /bin; echo x >"/d/$(printf "\\033[2J\\n<0>evil")"
        cd /d; i=0; while [ $i -lt 25 ]; do n=$(printf %0200d $i); mkdir $n && cd $n; i=$((i+1)); done'""")
    seen = on_terminal(machine, 'NO_COLOR=1 keyturnctl diff box', check=False)
    assert seen.status == 1 and 'Not looked at: File name too long' in seen.out, seen
    for path in ('/forged', '/jail', '/bin/busybox', '/jail/bin/busybox', '/d', r'/d/\x1b[2J\n<0>evil'):
        assert f'{path}\n' in seen.out, (path, seen.out[:2000])
    assert '\033' not in seen.out, seen.out[:2000]
    assert 'evil' in str(json.loads(machine.run('keyturnctl diff --json box 2>/dev/null', check=False).out))
    # The payload itself goes where only what it wants is seen.
    start(machine, 'moves', command='sh -c "mkdir -p /jail/bin && cp /bin/busybox /jail/bin && echo x >/outside && '
                                    'exec chroot /jail /bin/busybox sleep 1000"')
    machine.wait_for(lambda: '/outside' in machine.run('keyturnctl diff moves').out)


def test_who_mounts_over_it_does_not_hide_it_from_diff(machine):
    """In a user namespace, which anybody may make."""
    for keys in '', 'User=1234:1235', 'UIDMap=0:100000:65536\nGIDMap=0:100000:65536':
        for hides in (False, True):
            hide = 'exec unshare -Urm sh -c "mount --bind /tmp /tmp; exec sleep 1000"' if hides else 'exec sleep 1000'
            machine.write('/srv/hide', f'#!/bin/sh\necho evil >/tmp/evil\n{hide}\n', mode=0o755)
            machine.container('hides', f'[Unit]\nStartLimitIntervalSec=0\n[Container]\nImage=localhost/test/debian\nVolume=/srv/hide:/hide:ro\nExec=/hide\n{keys}\n'
                                       '[Service]\nKillSignal=SIGKILL\n')
            machine.run('systemctl restart hides')
            pid = machine.show('hides', 'MainPID')
            machine.wait_for(lambda: machine.run(f'cat /proc/{pid}/comm').out == 'sleep\n')
            found = machine.run('keyturnctl diff hides', check=False)
            assert ('/tmp/evil' in found.out) != hides and found.status == int(hides), (keys, found)
            assert ('has made a user namespace' in found.err) == hides, (keys, found)
            said = machine.run('keyturnctl shell hides true').err
            assert ('has made a user namespace' in said) == hides, (keys, said)
        machine.run('systemctl stop hides', check=False)


def test_accounts_of_a_container_are_only_read(machine):
    """A payload that says who `-u NAME` is, with a file that is none, or is the host's."""
    machine.run('useradd -u 4321 host-user')
    start(machine, 'box', 'AddCapability=MKNOD')
    for make in ('ln -s /etc/passwd', 'ln -s /proc/1/root/etc/passwd', 'ln -s ../../../../../etc/passwd', 'mkfifo',
                 'mkdir', 'truncate -s 1G', 'ln -s /dev/zero', 'ln -s passwd'):
        machine.run(f"keyturnctl exec box sh -c 'rm -rf /etc/passwd; {make} /etc/passwd'", check=False)
        result = machine.run('timeout 10 keyturnctl exec -u host-user box id 2>&1', check=False)
        assert result.status == 125 and "no user 'host-user'" in result.out, (make, result)
    machine.run('userdel host-user')


def test_shell_gives_nothing(machine):
    """A shell with all of root's rights beside a payload: it is not to be seen, and no link leads its tools astray."""
    start(machine, 'box', 'AddCapability=SYS_PTRACE SYS_ADMIN NET_ADMIN\nSeccompProfile=unconfined', LOOK)
    machine.run('rm -f /root/pwned /root/shadow; echo SECRET >/root/secret; chmod 600 /root/secret')
    machine.run("""keyturnctl exec box sh -c 'cd /tmp; ln -s /root/secret link; ln -s /root/pwned new; ln -s /root dir;
        ln -s /proc/self/fd/0 stdin; cp /bin/busybox id; chmod 4755 id; mknod zero c 1 5 2>/dev/null; ls -l'""")
    machine.write('/root/inside.sh', """
        cd $ROOT/tmp
        cat link; cp link copied; echo x >new; cp link dir/; ls dir/; cat dir/secret; ./id; cat stdin
        echo x >/root/pwned; echo x >/etc/pwned; echo x >/var/tmp/pwned; echo x >/run/pwned; rm /root/secret
        mount -o remount,rw / && touch /root/remounted
        ls $ROOT/proc/1/root/etc; ls $ROOT/proc/self/
        cat $ROOT/proc/1/status | grep ^Name
        echo fine >made; cat made; sleep 1
    """)
    result = machine.run('keyturnctl shell box sh /root/inside.sh </root/secret 7</root/secret 2>&1', check=False)
    assert 'SECRET' not in result.out and 'fine' in result.out and 'Name:\tsh' in result.out, result
    assert machine.run('ls /root/pwned /etc/pwned /var/tmp/pwned /run/pwned 2>/dev/null', check=False).out == ''
    assert machine.read('/root/secret') == 'SECRET\n'
    seen = machine.run('keyturnctl exec box ls /tmp; keyturnctl exec box cat /tmp/copied 2>&1', check=False).out
    assert 'SECRET' not in seen and 'made' in seen, seen
    # The payload, which may trace others, has looked at all that is open in its pid namespace: none of it is the shell's.
    links = machine.read('/srv/data/links')
    assert '/root/' not in links and 'inside.sh' not in links and '/pts/' not in links, set(links.splitlines())
    assert machine.run('grep -c keyturnctl /proc/mounts', check=False).out == '0\n'  # nothing of it is seen outside
    machine.run('systemctl stop box; rm -f /root/secret /root/inside.sh')


# ---- keyrings

def test_session_keyring_of_another(machine):
    """One payload makes the keyring that another container will be given, if it goes by its name."""
    machine.build('hostile-exec/keys.c', '/srv/bin/keys')
    start(machine, 'attacker', 'Volume=/srv/bin:/attack\nUser=1234', '/attack/keys plant systemd-victim 60')
    machine.wait_for(lambda: 'planted' in machine.journal('attacker'))
    start(machine, 'victim', 'Volume=/srv/bin:/attack\nSeccompProfile=unconfined', '/attack/keys add password hunter2')
    machine.wait_for(lambda: 'added' in machine.journal('victim'))
    machine.run('sleep 1')
    assert machine.show('attacker', 'ActiveState') == 'active'
    assert 'hunter2' not in machine.journal('attacker')
    machine.run('systemctl stop attacker victim; rm -r /srv/bin')


def test_session_keyring_of_the_caller(machine):
    """His keys are not for a command in a container, nor for a payload that takes it over."""
    machine.build('hostile-exec/keys.c', '/srv/bin/keys')
    start(machine, 'box', 'Volume=/srv/bin:/attack\nSeccompProfile=unconfined')
    assert machine.run('/srv/bin/keys put password hunter2 /srv/bin/keys get password').out == 'hunter2\n'
    result = machine.run('/srv/bin/keys put password hunter2 keyturnctl exec box /attack/keys get password', check=False)
    assert result.status == 1 and result.out == '', result
    machine.run('systemctl stop box; systemctl reset-failed box; rm -r /srv/bin')


# ---- what others may read

NOBODY = 'setpriv --reuid 65534 --regid 65534 --clear-groups'


def modes(machine, *names):
    paths = ' '.join(f'/run/systemd/generator/{name}' for name in names)
    return machine.run(f'stat -c %a {paths}').out.split()


def test_units_have_no_more_readers_than_their_sources(machine):
    text = f'[Container]\nImage={BUSYBOX}\nExec=sleep 1000\nStopSignal=SIGKILL\nEnvironment=PASSWORD=hunter2\n'
    many = text + ''.join(f'Environment=V{i}={i}\n' for i in range(50))
    directory = '/etc/containers/systemd'
    for name, content, mode in (('open', many, 0o644), ('group', text, 0o640), ('closed', many, 0o600),
                                ('dropin', text, 0o644), ('directory', text, 0o644)):
        machine.container(name, content, reload=False)
        machine.run(f'chmod {mode:o} {directory}/{name}.container')
    machine.write(f'{directory}/dropin.container.d/10-secret.conf', '[Container]\nEnvironment=MORE=swordfish\n', 0o600)
    machine.write(f'{directory}/directory.container.d/10-secret.conf', '[Container]\nEnvironment=MORE=swordfish\n')
    machine.run(f'chmod 700 {directory}/directory.container.d; rm -rf {directory}/below; mkdir -m 700 {directory}/below')
    machine.container('below/below', text)
    machine._units.remove('below/below.service')
    try:
        names = ['open', 'group', 'closed', 'dropin', 'directory', 'below']
        found = modes(machine, 'keyturn-seccomp.service.d/50-keyturn-generator.conf', *(f'{name}.service' for name in names))
        assert found == ['644', '644', '640', '600', '600', '600', '600'], found
        found = modes(machine, *(f'{name}.env' for name in names))
        assert found == ['644', '640', '600', '600', '600', '600'], found
        # systemd answers everybody, and libstart's command line is for everybody to read.
        for name in ('closed', 'dropin', 'directory', 'below'):
            said = machine.run(f'{NOBODY} systemctl show {name} 2>&1; {NOBODY} systemctl cat {name} 2>&1',
                               check=False).out
            assert 'LoadState=loaded' in said and 'hunter2' not in said and 'swordfish' not in said, said
            machine.run(f'systemctl start {name}')
            assert machine.run(f'keyturnctl exec {name} sh -c "echo \\$PASSWORD"').out == 'hunter2\n'
        assert machine.run('keyturnctl exec dropin sh -c "echo \\$MORE"').out == 'swordfish\n'
        assert machine.run('stat -c %A /run/keyturn/closed/systemd-closed/config.json').out.endswith('------\n')
        seen = machine.run(f'{NOBODY} grep -lrE "hunter2|swordfish" /run /etc 2>/dev/null',
                           check=False).out.split()
        assert {os.path.basename(path) for path in seen} == \
            {'open.container', 'open.env', 'open.service', 'dropin.container', 'directory.container'}, seen
    finally:
        machine.run(f'systemctl stop below; rm -rf {directory}/below')


# ---- what reaches a terminal

EVIL = '\033]0;PWNED\a\033[2J\n<0>\u009b31m\u202e'


def test_names_from_a_store_do_not_control_the_terminal(machine):
    with machine.another() as other:
        # A list of manifests, as an image's author can make one.
        directory = other.path('/var/lib/containers/storage/overlay-images')
        with open(f'{directory}/images.json') as file:
            images = json.load(file)
        image = next(image for image in images if f'{BUSYBOX}:latest' in image.get('names', []))
        for name in os.listdir(f'{directory}/{image["id"]}'):
            os.unlink(f'{directory}/{image["id"]}/{name}')
        with open(f'{directory}/{image["id"]}/manifest', 'w') as file:
            json.dump({'manifests': [{'platform': {'os': EVIL, 'architecture': EVIL}}]}, file)
        image['big-data-digests'] = {}
        with open(f'{directory}/images.json', 'w') as file:
            json.dump(images, file)
        other.container('box', f'[Container]\nImage={BUSYBOX}\nExec=sleep 1000\n')
        other.run('systemctl start box', check=False)
        for script in ('keyturnctl images', 'keyturnctl images --json', f'/usr/lib/keyturn/libstart run {BUSYBOX} true'):
            seen = on_terminal(other, f'NO_COLOR=1 {script}', check=False).out
            assert 'PWNED' in seen, (script, seen)
            assert not any(c in seen for c in '\033\a\u009b\u202e') and '\n<0>' not in seen, (script, seen)
        entries = [json.loads(line) for line in other.journal('box', output='json').splitlines()]
        # A field that is not all text is a list of bytes in the journal's JSON.
        assert [entry for entry in entries if 'PWNED' in str(entry['MESSAGE'])], entries
        assert all(entry['PRIORITY'] != '0' and isinstance(entry['MESSAGE'], str) for entry in entries), entries


def test_control_groups_of_an_init_do_not_control_the_terminal(machine):
    """Which it names as it likes; systemd-cgtop shows a name as it is."""
    machine.write('/srv/init', '#!/bin/sh\nd=$(printf "/sys/fs/cgroup/A\\033[31mPWNED\\007")\nmkdir "$d" && (sleep 1000 & echo $! >"$d/cgroup.procs")\n'
                               'while :; do sleep 1; done\n', mode=0o755)
    start(machine, 'box', 'Volume=/srv/init:/sbin/init:ro', '/sbin/init')
    # The group is shown when it has a process.
    machine.wait_for(lambda: machine.run('cat $(find /sys/fs/cgroup/system.slice/box.service -path "*PWNED*/cgroup.procs")',
                                         check=False).out)
    for command in ('keyturnctl top box --batch --iterations=1', 'timeout 20 keyturnctl top'):
        seen = machine.run(command, check=False).out
        assert 'box.service/payload' in seen and 'PWNED' not in seen, seen
    assert 'PWNED' in machine.run('keyturnctl top box --batch --iterations=1 --depth=5').out


def test_host_name_of_a_payload_does_not_control_the_terminal(machine):
    """One that may set it sets another while a shell is there, which shows it in its prompt."""
    machine.write('/srv/rename', '#!/bin/sh\nn() { hostname "$(printf "\\033[2J\\140id\\140$1")"; }; n PWNED; echo named; '
                                 'until [ -e /data/go ]; do sleep 0.05; done; n LATER; touch /data/gone; exec sleep 1000\n', mode=0o755)
    start(machine, 'named', 'Volume=/srv/rename:/rename:ro\nNetwork=none\nAddCapability=CAP_SYS_ADMIN\n'
                            'UIDMap=0:100000:65536\nGIDMap=0:100000:65536', '/rename')
    machine.wait_for(lambda: 'named' in machine.journal('named').splitlines())
    seen = bash(machine, "keyturnctl shell named sh -c 'hostname; until [ -e /srv/data/gone ]; do sleep 0.05; done; hostname' "
                         '>/srv/data/seen & until [ -s /srv/data/seen ]; do sleep 0.05; done; touch /srv/data/go; wait; '
                         'cat /srv/data/seen').out
    assert seen == '__2J_id_PWNED\n' * 2, repr(seen)
    assert 'LATER' in machine.run('nsenter -u -t $(systemctl show -P MainPID named) hostname').out


def test_who_has_many_addresses_fills_no_terminal(machine):
    """As many as it likes, and others all the time, in a network of its own."""
    start(machine, 'box', 'Network=none\nAddCapability=NET_ADMIN')
    enter = f'nsenter --net=/proc/{machine.show("box", "MainPID")}/ns/net'
    machine.write('/srv/addresses', ''.join(f'addr add 10.0.{i // 250}.{i % 250 + 1}/8 dev many\n' for i in range(4000)))
    machine.run(f'{enter} ip link add many type bridge; {enter} ip -batch /srv/addresses')
    machine.unit('changes', f"""[Service]\nExecStart={enter} sh -c 'while :; do ip link add new type bridge; ip addr add 10.1.1.1/8 dev new; \
        ip link del new; done'\n""")
    machine.run('systemctl start changes')
    for _ in range(20):
        found = json.loads(machine.run('timeout 30 keyturnctl list --json box').out)[0]['address']
        assert found == [f'10.0.0.{i + 1}' for i in range(16)] + ['...'], found
    for command in ('list', 'inspect box', 'metrics', 'health', 'networks', 'report box'):
        done = machine.run(f'timeout 30 keyturnctl {command} | wc -c', check=False)
        assert done.status == 0 and int(done.out) < 100_000, (command, done)
    machine.run('systemctl stop changes')


def test_text_of_a_unit_does_not_control_the_terminal(machine):
    machine.container('box', f'[Unit]\nDescription=\033[2J\u009b31m\n[Container]\nImage={BUSYBOX}\nExec=sleep 1000\n'
                             'Annotation=a=\033[31m\n', reload=False)
    machine.container('bad', f'[Container]\nImage={BUSYBOX}\nPull\033[2J=never\n', reload=False)
    generator = '/usr/lib/systemd/system-generators/keyturn-generator --dry-run'
    seen = on_terminal(machine, generator, check=False).out
    assert '\\x1b[2J' in seen and '\033' not in seen and '\u009b' not in seen, seen
    # Not on a terminal, the unit is exact; what is said of it never is raw.
    result = machine.run(generator, check=False)
    assert 'Description=\033[2J' in result.out and '\033' not in result.err and '\\x1b[2J' in result.err, result


# ---- what [Service] lays upon the payload

FILTERS = """RestrictAddressFamilies=AF_UNIX AF_NETLINK
SystemCallFilter=~adjtimex clock_adjtime swapon
SystemCallErrorNumber=EUCLEAN
LockPersonality=yes
ProtectClock=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
RestrictNamespaces=cgroup ipc net mnt pid uts user
"""
# What a command may still do, as far as a shell can try it.
TRY = ('grep -E "^(Uid|Gid|Cap|NoNewPrivs|Seccomp|Seccomp_filters):" /proc/self/status; '
       'nc -w 1 127.0.0.1 9 2>&1; adjtimex 2>&1 | head -1; echo $((40 + 2))')


def test_filters_of_the_service(machine):
    """Under which the payload is, and so a command beside it: with a profile of its own or without, with systemd's drop-ins,
    and whatever the command's words are."""
    for i, (section, service) in enumerate((('', FILTERS), ('SeccompProfile=unconfined', FILTERS),
                                            ('NoNewPrivileges=true', FILTERS), ('SeccompProfile=unconfined', ''))):
        name = f'box{i}'
        machine.run(f'mkdir -m 1777 -p /srv/{name}; rm -f /srv/{name}/*')
        machine.write(f'/etc/test-try/{name}', TRY)
        machine.container(name, f"""
[Container]
Image={BUSYBOX}
Volume=/srv/{name}:/data
Volume=/etc/test-try/{name}:/try
Tmpfs=/tmp
Exec=sh -c 'sh /try >/data/payload 2>&1; touch /data/done; sleep 1000'
{section}

[Service]
KillSignal=SIGKILL
{service}""")
        if not service:  # an administrator's own
            machine.write(f'/etc/systemd/system/{name}.service.d/50-test.conf', '[Service]\n' + FILTERS)
            machine.reload()
        machine.run(f'systemctl start {name}')
        machine.wait_for(lambda name=name: machine.run(f'ls /srv/{name}/done', check=False).status == 0)
        payload, beside = machine.read(f'/srv/{name}/payload'), machine.run(f'keyturnctl exec {name} sh /try').out
        assert 'Address family not supported' in payload and 'Structure needs cleaning' in payload, payload
        assert beside == payload, (section, service, payload, beside)
        assert on_terminal(machine, f'keyturnctl exec -t {name} sh /try').out == payload


def test_a_command_under_filters_is_as_any_other(machine):
    """Though systemd has started it: its words, streams and exit status, and its end with its caller."""
    start(machine, 'box', '\n[Service]\n' + FILTERS)
    result = machine.run(['keyturnctl', 'exec', '-e', 'A=$HOME ${B}', '-u', '1234', '-w', '/tmp', 'box', 'sh', '-c',
                          'cat; echo "$A" "$1" $(id -u) $PWD; echo err >&2; exit 7', 'sh', '%n $$ ${X} a  b'],
                         input='in\n', check=False)
    assert (result.status, result.out, result.err) == (7, 'in\n$HOME ${B} %n $$ ${X} a  b 1234 /tmp\n', 'err\n'), result
    bash(machine, 'keyturnctl exec box sleep 4444 & until pgrep -x -f "sleep 4444" >/dev/null; do sleep 0.1; done; kill -9 $!')
    machine.wait_for(lambda: machine.run('pgrep -x -f "sleep 4444"', check=False).status != 0)
    machine.wait_for(lambda: 'run-' not in machine.run('systemctl list-units --all --plain "run-*.service"').out)
