# SPDX-License-Identifier: LGPL-2.1-or-later
"""Containers on bridges, from the file to the client: the units, ports and names, and what a start finds."""

import difflib
import os
import random
import re
import signal
import time

STATE = '/run/keyturn/network'
QUADLET = '/usr/libexec/podman/quadlet'
SERVER = 'httpd -f -p 80 -h /www'
TEST_SECONDS = 300  # what breaks its network does so in many ways


def start(machine, name, keys, exec_='sleep 1000', more=''):
    """Starts a container of these keys; again, if it runs."""
    machine.container(name, f'[Container]\nImage=localhost/test/busybox\n{keys}\nExec={exec_}\nStopSignal=SIGKILL\n' + more)
    machine.run(f'systemctl restart {name}', timeout=60)


def ask(machine, url, where=''):
    """What a web server says. Not by busybox, whose static wget crashes on Debian 12."""
    six, four, port, path = re.fullmatch(r'http://(?:\[(.*)\]|([^:]*))(?::(\d+))?(/.*)', url).groups()
    get = f'exec 3<>/dev/tcp/{six or four}/{port or 80}; echo GET {path} HTTP/1.0 >&3; echo >&3; tail -n 1 <&3'
    return machine.run(f'{where} timeout 5 bash -c "{get}"', check=False).out


def is_gone(machine, name):
    unit = f'keyturn-network{"-" if "@" in name else "@"}{name}'
    return machine.run(f'test -e {STATE}/{name}', check=False).status == 1 and \
        machine.show(unit, 'ActiveState') == 'inactive'


def make_www(machine):
    machine.run('mkdir -p /run/www; echo hello >/run/www/index.html')


def test_a_container_is_on_a_bridge(machine):
    start(machine, 'one', 'Network=bridge\nHostName=box')
    unit = machine.show('keyturn-network@one', 'ActiveState', 'SubState')
    assert unit == {'ActiveState': 'active', 'SubState': 'exited'}, unit
    address = re.search(r'inet (10\.88\.\S+)/16', machine.inside('one', 'ip -4 addr show eth0'))[1]
    assert machine.inside('one', 'ip route').startswith('default via 10.88.0.1 ')
    hosts = machine.inside('one', 'cat /etc/hosts')
    assert f'{address}\tbox systemd-one' in hosts, hosts
    assert '10.88.0.1\thost.containers.internal host.docker.internal' in hosts, hosts
    assert machine.inside('one', 'ls /sys/class/net').split() == ['eth0', 'lo']
    assert machine.inside('one', 'cat /proc/sys/net/ipv4/ping_group_range').split() == ['0', '0']
    machine.run('systemctl stop one')
    machine.wait_for(lambda: is_gone(machine, 'one'))


def test_instances_have_networks_of_their_own(machine):
    machine.container('net@.network', '[Network]\nInternal=true\n', reload=False)
    machine.container('side', '''
        [Container]
        Image=localhost/test/busybox
        Exec=sleep 1000
        StopSignal=SIGKILL
        Network=net@a.network
    ''', reload=False)
    machine.container('app@', '''
        [Container]
        Image=localhost/test/busybox
        Exec=sleep 1000
        StopSignal=SIGKILL
        Network=net@.network
    ''')
    machine.run('systemctl start app@a app@b side', timeout=60)
    networks = machine.run('keyturnctl networks').out
    assert 'systemd-net-a' in networks and 'systemd-net-b' in networks, networks
    net = {name: re.search(r'inet (10\.\S+\.)\d+/', machine.inside(name, 'ip -4 addr show eth0'))[1] for name in ('app@a', 'app@b', 'side')}
    assert net['app@a'] == net['side'] != net['app@b'], net
    for name in ('app@a', 'app@b', 'side'):
        machine.run(f'systemctl stop {name}')
        machine.wait_for(lambda: is_gone(machine, name))
    machine.run('systemctl stop net-network@a net-network@b; keyturn-network delete --name systemd-net-a; '
                'keyturn-network delete --name systemd-net-b', check=False)


def test_instances_have_all_of_it_of_their_own(machine):
    """Ids, network, lease, volume and health of one instance are none of another's, and stay over a restart."""
    for file in ('/etc/subuid', '/etc/subgid'):
        machine.write(file, 'containers:524288:65536\n')
    machine.container('net@.network', '[Network]\nLabel=of=%i\n', reload=False)
    machine.container('data@.volume', '[Volume]\nLabel=of=%i\n', reload=False)
    machine.container('app@', '''
        [Container]
        Image=localhost/test/busybox
        Exec=sleep 1000
        StopSignal=SIGKILL
        UserNS=auto:size=1024
        Network=net@%i.network
        Volume=data@%i.volume:/data:U
        HealthCmd=test -e /data/%i
        HealthInterval=300ms
        HealthRetries=1
    ''')
    machine.run('systemctl start app@a app@b', timeout=60)

    def facts(name):
        ids = machine.run(f"awk '{{ print $2 }}' /proc/{machine.show(name, 'MainPID')}/uid_map").out.strip()
        return ids, re.search(r'inet (10\.\S+)/', machine.inside(name, 'ip -4 addr show eth0'))[1]

    before = {name: facts(f'app@{name}') for name in 'ab'}
    assert before['a'][0] != before['b'][0] and before['a'][1] != before['b'][1], before
    assert '0' not in (before['a'][0], before['b'][0]), before
    machine.inside('app@a', 'touch /data/a')
    assert machine.run('stat -c %u /var/lib/containers/storage/volumes/systemd-data-a/_data/a').out.strip() == before['a'][0]
    health = '/run/keyturn/app@{}/.health.json'
    machine.wait_for(lambda: '"healthy"' in machine.read(health.format('a')))
    machine.wait_for(lambda: '"unhealthy"' in machine.read(health.format('b')))
    machine.run('systemctl restart app@a app@b', timeout=60)
    assert {name: facts(f'app@{name}') for name in 'ab'} == before
    assert machine.inside('app@a', 'ls /data') == 'a\n' and machine.inside('app@b', 'ls /data') == ''
    machine.run('systemctl stop app@a app@b')
    machine.wait_for(lambda: is_gone(machine, 'app@a') and is_gone(machine, 'app@b'))
    machine.run('systemctl stop net-network@a net-network@b; keyturn-network delete --name systemd-net-a; '
                'keyturn-network delete --name systemd-net-b; rm /etc/containers/systemd/net@.network '
                '/etc/containers/systemd/data@.volume; systemctl daemon-reload', check=False)


def test_sysctls_of_the_network_without_a_network(machine):
    """They would be the host's; as under Podman, it has a network of its own."""
    own = machine.read('/proc/sys/net/core/somaxconn')
    start(machine, 'one', 'Sysctl=net.core.somaxconn=77')
    assert machine.inside('one', 'cat /proc/sys/net/core/somaxconn') == '77\n'
    assert machine.read('/proc/sys/net/core/somaxconn') == own
    assert machine.inside('one', 'ls /sys/class/net').split() == ['eth0', 'lo']
    machine.run('systemctl stop one')
    machine.wait_for(lambda: is_gone(machine, 'one'))


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


def test_a_start_soon_after_a_stop_finds_the_network(machine):
    """One that ended well, and whose payload could not change it. Who wants its ports or its address does not wait."""
    well = '[Service]\nSuccessExitStatus=SIGKILL 137\n'
    # Two seconds may be too short on a busy machine.
    machine.unit('keyturn-idle@.service.d/longer.conf', '[Service]\nExecStart=\nExecStart=/bin/sleep 8\n')
    inodes = f'stat -c %i {STATE}/{{}}/netns'
    machine.container('colours.network', '[Network]\nSubnet=10.95.0.0/24\n', reload=False)
    start(machine, 'blue', 'Network=colours.network:ip=10.95.0.200\nPublishPort=8095:80', more=well)
    inode = machine.run(inodes.format('blue')).out
    machine.run('systemctl stop blue; systemctl start blue')
    assert machine.run(inodes.format('blue')).out == inode
    # A green one in its place, at once: once for the address, once for the port.
    for keys in ('Network=colours.network:ip=10.95.0.200', 'Network=colours.network\nPublishPort=8095:80'):
        machine.run('systemctl restart blue; systemctl stop "keyturn-idle@*"; systemctl stop blue')
        assert machine.show('keyturn-network@blue', 'ActiveState') == 'active'
        start(machine, 'green', keys, more=well)
        assert is_gone(machine, 'blue')
        machine.run('systemctl stop green keyturn-network@green')
        assert is_gone(machine, 'green')
    # Whoever else needs it keeps it.
    machine.unit('holder', '[Unit]\nRequires=keyturn-network@blue.service\n[Service]\nExecStart=sleep infinity\n')
    machine.run('systemctl start holder blue; systemctl stop blue')
    assert machine.run('systemctl start green', check=False).status != 0
    assert machine.show('holder', 'ActiveState') == 'active' and not is_gone(machine, 'blue')
    machine.run('systemctl stop holder')
    # One that runs again is nobody's to end, though the moment after its stop has not passed.
    machine.run('systemctl start blue; systemctl stop blue; systemctl start blue')
    machine.container('green', '[Container]\nImage=localhost/test/busybox\nPublishPort=8095:80\nExec=sleep 1000\n')
    assert machine.run('systemctl start green', check=False).status != 0
    assert machine.show('blue', 'ActiveState') == 'active' and '10.95.0.200:80' in machine.run('nft list ruleset').out
    # What is asked for by hand is done at once.
    machine.run('systemctl stop blue keyturn-network@blue')
    assert is_gone(machine, 'blue') and '10.95.0.200:80' not in machine.run('nft list ruleset').out
    machine.run('systemctl start blue; systemctl stop blue; systemctl restart keyturn-network@blue; systemctl start blue')
    machine.run('systemctl stop blue')
    machine.wait_for(lambda: is_gone(machine, 'blue'))
    assert '10.95.0.200:80' not in machine.run('nft list ruleset').out
    # It may have changed its network, or failed.
    for name, keys, more in ('changer', 'AddCapability=NET_ADMIN', well), ('failed', '', ''):
        start(machine, name, f'Network=colours.network\n{keys}', more=more)
        machine.run(f'systemctl stop {name}; systemctl stop colours-network')  # which waits for its end
        assert is_gone(machine, name)
        assert machine.show(f'keyturn-idle@keyturn-network@{name}', 'ActiveEnterTimestamp') == ''
    assert 'Failed to enqueue' not in machine.journal()


def test_what_fails_is_said(machine):
    machine.container('one', '[Container]\nImage=localhost/test/busybox\nNetwork=nowhere\nExec=true\n')
    assert machine.run('systemctl start one', check=False).status != 0
    assert machine.show('one', 'ActiveState') == 'failed'
    assert 'nowhere' in machine.journal('keyturn-network@one.service'), machine.journal()
    # The reason is where one looks: in the container's status and journal.
    said = machine.show('one', 'StatusText')
    assert said.startswith("keyturn-network@one.service: There is no network 'nowhere'"), said
    assert said in machine.journal('one.service'), machine.journal('one.service')
    machine.run('systemctl reset-failed')
    # What made it may depend on a unit that has failed.
    machine.container('its.network', '[Network]\nSubnet=10.0.0.0/24\n[Service]\nExecStartPre=/bin/false\n', reload=False)
    machine.container('one', '[Container]\nImage=localhost/test/busybox\nNetwork=its.network\nExec=true\n')
    assert machine.run('systemctl start one', check=False).status != 0
    said = machine.show('one', 'StatusText')
    assert said == 'its-network.service: exit-code', said
    machine.run('systemctl reset-failed')
    # A port that another one has.
    port = '[Container]\nImage=localhost/test/busybox\nPublishPort=8099:80\nExec=sleep 1000\nStopSignal=SIGKILL\n'
    machine.container('two', port, reload=False)
    machine.container('one', port)
    machine.run('systemctl start two')
    assert machine.run('systemctl start one', check=False).status != 0
    said = machine.show('one', 'StatusText')
    assert said.startswith('keyturn-network@one.service: ') and '8099' in said, said
    machine.run('systemctl stop two; systemctl reset-failed')
    # Whoever goes past the unit is told which one it is.
    machine.container('one', '[Container]\nImage=localhost/test/busybox\nNetwork=bridge\nExec=true\n')
    machine.run('systemctl start --job-mode=ignore-dependencies one', check=False)
    assert 'keyturn-network@one.service makes it' in machine.journal('one.service'), machine.journal('one.service')


def test_a_refused_file_fails_alone(machine):
    """What is made ahead of it says nothing besides; below a container that still runs it stays."""
    make_www(machine)
    keys, wrong = 'PublishPort=8099:80\nVolume=/run/www:/www', 'PodmanArgs=--cgroup-parent=x'
    start(machine, 'one', keys, SERVER)
    machine.container('one', f'[Container]\nImage=localhost/test/busybox\n{keys}\n{wrong}\nStopSignal=SIGKILL\n')
    assert machine.show('one', 'ActiveState') == 'active'
    assert ask(machine, 'http://10.88.0.1:8099/') == 'hello\n'
    machine.run('systemctl stop one')
    machine.wait_for(lambda: is_gone(machine, 'one'))
    for _ in range(2):
        assert machine.run('systemctl start one', check=False).status != 0
    failed = machine.run('systemctl --failed --plain --no-legend').out
    assert [line.split()[0] for line in failed.splitlines()] == ['one.service'], failed
    assert '--cgroup-parent' in machine.journal('one.service') and 'up needs a --network' not in machine.journal(), machine.journal()
    machine.run('systemctl reset-failed')
    start(machine, 'one', keys, SERVER)
    assert ask(machine, 'http://10.88.0.1:8099/') == 'hello\n'
    machine.run('systemctl stop one')
    machine.wait_for(lambda: is_gone(machine, 'one'))


def test_a_network_that_comes_later_is_tried_again(machine):
    machine.container('one', '[Container]\nImage=localhost/test/busybox\nNetwork=later\nExec=sleep 1000\nStopSignal=SIGKILL\n'
                      '[Service]\nRestart=always\nRestartSec=300ms\n[Unit]\nStartLimitIntervalSec=0\n')
    machine.run('systemctl start one', check=False)
    machine.run('/usr/lib/keyturn/keyturn-network create --name=later')
    try:
        machine.wait_for(lambda: machine.show('one', 'ActiveState', 'SubState') == {'ActiveState': 'active', 'SubState': 'running'})
        machine.run('systemctl stop one')
        machine.wait_for(lambda: is_gone(machine, 'one'))
    finally:
        machine.run('systemctl stop one; /usr/lib/keyturn/keyturn-network delete --name=later', check=False)


def test_what_the_manuals_say_of_servers_that_have_gone(machine):
    machine.write('/etc/containers/systemd/lan.network', '[Network]\nSubnet=10.77.0.0/24\n')
    for name in ('one', 'two'):
        start(machine, name, f'Network=lan.network\nContainerName={name}')
    asked = ['keyturnctl', 'exec', 'one', 'nslookup', 'two']
    assert machine.run(asked).status == 0
    machine.run('pkill -KILL -x aardvark-dns; while pgrep -x aardvark-dns; do sleep 0.05; done')
    assert machine.run(asked, check=False).status
    # Debian 12's server does not always answer when it has begun anew.
    machine.wait_for(lambda: machine.run('systemctl reload keyturn-network@two', check=False).status == 0 and
                     machine.run(asked, check=False).status == 0, 120)
    machine.run('systemctl stop one two; rm /etc/containers/systemd/lan.network')


def test_a_network_that_podman_has_pruned_is_the_same_again(machine):
    """Nobody logs in to restart what described it; and who is in it meets who comes, though its subnet was chosen."""
    machine.write('/etc/containers/systemd/lan.network', '[Network]\nSubnet=10.77.0.0/24\n')
    machine.write('/etc/containers/systemd/any.network', '[Network]\n')
    machine.write('/etc/containers/systemd/both.pod', '[Pod]\nNetwork=lan.network\n')
    for name in ('one', 'two'):
        start(machine, name, f'Network=lan.network\nNetwork=any.network\nContainerName={name}')
    start(machine, 'member', 'Pod=both.pod')
    addresses = machine.inside('two', 'ip -4 addr | grep inet')

    def prune():
        machine.run('podman network prune -f; rm -f /etc/containers/networks/systemd-*')  # Debian 12's knows other files

    def stop(*names):
        machine.run(['systemctl', 'stop', *names])
        machine.wait_for(lambda: all(is_gone(machine, name) for name in names))
    stop('one')
    prune()
    machine.run('systemctl restart both-pod; systemctl start one member')  # a pod's network is made anew
    for asker, asked in (('one', 'two'), ('two', 'one')):
        machine.wait_for(lambda: machine.run(['keyturnctl', 'exec', asker, 'nslookup', asked], check=False).status == 0)
    assert machine.inside('two', 'ip -4 addr | grep inet') == addresses
    # All have gone, and a start has what the file says now.
    stop('one', 'two', 'member')
    machine.run('systemctl stop both-pod')
    machine.wait_for(lambda: is_gone(machine, 'both-pod'))
    prune()
    machine.write('/etc/containers/systemd/lan.network', '[Network]\nSubnet=10.78.0.0/24\n')
    machine.reload()
    machine.run('systemctl start one')
    assert '10.78.0.' in machine.inside('one', 'ip -4 addr')
    # What somebody requires by hand is not restarted; and one that cannot be described is said to be so.
    machine.unit('by-hand', '[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=true\n')
    machine.unit('keyturn-network@one.service.d/by-hand.conf', '[Unit]\nRequires=by-hand.service\n')
    stop('one')
    prune()
    machine.run('systemctl start by-hand; ip addr add 10.78.0.7/24 dev lo')
    since = machine.show('by-hand', 'InvocationID')
    assert machine.run('systemctl start one', check=False).status
    assert 'The subnet 10.78.0.0/24 is in use' in machine.journal('lan-network'), machine.journal('lan-network')
    machine.run('ip addr del 10.78.0.7/24 dev lo; systemctl reset-failed; systemctl start one')
    assert machine.show('by-hand', 'InvocationID') == since
    machine.run('systemctl stop one lan-network any-network; rm /etc/containers/networks/systemd-*')


def test_names_of_dashes_instances_and_templates(machine):
    start(machine, 'a-b', 'Network=bridge')
    assert machine.show('keyturn-network@a-b', 'ActiveState') == 'active'
    machine.container('t@', '[Container]\nImage=localhost/test/busybox\nNetwork=bridge:ip=10.88.9.%i\nExec=sleep 1000\n'
                      'ContainerName=%p-%i\nStopSignal=SIGKILL\n')
    machine.run('systemctl start t@7 t@8', timeout=60)
    for number in '78':
        assert f'10.88.9.{number}/16' in machine.inside(f't@{number}', 'ip addr')
        assert f'10.88.9.{number}\t' in machine.inside(f't@{number}', f'grep t-{number} /etc/hosts')
        unit = machine.show(f'keyturn-network-t@{number}', 'StopWhenUnneeded', 'Type', 'NoNewPrivileges')
        assert unit == {'StopWhenUnneeded': 'yes', 'Type': 'oneshot', 'NoNewPrivileges': 'yes'}, unit
    machine.run('systemctl stop t@7')
    machine.wait_for(lambda: is_gone(machine, 't@7'))
    assert not is_gone(machine, 't@8')
    machine.run('systemctl stop t@8 a-b')
    machine.wait_for(lambda: is_gone(machine, 't@8') and is_gone(machine, 'a-b'))


def test_a_changed_file_gets_another_network_with_the_next_start(machine):
    make_www(machine)
    start(machine, 'one', 'Network=bridge\nPublishPort=127.0.0.1:8085:80\nVolume=/run/www:/www:ro', SERVER)
    machine.wait_for(lambda: ask(machine, 'http://127.0.0.1:8085/') == 'hello\n')
    # The container is restarted; a start by hand, and one that systemd tries again, see it as well.
    start(machine, 'one', 'Network=bridge\nPublishPort=127.0.0.1:8086:80\nVolume=/run/www:/www:ro', SERVER)
    machine.wait_for(lambda: ask(machine, 'http://127.0.0.1:8086/') == 'hello\n')
    assert ask(machine, 'http://127.0.0.1:8085/') == ''
    assert 'made anew' in machine.journal('one.service')
    assert machine.show('keyturn-network@one', 'ActiveState') == 'active'
    # What says nothing of the network changes nothing.
    since = machine.show('keyturn-network@one', 'InvocationID')
    start(machine, 'one', 'Network=bridge\nPublishPort=127.0.0.1:8086:80\nVolume=/run/www:/www:ro\nEnvironment=A=b',
          SERVER)
    assert machine.show('keyturn-network@one', 'InvocationID') == since
    machine.run('systemctl stop one')
    machine.wait_for(lambda: is_gone(machine, 'one'))


def test_what_runs_keeps_the_network_that_its_file_asks_for_no_more(machine):
    """Until it stops, or is restarted; of an instance and of a pod, too."""
    make_www(machine)
    served = f'[Container]\nImage=localhost/test/busybox\nVolume=/run/www:/www:ro\nExec={SERVER}\nStopSignal=SIGKILL\n'
    ports = {'one': 8085, 'app@a': 8086, 'box-pod': 8087}
    for last in ('systemctl restart {}', 'systemctl stop {}', 'systemctl kill -s KILL {}', 'systemctl stop {}; systemctl start {}'):
        machine.container('box.pod', '[Pod]\nPublishPort=127.0.0.1:8087:80\n', reload=False)
        machine.container('boxed', f'{served}Pod=box.pod\n', reload=False)
        machine.container('beside', '[Container]\nImage=localhost/test/busybox\nPod=box.pod\nExec=sleep 1000\nStopSignal=SIGKILL\n', reload=False)
        machine.container('one', f'{served}Network=bridge\nPublishPort=127.0.0.1:8085:80\n', reload=False)
        machine.container('app@', f'{served}Network=bridge\nPublishPort=127.0.0.1:8086:80\n')
        machine.run('systemctl reset-failed; systemctl start ' + ' '.join(ports), timeout=60)
        machine.container('box.pod', '[Pod]\nNetwork=none\n', reload=False)
        for name in ('one', 'app@'):
            machine.container(name, f'{served.replace("-p 80", "-p 8090")}Network=host\n', reload=False)
        # What is asked to start although it runs loses nothing, and neither do the others of a pod.
        machine.run('systemctl daemon-reload; systemctl daemon-reload; systemctl restart beside; systemctl start box-pod boxed one app@a')
        for port in ports.values():
            machine.wait_for(lambda: ask(machine, f'http://127.0.0.1:{port}/') == 'hello\n')
        for name in ports:
            if name == 'box-pod' and 'kill' in last:  # it has no process
                last = 'systemctl stop {}'
            machine.run(last.format(name, name))
            machine.wait_for(lambda: is_gone(machine, name))
            if name != 'box-pod' and 'start' in last:
                machine.wait_for(lambda: ask(machine, 'http://127.0.0.1:8090/') == 'hello\n')
            machine.run(f'systemctl stop {name}')
            machine.wait_for(lambda: is_gone(machine, name))


def test_what_runs_while_it_is_masked_keeps_its_network(machine):
    """A pod, too, of which all that runs is masked. keyturnctl knows them."""
    make_www(machine)
    served = ('[Container]\nImage=localhost/test/busybox\nVolume=/run/www:/www:ro\n'
              f'Exec=sh -c "trap exit TERM; {SERVER} & wait"\n')
    ports = {'one': 8085, 'app@a': 8086, 'boxed': 8087}
    machine.container('box.pod', '[Pod]\nPublishPort=127.0.0.1:8087:80\n', reload=False)
    machine.container('boxed', f'{served}Pod=box.pod\n', reload=False)
    machine.container('one', f'{served}Network=bridge\nPublishPort=127.0.0.1:8085:80\n', reload=False)
    machine.container('app@', f'{served}Network=bridge\nPublishPort=127.0.0.1:8086:80\n')
    for kind in ('', '--runtime'):
        machine.run('systemctl start ' + ' '.join(ports), timeout=60)
        machine.run(f'systemctl mask {kind} one app@ boxed; systemctl daemon-reload')
        try:
            for name, port in ports.items():
                machine.wait_for(lambda: ask(machine, f'http://127.0.0.1:{port}/') == 'hello\n')
                assert 'active (running), masked' in machine.ctl(f'list {name}')
                assert machine.ctl(f'exec {name} cat /www/index.html') == 'hello\n'
            assert 'masked' in machine.run('systemctl start one 2>&1', check=False).out
            machine.run('systemctl stop one app@a boxed')
            assert 'masked' not in machine.ctl('list')
            for name in ('one', 'app@a'):
                machine.wait_for(lambda: is_gone(machine, name))
        finally:
            machine.run(f'systemctl unmask {kind} one app@ boxed')
        machine.wait_for(lambda: is_gone(machine, 'box-pod'))


def test_what_is_masked_and_deleted_keeps_its_network_until_it_ends(machine):
    make_www(machine)
    served = (f'[Container]\nImage=localhost/test/busybox\nVolume=/run/www:/www:ro\nExec={SERVER}\nNetwork=bridge\n'
              'PublishPort=127.0.0.1:8085:80\n')
    machine.container('one', served)
    machine.run('systemctl start one && systemctl mask one && rm /etc/containers/systemd/one.container && systemctl daemon-reload')
    try:
        time.sleep(1)
        assert ask(machine, 'http://127.0.0.1:8085/') == 'hello\n'
        machine.run('kill -KILL $(systemctl show -P MainPID one)')
        machine.wait_for(lambda: is_gone(machine, 'one'))
    finally:
        machine.run('systemctl unmask one')


def test_an_instance_with_a_file_is_not_masked_with_its_template(machine):
    machine.container('app@', '[Container]\nImage=localhost/test/busybox\nExec=sleep 1000\n', reload=False)
    machine.container('app@a', '[Container]\nImage=localhost/test/busybox\nExec=sleep 1000\nNetwork=bridge\nStopSignal=KILL\n')
    machine.run('systemctl start app@a && systemctl mask app@ && systemctl daemon-reload')
    try:
        machine.run('systemctl restart app@a')
        time.sleep(1)
        assert machine.show('app@a', 'ActiveState') == 'active'
        assert not is_gone(machine, 'app@a')
    finally:
        machine.run('systemctl unmask app@; systemctl stop app@a')


def test_another_containers_network(machine):
    start(machine, 'one', 'Network=bridge\nContainerName=first')
    start(machine, 'two', 'Network=one.container')
    start(machine, 'three', 'Network=container:first')
    start(machine, 'alone', 'Network=none')
    start(machine, 'beside', 'Network=alone.container')
    start(machine, 'hosts', 'Network=host')
    start(machine, 'hosts-too', 'Network=hosts.container')

    def network(name):
        return machine.run(f'readlink /proc/$(systemctl show -P MainPID {name})/ns/net').out
    assert network('one') == network('two') == network('three')
    assert network('alone') == network('beside') != network('one')
    assert network('hosts') == network('hosts-too') == machine.run('readlink /proc/1/ns/net').out
    address = re.search(r'inet (10\.88\.\S+)/16', machine.inside('two', 'ip -4 addr show eth0'))[1]
    assert f'{address}\t' in machine.inside('two', 'cat /etc/hosts')
    # With a new network of the one the other is restarted, too.
    machine.run('systemctl restart one alone')
    machine.wait_for(lambda: machine.show('beside', 'ActiveState') == 'active')
    assert network('alone') == network('beside')
    machine.run('systemctl stop one')
    assert 'active' not in (machine.show('two', 'ActiveState'), machine.show('three', 'ActiveState'))
    machine.run('systemctl stop alone hosts')
    # Not a network, and not there.
    for keys, message in (('Network=ns:/proc/1/ns/uts', "'/proc/1/ns/uts' is no network namespace"),
                          ('Network=ns:/run/nothing', "Cannot open the network namespace '/run/nothing'")):
        machine.container('one', f'[Container]\nImage=localhost/test/busybox\n{keys}\nExec=true\n')
        machine.run('systemctl start one', check=False)
        assert message in machine.journal('one.service'), machine.journal('one.service')
    machine.run('ip netns add blue')
    start(machine, 'one', 'Network=ns:/run/netns/blue\nSysctl=net.core.somaxconn=77')
    assert machine.run('ip netns exec blue cat /proc/sys/net/core/somaxconn').out == '77\n'
    assert machine.inside('one', 'ls /sys/class/net') == 'lo\n'
    machine.run('systemctl stop one; ip netns del blue')


def test_the_network_of_podmans_container(machine):
    keys = '[Container]\nImage=localhost/test/busybox\nNetwork=container:theirs\nExec=sleep 1000\nStopSignal=SIGKILL\n'
    machine.container('one', keys)
    machine.run('systemctl start one', check=False)
    assert "Podman's container 'theirs': Podman has none of this name" in machine.journal('one.service')
    if machine.suite == 'bookworm':  # its Podman starts no container on these machines
        return
    run = 'podman run -d --replace --name=theirs localhost/test/busybox sleep 1000'
    network = 'readlink /proc/$(podman inspect -f {{.State.Pid}} theirs)/ns/net; ' \
        'readlink /proc/$(systemctl show -P MainPID one)/ns/net; readlink /proc/1/ns/net'
    try:
        for options in ('--network=podman', '--rm --network=none', '--network=host'):
            machine.run(run.replace('-d', f'-d {options}') + '; systemctl reset-failed one; systemctl restart one')
            theirs, ours, hosts = machine.run(network).out.split()
            assert theirs == ours and (ours == hosts) == ('host' in options), (options, theirs, ours, hosts)
        # With the machine's own network, what is set there would be the machine's.
        machine.container('one', keys + 'Sysctl=net.core.somaxconn=77\n')
        machine.run('systemctl restart one', check=False)
        assert 'net.core.somaxconn' in machine.journal('one.service') and machine.show('one', 'ActiveState') == 'failed'
        machine.run('podman stop -t 0 theirs; systemctl reset-failed one; systemctl restart one', check=False)
        assert "Podman's container 'theirs': it does not run" in machine.journal('one.service')
    finally:
        machine.run('podman rm -f -t 0 theirs', check=False)


def test_who_joined_stays_together(machine):
    """Whatever becomes of the one whose network it is: the other is in the same, soon."""
    again = '[Service]\nRestart=always\nRestartSec=200ms\n[Unit]\nStartLimitIntervalSec=0\n'

    def network(name):
        return machine.run(f'readlink /proc/{machine.show(name, "MainPID")}/ns/net', check=False).out

    def write(keys):
        machine.container('base', f'[Container]\nImage=localhost/test/busybox\n{keys}\nExec=sleep 1000\nStopSignal=SIGKILL\n{again}')

    write('Network=bridge')
    start(machine, 'joined', 'Network=base.container', more=again)
    start(machine, 'third', 'Network=joined.container', more=again)
    for keys, command in (
            ('Network=bridge', 'systemctl kill -s KILL base'),
            ('Network=bridge', 'systemctl restart base'),
            ('Network=bridge', 'systemctl restart keyturn-network@base'),
            ('Network=bridge\nHostName=changed', 'systemctl kill -s KILL base'),
            ('Network=bridge', 'systemctl restart base'),
            ('Network=bridge\nAddCapability=NET_ADMIN', 'systemctl kill -s KILL base'),
            ('Network=none', 'systemctl restart base'),
            ('Network=none', 'systemctl kill -s KILL base')):
        if f'{keys}\nExec' not in machine.read('/etc/containers/systemd/base.container'):
            write(keys)
        since = machine.show('base', 'InvocationID')
        machine.run(command)
        machine.wait_for(lambda: machine.show('base', 'InvocationID') != since and
                         {machine.show(unit, 'SubState') for unit in ('base', 'joined', 'third')} == {'running'} and
                         network('base') == network('joined') == network('third') != '')


def test_a_user_namespace(machine):
    for file in ('/etc/subuid', '/etc/subgid'):
        machine.write(file, 'containers:2147483647:2147483648\n')
    make_www(machine)
    for name, keys in ('auto', 'UserNS=auto'), ('mapped', 'UIDMap=0:100000:65536\nGIDMap=0:100000:65536'):
        start(machine, name, f'Network=bridge\n{keys}\nSysctl=net.ipv4.tcp_keepalive_time=77\nVolume=/run/www:/www:ro',
              SERVER)
        address = re.search(r'inet (10\.88\.\S+)/16', machine.inside(name, 'ip -4 addr show eth0'))[1]
        assert machine.inside(name, 'ls /sys/class/net').split() == ['eth0', 'lo']
        machine.wait_for(lambda address=address: ask(machine, f'http://{address}/') == 'hello\n')
        assert machine.inside(name, 'cat /proc/sys/net/ipv4/tcp_keepalive_time') == '77\n'
        # With the capabilities that containers have by themselves it changes nothing.
        for command in 'ip link set eth0 down', 'ip addr add 10.88.0.77/16 dev eth0', 'echo 1 >/proc/sys/net/ipv4/ip_forward':
            assert machine.run(f'keyturnctl exec {name} sh -c "{command}"', check=False).status != 0, command
        machine.run(f'systemctl stop {name}')
        machine.wait_for(lambda: is_gone(machine, name))


# What a payload with NET_ADMIN can do to its own network, in a shell with the machine's ip and nft.
SABOTAGE = {
    'down': 'ip link set eth0 down',
    'renamed': 'ip link set eth0 down; ip link set eth0 name podman0',
    'gone': 'ip link del eth0',
    'replaced': 'ip link del eth0; ip link add eth0 type dummy; ip link set eth0 up',
    'bridge': 'ip link add podman0 type bridge; ip link set eth0 master podman0; ip link set podman0 up',
    'addresses': 'ip addr flush dev eth0; ip route flush table main; ip addr add 10.88.0.1/16 dev eth0',
    'many': 'for i in $(seq 1 20); do for j in $(seq 1 250); do echo "addr add 10.99.$i.$j/32 dev eth0"; '
            'echo "route add 10.98.$i.$j/32 dev eth0"; done; done | ip -force -batch -',
    'interfaces': 'for i in $(seq 1 200); do echo "link add d$i type dummy"; done | ip -force -batch -',
    'neighbours': 'ip link set eth0 address 02:00:00:00:00:01; ip link set eth0 mtu 68; ip link set eth0 alias $(seq -s a 60)',
    'moved': 'unshare -n sleep 1000 & own=$(readlink /proc/self/ns/net); '
             'until new=$(readlink /proc/$!/ns/net) && [ $new != $own ]; do sleep 0.05; done; ip link set eth0 netns $!',
    'rules': 'nft add table inet netavark; nft add chain inet netavark INPUT '
             '"{ type filter hook input priority 0; policy drop; }"',
}


def test_a_payload_that_breaks_its_network_breaks_no_other(machine):
    """It has NET_ADMIN there. A stop ends in time, with nothing left, and so does a start after a kill."""
    machine.run('mkdir -p /run/sabotage')
    start(machine, 'other', 'Network=bridge')
    before = links(machine), machine.run('nft -s list ruleset; find /var/lib/keyturn/leases -type f | sort').out
    for name, commands in SABOTAGE.items():
        machine.write('/run/sabotage/it', f'{commands}\necho sabotaged\nexec sleep 1000\n')
        machine.container('saboteur', '''
            [Unit]
            StartLimitIntervalSec=0
            [Container]
            Rootfs=/:O
            Network=bridge
            PublishPort=8080:80
            AddCapability=NET_ADMIN SYS_ADMIN
            StopSignal=KILL
            Exec=sh /run/sabotage/it
            Volume=/run/sabotage:/run/sabotage:ro
            [Service]
            Restart=no
        ''')
        for verb in ('restart', 'kill', 'reload', 'stop'):
            machine.run('systemctl start saboteur')
            machine.wait_for(lambda: 'sabotaged' in machine.run(
                'journalctl -o cat _SYSTEMD_INVOCATION_ID=$(systemctl show --value -p InvocationID saboteur)').out, timeout=30)
            began = time.monotonic()
            if verb == 'kill':
                machine.run('systemctl kill -s KILL saboteur')
                machine.wait_for(lambda: machine.show('saboteur', 'ActiveState') == 'failed')
            elif verb == 'reload':
                machine.run('systemctl reload keyturn-network@saboteur', check=False, timeout=30)
            else:
                done = machine.run(f'systemctl {verb} saboteur', check=False, timeout=30)
                assert done.status == 0, (name, verb, done)
            assert time.monotonic() - began < 15, (name, verb, machine.journal())
        machine.wait_for(lambda: is_gone(machine, 'saboteur'))
        machine.run('rm -f /var/lib/keyturn/leases/saboteur')
        after = links(machine), machine.run('nft -s list ruleset; find /var/lib/keyturn/leases -type f | sort').out
        assert after == before, (name, ''.join(difflib.unified_diff(before[1].splitlines(True), after[1].splitlines(True))),
                                 before[0], after[0])
        start(machine, 'saboteur', 'Network=bridge\nPublishPort=8080:80', more='[Unit]\nStartLimitIntervalSec=0\n')
        assert machine.inside('saboteur', 'ip route').startswith('default via 10.88.0.1 '), name
        machine.run('systemctl stop saboteur')
        machine.wait_for(lambda: is_gone(machine, 'saboteur'))
    assert machine.run('systemctl is-active other').out == 'active\n'


def links(machine):
    """What the machine has, and its rules and parameters, but for the containers' own bridge and ends of pairs."""
    return machine.run('ip -o link | cut -d : -f 2 | grep -Ev "podman|veth"; ip route | grep -v podman; '
                       'cat /proc/sys/net/ipv4/conf/all/rp_filter').out


# Prints what it could do, and leaves what it can.
MASTER = r'''
    try() { "$@" >/dev/null 2>&1 && echo "$*"; }
    try ip link add mine type bridge
    try ip addr add 10.99.0.1/24 dev eth0
    try ip route add blackhole 192.0.2.77
    try ip link set eth0 mtu 1400
    try sh -c "echo 2 >/proc/sys/net/ipv4/conf/all/rp_filter"
    try sh -c "echo 1 >/proc/sys/net/ipv4/ip_forward"
    echo --
    try ls /proc/1/root/run/keyturn
    try sh -c "echo 1 >/proc/sys/net/core/bpf_jit_enable"
    try ip link show podman0
    for f in /proc/[0-9]*/ns/net; do [ "$(readlink $f)" = "$(readlink /proc/self/ns/net)" ] || echo another; done
'''


def test_a_master_of_its_own_network_only(machine):
    """With NET_ADMIN in a user namespace: as under Podman, and nothing of it outlives the container."""
    for file in ('/etc/subuid', '/etc/subgid'):
        machine.write(file, 'containers:2147483647:2147483648\n')
    before = links(machine)
    for name, keys in ('auto', 'UserNS=auto'), ('mapped', 'UIDMap=0:100000:65536'), ('keep', 'UserNS=keep-id'):
        start(machine, name, f'Network=bridge\n{keys}\nAddCapability=NET_ADMIN\nPodmanArgs=--security-opt=unmask=ALL\n'
                             'PublishPort=127.0.0.1:8099:80')
        could = machine.run(['keyturnctl', 'exec', name, 'sh', '-c', MASTER]).out.split('--\n')
        assert len(could[0].splitlines()) == 6, could
        assert could[1].strip() == '', could
        assert links(machine) == before
        machine.run(f'systemctl restart {name}')
        said = machine.inside(name, 'ip -o link; ip -4 addr show eth0; ip route; cat /proc/sys/net/ipv4/conf/all/rp_filter')
        assert not re.search(r'mine|10\.99|blackhole|mtu 1400|^2$', said, re.M), said
        # It takes its interface away; all of it goes nevertheless.
        machine.inside(name, 'ip link del eth0')
        machine.run(f'systemctl stop {name}')
        machine.wait_for(lambda: is_gone(machine, name))
        # That of the test before may be on its way out, too.
        machine.wait_for(lambda: machine.run('ip -o link | grep veth; nft list ruleset | grep 8099', check=False).out == '')
        assert links(machine) == before


def test_nobody_joins_with_more_rights_than_its_own(machine):
    """Root of the machine's user namespace may do everything in a network that belongs to one below."""
    for file in ('/etc/subuid', '/etc/subgid'):
        machine.write(file, 'containers:2147483647:2147483648\n')
    start(machine, 'owner', 'Network=bridge\nUserNS=auto')
    start(machine, 'alone', 'Network=none\nUIDMap=0:100000:65536')
    # The generator knows of two; the file of the last one does not say whose network it is.
    pid = machine.show('owner', 'MainPID')
    for name, of in (('guest', 'owner.container'), ('lonely', 'alone.container'), ('secret', f'ns:/proc/{pid}/ns/net')):
        machine.container(name, f'[Container]\nImage=localhost/test/busybox\nNetwork={of}\nExec=sleep 1000\n')
        assert machine.run(f'systemctl start {name}', check=False).status != 0
        assert 'this network belongs to a user namespace' in machine.journal(name), machine.journal(name)
    start(machine, 'second', 'Network=owner.container\nUserNS=auto')
    assert machine.run('keyturnctl exec second ip link set eth0 mtu 1300', check=False).status != 0
    start(machine, 'master', 'Network=owner.container\nAddCapability=NET_ADMIN NET_RAW')
    machine.run('keyturnctl exec master ip link set eth0 mtu 1300')
    machine.run('systemctl stop owner alone')


def test_a_network_follows_its_user_namespace(machine):
    """Whatever becomes of the one that was made ahead: a container never runs in a network of another owner."""
    for file in ('/etc/subuid', '/etc/subgid'):
        machine.write(file, 'containers:2147483647:2147483648\n')
    often = '[Unit]\nStartLimitIntervalSec=0\n'
    start(machine, 'one', 'Network=bridge\nUserNS=auto', more=often)

    def same():
        """Whoever is root in the container's is master of the network."""
        pid = machine.show('one', 'MainPID')
        return machine.run(f'nsenter -t {pid} --user --net ip link add probe type bridge && '
                           f'nsenter -t {pid} --user --net ip link del probe', check=False).status == 0

    assert same()
    address = machine.inside('one', 'ip -4 -o addr show eth0')
    # It is made anew while the container is down; other ids are asked for; its file is unmounted.
    machine.run('systemctl stop one; systemctl restart keyturn-userns@one; systemctl start one')
    assert same() and machine.inside('one', 'ip -4 -o addr show eth0') == address
    machine.run('systemctl stop one; umount /run/keyturn/userns/one/*; systemctl start one')
    assert same()
    start(machine, 'one', 'Network=bridge\nUserNS=auto:size=3000', more=often)
    machine.run('systemctl restart one')
    assert same() and machine.inside('one', 'cat /proc/self/uid_map').split()[2] == '3000'
    # Not there at all when the network is made, as before an image is pulled.
    machine.run('systemctl stop one')
    machine.wait_for(lambda: is_gone(machine, 'one'))
    machine.run('umount /run/keyturn/userns/one/*; rm -r /run/keyturn/userns/one; systemctl start keyturn-network@one; '
                'systemctl start one')
    assert same()


# nginx, published in four ways, and who asks it by name; and nginx again, before a program that counts visits in redis, all
# three in a pod. Podman runs the same files.
WEB = {
    'shop.network': '[Network]\nSubnet=10.91.0.0/24\nIPv6=true\nSubnet=fd91::/64\n',
    'web.container': """
        [Container]
        Image=localhost/test/nginx
        Network=shop.network:ip=10.91.0.{last}
        IP6=fd91::{last}
        NetworkAlias=store
        ContainerName=web
        PublishPort=8090:80
        PublishPort=127.0.0.1:8091:80/tcp
        PublishPort=[::1]:8092:80
        PublishPort=8093-8094:80-81
        Volume=/run/www:/www:ro
        Volume=/run/site:/etc/nginx/sites-available/default:ro
    """,
    'client.container': """
        [Container]
        Image=localhost/test/debian
        Network=shop.network
        ContainerName=client
        HostName=client-box
        AddHost=machine:host-gateway
        PublishPort=7007:7/udp
        Exec=perl -MSocket -e "socket(S, AF_INET, SOCK_DGRAM, 17); bind(S, sockaddr_in(7, INADDR_ANY)); send(S, $$x, 0, $$a) while $$a = recv(S, $$x, 99, 0)"
        StopSignal=SIGKILL
    """,
    'stall.pod': """
        [Pod]
        Network=shop.network
        NetworkAlias=stall
        PublishPort=8095:80
        PublishPort=127.0.0.1:8096:80
    """,
    'front.container': """
        [Container]
        Image=localhost/test/nginx
        Pod=stall.pod
        Volume=/run/www:/www:ro
        Volume=/run/site:/etc/nginx/sites-available/default:ro
    """,
    'counter.container': """
        [Container]
        Image=localhost/test/busybox
        Pod=stall.pod
        Volume=/run/www:/www:ro
        Exec=httpd -f -p 127.0.0.1:8000 -h /www
        StopSignal=SIGKILL
    """,
    'database.container': """
        [Container]
        Image=localhost/test/redis
        Pod=stall.pod
    """,
}
SERVICES = 'web client stall-pod front counter database'
SITE = """
server {
        listen 80;
        listen [::]:80;
        root /www;
        location = /who { return 200 "$remote_addr\n"; }
        location = /visits { proxy_pass http://127.0.0.1:8000/cgi-bin/visits; }
}
"""
VISITS = r"""#!/bin/sh
printf 'Content-Type: text/plain\r\n\r\n'
printf 'INCR visits\r\nQUIT\r\n' | nc 127.0.0.1 6379 | head -n 1
"""


def make_shop(machine):
    make_www(machine)
    machine.write('/run/site', SITE)
    machine.write('/run/www/cgi-bin/visits', VISITS, mode=0o755)


def ping(machine):
    return machine.run("""ip netns exec world perl -MSocket -e 'socket(S, AF_INET, SOCK_DGRAM, 17); alarm 5;
        send(S, "ping", 0, sockaddr_in(7007, inet_aton("192.0.2.1"))); recv(S, $x, 99, 0); print $x'""", check=False).out


def answers(machine, inside):
    """What clients get: on this machine, elsewhere, and in another container. inside: runs a command there."""
    elsewhere = 'ip netns exec world'
    found = {url: ask(machine, url) for url in ('http://127.0.0.1:8090/', 'http://192.0.2.1:8090/', 'http://[::1]:8090/',
                                                'http://127.0.0.1:8091/', 'http://192.0.2.1:8091/',
                                                'http://[::1]:8092/', 'http://127.0.0.1:8093/',
                                                'http://127.0.0.1:8090/who', 'http://192.0.2.1:8090/who',
                                                'http://127.0.0.1:8096/visits')}
    for url in ('http://192.0.2.1:8090/', 'http://[2001:db8::1]:8090/', 'http://192.0.2.1:8091/',
                'http://[2001:db8::1]:8092/', 'http://192.0.2.1:8094/', 'http://192.0.2.1:8090/who',
                'http://[2001:db8::1]:8090/who', 'http://192.0.2.1:8095/', 'http://192.0.2.1:8095/visits',
                'http://[2001:db8::1]:8095/visits', 'http://192.0.2.1:8096/visits'):
        found[f'world {url}'] = ask(machine, url, elsewhere)
    found['udp'] = ping(machine)
    for where in 'web/80', 'store/80', 'stall/80', 'machine/8090', 'host.containers.internal/8090':
        found[where] = inside(f"exec 3<>/dev/tcp/{where}; echo GET / HTTP/1.0 >&3; echo >&3; tail -n 1 <&3")
    for command in ('getent ahosts web | wc -l', 'getent ahosts stall | wc -l', 'cat /etc/resolv.conf', 'cut -f 2 /etc/hosts',
                    'cut -f 1-4 /proc/net/route', 'ls /sys/class/net', 'cat /sys/class/net/eth0/mtu',
                    'cat /proc/sys/net/ipv4/ping_group_range'):
        found[command] = inside(command)
    return found


def world(machine):
    """Another machine on a cable, at 192.0.2.2 and 2001:db8::2."""
    machine.run('ip netns add world && ip link add cable type veth peer name cable netns world && ip link set cable up && '
                'ip addr add 192.0.2.1/24 dev cable && ip -6 addr add 2001:db8::1/64 dev cable nodad && '
                'ip netns exec world sh -c "ip addr add 192.0.2.2/24 dev cable; ip -6 addr add 2001:db8::2/64 dev cable nodad;'
                ' ip link set cable up; ip route add default via 192.0.2.1; ip -6 route add default via 2001:db8::1"')


def ask_all(machine, exec_):
    """When all of them are up. exec_: the beginning of a command in a container."""
    machine.wait_for(lambda: re.match(':', ask(machine, 'http://127.0.0.1:8095/visits')))
    machine.wait_for(lambda: ask(machine, 'http://127.0.0.1:8090/') and
                     ask(machine, 'http://[2001:db8::1]:8090/', 'ip netns exec world'))
    machine.wait_for(lambda: ping(machine))
    return answers(machine, lambda command: machine.run([*exec_, 'client', 'bash', '-c', command], check=False).out)


def run_with_keyturn(machine):
    for name, text in WEB.items():
        machine.container(name, text.replace('{last}', '200'), reload=False)
    machine.reload()
    machine.run(f'systemctl start {SERVICES}', timeout=60)
    found = ask_all(machine, ['keyturnctl', 'exec'])
    machine.run(f'systemctl stop {SERVICES} shop-network', timeout=60)
    machine.wait_for(lambda: all(is_gone(machine, name) for name in ('web', 'client', 'stall-pod')))
    return found


def run_with_podman(machine):
    for name, text in WEB.items():
        # What Podman makes a pod's process of is not on these machines.
        text = text.replace('[Pod]\n', '[Pod]\nPodmanArgs=--infra-image localhost/test/busybox --infra-command "sleep 1000"\n')
        machine.write(f'/run/quadlets/{name}', re.sub('^ +', '', text.replace('{last}', '20'), flags=re.M))
    machine.run(f'mkdir -p /run/units && QUADLET_UNIT_DIRS=/run/quadlets {QUADLET} -no-kmsg-log /run/units; '
                'sed -i "/network-online/d" /run/units/*.service; rm /etc/containers/systemd/*; '
                'cp /run/units/*.service /etc/systemd/system/; systemctl daemon-reload')
    machine.run(f'systemctl start {SERVICES}', timeout=90)
    found = ask_all(machine, ['podman', 'exec'])
    # Its first process has no patience for signals.
    machine.run('podman pod rm --time 0 --force systemd-stall')
    machine.run(f'systemctl stop {SERVICES} shop-network; cd /run/units; for i in *; do rm -f "/etc/systemd/system/$i"; done; '
                'systemctl daemon-reload', timeout=90)
    return found


def test_clients_get_the_same_answers_as_with_podman(machine):
    make_shop(machine)
    world(machine)
    ours = run_with_keyturn(machine)
    hello = {what for what, answer in ours.items() if answer == 'hello\n'}
    assert hello >= {'http://127.0.0.1:8090/', 'http://192.0.2.1:8090/', 'http://127.0.0.1:8091/', 'http://127.0.0.1:8093/',
                     'world http://192.0.2.1:8090/', 'world http://[2001:db8::1]:8090/', 'web/80', 'store/80',
                     'machine/8090', 'host.containers.internal/8090', 'stall/80', 'world http://192.0.2.1:8095/'}, ours
    visits = [int(answer[1:]) for what, answer in ours.items() if what.endswith('/visits') and answer]
    assert len(visits) == 3 and visits == list(range(visits[0], visits[0] + 3)), ours
    assert ours['world http://192.0.2.1:8096/visits'] == '', ours
    assert ours['world http://192.0.2.1:8090/who'] == '192.0.2.2\n', ours
    assert not hello & {'http://192.0.2.1:8091/', 'world http://192.0.2.1:8091/', 'world http://[2001:db8::1]:8092/'}, ours
    assert ours['udp'] == 'ping', ours
    if machine.suite != 'bookworm':  # whose Podman starts no container here
        podmans = run_with_podman(machine)
        assert ours == podmans, [(what, ours[what], podmans[what]) for what in ours if ours[what] != podmans[what]]
    machine.run('ip netns del world; podman network rm -f systemd-shop', check=False)


# As a container, with two networks and a port; another beside it; and a pod with its own.
LIVES = {
    'lives.network': '[Network]\nSubnet=10.94.0.0/24\nIPv6=true\nSubnet=fd94::/64\n',
    'la.container': '[Container]\nNetwork=lives.network:alias=store\nNetwork=bridge\nPublishPort=8071:80\nExec=sleep 1000\n',
    'lb.container': '[Container]\nNetwork=lives.network\nExec=sleep 1000\n[Service]\nRestart=always\nRestartSec=20ms\n',
    'lc.pod': '[Pod]\nNetwork=lives.network\nPublishPort=127.0.0.1:8072:80\n',
    'lc1.container': '[Container]\nPod=lc.pod\nExec=sleep 1000\n',
    'lc2.container': '[Container]\nPod=lc.pod\nExec=sleep 1000\n',
}
LIVING = ('la', 'lb', 'lc-pod', 'lc1', 'lc2')
NETWORKS = ('keyturn-network@la', 'keyturn-network@lb', 'keyturn-network@lc-pod', 'keyturn-pod@lc-pod')


def whole_state(machine):
    """All that a network is: interfaces, rules, mounts, files, leases, namespaces, processes."""
    return machine.run('ip -o link | cut -d: -f2; ip -o addr | cut -d" " -f2-7; nft -s list ruleset; ip rule; '
                       'ip route show table all | sort; cut -d" " -f4-5 /proc/self/mountinfo | grep -E " /run/(keyturn|netns)"; '
                       'find /run/keyturn /run/containers /run/netns /run/lock ! -name ipam.db | sort; '
                       'grep -r . /var/lib/keyturn/leases | sort; ls /etc/containers/networks; '
                       'pgrep -x "netavark|aardvark-dns|keyturn-network"; lsns -t net -n | wc -l', check=False).out


def settle(machine, wanted):
    """Stops all, and waits until it looks as it did. Fails with what is different."""
    machine.run('systemctl stop "l[abc]*.service" "keyturn-network@*" "keyturn-pod@*" lives-network', timeout=180)
    machine.run('systemctl reset-failed')
    machine.is_as(wanted, lambda: whole_state(machine))


def strike(machine, dice):
    """One kill, of something that may be there."""
    machine.run(dice.choice((
        f'systemctl kill -s KILL {dice.choice(NETWORKS)}',
        'pkill -KILL -x keyturn-network',
        'pkill -KILL -x netavark',
        'pkill -KILL -x aardvark-dns',
        f'systemctl kill -s KILL --kill-whom=main {dice.choice(LIVING)}',
        f'systemctl kill -s KILL {dice.choice(LIVING)}',
    )), check=False)


def test_any_order_of_starts_stops_and_kills_leaves_nothing(machine):
    """Twelve turns, or as many as KEYTURN_TEST_TURNS says, by the dice of KEYTURN_TEST_SEED."""
    turns, seed = (int(os.environ.get(f'KEYTURN_TEST_{what}', usual)) for what, usual in (('TURNS', 12), ('SEED', 14)))
    for name, text in LIVES.items():
        text = text.replace('[Container]\n', '[Container]\nImage=localhost/test/busybox\nStopSignal=SIGKILL\n')
        machine.container(name, text + '[Unit]\nStartLimitIntervalSec=0\n', reload=False)
    machine.reload()
    # Addresses are remembered, and netavark's empty chains stay: both are there before it is looked at first.
    machine.run(f'systemctl start {" ".join(LIVING)}', timeout=60)
    machine.run('systemctl stop "l[abc]*.service"', timeout=60)
    machine.wait_for(lambda: all(is_gone(machine, name) for name in ('la', 'lb', 'lc-pod')))
    machine.wait_for(lambda: machine.show('keyturn-pod@lc-pod', 'ActiveState') == 'inactive' and
                     not machine.run('systemctl list-jobs --no-legend').out)
    machine.wait_for(lambda: machine.run('pgrep -x aardvark-dns', check=False).status == 1)
    before = whole_state(machine)
    signal.alarm(120 + turns)  # the usual time is for twelve
    dice = random.Random(seed)
    kills = 0
    for turn in range(turns):
        machine.run(f'systemctl --no-block {dice.choice(("start", "start", "restart", "stop"))} {dice.choice(LIVING)}', check=False)
        time.sleep(dice.random() * 0.3)
        if dice.random() < 0.7:
            strike(machine, dice)
            kills += 1
        if turn % 25 == 24 or turn == turns - 1:
            settle(machine, before)
    print(f'# {turns} turns, {kills} kills')
    # And all of it works as it did.
    machine.run(f'systemctl start {" ".join(LIVING)}', timeout=60)
    machine.wait_for(lambda: 'store' in machine.inside('lb', 'nslookup store'))  # who answers is told by a signal
    assert all(machine.show(name, 'ActiveState') == 'active' for name in LIVING)
    settle(machine, before)
