# SPDX-License-Identifier: LGPL-2.1-or-later
"""Users with a manager of their own, and containers of theirs."""

import os

IMAGE = 'localhost/test/busybox'
USERS = {'alice': 1234, 'bob': 1235}
PAGE = os.path.join(os.path.dirname(os.path.realpath(__file__)), '../../man/keyturn-user-generator.8.md')


def printed(section):
    """What the page prints there, to be written and typed: files and commands."""
    with open(PAGE) as page:
        lines = page.read().split(f'\n# {section}\n')[1].split('\n# ')[0].split('\n')
    text = '\n'.join(line[4:] if line.startswith('    ') else line and '\0' for line in lines)
    return [block.strip('\n') + '\n' for block in text.split('\0') if block.strip()]


def becoming(name):
    """What stands before a command of the user's."""
    uid = str(USERS[name])
    return ['setpriv', '--reuid', uid, '--regid', uid, '--init-groups', 'env', '-C', f'/home/{name}',
            f'XDG_RUNTIME_DIR=/run/user/{uid}', f'HOME=/home/{name}', f'USER={name}']


def as_user(machine, command, name='alice', check=True, timeout=60):
    return machine.run([*becoming(name), 'sh', '-c', command], check=check, timeout=timeout)


def systemctl(machine, command, user='alice', check=True):
    return as_user(machine, f'systemctl --user {command}', user, check)


def make_user(machine, name):
    """With a manager that runs, as with loginctl enable-linger: these machines have no libpam-systemd."""
    uid = USERS[name]
    if machine.run(f'id {name}', check=False).status == 0:
        return
    machine.run(f'useradd -u {uid} -m {name}; chmod 0700 /home/{name}; mkdir -p /run/systemd/system/user@{uid}.service.d; '
                f'printf "[Service]\\nEnvironment=XDG_RUNTIME_DIR=/run/user/{uid}\\nPAMName=\\n" '
                f'>/run/systemd/system/user@{uid}.service.d/50.conf; mkdir -p /run/keyturn /var/lib/keyturn; '
                'mkdir -p /etc/systemd/user-generators; ln -sf /dev/null /etc/systemd/user-generators/podman-user-generator; '
                f'systemctl daemon-reload; systemctl start user@{uid}')
    # As on a disk: Podman's overlays cannot lie on the overlay that this machine's root is. Root's Podman has its database
    # in there, which is none for others.
    machine.run(f'mkdir -p /home/{name}/.local/share/containers; mount -t tmpfs tmpfs /home/{name}/.local/share/containers; '
                f'cd /home/{name}/.local/share/containers; cp -a /var/lib/containers/storage .; '
                f'rm -rf storage/db.sql* storage/libpod; chown -R {name}: /home/{name}')


def make_podmans(machine, name='alice'):
    """A user whose Podman uses overlays: that of 4.3 takes copies of whole trees else."""
    make_user(machine, name)
    as_user(machine, 'mkdir -p ~/.config/containers; printf "[storage]\\ndriver = \\"overlay\\"\\n" >~/.config/containers/storage.conf', name)


def container(machine, name, text, user='alice'):
    make_user(machine, user)
    directory = f'/home/{user}/.config/containers/systemd'
    as_user(machine, f'mkdir -p {directory}', user)
    machine.write(f'{directory}/{name}.container', '[Unit]\nStartLimitIntervalSec=0\n' + text)
    return as_user(machine, 'systemctl --user daemon-reload', user)


def start(machine, name='mine', keys='', command='sleep 1000', user='alice', check=True):
    container(machine, name, f'[Container]\nImage={IMAGE}\nExec={command}\n{keys}\n[Service]\nKillSignal=SIGKILL\n', user)
    return as_user(machine, f'systemctl --user restart {name}', user, check)


def renew_view(machine):
    """What is pinned in the namespaces of before goes with them, as soon as nothing runs there any more."""
    as_user(machine, 'systemctl --user restart keyturn-view')


def show(machine, name, *what, user='alice'):
    return as_user(machine, f'systemctl --user show --value -p {",".join(what)} {name}', user).out.strip()


def states(machine, *units):
    return ' '.join(show(machine, unit, 'ActiveState') for unit in units)


def maps(machine, name='mine'):
    """Of user ids, then of groups."""
    pid = show(machine, name, 'MainPID')
    return [tuple(map(int, line.split())) for line in machine.run(f'cat /proc/{pid}/uid_map /proc/{pid}/gid_map').out.strip().split('\n')]


def namespaces(machine, name, kinds=('user', 'net', 'ipc', 'uts', 'pid', 'mnt')):
    """By the kernel, not by what the payload says."""
    pid = show(machine, name, 'MainPID')
    return [machine.run(f'readlink /proc/{pid}/ns/{kind}').out.strip() for kind in kinds]


def namespace(machine, name='mine'):
    return namespaces(machine, name, ('net',))[0]


def inside(machine, command, name='mine', user='alice', check=True):
    return as_user(machine, f"keyturnctl --user exec {name} sh -c '{command}'", user, check).out.strip()


def journal(machine, name='mine'):
    machine.sync_journal()
    return machine.run(f'journalctl -o cat --no-pager _SYSTEMD_USER_UNIT={name}.service + USER_UNIT={name}.service').out


def traces(machine, kinds=('net',), more='true'):
    """Of alice's containers: files, mounts, processes and namespaces, and what is printed by `more`."""
    run = f'/run/user/{USERS["alice"]}/keyturn'
    return (machine.run(f'cd {run} && find . | grep -v "seccomp\\|/.netavark" | sort').out,
            machine.run(f'cut -d" " -f5 /proc/$(cut -d" " -f1 {run}/.view)/mountinfo | sort').out,
            machine.run('ps -u alice -o args= | grep -v keyturn-relay | sort').out,
            [machine.run(f'lsns -n -t {kind} | wc -l').out for kind in kinds], machine.run(more, check=False).out)


def start_and_kill(machine, rounds, kills, units='one two', struck='one'):
    """Units of alice's are started and stopped, those that are `struck` killed between, with more `kills` by the number of
    the round ($i)."""
    as_user(machine, f'for i in $(seq {rounds}); do systemctl --user start {units}; {kills}'
                     f'systemctl --user kill -s KILL --kill-whom=$( [ $((i % 2)) = 0 ] && echo main || echo all ) {struck}; '
                     f'systemctl --user stop {units}; systemctl --user reset-failed; done', check=False, timeout=110)


def fails(machine, words, **how):
    assert start(machine, check=False, **how).status, 'it has started'
    said = machine.journal()
    assert words in said, said
