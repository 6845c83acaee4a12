# SPDX-License-Identifier: LGPL-2.1-or-later
"""Nothing grows, however often: memory, descriptors, mounts, files, keys, cgroups, over rounds of the same work.

A run has a small sample. More of it, which prints its table:

    KEYTURN_ENDURANCE=20 KEYTURN_TEST_SECONDS=6000 tests/booted/run ... trixie endurance

KEYTURN_ENDURANCE=60 beside emulators: 10,140 starts, 11,750 reloads, 52 times daemon-reexec, 2,340 checks and 1.56 million lines
in 13 rounds, 3,643 s. After the first round, in the middle, at the end, and what a round adds:

| descriptors of PID 1 | 61 | 61 | 61 | +0.00 |
| descriptors of the relay | 12 | 12 | 12 | +0.00 |
| mounts | 37 | 37 | 37 | +0.00 |
| files in /run | 88 | 88 | 88 | +0.00 |
| cgroups | 14 | 14 | 14 | +0.00 |
| processes | 6 | 6 | 6 | +0.00 |
| memory of PID 1 (KiB) | 3104 | 3100 | 3088 | +0.75 |
| memory of the relay (KiB) | 892 | 956 | 968 | +5.96 |
| keys, of the whole host | 32 | 14 | 92 | +3.09 |
| slab that stays, the same (KiB) | 100316 | 97232 | 131928 | +1662.57 |"""

import os
import re
import statistics

BUSYBOX = 'localhost/test/busybox'
TEST_SECONDS = 400  # a quarter of a minute, and much more beside others
TIMES = int(os.environ.get('KEYTURN_ENDURANCE', 1))
ROUNDS = 4 if TIMES == 1 else 12
# A round of each: starts one by one, at once, restarts by themselves, checks, lines, reloads.
STARTS, AT_ONCE, RESTARTS, CHECKS, LINES = 4 * TIMES, 8 if TIMES == 1 else 200, 5 * TIMES, 3 * TIMES, 2000 * TIMES
RELOADS = 1 if TIMES == 1 else 15 * TIMES
# Once these are known: counts that are to be the same after each round.
COUNTS = ('descriptors of PID 1', 'descriptors of the relay', 'mounts', 'files in /run', 'cgroups', 'processes')
MEMORY = ('memory of PID 1 (KiB)', 'memory of the relay (KiB)')
# What malloc() may keep, over all rounds.
NOISE = 512

MEASURE = r'''
relay=$(systemctl show -P MainPID keyturn-relay)
ls /proc/1/fd | wc -l
ls /proc/$relay/fd | wc -l
wc -l </proc/1/mountinfo
find /run -xdev ! -path '/run/log/*' ! -path '/run/systemd/journal/streams/*' ! -path '/run/systemd/generator*' | wc -l
find /sys/fs/cgroup -type d | wc -l
ps -e -o comm= | grep -cvE '^(ps|grep|sh|nsenter|wc)$'
sed -n 's/^Private_Dirty: *\([0-9]*\).*/\1/p' /proc/1/smaps_rollup
sed -n 's/^Private_Dirty: *\([0-9]*\).*/\1/p' /proc/$relay/smaps_rollup
wc -l </proc/keys
sed -n 's/^SUnreclaim: *\([0-9]*\).*/\1/p' /proc/meminfo
'''
# These are the whole host's, with all that others do there: shown, and not held.
SHOWN = ('keys', 'slab that stays (KiB)')

ROUND = f'''
set -e
for i in $(seq {STARTS}); do systemctl start plain; systemctl stop plain; done
systemctl start $(seq -f many@%g {AT_ONCE})
systemctl stop $(seq -f many@%g {AT_ONCE})
systemctl start storm
until [ "$(systemctl show -P NRestarts storm)" -ge {RESTARTS} ]; do sleep 0.05; done
systemctl stop storm
systemctl reset-failed storm || :
systemctl start checked
for i in $(seq {CHECKS}); do systemctl start keyturn-health@checked; done
systemctl stop checked
systemctl start talks
while systemctl is-active -q talks; do sleep 0.05; done
for i in $(seq {RELOADS}); do systemctl daemon-reload; done
# PID 1 is executed anew, and reads all units anew, while containers start and stop.
for i in 1 2 3 4; do systemctl start --no-block $(seq -f many@%g 8); systemctl daemon-reexec; systemctl daemon-reload; systemctl stop $(seq -f many@%g 8); done
systemctl start $(seq -f many@%g 8)
for i in $(seq 8); do systemctl is-active -q many@$i; done
systemctl stop $(seq -f many@%g 8)
! systemctl --failed --no-legend --plain | grep .
'''


def slope(values):
    return statistics.linear_regression(range(len(values)), values).slope


def measure(machine):
    values = [int(value) for value in machine.run(MEASURE).out.split()]
    return dict(zip((*COUNTS, *MEMORY, *SHOWN), values, strict=True))


def settled(machine, counts):
    """The last worker of the relay goes after two seconds, and a stopped unit's cgroup soon."""
    def same():
        now = measure(machine)
        return not counts or all(now[name] <= counts[name] for name in COUNTS)
    try:
        machine.wait_for(same)
    except Exception:  # what is more than before is found by who compares
        pass
    return measure(machine)


def test_nothing_grows(machine):
    common = '[Container]\nImage={}\nStopSignal=SIGKILL\n{}\n'
    for name, keys in (('plain', 'Network=none\nExec=sleep 1000\n[Service]\nSuccessExitStatus=SIGKILL'),
                       ('many@', 'Network=none\nExec=sleep 1000\n[Service]\nSuccessExitStatus=SIGKILL'),
                       ('storm', 'Exec=true\n[Service]\nRestart=always\nRestartSec=0\nSuccessExitStatus=SIGKILL\n[Unit]\nStartLimitIntervalSec=0'),
                       ('checked', 'Exec=sleep 1000\nHealthCmd=true\nHealthInterval=disable\n[Service]\nSuccessExitStatus=SIGKILL'),
                       ('talks', f'Exec=sh -c "i=0; while [ $$i -lt {LINES} ]; do i=$$((i + 1)); echo line $$i; done"')):
        machine.container(name, common.format(BUSYBOX, keys), reload=False)
    machine.reload()
    machine.run(ROUND, timeout=900)
    rows = [settled(machine, None)]
    for _ in range(ROUNDS):
        machine.run(ROUND, timeout=900)
        rows.append(settled(machine, rows[-1]))
    print(f'# {ROUNDS} rounds, each of {STARTS} starts one by one, {AT_ONCE} and five times 8 at once, {RESTARTS} restarts, {CHECKS} checks, {LINES} '
          f'lines, {RELOADS + 4} reloads, 4 times daemon-reexec')
    for name in (*COUNTS, *MEMORY, *SHOWN):
        values = [row[name] for row in rows]
        print(f'# | {name} | {values[0]} | {values[len(values) // 2]} | {values[-1]} | {slope(values):+.2f} |')
    for name in COUNTS:
        values = [row[name] for row in rows]
        # The first round may have been the first to need something.
        assert min(values[-2:]) <= values[1], f'{name}: {values}'
    for name in MEMORY:
        values = [row[name] for row in rows][ROUNDS // 3:]
        assert slope(values) * len(values) < NOISE, f'{name}: {values}'
    machine.sync_journal()
    lines = machine.run('journalctl -q -o cat -u talks _TRANSPORT=stdout --since=-1h | grep -c "^line"').out
    assert int(lines) == LINES * (ROUNDS + 1) or TIMES > 1, lines
    assert not re.search('dumped core|segfault', machine.journal())
