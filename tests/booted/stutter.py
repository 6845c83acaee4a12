# SPDX-License-Identifier: LGPL-2.1-or-later
"""Has the processes of a machine come late: one of them stands still for a moment, then another.

What is right only while one process is quicker than another is wrong on a machine that has much to do. Standing still also has
calls such as epoll_wait end with EINTR, as signal(7) says.
"""

import contextlib
import os
import random
import signal
import threading

PAUSE = 0.002
# In each pause, of all processes; there are more chances of one that has just begun, which is seldom there for long.
CHANCE = 0.01
# When their child stands still, they do so themselves.
STAND_STILL_FOR_GOOD = {'nsenter', 'script', 'su'}


class Stutter:
    def __init__(self, machine, seed, longest=0.6, chance_of_new=0.3):
        self._longest, self._chance_of_new = longest, chance_of_new
        self._machine = machine
        self._random = random.Random(seed)
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *exception):
        lives = self._thread.is_alive()
        self._end.set()
        self._thread.join()
        assert lives, 'nothing stood still any more'

    def _run(self):
        known = set()
        while not self._end.wait(PAUSE):
            processes = set(self._machine.processes())
            new, known = processes - known, processes
            for some, chance in ((new, self._chance_of_new), (processes, CHANCE)):
                if some and self._random.random() < chance:
                    self._hold(self._random.choice(sorted(some)))

    def _hold(self, pid):
        with contextlib.suppress(OSError):
            state, parent = stat(pid)
            # One that stands still already does so for its test, and is not to go on for us.
            if state not in 'RSD' or {comm(pid), comm(parent)} & STAND_STILL_FOR_GOOD:
                return
            os.kill(pid, signal.SIGSTOP)
            self._end.wait(self._random.uniform(0, self._longest))
            os.kill(pid, signal.SIGCONT)


def stat(pid):
    with open(f'/proc/{pid}/stat', errors='replace') as file:
        return file.read().rpartition(')')[2].split()[:2]


def comm(pid):
    with open(f'/proc/{pid}/comm', errors='replace') as file:
        return file.read().strip()
