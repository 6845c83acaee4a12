# SPDX-License-Identifier: LGPL-2.1-or-later
"""What surrounds containers has no more than it needs: units, files, the generator.

What systemd-analyze(1) holds against a unit has a reason here, or is a failure."""

import json
import os
import re
import stat

BUSYBOX = 'localhost/test/busybox'

# Why a unit does without: what systemd-analyze calls it, and the reason.
MOUNTS = (r'Private(Tmp|Devices|Mounts)|Protect(Home|System|Kernel\w+|ControlGroups|Clock|Hostname|Proc)|ProcSubset|RootDirectoryOr\w+',
          'a namespace of mounts takes longer than what the unit does, or hides what all are to see')
FILTERS = (r'SystemCall\w+|RestrictNamespaces_\w+|RestrictAddressFamilies_\w+|RestrictRealtime|RestrictSUIDSGID|LockPersonality|'
           r'MemoryDenyWriteExecute',
           'systemd compiles filters anew for each start, for which a boot or a check would wait; and they are inherited')
ROOT = (r'UserOrDynamicUser|SupplementaryGroups|PrivateUsers|RemoveIPC', 'it makes or reads what is root\'s')
NETWORK = (r'PrivateNetwork|IPAddressDeny|RestrictAddressFamilies_\w+', 'another network namespace takes longer than what it does')
CAPABILITIES = (r'CapabilityBoundingSet_\w+\)?', 'its unit says what for')
UMASK = (r'UMask', 'what is not for all is made so by name')
# DeviceAllow: ProtectClock= brings the clock's, to read.
METRICS = (r'ProtectProc|ProcSubset|RootDirectoryOr\w+|RestrictAddressFamilies_AF_UNIX|DeviceAllow',
           'it reads processes of containers, and asks systemd')
# Without a bounding set of all, no program has more than that.
BOUNDED = (r'NoNewPrivileges', 'there are none beyond its bounding set')
PAYLOAD = (r'NoNewPrivileges|CapabilityBoundingSet_\w+\)?|AmbientCapabilities|KeyringMode', 'a check has what its payload has')
BUILDER = (r'NoNewPrivileges|CapabilityBoundingSet_\w+\)?|DeviceAllow', 'it executes podman or skopeo, and what those execute')
AHEAD = (MOUNTS, FILTERS, ROOT, NETWORK, CAPABILITIES, UMASK)

# With what is held against each at most, of 10.
UNITS = {
    'keyturn-relay.service': (7.6, AHEAD),
    'keyturn-seccomp.service': (6.7, AHEAD),
    'keyturn-cdi.service': (6.7, AHEAD),
    'keyturn-stop@web.service': (7.1, AHEAD),
    'keyturn-userns@web.service': (7.8, AHEAD),
    'keyturn-idle@keyturn-network@web.service': (7.0, AHEAD),
    'keyturn-volume@named.service': (7.9, (*AHEAD, BUILDER)),
    'keyturn-network@web.service': (5.0, AHEAD),
    'keyturn-health@web.service': (9.4, (*AHEAD, PAYLOAD)),
    'keyturn-health-every@30s.service': (9.4, (*AHEAD, PAYLOAD)),
    'keyturn-update.service': (8.0, (*AHEAD, BUILDER)),
    'keyturn-update-resume.service': (8.0, (*AHEAD, BUILDER)),
    'keyturn-metrics.service': (2.0, (ROOT, CAPABILITIES, UMASK, METRICS)),
    # What the generator makes.
    'shop-network.service': (7.8, (*AHEAD, BOUNDED)),
    'data-volume.service': (7.9, (*AHEAD, BUILDER)),
    'shop-pod.service': (7.3, (*AHEAD, BOUNDED)),
    'some-image.service': (8.0, (*AHEAD, BUILDER)),
    'some-build.service': (9.6, (*AHEAD, BUILDER)),
    'keyturn-pull-pulled.service': (8.0, (*AHEAD, BUILDER)),
}


def files(machine):
    """One of each kind."""
    for file in ('/etc/subuid', '/etc/subgid'):
        machine.write(file, 'containers:2147483647:2147483648\n')
    for name, text in {
            'shop.network': '[Network]\n',
            'data.volume': '[Volume]\n',
            'shop.pod': '[Pod]\n',
            'some.image': f'[Image]\nImage={BUSYBOX}\n',
            'some.build': '[Build]\nImageTag=localhost/some\nSetWorkingDirectory=unit\n',
            'member': f'[Container]\nImage={BUSYBOX}\nPod=shop.pod\nExec=sleep 1000\n[Service]\nKillSignal=SIGKILL\n',
            'pulled': '[Container]\nImage=localhost/elsewhere\nPull=missing\n',
            'wrong': '[Container]\nImage=localhost/elsewhere\nNetwrk=host\n',
            'web': f'''
                [Container]
                Image={BUSYBOX}
                Exec=sleep 1000
                Network=shop.network
                Volume=data.volume:/data
                Volume=named:/named
                UserNS=auto
                Secret=word
                HealthCmd=true
                HealthInterval=30s
                [Service]
                KillSignal=SIGKILL
            '''.replace('                ', '')}.items():
        machine.container(name, text, reload=False)
    machine.reload()


def test_units_have_what_they_need(machine):
    files(machine)
    units = machine.run('cd /run/systemd/generator && ls *.service; cd /usr/lib/systemd/system && ls keyturn*.service').out.split()
    templates = {re.sub('@.*', '@.service', unit) for unit in UNITS}
    assert set(units) - templates == {'web.service', 'member.service', 'pulled.service', 'wrong.service'}, set(units) ^ templates
    wrong = []
    for unit, (most, reasons) in UNITS.items():
        points = [point for point in json.loads(machine.run(['systemd-analyze', 'security', '--json=short', unit]).out)
                  if float(point['exposure'] or 0)]
        wrong += [f'{unit}: {point["name"]} {point["description"]}' for point in points
                  if not any(re.fullmatch(reason[0], point['json_field']) for reason in reasons)]
        overall = re.search(r'Overall exposure level.*: ([\d.]+) ',
                            machine.run(['systemd-analyze', 'security', '--no-pager', unit]).out)
        if float(overall[1]) > most:
            wrong.append(f'{unit}: {overall[1]}, at most {most}')
    assert not wrong, '\n'.join(wrong)


def walk(machine, top):
    for folder, folders, names in os.walk(machine.path(top)):
        for path in [folder, *(os.path.join(folder, name) for name in names)]:
            yield path.removeprefix(machine.path('/')).lstrip('/'), os.lstat(path), path


def test_what_is_installed_is_roots(machine):
    wrong, seen = [], 0
    for top in ('/usr/lib/keyturn', '/usr/bin', '/usr/lib/systemd', '/usr/lib/tmpfiles.d'):
        for name, status, path in walk(machine, top):
            if 'keyturn' not in name or stat.S_ISLNK(status.st_mode):
                continue
            seen += 1
            program = stat.S_ISDIR(status.st_mode) or open(path, 'rb').read(4) == b'\x7fELF'
            if stat.S_IMODE(status.st_mode) != (0o755 if program else 0o644) or (status.st_uid, status.st_gid) != (0, 0):
                wrong.append(f'{name}: {status.st_mode:o} {status.st_uid}:{status.st_gid}')
            if 'security.capability' in os.listxattr(path):
                wrong.append(f'{name} has capabilities of its own')
    assert seen > 20, seen
    assert not wrong, wrong


# What a user of the machine could change, or could read where that is a container's business only.
SECRET = re.compile(r'/(ids|userns|pod|secrets)(/|$)|/\.private|/systemd-\w+|/\.health|/relay$')


def test_what_is_made_is_roots(machine):
    files(machine)
    machine.run('printf hush | podman secret create word - && systemctl start web member keyturn-health@web')
    # A record may be replaced meanwhile.
    made = machine.run("find /run/keyturn /var/lib/keyturn -printf '%y %m %U:%G %p\\n'", check=False).out.splitlines()
    for what in ('/run/keyturn/relay', '/run/keyturn/web/systemd-web/config.json', '/run/keyturn/pod/shop-pod/uts',
                 '/run/keyturn/network/web/netns', '/run/keyturn/userns/web', '/run/keyturn/seccomp', '/var/lib/keyturn/ids/web',
                 '/var/lib/keyturn/leases/web'):
        assert any(line.endswith(' ' + what) for line in made), (what, made)
    wrong = []
    for line in made:
        kind, mode, owner, path = line.split(' ', 3)
        mode = int(mode, 8)
        # The mount points of a container in a user namespace are that namespace's.
        if owner != '0:0' and '/.private' not in path:
            wrong.append(line)
        # Its shared memory, in a directory that nobody else enters.
        if mode & 0o6022 and kind != 'l' and not path.endswith('/shm'):
            wrong.append(line)
    assert not wrong, wrong
    machine.run('id nobody2 || useradd nobody2')
    seen = machine.run('su nobody2 -s /bin/sh -c "find /run/keyturn /var/lib/keyturn -type f -readable; '
                       'find /run/keyturn /var/lib/keyturn -type s -writable" 2>/dev/null', check=False).out.split()
    assert any(path.endswith('.timing') for path in seen), f'nothing was looked at: {seen}'
    assert not [path for path in seen if SECRET.search(path)], seen


def generate(machine, name, capabilities):
    """Runs the generator with these capabilities only; what it made is in /run/NAME."""
    bounding = ''.join(f',+{capability}' for capability in capabilities)
    machine.run(f'mkdir -p /run/{name} /run/made/normal /run/made/early /run/made/late')
    machine.run(f'cd /run/{name} && setpriv --bounding-set=-all{bounding} --inh-caps=-all sh -c "grep CapEff /proc/self/status >/run/caps; '
                '/usr/lib/systemd/system-generators/keyturn-generator /run/made/normal /run/made/early /run/made/late 2>said; '
                'echo \\$? >status" && mv /run/made .')
    held = int(machine.read('/run/caps').split()[1], 16)
    assert bin(held).count('1') == len(capabilities), (capabilities, hex(held))


def test_the_generator_needs_no_capability(machine):
    """But those for its one question to the kernel: can it keep a container from devices? Who may not ask has no answer."""
    files(machine)
    machine.run('mkdir -p /run/all/made && cd /run/all && mkdir -p /run/made/normal /run/made/early /run/made/late && '
                '/usr/lib/systemd/system-generators/keyturn-generator /run/made/normal /run/made/early /run/made/late 2>said; '
                'echo $? >status; rm -r made; mv /run/made .')
    assert 'Netwrk' in machine.read('/run/all/said')
    assert len(machine.run('find /run/all -name "*.service"').out.split()) >= 10
    generate(machine, 'asking', ('bpf', 'net_admin'))
    # Which capabilities containers will have says which filters are made ahead: as systemd has them, as a rule.
    machine.run('diff -r --no-dereference --exclude=keyturn-seccomp.service.d /run/all /run/asking')
    generate(machine, 'none', ())
    for name in ('web', 'member', 'pulled', 'wrong'):
        commands = re.findall('^ExecStart=.+', machine.read(f'/run/none/made/normal/{name}.service'), re.M)
        assert [' '.join(command.split()[:2]) for command in commands] == ['ExecStart=/usr/lib/keyturn/libstart refuse'], commands
    machine.run('cd /run/all/made/normal && for unit in shop-network data-volume shop-pod some-image some-build; do '
                'cmp $unit.service /run/none/made/normal/$unit.service || exit; done')
