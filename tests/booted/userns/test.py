# SPDX-License-Identifier: LGPL-2.1-or-later
"""User namespaces: who a container's ids are, what is whose in it, and a payload that is root there and hostile."""

import contextlib
import os

BUSYBOX = 'localhost/test/busybox'
DEBIAN = 'localhost/test/debian'
MAKERS = range(2147221504, 2147287040)
SUBIDS = 'containers:2147483647:2147483648\nalice:500000:65536\nbob:600000:65536\n'


def prepare(machine):
    for file in ('/etc/subuid', '/etc/subgid'):
        machine.write(file, SUBIDS)
    machine.run('rm -rf /srv/data /srv/secret; mkdir -m 0777 /srv/data; mkdir -m 0700 /srv/secret; echo x >/srv/secret/x')


def start(machine, name, keys, command='sleep 1000', image=BUSYBOX, check=True):
    prepare(machine)
    what = '' if 'Rootfs=' in keys else f'Image={image}'
    machine.container(name, f'''
        [Container]
        {what}
        Exec={command}
        Volume=/srv/data:/data
        {keys}
        [Service]
        KillSignal=SIGKILL
    ''')
    return machine.run(f'systemctl start {name}', check=check)


def inside(machine, name, command, check=True, options=''):
    result = machine.run(f"keyturnctl exec {options} {name} sh -c '{command}'", check=check)
    return result.out.rstrip('\n')


def maps(machine, name):
    text = inside(machine, name, 'cat /proc/1/uid_map /proc/1/gid_map')
    return [tuple(map(int, line.split())) for line in text.split('\n')]


def extents(machine, name):
    pid = machine.show(name, 'MainPID')
    return [tuple(map(int, line.split())) for line in
            machine.run(f'cat /proc/{pid}/uid_map /proc/{pid}/gid_map').out.strip().split('\n')]


# ---- which ids

def test_two_containers_never_share_an_id(machine):
    start(machine, 'one', 'UserNS=auto')
    start(machine, 'two', 'UserNS=auto:size=5000')
    one, two = extents(machine, 'one'), extents(machine, 'two')
    assert [size for _, _, size in one] == [1024, 1024] and [size for _, _, size in two] == [5000, 5000], (one, two)
    for (_, a, n), (_, b, m) in zip(one, two):
        assert a + n <= b or b + m <= a, (one, two)
        assert 2147483647 <= min(a, b) and max(a + n, b + m) <= 4294967295


def test_ids_stay_over_restarts(machine):
    start(machine, 'one', 'UserNS=auto')
    before = extents(machine, 'one')
    start(machine, 'two', 'UserNS=auto')
    machine.run('systemctl stop one two && systemctl start two one')
    assert extents(machine, 'one') == before
    # A file that is cut off, as by a power cut without the care that is taken, is found anew.
    machine.run('systemctl stop one && echo 12 >/var/lib/keyturn/ids/one && systemctl start one')
    (_, one, _), _ = extents(machine, 'one')
    (_, two, _), _ = extents(machine, 'two')
    assert one != two


def test_print_spec_gives_and_takes_no_ids(machine):
    """It shows what a start would get. What containers have stays theirs, whatever their image says its user is called."""
    start(machine, 'one', 'UserNS=auto')
    before = machine.run('cd /var/lib/keyturn/ids && cat *').out
    for name in ('one', 'other'):
        spec = machine.run(f'/usr/lib/keyturn/libstart run --print-spec --name {name} --userns auto:size=3000 {DEBIAN} true').out
        assert '"size": 3000' in spec, spec
    assert machine.run('cd /var/lib/keyturn/ids && cat *').out == before
    machine.run('rm -rf /var/lib/keyturn/ids')
    machine.run(f'/usr/lib/keyturn/libstart run --print-spec --name other --userns auto {BUSYBOX} true')
    machine.run('test ! -e /var/lib/keyturn/ids')


@contextlib.contextmanager
def image_of_user(machine, user):
    """localhost/test/user, which can be made anew."""
    made = machine.run(['podman', 'create', '--network=none', '--user', user, BUSYBOX]).out.strip()
    machine.run(f'podman commit -q {made} localhost/test/user; podman rm {made}')
    try:
        yield
    finally:
        machine.run('podman rmi -f localhost/test/user', check=False)


def test_ids_of_a_container_that_runs_are_its_own(machine):
    """Also when its namespace is made once more while its image is another one, which needs more ids."""
    machine.run('rm -rf /var/lib/keyturn/ids')
    with image_of_user(machine, '0'):
        start(machine, 'one', 'UserNS=auto', image='localhost/test/user')
    record = machine.read('/var/lib/keyturn/ids/one')
    with image_of_user(machine, '3000'):
        machine.run('systemctl restart keyturn-userns@one', check=False)
        assert machine.read('/var/lib/keyturn/ids/one') == record
        start(machine, 'two', 'UserNS=auto')
        (_, one, n), (_, two, m) = extents(machine, 'one')[0], extents(machine, 'two')[0]
        assert one + n <= two or two + m <= one, (one, two)
        machine.run('systemctl stop one && systemctl start one')
        (_, one, n), _ = extents(machine, 'one')
        assert n == 3001 and (one + n <= two or two + m <= one), (one, n, two)


def test_ids_of_a_pod_that_runs_are_not_free(machine):
    """Because its file is gone."""
    prepare(machine)
    machine.run('rm -rf /var/lib/keyturn/ids')
    for file in ('/etc/subuid', '/etc/subgid'):
        machine.write(file, 'containers:100000:66560\n')
    machine.container('group.pod', '[Pod]\nUserNS=auto\n', reload=False)
    machine.container('in-pod', f'[Container]\nImage={BUSYBOX}\nExec=sleep 1000\nPod=group.pod\nStopSignal=KILL\n')
    machine.run('systemctl start in-pod')
    machine.run('rm /etc/containers/systemd/group.pod /etc/containers/systemd/in-pod.container; systemctl daemon-reload')
    for name in ('one', 'two'):
        machine.container(name, f'[Container]\nImage={BUSYBOX}\nExec=sleep 1000\nUserNS=auto\nStopSignal=KILL\n')
    machine.run('systemctl start one')
    assert machine.run('systemctl start two', check=False).status != 0
    pod, one = extents(machine, 'in-pod')[0], extents(machine, 'one')[0]
    assert pod[1] + pod[2] <= one[1] or one[1] + one[2] <= pod[1], (pod, one)


def test_ids_are_found_for_directories_of_run_only(machine):
    """They are noted under the name of the container's directory, and somebody else may have one of that name elsewhere."""
    prepare(machine)
    done = machine.run('mkdir -p /srv/state/one; /usr/lib/keyturn/libstart run --name x --userns auto --state-dir /srv/state/one '
                       f'--network host {BUSYBOX} true 2>&1 </dev/null', check=False)
    assert done.status == 125 and 'choose a --state-dir there' in done.out, done


def test_ids_that_cannot_be_read_are_taken(machine):
    start(machine, 'one', 'UserNS=auto')
    machine.run('echo 12 >/var/lib/keyturn/ids/.new')  # somebody was killed while he wrote it
    for spoil in ('echo x', 'true', 'head -c 20'):
        machine.run(f'cd /var/lib/keyturn/ids; cp one /run/kept; rm -f two; {spoil} </run/kept >one')
        assert start(machine, 'two', 'UserNS=auto', check=False).status != 0, spoil
        machine.wait_for(lambda: "'/var/lib/keyturn/ids/one' does not say which ids its container has: restart that container"
                         in machine.journal('two') + machine.journal('keyturn-userns@two'))
        machine.run('systemctl reset-failed; systemctl restart one')
    machine.run('echo x >/var/lib/keyturn/ids/one')
    machine.run('systemctl stop one; rm /var/lib/keyturn/ids/one; systemctl reset-failed; systemctl start two one')
    (_, one, n), _ = extents(machine, 'one')
    (_, two, m), _ = extents(machine, 'two')
    assert one + n <= two or two + m <= one


def test_what_others_can_write_decides_nothing(machine):
    """After a restore from a backup, say: she would choose the ids of root's containers, and files that root writes."""
    machine.run('id alice || useradd alice; echo precious >/srv/victim; chmod 0600 /srv/victim')
    start(machine, 'one', 'UserNS=auto')
    machine.run('systemctl stop one keyturn-userns@one')
    ids = '/var/lib/keyturn/ids'
    machine.run(f'cp {ids}/one /run/kept && sed -i "1s/.*/1024 0 1024 0 1024/" {ids}/one && ln -s /srv/victim {ids}/.new')
    for how in (f'chown alice {ids}', f'chmod 0777 {ids}', f'chgrp alice {ids}; chmod 0770 {ids}', 'chown alice /var/lib/keyturn'):
        machine.run(how)
        for name in ('one', 'new'):
            assert start(machine, name, 'UserNS=auto', check=False).status != 0, (how, name)
            machine.wait_for(lambda name=name: 'others can write there' in
                             machine.journal(name) + machine.journal(f'keyturn-userns@{name}'))
        machine.run(f'systemctl reset-failed; chown root:root /var/lib/keyturn {ids}; chmod 0755 /var/lib/keyturn; chmod 0700 {ids}')
    assert machine.read('/srv/victim') == 'precious\n'
    machine.run(f'rm {ids}/.new; mv /run/kept {ids}/one')
    start(machine, 'one', 'UserNS=auto')
    assert extents(machine, 'one')[0][1] > 0


def test_all_ids_are_used(machine):
    machine.run('rm -rf /var/lib/keyturn/ids')
    start(machine, 'one', 'UserNS=auto:size=600')
    for file in ('/etc/subuid', '/etc/subgid'):
        machine.write(file, 'containers:100000:1000\n')
    machine.run('systemctl restart one')
    machine.container('two', f'[Container]\nImage={BUSYBOX}\nExec=sleep 1000\nUserNS=auto:size=500\n')
    assert machine.run('systemctl start two', check=False).status != 0
    machine.wait_for(lambda: 'No 500 ids in a row are left' in machine.journal())
    assert [first for _, first, _ in extents(machine, 'one')] == [100400, 100400]
    assert machine.read('/var/lib/keyturn/ids/one').startswith('600 100400 600 ')
    machine.run('test ! -e /var/lib/keyturn/ids/two')


def test_ids_of_those_who_make_namespaces_are_nobodys(machine):
    machine.run('rm -rf /var/lib/keyturn/ids')
    for file in ('/etc/subuid', '/etc/subgid'):
        machine.write(file, f'containers:{MAKERS[0]}:{len(MAKERS) + 600}\n')
    machine.container('one', f'[Container]\nImage={BUSYBOX}\nExec=sleep 1000\nUserNS=auto:size=600\n[Service]\nKillSignal=SIGKILL\n')
    machine.container('two', f'[Container]\nImage={BUSYBOX}\nExec=sleep 1000\nUserNS=auto:size=2\n')
    machine.run('systemctl start one')
    assert extents(machine, 'one')[0] == (0, MAKERS[-1] + 1, 600)
    assert machine.run('systemctl start two', check=False).status != 0
    machine.wait_for(lambda: 'No 2 ids in a row are left' in machine.journal())


def test_the_first_container_after_an_installation(machine):
    """Nothing has made /run/keyturn or /var/lib/keyturn yet. Others have to pass through both."""
    def prepare_root(root):
        for unit in ('keyturn-relay.socket', 'keyturn-relay.service', 'keyturn-seccomp.service'):
            os.symlink('/dev/null', f'{root}/etc/systemd/system/{unit}')
    with machine.another(prepare_root) as other:
        prepare(other)
        other.run('umask 077; rm -rf /run/keyturn /var/lib/keyturn')
        other.container('one', f'[Container]\nImage={BUSYBOX}\nExec=sleep 1000\nUserNS=auto\nLogDriver=passthrough\n'
                               '[Service]\nKillSignal=SIGKILL\n')
        other.run('systemctl start keyturn-userns@one')
        assert other.run('stat -c "%a %n" /run/keyturn /run/keyturn/userns /var/lib/keyturn /var/lib/keyturn/ids').out == (
            '755 /run/keyturn\n700 /run/keyturn/userns\n755 /var/lib/keyturn\n700 /var/lib/keyturn/ids\n')
        other.run('systemctl start one')


def pins(machine, name):
    return machine.run(f'ls /run/keyturn/userns/{name} 2>/dev/null', check=False).out.split()


def test_ids_are_found_and_pinned_ahead(machine):
    """By a unit that stays while the container's file is there, over stops, and goes with the file."""
    prepare(machine)
    machine.run('rm -rf /var/lib/keyturn/ids')
    machine.container('one', f'[Container]\nImage={BUSYBOX}\nExec=sleep 1000\nUserNS=auto\n[Service]\nKillSignal=SIGKILL\n')
    machine.run('systemctl start keyturn-userns@one')
    pin, = pins(machine, 'one')
    path = f'/run/keyturn/userns/one/{pin}'
    found = machine.run(f'nsenter --user={path} cat /proc/self/uid_map').out.split()
    machine.run('systemctl start one')
    assert extents(machine, 'one')[0] == tuple(map(int, found))
    # It is what the start uses: no process is made for a namespace, as there is where nothing is pinned.
    start_one = ('strace -f -e trace=clone,openat,mount_setattr -o /run/trace /usr/lib/keyturn/libstart run --name systemd-one '
                 f'--userns auto --detach --state-dir /run/keyturn/one {BUSYBOX} true; cat /run/trace')
    machine.run('systemctl stop one; mkdir -p /run/keyturn/one')
    with_pin = machine.run(start_one, check=False).out
    assert path in with_pin and 'CLONE_FILES|CLONE_VFORK' not in with_pin and 'mount_setattr' in with_pin, with_pin
    machine.run(f'umount {path}; rm -rf /run/keyturn/one; mkdir -p /run/keyturn/one')
    assert 'CLONE_FILES|CLONE_VFORK' in machine.run(start_one, check=False).out
    machine.run('rm -rf /run/keyturn/one /run/trace; systemctl restart keyturn-userns@one; systemctl start one; systemctl stop one')
    assert machine.show('keyturn-userns@one', 'ActiveState') == 'active' and pins(machine, 'one') == [pin]
    # Other ids than those that are pinned are not missed.
    machine.container('one', f'[Container]\nImage={BUSYBOX}\nExec=sleep 1000\nUserNS=auto:size=77\n[Service]\nKillSignal=SIGKILL\n')
    machine.run('systemctl start one')
    assert extents(machine, 'one')[0][2] == 77 and pins(machine, 'one') == [pin]
    machine.run('systemctl stop one; rm /etc/containers/systemd/one.container; systemctl daemon-reload')
    machine.wait_for(lambda: machine.show('keyturn-userns@one', 'ActiveState') == 'inactive')
    assert not pins(machine, 'one') and 'keyturn/userns' not in machine.run('cat /proc/mounts').out
    machine.container('late', '[Container]\nImage=localhost/not/there\nUserNS=auto\n')
    machine.run('systemctl start keyturn-userns@late')
    assert "The ids of 'systemd-late' are found at its start" in machine.journal('keyturn-userns@late')


def test_podmans_ids_are_left_to_it(machine):
    prepare(machine)
    machine.write('/etc/subuid', 'containers:100000:4096\n')
    machine.write('/etc/subgid', 'containers:100000:4096\n')
    machine.run('rm -rf /var/lib/keyturn/ids')
    machine.run(f'podman create --name theirs --network=none --userns=auto:size=3000 {BUSYBOX} true')
    try:
        machine.container('one', f'[Container]\nImage={BUSYBOX}\nExec=sleep 1000\nUserNS=auto:size=1096\n[Service]\nKillSignal=SIGKILL\n')
        machine.container('two', f'[Container]\nImage={BUSYBOX}\nExec=sleep 1000\nUserNS=auto:size=10\n[Service]\nKillSignal=SIGKILL\n')
        machine.run('systemctl start one')
        assert extents(machine, 'one') == [(0, 103000, 1096)] * 2
        assert machine.run('systemctl start two', check=False).status != 0
        assert 'No 10 ids in a row are left' in machine.journal('two')
        # Those of a container without a service are taken when there are no others.
        machine.run('systemctl stop one; rm /etc/containers/systemd/one.container; systemctl daemon-reload')
        machine.run('systemctl start two')
        assert extents(machine, 'two') == [(0, 104086, 10)] * 2
    finally:
        machine.run('podman rm -f theirs; rm -rf /var/lib/keyturn/ids')


def test_without_subids_it_says_what_to_add(machine):
    start(machine, 'one', 'UserNS=auto', check=False)
    machine.run('systemctl stop one; rm -rf /var/lib/keyturn/ids; echo alice:1:1 >/etc/subuid')
    assert machine.run('systemctl start one', check=False).status != 0
    assert "add a line 'containers:FIRST:COUNT'" in machine.journal('one')


def test_maps_and_names(machine):
    start(machine, 'one', 'UIDMap=0:100000:1000 +5:@5\nGIDMap=0:200000:500')
    assert extents(machine, 'one') == [(0, 100000, 5), (5, 5, 1), (6, 100006, 994), (0, 200000, 500)]
    start(machine, 'two', 'SubUIDMap=alice\nSubGIDMap=bob')
    assert extents(machine, 'two') == [(0, 500000, 65536), (0, 600000, 65536)]
    start(machine, 'three', 'UserNS=keep-id')
    assert extents(machine, 'three') == [(0, 0, 4294967295)] * 2
    assert machine.run('readlink /proc/self/ns/user').out != machine.run(
        f'readlink /proc/{machine.show("three", "MainPID")}/ns/user').out


def test_a_namespace_with_a_file(machine):
    machine.run('''
        touch /run/pinned; unshare --user sleep 100 & pid=$!
        until [ "$(cat /proc/$pid/comm)" = sleep ]; do sleep 0.05; done
        echo "0 300000 2000" >/proc/$pid/uid_map && echo "0 400000 3000" >/proc/$pid/gid_map
        mount --bind /proc/$pid/ns/user /run/pinned && kill $pid
    ''')
    try:
        start(machine, 'one', 'UserNS=ns:/run/pinned')
        assert extents(machine, 'one') == [(0, 300000, 2000), (0, 400000, 3000)]
        assert inside(machine, 'one', 'stat -c %u:%g /bin/busybox /data') == '0:0\n65534:65534'
        machine.run('systemctl stop one')
    finally:
        machine.run('umount /run/pinned')


def test_a_user_without_an_id_is_refused(machine):
    assert start(machine, 'one', 'UserNS=auto:size=10\nUser=33', check=False).status != 0
    assert "The payload's user 33 is none of its user namespace's" in machine.journal('one')
    # Who is named by numbers counts where nobody says how many there are.
    start(machine, 'two', 'UserNS=auto\nUser=4242:4343')
    assert inside(machine, 'two', 'id') == 'uid=4242(4242) gid=4343(4343) groups=4343(4343)'


def test_a_group_of_the_images_without_an_id_is_left_out(machine):
    start(machine, 'one', 'UIDMap=0:100000:2000\nGIDMap=0:100000:1502', image='localhost/test/layers:4')
    assert machine.run(f'grep Groups /proc/{machine.show("one", "MainPID")}/status').out.split() == ['Groups:', '101501']
    assert 'goes without the group 1502' in machine.journal('one')
    # One that is asked for is not.
    assert start(machine, 'two', 'UIDMap=0:100000:2000\nGIDMap=0:100000:1502\nGroupAdd=1502',
                 image='localhost/test/layers:4', check=False).status != 0
    assert "The payload's group 1502 is none of its user namespace's" in machine.journal('two')


# ---- what is whose

def test_owners(machine):
    start(machine, 'one', '''UserNS=auto
        Tmpfs=/cache
        AddHost=hub:10.0.0.1
        Secret=token
        WorkingDir=/tmp''', image=DEBIAN, check=False)
    machine.write('/etc/credstore/token', 'value', mode=0o600)
    machine.run('systemctl restart one')
    owners = inside(machine, 'one', '''stat -c "%n %u:%g" / /etc /etc/hosts /etc/resolv.conf /etc/shadow /etc/passwd /run
        /run/.containerenv /dev /dev/null /dev/pts /dev/shm /cache /data /run/secrets/token /proc/1 /tmp'''.replace('\n', ' '))
    others = {'/etc/shadow': '0:42', '/data': '65534:65534'}
    for line in owners.split('\n'):
        name, owner = line.split()
        assert owner == others.get(name, '0:0'), line
    assert inside(machine, 'one', 'cat /run/secrets/token && echo x >/dev/null && echo y >/etc/hosts && id -u') == 'value0'
    # On the host nothing has changed hands.
    top = machine.run('stat -c %u:%g /var/lib/containers/storage/overlay/*/diff').out
    assert set(top.split()) == {'0:0'}, top


def test_log(machine):
    start(machine, 'two', 'UserNS=auto\nUser=33:33', image=DEBIAN,
          command='bash -c "echo one; echo two >/dev/stdout; echo three >/dev/stderr; sleep 1000"')
    machine.wait_for(lambda: 'three' in machine.journal('two'))

    def said():
        return [line for line in machine.journal('two').split('\n') if line in ('one', 'two', 'three')]
    machine.wait_for(lambda: len(said()) == 3)
    # Between two streams there is no order.
    assert [line for line in said() if line != 'three'] == ['one', 'two'], said()


def make_rootfs(machine):
    machine.run(f'''
        rm -rf /run/root; mounted=$(podman image mount {BUSYBOX}); cp -a $mounted /run/root
        podman image unmount {BUSYBOX}; mkdir /run/root/data
    ''')


def test_rootfs(machine):
    """Each anew: what one has made in the directory, as to mount on it, the next one would find."""
    for more in ('', 'ReadOnly=true'):
        for suffix, owner in ((':idmap', '0:0'), (':O', '65534:65534'), ('', '65534:65534')):
            make_rootfs(machine)
            start(machine, 'one', f'Rootfs=/run/root{suffix}\nUserNS=auto\nAddHost=hub:10.0.0.1\n{more}')
            assert inside(machine, 'one', 'stat -c %u:%g /bin/busybox /etc/hosts') == f'{owner}\n0:0', suffix
            assert 'hub' in inside(machine, 'one', 'cat /etc/hosts')
            machine.run('systemctl stop one; systemctl reset-failed one')
    assert start(machine, 'one', 'Rootfs=/run/root\nUserNS=auto\nVolume=/srv/data:/deep/er', check=False).status != 0
    assert 'or write Rootfs=DIRECTORY:idmap' in machine.journal('one')
    machine.run('rm -rf /run/root')


def test_read_only_and_devices(machine):
    start(machine, 'one', 'UserNS=auto\nReadOnly=true\nAddDevice=/dev/zero:/dev/second\nNetwork=host')
    assert inside(machine, 'one', 'touch /x 2>/dev/null || echo ro; touch /tmp/x && echo rw; head -c 3 /dev/second | wc -c; '
                  'ls /sys/class/net | head -1') == 'ro\nrw\n3\nlo'


def test_mapped_volumes(machine):
    machine.run('''
        umount /run/mapped 2>/dev/null; mkdir -p /run/mapped && mount -t tmpfs tmpfs /run/mapped
        echo a >/run/mapped/a && chown 5:7 /run/mapped/a && chmod 600 /run/mapped/a
    ''')
    try:
        start(machine, 'one', '''UserNS=auto
            Volume=/run/mapped:/as-container:idmap
            Tmpfs=/cache
            Volume=/run/mapped:/custom:idmap=uids=@0-0-1#@5-1-1;gids=@0-0-10''')
        assert inside(machine, 'one', 'stat -c %u:%g /as-container /as-container/a /custom/a') == '0:0\n5:7\n1:7'
        inside(machine, 'one', 'echo b >/as-container/b && chown 9:9 /as-container/b && chmod 4755 /as-container/b')
        assert machine.run('stat -c %u:%g /run/mapped/b').out == '9:9\n'
        machine.container('two', f'''
            [Container]
            Image={BUSYBOX}
            Exec=sleep 1000
            Tmpfs=/cache
            Volume=/run/mapped:/plain:idmap=uids=0-0-1#5-1000-1;gids=0-0-1#7-1001-1
            [Service]
            KillSignal=SIGKILL
        ''')
        machine.run('systemctl start two')
        assert inside(machine, 'two', 'stat -c %u:%g /plain/a') == '1000:1001'
        machine.container('three', f'[Container]\nImage={BUSYBOX}\nExec=sleep 9\nVolume=/run/mapped:/plain:idmap\n')
        assert machine.run('systemctl start three', check=False).status != 0
        assert 'no user namespace to map it for' in machine.journal('three')
        machine.container('five', f'[Container]\nImage={BUSYBOX}\nTmpfs=/cache\nVolume=/run/mapped:/a/b:idmap=uids=0-0-1;gids=0-0-1\n')
        assert machine.run('systemctl start five', check=False).status != 0
        assert 'mount it at a shorter path' in machine.journal('five')
        # What cannot be mapped is said with what can: the machine's own root is an overlay.
        machine.container('four', f'[Container]\nImage={BUSYBOX}\nUserNS=auto\nVolume=/srv/data:/plain:idmap\n')
        assert machine.run('systemctl start four', check=False).status != 0
        assert 'its file system cannot do that' in machine.journal('four')
        machine.run('systemctl stop one two')
    finally:
        machine.run('umount /run/mapped')


def test_volumes_of_podmans(machine):
    start(machine, 'one', 'UserNS=auto\nVolume=kept:/kept\nVolume=/srv/data:/own:U', image=DEBIAN)
    assert inside(machine, 'one', 'touch /kept/x /own/x && stat -c %u:%g /kept /kept/x /own') == '0:0\n0:0\n0:0'
    _, (_, gid, _) = extents(machine, 'one')
    assert machine.run('stat -c %g /var/lib/containers/storage/volumes/kept/_data/x').out.strip() == str(gid)


# ---- attacks

def test_root_in_the_namespace_is_nobody_outside(machine):
    start(machine, 'one', 'UserNS=auto\nVolume=/srv/secret:/secret\nAddCapability=all\nSeccompProfile=unconfined\nUnmask=ALL')
    for attempt in ('cat /secret/x', 'ls /secret', 'chown 0:0 /secret', 'chmod 777 /secret', 'mknod /tmp/sda b 8 0',
                    'mount -t ext4 /dev/sda /mnt', 'echo b >/proc/sysrq-trigger', 'echo 1 >/proc/sys/vm/drop_caches',
                    'echo x >/proc/sys/kernel/core_pattern', 'hostname -F /secret/x',
                    'chroot /proc/1/root/../../.. cat /srv/secret/x', 'dmesg -c', 'insmod /x.ko',
                    'ip link set lo down', 'echo +pids >/sys/fs/cgroup/cgroup.subtree_control',
                    'chown 2000:2000 /tmp', 'echo 0 4294960000 100 >/proc/self/uid_map'):
        result = machine.run(['keyturnctl', 'exec', 'one', 'sh', '-c', attempt], check=False)
        assert result.status != 0, (attempt, result)
    assert machine.read('/srv/secret/x') == 'x\n'
    # A setuid program that it leaves on a volume is its own, not root's.
    inside(machine, 'one', 'cp /bin/busybox /data/id && chmod 4755 /data/id')
    uid = machine.run('stat -c %u /srv/data/id').out.strip()
    assert int(uid) >= 2147483647, uid


def test_layers_are_not_written_through(machine):
    before = machine.run('find /var/lib/containers/storage/overlay -path "*/diff/*" -printf "%p %s %U %G %m %T@\\n" | md5sum').out
    start(machine, 'one', 'UserNS=auto\nAddCapability=CAP_SYS_ADMIN\nSeccompProfile=unconfined', image=DEBIAN)
    inside(machine, 'one', 'echo x >>/etc/passwd; chown 33:33 /etc/shadow; chmod 4777 /bin/true; rm -rf /usr/share/doc; '
           'mount -o remount,rw /proc/sys; mkdir /tmp/l; for fd in /proc/*/fd/*; do echo >$fd/x; done; true', check=False)
    after = machine.run('find /var/lib/containers/storage/overlay -path "*/diff/*" -printf "%p %s %U %G %m %T@\\n" | md5sum').out
    assert before == after


def test_containers_do_not_reach_each_other(machine):
    start(machine, 'one', 'UserNS=auto', command='sh -c "echo mine >/data/one; chmod 600 /data/one; sleep 1000"')
    machine.container('two', f'''
        [Container]
        Image={BUSYBOX}
        UserNS=auto
        AddCapability=all
        Volume=/srv/data:/data
        Exec=sleep 1000
    ''')
    machine.run('systemctl start two')
    machine.wait_for(lambda: machine.run('stat -c %a /srv/data/one', check=False).out == '600\n')
    for attempt in ('cat /data/one', 'chown 0:0 /data/one', 'chmod 644 /data/one', 'echo x >/data/one'):
        assert machine.run(['keyturnctl', 'exec', 'two', 'sh', '-c', attempt], check=False).status != 0, attempt
    assert inside(machine, 'two', 'stat -c %u /data/one') == '65534'


def test_nested_namespaces_gain_nothing(machine):
    start(machine, 'one', 'UserNS=auto\nAddCapability=CAP_SYS_ADMIN\nSeccompProfile=unconfined\nVolume=/srv/secret:/secret', image=DEBIAN)
    script = ('unshare -Urm --mount-proc=/proc -pf sh -c "cat /secret/x" || unshare -Urm sh -c '
              '"mount -t proc proc /mnt && cat /mnt/kcore >/dev/null && umount /proc/keys && echo out"')
    result = machine.run(['keyturnctl', 'exec', 'one', 'sh', '-c', script], check=False)
    assert 'x' != result.out.strip() and 'out' not in result.out, result


def test_exec_has_no_more_than_the_payload(machine):
    start(machine, 'one', 'UserNS=auto\nUser=33:33', image=DEBIAN)
    pid = machine.show('one', 'MainPID')
    status = ('grep', '-E', 'Cap|NoNewPrivs|Seccomp:|Uid|Gid|Groups')
    assert machine.run(['keyturnctl', 'exec', 'one', *status, '/proc/self/status']).out == machine.run(
        ['keyturnctl', 'exec', 'one', *status, '/proc/1/status']).out
    for kind in ('user', 'mnt', 'pid', 'ipc', 'uts', 'cgroup', 'net'):
        inner = machine.run(['keyturnctl', 'exec', 'one', 'readlink', f'/proc/self/ns/{kind}']).out
        assert inner == machine.run(f'readlink /proc/{pid}/ns/{kind}').out, kind
    # Whoever is root in the namespace watches what comes in, and finds nothing of the host's to hold on to.
    start(machine, 'two', 'UserNS=auto\nAddCapability=CAP_SYS_PTRACE', command='''sh -c "while :; do for p in /proc/[0-9]*; do \
[ $$$${p#/proc/} = 1 ] || for f in $$p/fd/* $$p/root $$p/cwd $$p/exe; do cat $$f/srv/secret/x $$f/../srv/secret/x; done; \
done >>/data/found 2>/dev/null; done"''')
    for _ in range(10):
        machine.run('keyturnctl exec two true')
    assert machine.run('cat /srv/data/found', check=False).out.strip() == ''


def test_a_hostile_passwd(machine):
    machine.run(f'''
        rm -rf /run/root; mounted=$(podman image mount {BUSYBOX}); cp -a $mounted /run/root; podman image unmount {BUSYBOX}
        mkdir -p /run/root/etc
    ''')
    for entry in ('app:x:4294967295:0::/:/bin/sh', 'app:x:-1:0::/:', 'app:x:5000:5000::/:/bin/sh'):
        machine.write('/run/root/etc/passwd', f'root:x:0:0::/:/bin/sh\n{entry}\n')
        result = start(machine, 'one', 'Rootfs=/run/root:O\nUserNS=auto:size=2000\nUser=app', check=False)
        assert result.status != 0, entry
    machine.run('rm -rf /run/root')


KINDS = {
    'auto': 'UserNS=auto\nNetwork=none',
    'bridged': 'UserNS=auto\nNetwork=bridge',
    'kept': 'UserNS=keep-id\nNetwork=none',
    'mapped': 'UIDMap=0:100000:65536\nGIDMap=0:100000:65536\nNetwork=host',
    'joined': 'UserNS=auto\nNetwork=ns:/run/joined',
    'mate': 'Pod=mates.pod',
}


def start_kinds(machine, command, keys='', kinds=KINDS):
    """Containers whose namespaces are made in all the ways that there are."""
    machine.write('/etc/containers/systemd/mates.pod', '[Pod]\nUserNS=auto\n')
    machine.run('umount /run/joined 2>/dev/null; touch /run/joined; unshare --net=/run/joined true')
    for name in kinds:
        start(machine, name, f'{kinds[name]}\n{keys}', command)


def owner(machine, name):
    return int(machine.run(f'/srv/owner /proc/{machine.show(name, "MainPID")}/ns/user').out)


def test_what_it_takes_of_the_kernels_limits_is_not_roots(machine):
    """Instances of inotify: without them, systemd's path units and keyturn's services fail."""
    machine.build('userns/instances.c', '/srv/instances')
    start_kinds(machine, '/instances', 'Volume=/srv/instances:/instances:ro')
    for name in KINDS:
        machine.wait_for(lambda: 'took ' in machine.journal(name))
        took = int(machine.journal(name).split('took ')[1].split()[0])
        assert took >= 100, (name, took)  # one does not take another's
    machine.run('/srv/instances 1')


def test_nobody_outside_owns_it(machine):
    """Who owns it has all capabilities in it: root in a container without one, and who executes a set-user-ID file of its."""
    machine.build('userns/owner.c', '/srv/owner')
    start_kinds(machine, 'sleep 1000')
    owners = {name: owner(machine, name) for name in KINDS}
    assert all(uid in MAKERS for uid in owners.values()), owners
    assert len(set(owners.values())) == len(KINDS), owners
    machine.container('root', f"""
        [Container]
        Image={BUSYBOX}
        Network=none
        PodmanArgs=--pid=host
        SeccompProfile=unconfined
        SecurityLabelDisable=true
        Exec=sleep 1000
        [Service]
        KillSignal=SIGKILL
    """)
    machine.run('systemctl start root')
    for name in KINDS:
        pid = machine.show(name, 'MainPID')
        enter = ['nsenter', f'--user=/proc/{pid}/ns/user', 'true']
        assert machine.run(enter).status == 0
        assert machine.run(['keyturnctl', 'exec', 'root', *enter], check=False).status != 0, name
        uid = extents(machine, name)[0][1]
        assert uid == 0 or machine.run(['setpriv', f'--reuid={uid}', '--clear-groups', *enter], check=False).status != 0, name
