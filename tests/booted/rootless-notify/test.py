# SPDX-License-Identifier: LGPL-2.1-or-later
"""Containers of users' managers that talk to systemd: Notify=, and what reloads them. speak.c is hostile-notify's."""


from users import IMAGE, as_user, container, inside, journal, make_user, show, systemctl



def speaker(machine, name, *words, keys='Notify=true', service='', user='alice'):
    """A container that says these words, one after the other."""
    machine.build('hostile-notify/speak.c', '/usr/local/bin/speak')
    make_user(machine, user)
    machine.write(f'/srv/words/{name}', '\n'.join(map(str, words)) + '\n')
    machine.run(f'rm -rf /srv/go/{name}; mkdir -p /srv/go/{name}')
    container(machine, name, f'[Container]\nImage={IMAGE}\nVolume=/usr/local/bin/speak:/speak:ro\nVolume=/srv/words/{name}:/words:ro\n'
                             f'Volume=/srv/go/{name}:/go:ro\nExec=/speak /words\nStopSignal=SIGKILL\n{keys}\n[Service]\n{service}\n', user)


def go(machine, name, what='on'):
    machine.run(f'touch /srv/go/{name}/{what}')


def group(machine, name):
    return '/sys/fs/cgroup' + show(machine, name, 'ControlGroup')


# ---- what a payload says

def test_a_start_waits_for_ready(machine):
    speaker(machine, 'slow', 'wait', '/go/on', 'say', 'READY=1', 'wait', '/go/status', 'say', 'STATUS=three left', 'forever')
    systemctl(machine, 'start --no-block slow')
    machine.wait_for(lambda: 'Waits for READY=1' in show(machine, 'slow', 'StatusText'))
    assert show(machine, 'slow', 'ActiveState') == 'activating'
    go(machine, 'slow')
    machine.wait_for(lambda: show(machine, 'slow', 'ActiveState', 'StatusText') == 'active')
    go(machine, 'slow', 'status')
    machine.wait_for(lambda: show(machine, 'slow', 'StatusText') == 'three left')
    # No process is left that has told it.
    machine.wait_for(lambda: machine.run(f'cat {group(machine, "slow")}/cgroup.procs').out.split() == [show(machine, 'slow', 'MainPID')])


def test_without_ready_it_fails(machine):
    speaker(machine, 'mute', 'forever', service='TimeoutStartSec=4')
    assert systemctl(machine, 'start mute', check=False).status
    assert show(machine, 'mute', 'Result') == 'timeout'
    assert 'Waits for READY=1 of the payload' in systemctl(machine, 'status mute', check=False).out


def test_a_payload_that_ends_when_it_is_ready(machine):
    """The last words count, and so does the status of one that ends at once."""
    speaker(machine, 'short', 'say', 'READY=1', 'sleep', '300')
    systemctl(machine, 'start short')
    machine.wait_for(lambda: show(machine, 'short', 'ActiveState') == 'inactive')
    assert show(machine, 'short', 'Result') == 'success'
    for _ in range(10):
        container(machine, 'seven', f'[Container]\nImage={IMAGE}\nExec=sh -c "exit 7"\n')
        systemctl(machine, 'start seven', check=False)
        machine.wait_for(lambda: show(machine, 'seven', 'ActiveState') == 'failed')
        assert show(machine, 'seven', 'ExecMainStatus') == '7'
        systemctl(machine, 'reset-failed seven')


def test_watchdog(machine):
    beats = [word for _ in range(30) for word in ('say', 'WATCHDOG=1', 'sleep', '200')]
    speaker(machine, 'dog', 'say', 'READY=1', *beats, 'say', 'STATUS=tired', 'forever', service='WatchdogSec=4')
    systemctl(machine, 'start dog')
    machine.wait_for(lambda: show(machine, 'dog', 'StatusText') == 'tired', 40)
    machine.wait_for(lambda: show(machine, 'dog', 'ActiveState') == 'failed', 20)
    assert show(machine, 'dog', 'Result') == 'watchdog'


def test_a_barrier(machine):
    """sd_notify_barrier(3), by systemd-notify of the machine, with the socket that a container has."""
    make_user(machine, 'alice')
    container(machine, 'bar', f'[Container]\nImage={IMAGE}\nNotify=true\nStopSignal=SIGKILL\n'
                              'Volume=/usr:/usr:ro\nVolume=/lib:/lib:ro\nVolume=/lib64:/lib64:ro\n'
                              'Exec=sh -c "/usr/bin/systemd-notify --ready --status=all-of-it && echo passed; sleep 1000"\n')
    systemctl(machine, 'start bar')
    machine.wait_for(lambda: 'passed' in journal(machine, 'bar').split())
    assert show(machine, 'bar', 'StatusText') == 'all-of-it'


def test_a_relay_that_is_killed_loses_nothing(machine):
    speaker(machine, 'long', 'say', 'READY=1',
            *[word for i in range(30) for word in ('say', f'STATUS=line {i}', 'sleep', '50')], 'say', 'STATUS=last', 'forever')
    systemctl(machine, 'start long')
    for _ in range(4):
        machine.run('sleep 0.3; pkill -9 -u alice -x keyturn-relay', check=False)
    machine.wait_for(lambda: show(machine, 'long', 'StatusText') == 'last', 20)
    assert show(machine, 'long', 'ActiveState') == 'active'


# ---- healthy

def test_healthy(machine):
    make_user(machine, 'alice')
    machine.run('rm -rf /srv/well; mkdir /srv/well')
    keys = 'HealthCmd=test -e /well/on\nHealthInterval=200ms\nNotify=healthy\nVolume=/srv/well:/well:ro\nStopSignal=SIGKILL\n'
    container(machine, 'well', f'[Container]\nImage={IMAGE}\nExec=sleep 1000\n{keys}')
    systemctl(machine, 'start --no-block well')
    machine.wait_for(lambda: 'Waits for a health check' in show(machine, 'well', 'StatusText'))
    assert show(machine, 'well', 'ActiveState') == 'activating'
    machine.run('touch /srv/well/on')
    machine.wait_for(lambda: show(machine, 'well', 'ActiveState', 'StatusText') == 'active')
    systemctl(machine, 'stop well')
    # One that can never work ends the start, and says why.
    container(machine, 'well', f'[Container]\nImage={IMAGE}\nExec=sleep 1000\n' + keys.replace('test -e', '/no/such'))
    assert systemctl(machine, 'start well', check=False).status
    assert 'cannot be executed' in show(machine, 'well', 'StatusText') or 'cannot be executed' in machine.journal()


# ---- reloads

def test_reload_by_a_signal(machine):
    container(machine, 'hup', f'[Container]\nImage={IMAGE}\nReloadSignal=HUP\n'
                              'Exec=sh -c "trap \'echo reloaded\' HUP; echo ready; while :; do sleep 0.1; done"\n[Service]\nKillSignal=SIGKILL\n')
    systemctl(machine, 'start hup')
    machine.wait_for(lambda: 'ready' in journal(machine, 'hup').split())
    systemctl(machine, 'reload hup')
    machine.wait_for(lambda: 'reloaded' in journal(machine, 'hup').split())


def test_reload_by_a_command(machine):
    container(machine, 'command', f'[Container]\nImage={IMAGE}\nExec=sleep 1000\nReloadCmd=sh -c "echo $0 >/tmp/did; id -u >>/tmp/did" "a b"\n'
                                  '[Service]\nKillSignal=SIGKILL\n')
    systemctl(machine, 'start command')
    systemctl(machine, 'reload command')
    assert inside(machine, 'cat /tmp/did', 'command') == 'a b\n0'


def test_a_payload_that_says_it_reloads(machine):
    speaker(machine, 'again', 'say', 'READY=1', 'wait', '/go/on', 'say', 'RELOADING=1\\nMONOTONIC_USEC=1\\nSTATUS=reads', 'wait', '/go/done',
            'say', 'READY=1\\nSTATUS=has read', 'forever')
    systemctl(machine, 'start again')
    go(machine, 'again')
    machine.wait_for(lambda: sorted(show(machine, 'again', 'ActiveState', 'StatusText').split()) == ['reads', 'reloading'])
    go(machine, 'again', 'done')
    machine.wait_for(lambda: show(machine, 'again', 'ActiveState') == 'active')


# ---- attacks

def test_what_a_payload_may_not_say(machine):
    container(machine, 'victim', f'[Container]\nImage={IMAGE}\nExec=sleep 1000\nStopSignal=SIGKILL\n')
    systemctl(machine, 'restart victim')
    victim = show(machine, 'victim', 'MainPID')
    speaker(machine, 'hostile', 'say', f'READY=1\\nMAINPID={victim}', 'say', f'MAINPID={victim}', 'fds', '1', 'MAINPIDFD=1',
            'say', 'NOTIFYACCESS=none', 'fds', '1', 'FDSTORE=1', 'say', 'STATUS=x\\rMAINPID=1', 'say', 'EXTEND_TIMEOUT_USEC=99000000',
            'say', 'STATUS=all said\\nMAINPID=1', 'forever', service='FileDescriptorStoreMax=5')
    systemctl(machine, 'start hostile')
    machine.wait_for(lambda: show(machine, 'hostile', 'StatusText') == 'all said')
    pid = show(machine, 'hostile', 'MainPID')
    assert pid != victim and machine.read(f'/proc/{pid}/cmdline').startswith('/speak\0')
    assert show(machine, 'hostile', 'NotifyAccess', 'NFileDescriptorStore').split() == ['0', 'all'] or \
        show(machine, 'hostile', 'NotifyAccess', 'NFileDescriptorStore').split() == ['all', '0']
    assert show(machine, 'victim', 'ActiveState', 'MainPID').split() in (['active', victim], [victim, 'active'])


def test_a_payload_does_not_reach_the_users_systemd(machine):
    """NotifyAccess=all has systemd take the word of each of its processes, none of which can say any: neither by a path, nor by name."""
    container(machine, 'mine', f'[Container]\nImage={IMAGE}\nNotify=true\nStopSignal=SIGKILL\nAddCapability=all\n'
                               'Volume=/usr:/usr:ro\nVolume=/lib:/lib:ro\nVolume=/lib64:/lib64:ro\n'
                               'Exec=sh -c "/usr/bin/systemd-notify --ready; sleep 1000"\n')
    systemctl(machine, 'start mine')
    for place in ('/run/user/1234/systemd/notify', '/run/systemd/notify', '/proc/1/root/run/user/1234/systemd/notify',
                  '@/run/user/1234/systemd/notify'):
        inside(machine, f'NOTIFY_SOCKET={place} /usr/bin/systemd-notify --status=bypassed', check=False)
    machine.run('sleep 0.3')
    machine.wait_for(lambda: show(machine, 'mine', 'StatusText') == '')
    assert inside(machine, 'ls /run/user /run/systemd 2>&1', check=False).count('No such') == 2


def test_a_flood_leaves_others_their_turn(machine):
    speaker(machine, 'flood', 'say', 'READY=1', 'flood', '4', 'STATUS=again')
    systemctl(machine, 'start flood')
    speaker(machine, 'quiet', 'say', 'READY=1', 'say', 'STATUS=heard', 'forever')
    systemctl(machine, 'start quiet')
    machine.wait_for(lambda: show(machine, 'quiet', 'StatusText') == 'heard')
    # A flood is told at the rate of fifty a second, by one process at a time.
    processes = [len(machine.run(f'cat {group(machine, "flood")}/cgroup.procs').out.split()) for _ in range(10)]
    assert max(processes) <= 4 + 2, processes
    systemctl(machine, 'stop flood')
    assert show(machine, 'flood', 'ActiveState') == 'failed' and show(machine, 'flood', 'Result') == 'signal'  # SIGKILL


def test_a_frozen_container_holds_nobody(machine):
    speaker(machine, 'cold', 'say', 'READY=1', 'wait', '/go/on', 'say', 'STATUS=warm', 'forever')
    systemctl(machine, 'start cold')
    freezer = f'{group(machine, "cold")}/cgroup.freeze'
    go(machine, 'cold')
    as_user(machine, f'echo 1 >{freezer}')
    speaker(machine, 'quick', 'say', 'READY=1', 'forever')
    systemctl(machine, 'start quick')
    as_user(machine, f'echo 0 >{freezer}')
    machine.wait_for(lambda: show(machine, 'cold', 'StatusText') == 'warm')


def test_users_hear_their_own(machine):
    """The same names, at once."""
    for user in ('alice', 'bob'):
        speaker(machine, 'same', 'say', 'READY=1', 'say', 'STATUS=one of them', 'forever', user=user)
    for user in ('alice', 'bob'):
        systemctl(machine, 'start same', user)
    for user in ('alice', 'bob'):
        machine.wait_for(lambda user=user: show(machine, 'same', 'StatusText', user=user) == 'one of them')
    pid = show(machine, 'same', 'MainPID')
    said = as_user(machine, f'systemd-notify --pid={pid} --status=forged; NOTIFY_SOCKET=/run/user/1234/systemd/notify '
                            f'systemd-notify --pid={pid} --status=forged', 'bob', check=False)
    assert said.status and show(machine, 'same', 'StatusText') == 'one of them'
