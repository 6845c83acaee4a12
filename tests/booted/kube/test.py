# SPDX-License-Identifier: LGPL-2.1-or-later
"""A .kube file: what its YAML asks for is there, and nothing is left when it stops."""

import subprocess
import textwrap

from kube_app import APP, MEMBERS

DIRECTORY = '/etc/containers/systemd'


def write(machine, yaml, kube='[Kube]\nYaml=app.yaml\n'):
    machine._units += [f'{unit}.service' for unit in ('app', *MEMBERS)]  # tidy() stops what a test that fails leaves
    machine.write(f'{DIRECTORY}/app.yaml', textwrap.dedent(yaml))
    machine.run(f'chmod 600 {DIRECTORY}/app.yaml')
    machine.write(f'{DIRECTORY}/app.kube', kube)
    machine.run('systemctl daemon-reload')


def remove(machine):
    machine.run(['systemctl', 'stop', 'app', *MEMBERS], check=False)
    machine.run(f'rm -f {DIRECTORY}/app.kube {DIRECTORY}/app.yaml; systemctl daemon-reload; systemctl reset-failed')


def states(machine):
    return ' '.join(machine.show(unit, 'ActiveState') for unit in ('app', *MEMBERS))


def test_a_pod_with_all_that_is_common(machine):
    mounts = machine.footprint()['mounts']
    write(machine, APP)
    machine.run('systemctl start app')
    assert states(machine) == 'active active active active active', states(machine)

    environment = machine.inside('app-web-server', 'tr "\\0" "\\n" </proc/1/environ').splitlines()
    for line in ("GREETING=it's 5$ & 100%", 'PASSWORD=hush % $HOME', 'POD=web', 'MODE=5$ & 100%'):
        assert line in environment, (line, environment)
    assert machine.inside('app-web-server', 'cat /www/page.html') == 'hello\nfrom a ConfigMap\n'
    assert machine.inside('app-web-server', 'cat /etc/password') == 'hush % $HOME'
    assert machine.inside('app-web-helper', 'cat /data/mark; hostname') == 'prepared by init\nfront\n'
    status = machine.inside('app-web-server', 'cat /proc/1/status')
    for line in ('Uid:\t1000\t1000\t1000\t1000', 'NoNewPrivs:\t1', 'CapBnd:\t0000000000000000'):
        assert line in status, (line, status)
    assert 'ro' in machine.inside('app-web-helper', 'grep " /data " /proc/mounts').split()[3].split(',')
    assert int(machine.inside('app-web-helper', 'df -k /data | tail -n 1').split()[1]) == 1024
    get = 'exec 3<>/dev/tcp/127.0.0.1/8123; cat <&3'
    machine.wait_for(lambda: machine.run(['bash', '-c', get]).out == 'hello\nfrom a ConfigMap\n')

    # Who is not root sees no secret: not in a file, nor in what systemd tells.
    for command in ('cat /run/keyturn/kube/app-web-pod/env/server', 'cat /run/systemd/generator/app-web-server.service',
                    'cat /run/keyturn/kube/app-web-pod/volumes/login/password'):
        assert not machine.run(['setpriv', '--reuid=65534', '--clear-groups', 'sh', '-c', command], check=False).out
    assert 'hush' not in machine.run('systemctl show app-web-server app-web-pod').out

    machine.run('systemctl stop app')
    machine.wait_for(lambda: set(states(machine).split()) <= {'inactive', 'failed'})  # those that a signal has ended
    machine.wait_for(lambda: machine.footprint()['mounts'] == mounts)
    machine.run('! test -e /run/keyturn/kube/app-web-pod')
    remove(machine)


def test_what_is_empty_is_empty_again(machine):
    write(machine, APP)
    machine.run('systemctl start app')
    machine.inside('app-web-server', 'echo x >/data/more; echo y >/kept/more || true')
    machine.run('systemctl restart app')
    assert states(machine) == 'active active active active active', states(machine)
    assert machine.inside('app-web-server', 'ls /data') == 'mark\n'
    remove(machine)


def test_a_failed_probe_starts_the_container_again(machine):
    write(machine, APP)
    machine.run('systemctl start app')
    machine.inside('app-web-server', 'rm /data/mark')
    machine.wait_for(lambda: machine.show('app-web-server', 'NRestarts') not in ('', '0'))
    assert machine.show('app-web-helper', 'ActiveState') == 'active'
    remove(machine)


def test_an_init_container_that_fails_keeps_the_others_from_starting(machine):
    write(machine, APP.replace('sleep 1; echo', 'exit 3; echo').replace('spec:\n  hostname', 'spec:\n  restartPolicy: '
                                                                       'Never\n  hostname'))
    machine.run('systemctl start app')
    assert machine.show('app-web-prepare', 'ExecMainStatus') == '3'
    assert machine.show('app-web-server', 'ActiveState') == 'inactive'
    assert machine.show('app-web-helper', 'ActiveState') == 'inactive'
    remove(machine)


def test_what_is_wrong_in_the_yaml_is_said_by_the_service(machine):
    write(machine, APP.replace('hostname: front', 'hostname: front\n  securityContex: {}'),
          '[Kube]\nYaml=app.yaml\n[Install]\nWantedBy=multi-user.target\n')
    machine.run('! systemctl start app')
    assert 'spec.securityContex: unknown field' in machine.journal('app')
    assert 'app.yaml:' in machine.show('app', 'Description')
    assert machine.show('app-web-server', 'LoadState') == 'not-found'
    remove(machine)


def test_of_an_application_all_is_started_or_nothing(machine):
    """What is refused may guard the rest. What runs goes on, and is stopped with the application."""
    write(machine, APP)
    machine.run('systemctl start app')
    refused = APP.replace("    - name: helper\n", "    - name: helper\n      workingDir: relative\n")
    assert refused != APP
    write(machine, refused)
    assert machine.run('systemctl restart app', check=False).status != 0
    assert machine.show('app', 'ActiveState') == 'failed'
    # Nor is what restarts with it.
    machine.wait_for(lambda: 'active' not in states(machine).split())
    assert 'another part of it is refused' in machine.show('app-web-server', 'Description'), machine.show('app-web-server', 'Description')
    assert machine.run('systemctl start app-web-server', check=False).status
    assert 'app.yaml:' in machine.journal('app-web-server')
    for said in 'a part of it is refused, so nothing of it is started', 'app.yaml:':
        assert said in machine.show('app', 'Description'), machine.show('app', 'Description')
        assert said in machine.journal('app')
    write(machine, APP)
    machine.run('systemctl start app')
    process = machine.show('app-web-server', 'MainPID')
    write(machine, refused)
    assert machine.show('app-web-server', 'MainPID') == process != '0'
    machine.run('systemctl stop app')
    machine.wait_for(lambda: 'active' not in states(machine).split())

    # What the YAML has not any more belongs to it as long as it runs; what only has such a name does not.
    machine.container('app-else', '[Container]\nImage=localhost/test/busybox\nExec=sleep 1000\nStopSignal=SIGKILL\n')
    write(machine, APP)
    machine.run('systemctl reset-failed; systemctl start app app-else')
    machine.run(f'rm {DIRECTORY}/app-else.container')
    start, end = APP.index('    - name: helper'), APP.index('  volumes:\n    - name: data')
    write(machine, APP[:start] + APP[end:])
    assert machine.show('app-web-helper', 'ActiveState') == machine.show('app-else', 'ActiveState') == 'active'
    machine.run('systemctl stop app')
    machine.wait_for(lambda: machine.show('app-web-helper', 'MainPID') == '0')
    assert machine.show('app-else', 'ActiveState') == 'active'
    machine.run('systemctl stop app-else')
    remove(machine)


def test_a_secret_is_nowhere_but_where_root_looks(machine):
    write(machine, APP)
    machine.run('systemctl start app')
    assert machine.run('grep -rls hush /run/keyturn/kube').out.count('\n') == 2  # a variable and a file: the test looks right
    nobody = machine.run(['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', 'sh', '-c',
                          'grep -rlsI --exclude-dir=incoming hush /run /proc/[0-9]*/environ /proc/[0-9]*/cmdline'],
                         check=False, timeout=120)
    assert not nobody.out, nobody.out
    for place in ('/run/systemd/generator /run/systemd/generator.early /run/systemd/generator.late', '/run/systemd/units'):
        assert not machine.run(f'grep -rls hush {place}', check=False).out
    assert 'hush' not in machine.journal()
    remove(machine)


def test_a_payload_cannot_change_what_it_was_given(machine):
    """Root in the container, with the capabilities that containers have: ConfigMaps and Secrets stay as they are."""
    start, end = APP.index('        runAsUser'), APP.index('      livenessProbe')
    write(machine, APP[:start] + '        procMount: Default\n' + APP[end:])
    machine.run('systemctl start app')
    look = 'cd /run/keyturn/kube && find . -printf "%p %m %U %s %l|" && cat app-web-pod/volumes/*/*'
    before = machine.run(look).out
    assert 'hush' in before
    for command in ('echo evil >/www/page.html', 'rm /www/page.html', 'ln -sf /etc/shadow /www/page.html', 'touch /www/more',
                    'chmod 777 /www', 'chown 1:1 /www/page.html', 'mount -o remount,rw,bind /www', 'umount /www',
                    'echo evil >/etc/password', 'rm /etc/password', 'ls /run/keyturn'):
        tried = machine.run(['keyturnctl', 'exec', 'app-web-server', 'sh', '-c', command], check=False)
        assert tried.status != 0, command
    assert machine.run(look).out == before
    remove(machine)


def test_a_link_in_a_volume_leads_nowhere(machine):
    """What an init container leaves at a subPath of another one's is not followed out of the volume."""
    machine.write('/etc/of-the-host', 'secret of the host')
    for link in ('/etc', '../../../../../../../../etc'):
        write(machine, APP.replace('> /data/mark', f'> /data/mark; ln -s {link} /data/sub')
              .replace('- {name: pages,', '- {name: data, mountPath: /inner, subPath: sub}\n        - {name: pages,'))
        machine.run('systemctl start app', check=False)
        assert machine.show('app-web-prepare', 'ActiveState') == 'active'
        assert machine.show('app-web-helper', 'ActiveState') == 'active'
        found = machine.run(['keyturnctl', 'exec', 'app-web-server', 'cat', '/inner/of-the-host'], check=False)
        assert 'secret' not in found.out, found.out
        remove(machine)


def test_the_yaml_changes_before_a_reload(machine):
    """The pod's start reads it anew. What is not in it any more is missing, and no container starts without it."""
    write(machine, APP)
    machine.write(f'{DIRECTORY}/app.yaml', textwrap.dedent(APP.replace('from a ConfigMap', 'from another')))
    machine.run('systemctl start app')
    assert machine.inside('app-web-server', 'cat /www/page.html') == 'hello\nfrom another\n'

    without = APP.replace('valueFrom: {secretKeyRef: {name: login, key: password}}', 'value: none')
    assert without != APP
    machine.write(f'{DIRECTORY}/app.yaml', textwrap.dedent(without))
    machine.run('systemctl restart app', check=False)
    assert machine.show('app-web-server', 'ActiveState') != 'active'
    assert machine.show('app-web-helper', 'ActiveState') == 'active'

    machine.write(f'{DIRECTORY}/app.yaml', 'kind: Pod')
    machine.run('systemctl restart app', check=False)
    assert machine.show('app-web-pod', 'ActiveState') == 'failed'
    assert 'needs a name' in machine.journal('app-web-pod')
    remove(machine)


def test_the_yaml_goes_while_the_pod_runs(machine):
    """What runs goes on, neighbours start, and nothing of before is in the directory of Secrets afterwards."""
    machine.container('neighbour', '''
        [Container]
        Image=localhost/test/busybox
        Exec=sleep 1000
        StopSignal=SIGKILL
    ''')
    write(machine, APP)
    machine.run('systemctl start app')
    process = machine.show('app-web-server', 'MainPID')
    machine.run(f'mv {DIRECTORY}/app.yaml /run/app.yaml; systemctl daemon-reload')
    machine.run('systemctl start neighbour')
    assert machine.show('app-web-server', 'MainPID') == process
    assert machine.inside('app-web-server', 'cat /etc/password') == 'hush % $HOME'
    assert "app.yaml' cannot be opened" in machine.show('app', 'Description')
    machine.run('systemctl stop app')
    machine.wait_for(lambda: set(states(machine).split()) <= {'inactive', 'failed'})

    pod = '/run/keyturn/kube/app-web-pod'
    machine.run(f'mkdir -p {pod}/volumes/login/old && chmod 700 {pod} && echo old >{pod}/volumes/login/old/key && '
                f'rm -rf {pod}/env && ln -s /etc {pod}/env')
    machine.run(f'mv /run/app.yaml {DIRECTORY}/app.yaml; systemctl daemon-reload; systemctl reset-failed')
    machine.run('systemctl start app')
    assert machine.run(f'ls {pod}/volumes/login').out == 'password\n'
    assert machine.run(f'test -L {pod}/env', check=False).status == 1
    machine.run('test -e /etc/passwd && ! test -e /etc/server')
    remove(machine)


def test_the_files_are_deleted_before_the_stop(machine):
    """As most people do it. No secret stays readable, nor anything in memory."""
    mounts = machine.footprint()['mounts']
    write(machine, APP)
    machine.run('systemctl start app')
    machine.run(f'rm {DIRECTORY}/app.kube {DIRECTORY}/app.yaml; systemctl daemon-reload')
    assert states(machine) == 'active active active active active', states(machine)
    assert machine.inside('app-web-server', 'cat /etc/password') == 'hush % $HOME'
    assert machine.show('keyturn-network@app-web-pod', 'ActiveState') == 'active'
    machine.run(['systemctl', 'stop', 'app', *MEMBERS])
    machine.run('! test -e /run/keyturn/kube/app-web-pod; ! test -e /run/keyturn/pod/app-web-pod')
    machine.wait_for(lambda: machine.footprint()['mounts'] == mounts)
    machine.run('! grep -rqs hush /run/keyturn; systemctl reset-failed')


def ending(*codes, more=''):
    """A pod whose containers end with these codes, the first one last."""
    names = ('server', 'helper')
    return 'kind: Pod\nmetadata: {name: web}\nspec:\n  restartPolicy: Never\n  containers:\n' + ''.join(
        f'    - {{name: {name}, image: localhost/test/busybox, command: [sh, -c, "sleep {1 - i}; exit {code}"]}}\n'
        for i, (name, code) in enumerate(zip(names, codes))) + more


def end_of_app(machine):
    machine.wait_for(lambda: machine.show('app', 'ActiveState') in ('inactive', 'failed'))
    return machine.show('app', 'ActiveState')


def test_the_service_ends_as_its_containers_have(machine):
    for policy, codes, expected in (('any', (0, 0), 'inactive'), ('any', (0, 3), 'failed'), ('any', (3,), 'failed'),
                                    ('all', (3, 0), 'inactive'), ('all', (3, 4), 'failed'), ('none', (3, 4), 'inactive')):
        write(machine, ending(*codes), f'[Kube]\nYaml=app.yaml\nExitCodePropagation={policy}\n')
        machine.run('systemctl start app')
        assert end_of_app(machine) == expected, (policy, codes)
        assert machine.show('app', 'Result') == ('exit-code' if expected == 'failed' else 'success')
        machine.wait_for(lambda: machine.show('app-web-pod', 'ActiveState') == 'inactive')
        remove(machine)
    said = machine.journal('app')
    assert 'failed have: app-web-helper.service app-web-server.service' in said, said

    # As long as one of another pod runs nothing has ended.
    other = '---\nkind: Pod\nmetadata: {name: other}\nspec:\n  restartPolicy: Never\n  containers:\n' \
            '    - {name: one, image: localhost/test/busybox, command: [sleep, "1000"], lifecycle: {stopSignal: SIGKILL}}\n'
    write(machine, ending(3, more=other), '[Kube]\nYaml=app.yaml\nExitCodePropagation=any\n')
    machine.run('systemctl start app')
    machine.wait_for(lambda: machine.show('app-web-server', 'ActiveState') == 'failed')
    machine.wait_for(lambda: machine.show('app-web-pod', 'ActiveState') == 'inactive')
    assert machine.show('app', 'ActiveState') == 'active'
    machine.run('systemctl kill -s KILL app-other-one')
    assert end_of_app(machine) == 'failed'
    remove(machine)


def test_an_init_container_that_fails_fails_the_service(machine):
    yaml = APP.replace('sleep 1; echo', 'exit 3; echo').replace('  hostname', '  restartPolicy: Never\n  hostname')
    for policy in 'any', 'all':
        write(machine, yaml, f'[Kube]\nYaml=app.yaml\nExitCodePropagation={policy}\n')
        machine.run('systemctl start app')
        assert end_of_app(machine) == 'failed', policy
        assert machine.show('app-web-server', 'ActiveState') == 'inactive'
        remove(machine)


def test_what_is_started_again_or_stopped_has_not_failed(machine):
    always = ending(3).replace('Never', 'Always')
    write(machine, always, '[Kube]\nYaml=app.yaml\nExitCodePropagation=any\n')
    machine.run('systemctl start app')
    machine.wait_for(lambda: int(machine.show('app-web-server', 'NRestarts') or 0) >= 2)
    assert machine.show('app', 'ActiveState') == 'active'
    machine.run('systemctl stop app')
    assert machine.show('app', 'ActiveState') == 'inactive'
    remove(machine)

    # An init container that has ended is no obstacle; a restart and a stop by hand are no end.
    write(machine, APP, '[Kube]\nYaml=app.yaml\nExitCodePropagation=any\n')
    machine.run('systemctl start app')
    machine.run('systemctl restart app')
    machine.run('systemctl restart app-web-server')
    assert states(machine) == 'active active active active active', states(machine)
    machine.run('systemctl stop app')
    assert machine.show('app', 'ActiveState') == 'inactive'
    machine.wait_for(lambda: machine.show('app-web-server', 'MainPID') == '0')
    assert machine.show('app', 'ActiveState') == 'inactive'
    remove(machine)


VOLUMES = '/var/lib/containers/storage/volumes'
FORCED = '''
kind: PersistentVolumeClaim
metadata: {name: forced}
---
kind: Pod
metadata: {name: web}
spec:
  containers:
    - name: server
      image: localhost/test/busybox
      command: [sleep, "1000"]
      lifecycle: {stopSignal: SIGKILL}
      volumeMounts: [{name: forced, mountPath: /forced}, {name: named, mountPath: /named}, {name: memory, mountPath: /memory}]
  volumes:
    - {name: forced, persistentVolumeClaim: {claimName: forced}}
    - {name: named, persistentVolumeClaim: {claimName: named}}
    - {name: memory, emptyDir: {}}
'''
FORCE = '[Kube]\nYaml=app.yaml\nKubeDownForce=true\n'


def stop_forced(machine):
    """Whether the volume stays, which is decided when the last one has stopped."""
    machine.run('systemctl stop app')
    for volume in 'forced', 'named':
        machine.wait_for(lambda name=volume: machine.show(f'app-{name}-volume', 'ActiveState') in ('inactive', 'failed'))
    assert machine.show('app-forced-volume', 'Result') == 'success', machine.journal('app-forced-volume')
    machine.run('systemctl reset-failed')
    return machine.run(f'test -e {VOLUMES}/forced', check=False).status == 0


def test_volumes_of_the_yaml_are_removed(machine):
    write(machine, FORCED, FORCE)
    machine.run('systemctl start app')
    machine.inside('app-web-server', 'touch /forced/file /named/file')
    machine.run('systemctl restart app')
    assert machine.inside('app-web-server', 'ls /forced /named') == '/forced:\n\n/named:\n'
    assert not stop_forced(machine)
    assert machine.run(f'test -e {VOLUMES}/named', check=False).status == 1  # it is no object of the YAML

    # Without the key all stay.
    write(machine, FORCED)
    machine.run('systemctl start app')
    machine.run('systemctl stop app; systemctl stop app-forced-volume')
    assert machine.run(f'test -e {VOLUMES}/forced/_data').status == 0
    machine.run(f'rm -r {VOLUMES}/forced {VOLUMES}/named')
    remove(machine)


def test_what_a_payload_leaves_in_a_volume_leads_nowhere(machine):
    """Links, more directories in each other than anybody goes down, names that are ours, and a FIFO."""
    machine.run('mkdir -p /run/victim/kept && touch /run/victim/kept/file')
    write(machine, FORCED, FORCE)
    machine.run('systemctl start app')
    machine.inside('app-web-server', 'cd /forced; ln -s /run/victim out; ln -s ../../../../../../../../run/victim up; '
           'ln -s . loop; mkfifo fifo; touch .keyturn-deep-0; mkdir .keyturn-deep-1; ln -s /run/victim .keyturn-deep-2; '
           'i=0; while [ $i -lt 1000 ]; do mkdir d && cd d && ln -s /run/victim out; i=$((i+1)); done')
    assert machine.run(f'find {VOLUMES}/forced -type d | wc -l').out.strip() == '1003'
    assert not stop_forced(machine)
    assert machine.run(f'ls -A {VOLUMES} | grep -F .removing-', check=False).status == 1
    assert machine.run('ls /run/victim/kept').out == 'file\n'

    # Somebody was stopped half-way. What lies in the volume's place, or its files', is not followed either.
    remove(machine)
    removal = '/usr/lib/keyturn/libstart volume --remove forced'
    machine.run(f'mkdir -p {VOLUMES}/.removing-forced/_data/more && ln -s /run/victim {VOLUMES}/.removing-forced/_data/out')
    machine.run(removal)
    assert machine.run(f'test -e {VOLUMES}/.removing-forced', check=False).status == 1
    machine.run(f'ln -s /run/victim {VOLUMES}/forced; ! {removal}; rm {VOLUMES}/forced')
    machine.run(f'mkdir {VOLUMES}/forced; ln -s /run/victim {VOLUMES}/forced/_data; {removal}')
    assert machine.run(f'test -e {VOLUMES}/forced', check=False).status == 1
    for name in '../victim', '/run/victim', '.', '..', '':
        assert machine.run(['/usr/lib/keyturn/libstart', 'volume', '--remove', name], check=False).status != 0, name
    assert machine.run('ls /run/victim/kept').out == 'file\n'
    machine.run('rm -r /run/victim')


def test_a_volume_that_others_have_stays(machine):
    write(machine, FORCED, FORCE)
    # Whose file names it, be it in an overlay, in which nobody would see it; and who goes on without a file.
    for keys in ('Mount=type=volume,source=forced,destination=/mine', 'Volume=forced:/mine:O', 'Volume=forced:/mine'):
        machine.container('beside', f'''
            [Container]
            Image=localhost/test/busybox
            Exec=sleep 1000
            StopSignal=SIGKILL
            {keys}
        ''')
        machine.run('systemctl start app beside')
        machine.inside('app-web-server', 'echo precious >/forced/file')
        if keys.startswith('Mount') or keys.endswith(':O'):
            assert 'ExecStop' not in machine.run('systemctl cat app-forced-volume').out
            machine.run('systemctl stop app app-forced-volume')
        else:
            machine.run(f'rm {DIRECTORY}/beside.container; systemctl daemon-reload')
            assert stop_forced(machine)
        assert machine.read(f'{VOLUMES}/forced/_data/file') == 'precious\n'
        machine.run('systemctl stop beside')
    assert 'uses it' in machine.journal('app-forced-volume')
    machine.run('systemctl reset-failed')

    # What is mounted in it, there for all, or seen by one process only.
    machine.run(f'systemctl start app; mkdir -p {VOLUMES}/forced/_data/sub; mount -t tmpfs none {VOLUMES}/forced/_data/sub; '
                f'touch {VOLUMES}/forced/_data/sub/file')
    assert stop_forced(machine)
    assert machine.run(f'ls {VOLUMES}/forced/_data/sub').out == 'file\n'
    assert 'something is mounted in it' in machine.journal('app-forced-volume')
    machine.run(f'umount {VOLUMES}/forced/_data/sub')
    machine.run('systemctl start app; systemd-run --unit=holder -p Type=exec '
                f'-p BindPaths={VOLUMES}/forced/_data/sub:/mnt sleep 1000')
    assert stop_forced(machine)
    machine.run('systemctl stop holder; systemctl start app')

    # Podman's, running or not; and another file's.
    machine.run('podman create --name holder -v forced:/x localhost/test/busybox true', timeout=120)
    try:
        assert stop_forced(machine)
        assert "a container of Podman's uses it" in machine.journal('app-forced-volume')
    finally:
        machine.run('podman rm holder', timeout=120)
    machine.write(f'{DIRECTORY}/mine.volume', '[Volume]\nVolumeName=forced\n')
    machine.run('systemctl daemon-reload; systemctl start app')
    assert 'ExecStop' not in machine.run('systemctl cat app-forced-volume').out
    machine.run('systemctl stop app app-forced-volume')
    assert machine.run(f'cat {VOLUMES}/forced/_data/file').out == 'precious\n'
    machine.run(f'rm {DIRECTORY}/mine.volume; systemctl daemon-reload; systemctl start app')
    assert not stop_forced(machine)
    remove(machine)


def test_one_container_is_updated(machine):
    write(machine, APP, '[Kube]\nYaml=app.yaml\nAutoUpdate=server/local\n')
    label = 'io.containers.autoupdate=local'
    assert label in machine.run('systemctl cat app-web-server').out
    assert label not in machine.run('systemctl cat app-web-helper app-web-prepare').out
    remove(machine)


# What becomes of the files that Podman tests its generator with, by what is in them beside Yaml=: None is "as there",
# else it is what is said.
DECISIONS = {
    'basic': ('', None),
    'auto-update': ('AutoUpdate=registry', None),
    'auto-update-one': ('AutoUpdate=one/local', None),
    'auto-update-none': ('AutoUpdate=registry foobar/local', "x.kube:3: 'AutoUpdate=': 'foobar/local': no container"),
    'config-map': ('ConfigMap=maps.yaml\nConfigMap=/etc/containers/systemd/more.yaml', None),
    'config-map-twice': ('ConfigMap=maps.yaml maps.yaml', 'there is another one of the name'),
    'module': ('ContainersConfModule=/etc/container/1.conf', "1.conf:3: 'env' of [containers]: not read from a module"),
    'module-of-pods': ('ContainersConfModule=/etc/container/2.conf', None),
    'down-force': ('KubeDownForce=true', None),
    'exit-code': ('ExitCodePropagation=all', None),
    'exit-code-of-none': ('ExitCodePropagation=most', 'is none of all, any and none'),
    'global-args': ('GlobalArgs=--log-level=debug', 'there is no podman command'),
    'log-driver': ('LogDriver=journald', None),
    'log-opt': ('LogOpt=path=/var/log/some-logs.json', 'path= is of LogDriver=k8s-file'),
    'login': ('AuthFile=authfile.login', 'unknown key'),
    'working-directory': ('SetWorkingDirectory=yaml', None),
    'working-directory-unit': ('SetWorkingDirectory=unit\n[Service]\nWorkingDirectory=/etc/containers/systemd', None),
    'network': ('Network=basic', None),
    'network-file': ('Network=basic.network', None),
    'oneshot': ('[Service]\nType=oneshot', None),
    'podman-args': ('PodmanArgs=--also', 'there is no podman command'),
    'ports': ('PublishPort=127.0.0.1:80:90\nPublishPort=0.0.0.0::94\nPublishPort=97\nPublishPort=1234/udp', None),
    'ports-of-no-address': ('PublishPort=:80:92', 'is no address of this machine'),
    'ports-ipv6': ('PublishPort=[::1]:80:90\nPublishPort=[::]::94\nPublishPort=[2001:db8:c0:ff:ee::1]:1234:1234/udp', None),
    'remap-auto': ('RemapUsers=auto\nRemapUid=0:10000:10', None),
    'remap-manual': ('RemapUsers=manual\nRemapUid=0:10000:10', 'a .kube file takes auto'),
    'root': ('Root=/var/foobar/storage', 'unknown key'),
    'dynamic-user': ('[Service]\nDynamicUser=foobar', 'does not reach the containers'),
    'service-name': ('ServiceName=other', None),
    'syslog-identifier': ('[Service]\nSyslogIdentifier=mytest', None),
    'dependent': ('[Unit]\nAfter=basic.network\nRequires=basic.network', None),
    # And what would look like a protection.
    'memory': ('[Service]\nMemoryMax=64M', 'does not reach the containers'),
}


def test_files_of_podmans_own_tests(machine):
    root = '/run/decisions'
    directory = f'{root}{DIRECTORY}'
    machine.write(f'{directory}/basic.network', '[Network]\n')
    for name in ('maps', 'more'):
        machine.write(f'{directory}/{name}.yaml', f'kind: ConfigMap\nmetadata: {{name: {name}}}\ndata: {{a: b}}\n')
    for number, settings in ((1, 'umask = "0077"\nenv = ["a=b"]\n'), (2, 'umask = "0077"\ndns_servers = ["192.0.2.1"]\n')):
        machine.write(f'{root}/etc/container/{number}.conf', f'[containers]\n{settings}')
    machine.write(f'{directory}/deployment.yaml', 'kind: Pod\nmetadata: {name: web}\n'
                  'spec: {containers: [{name: one, image: localhost/test/busybox}]}\n')
    machine.run(f'mkdir -p {root}/usr/lib/podman; touch {root}/usr/lib/podman/netavark')
    for name, (lines, expected) in DECISIONS.items():
        machine.write(f'{directory}/x.kube', f'[Kube]\nYaml=deployment.yaml\n{lines}\n')
        machine.run(f'rm -rf {root}/out; mkdir {root}/out')
        done = machine.run(['/usr/lib/systemd/system-generators/keyturn-generator', '--root', root, *[f'{root}/out'] * 3],
                           check=False)
        assert (done.status == 0) == (expected is None), (name, done.err)
        assert expected is None or expected in done.err, (name, done.err)
    machine.run(f'rm -rf {root}')


# What a container is told and what it may, for both. Podman's mounts of its own are in other places.
FACTS = ('tr "\\0" "\\n" </proc/1/environ | sort', 'tr "\\0" " " </proc/1/cmdline', 'hostname', 'readlink /proc/1/cwd',
         "grep -E '^(Uid|Gid|Groups|Cap|NoNewPrivs|Seccomp:)' /proc/1/status", 'cat /proc/1/limits',
         "grep -oE ' (/data|/www|/etc/password) (ro|rw)' /proc/1/mountinfo | sort", 'cat /www/page.html /etc/password',
         'stat -c "%a %u %n" /www/page.html /etc/password /data')
PLAYED = APP[:APP.index('      livenessProbe')] + '''      volumeMounts:
        - {name: data, mountPath: /data}
        - {name: pages, mountPath: /www}
        - {name: login, mountPath: /etc/password, subPath: password}
  volumes:
    - {name: data, emptyDir: {}}
    - name: pages
      configMap: {name: settings}
    - name: login
      secret: {secretName: login}
'''

# What Podman has, what keyturn has; keyturn.kube(5) says so. Kubernetes does as keyturn, but for the name of the machine.
DIFFERENT = (("it's $(MODE)", "it's 5$ & 100%"), ('keyturn-test\n', 'web\n'), ('/etc/password rw', '/etc/password ro'),
             ('/www rw', '/www ro'), ('755 0 /data', '777 0 /data'))


def compare(machine, yaml, facts):
    """What a container sees with keyturn, and with Podman."""
    write(machine, yaml)
    # What Podman makes a pod's first container of, which is not there.
    subprocess.run(['gcc', '-static', '-x', 'c', '-', '-o', machine.path('/usr/libexec/podman/catatonit')], check=True,
                   text=True, input='#include <signal.h>\n#include <unistd.h>\nint main(void) { signal(SIGTERM, _exit); for (;;) pause(); }\n')
    machine.run('systemctl start app')
    ours = [machine.inside('app-web-server', fact) for fact in facts]
    machine.run('systemctl stop app')
    machine.run(f'podman kube play {DIRECTORY}/app.yaml', timeout=120)
    try:
        theirs = [machine.run(['podman', 'exec', 'web-server', 'sh', '-c', fact]).out for fact in facts]
    finally:
        machine.run(f'podman kube down --force {DIRECTORY}/app.yaml; podman network rm podman-default-kube-network; '
                    'rm /usr/libexec/podman/catatonit',
                    check=False, timeout=120)
    remove(machine)
    return ours, theirs


def same(facts, ours, theirs):
    assert ours == theirs, '\n'.join(f'{fact}\n-{b}\n+{a}' for fact, a, b in zip(facts, ours, theirs) if a != b)


def has_little_yaml(machine):
    return machine.run('podman --version').out.split()[2].startswith('4.')


def test_as_under_podman(machine):
    """What a container of `podman kube play` sees is what keyturn's sees. Debian 12's Podman does less with YAML."""
    if has_little_yaml(machine):
        return
    yaml = PLAYED.replace('  hostname: front', '  hostNetwork: true')
    ours, theirs = compare(machine, yaml.replace('      ports: [{containerPort: 8000, hostPort: 8123}]\n', ''), FACTS)
    for podmans, keyturns in DIFFERENT:
        assert any(podmans in text for text in theirs), f'{podmans}: no longer so under Podman'
        theirs = [text.replace(podmans, keyturns) for text in theirs]
    same(FACTS, ours, theirs)


# What files of public repositories have, in other words (tests/quadlet/REAL-FILES.md).
REAL = """
{
  apiVersion: "v1", kind: "Pod",
  metadata: {name: "web", namespace: "elsewhere", labels: {app.example/name: "web"}},
  spec: {
    hostNetwork: true, hostPid: true,
    securityContext: {seccompProfile: {type: RuntimeDefault}},
    dnsPolicy: "Default", restartPolicy: "Never",
    tolerations: [{key: a, operator: Exists, effect: NoSchedule}],
    initContainers: [{image: localhost/test/busybox, command: [sh, -c, 'echo "it is" > /work/page'],
                      volumeMounts: [{name: work, mountPath: /work}]}],
    containers: [{
      name: "server", image: "localhost/test/busybox",
      command: [
        "sh", "-c",
      ],
      args: ["trap exit TERM; while :; do sleep 1; done", "second"],
      env: [{name: PORT, value: "80"},
            {name: EARLY, value: "$(SCHEME)://$(PORT)"}, {name: SCHEME, value: "https"},
            {name: LATE, value: "$(SCHEME)://one:$(PORT)"}, {name: ESCAPED, value: "$$(SCHEME)://$(PORT)"},
            {name: NAME, valueFrom: {fieldRef: {fieldPath: metadata.name}}},
            {name: LABEL, valueFrom: {fieldRef: {fieldPath: "metadata.labels['app.example/name']"}}}],
      readinessProbe: {tcpSocket: {port: 8080}, periodSeconds: 10},
      securityContext: {allowPrivilegeEscalation: false, runAsUser: 1500, runAsGroup: 7, capabilities: {drop: [ALL]}},
      resources: {requests: {cpu: "0.1"}},
      volumeMounts: [{name: work, mountPath: /site, readOnly: true}, {name: log, mountPath: "/var/log:ro,z"}],
    }],
    volumes: [{name: work, emptyDir: {mode: 0755}}, {name: log, hostPath: {path: /var/log}}],
  },
}
"""
REAL_FACTS = ('for i in PORT EARLY SCHEME LATE ESCAPED NAME LABEL; do printenv $i || echo no $i; done', 'id -u; id -g; pwd', 'cat /site/page',
              "grep -E '^(Uid|Gid|Cap|NoNewPrivs|Seccomp:)' /proc/self/status", 'readlink /proc/self/ns/net; readlink /proc/self/ns/pid',
              'ls -d /proc/1 && grep ^Name /proc/1/status', "grep -oE ' (/site|/var/log) (ro|rw)' /proc/self/mountinfo | sort",
              'touch /site/x 2>&1; touch /var/log/x 2>&1; true', 'stat -c "%a %u" /site')


def test_real_yaml_as_under_podman(machine):
    if not has_little_yaml(machine):
        same(REAL_FACTS, *compare(machine, REAL, REAL_FACTS))
