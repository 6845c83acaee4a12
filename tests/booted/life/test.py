# SPDX-License-Identifier: LGPL-2.1-or-later
"""How a payload is stopped: by its image's signal, by a watchdog, as an init, below an init."""

import re
import time


# Says which signal came, and what it is.
TRAPS = '''sh -c "trap 'echo got TERM; exit 0' TERM; trap 'echo got QUIT; exit 0' QUIT; trap 'echo got USR1; exit 0' USR1; \
trap 'echo got INT; exit 0' INT; trap 'echo got WINCH' WINCH; echo ready; while :; do sleep 0.05; done"'''

# This image's STOPSIGNAL is SIGUSR1.
IMAGE = 'localhost/test/layers:4'


def container(machine, name, exec_, image='localhost/test/busybox', more='', service=''):
    machine.container(name, f'''
        [Container]
        Image={image}
        Exec={exec_}
        Network=host
        {more}
        [Service]
        {service}
    ''')
    machine.run(f'systemctl start {name}')
    return int(machine.show(name, 'MainPID'))


def stop_unit(name):
    return f'keyturn-stop@{name}.service'


def said(machine, name):
    """The relay may be a moment late."""
    return machine.wait_for(lambda: [line for line in machine.journal(name).splitlines() if line.startswith('got ')])


def state(machine, name):
    return machine.show(name, 'ActiveState'), machine.show(name, 'Result')


def test_signal_of_the_image_in_the_foreground(machine):
    """Type=oneshot: libstart is the main process, which systemd signals, and passes on what the image wants."""
    for name, exec_, more, service, expected in (
            ('once', TRAPS, '', '', (['got USR1'], 'success')),
            ('fails', TRAPS.replace("USR1; exit 0", "USR1; exit 7"), '', '', (['got USR1'], 'exit-code')),
            ('said', TRAPS, 'StopSignal=INT', '', (['got INT'], 'success')),
            ('given', TRAPS, '', 'KillSignal=SIGQUIT', (['got QUIT'], 'success'))):
        machine.container(name, f'[Container]\nImage={IMAGE}\nExec={exec_}\nNetwork=host\n{more}\n[Service]\nType=oneshot\n'
                                f'{service}\n')
        machine.run(f'systemctl start --no-block {name}')
        machine.wait_for(lambda name=name: 'ready' in machine.journal(name))
        # One more process, for an image that wants it.
        names = f'for i in $(cat /sys/fs/cgroup/system.slice/{name}.service/cgroup.procs); do cat /proc/$i/comm; done; true'
        machine.wait_for(lambda: machine.run(names).out.split().count('libstart') == (1 if more or service else 2))
        machine.run(f'systemctl stop {name}')
        assert (said(machine, name), machine.show(name, 'Result')) == expected, name
        assert machine.run(f'ls /run/keyturn/{name}', check=False).status != 0
    # What ends on its own has its own status; one that is stopped at once leaves nothing.
    machine.container('ends', f'[Container]\nImage={IMAGE}\nExec=sh -c "exit 5"\nNetwork=host\n[Service]\nType=oneshot\n')
    assert machine.run('systemctl start ends', check=False).status != 0
    assert machine.show('ends', 'ExecMainStatus') == '5'
    for _ in range(10):
        machine.run('systemctl start --no-block once; systemctl stop once')
    assert machine.run('ls /run/keyturn/once', check=False).status != 0
    machine.run('systemctl reset-failed', check=False)


def test_signal_of_the_image(machine):
    pid = container(machine, 'own', TRAPS, IMAGE)
    machine.wait_for(lambda: 'ready' in machine.journal('own'))
    machine.wait_for(lambda: state(machine, stop_unit('own')) == ('active', 'success'))
    # Nothing of it is resident.
    assert machine.run(f'systemctl show -P ControlPID {stop_unit("own")}').out.strip() == '0'
    assert not machine.run(f'cat /sys/fs/cgroup/system.slice/system-keyturn*/{stop_unit("own")}/cgroup.procs',
                           check=False).out
    machine.run('systemctl restart own')
    assert said(machine, 'own') == ['got USR1']
    assert int(machine.show('own', 'MainPID')) not in (0, pid)
    machine.wait_for(lambda: machine.journal('own').count('ready') == 2)
    machine.run('systemctl stop own')
    machine.wait_for(lambda: said(machine, 'own') == ['got USR1'] * 2)
    assert state(machine, 'own') == ('inactive', 'success')
    machine.wait_for(lambda: machine.show(stop_unit('own'), 'ActiveState') == 'inactive')


def test_signal_of_the_image_at_once(machine):
    """A stop that comes right after the start, from a libstart that is slow to reach systemd."""
    libstart = '/usr/lib/keyturn/libstart'
    container(machine, 'soon', TRAPS, IMAGE)
    machine.wait_for(lambda: 'ready' in machine.journal('soon'))
    machine.write('/run/slow', '#!/bin/sh\nexec strace -D -f -qq -b execve -o /dev/null -e trace=connect '
                               '-e inject=connect:delay_enter=500000 /run/libstart "$@"\n')
    # As a payload could write to it, it would execute a copy of itself, and strace let go of that.
    machine.run(f'cp {libstart} /run/libstart; mount --bind /run/libstart /run/libstart; mount -o remount,bind,ro /run/libstart')
    machine.run(f'chmod +x /run/slow; mount --bind /run/slow {libstart}')
    try:
        machine.run('systemctl stop soon; systemctl start soon')
        machine.wait_for(lambda: machine.journal('soon').count('ready') == 2)
        machine.run('systemctl stop soon')
    finally:  # systemctl does not wait for the unit with the signal of the image, whose libstart is as slow
        machine.run(f'umount -l {libstart} /run/libstart')
    machine.wait_for(lambda: said(machine, 'soon') == ['got USR1'] * 2)


def test_signal_of_the_image_of_an_instance(machine):
    machine.container('own@', f'''
        [Container]
        Image={IMAGE}
        Exec={TRAPS}
        Network=host
        [Service]
        Restart=always
    ''')
    name = 'own@a-b.service'
    machine.run(['systemctl', 'start', name])
    machine.wait_for(lambda: 'ready' in machine.journal(name))
    machine.run(['systemctl', 'stop', name])
    assert said(machine, name) == ['got USR1']
    time.sleep(0.3)
    assert state(machine, name) == ('inactive', 'success')


def test_who_says_it_is_obeyed(machine):
    """The file, and a drop-in of systemd's, before the image."""
    container(machine, 'file', TRAPS, IMAGE, more='StopSignal=QUIT')
    container(machine, 'term', TRAPS, IMAGE, more='StopSignal=TERM')
    container(machine, 'service', TRAPS, IMAGE, service='KillSignal=SIGINT')
    container(machine, 'dropin', TRAPS, IMAGE)
    container(machine, 'plain', TRAPS)
    machine.write('/etc/systemd/system/dropin.service.d/x.conf', '[Service]\nKillSignal=SIGQUIT\n')
    machine.run('systemctl daemon-reload')
    for name in 'file', 'term', 'service', 'plain':
        assert machine.show(stop_unit(name), 'ActiveState') == 'inactive', name
    for name, word in ('file', 'QUIT'), ('term', 'TERM'), ('service', 'INT'), ('dropin', 'QUIT'), ('plain', 'TERM'):
        machine.wait_for(lambda: 'ready' in machine.journal(name))
        machine.run(f'systemctl stop {name}')
        assert said(machine, name) == [f'got {word}'], name


def test_payload_that_ends_by_itself(machine):
    """Its stop unit goes with it, and kills nobody: not the one that comes next, under Restart=."""
    container(machine, 'again', 'sh -c "echo begin; sleep 0.3"', IMAGE,
              service='Restart=always\nRestartSec=10ms\n[Unit]\nStartLimitIntervalSec=0')
    machine.wait_for(lambda: machine.journal('again').count('begin') >= 4, 20)
    machine.wait_for(lambda: machine.show('again', 'ActiveState') == 'active')
    assert not [line for line in machine.journal('again').splitlines() if 'signal' in line.lower()], machine.journal('again')
    machine.run('systemctl stop again')
    machine.wait_for(lambda: machine.show(stop_unit('again'), 'ActiveState') == 'inactive')


def test_who_stays_when_another_target_is_isolated(machine):
    """As `systemctl default` does after an emergency: what the target wants goes on, is checked, and is stopped by its image's
    signal."""
    machine.container('checked', '[Container]\nImage=localhost/test/busybox\nExec=sleep 1000\nStopSignal=SIGKILL\n'
                      'HealthCmd=true\nHealthInterval=1s\n[Install]\nWantedBy=multi-user.target\n', reload=False)
    machine.container('web', '[Container]\nImage=localhost/test/nginx\nNetwork=bridge\n[Install]\nWantedBy=multi-user.target\n')
    machine.run('systemctl start checked web')
    machine.wait_for(lambda: machine.show('keyturn-health-every@1s.timer', 'ActiveState') == 'active')
    pids = [machine.show(name, 'MainPID') for name in ('checked', 'web')]
    machine.run('systemctl isolate multi-user.target')
    checked = machine.run('keyturnctl health checked').out
    machine.wait_for(lambda: machine.run('keyturnctl health checked').out != checked)
    assert [machine.show(name, 'MainPID') for name in ('checked', 'web')] == pids and '0' not in pids
    assert machine.show(stop_unit('web'), 'ActiveState') == 'active'
    machine.run('systemctl stop web')
    assert state(machine, 'web') == ('inactive', 'success')
    # What no target wants goes with all that is its own.
    machine.run('rm /etc/containers/systemd/checked.container; systemctl daemon-reload; systemctl isolate multi-user.target')
    assert machine.show('checked', 'ActiveState') == 'failed'  # killed, by its own signal
    machine.wait_for(lambda: machine.show('keyturn-health-every@1s.timer', 'ActiveState') == 'inactive')


def test_payload_that_ignores_the_images_signal(machine):
    container(machine, 'deaf', 'sleep 1000', IMAGE, more='StopTimeout=1')
    begin = time.monotonic()
    machine.run('systemctl stop deaf')
    assert 1 <= time.monotonic() - begin < 9
    assert state(machine, 'deaf') == ('failed', 'signal')
    killed = "deaf.service did not end within 1 s of SIGUSR1, its image's stop signal: it is killed"
    machine.wait_for(lambda: killed in machine.journal())


def test_stop_unit_is_not_for_people(machine):
    container(machine, 'own', TRAPS, IMAGE)
    result = machine.run(f'systemctl stop {stop_unit("own")}', check=False)
    assert result.status != 0 and 'may be requested by dependency only' in result.err
    assert machine.show('own', 'ActiveState') == 'active'


def test_nginx(machine):
    """A graceful end, by SIGQUIT, logs other words than SIGTERM."""
    container(machine, 'web', 'nginx -g "daemon off; error_log stderr notice;"', 'localhost/test/nginx')
    machine.wait_for(lambda: 'start worker process' in machine.journal('web'))
    machine.run('systemctl stop web')
    machine.wait_for(lambda: 'gracefully shutting down' in machine.journal('web'))
    assert state(machine, 'web') == ('inactive', 'success')


def test_watchdog_ends_who_ignores_abort(machine):
    begin = time.monotonic()
    container(machine, 'hang', 'sh -c "trap : TERM; while :; do sleep 1; done"', service='WatchdogSec=1')
    machine.wait_for(lambda: machine.show('hang', 'ActiveState') == 'failed')
    assert time.monotonic() - begin < 10, 'it took the time of a stop'
    assert machine.show('hang', 'Result', 'ExecMainStatus') == {'Result': 'watchdog', 'ExecMainStatus': '9'}
    container(machine, 'dump', 'sh -c "trap \'echo got ABRT; exit 3\' ABRT; while :; do sleep 0.1; done"',
              service='WatchdogSec=4\nWatchdogSignal=SIGABRT')
    machine.wait_for(lambda: machine.show('dump', 'ActiveState') == 'failed')
    assert said(machine, 'dump') == ['got ABRT']


def test_exec_takes_options_in_one_word(machine):
    container(machine, 'in', 'sleep 1000')
    out = machine.run(['script', '-qec', 'keyturnctl exec -it in tty', '/dev/null']).out
    assert '/dev/pts/0' in out and 'Unknown' not in out, out
    assert machine.run('echo hello | keyturnctl exec -i in cat').out == 'hello\n'


# ---- RunInit=

INIT = '/usr/local/libexec/podman/catatonit'


def build_init(machine):
    machine.build('life/orphans.c', INIT)
    machine._files.append(INIT)  # no other test finds it


def test_init_below(machine):
    """Its arguments and its mount are Podman's; it waits for orphans, and is given the signals."""
    build_init(machine)
    script = '''sh -c "trap 'echo got TERM; exit 0' TERM; (sleep 0.1 &); tr '\\\\0' ' ' </proc/1/cmdline; echo; \
grep podman-init /proc/mounts | cut -d' ' -f2-4; echo x >/run/podman-init; echo x >/proc/1/exe; sleep 2; \
ps -o pid,stat,comm; echo done; while :; do sleep 0.05; done"'''
    container(machine, 'below', script, more='RunInit=true')
    machine.wait_for(lambda: 'done' in machine.journal('below').splitlines())
    log = machine.journal('below')
    assert '/run/podman-init -- sh -c' in log, log
    assert re.search(r'^/run/podman-init overlay ro,', log, re.M), log
    assert log.count('Read-only file system') == 2, log
    assert not re.search(r'\bZ\b.*sleep', log), log
    machine.run('systemctl stop below')
    assert said(machine, 'below') == ['got TERM'] and state(machine, 'below') == ('inactive', 'success')
    words = machine.run('podman run --rm --network none --cgroups=disabled --ulimit host '
                        f'--init --init-path {INIT} localhost/test/busybox '
                        'sh -c "tr \'\\\\0\' \' \' </proc/1/cmdline; echo; grep podman-init /proc/mounts | cut -d\' \' -f2,4"',
                        check=False)
    assert words.out.startswith('/run/podman-init -- sh -c') and '/run/podman-init ro,' in words.out, words


def test_init_of_ones_own(machine):
    build_init(machine)
    machine.run(f'mv {INIT} /srv/my-init')
    container(machine, 'mine', 'sleep 1000', more='PodmanArgs=--init --init-path=/srv/my-init')
    assert machine.run('cat /proc/$(systemctl show -P MainPID mine)/comm').out == 'podman-init\n'
    machine.wait_for(lambda: machine.run('pgrep -xf "sleep 1000"').out)  # by then it takes signals
    machine.run('systemctl stop mine; rm /srv/my-init')
    assert state(machine, 'mine') == ('failed', 'exit-code')  # 128 + SIGTERM: sleep(1) has no handler, and dies of it
    machine.container('none', '[Container]\nImage=localhost/test/busybox\nExec=true\nNetwork=host\nRunInit=yes')
    assert machine.run('systemctl start none', check=False).status != 0
    assert "install the package 'catatonit'" in machine.journal('none')


# ---- the payload is an init

# Tells what an init looks at; what follows "ready" is an attack.
FAKE = '''#!/bin/sh
trap 'echo got RTMIN+3; exit 0' 37
trap 'echo got TERM; exit 0' TERM
env | grep -o '^container_uuid=[0-9a-f]\\{32\\}$' | cut -d= -f1
for place in /run /run/lock /tmp /var/log/journal /sys/fs/cgroup; do
    grep " $place " /proc/mounts | grep -o "$place [a-z0-9]* [a-z,]*\\(nosuid\\|nodev\\|noexec\\)"
done
mkdir /sys/fs/cgroup/made && echo made
cat /proc/self/cgroup | grep ^0
[ -e /run/.containerenv ] && echo contained
echo ready
%s
while :; do sleep 0.05; done
'''


def fake_init(machine, attack=''):
    machine.write('/srv/init', FAKE % attack, 0o755)
    return 'Volume=/srv/init:/sbin/init:ro\n'


def what_it_has(lines):
    return {line for line in lines if re.match('/|0::|made|contain', line)}


def lines_of(machine, name):
    machine.wait_for(lambda: 'ready' in machine.journal(name).splitlines(), 60)
    return machine.journal(name).splitlines()


# What Podman's has; the cgroup file system has more flags here.
GIVEN = {'container_uuid', '/run tmpfs rw,nosuid,nodev', '/run/lock tmpfs rw,nosuid,nodev', '/tmp tmpfs rw,nosuid,nodev',
         '/var/log/journal tmpfs rw,nosuid,nodev', 'made', '0::/', 'contained'}
OWN_FLAGS = {'/sys/fs/cgroup cgroup2 rw,nosuid,nodev,noexec'}


def check_podman(machine):
    # Its service has the payload's lines twice: once from conmon.
    machine.run('systemd-run --unit=other -p Delegate=yes -p KillMode=mixed podman run --rm --name other --network host '
                '--cgroups=split --log-driver none -v /srv/init:/sbin/init:ro localhost/test/busybox /sbin/init')
    theirs = what_it_has(lines_of(machine, 'other'))
    assert theirs == GIVEN, theirs ^ GIVEN
    assert machine.run('podman inspect other --format "{{.Config.StopSignal}}"').out.strip() in ('37', 'SIGRTMIN+3')
    machine.run('podman stop other')
    assert said(machine, 'other') == ['got RTMIN+3']


def test_init_is_given_what_podman_gives_it(machine):
    container(machine, 'sys', '/sbin/init', more=fake_init(machine))
    own = what_it_has(lines_of(machine, 'sys'))
    assert own == GIVEN | OWN_FLAGS, own ^ (GIVEN | OWN_FLAGS)
    machine.run('systemctl stop sys')
    assert said(machine, 'sys') == ['got RTMIN+3']
    assert state(machine, 'sys') == ('inactive', 'success')
    machine.wait_for(lambda: machine.run('test -e /sys/fs/cgroup/system.slice/sys.service', check=False).status != 0)
    if machine.suite != 'bookworm':  # whose Podman wants to raise limits, which it may not here
        check_podman(machine)


def test_who_is_an_init(machine):
    volume = fake_init(machine)
    container(machine, 'never', '/sbin/init', more=volume + 'PodmanArgs=--systemd=false')
    container(machine, 'always', '/sbin/init2', more='Volume=/srv/init:/sbin/init2:ro\nPodmanArgs=--systemd=always')
    container(machine, 'image', '/sbin/init', IMAGE, more=volume + 'Entrypoint=')
    assert 'made' not in lines_of(machine, 'never')
    assert 'made' in lines_of(machine, 'always')
    assert machine.show('never', 'Delegate') == 'no' and machine.show('always', 'Delegate') == 'yes'
    machine.run('systemctl stop never always')
    assert said(machine, 'never') == ['got TERM'] and said(machine, 'always') == ['got RTMIN+3']
    # The image's signal counts more than an init's.
    assert '"org.opencontainers.image.stopSignal":"10"' in machine.run('cat /run/keyturn/image/*/config.json').out
    assert re.search('^0::/$', machine.run('keyturnctl exec image cat /proc/self/cgroup').out, re.M)
    machine.run('systemctl kill --signal=SIGKILL image')


def cgroups_of(machine, pid):
    """Of all processes in the same PID namespace."""
    return machine.run(f'ns=$(readlink /proc/{pid}/ns/pid); for p in /proc/[0-9]*; do '
                       '[ "$(readlink $p/ns/pid)" = "$ns" ] && grep ^0 $p/cgroup; done; true').out.split()


def test_init_cannot_leave_its_cgroup(machine):
    attack = '''
mkdir /tmp/all && mount -t cgroup2 none /tmp/all && echo mounted
for dir in /sys/fs/cgroup /tmp/all /proc/1/root/sys/fs/cgroup; do
    for up in $dir/.. $dir/../.. $dir/made; do (sleep 1000 & echo $! >$up/cgroup.procs); done
    for limit in memory.max pids.max cpu.max cgroup.max.descendants cgroup.max.depth; do echo max >$dir/$limit; done
done
unshare -C true; nsenter -t 1 -C true; echo tried
'''
    pid = container(machine, 'away', '/sbin/init', more=fake_init(machine, attack) + 'AddCapability=CAP_SYS_ADMIN')
    machine.wait_for(lambda: 'tried' in machine.journal('away'))
    assert 'mounted' in machine.journal('away')
    cgroups = cgroups_of(machine, pid)
    assert len(cgroups) > 2 and all(c.startswith('0::/system.slice/away.service/payload') for c in cgroups), cgroups
    limits = machine.run('cd /sys/fs/cgroup/system.slice/away.service; cat cgroup.max.descendants cgroup.max.depth').out
    assert limits.split() == ['4096', '32'], limits
    machine.run('systemctl stop away')
    machine.wait_for(lambda: machine.run('test -e /sys/fs/cgroup/system.slice/away.service', check=False).status != 0)


def test_init_cannot_hold_its_stop(machine):
    """It freezes itself, and leaves as many cgroups as it can."""
    attack = '''
i=0; while mkdir /sys/fs/cgroup/many$i 2>/dev/null; do i=$((i + 1)); done; echo $i were made
d=/sys/fs/cgroup/many0; while mkdir $d/x 2>/dev/null; do d=$d/x; done
echo $$ >/sys/fs/cgroup/many1/cgroup.procs; echo 1 >/sys/fs/cgroup/many1/cgroup.freeze
'''
    container(machine, 'cold', '/sbin/init', more=fake_init(machine, attack) + 'StopTimeout=1')
    frozen = '/sys/fs/cgroup/system.slice/cold.service/payload/many1/cgroup.freeze'
    machine.wait_for(lambda: machine.run(f'cat {frozen}', check=False).out == '1\n', 60)
    made = int(re.search(r'^(\d+) were made', machine.journal('cold'), re.M)[1])
    assert 3000 < made < 4096, made
    begin = time.monotonic()
    machine.run('systemctl stop cold')
    assert time.monotonic() - begin < 20
    assert machine.show('cold', 'ActiveState') == 'failed'
    machine.wait_for(lambda: machine.run('test -e /sys/fs/cgroup/system.slice/cold.service', check=False).status != 0)


def test_a_payload_lifts_no_limit_of_its_service(machine):
    """What is above the mount of its own is not to be seen: "nsdelegate" keeps nobody from it who has gone further below. The
    machine has no controllers, so it tries the limits that each cgroup has; tests/vm/scenarios/limits.py has the others."""
    machine.build('life/lift.c', '/srv/lift')
    for name, more, service in (
            ('plain', '', 'MemoryMax=1G'), ('able', 'AddCapability=CAP_SYS_ADMIN', 'CPUQuota=90%'),
            ('checked', 'HealthCmd=true\nHealthInterval=1h', 'TasksMax=100'),
            ('protected', '', 'IOWeight=20\nProtectControlGroups=yes'), ('strict', '', 'CPUShares=20\nProtectControlGroups=strict'),
            # What systemd's own filters forbid first.
            ('filtered', '', 'CPUWeight=20\nSystemCallFilter=~clone3\nSystemCallErrorNumber=ENOSYS')):
        group = f'/sys/fs/cgroup/system.slice/{name}.service'
        pid = container(machine, name, '/lift', more=f'Volume=/srv/lift:/lift:ro\n{more}', service=service + '\nKillSignal=SIGKILL')
        machine.wait_for(lambda name=name: 'tried' in machine.journal(name))
        assert 'mounted' in machine.journal(name), machine.journal(name)
        limits = machine.run(f'cat {group}/cgroup.max.depth {group}/cgroup.max.descendants').out.split()
        assert limits == ['32', '4096'], (name, limits)
        cgroups = cgroups_of(machine, pid)
        assert len(cgroups) > 1 and all(f'/{name}.service/payload' in c for c in cgroups), (name, cgroups)
        assert machine.run(f'cat {group}/cgroup.procs').out == '', name
        # What comes in has the same.
        assert machine.run(f'keyturnctl exec {name} busybox grep ^0 /proc/self/cgroup').out == '0::/\n', name
        machine.run(f'systemctl restart {name} && systemctl stop {name}')
        machine.wait_for(lambda group=group: machine.run(f'test -e {group}', check=False).status != 0)


def test_systemd_as_payload(machine):
    """A real one, of the machine's own programs."""
    machine.run('mkdir -p /srv/sys/usr; for l in bin sbin lib lib64; do [ -L /$l ] && cp -a /$l /srv/sys/; done; '
                'cp -a /etc /srv/sys; for d in proc sys dev run tmp var root; do mkdir -p /srv/sys/$d; done; '
                'rm -rf /srv/sys/etc/containers /srv/sys/etc/systemd/system')
    machine.container('host', '''
        [Container]
        Rootfs=/srv/sys
        Volume=/usr:/usr:ro
        Exec=/sbin/init
        Network=none
        StopTimeout=60
    ''')
    machine.run('systemctl start host')
    machine.wait_for(lambda: machine.run('keyturnctl exec host systemctl is-system-running', check=False).out.strip()
                     in ('running', 'degraded'), 60)
    slices = machine.run('ls /sys/fs/cgroup/system.slice/host.service/payload').out.split()
    assert 'init.scope' in slices and 'system.slice' in slices, slices
    assert machine.run('keyturnctl exec host systemd-detect-virt', check=False).out.strip() == 'podman'
    begin = time.monotonic()
    machine.run('systemctl stop host')
    assert time.monotonic() - begin < 50
    assert state(machine, 'host') == ('inactive', 'success')
    machine.run('rm -rf /srv/sys')


def test_init_in_a_user_namespace(machine):
    """The cgroup is its root's."""
    container(machine, 'mapped', '/sbin/init', more=fake_init(machine) + 'UIDMap=0:100000:1000\nGIDMap=0:100000:1000')
    assert 'made' in lines_of(machine, 'mapped')
    owners = machine.run('cd /sys/fs/cgroup/system.slice/mapped.service; stat -c %u . payload payload/made').out
    assert owners.split() == ['0', '100000', '100000'], owners
    machine.run('systemctl stop mapped')
    assert said(machine, 'mapped') == ['got RTMIN+3']


# What has no limit of its own, and why.
CAPABLE = {'keyturn-health@': "a check has its payload's", 'keyturn-health-every@': 'the same'}
ENDLESS = {'keyturn-relay': 'it stays', 'keyturn-health@': 'HealthTimeout=', 'keyturn-health-every@': 'HealthTimeout= of each'}


def test_no_helper_has_devices_rights_or_time_without_end(machine):
    """Those that are shipped, and those that are generated ahead of a container."""
    for name, text in (('x.volume', '[Volume]\n'), ('x.image', '[Image]\nImage=localhost/test/busybox\n'), ('x.pod', '[Pod]\n'),
                       ('x.network', '[Network]\n'), ('pulls', '[Container]\nImage=localhost/test/busybox\nPull=missing\n')):
        machine.container(name, text, reload=False)
    machine.reload()
    shipped = machine.run('cd /usr/lib/systemd/system && ls -d keyturn-*.service').out.split()
    assert len(shipped) > 10, shipped
    for unit in (*shipped, 'x-volume.service', 'x-image.service', 'x-pod.service', 'x-network.service',
                 'keyturn-pull-pulls.service'):
        found = machine.show(unit.replace('@.', '@1s.'), 'DevicePolicy', 'CapabilityBoundingSet', 'TimeoutStartUSec')
        stem = unit.removesuffix('.service')
        assert found['DevicePolicy'] == 'closed', (unit, found)
        assert stem in CAPABLE or 'cap_sys_module' not in found['CapabilityBoundingSet'], (unit, found)
        assert stem in ENDLESS or found['TimeoutStartUSec'] != 'infinity', (unit, found)
