# SPDX-License-Identifier: LGPL-2.1-or-later
"""The files of compare-with-podman as a user's: under rootless Podman's Quadlet and under keyturn-user-generator.

Every line that differs must be in DIFFERENCES, here or there, with the reason.
"""

import importlib.util
import os
import re

from users import as_user, make_user, show

PACKAGES = ('passt',)
TEST_SECONDS = 400  # the first test starts all of them, under both

HERE = os.path.dirname(os.path.realpath(__file__))
_spec = importlib.util.spec_from_file_location('compare_as_root', os.path.join(HERE, '..', 'compare-with-podman', 'test.py'))
_root = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_root)

IDS_OF_ROOT = "names ids that root has; a user's are compared here and in rootless-ids"
# Cases of root's that are none of a user's, and why.
ROOTS = {
    'bridge.*|userns-bridge': "rootless Podman's bridge is in another network namespace: rootless-bridge",
    'userns-(maps|without-a-group|subids|remap|remap-auto|real-cloud)': IDS_OF_ROOT,
    'scheduling': 'asks for what a user may not have (fifo, a negative OOM score)',
    'socket': "rootless Podman hands no descriptor on where the manager has no session bus, as here",
}
# Cases that keyturn refuses, and what it says.
REFUSED = {
    'devices': 'as she may do it',
    'privileged.*|userns-real-privileged': '(--privileged)',
    'host-view|pid-host-.*': '(--pid)',
    'real-(toolbox|accelerator)': '(--ipc)',
}
# What only a user's container has.
USERS = {
    'keep-id': 'UserNS=keep-id',
    'keep-id-other': 'UserNS=keep-id:uid=1500,gid=1502',
    'keep-id-user': '''
        UserNS=keep-id
        User=0
    ''',
    'keep-groups': 'GroupAdd=keep-groups',
    'nomap': 'UserNS=nomap',
    'pasta': 'Network=pasta',
    'pasta-options': '''
        Network=pasta:--map-gw,--mtu,1400
        HostName=box
        PublishPort=127.0.0.1:8078:80
        DNS=192.0.2.1
        AddHost=machine:host-gateway
    ''',
}

CASES = {name: value for name, value in _root.CASES.items() if not any(re.fullmatch(names, name) for names in ROOTS)} | USERS
_root.CASES |= USERS

# (pattern of the whole line of the difference, pattern of the cases' names or '' for all, reason)
DIFFERENCES = [
    (r'[-+][ug]id_map\[\d\] .*', '',
     "a container has a namespace of its own below the user's, with the same ids; with Podman it is in the user's"),
    (r'-mount /sys/fs/cgroup tmpfs whole rw,relatime private rw,size=4k,nr_inodes=1,.*', '',
     'crun hides the cgroups of the whole machine before it mounts the container\'s; here they are not bound'),
    (r'[-+]masked /sys/fs/cgroup directory 0755 \d+:\d+ full ro', '.*keep-id.*|nomap|userns-.*',
     "the owner of the service's cgroup is the user whom the payload's namespace has her ids from"),
    (r'[-+](mount|masked|writable) /sys/fs/cgroup .*', 'unmask|unmask-all',
     'as with root: it may be written to where it is unmasked; who may is for the owner of the cgroup'),
    (r'-oom_score_adj\[0\] 200', 'further-options', 'what the file says; Podman keeps to what a user starts with'),
    (r'\+oom_score_adj\[0\] 100', 'further-options', 'what the file says; Podman keeps to what a user starts with'),
    (r'[-+]root /(again|from-a-file) directory 0755 (5:6|12:13)', 'volumes-with-names',
     'User= and Group= of a .volume file count for rootless Podman alone'),
    (r'-mount /image overlay whole rw,relatime private ro,redirect_dir=nofollow,userxattr', 'mount-types',
     'both cannot be written; no device node of an image can be opened here'),
    (r'\+mount /image tmpfs bound ro,nodev,relatime private rw', 'mount-types', 'the same'),
    (r'[-+]mount /anonymous tmpfs .*', 'volumes-.*',
     'a volume without a name is a directory of the writable layer, with ReadOnly= a tmpfs; Podman makes a volume'),
    (r'[-+]mount /(proc/\w+|dev/zero) tmpfs bound r[wo],nosuid.* (private|master) rw,.*', 'volumes|real-compositor',
     'a mask is private also where a volume is shared'),
    (r'[-+]mount / overlay whole r[wo](,nodev)?,relatime (private|shared) rw,redirect_dir=nofollow(,fsync=volatile)?,userxattr', '',
     "device files of an image are forbidden by 'nodev'; and no file of the container outlives it, so there is nothing to sync"),
    (r'-env (XDG_CONFIG_HOME|_CONTAINERS_.*)=.*', 'environment-of-the-host', 'Podman sets it for itself'),
    (r'\+env RUNTIME_DIRECTORY=/run/user/1234/keyturn/.*', 'environment-of-the-host',
     "the container's own state is in the unit's RuntimeDirectory="),
    (r'[-+]mount .*[ug]id=5\d{5}.*', 'userns-auto', 'Podman begins with the first ids that are free, keyturn with the last'),
    (r'[-+]mount / tmpfs bound rw(,nodev)?,relatime private rw', 'rootfs', "device files of the directory are forbidden by 'nodev'"),
    (r'\+mount (/etc/hosts|/etc/hostname|/etc/resolv.conf|/run/.containerenv) tmpfs bound rw,relatime private rw,size=.*', 'rootfs',
     'the writable layer is where these files are, with its limits'),
    (r'[-+]masked /proc/interrupts .*', '', "the list of masked paths is Podman 6's"),
    (r'[-+]status Groups (0 )?1503 ', 'nomap', "the group of the namespace's root is nobody's there"),
    (r'[-+](env HOSTNAME=|hostname |sysctl kernel/hostname\[0\] |content /etc/host(s|name)\[\d\] )(\S+\t)?[0-9a-f]{12}( systemd-pasta)?',
     'pasta', 'both make a random name up'),
    (r'[-+]mount /dev/shm tmpfs whole .*', 'keep-id.*|nomap', 'it is made in the namespace, and so is who owns it'),
]

FILES, UNITS = '/home/alice/compare', '/run/user/1234/systemd/user'
ROOTFS = '/home/alice/.local/share/containers/rootfs'
outputs = {}


def case(name):
    return _root.case(name)


def container_file(name):
    return _root.container_file(name).replace('/srv/rootfs', ROOTFS).replace('=%h', '=/home/driver')


def unit(name):
    return f'{name}.{"socket" if "socket" in case(name) else "service"}'


def prepare(machine):
    make_user(machine, 'alice')
    _root.prepare(machine)
    # What the cases have in root's store, alice has in hers.
    machine.run('podman secret rm --all; chmod 0666 /dev/net/tun; chown -R alice: /srv/compare', check=False)
    as_user(machine, '''
        set -e
        podman secret rm --all >/dev/null
        printf secret | podman secret create compare -
        printf 'two lines\nof text' | podman secret create compare-two -
        podman volume rm -fa >/dev/null
        podman unshare true
    ''')
    machine.write('/home/alice/rootfs.sh', f'''
        set -e
        container=$(podman create --network none localhost/test/dump)
        mounted=$(podman mount $container)
        rm -rf {ROOTFS}; cp -a $mounted {ROOTFS}
        podman rm $container
    ''')
    # Nobody says here that the network is up, for which Podman's services of users wait.
    as_user(machine, f'mkdir -p {FILES} {UNITS} ~/.config/containers/systemd ~/.config/systemd/user; podman unshare sh ~/rootfs.sh; '
                     'ln -sf /dev/null ~/.config/systemd/user/podman-user-wait-network-online.service')
    machine.run(f'install -D -t /usr/local/bin {ROOTFS}/usr/bin/dump')


def ended(machine, name):
    if show(machine, name, 'ActiveState') == 'failed':
        raise AssertionError(f'{name} failed')
    text = machine.run(f'cat /run/compare/{name}', check=False).out
    return text if '\ncall userfaultfd' in text else None


def start_and_collect(machine, names):
    """Starts all services, some at once, and returns what their payloads have written."""
    found = {}
    for first in range(0, len(names), 8):
        some = names[first:first + 8]
        machine.run('rm -f ' + ' '.join(f'/run/compare/{name}' for name in some))
        as_user(machine, 'systemctl --user start --no-block ' + ' '.join(f'{unit(name)} {name}.service' for name in some))
        for name in some:
            try:
                found[name] = machine.wait_for(lambda name=name: ended(machine, name), 60)
            except AssertionError as error:
                machine.sync_journal()
                said = machine.run(f'journalctl -o cat --no-pager -n 30 _SYSTEMD_USER_UNIT={name}.service '
                                   f'+ USER_UNIT={name}.service').out
                found[name] = f'no output: {error}\n{said}'
        as_user(machine, 'systemctl --user stop ' + ' '.join(f'{unit(name)} {name}.service' for name in some))
    as_user(machine, 'systemctl --user reset-failed')
    return found


def write(machine, directory, names):
    for name in names:
        machine.write(f'{directory}/{re.sub("@.*", "@", name)}.container', container_file(name))
        if 'socket' in case(name):
            machine.write(f'{UNITS}/{name}.socket', re.sub('/run/compare-', '/run/compare/', _root.textwrap.dedent(case(name)['socket'])))
    machine.write(f'{directory}/compare.volume', _root.VOLUME)
    machine.run(f'chown -R alice: {directory} {UNITS}')


def collect_podman(machine, names):
    write(machine, FILES, names)
    as_user(machine, f'QUADLET_UNIT_DIRS={FILES} {_root.QUADLET} -user {UNITS} && systemctl --user daemon-reload')
    try:
        return start_and_collect(machine, names)
    finally:
        as_user(machine, f'rm -rf {UNITS}/* {FILES}/*; systemctl --user daemon-reload; podman volume rm -fa >/dev/null', check=False)


def collect_keyturn(machine, names):
    write(machine, '/home/alice/.config/containers/systemd', names)
    as_user(machine, 'systemctl --user daemon-reload')
    try:
        return start_and_collect(machine, names)
    finally:
        as_user(machine, 'systemctl --user stop "*-volume.service" "keyturn-volume@*"; rm -rf ~/.config/containers/systemd/*; systemctl --user daemon-reload', check=False)


def collect(machine):
    if not outputs:
        prepare(machine)
        podman = collect_podman(machine, list(CASES))
        prepare(machine)
        keyturn = collect_keyturn(machine, list(CASES))
        for name in CASES:
            outputs[name] = podman[name], keyturn[name]
    return outputs


def compare(machine, name):
    podman, keyturn = collect(machine)[name]
    refused = [words for names, words in REFUSED.items() if re.fullmatch(names, name)]
    if refused:
        assert keyturn.startswith('no output') and refused[0] in keyturn, keyturn
        return
    for who, output in (('Podman', podman), ('keyturn', keyturn)):
        assert not output.startswith('no output'), f'{who}: {output}'
    expected = DIFFERENCES + _root.DIFFERENCES
    found = [line for line in _root.differences(podman, keyturn) if not _root.justified(line, name, expected)]
    assert not found, 'not as under rootless Podman (-), but with keyturn (+):\n' + '\n'.join(found)


def test_this_podman_has_quadlet(machine):
    _root.test_this_podman_has_quadlet(machine)


def make_test(name):
    def test(machine):
        if machine.run(['test', '-x', _root.QUADLET], check=False).status == 0:
            compare(machine, name)
    return test


for _name in CASES:
    globals()['test_' + re.sub('[-@]', '_', _name)] = make_test(_name)
