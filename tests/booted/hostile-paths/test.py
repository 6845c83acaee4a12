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
