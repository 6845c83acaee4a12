# SPDX-License-Identifier: LGPL-2.1-or-later
"""Whoever of them comes late: nothing waits for ever, nothing fails, nothing is left."""

import os
import random
import time

from stutter import Stutter
from users import as_user, make_user
from world import make_world

PACKAGES = ('passt',)
TEST_SECONDS = 300
SEED = os.environ.get('KEYTURN_TEST_SEED') or time.strftime('%Y-%m-%d')
SECONDS = int(os.environ.get('KEYTURN_LATE_SECONDS', 15))
IMAGE = '[Container]\nImage=localhost/test/busybox\n'
LIVES = "Exec=sh -c 'trap \"exit 0\" TERM; sleep 1000 & wait'\n[Unit]\nStartLimitIntervalSec=0\n"
CONTAINERS = {
    'web': 'Network=shop.network\nPublishPort=8080:80\nVolume=data.volume:/data\n',
    'mapped': 'UserNS=auto\nNetwork=none\nVolume=scratch.volume:/scratch\n',
    'member': 'Pod=app.pod\n',
    'checked': 'HealthCmd=true\nNotify=healthy\n',
}
FILES = {'shop.network': '[Network]\n', 'data.volume': '[Volume]\n', 'scratch.volume': '[Volume]\nDevice=tmpfs\nType=tmpfs\n',
         'app.pod': '[Pod]\n', **{f'{name}.container': IMAGE + lines + LIVES for name, lines in CONTAINERS.items()}}
RUN = '/usr/lib/keyturn/libstart run --name late --network none {}localhost/test/busybox true'
# What is done while they run.
COMMANDS = ('keyturnctl exec web echo', 'echo a >/run/a; keyturnctl cp /run/a web:/data/a', 'keyturnctl exec mapped id -u', 'keyturnctl list',
            'systemctl restart web', 'systemctl daemon-reload', 'systemctl start keyturn-health@checked', 'keyturnctl check', RUN.format(''),
            RUN.format('--detach ') + ' && rm -rf /run/keyturn/late')
USERS_CONTAINERS = {
    'web': 'Network=shop.network\nPublishPort=8080:80\nVolume=data.volume:/data\n', 'kept': 'UserNS=keep-id\nNetwork=none\n',
    'told': 'StopSignal=SIGUSR1\n', 'checked': 'HealthCmd=true\nNotify=healthy\n'}
USERS_COMMANDS = ('keyturnctl --user exec web echo', 'keyturnctl --user exec kept id -u', 'keyturnctl --user list', 'systemctl --user restart web',
                  'systemctl --user daemon-reload', 'systemctl --user start keyturn-health@checked', 'keyturnctl --user volumes')


def rounds(machine, run, systemctl, names, commands):
    """As many as there is time for. `run` runs a command line as who has the containers."""
    chance, count = random.Random(SEED), 0

    def do(command):
        done = run(f'timeout 30 sh -c "{command}"')
        assert done.status == 0, (command, done, run(f'{systemctl} status --no-pager -n 20 "*"; ps -e -o pid,ppid,stat,wchan:20,args').out)

    def turn():
        for name in chance.sample(names, len(names)):
            do(f'{systemctl} start {name}')
        for command in chance.sample(commands, 5):
            do(command)
        do(f'{systemctl} stop {" ".join(chance.sample(names, 3))}')

    turn()
    do(f'{systemctl} stop {" ".join(names)} keyturn-network@web')
    before = machine.settled()
    # One in two of the processes that begin stands still for a moment.
    with Stutter(machine, SEED, longest=0.1, chance_of_new=0.5):
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            turn()
            count += 1
    print(f'# {count} rounds', flush=True)
    do(f'{systemctl} stop {" ".join(names)} keyturn-network@web')
    machine.is_as(before)


def test_containers_of_root(machine):
    machine.run('for file in /etc/subuid /etc/subgid; do grep -qs ^containers: $file || echo containers:2147483647:2147483648 >>$file; done')
    for name, text in FILES.items():
        machine.container(name, text, reload=False)
    machine.reload()
    rounds(machine, lambda command: machine.run(command, check=False), 'systemctl', list(CONTAINERS), COMMANDS)


def test_containers_of_a_user(machine):
    make_world(machine)
    make_user(machine, 'alice')
    directory = '/home/alice/.config/containers/systemd'
    as_user(machine, f'mkdir -p {directory}')
    for name in ('shop.network', 'data.volume'):
        machine.write(f'{directory}/{name}', FILES[name])
    for name, lines in USERS_CONTAINERS.items():
        # A shell that is asked to end by another signal than SIGTERM.
        machine.write(f'{directory}/{name}.container', IMAGE + lines + LIVES.replace('TERM', 'USR1' if name == 'told' else 'TERM'))
    as_user(machine, 'systemctl --user daemon-reload')
    rounds(machine, lambda command: as_user(machine, command, check=False), 'systemctl --user', list(USERS_CONTAINERS), USERS_COMMANDS)
