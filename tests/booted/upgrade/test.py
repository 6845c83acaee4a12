# SPDX-License-Identifier: LGPL-2.1-or-later
"""Units and state that version 1.0 has made, with the programs of today: as after an update without a reload of systemd.

tests/upgrade/1.0-units is what the generator made then, 1.0-state what was in /var/lib/keyturn, with numbers that nobody
would choose anew. Both stay as they are; a later release gets directories of its own (keyturn-stability(7), UPGRADES).
"""

import contextlib
import pathlib
import shutil

UPGRADE = pathlib.Path(__file__).resolve().parents[2] / 'upgrade'
NAMES = ['every', 'bridged', 'leased', 'mapped', 'member']
STATE = '/var/lib/keyturn'
NEWER = 'was written by a newer keyturn (format=2)'


def install(machine):
    """A generator that has only to copy takes the place of today's, so that no unit is today's."""
    for path in UPGRADE.glob('1.0-units/**/*'):
        if path.is_file():
            machine.write(f'/srv/1.0-units/{path.relative_to(UPGRADE / "1.0-units")}', path.read_text())
    machine.write('/etc/systemd/system-generators/keyturn-generator', '#!/bin/sh\ncp -R /srv/1.0-units/. "$1"\n', 0o755)
    for kind in 'ug':
        machine.write(f'/etc/sub{kind}id', 'containers:2147483647:2147483648\n')
    machine.write('/srv/upgrade/file', 'on the host\n')
    machine.write('/srv/upgrade-secret', 'hush\n')
    machine.run('systemctl daemon-reload')


@contextlib.contextmanager
def state(machine, more=()):
    """The state of then, and other files; at the end nothing of it, and no unit that has used it."""
    shutil.rmtree(machine.path(STATE), ignore_errors=True)
    shutil.copytree(UPGRADE / '1.0-state', machine.path(STATE))
    for path, text in more:
        machine.write(f'{STATE}/{path}', text)
    try:
        yield
    finally:
        machine.run(['systemctl', 'stop', *NAMES, 'oneshot', 'both-pod', 'upgrade-network', 'upgrade-volume',
                     'keyturn-network@bridged', 'keyturn-network@leased', 'keyturn-userns@mapped'], check=False)
        machine.run('systemctl reset-failed')
        shutil.rmtree(machine.path(STATE))


def proc(machine, name, file):
    return machine.run(f'cat /proc/{machine.show(name, "MainPID")}/{file}').out


def address(machine, name):
    pid = machine.show(name, 'MainPID')
    return machine.run(f'nsenter --net=/proc/{pid}/ns/net ip -4 -o address show scope global').out.split()[3]


def test_units_and_state_of_1_0(machine):
    install(machine)
    with state(machine):
        units_and_state_count(machine)


def units_and_state_count(machine):
    machine.run(['systemctl', 'start', *NAMES])
    for name in [*NAMES, 'both-pod']:
        assert machine.show(name, 'ActiveState') == 'active', machine.journal(name)
        pinned = (UPGRADE / '1.0-units' / f'{name}.service').read_text()
        assert machine.read(machine.show(name, 'FragmentPath')) == pinned, name

    said = ['1000', '1001', 'red,a', 'b,$HOME,hush', 'on', 'the', 'host', '192.0.2.7', 'elsewhere']
    # By the identifier: of a first line systemd 252 may not know the unit.
    machine.wait_for(lambda: ' '.join(said) in ' '.join(machine.run('journalctl -q -o cat -t every').out.split()))
    status = proc(machine, 'every', 'status')
    assert 'CapBnd:\t0000000000000400\n' in status and 'NoNewPrivs:\t1\n' in status and 'Seccomp:\t2\n' in status, status
    assert 'Umask:\t0027\n' in status and 'Groups:\t1001 1500' in status, status
    # The service's timer.
    machine.wait_for(lambda: 'healthy' in machine.run('keyturnctl health every').out)
    assert machine.run('systemctl start keyturn-health@every').status == 0

    # What was in /var/lib/keyturn counts.
    assert proc(machine, 'mapped', 'uid_map').split() == ['0', '4294000000', '2000']
    assert proc(machine, 'mapped', 'gid_map').split() == ['0', '4294100000', '2000']
    assert address(machine, 'bridged') == '10.99.77.5/24'
    assert address(machine, 'leased') == '10.99.77.177/24'

    assert machine.run('systemctl start oneshot', check=False).status
    assert machine.show('oneshot', 'ExecMainStatus') == '3', machine.journal('oneshot')
    machine.run('systemctl restart every bridged mapped')
    listed = machine.run('keyturnctl list --quiet').out.split()
    assert {'every-one', 'systemd-bridged', 'systemd-mapped', 'systemd-member'} <= set(listed), listed


def test_state_of_a_newer_version_is_refused_by_name(machine):
    install(machine)
    updating = machine.run('printf "keyturnctl update" | sha256sum').out.split()[0]
    newer = {'ids/mapped': 'format=2\nmore than 1.0 knew\n', 'leases/leased': 'format=2\nmore\n',
             f'images/{updating}': 'format=2\nrejected=nothing\n'}
    with state(machine, newer.items()):
        newer_is_refused(machine, newer, updating)


def newer_is_refused(machine, newer, updating):
    for name, path in ('mapped', 'ids/mapped'), ('leased', 'leases/leased'):
        assert machine.run(f'systemctl start {name}', check=False).status, f'{name} starts'
        assert f"'{STATE}/{path}' {NEWER}" in machine.show(name, 'StatusText'), machine.show(name, 'StatusText')
    # One that has a file of its own is no exception: it could get what the newer one has given away.
    machine.run('systemctl reset-failed')
    assert machine.run('systemctl start bridged', check=False).status
    refused = machine.run('keyturnctl update 2>&1', check=False)
    assert refused.status == 125 and f"'{STATE}/images/{updating}' {NEWER}" in refused.out, refused.out
    for path, text in newer.items():
        assert machine.read(f'{STATE}/{path}') == text, f'{path} was written over'

    # As the message says.
    machine.run(f'rm {STATE}/ids/mapped {STATE}/leases/leased; systemctl reset-failed')
    machine.run('systemctl start mapped leased bridged')
