# SPDX-License-Identifier: LGPL-2.1-or-later
"""How a payload is stopped: by its image's signal, by a watchdog, as an init, below an init."""

import time

# Says which signal came, and what it is.
TRAPS = '''sh -c "trap 'echo got TERM; exit 0' TERM; trap 'echo got QUIT; exit 0' QUIT; trap 'echo got USR1; exit 0' USR1; \
trap 'echo got INT; exit 0' INT; trap 'echo got WINCH' WINCH; echo ready; while :; do sleep 0.05; done"'''

# This image's STOPSIGNAL is SIGUSR1.
IMAGE = 'localhost/test/layers:4'


def container(machine, name, exec_, image='localhost/test/busybox', more='', service=''):
    machine.container(name, f'''
        [Container]
        Image={image}
        Exec={exec_}
        Network=host
        {more}
        [Service]
        {service}
    ''')
    machine.run(f'systemctl start {name}')
    return int(machine.show(name, 'MainPID'))


def stop_unit(name):
    return f'keyturn-stop@{name}.service'


def said(machine, name):
    """The relay may be a moment late."""
    return machine.wait_for(lambda: [line for line in machine.journal(name).splitlines() if line.startswith('got ')], 5)


def state(machine, name):
    return machine.show(name, 'ActiveState'), machine.show(name, 'Result')


def test_signal_of_the_image(machine):
    pid = container(machine, 'own', TRAPS, IMAGE)
    machine.wait_for(lambda: 'ready' in machine.journal('own'))
    assert state(machine, stop_unit('own')) == ('active', 'success')
    # Nothing of it is resident.
    assert machine.run(f'systemctl show -P ControlPID {stop_unit("own")}').out.strip() == '0'
    assert not machine.run(f'cat /sys/fs/cgroup/system.slice/system-keyturn*/{stop_unit("own")}/cgroup.procs',
                           check=False).out
    machine.run('systemctl restart own')
    assert said(machine, 'own') == ['got USR1']
    assert int(machine.show('own', 'MainPID')) not in (0, pid)
    machine.wait_for(lambda: machine.journal('own').count('ready') == 2)
    machine.run('systemctl stop own')
    machine.wait_for(lambda: said(machine, 'own') == ['got USR1'] * 2)
    assert state(machine, 'own') == ('inactive', 'success')
    assert machine.show(stop_unit('own'), 'ActiveState') == 'inactive'


def test_signal_of_the_image_of_an_instance(machine):
    machine.container('own@', f'''
        [Container]
        Image={IMAGE}
        Exec={TRAPS}
        Network=host
        [Service]
        Restart=always
    ''')
    name = 'own@a-b.service'
    machine.run(['systemctl', 'start', name])
    machine.wait_for(lambda: 'ready' in machine.journal(name))
    machine.run(['systemctl', 'stop', name])
    assert said(machine, name) == ['got USR1']
    time.sleep(0.3)
    assert state(machine, name) == ('inactive', 'success')


def test_who_says_it_is_obeyed(machine):
    """The file, and a drop-in of systemd's, before the image."""
    container(machine, 'file', TRAPS, IMAGE, more='StopSignal=QUIT')
    container(machine, 'term', TRAPS, IMAGE, more='StopSignal=TERM')
    container(machine, 'service', TRAPS, IMAGE, service='KillSignal=SIGINT')
    container(machine, 'dropin', TRAPS, IMAGE)
    container(machine, 'plain', TRAPS)
    machine.write('/etc/systemd/system/dropin.service.d/x.conf', '[Service]\nKillSignal=SIGQUIT\n')
    machine.run('systemctl daemon-reload')
    for name in 'file', 'term', 'service', 'plain':
        assert machine.show(stop_unit(name), 'ActiveState') == 'inactive', name
    for name, word in ('file', 'QUIT'), ('term', 'TERM'), ('service', 'INT'), ('dropin', 'QUIT'), ('plain', 'TERM'):
        machine.wait_for(lambda: 'ready' in machine.journal(name))
        machine.run(f'systemctl stop {name}')
        assert said(machine, name) == [f'got {word}'], name


def test_payload_that_ends_by_itself(machine):
    """Its stop unit goes with it, and kills nobody: not the one that comes next, under Restart=."""
    container(machine, 'again', 'sh -c "echo begin; sleep 0.3"', IMAGE, service='Restart=always\nRestartSec=10ms')
    machine.wait_for(lambda: machine.journal('again').count('begin') >= 4, 20)
    assert machine.show('again', 'ActiveState') in ('active', 'activating')
    assert not [line for line in machine.journal('again').splitlines() if 'signal' in line.lower()], machine.journal('again')
    machine.run('systemctl stop again')
    assert machine.show(stop_unit('again'), 'ActiveState') == 'inactive'


def test_payload_that_ignores_the_images_signal(machine):
    container(machine, 'deaf', 'sleep 1000', IMAGE, more='StopTimeout=1')
    begin = time.monotonic()
    machine.run('systemctl stop deaf')
    assert 1 <= time.monotonic() - begin < 5
    assert state(machine, 'deaf') == ('failed', 'signal')
    assert 'deaf.service did not end within 1 s of SIGUSR1, its image\'s stop signal: it is killed' in machine.journal()


def test_stop_unit_is_not_for_people(machine):
    container(machine, 'own', TRAPS, IMAGE)
    result = machine.run(f'systemctl stop {stop_unit("own")}', check=False)
    assert result.status != 0 and 'may be requested by dependency only' in result.err
    assert machine.show('own', 'ActiveState') == 'active'


def test_nginx(machine):
    """A graceful end, by SIGQUIT, logs other words than SIGTERM."""
    container(machine, 'web', 'nginx -g "daemon off; error_log stderr notice;"', 'localhost/test/nginx')
    machine.run('systemctl stop web')
    machine.wait_for(lambda: 'gracefully shutting down' in machine.journal('web'))
    assert state(machine, 'web') == ('inactive', 'success')


def test_watchdog_ends_who_ignores_abort(machine):
    begin = time.monotonic()
    container(machine, 'hang', 'sh -c "trap : TERM; while :; do sleep 1; done"', service='WatchdogSec=1')
    machine.wait_for(lambda: machine.show('hang', 'ActiveState') == 'failed')
    assert time.monotonic() - begin < 5, 'it took the time of a stop'
    assert machine.show('hang', 'Result', 'ExecMainStatus') == {'Result': 'watchdog', 'ExecMainStatus': '9'}
    container(machine, 'dump', 'sh -c "trap \'echo got ABRT; exit 3\' ABRT; while :; do sleep 0.1; done"',
              service='WatchdogSec=1\nWatchdogSignal=SIGABRT')
    machine.wait_for(lambda: machine.show('dump', 'ActiveState') == 'failed')
    assert said(machine, 'dump') == ['got ABRT']


def test_exec_takes_options_in_one_word(machine):
    container(machine, 'in', 'sleep 1000')
    out = machine.run(['script', '-qec', 'keyturnctl exec -it in tty', '/dev/null']).out
    assert '/dev/pts/0' in out and 'Unknown' not in out, out
    assert machine.run('echo hello | keyturnctl exec -i in cat').out == 'hello\n'
