# SPDX-License-Identifier: LGPL-2.1-or-later
"""Mounts that say how much protection they want, beside others that libcrun has to make: none may lose it."""

VOLUMES = '/var/lib/containers/storage/volumes'


IMAGE = 'Image=localhost/test/busybox'


def start(machine, name, keys, exec_='sleep 1000', check=True, image=IMAGE):
    machine.container(name, f'[Container]\n{image}\nExec={exec_}\nStopSignal=SIGKILL\n{keys}\n')
    return machine.run(f'systemctl restart {name}', timeout=30, check=check)


def test_an_overlay_beside_a_tmpfs(machine):
    """libcrun makes the tmpfs, and what comes after it: the overlay is one all the same."""
    machine.run('rm -rf /srv/lower; mkdir -p /srv/lower; echo old >/srv/lower/file')
    start(machine, 'one', 'Tmpfs=/t\nVolume=/srv/lower:/a/b/c:O\n')
    machine.inside('one', 'echo new >/a/b/c/file')
    assert machine.read('/srv/lower/file') == 'old\n'


def test_places_in_a_root_that_is_read_only(machine):
    """Of what is mounted last, too: they were to be made where libcrun had made the root read-only."""
    machine.run('mkdir -p /srv/lower')
    for option in ('O', 'rshared', 'rslave', 'ro'):
        start(machine, 'one', f'ReadOnly=true\nVolume=/srv/lower:/a/b/c:{option}\n')
        machine.inside('one', 'grep " / " /proc/mounts | grep " ro," && grep " /a/b/c " /proc/mounts && ! mkdir /x && ! mkdir /a/x')


def test_a_subpath_beside_a_tmpfs(machine):
    machine.run(f'rm -rf {VOLUMES}/parts; mkdir -p {VOLUMES}/parts/_data/sub; chmod 700 {VOLUMES}/parts; '
                f'echo all >{VOLUMES}/parts/_data/hidden; echo part >{VOLUMES}/parts/_data/sub/file')
    start(machine, 'one', 'Tmpfs=/t\nMount=type=volume,source=parts,destination=/a/b/c,subpath=sub\n')
    assert machine.inside('one', 'ls /a/b/c') == 'file\n'


def test_what_is_wrong_with_a_mount_is_said(machine):
    """Also of one that comes after libcrun's, which would say no more than in which of its steps."""
    machine.run(f'rm -rf {VOLUMES}/parts; mkdir -p {VOLUMES}/parts/_data/sub')
    start(machine, 'two', 'Tmpfs=/t\nMount=type=volume,source=parts,destination=/a/b/c,subpath=gone\n', check=False)
    assert "subpath 'gone'" in machine.journal('two') and 'HANDLER' not in machine.journal('two'), machine.journal('two')


def test_an_image_beside_a_tmpfs(machine):
    start(machine, 'one', 'Tmpfs=/t\nMount=type=image,source=localhost/test/busybox,destination=/a/b/c\n')
    assert 'busybox' in machine.inside('one', 'ls /a/b/c/bin').split()
    machine.inside('one', '! touch /a/b/c/x 2>/dev/null')


def test_devices_in_an_image_that_is_mounted(machine):
    """Whoever makes images does not give devices: as in the root."""
    top = machine.run("podman image inspect --format '{{.GraphDriver.Data.UpperDir}}' localhost/test/busybox").out.strip()
    machine.run(f'mknod {top}/zero c 1 5; chmod 666 {top}/zero; cp {top}/bin/busybox {top}/suid; chmod 4755 {top}/suid')
    try:
        start(machine, 'one', 'Mount=type=image,source=localhost/test/busybox,destination=/image\n'
                              'Mount=type=image,source=localhost/test/busybox,destination=/part,subpath=/\n')
        for place in ('/image', '/part', ''):
            assert 'Permission denied' in machine.inside('one', f'head -c 1 {place}/zero 2>&1', check=False), place
        options = machine.inside('one', 'grep -e " /image " -e " /part " /proc/self/mounts')
        assert options.count('nodev') == 2, options
    finally:
        machine.run(f'rm {top}/zero {top}/suid')


def test_mounts_that_come_last_and_what_lies_on_them(machine):
    """In any order, with a link on the way, and with a secret."""
    machine.run('rm -rf /srv/lower /srv/plain; mkdir -p /srv/lower/d /srv/plain; echo old >/srv/lower/file; '
                'echo plain >/srv/plain/file; mkdir -p -m 700 /etc/credstore; echo secret >/etc/credstore/key')
    start(machine, 'one', 'Tmpfs=/t\nVolume=/srv/plain:/o/d/x\nVolume=/srv/lower:/o:O\nVolume=/srv/lower:/t/o:O\n'
                          'Secret=key,target=/o/d/key\nTmpfs=/o2\nReadOnly=true\nVolume=/srv/plain:/slave:rslave\n')
    assert machine.inside('one', 'cat /o/d/x/file /o/d/key; for i in /o/file /t/o/file; do cat $i; echo new >$i; cat $i; '
                                  'done') == 'plain\nsecret\nold\nnew\nold\nnew\n'
    machine.inside('one', '! touch /x 2>/dev/null')
    assert machine.run('cat /srv/lower/file; ls /srv/lower/d').out == 'old\n'
    assert machine.run('grep -c -e /srv/lower -e overlay /proc/self/mountinfo', check=False).out == \
        machine.run('systemctl stop one; grep -c -e /srv/lower -e overlay /proc/self/mountinfo', check=False).out
    machine.container('two', '[Container]\nImage=localhost/test/busybox\nExec=true\nTmpfs=/t\nVolume=/srv/lower:/t/o:O\n'
                             'Tmpfs=/t/o/t\n')
    assert machine.run('systemctl start two', check=False).status != 0
    assert "'/t/o/t': above it is an overlay" in machine.journal('two')


def test_a_user_namespace_changes_none_of_this(machine):
    machine.run('rm -rf /srv/lower; mkdir -p /srv/lower/d; echo old >/srv/lower/file; chmod -R go+rwX /srv/lower')
    start(machine, 'one', 'UIDMap=0:100000:65536\nGIDMap=0:100000:65536\nTmpfs=/t\nVolume=/srv/lower:/t/o:O\n'
                          'Mount=type=image,source=localhost/test/busybox,destination=/t/i\n')
    assert machine.inside('one', 'cat /t/o/file; echo new >/t/o/file; cat /t/o/file; ls /t/i/bin/busybox') == \
        'old\nnew\n/t/i/bin/busybox\n'
    assert machine.read('/srv/lower/file') == 'old\n'


def test_the_root_is_not_in_its_volumes(machine):
    """/run holds its place, and "/" does: in a copy of it there it was not masked, and could be written to. So could the files and
    secrets beside it, and with another runtime all volumes were there once more."""
    machine.run('mkdir -p /run/other; mount -t tmpfs other /run/other; echo there >/run/other/file')
    users = 'UIDMap=0:100000:65536\nGIDMap=0:100000:65536\n'
    crun = '[Keyturn]\nRuntime=crun\n[Container]\n'
    volumes = [f'Volume={source}:/h{place}{option}\n' for source, place in (('/run', '/run'), ('/', ''))
               for option in ('', ':ro,rslave', ':rshared')]
    masked = 'Mask=/a/b/secret\nVolume=/srv/masked:/a/b\n'
    more = ['Tmpfs=/h\n', users, users + 'Tmpfs=/h\n', 'Secret=key\n', 'Secret=key\nTmpfs=/h\n', 'Rootfs=/srv/root\n',
            'Rootfs=/srv/root:O\n', crun, crun + masked, crun + users + masked, crun + 'Rootfs=/srv/root\n', crun + 'Secret=key\n']
    machine.run('mkdir -p -m 700 /etc/credstore; echo secret >/etc/credstore/key; mkdir -p /srv/root/h /srv/masked; '
                'echo masked >/srv/masked/secret; chmod 755 /srv/masked')
    machine.run('cp -a $(podman image inspect --format "{{.GraphDriver.Data.UpperDir}}" localhost/test/busybox)/. /srv/root')
    for keys in volumes + [keys + volumes[0] for keys in more] + [more[0] + volumes[1], more[3] + volumes[1]]:
        start(machine, 'one', 'ReadOnly=true\nMask=/etc/passwd\n' + keys, image='' if 'Rootfs' in keys else IMAGE)
        # Debian 12's crun mounts no more than the uppermost in a user namespace.
        assert crun + users in keys or machine.inside('one', 'cat /h/run/other/file') == 'there\n', keys
        found = machine.inside('one', 'grep "/h/run/keyturn/one/.private" /proc/self/mounts; cd /h/run/keyturn/one/.private && '
                                       'for i in root files secrets mounts; do ls -A $i; done 2>/dev/null; echo "that is all"')
        assert found == 'that is all\n', (keys, found)
        machine.run('systemctl stop one; systemctl reset-failed one', check=False)
        assert machine.run('ls -d /run/keyturn/one', check=False).status != 0, keys
    for keys in (volumes[0], 'Tmpfs=/h\n' + volumes[0]): # and who may can still mount it elsewhere
        start(machine, 'one', keys + 'AddCapability=SYS_ADMIN\nSeccompProfile=unconfined\n')
        machine.inside('one', 'mkdir /again && mount -o bind / /again && ls /again/bin/busybox')
    machine.run('systemctl stop one; umount /run/other')


def test_a_copy_takes_nothing_away_that_is_mounted(machine):
    """rename(2) from another mount namespace detaches what is mounted on the name that it replaces, and a mask is gone."""
    machine.run('rm -rf /srv/x; mkdir /srv/x; echo MASKED >/srv/x/secret; echo volume >/srv/onefile; echo copied >/root/secret')
    start(machine, 'box', 'Volume=/srv/x:/x\nMask=/x/secret\nVolume=/srv/onefile:/app/secret:ro', "sh -c 'ln -s /x /led; exec sleep 1000'")
    machine.wait_for(lambda: machine.inside('box', 'readlink /led', check=False))
    for target in ('/x/secret', '/x', '/led/', '/app/secret', '/app'):
        done = machine.run(f'keyturnctl cp /root/secret box:{target}', check=False)
        assert done.status and 'copy to what is mounted there' in done.err, done
        assert machine.read('/srv/x/secret') == 'MASKED\n' and machine.read('/srv/onefile') == 'volume\n', target
        assert machine.inside('box', 'cut -d" " -f2 /proc/mounts | grep -c -e ^/x/secret$ -e ^/app/secret$') == '2\n', target
        assert machine.run('ls -A /srv/x').out == 'secret\n'
    machine.run('keyturnctl cp /root/secret box:/x/other')
    assert machine.read('/srv/x/other') == 'copied\n'
