# SPDX-License-Identifier: LGPL-2.1-or-later
"""Images that want the host's own programs: to write to them (CVE-2019-5736), or to run in them (CVE-2019-14271).

See libstart/base/own-program.c.
"""

import contextlib
import hashlib
import json
import os
import shlex
import shutil
import struct
import subprocess

HERE = os.path.dirname(os.path.realpath(__file__))
IMAGE = '/srv/hostile'
TRIPLET = subprocess.run(['gcc', '-print-multiarch'], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
LOADERS = ('/lib64/ld-linux-x86-64.so.2', '/lib/ld-linux-aarch64.so.1')

STATIC = '/usr/lib/keyturn/libstart'
DYNAMIC = '/usr/lib/keyturn-tests/libstart-dynamic'
CTL = '/usr/bin/keyturnctl'

# What the hostile loader becomes. Descriptor 3 is the program that it was called for.
WRITE = r'''
trap '' HUP  # which comes with the end of who entered
echo began >> /report/told
for i in 1 2 3 4 5 6 7 8 9 10; do
        (echo OURS >/proc/self/fd/3) 2>/tmp/why && echo written >> /report/told
        cat /tmp/why >> /report/told
        sleep 0.15
done
echo ended >> /report/told
'''


def build(machine, source, inside, *options):
    path = machine.path(inside)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    subprocess.run(['gcc', '-std=gnu17', '-O1', '-fno-stack-protector', '-nostdlib', *options, '-o', path,
                    os.path.join(HERE, source)], check=True)


def catalogue(texts):
    """A file as msgfmt(1) makes it: n pairs of strings, sorted, with tables of (length, offset)."""
    pairs = sorted((key.encode(), value.encode()) for key, value in texts.items())
    n, at = len(pairs), 28
    tables, strings = b'', b''
    for column in (0, 1):
        for pair in pairs:
            tables += struct.pack('=II', len(pair[column]), at + 16 * n + len(strings))
            strings += pair[column] + b'\0'
    return struct.pack('=7I', 0x950412de, 0, n, at, at + 8 * n, 0, 0) + tables + strings


def image(machine):
    """A root directory with a shell, whose loader, translations and libraries are an attacker's."""
    machine.run(f'rm -rf {IMAGE}; mkdir -p {IMAGE}/bin {IMAGE}/tmp {IMAGE}/etc; cp /usr/bin/busybox {IMAGE}/bin/; '
                f'for i in sh sleep cat true; do ln -s busybox {IMAGE}/bin/$i; done')
    for loader in LOADERS:
        build(machine, 'loader.c', IMAGE + loader, '-static', '-ffreestanding')
    build(machine, 'loader.c', IMAGE + '/interpreted', '-ffreestanding', '-fPIE', '-pie',
          '-Wl,--dynamic-linker=/proc/self/exe')
    for path, text, mode in (('/write', WRITE, 0o644), ('/script', '#!/proc/self/exe run\n', 0o755),
                             ('/script1', '#!/proc/1/exe run\n', 0o755)):
        machine.write(IMAGE + path, text, mode)


def attack(machine, program, *payload, options='', on=None):
    """Starts the payload under a copy of a program. Returns what it told, and whether the copy is as it was."""
    machine.run('rm -rf /srv/report /run/keyturn/hostile; mkdir -p /srv/report /srv/attacked /run/keyturn/hostile')
    copy = '/srv/attacked/' + os.path.basename(program)
    # What is executed at this moment cannot be written over, but replaced.
    machine.run(f'cp --remove-destination {program} {copy}; {on or ":"}')
    # Returns when the payload has ended, too: it has the same standard output.
    done = machine.run(f'{copy} run --detach --name hostile --state-dir /run/keyturn/hostile --log-driver passthrough '
                       f'-v /srv/report:/report {options} --rootfs {IMAGE}:O {shlex.join(payload)} 2>&1 </dev/null',
                       check=False)
    told = machine.run('cat /srv/report/told', check=False).out
    machine.run('rm -rf /run/keyturn/hostile')
    return done.out + told, machine.run(f'cmp {program} {copy}', check=False).status == 0


@contextlib.contextmanager
def mount_of_its_own(machine):
    machine.run('rm -rf /srv/attacked; mkdir -p /srv/attacked; mount --bind /srv/attacked /srv/attacked')
    try:
        yield
    finally:
        machine.run('umount -l /srv/attacked')


UNTIL_IT_RUNS = 'until pgrep -xf "/bin/sleep 1234" >/dev/null; do sleep 0.05; done'
# As /usr where it is writable only for updates.
READ_ONLY_FOR_NOW = ('mount -o remount,bind,ro /srv/attacked; '
                     '(sleep 0.7; mount -o remount,bind,rw /srv/attacked) >/dev/null 2>&1 </dev/null &')


def test_static_libstart_is_no_payload(machine):
    image(machine)
    for payload in ('/proc/self/exe', '/proc/1/exe', '/proc/thread-self/exe', '/script', '/script1', '/interpreted'):
        for options in ('', '-e LD_PRELOAD=/evil.so -e LD_LIBRARY_PATH=/ -e GCONV_PATH=/ -e LD_DEBUG=all --cap-add all'):
            told, same = attack(machine, STATIC, payload, 'run', options=options)
            assert same and 'began' not in told, (payload, told)
            # What libstart is only the loader of dies of that, before it can say so.
            assert payload == '/interpreted' or 'refusing to be the payload' in told, (payload, told)


def test_no_program_in_the_same_file_is_a_payload(machine):
    """The name that a file is called by says which program it is, and an image may have any links."""
    image(machine)
    machine.run('for i in $(find /usr/lib/keyturn /usr/lib/systemd/system-generators -lname "*libstart" -printf "%f "); '
                f'do ln -s /proc/self/exe {IMAGE}/$i; done')
    links = machine.run(f'cd {IMAGE} && ls -d keyturn-* seccomp-*').out.split()
    assert len(links) == 5, links
    for link in links:
        # The second one is where keyturn is installed, with the same file as the container sees it.
        for options in ('', '-v /srv/attacked:/usr/lib/keyturn --cap-add all'):
            told, same = attack(machine, STATIC, '/' + link, '--version', options=options)
            assert same and 'began' not in told and 'refusing to be the payload' in told, (link, told)


def test_loader_of_an_image_cannot_write_libstart(machine):
    """Linked dynamically: the image's loader runs."""
    image(machine)
    for payload in ('/proc/self/exe', '/script'):
        for options in ('', '--cap-add all --security-opt seccomp=unconfined'):
            told, same = attack(machine, DYNAMIC, payload, options=options)
            assert 'began' in told and 'ended' in told, told  # or it would be no attack
            assert same and 'written' not in told and 'Read-only file system' in told, told


def test_dynamic_libstart_starts_containers(machine):
    image(machine)
    done = machine.run(f'{DYNAMIC} run --rootfs {IMAGE}:O /bin/sh -c "cat /proc/1/comm; exit 7" 2>&1 </dev/null', check=False)
    assert (done.status, done.out) == (7, 'cat\n') or (done.status, done.out) == (7, 'sh\n'), done
    # Whether a process of it is called by its name, or by the number of a descriptor.
    machine.run(f'{DYNAMIC} run --rootfs {IMAGE}:O /bin/sleep 1234 >/dev/null 2>&1 </dev/null & {UNTIL_IT_RUNS}; '
                'pgrep -x libstart-dynami; found=$?; kill -KILL $!; wait $!; '
                'while pgrep -xf "/bin/sleep 1234" >/dev/null; do sleep 0.05; done; exit $found')


def test_program_on_a_mount_that_is_made_writable_later(machine):
    """What was opened while it was read-only is not writable then either."""
    image(machine)
    for program in (STATIC, DYNAMIC):
        with mount_of_its_own(machine):
            told, same = attack(machine, program, '/proc/self/exe', on=READ_ONLY_FOR_NOW)
            assert same and 'written' not in told, (program, told)
            assert 'ended' in told if program == DYNAMIC else 'refusing' in told, (program, told)
            machine.wait_for(lambda: machine.run('touch /srv/attacked/writable', check=False).status == 0)


def test_payload_that_sees_the_machines_processes(machine):
    """It is not the first process of a namespace, so libstart does not refuse to be it."""
    image(machine)
    for pid in ('--pid=host', '--pid host'):
        # What was opened while it ran is written when nobody executes it any more.
        machine.run(f'mkdir -p /srv/attacked; cp --remove-destination {STATIC} /srv/attacked/; /srv/attacked/libstart run {pid} '
                    f'--rootfs {IMAGE}:O /bin/sleep 1234 >/dev/null 2>&1 </dev/null & {UNTIL_IT_RUNS}; '
                    'exec 3</proc/$!/exe; kill $!; wait; '
                    '(echo OURS >>/proc/self/fd/3) 2>/run/why; true')
        why = machine.run('cat /run/why').out
        assert 'Read-only file system' in why, why
        assert machine.run(f'cmp {STATIC} /srv/attacked/libstart', check=False).status == 0


def victim(machine, name, more=''):
    machine.container(name, f'''
        [Container]
        Rootfs={IMAGE}:O
        Network=host
        Volume=/srv/report:/report
        Exec=sh -c 'while :; do sleep 0.1; done'
        {more}
    ''')
    machine.run(f'mkdir -p /srv/report; rm -f /srv/report/*; systemctl start {name}')


def test_loader_of_an_image_cannot_write_keyturnctl(machine):
    """It enters a container; what it is told to execute there is itself. On a read-only mount for the moment, too."""
    image(machine)
    victim(machine, 'entered')
    for mounts in (':', READ_ONLY_FOR_NOW):
        with mount_of_its_own(machine):
            machine.run(f'cp {CTL} /srv/attacked/; rm -f /srv/report/told; {mounts}')
            # It goes away in the middle, so that nobody executes the program any more.
            machine.run('/srv/attacked/keyturnctl exec entered /proc/self/exe </dev/null & '
                        'until grep -q began /srv/report/told; do sleep 0.05; done; kill -KILL $!', check=False)
            machine.wait_for(lambda: 'ended' in machine.read('/srv/report/told'))
            told = machine.read('/srv/report/told')
            assert 'began' in told and 'written' not in told, (mounts, told)
            machine.run(f'cmp {CTL} /srv/attacked/keyturnctl')


def test_loader_where_the_caller_may_not_mount(machine):
    """A service whose filter forbids mounts enters, so that keyturnctl cannot execute itself from a mount of its own."""
    image(machine)
    machine.write(f'{IMAGE}/write', f'({WRITE}) </dev/null >/dev/null 2>&1 &\n')
    victim(machine, 'entered')
    machine.run(f'mkdir -p /srv/attacked; cp --remove-destination {CTL} /srv/attacked/; rm -f /srv/report/told')
    machine.run('systemd-run --quiet --wait --pipe --property=SystemCallFilter=~@mount '
                '--property=SystemCallErrorNumber=EPERM /srv/attacked/keyturnctl exec entered /proc/self/exe </dev/null',
                check=False)
    machine.wait_for(lambda: machine.run('grep -q ended /srv/report/told', check=False).status == 0)
    told = machine.read('/srv/report/told')
    assert 'began' in told and 'written' not in told, told
    machine.run(f'cmp {CTL} /srv/attacked/keyturnctl')


def hostile_translations(machine):
    """A catalogue for the language xx in a character set whose converter is a library of the image."""
    catalogues, converters = '/usr/share/locale/xx/LC_MESSAGES', f'/usr/lib/{TRIPLET}/gconv'
    texts = {os.strerror(number): 'ha' for number in range(1, 132)}
    texts[''] = 'Content-Type: text/plain; charset=UTF-7\n'
    machine.write(f'{IMAGE}{catalogues}/libc.mo', '')
    with open(machine.path(f'{IMAGE}{catalogues}/libc.mo'), 'wb') as file:
        file.write(catalogue(texts))
    build(machine, 'library.c', f'{IMAGE}{converters}/UTF-7.so', '-shared', '-fPIC')
    shutil.copy(machine.path(f'{IMAGE}{converters}/UTF-7.so'), machine.path(f'{IMAGE}/evil.so'))
    machine.write(f'{IMAGE}{converters}/gconv-modules', 'module UTF-7// INTERNAL UTF-7 1\nmodule INTERNAL UTF-7// UTF-7 1\n')


def test_keyturnctl_loads_nothing_of_an_image(machine):
    """CVE-2019-14271: who enters a container must not run its code before the capabilities are gone."""
    image(machine)
    hostile_translations(machine)
    # A locale that messages are translated in; the machines have only C.
    machine.run('cp -r /usr/lib/locale/C.utf8 /usr/lib/locale/de_DE.utf8')
    victim(machine, 'translated', 'Environment=LANGUAGE=xx LD_PRELOAD=/evil.so')
    root = f'/proc/{machine.show("translated", "MainPID")}/root'
    try:
        # The attack is one: a program that is linked dynamically, and speaks, loads it.
        machine.run(f'cp -r {IMAGE}/usr/share/locale/xx /usr/share/locale/; mv /usr/lib/{TRIPLET}/gconv /usr/lib/{TRIPLET}/g; '
                    f'cp -r {IMAGE}/usr/lib/{TRIPLET}/gconv /usr/lib/{TRIPLET}/gconv')
        machine.run('LANG=de_DE.UTF-8 LANGUAGE=xx ls /nope', check=False)
        machine.run(f'rm -r /usr/share/locale/xx /usr/lib/{TRIPLET}/gconv; mv /usr/lib/{TRIPLET}/g /usr/lib/{TRIPLET}/gconv')
        machine.run('test -s /stolen && rm /stolen')

        for command in ('/nope', 'nope', '-w /nope translated /bin/true', '/etc', '/write', '-u 77 translated /nope'):
            words = command if 'translated' in command else 'translated ' + command
            for locale in ('LANG=de_DE.UTF-8', 'LC_ALL=de_DE.UTF-8 LANGUAGE=xx'):
                assert machine.run(f'{locale} keyturnctl exec {words} </dev/null', check=False).status in (125, 126, 127)
                assert machine.run(f'test -e {root}/stolen', check=False).status == 1, \
                    (command, machine.run(f'cat {root}/stolen').out)
    finally:
        machine.run('rm -rf /usr/lib/locale/de_DE.utf8')


# ---- one image, two configurations

def make_ambiguous(machine, name, config):
    """An image in the store with this text as its configuration, and all digests as they should be: what containers-storage
    keeps of a layer that is there."""
    layout = f'/run/ambiguous/{name}'
    machine.run(f'rm -rf {layout}; mkdir -p /run/ambiguous; skopeo copy -q containers-storage:localhost/test/busybox oci:{layout}:x')

    def blob(digest):
        return machine.path(f'{layout}/blobs/sha256/{digest.removeprefix("sha256:")}')

    def add(entry, text):
        entry.update(digest='sha256:' + hashlib.sha256(text.encode()).hexdigest(), size=len(text.encode()))
        with open(blob(entry['digest']), 'w') as file:
            file.write(text)

    with open(machine.path(f'{layout}/index.json')) as file:
        index = json.load(file)
    with open(blob(index['manifests'][0]['digest'])) as file:
        manifest = json.load(file)
    with open(blob(manifest['config']['digest'])) as file:
        rootfs = json.dumps(json.load(file)['rootfs'])
    add(manifest['config'], config.replace('ROOTFS', f'"architecture":"{ARCHITECTURE}","os":"linux","rootfs":{rootfs}'))
    add(index['manifests'][0], json.dumps(manifest))
    with open(machine.path(f'{layout}/index.json'), 'w') as file:
        json.dump(index, file)
    machine.run(f'skopeo copy -q oci:{layout}:x containers-storage:localhost/ambiguous/{name}')


ARCHITECTURE = {'x86_64': 'amd64', 'aarch64': 'arm64'}.get(os.uname().machine, os.uname().machine)
ROOT, USER = '{"User":"0","Cmd":["id","-u"]}', '{"User":"1000","Cmd":["id","-u"]}'
AMBIGUOUS = {
    'twice': f'{{ROOTFS,"config":{ROOT},"config":{USER}}}',
    'case': f'{{ROOTFS,"config":{ROOT},"Config":{USER}}}',
    'users': '{ROOTFS,"config":{"User":"0","user":"1000","Cmd":["id","-u"]}}',
    'alone': '{ROOTFS,"config":{"user":"1000","Cmd":["id","-u"]}}',
    'escaped': '{ROOTFS,"config":{"User":"0","\\u0055ser":"1000","Cmd":["id","-u"]}}',
    'long-s': '{ROOTFS,"config":{"User":"0","u\u017fer":"1000","Cmd":["id","-u"]}}',
    'null': '{ROOTFS,"config":{"User":"0","Cmd":["id","-u"]},"CONFIG":{"Entrypoint":["echo"]}}',
}


def test_an_image_with_two_configurations_is_refused(machine):
    """Podman, skopeo and all that scans images show the last one, in any case of letters."""
    for name, config in AMBIGUOUS.items():
        make_ambiguous(machine, name, config)
        done = machine.run(f'{STATIC} run --log-driver passthrough localhost/ambiguous/{name}', check=False)
        assert done.status == 125 and not done.out, (name, done)
        assert ' twice' in done.err or 'for some programs' in done.err, (name, done)
    # Labels are somebody's own words: there are images with both.
    make_ambiguous(machine, 'labels', '{ROOTFS,"config":{"User":"1000","Cmd":["id","-u"],"Labels":{"Name":"a","name":"b"}}}')
    assert machine.run(f'{STATIC} run --log-driver passthrough localhost/ambiguous/labels').out == '1000\n'
    machine.run(f'skopeo delete containers-storage:localhost/ambiguous/labels; for i in {" ".join(AMBIGUOUS)}; do '
                'skopeo delete containers-storage:localhost/ambiguous/$i; done', check=False)
