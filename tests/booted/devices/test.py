# SPDX-License-Identifier: LGPL-2.1-or-later
"""Devices that only the start can know, --privileged, and who forbids all others."""

import contextlib
import pathlib

BUSYBOX = 'localhost/test/busybox'


@contextlib.contextmanager
def nodes(machine):
    """The kernel's log (1:11) under names in directories, and a device that nobody asks for."""
    machine.run('mkdir -p /dev/snd/deep /dev/cams/deep /dev/input && mknod -m 640 /dev/cams/a c 1 11 && '
                'mknod -m 666 /dev/cams/deep/b c 10 229 && ln -s a /dev/cams/link && touch /dev/cams/file && '
                'mknod -m 666 /dev/other c 10 235 && chown 1500:1501 /dev/cams/a && '
                'mknod -m 666 /dev/snd/timer c 1 3 && mknod -m 666 /dev/snd/deep/seq c 1 5 && ln -s cams /dev/by')
    try:
        yield
    finally:
        machine.run('rm -rf /dev/snd /dev/cams /dev/input /dev/other /dev/by')


def once(machine, script, *container, service='', name='once', expect=0):
    """What a container of Type=oneshot says, which runs a shell script without double quotes."""
    assert '"' not in script
    lines = '\n        '.join(container)
    machine.container(name, f'''
        [Unit]
        StartLimitIntervalSec=0

        [Container]
        Image={BUSYBOX}
        Exec=sh -c "{script}; echo :end"
        AddCapability=SYSLOG MKNOD
        {lines}

        [Service]
        Type=oneshot
        {service}
    ''')
    machine.mark()
    machine.run(f'systemctl start {name}', check=False)
    assert machine.show(name, 'ExecMainStatus') == str(expect), machine.journal(name)
    if expect == 0:
        machine.wait_for(lambda: ':end' in machine.journal(name).splitlines())
    return [line for line in machine.journal(name).splitlines() if not line.startswith(('St', 'Fin', ':end', f'{name}.service'))]


def refused(machine, reason, *container, service=''):
    said = '\n'.join(once(machine, 'true', *container, service=service, expect=125))
    assert reason in said, said


# What can be read and written of the nodes that there are, and whether a node of another device can be opened.
USE = ('for i in $$(find /dev/cams /dev/snd /dev/x /dev/other -type c 2>/dev/null | sort); do '
       'dd if=$$i of=/dev/null bs=8192 count=1 2>/dev/null && echo reads $$i; true 2>/dev/null >$$i && echo writes $$i; '
       'stat -c %%n.%%A.%%u.%%g $$i; done; find /dev/cams ! -type c 2>/dev/null | sort; '
       'mknod /tmp/n c 10 235 2>/dev/null; mount -o remount,dev /tmp 2>/dev/null; head -c1 /tmp/n 2>/dev/null && echo hole; '
       'head -c1 /dev/zero >/dev/null && echo zero')


def test_directory_with_a_slash(machine):
    """All nodes below it, with the host's owners, and neither links nor files; nothing else."""
    with nodes(machine):
        said = once(machine, USE, 'AddDevice=/dev/cams/:r')
        assert said == ['reads /dev/cams/a', '/dev/cams/a.crw-r-----.1500.1501', '/dev/cams/deep/b.crw-rw-rw-.0.0',
                        '/dev/cams', '/dev/cams/deep', 'zero'], said
        # A link to a directory, and another place.
        said = once(machine, 'find /dev/x /dev/cams /dev/by 2>/dev/null | sort', 'AddDevice=/dev/by/:/dev/x:rw')
        assert said == ['/dev/x', '/dev/x/a', '/dev/x/deep', '/dev/x/deep/b'], said
        said = once(machine, 'find /dev/cams | sort', 'AddDevice=/dev/by/')
        assert said == ['/dev/cams', '/dev/cams/a', '/dev/cams/deep', '/dev/cams/deep/b'], said
        refused(machine, "'/dev/cams' is a directory: name it '/dev/cams/', with a slash", 'AddDevice=/dev/cams')
        refused(machine, "Device '/dev/nothing' is not there", 'AddDevice=/dev/nothing/')
        assert once(machine, 'true', 'AddDevice=-/dev/nothing/ -/dev/input') == []
        refused(machine, "There is no device in the directory '/dev/input'", 'AddDevice=/dev/input')


def test_directory_of_a_group(machine):
    """systemd allows the group, ahead; the nodes here have another number, which it allows to everybody."""
    with nodes(machine):
        said = once(machine, 'find /dev/snd | sort; head -c1 /dev/snd/deep/seq >/dev/null && echo reads', 'AddDevice=/dev/snd')
        assert said == ['/dev/snd', '/dev/snd/deep', '/dev/snd/deep/seq', '/dev/snd/timer', 'reads'], said
        assert machine.show('once', 'DevicePolicy') == 'closed'
        assert machine.show('once', 'DeviceAllow') == 'char-alsa rwm', machine.show('once', 'DeviceAllow')
        machine.run('mknod /dev/snd/zz c 10 229')
        refused(machine, "not allowed to use the device '/dev/snd/zz' (rwm)", 'AddDevice=/dev/snd')


def test_rule(machine):
    with nodes(machine):
        keys = ('Volume=/dev/cams:/dev/cams', 'AddCapability=SYS_ADMIN')
        said = once(machine, USE, *keys, 'PodmanArgs="--device-cgroup-rule=c 1:11 r"')
        assert 'reads /dev/cams/a' in said and 'writes /dev/cams/a' not in said and 'hole' not in said, said
        said = once(machine, USE, *keys)
        assert 'reads /dev/cams/a' not in said and 'zero' in said, said
        said = once(machine, USE, *keys, 'PodmanArgs="--device-cgroup-rule=a *:* rw"')
        assert {'reads /dev/cams/a', 'writes /dev/cams/a'} <= set(said), said


def test_guard_is_replaced_by_a_restart(machine):
    """The device of the last start is forbidden, and that of this one is allowed, also where the cgroup stays."""
    with nodes(machine):
        machine.container('again', '''
            [Container]
            Image=localhost/test/busybox
            Exec=sh -c "(head -c1 /dev/cams/a >/dev/null 2>&1 && echo reads a; echo :end) >>/run/again; exit 1"
            Volume=/run/again:/run/again
            AddCapability=SYSLOG MKNOD
            Volume=/dev/cams:/dev/cams
            AddDevice=/dev/chosen/

            [Service]
            Restart=always
            RestartSec=0
            ExecStartPre=sh -c 'sleep 0.2'
            ExecStopPost=sh -c 'mv -f /dev/spare/x /dev/chosen/x; true'

            [Unit]
            StartLimitBurst=3
        ''')
        # A file, as lines of two payloads may change places on their way to the journal.
        machine.run('mkdir /dev/chosen /dev/spare; : >/run/again; mknod /dev/chosen/x c 1 5; mknod /dev/spare/x c 1 11; '
                    'systemctl start again', check=False)
        try:
            machine.wait_for(lambda: machine.read('/run/again').splitlines().count(':end') >= 2)
            said = machine.read('/run/again').splitlines()
            assert said[:3] == [':end', 'reads a', ':end'], said
        finally:
            machine.run('systemctl stop again; rm -rf /dev/chosen /dev/spare /run/again', check=False)


def test_unit_can_forbid_more(machine):
    with nodes(machine):
        machine.write('/etc/systemd/system/once.service.d/less.conf', '[Service]\nDevicePolicy=closed\n')
        refused(machine, "not allowed to use the device '/dev/cams/a'", 'AddDevice=/dev/cams/')


def test_privileged(machine):
    with nodes(machine):
        said = once(machine, USE + '; grep ^Seccomp: /proc/self/status; grep ^Cap[BE] /proc/self/status; touch /proc/sys/vm/swappiness && echo proc; '
                    'ls /sys/firmware | head -1; grep /sys/fs/cgroup.*rw, /proc/mounts | wc -l; find /dev -xdev -type b -o -xdev -type c | wc -l',
                    'PodmanArgs=--privileged')
        for line in ('reads /dev/cams/a', 'writes /dev/cams/a', '/dev/cams/a.crw-r-----.1500.1501', 'Seccomp:\t0', 'proc', '1'):
            assert line in said, (line, said)
        assert machine.run("find /dev -xdev -type b -o -xdev -type c ! -name console | wc -l").out.strip() in said, said
        full = machine.run("grep CapBnd /proc/1/status").out.split()[1]
        assert [line.split()[1] for line in said if line.startswith('Cap')] == [full, full], said
        said = once(machine, 'grep Cap[BE] /proc/self/status', 'PodmanArgs=--privileged', 'User=5')
        assert [line.split()[1] for line in said] == ['0000000408000000', full], said  # SYSLOG and MKNOD, which are asked for
        said = once(machine, 'find /dev/cams | sort; ls /srv/dev', 'PodmanArgs=--privileged', 'Volume=/srv/dev:/dev/cams',
                    'Volume=/srv/dev:/srv/dev') if machine.run('mkdir -p /srv/dev') else None
        assert said == ['/dev/cams'], said


def test_in_a_user_namespace(machine):
    """Nodes are the host's own there, as nobody can open one that was made inside."""
    with nodes(machine):
        said = once(machine, 'head -c1 /dev/cams/deep/b 2>&1; stat -c %%t.%%T /dev/cams/deep/b; mknod /tmp/n c 10 235 || echo no',
                    'AddDevice=/dev/cams/', 'UIDMap=0:100000:65536', 'GIDMap=0:100000:65536')
        assert 'a.e5' in said and 'no' in said, said
        # What --privileged gives there: no device but those of AddDevice=, and none can be made.
        said = once(machine, 'ls -d /dev/cams/a 2>&1; mknod /tmp/n c 10 235 2>&1 || echo no; grep ^Seccomp: /proc/self/status; '
                    'stat -c %%t.%%T /dev/cams/deep/b; find /dev -xdev -type b | wc -l',
                    'PodmanArgs=--privileged', 'AddDevice=/dev/cams/deep/b', 'UIDMap=0:100000:65536', 'GIDMap=0:100000:65536')
        assert said == ['ls: /dev/cams/a: No such file or directory', 'mknod: /tmp/n: Operation not permitted', 'no', 'Seccomp:\t0',
                        'a.e5', '0'], said


def test_privileged_drops(machine):
    """Podman drops nothing. Here no container has more than its file says."""
    full = int(machine.run("grep CapBnd /proc/1/status").out.split()[1], 16)
    said = once(machine, 'grep CapBnd /proc/self/status', 'PodmanArgs=--privileged', 'DropCapability=SYS_ADMIN')
    assert int(said[0].split()[1], 16) == full & ~(1 << 21), said
    said = once(machine, 'grep CapBnd /proc/self/status; mount -t tmpfs x /tmp 2>/dev/null || echo no', 'PodmanArgs=--privileged', 'DropCapability=ALL')
    assert said == ['CapBnd:\t0000000408000000', 'no'], said  # SYSLOG and MKNOD, which are asked for


def test_keep_groups(machine):
    said = once(machine, 'id -G', 'GroupAdd=keep-groups', service='SupplementaryGroups=44 29')
    assert said == ['0 29 44'], said
    assert once(machine, 'id -G', service='SupplementaryGroups=44 29') != said


CDI = '{"cdiVersion":"0.7.0","kind":"vendor.com/cam","containerEdits":{"env":["ALL=each"]},"devices":[' \
      '{"name":"a","containerEdits":{"env":["CAM=one","PATH=/bin"],"additionalGids":[0,77],"deviceNodes":[' \
      '{"path":"/dev/front/log","hostPath":"/dev/cams/a","permissions":"r","fileMode":420,"gid":6}],' \
      '"mounts":[{"hostPath":"/srv/cdi","containerPath":"/opt/cdi","options":["ro","nosuid","nodev","bind"]}],' \
      '"hooks":[{"hookName":"createRuntime","path":"/srv/cdi/hook","args":["hook","x"]}]}},' \
      '{"name":"b","containerEdits":{"deviceNodes":[{"path":"/dev/number","type":"c","major":10,"minor":229}]}}]}'

LOOK = ('find /dev/front /dev/number -type c -exec stat -c %%n.%%a.%%u.%%g.%%t.%%T {} + | sort; echo $$ALL.$$CAM.$$PATH; id -G; '
        'cat /opt/cdi/file; touch /opt/cdi/x 2>/dev/null || echo ro; head -c1 /dev/front/log >/dev/null && echo reads; '
        'true 2>/dev/null >/dev/front/log && echo writes')


YAML = '''---
cdiVersion: 0.7.0
containerEdits:
  env: [ALL=each]
devices:
- name: 0
  containerEdits:
    env:
    - CAM=one
    deviceNodes:
    - path: /dev/front/log
      hostPath: /dev/first
      fileMode: 0644
      gid: 6
    additionalGids: [77]
    mounts:
    - {hostPath: /srv/cdi, containerPath: /opt/cdi, options: [ro, nosuid, nodev, bind]}
    hooks:
    - hookName: createRuntime
      path: /srv/cdi/hook
      args: [hook, "0"]
kind: vendor.com/yaml
'''


def test_cdi_in_yaml(machine):
    """As nvidia-ctk writes it: read ahead, anew where it has changed, and it means what it means for Podman."""
    look = 'stat -c %%n.%%a.%%g /dev/front/log; echo $$ALL.$$CAM; id -G; cat /opt/cdi/file; head -c1 /dev/front/log >/dev/null && echo reads'
    machine.run('mkdir -p /srv/cdi /etc/cdi; rm -f /dev/first; mknod /dev/first c 1 5')
    machine.write('/srv/cdi/file', 'of the vendor\n')
    machine.write('/srv/cdi/hook', '#!/bin/sh\ncat >/run/cdi-hook\n', 0o755)
    machine.write('/etc/cdi/vendor.yaml', YAML)
    try:
        machine.run('systemctl restart keyturn-cdi')
        copy = '/run/keyturn/cdi/etc/cdi/vendor.yaml.json'
        assert '"kind":"vendor.com/yaml"' in machine.read(copy)
        machine.run('mv /usr/lib/keyturn/keyturn-cdi /run/')
        try:
            said = once(machine, look, 'AddDevice=vendor.com/yaml=0')
        finally:
            machine.run('mv /run/keyturn-cdi /usr/lib/keyturn/')
        assert said == ['/dev/front/log.644.6', 'each.one', '0 77', 'of the vendor', 'reads'], said
        assert '"bundle":"/run/keyturn/once"' in machine.read('/run/cdi-hook')
        if machine.suite != 'bookworm':  # whose Podman does not know this version
            podman = machine.run(['podman', 'run', '--rm', '--network=host', '--device=vendor.com/yaml=0', BUSYBOX, 'sh', '-c',
                                  look.replace('%%', '%').replace('$$', '$')], check=False)
            assert said == podman.out.splitlines(), podman
        # A writer that is killed with all in its file: the next one leaves nothing of it.
        machine.run('strace -o /dev/null -e inject=rename,renameat,renameat2:signal=KILL /usr/lib/keyturn/keyturn-cdi', check=False)
        assert len(machine.run('ls -A /run/keyturn/cdi/etc/cdi').out.split()) == 2
        machine.run('systemctl restart keyturn-cdi')
        assert machine.run('ls -A /run/keyturn/cdi/etc/cdi').out == 'vendor.yaml.json\n'
        # Changed since: not the copy, though the unit has run.
        machine.write('/etc/cdi/vendor.yaml', YAML.replace('CAM=one', 'CAM=two'))
        assert 'each.two' in once(machine, look, 'AddDevice=vendor.com/yaml=0')
        machine.write('/etc/cdi/vendor.yaml', YAML.replace('name: 0', 'name: !x 0'))
        refused(machine, "'/etc/cdi/vendor.yaml': 6:9: tags", 'AddDevice=vendor.com/yaml=0')
        assert machine.run('systemctl restart keyturn-cdi', check=False).status != 0
        machine.write('/etc/cdi/vendor.yaml', YAML.replace('hookName', 'hook'))
        refused(machine, "'/etc/cdi/vendor.yaml': .devices[0].containerEdits.hooks[0]", 'AddDevice=vendor.com/yaml=0')
        # The same device in both formats of one directory.
        machine.write('/etc/cdi/vendor.yaml', YAML)
        machine.run('/usr/lib/keyturn/keyturn-cdi /etc/cdi/vendor.yaml >/etc/cdi/vendor.json')
        refused(machine, 'Two files of the same directory', 'AddDevice=vendor.com/yaml=0')
    finally:
        machine.run('rm -rf /etc/cdi /srv/cdi /run/cdi-hook /dev/first; systemctl stop keyturn-cdi; systemctl reset-failed keyturn-cdi',
                    check=False)


def test_cdi(machine):
    with nodes(machine):
        machine.write('/etc/cdi/vendor.json', CDI)
        machine.write('/srv/cdi/file', 'of the vendor\n')
        machine.write('/srv/cdi/hook', '#!/bin/sh\ncat >/run/cdi-hook\n', 0o755)
        said = once(machine, LOOK, 'AddDevice=vendor.com/cam=a vendor.com/cam=b -vendor.com/cam=c')
        assert said == ['/dev/front/log.644.0.6.1.b', '/dev/number.666.0.0.a.e5', 'each.one./bin', '0 77', 'of the vendor',
                        'ro', 'reads'], said
        assert '"bundle":"/run/keyturn/once"' in machine.read('/run/cdi-hook')
        if machine.suite != 'bookworm':  # whose Podman does not know this version
            podman = machine.run(['podman', 'run', '--rm', '--network=host', '--cap-add=SYSLOG',
                                  '--device=vendor.com/cam=a', '--device=vendor.com/cam=b', BUSYBOX, 'sh', '-c',
                                  LOOK.replace('%%', '%').replace('$$', '$')], check=False).out.splitlines()
            assert said == podman, podman
        # The stronger directory, a device that is not there, YAML, and what is wrong with a file.
        machine.write('/run/cdi/x.json', CDI.replace('"CAM=one"', '"CAM=two"'))
        assert 'each.two./bin' in once(machine, LOOK, 'AddDevice=vendor.com/cam=a')
        refused(machine, "has the device 'vendor.com/cam=z'", 'AddDevice=vendor.com/cam=z')
        refused(machine, 'has the device', 'AddDevice=nvidia.com/gpu=all')
        machine.write('/run/cdi/y.json', CDI)
        refused(machine, "Two files of the same directory have the CDI device", 'AddDevice=vendor.com/cam=a')
        machine.write('/run/cdi/y.json', '{"cdiVersion":"9.0.0"}')
        damaged = "'/run/cdi/y.json': .cdiVersion: '9.0.0' is no version"
        assert 'each.two./bin' in once(machine, LOOK, 'AddDevice=vendor.com/cam=a')
        assert damaged in machine.journal('once')
        refused(machine, f"that can be read has the device 'vendor.com/cam=z': {damaged}", 'AddDevice=vendor.com/cam=z')
        machine.write('/run/cdi/y.json', CDI.replace('/dev/number', '/etc/number').replace('cam"', 'other"'))
        refused(machine, "is not below /dev", 'AddDevice=vendor.com/other=b')
        machine.run('rm -rf /etc/cdi /run/cdi /srv/cdi /run/cdi-hook')


OPEN = '[Container]\nImage=localhost/test/busybox\nNetwork=none\nExec=sleep 1000\nStopSignal=SIGKILL\n'


def test_a_kernel_that_cannot_keep_them_away(machine):
    def prepare(root):
        directory = pathlib.Path(root, 'etc/containers/systemd')
        directory.mkdir(parents=True, exist_ok=True)
        (directory / 'closed.container').write_text(OPEN)
        (directory / 'listed.container').write_text(OPEN + 'AddDevice=/dev/null\n')
        (directory / 'open.container').write_text(OPEN + '[Service]\nDevicePolicy=auto\n')
        (directory / 'all.container').write_text(OPEN + 'PodmanArgs=--privileged\n')

    with machine.another(prepare, nspawn=['--system-call-filter=@known', '--system-call-filter=~bpf']) as other:
        for name in ('closed', 'listed'):
            assert other.run(f'systemctl start {name}', check=False).status != 0
            assert 'CONFIG_CGROUP_BPF' in other.journal(f'{name}.service')
        other.run('systemctl start open all')
        # Where it is only asked what becomes of the files, they may be another machine's. By systemd-run, as a command of the test
        # is not under PID 1's filter.
        generator = '/usr/lib/systemd/system-generators/keyturn-generator'
        asked = f'systemd-run --quiet --wait --pipe --setenv=QUADLET_UNIT_DIRS=/etc/containers/systemd {generator}'
        other.run(f'{asked} --dry-run')
        assert 'CONFIG_CGROUP_BPF' in other.run(f'{asked} /run', check=False).err
        # Units that were made when a system image was built, for any kernel.
        other.run(f'{generator} --install && test -e /usr/lib/systemd/system/closed.service && systemctl daemon-reload')
        assert other.run('systemctl start closed', check=False).status != 0
