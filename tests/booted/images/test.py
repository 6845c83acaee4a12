# SPDX-License-Identifier: LGPL-2.1-or-later
"""Images that come ahead of a container: Pull=, .image and .build files."""

import re
import time

import registry
import slow_registry

STORE = '/var/lib/containers/storage'
HTPASSWD = 'me:$2b$05$abcdefghijklmnopqrstuuOQiyCxlgf/oeuTqixKmWdcYUh4Hjl0a\n'


def container(machine, name, keys, more=''):
    machine.container(name, f'[Container]\nExec=sleep 1000\nStopSignal=SIGKILL\n{keys}\n{more}')


def forget(machine, *names):
    for name in names:
        machine.run(f'skopeo delete containers-storage:{registry.NAME}/{name}', check=False)


def has_run(machine, unit):
    return machine.show(unit, 'ExecMainStartTimestampMonotonic') != '0'


def test_what_is_missing_is_pulled_once_and_before(machine):
    registry.start(machine)
    registry.push(machine, 'app:1', env=['IS=pulled'])
    for name in 'ab':
        machine.container(name, f'[Container]\nExec=sleep 1000\nStopSignal=SIGKILL\nImage={registry.NAME}/app:1\n'
                                'Pull=missing\n', reload=False)
    machine.reload()
    machine.run('systemctl start a b')
    # Whose lines a process wrote that ended at once, the journal may not know; and one that began late has nothing to say.
    said = machine.journal()
    assert said.count('Copying config') == 1 and said.count('is there') <= 1, said
    assert f'Pulling {registry.NAME}/app:1: ' in ''.join(machine.show(f'keyturn-pull-{name}', 'StatusText') for name in 'ab')
    assert 'IS=pulled' in machine.run('keyturnctl exec a env').out
    # From now on nothing is executed, as long as the image is there.
    machine.reload()
    machine.run('systemctl stop a b; systemctl reset-failed; systemctl start a')
    assert machine.show('keyturn-pull-a', 'ConditionResult') == 'no'
    # Removed, it is pulled again.
    machine.run('systemctl stop a')
    forget(machine, 'app:1')
    machine.run('systemctl start a')
    assert machine.show('keyturn-pull-a', 'ConditionResult') == 'yes'
    forget(machine, 'app:1')


def test_no_container_waits_for_the_network(machine):
    machine.run("grep -q registry.test /etc/hosts || echo '127.0.0.1 registry.test' >>/etc/hosts")
    registry.start(machine, names=('registry.test:5000',))
    registry.push(machine, 'app:1')
    machine.run('systemctl stop network-online.target', check=False)
    container(machine, 'a', 'Image=localhost/test/busybox\nPull=missing')
    machine.run('systemctl start a')
    assert not has_run(machine, 'keyturn-pull-a'), 'something was executed for an image that is there'
    assert machine.show('network-online.target', 'ActiveState') == 'inactive'
    assert 'network-online' not in machine.run('systemctl list-dependencies --all a; systemctl show -p After a').out
    # What really pulls asks for it.
    container(machine, 'b', 'Image=registry.test:5000/app:1\nPull=missing')
    machine.run('systemctl start b')
    assert machine.show('network-online.target', 'ActiveState') == 'active'
    machine.run('skopeo delete containers-storage:registry.test:5000/app:1')


def test_newer_always_and_a_registry_that_is_away(machine):
    registry.start(machine)
    registry.push(machine, 'app:1', env=['IS=first'])
    container(machine, 'newer', f'Image={registry.NAME}/app:1\nPull=newer\nRetry=0')
    container(machine, 'always', f'Image={registry.NAME}/app:1\nPull=always\nRetry=1\nRetryDelay=10ms')
    container(machine, 'missing', f'Image={registry.NAME}/other\nPull=missing\nRetry=0')
    machine.run('systemctl start newer always')
    registry.push(machine, 'app:1', env=['IS=second'])
    machine.run('systemctl restart newer')
    assert 'IS=second' in machine.run('keyturnctl exec newer env').out
    registry.stop(machine)
    machine.run('systemctl restart newer')
    assert 'the one that is there is used' in machine.journal('keyturn-pull-newer.service').lower()
    assert machine.run('systemctl restart always', check=False).status != 0
    said = machine.journal('keyturn-pull-always.service')
    assert 'trying again' in said and 'connection refused' in said, said
    assert machine.run('systemctl start missing', check=False).status != 0
    machine.wait_for(lambda: machine.show('keyturn-pull-missing', 'SubState') == 'auto-restart')  # it is tried again
    for name in ('always', 'missing'):
        assert 'connection refused' in machine.show(name, 'StatusText'), name
    machine.run('systemctl stop keyturn-pull-missing')
    forget(machine, 'app:1')


def test_a_container_starts_when_its_image_comes(machine):
    """A registry that is away for a minute after the first boot."""
    registry.start(machine)
    registry.push(machine, 'late:1', env=['IS=late'])
    registry.stop(machine)
    machine.container('its.image', f'[Image]\nImage={registry.NAME}/late:1\nRetry=0\n[Service]\nRestartSec=3\n',
                      reload=False)
    machine.write('/etc/systemd/system/keyturn-pull-.service.d/soon.conf', '[Service]\nRestartSec=3\n')
    names = {'always': 'Pull=missing\nRetry=0\n[Service]\nRestart=always', 'never': 'Pull=missing\nRetry=0'}
    for name, more in names.items():
        container(machine, name, f'Image={registry.NAME}/late:1\n{more}')
    container(machine, 'shared', 'Image=its.image')
    container(machine, 'stopped', f'Image={registry.NAME}/late:1\nPull=missing\nRetry=0')
    machine.container('once', f'[Container]\nExec=touch /srv/once\nVolume=/srv:/srv\nImage={registry.NAME}/late:1\n'
                              'Pull=missing\nRetry=0\n[Service]\nType=oneshot')
    everything = ['always', 'never', 'shared', 'once', 'stopped']
    began = time.monotonic()
    assert machine.run(['systemctl', 'start', *everything], check=False).status != 0
    for name in everything:
        if name == 'once': # systemd takes no status of a oneshot
            continue
        unit = 'its-image' if name == 'shared' else f'keyturn-pull-{name}'
        said = machine.show(name, 'StatusText')
        assert said.startswith(f'{unit}.service: Image ') and 'connection refused' in said, said
        assert said in machine.journal(f'{name}.service'), 'not in the journal'
        assert machine.show(name, 'ExecMainStatus') == '199', name
    listed = machine.run('keyturnctl list').out
    assert 'next try in ' in listed and 'connection refused' in listed, listed
    # Nothing runs meanwhile, no start limit is reached, and a boot comes to its end.
    machine.wait_for(lambda: not machine.run('systemctl list-jobs --no-legend; pgrep keyturn-image', check=False).out)
    machine.run('systemctl reset-failed stopped; sleep 7')
    machine.wait_for(lambda: machine.show('keyturn-pull-always', 'SubState') in ('auto-restart', 'start'))
    assert 1 <= int(machine.show('keyturn-pull-always', 'NRestarts')) <= (time.monotonic() - began) / 3
    assert machine.show('always', 'NRestarts') == '0', 'it is started for nothing'
    registry.restart(machine)
    machine.wait_for(lambda: all(machine.show(name, 'ActiveState') == 'active' for name in everything[:3]), timeout=60)
    assert machine.run('keyturnctl exec never sh -c "echo \\$IS"').out == 'late\n'
    machine.wait_for(lambda: machine.run('test -e /srv/once', check=False).status == 0)
    machine.wait_for(lambda: machine.show('keyturn-pull-stopped', 'Result') == 'success')
    assert machine.show('stopped', 'ActiveState') == 'inactive', 'it was given up'
    machine.run(['systemctl', 'stop', *everything, 'its-image'])
    forget(machine, 'late:1')
    machine.run('rm -r /etc/systemd/system/keyturn-pull-.service.d')


def test_a_container_starts_although_systemd_does_not_listen_when_its_image_comes(machine):
    """It executes itself anew, again and again, as an update of its has it do once: nobody asked a second time."""
    registry.start(machine)
    registry.push(machine, 'late:1', env=['IS=late'])
    registry.stop(machine)
    container(machine, 'waits', f'Image={registry.NAME}/late:1\nPull=missing\nRetry=0')
    assert machine.run('systemctl start waits', check=False).status != 0
    registry.restart(machine)
    machine.run('systemctl reset-failed keyturn-pull-waits; systemctl start --no-block keyturn-pull-waits; '
                'for i in $(seq 100); do systemctl daemon-reexec; sleep 0.2; systemctl -q is-active waits && break; done',
                check=False, timeout=90)
    assert machine.show('waits', 'ActiveState') == 'active'
    machine.run('systemctl stop waits')
    forget(machine, 'late:1')


def test_an_image_file_makes_a_service_ahead(machine):
    machine.write('/run/test-registry/htpasswd', HTPASSWD)
    registry.start(machine)
    registry.push(machine, 'app:1', env=['IS=secret'])
    machine.write('/run/test-registry/config.yml', registry.CONFIG +
                  'auth: {htpasswd: {realm: x, path: /run/test-registry/htpasswd}}\n')
    registry.restart(machine)
    machine.container('its.image', f'[Image]\nImage={registry.NAME}/app:1\nTLSVerify=false\nRetry=0\nCreds=me:secret\n',
                      reload=False)
    container(machine, 'one', 'Image=its.image')
    machine.run('systemctl start one')
    assert 'IS=secret' in machine.run('keyturnctl exec one env').out
    assert machine.show('its-image', 'ActiveState') == 'active'
    # Root alone can read the password, and nobody sees it on a command line.
    assert machine.run('stat -c %a /run/systemd/generator/its-image.service.auth.json').out == '600\n'
    secrets = ('me:secret', 'bWU6c2VjcmV0')
    shown = machine.run('systemctl show its-image one; journalctl -b -o cat').out
    assert not any(secret in shown for secret in secrets)
    # A wrong one does not help, and says so.
    machine.run('systemctl stop one its-image')
    forget(machine, 'app:1')
    machine.container('its.image', f'[Image]\nImage={registry.NAME}/app:1\nTLSVerify=false\nRetry=0\nCreds=me:other\n')
    assert machine.run('systemctl start one', check=False).status != 0
    assert 'authentication required' in machine.journal('its-image.service')
    machine.run('systemctl stop one its-image')


def test_an_image_that_is_removed_comes_again(machine):
    """As podman image prune --all removes it, of a container whose .image file has brought it in this boot."""
    registry.start(machine)
    registry.push(machine, 'app:1', env=['IS=pulled'])
    machine.container('its.image', f'[Image]\nImage={registry.NAME}/app:1\nRetry=0\n[Service]\nRestartSec=2\n', reload=False)
    for name in ('one', 'two'):
        container(machine, name, 'Image=its.image', '[Service]\nRestart=on-failure\nRestartSec=200ms\n')
    machine.run('systemctl start one two')
    assert machine.show('its-image', 'ActiveState') == 'active'

    def remove():
        machine.run(f'podman rmi {registry.NAME}/app:1; ! podman image exists {registry.NAME}/app:1')
    remove()
    before = [machine.show(name, 'InvocationID') for name in ('one', 'two')]
    machine.run('systemctl kill -s KILL one two')
    # One that finds the other one's pull is started by what pulls: to systemd that is no restart.
    machine.wait_for(lambda: all(machine.show(name, 'ActiveState') == 'active' and machine.show(name, 'InvocationID') not in before
                                 for name in ('one', 'two')))
    assert machine.run('keyturnctl exec one env').out.count('IS=pulled') == 1
    # One that starts meanwhile is started when the image has come, without Restart=.
    machine.run('systemctl stop one two')
    remove()
    machine.container('its.image', f'[Image]\nImage={registry.NAME}/app:1\nRetry=0\n[Service]\nRestartSec=2\nExecStartPre=sleep 2\n', reload=False)
    for name in ('one', 'two'):
        container(machine, name, 'Image=its.image', '')
    machine.mark()
    assert machine.run('systemctl start --no-block one; sleep 1; systemctl start two', check=False).status
    assert machine.show('two', 'ExecMainStatus') == '199' and 'its-image.service has not brought' in machine.show('two', 'StatusText')
    machine.wait_for(lambda: all(machine.show(name, 'ActiveState') == 'active' for name in ('one', 'two')))
    assert machine.journal('its-image').count('Starting its-image.service') == 1, machine.journal('its-image')
    # Where it is only looked at what would be started, nothing is brought. Where it cannot be, it comes later.
    machine.run('systemctl stop one two')
    remove()
    line = re.search('^ExecStart=(.*)$', machine.run('systemctl cat one').out, re.M)[1].replace(' run ', ' run --print-spec ')
    assert machine.run(line.replace('%N', 'one'), check=False).status
    assert machine.run(f'podman image exists {registry.NAME}/app:1', check=False).status
    registry.stop(machine)
    assert machine.run('systemctl start one', check=False).status
    assert machine.show('one', 'ExecMainStatus') == '199' and 'its-image.service: ' in machine.show('one', 'StatusText')
    registry.restart(machine)
    machine.wait_for(lambda: machine.show('one', 'ActiveState') == 'active')
    machine.run('systemctl stop one its-image')
    forget(machine, 'app:1')


def test_that_a_power_cut_may_have_torn_an_image_is_said(machine):
    registry.start(machine)
    registry.push(machine, 'app:1', size=100000)
    container(machine, 'a', f'Image={registry.NAME}/app:1\nPull=missing\nRetry=0')
    machine.container('chosen.image', f'[Unit]\nConditionPathExists=|/no\nConditionPathExists=|/nor\n[Image]\nImage={registry.NAME}/app:1')
    machine.run('systemctl start a')

    def boot():
        """Whether something was executed, and what it said; and the marks that are left."""
        machine.mark()
        machine.reload()
        machine.run('systemctl reset-failed; systemctl restart a chosen-image')
        assert machine.show('chosen-image', 'ConditionResult') == 'no', 'as its file says'
        return (machine.show('keyturn-pull-a', 'ConditionResult') == 'yes', 'may be damaged' in machine.journal('keyturn-pull-a.service'),
                [mark for mark in machine.run('ls /var/lib/keyturn/unsynced').out.split()])
    assert boot() == (False, False, [])
    # Once, whatever image it was.
    registry.mark_cut(machine, 'other')
    assert boot() == (True, True, [])
    assert boot() == (False, False, [])
    # Not of what is on its way, nor of what came by who was killed then, nor before an update has been taken back by it.
    mark, notes = registry.find_mark('app:1'), registry.find_notes('app:1')
    registry.mark_begun(machine, mark)
    machine.run(f'systemd-run -q --collect --unit=brings flock {notes} sleep 1000')
    machine.wait_for(lambda: machine.run(f'flock -n {notes} true', check=False).status)
    assert boot() == (True, False, [mark.rpartition('/')[2]])
    machine.run('systemctl stop brings')
    assert boot() == (True, False, [])
    registry.mark_cut(machine, 'app:1')
    machine.write(registry.find_notes('app:1'), f'previous={"0" * 64}\n')
    assert boot() == (True, False, [mark.rpartition('/')[2]])
    registry.mark_cut(machine, 'other')
    assert boot() == (True, True, [mark.rpartition('/')[2]]), 'it says nothing of others'
    machine.run(f'rm {registry.find_notes("app:1")}')
    # What is said to be done helps.
    registry.tear(machine, 'app:1')
    assert boot() == (True, True, [])
    size = 'keyturnctl exec a stat -c %s /random'
    assert machine.run(size).out == '0\n'
    machine.run(f'systemctl stop a; podman rmi {registry.NAME}/app:1; systemctl reset-failed; systemctl start a')
    assert machine.run(size).out == '100000\n'
    forget(machine, 'app:1')


def test_what_a_power_cut_has_kept_from_being_written_goes_at_boot(machine):
    """A mark that was begun, and what had come; not a mark."""
    registry.mark_cut(machine, 'app:1')
    mark = registry.find_mark('app:1')
    machine.run(f'touch {mark}.new; mkdir -p /var/lib/keyturn/pulling/one; touch /var/lib/keyturn/pulling/one/file')
    keep = machine.run('find /var/lib/keyturn -type f').out.split()
    machine.run('systemd-tmpfiles --remove keyturn.conf')
    assert machine.run('find /var/lib/keyturn -type f').out.split() == keep, 'a pull may be at work'
    machine.run('systemd-tmpfiles --remove --boot keyturn.conf')
    assert machine.run('ls /var/lib/keyturn/unsynced').out.split() == [mark.rpartition('/')[2]]
    assert machine.run('ls /var/lib/keyturn/pulling', check=False).status
    machine.run(f'rm {mark}')


def test_layers_that_a_power_cut_may_have_torn_come_anew(machine):
    registry.start(machine)
    registry.push(machine, 'app:1', size=100000)
    container(machine, 'a', f'Image={registry.NAME}/app:1\nPull=missing\nRetry=0')
    machine.run('systemctl start a')
    mark = registry.find_mark('app:1')
    cut = mark.replace('unsynced', 'cut')
    registry.tear(machine, 'app:1')
    for is_cut in (False, True):
        machine.run('systemctl stop a')
        registry.lose(machine, 'app:1')
        if is_cut:
            registry.mark_cut(machine, 'app:1')
            # A registry that is away at first does not make it forget that.
            registry.stop(machine)
            machine.mark()
            assert machine.run('systemctl start a', check=False).status
            assert 'may be damaged' in machine.journal('keyturn-pull-a.service')
            assert machine.run(f'ls {mark} {cut}', check=False).out == f'{cut}\n'
            registry.restart(machine)
        machine.mark()
        machine.run('systemctl reset-failed; systemctl start a')
        assert ('pulled without that' in machine.journal('keyturn-pull-a.service')) == is_cut
        # Without the mark they are taken as they are.
        assert machine.run('keyturnctl exec a stat -c %s /random').out == ('100000\n' if is_cut else '0\n')
    assert machine.run(f'ls {mark} {cut}', check=False).out == ''
    # An image that nobody can find the layers of is removed as well.
    registry.tear(machine, 'app:1', all_of_it=True)
    machine.run('systemctl stop a')
    registry.lose(machine, 'app:1', only_its_name=True)
    registry.mark_cut(machine, 'app:1')
    machine.run('systemctl start a')
    assert machine.run('keyturnctl exec a stat -c %s /random').out == '100000\n'
    # So is one that has its name; and it is said once.
    registry.tear(machine, 'app:1', all_of_it=True)
    registry.mark_cut(machine, 'app:1')
    machine.mark()
    machine.run('systemctl reset-failed; systemctl restart a')
    said = machine.journal('keyturn-pull-a.service')
    assert said.count('may be damaged') == 1 and 'pulled without that' in said, said
    assert machine.run('keyturnctl exec a stat -c %s /random').out == '100000\n'
    assert machine.run(f'ls {mark} {cut}', check=False).out == ''
    forget(machine, 'app:1')


def test_what_is_said_of_damaged_files_helps(machine):
    """Of a layer, of the list of images, of secrets: without a power cut, nothing is removed by itself."""
    registry.start(machine)
    registry.push(machine, 'app:1', size=100000)
    machine.run('podman secret create one -', input='x')
    container(machine, 'a', f'Image={registry.NAME}/app:1\nPull=missing\nRetry=0\nSecret=one')
    machine.run('systemctl start a')
    images, secrets = f'{STORE}/overlay-images/images.json', f'{STORE}/secrets'
    for damage, said, helps in (
            ('', 'the store 1. If that stays so, remove the image', f'podman rmi {registry.NAME}/app:1'),
            (f'cp {images} /run/images.json; echo x >{images}', f"'{images}' is damaged; move it away", f'mv {images} /run/away'),
            (f'truncate -s 9 {secrets}/filedriver/*.json', "which Podman does not mend: move its directory 'secrets' away",
             f'rm -r {secrets}; echo x | podman secret create one -')):
        machine.run(damage) if damage else registry.tear(machine, 'app:1', all_of_it=True)
        machine.mark()
        if machine.run('systemctl restart a', check=False).status == 0:  # Debian 12's skopeo begins a new list
            assert machine.suite == 'bookworm' and images in damage, damage
            continue
        assert said in machine.journal('a.service'), machine.journal('a.service')
        machine.run(f'{helps}; systemctl reset-failed; systemctl start a')
    assert machine.run('keyturnctl exec a stat -c %s /random').out == '100000\n'
    machine.run(f'systemctl stop a; podman secret rm one; cp /run/images.json {images}')
    forget(machine, 'app:1')


def test_what_has_another_name_stays(machine):
    """Though its second name came after a power cut, or its disk did not take something: it was there, and runs."""
    registry.start(machine)
    registry.push(machine, 'app:1', size=100000)
    machine.run(f'skopeo copy -q docker://{registry.NAME}/app:1 docker://{registry.NAME}/app:2')
    container(machine, 'a', f'Image={registry.NAME}/app:1\nPull=missing')
    machine.run('systemctl start a')
    ids = registry.images(machine, f'{registry.NAME}/app:1')
    pull = f'/usr/lib/keyturn/keyturn-image pull --retry=0 --policy=missing -- {registry.NAME}/app:2'
    registry.mark_cut(machine, 'app:2')
    done = machine.run(pull)
    assert 'may be damaged' in done.err and 'pulled without' not in done.err, done
    machine.run(f'podman untag {registry.NAME}/app:2 {registry.NAME}/app:2')
    done = machine.run(f'strace -f -qq -e trace=syncfs -e inject=syncfs:error=EIO -o /run/traced {pull}', check=False)
    assert done.status == 125 and 'may be damaged' in done.err, done
    assert registry.images(machine, f'{registry.NAME}/app:1') == ids
    assert machine.run('keyturnctl exec a stat -c %s /random').out == '100000\n'
    machine.run('systemctl restart a')
    # Once more, as its disk did not take it; and as it comes whole, it is not remembered.
    for name in 'app:1', 'app:2':
        machine.run(f'podman untag {registry.NAME}/{name} {registry.NAME}/{name}', check=False)
    machine.run('systemctl stop a')
    for image in ids:
        machine.run(f'podman rmi -f {image}')
    assert 'pulled without' in machine.run(pull).err
    forget(machine, 'app:2')
    assert 'pulled without' not in machine.run(pull).err
    forget(machine, 'app:2')


def test_an_image_is_on_the_disk_before_it_is_said_to_be_there(machine):
    registry.start(machine)
    registry.push(machine, 'app:1', size=100000)
    machine.run('strace -f -qq -e trace=rename,fsync,execve,syncfs,unlink -o /run/traced '
                f'/usr/lib/keyturn/keyturn-image pull --policy=missing -- {registry.NAME}/app:1')
    mark = registry.find_mark('app:1')
    calls = [line.split(None, 1)[1] for line in machine.read('/run/traced').splitlines()
             if mark in line or re.search(r'(fsync|syncfs)\(.* = 0|execve\("[^"]*skopeo".* = 0', line)]
    steps = [re.match(r'\w+', call)[0] for call in calls]
    begin = steps.index('rename')
    assert steps[begin - 1:begin + 3] == ['fsync', 'rename', 'fsync', 'execve'] and steps[-3:] == ['syncfs', 'unlink', 'fsync'], calls
    assert mark in calls[begin] and mark in calls[-2], calls
    # What fails is no reason to look at all images after the next boot.
    registry.stop(machine)
    assert machine.run(f'/usr/lib/keyturn/keyturn-image pull --retry=0 -- {registry.NAME}/other', check=False).status
    assert machine.run('ls -A /var/lib/keyturn/unsynced').out == ''
    forget(machine, 'app:1')


def test_what_its_disk_does_not_take_does_not_stay(machine):
    registry.start(machine)
    registry.push(machine, 'app:1', env=['IS=first'], size=1000)
    pull = '/usr/lib/keyturn/keyturn-image pull --retry=0'
    fails = f'strace -f -qq -e trace=syncfs -e inject=syncfs:error=EIO -o /run/traced {pull}'
    name = f'{registry.NAME}/app:1'
    done = machine.run(f'{fails} --policy=missing -- {name}', check=False)
    assert done.status == 125 and 'cannot be written to the disk of the image store: Input/output error' in done.err, done
    assert 'does not stay' in done.err and not registry.images(machine, name)
    machine.run(f'{pull} --policy=missing -- {name}')
    first, everything = registry.images(machine, name), registry.images(machine)
    # One that is there keeps its name, and nothing else stays.
    registry.push(machine, 'app:1', env=['IS=second'], size=1000)
    done = machine.run(f'{fails} --policy=newer -- {name}')
    assert 'The one that is there is used' in done.err and 'Input/output error' in done.err, done
    assert registry.images(machine, name) == first and registry.images(machine) == everything
    machine.run(f'{pull} --policy=newer -- {name}')
    assert registry.images(machine, name) != first
    forget(machine, 'app:1')


def test_a_build_file_builds_once(machine):
    machine.run('rm -rf /srv/build; mkdir -p /srv/build')
    machine.write('/srv/build/Containerfile', 'FROM localhost/test/busybox\nARG WHAT\nENV IS=$WHAT\nCOPY file /file\n')
    machine.write('/srv/build/file', 'from the directory\n')
    machine.container('its.build', '[Build]\nImageTag=localhost/built\nFile=/srv/build/Containerfile\nBuildArg=WHAT=built\n'
                                   'Pull=never\n[Quadlet]\nDefaultDependencies=no\n', reload=False)
    container(machine, 'one', 'Image=its.build')
    for tool in ('podman', 'buildah'):
        machine.run('systemctl start one', timeout=60)
        assert machine.run('keyturnctl exec one sh -c "echo \\$IS; cat /file"').out == 'built\nfrom the directory\n'
        machine.reload()
        machine.run('systemctl stop one; systemctl start one')
        assert machine.show('its-build', 'ConditionResult') == 'no'
        # Who had built it was killed before it was on the disk.
        registry.mark_begun(machine, registry.find_mark('built', of='localhost'))
        machine.run('systemctl start its-build')
        assert 'is there' in machine.journal('its-build.service') and not machine.run('ls /var/lib/keyturn/unsynced').out
        machine.run('systemctl stop one; skopeo delete containers-storage:localhost/built')
        if tool == 'podman':
            machine.run('mv /usr/bin/podman /usr/bin/podman.away')
    machine.run('mv /usr/bin/podman.away /usr/bin/podman')


def test_builds_of_instances_with_a_network_of_their_own(machine):
    # Debian 12's Podman runs nothing on these machines; and its cache knows no arguments, so each could take the other's layer.
    runs = machine.suite != 'bookworm'
    machine.write('/srv/build/Containerfile', 'FROM localhost/test/busybox\nARG WHAT\nENV WHAT=$WHAT\n' +
                  ('RUN ip -4 addr show >/address\n' if runs else ''))
    machine.container('net@.network', '[Network]\nSubnet=10.77.%i.0/24\n', reload=False)
    machine.container('its@.build', '[Build]\nImageTag=localhost/built:%i\nFile=/srv/build/Containerfile\nBuildArg=WHAT=%i\n'
                                    'Network=net@%i.network\nPull=never\nPodmanArgs=--no-cache --ulimit=nofile=1000:1000 --ulimit=nproc=1000:1000\n'
                                    '[Quadlet]\nDefaultDependencies=no\n', reload=False)
    container(machine, 'app@', 'Image=its@.build')
    machine.run('systemctl start app@5 app@6', timeout=120)
    for name in '56':
        assert machine.run(f'keyturnctl exec app@{name} sh -c "echo \\$WHAT"').out == f'{name}\n'
        assert not runs or f' 10.77.{name}.' in machine.run(f'keyturnctl exec app@{name} cat /address').out
        assert machine.show(f'net-network@{name}', 'ActiveState') == 'active'
    machine.run('systemctl stop app@5 app@6 net-network@5 net-network@6; for i in 5 6; do keyturn-network delete --name systemd-net-$i; '
                'skopeo delete containers-storage:localhost/built:$i; done')


def test_instances_have_images_of_their_own(machine):
    registry.start(machine)
    for tag in ('a', 'b'):
        registry.push(machine, f'app:{tag}', env=[f'IS={tag}'])
    machine.container('its@.image', f'[Image]\nImage={registry.NAME}/app:%i\n[Quadlet]\nDefaultDependencies=no\n', reload=False)
    container(machine, 'one', 'Image=its@a.image')
    container(machine, 'app@', 'Image=its@.image')
    machine.run('systemctl start one app@b', timeout=60)
    for name, tag in (('one', 'a'), ('app@b', 'b')):
        assert machine.show(f'its-image@{tag}', 'Result') == 'success'
        assert f'IS={tag}' in machine.run(f'keyturnctl exec {name} env').out


def test_without_skopeo_it_is_podman_and_without_both_it_is_said(machine):
    registry.start(machine)
    registry.push(machine, 'app:1')
    container(machine, 'one', f'Image={registry.NAME}/app:1\nPull=missing\nRetry=0')
    try:
        machine.run('mv /usr/bin/skopeo /usr/bin/skopeo.away')
        machine.run('systemctl start one; systemctl stop one; mv /usr/bin/podman /usr/bin/podman.away')
        machine.run(f'rm -rf {STORE}/overlay-images.away; mv {STORE}/overlay-images {STORE}/overlay-images.away')
        assert machine.run('systemctl start one', check=False).status != 0
        assert 'neither skopeo nor podman is installed' in machine.journal('keyturn-pull-one.service')
    finally:
        machine.run(f'mv /usr/bin/podman.away /usr/bin/podman; mv /usr/bin/skopeo.away /usr/bin/skopeo; '
                    f'mv {STORE}/overlay-images.away {STORE}/overlay-images', check=False)
    forget(machine, 'app:1')


# ---- attacks


def test_a_name_is_never_an_option_or_another_place(machine):
    """What systemd puts into a name is checked when it is known."""
    machine.container('t@', '[Container]\nImage=%I\nPull=always\nRetry=0\n')
    machine.run('rm -f /srv/pwned')
    for name in ('--policy=never', '-x', 'dir:/etc', 'containers-storage:localhost/test/busybox', 'a b', '$(touch /srv/pwned)',
                 'registry.test/x --authfile=/etc/shadow', 'oci-archive:/etc/shadow', 'tarball:/etc/shadow'):
        unit = machine.run(['systemd-escape', '--template=t@.service', '--', name]).out.strip()
        assert machine.run(['systemctl', 'start', '--', unit], check=False).status != 0, name
        assert machine.run(['systemctl', 'show', '-p', 'ActiveState', '--value', '--', unit]).out != 'active\n'
        machine.run(['systemctl', 'stop', '--', unit])
    machine.run('! test -e /srv/pwned')
    said = machine.journal()
    assert said.count('is no image reference') + said.count('is not in the image store') >= 5, said
    assert 'root:' not in said


def test_no_pull_waits_for_ever(machine):
    registry.start(machine, names=(slow_registry.NAME,))
    registry.push(machine, 'app:1', size=1500000)
    container(machine, 'a', f'Image={slow_registry.NAME}/app:1\nPull=missing\nRetry=0')
    machine.write('/etc/containers/systemd/i.image', f'[Image]\nImage={slow_registry.NAME}/app:1\nRetry=0\n'
                                                     '[Service]\nTimeoutStartSec=2\n')
    machine.write('/etc/systemd/system/keyturn-pull-a.service.d/deadlines.conf',
                  '[Service]\nEnvironment=KEYTURN_STALL_SEC=6\nRestartSec=1h\n')
    machine.reload()
    assert machine.show('keyturn-pull-a', 'TimeoutStartUSec') == '4h'
    assert machine.show('i-image', 'TimeoutStartUSec') == '2s'
    for mode in ('accept', 'blob', 'trickle'):
        with slow_registry.run(machine, mode):
            machine.run('systemctl stop keyturn-pull-a') # which would else be tried again in an hour
            assert machine.run('systemctl start a', check=False).status != 0, mode
            assert 'did not get on for 6 s' in machine.journal('keyturn-pull-a.service'), mode
            assert machine.show('keyturn-pull-a', 'Result') == 'exit-code', mode
    with slow_registry.run(machine, 'accept'):
        assert machine.run('systemctl start i-image', check=False).status != 0
        assert machine.show('i-image', 'Result') == 'timeout'
    with slow_registry.run(machine, 'slow'):
        machine.run('systemctl stop keyturn-pull-a i-image; systemctl reset-failed; systemctl start a')
    machine.run(f'systemctl stop a; skopeo delete containers-storage:{slow_registry.NAME}/app:1')
