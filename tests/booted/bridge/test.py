# SPDX-License-Identifier: LGPL-2.1-or-later
"""Containers on bridges, from the file to the client: the units, ports and names, and what a start finds."""

import json
import re
import time

STATE = '/run/keyturn/network'
QUADLET = '/usr/libexec/podman/quadlet'

SERVER = 'Exec=httpd -f -p [::]:80 -h /www'


def start(machine, name, keys, exec_='sleep 1000', more=''):
    """Starts a container of these keys; again, if it runs."""
    machine.container(name, f'[Container]\nImage=localhost/test/busybox\n{keys}\nExec={exec_}\nStopSignal=SIGKILL\n' + more)
    machine.run(f'systemctl restart {name}', timeout=60)


def inside(machine, name, command, check=True):
    return machine.run(f'keyturnctl exec {name} sh -c "{command}"', check=check).out


def ask(machine, url, where=''):
    return machine.run(f'{where} busybox wget -T 2 -q -O - {url}', check=False).out


def is_gone(machine, name):
    return machine.run(f'test -e {STATE}/{name}', check=False).status == 1


def test_a_container_is_on_a_bridge(machine):
    start(machine, 'one', 'Network=bridge\nHostName=box')
    unit = machine.show('keyturn-network@one', 'ActiveState', 'SubState')
    assert unit == {'ActiveState': 'active', 'SubState': 'exited'}, unit
    address = re.search(r'inet (10\.88\.\S+)/16', inside(machine, 'one', 'ip -4 addr show eth0'))[1]
    assert inside(machine, 'one', 'ip route').startswith('default via 10.88.0.1 ')
    hosts = inside(machine, 'one', 'cat /etc/hosts')
    assert f'{address}\tbox systemd-one' in hosts, hosts
    assert '10.88.0.1\thost.containers.internal host.docker.internal' in hosts, hosts
    assert inside(machine, 'one', 'ls /sys/class/net').split() == ['eth0', 'lo']
    assert inside(machine, 'one', 'cat /proc/sys/net/ipv4/ping_group_range').split() == ['0', '0']
    machine.run('systemctl stop one')
    machine.wait_for(lambda: is_gone(machine, 'one'))
    assert machine.show('keyturn-network@one', 'ActiveState') == 'inactive'


def test_a_restart_keeps_the_network_and_a_stop_removes_it(machine):
    start(machine, 'one', 'Network=bridge', more='[Service]\nRestart=always\nRestartSec=100ms\n')
    since = machine.show('keyturn-network@one', 'InvocationID')
    inode = machine.run(f'stat -c %i {STATE}/one/netns').out
    machine.run('systemctl restart one')
    machine.run('systemctl kill --kill-whom=main -s KILL one')
    machine.wait_for(lambda: machine.show('one', 'NRestarts') == '1' and machine.show('one', 'ActiveState') == 'active')
    assert machine.show('keyturn-network@one', 'InvocationID') == since
    assert machine.run(f'stat -c %i {STATE}/one/netns').out == inode
    machine.run('systemctl stop one')
    machine.wait_for(lambda: is_gone(machine, 'one'))


def test_what_fails_is_said(machine):
    machine.container('one', '[Container]\nImage=localhost/test/busybox\nNetwork=nowhere\nExec=true\n')
    assert machine.run('systemctl start one', check=False).status != 0
    assert machine.show('one', 'ActiveState') == 'inactive'
    assert 'nowhere' in machine.journal('keyturn-network@one.service'), machine.journal()
    assert 'Dependency failed for' in machine.journal('one.service'), machine.journal('one.service')
    # Whoever goes past the unit is told which one it is.
    machine.container('one', '[Container]\nImage=localhost/test/busybox\nNetwork=bridge\nExec=true\n')
    machine.run('systemctl start --job-mode=ignore-dependencies one', check=False)
    assert 'keyturn-network@one.service makes it' in machine.journal('one.service'), machine.journal('one.service')


def test_names_of_dashes_instances_and_templates(machine):
    start(machine, 'a-b', 'Network=bridge')
    assert machine.show('keyturn-network@a-b', 'ActiveState') == 'active'
    machine.container('t@', '[Container]\nImage=localhost/test/busybox\nNetwork=bridge:ip=10.88.9.%i\nExec=sleep 1000\n'
                      'ContainerName=%p-%i\nStopSignal=SIGKILL\n')
    machine.run('systemctl start t@7 t@8', timeout=60)
    for number in '78':
        assert f'10.88.9.{number}/16' in inside(machine, f't@{number}', 'ip addr')
        assert f'10.88.9.{number}\t' in inside(machine, f't@{number}', f'grep t-{number} /etc/hosts')
        unit = machine.show(f'keyturn-network-t@{number}', 'StopWhenUnneeded', 'Type', 'NoNewPrivileges')
        assert unit == {'StopWhenUnneeded': 'yes', 'Type': 'oneshot', 'NoNewPrivileges': 'yes'}, unit
    machine.run('systemctl stop t@7')
    machine.wait_for(lambda: is_gone(machine, 't@7'))
    assert not is_gone(machine, 't@8')
    machine.run('systemctl stop t@8 a-b')
    machine.wait_for(lambda: is_gone(machine, 't@8') and is_gone(machine, 'a-b'))
