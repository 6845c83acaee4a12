# SPDX-License-Identifier: LGPL-2.1-or-later
"""A container is a service like any other: it starts, ends, fails, restarts, and leaves nothing."""

import json
import re

BUSYBOX = 'localhost/test/busybox'


def container(machine, name, command, container='', service='', image=BUSYBOX):
    machine.container(name, f'''
        [Unit]
        StartLimitIntervalSec=0

        [Container]
        Image={image}
        Exec={command}
        {container}

        [Service]
        {service}
    ''')


def test_payload_is_the_main_process(machine):
    container(machine, 'sleepy', 'sleep 1000')
    machine.run('systemctl start sleepy')
    pid = machine.show('sleepy', 'MainPID')
    assert machine.read(f'/proc/{pid}/cmdline').split('\0')[:2] == ['sleep', '1000']
    assert re.search(r'^PPid:\s*1$', machine.read(f'/proc/{pid}/status'), re.M)
    assert machine.show('sleepy', 'ActiveState') == 'active'
    # The payload is alone in the unit's own cgroup: nothing of ours is left.
    cgroup = machine.show('sleepy', 'ControlGroup')
    machine.wait_for(lambda: machine.run(f'cat /sys/fs/cgroup{cgroup}/cgroup.procs').out.split() == [pid])


def test_a_start_says_nothing_unusual(machine):
    container(machine, 'quiet', 'sleep 1000')
    machine.run('systemctl start quiet')
    lines = machine.journal('quiet').splitlines()
    assert lines and all(line.startswith(('Starting ', 'Started ')) for line in lines), lines
    assert 'not our child' not in machine.journal()


def test_stop_and_restart(machine):
    container(machine, 'sleepy', '''sh -c "trap 'exit 0' TERM; echo ready; while :; do sleep 0.1; done"''')
    machine.run('systemctl start sleepy')
    first = machine.show('sleepy', 'MainPID')
    machine.wait_for(lambda: machine.journal('sleepy').splitlines().count('ready') == 1)
    machine.run('systemctl restart sleepy')
    second = machine.show('sleepy', 'MainPID')
    assert first != second and second != '0'
    machine.wait_for(lambda: machine.journal('sleepy').splitlines().count('ready') == 2)
    machine.run('systemctl stop sleepy')
    assert machine.ended('sleepy') == ('success', 0)


def test_payload_that_ignores_sigterm_is_killed_after_stop_timeout(machine):
    container(machine, 'stubborn', 'sleep 1000', container='StopTimeout=1')
    machine.run('systemctl start stubborn')
    machine.run('systemctl stop stubborn')
    assert machine.ended('stubborn') == ('timeout', 9)


def test_stop_signal(machine):
    container(machine, 'intr', '''sh -c "trap 'exit 7' INT; echo ready; while :; do sleep 0.1; done"''',
              container='StopSignal=INT')
    machine.run('systemctl start intr')
    machine.wait_for(lambda: 'ready' in machine.journal('intr').splitlines())
    machine.run('systemctl stop intr')
    assert machine.ended('intr') == ('exit-code', 7)


def test_exit_status_of_a_payload_that_ends_at_once_is_never_lost(machine):
    cases = [('sh -c "exit 0"', ('success', 0)),
             ('sh -c "exit 3"', ('exit-code', 3)),
             ('true', ('success', 0)),
             ('false', ('exit-code', 1))]
    for i, (command, expected) in enumerate(cases):
        container(machine, f'brief{i}', command)
    for _ in range(20):
        for i, (command, expected) in enumerate(cases):
            machine.run(f'systemctl start brief{i}', check=False)
            assert machine.ended(f'brief{i}') == expected, (command, machine.ended(f'brief{i}'))
            machine.run('systemctl reset-failed', check=False)


def test_exit_status_of_many_at_once(machine):
    for i in range(30):
        container(machine, f'many{i}', f'sh -c "exit {i}"')
    machine.run('systemctl start ' + ' '.join(f'many{i}' for i in range(30)), check=False)
    for i in range(30):
        assert machine.ended(f'many{i}') == ('exit-code' if i else 'success', i), i


def test_killing_signal_is_seen(machine):
    container(machine, 'victim', 'sleep 1000')
    machine.run('systemctl start victim')
    machine.run('kill -KILL ' + machine.show('victim', 'MainPID'))
    assert machine.ended('victim') == ('signal', 9)


def test_payload_that_is_killed_at_once(machine):
    """As pid 1 of its namespace it cannot kill itself; the kernel's out-of-memory killer could."""
    container(machine, 'shortlived', 'sleep 1000')
    for i in range(20):
        machine.run('systemctl start --no-block shortlived; until [ "$(systemctl show -P MainPID shortlived)" != 0 ]; do :; done; '
                    f'sleep 0.0{10 + i}; systemctl kill --kill-whom=all --signal=KILL shortlived')
        machine.wait_for(lambda: machine.show('shortlived', 'ActiveState') == 'failed')
        assert machine.ended('shortlived') == ('signal', 9)
        machine.run('systemctl reset-failed shortlived', check=False)


def test_reload_signal(machine):
    handle = '''sh -c "trap 'echo reloaded' HUP; trap 'exit 0' TERM; echo ready; while :; do sleep 0.1; done"'''
    container(machine, 'heeding', handle, container='ReloadSignal=1')
    machine.run('systemctl start heeding')
    machine.wait_for(lambda: 'ready' in machine.journal('heeding').splitlines())
    pid = machine.show('heeding', 'MainPID')
    machine.run('systemctl reload heeding')
    machine.wait_for(lambda: 'reloaded' in machine.journal('heeding').splitlines())
    assert machine.show('heeding', 'MainPID') == pid and machine.show('heeding', 'ActiveState') == 'active'


def test_reload_command(machine):
    """In the container, as the payload's user, with its environment; its failure is the reload's."""
    lines = ('ReloadCmd=sh -c "echo \\"$$WHAT of $(id -u) by %n\\"; exit $(cat /tmp/status)"', 'Environment=WHAT=reload',
             'User=1234', 'Tmpfs=/tmp')
    container(machine, 'told', 'sh -c "echo 0 >/tmp/status; sleep 1000"', container='\n        '.join(lines))
    machine.run('systemctl start told')

    def said():
        return machine.journal('told').splitlines().count('reload of 1234 by told.service')
    machine.run('systemctl reload told')
    machine.wait_for(lambda: said() == 1)
    # Where no message bus is, too.
    machine.run('mount -t tmpfs none /run/dbus')
    try:
        machine.run('systemctl reload told')
        machine.wait_for(lambda: said() == 2)
    finally:
        machine.run('umount /run/dbus')
    machine.run('keyturnctl exec told sh -c "echo 3 >/tmp/status"')
    assert machine.run('systemctl reload told', check=False).status != 0
    machine.wait_for(lambda: said() == 3)
    assert machine.show('told', 'ActiveState') == 'active'


def test_restart_on_failure(machine):
    container(machine, 'phoenix', 'sh -c "sleep 0.2; exit 5"', service='Restart=on-failure\nRestartSec=0')
    machine.run('systemctl start phoenix')
    machine.wait_for(lambda: int(machine.show('phoenix', 'NRestarts')) >= 2)


def failing(machine, name, status, reason):
    started = machine.run(f'systemctl start {name}', check=False)
    assert started.status != 0
    assert machine.ended(name) == ('exit-code', status)
    assert reason in machine.journal(name), machine.journal(name)


def test_failing_exec_fails_the_unit_with_the_reason(machine):
    container(machine, 'missing', '/no/such/program')
    failing(machine, 'missing', 127, "Cannot execute '/no/such/program' in the container")
    container(machine, 'nowhere', 'no-such-program')
    failing(machine, 'nowhere', 127, "Cannot execute 'no-such-program' in the container")
    container(machine, 'passwd', '/etc/passwd')
    failing(machine, 'passwd', 126, "Cannot execute '/etc/passwd' in the container: Permission denied")


def test_missing_image_fails_the_unit_with_the_reason(machine):
    container(machine, 'noimage', 'true', image='localhost/not/here:1')
    failing(machine, 'noimage', 125, 'localhost/not/here:1')


def test_oneshot(machine):
    container(machine, 'once', 'sh -c "echo done; exit 0"', service='Type=oneshot')
    machine.run('systemctl start once')
    assert machine.ended('once') == ('success', 0)
    machine.wait_for(lambda: 'done' in machine.journal('once').splitlines())
    container(machine, 'onefail', 'sh -c "exit 3"', service='Type=oneshot')
    assert machine.run('systemctl start onefail', check=False).status != 0
    assert machine.ended('onefail') == ('exit-code', 3)


def test_oneshot_is_stopped_like_its_payload(machine):
    container(machine, 'slow', '''sh -c "trap 'exit 0' TERM; while :; do sleep 0.1; done"''', service='Type=oneshot')
    machine.run('systemctl start --no-block slow')
    machine.wait_for(lambda: machine.run('ps ax -o args', check=False).out.count('while :; do sleep 0.1') > 0)
    machine.run('systemctl stop slow')
    assert machine.show('slow', 'ActiveState') in ('inactive', 'failed')
    machine.wait_for(lambda: 'while :; do sleep 0.1' not in machine.run('ps ax -o args').out)


def test_input_that_never_ends(machine):
    keys = '[Container]\nImage=localhost/test/busybox\nExec=sh -c "cat; echo over"\nStopSignal=SIGKILL\n'
    machine.container('waits', keys + 'User=5\nPodmanArgs=-i\n', reload=False)
    machine.container('says', keys + 'PodmanArgs=-i\n[Service]\nStandardInput=data\nStandardInputText=said\n', reload=False)
    machine.container('ends', keys)
    machine.run('systemctl start waits says ends')
    machine.wait_for(lambda: machine.journal('ends.service').count('over') == machine.journal('says.service').count('over') == 1)
    assert 'said' in machine.journal('says.service')
    assert machine.show('waits', 'ActiveState') == 'active' and 'over' not in machine.journal('waits.service')
    pid = machine.show('waits', 'MainPID')
    assert machine.run(f'readlink /proc/{pid}/fd/0').out.startswith('pipe:')
    assert 'pipe' in machine.run(f'ls -l /proc/{pid}/fd').out and machine.run(f'ls /proc/{pid}/fd').out.split() == ['0', '1', '2']


def test_template_instance(machine):
    container(machine, 'tpl@', 'sh -c "echo I am %i; exec sleep 1000"')
    machine.run('systemctl start tpl@left tpl@right')
    for side in ('left', 'right'):
        machine.wait_for(lambda: f'I am {side}' in machine.journal(f'tpl@{side}').splitlines())
        assert machine.show(f'tpl@{side}', 'ActiveState') == 'active'
    assert machine.show('tpl@left', 'MainPID') != machine.show('tpl@right', 'MainPID')


def test_drop_in(machine):
    container(machine, 'dropped', 'sh -c "echo $COLOUR; exec sleep 1000"', container='Environment=COLOUR=red')
    machine.container('dropped.container.d/10-blue.conf', '''
        [Container]
        Exec=sh -c "echo blue is $$COLOUR; exec sleep 1000"
        Environment=COLOUR=blue
    ''')
    machine.run('systemctl start dropped')
    machine.wait_for(lambda: 'blue is blue' in machine.journal('dropped').splitlines())


def test_systemd_limits_apply(machine):
    container(machine, 'limited', 'sleep 1000', service='Nice=5\nLimitNOFILE=1000\nCPUAffinity=0')
    machine.run('systemctl start limited')
    pid = machine.show('limited', 'MainPID')
    assert machine.run(f'ps -o ni= -p {pid}').out.strip() == '5'
    assert 'Cpus_allowed_list:\t0\n' in machine.read(f'/proc/{pid}/status')
    assert machine.show('limited', 'TasksMax') == '2048'
    assert machine.show('limited', 'DevicePolicy') == 'closed'


def test_crun_can_look_in(machine):
    container(machine, 'seen', 'sleep 1000', container='Environment=INSIDE=yes')
    machine.run('systemctl start seen')
    assert 'systemd-seen' in machine.run('crun --root /run/keyturn/seen list').out
    inside = machine.run(['crun', '--root', '/run/keyturn/seen', 'exec', 'systemd-seen', 'sh', '-c',
                          'echo $INSIDE; grep Seccomp: /proc/self/status']).out
    assert inside.split() == ['yes', 'Seccomp:', '2'], inside


def test_own_binary_cannot_be_the_payload(machine):
    """CVE-2019-5736, see libstart/base/own-program.c."""
    before = machine.run('sha256sum /usr/lib/keyturn/libstart').out
    container(machine, 'evil', '/proc/self/exe run --rootfs /')
    machine.run('systemctl start evil', check=False)
    assert machine.ended('evil') == ('exit-code', 125)
    assert machine.run('sha256sum /usr/lib/keyturn/libstart').out == before


def test_twenty_rounds_leave_nothing(machine):
    container(machine, 'one', 'sleep 1000', container='StopSignal=KILL')
    container(machine, 'two', 'sleep 1000', container='StopSignal=KILL')
    machine.run('systemctl start one two; systemctl stop one two')
    before = machine.settled()
    for _ in range(20):
        machine.run('systemctl start one two')
        machine.run('systemctl stop one two')
    machine.is_as(before)


def test_stop_in_the_middle_of_a_start_leaves_nothing(machine):
    container(machine, 'aborted', 'sleep 1000', container='StopSignal=KILL')
    machine.run('systemctl start aborted; systemctl stop aborted')
    before = machine.settled()
    for i in range(40):
        machine.run(f'systemctl start --no-block aborted; sleep 0.0{i:02}; systemctl stop aborted')
    machine.is_as(before)


def test_starts_by_hand_leave_nothing(machine):
    def run(words):
        return machine.run(f'/usr/lib/keyturn/libstart run --name by-hand {words} 2>&1 </dev/null', check=False)

    machine.run('mkdir -p /srv/precious; touch /srv/precious/file')
    run(f'{BUSYBOX} true')  # leaves the filter, should it not have been there
    before = machine.run('find /run/keyturn').out
    writes = "sh -c 'mkdir -p /new/deep; ln -s /precious /new/link; touch /precious/new; rm -rf /etc; chmod 0 /new; exit 3'"
    for words, status in ((f'{BUSYBOX} true', 0), (f'-v /srv/precious:/precious {BUSYBOX} {writes}', 3),
                          (f'{BUSYBOX} no-such', 127), (f'--detach {BUSYBOX} no-such', 127), ('no-such-image true', 125)):
        done = run(words)
        assert done.status == status, (words, done)
        machine.wait_for(lambda: machine.run('find /run/keyturn').out == before)
    assert machine.run('ls /srv/precious').out.split() == ['file', 'new']

    # systemd would remove the directory of a service.
    container(machine, 'by-hand', 'sleep 1000')
    machine.reload()
    assert 'by-hand.service is a container' in run(f'{BUSYBOX} true').out
    machine.run('rm /etc/containers/systemd/by-hand.container; systemctl daemon-reload')

    # One of the same name that runs is left alone, and so is a directory that is given.
    machine.run(f'/usr/lib/keyturn/libstart run --name by-hand {BUSYBOX} sleep 8 >/dev/null 2>&1 </dev/null &')
    machine.wait_for(lambda: machine.run('pgrep -xf "sleep 8"', check=False).out)
    done = run(f'{BUSYBOX} true')
    assert done.status == 125 and 'another --name' in done.out, done
    machine.run('test -d /run/keyturn/by-hand/.private/root')
    machine.wait_for(lambda: machine.run('find /run/keyturn').out == before)
    assert run(f'--state-dir /run/keyturn/given {BUSYBOX} true').status == 0
    machine.run('test -d /run/keyturn/given/.private/root; rm -r /run/keyturn/given')


def test_kernel_that_takes_no_single_layers(machine):
    """Before Linux 6.8 the overlay is mounted in another way, as it is for who says that the kernel is older."""
    def run(words):
        return machine.run(f'setarch --uname-2.6 /usr/lib/keyturn/libstart run --name old {words} 2>&1 </dev/null', check=False)

    image = 'localhost/test/layers:4'
    run(f'--entrypoint /bin/true {image}')  # leaves the filter, should it not have been there
    before = machine.run('find /run/keyturn; cat /proc/self/mountinfo').out
    assert run(f"{image} sh -c 'uname -r; cd /; echo new > new; cat new; exit 3'").status == 3
    assert run(f'--read-only {image} touch /new').out.endswith('Read-only file system\n')
    assert json.loads(run(f'--print-spec {image} true').out)['process']['args'][-1] == 'true'
    assert run(f'--detach --entrypoint /no-such {image}').status == 127
    machine.wait_for(lambda: machine.run('find /run/keyturn; cat /proc/self/mountinfo').out == before)


def test_timing_is_told_whoever_waits(machine):
    for waits, words in (('no', '--detach'), ('yes', '')):
        name = f'timed-{waits}'
        out = machine.run(f'/usr/lib/keyturn/libstart run --name {name} --state-dir /run/keyturn/{name} --timing {words} '
                          f'{BUSYBOX} true '
                          f'2>&1 </dev/null; for i in $(seq 100); do grep -q ^total /run/keyturn/{name}/.timing && break; '
                          f'sleep 0.1; done; cat /run/keyturn/{name}/.timing; rm -rf /run/keyturn/{name}').out
        assert len(re.findall(r'^total [1-9]\d*$', out, re.M)) == 2, (waits, out)


def test_timing_is_in_the_journal_with_fields(machine):
    machine.container('timed', f'[Container]\nImage={BUSYBOX}\nExec=sleep 1000\nPodmanArgs=--timing\n')
    machine.run('systemctl start timed')

    def entry():
        lines = machine.journal('timed', output='json').splitlines()
        return next((e for e in map(json.loads, lines) if 'KEYTURN_TOTAL_USEC' in e), None)
    found = machine.wait_for(entry)
    phases = [found[f'KEYTURN_{phase}_USEC'] for phase in
              ('LAUNCH', 'IMAGE', 'ROOT', 'SPEC', 'FILTER', 'STATE', 'NAMESPACES', 'MOUNTS', 'CONFINE')]
    assert abs(sum(map(int, phases)) - int(found['KEYTURN_TOTAL_USEC'])) < 10, found
    assert f"total {found['KEYTURN_TOTAL_USEC']}" in found['MESSAGE'], found
