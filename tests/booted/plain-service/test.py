# SPDX-License-Identifier: LGPL-2.1-or-later
"""The harness tests itself with services that have nothing to do with keyturn.

What is claimed of a container elsewhere is claimed of a plain service here, so a scenario that fails
while these pass has found something.
"""

import os
import time

from machine import CommandFailed, HarnessError, Machine

SLEEPER = '''
    [Service]
    ExecStart=/bin/busybox sleep 1000
'''


def ending_with(command):
    return f'''
        [Service]
        ExecStart=/bin/busybox sh -c '{command}'
    '''


def test_machine_is_up(machine):
    assert machine.state == 'running', machine.run('systemctl --failed', check=False).out
    expected = {'bookworm': [252], 'trixie': [257], 'sid': range(258, 1000)}[machine.suite]
    assert machine.systemd_version in expected, machine.systemd_version


def test_starts_and_stops(machine):
    machine.unit('sleeper', SLEEPER)
    machine.run('systemctl start sleeper')
    assert machine.show('sleeper', 'ActiveState') == 'active'
    pid = machine.show('sleeper', 'MainPID')
    assert machine.run(['cat', f'/proc/{pid}/comm']).out == 'busybox\n'

    machine.run('systemctl stop sleeper')
    assert machine.show('sleeper', 'ActiveState', 'Result') == {'ActiveState': 'inactive', 'Result': 'success'}


def test_exit_status_is_seen(machine):
    for status in (0, 3, 77):
        machine.unit('ender', ending_with(f'exit {status}'))
        machine.run('systemctl start ender')
        machine.wait_for(lambda: machine.show('ender', 'MainPID') == '0')
        assert machine.show('ender', 'ExecMainStatus') == str(status)
        machine.tidy()


def test_killing_signal_is_seen(machine):
    machine.unit('sleeper', SLEEPER)
    machine.run('systemctl start sleeper')
    machine.run('systemctl kill --signal=KILL sleeper')
    machine.wait_for(lambda: machine.show('sleeper', 'ActiveState') == 'failed')
    assert machine.show('sleeper', 'Result', 'ExecMainStatus') == {'Result': 'signal', 'ExecMainStatus': '9'}


def test_journal_is_of_this_test_only(machine):
    for word in ('first', 'second'):
        machine.unit('talker', ending_with(f'echo this is the {word}; echo and an error >&2'))
        machine.run('systemctl start talker')
        machine.wait_for(lambda: machine.show('talker', 'MainPID') == '0')
        log = machine.journal('talker')
        for line in 'Started talker.service', f'this is the {word}\n', 'and an error\n':
            assert line in log, log
        machine.tidy()
    assert 'first' not in machine.journal(), machine.journal()


def test_tidy_leaves_nothing(machine):
    before = machine.settled()
    machine.unit('sleeper', SLEEPER)
    machine.write('/run/some/file', 'x')
    machine.run('systemctl start sleeper')
    machine.wait_for(lambda: machine.footprint()['processes'] != before['processes'])  # it is executed after the start
    machine.tidy()
    machine.is_as(before)
    assert machine.run(['test', '-e', '/run/some/file'], check=False).status == 1
    assert machine.show('sleeper', 'LoadState') == 'not-found'


def test_failing_command_is_an_error(machine):
    try:
        machine.run('echo to say; exit 4')
    except CommandFailed as error:
        assert 'ended with 4' in str(error) and 'to say' in str(error)
    else:
        raise AssertionError('a failing command went unnoticed')
    assert machine.run('exit 4', check=False).status == 4


def test_command_that_hangs_is_ended(machine):
    try:
        machine.run(['busybox', 'sleep', '987'], timeout=0.5)
    except CommandFailed as error:
        assert 'within 0.5 s' in str(error)
    else:
        raise AssertionError('a command that hangs went unnoticed')
    machine.wait_for(lambda: 'sleep 987' not in machine.run('ps -e -o args= | grep -v "ps -e"', check=False).out)


def test_commands_live_in_the_machines_cgroup(machine):
    out = machine.run('cat /proc/self/cgroup').out
    assert '0::/init.scope\n' in out, out


def test_second_machine_at_the_same_time(machine):
    def prepare(root):
        with open(f'{root}/etc/only-there', 'w') as file:
            file.write('yes\n')

    with machine.another(prepare) as other:
        assert other.read('/etc/only-there') == 'yes\n'
        assert machine.run('test -e /etc/only-there', check=False).status == 1
        machine.unit('sleeper', SLEEPER)
        machine.run('systemctl start sleeper')
        assert other.show('sleeper', 'LoadState') == 'not-found'
        assert 'busybox sleep' not in other.run('ps -e -o args=').out
        cgroup = other._cgroup
    assert machine.show('sleeper', 'ActiveState') == 'active'
    # Nothing of the second machine may be left on the host.
    assert not os.path.exists(cgroup)


def test_boot_that_fails_is_an_error(machine):
    def prepare(root):
        for path in ('usr/lib/systemd/systemd', 'usr/sbin/init'):
            os.unlink(f'{root}/{path}')

    try:
        Machine(machine.suite, prepare=prepare).start(timeout=10)
    except HarnessError as error:
        assert 'systemd-nspawn ended' in str(error) or 'not up' in str(error), error
    else:
        raise AssertionError('a machine without init came up')


def test_powers_off_at_once(machine):
    # A machine that a timed out command has left something in takes ten seconds.
    with machine.another() as other:
        try:
            other.run('busybox sleep 986 | cat', timeout=0.3)
        except CommandFailed:
            pass
        began = time.monotonic()
    assert time.monotonic() - began < 9, 'powering off took more than 9 s'
