# SPDX-License-Identifier: LGPL-2.1-or-later
"""keyturn-network by itself: networks, namespaces, addresses, ports and names, with real clients, and what is left."""

import json
import random
import re
import time

from hanging import hanging

PROGRAM = '/usr/lib/keyturn/keyturn-network'
STATE = '/run/keyturn/network'

# A UDP server that answers with what it got.
ECHO = 'socket(S, AF_INET, SOCK_DGRAM, 17); bind(S, sockaddr_in(7, INADDR_ANY)); send(S, $x, 0, $a) while $a = recv(S, $x, 99, 0)'


def up(machine, unit, *options, check=True):
    return machine.run([PROGRAM, 'up', unit, *options], check=check)


def down(machine, *units):
    for unit in units:
        machine.run([PROGRAM, 'down', unit])


def enter(machine, unit, command, check=True):
    return machine.run(f'nsenter --net={STATE}/{unit}/netns sh -c "{command}"', check=check)


def names(machine, unit):
    """The lines of what a start reads, by their first word."""
    lines = {}
    for line in machine.read(f'{STATE}/{unit}/names').splitlines():
        word, _, rest = line.partition(' ')
        lines.setdefault(word, []).append(rest)
    return lines


def addresses(machine, unit):
    return [line.split()[0] for line in names(machine, unit)['host']]


def footprint(machine):
    """Interfaces, rules, mounts, files on /run and processes. What netavark makes once, its empty chains and directories, is
    made before it is looked at first."""
    return machine.run('ip -o link | cut -d: -f2; ip -o addr | wc -l; nft -s list ruleset; grep keyturn /proc/self/mountinfo; '
                       'find /run/keyturn/network /run/containers/networks ! -name ipam.db ! -name "*.lock" | sort; '
                       'find /var/lib/keyturn/leases -type f | sort; ls /etc/containers/networks; pgrep -a "aardvark|netavark"; '
                       'lsns -t net -n | wc -l', check=False).out


def choose_netavark(machine):
    """Debian 12's Podman prefers CNI where it finds images."""
    machine.write('/etc/containers/containers.conf', '[containers]\npids_limit = 0\n[network]\nnetwork_backend = "netavark"\n')


def warm_up(machine, *networks):
    for network in networks:
        machine.run([PROGRAM, 'create', f'--name={network}'])
    up(machine, 'warm', *(f'--network={network}' for network in networks), '--publish=1:1')
    down(machine, 'warm')
    machine.wait_for(lambda: machine.run('pgrep aardvark', check=False).status == 1)
    machine.run('rm -f /var/lib/keyturn/leases/warm')


def world(machine):
    """Another machine on a cable, at 192.0.2.2 and 2001:db8::2; ours is 192.0.2.1 and 2001:db8::1."""
    machine.run('ip netns del world 2>/dev/null; ip netns add world && ip link add cable type veth peer name cable netns world && '
                'ip addr add 192.0.2.1/24 dev cable && ip -6 addr add 2001:db8::1/64 dev cable nodad && ip link set cable up && '
                'ip netns exec world sh -c "ip addr add 192.0.2.2/24 dev cable; ip -6 addr add 2001:db8::2/64 dev cable nodad;'
                ' ip link set cable up; ip link set lo up; ip route add default via 192.0.2.1;'
                ' ip -6 route add default via 2001:db8::1"', check=True)


def serve(machine, unit, number):
    """A web server in the namespace, and the UDP server."""
    machine.run(f'mkdir -p /run/www && echo hello >/run/www/index.html; cd /run/www; '
                f'systemd-run -q --unit=web-{number} -p NetworkNamespacePath={STATE}/{unit}/netns '
                f'busybox httpd -f -p [::]:80 -h /run/www; '
                f'systemd-run -q --unit=echo-{number} -p NetworkNamespacePath={STATE}/{unit}/netns '
                f"perl -MSocket -e '{ECHO}'")
    where = f'nsenter --net={STATE}/{unit}/netns'
    machine.wait_for(lambda: ask(machine, '127.0.0.1', 80, where) == 'hello\n' and ask_udp(machine, '127.0.0.1', where) == 'ping')


def ask(machine, address, port, where=''):
    """What a web server there says; "" for none."""
    return machine.run(f"""{where} timeout 6 bash -c 'exec 3<>/dev/tcp/{address}/{port} && printf "GET / HTTP/1.0\r\n\r\n" >&3 &&
                           cat <&3' 2>/dev/null | tail -n 1""", check=False).out


def ask_udp(machine, address, where=''):
    return machine.run(f"""{where} perl -MSocket -e 'socket(S, AF_INET, SOCK_DGRAM, 17);
                           send(S, "ping", 0, sockaddr_in(7, inet_aton("{address}"))); alarm 6; recv(S, $x, 99, 0);
                           print $x'""", check=False).out


def test_ports(machine):
    """Of all addresses, of loopback only, of IPv6, by UDP: for clients here and in the world."""
    outside = 'ip netns exec world'
    world(machine)
    machine.run([PROGRAM, 'create', '--name=six', '--ipv6'])
    up(machine, 'web', '--network=six', '--publish=8080:80', '--publish=127.0.0.1:8081:80', '--publish=7:7/udp',
       '--publish=[2001:db8::1]:8082:80')
    try:
        serve(machine, 'web', 1)
        assert ask(machine, '127.0.0.1', 8080) == 'hello\n'
        assert ask(machine, '192.0.2.1', 8080, outside) == 'hello\n'
        assert ask(machine, '2001:db8::1', 8080, outside) == 'hello\n'
        assert ask(machine, '127.0.0.1', 8081) == 'hello\n'
        assert ask(machine, '192.0.2.1', 8081, outside) == ''
        assert ask(machine, '2001:db8::1', 8082, outside) == 'hello\n'
        assert ask(machine, '192.0.2.1', 8082, outside) == ''
        assert ask_udp(machine, '192.0.2.1', outside) == 'ping'
        # The way out, and what a firewall's flush takes away.
        assert enter(machine, 'web', 'ping -c 1 -W 2 192.0.2.2 || busybox ping -c 1 -W 2 192.0.2.2').status == 0
        before = enter(machine, 'web', 'ip -o addr show eth0; ip -o link show eth0').out
        # A connection that is there stays.
        machine.run("""rm -f /run/go /run/kept; systemd-run -q --unit=echo-kept -p NetworkNamespacePath=/run/netns/world bash -c \
            'exec 3<>/dev/tcp/192.0.2.1/8080; touch /run/open; until [ -e /run/go ]; do sleep 0.05; done
             printf "GET / HTTP/1.0\\r\\n\\r\\n" >&3; tail -n 1 <&3 >/run/kept'""")
        machine.wait_for(lambda: machine.run('test -e /run/open', check=False).status == 0)
        machine.run('nft flush ruleset')
        assert ask(machine, '192.0.2.1', 8080, outside) == ''
        machine.run([PROGRAM, 'reload', 'web'])
        assert ask(machine, '192.0.2.1', 8080, outside) == 'hello\n'
        after = enter(machine, 'web', 'ip -o addr show eth0; ip -o link show eth0').out
        assert [line.split()[3] for line in after.splitlines()[:2]] == [line.split()[3] for line in before.splitlines()[:2]]
        assert 'link/ether' in after and after.split('link/ether')[1].split()[0] == before.split('link/ether')[1].split()[0]
        machine.run('touch /run/go')
        machine.wait_for(lambda: machine.run('cat /run/kept', check=False).out == 'hello\n')
        # A port that someone has is not taken from him without a word.
        said = up(machine, 'other', '--network=six', '--publish=127.0.0.1:8080:1', check=False)
        assert said.status == 125 and 'keyturn-network@web.service publishes it' in said.err, said
        said = up(machine, 'other', '--network=six', '--publish=53:53/udp', '--publish=10.255.255.1:8085:1', check=False)
        assert said.status == 125 or said.status == 0, said
        down(machine, 'other')
        # One that the kernel chooses.
        up(machine, 'other', '--network=six', '--publish=127.0.0.1::80')
        serve(machine, 'other', 2)
        port = json.loads(machine.read(f'{STATE}/other/setup'))['port_mappings'][0]['host_port']
        assert ask(machine, '127.0.0.1', port) == 'hello\n'
    finally:
        machine.run('systemctl stop "web-*" "echo-*"', check=False)
        down(machine, 'web', 'other')
        machine.run('ip netns del world; ip link del cable', check=False)


def test_names(machine):
    """A container finds another by its name and its aliases, whoever came first, and not one of another network."""
    for name in ('front', 'back'):
        machine.run([PROGRAM, 'create', f'--name={name}'])
    up(machine, 'db', '--container-name=db', '--network=front:alias=postgres', '--network=back')
    up(machine, 'app', '--container-name=app', '--hostname=app.car', '--network=front', '--publish=127.0.0.1:9080-9081:80-81')
    up(machine, 'far', '--network=back')
    try:
        shown = {(row['network'], row['unit']): row for row in json.loads(machine.run('keyturnctl networks --json').out)}
        assert shown['back', 'db.service']['addresses'] == addresses(machine, 'db')[1:], shown
        assert shown['front', 'app.service']['ports'] == ['127.0.0.1:9080-9081:80-81/tcp'], shown
        assert shown['podman', None]['subnets'] == ['10.88.0.0/16'], shown
        assert names(machine, 'app')['host'] == [addresses(machine, 'app')[0] + ' app.car app']
        assert names(machine, 'app')['search'] == ['dns.podman']
        server = names(machine, 'app')['nameserver'][0]
        assert names(machine, 'app')['gateway'] == [server]
        address = addresses(machine, 'db')[0]
        for name in ('db', 'postgres', 'db.dns.podman'):
            machine.wait_for(lambda: address in enter(machine, 'app', f'busybox nslookup {name} {server}', check=False).out)
        far = addresses(machine, 'far')[0]
        assert far not in enter(machine, 'app', f'timeout 5 busybox nslookup far.dns.podman {server} 2>&1', check=False).out
        assert enter(machine, 'app', f'busybox ping -c 1 -W 2 {address}').status == 0
        # It is netavark's process, but of no unit that stops.
        scope = machine.run('cat /proc/$(pgrep aardvark-dns)/cgroup').out
        assert '.scope' in scope and 'keyturn-network' not in scope, scope
    finally:
        down(machine, 'db', 'app', 'far')
    machine.wait_for(lambda: machine.run('pgrep aardvark', check=False).status == 1)


def test_addresses(machine):
    """The same after each start, never the same for two, what is asked for, and never Podman's."""
    choose_netavark(machine)
    machine.run([PROGRAM, 'create', '--name=small', '--subnet=10.77.0.0/28', '--gateway=10.77.0.1', '--disable-dns'])
    machine.run([PROGRAM, 'create', '--name=small', '--subnet=10.78.0.0/28'])
    assert '10.77.0.0/28' in machine.run('podman network inspect small').out
    units = [f'c{number}' for number in range(7)]
    try:
        for unit in units:
            up(machine, unit, '--network=small')
        given = {unit: addresses(machine, unit)[0] for unit in units}
        assert len(set(given.values())) == len(units), given
        assert all(int(address.split('.')[3]) >= 8 for address in given.values()), given
        said = up(machine, 'c7', '--network=small', check=False)
        assert said.status == 125 and "has no address left in 10.77.0.8-10.77.0.14" in said.err, said
        down(machine, *units)
        random.shuffle(units)
        for unit in units[1:]:
            up(machine, unit, '--network=small')
            assert addresses(machine, unit)[0] == given[unit]
        # The last one's is remembered until there is no other.
        up(machine, 'c8', '--network=small')
        assert addresses(machine, 'c8')[0] == given[units[0]]
        down(machine, 'c8')
        up(machine, 'fixed', '--network=small:ip=10.77.0.3,mac=92:d0:c6:0a:29:33,interface_name=net7')
        assert addresses(machine, 'fixed') == ['10.77.0.3']
        assert '92:d0:c6:0a:29:33' in enter(machine, 'fixed', 'ip -o link show net7').out
        for address, why in (('10.77.0.3', 'fixed has it'), ('10.77.1.3', 'in no subnet'), ('10.77.0.1', "network's own"),
                             ('10.77.0.15', "network's own"), ('10.77.0.0', "network's own")):
            said = up(machine, 'c9', f'--network=small:ip={address}', check=False)
            assert said.status == 125 and why in said.err, said
    finally:
        down(machine, *units, 'fixed')
    machine.run('podman network rm small; rm -f /var/lib/keyturn/leases/*')


def test_what_a_disk_does_not_give_back(machine):
    """A description that a power cut has left without text is made again; a lease that cannot be read is missed by its own
    container alone."""
    choose_netavark(machine)
    create, path = [PROGRAM, 'create', '--name=blank', '--subnet=10.79.0.0/24'], '/etc/containers/networks/blank.json'
    machine.run(create)
    for size in (0, 500):
        machine.run(f': >{path}; truncate -s {size} {path}')
        said = up(machine, 'c1', '--network=blank', check=False)
        assert said.status == 125 and f"'{path}' is taken for none" in said.err, said
        machine.run(create)
        up(machine, 'c1', '--network=blank')
        down(machine, 'c1')
        assert '10.79.0.0/24' in machine.run('podman network inspect blank').out
    machine.run('rm /var/lib/keyturn/leases/c1; mkdir /var/lib/keyturn/leases/c1')
    said = up(machine, 'c1', '--network=blank', check=False)
    assert said.status == 125 and "'/var/lib/keyturn/leases/c1' is not a regular file" in said.err, said
    assert "'c1' had may be given to others" in up(machine, 'c2', '--network=blank').err
    down(machine, 'c2')
    machine.run('podman network rm blank; rm -r /var/lib/keyturn/leases/*')


def test_rules_that_are_there_are_not_made_again(machine):
    """A network's rules are made with its first container, those of a port with each; after a flush with the next one."""
    for name in ('once', 'twice'):
        machine.run([PROGRAM, 'create', f'--name={name}', '--disable-dns'])
    machine.run([PROGRAM, 'create', '--name=apart', '--disable-dns', '--option=isolate=true'])

    def asks_the_firewall(unit, *options):
        machine.run(['strace', '-f', '-qq', '-e', 'trace=execve', '-o', '/run/trace', PROGRAM, 'up', unit, *options])
        return re.search(r'execve\("/\S*/(nft|iptables)"', machine.read('/run/trace')) is not None

    def rules():
        return machine.run('nft -s list ruleset').out

    try:
        assert asks_the_firewall('one', '--network=once')
        first = rules()
        driver = machine.run('cat /run/containers/networks/firewall/firewall-driver', check=False).out
        # Debian 12's netavark has iptables, which are not looked at.
        others = machine.suite == 'bookworm'
        assert asks_the_firewall('two', '--network=once') == others and rules() == first
        assert asks_the_firewall('three', '--network=once') == others and rules() == first
        assert machine.run('cat /run/containers/networks/firewall/firewall-driver', check=False).out == driver
        assert asks_the_firewall('port', '--network=once', '--publish=8077:80') and '8077' in rules()
        assert asks_the_firewall('both', '--network=once', '--network=twice')
        assert asks_the_firewall('alone', '--network=apart') and asks_the_firewall('too', '--network=apart')
        # The one that they were made with has gone, and they stay for the others.
        down(machine, 'one', 'port', 'both', 'alone', 'too')
        assert rules() == first or others
        address = names(machine, 'three')['host'][0].split()[0]
        assert enter(machine, 'two', f'busybox ping -c 1 -W 2 {address}').status == 0
        machine.run('nft flush ruleset')
        assert asks_the_firewall('one', '--network=once')
        assert rules() == first or others
        # Who has removed its own interface is no neighbour: with the others the rules have gone.
        down(machine, 'one', 'three')
        enter(machine, 'two', 'ip link del eth0')
        up(machine, 'one', '--network=twice')  # and whoever is next in `once` finds netavark's table
        up(machine, 'three', '--network=once', '--publish=8078:80')
        down(machine, 'three')
        assert address.rsplit('.', 1)[0] not in rules() or others
        assert asks_the_firewall('three', '--network=once')
        down(machine, 'one')
        # One that someone has described anew has rules that are not there.
        down(machine, 'one')
        machine.run('sed -i "s/10\\.89\\.[0-9]*\\./10.97.0./g" /etc/containers/networks/once.json')
        said = up(machine, 'four', '--network=once', check=False)
        assert said.status != 0 or '10.97.0.' in rules(), said
    finally:
        down(machine, 'four', 'one', 'two', 'three', 'port', 'both', 'alone', 'too')
    # Of the new description, those of the old one's bridge are not netavark's to remove.
    assert '10.89.' not in rules(), rules()
    machine.run('nft flush ruleset')


def test_other_kinds_of_networks(machine):
    """macvlan, on an interface of the machine's; one without a way out; routes and options."""
    machine.run('ip link add parent type veth peer name other && ip link set parent up && ip link set other up')
    machine.run([PROGRAM, 'create', '--name=lan', '--driver=macvlan', '--subnet=10.66.0.0/24', '--gateway=10.66.0.254',
                 '--ip-range=10.66.0.64/26', '--interface-name=parent'])
    machine.run([PROGRAM, 'create', '--name=closed', '--internal', '--option=mtu=1400', '--label=a=b',
                 '--subnet=10.67.0.0/24', '--route=10.5.0.0/16,10.67.0.9'])
    machine.run([PROGRAM, 'create', '--name=impossible', '--subnet=10.68.0.0/24', '--interface-name=lost',
                 '--route=10.5.0.0/16,10.99.99.1'])
    try:
        up(machine, 'one', '--network=lan')
        up(machine, 'two', '--network=lan', '--network=closed')
        assert all(65 <= int(addresses(machine, unit)[0].split('.')[3]) <= 127 for unit in ('one', 'two'))
        assert enter(machine, 'one', f'busybox ping -c 1 -W 2 {addresses(machine, "two")[0]}').status == 0
        # The machine is a bridge's gateway, an internal one's, too; a macvlan's is another machine.
        assert 'gateway' not in names(machine, 'one') and names(machine, 'two')['gateway'] == ['10.67.0.1']
        assert 'mtu 1400' in enter(machine, 'two', 'ip link show eth1').out
        assert enter(machine, 'two', 'ip route show default').out.startswith('default via 10.66.0.254 dev eth0')
        said = machine.run([PROGRAM, 'create', '--name=wrong', '--driver=macvlan', '--option=isolate=true'], check=False)
        assert 'no such option' in said.err, said
        # A route that leads nowhere: netavark 1.14 and later fail behind its bridge, which does not stay.
        said = up(machine, 'no', '--network=impossible', check=False)
        assert said.status == (0 if machine.suite == 'bookworm' else 125), said
        down(machine, 'no')
        assert machine.run('ip link show lost', check=False).status != 0
    finally:
        down(machine, 'one', 'two')
        machine.run('ip link del parent', check=False)


def test_podman_beside(machine):
    """On the default network, too: Podman gives from one half, keyturn from the other, and asks what Podman has given."""
    choose_netavark(machine)
    up(machine, 'one', '--network=bridge')
    try:
        ours = addresses(machine, 'one')[0]
        assert ours.startswith('10.88.') and int(ours.split('.')[2]) >= 128, ours
        network = json.loads(machine.run('podman network inspect podman').out)[0]
        assert network['subnets'][0]['lease_range']['end_ip'] == '10.88.127.255', network
        assert network['network_interface'] == 'podman0' and not network['dns_enabled']
        if machine.suite == 'bookworm':
            return  # its Podman starts no container on these machines
        machine.run('podman run -d --name=theirs --network=podman --ip=10.88.200.200 localhost/test/busybox sleep 1000')
        said = up(machine, 'two', '--network=bridge:ip=10.88.200.200', check=False)
        assert said.status == 125 and "a container of Podman's has it" in said.err, said
        theirs = machine.run('podman inspect -f "{{.NetworkSettings.IPAddress}}" theirs').out.strip()
        assert enter(machine, 'one', f'busybox ping -c 1 -W 2 {theirs}').status == 0
        # Podman's network by its name, which it made; and removing it, while someone is in it.
        machine.run('podman network create theirs --subnet 10.99.0.0/24')
        machine.run('podman run -d --name=other --network=theirs localhost/test/busybox sleep 1000')
        up(machine, 'three', '--network=theirs')
        said = machine.run([PROGRAM, 'delete', '--name=theirs'], check=False)
        assert 'keyturn-network@three.service' in said.err, said
        down(machine, 'three')
        said = machine.run([PROGRAM, 'delete', '--name=theirs'], check=False)
        assert "by a container of Podman's" in said.err, said
    finally:
        machine.run('podman rm -fa -t 0; podman network rm theirs', check=False)
        down(machine, 'one', 'two', 'three')


def test_kills_leave_nothing(machine):
    """Whoever is killed, at any moment: after a stop all is as before."""

    def find():
        # aardvark-dns leaves this file where it is ended, or finds that its bridge has gone. A process of it would be found.
        return re.sub(r'.*/aardvark\.pid\n', '', footprint(machine))

    warm_up(machine, 'k1', 'k2')
    for unit in ('ka', 'kb', 'kc'):
        machine.unit(f'keyturn-network@{unit}.service.d/up.conf', f'''
            [Unit]
            StopWhenUnneeded=no
            [Service]
            ExecStart=
            ExecStart={PROGRAM} up {unit} --network=k1:alias=x --network=k2 --publish={ord(unit[1])}80:80
        ''', reload=False)
        up(machine, unit, '--network=k1', '--network=k2')
        down(machine, unit)
    machine.run('systemctl daemon-reload')
    machine.wait_for(lambda: machine.run('pgrep "aardvark|netavark"', check=False).status == 1)
    before = machine.settled(find)
    dice = random.Random(14)
    for turn in range(12):
        unit = dice.choice(('ka', 'kb', 'kc'))
        service = f'keyturn-network@{unit}.service'
        machine.run(f'systemctl --no-block {dice.choice(("start", "restart", "stop"))} {service}')
        time.sleep(dice.random() * 0.25)
        if dice.random() < 0.7:
            machine.run(f'systemctl kill -s KILL {dice.choice(("", "--kill-whom=main"))} {service}', check=False)
    machine.run('systemctl stop "keyturn-network@*"; systemctl reset-failed', check=False)
    machine.is_as(before, find)
    # A removal that nobody ends is ended by the next who comes.
    up(machine, 'ka', '--network=k1')
    machine.write(f'{STATE}/ka/going', '')
    down(machine, 'kb')
    machine.run(f'rm -f {STATE}/going')
    machine.is_as(before, find)


LOCKS = ('/run/lock/netavark.lock', '/run/containers/networks/aardvark.lock')
F_OFD_SETLK = 37

# A read lock, which wants no more than to read.
LOCKING = '''
use Fcntl;
open F, "<", $ARGV[0] or die "cannot be opened\\n";
$lock = pack "ssx4qqix4", F_RDLCK, 0, 0, 0, 0;
fcntl F, $ARGV[1], $lock or die "no lock: $!";
$| = 1;
print "locked\\n";
sleep 1000;
'''


def test_nobody_can_lock_what_netavark_locks(machine):
    """Podman makes its lock readable for all: if it is the first."""
    with machine.another() as other:
        assert other.run(f'stat -c %a {LOCKS[0]}').out == '600\n'
    machine.run('rm -rf /run/containers')
    machine.write(LOCKS[0], '')
    machine.run([PROGRAM, 'create', '--name=locked'])
    up(machine, 'locked', '--network=locked')
    for lock in LOCKS:
        assert machine.run(f'test -e {lock}', check=False).status == 0, lock
        assert machine.run(f'setpriv --reuid=nobody --clear-groups cat {lock}', check=False).status != 0, lock
    down(machine, 'locked')


def test_who_has_the_lock_is_named(machine):
    """He has opened it before it was made private. The lock is the open file's, so that it has no process's number.

    Who has other files open, on a FUSE that never answers, does not keep him from being found.
    """
    machine.run([PROGRAM, 'create', '--name=locked'])
    machine.write(LOCKS[0], '')
    machine.write('/srv/lock.pl', LOCKING)
    machine.unit('locking', f'[Service]\nUser=nobody\nExecStart=perl /srv/lock.pl {LOCKS[0]} {F_OFD_SETLK}\n')
    # With O_PATH. What perl asks of it then does not come back.
    machine.unit('holding', "[Service]\nExecStart=perl -e 'sysopen F, \"/srv/hung\", 0x200000; sleep 1000'\n")
    with hanging(machine, '/srv/hung'):
        machine.run('systemctl start holding')
        holder = f'/proc/{machine.show("holding", "MainPID")}/fd'
        machine.wait_for(lambda: '/srv/hung' in machine.run(f'readlink {holder}/*', check=False).out.splitlines())
        machine.run('systemctl start locking')
        machine.wait_for(lambda: 'locked' in machine.journal('locking.service').splitlines())
        pid = machine.show('locking', 'MainPID')
        began = time.monotonic()
        said = machine.run([PROGRAM, 'up', 'locked', '--network=locked'], check=False, timeout=90)
        machine.run('systemctl kill -s KILL holding')
    assert said.status == 125 and f'by process {pid} (perl) of user 65534' in said.err, said
    assert time.monotonic() - began < 55
    machine.run('systemctl stop locking')
    up(machine, 'locked', '--network=locked')
    down(machine, 'locked')


def test_hostile_values(machine):
    """Nothing becomes a path, a line or an option that is not meant."""
    machine.run([PROGRAM, 'create', '--name=n1'])
    before = machine.run('find /etc/containers /var/lib/keyturn /run/keyturn | sort').out
    for arguments in (['up', '../../tmp/x', '--network=n1'], ['up', 'a/b', '--network=n1'], ['up', '.x', '--network=n1'],
                      ['up', 'x', '--network=../../../tmp/evil'], ['up', 'x', '--network=n1:alias=a\n10.0.0.1 bank'],
                      ['up', 'x', '--network=n1:alias=a b'], ['up', 'x', '--network=n1', '--hostname=a\nhost 1.1.1.1 bank'],
                      ['up', 'x', '--network=n1', '--container-name=a,b'], ['up', 'x', '--network=n1', '--sysctl=kernel.panic=1'],
                      ['up', 'x', '--network=n1', '--sysctl=net/../kernel/panic=1'],
                      ['up', 'x', '--network=n1', '--sysctl=net.x=1\nnet.y=2'], ['up', 'x', '--network=n1:interface_name=../x'],
                      ['up', 'x', '--network=n1', '--dns=1.1.1.1\nsearch evil'], ['up', 'x', '--network=none'],
                      ['up', 'x'], ['create', '--name=../evil'], ['create', '--name=e', '--interface-name=a b'],
                      ['create', '--name=e', '--option=mtu=x'], ['create', '--name=e', '--driver=../x'],
                      ['create', '--name=e', '--subnet=10.89.0.0/16'], ['down', '../x'], ['delete', '--name=podman']):
        said = machine.run([PROGRAM, *arguments], check=False)
        assert said.status == 125 and said.err.startswith('keyturn-network: error: '), (arguments, said)
    assert machine.run('find /etc/containers /var/lib/keyturn /run/keyturn | sort').out == before
    # A definition that is none, or another's, is not used.
    for text in ('[]', '{"name": "other", "driver": "bridge"}', '{"name": "bad", "driver": "bridge", "network_interface": "../x"}',
                 '{"name": "bad", "driver": "bridge", "subnets": [{"subnet": "10.0.0.0/24", "gateway": "11.0.0.1"}]}',
                 '{' * 100):
        machine.write('/etc/containers/networks/bad.json', text)
        said = up(machine, 'x', '--network=bad', check=False)
        assert said.status == 125 and "/etc/containers/networks/bad.json': " in said.err, said
    assert machine.run(f'ls {STATE}').out == ''


def test_sysctls_and_user_namespaces(machine):
    """Kernel parameters are the namespace's own; one that belongs to a user namespace is its root's."""
    machine.run([PROGRAM, 'create', '--name=n1'])
    machine.run('systemd-run -q --unit=owner unshare --user --map-root-user sleep 1000; touch /run/userns; '
                'pid=$(systemctl show -P MainPID owner); until [ "$(cat /proc/$pid/comm)" = sleep ]; do sleep 0.05; done; '
                'mount --bind /proc/$pid/ns/user /run/userns')
    host = machine.read('/proc/sys/net/ipv4/ip_unprivileged_port_start')
    try:
        up(machine, 'mine', '--network=n1', '--userns=/run/userns', '--sysctl=net.ipv4.ip_unprivileged_port_start=42',
           '--sysctl=net.ipv4.conf.eth0.rp_filter=0')
        assert enter(machine, 'mine', 'cat /proc/sys/net/ipv4/ip_unprivileged_port_start').out == '42\n'
        assert machine.read('/proc/sys/net/ipv4/ip_unprivileged_port_start') == host
        inside = machine.run(f'nsenter --user=/run/userns --net={STATE}/mine/netns sh -c '
                             '"ip link set eth0 name gone && ip link add x type bridge && ip -o link"').out
        assert 'gone' in inside and ' x: ' in inside, inside
        # It has renamed its interface, and all of it goes nevertheless.
        down(machine, 'mine')
        machine.wait_for(lambda: machine.run('ip -o link | grep -E "podman|veth"', check=False).out == '')
        assert machine.run('nft list ruleset | grep 10.89', check=False).out == ''
        said = up(machine, 'mine', '--network=n1', '--userns=/etc/passwd', check=False)
        assert said.status == 125 and 'Cannot make a network namespace in /etc/passwd' in said.err, said
        said = up(machine, 'mine', '--network=n1', '--sysctl=net.ipv4.nothing=1', check=False)
        assert said.status == 125 and "'net.ipv4.nothing'" in said.err, said
        assert machine.run(f'ls {STATE}').out == ''
    finally:
        machine.run('umount /run/userns; rm /run/userns; systemctl stop owner', check=False)


def test_settings_of_containers_conf(machine):
    """They are Podman's: whoever makes a network, it is the next of the same pools, in the same place."""
    machine.run('mkdir -p /srv/helpers; cp /usr/lib/podman/netavark /usr/lib/podman/aardvark-dns /srv/helpers/')
    machine.write('/etc/containers/containers.conf', '''
        [containers]
        pids_limit = 0
        [engine]
        helper_binaries_dir = ["/srv/helpers"]
        [network]
        network_backend = "netavark"
        network_config_dir = "/srv/networks"
        default_network = "usual"
        default_subnet = "172.31.0.0/16"
        default_subnet_pools = [{"base" = "172.29.0.0/23", "size" = 24}, {"base" = "172.30.0.0/16", "size" = 28}]
        dns_bind_port = 5353
    ''')
    try:
        machine.run(f'mount -t tmpfs none /usr/lib/podman; mkdir -p /srv/networks; {PROGRAM} create --name=one; '
                    f'podman network create two; {PROGRAM} create --name=three')
        assert re.findall(r'"subnet": *"([^"]*)"', machine.run('cd /srv/networks; cat one.json two.json three.json').out) == \
            ['172.29.0.0/24', '172.29.1.0/24', '172.30.0.0/28']
        up(machine, 'first', '--network=one', '--network=bridge', '--container-name=first')
        up(machine, 'second', '--network=one', '--container-name=second')
        assert addresses(machine, 'first')[1].startswith('172.31.')
        server = names(machine, 'second')['nameserver'][0]
        machine.wait_for(lambda: addresses(machine, 'first')[0] in
                         enter(machine, 'second', f'busybox nslookup first.dns.podman {server}').out)
        assert re.search(rf'{server}:5353\b', machine.run('ss -lun').out)
        container = '[Container]\nImage=localhost/test/busybox\nExec=sleep 99\nStopSignal=SIGKILL\nNetwork=bridge\n'
        machine.container('web', container)
        machine.run('systemctl start web')
        assert '172.31.' in machine.run('keyturnctl exec web ip addr show eth0').out
        machine.run('systemctl stop web')
    finally:
        down(machine, 'first', 'second')
        machine.wait_for(lambda: machine.run('pgrep aardvark', check=False).status == 1)
        machine.run('umount /usr/lib/podman; rm -rf /srv/helpers /srv/networks /var/lib/keyturn/leases/*', check=False)


def test_what_is_missing(machine):
    """No netavark, no aardvark-dns, a /var and an /etc that cannot be written."""
    machine.run([PROGRAM, 'create', '--name=n1'])
    helpers = '/usr/lib/podman'
    machine.run(f'mount -t tmpfs none {helpers}')
    try:
        said = up(machine, 'x', '--network=n1', check=False)
        assert said.status == 125 and 'install the package netavark' in said.err, said
    finally:
        machine.run(f'umount {helpers}')
    machine.run('mkdir -p /var/lib/keyturn && mount -t tmpfs -o ro none /var/lib/keyturn')
    try:
        said = up(machine, 'x', '--network=n1')
        assert 'until the next boot only' in said.err, said
        first = addresses(machine, 'x')
        down(machine, 'x')
        up(machine, 'x', '--network=n1')
        assert addresses(machine, 'x') == first
    finally:
        down(machine, 'x')
        machine.run('umount /var/lib/keyturn')
    machine.run('mount --bind /etc/containers/networks /etc/containers/networks && '
                'mount -o remount,bind,ro /etc/containers/networks')
    try:
        said = machine.run([PROGRAM, 'create', '--name=readonly'])
        assert 'where Podman does not see it' in said.err, said
        up(machine, 'x', '--network=readonly')
    finally:
        down(machine, 'x')
        machine.run('umount /etc/containers/networks')
    machine.run([PROGRAM, 'delete', '--name=readonly'])
