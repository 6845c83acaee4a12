# SPDX-License-Identifier: LGPL-2.1-or-later
"""Containers that must look the same from inside, whoever starts them.

Each case: the [Container] keys beside the ones all cases have; or a dictionary with

    container   these keys
    image, rootfs   what Image= or Rootfs= is, instead of the image of dump
    more        whole other sections
    socket      the text of a socket unit that starts it

Every key that keyturn supports and Podman 5.4 can run is in one of them (tests/gates/keys). What both may do
differently is in differences.py.
"""

CASES = {
    # Nothing but the network, which keyturn needs to be told.
    'plain': '',
    'no-network': 'Network=none',
    'bridge': '''
        Network=bridge
        IP=10.88.0.77
        HostName=box
        NetworkAlias=other
        PublishPort=127.0.0.1:8077:80
        Sysctl=net.core.somaxconn=77
    ''',
    'bridge-names': '''
        Network=bridge:ip=10.88.0.78
        HostName=box
        DNS=192.0.2.1
        DNSSearch=first.example
        DNSOption=ndots:2
        AddHost=machine:host-gateway
        AddHost=box:192.0.2.2
    ''',
    'userns-bridge': '''
        Network=bridge:ip=10.88.0.79,mac=92:d0:c6:0a:29:33
        HostName=box
        UIDMap=0:300000:65536
        GIDMap=0:300000:65536
    ''',
    # Names and groups are those of the files that the payload sees.
    'mounted-accounts': '''
        User=outsider
        Volume=/etc/compare.passwd:/etc/passwd
        Volume=/etc/compare.group:/etc/group:ro
    ''',
    'mounted-accounts-number': '''
        User=777
        Group=outer
        Volume=/etc/compare.passwd:/etc/passwd:ro
        Volume=/etc/compare.group:/etc/group
    ''',
    'environment': '''
        Environment=A=1 "B=two words" C=%n
        Environment=EMPTY= HOME=/elsewhere
        Environment=D=$$dollar E=100%%
    ''',
    'environment-file': '''
        EnvironmentFile=/etc/compare.env
        Environment=OVER=unit
    ''',
    'arguments': r'''
        Exec=--hold "two words" 'single quotes' a\x20b $$HOME 100%% -- --flag=value "" after
    ''',
    'entrypoint': '''
        Entrypoint=/bin/sh
        Exec=-c "exec /usr/bin/dump --output /out/%N --hold from a shell"
    ''',
    'entrypoint-json': '''
        Entrypoint=["/usr/bin/dump", "--output", "/out/entrypoint-json", "two words"]
        Exec=--hold
    ''',
    'user-name': 'User=driver',
    'user-id': 'User=1500',
    'user-unknown': 'User=4242',
    'user-and-group': '''
        User=4242
        Group=4343
    ''',
    'user-named-group': '''
        User=driver
        Group=cameras
    ''',
    'user-zero-group': '''
        User=0
        Group=1502
    ''',
    'user-zero-group-unknown': 'User=0:77',
    'mask': '''
        Mask=/proc/kallsyms:/proc/modules /sys/kernel/debug
        Mask=/sys/class:/not/there:/dev/mqueue
    ''',
    'unmask': '''
        Unmask=/proc/*:/sys/firmware
        Unmask=/sys/fs/cgroup
        Mask=/proc/kcore
    ''',
    'unmask-some': 'Unmask=/proc/acpi:/proc/s*:/sys/*',
    'unmask-all': 'Unmask=ALL',
    'unmask-all-later': 'Unmask=/proc/acpi ALL',
    'hosts': '''
        AddHost=hub:10.0.0.1
        AddHost=radar;radar.car:2001:db8::1
        AddHost=lidar:10.0.0.2,sonar:10.0.0.3
    ''',
    'hosts-own-name': '''
        AddHost=me:10.0.0.1
        AddHost=localhost:10.0.0.2
        HostName=me
        Network=none
    ''',
    'container-name': '''
        ContainerName=my-name.1
        HostName=me
        Network=none
    ''',
    'devices': '''
        AddDevice=/dev/full:/dev/second:r
        AddDevice=/dev/zero -/dev/not-there
    ''',
    'published-ports': '''
        PublishPort=8080:80
        PublishPort=127.0.0.1:9090:9090/udp
        ExposeHostPort=8081
        PodmanArgs=--publish 8082:82 --expose=83
    ''',
    # What says no more than keyturn does anyway.
    'nothing-new': '''
        Pull=missing
        CgroupsMode=split
        HealthCmd=none
        AutoUpdate=none
        GlobalArgs=--log-level=warn
        PodmanArgs=--rm --replace --ipc=private --uts private --cgroupns=private --pid=private --umask=0022 --pull=never
        PodmanArgs=--tty=false -q
    ''',
    # The payload sees nothing of them. What they do: booted/health.
    'health': '''
        HealthCmd=true
        HealthInterval=1h
        HealthLogDestination=events_logger
        HealthMaxLogCount=3
        HealthMaxLogSize=100
        HealthOnFailure=none
        HealthRetries=2
        HealthStartPeriod=1s
        HealthStartupCmd=["/usr/bin/dump", "--help"]
        HealthStartupInterval=1h
        HealthStartupRetries=10
        HealthStartupSuccess=1
        HealthStartupTimeout=10s
        HealthTimeout=10s
    ''',
    'further-options': '''
        PodmanArgs=--cap-add=NET_ADMIN,SYS_TIME --cap-drop CHOWN --ulimit nofile=100:200 -e A=1 -eB=2 --stop-timeout=2
        PodmanArgs=--oom-score-adj=100 --user driver -w /home/driver --env-host=false
    ''',
    'seccomp-profile': 'SeccompProfile=/etc/compare.seccomp.json',
    'seccomp-unconfined': 'SeccompProfile=unconfined',
    # As a drop-in that takes things back.
    'taken-back': '''
        Environment=A=1
        Environment=
        Environment=B=2
        AddCapability=CAP_NET_ADMIN
        AddCapability=
        Volume=/srv/compare:/data
        Volume=
        Volume=/run/compare:/out
        Volume=/etc/compare.reference:/dump.reference:ro
        User=driver
        User=
        ReadOnly=true
        ReadOnly=
        WorkingDir=/home/driver
        WorkingDir=
    ''',
    'empty-booleans': '''
        ReadOnly=true
        ReadOnlyTmpfs=
        EnvironmentHost=
        NoNewPrivileges=
    ''',
    'dns': '''
        DNS=192.0.2.1
        DNS=2001:DB8::1,192.0.2.2
        DNSSearch=car.example
        DNSSearch=hub.example
        DNSOption=ndots:2
        DNSOption=two words
    ''',
    'dns-and-the-hosts': '''
        DNSSearch=car.example
        DNSOption=rotate
    ''',
    'dns-no-domain': '''
        DNS=192.0.2.1
        DNSSearch=.
    ''',
    'dns-none': 'DNS=none',
    'privileged': '''
        PodmanArgs=--privileged
        Mask=/etc/passwd
    ''',
    'privileged-user': '''
        PodmanArgs=--privileged
        User=driver
        AddCapability=NET_RAW
    ''',
    'privileged-read-only': '''
        PodmanArgs=--privileged
        ReadOnly=true
        ReadOnlyTmpfs=false
    ''',
    'interactive': 'PodmanArgs=--interactive',
    'groups': '''
        GroupAdd=cameras
        GroupAdd=77
        GroupAdd=88,99
    ''',
    'groups-of-a-user': '''
        User=driver
        GroupAdd=77
    ''',
    'working-directory': 'WorkingDir=/home/driver',
    'host-name': 'HostName=head-unit',
    'host-name-alone': '''
        HostName=head-unit
        Network=none
    ''',
    'add-capabilities': 'AddCapability=CAP_NET_ADMIN CAP_SYS_TIME',
    'add-capabilities-user': '''
        User=driver
        AddCapability=CAP_NET_BIND_SERVICE CAP_SYS_NICE
    ''',
    'drop-capabilities': 'DropCapability=CAP_CHOWN CAP_KILL',
    'drop-all-capabilities': 'DropCapability=all',
    'drop-all-add-one': '''
        DropCapability=all
        AddCapability=CAP_SYS_ADMIN
    ''',
    'all-capabilities': 'AddCapability=all',
    'no-new-privileges': 'NoNewPrivileges=true',
    'read-only': 'ReadOnly=true',
    'read-only-without-tmpfs': '''
        ReadOnly=true
        ReadOnlyTmpfs=false
    ''',
    'tmpfs': '''
        Tmpfs=/cache
        Tmpfs=/small:size=1M,mode=0700
        Tmpfs=/etc/inside:ro,noexec
        Tmpfs=/home/driver:notmpcopyup
        Tmpfs=/dev/shm
    ''',
    'tmpfs-of-a-user': '''
        User=driver
        Tmpfs=/mine:U,mode=0700
        Mount=type=tmpfs,destination=/new,chown=true,ro
        Mount=type=tmpfs,destination=/home/driver,U
    ''',
    'volumes-with-names': '''
        Volume=compare-new:/new/place
        Volume=compare-ro:/tmp:ro
        Volume=compare-exec:/etc/ssl:noexec,nocopy
        Volume=compare.volume:/from-a-file
        Mount=type=volume,source=compare.volume,destination=/again,ro
        Mount=type=volume,source=compare-own,dst=/own,U
        Volume=/anonymous
        User=12:13
    ''',
    'volumes-read-only': '''
        ReadOnly=true
        Volume=compare-new:/new/place
        Volume=/anonymous
    ''',
    'mount-types': '''
        Mount=type=image,source=localhost/test/busybox,destination=/image
        Mount=type=glob,source=/srv/compare/f*,destination=/glob,ro
        Mount=type=ramfs,destination=/ram
        Mount=type=devpts,destination=/pts
        Volume=/srv/compare:/over:O
    ''',
    'volumes': '''
        Volume=/srv/compare:/data
        Volume=/srv/compare/inner:/data/inner:ro
        Volume=/srv/compare/file:/etc/file:ro
        Volume=/srv/compare:/shared:rw,rshared,noexec
        Volume=/srv/compare:/made/by/mount:nosuid,nodev
    ''',
    'mounts': '''
        Mount=type=bind,source=/srv/compare,destination=/data,ro=true
        Mount=type=bind,src=/srv/compare/file,target=/etc/file
        Mount=type=tmpfs,destination=/scratch,tmpfs-size=2M,tmpfs-mode=0750
        Mount=type=tmpfs,destination=/plain
    ''',
    'volatile-tmp': 'VolatileTmp=yes',
    'volatile-tmp-read-only': '''
        VolatileTmp=yes
        ReadOnly=yes
    ''',
    'limits': '''
        Ulimit=nofile=1000:2000
        Ulimit=nproc=300
        Ulimit=core=0
        Ulimit=memlock=65536:65536
    ''',
    'sysctls': '''
        Network=none
        Sysctl=net.ipv4.ip_unprivileged_port_start=0
        Sysctl=net.core.somaxconn=512
    ''',
    'shm-size': 'ShmSize=16m',
    'umask': 'PodmanArgs=--umask=0027',
    'labels': '''
        Label=org.example.label=x
        Annotation=org.example.annotation=y
    ''',
    'log-driver-none': 'LogDriver=none',
    'unconfined-option': 'PodmanArgs=--security-opt seccomp=unconfined',
    'service-settings': {'container': '', 'more': '''
        [Service]
        UMask=0077
        Nice=5
        OOMScoreAdjust=100
        LimitNOFILE=5000:6000
        LimitCORE=1000
        CPUSchedulingPolicy=batch
        IOSchedulingClass=idle
        TimerSlackNSec=100000
        LimitMEMLOCK=123456
        Environment=http_proxy=http://proxy:3128 OTHER=unseen
        Environment=EXPANDED=/srv/compare
    '''},
    'environment-of-the-host': {'container': '''
        EnvironmentHost=true
        Environment=PASSED
        Environment=OWN=container
    ''', 'more': '''
        [Service]
        Environment=PASSED=by-service OWN=service MORE=from-service
    '''},
    'expansion': {'container': '''
        Environment=WHERE=${EXPANDED} NAME=%p
        Volume=${EXPANDED}:/data
        WorkingDir=%h
    ''', 'more': '''
        [Service]
        Environment=EXPANDED=/srv/compare
    '''},
    'instance@one': {'container': '''
        Environment=INSTANCE=%i
        HostName=%p-%i
    '''},
    'secret': '''
        Secret=compare compare,target=a/b,mode=400
        Secret=compare-two,target=/etc/hostname,uid=5,gid=6,mode=440
    ''',
    'secret-env': '''
        Environment=COMPARE=env
        Secret=compare-two,type=env,target=COMPARE compare,type=env,target=COMPARE
        Secret=source=compare-two,type=env
    ''',
    'secret-of-a-user': '''
        User=driver
        ReadOnly=true
        Secret=compare-two,target=same compare,target=same
    ''',
    'userns-auto': '''
        UserNS=auto:size=2000
        Network=none
        HostName=me
        User=driver
    ''',
    'userns-maps': '''
        UIDMap=0:100000:2000 +5:@5
        GIDMap=0:200000:3000
        Network=none
        HostName=me
        Volume=/srv/compare:/data
        Tmpfs=/cache
        Tmpfs=/mine:U
        User=12
    ''',
    'userns-without-a-group': '''
        UIDMap=0:100000:2000
        GIDMap=0:100000:1502
        Network=none
        HostName=me
    ''',
    'userns-subids': '''
        SubUIDMap=alice
        SubGIDMap=alice
        Network=none
        HostName=me
        ReadOnly=true
        User=driver
    ''',
    'userns-remap': '''
        RemapUsers=manual
        RemapUid=0:100000:2000
        RemapGid=0:200000:3000
        Network=none
        HostName=me
    ''',
    'userns-remap-auto': '''
        RemapUsers=auto
        RemapUidSize=3000
        RemapUid=0:100000:1
        Network=none
        HostName=me
    ''',
    # As others write them.
    'environment-escapes': r'''
        Environment="TAB=a\tb" "NL=a\nb" "HEX=\x41" "U=\u00e9" BS=a\\b "Q=say \"hi\""
    ''',
    'environment-continued': '''
        Environment=A=1 \\
          B=2 \\
          # a comment between
          C=3
    ''',
    'environment-files': '''
        EnvironmentFile=/etc/compare.env
        EnvironmentFile=/etc/compare.env
        Environment=NOVALUE
    ''',
    'relabelled-volumes': '''
        Volume=/srv/compare:/data:Z
        Volume=/srv/compare/file:/data2/file:ro,noexec,nosuid
        Volume=/srv/compare:/data5:rbind,dev,suid,exec
    ''',
    'tmpfs-of-usual-places': '''
        Tmpfs=/run
        Tmpfs=/tmp:rw,size=64m,mode=1777
    ''',
    'read-only-with-mounts': '''
        ReadOnly=true
        Tmpfs=/tmp:size=1m
        Volume=/srv/compare:/run/data
    ''',
    'options-of-podman-run': '''
        PodmanArgs="--security-opt" "no-new-privileges" --security-opt=mask=/proc/cpuinfo --cap-drop=all --group-add 99
        PodmanArgs=--userns=host --workdir=/tmp
    ''',
    'scheduling': {'container': '', 'more': '''
        [Service]
        CPUSchedulingPolicy=fifo
        CPUSchedulingPriority=5
        CPUAffinity=0
        OOMScoreAdjust=-500
        IOSchedulingClass=best-effort
        IOSchedulingPriority=2
    '''},
    'layers': {'image': 'localhost/test/layers:4', 'container': '''
        Volume=/usr/local/bin/dump:/usr/bin/dump:ro
        Entrypoint=/usr/bin/dump
    '''},
    'layers-as-root': {'image': 'localhost/test/layers:4', 'container': '''
        Volume=/usr/local/bin/dump:/usr/bin/dump:ro
        Entrypoint=/usr/bin/dump
        User=0
        WorkingDir=/data
    '''},
    # The machine's processes, their shared memory, its host name; the payload does not see that file.
    'host-view': '''
        PodmanArgs=--pid=host --ipc=host --uts=host --no-hosts --cidfile=/run/compare-host-view.cid
        Network=none
    ''',
    'pid-host-read-only': '''
        PodmanArgs=--pid=host
        Unmask=ALL
        ReadOnly=true
        VolatileTmp=true
        AddCapability=SYS_ADMIN SYS_RAWIO
    ''',
    'image-volume-ignored': {'image': 'localhost/test/layers:4', 'container': '''
        PodmanArgs=--image-volume=ignore
        Volume=/usr/local/bin/dump:/usr/bin/dump:ro
        Entrypoint=/usr/bin/dump
        ReadOnly=true
    '''},
    'image-volume-tmpfs': {'image': 'localhost/test/layers:4', 'container': '''
        PodmanArgs=--image-volume=tmpfs
        Volume=/usr/local/bin/dump:/usr/bin/dump:ro
        Entrypoint=/usr/bin/dump
    '''},
    'debian': {'image': 'localhost/test/debian', 'container': '''
        Volume=/usr/local/bin/dump:/usr/bin/dump:ro
        Entrypoint=/usr/bin/dump
        User=www-data
    '''},
    'busybox': {'image': 'localhost/test/busybox', 'container': '''
        Volume=/usr/local/bin/dump:/usr/bin/dump:ro
        Entrypoint=/usr/bin/dump
        User=nobody
    '''},
    'rootfs': {'rootfs': '/srv/rootfs', 'container': 'Entrypoint=/usr/bin/dump'},
    'rootfs-overlay': {'rootfs': '/srv/rootfs:O', 'container': 'Entrypoint=/usr/bin/dump'},
    'rootfs-user': {'rootfs': '/srv/rootfs:O', 'container': '''
        Entrypoint=/usr/bin/dump
        User=4242
    '''},
    'socket': {'container': '', 'socket': '''
        [Socket]
        ListenStream=/run/compare-socket
        ListenDatagram=/run/compare-datagram
        FileDescriptorName=doorbell
    '''},
    'notify': {'container': '''
        Notify=true
        Exec=--output /out/%N --ready --hold
    '''},
}
