# SPDX-License-Identifier: LGPL-2.1-or-later
"""What has once been a hole in runc, crun, Podman, conmon or containerd: each attack is run against keyturn.

tests/ADVISORIES.md says which advisory each test here is for, and why those without one need none.
"""

import contextlib
import hashlib
import io
import json
import os
import re
import shlex
import tarfile

HERE = os.path.dirname(os.path.realpath(__file__))
ROOT = '/srv/evil'
OUTSIDE = '/srv/outside'  # of the host; nothing may come to be in it
LIBSTART = '/usr/lib/keyturn/libstart'
TEST_SECONDS = 300  # races take most of a minute where others work, too


# ---- what the attacks are made of

def make_root(machine, path=ROOT):
    machine.run(f'rm -rf {path} {OUTSIDE}; mkdir -p {OUTSIDE}; chmod 0777 {OUTSIDE}; echo host >/srv/host-marker; '
                f'mkdir -p {path}/bin {path}/etc {path}/tmp {path}/proc {path}/sys {path}/dev {path}/run; '
                f'cp /usr/bin/busybox {path}/bin/; for i in sh sleep cat ls id mount readlink true stat; do '
                f'ln -s busybox {path}/bin/$i; done')


def outside(machine):
    return machine.run(f'find {OUTSIDE} -mindepth 1; find /srv -maxdepth 1 -name host-marker -size -5c -o '
                       '-maxdepth 1 -name host-marker -size +5c').out


def libstart(machine, *words, options='', root=f'{ROOT}:O', before=''):
    """Starts a container by hand, and waits for it."""
    return machine.run(f'{before}{LIBSTART} run --name evil --network none --log-driver passthrough {options} --rootfs {root} '
                       f'{shlex.join(words)} 2>&1 </dev/null', check=False, timeout=30)


def tar(files):
    """A layer: path -> None for a directory, bytes for a file, str for a link's target."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode='w') as archive:
        for path, content in files.items():
            member = tarfile.TarInfo(path)
            member.mode = 0o755
            if content is None:
                member.type = tarfile.DIRTYPE
            elif isinstance(content, str):
                member.type, member.linkname = tarfile.SYMTYPE, content
            else:
                member.size = len(content)
            archive.addfile(member, io.BytesIO(content) if isinstance(content, bytes) else None)
    return buffer.getvalue()


@contextlib.contextmanager
def image(machine, config, files=None):
    """An image with just that configuration, which no tool would write, in the machine's store. Yields its name."""
    with open(machine.path('/usr/bin/busybox'), 'rb') as file:
        layer = tar({'bin': None, 'bin/busybox': file.read(), 'bin/sh': 'busybox', 'etc': None, 'tmp': None, **(files or {})})
    where = machine.path('/srv/oci')
    machine.run('rm -rf /srv/oci; mkdir -p /srv/oci/blobs/sha256')

    def blob(kind, data):
        digest = hashlib.sha256(data).hexdigest()
        with open(f'{where}/blobs/sha256/{digest}', 'wb') as file:
            file.write(data)
        return {'mediaType': f'application/vnd.oci.image.{kind}', 'digest': 'sha256:' + digest, 'size': len(data)}

    def encoded(value):
        return json.dumps(value).encode()
    layers = [blob('layer.v1.tar', layer)]
    described = blob('config.v1+json', encoded({
        'architecture': {'x86_64': 'amd64', 'aarch64': 'arm64'}[os.uname().machine], 'os': 'linux', 'config': config,
        'rootfs': {'type': 'layers', 'diff_ids': [layers[0]['digest']]}}))
    manifest = blob('manifest.v1+json', encoded({'schemaVersion': 2, 'config': described, 'layers': layers,
                                                 'mediaType': 'application/vnd.oci.image.manifest.v1+json'}))
    for name, value in (('oci-layout', {'imageLayoutVersion': '1.0.0'}), ('index.json', {'schemaVersion': 2, 'manifests': [manifest]})):
        with open(f'{where}/{name}', 'wb') as file:
            file.write(encoded(value))
    pulled = machine.run('podman pull -q oci:/srv/oci').out.split()[-1]
    machine.run(f'podman tag {pulled} localhost/test/evil')
    try:
        yield 'localhost/test/evil'
    finally:
        machine.run(f'podman rmi -f {pulled}', check=False)


def run_image(machine, name, *words, options=''):
    return machine.run(f'{LIBSTART} run --name evil --network none --log-driver passthrough {options} {name} '
                       f'{shlex.join(words)} 2>&1 </dev/null', check=False, timeout=30)


# What a payload sees of its mounts: the uppermost on each path of the kernel's file systems.
MOUNTS = 'cat /proc/self/mountinfo'
KERNELS = re.compile(r'^/(proc|sys|dev)(/|$)')


def kernel_mounts(text):
    found = {}
    for line in text.splitlines():
        fields = line.split()
        if '-' not in fields or not KERNELS.match(fields[4]):
            continue
        found[fields[4]] = (fields[fields.index('-') + 1], fields[3], fields[5].split(',')[0])
    return found


def protections(machine):
    """Those of a container of nobody's: path -> (file system, what of it, ro or rw)."""
    with image(machine, {'Env': ['PATH=/bin']}) as name:
        found = kernel_mounts(run_image(machine, name, 'sh', '-c', f'busybox {MOUNTS}').out)
    assert found['/proc'] == ('proc', '/', 'rw') and found['/proc/sys'][2] == 'ro', found
    assert '/sys/devices/virtual/powercap' in found or not os.path.exists('/sys/devices/virtual/powercap'), found
    assert found['/proc/keys'][1] == '/null' and found['/sys'][2] == 'ro' and found['/sys/fs/cgroup'][2] == 'ro', found
    assert found['/dev'][0] == 'tmpfs', found
    return found


def is_protected(found, wanted):
    """Nothing of it is replaced; more may be there."""
    return {path: found.get(path) for path in wanted} == wanted


# ---- tests

def test_volumes_of_an_image_replace_no_protection(machine):
    wanted = protections(machine)
    for volumes in (['/proc'], ['/sys'], ['/dev'], ['/proc/sys', '/proc/keys'], ['/proc/self'], ['/sys/fs/cgroup', '/dev/pts'],
                    ['//proc/', '/tmp/../proc', '/dev/../proc/./sys'], ['/link']):
        config = {'Env': ['PATH=/bin'], 'Volumes': {volume: {} for volume in volumes}}
        with image(machine, config, {'link': 'proc'}) as name:
            for options in ('', '--read-only', '--mount type=tmpfs,destination=/tmp,tmpcopyup'):
                done = run_image(machine, name, 'sh', '-c', f'busybox {MOUNTS}', options=options)
                assert done.status == 125 or is_protected(kernel_mounts(done.out), wanted), (volumes, options, done)
    # What is refused as a whole would prove little.
    with image(machine, {'Env': ['PATH=/bin'], 'Volumes': {'/data': {}}}) as name:
        assert is_protected(kernel_mounts(run_image(machine, name, 'sh', '-c', f'busybox {MOUNTS}').out), wanted)


def test_volumes_of_an_image_show_nothing_of_the_host(machine):
    make_root(machine)
    for volume, files in (('/link', {'link': '/srv'}), ('/link', {'link': '../../../../../srv'}), ('/../../../srv', {}),
                          ('/deep/link/in', {'deep': None, 'deep/link': '/srv'})):
        with image(machine, {'Env': ['PATH=/bin'], 'Volumes': {volume: {}}}, files) as name:
            for options in ('', '--read-only'):
                done = run_image(machine, name, 'sh', '-c', 'busybox find / -name host-marker -not -path "/proc/*"; echo over',
                                 options=options)
                assert 'host-marker' not in done.out and ('over' in done.out or done.status == 125), (volume, done)
                assert outside(machine) == '', volume


def test_links_in_the_place_of_kernel_directories(machine):
    """/proc, /sys, /dev, or something in them, is a link in the image, or a file: nothing of the host is written."""
    wanted = protections(machine)
    for path in ('proc', 'sys', 'dev', 'dev/pts', 'dev/shm', 'dev/null', 'dev/console', 'dev/ptmx', 'dev/fd', 'proc/self', 'proc/sys'):
        for target in (OUTSIDE, f'../../../../../../..{OUTSIDE}', 'tmp'):
            make_root(machine)
            machine.run(f'rm -rf {ROOT}/{path}; ln -s {target} {ROOT}/{path}; mkdir -p /srv/empty')
            for root in (ROOT, ROOT + ':O'):
                for options in ('', '-v /srv/empty:/empty:rshared')[:2 if target == OUTSIDE else 1]:
                    done = libstart(machine, 'sh', '-c', MOUNTS, options=options, root=root)
                    assert done.status == 125 or is_protected(kernel_mounts(done.out), wanted), (path, target, root, options, done)
                    assert outside(machine) == '', (path, target, root, options)


def test_dev_null_of_an_image_masks_nothing(machine):
    """What lies on masked files is the host's, whatever the image has for it."""
    for null in ('ln -s /proc/sys/kernel/core_pattern {}', 'echo mine >{}', 'mkdir {}', 'mknod {} c 1 5', 'ln -s /proc/keys {}'):
        make_root(machine)
        machine.run(null.format(f'{ROOT}/dev/null'))
        pattern = machine.read('/proc/sys/kernel/core_pattern')
        for options in ('', '--tmpfs /tmp', '-v /srv/outside:/outside'):
            done = libstart(machine, 'sh', '-c', 'cat /proc/keys /proc/timer_list; '
                            '(echo "|/evil" >/proc/sys/kernel/core_pattern) 2>/dev/null || echo denied; '
                            f'stat -c %t:%T /dev/null /proc/keys; {MOUNTS}', options=options)
            assert done.out.startswith('denied\n1:3\n1:3\n'), (null, options, done.out[:300])
            assert machine.read('/proc/sys/kernel/core_pattern') == pattern
            assert kernel_mounts(done.out)['/proc/keys'][1:] == ('/null', 'ro'), done.out


def test_proc_of_an_image_is_not_written(machine):
    """What the runtime writes to /proc (labels, sysctls, the OOM score) must not end in files of the image."""
    make_root(machine)
    fakes = ('self/attr/exec', 'self/attr/current', 'self/oom_score_adj', 'self/fd/1', 'sys/net/ipv4/ping_group_range',
             'sys/kernel/core_pattern', 'sysrq-trigger')
    for fake in fakes:
        machine.write(f'{ROOT}/proc/{fake}', 'fake\n')
    for root in (ROOT, ROOT + ':O'):
        done = libstart(machine, 'cat', '/proc/sys/net/ipv4/ping_group_range', root=root,
                        options='--sysctl net.ipv4.ping_group_range="7 9" --security-opt no-new-privileges')
        assert (done.status, done.out.split()) == (0, ['7', '9']), done
        for fake in fakes:
            assert machine.read(f'{ROOT}/proc/{fake}') == 'fake\n', fake


def test_sysctl_is_one(machine):
    """A '+' once separated two in the tool that another runtime sets them with."""
    make_root(machine)
    pattern = machine.read('/proc/sys/kernel/core_pattern')
    for value in ('1+kernel.core_pattern=|/evil', '1 kernel.core_pattern=|/evil', '1;kernel.core_pattern=|/evil'):
        libstart(machine, 'true', options=f"--sysctl 'kernel.shm_rmid_forced={value}'")
        assert machine.read('/proc/sys/kernel/core_pattern') == pattern, value
    for name in ('kernel.core_pattern', 'kernel/core_pattern', 'net/../kernel/core_pattern', 'net.ipv4...kernel.core_pattern'):
        done = libstart(machine, 'true', options=f"--sysctl '{name}=|/evil'")
        assert done.status == 125 and machine.read('/proc/sys/kernel/core_pattern') == pattern, (name, done)


def test_cgroups_are_read_only(machine):
    make_root(machine)
    done = libstart(machine, 'sh', '-c', 'for i in /sys/fs/cgroup/cgroup.procs /sys/fs/cgroup/../cgroup/new/x; do '
                    '(echo 0 >$i) 2>/dev/null && echo written; done; busybox mkdir /sys/fs/cgroup/made 2>/dev/null && echo made; '
                    'mount -o remount,rw /sys/fs/cgroup 2>/dev/null && echo remounted; ls /sys/fs/cgroup/cgroup.procs',
                    options='--user 0')
    assert done.out == '/sys/fs/cgroup/cgroup.procs\n', done


def test_files_made_in_etc_stay_inside(machine):
    """/etc, and what keyturn writes in it, are links that lead out."""
    for path in ('etc', 'etc/hosts', 'etc/hostname', 'etc/resolv.conf', 'etc/localtime', 'etc/mtab', 'run', 'run/.containerenv'):
        for target in (OUTSIDE, f'../../../../../../..{OUTSIDE}/made', '/proc/1/root'):
            make_root(machine)
            machine.run(f'rm -rf {ROOT}/{path}; ln -s {target} {ROOT}/{path}; sha256sum /etc/hosts /etc/hostname >/srv/before')
            for root in (ROOT, ROOT + ':O'):
                libstart(machine, 'true', options='--hostname evil --add-host evil:10.0.0.1 --tz local', root=root)
                assert outside(machine) == '', (path, target, root)
                machine.run('sha256sum -c --quiet /srv/before')


def test_labels_of_an_image_are_no_annotations(machine):
    """libcrun does things for annotations: opens files of the host, runs programs, turns handlers on."""
    evil = {'run.oci.hooks.stdout': OUTSIDE + '/made', 'run.oci.hooks.stderr': OUTSIDE + '/made', 'run.oci.handler': 'krun',
            'run.oci.keep_original_groups': '1', 'run.oci.seccomp_bpf_data': 'AAAA', 'run.oci.mount_context_type': 'x',
            'org.systemd.property.ExecStartPre': "'/bin/sh'", 'module.wasm.image/variant': 'compat',
            'containerd.io/restart.loguri': f'binary:///bin/touch?{OUTSIDE}/made'}
    make_root(machine)
    with image(machine, {'Env': ['PATH=/bin'], 'Labels': evil}) as name:
        spec = json.loads(run_image(machine, name, 'true', options='--print-spec').out)
        assert not set(evil) & set(spec.get('annotations', {})), spec.get('annotations')
        assert run_image(machine, name, 'busybox', 'id', '-u').out == '0\n'
        assert outside(machine) == ''
    for key, value in evil.items():
        done = libstart(machine, 'true', options=f'--annotation {shlex.quote(key + "=" + value)} --label {shlex.quote(key + "=" + value)}')
        assert outside(machine) == '' and (done.status == 125 or not key.startswith('run.oci')), (key, done)


# With a working directory that is outside, the way up leads to the host's root.
LOOK_UP = 'i=.; for n in 1 2 3 4 5 6 7 8 9; do i=$i/..; cat $i/srv/host-marker; done 2>/dev/null; echo over'


def test_workdir_is_no_descriptor(machine):
    make_root(machine)
    machine.run('podman secret rm hidden 2>/dev/null; printf hidden-value | podman secret create hidden -')
    places = [f'/proc/self/fd/{n}' for n in range(3, 21)] + ['/proc/self/cwd', '/proc/1/cwd', '/proc/self/fd/8/../../..',
                                                              '/proc/self/root/../..']
    for place in places:
        for options in ('', '-v /srv/outside:/tmp:rshared')[:2 if place[-1] in '789' else 1]:
            done = libstart(machine, 'sh', '-c', LOOK_UP, options=f'--workdir {place} {options}')
            assert 'host' not in done.out.split(), (place, options, done)
    for place in places[::4]:
        with image(machine, {'Env': ['PATH=/bin'], 'WorkingDir': place}) as name:
            done = run_image(machine, name, 'sh', '-c', LOOK_UP.replace('cat', 'busybox cat'))
            assert 'host' not in done.out.split(), (place, done)
            # Nor into the file system of the container's secrets, which it is to read one by one.
            done = run_image(machine, name, 'sh', '-c', 'busybox cat ./0', options='--secret hidden')
            assert 'hidden-value' not in done.out, (place, done)
    done = libstart(machine, 'sh', '-c', LOOK_UP, options='--workdir /tmp')
    assert done.out == 'over\n', done  # or it would look for nothing


def test_workdir_is_made_inside(machine):
    """A working directory that the image has not is made, and not where its links lead on the host."""
    for target in (OUTSIDE, f'../../../../../../..{OUTSIDE}'):
        for place in ('/link/new', '/link/../link/new/deep', '/tmp/../link/new'):
            make_root(machine)
            machine.run(f'ln -s {target} {ROOT}/link')
            for root in (ROOT, ROOT + ':O'):
                libstart(machine, 'true', options=f'--workdir {place}', root=root)
                assert outside(machine) == '', (target, place, root)
            with image(machine, {'Env': ['PATH=/bin'], 'WorkingDir': place}, {'link': target}) as name:
                run_image(machine, name, 'busybox', 'true')
                assert outside(machine) == '', (target, place)


def test_command_has_no_descriptor_as_workdir(machine):
    make_root(machine)
    machine.container('runs', f'[Container]\nRootfs={ROOT}:O\nNetwork=none\nExec=sleep 1000\nStopSignal=KILL\n')
    machine.run('systemctl start runs')
    for number in range(3, 16):
        done = machine.run(['keyturnctl', 'exec', '-w', f'/proc/self/fd/{number}', 'runs', 'sh', '-c', LOOK_UP], check=False)
        assert 'host' not in done.out.split() + done.err.split(), (number, done)
    done = machine.run(['keyturnctl', 'exec', '-w', '/tmp', 'runs', 'sh', '-c', LOOK_UP])
    assert done.out == 'over\n', done


def racers(machine, directory, names):
    """A container that exchanges directories of a volume with links that lead out of it."""
    machine.build('advisories/racer.c', '/srv/racer')
    for name in names:  # one before may have left the link in the directory's place
        machine.run(f'cd {directory} && rm -rf {name}.other && {{ [ ! -L {name} ] || rm {name}; }}; '
                    f'mkdir -p {directory}/{name}; ln -s {OUTSIDE} {directory}/{name}.other')
    machine.container('racer', f'''
        [Container]
        Image=localhost/test/busybox
        Network=none
        Volume={directory}:/raced
        Volume=/srv/racer:/bin/racer:ro
        Exec=/bin/racer /raced {" ".join(names)}
    ''')
    machine.run('systemctl start racer')
    machine.wait_for(lambda: 'racing' in machine.journal('racer').splitlines())


def test_race_on_a_shared_volume(machine):
    """Mount points below a volume are made, and mounted on, while another container exchanges the way to them."""
    make_root(machine)
    racers(machine, '/srv/raced', ['in'])
    machine.run('mkdir -p /srv/more; touch /srv/more/file')
    started = 0
    for options in ('-v /srv/more:/raced/in/made', '-v /srv/more/file:/raced/in/file', '--tmpfs /raced/in/tmpfs',
                    '-v /srv/more:/raced/in/shared:rshared', '--mount type=tmpfs,destination=/raced/in/tmpfs2,tmpcopyup',
                    '--workdir /raced/in/work'):
        for _ in range(15):
            done = libstart(machine, 'true', options=f'-v /srv/raced:/raced {options}')
            assert outside(machine) == '', (options, done)
            started += done.status == 0
    assert machine.show('racer', 'ActiveState') == 'active'
    assert started, 'no container has started'


def test_race_on_the_root_itself(machine):
    """Two containers share a root directory, and one exchanges what the other's start needs in it.

    What is mounted on a directory goes where that goes, and its name may be the other one in the end. But what is /proc
    must have its masks wherever it is, and nothing may be written outside.
    """
    wanted = protections(machine)
    make_root(machine)
    racers(machine, ROOT, ['proc', 'sys', 'dev', 'etc', 'run'])
    machine.run('mkdir -p /srv/more')
    look = 'cat /proc/self/mountinfo 2>/dev/null || cat /proc.other/self/mountinfo'
    wishes = ('', '--tmpfs /run/in', '-v /srv/more:/dev/volume', '--workdir /run/work', '-v /srv/more:/run/shared:rshared')
    attempts, started = [options for options in wishes for _ in range(20)], 0
    while attempts:
        options = attempts.pop()
        done = libstart(machine, 'sh', '-c', look, options=options, root=ROOT)
        assert outside(machine) == '', (options, outside(machine), done)
        if done.status == 0:
            found = kernel_mounts(done.out.replace('.other', ''))
            assert is_protected(found, wanted), (options, {p: (found.get(p), wanted[p]) for p in wanted if found.get(p) != wanted[p]})
            started += 1
        else:
            assert done.status in (125, 126, 127) or "can't open '/proc" in done.out, (options, done)
            # Few get through: about three in a hundred.
            if not attempts and not started and machine.show('racer', 'ActiveState') == 'active':
                attempts.append('')
    assert machine.show('racer', 'ActiveState') == 'active'
    assert started, 'no container has started'


def test_race_on_what_has_a_mask(machine):
    """Another container exchanges the directory on which is mounted what a mask hides a part of.

    Then the path of the mask leads elsewhere for a moment, where nothing is to be hidden.
    """
    make_root(machine)
    # Whatever another race has left there.
    machine.run(f'rm -rf /srv/raced; mkdir -p /srv/raced/in /srv/kept; echo hidden >/srv/kept/key; ln -s raced {ROOT}/led; '
                # ".." behind a link is above where that leads; and one leads out of the volume, and into it again.
                f'mkdir -p {ROOT}/raced {ROOT}/y/sub; ln -s y/sub {ROOT}/l; ln -s l/../way {ROOT}/up; ln -s ./../y/..//raced/. {ROOT}/y/way; '
                f'ln -s raced/in/../in {ROOT}/out; ln -s raced/in {ROOT}/end; ln -s in /srv/raced/own')
    machine.run(f'mkdir {ROOT}/x; ln -s x {ROOT}/lx')
    look = 'for i in /raced/in /raced/in.other /x; do cat $i/key $i/below/key; done; ls -A /srv/outside'

    def start(behind, place, mask, outer='/raced', root=f'{ROOT}:O', before=''):
        done = libstart(machine, 'sh', '-c', look, root=root, before=before,
                        options=f'{behind}-v /srv/raced:{outer} -v /srv/kept:{place} --security-opt mask={mask}/key')
        assert 'hidden' not in done.out, (behind, place, mask, outer, root, done)
        return done

    # By a link of the image's, in the path of the mask or of a mount, or at the end of that, that leads into the volume.
    led = (('/raced/in', '/led/in'), ('/led/in', '/raced/in'), ('/raced/in', '/up/in'), ('/up/in', '/raced/in'), ('/raced/in', '/out'),
           ('/end', '/raced/in'), ('/out', '/raced/in'), ('/led/in', '/raced/in', '/led'), ('/end', '/raced/in', '/led'),
           # Or by one of the volume's own.
           ('/raced/own', '/raced/in'), ('/raced/in', '/raced/own'))
    # libcrun makes what comes behind a tmpfs with a shorter path.
    kinds = ('', '--tmpfs /tmp ')
    for behind in kinds:
        for way in led:
            done = start(behind, *way)
            assert 'paths without links' in done.out, (behind, way, done)
        # Where it cannot be told whether there is a link, too.
        done = start(behind, '/raced/in', '/led/in', before='strace -f -qq -o /dev/null -P /led -e trace=openat2 -e inject=openat2:error=EMFILE ')
        assert "Cannot mask the container's '/led/in/key': Too many open files" in done.out, (behind, done)
        # The root may be another's volume, too.
        for place, mask in (('/x', '/x'), ('/x', '/lx'), ('/lx', '/x')):
            for root in (ROOT, f'{ROOT}:O'):
                done = start(behind, place, mask, root=root)
                assert ('paths without links' in done.out) == (root == ROOT and place != mask), (behind, place, mask, root, done)
    racers(machine, '/srv/raced', ['in'])
    for behind in kinds:
        started = 0
        for place in ('/raced/in', '/raced/in/below'):
            for _ in range(60):
                started += 'is being changed' not in start(behind, place, place).out
        assert started, 'no container has started'
        for way in led * 8:
            start(behind, *way)
    assert machine.show('racer', 'ActiveState') == 'active'


def test_device_that_was_replaced(machine):
    """libcrun makes /dev/null and gives it to all; meanwhile it has become a link to a file of a volume.

    Who shares the root directory moves /dev away with all that is mounted there, and back into a new one. libcrun waits at
    its begin for that, and behind each node.
    """
    make_root(machine)
    machine.run('rm -rf /srv/secret; mkdir -p /srv/secret; echo secret >/srv/secret/file; chmod 600 /srv/secret/file')
    start = f'{LIBSTART} run --name evil --network none --log-driver passthrough --tmpfs /tmp:tmpcopyup ' \
            f'-v /srv/secret:/dev/secret --rootfs {ROOT} true >/dev/null 2>&1 </dev/null'
    trace = 'strace -f -o /run/replaced.trace -e trace=openat,mknodat'
    for number in range(1, 60):
        machine.run(f'{trace} -e inject=openat:delay_enter=1000:when={number} {start}', check=False)
        before, found, _ = re.split('("dev", .*DELAYED|$)', machine.read('/run/replaced.trace'), maxsplit=1)
        if found:
            break
    else:
        raise AssertionError('libcrun opens no "dev"')
    # strace counts the calls of each process, and what runs before libcrun has one of that number, too.
    wait = 1 + 2 * before.count('DELAYED')
    # Whoever comes too late or too early has shown nothing.
    for _ in range(5):
        make_root(machine)
        machine.run(f"""
            (sleep {wait}; cd {ROOT}; mv dev moved; mkdir dev; mv moved dev/old
             for i in $(seq 600); do
                    [ -c dev/null ] && ln -s old/secret/file dev/link && mv -f dev/link dev/null && touch /run/replaced && break
                    sleep 0.01
             done) &
            {trace} -e inject=openat:delay_enter=2000000:when={number} -e inject=mknodat:delay_exit=300000:when=7+ {start}
            wait
        """, check=False, timeout=60)
        assert 'mknodat' in machine.read('/run/replaced.trace')
        assert machine.run('stat -c %a:%u /srv/secret/file').out == '600:0\n'
        if os.path.exists(machine.path('/run/replaced')):
            return
    raise AssertionError('/dev/null was never replaced')


def test_numbers_of_users_do_not_wrap(machine):
    """A number that does not fit is none, and no name either, whatever the image's /etc/passwd says."""
    big = ['4294967296', '4294967295', '4294967297', '-1', '18446744073709551616', '2147483648', '99999999999999999999', '+0']
    passwd = ''.join(f'{number}:x:0:0::/:/bin/sh\n' for number in big).encode()
    for number in big:
        for user in (number, f'1000:{number}'):
            with image(machine, {'Env': ['PATH=/bin'], 'User': user}, {'etc/passwd': passwd, 'etc/group': passwd}) as name:
                done = run_image(machine, name, 'sh', '-c', 'busybox id -u; busybox id -g')
                assert done.status == 125 or '0' not in done.out.split()[:2 if user == number else 1], (user, done)
            make_root(machine)
            with open(machine.path(f'{ROOT}/etc/passwd'), 'wb') as file:
                file.write(passwd)
            done = libstart(machine, 'sh', '-c', 'id -u', options=f'--user={user}')
            assert done.status == 125 or done.out != '0\n', (user, done)
    machine.container('runs', f'[Container]\nRootfs={ROOT}:O\nNetwork=none\nExec=sleep 1000\nStopSignal=KILL\n')
    machine.run('systemctl start runs')
    assert machine.run('keyturnctl exec -u 1 runs id -u').out == '1\n'
    assert machine.run('keyturnctl exec -u 1:2 runs sh -c "id -u; id -g"').out == '1\n2\n'
    for number in big:
        done = machine.run(f'keyturnctl exec --user={number} runs id -u', check=False)
        assert done.status == 125 or done.out.strip() not in ('0', ''), (number, done)


def test_rights_of_a_payload(machine):
    """Nothing is inheritable or ambient, and the groups are those of the image's /etc/group."""
    passwd = b'root:x:0:0::/:/bin/sh\ndriver:x:1500:1501::/:/bin/sh\n'
    group = b'root:x:0:\ndriver:x:1501:\nvideo:x:44:driver\nother:x:45:root\n'
    status = "busybox grep -E '^(Uid|Groups|Cap...|NoNewPrivs|Seccomp):' /proc/self/status"
    with image(machine, {'Env': ['PATH=/bin']}, {'etc/passwd': passwd, 'etc/group': group}) as name:
        machine.container('runs', f'[Container]\nImage={name}\nNetwork=none\nExec=busybox sleep 1000\nStopSignal=KILL\n')
        machine.run('systemctl start runs')
        asked = [('0', run_image(machine, name, 'sh', '-c', status).out),
                 ('0', run_image(machine, name, 'sh', '-c', status, options='--cap-add all').out),
                 ('1500', run_image(machine, name, 'sh', '-c', status, options='--user driver').out),
                 ('1500', run_image(machine, name, 'sh', '-c', status, options='--user driver --cap-add sys_time').out),
                 ('0', machine.run(['keyturnctl', 'exec', 'runs', 'sh', '-c', status]).out),
                 ('1500', machine.run(['keyturnctl', 'exec', '-u', '1500:1501', 'runs', 'sh', '-c', status]).out)]
        machine.run('systemctl stop runs')
    for uid, text in asked:
        found = dict(line.split(':\t', 1) for line in text.splitlines())
        assert found['Uid'].split() == [uid] * 4, found
        assert found['Seccomp'] == '2', found
        # What was asked for by name must be ambient for a user, which the kernel wants inheritable, too.
        added = 1 << 25 if text is asked[3][1] else 0
        assert int(found['CapInh'], 16) == int(found['CapAmb'], 16) == added, found
        assert uid == '0' or int(found['CapEff'], 16) == added, found
        # With that of /etc/passwd among them: files can forbid things to a group.
        assert text not in (asked[2][1], asked[3][1]) or sorted(found['Groups'].split()) == ['1501', '44'], found


def test_descriptors_of_a_payload(machine):
    """0, 1 and 2, and sockets of a .socket unit: nothing of libstart's, libcrun's or keyturnctl's."""
    make_root(machine)
    machine.container('runs', f'[Container]\nRootfs={ROOT}:O\nNetwork=none\nVolume={OUTSIDE}:/outside\nExec=sleep 1000\nStopSignal=KILL\n')
    machine.container('none', f'[Container]\nRootfs={ROOT}:O\nNetwork=none\nLogDriver=none\nExec=sleep 1000\nStopSignal=KILL\n')
    machine.container('given', f'[Container]\nRootfs={ROOT}:O\nNetwork=none\nExec=sleep 1000\nStopSignal=KILL\n')
    machine.unit('given.socket', '[Socket]\nListenStream=/run/given\n')
    machine.run('systemctl start runs none given.socket given.service')
    for name, wanted in (('runs', ['0', '1', '2']), ('none', ['0', '1', '2']), ('given', ['0', '1', '2', '3'])):
        pid = machine.show(name, 'MainPID')
        assert machine.run(f'ls /proc/{pid}/fd').out.split() == wanted, (name, machine.run(f'ls -l /proc/{pid}/fd').out)
    machine.run('(keyturnctl exec runs sleep 987 >/dev/null 2>&1 </dev/null) &')
    pid = machine.wait_for(lambda: machine.run('pgrep -xf "sleep 987"', check=False).out.strip())
    assert machine.run(f'ls /proc/{pid}/fd').out.split() == ['0', '1', '2'], machine.run(f'ls -l /proc/{pid}/fd').out


def test_passwd_of_an_image_holds_nothing_up(machine):
    """A FIFO, a directory, a device, a link to the host's, or one that is too long."""
    long = b'root:x:0:' + b','.join(b'user%d' % i for i in range(900000)) + b'\n'
    for make in ('mkfifo {}', 'mkdir {}', 'ln -s /etc/shadow {}', 'ln -s /proc/kcore {}', 'ln -s {} {}'):
        make_root(machine)
        for file in ('passwd', 'group'):
            machine.run(make.format(f'{ROOT}/etc/{file}', f'{ROOT}/etc/{file}'))
        for user in ('nobody', '0', '65534:nogroup'):
            done = libstart(machine, 'id', '-u', options=f'--user {user} --group-add video')
            assert done.status == 125 or user == '0', (make, user, done)
    make_root(machine)
    for file in ('passwd', 'group'):
        with open(machine.path(f'{ROOT}/etc/{file}'), 'wb') as out:
            out.write(long)
    assert 'over 4 MiB' in libstart(machine, 'id', options='--user nobody').out


def test_variables_of_an_image_without_a_value(machine):
    """Podman once read a name without '=' as its own variable of that name, and '*' as all."""
    for entry in ('SECRET', 'SEC*', '*', '=SECRET', ''):
        with image(machine, {'Env': ['PATH=/bin', entry]}) as name:
            done = machine.run(f'{LIBSTART} run --name evil --network none --log-driver passthrough {name} busybox env 2>&1 </dev/null',
                               check=False, env={'SECRET': 'of-the-host'})
            assert 'of-the-host' not in done.out and (done.status == 125 or 'PATH=/bin' in done.out), (entry, done)


def test_state_is_root_only(machine):
    """Nobody else on the host sees a container's files, where a setuid program of an image would be his."""
    make_root(machine)
    machine.container('runs', '[Container]\nImage=localhost/test/busybox\nNetwork=none\nEnvironment=A=secret\n'
                      'Exec=sh -c "touch /made; exec sleep 1000"\n')
    machine.run('systemctl start runs')
    seen = machine.run('setpriv --reuid 4321 --regid 4321 --clear-groups find /run/keyturn -mindepth 1 -not -type d -not -type s '
                       '-readable 2>/dev/null', check=False).out.split()
    assert not [path for path in seen if '/runs/' in path and not path.endswith('/.timing')], seen
    assert machine.run('setpriv --reuid 4321 --regid 4321 --clear-groups ls /run/keyturn/runs/.private', check=False).status != 0
    assert machine.run('setpriv --reuid 4321 --regid 4321 --clear-groups ls /var/lib/containers/storage/overlay', check=False).status != 0


def test_no_abstract_sockets(machine):
    """They belong to network namespaces, and payloads with the host's network could reach them."""
    machine.container('runs', '[Container]\nImage=localhost/test/busybox\nNetwork=host\nExec=sleep 1000\nStopSignal=KILL\n')
    before = set(re.findall(r'@\S+', machine.read('/proc/1/net/unix')))
    machine.run('systemctl start runs')
    assert not [name for name in set(re.findall(r'@\S+', machine.read('/proc/1/net/unix'))) - before if 'keyturn' in name]


def test_table_names_tests_that_exist(machine):
    """tests/ADVISORIES.md: each row has a test that there is, or a reason."""
    booted = os.path.dirname(HERE)
    with open(os.path.join(os.path.dirname(booted), 'ADVISORIES.md')) as file:
        rows = [[cell.strip() for cell in line.strip().strip('|').split('|')] for line in file if re.match(r'\| *(CVE|GHSA)-', line)]
    assert len(rows) > 60, len(rows)
    for row in rows:
        assert len(row) == 4 and all(row), row
        named = re.findall(r'`([\w-]+)::(test_\w+)`', row[3])
        assert named or len(row[3]) > 20, row
        for scenario, function in named:
            with open(os.path.join(booted, scenario, 'test.py')) as file:
                assert re.search(rf'^def {function}\(', file.read(), re.M), row
    assert len({row[0] for row in rows}) == len(rows)


def test_line_breaks_in_the_name_of_an_images_user(machine):
    """They broke the record of the ids of UserNS=auto, which was none for others then: two containers got the same ids."""
    for file in ('/etc/subuid', '/etc/subgid'):
        machine.write(file, 'containers:2147483647:2147483648\n')
    make_root(machine)
    ranges = []
    with image(machine, {'Env': ['PATH=/bin'], 'User': '0\n1 1 1 1 1\nx\n'}) as name:
        for unit in ('one', 'two'):
            machine.run(f'/usr/lib/keyturn/libstart userns {unit} --userns auto {name} true')
            record = machine.read(f'/var/lib/keyturn/ids/{unit}').split('\n')
            assert len(record) == 4 and re.fullmatch('[0-9a-f]{64}', record[2]), record
            ranges.append(list(map(int, record[0].split()[1:3])))
            machine.run(f'/usr/lib/keyturn/libstart userns --unpin {unit}')
    (one, n), (two, m) = ranges
    assert one + n <= two or two + m <= one, ranges
