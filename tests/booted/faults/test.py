# SPDX-License-Identifier: LGPL-2.1-or-later
"""No single system call that fails leads to less protection, to a hang or to something that is left (matrix.py).

The whole matrix takes hours:

    KEYTURN_FAULTS=all KEYTURN_TEST_SECONDS=20000 tests/booted/run ... trixie faults"""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))

import memory  # noqa: E402
from matrix import KILL, Operation, run  # noqa: E402

BUSYBOX = 'localhost/test/busybox'
EMPTY = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'  # sha256
# What protects the payload, as it sees it.
SHOW = 'grep -E "^(Cap|Seccomp|NoNewPrivs|Uid|Gid|Groups)" /proc/self/status; cut -d" " -f5,6 /proc/self/mountinfo | sort; echo end'


START_BY_HAND = Operation(
    command='sh -c \'"$@" >/run/shown\' - {} /usr/lib/keyturn/libstart run --name fault --network none ' +
            f"{BUSYBOX} sh -c '{SHOW}'",
    result='cat /run/shown',
    undo='rm -f /run/shown')


def test_start_by_hand(machine):
    run(machine, START_BY_HAND, known=[
            ('chmod', 1, 'EIO'),  # /run/keyturn/NAME stayed
            ('flock', 1, 'EIO'),  # the same
            ('unlink', 4, 'EAGAIN'),  # the same
            ('statfs', 2, 'EIO'),
            ('dup2', 2, 'EIO'),  # the end of the copier of its output was waited for, and could not come
            *(('write', number, 'EIO') for number in range(1, 10)),  # the container waited for libcrun's pipe for ever
        ])


def containers(machine):
    """One that uses what is made ahead, and has begun to run once."""
    machine.run('mkdir -p /srv/faults')
    machine.write('/srv/faults/show', f'({SHOW}) >/out/shown\n')
    for file in ('/etc/subuid', '/etc/subgid'):
        machine.write(file, 'containers:2147483647:2147483648\n')
    machine.container('shop.network', '[Network]\n', reload=False)
    machine.container('web', f"""
        [Container]
        Image={BUSYBOX}
        Network=shop.network
        PublishPort=8080:80
        UserNS=auto
        Volume=/srv/faults:/out:U
        Exec=sh -c '. /out/show; trap exit TERM; sleep 1000 & wait'
        HealthCmd=test -e /out/shown
        HealthInterval=disable
        """)
    machine.run('systemctl start web && systemctl stop web keyturn-network@web')


def test_start(machine):
    containers(machine)
    run(machine, Operation(
        command='systemctl start web',
        services=('web.service',),
        result='for i in 1 2 3 4 5; do grep -qs end /srv/faults/shown && break; sleep 0.1; done; cat /srv/faults/shown',
        undo='systemctl stop web keyturn-network@web; systemctl reset-failed; rm -f /srv/faults/shown'))


def test_network(machine):
    containers(machine)
    # Without somebody who needs it, it would stop again.
    machine.unit('needs-network', '''
        [Unit]
        Requires=keyturn-network@web.service
        After=keyturn-network@web.service
        [Service]
        Type=oneshot
        RemainAfterExit=yes
        ExecStart=true
        ''')
    run(machine, Operation(
        command='systemctl start needs-network',
        services=('keyturn-network@web.service',),
        result='nft list ruleset | grep -c "dport 8080"; ls /run/keyturn/network',
        undo='systemctl stop needs-network keyturn-network@web.service shop-network.service; systemctl reset-failed'),
        known=[*(('rename', number, KILL) for number in range(1, 4))])


def test_user_namespace(machine):
    containers(machine)
    run(machine, Operation(
        command='systemctl start keyturn-userns@web.service',
        services=('keyturn-userns@web.service',),
        undo='systemctl stop keyturn-userns@web.service; systemctl reset-failed'),
        # /run/keyturn/userns/web stayed
        known=[*(('openat', number, 'EMFILE') for number in range(17, 22)), ('mount', 1, 'EIO')])


def running(machine):
    containers(machine)
    machine.run('systemctl start web')


def test_exec(machine):
    running(machine)
    run(machine, Operation(
        command='sh -c \'"$@" >/run/shown\' - {} keyturnctl exec web sh -c ' + f"'{SHOW}'",
        result='cat /run/shown',
        undo='rm -f /run/shown'),
        # libcrun waited for a process whose number it did not know
        known=[*(('write', number, 'EIO') for number in range(1, 7)),
               # the command's output went nowhere, or was cut
               *(('fcntl', number, 'EMFILE') for number in range(8, 15)), *(('read', number, 'ENOMEM') for number in range(20, 26))])


def test_copy(machine):
    running(machine)
    machine.run('seq 10000 >/run/numbers')
    run(machine, Operation(
        command='{} keyturnctl cp /run/numbers web:/tmp/numbers',
        result='keyturnctl exec web cat /tmp/numbers',
        failure='! keyturnctl exec web test -e /tmp/numbers || keyturnctl exec web cmp /tmp/numbers - </run/numbers',
        undo='keyturnctl exec web rm -f /tmp/numbers'))


def test_health_check(machine):
    running(machine)
    run(machine, Operation(
        command='systemctl start keyturn-health@web.service',
        services=('keyturn-health@web.service',),
        undo='systemctl reset-failed'))


def generating(machine):
    containers(machine)
    made = 'cd /run/made && for f in $(find . -type f | sort); do echo $f $(sha256sum <$f); done; find . -type l | sort'
    machine.run(f'mkdir /run/made && /usr/lib/systemd/system-generators/keyturn-generator $(yes /run/made | head -n 3); ({made}) >/run/right')
    return Operation(
        command='{} /usr/lib/systemd/system-generators/keyturn-generator /run/made /run/made /run/made',
        # Which filters are made ahead depends on what can be asked; a start looks itself.
        result=f'({made}) | grep -v keyturn-seccomp',
        # A unit is whole, or is not there, or says that it is refused; or it is empty, and nothing that systemd starts.
        failure=f'({made}) | while read -r line; do case $line in *.tmp\\ *|*.service\\ {EMPTY}*) continue;; esac; grep -qxF "$line" /run/right || grep -q "libstart refuse" "/run/made/${{line%% *}}" '
                '|| { echo "$line"; exit 1; }; done',
        undo='rm -rf /run/made/*',
        warns=True)


def test_generator(machine):
    run(machine, generating(machine),
        # no unit, and not a word
        known=[*(('newfstatat', number, 'EIO') for number in range(1, 6)), *(('getdents64', number, 'EIO') for number in range(1, 6))])


def test_memory_of_a_start(machine):
    memory.run(machine, START_BY_HAND)


def test_memory_of_the_generator(machine):
    # What a few small files need is there from the first instruction on.
    machine.container('large', f'[Container]\nImage={BUSYBOX}\n' +
                      ''.join(f'Environment=VARIABLE_{i}="{i:0100}"\n' for i in range(3000)), reload=False)
    memory.run(machine, generating(machine))
