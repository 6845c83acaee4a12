# SPDX-License-Identifier: LGPL-2.1-or-later
"""Networks of containers of users' managers: pasta."""

import re

from users import (IMAGE, as_user, container, fails, inside, make_podmans, make_user, namespace, renew_view, show, start,
                   start_and_kill, traces)
from world import MACHINE, SERVER, WORLD, ask, fetch, fetch_inside, last, make_world, serve_locally, take_port

PACKAGES = ('passt',)


# ---- what it is

def test_the_way_out_and_a_port(machine):
    make_world(machine)
    start(machine, keys='Network=pasta\nPublishPort=8080:80', command=SERVER)
    assert fetch_inside(machine) == 'from the world'
    machine.wait_for(lambda: fetch(machine, 8080) == 'from inside')
    assert fetch(machine, 8080, MACHINE) == 'from inside'
    assert last(machine.run(f'ip netns exec world sh -c \'{ask(MACHINE, 8080)}\'').out) == 'from inside'
    assert inside(machine, 'ls /sys/class/net') == 'lo\nup0'
    assert MACHINE in as_user(machine, 'keyturnctl --user list').out
    # One process beside the payload, and it is neither root's nor keyturn's.
    def others():
        return [line for line in machine.run('ps -u alice -o args=').out.splitlines() if not re.search('systemd|libstart view|relay|httpd', line)]
    machine.wait_for(lambda: len(others()) == 1)
    assert '/usr/bin/pasta' in others()[0] and '--no-map-gw' in others()[0], others()


def facts(text):
    """What is the same from start to start, line by line."""
    lines = [re.sub(r'\s+', ' ', line).strip() for line in text.splitlines()]
    return [line for line in lines if line and not re.search(r'link/ether|valid_lft|fe80|systemd-mine|host.containers|^# |^[0-9a-f]{12}$', line)]


LOOK = 'ip addr; ip route; cat /etc/resolv.conf; grep -v ^10.11.12.2 /etc/hosts; ls /sys/class/net; cat /proc/sys/net/ipv4/ping_group_range'


def test_as_rootless_podman_has_it(machine):
    make_world(machine)
    start(machine, keys='Network=pasta')
    ours = inside(machine, LOOK)
    assert 'nameserver 169.254.1.1' in ours and f'default via {WORLD} dev up0' in ours and '10.11.12.2/24' in ours, ours
    assert '169.254.1.2' in ours or machine.suite == 'bookworm', ours
    if machine.suite == 'bookworm':  # whose Podman has no pasta yet
        return
    as_user(machine, 'systemctl --user stop mine')
    make_podmans(machine)
    theirs = as_user(machine, f"podman run --rm --cgroups disabled --network pasta {IMAGE} sh -c '{LOOK}'").out
    assert facts(ours) == facts(theirs), (facts(ours), facts(theirs))


def test_ports_of_all_kinds(machine):
    make_world(machine)
    server = 'sh -c "while :; do nc -l -p 81 -e echo one; done & while :; do nc -l -p 82 -e echo two; done & sleep 1000"'
    # Without Network= that is pasta's, as with rootless Podman.
    start(machine, keys='PublishPort=127.0.0.1:8081-8082:81-82\nPublishPort=81', command=server)

    def says(port, host='127.0.0.1'):
        return machine.run(f'echo | timeout 5 busybox nc -w 2 {host} {port}', check=False).out.strip()
    machine.wait_for(lambda: says(8081) == 'one' and says(8082) == 'two')
    assert not says(8081, MACHINE)
    chosen = re.search(r' -t (\d+)-\d+:81-81', machine.run('ps -u alice -o args=').out)[1]
    assert int(chosen) >= 1024, chosen
    machine.wait_for(lambda: says(chosen) == 'one')
    machine.wait_for(lambda: says(chosen, MACHINE) == 'one')


def test_datagrams(machine):
    make_world(machine)
    machine.write('/srv/world/echo.pl', 'use IO::Socket::INET; my $s = IO::Socket::INET->new(LocalPort => 53, Proto => "udp") or die; '
                  'while ($s->recv(my $got, 99)) { $s->send("got $got"); }')
    container(machine, 'udp', '[Container]\nImage=localhost/test/debian\nVolume=/srv/world/echo.pl:/echo.pl\nExec=perl /echo.pl\n'
                              'PublishPort=5353:53/udp\n[Service]\nKillSignal=SIGKILL\n')
    as_user(machine, 'systemctl --user restart udp')
    def says(host, before=()):
        command = f'exec 3<>/dev/udp/{host}/5353; echo this >&3; timeout 2 head -1 <&3'
        return machine.run([*before, 'bash', '-c', command], check=False).out
    machine.wait_for(lambda: says(MACHINE, ('ip', 'netns', 'exec', 'world')) == 'got this\n')
    if machine.suite != 'bookworm':  # whose pasta itself has no way from the loopback to a datagram port of another number
        machine.wait_for(lambda: says('127.0.0.1') == 'got this\n')
    as_user(machine, 'systemctl --user stop udp')


def test_options_and_what_is_not_asked_for(machine):
    """None of the machine's ports is there inside, unless the file says so."""
    make_world(machine)
    serve_locally(machine)
    start(machine, keys='Network=pasta')
    for host in ('127.0.0.1', WORLD, '169.254.1.2', MACHINE):
        assert fetch_inside(machine, host, 9000, seconds=1) == '', host
    start(machine, keys='Network=pasta:-T,9000,-I,out0,-a,10.11.12.9')
    machine.wait_for(lambda: fetch_inside(machine, '127.0.0.1', 9000) == 'from the world')
    assert 'out0' in inside(machine, 'ls /sys/class/net') and '10.11.12.9' in inside(machine, 'ip addr; cat /etc/hosts')


def test_settings_of_the_network_and_its_owner(machine):
    """Root in the container is master of its network, if it may be."""
    make_world(machine)
    start(machine, keys='Network=pasta\nSysctl=net.ipv4.ip_default_ttl=42\nAddCapability=NET_ADMIN')
    assert inside(machine, 'cat /proc/sys/net/ipv4/ip_default_ttl; ip link add br7 type bridge && ls /sys/class/net/br7/address') == \
        '42\n/sys/class/net/br7/address'
    as_user(machine, 'systemctl --user restart mine')  # who could change it gets a new one
    assert 'br7' not in inside(machine, 'ls /sys/class/net')
    assert fetch_inside(machine) == 'from the world'
    start(machine, keys='Network=pasta')
    assert inside(machine, 'ip link add br7 type bridge 2>&1', check=False)
    # A file that sets what is the network's wants one of its own, not the machine's.
    start(machine, keys='Sysctl=net.ipv4.ip_default_ttl=43')
    assert inside(machine, 'cat /proc/sys/net/ipv4/ip_default_ttl; ls /sys/class/net') == '43\nlo\nup0'
    assert machine.run('cat /proc/sys/net/ipv4/ip_default_ttl').out != '43\n'


# ---- what comes and goes

def pasta_pid(machine, name='mine'):
    return show(machine, f'keyturn-pasta@{name}', 'MainPID')


def test_the_network_stays_over_restarts(machine):
    make_world(machine)
    start(machine, keys='Network=pasta\nPublishPort=8080:80', command=SERVER)
    before, pasta = namespace(machine), pasta_pid(machine)
    assert machine.run(f'cat /proc/{pasta}/cmdline').out.startswith('/usr/bin/pasta'), pasta
    as_user(machine, 'systemctl --user restart mine')
    machine.wait_for(lambda: fetch(machine, 8080) == 'from inside')
    assert (namespace(machine), pasta_pid(machine)) == (before, pasta)
    as_user(machine, 'systemctl --user stop mine')
    machine.wait_for(lambda: not machine.run('pgrep -u alice -f [b]in/pasta', check=False).out)
    machine.wait_for(lambda: machine.run('ls /run/user/1234/keyturn/network').out == '')


def test_a_pasta_that_is_killed(machine):
    """The container goes on, and so does its network."""
    make_world(machine)
    start(machine, keys='Network=pasta\nPublishPort=8080:80', command=SERVER)
    main, before = show(machine, 'mine', 'MainPID'), namespace(machine)
    for _ in range(7):
        pasta = pasta_pid(machine)
        machine.run(f'kill -9 {pasta}')
        machine.wait_for(lambda: pasta_pid(machine) not in ('0', pasta) and show(machine, 'keyturn-pasta@mine', 'ActiveState') == 'active')
    machine.wait_for(lambda: fetch(machine, 8080) == 'from inside')
    machine.wait_for(lambda: fetch_inside(machine) == 'from the world')
    assert (show(machine, 'mine', 'MainPID'), namespace(machine)) == (main, before)


def test_a_file_that_has_changed(machine):
    """Also where the container alone is restarted."""
    make_world(machine)
    start(machine, keys='Network=pasta\nPublishPort=8080:80', command=SERVER)
    container(machine, 'mine', f'[Container]\nImage={IMAGE}\nExec={SERVER}\nNetwork=pasta\nPublishPort=8090:80\n[Service]\nKillSignal=SIGKILL\n')
    as_user(machine, 'systemctl --user restart mine')
    machine.wait_for(lambda: fetch(machine, 8090) == 'from inside')
    assert fetch(machine, 8080) == ''
    assert fetch_inside(machine) == 'from the world'


def test_what_runs_keeps_the_network_that_its_file_asks_for_no_more(machine):
    """With the ways in and out of it, until it stops."""
    make_world(machine)
    for network in ('pasta', 'bridge'):
        for verb in ('stop', 'restart'):
            start(machine, keys=f'Network={network}\nPublishPort=8080:80', command=SERVER)
            before = namespace(machine)
            container(machine, 'mine', f'[Container]\nImage={IMAGE}\nExec=sleep 1000\nNetwork=none\n[Service]\nKillSignal=SIGKILL\n')
            as_user(machine, 'systemctl --user daemon-reload; systemctl --user start mine')
            machine.run('pkill -KILL -u alice -f [b]in/pasta')  # which comes again
            machine.wait_for(lambda: fetch(machine, 8080) == 'from inside' and fetch_inside(machine) == 'from the world')
            assert namespace(machine) == before, network
            as_user(machine, f'systemctl --user {verb} mine')
            machine.wait_for(lambda: not machine.run('pgrep -u alice -f [b]in/pasta', check=False).out)
            machine.wait_for(lambda: 'mine' not in machine.run('ls /run/user/1234/keyturn/network').out)
            assert show(machine, 'mine', 'ActiveState') == ('active' if verb == 'restart' else 'failed'), (network, verb)
            as_user(machine, 'systemctl --user stop mine')


def test_what_runs_while_it_is_masked_keeps_its_network(machine):
    make_world(machine)
    command = re.sub('exec (.*)"', r'trap exit TERM; \1 & wait"', SERVER)
    for network in ('pasta', 'bridge'):
        start(machine, keys=f'Network={network}\nPublishPort=8080:80', command=command)
        before = namespace(machine)
        as_user(machine, 'systemctl --user mask mine; systemctl --user daemon-reload')
        machine.wait_for(lambda: fetch(machine, 8080) == 'from inside' and fetch_inside(machine) == 'from the world')
        assert namespace(machine) == before, network
        assert 'masked' in as_user(machine, 'keyturnctl --user list').out
        as_user(machine, 'systemctl --user stop mine')
        machine.wait_for(lambda: 'mine' not in machine.run('ls /run/user/1234/keyturn/network').out)
        as_user(machine, 'systemctl --user unmask mine')
        machine.wait_for(lambda: not machine.run('pgrep -u alice -f [b]in/pasta', check=False).out)


def test_a_view_that_is_made_anew(machine):
    make_world(machine)
    start(machine, keys='Network=pasta\nPublishPort=8080:80', command=SERVER)
    renew_view(machine)
    machine.wait_for(lambda: fetch(machine, 8080) == 'from inside')
    for _ in range(2):
        as_user(machine, 'systemctl --user restart mine')
        machine.wait_for(lambda: fetch(machine, 8080) == 'from inside')
        assert fetch_inside(machine) == 'from the world', inside(machine, 'ip addr; ip route')
    # It belongs to the container's user namespace, which is new, too.
    pid = show(machine, 'mine', 'MainPID')
    assert machine.run(f'nsenter -t {pid} -U -n ip link set up0 down && echo done').out == 'done\n'


def test_starts_stops_and_kills_leave_nothing(machine):
    make_world(machine)
    as_user(machine, 'systemctl --user restart keyturn-view')
    # Of the test before, which has the port.
    as_user(machine, 'systemctl --user kill -s KILL mine; systemctl --user stop mine; systemctl --user daemon-reload',
            check=False)
    machine.wait_for(lambda: machine.run('pgrep -u alice -f [b]in/pasta', check=False).out == '')
    keys = 'Network=pasta\nPublishPort=8080:80'
    start(machine, 'one', keys)
    start(machine, 'two', 'Network=pasta')
    as_user(machine, 'systemctl --user kill -s KILL mine udp; systemctl --user stop one two mine udp', check=False)

    def left():
        return traces(machine)
    machine.wait_for(lambda: 'pasta' not in left()[2] and 'network/' not in left()[0])
    before = machine.settled(left)
    start_and_kill(machine, 12, '[ $((i % 3)) = 0 ] && pkill -9 -u alice -f [b]in/pasta; '
                                '[ $((i % 4)) = 1 ] && systemctl --user kill -s KILL keyturn-network@one keyturn-pasta@two; ')
    machine.is_as(before, left)
    start(machine, 'one', keys, command=SERVER)
    machine.wait_for(lambda: fetch(machine, 8080) == 'from inside')
    as_user(machine, 'systemctl --user stop one')


# ---- what it does not

def test_what_fails_says_why(machine):
    make_world(machine)
    machine.run('chmod 0600 /dev/net/tun')
    try:
        # The start of the container says it, too; whose line it is the journal may not know, as its writer ends at once.
        fails(machine, "keyturn-pasta@mine.service: Users cannot open '/dev/net/tun'", keys='Network=pasta')
    finally:
        machine.run('chmod 0666 /dev/net/tun')
    take_port(machine, 8070)
    try:
        fails(machine, '8070', keys='Network=pasta\nPublishPort=8070:80')
    finally:
        machine.run('systemctl stop taken')
    as_user(machine, 'systemctl --user restart mine')


def refusal(machine, keys, name='mine'):
    as_user(machine, f'systemctl --user stop {name}', check=False)
    container(machine, name.replace('@one', '@'), f'[Container]\nImage={IMAGE}\n{keys}\n')
    assert as_user(machine, f'systemctl --user start {name}', check=False).status, keys
    return as_user(machine, f'systemctl --user show -p Description --value {name}').out


def test_what_is_refused_with_its_line(machine):
    as_user(machine, 'systemctl --user stop mine', check=False)
    container(machine, 'other', f'[Container]\nImage={IMAGE}\nNetwork=pasta\nUserNS=keep-id\n')
    wrong = []
    for keys, words in (('PublishPort=80:80', 'net.ipv4.ip_unprivileged_port_start=80'), ('PublishPort=8080:80/sctp', 'sctp'),
                        ('Network=pasta\nIP=10.11.12.13', 'pasta is none'), ('Network=pasta\nNetwork=host', "'pasta' already"),
                        ('Network=pasta:--netns,/x', 'remove this option'), ('Network=pasta:', None), ('Network=slirp4netns', 'write Network=pasta'),
                        ('Network=host\nNetwork=pasta', "'host' already"), ('Network=container:other', "no .container file here makes 'other'"),
                        ('Network=ns:/proc/1/ns/net', 'NAME.container'), ('Network=other.container\nUserNS=keep-id', 'put both into a pod'),
                        ('Network=other.container', 'other.service has other ids')):
        if words is None:
            continue
        said = refusal(machine, keys)
        if not re.search(r':[56]: ', said) or words not in said:
            wrong.append((keys, said))
    assert not wrong, wrong
    machine.run('sysctl -q net.ipv4.ip_unprivileged_port_start=80')
    make_world(machine)
    try:
        start(machine, keys='PublishPort=80:80', command=SERVER)
        machine.wait_for(lambda: fetch(machine, 80) == 'from inside')
    finally:
        machine.run('sysctl -q net.ipv4.ip_unprivileged_port_start=1024')
    as_user(machine, 'systemctl --user stop mine')


# ---- another container's

AGAIN = '[Service]\nRestart=always\nRestartSec=200ms\n'


def test_another_containers_network(machine):
    """As containers of a pod: what one may not, the other may not either, but for what its own file says."""
    make_world(machine)
    start(machine, 'one', 'Network=pasta\nPublishPort=8080:80\nContainerName=first')
    start(machine, keys='Network=one.container', command=SERVER)
    start(machine, 'three', 'Network=container:first\nAddCapability=NET_ADMIN')
    start(machine, 'four', 'Network=mine.container')
    assert namespace(machine, 'one') == namespace(machine) == namespace(machine, 'three') == namespace(machine, 'four')
    machine.wait_for(lambda: fetch(machine, 8080) == 'from inside')
    assert fetch_inside(machine, name='four') == fetch_inside(machine, name='one') == 'from the world'
    assert fetch_inside(machine, '127.0.0.1', name='one') == 'from inside'
    look = 'ls /sys/class/net; cat /etc/resolv.conf'
    assert inside(machine, look) == inside(machine, look, 'one') == inside(machine, look, 'four') and 'up0' in inside(machine, look)
    assert f'{MACHINE}\t' in inside(machine, 'cat /etc/hosts')
    assert inside(machine, 'ip link set up0 down 2>&1', check=False) and inside(machine, 'ip link add br7 type bridge 2>&1', check=False)
    inside(machine, 'ip link add br7 type bridge && ip link del br7', 'three')
    # Its processes, mounts and messages are its own.
    assert 'httpd' in inside(machine, 'ps -o args') and 'httpd' not in inside(machine, 'ps -o args', 'three')
    for what in ('pid', 'mnt', 'ipc', 'uts'):
        ours, others = (machine.run(f"readlink /proc/{show(machine, name, 'MainPID')}/ns/{what}").out for name in ('mine', 'three'))
        assert ours != others, what
    as_user(machine, 'systemctl --user stop one')
    machine.wait_for(lambda: show(machine, 'four', 'MainPID') == '0')


def test_the_network_of_one_without_any_and_of_the_machine(machine):
    make_world(machine)
    for keys in ('Network=none', 'Network=host', 'Network=bridge'):
        start(machine, 'one', keys)
        start(machine, keys='Network=one.container')
        assert namespace(machine, 'one') == namespace(machine), keys
        assert inside(machine, 'ls /sys/class/net') == inside(machine, 'ls /sys/class/net', 'one'), keys
        assert (namespace(machine) == machine.run('readlink /proc/1/ns/net').out.strip()) == (keys == 'Network=host'), keys
    as_user(machine, 'systemctl --user stop one mine')


def test_together_whatever_becomes_of_the_one(machine):
    make_world(machine)
    # Of a test before, without its file and so without its network.
    as_user(machine, 'systemctl --user kill -s KILL one mine four; systemctl --user stop one mine four', check=False)
    def write(keys):
        container(machine, 'one', f'[Container]\nImage={IMAGE}\n{keys}\nExec=sleep 1000\nStopSignal=SIGKILL\n{AGAIN}')
    write('Network=pasta')
    for name, other in ('mine', 'one'), ('four', 'mine'):
        container(machine, name, f'[Container]\nImage={IMAGE}\nNetwork={other}.container\nExec=sleep 1000\nStopSignal=SIGKILL\n{AGAIN}')
    as_user(machine, 'systemctl --user restart four')
    names = ('one', 'mine', 'four')
    for keys, command in (
            ('Network=pasta', 'systemctl --user kill -s KILL one'),
            ('Network=pasta', 'systemctl --user restart one'),
            ('Network=pasta', 'systemctl --user restart keyturn-network@one'),
            ('Network=pasta\nHostName=changed', 'systemctl --user kill -s KILL one'),
            ('Network=pasta', 'systemctl --user restart keyturn-view; systemctl --user restart mine'),
            ('Network=none', 'systemctl --user restart one'),
            ('Network=none', 'systemctl --user restart keyturn-view; systemctl --user kill -s KILL four'),
            ('Network=none', 'systemctl --user kill -s KILL one')):
        write(keys)
        since = show(machine, 'one', 'InvocationID')
        # One that starts again by itself takes the place of who starts it.
        as_user(machine, command, check=False)
        try:
            machine.wait_for(lambda: show(machine, 'one', 'InvocationID') != since and
                             {show(machine, name, 'SubState') for name in names} == {'running'} and
                             len({namespace(machine, name) for name in names}) == 1, 60)
        except AssertionError:
            raise AssertionError((keys, command, [show(machine, name, 'InvocationID', 'SubState', 'MainPID') for name in names],
                                  machine.journal()[-3000:]))
    as_user(machine, 'systemctl --user stop one')


def test_another_containers_network_in_the_hands_of_an_attacker(machine):
    """It has that one's user namespace, and all capabilities there: it is root over nothing that it can find."""
    make_world(machine)
    start(machine, 'victim', 'Network=pasta\nVolume=kept:/kept', command='sh -c "echo key >/kept/key; exec sleep 1000"')
    start(machine, 'third', 'Network=pasta')
    start(machine, keys='Network=victim.container\nAddCapability=all')
    machine.wait_for(lambda: inside(machine, 'cat /kept/key', 'victim') == 'key')
    pid, victim, third = (show(machine, name, 'MainPID') for name in ('mine', 'victim', 'third'))
    holder = machine.run('cut -d" " -f1 /run/user/1234/keyturn/.view').out.strip()
    assert machine.run(f'readlink /proc/{pid}/ns/user').out == machine.run(f'readlink /proc/{victim}/ns/user').out
    assert len(inside(machine, 'ls -d /proc/[0-9]*').split()) <= 4 and 'key' not in inside(machine, 'cat /proc/*/root/kept/key 2>/dev/null', check=False)
    # Even where it found their numbers: not the third's, nor the view's, nor pasta's, nor the machine's.
    def reaches(target, what):
        return not machine.run(['nsenter', '-t', pid, '-U', '-S', '0', '-G', '0', 'cat', f'/proc/{target}/{what}'], check=False).status
    for target in (third, holder, pasta_pid(machine, 'victim'), '1'):
        for what in ('environ', 'root/etc/passwd'):
            assert not reaches(target, what), (target, what)
    # What it mounts, names and limits is not the victim's.
    inside(machine, 'mkdir -p /x; mount -t tmpfs none /x; hostname gone; mount -o remount,rw /sys; echo 1 >/sys/class/net/up0/mtu; true', check=False)
    assert machine.run(f'nsenter -t {victim} -u hostname').out.strip() != 'gone'
    assert 'tmpfs /x' not in machine.run(f'cat /proc/{victim}/mounts').out
    machine.run(f'test -d /proc/{third} -a -d /proc/{victim}')
    assert fetch_inside(machine, name='third') == 'from the world'
    as_user(machine, 'systemctl --user stop victim third')


# ---- who may not

def test_a_payload_in_the_hands_of_an_attacker(machine):
    """It is master of its own network, and of nothing else."""
    make_world(machine)
    serve_locally(machine)
    start(machine, 'victim', 'Network=pasta\nPublishPort=8081:80', command=SERVER)
    start(machine, keys='Network=pasta\nAddCapability=all\nPublishPort=8080:80', command=SERVER)
    pasta, victim, holder = pasta_pid(machine), pasta_pid(machine, 'victim'), machine.run('cut -d" " -f1 /run/user/1234/keyturn/.view').out.strip()
    # pasta is nobody that it sees, nor could anybody with its ids and capabilities do anything to it.
    assert 'pasta' not in inside(machine, 'ps -o args')
    pid = show(machine, 'mine', 'MainPID')
    for target in (pasta, victim, holder):
        for what in ('ns/net', 'ns/mnt', 'environ'):
            got = machine.run(['nsenter', '-t', pid, '-U', '-S', '0', '-G', '0', 'cat', f'/proc/{target}/{what}'], check=False)
            assert got.status, (target, what, got)
    # Whatever address it takes: the machine's loopback, and the victim's port by it, stay out of reach.
    for host in ('127.0.0.1', WORLD, '169.254.1.2', MACHINE):
        assert fetch_inside(machine, host, 9000, seconds=1) == '', host
    tricks = ('ip addr add 10.11.12.77/24 dev up0', 'ip route add 127.9.9.9 dev up0', 'ip route add local 127.0.0.1 dev up0',
              'ip addr flush dev lo', 'ip addr del 10.11.12.2/24 dev up0; ip addr add 10.11.12.78/24 dev up0; ip route add default via 10.11.12.1')
    for trick in tricks:
        inside(machine, f'{trick} 2>/dev/null', check=False)
        for host in ('127.0.0.1', '127.9.9.9', WORLD, '169.254.1.2'):
            assert fetch_inside(machine, host, 9000, seconds=1) == '', (trick, host)
    # What it destroys is its own.
    machine.wait_for(lambda: fetch(machine, 8081) == 'from inside')
    inside(machine, 'ip link del up0', check=False)
    assert fetch(machine, 8081) == 'from inside'
    assert fetch_inside(machine, name='victim') == 'from the world'
    as_user(machine, 'systemctl --user restart mine')
    machine.wait_for(lambda: fetch(machine, 8080) == 'from inside')


def test_users_are_apart(machine):
    make_world(machine)
    make_user(machine, 'bob')
    start(machine, keys='Network=pasta\nPublishPort=8080:80', command=SERVER)
    start(machine, keys='Network=pasta\nPublishPort=8090:80', command=SERVER, user='bob')
    pid, pasta = show(machine, 'mine', 'MainPID'), pasta_pid(machine)
    for command in ('ls /run/user/1234/keyturn/network', f'kill {pasta}', f'nsenter -t {pid} -n true', f'nsenter -t {pasta} -U -n true',
                    f'pasta --config-net --netns /proc/{pid}/ns/net', f'cat /proc/{pasta}/environ'):
        assert as_user(machine, command, 'bob', check=False).status, command
    # Bob says that pasta is another program, and that his namespace is alice's, or root's: what runs is his.
    as_user(machine, 'cd $XDG_RUNTIME_DIR/keyturn/network/mine; printf "\\n/bin/sh\\n-c\\nid -u >/tmp/who; touch /etc/owned; '
                     f'nsenter -t {pid} -n touch /tmp/entered; nsenter -t 1 -n touch /tmp/entered; touch /tmp/over\\n" >pasta; '
                     'systemctl --user restart keyturn-pasta@mine', 'bob', check=False)
    machine.wait_for(lambda: machine.run('test -e /tmp/over', check=False).status == 0)
    assert machine.run('cat /tmp/who').out == '0\n' and machine.run('stat -c %U /tmp/who').out == 'bob\n'
    assert machine.run('ls /tmp/entered /etc/owned', check=False).status
    assert machine.run('readlink /proc/1/ns/net').out.strip() != namespace(machine, 'mine')
    machine.wait_for(lambda: fetch(machine, 8080) == 'from inside')
    # Root's networks have nothing of it.
    assert machine.run('keyturn-network up mine --network=pasta 2>&1; /usr/lib/keyturn/keyturn-network up mine --network=pasta 2>&1',
                       check=False).out.count("only users' containers have it") == 1
    assert machine.run('ls /run/keyturn/network 2>/dev/null', check=False).out == ''
