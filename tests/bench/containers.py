# SPDX-License-Identifier: LGPL-2.1-or-later
"""One container, as each runtime wants to be told of it."""

import json

from bench import IMAGE, LIBSTART

# A container that only lives to be looked at: its filter and its specification serve the others.
MODEL = '/run/keyturn/bench-model'


def libstart(*command, name='bench-@@', options=()):
    return [LIBSTART, 'run', '--name', name, '--network', 'host', '--state-dir', f'/run/keyturn/{name}',
            *options, IMAGE, *command]


def layers(machine):
    """The directories of the image's layers, uppermost first."""
    data = json.loads(machine.run(['podman', 'image', 'inspect', IMAGE]).out)[0]['GraphDriver']['Data']
    return [data['UpperDir'], *filter(None, data.get('LowerDir', '').split(':'))]


def raw_filter(machine):
    """A file with the filter that the default profile becomes, as raw BPF, compiled by libstart."""
    machine.run(libstart('true', name='bench-model', options=['--detach']))
    return machine.run('ls /run/keyturn/bench-model/*/seccomp.bpf').out.strip()


def podman_filter(machine):
    """The default profile as Podman resolves it for a runtime: section linux.seccomp of a specification."""
    machine.run(['podman', 'create', '--name', 'bench-model', '--network', 'host', IMAGE, 'true'])
    machine.run(['podman', 'init', 'bench-model'])
    path = machine.run(['podman', 'inspect', '--format', '{{.OCIConfigPath}}', 'bench-model']).out.strip()
    spec = json.loads(machine.read(path))
    machine.run(['podman', 'rm', '--force', 'bench-model'])
    return spec['linux']['seccomp']


class Bundle:
    """What crun and runc run: libstart's own specification, with its root mounted beforehand."""

    def __init__(self, machine):
        self.machine = machine
        self.mount_root()
        spec = json.loads(machine.run(libstart('true', name='bench', options=['--print-spec'])).out)
        spec['root']['path'] = '/run/bundle/rootfs'
        spec['linux']['seccomp'] = podman_filter(machine)
        self.spec = spec

    def mount_root(self):
        lower = ':'.join(layers(self.machine))
        self.machine.run('mkdir -p /run/bundle/rw /run/bundle/rootfs && mount -t tmpfs bench /run/bundle/rw && '
                         'mkdir /run/bundle/rw/upper /run/bundle/rw/work')
        self.machine.run(['mount', '-t', 'overlay', 'bench', '/run/bundle/rootfs', '-o',
                          f'lowerdir={lower},upperdir=/run/bundle/rw/upper,workdir=/run/bundle/rw/work'],
                         # fsconfig(2) takes no string of more than 255 bytes
                         env={'LIBMOUNT_FORCE_MOUNT2': 'always'})

    def write(self, name, args, env=None):
        """A directory with the specification of one command."""
        spec = dict(self.spec, process=dict(self.spec['process'], args=args))
        if env is not None:
            spec['process']['env'] = env
        self.machine.write(f'/run/bundle/{name}/config.json', json.dumps(spec))
        return f'/run/bundle/{name}'


def crun(bundle):
    return ['crun', '--cgroup-manager=disabled', 'run', '--bundle', bundle, 'bench-@@']


def runc(bundle):
    return ['runc', 'run', '--bundle', bundle, 'bench-@@']


def podman(*command):
    return ['podman', 'run', '--rm', '--network', 'host', IMAGE, *command]
