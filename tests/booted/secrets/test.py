# SPDX-License-Identifier: LGPL-2.1-or-later
"""Secrets: from credentials and from Podman's store, as files and as variables; and who else could find their values."""

import re

PAYLOAD = 'Image=localhost/test/busybox\nExec=sh -c "trap : TERM; sleep 1000 & wait"\n'

PLAIN, ENCRYPTED, PODMAN = 'plain-7c2f', 'encrypted-91ab', 'podman-44de'


def credential(machine, name, value, directory='/etc/credstore'):
    machine.run(f'mkdir -p -m 0700 {directory}')
    machine.write(f'{directory}/{name}', value, mode=0o600)


def encrypt(machine, name, value):
    path = f'/etc/credstore.encrypted/{name}'
    machine.run(f'mkdir -p -m 0700 /etc/credstore.encrypted; systemd-creds encrypt --name={name} - {path}', input=value)
    machine._files.append(path)


def podman_secret(machine, name, value):
    machine.run(f'podman secret rm {name} 2>/dev/null; podman secret create {name} -', input=value)


def make_all(machine):
    credential(machine, 'plain', PLAIN)
    encrypt(machine, 'encrypted', ENCRYPTED)
    podman_secret(machine, 'podman', PODMAN)


def make_vault(machine, more=''):
    make_all(machine)
    machine.container('vault', f'''
        [Container]
        {PAYLOAD.replace(chr(10), chr(10) + ' ' * 8)}
        Secret=plain encrypted podman
        Secret=plain,type=env,target=PLAIN encrypted,type=env podman,type=env,target=PODMAN
        {more}
    ''')


def start_all(machine, more=''):
    make_vault(machine, more)
    machine.run('systemctl start vault')


def test_values_from_everywhere(machine):
    start_all(machine, 'Secret=podman,target=deep/er,uid=5,gid=6,mode=400 plain,target=/etc/new/key')
    assert machine.inside('vault', 'cd /run/secrets; cat plain encrypted podman deep/er /etc/new/key') == \
        PLAIN + ENCRYPTED + PODMAN + PODMAN + PLAIN
    assert machine.inside('vault', 'cd /run/secrets; stat -c "%a %u:%g" . plain deep deep/er') == \
        '755 0:0\n444 0:0\n755 0:0\n400 5:6\n'
    assert machine.inside('vault', 'echo $PLAIN $encrypted $PODMAN') == f'{PLAIN} {ENCRYPTED} {PODMAN}\n'
    environ = machine.run(f'cat /proc/{machine.show("vault", "MainPID")}/environ').out
    assert f'PLAIN={PLAIN}\0' in environ and 'CREDENTIALS_DIRECTORY' not in environ, environ


def test_order_and_places(machine):
    """Credentials come first, those that [Service] has before those of the store; then names, then ids of Podman's."""
    for directory, value in (('/usr/lib/credstore', 'usr'), ('/run/credstore', 'run')):
        credential(machine, directory.split('/')[1], value, directory)
    credential(machine, 'both', 'credential')
    podman_secret(machine, 'both', 'podman')
    credential(machine, 'given', 'store')
    machine.write('/etc/given', 'given')
    podman_secret(machine, 'long', 'by-id')
    identity = machine.run("podman secret inspect --format '{{.ID}}' long").out.strip()
    machine.container('order@', f'''
        [Container]
        {PAYLOAD.replace(chr(10), chr(10) + ' ' * 8)}
        Secret=usr run both given set {identity[:12]},target=id %i-token
        [Service]
        LoadCredential=given:/etc/given
        SetCredential=set:text
    ''')
    credential(machine, 'me-token', 'mine')
    machine.run('systemctl start order@me')
    assert machine.inside('order@me', 'cd /run/secrets; for i in usr run both given set id me-token; do cat $i; echo; done') \
        == 'usr\nrun\ncredential\ngiven\ntext\nby-id\nmine\n'
    machine.run('podman secret rm both long')


def failure(machine, secret, more=''):
    machine.container('fails', f'[Container]\n{PAYLOAD}Secret={secret}\n{more}')
    assert machine.run('systemctl start fails', check=False).status != 0
    return machine.journal('fails')


def test_refusals_say_what_to_do(machine):
    said = failure(machine, 'nowhere')
    for part in ("Secret=nowhere (--secret): it is not there", 'credstore', '/var/lib/containers/storage/secrets',
                 'systemd-creds encrypt --name=nowhere', 'podman secret create nowhere -'):
        assert part in said, said
    said = failure(machine, '"two words"')
    assert "no credential can have this name. Make it: podman secret create 'two words' -" in said, said
    podman_secret(machine, 'nul', 'a\0b')
    assert 'NUL byte' in failure(machine, 'nul,type=env')
    podman_secret(machine, 'long', 'x' * 140000)
    assert '128 KiB' in failure(machine, 'long,type=env')
    assert 'xxxx' not in machine.journal('fails')
    assert "another mount is on its target '/run/secrets/nul'" in failure(machine, 'nul', 'Volume=/etc/hostname:/run/secrets/nul')
    # Encrypted after the service was made: systemd 257 hands on what is encrypted, 252 nothing.
    machine.container('late', f'[Container]\n{PAYLOAD}Secret=late\n')
    encrypt(machine, 'late', 'late-value')
    assert machine.run('systemctl start late', check=False).status != 0
    assert 'systemctl daemon-reload' in machine.journal('late')
    machine.reload()
    machine.run('systemctl start late')
    assert machine.inside('late', 'cat /run/secrets/late') == 'late-value'
    machine.run('podman secret rm nul long')


def test_any_bytes(machine):
    """A file has every byte, and a user who is not root reads it."""
    value = ''.join(map(chr, range(128))) * 3000  # 375 KiB
    podman_secret(machine, 'bytes', value)
    machine.container('bytes', f'[Container]\n{PAYLOAD}Secret=bytes\nUser=1234\nReadOnly=true\n')
    machine.run('systemctl start bytes')
    digest = machine.run('sha256sum', input=value).out
    assert machine.inside('bytes', 'sha256sum </run/secrets/bytes') == digest
    machine.run('podman secret rm bytes')


def values_in(text):
    return [value for value in (PLAIN, ENCRYPTED, PODMAN) if value in text]


def readable_files(machine, user):
    """Files of the machine's own, not of the processes, that have a value in them and that the user can read."""
    pattern = '|'.join((PLAIN, ENCRYPTED, PODMAN))
    return machine.run(['setpriv', f'--reuid={user}', f'--regid={user}', '--clear-groups', 'sh', '-c',
                        f'grep -rlE "{pattern}" /run /tmp /var /etc /dev/shm 2>/dev/null'], check=False).out


def test_values_are_nowhere_else(machine):
    start_all(machine)
    pid = machine.show('vault', 'MainPID')
    machine.run('keyturnctl list; keyturnctl analyze vault')
    for command in ('systemctl cat vault', 'systemctl show vault', 'systemctl status vault', 'ps -eo args',
                    'journalctl --no-pager', 'cat /proc/mounts', 'dmesg', 'keyturnctl list',
                    '/usr/lib/systemd/system-generators/keyturn-generator --dry-run 2>&1',
                    'grep -r . /run/systemd/generator /run/systemd/units',
                    '/usr/lib/keyturn/libstart run --print-spec --secret plain --secret podman,type=env '
                    'localhost/test/busybox'):
        out = machine.run(command, check=False).out
        assert not values_in(out), f'{command}: {values_in(out)}'
    # What systemd gives a service and what libstart keeps are root's.
    assert readable_files(machine, 1234) == ''
    # No process but the payload's own has them in its environment.
    for other in re.findall(r'^\s*(\d+)$', machine.run('ps -eo pid=').out, re.M):
        environ = machine.run(f'cat /proc/{other}/environ 2>/dev/null', check=False).out
        payload = machine.run(f'cat /proc/{other}/cgroup 2>/dev/null', check=False).out
        assert not values_in(environ) or 'vault.service' in payload, other
    # The host's mounts do not show the files.
    assert not values_in(machine.run('grep -rhE . /run/keyturn/vault/.private', check=False).out)
    assert 'ramfs' in machine.read(f'/proc/{pid}/mountinfo') and '.private/secrets' not in machine.read('/proc/1/mountinfo')


def test_no_core_has_them(machine):
    """libstart cannot be dumped or traced from before it reads the first value on."""
    make_all(machine)
    machine.run('mkdir -p /run/keyturn/core')
    calls = machine.run('CREDENTIALS_DIRECTORY=/etc/credstore strace -e trace=prctl,openat -o /run/core.trace '
                        '/usr/lib/keyturn/libstart run --name core --state-dir /run/keyturn/core --network none '
                        '--secret plain,type=env localhost/test/busybox true; cat /run/core.trace; '
                        'rm -rf /run/keyturn/core /run/core.trace', check=False).out
    before, found, _ = calls.partition('"/etc/credstore/plain"')
    assert found and 'PR_SET_DUMPABLE, SUID_DUMP_DISABLE' in before, calls


def test_nothing_stays_behind(machine):
    make_vault(machine)
    machine.run('systemctl start vault; systemctl stop vault')  # leaves a filter, should it not have been there
    before = machine.settled()

    def is_as_before():
        now = machine.footprint()
        return now['files'] == before['files'] and now['mounts'] == before['mounts']
    machine.run('systemctl start vault; systemctl stop vault')
    machine.wait_for(is_as_before)
    machine.run('systemctl start vault; systemctl kill --signal=KILL vault')
    machine.wait_for(lambda: machine.show('vault', 'ActiveState') == 'failed')
    machine.wait_for(is_as_before)
    # A start that fails after the secrets were read.
    machine.container('vault', '[Container]\nImage=localhost/test/busybox\nExec=/not/there\nSecret=plain,type=env podman\n')
    assert machine.run('systemctl start vault', check=False).status != 0
    machine.wait_for(is_as_before)
    assert not values_in(machine.run('grep -rhE . /run/keyturn /run/systemd', check=False).out)


def hostile_root(machine, commands):
    machine.run(f'rm -rf /srv/root; mkdir -p /srv/root/bin /srv/root/run /srv/root/etc /srv/root/tmp; '
                f'cp /usr/bin/busybox /srv/root/bin/; for i in sh sleep cat ls stat mv rm ln mount umount echo; do '
                f'ln -s busybox /srv/root/bin/$i; done; cd /srv/root; {commands}')


def start_hostile(machine, more=''):
    machine.container('hostile', f'[Container]\nRootfs=/srv/root:O\nExec=sh -c "trap : TERM; sleep 1000 & wait"\n'
                      f'Secret=plain\n{more}')
    return machine.run('systemctl start hostile', check=False).status == 0


def test_links_of_an_image(machine):
    """They lead to places of the container's own, never of the host's, nor over what the kernel shows."""
    credential(machine, 'plain', PLAIN)
    machine.run('rm -rf /srv/victim; mkdir -p /srv/victim')
    hostile_root(machine, 'mkdir -p srv/victim; ln -s /srv/victim run/secrets')
    assert start_hostile(machine)
    assert machine.inside('hostile', 'cat /srv/victim/plain') == PLAIN
    assert machine.run('find /srv/victim /srv/root/srv/victim').out == '/srv/victim\n/srv/root/srv/victim\n'
    machine.run('systemctl stop hostile')
    hostile_root(machine, 'mkdir -p srv/victim run/secrets; ln -s ../../../../../../srv/victim/x run/secrets/plain')
    assert start_hostile(machine)
    assert machine.inside('hostile', 'cat /srv/victim/x') == PLAIN
    assert machine.run('find /srv/victim').out == '/srv/victim\n'
    machine.run('systemctl stop hostile')
    for target in ('/proc/self/environ', '/proc/sys/kernel/core_pattern', '/dev/null'):
        hostile_root(machine, f'mkdir run/secrets; ln -s {target} run/secrets/plain')
        assert not start_hostile(machine), target
        assert 'leads into /proc, /sys or /dev' in machine.journal('hostile')
        machine.run('systemctl reset-failed hostile')


def test_shared_volume(machine):
    """A secret that is mounted in it would be on the host: refused, with a link to it as without."""
    credential(machine, 'plain', PLAIN)
    machine.run('rm -rf /srv/shared; mkdir /srv/shared; mount --bind /srv/shared /srv/shared; mount --make-shared /srv/shared')
    hostile_root(machine, 'ln -s /shared run/secrets')
    try:
        assert not start_hostile(machine, 'Volume=/srv/shared:/shared:rshared\n')
        assert "'/shared' shares what is mounted in it" in machine.journal('hostile')
        assert start_hostile(machine, 'Volume=/srv/shared:/shared:rslave\n')
        assert machine.inside('hostile', 'cat /run/secrets/plain') == PLAIN
        assert PLAIN not in machine.run('cat /srv/shared/* /proc/1/mountinfo', check=False).out
        assert '/srv/shared/' not in machine.read('/proc/1/mountinfo')
    finally:
        machine.run('systemctl stop hostile; umount /srv/shared')


def test_payload_cannot_change_or_pass_it_on(machine):
    """Not even as root: the next start, and others, have what was meant."""
    start_all(machine)
    said = machine.inside('vault', 'cd /run/secrets; (echo x >plain; mv plain y; rm plain; ln -sf /etc/x plain; chmod 777 plain; '
                                    'umount plain; mount -o remount,bind,rw plain) 2>&1; cat plain')
    assert said.endswith(PLAIN), said
    assert 'Read-only file system' in said and 'busy' in said, said
    # Another container with the same user sees neither the process nor its variables.
    machine.container('other', f'[Container]\n{PAYLOAD}')
    machine.run('systemctl start other')
    found = machine.inside('other', 'cat /proc/[0-9]*/environ /proc/[0-9]*/root/run/secrets/* 2>&1; true')
    assert not values_in(found), found
    pid = machine.show('vault', 'MainPID')
    denied = machine.run(['setpriv', '--reuid=1234', '--regid=1234', '--clear-groups', 'sh', '-c',
                          f'cat /proc/{pid}/environ /proc/{pid}/root/run/secrets/plain; ls /run/credentials/vault.service'],
                         check=False)
    assert not values_in(denied.out) and denied.err.count('Permission denied') == 3, denied


def test_a_file_without_secrets_has_nothing_of_this(machine):
    machine.container('none', f'[Container]\n{PAYLOAD}')
    machine.run('systemctl start none')
    assert 'redential' not in machine.run('systemctl cat none').out
    assert machine.inside('none', 'ls /run') == ''
    assert 'ramfs' not in machine.read(f'/proc/{machine.show("none", "MainPID")}/mountinfo')


def test_owners_in_a_user_namespace(machine):
    """They are the container's ids; who is 5 on the host cannot read what the container's 5 can."""
    make_vault(machine, 'UIDMap=0:100000:65536\n        GIDMap=0:100000:65536\n        Secret=plain,target=five,uid=5,mode=400')
    machine.run('systemctl start vault')
    assert machine.inside('vault', 'cd /run/secrets; stat -c "%a %u:%g" plain five; cat plain five podman') == \
        f'444 0:0\n400 5:0\n{PLAIN}{PLAIN}{PODMAN}'
    pid = machine.show('vault', 'MainPID')
    assert machine.run(f'stat -c %u /proc/{pid}/root/run/secrets/five').out == '100005\n'
    assert readable_files(machine, 100005) == ''


def test_owners_of_a_user_namespace(machine):
    """They are the namespace's ids; one that it does not have would be nobody's."""
    credential(machine, 'plain', PLAIN)
    maps = 'UIDMap=0:100000:65536\nGIDMap=0:100000:65536\nUser=5\n'
    machine.container('mapped', f'[Container]\n{PAYLOAD}{maps}Secret=plain,uid=5,gid=6,mode=0400\n')
    machine.run('systemctl start mapped')
    assert machine.inside('mapped', 'cat /run/secrets/plain; stat -c %u:%g /run/secrets/plain') == PLAIN + '5:6\n'
    assert 'user 70000 is none of its user namespace' in failure(machine, 'plain,uid=70000,mode=0400', maps)
