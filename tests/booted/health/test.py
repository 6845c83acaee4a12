# SPDX-License-Identifier: LGPL-2.1-or-later
"""Health checks on a real systemd: what is run, when, with which rights; what follows from it; and payloads that attack
whoever checks them."""

import json
import time

BUSYBOX = '''
    [Container]
    Image=localhost/test/busybox
    Exec=sh -c "%s"
    %s
    [Service]
    %s
'''

# Its state is a file that the test writes by way of exec.
SLEEP = 'trap \\"exit 0\\" TERM; sleep 1000 & wait'


def container(machine, name, lines, payload=SLEEP, service='', start=True):
    text = '\n'.join(line.strip() for line in (BUSYBOX % (payload, lines, service)).split('\n'))
    machine.container(name, text)
    if start:
        machine.run(f'systemctl start {name}')


def health(machine, name):
    return json.loads(machine.run(f'keyturnctl health --json {name}', check=False).out or '{}')


def status(machine, name):
    return health(machine, name).get('Status')


def check(machine, name):
    machine.run(f'systemctl start keyturn-health@{name}')


def turns_end(machine, span):
    """Of a span's own timer: at the first turn that finds nobody."""
    machine.wait_for(lambda: all(machine.show(f'keyturn-health-every@{span}.{kind}', 'ActiveState') == 'inactive'
                                 for kind in ('timer', 'service')))


def test_becomes_healthy_and_unhealthy(machine):
    container(machine, 'one', '''HealthCmd=test -e /tmp/well || { echo is not well; exit 3; }
                                 HealthInterval=1h
                                 HealthRetries=2''')
    machine.wait_for(lambda: len(health(machine, 'one').get('Log', ())) == 1)
    assert status(machine, 'one') == 'starting'
    machine.run('keyturnctl exec one touch /tmp/well')
    check(machine, 'one')
    found = health(machine, 'one')
    assert (found['Status'], found['FailingStreak']) == ('healthy', 0), found
    machine.run('keyturnctl exec one rm /tmp/well')
    check(machine, 'one')
    assert status(machine, 'one') == 'healthy'
    check(machine, 'one')
    found = health(machine, 'one')
    assert (found['Status'], found['FailingStreak']) == ('unhealthy', 2), found
    assert [result['ExitCode'] for result in found['Log']] == [3, 0, 3, 3]
    assert found['Log'][0]['Output'] == 'is not well\n'
    assert machine.show('one', 'ActiveState') == 'active'


def test_is_run_by_a_timer_while_the_container_runs(machine):
    """And a container that is restarted begins anew."""
    container(machine, 'timed', '''HealthCmd=true
                                   HealthInterval=300ms
                                   HealthMaxLogCount=2''', start=False)
    machine.run('systemctl start timed')
    machine.wait_for(lambda: status(machine, 'timed') == 'healthy')
    machine.run('systemctl stop timed')
    turns_end(machine, '300ms')
    before = machine.settled()
    machine.run('systemctl start timed')
    first = machine.wait_for(lambda: health(machine, 'timed').get('Log'))[0]['Start']
    machine.wait_for(lambda: health(machine, 'timed')['Log'][0]['Start'] != first)
    assert len(health(machine, 'timed')['Log']) == 2
    machine.run('keyturnctl exec timed touch /tmp/x; systemctl restart timed')
    assert machine.wait_for(lambda: health(machine, 'timed').get('Log'))[0]['Start'] > first
    machine.wait_for(lambda: machine.show('keyturn-health-timed.timer', 'ActiveState') == 'inactive')
    machine.wait_for(lambda: machine.show('keyturn-health-every@300ms.timer', 'ActiveState') == 'active')
    machine.run('systemctl stop timed')
    turns_end(machine, '300ms')
    machine.run('systemctl start keyturn-health@timed')  # nothing to do, which is no error
    assert machine.run('ls -d /run/keyturn/timed', check=False).status != 0
    machine.is_as(before)


def test_shows_what_was_found(machine):
    container(machine, 'shown', '''HealthCmd=echo "\x1b[2J two" words; test -e /tmp/well
                                   HealthInterval=disable
                                   HealthRetries=1
                                   HealthLogDestination=events_logger''')
    assert status(machine, 'shown') == 'starting'
    assert machine.run('keyturnctl health shown', check=False).status == 1
    assert machine.run('systemctl list-timers').out.count('shown') == 0
    check(machine, 'shown')
    shown = machine.run('keyturnctl health shown', check=False).out
    assert 'shown.service: unhealthy, 1 failed in a row' in shown and '\\x1b[2J two words' in shown, shown
    listed = json.loads(machine.run('keyturnctl list --json').out)
    assert [row['health'] for row in listed if row['unit'] == 'shown.service'] == ['unhealthy'], listed
    machine.run('keyturnctl exec shown touch /tmp/well')
    check(machine, 'shown')
    check(machine, 'shown')
    rows = json.loads(machine.run('keyturnctl health --json').out)
    assert [(row['unit'], row['health'], row['failed'], row['exit']) for row in rows] == [
        ('shown.service', 'healthy', 0, 0)], rows
    # What is to be run, and what it prints, is not for everybody.
    modes = machine.run('stat -c "%a %U %n" /run/keyturn/shown/.health*').out
    assert sorted(modes.split('\n')) == ['', '600 root /run/keyturn/shown/.health-plan',
                                         '600 root /run/keyturn/shown/.health.json'], modes
    machine.sync_journal()
    told = [json.loads(line) for line in machine.run(
        'journalctl -q -o json -u shown.service KEYTURN_HEALTH=healthy + KEYTURN_HEALTH=unhealthy').out.splitlines()]
    assert [(entry['KEYTURN_HEALTH'], entry['KEYTURN_HEALTH_EXIT'], entry['CONTAINER_NAME']) for entry in told] == [
        ('unhealthy', '1', 'systemd-shown'), ('healthy', '0', 'systemd-shown'), ('healthy', '0', 'systemd-shown')]


def test_a_log_in_a_directory(machine):
    """In Podman's form; it stays, and is cut as the keys say. A link on the way could be bent, so there is none."""
    machine.run('rm -rf /srv/health /srv/linked; mkdir -p /srv/health; ln -s health /srv/linked')
    lines = 'HealthCmd=echo 0123456789\nHealthInterval=disable\nHealthMaxLogCount=2\nHealthMaxLogSize=4\nHealthLogDestination=%s'
    container(machine, 'logged', lines % '/srv/health' + '\nContainerName=of-name')
    for _ in range(3):
        check(machine, 'logged')
    machine.run('systemctl stop logged')
    assert machine.run('ls -A /srv/health; stat -c %a /srv/health/*').out == 'of-name-healthcheck.log\n600\n'
    found = json.loads(machine.read('/srv/health/of-name-healthcheck.log'))
    assert (found['Status'], [(one['Output'], one['ExitCode']) for one in found['Log']]) == (
        'healthy', [('0123', 0), ('0123', 0)]), found
    for name, path, said in (('linked', '/srv/linked', 'symbolic link'), ('missing', '/srv/none', 'No such file')):
        container(machine, name, lines % path, start=False)
        assert machine.run(f'systemctl start {name}', check=False).status != 0
        assert said in machine.journal(name), machine.journal(name)
    # A payload that can write there has its own file harmed, and no other one.
    machine.run('echo precious >/srv/precious')
    container(machine, 'bends', lines % '/srv/health' + '\nVolume=/srv:/srv\nSecurityLabelDisable=true')
    machine.run('keyturnctl exec bends sh -c "ln -s /srv/precious /srv/health/.systemd-bends-healthcheck.log.new; '
                'ln -s /srv/precious /srv/health/systemd-bends-healthcheck.log"')
    check(machine, 'bends')
    machine.run('keyturnctl exec bends sh -c "mv /srv/health /srv/away; ln -s / /srv/health"')
    check(machine, 'bends')
    assert status(machine, 'bends') == 'healthy' and machine.read('/srv/precious') == 'precious\n'
    assert machine.run('ls -A / | grep healthcheck', check=False).out == ''
    assert 'bends: --health-log-destination' in machine.journal()


def test_failures_of_the_start_do_not_count(machine):
    lines = '''HealthCmd=test -e /tmp/well
               HealthInterval=disable
               HealthRetries=1
               HealthStartPeriod=%s'''
    container(machine, 'period', lines % '1h')
    container(machine, 'over', lines % '2s')
    began = time.monotonic()
    check(machine, 'over')
    for _ in range(2):
        check(machine, 'period')
    assert (status(machine, 'period'), health(machine, 'period')['FailingStreak']) == ('starting', 0)
    time.sleep(max(0, 2.2 - (time.monotonic() - began)))
    check(machine, 'over')
    assert status(machine, 'over') == 'unhealthy'


def test_startup_checks(machine):
    """They are run until there are enough successes, then the regular one is; or the container is restarted."""
    lines = '''HealthCmd=test ! -e /tmp/ill
               HealthInterval=300ms
               HealthRetries=1
               HealthStartupCmd=["test", "-e", "/tmp/up"]
               HealthStartupInterval=300ms
               HealthStartupSuccess=2'''
    container(machine, 'startup', lines)
    machine.unit('keyturn-health@alone.service.d/own.conf', '[Service]\nNice=5\n')
    container(machine, 'alone', lines)
    container(machine, 'never', '''HealthCmd=true
                                   HealthStartupCmd=false
                                   HealthStartupInterval=200ms
                                   HealthStartupRetries=3''')
    first = machine.show('never', 'InvocationID')
    machine.wait_for(lambda: len(health(machine, 'startup').get('Log', ())) > 1)
    found = health(machine, 'startup')
    assert (found['Status'], found['FailingStreak'], found['StartupPassed']) == ('starting', 0, False), found
    for name in ('startup', 'alone'):
        machine.run(f'keyturnctl exec {name} touch /tmp/up')
        machine.wait_for(lambda: health(machine, name)['StartupPassed'])
        machine.wait_for(lambda: machine.show(f'keyturn-startup-health-{name}.timer', 'ActiveState') == 'inactive')
    for timer in ('keyturn-health-every@300ms', 'keyturn-health-alone'):
        machine.wait_for(lambda timer=timer: machine.show(f'{timer}.timer', 'ActiveState') == 'active')
    machine.run('systemctl stop alone')
    machine.run('keyturnctl exec startup touch /tmp/ill')
    machine.wait_for(lambda: status(machine, 'startup') == 'unhealthy')
    machine.wait_for(lambda: machine.show('never', 'InvocationID') != first)
    assert 'its startup check has failed too often' in machine.journal()
    machine.run('systemctl stop never')


def test_without_a_timer_there_is_one_check(machine):
    """What has drop-ins has a timer of its own, which nobody has to want."""
    machine.unit('keyturn-health@untimed.service.d/own.conf', '[Service]\nNice=5\n')
    machine.run('ln -s /dev/null /run/systemd/system/keyturn-health-untimed.timer')
    for command in ('true', 'false'):
        container(machine, 'untimed', f'HealthCmd={command}\nHealthInterval=300ms')
        machine.wait_for(lambda: machine.show('keyturn-health@untimed', 'ActiveState') == 'inactive')
        time.sleep(6)  # the service's RestartSec= is 5
        assert len(health(machine, 'untimed')['Log']) == 1, health(machine, 'untimed')
        machine.run('systemctl stop untimed')


def test_what_follows_from_being_unhealthy(machine):
    lines = '''HealthCmd=test ! -e /tmp/ill
               HealthInterval=disable
               HealthRetries=1
               HealthOnFailure=%s'''
    # The first process of a container ignores what it has no handler for.
    container(machine, 'killed', lines % 'kill', service='Restart=on-failure')
    container(machine, 'stopped', lines % 'stop', service='Restart=no')
    container(machine, 'stubborn', lines % 'stop' + '\nStopTimeout=1', payload='sleep 1000 & wait', service='Restart=no')
    container(machine, 'restarted', lines % 'restart', service='Restart=no')
    container(machine, 'left', lines % 'none', service='Restart=always')
    names = ('killed', 'stopped', 'stubborn', 'restarted', 'left')
    first = {name: machine.show(name, 'InvocationID') for name in names}
    for name in names:
        machine.run(f'keyturnctl exec {name} touch /tmp/ill')
        check(machine, name)
    for name in ('killed', 'restarted'):
        machine.wait_for(lambda name=name: machine.show(name, 'InvocationID') != first[name] and
                         machine.show(name, 'ActiveState') == 'active')
    assert machine.show('killed', 'NRestarts') == '1' and machine.show('restarted', 'NRestarts') == '0'
    machine.wait_for(lambda: machine.show('stopped', 'ActiveState') == 'inactive')
    assert machine.show('stopped', 'Result') == 'success'
    machine.wait_for(lambda: machine.show('stubborn', 'ActiveState') == 'failed')
    assert machine.show('stubborn', 'ExecMainStatus') == '9'
    assert status(machine, 'left') == 'unhealthy' and machine.show('left', 'InvocationID') == first['left']
    # A new start knows nothing of it.
    assert status(machine, 'killed') == 'starting'


def test_notify_healthy(machine):
    lines = 'HealthCmd=test -e /run/well\nHealthInterval=200ms\nNotify=healthy\nVolume=/run/test-well:/run'
    machine.run('mkdir -p /run/test-well; rm -f /run/test-well/*')
    container(machine, 'ready', lines, start=False)
    container(machine, 'waits', lines.replace('/run/well', '/run/never'), service='TimeoutStartSec=2', start=False)
    machine.run('systemctl start --no-block ready waits')
    machine.wait_for(lambda: health(machine, 'ready').get('Log'))
    assert machine.show('ready', 'ActiveState') == 'activating'
    assert machine.show('ready', 'MainPID') != '0'
    assert 'Waits for a health check that succeeds' in machine.show('ready', 'StatusText')
    machine.write('/run/test-well/well', '')
    machine.wait_for(lambda: machine.show('ready', 'ActiveState') == 'active')
    assert machine.show('ready', 'StatusText') == ''
    machine.wait_for(lambda: machine.show('waits', 'Result') == 'timeout')
    machine.wait_for(lambda: machine.show('waits', 'ActiveState') == 'failed')
    assert 'Waits for a health check that succeeds' in machine.run('systemctl status waits', check=False).out
    # Again, and at once: no check of the start before is waited for, nor its timer.
    began = time.monotonic()
    machine.run('systemctl restart ready')
    assert time.monotonic() - began < 10
    assert status(machine, 'ready') == 'healthy'


def test_what_can_never_work_is_not_waited_for(machine):
    """A check that is not there fails the start at once, says why where one looks, and not with a start period."""
    lines = 'HealthCmd={}\nHealthInterval=200ms\nNotify=healthy'
    cases = {'missing': '["/no/such", "x"]', 'shell': 'no-such-program', 'mode': '["/etc/passwd"]'}
    for name, command in cases.items():
        container(machine, name, lines.format(command), service='TimeoutStartSec=60', start=False)
    container(machine, 'later', lines.format('/check') + '\nHealthStartPeriod=1h', start=False,
              payload='sleep 1; echo exit 0 >/check; chmod +x /check; ' + SLEEP)
    began = time.monotonic()
    machine.run('systemctl start --no-block ' + ' '.join([*cases, 'later']))
    for name in cases:
        machine.wait_for(lambda name=name: machine.show(name, 'ActiveState') == 'failed')
        text = machine.show(name, 'StatusText')
        assert 'waits for a health check that cannot be executed: exit status 12' in text, text
        assert text in machine.run(f'systemctl status {name}', check=False).out
    assert time.monotonic() - began < 30
    machine.sync_journal()
    assert 'set HealthStartPeriod=' in machine.run('journalctl -b -u keyturn-health@missing').out
    machine.wait_for(lambda: machine.show('later', 'ActiveState') == 'active')
    assert machine.show('later', 'StatusText') == ''


def test_check_of_an_image(machine):
    """Its HEALTHCHECK: every 5 s, 2 retries; the payload ends at once, as its command is an environment."""
    for name, more in (('image', ''), ('none', 'HealthCmd=none'), ('off', 'PodmanArgs=--no-healthcheck')):
        machine.container(name, '[Container]\nImage=localhost/test/layers:4\nEntrypoint=/bin/busybox\n'
                                f'Exec=sh -c "trap \\"exit 0\\" USR1; sleep 1000 & wait"\n{more}\n')
    machine.run('mkdir -p /run/systemd/transient; systemctl start image')
    machine.wait_for(lambda: status(machine, 'image') == 'healthy')
    machine.run('systemctl stop image')
    turns_end(machine, '5s')
    before = machine.settled()
    machine.run('systemctl start image none off')
    machine.wait_for(lambda: status(machine, 'image') == 'healthy')
    machine.wait_for(lambda: machine.show('keyturn-health-every@5s.timer', 'ActiveState') == 'active')
    assert machine.show('keyturn-health@image.timer', 'LoadState') == 'not-found'
    assert status(machine, 'none') is None and status(machine, 'off') is None
    for _ in range(3):
        machine.run('systemctl restart image')
        machine.wait_for(lambda: status(machine, 'image') == 'healthy')
    machine.run('systemctl stop image none off')
    turns_end(machine, '5s')
    machine.is_as(before)


def test_templates(machine):
    machine.container('each@', '''
        [Container]
        Image=localhost/test/busybox
        Exec=sh -c "trap \\"exit 0\\" TERM; sleep 1000 & wait"
        HealthCmd=test %i = a
        HealthInterval=200ms
        HealthRetries=1
    ''')
    machine.run('systemctl start each@a each@b')
    machine.wait_for(lambda: status(machine, 'each@a') == 'healthy')
    machine.wait_for(lambda: status(machine, 'each@b') == 'unhealthy')
    machine.run('systemctl stop each@a')
    checked = health(machine, 'each@b')['Log'][-1]['Start']
    machine.wait_for(lambda: health(machine, 'each@b')['Log'][-1]['Start'] > checked)


def test_those_of_one_interval_are_checked_together(machine):
    """When it is known how they are: by one timer and one service, which end with the last of them. What has something laid
    upon its checks is checked by its own unit still."""
    lines = 'HealthCmd=%s\nHealthInterval=400ms\nHealthRetries=1\nHealthMaxLogCount=50'
    names = [f'one{i}' for i in range(4)]
    for name in names[:3]:
        container(machine, name, lines % 'test ! -e /tmp/ill')
    container(machine, names[3], lines % 'test ! -e /tmp/ill' + '\nHealthOnFailure=restart', service='Restart=no')
    container(machine, 'alone', lines % 'grep -q NoNewPrivs:.1 /proc/self/status', service='LockPersonality=yes')
    container(machine, 'starting', lines % 'false' + '\nHealthStartPeriod=1h')
    everybody = [*names, 'alone', 'starting']
    machine.wait_for(lambda: all(len(health(machine, name).get('Log', ())) > 3 for name in everybody))
    wanted = {'keyturn-health-alone.timer', 'keyturn-health-starting.timer', 'keyturn-health-every@400ms.timer'}
    timers = (*(f'keyturn-health-{name}.timer' for name in everybody), 'keyturn-health-every@400ms.timer')
    machine.wait_for(lambda: {timer for timer in timers if machine.show(timer, 'ActiveState') == 'active'} == wanted)
    first = machine.show('one3', 'InvocationID')
    for name in ('one1', 'one3'):
        machine.run(f'keyturnctl exec {name} touch /tmp/ill')
    machine.wait_for(lambda: status(machine, 'one1') == 'unhealthy' and machine.show('one3', 'InvocationID') != first)
    assert status(machine, 'one0') == 'healthy'
    machine.run('keyturnctl exec one1 rm /tmp/ill')
    machine.wait_for(lambda: status(machine, 'one1') == 'healthy')
    machine.run(f'systemctl stop {" ".join(everybody)}')
    turns_end(machine, '400ms')


def test_a_stop_is_no_failure(machine):
    """A check that the stop's signal has hit, or that finds the payload's door closed while that takes its time."""
    container(machine, 'closing', 'HealthCmd=sleep 1000\nHealthInterval=disable',
              payload='trap \\"sleep 1; exit 0\\" TERM; sleep 1000 & wait')
    for command in ('restart', 'stop'):
        machine.run('systemctl start --no-block keyturn-health@closing')
        group = machine.show('closing', 'ControlGroup')
        machine.wait_for(lambda: machine.run(f'cat /sys/fs/cgroup{group}/keyturn-health/cgroup.procs', check=False).out)
        machine.run(f'systemctl {command} closing')
    assert 'has failed' not in machine.journal() and 'failed in a row' not in machine.journal()


def test_a_stop_by_the_signal_of_the_image_is_no_failure(machine):
    """What that is to follow from would cut short what the payload does at its end."""
    for kind in ('kill', 'restart'):
        machine.container(f'closing-{kind}', f'''
            [Container]
            Image=localhost/test/layers:4
            Entrypoint=/bin/busybox
            Exec=sh -c "trap 'touch /tmp/ill; sleep 1; echo closed; exit 0' USR1; while :; do sleep 0.05; done"
            HealthCmd=test ! -e /tmp/ill
            HealthInterval=200ms
            HealthRetries=1
            HealthOnFailure={kind}
            ''')
        machine.run(f'systemctl start closing-{kind}')
        machine.wait_for(lambda kind=kind: status(machine, f'closing-{kind}') == 'healthy')
    machine.run('systemctl stop closing-kill closing-restart')
    machine.wait_for(lambda: machine.journal().count('closed') == 2)
    assert 'in a row' not in machine.journal() and 'destructive' not in machine.journal(), machine.journal()


def test_a_stop_before_the_first_check(machine):
    """libstart is slow to start that, and then the check to start its timer, which is bound to the container: that is not
    started by it, and nothing fails."""
    libstart = '/usr/lib/keyturn/libstart'
    # It ends when it is told, or a slow machine's check would find it gone.
    container(machine, 'brief', 'HealthCmd=true\nHealthInterval=1h\nStopTimeout=60\nVolume=/run/brief:/brief',
              payload='trap \\"until [ -e /brief/end ]; do sleep 0.1; done; exit 0\\" TERM; touch /brief/up; sleep 1000 & wait',
              start=False)
    # As a payload could write to it, it would execute a copy of itself, and strace let go of that.
    machine.run(f'mount --bind {libstart} {libstart} && mount -o remount,bind,ro {libstart}')
    for turn, usec in enumerate((1000, 3000000), 1):
        for unit, delay in (('brief', 1200000), ('keyturn-health@brief', usec)):
            command = [line for line in machine.run(f'systemctl cat {unit}').out.splitlines() if line.startswith(f'ExecStart={libstart}')]
            slow = f'strace -D -f -qq -b execve -o /dev/null -e trace=connect -e inject=connect:delay_enter={delay}'
            machine.unit(f'{unit}.service.d/slow.conf', f'[Service]\nExecStart=\n{command[0].replace("=", f"={slow} ", 1)}\n')
        machine.run('rm -rf /run/brief; mkdir /run/brief; systemctl start brief; '
                    'until [ -e /run/brief/up ]; do sleep 0.01; done; systemctl stop --no-block brief')
        machine.wait_for(lambda: machine.journal().count('brief is healthy') == turn)
        if turn == 1:  # the timer's start comes while the container is being stopped, and then when that is over
            machine.wait_for(lambda: machine.show('keyturn-health@brief', 'ActiveState') != 'activating')
        machine.write('/run/brief/end', '')
        machine.wait_for(lambda: machine.show('brief', 'ActiveState') == 'inactive')
        machine.wait_for(lambda: machine.show('keyturn-health@brief', 'ActiveState') != 'activating')
        assert machine.show('keyturn-health@brief', 'Result') == 'success'
        machine.wait_for(lambda: machine.show('keyturn-health-brief.timer', 'ActiveState') == 'inactive')
    machine.run(f'umount --lazy {libstart}')
    assert machine.journal().count('Started brief') == 2
    assert machine.journal().count('brief is healthy') == 2


def test_one_in_the_foreground_is_ended(machine):
    """Its main process is libstart, which passes the signal on."""
    container(machine, 'once', 'HealthCmd=test ! -e /tmp/up\nHealthInterval=1s\nHealthRetries=1\nHealthOnFailure=stop',
              payload=SLEEP.replace('exit 0', 'exit 3').replace('TERM;', 'TERM; touch /tmp/up;'),
              service='Type=oneshot', start=False)
    machine.run('systemctl start --no-block once')
    machine.wait_for(lambda: machine.show('once', 'ActiveState') == 'failed')
    assert machine.show('once', 'ExecMainStatus') == '3'


def test_what_follows_late(machine):
    """Who is slow to restart, or to end, what is unhealthy does that to nobody who was stopped, or started again, meanwhile."""
    lines = 'HealthCmd=test ! -e /tmp/ill\nHealthInterval=1s\nHealthRetries=1\nHealthOnFailure=%s'
    slow = 'strace -D -f -qq -o /dev/null -e trace=connect -e inject=connect:delay_enter=3000000'
    machine.unit('keyturn-health-every@1s.service.d/slow.conf', f'''
        [Service]
        ExecStart=
        ExecStart={slow} /usr/lib/keyturn/libstart health-every 1s
        ''')
    machine.write('/run/slow', '#!/bin/sh\nsleep 3\nexec /run/keyturnctl "$@"\n', mode=0o755)
    container(machine, 'restarted', lines % 'restart', service='Restart=no')
    container(machine, 'ended', lines % 'stop', service='Restart=no')
    for name in ('restarted', 'ended'):
        machine.wait_for(lambda name=name: status(machine, name) == 'healthy')
        machine.run(f'keyturnctl exec {name} touch /tmp/ill')
    machine.run('cp /usr/bin/keyturnctl /run/keyturnctl && mount --bind /run/slow /usr/bin/keyturnctl')
    try:
        for name, action in (('restarted', 'stop'), ('ended', 'restart')):
            machine.wait_for(lambda name=name: f'{name} is unhealthy' in machine.journal())
            machine.run(f'systemctl {action} {name}')
        payload = machine.show('ended', 'MainPID')
        time.sleep(5)
    finally:
        machine.run('umount -l /usr/bin/keyturnctl')
    assert machine.show('restarted', 'ActiveState') == 'inactive' and machine.journal().count('Started restarted') == 1
    assert machine.show('ended', 'ActiveState') == 'active' and machine.show('ended', 'MainPID') == payload


def test_a_plan_that_cannot_be_read(machine):
    """As that of another version: each check has failed, by the rules of the file, and says what is to be done."""
    for name, harm, interval in (('damaged', 's/^timer /tomorrow /', '1s'), ('worse', 's/^command /kommand /', '1s'), ('turn', '1,2d', '1h')):
        container(machine, name, f"""HealthCmd=true
                                     HealthInterval={interval}
                                     HealthRetries=2
                                     HealthOnFailure=kill""")
        machine.wait_for(lambda name=name: status(machine, name) == 'healthy')
        machine.run(f"sed -i '{harm}' /run/keyturn/{name}/.health-plan")
        if name != 'turn':
            machine.wait_for(lambda name=name: machine.show(name, 'ActiveState') == 'failed', 20)
        else:  # without a name it is nobody's, and only what the timer has run again is run
            machine.run(f'systemctl start keyturn-health@{name}', check=False)
            time.sleep(6)
        said = [line for line in machine.journal().splitlines() if f"Restart {name}.service, as '/run/keyturn/{name}/.health-plan'" in line]
        assert len(said) == (1 if name == 'turn' else 2), said
        machine.run(f'systemctl restart {name}')
        machine.wait_for(lambda name=name: status(machine, name) == 'healthy')
        machine.run(f'systemctl stop {name}')


def test_a_check_without_a_container_it_could_be_of(machine):
    container(machine, 'refused', 'Notify=healthy', start=False)
    assert machine.run('systemctl start refused', check=False).status != 0
    assert 'there is no health check: give HealthCmd=' in machine.journal('refused')
    # The journal says nothing of checks that nobody asked about.
    machine.run('systemctl start keyturn-health@nothing keyturn-health@refused')
    assert 'Health Check of nothing' not in machine.journal()
