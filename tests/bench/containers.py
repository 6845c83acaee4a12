# SPDX-License-Identifier: LGPL-2.1-or-later
"""One container, as each runtime wants to be told of it."""

import json

from bench import IMAGE, LIBSTART

ROOT = '/run/bench/rootfs'


def libstart(*command, name='bench-@@', options=()):
    return [LIBSTART, 'run', '--name', name, '--network', 'host', '--state-dir', f'/run/keyturn/{name}',
            *options, IMAGE, *command]


def layers(machine):
    """The directories of the image's layers, uppermost first."""
    data = json.loads(machine.run(['podman', 'image', 'inspect', IMAGE]).out)[0]['GraphDriver']['Data']
    return [data['UpperDir'], *filter(None, data.get('LowerDir', '').split(':'))]


def raw_filter(machine):
    """A file with the filter that the default profile becomes, as raw BPF, compiled by libstart."""
    machine.run(['rm', '-rf', '/run/keyturn/model-bench'])
    machine.run(libstart('true', name='model-bench', options=['--detach']))
    return machine.run('ls /run/keyturn/model-bench/*/seccomp.bpf').out.strip()


def podman_filter(machine):
    """The default profile as Podman resolves it for a runtime: section linux.seccomp of a specification."""
    machine.run(['podman', 'create', '--name', 'model-bench', '--network', 'host', IMAGE, 'true'])
    machine.run(['podman', 'init', 'model-bench'])
    path = machine.run(['podman', 'inspect', '--format', '{{.OCIConfigPath}}', 'model-bench']).out.strip()
    spec = json.loads(machine.read(path))
    machine.run(['podman', 'rm', '--force', 'model-bench'])
    return spec['linux']['seccomp']


def mount_root(machine):
    """Mounts the image at ROOT, for those who do not do that themselves."""
    if machine.run(['mountpoint', '-q', ROOT], check=False).status == 0:
        return
    machine.run(f'mkdir -p /run/bench/rw {ROOT} && mount -t tmpfs bench /run/bench/rw && '
                'mkdir /run/bench/rw/upper /run/bench/rw/work')
    machine.run(['mount', '-t', 'overlay', 'bench', ROOT, '-o',
                 f'lowerdir={":".join(layers(machine))},upperdir=/run/bench/rw/upper,'
                 'workdir=/run/bench/rw/work'],
                env={'LIBMOUNT_FORCE_MOUNT2': 'always'})  # fsconfig(2) takes no string beyond 255 bytes


class Bundles:
    """What crun and runc run: libstart's own specification, with its root mounted beforehand."""

    def __init__(self, machine):
        self.machine = machine
        mount_root(machine)
        spec = json.loads(machine.run(libstart('true', name='bench', options=['--print-spec'])).out)
        spec['root']['path'] = ROOT
        spec['linux']['seccomp'] = podman_filter(machine)
        self.spec = spec

    def write(self, name, args, env=None):
        """A directory with the specification of one command."""
        spec = dict(self.spec, process=dict(self.spec['process'], args=args))
        if env is not None:
            spec['process']['env'] = env
        self.machine.write(f'/run/bench/{name}/config.json', json.dumps(spec))
        return f'/run/bench/{name}'


def crun(bundle):
    return ['crun', '--cgroup-manager=disabled', 'run', '--bundle', bundle, 'bench-@@']


def runc(bundle):
    return ['runc', 'run', '--bundle', bundle, 'bench-@@']


def podman(*command):
    return ['podman', 'run', '--rm', '--network', 'host', IMAGE, *command]
