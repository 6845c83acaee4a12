# SPDX-License-Identifier: LGPL-2.1-or-later
"""What containers of users' managers use: health checks, secrets, devices, groups, limits; and keyturnctl --user."""

import json
import os
import random
import signal
import time

import registry

from users import IMAGE, as_user, container, fails, inside, journal, make_podmans, make_user, show, start, systemctl
from world import make_world

PACKAGES = ('passt',)


# ---- health checks

def health(machine, name='mine', user='alice'):
    said = as_user(machine, f'keyturnctl --user health --json {name}', user, check=False)
    return json.loads(said.out) if said.out else {'Status': None, 'Log': []}


def test_health(machine):
    start(machine, keys='HealthCmd=test -e /tmp/well || { echo is not well; exit 3; }\nHealthInterval=300ms\nHealthRetries=2')
    machine.wait_for(lambda: health(machine)['Status'] == 'unhealthy')
    assert (health(machine)['Log'][-1]['ExitCode'], health(machine)['Log'][-1]['Output']) == (3, 'is not well\n')
    inside(machine, 'touch /tmp/well')
    machine.wait_for(lambda: health(machine)['Status'] == 'healthy')
    said = as_user(machine, 'keyturnctl --user health')
    assert 'mine.service' in said.out and 'healthy' in said.out, said
    # By processes that have ended since, so that the journal may not know whose lines they are.
    machine.wait_for(lambda: 'is unhealthy' in (said := machine.journal()) and 'mine is healthy' in said)
    # It is run where the payload is, as what it is, and by no process that stays.
    first = health(machine)['Log'][0]['Start']
    machine.wait_for(lambda: health(machine)['Log'][0]['Start'] != first, 60)
    as_user(machine, 'systemctl --user stop mine')
    machine.wait_for(lambda: show(machine, 'keyturn-health-mine.timer', 'ActiveState') == 'inactive')
    machine.wait_for(lambda: 'libstart health' not in machine.run('ps -u alice -o args=').out)
    machine.wait_for(lambda: 'keyturn-' not in as_user(machine, 'systemctl --user --failed -q --plain').out)


def test_a_check_has_no_more_than_its_payload(machine):
    start(machine, keys='HealthCmd=grep -E "^(Cap|NoNewPrivs|Seccomp:)" /proc/self/status; cat /proc/self/uid_map; id\nHealthInterval=1h')
    machine.wait_for(lambda: health(machine)['Status'] == 'healthy')
    said = health(machine)['Log'][-1]['Output']
    for line in inside(machine, 'grep -E "^(Cap|NoNewPrivs|Seccomp:)" /proc/1/status; cat /proc/self/uid_map').splitlines():
        if not line.startswith('CapInh'):
            assert line in said, (line, said)
    assert 'uid=0(root)' in said, said
    assert '/run/user/1234' not in inside(machine, 'cat /proc/mounts')


def test_what_follows_from_being_unhealthy(machine):
    for action in ('kill', 'stop', 'restart'):
        start(machine, keys='HealthCmd=false\nHealthInterval=200ms\nHealthRetries=1\nHealthStartPeriod=1s\n'
                            f'HealthOnFailure={action}')
        before = show(machine, 'mine', 'InvocationID')
        if action == 'restart':
            machine.wait_for(lambda: show(machine, 'mine', 'InvocationID') not in ('', before))
        else:
            machine.wait_for(lambda: show(machine, 'mine', 'ActiveState') in ('failed', 'inactive'))
        as_user(machine, 'systemctl --user stop mine; systemctl --user reset-failed', check=False)


def test_the_check_of_an_image(machine):
    make_user(machine, 'alice')
    container(machine, 'image', '[Container]\nImage=localhost/test/layers:4\nEntrypoint=/bin/busybox\n'
                                'Exec=sh -c "trap \\"exit 0\\" USR1; echo listens; sleep 1000 & wait"\n')
    as_user(machine, 'systemctl --user restart image')
    machine.wait_for(lambda: 'listens' in journal(machine, 'image').splitlines())
    machine.wait_for(lambda: health(machine, 'image')['Status'] == 'healthy')
    machine.wait_for(lambda: show(machine, 'keyturn-health@image.timer', 'ActiveState') == 'active')
    # It wants to be stopped by SIGUSR1, which a second unit sends.
    as_user(machine, 'systemctl --user stop image')
    assert show(machine, 'image', 'Result', 'ExecMainStatus').split() == ['success', '0'], show(machine, 'image', 'Result', 'ExecMainStatus')
    assert 'wants to be stopped' not in journal(machine, 'image') and 'did not end' not in machine.journal()
    machine.wait_for(lambda: show(machine, 'keyturn-health@image.timer', 'ActiveState') == 'inactive')


def test_a_check_that_forks_ends_with_it(machine):
    start(machine, keys='HealthCmd=(sleep 7654321 &); sleep 7654321\nHealthInterval=1h\nHealthTimeout=1s\nHealthRetries=1')
    machine.wait_for(lambda: health(machine)['Status'] == 'unhealthy')
    machine.wait_for(lambda: '7654321' not in machine.run('ps -e -o args=').out)


# ---- secrets

def secret(machine, name, value, user='alice'):
    make_podmans(machine, user)
    as_user(machine, f'podman secret rm {name} >/dev/null 2>&1; printf %s {value} | podman secret create {name} -', user)


def test_secrets(machine):
    secret(machine, 'word', 'hers-5e1c')
    secret(machine, 'word', 'his-77aa', 'bob')
    secret(machine, 'only-his', 'his-11bb', 'bob')
    machine.run('printf machines | podman secret create machines -')
    start(machine, keys='Secret=word,uid=5,gid=6,mode=400\nSecret=word,type=env,target=WORD')
    assert inside(machine, 'cat /run/secrets/word; stat -c " %a %u:%g" /run/secrets/word') == 'hers-5e1c 400 5:6'
    pid = show(machine, 'mine', 'MainPID')
    assert 'WORD=hers-5e1c\0' in machine.run(f'cat /proc/{pid}/environ').out
    for path in (f'/proc/{pid}/environ', f'/proc/{pid}/root/run/secrets/word'):
        assert as_user(machine, f'cat {path}', 'bob', check=False).status, path
    # Nowhere but where Podman has it.
    # Beside Podman's own file, the variable is in the container's configuration, as root's are.
    found = machine.run('grep -rl hers-5e1c /run /home/alice /var/log 2>/dev/null', check=False).out.split()
    assert found in ([], ['/run/user/1234/keyturn/mine/systemd-mine/config.json']), found
    for path in found:
        said = machine.run(f'stat -c "%a %U" {path}').out
        assert said == '700 alice\n', said
    assert 'hers-5e1c' not in as_user(machine, 'systemctl --user show mine; systemctl --user cat mine').out
    for name in ('only-his', 'machines'):
        fails(machine, f'Secret={name} (--secret): there is no such secret', keys=f'Secret={name}')


def test_secrets_of_podman_beside(machine):
    """The same as under rootless Podman."""
    secret(machine, 'word', 'hers-5e1c')
    secret(machine, 'deep', 'hers-6f2d')
    look = 'cat /run/secrets/word /etc/deep; echo; stat -c %a.%u.%g.%n /run/secrets /run/secrets/word /etc/deep'
    machine.write('/home/alice/look', look, 0o755)
    podman = as_user(machine, 'podman --runtime crun run --rm --network host -v /home/alice/look:/look --secret word '
                              f'--secret deep,target=/etc/deep,uid=3,gid=4,mode=440 {IMAGE} sh /look').out
    container(machine, 'secrets', f'[Container]\nImage={IMAGE}\nVolume=/home/alice/look:/look\nExec=sh /look\nSecret=word\n'
                                  'Secret=deep,target=/etc/deep,uid=3,gid=4,mode=440\n[Service]\nType=oneshot\n')
    as_user(machine, 'systemctl --user start secrets')
    machine.sync_journal()
    ours = machine.run('journalctl -o cat --no-pager SYSLOG_IDENTIFIER=secrets _TRANSPORT=journal').out
    assert ours.split() == podman.split(), (ours, podman)


def test_a_credential_of_the_service(machine):
    container(machine, 'mine', f'[Container]\nImage={IMAGE}\nExec=sleep 1000\nSecret=said\n'
                               '[Service]\nSetCredential=said:loudly\nKillSignal=SIGKILL\n')
    as_user(machine, 'systemctl --user restart mine')
    assert inside(machine, 'cat /run/secrets/said') == 'loudly'


# ---- devices

def nodes(machine):
    """One for all, one for a group, one for nobody; they are what everybody may have, /dev/zero and so on."""
    machine.run('rm -rf /dev/cams; mkdir -p /dev/cams/deep; cd /dev/cams; mknod all c 1 5; mknod group c 1 5; mknod none c 1 5; '
                'mknod reads c 1 5; mknod deep/a c 1 3; chmod 0666 all deep/a; chgrp video group; chmod 0660 group; chmod 0600 none; chmod 0644 reads')


def test_devices(machine):
    nodes(machine)
    start(machine, keys='AddDevice=/dev/cams/all\nAddDevice=/dev/cams/deep/:/dev/else\nAddDevice=-/dev/cams/missing\n'
                        'AddDevice=/dev/cams/reads:/dev/reads:r')
    assert inside(machine, 'head -c 3 /dev/cams/all | wc -c; stat -c %t.%T /dev/cams/all /dev/else/a /dev/reads; ls /dev/cams') == \
        '3\n1.5\n1.3\n1.5\nall'
    assert inside(machine, 'echo x 2>&1 >/dev/reads', check=False) != ''
    fails(machine, "may not use the device '/dev/cams/none' (rwm)", keys='AddDevice=/dev/cams/none')
    fails(machine, "may not use the device '/dev/cams/reads' (rw)", keys='AddDevice=/dev/cams/reads:/dev/x:rw')
    fails(machine, "Nothing keeps a container of this user from writing '/dev/cams/all'", keys='AddDevice=/dev/cams/all:/dev/x:r')
    fails(machine, "Device '/dev/cams/missing' is not there", keys='AddDevice=/dev/cams/missing')


CDI = '{"cdiVersion":"0.7.0","kind":"vendor.com/cam","devices":[{"name":"a","containerEdits":{"env":["CAM=one"],' \
      '"deviceNodes":[{"path":"/dev/front/cam","hostPath":"/dev/cams/all"},{"path":"/dev/front/none","hostPath":"/dev/cams/none"}],' \
      '"mounts":[{"hostPath":"/srv/cdi","containerPath":"/opt/cdi","options":["ro","nosuid","nodev","bind"]}],' \
      '"hooks":[{"hookName":"createRuntime","path":"/srv/cdi/hook","args":["hook"]}]}}]}'


def test_devices_of_cdi(machine):
    """Nodes as they are, hooks as she; from JSON, and from YAML, which is JSON, too."""
    nodes(machine)
    make_user(machine, 'alice')
    machine.run('mkdir -p /etc/cdi /srv/cdi')
    machine.write('/srv/cdi/file', 'of the vendor\n')
    machine.write('/srv/cdi/hook', '#!/bin/sh\nid -u >/tmp/cdi-hook; cat /proc/self/uid_map >>/tmp/cdi-hook\n', 0o755)
    try:
        for kind in ('json', 'yaml'):
            as_user(machine, 'systemctl --user stop keyturn-cdi')
            machine.run('rm -f /etc/cdi/* /tmp/cdi-hook')
            machine.write(f'/etc/cdi/vendor.{kind}', CDI)
            start(machine, keys='AddDevice=vendor.com/cam=a')
            found = inside(machine, 'head -c 3 /dev/front/cam | wc -c; stat -c %t.%T.%a /dev/front/cam; echo $CAM; cat /opt/cdi/file; '
                                    'touch /opt/cdi/x 2>/dev/null || echo ro; head -c 1 /dev/front/none 2>/dev/null || echo no')
            assert found == '3\n1.5.666\none\nof the vendor\nro\nno', found
            copied = machine.run('ls /run/user/1234/keyturn/cdi/etc/cdi/vendor.yaml.json', check=False).status == 0
            assert copied == (kind == 'yaml')
            pid = show(machine, 'mine', 'MainPID')
            assert 'CAM=one' in machine.run(f'cat /proc/{pid}/environ').out.split('\0')
            assert machine.run('cat /tmp/cdi-hook; stat -c %u /tmp/cdi-hook').out.split()[:3] == ['0', '0', '1234']
        fails(machine, 'vendor.com/cam=b', keys='AddDevice=vendor.com/cam=b')
    finally:
        as_user(machine, 'systemctl --user stop mine keyturn-cdi', check=False)
        machine.run('rm -rf /etc/cdi /srv/cdi /tmp/cdi-hook')


def test_devices_of_a_group(machine):
    """Whoever is in it may open the node; the payload may with GroupAdd=keep-groups, as with rootless Podman."""
    make_podmans(machine)
    nodes(machine)
    group = machine.run('getent group video | cut -d: -f3').out.strip()
    machine.run('usermod -aG video alice; systemctl restart user@1234')
    try:
        start(machine, keys='AddDevice=/dev/cams/group')
        assert inside(machine, 'id -G') == '0'
        assert 'Permission denied' in machine.run(
            ['nsenter', '-t', show(machine, 'mine', 'MainPID'), '-U', '-m', '-S', '0', '-G', '0', 'head', '-c1', '/dev/cams/group'],
            check=False).err
        start(machine, keys='AddDevice=/dev/cams/group\nGroupAdd=keep-groups', command='sh -c "head -c 2 /dev/cams/group | wc -c; sleep 1000"')
        machine.wait_for(lambda: '2' in journal(machine).split())
        pid = show(machine, 'mine', 'MainPID')
        assert group in machine.run(f'grep Groups /proc/{pid}/status').out.split()
        # Podman's, beside it.
        said = as_user(machine, f'podman --runtime crun run --rm --network host --device /dev/cams/group --group-add keep-groups {IMAGE} '
                                'sh -c "head -c 2 /dev/cams/group | wc -c; id -G"').out.split()
        assert said == ['2'] + inside(machine, 'id -G').split(), said
    finally:
        machine.run('gpasswd -d alice video; systemctl restart user@1234')


# ---- limits

def test_limits_without_a_controller(machine):
    """In these machines no manager has one; in the place of a file of the kernel's, what it would say."""
    make_user(machine, 'alice')
    text = f'[Container]\nImage={IMAGE}\nExec=sleep 1000\nMemory=64m\nPidsLimit=50\n[Service]\nKillSignal=SIGKILL\n'
    as_user(machine, 'systemctl --user kill -s KILL mine; systemctl --user stop mine', check=False)  # of a test before
    container(machine, 'mine', text)
    assert as_user(machine, 'systemctl --user start mine', check=False).status
    said = as_user(machine, 'systemctl --user show -p Description --value mine').out
    assert "no controller 'memory'" in said and 'Delegate=' in said and ':6: Memory=' in said.replace("'", ''), said
    machine.run('echo memory pids >/tmp/has; '
                'mount --bind /tmp/has /sys/fs/cgroup/user.slice/user-1234.slice/user@1234.service/cgroup.controllers')
    try:
        container(machine, 'mine', text)
        as_user(machine, 'systemctl --user start mine')
        assert show(machine, 'mine', 'MemoryMax', 'TasksMax') == f'{64 << 20}\n50'
        # What [Service] can say, too.
        container(machine, 'mine', text.replace('Memory=64m', 'PodmanArgs=--cpus 1'))
        assert "no controller 'cpu'" in as_user(machine, 'systemctl --user show -p Description --value mine').out
    finally:
        machine.run('umount -l /sys/fs/cgroup/user.slice/user-1234.slice/user@1234.service/cgroup.controllers')


# ---- keyturnctl

def test_keyturnctl(machine):
    start(machine, keys='Volume=kept:/kept', command='sh -c "echo said-this; sleep 1000"')
    machine.run('usermod -aG systemd-journal alice')  # these machines have no journal of hers alone
    machine.wait_for(lambda: 'said-this' in journal(machine))
    said = as_user(machine, 'keyturnctl --user logs mine -o cat').out
    assert 'said-this' in said, said
    assert 'said-this' in as_user(machine, 'keyturnctl --user logs --lines 50 --json mine').out
    start(machine, 'other')
    assert 'said-this' not in as_user(machine, 'keyturnctl --user logs other -o cat').out
    assert '/mine.service' in as_user(machine, 'keyturnctl --user top mine -b -n 1').out
    assert 'mine.service' in as_user(machine, 'keyturnctl --user top').out
    rows = json.loads(as_user(machine, 'keyturnctl --user volumes --json').out)
    assert any(row['volume'] == 'kept' and row['mountpoint'].startswith('/home/alice/') for row in rows), rows
    # What is advised is for her, too.
    said = as_user(machine, 'keyturnctl --user exec mine no-such 2>&1', check=False).out
    assert "has no 'no-such'" in said and 'keyturnctl shell' not in said, said
    assert 'see keyturnctl --user list\n' in as_user(machine, 'keyturnctl --user exec no-such true 2>&1', check=False).out
    assert 'or keyturnctl --user list for your own' in as_user(machine, 'keyturnctl exec mine true 2>&1', check=False).out
    as_user(machine, 'systemctl --user stop mine')
    for command in ('exec mine true', 'analyze mine'):
        said = as_user(machine, f'keyturnctl --user {command} 2>&1', check=False).out
        assert said.endswith('see keyturnctl --user logs mine.service\n'), said
    as_user(machine, 'keyturnctl --user logs mine.service')
    for command in ('cp mine:/etc/passwd /tmp/x', 'end-payload mine'):
        assert "'--user' stands before" in as_user(machine, f'keyturnctl --user {command} 2>&1', check=False).out


# ---- volumes and images

def write(machine, name, text, user='alice'):
    make_user(machine, user)
    as_user(machine, 'mkdir -p ~/.config/containers/systemd', user)
    machine.write(f'/home/{user}/.config/containers/systemd/{name}', text)


def test_volume_files(machine):
    make_podmans(machine)
    write(machine, 'kept.volume', '[Volume]\nUID=7\nGID=8\nLabel=a=b\n')
    start(machine, keys='Volume=kept.volume:/kept')
    assert inside(machine, 'touch /kept/x; stat -c %u:%g /kept') == '7:8'
    place = '/home/alice/.local/share/containers/storage/volumes/systemd-kept/_data'
    assert machine.run(f'ls {place}').out == 'x\n'
    first = machine.run("awk -F: '/^alice/ {print $2}' /etc/subuid").out.strip()
    assert machine.run(f'stat -c %u {place}').out.strip() == str(int(first) + 6)
    assert show(machine, 'kept-volume', 'ActiveState') == 'active'
    write(machine, 'files.volume', f'[Volume]\nDriver=image\nImage={IMAGE}\n')
    start(machine, 'files', keys='Volume=files.volume:/files')
    assert inside(machine, 'test -x /files/bin/busybox && echo yes', 'files') == 'yes'
    # Podman knows it, too.
    as_user(machine, 'podman volume create systemd-kept 2>/dev/null; podman volume ls -q | grep -x systemd-kept')
    write(machine, 'disk.volume', '[Volume]\nDevice=/dev/sda\nType=ext4\n')
    as_user(machine, 'systemctl --user daemon-reload')
    assert as_user(machine, 'systemctl --user start disk-volume', check=False).status
    said = as_user(machine, 'systemctl --user show -p Description --value disk-volume').out
    assert ':2: ' in said and 'let root mount it' in said, said
    write(machine, 'bound.volume', '[Volume]\nDevice=/home/alice/x\nType=none\nOptions=bind\n')
    as_user(machine, 'systemctl --user daemon-reload')
    said = as_user(machine, 'systemctl --user show -p Description --value bound-volume').out
    assert ':2: ' in said and 'Volume=/home/alice/x:' in said, said


def test_pull(machine):
    make_podmans(machine)
    registry.start(machine)
    registry.push(machine, 'app:1', env=['IS=pulled'])
    image = f'{registry.NAME}/app:1'
    mounts = 'grep -c . /proc/$(cut -d" " -f1 /run/user/1234/keyturn/.view)/mountinfo'
    before = machine.run(mounts).out
    container(machine, 'app', f'[Container]\nImage={image}\nPull=missing\n[Service]\nKillSignal=SIGKILL\n')
    as_user(machine, 'systemctl --user start app')
    assert 'IS=pulled' in as_user(machine, 'keyturnctl --user exec app env').out
    machine.wait_for(lambda: machine.run(mounts).out == before)
    # It is hers, not the machine's, and Podman of hers has it.
    assert machine.run(f'podman image exists {image}', check=False).status
    assert 'IS=pulled' in as_user(machine, f'podman run --rm --network host {image} env').out
    assert not machine.run('find /home/alice/.local/share/containers /home/alice/.local/share/keyturn -uid 0', check=False).out
    # What the registry has now.
    registry.push(machine, 'app:1', env=['IS=newer'])
    as_user(machine, 'systemctl --user restart app')
    assert 'IS=pulled' in as_user(machine, 'keyturnctl --user exec app env').out
    container(machine, 'app', f'[Container]\nImage={image}\nPull=newer\n[Service]\nKillSignal=SIGKILL\n')
    as_user(machine, 'systemctl --user restart app')
    assert 'IS=newer' in as_user(machine, 'keyturnctl --user exec app env').out
    registry.stop(machine)
    as_user(machine, 'systemctl --user restart app')
    as_user(machine, 'systemctl --user stop app')


def test_build(machine):
    make_podmans(machine)
    as_user(machine, 'mkdir -p ~/.config/containers/systemd/mine')
    machine.write('/home/alice/.config/containers/systemd/mine/Containerfile',
                  f'FROM {IMAGE}\nCOPY here /there\nRUN id -u >/who; chown 5:6 /who\nCMD sleep 1000\n')
    write(machine, 'mine/here', 'copied')
    write(machine, 'mine/mine.build', '[Build]\nImageTag=localhost/mine:1\nSetWorkingDirectory=unit\n'
                                       'PodmanArgs=--isolation=chroot\n')  # rootless Podman runs nothing else here: no message bus
    container(machine, 'built', '[Container]\nImage=mine.build\n[Service]\nKillSignal=SIGKILL\n')
    as_user(machine, 'systemctl --user start built')
    assert as_user(machine, 'podman image exists localhost/mine:1', check=False).status == 0
    assert inside(machine, 'cat /there /who; stat -c %u:%g /who', 'built') == 'copied0\n5:6'
    as_user(machine, 'systemctl --user stop built')


def test_image_files(machine):
    """A registry that comes back later starts what waits for it."""
    make_podmans(machine)
    registry.start(machine)
    registry.push(machine, 'late:1', env=['IS=late'])
    registry.stop(machine)
    write(machine, 'late.image', f'[Image]\nImage={registry.NAME}/late:1\nRetry=0\n[Service]\nRestartSec=1\n')
    container(machine, 'late', '[Container]\nImage=late.image\n[Service]\nKillSignal=SIGKILL\n')
    assert as_user(machine, 'systemctl --user start late', check=False).status
    assert 'is not in the image stores' in machine.journal() or 'cannot be pulled' in machine.journal(), machine.journal()
    registry.restart(machine)
    machine.wait_for(lambda: show(machine, 'late', 'ActiveState') == 'active', 60)
    assert 'IS=late' in as_user(machine, 'keyturnctl --user exec late env').out
    as_user(machine, 'systemctl --user stop late')


# ---- all of it at once

LIVES = {
    'la': 'Volume=lives:/kept\nHealthCmd=true\nHealthInterval=200ms\n',
    'lb': 'Secret=word\nTmpfs=/scratch\nReadOnly=true\n[Service]\nRestart=always\nRestartSec=20ms\n',
    'lc': 'Network=none\nAddDevice=/dev/null:/dev/nothing\n',
    'ld': 'Network=pasta\nPublishPort=PORT1:80\n',
    'le': 'Network=bridge\nPublishPort=PORT2:80\n',
}
SYSTEMS = {
    'sa': '',
    'sb': 'Network=none\n[Service]\nRestart=always\nRestartSec=20ms\n',
    'sc': 'HealthCmd=true\nHealthInterval=200ms\n[Service]\nUser=alice\n',
    'sd': 'Volume=nobodys:/kept:U\n[Service]\nDynamicUser=yes\nRestart=always\nRestartSec=20ms\n',
    'se': 'Network=bridge\nPublishPort=1236:80\n',
}
OWNERS = [('alice', name) for name in LIVES] + [('bob', name) for name in LIVES] + [('root', name) for name in SYSTEMS]


def control(machine, who, command):
    if who == 'root':
        return machine.run(f'systemctl {command}', check=False)
    return systemctl(machine, command, who, check=False)


def whole_state(machine):
    """Files, mounts, namespaces and processes, of root and of both users."""
    return machine.run(
        'for i in 1234 1235; do holder=$(cut -d" " -f1 /run/user/$i/keyturn/.view); cut -d" " -f5 /proc/$holder/mountinfo | grep -v ^/run/keyturn/userns/ | sort; done; '
        'find /run/keyturn /run/user/*/keyturn /run/user/*/systemd/transient /run/systemd/transient /run/credentials /run/user/*/credentials '
        '2>/dev/null | sort; cut -d" " -f5 /proc/1/mountinfo | sort; ip -o link | cut -d: -f2; ip rule; ip route; '
        'nft -s list ruleset; for i in user mnt pid ipc uts net; do lsns -n -t $i | wc -l; done; '
        'ps -u alice,bob -o user=,args= | sort; ps -u root -o args= | grep -E "keyturn|libstart|sleep" | grep -v grep | sort; '
        'find /sys/fs/cgroup -type d -name "*l[a-e]*" -o -type d -name "s[a-e].service" | sort', check=False).out


def settle(machine, wanted):
    for who in ('alice', 'bob', 'root'):
        control(machine, who, 'stop "l[a-e].service" "s[a-e].service"')
        control(machine, who, 'reset-failed')
    machine.run('pkill -9 -u alice,bob -x keyturn-relay', check=False)  # those of before are in the namespaces of before
    machine.is_as(wanted, lambda: whole_state(machine))


def strike(machine, dice):
    """One kill, of something that may be there, or new namespaces."""
    who, name = dice.choice(OWNERS)
    uid = dice.choice((1234, 1235))
    struck = dice.randrange(8)
    if struck == 0:
        control(machine, {1234: 'alice', 1235: 'bob'}[uid], 'restart keyturn-view')
    elif struck == 1:
        machine.run(f'pkill -9 -u {uid} -x keyturn-relay', check=False)
    elif struck == 2:
        machine.run(f'pkill -9 -u {uid} -x libstart', check=False)
    elif struck == 3:
        machine.run(f'pkill -9 -u {uid} "^(pasta|passt|aardvark|netavark|keyturn-network)"', check=False)
    else:
        control(machine, who, f'kill -s KILL --kill-whom={dice.choice(("main", "all"))} {name}')


def test_any_order_of_starts_stops_and_kills_leaves_nothing(machine):
    """Of two users and root. Forty turns, or as many as KEYTURN_TEST_TURNS says, by the dice of KEYTURN_TEST_SEED."""
    turns, seed = (int(os.environ.get(f'KEYTURN_TEST_{what}', usual)) for what, usual in (('TURNS', 40), ('SEED', 28)))
    text = f'[Container]\nImage={IMAGE}\nExec=sleep 1000\nStopSignal=SIGKILL\n'
    make_world(machine)
    for who in ('alice', 'bob'):
        secret(machine, 'word', 'hers', who)
        for name, keys in LIVES.items():
            container(machine, name, text + keys.replace('PORT', {'alice': '812', 'bob': '813'}[who]), who)
            as_user(machine, f'systemctl --user start {name}', who)
    for name, keys in SYSTEMS.items():
        machine.container(name, f'{text}{keys}\n[Unit]\nStartLimitIntervalSec=0\n')
        machine.run(f'systemctl start {name}')
    for who in ('alice', 'bob', 'root'):
        control(machine, who, 'stop "l[a-e].service" "s[a-e].service"')
        control(machine, who, 'reset-failed')
    machine.wait_for(lambda: machine.run('pgrep -u alice,bob "^(pasta|passt|aardvark|netavark|keyturn-network)"', check=False).out == '')
    machine.settled(lambda: whole_state(machine))
    machine.run('pkill -9 -u alice,bob -x keyturn-relay')
    machine.wait_for(lambda: all(machine.run(f'pgrep -u {who} -x keyturn-relay', check=False).out for who in ('alice', 'bob')))
    before = machine.settled(lambda: whole_state(machine))
    signal.alarm(120 + 2 * turns)  # the usual time is for fewer
    dice = random.Random(seed)
    kills = 0
    for turn in range(turns):
        who, name = dice.choice(OWNERS)
        control(machine, who, f'--no-block {dice.choice(("start", "start", "restart", "stop"))} {name}')
        time.sleep(dice.random() * 0.2)
        if dice.random() < 0.6:
            strike(machine, dice)
            kills += 1
        if turn % 25 == 24 or turn == turns - 1:
            settle(machine, before)
    print(f'# {turns} turns, {kills} kills, seed {seed}')
    # And all of it works as it did.
    for who, name in OWNERS:
        said = control(machine, who, f'start {name}')
        assert said.status == 0, (who, name, said)
    assert inside(machine, 'cat /run/secrets/word', 'lb', 'bob') == 'hers'
    settle(machine, before)
