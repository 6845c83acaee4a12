# SPDX-License-Identifier: LGPL-2.1-or-later
"""Bridges of containers of users' managers."""

import re

from users import (IMAGE, as_user, container, fails, inside, make_user, namespace, renew_view, show, start, start_and_kill,
                   traces)
from world import MACHINE, SERVER, WORLD, ask, fetch, fetch_inside, last, make_world, serve_locally, take_port

PACKAGES = ('passt',)


def network(machine, name, keys='', user='alice'):
    make_user(machine, user)
    directory = f'/home/{user}/.config/containers/systemd'
    as_user(machine, f'mkdir -p {directory}', user)
    machine.write(f'{directory}/{name}.network', f'[Network]\n{keys}\n')


# ---- what it is

def test_the_way_out_and_names(machine):
    make_world(machine)
    network(machine, 'lan', 'Subnet=10.20.30.0/24')
    start(machine, 'one', 'Network=lan.network\nNetworkAlias=first', command=SERVER)
    start(machine, 'two', 'Network=lan.network:ip=10.20.30.77')
    assert inside(machine, 'ls /sys/class/net', 'two') == 'eth0\nlo'
    assert 'inet 10.20.30.77/24' in inside(machine, 'ip addr', 'two')
    assert '10.20.30.77' in as_user(machine, 'keyturnctl --user list').out
    for command in ('inspect two', 'images', 'volumes', 'pods', 'health', 'analyze two', 'top two -b -n 1', 'update --dry-run'):
        as_user(machine, f'keyturnctl --user {command}')
    assert fetch_inside(machine, name='two') == 'from the world'
    for host in ('systemd-one', 'first'):
        machine.wait_for(lambda: fetch_inside(machine, host, name='two') == 'from inside')
    assert 'host.containers.internal' in inside(machine, 'cat /etc/hosts', 'two') or machine.suite == 'bookworm'
    # Nothing of it is the machine's.
    assert not re.search('podman|veth', machine.run('ls /sys/class/net').out)
    assert machine.run('ls /etc/containers/networks 2>/dev/null', check=False).out == ''


def test_ports_of_all_kinds(machine):
    make_world(machine)
    network(machine, 'lan', 'Subnet=10.20.30.0/24')
    server = 'sh -c "mkdir /www; echo from inside >/www/index.html; httpd -p 80 -h /www; nc -ll -p 81 -e cat & exec nc -ll -p 82 -e echo two"'
    start(machine, keys='Network=lan.network\nPublishPort=8080:80\nPublishPort=127.0.0.1:8081-8082:81-82\nPublishPort=80', command=server)
    machine.wait_for(lambda: fetch(machine, 8080) == 'from inside')
    assert fetch(machine, 8080, MACHINE) == 'from inside'
    assert last(machine.run(f'ip netns exec world sh -c \'{ask(MACHINE, 8080)}\'').out) == 'from inside'
    machine.wait_for(lambda: machine.run('echo said | timeout 5 busybox nc 127.0.0.1 8081', check=False).out == 'said\n')
    # Each at its address, and at no other.
    machine.wait_for(lambda: last(machine.run('echo | timeout 5 busybox nc 127.0.0.1 8082', check=False).out) == 'two')
    assert machine.run(f'echo | timeout 5 busybox nc {MACHINE} 8082', check=False).out == ''
    chosen = [int(line.rsplit(':', 1)[1]) for line in machine.run("ss -Htln | awk '{print $4}'").out.split()
              if line.startswith('0.0.0.0:')]
    chosen = [port for port in chosen if port not in (8080, 9000)]
    assert len(chosen) == 1 and chosen[0] >= 1024 and fetch(machine, chosen[0], MACHINE) == 'from inside', chosen
    # Much, in both directions at once, and an end that is closed while the other has more to say.
    machine.run('head -c 20000000 /dev/urandom >/tmp/much')
    got = machine.run('timeout 60 bash -c "exec 3<>/dev/tcp/127.0.0.1/8081; (cat /tmp/much >&3) & head -c 20000000 <&3 | cmp - /tmp/much && echo same"')
    assert got.out == 'same\n', got
    # A client that has gone, and those that say nothing, are in nobody's way.
    machine.run('timeout 20 bash -c "for i in \\$(seq 200); do exec {fd}<>/dev/tcp/127.0.0.1/8080; done; '
                'for i in \\$(seq 50); do (echo x >/dev/tcp/127.0.0.1/8080); done"')
    assert fetch(machine, 8080) == 'from inside'
    ports = show(machine, 'keyturn-ports@mine', 'MainPID')
    machine.wait_for(lambda: int(machine.run(f'ls /proc/{ports}/task | wc -l').out) < 10, 60)  # 250 servers end first
    machine.wait_for(lambda: int(machine.run(f'ls /proc/{ports}/fd | wc -l').out) < 30)


def test_datagrams(machine):
    make_world(machine)
    network(machine, 'lan', 'Subnet=10.20.30.0/24')
    machine.write('/srv/world/echo.pl', 'use IO::Socket::INET; my $s = IO::Socket::INET->new(LocalPort => 53, Proto => "udp") or die; '
                  'while ($s->recv(my $got, 9999)) { $s->send("got $got"); }')
    container(machine, 'udp', '[Container]\nImage=localhost/test/debian\nVolume=/srv/world/echo.pl:/echo.pl\nExec=perl /echo.pl\n'
                              'Network=lan.network\nPublishPort=5353:53/udp\n[Service]\nKillSignal=SIGKILL\n')
    as_user(machine, 'systemctl --user restart udp')

    def says(host, before=()):
        return machine.run([*before, 'bash', '-c', f'exec 3<>/dev/udp/{host}/5353; echo this >&3; timeout 2 head -1 <&3'], check=False).out
    machine.wait_for(lambda: says(MACHINE, ('ip', 'netns', 'exec', 'world')) == 'got this\n')
    machine.wait_for(lambda: says('127.0.0.1') == 'got this\n')
    # Each gets its own answers, and there is an end to how many there may be.
    machine.run('bash -c "for i in \\$(seq 400); do exec {fd}<>/dev/udp/127.0.0.1/5353; echo \\$i >&\\$fd; '
                       '[ \\$((i % 40)) != 0 ] || sleep 0.1; done 2>/dev/null; '
                       'exec 3<>/dev/udp/127.0.0.1/5353; :"')

    def threads():
        return int(machine.run(f"ls /proc/{show(machine, 'keyturn-ports@udp', 'MainPID')}/task | wc -l").out)
    machine.wait_for(lambda: 250 < threads() < 260)
    # One more takes the place of who was silent for longest.
    machine.wait_for(lambda: says('127.0.0.1') == 'got this\n')
    as_user(machine, 'systemctl --user stop udp')


def test_two_bridges_are_apart(machine):
    make_world(machine)
    network(machine, 'lan', 'Subnet=10.20.30.0/24')
    network(machine, 'dmz', 'Subnet=10.20.31.0/24\nInternal=true')
    start(machine, 'one', 'Network=lan.network', command=SERVER)
    start(machine, 'two', 'Network=dmz.network:ip=10.20.31.5', command=SERVER)
    start(machine, 'both', 'Network=lan.network\nNetwork=dmz.network')
    address = re.search(r'inet (10\.20\.30\.\d+)/', inside(machine, 'ip addr', 'one'))[1]
    for host in ('systemd-one', 'systemd-two', address, '10.20.31.5'):
        machine.wait_for(lambda: fetch_inside(machine, host, name='both') == 'from inside')
    assert fetch_inside(machine, name='both') == 'from the world'
    for host in (WORLD, 'systemd-one', address, '169.254.1.2', '10.20.30.1'):
        assert fetch_inside(machine, host, name='two', seconds=2) == '', host
    for host in ('systemd-two', '10.20.31.5'):
        assert fetch_inside(machine, host, name='one', seconds=2) == '', host
    # Internal: nothing is published either, as with root's.
    start(machine, 'two', 'Network=dmz.network:ip=10.20.31.5\nPublishPort=8085:80', command=SERVER)
    assert fetch(machine, 8085) == ''


def test_who_changes_to_a_bridge_is_with_the_others(machine):
    """Its network is made anew, without what the bridges lie in being needed by another one."""
    make_world(machine)
    as_user(machine, 'systemctl --user stop "keyturn-network@*"')
    start(machine, 'one', 'Network=pasta', command=SERVER)
    network(machine, 'lan', 'Subnet=10.20.30.0/24')
    start(machine, 'one', 'Network=lan.network', command=SERVER)
    start(machine, 'both', 'Network=lan.network')
    machine.wait_for(lambda: fetch_inside(machine, 'systemd-one', name='both') == 'from inside')
    as_user(machine, 'systemctl --user stop one both')
    machine.wait_for(lambda: show(machine, 'keyturn-network@.bridges', 'ActiveState') == 'inactive')
    assert machine.run('ls -A /run/user/1234/keyturn/network').out == ''


def test_the_default_bridge_and_what_is_chosen(machine):
    make_world(machine)
    start(machine, keys='Network=bridge\nIP=10.88.0.99\nSysctl=net.ipv4.ip_default_ttl=42\nAddCapability=NET_ADMIN')
    assert 'inet 10.88.0.99/16' in inside(machine, 'ip addr')
    assert inside(machine, 'cat /proc/sys/net/ipv4/ip_default_ttl; ip link add br7 type bridge && ls /sys/class/net') == '42\nbr7\neth0\nlo'
    assert fetch_inside(machine) == 'from the world'
    as_user(machine, 'systemctl --user restart mine')  # who could change it gets a new one
    assert inside(machine, 'ls /sys/class/net') == 'eth0\nlo'
    start(machine, keys='IP=10.88.0.98')
    assert 'inet 10.88.0.98/16' in inside(machine, 'ip addr')
    # An address stays its container's, and so does a network that Podman has made.
    network(machine, 'chosen')
    as_user(machine, 'systemctl --user stop mine')
    machine.wait_for(lambda: show(machine, 'keyturn-network@mine', 'ActiveState') == 'inactive')
    start(machine, keys='Network=chosen.network')
    address = re.search(r'inet (\S+)', inside(machine, 'ip addr show eth0'))[1]
    as_user(machine, 'systemctl --user stop mine')
    machine.wait_for(lambda: show(machine, 'keyturn-network@mine', 'ActiveState') == 'inactive')
    start(machine, 'other', keys='Network=chosen.network')
    as_user(machine, 'systemctl --user start mine')
    assert address in inside(machine, 'ip addr show eth0')
    assert 'systemd-chosen.json' in as_user(machine, 'ls ~/.local/share/containers/storage/networks').out
    as_user(machine, 'systemctl --user stop mine other')


# ---- what comes and goes

def pid_of(machine, unit):
    return show(machine, unit, 'MainPID')


PASTA = 'keyturn-pasta@.bridges'


def stop_all(machine, user='alice'):
    as_user(machine, 'systemctl --user kill -s KILL one two both mine other udp; systemctl --user stop one two both mine other udp', user, check=False)
    as_user(machine, 'systemctl --user reset-failed', user, check=False)


def is_clean(machine, uid=1234, name='alice'):
    return machine.run(f'pgrep -u {name} "^(pasta|passt|aardvark|keyturn-network|netavark)"', check=False).out == '' and \
        machine.run(f'ls -A /run/user/{uid}/keyturn/network', check=False).out in ('', '.leases\n')


def test_the_network_stays_over_restarts_and_goes(machine):
    make_world(machine)
    stop_all(machine)
    machine.wait_for(lambda: is_clean(machine))
    network(machine, 'lan', 'Subnet=10.20.30.0/24')
    start(machine, keys='Network=lan.network\nPublishPort=8080:80', command=SERVER)
    start(machine, 'other', keys='Network=lan.network')
    before = namespace(machine), pid_of(machine, PASTA), pid_of(machine, 'keyturn-ports@mine')
    as_user(machine, 'systemctl --user restart mine')
    machine.wait_for(lambda: fetch(machine, 8080) == 'from inside')
    assert (namespace(machine), pid_of(machine, PASTA), pid_of(machine, 'keyturn-ports@mine')) == before
    # One who goes leaves the others alone.
    as_user(machine, 'systemctl --user stop mine')
    machine.wait_for(lambda: show(machine, 'keyturn-ports@mine', 'ActiveState') == 'inactive')
    assert fetch_inside(machine, name='other') == 'from the world' and pid_of(machine, PASTA) == before[1]
    as_user(machine, 'systemctl --user stop other')
    machine.wait_for(lambda: is_clean(machine) and show(machine, 'keyturn-network@.bridges', 'ActiveState') == 'inactive')


def test_processes_that_are_killed(machine):
    """The containers go on, and so do their networks."""
    make_world(machine)
    network(machine, 'lan', 'Subnet=10.20.30.0/24')
    start(machine, keys='Network=lan.network\nPublishPort=8080:80', command=SERVER)
    start(machine, 'other', keys='Network=lan.network')
    main, before = pid_of(machine, 'mine'), namespace(machine)
    for unit in 3 * (PASTA, 'keyturn-ports@mine'):
        pid = pid_of(machine, unit)
        machine.run(f'kill -9 {pid}')
        machine.wait_for(lambda: pid_of(machine, unit) not in ('0', pid) and show(machine, unit, 'ActiveState') == 'active')
    machine.wait_for(lambda: fetch(machine, 8080) == 'from inside')
    machine.wait_for(lambda: fetch_inside(machine) == fetch_inside(machine, name='other') == 'from the world')
    machine.wait_for(lambda: fetch_inside(machine, 'systemd-mine', name='other') == 'from inside')
    assert (pid_of(machine, 'mine'), namespace(machine)) == (main, before)


def test_a_view_that_is_made_anew(machine):
    """Whoever starts next finds new bridges; the others are there when they are restarted."""
    make_world(machine)
    network(machine, 'lan', 'Subnet=10.20.30.0/24')
    start(machine, keys='Network=lan.network\nPublishPort=8080:80', command=SERVER)
    start(machine, 'other', keys='Network=lan.network')
    machine.wait_for(lambda: fetch(machine, 8080) == 'from inside')
    renew_view(machine)
    assert fetch(machine, 8080) == 'from inside'
    for name in ('mine', 'other', 'mine'):
        as_user(machine, f'systemctl --user restart {name}')
    machine.wait_for(lambda: fetch(machine, 8080) == 'from inside')
    machine.wait_for(lambda: fetch_inside(machine, name='other') == 'from the world')
    machine.wait_for(lambda: fetch_inside(machine, 'systemd-mine', name='other') == 'from inside')
    as_user(machine, 'systemctl --user stop mine other')
    machine.wait_for(lambda: is_clean(machine))


def test_a_file_that_has_changed(machine):
    make_world(machine)
    network(machine, 'lan', 'Subnet=10.20.30.0/24')
    start(machine, keys='Network=lan.network\nPublishPort=8080:80', command=SERVER)
    container(machine, 'mine', f'[Container]\nImage={IMAGE}\nExec={SERVER}\nNetwork=lan.network\nPublishPort=8090:80\n[Service]\nKillSignal=SIGKILL\n')
    as_user(machine, 'systemctl --user restart mine')
    machine.wait_for(lambda: fetch(machine, 8090) == 'from inside')
    assert fetch(machine, 8080) == ''
    assert fetch_inside(machine) == 'from the world'


def test_starts_stops_and_kills_leave_nothing(machine):
    make_world(machine)
    stop_all(machine)
    as_user(machine, 'systemctl --user restart keyturn-view')
    network(machine, 'lan', 'Subnet=10.20.30.0/24')
    keys = 'Network=lan.network\nPublishPort=8080:80'
    start(machine, 'one', keys)
    start(machine, 'two', 'Network=lan.network\nNetwork=bridge')
    stop_all(machine)

    def left():
        return traces(machine, more='ls /home/alice/.local/share/keyturn/leases /sys/class/net; nft list ruleset')
    machine.wait_for(lambda: is_clean(machine))
    before = machine.settled(left)
    start_and_kill(machine, 20,
                   '[ $((i % 3)) = 0 ] && pkill -9 -u alice "^(pasta|passt)"; [ $((i % 5)) = 2 ] && pkill -9 -u alice aardvark; '
                   '[ $((i % 4)) = 1 ] && systemctl --user kill -s KILL keyturn-network@one keyturn-ports@one keyturn-network@.bridges; '
                   '[ $((i % 7)) = 3 ] && { systemctl --user stop two; systemctl --user start two; }; ')
    machine.is_as(before, left)
    start(machine, 'one', keys, command=SERVER)
    machine.wait_for(lambda: fetch(machine, 8080) == 'from inside')
    as_user(machine, 'systemctl --user stop one')


def test_a_way_out_that_nobody_has_asked_for(machine):
    """Who was to restart it, for bridges that are made anew, was killed."""
    make_world(machine)
    network(machine, 'lan', 'Subnet=10.20.30.0/24')
    start(machine, keys='Network=lan.network')
    machine.run('rm /run/user/1234/keyturn/network/.bridges/names')
    start(machine, 'other', 'Network=bridge')
    assert fetch_inside(machine) == 'from the world'
    stop_all(machine)


def test_what_cannot_be_seen_is_not_forgotten(machine):
    """Its rules and names would stay: who can see it next removes it."""
    make_world(machine)
    network(machine, 'lan', 'Subnet=10.20.30.0/24')
    start(machine, keys='Network=lan.network\nPublishPort=8080:80')
    view = '/run/user/1234/keyturn/.view'
    # By root, as who enters the view can only be traced by those who could all the same.
    for calls, path, error, word in (('?access,?faccessat,?faccessat2,openat', '/run/keyturn/network/mine/setup', 'EIO', "mine/setup'"),
                                     ('openat', view, 'EMFILE', 'Too many open files')):
        done = machine.run(f'env XDG_RUNTIME_DIR=/run/user/1234 HOME=/home/alice strace -u alice -f -qq -b execve -o /run/traced -P {path} '
                           f'-e trace={calls} -e inject={calls}:error={error} /usr/lib/keyturn/keyturn-network down mine', check=False)
        assert 'INJECTED' in machine.read('/run/traced'), path
        assert done.status == 125 and word in done.err, done
        machine.run('ls /run/user/1234/keyturn/network/mine/setup')
    as_user(machine, 'systemctl --user stop mine')
    machine.wait_for(lambda: is_clean(machine))


# ---- what it does not

def test_what_fails_says_why(machine):
    make_world(machine)
    network(machine, 'lan', 'Subnet=10.20.30.0/24')
    take_port(machine, 8070)
    try:
        fails(machine, '8070', keys='Network=lan.network\nPublishPort=8070:80')
    finally:
        machine.run('systemctl stop taken')
    as_user(machine, 'systemctl --user restart mine')
    fails(machine, '10.20.30.77', keys='Network=bridge\nIP=10.20.30.77')
    fails(machine, "no network 'nosuch'", keys='Network=nosuch')
    machine.run('chmod 0600 /dev/net/tun')
    stop_all(machine)
    machine.wait_for(lambda: is_clean(machine))
    try:
        fails(machine, '/dev/net/tun', keys='Network=lan.network')
    finally:
        machine.run('chmod 0666 /dev/net/tun')
    start(machine, keys='Network=lan.network')
    assert fetch_inside(machine) == 'from the world'
    stop_all(machine)


def test_a_refused_file_fails_alone(machine):
    """With a bridge, a port, ids and a copy of its image that would be made ahead of it."""
    make_world(machine)
    keys = 'PublishPort=8080:80\nNetwork=bridge\nUserNS=keep-id\nUser=0'
    start(machine, keys=keys, command=SERVER)
    machine.wait_for(lambda: fetch(machine, 8080) == 'from inside')
    container(machine, 'mine', f'[Container]\nImage={IMAGE}\n{keys}\nPodmanArgs=--pid=host --privileged\nStopSignal=SIGKILL\n')
    assert fetch(machine, 8080) == 'from inside'
    as_user(machine, 'systemctl --user stop mine')
    assert as_user(machine, 'systemctl --user start mine', check=False).status
    failed = as_user(machine, 'systemctl --user --failed --plain --no-legend').out
    assert [line.split()[0] for line in failed.splitlines()] == ['mine.service'], failed
    said = machine.journal()
    assert '(--pid)' in said and 'up needs a --network' not in said and 'has no ExecStart' not in said, said
    as_user(machine, 'systemctl --user reset-failed')
    start(machine, keys=keys, command=SERVER)
    machine.wait_for(lambda: fetch(machine, 8080) == 'from inside')
    as_user(machine, 'systemctl --user stop mine')


def test_what_is_refused_with_its_line(machine):
    make_user(machine, 'alice')
    wrong = []
    for keys, words in (('Network=bridge\nPublishPort=80:80', 'net.ipv4.ip_unprivileged_port_start=80'),
                        ('Network=bridge\nPublishPort=8080:80/sctp', 'sctp'), ('Network=bridge\nNetwork=pasta', "'bridge' already"),
                        ('Network=container:other', "no .container file here makes 'other'"), ('Network=no.network', 'no.network')):
        as_user(machine, 'systemctl --user stop mine', check=False)
        container(machine, 'mine', f'[Container]\nImage={IMAGE}\n{keys}\n')
        assert as_user(machine, 'systemctl --user start mine', check=False).status, keys
        said = show(machine, 'mine', 'Description')
        if not re.search(r':[56]: ', said) or words not in said:
            wrong.append((keys, said))
    for keys, words in (('Driver=macvlan', ':2: '), ('IPAMDriver=dhcp', ':2: '), ('Driver=ipvlan', 'bridges of their own')):
        network(machine, 'odd', keys)
        as_user(machine, 'systemctl --user daemon-reload')
        assert as_user(machine, 'systemctl --user start odd-network', check=False).status, keys
        said = show(machine, 'odd-network', 'Description')
        if words not in said:
            wrong.append((keys, said))
    machine.run('rm /home/alice/.config/containers/systemd/odd.network')
    assert not wrong, wrong


# ---- who may not

def test_a_payload_in_the_hands_of_an_attacker(machine):
    """It is master of its own end of the link, and of nothing else."""
    make_world(machine)
    serve_locally(machine)
    network(machine, 'lan', 'Subnet=10.20.30.0/24')
    network(machine, 'dmz', 'Subnet=10.20.31.0/24\nInternal=true')
    start(machine, 'victim', 'Network=lan.network:ip=10.20.30.8\nPublishPort=8081:80', command=SERVER)
    start(machine, 'hidden', 'Network=dmz.network:ip=10.20.31.8', command=SERVER)
    start(machine, keys='Network=lan.network:ip=10.20.30.9\nAddCapability=all\nPublishPort=8080:80', command=SERVER)
    machine.wait_for(lambda: 'from the world' in
                     inside(machine, f'{ask(WORLD, 80)} & {ask("127.9.9.9", 9000, 2)} & wait', check=False))
    pid = pid_of(machine, 'mine')
    others = [pid_of(machine, unit) for unit in (PASTA, 'keyturn-ports@mine', 'keyturn-ports@victim', 'victim')]
    others += machine.run('cut -d" " -f1 /run/user/1234/keyturn/.view; pgrep -u alice aardvark').out.split()
    assert not re.search('pasta|aardvark|keyturn', inside(machine, 'ps -o args'))
    for target in others:
        for what in ('ns/net', 'ns/mnt', 'environ'):
            got = machine.run(['nsenter', '-t', pid, '-U', '-S', '0', '-G', '0', 'cat', f'/proc/{target}/{what}'], check=False)
            assert got.status, (target, what, got)
    tricks = ('true', 'ip addr add 10.20.30.77/24 dev eth0', 'ip route add 127.9.9.9 via 10.20.30.1 dev eth0', 'ip route add 10.20.31.0/24 via 10.20.30.1',
              'ip addr flush dev lo', 'ip addr add 10.20.31.9/24 dev eth0', 'ip addr flush dev eth0; ip addr add 10.20.30.1/24 dev eth0; '
              'ip addr add 10.20.30.78/24 dev eth0; ip route add default via 10.20.30.1')
    for trick in tricks:
        inside(machine, f'{trick} 2>/dev/null', check=False)
        asked = [ask(host, 9000, 2) for host in ('127.0.0.1', '127.9.9.9', WORLD, '169.254.1.2', MACHINE, '10.20.30.1')]
        got = inside(machine, ' & '.join([*asked, ask('10.20.31.8', 80, 2)]) + ' & wait', check=False)
        assert not re.search('from (the world|inside)', got), (trick, got)
    # Its interface's other end is on the bridge, where nobody asks it: it may not have what is in that namespace.
    assert 'podman' not in inside(machine, 'ip link')
    inside(machine, 'nft flush ruleset 2>/dev/null; iptables -F 2>/dev/null; ip link del eth0 2>/dev/null', check=False)
    machine.wait_for(lambda: fetch(machine, 8081) == 'from inside')
    assert fetch_inside(machine, name='victim') == 'from the world'
    as_user(machine, 'systemctl --user restart mine')
    machine.wait_for(lambda: fetch(machine, 8080) == 'from inside')
    as_user(machine, 'systemctl --user stop mine victim hidden')


def test_users_are_apart(machine):
    make_world(machine)
    make_user(machine, 'bob')
    network(machine, 'lan', 'Subnet=10.20.30.0/24')
    network(machine, 'lan', 'Subnet=10.20.30.0/24', user='bob')
    start(machine, keys='Network=lan.network:ip=10.20.30.9\nPublishPort=8080:80', command=SERVER)
    start(machine, keys='Network=lan.network:ip=10.20.30.9\nPublishPort=8090:80', command='sleep 1000', user='bob')
    start(machine, 'two', keys='Network=lan.network', user='bob')
    machine.wait_for(lambda: fetch(machine, 8080) == 'from inside')
    # The same network by name and addresses, and another one.
    assert fetch_inside(machine, name='mine') == 'from the world'
    for host in ('10.20.30.9', 'systemd-mine'):
        got = last(inside(machine, ask(host, 80, 2), 'two', user='bob', check=False))
        assert got == '', (host, got)
    pid, pasta, ports = pid_of(machine, 'mine'), pid_of(machine, PASTA), pid_of(machine, 'keyturn-ports@mine')
    for command in ('ls /run/user/1234/keyturn/network', f'kill {pasta} {ports}', f'nsenter -t {ports} -U -n true', f'nsenter -t {pid} -n true',
                    f'pasta --config-net --netns /proc/{ports}/ns/net', f'cat /proc/{ports}/environ', f'ls /proc/{ports}/fd'):
        assert as_user(machine, command, 'bob', check=False).status, command
    # Bob says that his bridges are in alice's namespace, or root's, that it is a FIFO, and that a process of hers, or
    # root's, is his server of names.
    sleeper = machine.run('systemd-run -q --unit sleeper --property Type=exec bash -c "exec -a aardvark-dns sleep 1000"; '
                          'systemctl show -P MainPID sleeper').out.strip()
    for trick in (f'ln -sf /proc/{ports}/ns/net $D/.bridges/netns', 'ln -sf /proc/1/ns/net $D/.bridges/netns', 'mkfifo $D/.bridges/netns',
                  f'ln -sf /proc/self/ns/net $D/.bridges/netns; mkdir -p $D/../.netavark/aardvark-dns; echo {sleeper} >$D/../.netavark/aardvark-dns/aardvark.pid'):
        as_user(machine, f'D=$XDG_RUNTIME_DIR/keyturn/network; systemctl --user stop mine two; mkdir -p $D/.bridges; rm -rf $D/.bridges/*; {trick}; '
                         'timeout 50 systemctl --user start mine', 'bob', check=False)
        assert fetch(machine, 8080) == 'from inside', trick
        assert not re.search('podman|veth', machine.run('ls /sys/class/net').out), trick
        assert machine.run('nft list tables 2>/dev/null | grep netavark', check=False).out == '', trick
    assert machine.run('systemctl is-active sleeper').out == 'active\n'
    machine.run('systemctl stop sleeper')
    assert machine.run('/usr/lib/keyturn/keyturn-network ports mine 2>&1', check=False).out.count("ports is for users' bridges") == 1
