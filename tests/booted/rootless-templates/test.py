# SPDX-License-Identifier: LGPL-2.1-or-later
"""Templates of users' managers: each instance has a network, ids and a pod of its own, by units of its own."""

import re

from users import (IMAGE, as_user, container, inside, make_podmans, make_user, namespaces, printed, renew_view, show,
                   start_and_kill, states, systemctl, traces)
from world import MACHINE, WORLD, fetch, fetch_inside, make_world, serve_locally

PACKAGES = ('passt',)
COPIES = '/home/alice/.local/share/keyturn/copies'
RUN = '/run/user/1234/keyturn'
# Says who it is.
SERVER = 'sh -c "mkdir /www; echo %i >/www/index.html; exec httpd -f -p 80 -h /www"'


def template(machine, keys='', command=SERVER, name='web@', more='', image=IMAGE):
    container(machine, name, f'[Container]\nImage={image}\nExec={command}\n{keys}\n[Service]\nKillSignal=SIGKILL\n{more}')


def write(machine, name, text):
    make_user(machine, 'alice')
    as_user(machine, 'mkdir -p ~/.config/containers/systemd')
    machine.write(f'/home/alice/.config/containers/systemd/{name}', f'[Unit]\nStartLimitIntervalSec=0\n{text}\n')


def end(machine):
    """All of a test's, and its files. A manager knows a template's instances by their names alone."""
    as_user(machine, 'systemctl --user stop "*@*"; rm -f ~/.config/containers/systemd/*; '
                     'systemctl --user daemon-reload; systemctl --user reset-failed; systemctl --user start keyturn-copies', check=False)
    machine.wait_for(lambda: 'pasta' not in machine.run('ps -u alice -o args=').out)


def maps(machine, name):
    pid = show(machine, name, 'MainPID')
    return [tuple(map(int, line.split())) for line in machine.run(f'cat /proc/{pid}/uid_map').out.strip().split('\n')]


# ---- networks

def test_ports_by_pasta(machine):
    """The instance's name is its port. Each has its own way out, which comes and goes with it and with no other."""
    make_world(machine)
    template(machine, 'PublishPort=%i:80\nAddCapability=NET_ADMIN\nSysctl=net.ipv4.ip_default_ttl=42')
    try:
        systemctl(machine, 'start web@8071 web@8072')
        for port in (8071, 8072):
            machine.wait_for(lambda: fetch(machine, port) == str(port))
            assert fetch(machine, port, MACHINE) == str(port)
            assert fetch_inside(machine, name=f'web@{port}') == 'from the world'
            assert inside(machine, 'cat /proc/sys/net/ipv4/ip_default_ttl', f'web@{port}') == '42'
        one, two = namespaces(machine, 'web@8071'), namespaces(machine, 'web@8072')
        assert not set(one) & set(two), (one, two)
        # Root in there is master of its own.
        assert 'br7' in inside(machine, 'ip link add br7 type bridge && ls /sys/class/net', 'web@8071')
        assert 'br7' not in inside(machine, 'ls /sys/class/net', 'web@8072')
        for unit in ('keyturn-network-web@8071', 'keyturn-userns-web@8071', 'keyturn-pasta-web@8071'):
            assert states(machine, unit) == 'active', unit
        # A pasta that is killed comes back, into the same network.
        pasta = show(machine, 'keyturn-pasta-web@8072', 'MainPID')
        machine.run(f'kill -9 {pasta}')
        machine.wait_for(lambda: show(machine, 'keyturn-pasta-web@8072', 'MainPID') not in ('0', pasta))
        machine.wait_for(lambda: fetch(machine, 8072) == '8072')
        assert namespaces(machine, 'web@8072') == two and states(machine, 'web@8072') == 'active'
        systemctl(machine, 'stop web@8071')
        machine.wait_for(lambda: states(machine, 'keyturn-network-web@8071', 'keyturn-userns-web@8071', 'keyturn-pasta-web@8071') ==
                         'inactive inactive inactive')
        machine.wait_for(lambda: not machine.run(f'ls -d {RUN}/*/web@8071', check=False).out)
        assert fetch(machine, 8072) == '8072' and fetch(machine, 8071) == ''
        # What only the start can know.
        assert systemctl(machine, 'start web@81', check=False).status
        said = systemctl(machine, 'show --value -p StatusText web@81').out
        assert 'keyturn-pasta-web@81.service' in said and '81' in said, said
    finally:
        end(machine)


def test_a_restart_finds_its_network(machine):
    make_world(machine)
    template(machine, 'PublishPort=%i:80')
    try:
        systemctl(machine, 'start web@8071')
        before = namespaces(machine, 'web@8071', ('net',)), show(machine, 'keyturn-pasta-web@8071', 'MainPID')
        systemctl(machine, 'restart web@8071; systemctl --user restart web@8071')
        assert (namespaces(machine, 'web@8071', ('net',)), show(machine, 'keyturn-pasta-web@8071', 'MainPID')) == before
        machine.wait_for(lambda: fetch(machine, 8071) == '8071')
        # Another network in the file: its next start has that.
        template(machine, 'PublishPort=%i:80\nSysctl=net.ipv4.ip_default_ttl=43')
        systemctl(machine, 'restart web@8071')
        assert inside(machine, 'cat /proc/sys/net/ipv4/ip_default_ttl', 'web@8071') == '43'
        # As the view ends, what it has pinned goes. What starts then is whole.
        renew_view(machine)
        systemctl(machine, 'restart web@8071')
        machine.wait_for(lambda: fetch(machine, 8071) == '8071')
        assert fetch_inside(machine, name='web@8071') == 'from the world'
    finally:
        end(machine)


def test_bridges(machine):
    make_world(machine)
    write(machine, 'lan.network', '[Network]\nDriver="bridge"\nSubnet=10.20.30.0/24')
    template(machine, 'Network=lan.network\nPublishPort=%i:80\nContainerName=box%i')
    # An instance with a file of its own.
    template(machine, 'Network=lan.network\nPublishPort=8079:80', name='web@own')
    try:
        systemctl(machine, 'start web@8071 web@8072 web@own')
        for port, name in ((8071, '8071'), (8072, '8072'), (8079, 'own')):
            machine.wait_for(lambda: fetch(machine, port) == name)
        for host in ('box8072', 'systemd-web_own'):
            machine.wait_for(lambda: fetch_inside(machine, host, name='web@8071') ==
                             host.removeprefix('box').removeprefix('systemd-web_'))
        assert fetch_inside(machine, name='web@8072') == 'from the world'
        assert states(machine, 'keyturn-ports-web@8071', 'keyturn-ports-web@own', 'keyturn-network-web@own') == 'active active active'
        systemctl(machine, 'stop web@8071')
        machine.wait_for(lambda: states(machine, 'keyturn-ports-web@8071', 'keyturn-network-web@8071') == 'inactive inactive')
        assert fetch(machine, 8071) == '' and fetch(machine, 8072) == '8072' and fetch(machine, 8079) == 'own'
        rows = as_user(machine, 'keyturnctl --user list').out
        assert re.search(r'web@8072.*10\.20\.30\.', rows), rows
    finally:
        end(machine)


# ---- ids

def test_ids_of_instances(machine):
    """As of other containers. One image with the same ids is copied once; each has UserNS=auto's for itself."""
    make_world(machine)
    make_podmans(machine)
    first = int(machine.run("awk -F: '/^alice/ {print $2}' /etc/subuid").out)
    whole = [(0, first, 65536)]
    for keys, expected, copies, uid in (('UserNS=keep-id', [(0, first, 1234), (1234, 1234, 1), (1235, first + 1234, 65536 - 1234)], 1, '1234'),
                                        ('UserNS=nomap\nNetwork=pasta\nPublishPort=127.0.0.1:%i:80', whole, 1, '0'),
                                        ('UserNS=auto\nNetwork=pasta', None, 2, '0'), ('UserNS=auto:size=3000', None, 2, '0'),
                                        ('UIDMap=0:1:100\nUIDMap=100:0:1', [(0, first, 100), (100, 1234, 1)], 1, '0'),
                                        ('SubUIDMap=alice\nUser=5', whole, 1, '5')):
        template(machine, f'{keys}\nVolume=kept-%i:/kept:U', command='sleep 1000' if 'pasta' not in keys else SERVER)
        try:
            systemctl(machine, 'start web@8071 web@8072')
            one, two = maps(machine, 'web@8071'), maps(machine, 'web@8072')
            assert not expected or one == two == expected, (keys, one, two)
            if not expected:
                (_, a, n), (_, b, m) = one[0], two[0]
                assert n == m == (3000 if '3000' in keys else 1024) and (a + n <= b or b + m <= a) and first < min(a, b), (keys, one, two)
            said = inside(machine, 'id -u; stat -c %u /bin/busybox; touch /kept/x && stat -c %u /kept/x', 'web@8072').split()
            assert said == [uid, '0', uid], (keys, said)
            found = machine.run(f'ls {COPIES}').out.split()
            assert len(found) == copies and machine.run(f'ls {COPIES}/.units').out == 'web@8071\nweb@8072\n', (keys, found)
            machine.wait_for(lambda: 'pasta' not in keys or fetch_inside(machine, name='web@8071') == 'from the world')
            # A restart copies nothing.
            before = show(machine, 'keyturn-copy-web@8072', 'InvocationID')
            systemctl(machine, 'restart web@8072')
            assert show(machine, 'keyturn-copy-web@8072', 'InvocationID') == before and machine.run(f'ls {COPIES}').out.split() == found
            systemctl(machine, 'stop web@8072')
            machine.wait_for(lambda: states(machine, 'keyturn-copy-web@8072', 'keyturn-userns-web@8072') == 'inactive inactive')
            assert machine.run(f'ls {COPIES}/.units').out == 'web@8071\n'
            systemctl(machine, 'start keyturn-copies')
            assert len(machine.run(f'ls {COPIES}').out.split()) == 1
            assert inside(machine, 'ls /bin/busybox', 'web@8071') == '/bin/busybox'
        finally:
            end(machine)
            as_user(machine, 'podman unshare sh -c "rm -rf ~/.local/share/containers/storage/volumes/kept-*"')
        assert machine.run(f'ls -d {COPIES}', check=False).status, 'nothing is left'


def test_pods(machine):
    """A template of a pod with a network and ids of its own, and its containers."""
    make_world(machine)
    write(machine, 'cell@.pod', '[Pod]\nUserNS=keep-id\nPublishPort=127.0.0.1:%i:80\nHostName=cell%i')
    template(machine, 'Pod=cell@%i.pod\nUser=0', name='in@')
    template(machine, 'Pod=cell@%i.pod', name='beside@', command='sleep 1000')
    try:
        systemctl(machine, 'start in@8071 in@8072')
        for port in ('8071', '8072'):
            machine.wait_for(lambda: fetch(machine, port) == port)
            machine.wait_for(lambda: states(machine, f'beside@{port}') == 'active')
            kinds = ('user', 'net', 'ipc', 'uts')
            assert namespaces(machine, f'in@{port}', kinds) == namespaces(machine, f'beside@{port}', kinds)
            assert inside(machine, 'hostname; id -u; stat -c %u /bin/busybox', f'beside@{port}').split() == [f'cell{port}', '1234', '0']
            assert fetch_inside(machine, name=f'beside@{port}') == 'from the world'
        assert not set(namespaces(machine, 'in@8071')) & set(namespaces(machine, 'in@8072'))
        assert len(machine.run(f'ls {COPIES}').out.split()) == 1
        # All of one anew, as the view is, and nothing of the other's.
        renew_view(machine)
        other = show(machine, 'in@8072', 'MainPID')
        systemctl(machine, 'restart in@8071')
        machine.wait_for(lambda: states(machine, 'cell-pod@8071', 'in@8071', 'beside@8071') == 'active active active')
        machine.wait_for(lambda: fetch(machine, 8071) == '8071')
        assert show(machine, 'in@8072', 'MainPID') == other
        systemctl(machine, 'stop in@8071 beside@8071')
        machine.wait_for(lambda: states(machine, 'cell-pod@8071', 'keyturn-network-cell-pod@8071', 'keyturn-pasta-cell-pod@8071',
                                        'keyturn-userns-cell-pod@8071') == 'inactive inactive inactive inactive')
        assert fetch(machine, 8072) == '8072'
    finally:
        end(machine)


def test_any_order_leaves_nothing(machine):
    make_world(machine)
    template(machine, 'PublishPort=%i:80\nUserNS=auto')
    try:
        systemctl(machine, 'start web@8071 web@8072; systemctl --user stop web@8071 web@8072')
        machine.wait_for(lambda: 'pasta' not in (found := traces(machine))[2] and 'network/' not in found[0])
        before = machine.settled(lambda: traces(machine, ('net', 'user'), f'ls {COPIES}/.units'))
        start_and_kill(machine, 20,
                       '[ $((i % 3)) = 0 ] && pkill -9 -u alice -f [b]in/pasta; '
                       '[ $((i % 5)) = 1 ] && systemctl --user kill -s KILL keyturn-network-web@8071 keyturn-userns-web@8072; '
                       '[ $((i % 5)) = 3 ] && { systemctl --user restart --no-block keyturn-copy-web@8071 web@8072; sleep 0.0$((i % 10)); '
                       'systemctl --user kill -s KILL keyturn-copy-web@8071; }; '
                       '[ $((i % 9)) = 7 ] && systemctl --user restart keyturn-view; ',
                       'web@8071 web@8072', 'web@8071')
        systemctl(machine, 'start web@8071 web@8072; systemctl --user stop web@8071 web@8072')
        machine.is_as(before, lambda: traces(machine, ('net', 'user'), f'ls {COPIES}/.units'))
        systemctl(machine, 'start web@8071')
        machine.wait_for(lambda: fetch(machine, 8071) == '8071')
    finally:
        end(machine)


def test_the_examples_of_the_page(machine):
    """A container and a template, as printed; the image is another one of that name."""
    make_world(machine)
    make_podmans(machine)
    as_user(machine, 'podman tag localhost/test/nginx docker.io/library/nginx')
    try:
        for section, at, name, ports in ('DESCRIPTION', 1, 'web', (8080,)), ('TEMPLATES', 0, 'web@', (8071, 8072)):
            file, commands = printed(section)[at:at + 2]
            write(machine, f'{name}.container', file)
            as_user(machine, 'systemctl --user daemon-reload')
            as_user(machine, '\n'.join(line for line in commands.splitlines() if line.startswith('systemctl')))
            for port in ports:
                machine.wait_for(lambda: fetch(machine, port) == 'hello from nginx')
            systemctl(machine, 'stop web', check=False)
    finally:
        end(machine)


# ---- what it does not

def test_what_is_refused_with_its_line(machine):
    make_user(machine, 'alice')
    wrong = []
    for keys, words in (('UserNS=%i', 'UserNS='), ('UserNS=keep-id\nUser=$WHO', 'variables'), ('UserNS=keep-id\nContainerName=${WHO}', 'variables'),
                        ('UserNS=ns:/proc/self/ns/user', 'UserNS='), ('PublishPort=80:80', 'ip_unprivileged_port_start')):
        template(machine, keys)
        if systemctl(machine, 'start web@x', check=False).status == 0:
            wrong.append((keys, 'it has started'))
        said = systemctl(machine, 'show -p Description --value web@x').out
        if not re.search(r'web@.container:[67]: ', said) or words not in said:
            wrong.append((keys, said))
    end(machine)
    assert not wrong, wrong


# ---- who may not

def test_instances_are_apart(machine):
    """With all capabilities, and as if it had got the host's pid namespace; and by names of instances."""
    make_world(machine)
    serve_locally(machine)
    template(machine, 'PublishPort=%i:80\nUserNS=auto:size=3000\nAddCapability=all', image='localhost/test/debian',
             command='sh -c "sleep 1000"')
    template(machine, 'PublishPort=%i:80', name='sheep@')
    try:
        systemctl(machine, 'start web@8071 web@8072 sheep@8073')
        machine.wait_for(lambda: fetch(machine, 8073) == '8073')
        pid, holder = show(machine, 'web@8071', 'MainPID'), machine.run(f'cut -d" " -f1 {RUN}/.view').out.strip()
        for target in (show(machine, 'web@8072', 'MainPID'), show(machine, 'sheep@8073', 'MainPID'), holder,
                       show(machine, 'keyturn-pasta-web@8072', 'MainPID'), show(machine, 'keyturn-pasta-web@8071', 'MainPID')):
            for what in ('ns/net', 'ns/user', 'ns/mnt', 'environ', 'mem'):
                got = machine.run(['nsenter', '-t', pid, '-U', '-S', '0', '-G', '0', 'head', '-c1', f'/proc/{target}/{what}'], check=False)
                assert got.status, (target, what, got)
        for trick in ('true', 'ip addr add 10.11.12.77/24 dev up0', 'ip route add local 127.0.0.1 dev up0', 'ip addr flush dev lo'):
            machine.run(['nsenter', '-t', pid, '-U', '-n', '-S', '0', '-G', '0', 'sh', '-c', trick], check=False)
            for host in ('127.0.0.1', WORLD, '169.254.1.2', MACHINE):
                got = machine.run(['nsenter', '-t', pid, '-U', '-n', '-S', '0', '-G', '0', 'timeout', '1', 'busybox', 'nc', '-w', '1', host, '9000'],
                                  check=False)
                assert not got.out, (trick, host, got)
        before = machine.run(f'cd {COPIES} && find . -path ./.units -prune -o -printf "%p %m %U %G %T@ %C@\n" | sort | md5sum').out
        inside(machine, 'echo evil >/bin/evil; chmod 4777 /bin/evil; rm /bin/cat; mount -o remount,rw /; ip link del up0', 'web@8071', check=False)
        assert machine.run(f'cd {COPIES} && find . -path ./.units -prune -o -printf "%p %m %U %G %T@ %C@\n" | sort | md5sum').out == before
        assert fetch(machine, 8073) == '8073' and states(machine, 'web@8072', 'sheep@8073') == 'active active'
        # Names lead nowhere: systemd refuses them, or they are names of files.
        as_user(machine, 'mkdir -p ~/keep; echo precious >~/keep/file')
        for name in ('web@..', 'web@.', 'web@.units', 'web@8074.service.d', 'web@a:b', "'web@..\\x2f..\\x2fkeep'", 'web@../../keep', "'web@%n'"):
            systemctl(machine, f'start {name}; systemctl --user stop {name}', check=False)
        systemctl(machine, 'reset-failed', check=False)
        assert machine.run('cat /home/alice/keep/file').out == 'precious\n' and fetch(machine, 8073) == '8073'
        for words in ('--forget ../x', '--forget .', '--forget', 'a/b --userns nomap x'):
            assert as_user(machine, f'/usr/lib/keyturn/libstart copy {words}', check=False).status, words
    finally:
        end(machine)
