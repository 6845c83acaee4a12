# SPDX-License-Identifier: LGPL-2.1-or-later
"""As faults, of what a user's manager starts: her containers, and what is made ahead of them."""

import os
import shlex
import sys
import textwrap

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), '../faults'))

import users  # noqa: E402
from matrix import SHOW, SHOWN, STATE, TRACE, Operation, change, run, set_options, write_script  # noqa: E402
from world import make_world  # noqa: E402

PACKAGES = ('passt',)
TEST_SECONDS = 900
BUSYBOX = 'localhost/test/busybox'
SHOWS = f"""
    [Container]
    Image={BUSYBOX}
    Network=none
    Volume=/srv/faults:/out
    Exec=sh -c 'trap exit TERM; ({SHOW}) >/out/shown; sleep 1000 & wait'
    """
# What is there for containers of hers.
FILES = f'cd /run/user/{users.USERS["alice"]}/keyturn && find . | grep -v -e seccomp -e /network/.leases | sort\n'


def put_before_users_service(machine, unit, file, once=False):
    """Of alice's container 'mine', and the systemctl of her manager for a command."""
    systemctl = shlex.join(users.becoming('alice')) + ' systemctl --user '
    machine.run('mkdir -p /srv/faults && chmod 0777 /srv/faults')
    users.container(machine, 'mine', textwrap.dedent(file) + '[Service]\nKillSignal=SIGKILL\n')
    command = [line for line in machine.run(f'{systemctl} cat {unit}').out.splitlines() if line.startswith('ExecStart=')][-1]
    machine.write(f'/home/alice/.config/systemd/user/{unit}.service.d/90-faults.conf',
                  '[Service]\nExecStart=\n' + command.replace('=', '=/run/faults.sh ', 1) + '\n')
    write_script(machine, once)
    machine.run(systemctl + 'daemon-reload')
    return systemctl


def test_start_of_a_user(machine):
    systemctl = put_before_users_service(machine, 'mine', SHOWS)
    run(machine, Operation(
        sample=4,
        command=systemctl + 'start mine',
        state=f'{STATE}{FILES}cut -d" " -f5 /proc/$(cut -d" " -f1 .view)/mountinfo | sort',
        result=SHOWN, undo=f'{systemctl} stop mine; {systemctl} reset-failed; rm -f /srv/faults/shown'),
        # nobody was there who holds her namespaces, and only a message's first byte said so
        known_meddling=('short one', 'short half'))


def test_view_of_a_user(machine):
    """What alice's containers see of the machine: whole, with all of her ids, or not at all."""
    systemctl = put_before_users_service(machine, 'mine', SHOWS)
    begin = f'{systemctl} start keyturn-relay'
    holder = f'/proc/$(cut -d" " -f1 /run/user/{users.USERS["alice"]}/keyturn/.view)'
    # Not as her service: newuidmap(1) has root's rights where root traces it, and not where she does.
    run(machine, Operation(
        sample=4,
        command=f"{{}} {shlex.join(users.becoming('alice'))} /usr/lib/keyturn/libstart view", before=begin,
        program=r'execve\("/usr/lib/keyturn/libstart"', state=STATE + FILES,
        result=f'cat {holder}/uid_map {holder}/gid_map; cut -d" " -f5 {holder}/mountinfo | sort', undo=begin, again=True),
        # it had one id, and no others
        known=[('openat', '/etc/passwd"', 'EIO'), ('openat', '/etc/subuid"', 'EIO'), ('openat', '/etc/subgid"', 'EIO'),
               # it had no journal
               ('open_tree', '/run/systemd/journal"', 'EIO'),
               # the relay that has the one before was not told, nor by all that came later
               ('pidfd_open', 1, 'EMFILE'), ('pidfd_send_signal', '', 'EPERM')])


def view_of(machine):
    return machine.run(f'readlink /proc/$(cut -d" " -f1 /run/user/{users.USERS["alice"]}/keyturn/.view)/ns/user').out


def test_relay_of_a_user(machine):
    """What it cannot do at once it tries again: nobody else says who holds her view, or keeps it."""
    systemctl = put_before_users_service(machine, 'keyturn-relay', SHOWS)
    machine.run(systemctl + 'start mine')
    for call, is_new in (('lseek', False), ('lseek', True), ('sendmsg', True)):
        set_options(machine, f'-e trace={call} -e inject={call}:error=EIO:when=1')
        machine.run(f'install -m 0666 /dev/null {TRACE}')
        machine.run(systemctl + ('restart keyturn-view' if is_new else 'kill -s KILL keyturn-relay'))
        machine.run(systemctl + 'restart mine')
        assert 'INJECTED' in machine.read(TRACE), call
        machine.run('rm /run/faults/options')
        before = view_of(machine)
        machine.run(systemctl + 'kill -s KILL keyturn-relay; ' + systemctl + 'restart mine')
        assert view_of(machine) == before, (call, is_new)


# Of an image with other owners, and of what is there of it: alice's container has it with ids of her own.
OWNERS = 'cd /home/alice/.local/share/keyturn/copies 2>/dev/null && find . -printf "%y %m %U:%G %s %l %P\\n" | sed "s/[0-9a-f]\\{16,\\}/ID/g" | sort -k 6'


def test_copy_of_a_users_image(machine):
    """Made ahead, once; whoever is cut leaves what nobody takes for whole."""
    systemctl = put_before_users_service(machine, 'keyturn-copy@mine', change(SHOWS, BUSYBOX, f'{BUSYBOX}\n    UserNS=keep-id'))
    run(machine, Operation(
        sample=4,
        command=f'{systemctl} start keyturn-copy@mine',
        result=OWNERS, again=True,
        undo=f'{systemctl} stop keyturn-copy@mine; {systemctl} reset-failed; rm -rf /home/alice/.local/share/keyturn/copies',
        state=STATE + 'ls -A /home/alice/.local/share/keyturn'))


def test_network_of_a_user(machine):
    """pasta's, and a bridge: made ahead, and taken away."""
    make_world(machine)
    users.make_user(machine, 'alice')
    users.as_user(machine, 'mkdir -p ~/.config/containers/systemd; echo "[Network]" >~/.config/containers/systemd/shop.network')
    for network, unit in (('pasta', 'keyturn-network@mine'), ('pasta', 'keyturn-pasta@mine'), ('shop.network', 'keyturn-network@mine')):
        file = change(SHOWS, 'Network=none', f'Network={network}\n    PublishPort=8080:80')
        systemctl = put_before_users_service(machine, unit, file, once=True)
        stop = f'{systemctl} stop mine keyturn-network@mine keyturn-pasta@mine keyturn-ports@mine; {systemctl} reset-failed; rm -f /srv/faults/shown'
        machine.run(f'{systemctl} start mine; {stop}')
        run(machine, Operation(
            sample=2, once=True,
            command=f'{systemctl} start mine',
            state=STATE + FILES,
            # pasta that was killed is started again, without strace.
            result=f'in="nsenter -t $({systemctl} show -P MainPID mine) -n"; '
                   'for i in $(seq 50); do [ $($in ip -o -4 addr | wc -l) = 2 ] && break; sleep 0.1; done; '
                   '$in ip -o -4 addr | cut -d" " -f2-7', undo=stop))
        machine.run(f'rm -r /home/alice/.config/systemd/user/{unit}.service.d; {systemctl} daemon-reload')
