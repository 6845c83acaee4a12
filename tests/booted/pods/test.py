# SPDX-License-Identifier: LGPL-2.1-or-later
"""Pods: namespaces without a process, what their containers share, when they come and go, and who attacks them."""

import json
import re

PINS = '/run/keyturn/pod'
BUSYBOX = 'localhost/test/busybox'
SERVER = 'sh -c "while :; do nc -l -p 8000 -e echo hello; done"'
MEMBER = '[Container]\nImage={}\nPod={}\nStopSignal=SIGKILL\nExec={}\n{}\n'


def pod(machine, name, text):
    machine.container(f'{name}.pod', f'[Pod]\n{text}\n', reload=False)


def member(machine, name, of, keys='', exec_='sleep 1000', image=BUSYBOX):
    machine.container(name, MEMBER.format(image, of, exec_, keys), reload=False)


def reload(machine):
    machine.run('systemctl daemon-reload')


def states(machine, *units):
    return ' '.join(machine.show(unit, 'ActiveState') for unit in units)


def namespaces(machine, name):
    return dict(re.findall(r'(\w+):\[(\d+)\]', machine.inside(name, 'for i in ipc net uts pid mnt cgroup; do '
                                                                     'readlink /proc/self/ns/$i; done')))


def pinned(machine):
    return [line for line in machine.read('/proc/1/mountinfo').splitlines() if PINS in line]


def mounts_of_before(machine):
    """As they are when nothing of the last test's pods is on its way out."""
    machine.wait_for(lambda: not pinned(machine))
    return machine.settled()['mounts']


def assert_nothing_left(machine, before):
    assert not pinned(machine), pinned(machine)
    assert machine.run(f'ls -A {PINS}', check=False).out == ''
    # A user namespace goes after its pod.
    machine.wait_for(lambda: machine.footprint()['mounts'] == before)


def give_ids(machine):
    for file in ('/etc/subuid', '/etc/subgid'):
        machine.write(file, 'containers:2147483647:2147483648\n')


def test_containers_share_a_network_without_the_host(machine):
    before = mounts_of_before(machine)
    machine.run('mkdir -p /srv/pods; echo kept >/srv/pods/file')
    pod(machine, 'shop', 'Network=none\nHostName=shop.example\nVolume=/srv/pods:/shared\nShmSize=1m\n'
                         'PodmanArgs=--sysctl=kernel.msgmax=4321 --sysctl net.ipv4.ip_default_ttl=63')
    member(machine, 'server', 'shop.pod', exec_=SERVER)
    member(machine, 'client', 'shop.pod', 'ContainerName=asker')
    member(machine, 'later', 'shop.pod', 'StartWithPod=false\nVolume=/etc:/shared:ro')
    reload(machine)
    machine.run('systemctl start shop-pod && systemctl start server client')
    assert states(machine, 'server', 'client', 'later') == 'active active inactive'
    assert machine.show('shop-pod', 'MainPID') == '0'

    one, two = namespaces(machine, 'server'), namespaces(machine, 'client')
    assert [kind for kind in one if one[kind] == two[kind]] == ['ipc', 'net', 'uts'], (one, two)
    machine.wait_for(lambda: machine.inside('client', 'nc 127.0.0.1 8000', check=False) == 'hello\n')
    machine.wait_for(lambda: machine.inside('client', 'nc systemd-server 8000', check=False) == 'hello\n')
    assert 'hello' not in machine.run("echo | timeout 1 bash -c 'cat </dev/tcp/127.0.0.1/8000'", check=False).out

    said = machine.inside('client', 'hostname; cat /etc/hostname /shared/file; echo $HOSTNAME; ls /etc')
    assert said.startswith('shop.example\nshop.example\nkept\nshop.example\n') and 'resolv.conf' not in said, said
    assert machine.inside('client', 'cd /proc/sys; cat kernel/msgmax net/ipv4/ip_default_ttl '
                                     'net/ipv4/ping_group_range') == '4321\n63\n0\t0\n'
    assert '4321' not in machine.read('/proc/sys/kernel/msgmax')
    machine.inside('client', 'echo from client >/dev/shm/note; touch /dev/mqueue/queue')
    assert machine.inside('server', 'cat /dev/shm/note; ls /dev/mqueue; df -k /dev/shm | tail -1') \
        .startswith('from client\nqueue\nshm                       1024 ')
    # Its own mount counts, and it finds what the others have left.
    machine.run('systemctl start later')
    assert machine.inside('later', 'ls /shared/hostname; cat /dev/shm/note') == '/shared/hostname\nfrom client\n'
    # Nobody on the host but root comes near what everybody may write to.
    assert machine.run(f'stat -c %a {PINS} {PINS}/shop-pod').out == '700\n700\n'

    machine.run('systemctl stop shop-pod')
    assert states(machine, 'server', 'client', 'later', 'shop-pod') == 'failed failed failed inactive'
    assert_nothing_left(machine, before)


def answer(machine, address):
    """What a client on the host gets there."""
    return machine.run(f"timeout 5 bash -c 'cat </dev/tcp/{address}'", check=False).out


def test_a_port_of_a_pod_on_a_bridge(machine):
    """A server and its client over localhost, and others by the machine's port; the bridge goes with the last of them."""
    before = mounts_of_before(machine)
    longest = 'front.' + 58 * 'x'
    pod(machine, 'front', f'PublishPort=127.0.0.1:8081:8000\nHostName={longest}')
    member(machine, 'server', 'front.pod', exec_=SERVER)
    member(machine, 'client', 'front.pod')
    machine.write('/etc/hosts-of-its-own', '127.0.0.1 mine\n')
    member(machine, 'own', 'front.pod', 'Volume=/etc/hosts-of-its-own:/etc/hosts:ro')
    member(machine, 'apart', 'front.pod', 'Network=none\nHostName=')
    reload(machine)
    machine.run('systemctl start front-pod && systemctl start server client own apart')
    machine.wait_for(lambda: answer(machine, '127.0.0.1/8081') == 'hello\n')
    machine.wait_for(lambda: machine.inside('client', 'nc localhost 8000', check=False) == 'hello\n')
    machine.wait_for(lambda: machine.inside('client', 'nc systemd-server 8000', check=False) == 'hello\n')
    assert machine.inside('client', 'ls /sys/class/net') == 'eth0\nlo\n'
    assert machine.inside('apart', 'hostname; ls /sys/class/net') == f'{longest}\nlo\n'
    hosts = machine.inside('client', 'cat /etc/hosts')
    assert machine.inside('own', 'cat /etc/hosts') == '127.0.0.1 mine\n'
    address = re.search(r'^([\d.]+)\tfront\b', hosts, re.M)
    assert address and not address.group(1).startswith('127.'), hosts
    # Who looks sees the pod, and its port at each container that is in its network.
    pods = {row['unit']: row for row in json.loads(machine.run('keyturnctl pods --json').out)}
    front = pods['front-pod.service']
    assert front['state'] == 'active (exited)' and front['ports'] == ['127.0.0.1:8081->8000/tcp'], front
    assert sorted(front['containers']) == ['systemd-apart', 'systemd-client', 'systemd-own', 'systemd-server'], front
    assert front['source'].endswith('/front.pod') and front['since'], front
    ports = {row['container']: row['ports'] for row in json.loads(machine.run('keyturnctl list --json').out)}
    assert ports['systemd-client'] == front['ports'] and ports['systemd-apart'] is None, ports
    # A restart touches no network: it has the same address, and is reached at once.
    network = namespaces(machine, 'server')['net']
    machine.run('systemctl restart server client')
    assert namespaces(machine, 'client')['net'] == network
    machine.wait_for(lambda: answer(machine, '127.0.0.1/8081') == 'hello\n')
    machine.run('systemctl stop server client own apart')
    machine.wait_for(lambda: states(machine, 'front-pod', 'keyturn-network@front-pod') == 'inactive inactive')
    assert answer(machine, '127.0.0.1/8081') == ''
    assert json.loads(machine.run('keyturnctl pods --json').out)[0]['ports'] is None
    assert_nothing_left(machine, before)


def test_the_pod_goes_with_its_last_container(machine):
    """Whatever wants it, and however they end. What is restarted finds what it has left."""
    before = mounts_of_before(machine)
    machine.container('duo.pod', '[Pod]\nNetwork=host\n[Install]\nWantedBy=multi-user.target\n', reload=False)
    member(machine, 'one', 'duo.pod', '[Service]\nRestart=on-failure\nRestartSec=300ms')
    member(machine, 'two', 'duo.pod')
    reload(machine)
    machine.run('systemctl start one')  # and so the pod, and so the other
    machine.wait_for(lambda: states(machine, 'duo-pod', 'one', 'two') == 'active active active')
    ipc = namespaces(machine, 'one')['ipc']
    machine.inside('one', 'echo kept >/dev/shm/note')
    machine.run('systemctl restart two; systemctl stop two; systemctl restart one')
    assert namespaces(machine, 'one')['ipc'] == ipc and machine.inside('one', 'cat /dev/shm/note') == 'kept\n'
    # The last one fails, and will be started again: until then, nothing goes.
    machine.run('systemctl kill -s KILL one')
    machine.wait_for(lambda: int(machine.show('one', 'NRestarts')) == 1 and states(machine, 'one') == 'active')
    assert namespaces(machine, 'one')['ipc'] == ipc
    machine.run('systemctl stop one')
    machine.wait_for(lambda: states(machine, 'duo-pod') == 'inactive')
    assert_nothing_left(machine, before)

    machine.run('systemctl start duo-pod')
    machine.wait_for(lambda: states(machine, 'one', 'two') == 'active active')
    machine.run('systemctl restart duo-pod')
    machine.wait_for(lambda: states(machine, 'duo-pod', 'one', 'two') == 'active active active' and
                     namespaces(machine, 'one')['ipc'] == namespaces(machine, 'two')['ipc'])
    machine.run('systemctl stop one two')
    machine.wait_for(lambda: states(machine, 'duo-pod') == 'inactive')
    assert_nothing_left(machine, before)


def test_the_pod_stays_if_it_is_to(machine):
    pod(machine, 'stays', 'Network=none\nExitPolicy=continue')
    member(machine, 'one', 'stays.pod')
    machine.write('/etc/systemd/system/stays-pod.service.d/mine.conf',
                  '[Service]\nExecStartPost=/bin/touch /run/pods-drop-in\n')
    reload(machine)
    machine.run('systemctl start stays-pod; systemctl start one; systemctl stop one')
    assert machine.run('ls /run/pods-drop-in; rm /run/pods-drop-in').out
    assert states(machine, 'stays-pod') == 'active' and pinned(machine)
    machine.run('systemctl stop stays-pod')
    assert not pinned(machine)


def instance_unit(name):
    return f'{name}@one {name}@two'.split()


def test_instances_of_a_template(machine):
    """Two instances of a pod with their containers: each its own namespaces, network and volume; one goes, one stays."""
    before = mounts_of_before(machine)
    machine.container('cell@.volume', '[Volume]\n', reload=False)
    pod(machine, 'cell@', 'PublishPort=127.0.0.1::8000\nVolume=cell@.volume:/data\nPodmanArgs=--sysctl=kernel.msgmax=4321')
    answer_of = 'sh -c "while :; do echo $HOSTNAME | nc -l -p 8000; done"'
    member(machine, 'server@', 'cell@%i.pod', 'HealthCmd=grep -q %i /etc/hostname\nHealthInterval=200ms', exec_=answer_of)
    member(machine, 'client@', 'cell@.pod', 'Notify=healthy\nHealthCmd=true')
    member(machine, 'guest', 'cell@two.pod')
    reload(machine)
    machine.run('systemctl start cell-pod@one; systemctl start client@two', timeout=60)
    everything = [unit for name in ('server', 'client', 'cell-pod') for unit in instance_unit(name)] + ['guest']
    machine.wait_for(lambda: states(machine, *everything) == ' '.join(['active'] * 7), 60)
    for name in ('one', 'two'):
        machine.wait_for(lambda name=name: machine.inside(f'client@{name}', 'nc localhost 8000 </dev/null',
                                                  check=False) == f'systemd-cell-{name}\n')
        machine.inside(f'client@{name}', f'echo {name} >/data/who; echo {name} >/dev/shm/who')
        assert machine.inside(f'server@{name}', 'cat /data/who /dev/shm/who') == f'{name}\n{name}\n'
        machine.wait_for(lambda name=name: machine.run(['keyturnctl', 'health', f'server@{name}'], check=False).status == 0)
    one, two, guest = (namespaces(machine, name) for name in ('server@one', 'server@two', 'guest'))
    assert [kind for kind in one if one[kind] == two[kind]] == [], (one, two)
    assert [kind for kind in guest if guest[kind] == two[kind]] == ['ipc', 'net', 'uts'], (guest, two)
    assert machine.run(f'ls {PINS}').out == 'cell-pod@one\ncell-pod@two\n'
    pods = {row['unit']: row for row in json.loads(machine.run('keyturnctl pods --json').out)}
    assert sorted(pods['cell-pod@two.service']['containers']) == \
        ['systemd-client_two', 'systemd-guest', 'systemd-server_two'], pods

    machine.run('systemctl stop cell-pod@one')
    machine.wait_for(lambda: states(machine, 'keyturn-network-cell-pod@one') == 'inactive')
    assert states(machine, 'cell-pod@one', 'cell-pod@two', 'client@two', 'guest') == 'inactive active active active'
    assert machine.run(f'ls {PINS}').out == 'cell-pod@two\n'
    machine.wait_for(lambda: machine.inside('guest', 'nc localhost 8000 </dev/null', check=False) == 'systemd-cell-two\n')
    # The last containers take their pod with them.
    machine.run('systemctl stop server@two client@two guest')
    machine.wait_for(lambda: states(machine, 'cell-pod@two', 'keyturn-network-cell-pod@two') == 'inactive inactive')
    assert_nothing_left(machine, before)
    machine.wait_for(lambda: not [line for line in machine.footprint()['files']
                                  if line.startswith('/run/keyturn/') and 'cell' in line])


def test_instances_with_a_user_namespace(machine):
    """Ids of its own for each instance, and a network that belongs to the host."""
    before = mounts_of_before(machine)
    for file in ('/etc/subuid', '/etc/subgid'):
        machine.write(file, 'containers:200000:1000000\n')
    pod(machine, 'cell@', 'PublishPort=127.0.0.1::8000\nUserNS=auto:size=1024')
    member(machine, 'server@', 'cell@%i.pod')
    member(machine, 'client@', 'cell@%i.pod', 'Network=none')
    reload(machine)
    machine.run('systemctl start cell-pod@one cell-pod@two', timeout=60)
    units = [unit for name in ('server', 'client') for unit in instance_unit(name)]
    machine.wait_for(lambda: states(machine, *units) == 'active active active active')
    maps = [machine.inside(unit, 'cat /proc/self/uid_map').split() for unit in units]
    assert maps[0] == maps[2] and maps[1] == maps[3] and maps[0][1] != maps[1][1] and maps[0][2] == '1024', maps
    machine.run('systemctl stop cell-pod@one cell-pod@two')
    machine.wait_for(lambda: states(machine, 'keyturn-network-cell-pod@one', 'keyturn-network-cell-pod@two') ==
                     'inactive inactive')
    assert_nothing_left(machine, before)


def test_a_container_does_not_start_without_its_pods_namespaces(machine):
    """What a person or a broken stop has left of them: a start makes them anew, and none is mistaken for one."""
    before = mounts_of_before(machine)
    pod(machine, 'bad', 'Network=none')
    member(machine, 'one', 'bad.pod', 'StartWithPod=false')
    reload(machine)
    # Left by others, more than once, with files in it.
    machine.run(f'mkdir -p {PINS}/bad-pod/shm; for i in 1 2; do mount -t tmpfs x {PINS}/bad-pod/shm; done; '
                f'touch {PINS}/bad-pod/shm/x {PINS}/bad-pod/net; mount --bind /proc/1/ns/net {PINS}/bad-pod/net; '
                f'mount --bind /proc/1/ns/net {PINS}/bad-pod/net')
    machine.run('systemctl start one')
    assert namespaces(machine, 'one')['net'] != machine.run('readlink /proc/1/ns/net').out[5:-2]
    assert len(pinned(machine)) == 4, pinned(machine)
    machine.run('systemctl stop one')

    # What was unpinned by hand is no namespace: not the host's instead.
    for pin in ('net', 'ipc', 'uts', 'shm'):
        machine.run('systemctl start bad-pod')
        machine.run(f'umount {PINS}/bad-pod/{pin}')
        if pin == 'shm':
            machine.run(f'rmdir {PINS}/bad-pod/{pin}')
        assert machine.run('systemctl start one', check=False).status != 0, f'it has started without {pin}'
        machine.run('systemctl stop bad-pod; systemctl reset-failed one')
    assert_nothing_left(machine, before)


def test_killed_at_any_moment_nothing_is_left(machine):
    before = mounts_of_before(machine)
    pod(machine, 'killed', 'Network=none')
    member(machine, 'one', 'killed.pod')
    reload(machine)
    for n in range(12):
        machine.run('systemctl start --no-block killed-pod', check=False)
        machine.run(f'sleep 0.0{n % 10}; systemctl kill -s KILL killed-pod one', check=False)
        if n % 3 == 0:
            machine.run('systemctl start --no-block one', check=False)
        machine.run(f'systemctl stop --no-block killed-pod; sleep 0.0{9 - n % 10}; systemctl kill -s KILL killed-pod',
                    check=False)
        machine.run('systemctl reset-failed', check=False)
    # The last stop may have been killed as well. Another one repairs that, or the next start.
    machine.run('systemctl start killed-pod; systemctl stop killed-pod')
    machine.wait_for(lambda: states(machine, 'one') in ('inactive', 'failed'))
    assert_nothing_left(machine, before)


def test_a_pod_with_a_user_namespace(machine):
    """Its other namespaces belong to that one, so that the containers' root may use them; on a bridge, too."""
    before = mounts_of_before(machine)
    give_ids(machine)
    pod(machine, 'apart', 'Network=none\nUserNS=auto\nShmSize=1m\nPodmanArgs=--sysctl=kernel.msgmax=4321')
    pod(machine, 'mapped', 'UIDMap=0:700000:1000\nPublishPort=127.0.0.1:8082:8000')
    member(machine, 'mapped-alone', 'mapped.pod', 'Network=bridge\nAddCapability=NET_ADMIN\nStartWithPod=no')
    pod(machine, 'kept', 'UserNS=keep-id\nPublishPort=127.0.0.1:8084:8000')
    for name in ('apart', 'mapped', 'kept'):
        member(machine, f'{name}-server', f'{name}.pod', exec_=SERVER)
        member(machine, f'{name}-client', f'{name}.pod', 'AddCapability=NET_ADMIN')
    reload(machine)
    machine.run('systemctl start apart-pod mapped-pod kept-pod && '
                'systemctl start apart-server apart-client mapped-server mapped-client kept-server kept-client', timeout=60)
    # As Podman's for root: every id is itself, and the capabilities are the namespace's.
    assert machine.inside('kept-server', 'cat /proc/self/uid_map').split() == ['0', '0', '4294967295']
    assert machine.inside('kept-server', 'readlink /proc/self/ns/user') != machine.run('readlink /proc/self/ns/user').out
    machine.inside('kept-client', 'ip link add mine type bridge')
    machine.wait_for(lambda: answer(machine, '127.0.0.1/8084') == 'hello\n')
    machine.run('systemctl stop kept-pod')
    for name in ('apart', 'mapped'):
        maps = [machine.inside(f'{name}-{which}', 'readlink /proc/self/ns/user; cat /proc/self/uid_map')
                for which in ('server', 'client')]
        assert maps[0] == maps[1] and ' 0 4294967295' not in maps[0], maps
        machine.wait_for(lambda name=name: machine.inside(f'{name}-client', f'nc systemd-{name}-server 8000',
                                                  check=False) == 'hello\n')
        machine.inside(f'{name}-client', 'echo given >/dev/shm/x; touch /dev/mqueue/q')
        assert machine.inside(f'{name}-server', 'stat -c "%u %g" /dev/shm /dev/shm/x; cat /dev/shm/x; ls /dev/mqueue; '
                                                 'hostname') == f'0 0\n0 0\ngiven\nq\nsystemd-{name}\n'
    machine.wait_for(lambda: answer(machine, '127.0.0.1/8082') == 'hello\n')
    assert machine.inside('apart-server', 'cat /proc/sys/kernel/msgmax') == '4321\n'
    for name in ('apart', 'mapped'):  # it is master of its own network, until the pod is made anew
        machine.inside(f'{name}-client', 'ip link add mine type bridge && ip link set mine up')
        assert machine.inside(f'{name}-server', 'ls /sys/class/net | grep mine') == 'mine\n'
    ids = machine.inside('apart-server', 'cat /proc/self/uid_map')
    # One with a bridge of its own: the pod's user namespace has that one, too, also when the pod has a new one.
    machine.run('systemctl start mapped-alone')
    machine.inside('mapped-alone', 'ip link add alone type bridge; ls /sys/class/net | grep alone; ip link show eth0')
    machine.run('systemctl restart apart-pod mapped-pod; systemctl start apart-server mapped-server mapped-alone')
    assert machine.inside('mapped-alone', 'ip link add again type bridge; ls /sys/class/net') == 'again\neth0\nlo\n'
    for name in ('apart', 'mapped'):
        assert 'mine' not in machine.inside(f'{name}-server', 'ls /sys/class/net')
    machine.wait_for(lambda: answer(machine, '127.0.0.1/8082') == 'hello\n')
    assert machine.inside('apart-server', 'cat /proc/self/uid_map') == ids and ids.split()[2] == '65536', ids
    machine.run('systemctl stop apart-pod mapped-pod')
    machine.wait_for(lambda: states(machine, 'keyturn-network@mapped-pod') == 'inactive')
    assert_nothing_left(machine, before)


def test_a_changed_user_namespace(machine):
    """Who is restarted alone after that is not in the one of before, which may be less than the file asks for."""
    before = mounts_of_before(machine)
    members = ('moved-one', 'moved-two', 'moved-bridge')
    give_ids(machine)
    pod(machine, 'moved', 'Network=none\nUserNS=keep-id')
    for name in members:
        member(machine, name, 'moved.pod', 'Network=bridge' if name == 'moved-bridge' else '')
    reload(machine)
    machine.run('systemctl start moved-pod ' + ' '.join(members))
    maps = machine.inside('moved-one', 'cat /proc/self/uid_map')
    for keys, restarted in (('UserNS=auto', 'moved-one'), ('UIDMap=0:700000:1000', 'moved-bridge'), ('UserNS=keep-id', 'moved-two')):
        pod(machine, 'moved', f'Network=none\n{keys}')
        reload(machine)
        others = {machine.show(name, 'InvocationID') for name in members}
        machine.run(f'systemctl restart {restarted}', check=False)  # it may end in between
        machine.wait_for(lambda: states(machine, 'moved-pod', *members) == ' '.join(['active'] * 4) and
                         not {machine.show(name, 'InvocationID') for name in members} & others)
        found = {machine.inside(name, 'readlink /proc/self/ns/user; cat /proc/self/uid_map') for name in members}
        assert len(found) == 1 and maps not in found.copy().pop(), (keys, found)
        maps = found.pop().partition('\n')[2]
    pod(machine, 'moved', 'Network=none')
    reload(machine)
    machine.run('systemctl reset-failed; systemctl restart moved-one', check=False)
    assert "restart the pod's service" in machine.journal('moved-one')
    machine.run('systemctl stop moved-pod')
    assert_nothing_left(machine, before)


def test_a_pod_that_cannot_start_is_tried_again(machine):
    """Its port is another's. With it come its containers, whoever has asked for what."""
    before = mounts_of_before(machine)
    machine.container('tried.pod', '[Pod]\nPublishPort=127.0.0.1:8083:8000\n[Service]\nRestart=always\nRestartSec=500ms\n'
                                   '[Unit]\nStartLimitIntervalSec=0\n', reload=False)
    machine.container('once.pod', '[Pod]\nPublishPort=127.0.0.1:8083:8000\n[Service]\nRestart=no\n', reload=False)
    member(machine, 'server', 'tried.pod', exec_=SERVER)
    member(machine, 'other', 'once.pod')
    machine.unit('taken.service', '[Service]\nExecStart=/bin/busybox httpd -f -p 127.0.0.1:8083\n', reload=False)
    reload(machine)
    machine.run('systemctl start taken')
    machine.wait_for(lambda: ':8083' in machine.run('ss -ltn').out)
    for unit in ('server', 'other'):
        assert machine.run(f'systemctl start {unit}', check=False).status != 0
    assert states(machine, 'server', 'other', 'once-pod') == 'inactive inactive failed'
    assert 'keyturn-network@once-pod.service: ' in machine.journal('once-pod')
    machine.wait_for(lambda: int(machine.show('tried-pod', 'NRestarts')) >= 2)
    machine.run('systemctl stop taken')
    machine.wait_for(lambda: states(machine, 'tried-pod', 'server') == 'active active')
    machine.wait_for(lambda: answer(machine, '127.0.0.1/8083') == 'hello\n')
    machine.run('systemctl stop tried-pod')
    machine.wait_for(lambda: states(machine, 'keyturn-network@tried-pod', 'keyturn-network@once-pod') == 'inactive failed')
    assert states(machine, 'tried-pod') == 'inactive'
    assert_nothing_left(machine, before)


HOSTILE = r'''
    for i in dd hostname ipcmk mount nsenter umount unshare; do command -v $i >/dev/null || echo "there is no $i"; done
    try() { "$@" >/dev/null 2>&1 && echo "could: $*"; }
    try ls /run/keyturn
    for pin in ipc net uts; do
        try umount /proc/1/ns/$pin
        try nsenter --$pin=/proc/1/ns/$pin true
        try nsenter -t 1 --$pin true
    done
    try umount -l /dev/shm
    try mount -o remount,size=1g /dev/shm
    try mount -t tmpfs x /mnt
    try hostname other
    try sh -c "echo 1 >/proc/sys/kernel/shmmax"
    try sh -c "echo other >/proc/sys/kernel/hostname"
    try unshare -i true
    dd if=/dev/zero of=/dev/shm/full bs=1M count=200 2>/dev/null
    du -k /dev/shm/full | cut -f1
    ipcmk -M 4096 >/dev/null; ipcmk -Q >/dev/null; ipcmk -S 2 >/dev/null
    touch /dev/mqueue/left
    ln -s /etc /dev/shm/link; mkdir -p /dev/shm/deep/deeper
'''


def test_a_pod_whose_files_are_deleted(machine):
    """It goes as it would have gone, and nothing of it stays until the next boot."""
    before = mounts_of_before(machine)
    for last in ('systemctl stop one; systemctl stop two', 'systemctl stop gone-pod', 'systemctl stop gone-pod one two'):
        pod(machine, 'gone', 'Network=none\nShmSize=1m')
        member(machine, 'one', 'gone.pod')
        member(machine, 'two', 'gone.pod')
        reload(machine)
        machine.run('systemctl start gone-pod; systemctl start one two')
        machine.inside('one', 'echo left >/dev/shm/note')
        machine.run('cd /etc/containers/systemd; rm gone.pod one.container two.container; systemctl daemon-reload; '
                    'systemctl daemon-reload')
        assert machine.inside('two', 'hostname; cat /dev/shm/note') == 'systemd-gone\nleft\n'
        assert states(machine, 'gone-pod', 'one', 'two') == 'active active active' and pinned(machine)
        assert 'the file is gone' in machine.show('gone-pod', 'Description')
        machine.run(last)
        machine.wait_for(lambda: states(machine, 'gone-pod') == 'inactive')
        assert_nothing_left(machine, before)
    pod(machine, 'gone', 'Network=none\nExitPolicy=continue')
    member(machine, 'one', 'gone.pod')
    reload(machine)
    machine.run('systemctl start gone-pod; systemctl start one; cd /etc/containers/systemd; rm gone.pod one.container; '
                'systemctl daemon-reload; systemctl stop one')
    assert states(machine, 'gone-pod') == 'active' and pinned(machine)
    machine.run('systemctl stop gone-pod')
    assert_nothing_left(machine, before)


def test_what_runs_while_its_files_are_broken(machine):
    """It stays in its pod, which keeps its network, stops it, and goes with it: whichever file is broken, and how."""
    before = mounts_of_before(machine)
    for n, broken in enumerate(('echo Foo=bar >>torn.pod', 'rm torn.pod', 'echo Foo=bar >>one.container',
                                'sed -i s/torn.pod/tron.pod/ one.container two.container',
                                'echo nonsense | tee -a one.container two.container')):
        pod(machine, 'torn', 'PublishPort=127.0.0.1:8085:8000')
        member(machine, 'one', 'torn.pod', exec_=SERVER)
        member(machine, 'two', 'torn.pod')
        reload(machine)
        machine.run('systemctl reset-failed; systemctl start torn-pod; systemctl start one two; '
                    f'cd /etc/containers/systemd; {broken}; systemctl daemon-reload')
        machine.wait_for(lambda: answer(machine, '127.0.0.1/8085') == 'hello\n')
        assert states(machine, 'torn-pod', 'one', 'two') == 'active active active', broken
        machine.run('systemctl stop two')
        assert states(machine, 'torn-pod', 'one') == 'active active', broken
        machine.run(f'systemctl stop {"one" if n % 2 else "torn-pod"}')
        machine.wait_for(lambda: states(machine, 'torn-pod', 'keyturn-network@torn-pod') == 'inactive inactive')
        assert states(machine, 'one') == 'failed', broken
        assert_nothing_left(machine, before)
        # The start says why itself, and what it starts of the pod goes again.
        machine.run('systemctl reset-failed; systemctl start one', check=False)
        assert '/one.container:' in machine.journal('one'), broken
        machine.run('systemctl stop torn-pod')


def test_a_pod_that_stays_is_not_stopped_by_a_start_that_is_refused(machine):
    pod(machine, 'torn', 'ExitPolicy=continue')
    for name in ('one', 'two'):
        member(machine, name, 'torn.pod')
    reload(machine)
    machine.run('systemctl start torn-pod one two; echo Foo=bar >>/etc/containers/systemd/one.container; systemctl daemon-reload')
    assert machine.run('systemctl restart one', check=False).status
    assert '/one.container:' in machine.journal('one')
    assert states(machine, 'torn-pod', 'two') == 'active active'
    machine.run('systemctl stop torn-pod')


def test_instances_run_while_their_files_are_broken(machine):
    before = mounts_of_before(machine)
    pod(machine, 'cell@', 'PublishPort=127.0.0.1::8000')
    member(machine, 'server@', 'cell@%i.pod')
    reload(machine)
    units = instance_unit('server') + instance_unit('cell-pod')
    machine.run('systemctl start cell-pod@one cell-pod@two')
    machine.wait_for(lambda: states(machine, *units) == 'active active active active')
    machine.run('rm /etc/containers/systemd/cell@.pod; systemctl daemon-reload')
    assert states(machine, *units) == 'active active active active'
    machine.run('systemctl stop cell-pod@one server@two')
    machine.wait_for(lambda: states(machine, *units[2:]) == 'inactive inactive')
    assert 'active' not in states(machine, *units[:2]).split()
    assert_nothing_left(machine, before)


def test_an_instances_network_goes_when_no_file_asks_for_it(machine):
    """Its unit is made of the template, which is edited, broken or deleted while it runs."""
    before = mounts_of_before(machine)
    text = f'[Container]\nImage={BUSYBOX}\nExec=sleep 1000\nStopSignal=SIGKILL\n'
    for broken in (f'{text}Network=host\n', f'{text}Foo=bar\n', ''):
        machine.container('alone@', f'{text}PublishPort=127.0.0.1:8086:8000\n')
        machine.run('systemctl start alone@one')
        machine.container('alone@', broken, reload=False)
        machine.run('cd /etc/containers/systemd; test -s alone@.container || rm alone@.container; systemctl daemon-reload; '
                    'systemctl stop alone@one')
        machine.wait_for(lambda: states(machine, 'keyturn-network-alone@one') == 'inactive')
        assert_nothing_left(machine, before)
        assert machine.run('ls /run/keyturn/network').out == '' and '8086' not in machine.run('nft list ruleset').out


def test_a_hostile_member(machine):
    """It fills, leaves and attacks what is shared; its neighbours live on, and nothing of it outlives the pod."""
    before = mounts_of_before(machine)
    pod(machine, 'prey', 'Network=none\nShmSize=4m')
    member(machine, 'wolf', 'prey.pod', image='localhost/test/debian')
    member(machine, 'sheep', 'prey.pod', image='localhost/test/debian')
    reload(machine)
    machine.run('systemctl start prey-pod; systemctl start wolf sheep')
    said = machine.inside('wolf', HOSTILE)
    assert said == '4096\n', said
    assert machine.inside('sheep', 'hostname; stat -c %F /dev/shm/link; ipcs | grep -c ^0x; ls /dev/mqueue') == \
        'systemd-prey\nsymbolic link\n3\nleft\n'
    # As the payload ends, its processes are gone, and what it has left is in the pod alone.
    machine.run('systemctl restart wolf')
    assert machine.run('ipcs | grep -c ^0x; ls /dev/mqueue', check=False).out == '0\n'
    machine.run('systemctl restart prey-pod; systemctl start wolf sheep')
    assert machine.inside('sheep', 'ls -A /dev/shm /dev/mqueue; ipcs | grep -c ^0x', check=False) == \
        '/dev/mqueue:\n\n/dev/shm:\n0\n'
    machine.run('systemctl stop prey-pod')
    assert machine.run('ls /etc/hostname').out
    assert_nothing_left(machine, before)


def test_as_under_podman(machine):
    """What the payload sees in a pod of Podman's, by Quadlet's names. Debian 12's Podman starts nothing on these machines."""
    look = ('hostname; cat /etc/hostname; echo $HOSTNAME; cat /volume; ls /etc/resolv.conf 2>&1; '
            'grep -o "/dev/shm .*" /proc/self/mounts; grep -o "/dev/mqueue .*" /proc/self/mounts; '
            'cat /proc/sys/kernel/shmmax; ls /sys/class/net')
    machine.run('echo volume >/srv/volume')
    pod(machine, 'same', 'Network=none\nVolume=/srv/volume:/volume\nShmSize=10m')
    member(machine, 'one', 'same.pod')
    reload(machine)
    machine.run('systemctl start same-pod; systemctl start one')
    ours = machine.inside('one', look)
    machine.run('systemctl stop same-pod')
    assert 'systemd-same' in ours and 'size=10240k' in ours, ours
    if machine.suite == 'bookworm':
        return
    podmans = machine.run(f'''
        podman pod create --infra-image {BUSYBOX} --infra-command 'sleep 1000' --network none --name systemd-same \\
            --shm-size 10m -v /srv/volume:/volume >/dev/null
        podman run --rm --pod systemd-same {BUSYBOX} sh -c '{look}'
        podman pod rm -t 0 -f systemd-same >/dev/null 2>&1''').out
    assert ours == podmans, (ours, podmans)
