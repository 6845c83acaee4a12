# SPDX-License-Identifier: LGPL-2.1-or-later
"""Programs that people run, as plain services and in containers: how much more time and processor time."""

import json
import os
import shutil
import subprocess

import services
from bench import HERE, TOOLS, host

SUMMARY = 'the overhead of applications: time and processor time, as ratios of those of a plain service'

IMAGE = 'localhost/test/apps'
STORE, ROOT = '/usr/lib/bench-apps/store', '/usr/lib/bench-apps/root'
WORK = f'{TOOLS}/work'
HERE_ALONE = '127.0.0.1'
ROUNDS = 20
RUNSC_EVERY = 8  # A round of its is long, and what it differs by is no matter of percents.

# What is run again and again by the payload itself, and servers that somebody asks.
BATCH = ('sqlite', 'git', 'tar', 'gcc', 'python', 'node', 'ffmpeg', 'gstreamer', 'perl', 'shell', 'grep', 'xz',
         # The same upon files of the image, and in the container's own layer: the kernel's overlay shows.
         'git-in-image', 'tar-in-image', 'grep-in-image')
SERVERS = ('nginx', 'redis', 'postgresql', 'mosquitto')
APPS = (*SERVERS, *BATCH)
USERS = {'postgresql': 'postgres'}

# Where more than the price of a container is asked: whether it is that of having a filter of system calls at all.
WHY = os.environ.get('KEYTURN_BENCH_APPS_WHY')
FILTERED = 'SystemCallFilter=~@reboot\nNoNewPrivileges=yes\n'
UNFILTERED = 'SeccompProfile=unconfined'

# The same files as the image's: hard links to them, without an overlay.
NATIVE = f'''
[Service]
Type=exec
RootDirectory={ROOT}
MountAPIVFS=yes
BindReadOnlyPaths={TOOLS}
BindPaths={{data}}:/data
TemporaryFileSystem=/scratch:mode=1777 /tmp:mode=1777 /var/tmp:mode=1777 /var/log /var/lib/nginx
ExecStart={{command}}
KillSignal=SIGKILL
SuccessExitStatus=SIGKILL
'''

CONTAINER = f'''
[Container]
Image={IMAGE}
User={{user}}
Volume={TOOLS}:{TOOLS}:ro
Volume={{data}}:/data
Exec={{command}}
StopSignal=SIGKILL
{{network}}

[Service]
SuccessExitStatus=SIGKILL 137

{{more}}
'''

# By kind: where it listens. Each has a port of its own: with the host's network they are side by side.
PLACES = {'native': (HERE_ALONE, 7001), 'keyturn': (HERE_ALONE, 7002), 'podman': (HERE_ALONE, 7003),
          'runsc': (HERE_ALONE, 7004), 'native-filtered': (HERE_ALONE, 7007), 'keyturn-unfiltered': (HERE_ALONE, 7008),
          'keyturn-bridge': ('10.88.200.9', 7005), 'podman-bridge': ('10.88.0.9', 7006)}


def layers(store):
    """The directories of the image's layers in a store, lowest first."""
    with open(f'{store}/overlay-images/images.json') as file:
        top = next(image['layer'] for image in json.load(file) if f'{IMAGE}:latest' in image.get('names', []))
    with open(f'{store}/overlay-layers/layers.json') as file:
        parents = {layer['id']: layer.get('parent') for layer in json.load(file)}
    found = []
    while top:
        found.insert(0, f'{store}/overlay/{top}/diff')
        top = parents[top]
    return found


def flat(store):
    """One directory of all layers, beside the store, made once. A device 0:0 hides what a lower layer has."""
    path = f'{store}.flat'
    if not os.path.isdir(path):
        shutil.rmtree(f'{path}.new', ignore_errors=True)
        os.mkdir(f'{path}.new')
        for layer in layers(store):
            hidden = [f'{path}.new/{os.path.relpath(name, layer)}'
                      for name in host('find', layer, '-type', 'c').splitlines() if os.stat(name).st_rdev == 0]
            host('rm', '-rf', '--', *hidden)
            host('cp', '-alfT', layer, f'{path}.new')
            host('rm', '-f', '--', *hidden)
        os.rename(f'{path}.new', path)
    return path


def nspawn():
    """How a machine gets the image, which is too large for a copy."""
    make = os.path.join(HERE, '..', 'images', 'make')
    store = subprocess.run([make, 'apps'], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    return [f'--bind-ro={store}:{STORE}', f'--bind-ro={flat(store)}:{ROOT}']


def kinds_of(bench, app):
    kinds = ['native', 'keyturn']
    if WHY:
        return [*kinds, 'native-filtered', 'keyturn-unfiltered']
    if bench.has(f'apps/{app}/podman', services.QUADLET):
        kinds.append('podman')
    if app in SERVERS:
        kinds += [f'{kind}-bridge' for kind in kinds[1:]]
    if bench.has(f'apps/{app}/runsc', 'runsc'):
        kinds.append('runsc')
    return kinds


def install(bench, app, kinds):
    machine = bench.machine
    for kind in kinds:
        address, port = PLACES[kind]
        data, name = f'/run/bench/apps/{kind}', f'apps-{kind}'
        user = USERS.get(app, 'root')
        machine.run(f'rm -rf {data} && mkdir -p {data} && chmod 1777 {data}')
        command = f'{WORK}/serve-{app} {port}' if app in SERVERS else f'{WORK}/serve {port} {app}'
        if kind.startswith('native'):
            # systemd would look for the name among the machine's users.
            drop = f'/usr/bin/setpriv --reuid={user} --regid={user} --clear-groups ' if user != 'root' else ''
            machine.unit(name, NATIVE.format(data=data, command=drop + command) + (FILTERED if kind != 'native' else ''),
                         reload=False)
            continue
        network = 'Network=host' if address == HERE_ALONE else f'Network=bridge\nIP={address}'
        if kind == 'keyturn-unfiltered':
            network += f'\n{UNFILTERED}'
        text = CONTAINER.format(user=user, data=data, command=command, network=network,
                                more='[Keyturn]\nRuntime=runsc\n' if kind == 'runsc' else '')
        if kind.startswith('podman'):
            services.quadlet(machine, {name: text + services.NO_NETWORK_ONLINE})
        else:
            machine.container(name, text, reload=False)
    machine.reload()
    machine.run(['systemctl', 'start', *(f'apps-{kind}' for kind in kinds)])


class Kind:
    """One kind of one application, started."""

    def __init__(self, machine, app, kind):
        self.machine = machine
        self.app = app
        self.place = [str(word) for word in PLACES[kind]]
        self.group = machine.show(f'apps-{kind}', 'ControlGroup')

    def processor_time(self):
        """In nanoseconds, of all that has ever been in its control group."""
        stat = self.machine.read(f'/sys/fs/cgroup{self.group}/cpu.stat')
        return int(stat.split()[1]) * 1000

    def once(self, *more):
        if self.app in SERVERS:
            command = ['workload', 'time', 'chroot', ROOT, f'{WORK}/ask-{self.app}', *self.place, *more]
        else:
            command = ['workload', 'ask', *self.place]
        before = self.processor_time()
        time = int(self.machine.run([f'{TOOLS}/{command[0]}', *command[1:]], timeout=300).out)
        return time, self.processor_time() - before

    def is_ready(self):
        try:
            return self.once('first')
        except AssertionError:
            return None


def turns(bench, kinds):
    """{kind: [(time, processor time) of each round, or None]}, each round in another order."""
    found = {kind: [] for kind in kinds}
    rounds = bench.rounds(ROUNDS)
    for number in range(rounds):
        order = list(kinds)[number % len(kinds):] + list(kinds)[:number % len(kinds)]
        for kind in order if number % 2 else reversed(order):
            left_out = kind == 'runsc' and number % RUNSC_EVERY
            found[kind].append(None if left_out else kinds[kind].once())
    return found


def measure_app(bench, app):
    names = kinds_of(bench, app)
    install(bench, app, names)
    kinds = {kind: Kind(bench.machine, app, kind) for kind in names}
    for name, kind in list(kinds.items()):
        try:
            bench.machine.wait_for(kind.is_ready, 15)
        except AssertionError:
            said = bench.machine.journal(f'apps-{name}').strip().rpartition('\n')[2]
            # What gVisor does not have is no matter of ours.
            if name != 'runsc':
                raise RuntimeError(f"'{app}' does not work, {name}: {said}") from None
            bench.missing(f'apps/{app}/runsc', said)
            del kinds[name]
    found = turns(bench, kinds)
    for number, what in enumerate(('time', 'processor')):
        bench.record(f'apps/{app}/native/{what}', [values[number] / 1e6 for values in found['native']], 'ms')
        for kind in list(kinds)[1:]:
            ratios = [values[number] / native[number]
                      for values, native in zip(found[kind], found['native']) if values]
            bench.record(f'apps/{app}/{kind}/{what}', ratios, '')
    bench.machine.run(['systemctl', 'stop', *(f'apps-{kind}' for kind in names)])


def measure(bench):
    bench.build('workload')
    shutil.copytree(os.path.join(HERE, 'work'), bench.machine.path(WORK), dirs_exist_ok=True)
    bench.machine.write('/etc/containers/storage.conf',
                        '[storage]\ndriver = "overlay"\nrunroot = "/run/containers/storage"\n'
                        'graphroot = "/var/lib/containers/storage"\n'
                        f'[storage.options]\nadditionalimagestores = ["{STORE}"]\n')
    bench.machine.run(f'mount --bind /dev {ROOT}/dev && mount -t proc proc {ROOT}/proc && '
                      f'mount --bind {TOOLS} {ROOT}{TOOLS}')
    for app in os.environ.get('KEYTURN_BENCH_APPS', '').split() or APPS:
        measure_app(bench, app)
    bench.machine.run(f'umount {ROOT}/dev {ROOT}/proc {ROOT}{TOOLS}')
