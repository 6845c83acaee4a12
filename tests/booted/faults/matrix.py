# SPDX-License-Identifier: LGPL-2.1-or-later
"""System calls that fail, that are slow, or at which a process is killed, one at a time, and what becomes of the operation.

An operation is a command, or services that systemd starts for a command; strace(1) has one call of their processes fail.
Right is an operation that fails with a message, or one that succeeds with the same result; in both cases within its
time, with nothing that is left when it has been undone, and with the next one working. What a killed process leaves
may stay until that next one. Where one is slow, somebody does something else meanwhile: that has to work."""

import collections
import difflib
import os
import random
import re
import time
from dataclasses import dataclass

# They cannot fail, or not in a way that a program sees; strace does not count some of them, and leaves open what close(2)
# closes even where it fails.
NEVER = {'close', 'exit_group', 'exit', 'execve', 'rt_sigreturn', 'restart_syscall', 'arch_prctl', 'set_tid_address', 'vfork', 'wait4',
         'futex', 'getpid', 'getppid', 'gettid', 'getuid', 'geteuid', 'getgid', 'getegid', 'umask', 'rt_sigprocmask', 'rt_sigaction'}
# The same for what closes a descriptor later, and for an eventfd, which is read by each worker: no kernel fails there.
HARMLESS = re.compile(r'F_SETFD, FD_CLOEXEC|read\(\d+, 0x\w+, 8\)')
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
# By this a lock says that somebody else has it, whose files stay.
HELD = ('flock', 'EAGAIN')
TRACE = '/run/faults.trace'
LETS_GO = '-b execve'
# Who waits longer than that hangs.
LIMIT = 20
STATE = r"""
find /run/keyturn /run/netns /var/lib/keyturn /var/lib/containers/storage/volumes -xdev 2>/dev/null |
        grep -v -e /.health-every$ -e ^/run/keyturn/seccomp/ -e ^/var/lib/keyturn/cut$ | sort
cut -d' ' -f5 /proc/1/mountinfo | sort
ps -e -o comm= | grep -E 'libstart|keyturn|netavark|strace' | sort
ip -o link | cut -d: -f2 | sed 's/@.*//' | grep -v veth
nft list ruleset 2>/dev/null | grep -c .
"""


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
    undoing: tuple = ()  # what may be done while it is under way: after that it is as if it had never been
    using: tuple = ()  # the same: after that it has been done


def strace(options):
    # Not the payload's parent: a service's main process must be keyturn's.
    return f'strace -D -f -qq -o {TRACE} {options}'


def write_script(machine, once=False):
    """To be put before a service's command."""
    # Not what it executes, as netavark's servers, which go on.
    machine.write('/run/faults.sh', f'#!/bin/sh\noptions=$(cat /run/faults.options) || exec "$@"\n{"rm /run/faults.options" if once else ""}\n'
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
    with open(machine.path('/run/faults.options'), 'w') as file:
        file.write(options)


def do(machine, operation, options):
    more = f'{LETS_GO} ' if operation.lets_go else ''
    command = operation.command.replace('{}', strace(more + options).replace('-D ', ''))
    machine.run(operation.before)
    set_options(machine, options)
    begin = time.monotonic()
    done = machine.run(f'install -m 0666 /dev/null {TRACE}; timeout --signal=KILL {LIMIT} {command}', check=False, timeout=3 * LIMIT)
    done.hangs = time.monotonic() - begin > LIMIT
    return done


def calls_of(machine, operation):
    """The calls of an operation's processes, until each executes the payload: the most that one of them makes."""
    done = do(machine, operation, '-e trace=all')
    assert done.status == 0, done
    counts, payloads = collections.defaultdict(collections.Counter), set()
    for line in machine.read(TRACE).splitlines():
        match = re.match(r'(\d+) +(\w+)\((.*)', line)
        if not match or match[1] in payloads:
            continue
        if re.search(operation.payload, line):
            payloads.add(match[1])
        counts[match[1]][match[2]] += 1
    most = collections.Counter()
    for counted in counts.values():
        most |= counted
    machine.run(operation.undo)
    return {call: count for call, count in most.items() if call not in NEVER | MEMORY}


def changes(before, now):
    return '\n'.join(line for line in difflib.ndiff(before.split('\n'), now.split('\n')) if line[0] in '-+')


def differences(machine, operation, before):
    return changes(before, machine.run(operation.state, check=False).out)


def try_again(machine, operation, right):
    """What is wrong about the next one; nothing."""
    again = do(machine, operation, '-e trace=execve')
    result = machine.run(operation.result, check=False).out
    machine.run(operation.undo, check=False)
    return [] if again.status == 0 and result == right['result'] else [
        f"the next one does not work: {again} {changes(right['result'], result)}"]


def inject(machine, operation, right, fault):
    """What is wrong about an operation one of whose calls fails; None."""
    call, number, error = fault
    since = machine.run("date '+%s.%N'").out.strip()
    what = 'signal=KILL' if error == KILL else f'error={error}'
    done = do(machine, operation, f'-e trace={call},execve -e inject={call}:{what}:when={number}')
    said = done.err + (machine.run(['journalctl', '--quiet', '--output=cat', f'--since=@{since}', '-p', 'warning']).out
                       if operation.services else '')
    trace = machine.read(TRACE).splitlines() if os.path.exists(machine.path(TRACE)) else []
    payload, hit, is_ours, problems = set(), [], True, []
    for line in trace:
        if re.search(operation.payload, line):
            payload.add(line.split()[0])
        elif 'INJECTED' in line or 'killed by SIGKILL' in line:
            hit.append(line)
            # What fails in the payload is its own business, from where on it is the payload.
            is_ours = is_ours and line.split()[0] not in payload and not HARMLESS.search(line)
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
    return problems and f'{call} number {number}, {error}: {"; ".join(problems)}\n{done.status} {said}\n' + '\n'.join(hit[:4])


def meet(machine, operation, right, fault):
    """What is wrong where somebody does something while an operation is slow at one call; None."""
    call, number, action = fault
    machine.run(operation.before)
    set_options(machine, f'-e trace={call},execve -e inject={call}:delay_enter={int(SLOW * 1000000)}:when={number}')
    begin = time.monotonic()
    done = machine.run(f'install -m 0666 /dev/null {TRACE}; {operation.command} >/dev/null 2>&1 & sleep {SLOW / 2}; {action}; status=$?; wait; '
                       'while pgrep -x strace >/dev/null; do sleep 0.05; done; exit $status', check=False, timeout=3 * LIMIT)
    problems = []
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
    return problems and f'{action}, while {call} number {number} is slow: {"; ".join(problems)}\n{done}'


def run(machine, operation, known=()):
    """Has calls of an operation fail: those that did harm once, and a sample that is another one each day; or all."""
    put_before_services(machine, operation)
    set_options(machine, '-e trace=execve')
    machine.run(operation.undo)
    calls = calls_of(machine, operation)
    before = machine.run(operation.state, check=False).out
    first = do(machine, operation, '-e trace=execve')
    assert first.status == 0, first
    right = {'result': machine.run(operation.result).out, 'state': before}
    machine.run(operation.undo)
    left = differences(machine, operation, before)
    assert not left, f'undoing it does not undo it: {left}'
    every = [(call, number) for call in sorted(calls) for number in range(1, calls[call] + 1)]
    meetings = [(*where, action) for where in every if where[0] in SEEN for action in operation.undoing + operation.using]
    wanted = os.environ.get('KEYTURN_FAULTS', '')
    chosen = random.Random(os.environ.get('KEYTURN_TEST_SEED') or time.strftime('%Y-%m-%d'))
    if ':' in wanted:  # CALL:NUMBER:ERROR, ...
        faults = [(call, int(number), error) for call, number, error in (fault.split(':') for fault in wanted.split(','))]
        meetings = []
    elif wanted == 'kill':
        faults, meetings = [(*where, KILL) for where in every], []
    elif wanted == 'slow':
        faults = []
    elif wanted == 'all':
        faults = [(*where, error) for where in every for error in [*ERRORS, KILL] if (where[0], error) != HELD]
    else:
        count = int(wanted or operation.sample)
        sample = [(*chosen.choice(every), chosen.choice([*ERRORS, KILL])) for _ in range(count)]
        faults = [*known, *(fault for fault in sample if (fault[0], fault[2]) != HELD)]
        meetings = chosen.sample(meetings, min(len(meetings), int(wanted or 1)))
    problems = [*filter(None, (inject(machine, operation, right, fault) for fault in faults)),
                *filter(None, (meet(machine, operation, right, meeting) for meeting in meetings))]
    print(f'# {len(faults)} faults of {len(every) * (len(ERRORS) + 1)}, {len(meetings)} that are slow')
    last = do(machine, operation, '-e trace=execve')
    machine.run(operation.undo)
    if last.status != 0:
        problems.append(f'the next one does not work: {last}')
    assert not problems, f'{len(problems)} of {len(faults) + len(meetings)} faults:\n' + '\n'.join(problems[:40])
