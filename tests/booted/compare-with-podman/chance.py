# SPDX-License-Identifier: LGPL-2.1-or-later
"""Sets of keys that chance puts together, by hand:

    KEYTURN_COMPARE=100 KEYTURN_TEST_SEED=word tests/booted/run ... trixie compare-with-podman/by_chance

starts a hundred of them under both. What only Podman starts, and what the payload sees differently without a reason in
differences.py or here, fails.
"""

import random

# Of each subject at most one; {i} is the set's number.
SUBJECTS = [
    ['User=driver', 'User=1500', 'User=4242', 'User=4242:4343', 'User=0:77', 'User=0', 'User=65534', 'User=1500\nGroup=1502', 'PodmanArgs=-u 1500'],
    ['GroupAdd=77', 'GroupAdd=77\nGroupAdd=99,88'],
    ['ReadOnly=true', 'ReadOnly=true\nReadOnlyTmpfs=false', 'VolatileTmp=yes', 'ReadOnly=true\nVolatileTmp=yes',
     'PodmanArgs=--read-only --read-only-tmpfs=false'],
    ['Network=none', 'Network=none\nHostName=me', 'HostName=box'],
    ['DropCapability=all', 'DropCapability=all\nAddCapability=CAP_NET_BIND_SERVICE', 'AddCapability=SYS_ADMIN', 'AddCapability=all',
     'AddCapability=SYS_PTRACE\nDropCapability=CHOWN', 'DropCapability=SETUID SETGID', 'PodmanArgs=--privileged', 'PodmanArgs=--cap-drop=ALL'],
    ['NoNewPrivileges=true', 'NoNewPrivileges=false'],
    ['SeccompProfile=unconfined', 'SeccompProfile=/etc/compare.seccomp.json'],
    ['Mask=/proc/cpuinfo', 'Mask=/etc:/srv', 'Unmask=ALL', 'Unmask=/proc/kcore', 'Unmask=/proc/*', 'Mask=/dev/shm', 'Mask=/proc/version:/sys/kernel/mm',
     'Mask=/masked\nVolume=/srv/compare:/masked', 'PodmanArgs=--security-opt=unmask=/sys/firmware'],
    ['Tmpfs=/tmp', 'Tmpfs=/run:size=1m', 'Tmpfs=/dev/shm', 'Tmpfs=/etc/ssl:ro', 'Tmpfs=/home/driver:mode=0700', 'Tmpfs=/dev/mine',
     'Tmpfs=/home:noexec,suid,dev', 'Tmpfs=/run/lock', 'Tmpfs=/mine:U', 'Tmpfs=/opt/x/y:U,mode=0750', 'Tmpfs=/var', 'Tmpfs=/tmp:noexec,size=10%',
     'PodmanArgs=--tmpfs /q:size=1m'],
    ['Volume=/srv/compare:/data', 'Volume=/srv/compare:/data:ro', 'Volume=/srv/compare:/data:O', 'Volume=compare-{i}:/home', 'Volume=compare-{i}:/etc:ro',
     'Volume=compare-{i}:/new/x:nocopy', 'Volume=/srv/compare:/run/x', 'Volume=/srv/compare:/tmp/x:rslave', 'Volume=/srv/compare:/data:rshared',
     'Volume=/etc/compare.env:/etc/hostname', 'Volume=/etc/compare.env:/etc/hosts:ro', 'Volume=/anonymous', 'Volume=/srv/compare:/var/run/y',
     'Volume=/dev/full:/dev/other', 'Volume=/run/systemd/journal:/run/systemd/journal', 'Volume=/srv/compare:/data:z,noexec', 'Volume=/srv/compare:/dev/shm',
     'Volume=/srv/compare:/dev/x', 'Volume=/sys:/sys:ro', 'Volume=/sys/fs/cgroup:/sys/fs/cgroup:ro', 'Volume=/srv/compare:/sys/firmware'],
    ['Mount=type=bind,src=/srv/compare/file,dst=/etc/f,ro', 'Mount=type=tmpfs,dst=/scratch,tmpfs-size=1m', 'Mount=type=tmpfs,dst=/scratch,chown=true',
     'Mount=type=volume,source=compare-m{i},dst=/vol,U=true', 'Mount=type=volume,source=compare-m{i},dst=/vol,ro=true',
     'Mount=type=glob,src=/srv/compare/*,dst=/glob', 'Mount=type=bind,src=/srv/compare,dst=/b,bind-nonrecursive=true', 'Mount=type=ramfs,dst=/ram',
     'Mount=type=devpts,dst=/pts', 'PodmanArgs=-v /srv/compare:/w:ro', 'PodmanArgs=--mount type=bind,src=/srv/compare,dst=/w2'],
    ['AddDevice=/dev/full', 'AddDevice=/dev/zero:/dev/second:r', 'AddDevice=-/dev/nothing'],
    ['ShmSize=1m', 'ShmSize=0', 'PodmanArgs=--ipc=host', 'PodmanArgs=--ipc=shareable'],
    ['PodmanArgs=--pid=host', 'PodmanArgs=--pid=private'],
    ['Ulimit=nofile=100:200', 'Ulimit=core=-1', 'Ulimit=host', 'Ulimit=nproc=77'],
    ['Secret=compare', 'Secret=compare,mode=0400,uid=1500', 'Secret=compare-two,type=env,target=S', 'Secret=compare,target=/etc/sec'],
    ['Environment=A=1 "B=x y"\nEnvironmentFile=/etc/compare.env', 'Environment=HOME=/x PATH=/bin', 'Environment=TERM=x HOSTNAME=h', 'EnvironmentHost=false'],
    ['Timezone=Europe/Berlin', 'Timezone=local', 'Timezone=UTC', 'PodmanArgs=--tz=Asia/Tokyo'],
    ['AddHost=hub:10.0.0.1', 'PodmanArgs=--no-hosts', 'PodmanArgs=--add-host=a:192.0.2.4'],
    ['PodmanArgs=--umask=0077', 'PodmanArgs=--systemd=always', 'PodmanArgs=--systemd=false', 'PodmanArgs=--image-volume=tmpfs',
     'PodmanArgs=--image-volume=ignore', 'PodmanArgs=--cgroups=enabled', 'PodmanArgs=--oom-score-adj=50'],
    ['StopSignal=SIGINT', 'Label=a=b', 'Annotation=a=b', 'WorkingDir=/tmp'],
]
USERNS = ['UIDMap=0:300000:65536\nGIDMap=0:300000:65536', 'UserNS=auto', 'SubUIDMap=alice\nSubGIDMap=alice', 'UIDMap=0:100000:2000\nGIDMap=0:200000:5000',
          'UserNS=host']
IMAGES = [{}] * 6 + [{'image': image} for image in ('localhost/test/layers:4', 'localhost/test/debian', 'localhost/test/busybox')] + \
         [{'rootfs': '/srv/rootfs:O'}]

# What keyturn refuses, and says so; the manual has the reasons.
REFUSED = (r"(--ipc|--pid): 'host' is not supported with a user namespace|shares what is mounted in it with the host|The mount on '/etc\S*' hides|"
           r"Cannot make 'etc/sec' in the container: Read-only file system")

# Beside those of differences.py, each of which may be anywhere here.
DIFFERENCES = [
    (r'-mount /etc/localtime tmpfs bound .*', '', 'Podman binds a file of its own, keyturn writes one'),
    (r'[-+]mount /etc/sec (tmpfs|ramfs) bound .*', '', 'a secret is in memory that is never swapped, and read-only'),
    (r'[-+](root|run) \S+ directory [01]755 \d+:\d+', '', "Podman's mount points are sticky, in a user namespace nobody's; what is bound belongs to others"),
    (r'[-+]mount /sys/fs/cgroup cgroup2 whole rw,.*', '', '--systemd=always leaves its flags'),
    (r'[-+]status Groups .*', '', 'UserNS=auto of Podman has not all the groups of the image'),
    (r'[-+]device /dev/\S+ char 0666 \d+:\d+ \S+', '', 'a device of the host is nobody\'s in a user namespace; Podman gives some away'),
    (r'-mount /dev/second .*', '', 'the same'),
    (r'[-+]content /etc/hosts\[\d\] 127.0.0.1\t[0-9a-f]{12} .*', '', 'both make a random name up'),
    (r'[-+]env container_uuid=.*', '', 'the same'),
    (r'-content /etc/group\[\d\] 1500:x:1500:1500', '', 'Podman adds a group of the number of User='),
    (r'[-+]mount (/anonymous|/volume) .*', '', 'an anonymous volume'),
    (r'[-+](path|run) /run/secrets\S* .*', '', 'Podman makes it in Rootfs=, where other cases have left theirs'),
    (r'\+mount /data tmpfs whole rw,nosuid,nodev,relatime private rw,size=\d+k,nr_inodes=\d+', '',
     'below an overlay of the option O lies what is written to it, as older kernels want it'),
    (r'[-+]mount /data \S+ bound rw,\S+ (shared|,master) rw.*', '',
     'in a user namespace rshared of Podman reaches the host only where the source is a mount of its own'),
    (r'[-+](path|writable) /(run|etc) .*', '', "in a user namespace with Rootfs= Podman's are nobody's"),
    (r'-path / directory 0555 \d+:\d+', '', 'Podman gives the root of Rootfs=:O to User='),
    (r'[-+](mount|masked) /(sys|proc)/\S+ .*', '', 'in a user namespace, with /sys of the host or a shared volume, the kernel shows what lies below in another way'),
]


def make(chance, i):
    subjects = chance.sample(SUBJECTS, chance.randint(3, 8))
    lines = [chance.choice(subject).replace('{i}', str(i)) for subject in subjects]
    name = f'chance-{i}'
    if chance.random() < 0.25:
        name = 'userns-' + name
        lines += [chance.choice(USERNS)] + [line for line in ['Network=none'] if not any(line in other for other in lines)]
    image = chance.choice(IMAGES)
    if 'image' in image:
        lines.append('Volume=/usr/local/bin/dump:/usr/bin/dump:ro')
    if image:
        lines.append('Entrypoint=/usr/bin/dump')
    return name, image | {'container': '\n'.join(lines)}


def sets(seed, n):
    chance = random.Random(seed)
    return dict(make(chance, i) for i in range(n))
