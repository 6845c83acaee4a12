# SPDX-License-Identifier: LGPL-2.1-or-later
"""A disk that fails: what a start reads of the store, block by block, and what pulls and volumes write (device mapper)."""

import os
import re
import subprocess
import tempfile

from vm import HarnessError, host

SUITE = 'trixie-faults'
SIZE = '192m'
BLOCK = 4096
# The whole disk in pieces, beside the files one by one.
PIECES = 24
# Of the layers; of the store's lists each file is taken.
LAYER_FILES = re.compile(r'.*/diff/(usr/)?(bin/(dump|busybox|sh)|etc/(passwd|group))|.*/(link|lower)')

STORAGE = '''
[storage]
driver = "overlay"
graphroot = "/srv/disk/storage"
runroot = "/run/containers/storage"
'''
# Beside the store, what keyturn keeps of a container: a lease, a named volume, variables.
DUMP = '''
[Container]
Image=localhost/test/dump
Network=none
HostName=dump
UserNS=auto
Volume=data:/data
EnvironmentFile=/srv/disk/variables
[Service]
Type=oneshot
TimeoutStartSec=60
'''
KEEPS = '[Container]\nImage=localhost/test/dump\nNetwork=none\nVolume=data:/data\nStopSignal=SIGKILL\nEntrypoint=/bin/sleep\nExec=1000\n[Service]\n' \
        'SuccessExitStatus=SIGKILL\n'
PULLED = '[Container]\nImage=localhost:5000/app:1\nPull=missing\nRetry=0\nNetwork=none\nStopSignal=SIGKILL\nExec=sleep 1000\n[Service]\n' \
         'SuccessExitStatus=SIGKILL\n'
REGISTRY = '''
version: 0.1
log: {level: error, accesslog: {disabled: true}}
storage: {filesystem: {rootdirectory: /run/registry/data}}
http: {addr: "127.0.0.1:5000"}
'''

FILES = {
    'etc/containers/storage.conf': STORAGE,
    'etc/containers/registries.conf.d/50-test.conf': '[[registry]]\nlocation = "localhost:5000"\ninsecure = true\n',
    'etc/registry.yml': REGISTRY,
    'etc/subuid': 'containers:2147483647:2147483648\n',
    'etc/subgid': 'containers:2147483647:2147483648\n',
    'etc/containers/systemd/dump.container': DUMP,
    'etc/containers/systemd/keeps.container': KEEPS,
    'etc/containers/systemd/app.container': PULLED,
}

# Ranges are in 4 KiB blocks: "START COUNT", ascending.
SCRIPT = r'''
exec 2>&1
set +e
until [ -b /dev/vda ]; do sleep 0.5; done
sectors=$(cat /sys/class/block/vda/size)
table() { # RANGES: these are errors; WHAT of them: error, or flakey for writes only
        local at=0 start count
        while read -r start count; do
                start=$((start * 8)) count=$((count * 8))
                [ $start -le $at ] || echo "$at $((start - at)) linear /dev/vda $at"
                if [ "$1" = error ]; then echo "$start $count error"
                else echo "$start $count flakey /dev/vda $start 0 1000 1 error_writes"; fi
                at=$((start + count))
        done
        [ $at -ge $sectors ] || echo "$at $((sectors - at)) linear /dev/vda $at"
}
load() {
        dmsetup load faulty
        dmsetup suspend --noflush --nolockfs faulty
        dmsetup resume faulty
}
up() {
        mount -t ext4 -o errors=continue /dev/mapper/faulty /srv/disk
        mkdir -p /srv/disk/keyturn
        mount --bind /srv/disk/keyturn /var/lib/keyturn
}
# Podman has mounted its directory of layers onto itself.
down() {
        umount -q /srv/disk/storage/overlay
        umount -q /var/lib/keyturn
        umount /srv/disk
}
# As after a repair of the disk: what was not written is lost.
heal() {
        table error </dev/null | load
        stop
        sync
        down
        e2fsck -fy /dev/mapper/faulty >/run/fsck || [ $? -le 1 ] || { echo "fsck $?"; cat /run/fsck; }
        up
}
stop() {
        timeout 60 systemctl stop dump keeps app keyturn-pull-app keyturn-volume@data keyturn-userns@dump
        systemctl reset-failed
}
left() {
        find /run/keyturn -xdev ! -path '*/seccomp*' ! -path '/run/keyturn/relay*' | sort
        cut -d' ' -f5 /proc/1/mountinfo | sort
        ps -e -o comm= | grep -E '^(libstart|keyturn-|skopeo|podman|busybox|dump|sleep)' | grep -v keyturn-relay | sort
}
# said UNIT...: since the last mark.
mark() { cursor=$(journalctl -q -n 0 --show-cursor | sed -n 's/^-- cursor: //p'); }
said() { journalctl --sync; journalctl -q -o cat --after-cursor="$cursor" $(printf -- '-u %s ' "$@"); }
dumped() { said dump _TRANSPORT=stdout | grep -vE '^(Starting|Finished|dump.service: )'; }
try() { # NAME: one start of dump
        status=0
        mark
        timeout 90 systemctl start dump || status=$?
        if [ $status = 0 ]; then
                dumped | sed 's/[0-9a-f]\{32\}/ID/g; s/pid [0-9]*/pid N/' | sort -u >/run/now
                if [ -s /run/reference ] && ! diff /run/reference /run/now >/run/diff; then
                        echo "read $1 other"
                        sed "s/^/diff /" /run/diff | head -20
                else
                        echo "read $1 same"
                fi
        else
                echo "read $1 failed $status $(said dump keyturn-volume@data keyturn-userns@dump | grep -ciE 'error|damaged|cannot|corrupt|clean')"
                said dump keyturn-volume@data keyturn-userns@dump | grep -vE '^(Starting|Failed to start|dump.service:)' | sed 's/^/said /' | head -4
        fi
}

mkdir -p /srv/disk /var/lib/keyturn
modprobe -a dm_mod dm_flakey
dmsetup create faulty --table "0 $sectors linear /dev/vda 0"
up
try first
cp /run/now /run/reference
stop
try second
stop
left >/run/before
while read -r name start count; do
        echo 3 >/proc/sys/vm/drop_caches
        echo "$start $count" | table error | load
        try "$name"
        table error </dev/null | load
        stop >/dev/null
        touch /srv/disk/probe || heal
done </etc/vm/ranges
left >/run/after
diff /run/before /run/after | sed 's/^/left read /'
heal
try healed
stop

# All of the disk fails while a container runs.
systemctl start keeps
echo "0 $((sectors / 8))" | table error | load
echo 3 >/proc/sys/vm/drop_caches
for command in list 'inspect keeps' report; do timeout 60 keyturnctl $command >/dev/null || echo "command $command $?"; done
status=0; timeout 60 systemctl daemon-reload || status=$?
echo "reload $status"
status=0; timeout 60 systemctl stop keeps || status=$?
echo "stop $status $(systemctl show -P Result keeps)"
mark
status=0; timeout 90 systemctl start keeps || status=$?
echo "start $status"
said keeps | sed 's/^/said /' | head -4
heal
left >/run/after
diff /run/before /run/after | sed 's/^/left running /'
try after-running
stop

# What is new cannot be written: the free blocks fail.
mkdir -p /run/registry/data
systemd-run -q --collect --unit=registry docker-registry serve /etc/registry.yml
until (: </dev/tcp/127.0.0.1/5000) 2>/dev/null; do sleep 0.2; done
skopeo copy -q containers-storage:localhost/test/busybox docker://localhost:5000/app:1
free() {
        dumpe2fs /dev/mapper/faulty 2>/dev/null | sed -n 's/^  Free blocks: //p' | tr ',' '\n' | tr -d ' ' |
                awk -F- 'NF { print $1, ($2 ? $2 : $1) - $1 + 1 }' | sort -n
}
heal
echo "free $(free | awk '{ n += $2 } END { print n }')"
free | table writes | load
umount /var/lib/keyturn # what is noted of the pull is on another disk, else it fails before it begins
mark
status=0; timeout 300 systemctl start app || status=$?
echo "pull $status"
said app keyturn-pull-app | sed 's/^/said /' | head -20
heal
podman image exists localhost:5000/app:1 && echo "torn there" || echo "torn none"
mark
status=0; timeout 300 systemctl start app || status=$?
echo "again $status $(systemctl is-active app)"
said app keyturn-pull-app | sed 's/^/said /' | head -20
sha256sum $(find /srv/disk/storage/overlay/*/diff -name busybox) | sort | cut -c1-64 | uniq -c | sed 's/^/busybox /'
stop
rm -rf /srv/disk/storage/volumes/data
heal
free | table writes | load
mark
status=0; timeout 90 systemctl start keeps || status=$?
echo "volume $status"
said keeps keyturn-volume@data | sed 's/^/said /' | head -8
heal
stop
left >/run/after
diff /run/before /run/after | sed 's/^/left written /'
try last
true
'''


def ranges_of(disk, tree):
    """NAME START COUNT of each file that is tried by itself, and of the pieces of the whole."""
    paths = []
    for directory, _, names in os.walk(tree):
        for name in names:
            path = os.path.join(directory, name)
            inside = '/' + os.path.relpath(path, tree)
            if os.path.isfile(path) and not os.path.islink(path) and os.path.getsize(path) > 0 and (
                    '/overlay-' in inside or '/overlay/' not in inside or LAYER_FILES.fullmatch(inside)):
                paths.append(inside)
    asked = '\n'.join(f'blocks {path}' for path in sorted(paths)) + '\n'
    told = subprocess.run(['debugfs', '-f', '-', disk], input=asked, capture_output=True, text=True, check=True).stdout
    found = []
    lines = [line for line in told.splitlines() if not line.startswith('debugfs')]
    if len(lines) != len(paths):
        raise HarnessError(f'debugfs told {len(lines)} of {len(paths)} files')
    for path, line in zip(sorted(paths), lines):
        blocks = [int(word) for word in line.split()]
        if blocks:  # else it lies in its inode
            found.append((path.replace(' ', '_'), blocks[0], 1))
    total = os.path.getsize(disk) // BLOCK
    # The first blocks are the superblock and what finds all others: no start would get as far as keyturn.
    size = total // PIECES
    found += [(f'piece-{number}', max(number * size, 64), size - (64 if number == 0 else 0)) for number in range(PIECES)]
    return found


def make_disk(vm, path):
    with tempfile.TemporaryDirectory(dir=vm.work) as directory:
        host('debugfs', '-R', f'rdump /usr/share/containers/storage {directory}', os.path.join(vm.disk, 'disk.ext4'),
             stderr=open(os.devnull, 'w'))
        with open(os.path.join(directory, 'variables'), 'w') as file:
            file.write('FROM=disk\n')
        host('mke2fs', '-q', '-t', 'ext4', '-b', str(BLOCK), '-d', directory, path, SIZE)
        return ranges_of(path, directory)


def run(vm):
    disk = os.path.join(vm.work, 'faulty.ext4')
    ranges = make_disk(vm, disk)
    files = {**FILES, 'etc/vm/ranges': ''.join(f'{name} {start} {count}\n' for name, start, count in ranges)}
    report = vm.boot(files, SCRIPT, disks=[disk], seconds=2400)
    assert report.status == 0, report.trouble()
    said = [line.split() for line in report.out.splitlines() if line]
    read = {line[1]: line[2:] for line in said if line[0] == 'read'}
    assert len(read) == len(ranges) + 5, report.out
    for name, (outcome, *failure) in read.items():
        assert outcome == 'same' or outcome == 'failed' and failure[0] != '124' and failure[1] != '0', f'{name}: {report.out}'
    assert all(read[name] == ['same'] for name in ('first', 'second', 'healed', 'after-running', 'last')), report.out
    failed = [name for name in read if read[name] != ['same']]
    vm.measured('starts with a part of the disk unreadable', len(ranges), '')
    vm.measured('of these ended with an error, the others with the same container', len(failed), '')
    assert len(failed) >= 8, failed

    word = {line[0]: line[1:] for line in said}
    assert word['reload'] == ['0'] and word['stop'] == ['0', 'success'], report.out
    assert all(line[-1] != '124' for line in said if line[0] == 'command'), report.out
    assert all(word[name][0] not in ('0', '124') for name in ('start', 'pull', 'volume')), report.out
    assert int(word['free'][0]) > 1000 and word['torn'] == ['none'] and word['again'] == ['0', 'active'], report.out
    assert len({line[2] for line in said if line[0] == 'busybox'}) == 1, report.out
    assert not any(line[0] in ('left', 'fsck') for line in said), report.out
