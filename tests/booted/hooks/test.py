# SPDX-License-Identifier: LGPL-2.1-or-later
"""Hooks of hooks.d: who is called when, with what, and what comes of it. With Podman's as the measure."""

import contextlib
import json
import re

BUSYBOX = 'localhost/test/busybox'
DIRECTORY = '/usr/share/containers/oci/hooks.d'
STAGES = ('precreate', 'prestart', 'createRuntime', 'createContainer', 'poststart', 'poststop')

# Tells where and with what it was called, and passes on what a precreate hook has to.
TELL = '''#!/bin/sh
exec 9>>/run/hooks.log
echo "== $*" >&9
env | grep -v -e ^PWD= -e ^SHLVL= -e ^_ | sort >&9
echo "umask $(umask)" >&9
pwd | sed "s,.*/overlay-containers/.*,BUNDLE," >&9
cat >/run/hook.input.$1; cat /run/hook.input.$1
[ "$1" = precreate ] || [ ! -e config.json ] || echo "config $(stat -c %a config.json)" >&9
'''


@contextlib.contextmanager
def hooks(machine, **files):
    """NAME='{...}' becomes a file of hooks.d, and the programs are there."""
    machine.run(f'rm -f /run/hooks.log /run/hook.input.*; mkdir -p {DIRECTORY} /etc/containers/oci/hooks.d /opt/hooks')
    machine.write('/opt/hooks/tell', TELL, 0o755)
    for name, text in files.items():
        machine.write(f'{DIRECTORY}/{name}.json', text if isinstance(text, str) else json.dumps(text))
    try:
        yield
    finally:
        machine.run(f'rm -rf {DIRECTORY} /etc/containers/oci /opt/hooks')


def hook(stages, program='/opt/hooks/tell', when=None, **more):
    return {'version': '1.0.0', 'hook': {'path': program, **more}, 'when': when or {'always': True}, 'stages': stages}


def start(machine, *container, script='true', service='', expect=0):
    lines = '\n        '.join(container)
    machine.container('hooked', f'''
        [Unit]
        StartLimitIntervalSec=0

        [Container]
        Image={BUSYBOX}
        ContainerName=hooked
        Network=host
        Exec=sh -c "{script}"
        {lines}

        [Service]
        Type=oneshot
        {service}
    ''')
    machine.mark()
    machine.run('systemctl start hooked', check=False)
    assert machine.show('hooked', 'ExecMainStatus') == str(expect), machine.journal('hooked')
    return machine.journal('hooked').splitlines()


def log(machine):
    return machine.run('cat /run/hooks.log 2>/dev/null; rm -f /run/hooks.log', check=False).out.splitlines()


def test_what_a_hook_mounts_is_masked(machine):
    """As with crun, whatever else is mounted."""
    machine.run('mkdir -p /srv/hidden; echo secret >/srv/hidden/key')
    for stage in ('prestart', 'createRuntime'):
        with hooks(machine, a=hook([stage], '/opt/hooks/mounts')):
            machine.write('/opt/hooks/mounts', '''#!/bin/sh
pid=$(tr , "\\n" | sed -n 's/.*"pid": *\\([0-9]*\\).*/\\1/p')
nsenter -m -t $pid mount --bind /srv/hidden /run/keyturn/hooked/.private/root/home
''', 0o755)
            for more in ('', 'Tmpfs=/scratch'):
                start(machine, 'Mask=/home/key', more, script='cat /home/key; ls /home')
                machine.wait_for(lambda: 'key' in machine.journal('hooked').splitlines())
                assert 'secret' not in machine.journal('hooked'), (stage, more, machine.journal('hooked'))
                assert '/srv/hidden' not in machine.read('/proc/1/mountinfo'), (stage, more)


def test_each_stage(machine):
    """In the host's namespaces as root, with the state, a readable bundle, and a sane umask."""
    everywhere = [stage for stage in STAGES if stage != 'createContainer']
    files = {f'{i}-{stage}': hook([stage], args=['tell', stage]) for i, stage in enumerate(everywhere)}
    with hooks(machine, **files):
        start(machine, 'Annotation=car.door=left')
        said = log(machine)
        assert [line for line in said if line.startswith('==')] == [f'== {stage}' for stage in everywhere], said
        assert said.count('umask 0022') == said.count('/run/keyturn/hooked') == len(everywhere), said
        assert not [line for line in said if line.startswith(('NOTIFY_', 'JOURNAL_', 'LISTEN_'))], said
        assert 'config 600' in said, said
        for stage, status in (('createRuntime', 'created'), ('poststart', 'running'), ('poststop', 'stopped')):
            state = json.loads(machine.read(f'/run/hook.input.{stage}'))
            assert state['status'] == status and state['id'] == 'hooked', state
            assert state['bundle'] == '/run/keyturn/hooked' and state['annotations']['car.door'] == 'left', state
            assert ('pid' in state) == (stage != 'poststop'), state
        spec = json.loads(machine.read('/run/hook.input.precreate'))
        assert spec['process']['args'][0] == 'sh' and 'container=podman' in spec['process']['env'], spec


def test_a_stage_in_the_mounts_of_the_container(machine):
    with hooks(machine, a=hook(['createContainer'], args=['tell', 'createContainer'])):
        start(machine)
        said = log(machine)
        assert {'== createContainer', 'umask 0022', '/run/keyturn/hooked'} <= set(said), said


def test_no_hook_in_the_container(machine):
    """It would be a program of the image's beside libstart, whose file it could write to: nobody brings one in."""
    with hooks(machine, a=hook(['startContainer'], '/bin/true')):
        machine.container('refused', f'[Container]\nImage={BUSYBOX}\n')
        assert machine.run('systemctl start refused', check=False).status != 0
        assert "The hook of '/usr/share/containers/oci/hooks.d/a.json': keyturn runs no startContainer hooks" in machine.journal()
    with hooks(machine, a=hook(['precreate'], '/opt/hooks/adds')):
        machine.write('/opt/hooks/adds', """#!/bin/sh
sed 's,^{,{"hooks":{"startContainer":[{"path":"/bin/true"}]}\\,,'
""", 0o755)
        said = '\n'.join(start(machine, expect=125))
        assert "The hook '/bin/true': keyturn runs no startContainer hooks" in said, said


def test_which_hooks(machine):
    def tell(name, when, file=None):
        return hook(['prestart'], args=['tell', name], when=when)

    files = {
        'b-annotation': tell('annotation', {'annotations': {'^car\\.door$': '^l'}}),
        'a-both': tell('both', {'annotations': {'^car\\.door$': 'left'}, 'hasBindMounts': True}),
        'B-command': tell('command', {'commands': ['^sh$']}),
        'c-other': tell('other', {'annotations': {'^car\\.door$': 'right'}}),
        'd-false': tell('false', {'always': False}),
        'e-never': tell('never', {'commands': ['nothing']}),
        'f-empty': tell('empty', {}) | {'when': {}},
    }

    def called():
        return [line[3:] for line in log(machine) if line.startswith('==')]

    with hooks(machine, **files):
        start(machine, 'Annotation=car.door=left')
        assert called() == ['annotation', 'command']
        start(machine, 'Annotation=car.door=left', 'Volume=/srv:/srv')
        assert called() == ['both', 'annotation', 'command']
        start(machine, 'Annotation=car.door=%p', 'Entrypoint=/bin/true')
        assert called() == []
        asked = machine.show('hooked', 'ExecStart')
        assert f'--hook maybe:{DIRECTORY}/b-annotation.json' in asked and 'command' not in asked, asked
        # Labels decide nothing, as with Podman, neither the file's nor an image's.
        start(machine, 'Label=car.door=left', 'Entrypoint=/bin/true')
        assert called() == []
        assert '--hook' not in machine.show('hooked', 'ExecStart').replace('B-command', ''), machine.show('hooked', 'ExecStart')
        # /etc is stronger, by the file's name.
        machine.write('/etc/containers/oci/hooks.d/b-annotation.json', json.dumps(tell('changed', {'always': True})))
        start(machine, 'Annotation=car.door=left')
        assert called() == ['changed', 'command']


def test_only_doubtful_hooks_are_asked_about(machine):
    """What is known when the unit is made costs no program; a file that was broken meanwhile stops the start."""
    surely = hook(['prestart'], args=['tell', 'surely'], when={'annotations': {'^car\\.door$': '^l'}})
    maybe = hook(['prestart'], args=['tell', 'maybe'], when={'commands': ['^sh$']})
    with hooks(machine, surely=surely, maybe=maybe):
        start(machine, 'Annotation=car.door=left')
        words = machine.show('hooked', 'ExecStart')
        assert f'--hook {DIRECTORY}/surely.json' in words and f'--hook maybe:{DIRECTORY}/maybe.json' in words, words
        machine.run('mv /usr/lib/keyturn/keyturn-hooks /run/')
        try:
            said = '\n'.join(start(machine, 'Annotation=car.door=left', expect=125))
            assert 'Which OCI hooks are for the container cannot be known' in said, said
            log(machine)
            start(machine, 'Annotation=car.door=left', 'Entrypoint=/bin/true')
            assert log(machine).count('== surely') == 1
        finally:
            machine.run('mv /run/keyturn-hooks /usr/lib/keyturn/')
        start(machine, 'Annotation=car.door=left')
        machine.write(f'{DIRECTORY}/maybe.json', json.dumps(maybe).replace('^sh$', '('))
        machine.run('systemctl start hooked', check=False)
        assert "'(' is no regular expression" in machine.journal('hooked'), machine.journal('hooked')


def test_image_cannot_call_hooks(machine):
    machine.run('''c=$(podman create localhost/test/busybox) && podman commit -q --change 'LABEL car.door=left' $c localhost/test/labelled;
                   podman rm -af >/dev/null''')
    try:
        with hooks(machine, a=hook(['prestart'], args=['tell', 'called'], when={'annotations': {'^car.door$': '.*'}})):
            machine.container('labelled', '''
                [Container]
                Image=localhost/test/labelled
                Exec=true
                [Service]
                Type=oneshot
            ''')
            machine.run('systemctl start labelled')
            assert log(machine) == []
    finally:
        machine.run('podman rmi -f localhost/test/labelled', check=False)


def test_no_hook_costs_nothing(machine):
    with hooks(machine, a=hook(['poststop'], when={'annotations': {'nobody': 'has'}})):
        start(machine)
        unit = machine.run('systemctl cat hooked').out
        assert 'hook' not in unit.replace('hooked', '') and 'ExecStopPost' not in unit and 'DevicePolicy=closed' in unit, unit


DEVICES = '''#!/usr/bin/perl
local $/; $_ = <STDIN>;
s|"linux":\\s*\\{|"linux":{"devices":[{"path":"/dev/deep/log","type":"c","major":1,"minor":11,"fileMode":384,"uid":5,"gid":6}],|;
s|"env":\\s*\\[|"env":["ADDED=by a hook",|;
s|"mounts":\\s*\\[|"mounts":[{"destination":"/added","type":"bind","source":"/etc/os-release","options":["bind","ro"]},|;
print;
'''


def test_precreate_changes_the_container(machine):
    """What QM's hooks do: nodes into linux.devices. Other devices stay forbidden."""
    use = ('stat -c %%n.%%a.%%u.%%g /dev/deep/log; head -c1 /dev/deep/log >/dev/null && echo reads; echo $$ADDED; '
           'head -n1 /added | cut -c1-4; mknod /tmp/n c 10 235; mount -o remount,dev /tmp; head -c1 /tmp/n && echo hole')
    with hooks(machine, a=hook(['precreate'], '/opt/hooks/devices', when={'annotations': {'^dev$': '1'}})):
        machine.write('/opt/hooks/devices', DEVICES, 0o755)
        said = start(machine, 'Annotation=dev=1', 'AddCapability=SYSLOG MKNOD SYS_ADMIN', script=use + '; true')
        for line in ('/dev/deep/log.600.5.6', 'reads', 'by a hook', 'PRET'):
            assert line in said, said
        assert 'hole' not in said, said
        said = start(machine, 'AddCapability=SYSLOG', script=use + '; true')
        assert 'reads' not in said and 'by a hook' not in said, said


def test_hooks_that_fail(machine):
    def failing(stage, script, reason, **more):
        with hooks(machine, a=hook([stage], '/opt/hooks/fails', **more)):
            machine.write('/opt/hooks/fails', '#!/bin/sh\n' + script, 0o755)
            said = '\n'.join(start(machine, script='echo started', expect=125))
            assert reason in said and 'started' not in said.split(), said

    failing('precreate', 'echo no camera >&2; exit 3', "The hook '/opt/hooks/fails' failed with status 3: no camera")
    failing('precreate', 'echo {', "The hook '/opt/hooks/fails' printed no configuration that can be used")
    failing('precreate', 'sed s,/run/keyturn,/run/other,g', 'it changes root.path')
    failing('precreate', 'sleep 30', 'took longer than 1 s', timeout=1)
    failing('createRuntime', 'cat >/dev/null; echo no camera >&2; exit 3', 'no camera')
    failing('createRuntime', 'cat >/dev/null; exit 3', '/opt/hooks/fails')
    failing('createContainer', 'cat >/dev/null; exit 3', '/opt/hooks/fails')
    with hooks(machine, a=hook(['prestart'], '/opt/hooks/missing')):
        assert '/opt/hooks/missing' in '\n'.join(start(machine, expect=125))
    with hooks(machine, a='{"version":"1.0.0"'):
        machine.container('hooked', f'[Container]\nImage={BUSYBOX}\n')
        said = machine.run('/usr/lib/systemd/system-generators/keyturn-generator --dry-run', check=False).err
        assert f"Hook '{DIRECTORY}/a.json': " in said, said


def test_a_hook_that_cannot_be_waited_for(machine):
    """No descriptor is left to see its end in time: it is killed, and not waited for."""
    with hooks(machine, a=hook(['precreate'], '/opt/hooks/slow', timeout=60)):
        machine.write('/opt/hooks/slow', '#!/bin/sh\ncat\n', 0o755)
        start(machine)
        machine.write('/opt/hooks/slow', '#!/bin/sh\nexec sleep 3600\n', 0o755)
        unit = machine.run('systemctl cat hooked').out.replace('\\\n', ' ')
        command = re.search(r'^ExecStart=(.*)$', unit, re.M)[1]
        machine.unit('hooked.service.d/strace.conf', f'''
            [Service]
            ExecStart=
            ExecStart=/usr/bin/strace -D -f -o /dev/null -e trace=pidfd_open -e inject=pidfd_open:error=EMFILE {command}
        ''')
        machine.mark()
        machine.run('timeout 30 systemctl restart hooked', check=False)
        said = machine.journal('hooked')
        assert "Cannot wait for the hook '/opt/hooks/slow': Too many open files" in said, said
        machine.wait_for(lambda: machine.run('pgrep -f "^sleep 3600"', check=False).out == '')


QM = '''
[Container]
AddCapability=all
ContainerName=qm
Exec=/sbin/init
Network=host
PodmanArgs=--security-opt label=nested
ReadOnly=true
Rootfs=${ROOTFS}
SecurityLabelFileType=qm_file_t
SecurityLabelLevel=s0
SecurityLabelType=qm_t
Volume=qmEtc:/etc:copy
Volume=qmVar:/var:copy
AddDevice=-/dev/snd/
AddDevice=-/dev/not-there
Annotation=org.containers.qm.device.audio=true

[Service]
AllowedCPUs=0
CPUWeight=50
Delegate=true
IOWeight=50
MemorySwapMax=0
Slice=QM.slice
OOMScoreAdjust=500
Environment=ROOTFS=/usr/lib/qm/rootfs
'''

INIT = '''#!/bin/sh
trap "exit 0" 37
echo "init $$ $(cat /proc/self/oom_score_adj) $(grep CapEff /proc/self/status | cut -f2)"
touch /x 2>/dev/null || echo "root is read-only"
echo kept >>/etc/kept && wc -l </etc/kept; touch /var/x && touch /run/x && echo "the rest is not"
head -c1 /dev/deep/log >/dev/null && echo "a device of a hook"
mkdir /sys/fs/cgroup/inner && echo "cgroups of its own"
while :; do sleep 1; done
'''


def test_a_container_like_qm(machine):
    """All that QM's own file has, with a root directory from a variable and a device by a hook. Its labels: vm/scenarios/selinux.py."""
    machine.run(f'''
        mkdir -p /usr/lib/qm; rm -rf /usr/lib/qm/rootfs; mounted=$(podman image mount {BUSYBOX})
        cp -a $mounted /usr/lib/qm/rootfs; podman image unmount {BUSYBOX}
        cd /usr/lib/qm/rootfs; mkdir -p etc var/log run proc sys dev tmp sbin; echo qm >etc/hostname; echo 1 >var/log/first
    ''')
    machine.write('/usr/lib/qm/rootfs/sbin/init', INIT, 0o755)
    machine.write('/etc/containers/systemd/qm.container', QM)
    try:
        with hooks(machine, qm=hook(['precreate'], '/opt/hooks/devices',
                                    when={'annotations': {'^org\\.containers\\.qm\\.device\\.audio$': '^(true|1)$'}})):
            machine.write('/opt/hooks/devices', DEVICES, 0o755)
            machine.run('systemctl daemon-reload; systemctl start qm')
            machine.wait_for(lambda: 'cgroups of its own' in machine.journal('qm'))
            said = machine.journal('qm')
            capabilities = machine.run("grep CapBnd /proc/1/status | cut -f2").out.strip()
            for line in (f"init 1 500 {capabilities}", 'root is read-only', '1', 'the rest is not', 'a device of a hook'):
                assert line in said.splitlines(), (line, said)
            assert machine.read('/var/lib/containers/storage/volumes/qmVar/_data/log/first') == '1\n'
            assert machine.show('qm', 'ControlGroup').startswith('/QM.slice/')
            machine.run('systemctl restart qm')
            machine.wait_for(lambda: '\n2\n' in machine.journal('qm'))
            machine.run('systemctl stop qm')
            assert machine.show('qm', 'Result') == 'success', machine.journal('qm')
    finally:
        machine.run('systemctl stop qm; rm -rf /usr/lib/qm /etc/containers/systemd/qm.container; systemctl daemon-reload', check=False)
