# SPDX-License-Identifier: LGPL-2.1-or-later
"""A .kube file: what its YAML asks for is there, and nothing is left when it stops."""

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
