# SPDX-License-Identifier: LGPL-2.1-or-later
"""Power is cut ten times (--all-cuts: fifty, --ci: four) while an image is pulled; none is torn without a word.

How, says cuts.py. The machine has a registry of its own and a slow disk. It is killed in the pull, while the store is
synced, and after the container's start. From outside: where files are torn, keyturn's mark is on the disk, too.
Then the cut disks are booted (of fifty every fifth, and where an image was torn under its name): the container has whole
files, whatever layers there were; or its image was torn under its name, keyturn has said that the machine went off, and
what it says is to be done helps.
"""

import gzip
import hashlib
import io
import json
import os
import random
import shutil
import tarfile
import tempfile

import cuts
import lanes
from scenarios.late_var import STORAGE
from vm import Link, host

IMAGE = 'localhost:5000/app:1'
LAYERS = 4
FILES = 32  # of each layer
SIZE = 64 * 1024

# So that a sync of all that takes a quarter of a minute. Podman's lists are renamed after they are synced: it is the
# journal that brings the name to the disk, every five seconds, and what is not written by then is torn.
SLOW = 'throttling.bps-write=500000'

REGISTRIES = '''
[[registry]]
location = "localhost:5000"
insecure = true
'''
REGISTRY = '''
version: 0.1
log: {level: error, accesslog: {disabled: true}}
storage: {filesystem: {rootdirectory: /srv/registry}}
http: {addr: "127.0.0.1:5000"}
'''
REGISTRY_SERVICE = '''
[Unit]
Description=Registry
Before=keyturn-pull-app.service

[Service]
ExecStart=/usr/bin/docker-registry serve /etc/vm/registry
ExecStartPost=/bin/bash -c 'until : </dev/tcp/127.0.0.1/5000; do sleep 0.1; done'
StandardError=null
'''

GATE = '''
systemctl start registry.service
skopeo copy --quiet oci:/srv/app:app docker://%s
rm -r /srv/app
sync
''' % IMAGE + cuts.GATE + '''
systemctl start app.service
sleep infinity
'''

CONTAINER = f'''
[Unit]
Description=App

[Container]
Image={IMAGE}
Pull=missing
Network=host
'''
INSTALL = '''
[Install]
WantedBy=multi-user.target
'''

# The pull begins; its tool writes the image's name; that has ended, and the store is synced; the container is there.
BEGUN, NAMING, SYNCING, STARTED = MOMENTS = tuple((what, 1) for what in (
    r'Starting keyturn-pull-app', r'\]: Copying config', r'\]: Writing manifest', r'Started app'))

WARNING = 'The machine went off while an image was brought, so one may be damaged'

# Prints the state of the machine, of the container's files, of the marks and of what is left; then, where files are
# torn, does what the warning says, and prints that of the files again.
CHECK = r'''
state() {
        local pid
        pid=$(systemctl show --value --property=MainPID app.service)
        if [ "$pid" -gt 0 ] && (cd "/proc/$pid/root" && sha256sum --quiet --strict --check /etc/vm/sums >&2); then
                echo whole
        else
                echo torn
        fi
}
systemctl is-system-running --wait || true
systemctl --failed --plain --no-legend | awk '{ print $1 }' | xargs echo failed
found=$(state)
echo "$found"
find /var/lib/keyturn/unsynced -mindepth 1 | wc -l
find /var /etc /opt /home /root /srv -xdev -path '*keyturn*' ! -path '/etc/systemd/*' ! -path /var/lib/keyturn \
        ! -path /var/lib/keyturn/unsynced ! -path '/var/lib/keyturn/cut*' ! -path /var/lib/keyturn/pulling ! -path '/var/lib/keyturn/images*' \
        -print | xargs echo left
# What tools try the file system with: a cut left it, it is nobody's layer, and podman system check calls it damage.
find /var/lib/containers/storage/overlay -mindepth 1 -maxdepth 1 -type d -regextype posix-extended \
        ! -regex '.*/([0-9a-f]{64}|l)' -print -exec rm -r {} + >&2
damaged=0
podman system check >&2 || damaged=$?
echo "$damaged"
if [ "$found" = torn ]; then
        podman rmi IMAGE >&2
        systemctl restart app.service
        state
        podman system check >&2
        find /var/lib/keyturn/unsynced /var/lib/keyturn/cut -mindepth 1 | wc -l
fi
'''.replace('IMAGE', IMAGE)


def layer(files):
    """With directories and modes as every tool writes them: podman system check compares these, too. Text is where a
    link leads to."""
    archive = io.BytesIO()
    directories = sorted({path[:at] for path in files for at, letter in enumerate(path) if letter == '/'})
    with tarfile.open(fileobj=archive, mode='w') as tar:
        for path, content in [*((path, None) for path in directories), *files.items()]:
            info = tarfile.TarInfo(path)
            info.mode = 0o755
            if content is None:
                info.type = tarfile.DIRTYPE
            elif isinstance(content, str):
                info.type, info.mode, info.linkname = tarfile.SYMTYPE, 0o777, content
            else:
                info.size = len(content)
            tar.addfile(info, io.BytesIO(content) if info.size else None)
    return archive.getvalue()


def digest(data):
    return hashlib.sha256(data).hexdigest()


def make_image(vm):
    """The image as a layout on the disk, and the digest of each of its files."""
    with tempfile.NamedTemporaryFile(dir=vm.work) as busybox:
        host('debugfs', '-R', f'dump /usr/bin/busybox {busybox.name}', os.path.join(vm.disk, 'disk.ext4'),
             stderr=open(os.devnull, 'w'))
        contents = [{'bin/busybox': busybox.read()}]
    assert contents[0]['bin/busybox'].startswith(b'\x7fELF'), 'the disk has no busybox'
    chance = random.Random(1)
    contents += [{f'data/{number}/{file}': chance.randbytes(SIZE) for file in range(FILES)}
                 for number in range(1, LAYERS)]
    contents[0]['bin/sleep'] = 'busybox'
    layers = [layer(files) for files in contents]
    made = {}

    def add(data, kind):
        made[f'srv/app/blobs/sha256/{digest(data)}'] = data
        return {'mediaType': f'application/vnd.oci.image.{kind}', 'digest': f'sha256:{digest(data)}',
                'size': len(data)}

    def add_json(value, kind):
        return add(json.dumps(value).encode(), kind + '.v1+json')

    config = {'architecture': vm.arch, 'os': 'linux', 'config': {'Cmd': ['/bin/sleep', '100000']},
              'rootfs': {'type': 'layers', 'diff_ids': [f'sha256:{digest(data)}' for data in layers]}}
    entry = add_json({
        'schemaVersion': 2,
        'mediaType': 'application/vnd.oci.image.manifest.v1+json',
        'config': add_json(config, 'config'),
        'layers': [add(gzip.compress(data, 1, mtime=0), 'layer.v1.tar+gzip') for data in layers],
    }, 'manifest')
    entry['annotations'] = {'org.opencontainers.image.ref.name': 'app'}
    made['srv/app/index.json'] = json.dumps({'schemaVersion': 2, 'manifests': [entry]})
    made['srv/app/oci-layout'] = '{"imageLayoutVersion": "1.0.0"}'
    return made, {path: digest(data) for files in contents for path, data in files.items()
                  if isinstance(data, bytes)}


def files_both():
    return {
        **lanes.OVERLAY,
        # Nothing but what is pulled is in the store, or podman system check would look at all of it.
        'etc/containers/storage.conf': STORAGE,
        'etc/containers/registries.conf.d/50-app.conf': REGISTRIES,
        'etc/vm/registry': REGISTRY,
        'etc/systemd/system/registry.service': REGISTRY_SERVICE,
    }


def files(layout):
    return {
        **files_both(), **layout,
        'etc/containers/systemd/app.container': CONTAINER,
        'etc/vm/gate': GATE,
        'etc/systemd/system/gate.service': cuts.GATE_SERVICE,
        'etc/systemd/system/multi-user.target.wants/gate.service': Link('../gate.service'),
    }


def files_after(sums):
    """The same machine without the gate: the container starts with it."""
    return {
        **files_both(),
        'etc/containers/systemd/app.container': CONTAINER + INSTALL,
        'etc/systemd/system/multi-user.target.wants/registry.service': Link('../registry.service'),
        'etc/systemd/system/multi-user.target.wants/gate.service': None,
        'etc/vm/sums': ''.join(f'{wanted}  {path}\n' for path, wanted in sums.items()),
    }


def look(vm, raw, sums):
    """What the disk has after a cut: the image (absent, torn or whole), how many files of which there is something
    and how many that are whole, and how many marks."""
    with tempfile.TemporaryDirectory(dir=vm.work) as directory:
        for path in ('containers', 'keyturn'):
            host('debugfs', '-R', f'rdump /var/lib/{path} {directory}', raw, stderr=open(os.devnull, 'w'))
        found = {}
        for parent, _, names in os.walk(os.path.join(directory, 'containers/storage/overlay')):
            for path in (os.path.join(parent, name) for name in names):
                _, diff, inner = path.partition('/diff/')
                if diff and inner in sums and not os.path.islink(path):
                    with open(path, 'rb') as file:
                        found[inner] = digest(file.read())
        named = IMAGE in read(directory, 'containers/storage/overlay-images/images.json')
        whole = sum(found.get(path) == wanted for path, wanted in sums.items())
        marks = os.path.join(directory, 'keyturn/unsynced')
        marks = [name for name in (os.listdir(marks) if os.path.isdir(marks) else ()) if not name.endswith('.new')]
        return 'absent' if not named else 'whole' if whole == len(sums) else 'torn', len(found), whole, len(marks)


def read(directory, name):
    try:
        with open(os.path.join(directory, name)) as file:
            return file.read()
    except FileNotFoundError:
        return ''


def boot_after(vm, disk, sums, name, image, marks):
    """Whether the container had whole files after the boot; else it has them now."""
    report = vm.boot(files_after(sums), CHECK, root_disk=disk)
    trouble = f'{name}: {report.trouble()}'
    assert report.status == 0, trouble
    state, failed, found, marks_left, left, damaged, *mended = report.out.splitlines()
    if found == 'whole':
        assert (state, failed, damaged) == ('running', 'failed', '0'), trouble
    else:
        assert image == 'torn', trouble
        assert WARNING in report.journal, f'{name}: torn, and not a word of it: {trouble}'
        assert (state, failed) in (('running', 'failed'), ('degraded', 'failed app.service')), trouble
        assert damaged != '0' and mended == ['whole', '0'], trouble
    # Once, where there was a mark, and then it is gone.
    assert report.journal.count(WARNING) == (marks > 0), trouble
    assert (marks_left, left) == ('0', 'left'), trouble
    return found


def moments(number, vm, times):
    """What is waited for before that cut, and for how many seconds more."""
    begun, naming, _, started = times
    half, rest = vm.cuts // 2, vm.cuts - vm.cuts // 2 - 1
    if number < half:
        return [BEGUN], (naming - begun) * number / half
    if number < vm.cuts - 1:
        return [NAMING], (started - naming) * (number - half + 0.5) / rest
    return [STARTED], 8  # the mark's removal is on the disk


def run(vm):
    layout, sums = make_image(vm)
    frozen, disk = cuts.frozen_disk(vm), os.path.join(vm.work, 'cut.qcow2')
    vm.initrd(files(layout), 'sleep infinity')
    cuts.freeze(vm, frozen)

    shutil.copyfile(frozen, disk)
    _, times = cuts.cut(vm, disk, MOMENTS, throttle=SLOW)
    vm.measured('pull begun, image to be named, sync begun, container started',
                ' '.join(f'{seconds:.1f}' for seconds in times), 's')

    outcomes = []
    for number in range(vm.cuts):
        name = f'cut {number + 1}'
        shutil.copyfile(frozen, disk)
        cuts.cut(vm, disk, *moments(number, vm, times), throttle=SLOW)
        with cuts.replayed(vm, disk, name) as raw:
            state, there, whole, marks = look(vm, raw, sums)
        # Also where layers are there and the image has no name yet: the next pull takes them.
        assert marks or state == 'whole' or (state, whole) == ('absent', there), \
            f'{name}: {state}, {whole} of {there} files are whole, and no mark says so'
        after = ''
        if vm.cuts <= 10 or number % 5 == 4 or state == 'torn':
            after = ', then ' + boot_after(vm, disk, sums, name, state, marks)
            # The next cut needs the gate again.
            vm.initrd(files(layout), 'sleep infinity')
        outcomes += [state] if there == whole else [state, 'files that are torn']
        vm.measured(name, f'{state}, {there} files there, {whole} of {len(sums)} whole, {marks} marks{after}', '')
    # Some before the image has its name, some in the sync, and one after it.
    for state, least in (('absent', vm.cuts // 4), ('files that are torn', vm.cuts // 10 or 1), ('whole', 1)):
        assert outcomes.count(state) >= least, f'only {outcomes.count(state)} cuts left the image {state}: {outcomes}'
