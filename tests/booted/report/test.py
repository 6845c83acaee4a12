# SPDX-License-Identifier: LGPL-2.1-or-later
"""keyturnctl report: what a report of a fault needs, and no secret, wherever one may stand."""

import re

SECRET = 'hunter2'


def plant(machine):
    """A container with a secret in each place that there is for one."""
    machine.write('/srv/secrets.env', f'FROM_FILE={SECRET}-file\n')
    machine.write('/etc/credstore/told', f'{SECRET}-credential')
    machine.run(f'podman secret rm planted 2>/dev/null; printf {SECRET}-podman | podman secret create planted -')
    machine.container('planted.container.d/10-more.conf', f'''
        [Container]
        Environment=DROPIN={SECRET}-dropin "QUOTED={SECRET} quoted"
        PodmanArgs=--env MORE={SECRET}-args --label=l={SECRET}-label -e LETTER={SECRET}-letter
    ''', reload=False)
    machine.unit('planted.service.d/20-own.conf', f'''
        # {SECRET}-comment
        [Service]
        Environment=OWN={SECRET}-own
        SetCredential=one:{SECRET}-set
        X-Note={SECRET}-note
    ''', reload=False)
    machine.container('planted', f'''
        # {SECRET}-comment
        [Unit]
        Description={SECRET}-description
        [Container]
        Image=localhost/test/busybox
        Network=none
        Environment=PASSWORD={SECRET}-one \\
            # {SECRET}-comment between
            OTHER={SECRET}-two
        EnvironmentFile=/srv/secrets.env
        Secret=planted,type=env,target=T
        Label=org.example.password={SECRET}-label
        Annotation=org.example.password={SECRET}-annotation
        HealthCmd=test x != {SECRET}-health
        Exec=sh -c "echo {SECRET}-said; sleep 1000" --env {SECRET}-word
        [Service]
        KillSignal=SIGKILL
    ''')
    machine.container('refused', f'''
        [Container]
        Image=localhost/test/busybox
        Enviroment=PASSWORD={SECRET}-misspelled
        PodmanArgs=--{SECRET}-option
    ''')


def test_no_secret_is_in_it(machine):
    plant(machine)
    machine.run('systemctl start planted; systemctl start refused', check=False)
    machine.wait_for(lambda: f'{SECRET}-said' in machine.journal('planted'))
    # Otherwise nothing would be tested.
    assert SECRET in machine.run('systemctl cat planted').out
    for name in 'planted', 'refused', '':
        said = machine.run(f'keyturnctl report {name} 2>&1').out
        assert SECRET not in said, re.findall(f'.*{SECRET}.*', said)
        for part in 'keyturn: 0', 'with libcrun-', 'systemd: systemd 2', 'kernel: Linux', 'podman: podman version', \
                'netavark: netavark', 'keyturn-seccomp.service:\n', '/usr/share/containers/seccomp.json\n', \
                '/etc/containers/systemd/refused.container:4: …', '/sys/fs/cgroup/cgroup.controllers: ':
            assert part in said, (part, said)
    said = machine.run('keyturnctl report planted').out
    for part in 'ActiveState=active', '\n# /etc/containers/systemd/planted.container\n[Unit]\nDescription=…\n', 'Image=localhost/test/busybox\n', \
            '10-more.conf\n[Container]\nEnvironment=…\nPodmanArgs=… --env … --label …\n', '20-own.conf\n[Service]\n', \
            'EnvironmentFile=/srv/secrets.env\n', 'Exec=… --env …\n', '\n# /run/systemd/generator/planted.service\n':
        assert part in said, (part, said)


def test_logs_are_there_if_they_are_asked_for(machine):
    plant(machine)
    machine.run('systemctl start planted')
    machine.wait_for(lambda: f'{SECRET}-said' in machine.journal('planted'))
    said = machine.run('keyturnctl report --logs planted').out
    above, _, journal = said.partition('== Journal ==')
    assert SECRET not in above and f'{SECRET}-said' in journal
    assert 'nobody looked for secrets in it' in above


def test_nobody_and_what_hangs(machine):
    plant(machine)
    machine.run('systemctl start planted')
    said = machine.run("setpriv --reuid=65534 --regid=65534 --clear-groups keyturnctl report planted 2>&1").out
    assert 'not asked by root' in said and 'ActiveState=active' in said and SECRET not in said, said
    # A program of the host's that says nothing, and does not end.
    machine.write('/usr/local/bin/podman', '#!/bin/sh\nwhile :; do sleep 1000; done\n', 0o755)
    said = machine.run('keyturnctl report 2>&1', timeout=50).out
    assert 'podman: (no answer within 10 s)' in said and 'netavark: netavark' in said, said
    said = machine.run('keyturnctl report nothing-there 2>&1').out
    assert 'LoadState=not-found' in said, said
    assert machine.run('keyturnctl report a b', check=False).status == 125
