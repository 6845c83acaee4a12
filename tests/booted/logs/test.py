# SPDX-License-Identifier: LGPL-2.1-or-later
"""What payloads write is in the journal, as their unit's, whatever happens on the way."""

import json
import os
import re
import subprocess
import time

RELAY = 'keyturn-relay.service'
BUSYBOX = 'localhost/test/busybox'


def container(machine, name, script, extra='', image='localhost/test/busybox'):
    """A container that runs a shell script; the script must not hold double quotes."""
    assert '"' not in script
    machine.container(name, f'''
        [Container]
        Image={image}
        Exec=sh -c "{script}"
        StopSignal=SIGKILL
        {extra}
    ''')


def entries(machine, unit, identifier=None):
    """The payload's own entries (not systemd's about the unit), oldest first."""
    found = [json.loads(line) for line in machine.journal(unit, output='json').splitlines()]
    return [entry for entry in found if entry['SYSLOG_IDENTIFIER'] == (identifier or unit)]


def messages(machine, unit, identifier=None):
    return [entry['MESSAGE'] for entry in entries(machine, unit, identifier)]


def wait_for_message(machine, unit, message, timeout=30):
    """The relay may need a moment after a payload has ended."""
    return machine.wait_for(lambda: message in messages(machine, unit), timeout)


def relay_pid(machine):
    return machine.show(RELAY, 'MainPID')


def stored(machine):
    """How many descriptors lie in the queues of the relay's sockets; -1 while there is no relay."""
    found = machine.run(f'cat /proc/{relay_pid(machine)}/fdinfo/*', check=False).out
    return sum(map(int, re.findall(r'scm_fds:\s*(\d+)', found))) if found else -1


def kill_relay(machine, signal='KILL'):
    """And wait for the next one."""
    before = relay_pid(machine)
    machine.run(['kill', f'-{signal}', before])
    return machine.wait_for(lambda: relay_pid(machine) not in ('0', before) and relay_pid(machine))


def test_stdout_and_stderr_are_told_apart(machine):
    container(machine, 'talker',
              'echo to out; echo to err >&2; echo \'<4>warning\'; echo \'<7>debug\' >&2; sleep 1000')
    machine.run('systemctl start talker')
    machine.wait_for(lambda: len(entries(machine, 'talker')) == 4)
    main = machine.show('talker', 'MainPID')
    invocation = machine.show('talker', 'InvocationID')
    assert relay_pid(machine) not in ('0', main)

    priority = {}
    for entry in entries(machine, 'talker'):
        assert entry['_SYSTEMD_UNIT'] == 'talker.service', entry
        assert entry['_SYSTEMD_INVOCATION_ID'] == invocation, entry
        assert entry['_PID'] == main, entry
        assert entry['_UID'] == '0', entry
        assert entry['_TRANSPORT'] == 'stdout', entry
        assert entry['SYSLOG_FACILITY'] == '3', entry
        priority[entry['MESSAGE']] = entry['PRIORITY']
    assert priority == {'to out': '6', 'to err': '3', 'warning': '4', 'debug': '7'}, priority
    assert 'to err' in machine.run('systemctl status talker').out


def test_sender_is_the_payloads_user(machine):
    container(machine, 'user', 'id -u; echo opened > /dev/stdout; sleep 1000', 'User=1234:5678')
    machine.run('systemctl start user')
    wait_for_message(machine, 'user', 'opened')
    for entry in entries(machine, 'user'):
        assert (entry['_UID'], entry['_GID']) == ('1234', '5678'), entry


def check_nginx(machine, name, image, port):
    machine.container(name, f'''
        [Container]
        Image={image}
        Tmpfs=/var/www/html/empty
    ''')
    machine.run(f'systemctl start {name}')
    get = f'busybox wget -q -O - http://127.0.0.1:{port}/'
    machine.wait_for(lambda: machine.run(get, check=False).status == 0)
    assert machine.run(get).out == 'hello from nginx\n'
    assert machine.run(get + 'empty/', check=False).status != 0

    def with_text(text):
        return [entry for entry in entries(machine, name) if text in entry['MESSAGE']]

    access = machine.wait_for(lambda: with_text('GET /empty/ HTTP/1.1" 403 '))
    error = machine.wait_for(lambda: with_text('directory index of "/var/www/html/empty/" is forbidden'))
    assert [e['PRIORITY'] for e in access] == ['6'], access
    assert [e['PRIORITY'] for e in error] == ['3'], error
    assert {e['_SYSTEMD_UNIT'] for e in access + error} == {f'{name}.service'}
    machine.run(f'systemctl stop {name}')
    assert machine.show(name, 'Result') == 'success'


def test_nginx(machine):
    check_nginx(machine, 'web', 'localhost/test/nginx', 80)


def test_nginx_without_root(machine):
    check_nginx(machine, 'webuser', 'localhost/test/nginx-user', 8080)


def test_prints_and_exits_at_once(machine):
    container(machine, 'short@', 'echo out of short; echo err of short >&2; printf last')
    for i in range(20):
        unit = f'short@{i}'
        machine.run(f'systemctl start {unit}')
        wait_for_message(machine, unit, 'last')
        wait_for_message(machine, unit, 'err of short')
        found = {entry['MESSAGE']: (entry['_SYSTEMD_UNIT'], entry['PRIORITY'])
                 for entry in entries(machine, unit)}
        assert found == {
            'out of short': (f'{unit}.service', '6'),
            'err of short': (f'{unit}.service', '3'),
            'last': (f'{unit}.service', '6'),
        }, found


def test_last_words_of_the_dead(machine):
    """All that is relayed was written by a payload that has been reaped meanwhile."""
    container(machine, 'first', 'sleep 1000')
    machine.run('systemctl start first')
    machine.wait_for(lambda: relay_pid(machine) != '0')
    # It lives long enough for systemd to learn its id, and fails, for a failed unit to keep that.
    container(machine, 'dead@', 'echo out of the dead; echo err of the dead >&2; sleep 0.3; exit 3')
    relay = relay_pid(machine)
    machine.run(['kill', '-STOP', relay])
    try:
        # libstart does not wait for the relay either
        machine.run('systemctl start dead@1 dead@2')
        machine.ended('dead@1')
        machine.ended('dead@2')
    finally:
        machine.run(['kill', '-CONT', relay])
    for unit in ('dead@1', 'dead@2'):
        machine.wait_for(lambda: len(entries(machine, unit)) == 2)
        for entry in entries(machine, unit):
            assert entry['_SYSTEMD_UNIT'] == f'{unit}.service', entry
            assert entry['_PID'] == machine.show(unit, 'ExecMainPID'), entry
    assert relay_pid(machine) == relay
    assert messages(machine, RELAY, 'keyturn-relay') == []
    machine.wait_for(lambda: 'Z' not in machine.run(['ps', '--ppid', relay, '-o', 'stat='], check=False).out)


def test_fields_for_log_shippers(machine):
    """[Keyturn] LogFields=: those of Podman's driver, in the payload's lines and in systemd's."""
    machine.container('container.d/10-log.conf', '[Keyturn]\nLogFields=yes\n', reload=False)
    machine.container('shipped', f'[Container]\nImage={BUSYBOX}\nNetwork=host\nExec=sh -c "echo words; sleep 1000"\n'
                                 'StopSignal=SIGKILL\n')
    machine.run('systemctl start shipped')
    lines = machine.wait_for(lambda: [json.loads(line) for line in machine.journal('shipped', output='json').splitlines()
                                      if '"words"' in line])
    started = [json.loads(line) for line in machine.journal('shipped', output='json').splitlines() if 'Started' in line]
    # systemd 252 does not give them to its own.
    for entry in lines + (started if machine.systemd_version > 252 else []):
        assert entry['CONTAINER_NAME'] == entry['CONTAINER_ID'] == entry['CONTAINER_ID_FULL'] == 'systemd-shipped', entry
        assert entry['IMAGE_NAME'] == BUSYBOX, entry


def test_oneshot(machine):
    machine.container('once', '''
        [Container]
        Image=localhost/test/busybox
        Exec=sh -c "echo once; exit 3"

        [Service]
        Type=oneshot
    ''')
    assert machine.run('systemctl start once', check=False).status != 0
    assert machine.show('once', 'ExecMainStatus') == '3'
    wait_for_message(machine, 'once', 'once')


def check_numbers(machine, unit, last):
    """Each number is there; some may be there twice. Nothing else is: no other test may have a unit of this name."""
    # Only the numbers: all of the journal's fields of such a flood would be half a gigabyte of JSON.
    lines = machine.run(f'journalctl --quiet --no-pager --output=cat --identifier={unit} '
                        f'_SYSTEMD_UNIT={unit}.service | cut -d: -f1').out.splitlines()
    foreign = [line[:200] for line in lines if not re.fullmatch(r'number \d+', line)]
    assert not foreign, f'{len(foreign)} lines are no lines of the payload: {foreign[:3]}…'
    seen = [int(line.split()[1]) for line in lines]
    missing = sorted(set(range(1, last + 1)) - set(seen))
    assert not missing, f'{len(missing)} lines are lost: {missing[:10]}…'
    return len(seen) - last


# Long lines, because journald is slower than the payload and has a buffer of 8 MiB: the kills shall come
# while the payload still writes. They compress well, so the journal can keep them all.
FLOOD = """
pad=$(head -c 2000 /dev/zero | tr '\\0' x)
seq 1 {last} | sed "s/.*/number &:$pad/"
"""

KILL_RELAY = """
in_time=0
relay=$(systemctl show -P MainPID keyturn-relay)
for i in $(seq 50); do
    [ "$(systemctl is-active numbers)" = active ] && in_time=$((in_time + 1))
    kill -KILL $relay
    old=$relay
    while [ $relay = $old ] || [ $relay = 0 ]; do relay=$(systemctl show -P MainPID keyturn-relay); done
done
echo $in_time
"""


def test_relay_killed_in_a_flood(machine):
    last = 100000
    machine.write('/etc/flood', FLOOD.format(last=last))
    machine.container('numbers', """
        [Container]
        Image=localhost/test/busybox
        Volume=/etc/flood:/flood:ro
        Exec=sh /flood
    """)
    machine.run('systemctl start numbers')
    machine.wait_for(lambda: relay_pid(machine) != '0')
    in_time = int(machine.run(KILL_RELAY).out)
    assert in_time >= 20, f'the flood was over after {in_time} of 50 kills; make it longer'
    machine.ended('numbers')
    machine.wait_for(lambda: stored(machine) == 0, 60)
    machine.run('journalctl --sync')
    check_numbers(machine, 'numbers', last)


REGISTER_UNDER_FIRE = """
while :; do systemctl kill --signal=KILL keyturn-relay; sleep 0.01; done 2>/dev/null &
for i in $(seq 40); do systemctl start shot@$i; done
kill $!
"""


def test_relay_killed_while_containers_start(machine):
    """A registration is in the socket's queue or in systemd's store, and in both it is served once."""
    container(machine, 'shot@', 'echo out of %i; sleep 0.05; echo err of %i >&2')
    machine.run(REGISTER_UNDER_FIRE)
    expected = sorted(f'{stream} of {i}' for i in range(1, 41) for stream in ('out', 'err'))
    machine.wait_for(lambda: stored(machine) == 0, 60)
    machine.run('journalctl --sync')
    found = []
    for i in range(1, 41):
        found += {(entry['MESSAGE'], entry['_SYSTEMD_UNIT']) for entry in entries(machine, f'shot@{i}')}
    assert sorted(message for message, _ in found) == expected, found
    for message, unit in found:
        assert unit == f'shot@{message.split()[-1]}.service', (message, unit)


def test_relay_ends_by_request(machine):
    """As an update does it: systemctl kill."""
    container(machine, 'counter', 'for i in 1 2 3 4 5 6 7 8 9 10; do echo number $$i; sleep 0.1; done')
    machine.run('systemctl start counter')
    wait_for_message(machine, 'counter', 'number 3')
    kill_relay(machine, 'TERM')
    wait_for_message(machine, 'counter', 'number 10')
    assert check_numbers(machine, 'counter', 10) == 0
    for unit in (RELAY, 'keyturn-relay.socket'):
        assert machine.run(['systemctl', 'stop', unit], check=False).status != 0


def test_journald_restarts(machine):
    for how in ('systemctl restart systemd-journald', 'systemctl kill --signal=KILL systemd-journald'):
        container(machine, 'ticker',
                  'for i in 1 2 3 4 5 6 7 8 9 10; do echo number $$i; echo err $$i >&2; sleep 0.2; done')
        machine.run('systemctl start ticker')
        wait_for_message(machine, 'ticker', 'number 3')
        machine.run(how)
        machine.ended('ticker')
        for message in ('number 10', 'err 10'):
            wait_for_message(machine, 'ticker', message)
        found = messages(machine, 'ticker')
        for i in range(1, 11):
            assert f'number {i}' in found and f'err {i}' in found, found
        machine.tidy()


def test_journald_forgets_its_streams(machine):
    """Then the relay makes new ones, and says whose they are."""
    container(machine, 'ticker',
              'echo number 1; echo err 1 >&2; until test -e /on/now; do sleep 0.1; done; '
              'echo number 2; echo err 2 >&2; sleep 1000',
              'Volume=/srv/on:/on:ro')
    machine.run('rm -rf /srv/on; mkdir /srv/on; systemctl start ticker')
    wait_for_message(machine, 'ticker', 'err 1')
    units = 'systemd-journald.socket systemd-journald-dev-log.socket systemd-journald.service'
    machine.run(f'systemctl stop {units}; systemctl start {units}; touch /srv/on/now')
    for message in ('number 2', 'err 2'):
        wait_for_message(machine, 'ticker', message)
    found = {entry['MESSAGE']: entry for entry in entries(machine, 'ticker')}
    for message, priority in (('number 2', '6'), ('err 2', '3')):
        assert found[message]['PRIORITY'] == priority, found[message]
        assert found[message]['_SYSTEMD_UNIT'] == 'ticker.service', found[message]


def standard_output(machine, name):
    wait_for_message(machine, name, 'ready')
    pid = machine.show(name, 'MainPID')
    return [machine.run(['readlink', f'/proc/{pid}/fd/{fd}']).out.split(':')[0] for fd in (1, 2)]


def test_passthrough_is_the_journals_socket(machine):
    container(machine, 'piped', 'echo ready; sleep 1000')
    container(machine, 'direct', 'echo ready; echo err >&2; sleep 1000', 'LogDriver=passthrough')
    machine.run('systemctl start piped direct')
    assert standard_output(machine, 'piped') == ['pipe', 'pipe']
    assert standard_output(machine, 'direct') == ['socket', 'socket']
    assert {entry['PRIORITY'] for entry in entries(machine, 'direct')} == {'6'}


def test_without_the_relay(machine):
    """Its log is no reason not to start a container."""
    container(machine, 'orphan', 'echo ready; sleep 1000')
    machine.run('mv /run/keyturn/relay /run/keyturn/away')
    try:
        machine.run('systemctl start orphan')
        assert standard_output(machine, 'orphan') == ['socket', 'socket']
        assert 'is keyturn-relay.socket active?' in machine.journal('orphan')
    finally:
        machine.run('mv /run/keyturn/away /run/keyturn/relay')


def test_output_to_a_file(machine):
    machine.container('filed', '''
        [Container]
        Image=localhost/test/busybox
        Exec=sh -c "echo to the file; echo to the journal >&2; sleep 1000"

        [Service]
        StandardOutput=file:/run/filed
        StandardError=journal
    ''')
    machine.run('systemctl start filed')
    wait_for_message(machine, 'filed', 'to the journal')
    machine.wait_for(lambda: machine.run('cat /run/filed').out == 'to the file\n')
    assert messages(machine, 'filed') == ['to the journal']


def test_idle_and_tidy(machine):
    # More than the pipe has room for, so that it is looked at again; but not for ever.
    container(machine, 'quiet', 'dd if=/dev/zero bs=100000 count=1 2>/dev/null | base64 -w 1000; printf \'a line without an end\'; sleep 1000')
    machine.run('systemctl start quiet')
    machine.wait_for(lambda: stored(machine) > 0)
    relay = relay_pid(machine)

    def sleeps():
        wake_ups = ['grep', 'ctxt', f'/proc/{relay}/status']
        before = machine.run(wake_ups).out
        time.sleep(2)
        return machine.run(wake_ups).out == before
    # On a busy machine the payload's words may come late.
    machine.wait_for(sleeps, timeout=60)
    machine.run('systemctl stop quiet')
    wait_for_message(machine, 'quiet', 'a line without an end')
    machine.wait_for(lambda: stored(machine) == 0)
    machine.wait_for(lambda: machine.show(RELAY, 'NFileDescriptorStore') == '2')
    # Standard streams, its own epoll and socket, the two ends of the store, who is done; of the worker its process, what
    # wakes it, and a pipe.
    machine.wait_for(lambda: len(machine.run(['ls', f'/proc/{relay}/fd']).out.split()) == 12)


def test_until_the_last_moment_of_a_shutdown(machine):
    """Containers are stopped before the relay, and what they say then is in the journal of that boot."""
    script = "trap 'sleep 1; echo good bye; exit 0' TERM; echo ready; while :; do sleep 0.1; done"

    def keep_the_journal(root):
        os.makedirs(f'{root}/var/log/journal', exist_ok=True)
        with open(f'{root}/etc/systemd/journald.conf.d/90-keep.conf', 'w') as file:
            file.write('[Journal]\nStorage=persistent\n')
        with open(f'{root}/etc/containers/systemd/polite.container', 'w') as file:
            file.write(f'[Container]\nImage=localhost/test/busybox\nExec=sh -c "{script}"\n')

    with machine.another(keep_the_journal) as other:
        other.run('systemctl start polite')
        other.wait_for(lambda: 'ready' in other.run('journalctl -u polite -o cat').out)
        other.run('systemctl poweroff --no-block', check=False)
        other.wait_for(lambda: not os.path.exists(f'/proc/{other.pid1}'), 60)
        said = subprocess.run(['journalctl', '--quiet', '--output=cat', '--unit=polite',
                               '--directory=' + other.root + '/var/log/journal'],
                              stdout=subprocess.PIPE, text=True, check=True).stdout
    assert 'good bye' in said.splitlines(), said
