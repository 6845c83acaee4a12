# SPDX-License-Identifier: LGPL-2.1-or-later
"""[Keyturn] Early=yes in a real boot: before basic.target, without an ordering cycle, gone where others are gone."""

import os

EARLY = '''
[Container]
Image=localhost/test/busybox
Network=none
Volume=/srv/early:/data
Exec=sh -c "trap 'exit 0' TERM; echo early bird; touch /data/written; sleep 1000 & wait"

[Keyturn]
Early=yes
'''
LATE = '''
[Container]
Image=localhost/test/busybox
Network=none
Exec=sh -c "trap 'exit 0' TERM; sleep 1000 & wait"

[Install]
WantedBy=multi-user.target
'''
# Debian's asks for a password.
RESCUE = '''
[Unit]
DefaultDependencies=no
Conflicts=shutdown.target
Before=shutdown.target

[Service]
ExecStart=/bin/sleep infinity
'''
# A shutdown, up to where the machine would go.
NEARLY_OFF = '''
[Unit]
DefaultDependencies=no
Requires=shutdown.target
After=shutdown.target

[Service]
ExecStart=/bin/sleep infinity
'''


def write(root, path, text):
    path = f'{root}/{path}'
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if os.path.islink(path):
        os.unlink(path)
    with open(path, 'w') as file:
        file.write(text)


def prepare(root):
    os.makedirs(f'{root}/srv/early')
    write(root, 'etc/containers/systemd/early.container', EARLY)
    write(root, 'etc/containers/systemd/late.container', LATE)
    write(root, 'etc/systemd/system/rescue.service', RESCUE)
    write(root, 'etc/systemd/system/nearly-off.service', NEARLY_OFF)


def activated(machine, unit):
    return int(machine.show(unit, 'ActiveEnterTimestampMonotonic'))


def said(machine, *options):
    """Since the boot; machine.journal() begins later."""
    return machine.run(['journalctl', '--boot', '--output=cat', *options]).out


def is_active(machine, unit):
    return machine.show(unit, 'ActiveState') == 'active'


def wait_until_up(machine):
    """The payload of the early one has its trap: without, a stop would wait, and kill it."""
    machine.wait_for(lambda: is_active(machine, 'late'))
    machine.wait_for(lambda: 'early bird' in said(machine, '--unit=early'))


def test_starts_before_basic_target(machine):
    with machine.another(prepare) as booted:
        booted.wait_for(lambda: is_active(booted, 'late'))
        assert is_active(booted, 'early')
        assert 0 < activated(booted, 'early') <= activated(booted, 'basic.target') < activated(booted, 'late')
        # The journal may have begun after it, and has all it said.
        booted.wait_for(lambda: 'early bird' in said(booted, '--unit=early'))
        booted.wait_for(lambda: os.path.exists(booted.path('/srv/early/written')))
        assert 'cycle' not in said(booted), said(booted)
        assert booted.run('systemctl --failed --plain --no-legend').out == ''
        # Whoever compiled it, there is a filter.
        pid = booted.show('early', 'MainPID')
        assert 'Seccomp:\t2\n' in booted.read(f'/proc/{pid}/status')
        assert booted.run('systemd-analyze verify --man=no /run/systemd/generator/early.service').err == ''


def test_rescue_mode_and_back(machine):
    with machine.another(prepare) as booted:
        wait_until_up(booted)
        booted.run('systemctl isolate rescue.target')
        for unit in ('late', 'early'):
            booted.wait_for(lambda unit=unit: booted.show(unit, 'ActiveState') == 'inactive')
        assert booted.show('early', 'Result') == 'success'
        assert booted.run('ls -A /run/keyturn').out.split() == ['.volumes', 'relay']
        booted.run('systemctl isolate multi-user.target')
        booted.wait_for(lambda: is_active(booted, 'early') and is_active(booted, 'late'))


def test_shutdown_stops_it_last_of_the_containers(machine):
    with machine.another(prepare) as booted:
        wait_until_up(booted)
        booted.run('systemctl start --job-mode=replace-irreversibly nearly-off.service')
        booted.wait_for(lambda: booted.show('early', 'ActiveState') == 'inactive', timeout=30)

        def left(unit):
            return int(booted.show(unit, 'InactiveEnterTimestampMonotonic'))
        assert left('late') < left('basic.target') <= left('early')
        assert booted.show('early', 'Result') == 'success'
