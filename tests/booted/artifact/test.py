# SPDX-License-Identifier: LGPL-2.1-or-later
"""Artifacts: .artifact files bring them, Mount=type=artifact mounts them. A registry's, and ones that attack."""

import hashlib
import json
import os

import registry
from users import as_user, container as users_container, inside as users_inside, make_user, show, systemctl

STORE = '/var/lib/containers/storage/artifacts'
REPOSITORY = f'{registry.NAME}/model'
LAYOUT = '/run/test-artifact'


def digest_of(data):
    return 'sha256:' + hashlib.sha256(data).hexdigest()


def put_blob(machine, directory, data):
    path = machine.path(f'{directory}/blobs/sha256/{digest_of(data)[7:]}')
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'wb') as file:
        file.write(data)
    return {'digest': digest_of(data), 'size': len(data)}


def make(machine, directory, name, files):
    """An OCI layout with an artifact, as Podman writes it. files: (title or None, bytes)."""
    layers = []
    for title, data in files:
        more = {} if title is None else {'annotations': {'org.opencontainers.image.title': title}}
        layers.append({'mediaType': 'application/octet-stream', **put_blob(machine, directory, data), **more})
    empty = {'mediaType': 'application/vnd.oci.empty.v1+json', **put_blob(machine, directory, b'{}'), 'data': 'e30='}
    manifest = {'schemaVersion': 2, 'mediaType': 'application/vnd.oci.image.manifest.v1+json',
                'artifactType': 'application/vnd.example.model', 'config': empty, 'layers': layers}
    put_manifest(machine, directory, name, manifest)
    return manifest


def put_manifest(machine, directory, name, manifest):
    entry = {'mediaType': 'application/vnd.oci.image.manifest.v1+json', **put_blob(machine, directory, json.dumps(manifest).encode()),
             'annotations': {'org.opencontainers.image.ref.name': name}}
    machine.write(f'{directory}/oci-layout', '{"imageLayoutVersion": "1.0.0"}')
    machine.write(f'{directory}/index.json', json.dumps({'schemaVersion': 2, 'manifests': [entry]}))


def push(machine, tag, files):
    machine.run(f'rm -rf {LAYOUT}')
    make(machine, LAYOUT, 'x', files)
    machine.run(f'skopeo copy -q oci:{LAYOUT}:x docker://{REPOSITORY}:{tag}')


def forget(machine):
    machine.run(f'rm -rf {STORE} {LAYOUT}')


def container(machine, name, *mounts, more=''):
    lines = ''.join(f'Mount=type=artifact,{mount}\n' for mount in mounts)
    machine.container(name, f'[Container]\nImage=localhost/test/busybox\nExec=sleep 1000\nStopSignal=SIGKILL\n{lines}{more}')


def refused(machine, name, words):
    """Its start fails with these words, and nothing of it is left."""
    machine.run(f'systemctl reset-failed {name}; ! systemctl start {name}', check=False)
    said = machine.show(name, 'StatusText') + machine.run(f'journalctl --output=cat --lines=20 --unit={name}').out
    assert machine.show(name, 'ActiveState') == 'failed' and words in said, said
    assert not machine.run(f'ls /run/keyturn/{name} 2>/dev/null', check=False).out


def test_a_lock_that_cannot_be_had_is_an_error(machine):
    registry.start(machine)
    push(machine, '1', [('weights.bin', b'weights')])
    done = machine.run(f'strace -f -qq -o /run/traced -P {STORE}/index.lock -e trace=fcntl -e inject=fcntl:error=ENOLCK '
                       f'timeout 20 /usr/lib/keyturn/keyturn-image artifact {REPOSITORY}:1', check=False)
    assert done.status == 125 and f"Cannot lock '{STORE}/index.lock': No locks available" in done.err, done
    forget(machine)


def test_from_a_registry(machine):
    registry.start(machine)
    push(machine, '1', [('weights.bin', b'weights'), ('labels.txt', b'cat dog')])
    machine.write('/etc/containers/systemd/model.artifact', f'[Artifact]\nArtifact={REPOSITORY}:1\n')
    container(machine, 'user', 'source=model.artifact,destination=/models')
    machine.run('systemctl start user')
    assert machine.inside('user', 'cd /models; ls; cat weights.bin') == 'labels.txt\nweights.bin\nweights'
    # It is Podman's store, for that Podman that knows it.
    if machine.suite != 'bookworm':
        assert REPOSITORY in machine.run('podman artifact ls').out
    options = machine.inside('user', "grep ' /models/weights.bin ' /proc/self/mountinfo")
    assert ' ro,nosuid,nodev' in options, options
    assert machine.run(['keyturnctl', 'exec', 'user', 'sh', '-c', 'echo x >/models/weights.bin'], check=False).status
    # It is there: no registry is asked. Who had brought it was killed before it was on the disk.
    registry.stop(machine)
    mark = registry.find_mark('model:1')
    registry.mark_begun(machine, mark)
    machine.run('systemctl stop user; systemctl restart model-artifact')
    assert 'is there' in machine.journal('model-artifact.service') and machine.run(f'test -e {mark}', check=False).status
    machine.run('systemctl start user; systemctl stop user')
    forget(machine)
    # Once it comes after all, the container is started that waited.
    machine.run('systemctl stop model-artifact; ! systemctl start user', check=False)
    assert machine.show('user', 'ExecMainStatus') == '199', machine.journal()
    registry.restart(machine)
    machine.run('systemctl restart model-artifact')
    machine.wait_for(lambda: machine.show('user', 'ActiveState') == 'active')
    machine.run('systemctl stop user model-artifact')
    registry.stop(machine)
    forget(machine)


def test_what_a_power_cut_has_torn_comes_again(machine):
    """skopeo takes a file of a layout that is there, whatever is in it."""
    registry.start(machine)
    weights = b'weights' * 1000
    push(machine, '1', [('weights.bin', weights), ('labels.txt', b'cat dog')])
    manifest, = (entry['digest'] for entry in json.loads(machine.read(f'{LAYOUT}/index.json'))['manifests'])
    machine.write('/etc/containers/systemd/model.artifact', f'[Artifact]\nArtifact={REPOSITORY}:1\n')
    container(machine, 'user', 'source=model.artifact,destination=/models')
    machine.run('systemctl start user')
    for digest in (digest_of(weights), manifest):
        for is_named in (True, False):
            machine.run('systemctl stop user model-artifact')
            machine.run(f'truncate -s 0 {STORE}/blobs/sha256/{digest[7:]}')
            if not is_named:
                machine.run(f'rm {STORE}/index.json')
            machine.run('systemctl start user')
            assert machine.read(f'{STORE}/blobs/sha256/{digest_of(weights)[7:]}') == weights.decode()
            assert machine.inside('user', 'wc -c </models/weights.bin') == '7000\n'
    machine.run('systemctl stop user model-artifact')
    registry.stop(machine)
    forget(machine)


def test_two_at_once(machine):
    """Who writes the index last leaves both in it."""
    registry.start(machine)
    for number in range(6):
        push(machine, number, [('n', str(number).encode())])
        machine.write(f'/etc/containers/systemd/m{number}.artifact', f'[Artifact]\nArtifact={REPOSITORY}:{number}\n')
    machine.reload()
    machine.run('systemctl start ' + ' '.join(f'm{number}-artifact' for number in range(6)), timeout=60)
    index = json.loads(machine.read(f'{STORE}/index.json'))
    assert len(index['manifests']) == 6, index
    machine.run('systemctl stop "m*-artifact"; rm /etc/containers/systemd/m?.artifact')
    registry.stop(machine)
    forget(machine)


# As podman-run(1) says of its own: what is mounted, and what `find` sees.
PLACES = (
    ('one', 'destination=/new', 'f /new'),
    ('one', 'destination=/etc', 'f /etc/one.txt'),
    ('one', 'destination=/etc/passwd', 'f /etc/passwd'),
    ('one', 'destination=/etc,name=called', 'f /etc/called'),
    ('two', 'destination=/new', 'f /new/one.txt f /new/two.txt'),
    ('two', 'destination=/new,title=two.txt', 'f /new'),
    ('two', 'destination=/etc,title=two.txt', 'f /etc/two.txt'),
    ('two', 'destination=/new,name=n', 'f /new/n-0 f /new/n-1'),
    ('none', 'destination=/new', 'f /new/sha256-DIGEST0 f /new/sha256-DIGEST1'),
    ('none', 'destination=/etc,digest=sha256:DIGEST1', 'f /etc/sha256-DIGEST1'),
)
FILES = {
    'one': [('one.txt', b'1')],
    'two': [('one.txt', b'1'), ('two.txt', b'2')],
    'none': [(None, b'1'), (None, b'2')],
}
DIGESTS = {'DIGEST0': digest_of(b'1')[7:], 'DIGEST1': digest_of(b'2')[7:]}


def test_places(machine):
    for files, keys, expected in PLACES:
        make(machine, STORE, 'localhost/a:latest', FILES[files])
        for name, digest in DIGESTS.items():
            keys, expected = keys.replace(name, digest), expected.replace(name, digest)
        container(machine, 'places', f'source=localhost/a,{keys}')
        machine.run('systemctl reset-failed places; systemctl start places')
        seen = machine.inside('places', "awk '$4 ~ /artifacts/ { print $5 }' /proc/self/mountinfo | sort | "
                                         'while read -r p; do [ -f "$p" ] && echo f "$p"; done')
        assert seen.split() == expected.split(), f'{files} {keys}: {seen}'
        machine.run('systemctl stop places')
    forget(machine)


def test_places_that_are_none(machine):
    make(machine, STORE, 'localhost/a:latest', FILES['two'])
    for keys, words in (('source=localhost/a,destination=/etc/passwd', 'has 2 files'),
                        ('source=localhost/a,destination=/new,title=three', "none of its files has the title 'three'"),
                        ('source=localhost/b,destination=/new', 'not in the image stores')):
        container(machine, 'places', keys)
        refused(machine, 'places', words)
    make(machine, STORE, 'localhost/a:latest', [('same', b'1'), ('same', b'2')])
    container(machine, 'places', 'source=localhost/a,destination=/new')
    refused(machine, 'places', "two of its files are called 'same'")
    forget(machine)


def test_attacks(machine):
    """A manifest that somebody else has made: nothing of it leads elsewhere, and damage is found."""
    container(machine, 'attack', 'source=localhost/a,destination=/etc')
    for title in ('../../etc/shadow', '..', '.', '', 'a/b', 'a\nb', '/etc/passwd'):
        make(machine, STORE, 'localhost/a:latest', [(title, b'1')])
        refused(machine, 'attack', 'no name of a file')
    for digest in ('sha256:../../../../../../etc/shadow', 'sha256:' + 'A' * 64, 'md5:1', ''):
        manifest = make(machine, STORE, 'localhost/a:latest', [('a', b'1')])
        manifest['layers'][0]['digest'] = digest
        put_manifest(machine, STORE, 'localhost/a:latest', manifest)
        refused(machine, 'attack', 'not a SHA-256 digest')
    blob = f'{STORE}/blobs/sha256/{digest_of(b"1")[7:]}'
    for instead in (f'ln -sf /etc/shadow {blob}', f'rm {blob}', f'rm {blob}; mkfifo {blob}', f'rm {blob}; mkdir {blob}',
                    f'rm {blob}; mknod {blob} c 1 3', f'echo longer >{blob}', f': >{blob}'):
        machine.run(f'rm -rf {STORE}')
        make(machine, STORE, 'localhost/a:latest', [('a', b'1')])
        machine.run(instead)
        refused(machine, 'attack', 'missing or incomplete')
    machine.run(f'rm -rf {STORE}')
    # Documents: damaged, too large, too deep, a list, with two meanings.
    manifest = make(machine, STORE, 'localhost/a:latest', [('a', b'1')])
    path = f'{STORE}/blobs/sha256/{digest_of(json.dumps(manifest).encode())[7:]}'
    machine.run(f'echo >>{path}')
    refused(machine, 'attack', 'is damaged')
    for text, words in (('[' * 100000, 'levels deep'), ('{"manifests":', 'JSON'), ('{"manifests": [' + '0,' * 3000000 + '0]}', 'MiB'), ('{"manifests": {}}', 'not in the image'),
                        ('{"manifests": [], "Manifests": []}', 'Manifests')):
        machine.write(f'{STORE}/index.json', text)
        refused(machine, 'attack', words)
    machine.run(f'rm {STORE}/index.json; mkfifo {STORE}/index.json')
    refused(machine, 'attack', 'index.json')
    forget(machine)


def test_of_a_user_namespace_and_with_a_read_only_root(machine):
    for file in '/etc/subuid', '/etc/subgid':
        machine.run(f'echo containers:2147483647:2147483648 >>{file}')
    make(machine, STORE, 'localhost/a:latest', FILES['two'])
    container(machine, 'mapped', 'source=localhost/a,destination=/models', more='UserNS=auto\nReadOnly=true\n')
    machine.run('systemctl start mapped')
    assert machine.inside('mapped', 'cat /models/*') == '12'
    assert machine.run(['keyturnctl', 'exec', 'mapped', 'mount', '-o', 'remount,rw,bind', '/models/one.txt'], check=False).status
    machine.run('systemctl stop mapped')
    forget(machine)


def test_of_podmans_own_making(machine):
    """With spaces in its title, and by its digest's first digits."""
    if machine.suite == 'bookworm':
        assert machine.run('podman artifact ls', check=False).status, 'it knows artifacts, and is not tried'
        return
    # Its version here gives all files of an artifact the last one's title.
    machine.run("mkdir -p /run/made; echo first >'/run/made/a b.txt'; echo second >/run/made/c; "
                "podman artifact add localhost/made:1 '/run/made/a b.txt'; podman artifact add localhost/made:2 /run/made/c")
    digest, = (entry['digest'] for entry in json.loads(machine.read(f'{STORE}/index.json'))['manifests']
               if entry['annotations']['org.opencontainers.image.ref.name'] == 'localhost/made:2')
    container(machine, 'made', 'source=localhost/made:1,destination=/etc', f'source={digest[7:19]},destination=/first,title=c')
    machine.run('systemctl start made')
    assert machine.inside('made', 'cat "/etc/a b.txt" /first') == 'first\nsecond\n'
    machine.run('systemctl stop made')
    # Pulled by Podman, where only it has the option.
    registry.start(machine)
    push(machine, '1', FILES['one'])
    machine.write('/etc/containers/systemd/model.artifact', f'[Artifact]\nArtifact={REPOSITORY}:1\nPodmanArgs=--quiet\n')
    container(machine, 'user', 'source=model.artifact,destination=/models')
    machine.run('systemctl start user')
    assert machine.inside('user', 'cat /models') == '1'
    machine.run('systemctl stop user model-artifact')
    registry.stop(machine)
    forget(machine)


def test_of_a_users_container(machine):
    """The store is root's, and so are its directories: what is mounted of it is what the file names."""
    machine.run('id carol || useradd --create-home carol')
    make(machine, STORE, 'localhost/a:latest', FILES['one'])
    machine.run(f'chmod 700 {STORE}')
    container(machine, 'hers', 'source=localhost/a,destination=/a', more='[Service]\nUser=carol\n')
    machine.run('systemctl start hers')
    assert machine.inside('hers', 'cat /a') == '1'
    machine.run('systemctl stop hers')
    forget(machine)


# ---- of users' managers

HERS = '/home/alice/.local/share/containers/storage/artifacts'


def make_hers(machine):
    """A user whose Podman and whose view have one store."""
    make_user(machine, 'alice')
    as_user(machine, 'mkdir -p ~/.config/containers/systemd; printf "[storage]\\ndriver = \\"overlay\\"\\n" >~/.config/containers/storage.conf; '
                     'systemctl --user restart keyturn-view')


def hers(machine, name, *mounts, more='', service=''):
    lines = ''.join(f'Mount=type=artifact,{mount}\n' for mount in mounts)
    users_container(machine, name, f'[Container]\nImage=localhost/test/busybox\nExec=sleep 1000\n{lines}{more}\n[Service]\nKillSignal=SIGKILL\n{service}')


def test_of_a_users_manager(machine):
    """Into her store and nobody else's, which is Podman's; with whatever ids the container has."""
    registry.start(machine)
    push(machine, '1', [('weights.bin', b'weights'), ('labels.txt', b'cat dog')])
    make_hers(machine)
    machine.write('/home/alice/.config/containers/systemd/model.artifact', f'[Artifact]\nArtifact={REPOSITORY}:1\n')
    for name, more in (('plain', ''), ('kept', 'UserNS=keep-id\n'), ('auto', 'UserNS=auto\nReadOnly=true\n')):
        hers(machine, name, 'source=model.artifact,destination=/models', more=more)
        systemctl(machine, f'start {name}')
        assert users_inside(machine, 'cd /models; ls; cat weights.bin', name) == 'labels.txt\nweights.bin\nweights', name
        options = users_inside(machine, 'grep /models/weights.bin /proc/self/mountinfo', name)
        assert ' ro,nosuid,nodev' in options, options
        for command in ('echo x >/models/weights.bin', 'mount -o remount,rw,bind /models/weights.bin', 'rm /models/weights.bin'):
            assert as_user(machine, f'keyturnctl --user exec {name} sh -c "{command}"', check=False).status, (name, command)
    assert not machine.run(f'ls -d {STORE}', check=False).out and not machine.run(f'find {HERS} ! -uid 1234').out
    if machine.suite != 'bookworm':
        assert REPOSITORY in as_user(machine, 'podman artifact ls').out
    # It is there: no registry is asked.
    registry.stop(machine)
    systemctl(machine, 'stop plain kept auto; systemctl --user restart model-artifact')
    # Whose line it is, the journal may not know of a process that ends at once.
    assert f"Artifact '{REPOSITORY}:1' is there" in machine.journal(), machine.journal()
    systemctl(machine, 'start plain')
    # Without it the start says so, and comes after it.
    systemctl(machine, f'stop plain model-artifact; rm -rf {HERS}; systemctl --user start plain', check=False)
    assert show(machine, 'plain', 'ActiveState') != 'active'
    registry.restart(machine)
    systemctl(machine, 'restart model-artifact')
    machine.wait_for(lambda: show(machine, 'plain', 'ActiveState') == 'active')
    assert users_inside(machine, 'cat /models/labels.txt', 'plain') == 'cat dog'
    systemctl(machine, 'stop plain model-artifact')
    registry.stop(machine)
    machine.run(f'rm -rf {HERS} {LAYOUT}; rm -f /home/alice/.config/containers/systemd/*')


def test_attacks_by_a_users_store(machine):
    """What lies there is hers, and leads to nothing that is not; of another's or the machine's store she has nothing."""
    make_hers(machine)
    machine.write('/etc/secret-of-root', 'secret', 0o600)
    hers(machine, 'attack', 'source=localhost/a,destination=/a')
    blob = f'{HERS}/blobs/sha256/{digest_of(b"secret")[7:]}'
    index = f'{HERS}/index.json'
    for instead in (f'ln -sf /etc/secret-of-root {blob}', f'ln -sf /proc/1/environ {blob}', f'rm {blob}; mkfifo {blob}', f'rm {blob}; mkdir {blob}',
                    f'rm {index}; ln -s /etc/secret-of-root {index}', f'rm {index}; mkfifo {index}'):
        machine.run(f'rm -rf {HERS}')
        make(machine, HERS, 'localhost/a:latest', [('a', b'secret')])
        machine.run(f'chown -R alice: {HERS}')
        as_user(machine, instead)
        assert systemctl(machine, 'start attack', check=False).status, instead
        systemctl(machine, 'reset-failed attack')
    machine.run(f'rm -rf {HERS}')
    # The machine's is not hers, be it that she may read it.
    make(machine, STORE, 'localhost/a:latest', [('a', b'secret')])
    machine.run('chmod 0711 /var/lib/containers /var/lib/containers/storage 2>/dev/null', check=False)
    assert systemctl(machine, 'start attack', check=False).status
    said = systemctl(machine, 'show --value -p StatusText attack').out
    assert "Artifact 'localhost/a'" in said, said
    systemctl(machine, 'reset-failed attack')
    machine.run('rm -f /home/alice/.config/containers/systemd/*')
    forget(machine)
