# SPDX-License-Identifier: LGPL-2.1-or-later
"""Filters are there before the first container, and whatever becomes of them, no container is without its own."""

import os
import re

BUSYBOX = 'localhost/test/busybox'
DIRECTORY = '/run/keyturn/seccomp'
PRECOMPILE = '/usr/lib/keyturn/seccomp-precompile'
HEADER = 'libstart/base/journal-message.h'

# What ten containers of a system may ask for; four different filters.
EXTRAS = ['', '', '', '', 'AddCapability=SYS_TIME', 'AddCapability=SYS_TIME', 'DropCapability=all', 'User=1000:1000',
          'SeccompProfile=/etc/own.json', 'SeccompProfile=unconfined']

OWN_PROFILE = '''{"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [
    {"names": ["mkdir", "mkdirat"], "action": "SCMP_ACT_ERRNO", "errno": "ENOTTY"}]}
'''


def message_id():
    top = os.path.join(os.path.dirname(os.path.realpath(__file__)), '../../..')
    with open(os.path.join(top, HEADER)) as file:
        return re.search(r'"([0-9a-f]{32})"', file.read())[1]


def text_of(extra, command='sleep 1000'):
    return (f'[Unit]\nStartLimitIntervalSec=0\n[Container]\nImage={BUSYBOX}\nExec={command}\nStopSignal=SIGKILL\n'
            f'{extra}\n[Install]\nWantedBy=multi-user.target\n')


def seccomp_of(machine, unit):
    """Mode and number of filters of the payload."""
    status = machine.read(f'/proc/{machine.show(unit, "MainPID")}/status')
    mode = re.search(r'^Seccomp:\s*(\d+)', status, re.M)[1]
    filters = re.search(r'^Seccomp_filters:\s*(\d+)', status, re.M)[1]
    return int(mode), int(filters)


def warnings(machine):
    return machine.run(['journalctl', '--quiet', '--boot', '--output=cat', f'MESSAGE_ID={message_id()}'],
                       check=False).out.splitlines()


def new_warnings(machine, before):
    machine.run(['journalctl', '--sync'])
    return warnings(machine)[len(before):]


def own_filters(machine):
    """As many as there are in this machine by its own: nspawn may have loaded some for all of it."""
    return int(re.search(r'^Seccomp_filters:\s*(\d+)', machine.read('/proc/1/status'), re.M)[1])


def is_filtered(machine, unit):
    mode, filters = seccomp_of(machine, unit)
    return mode == 2 and filters == own_filters(machine) + 1


def filter_of(machine, unit):
    listed = machine.run([PRECOMPILE, '--list']).out
    key = re.search(rf'^(\w+) .*\b{unit}\.service\b', listed, re.M)
    assert key, listed
    return machine.run(f'ls {DIRECTORY}/{key[1]}*').out.strip()


def test_ten_containers_at_boot(machine):
    def prepare(root):
        os.makedirs(f'{root}/etc/containers/systemd', exist_ok=True)
        for number, extra in enumerate(EXTRAS):
            with open(f'{root}/etc/containers/systemd/ten{number}.container', 'w') as file:
                file.write(text_of(extra))
        with open(f'{root}/etc/own.json', 'w') as file:
            file.write(OWN_PROFILE)

    with machine.another(prepare) as booted:
        for number, extra in enumerate(EXTRAS):
            unit = f'ten{number}'
            booted.wait_for(lambda: booted.show(unit, 'ActiveState') == 'active')
            assert is_filtered(booted, unit) == ('unconfined' not in extra), (unit, seccomp_of(booted, unit))
        assert warnings(booted) == [], warnings(booted)
        status = booted.run('systemctl status keyturn-seccomp').out
        assert '4 filters: 4 compiled' in status, status
        assert booted.run(f'ls {DIRECTORY} | wc -l').out.strip() == '4'
        # A start reads its filter and no profile, and makes no change.
        booted.run('systemctl stop ten0')
        words = booted.run(r"systemctl cat ten0 | sed -n 's/^ExecStart=//p'").out
        assert 'libstart run' in words, words
        trace = booted.run('systemd-run --quiet --wait --pipe --property=RuntimeDirectory=keyturn/ten0 '
                           'strace -f -e trace=open,openat /usr/lib/keyturn/libstart run --name x --network '
                           f'host --state-dir /run/keyturn/ten0 {BUSYBOX} true 2>&1').out
        assert '.bpf' in trace and '+++ exited with 0' in trace, trace
        assert 'seccomp.json' not in trace, trace


def test_damaged_filters(machine):
    machine.container('victim', text_of(''))
    machine.run('systemctl start victim')
    path = filter_of(machine, 'victim')
    for harm in (f'truncate -s 300 {path}', f'truncate -s 0 {path}', f'chmod 666 {path}', f'chown 1000 {path}',
                 f'rm {path}; mkfifo {path}', f'mv {path} {path}.x; ln -s {path}.x {path}', f'rm {path}',
                 f'printf x | dd of={path} bs=1 seek=400 conv=notrunc status=none',
                 f'rm {path}; cp /bin/true {path}'):
        before = warnings(machine)
        machine.run(harm)
        machine.run('systemctl restart victim')
        assert is_filtered(machine, 'victim'), harm
        said = new_warnings(machine, before)
        assert len(said) == 1 and said[0].startswith('Seccomp filter compiled during the start: '), (harm, said)
        machine.run('systemctl restart victim')
        assert is_filtered(machine, 'victim') and new_warnings(machine, before) == said, harm


def test_a_writer_that_was_killed(machine):
    """With all in its file but the name. The next one leaves nothing of it."""
    machine.container('victim', text_of(''))
    machine.run('systemctl restart keyturn-seccomp')
    before = machine.run(f'ls -A {DIRECTORY}').out
    machine.run(f'rm -rf {DIRECTORY}; strace -f -o /dev/null -e inject=rename,renameat,renameat2:signal=KILL {PRECOMPILE}', check=False)
    assert machine.run(f'ls -A {DIRECTORY}').out not in ('', before)
    machine.run('systemctl reload keyturn-seccomp')
    assert machine.run(f'ls -A {DIRECTORY}').out == before


def test_full_and_read_only_run(machine):
    machine.container('victim', text_of(''))
    machine.run(f'mkdir -p {DIRECTORY}')
    for options in ('nr_inodes=1', 'ro'):
        before = warnings(machine)
        machine.run(f'mount -t tmpfs -o {options} tmpfs {DIRECTORY}')
        try:
            machine.run('systemctl restart keyturn-seccomp', check=False)
            machine.run('systemctl start victim')
            assert is_filtered(machine, 'victim'), options
            assert len(new_warnings(machine, before)) == 1, options
            machine.run('systemctl stop victim')
        finally:
            machine.run(f'umount {DIRECTORY}')
            machine.run('systemctl reset-failed keyturn-seccomp', check=False)


def test_own_profile(machine):
    machine.write('/etc/own.json', OWN_PROFILE)
    machine.container('own', text_of('SeccompProfile=/etc/own.json', 'sh -c "mkdir /tmp/x; sleep 1000"'))
    machine.run('systemctl start own')
    machine.wait_for(lambda: 'Inappropriate ioctl' in machine.journal('own') or
                     'Not a tty' in machine.journal('own'))
    assert is_filtered(machine, 'own')


def test_nonsense_fails_when_generated(machine):
    machine.write('/etc/own.json', '{"defaultAction": "SCMP_ACT_NOTHING"}')
    machine.container('own', text_of('SeccompProfile=/etc/own.json'))
    assert machine.run('systemctl start own', check=False).status != 0
    assert "'SCMP_ACT_NOTHING' is no action" in machine.journal('own'), machine.journal('own')
    console = machine.run('/usr/lib/systemd/system-generators/keyturn-generator --dry-run', check=False)
    assert console.status == 1
    assert "seccomp profile '/etc/own.json': 'defaultAction': 'SCMP_ACT_NOTHING' is no action" in console.err, \
        console.err


def test_a_filter_that_fails_takes_no_other_with_it(machine):
    """A profile that is broken after the generator has read it: with its failure systemd removed all filters, at every start."""
    machine.write('/etc/own.json', OWN_PROFILE)
    machine.container('own', text_of('SeccompProfile=/etc/own.json'))
    machine.container('plain', text_of(''))
    machine.write('/etc/own.json', '{"defaultAction": "SCMP_ACT_')
    machine.run('systemctl restart keyturn-seccomp', check=False)
    assert machine.run('systemctl start own', check=False).status != 0
    before = warnings(machine)
    machine.run('systemctl restart plain')
    assert seccomp_of(machine, 'plain') == (2, 1) and new_warnings(machine, before) == [], new_warnings(machine, before)
    assert machine.run('systemctl reload keyturn-seccomp', check=False).status != 0, 'nobody hears of it'
    machine.run('rm /etc/containers/systemd/own.container /etc/containers/systemd/plain.container; systemctl stop plain')
    machine.reload()
    machine.run('systemctl restart keyturn-seccomp')


def test_missing_profile_fails_the_start(machine):
    machine.container('own', text_of('SeccompProfile=/etc/nowhere.json'))
    done = machine.run('systemctl start own', check=False)
    assert done.status != 0
    assert "Cannot open seccomp profile '/etc/nowhere.json': No such file or directory" in machine.journal('own')
