# SPDX-License-Identifier: LGPL-2.1-or-later
"""Containers on bridges, from the file to the client: the units, ports and names, and what a start finds."""

import re

STATE = '/run/keyturn/network'
QUADLET = '/usr/libexec/podman/quadlet'
SERVER = 'httpd -f -p 80 -h /www'


def start(machine, name, keys, exec_='sleep 1000', more=''):
    """Starts a container of these keys; again, if it runs."""
    machine.container(name, f'[Container]\nImage=localhost/test/busybox\n{keys}\nExec={exec_}\nStopSignal=SIGKILL\n' + more)
    machine.run(f'systemctl restart {name}', timeout=60)


def inside(machine, name, command, check=True):
    return machine.run(f'keyturnctl exec {name} sh -c "{command}"', check=check).out


def ask(machine, url, where=''):
    """What a web server says. Not by busybox, whose static wget crashes on Debian 12."""
    six, four, port = re.fullmatch(r'http://(?:\[(.*)\]|([^:]*))(?::(\d+))?/', url).groups()
    get = f'exec 3<>/dev/tcp/{six or four}/{port or 80}; echo GET / HTTP/1.0 >&3; echo >&3; tail -n 1 <&3'
    return machine.run(f'{where} timeout 1 bash -c "{get}"', check=False).out


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
    address = re.search(r'inet (10\.88\.\S+)/16', inside(machine, 'one', 'ip -4 addr show eth0'))[1]
    assert inside(machine, 'one', 'ip route').startswith('default via 10.88.0.1 ')
    hosts = inside(machine, 'one', 'cat /etc/hosts')
    assert f'{address}\tbox systemd-one' in hosts, hosts
    assert '10.88.0.1\thost.containers.internal host.docker.internal' in hosts, hosts
    assert inside(machine, 'one', 'ls /sys/class/net').split() == ['eth0', 'lo']
    assert inside(machine, 'one', 'cat /proc/sys/net/ipv4/ping_group_range').split() == ['0', '0']
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


def test_what_fails_is_said(machine):
    machine.container('one', '[Container]\nImage=localhost/test/busybox\nNetwork=nowhere\nExec=true\n')
    assert machine.run('systemctl start one', check=False).status != 0
    assert machine.show('one', 'ActiveState') == 'failed'
    assert 'nowhere' in machine.journal('keyturn-network@one.service'), machine.journal()
    assert 'keyturn-network@one.service makes it' in machine.journal('one.service'), machine.journal('one.service')
    # Whoever goes past the unit is told which one it is.
    machine.container('one', '[Container]\nImage=localhost/test/busybox\nNetwork=bridge\nExec=true\n')
    machine.run('systemctl start --job-mode=ignore-dependencies one', check=False)
    assert 'keyturn-network@one.service makes it' in machine.journal('one.service'), machine.journal('one.service')


def test_a_network_that_comes_later_is_tried_again(machine):
    machine.container('one', '[Container]\nImage=localhost/test/busybox\nNetwork=later\nExec=sleep 1000\nStopSignal=SIGKILL\n'
                      '[Service]\nRestart=always\nRestartSec=300ms\n')
    machine.run('systemctl start one', check=False)
    machine.run('/usr/lib/keyturn/keyturn-network create --name=later')
    try:
        machine.wait_for(lambda: machine.show('one', 'ActiveState', 'SubState') == {'ActiveState': 'active', 'SubState': 'running'})
        machine.run('systemctl stop one')
        machine.wait_for(lambda: is_gone(machine, 'one'))
    finally:
        machine.run('systemctl stop one; /usr/lib/keyturn/keyturn-network delete --name=later', check=False)


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


def test_a_changed_file_gets_another_network_with_the_next_start(machine):
    make_www(machine)
    start(machine, 'one', 'Network=bridge\nPublishPort=127.0.0.1:8085:80\nVolume=/run/www:/www:ro', SERVER)
    assert ask(machine, 'http://127.0.0.1:8085/') == 'hello\n'
    # The container is restarted; a start by hand, and one that systemd tries again, see it as well.
    start(machine, 'one', 'Network=bridge\nPublishPort=127.0.0.1:8086:80\nVolume=/run/www:/www:ro', SERVER)
    assert ask(machine, 'http://127.0.0.1:8086/') == 'hello\n'
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
    address = re.search(r'inet (10\.88\.\S+)/16', inside(machine, 'two', 'ip -4 addr show eth0'))[1]
    assert f'{address}\t' in inside(machine, 'two', 'cat /etc/hosts')
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
    assert inside(machine, 'one', 'ls /sys/class/net') == 'lo\n'
    machine.run('systemctl stop one; ip netns del blue')


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
        address = re.search(r'inet (10\.88\.\S+)/16', inside(machine, name, 'ip -4 addr show eth0'))[1]
        assert inside(machine, name, 'ls /sys/class/net').split() == ['eth0', 'lo']
        assert ask(machine, f'http://{address}/') == 'hello\n'
        assert inside(machine, name, 'cat /proc/sys/net/ipv4/tcp_keepalive_time') == '77\n'
        # With the capabilities that containers have by themselves it changes nothing.
        for command in 'ip link set eth0 down', 'ip addr add 10.88.0.77/16 dev eth0', 'echo 1 >/proc/sys/net/ipv4/ip_forward':
            assert machine.run(f'keyturnctl exec {name} sh -c "{command}"', check=False).status != 0, command
        machine.run(f'systemctl stop {name}')
        machine.wait_for(lambda: is_gone(machine, name))


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
        said = inside(machine, name, 'ip -o link; ip -4 addr show eth0; ip route; cat /proc/sys/net/ipv4/conf/all/rp_filter')
        assert not re.search(r'mine|10\.99|blackhole|mtu 1400|^2$', said, re.M), said
        # It takes its interface away; all of it goes nevertheless.
        inside(machine, name, 'ip link del eth0')
        machine.run(f'systemctl stop {name}')
        machine.wait_for(lambda: is_gone(machine, name))
        assert machine.run('ip -o link | grep veth; nft list ruleset | grep 8099', check=False).out == ''
        assert links(machine) == before


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
    address = inside(machine, 'one', 'ip -4 -o addr show eth0')
    # It is made anew while the container is down; other ids are asked for; its file is unmounted.
    machine.run('systemctl stop one; systemctl restart keyturn-userns@one; systemctl start one')
    assert same() and inside(machine, 'one', 'ip -4 -o addr show eth0') == address
    machine.run('systemctl stop one; umount /run/keyturn/userns/one/*; systemctl start one')
    assert same()
    start(machine, 'one', 'Network=bridge\nUserNS=auto:size=3000', more=often)
    machine.run('systemctl restart one')
    assert same() and inside(machine, 'one', 'cat /proc/self/uid_map').split()[2] == '3000'
    # Not there at all when the network is made, as before an image is pulled.
    machine.run('systemctl stop one')
    machine.wait_for(lambda: is_gone(machine, 'one'))
    machine.run('umount /run/keyturn/userns/one/*; rm -r /run/keyturn/userns/one; systemctl start keyturn-network@one; '
                'systemctl start one')
    assert same()


# A web server that is published in four ways, and who asks it by name. Podman runs the same files.
WEB = {
    'shop.network': '[Network]\nSubnet=10.91.0.0/24\nIPv6=true\nSubnet=fd91::/64\n',
    'web.container': """
        [Container]
        Image=localhost/test/busybox
        Network=shop.network:ip=10.91.0.{last}
        IP6=fd91::{last}
        NetworkAlias=store
        ContainerName=web
        PublishPort=8090:80
        PublishPort=127.0.0.1:8091:80/tcp
        PublishPort=[::1]:8092:80
        PublishPort=8093-8094:80-81
        Volume=/run/www:/www:ro
        Exec=httpd -f -p [::]:80 -h /www
        StopSignal=SIGKILL
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
}


def answers(machine, inside):
    """What clients get: on this machine, elsewhere, and in another container. inside: runs a command there."""
    elsewhere = 'ip netns exec world'
    found = {url: ask(machine, url) for url in ('http://127.0.0.1:8090/', 'http://192.0.2.1:8090/', 'http://[::1]:8090/',
                                                'http://127.0.0.1:8091/', 'http://192.0.2.1:8091/',
                                                'http://[::1]:8092/', 'http://127.0.0.1:8093/')}
    for url in ('http://192.0.2.1:8090/', 'http://[2001:db8::1]:8090/', 'http://192.0.2.1:8091/',
                'http://[2001:db8::1]:8092/', 'http://192.0.2.1:8094/'):
        found[f'world {url}'] = ask(machine, url, elsewhere)
    found['udp'] = machine.run("""ip netns exec world perl -MSocket -e 'socket(S, AF_INET, SOCK_DGRAM, 17); alarm 2;
        send(S, "ping", 0, sockaddr_in(7007, inet_aton("192.0.2.1"))); recv(S, $x, 99, 0); print $x'""", check=False).out
    for where in 'web/80', 'store/80', 'machine/8090', 'host.containers.internal/8090':
        found[where] = inside(f"exec 3<>/dev/tcp/{where}; echo GET / HTTP/1.0 >&3; echo >&3; tail -n 1 <&3")
    for command in ('getent ahosts web | wc -l', 'cat /etc/resolv.conf', 'cut -f 2 /etc/hosts',
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


def run_with_keyturn(machine):
    for name, text in WEB.items():
        machine.container(name, text.replace('{last}', '200'), reload=False)
    machine.reload()
    machine.run('systemctl start web client', timeout=60)
    found = answers(machine, lambda command: machine.run(['keyturnctl', 'exec', 'client', 'bash', '-c', command], check=False).out)
    machine.run('systemctl stop web client shop-network')
    machine.wait_for(lambda: is_gone(machine, 'web') and is_gone(machine, 'client'))
    return found


def run_with_podman(machine):
    for name, text in WEB.items():
        machine.write(f'/run/quadlets/{name}', re.sub('^ +', '', text.replace('{last}', '20'), flags=re.M))
    machine.run(f'mkdir -p /run/units && QUADLET_UNIT_DIRS=/run/quadlets {QUADLET} -no-kmsg-log /run/units; '
                'for u in web client shop-network; do cp /run/units/$u.service /etc/systemd/system/; done; '
                'sed -i "/network-online/d" /etc/systemd/system/web.service /etc/systemd/system/client.service')
    machine.run('rm /etc/containers/systemd/*; systemctl daemon-reload; systemctl start web client', timeout=90)
    found = answers(machine, lambda command: machine.run(['podman', 'exec', 'client', 'bash', '-c', command], check=False).out)
    machine.run('systemctl stop web client; cd /etc/systemd/system; rm web.service client.service shop-network.service; '
                'systemctl daemon-reload', timeout=60)
    return found


def test_clients_get_the_same_answers_as_with_podman(machine):
    make_www(machine)
    world(machine)
    ours = run_with_keyturn(machine)
    hello = {what for what, answer in ours.items() if answer == 'hello\n'}
    assert hello >= {'http://127.0.0.1:8090/', 'http://192.0.2.1:8090/', 'http://127.0.0.1:8091/', 'http://127.0.0.1:8093/',
                     'world http://192.0.2.1:8090/', 'world http://[2001:db8::1]:8090/', 'web/80', 'store/80',
                     'machine/8090', 'host.containers.internal/8090'}, ours
    assert not hello & {'http://192.0.2.1:8091/', 'world http://192.0.2.1:8091/', 'world http://[2001:db8::1]:8092/'}, ours
    assert ours['udp'] == 'ping', ours
    if machine.suite != 'bookworm':  # whose Podman starts no container here
        podmans = run_with_podman(machine)
        assert ours == podmans, [(what, ours[what], podmans[what]) for what in ours if ours[what] != podmans[what]]
    machine.run('ip netns del world; podman network rm -f systemd-shop', check=False)
