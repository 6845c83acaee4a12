# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a payload does to its standard streams hurts nobody else: not the log of others, not the host's files."""

import json
import os
import re
import time

RELAY = 'keyturn-relay.service'


def hostile(machine, name, attack, extra='', service=''):
    """A container with Podman's default rights that runs an attack of hostile.c."""
    machine.build('hostile-logs/hostile.c', '/usr/local/bin/hostile', '-static', '-pthread')
    machine.container(name, f'''
        [Container]
        Image=localhost/test/busybox
        Volume=/usr/local/bin/hostile:/hostile:ro
        Exec=/hostile {attack}
        StopSignal=SIGKILL
        {extra}

        [Service]
        {service}
    ''')


def entries(machine, unit):
    found = machine.run(f'journalctl --quiet --no-pager --all --output=json --identifier={unit} '
                        f'_SYSTEMD_UNIT={unit}.service').out
    return [json.loads(line) for line in found.splitlines()]


def messages(machine, unit):
    return [entry['MESSAGE'] for entry in entries(machine, unit)]


def relay_pid(machine):
    return machine.show(RELAY, 'MainPID')


def check_that_others_go_on(machine, name):
    """All of another container's lines come through, with nothing of anybody else's in between."""
    machine.container(name, '''
        [Container]
        Image=localhost/test/busybox
        Exec=sh -c "i=0; while [ $$i -lt 100 ]; do i=$$((i + 1)); echo number $$i; sleep 0.02; done; echo all; sleep 1000"
        StopSignal=SIGKILL
    ''')
    machine.run(f'systemctl start {name}')
    machine.wait_for(lambda: 'all' in messages(machine, name), 60)
    assert messages(machine, name) == [f'number {i}' for i in range(1, 101)] + ['all']


def attack_others(machine, attack):
    # Its own lines would only fill the journal; what they cost journald is the same.
    hostile(machine, attack, attack, service='LogRateLimitIntervalSec=1s\n        LogRateLimitBurst=100')
    machine.run(f'systemctl start {attack}')
    relay = relay_pid(machine)
    time.sleep(1)
    check_that_others_go_on(machine, f'beside-{attack}')
    assert machine.show(attack, 'ActiveState') == 'active'
    assert relay_pid(machine) == relay
    machine.run(f'systemctl stop {attack}')


def test_payload_reads_its_own_output(machine):
    """The relay waited for what the payload had taken away, and with it all other containers."""
    machine.run('rm -rf /srv/thief; mkdir /srv/thief')
    hostile(machine, 'thief', 'steal /shared/over', 'Volume=/srv/thief:/shared')
    machine.run('systemctl start thief')
    machine.wait_for(lambda: os.path.exists(machine.path('/srv/thief/over')), 60)
    check_that_others_go_on(machine, 'beside-thief')


def test_payload_writes_packets_and_changes_the_pipes_size(machine):
    attack_others(machine, 'packets')


def test_payload_writes_pages_that_change(machine):
    attack_others(machine, 'pages')


def test_payload_floods(machine):
    attack_others(machine, 'flood')


def wait_until_held(machine):
    """Some process or thread of the relay's waits in the kernel, and goes on doing so."""
    def is_held():
        for _ in range(5):
            if 'D' not in machine.run('ps -L -o stat= -C keyturn-relay', check=False).out:
                return False
            time.sleep(0.1)
        return True
    machine.wait_for(is_held, 120)


def check_that_lines_arrive(machine, unit):
    """Within a time in which the attacker does not let go."""
    before = len(messages(machine, unit))
    machine.wait_for(lambda: len(messages(machine, unit)) > before + 10, 12)


def test_payload_holds_the_lock_of_its_pipe(machine):
    """It is the kernel's, and nobody can ask for it without waiting: the relay sat there, and could not even be killed."""
    machine.unit(f'{RELAY}.d/stop.conf', '[Unit]\nRefuseManualStop=no\n')
    machine.container('ticker', '''
        [Container]
        Image=localhost/test/busybox
        Exec=sh -c "while :; do echo tick; sleep 0.1; done"
        StopSignal=SIGKILL
    ''')
    hostile(machine, 'told', 'ready', 'Notify=true')
    # The machine is to go on, which makes the lock no freer: all who keep it from its holder are in one control group.
    hostile(machine, 'holder', 'hold', service='CPUWeight=1\n        LogRateLimitIntervalSec=1s\n        LogRateLimitBurst=100')
    machine.run('systemctl start ticker holder')

    wait_until_held(machine)
    check_that_lines_arrive(machine, 'ticker')
    machine.run('systemctl start told', timeout=12)

    wait_until_held(machine)
    before = relay_pid(machine)
    machine.run(['kill', '-KILL', before])
    machine.wait_for(lambda: relay_pid(machine) not in ('0', before), 12)
    check_that_lines_arrive(machine, 'ticker')

    wait_until_held(machine)
    machine.run(f'systemctl restart {RELAY}', timeout=12)
    machine.run('systemctl restart ticker')
    check_that_lines_arrive(machine, 'ticker')

    machine.run('systemctl restart holder')
    wait_until_held(machine)
    machine.run(f'systemctl stop {RELAY}', timeout=10)
    machine.run('systemctl stop holder ticker told')


def test_payload_gives_its_pipe_to_another_user(machine):
    hostile(machine, 'pretender', 'chown-pipe')
    machine.run('systemctl start pretender')
    found = machine.wait_for(lambda: entries(machine, 'pretender'))
    assert [(entry['_UID'], entry['_GID']) for entry in found] == [('0', '0')], found


def test_users_are_known_all_the_same(machine):
    hostile(machine, 'user', 'chown-pipe', 'User=1234:5678')
    machine.run('systemctl start user')
    found = machine.wait_for(lambda: entries(machine, 'user'))
    assert [(entry['_UID'], entry['_GID']) for entry in found] == [('1234', '5678')], found


def test_no_emergencies(machine):
    """They would be written to the terminals of all users."""
    hostile(machine, 'alarm', 'emergency')
    machine.run('systemctl start alarm')
    machine.wait_for(lambda: 'done' in messages(machine, 'alarm'))
    found = {entry['MESSAGE'][:20]: entry['PRIORITY'] for entry in entries(machine, 'alarm')}
    assert '0' not in found.values(), found
    for text in ('plain', 'two digits', 'three digits', 'after a NUL'):
        assert found[text] == '1', found
    assert found['done'] == '7', found


def children(machine):
    """The states of the relay's: its workers (S, D), and process ids that are kept (Z)."""
    return machine.run(['ps', '--ppid', relay_pid(machine), '-o', 'stat='], check=False).out


def stored(machine):
    found = machine.run(f'cat /proc/{relay_pid(machine)}/fdinfo/*', check=False).out
    return sum(map(int, re.findall(r'scm_fds:\s*(\d+)', found)))


def test_pipes_that_outlive_their_payload(machine):
    """Another container keeps them open. Each would cost the relay a process, descriptors and memory for good."""
    machine.run('rm -rf /srv/shared; mkdir /srv/shared')
    hostile(machine, 'keeper', 'keep /shared/socket', 'Volume=/srv/shared:/shared')
    hostile(machine, 'giver', 'give /shared/socket', 'Volume=/srv/shared:/shared')
    machine.run('systemctl start keeper')
    machine.wait_for(lambda: os.path.exists(machine.path('/srv/shared/socket')))
    before = machine.settled(lambda: stored(machine))
    for i in range(1, 6):
        machine.run('systemctl start giver', check=False)
        machine.wait_for(lambda: messages(machine, 'keeper').count('kept') == i)
        machine.wait_for(lambda: machine.show('giver', 'ActiveState') == 'failed')
        assert machine.show('giver', 'ExecMainStatus') == '3'
    machine.wait_for(lambda: messages(machine, 'giver').count('giving') == 5)
    machine.wait_for(lambda: 'Z' not in children(machine) and stored(machine) == before)


def test_watchdog(machine):
    """Should anything stop the relay all the same, it is not for long, and nothing is lost."""
    machine.unit(f'{RELAY}.d/watchdog.conf', '[Service]\nWatchdogSec=5s\nLimitCORE=0\n')
    machine.container('talker', '''
        [Container]
        Image=localhost/test/busybox
        Exec=sh -c "i=0; while :; do i=$$((i + 1)); echo number $$i; sleep 0.05; done"
        StopSignal=SIGKILL
    ''')
    machine.run('systemctl start talker')
    before = relay_pid(machine)
    machine.run(['kill', '-KILL', before])
    relay = machine.wait_for(lambda: relay_pid(machine) not in ('0', before) and relay_pid(machine))
    # It is told often enough while there is something to do, and while there is nothing.
    time.sleep(6)
    machine.run(['kill', '-STOP', machine.show('talker', 'MainPID')])
    time.sleep(8)
    assert relay_pid(machine) == relay
    machine.run(['kill', '-CONT', machine.show('talker', 'MainPID')])

    machine.run(['kill', '-STOP', relay])
    machine.wait_for(lambda: relay_pid(machine) not in ('0', relay), 30)
    last = len(messages(machine, 'talker'))
    machine.wait_for(lambda: len(messages(machine, 'talker')) > last + 20)
    found = messages(machine, 'talker')
    assert list(dict.fromkeys(found)) == [f'number {i}' for i in range(1, len(set(found)) + 1)]
    machine.run('systemctl stop talker')
    # As it is for the tests that follow.
    machine.tidy()
    relay = relay_pid(machine)
    machine.run(['systemctl', 'kill', '--signal=KILL', RELAY])
    machine.wait_for(lambda: relay_pid(machine) not in ('0', relay))


def test_watchdog_is_on_as_it_is_shipped(machine):
    hostile(machine, 'any', 'chown-pipe')
    machine.run('systemctl start any')
    assert machine.show(RELAY, 'WatchdogUSec') == '3min'


#
# The host's files and terminals
#

def look(machine, path):
    return machine.run(['stat', '--format=%u:%g %a', path]).out.strip()


def check_file(machine, unit, path, was, content):
    """It has what the payload wrote, and nothing else has changed."""
    machine.wait_for(lambda: machine.read(path) == content)
    assert look(machine, path) == was
    assert machine.read(path) == content


def test_output_to_a_file(machine):
    for driver in ('', 'LogDriver=passthrough'):
        for user in ('', 'User=1234:5678'):
            for how, content in (('file', 'hello\nf the host\n'), ('append', 'of the host\nhello\n'), ('truncate', 'hello\n')):
                machine.write('/run/log-of-host', 'of the host\n', mode=0o640)
                was = look(machine, '/run/log-of-host')
                hostile(machine, 'filed', 'streams 1', f'{driver}\n        {user}',
                        f'StandardOutput={how}:/run/log-of-host\n        StandardError=journal')
                machine.run('systemctl start filed', check=False)
                machine.ended('filed')
                if how == 'file':
                    content = 'hello\n' + 'of the host\n'[6:]
                check_file(machine, 'filed', '/run/log-of-host', was, content)
                machine.tidy()


def test_error_to_a_file(machine):
    machine.write('/run/log-of-host', '', mode=0o600)
    hostile(machine, 'filed', 'streams 2', '', 'StandardError=append:/run/log-of-host')
    machine.run('systemctl start filed', check=False)
    machine.ended('filed')
    check_file(machine, 'filed', '/run/log-of-host', '0:0 600', '2: no terminal\n')
    machine.wait_for(lambda: 'hello' in messages(machine, 'filed'))


def test_a_file_of_its_own(machine):
    """LogOpt=path=: root's file, which the payload does not get; the journal has only what is said of the start."""
    machine.run('rm -rf /run/logs; mkdir /run/logs')
    for i in range(1, 3):
        hostile(machine, 'own-file', 'streams 1 2', 'LogDriver=k8s-file\n        LogOpt=path=/run/logs/%N.log', 'Type=oneshot')
        machine.run('systemctl start own-file')
        machine.wait_for(lambda i=i: machine.read('/run/logs/own-file.log') == i * 'hello\n1: no terminal\n2: no terminal\n')
        assert look(machine, '/run/logs/own-file.log') == '0:0 600'
    machine.sync_journal()
    assert 'hello' not in messages(machine, 'own-file')
    machine.container('talks', '''
        [Container]
        Image=localhost/test/busybox
        Exec=sh -c "echo out; echo err >&2; exec sleep 1000"
        StopSignal=SIGKILL
        LogDriver=json-file
        LogOpt=path=/run/logs/talks
    ''')
    machine.run('systemctl start talks')
    machine.wait_for(lambda: machine.read('/run/logs/talks') == 'out\nerr\n')
    machine.run('systemctl stop talks; rm -r /run/logs')
    assert machine.run('systemctl start talks', check=False).status != 0
    wait_for_reason(machine, "The log file '/run/logs/talks': ")


def start_filed(machine, path, status):
    machine.container('filed', f'''
        [Unit]
        StartLimitIntervalSec=0

        [Container]
        Image=localhost/test/busybox
        Exec=echo written
        LogDriver=k8s-file
        LogOpt=path={path}

        [Service]
        Type=oneshot
    ''')
    machine.mark()
    machine.run('systemctl start filed', check=False, timeout=30)
    assert machine.show('filed', 'ExecMainStatus') == str(status), path


def test_a_file_that_is_something_else(machine):
    """What another payload can write to, leads nowhere."""
    machine.run('rm -rf /run/logs /run/volume /run/away; mkdir -p /run/logs /run/volume/real /run/away')
    machine.write('/run/of-host', 'kept\n', mode=0o600)
    machine.container('other', '[Container]\nImage=localhost/test/busybox\nVolume=/run/volume:/x\nExec=true\n')
    places = {
        '/run/logs/link': 'ln -s /run/of-host /run/logs/link',
        '/run/logs/new': 'ln -s /run/away/made /run/logs/new',
        '/run/logs/fifo': 'mkfifo /run/logs/fifo',
        '/run/logs/node': 'mknod /run/logs/node c 1 3',
        '/run/logs/directory': 'mkdir /run/logs/directory',
        '/run/volume/way/made': 'ln -s /run/away /run/volume/way',
        '/run/volume/real/made': 'ln -s ../../of-host /run/volume/real/made',
    }
    for path, command in places.items():
        machine.run(command)
        start_filed(machine, path, 125)
        wait_for_reason(machine, f"The log file '{path}'")
    assert machine.read('/run/of-host') == 'kept\n' and machine.run('ls /run/away').out == ''
    # The administrator's links are followed.
    machine.run('ln -s /run/away /run/logs/admin')
    start_filed(machine, '/run/logs/admin/made', 0)
    machine.wait_for(lambda: machine.read('/run/away/made') == 'written\n')


def test_both_to_one_file(machine):
    """In the order in which they were written."""
    machine.container('filed', '''
        [Container]
        Image=localhost/test/busybox
        Exec=sh -c "i=0; while [ $$i -lt 500 ]; do i=$$((i + 1)); echo out $$i; echo err $$i >&2; done"

        [Service]
        StandardOutput=truncate:/run/log-of-host
        StandardError=inherit
    ''')
    machine.run('rm -f /run/log-of-host; systemctl start filed')
    expected = ''.join(f'out {i}\nerr {i}\n' for i in range(1, 501))
    machine.wait_for(lambda: machine.read('/run/log-of-host') == expected)


def test_oneshot_to_a_file(machine):
    """It is all there when the unit has ended: no waiting here."""
    machine.write('/run/log-of-host', '', mode=0o600)
    hostile(machine, 'once', 'streams 1 2', 'User=1234', 'Type=oneshot\n        StandardOutput=append:/run/log-of-host\n'
                                                         '        StandardError=inherit')
    for i in range(1, 11):
        machine.run('systemctl start once')
        assert machine.read('/run/log-of-host') == i * 'hello\n1: no terminal\n2: no terminal\n'
    assert look(machine, '/run/log-of-host') == '0:0 600'


LIBSTART = '/usr/lib/keyturn/libstart run --name hand --state-dir /run/keyturn/hand --network host'


def test_by_hand_to_a_file(machine):
    hostile(machine, 'unused', 'streams')
    for user in ('0', '1234:5678'):
        machine.write('/run/log-of-host', '', mode=0o600)
        machine.run('rm -rf /run/keyturn/hand; mkdir -p /run/keyturn/hand; '
                    f'{LIBSTART} --user {user} -v /usr/local/bin/hostile:/hostile:ro localhost/test/busybox '
                    '/hostile streams 1 2 >/run/log-of-host 2>&1 </dev/null')
        assert machine.read('/run/log-of-host') == 'hello\n1: no terminal\n2: no terminal\n'
        assert look(machine, '/run/log-of-host') == '0:0 600'
    assert machine.run('rm -rf /run/keyturn/hand; mkdir -p /run/keyturn/hand; '
                       f'{LIBSTART} localhost/test/busybox sh -c "echo to the caller; exit 7" >/run/log-of-host',
                       check=False).status == 7
    assert machine.read('/run/log-of-host') == 'to the caller\n'
    # What is lost is said, and the payload does not wait for it.
    lost = machine.run('rm -rf /run/keyturn/hand; mkdir -p /run/keyturn/hand; '
                       f'{LIBSTART} localhost/test/busybox sh -c "seq 100000; exit 7" >/dev/full', check=False)
    assert lost.status == 7 and lost.err.count('\n') == 1 and 'No space left on device' in lost.err, lost


def test_by_hand_with_one_of_two_to_a_file(machine):
    for redirected in ('2>/run/log-of-host | cat', '>/run/log-of-host 2>&1 | cat', '>/run/log-of-host'):
        machine.write('/run/log-of-host', '', mode=0o600)
        machine.run('rm -rf /run/keyturn/hand; mkdir -p /run/keyturn/hand; '
                    f'timeout -s KILL 20 {LIBSTART} localhost/test/busybox sh -c "echo one >&2; echo two" {redirected}')
        assert machine.read('/run/log-of-host') == \
            {'2': 'one\n', '>': 'one\ntwo\n' if '&1' in redirected else 'two\n'}[redirected[0]], redirected


def test_by_hand_in_a_terminal(machine):
    """script(1) gives it one; the payload gets neither that nor what is typed."""
    hostile(machine, 'unused', 'streams')
    machine.run('rm -rf /run/keyturn/hand; mkdir -p /run/keyturn/hand')
    command = f'{LIBSTART} -v /usr/local/bin/hostile:/hostile:ro localhost/test/busybox /hostile streams 0 1 2'
    said = machine.run(['script', '-qec', 'stat -c %u:%g:%a $(tty); ' + command + '; stat -c %u:%g:%a $(tty)', '/dev/null'],
                       input='typed\n').out.replace('\r', '').split('\n')
    said = [line for line in said if line and line != 'typed']
    assert said[0] == said[-1], said
    assert said[1:-1] == ['hello', '0: no terminal', '1: no terminal', '2: no terminal'], said


def test_output_to_a_terminal(machine):
    """A kiosk's console: what is said appears there, but it is no terminal for the payload."""
    machine.run('rm -f /run/tty-name /run/tty-said')
    machine.unit('screen.service', '''
        [Service]
        ExecStart=script -qfc "tty >/run/tty-name; exec sleep 1000" /run/tty-said
        StandardInput=null
    ''')
    machine.run('systemctl start screen')
    tty = machine.wait_for(lambda: os.path.exists(machine.path('/run/tty-name')) and machine.read('/run/tty-name').strip())
    was = look(machine, tty)
    hostile(machine, 'kiosk', 'streams 1', '', f'StandardOutput=tty\n        StandardError=journal\n        TTYPath={tty}')
    machine.run('systemctl start kiosk', check=False)
    machine.wait_for(lambda: 'hello' in machine.read('/run/tty-said'))
    machine.wait_for(lambda: '1: no terminal' in messages(machine, 'kiosk'))
    assert look(machine, tty) in (was, '0:5 600'), look(machine, tty)  # systemd resets it to this


def test_relay_is_killed_while_files_are_written(machine):
    machine.container('filed', '''
        [Container]
        Image=localhost/test/busybox
        Exec=sh -c "i=0; while [ $$i -lt 200 ]; do i=$$((i + 1)); echo number $$i; sleep 0.02; done; exec sleep 1000"
        StopSignal=SIGKILL

        [Service]
        StandardOutput=append:/run/log-of-host
    ''')
    machine.run('rm -f /run/log-of-host; systemctl start filed')
    for _ in range(5):
        time.sleep(0.4)
        before = relay_pid(machine)
        machine.run(['kill', '-KILL', before])
        machine.wait_for(lambda: relay_pid(machine) not in ('0', before))
    machine.wait_for(lambda: 'number 200\n' in machine.read('/run/log-of-host'), 60)
    found = machine.read('/run/log-of-host').splitlines()
    assert list(dict.fromkeys(found)) == [f'number {i}' for i in range(1, 201)], found


def test_full_disk(machine):
    """What it does not take is lost, and that is said; payloads go on."""
    machine.run('mkdir -p /run/small; mount -t tmpfs -o size=16k small /run/small')
    try:
        machine.container('filed', '''
            [Container]
            Image=localhost/test/busybox
            Exec=sh -c "seq 1 100000; echo done >&2; sleep 1000"
            StopSignal=SIGKILL

            [Service]
            StandardOutput=append:/run/small/log
            StandardError=journal
        ''')
        machine.run('systemctl start filed')
        machine.wait_for(lambda: 'done' in messages(machine, 'filed'))
        machine.wait_for(lambda: 'Output of filed.service is lost' in machine.run(f'journalctl -o cat -u {RELAY}').out)
        machine.run('systemctl stop filed')
        machine.wait_for(lambda: stored(machine) == 0)
    finally:
        machine.run('umount -l /run/small')


def test_stopped_reader(machine):
    """One container's output goes where nobody reads, for long; the others' do not wait for it."""
    machine.run('rm -f /run/log-fifo; mkfifo /run/log-fifo')
    machine.unit('reader.service', '[Service]\nExecStart=sh -c "exec 3<>/run/log-fifo; exec sleep 1000"\n')
    machine.run('systemctl start reader')
    hostile(machine, 'attacker', 'flood', '', 'StandardOutput=file:/run/log-fifo')
    machine.run('systemctl start attacker')
    machine.container('filed', '''
        [Container]
        Image=localhost/test/busybox
        Exec=sh -c "sleep 1; echo of another; sleep 1000"
        StopSignal=SIGKILL

        [Service]
        StandardOutput=truncate:/run/log-of-host
    ''')
    machine.run('systemctl start filed')
    check_that_others_go_on(machine, 'beside-fifo')
    machine.wait_for(lambda: machine.read('/run/log-of-host') == 'of another\n')
    machine.run('systemctl stop attacker filed reader; rm /run/log-fifo')


def test_nobody_waits_for_a_reader_for_ever(machine):
    """A service that ends again and again, with output left that nobody reads: something of the relay's stayed each time."""
    machine.run('rm -f /run/log-fifo; mkfifo /run/log-fifo')
    machine.unit('reader.service', '[Service]\nExecStart=sh -c "exec 3<>/run/log-fifo; exec sleep 1000"\n')
    machine.run('systemctl start reader')
    machine.container('burst', '''
        [Unit]
        StartLimitIntervalSec=0

        [Container]
        Image=localhost/test/busybox
        Exec=sh -c "head -c 61000 /dev/zero | tr '\\\\0' x"

        [Service]
        StandardOutput=file:/run/log-fifo
    ''')
    for _ in range(5):
        machine.run('systemctl start burst', check=False)
        machine.ended('burst')
    machine.wait_for(lambda: stored(machine) == 0 and len(children(machine).split()) == 1, 30)
    machine.run('systemctl stop reader; rm /run/log-fifo')


def test_input_from_a_file(machine):
    for user in ('', 'User=1234:5678'):
        machine.write('/run/input-of-host', 'of the host\n', mode=0o640)
        hostile(machine, 'reader', 'streams 0', user, 'StandardInput=file:/run/input-of-host')
        machine.run('systemctl start reader', check=False)
        machine.ended('reader')
        machine.wait_for(lambda: '0: no terminal' in messages(machine, 'reader'))
        assert machine.read('/run/input-of-host') == 'of the host\n'
        assert look(machine, '/run/input-of-host') == '0:0 640'
        machine.tidy()
    machine.write('/run/input-of-host', 'of the host\n', mode=0o640)
    machine.container('cat', '''
        [Container]
        Image=localhost/test/busybox
        Exec=cat
        User=1234

        [Service]
        StandardInput=file:/run/input-of-host
    ''')
    machine.run('systemctl start cat')
    machine.wait_for(lambda: messages(machine, 'cat') == ['of the host'])


def test_input_from_data(machine):
    machine.container('data', '''
        [Container]
        Image=localhost/test/busybox
        Exec=cat

        [Service]
        StandardInput=data
        StandardInputText=of the unit
    ''')
    machine.run('systemctl start data')
    machine.wait_for(lambda: messages(machine, 'data') == ['of the unit'])


def wait_for_reason(machine, text):
    # The last words of a process that has gone are not always known to be its unit's.
    machine.wait_for(lambda: text in machine.journal())


def test_input_from_a_device_is_refused(machine):
    hostile(machine, 'reader', 'streams 0', '', 'StandardInput=file:/dev/zero')
    was = look(machine, '/dev/zero')
    assert machine.run('systemctl start reader', check=False).status != 0
    wait_for_reason(machine, 'Standard input is a device of the host')
    assert look(machine, '/dev/zero') == was


def test_input_that_cannot_be_made_read_only_is_refused(machine):
    """systemd opens it in the host's mount namespace, and PrivateTmp= puts libstart into another."""
    machine.write('/run/input-of-host', 'of the host\n', mode=0o640)
    hostile(machine, 'private', 'streams 0', '', 'StandardInput=file:/run/input-of-host\n        PrivateTmp=yes')
    assert machine.run('systemctl start private', check=False).status != 0
    wait_for_reason(machine, 'cannot be made read-only for the payload; remove StandardInput=')
    assert look(machine, '/run/input-of-host') == '0:0 640'


def test_file_without_the_relay(machine):
    """The journal's socket may be given to the payload itself, a file may not."""
    machine.write('/run/log-of-host', '', mode=0o600)
    hostile(machine, 'orphan', 'streams 1', '', 'StandardOutput=append:/run/log-of-host\n        StandardError=journal')
    machine.run('mv /run/keyturn/relay /run/keyturn/away')
    try:
        assert machine.run('systemctl start orphan', check=False).status != 0
        wait_for_reason(machine, 'is keyturn-relay.socket active?')
        wait_for_reason(machine, 'which is not given to the payload itself')
    finally:
        machine.run('mv /run/keyturn/away /run/keyturn/relay')
    assert (look(machine, '/run/log-of-host'), machine.read('/run/log-of-host')) == ('0:0 600', '')


def test_input_from_a_socket(machine):
    """A service of inetd's kind."""
    machine.unit("shout.socket", '[Socket]\nListenStream=/run/shout\nAccept=yes\n', reload=False)
    machine.container('shout@', '''
        [Container]
        Image=localhost/test/busybox
        Exec=sh -c "read x; echo $$x, $$x"

        [Service]
        StandardInput=socket
        StandardError=journal
    ''')
    machine.run('systemctl start shout.socket')
    said = machine.run(['perl', '-MSocket', '-e', 'socket(S, AF_UNIX, SOCK_STREAM, 0); connect(S, sockaddr_un("/run/shout")) '
                        'or die $!; syswrite S, "hey\n"; print <S>']).out
    assert said == 'hey, hey\n'
