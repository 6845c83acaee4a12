# SPDX-License-Identifier: LGPL-2.1-or-later
"""SELinux, enforcing: a container's labels, those that Podman gives, volumes, and attacks on relabelling."""

import re

SUITE = 'trixie-labels'

# As a payload: its label, what is mounted for it with one, and whether it can write to its own files.
LOOK = r'''
cat /proc/self/attr/current; echo
awk '{ for (i = 1; i < NF; i++) if ($i == "-") break; print $5, $(i + 1), $(i + 3) }' /proc/self/mountinfo |
        sed -n 's/^\([^ ]*\) \([^ ]*\) .*,\([a-z]*context="[^"]*"\).*/\1 \2 \3/p; s/^\(.sys.fs.selinux selinuxfs\).*/\1/p' | sort
for file in /etc/x /dev/shm/x; do echo "$file" >$file && cat $file; done 2>/dev/null || echo 'nothing written'
'''

USE = 'cat /data/file && echo new >/data/new && cat /data/new'


def container(command='true', more='', image='Image=localhost/test/busybox'):
    return f'''
[Container]
{image}
Network=none
Exec=sh -c "{command}; echo ready; sleep 1000 & wait"
Volume=/srv/look:/look:ro
StopTimeout=0
{more}
'''


CONTEXTS = '''process = "system_u:system_r:container_t:s0"
file = "system_u:object_r:container_file_t:s0"
ro_file = "system_u:object_r:container_ro_file_t:s0"
init_process = "system_u:system_r:container_kvm_t:s0"
'''

POD = 'Pod=both.pod\nStartWithPod=false'

# Unit -> file, and whether it starts.
UNITS = {
    'plain': container('sh /look'),
    'refused': container(USE, 'Volume=/srv/plain:/data'),
    'private': container(USE, 'Volume=/srv/private:/data:Z'),
    'other': container(USE, 'Volume=/srv/private:/data'),
    'shared': container(USE, 'Mount=type=bind,source=/srv/shared,destination=/data,relabel=shared'),
    'also': container('cat /data/file', 'Volume=/srv/shared:/data:z'),
    'typed': container('sh /look', 'SecurityLabelType=container_kvm_t\nSecurityLabelLevel=s0:c1,c2'),
    'filetype': container('sh /look', 'PodmanArgs=--security-opt label=type:container_kvm_t\n'
                                      'SecurityLabelFileType=container_ro_file_t'),
    'disabled': container('sh /look', 'SecurityLabelDisable=true'),
    'nested': container('sh /look', 'SecurityLabelNested=true\nTmpfs=/tmpfs'),
    'tree': container('cat /etc/hostname', 'ReadOnly=true\nHostName=tree', 'Rootfs=/srv/tree'),
    'init': container('sh /look', 'PodmanArgs=--systemd=always'),
    'typedinit': container(more='PodmanArgs=--systemd=always\nSecurityLabelType=container_kvm_t'),
    'named': container('echo kept >/data/x; cat /data/x', 'Volume=named:/data'),
    'overlaid': container(USE, 'Volume=/srv/plain:/data:O'),
    'secret': container('cat /run/secrets/token; echo x >/run/secrets/token', 'Secret=token'),
    'mapped': container('sh /look; cat /run/secrets/token; echo kept >/data/y && cat /data/y',
                        'UserNS=auto:size=1000\nSecret=token\nVolume=inner:/data:U'),
    'ready': '[Container]\nImage=localhost/test/dump\nNetwork=none\nNotify=yes\nExec=--output /dev/null --ready --hold\n',
    'giver': container('echo given >/dev/shm/given; cat /dev/shm/given; touch /dev/mqueue/q', POD),
    'taker': container('cat /dev/shm/given; echo more >/dev/shm/given; ls /dev/mqueue', POD),
    'unknown': container(more='SecurityLabelType=qm_t'),
    'traces': container(more='AddCapability=SYS_PTRACE'),
    'systems': container(more='Volume=/etc:/data:z'),
}

# Of these Podman gives the same, but for the pair of categories: its options, and where it takes them from.
PODMAN = {
    'plain': '',
    'typed': '--security-opt label=type:container_kvm_t --security-opt label=level:s0:c1,c2',
    'filetype': '--security-opt label=type:container_kvm_t --security-opt label=filetype:container_ro_file_t',
    'disabled': '--security-opt label=disable',
    'nested': '--security-opt label=nested --tmpfs /tmpfs',
    'init': '--systemd=always',
}

SCRIPT = rf'''
value() {{ systemctl show --property="$2" --value "$1.service"; }}
said() {{ journalctl --sync; journalctl --quiet --output=cat "_SYSTEMD_UNIT=$1.service"; }}
label() {{ tr -d '\0\n' <"/proc/$(value "$1" MainPID)/attr/current"; }}
level() {{ label "$1" | cut -d: -f4-; }}

cd /srv
mkdir -p private/deep shared plain outside tree/bin tree/etc tree/proc tree/sys tree/dev tree/run tree/tmp
for file in private/file shared/file plain/file outside/secret outside/linked private/deep/file; do echo "$file" >$file; done
# What a payload has left there: links of both kinds, out of its volume.
ln -s ../outside private/out
ln -s /srv/outside/secret private/deep/secret
ln outside/linked private/linked
ln private/file private/deep/second
cp /usr/bin/busybox tree/bin/
for applet in sh cat sleep; do ln -s busybox tree/bin/$applet; done
touch tree/look tree/etc/hosts tree/etc/hostname tree/run/.containerenv
restorecon -R /etc/containers /etc/subuid /etc/subgid /etc/credstore /usr/share/containers/selinux /srv
mkdir -p /var/lib/keyturn && chcon -t container_var_lib_t /var/lib/keyturn
chcon -R -t container_file_t tree
chcon -t container_ro_file_t look

setenforce 1
systemctl daemon-reload
for unit in {' '.join(UNITS)}; do
        systemctl start $unit 2>/dev/null || true
        echo "$unit $([ "$(value $unit ActiveState)" = active ] && label $unit || true)" >>labels
done
# Beside who may trace it comes in by another way.
entered=
for unit in plain traces; do
        has=$(keyturnctl exec $unit cat /proc/self/attr/current 2>&1 | tr -d '\0')
        entered="$entered$([ "$has" = "$(label $unit)" ] && echo same || echo "$has") "
done
mode=$(getenforce)
paths=$(ls -dZ private private/* private/deep/* shared shared/file outside/*)

# Levels that are taken, by another container of keyturn's and by one of Podman's.
plain=$(level plain) shared=$(level shared)
systemctl stop plain shared also
mkdir -p /run/keyturn/taken/.private
ln -s "$plain" /run/keyturn/taken/.private/level
setenforce 0
chcon -R -t var_run_t /run/keyturn/taken
podman create --network=none --security-opt "label=level:$shared" localhost/test/busybox >/dev/null
setenforce 1
systemctl start plain shared
taken="$([ "$(level plain)" != "$plain" ] && echo another) $([ "$(level shared)" != "$shared" ] && echo another)"
rm -r /run/keyturn/taken
systemctl restart plain
taken="$taken, $([ "$(level plain)" = "$plain" ] && echo its own)"
# What is moved into a volume keeps its label, and that is not looked into once more.
echo moved >/run/moved
mv /run/moved private/
systemctl restart private
moved=$(ls -Z private/moved)

setenforce 0
echo "$mode, exec: $entered, taken: $taken"
cat labels
echo "== moved"
echo "$moved"
echo "== paths"
echo "$paths"
for unit in {' '.join(UNITS)}; do echo "== $unit"; said $unit; done
look() {{ podman run --rm --network=none -v /srv/look:/look:ro "$@" localhost/test/busybox sh /look; }}
{chr(10).join(f'echo "== podman {name}"; look {options}' for name, options in PODMAN.items())}
'''

PAIR = re.compile(r's0:c(\d+),c(\d+)')
FILE = 'system_u:object_r:container_file_t:s0'


def sections(text):
    parts = re.split(r'^== (.*)\n', text, flags=re.M)
    return parts[0], dict(zip(parts[1::2], parts[2::2]))


def check_labels(labels):
    '''Each that runs has its label, with a pair that no other has.'''
    expected = dict.fromkeys(('plain', 'refused', 'private', 'other', 'shared', 'also', 'nested', 'tree', 'ready',
                              'giver', 'taker', 'named', 'overlaid', 'secret', 'mapped', 'traces'), 'container_t')
    expected.update(typed='container_kvm_t', filetype='container_kvm_t', typedinit='container_kvm_t',
                    init='container_kvm_t', disabled='spc_t')
    for name in UNITS:
        wanted = f'system_u:system_r:{expected[name]}:s0' if name in expected else ''
        assert PAIR.sub('s0', labels[name]) == wanted, f'{name}: {labels[name]}'
    assert labels['typed'].endswith(':s0:c1,c2'), labels['typed']
    assert labels['disabled'].endswith(':s0'), labels['disabled']
    assert labels['giver'] == labels['taker'], labels
    levels = [PAIR.search(label).group() for label in labels.values() if PAIR.search(label)]
    assert len(levels) == 20 and len(set(levels)) == 19, levels


def check_paths(text, private):
    labels = {path: label for label, path in map(str.split, text.splitlines())}
    for path in ('private', 'private/deep', 'private/deep/file', 'private/deep/second', 'private/deep/secret',
                 'private/file', 'private/out', 'private/new'):
        assert labels.pop(path) == private, f'{path}: {text}'
    for path in ('shared', 'shared/file'):
        assert labels.pop(path) == FILE, f'{path}: {text}'
    # By no link out of the volume.
    assert labels == dict.fromkeys(('private/linked', 'outside/linked', 'outside/secret'), 'system_u:object_r:var_t:s0'), text


def check_podman(said, report):
    for name in PODMAN:
        # Podman runs where nothing is enforced.
        ours, podmans = ([PAIR.sub('PAIR', line.strip(' \0')) for line in said[key].splitlines()
                          if 'context=' in line or line.startswith(('system_u:', '/sys/fs/selinux'))]
                         for key in (name, f'podman {name}'))
        if name == 'plain':
            ours = ours[:len(podmans)]  # it was started again
        assert len(podmans) > 5 and ours == podmans, f'{name}: {ours} {podmans}\n{report.trouble(1000)}'


def run(vm):
    report = vm.boot({
        'srv/look': LOOK,
        # As of a policy that has a type for inits; Podman reads the same file.
        'usr/share/containers/selinux/contexts': CONTEXTS,
        'etc/credstore/token': 'sesame\n',
        'etc/subuid': 'containers:2147483647:2147483648\n',
        'etc/subgid': 'containers:2147483647:2147483648\n',
        'etc/containers/systemd/both.pod': '[Pod]\nNetwork=host\n',
        **{f'etc/containers/systemd/{name}.container': text for name, text in UNITS.items()},
    }, SCRIPT, cmdline='security=selinux selinux=1 enforcing=0')
    assert report.status == 0, report.trouble()
    head, said = sections(report.out)
    lines = head.splitlines()
    assert lines[0] == 'Enforcing, exec: same same , taken: another another, its own', report.trouble(200)
    labels = dict((line + ' ').split(' ')[:2] for line in lines[1:])
    check_labels(labels)
    private = FILE + labels['private'].split('s0')[1]
    check_paths(said['paths'], private)
    check_podman(said, report)

    written = '/etc/x\n/dev/shm/x\nready\n'
    for name in ('plain', 'typed', 'disabled', 'nested', 'init'):
        assert said[name].endswith(written), said[name]
    # Complaints come by another pipe, before or after.
    lines = said['filetype'].splitlines()
    assert 'nothing written' in lines and 'ready' in lines, said['filetype']
    for name in ('refused', 'other'):
        assert sorted(said[name].splitlines()) == ["cat: can't open '/data/file': Permission denied", 'ready'], said[name]
    assert said['also'] == 'shared/file\nready\n' and said['tree'] == 'tree\nready\n', said
    relabelled = [line for line in said['private'].splitlines() if line.startswith('Relabelling')]
    assert relabelled == [f"Relabelling '/srv/private' as '{private}'"], said['private']
    assert "1 files in '/srv/private' have names outside of it" in said['private'], said['private']
    assert said['private'].count('private/file\nnew\nready\n') == 2, said['private']
    assert said['shared'].startswith(f"Relabelling '/srv/shared' as '{FILE}'\nshared/file\nnew\nready\n"), said['shared']
    assert not said['moved'].startswith(FILE), said['moved']
    assert (said['giver'], said['taker']) == ('given\nready\n', 'given\nq\nready\n'), said
    assert said['named'] == 'kept\nready\n', said['named']
    # What is written goes into the overlay, and the directory keeps the label that keeps others out.
    assert said['overlaid'] == 'plain/file\nnew\nready\n' and said['refused'].count('denied') == 1, said['overlaid']
    assert 'sesame' in said['secret'].splitlines() and 'ready' in said['secret'], said['secret']
    assert said['mapped'].endswith('/etc/x\n/dev/shm/x\nsesame\nkept\nready\n'), said['mapped']
    assert said['unknown'].startswith("SELinux's policy has no label 'system_u:system_r:qm_t:s0:"), said['unknown']
    assert "'/etc' is a directory or file of the system's" in said['systems'], said['systems']
