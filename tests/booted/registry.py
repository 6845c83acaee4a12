# SPDX-License-Identifier: LGPL-2.1-or-later
"""A registry inside a machine: docker-registry on the loopback device, without TLS."""

import hashlib
import io
import json
import os
import tarfile

NAME = 'localhost:5000'
WORK = '/run/test-registry'
DATA = f'{WORK}/data'

CONFIG = f'''version: 0.1
log: {{level: error, accesslog: {{disabled: true}}}}
storage: {{filesystem: {{rootdirectory: {DATA}}}, delete: {{enabled: true}}}}
http: {{addr: "127.0.0.1:5000"}}
'''


def start(machine, names=()):
    """What was pushed before is still in it. names: others that it is known by."""
    machine.write(f'{WORK}/config.yml', CONFIG)
    machine.write('/etc/containers/registries.conf.d/50-test.conf',
                  ''.join(f'[[registry]]\nlocation = "{name}"\ninsecure = true\n' for name in (NAME, *names)))
    restart(machine)


def restart(machine):
    stop(machine)
    machine.run(f'systemd-run -q --collect --unit=test-registry docker-registry serve {WORK}/config.yml')
    machine.wait_for(lambda: machine.run("bash -c ': </dev/tcp/127.0.0.1/5000'", check=False).status == 0)


def stop(machine):
    machine.run('systemctl stop test-registry', check=False)


def mark_cut(machine, name):
    """As a power cut within a pull leaves it: its mark is of another boot."""
    machine.write(find_mark(name), '0123456789abcdef0123456789abcdef')


def mark_begun(machine, mark):
    """As who brings an image leaves it and is killed, in this boot."""
    machine.run(f'tr -d "\\n-" </proc/sys/kernel/random/boot_id >{mark}')


def find_mark(name, of=NAME):
    return f'/var/lib/keyturn/unsynced/{hashlib.sha256(f"{of}/{name}".encode()).hexdigest()}'


def find_notes(name):
    return find_mark(name).replace('unsynced', 'images')


def tear(machine, name, all_of_it=False):
    """As a power cut leaves a layer: a file whose name is on the disk, and whose blocks are not. all_of_it: what the store notes
    of it, too, so that the image cannot be used."""
    directory = machine.run(f'podman image inspect -f "{{{{.GraphDriver.Data.UpperDir}}}}" {NAME}/{name}').out.strip()
    machine.run(f'test -s {directory}/random && truncate -s 0 {directory}/random {"$(dirname " + directory + ")/lower" if all_of_it else ""}')


def lose(machine, name, only_its_name=False):
    """The image is gone, and its layers are not: as where the list of images was not on the disk. Or it has no name yet."""
    image, = images(machine, f'{NAME}/{name}')
    path = machine.path('/var/lib/containers/storage/overlay-images/images.json')
    with open(path) as file:
        records = json.load(file)
    with open(path, 'w') as file:
        is_lost = [record['id'] == image.removeprefix('sha256:') for record in records]
        json.dump([{**record, 'names': []} if lost else record for record, lost in zip(records, is_lost) if only_its_name or not lost],
                  file)


def random_layer(size):
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode='w') as tar:
        info = tarfile.TarInfo('random')
        info.size = size
        tar.addfile(info, io.BytesIO(os.urandom(size)))
    return archive.getvalue()


def push(machine, name, cmd=('sleep', '1000'), env=(), size=0):
    """Puts an image into the registry: busybox with this command and variables, and a layer of so many random bytes.
    Nothing of it gets into the store."""
    layout = f'{WORK}/layout'
    machine.run(f'test -e {layout} || skopeo copy -q containers-storage:localhost/test/busybox oci:{layout}:base')

    def path(digest):
        return machine.path(f'{layout}/blobs/sha256/{digest.removeprefix("sha256:")}')

    def load(digest):
        with open(path(digest)) as file:
            return json.load(file)

    def add(data, kind):
        digest = 'sha256:' + hashlib.sha256(data).hexdigest()
        with open(path(digest), 'wb') as file:
            file.write(data)
        return {'mediaType': f'application/vnd.oci.image.{kind}', 'digest': digest, 'size': len(data)}

    with open(machine.path(f'{layout}/index.json')) as file:
        index = json.load(file)
    base = next(entry for entry in index['manifests'] if list(entry['annotations'].values()) == ['base'])
    manifest = load(base['digest'])
    config = load(manifest['config']['digest'])
    config['config'].update(Cmd=list(cmd), Env=[*config['config'].get('Env', []), *env])
    if size:
        layer = random_layer(size)
        manifest['layers'].append(add(layer, 'layer.v1.tar'))
        config['rootfs']['diff_ids'].append(manifest['layers'][-1]['digest'])
        config.pop('history', None)
    manifest['config'] = add(json.dumps(config).encode(), 'config.v1+json')
    entry = add(json.dumps(manifest).encode(), 'manifest.v1+json')
    entry['annotations'] = {'org.opencontainers.image.ref.name': 'pushed'}
    index['manifests'] = [base, entry]
    with open(machine.path(f'{layout}/index.json'), 'w') as file:
        json.dump(index, file)
    machine.run(f'skopeo copy -q oci:{layout}:pushed docker://{NAME}/{name}')


def images(machine, name=''):
    """The ids of all images in the store; of that name."""
    return sorted(machine.run(f'podman images -aq --no-trunc {name}').out.split())
