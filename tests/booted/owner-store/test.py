# SPDX-License-Identifier: LGPL-2.1-or-later
"""Store=user beside User= in [Service]: the image is in the user's own store, which is hostile to root."""

import hashlib
import io
import json
import os
import tarfile

IMAGE = 'localhost/test/hers'
LAYERS = 'localhost/test/layers:4'
SYSTEMS = 'localhost/test/busybox'
ALICE, BOB = 1234, 1235
CONTAINERS = '/home/alice/.local/share/containers'
STORE = f'{CONTAINERS}/storage'


def as_user(machine, command, name='alice', check=True):
    """As at a terminal, without a session."""
    uid = str({'alice': ALICE, 'bob': BOB}[name])
    return machine.run(['setpriv', '--reuid', uid, '--regid', uid, '--init-groups', 'env', '-C', f'/home/{name}',
                        f'HOME=/home/{name}', f'USER={name}', f'XDG_RUNTIME_DIR=/tmp/run-{name}', 'sh', '-c', command], check=check)


def add_user(machine, name, uid, first):
    machine.run(f'useradd -u {uid} -m {name}; chmod 0700 /home/{name}; sed -i /^{name}:/d /etc/subuid /etc/subgid; '
                f'echo {name}:{first}:65536 | tee -a /etc/subuid >>/etc/subgid; '
                # As on a disk: this machine's root is an overlay, of which two may lie on each other.
                f'mkdir -p /home/{name}/.local/share/containers /tmp/run-{name}; '
                f'mount -t tmpfs tmpfs /home/{name}/.local/share/containers; chown -R {name}: /home/{name} /tmp/run-{name}')


def make_images(machine):
    """As rootless Podman makes them: one with owners of several, and one with whiteouts."""
    add_user(machine, 'alice', ALICE, 500000)
    add_user(machine, 'bob', BOB, 700000)
    machine.run('mkdir -m 0700 /srv/roots; echo hunter2 >/srv/roots/secret')
    machine.write('/home/alice/Containerfile', f'FROM {SYSTEMS}\nCOPY --chown=7:8 mark /hers\nENV MARK=hers\nUSER 0\n')
    machine.write('/home/alice/mark', 'hers\n')
    for name in ('alice', 'bob'):  # Podman 4.3 would take vfs
        as_user(machine, 'mkdir -p ~/.config/containers; printf "[storage]\\ndriver = \\"overlay\\"\\n" >~/.config/containers/storage.conf', name)
    machine.run(f'podman save {SYSTEMS} >/tmp/one.tar; podman save {LAYERS} >/tmp/four.tar; chmod 0644 /tmp/*.tar')
    as_user(machine, f'podman load -q -i /tmp/one.tar && podman load -q -i /tmp/four.tar && podman build -q -t {IMAGE} . && podman info')
    machine.run(f'cp -a {STORE} {CONTAINERS}/good')


def prepare(machine):
    """Her store as it was."""
    if machine.run('id alice', check=False).status:
        make_images(machine)
    machine.run('systemctl stop owned swapper killer; rm -rf /home/alice/.config', check=False)
    configure(machine, '')
    machine.run(f'rm -rf {STORE} && cp -a {CONTAINERS}/good {STORE}')


def configure(machine, text):
    as_user(machine, 'mkdir -p ~/.config/containers')
    machine.write('/home/alice/.config/containers/storage.conf', '[storage]\ndriver = "overlay"\n' + text)


def start(machine, name='owned', image=IMAGE, keys='', command='sleep 1000', service='User=alice', check=True, keyturn='Store=user'):
    machine.container(name, f'''
        [Unit]
        StartLimitIntervalSec=0
        [Container]
        Image={image}
        Exec={command}
        {keys}
        [Service]
        {service}
        KillSignal=SIGKILL
        [Keyturn]
        {keyturn}
    ''')
    return machine.run(f'systemctl restart {name}', check=check)


def inside(machine, command, name='owned', check=True):
    return machine.run(['keyturnctl', 'exec', name, 'sh', '-c', command], check=check).out.strip()


def fails(machine, *words, about='', **how):
    machine.mark()
    assert start(machine, check=False, **how).status, 'it has started'
    said = machine.journal('owned')
    assert any(each in said for each in words), (about, said)
    assert 'hunter2' not in said, (about, said)
    return said


# ---- what is found

def test_her_image_is_hers_inside(machine):
    prepare(machine)
    start(machine, keys='Volume=/home/alice:/home/alice')
    assert inside(machine, 'cat /hers; stat -c %u:%g /hers /bin; id -u; echo $MARK') == 'hers\n7:8\n0:0\n0\nhers'
    assert machine.run(f'stat -c %u /proc/{machine.show("owned", "MainPID")}').out.strip() == str(ALICE)
    assert inside(machine, 'rm /hers && mkdir /hers && touch /hers/x && chown 1:2 /hers/x && chmod 4755 /bin/busybox && '
                  'rm -r /etc && mkdir /etc && ls /etc | wc -l && stat -c %u:%g /hers/x') == '0\n1:2'
    assert as_user(machine, f'cat {STORE}/overlay/*/diff/hers').out == 'hers\n', 'her layers have changed'
    assert machine.run('systemctl is-active user@1234', check=False).out.strip() == 'inactive'
    assert machine.run('findmnt -n -t overlay -o TARGET').out == '/\n', 'the machine sees an overlay'


def test_what_podman_sees_in_it(machine):
    """Four layers, with files that are gone, directories that hide others, and links."""
    prepare(machine)
    start(machine, image=LAYERS, command='true', service='User=alice\nType=oneshot\nRemainAfterExit=yes')
    start(machine, image=LAYERS)
    list_all = 'find / -xdev -path /proc -prune -o -path /sys -prune -o -path /dev -prune -o -path /volume -prune -o -type f -exec stat -c \"%n %u:%g %a %s\" {} + ' \
        '| grep -v "^/etc/\\|^/run/" | sort'
    keyturns = inside(machine, list_all)
    podmans = as_user(machine, f"podman run --rm --network=host --cgroups=disabled {LAYERS} sh -c '{list_all}'").out.strip()
    assert keyturns == podmans and len(keyturns.split('\n')) > 3, (keyturns, podmans)


def test_the_systems_is_what_she_has_not(machine):
    prepare(machine)
    as_user(machine, f'podman rmi -f {SYSTEMS} {LAYERS} >/dev/null')
    start(machine, image=LAYERS)
    assert inside(machine, 'echo it runs') == 'it runs'
    said = fails(machine, "In the store of 'alice' (Store=user): Image 'localhost/nothing'", image='localhost/nothing')
    assert STORE in said and "In the system's: Image 'localhost/nothing'" in said and '/var/lib/containers/storage' in said, said
    # Without the key it is not hers.
    fails(machine, f"Image '{IMAGE}'", keyturn='Store=system')


def test_what_is_missing_of_hers_is_not_the_systems(machine):
    """The system has the image, too."""
    prepare(machine)
    machine.run(f'rm -rf {STORE}/overlay/*/diff')
    fails(machine, "/diff'", image=LAYERS)


def test_where_her_store_is(machine):
    prepare(machine)
    machine.run(f'rm -rf {CONTAINERS}/elsewhere; mv {STORE} {CONTAINERS}/elsewhere')
    fails(machine, "In the store of 'alice'")
    configure(machine, 'graphroot = "$HOME/.local/share/containers/elsewhere"\n')
    start(machine)
    assert inside(machine, 'cat /hers') == 'hers'
    machine.run('rm /home/alice/.config/containers/storage.conf')
    machine.write('/etc/containers/storage.conf', '[storage]\ndriver = "overlay"\nrunroot = "/run/containers/storage"\n'
                  'graphroot = "/var/lib/containers/storage"\nrootless_storage_path = "/home/$USER/.local/share/containers/elsewhere"\n')
    start(machine)
    assert inside(machine, 'cat /hers') == 'hers'


def test_a_network_and_a_health_check(machine):
    """The namespace is pinned ahead for the one; the other is entered."""
    prepare(machine)
    start(machine, keys='Network=bridge\nHealthCmd=test -e /hers\nHealthInterval=1s\nNotify=healthy')
    assert 'eth0' in inside(machine, 'ip addr')
    assert inside(machine, 'cat /hers') == 'hers'
    machine.run('systemctl restart owned')
    assert inside(machine, 'cat /hers') == 'hers'


def test_what_keyturnctl_says(machine):
    prepare(machine)
    start(machine)
    assert "'alice', which keyturnctl does not look into" in machine.run('keyturnctl diff owned', check=False).err
    row = json.loads(machine.run('keyturnctl images --json').out)
    assert [r['store'] for r in row if r['unit'] == 'owned.service'] == ['of alice'], row
    assert 'owned' in machine.run('keyturnctl list').out
    machine.run('keyturnctl inspect owned')
    machine.run('systemctl cat owned | sed -n "s/^ExecStart=//p" >/tmp/line; . /dev/null; '
                'sh -c "$(sed "s/libstart run/libstart run --print-spec/; s/%t/\\/run/g; s/%N/owned/g" /tmp/line)" >/tmp/spec')
    assert 'MARK=hers' in machine.run('cat /tmp/spec').out


def test_nothing_is_left(machine):
    prepare(machine)
    start(machine)
    machine.run('systemctl stop owned')
    before = machine.settled()
    for _ in range(3):
        machine.run('systemctl start owned && systemctl stop owned')
    machine.run('for i in 1 2 3 4; do systemctl start owned & sleep 0.0$i; systemctl kill -s KILL owned; wait; systemctl stop owned; done',
                check=False)
    machine.run('systemctl reset-failed owned', check=False)
    machine.is_as(before)
    assert as_user(machine, 'ps -o pid= -u alice', check=False).out.strip().count('\n') <= 2


def test_who_knows_where_she_lives(machine):
    """A record names a home; without one there is no store."""
    prepare(machine)
    machine.write('/etc/userdb/carol.user', '{"userName":"carol","uid":1300,"homeDirectory":"/home/alice"}')
    fails(machine, 'Permission denied', service='User=carol')
    machine.write('/etc/userdb/carol.user', '{"userName":"carol","uid":1300}')
    fails(machine, "In the store of 'carol'", "The store of 'carol' cannot be found", service='User=carol')


def test_as_before_linux_6_8(machine):
    """Which this kernel is told to pretend: both overlays are attached, each in a namespace of its own."""
    prepare(machine)
    start(machine, command="sh -c 'uname -r; cat /hers /data/changed; rm -r /etc && mkdir /etc && touch /etc/x && echo written; exec sleep 1000'", keys='User=0')
    line = [line for line in machine.run('systemctl cat owned').out.split('\n') if line.startswith('ExecStart=')][-1]
    for image, content in ((IMAGE, 'hers'), (LAYERS, 'from the top layer')):
        machine.run('systemctl stop owned')
        machine.write('/run/systemd/system/owned.service.d/50-old.conf', '[Service]\nExecStart=\n' + line
                      .replace('ExecStart=', 'ExecStart=/usr/bin/setarch --uname-2.6 ').replace(IMAGE, image) + '\n')
        machine.mark()
        machine.run('systemctl daemon-reload; systemctl start owned')
        machine.wait_for(lambda: 'written' in machine.journal('owned').split('\n'))
        said = machine.journal('owned').split('\n')
        assert content in said and any(line.startswith('2.6.') for line in said), said
        assert machine.run(f'cat /proc/{machine.show("owned", "MainPID")}/uid_map').out.split()[:2] == ['0', str(ALICE)]
    assert machine.run('findmnt -n -t overlay -o TARGET').out == '/\n', 'the machine sees an overlay'
    machine.run('systemctl stop owned; rm -r /run/systemd/system/owned.service.d; systemctl daemon-reload')
    assert machine.run('ls /run/keyturn/owned', check=False).out == ''


# ---- attacks

def test_her_files_are_not_files(machine):
    """Each keeps her own container from starting, at once, and root reads nothing for her."""
    prepare(machine)
    images, overlay = f'{STORE}/overlay-images/images.json', f'{STORE}/overlay'
    top = as_user(machine, f'ls -d {overlay}/*/diff/hers | sed "s,/diff/hers,,"').out.strip()
    config = as_user(machine, f'ls {STORE}/overlay-images/*/=* | head -n1').out.strip()
    for attack, words in (
            (f'rm {images}; mkfifo {images}', ('is not a regular file',)),
            (f'ln -sf /srv/roots/secret {images}', ('Permission denied',)),
            (f'ln -sf /proc/1/environ {images}', ('Permission denied',)),
            (f'ln -sf /dev/zero {images}', ('is not a regular file',)),
            (f'truncate -s 65M {images}', ('is over 64 MiB',)),
            (f'head -c 1000000 /dev/zero | tr "\\0" "[" >{images}', ('nested too deeply',)),
            (f'echo >{images}; truncate -s 60M {images}', ('line', 'JSON')),
            (f'mv {overlay} {STORE}/away; ln -s /srv/roots {overlay}', ('is in none of the stores',)),
            (f'mv {overlay} {STORE}/away; ln -s /proc/1/root {overlay}', ('Permission denied',)),
            (f'mv {overlay} {STORE}/away; ln -s / {overlay}', ('is in none of the stores',)),
            (f'mv {top}/diff {top}/away; ln -s /srv/roots {top}/diff', ('additional layer store',)),
            (f'mv {top} {STORE}/away; ln -s /srv/roots {top}', ('is in none of the stores',)),
            (f'mv {top} {STORE}/away; ln -s /proc/1/root {top}', ('is in none of the stores',)),
            (f'for i in {overlay}/l/*; do ln -sfn ../../../../../../../root $i; done', ('does not point to',)),
            (f'for i in {overlay}/l/*; do ln -sfn ../../../../../../../srv/roots/diff $i; done', ('does not point to',)),
            (f'rm {top}/lower; mkfifo {top}/lower', ('is not a regular file',)),
            (f'rm {top}/lower; ln -s /srv/roots/secret {top}/lower', ('Permission denied',)),
            (f'for i in {STORE}/overlay-images/*/=*; do rm $i; mkfifo $i; done', ('is not a regular file',)),
            (f'for i in {STORE}/overlay-images/*/=*; do ln -sf /srv/roots/secret $i; done', ('Permission denied',)),
            (f'chmod 0 {STORE}/overlay', ('hers',)),  # she is root of her namespace
            ('rm ~/.config/containers/storage.conf; mkfifo ~/.config/containers/storage.conf', ('is not a regular file',)),
            ('rm ~/.config/containers/storage.conf; ln -sf /srv/roots/secret ~/.config/containers/storage.conf', ('Permission denied',)),
            ('rm ~/.config/containers/storage.conf; printf "[storage]\\ngraphroot = \\"/srv/roots\\"\\n" >~/.config/containers/storage.conf',
             ('Permission denied',)),
            ('rm ~/.config/containers/storage.conf; printf "[storage.options]\\nmount_program = \\"/bin/x\\"\\n" >~/.config/containers/storage.conf',
             ("storage.conf:2: 'mount_program'",))):
        assert config
        prepare(machine)
        as_user(machine, attack)
        if words == ('hers',):
            start(machine)
            assert inside(machine, 'cat /hers') == 'hers'
            continue
        said = fails(machine, *words, about=attack)
        assert machine.run('systemctl show -p NRestarts --value owned').out.strip() == '0', said
    prepare(machine)
    start(machine)


def forge(machine, name, config, layers=1):
    """Loads an image whose config is what she wrote, as any program of hers can make one."""
    blobs, diff_ids, descriptors = {}, [], []

    def put(data, kind):
        digest = hashlib.sha256(data).hexdigest()
        blobs[digest] = data
        return {'mediaType': f'application/vnd.oci.image.{kind}', 'digest': f'sha256:{digest}', 'size': len(data)}

    with open(os.path.join(machine.path('/'), 'usr/bin/busybox'), 'rb') as file:
        busybox = file.read()
    for number in range(layers):
        tar = io.BytesIO()
        with tarfile.open(fileobj=tar, mode='w') as layer:
            for path, data in (('bin/sh', busybox), ('bin/sleep', busybox), ('bin/cat', busybox), ('bin/touch', busybox), (f'file{number}', b'x')):
                entry = tarfile.TarInfo(path)
                entry.size, entry.mode = len(data), 0o755
                layer.addfile(entry, io.BytesIO(data))
        diff_ids.append('sha256:' + hashlib.sha256(tar.getvalue()).hexdigest())
        descriptors.append(put(tar.getvalue(), 'layer.v1.tar'))
    text = json.dumps({'architecture': 'amd64', 'os': 'linux', 'config': config, 'rootfs': {'type': 'layers', 'diff_ids': diff_ids}})
    manifest = json.dumps({'schemaVersion': 2, 'mediaType': 'application/vnd.oci.image.manifest.v1+json',
                           'config': put(text.encode(), 'config.v1+json'), 'layers': descriptors})
    index = put(manifest.encode(), 'manifest.v1+json') | {'annotations': {'org.opencontainers.image.ref.name': name}}
    with tarfile.open(machine.path('/home/alice/forged.tar'), 'w') as archive:
        for path, data in ({'oci-layout': b'{"imageLayoutVersion":"1.0.0"}',
                            'index.json': json.dumps({'schemaVersion': 2, 'manifests': [index]}).encode()} |
                           {f'blobs/sha256/{digest}': data for digest, data in blobs.items()}).items():
            entry = tarfile.TarInfo(path)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    machine.run('chown alice: /home/alice/forged.tar')
    as_user(machine, f'podman load -q -i ~/forged.tar && podman tag {name} localhost/forged')


def test_her_config_says_what_it_wants(machine):
    prepare(machine)
    machine.run('mkdir -p /srv/watched; ls -laR /etc /srv /run/keyturn 2>/dev/null | md5sum >/tmp/before', check=False)
    for number, (config, words) in enumerate((
            ({'WorkingDir': '/../../../srv/watched/made'}, None),
            ({'WorkingDir': 'relative'}, 'is not an absolute path'),
            ({'WorkingDir': '/x\n<0>READY=1'}, 'control character'),
            ({'Volumes': {'/../../srv/watched/made': {}, '/etc/../../../srv/watched/too': {}}}, None),
            ({'Volumes': {'../made': {}}}, 'is not an absolute path'),
            ({'User': '../../root'}, "no user '../../root'"),
            ({'User': '4294967295:4294967295'}, ''),
            ({'User': '70000'}, 'is none of its user namespace'),
            ({'User': '0\n1'}, ''),
            ({'Env': ['LD_PRELOAD=/x', 'NOTIFY_SOCKET=/run/systemd/notify', 'LISTEN_FDS=3', 'A' * 100000 + '=1', 'a=\nb']}, None),
            ({'Env': ['novalue']}, "'novalue' has no '='"),
            ({'Env': ['A%07d=%s' % (i, 'x' * 100) for i in range(30000)]}, ''),
            ({'StopSignal': '/../x'}, None),
            ({'Labels': {'io.containers.autoupdate': 'registry', 'a\nb': 'c\nd'}}, None),
            ({'Entrypoint': ['/../../../usr/bin/env']}, ''),
            ({'Entrypoint': [''] * 1000}, ''))):
        forge(machine, f'localhost/forged:{number}', config)
        machine.mark()
        done = start(machine, image=f'localhost/forged:{number}', keys='PodmanArgs=--entrypoint=/bin/sh' if 'Entrypoint' not in config else '',
                     command='-c "sleep 1000"', check=False)
        said = machine.journal('owned')
        assert 'hunter2' not in said, said
        if words is None:
            assert done.status == 0, (str(config)[:100], said[-1000:])
            assert machine.run(f'cat /proc/{machine.show("owned", "MainPID")}/uid_map').out.split()[:2] == ['0', str(ALICE)]
        elif words:
            assert done.status and words in said, (str(config)[:200], said)
        assert machine.run('ls /srv/watched').out == '', config
    machine.run('systemctl stop owned', check=False)


def test_she_exchanges_layers_under_the_start(machine):
    """Directories, links, files cut off while they are read: sixty starts, of which some succeed."""
    prepare(machine)
    start(machine, command="sh -c 'ls /; cat /hers /secret /diff/secret; exec sleep 1000'")
    top = as_user(machine, f'ls -d {STORE}/overlay/*/diff/hers | sed "s,/diff/hers,,"').out.strip()
    images = f'{STORE}/overlay-images/images.json'
    machine.write('/home/alice/swap', f'''
        use strict;
        chmod 0755, "{top}/diff";
        my ($top, $images) = ("{top}", "{images}");
        open(my $f, "<", $images); local $/; my $good = <$f>; close $f;
        while (1) {{
            rename("$top/diff", "$top/away"); symlink("/srv/roots", "$top/diff"); select(undef, undef, undef, rand(0.004));
            unlink("$top/diff"); rename("$top/away", "$top/diff"); select(undef, undef, undef, rand(0.004));
            rename("$top/diff/etc", "$top/diff/e"); symlink("/srv/roots", "$top/diff/etc"); symlink("/srv/roots/secret", "$top/diff/secret");
            select(undef, undef, undef, rand(0.004)); unlink("$top/diff/etc"); unlink("$top/diff/secret"); rename("$top/diff/e", "$top/diff/etc");
            open(my $cut, ">", $images); close $cut; open(my $again, ">", $images); print $again $good; close $again;
            select(undef, undef, undef, rand(0.02));
        }}
    ''')
    machine.unit('swapper.service', '[Service]\nUser=alice\nExecStart=perl /home/alice/swap\n')
    machine.mark()
    machine.run('systemctl start swapper')
    tried = started = 0
    while tried < 60 or tried < 240 and not 0 < started < tried:
        tried += 20
        started += int(machine.run('n=0; for i in $(seq 20); do systemctl restart owned && n=$((n + 1)); sleep 0.02; done '
                                   '2>/dev/null; echo $n', check=False).out)
    machine.run('systemctl stop swapper owned', check=False)
    said = machine.journal('owned')
    assert 0 < started < tried, (started, tried, said[-3000:])
    assert 'hunter2' not in said, said
    prepare(machine)
    start(machine)
    assert inside(machine, 'cat /hers') == 'hers'


def test_she_kills_or_stops_what_looks(machine):
    """It is she, so she may. The start ends by itself, and with what it is about."""
    prepare(machine)
    start(machine)
    # So that there is a moment to hit.
    as_user(machine, f"cd {STORE}/overlay-images; {{ printf '['; head -c 60000000 /dev/zero | tr '\\0' ' '; tail -c +2 images.json; }} >new; "
            'mv new images.json')
    machine.write('/home/alice/kill', 'my $s = shift; while (1) { for (glob("/proc/[0-9]*")) { my @s = stat($_); my ($p) = /(\\d+)/; '
                  'kill $s, $p if $p != $$ && $p != getppid() }}\n')
    for signal, words in (('KILL', 'has ended'), ('STOP', 'no answer within 30 seconds')):
        machine.unit('killer.service', f'[Service]\nUser=alice\nExecStart=perl /home/alice/kill {signal}\n')
        machine.run('systemctl start killer')
        machine.mark()
        machine.run('for i in $(seq 10); do systemctl restart owned || break; done', check=False, timeout=200)
        machine.run('systemctl stop killer')
        said = machine.journal('owned')
        assert words in said, said
        assert not as_user(machine, 'ps -o pid=,args= -u alice | grep "libstart run" | grep -v grep', check=False).out
    start(machine)
    assert inside(machine, 'cat /hers') == 'hers'


def test_others_layers(machine):
    """Of another user's store she has what that one shows her, which an overlay shows nobody."""
    prepare(machine)
    as_user(machine, 'podman load -q -i /tmp/one.tar', 'bob')
    as_user(machine, 'podman rmi -a -f')
    configure(machine, '[storage.options]\nadditionalimagestores = ["/home/bob/.local/share/containers/storage"]\n')
    fails(machine, 'Permission denied', image=SYSTEMS)
    machine.run('chmod 0755 /home/bob /home/bob/.local /home/bob/.local/share; find /home/bob/.local/share/containers -type d -exec chmod a+rx {} +; '
                'find /home/bob/.local/share/containers -type f -exec chmod a+r {} +')
    fails(machine, 'belongs to an id that this user has not', image=SYSTEMS)
    machine.run('chmod 0700 /home/bob')


def test_no_way_out_of_her_namespace(machine):
    """The payload in what she made: root's files and others' stay closed, whatever is setuid in her layers."""
    prepare(machine)
    start(machine, keys='AddCapability=all\nSecurityLabelDisable=true\nVolume=/:/host:ro')
    for path in ('/host/srv/roots/secret', '/host/etc/shadow', '/host/home/bob/.profile'):
        assert inside(machine, f'cat {path} 2>&1', check=False).endswith('Permission denied'), path
    assert inside(machine, 'mknod /sda b 8 0 2>&1', check=False).endswith('Operation not permitted')
    inside(machine, 'mount -o remount,rw / ; mount -o remount,suid,dev /; umount /; mount -t overlay -o lowerdir=/:/bin x /mnt; true', check=False)
    pid = machine.show('owned', 'MainPID')
    assert as_user(machine, f'ls /proc/{pid}/root/', check=False).status
    options = machine.run(f'grep " / / " /proc/{pid}/mountinfo').out
    assert 'nodev' in options, options


def test_files_that_are_not_hers(machine):
    """On a disk that she has brought others own some, also root. No volume of root's gets such a file."""
    prepare(machine)
    top = as_user(machine, f'ls -d {STORE}/overlay/*/diff/hers | sed "s,/hers,,"').out.strip()
    volumes = '/var/lib/containers/storage/volumes'
    strange = f'find {volumes} -perm /6000 -o -path "*/_data/*" -user root -o -path "*/_data/*" -group root'
    setuid = f'cp /usr/bin/busybox {top}/data/sh && chown {{}} {top}/data/sh && chmod 6755 {top}/data/sh'
    for number, (owner, attack, words) in enumerate((
            ('0:0', setuid, "'sh' in the image's directory belongs to the user 0"),
            ('alice:0', setuid, "'sh' in the image's directory belongs to the group 0"),
            ('0:alice', f'mkdir -p {top}/data/a/b && chown alice: {top}/data/a && chown {{}} {top}/data/a/b', "'a/b' in the image's directory belongs to the user 0"),
            (f'{BOB}:alice', f'ln -s x {top}/data/link && chown -h {{}} {top}/data/link', f"'link' in the image's directory belongs to the user {BOB}"),
            ('0:0', f'chown {{}} {top}/data && chmod 6777 {top}/data', "'/data' of the image belongs to the user 0"),
            ('0:0', f'chown {{}} {top} && chmod 6777 {top}', "'/' of the image belongs to the user 0"),
            ('0:0', f'mkdir -p {top}/etc && chown {{}} {top}/etc', "'/etc' of the image belongs to the user 0"))):
        prepare(machine)
        machine.run(f'rm -rf {top}/data && mkdir {top}/data && chown alice: {top}/data && ' + attack.format(owner))
        for option in ('', ':nocopy') if words.startswith("'/data'") else ('',):
            fails(machine, words, about=(attack, option), keys=f'Volume=store{number}:/data{option}')
        assert machine.run(strange).out == '', attack
    # Hers are hers, with set-user-id and all.
    prepare(machine)
    machine.run(f'mkdir {top}/data && ' + setuid.format('alice:alice') + f'; chown alice: {top}/data')
    start(machine, keys='Volume=storehers:/data')
    assert machine.run(f'stat -c %U:%G:%a {volumes}/storehers/_data/sh').out.strip() == 'alice:alice:6755'
    assert inside(machine, 'stat -c %u:%g /data/sh') == '0:0'
    machine.run(f'systemctl stop owned; rm -rf {volumes}/store*')


def test_a_store_on_an_overlay(machine):
    prepare(machine)
    machine.run(f'mkdir -p /home/alice/over; cp -a {STORE} /home/alice/over/; chown alice: /home/alice/over')
    configure(machine, 'graphroot = "/home/alice/over/storage"\n')
    fails(machine, 'is on an overlay')
    machine.run('rm -r /home/alice/over')
