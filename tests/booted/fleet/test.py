# SPDX-License-Identifier: LGPL-2.1-or-later
"""Several machines, from one: keyturn-fleet(7) word for word, keyturnctl -H, and the role for Ansible.

The first machine is the desk; a cable leads from it to each of the others, and ssh is Debian's.
"""

import contextlib
import hashlib
import os
import re
import signal
import sys
import threading
import time

from machine import host

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(HERE, '../guides'))

import page  # noqa: E402

# Ansible's turns on four machines take half a minute each, and four times that where other machines work, too.
TEST_SECONDS = 600

PACKAGES = ('python3', 'python3-apt', 'openssh-server', 'systemd-journal-remote', 'ansible-core', 'prometheus')

SSH = '''
Host node*
    User root
    StrictHostKeyChecking accept-new
    ConnectTimeout 5
    ControlMaster auto
    ControlPath /run/ssh-%n
    ControlPersist 5
    ServerAliveInterval 2
    ServerAliveCountMax 2
'''


def connect(desk, node, number):
    """A cable between two machines: of both interfaces nothing is left when one of them is gone."""
    name = f'node{number}'
    host('ip', 'link', 'add', name, 'netns', str(desk.pid1), 'type', 'veth', 'peer', 'desk', 'netns', str(node.pid1))
    desk.run(f'ip address add 10.77.{number}.1/24 dev {name} && ip link set {name} up')
    node.run(f'ip address add 10.77.{number}.2/24 dev desk && ip link set desk up')
    node.run(f'hostname {name} && mkdir -p -m 700 /root/.ssh')
    node.write('/root/.ssh/authorized_keys', desk.read('/root/.ssh/id_ed25519.pub'))
    desk.run(f'echo 10.77.{number}.2 {name} >>/etc/hosts')


def mask_prometheus(root):
    """Only its promtool is wanted."""
    os.symlink('/dev/null', os.path.join(root, 'etc/systemd/system/prometheus.service'))


@contextlib.contextmanager
def fleet(machine, nodes, **other):
    """The desk, and what there is to manage; `other` is what Machine is to be given for that."""
    with contextlib.ExitStack() as stack:
        desk = stack.enter_context(machine.another(mask_prometheus, packages=PACKAGES))
        desk.run('mkdir -p -m 700 /root/.ssh && ssh-keygen -q -t ed25519 -N "" -f /root/.ssh/id_ed25519')
        desk.write('/root/.ssh/config', SSH)
        others = [stack.enter_context(machine.another(mask_prometheus, packages=PACKAGES, store=None, **other))
                  for _ in range(nodes)]
        for number, node in enumerate(others, 1):
            connect(desk, node, number)
        yield desk, others


@contextlib.contextmanager
def explained(desk):
    """The runner prints the journal of its own machine only."""
    try:
        yield
    except AssertionError as error:
        raise AssertionError(f"{error}\n{desk.run('journalctl --lines=40').out}") from None


def test_host_option(machine):
    with fleet(machine, 1) as (desk, (node,)):
        def ctl(words, status=0):
            done = desk.run(f'keyturnctl {words}', check=False)
            assert done.status == status, done
            return done.out + done.err

        node.container('web', '''
            [Container]
            Image=localhost/test/busybox
            HealthCmd=true
            Exec=sh -c "trap 'exit 0' TERM; while :; do sleep 1000 & wait; done"
        ''')
        desk.run('skopeo copy -q containers-storage:localhost/test/busybox oci-archive:/run/busybox.tar')
        assert 'web.service' in ctl('-H node1 list') and 'web.service' not in ctl('list')
        desk.run('scp -q /run/busybox.tar node1:/run/')
        node.run('skopeo copy -q oci-archive:/run/busybox.tar containers-storage:localhost/test/busybox')
        desk.run('systemctl -H node1 start web')
        assert '"state": "active (running)"' in ctl('--host=node1 list --json web')
        assert ctl("-H node1 exec -e 'A=b  $HOME' web sh -c 'echo \"$A\"; cat; exit 7' <<'END'\nread\nEND", 7) == 'b  $HOME\nread\n'
        assert 'busybox' in ctl('-H node1 images') and 'web' in ctl('-H node1 analyze web')
        desk.wait_for(lambda: desk.run('keyturnctl -H node1 health', check=False).status == 0)
        assert 'web.service' in ctl('-H node1 health')
        assert 'no container' in ctl('-H node1 list nothing', 125)
        # What is typed wrong is said here, and nothing is executed.
        assert "does not begin with '-'" in ctl("-H '-oProxyCommand=touch /run/hacked' list", 125)
        assert "stands before anything else" in ctl('--json -H node1 list', 125)
        assert "takes a machine" in ctl('-H', 125)
        assert not os.path.exists(desk.path('/run/hacked'))
        assert ctl('-H node9 list', 255)
        # A terminal, where there is one.
        assert 'not a tty' in ctl('-H node1 exec web tty', 1)
        typed = desk.run(['script', '-qec', 'keyturnctl -H node1 exec -t web tty', '/dev/null'])
        assert '/dev/pts/' in typed.out, typed
        # A controller's ways.
        assert 'NRestarts' in desk.run('systemctl -H node1 show web').out
        assert 'web.service' in desk.run('busctl -H node1 call org.freedesktop.systemd1 /org/freedesktop/systemd1 '
                                         'org.freedesktop.systemd1.Manager ListUnitsByNames as 1 web.service').out
        desk.run('systemctl -H node1 stop web')
        assert node.show('web', 'ActiveState') == 'inactive'


APP = """
[Container]
Image=localhost/web:1
{more}
HealthCmd=test -e /bin/healthy
HealthInterval=1s
HealthRetries=1
"""

SITE = """
- hosts: all
  gather_facts: false
  serial: "{{{{ batch | default(1) }}}}"
  roles:
    - role: keyturn
      keyturn_package: "{package}"
      keyturn_watch_seconds: 2
      keyturn_containers:
        - name: web
          files: [/srv/fleet/web.container]
          image: localhost/web:1
          archive: /srv/fleet/{archive}
"""


def make_image(desk, version, program, files=('healthy',)):
    """An archive on the desk: busybox, a program, and files that say how it is."""
    desk.run(f"""set -e
        rm -rf /srv/root; mkdir -p /srv/root/bin /srv/fleet; cd /srv/root/bin
        cp "$(command -v busybox)" busybox; for name in sh sleep test; do ln -s busybox $name; done
        {''.join(f'touch {name}; ' for name in files)}
        cat >run; chmod +x run
        tar -C /srv/root -c . | podman import --quiet --change 'CMD ["/bin/run"]' - localhost/made:{version}
        skopeo copy -q containers-storage:localhost/made:{version} oci-archive:/srv/fleet/{version}.tar
    """, input=f"#!/bin/sh\ntrap 'exit 0' TERM\necho {version}\n{program}\n")


def play(desk, archive, *words, status=0, more='', hosts='node1,node2,node3,', package=''):
    desk.write('/srv/fleet/web.container', APP.format(more=more))
    desk.write('/srv/fleet/site.yml', SITE.format(archive=archive, package=package))
    done = desk.run(['ansible-playbook', '-i', hosts, '/srv/fleet/site.yml', *words], check=False, timeout=250,
                    env={'ANSIBLE_ROLES_PATH': '/srv/fleet/roles', 'ANSIBLE_NOCOLOR': '1', 'ANSIBLE_PIPELINING': '1',
                         'LC_ALL': 'C.UTF-8'})
    assert done.status in (status if isinstance(status, tuple) else (status,)), f'{done.status}:\n{done.out}{done.err}'
    return done.out


CONTROL = """Package: keyturn
Version: 0.1-1
Architecture: {architecture}
Maintainer: nobody
Depends: libsystemd0, libseccomp2, libcap2
Description: what meson installs
"""


def make_repository(machine, node):
    """One for apt, of a package of what the other machines have, which the role finds as any other."""
    directory = node.path('/srv/repository')
    host('cp', '-a', machine.tree, directory + '/tree')
    control = CONTROL.format(architecture=host('dpkg', '--print-architecture').strip())
    os.mkdir(directory + '/tree/DEBIAN')
    with open(directory + '/tree/DEBIAN/control', 'w') as file:
        file.write(control)
    host('dpkg-deb', '--root-owner-group', '-Znone', '--build', directory + '/tree', directory + '/keyturn.deb')
    host('rm', '-r', directory + '/tree')
    with open(directory + '/keyturn.deb', 'rb') as file:
        digest, size = hashlib.file_digest(file, 'sha256').hexdigest(), file.tell()
    with open(directory + '/Packages', 'w') as file:
        file.write(f'{control}Filename: ./keyturn.deb\nSize: {size}\nSHA256: {digest}\n')
    node.run('rm -f /etc/apt/sources.list.d/* /etc/apt/sources.list; '
             'echo "deb [trusted=yes] file:/srv/repository ./" >/etc/apt/sources.list && apt-get update')


WORKS = 'while :; do sleep 1000 & wait; done'


def state(node):
    """What a roll-out may change, and what has to be as before if it is taken back."""
    # An image that was replaced stays without a name.
    store = node.run('podman images --format "{{.Repository}}:{{.Tag}} {{.ID}}" --no-trunc | sort').out
    files = node.run('cd /etc/containers/systemd && ls -A && cat *; ls -A /var/tmp').out
    return store, files, node.show('web', 'ActiveState')


def runs(node):
    said = "journalctl --quiet --output=cat _PID=$(systemctl show --property=MainPID --value web)"
    return node.wait_for(lambda: node.run(said).out.strip())


def prepare_role(desk):
    desk.run('mkdir -p /srv/fleet')
    host('cp', '-r', os.path.join(HERE, '../../../contrib/ansible/roles'), desk.path('/srv/fleet/roles'))


def die_restarting(node):
    """Loses power, without a word on the cable, when the new container is to be started on it."""
    pid = node.show('web', 'MainPID')
    while os.path.exists(node.path(f'/proc/{pid}')):
        time.sleep(0.02)
    os.kill(node.pid1, signal.SIGKILL)
    node.ended = True


def test_ansible(machine):
    with fleet(machine, 1) as (desk, (node,)):
        prepare_role(desk)
        make_image(desk, 'one', WORKS)
        # Only what would be done.
        before = state(node)
        shown = play(desk, 'one.tar', '--check', '--diff', hosts='node1,')
        assert '+Image=localhost/web:1' in shown and 'none -> ' in shown, shown
        assert state(node) == before

        play(desk, 'one.tar', hosts='node1,')
        assert runs(node) == 'one'
        one, pid = state(node), node.show('web', 'MainPID')
        assert 'changed=0' in play(desk, 'one.tar', hosts='node1,')
        assert 'changed=0' in play(desk, 'one.tar', '--check', hosts='node1,')
        assert (state(node), node.show('web', 'MainPID')) == (one, pid)

        make_image(desk, 'two', WORKS)
        play(desk, 'two.tar', hosts='node1,')
        assert runs(node) == 'two'
        assert 'changed=0' in play(desk, 'two.tar', hosts='node1,')


def test_ansible_installs_the_package(machine):
    with fleet(machine, 1, tree=None) as (desk, (node,)):
        prepare_role(desk)
        make_image(desk, 'one', WORKS)
        os.mkdir(node.path('/srv/repository'))
        make_repository(machine, node)
        assert node.run('keyturnctl --version', check=False).status == 127
        play(desk, 'one.tar', hosts='node1,', package='keyturn')
        assert runs(node) == 'one' and 'keyturn' in node.run('dpkg -S /usr/bin/keyturnctl').out
        assert 'changed=0' in play(desk, 'one.tar', hosts='node1,', package='keyturn')


def test_ansible_takes_back_what_fails(machine):
    with fleet(machine, 1) as (desk, (node,)):
        prepare_role(desk)
        make_image(desk, 'one', WORKS)
        make_image(desk, 'ends', 'sleep 1; exit 1')
        nothing = state(node)
        play(desk, 'ends.tar', '-e', 'keyturn_start_seconds=4', status=2, hosts='node1,')
        assert state(node) == nothing, (state(node), nothing)

        # Bad ones, with another file: image, file and service are as they were.
        play(desk, 'one.tar', hosts='node1,')
        one = state(node)
        make_image(desk, 'ill', WORKS, files=())
        for archive in 'ends.tar', 'ill.tar':
            said = play(desk, archive, '-e', 'keyturn_start_seconds=4', status=2, more='Environment=BAD=yes', hosts='node1,')
            assert 'web: ' in said and 'everything is as it was' in said, said
            assert state(node) == one and runs(node) == 'one', (state(node), one)
        # A file that keyturn refuses.
        play(desk, 'one.tar', '-e', 'keyturn_start_seconds=4', status=2, more='Nonsense=yes', hosts='node1,')
        assert state(node) == one and runs(node) == 'one', (state(node), one)


def test_a_machine_dies_in_a_roll_out(machine):
    with fleet(machine, 3) as (desk, nodes):
        prepare_role(desk)
        make_image(desk, 'one', WORKS)
        play(desk, 'one.tar', '-e', 'batch=3')
        assert [runs(node) for node in nodes] == ['one'] * 3
        third = state(nodes[2])

        make_image(desk, 'two', WORKS)
        deaths = threading.Thread(target=die_restarting, args=(nodes[1],))
        deaths.start()
        said = play(desk, 'two.tar', status=(2, 4))
        deaths.join()
        assert 'node2' in said and nodes[1].ended, said
        # It stops there: the first has the new one, the third all that it had.
        assert runs(nodes[0]) == 'two' and runs(nodes[2]) == 'one' and state(nodes[2]) == third

        # Another machine in its place, and the same words again.
        with machine.another(packages=PACKAGES, store=None) as new:
            connect(desk, new, 2)
            said = play(desk, 'two.tar')
            assert [runs(node) for node in (nodes[0], new, nodes[2])] == ['two'] * 3
            assert re.search(r'^node1 .*changed=0 ', said, re.M), said


def lose_restarting(desk, node, cable):
    """The network, when the new container is to be started."""
    pid = node.show('web', 'MainPID')
    while os.path.exists(node.path(f'/proc/{pid}')):
        time.sleep(0.02)
    desk.run(f'ip link set {cable} down')


def test_the_network_is_lost_in_a_roll_out(machine):
    with fleet(machine, 3) as (desk, nodes):
        prepare_role(desk)
        make_image(desk, 'one', WORKS)
        play(desk, 'one.tar', '-e', 'batch=3')
        third = state(nodes[2])
        make_image(desk, 'two', WORKS)
        loss = threading.Thread(target=lose_restarting, args=(desk, nodes[1], 'node2'))
        loss.start()
        said = play(desk, 'two.tar', status=(2, 4))
        loss.join()
        # Behind it nothing is touched. The machine itself goes on with what it was told, and its container runs.
        assert 'node2' in said and state(nodes[2]) == third, said
        nodes[1].wait_for(lambda: nodes[1].show('web', 'ActiveState') == 'active')
        assert runs(nodes[0]) == 'two' and runs(nodes[1]) in ('one', 'two')
        desk.run('ip link set node2 up')
        play(desk, 'two.tar')
        assert [runs(node) for node in nodes] == ['two'] * 3


def test_the_page(machine):
    with fleet(machine, 3) as (desk, _), explained(desk):
        page.do(desk, os.path.join(HERE, '../../../man/keyturn-fleet.7.md'))
        checked = desk.run('ssh node1 cat /var/lib/prometheus/node-exporter/keyturn.prom | promtool check metrics')
        assert not checked.out + checked.err, checked
