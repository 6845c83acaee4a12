# SPDX-License-Identifier: LGPL-2.1-or-later
"""keyturnctl says what there is, and a command that it runs has what the payload has, and no more."""

import json
import os
import pathlib
import re
import xml.dom.minidom

OTHERS_PACKAGES = (('linux-perf',),)

HERE = os.path.dirname(os.path.realpath(__file__))
BUSYBOX = 'localhost/test/busybox'
LAYERS = 'localhost/test/layers:4'
MAPPED = 'UIDMap=0:100000:65536\nGIDMap=0:200000:65536'

# What keyturnctl(8) promises.
LIST_KEYS = ['container', 'unit', 'state', 'health', 'image', 'image_id', 'created', 'address', 'ports', 'memory', 'cpu_ms', 'restarts',
             'since', 'start_ms']
INSPECT_KEYS = ['container', 'unit', 'source', 'state', 'pid', 'image', 'image_id', 'created', 'store', 'layers', 'command',
                'user', 'workdir', 'hostname', 'address', 'ports', 'mounts', 'cgroup', 'memory', 'cpu_ms', 'restarts', 'config']


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


def test_list(machine):
    container(machine, 'runs')
    container(machine, 'stays')
    machine.run('systemctl start runs')
    found = {c['unit']: c for c in json.loads(machine.ctl('list --json'))}
    assert found['runs.service']['container'] == 'systemd-runs'
    assert found['runs.service']['state'] == 'active (running)'
    assert found['runs.service']['image'] == BUSYBOX
    assert 1 < found['runs.service']['start_ms'] < 60_000
    assert found['stays.service']['state'] == 'inactive (dead)'
    assert found['stays.service']['start_ms'] is None
    assert "'x' is no number" in machine.ctl('end-payload runs x', 125)
    for words, status in ('list', 125), ('cat runs', 125), ('check --files-only', 2):  # those two by other programs
        full = machine.run(f'keyturnctl {words} >/dev/full', check=False)
        assert full.status == status and 'No space left on device' in full.err, full
    for words in 'systemd/system-generators/keyturn-generator --dry-run', 'keyturn/seccomp-precompile --list':
        full = machine.run(f'/usr/lib/{words} >/dev/full', check=False)
        assert full.status == 1 and 'No space left on device' in full.err, full
    for program in ('keyturnctl --help', 'keyturnctl list --help', 'keyturnctl --version', '/usr/lib/keyturn/libstart --help',
                    '/usr/lib/keyturn/keyturn-image --help', '/usr/lib/keyturn/libstart --version', '/usr/lib/keyturn/keyturn-relay --version',
                    '/usr/lib/systemd/system-generators/keyturn-generator --help', '/usr/lib/keyturn/seccomp-precompile --version'):
        full = machine.run(f'{program} >/dev/full', check=False)
        assert full.status == 125 and full.err.count('Cannot write to standard output') == 1, (program, full)
    text = machine.ctl('list')
    assert re.search(r'^systemd-runs +runs.service +active \(running\) +- +' + BUSYBOX, text, re.M), text
    assert '\033' not in text


def test_metrics(machine):
    container(machine, 'runs')
    container(machine, 'stays')
    machine.write('/etc/containers/systemd/refused.container', '[Container]\nImage=x\nNothing=y\n')
    machine.reload()
    machine.run('systemctl start runs')
    directory = '/var/lib/prometheus/node-exporter'
    machine.run(f'mkdir -p {directory} && systemctl start keyturn-metrics.service')
    text = machine.read(f'{directory}/keyturn.prom')
    assert machine.run(f'stat -c "%a %u" {directory}/keyturn.prom; ls -A {directory}').out == '644 0\nkeyturn.prom\n'
    values = {}
    for line in text.splitlines():
        match = re.fullmatch(r'# (?:HELP|TYPE) keyturn_container_\w+ .+|keyturn_container_(\w+)\{container="[^"]*",unit="([^"]*)"(.*)\} ([\d.]+)', line)
        assert match, line
        if match[1]:
            values[match[1], match[2]] = (float(match[4]), match[3])
    assert values['active', 'runs.service'][0] == 1 and values['active', 'stays.service'][0] == 0, text
    assert values['refused', 'refused.service'][0] == 1 and values['refused', 'runs.service'][0] == 0, text
    assert 0 < values['start_seconds', 'runs.service'][0] < 60 and ('start_seconds', 'stays.service') not in values, text
    assert re.fullmatch(f',image="{BUSYBOX}",image_id="[0-9a-f]{{64}}"', values['info', 'runs.service'][1]), text
    assert values['cpu_seconds_total', 'runs.service'][0] >= 0 and values['restarts_total', 'runs.service'][0] == 0, text
    assert re.sub(r'[\d.]+$', '', machine.ctl('metrics'), flags=re.M) == re.sub(r'[\d.]+$', '', text, flags=re.M)
    # The dashboard has all that is written; these containers have no checks, and the machine no controller for memory.
    with open(os.path.join(HERE, '../../../contrib/grafana/keyturn.json')) as file:
        shown = set(re.findall(r'keyturn_container_(\w+)\{', file.read()))
    assert {name for name, _ in values} <= shown and shown - {name for name, _ in values} <= {'healthy', 'memory_bytes'}, shown
    assert "Cannot write '/proc/x': No such" in machine.ctl('metrics -o /proc/x', status=125)
    # It would be a file in the place of everybody's.
    for path in '/dev/null', '/dev/stdout':
        assert 'is no file that could be replaced' in machine.ctl(f'metrics -o {path}', status=125)
    assert machine.run('stat -c %F /dev/null; readlink /dev/stdout').out == 'character special file\n/proc/self/fd/1\n'
    machine.run(f'rm -r {directory}')


def complete(machine, line):
    """What <Tab> offers after it."""
    script = f'''
        . /usr/share/bash-completion/completions/keyturnctl
        compopt() {{ :; }}
        COMP_LINE={line!r} COMP_WORDS=({line}{' ""' if line.endswith(' ') else ''}) COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
        _keyturnctl
        printf '%s\\n' "${{COMPREPLY[@]}}"
    '''
    return machine.run(['bash', '-c', script]).out.split()


def test_words_of_commands(machine):
    container(machine, 'runs')
    machine.run('systemctl start runs')
    assert [c['unit'] for c in json.loads(machine.ctl('list --json runs systemd-runs'))] == ['runs.service'] * 2
    assert 'no container' in machine.ctl('list runs nothing', status=125)
    shown = machine.ctl('exec --help')
    assert 'keyturnctl [OPTION…] exec NAME CMD...' in shown and 'run a command in a container' in shown, shown
    assert '--workdir' in shown and '--svg' not in shown, shown
    assert 'list: Unknown option --svg' in machine.ctl('list --svg', status=125)
    machine.run('logger -t x one; systemctl restart runs; journalctl --sync', check=False)
    for words in ('logs -n 1 runs', 'logs --tail 1 runs', 'logs runs -n 1'):
        assert len(machine.ctl(words).splitlines()) == 1, words
    # A terminal has what fits.
    narrow = machine.run(['script', '-qec', 'stty cols 40; keyturnctl list', '/dev/null'], env={'NO_COLOR': '1'}).out
    assert all(len(line.rstrip('\r')) <= 40 for line in narrow.splitlines()) and 'UNIT' in narrow, narrow


    assert json.loads(machine.ctl('--version --json'))[0]['json'] == 1
    # What somebody says who thinks of files.
    assert json.loads(machine.ctl('inspect runs.container --json'))[0]['unit'] == 'runs.service'
    assert "There is no container 'shop-pod'; of pods, see keyturnctl pods" in machine.ctl('inspect shop-pod', status=125)
    assert 'see keyturnctl list' in machine.ctl('inspect runs.contain', status=125)


def test_completion(machine):
    container(machine, 'camera')
    assert complete(machine, 'keyturnctl vol') == ['volumes']
    assert complete(machine, 'keyturnctl check --f') == ['--files-only']
    assert 'exec' in complete(machine, 'keyturnctl ')
    assert complete(machine, 'keyturnctl exec cam') == ['camera']
    assert set(complete(machine, 'keyturnctl exec ')) >= {'camera', 'systemd-camera'}
    assert complete(machine, 'keyturnctl analyze --s') == ['--svg']
    assert complete(machine, 'keyturnctl list --s') == []
    assert complete(machine, 'keyturnctl cp cam') == ['camera:']
    assert complete(machine, 'keyturnctl -H node1 vol') == ['volumes']
    assert complete(machine, 'keyturnctl -H node1 exec cam') == complete(machine, 'keyturnctl -H ') == []


def test_two_containers_of_one_name(machine):
    container(machine, 'twin1', 'ContainerName=twin')
    container(machine, 'twin2', 'ContainerName=twin')
    machine.run('systemctl start twin1 twin2')
    for words in ('exec twin true', 'cp twin:/etc/passwd /run/x', 'inspect twin', 'shell twin true', 'logs twin'):
        assert "Two containers are called 'twin': say twin1.service or twin2.service" in machine.ctl(words, status=125), words
    machine.ctl('exec twin2 true')
    assert 'has the same name' in machine.run('/usr/lib/systemd/system-generators/keyturn-generator --dry-run 2>&1').out


def test_what_podman_has_started(machine):
    """A service that runs, and whose unit becomes keyturn's: as when keyturn is installed beside Podman."""
    machine.unit('taken.service', '[Service]\nExecStart=/bin/sleep 1000\n')
    machine.run('systemctl start taken; rm /etc/systemd/system/taken.service /run/systemd/system/taken.service', check=False)
    container(machine, 'taken')
    assert 'active (running), started by Podman' in machine.ctl('list taken')
    for words in ('exec taken true', 'cp taken:/etc/passwd /run/x', 'diff taken', 'shell taken true'):
        assert 'taken.service was started by Podman; to hand it over, systemctl restart taken.service' in \
            machine.ctl(words, status=125), words
    machine.run('systemctl restart taken')
    machine.ctl('exec taken true')


def test_what_is_taken_over(machine):
    """As after an installation beside Podman: which services, and what becomes of each."""
    machine.unit('runs.service', '[Service]\nExecStart=/bin/sleep 1000\n')
    machine.run('systemctl start runs; rm /etc/systemd/system/runs.service /run/systemd/system/runs.service', check=False)
    for name in ('runs', 'stays', 'many@'):
        container(machine, name, 'Network=none')
    machine.container('left', f'[Container]\nImage={BUSYBOX}\n')
    assert machine.ctl('check --taken') == ''  # Podman's generator is masked
    generator = '/run/systemd/system-generators/podman-system-generator'
    machine.write(generator, '#!/bin/sh\n')
    machine.run(f'chmod +x {generator}')
    try:
        said = machine.ctl('check --taken')
        assert "  runs.service: Podman has started it, and it runs on; 'systemctl restart runs.service' hands it over (after podman stop" in said, said
        assert "  stays.service: does not run; its next start is keyturn's\n" in said, said
        assert "  many@.service: of its instances the next start is keyturn's\n" in said and 'left' not in said, said
        assert said in machine.ctl('check')
        assert 'runs.service' not in machine.ctl('check --files-only').partition("Podman's generator")[2]
        machine.run('systemctl restart runs')
        assert '  runs.service: keyturn has started it\n' in machine.ctl('check --taken')
    finally:
        machine.run(f'rm -f {generator}')
    assert 'takes neither' in machine.ctl('check --taken /etc', status=125)


def test_list_says_how_it_failed(machine):
    machine.container('exits', f'[Container]\nImage={BUSYBOX}\nExec=sh -c "exit 7"\n')
    container(machine, 'dies')
    machine.run('systemctl start exits dies; systemctl kill --signal=SIGKILL dies')
    for name in ('exits', 'dies'):
        machine.wait_for(lambda name=name: machine.show(name, 'ActiveState') == 'failed')
    found = {c['unit']: c['state'] for c in json.loads(machine.ctl('list --json'))}
    assert found['exits.service'] == 'failed (exit status 7)', found
    assert found['dies.service'] == 'failed (signal SIGKILL)', found
    machine.run('systemctl reset-failed exits dies')


def test_what_runs(machine):
    """list and inspect name the image that runs, also when its name has become another one's."""
    machine.run('podman tag ' + BUSYBOX + ' localhost/test/moves')
    container(machine, 'runs', 'Network=none', image='localhost/test/moves')
    container(machine, 'other', f'Network=host\n{MAPPED}')
    container(machine, 'stays')
    machine.run('systemctl start runs other')
    ids = [machine.run(f'podman image inspect -f "{{{{.Id}}}}" {image}').out.strip() for image in (BUSYBOX, LAYERS)]
    machine.run(f'podman tag {LAYERS} localhost/test/moves')
    found = {c['container']: c for c in json.loads(machine.ctl('list --json'))}
    runs, other, stays = (found[f'systemd-{name}'] for name in ('runs', 'other', 'stays'))
    assert runs['image_id'] == other['image_id'] == ids[0][:12] and stays['image_id'] is None, found
    assert runs['created'] == '1970-01-01T00:00:00Z' and runs['cpu_ms'] > 0 and runs['restarts'] == 0, runs
    assert runs['address'] == ['none'] and other['address'] == ['host'] and stays['address'] is None, found
    # A machine of nspawn's has no memory controller.
    assert list(runs) == LIST_KEYS and runs['memory'] is None, runs
    assert machine.ctl('list -q').split() == ['systemd-other', 'systemd-runs', 'systemd-stays']
    facts = json.loads(machine.ctl('inspect runs --json'))[0]
    assert list(facts) == INSPECT_KEYS, facts
    assert facts['image_id'] == ids[0] and facts['command'] == ['sleep', '1000'] and facts['user'] == '0:0', facts
    assert facts['source'] == '/etc/containers/systemd/runs.container' and facts['pid'] > 1, facts
    assert len(facts['layers']) == 1 and 'proc:/proc' in facts['mounts'], facts
    assert re.search(r'^ +IMAGE-ID: ' + ids[0], machine.ctl('inspect systemd-runs'), re.M)
    stopped = json.loads(machine.ctl('inspect stays --json'))[0]
    assert stopped['pid'] is None and stopped['cgroup'] is None, stopped
    assert '\nSourcePath=/etc/containers/systemd/runs.container\n' in machine.ctl('report runs.container')
    assert 'takes one container' in machine.ctl('inspect', 125)
    machine.run('systemctl stop runs; podman untag localhost/test/moves')


def test_logs_and_top(machine):
    container(machine, 'runs', image='localhost/test/debian')
    machine.container('says', f'[Container]\nImage={BUSYBOX}\nExec=sh -c "echo words; exec sleep 1000"\nStopSignal=SIGKILL\n')
    machine.run('systemctl start says')
    machine.wait_for(lambda: 'words' in machine.ctl('logs says -o cat'))
    assert machine.ctl('logs says -o cat --grep words -n 1') == 'words\n'
    assert json.loads(machine.ctl('logs says --json --grep words -n 1'))['MESSAGE'] == 'words'
    said = machine.ctl('logs -n few says', 1)
    assert 'Failed to parse' in said and "'few'" in said, said
    machine.run('keyturnctl logs -f says -o cat >/run/followed 2>&1 & echo $! >/run/follower')
    machine.wait_for(lambda: 'words' in machine.run('cat /run/followed').out)
    machine.run('kill $(cat /run/follower); rm /run/follow*')
    assert '/system.slice/says.service' in machine.ctl('top says --batch --iterations=1')
    assert 'is not running' in machine.ctl('top runs', 125)


def test_diff(machine):
    """What the payload has written, and nothing that was there before, or that keyturn has made."""
    machine.run('mkdir -p /srv/data')
    container(machine, 'quiet', 'Volume=/srv/data:/deep/down/data\nHostName=quiet\nUser=1234:1235', image='localhost/test/nginx')
    container(machine, 'writes', 'Volume=/srv/data:/data\nTmpfs=/scratch', image='localhost/test/debian')
    container(machine, 'mapped', MAPPED, image='localhost/test/debian')
    machine.run('systemctl start quiet writes mapped; sleep 0.2')
    for name in ('quiet', 'writes', 'mapped'):
        assert json.loads(machine.ctl(f'diff {name} --json')) == [], name
    for name in ('writes', 'mapped'):
        machine.run(f"""keyturnctl exec {name} sh -c '
            mkdir -p /new/below /empty; echo words >/new/below/file; echo more >>/etc/passwd; rm /etc/debian_version
            chmod 700 /srv; ln -s / /new/link; mkfifo /new/fifo; rm -r /usr/share/doc; touch /tmp/x; rm /tmp/x
            touch -r /bin/sh /etc/issue; mv /etc/hosts /etc/hosts.old'""")
        machine.run('keyturnctl exec writes touch /data/x /scratch/x')
        found = {(c['change'], c['type'], c['path']) for c in json.loads(machine.ctl(f'diff {name} --json'))}
        assert found == {('added', 'directory', '/new'), ('added', 'directory', '/new/below'),
                         ('added', 'file', '/new/below/file'), ('added', 'directory', '/empty'),
                         ('changed', 'file', '/etc/passwd'), ('deleted', 'file', '/etc/debian_version'),
                         ('changed', 'directory', '/srv'), ('added', 'link', '/new/link'), ('added', 'fifo', '/new/fifo'),
                         ('deleted', 'directory', '/usr/share/doc'), ('changed', 'file', '/etc/issue'),
                         ('added', 'file', '/etc/hosts.old'), ('deleted', 'file', '/etc/hosts')} - \
            ({('deleted', 'file', '/etc/hosts')} if not in_image(machine, name, '/etc/hosts') else set()), found
    assert re.search(r'^added +file +6B +/new/below/file$', machine.ctl('diff writes'), re.M)
    machine.run('mkdir -p /srv/root && cp -a /bin/busybox /srv/root')
    machine.container('plain', '[Container]\nRootfs=/srv/root\nExec=/busybox sleep 1000\nStopSignal=SIGKILL\n')
    machine.container('over', '[Container]\nRootfs=/srv/root:O\nExec=/busybox sleep 1000\nStopSignal=SIGKILL\n')
    machine.run('systemctl start plain over; keyturnctl exec over /busybox touch /written')
    assert "writes to '/srv/root' itself" in machine.ctl('diff plain', 125)
    assert [c['path'] for c in json.loads(machine.ctl('diff over --json'))] == ['/written']
    machine.run('systemctl stop plain over; rm -r /srv/root /srv/data')


def in_image(machine, name, path):
    layers = json.loads(machine.ctl(f'inspect {name} --json'))[0]['layers']
    return any(os.path.lexists(machine.path(layer) + path) for layer in layers)


def test_cp(machine):
    """Into a container and out of it, with the names and owners that podman gives."""
    machine.run('rm -rf /srv/data /root/t; mkdir -p /srv/data /root/t/tree/below; chmod 777 /srv/data; echo one >/root/t/one')
    machine.run('cd /root/t/tree && echo two >below/two && ln -s two below/link && chmod 750 below && mkfifo fifo')
    for name, more, owner in (('box', 'User=1234:1235', (1234, 1235)), ('mapped', f'{MAPPED}\nUser=7:8', (7, 8))):
        container(machine, name, f'{more}\nVolume=/srv/data:/data', image='localhost/test/debian')
        machine.run(f'systemctl start {name}')
        stat = f'exec {name} stat -c "%u %g %a"'
        assert machine.ctl(f'cp /root/t/one {name}:/tmp') == ''
        assert machine.ctl(f'{stat} /tmp/one') == '{} {} 644\n'.format(*owner)
        assert machine.ctl(f'exec {name} cat /tmp/one') == 'one\n'
        assert '1 left out' in machine.ctl(f'cp /root/t/tree {name}:/tmp/new')
        assert machine.ctl(f'{stat} /tmp/new/below') == '{} {} 750\n'.format(*owner)
        assert machine.ctl(f'exec -u 0 {name} cat /tmp/new/below/link') == 'two\n'
        machine.ctl(f'cp /root/t/tree/. {name}:/tmp')
        machine.ctl(f'cp /root/t/tree {name}:/tmp/new')
        for path in ('/tmp/below/two', '/tmp/new/tree/below/two'):
            assert machine.ctl(f'exec -u 0 {name} cat {path}') == 'two\n', path
        # Out again: the caller's, whoever wrote it.
        machine.run(f'cd /root/t && keyturnctl cp {name}:/tmp/new out-{name} && keyturnctl cp {name}:tmp/one .')
        assert machine.run(f'cd /root/t && stat -c "%u:%g %a" out-{name}/below && cat out-{name}/tree/below/two').out == \
            '0:0 750\ntwo\n'
        machine.ctl(f'cp /root/t/one {name}:/data/{name}')
        machine.ctl(f'cp {name}:/data/{name} {name}:/tmp/again')
        assert machine.ctl(f'exec {name} cat /tmp/again') == 'one\n'
    # What is replaced is replaced whole, and what is a directory stays one.
    machine.ctl('cp box:/etc/os-release /root/t/one')
    assert machine.read('/root/t/one').startswith('PRETTY_NAME')
    for words, said in (('a b', 'is NAME:PATH of a container'), ('box:/none /tmp', "Cannot open '/none' in the container"),
                        ('/root/t/one box:/none/x', "There is no directory for '/none/x' in the container"),
                        ('/root/t/one box:/tmp/none/', "There is no directory '/tmp/none/'"),
                        ('- box:/tmp', 'for a stream'), ('nope:/x /tmp', "no container 'nope'"),
                        ('box:/dev/null /tmp/x', 'neither a file nor a directory'),
                        ('/root/t/tree box:/tmp/one', "Cannot copy '/root/t/tree'"),
                        ('--limit=1k box:/bin/bash /root/t/bash', '--limit=')):
        assert said in machine.ctl(f'cp {words}', 125), words
    assert machine.run('ls -A /root/t | grep -c keyturnctl', check=False).out == '0\n'
    machine.run('rm -r /root/t')


def test_shell(machine):
    """The host's tools, on an image that has none."""
    machine.run('mkdir -p /srv/root && cp /bin/busybox /srv/root/busybox && echo words >/srv/root/file')
    machine.container('bare', '[Container]\nRootfs=/srv/root:O\nExec=/busybox sleep 1000\nNetwork=none\nStopSignal=SIGKILL\n'
                              f'HostName={64 * "x"}\n')
    machine.run('systemctl start bare')
    pid = machine.show('bare', 'MainPID')
    assert machine.ctl("shell bare sh -c 'cat file; pwd; echo $ROOT $PAYLOAD; hostname; cat /proc/net/dev | wc -l'") == \
        f'words\n/run/keyturn/bare/.private/root\n/run/keyturn/bare/.private/root {pid}\n{64 * "x"}\n3\n'
    result = machine.run(['script', '-qec', 'SHELL=/bin/bash keyturnctl shell bare', '/dev/null'], check=False,
                         input='cat file; echo status $((3 + 4)); exit 3\n')
    assert 'words' in result.out and 'status 7' in result.out and result.status == 3, result
    assert 'Cannot execute' in machine.ctl('shell bare nonesuch', 127)
    assert machine.run('findmnt -n /tmp; findmnt -n -t overlay /run/keyturn/bare/.private/root', check=False).out.count('keyturnctl') == 0
    machine.run('systemctl stop bare; rm -r /srv/root')


def test_instances(machine):
    container(machine, 'many@')
    machine.run('systemctl start many@one many@two')
    assert {c['unit'] for c in json.loads(machine.ctl('list --json'))} >= {'many@one.service', 'many@two.service'}
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
        assert 'broken@x.service' in machine.ctl('exec broken@x true', 125)
    finally:
        machine.run('systemctl stop whole; systemctl reset-failed broken@x strange')


def test_a_name_that_is_anothers_unit(machine):
    machine.container('aaa', f'[Container]\nImage={BUSYBOX}\nContainerName=zzz\nHostName=wrong\nExec=sleep 1000\n'
                             'StopSignal=SIGKILL\n')
    machine.container('zzz', f'[Container]\nImage={BUSYBOX}\nHostName=right\nExec=sleep 1000\nStopSignal=SIGKILL\n')
    machine.run('systemctl start aaa zzz')
    assert machine.ctl('exec zzz hostname') == 'right\n'
    machine.run('systemctl stop aaa zzz')


def test_variables(machine):
    """systemd puts them in only when it starts the service."""
    machine.container('variable', f'''
        [Container]
        Image={BUSYBOX}
        ContainerName=to-${{WHAT}}-job
        Volume=${{WHERE}}:/data
        Exec=sleep 1000

        [Service]
        Environment=WHERE=/srv WHAT=31
        KillSignal=SIGKILL
    ''')
    machine.run('systemctl start variable')
    assert [(c['unit'], c['container'], c['state']) for c in json.loads(machine.ctl('list --json'))] == \
        [('variable.service', 'to-31-job', 'active (running)')]
    for name in ('variable', 'to-31-job'):
        machine.ctl(f'exec {name} test -d /data')
    machine.run('systemctl stop variable')
    assert [c['container'] for c in json.loads(machine.ctl('list --json'))] == ['to-${WHAT}-job']


def test_no_longer_a_container(machine):
    """What systemd does not start as one, though the generator's file is there, does not hide the others."""
    container(machine, 'stays')
    for name in ('masked', 'replaced'):
        container(machine, name)
    machine.write('/etc/systemd/system/replaced.service.d/own.conf', '[Service]\nExecStart=\nExecStart=sleep 1000\n')
    machine.run('ln -s /dev/null /etc/systemd/system/masked.service; systemctl daemon-reload')
    try:
        assert machine.show('masked', 'LoadState') == 'masked'
        assert [c['unit'] for c in json.loads(machine.ctl('list --json'))] == ['stays.service']
        machine.ctl('images')
        assert "no container 'masked'" in machine.ctl('exec masked true', 125)
    finally:
        machine.run('rm /etc/systemd/system/masked.service')


def wait_for_phases(machine, name):
    """libstart writes them down after the start."""
    machine.wait_for(lambda: 'total' in machine.run(f'cat /run/keyturn/{name}/.timing', check=False).out)


def test_analyze(machine):
    container(machine, 'runs')
    machine.run('systemctl start runs')
    wait_for_phases(machine, 'runs')
    text = machine.ctl('analyze runs')
    assert re.search(r'^runs.service: \d+ us\n  launch +\d+ +(.*\n)+.* #', text), text
    phases = json.loads(machine.ctl('analyze --json'))
    assert {p['phase'] for p in phases} >= {'image', 'mounts', 'confine', 'hand-over'}, phases
    assert machine.ctl('analyze --svg systemd-runs').startswith('<svg xmlns=')
    machine.run('systemctl stop runs')
    said = machine.ctl('analyze runs', 125)
    assert said.startswith('keyturnctl: error: runs.service is not running') and 'journalctl -u runs' in said, said


def test_profile_says_what_it_needs(machine):
    container(machine, 'runs')
    machine.run('systemctl start runs')
    assert "'perf' is not installed: Debian's package linux-perf" in machine.ctl('profile --seconds 1 runs', 125)
    for words, said in (('profile --seconds 1', 'takes the container'), ('profile runs', '--starts, for which'),
                        ('profile --starts 1 --seconds 1 runs', '--starts, for which'), ('profile --starts 1001 runs', 'No more than 1000'),
                        ('profile --starts 1 -o /dev/null runs', "'/dev/null' is no file"),
                        ('profile --starts 1 nothing', "There is no container 'nothing'")):
        assert said in machine.ctl(words, 125), words
    said = machine.run('setpriv --reuid=65534 --clear-groups keyturnctl profile --seconds 1 runs', check=False)
    assert said.status == 125 and 'Only root' in said.err, said
    machine.run('systemctl stop runs')
    assert 'runs.service is not running' in machine.ctl('profile --seconds 1 runs', 125)


# It calls itself what would be run by a browser, and executes a file that is a FIFO on the host: who opens that waits.
BUSY = r"""
    [Container]
    Image=localhost/test/busybox
    Exec=sh -c 'busybox cp /bin/busybox /busybox-evil; exec /busybox-evil sh -c "echo -n \\"</g><script>\\" >/proc/self/comm; while :; do :; done"'
    StopSignal=SIGKILL
"""


def profile(machine, words):
    for _ in range(5):
        done = machine.run(f'keyturnctl profile --json --output /tmp/profile.svg {words}', check=False)
        # perf's own: it could not read that somebody, on whatever machine beside this one, has loaded a BPF program (KSYMBOL).
        if 'failed to process type: 17' not in done.err:
            break
    assert done.status == 0, done
    rows = json.loads(done.out)
    svg = machine.read('/tmp/profile.svg')
    xml.dom.minidom.parseString(svg)
    assert svg.count('<script') == 1, svg[:1000]
    return {(row['part'], row['function']): row['ms'] for row in rows}, svg


def test_profile(machine):
    """By a real perf, and nothing of it is left, whatever the payload does and whoever is killed."""
    with machine.another(packages=('linux-perf',)) as other:
        other.container('busy', BUSY)
        container(other, 'runs')
        other.run('mkfifo -m 666 /busybox-evil; systemctl start busy')
        rows, svg = profile(other, '--seconds 2 busy')
        before = rows['payload', '[busybox-evil]']
        assert 20 < before <= rows['payload', None] <= 2000 * os.cpu_count(), rows
        assert '>&lt;/g&gt;&lt;script&gt;</text>' in svg, svg[:2000]
        other.run('systemctl stop busy; cp /tmp/profile.svg /tmp/busy.svg')

        # More starts than StartLimitBurst= allows, and samples of all that take part.
        rows, svg = profile(other, '--starts 20 runs')
        assert {part for part, function in rows if not function} >= {'PID 1', 'systemd-executor', 'libstart', 'payload', 'others'}, rows
        assert 'do_syscall_64' in svg and ' (kernel): ' in svg and '[libstart]' not in svg.split('>payload<')[0].split('>libstart<')[1]
        assert other.show('runs', 'ActiveState') == 'active'

        # What it is compared with.
        other.unit('native', '[Service]\nExecStart=sleep 1000\n')
        native, _ = profile(other, '--starts 20 native.service')
        whole = [sum(ms for (part, function), ms in found.items() if not function and part not in ('idle', 'others'))
                 for found in (native, rows)]
        assert 0 < whole[0] < whole[1] and not {part for part, _ in native} & {'libstart'}, (native, rows)
        assert "There is no container 'native'" in other.ctl('profile --starts 1 native', 125)
        assert 'nothing.service not found' in other.ctl('profile --starts 1 nothing.service', 125)
        assert "There is no container 'native.service'" in other.ctl('profile --seconds 1 native.service', 125)

        # The one that was busy in the first has gone in the second.
        changes = json.loads(other.run('keyturnctl profile --json --diff /tmp/busy.svg /tmp/profile.svg --output /tmp/diff.svg').out)
        busy, = (row for row in changes if row['function'] == '[busybox-evil]')
        assert abs(busy['before'] - before) < 0.002 and busy['after'] == 0 and busy['change'] == -busy['before'], (busy, before)
        assert len(changes) == 10 + len({row['part'] for row in changes if not row['function']}), changes
        xml.dom.minidom.parseString(other.read('/tmp/diff.svg'))
        other.run('keyturnctl profile --diff /tmp/diff.svg /tmp/busy.svg')
        for words, said in (('/tmp/busy.svg', 'takes two pictures'), ('/tmp/busy.svg /etc/hosts', "'/etc/hosts': it is no picture"),
                            ('/tmp/busy.svg /nothing', 'is not there'), ('--starts 1 /tmp/busy.svg /tmp/diff.svg', 'neither --starts')):
            assert said in other.ctl(f'profile --diff {words}', 125), words

        other.container('broken', f'[Container]\nImage={BUSYBOX}\nExec=/nothing\n')
        said = other.ctl('profile --starts 2 broken', 125)
        assert 'systemctl start: ' in said and 'broken.service' in said, said
        other.run('systemd-run --unit=watcher keyturnctl profile --seconds 600 runs')
        other.wait_for(lambda: other.run('pgrep -x perf', check=False).status == 0)
        other.run('systemctl kill --kill-whom=main --signal=KILL watcher')
        other.wait_for(lambda: other.run('pgrep -x perf', check=False).status == 1)
        assert other.run('ls -A /tmp | grep -c keyturn-profile', check=False).out == '0\n'

        for name in ('spin', 'maps'):
            other.build(f'keyturnctl/{name}.c', f'/srv/{name}')

        # Of code that has no file, perf asks a file that any user of the machine may have made.
        other.unit('spins', '[Service]\nExecStart=/srv/spin\n')
        other.run('systemctl start spins; mkfifo -m 666 /tmp/perf-$(systemctl show -P MainPID spins).map; systemctl start runs')
        rows, _ = profile(other, '--seconds 1 runs')
        assert rows['others', None] > 100, rows
        other.run('systemctl stop spins; rm /tmp/perf-*.map')

        # perf records what a payload maps, with its name.
        other.write('/srv/grow', '#!/bin/sh\nd=$(printf "/%0240d" $(seq 15)); mkdir -p "$d" && cp /maps "$d" && exec "$d/maps"\n', mode=0o755)
        container(other, 'grows', 'Volume=/srv/maps:/maps:ro\nVolume=/srv/grow:/grow:ro\nExec=/grow')
        other.run('systemctl start grows')
        said = other.ctl('profile --seconds 150 grows', 125)
        assert 'perf size limit reached' in said, said
        other.run('systemctl stop grows')


def test_plot_of_the_boot(machine):
    """All starts of the boot on one axis, and none that came later."""
    said = machine.ctl('analyze --svg', 125)
    assert 'No container has been started at boot' in said, said

    def prepare(root):
        os.makedirs(f'{root}/etc/containers/systemd', exist_ok=True)
        for name, more in (('first', 'KillSignal=SIGKILL'), ('second', 'KillSignal=SIGKILL\nExecStartPre=sleep 0.2')):
            with open(f'{root}/etc/containers/systemd/{name}.container', 'w') as file:
                file.write(f'[Container]\nImage={BUSYBOX}\nExec=sleep 1000\n[Service]\n{more}\n'
                           '[Install]\nWantedBy=multi-user.target\n')

    with machine.another(prepare) as other:
        other.wait_for(lambda: other.show('second', 'ActiveState') == 'active')
        container(other, 'later')
        other.run('systemctl start later')
        for name in ('first', 'second', 'later'):
            wait_for_phases(other, name)
        svg = xml.dom.minidom.parseString(other.run('keyturnctl analyze --svg').out)
        text = [node.firstChild.data for node in svg.getElementsByTagName('text') if node.firstChild]
        rows = [line for line in text if 'service' in line]
        assert [row.split()[0] for row in rows] in (['first.service', 'second.service'], ['second.service', 'first.service'])
        phases = [node.firstChild.data for node in svg.getElementsByTagName('title')]
        assert sum(phase.startswith('image ') for phase in phases) == 2, phases
        assert other.run('keyturnctl analyze --svg later').out.startswith('<svg')


def test_images(machine):
    container(machine, 'there')
    layers = {i['unit']: i for i in json.loads(machine.ctl('images --json'))}['there.service']
    assert layers['layers'] == 1 and layers['problem'] is None and layers['store'].startswith('/'), layers
    container(machine, 'missing', image='localhost/no/such:image')
    found = {i['unit']: i for i in json.loads(machine.ctl('images --json', 1))}
    assert 'localhost/no/such:image' in found['missing.service']['problem'], found
    assert found['there.service']['problem'] is None
    machine.container('broken', '[Container]\nImage=localhost/test/busybox\nNettwork=host\n')
    found = {i['unit']: i for i in json.loads(machine.ctl('images --json', 1))}
    assert 'refused: systemctl cat broken.service' in found['broken.service']['problem'], found


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
    assert machine.ctl("exec runs sh -c 'echo $OF; pwd; exit 7'", 7) == 'container\n/tmp\n'
    assert machine.ctl("exec -e OF=me -w / -u 5:6 systemd-runs sh -c 'echo $OF; pwd; id -u; id -g'") == 'me\n/\n5\n6\n'
    # As for any other user, what the payload as root may do is only a bound.
    caps = machine.ctl('exec -u 5 runs cat /proc/self/status')
    assert re.search(r'^CapPrm:\t0+\nCapEff:\t0+$', caps, re.M) and re.search(r'^CapAmb:\t0+$', caps, re.M), caps
    assert machine.ctl('exec runs ls -d /tmp') == '/tmp\n'
    assert machine.ctl("exec runs sh -c 'kill -9 $$'", 137) == ''
    assert 'not found' in machine.ctl('exec runs nonesuch', 127)
    machine.ctl('exec runs /etc/passwd', 126)
    assert "no container 'nope'" in machine.ctl('exec nope true', 125)
    assert 'takes a container and a command' in machine.ctl('exec runs', 125)
    said = machine.ctl('exec nobody', 125)
    assert 'takes a container and a command' in said and 'nobody' not in said and 'GLib' not in said, said
    assert 'NAME=VALUE' in machine.ctl('exec -e nothing runs true', 125)
    machine.run('rm /run/keyturn/runs/systemd-runs/seccomp.bpf')
    assert 'has a seccomp filter' in machine.ctl('exec runs true', 125)
    machine.run('systemctl stop runs')
    assert 'runs.service is not running' in machine.ctl('exec runs true', 125)


def test_exec_of_what_is_not_there(machine):
    container(machine, 'camera', 'ContainerName=cam')
    machine.run('systemctl start camera')
    said = machine.ctl('exec camera zsh', status=127)
    assert "keyturnctl: error: The container has no 'zsh': to look at it with the host's programs, keyturnctl shell cam" in said, said
    # What a shell in it does not find is the shell's affair.
    assert 'keyturnctl' not in machine.ctl('exec camera sh -c zsh', status=127)
    # Nor is it the command that is not there.
    said = machine.run("unshare -m sh -c 'mount -t tmpfs tmpfs /sys/fs/cgroup && exec keyturnctl exec camera true'", check=False).err
    assert "Cannot enter the container's control group" in said and 'keyturnctl shell' not in said, said


def test_exec_as_somebody(machine):
    """Names are those of the container's own files, with its groups."""
    container(machine, 'runs', image='localhost/test/debian')
    container(machine, 'mapped', MAPPED, image='localhost/test/debian')
    machine.run('systemctl start runs mapped')
    for name in ('runs', 'mapped'):
        machine.run(f"keyturnctl exec {name} sh -c 'echo me:x:77:78::/:/bin/sh >>/etc/passwd; echo mine:x:79:me >>/etc/group'")
        for user, ids in (('me', '77 78 78 79'), ('me:mine', '77 79 79'), ('77', '77 78 78 79'), ('5:6', '5 6 6')):
            assert machine.ctl(f"exec -iu {user} {name} sh -c 'echo $(id -u) $(id -g) $(id -G)'") == f'{ids}\n', user
    assert "no user 'nosuch' in the container" in machine.ctl('exec -u nosuch runs true', 125)
    assert "no group 'nosuch' in the container" in machine.ctl('exec -u 0:nosuch runs true', 125)


def test_exec_tty(machine):
    """With -t it has a terminal of its own: the caller's, which it could type into, is none of the container's."""
    container(machine, 'runs')
    machine.run('systemctl start runs')
    command = r'sh -c "test -t 0 && test -c \$(readlink /proc/self/fd/0)"'
    for words, status in (('exec runs', 1), ('exec -t runs', 0)):
        result = machine.run(['script', '-qec', f'keyturnctl {words} {command}', '/dev/null'], check=False)
        assert result.status == status, (words, result)
    assert 'standard input is none: leave out -t' in machine.ctl('exec -t runs true', 125)
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
    assert 'A command is missing' in machine.ctl('', 125)
    assert "no command 'start'" in machine.ctl('start x', 125)
    assert 'takes no arguments' in machine.ctl('networks x', 125)
    assert 'keyturnctl ' in machine.ctl('--version')
    shown = machine.ctl('--help')
    assert 'exec NAME CMD' in shown and 'keyturnctl --user COMMAND' in shown, shown
    assert len({line.index(text) for line in shown.splitlines() for text in ('containers, their state', 'what was installed together')
                if text in line}) == 1, shown
    # Without systemd, too.
    for word in 'inspect', 'logs', 'diff', 'exec', 'shell', 'cp', 'profile':
        said = machine.run(['unshare', '-m', 'sh', '-c', f'mount -t tmpfs x /run/systemd; keyturnctl {word} 2>&1'], check=False)
        assert said.status == 125 and f"'{word}' takes" in said.out, said
    assert machine.ctl('check /srv/nowhere', 2).startswith('keyturnctl: error: ')
    # The journal's prefix is for the journal, and not for a file that a service writes to.
    machine.run('systemd-run -q --wait -p StandardError=file:/run/said sh -c "keyturnctl inspect; :"')
    assert machine.run('cat /run/said; rm /run/said').out.startswith("keyturnctl: error: 'inspect' takes")
    machine.run('systemd-run -q --wait -u says-it sh -c "keyturnctl inspect; :"')
    machine.wait_for(lambda: "'inspect' takes" in machine.journal('says-it'))
    assert machine.run('journalctl -u says-it -o cat -p err --grep=takes').out.startswith("'inspect' takes")


def test_words_of_libstart(machine):
    """Its help says all that the synopsis of its page says."""
    page = pathlib.Path(__file__).parents[3] / 'man/libstart.8.md'
    synopsis = page.read_text().partition('# SYNOPSIS')[2].partition('# DESCRIPTION')[0]
    shown = machine.run('/usr/lib/keyturn/libstart --help').out.partition('Start a container')[0]
    words = {'libstart', *re.findall(r'\*\*([a-z-]+)\*\*', synopsis)}
    assert len(words) > 15 and words <= set(re.findall('[a-z-]+', shown)), (words, shown)
    said = machine.run('/usr/lib/keyturn/libstart frob 2>&1', check=False)
    assert said.status == 125 and 'see libstart --help' in said.out, said
    # Of run, -h is --hostname; alone it is what it is of others.
    assert machine.run('/usr/lib/keyturn/libstart run -h other --uts private localhost/test/busybox hostname').out == 'other\n'
    for words in '-h', 'run -h', 'volume -h':
        assert 'Start a container' in machine.run(f'/usr/lib/keyturn/libstart {words}').out, words
    said = machine.run('/usr/lib/keyturn/libstart volume --opt x=y vague 2>&1', check=False)
    assert said.status == 125 and "--opt: 'x=y': there are device=" in said.out, said
    assert machine.run('/usr/lib/keyturn/libstart volume --opt copy vague && rm -r /var/lib/containers/storage/volumes/vague').status == 0
    for program in ('keyturn-cdi', 'keyturn-hooks', 'keyturn-image', 'keyturn-kube', 'keyturn-network', 'keyturn-relay',
                    'keyturn-verify', 'libstart', 'seccomp-precompile'):
        assert re.fullmatch(rf'{program} [\d.]+\n', machine.run(f'/usr/lib/keyturn/{program} --version').out), program
    assert machine.run('/usr/lib/keyturn/keyturn-hooks --frob', check=False).err.startswith('keyturn-hooks: error: ')
    said = machine.run('/usr/lib/keyturn/libstart pod up 2>&1', check=False)
    assert said.status == 125 and "name of a pod's service" in said.out, said
    # As the page has it: no name, and no image.
    said = machine.run('/usr/lib/keyturn/libstart userns by-hand --userns auto no-such-image 2>&1').out
    assert "The ids of 'by-hand' are found at its start" in said, said
    machine.run('/usr/lib/keyturn/libstart userns by-hand --uidmap 0:100000:10 -; test -e /run/keyturn/userns/by-hand; '
                '/usr/lib/keyturn/libstart userns --unpin by-hand')
