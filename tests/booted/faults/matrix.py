# SPDX-License-Identifier: LGPL-2.1-or-later
"""System calls that fail, that are slow, or at which a process is killed, one at a time, and what becomes of the operation.
Or all of them transfer less than they were asked to, or are interrupted (meddle.c), which has to make no difference.

An operation is a command, or services that systemd starts for a command; strace(1) has one call of their processes fail.
Right is an operation that fails with a message, or one that succeeds with the same result; in both cases within its
time, with nothing that is left when it has been undone, and with the next one working. What a killed process leaves
may stay until that next one. Where one is slow, somebody does something else meanwhile: that has to work.

Which call did harm once is said by what strace(1) writes of it: ('openat', r'/leases/web', 'EIO'), as numbers change with the code.
Where several are alike, and each takes long, it is a number, with what the line has in it: ('tee', 3, 'EPERM', '<pipe:'). A row that
hits nothing any more is an error. A sample may miss: it is said how much of it was hit."""

import collections
import contextlib
import difflib
import os
import random
import re
import shlex
import time
from dataclasses import dataclass

# They cannot fail, or not in a way that a program sees; strace does not count some of them, and leaves open what close(2)
# closes even where it fails.
NEVER = {'close', 'exit_group', 'exit', 'execve', 'rt_sigreturn', 'restart_syscall', 'arch_prctl', 'set_tid_address', 'vfork', 'wait4',
         'futex', 'getpid', 'getppid', 'gettid', 'getuid', 'geteuid', 'getgid', 'getegid', 'umask', 'rt_sigprocmask', 'rt_sigaction'}
# The same for what closes a descriptor later, and for an eventfd, which is read by each worker: no kernel fails there.
HARMLESS = re.compile(r'F_SETFD, FD_CLOEXEC|read\(\d+<anon_inode:\[eventfd\]>')
# By which the C library and GLib have memory: without, GLib ends the program, and nothing is to be tried on the way.
MEMORY = {'brk', 'munmap', 'mmap', 'mprotect', 'madvise', 'mremap'}
ERRORS = ['EIO', 'ENOMEM', 'EPERM', 'EINVAL', 'ENOSPC', 'EMFILE', 'EAGAIN']
KILL = 'killed'
# What a process does while others look: who is slow there gives them the time to do something in between.
SEEN = {'bind', 'clone', 'clone3', 'connect', 'exit_group', 'fchown', 'fchownat', 'flock', 'fsetxattr', 'fsmount', 'kill', 'linkat', 'mkdir',
        'mkdirat', 'mount', 'move_mount', 'open_tree', 'openat', 'pidfd_open', 'pidfd_send_signal', 'poll', 'ptrace', 'recvmsg', 'rename',
        'renameat', 'renameat2', 'rmdir', 'sendmsg', 'sendto', 'setns', 'setxattr', 'symlinkat', 'umount2', 'unlink', 'unlinkat', 'unshare',
        'wait4', 'write'}
# Longer than what it takes until it is there, on a machine that has much to do.
SLOW = 1.5
# By these a call says how it is: somebody else has the lock, whose files stay; nothing is mounted there.
NO_FAULT = {('flock', 'EAGAIN'), ('umount2', 'EINVAL')}
TRACE = '/run/faults.trace'
MEDDLE = '/usr/local/bin/meddle'
LETS_GO = '-b execve'
# Ways of meddle.c: one word more says which calls.
MEDDLING = ('short ', 'signal ')
# Who waits longer than that hangs.
LIMIT = 20
# What protects a payload, as it sees it; and where it has written that to a file of a volume.
SHOW = 'grep -E "^(Cap|Seccomp|NoNewPrivs|Uid|Gid|Groups)" /proc/self/status; cut -d" " -f5,6 /proc/self/mountinfo | sort; echo end'
SHOWN = 'for i in $(seq 50); do grep -qs end /srv/faults/shown && break; sleep 0.1; done; cat /srv/faults/shown'
STATE = r"""
find /run/keyturn /run/netns /var/lib/keyturn /var/lib/containers/storage/volumes -xdev 2>/dev/null |
        grep -v -e /.health-every$ -e ^/run/keyturn/seccomp/ -e ^/var/lib/keyturn/cut$ | sort
cut -d' ' -f5 /proc/1/mountinfo | sort
ps -e -o comm= | grep -E 'libstart|keyturn|netavark|strace|meddle' | sort
ip -o link | cut -d: -f2 | sed 's/@.*//' | grep -v veth
nft list ruleset 2>/dev/null | grep -c .
"""


def change(state, what, to):
    assert what in state, what
    return state.replace(what, to)


@dataclass
class Operation:
    command: str      # {} is where strace is put before, where it is no service
    services: tuple = ()  # those whose command strace is put before; 'UNIT:ExecReload' is another one than ExecStart=
    sample: int = 12
    before: str = 'true'  # makes what it needs, each time anew
    undo: str = 'true'
    state: str = STATE  # prints what is to be as before
    result: str = 'true'  # prints what is the same after each success
    failure: str = 'true'  # fails where a failure has left something half done
    warns: bool = False  # with less, and a warning that says so, it succeeds, too
    again: bool = False  # after each failure it has to work, too, not only after a kill
    once: bool = False  # strace is only there for the first of the processes that the service has meanwhile
    never_fails: bool = False
    lets_go: bool = False  # strace lets go of what it executes, in a command as in a service
    payload: str = r'execve\("/bin/sh"'  # from where on a process is not keyturn's
    program: str = ''  # from where on the command is keyturn's
    undoing: tuple = ()  # what may be done while it is under way: after that it is as if it had never been
    using: tuple = ()  # the same: after that it has been done


def strace(options):
    # Not the payload's parent: a service's main process must be keyturn's.
    return options if options.startswith(MEDDLE) else f'strace -D -f -y -s 96 -qq -o {TRACE} {options}'


def write_script(machine, once=False):
    """To be put before a service's command."""
    # Not what it executes, as netavark's servers, which go on.
    machine.write('/run/faults.sh', f'#!/bin/sh\noptions=$(cat /run/faults/options) || exec "$@"\n{"rm /run/faults/options" if once else ""}\n'
                  f'case $options in {MEDDLE}*) exec $options "$@";; esac\n'
                  f'exec {strace(LETS_GO + " $options")} "$@"\n', 0o755)


def put_before_services(machine, operation):
    for service in operation.services:
        unit, _, key = service.partition(':')
        key = key or 'ExecStart'
        lines = re.findall(fr'^{key}=([-@:+!]*)(.*)', machine.run(['systemctl', 'cat', unit]).out, re.M)
        lines = lines[max((i + 1 for i, line in enumerate(lines) if line == ('', '')), default=0):]
        lines[0] = (lines[0][0], f'/run/faults.sh {lines[0][1]}')
        # What strace needs, and a debugger must not have else.
        machine.unit(f'{unit}.d/90-faults.conf', '[Service]\nCapabilityBoundingSet=~\nSystemCallFilter=\nNoNewPrivileges=no\n' +
                     f'{key}=\n' + ''.join(f'{key}={prefix}{command}\n' for prefix, command in lines))
    write_script(machine, operation.once)


def set_options(machine, options):
    # A user's script may remove it, too.
    os.makedirs(machine.path('/run/faults'), exist_ok=True)
    os.chmod(machine.path('/run/faults'), 0o777)
    with open(machine.path('/run/faults/options'), 'w') as file:
        file.write(options)


def do(machine, operation, options):
    more = f'{LETS_GO} ' if operation.lets_go and not options.startswith(MEDDLE) else ''
    command = operation.command.replace('{}', strace(more + options).replace('-D ', ''))
    machine.run(operation.before)
    set_options(machine, options)
    begin = time.monotonic()
    done = machine.run(f'install -m 0666 /dev/null {TRACE}; timeout --signal=KILL {LIMIT} {command}', check=False, timeout=3 * LIMIT)
    done.hangs = time.monotonic() - begin > LIMIT
    return done


def read_trace(machine):
    """Each call in one line, also where those of other processes came between."""
    begun = {}
    for line in machine.read(TRACE).splitlines() if os.path.exists(machine.path(TRACE)) else []:
        pid, resumed, rest = re.match(r'(\d+) +(?:[\d.]+ )?(<\.\.\. \w+ resumed>)?(.*)', line).groups()
        line = begun.pop(pid, '') + rest if resumed else line
        if line.endswith('<unfinished ...>'):
            begun[pid] = line.removesuffix('<unfinished ...>')
        else:
            # Who is killed has not returned.
            yield begun.pop(pid, '') + line if 'killed by' in line else line
    yield from begun.values()


def calls_of(machine, operation):
    """The calls of an operation's processes, until each executes the payload: their numbers in their process, and lines."""
    done = do(machine, operation, '-e trace=all')
    assert done.status == 0, done
    counts, payloads, calls, is_begun = collections.Counter(), set(), [], False
    for line in read_trace(machine):
        match = re.match(r'(\d+) +(\w+)\(', line)
        if not match or match[1] in payloads:
            continue
        if re.search(operation.payload, line):
            payloads.add(match[1])
        counts[match.groups()] += 1
        is_begun = is_begun or re.search(operation.program, line)
        if is_begun:
            calls.append((match[2], counts[match.groups()], line))
    machine.run(operation.undo)
    return calls


def without_chance(line):
    """A call's line without what is another one each time: numbers, and the ends of temporary files' names."""
    return re.sub(r'AT_FDCWD<[^>]*>|\d+|\.\w{6}(?=")', '0', line)


def subject_of(line):
    """The first file, socket or name that a call is given."""
    match = re.search(r'<[^>]*>|"[^"]*"', re.split(r'\) += ', without_chance(line))[0])
    return match[0] if match else ''


def find(row, calls):
    """The faults that a row stands for, each with what the line of the call that is hit has in it."""
    call, which, error, *subject = row
    if re.fullmatch(r'\d+\+?', str(which)):
        return [((call, which, error), *(subject or ['']))]
    found = {(name, number, error): subject_of(line) for name, number, line in calls if re.fullmatch(call, name) and re.search(which, line)}
    return sorted(found.items(), key=lambda item: item[0][1])


def changes(before, now):
    return '\n'.join(line for line in difflib.ndiff(before.split('\n'), now.split('\n')) if line[0] in '-+')


def differences(machine, operation, before):
    """What is left, once who is on the way out has gone. /run/wrong, where an operation has it, is what was found until now."""
    with contextlib.suppress(AssertionError):
        machine.wait_for(lambda: machine.run(operation.state, check=False).out == before, 5)
    return changes(before, machine.run(f'{operation.state}\nrm -f /run/wrong', check=False).out)


def try_again(machine, operation, right):
    """What is wrong about the next one; nothing."""
    again = do(machine, operation, '-e trace=execve')
    result = machine.run(operation.result, check=False).out
    machine.run(operation.undo, check=False)
    return [] if again.status == 0 and result == right['result'] else [
        f"the next one does not work: {again} {changes(right['result'], result)}"]


def hits_of(machine, operation, fault):
    """The lines of calls that failed, or at which a process was killed; and whether that was all keyturn's."""
    payload, hits, is_ours, last = set(), [], True, {}
    for line in read_trace(machine):
        pid = line.split()[0]
        if fault[2] == KILL and 'killed by SIGKILL' in line:
            # The call is in this line, or in the one before.
            line = last.get(pid, '') + line if f'{fault[0]}(' not in line else line
        if re.search(operation.payload, line):
            payload.add(pid)
        elif 'INJECTED' in line or 'killed by SIGKILL' in line and f'{fault[0]}(' in line:
            hits.append(line)
            # What fails in the payload is its own business, from where on it is the payload.
            is_ours = is_ours and pid not in payload and (fault[2] == KILL or not HARMLESS.search(line))
        last[pid] = line
    return hits, is_ours


def inject(machine, operation, right, fault, subject=''):
    """What is wrong about an operation one of whose calls fails, or None; and whether one did."""
    call, number, error = fault
    since = machine.run("date '+%s.%N'").out.strip()
    what = 'signal=KILL' if error == KILL else f'error={error}'
    done = do(machine, operation, f'-e trace={call},execve -e inject={call}:{what}:when={number}')
    said = done.err + (machine.run(['journalctl', '--quiet', '--output=cat', f'--since=@{since}', '-p', 'warning']).out
                       if operation.services else '')
    (hits, is_ours), problems = hits_of(machine, operation, fault), []
    if done.hangs and is_ours:
        problems.append('it hangs')
    elif done.status == 0:
        result = machine.run(operation.result, check=False).out
        # Who is killed at the last step has been started.
        if is_ours and result != right['result'] and (result or error != KILL) and not (
                operation.warns and ('warning' in said or operation.services and said.strip())):
            problems.append('it succeeds with another result: ' + changes(right['result'], result))
    elif is_ours:
        if operation.never_fails:
            problems.append('it fails')
        half = machine.run(operation.failure, check=False)
        if half.status != 0:
            problems.append(f'half done: {half.out}{half.err}')
        if not said.strip() and error != KILL:
            problems.append('it fails without a word')
    machine.run(operation.undo, check=False)
    if error == KILL or operation.again and done.status != 0:
        problems += try_again(machine, operation, right)
    left = differences(machine, operation, right['state'])
    if left:
        problems.append(f'left: {left}')
        machine.run('pkill -KILL libstart', check=False)
    return (problems and f'{call} number {number}, {error}: {"; ".join(problems)}\n{done.status} {said}\n' + '\n'.join(hits[:4]),
            is_ours and any(subject in without_chance(line) for line in hits))


def meet(machine, operation, right, fault):
    """What is wrong where somebody does something while an operation is slow at one call, or None; and whether it was slow then."""
    call, number, action = fault
    machine.run(operation.before)
    set_options(machine, f'-A -ttt -e trace={call},execve -e inject={call}:delay_enter={int(SLOW * 1000000)}:when={number}')
    begin = time.monotonic()
    done = machine.run(f'install -m 0666 /dev/null {TRACE}; {operation.command} >/dev/null 2>&1 & sleep {SLOW / 2}; '
                       f'date +%s.%N >/run/met; {action}; status=$?; wait; '
                       'while pgrep -x strace >/dev/null; do sleep 0.05; done; exit $status', check=False, timeout=3 * LIMIT)
    met, problems = float(machine.read('/run/met')), []
    slow_from = [float(line.split()[1]) for line in read_trace(machine)
                 if f' {call}(' in line and ('(DELAYED)' in line or ' = ' not in line)]
    if time.monotonic() - begin > LIMIT:
        problems.append('it hangs')
    if done.status != 0:
        problems.append('it fails')
    if action in operation.using:
        result = machine.run(operation.result, check=False).out
        if result != right['result']:
            problems.append('it has another result: ' + changes(right['result'], result))
        machine.run(operation.undo, check=False)
    left = differences(machine, operation, right['state'])
    if left:
        problems.append(f'left: {left}')
    machine.run(operation.undo, check=False)
    problems += try_again(machine, operation, right)
    return (problems and f'{action}, while {call} number {number} is slow: {"; ".join(problems)}\n{done}',
            any(start <= met <= start + SLOW for start in slow_from))


def meddle(machine, operation, right, way):
    """What is wrong about an operation whose calls transfer less, or are interrupted, or None; and whether one was."""
    done = do(machine, operation, f'{MEDDLE} {TRACE} {way}')
    result = machine.run(operation.result, check=False).out
    trace = machine.read(TRACE).splitlines()
    problems = [*(['it hangs'] if done.hangs else []), *(['it fails'] if done.status != 0 else [])]
    if result != right['result']:
        problems.append('it has another result: ' + changes(right['result'], result))
    machine.run(operation.undo, check=False)
    machine.run('for i in $(seq 100); do pgrep -x meddle >/dev/null || break; sleep 0.05; done')
    left = differences(machine, operation, right['state'])
    if left:
        problems.append(f'left: {left}')
        machine.run('pkill -KILL libstart', check=False)
        machine.run(operation.undo, check=False)
    return problems and f'{way}: {"; ".join(problems)}\n{done}\n' + '\n'.join(trace[-12:]), bool(trace)


TRIES = {'known': inject, 'of the sample': inject, 'slow': meet, 'known meddling': meddle, 'meddled': meddle}


def read_row(text):
    """CALL:NUMBER:ERROR or CALL:PATTERN:ERROR"""
    call, _, rest = text.partition(':')
    which, _, error = rest.rpartition(':')
    return call, which, error


def sample_of(calls, operation, wanted):
    """What is tried beside what did harm once: faults, meetings and ways to meddle; by chance, or as KEYTURN_FAULTS says."""
    every = sorted({(call, number) for call, number, _ in calls if call not in NEVER | MEMORY})
    meetings = [(*where, action) for where in every if where[0] in SEEN for action in operation.undoing + operation.using]
    chance = random.Random(os.environ.get('KEYTURN_TEST_SEED') or time.strftime('%Y-%m-%d'))
    print(f'# {len(every) * (len(ERRORS) + 1)} faults, {len(meetings)} that are slow')
    if wanted.startswith(MEDDLING):
        return [], [], [wanted]
    if wanted == 'meddle':
        return [], [], ['short one', 'short half', 'signal all', *(f'{kind}{seed}' for kind in MEDDLING for seed in range(1, 11))]
    if wanted == 'kill':
        return [(*where, KILL) for where in every], [], []
    if wanted == 'slow':
        return [], meetings, []
    if wanted == 'all':
        return [(*where, error) for where in every for error in [*ERRORS, KILL] if (where[0], error) not in NO_FAULT], meetings, []
    assert not wanted or wanted.isdecimal(), f"KEYTURN_FAULTS='{wanted}' is none of those in tests/README.md"
    sample = [(*chance.choice(every), chance.choice([*ERRORS, KILL])) for _ in range(int(wanted or operation.sample))]
    return ([fault for fault in sample if (fault[0], fault[2]) not in NO_FAULT],
            chance.sample(meetings, min(len(meetings), int(wanted or 1))),
            [] if wanted else [f'{kind}{chance.randrange(1000)}' for kind in MEDDLING])


def try_all(machine, operation, right, turns):
    """What is wrong, and how often each row and kind hit; turns are of a kind, for a row that has to hit something, or None."""
    begin, problems, tried, hit = time.monotonic(), [], collections.Counter(), collections.Counter()
    for kind, row, faults in turns:
        # Where processes meet by chance, its call may be made in the next turn.
        for _ in range(3 if row else 1):
            for fault in faults:
                problem, is_hit = TRIES[kind](machine, operation, right, *fault)
                problems += [problem] if problem else []
                tried[kind] += 1
                hit[kind] += is_hit
                hit[row] += is_hit
            if hit[row]:
                break
    print('# hit of those tried: ' + ', '.join(f'{hit[kind]}/{count} {kind}' for kind, count in tried.items()) +
          f'; {(time.monotonic() - begin) / max(1, tried.total()):.2f} s each')
    return problems, hit


def run(machine, operation, known=(), known_meddling=()):
    """Has calls of an operation fail: those that did harm once, and a sample that is another one each day; or all."""
    machine.build('faults/meddle.c', MEDDLE)
    put_before_services(machine, operation)
    set_options(machine, '-e trace=execve')
    machine.run(operation.undo)
    calls = calls_of(machine, operation)
    # What is not needed any more may go a moment later.
    before = machine.settled(lambda: machine.run(operation.state, check=False).out)
    first = do(machine, operation, '-e trace=execve')
    assert first.status == 0, first
    right = {'result': machine.run(operation.result).out, 'state': before}
    machine.run(operation.undo)
    left = differences(machine, operation, before)
    assert not left, f'undoing it does not undo it: {left}'
    wanted = os.environ.get('KEYTURN_FAULTS', '')
    rows = ways = faults = meetings = chosen = ()
    if ':' in wanted and not wanted.startswith(MEDDLING):
        rows = [read_row(text) for text in shlex.split(wanted)]
    else:
        if wanted in ('', 'all') or wanted.isdecimal():
            rows, ways = known, known_meddling
        faults, meetings, chosen = sample_of(calls, operation, wanted)
    problems, hit = try_all(machine, operation, right, [
        *(('known', row, find(row, calls)) for row in rows), ('of the sample', None, [(fault,) for fault in faults]),
        ('slow', None, [(meeting,) for meeting in meetings]),
        *(('known meddling', way, [(way,)]) for way in ways), ('meddled', None, [(way,) for way in chosen])])
    for _ in range(5 if rows is known else 0):
        missed = [row for row in rows if not hit[row]]
        if not missed:
            break
        # On a busy machine others come first: which call it is by now is looked for anew.
        calls = calls_of(machine, operation)
        more, again = try_all(machine, operation, right, [('known', row, find(row, calls)) for row in missed])
        problems += more
        hit += again
    problems += [f'{row} hits nothing any more' for row in [*rows, *ways] if not hit[row]]
    last = do(machine, operation, '-e trace=execve')
    machine.run(operation.undo)
    if last.status != 0:
        problems.append(f'the next one does not work: {last}')
    assert not problems, f'{len(problems)} problems:\n' + '\n'.join(problems[:40])
