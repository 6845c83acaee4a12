# SPDX-License-Identifier: LGPL-2.1-or-later
"""Volumes: named ones that Podman knows, too, anonymous ones, what comes from the image, and the other types of Mount=."""

import json
import os
import re

VOLUMES = '/var/lib/containers/storage/volumes'


def start(machine, name, keys, image='localhost/test/busybox', exec_='sleep 1000', more=''):
    """Starts a container of these keys; again, if it runs."""
    machine.container(name, f'[Container]\nImage={image}\nExec={exec_}\nStopSignal=SIGKILL\n' + keys + '\n' + more)
    machine.run(f'systemctl restart {name}')


def refuses(machine, name, keys, message, **more):
    machine.container(name, '[Container]\nImage=localhost/test/busybox\nExec=true\n' + keys + '\n')
    assert machine.run(f'systemctl start {name}', check=False).status != 0, 'it has started'
    said = machine.journal(f'{name}.service')
    assert message in said, said


def podman_reads(machine, volume):
    """The file in there. Debian 12's Podman starts no container on these machines, but adds the volume."""
    if machine.suite == 'bookworm':
        machine.run(f'podman volume inspect {volume} >/dev/null 2>&1 || podman volume create {volume}')
        return machine.run(f'cat $(podman volume inspect --format "{{{{.Mountpoint}}}}" {volume})/file').out
    return machine.run(f'podman run --rm --network host -v {volume}:/x localhost/test/busybox cat /x/file').out


def remove_volumes(machine):
    machine.run('podman volume rm -fa', check=False)
    machine.run(f'rm -rf {VOLUMES}/*; systemctl stop "*-volume.service" "keyturn-volume@*"')


def test_the_user_is_one_of_a_mounted_etc(machine):
    machine.write('/srv/etc/passwd', 'outsider:x:777:778::/home/outsider:/bin/sh\n')
    start(machine, 'of-etc', 'User=outsider\nVolume=/srv/etc:/etc')
    assert machine.run(f'stat -c %u:%g /proc/{machine.show("of-etc", "MainPID")}').out == '777:778\n'
    # What the payload may have written there makes it nobody's master.
    machine.write('/srv/etc/passwd', 'outsider:x:0:0::/home/outsider:/bin/sh\n')
    assert machine.run('systemctl restart of-etc', check=False).status != 0
    assert "says that the user 'outsider' is root" in machine.journal('of-etc')


def test_a_named_volume_is_podmans_too_and_stays(machine):
    remove_volumes(machine)
    start(machine, 'one', 'Volume=first:/new\nVolume=first:/again:ro')
    machine.inside('one', 'echo kept >/new/file')
    assert machine.inside('one', 'cat /again/file') == 'kept\n'
    assert podman_reads(machine, 'first') == 'kept\n'
    machine.run('systemctl restart one')
    assert machine.inside('one', 'cat /new/file') == 'kept\n'
    options = machine.inside('one', 'grep /new /proc/self/mountinfo')
    assert 'rw,nosuid,nodev,relatime' in options, options


def test_keyturnctl_shows_them(machine):
    remove_volumes(machine)
    machine.run('podman volume create theirs')
    machine.container('later', '[Container]\nImage=localhost/test/busybox\nVolume=later:/x\nMount=type=volume,source=first,target=/y\n')
    start(machine, 'one', 'Volume=first:/new\nVolume=/anonymous')
    machine.inside('one', 'dd if=/dev/zero of=/new/file bs=1M count=3')
    machine.inside('one', 'mkdir /new/deep; ln -s / /new/deep/root')
    rows = {row.pop('volume'): row for row in json.loads(machine.run('keyturnctl volumes --json').out)}
    assert rows == {
        'first': {'type': 'directory', 'containers': ['systemd-later', 'systemd-one'], 'mountpoint': f'{VOLUMES}/first/_data', 'size': None},
        'later': {'type': None, 'containers': ['systemd-later'], 'mountpoint': None, 'size': None},
        'theirs': {'type': 'directory', 'containers': None, 'mountpoint': f'{VOLUMES}/theirs/_data', 'size': None}}, rows
    sizes = {row['volume']: row['size'] for row in json.loads(machine.run('keyturnctl volumes --json --size').out)}
    assert 3 << 20 <= sizes['first'] < 4 << 20 and sizes['later'] is None, sizes
    assert 'SIZE' not in machine.run('keyturnctl volumes').out
    assert re.search(r'^first .* 3[.]0M$', machine.run('keyturnctl volumes --size').out, re.M)


def test_podman_prunes_no_volume(machine):
    """What `podman volume prune` removes is gone: so none of keyturn's is in Podman's database, wherever it comes from."""
    remove_volumes(machine)
    machine.run('podman volume create old; podman volume create used; podman volume create systemd-data; '
                'podman volume create apart; podman create --name user -v used:/x localhost/test/busybox true')
    data = f'{VOLUMES}/{{}}/_data/file'
    for name in ('old', 'used', 'systemd-data', 'apart'):
        machine.write(data.format(name), f'{name}\n')
    machine.run(f'mkfifo {VOLUMES}/old/.keyturn-asked')
    machine.container('data.volume', '[Volume]\n', reload=False)
    start(machine, 'one', 'Volume=old:/old\nVolume=used:/used\nVolume=data.volume:/data\nVolume=new:/new')
    machine.inside('one', 'echo new >/new/file')
    assert sorted(machine.run('podman volume ls -q').out.split()) == ['apart', 'used'], 'what a container of Podman\'s uses stays'
    assert 'stays in Podman' in machine.journal('keyturn-volume@used.service')
    machine.run('podman volume prune -f; podman system prune -f --volumes --filter label=nothing')
    machine.run(f'! test -e {VOLUMES}/apart', check=True)
    for name, place in {'old': 'old', 'used': 'used', 'systemd-data': 'data', 'new': 'new'}.items():
        assert machine.read(data.format(name)) == machine.inside('one', f'cat /{place}/file') == f'{name}\n'
    # As a power cut leaves it; Podman has named it meanwhile.
    machine.run(f'systemctl stop one "keyturn-volume@*"; mv {VOLUMES}/old {VOLUMES}/.keyturn-old; mkdir -p {VOLUMES}/old/_data')
    machine.run('systemctl start one')
    assert machine.inside('one', 'cat /old/file') == 'old\n'
    # With files in it nobody knows which are the right ones.
    machine.run(f'systemctl stop one "keyturn-volume@*"; mv {VOLUMES}/old {VOLUMES}/.keyturn-old; mkdir -p {VOLUMES}/old/_data; '
                f'touch {VOLUMES}/old/_data/other')
    machine.run('systemctl start keyturn-volume@old', check=False)
    assert "files of the volume 'old' are in '.keyturn-old'" in machine.show('keyturn-volume@old', 'StatusText')
    machine.run(f'rm -r {VOLUMES}/old; systemctl reset-failed')
    # The container, which only wants that unit, takes no empty one in its place.
    machine.run('systemctl stop one; systemctl mask --runtime keyturn-volume@old')
    machine.run('systemctl start one', check=False)
    machine.run(f'systemctl unmask --runtime keyturn-volume@old; ! test -e {VOLUMES}/old')
    assert 'keyturn-volume@old.service was interrupted' in machine.show('one', 'StatusText')
    machine.run('systemctl reset-failed; systemctl start one')
    # Podman is not asked as long as it has changed nothing.
    machine.run(f'systemctl stop one "keyturn-volume@*" data-volume; rm {VOLUMES}/old/.keyturn-asked; systemctl start one; '
                'systemctl stop one "keyturn-volume@*" data-volume; systemctl start one')
    machine.run('systemctl stop one "keyturn-volume@*"; mv /usr/bin/podman /usr/bin/podman.away; '
                'printf "#!/bin/sh\\ntouch /run/asked\\nexit 1\\n" >/usr/bin/podman; chmod 755 /usr/bin/podman; rm -f /run/asked')
    try:
        machine.run('systemctl start one; ! test -e /run/asked')
    finally:
        machine.run('mv /usr/bin/podman.away /usr/bin/podman; podman rm user; systemctl stop one; '
                    'rm /etc/containers/systemd/data.volume')
    # One that Podman takes over in between is taken out again.
    machine.run('podman volume create old; systemctl stop "keyturn-volume@*"; systemctl start one')
    assert machine.run('podman volume ls -q').out == ''
    remove_volumes(machine)


def test_a_volume_of_podmans_is_used(machine):
    remove_volumes(machine)
    machine.run('podman volume create second; cd $(podman volume inspect --format "{{.Mountpoint}}" second) && '
                'echo podman >file && chown 7 .')
    start(machine, 'one', 'Volume=second:/bin2')
    assert machine.inside('one', 'cat /bin2/file; stat -c %u /bin2') == 'podman\n7\n'


def test_without_podman_volumes_are_made_all_the_same(machine):
    remove_volumes(machine)
    machine.run('mv /usr/bin/podman /usr/bin/podman.away')
    try:
        machine.write('/etc/containers/systemd/data.volume', '[Volume]\nUser=5\nGroup=6\nLabel=a=b\n')
        start(machine, 'one', 'Volume=alone:/new\nVolume=data.volume:/data')
        machine.inside('one', 'echo x >/new/file')
        assert machine.run(f'stat -c "%a %u %g" {VOLUMES} {VOLUMES}/alone {VOLUMES}/alone/_data '
                           f'{VOLUMES}/systemd-data/_data').out == '700 0 0\n700 0 0\n755 0 0\n755 5 6\n'
        # As it is left by one who was killed when it had been made, and had no owner yet.
        machine.run(f'systemctl stop one data-volume; cd {VOLUMES}/systemd-data; rm -f .keyturn-used; chown 0:0 _data; '
                    'systemctl start one')
        assert machine.run(f'stat -c "%u %g" {VOLUMES}/systemd-data/_data').out == '5 6\n'
    finally:
        machine.run('mv /usr/bin/podman.away /usr/bin/podman; rm /etc/containers/systemd/data.volume')
    # Podman takes it over, with its files.
    assert podman_reads(machine, 'alone') == 'x\n'
    assert 'alone' in machine.run('podman volume ls -q').out.split()


def test_volumes_are_where_containers_conf_says(machine):
    """volume_path; Podman itself goes on with the place that is in its database."""
    remove_volumes(machine)
    machine.write('/etc/containers/containers.conf.d/90-volumes.conf', '[engine]\nvolume_path = "/srv/volumes"\n')
    try:
        start(machine, 'one', 'Volume=moved:/new')
        machine.inside('one', 'echo x >/new/file')
        assert machine.read('/srv/volumes/moved/_data/file') == 'x\n'
        assert '/srv/volumes' in machine.show('keyturn-volume@moved', 'RequiresMountsFor')
    finally:
        machine.run('rm -rf /etc/containers/containers.conf.d/90-volumes.conf /srv/volumes; systemctl stop "keyturn-volume@*"')


def test_no_user_of_the_machine_holds_volumes_up(machine):
    """Where their directory is open for others, anybody can lock it."""
    with machine.another() as other:  # what is early at boot is there before tmpfiles.d(5) are read
        other.run('mkdir -p /var/lib/containers/storage/volumes; rm -r /run/keyturn; /usr/lib/keyturn/libstart volume early')
        assert other.run('stat -c %a /run/keyturn /run/keyturn/.volumes').out.split() == ['755', '600']
    # Not in containers.conf itself, which the machine has: for Podman, as it has no control groups' controllers.
    machine.write('/etc/containers/containers.conf.d/90-volumes.conf', '[engine]\nvolume_path = "/srv/volumes"\n')
    machine.run('mkdir -p -m 0755 /srv/volumes')
    machine.unit('locker', '[Service]\nUser=nobody\nExecStart=flock /srv/volumes sh -c "echo locked; exec sleep 1000"\n')
    machine.run('systemctl start locker')
    machine.wait_for(lambda: 'locked' in machine.journal('locker.service').splitlines())
    machine.write('/etc/containers/systemd/open.volume', '[Volume]\n')
    start(machine, 'one', 'Volume=open.volume:/open')
    assert machine.run('stat -c %a /run/keyturn/.volumes').out == '600\n'
    assert machine.run('setpriv --reuid=nobody --clear-groups flock /run/keyturn/.volumes true', check=False).status != 0
    machine.run('systemctl stop locker one open-volume; rm -r /srv/volumes /etc/containers/containers.conf.d/90-volumes.conf')


def test_a_volume_file_makes_a_service_ahead(machine):
    remove_volumes(machine)
    machine.write('/etc/containers/systemd/data.volume', '[Volume]\nLabel=what=kept\nVolumeName=my-data\nCopy=false\n')
    start(machine, 'one', 'Volume=data.volume:/bin/sub\nMount=type=volume,source=data.volume,destination=/m,ro')
    assert machine.show('data-volume', 'ActiveState') == 'active'
    assert 'data-volume.service' in machine.show('one', 'Requires')
    machine.run('rm /etc/containers/systemd/data.volume')


def test_instances_have_volumes_of_their_own(machine):
    remove_volumes(machine)
    machine.container('data@.volume', '[Volume]\nLabel=of=%i\n', reload=False)
    machine.container('other', '''
        [Container]
        Image=localhost/test/busybox
        Exec=sleep 1000
        StopSignal=SIGKILL
        Volume=data@a.volume:/a
        Mount=type=volume,source=data@%N.volume,destination=/own
    ''', reload=False)
    machine.container('app@', '''
        [Container]
        Image=localhost/test/busybox
        Exec=sh -c "echo %i >/data/file; exec sleep 1000"
        StopSignal=SIGKILL
        Volume=data@.volume:/data
        Volume=data@%i.volume:/again:ro
    ''')
    machine.run('systemctl start app@a app@b other')
    for name in 'ab':
        assert machine.show(f'data-volume@{name}', 'ActiveState') == 'active'
        assert machine.wait_for(lambda: machine.inside(f'app@{name}', 'cat /again/file')) == f'{name}\n'
        assert machine.read(f'{VOLUMES}/systemd-data-{name}/_data/file') == f'{name}\n'
    assert machine.inside('other', 'cat /a/file; ls /own') == 'a\n'
    assert machine.run(f'ls {VOLUMES}').out.split() == ['systemd-data-a', 'systemd-data-b', 'systemd-data-other']
    machine.run('systemctl stop data-volume@a')
    assert machine.show('app@a', 'ActiveState') != 'active' and machine.show('app@b', 'ActiveState') == 'active'


def test_a_device_is_mounted_by_the_volumes_service(machine):
    remove_volumes(machine)
    machine.write('/etc/containers/systemd/mem.volume',
                  '[Volume]\nDevice=tmpfs\nType=tmpfs\nOptions=size=1M,mode=0750\nUser=9\n')
    start(machine, 'one', 'Volume=mem.volume:/mem')
    assert machine.inside('one', "stat -c '%u %a' /mem; df -k /mem | tail -1 | awk '{print $2}'") == '9 750\n1024\n'
    assert machine.run(f'findmnt -no FSTYPE {VOLUMES}/systemd-mem/_data').out == 'tmpfs\n'
    machine.run('systemctl stop one mem-volume')
    assert machine.run(f'findmnt -no FSTYPE {VOLUMES}/systemd-mem/_data', check=False).out == ''
    machine.run('rm /etc/containers/systemd/mem.volume')


def has_mount(machine, volume):
    return machine.run(f'findmnt -no FSTYPE {VOLUMES}/{volume}/_data', check=False).out != '' or \
        machine.run(f'test -e /run/keyturn/.mounted/{volume}', check=False).status == 0


IN_MEMORY = '[Volume]\nDevice=tmpfs\nType=tmpfs\n'


def test_a_device_that_is_taken_out_of_its_file_is_unmounted(machine):
    """Else the container goes on with it, and finds an empty volume after the next boot."""
    remove_volumes(machine)
    file = '/etc/containers/systemd/mem.volume'
    machine.write(file, IN_MEMORY)
    start(machine, 'one', 'Volume=mem.volume:/mem')
    machine.inside('one', 'echo device >/mem/file')
    # Who names it without the file has the same.
    start(machine, 'two', 'Volume=systemd-mem:/mem')
    assert machine.inside('two', 'cat /mem/file') == 'device\n'
    machine.write(file, '[Volume]\n')
    machine.reload()
    machine.run('systemctl stop two; systemctl restart mem-volume one')
    assert machine.inside('one', 'ls /mem') == '' and not has_mount(machine, 'systemd-mem')
    assert 'has no Device= any more' in machine.journal('mem-volume')
    machine.inside('one', 'echo disk >/mem/file')
    machine.run('systemctl restart mem-volume one keyturn-volume@systemd-mem')
    assert machine.inside('one', 'cat /mem/file') == 'disk\n'
    # Somebody unmounts it first: no start fails for ever.
    machine.write(file, IN_MEMORY)
    machine.reload()
    machine.run('systemctl restart mem-volume one')
    assert has_mount(machine, 'systemd-mem')
    machine.write(file, '[Volume]\n')
    machine.reload()
    machine.run(f'systemctl stop one; umount {VOLUMES}/systemd-mem/_data; ! systemctl start one')
    machine.run('systemctl reset-failed; systemctl restart mem-volume; systemctl start one')
    assert machine.inside('one', 'cat /mem/file') == 'disk\n'
    machine.run('systemctl stop one')
    # Another volume is made of the file.
    for name in 'first', 'second':
        machine.write(file, IN_MEMORY + f'VolumeName={name}\n')
        machine.reload()
        machine.run('systemctl restart mem-volume')
    assert has_mount(machine, 'second') and not has_mount(machine, 'first')
    machine.run('systemctl stop mem-volume')


def test_a_volume_whose_file_is_deleted_is_unmounted(machine):
    """When its service stops, and for who names the volume without the file."""
    remove_volumes(machine)
    for name in ('mem', 'many@'):
        machine.write(f'/etc/containers/systemd/{name}.volume', IN_MEMORY)
    start(machine, 'one', 'Volume=mem.volume:/mem\nVolume=many@x.volume:/many')
    machine.inside('one', 'echo device >/mem/file')
    machine.run('rm /etc/containers/systemd/mem.volume /etc/containers/systemd/many@.volume')
    machine.reload()
    assert machine.inside('one', 'cat /mem/file') == 'device\n' and has_mount(machine, 'systemd-mem')
    assert 'the file is gone' in machine.show('mem-volume', 'Description')
    assert machine.run('systemctl restart one', check=False).status != 0
    start(machine, 'one', 'Volume=systemd-mem:/mem')
    assert machine.inside('one', 'ls /mem') == '' and not has_mount(machine, 'systemd-mem')
    assert machine.show('mem-volume', 'ActiveState') == 'inactive'
    assert has_mount(machine, 'systemd-many-x')
    machine.run('systemctl stop many-volume@x')
    assert not has_mount(machine, 'systemd-many-x')
    # A file of another name is the volume's now: what it mounts does not go with the first one's service.
    old, new = (f'/etc/containers/systemd/{name}.volume' for name in ('old', 'new'))
    machine.write(old, IN_MEMORY + 'VolumeName=kept\n')
    start(machine, 'one', 'Volume=old.volume:/mem')
    machine.write(new, machine.read(old))
    machine.run(f'rm {old}')
    start(machine, 'one', 'Volume=new.volume:/mem')
    assert machine.show('old-volume', 'ActiveState') == 'inactive' and has_mount(machine, 'kept')
    assert machine.read('/run/keyturn/.mounted/kept') == 'new-volume.service'
    machine.run('systemctl stop one new-volume')
    assert not has_mount(machine, 'kept')


def test_a_directory_is_bound_as_a_volume(machine):
    remove_volumes(machine)
    machine.run('mkdir -p /srv/bound; echo here >/srv/bound/file')
    machine.write('/etc/containers/systemd/bound.volume', '[Volume]\nDevice=/srv/bound\nType=bind\nOptions=ro\n')
    start(machine, 'one', 'Volume=bound.volume:/b')
    assert machine.inside('one', 'cat /b/file; touch /b/other 2>/dev/null || echo no') == 'here\nno\n'
    assert '/srv/bound' in machine.show('bound-volume', 'RequiresMountsFor').split()
    # Somebody unmounts it: nothing is written to the directory below.
    machine.run(f'systemctl stop one; umount {VOLUMES}/systemd-bound/_data; systemctl start one', check=False)
    assert 'restart the service of its .volume file' in machine.show('one', 'StatusText')
    machine.run('systemctl reset-failed; systemctl restart bound-volume; systemctl start one')
    assert machine.inside('one', 'cat /b/file') == 'here\n'
    machine.run('systemctl stop one bound-volume; ! ls /run/keyturn/.mounted/*')
    machine.run('systemctl stop one bound-volume; rm -r /srv/bound /etc/containers/systemd/bound.volume')


def test_a_volume_of_another_machine_is_mounted_ahead(machine):
    """There is no server here: what mount(8) calls for nfs says what it was given, and mounts something."""
    remove_volumes(machine)
    machine.write('/usr/sbin/mount.nfs', '#!/bin/sh\necho "$@" >/run/mount-nfs\ntest -e /run/no-server && { echo no answer >&2; exit 32; }\n'
                                         'exec mount -i -t tmpfs -o size=1M nfs "$2"\n')
    machine.run('chmod 755 /usr/sbin/mount.nfs')
    machine.write('/etc/containers/systemd/share.volume',
                  '[Volume]\nType=nfs\nDevice=server.example:/export\nOptions=ro,soft,nfsvers=4.2\n')
    start(machine, 'one', 'Volume=share.volume:/share')
    assert machine.inside('one', 'df -k /share').splitlines()[-1].split()[1] == '1024'
    given = machine.read('/run/mount-nfs').split()
    assert given[0] == 'server.example:/export' and {'ro', 'soft', 'nfsvers=4.2'} <= set(given[-1].split(',')), given
    assert 'network-online.target' in machine.show('share-volume', 'After').split()
    machine.run('systemctl stop one share-volume')
    assert machine.run(f'findmnt -no FSTYPE {VOLUMES}/systemd-share/_data', check=False).out == ''
    machine.run('touch /run/no-server')
    assert machine.run('systemctl start one', check=False).status != 0
    assert 'no answer' in machine.journal('share-volume') and machine.show('one', 'MainPID') == '0'
    machine.run('rm -f /run/no-server /usr/sbin/mount.nfs /etc/containers/systemd/share.volume; systemctl reset-failed')


# ---- what the image has


def test_first_use_copies_what_the_image_has_and_never_again(machine):
    remove_volumes(machine)
    start(machine, 'one', 'Volume=copied:/etc\nVolume=fresh:/fresh\nVolume=sub:/bin\nUser=12:13')
    image = machine.run('m=$(podman image mount localhost/test/busybox); ls -A $m/bin | wc -l; '
                        'stat -c "%u %a" $m/bin; podman image unmount -a >/dev/null').out
    assert machine.run(f'ls -A {VOLUMES}/sub/_data | wc -l; stat -c "%u %a" {VOLUMES}/sub/_data').out == image
    assert machine.run(f'stat -c "%u:%g" {VOLUMES}/fresh/_data').out == '12:13\n'
    assert machine.run(f'readlink {VOLUMES}/sub/_data/ls').out == 'busybox\n'
    # Emptied, it stays empty.
    machine.run(f'systemctl stop one; find {VOLUMES}/fresh/_data {VOLUMES}/copied/_data -mindepth 1 -delete')
    machine.run('systemctl start one')
    assert 'ls' in machine.inside('one', 'ls /bin').split()
    assert machine.run(f'ls -A {VOLUMES}/copied/_data | grep -v -e hosts -e hostname -e resolv.conf -e mtab',
                       check=False).out == ''


def test_a_volume_that_a_reader_has_left_as_it_was_is_the_next_ones(machine):
    remove_volumes(machine)
    start(machine, 'reader', 'Volume=common:/common:ro')
    start(machine, 'writer', 'Volume=common:/common\nUser=12:13', exec_='sh -c "touch /common/x && exec sleep 1000"')
    assert machine.wait_for(lambda: machine.run(f'stat -c "%u:%g" {VOLUMES}/common/_data/x', check=False).out) == '12:13\n'
    start(machine, 'other', 'Volume=common:/common\nUser=14')
    assert machine.run(f'stat -c "%u:%g" {VOLUMES}/common/_data').out == '12:13\n'


def test_an_interrupted_copy_is_done_by_the_next_start(machine):
    remove_volumes(machine)
    # As a start leaves it that is killed while it copies, and one that is killed while it moves.
    machine.run(f'mkdir -p {VOLUMES}/half/_data/.keyturn-copying/x {VOLUMES}/moving/_data/.keyturn-copied; '
                f'chmod 700 {VOLUMES}/*; echo junk >{VOLUMES}/half/_data/.keyturn-copying/busybox; '
                f'echo a >{VOLUMES}/moving/_data/first; echo b >{VOLUMES}/moving/_data/.keyturn-copied/second')
    start(machine, 'one', 'Volume=half:/bin\nVolume=moving:/usr')
    assert machine.run(f'ls -A {VOLUMES}/moving/_data').out == 'first\nsecond\n'
    assert machine.run(f'test -x {VOLUMES}/half/_data/busybox && ls -A {VOLUMES}/half/_data | grep -c keyturn',
                       check=False).out == '0\n'


def test_two_containers_begin_to_use_a_volume_at_once(machine):
    remove_volumes(machine)
    for name in 'ab':
        machine.container(name, '[Container]\nImage=localhost/test/busybox\nExec=sleep 1000\nStopSignal=SIGKILL\n'
                                'Volume=both:/bin\n', reload=False)
    machine.reload()
    for _ in range(5):
        machine.run(f'systemctl stop a b; rm -rf {VOLUMES}/both; systemctl start a b')
        assert machine.run(f'ls -A {VOLUMES}/both/_data | grep -c -e keyturn', check=False).out == '0\n'
        assert machine.inside('a', 'ls /bin | wc -l') == machine.inside('b', 'ls /bin | wc -l')


def test_a_read_only_root_has_writable_volumes(machine):
    remove_volumes(machine)
    start(machine, 'one', 'ReadOnly=true\nVolume=/anonymous\nVolume=named:/named\nMount=type=volume,destination=/m')
    machine.inside('one', 'echo x >/anonymous/x && echo x >/named/x && echo x >/m/x && ! touch /x')
    start(machine, 'one', 'ReadOnly=true\nReadOnlyTmpfs=false\nVolume=/anonymous\nVolume=named:/named:ro')
    machine.inside('one', 'echo x >/anonymous/x && ! touch /named/x && ! touch /tmp/x')


def test_anonymous_volumes_go_with_the_container(machine):
    start(machine, 'one', 'Volume=/some/where\nUser=12:13')
    assert machine.inside('one', 'touch /some/where/x && stat -c %u:%g /some/where') == '12:13\n'
    machine.run('systemctl restart one')
    assert machine.inside('one', 'ls /some/where') == ''


def test_an_images_volumes_are_kept_where_a_file_asks_for_it(machine):
    remove_volumes(machine)
    for name, keys in (('one', 'ImageVolume=bind'), ('two', 'PodmanArgs=--image-volume=bind\nReadOnly=true')):
        start(machine, name, keys, image='localhost/test/redis')
        fresh = machine.inside(name, 'stat -c %U:%a /data')
        machine.inside(name, f'echo {name} >/data/written')
        machine.run(f'systemctl restart {name}')
        assert machine.inside(name, 'cat /data/written') == f'{name}\n'
        assert machine.inside(name, 'stat -c %U:%a /data') == fresh
    assert machine.run(f'ls {VOLUMES}').out == 'systemd-one_image-data\nsystemd-two_image-data\n'
    assert machine.run(f'cat {VOLUMES}/systemd-two_image-data/_data/written').out == 'two\n'
    mounts = machine.run(f'grep " /data " /proc/{machine.show("one", "MainPID")}/mountinfo').out
    assert 'nosuid,nodev' in mounts, mounts
    # One that another user namespace maps is its user's there.
    start(machine, 'three', 'ImageVolume=bind\nUIDMap=0:100000:65536\nGIDMap=0:100000:65536', image='localhost/test/redis')
    assert machine.inside('three', 'stat -c %U:%a /data; echo x >/data/written') == fresh
    machine.run('systemctl restart three')
    assert machine.inside('three', 'cat /data/written') == 'x\n'
    # What a file names itself is not made, and whatever the image has as default is gone with the container.
    remove_volumes(machine)
    start(machine, 'one', 'ImageVolume=bind\nVolume=mine:/data', image='localhost/test/redis')
    start(machine, 'two', '', image='localhost/test/redis')
    assert machine.run(f'ls {VOLUMES}').out == 'mine\n'


def test_a_volume_that_is_removed_is_made_anew(machine):
    remove_volumes(machine)
    start(machine, 'one', 'Volume=gone:/bin')
    machine.run('podman volume rm -f gone')
    assert machine.show('one', 'ActiveState') == 'active'
    machine.run('systemctl restart one')
    assert machine.run(f'test -x {VOLUMES}/gone/_data/busybox && ls -A {VOLUMES}/gone').out == '.keyturn-used\n_data\n'
    # So is one whose files alone are removed: it is filled, and has an owner, as at its first use.
    start(machine, 'one', 'Volume=gone:/bin\nVolume=empty:/new\nUser=7')
    machine.run(f'systemctl stop one; rm -rf {VOLUMES}/gone/_data {VOLUMES}/empty/_data; systemctl start one')
    assert machine.run(f'test -x {VOLUMES}/gone/_data/busybox && stat -c %u {VOLUMES}/empty/_data').out == '7\n'


# ---- options and types


def test_an_overlay_keeps_the_directory_as_it_is(machine):
    remove_volumes(machine)
    machine.run('rm -rf /srv/lower; mkdir -p /srv/lower/dir; echo old >/srv/lower/file; chown 7:8 /srv/lower')
    start(machine, 'one', 'Volume=/srv/lower:/o:O\nVolume=base:/bin:O\nVolume=/srv/lower:/p:O')
    assert machine.inside('one', 'cat /o/file; echo new >/o/file; touch /o/dir/x /bin/x; rm -r /p/dir; '
                                  'stat -c %u:%g /o') == 'old\n7:8\n'
    assert machine.run(f'cat /srv/lower/file; ls /srv/lower/dir; ls {VOLUMES}/base/_data/x', check=False).out == 'old\n'
    machine.run('systemctl restart one')
    assert machine.inside('one', 'cat /o/file; ls /o/dir; ls -d /p/dir') == 'old\n/p/dir\n'


def test_glob_image_ramfs_and_devpts(machine):
    machine.run('rm -rf /srv/glob; mkdir -p /srv/glob/a1; echo 2 >/srv/glob/a2; echo b >/srv/glob/b')
    start(machine, 'one', 'Mount=type=glob,source=/srv/glob/a*,destination=/g,ro\n'
                          'Mount=type=image,source=localhost/test/four-layers,destination=/image\n'
                          'Mount=type=image,source=localhost/test/busybox,destination=/part,subpath=/bin,readwrite=false\n'
                          'Mount=type=glob,source=/srv/glob/b*\nMount=type=ramfs,destination=/ram\nMount=type=devpts,destination=/pts,mode=620,gid=5\n')
    assert machine.inside('one', 'ls /g; cat /g/a2; ls /srv/glob; cat /srv/glob/b') == 'a1\na2\n2\nb\nb\n'
    assert machine.inside('one', 'test -e /image/bin && ! touch /image/x /part/x 2>/dev/null && cmp /bin/busybox '
                                  '/part/busybox && touch /ram/x && echo yes') == 'yes\n'
    types = machine.inside('one', 'grep -e /ram -e /pts /proc/self/mounts')
    assert 'ramfs /ram ramfs' in types and 'devpts /pts devpts' in types, types
    refuses(machine, 'two', 'Mount=type=glob,source=/srv/glob/z*,destination=/g', 'nothing matches')
    refuses(machine, 'two', 'Mount=type=image,source=localhost/none,destination=/g', 'localhost/none')


def test_a_subpath_is_part_of_a_volume(machine):
    remove_volumes(machine)
    machine.run(f'mkdir -p {VOLUMES}/parts/_data/a/b; chmod 700 {VOLUMES}/parts; echo x >{VOLUMES}/parts/_data/a/b/file')
    start(machine, 'one', 'Mount=type=volume,source=parts,destination=/p,subpath=a/b')
    assert machine.inside('one', 'cat /p/file') == 'x\n'
    refuses(machine, 'two', 'Mount=type=volume,source=parts,destination=/p,subpath=a/c', "subpath 'a/c'")


# ---- attacks


def test_links_in_a_volume_lead_nowhere_else(machine):
    """A payload has put links into its volume; another container, or the next start, mounts what they name."""
    remove_volumes(machine)
    machine.run('mkdir -p /srv/secret/_data; echo secret >/srv/secret/file; echo secret >/etc/only-the-hosts')
    start(machine, 'evil', 'Volume=shared:/v')
    machine.inside('evil', 'ln -s /srv/secret /v/absolute; ln -s ../../../../../../srv/secret /v/up; '
                            'ln -s /etc /v/etc; mkdir /v/dir; ln -s /v/dir /v/self')
    for sub in ('absolute', 'up', '../../../../../../srv/secret', 'absolute/_data'):
        refuses(machine, 'two', f'Mount=type=volume,source=shared,destination=/p,subpath={sub}', 'subpath')
    refuses(machine, 'two', 'Mount=type=volume,source=shared,destination=/p,subpath=etc/only-the-hosts', 'subpath')


def test_an_image_with_links_cannot_reach_the_host_by_the_copy(machine):
    """The destination of a volume, and what is copied, are the image's: links are its own."""
    remove_volumes(machine)
    machine.run('rm -rf /srv/root; mkdir -p /srv/root/bin /srv/root/etc /srv/root/proc /srv/root/sys /srv/root/dev '
                '/srv/root/tmp /srv/root/d/x; cp /bin/busybox /srv/root/bin; ln -s busybox /srv/root/bin/sh; '
                'ln -s busybox /srv/root/bin/sleep; cd /srv/root; ln -s /../../../../etc/ssl out; '
                'ln -s /srv/secret d/link; mknod d/disk b 8 0; mkfifo d/pipe; cp bin/busybox d/suid; chmod 4755 d/suid; '
                'ln d/suid d/hard; setfattr -n user.x -v y d/suid 2>/dev/null; mkdir -p etc/ssl; echo its-own >etc/ssl/f')
    machine.container('evil', '[Container]\nRootfs=/srv/root:O\nExec=sleep 1000\nStopSignal=SIGKILL\n'
                              'Volume=out:/out\nVolume=d:/d\n')
    machine.run('systemctl start evil')
    assert machine.run(f'cat {VOLUMES}/out/_data/f; ls {VOLUMES}/out/_data').out == 'its-own\nf\n'
    assert machine.run(f'cd {VOLUMES}/d/_data; ls; readlink link; stat -c "%a %h" suid; '
                       f'test suid -ef hard && echo same').out == \
        'hard\nlink\npipe\nsuid\nx\n/srv/secret\n4755 2\nsame\n'


def test_a_volume_changed_while_it_is_filled_is_all_that_suffers(machine):
    """Another container, with the same volume, moves and links what the first use is writing."""
    remove_volumes(machine)
    machine.run('mkdir -p /srv/secret; echo secret >/srv/secret/file; chmod 600 /srv/secret/file')
    start(machine, 'evil', 'Volume=shared:/v:nocopy',
          exec_="sh -c 'cd /v; while :; do mv .keyturn-copying/busybox away; ln -s /srv/secret/file "
                ".keyturn-copying/busybox; ln -s /srv/secret .keyturn-copied; rm -f away .keyturn-copied; done "
                "2>/dev/null'")
    for _ in range(10):
        machine.run(f'rm -f {VOLUMES}/shared/.keyturn-used; find {VOLUMES}/shared/_data -mindepth 1 -delete', check=False)
        machine.container('two', '[Container]\nImage=localhost/test/busybox\nExec=/bin/busybox true\nVolume=shared:/bin\n'
                                 '[Service]\nType=oneshot\n')
        machine.run('systemctl start two', check=False)
    assert machine.run('cat /srv/secret/file; stat -c %a /srv/secret/file; ls /srv/secret').out == 'secret\n600\nfile\n_data\n' \
        or machine.run('cat /srv/secret/file; stat -c "%a %u" /srv/secret/file').out == 'secret\n600 0\n'


def test_no_file_of_the_hosts_gets_a_name_in_a_volume(machine):
    """Files with several names are linked to their copies: who has the volume as well puts a link on the way there."""
    victim = os.path.dirname(VOLUMES) + '/victim'  # of the same file system
    remove_volumes(machine)
    machine.run(f'rm -rf /srv/root {victim}; mkdir -p {victim} /srv/root/bin /srv/root/etc /srv/root/tmp /srv/root/d/a '
                '/srv/root/d/b; cp /bin/busybox /srv/root/bin; ln -s busybox /srv/root/bin/true; cd /srv/root/d; '
                f'for i in $(seq 300); do echo ours >a/$i; ln a/$i b/$i; echo the-hosts >{victim}/$i; done')
    start(machine, 'evil', 'Volume=shared:/v:nocopy', exec_="sh -c 'cd /v; while :; do for i in a b; do "
          f"mv .keyturn-copying/$i .keyturn-copying/x$i && ln -s {victim} .keyturn-copying/$i; done; done 2>/dev/null'")
    machine.container('two', '[Container]\nRootfs=/srv/root:O\nExec=/bin/true\nVolume=shared:/d\n[Service]\nType=oneshot\n')
    for _ in range(5):
        machine.run(f'rm -rf {VOLUMES}/shared/.keyturn-used; find {VOLUMES}/shared/_data -mindepth 1 -delete', check=False)
        machine.run('systemctl start two', check=False)
        assert machine.run(f'find {victim} -type f -links +1').out == ''


def test_a_new_owner_is_given_to_no_file_of_others(machine):
    """U changes what is in the volume: not what links in it name, nor what has a name elsewhere, nor other mounts."""
    remove_volumes(machine)
    machine.run('rm -rf /srv/u /srv/other; mkdir -p /srv/u/dir/deep /srv/other; echo x >/srv/other/file; '
                'echo x >/srv/u/dir/deep/file; ln -s /srv/other/file /srv/u/link; ln -s /srv/other /srv/u/dirlink; '
                'ln /srv/other/file /srv/u/hard; mkdir /srv/u/mount; mount -t tmpfs x /srv/u/mount; touch /srv/u/mount/x')
    start(machine, 'one', 'Volume=/srv/u:/u:U\nVolume=owned:/new:U\nUser=12:13')
    assert machine.run('stat -c "%u:%g" /srv/u /srv/u/dir/deep/file /srv/other /srv/other/file /srv/u/mount/x').out == \
        '12:13\n12:13\n0:0\n0:0\n0:0\n'
    assert machine.run('stat -c "%u:%g" /srv/u/link').out == '12:13\n'
    assert machine.run(f'stat -c "%u:%g" {VOLUMES}/owned/_data').out == '12:13\n'
    assert 'hard links' in machine.journal('one.service')
    machine.run('umount /srv/u/mount')
    machine.run('ln -s /srv/other /srv/u/dir/again')
    refuses(machine, 'two', 'Volume=/var:/u:U\nUser=12', 'name a directory below it')
    machine.run('ln -sfn /var /srv/to-var')
    refuses(machine, 'two', 'Volume=/srv/to-var:/u:U\nUser=12', 'name a directory below it')


def test_a_deep_tree_keeps_no_container_from_starting(machine):
    """keyturn(7): 'Nothing that a container leaves behind keeps a container from starting.' More directories in each other
    than a service has descriptors, and with a longer path than there is; files and mounts beside them."""
    machine.run('umount /srv/u/d/mount 2>/dev/null; rm -rf /srv/u /srv/other; mkdir -p /srv/u /srv/other; echo x >/srv/other/file')
    start(machine, 'deep', 'Volume=/srv/u:/u:U\nUser=12:13',
          exec_="sh -c 'cd /u; i=0; while [ $$i -lt 1100 ]; do mkdir directory; cd directory; i=$$((i+1)); done; "
                "ln -s /srv/other there; ln -s /srv/other/file link; echo x >file; echo made; sleep 1000'")
    machine.wait_for(lambda: 'made' in machine.journal('deep.service'))
    machine.run('systemctl stop deep; mkdir -p /srv/u/d/mount; mount -t tmpfs x /srv/u/d/mount; touch /srv/u/d/mount/x')
    start(machine, 'two', 'Volume=/srv/u:/u:U\nUser=14:15')
    assert machine.run('find /srv/u -xdev ! -uid 14 -o ! -gid 15').out == '/srv/u/d/mount\n'
    assert machine.run('find /srv/u -uid 14 -name link | wc -l').out == '1\n'
    assert machine.run('stat -c "%u:%g" /srv/other /srv/other/file /srv/u/d/mount /srv/u/d/mount/x').out == '0:0\n' * 4
    machine.run('systemctl stop two; umount /srv/u/d/mount')


def test_a_payload_that_moves_directories_while_owners_change_gains_nothing(machine):
    """It takes the directories that the walk is deep in out of the tree, and puts them back. The walk says so, or it is through."""
    machine.run('rm -rf /srv/all; mkdir -p /srv/all/u /srv/all/other; echo x >/srv/all/other/file; chown 100 /srv/all/other/file; '
                'd=/srv/all/u; for i in $(seq 100); do d=$d/d; mkdir $d; touch $d/a $d/z; done')
    start(machine, 'evil', 'Volume=/srv/all:/all', exec_="sh -c 'while :; do "
          "mv /all/u/d/d/d /all/other/d; mv /all/other/d /all/u/d/d/d; done 2>/dev/null'")
    machine.container('two', '[Unit]\nStartLimitIntervalSec=0\n[Container]\nImage=localhost/test/busybox\nExec=true\nVolume=/srv/all/u:/u:U\n'
                             'User=12:13\n[Service]\nType=oneshot\n')
    for _ in range(25):
        if machine.run('systemctl start two', check=False).status:
            said = machine.journal('two.service')
            assert 'directories in it are moved all the time: stop what moves them' in said, said
    assert machine.run('stat -c "%u:%g" /srv/all /srv/all/other /srv/all/other/file').out == '0:0\n0:0\n100:0\n'
    machine.run('systemctl stop evil; test -e /srv/all/u/d/d/d || mv /srv/all/other/d /srv/all/u/d/d/d; systemctl start two')
    assert machine.run('find /srv/all/u ! -uid 12').out == ''


def test_a_payload_that_renames_while_owners_change_gains_nothing(machine):
    machine.run('rm -rf /srv/u /srv/other; mkdir -p /srv/u/a /srv/other; echo x >/srv/other/file')
    start(machine, 'evil', 'Volume=/srv/u:/u',
          exec_="sh -c 'cd /u; while :; do mkdir -p a; touch a/file; mv a b; ln -s /srv/other a; rm a; mv b a; done "
                "2>/dev/null'")
    machine.container('two', '[Container]\nImage=localhost/test/busybox\nExec=true\nVolume=/srv/u:/u:U\nUser=12:13\n'
                             '[Service]\nType=oneshot\n')
    for _ in range(15):
        machine.run('systemctl start two', check=False)
    assert machine.run('stat -c "%u:%g" /srv/other /srv/other/file').out == '0:0\n0:0\n'


def test_why_a_volume_keeps_its_container_from_starting(machine):
    """systemd says no more than that a dependency has failed."""
    machine.container('gone.volume', '[Volume]\nDevice=/dev/there-is-none\nType=ext4\n', reload=False)
    machine.container('needs', '[Container]\nImage=localhost/test/busybox\nExec=true\nVolume=gone.volume:/data\n')
    said = machine.run('systemctl start needs', check=False).err
    assert 'dependency' in said, said
    listed = machine.run('keyturnctl list needs').out
    assert re.search(r"inactive \(dead\): gone-volume.service has failed: .*mount: .*there-is-none", listed), listed
    machine.run('systemctl reset-failed gone-volume.service')


def test_an_images_files_as_a_volume(machine):
    machine.container('base.image', '[Image]\nImage=localhost/test/debian\n', reload=False)
    machine.container('files.volume', '[Volume]\nDriver=image\nImage=base.image\n', reload=False)
    start(machine, 'reads', 'Volume=files.volume:/data:ro\nMount=type=image,source=base.image,destination=/also')
    assert 'Debian' in machine.inside('reads', 'cat /data/etc/os-release /also/etc/os-release')
    for path in ('/data', '/also'):
        assert machine.run(f'keyturnctl exec reads touch {path}/x', check=False).status == 1
        options = machine.inside('reads', f"grep ' {path} ' /proc/mounts").split()[3].split(',')
        assert {'ro', 'nodev'} <= set(options), options
    assert machine.show('files-volume', 'LoadState') == 'loaded'
    machine.run('systemctl stop reads; rm /etc/containers/systemd/files.volume /etc/containers/systemd/base.image')


def test_instances_of_an_images_files(machine):
    """Which image is said by the volume's instance, not by the container's."""
    machine.container('base@.image', '[Image]\nImage=localhost/test/%i\n', reload=False)
    machine.container('files@.volume', '[Volume]\nDriver=image\nImage=base@%i.image\n', reload=False)
    lines = ('Image=base@.image\nVolume=files@.volume:/own:ro\nVolume=files@debian.volume:/other:ro\n'
             'Mount=type=volume,source=files@debian.volume,destination=/mounted,ro\nExec=sleep 1000\nStopSignal=SIGKILL\n')
    machine.container('app@', f'[Container]\n{lines}')
    machine.run('systemctl start app@busybox')
    for path, is_debian in (('/own', False), ('/other', True), ('/mounted', True)):
        assert ('debian_version' in machine.inside('app@busybox', f'ls {path}/etc')) == is_debian, path
        assert machine.run(f'keyturnctl exec app@busybox touch {path}/x', check=False).status == 1
    machine.run('systemctl stop app@busybox')
