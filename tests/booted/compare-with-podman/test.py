# SPDX-License-Identifier: LGPL-2.1-or-later
"""The same .container file under Podman's Quadlet and under keyturn, with a payload that tells all it sees.

Every line that differs must be in DIFFERENCES (differences.py), with the reason.
"""

import difflib
import importlib.util
import os
import re
import textwrap
import time

HERE = os.path.dirname(os.path.realpath(__file__))
TEST_SECONDS = 400  # the first test starts all of them, under both
QUADLET = '/usr/libexec/podman/quadlet'


def load(name):
    spec = importlib.util.spec_from_file_location('compare_' + name, os.path.join(HERE, name + '.py'))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


CASES = load('cases').CASES | load('real').CASES
DIFFERENCES = load('differences').DIFFERENCES
DIFFERENCES_OF_NEWER = load('differences').DIFFERENCES_OF_NEWER
CHANCE = load('chance')
SEED = os.environ.get('KEYTURN_TEST_SEED') or time.strftime('%Y-%m-%d')
SETS = CHANCE.sets(SEED, int(os.environ.get('KEYTURN_COMPARE', 0)))

ENVIRONMENT_FILE = """\
# a comment
OVER=file
PLAIN=a value with blanks
QUOTED="kept"
  LEADING=blank
EQUALS=a=b
LANG
EMPTY_IN_FILE=
"""

# Two of the calls that dump tries get errors of their own.
PROFILE = '''{
    "defaultAction": "SCMP_ACT_ALLOW",
    "syscalls": [
        {"names": ["userfaultfd"], "action": "SCMP_ACT_ERRNO", "errnoRet": 5},
        {"names": ["keyctl", "personality"], "action": "SCMP_ACT_ERRNO", "errnoRet": 75}
    ]
}
'''

outputs = {}


RESOLV_CONF = '''\
# the host's
nameserver 10.255.255.53
search first.example
search host.example lab
nameserver 10.255.255.54 # the other
domain no.example
options rotate  timeout:1
'''


def case(name):
    value = (CASES | SETS)[name]
    return value if isinstance(value, dict) else {'container': value}


def container_file(name):
    """The text of NAME.container, the same for both."""
    this = case(name)
    what = f'Rootfs={this["rootfs"]}' if 'rootfs' in this else f'Image={this.get("image", "localhost/test/dump")}'
    keys = textwrap.dedent(this['container']).strip('\n')
    text = f'[Container]\n{what}\nVolume=/run/compare:/out\nVolume=/etc/compare.reference:/dump.reference:ro\n'
    if 'Network=' not in keys:
        text += 'Network=host\n'
    if 'Exec=' not in keys:
        text += f'Exec=--output /out/{name} --hold\n'
    elif name == 'arguments':
        keys = keys.replace('Exec=', f'Exec=--output /out/{name} ')
    text += keys + '\nStopSignal=SIGKILL\n'
    return text + textwrap.dedent(this.get('more', ''))


def clear(machine):
    """What the others have left."""
    machine.run('podman volume rm -fa >/dev/null; rm -rf /var/lib/containers/storage/volumes/compare-*; '
                'systemctl stop "*-volume.service" "keyturn-volume@*"; podman secret rm --all >/dev/null')


def prepare(machine):
    # Podman cannot make a user namespace with mounts below /sys/kernel, and the kernel shows /sys in one only where a whole
    # /sys is to be seen outside, too. systemd-nspawn has neither.
    machine.run('''
        umount /sys/kernel/tracing /sys/kernel/debug 2>/dev/null
        mountpoint -q /run/whole-sysfs || { mkdir -p /run/whole-sysfs && mount -t sysfs sysfs /run/whole-sysfs; }
    ''')
    # In a user namespace Podman gives the payload what stands on the standard streams: the host's /dev/null.
    machine.run('chown 0:0 /dev/null')
    for file in ('/etc/subuid', '/etc/subgid'):
        machine.write(file, 'containers:2147483647:2147483648\nalice:500000:65536\nbob:600000:65536\n')
    machine.run('mkdir -m 1777 -p /run/compare && mkdir -p /srv/compare/inner && echo x >/srv/compare/file')
    machine.write('/etc/compare.env', ENVIRONMENT_FILE)
    machine.write('/etc/compare.passwd', 'root:x:0:0::/outer:/bin/sh\noutsider:x:777:778::/home/outsider:/bin/sh\n')
    machine.write('/etc/compare.group', 'outer:x:900:\nlisted:x:901:root,outsider\nown:x:778:\n')
    machine.write('/etc/compare.seccomp.json', PROFILE)
    machine.write('/etc/resolv.conf', RESOLV_CONF)
    machine.run('''
        printf secret | podman secret create compare -
        printf 'two lines\nof text' | podman secret create compare-two -
    ''')
    machine.run('ls -l /proc/1/ns >/etc/compare.reference')


def prepare_rootfs(machine):
    # A root directory, and the payload for images that have none: what the image of the payload holds. Podman mounts no image
    # of an additional store, but a container that has one.
    machine.run('''
        set -e
        container=$(podman create --network none localhost/test/dump)
        mounted=$(podman mount $container)
        install -D -t /usr/local/bin $mounted/usr/bin/dump
        rm -rf /srv/rootfs; cp -a $mounted /srv/rootfs
        podman rm $container
    ''')


def write_sockets(machine, names):
    for name in names:
        if 'socket' in case(name):
            machine.unit(f'{name}.socket', case(name)['socket'], reload=False)


VOLUME = '[Volume]\nVolumeName=compare-file\nUser=5\nGroup=6\n'


def start_and_collect(machine, names):
    """Starts all services, a few at once, and returns what their payloads have written."""
    found = {}
    for name in names:
        machine.run(f'rm -f /run/compare/{name}; systemctl start --no-block '
                    f'{name}.{"socket" if "socket" in case(name) else "service"}')
        if 'socket' in case(name):
            machine.run(f'systemctl start --no-block {name}.service')
    # The payload closes its file before it holds on; a process that still writes it has it open.
    for name in names:
        def ended(name=name):
            if machine.show(name, 'ActiveState') == 'failed':
                raise AssertionError(f'{name} failed:\n' + machine.journal(f'{name}.service'))
            text = machine.run(f'cat /run/compare/{name}', check=False).out
            return text if '\ncall userfaultfd' in text else None
        try:
            found[name] = machine.wait_for(ended, 60)
        except AssertionError as error:
            found[name] = f'no output: {error}\n' + machine.journal(f'{name}.service')
    for name in names:
        if 'socket' in case(name):
            machine.run(f'systemctl stop {name}.socket')
    machine.run('systemctl stop ' + ' '.join(f'{name}.service' for name in names), timeout=100)
    return found


def collect_podman(machine, names):
    for name in names:
        file = re.sub('@.*', '@', name)
        machine.write(f'/etc/compare/{file}.container', container_file(name))
    machine.write('/etc/compare/compare.volume', VOLUME)
    write_sockets(machine, names)
    machine.run(f'rm -rf /run/compare-units; mkdir -p /run/compare-units /run/systemd/system; '
                f'QUADLET_UNIT_DIRS=/etc/compare {QUADLET} /run/compare-units && '
                f'cp /run/compare-units/*.service /run/systemd/system/')
    machine.reload()
    try:
        return start_and_collect(machine, names)
    finally:
        machine.run('cd /run/compare-units && for i in *; do rm -f /run/systemd/system/$i; done')
        machine.tidy()


def collect_keyturn(machine, names):
    for name in names:
        machine.container(re.sub('@.*', '@', name), container_file(name), reload=False)
    machine.write('/etc/containers/systemd/compare.volume', VOLUME)
    write_sockets(machine, names)
    machine.reload()
    return start_and_collect(machine, names)


def collect(machine):
    if not outputs:
        # A bridge changes what the others see of the host's network. And of Podman and /dev/null, see prepare().
        bridge, userns, userns_bridge, others = [], [], [], []
        for name in CASES:
            kinds = (userns_bridge, bridge) if 'bridge' in name else (userns, others)
            kinds[0 if name.startswith('userns-') else 1].append(name)
        podman, keyturn = {}, {}
        for some, what, collect_some in ((podman, others, collect_podman), (podman, userns, collect_podman),
                                         (keyturn, others + userns, collect_keyturn), (podman, bridge, collect_podman),
                                         (podman, userns_bridge, collect_podman),
                                         (keyturn, bridge + userns_bridge, collect_keyturn)):
            clear(machine)
            prepare(machine)
            prepare_rootfs(machine)
            some |= collect_some(machine, what)
        for name in CASES:
            outputs[name] = podman[name], keyturn[name]
    return outputs


def differences(podman, keyturn):
    """Lines with '-' that only Podman's has and with '+' that only keyturn's has."""
    lines = difflib.unified_diff(podman.splitlines(), keyturn.splitlines(), n=0, lineterm='')
    return [line for line in list(lines)[2:] if not line.startswith('@@')]


def justified(line, name, expected):
    return any(re.fullmatch(pattern, line) and (not cases or re.fullmatch(cases, name)) for pattern, cases, _ in expected)


def compare(machine, name):
    podman, keyturn = collect(machine)[name]
    for who, output in (('Podman', podman), ('keyturn', keyturn)):
        assert not output.startswith('no output'), f'{who}: {output}'
    expected = DIFFERENCES + (DIFFERENCES_OF_NEWER if machine.suite == 'sid' else [])
    found = [line for line in differences(podman, keyturn) if not justified(line, name, expected)]
    assert not found, 'not as under Podman (-), but with keyturn (+):\n' + '\n'.join(found)


def test_this_podman_has_quadlet(machine):
    """Debian 12's Podman 4.3 has none, and then there is nothing to compare with: this says so."""
    version = machine.run('podman --version').out.split()[2]
    has_quadlet = machine.run(['test', '-x', QUADLET], check=False).status == 0
    assert has_quadlet == (int(version.split('.')[0]) >= 5), f'Podman {version}, Quadlet: {has_quadlet}'


def make_test(name):
    def test(machine):
        if machine.run(['test', '-x', QUADLET], check=False).status == 0:
            compare(machine, name)
    return test


def compare_set(machine, name, podman, keyturn):
    """Nothing, or what is wrong with it."""
    if podman.startswith('no output') or keyturn.startswith('no output'):
        if podman.startswith('no output') or re.search(CHANCE.REFUSED, keyturn):
            return ''
        return f'{name}: only Podman starts\n{container_file(name)}\n{keyturn}'
    expected = [(pattern, '', reason) for pattern, _, reason in DIFFERENCES + CHANCE.DIFFERENCES]
    found = [line for line in differences(podman, keyturn) if not justified(line, name, expected)]
    return '\n'.join([f'{name}:', container_file(name), *found]) if found else ''


def by_chance(machine):
    """Twenty at a time; what Podman does not start either is not counted."""
    names, wrong, started = list(SETS), [], 0
    for some in (names[i:i + 20] for i in range(0, len(names), 20)):
        podman, keyturn = {}, {}
        for what, collect_some in ((podman, collect_podman), (keyturn, collect_keyturn)):
            clear(machine)
            prepare(machine)
            prepare_rootfs(machine)
            what |= collect_some(machine, some)
            machine.run('rm -f /etc/compare/*.container /etc/containers/systemd/*chance*')
        started += sum(not text.startswith('no output') for text in podman.values())
        wrong += [text for name in some if (text := compare_set(machine, name, podman[name], keyturn[name]))]
    assert not wrong, '\n\n'.join([f'KEYTURN_TEST_SEED={SEED}', *wrong])
    assert started > len(names) / 2, f'Podman has started {started} of {len(names)}'


if SETS:
    test_by_chance = by_chance

for _name in CASES:
    globals()['test_' + re.sub('[-@]', '_', _name)] = make_test(_name)
