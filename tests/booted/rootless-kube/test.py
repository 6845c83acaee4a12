# SPDX-License-Identifier: LGPL-2.1-or-later
"""A .kube file of a user's manager: what its YAML asks for is there, and nothing is left when it stops."""

import re
import textwrap

from kube_app import APP, MEMBERS
from users import IMAGE, as_user, inside, make_podmans, make_user, renew_view, show
from world import ask, fetch_inside, last, make_world

PACKAGES = ('passt',)
DIRECTORY = '/home/alice/.config/containers/systemd'
RUN = '/run/user/1234/keyturn'


def write(machine, yaml, kube='[Kube]\nYaml=app.yaml\n'):
    make_user(machine, 'alice')
    as_user(machine, f'mkdir -p {DIRECTORY}')
    machine.write(f'{DIRECTORY}/app.yaml', textwrap.dedent(yaml))
    machine.run(f'chown alice: {DIRECTORY}/app.yaml; chmod 600 {DIRECTORY}/app.yaml')
    machine.write(f'{DIRECTORY}/app.kube', kube)
    as_user(machine, 'systemctl --user daemon-reload')


def remove(machine):
    as_user(machine, f'systemctl --user stop app {" ".join(MEMBERS)}; rm -f {DIRECTORY}/app.*; systemctl --user daemon-reload; '
                     'systemctl --user reset-failed', check=False)


def states(machine):
    return ' '.join(show(machine, unit, 'ActiveState') for unit in ('app', *MEMBERS))


def fetch(machine):
    return last(machine.run(ask('127.0.0.1', 8123), check=False).out)


def test_a_pod_with_all_that_is_common(machine):
    make_world(machine)
    write(machine, APP, '[Kube]\nYaml=%h/.config/containers/systemd/app.yaml\n')
    try:
        as_user(machine, 'systemctl --user start app')
        assert states(machine) == 'active active active active active', states(machine)
        environment = inside(machine, 'tr "\\0" "\\n" </proc/1/environ', 'app-web-server').splitlines()
        for line in ("GREETING=it's 5$ & 100%", 'PASSWORD=hush % $HOME', 'MODE=5$ & 100%'):
            assert line in environment, (line, environment)
        assert inside(machine, 'cat /etc/password', 'app-web-server') == 'hush % $HOME'
        assert inside(machine, 'cat /data/mark; hostname', 'app-web-helper') == 'prepared by init\nfront'
        status = inside(machine, 'cat /proc/1/status', 'app-web-server')
        assert 'Uid:\t1000\t1000\t1000\t1000' in status and 'CapBnd:\t0000000000000000' in status, status
        assert inside(machine, 'df -k /data | tail -n 1', 'app-web-helper').split()[1] == '1024'
        machine.wait_for(lambda: fetch(machine) == 'from a ConfigMap')
        assert fetch_inside(machine, name='app-web-helper') == 'from the world'
        # Another user sees no secret, nor does systemd tell it.
        make_user(machine, 'bob')
        for command in (f'cat {RUN}/kube/app-web-pod/env/server', f'cat {RUN}/kube/app-web-pod/volumes/login/password'):
            assert machine.run(command).out
            assert as_user(machine, command, 'bob', check=False).status
        assert 'hush' not in as_user(machine, 'systemctl --user show app-web-server app-web-pod').out
        # A probe that fails starts the container again.
        inside(machine, 'rm /data/mark; touch /data/mine; echo y >/kept/more || true', 'app-web-server', check=False)
        machine.run(f"nsenter -t {show(machine, 'app-web-server', 'MainPID')} -m -U rm -f /data/mark", check=False)
        machine.wait_for(lambda: show(machine, 'app-web-server', 'NRestarts') not in ('', '0'))
        # What is empty is empty again.
        as_user(machine, 'systemctl --user restart app')
        assert states(machine) == 'active active active active active', states(machine)
        assert inside(machine, 'ls /data', 'app-web-server') == 'mark'
        as_user(machine, 'systemctl --user stop app')
        machine.wait_for(lambda: set(states(machine).split()) <= {'inactive', 'failed'})
        machine.wait_for(lambda: machine.run(f'ls -d {RUN}/kube/* {RUN}/pod/* {RUN}/network/*', check=False).out == '')
    finally:
        remove(machine)


def test_a_pod_with_ids_of_its_own(machine):
    """What is in memory, and what its ConfigMaps and Secrets say, is its root's to read and write."""
    make_world(machine)
    for mode in ('auto:size=3000', 'keep-id'):
        write(machine, APP, f'[Kube]\nYaml=app.yaml\nUserNS={mode}\n')
        try:
            as_user(machine, 'systemctl --user start app')
            assert states(machine) == 'active active active active active', states(machine)
            inner, outer, count = map(int, inside(machine, 'head -1 /proc/self/uid_map', 'app-web-helper').split())
            assert (inner, count) == (0, 3000 if 'auto' in mode else 1234) and outer > 0, (inner, outer, count)
            assert inside(machine, 'cat /etc/password', 'app-web-server') == 'hush % $HOME'
            said = inside(machine, 'cat /data/mark; df -k /data | tail -n 1', 'app-web-helper')
            assert re.match(r'prepared by init\ntmpfs +1024 ', said), said
            machine.wait_for(lambda: fetch(machine) == 'from a ConfigMap')
        finally:
            remove(machine)
            machine.wait_for(lambda: machine.run(f'ls -d {RUN}/pod/* {RUN}/network/*', check=False).out == '')


def test_a_view_that_is_made_anew(machine):
    """What is restarted after that begins the pod anew, its memory too: no file of it lands on the disk, without a limit."""
    make_world(machine)
    write(machine, APP)
    try:
        as_user(machine, 'systemctl --user start app')
        inside(machine, 'echo x >/data/more', 'app-web-server', check=False)
        renew_view(machine)
        machine.wait_for(lambda: fetch(machine) == 'from a ConfigMap')
        as_user(machine, 'systemctl --user restart app-web-helper')
        machine.wait_for(lambda: states(machine) == 'active active active active active')
        assert inside(machine, 'ls /data; df -k /data | tail -n 1', 'app-web-helper').split()[:3] == ['mark', 'tmpfs', '1024']
        machine.wait_for(lambda: fetch(machine) == 'from a ConfigMap')
        assert machine.run('find /home/alice/.local/share/containers/storage/volumes/*-data/_data -mindepth 1').out == ''
    finally:
        remove(machine)


def test_pods_of_one_file_find_each_other(machine):
    make_world(machine)
    write(machine, "".join(f"""
---
apiVersion: v1
kind: Pod
metadata: {{name: {name}}}
spec:
  containers:
    - {{name: it, image: localhost/test/busybox, command: [sh, -c, "{command}"], lifecycle: {{stopSignal: SIGKILL}}}}
""" for name, command in (('web', 'mkdir /www; echo found >/www/index.html; exec httpd -f -p 8000 -h /www'), ('client', 'sleep 1000'))))
    try:
        as_user(machine, 'systemctl --user start app')
        machine.wait_for(lambda: fetch_inside(machine, 'web', 8000, 'app-client-it') == 'found')
    finally:
        as_user(machine, 'systemctl --user stop app app-web-pod app-client-pod', check=False)
        remove(machine)


def test_it_ends_as_its_containers_have(machine):
    text = APP[APP.index('apiVersion: v1\nkind: Pod'):APP.index('  initContainers')] + '''
  restartPolicy: Never
  containers:
    - {name: server, image: localhost/test/busybox, command: [sh, -c, "sleep 0.5; exit 3"]}
'''
    write(machine, text, '[Kube]\nYaml=app.yaml\nNetwork=none\nExitCodePropagation=any\n')
    try:
        as_user(machine, 'systemctl --user start app')
        machine.wait_for(lambda: show(machine, 'app', 'ActiveState') == 'failed')
        machine.wait_for(lambda: show(machine, 'app-web-pod', 'ActiveState') == 'inactive')
    finally:
        remove(machine)


VOLUMES = '/home/alice/.local/share/containers/storage/volumes'
FORCED = '''
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: forced}
---
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers:
    - name: server
      image: localhost/test/busybox
      command: [sleep, "1000"]
      lifecycle: {stopSignal: SIGKILL}
      volumeMounts: [{name: forced, mountPath: /forced}]
  volumes:
    - {name: forced, persistentVolumeClaim: {claimName: forced}}
'''


def stop_forced(machine):
    """Whether the volume stays, which is decided when the last one has stopped; and what was said of it."""
    before = len(machine.journal())
    as_user(machine, 'systemctl --user stop app')
    machine.wait_for(lambda: show(machine, 'app-forced-volume', 'ActiveState') in ('inactive', 'failed'))
    assert show(machine, 'app-forced-volume', 'Result') == 'success', machine.journal()
    as_user(machine, 'systemctl --user reset-failed', check=False)
    # Whose line a process wrote that ended at once, the journal may not know.
    return machine.run(f'test -e {VOLUMES}/forced', check=False).status == 0, machine.journal()[before:]


def test_volumes_of_the_yaml_are_removed(machine):
    """But for what another one has: keyturn's, the user's Podman's, whom the view does not see, or a mount."""
    make_world(machine)
    make_podmans(machine)
    write(machine, FORCED, '[Kube]\nYaml=app.yaml\nKubeDownForce=true\nNetwork=none\n')
    try:
        as_user(machine, 'systemctl --user start app')
        inside(machine, 'touch /forced/file; chown 33:33 /forced/file; mkdir /forced/d; chmod 0 /forced/d; ln -s /home/alice /forced/out', 'app-web-server')
        as_user(machine, 'systemctl --user restart app')
        try:
            machine.wait_for(lambda: states(machine).split()[0] == 'active' and inside(machine, 'ls -A /forced', 'app-web-server', check=False) == '')
        except AssertionError:
            raise AssertionError((states(machine), inside(machine, 'ls -A /forced', 'app-web-server', check=False), machine.journal()[-3000:]))
        stays, said = stop_forced(machine)
        assert not stays, said
        assert machine.run('ls /home/alice/.config/containers/storage.conf').out
        # What is done in the view makes no database that her own Podman could not use.
        as_user(machine, 'systemctl --user start app; systemctl --user restart app-forced-volume; podman volume ls')
        # Podman's: of a container that runs, of one that does not, and one that has mounted the directory itself.
        for command, undo, words in (
                (f'podman create --name holder --network none -v forced:/x {IMAGE} true', 'podman rm -f holder; podman volume rm -f forced', 'Podman has it'),
                (f'podman run -d --cgroups disabled --name holder --network none -v {VOLUMES}/forced/_data:/x {IMAGE} sleep 1000', 'podman rm -f -t 0 holder', 'uses it'),
                (f'unshare -Ur -m sh -c "mount --bind {VOLUMES}/forced/_data /mnt; exec sleep 1000" >/dev/null 2>&1 & '
                 'until grep -q " /mnt " /proc/$!/mounts; do sleep 0.1; done', 'pkill -9 -u alice -x sleep', 'uses it')):
            as_user(machine, 'systemctl --user start app')
            inside(machine, 'echo precious >/forced/file', 'app-web-server')
            as_user(machine, command)
            stays, said = stop_forced(machine)
            assert stays and words in said, (command, said)
            assert machine.run(f'cat {VOLUMES}/forced/_data/file').out == 'precious\n', command
            as_user(machine, undo)
        # Where nobody can be asked outside, it stays, and that is said.
        removal = '/usr/lib/keyturn/libstart volume --remove forced'
        machine.run('mv /usr/bin/podman /usr/bin/podman-not; printf "#!/bin/sh\\nexit 77\\n" >/usr/bin/podman; chmod 0755 /usr/bin/podman')
        try:
            as_user(machine, 'mkdir -p ' + VOLUMES + '/forced/_data')
            failed = as_user(machine, removal, check=False)
            assert failed.status and "The volume 'forced' stays: " in failed.err + failed.out, failed
            assert machine.run(f'test -e {VOLUMES}/forced/_data').status == 0
        finally:
            machine.run('mv /usr/bin/podman-not /usr/bin/podman')
        for name in '../forced', '.', '':
            assert as_user(machine, f'/usr/lib/keyturn/libstart volume --remove "{name}"', check=False).status, name
        make_user(machine, 'bob')
        as_user(machine, removal, 'bob', check=False)
        assert machine.run(f'test -e {VOLUMES}/forced/_data').status == 0
        as_user(machine, removal)
        assert machine.run(f'test -e {VOLUMES}/forced', check=False).status
    finally:
        remove(machine)


def test_what_is_wrong_is_said_with_its_line(machine):
    for old, new, words in (('hostname: front', 'securityContex: {}', 'unknown field'), ('hostPort: 8123', 'hostPort: 80', 'ip_unprivileged_port_start'),
                            ('readOnlyRootFilesystem: true', 'privileged: true', 'privileged')):
        write(machine, APP.replace(old, new))
        assert as_user(machine, 'systemctl --user start app', check=False).status, new
        said = as_user(machine, 'systemctl --user show -p Description --value app').out
        assert re.search(rf'app.yaml:\d+: .*{words}', said), said
        assert not {'active', 'activating'} & set(states(machine).split()), states(machine)
    remove(machine)
