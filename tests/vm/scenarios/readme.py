# SPDX-License-Identifier: LGPL-2.1-or-later
"""The example of the README, word by word, on a machine that has keyturn and the image."""

import os
import re
import textwrap

from vm import HERE

# Commands that want a terminal get one, and something to do in there; not before they listen.
SCRIPT = r'''
type_slowly() { sleep 10; echo 'echo "inside: $(uname -m)"'; sleep 5; echo exit; sleep 5; }
interactive() { type_slowly | timeout 120 script --quiet --return --flush --command "$*" /dev/null; }
export PAGER=cat SYSTEMD_PAGER=
systemctl is-system-running --wait >/dev/null || true
install -D /etc/vm/backup-camera.container /etc/containers/systemd/backup-camera.container
'''


def example():
    """The file, and the commands that follow it."""
    with open(os.path.join(HERE, '../../README.md')) as file:
        text = file.read().split('\n## One example\n')[1].split('\n## ')[0]
    blocks = re.findall(r'(?:^(?: {4}.*)?\n)+', text, re.M)
    container, commands = (textwrap.dedent(block).strip() for block in blocks if block.strip())
    return container + '\n', [line.split('  #')[0].strip() for line in commands.splitlines()]


def run(vm):
    container, commands = example()
    assert 'systemctl start backup-camera' in commands and len(commands) >= 8, commands
    script = SCRIPT
    for command in commands:
        wants_terminal = command.endswith(' sh') or ' shell ' in command
        script += f'echo "== {command}"\n{"interactive " if wants_terminal else ""}{command}\n'
    report = vm.boot({'etc/vm/backup-camera.container': container}, script + 'echo "== end"; wc -c *.svg; uname -m')
    assert report.status == 0, report.trouble()
    said = dict(zip(*[iter(re.split(r'^== (.*)\n', report.out, flags=re.M)[1:])] * 2))
    assert 'Main PID:' in said['systemctl status backup-camera'] and '(camera)' in said['systemctl status backup-camera']
    size, _, machine = said['end'].split()
    assert int(size) > 1000, report.trouble()
    for command in commands:
        if command.startswith('keyturnctl exec') or ' shell ' in command:
            assert f'inside: {machine}' in said[command], f'{command}: {said[command]}'
    assert machine == {'amd64': 'x86_64', 'arm64': 'aarch64'}[vm.arch], machine
