# SPDX-License-Identifier: LGPL-2.1-or-later
"""UserNS=keep-id, nomap, auto and UIDMap= of users' containers: an image with other owners is a copy, made ahead."""

import difflib
import os
import time

from users import IMAGE, USERS, as_user, container, fails, inside, journal, make_user, maps, show, start

PACKAGES = ('passt',)
COPIES = '/home/alice/.local/share/keyturn/copies'
DEBIAN = 'localhost/test/debian'
ODD = 'localhost/odd'
NO_GROUP = ('Groups: 0', 'Groups:')


def make_podmans(machine, name='alice'):
    """A user whose Podman uses overlays: that of 4.3 takes copies of whole trees else."""
    make_user(machine, name)
    as_user(machine, 'mkdir -p ~/.config/containers; printf "[storage]\\ndriver = \\"overlay\\"\\n'
                     f'runroot = \\"/run/user/{USERS[name]}/containers\\"\\ngraphroot = \\"/home/{name}/.local/share/containers/storage\\"\\n" '
                     '>~/.config/containers/storage.conf', name)


def clear(machine):
    """No test sees what another has left."""
    make_podmans(machine)
    as_user(machine, 'cd $XDG_RUNTIME_DIR/keyturn; for unit in $(ls -d */.private | cut -d/ -f1); do systemctl --user kill -s KILL $unit; '
                     'systemctl --user stop $unit keyturn-copy@$unit; done; '
                     'rm -rf ~/.config/containers/systemd ~/.config/systemd/user; systemctl --user daemon-reload; '
                     'systemctl --user reset-failed; systemctl --user restart keyturn-view; systemctl --user start keyturn-copies', check=False)
    assert machine.run(f'ls -d {COPIES}', check=False).status, \
        machine.run(f'ls -lanR /run/user/1234/keyturn; ls -la {COPIES} {COPIES}/.units; ls /run/user/1234/systemd/generator', check=False).out


def make_odd(machine, more='true', base=DEBIAN):
    clear(machine)
    build(machine, more, base)


def build(machine, more='true', base=DEBIAN):
    """An image with all that owners, modes and links can be."""
    machine.write('/home/alice/build', f'''set -eu
        c=$(buildah from --pull=never {base}) && m=$(buildah mount $c)
        rm -rf $m/dev/*; mkdir -p $m/odd/deep && cd $m/odd
        for name in plain suid sgid capped users both; do cp $m/bin/cat $name; done
        chown 5:6 users; chown 1000:1000 both; chmod 4755 suid users; chmod 2755 sgid; chmod 6711 both
        chown 0:42 sgid; chmod 2755 sgid
        setcap cap_net_bind_service,cap_chown+ep capped
        echo hers >hers; chown 1234:1234 hers; chmod 0600 hers
        echo nobodys >nobodys; chown 65000:65000 nobodys; chmod 0640 nobodys
        echo one >first; ln first second; ln first deep/third; chown 7:8 first
        ln -s ../../etc/passwd out; chown -h 9:10 out; mkfifo pipe; chown 11:12 pipe; chmod 0620 pipe
        mkdir sticky set; chmod 1777 sticky; chmod 2770 set; chown 1234:13 set
        mkdir -p $m/vol; echo filled >$m/vol/file; chown -R 33:34 $m/vol; chmod 0751 $m/vol
        touch -d @1000000 first; touch -h -d @2000000 out
        {more}
        cd /; buildah umount $c >/dev/null; buildah config --cmd /bin/sh $c; buildah commit -q $c {ODD} >/dev/null; buildah rm $c >/dev/null
    ''')
    as_user(machine, 'podman unshare sh ~/build')


FACTS = r'''
find / -xdev ! -type d -printf "%U:%G %m %y %n %s %T@ %p %l\n" 2>/dev/null | grep -vE " /(etc/(hosts|hostname|resolv.conf|mtab|passwd|group)|proc|sys|dev|run)( |/)| /facts" | sort -k 7
find / -xdev -type d -printf "%U:%G %m %p\n" 2>/dev/null | grep -vE " /(proc|sys|dev|run)(/|$)" | sort -k 3
for file in suid sgid users both capped plain; do echo $file; /odd/$file /proc/self/status | grep -E "^(Uid|Gid|Groups|Cap|NoNewPrivs|Seccomp:)"; done
id -u; id -g; pwd; echo $HOME; grep -E "^(Uid|Gid|Groups|Cap)" /proc/1/status; stat -c "%u:%g %a %n" / /etc /etc/passwd /etc/hosts /tmp /dev/null /root
cat /odd/hers /odd/nobodys 2>&1; echo x 2>&1 >/odd/first; touch /tmp/new; stat -c %u:%g /tmp/new
stat -c "%u:%g %a %n" /vol /vol/* /fresh /mine /mine/* /his 2>/dev/null; echo "$MORE"
echo that is all
'''


def facts_of_podman(machine, mode, keys=''):
    as_user(machine, 'podman volume rm -f pnamed pfresh >/dev/null 2>&1', check=False)
    network = '' if '--pod' in mode else '--network host'
    return as_user(machine, f'podman --runtime crun run --rm {network} {mode} -v ~/facts:/facts -v pnamed:/vol '
                            f'-v pfresh:/fresh:U -v ~/pmine:/mine:U -v ~/his:/his {keys} {ODD} sh /facts').out


def facts_of_ours(machine, mode, keys='', name='facts'):
    container(machine, name, f'[Container]\nImage={ODD}\nVolume=%h/facts:/facts\nExec=sh /facts\n{mode}\nVolume=knamed:/vol\n'
                                f'Volume=kfresh:/fresh:U\nVolume=%h/kmine:/mine:U\nVolume=%h/his:/his\n{keys}\n'
                                '[Service]\nType=oneshot\n')
    as_user(machine, f'podman unshare sh -c "rm -rf .local/share/containers/storage/volumes/k*"; systemctl --user start {name}')

    def said():
        machine.sync_journal()
        return machine.run(f'journalctl -o cat --no-pager SYSLOG_IDENTIFIER={name} _TRANSPORT=journal').out
    # So many lines wait for journald.
    return machine.wait_for(lambda: 'that is all' in (text := said()).splitlines() and text)


def prepare_facts(machine):
    make_odd(machine)
    machine.write('/home/alice/facts', FACTS, 0o755)



def lines(text):
    return [' '.join(line.split()) for line in text.splitlines() if line.strip()]


def as_under_podman(machine, modes, different=()):
    for mode, keys in modes:  # the journal knows services by their names, also those of other tests
        as_user(machine, 'podman unshare rm -rf pmine kmine his; for d in pmine kmine his; do mkdir $d; echo x >$d/file; done')
        podman = lines(facts_of_podman(machine, mode))
        ours = lines(facts_of_ours(machine, keys, name=f'facts{time.time_ns()}'))
        diff = [line for line in difflib.unified_diff(podman, ours, 'podman', 'keyturn', n=0, lineterm='')
                if line[:1] in '+-' and line[:3] not in ('+++', '---') and line[1:] not in different]
        assert len(ours) > 3000 and not diff, (mode, len(ours), diff)


# ---- what the payload sees

def test_keep_id_as_under_podman(machine):
    """Each file's owner, mode, links, size and time; whom a file makes of a process; volumes; three thousand lines."""
    prepare_facts(machine)
    as_under_podman(machine, (('--userns keep-id', 'UserNS=keep-id'), ('--userns keep-id:uid=7,gid=9', 'UserNS=keep-id:uid=7,gid=9'),
                              ('--userns keep-id:uid=1000', 'UserNS=keep-id:uid=1000')))


def test_nomap_as_under_podman(machine):
    prepare_facts(machine)
    as_under_podman(machine, (('--userns nomap', 'UserNS=nomap'),), different=NO_GROUP)


def test_maps_as_under_podman(machine):
    prepare_facts(machine)
    words = ('0:1:1000', '1000:1001:200', '1234:0:1', '5000:5000:60001')
    as_under_podman(machine, ((' '.join(f'--uidmap {word}' for word in words), '\n'.join(f'UIDMap={word}' for word in words)),), NO_GROUP)


def test_pods_as_under_podman(machine):
    """Whom a payload is in there, too. Debian 12's Podman makes no pods on these machines."""
    prepare_facts(machine)
    if machine.suite == 'bookworm':
        return
    for mode, keys, different in (('--userns keep-id', 'UserNS=keep-id', ()), ('--userns nomap', 'UserNS=nomap', NO_GROUP),
                                  ('--userns keep-id:uid=7,gid=9', 'UserNS=keep-id:uid=7,gid=9', ()),
                                  ('--userns auto:size=65536', 'UserNS=auto:size=65536', NO_GROUP)):
        as_user(machine, f"""podman --cgroup-manager cgroupfs pod create --infra-image {IMAGE} --infra-command 'sleep 1000' --network host \
                                 --name all {mode} >/dev/null; mkdir -p ~/.config/containers/systemd""")
        machine.write('/home/alice/.config/containers/systemd/all.pod', f'[Pod]\nPodName=all\nNetwork=host\n{keys}\n')
        try:
            as_under_podman(machine, (('--pod all --cgroups disabled', 'Pod=all.pod'),), different)
        finally:
            as_user(machine, 'podman pod rm -t 0 -f all; systemctl --user stop all-pod', check=False)


def first_id(machine):
    make_user(machine, 'alice')
    return int(machine.run("awk -F: '/^alice/ {print $2}' /etc/subuid").out)


def test_whose_ids_are_whose(machine):
    clear(machine)
    first = first_id(machine)
    start(machine, keys='UserNS=keep-id')
    assert maps(machine) == [(0, first, 1234), (1234, 1234, 1), (1235, first + 1234, 65536 - 1234)] * 2, maps(machine)
    assert inside(machine, 'id -u; id -g; touch /tmp/x; stat -c %u:%g /tmp/x') == '1234\n1234\n1234:1234'
    start(machine, keys='UserNS=keep-id:uid=5\nUser=0')
    assert maps(machine)[:3] == [(0, first, 5), (5, 1234, 1), (6, first + 5, 65536 - 5)], maps(machine)
    assert inside(machine, 'id -u; id -G; touch /x; stat -c %u:%g /x') == '0\n0 1234\n0:0'
    start(machine, keys='UserNS=nomap')
    assert maps(machine) == [(0, first, 65536)] * 2, maps(machine)
    start(machine, keys='UIDMap=0:1:100\nUIDMap=100:0:1\nUIDMap=101:101:2\nGIDMap=0:0:100')
    assert maps(machine) == [(0, first, 100), (100, 1234, 1), (101, first + 100, 2), (0, 1234, 1), (1, first, 99)], maps(machine)
    fails(machine, 'has some that the user has not', keys='UIDMap=0:1:70000')
    start(machine, keys='SubUIDMap=alice')
    assert maps(machine) == [(0, first, 65536)] * 2, maps(machine)
    start(machine, keys='SubUIDMap=alice\nSubGIDMap=alice\nUIDMap=70000:0:1\nGIDMap=70001:0:1')
    assert maps(machine) == [(0, first, 65536), (70000, 1234, 1), (0, first, 65536), (70001, 1234, 1)], maps(machine)
    # Whatever the generator has been told, and with nobody's word for it but her own.
    machine.run('echo mallory:300000:1000 >>/etc/subuid; echo mallory:300000:1000 >>/etc/subgid')
    got = as_user(machine, f'/usr/lib/keyturn/libstart run --name byhand --subuidname mallory {IMAGE} true', check=False)
    assert got.status and "no ids of 'mallory' in /etc/subuid" in got.out + got.err, got
    machine.run('sed -i /^mallory/d /etc/subuid /etc/subgid')


def with_subids(machine, text):
    for file in ('/etc/subuid', '/etc/subgid'):
        machine.run(['sh', '-c', f'cat >{file}'], input=text)
    as_user(machine, 'systemctl --user restart keyturn-view')


def test_ids_in_pieces_and_none(machine):
    clear(machine)
    kept = machine.read('/etc/subuid')
    try:
        with_subids(machine, 'alice:500000:10\nalice:700000:70000\n')
        start(machine, keys='UserNS=keep-id:uid=12,gid=3')
        assert maps(machine) == [(0, 500000, 10), (10, 700000, 2), (12, 1234, 1), (13, 700002, 69998),
                                 (0, 500000, 3), (3, 1234, 1), (4, 500003, 7), (11, 700000, 70000)], maps(machine)
        with_subids(machine, '')
        fails(machine, 'UserNS=keep-id needs further ids', keys='UserNS=keep-id')
    finally:
        with_subids(machine, kept)
        machine.run(f'rm -rf {COPIES}')  # what belongs to ids that she has no more, root has to remove


def test_auto(machine):
    """Neither has an id of the other's, nor the user's own, and each keeps its own."""
    clear(machine)
    first = first_id(machine)
    start(machine, keys='UserNS=auto')
    start(machine, 'other', keys='UserNS=auto:size=3000')
    (_, one, n), (_, two, m) = maps(machine)[0], maps(machine, 'other')[0]
    assert n == 1024 and m == 3000 and (one + n <= two or two + m <= one), (one, n, two, m)
    assert first <= min(one, two) and max(one + n, two + m) <= first + 65536, (first, one, two)
    assert inside(machine, 'id -u; stat -c %u:%g /bin/busybox') == '0\n0:0'
    as_user(machine, 'systemctl --user restart mine keyturn-view; systemctl --user restart mine')
    assert maps(machine)[0] == (0, one, n)
    as_user(machine, 'systemctl --user stop mine other')


# What the kernel counts for each user: a session keyring for each process, or descriptors in sockets.
GREEDY = {
    'keys': r"""pipe R, W; for (1 .. 250) { fork // die or do { syscall(250, 1, 0); syswrite W, "x"; sleep 1000 } } read R, $all, 250""",
    'descriptors': r"""use Socket; $n = 253; $x = "x"; $iov = pack("PQ", $x, 1); $rights = pack("Qiii$n x4", 16 + 4 * $n, 1, 1, (0) x $n);
        $message = pack("QQPQPQQ", 0, 0, $iov, 1, $rights, length $rights, 0);
        for ($i = 0; !$!{ETOOMANYREFS}; $i++) {
            socketpair($a[$i], $b[$i], AF_UNIX, SOCK_SEQPACKET, 0) or die;
            for (1 .. 100) { syscall(46, fileno($a[$i]), $message, 64) > 0 or last } }"""}


def test_who_takes_all_that_the_user_may_have(machine):
    """The start of another says what is missing. Ids of its own are nobody else's limits."""
    # The kernel counts by ids for all that runs on it, thus for the other test machines too.
    USERS['mallory'] = 30000 + os.getpid() % 30000
    make_podmans(machine, 'mallory')
    for what, words in (('keys', 'session keyring (a payload'), ('descriptors', 'log relay (a payload')):
        for mode in ('host', 'nomap', 'auto'):
            machine.write('/srv/greedy', GREEDY[what] + '; $| = 1; print "taken\\n"; sleep 1000')
            start(machine, 'greedy', f'UserNS={mode}\nVolume=/usr:/usr:ro\nVolume=/lib:/lib:ro\nVolume=/lib64:/lib64:ro\nVolume=/srv/greedy:/greedy:ro',
                  '/usr/bin/perl -MErrno /greedy', 'mallory')
            machine.wait_for(lambda: 'taken' in journal(machine, 'greedy'))
            if mode == 'host':
                fails(machine, words, user='mallory')
            else:
                start(machine, user='mallory')
            as_user(machine, 'systemctl --user stop greedy', 'mallory')


def test_what_else_a_container_has(machine):
    """A network of its own, a secret, health checks, a read-only root, volumes of the image's, an init."""
    clear(machine)
    # As udev has it; and an interface, which Debian 12's pasta wants.
    machine.run('chmod 0666 /dev/net/tun; ip link show up0 2>/dev/null || { ip link add up0 type veth peer name w0; ip link set w0 up; '
                'ip addr add 192.0.2.2/24 dev up0; ip link set up0 up; ip route add default via 192.0.2.1; }')
    as_user(machine, 'systemctl --user restart keyturn-view; printf hush | podman secret create word - 2>/dev/null', check=False)
    for mode in ('keep-id', 'nomap', 'auto'):
        start(machine, keys=f'UserNS={mode}\nNetwork=pasta\nSecret=word\nReadOnly=true\nTmpfs=/scratch\nVolume=any{mode}:/any\n'
                            'HealthCmd=id -u\nHealthInterval=300ms\nNotify=healthy\nHostName=here\nVolume=/data')
        uid = '1234' if mode == 'keep-id' else '0'
        assert inside(machine, 'cat /run/secrets/word; hostname; touch /scratch/x /any/x; id -u') == f'hushhere\n{uid}', mode
        assert 'Read-only' in inside(machine, 'touch /x 2>&1', check=False)
        assert inside(machine, 'ls /sys/class/net | wc -l') == '2'
    # Root of the container is master of its network, as it belongs to its namespace.
    start(machine, keys='UserNS=nomap\nNetwork=pasta\nAddCapability=NET_ADMIN')
    assert inside(machine, 'ip addr add 10.9.8.7/32 dev lo && echo made') == 'made'
    assert show(machine, 'keyturn-userns@mine', 'ActiveState') == 'active'


def test_owners_cannot_be_mapped(machine):
    """The kernel's word, for which there are copies; where it is another one day, they can go."""
    clear(machine)
    as_user(machine, 'mkdir -p ~/data')
    fails(machine, "with 'idmap': the kernel lets no user but root", keys='UserNS=keep-id\nVolume=%h/data:/data:idmap')
    fails(machine, 'Cannot map the owners of', keys='UserNS=keep-id\nVolume=%h/data:/data:idmap=uids=0-1-1;gids=0-1-1')


# ---- the copy

def copies(machine):
    return sorted(machine.run(f'ls {COPIES}').out.split())


def test_a_restart_copies_nothing(machine):
    clear(machine)
    start(machine, keys='UserNS=keep-id')
    before = show(machine, 'keyturn-copy@mine', 'InvocationID'), copies(machine)
    machine.run(f'touch -d @1000 {COPIES}/{before[1][0]}/etc; touch /run/reference; sleep 0.1')
    for _ in range(5):
        as_user(machine, 'systemctl --user restart mine')
    assert (show(machine, 'keyturn-copy@mine', 'InvocationID'), copies(machine)) == before
    assert machine.run(f'find {COPIES} -newercm /run/reference -o -newermm /run/reference').out == ''
    # As keyturn-image(8) says of the copy of a damaged image.
    as_user(machine, f'systemctl --user stop mine; podman unshare rm -r {COPIES}; systemctl --user start mine')
    assert copies(machine) == before[1] and inside(machine, 'ls /bin/busybox')
    # What such a start asks the kernel for beside what another does, 60 to 115 calls, as names are looked up: no tree is walked.
    calls = {}
    for name, keys in (('with', 'UserNS=keep-id'), ('without', '')):
        start(machine, name, keys=keys)
        as_user(machine, f'systemctl --user stop {name}; strace -f -o /tmp/{name}.trace /usr/lib/keyturn/libstart run --name byhand-{name} '
                         f'{keys.replace("UserNS=", "--userns ")} {IMAGE} true')
        calls[name] = int(machine.run(f'wc -l </tmp/{name}.trace').out)
    assert -20 < calls['with'] - calls['without'] < 200, calls


def test_a_changed_image(machine):
    """It gets a copy of its own when it starts, and the old one goes; what runs keeps the one that it has."""
    make_odd(machine, base=IMAGE, more='echo first >$m/version')
    as_user(machine, 'systemctl --user restart keyturn-view')
    text = f'[Container]\nImage={ODD}\nExec=sleep 1000\nUserNS=keep-id\n[Service]\nKillSignal=SIGKILL\n'
    container(machine, 'mine', text)
    container(machine, 'second', text)
    as_user(machine, 'systemctl --user start mine second')
    old, = copies(machine)
    build(machine, base=IMAGE, more='echo other >$m/version')
    as_user(machine, 'systemctl --user restart mine')
    assert inside(machine, 'cat /version') == 'other' and inside(machine, 'cat /version; ls /bin/busybox', 'second') == 'first\n/bin/busybox'
    assert len(copies(machine)) == 2 and old in copies(machine)
    as_user(machine, 'systemctl --user restart second')
    assert inside(machine, 'cat /version', 'second') == 'other'
    # Its own copy was there already, and so nobody has looked since.
    as_user(machine, 'systemctl --user start keyturn-copies')
    assert len(copies(machine)) == 1 and old not in copies(machine), copies(machine)
    # A file that goes, and what was stopped.
    as_user(machine, 'systemctl --user stop second mine; rm ~/.config/containers/systemd/second.container; systemctl --user daemon-reload; '
                     'systemctl --user start keyturn-copies')
    assert len(copies(machine)) == 1
    machine.run('rm /home/alice/.config/containers/systemd/mine.container')
    as_user(machine, 'systemctl --user daemon-reload; systemctl --user start keyturn-copies')
    assert machine.run(f'ls -d {COPIES}', check=False).status, 'nothing is left'
    assert 'keyturn-' not in as_user(machine, 'systemctl --user --failed -q --plain').out


def test_beside_podman(machine):
    """Whose generator is there: keyturn's writes into the early directory. As on each machine of Debian's with Podman's package."""
    clear(machine)
    # Podman 4.3 has none.
    machine.run('rm /etc/systemd/user-generators/podman-user-generator; cd /usr/lib/systemd/user-generators; '
                'test -e podman-user-generator || install -m 0755 /bin/true podman-user-generator')
    try:
        for name, keys in (('mine', 'UserNS=keep-id'), ('yours', 'UserNS=nomap'), ('web@', 'UserNS=keep-id:uid=5,gid=5')):
            container(machine, name, f'[Container]\nImage={IMAGE}\nExec=sleep 1000\n{keys}\n[Keyturn]\n[Service]\nKillSignal=SIGKILL\n')
        as_user(machine, 'systemctl --user start mine; systemctl --user stop mine; systemctl --user start web@1 yours')
        before = copies(machine), machine.run(f'ls {COPIES}/.units').out, show(machine, 'keyturn-copy@mine', 'InvocationID')
        assert (len(before[0]), before[1]) == (3, 'mine\nweb@1\nyours\n'), before
        as_user(machine, 'systemctl --user stop yours; systemctl --user start keyturn-copies mine')
        assert (copies(machine), machine.run(f'ls {COPIES}/.units').out, show(machine, 'keyturn-copy@mine', 'InvocationID')) == before
        assert inside(machine, 'ls /bin/busybox') == '/bin/busybox'
    finally:
        machine.run('ln -s /dev/null /etc/systemd/user-generators/podman-user-generator')
        as_user(machine, 'systemctl --user stop mine yours web@1; systemctl --user daemon-reload')


def slow_down(machine, unit='keyturn-copy@cut'):
    """Each owner that it gives takes a while."""
    line = as_user(machine, f'systemctl --user show -p ExecStart --value {unit}').out.split('argv[]=')[1].split(' ;')[0]
    machine.write(f'/home/alice/.config/systemd/user/{unit}.service.d/90.conf',
                  f'[Service]\nExecStart=\nExecStart=strace -o /dev/null -e trace=fchown -e inject=fchown:delay_exit=200000 {line}\n')
    as_user(machine, 'systemctl --user daemon-reload')


def test_a_copy_that_is_cut_off(machine):
    """It is never used half, and begun anew."""
    make_odd(machine)
    as_user(machine, 'systemctl --user restart keyturn-view')
    container(machine, 'cut', f'[Container]\nImage={ODD}\nExec=sh -c "sleep 1000"\nUserNS=keep-id\n[Service]\nKillSignal=SIGKILL\n')
    slow_down(machine)
    as_user(machine, 'systemctl --user start --no-block keyturn-copy@cut')
    machine.wait_for(lambda: int(machine.run(f'find {COPIES}/.new -type f 2>/dev/null | wc -l').out) >= 8)
    first = show(machine, 'keyturn-copy@cut', 'MainPID')
    # A start that comes meanwhile waits, and says for what.
    as_user(machine, 'systemctl --user start --no-block cut')
    as_user(machine, 'systemctl --user kill -s KILL keyturn-copy@cut')
    machine.wait_for(lambda: show(machine, 'keyturn-copy@cut', 'MainPID') not in ('0', first) and
                     0 < int(machine.run(f'find {COPIES}/.new -type f 2>/dev/null | wc -l').out) < 8)
    machine.wait_for(lambda: 'which copies the image' in as_user(machine, 'systemctl --user show -p StatusText cut').out)
    assert show(machine, 'cut', 'ActiveState') == 'activating' and copies(machine) == []
    # Who is between two tries is not hit.
    machine.wait_for(lambda: as_user(machine, 'sleep 0.3; systemctl --user kill -s KILL keyturn-copy@cut', check=False) and
                     show(machine, 'cut', 'ActiveState') == 'failed')
    assert copies(machine) == [] and machine.run(f'ls -d {COPIES}/.new', check=False).status == 0
    machine.run('rm -r /home/alice/.config/systemd/user/keyturn-copy@cut.service.d')
    as_user(machine, 'systemctl --user daemon-reload; systemctl --user reset-failed; systemctl --user start cut')
    assert len(copies(machine)) == 1 and machine.run(f'ls -d {COPIES}/.new', check=False).status
    key, = copies(machine)
    assert inside(machine, 'find / -xdev | wc -l; cat /proc/1/mountinfo | grep -c " / / .* overlay "', 'cut').split()[1] == '1'
    assert machine.run(f'find {COPIES}/{key} | wc -l').out.strip() != '0'
    as_user(machine, 'systemctl --user stop cut')


def test_a_full_disk(machine):
    make_odd(machine)
    as_user(machine, 'systemctl --user stop keyturn-view; mkdir -p ~/.local/share/keyturn')
    machine.run('mount -t tmpfs -o size=2m,uid=1234,gid=1234,mode=0700 tmpfs /home/alice/.local/share/keyturn')
    try:
        text = f'[Container]\nImage={ODD}\nExec=sleep 1000\nUserNS=keep-id\n[Service]\nKillSignal=SIGKILL\n'
        container(machine, 'mine', text)
        assert as_user(machine, 'systemctl --user start mine', check=False).status
        assert 'No space left' in as_user(machine, 'systemctl --user show -p StatusText mine').out
        assert copies(machine) == [] and machine.run(f'ls -d {COPIES}/.new', check=False).status
        assert machine.run('df --output=pcent /home/alice/.local/share/keyturn').out.split()[1] in ('1%', '0%')
        machine.run('mount -o remount,size=500m /home/alice/.local/share/keyturn')
        as_user(machine, 'systemctl --user reset-failed; systemctl --user start mine')
        assert len(copies(machine)) == 1
    finally:
        as_user(machine, 'systemctl --user stop mine keyturn-view', check=False)
        machine.run('umount -l /home/alice/.local/share/keyturn')
        as_user(machine, 'systemctl --user restart keyturn-view')


def test_no_copy_and_no_view_without_need(machine):
    clear(machine)
    start(machine, 'plain')
    assert machine.run(f'ls -d {COPIES}', check=False).status
    assert show(machine, 'keyturn-copy@plain', 'ActiveState') == 'inactive'
    make_user(machine, 'bob')
    as_user(machine, 'systemctl --user start default.target', 'bob')
    assert show(machine, 'keyturn-copies', 'ConditionResult', user='bob') == 'no'
    assert show(machine, 'keyturn-view', 'ActiveState', user='bob') == 'inactive'


# ---- attacks

def test_a_payload_does_not_reach_the_copy(machine):
    """With root and all capabilities, or as the user herself."""
    clear(machine)
    start(machine, keys='UserNS=keep-id\nAddCapability=all\nUser=0')
    key, = [name for name in copies(machine)]
    before = machine.run(f'cd {COPIES} && find . -printf "%p %m %U %G %T@ %C@\n" | sort | md5sum').out
    inside(machine, 'echo evil >/bin/evil; chmod 4777 /bin/evil; rm /bin/cat; chown 1234:1234 /etc /bin; mount -o remount,rw / ; '
                    'mknod /tmp/x b 8 0; umount /; setfattr -n user.overlay.opaque -v y /etc; mount -t tmpfs tmpfs /mnt', check=False)
    assert machine.run(f'cd {COPIES} && find . -printf "%p %m %U %G %T@ %C@\n" | sort | md5sum').out == before
    assert 'keyturn' not in inside(machine, 'cut -d" " -f4,5 /proc/self/mountinfo')
    holder = machine.run('cut -d" " -f1 /run/user/1234/keyturn/.view').out.strip()
    start(machine, 'victim')
    victim = show(machine, 'victim', 'MainPID')
    pid = show(machine, 'mine', 'MainPID')
    # As if it had got the host's pid namespace, as root, and as the user, whose id is that of the others outside.
    for uid in ('0', '1234'):
        for target in (victim, holder):
            for what in ('environ', 'ns/mnt', 'mem', 'maps'):
                got = machine.run(['nsenter', '-t', pid, '-U', '-S', uid, '-G', uid, 'head', '-c', '1', f'/proc/{target}/{what}'], check=False)
                assert got.status or not got.out, (uid, target, what, got)
            for what in ('root', 'cwd', 'fd/0'):
                got = machine.run(['nsenter', '-t', pid, '-U', '-S', uid, '-G', uid, 'readlink', f'/proc/{target}/{what}'], check=False)
                assert got.status or not got.out, (uid, target, what, got)


def test_what_an_image_cannot_bring(machine):
    """Nodes, sockets and what overlayfs keeps in attributes stay out; links lead nowhere but inside; owners are the container's."""
    make_odd(machine, base=IMAGE, more='ln -s /home/alice $m/host; ln -s ../../../../../../../../home/alice $m/up')
    layer = as_user(machine, f'podman unshare sh -c "podman image mount {ODD} >/dev/null; podman image inspect -f {{{{.GraphDriver.Data.UpperDir}}}} {ODD}"').out.strip()
    assert layer.startswith('/home/alice/'), layer
    machine.run(f'mknod -m 0666 {layer}/sda b 8 0; mknod -m 0666 {layer}/zero c 1 5; perl -MSocket -e \'socket(S, AF_UNIX, SOCK_STREAM, 0); '
                f'bind(S, sockaddr_un("{layer}/socket"))\'; ln /etc/hostname {layer}/linked 2>/dev/null || true; mkdir -p {layer}/redirected')
    if machine.run('command -v setfattr', check=False).status == 0:
        machine.run(f'setfattr -n user.overlay.redirect -v /etc {layer}/redirected; setfattr -n user.kept -v yes {layer}/redirected')
    as_user(machine, 'echo precious >~/precious; systemctl --user restart keyturn-view')
    container(machine, 'mine', f'[Container]\nImage={ODD}\nExec=sleep 1000\nUserNS=keep-id\nUser=0\n[Service]\nKillSignal=SIGKILL\n')
    as_user(machine, 'systemctl --user start mine')
    key = next(name for name in copies(machine) if machine.run(f'ls {COPIES}/{name}/redirected', check=False).status == 0)
    assert machine.run(f'find {COPIES} -type b -o -type c -o -type s').out == ''
    if machine.run('command -v getfattr', check=False).status == 0:
        said = machine.run(f'getfattr -R -h -d -m - {COPIES}/{key}').out
        assert 'user.overlay' not in said and 'user.kept="yes"' in said, said
    assert inside(machine, 'ls /host/ /up/ 2>&1', check=False).count('No such file') == 2
    assert inside(machine, 'ls /sda /zero /socket 2>&1', check=False).count('No such file') == 3
    # What is root's in there is on the disk one of her further ids', behind a directory that is hers alone.
    machine.run('chmod 0755 /home/alice; chmod o+x /home/alice/.local /home/alice/.local/share')
    make_user(machine, 'bob')
    assert as_user(machine, f'ls {COPIES}/{key}/bin', 'bob', check=False).status
    assert machine.run(f'stat -c %u {COPIES}/{key}/odd/suid').out.strip() == str(first_id(machine))
    machine.run('chmod 0700 /home/alice')


def test_what_the_user_puts_there(machine):
    """It is hers, and nothing outside of it is removed or changed by it."""
    clear(machine)
    start(machine, keys='UserNS=keep-id')
    key, = copies(machine)[:1]
    as_user(machine, 'systemctl --user stop mine; mkdir -p ~/keep; echo precious >~/keep/file')
    as_user(machine, f'cd {COPIES}; ln -s ~/keep .old-x; ln -s ~/keep {"0" * 64}; mkfifo .units/pipe; ln -s ~/keep/file .units/link; '
                     'mkdir -p deep/er; ln -s ~/keep deep/er/link; ln -s ~/keep .new')
    got = as_user(machine, 'timeout 20 systemctl --user start keyturn-copies', check=False)
    assert got.status != 124, 'it waits for the pipe'
    as_user(machine, f'rm -f {COPIES}/.units/pipe {COPIES}/.units/link; systemctl --user reset-failed; systemctl --user start keyturn-copies')
    assert machine.run('cat /home/alice/keep/file').out == 'precious\n'
    assert copies(machine) == [key], copies(machine)
    as_user(machine, 'systemctl --user start mine')
    assert inside(machine, 'id -u') == '1234'


# ---- what is refused

def test_what_is_not_there_is_refused_with_its_line(machine):
    clear(machine)
    wrong = []
    for key in ('UserNS=ns:/proc/self/ns/user', 'UIDMap=0:@1234:1', 'SubUIDMap=bob', 'SubGIDMap=containers', 'GIDMap=0:@5:1',
                # What the image's copy cannot know ahead.
                'UIDMap=0:${X}:1', 'GIDMap=0:${X}:1', 'UserNS=keep-id\nGlobalArgs=--storage-opt=additionalimagestore=/${X}'):
        container(machine, 'mine', f'[Container]\nImage={IMAGE}\n{key}\n')
        assert as_user(machine, 'systemctl --user start mine', check=False).status
        said = as_user(machine, 'systemctl --user show -p Description --value mine').out
        if ':5: ' not in said or key.split('=')[0] not in said:
            wrong.append((key, said))
    assert not wrong and '--storage-opt' in said, (wrong, said)
