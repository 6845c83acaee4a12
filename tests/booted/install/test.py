# SPDX-License-Identifier: LGPL-2.1-or-later
"""keyturnctl install, uninstall and cat: what belongs together comes and goes together, and nothing else does."""

import json

BUSYBOX = 'localhost/test/busybox'
APPLICATIONS = '/etc/containers/systemd'


def container(more='', service=''):
    return f'[Container]\nImage={BUSYBOX}\nExec=sleep 1000\n{more}\n\n[Service]\nKillSignal=SIGKILL\n{service}'


def files_of(machine, application):
    return sorted(machine.run(f'cd {APPLICATIONS}/{application} && find . -type f').out.split())


def nothing_left(machine):
    left = machine.run('ls -lAR /etc/containers').out
    assert 'keyturn-install-' not in left, left


def test_a_file_and_what_it_names(machine):
    machine.write('/srv/work/one.container',
                  container('EnvironmentFile=one.env\nVolume=one.volume:/data\nVolume=./html:/html:ro\nVolume=/etc:/etc2:ro'))
    machine.write('/srv/work/one.env', 'COLOUR=red\n')
    machine.write('/srv/work/one.volume', '[Volume]\n')
    machine.write('/srv/work/other.container', container())
    machine.write('/srv/work/html/deep/index.html', 'hello\n')
    machine.write('/srv/work/one.container.d/10-more.conf', '[Container]\nEnvironment=SIZE=big\n')
    out = machine.ctl('install /srv/work/one.container')
    assert 'Installed in /etc/containers/systemd/one: 5 files.' in out and 'systemctl restart one.service' in out, out
    assert files_of(machine, 'one') == ['./.keyturn-installed', './html/deep/index.html', './one.container',
                                        './one.container.d/10-more.conf', './one.env', './one.volume']
    machine.run('systemctl start one')
    assert machine.run("keyturnctl exec one sh -c 'echo $COLOUR $SIZE; cat /html/deep/index.html'").out == 'red big\nhello\n'
    nothing_left(machine)
    shown = machine.ctl('cat one')
    for part in '# /etc/containers/systemd/one/one.container\n[Container]', '10-more.conf\n[Container]\nEnvironment=SIZE=big', \
            'ExecStart=/usr/lib/keyturn/libstart run', '# /run/systemd/generator/one.service':
        assert part in shown, (part, shown)
    files = json.loads(machine.ctl('cat --json one'))
    assert [file['file'].removeprefix(APPLICATIONS) for file in files] == [
        '/one/one.container', '/one/one.container.d/10-more.conf', '/run/systemd/generator/one.service'], files
    assert 'Environment=SIZE=big' in files[1]['text'] and 'libstart run' in files[2]['text'], files
    assert 'ExecStart=/usr/lib/keyturn/libstart volume' in machine.ctl('cat one-volume')
    assert 'one.container\n' in machine.ctl('cat systemd-one')

    assert 'one.service runs: stop it, or write --force' in machine.ctl('uninstall one', 125)
    machine.write(f'{APPLICATIONS}/one/mine.txt', 'mine\n')
    out = machine.ctl('uninstall --force one')
    assert 'Volumes, images and secrets stay' in out and 'that others have put there' in out, out
    assert files_of(machine, 'one') == ['./mine.txt']
    shown = machine.show('one.service', 'LoadState', 'MainPID')
    assert shown == {'LoadState': 'not-found', 'MainPID': '0'}, shown
    assert machine.run('podman volume ls -q 2>/dev/null; ls /var/lib/containers/storage/volumes').out
    assert 'was not installed by keyturnctl' in machine.ctl('uninstall one', 125)


def test_a_kube_file_without_its_yaml(machine):
    yaml = '{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "c1"}, "spec": {"containers": [{"name": "a", "image": "%s"}]}}'
    machine.write('/srv/kube/c1.yaml', yaml % BUSYBOX)
    machine.write('/srv/kube/c1.kube', '[Kube]\nYaml=c1.yaml\n')
    out = machine.ctl('install /srv/kube/c1.kube', 125)
    assert "'c1.yaml', which is named in one, was not taken along: write './c1.yaml' there, or name it here, too" in out, out
    machine.ctl('install /srv/kube/c1.kube /srv/kube/c1.yaml')
    machine.ctl('uninstall c1')
    machine.write('/srv/kube/c1.kube', '[Kube]\nYaml=./c1.yaml\n')
    machine.ctl('install /srv/kube/c1.kube')
    assert files_of(machine, 'c1') == ['./.keyturn-installed', './c1.kube', './c1.yaml']
    machine.ctl('uninstall c1')


def test_a_template_comes_with_its_instance(machine):
    machine.write('/srv/work/app@.container', container('Volume=data@.volume:/data\nVolume=cache@%i.volume:/cache'))
    machine.write('/srv/work/user.container', container('Volume=data@one.volume:/data'))
    for name in ('data', 'cache'):
        machine.write(f'/srv/work/{name}@.volume', '[Volume]\n')
    machine.ctl('install /srv/work/app@.container')
    assert files_of(machine, 'app@') == ['./.keyturn-installed', './app@.container', './cache@.volume', './data@.volume']
    machine.run('systemctl start app@a')
    assert machine.show('data-volume@a', 'ActiveState') == 'active'
    machine.ctl('uninstall --force app@')
    machine.ctl('install /srv/work/user.container')
    assert files_of(machine, 'user') == ['./.keyturn-installed', './data@.volume', './user.container']
    machine.run('systemctl start user')
    machine.ctl('uninstall --force user')


def test_a_directory_and_a_newer_one_in_its_place(machine):
    machine.write('/srv/shop/web.container', container('Pod=shop.pod'))
    machine.write('/srv/shop/db.container', container('Pod=shop.pod\nEnvironmentFile=./.env'))
    machine.write('/srv/shop/shop.pod', '[Pod]\n')
    machine.write('/srv/shop/.env', 'A=1\n')
    machine.write('/srv/shop/.git/config', 'x\n')
    machine.ctl('install /srv/shop/')
    assert files_of(machine, 'shop') == ['./.env', './.keyturn-installed', './db.container', './shop.pod', './web.container']
    machine.run('systemctl start web db')
    pid = machine.show('web', 'MainPID')
    assert 'is there already: --replace' in machine.ctl('install /srv/shop', 125)

    machine.write(f'{APPLICATIONS}/shop/web.container.d/50-mine.conf', '[Container]\nEnvironment=MINE=1\n')
    machine.run('rm /srv/shop/db.container /srv/shop/.env')
    machine.write('/srv/shop/web.container', container('Pod=shop.pod\nEnvironment=NEW=1'))
    machine.ctl('install --replace /srv/shop')
    assert files_of(machine, 'shop') == ['./.keyturn-installed', './shop.pod', './web.container',
                                         './web.container.d/50-mine.conf']
    assert machine.show('web', 'MainPID') == pid
    machine.run('systemctl restart web')
    assert machine.run("keyturnctl exec web sh -c 'echo $NEW$MINE'").out == '11\n'
    nothing_left(machine)
    machine.run('systemctl stop web db', check=False)
    machine.ctl('uninstall shop')
    assert files_of(machine, 'shop') == ['./web.container.d/50-mine.conf']


def test_what_was_installed_as_json(machine):
    machine.write('/srv/json/one.container', container('ExposeHostPort=80'))
    machine.write('/srv/json/two@.container', container())
    done = machine.run('keyturnctl install --json /srv/json </dev/null')
    installed, = json.loads(done.out)
    installed['files'].sort()
    assert installed == {'application': 'json', 'directory': f'{APPLICATIONS}/json',
                         'files': ['one.container', 'two@.container'], 'units': ['one.service']}, installed
    assert 'ExposeHostPort' in done.err, done.err
    machine.write('/srv/json/two@.container', container('Nonsense=1'))
    done = machine.run('keyturnctl install --json --replace /srv/json </dev/null', check=False)
    assert done.status == 125 and done.out == '' and 'Nonsense' in done.err, (done.out, done.err)
    machine.run('systemctl start one')
    removed, = json.loads(machine.ctl('uninstall --json --force json'))
    removed['files'].sort()
    assert removed == {'application': 'json', 'directory': f'{APPLICATIONS}/json', 'stopped': ['one.service'],
                       'files': ['one.container', 'two@.container'], 'left': 'no'}, removed


def test_what_is_wrong_is_not_installed(machine):
    machine.write('/srv/wrong/wrong.container', container('Netwrok=host'))
    out = machine.ctl('install /srv/wrong', 125)
    assert "wrong.container:4" in out and "is 'Network=' meant?" in out and 'Nothing was installed' in out, out
    assert '.keyturn-install' not in out, out
    machine.run(f'test ! -e {APPLICATIONS}/wrong')
    machine.write('/srv/links/a.container', container())
    machine.run('ln -s /etc/shadow /srv/links/shadow')
    assert "'/srv/links/shadow' is neither a file nor a directory" in machine.ctl('install /srv/links', 125)
    machine.write(f'{APPLICATIONS}/deep/there.container', container())
    machine.write('/srv/there.container', container())
    assert "There is '/etc/containers/systemd/deep/there.container' already" in machine.ctl('install /srv/there.container', 125)
    machine.write('/srv/empty/readme', 'x')
    assert 'There is no file of Quadlet' in machine.ctl('install /srv/empty', 125)
    assert 'There is no file' in machine.ctl('install /srv/nothing.container', 125)
    assert 'is no name of an application' in machine.ctl('uninstall ../systemd', 125)
    for words in 'install', 'uninstall', 'uninstall a b', 'cat':
        assert 'takes' in machine.ctl(words, 125)
    nothing_left(machine)


def test_systemd_does_not_reload(machine):
    machine.write('/srv/unread.container', container())
    said = machine.run(['unshare', '-m', 'sh', '-c', 'mount --bind /bin/false /usr/bin/systemctl; '
                        'keyturnctl install /srv/unread.container 2>&1'], check=False)
    assert said.status == 125 and f"in '{APPLICATIONS}/unread'; what is missing is 'systemctl daemon-reload'" in said.out, said
    assert files_of(machine, 'unread') == ['./.keyturn-installed', './unread.container']
    nothing_left(machine)


def test_several_in_one_file(machine):
    machine.write('/srv/pair.quadlets', f'# FileName=left\n{container()}\n---\n# FileName=right\n{container()}')
    machine.ctl('install /srv/pair.quadlets')
    assert files_of(machine, 'pair') == ['./.keyturn-installed', './left.container', './right.container']
    machine.run('systemctl start left right')
    machine.ctl('uninstall --force pair')
    machine.run(f'test ! -e {APPLICATIONS}/pair')
    assert machine.show('left', 'MainPID', 'LoadState') == {'MainPID': '0', 'LoadState': 'not-found'}


def test_a_list_that_leads_elsewhere(machine):
    """Root writes the lists, but what root unpacks somebody else has made."""
    machine.write(f'{APPLICATIONS}/evil/evil.container', container())
    machine.write('/srv/precious', 'x')
    for path in '../../../../srv/precious', '/srv/precious', 'a/../../x':
        machine.write(f'{APPLICATIONS}/evil/.keyturn-installed', f'evil.container\n{path}\n')
        assert 'is no file in there' in machine.ctl('uninstall evil', 125)
    machine.run(f'test -e /srv/precious && test -e {APPLICATIONS}/evil/evil.container')
    # A directory that is a link is not followed.
    machine.run(f'ln -s /srv {APPLICATIONS}/evil/link')
    machine.write(f'{APPLICATIONS}/evil/.keyturn-installed', 'evil.container\nlink/precious\n')
    machine.ctl('uninstall evil', 125)
    machine.run(f'test -e /srv/precious && rm -r {APPLICATIONS}/evil')


def test_from_a_server(machine):
    """curl fetches it. The machine has none; this one stands for it, and says what it was asked."""
    machine.write('/srv/far.container', container())
    assert 'install the package curl' in machine.ctl('install http://example.org/far.container', 125)
    machine.write('/usr/local/bin/curl', '''#!/bin/sh
        echo "$@" >/run/curl.words
        case "$*" in *nothing*) echo "curl: (22) 404" >&2; exit 22 ;; esac
        while [ "$1" != --output ]; do shift; done
        cp /srv/far.container "$2"
    ''', 0o755)
    machine.ctl('install https://example.org/a/far.container?raw=1')
    assert files_of(machine, 'far') == ['./.keyturn-installed', './far.container']
    words = machine.read('/run/curl.words')
    assert '--proto =http,https' in words and words.endswith('-- https://example.org/a/far.container?raw=1\n'), words
    out = machine.ctl('install https://example.org/nothing.container', 125)
    assert 'curl: (22) 404' in out and 'https://example.org/nothing.container' in out, out
    nothing_left(machine)


SLOW_CURL = '''#!/bin/sh
    while [ "$1" != --output ]; do shift; done
    touch /run/fetching
    while [ -e /run/fetching ]; do sleep 0.1; done
    cp /srv/slow.container "$2"
'''


def staged(machine):
    return machine.run('ls -Ad /etc/containers/.keyturn-install-* /tmp/keyturn-*', check=False).out.split()


def fetch(machine):
    machine.run('rm -f /run/fetching; systemd-run -q --collect --unit=fetch keyturnctl install http://example.org/slow.container')
    machine.wait_for(lambda: machine.run('test -e /run/fetching', check=False).status == 0)


def test_an_interrupted_one_leaves_nothing_to_the_next(machine):
    machine.write('/srv/slow.container', container())
    machine.write('/srv/quick.container', container())
    machine.write('/usr/local/bin/curl', SLOW_CURL, 0o755)
    fetch(machine)
    machine.run('systemctl kill -s INT fetch')
    machine.wait_for(lambda: machine.show('fetch', 'LoadState') == 'not-found')
    left = staged(machine)
    assert left
    fetch(machine)
    # What another one is at work on stays, and is for root alone until then.
    directory, = [path for path in staged(machine) if path not in left and 'install' in path]
    machine.ctl('install /srv/quick.container')
    assert staged(machine) == [directory] and machine.run(f'stat -c %a {directory}').out == '700\n'
    machine.run('rm /run/fetching')
    machine.wait_for(lambda: machine.show('fetch', 'LoadState') == 'not-found')
    assert files_of(machine, 'slow') == ['./.keyturn-installed', './slow.container'] and staged(machine) == []
    assert machine.run(f'stat -c %a {APPLICATIONS}/slow').out == '755\n'
    # Or the whole old one, which has changed places with the new one.
    assert with_systemctl(machine, 'kill -KILL $PPID', 'install --replace /srv/slow.container') == 137
    assert len(staged(machine)) == 1
    machine.ctl('install --replace /srv/quick.container')
    nothing_left(machine)
    for name in 'slow', 'quick':
        machine.ctl(f'uninstall {name}')


def with_systemctl(machine, script, words):
    machine.write('/run/systemctl', f'#!/bin/sh\n{script}\n', 0o755)
    return machine.run(['unshare', '-m', 'sh', '-c', 'mount --bind /run/systemctl /usr/bin/systemctl; '
                        f'keyturnctl {words}; exit $?'], check=False).status


def test_what_was_half_removed_can_be_removed(machine):
    machine.write('/srv/half/half.container', container())
    machine.write('/srv/half/deep/half.env', 'A=1\n')
    for script, status in (('echo no >&2; exit 1', 125), ('kill -KILL $PPID', 137)):
        machine.ctl('install /srv/half')
        assert with_systemctl(machine, script, 'uninstall half') == status
        assert machine.show('half', 'LoadState') == 'loaded' and files_of(machine, 'half') == ['./.keyturn-installed']
        assert 'Removed' in machine.ctl('uninstall half')
        assert machine.show('half', 'LoadState') == 'not-found'
    # It was killed at its very end.
    machine.run(f'mkdir {APPLICATIONS}/half')
    machine.ctl('install /srv/half')
    machine.ctl('uninstall half')
    machine.run(f'test ! -e {APPLICATIONS}/half')
