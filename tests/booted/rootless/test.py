# SPDX-License-Identifier: LGPL-2.1-or-later
"""Containers of users' managers: systemctl --user, without root."""

import os

from users import IMAGE, USERS, as_user, container, fails, inside, journal, make_podmans, make_user, renew_view, show, start


# ---- what it is

def test_root_inside_is_the_user_outside(machine):
    start(machine)
    pid = show(machine, 'mine', 'MainPID')
    assert machine.run(f'stat -c %u:%g /proc/{pid}').out.strip() == '1234:1234'
    assert inside(machine, 'id -u; id -g') == '0\n0'
    assert inside(machine, 'touch /x && chown 7:8 /x && stat -c %u:%g /x') == '7:8'
    assert '1 ' in inside(machine, 'cat /proc/self/uid_map')
    cgroup = machine.run(f'cat /proc/{pid}/cgroup').out
    assert '/user@1234.service/' in cgroup and cgroup.strip().endswith('/mine.service'), cgroup


def test_a_user_without_further_ids(machine):
    make_user(machine, 'alice')
    kept = {file: machine.read(file) for file in ('/etc/subuid', '/etc/subgid')}
    try:
        machine.run('truncate -s 0 /etc/subuid /etc/subgid')
        as_user(machine, 'systemctl --user restart keyturn-view')
        start(machine)
        assert inside(machine, 'id -u; cat /proc/self/uid_map | wc -l; touch /x; stat -c %u:%g /x') == '0\n1\n0:0'
        assert "has no ids" in machine.journal()
    finally:
        for file, text in kept.items():
            machine.run(['sh', '-c', f'cat >{file}'], input=text)
        as_user(machine, 'systemctl --user restart keyturn-view')


def test_a_payload_lifts_no_limit_of_its_service(machine):
    """The service's cgroup is the user's, as whom the payload is root."""
    machine.build('life/lift.c', '/srv/lift')
    start(machine, keys='Volume=/srv/lift:/lift:ro\nHealthCmd=true\nHealthInterval=1h', command='/lift\n[Service]\nCPUWeight=20\n[Container]')
    machine.wait_for(lambda: 'tried' in journal(machine))
    pid = show(machine, 'mine', 'MainPID')
    group = '/sys/fs/cgroup' + show(machine, 'mine', 'ControlGroup')
    assert 'mounted' in journal(machine), journal(machine)
    assert machine.run(f'cat {group}/cgroup.max.depth {group}/cgroup.max.descendants').out.split() == ['32', '4096']
    assert machine.run(f'cat {group}/cgroup.procs').out == '' and f'{group}/payload' in '/sys/fs/cgroup' + machine.run(f'sed -n s/^0:://p /proc/{pid}/cgroup').out
    assert inside(machine, 'echo $((6 * 7))') == '42'
    as_user(machine, 'systemctl --user stop mine')
    machine.wait_for(lambda: machine.run(f'test -e {group}', check=False).status != 0)


def test_nothing_of_a_start_stays(machine):
    """The payload, and the relay with its workers, which holds the namespaces of all."""
    for name in ('one', 'two', 'three'):
        start(machine, name)
    def ours():
        return {line for line in machine.run('ps -u alice -o args=').out.splitlines() if 'keyturn' in line or 'libstart' in line}
    machine.is_as({'/usr/lib/keyturn/keyturn-relay'}, ours)
    lines = machine.run('ps -u alice -o args=').out.splitlines()
    assert not [line for line in lines if 'conmon' in line or 'podman' in line], lines
    as_user(machine, 'systemctl --user stop one two three')


def test_protection(machine):
    start(machine)
    status = inside(machine, 'grep -E "^(CapEff|CapBnd|Seccomp|NoNewPrivs):" /proc/1/status')
    assert 'CapEff:\t00000000800405fb' in status and 'CapBnd:\t00000000800405fb' in status and 'Seccomp:\t2' in status, status
    assert 'Read-only' in inside(machine, '{ echo 1 >/proc/sys/kernel/panic; } 2>&1', check=False)
    for path in ('/proc/keys', '/proc/timer_list', '/proc/interrupts'):
        assert inside(machine, f'cat {path} | wc -c') == '0', path
    # The cgroup is read-only, and the one below it on the host's /sys is not to be had.
    assert 'Read-only' in inside(machine, 'mkdir /sys/fs/cgroup/x 2>&1', check=False)
    assert inside(machine, 'umount /sys/fs/cgroup 2>&1', check=False) != ''
    assert inside(machine, 'mknod /tmp/sda b 8 0 2>&1', check=False) != ''


def test_as_under_podman(machine):
    """Facts of the payload, line by line."""
    # The view reads what this writes, too.
    make_podmans(machine)
    facts = 'grep -E "^(Uid|Gid|Groups|Cap|NoNewPrivs|Seccomp)" /proc/self/status; cat /proc/self/uid_map; ls /dev; pwd; echo $PATH $HOME; ' \
        'umask; stat -c "%u:%g %a %n" / /tmp /dev/null /etc/passwd /root; ls /proc/1/fd'
    machine.write('/home/alice/facts', facts, 0o755)
    podman = as_user(machine, f'podman run --rm --network host -v /home/alice/facts:/facts {IMAGE} sh /facts')
    as_user(machine, 'systemctl --user restart keyturn-view')
    container(machine, 'facts', f'[Container]\nImage={IMAGE}\nVolume=/home/alice/facts:/facts\nExec=sh /facts\n[Service]\nType=oneshot\n')
    as_user(machine, 'systemctl --user start facts')
    machine.sync_journal()
    ours = machine.run('journalctl -o cat --no-pager SYSLOG_IDENTIFIER=facts _TRANSPORT=journal').out

    def lines(text):
        # The map has one more namespace between: of each id the same one inside and in the view.
        return [' '.join(line.split()) for line in text.splitlines() if not line.strip()[:1].isdigit() or ':' in line or '0022' in line]
    assert lines(ours) == lines(podman.out), (ours, podman.out)


# ---- what it does

def test_logs(machine):
    start(machine, command=r"""sh -c 'echo hello; echo worse >&2; echo "<3>bad"; printf "a\\000b\\n\\nMESSAGE=no\\nlast"; sleep 1000'""")
    machine.wait_for(lambda: 'MESSAGE=no' in journal(machine))
    lines = machine.run('journalctl -o json --no-pager USER_UNIT=mine.service _UID=1234 | grep hello').out
    assert '"SYSLOG_IDENTIFIER":"mine"' in lines and '"PRIORITY":"6"' in lines, lines
    assert '"PRIORITY":"3"' in machine.run('journalctl -o json --no-pager USER_UNIT=mine.service | grep \'"bad"\'').out
    said = journal(machine).splitlines()
    assert [line for line in said if line in ('a', 'b', 'MESSAGE=no')] == ['a', 'b', 'MESSAGE=no'] and 'worse' in said, said
    as_user(machine, 'systemctl --user stop mine')
    machine.wait_for(lambda: 'last' in journal(machine).splitlines())


def test_an_image_opens_its_standard_output(machine):
    """As nginx's does."""
    start(machine, command='sh -c "echo opened >/dev/stdout; echo again >>/proc/self/fd/2; sleep 1000"')
    machine.wait_for(lambda: {'opened', 'again'} <= set(journal(machine).splitlines()))


def test_a_relay_that_is_killed(machine):
    start(machine, command='sh -c "i=0; while :; do i=$((i+1)); echo line $i; sleep 0.02; done"')
    for _ in range(3):
        machine.run('sleep 0.3; pkill -9 -u alice -x keyturn-relay', check=False)  # one that has not come back yet is not there

    def numbers_said():
        return [int(line.split()[1]) for line in journal(machine).splitlines() if line.startswith('line ')]
    machine.wait_for(lambda: len(numbers_said()) > 20)
    as_user(machine, 'systemctl --user stop mine', check=False)
    numbers = numbers_said()
    assert sorted(set(numbers)) == list(range(1, max(numbers) + 1)), numbers


def test_a_journal_that_does_not_read(machine):
    """What has no room in its queue waits. It was tried for two seconds, and then lost."""
    start(machine, command='sh -c "sleep 2; i=0; while [ $i -lt 2000 ]; do echo row $i; i=$((i+1)); done; sleep 1000"')
    machine.run('pkill -STOP systemd-journal; sleep 9; pkill -CONT systemd-journal')
    machine.wait_for(lambda: 'row 1999' in journal(machine), 60)
    assert [line for line in journal(machine).splitlines() if line.startswith('row')] == [f'row {i}' for i in range(2000)]


def test_a_journal_that_comes_back(machine):
    """With another socket: nobody reads what is sent to the one before."""
    start(machine, command='sh -c "i=0; while [ $i -lt 400 ]; do echo tick $i; i=$((i+1)); sleep 0.02; done; sleep 1000"')
    sockets = 'systemd-journald.socket systemd-journald-dev-log.socket'
    machine.run(f'sleep 1; systemctl stop {sockets} systemd-journald; sleep 1; systemctl start {sockets} systemd-journald')
    machine.wait_for(lambda: 'tick 399' in journal(machine), 60)  # what was in the queue of the one before, went with it


# More descriptors of one user under way than a relay of hers may have that may open 2000.
HOLD = r"""use Socket; socketpair(A, B, AF_UNIX, SOCK_SEQPACKET, 0); $n = 253; $x = "x"; $iov = pack("PQ", $x, 1);
$rights = pack("Qiii$n x4", 16 + 4 * $n, 1, 1, (0) x $n); $message = pack("QQPQPQQ", 0, 0, $iov, 1, $rights, length $rights, 0);
for (1 .. 9) { syscall(46, fileno(A), $message, 0) > 0 or die $! } $| = 1; print "held\n"; sleep 1000"""


def test_a_store_without_room(machine):
    """Her relay forgets who has ended behind one that lives, and keeps one that began meanwhile as soon as there is room."""
    def begin(name):
        container(machine, name, f"[Container]\nImage={IMAGE}\nExec=sh -c 'while :; do echo $$(date +%%s); sleep 0.1; done'\n"
                                 '[Service]\nKillSignal=SIGKILL\nLimitNOFILE=10000\n', 'carol')
        as_user(machine, f'systemctl --user start {name}', 'carol')
    def stored():
        relay = as_user(machine, 'systemctl --user show --value -p MainPID keyturn-relay', 'carol').out.strip()
        return sum(int(line.split()[-1]) for line in machine.run(f'grep -h scm_fds /proc/{relay}/fdinfo/*').out.splitlines())
    USERS['carol'] = 40000 + os.getpid() % 20000  # nobody else's on this kernel, which counts for each user
    make_user(machine, 'carol')
    as_user(machine, 'd=~/.config/systemd/user/keyturn-relay.service.d; mkdir -p $d; printf "[Service]\nLimitNOFILE=2000\n" >$d/few.conf; '
                     'systemctl --user daemon-reload', 'carol')
    for name in ('first', 'ended', 'last'):
        begin(name)
    before = machine.settled(stored)
    machine.write('/tmp/hold', HOLD)
    machine.run('systemd-run -p LimitNOFILE=10000 --uid=carol --unit=hold perl /tmp/hold')
    machine.wait_for(lambda: 'held' in machine.journal('hold.service'))
    machine.mark()
    begin('late')
    machine.wait_for(lambda: 'Cannot leave descriptors behind: Too many references' in machine.journal())
    as_user(machine, 'systemctl --user stop ended', 'carol')
    machine.wait_for(lambda: stored() < before)
    machine.run('systemctl stop hold')
    as_user(machine, 'systemctl --user stop last', 'carol')
    machine.wait_for(lambda: stored() == before // 3 * 2)
    machine.run('pkill -9 -u carol -x keyturn-relay')
    killed = float(machine.run('date +%s').out)
    for name in ('first', 'late'):
        machine.wait_for(lambda: any(float(line) > killed for line in journal(machine, name).split() if line.isdigit()))
    as_user(machine, 'systemctl --user stop first late', 'carol')


def test_exit_status_and_restart(machine):
    container(machine, 'mine', f'[Container]\nImage={IMAGE}\nExec=sh -c "sleep 0.2; exit 7"\n')
    as_user(machine, 'systemctl --user restart mine')
    machine.wait_for(lambda: show(machine, 'mine', 'ActiveState') == 'failed')
    assert show(machine, 'mine', 'ExecMainStatus') == '7'
    container(machine, 'mine', f'[Container]\nImage={IMAGE}\nExec=sleep 1000\n[Service]\nRestart=always\nRestartSec=0\n')
    as_user(machine, 'systemctl --user reset-failed mine; systemctl --user restart mine')
    before = show(machine, 'mine', 'MainPID')
    as_user(machine, f'kill -9 {before}')
    machine.wait_for(lambda: show(machine, 'mine', 'MainPID') not in ('0', before))


def test_stop_signal(machine):
    container(machine, 'mine', f'[Container]\nImage={IMAGE}\n'
                               'Exec=sh -c "trap \'echo bye; exit 3\' TERM; echo ready to end; while :; do sleep 0.1; done"\n')
    as_user(machine, 'systemctl --user restart mine')
    machine.wait_for(lambda: 'ready to end' in journal(machine))
    as_user(machine, 'systemctl --user stop mine')
    machine.wait_for(lambda: 'bye' in journal(machine).splitlines())


def test_without_a_network(machine):
    start(machine, keys='Network=none')
    assert inside(machine, 'ls /sys/class/net') == 'lo'
    assert 'eth' not in inside(machine, 'ip addr')


def test_volumes(machine):
    make_user(machine, 'alice')
    as_user(machine, 'mkdir -p ~/data; echo hers >~/data/file; chmod 0600 ~/data/file')
    start(machine, keys='Volume=%h/data:/data:Z\nVolume=kept:/kept\nTmpfs=/scratch')
    assert inside(machine, 'cat /data/file; echo more >>/data/file; stat -c %u /data/file; touch /kept/x /scratch/y; stat -c %u /kept/x') == 'hers\n0\n0'
    assert machine.run('cat /home/alice/data/file').out == 'hers\nmore\n'
    as_user(machine, 'systemctl --user restart mine')
    assert inside(machine, 'ls /kept') == 'x'
    assert machine.run('ls /home/alice/.local/share/containers/storage/volumes/kept/_data').out == 'x\n'
    machine.run('mkdir -pm 0700 /srv/roots; echo secret >/srv/roots/secret')
    fails(machine, 'Permission denied', keys='Volume=/srv/roots/secret:/secret')


def test_list_and_inspect(machine):
    start(machine)
    assert 'mine' in as_user(machine, 'keyturnctl --user list').out
    assert '"/home/alice/.config/containers/systemd/mine.container"' in as_user(machine, 'keyturnctl --user inspect mine --json').out
    assert IMAGE in as_user(machine, 'keyturnctl --user images').out


def test_images_are_the_users(machine):
    start(machine)
    try:
        machine.run('rm -rf /home/alice/.local/share/containers/storage')
        fails(machine, 'is not in the image stores')
    finally:
        machine.run('cp -a /var/lib/containers/storage /home/alice/.local/share/containers/; chown -R alice: /home/alice')


# ---- what it does not

def test_a_module_of_the_users(machine):
    """Hers counts, not the machine's of the same name."""
    make_user(machine, 'alice')
    machine.write('/etc/containers/containers.conf.modules/mine.conf', '[containers]\numask = "0007"\nread_only = true\n')
    as_user(machine, 'mkdir -p ~/.config/containers/containers.conf.modules; '
                     'printf "[containers]\\numask = \\"0077\\"\\n" >~/.config/containers/containers.conf.modules/mine.conf')
    start(machine, keys='ContainersConfModule=mine.conf')
    assert inside(machine, 'umask; touch /x') == '0077'
    as_user(machine, 'rm ~/.config/containers/containers.conf.modules/mine.conf')
    start(machine, keys='ContainersConfModule=mine.conf')
    assert inside(machine, 'umask; touch /x 2>/dev/null || echo read-only') == '0007\nread-only'
    as_user(machine, 'systemctl --user stop mine')


def test_what_is_not_there_is_refused_with_its_line(machine):
    make_user(machine, 'alice')
    wrong = []
    for key in ('Network=bridge', 'PublishPort=8080:80', 'UserNS=ns:/x', 'PodmanArgs=--privileged', 'SubUIDMap=bob',
                'LogOpt=path=/tmp/x\nLogDriver=k8s-file'):
        container(machine, 'mine', f'[Container]\nImage={IMAGE}\n{key}\n')
        if as_user(machine, 'systemctl --user start mine', check=False).status == 0:
            wrong.append((key, 'it has started'))
        said = as_user(machine, 'systemctl --user show -p Description --value mine').out
        if ':5: ' not in said or key.split('=')[0] not in said:
            wrong.append((key, said))
    assert not wrong, wrong


def test_a_service_in_a_user_namespace_of_its_own_is_told_why(machine):
    make_user(machine, 'alice')
    for key in ('PrivateTmp=yes', 'ProtectHome=yes', 'PrivateUsers=yes'):
        container(machine, 'mine', f'[Container]\nImage={IMAGE}\nExec=sleep 1000\n[Service]\nKillSignal=SIGKILL\n{key}\n')
        failed = as_user(machine, 'systemctl --user start mine', check=False).status
        assert failed or machine.suite == 'bookworm', key  # whose systemd makes none for most
        as_user(machine, 'systemctl --user stop mine; systemctl --user reset-failed')
    if machine.suite != 'bookworm':
        # Not by unit: journald does not always find that of a process that has ended.
        assert machine.journal().count('remove them from [Service]') >= 3, machine.journal()


def test_what_a_user_may_not_is_refused_with_what_to_do(machine):
    """By the generator with the file's line, as --verify says it; by the start where only that can tell."""
    make_user(machine, 'alice')
    machine.run('mknod /dev/secret c 1 3; chmod 0600 /dev/secret')
    system = "the system's manager"
    wrong = []
    for line, words in (
            ('PodmanArgs=--privileged', 'AddCapability='), ('PodmanArgs=--device-cgroup-rule="c 1:3 r"', 'remove it'), ('SubUIDMap=bob', 'her own name'),
            ('UserNS=ns:/x', 'UserNS=keep-id'), ('Network=slirp4netns', 'write Network=pasta'),
            ('LogDriver=k8s-file\nLogOpt=path=/tmp/x', 'remove path='), ('[Keyturn]\nEarly=yes', system), ('[Service]\nUser=bob', system), ('[Service]\nUser=root', system),
            ('[Service]\nGroup=alice', system), ('[Service]\nDynamicUser=yes', system), ('[Service]\nIPAddressDeny=any', system),
            ('[Service]\nSocketBindDeny=any', system), ('[Service]\nRestrictNetworkInterfaces=lo', system), ('[Service]\nDevicePolicy=closed', system),
            ('[Service]\nDeviceAllow=/dev/null', 'AddDevice='), ('[Service]\nCapabilityBoundingSet=CAP_CHOWN', 'DropCapability='),
            ('[Service]\nCapabilityBoundingSet=', 'DropCapability='), ('[Service]\nSupplementaryGroups=video', 'keep-groups'),
            ('[Service]\nAmbientCapabilities=CAP_NET_ADMIN', 'AddCapability='), ('[Service]\nPAMName=login', 'remove it'),
            ('[Service]\nStandardOutput=file:/tmp/x', 'remove it')):
        as_user(machine, 'systemctl --user stop mine; systemctl --user reset-failed', check=False)
        container(machine, 'mine', f'[Container]\nImage={IMAGE}\nExec=sleep 1000\n{line}\n[Service]\nKillSignal=SIGKILL\n')
        number = 7 if line[0] == '[' or 'LogOpt' in line else 6
        if not as_user(machine, 'systemctl --user start mine', check=False).status:
            wrong.append((line, 'it has started'))
        said = show(machine, 'mine', 'Description')
        verified = as_user(machine, '/usr/lib/systemd/user-generators/keyturn-user-generator --verify', check=False)
        for text in (said, verified.out):
            if f'mine.container:{number}:' not in text or words not in text:
                wrong.append((line, text))
        if not verified.status or 'nothing protects' in verified.out:  # words to who may have it
            wrong.append((line, verified))
    for line, words in (('AddDevice=/dev/secret', 'ls -l /dev/secret'), ('AddDevice=/dev/null:r', 'without what is to be allowed'),
                        ('Ulimit=nofile=99999999:99999999', 'Limit...= in [Service] of user@.service'), ('Sysctl=kernel.shmmax=1000', 'sysctl.d(5)')):
        as_user(machine, 'systemctl --user stop mine; systemctl --user reset-failed', check=False)
        container(machine, 'mine', f'[Container]\nImage={IMAGE}\nExec=sleep 1000\n{line}\n[Service]\nKillSignal=SIGKILL\n')
        before = len(machine.journal())
        if not as_user(machine, 'systemctl --user start mine', check=False).status:
            if line.startswith('Sysctl'):  # newer kernels let her
                continue
            wrong.append((line, 'it has started'))
        if words not in machine.journal()[before:]:
            wrong.append((line, machine.journal()[before:]))
    assert not wrong, wrong
    # What only some controllers would keep: this manager has none.
    for line, name in (('MemoryMax=10M', 'memory'), ('StartupMemoryMax=10M', 'memory'), ('CPUQuota=10%', 'cpu'), ('AllowedCPUs=0', 'cpuset'), ('TasksMax=9', 'pids'), ('IOReadBandwidthMax=/ 5', 'io')):
        container(machine, 'mine', f'[Container]\nImage={IMAGE}\nExec=sleep 1000\n[Service]\n{line}\nKillSignal=SIGKILL\n')
        if not as_user(machine, 'systemctl --user start mine', check=False).status:
            wrong.append((line, 'it has started'))
        said = show(machine, 'mine', 'Description')
        if 'mine.container:7: ' not in said or f"no controller '{name}'" not in said or 'Delegate=' not in said:
            wrong.append((line, said))
    assert not wrong, wrong
    start(machine, keys='[Service]\nMemoryMax=infinity\nTasksMax=\nMemoryAccounting=no')


def test_files_are_verified_as_the_users_generator_reads_them(machine):
    verify = '/usr/lib/systemd/user-generators/keyturn-user-generator --verify'
    start(machine, keys='UserNS=keep-id\nNetwork=none')
    good = as_user(machine, verify, check=False)
    assert good.status == 0 and 'error' not in good.out, good
    file = '/home/alice/.config/containers/systemd/mine.container'
    container(machine, 'mine', f'[Container]\nImage={IMAGE}\nNetwork=host\nUserNS=ns:/x\n[Service]\nExecStartPre=/nowhere\nWhatever=x\n')
    for words in (verify, f'{verify} {file}', f'{verify} --json {file}'):
        bad = as_user(machine, words, check=False)
        assert bad.status == 1 and 'UserNS=keep-id' in bad.out and 'user-file' not in bad.out, bad
    for wanted, warned in ('multi-user.target', True), ('multi-user.target default.target', False), ('default.target', False):
        container(machine, 'other', f'[Container]\nImage={IMAGE}\n[Install]\nWantedBy={wanted}\n')
        assert ('write default.target' in as_user(machine, verify, check=False).out) == warned, wanted
    # Without an image that is all there is to say of images.
    container(machine, 'other', '[Container]\nUserNS=keep-id\nAutoUpdate=registry\n')
    said = [line for line in as_user(machine, verify, check=False).out.split('\n') if 'other.container' in line]
    assert len(said) == 1 and 'Image= or Rootfs= must be given' in said[0], said
    as_user(machine, 'rm ~/.config/containers/systemd/other.container')
    # Root, too, and a whole directory, that of an image that is built.
    said = machine.run(f'{verify} {file}', check=False)
    assert said.status == 1 and f'{file}:6:' in said.out and "Unknown key 'Whatever'" in said.out, said
    assert 'keyturn-user-generator --verify' in machine.run(f'/usr/lib/systemd/system-generators/keyturn-generator --verify {file}', check=False).out


def test_root_has_none(machine):
    """The system's generator takes nothing of users', and users' nothing of the system's."""
    start(machine)
    assert machine.run('systemctl cat mine', check=False).status
    machine.container('systems', f'[Container]\nImage={IMAGE}\nExec=sleep 1000\n')
    as_user(machine, 'systemctl --user daemon-reload')
    assert as_user(machine, 'systemctl --user cat systems', check=False).status


def test_files_of_the_administrator(machine):
    make_user(machine, 'alice')
    make_user(machine, 'bob')
    text = f'[Container]\nImage={IMAGE}\nExec=sleep 1000\n'
    machine.run('mkdir -p /etc/containers/systemd/users/1234 /etc/containers/systemd/users/1235')
    machine.write('/etc/containers/systemd/users/all.container', text)
    machine.write('/etc/containers/systemd/users/1234/hers.container', text)
    machine.write('/etc/containers/systemd/users/1235/his.container', text)
    for user, own, others in (('alice', 'hers', 'his'), ('bob', 'his', 'hers')):
        as_user(machine, 'systemctl --user daemon-reload', user)
        as_user(machine, f'systemctl --user start all {own}', user)
        assert as_user(machine, f'systemctl --user cat {others}', user, check=False).status
    machine.run('rm -r /etc/containers/systemd/users')


def test_beside_podman(machine):
    """Only what is marked as keyturn's."""
    make_user(machine, 'alice')
    generator = 'env SYSTEMD_SCOPE=user /usr/lib/systemd/user-generators/keyturn-user-generator --dry-run'
    container(machine, 'mine', f'[Container]\nImage={IMAGE}\nNetwork=host\n')
    assert '---mine.service---' in as_user(machine, generator).out
    # Podman 4.3 has none.
    machine.run('rm /etc/systemd/user-generators/podman-user-generator; cd /usr/lib/systemd/user-generators; '
                'test -e podman-user-generator || install -m 0755 /bin/true podman-user-generator')
    try:
        assert '---mine.service---' not in as_user(machine, generator).out
        container(machine, 'mine', f'[Container]\nImage={IMAGE}\nNetwork=host\n[Keyturn]\n')
        assert '---mine.service---' in as_user(machine, generator).out
    finally:
        machine.run('ln -s /dev/null /etc/systemd/user-generators/podman-user-generator; rm -f /home/alice/.config/containers/systemd/mine.container')


# ---- who may not

def test_users_are_apart(machine):
    start(machine)
    start(machine, user='bob')
    pid = show(machine, 'mine', 'MainPID')
    for command in ('ls /run/user/1234', 'cut -d" " -f1 /run/user/1234/keyturn/.view', f'kill -0 {pid}', f'cat /proc/{pid}/environ',
                    f'nsenter -t {pid} -U -m true', f'ls -l /proc/{pid}/ns/mnt', f'ls /proc/{pid}/root/'):
        assert as_user(machine, command, 'bob', check=False).status, command
    # Bob names the holder of alice's namespaces as his own.
    holder = machine.run('cat /run/user/1234/keyturn/.view').out.strip()
    as_user(machine, f'cp $XDG_RUNTIME_DIR/keyturn/.view ~; echo {holder} >$XDG_RUNTIME_DIR/keyturn/.view', 'bob')
    try:
        assert as_user(machine, 'systemctl --user restart mine', 'bob', check=False).status
        assert 'Cannot enter the namespaces' in machine.journal()
    finally:
        as_user(machine, 'cp ~/.view $XDG_RUNTIME_DIR/keyturn; systemctl --user restart mine', 'bob')


def test_a_payload_in_the_hands_of_an_attacker(machine):
    """It is root of its own namespace, with all capabilities there, and reaches neither the view's nor another container."""
    start(machine, 'victim')
    start(machine, keys='AddCapability=all')
    victim = show(machine, 'victim', 'MainPID')
    holder = machine.run('cut -d" " -f1 /run/user/1234/keyturn/.view').out.strip()
    assert inside(machine, f'ls /proc/{victim} /proc/{holder} 2>&1', check=False).count('No such file') == 2
    assert inside(machine, 'ls /run/user /run/keyturn 2>&1', check=False).count('No such file') == 2
    # From outside, with the payload's own ids and capabilities: as if it had got the host's pid namespace.
    pid = show(machine, 'mine', 'MainPID')
    for target in (victim, holder):
        for what in ('root', 'ns/mnt', 'environ', 'fd'):
            got = machine.run(['nsenter', '-t', pid, '-U', '--preserve-credentials', 'setpriv', '--reuid', '0', '--regid', '0',
                               '--clear-groups', 'ls', f'/proc/{target}/{what}/'] if what in ('root', 'fd') else
                              ['nsenter', '-t', pid, '-U', '-S', '0', '-G', '0', 'cat', f'/proc/{target}/{what}'], check=False)
            assert got.status, (target, what, got)


# ---- a directory of hers

def make_tree(machine):
    make_user(machine, 'alice')
    machine.run('rm -rf /home/alice/tree; mkdir /home/alice/tree; '
                'cp -a "$(dirname "$(find /var/lib/containers/storage/overlay -path "*/diff/bin/busybox" | head -1)")" /home/alice/tree/bin; '
                'mkdir /home/alice/tree/etc /home/alice/tree/root; echo hers >/home/alice/tree/root/hers; chown -R alice: /home/alice/tree')


def start_tree(machine, suffix='', keys='', command='sleep 1000', check=True):
    container(machine, 'mine', f'[Container]\nRootfs=/home/alice/tree{suffix}\nExec=/bin/busybox {command}\n{keys}\n[Service]\nKillSignal=SIGKILL\n')
    ended = as_user(machine, 'systemctl --user restart mine', check=False)
    assert not check or not ended.status, machine.journal()[-2000:]
    return ended


def test_a_directory_as_the_root(machine):
    make_tree(machine)
    for suffix, stays in ('', True), (':O', False):
        start_tree(machine, suffix, 'Environment=A=b\nAddHost=hub:10.0.0.1')
        assert inside(machine, 'cat /root/hers; echo $A; stat -c %u:%g /root/hers; id -u').split() == ['hers', 'b', '0:0', '0'], suffix
        assert '10.0.0.1' in inside(machine, 'cat /etc/hosts')
        inside(machine, 'echo new >/root/new; chown 1:1 /root/new')
        assert (machine.run('cat /home/alice/tree/root/new', check=False).out == 'new\n') == stays, suffix
        if stays:  # further ids are hers, and nobody's on the machine
            assert machine.run('stat -c %u /home/alice/tree/root/new').out.strip() == machine.run('grep ^alice: /etc/subuid | cut -d: -f2').out.strip()
        assert machine.run('stat -c %U /home/alice/tree/root/hers').out == 'alice\n'
        as_user(machine, 'systemctl --user stop mine; podman unshare rm -f tree/root/new')
    assert machine.run('cat /home/alice/tree/etc/hosts', check=False).out == ''
    start_tree(machine, ':O', 'ReadOnly=yes')
    assert inside(machine, 'touch /root/x 2>/dev/null || echo no') == 'no'
    # As with Podman, the owners are those that the files have.
    start_tree(machine, ':O', 'UserNS=keep-id\nVolume=/home/alice:/home/alice')
    assert inside(machine, 'stat -c %u:%g /root/hers; id -u').split() == ['1234:1234', '1234']
    start_tree(machine, ':O', 'Network=none')
    assert inside(machine, 'ls /sys/class/net') == 'lo'
    for suffix, keys, words in ((':idmap', '', 'no user map'), ('/nowhere', '', '/home/alice/tree/nowhere'), (':O', 'AutoUpdate=registry', 'no image')):
        assert start_tree(machine, suffix, keys, check=False).status, suffix
        said = show(machine, 'mine', 'Description') + machine.journal()
        assert words in said, (suffix, keys, said)
    # What is no directory of hers she does not open.
    machine.run('install -d -m 0700 /srv/roots; cp -a /home/alice/tree /srv/roots/tree')
    container(machine, 'mine', '[Container]\nRootfs=/srv/roots/tree:O\nExec=/bin/busybox sleep 1000\n')
    assert as_user(machine, 'systemctl --user restart mine', check=False).status
    assert 'Permission denied' in machine.journal()


def test_a_directory_in_the_hands_of_an_attacker(machine):
    """The last payload has left links and odd files where this start makes its mounts and files."""
    make_tree(machine)
    machine.run('mkdir -p /home/alice/else /home/alice/else/etc; echo safe >/home/alice/else/hosts; chown -R alice: /home/alice/else')
    before = machine.run('find /home/alice/else -printf "%p %m %u %s\n" | sort').out
    tricks = ('ln -s /home/alice/else /etc', 'ln -s ../../../home/alice/else /etc', 'mkdir /etc; ln -s /home/alice/else/hosts /etc/hosts',
              'mkdir /etc; mkfifo /etc/hosts /etc/resolv.conf', 'ln -s /home/alice/else /dev', 'ln -s /proc/self/cwd /etc',
              'ln -s /home/alice/else /proc', 'ln -s /home/alice/else /sys', 'ln -s /home/alice/else /run')
    for trick in tricks:
        machine.run('rm -rf /home/alice/tree/etc /home/alice/tree/dev /home/alice/tree/proc /home/alice/tree/sys /home/alice/tree/run')
        as_user(machine, f'mkdir -p tree/etc; cd tree; {trick.replace(" /etc", " etc").replace("/etc/", "etc/").replace("mkdir etc; ", "")}'
                         .replace(' /dev', ' dev').replace(' /sys', ' sys').replace(' /run', ' run').replace('else /proc', 'else proc'), check=False)
        for suffix in ('', ':O'):
            start_tree(machine, suffix, 'AddHost=hub:10.0.0.1\nHostName=odd\nTimezone=UTC\nTmpfs=/run\nVolume=/home/alice/else/etc:/etc/deep:ro', check=False)
            assert machine.run('find /home/alice/else -printf "%p %m %u %s\n" | sort').out == before, (trick, suffix)
            if show(machine, 'mine', 'SubState') == 'running':
                assert 'safe' not in inside(machine, 'cat /home/alice/else/hosts', check=False), (trick, suffix)
                pid = show(machine, 'mine', 'MainPID')
                assert machine.run(f'grep -c " /home/alice" /proc/{pid}/mounts', check=False).out.strip() == '0', (trick, suffix)
            as_user(machine, 'systemctl --user stop mine; systemctl --user reset-failed', check=False)


def view(machine):
    return machine.run('readlink /proc/$(cut -d" " -f1 /run/user/1234/keyturn/.view)/ns/user /proc/$(cut -d" " -f1 '
                       '/run/user/1234/keyturn/.view)/ns/mnt').out.split()


def test_a_holder_that_is_killed(machine):
    """It comes back in the same namespaces, and who starts meanwhile waits for it."""
    start(machine)
    container(machine, 'other', f'[Container]\nImage={IMAGE}\nExec=sleep 1000\n[Service]\nKillSignal=SIGKILL\n')
    before = show(machine, 'mine', 'MainPID'), view(machine)
    for _ in range(5):
        as_user(machine, 'kill -9 $(cut -d" " -f1 $XDG_RUNTIME_DIR/keyturn/.view); systemctl --user restart other')
        assert (show(machine, 'mine', 'MainPID'), view(machine)) == before
    as_user(machine, 'systemctl --user stop other; systemctl --user restart mine')
    assert inside(machine, 'echo word >&2; id -u') == '0'


def test_a_view_that_is_made_anew(machine):
    """What runs goes on, and what starts next gets new namespaces."""
    start(machine)
    before, old = show(machine, 'mine', 'MainPID'), view(machine)
    renew_view(machine)
    assert show(machine, 'mine', 'MainPID') == before and not set(view(machine)) & set(old)
    start(machine, 'other')
    as_user(machine, 'systemctl --user restart mine')
    assert inside(machine, 'id -u') == '0'
    # One that cannot be made leaves the one before.
    old = view(machine)
    machine.write('/home/alice/.config/containers/storage.conf', '[storage\n')
    assert as_user(machine, 'systemctl --user restart keyturn-view', check=False).status
    assert 'storage.conf' in machine.journal()
    machine.run('rm /home/alice/.config/containers/storage.conf')
    assert view(machine) == old
    start(machine, 'other')


def test_a_relay_that_could_not_say_that_it_is_the_holder(machine):
    """Nobody can tell it, and it took no view any more."""
    start(machine)
    before = view(machine)
    as_user(machine, 'printf "%-20s %-20s\\n" $(sh -c "echo \\$\\$") 1 >$XDG_RUNTIME_DIR/keyturn/.view; systemctl --user restart keyturn-view')
    assert not set(view(machine)) & set(before)
    as_user(machine, 'systemctl --user restart mine')
    assert inside(machine, 'id -u') == '0'


def test_a_view_is_made_anew_while_its_holder_is_killed(machine):
    start(machine)
    for i in range(12):
        as_user(machine, f'(sleep 0.0{i}; systemctl --user kill -s KILL keyturn-relay) & systemctl --user restart keyturn-view & '
                         f'sleep 0.{i:02}; timeout 15 systemctl --user restart keyturn-view; wait')
        start(machine, 'other')
    before = view(machine)
    as_user(machine, 'systemctl --user kill -s KILL keyturn-relay; systemctl --user restart keyturn-view; systemctl --user restart other')
    assert not set(view(machine)) & set(before)


def test_a_holder_that_cannot_be_entered(machine):
    """The relay has the namespaces that systemd has kept, and says that it is the holder."""
    start(machine)
    before = view(machine)
    as_user(machine, 'holder=$(cut -d" " -f1 $XDG_RUNTIME_DIR/keyturn/.view); '
                     'printf "%-20s %-20s\\n" 1 $(cut -d" " -f22 /proc/1/stat) >$XDG_RUNTIME_DIR/keyturn/.view; kill -9 $holder')
    machine.wait_for(lambda: machine.run('cut -d" " -f1 /run/user/1234/keyturn/.view').out.strip() != '1')
    as_user(machine, 'systemctl --user restart mine')
    assert view(machine) == before and inside(machine, 'id -u') == '0'


def test_a_number_that_a_payload_has_now(machine):
    """Of a holder that has ended: its namespaces are the payload's, and nothing is to start there."""
    start(machine, keys='AddCapability=all')
    pid = show(machine, 'mine', 'MainPID')
    as_user(machine, f'cd $XDG_RUNTIME_DIR/keyturn; cp .view ~; sed -i "s/^[0-9]*/{pid}/" .view')
    try:
        assert as_user(machine, 'timeout 30 keyturnctl --user list', check=False).status not in (0, 124)
        assert start(machine, 'other', check=False).status
        assert machine.journal().count('Cannot enter the namespaces of keyturn-view.service') >= 1
    finally:
        as_user(machine, 'cp ~/.view $XDG_RUNTIME_DIR/keyturn/')
    start(machine, 'other')


def test_starts_stops_and_kills_leave_nothing(machine):
    start(machine, 'one')
    start(machine, 'two')
    as_user(machine, 'systemctl --user stop one two')

    def left():
        return (machine.run('cd /run/user/1234/keyturn && find . | sort').out,
                machine.run('grep -c . /proc/1/mountinfo; grep -c . /proc/$(cut -d" " -f1 /run/user/1234/keyturn/.view)/mountinfo').out,
                machine.run('ps -u alice -o args= | sort').out)
    before = machine.settled(left)
    as_user(machine, 'for i in $(seq 25); do systemctl --user start one two; '
                     'systemctl --user kill -s KILL --kill-whom=$( [ $((i % 2)) = 0 ] && echo main || echo all ) one; '
                     'systemctl --user stop one two; systemctl --user reset-failed; done', check=False, timeout=110)
    machine.is_as(before, left)


def test_the_managers_keyring_stays(machine):
    """Her manager is the payload's parent: with the payload's session keyring, it would have given all her services that one."""
    machine.build('hostile-exec/keys.c', '/srv/bin/keys')
    make_user(machine, 'bob')
    # The keyring that pam_keyinit makes for a manager is the user's.
    machine.write('/run/systemd/system/user@1235.service.d/60.conf',
                  '[Service]\nExecStart=\nExecStart=/srv/bin/keys put its own /usr/lib/systemd/systemd --user\n')
    machine.write('/etc/systemd/user/other.service', '[Service]\nExecStart=/srv/bin/keys add password hunter2\n')
    machine.run('systemctl daemon-reload; systemctl restart user@1235')
    start(machine, 'giver', 'Volume=/srv/bin:/attack', '/attack/keys give 60', 'bob')
    machine.wait_for(lambda: 'planted' in journal(machine, 'giver'))
    machine.run('sleep 1')
    as_user(machine, 'systemctl --user start other', 'bob')
    machine.wait_for(lambda: 'added' in journal(machine, 'other'))
    machine.run('sleep 1')
    assert 'hunter2' not in journal(machine, 'giver') and show(machine, 'giver', 'ActiveState', user='bob') == 'active'
    machine.run('systemctl stop user@1235; rm -r /srv/bin /run/systemd/system/user@1235.service.d/60.conf '
                '/etc/systemd/user/other.service; systemctl daemon-reload; systemctl start user@1235')


def test_masks_of_the_hosts_sys(machine):
    """It is bound before libcrun, for a mount of its own, binds the root onto itself: that has a copy."""
    for keys in ('', 'Tmpfs=/var/cache/app'):
        start(machine, keys=f'Network=host\n{keys}')
        assert inside(machine, 'ls -A /sys/kernel; ls -d /sys/devices') == '/sys/devices', keys
