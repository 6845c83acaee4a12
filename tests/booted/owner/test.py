# SPDX-License-Identifier: LGPL-2.1-or-later
"""User= in [Service]: a container that belongs to a user of the host, who has no session."""

IMAGE = 'localhost/test/busybox'
ALICE, BOB = 1234, 1235


def prepare(machine, subids='alice:500000:65536\n'):
    if machine.run('id alice', check=False).status:
        machine.run(f'groupadd -g 4400 cameras; useradd -u {ALICE} -m -G cameras alice; useradd -u {BOB} -m bob; '
                    'chmod 0700 /home/alice /home/bob')
    for file in ('/etc/subuid', '/etc/subgid'):
        machine.write(file, subids)
    machine.run('rm -rf /home/alice/* /srv/roots; mkdir -m 0700 /srv/roots; echo secret >/srv/roots/secret; '
                'su alice -c "mkdir ~/data; echo hers >~/data/file; chmod 0600 ~/data/file"')


def start_as(machine, who, name, keys, command, service, check, image):
    machine.container(name, f'''
        [Unit]
        StartLimitIntervalSec=0
        [Container]
        {image}
        Exec={command}
        {keys}
        [Service]
        {who}
        KillSignal=SIGKILL
        {service}
    ''')
    return machine.run(f'systemctl restart {name}', check=check)


def start(machine, name='owned', keys='', command='sleep 1000', user='alice', service='', check=True,
          image=f'Image={IMAGE}', **subids):
    prepare(machine, **subids)
    return start_as(machine, f'User={user}', name, keys, command, service, check, image)


def inside(machine, command, name='owned', check=True):
    return machine.run(['keyturnctl', 'exec', name, 'sh', '-c', command], check=check).out.strip()


def fails(machine, words, **how):
    assert start(machine, check=False, **how).status, 'it has started'
    said = machine.journal('owned')
    assert words in said, said


def maps(machine, name='owned'):
    pid = machine.show(name, 'MainPID')
    return [tuple(map(int, line.split())) for line in
            machine.run(f'cat /proc/{pid}/uid_map /proc/{pid}/gid_map').out.strip().split('\n')]


def owner_of(machine, path):
    return machine.run(['stat', '-c', '%u:%g', path]).out.strip()


# ---- whose it is

def test_root_inside_is_the_user_outside(machine):
    start(machine)
    assert maps(machine) == [(0, ALICE, 1), (1, 500000, 65536)] * 2, maps(machine)
    assert owner_of(machine, f'/proc/{machine.show("owned", "MainPID")}') == f'{ALICE}:{ALICE}'
    assert inside(machine, 'id -u; id -g') == '0\n0'
    assert inside(machine, 'touch /x && chown 7:8 /x && stat -c %u:%g /x') == '7:8'
    assert machine.show('owned', 'User') == '', 'libstart itself is to be root'


def test_what_libstart_keeps_is_roots(machine):
    start(machine)
    assert owner_of(machine, '/run/keyturn/owned') == '0:0'
    assert machine.run('su alice -c "touch /run/keyturn/owned/x"', check=False).status
    assert machine.run('su alice -c "cat /run/keyturn/owned/*/config.json"', check=False).status


def test_a_group_of_hers(machine):
    start(machine, service='Group=cameras')
    assert maps(machine)[2] == (0, 4400, 1), maps(machine)


def test_a_number(machine):
    start(machine, user=str(ALICE), subids='1234:700000:10\n')
    assert maps(machine)[0] == (0, ALICE, 1), maps(machine)
    fails(machine, "'4711' is not in /etc/passwd: say a group", user='4711')
    start(machine, user='4711', service='Group=4712')
    assert maps(machine) == [(0, 4711, 1), (0, 4712, 1)], maps(machine)


def test_a_user_without_further_ids(machine):
    start(machine, subids='')
    assert maps(machine) == [(0, ALICE, 1)] * 2, maps(machine)
    assert "has no ids for 'alice'" in machine.journal('owned')
    assert inside(machine, 'chown 7 /tmp', check=False) == ''


def test_ids_in_pieces(machine):
    start(machine, subids='alice:500000:10\nbob:600000:65536\nalice:700000:20\n', keys='UserNS=keep-id:uid=12,gid=3')
    assert maps(machine) == [(0, 500000, 10), (10, 700000, 2), (12, ALICE, 1), (13, 700002, 18),
                             (0, 500000, 3), (3, ALICE, 1), (4, 500003, 7), (11, 700000, 20)], maps(machine)


def test_a_record_of_a_user(machine):
    """Of nss-systemd(8), in a file; /etc/passwd comes first."""
    prepare(machine)
    record = '{"userName":"carol","uid":1300,"gid":1301,"memberOf":["cameras","nothing"]}'
    machine.write('/run/userdb/carol.user', record)
    machine.write('/run/userdb/1300.user', record)
    machine.write('/run/userdb/alice.user', '{"userName":"alice","uid":0}')
    for user in ('carol', '1300'):
        start(machine, user=user, subids='carol:800000:65536\n', keys='GroupAdd=keep-groups')
        assert maps(machine) == [(0, 1300, 1), (1, 800000, 65536), (0, 1301, 1), (1, 800000, 65536)], maps(machine)
        groups = machine.run(f'grep Groups: /proc/{machine.show("owned", "MainPID")}/status').out
        assert groups.split() == ['Groups:', '1301', '4400'], groups
    start(machine)
    assert maps(machine)[0] == (0, ALICE, 1), maps(machine)
    machine.write('/etc/userdb/carol.user', '{"userName":"carol","uid":0}')
    fails(machine, "'carol' is root", user='carol')
    machine.write('/etc/userdb/carol.user', '{"userName":"carol"')
    fails(machine, "'/etc/userdb/carol.user': line 1: not JSON", user='carol')
    machine.write('/etc/userdb/carol.user', '{"userName":"mallory","uid":1300}')
    fails(machine, "'carol' is not in /etc/passwd", user='carol')


def test_keep_id(machine):
    start(machine, keys='UserNS=keep-id\nVolume=/home/alice/data:/data')
    assert inside(machine, 'id -u; id -g') == f'{ALICE}\n{ALICE}'
    assert inside(machine, 'cat /data/file; stat -c %u:%g /data/file') == f'hers\n{ALICE}:{ALICE}'


def test_nobody_is_called_so(machine):
    fails(machine, "User= in [Service]): 'carol' is not in /etc/passwd", user='carol')


def test_a_template_for_each_user(machine):
    prepare(machine)
    machine.container('of@', f'''
        [Container]
        Image={IMAGE}
        Exec=sleep 1000
        [Service]
        User=%i
        KillSignal=SIGKILL
    ''')
    machine.run('systemctl start of@alice of@bob')
    assert maps(machine, 'of@alice')[0] == (0, ALICE, 1) and maps(machine, 'of@bob')[0] == (0, BOB, 1)


# ---- what is hers

def test_sources_are_opened_with_her_rights(machine):
    start(machine, keys='Volume=/home/alice/data:/data\nEnvironmentFile=/home/alice/data/file')
    assert inside(machine, 'cat /data/file && echo more >>/data/file && stat -c %u /data/file') == 'hers\n0'
    assert machine.read('/home/alice/data/file') == 'hers\nmore\n'
    fails(machine, 'Permission denied', keys='Volume=/srv/roots/secret:/secret:ro,z')
    fails(machine, 'Permission denied', keys='Volume=/home/bob/.profile:/data')
    fails(machine, 'Permission denied', keys='Rootfs=/srv/roots/tree', image='')
    # What she can name can be mounted, as in her own namespaces; what is in it is not hers.
    start(machine, keys='Volume=/srv/roots:/data')
    assert 'Permission denied' in inside(machine, 'ls /data 2>&1; cat /data/secret 2>&1; touch /data/x 2>&1', check=False)
    assert machine.run('ls /srv/roots').out == 'secret\n'
    fails(machine, 'Permission denied', keys='EnvironmentFile=/srv/roots/secret')
    fails(machine, 'nothing matches', keys='Mount=type=glob,source=/srv/roots/*,destination=/data')


def test_links_of_hers_lead_where_she_can_go(machine):
    prepare(machine)
    machine.run('su alice -c "mkdir ~/all"')
    for target in ('/srv/roots/secret', '/proc/self/fd/3', '/proc/self/cwd', '/proc/1/root/srv/roots/secret',
                   '/proc/self/root/srv/roots/secret'):
        machine.run(f'su alice -c "ln -sfn {target} ~/all/link"')
        for writable in ('', 'Volume=/home/alice/all:/all\n'):
            machine.container('owned', f'''
                [Unit]
                StartLimitIntervalSec=0
                [Container]
                Image={IMAGE}
                Exec=sleep 1000
                {writable}Volume=/home/alice/all/link:/data
                [Service]
                User=alice
                KillSignal=SIGKILL
            ''')
            machine.mark()
            assert machine.run('systemctl restart owned', check=False).status, (target, writable)
            said = machine.journal('owned')
            assert any(words in said for words in ('Permission denied', 'symbolic links', 'is not followed')), said


def test_she_exchanges_what_is_opened(machine):
    """She has only the moment between a look and an opening, and there is none."""
    prepare(machine)
    machine.run('su alice -c "mkdir ~/swap ~/swap/good; echo hers >~/swap/good/secret; ln -s /srv/roots ~/swap/bad"')
    machine.container('owned', f'''
        [Container]
        Image={IMAGE}
        Exec=sh -c 'cat /data/secret; exec sleep 1000'
        Volume=/home/alice/swap/it:/data
        [Service]
        User=alice
        KillSignal=SIGKILL
        [Unit]
        StartLimitIntervalSec=0
    ''')
    machine.unit('swapper.service', '''
        [Service]
        User=alice
        ExecStart=perl -e 'chdir "/home/alice/swap"; while (1) { symlink "good", "new"; rename "new", "it"; \
            symlink "/srv/roots", "new"; rename "new", "it" }'
    ''')
    machine.run('systemctl start swapper')
    said = ''
    for _ in range(6):
        machine.run('for i in $(seq 40); do systemctl restart owned; sleep 0.02; done', check=False)
        said = machine.journal('owned')
        if 'hers' in said and 'Permission denied' in said:
            break
    machine.run('systemctl stop swapper owned', check=False)
    assert 'hers' in said and 'Permission denied' in said, 'both have to have happened'
    assert not [line for line in said.splitlines() if line == 'secret'], said


def test_groups_of_hers_open_devices(machine):
    prepare(machine)
    machine.run('rm -f /dev/camera; mknod /dev/camera c 1 3; chown root:cameras /dev/camera; chmod 0660 /dev/camera')
    for keys, succeeds in (('', False), ('GroupAdd=keep-groups', True)):
        start(machine, keys='AddDevice=/dev/camera\n' + keys)
        # keyturnctl exec has the groups of the container's configuration; the payload itself those that are kept.
        pid = machine.show('owned', 'MainPID')
        groups = machine.run(f'grep Groups: /proc/{pid}/status').out.split()[1:]
        assert ('4400' in groups) == succeeds, groups
        start(machine, keys='AddDevice=/dev/camera\n' + keys,
              command=f"sh -c 'echo x >/dev/camera && echo opened; echo tried-{succeeds}; sleep 1000'")
        machine.wait_for(lambda: f'tried-{succeeds}' in machine.journal('owned').splitlines())
        machine.run('systemctl stop owned')
        assert ('opened' in machine.journal('owned').splitlines()) == succeeds, machine.journal('owned')


def test_volumes_and_secrets(machine):
    machine.run('podman secret rm word; printf hunter2 | podman secret create word -', check=False)
    start(machine, keys='Volume=hers:/data\nSecret=word')
    assert inside(machine, 'cat /run/secrets/word') == 'hunter2'
    assert inside(machine, 'touch /data/x && stat -c %u /data/x') == '0'
    assert owner_of(machine, '/var/lib/containers/storage/volumes/hers/_data') == f'{ALICE}:{ALICE}'


# ---- what else there is

def test_a_network_of_its_own(machine):
    start(machine, keys='Network=bridge', command='nc -ll -p 80 -e cat')
    assert maps(machine)[0] == (0, ALICE, 1)
    assert 'eth0' in inside(machine, 'ip addr')
    machine.run('systemctl restart owned')
    assert 'eth0' in inside(machine, 'ip addr')


def test_health_and_restart(machine):
    start(machine, keys='HealthCmd=test $(id -u) = 0\nHealthInterval=1s\nNotify=healthy', service='Restart=always\nRestartSec=0')
    before = machine.show('owned', 'MainPID')
    machine.run(f'su alice -c "kill -9 {before}"')
    machine.wait_for(lambda: machine.show('owned', 'MainPID') not in ('0', before) and
                     machine.show('owned', 'ActiveState') == 'active')
    assert maps(machine)[0] == (0, ALICE, 1)


def test_no_more_than_she_may(machine):
    """In the payload's hands: nothing of root's, and no way to make something root's."""
    start(machine, keys='AddCapability=all\nSecurityLabelDisable=true\nVolume=/home/alice/data:/data\nVolume=/:/host:ro')
    assert inside(machine, 'cat /host/srv/roots/secret 2>&1', check=False).endswith('Permission denied')
    assert inside(machine, 'cat /host/etc/shadow 2>&1', check=False).endswith('Permission denied')
    inside(machine, 'cp /bin/busybox /data/su && chmod 4755 /data/su')
    assert machine.run('stat -c %u:%a /home/alice/data/su').out.strip() == f'{ALICE}:4755'
    assert inside(machine, 'mknod /data/sda b 8 0 2>&1', check=False).endswith('Operation not permitted')
    inside(machine, 'mount -o remount,rw /host; mount -o remount,rw,bind /host; touch /host/srv/made-by-it', check=False)
    assert machine.run('test -e /srv/made-by-it', check=False).status
    assert inside(machine, 'chown 0:0 /host/home/alice/data 2>&1; kill -9 1 2>&1; nsenter -t 1 -m true 2>&1; echo end',
                  check=False).endswith('end')


def test_nothing_is_left(machine):
    start(machine, keys='Volume=/home/alice/data:/data')
    machine.run('systemctl stop owned')
    before = machine.settled()
    for _ in range(3):
        machine.run('systemctl start owned && systemctl stop owned')
    machine.is_as(before)


def test_verify_says_who_is_missing(machine):
    prepare(machine)
    machine.write('/root/x.container', f'[Container]\nImage={IMAGE}\n[Service]\nUser=carol\n')
    said = machine.run('/usr/lib/systemd/system-generators/keyturn-generator --verify /root/x.container', check=False)
    assert 'carol' in said.out + said.err, said


# ---- nobody's

FIRST, END = 0x77400000, 0x7FFE0000


def dynamic(machine, name='nobodys', keys='', command='sleep 1000', service='', check=True, image=f'Image={IMAGE}'):
    return start_as(machine, 'DynamicUser=yes', name, keys, command, service, check, image)


def ids(machine, name):
    (first, same) = maps(machine, name)
    assert first == same and first[0] == 0 and first[2] == 65536, (first, same)
    assert FIRST <= first[1] <= END - 65536, first
    return first[1]


def test_nobody_has_its_ids(machine):
    dynamic(machine)
    first = ids(machine, 'nobodys')
    assert owner_of(machine, f'/proc/{machine.show("nobodys", "MainPID")}') == f'{first}:{first}'
    assert inside(machine, 'id -u; touch /x && chown 7:8 /x && stat -c %u:%g /x /bin', 'nobodys') == '0\n7:8\n0:0'
    assert machine.show('nobodys', 'DynamicUser') == 'no' and machine.show('nobodys', 'User') == ''
    assert machine.run(f'getent passwd {first}', check=False).status, 'somebody is called so'
    status = machine.read(f'/proc/{machine.show("nobodys", "MainPID")}/status')
    assert 'NoNewPrivs:\t1' in status, status


def test_they_are_others_each_time_and_nothing_is_kept(machine):
    dynamic(machine)
    machine.run('systemctl stop nobodys')
    before = machine.settled()
    seen = set()
    for _ in range(5):
        machine.run('systemctl start nobodys')
        seen.add(ids(machine, 'nobodys'))
        machine.run('systemctl stop nobodys')
    assert len(seen) > 1, seen
    machine.is_as(before)
    assert machine.run('ls /var/lib/keyturn/ids/nobodys /run/keyturn/nobodys', check=False).out == ''


def test_no_two_have_the_same(machine):
    """Twenty at once choose where there are forty places, of which others have the half."""
    places = [FIRST + i * 65536 for i in range((END - FIRST) // 65536)]
    for file in ('/etc/subuid', '/etc/subgid'):
        machine.write(file, f'alice:{places[40]}:{END - places[40]}\nbob:{places[0] + 65535}:1\n' +
                      ''.join(f'carol:{places[i]}:5\n' for i in range(2, 20)))
    machine.run(f'groupadd -g {places[20]} far; useradd -M -u {places[21]} -g far far')
    machine.container('crowd@', f'''
        [Container]
        Image={IMAGE}
        Exec=sleep 1000
        [Service]
        DynamicUser=yes
        KillSignal=SIGKILL
    ''')
    free = [1, *range(22, 40)]
    try:
        machine.run(f'systemctl start $(printf "crowd@%d " $(seq {len(free)}))')
        has = sorted(ids(machine, f'crowd@{i + 1}') for i in range(len(free)))
        assert has == [places[i] for i in free], has
        assert machine.run('systemctl start crowd@more', check=False).status, 'it has started'
        assert 'all ids of DynamicUser=' in machine.journal('crowd@more')
        machine.run('systemctl stop crowd@3; systemctl start crowd@more')
        assert ids(machine, 'crowd@more') in has
    finally:
        machine.run("systemctl stop 'crowd@*'; userdel far; groupdel far", check=False)


def test_a_killed_one_is_no_obstacle(machine):
    dynamic(machine, service='Restart=always\nRestartSec=0')
    for _ in range(3):
        before = machine.show('nobodys', 'MainPID')
        machine.run(f'kill -9 {before}')
        machine.wait_for(lambda: machine.show('nobodys', 'MainPID') not in ('0', before) and
                         machine.show('nobodys', 'ActiveState') == 'active')
        ids(machine, 'nobodys')


def test_a_network_of_nobodys(machine):
    dynamic(machine, keys='Network=bridge', command='nc -ll -p 80 -e cat')
    first = ids(machine, 'nobodys')
    assert 'eth0' in inside(machine, 'ip addr', 'nobodys')
    dynamic(machine, 'other')
    assert ids(machine, 'other') != first
    machine.run('systemctl restart nobodys')
    ids(machine, 'nobodys')
    assert 'eth0' in inside(machine, 'ip addr', 'nobodys')
    # Whoever stops what has pinned the namespace gets another one, with other ids.
    machine.run('systemctl stop nobodys keyturn-userns@nobodys && systemctl start nobodys')
    assert 'eth0' in inside(machine, 'ip addr', 'nobodys')
    assert ids(machine, 'nobodys') != ids(machine, 'other')


def test_what_stays_has_ids_of_its_own(machine):
    machine.run('rm -rf /srv/given /run/stays; mkdir /srv/given /run/stays; echo x >/srv/given/file')
    dynamic(machine, keys='Volume=/run/stays:/stays:idmap\nVolume=named:/named:U\nVolume=/srv/given:/given:U\nVolume=/srv/given:/ro:ro\nVolume=/gone')
    first = ids(machine, 'nobodys')
    inside(machine, 'for i in stays named given gone; do echo hello >/$i/new || exit 1; done', 'nobodys')
    assert owner_of(machine, '/run/stays/new') == '0:0'
    assert owner_of(machine, '/var/lib/containers/storage/volumes/named/_data/new') == f'{first}:{first}'
    assert owner_of(machine, '/srv/given/file') == f'{first}:{first}'
    assert inside(machine, 'touch /ro/x 2>&1', 'nobodys', check=False).endswith('Read-only file system')
    machine.run('systemctl restart nobodys')
    again = ids(machine, 'nobodys')
    assert inside(machine, 'cat /stays/new /given/new /named/new; ls /gone; for i in stays named given; do echo more >>/$i/new || exit 1; done; '
                  'stat -c %u /stays/new /named/new /given/new', 'nobodys') == 'hello\nhello\nhello\n0\n0\n0'
    assert owner_of(machine, '/srv/given/file') == f'{again}:{again}'


def test_nobody_may_nothing(machine):
    """The payload has all capabilities, and the machine's root directory."""
    prepare(machine)
    dynamic(machine, keys='AddCapability=all\nSecurityLabelDisable=true\nVolume=/:/host:ro')
    dynamic(machine, 'other')
    pid = machine.show('other', 'MainPID')
    for command, said in (('cat /host/srv/roots/secret', 'Permission denied'), ('cat /host/etc/shadow', 'Permission denied'),
                          ('cat /host/home/alice/data/file', 'Permission denied'),
                          ('cat /host/run/keyturn/nobodys/*/config.json', "can't open"),
                          ('mknod /sda b 8 0', 'Operation not permitted'),
                          ('mount -o remount,rw,bind /host && touch /host/srv/made', ''),
                          (f'nsenter -t {pid} -m true', '')):
        got = inside(machine, f'{command} 2>&1', 'nobodys', check=False)
        assert said in got, (command, got)
    assert machine.run('test -e /srv/made', check=False).status
    inside(machine, 'cp /bin/busybox /su; chmod 4755 /su', 'nobodys')
    assert 'Permission denied' in inside(machine, 'su nobody -s /bin/sh -c "cat /host/srv/roots/secret" 2>&1', 'nobodys', check=False)


def test_a_record_that_nobody_could_write_is_nobodys(machine):
    """/run was full, or who made it was killed; it kept all others from starting."""
    machine.run('mkdir -p /run/keyturn/userns/gone && touch /run/keyturn/userns/gone/.dynamic-ids')
    try:
        dynamic(machine)
        assert ids(machine, 'nobodys')
    finally:
        machine.run('rm -r /run/keyturn/userns/gone')
