# SPDX-License-Identifier: LGPL-2.1-or-later
"""Twenty containers with the keys that files of public repositories combine (tests/quadlet/REAL-FILES.md), in other words."""

CASES = {
    # A compositor in a car: sockets and state of the system, terminals, its own word when it is ready.
    'real-compositor': {'container': '''
        ContainerName=picture
        Environment=XDG_RUNTIME_DIR=/run/user/0
        Exec=--output /out/real-compositor --ready --hold
        Volume=/srv/compare:/run/systemd:ro
        Volume=/srv/compare/file:/etc/picture/picture.ini
        Volume=/srv/compare:/run/user/0
        Notify=True
        AddDevice=/dev/zero
        AddDevice=-/dev/no-such-screen
        Annotation=org.example.seat=seat0
    ''', 'more': '''
        [Service]
        Restart=always
    '''},
    # A second system in a partition of its own.
    'real-partition': {'rootfs': '/srv/rootfs:O', 'container': '''
        Entrypoint=/usr/bin/dump
        AddCapability=all
        ContainerName=other
        SecurityLabelType=other_t
        SecurityLabelFileType=other_file_t
        Volume=compare-etc:/srv:copy
        Volume=compare-var:/var/tmp:copy
    ''', 'more': '''
        [Service]
        OOMScoreAdjust=500
        Delegate=true
    '''},
    'privileged-real-hub': {'container': '''
        ContainerName=hub
        Volume=/srv/compare:/config:Z
        Environment=TZ=Europe/Prague
        PodmanArgs=--privileged
        StopTimeout=60
        Pull=missing
    ''', 'more': '''
        [Service]
        TimeoutStopSec=90
        StateDirectory=compare-hub
        StateDirectoryMode=0700
    '''},
    'privileged-real-console': '''
        Volume=/srv:/host
        PodmanArgs=--privileged --cgroups=split
        Label=io.containers.autoupdate=registry
        Environment=NAME=console-ws
    ''',
    'pid-host-real-exporter': '''
        Volume=/srv:/host:ro,rslave
        PodmanArgs=--pid=host --user=0
        SecurityLabelDisable=true
        Environment=FILTER=^(autofs|cgroup2?)$$
    ''',
    'real-control-plane': '''
        User=10032
        Group=10000
        Volume=/srv/compare/file:/etc/plane/config.yaml:ro,Z
        SecurityLabelDisable=true
        NoNewPrivileges=true
        DropCapability=ALL
        ReadOnly=true
        Tmpfs=/tmp
        Tmpfs=/run/systemd/system
    ''',
    'real-database': {'image': 'localhost/test/layers:4', 'container': '''
        Volume=/usr/local/bin/dump:/usr/bin/dump:ro
        Entrypoint=/usr/bin/dump
        Environment=DB_NAME=store DB_USER=one "DB_ARGS=--data-checksums --one"
        Secret=compare,type=env,target=DB_PASSWORD
        Volume=/srv/compare:/var/lib/db/data:Z
        PodmanArgs=--image-volume=ignore
        ShmSize=128mb
        DropCapability=ALL
        User=999
        NoNewPrivileges=true
    '''},
    'secret-real-broker': '''
        Secret=compare,target=/broker/secrets/passwd,uid=1883,gid=1883,mode=0400
        Volume=/srv/compare:/broker/data:z
        ReadOnly=true
        Tmpfs=/tmp:size=64M
        DropCapability=ALL
        AddCapability=NET_BIND_SERVICE
        User=1883
        NoNewPrivileges=true
    ''',
    'real-toolbox': '''
        PodmanArgs=--entrypoint /usr/bin/dump
        PodmanArgs=--ipc host
        PodmanArgs=--security-opt label=disable
        Ulimit=host
        User=root:root
        Environment=SHELL=%s HOME=%h
        Volume=/srv/compare:/run/host:rslave
        Volume=/anonymous
        Volume=/etc/hosts:/etc/hosts:ro
    ''',
    'bridge-real-gateway': '''
        Network=bridge:ip=10.88.0.81
        HostName=gateway
        NetworkAlias=front
        AddHost=machine:host-gateway
        EnvironmentFile=/etc/compare.env
        Volume=/srv/compare:/etc/gateway:ro,z
        Volume=/srv/compare/file:/etc/gateway/file:ro,z
        User=1001
        Group=0
        PublishPort=127.0.0.1:8443:8443
        PublishPort=127.0.0.1:8445:8445/udp
    ''',
    'bridge-real-tunnel': '''
        Network=bridge:ip=10.88.0.82
        HostName=tunnel
        AddCapability=NET_ADMIN SYS_MODULE NET_RAW
        Sysctl=net.ipv4.conf.all.src_valid_mark=1 net.ipv4.ip_forward=1
        PublishPort=51820/udp
        DNS=192.0.2.1
        DNS=2001:db8::1
    ''',
    'real-job': {'container': r'''
        Entrypoint=/bin/sh
        Exec=-c 'set -eu; export A B \
          C && \
          exec /usr/bin/dump --output "/out/real-job" --hold $$0 "$${A:-none}"'
        Environment=A=a
        Environment=B="b c"
    ''', 'more': '''
        [Service]
        Type=oneshot
        RemainAfterExit=yes
    '''},
    'real-limits': '''
        Ulimit=nofile=5000:6000
        PodmanArgs=--ulimit memlock=65536:65536
        PodmanArgs=--cap-add SYS_ADMIN,MKNOD,SETUID
        PodmanArgs=--security-opt label=disable
        ShmSize=1g
    ''',
    'real-accelerator': '''
        GroupAdd=39
        GroupAdd=105
        AddDevice=/dev/zero
        SecurityLabelDisable=true
        PodmanArgs=--ipc=host
        PodmanArgs=--cap-add=SYS_PTRACE
        PodmanArgs=--security-opt=seccomp=unconfined
        Environment="CLI_ARGS=--listen 0.0.0.0"
    ''',
    'real-frames': '''
        Volume=/dev/shm:/dev/shm
        Volume=/srv/compare:/models
        PodmanArgs=--group-add=cameras
    ''',
    'real-masks': {'container': '''
        Mask=/proc/acpi:/proc/kcore:/proc/keys:/proc/timer_list:/proc/scsi:/sys/firmware
        HostName=game-%N
        StopTimeout=130
        PodmanArgs=--cap-drop=all --security-opt=no-new-privileges
        Volume=${EXPANDED}:/data:Z
    ''', 'more': '''
        [Service]
        Environment=EXPANDED=/srv/compare
    '''},
    'real-words': '''
        Environment=TZ="Europe/London"
        Environment=FTL=192.0.2.8 # change as needed
        Environment=extra="--o:one=false \\
                          --o:two=true"
        Environment=TOKEN="$$argon2i...LONG"
        Label=web.rule=Host(`one.example`)
        Label=own.description="of two words"
        Label=tag.include=^[0-9]+[.][0-9]+$$
    ''',
    'userns-real-cloud': '''
        User=driver
        Group=driver
        UIDMap=0:1000000:65535
        UIDMap=+1500:10008:1
        GIDMap=0:1000000:65535
        GIDMap=+1501:10000:1
        Network=none
        HostName=cloud
        AddCapability=CAP_NET_BIND_SERVICE
        AddHost=office:127.0.0.1
        Volume=/srv/compare:/var/www:z
    ''',
    'userns-real-keep-id': '''
        UserNS=keep-id:uid=101,gid=101
        Network=none
        HostName=server
        Volume=/srv/compare:/var/lib/server/data:Z
    ''',
    'userns-real-privileged': '''
        PodmanArgs=--userns=keep-id --privileged
        Network=none
        HostName=advisor
        Volume=/srv/compare:/rootfs:ro
    ''',
}
