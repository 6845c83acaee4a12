# SPDX-License-Identifier: LGPL-2.1-or-later
"""What single options promise, beyond what the comparison with Podman sees."""

import contextlib
import itertools
import json
import random

BUSYBOX = 'localhost/test/busybox'


def once(machine, script, container='', service='', image=BUSYBOX, expect=0):
    """What a container of Type=oneshot says, which runs a shell script without double quotes."""
    assert '"' not in script
    machine.container('once', f'''
        [Unit]
        StartLimitIntervalSec=0

        [Container]
        {image if '=' in image else f'Image={image}'}
        Exec=sh -c "{script}; echo :end"
        {container}

        [Service]
        Type=oneshot
        {service}
    ''')
    machine.mark()
    started = machine.run('systemctl start once', check=False)
    if expect == 0:
        assert started.status == 0, machine.journal('once')
        machine.wait_for(lambda: ':end' in machine.journal('once').splitlines())
    elif expect is not None:
        assert machine.show('once', 'ExecMainStatus') == str(expect), container + machine.journal('once')
    return [line for line in machine.journal('once').splitlines()]


def test_a_runtime_directory_of_the_file(machine):
    """keyturn's own is not named in the variable, and what is preserved is in nobody's way."""
    keys = 'Volume=${RUNTIME_DIRECTORY}:/own\nEnvironment=RUNTIME_DIRECTORY=${RUNTIME_DIRECTORY}'
    service = 'RuntimeDirectory=app/own\nRuntimeDirectoryPreserve=yes\n' \
              'ExecStartPre=/bin/sh -c "echo before-{n} >$RUNTIME_DIRECTORY/file-{n}"'
    for n in 1, 2:
        said = once(machine, 'cat /own/*; echo $RUNTIME_DIRECTORY', keys, service.format(n=n))
        assert '/run/app/own' in said and 'before-1' in said and f'before-{n}' in said, said
    machine.container('runs', f'[Container]\nImage={BUSYBOX}\nExec=sleep 1000\nStopSignal=SIGKILL\n'
                              '[Service]\nRuntimeDirectory=kept\nRuntimeDirectoryPreserve=yes\n')
    for _ in range(3):
        machine.run('systemctl start runs')
        assert machine.run('keyturnctl exec runs echo there').out == 'there\n'
        machine.run('systemctl stop runs')
    assert machine.run('ls /run/kept', check=False).status == 0


def test_a_variable_is_one_word(machine):
    """Of none or of many, what follows would be lost as its value, or be the command's: ReadOnly=true among it."""
    for keys, status in (('Environment=$NONE', 125), ('Label=$NONE', 0), ('Label=$MANY', 0), ('Annotation=$MANY', 0), ('Environment=$MANY', 0),
                         ('Volume=$NONE', 125), ('Volume=$HOME/data:/data', 125), ('PodmanArgs=--label $NONE', 0), ('Image=$MANY', 125)):
        said = once(machine, 'touch /file && echo :writable; echo $$A', f'{keys}\nReadOnly=true', 'Environment="MANY=A=localhost/test/busybox sh"',
                    expect=status)
        assert ':writable' not in said, (keys, said)
        assert 'Environment' not in keys or status or 'localhost/test/busybox sh' in said, said
        assert 'HOME' not in keys or "'$HOME/data:/data': $NAME is replaced only where it is all of a word" in '\n'.join(said), said
    machine.write('/etc/containers/systemd/inner.network', '[Network]\nLabel=$NONE\nPodmanArgs=--internal\nSubnet=$SUBNET\n'
                                                           '[Service]\nEnvironment=SUBNET=10.7.0.0/24\n')
    machine.run('systemctl daemon-reload; systemctl start inner-network')
    made = json.loads(machine.read('/etc/containers/networks/systemd-inner.json'))
    assert made['internal'] is True and made['subnets'][0]['subnet'] == '10.7.0.0/24', made
    machine.run('systemctl stop inner-network; rm /etc/containers/systemd/inner.network /etc/containers/networks/systemd-inner.json')


def test_the_hosts_own_file_systems(machine):
    """As programs that watch the machine have them, or toolboxes: the container's cgroup lies over the host's."""
    for keys in 'Volume=/sys:/sys', 'Volume=/sys:/sys:ro', 'Volume=/sys:/sys:rslave', 'Volume=/:/host:ro,rslave\nVolume=/sys:/sys':
        said = once(machine, 'cat /proc/self/cgroup /sys/fs/cgroup/cgroup.procs; ls -d /sys/block; '
                             'mkdir /sys/fs/cgroup/x || echo :kept', keys)
        assert '0::/' in said and '1' in said and '/sys/block' in said and ':kept' in said, (keys, said)
    machine.run('rm -f /dev/core; mv /dev/ptmx /dev/ptmx.link; mknod /dev/ptmx c 5 2')  # as on some machines
    try:
        look = 'find /dev -maxdepth 1 -printf "%p %M %l\\n" | sort'
        before = machine.run(look).out
        for mode, more in itertools.product(('', ':ro', ':rslave'), ('', 'ReadOnly=true', 'Tmpfs=/tmp')):
            said = once(machine, 'ls -d /dev/mqueue/queue; test -c /dev/ptmx && echo :terminals',
                        f'Volume=/dev:/dev{mode}\nPodmanArgs=--ipc=host\n{more}', 'ExecStartPre=touch /dev/mqueue/queue')
            assert '/dev/mqueue/queue' in said and ':terminals' in said, (mode, more, said)
            assert machine.run(look).out == before, (mode, more)
    finally:
        machine.run('rm -f /dev/core; mv -f /dev/ptmx.link /dev/ptmx')


def test_files_named_by_the_service_and_paths_that_look_like_them(machine):
    machine.container('once.volume', '[Volume]\nUser=7\n')
    machine.write('/srv/disk.volume/file', 'on the disk\n')
    said = once(machine, 'stat -c %%u /data; cat /path/file /again/file', 'Volume=%N.volume:/data\nVolume=/srv/disk.volume:/path\n'
                'Mount=type=bind,src=/srv/disk.volume,dst=/again')
    assert '7' in said and said.count('on the disk') == 2, said


def test_what_is_refused_says_why_to_whom_it_fails(machine):
    machine.container('once.network', '[Network]\nSubnet=nonsense\n')
    once(machine, 'true', 'Network=once.network', expect=125)
    assert 'once.network:2: ' in machine.show('once-network', 'StatusText')
    machine.wait_for(lambda: 'once-network.service: /etc/containers/systemd/once.network:2: ' in machine.journal())


def test_umask(machine):
    for keys, service, mask in (('', '', '0022'), ('Umask=0077', '', '0077'), ('', 'UMask=0007', '0007'),
                                ('Umask=0027', 'UMask=0', '0027')):
        said = once(machine, 'umask; touch /tmp/f; stat -c %%a /tmp/f', keys, service)
        assert mask in said and f'{0o666 & ~int(mask, 8):o}' in said, (keys, service, said)
    machine.container('runs', f'[Container]\nImage={BUSYBOX}\nExec=sleep 1000\nStopSignal=SIGKILL\nUmask=0077\n')
    machine.run('systemctl start runs')
    assert machine.run('keyturnctl exec runs sh -c umask').out == '0077\n'
    machine.run('systemctl stop runs')


def test_modules_of_containers_conf(machine):
    """What the container says itself counts more, also of two of the same name."""
    machine.write('/etc/containers/containers.conf.modules/strict.conf', '''
        [containers]
        read_only = true
        umask = "0077"
        default_sysctls = ["net.core.somaxconn=500", "net.ipv4.tcp_keepalive_time=900"]
        default_ulimits = ["nofile=100:200", "core=0"]
        seccomp_profile = "/etc/deny.json"
    ''')
    machine.write('/etc/deny.json', '{"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{"names": ["mkdir", "mkdirat"], '
                                    '"action": "SCMP_ACT_ERRNO", "errnoRet": 42}]}')
    said = once(machine, 'ulimit -n; ulimit -c; umask; cd /proc/sys/net; cat core/somaxconn ipv4/tcp_keepalive_time; '
                         'touch /x; mkdir /tmp/x', '''ContainersConfModule=strict.conf
        Network=none
        Sysctl=net.core.somaxconn=77
        Ulimit=nofile=150:200
        Umask=0027''')
    for line in '150', '0', '0027', '77', '900':
        assert line in said, (line, said)
    assert any('Read-only file system' in line for line in said), said
    assert any(line.startswith('mkdir') and 'No message of desired type' in line for line in said), said


def test_a_module_of_a_pod_and_its_containers(machine):
    """The pod has what they share, each container the rest. A volume's says nothing, but that it is known."""
    machine.write('/etc/containers/containers.conf.modules/all.conf', '''
        [containers]
        umask = "0077"
        default_sysctls = ["net.core.somaxconn=1234"]
        dns_servers = ["192.0.2.7"]
        dns_options = ["ndots:3"]
        shm_size = "3m"
    ''')
    machine.run('chmod 600 /etc/containers/containers.conf.modules/all.conf')
    module = 'ContainersConfModule=all.conf\n'
    machine.write('/etc/containers/systemd/group.pod', f'[Pod]\nNetwork=bridge\n{module}')
    machine.write('/etc/containers/systemd/nothing.volume', f'[Volume]\n{module}')
    for name, more in (('one', module), ('two', '')):
        machine.container(name, f'[Container]\nImage={BUSYBOX}\nPod=group.pod\nExec=sleep 1000\n'
                                f'Volume=nothing.volume:/data\nStopSignal=SIGKILL\n{more}')
    machine.container('alone', f'[Container]\nImage={BUSYBOX}\nExec=sleep 1000\nStopSignal=SIGKILL\n'
                               f'Network=none\n{module}')
    machine.run('systemctl start one two alone')
    for name, umask in (('one', '0077'), ('two', '0022'), ('alone', '0077')):
        said = machine.run(['keyturnctl', 'exec', name, 'sh', '-c', 'umask; cat /proc/sys/net/core/somaxconn; '
                            "df -k /dev/shm | awk 'END { print $2 }'; cat /etc/resolv.conf || true"]).out
        assert said.splitlines()[:3] == [umask, '1234', '3072'], (name, said)
        assert ('nameserver 192.0.2.7' in said and 'ndots:3' in said) == (name != 'alone'), (name, said)
    units = ' '.join(f'/run/systemd/generator/{name}.service' for name in ('one', 'two', 'alone', 'group-pod'))
    assert machine.run(f'stat -c %a {units}').out.split() == ['600'] * 4  # whose DNS it is, nobody else reads
    machine.run('systemctl stop one two alone group-pod nothing-volume')
    machine.run('rm /etc/containers/systemd/group.pod /etc/containers/systemd/nothing.volume; systemctl daemon-reload')


def refused(machine, reason, container, image=BUSYBOX, status=125):
    said = '\n'.join(once(machine, 'true', container, image=image, expect=status))
    assert reason in said, said


def test_host_gateway(machine):
    gateway = 'AddHost=hub;us:host-gateway'
    refused(machine, 'host-gateway (AddHost=, --add-host): the machine has no address yet', gateway)
    for address, family in (('2001:db8:5::7/64', 'ipv6'), ('10.55.0.7/24', 'ipv4'), ('10.55.0.8/24', 'second')):
        machine.run(f'busybox ip addr add {address} dev lo')
        expected = '10.55.0.7' if family != 'ipv6' else '2001:db8:5::7'
        for network in ('host', 'none'):
            said = once(machine, 'cat /etc/hosts', f'Network={network}\n        {gateway}')
            assert f'{expected}\thub us' in said, (family, said)
            assert not any('host.containers.internal' in line for line in said), said
        if machine.suite != 'bookworm':  # whose Podman does not do this with a host's network
            # Of a payload that ends at once Podman may show nothing.
            podman = machine.run('podman run --rm --network=host --log-driver=none "--add-host=hub;us:host-gateway" '
                                 'localhost/test/busybox sh -c "cat /etc/hosts; sleep 0.3"').out.splitlines()
            assert podman[0] == f'{expected}\thub us', podman
    machine.run('for i in 10.55.0.8/24 10.55.0.7/24 2001:db8:5::7/64; do busybox ip addr del $i dev lo; done')


def test_network_none_has_only_lo(machine):
    said = once(machine, 'ls /sys/class/net | tr \'\\n\' .; cat /proc/net/dev | wc -l', 'Network=none')
    assert 'lo.3' in said, said


def test_read_only(machine):
    probe = 'for i in / /tmp /run /var/tmp /dev/shm; do touch $$i/x 2>/dev/null && echo can $$i; done'
    can = [line for line in once(machine, probe, 'ReadOnly=true') if line.startswith('can')]
    assert can == ['can /tmp', 'can /run', 'can /var/tmp', 'can /dev/shm'], can
    can = [line for line in once(machine, probe, 'ReadOnly=true\nReadOnlyTmpfs=false'.replace('\n', '\n        '))
           if line.startswith('can')]
    assert can == [], can


def test_rshared_volume_shares_mounts_made_inside(machine):
    machine.run('mkdir -p /srv/shared /srv/slave')
    try:
        machine.container('mounter', '''
            [Container]
            Image=localhost/test/busybox
            AddCapability=CAP_SYS_ADMIN
            Volume=/srv/shared:/shared:rshared
            Volume=/srv/slave:/slave
            Exec=sh -c "mkdir -p /shared/in /slave/in; mount -t tmpfs x /shared/in && mount -t tmpfs x /slave/in && echo :done; exec sleep 1000"
            StopSignal=SIGKILL
        ''')
        machine.run('systemctl start mounter')
        machine.wait_for(lambda: ':done' in machine.journal('mounter').splitlines())
        mounts = machine.read('/proc/1/mountinfo')
        assert ' /srv/shared/in ' in mounts
        assert ' /srv/slave/in ' not in mounts
        assert '/run/keyturn/mounter' not in mounts, mounts
    finally:
        machine.run('systemctl stop mounter; umount /srv/shared/in', check=False)


def test_a_working_directory_that_a_volume_has_not_is_made_in_it(machine):
    for i, (option, read_only) in enumerate(itertools.product(('rshared', 'rslave', 'rprivate'), ('true', 'false'))):
        machine.run(f'rm -rf /srv/work{i}; mkdir /srv/work{i}')
        said = once(machine, 'pwd', f'ReadOnly={read_only}\n        Volume=/srv/work{i}:/w:{option}\n        WorkingDir=/w/new')
        assert '/w/new' in said and machine.run(f'ls /srv/work{i}').out == 'new\n', (option, read_only, said)


def test_slave_volume_sees_later_mounts_of_the_host(machine):
    machine.run('mkdir -p /srv/late/in')
    machine.container('watcher', '''
        [Container]
        Image=localhost/test/busybox
        Volume=/srv/late:/late:rslave
        Volume=/srv/late:/apart
        Exec=sleep 1000
        StopSignal=SIGKILL
    ''')
    machine.run('systemctl start watcher')
    machine.run('mount -t tmpfs late /srv/late/in')
    try:
        mounts = machine.read(f'/proc/{machine.show("watcher", "MainPID")}/mountinfo')
        assert ' /late/in ' in mounts
        assert ' /apart/in ' not in mounts
    finally:
        machine.run('systemctl stop watcher; umount /srv/late/in')


def test_credentials_by_the_specifier(machine):
    machine.write('/etc/secret', 'the secret\n', 0o600)
    said = once(machine, 'cat /credentials/key', 'Volume=%d:/credentials:ro', 'LoadCredential=key:/etc/secret')
    assert 'the secret' in said, said


def test_first_variable_of_a_secret_file_has_a_specifier(machine):
    """The list of variables then begins with the place of one that is in ExecStart=."""
    name = 'secretive'
    machine.container(name, '''
        [Container]
        Image=localhost/test/busybox
        Environment=NAME=%n
        Environment=PASSWORD=hunter2
        Exec=env

        [Service]
        Type=oneshot
    ''', reload=False)
    machine.run(f'chmod 600 /etc/containers/systemd/{name}.container; systemctl daemon-reload; systemctl start {name}')
    assert {f'NAME={name}.service', 'PASSWORD=hunter2'} <= set(machine.journal(name).splitlines())


def test_rootfs_by_a_variable_of_the_service(machine):
    machine.run('mkdir -p /srv/root/bin /srv/root/etc /srv/root/proc /srv/root/sys /srv/root/dev /srv/root/run && '
                'cp /bin/busybox /srv/root/bin/sh')
    for overlay in ('', ':O'):
        said = once(machine, 'echo from the directory', image='Rootfs=${TREE}' + overlay,
                    service='Environment=TREE=/srv/root')
        assert 'from the directory' in said, said


def test_masks(machine):
    machine.run('mkdir -p /srv/masked/deep && echo secret >/srv/masked/file && touch /srv/masked/deep/x')
    probe = 'cat /data/file; ls /data/deep; wc -l </proc/cpuinfo; grep -q . /proc/interrupts && echo shown; ' \
            'echo x >/proc/sys/kernel/hostname && echo writable; mkdir /sys/fs/cgroup/x && rmdir /sys/fs/cgroup/x && echo made'
    lines = ('Volume=/srv/masked:/data', 'Mask=/data/file:/data/deep /proc/cpuinfo')

    def said(*more):
        return [line for line in once(machine, probe, '\n        '.join(lines + more))
                if line in ('secret', 'x', '0', 'shown', 'writable', 'made')]
    assert said() == ['0'], said()
    # libcrun makes this one, in a root that it has bound onto itself, with copies of all other mounts.
    assert said('Tmpfs=/var/cache/app') == ['0'], said('Tmpfs=/var/cache/app')
    assert said('Unmask=/proc/*') == ['0', 'shown', 'writable']
    assert said('Unmask=/sys/fs/cgroup') == ['0', 'made']
    assert said('Unmask=ALL') == ['0', 'shown', 'writable', 'made']
    # All of it, before a part of it.
    assert said('PodmanArgs=--privileged', 'Mask=/proc:/proc/cpuinfo /sys:/sys/kernel') == []


def test_masks_behind_links(machine):
    """What is at the path hides, wherever a link of the image's leads that: to a mount on another, or to one on a tmpfs."""
    machine.run('rm -rf /srv/linking; mkdir -p /srv/linking/bin && cp /bin/busybox /srv/linking/bin/sh; cd /srv/linking; '
                'mkdir -p x/in m/n u/sub t2; ln -s x l; ln -s x/in li; ln -s ../../x m/n/o; ln -s u t; ln -s ../u t2/l; ln -s sub u/ls; '
                'echo secret | tee u/key >u/sub/key')
    for name in 'abc':
        machine.run(f'rm -rf /srv/{name}; mkdir -p /srv/{name}/in /srv/{name}/v; for i in . in v; do echo secret >/srv/{name}/$i/key; done')
    machine.run('ln -s /x /srv/c/l; ln -s in /srv/c/li')
    tried = []
    for lines, masks in (
            (('Volume=/srv/a:/x', 'Volume=/srv/b:/l'), ('/x/key', '/l/key')),
            (('Volume=/srv/b:/l', 'Volume=/srv/a:/x'), ('/x/key', '/l/key')),
            (('Volume=/srv/a:/x/in', 'Volume=/srv/b:/li'), ('/x/in/key', '/li/key', '/l/in/key')),
            (('Volume=/srv/a:/x/in', 'Volume=/srv/c:/m/n/o'), ('/x/in/key', '/m/n/o/in/key', '/l/in/key')),
            (('Volume=/srv/a:/x', 'Volume=/srv/c:/x/in'), ('/l/in/key', '/x/in/key', '/li/key', '/x/in/l/in/key', '/x/in/li/key')),
            (('Tmpfs=/u',), ('/u/key', '/t/key', '/u/sub/key', '/u/ls/key')),
            (('Tmpfs=/t',), ('/u/key', '/t/key')),
            (('Tmpfs=/t', 'Volume=/srv/a:/t/v'), ('/u/v/key', '/t/v/key')),
            (('Tmpfs=/u', 'Volume=/srv/a:/t/v'), ('/u/v/key', '/t/v/key')),
            (('Tmpfs=/u', 'Volume=/srv/a:/t2/l/v', 'Volume=/srv/b:/u/v'), ('/u/v/key', '/t2/l/v/key')),
            (('Tmpfs=/u', 'Volume=/srv/c:/u/v', 'Volume=/srv/a:/u/v/in'), ('/u/v/in/key', '/t/v/in/key', '/u/v/li/key', '/u/v/l/key')),
            # Not to what is /x below the kernel's directory.
            (('Volume=/srv/a:/x', 'Volume=/srv/c:/proc/fs'), ('/proc/fs/l/key',))):
        for more in ('', 'Tmpfs=/a', 'O'):
            for mask in masks:
                change = [line + ':O' if more == 'O' and line.startswith('Volume') else line for line in lines]
                change += ['Tmpfs=/a'] if more else []
                tried.append((change, mask))
                machine.write(f'/etc/containers/systemd/behind{len(tried)}.container',
                              f'[Container]\nRootfs=/srv/linking:O\nExec=sh -c "cat {mask}; echo :end"\n' +
                              '\n'.join([*change, f'Mask={mask}\n[Service]\nType=oneshot\n']))
    machine.run(f'systemctl daemon-reload; systemctl start $(seq -f behind%g {len(tried)})', check=False)
    for number, (change, mask) in enumerate(tried, 1):
        said = machine.journal(f'behind{number}').splitlines()
        refused_to = any('is not what was mounted there' in line or 'name both paths without links' in line for line in said)
        assert 'secret' not in said and (':end' in said or refused_to), (change, mask, said)
    machine.run('rm /etc/containers/systemd/behind*; systemctl daemon-reload; systemctl reset-failed')
    # Longer than a path may be, and no link of it: how such a one leads to /x/in is to be known, too.
    machine.run('cd /srv/linking; n=$(printf %0200d 0); p=; mkdir deep; ln -s /x/in deep/o; '
                'for i in $(seq 24); do mkdir new; mv deep new/$n; mv new deep; p=$p$n/; [ $i != 12 ] || { ln -s ${p}o deep/r; p=; }; done; '
                'ln -s deep/${p}r far')
    refused(machine, "Cannot mask the container's '/far/key': ", 'Volume=/srv/a:/x\n        Volume=/srv/b:/x/in\n        Mask=/far/key',
            image='Rootfs=/srv/linking:O')


def test_nothing_of_a_start_is_shared_with_the_host(machine):
    machine.run('mkdir -p /srv/sh && touch /srv/sh/secret /srv/sh/full; rm -rf /srv/linking; mkdir -p /srv/linking/bin /srv/linking/srv && '
                'cp /bin/busybox /srv/linking/bin/sh && ln -s srv /srv/linking/l')
    before = machine.read('/proc/1/mountinfo').count('/srv/sh')
    for option, line in (('rshared', 'Mask=/v/secret'), ('shared', 'AddDevice=/dev/full:/v/full')):
        refused(machine, "the mount on '/v' shares", f'Volume=/srv/sh:/v:{option}\n        {line}')
    assert machine.read('/proc/1/mountinfo').count('/srv/sh') == before
    for place, mask, reason in (('/srv/v', '/l/v/secret', "the mount on '/srv/v' shares"), ('/l/v', '/srv/v/secret', "the mount on '/l/v' shares")):
        refused(machine, reason, f'Volume=/srv/sh:{place}:rshared\n        Mask={mask}', image='Rootfs=/srv/linking:O')
    assert machine.read('/proc/1/mountinfo').count('/srv/sh') == before
    # A link that leads elsewhere may be there.
    machine.run('mkdir -p /srv/linking/srv/other && echo word >/srv/linking/srv/other/file')
    said = once(machine, 'echo sees /srv/other/*', 'Volume=/srv/sh:/srv/v:rshared\n        Mask=/l/other', image='Rootfs=/srv/linking:O')
    assert 'sees /srv/other/*' in said, said
    for option in ('rslave', 'rprivate'):
        once(machine, 'true', f'Volume=/srv/sh:/v:{option}\n        Mask=/v/secret\n        AddDevice=/dev/full:/v/full')
        assert machine.read('/proc/1/mountinfo').count('/srv/sh') == before, option


# %z of summer and winter, whatever the image's own zones are.
DATES = "date -d '2024-07-01 12:00' +%%z; date -d '2024-01-01 12:00' +%%z; stat -c %%a:%%F /etc/localtime"


def test_timezone(machine):
    def dates(zone, **more):
        said = once(machine, DATES, f'Timezone={zone}', **more)
        return [line for line in said if line.startswith(('+', '644'))]

    zone, local = ['+0200', '+0100', '644:regular file'], ['+0545', '+0545', '644:regular file']
    machine.run('ln -sf ../usr/share/zoneinfo/Asia/Kathmandu /etc/localtime')
    for image in (BUSYBOX, 'localhost/test/debian'):
        assert dates('Europe/Berlin', image=image) == zone, image
        assert dates('local', image=image) == local, image
    machine.run('rm /etc/localtime')
    refused(machine, "'/etc/localtime' is no zone; name one", 'Timezone=local')
    refused(machine, "There is no time zone 'Moon/Crater'", 'Timezone=Moon/Crater')
    refused(machine, "There is no time zone 'Europe'", 'Timezone=Europe')


def test_timezone_of_a_root_directory(machine):
    machine.run('mkdir -p /srv/zoned/bin /srv/zoned/etc /srv/zoned/proc /srv/zoned/sys /srv/zoned/dev /srv/zoned/run && '
                'for i in sh date; do cp /bin/busybox /srv/zoned/bin/$i; done')
    said = once(machine, 'date +%%z', 'Timezone=Asia/Kathmandu', image='Rootfs=/srv/zoned')
    assert '+0545' in said, said
    machine.run('ln -sf ../usr/share/zoneinfo/Etc/UTC /srv/zoned/etc/localtime')
    refused(machine, 'use Rootfs=DIRECTORY:O', 'Timezone=Asia/Kathmandu', image='Rootfs=/srv/zoned')
    said = once(machine, 'date +%%z', 'Timezone=Asia/Kathmandu', image='Rootfs=/srv/zoned:O')
    assert '+0545' in said, said


def test_files_of_keys_are_not_lost(machine):
    """Where the files that the keys make cannot be seen, there is no start; and without the keys there is."""
    machine.run('mkdir -p /srv/conf /srv/bare/bin /srv/bare/etc /srv/bare/proc /srv/bare/sys /srv/bare/dev /srv/bare/run && '
                'touch /srv/conf/hosts /srv/conf/localtime /srv/conf/resolv.conf && '
                'for i in sh cat; do cp /bin/busybox /srv/bare/bin/$i; done')
    keys = {'hosts': 'AddHost=camera:192.0.2.7', 'localtime': 'Timezone=Asia/Kathmandu', 'resolv.conf': 'DNS=192.0.2.1'}
    for name, key in keys.items():
        for volume in ('/srv/conf:/etc', f'/srv/conf/{name}:/etc/{name}'):
            refused(machine, f"hides the '/etc/{name}'", f'{key}\n        Volume={volume}')
    once(machine, 'true', 'Volume=/srv/conf:/etc')
    for more in ('', 'Tmpfs=/etc', 'Volume=/srv/conf:/etc/deeper'):
        said = once(machine, 'cat /etc/hosts', f'{keys["hosts"]}\n        {more}')
        assert any('192.0.2.7' in line for line in said), (more, said)
    said = once(machine, 'cat /etc/hosts', keys['hosts'], image='Rootfs=/srv/bare')
    assert any('192.0.2.7' in line for line in said), said
    machine.run('cp -a /srv/bare /srv/etc-link && mv /srv/etc-link/etc /srv/etc-link/other && ln -s other /srv/etc-link/etc')
    for key in keys.values():
        refused(machine, "'/etc' of the image is no directory", key, image='Rootfs=/srv/etc-link:O')
    once(machine, 'true', image='Rootfs=/srv/etc-link:O')
    machine.run('rm -f /srv/bare/etc/*; mount --bind /srv/bare /srv/bare && mount -o remount,bind,ro /srv/bare')
    try:
        refused(machine, "Cannot make '/etc/hosts' for AddHost=", keys['hosts'], image='Rootfs=/srv/bare')
        refused(machine, 'use Rootfs=DIRECTORY:O', keys['localtime'], image='Rootfs=/srv/bare')
        once(machine, 'true', image='Rootfs=/srv/bare')
    finally:
        machine.run('umount /srv/bare')


def test_images_by_id_digest_and_short_name(machine):
    inspect = 'podman image inspect --format'
    identity = machine.run(f'{inspect} "{{{{.Id}}}}" localhost/test/busybox').out.strip()
    digest = machine.run(f'{inspect} "{{{{.Digest}}}}" localhost/test/busybox').out.strip()
    for image in (identity, identity[:12], f'localhost/test/busybox@{digest}', 'localhost/test/busybox:latest'):
        assert 'found' in once(machine, 'echo found', image=image), image


def test_additional_image_store(machine):
    machine.run('mkdir -p /srv/extra /srv/empty && mount --bind /var/lib/containers/storage /srv/extra')
    machine.write('/etc/containers/storage.conf', '''
[storage]
driver = "overlay"
graphroot = "/srv/empty"
runroot = "/run/empty"
[storage.options]
additionalimagestores = ["/srv/extra"]
''')
    try:
        assert 'found' in once(machine, 'echo found')
        # As with Podman, the option is in place of the file's stores.
        refused(machine, 'it is not in the image stores', 'PodmanArgs=--storage-opt additionalimagestore=/srv/empty')
        refused(machine, "'/srv/gone' is not there", 'PodmanArgs=--storage-opt additionalimagestore=/srv/gone')
        machine.write('/etc/containers/storage.conf', '[storage]\ndriver = "overlay"\ngraphroot = "/srv/empty"\n')
        refused(machine, 'it is not in the image stores', '')
        for key in 'GlobalArgs', 'PodmanArgs':
            option = f'{key}=--storage-opt=additionalimagestore=/srv/not-there,/srv/extra'
            assert 'found' in once(machine, 'echo found', option)
        assert '/srv/extra' in machine.run('keyturnctl images').out
    finally:
        machine.run('umount /srv/extra')


def test_names_like_others(machine):
    """Of keyturn's own directories, and the instances of a socket with Accept=yes."""
    others = machine.run('ls /run/keyturn').out.split()
    for name in 'seccomp', 'relay', 'x@one.two:3':
        file = name.split('@')[0] + '@' if '@' in name else name
        machine.container(file, f'[Container]\nImage={BUSYBOX}\nNetwork=none\nExec=sleep infinity\nStopSignal=KILL\n',
                          reload=False)
    machine.container('door@', f"""
        [Container]
        Image={BUSYBOX}
        Exec=sh -c "read x; hostname; cat /etc/hosts; echo $$x"
        Network=none

        [Service]
        StandardInput=socket
    """, reload=False)
    machine.unit('door.socket', '[Socket]\nListenStream=127.0.0.1:4711\nAccept=yes\n')
    services = 'seccomp', 'relay', 'x@one.two:3'
    machine.run('systemctl start ' + ' '.join(f"'{name}'" for name in services) + ' door.socket')
    for name in services:
        assert machine.run(['keyturnctl', 'exec', name, 'echo', 'inside']).out == 'inside\n'
    filters = machine.run('ls /run/keyturn/seccomp').out
    assert '.bpf' in filters and 'status' not in filters, filters
    said = machine.run(['perl', '-MIO::Socket::INET', '-e', '$s = IO::Socket::INET->new("127.0.0.1:4711") or die $!; '
                        'print $s "hey\n"; print <$s>']).out.splitlines()
    assert said[-1] == 'hey' and f'127.0.0.1\t{said[0]}' in said and not any('door' in line for line in said), said
    machine.run('systemctl stop door.socket ' + ' '.join(f"'{name}'" for name in services))
    assert machine.run('ls /run/keyturn/seccomp').out == filters
    machine.wait_for(lambda: not set(machine.run('ls /run/keyturn').out.split()) - {'relay', 'seccomp', *others})


def test_mistakes_have_reasons(machine):
    refused(machine, '/srv/nowhere', '', image='Rootfs=/srv/nowhere')
    refused(machine, '/etc/no.env', 'EnvironmentFile=/etc/no.env')
    refused(machine, '/srv/none', 'Mount=type=bind,source=/srv/none,destination=/x')
    refused(machine, 'nobody-knows', 'User=nobody-knows')
    refused(machine, "no group 'nobody-knows'", 'GroupAdd=nobody-knows')
    refused(machine, "'/not/there'", 'WorkingDir=/not/there', status=126)
    refused(machine, "'/bin/busybox'", 'WorkingDir=/bin/busybox', status=126)


def test_start_judges_what_the_generator_cannot_know(machine):
    """Values with specifiers, by the same rules: %t is /run."""
    volume = 'Volume=%t:/data'
    refused(machine, "Two different mounts are to be on '/data'", f'Volume=/srv:/data\n        {volume}')
    refused(machine, "'idmap': the container has no user namespace", f'{volume}:idmap')
    refused(machine, "'idmap=uids=@0-0-1;gids=@0-0-1': a @ is", f'{volume}:idmap=uids=@0-0-1;gids=@0-0-1')
    refused(machine, "no file can be on '/proc/x'", 'Secret=%p,target=/proc/x')
    refused(machine, "hides the '/etc/hosts'", 'AddHost=camera:192.0.2.7\n        Volume=%t:/etc')
    once(machine, 'true', f'Volume=/run:/data\n        {volume}/')


def test_working_directory_in_a_volume_or_behind_a_link(machine):
    machine.run('mkdir -p /srv/work/deep')
    assert '/work/deep' in once(machine, 'pwd', 'Volume=/srv/work:/work\n        WorkingDir=/work/deep')
    assert '/tmp' in once(machine, 'pwd', 'WorkingDir=/root/../tmp')


@contextlib.contextmanager
def devices(machine):
    """/dev/camera is the kernel's log under another name and owner; /dev/other is a device that nobody asks for."""
    machine.run('mknod -m 640 /dev/camera c 1 11; chown 1500:1501 /dev/camera; mknod -m 666 /dev/other c 10 229; '
                'mkdir /dev/by-id; ln -s ../camera /dev/by-id/usb-camera; ln -s ../nothing /dev/by-id/usb-nothing')
    try:
        yield
    finally:
        machine.run('rm -rf /dev/camera /dev/other /dev/by-id')


PROBE = ('for i in /dev/camera /dev/video0 /dev/deep/er /srv/x /dev/other; do [ -e $$i ] || continue; '
         'dd if=$$i of=/dev/null bs=8192 count=1 2>/dev/null && echo can read $$i; true >$$i && echo can write $$i; '
         'stat -c %%A.%%u.%%g.%%t.%%T $$i; done 2>/dev/null')
READ_LOG = 'AddCapability=SYSLOG'  # and not only root on some machines


def probe(machine, *container, service=''):
    said = once(machine, PROBE, '\n        '.join((READ_LOG, *container)), service)
    return [line for line in said if line.startswith('c')]


NODE = 'crw-r-----.1500.1501.1.b'


def test_device_is_the_hosts(machine):
    with devices(machine):
        for more in ('', 'Tmpfs=/first', 'ReadOnly=true\n        ReadOnlyTmpfs=false'):
            said = probe(machine, 'AddDevice=/dev/camera', more)
            assert said == ['can read /dev/camera', 'can write /dev/camera', NODE], (more, said)
        changed = once(machine, 'chmod 666 /dev/camera || echo no; chown 0 /dev/camera || echo no', 'AddDevice=/dev/camera')
        assert changed.count('no') == 2, changed
        assert machine.run('stat -c %A.%u.%g /dev/camera').out == 'crw-r-----.1500.1501\n'


def test_device_has_the_hosts_owner_and_mode(machine):
    with devices(machine):
        assert probe(machine, 'AddDevice=/dev/camera', 'User=1500:1') == ['can read /dev/camera', 'can write /dev/camera', NODE]
        assert probe(machine, 'AddDevice=/dev/camera', 'User=1:1501') == ['can read /dev/camera', NODE]
        assert probe(machine, 'AddDevice=/dev/camera', 'User=1:1', 'GroupAdd=1501') == ['can read /dev/camera', NODE]
        assert probe(machine, 'AddDevice=/dev/camera', 'User=1:1') == [NODE]


def test_device_elsewhere_and_nothing_else(machine):
    """A volume brings the node of another device, and systemd forbids it. It allows devices, not paths."""
    other = 'crw-rw-rw-.0.0.a.e5'
    with devices(machine):
        assert probe(machine, 'AddDevice=/dev/camera:/dev/video0:r', 'Volume=/dev/other:/dev/other') == [
            'can read /dev/video0', NODE, other]
        assert probe(machine, 'AddDevice=/dev/camera:/dev/deep/er:w') == ['can write /dev/deep/er', NODE]
        assert probe(machine, 'AddDevice=-/dev/camera:/srv/x -/dev/camera:/dev/video0:r') == [
            'can read /dev/video0', 'can write /dev/video0', NODE, 'can read /srv/x', 'can write /srv/x', NODE]
        assert probe(machine, 'PodmanArgs=--device=/dev/camera:/dev/video0:m') == [NODE]
        assert probe(machine, 'Volume=/dev/camera:/dev/camera') == [NODE]
        assert probe(machine, 'AddDevice=/dev/camera:r', service='DeviceAllow=/dev/other w\n        DevicePolicy=auto') == [
            'can read /dev/camera', NODE]


def test_device_node_of_an_image(machine):
    """It is of no use: the kernel does not open it, as its mount is nodev, and systemd forbids the device."""
    machine.run('c=$(podman create localhost/test/busybox) && m=$(podman mount $c) && mknod -m 666 $m/log c 1 11 && '
                'mknod -m 666 $m/zero c 1 5 && podman umount $c && podman commit -q $c localhost/test/nodes')
    try:
        # Of both kinds: systemd forbids the log, and allows zero to everybody.
        tries = ('mount -o remount,dev / && echo can change; mknod /dev/mine c 1 11 && echo can make; '
                 'for i in /log /zero; do [ -c $$i ] && echo is there; head -c1 $$i >/tmp/x && echo can read $$i; done; '
                 'head -c1 /dev/zero >/dev/null && echo has its own')
        for more, can in (('', []), ('Tmpfs=/tmp', []),
                          ('AddCapability=SYS_ADMIN MKNOD SYSLOG', ['can change', 'can read /zero'])):
            said = once(machine, tries, more, image='localhost/test/nodes')
            assert said.count('is there') == 2 and 'has its own' in said, said
            assert [line for line in said if line.startswith('can ')] == can, (more, said)
    finally:
        machine.run('podman rmi -f localhost/test/nodes; podman rm -af')


def test_device_behind_a_link(machine):
    with devices(machine):
        both = ['can read /dev/camera', 'can write /dev/camera', NODE]
        assert probe(machine, 'AddDevice=/dev/by-id/usb-camera') == both  # where Podman has it, too
        assert probe(machine, 'AddDevice=/dev/by-id/usb-camera:/dev/video0:rw') == [
            line.replace('camera', 'video0') for line in both]


def test_devices_with_odd_names(machine):
    with devices(machine):
        machine.run(['ln', '-s', '../camera', r'/dev/by-id/a"\x20;50%ü'])
        assert probe(machine, r"""AddDevice='/dev/by-id/a"\x20;50%%ü:/dev/video0:r'""") == ['can read /dev/video0', NODE]


def test_device_that_is_none(machine):
    with devices(machine):
        assert probe(machine, 'AddDevice=-/dev/nothing -/dev/by-id/usb-nothing:/dev/video0') == []
        refused(machine, "'/dev/nothing' is not there", 'AddDevice=/dev/nothing')
        refused(machine, r'BindsTo=dev-by\x2did-usb\x2dnothing.device', 'AddDevice=/dev/by-id/usb-nothing')
        refused(machine, "'/dev/by-id' is a directory", 'AddDevice=-/dev/by-id')
        machine.run('touch /dev/by-id/file')
        refused(machine, "'/dev/by-id/file' is no device", 'AddDevice=/dev/by-id/file')


def test_device_that_the_unit_forbids(machine):
    with devices(machine):
        machine.write('/etc/systemd/system/once.service.d/less.conf', '[Service]\nDeviceAllow=\n')
        refused(machine, "not allowed to use the device '/dev/camera' (rw)", 'AddDevice=/dev/camera:rw')


def test_device_of_an_instance_seen_by_exec(machine):
    with devices(machine):
        machine.container('cam@', '''
            [Container]
            Image=localhost/test/busybox
            Exec=sleep 1000
            AddDevice=%f:/dev/video0:r
            AddDevice=-/dev/nothing-%i
            StopSignal=SIGKILL
        ''')
        machine.run('systemctl start cam@dev-camera')
        for words in ('keyturnctl exec cam@dev-camera',
                      'crun --root /run/keyturn/cam@dev-camera exec systemd-cam_dev-camera'):
            assert machine.run(f'{words} stat -c %A.%u.%g.%t.%T /dev/video0').out.strip() == NODE
        assert '"destination":"/dev/video0"' in machine.read('/run/keyturn/cam@dev-camera/systemd-cam_dev-camera/config.json')


def test_debian_shell(machine):
    said = once(machine, 'apt-get --version | head -1; ls / | wc -l', image='localhost/test/debian')
    assert any(line.startswith('apt ') for line in said), said


def test_redis_serves(machine):
    """Also with ReadOnly=, as its image has a VOLUME to save to; what is there is redis' own."""
    save = r"printf 'SET camera on\r\nGET camera\r\nSAVE\r\nQUIT\r\n' | busybox nc 127.0.0.1 6379"
    for file in ('/etc/subuid', '/etc/subgid'):
        machine.write(file, 'containers:2147483647:2147483648\n')
    for more in ('', 'ReadOnly=true\nReadOnlyTmpfs=false', 'ReadOnly=true\nUserNS=auto'):
        machine.container('redis', f'[Container]\nImage=localhost/test/redis\n{more}\n')
        machine.run('systemctl start redis')
        machine.wait_for(lambda: '\non\n+OK\n' in machine.run(save, check=False).out.replace('\r', ''))
        where = machine.run(r"printf 'CONFIG GET dir\r\nQUIT\r\n' | busybox nc 127.0.0.1 6379").out.replace('\r', '').split()
        saved = f'{where[4]}/dump.rdb'
        assert machine.run(f'keyturnctl exec redis test -s {saved}', check=False).status == 0, saved
        assert not more or machine.run('keyturnctl exec redis touch /var/lib/x', check=False).status != 0
        machine.run('systemctl stop redis')
        assert machine.show('redis', 'Result') == 'success', machine.journal('redis')


def test_five_thousand_variables(machine):
    """They are not in ExecStart=, except those that systemd has a part in; each is there, in its order."""
    random.seed(7)
    variables = [(''.join(random.choices('ABCDEFGHIJKLMNOPQRSTUVWXYZ', k=10)),
                  ''.join(random.choices('abcdefghijklmnopqrstuvwxyz0123456789_', k=20))) for _ in range(5000)]
    variables[17] = ('SPACED', ' a  "b" \\ c')
    variables[4000] = ('PERCENT', '50%')
    lines = [f'Environment="{name}=' + value.replace('\\', '\\\\').replace('"', '\\"').replace('%', '%%') + '"'
             for name, value in variables]
    lines.insert(2500, 'Environment=UNIT=%N')
    variables.insert(2500, ('UNIT', 'large'))
    machine.container('large', '[Container]\nImage=localhost/test/busybox\nExec=env\n' + '\n'.join(lines) +
                      '\n[Service]\nType=oneshot\nRemainAfterExit=yes\n')
    assert len(machine.show('large', 'ExecStart')) < 4000
    machine.run('systemctl start large')
    expected = [f'{name}={value}' for name, value in sorted(dict(variables).items())]  # as Quadlet has them
    out = machine.wait_for(lambda: expected[-1] in (text := machine.journal('large')).splitlines() and text)
    names = {line.split('=')[0] for line in expected}
    found = [line for line in out.splitlines() if line.split('=')[0] in names]
    wrong = [(f, e) for f, e in zip(found, expected) if f != e]
    assert len(found) == len(expected) and not wrong, (len(found), len(expected), wrong[:3])
    # What is made by hand of a lost file says so.
    machine.run('systemctl stop large; rm /run/systemd/generator/large.env')
    assert machine.run('systemctl start large', check=False).status != 0
    assert 'large.env' in machine.journal('large')
