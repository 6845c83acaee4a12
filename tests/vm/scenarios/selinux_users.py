# SPDX-License-Identifier: LGPL-2.1-or-later
"""SELinux: a user's containers have the labels that root's have. Nothing is enforced: Debian's policy has no engine of a user's."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
import rootless  # noqa: E402
from selinux import CONTEXTS, LOOK, PAIR, SUITE, USE, container, sections  # noqa: E402, F401

FILE = 'system_u:object_r:container_file_t:s0'

# Unit -> file.
UNITS = {
    'plain': container('sh /look'),
    'typed': container('sh /look', 'SecurityLabelType=container_kvm_t\nSecurityLabelLevel=s0:c1,c2'),
    'disabled': container('sh /look', 'SecurityLabelDisable=true'),
    'private': container(USE, f'Volume={rootless.HOME}/private:/data:Z'),
    'named': container('echo kept >/data/x; cat /data/x', 'Volume=named:/data'),
    'unknown': container(more='SecurityLabelType=qm_t'),
}

SCRIPT = rf'''
hers() {{ setpriv --reuid {rootless.UID} --regid {rootless.UID} --init-groups env XDG_RUNTIME_DIR=/run/user/{rootless.UID} HOME={rootless.HOME} "$@"; }}
value() {{ hers systemctl --user show --property="$2" --value "$1.service"; }}
said() {{ journalctl --sync; journalctl --quiet --output=cat "_SYSTEMD_USER_UNIT=$1.service" + "USER_UNIT=$1.service"; }}
label() {{ tr -d '\0\n' <"/proc/$(value "$1" MainPID)/attr/current"; }}

systemctl start user@{rootless.UID}
cd {rootless.HOME}
hers mkdir private
hers sh -c 'echo private/file >private/file'
restorecon -R /etc/containers /etc/subuid /etc/subgid /usr/share/containers/selinux {rootless.HOME}
chcon -t container_ro_file_t /srv/look
hers systemctl --user daemon-reload
for unit in {' '.join(UNITS)}; do
        hers systemctl --user start $unit 2>/dev/null || true
        echo "$unit $([ "$(value $unit ActiveState)" = active ] && label $unit || true)" >>/run/labels
done
cat /run/labels
echo "== paths"
ls -dZ private private/*
for unit in {' '.join(UNITS)}; do echo "== $unit"; said $unit; done
'''


def run(vm):
    report = vm.boot({
        **rootless.USER, **rootless.LINGER, **rootless.MASKED, **rootless.images(),
        'srv/look': LOOK,
        'usr/share/containers/selinux/contexts': CONTEXTS,
        **{f'etc/containers/systemd/users/{rootless.UID}/{name}.container': text for name, text in UNITS.items()},
    }, SCRIPT, cmdline='security=selinux selinux=1 enforcing=0', seconds=1200)
    assert report.status == 0, report.trouble()
    head, said = sections(report.out)
    labels = dict((line + ' ').split(' ')[:2] for line in head.splitlines())
    types = {'plain': 'container_t', 'private': 'container_t', 'named': 'container_t', 'typed': 'container_kvm_t', 'disabled': 'spc_t'}
    for name in UNITS:
        wanted = f'system_u:system_r:{types[name]}:s0' if name in types else ''
        assert PAIR.sub('s0', labels[name]) == wanted, f'{name}: {labels[name]}'
    assert labels['typed'].endswith(':s0:c1,c2') and len(set(labels.values())) == len(UNITS), labels
    for name in ('plain', 'typed'):
        own = FILE + labels[name].split('s0')[1]
        for mount in ('/ overlay', '/dev tmpfs', '/dev/pts devpts', '/dev/shm tmpfs', '/sys/firmware tmpfs'):
            assert f'{mount} context="{own}"' in said[name].splitlines(), (mount, said[name])
        assert said[name].endswith('/etc/x\n/dev/shm/x\nready\n'), said[name]
    private = FILE + labels['private'].split('s0')[1]
    assert {line.split()[0] for line in said['paths'].splitlines()} == {private} and said['private'].endswith('private/file\nnew\nready\n'), said
    assert f"Relabelling 'named' as '{FILE}'" in said['named'] and said['named'].endswith('kept\nready\n'), said['named']
    assert "SELinux's policy has no label 'system_u:system_r:qm_t:s0:" in said['unknown'], said['unknown']
