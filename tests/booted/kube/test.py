# SPDX-License-Identifier: LGPL-2.1-or-later
"""A .kube file: what its YAML asks for is there, and nothing is left when it stops."""

import subprocess
import textwrap

DIRECTORY = '/etc/containers/systemd'

APP = '''
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data:
  MODE: "5$ & 100%"
  page.html: |
    hello
    from a ConfigMap
---
apiVersion: v1
kind: Secret
metadata: {name: login}
stringData: {password: "hush % $HOME"}
---
apiVersion: v1
kind: Pod
metadata:
  name: web
  labels: {app: web}
spec:
  hostname: front
  initContainers:
    - name: prepare
      image: localhost/test/busybox
      command: [sh, -c, "sleep 1; echo prepared by $(WHO) > /data/mark"]
      env: [{name: WHO, value: init}]
      volumeMounts: [{name: data, mountPath: /data}]
  containers:
    - name: server
      image: localhost/test/busybox
      command: [sh, -c]
      args: ["test -e /data/mark || exit 9; while :; do nc -l -p 8000 -e cat /www/page.html; done"]
      ports: [{containerPort: 8000, hostPort: 8123}]
      lifecycle: {stopSignal: SIGKILL}
      env:
        - {name: GREETING, value: "it's $(MODE)"}
        - name: PASSWORD
          valueFrom: {secretKeyRef: {name: login, key: password}}
        - name: POD
          valueFrom: {fieldRef: {fieldPath: metadata.name}}
      envFrom: [{configMapRef: {name: settings}}]
      securityContext:
        runAsUser: 1000
        runAsGroup: 1000
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities: {drop: [ALL]}
      livenessProbe:
        exec: {command: [test, -e, /data/mark]}
        periodSeconds: 1
        failureThreshold: 1
      volumeMounts:
        - {name: data, mountPath: /data}
        - {name: pages, mountPath: /www}
        - {name: login, mountPath: /etc/password, subPath: password}
        - {name: kept, mountPath: /kept}
    - name: helper
      image: localhost/test/busybox
      command: [sh, -c, "trap exit TERM; sleep 1000 & wait"]
      volumeMounts: [{name: data, mountPath: /data, readOnly: true}]
  volumes:
    - name: data
      emptyDir: {sizeLimit: 1Mi}
    - name: pages
      configMap: {name: settings}
    - name: login
      secret: {secretName: login}
    - name: kept
      persistentVolumeClaim: {claimName: kept}
'''

MEMBERS = ('app-web-pod', 'app-web-prepare', 'app-web-server', 'app-web-helper')


def write(machine, yaml, kube='[Kube]\nYaml=app.yaml\n'):
    machine.write(f'{DIRECTORY}/app.yaml', textwrap.dedent(yaml))
    machine.run(f'chmod 600 {DIRECTORY}/app.yaml')
    machine.write(f'{DIRECTORY}/app.kube', kube)
    machine.run('systemctl daemon-reload')


def remove(machine):
    machine.run(['systemctl', 'stop', 'app', *MEMBERS], check=False)
    machine.run(f'rm -f {DIRECTORY}/app.kube {DIRECTORY}/app.yaml; systemctl daemon-reload; systemctl reset-failed')


def inside(machine, name, command):
    return machine.run(['keyturnctl', 'exec', name, 'sh', '-c', command]).out


def states(machine):
    return ' '.join(machine.show(unit, 'ActiveState') for unit in ('app', *MEMBERS))


def test_a_pod_with_all_that_is_common(machine):
    mounts = machine.footprint()['mounts']
    write(machine, APP)
    machine.run('systemctl start app')
    assert states(machine) == 'active active active active active', states(machine)

    environment = inside(machine, 'app-web-server', 'tr "\\0" "\\n" </proc/1/environ').splitlines()
    for line in ("GREETING=it's 5$ & 100%", 'PASSWORD=hush % $HOME', 'POD=web', 'MODE=5$ & 100%'):
        assert line in environment, (line, environment)
    assert inside(machine, 'app-web-server', 'cat /www/page.html') == 'hello\nfrom a ConfigMap\n'
    assert inside(machine, 'app-web-server', 'cat /etc/password') == 'hush % $HOME'
    assert inside(machine, 'app-web-helper', 'cat /data/mark; hostname') == 'prepared by init\nfront\n'
    status = inside(machine, 'app-web-server', 'cat /proc/1/status')
    for line in ('Uid:\t1000\t1000\t1000\t1000', 'NoNewPrivs:\t1', 'CapBnd:\t0000000000000000'):
        assert line in status, (line, status)
    assert 'ro' in inside(machine, 'app-web-helper', 'grep " /data " /proc/mounts').split()[3].split(',')
    assert int(inside(machine, 'app-web-helper', 'df -k /data | tail -n 1').split()[1]) == 1024
    assert machine.run(['bash', '-c', 'exec 3<>/dev/tcp/127.0.0.1/8123; cat <&3']).out == 'hello\nfrom a ConfigMap\n'

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
    inside(machine, 'app-web-server', 'echo x >/data/more; echo y >/kept/more || true')
    machine.run('systemctl restart app')
    assert states(machine) == 'active active active active active', states(machine)
    assert inside(machine, 'app-web-server', 'ls /data') == 'mark\n'
    remove(machine)


def test_a_failed_probe_starts_the_container_again(machine):
    write(machine, APP)
    machine.run('systemctl start app')
    inside(machine, 'app-web-server', 'rm /data/mark')
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
    assert 'spec.securityContex: unknown field' in machine.run('journalctl -u app').out
    assert 'app.yaml:' in machine.show('app', 'Description')
    assert machine.show('app-web-server', 'LoadState') == 'not-found'
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
    assert inside(machine, 'app-web-server', 'cat /www/page.html') == 'hello\nfrom another\n'

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
    assert inside(machine, 'app-web-server', 'cat /etc/password') == 'hush % $HOME'
    assert "app.yaml' cannot be opened" in machine.show('app', 'Description')
    machine.run("systemctl stop app 'app-*'")
    machine.wait_for(lambda: machine.show('app-web-server', 'ActiveState') in ('inactive', 'failed'))

    pod = '/run/keyturn/kube/app-web-pod'
    machine.run(f'mkdir -p {pod}/volumes/login/old && chmod 700 {pod} && echo old >{pod}/volumes/login/old/key && '
                f'rm -rf {pod}/env && ln -s /etc {pod}/env')
    machine.run(f'mv /run/app.yaml {DIRECTORY}/app.yaml; systemctl daemon-reload; systemctl reset-failed')
    machine.run('systemctl start app')
    assert machine.run(f'ls {pod}/volumes/login').out == 'password\n'
    assert machine.run(f'test -L {pod}/env', check=False).status == 1
    machine.run('test -e /etc/passwd && ! test -e /etc/server')
    remove(machine)


# What becomes of the files that Podman tests its generator with, by what is in them beside Yaml=: None is "as there",
# else it is what is said.
DECISIONS = {
    'basic': ('', None),
    'auto-update': ('AutoUpdate=registry', None),
    'auto-update-one': ('AutoUpdate=foobar/local', 'name the container in the YAML'),
    'config-map': ('ConfigMap=maps.yaml\nConfigMap=/etc/containers/systemd/more.yaml', None),
    'config-map-twice': ('ConfigMap=maps.yaml maps.yaml', 'there is another one of the name'),
    'module': ('ContainersConfModule=/etc/container/1.conf', 'write the settings as fields of the YAML'),
    'down-force': ('KubeDownForce=true', 'volumes are never removed'),
    'exit-code': ('ExitCodePropagation=all', 'each container is a service of its own'),
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
    'remap-auto': ('RemapUsers=auto', 'use UserNS='),
    'remap-manual': ('RemapUsers=manual\nRemapUid=0:10000:10', 'use UserNS='),
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


def test_as_under_podman(machine):
    """What a container of `podman kube play` sees is what keyturn's sees. Debian 12's Podman does less with YAML."""
    version = machine.run('podman --version').out.split()[2]
    if version.startswith('4.'):
        return
    yaml = PLAYED.replace('  hostname: front', '  hostNetwork: true')
    write(machine, yaml.replace('      ports: [{containerPort: 8000, hostPort: 8123}]\n', ''))
    # What Podman makes a pod's first container of, which is not there.
    subprocess.run(['gcc', '-static', '-x', 'c', '-', '-o', machine.path('/usr/libexec/podman/catatonit')], check=True,
                   text=True, input='#include <signal.h>\n#include <unistd.h>\nint main(void) { signal(SIGTERM, _exit); for (;;) pause(); }\n')
    machine.run('systemctl start app')
    ours = [inside(machine, 'app-web-server', fact) for fact in FACTS]
    machine.run('systemctl stop app')
    machine.run(f'podman kube play {DIRECTORY}/app.yaml', timeout=120)
    try:
        theirs = [machine.run(['podman', 'exec', 'web-server', 'sh', '-c', fact]).out for fact in FACTS]
    finally:
        machine.run(f'podman kube down --force {DIRECTORY}/app.yaml; podman network rm podman-default-kube-network; '
                    'rm /usr/libexec/podman/catatonit',
                    check=False, timeout=120)
    remove(machine)
    for podmans, keyturns in DIFFERENT:
        assert any(podmans in text for text in theirs), f'{podmans}: no longer so under Podman'
        theirs = [text.replace(podmans, keyturns) for text in theirs]
    assert ours == theirs, '\n'.join(f'{fact}\n-{b}\n+{a}' for fact, a, b in zip(FACTS, ours, theirs) if a != b)
