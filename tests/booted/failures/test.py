# SPDX-License-Identifier: LGPL-2.1-or-later
"""Starts that cannot succeed say why; starts that are cut off anywhere leave nothing."""

import random


def fails(machine, name, status, reason):
    assert machine.run(f'systemctl start {name}', check=False).status != 0
    shown = machine.show(name, 'Result', 'ExecMainStatus')
    assert shown == {'Result': 'exit-code', 'ExecMainStatus': str(status)}, machine.journal(name)
    assert reason in machine.journal(name), machine.journal(name)


def script(machine, name, first_line, mode):
    machine.write(f'/srv/{name}', f'{first_line}\necho unreachable\n', mode)
    machine.container(name, f'''
        [Container]
        Image=localhost/test/debian
        Volume=/srv/{name}:/script
        Exec=/script
    ''')


def test_missing_interpreter(machine):
    script(machine, 'nointerpreter', '#!/no/such/shell', 0o755)
    fails(machine, 'nointerpreter', 127, 'interpreter or loader')


def test_not_executable(machine):
    script(machine, 'noexec', '#!/bin/sh', 0o644)
    fails(machine, 'noexec', 126, 'Permission denied')


def test_not_a_program(machine):
    script(machine, 'garbage', '\x7fnothing', 0o755)
    fails(machine, 'garbage', 126, 'Exec format error')


def test_missing_loader(machine):
    """A dynamic program in an image without any library."""
    machine.container('noloader', '''
        [Container]
        Image=localhost/test/busybox
        Volume=/usr/bin/ls:/dynamic:ro
        Exec=/dynamic
    ''')
    fails(machine, 'noloader', 127, 'interpreter or loader')


def test_root_whose_mount_points_are_links(machine):
    """It would have /proc and /dev mounted on directories of its choice, or none at all."""
    for name in ('proc', 'dev', 'sys'):
        machine.run(f'rm -rf /srv/linked /srv/outside; mkdir -p /srv/linked /srv/outside && cd /srv/linked && '
                    f'mkdir -p bin etc proc dev sys run && cp /bin/busybox bin && rmdir {name} && '
                    f'ln -s ../../srv/outside {name}')
        machine.container('linked', '''
            [Container]
            Rootfs=/srv/linked
            Exec=/bin/busybox sleep 1000
        ''')
        fails(machine, 'linked', 125, f"the container's '/{name}'")
        assert machine.run('ls /srv/outside').out == ''
        assert 'outside' not in machine.run('cat /proc/self/mountinfo').out


def test_oneshot_fails_in_the_same_way(machine):
    machine.container('nothing', '''
        [Container]
        Image=localhost/test/busybox
        Exec=/no/such/program

        [Service]
        Type=oneshot
    ''')
    fails(machine, 'nothing', 127, "Cannot execute '/no/such/program'")


def test_oneshot_that_remains(machine):
    machine.container('done', '''
        [Container]
        Image=localhost/test/busybox
        Exec=true

        [Service]
        Type=oneshot
        RemainAfterExit=yes
    ''')
    machine.run('systemctl start done')
    assert machine.show('done', 'ActiveState', 'SubState') == {'ActiveState': 'active', 'SubState': 'exited'}
    machine.run('systemctl stop done')
    assert machine.show('done', 'Result') == 'success'


def test_segmentation_fault_is_seen(machine):
    """A real one: signals that are only sent do not reach the first process of a PID namespace."""
    machine.write('/srv/fault.pl', 'print unpack("p", pack("Q", 8));')
    machine.container('crash', '''
        [Unit]
        StartLimitIntervalSec=0

        [Container]
        Image=localhost/test/debian
        Volume=/srv/fault.pl:/fault.pl:ro
        Exec=perl /fault.pl
    ''')
    for _ in range(20):
        machine.run('systemctl start crash')
        machine.wait_for(lambda: machine.show('crash', 'ActiveState') == 'failed')
        # CLD_KILLED, or CLD_DUMPED where the machine keeps cores
        shown = machine.show('crash', 'ExecMainCode', 'ExecMainStatus')
        assert shown['ExecMainCode'] in ('2', '3') and shown['ExecMainStatus'] == '11', shown
        machine.run('systemctl reset-failed crash')


def test_killed_at_any_moment_of_the_start(machine):
    """libstart, its helpers and the payload: the whole service, as the kernel out of memory would."""
    machine.container('cut', '''
        [Unit]
        StartLimitIntervalSec=0

        [Container]
        Image=localhost/test/busybox
        Exec=sleep 1000
        StopSignal=SIGKILL
    ''')
    machine.run('systemctl start cut; systemctl stop cut')
    before = machine.settled()
    random.seed(1)
    for i in range(50):
        whom = ('all', 'main')[i % 2]
        machine.run(f'systemctl start --no-block cut; sleep 0.0{random.randrange(40):02}; '
                    f'systemctl kill --kill-who={whom} --signal=KILL cut; systemctl stop cut; '
                    'systemctl reset-failed cut')
    machine.is_as(before)


def test_default_instance(machine):
    machine.container('seat@', '''
        [Container]
        Image=localhost/test/busybox
        Exec=sh -c "echo seat of %i; exec sleep 1000"
        StopSignal=SIGKILL

        [Install]
        DefaultInstance=driver
        WantedBy=multi-user.target
    ''')
    machine.run('systemctl start multi-user.target')
    machine.wait_for(lambda: 'seat of driver' in machine.journal('seat@driver').splitlines())


REFUSED = """
    [Container]
    Image=localhost/test/busybox
    Exec=sleep 1000
    StopSignal=SIGKILL
    Nettwork=host

    [Service]
    Restart=always
    ExecStartPre=touch /run/host-was-changed

    [Install]
    WantedBy=multi-user.target
"""


def test_refused_file_is_a_unit_that_says_why(machine):
    machine.run('rm -f /run/host-was-changed')  # another test's container may have made it
    machine.container('refused', REFUSED)
    fails(machine, 'refused', 125, "refused.container:5: 'Nettwork=': unknown key")
    assert 'refused.service' in machine.run('systemctl --failed --plain').out
    assert "is 'Network=' meant?" in machine.run('systemctl status refused', check=False).out
    assert machine.show('refused', 'NRestarts') == '0'
    machine.run('! test -e /run/host-was-changed')
    # As at boot.
    machine.run('systemctl reset-failed refused; systemctl start multi-user.target')
    machine.wait_for(lambda: machine.show('refused', 'ActiveState') == 'failed')


def test_running_container_whose_file_is_deleted(machine):
    """It stays known, is entered and stopped as before, and leaves nothing; then it is gone."""
    good = REFUSED.replace('Nettwork', 'Network').replace('StopSignal', 'ContainerName=own-name\n    StopSignal')
    for name in ('gone', 'many@'):
        machine.container(name, good)
    machine.run('systemctl start gone many@1')
    state = machine.show('gone', 'MainPID', 'KillMode', 'KillSignal', 'TimeoutStopUSec', 'RuntimeDirectory', 'Delegate', 'TasksMax')
    machine.run('rm /etc/containers/systemd/gone.container /etc/containers/systemd/many@.container')
    machine.reload()
    for name in ('gone', 'many@1'):
        line = next(line for line in machine.run('keyturnctl list').out.splitlines() if f'{name}.service' in line)
        assert line.startswith('own-name') and 'active (running), file deleted' in line, line
        assert machine.run(f'keyturnctl exec {name} echo inside').out == 'inside\n'
    assert machine.show('gone', *state) == state
    assert machine.show('gone', 'Description') == \
        'gone (refused: gone.container: the file is gone: what runs goes on until it is stopped, and cannot be started again)'
    unit = machine.run('systemctl cat gone').out
    assert 'the file is gone' in unit and 'SourcePath=' not in unit and 'itself does not say' not in unit, unit
    journal = machine.journal()
    assert 'is not absolute' not in journal and 'world-inaccessible' not in journal, journal
    machine.reload()  # once more, and it is still there
    assert machine.show('gone', *state) == state
    machine.run('systemctl stop gone many@1')
    machine.run('! test -e /run/keyturn/gone; ! test -e /run/keyturn/many@1')
    assert 'own-name' not in machine.run('keyturnctl list').out
    machine.reload()
    assert machine.run('systemctl start gone', check=False).status == 5  # there is no such unit
    # What somebody runs by hand has no unit, and gets none.
    machine.run('systemd-run -q --unit=by-hand /usr/lib/keyturn/libstart run --name free --network none '
                'localhost/test/busybox sleep 1000')
    machine.wait_for(lambda: machine.run('test -e /run/keyturn/free/free/status', check=False).status == 0)
    machine.reload()
    assert machine.show('free', 'LoadState') == 'not-found'
    machine.run('systemctl kill -s KILL by-hand; pkill -KILL -xf "sleep 1000"; rm -rf /run/keyturn/free', check=False)


VENDOR = '''[Service]
ExecStart=/usr/lib/keyturn/libstart run --name payload --state-dir /run/keyturn/%N --network none localhost/test/busybox sleep 1000
RuntimeDirectory=keyturn/%N
Delegate=yes
KillSignal=SIGKILL
'''


def test_unit_of_a_package_that_calls_libstart(machine):
    """It has no .container file, and is none whose file was deleted: a reload leaves it as it is. So with an instance."""
    units = {'/usr/lib/systemd/system/vendor.service': 'vendor', '/usr/local/lib/systemd/system/local.service': 'local',
             '/usr/lib/systemd/system/vendor@.service': 'vendor@1', '/etc/systemd/system/own@.service': 'own@1',
             '/run/systemd/system/volatile@.service': 'volatile@1'}
    for path in units:
        machine.write(path, VENDOR)
    machine.reload()
    machine.run(['systemctl', 'start', *units.values()])
    for name in units.values():
        machine.wait_for(lambda name=name: machine.run(f'test -e /run/keyturn/{name}/payload/status', check=False).status == 0)
    machine.reload()
    for path, name in units.items():
        fragment = machine.show(name, 'FragmentPath')
        assert fragment in (path, path.removeprefix('/usr')), fragment  # bookworm's systemd looks below /lib
        assert machine.show(name, 'ActiveState') == 'active', name
    machine.run(['systemctl', 'restart', *units.values()])
    machine.run(['systemctl', 'stop', *units.values()])
    machine.run(['systemctl', 'reset-failed'])
    machine.run(['rm', *units])
    machine.reload()


def test_running_container_whose_file_becomes_invalid(machine):
    """It stays known, keeps running, and is stopped as it would have been."""
    good = REFUSED.replace('Nettwork', 'Network')
    machine.container('spoilt', good)
    machine.run('systemctl start spoilt')
    state = machine.show('spoilt', 'MainPID', 'KillMode', 'KillSignal', 'TimeoutStopUSec', 'RuntimeDirectory',
                         'Delegate', 'TasksMax')
    for bad in ('[Contaner]\nImage=localhost/test/busybox\n', 'Image\n', REFUSED):
        machine.container('spoilt', bad)
        now = machine.show('spoilt', *state)
        if bad != REFUSED:  # such a file does not say any more which it was
            now['KillSignal'] = state['KillSignal']
        assert now == state, (bad, now)
        assert machine.show('spoilt', 'ActiveState') == 'active'
        assert machine.show('spoilt', 'Description').startswith('spoilt (refused: /etc/containers/systemd/spoilt.container')
        assert 'active (running), file refused' in machine.run('keyturnctl list').out
        assert machine.run('keyturnctl exec spoilt echo inside').out.strip() == 'inside'
    machine.run('systemctl stop spoilt')
    assert machine.show('spoilt', 'Result') == 'signal'  # not 'timeout': it is still StopSignal= that stops it
    machine.run('! test -e /run/keyturn/spoilt')
    machine.container('spoilt', good)
    machine.run('systemctl start spoilt')


def test_payload_that_ends_after_its_file_became_invalid(machine):
    machine.container('ends', REFUSED.replace('Nettwork', 'Network'))
    machine.run('systemctl start ends')
    machine.container('ends', REFUSED)
    machine.run('systemctl kill --signal=KILL ends')
    machine.wait_for(lambda: machine.show('ends', 'ActiveState') == 'failed')
    assert machine.show('ends', 'NRestarts') == '1'
    assert "'Nettwork=': unknown key" in machine.journal('ends')
