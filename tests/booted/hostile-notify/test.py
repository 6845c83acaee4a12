# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a payload with Notify=true must not be able to say to systemd, and what it must.

The payload is root with the default capabilities. It speaks through speak.c.
"""

import os
import re
import time

from machine import build



def speaker(machine, name, *words, container='', service=''):
    """A container that says these words, one after the other."""
    machine.build('hostile-notify/speak.c', '/usr/local/bin/speak')
    machine.write(f'/srv/words/{name}', '\n'.join(map(str, words)) + '\n')
    machine.container(name, f'''
        [Unit]
        StartLimitIntervalSec=0

        [Container]
        Image=localhost/test/busybox
        Notify=true
        Volume=/usr/local/bin/speak:/speak:ro
        Volume=/srv/words/{name}:/words:ro
        Volume=/srv/go/{name}:/go:ro
        Exec=/speak /words
        {container}

        [Service]
        {service}
    ''', reload=False)
    machine.run(f'rm -rf /srv/go/{name} && mkdir -p /srv/go/{name} && systemctl daemon-reload')


def go(machine, name, what='on'):
    machine.run(f'touch /srv/go/{name}/{what}')


def start(machine, name, *words, **more):
    speaker(machine, name, *words, **more)
    machine.run(f'systemctl start {name}')


def said(machine, unit):
    return machine.journal(unit).splitlines()


KILLED = 'StopSignal=SIGKILL'


# ---- what a payload may do

def test_what_a_start_waits_for_is_its_status(machine):
    """Also when its time is over; a payload that is ready has no status, or its own."""
    speaker(machine, 'mute', 'forever', container=KILLED, service='TimeoutStartSec=4')
    machine.run('systemctl start mute', check=False)
    assert machine.ended('mute')[0] == 'timeout'
    assert 'Waits for READY=1 of the payload' in machine.run('systemctl status mute', check=False).out
    speaker(machine, 'slow', 'wait', '/go/on', 'say', 'READY=1', 'forever', container=KILLED)
    machine.run('systemctl start --no-block slow')
    machine.wait_for(lambda: 'Waits for READY=1' in machine.show('slow', 'StatusText'))
    go(machine, 'slow')
    machine.wait_for(lambda: machine.show('slow', 'ActiveState') == 'active')
    assert machine.show('slow', 'StatusText') == ''
    start(machine, 'speaks', 'say', 'STATUS=loading', 'say', 'READY=1', 'forever', container=KILLED)
    assert machine.show('speaks', 'StatusText') == 'loading'



def test_signals_while_it_starts_are_no_end(machine):
    """libstart traces it until systemd knows it, and sees each of its signals."""
    speaker(machine, 'parent', 'children', '300', 'say', 'READY=1\\nSTATUS=ready', 'forever', container=KILLED,
            service='TimeoutStartSec=20')
    for _ in range(10):
        machine.run('systemctl start parent')
        assert machine.show('parent', 'StatusText') == 'ready'
        machine.run('systemctl stop parent; systemctl reset-failed parent', check=False)


# ---- attacks on others


def test_other_process_is_not_killed(machine):
    """MAINPID= of a process of the host, then WATCHDOG=trigger: systemd would kill that one."""
    machine.unit('victim', '[Service]\nExecStart=/bin/sleep 1000\n')
    machine.run('systemctl start victim')
    victim = machine.show('victim', 'MainPID')
    start(machine, 'hostile', 'say', f'READY=1\\nMAINPID={victim}', 'say', f'MAINPID={victim}', 'say', 'WATCHDOG=trigger',
          'forever', container=KILLED, service='TimeoutAbortSec=1')
    assert machine.ended('hostile')[0] == 'watchdog'
    assert machine.show('victim', 'ActiveState', 'MainPID') == {'ActiveState': 'active', 'MainPID': victim}
    assert 'hostile.service (process ' in machine.journal('keyturn-relay'), 'and nobody is told why'


def test_main_process_stays(machine):
    """However it is said, and whoever it is: a process of the host, of the payload's, none."""
    start(machine, 'hostile', 'say', 'READY=1\\nMAINPIDFD=1', 'fds', '1', 'MAINPIDFD=1', 'say', 'NOTIFYACCESS=none',
          'say', 'MAINPID=1', 'say', 'MAINPIDFDID=1\\nMAINPID=2', 'say', 'STATUS=x\\rMAINPID=1', 'say', '\\rMAINPID=1\\r',
          'say', 'STATUS=all said\\nMAINPID=1', 'forever', container=KILLED)
    machine.wait_for(lambda: machine.show('hostile', 'StatusText') == 'all said')
    pid = machine.show('hostile', 'MainPID')
    assert machine.read(f'/proc/{pid}/cmdline').startswith('/speak\0')
    assert machine.show('hostile', 'NotifyAccess') == 'main'


def test_stop_cannot_be_held(machine):
    start(machine, 'hostile', 'on-term', 'EXTEND_TIMEOUT_USEC=60000000', 'say', 'READY=1', 'sleep', '10000', 'forever',
          container='StopTimeout=1')
    began = time.monotonic()
    machine.run('systemctl stop hostile')
    took = time.monotonic() - began
    assert machine.show('hostile', 'Result') == 'timeout'
    # The same payload, which holds nothing.
    start(machine, 'plain', 'on-term', 'STATUS=going', 'say', 'READY=1', 'forever', container='StopTimeout=1')
    began = time.monotonic()
    machine.run('systemctl stop plain')
    assert took < 5 * (time.monotonic() - began), took


def test_start_cannot_be_held(machine):
    words = [word for i in range(20) for word in ('say', 'EXTEND_TIMEOUT_USEC=60000000', 'sleep', '200')]
    speaker(machine, 'hostile', *words, 'say', 'READY=1', 'forever', container=KILLED, service='TimeoutStartSec=1')
    assert machine.run('systemctl start hostile', check=False).status != 0
    assert machine.show('hostile', 'Result') == 'timeout'


EARLY = """
[Container]
Image=localhost/test/busybox
Network=none
Notify=true
LogDriver={driver}
Volume=/usr/local/bin/speak:/speak:ro
Volume=/etc/{name}.words:/words:ro
Exec=/speak /words
StopSignal=SIGKILL

[Service]
TimeoutStartSec={seconds}

[Keyturn]
Early=yes
"""


def test_boot_cannot_be_held(machine):
    """Early=yes: basic.target waits for it. One says when it is ready, the other asks for more time, again and again."""
    words = {'early': ['say', 'READY=1\\nSTATUS=there', 'forever'],
             'holder': ['say', 'EXTEND_TIMEOUT_USEC=60000000', 'sleep', '500'] * 16 + ['say', 'READY=1', 'forever']}

    def prepare(root):
        build('hostile-notify/speak.c', f'{root}/usr/local/bin/speak')
        os.makedirs(f'{root}/etc/containers/systemd', exist_ok=True)
        for name, said_words in words.items():
            with open(f'{root}/etc/{name}.words', 'w') as file:
                file.write('\n'.join(said_words) + '\n')
            with open(f'{root}/etc/containers/systemd/{name}.container', 'w') as file:
                driver, seconds = ('none', 30) if name == 'early' else ('journald', 2)
                file.write(EARLY.format(name=name, driver=driver, seconds=seconds))
    with machine.another(prepare) as booted:
        assert booted.show('holder', 'Result') == 'timeout'
        assert booted.show('early', 'ActiveState', 'StatusText') == {'ActiveState': 'active', 'StatusText': 'there'}
        ready, basic = (int(booted.show(unit, 'ActiveEnterTimestampMonotonic')) for unit in ('early', 'basic.target'))
        assert 0 < ready < basic
        assert 'ordering cycle' not in booted.run(['journalctl', '--boot', '--output=cat']).out


def test_descriptors_are_not_stored(machine):
    start(machine, 'hostile', 'fds', '1', 'FDSTORE=1\\nFDNAME=mine', 'fds', '253', 'FDSTORE=1\\nFDPOLL=0', 'fds', '1', 'FDSTORE=1',
          'say', 'READY=1\\nFDSTOREREMOVE=1\\nFDNAME=mine', 'forever', container=KILLED, service='FileDescriptorStoreMax=1000')
    assert machine.show('hostile', 'NFileDescriptorStore') == '0'


def test_flood_reaches_systemd_in_drops(machine):
    """Two seconds of it. Without a bound systemd handles tens of thousands of messages, and nothing else."""
    start(machine, 'hostile', 'say', 'READY=1', 'flood', '2', 'STATUS=flood', 'say', 'STATUS=over', 'forever', container=KILLED)
    lines = machine.wait_for(lambda: [line for line in said(machine, 'hostile') if line.startswith('flood of ')], 30)
    assert int(lines[0].split()[2]) < 1500, lines
    machine.wait_for(lambda: machine.show('hostile', 'StatusText') == 'over', 30)


def test_floods_do_not_stop_others(machine):
    """Four floods, of what is passed on, and refused, and said by none; another container comes and goes meanwhile."""
    speaker(machine, 'other', 'say', 'READY=1\\nSTATUS=there', 'forever', container=KILLED)
    floods = ('STATUS=flood', 'MAINPID=1', 'RELOADING=1\\nMONOTONIC_USEC=1', 'STATUS=\\xff\\xff\\e[2J')
    for i, text in enumerate(floods):
        speaker(machine, f'flood{i}', 'say', 'READY=1', 'wait', '/go/on', 'flood', '40', text, 'forever', container=KILLED)
        machine.run(f'systemctl start flood{i}')

    def rounds():
        times = []
        for _ in range(7):
            began = time.monotonic()
            machine.run('systemctl start other', timeout=30)
            assert machine.show('other', 'StatusText') == 'there'
            machine.run('systemctl stop other')
            times.append(time.monotonic() - began)
        return sorted(times)[3]
    rounds()
    before = rounds()
    for i in range(len(floods)):
        go(machine, f'flood{i}')
    machine.run('sleep 1.5')  # by now they have said what they may say at once
    during = rounds()
    print(f'# a start and a stop of another took {during / before:.2f} times as long')
    assert during < 4 * before, (during, before)


def test_descriptors_stall_nobody(machine):
    """The last close of a connection may wait for minutes: not the relay's, not for others."""
    start(machine, 'other', 'say', 'READY=1', 'wait', '/go/on', 'say', 'STATUS=awake', 'print', 'and heard', 'forever',
          container=KILLED)
    start(machine, 'hostile', 'say', 'READY=1', 'linger', 'STATUS=one', 'fds', '253', 'STATUS=two', 'linger', 'MAINPID=1',
          'linger', 'BARRIER=1', 'say', 'STATUS=three', 'forever', container=KILLED)
    go(machine, 'other')
    machine.wait_for(lambda: machine.show('other', 'StatusText') == 'awake')
    machine.wait_for(lambda: 'and heard' in said(machine, 'other'))
    machine.wait_for(lambda: machine.show('hostile', 'StatusText') == 'three', 60)


def relay(machine):
    return machine.show('keyturn-relay', 'MainPID')


def n_descriptors(machine):
    return len(os.listdir(machine.path(f'/proc/{relay(machine)}/fd')))


def n_stored(machine):
    out = machine.run(f'cat /proc/{relay(machine)}/fdinfo/*').out
    return sum(int(n) for n in re.findall(r'^scm_fds:\s*(\d+)', out, re.M))


def test_nothing_is_left_of_descriptors(machine):
    start(machine, 'quiet', 'say', 'READY=1', 'forever', container=KILLED)
    machine.run('systemctl stop quiet')
    machine.wait_for(lambda: relay(machine) != '0')
    before = machine.settled(lambda: (n_descriptors(machine), n_stored(machine)))
    for _ in range(5):
        start(machine, 'hostile', 'say', 'READY=1', 'fds', '253', 'STATUS=one', 'fds', '253', 'MAINPID=1', 'count', 1, 300,
              'forever', container=KILLED)
        machine.run('systemctl stop hostile')
    machine.wait_for(lambda: (n_descriptors(machine), n_stored(machine)) == before)
    machine.wait_for(lambda: len(machine.run('pgrep -P ' + relay(machine), check=False).out.split()) <= 1)  # what moves lines


def test_malformed_messages(machine):
    huge = '=' * 3000
    start(machine, 'hostile', 'say', 'READY=1', 'bytes', 4097, 'bytes', 200000, 'say', 'STATUS=a\\0MAINPID=1', 'say', '\\n\\n=\\n',
          'say', huge, 'say', 'ERRNO=99999999999999999999\\nBUSERROR=a b\\e\\nERRNO=-1', 'say', 'READY\\n=READY=1\\nSTATUS',
          'say', 'WATCHDOG=2\\nWATCHDOG_USEC=x', 'say', 'MONOTONIC_USEC=1\\0', 'say', '\\xff\\xfe', 'wait', '/go/on',
          'say', 'STATUS=\\e[31mred\\xff\\e]0;title\\r', 'forever', container=KILLED)
    go(machine, 'hostile')
    machine.wait_for(lambda: 'red' in machine.show('hostile', 'StatusText'))
    shown = machine.run('systemctl show -p StatusText,StatusErrno,StatusBusError hostile').out
    assert '\033' not in shown and '\\x1b' not in shown and '\\e' not in shown, shown
    assert 'red' in machine.run('systemctl status hostile').out
    assert '\033' not in machine.run('systemctl status hostile').out
    assert machine.show('hostile', 'StatusErrno') == '0'
    # What is longer than systemd takes is dropped as a whole.
    assert 'aaaa' not in machine.run('systemctl show hostile').out


def test_no_other_way_to_systemd(machine):
    """Neither systemd's socket nor the relay's is in there; nor can the own one be taken away or changed on the host."""
    start(machine, 'hostile', 'say', 'READY=1', 'to', '/run/systemd/notify', 'MAINPID=1', 'to', '/run/keyturn/relay', 'x',
          'to', '/proc/1/root/run/systemd/notify', 'STATUS=root', 'to', '@/org/freedesktop/systemd1/notify', 'x', 'forever',
          container=KILLED + '\n        Network=host')
    machine.wait_for(lambda: sum(line.startswith('cannot send to ') for line in said(machine, 'hostile')) == 4)
    assert machine.show('hostile', 'StatusText') == ''

    def inside(command):
        return machine.run(['keyturnctl', 'exec', 'hostile', 'sh', '-c', command + ' 2>&1'], check=False)
    socket = '/run/notify/notify.sock'
    names = machine.run('find /run/keyturn/hostile /run/systemd -type s -printf "%p %m %u %c\\n"').out
    for command in (f'rm {socket}', f'mv {socket} /run/notify/x', f'chmod 0 {socket}', f'chown 1 {socket}', f'touch {socket}',
                    f'ln {socket} /run/notify/y', f'umount {socket}'):
        assert inside(command).status != 0, command
    # A directory of its own can be moved, with what is mounted there; the host's stays.
    inside('mv /run/notify /run/elsewhere')
    assert machine.run('find /run/keyturn/hostile /run/systemd -type s -printf "%p %m %u %c\\n"').out == names


def test_relay_is_required(machine):
    """Without it there is no way that is as safe: the start fails, and says why."""
    with machine.another() as other:
        speaker(other, 'hostile', 'say', 'READY=1', 'forever', container=KILLED)
        other.run('systemctl mask --runtime keyturn-relay.socket keyturn-relay.service; '
                  'rm /run/keyturn/relay; systemctl daemon-reload')
        assert other.run('systemctl start hostile', check=False).status != 0
        assert other.show('hostile', 'Result', 'ExecMainStatus') == {'Result': 'exit-code', 'ExecMainStatus': '125'}
        assert 'keyturn-relay.socket' in other.journal('hostile'), other.journal('hostile')
        # Who does not speak to systemd needs none.
        other.container('plain', '[Container]\nImage=localhost/test/busybox\nExec=sleep 1000\nStopSignal=SIGKILL\n')
        other.run('systemctl start plain')


# ---- what must work


def test_all_that_may_be_said(machine):
    speaker(
        machine, 'honest', 'connect', 'STATUS=connected', 'wait', '/go/1', 'as', 1234, 'STATUS=as somebody', 'wait', '/go/2', 'say',
        'READY=1\\nSTATUS=ready — ü\\nERRNO=5\\nBUSERROR=org.example.Error\\n', 'wait', '/go/3', 'say',
        'RELOADING=1\\nMONOTONIC_USEC=0\\nSTATUS=again', 'wait', '/go/4', 'say', 'READY=1\\nSTATUS=', 'wait', '/go/5',
        'say', 'STOPPING=1\\nSTATUS=bye', 'wait', '/go/6', 'exit', 3, container=KILLED)
    machine.run('systemctl start --no-block honest')

    def reached(state, status):
        machine.wait_for(lambda: machine.show('honest', 'ActiveState', 'StatusText') ==
                         {'ActiveState': state, 'StatusText': status})
    reached('activating', 'connected')
    for number, state, status in ((1, 'activating', 'as somebody'), (2, 'active', 'ready — ü'), (3, 'reloading', 'again'),
                                  (4, 'active', ''), (5, 'deactivating', 'bye')):
        go(machine, 'honest', number)
        reached(state, status)
    assert machine.show('honest', 'StatusErrno') == '5'
    go(machine, 'honest', 6)
    assert machine.ended('honest')[0] == 'exit-code'
    assert machine.show('honest', 'ExecMainStatus') == '3'


def test_readiness_of_a_short_lived_child(machine):
    """It is gone when systemd looks for it: natively its message is nobody's, and lost. As many as keep systemd busy."""
    for i in range(10):
        start(machine, 'brief', 'count', 1, 40, 'child', 'READY=1', 'forever', container=KILLED, service='TimeoutStartSec=20')
        machine.run('systemctl stop brief')


def test_payload_that_is_ready_and_done_at_once(machine):
    """Its readiness comes before its end, and both are seen: at once, a little later, and after a barrier."""
    lost = []
    for words, rounds in ((('say', 'READY=1', 'exit', 3), 20), (('sleep', 20, 'say', 'READY=1', 'exit', 3), 40),
                          (('sleep', 20, 'say', 'READY=1', 'barrier', 'exit', 3), 10)):
        speaker(machine, 'quick', *words)
        failed = 0
        for _ in range(rounds):
            failed += machine.run('systemctl start quick', check=False).status != 0
            assert machine.ended('quick')[0] == 'exit-code'
            assert machine.show('quick', 'ExecMainStatus') == '3'
            machine.run('systemctl reset-failed quick')
        lost.append(failed)
    # Between two processes that are woken at nearly the same time only a barrier decides for certain.
    assert lost[0] <= 1 and lost[1] <= 1 and lost[2] == 0, lost


def test_barrier(machine):
    start(machine, 'honest', 'say', 'READY=1', 'barrier', 'count', 1, 200, 'barrier', 'print', 'all said', 'forever', container=KILLED)
    machine.wait_for(lambda: 'all said' in said(machine, 'honest'), 20)
    assert machine.show('honest', 'StatusText') == '200'
    assert [line for line in said(machine, 'honest') if line.startswith('barrier')] == ['barrier passed'] * 2


def test_relay_killed_loses_no_message(machine):
    """While messages wait for it, and while it passes them on."""
    machine.run('systemctl log-level debug')
    try:
        for i in range(8):
            begin = i * 1000 + 1
            start(machine, 'honest', 'say', 'READY=1', 'wait', '/go/on', 'count', begin, begin + 99, 'forever', container=KILLED)
            if i % 2:
                machine.run(f'kill -STOP {relay(machine)}')
            go(machine, 'honest')
            machine.run(f'sleep 0.0{i}; kill -KILL {relay(machine)}')
            machine.wait_for(lambda: machine.show('honest', 'StatusText') == str(begin + 99), 20)
            heard = [int(n) for n in re.findall(r'Got notification message .*STATUS=(\d+)', machine.journal())]
            # Said again after a kill, never out of order, none missing.
            heard = [n for n in heard if n >= begin]
            assert sorted(set(heard)) == list(range(begin, begin + 100)), heard
            assert heard == sorted(heard), heard
            machine.run('systemctl stop honest')
    finally:
        machine.run('systemctl log-level info')


def test_restart_and_watchdog(machine):
    start(machine, 'phoenix', 'say', 'READY=1\\nWATCHDOG=1', 'sleep', '100', 'exit', 5, service='Restart=always\nRestartSec=0')
    machine.wait_for(lambda: int(machine.show('phoenix', 'NRestarts')) >= 5, 30)
    machine.run('systemctl stop phoenix')
    start(machine, 'dog', 'say', 'READY=1\\nWATCHDOG_USEC=300000', 'sleep', '100', 'say', 'WATCHDOG=1', 'forever',
          container=KILLED, service='WatchdogSec=600\n        TimeoutAbortSec=1')
    assert machine.ended('dog')[0] == 'watchdog'


def test_reload_that_is_answered(machine):
    """Type=notify-reload, of systemd 253 and later, in a drop-in: the reload lasts until the payload says so."""
    if machine.systemd_version < 253:
        machine.unit('heeding.service.d/reload.conf', '[Service]\nExecReload=/bin/true\n')
    else:
        machine.unit('heeding.service.d/reload.conf', '[Service]\nType=notify-reload\nReloadSignal=USR1\n')
    speaker(machine, 'heeding', 'on-usr1', 'say', 'READY=1', 'forever', container=KILLED)
    machine.run('systemctl start heeding')
    machine.run('systemctl reload heeding', timeout=30)
    assert machine.show('heeding', 'ActiveState') == 'active'
    if machine.systemd_version >= 253:
        assert machine.show('heeding', 'StatusText') == 'reloaded'


def test_no_pipes_and_early(machine):
    """The relay's socket is there for it whatever becomes of its output, and before basic.target."""
    for driver in ('none', 'passthrough'):
        start(machine, 'silent', 'say', 'READY=1\\nSTATUS=ready', 'forever', container=f'{KILLED}\n        LogDriver={driver}')
        assert machine.show('silent', 'StatusText') == 'ready'
        wanted = machine.show('silent', 'Wants', 'After')
        assert 'keyturn-relay.socket' in wanted['Wants'] and 'keyturn-relay.socket' in wanted['After'], wanted
        machine.run('systemctl stop silent')


def test_a_long_name(machine):
    """Longer than a socket's name can be."""
    name = 'long-' + 'x' * 180
    start(machine, name, 'say', 'READY=1\\nSTATUS=ready', 'forever', container=KILLED)
    assert machine.show(name, 'StatusText') == 'ready'


def test_nothing_is_left(machine):
    speaker(machine, 'one', 'say', 'READY=1', 'forever', container=KILLED)
    machine.run('systemctl start one; systemctl stop one')

    def find():
        return machine.footprint() | {'descriptors': n_descriptors(machine), 'stored': n_stored(machine)}

    before = machine.settled(find)
    for _ in range(20):
        machine.run('systemctl start one; systemctl stop one')
    machine.is_as(before, find)
