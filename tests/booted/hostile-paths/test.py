# SPDX-License-Identifier: LGPL-2.1-or-later
"""Paths as a weapon: what a payload or an image writes, where the host or another container then looks.

Each test runs the attack itself, on a machine that has been booted.
"""

import itertools
import os
import re
import time


def listens(machine, port):
    """On any address. Connections of an earlier test may still be there, waiting for their end."""
    lines = machine.run('tail -qn +2 /proc/1/net/tcp /proc/1/net/tcp6').out.splitlines()
    return any(local.endswith(f':{port:04X}') and state == '0A' for _, local, _, state, *_ in map(str.split, lines))


def test_a_port_published_on_loopback_is_not_open_to_the_world(machine):
    machine.container('published', '''
        [Container]
        Image=localhost/test/busybox
        PublishPort=127.0.0.1:8080:80
        Exec=nc -l -p 80
    ''')
    machine.run('systemctl start published')
    assert not listens(machine, 80), 'something listens on port 80 of the host'
    rules = machine.run('iptables-save -t nat; nft list ruleset', check=False).out
    published = [line for line in rules.splitlines() if re.search(r'dport 8080\b.*(--to-destination|dnat .*to )', line)]
    assert published and all('127.0.0.1' in line for line in published), rules


def test_a_port_with_the_hosts_network_is_the_programs(machine):
    machine.container('published', '''
        [Container]
        Image=localhost/test/busybox
        Network=host
        PublishPort=81:81
        Exec=nc -l -p 81
    ''')
    machine.run('systemctl start published')
    machine.wait_for(lambda: listens(machine, 81))


# ---- nothing of a start depends on luck

RENAMING = '''
    [Service]
    ExecStart=perl -e 'chdir "/dev/shm"; open F, ">one"; while (1) { rename "one", "other"; rename "other", "one" }'
'''


def make_root(machine, path, *commands):
    """A root directory with a shell, and what the commands put into it, which run in there."""
    machine.run(f'rm -rf {path} && mkdir -p {path}/bin {path}/etc {path}/proc {path}/sys {path}/dev {path}/tmp && '
                f'cp /bin/busybox {path}/bin/ && ln -s busybox {path}/bin/sh && cd {path}')
    for command in commands:
        machine.run(f'cd {path} && {command}')


def test_a_process_that_renames_keeps_no_container_from_starting(machine):
    """A look-up through '..' fails with EAGAIN whenever something is renamed meanwhile."""
    links = 'mkdir -p srv/real etc && ln -s ../srv/../etc/../srv/real srv/linked'
    make_root(machine, '/srv/linking', links)
    volumes = ''.join(f'            Volume=/srv/volume:/srv/linked/{n}\n' for n in range(20))
    machine.run('mkdir -p /srv/volume')
    machine.unit('renaming', RENAMING)
    machine.container('lucky', f'''
            [Container]
            Rootfs=/srv/linking:O
            Exec=sh -c "sleep 1000"
{volumes}''')
    machine.run('systemctl start renaming')
    for _ in range(20):
        machine.run('systemctl start lucky')
        machine.run('systemctl kill --signal=KILL lucky; systemctl stop lucky; systemctl reset-failed lucky',
                    check=False)
    assert machine.show('renaming', 'ActiveState') == 'active'


# ---- links in the host's paths that payloads can write to

SECRET = 'NAME=the-hosts-own'


def attack(machine, text, *, volume='Volume=/srv/data:/data', payload, link='/data/sub', to='/',
           attacker='attacker'):
    """Lets one container put a link into its volume, then starts the victim; returns what that one said.

    `text` is what is in the victim's [Container] besides, `payload` what it runs: a shell's line.
    """
    machine.run(f'rm -rf /srv/data/*; mkdir -p /srv/data/sub /srv/data/root && echo {SECRET} >/root/secret')
    machine.container(attacker, f'''
        [Container]
        Image=localhost/test/busybox
        {volume}
        StopSignal=KILL
        Exec=sh -c "rm -rf {link}; ln -s {to} {link}; sleep 1000"
    ''')
    host_link = machine.path('/srv/data' + link[len('/data'):])
    machine.container('victim', f'''
[Unit]
After={attacker}.service
[Container]
{text}
Exec=sh -c "{payload}"
[Service]
Type=oneshot
''')
    machine.run(f'systemctl restart {attacker}')
    machine.wait_for(lambda: os.path.islink(host_link))
    machine.mark()
    machine.run('systemctl start victim', check=False)
    return machine.journal('victim.service')


def test_a_link_in_anothers_volume_leads_nowhere(machine):
    """CVE-2017-1002101 of Kubernetes, in a file: a volume inside of another container's."""
    said = attack(machine, 'Image=localhost/test/busybox\nVolume=/srv/data/sub:/x', payload='cat /x/root/secret')
    assert SECRET not in said, said
    assert "'/srv/data/sub' is a link, which is not followed, as a container can write to '/srv/data'" in said, said


def test_a_link_on_the_way_leads_nowhere(machine):
    said = attack(machine, 'Image=localhost/test/busybox\nMount=type=bind,src=/srv/data/sub/root,dst=/x,ro',
                  payload='cat /x/secret')
    assert SECRET not in said and "'/srv/data/sub' is a link" in said, said


def test_a_file_that_became_a_link_leads_nowhere(machine):
    said = attack(machine, 'Image=localhost/test/busybox\nVolume=/srv/data/sub:/x', payload='cat /x', to='/root/secret')
    assert SECRET not in said and "'/srv/data/sub' is a link" in said, said


def test_another_way_to_the_same_volume_is_no_way_around(machine):
    """The attacker's file names the directory by one path, the victim's by another, both the administrator's."""
    machine.run('mkdir -p /srv/data /srv/bound && ln -sfn /srv/data /srv/led && mount --bind /srv/data /srv/bound')
    try:
        for path in ('/srv/led/sub', '/srv/bound/sub'):
            said = attack(machine, f'Image=localhost/test/busybox\nVolume={path}:/x', payload='cat /x/root/secret')
            assert SECRET not in said and 'is a link' in said, said
        said = attack(machine, 'Image=localhost/test/busybox\nVolume=/srv/data/sub:/x', payload='cat /x/root/secret',
                      volume='Mount=type=bind,src=/srv/led,dst=/data')
        assert SECRET not in said and 'is a link' in said, said
    finally:
        machine.run('umount -l /srv/bound; rm /srv/led')


def drop_volume(machine, name):
    machine.run(f'systemctl stop attacker {name}-volume; rm -r /var/lib/containers/storage/volumes/systemd-{name}', check=False)


def test_a_directory_by_the_name_of_a_volume_is_no_way_around(machine):
    """The attacker has it as a .volume file's Device=, the victim by its path; and the other way round."""
    bound = ('Type=bind', 'Type=none\nOptions=noatime,rbind')
    for options in bound:
        machine.write('/etc/containers/systemd/bound.volume', f'[Volume]\nDevice=/srv/data\n{options}\n')
        said = attack(machine, 'Image=localhost/test/busybox\nVolume=/srv/data/sub:/x', payload='cat /x/root/secret',
                      volume='Volume=bound.volume:/data')
        drop_volume(machine, 'bound')
        assert SECRET not in said and "'/srv/data/sub' is a link" in said, said
    machine.run('rm /etc/containers/systemd/bound.volume')
    for options in bound:
        machine.write('/etc/containers/systemd/below.volume', f'[Volume]\nDevice=/srv/data/sub\n{options}\n')
        said = attack(machine, 'Image=localhost/test/busybox\nVolume=below.volume:/x', payload='cat /x/root/secret')
        assert SECRET not in said, said
        said = machine.journal('below-volume.service')
        assert "'/srv/data/sub' is a link, which is not followed" in said, said
        machine.run('rm /srv/data/sub; mkdir /srv/data/sub; echo NAME=inside >/srv/data/sub/file; systemctl start victim', check=False)
        assert machine.run('cat /var/lib/containers/storage/volumes/systemd-below/_data/file').out == 'NAME=inside\n'
        drop_volume(machine, 'below')


def test_who_exchanges_a_device_before_it_is_mounted_gets_nothing(machine):
    """What is no bind is mounted by its name; a file system's own program stands for a mount(8) that comes late."""
    machine.write('/usr/sbin/mount.disk', '#!/bin/sh\ntouch /srv/data/go\nfor i in $(seq 100); do test -L "$1" && break; sleep 0.02; done\n'
                                          'exec mount --bind "$1" "$2"\n', mode=0o755)
    machine.container('attacker', '''
        [Container]
        Image=localhost/test/busybox
        Volume=/srv/data:/data
        StopSignal=KILL
        Exec=sh -c "until test -e /data/go; do :; done; mv /data/disk /data/was; ln -s / /data/disk; sleep 1000"
    ''')
    for device in ('/srv/data/disk', '/srv/data/disk/../disk', '/srv/led/disk'):
        machine.run(f'rm -rf /srv/data/*; mkdir -p /srv/data/disk /srv/other && ln -sfn data /srv/led && echo {SECRET} >/root/secret')
        machine.write('/etc/containers/systemd/late.volume', f'[Volume]\nType=disk\nDevice={device}\n')
        machine.container('victim', '''
            [Container]
            Image=localhost/test/busybox
            Volume=late.volume:/x
            Exec=sh -c "cat /x/root/secret"
            [Service]
            Type=oneshot
        ''')
        machine.run('systemctl restart attacker; systemctl start victim', check=False)
        said = machine.journal('victim.service') + machine.journal('late-volume.service')
        assert SECRET not in said, (device, said)
        assert "is mounted by its name, and a container can write to '/srv/" in said, (device, said)
        drop_volume(machine, 'late')
    # Where none can write, it is mounted; also the volume itself, whose name no payload can exchange.
    for device in ('/srv/other', '/srv/data/../other', '/srv/data'):
        machine.run('rm -rf /srv/data/* && echo NAME=other | tee /srv/other/secret >/srv/data/secret')
        machine.write('/etc/containers/systemd/late.volume', f'[Volume]\nType=disk\nDevice={device}\n')
        machine.reload()
        machine.run('systemctl start late-volume')
        assert machine.run('cat /var/lib/containers/storage/volumes/systemd-late/_data/secret').out == 'NAME=other\n'
        drop_volume(machine, 'late')
    machine.run('rm -r /usr/sbin/mount.disk /srv/led /srv/other /etc/containers/systemd/late.volume')


def test_a_link_in_an_overlays_directories_leads_nowhere(machine):
    """They stand among the options of a .volume file, and the kernel follows links in them; those that are written to count as such."""
    machine.run('mkdir -p /srv/other /srv/fs && mount -t tmpfs tmpfs /srv/fs && mkdir -m 0777 /srv/fs/up /srv/fs/work && '
                'echo NAME=below >/srv/other/file')
    layers = ('lowerdir=/srv/other:/srv/data/sub', 'lowerdir=/srv/other,upperdir=/srv/data/sub/x,workdir=/srv/fs/work')
    for options in layers:
        machine.write('/etc/containers/systemd/laid.volume', f'[Volume]\nType=overlay\nDevice=overlay\nOptions={options}\n')
        said = attack(machine, 'Image=localhost/test/busybox\nVolume=laid.volume:/x', payload='cat /x/secret', to='/root')
        said += machine.journal('laid-volume.service')
        assert SECRET not in said and "is mounted by its name, and a container can write to '/srv/data'" in said, (options, said)
        drop_volume(machine, 'laid')
    # Who writes to the overlay writes to the directory above, here by another path. Where nobody else can write, it is mounted.
    machine.run('mount --bind /srv/fs/up /srv/data')
    machine.write('/etc/containers/systemd/laid.volume',
                  '[Volume]\nType=overlay\nDevice=overlay\nOptions=lowerdir=/srv/other,upperdir=/srv/fs/up,workdir=/srv/fs/work\n')
    said = attack(machine, 'Image=localhost/test/busybox\nVolume=/srv/data/sub:/x', payload='cat /x/root/secret', volume='Volume=laid.volume:/data')
    assert SECRET not in said and "'/srv/data/sub' is a link" in said, said
    assert machine.run('cat /var/lib/containers/storage/volumes/systemd-laid/_data/file').out == 'NAME=below\n'
    drop_volume(machine, 'laid')
    machine.run('umount -l /srv/data /srv/fs; rm -r /srv/other /srv/fs /etc/containers/systemd/laid.volume')


def test_a_link_that_a_build_has_left_leads_nowhere(machine):
    machine.write('/etc/containers/systemd/made.build', '[Build]\nImageTag=localhost/made\nVolume=/srv/data:/data\n'
                                                        'SetWorkingDirectory=/srv/context\n')
    attack(machine, 'Image=localhost/test/busybox\nVolume=/srv/data/sub:/x', payload='cat /x/root/secret',
           volume='Volume=/srv/data/:/data:rw')
    machine.run('systemctl stop attacker; rm /etc/containers/systemd/attacker.container; systemctl daemon-reload')
    machine.mark()
    machine.run('systemctl start victim', check=False)
    said = machine.journal('victim.service')
    assert SECRET not in said and "'/srv/data/sub' is a link" in said, said


def test_specifiers_hide_no_volume(machine):
    for volume in ('Volume=%T/../srv/data:/data', 'Volume=/srv/d%ia:/data'):
        said = attack(machine, 'Image=localhost/test/busybox\nVolume=/srv/data/sub:/x', payload='cat /x/root/secret',
                      volume=volume, attacker='attacker@at')
        assert SECRET not in said and 'is a link' in said, said


def test_a_volume_that_shares_its_mounts_is_opened_as_safely(machine):
    """The first is mounted last, the second by libcrun."""
    for options in ('rshared', 'ro,rslave'):
        said = attack(machine, f'Image=localhost/test/busybox\nVolume=/srv/data/sub:/x:{options}',
                      payload='cat /x/root/secret')
        assert SECRET not in said and 'is a link' in said, said


def test_a_mask_is_nobody_elses(machine):
    """With a volume that is shared, what the container mounts on a mask lay on what the mask was cloned from."""
    machine.run('mkdir -p /srv/shared')
    machine.container('masked', '''
        [Container]
        Image=localhost/test/busybox
        AddCapability=SYS_ADMIN
        Volume=/srv/shared:/v:rshared
        StopSignal=KILL
        Exec=sh -c "echo evil >/evil; mount -o bind /evil /proc/interrupts; echo done; sleep 1000"
    ''')
    machine.run('systemctl start masked')
    machine.wait_for(lambda: 'done' in machine.journal('masked').splitlines())
    try:
        assert machine.run('cat /dev/null; stat -c %F /dev/null').out == 'character special file\n'
    finally:
        machine.run('while umount /dev/null; do :; done', check=False)


def test_a_file_of_variables_has_an_end(machine):
    """Another container can make it as large as it likes, or something else."""
    for kind, error in (('truncate -s 6G /data/new && mv /data/new /data/env', 'is over 8 MiB'),
                        ('mkfifo /data/env', 'is not a regular file'),
                        ('mkdir /data/env', 'is not a regular file'),
                        ('mknod /data/env c 1 5', 'is not a regular file')):
        machine.run('rm -rf /srv/data; mkdir -p /srv/data')
        machine.container('attacker', f'''
            [Container]
            Image=localhost/test/busybox
            Volume=/srv/data:/data
            AddCapability=MKNOD
            StopSignal=KILL
            Exec=sh -c "{kind}; sleep 1000"
        ''')
        machine.container('victim', '''
            [Container]
            Image=localhost/test/busybox
            EnvironmentFile=/srv/data/env
            Exec=true
            [Service]
            Type=oneshot
            MemoryMax=1G
        ''')
        machine.run('systemctl restart attacker')
        machine.wait_for(lambda: machine.run('test -e /srv/data/env', check=False).status == 0)
        assert machine.run('systemctl start victim', check=False).status != 0
        assert error in machine.journal('victim'), (kind, machine.journal('victim'))


def test_a_root_directory_in_anothers_volume_stays_there(machine):
    for overlay in ('', ':O'):
        said = attack(machine, f'Rootfs=/srv/data/root{overlay}', payload='cat /root/secret', link='/data/root')
        assert SECRET not in said and "'/srv/data/root' is a link" in said, said


def test_a_root_directory_is_a_volume_like_others(machine):
    """The attacker's is writable without :O; the victim mounts a part of it."""
    make_root(machine, '/srv/data')
    machine.run(f'mkdir -p /srv/data/sub && echo {SECRET} >/root/secret')
    machine.container('attacker', '''
        [Container]
        Rootfs=/srv/data
        StopSignal=KILL
        Exec=sh -c "/bin/busybox rm -rf /sub; /bin/busybox ln -s / /sub; /bin/busybox sleep 1000"
    ''')
    machine.container('victim', '''
        [Container]
        Image=localhost/test/busybox
        Volume=/srv/data/sub:/x
        StopSignal=KILL
        Exec=cat /x/root/secret
        [Service]
        Type=oneshot
    ''')
    machine.run('systemctl start attacker')
    machine.wait_for(lambda: os.path.islink(machine.path('/srv/data/sub')))
    machine.run('systemctl start victim', check=False)
    said = machine.journal('victim.service')
    machine.run('systemctl stop attacker; rm -rf /srv/data')
    assert SECRET not in said and "'/srv/data/sub' is a link" in said, said


def test_a_container_does_not_get_out_by_its_own_volume(machine):
    """Its first run makes the link, the restart follows it."""
    machine.run(f'rm -rf /srv/data; mkdir -p /srv/data/sub && echo {SECRET} >/root/secret')
    machine.container('attacker', '''
        [Container]
        Image=localhost/test/busybox
        Volume=/srv/data:/data
        Volume=/srv/data/sub:/x
        StopSignal=KILL
        Exec=sh -c "cat /x/root/secret; cd /data; mv sub old; ln -s / sub; sleep 1000"
    ''')
    machine.run('systemctl start attacker')
    machine.wait_for(lambda: os.path.islink(machine.path('/srv/data/sub')))
    machine.run('systemctl restart attacker', check=False)
    said = machine.journal('attacker.service')
    assert SECRET not in said and 'is a link' in said, said


def test_an_environment_file_in_a_volume_is_no_way_to_read_the_host(machine):
    said = attack(machine, 'Image=localhost/test/busybox\nEnvironmentFile=/srv/data/sub', payload='env',
                  to='/root/secret')
    assert 'the-hosts-own' not in said and "'/srv/data/sub' is a link" in said, said


def test_an_environment_file_that_became_a_fifo_holds_nothing_up(machine):
    machine.run('rm -rf /srv/data; mkdir -p /srv/data; mkfifo /srv/data/env')
    machine.container('victim', '''
        [Container]
        Image=localhost/test/busybox
        EnvironmentFile=/srv/data/env
        Exec=env
        [Service]
        Type=oneshot
        TimeoutStartSec=30
    ''')
    machine.run('systemctl start victim', check=False)
    said = machine.journal('victim.service')
    assert "'/srv/data/env' is not a regular file" in said, said


# ---- leases: who can open a file for reading can make others wait for it, 45 s each (fcntl(2), F_SETLEASE)

LEASE = '''
$SIG{IO} = "IGNORE";
open F, "<", $ARGV[0] or die;
fcntl F, 1024, 1 or die "no lease: $!";
$| = 1;
print "leased\\n";
sleep 1000;
'''


def lease(machine, file, volume):
    """A payload that has a lease of the file and does not give it back, however often it is asked to."""
    machine.write('/srv/lease.pl', LEASE)
    machine.container('leasing', f'''
        [Container]
        Rootfs=/:O
        Volume={volume}
        StopSignal=KILL
        Exec=perl /srv/lease.pl {file}
    ''')
    machine.mark()
    machine.run('systemctl restart leasing')
    machine.wait_for(lambda: 'leased' in machine.journal('leasing.service'))


def start_at_once(machine, text):
    """Returns what the victim says."""
    machine.container('victim', f'[Container]\nImage=localhost/test/busybox\n{text}\nExec=env\n[Service]\nType=oneshot\n')
    began = time.monotonic()
    machine.run('systemctl start victim', check=False)
    assert time.monotonic() - began < 30, machine.journal('victim.service')
    return machine.journal('victim.service')


def test_a_lease_of_a_file_of_variables_holds_no_start_up(machine):
    machine.run('mkdir -p /run/shared && echo NAME=value >/run/shared/env')
    lease(machine, '/data/env', '/run/shared:/data:ro')
    said = start_at_once(machine, 'EnvironmentFile=/run/shared/env')
    assert "Cannot open '/run/shared/env': another process holds a lease of it" in said, said
    machine.run('systemctl stop leasing')
    assert 'NAME=value' in start_at_once(machine, 'EnvironmentFile=/run/shared/env')


def test_a_lease_of_a_file_of_the_hosts_holds_no_start_up(machine):
    """Many a container is given these, read-only."""
    for file in ('hosts', 'resolv.conf', 'localtime'):
        machine.run(f'mkdir -p /run/shared && cp /usr/share/zoneinfo/UTC /run/shared/{file} && touch /etc/{file} && '
                    f'mount --bind /run/shared/{file} /etc/{file}')
        try:
            lease(machine, '/mine', f'/etc/{file}:/mine:ro')
            said = start_at_once(machine, 'Timezone=local')
        finally:
            machine.run(f'systemctl stop leasing; umount -l /etc/{file}')
        assert 'holds a lease of it' in said, (file, said)


# ---- links of /proc, and what is behind them

def test_behind_a_link_of_proc_links_are_what_they_were(machine):
    said = attack(machine, 'Image=localhost/test/busybox\nVolume=/proc/1/root/srv/data/sub:/x',
                  payload='cat /x/root/secret')
    assert SECRET not in said and "'/proc/1/root/srv/data/sub' is a link, which is not followed" in said, said
    said = attack(machine, 'Image=localhost/test/busybox\nEnvironmentFile=/proc/self/root/srv/data/sub', payload='env',
                  to='/root/secret')
    assert 'the-hosts-own' not in said and '/root/srv/data/sub\' is a link, which is not followed' in said, said


def test_a_payloads_root_is_not_left_by_its_links(machine):
    machine.run(f'echo {SECRET} >/root/secret')
    machine.container('attacker', '''
        [Container]
        Image=localhost/test/busybox
        StopSignal=KILL
        Exec=sh -c "ln -s / /evil; mkdir /fine; echo fine >/fine/file; ln -s . /fine/here; sleep 1000"
    ''')
    machine.run('systemctl start attacker')
    root = f'/proc/{machine.show("attacker", "MainPID")}/root'
    machine.wait_for(lambda: machine.run(f'test -h {root}/fine/here', check=False).status == 0)
    for n, (path, expected) in enumerate((('evil', 'is a link, which is not followed'), ('fine', 'fine'),
                                          ('fine/here', 'is a link, which is not followed'),
                                          ('fine/../fine/.', 'fine'), ('../fine', 'fine'))):
        machine.container(f'victim{n}', f'''
            [Container]
            Image=localhost/test/busybox
            Volume={root}/{path}:/x
            Exec=sh -c "cat /x/root/secret /x/file || true"
            [Service]
            Type=oneshot
        ''')
        machine.run(f'systemctl start victim{n}', check=False)
        said = machine.journal(f'victim{n}.service')
        assert SECRET not in said and expected in said, (path, said)


def test_links_of_the_administrators_are_followed(machine):
    """Also beside volumes, and in directories that only a container may read."""
    machine.run('rm -rf /srv/data; mkdir -p /srv/data/real /srv/ro/real /var/tmp/deep && '
                'for d in /srv/data /srv/ro; do echo here >$d/real/file; done && '
                'ln -sfn /srv/data /srv/to-data && ln -sfn real /srv/ro/to-real && '
                'ln -sfn ../../srv/./to-data/real /var/tmp/to-real && '
                'ln -sfn /proc/self/mounts /srv/to-mounts; ln -sfn /proc/1/root/srv/to-data /srv/around')
    machine.container('writer', '''
        [Container]
        Image=localhost/test/busybox
        Volume=/srv/data:/data
        Volume=/srv/ro:/ro:ro
        Volume=/etc:/host/etc
    ''')
    machine.container('reader', '''
        [Container]
        Image=localhost/test/busybox
        Volume=/srv/to-data/real:/one
        Volume=/srv/ro/to-real:/two:ro
        Volume=/var/tmp/to-real:/three
        Volume=/var/run:/four
        Volume=/etc/os-release:/five:ro
        Volume=/srv/to-mounts:/six
        Volume=/srv/data/real:/seven:rslave
        Volume=/srv/around/real:/eight
        Exec=cat /one/file /two/file /three/file /seven/file /eight/file /five
        [Service]
        Type=oneshot
    ''')
    machine.run('systemctl start reader')
    said = machine.journal('reader.service')
    assert said.count('here') == 5 and 'PRETTY_NAME' in said, said
    machine.run('rm -rf /srv/to-data /srv/to-mounts /srv/around /var/tmp/to-real /srv/ro /srv/data')


def test_who_exchanges_a_link_at_the_right_moment_gets_nothing(machine):
    """What is looked at, and what is mounted, is the same."""
    machine.run(f'rm -rf /srv/data; mkdir -p /srv/data/sub/root && ln -s / /srv/data/link && '
                f'echo {SECRET} >/root/secret')
    # As a payload would; here it need not be started anew for each kind of victim.
    machine.unit('exchanging', '''
        [Service]
        ExecStart=perl -e 'chdir "/srv/data"; while (1) { for ("sub", "link") { rename $$_, "x"; rename $$_ eq "sub" ? "link" : "sub", $$_; rename "x", $$_ eq "sub" ? "link" : "sub" } }'
    ''')
    machine.container('owner', '''
        [Container]
        Image=localhost/test/busybox
        Volume=/srv/data:/data
    ''')
    victims = ('Volume=/srv/data/sub:/x', 'Volume=/srv/data/sub:/x:rslave', 'Volume=/srv/data/sub/root:/x/root')
    for number, volume in enumerate(victims):
        machine.container(f'victim{number}', f'''
            [Container]
            Image=localhost/test/busybox
            {volume}
            Exec=sh -c "cat /x/root/secret; echo has run"
            [Service]
            Type=oneshot
        ''')
    machine.run('systemctl start exchanging')
    for _ in range(15):
        machine.run('systemctl start victim0 victim1 victim2; systemctl reset-failed', check=False)
    said = machine.journal()
    machine.run('systemctl stop exchanging; rm -rf /srv/data')
    assert SECRET not in said, said
    assert 'has run' in said and 'is a link, which is not followed' in said, said


# ---- what an image says and has

def import_image(machine, root, *changes):
    words = ' '.join(f"--change '{change}'" for change in changes)
    machine.run(f'tar -C {root} -c . | podman import -q {words} - localhost/test/hostile:latest', timeout=120)


numbers = itertools.count()


def say_mounts(machine, *keys):
    name = f'said{next(numbers)}'
    machine.container(name, '\n'.join(['[Container]', 'Image=localhost/test/hostile', *keys,
                                         'Exec=sh -c "/bin/busybox mount; echo it has run"',
                                         '[Service]', 'Type=oneshot', '']))
    machine.run(f'systemctl start {name}', check=False)
    return machine.journal(f'{name}.service')


def test_an_images_volume_replaces_nothing_of_the_kernels(machine):
    """CVE-2019-16884: VOLUME /proc, and what protects would be a file system of the image's author's."""
    make_root(machine, '/srv/hostile', 'mkdir -p proc/sys/kernel sys/fs/cgroup')
    wanted = [' on /proc type proc ', ' on /sys type sysfs ', ' on /dev type tmpfs ', ' on /sys/fs/cgroup type cgroup2 ',
              ' on /dev/pts type devpts ', ' on /proc/sys type proc ', ' on /proc/keys ']
    for places in (['/proc'], ['/sys'], ['//proc/sys/', '/x/../sys/fs/cgroup', '/proc/keys'],
                   ['/dev', '/dev/shm', '/dev/pts', '/sys/devices']):
        import_image(machine, '/srv/hostile', *[f'VOLUME {place}' for place in places], 'VOLUME /data')
        for keys in ([], ['ReadOnly=true'], ['ReadOnly=true', 'ReadOnlyTmpfs=false']):
            said = say_mounts(machine, *keys)
            assert 'it has run' in said, (places, keys, said)
            for line in wanted:
                assert said.count(line) == 1, (places, keys, line, said)
            if keys:
                assert ' on /data type tmpfs' in said and 'is left out: what is there in every container' in said, said


def test_an_images_volume_replaces_nothing_by_a_link(machine):
    make_root(machine, '/srv/hostile', 'mkdir -p sys/fs/cgroup')
    for where in ('/proc', '/sys', '/dev', '/sys/fs/cgroup'):
        machine.run(f'ln -sfn {where} /srv/hostile/vol')
        import_image(machine, '/srv/hostile', 'VOLUME /vol')
        said = say_mounts(machine, 'ReadOnly=true')
        assert 'it has run' not in said and 'a link in it leads into /proc' in said, said
        said = say_mounts(machine)
        assert 'it has run' in said and ' on /proc type proc' in said, said


def test_a_mount_is_not_led_onto_what_protects(machine):
    """CVE-2021-30465, CVE-2019-19921: the image, or another in a shared volume, has a link where a mount goes."""
    make_root(machine, '/srv/hostile', 'mkdir -p vol && ln -s /proc a && ln -s /sys/kernel b && ln -s dev c && '
              'ln -s /proc/self d && ln -s /dev/shm e && ln -s dangling/../dev/new f')
    machine.run('rm -rf /srv/data; mkdir -p /srv/data && ln -s /proc /srv/data/a && mkdir -p /srv/fake/sys')
    import_image(machine, '/srv/hostile')
    for place in ('/a', '/b', '/c', '/a/sys', '/d/attr', '/vol/a'):
        volume = ['Volume=/srv/data:/vol', f'Volume=/srv/fake:{place}']
        said = say_mounts(machine, *volume)
        assert 'it has run' not in said and 'a link in it leads into /proc, /sys or /dev' in said, (place, said)
    for place in ('/a', '/vol/a', '/c'):
        for key in (f'Tmpfs={place}:notmpcopyup', f'Volume=/srv/fake:{place}:rslave'):
            said = say_mounts(machine, 'Volume=/srv/data:/vol', key)
            assert 'it has run' not in said and 'a link in it leads into /proc' in said, (place, key, said)
    # libcrun's to mount, both of them: it is seen afterwards
    said = say_mounts(machine, 'Volume=/srv/data:/vol:rslave', 'Tmpfs=/vol/a:notmpcopyup')
    assert 'it has run' not in said and "has come to lie on the container's '/proc'" in said, said
    said = say_mounts(machine, 'Volume=/srv/fake:/proc/sys')
    assert 'it has run' in said, said
    machine.run('rm -rf /srv/data /srv/fake')


def hosts_mounts(machine):
    return sorted(line.split()[4] for line in machine.read('/proc/1/mountinfo').splitlines() if ' /srv/' in line)


def test_a_mount_is_not_led_into_what_is_shared_with_the_host(machine):
    """What is mounted in such a volume is mounted on the host, and stays: with "/" it was a tmpfs of the payload's on the host's /etc."""
    machine.run('rm -rf /srv/sh; mkdir -p /srv/sh/sub /srv/other /srv/second; touch /srv/sh/full; echo other >/srv/other/here')
    make_root(machine, '/srv/hostile', 'rmdir tmp && ln -s /v/sub tmp && ln -s v l && ln -s /v/full f && ln -s bin/led g && mkdir -p bin/led v/sub run var/tmp && touch v/full')
    import_image(machine, '/srv/hostile', 'VOLUME /l/image')
    before = hosts_mounts(machine)
    for volume in ('Volume=/srv/sh:/v:rshared', 'Volume=/srv/sh:/v:ro,shared'):
        for line in ('ReadOnly=true', 'Tmpfs=/tmp', 'Tmpfs=/l/sub:notmpcopyup', 'Volume=/srv/other:/l/sub', 'Volume=/srv/other:/l/sub:rslave',
                     'Mount=type=tmpfs,dst=/l/new', 'AddDevice=/dev/full:/f', 'AddDevice=/dev/full:/l/new', 'Volume=/srv/other:/l/sub:O',
                     'Volume=/srv/second:/l/sub:rshared', 'PodmanArgs=--image-volume=tmpfs'):
            said = say_mounts(machine, volume, line)
            assert 'it has run' not in said and re.search('a link in (it|the image)', said), (volume, line, said)
            assert hosts_mounts(machine) == before, (volume, line)
        for line in ('Volume=/srv/other:/v/sub', 'Tmpfs=/v/sub', 'Volume=/srv/second:/v/sub:rshared', 'AddDevice=/dev/full:/v/new'):
            said = say_mounts(machine, volume, line)
            assert "the mount on '/v' shares" in said, (volume, line, said)
        # Others are not concerned.
        said = say_mounts(machine, volume, 'Volume=/srv/other:/g', 'Volume=/srv/second:/w:rshared', 'Tmpfs=/x/y')
        assert 'it has run' in said and ' on /bin/led type' in said and ' on /v type' in said and ' on /x/y type' in said, said
        assert hosts_mounts(machine) == before


def test_a_mount_is_not_led_into_what_is_shared_by_the_payload(machine):
    """It puts the link into a volume of its own, and its next start follows."""
    before = hosts_mounts(machine)
    turns = [(line, to, order) for order in (1, -1) for line, to in (
        ('Tmpfs=/own/cache', '/v/sub'), ('Volume=/srv/other:/own/cache:ro', '/v/sub'), ('Volume=/srv/other:/own/cache:O', '/v/sub'),
        ('Volume=/srv/other:/own/cache:rshared', '/v/sub'), ('AddDevice=/dev/full:/own/cache', '/v/full'))]
    for line, to, order in turns:
        machine.run('rm -rf /srv/sh /srv/own; mkdir -p /srv/sh/sub /srv/other; mkdir -pm 0777 /srv/own; touch /srv/sh/full')
        volumes = ['Volume=/srv/own:/own', 'Volume=/srv/sh:/v:ro,rshared'][::order]
        name = f'said{next(numbers)}'
        file = '\n'.join(['[Container]', 'Image=localhost/test/busybox', *volumes, 'DropCapability=all', 'User=1234',
                          f'Exec=sh -c "ln -s {to} /own/cache; echo it has run"', '[Service]', 'Type=oneshot', ''])
        machine.container(name, file)
        machine.run(f'systemctl start {name}')
        machine.container(name, file.replace('[Service]', f'{line}\n[Service]'))
        machine.run('test -h /srv/own/cache')
        machine.run(f'systemctl start {name}', check=False)
        first, *later = machine.journal(name).split('it has run')
        assert len(later) == 1 and "own/cache'" in later[0].replace('`', "'"), (line, order, first, later)
        assert hosts_mounts(machine) == before, (line, order)


def test_two_volumes_that_are_shared_do_not_come_to_lie_in_each_other(machine):
    machine.run('rm -rf /srv/sh /srv/second /srv/own; mkdir -p /srv/sh/y /srv/second; mkdir -pm 0777 /srv/own/x/y; ln -s x /srv/own/a')
    make_root(machine, '/srv/hostile', 'ln -s x a; mkdir -p x/y; ln -s / v; ln -s x/y b; ln -s ../../x/y etc/c')
    import_image(machine, '/srv/hostile')
    before = hosts_mounts(machine)
    for first, second in (('/a', '/x/y'), ('/x/y', '/a'), ('/b', '/x/y'), ('/b', '/etc/c'), ('/own/a', '/own/x/y'), ('/v', '/w'), ('/w', '/v')):
        for option in ('rshared', 'ro,shared'):
            said = say_mounts(machine, 'Volume=/srv/own:/own', f'Volume=/srv/sh:{first}:{option}', f'Volume=/srv/second:{second}:{option}')
            assert 'it has run' not in said and re.search('a link in (it|the image)', said), (first, second, said)
            assert hosts_mounts(machine) == before, (first, second)
    said = say_mounts(machine, 'Volume=/srv/sh:/b:rshared', 'Volume=/srv/second:/z/t:rshared')
    assert ' on /x/y type' in said and ' on /z/t type' in said, said
    assert hosts_mounts(machine) == before


def test_who_exchanges_directories_leads_nothing_into_what_is_shared(machine):
    """No link is needed: another writer turns two directories round between two steps of a start."""
    machine.run('rm -rf /srv/sh /srv/second; mkdir -p /srv/sh/x /srv/sh/y /srv/second /srv/own; mount -t tmpfs own /srv/own; '
                'mkdir -p /srv/own/s/t /srv/own/m/t/x /srv/own/m/t/y')
    before = hosts_mounts(machine)
    machine.unit('turning.service', '''
        [Service]
        WorkingDirectory=/srv/own
        ExecStart=perl -e 'while (1) { syscall(316, -100, $s = "s", -100, $m = "m", 2); select undef, undef, undef, 0.00005 }'
    ''')
    machine.run('systemctl daemon-reload; systemctl start turning')
    try:
        for i in range(24):
            say_mounts(machine, 'Volume=/srv/own:/own', 'Volume=/srv/sh:/own/s/t:rshared',
                       ('Volume=/srv/second:/own/m/t/y:rshared', 'Mask=/own/m/t/x:/own/m/t/y')[i % 2])
            assert hosts_mounts(machine) == before, i
    finally:
        machine.run('systemctl stop turning; umount /srv/own', check=False)


def test_an_image_whose_proc_is_a_link_does_not_start(machine):
    """CVE-2019-19921: /proc would be mounted where the image wants it, and the masks be elsewhere."""
    for name in ('proc', 'sys', 'dev'):
        make_root(machine, '/srv/hostile', f'mkdir -p evil/{name} && rmdir {name} && ln -s evil/{name} {name}')
        import_image(machine, '/srv/hostile')
        for keys in ([], ['ReadOnly=true'], ['Volume=/srv:/srv:rslave']):
            said = say_mounts(machine, *keys)
            assert 'it has run' not in said and f"Cannot mount on the container's '/{name}'" in said, said


def test_paths_of_an_image_that_show_something_else_are_refused(machine):
    make_root(machine, '/srv/hostile')
    import_image(machine, '/srv/hostile', 'WORKDIR /a\x1b[2Jb')
    said = say_mounts(machine)
    assert 'it has run' not in said and 'WORKDIR: "/a\\033[2Jb" has a control character in it' in said, said
