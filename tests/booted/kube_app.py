# SPDX-License-Identifier: LGPL-2.1-or-later
"""YAML with all that is common, for root's .kube files and for users'."""

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
        timeoutSeconds: 30
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
