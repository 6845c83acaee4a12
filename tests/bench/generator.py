# SPDX-License-Identifier: LGPL-2.1-or-later
"""Generators, called as systemd calls them."""

from bench import IMAGE

SUMMARY = 'keyturn-generator and Podman\'s with 0 to 1000 files; systemd\'s own'

DIRECTORY = '/usr/lib/systemd/system-generators'
COUNTS = (0, 1, 20, 100, 1000)
OUT = '/run/bench/generated'

FILE = f'''[Unit]
Description=One of many
After=network.target

[Container]
Image={IMAGE}
Network=host
Exec=sleep infinity
Environment=MODE=day LEVEL=3
Volume=/srv/data:/data:ro
User=1000
ReadOnly=yes
NoNewPrivileges=yes
StopSignal=SIGTERM

[Service]
Restart=on-failure
MemoryMax=200M

[Install]
WantedBy=multi-user.target
'''


def line(name, program, variables=()):
    """systemd gives three directories, empty and new."""
    directories = [f'{OUT}/{which}' for which in ('normal', 'early', 'late')]
    return [('', ['rm', '-rf', OUT]), ('', ['mkdir', '-p', *directories]),
            (f'generator/{name}', [*variables, f'{DIRECTORY}/{program}', *directories])]


def write_files(machine, count):
    machine.run(['mkdir', '-p', f'/run/bench/files/{count}'])
    for number in range(count):
        machine.write(f'/run/bench/files/{count}/one-of-many-{number}.container', FILE)
    return [f'QUADLET_UNIT_DIRS=/run/bench/files/{count}']


def systemd_generators(bench):
    """Those that work here, one plan line each."""
    lines = []
    for name in bench.machine.run(['ls', DIRECTORY]).out.split():
        if not name.startswith('systemd-'):
            continue
        tried = line(name, name)[-1]
        if bench.machine.run(tried[1], check=False).status == 0:
            lines += line(name, name)
        else:
            bench.missing(tried[0], 'does not work in the machine')
    return lines


def measure(bench):
    bench.machine.run(['mkdir', '-p', OUT])
    plan, slow = systemd_generators(bench), []
    for count in COUNTS[:-1] if bench.quick else COUNTS:
        variables = write_files(bench.machine, count)
        # Podman's takes longer with 1000 files than all others together.
        where = slow if count > 100 else plan
        where += line(f'keyturn/{count}', 'keyturn-generator', variables)
        if bench.has(f'generator/podman/{count}', f'{DIRECTORY}/podman-system-generator'):
            where += line(f'podman/{count}', 'podman-system-generator', variables)
    for lines, rounds in ((plan, 20), (slow, 10)):
        for name, values in bench.turns(lines, bench.rounds(rounds), pause=5).items():
            bench.record(name, values, 'ms')
