# SPDX-License-Identifier: LGPL-2.1-or-later
"""A controller that knows only systemd's D-Bus, as the agent of Eclipse BlueChi, sees a container's service as any other.

Each call is made for a native service and for a container's with the same program, and the answers and the signals that
follow are compared, in their order. What differs stands in DIFFERENCES, with what is seen of each and why.
"""

import json
import re
import signal

BUSYBOX = 'localhost/test/busybox'
MANAGER = 'org.freedesktop.systemd1 /org/freedesktop/systemd1 org.freedesktop.systemd1.Manager'
WATCHED = '/run/controller-saw'

# Without a process below it: which of two dies first would be chance. Ends on SIGTERM with 0, on SIGUSR1 with 3.
PROGRAM = ("""sh -c "mkfifo /dev/shm/turn; exec 3<>/dev/shm/turn; rm /dev/shm/turn; """
           """trap 'echo reloaded' HUP; trap 'exit 0' TERM; trap 'exit 3' USR1; while :; do read -r word <&3; done\"""")

NATIVE = f'''
    [Service]
    Type=exec
    ExecStart=/bin/busybox {PROGRAM}
    ExecReload=/bin/kill -HUP $MAINPID
'''
CONTAINER = f'''
    [Container]
    Image={BUSYBOX}
    Exec={PROGRAM}
    ReloadSignal=HUP
'''

PROPERTIES = ('ActiveState', 'SubState', 'FreezerState', 'Result', 'ExecMainStatus')
INACTIVE, RUNNING, FAILED, RELOADING = 'inactive', 'active', 'failed', 'reloading'

# A name for the turn, the method, its arguments (UNIT is the service), and a state that the service comes to by it, or None.
TURNS = (
    ('load', 'LoadUnit', 's UNIT', None),
    ('start', 'StartUnit', 'ss UNIT replace', RUNNING),
    ('start what runs', 'StartUnit', 'ss UNIT replace', None),
    ('get', 'GetUnit', 's UNIT', None),
    ('list', 'ListUnits', '', None),
    ('reload', 'ReloadUnit', 'ss UNIT replace', RELOADING),
    ('freeze', 'FreezeUnit', 's UNIT', None),
    ('thaw', 'ThawUnit', 's UNIT', None),
    ('properties', 'SetUnitProperties', 'sba(sv) UNIT true 1 CPUWeight t 200', None),
    ('a wrong property', 'SetUnitProperties', 'sba(sv) UNIT true 1 Nonsense t 200', None),
    ('restart', 'RestartUnit', 'ss UNIT replace', RUNNING),
    ('ends by itself', 'KillUnit', 'ssi UNIT main 10', FAILED),
    ('forgotten', 'ResetFailedUnit', 's UNIT', INACTIVE),
    ('start again', 'StartUnit', 'ss UNIT fail', RUNNING),
    ('killed', 'KillUnit', 'ssi UNIT all 9', FAILED),
    ('start what failed', 'StartUnit', 'ss UNIT replace', RUNNING),
    ('stop', 'StopUnit', 'ss UNIT replace', INACTIVE),
    ('stop what is stopped', 'StopUnit', 'ss UNIT replace', None),
    ('reload what is stopped', 'ReloadUnit', 'ss UNIT replace', None),
    ('try to restart what is stopped', 'TryRestartUnit', 'ss UNIT replace', None),
    ('freeze what is stopped', 'FreezeUnit', 's UNIT', None),
    ('its file', 'GetUnitFileState', 's UNIT', None),
    ('enable', 'EnableUnitFiles', 'asbb 1 UNIT true false', None),
    ('a mode that is none', 'StartUnit', 'ss UNIT nonsense', None),
)


# Turn -> what is seen of the native service, what of the container's, and why.
DIFFERENCES = {
    'its file': (['static'], ['generated'], 'systemd calls all units of generators so; [Install] in the file counts'),
    'enable': (['False []'], ['Call failed: Unit /run/systemd/generator/UNIT is transient or generated'],
               'systemd enables no unit of a generator: [Install] in the file is what enables it'),
}


def watch(machine):
    """systemd sends signals while somebody has subscribed: systemctl does, and stays for as long as what it waits for."""
    machine.unit('subscriber', '[Service]\nExecStart=/bin/busybox sleep 1000\n', reload=False)
    machine.unit('subscribed', """
        [Service]
        Environment=SYSTEMCTL_FORCE_BUS=1
        ExecStart=systemctl start --wait subscriber.service
    """, reload=False)
    machine.unit('watcher', f"""
        [Service]
        ExecStart=busctl --json=short monitor org.freedesktop.systemd1
        StandardOutput=truncate:{WATCHED}
    """)
    machine.run('systemctl start watcher subscribed')
    machine.wait_for(lambda: machine.show('subscriber', 'ActiveState') == 'active')

    def is_seen():
        call(machine, 'GetUnit', 's watcher.service')
        return messages(machine)
    machine.wait_for(is_seen)


def call(machine, method, arguments):
    done = machine.run(['busctl', '--json=short', 'call', *MANAGER.split(), method, *arguments.split()], check=False)
    return done.out + done.err


def messages(machine):
    """All that was sent to systemd and by it. The last line may not be written whole; systemd 252 has a title."""
    return [json.loads(line) for line in machine.read(WATCHED).split('\n')[:-1] if line.startswith('{')]


def changes(machine, unit, first=0):
    """What systemd has said of a unit since message `first`, in its order and without numbers. Of properties what is
    another one than before: systemd sends them more often than that."""
    found, state = [], {}
    path = '/org/freedesktop/systemd1/unit/' + unit.replace('.', '_2e')
    for number, message in enumerate(messages(machine)):
        words, said = message.get('payload', {}).get('data', []), None
        if message.get('member') in ('UnitNew', 'UnitRemoved') and words[0] == unit:
            said = message['member']
            state = {}
        elif message.get('member') in ('JobNew', 'JobRemoved') and words[2] == unit:
            said = ' '.join([message['member'], *words[3:]])
        elif message.get('member') == 'PropertiesChanged' and message['path'] == path:
            values = {name: words[1][name]['data'] for name in PROPERTIES if name in words[1]}
            said = ', '.join(f'{name}={value}' for name, value in values.items() if state.get(name) != value)
            state |= values
        if said and number >= first:
            found.append(said)
    return found


def is_settled(answer, found, state):
    jobs = [one.split()[0] for one in found if one.startswith('Job')]
    return (jobs == (['JobNew', 'JobRemoved'] if '/job/' in answer else []) and
            (not state or any(f'ActiveState={state}' in one for one in found)))


def has_traps(machine, unit):
    status = machine.read(f"/proc/{machine.show(unit, 'MainPID')}/status")
    return int(re.search(r'SigCgt:\s*(\w+)', status)[1], 16) >> signal.SIGUSR1 - 1 & 1


def play(machine, unit):
    """What a controller has seen in each turn: the answer, then the signals."""
    story = {}
    for turn, method, arguments, state in TURNS:
        first = len(messages(machine))
        answer = call(machine, method, arguments.replace('UNIT', unit))
        machine.wait_for(lambda: is_settled(answer, changes(machine, unit, first), state))
        if state == RUNNING:
            machine.wait_for(lambda: has_traps(machine, unit))
        # systemd answers only after it has sent the signals of what was before.
        call(machine, 'GetUnit', 's watcher.service')
        if method == 'ListUnits':
            answer = str([row for row in json.loads(answer)['data'][0] if row[0] == unit])
        elif method == 'SetUnitProperties':
            answer += machine.show(unit, 'CPUWeight')
        elif answer.startswith('{'):
            answer = ' '.join(str(value) for value in json.loads(answer)['data'])
        answer = re.sub(r'/job/\d+', '/job/N', answer.replace(unit, 'UNIT').replace(unit.replace('.', '_2e'), 'UNIT'))
        story[turn] = [answer.rstrip('.\n'), *changes(machine, unit, first)]
    return story


def test_a_container_is_as_a_native_service(machine):
    watch(machine)
    machine.unit('native', NATIVE, reload=False)
    machine.container('box', CONTAINER)
    try:
        native, box = play(machine, 'native.service'), play(machine, 'box.service')
    finally:
        machine.run('systemctl stop watcher subscriber subscribed')
    different = {turn: (native[turn], box[turn]) for turn in native if native[turn] != box[turn]}
    assert native['properties'] == ['200'] and 'JobRemoved done' in native['stop'], native
    assert different == {turn: seen[:2] for turn, seen in DIFFERENCES.items()}, different
