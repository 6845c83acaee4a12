# SPDX-License-Identifier: LGPL-2.1-or-later
"""PodmanArgs=--pid=host: a payload among the machine's processes, its life, and what it can get of keyturn's own."""


BUSYBOX = 'localhost/test/busybox'


def container(machine, name, command, more='', service=''):
    machine.container(name, f'''
        [Container]
        Image={BUSYBOX}
        Network=none
        Exec={command}
        {more}

        [Service]
        {service}
    ''')
    machine.run(f'systemctl start {name}', check=False)


def host_namespace(machine, kind):
    return machine.run(f'readlink /proc/1/ns/{kind}').out.strip()


def test_the_machines_namespaces(machine):
    machine.run('echo of the host >/dev/shm/shared')
    container(machine, 'seen', 'sleep 1000', 'PodmanArgs=--pid=host --ipc=host --uts=host --cidfile=/run/seen.cid\n'
              'HealthCmd=grep -q systemd /proc/1/comm\nHealthInterval=1h', service='KillSignal=SIGKILL')
    pid = machine.show('seen', 'MainPID')
    for kind in ('pid', 'ipc', 'uts'):
        assert machine.run(f'readlink /proc/{pid}/ns/{kind}').out.strip() == host_namespace(machine, kind)
        assert machine.run(f'keyturnctl exec seen readlink /proc/self/ns/{kind}').out.strip() == \
            host_namespace(machine, kind)
    for kind in ('mnt', 'net', 'cgroup'):
        assert machine.run(f'readlink /proc/{pid}/ns/{kind}').out.strip() != host_namespace(machine, kind)
    assert machine.run('keyturnctl exec seen cat /dev/shm/shared').out == 'of the host\n'
    assert machine.run('keyturnctl exec seen hostname').out == machine.run('hostname').out
    assert 'systemd' in machine.run('keyturnctl exec seen cat /proc/1/comm').out
    assert machine.run('keyturnctl exec "$(cat /run/seen.cid)" cat /proc/self/comm').out == 'cat\n'
    machine.wait_for(lambda: '  healthy' in machine.run('keyturnctl health').out)
    # What it must not write to, it does not.
    for path in ('/proc/sys/kernel/hostname', '/proc/sysrq-trigger', '/sys/fs/cgroup/cgroup.procs'):
        assert machine.run(['keyturnctl', 'exec', 'seen', 'sh', '-c', f'echo x >{path}'], check=False).status != 0, path
    machine.run('systemctl stop seen')
    assert machine.run('cat /dev/shm/shared').out == 'of the host\n'
    machine.run('rm /dev/shm/shared')


def test_what_it_leaves_behind_is_killed(machine):
    """There is no namespace that would end with its first process."""
    for name, end in (('stopped', 'sleep 1000'), ('ended', 'sleep 0.3'), ('failed', 'sleep 0.3; exit 7')):
        container(machine, name, f'sh -c "for i in 1 2 3; do setsid sh -c \'trap : TERM; sleep 765 & sleep 764; sleep 763\' & '
                  f'done; sleep 0.2; {end}"', 'PodmanArgs=--pid=host', service='TimeoutStopSec=2')
        if name == 'stopped':
            machine.wait_for(lambda: len(machine.run('pgrep -xf "sleep 76."').out.split()) == 6)
            machine.run('systemctl stop stopped')
        machine.ended(name)
        assert machine.run('pgrep -xf "sleep 76."', check=False).out == '', name
    assert machine.show('failed', 'ExecMainStatus') == '7'


def test_keyturns_own_processes_are_closed_to_it(machine):
    """While secrets are handed over, commands are executed, lines are relayed: it reads nothing of who does that."""
    machine.build('hostile-pid/thief.c', '/srv/thief')
    machine.run('mkdir -p -m 0700 /etc/credstore; echo -n treasure >/etc/credstore/treasure')
    container(machine, 'thief', '/thief', 'PodmanArgs=--pid=host\nVolume=/srv/thief:/thief:ro', 'KillSignal=SIGKILL')
    machine.container('victim', f'''
        [Container]
        Image={BUSYBOX}
        Network=host
        Exec=sleep 1000
        Secret=treasure,type=env treasure
        [Service]
        KillSignal=SIGKILL
        [Unit]
        StartLimitIntervalSec=0
    ''')
    machine.container('plain', f'[Container]\nImage={BUSYBOX}\nNetwork=none\nUser=1234\nExec=sleep 1000\n[Service]\nKillSignal=SIGKILL\n'
                      '[Unit]\nStartLimitIntervalSec=0\n')
    for _ in range(25):
        machine.run('systemctl restart victim plain; keyturnctl exec victim true; keyturnctl exec -u 4321 plain true')
    # In a user namespace below, the thief has every right, to whoever is not closed to it.
    for file in ('/etc/subuid', '/etc/subgid'):
        machine.write(file, 'containers:2147483647:2147483648\n')
    machine.write('/etc/containers/systemd/mates.pod', '[Pod]\nUserNS=keep-id\n[Unit]\nStartLimitIntervalSec=0\n')
    often = f'Image={BUSYBOX}\nExec=sleep 1000\n[Service]\nKillSignal=SIGKILL\n[Unit]\nStartLimitIntervalSec=0\n'
    for name, keys in (('bridged', 'Network=bridge\nUserNS=auto'), ('kept', 'Network=none\nUserNS=keep-id'),
                       ('mapped', 'Network=none\nUIDMap=0:100000:65536'), ('mate', 'Pod=mates.pod')):
        machine.container(name, f'[Container]\n{keys}\n{often}')
    for _ in range(8):
        machine.run('systemctl stop bridged; systemctl restart bridged kept mapped mates-pod mate')
    machine.run('systemctl stop bridged kept mapped mates-pod')
    said = machine.journal('thief')
    assert 'seen keyturn-network' in said, said
    assert 'seen libstart' in said and 'seen keyturn-relay' in said and 'seen keyturnctl' in said, said
    assert 'control: the variables of another payload' in said, said
    assert 'GOT ' not in said, said
    machine.run('systemctl stop thief victim plain')
