# SPDX-License-Identifier: LGPL-2.1-or-later
"""Pods of users' managers: what their containers share, when they come and go, and who attacks them."""

import json
import re

from users import (IMAGE, as_user, container, inside, make_podmans, make_user, maps, namespaces, renew_view, show, start,
                   start_and_kill, states, systemctl, traces)
from world import MACHINE, SERVER, WORLD, fetch, fetch_inside, make_world, serve_locally

PACKAGES = ('passt',)
RUN = '/run/user/1234/keyturn'


def pod(machine, keys, name='pod', user='alice', more=''):
    make_user(machine, user)
    as_user(machine, 'mkdir -p ~/.config/containers/systemd', user)
    machine.write(f'/home/{user}/.config/containers/systemd/{name}.pod', f'[Unit]\nStartLimitIntervalSec=0\n[Pod]\n{keys}\n{more}')


def member(machine, name, command='sleep 1000', keys='', of='pod.pod', user='alice', image=IMAGE, more=''):
    container(machine, name, f'[Container]\nImage={image}\nPod={of}\nExec={command}\n{keys}\n[Service]\nKillSignal=SIGKILL\n{more}', user)


def end(machine):
    """All of a test's, and its files."""
    as_user(machine, 'cd ~/.config/containers/systemd && systemctl --user stop $(ls | sed -n "s/[.]pod$/-pod/p; s/[.]container$//p" | grep -v @); '
                     'rm -f *.pod *.container; systemctl --user daemon-reload; systemctl --user reset-failed', check=False)
    machine.wait_for(lambda: 'pasta' not in machine.run('ps -u alice -o args=').out)


def pasta_pid(machine, name='pod-pod'):
    return show(machine, f'keyturn-pasta@{name}', 'MainPID')


def left(machine):
    return traces(machine, ('net', 'ipc', 'uts', 'user'))


# ---- what it is

def test_a_pod_with_a_port(machine):
    """Its containers share a network, a host name, IPC and ids; what of it is published answers."""
    make_world(machine)
    as_user(machine, 'mkdir -p ~/shared; echo hers >~/shared/file')
    pod(machine, 'PublishPort=8060:80\nHostName=shop.example\nShmSize=1m\nAddHost=other.example:10.1.2.3\nVolume=%h/shared:/shared')
    member(machine, 'a', SERVER)
    member(machine, 'b', keys='AddCapability=NET_ADMIN')
    try:
        systemctl(machine, 'start pod-pod; systemctl --user start a b')
        machine.wait_for(lambda: fetch(machine, 8060) == 'from inside')
        assert fetch(machine, 8060, MACHINE) == 'from inside'
        assert fetch_inside(machine, '127.0.0.1', 80, 'b') == 'from inside' and fetch_inside(machine, name='b') == 'from the world'
        assert fetch_inside(machine, 'systemd-a', 80, 'b') == 'from inside'
        one, two = namespaces(machine, 'a'), namespaces(machine, 'b')
        assert one[:4] == two[:4] and one[4] != two[4] and one[5] != two[5], (one, two)
        assert one[0] != machine.run(f'readlink /proc/$(cut -d" " -f1 {RUN}/.view)/ns/user').out
        for name in ('a', 'b'):
            said = inside(machine, 'hostname; cat /etc/hostname /shared/file; grep other.example /etc/hosts; cat /etc/resolv.conf; df -k /dev/shm | tail -1',
                          name)
            assert said.startswith('shop.example\nshop.example\nhers\n10.1.2.3\tother.example\n') and 'nameserver 169.254.1.1' in said and \
                re.search(r'shm +1024 ', said), said
        inside(machine, 'echo hers >/dev/shm/x; touch /x /dev/mqueue/q && chown 7:8 /x', 'a')
        assert inside(machine, 'cat /dev/shm/x; ls /dev/mqueue; stat -c %u /dev/shm/x; id -u', 'b') == 'hers\nq\n0\n0'
        # Who may is master of the network, and others are not.
        assert inside(machine, 'ip link add br7 type bridge && ls /sys/class/net', 'b') == 'br7\nlo\nup0'
        assert inside(machine, 'ip link del br7 2>&1', 'a', check=False) and 'br7' in inside(machine, 'ls /sys/class/net', 'a')
        # One process beside the payloads.
        def others():
            return [line for line in machine.run('ps -u alice -o args=').out.splitlines()
                    if not re.search('systemd|libstart view|relay|httpd|sleep|timeout', line)]
        machine.wait_for(lambda: len(others()) == 1)
        assert '/usr/bin/pasta' in others()[0], others()
        rows = {row['unit']: row for row in json.loads(as_user(machine, 'keyturnctl --user pods --json').out)}
        assert sorted(rows['pod-pod.service']['containers']) == ['systemd-a', 'systemd-b'], rows
    finally:
        end(machine)


def test_a_pod_without_a_way_out(machine):
    make_world(machine)
    pod(machine, 'Network=none\nPodmanArgs=--sysctl=net.ipv4.ip_default_ttl=63')
    member(machine, 'a', SERVER)
    member(machine, 'b')
    member(machine, 'apart', keys='Network=pasta')
    try:
        systemctl(machine, 'start a b apart')
        machine.wait_for(lambda: fetch_inside(machine, '127.0.0.1', 80, 'b') == 'from inside')
        assert fetch_inside(machine, 'systemd-a', 80, 'b') == 'from inside'
        said = inside(machine, 'ls /sys/class/net; cat /proc/sys/net/ipv4/ip_default_ttl /proc/sys/net/ipv4/ping_group_range', 'b')
        assert said.split() == ['lo', '63', '0', '0'], said
        assert machine.run('cat /proc/sys/net/ipv4/ip_default_ttl').out != '63\n'
        assert fetch_inside(machine, WORLD, 80, 'b', seconds=1) == ''
        # One has a network of its own, and all else of the pod's.
        assert fetch_inside(machine, name='apart') == 'from the world'
        one, two = namespaces(machine, 'a'), namespaces(machine, 'apart')
        assert [x == y for x, y in zip(one, two)] == [True, False, True, True, False, False], (one, two)
    finally:
        end(machine)


def test_a_pod_with_the_machines_network(machine):
    make_world(machine)
    pod(machine, 'Network=host')
    member(machine, 'a')
    member(machine, 'b')
    try:
        systemctl(machine, 'start pod-pod; systemctl --user start a b')
        assert 'up0' in inside(machine, 'ls /sys/class/net', 'a') and fetch_inside(machine, name='b') == 'from the world'
        one, two = namespaces(machine, 'a'), namespaces(machine, 'b')
        assert one[:4] == two[:4] and one[1] == machine.run('readlink /proc/1/ns/net').out.strip(), (one, two)
        assert inside(machine, 'hostname', 'a') == 'systemd-pod'
    finally:
        end(machine)


def test_a_pod_on_a_bridge(machine):
    make_world(machine)
    machine.run('mkdir -p /home/alice/.config/containers/systemd')
    machine.write('/home/alice/.config/containers/systemd/lan.network', '[Network]\n')
    pod(machine, 'Network=lan.network\nPublishPort=8060:80')
    member(machine, 'a', SERVER)
    member(machine, 'b', keys='AddCapability=NET_ADMIN')
    container(machine, 'other', f'[Container]\nImage={IMAGE}\nExec=sleep 1000\nNetwork=lan.network\n[Service]\nKillSignal=SIGKILL\n')
    try:
        systemctl(machine, 'start a b other')
        machine.wait_for(lambda: fetch(machine, 8060) == 'from inside')
        assert fetch_inside(machine, '127.0.0.1', 80, 'b') == 'from inside' and fetch_inside(machine, name='b') == 'from the world'
        machine.wait_for(lambda: fetch_inside(machine, 'systemd-pod', 80, 'other') == 'from inside')
        one, two = namespaces(machine, 'a'), namespaces(machine, 'b')
        assert one[:4] == two[:4], (one, two)
        assert inside(machine, 'ip link add br7 type bridge && ls /sys/class/net', 'b').split() == ['br7', 'eth0', 'lo']
        # All of it anew, as the view is.
        renew_view(machine)
        systemctl(machine, 'restart a')
        machine.wait_for(lambda: states(machine, 'pod-pod', 'a', 'b') == 'active active active')
        machine.wait_for(lambda: fetch(machine, 8060) == 'from inside')
        machine.wait_for(lambda: fetch_inside(machine, name='b') == 'from the world')
    finally:
        end(machine)
        as_user(machine, 'rm ~/.config/containers/systemd/lan.network; systemctl --user daemon-reload')


def test_instances_of_a_template(machine):
    make_user(machine, 'alice')
    pod(machine, 'Network=none', 'cell@')
    member(machine, 'in@', of='cell@%i.pod')
    try:
        systemctl(machine, 'start cell-pod@one cell-pod@two; systemctl --user start in@one in@two')
        one, two = namespaces(machine, 'in@one'), namespaces(machine, 'in@two')
        assert not [kind for kind in one if kind in two], (one, two)
        assert machine.run(f'ls {RUN}/pod').out == 'cell-pod@one\ncell-pod@two\n'
        systemctl(machine, 'stop in@one in@two')
        machine.wait_for(lambda: machine.run(f'ls {RUN}/pod').out == '')
    finally:
        as_user(machine, 'systemctl --user stop cell-pod@one cell-pod@two', check=False)
        end(machine)


LOOK = '''ip addr; ip route; cat /etc/resolv.conf; cat /etc/hosts; ls /sys/class/net; hostname; cat /etc/hostname; echo $HOSTNAME; cat /volume
grep -o "/dev/shm .*" /proc/self/mounts; grep -o "/dev/mqueue .*" /proc/self/mounts; cat /proc/sys/net/ipv4/ping_group_range
grep -E "^(Uid|Gid|Groups|Cap|NoNewPrivs|Seccomp)" /proc/self/status; stat -c "%u:%g %a %n" / /tmp /dev/null /dev/shm /volume; ls -n /proc/self/ns | wc -l
'''


def facts(text):
    """What is the same from start to start, line by line, in whatever order /etc/hosts has it."""
    lines = [re.sub(r'\s+', ' ', line).strip() for line in text.splitlines()]
    return sorted(re.sub(' [0-9a-f]{12}-infra', '', line) for line in lines if line and not re.search('link/ether|valid_lft|fe80|^# ', line))


def test_as_rootless_podman_has_it(machine):
    """Debian 12's Podman starts nothing on these machines."""
    make_world(machine)
    as_user(machine, 'echo volume >~/volume')
    machine.write('/home/alice/look', LOOK, 0o755)
    pod(machine, 'PodName=same\nHostName=same.example\nShmSize=10m\nAddHost=there:10.1.2.3\nDNSSearch=example\nVolume=%h/volume:/volume\n'
                 'Volume=%h/look:/look\nNetwork=pasta\nPublishPort=8061:80')
    member(machine, 'one', keys='ContainerName=one')
    systemctl(machine, 'start pod-pod; systemctl --user start one')
    ours = inside(machine, 'sh /look', 'one')
    end(machine)
    assert 'same.example' in ours and 'size=10240k' in ours, ours
    if machine.suite == 'bookworm':
        return
    make_podmans(machine)
    theirs = as_user(machine, f'''
        podman --cgroup-manager cgroupfs pod create --infra-image {IMAGE} --infra-command 'sleep 1000' --network pasta --name same --hostname same.example \\
            --shm-size 10m --add-host there:10.1.2.3 --dns-search example -v ~/volume:/volume -v ~/look:/look -p 8061:80 >/dev/null
        podman run --rm --cgroups disabled --name one --pod same {IMAGE} sh /look
        podman pod rm -t 0 -f same >/dev/null 2>&1''').out
    assert facts(ours) == facts(theirs), (facts(ours), facts(theirs))


def test_a_member_is_as_any_container_of_hers(machine):
    """But for what it shares, and with all that a file may ask for."""
    make_world(machine)
    look = ('grep -E "^(Uid|Gid|Groups|Cap|NoNewPrivs|Seccomp)" /proc/self/status; ls /dev; cut -d" " -f5,6 /proc/self/mountinfo; umask; '
            'stat -c "%u:%g %a %n" / /tmp /dev/null /etc/passwd /kept /data/file /secret; cat /secret /data/file; touch /kept/x; stat -c %u /kept/x; '
            'echo 1 >/proc/sys/kernel/panic; mknod /tmp/x b 8 0; mkdir /sys/fs/cgroup/x; head -c 2 /dev/mine | wc -c')
    machine.run('cd /dev && rm -f mine && mknod mine c 1 5 && chgrp games mine && chmod 0660 mine && usermod -aG games alice; systemctl restart user@1234')
    as_user(machine, 'mkdir -p ~/data; echo hers >~/data/file; printf hush >~/secret')
    keys = ('AddDevice=/dev/mine\nGroupAdd=keep-groups\nVolume=kept:/kept\nVolume=%h/data:/data:Z\nSecret=word,type=mount,target=/secret\n'
            'Notify=healthy\nHealthCmd=true\nHealthInterval=200ms\nEnvironment=A=b')
    service = 'SetCredential=word:hush\n'
    pod(machine, 'PublishPort=8060:80')
    member(machine, 'a', keys=keys, more=service)
    container(machine, 'alone', f'[Container]\nImage={IMAGE}\nExec=sleep 1000\nNetwork=pasta\n{keys}\n[Service]\nKillSignal=SIGKILL\n{service}')
    try:
        systemctl(machine, 'start a alone')
        member_has, alone_has = (inside(machine, f'({look}) 2>&1', name, check=False) for name in ('a', 'alone'))
        assert 'hushhers' in member_has and member_has.endswith('\n2'), member_has
        # /dev/shm comes among the mounts of the file.
        assert sorted(member_has.splitlines()) == sorted(alone_has.splitlines()), (member_has, alone_has)
        assert '"healthy"' in as_user(machine, 'keyturnctl --user health --json a').out
    finally:
        end(machine)


def test_a_user_with_one_id(machine):
    make_world(machine)
    machine.run('cp -a /etc/subuid /etc/subgid /root; sed -i /^alice/d /etc/subuid /etc/subgid')
    as_user(machine, 'systemctl --user restart keyturn-view')
    pod(machine, 'PublishPort=8060:80')
    member(machine, 'a', SERVER)
    member(machine, 'b')
    try:
        systemctl(machine, 'start a b')
        machine.wait_for(lambda: fetch(machine, 8060) == 'from inside')
        one, two = namespaces(machine, 'a'), namespaces(machine, 'b')
        assert one[:4] == two[:4] and inside(machine, 'cat /proc/self/uid_map', 'b').split() == ['0', '0', '1'], (one, two)
    finally:
        end(machine)
        machine.run('cp -a /root/subuid /root/subgid /etc')
        as_user(machine, 'systemctl --user restart keyturn-view')


# ---- ids of its own

def test_ids_of_a_pods_own(machine):
    """All of a pod are in the one namespace, which its network belongs to; the image and volumes have its owners."""
    make_world(machine)
    first = int(machine.run("awk -F: '/^alice/ {print $2}' /etc/subuid").out)
    kept = [(0, first, 1234), (1234, 1234, 1), (1235, first + 1234, 65536 - 1234)] * 2
    mapped = [(0, first, 100), (100, 1234, 1), (101, first + 100, 900)] * 2
    as_user(machine, 'mkdir -p ~/data; echo hers >~/data/file')
    look = 'id -u; stat -c %u:%g /bin/busybox /data/file /kept; touch /kept/x /dev/shm/x; stat -c %u:%g /kept/x /dev/shm/x'
    for keys, expected, hers in (('UserNS=keep-id', kept, '1234:1234'), ('UserNS=nomap', [(0, first, 65536)] * 2, '65534:65534'),
                                 ('UserNS=keep-id:uid=7,gid=9', None, '7:9'), ('UserNS=auto', None, '65534:65534'),
                                 ('UIDMap=0:1:100\nUIDMap=100:0:1\nUIDMap=101:101:900', mapped, '100:100')):
        pod(machine, f'{keys}\nPublishPort=8060:80\nVolume=%h/data:/data')
        member(machine, 'a', SERVER, keys='User=0\nVolume=kept:/kept:U')
        member(machine, 'b', keys='User=0\nVolume=kept:/kept\nAddCapability=NET_ADMIN')
        member(machine, 'c')
        try:
            systemctl(machine, 'start pod-pod; systemctl --user start a b c')
            machine.wait_for(lambda: fetch(machine, 8060) == 'from inside')
            one, two = namespaces(machine, 'a'), namespaces(machine, 'b')
            assert one[:4] == two[:4], (keys, one, two)
            assert maps(machine, 'a') == maps(machine, 'b') and (not expected or maps(machine, 'a') == expected), (keys, maps(machine, 'a'))
            said = inside(machine, look, 'b').split()
            assert said == ['0', '0:0', hers, '0:0', '0:0', '0:0'], (keys, said)
            assert inside(machine, 'cat /data/file; echo more >/dev/shm/more; stat -c %u /kept/x; hostname', 'a').split() == ['hers', '0', 'systemd-pod'], keys
            assert inside(machine, 'cat /dev/shm/more', 'b') == 'more'
            # Root in there is master of the network.
            assert 'br7' in inside(machine, 'ip link add br7 type bridge && ls /sys/class/net', 'b'), keys
            assert fetch_inside(machine, name='a') == 'from the world'
            assert states(machine, 'keyturn-copy@a', 'keyturn-copy@b') == 'active active'
            # With keep-id, who is not said to be somebody else is she.
            said = inside(machine, 'id -u; id -g; stat -c %u:%g /data/file', 'c').split()
            assert said[:2] == (hers.split(':') if 'keep' in keys else ['0', '0']) and said[2] == hers, (keys, said)
        finally:
            end(machine)
            as_user(machine, 'podman unshare rm -rf ~/.local/share/containers/storage/volumes/kept')


def test_auto_ids_of_pods(machine):
    """None has an id of another's, each keeps its own over what happens, and its containers start on one copy."""
    make_world(machine)
    for name in ('one', 'two'):
        pod(machine, f'UserNS=auto{":size=2000" if name == "two" else ""}\nNetwork={"pasta" if name == "one" else "none"}', name)
        for part in 'ab':
            member(machine, f'{name}{part}', of=f'{name}.pod')
    container(machine, 'alone', f'[Container]\nImage={IMAGE}\nExec=sleep 1000\nUserNS=auto\n[Service]\nKillSignal=SIGKILL\n')
    units = 'onea oneb twoa twob'
    try:
        systemctl(machine, f'start {units} alone')
        found = [maps(machine, name)[0] for name in (*units.split(), 'alone')]
        assert found[0] == found[1] and found[2] == found[3] and [found[i][2] for i in (0, 2, 4)] == [1024, 2000, 1024], found
        ranges = sorted((found[i][1], found[i][1] + found[i][2]) for i in (0, 2, 4))
        assert all(x[1] <= y[0] for x, y in zip(ranges, ranges[1:])), ranges
        copies = machine.run('ls /home/alice/.local/share/keyturn/copies').out.split()
        assert len(copies) == 3, copies
        # The view goes, and with it what was pinned: the whole pod is started anew, with the same ids and the same copies.
        renew_view(machine)
        systemctl(machine, 'restart onea twoa')
        machine.wait_for(lambda: states(machine, 'one-pod', *units.split()) == ' '.join(['active'] * 5))
        machine.wait_for(lambda: all(namespaces(machine, f'{name}a')[:4] == namespaces(machine, f'{name}b')[:4]
                                     for name in ('one', 'two')))
        machine.wait_for(lambda: [maps(machine, name)[0] for name in units.split()] == found[:4])
        assert machine.run('ls /home/alice/.local/share/keyturn/copies').out.split() == copies
        assert inside(machine, 'stat -c %u:%g /bin/busybox; id -u', 'oneb') == '0:0\n0'
    finally:
        as_user(machine, 'systemctl --user stop alone', check=False)
        end(machine)


def test_changed_ids(machine):
    """Who is restarted alone after that begins the pod anew: it is not to be in the namespace of before."""
    make_world(machine)
    pod(machine, 'Network=none\nUserNS=keep-id')
    member(machine, 'a')
    member(machine, 'b')
    try:
        systemctl(machine, 'start pod-pod; systemctl --user start a b')
        before = maps(machine, 'a')
        for keys, restarted in (('UserNS=auto', 'a'), ('', 'b'), ('UserNS=keep-id', 'b')):
            pod(machine, f'Network=none\n{keys}')
            systemctl(machine, f'daemon-reload; systemctl --user restart {restarted} || true')
            machine.wait_for(lambda: states(machine, 'pod-pod', 'a', 'b') == 'active active active')
            machine.wait_for(lambda: namespaces(machine, 'a')[:4] == namespaces(machine, 'b')[:4])
            assert maps(machine, 'a') != before, keys
            before = maps(machine, 'a')
    finally:
        end(machine)


# ---- what comes and goes

def test_the_pod_goes_with_its_last_container(machine):
    """Whatever wants it, and however they end. What is restarted finds what it has left."""
    make_world(machine)
    pod(machine, 'PublishPort=8060:80')
    member(machine, 'a', SERVER, more='Restart=on-failure\nRestartSec=300ms\n')
    member(machine, 'b')
    try:
        systemctl(machine, 'start a')  # and so the pod, and so the other
        machine.wait_for(lambda: states(machine, 'pod-pod', 'a', 'b') == 'active active active')
        machine.wait_for(lambda: fetch(machine, 8060) == 'from inside')
        before, pasta = namespaces(machine, 'a')[:4], pasta_pid(machine)
        inside(machine, 'echo kept >/dev/shm/note', 'b')
        systemctl(machine, 'restart b; systemctl --user stop b; systemctl --user restart a')
        machine.wait_for(lambda: fetch(machine, 8060) == 'from inside')
        assert (namespaces(machine, 'a')[:4], pasta_pid(machine)) == (before, pasta)
        assert inside(machine, 'cat /dev/shm/note', 'a') == 'kept'
        # The last one fails, and will be started again: until then, nothing goes.
        systemctl(machine, 'kill -s KILL a')
        machine.wait_for(lambda: show(machine, 'a', 'NRestarts') == '1' and states(machine, 'a') == 'active')
        assert namespaces(machine, 'a')[:4] == before
        systemctl(machine, 'stop a')
        machine.wait_for(lambda: states(machine, 'pod-pod', 'keyturn-network@pod-pod') == 'inactive inactive')
        machine.wait_for(lambda: machine.run(f'ls {RUN}/pod {RUN}/network').out.split() == [f'{RUN}/network:', f'{RUN}/pod:'])
        # All anew.
        systemctl(machine, 'start pod-pod')
        machine.wait_for(lambda: states(machine, 'a', 'b') == 'active active')
        first = show(machine, 'a', 'MainPID')
        inside(machine, 'touch /dev/shm/note; hostname other', 'b', check=False)
        systemctl(machine, 'restart pod-pod')
        machine.wait_for(lambda: states(machine, 'pod-pod', 'a', 'b') == 'active active active')
        one, two = namespaces(machine, 'a'), namespaces(machine, 'b')
        assert one[:4] == two[:4] and show(machine, 'a', 'MainPID') != first, (first, one, two)
        assert inside(machine, 'hostname; ls /dev/shm', 'a') == 'systemd-pod'
        machine.wait_for(lambda: fetch(machine, 8060) == 'from inside')
        systemctl(machine, 'kill -s KILL a b')
        systemctl(machine, 'stop pod-pod')
        machine.wait_for(lambda: fetch(machine, 8060) == '')
    finally:
        end(machine)


def test_the_pod_stays_if_it_is_to(machine):
    make_user(machine, 'alice')
    pod(machine, 'Network=none\nExitPolicy=continue')
    member(machine, 'a', keys='StartWithPod=no')
    try:
        systemctl(machine, 'start pod-pod; systemctl --user start a; systemctl --user stop a')
        assert states(machine, 'pod-pod') == 'active' and machine.run(f'ls {RUN}/pod').out == 'pod-pod\n'
        systemctl(machine, 'stop pod-pod')
        assert machine.run(f'ls {RUN}/pod').out == ''
    finally:
        end(machine)


def test_what_runs_while_its_files_are_deleted(machine):
    """As root's: it is known, is stopped by its own signal, and leaves nothing."""
    files = '/home/alice/.config/containers/systemd'
    make_user(machine, 'alice')
    as_user(machine, f'mkdir -p {files} ~/.config/systemd/user; printf "[Pod]\\n" >{files}/both.pod')
    start(machine, 'deaf')  # sleep as the first process: it ignores what systemd sends by default
    start(machine, 'many@', command='sleep 1000', check=False)
    as_user(machine, 'systemctl --user start many@1')
    start(machine, 'member', 'Pod=both.pod')
    start(machine, 'other')
    signal = show(machine, 'deaf', 'KillSignal')
    machine.run(f'rm {files}/deaf.container {files}/many@.container {files}/member.container {files}/both.pod {files}/other.container')
    machine.write('/home/alice/.config/systemd/user/other.service', '[Service]\nExecStart=sleep 1000\n')
    as_user(machine, 'systemctl --user daemon-reload')
    assert as_user(machine, 'keyturnctl --user list').out.count('file deleted') == 3
    assert 'the file is gone' in show(machine, 'deaf', 'Description') and show(machine, 'deaf', 'KillSignal') == signal
    assert inside(machine, 'echo inside', 'many@1') == 'inside'
    assert 'refused' not in show(machine, 'other', 'Description'), 'it is a unit of its own'
    machine.run('rm /home/alice/.config/systemd/user/other.service')
    as_user(machine, 'systemctl --user daemon-reload; systemctl --user stop deaf many@1 member other')
    machine.wait_for(lambda: show(machine, 'both-pod', 'ActiveState') == 'inactive')
    machine.wait_for(lambda: machine.run('cd /run/user/1234/keyturn; ls -d deaf many* member other pod/* 2>/dev/null', check=False).out == '')
    as_user(machine, 'systemctl --user daemon-reload')
    assert as_user(machine, 'systemctl --user start deaf', check=False).status == 5  # there is no such unit


def test_what_runs_while_its_files_are_deleted_is_reached(machine):
    """It has its way out and its port until it is stopped, and then they are gone: of a pod, an instance, a single container."""
    make_world(machine)
    make_user(machine, 'alice')
    files = '/home/alice/.config/containers/systemd'
    for network in ('', 'Network=bridge\n'):
        for name, of, unit in (('a', 'pod', 'pod-pod'), ('a@', 'cell@', 'cell-pod@x'), ('a', '', 'a')):
            keys = f'{network}PublishPort=8060:80'
            if of:
                pod(machine, keys, of)
                member(machine, name, SERVER, of=f'{of}.pod')
            else:
                container(machine, name, f'[Container]\nImage={IMAGE}\nExec={SERVER}\n{keys}\n[Service]\nKillSignal=SIGKILL\n')
            payload = name.replace('@', '@x')
            systemctl(machine, f'start {payload}')
            machine.wait_for(lambda: fetch(machine, 8060) == 'from inside')
            as_user(machine, f'rm -f {files}/*; systemctl --user daemon-reload')
            assert fetch(machine, 8060) == 'from inside' and fetch_inside(machine, name=payload) == 'from the world', (network, unit)
            systemctl(machine, f'stop {unit}')
            machine.wait_for(lambda: 'pasta' not in machine.run('ps -u alice -o args=').out and not machine.run(f'ls -A {RUN}/network').out)


def test_a_pasta_that_is_killed(machine):
    make_world(machine)
    pod(machine, 'PublishPort=8060:80')
    member(machine, 'a', SERVER)
    try:
        systemctl(machine, 'start pod-pod; systemctl --user start a')
        main, before = show(machine, 'a', 'MainPID'), namespaces(machine, 'a')
        for _ in range(3):
            pasta = pasta_pid(machine)
            machine.run(f'kill -9 {pasta}')
            machine.wait_for(lambda: pasta_pid(machine) not in ('0', pasta) and show(machine, 'keyturn-pasta@pod-pod', 'ActiveState') == 'active')
        machine.wait_for(lambda: fetch(machine, 8060) == 'from inside')
        machine.wait_for(lambda: fetch_inside(machine, name='a') == 'from the world')
        assert (show(machine, 'a', 'MainPID'), namespaces(machine, 'a')) == (main, before)
    finally:
        end(machine)


def test_a_view_that_is_made_anew(machine):
    """What runs goes on. What starts after that finds nothing of the pod: all of it begins anew, and is one again."""
    make_world(machine)
    for keys, port in (('PublishPort=8060:80', 8060), ('Network=none', None), ('Network=host', None)):
        pod(machine, keys)
        member(machine, 'a', SERVER if port else 'sleep 1000')
        member(machine, 'b', keys='StartWithPod=no')
        try:
            systemctl(machine, 'start pod-pod; systemctl --user start a b')
            inside(machine, 'touch /dev/shm/note', 'b')
            before = show(machine, 'a', 'MainPID')
            renew_view(machine)
            assert show(machine, 'a', 'MainPID') == before
            if port:
                machine.wait_for(lambda: fetch(machine, port) == 'from inside')
            as_user(machine, 'systemctl --user restart b')
            machine.wait_for(lambda: show(machine, 'a', 'MainPID') not in ('0', before) and
                             states(machine, 'pod-pod', 'a', 'b') == 'active active active')
            one, two = namespaces(machine, 'a'), namespaces(machine, 'b')
            assert one[:4] == two[:4], (keys, before, one, two)
            assert inside(machine, 'hostname; ls /dev/shm', 'a') == 'systemd-pod'
            for _ in range(2 if port else 0):
                machine.wait_for(lambda: fetch(machine, port) == 'from inside')
                machine.wait_for(lambda: fetch_inside(machine, name='b') == 'from the world')
                as_user(machine, 'systemctl --user restart a')
            assert namespaces(machine, 'a')[:4] == two[:4]
        finally:
            end(machine)


def test_starts_stops_and_kills_leave_nothing(machine):
    make_world(machine)
    as_user(machine, 'systemctl --user restart keyturn-view')
    pod(machine, 'PublishPort=8060:80')
    pod(machine, 'Network=none', 'quiet')
    member(machine, 'a', SERVER)
    member(machine, 'b')
    member(machine, 'c', of='quiet.pod')
    try:
        systemctl(machine, 'start a b c; systemctl --user stop pod-pod quiet-pod')
        machine.wait_for(lambda: 'pasta' not in left(machine)[2] and 'network/' not in left(machine)[0])
        before = machine.settled(lambda: left(machine))
        start_and_kill(machine, 25,
                       '[ $((i % 5)) = 0 ] && systemctl --user restart a c; '
                       '[ $((i % 3)) = 0 ] && pkill -9 -u alice -f [b]in/pasta; '
                       '[ $((i % 8)) = 7 ] && systemctl --user restart keyturn-view; '
                       '[ $((i % 4)) = 1 ] && systemctl --user kill -s KILL keyturn-network@pod-pod pod-pod; '
                       '[ $((i % 4)) = 2 ] && { systemctl --user restart --no-block pod-pod; sleep 0.0$((i % 10)); systemctl --user kill -s KILL pod-pod quiet-pod; }; ',
                       'pod-pod quiet-pod', 'a b c')
        # A stop that was killed is repaired by the next one.
        as_user(machine, 'systemctl --user start pod-pod quiet-pod; systemctl --user stop pod-pod quiet-pod')
        machine.is_as(before, lambda: left(machine))
        systemctl(machine, 'start pod-pod')
        machine.wait_for(lambda: fetch(machine, 8060) == 'from inside')
    finally:
        end(machine)


# ---- what it does not

def test_what_is_refused_with_its_line(machine):
    make_user(machine, 'alice')
    wrong = []
    for keys, words in (('UserNS=ns:/proc/self/ns/user', 'UserNS='), ('UIDMap=0:@1234:1', 'UIDMap='), ('SubUIDMap=bob', 'SubUIDMap='),
                        ('PublishPort=80:80', 'ip_unprivileged_port_start'), ('PublishPort=8080:80/sctp', 'sctp'),
                        ('Network=pasta\nIP=10.1.2.3', 'pasta is none'), ('Network=pasta:--netns,/x', 'remove this option'),
                        ('PodmanArgs=--sysctl=kernel.msgmax=4321', 'net.'), ('[Keyturn]\nEarly=yes', 'Early'),
                        ('[Service]\nExecStart=/bin/true', 'ExecStart')):
        pod(machine, keys)
        member(machine, 'a')
        for unit in ('pod-pod', 'a'):
            if as_user(machine, f'systemctl --user start {unit}', check=False).status == 0:
                wrong.append((keys, unit, 'it has started'))
        said = as_user(machine, 'systemctl --user show -p Description --value pod-pod').out
        if not re.search('pod.pod:[45]: ', said) or words not in said:
            wrong.append((keys, said))
    # And of a container.
    container(machine, 'other', f'[Container]\nImage={IMAGE}\nNetwork=pasta\nExec=sleep 1000\n')
    for keys in ('PublishPort=8080:80', 'UserNS=keep-id', 'HostName=mine', 'AddHost=a:1.2.3.4', 'PodmanArgs=--uts=host', 'PodmanArgs=--ipc=host',
                 'PodmanArgs=--ipc=ns:/proc/1/ns/ipc', 'Network=other.container'):
        pod(machine, 'Network=none')
        member(machine, 'a', keys=keys)
        if as_user(machine, 'systemctl --user start a', check=False).status == 0:
            wrong.append((keys, 'a', 'it has started'))
        said = as_user(machine, 'systemctl --user show -p Description --value a').out
        if ':7: ' not in said:
            wrong.append((keys, said))
    end(machine)
    assert not wrong, wrong


# ---- who may not

HOSTILE = r'''
    for i in dd hostname ipcmk mount nsenter umount unshare; do command -v $i >/dev/null || echo "there is no $i"; done
    try() { "$@" >/dev/null 2>&1 && echo "could: $*"; }
    try ls /run/keyturn
    try ls /run/user
    for pin in ipc net uts user; do
        try umount /proc/1/ns/$pin
    done
    try mount -o remount,size=1g /dev/shm
    try sh -c "echo 1 >/proc/sys/kernel/panic"
    try sh -c "echo other >/proc/sys/kernel/core_pattern"
    try mknod /tmp/sda b 8 0
    dd if=/dev/zero of=/dev/shm/full bs=1M count=200 2>/dev/null
    du -k /dev/shm/full | cut -f1
    ipcmk -M 4096 >/dev/null; ipcmk -Q >/dev/null; ipcmk -S 2 >/dev/null
    touch /dev/mqueue/left
    hostname wolf
    ln -s /etc /dev/shm/link; mkdir -p /dev/shm/deep/deeper
'''


def test_a_member_in_the_hands_of_an_attacker(machine):
    """With all capabilities it has what is the pod's, and nothing of another's, of the view's, or of the machine's."""
    attack(machine, '')


def test_a_member_of_a_pod_with_other_ids_in_the_hands_of_an_attacker(machine):
    attack(machine, 'UserNS=auto:size=60000\n')


def attack(machine, keys):
    make_world(machine)
    serve_locally(machine)
    machine.write('/home/alice/hostile', HOSTILE, 0o755)
    pod(machine, f'{keys}PublishPort=8060:80\nShmSize=4m\nVolume=%h/hostile:/hostile:ro')
    member(machine, 'wolf', keys='AddCapability=all', image='localhost/test/debian')
    member(machine, 'sheep', SERVER)
    pod(machine, 'Network=none', 'other')
    member(machine, 'neighbour', of='other.pod')
    try:
        systemctl(machine, 'start pod-pod other-pod; systemctl --user start wolf sheep neighbour')
        start(machine, 'victim', 'Network=pasta\nPublishPort=8081:80', command=SERVER)
        name = machine.run('hostname').out
        said = inside(machine, 'sh /hostile', 'wolf')
        assert said == '4096', said
        # What it did is the pod's: not the machine's, nor the other pod's.
        assert inside(machine, 'hostname; ls /dev/mqueue; stat -c %F /dev/shm/link', 'sheep') == 'wolf\nleft\nsymbolic link'
        assert machine.run('hostname').out == name and machine.run('ls /dev/mqueue /dev/shm').out.find('left') < 0
        assert inside(machine, 'hostname; ls /dev/mqueue /dev/shm', 'neighbour').split() == ['systemd-other', '/dev/mqueue:', '/dev/shm:']
        assert machine.run('ipcs | grep -c ^0x', check=False).out == '0\n'
        # From outside, with the payload's own ids and capabilities: as if it had got the host's pid namespace.
        pid, holder = show(machine, 'wolf', 'MainPID'), machine.run(f'cut -d" " -f1 {RUN}/.view').out.strip()
        targets = [show(machine, 'victim', 'MainPID'), show(machine, 'neighbour', 'MainPID'), holder, pasta_pid(machine),
                   machine.run('systemctl show --value -p MainPID user@1234').out.strip()]
        for target in targets:
            for what in ('ns/net', 'ns/mnt', 'ns/ipc', 'ns/user', 'environ', 'mem'):
                got = machine.run(['nsenter', '-t', pid, '-U', '-S', '0', '-G', '0', 'head', '-c1', f'/proc/{target}/{what}'], check=False)
                assert got.status, (target, what, got)
        # Whatever address it takes: the machine's loopback, and the victim's port by it, stay out of reach.
        for trick in ('true', 'ip addr add 10.11.12.77/24 dev up0', 'ip route add local 127.0.0.1 dev up0', 'ip addr flush dev lo'):
            machine.run(['nsenter', '-t', pid, '-U', '-n', '-S', '0', '-G', '0', 'sh', '-c', trick], check=False)
            for host in ('127.0.0.1', WORLD, '169.254.1.2', MACHINE):
                got = machine.run(['nsenter', '-t', pid, '-U', '-n', '-S', '0', '-G', '0', 'timeout', '1', 'busybox', 'nc', '-w', '1', host, '9000'],
                                  check=False)
                assert not got.out, (trick, host, got)
        # What it destroys is its pod's.
        machine.wait_for(lambda: fetch(machine, 8081) == 'from inside')
        machine.run(f'nsenter -t {pid} -U -n -S 0 -G 0 ip link del up0', check=False)
        assert fetch(machine, 8081) == 'from inside' and fetch_inside(machine, name='victim') == 'from the world'
        # It may kill its neighbours' payloads by nothing but what is shared: these go on.
        assert states(machine, 'sheep', 'neighbour', 'victim') == 'active active active'
        # A name that is none is not written to /etc/hosts of the next.
        machine.run(f'nsenter -t {pid} -U -u -S 0 -G 0 busybox hostname "x 1.2.3.4"')
        systemctl(machine, 'restart sheep')
        assert 'x 1.2.3.4' not in inside(machine, 'cat /etc/hosts /etc/hostname; echo $HOSTNAME', 'sheep')
        systemctl(machine, 'restart pod-pod; systemctl --user start wolf sheep')
        machine.wait_for(lambda: fetch(machine, 8060) == 'from inside')
        assert inside(machine, 'hostname; ls -A /dev/mqueue /dev/shm', 'sheep').split() == ['systemd-pod', '/dev/mqueue:', '/dev/shm:']
    finally:
        as_user(machine, 'systemctl --user stop victim', check=False)
        end(machine)


def test_users_are_apart(machine):
    make_user(machine, 'bob')
    pod(machine, 'Network=none')
    member(machine, 'a')
    pod(machine, 'Network=none', user='bob')
    member(machine, 'a', user='bob')
    try:
        systemctl(machine, 'start pod-pod; systemctl --user start a')
        as_user(machine, 'systemctl --user start pod-pod; systemctl --user start a', 'bob')
        pid = show(machine, 'a', 'MainPID')
        for command in (f'ls {RUN}/pod', f'nsenter -t {pid} -i true', f'nsenter -t {pid} -U true', f'nsenter -t {pid} -u true',
                        f'ls /proc/{pid}/root/dev/shm'):
            assert as_user(machine, command, 'bob', check=False).status, command
        # Bob's pins lead to alice's, and to root's: what starts is not in there.
        before = namespaces(machine, 'a')
        as_user(machine, f'cd $XDG_RUNTIME_DIR/keyturn/pod/pod-pod; for i in ipc uts net user-*; do rm -f $i; ln -s /proc/{pid}/ns/${{i%-*}} $i; done; '
                         'systemctl --user restart a', 'bob', check=False)
        his = as_user(machine, 'systemctl --user show --value -p MainPID a', 'bob').out.strip()
        for kind, own in zip(('user', 'net', 'ipc', 'uts'), before):
            if his != '0':
                assert machine.run(f'readlink /proc/{his}/ns/{kind}').out.strip() not in (own, machine.run(f'readlink /proc/1/ns/{kind}').out.strip()), kind
        as_user(machine, 'cd $XDG_RUNTIME_DIR/keyturn/pod/pod-pod; rm -f ipc uts; for i in ipc uts; do ln -s /proc/1/ns/$i $i; done; '
                         'systemctl --user restart a', 'bob', check=False)
        his = as_user(machine, 'systemctl --user show --value -p MainPID a', 'bob').out.strip()
        if his != '0':
            assert machine.run(f'readlink /proc/{his}/ns/ipc').out != machine.run('readlink /proc/1/ns/ipc').out
        # Root has none of either.
        assert machine.run('ls /run/keyturn/pod 2>/dev/null', check=False).out == ''
        assert inside(machine, 'hostname', 'a') == 'systemd-pod'
    finally:
        as_user(machine, 'systemctl --user stop pod-pod a; rm -f ~/.config/containers/systemd/*; systemctl --user daemon-reload', 'bob', check=False)
        end(machine)
