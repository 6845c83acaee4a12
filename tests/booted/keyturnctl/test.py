# SPDX-License-Identifier: LGPL-2.1-or-later
"""keyturnctl says what there is, and a command that it runs has what the payload has, and no more."""

import json
import re

BUSYBOX = 'localhost/test/busybox'


def container(machine, name, more='', image=BUSYBOX):
    """sleep(1) as pid 1 would let systemd wait for it."""
    machine.container(name, f'''
        [Container]
        Image={image}
        Exec=sleep 1000
        {more}

        [Service]
        KillSignal=SIGKILL
    ''')


def ctl(machine, words, status=0):
    result = machine.run(f'keyturnctl {words} 2>&1 </dev/null', check=False)
    assert result.status == status, (words, result.status, result.out)
    return result.out


def test_list(machine):
    container(machine, 'runs')
    container(machine, 'stays')
    machine.run('systemctl start runs')
    found = {c['unit']: c for c in json.loads(ctl(machine, 'list --json'))}
    assert found['runs.service']['container'] == 'systemd-runs'
    assert found['runs.service']['state'] == 'active (running)'
    assert found['runs.service']['image'] == BUSYBOX
    assert 1 < found['runs.service']['start-ms'] < 60_000
    assert found['stays.service']['state'] == 'inactive (dead)'
    assert found['stays.service']['start-ms'] is None
    text = ctl(machine, 'list')
    assert re.search(r'^systemd-runs +runs.service +active \(running\) +- +' + BUSYBOX, text, re.M), text
    assert '\033' not in text


def test_list_says_how_it_failed(machine):
    machine.container('exits', f'[Container]\nImage={BUSYBOX}\nExec=sh -c "exit 7"\n')
    container(machine, 'dies')
    machine.run('systemctl start exits dies; systemctl kill --signal=SIGKILL dies')
    machine.run('while systemctl is-active exits dies; do sleep 0.2; done', check=False)
    found = {c['unit']: c['state'] for c in json.loads(ctl(machine, 'list --json'))}
    assert found['exits.service'] == 'failed (exit status 7)', found
    assert found['dies.service'] == 'failed (signal SIGKILL)', found
    machine.run('systemctl reset-failed exits dies')


def test_instances(machine):
    container(machine, 'many@')
    machine.run('systemctl start many@one many@two')
    assert {c['unit'] for c in json.loads(ctl(machine, 'list --json'))} >= {'many@one.service', 'many@two.service'}
    machine.run('systemctl stop many@one many@two')


def test_one_that_is_broken(machine):
    """It is shown or complained of, and is in nobody else's way."""
    machine.container('broken@', f'[Container]\nImage={BUSYBOX}\nAddDevice=%f\nExec=sleep 1000\n')
    machine.write('/run/systemd/system/strange.service.d/other.conf',
                  '[Service]\nExecStart=\nExecStart=/usr/lib/keyturn/libstart run --of-another-version x\n')
    container(machine, 'strange')
    container(machine, 'whole')
    machine.run('systemctl start whole; systemctl start broken@x strange', check=False)
    try:
        text = machine.run('keyturnctl list 2>&1').out
        assert re.search(r'broken@x\.service +failed \(exit status 125\)', text) and 'whole.service' in text, text
        assert re.search(r"strange\.service: .*'--of-another-version'", text), text
        assert machine.run('keyturnctl exec whole echo hello 2>&1').out == 'hello\n'
        assert 'broken@x.service' in ctl(machine, 'exec broken@x true', 125)
    finally:
        machine.run('systemctl stop whole; systemctl reset-failed broken@x strange')


def test_a_name_that_is_anothers_unit(machine):
    machine.container('aaa', f'[Container]\nImage={BUSYBOX}\nContainerName=zzz\nHostName=wrong\nExec=sleep 1000\n'
                             'StopSignal=SIGKILL\n')
    machine.container('zzz', f'[Container]\nImage={BUSYBOX}\nHostName=right\nExec=sleep 1000\nStopSignal=SIGKILL\n')
    machine.run('systemctl start aaa zzz')
    assert ctl(machine, 'exec zzz hostname') == 'right\n'
    machine.run('systemctl stop aaa zzz')


def test_variables(machine):
    """systemd puts them in only when it starts the service."""
    machine.container('variable', f'''
        [Container]
        Image={BUSYBOX}
        Volume=${{WHERE}}:/data
        Exec=sleep 1000

        [Service]
        Environment=WHERE=/srv
        KillSignal=SIGKILL
    ''')
    machine.run('systemctl start variable')
    assert [c['unit'] for c in json.loads(ctl(machine, 'list --json'))] == ['variable.service']
    ctl(machine, 'exec variable test -d /data')


def test_no_longer_a_container(machine):
    """What systemd does not start as one, though the generator's file is there, does not hide the others."""
    container(machine, 'stays')
    for name in ('masked', 'replaced'):
        container(machine, name)
    machine.write('/etc/systemd/system/replaced.service.d/own.conf', '[Service]\nExecStart=\nExecStart=sleep 1000\n')
    machine.run('ln -s /dev/null /etc/systemd/system/masked.service; systemctl daemon-reload')
    try:
        assert machine.show('masked', 'LoadState') == 'masked'
        assert [c['unit'] for c in json.loads(ctl(machine, 'list --json'))] == ['stays.service']
        ctl(machine, 'images')
        assert "no container 'masked'" in ctl(machine, 'exec masked true', 125)
    finally:
        machine.run('rm /etc/systemd/system/masked.service')


def test_analyze(machine):
    container(machine, 'runs')
    machine.run('systemctl start runs')
    text = ctl(machine, 'analyze runs')
    assert re.search(r'^runs.service: \d+ us\n  launch +\d+ +#', text), text
    phases = json.loads(ctl(machine, 'analyze --json'))
    assert {p['phase'] for p in phases} >= {'image', 'mounts', 'confine', 'hand-over'}, phases
    assert ctl(machine, 'analyze --svg systemd-runs').startswith('<svg xmlns=')
    machine.run('systemctl stop runs')
    said = ctl(machine, 'analyze runs', 125)
    assert said.startswith('keyturnctl: error: runs.service is not running') and 'journalctl -u runs' in said, said


def test_images(machine):
    container(machine, 'there')
    layers = {i['unit']: i for i in json.loads(ctl(machine, 'images --json'))}['there.service']
    assert layers['layers'] == 1 and layers['problem'] is None and layers['store'].startswith('/'), layers
    container(machine, 'missing', image='localhost/no/such:image')
    found = {i['unit']: i for i in json.loads(ctl(machine, 'images --json', 1))}
    assert 'localhost/no/such:image' in found['missing.service']['problem'], found
    assert found['there.service']['problem'] is None


# What a process may do and is, except its number.
IDENTITY = "grep -E '^(Uid|Gid|Groups|Cap.*|NoNewPrivs|Seccomp.*):' /proc/{}/status; " \
           "for i in cgroup ipc mnt net pid uts; do readlink /proc/{}/ns/$i; done; grep ^0:: /proc/{}/cgroup"


def test_exec_is_what_the_payload_is(machine):
    for i, more in enumerate(('', 'User=1234:1235', 'NoNewPrivileges=true', 'DropCapability=all',
                              'AddCapability=CAP_SYS_TIME', 'SeccompProfile=unconfined', 'Network=none')):
        container(machine, f'beside{i}', more)
        machine.run(f'systemctl start beside{i}')
        pid = machine.show(f'beside{i}', 'MainPID')
        payload = machine.run(IDENTITY.replace('{}', str(pid))).out
        machine.run(f'rm -f /run/command; (keyturnctl exec beside{i} sleep 30; echo $? >/run/command) </dev/null '
                    f'>/dev/null 2>&1 &')
        command = machine.wait_for(lambda i=i, pid=pid: machine.run(
            f"cat /sys/fs/cgroup$(systemctl show -P ControlGroup beside{i})/cgroup.procs | grep -vx {pid} | "
            "while read p; do [ \"$(cat /proc/$p/comm)\" = sleep ] && echo $p; done", check=False).out.strip())
        assert machine.run(IDENTITY.replace('{}', command)).out == payload, more
        machine.run(f'systemctl stop beside{i}')
        machine.wait_for(lambda: machine.run('cat /run/command', check=False).out)  # it has ended with the service


def test_exec(machine):
    container(machine, 'runs', 'Environment=OF=container\nWorkingDir=/tmp')
    machine.run('systemctl start runs')
    assert ctl(machine, "exec runs sh -c 'echo $OF; pwd; exit 7'", 7) == 'container\n/tmp\n'
    assert ctl(machine, "exec -e OF=me -w / -u 5:6 systemd-runs sh -c 'echo $OF; pwd; id -u; id -g'") == 'me\n/\n5\n6\n'
    # As for any other user, what the payload as root may do is only a bound.
    caps = ctl(machine, 'exec -u 5 runs cat /proc/self/status')
    assert re.search(r'^CapPrm:\t0+\nCapEff:\t0+$', caps, re.M) and re.search(r'^CapAmb:\t0+$', caps, re.M), caps
    assert ctl(machine, 'exec runs ls -d /tmp') == '/tmp\n'
    assert ctl(machine, "exec runs sh -c 'kill -9 $$'", 137) == ''
    assert 'not found' in ctl(machine, 'exec runs nonesuch', 127)
    ctl(machine, 'exec runs /etc/passwd', 126)
    assert "no container 'nope'" in ctl(machine, 'exec nope true', 125)
    assert 'takes a container and a command' in ctl(machine, 'exec runs', 125)
    assert 'NAME=VALUE' in ctl(machine, 'exec -e nothing runs true', 125)
    machine.run('rm /run/keyturn/runs/systemd-runs/seccomp.bpf')
    assert 'has a seccomp filter' in ctl(machine, 'exec runs true', 125)
    machine.run('systemctl stop runs')
    assert 'runs.service is not running' in ctl(machine, 'exec runs true', 125)


def test_exec_tty(machine):
    """With -t it has a terminal of its own: the caller's, which it could type into, is none of the container's."""
    container(machine, 'runs')
    machine.run('systemctl start runs')
    command = r'sh -c "test -t 0 && test -c \$(readlink /proc/self/fd/0)"'
    for words, status in (('exec runs', 1), ('exec -t runs', 0)):
        result = machine.run(['script', '-qec', f'keyturnctl {words} {command}', '/dev/null'], check=False)
        assert result.status == status, (words, result)
    assert 'standard input is none: leave out -t' in ctl(machine, 'exec -t runs true', 125)
    result = machine.run(['script', '-qec', 'keyturnctl exec -t runs sh -c "exit 3"', '/dev/null'], check=False)
    assert result.status == 3, result


def test_payload_cannot_write_the_program(machine):
    """CVE-2019-5736: a payload opens the program of whoever comes in, and writes to it when it has gone."""
    machine.container('thief', f'''
        [Container]
        Image={BUSYBOX}
        Exec=sh -c 'while :; do for p in /proc/[1-9]*; do case $(readlink $p/exe) in *keyturnctl*) exec 3<$p/exe && sleep 1 && echo x >/proc/self/fd/3; esac; done; done'
        AddCapability=CAP_SYS_PTRACE
        StopTimeout=1
    ''')
    before = machine.run('sha256sum $(command -v keyturnctl)').out
    machine.run('systemctl start thief')
    for _ in range(40):
        machine.run('keyturnctl exec thief true </dev/null')
    machine.run('sleep 2; systemctl stop thief')
    assert machine.run('sha256sum $(command -v keyturnctl)').out == before


def test_bad_words(machine):
    assert 'A command is missing' in ctl(machine, '', 125)
    assert "no command 'start'" in ctl(machine, 'start x', 125)
    assert 'takes no arguments' in ctl(machine, 'list x', 125)
    assert 'keyturnctl ' in ctl(machine, '--version')
    assert 'exec NAME CMD' in ctl(machine, '--help')
