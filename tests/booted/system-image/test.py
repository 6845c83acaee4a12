# SPDX-License-Identifier: LGPL-2.1-or-later
"""What is made, and what is found, before a machine is deployed."""

import json
import os

GENERATOR = '/usr/lib/systemd/system-generators/keyturn-generator'
MASK = '/etc/systemd/system-generators/keyturn-generator'
MADE = '/run/systemd/generator'


def install(machine):
    machine.container('baked', '''
        [Container]
        Image=localhost/test/busybox
        Network=host
        Exec=sleep 1000
        StopSignal=SIGKILL
        AddCapability=SYS_TIME

        [Install]
        WantedBy=multi-user.target
    ''', reload=False)
    machine.container('gone', '''
        [Container]
        Image=localhost/test/busybox
        Network=host
        Exec=sleep 1000
        StopSignal=SIGKILL

        [Install]
        WantedBy=multi-user.target
    ''', reload=False)
    machine.run(f'{GENERATOR} --install')


def made(machine):
    """What keyturn's generator has made at the last reload: other generators are there, too."""
    return machine.run(f'grep -lrs keyturn {MADE}', check=False).out.split()


def undo(machine):
    machine.run(f'rm -f /etc/containers/systemd/*.container; {GENERATOR} --install; '
                'rm -rf /usr/lib/keyturn/image-units /usr/lib/keyturn/seccomp /run/keyturn/seccomp')


def test_first_process_of_a_build(machine):
    """What RUN of a Containerfile executes has the process id 1, and only payloads are refused by that."""
    for program in (GENERATOR, '/usr/lib/keyturn/seccomp-precompile', '/usr/lib/keyturn/keyturn-network'):
        said = machine.run(f'unshare --pid --fork --mount-proc {program} --version')
        assert said.out.startswith(f'{os.path.basename(program)} '), said
    said = machine.run('unshare --pid --fork --mount-proc /usr/lib/keyturn/libstart --version', check=False)
    assert said.status == 125 and 'refusing to be the payload' in said.err, said


def test_without_generator(machine):
    try:
        install(machine)
        machine.run('systemctl stop keyturn-seccomp; rm -rf /run/keyturn/seccomp')
        machine.write(MASK, '')  # an empty file masks it, too
        machine.reload()
        assert made(machine) == []
        machine.run('systemctl start multi-user.target')
        machine.wait_for(lambda: machine.show('baked', 'ActiveState') == 'active')
        assert machine.show('baked', 'FragmentPath').endswith('/lib/systemd/system/baked.service')
        status = machine.show('keyturn-seccomp', 'StatusText')
        assert ' 0 compiled, 2 from the image' in status, status
        assert [c['unit'] for c in json.loads(machine.run('keyturnctl list --json').out)] == [
            'baked.service', 'gone.service']
        machine.run('keyturnctl exec baked true')
        machine.run('systemctl stop baked gone')
    finally:
        undo(machine)


def test_with_generator(machine):
    try:
        install(machine)
        machine.reload()
        assert made(machine) == [], 'nothing has changed'
        machine.run('rm /etc/containers/systemd/gone.container; '
                    'sed -i s/SYS_TIME/SYS_NICE/ /etc/containers/systemd/baked.container')
        machine.reload()
        assert machine.show('baked', 'FragmentPath') == f'{MADE}/baked.service'
        assert machine.show('gone', 'LoadState') == 'masked'
        wanted = machine.show('multi-user.target', 'Wants').split()
        assert 'baked.service' in wanted and 'gone.service' not in wanted, wanted
        machine.run('systemctl start baked')
        assert [c['unit'] for c in json.loads(machine.run('keyturnctl list --json').out)] == ['baked.service']
        machine.run('systemctl stop baked')
    finally:
        undo(machine)


def test_removal_of_the_package(machine):
    """It stops units that the image has, too, and tidies no payload's directory. tests/package removes a whole one."""
    debian = os.path.join(os.path.dirname(__file__), '../../../debian')
    with open(f'{debian}/keyturn.prerm') as prerm, open(f'{debian}/keyturn.postrm') as postrm:
        machine.write('/run/prerm', prerm.read())
        tidy, = [line for line in postrm if 'find /run/keyturn' in line]
    machine.write('/run/said/systemctl', '#!/bin/sh\necho "$@"\n')
    try:
        install(machine)
        said = machine.run('chmod +x /run/said/systemctl; PATH=/run/said:$PATH sh /run/prerm remove').out.split()
        assert said[0] == 'stop' and {'baked.service', 'gone.service'} < set(said), said
        assert 'dbus.service' not in said, said
        machine.run('mkdir -p /run/keyturn/pod/removed/shm && mount -t tmpfs tmpfs /run/keyturn/pod/removed/shm && '
                    'mkdir -p /run/keyturn/pod/removed/shm/empty /run/keyturn/pod/removed2 /run/keyturn/mount && '
                    'mount -t tmpfs tmpfs /run/keyturn/mount && mkdir /run/keyturn/mount/empty')
        machine.run(tidy)
        machine.run('test -d /run/keyturn/pod/removed/shm/empty && test -d /run/keyturn/mount/empty && '
                    '! test -e /run/keyturn/pod/removed2')
    finally:
        machine.run('umount /run/keyturn/mount /run/keyturn/pod/removed/shm; rm -rf /run/keyturn/pod/removed '
                    '/run/keyturn/mount /run/said /run/prerm', check=False)
        undo(machine)


def found(machine, arguments=''):
    done = machine.run(f'{GENERATOR} --verify --json {arguments}', check=False)
    assert done.status in (0, 1) and not done.err, done
    return done.status, {(r['file'].rsplit('/', 1)[-1], r['line'], r['column'], r['rule']): r['message']
                         for r in json.loads(done.out)}


def test_verify_with_a_store(machine):
    machine.container('good', '''
        [Container]
        Image=localhost/test/debian
        Network=host
        User=nobody:nogroup
    ''', reload=False)
    machine.container('nobodys', '''
        [Unit]
        Afterr=x
        [Container]
        Image=test/dump
        User=pilot
        Network=host
        [Service]
        Restrat=always
    ''', reload=False)
    machine.container('refused', '''
        [Container]
        Image=localhost/test/nothing
        AddCapability=CAP_CHOWN CAP_TYPO
    ''', reload=False)
    status, remarks = found(machine)
    assert status == 1, remarks
    podman = machine.run('test -e /usr/bin/podman', check=False).status == 0
    prunable = {('good.container', 2, 7, 'image-prunable')} if podman else set()
    assert set(remarks) == prunable | {
        ('nobodys.container', 2, 1, 'systemd'),
        ('nobodys.container', 4, 7, 'image-short-name'),
        ('nobodys.container', 5, 6, 'user-missing'),
        ('nobodys.container', 8, 1, 'systemd'),
        ('refused.container', 3, 25, 'refused'),
    }, remarks
    status, remarks = found(machine, '/etc/containers/systemd/good.container')
    assert status == 0 and set(remarks) == prunable, remarks


def test_a_file_that_the_generator_refuses_is_one_that_verify_refuses(machine):
    machine.container('plain', '[Container]\nImage=localhost/test/busybox\nNetwork=host\n', reload=False)
    assert found(machine, '--files-only') == (0, {})
    assert machine.run('keyturnctl check').out.startswith('Work as they are: 1\n')
    machine.container('plain', '[Container]\nImage=localhost/test/busybox\nNettwork=host\n', reload=False)
    assert found(machine, '--files-only')[0] == 1
    assert machine.run('keyturnctl check', check=False).status == 1
