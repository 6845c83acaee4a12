# SPDX-License-Identifier: LGPL-2.1-or-later
"""Machines whose system is an image: read-only, replaced as a whole, in pieces of EROFS and squashfs, without a /var of before."""

import json
import os
import pathlib
import re
import shutil
import tempfile
import textwrap

from machine import HERE, Machine, host

TOP = pathlib.Path(HERE).parent.parent
GENERATOR = '/usr/lib/systemd/system-generators/keyturn-generator'
STORAGE_CONF = '''
[storage]
driver = "overlay"
graphroot = "/var/lib/containers/storage"
runroot = "/run/containers/storage"
[storage.options]
additionalimagestores = ["/usr/share/containers/storage"]
'''
CAMERA = '''
[Container]
Image=localhost/keyturn-demo/camera
Network=host
[Service]
Restart=on-failure
[Install]
WantedBy=multi-user.target
'''
BUSYBOX = '''
[Container]
Image=localhost/test/busybox
StopSignal=SIGKILL
Exec=sleep 1000
{more}
[Install]
WantedBy=multi-user.target
'''
FILES = {
    'camera': CAMERA,
    'bridged': BUSYBOX.format(more='Network=bridge\nPublishPort=8080:80'),
    'early': BUSYBOX.format(more='Network=host\n[Keyturn]\nEarly=yes'),
    'mapped': BUSYBOX.format(more='Network=host\nUserNS=auto'),
    'kept': BUSYBOX.format(more='Network=host\nVolume=kept:/kept'),
    # Docker's format; white-outs and opaque directories, which are special files in the store.
    'layers': '[Container]\nImage=localhost/test/layers:4\nNetwork=host\nStopSignal=SIGKILL\nEntrypoint=["sleep","1000"]\nExec=\n'
              'User=0\n[Install]\nWantedBy=multi-user.target\n',
}


def pack(kind, source, target):
    """A file system of that kind with what is in a directory; the same contents always have the same inodes and times."""
    if kind == 'erofs':
        host('mkfs.erofs', '-T0', '--quiet', str(target), str(source))
    else:
        host('mksquashfs', str(source), str(target), '-quiet', '-no-progress', '-all-time', '0', '-noappend', '-noI', '-noD', '-noF')


def mount(image, directory):
    """In the private mount namespace of the tests; the loop device goes with the mount."""
    os.makedirs(directory, exist_ok=True)
    host('mount', '-o', 'loop,ro', str(image), str(directory))


def make_system(root, names):
    """Makes a root that of an appliance: all that is its own is in /usr, and made ready by --install."""
    root = pathlib.Path(root)
    (root / 'usr/share/containers/storage.conf').write_text(STORAGE_CONF)
    for file in ('etc/subuid', 'etc/subgid'):
        (root / file).write_text('containers:2147483647:2147483648\n')
    for name in names:
        path = root / f'usr/share/containers/systemd/{name}.container'
        path.parent.mkdir(exist_ok=True)
        path.write_text(FILES[name])
    # There is no Podman on it.
    (root / 'usr/lib/systemd/system-generators/podman-system-generator').unlink(missing_ok=True)
    host('chroot', str(root), GENERATOR, '--install')


def system(root, kind, work, names=tuple(FILES)):
    """The same, with the images on a file system of that kind."""
    image = pathlib.Path(work, 'images.' + kind)
    if not image.exists():
        pack(kind, host(os.path.join(HERE, '../images/make'), 'busybox', 'camera', 'layers').strip(), image)
    mount(image, pathlib.Path(root, 'usr/share/containers/storage'))
    make_system(root, names)


def check(machine, names=tuple(FILES), compiled=False):
    try:
        machine.wait_for(lambda: machine.run(['systemctl', 'is-active', *names], check=False).out.split()
                         == ['active'] * len(names), timeout=60)
    except AssertionError:
        raise AssertionError(machine.run('systemctl --failed; journalctl -b --no-pager -n 100', check=False).out) from None
    listed = machine.run('keyturnctl list --json').out
    assert {c['unit'] for c in json.loads(listed)} >= {name + '.service' for name in names}, listed
    status = machine.show('keyturn-seccomp', 'StatusText')
    assert ', 0 failed' in status and (compiled or ' 0 compiled' in status), status
    # An early container may come before the service, and leaves it the filter that it took.
    told = machine.run('journalctl -b --quiet --grep="filter compiled"', check=False).out
    assert compiled or not told, told
    if 'layers' in names:
        check_layers(machine)
    machine.run("keyturnctl exec kept sh -c 'echo x >>/kept/x'")


def check_layers(machine):
    seen = machine.run("keyturnctl exec layers sh -c 'ls -d /data/opaque/* /data/deleted* /data/turned 2>/dev/null; cat /data/changed'",
                       check=False).out
    assert seen == '/data/deleted\n/data/opaque/new\n/data/turned\nfrom the top layer\n', f'white-outs and opaque directories: {seen}'


def test_read_only_root_and_no_var(machine):
    with tempfile.TemporaryDirectory() as work:
        with machine.another(lambda root: system(root, 'squashfs', work), store=False, nspawn=['--volatile=state']) as other:
            assert other.run('touch /usr/x /etc/x', check=False).status != 0
            assert other.run('findmnt -no FSTYPE /usr/share/containers/storage').out.strip() == 'squashfs'
            check(other)
            other.run('systemctl restart camera mapped bridged kept')
            check(other)
            assert other.run('keyturnctl exec kept wc -l /kept/x').out.startswith('2 '), 'the volume'


def test_nothing_but_usr(machine):
    """/etc is empty, too, and with it /etc/subuid; of Debian also its alternatives, so that netavark 1.4 finds no iptables."""
    missing = ['mapped', *(['bridged'] if machine.suite == 'bookworm' else [])]
    names = [name for name in FILES if name not in missing]
    with tempfile.TemporaryDirectory() as work:
        with machine.another(lambda root: system(root, 'erofs', work), store=False, nspawn=['--volatile=yes']) as other:
            assert other.run('findmnt -no FSTYPE /usr/share/containers/storage').out.strip() == 'erofs'
            check(other, names)


def outcome(machine):
    """What a container has that others see: its address, and its ids."""
    pid = machine.show('mapped', 'MainPID')
    return (machine.run('keyturnctl exec bridged ip -4 -o addr show dev eth0').out.split()[3],
            machine.run(f'cat /proc/{pid}/uid_map /proc/{pid}/gid_map').out.split())


def test_systems_a_and_b_with_one_var(machine):
    with tempfile.TemporaryDirectory() as work:
        os.mkdir(f'{work}/var')
        host('cp', '-a', host(os.path.join(HERE, 'root'), machine.suite).strip() + '/var/.', f'{work}/var')
        seen = []
        # The other system has another profile, and one more container that wants the lowest address.
        for more in ('', 'x', ''):
            def prepare(root, more=more):
                if more:
                    profile = pathlib.Path(root, 'usr/share/containers/seccomp.json')
                    profile.write_text(profile.read_text() + '\n')
                    pathlib.Path(root, 'usr/share/containers/systemd').mkdir()
                    pathlib.Path(root, 'usr/share/containers/systemd/aaa.container').write_text(FILES['bridged'].replace(
                        '8080', '8081').replace('StopSignal', 'UserNS=auto\nStopSignal'))
                system(root, 'erofs', work)

            with machine.another(prepare, store=False, nspawn=['--read-only', f'--bind={work}/var:/var']) as other:
                check(other, [*FILES, *(['aaa'] if more else [])])
                seen.append(outcome(other))
                kept = other.run('keyturnctl exec kept cat /kept/x').out
                assert kept == 'x\n' * len(seen), kept
        assert seen[0] == seen[1] == seen[2], seen


def footprint(machine):
    """What there is of keyturn's, and of its networks."""
    # On a busy machine a start may still have its last words to write when systemd has its readiness.
    machine.wait_for(lambda: not machine.run('pgrep -f "^/usr/lib/keyturn/libstart run"', check=False).out)
    found = machine.settled()
    network = machine.run("ip -o link | sed 's/^[0-9]*: //; s/[@<].*//; s/veth[0-9]*/veth/' | sort; nft -s list ruleset | grep -c .; "
                          'pgrep -c aardvark; find /var/lib/keyturn | sort').out
    return {'network': network.splitlines(), 'mounts': [mount for mount in found['mounts'] if 'keyturn' in mount],
            'files': [file for file in found['files'] if file.startswith('/run/')],
            'processes': [line for line in found['processes'] if re.search('keyturn|camera|sleep', line)]}


def name_of(pid):
    """Of a process that may end meanwhile."""
    try:
        return pathlib.Path(f'/proc/{pid}/comm').read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ''


def journals(machine):
    """The processes of journald, as the host numbers them."""
    processes = host('sh', '-c', f'find {machine._cgroup} -name cgroup.procs -exec cat {{}} + 2>/dev/null || true').split()
    return {pid for pid in processes if name_of(pid) == 'systemd-journal\n'}


def soft_reboot(machine):
    before = journals(machine)
    assert before
    machine.run('mkdir /run/nextroot && mount --rbind /run/next /run/nextroot && systemctl soft-reboot', check=False)
    # Who enters the machine while systemd stops all of its processes (SIGSTOP) is stopped, and stays so.
    machine.wait_for(lambda: journals(machine) - before, timeout=30)
    machine.wait_for(lambda: machine.run('systemctl show --property=SoftRebootsCount --value', check=False).out == '1\n',
                     timeout=30)
    machine.wait_for(lambda: machine.run('systemctl is-system-running --wait', check=False).out.strip()
                     in ('running', 'degraded'), timeout=30)


def test_soft_reboot_into_another_system(machine):
    if machine.systemd_version < 254:
        assert 'Unknown command verb' in machine.run('systemctl soft-reboot', check=False).err
        return
    # systemd takes all mounts away, those below the next root, too, and an overlay is not id-mapped: images are on /run, which stays.
    images = host(os.path.join(HERE, '../images/make'), 'busybox', 'camera', 'layers').strip()

    def prepare(root, command):
        pathlib.Path(root, 'usr/share/containers/storage').symlink_to('/run/images')
        # Another profile, and no filters in the image: they are compiled at boot.
        profile = pathlib.Path(root, 'usr/share/containers/seccomp.json')
        text = profile.read_text()
        assert f'"{command}"' in text
        profile.write_text(text.replace(f'"{command}"', f'"{command[:-1]}_"'))
        make_system(root, FILES)
        shutil.rmtree(pathlib.Path(root, 'usr/lib/keyturn/seccomp'))

    def calls():
        return [other.run(f'keyturnctl exec kept {command}', check=False).status == 0
                for command in ('mkdir /tmp/x', 'ln -s x /tmp/y')]

    following = Machine(machine.suite, tree=machine.tree, store=False, prepare=lambda root: prepare(root, 'symlink'))
    try:
        following._make_root()
        with machine.another(lambda root: prepare(root, 'mkdir'), store=False,
                             nspawn=[f'--bind={following.root}:/run/next', f'--bind-ro={images}:/srv']) as other:
            other.run(f'cp -a /srv /run/images && systemctl stop keyturn-userns@mapped && systemctl reset-failed && systemctl start {" ".join(FILES)}')
            check(other, compiled=True)
            assert calls() == [False, True]
            was, before = outcome(other), footprint(other)
            payloads = [other.show(name, 'MainPID') for name in FILES]
            soft_reboot(other)
            check(other, compiled=True)
            assert calls() == [True, False], 'a filter of the system before'
            assert outcome(other) == was
            other.is_as(before, lambda: footprint(other))
            assert not set(payloads) & {other.show(name, 'MainPID') for name in FILES}, 'a payload has survived'
    finally:
        following.stop()


def examples():
    """File -> text, of all complete examples of the manual's pages. Each block has its number in all its names.

    What the README and the guides have their readers do is done by booted/guides, and two partitions are vm/rauc's. Files
    of users (~/.config) are none of a system's: booted/rootless-templates."""
    found = {}
    guides = ('keyturn-fleet.7.md', 'keyturn-migrate.7.md', 'keyturn-system-image.7.md', 'keyturn-tutorial.7.md')
    pages = [path for path in sorted(TOP.glob('man/*.md')) if path.name not in guides]
    blocks = [textwrap.dedent(block) for page in pages for block in re.findall(r'(?:^    .*\n|^\n(?=    ))+', page.read_text(), re.M)]
    complete = [block for block in blocks if re.search(r'\[Container\](.|\n)*Image=', block) and '# ~/.config/' not in block]
    for number, block in enumerate(complete):
        parts = re.split(r'^# /etc/containers/systemd/(.*)\n', block, flags=re.M)
        files = dict(zip(parts[1::2], parts[2::2])) or {'example.container': block}
        for name, text in files.items():
            for stem in {other.rsplit('.', 1)[0] for other in files}:
                text = re.sub(rf'={stem}\.(?=pod|network|image|volume|service)', f'={stem}-{number}.', text)
            found[name.replace('.', f'-{number}.', 1)] = text
    return found


def test_examples_of_the_manual(machine):
    files = examples()
    assert len(files) >= 12, sorted(files)
    # There is no camera here, nor udev that would tell of one, nor gVisor.
    texts = {name: re.sub(r'^(BindsTo=dev-video0.device|After=dev-video0.device|WantedBy=dev-video0.device|Runtime=.*)\n', '', text, flags=re.M)
             for name, text in files.items()}
    wanted = {match[1] for text in texts.values() for match in re.finditer(r'^Image=([\w./:-]+)$', text, re.M)
              if not match[1].endswith('.image')}
    services = sorted(name.replace('.container', '') for name in texts if name.endswith('.container'))

    def prepare(root):
        store = pathlib.Path(work, 'store')
        shutil.copytree(host(os.path.join(HERE, '../images/make'), 'busybox', 'camera').strip(), store, symlinks=True)
        table = store / 'overlay-images/images.json'
        images = json.loads(table.read_text())
        busybox, = (image for image in images if 'localhost/test/busybox:latest' in image.get('names', ()))
        known = {name for image in images for name in image.get('names', ())}
        busybox['names'] += sorted({name if ':' in name else name + ':latest' for name in wanted} - known)
        table.write_text(json.dumps(images))
        pack('erofs', store, f'{work}/images.erofs')
        for name, text in texts.items():
            path = pathlib.Path(root, 'usr/share/containers/systemd', name)
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
            if name.endswith('.container'):
                more = path.with_name(name + '.d') / 'run.conf'
                more.parent.mkdir()
                more.write_text('[Container]\n' + ('' if 'demo/camera' in text else 'Exec=sleep 1000\nStopSignal=SIGKILL\n'))
        for name in ('token', 'db-password', 'tls-key'):
            (pathlib.Path(root, 'usr/lib/credstore', name)).parent.mkdir(exist_ok=True)
            pathlib.Path(root, 'usr/lib/credstore', name).write_text('secret')
        pathlib.Path(root, 'etc/camera').mkdir()
        for file, line in (('passwd', 'alice:x:1000:1000::/home/alice:/bin/sh'), ('group', 'alice:x:1000:')):
            with pathlib.Path(root, 'etc', file).open('a') as users:
                print(line, file=users)
        pathlib.Path(root, 'home/alice/data').mkdir(parents=True)
        for below in ('', '/data'):
            os.chown(f'{root}/home/alice{below}', 1000, 1000)
        system(root, 'erofs', work, [])

    with tempfile.TemporaryDirectory() as work, machine.another(prepare, store=False, nspawn=['--volatile=state']) as other:
        other.run('mknod /dev/video0 c 1 3; systemctl reset-failed')
        said = other.run(['systemctl', 'start', *services], check=False)
        states = dict(zip(services, other.run(['systemctl', 'is-active', *services], check=False).out.split()))
        assert set(states.values()) == {'active'}, (states, said.err, other.run('journalctl -b -n 60 --no-pager').out)
