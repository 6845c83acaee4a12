# SPDX-License-Identifier: LGPL-2.1-or-later
"""No single system call that fails leads to less protection, to a hang or to something that is left (matrix.py)."""

import os
import random
import re
import sys
import time
from collections import Counter
from dataclasses import replace

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))

import memory  # noqa: E402
import registry  # noqa: E402
from matrix import (KILL, LETS_GO, MEDDLE, MEMORY, NEVER, SHOW, SHOWN, SLOW, STATE, TRACE, Operation, calls_of,  # noqa: E402
                    change, put_before_services, run, set_options)

TEST_SECONDS = 900  # the relay's faults take five seconds each, and twice that beside others
BUSYBOX = 'localhost/test/busybox'
EMPTY = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'  # sha256
# As where TasksMax= or a limit of processes is reached: none can be made from the first, the second ... on.
NO_PROCESS = [('clone,clone3,fork,vfork', f'{number}+', 'EAGAIN') for number in (1, 2, 3)]

START_BY_HAND = Operation(
    command='sh -c \'"$@" >/run/shown\' - {} /usr/lib/keyturn/libstart run --name fault --network none ' +
            f"{BUSYBOX} sh -c '{SHOW}'",
    result='cat /run/shown',
    undo='rm -f /run/shown', lets_go=True)


def test_start_by_hand(machine):
    run(machine, START_BY_HAND, known=[
            NO_PROCESS[0], ('clone', 'CLONE_NEWPID', 'EAGAIN'),
            ('chmod', '/run/keyturn/fault"', 'EIO'),  # /run/keyturn/NAME stayed
            ('flock', '/run/keyturn/fault/', 'EIO'),  # the same
            ('unlink', 'config.json', 'EAGAIN'),  # the same
            ('statfs', '/sys/fs/cgroup', 'EIO'),
            ('umount2', r'"\."', 'EINVAL'),  # the host's root stayed on top of the container's
            ('prctl', 'CAPBSET_DROP, CAP_NET', 'EINVAL'),  # a capability stayed that could not be dropped
            ('dup2', '</run/shown>, ', 'EIO'),  # the end of the copier of its output was waited for, and could not come
            ('write', '<socket:', 'EIO'),  # the container waited for libcrun's pipe for ever
        ],
        # its filter was not written to its end, and that failed under another call's errno
        known_meddling=('short half',))


LIVES = 'sleep 987'


def ends(pattern):
    """A command that succeeds once all whose command line is like that have ended."""
    return f"for i in $(seq 300); do pgrep -f '{pattern}' >/dev/null || exit 0; sleep 0.05; done; pgrep -a -f '{pattern}'; exit 1"


ENDS = ends(f'^{LIVES}')


def test_nothing_runs_on(machine):
    """Where it is said that a payload or a command has failed, also the one that runs has ended; and the name is free again."""
    start = f'/usr/lib/keyturn/libstart run --name fault --network none {BUSYBOX} '
    running(machine)
    for command, faults in (
            (start + LIVES, ('signalfd4:error=EMFILE', 'epoll_create1:error=EMFILE', 'epoll_wait:error=EINVAL', 'wait4:error=ECHILD')),
            (f'keyturnctl exec web {LIVES}', ('epoll_create1:error=EMFILE', 'epoll_wait:error=EINVAL', 'wait4:error=ECHILD:when=2+'))):
        for fault in faults:
            call = fault.partition(':')[0]
            done = machine.run(f'timeout --signal=KILL 20 strace -f -qq -o {TRACE} -e trace={call} -e inject={fault} {command} >/run/shown',
                               check=False, timeout=40)
            assert 'INJECTED' in machine.read(TRACE), fault
            assert done.status == 125 and done.err.strip(), (command, fault, done)
            machine.run(ENDS)
        machine.run(command.replace(LIVES, 'true'))
    machine.run(f"{start}{LIVES} </dev/null >/dev/null 2>&1 & until pgrep -f '^{LIVES}'; do sleep 0.02; done; kill -KILL $!; {ENDS}")
    machine.run(f'{start}true')


def test_a_caller_that_ignores_its_children(machine):
    """Without SIGCHLD nobody can be waited for; it is inherited."""
    run_it = f'/usr/lib/keyturn/libstart run --network none {{}} {BUSYBOX} sh -c "exit {{}}"'
    for command, status in ((run_it.format('', 3), 3), (run_it.format('--detach', 0), 0), ('keyturnctl check', 0)):
        done = machine.run(f'timeout -s KILL 20 env --ignore-signal=CHLD {command} 2>&1 </dev/null', check=False)
        assert done.status == status and 'GLib' not in done.out, (command, done)


def test_killed_where_the_payload_begins(machine):
    """By hand: before the payload has asked to end with libstart; before what has started a detached one is let go on."""
    own = '^/usr/lib/keyturn/libstart'
    for option, call, where in (('', 'close_range', 'enter'), ('--detach', 'rename', 'exit')):
        traced = f'strace -f -qq -o {TRACE} -e trace={call}'
        command = f'/usr/lib/keyturn/libstart run {option} --name fault --network none {BUSYBOX}'
        machine.run(f'{traced} {command} true')
        # The last one of whoever makes it is delayed.
        count = max(Counter(line.split()[0] for line in machine.read(TRACE).splitlines() if call in line).values())
        machine.run('rm -rf /run/keyturn/fault')  # a detached one leaves its status
        machine.run(f'{traced} -e inject={call}:delay_{where}=3s:when={count} {command} {LIVES} </dev/null >/dev/null 2>&1 &')
        machine.wait_for(lambda: machine.run('test -e /run/keyturn/fault/fault/status', check=False).status == 0)
        machine.run(f"kill -KILL $(pgrep -o -f '{own}')")
        if option:
            machine.wait_for(lambda: not machine.run(f"pgrep -f '{own}'", check=False).out)
            machine.run(f"pkill -KILL -f '^{LIVES}'")
        machine.run(f"until ! pgrep -x strace >/dev/null; do sleep 0.05; done; {ENDS}")
        machine.run(f'{command} true')


def test_killed_while_another_is_slow(machine):
    """By hand: who was called is killed at a moment when one of its processes makes a call, which is the payload by and by, or a command."""
    wanted, start = os.environ.get('KEYTURN_FAULTS') or '6', '/usr/lib/keyturn/libstart run {} --name fault --network none ' + BUSYBOX
    chance = random.Random(os.environ.get('KEYTURN_TEST_SEED') or time.strftime('%Y-%m-%d'))
    if not wanted.isdecimal() and wanted not in ('all', 'kill', 'slow'):
        print(f"# nothing of this is KEYTURN_FAULTS='{wanted}'")
        return
    running(machine)
    use_itself(machine, '/usr/bin/keyturnctl')
    for command in (start.format(''), start.format('--detach'), 'keyturnctl exec web'):
        own = f'^{command.split()[0]}'
        calls = calls_of(machine, Operation(command=f'{{}} {command} true', lets_go=True, undo='rm -rf /run/keyturn/fault'))
        every = sorted({(call, number) for call, number, line in calls
                        if call not in NEVER | MEMORY and line.split()[0] != calls[0][2].split()[0]})
        assert len(every) > 20, (command, every)
        for call, number in chance.sample(every, min(len(every), int(wanted))) if wanted.isdecimal() else every:
            machine.run('rm -rf /run/keyturn/fault')
            machine.run(f'strace -f -qq {LETS_GO} -o {TRACE} -e trace={call} -e inject={call}:delay_enter={SLOW}s:when={number} {command} {LIVES} '
                        "</dev/null >/dev/null 2>&1 & "
                        f"while [ -e /proc/$!/exe ] && ! pgrep -f '{own}' >/dev/null; do sleep 0.02; done; "
                        f"sleep {SLOW / 2}; pkill -KILL -o -f '{own}'; "
                        f"until ! pgrep -x strace; do sleep 0.05; done >/dev/null")
            if '--detach' in command:
                machine.run(f"pkill -KILL -f '^{LIVES}'", check=False)
            done = machine.run(ends(f'^{LIVES}|{own}'), check=False)
            assert done.status == 0, (command, call, number, done, machine.read(TRACE))
        machine.run(f'{command} true')


def make_show(machine):
    machine.run('mkdir -p /srv/faults && chmod 0777 /srv/faults')
    machine.write('/srv/faults/show', f'({SHOW}) >/out/shown\n')


def containers(machine):
    """One that uses what is made ahead, and has begun to run once."""
    make_show(machine)
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
        Exec=sh -c 'trap exit TERM; . /out/show; sleep 1000 & wait'
        HealthCmd=test -e /out/shown
        HealthInterval=disable
        """)
    machine.run('systemctl start web && systemctl stop web keyturn-network@web')


def test_start(machine):
    containers(machine)
    run(machine, Operation(
        command='systemctl start web',
        services=('web.service',),
        result=SHOWN,
        undo='systemctl stop web keyturn-network@web; systemctl reset-failed; rm -f /srv/faults/shown',
        undoing=('systemctl stop web keyturn-network@web',),
        using=('systemctl restart web', 'systemctl start web && systemctl restart keyturn-network@web web')),
        # it was said that it runs, and its first process was killed, or libstart's group
        known=[NO_PROCESS[0], *(('wait4', '', error) for error in ('EINTR', 'ECHILD'))],
        known_meddling=('short half',))


def network(machine):
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


def test_network(machine):
    network(machine)
    run(machine, Operation(
        command='systemctl start needs-network',
        services=('keyturn-network@web.service',),
        result='nft list ruleset | grep -c "dport 8080"; ls /run/keyturn/network',
        undo=STOP_NETWORK, undoing=('systemctl stop needs-network keyturn-network@web',),
        using=('systemctl restart keyturn-network@web needs-network',)),
        known=[('rename', '/network/web/', KILL), *NO_PROCESS])


STOP_NETWORK = 'systemctl stop needs-network keyturn-network@web.service shop-network.service; systemctl reset-failed'
# What a network has in the kernel: without the numbers that differ each time.
MADE = r"nft list ruleset | sed 's/counter .*//' | sort; ls /run/keyturn/network /run/keyturn/network/* 2>/dev/null; " \
       'nsenter --net=/run/keyturn/network/web/netns ip -o -4 address | cut -d: -f2'


def test_network_is_described(machine):
    containers(machine)
    run(machine, Operation(
        sample=6,
        command='{} /usr/lib/keyturn/keyturn-network create --name=shelf',
        # In either place.
        result="grep -hoE '\"(driver|subnet|gateway|start_ip|network_interface|dns_enabled)\": [^,]*' "
               '/etc/containers/networks/shelf.json /var/lib/keyturn/networks/shelf.json | sort -u',
        undo='/usr/lib/keyturn/keyturn-network delete --name=shelf; rmdir /var/lib/keyturn/networks; true',
        state=STATE + 'find /etc/containers/networks -type f | sort | xargs sha256sum', again=True),
        # it got another one's subnet and bridge
        known=[*((call, '/networks', 'EIO') for call in ('access', 'getdents64', 'openat', 'read')),
               ('openat', 'containers|netavark|/networks', 'EMFILE'),
               # what was being written stayed
               ('renameat', 'shelf.json', KILL)])


def test_network_for_the_first_time(machine):
    """Its address is remembered. One that could not be is the same the next time."""
    network(machine)
    run(machine, Operation(
        sample=2,
        command='systemctl start needs-network',
        services=('keyturn-network@web.service',),
        before='rm -f /var/lib/keyturn/leases/web',
        result=MADE, undo=f'{STOP_NETWORK}; rm -rf /run/keyturn/network/.leases',
        state=change(STATE, '/cut$ |', '/cut$ | grep -v /leases/web$ |'), again=True),
        # what was being written was another container's address, as long as it was renamed by the first of these
        known=[('rename', '/web/names', KILL), ('renameat', '/leases', KILL)])


def test_network_down(machine):
    """The first of its two processes; the second one finishes what that was at."""
    network(machine)
    run(machine, Operation(
        sample=2,
        command='systemctl stop needs-network keyturn-network@web.service',
        services=('keyturn-network@web.service:ExecStopPost',),
        before='systemctl start needs-network',
        result='nft list ruleset | grep "dport 8080"; ls /run/keyturn/network; ip -o link | grep -c veth; true',
        undo=STOP_NETWORK, never_fails=True, undoing=('systemctl start needs-network; systemctl stop needs-network keyturn-network@web',)),
        # its rules stayed for ever, where netavark could not be run
        known=[('dup2', 'memfd:keyturn-network>.*, 1<', 'EMFILE'), ('close_range', '', 'EIO'), ('fcntl', '<pipe:', KILL),
               # it waited for ever for who makes a namespace
               ('write', 'memfd:keyturn-network>', 'EIO')])


def test_network_reload(machine):
    network(machine)
    run(machine, Operation(
        sample=2,
        command='systemctl reload keyturn-network@web.service',
        services=('keyturn-network@web.service:ExecReload',),
        before='systemctl start needs-network; nft flush ruleset',
        result=MADE, undo=f'{STOP_NETWORK}; nft flush ruleset', again=True),
        # nothing was done, and nobody was told
        known=[('openat', '/run/keyturn/network', 'EMFILE')])


def pod(machine):
    machine.container('shop.network', '[Network]\n', reload=False)
    machine.container('shop.pod', '[Pod]\nNetwork=shop.network\nPublishPort=8081:80\n', reload=False)
    machine.reload()
    machine.run('systemctl start shop-pod && systemctl stop shop-pod')


PINS = 'find /run/keyturn/pod | sort; grep -c /run/keyturn/pod /proc/1/mountinfo; true'
STOP_POD = 'systemctl stop shop-pod shop-network; systemctl reset-failed'


def test_what_others_have_has_to_be_known(machine):
    """An address is given once only, rules are not forgotten, and nobody's network is taken down, where a file cannot be read."""
    network(machine)
    machine.run('systemctl start needs-network')
    state, networks, lock = '/run/keyturn/network', '/etc/containers/networks', '/run/lock/netavark.lock'
    shop, driver = f'{networks}/systemd-shop.json', '/run/containers/networks/firewall/firewall-driver'
    all_made = f'{MADE}; sha256sum {networks}/*; stat -c %i {lock}; cat {driver} || true'
    made = machine.run(all_made).out
    for call, path, what, word in (
            ('?access,?faccessat,?faccessat2', shop, 'create --name=systemd-shop', f"Cannot look for '{shop}'"),
            ('?access,?faccessat,?faccessat2', shop, 'up other --network systemd-shop', f"Cannot look for '{shop}'"),
            ('openat', networks, 'create --name=other', f"Cannot read '{networks}'"),
            ('openat', shop, 'create --name=other', shop),
            ('openat', lock, 'up other --network systemd-shop', f"Cannot use '{lock}'"),
            # Debian 12's netavark has iptables, and makes all rules each time.
            *([('openat', driver, 'up other --network systemd-shop', driver)] if machine.suite != 'bookworm' else []),
            ('openat', f'{state}/web/setup', 'up other --network systemd-shop', 'setup'),
            ('openat', state, 'up other --network systemd-shop', f"Cannot read '{state}'"),
            ('openat', '/var/lib/keyturn/leases', 'up other --network systemd-shop', 'leases'),
            ('openat', f'{state}/web/setup', 'reload web', 'setup'),
            ('openat', f'{state}/web/setup', 'delete --name=systemd-shop', 'setup'),
            ('openat', state, 'delete --name=systemd-shop', f"Cannot read '{state}'")):
        done = machine.run(f'strace {LETS_GO} -f -qq -o {TRACE} -P {path} -e trace={call} -e inject={call}:error=EIO '
                           f'/usr/lib/keyturn/keyturn-network {what}', check=False)
        assert 'INJECTED' in machine.read(TRACE), (what, path)
        assert done.status != 0 and word in done.err, (what, path, done)
        assert not os.path.exists(machine.path(f'{state}/other')), what
        assert machine.run(all_made).out == made, (what, path)
    # What becomes of others is not this one's failure.
    done = machine.run(f'strace {LETS_GO} -f -qq -o {TRACE} -P {state} -e trace=openat -e inject=openat:error=EIO '
                       '/usr/lib/keyturn/keyturn-network reload web')
    assert 'INJECTED' in machine.read(TRACE) and f"interrupted: Cannot read '{state}'" in done.err, done
    assert machine.run(all_made).out == made
    # Another's start asks whether this one is whole; who cannot tell does not take it for broken.
    asked = 0
    for call in ('access', 'faccessat', 'faccessat2'):
        machine.run(f'strace -f -qq -o {TRACE} -P {state}/web/names -e trace={call} -e inject={call}:error=EIO '
                    '/usr/lib/keyturn/keyturn-network up other --network systemd-shop', check=False)
        asked += 'INJECTED' in machine.read(TRACE)
        assert f'{state}/web' in machine.run(f'find {state}').out
        assert 'dport 8080' in machine.run('nft list ruleset').out
        machine.run('/usr/lib/keyturn/keyturn-network down other')
    assert asked > 0
    # Down is done by whoever can read it next.
    path = f'{state}/web/setup'
    done = machine.run(f'strace -f -qq -o {TRACE} -P {path} -e trace=openat -e inject=openat:error=EIO '
                       '/usr/lib/keyturn/keyturn-network down web', check=False)
    assert done.status != 0 and f"'{path}'" in done.err and os.path.exists(machine.path(path)), done
    assert 'dport 8080' in machine.run('nft list ruleset').out
    machine.run('/usr/lib/keyturn/keyturn-network up other --network systemd-shop; /usr/lib/keyturn/keyturn-network down other')
    assert 'dport 8080' not in machine.run('nft list ruleset').out and machine.run(f'ls {state}').out == ''
    machine.run(STOP_NETWORK)


def test_pod(machine):
    pod(machine)
    run(machine, Operation(
        sample=2,
        command='systemctl start shop-pod', services=('shop-pod.service',), result=PINS, undo=STOP_POD, again=True,
        undoing=('systemctl stop shop-pod shop-network',), using=('systemctl restart shop-pod',)),
        # the pod was there, and its namespaces were the machine's
        known=[(call, '', KILL) for call in ('unshare', 'sethostname')])


def test_pod_down(machine):
    pod(machine)
    run(machine, Operation(
        sample=2,
        command='sh -c "systemctl stop shop-pod; ! systemctl is-failed -q shop-pod"', services=('shop-pod.service:ExecStopPost',),
        before='systemctl start shop-pod', result=PINS, again=True,
        # What it could not remove, the next start and stop do.
        undo=f'systemctl start shop-pod; {STOP_POD}'))


def test_volume(machine):
    run(machine, Operation(
        sample=2,
        command='systemctl start keyturn-volume@data.service',
        services=('keyturn-volume@data.service',),
        result='cd /var/lib/containers/storage/volumes && find data -printf "%p %m %U %G\\n"',
        undo='systemctl stop keyturn-volume@data.service; systemctl reset-failed; rm -rf /var/lib/containers/storage/volumes/data',
        again=True))


def test_volume_is_filled(machine):
    """A start by hand with a volume that is new, where the image has something: all of it, with its owners, or none."""
    volume = '/var/lib/containers/storage/volumes/data'
    run(machine, Operation(
        sample=2,
        command='{} /usr/lib/keyturn/libstart run --name fault --network none --volume data:/etc '
                f"{BUSYBOX} sh -c 'echo end'",
        before='systemctl start keyturn-volume@data.service',
        result=f'cd {volume} && find . -printf "%p %y %m %U %G %s %l\\n" | sort',
        undo=f'systemctl stop keyturn-volume@data.service; rm -rf {volume}',
        again=True, warns=True, lets_go=True),
        # what could not be read to its end was taken for all there is, and removed
        known=[('getdents64', '</etc>|/.keyturn-copied>', 'EIO')])


def test_who_has_a_volume_has_to_be_known(machine):
    """It is not removed, nor noted that Podman does not have it, where that could not be found out."""
    volume, libstart = '/var/lib/containers/storage/volumes/data', '/usr/lib/keyturn/libstart volume'
    machine.run('podman volume create data')
    for calls, when, error in NO_PROCESS:
        machine.run(f'strace -f -qq -o {TRACE} -e trace={calls} -e inject={calls}:error={error}:when={when} {libstart} data', check=False)
        assert 'INJECTED' in machine.read(TRACE), when
        is_noted = os.path.exists(machine.path(f'{volume}/.keyturn-asked'))
        assert not is_noted or machine.run('podman volume exists data', check=False).status == 1, when
    machine.run(f'{libstart} data && ! podman volume exists data && test -e {volume}/.keyturn-asked && echo precious >{volume}/_data/file')
    user = machine.run(f'unshare -m sh -c "mount --bind {volume} /mnt; exec sleep 1000" >/dev/null 2>&1 & echo $!; '
                       'until grep -q " /mnt " /proc/$!/mountinfo; do sleep 0.1; done').out.strip()
    for call, path, error in (('openat', f'/proc/{user}/mountinfo', 'EMFILE'), ('getdents64', '/proc', 'EIO')):
        done = machine.run(f'strace -f -qq -o {TRACE} -P {path} -e trace={call} -e inject={call}:error={error} {libstart} --remove data', check=False)
        assert 'INJECTED' in machine.read(TRACE), path
        assert done.status != 0 and '/proc' in done.err, (path, done)
        assert machine.read(f'{volume}/_data/file') == 'precious\n', path
    machine.run(f'kill {user}; while grep -qs . /proc/{user}/mountinfo; do sleep 0.05; done; '
                f'{libstart} --remove data && ! test -e {volume}')


def test_volume_is_unmounted(machine):
    machine.container('disk.volume', '[Volume]\nType=tmpfs\nDevice=tmpfs\n', reload=False)
    machine.reload()
    mounted = 'grep -c systemd-disk /proc/1/mountinfo; true'
    run(machine, Operation(
        sample=2,
        command='sh -c "systemctl stop disk-volume; ! systemctl is-failed -q disk-volume"',
        services=('disk-volume.service:ExecStop',), before='systemctl start disk-volume', result=mounted,
        undo='systemctl start disk-volume; systemctl stop disk-volume; systemctl reset-failed; '
             'rm -rf /var/lib/containers/storage/volumes/systemd-disk', again=True),
        # it stayed mounted, and nobody was told
        known=[('umount2', '/systemd-disk/', 'EIO')])


def test_stop_signal(machine):
    """Of an image, which a unit does not know of: who cannot send it says so, and systemd sends its own."""
    machine.run('mkdir -p /srv/faults')
    machine.container('web', """
        [Container]
        Image=localhost/test/nginx
        Volume=/srv/faults:/out
        Exec=bash -c 'trap "echo QUIT >/out/signal; exit" QUIT; trap "echo TERM >/out/signal; exit" TERM; echo up >/out/signal; while :; do sleep 0.02; done'
        """)
    machine.run('systemctl start web')
    use_itself(machine, '/usr/bin/keyturnctl')
    run(machine, Operation(
        sample=2,
        command='systemctl stop web', services=('keyturn-stop@web.service:ExecStop',),
        before='systemctl start web; until grep -q up /srv/faults/signal; do sleep 0.01; done',
        result='cat /srv/faults/signal', undo='systemctl stop web; systemctl reset-failed', warns=True, never_fails=True),
        # it was left out without a word
        known=[('pidfd_open', '', 'EMFILE'), ('pidfd_send_signal', 'SIGQUIT', 'ENOMEM'),
               # or SIGKILL came at once, or any process with the number was taken for the payload
               ('sendmsg', 'KillSignal|TimeoutStopUSec|ControlGroup', 'EIO'), ('recvmsg', r'"[^"]*/system\.slice/web\.service', 'EIO')])


def test_user_namespace(machine):
    containers(machine)
    run(machine, Operation(
        command='systemctl start keyturn-userns@web.service',
        services=('keyturn-userns@web.service',),
        undo='systemctl stop keyturn-userns@web.service; systemctl reset-failed'),
        # /run/keyturn/userns/web stayed
        known=[('openat', '/run/keyturn/userns/web', 'EMFILE'), ('mount', '/run/keyturn/userns/web', 'EIO'), NO_PROCESS[0]])


def running(machine):
    containers(machine)
    machine.run('systemctl start web')


def test_exec(machine):
    running(machine)
    use_itself(machine, '/usr/bin/keyturnctl')
    run(machine, Operation(
        command='sh -c \'"$@" >/run/shown\' - {} keyturnctl exec web sh -c ' + f"'{SHOW}'",
        result='cat /run/shown',
        undo='rm -f /run/shown', lets_go=True),
        # libcrun waited for a process whose number it did not know
        known=[NO_PROCESS[0], ('write', '<socket:', 'EIO'),
               # the command's output went nowhere, or was cut
               ('fcntl', '(<pipe:|</run/shown>).*(F_SETFL|F_SETPIPE_SZ|F_DUPFD|F_GETFL)', 'EMFILE'), ('read', '<pipe:', 'ENOMEM'),
               # it waited for ever for the command's end
               *(('signalfd4', '', 'EMFILE'), ('wait4', '', 'EINTR'), ('wait4', '', 'ECHILD')), ('read', 'signalfd', 'ENOMEM')])


def test_exec_beside_who_may_trace(machine):
    """libcrun gives up all rights before such a payload sees the process."""
    machine.container('traces', f'[Container]\nImage={BUSYBOX}\nNetwork=none\nAddCapability=CAP_SYS_PTRACE\nExec=sleep 1000\n'
                                '[Service]\nKillSignal=SIGKILL\n')
    machine.run('systemctl start traces')
    use_itself(machine, '/usr/bin/keyturnctl')
    run(machine, Operation(
        sample=6,
        command='sh -c \'"$@" >/run/shown\' - {} keyturnctl exec traces sh -c ' + f"'{SHOW}'",
        result='cat /run/shown',
        undo='rm -f /run/shown', lets_go=True))


def test_exec_has_its_filter(machine):
    """It is looked for ahead; where libcrun then finds none, nothing runs."""
    running(machine)
    done = machine.run(f'strace -f -qq -o {TRACE} -P systemd-web/seccomp.bpf -e trace=openat -e inject=openat:error=ENOENT '
                       "keyturnctl exec web sh -c 'echo ran'", check=False)
    assert 'INJECTED' in machine.read(TRACE)
    assert done.status == 125 and 'seccomp filter' in done.err and done.out == '', done


def test_copy(machine):
    running(machine)
    machine.run('seq 10000 >/run/numbers')
    # Whose the copy is has to be known.
    ids = f"/proc/{machine.run('systemctl show -P MainPID web').out.strip()}/uid_map"
    done = machine.run(f'strace -f -qq -o {TRACE} -P {ids} -e trace=openat -e inject=openat:error=EMFILE '
                       'keyturnctl cp /run/numbers web:/tmp/numbers', check=False)
    assert done.status != 0 and ids in done.err, done
    run(machine, Operation(
        command='{} keyturnctl cp /run/numbers web:/tmp/numbers',
        result='keyturnctl exec web cat /tmp/numbers',
        failure='! keyturnctl exec web test -e /tmp/numbers || keyturnctl exec web cmp /tmp/numbers - </run/numbers',
        undo='keyturnctl exec web rm -f /tmp/numbers'))


def use_itself(machine, program):
    """As a payload could write to it, it would execute a copy of itself, and strace let go of that."""
    machine.run(f'mountpoint -q {program} || {{ mount --bind {program} {program} && mount -o remount,bind,ro {program}; }}')


def test_health_check(machine):
    running(machine)
    use_itself(machine, '/usr/lib/keyturn/libstart')
    run(machine, Operation(
        command='systemctl start keyturn-health@web.service',
        services=('keyturn-health@web.service',),
        undo='systemctl stop keyturn-health@web.service; systemctl reset-failed'),
        # its unfinished record stayed
        known=[('renameat', r'\.health\.json', 'ENOMEM'), NO_PROCESS[0]])


def test_first_health_check(machine):
    """It is run again until it has told systemd that the container is ready, and has started the timer of those that follow:
    one of which succeeds, where the command could not be run."""
    machine.container('web', f'''
        [Container]
        Image={BUSYBOX}
        Exec=sh -c 'trap exit TERM; sleep 1000 & wait'
        HealthCmd=true
        HealthInterval=2s
        Notify=healthy
        [Service]
        TimeoutStartSec=15
        ''')
    use_itself(machine, '/usr/lib/keyturn/libstart')
    machine.write('/run/check', '''
        systemctl start web || exit
        for i in $(seq 100); do systemctl is-active -q keyturn-health-web.timer && exit; sleep 0.1; done
        exit 1
        ''')
    run(machine, Operation(
        command='sh /run/check', services=('keyturn-health@web.service',),
        result='grep -o healthy /run/keyturn/web/.health.json; systemctl is-active keyturn-health-web.timer',
        undo='rm -f /run/faults/options; systemctl stop web keyturn-health@web; systemctl reset-failed; '
             'while pgrep "strace|meddle"; do sleep 0.02; done',
        once=True, never_fails=True, sample=0),  # others fail the check, which may end a payload
        # there was no other one, and not a word
        known=[('openat', r'/proc/\d+/cgroup', 'EMFILE'), ('read', r'/proc/\d+/stat>, "\d', 'EAGAIN'), ('read', r'/proc/\d+/cgroup>, ""', 'ENOMEM'),
               ('statx', r'/proc/\d+/stat>', 'ENOMEM'), ('flock', 'health-plan', 'EIO'), ('pidfd_open', 1, 'EMFILE'),
               ('flock', 'health-plan', KILL), ('renameat', r'\.health\.json', KILL), ('poll', r'\[pidfd\]', 'ENOMEM'),
               # the timer that it could not start was taken for one that runs
               ('poll', '<socket:', 'ENOMEM'), ('connect', '/run/systemd/private', 'EMFILE'), ('connect', '/run/systemd/private', KILL)])


def generating(machine):
    containers(machine)
    made = 'cd /run/made && for f in $(find . -type f | sort); do echo $f $(sha256sum <$f); done; find . -type l | sort'
    machine.run(f'rm -rf /run/made; mkdir /run/made; /usr/lib/systemd/system-generators/keyturn-generator $(yes /run/made | head -n 3); ({made}) >/run/right')
    return Operation(
        command='{} /usr/lib/systemd/system-generators/keyturn-generator /run/made /run/made /run/made',
        # Which filters are made ahead depends on what can be asked; a start looks itself.
        result=f'({made}) | grep -v keyturn-seccomp',
        # A unit is whole, or is not there, or says that it is refused; or it is empty, and nothing that systemd starts. What is
        # made ahead of one that is refused does nothing.
        failure=f'({made}) | grep -v -e keyturn-seccomp -e keyturn-untrusted-paths | while read -r line; do case $line in *.tmp\\ *|*.service\\ {EMPTY}*) continue;; esac; grep -qxF "$line" /run/right || grep -qE "libstart refuse|^ExecStart=/bin/true" "/run/made/${{line%% *}}" '
                '|| { echo "$line"; exit 1; }; done',
        undo='rm -rf /run/made/*',
        warns=True)


def test_generator(machine):
    run(machine, generating(machine),
        # no unit, and not a word
        known=[('newfstatat|fstat', '/etc/containers/systemd', 'EIO'), ('getdents64', '/etc/containers/systemd|/run/keyturn', 'EIO')])


def test_kernel_gives_up_a_program_of_devices(machine):
    """As where a signal is pending, or the process is to be frozen. Once is nothing; for good is a reason to say so."""
    machine.container('beep', f"""
        [Container]
        Image={BUSYBOX}
        AddDevice=-/dev/nothing/
        Exec=sleep 1000
        StopSignal=SIGKILL
        """)
    assert machine.show('beep', 'DevicePolicy') == 'auto'  # so that the start has a program, too
    generate = 'rm -rf /run/made; mkdir /run/made; strace -f -qq -o {} {} /usr/lib/systemd/system-generators/keyturn-generator $(yes /run/made | head -n 3)'
    put_before_services(machine, Operation(command='', services=('beep.service',)))
    for when, is_started in (('1', True), ('1..4', True), ('1+', False)):
        inject = f'-e trace=bpf -e inject=bpf:error=EAGAIN:when={when}'
        machine.run(generate.format(TRACE, inject), check=is_started)
        assert 'INJECTED' in machine.read(TRACE), when
        assert ('CONFIG_CGROUP_BPF' in machine.read('/run/made/beep.service')) != is_started, when
        set_options(machine, inject)
        machine.run(f'rm -f {TRACE}')
        assert (machine.run('systemctl start beep', check=False).status == 0) == is_started, (when, machine.journal('beep'))
        assert 'INJECTED' in machine.read(TRACE), when
        machine.run('systemctl stop beep; systemctl reset-failed')
    assert 'Cannot forbid the service other devices' in machine.journal('beep')


POD = """
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  hostNetwork: true
  containers:
    - name: server
      image: localhost/test/busybox
      command: [sh, -c, "sleep 1000"]
      securityContext: {readOnlyRootFilesystem: true, runAsUser: 5}
      volumeMounts: [{name: data, mountPath: /data}, {name: conf, mountPath: /etc/app}]
      readinessProbe: {exec: {command: ["true"]}}
  volumes:
    - {name: data, emptyDir: {}}
    - {name: conf, configMap: {name: settings}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {a: "1"}
"""


def test_generator_of_an_application(machine):
    machine.container('app.kube', '[Kube]\nYaml=app.yaml\n', reload=False)
    machine.write('/etc/containers/systemd/app.yaml', POD)
    try:
        run(machine, replace(generating(machine), sample=4))
    finally:
        machine.run('rm /etc/containers/systemd/app.*')


def test_filters(machine):
    containers(machine)
    run(machine, Operation(
        sample=4,
        command='systemctl restart keyturn-seccomp', services=('keyturn-seccomp.service',),
        result='cd /run/keyturn/seccomp && for f in $(find . -type f | sort); do echo $f $(sha256sum <$f); done', warns=True,
        undo='systemctl stop keyturn-seccomp; systemctl reset-failed'))
    # libseccomp does not look how much of it was written, and the rest was missing.
    done = machine.run(f'rm -f {TRACE}; {MEDDLE} {TRACE} short write:1 /usr/lib/keyturn/seccomp-precompile '
                       '--filter /usr/share/containers/seccomp.json:0000000000000001 --output /run/cut', check=False)
    assert 'seccomp.bpf' in machine.read(TRACE), done
    assert done.status != 0 and 'has not written all' in done.err and machine.run('find /run/cut -name "*.bpf"', check=False).out == '', done


SHOWS = f"""
    [Container]
    Image={BUSYBOX}
    Network=none
    Volume=/srv/faults:/out
    Exec=sh -c 'trap exit TERM; . /out/show; sleep 1000 & wait'
    """


def test_other_runtime(machine):
    make_show(machine)
    machine.container('web', SHOWS + '[Keyturn]\nRuntime=crun\n')
    run(machine, Operation(
        sample=4,
        command='systemctl start web', services=('web.service',), payload=r'execve\("(/usr/bin/crun|/bin/sh)"',
        result=SHOWN, undo='systemctl stop web; systemctl reset-failed; rm -f /srv/faults/shown'))


def test_hooks(machine):
    make_show(machine)
    machine.write('/opt/hook', '#!/bin/sh\ncat >/dev/null\necho "$1" >>/run/hooked\n', 0o755)
    stages = ('prestart', 'createRuntime', 'createContainer', 'poststart', 'poststop')
    for stage in stages:
        machine.write(f'/usr/share/containers/oci/hooks.d/{stage}.json',
                      f'{{"version":"1.0.0","hook":{{"path":"/opt/hook","args":["hook","{stage}"]}},"when":{{"always":true}},"stages":["{stage}"]}}')
    try:
        machine.container('web', SHOWS)
        stop = 'systemctl stop web; systemctl reset-failed; rm -f /srv/faults/shown /run/hooked'
        run(machine, Operation(
            sample=4,
            command='systemctl start web', services=('web.service',), payload=r'execve\("(/opt/hook|/bin/sh)"',
            result=f'{SHOWN}; sort /run/hooked', undo=stop))
        run(machine, Operation(
            sample=2,
            command='systemctl stop web', services=('web.service:ExecStopPost',), payload=r'execve\("/opt/hook"',
            before='systemctl start web; rm -f /run/hooked', result='sort /run/hooked', undo=stop, warns=True))
    finally:
        machine.run('rm -rf /usr/share/containers/oci/hooks.d /opt/hook')


def test_devices_of_cdi(machine):
    machine.run('mkdir -p /etc/cdi; rm -rf /run/keyturn/cdi')
    for vendor in 'one', 'two':
        machine.write(f'/etc/cdi/{vendor}.yaml',
                      f'cdiVersion: 0.6.0\nkind: {vendor}.com/cam\ndevices:\n  - name: front\n    containerEdits: {{env: [CAM={vendor}]}}\n')
    made = 'find /run/keyturn/cdi -name "*.json" | sort | xargs -r sha256sum'
    machine.run(f'/usr/lib/keyturn/keyturn-cdi && {made} >/run/right')
    try:
        run(machine, Operation(
            sample=4,
            command='{} /usr/lib/keyturn/keyturn-cdi', result=made, again=True,
            failure=f'{made} | (! grep -vxF -f /run/right)', undo='rm -rf /run/keyturn/cdi'))
    finally:
        machine.run('rm -rf /etc/cdi')


APPLICATIONS = '/etc/containers/systemd'


def test_an_application_is_installed(machine):
    """All of the old one is there, or all of the new; and an uninstalled one is gone with the second try."""
    use_itself(machine, '/usr/bin/keyturnctl')
    machine.write('/srv/shop/web.container', f'[Container]\nImage={BUSYBOX}\nEnvironmentFile=./.env\nExec=sleep 1000\n')
    machine.write('/srv/shop/.env', 'A=1\n')
    machine.run('keyturnctl install /srv/shop && mv /srv/shop/.env /srv/shop/env && sed -i s,./.env,./env, /srv/shop/web.container && '
                f'cp -a {APPLICATIONS}/shop /run/old')
    listed = f'cd {APPLICATIONS} && find shop -type f | sort | xargs -r sha256sum'
    state = STATE + f'ls -A {APPLICATIONS} | grep -v "^shop$"'
    old = f'rm -rf {APPLICATIONS}/shop; cp -a /run/old {APPLICATIONS}/shop'
    machine.run(f'({listed}) >/run/old.list; keyturnctl install --replace /srv/shop && ({listed}) >/run/new.list')
    try:
        run(machine, Operation(
            sample=4, command='{} keyturnctl install --replace /srv/shop >/dev/null', before=old, result=listed, state=state, again=True,
            failure=f'({listed}) >/run/now.list; cmp -s /run/now.list /run/old.list || cmp /run/now.list /run/new.list',
            undo=f'rm -rf {APPLICATIONS}/shop'))
        run(machine, Operation(
            sample=4, command='{} keyturnctl uninstall shop >/dev/null', before=f'[ -e {APPLICATIONS}/shop ] || cp -a /run/old {APPLICATIONS}/shop',
            result=f'ls {APPLICATIONS}; true', state=state, again=True, undo='true'))
    finally:
        machine.run(f'rm -rf {APPLICATIONS}/shop /run/old* /run/new.list /run/now.list; systemctl daemon-reload')


# What a pull or an update may leave, beside the rest: an image, a layer, a temporary file.
IMAGES = change(STATE, 'mountinfo |', 'mountinfo | grep -v /storage/overlay$ |') + r"""
cd /var/lib/containers/storage
grep -o '"id":"[0-9a-f]*"' overlay-images/images.json overlay-layers/layers.json | sort
ls overlay | sort
ls -d /var/tmp/container* /var/tmp/storage* 2>/dev/null
cat /run/wrong 2>/dev/null
"""
APP = f'{registry.NAME}/app:1'


def test_pull(machine):
    registry.start(machine)
    registry.push(machine, 'app:1', env=['IS=first'], size=1000)
    machine.run('podman info')  # which is taken where skopeo seems not to be there, makes its directories
    machine.container('one', f'[Container]\nImage={APP}\nNetwork=none\nPull=missing\nStopSignal=SIGKILL\n')
    run(machine, Operation(
        sample=2,
        command='systemctl start keyturn-pull-one.service',
        services=('keyturn-pull-one.service',),
        result=f'skopeo inspect --raw --config containers-storage:{APP}',
        # Without the name it was not ready.
        undo=f'systemctl stop keyturn-pull-one.service; systemctl reset-failed; skopeo delete containers-storage:{APP} || true',
        # Who takes back what does not stay has its lock.
        state=change(IMAGES, '/cut$ |', '/cut$ -e ^/var/lib/keyturn/images/ |'), again=True), known=NO_PROCESS[:1])


def test_what_is_known_of_an_image(machine):
    """A mark that cannot be made leaves nothing, one that cannot be removed is said, and notes that cannot be read are not empty."""
    registry.start(machine)
    registry.push(machine, 'app:1', env=['IS=first'])
    mark, notes = registry.find_mark('app:1'), registry.find_notes('app:1')
    for path, call, status, words in (
            (notes, 'pread64', 125, 'Cannot read what is known of an image'),
            (f'{mark}.new', '/^rename', 125, f"Cannot make '{mark}'"),
            (mark, '/^unlink', 0, f"'{mark}' cannot be removed")):
        done = machine.run(f'strace -f -qq -o {TRACE} -P {path} -e trace={call} -e inject={call}:error=EIO '
                           f'/usr/lib/keyturn/keyturn-image pull --policy=always {APP}', check=False)
        assert 'INJECTED' in machine.read(TRACE) and done.status == status and words in done.err, (path, done)
        assert os.path.exists(machine.path(mark)) == (path == mark) and not os.path.exists(machine.path(f'{mark}.new')), path
    machine.run(f'/usr/lib/keyturn/keyturn-image pull --policy=always {APP}; skopeo delete containers-storage:{APP}')
    assert not os.path.exists(machine.path(mark))


# Its health checks come and go.
UPDATED = change(IMAGES, "'libstart|keyturn|netavark|strace|meddle'", "'keyturnctl|skopeo|strace|meddle'")


def updating(machine, bad=None):
    """A container and its new image. As after each fault comes the next update, the machine is whole after that, or /run/wrong
    says what is not."""
    registry.start(machine)
    registry.push(machine, 'app:1', env=['IS=first'])
    machine.container('one', f"""
        [Container]
        Image={APP}
        Network=none
        Pull=missing
        StopSignal=SIGKILL
        AutoUpdate=registry
        HealthCmd=test $$IS != bad
        HealthInterval=100ms
        HealthRetries=1
        """)
    use_itself(machine, '/usr/bin/keyturnctl')
    machine.run('systemctl start one')
    first = registry.images(machine, APP)[0].removeprefix('sha256:')
    registry.push(machine, 'app:1', env=[f'IS={bad or "second"}'], size=1000)
    right = 'first' if bad else 'second'
    machine.write('/run/next', f"""
        keyturnctl update --watch={2 if bad else 0} >/run/shown 2>&1
        is=$(tr '\\0' '\\n' </proc/$(systemctl show -P MainPID one)/environ | sed -n 's/^IS=//p')
        [ "$(systemctl is-active one) $is" = "active {right}" ] || {{ echo "after the next update: $is"; cat /run/shown; }} >>/run/wrong
        [ ! -e /var/lib/keyturn/images/updating ] || echo updating >>/run/wrong
        """)
    machine.write('/run/reset', f"""
        skopeo copy -q containers-storage:@{first} containers-storage:{APP} || echo "the old image is gone" >>/run/wrong
        rm -f /var/lib/keyturn/images/*
        [ "$1" != restart ] || systemctl restart one
        for id in $(podman images -aq --no-trunc --filter dangling=true); do skopeo delete containers-storage:@${{id#sha256:}}; done
        """)


def test_update(machine):
    updating(machine)
    run(machine, Operation(
        sample=2,
        command='sh -c \'"$@" >/run/shown 2>&1; status=$?; cat /run/shown >&2; exit $status\' - {} keyturnctl update --watch=0 one',
        result="systemctl is-active one; tr '\\0' '\\n' </proc/$(systemctl show -P MainPID one)/environ | grep IS=; ls -A /var/lib/keyturn/pulling",
        undo='. /run/next; sh /run/reset restart; rm -f /run/shown', state=UPDATED, lets_go=True),
        # systemd could not be asked whether it runs, and that was taken for a no
        known=[('sendmsg', 'ActiveState|MainPID', 'EMFILE'), ('recvmsg', r'\\0active\\0', 'EMFILE'), *NO_PROCESS,
               # a good image was rolled back
               ('clone,clone3,fork,vfork', '5+', 'EAGAIN')],
        # what is known of its image was cut
        known_meddling=('short half',))


def test_update_that_is_rolled_back(machine):
    """Its image runs, and is ill: it is neither kept nor tried again, whoever fails or is killed."""
    # Its first check may come late on a busy machine: it is watched until then.
    updating(machine, bad='bad')
    machine.write('/run/again', """
        [ "$(podman images -aq --filter dangling=true)" = "" ] || echo "the image that did not work is there" >>/run/wrong
        keyturnctl update --watch=2 >/run/shown 2>&1
        grep -q "was rolled back" /run/shown || { echo "it is tried again: "; cat /run/shown; } >>/run/wrong
        """)
    run(machine, Operation(
        sample=2,
        command='sh -c \'"$@" >/run/shown 2>&1; cat /run/shown >&2; grep -q "rolled back" /run/shown\' - {} keyturnctl update --watch=2 one',
        result="systemctl is-active one; tr '\\0' '\\n' </proc/$(systemctl show -P MainPID one)/environ | grep IS=; ls -A /var/lib/keyturn/pulling",
        undo='. /run/next; . /run/again; sh /run/reset; rm -f /run/shown', state=UPDATED, lets_go=True))
    # Whether it still has a name was not known, and it stayed without a word. No row: how many calls there are differs.
    conf = '/etc/containers/storage.conf.d'
    update = f'strace {LETS_GO} -f -qq -o {TRACE} -P {conf} -e trace=openat %s keyturnctl update --watch=2 one; '
    dangling = 'podman images -aq --filter dangling=true'
    machine.run(update % '' + 'sh /run/reset')
    # The very last ones are for the store that is written to its disk, and to tell who runs another image.
    last = len(re.findall(r' openat\(', machine.read(TRACE))) - 2
    done = machine.run(update % f'-e inject=openat:error=ENOMEM:when={last}' + dangling)
    assert machine.read(TRACE).count('INJECTED') == 1 and done.out.strip().endswith('see keyturnctl health one.service'), done
    done = machine.run('sh /run/reset; ' + update % f'-e inject=openat:error=ENOMEM:when={last}+' + f'{dangling} | grep .')
    assert 'does not work stays in the store: ' in done.err and conf in done.err, done


# One that writes while the relay is killed and comes back, with what is left of an earlier one, and one that begins then.
RELAY = 'keyturn-relay.service'
LINES = 400
WRITES = 'i=0; while [ $i -lt {0} ]; do i=$((i + 1)); echo $0 $i; done; printf end'


def test_relay(machine):
    """No line is lost, and nobody who writes waits for ever. What is written twice has been written."""
    machine.run('mkdir -p /srv/faults')
    machine.write('/srv/faults/write', f'name=$1; {WRITES.format(LINES).replace("$0", "$name")}\n')
    machine.container('talks', f'''
        [Container]
        Image={BUSYBOX}
        Volume=/srv/faults:/out
        Exec=sh -c '. /out/write talks; until test -e /out/go; do sleep 0.02; done; . /out/write later; exit 0'
        [Service]
        Restart=no
        ''', reload=False)
    machine.container('joins', f'''
        [Container]
        Image={BUSYBOX}
        Volume=/srv/faults:/out
        Exec=sh -c '. /out/write joins'
        ''', reload=False)
    machine.write('/run/speak', '''
        systemctl kill -s KILL keyturn-relay.service
        touch /srv/faults/go
        systemctl start joins
        for unit in talks joins; do
                while systemctl is-active -q $unit; do sleep 0.05; done
        done
        # The last lines may come after the unit's end.
        for i in $(seq 60); do
                journalctl --sync
                [ "$(. /run/said | wc -l)" -ge {lines} ] && break
                sleep 0.1
        done
        '''.replace('{lines}', str(3 * LINES + 3)))
    machine.write('/run/said', 'journalctl -q -o cat -t talks -t joins _TRANSPORT=stdout --after-cursor="$(cat /run/cursor)" '
                               '| grep -E "^(talks|later|joins|end)" | sort | uniq -c | sed "s/^ *[0-9]* //"\n')
    run(machine, Operation(
        command='sh /run/speak', services=(RELAY,),
        # Debian 12's journalctl leaves out the first line of all that match, unless that with the cursor matches, too.
        before='rm -f /srv/faults/go; echo begin | systemd-cat -t talks; journalctl --sync; journalctl -q -n 1 -t talks _TRANSPORT=stdout '
               "--show-cursor | sed -n 's/^-- cursor: //p' >/run/cursor; "
               'rm -f /run/faults/options; systemctl start talks',
        # Last words without a line's end may be said twice, as lines are.
        result='. /run/said | sed -E "s/^(end)+/end/" | sort -Vu',
        undo='touch /srv/faults/go; systemctl stop talks joins; rm -f /run/faults/options; systemctl reset-failed; '
             'systemctl kill -s KILL keyturn-relay.service; systemctl start keyturn-relay.service; '
             'while pgrep "strace|meddle"; do sleep 0.02; done',
        # The relay itself stays, with workers or without.
        state=change(STATE, '| sort\nip', '| grep -v keyturn-relay | sort\nip'),
        once=True, never_fails=True, sample=2),
        # whoever was to be woken was waited for
        known=[('write', 1, 'EIO', '<anon_inode:[eventfd]>'),
               # a look into a pipe that failed was taken for its end
               *(('tee', number, 'EPERM', '<pipe:') for number in (3, 5)),
               # a connection to the journal was taken for a file
               ('newfstatat', 12, 'ENOMEM', '<socket:'),
               # last words were tried for ever, under an id that the kernel does not take; who had just begun was taken for ended
               *(('pidfd_open', number, 'EMFILE') for number in (1, 2)),
               # the wrong end of the store was read, and everybody forgotten
               ('setsockopt', 1, 'ENOMEM', 'SO_PEEK_OFF'), ('recvfrom', 'MSG_PEEK', 'ENOMEM'),
               # last lines were taken for none
               *(('ioctl', number, 'ENOMEM', 'FIONREAD') for number in (1, 2)), *(('tee', number, 'EAGAIN', '<pipe:') for number in (2, 4)),
               # who was being taken over was forgotten
               *(('recvmsg', number, 'EINVAL', '<socket:') for number in (1, 4)),
               *(('fcntl', number, 'EINVAL', '<pipe:') for number in (4, 6, 7, 8))],
        # the next relay did not know whose its pipes are
        known_meddling=('short half',))


def test_a_relay_whose_workers_all_fail_begins_anew(machine):
    """It says so, and the next one passes on what waits; workers are not made as fast as can be meanwhile."""
    machine.container('talks', f"""
        [Container]
        Image={BUSYBOX}
        Exec=sh -c '{WRITES.format(LINES).replace("$0", "talks")}; echo; exec sleep 1000'
        [Service]
        KillSignal=SIGKILL
        """)
    put_before_services(machine, Operation(command='', services=(RELAY,), once=True))
    for fault in ('prctl:error=EPERM', 'tee:signal=KILL'):
        machine.run(f'rm -f {TRACE}')
        since = machine.run("date '+%s.%N'").out.strip()
        said = f'journalctl --sync; journalctl -q -o cat --since=@{since}'
        set_options(machine, f'-e trace={fault.partition(":")[0]} -e inject={fault}')
        machine.run(f'systemctl kill -s KILL {RELAY}; systemctl start {RELAY} talks')
        machine.wait_for(lambda said=said: machine.run(f'{said} -t talks _TRANSPORT=stdout | grep -E "^(talks|end)" | sort -u | wc -l').out ==
                         f'{LINES + 1}\n', 20)
        relay = machine.run(f'{said} -u {RELAY}').out
        assert relay.count('worker after worker') == 1, (fault, relay)
        workers = {line.split()[0] for line in machine.read(TRACE).splitlines() if 'INJECTED' in line or 'killed by SIGKILL' in line}
        assert 3 < len(workers) < 20, (fault, workers)
        machine.run('systemctl stop talks; systemctl reset-failed')
    machine.wait_for(lambda: machine.run('pgrep -x strace', check=False).status != 0)


# What few variables need is there from the first instruction on.
VARIABLES = [f'VARIABLE_{i}={i:0100}' for i in range(3000)]


def test_memory_of_a_start(machine):
    machine.write('/run/variables', '\n'.join(VARIABLES))
    command = START_BY_HAND.command.replace('libstart run', 'libstart run --env-file /run/variables')
    memory.run(machine, replace(START_BY_HAND, command=command))


def test_memory_of_the_generator(machine):
    machine.container('large', f'[Container]\nImage={BUSYBOX}\n' +
                      ''.join(f'Environment={variable}\n' for variable in VARIABLES), reload=False)
    memory.run(machine, generating(machine))

