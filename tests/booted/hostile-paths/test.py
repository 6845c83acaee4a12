# SPDX-License-Identifier: LGPL-2.1-or-later
"""Paths as a weapon: what a payload or an image writes, where the host or another container then looks.

Each test runs the attack itself, on a machine that has been booted.
"""


def test_a_port_published_on_loopback_is_not_open_to_the_world(machine):
    machine.container('published', '''
        [Container]
        Image=localhost/test/busybox
        PublishPort=127.0.0.1:8080:80
        Exec=nc -l -p 80
    ''')
    machine.run('systemctl start published', check=False)
    assert ':0050 ' not in machine.run("cat /proc/1/net/tcp /proc/1/net/tcp6").out, 'something listens on port 80'
    assert machine.show('published', 'LoadState') == 'not-found'
    said = machine.run('/usr/lib/systemd/system-generators/keyturn-generator --dry-run', check=False).err
    assert "published.container:3: 'PublishPort=': '127.0.0.1:8080:80' needs a bridge" in said, said


def test_a_port_that_is_its_own_is_the_programs(machine):
    machine.container('published', '''
        [Container]
        Image=localhost/test/busybox
        PublishPort=81:81
        Exec=nc -l -p 81
    ''')
    machine.run('systemctl start published')
    machine.wait_for(lambda: ':0051 ' in machine.run('cat /proc/1/net/tcp /proc/1/net/tcp6').out)


# ---- nothing of a start depends on luck

RENAMING = '''
    [Service]
    ExecStart=perl -e 'chdir "/dev/shm"; open F, ">one"; while (1) { rename "one", "other"; rename "other", "one" }'
'''


def make_root(machine, path, *commands):
    """A root directory with a shell, and what the commands put into it, which run in there."""
    machine.run(f'rm -rf {path} && mkdir -p {path}/bin {path}/etc {path}/proc {path}/sys {path}/dev {path}/tmp && '
                f'cp /bin/busybox {path}/bin/ && ln -s busybox {path}/bin/sh && cd {path}')
    for command in commands:
        machine.run(f'cd {path} && {command}')


def test_a_process_that_renames_keeps_no_container_from_starting(machine):
    """A look-up through '..' fails with EAGAIN whenever something is renamed meanwhile."""
    links = 'mkdir -p srv/real etc && ln -s ../srv/../etc/../srv/real srv/linked'
    make_root(machine, '/srv/linking', links)
    volumes = ''.join(f'            Volume=/srv/volume:/srv/linked/{n}\n' for n in range(20))
    machine.run('mkdir -p /srv/volume')
    machine.unit('renaming', RENAMING)
    machine.container('lucky', f'''
            [Container]
            Rootfs=/srv/linking:O
            Exec=sh -c "sleep 1000"
{volumes}''')
    machine.run('systemctl start renaming')
    for _ in range(20):
        machine.run('systemctl start lucky')
        machine.run('systemctl kill --signal=KILL lucky; systemctl stop lucky; systemctl reset-failed lucky',
                    check=False)
    assert machine.show('renaming', 'ActiveState') == 'active'
