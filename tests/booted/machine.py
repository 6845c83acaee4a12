# SPDX-License-Identifier: LGPL-2.1-or-later
"""A real systemd to test on: boots a throwaway Debian under systemd-nspawn and runs things in it.

For writers of scenarios (tests/booted/NAME/test.py; 'tests/booted/run' calls every test_* function in it
with a booted machine, in the order they are written):

    def test_exit_status(machine):
        machine.container('sleepy', '''
            [Container]
            Image=localhost/test/busybox
            Exec=sleep 1000
        ''')                                        # /etc/containers/systemd/sleepy.container + daemon-reload
        machine.run('systemctl start sleepy')       # a string goes to sh -c, a list is executed as it is
        assert machine.show('sleepy', 'ActiveState') == 'active'
        assert 'hello' in machine.journal('sleepy')

  run(cmd, check=True, timeout=120, input=None, env=None) -> Result(status, out, err)
                                  runs as root inside, with a minimal environment; check=True raises
                                  CommandFailed (with both outputs) when the status is not 0
  container(name, text, reload=True)   writes a file for keyturn-generator; 'name' may carry a suffix
                                  ('x.volume', 'x.container.d/10-more.conf'), without one it is .container
  unit(name, text, reload=True)   writes a plain systemd unit to /etc/systemd/system
  write(path, text, mode=0o644)   writes any file (parents are made)
  read(path)                      reads one
  show(unit, *properties)         systemctl show: the value of one property, or a dict of several
  journal(unit=None)              lines of this test only, oldest first, message text only; sync_journal(): by another way
  inside(name, command)           what a shell prints in a container
  ctl(words, status=0)            what keyturnctl prints, both outputs, which has nothing to read; it must end so
  ended(unit)                     waits until a service has ended, and says how: ('exit-code', 3)
  build(source, path, *options)   compiles a C file of tests/booted into the machine, statically without options
  wait_for(what, timeout=40)      calls what() until it returns something true, and returns that
  processor_seconds()             what all processes of the machine have used so far
  footprint()                     mounts, processes and files on /run, to compare before and after
  settled(find=None)              what find() finds when nothing has changed for a second; a footprint without
  is_as(before, find=None)        waits until find() finds that again, and says what is different if it does not
  another(prepare=None, **other)  context manager: a second machine of the same kind, freshly booted;
                                  prepare(root_directory) may change its files before the boot; 'other' is what
                                  Machine is to be given otherwise than this one
  pid1, suite, systemd_version, path(inside)

After each test the runner calls tidy(): units written by container() and unit() are stopped, all files
written by container(), unit() and write() removed, systemd reloaded and its failures forgotten. So tests
cannot see each other, and do not clean up themselves.

Everything a machine mounts lives in a private mount namespace and every process is bound to its parent's
life, so even a killed test run leaves nothing on the host.
"""

import atexit
import contextlib
import ctypes
import itertools
import os
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import textwrap
import time
from collections import Counter

HERE = os.path.dirname(os.path.realpath(__file__))

CLONE_NEWNS = 0x00020000
CLONE_NEWTIME = 0x00000080
PR_SET_PDEATHSIG = 1

INSIDE_ENVIRONMENT = {
    'PATH': '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    'HOME': '/root',
    'LANG': 'C.UTF-8',
    'SYSTEMD_PAGER': 'cat',
    'SYSTEMD_COLORS': '0',
}

libc = ctypes.CDLL(None, use_errno=True)


class HarnessError(Exception):
    """The harness itself could not do its work; never a verdict on keyturn."""


class CommandFailed(AssertionError):
    """A command inside the machine did not end as the test expects."""


class Result:
    def __init__(self, status, out, err):
        self.status = status
        self.out = out
        self.err = err

    def __repr__(self):
        return f'Result(status={self.status}, out={self.out!r}, err={self.err!r})'


def host(*command, timeout=3600, **kwargs):
    """Runs a command on the host and returns its output. It may have to fetch and unpack some Debian, behind another one."""
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=timeout, **kwargs)
    except FileNotFoundError:
        raise HarnessError(f"'{command[0]}' is not installed on this machine; run tests/install-deps") from None
    except subprocess.TimeoutExpired:
        raise HarnessError(f'{" ".join(command)} did not end within {timeout} s') from None
    if done.returncode != 0:
        raise HarnessError(f'{" ".join(command)} failed with {done.returncode}:\n{done.stderr}{done.stdout}')
    return done.stdout


def make_mounts_private():
    """Gives this process its own mount namespace: what it mounts vanishes with it, however it ends."""
    if libc.unshare(CLONE_NEWNS) != 0:
        raise HarnessError(f'unshare: {os.strerror(ctypes.get_errno())}; the booted tests need root')
    host('mount', '--make-rprivate', '/')


def restart_clocks_for_children():
    """Lets boot time and monotonic time begin at zero for all processes that this one starts."""
    if libc.unshare(CLONE_NEWTIME) != 0:
        raise HarnessError(f'cannot make a time namespace: {os.strerror(ctypes.get_errno())}')
    offsets = []
    for name, clock in (('monotonic', time.CLOCK_MONOTONIC), ('boottime', time.CLOCK_BOOTTIME)):
        seconds, nanoseconds = divmod(-time.clock_gettime_ns(clock), 1000000000)
        offsets.append(f'{name} {seconds} {nanoseconds}\n')
    with open('/proc/self/timens_offsets', 'w') as file:
        file.write(''.join(offsets))


def cgroup2_root():
    """Where the host has its unified hierarchy: /sys/fs/cgroup, or beside cgroup v1 somewhere below."""
    with open('/proc/self/mountinfo') as mounts:
        for line in mounts:
            fields, _, rest = line.partition(' - ')
            if rest.split()[0] == 'cgroup2':
                return fields.split()[4]
    raise HarnessError('no cgroup2 file system is mounted on this machine')


def remove_cgroup(top):
    """Removes an empty cgroup and all below it; returns whether that worked."""
    for directory, _, _ in os.walk(top, topdown=False):
        try:
            os.rmdir(directory)
        except FileNotFoundError:
            pass
        except OSError:
            return False
    return True


def forget_the_killed():
    """Removes the empty cgroups of test runs that were killed; nothing else of them can have stayed."""
    root = cgroup2_root()
    for name in os.listdir(root):
        match = re.fullmatch(r'keyturn-[a-z]+-(\d+)-[0-9a-f]+', name)
        if match and not os.path.exists(f'/proc/{match[1]}'):
            remove_cgroup(os.path.join(root, name))


def wait_for(what, timeout=40):
    """Until 'what' is true. A command in it that fails is not there yet: pgrep, ls; nor is a file that is read. On a machine that
    has much to do beside this it may take seconds. The last look begins after that time: we may have stood still ourselves. What
    comes late may be seen a tenth of a second later: each look costs the other machines as much as some tests do."""
    begin = time.monotonic()
    deadline = begin + timeout
    while True:
        failure = None
        is_last = time.monotonic() > deadline
        try:
            value = what()
        except (CommandFailed, FileNotFoundError) as error:
            value, failure = None, error
        if value:
            return value
        if is_last:
            raise AssertionError(f'still waiting after {timeout} s for {getattr(what, "__name__", what)}') from failure
        time.sleep(max(0.02, min(0.1, (time.monotonic() - begin) / 10)))


def difference(before, now):
    """For whoever reads it."""
    if isinstance(before, dict):
        return {key: difference(before[key], now[key]) for key in before if now[key] != before[key]}
    if isinstance(before, str):
        before, now = before.splitlines(), now.splitlines()
    if isinstance(before, (list, set)):
        return {'new': list((Counter(now) - Counter(before)).elements()), 'gone': list((Counter(before) - Counter(now)).elements())}
    return {'before': before, 'now': now}


def children(pid):
    found = []
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        for task in os.listdir(f'/proc/{pid}/task'):
            with open(f'/proc/{pid}/task/{task}/children') as listing:
                found += [int(child) for child in listing.read().split()]
    return found


def kill_below(pid):
    """Kills what nsenter started, and leaves it to nsenter to reap it and to end.

    Killing nsenter first would hand its child to the host's PID 1. Where that one reaps late, the machine
    holds a zombie it cannot reap, and its shutdown waits ten seconds for it.
    """
    for child in children(pid):
        below = children(child)
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        for orphan in below:
            kill_below(orphan)
            with contextlib.suppress(ProcessLookupError):
                os.kill(orphan, signal.SIGKILL)


def build(source, program, *options):
    """As Machine.build(), unless it is there. program: the host's path."""
    if os.path.exists(program):
        return
    os.makedirs(os.path.dirname(program), exist_ok=True)
    host('gcc', '-std=gnu17', '-D_GNU_SOURCE', '-O2', *(options or ['-static']), '-o', program, os.path.join(HERE, source))


def init_of(pid):
    """The process below 'pid' that is PID 1 of a PID namespace of its own, or None."""
    try:
        for child in children(pid):
            with open(f'/proc/{child}/status') as status:
                ids = next(line for line in status if line.startswith('NSpid:')).split()[1:]
            if len(ids) > 1 and ids[-1] == '1':
                return child
            below = init_of(child)
            if below:
                return below
    except (FileNotFoundError, ProcessLookupError, StopIteration):
        pass
    return None


def root_of(suite, packages):
    """The directory of the Debian that is booted; never written to."""
    return host(os.path.join(HERE, 'root'), suite, *(['boot', *packages] if packages else [])).strip()


class Machine:
    private_mounts = False
    numbers = itertools.count()

    def __init__(self, suite, tree=None, store=None, prepare=None, name=None, own_clock=False, packages=(),
                 nspawn=()):
        """
        suite    'trixie' or 'bookworm'
        tree     a directory with keyturn installed in it (as from install-tree), copied into the machine
        store    a directory of containers-storage; the machine gets a copy as /var/lib/containers/storage. False: that
                 is not mounted
        prepare  called with the root directory before the boot
        own_clock  boot time and monotonic time begin with this boot, not with the host's
        packages what to have installed beside what every machine has
        nspawn   more options of systemd-nspawn
        """
        self.suite = suite
        self.tree = tree
        self.store = store
        self.prepare = prepare
        self.own_clock = own_clock
        self.packages = packages
        self.nspawn = nspawn
        self.name = name or f'keyturn-{suite}-{os.getpid()}-{next(Machine.numbers):x}'
        self.pid1 = None
        self.boot_seconds = None
        self._nspawn = None
        self._work = None
        self._cgroup = None
        self._units = []
        self._files = []
        self._cursor = None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *exception):
        self.stop()

    # ---- boot and power off

    def start(self, timeout=120):
        if not Machine.private_mounts:
            make_mounts_private()
            Machine.private_mounts = True
        atexit.register(self.stop)
        try:
            self._make_root()
            self._boot(timeout)
        except BaseException:
            self.stop()
            raise

    def _make_root(self):
        lower = root_of(self.suite, self.packages)
        self._work = tempfile.mkdtemp(prefix='keyturn-test-')
        host('mount', '-t', 'tmpfs', '-o', 'mode=0755', 'keyturn-test', self._work)
        for directory in ('upper', 'work', 'root'):
            os.mkdir(os.path.join(self._work, directory))
        self.root = os.path.join(self._work, 'root')
        host('mount', '-t', 'overlay', '-o',
             f'lowerdir={lower},upperdir={self._work}/upper,workdir={self._work}/work', 'keyturn-test', self.root)

        if self.tree:
            # --keep-directory-symlink: where the tree has a directory /lib, the root has a link
            host('sh', '-c', 'tar -C "$1" -c . | tar -C "$2" -x --keep-directory-symlink --no-overwrite-dir',
                 'sh', self.tree, self.root)

        # Podman's own overlay cannot have its upper directory on an overlay, so the store is no part of the
        # root. It is a copy: tests may load and remove images.
        storage = os.path.join(self._work, 'storage')
        if self.store:
            host('cp', '-a', self.store, storage)
        else:
            os.mkdir(storage, 0o700)
        os.makedirs(os.path.join(self.root, 'var/lib/containers/storage'), exist_ok=True)

        if self.prepare:
            self.prepare(self.root)

    def _boot(self, timeout):
        forget_the_killed()
        self._cgroup = os.path.join(cgroup2_root(), self.name)
        os.mkdir(self._cgroup)
        console = open(os.path.join(self._work, 'console'), 'wb')
        began = time.monotonic()

        def before_exec():
            with open(os.path.join(self._cgroup, 'cgroup.procs'), 'w') as procs:
                procs.write('0')
            if self.own_clock:
                restart_clocks_for_children()
            # SIGTERM, for which nspawn powers the machine off. Killed, it would leave the machine running.
            libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)

        environment = {
            'PATH': os.environ.get('PATH', INSIDE_ENVIRONMENT['PATH']),
            # cgroup v2 inside even where the host still has v1 beside it
            'SYSTEMD_NSPAWN_UNIFIED_HIERARCHY': '1',
        }
        # nspawn's system call filter would shadow the ones under test.
        if not any('system-call-filter' in option for option in self.nspawn):
            environment['SYSTEMD_SECCOMP'] = '0'
        command = [
            'systemd-nspawn', '--quiet', '--register=no', '--keep-unit', '--boot', '--capability=all',
            f'--directory={self.root}', f'--machine={self.name}', '--hostname=keyturn-test',
            '--private-network', '--link-journal=no', '--resolv-conf=off', '--timezone=off', '--console=pipe',
            *([] if self.store is False else [f'--bind={self._work}/storage:/var/lib/containers/storage']),
            *self.nspawn, 'systemd.unit=multi-user.target', 'systemd.show_status=0',
        ]
        try:
            self._nspawn = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=console, stderr=console,
                                            env=environment, start_new_session=True, preexec_fn=before_exec)
        except FileNotFoundError:
            raise HarnessError("'systemd-nspawn' is not installed on this machine; run tests/install-deps") from None
        finally:
            console.close()

        deadline = began + timeout
        while True:
            if self._nspawn.poll() is not None:
                raise HarnessError(f'{self.name}: systemd-nspawn ended with {self._nspawn.returncode}:\n{self.console()}')
            self.pid1 = self.pid1 or init_of(self._nspawn.pid)
            if self.pid1:
                state = ''
                # Where it ends just now, nspawn tells why.
                with contextlib.suppress(CommandFailed, FileNotFoundError, ProcessLookupError, StopIteration):
                    state = self.run(['systemctl', 'is-system-running', '--wait'], check=False, timeout=timeout).out.strip()
                if state in ('running', 'degraded'):
                    break
            if time.monotonic() > deadline:
                raise HarnessError(f'{self.name}: not up after {timeout} s:\n{self.console()}')
            time.sleep(0.02)
        self.boot_seconds = time.monotonic() - began
        self.state = state

        self.systemd_version = int(self.run(['systemctl', '--version']).out.split()[1])
        self.mark()

    def stop(self, timeout=30):
        """Powers off and forgets everything. Safe to call at any time, more than once."""
        if self._nspawn is not None:
            if self._nspawn.poll() is None and self.pid1:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(self.pid1, signal.SIGRTMIN + 4)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self._nspawn.wait(timeout)
            if self._nspawn.poll() is None:
                if self.pid1:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(self.pid1, signal.SIGKILL)
                self._nspawn.kill()
                self._nspawn.wait(timeout)
            self._nspawn = None
            self.pid1 = None

        if self._cgroup is not None:
            wait_for(lambda: remove_cgroup(self._cgroup))
            self._cgroup = None

        # nspawn's own end of a directory it shares with the machine; it does not dare to remove this itself.
        with contextlib.suppress(FileNotFoundError):
            os.rmdir(f'/run/systemd/nspawn/propagate/{self.name}')

        atexit.unregister(self.stop)
        if self._work is not None:
            for mount in (os.path.join(self._work, 'root'), self._work):
                if os.path.ismount(mount):
                    host('umount', '-l', mount)
            os.rmdir(self._work)
            self._work = None

    @contextlib.contextmanager
    def another(self, prepare=None, **other):
        same = {'tree': self.tree, 'store': self.store, 'packages': self.packages}
        with Machine(self.suite, prepare=prepare, **{**same, **other}) as machine:
            yield machine

    # ---- at work inside

    def run(self, command, check=True, timeout=120, input=None, env=None):
        if isinstance(command, str):
            command = ['/bin/sh', '-c', command]
        # Inside the machine's own cgroup tree too: a command that looks at its cgroup would otherwise find
        # itself outside of everything. PID 1's is the one leaf that is always there. A shell writes that file: a
        # function between fork and exec would cost Python a copy of its page tables, five times of what a shell does.
        with open(f'/proc/{self.pid1}/cgroup') as listing:
            path = next(line for line in listing if line.startswith('0::')).rstrip('\n')[4:]
        procs = os.path.join(cgroup2_root(), path, 'cgroup.procs')
        enter = ['/bin/sh', '-c', '{ echo 0 >"$0"; } 2>/dev/null; unset PWD; exec "$@"', procs,
                 'nsenter', '-t', str(self.pid1), '-m', '-u', '-i', '-n', '-p', '-C', '-r', '-w']
        if self.own_clock:
            enter.append('-T')
        process = subprocess.Popen(
            enter + ['--'] + list(command),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, errors='backslashreplace', env=dict(INSIDE_ENVIRONMENT, **(env or {})),
            start_new_session=True)
        try:
            out, err = process.communicate(input or '', timeout)
        except subprocess.TimeoutExpired:
            kill_below(process.pid)
            out, err = process.communicate()
            raise CommandFailed(f'{command} did not end within {timeout} s\n{out}{err}') from None
        except BaseException:
            kill_below(process.pid)
            process.wait()
            raise
        result = Result(process.returncode, out, err)
        if check and result.status != 0:
            raise CommandFailed(f'{command} ended with {result.status}\n{out}{err}')
        return result

    def inside(self, name, command, check=True):
        return self.run(['keyturnctl', 'exec', name, 'sh', '-c', command], check=check).out

    def ctl(self, words, status=0):
        result = self.run(f'keyturnctl {words} 2>&1 </dev/null', check=False)
        assert result.status == status, (words, result.status, result.out)
        return result.out

    def path(self, inside):
        """The host's path of a file inside; do not use it across symbolic links with absolute targets."""
        return f'/proc/{self.pid1}/root{inside}'

    def build(self, source, inside, *options):
        build(source, self.path(inside), *options)

    def processor_seconds(self):
        """What all its processes have used since it booted, also those that have ended. Nothing is executed for it."""
        with open(os.path.join(self._cgroup, 'cpu.stat')) as file:
            return int(file.readline().split()[1]) / 1e6

    def processes(self):
        """All its processes, as the host numbers them."""
        for directory, _, _ in os.walk(self._cgroup):
            with contextlib.suppress(OSError), open(os.path.join(directory, 'cgroup.procs')) as file:
                yield from (int(line) for line in file)

    def write(self, inside, text, mode=0o644):
        path = self.path(inside)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'w') as file:
            file.write(text)
        os.chmod(path, mode)
        self._files.append(inside)

    def read(self, inside):
        with open(self.path(inside)) as file:
            return file.read()

    def reload(self):
        self.run(['systemctl', 'daemon-reload'])

    def container(self, name, text, reload=True):
        file = name if '.' in name else name + '.container'
        self.write('/etc/containers/systemd/' + file, textwrap.dedent(text).lstrip('\n'))
        if file.endswith('.container'):
            self._units.append(file[:-len('.container')] + '.service')
        if reload:
            self.reload()

    def unit(self, name, text, reload=True):
        file = name if '.' in name else name + '.service'
        self.write('/etc/systemd/system/' + file, textwrap.dedent(text).lstrip('\n'))
        self._units.append(file)
        if reload:
            self.reload()

    def show(self, unit, *properties):
        out = self.run(['systemctl', 'show', '--property=' + ','.join(properties), unit]).out
        values = dict(line.split('=', 1) for line in out.splitlines() if '=' in line)
        for name in properties:
            if name not in values:
                raise AssertionError(f"systemd does not know the property '{name}' of '{unit}'")
        return values[properties[0]] if len(properties) == 1 else values

    def ended(self, unit):
        # systemd forgets one that has ended well; all is 0 then.
        self.wait_for(lambda: self.show(unit, 'ActiveState') in ('inactive', 'failed'), 60)
        shown = self.show(unit, 'Result', 'ExecMainStatus')
        return shown['Result'], int(shown['ExecMainStatus'])

    def wait_for(self, what, timeout=40):
        return wait_for(what, timeout)

    # ---- what happened

    def mark(self, first='true'):
        """journal() starts here from now on: at an entry that is of no unit. `first` is run before, in the same
        command: going inside and coming back takes longer than most of what is done there."""
        out = self.run(f'{first} && systemd-cat --identifier=keyturn-test echo journal of the next test && '
                       'journalctl --sync && '
                       'journalctl --quiet --identifier=keyturn-test --lines=1 --show-cursor').out
        self._cursor = out.rpartition('-- cursor: ')[2].strip()

    def journal(self, unit=None, output='cat', lines=None):
        # With a filter, --after-cursor of systemd 252 leaves out the first entry that passes it, too.
        cursor = [f'--cursor={self._cursor}', f'--unit={unit}'] if unit else [f'--after-cursor={self._cursor}']
        command = ['journalctl', '--quiet', '--no-pager', f'--output={output}', *cursor]
        self.sync_journal()
        found = self.run(command).out
        # After a cursor, --lines= are the first ones.
        return ''.join(found.splitlines(keepends=True)[-lines:]) if lines else found

    def sync_journal(self):
        """What a payload wrote just before is in the journal when the relay has passed it on, which sleeps only then, and
        when journald has read it."""
        self.run('for i in $(seq 500); do ps -e -o comm=,stat= | grep ^keyturn-relay | grep -qv " S" || break; sleep 0.01; done; '
                 'journalctl --sync')

    def console(self):
        """What systemd-nspawn and the console said; for a boot that failed."""
        try:
            with open(os.path.join(self._work, 'console'), errors='replace') as file:
                return file.read()
        except (OSError, TypeError):
            return ''

    def footprint(self):
        """What a service may leave behind. Compare two of these; they hold no ids or times."""
        mounts = [line.split()[4] for line in self.read('/proc/1/mountinfo').splitlines()]
        files = self.run(['find', '/run/keyturn', '/run/systemd/generator', '/run/systemd/generator.early',
                          '/run/systemd/transient', '/dev/shm', '/tmp', '-xdev'], check=False).out.splitlines()
        processes = [line for line in self.run(['ps', '-e', '-o', 'args=']).out.splitlines()
                     # nor systemd's own children: that remove what a unit had, or are about to execute its command;
                     # nor a network's moment to be used again, which ends by itself
                     if not line.startswith(('ps -e', '(', '/usr/lib/systemd/systemd-executor ')) and line != '/bin/sleep 2']
        return {'mounts': sorted(mounts), 'files': sorted(files), 'processes': sorted(processes)}

    def settled(self, find=None):
        """One whom we wait for may stand still meanwhile: hence a whole second."""
        find = find or self.footprint
        found, since = None, None

        def is_settled():
            nonlocal found, since
            now = find()
            if since is None or now != found:
                found, since = now, time.monotonic()
            return time.monotonic() - since > 1

        self.wait_for(is_settled, 60)
        return found

    def is_as(self, before, find=None):
        """What `find` finds, a footprint without, as soon as who is on the way out has gone."""
        find = find or self.footprint
        try:
            self.wait_for(lambda: find() == before, 60)
        except AssertionError:
            raise AssertionError(difference(before, find())) from None

    def tidy(self):
        """Undoes what container(), unit() and write() did. The runner calls this after every test."""
        plain = [unit for unit in self._units if '@.' not in unit]
        instances = [unit.replace('@.', '@*.') for unit in self._units if '@.' in unit]
        if self._units:
            # A payload that does not heed SIGTERM would be waited for for ten seconds, and nobody looks.
            units = shlex.join(plain + instances)
            self.run(f'timeout 0.5 systemctl stop -- {units} || '
                     f'{{ systemctl kill --signal=SIGKILL -- {units}; systemctl stop -- {units}; }}',
                     check=False, timeout=120)
        for inside in self._files:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self.path(inside))
            # a drop-in directory that only this test needed
            parent = os.path.dirname(inside)
            if parent.endswith('.d'):
                with contextlib.suppress(OSError):
                    os.rmdir(self.path(parent))
        self.mark(('systemctl daemon-reload && ' if self._files else '') + 'systemctl reset-failed')
        self._units, self._files = [], []


def missing_tools():
    """Names of host tools that booting needs and this machine does not have."""
    return [tool for tool in ('systemd-nspawn', 'nsenter', 'mount', 'umount', 'mmdebstrap', 'tar')
            if not shutil.which(tool)]
