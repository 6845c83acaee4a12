# SPDX-License-Identifier: LGPL-2.1-or-later
"""Debian 12, whose kernel mounts overlays only in the old way: containers by systemd and by hand."""

import json

from vm import Link

SUITE = 'bookworm'
IMAGE = 'localhost/test/layers:4'

# As a payload: what it finds, and what it may do.
LOOK = r'''
echo "user $(id -u):$(id -g)"
cd /data
echo "$(cat changed), $(cat deleted), $(cat turned), $(cat link), $(ls opaque)"
ls -d new deleted-directory 2>/dev/null
touch new 2>&1 | sed 's/.*: //'
ls -d new 2>/dev/null
touch /tmp/new && ls /tmp
echo "masked: $(cat /proc/kcore | wc -c) bytes, $(ls /sys/firmware | wc -l) files"
if [ -d /out ]; then echo a start >>/out/starts; fi
'''

CONTAINER = '''
[Container]
{what}
Exec=sh -c "trap 'exit 0' USR1; {command}; echo ready; sleep 1000 & wait"
StopSignal=SIGUSR1
Network=none
Volume=/srv/look:/look:ro
{more}
'''


def container(command, more='', what='Image=' + IMAGE):
    return CONTAINER.format(what=what, command=command, more=more)


FILES = {
    'srv/look': LOOK,
    'srv/out/starts': '',
    # Behind a link and on another mount, for --print-spec.
    'srv/store': Link('/mnt/storage'),
    'srv/storage.conf': '[storage]\ndriver = "overlay"\ngraphroot = "/srv/store"\nrunroot = "/run/store"\n',
    'etc/containers/systemd/layers.container': container(
        'sh /look', 'User=root\nVolume=/srv/out:/out\n[Install]\nWantedBy=multi-user.target'),
    'etc/containers/systemd/locked.container': container('sh /look', 'ReadOnly=true\nUser=1234:4321'),
    'etc/containers/systemd/tree.container': container('echo the tree >/written', what='Rootfs=/srv/tree'),
    'etc/containers/systemd/above.container': container(
        "cat /written; echo above >/written; cat /written; df -k / | grep -o 4096",
        '[Keyturn]\nWritableLayerSize=4m', what='Rootfs=/srv/tree:O'),
    'srv/shared/in/.empty': '',
    'etc/containers/systemd/shares.container': container(
        'mount -t tmpfs mine /shared/in', 'AddCapability=SYS_ADMIN\nVolume=/srv/shared:/shared:rshared'),
    # /run holds the place of the root, which is not to come along.
    'etc/containers/systemd/leaves.container': container(
        'echo $(find /leaves/keyturn/leaves/.private/root)', 'User=root\nVolume=/run:/leaves'),
    'etc/containers/systemd/maps.container': container(
        'echo $(find /maps/keyturn/maps/.private/root)', 'User=root\nVolume=/run:/maps\nUIDMap=0:0:65536\nGIDMap=0:0:65536'),
    'etc/containers/systemd/seven.container': container('exit 7'),
}

SCRIPT = rf'''
value() {{ systemctl show --property="$2" --value "$1.service"; }}
said() {{ journalctl --quiet --output=cat "_SYSTEMD_UNIT=$1.service"; }}
wait_for() {{ for i in $(seq 150); do if [ "$("${{@:2}}")" = "$1" ]; then return; fi; sleep 0.1; done; "${{@:2}}"; }}
ready() {{ said "$1" | grep -cx ready || true; }}
filter() {{ awk '$1 == "Seccomp:" {{ print $2 }}' "/proc/$(value "$1" MainPID)/status"; }}
compiled() {{ journalctl --sync; journalctl --quiet --output=cat | grep -c '^Seccomp filter compiled' || true; }}
by_hand() {{ /usr/lib/keyturn/libstart run --name hand "$@" </dev/null || echo "ended with $?"; }}
# Those of all mount namespaces; the last is gone a moment later than its processes.
overlays() {{ cat /sys/module/overlay/refcnt; }}

[ "$(printf '%s\n' 6.8 "$(uname -r)" | sort --version-sort | tail -n 1)" = 6.8 ] && echo "an old kernel"
systemctl --version | head -n1 | cut -d' ' -f1-2
test -d /sys/firmware/acpi
cp -a "$(dirname /usr/share/containers/storage/overlay/*/diff/bin/busybox)/.." /srv/tree

wait_for 1 ready layers
systemctl stop layers
systemctl start layers locked tree shares
wait_for 2 ready layers
wait_for 1 ready locked
wait_for 1 ready tree
wait_for 1 ready shares
systemctl start above
systemctl start leaves maps
wait_for 1 ready above
wait_for 1 ready leaves
wait_for 1 ready maps
for unit in layers locked tree above; do
        echo "$unit: $(value "$unit" ActiveState), filter $(filter "$unit")"
        said "$unit"
done
said leaves
said maps
systemctl stop leaves maps
systemctl start seven || true
wait_for 7 value seven ExecMainStatus
echo "filters compiled: $(compiled)"
umount /srv/shared/in
echo "overlays: $(grep -c overlay /proc/mounts) of the host's, $(overlays) in all"
keyturnctl exec layers ls /data/new

systemctl stop layers locked tree above shares
rm -r /run/keyturn/seccomp/* /usr/lib/keyturn/seccomp
for unit in layers locked tree above shares seven; do test ! -e "/run/keyturn/$unit"; done
state() {{ find /run/keyturn -path '*/seccomp' -prune -o -print; }}
before=$(state)
by_hand {IMAGE} sh -c 'grep ^Seccomp: /proc/self/status; exit 3'
by_hand {IMAGE} sh -c 'cat /data/changed; exit 4'
mount --bind /usr/share/containers /mnt
CONTAINERS_STORAGE_CONF=/srv/storage.conf /usr/lib/keyturn/libstart run --name hand --print-spec {IMAGE} true >spec
echo "filters compiled: $(compiled)"
diff <(echo "$before") <(state)
wait_for 0 overlays
grep overlay /proc/mounts || true
cat /srv/tree/written /srv/out/starts
'''

LAYERS = 'from the top layer, deleted of layer 5, file, kept of layer 2, new'
AS_ROOT = f'user 0:0\n{LAYERS}\nnew\nnew\nmasked: 0 bytes, 0 files\nready'
EXPECTED = f'''
an old kernel
systemd 252
layers: active, filter 2
{AS_ROOT}
{AS_ROOT}
locked: active, filter 2
user 1234:4321
{LAYERS}
Read-only file system
new
masked: 0 bytes, 0 files
ready
tree: active, filter 2
ready
above: active, filter 2
the tree
above
4096
ready
/leaves/keyturn/leaves/.private/root
ready
/maps/keyturn/maps/.private/root
ready
filters compiled: 0
overlays: 0 of the host's, 4 in all
/data/new
Seccomp:\t2
ended with 3
from the top layer
ended with 4
filters compiled: 1
the tree
a start
a start
'''


def run(vm):
    report = vm.boot(FILES, SCRIPT)
    assert report.status == 0 and report.out == EXPECTED.lstrip(), report.trouble()
    assert [line.split()[0] for line in report['failed'].splitlines()] == ['seven.service'], report.trouble()
    assert json.loads(report['spec'])['process']['args'][-1] == 'true', report['spec']
