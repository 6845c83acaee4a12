# SPDX-License-Identifier: LGPL-2.1-or-later
"""keyturnctl update: new images for containers with AutoUpdate=, and the way back."""

import json
import os
import random
import re
import time

import registry
import slow_registry

BAD = {
    'cannot-be-executed': ['/no/such/program'],
    'ends-soon': ['sh', '-c', 'sleep 0.3; exit 1'],
}


def kill_update(machine, name='one', watch=60, of=''):
    """An update that is killed when the new image of the container has been started, or has ended already."""
    before = machine.show(name, 'InvocationID')
    machine.run(f'systemd-run -q --collect --unit=killed keyturnctl update {of} --watch={watch}')
    machine.wait_for(lambda: machine.show(name, 'InvocationID') != before)
    machine.run('systemctl kill -s KILL killed', check=False)
    wait_for_killed(machine)


def wait_for_killed(machine):
    """Its processes hold locks until they are gone, and its name can be used again."""
    machine.wait_for(lambda: machine.show('killed', 'LoadState') == 'not-found')


def prepare(machine, *names, keys='', policy='registry', more=''):
    """Containers that run the first image of the registry."""
    registry.start(machine)
    registry.push(machine, 'app:1', env=['IS=first'])
    machine.run(f'rm -rf /var/lib/keyturn/images; skopeo delete containers-storage:{registry.NAME}/app:1', check=False)
    for name in names or ('one',):
        machine.container(name, f'[Container]\nImage={registry.NAME}/app:1\nStopSignal=SIGKILL\nAutoUpdate={policy}\n'
                                f'Pull=missing\n{keys}\n{more}', reload=False)
    machine.reload()
    machine.run(f'systemctl start {" ".join(names) or "one"}')


def update(machine, *words, status=0, watch=None):
    """What is said of each container: its name -> its line. What ends soon is seen before the time of `watch` is over, which is
    short for what works."""
    watch = watch or (10 if status else 1)
    done = machine.run(['keyturnctl', 'update', '--json', f'--watch={watch}', *words], check=False)
    assert done.status == status, done
    return {line['unit'].removesuffix('.service'): line for line in json.loads(done.out)}


def runs(machine, name='one'):
    """Which image it is, by a variable of the image."""
    environment = machine.run(f"tr '\\0' '\\n' </proc/{machine.show(name, 'MainPID')}/environ").out
    return next(line[3:] for line in environment.splitlines() if line.startswith('IS='))


def test_a_new_image_is_pulled_and_started(machine):
    prepare(machine)
    assert update(machine)['one']['updated'] == 'false'
    pid = machine.show('one', 'MainPID')
    registry.push(machine, 'app:1', env=['IS=second'])
    assert update(machine, '--dry-run')['one']['updated'] == 'pending'
    assert machine.show('one', 'MainPID') == pid
    line = update(machine)['one']
    assert (line['updated'], line['policy'], line['image']) == ('true', 'registry', f'{registry.NAME}/app:1'), line
    assert runs(machine) == 'second'
    pid = machine.show('one', 'MainPID')
    assert update(machine)['one']['updated'] == 'false'
    assert machine.show('one', 'MainPID') == pid
    # One that does not run is left alone.
    machine.run('systemctl stop one')
    assert 'does not run' in update(machine)['one']['problem']


def test_systemd_that_executes_itself_anew_says_nothing_of_an_image(machine):
    """As its own update has it do, it closes all connections for a third of a second: a good image was rolled back for that."""
    prepare(machine)
    registry.push(machine, 'app:1', env=['IS=second'])
    machine.run('systemd-run -q --collect --unit=anew sh -c "while sleep 0.4; do systemctl daemon-reexec; done"')
    try:
        line = update(machine, watch=8)['one']
    finally:
        machine.wait_for(lambda: machine.run('systemctl stop anew', check=False).status == 0)
    assert line['updated'] == 'true' and runs(machine) == 'second', line
    assert update(machine)['one']['updated'] == 'false'


def test_an_image_that_its_disk_does_not_take_is_no_update(machine):
    prepare(machine)
    before, pid = registry.images(machine), machine.show('one', 'MainPID')
    registry.push(machine, 'app:1', env=['IS=second'], size=1000)
    done = machine.run('strace -f -qq -e trace=syncfs -e inject=syncfs:error=EIO -o /run/traced keyturnctl update --json --watch=1',
                       check=False)
    line, = json.loads(done.out)
    assert done.status == 1 and line['updated'] == 'failed' and 'Input/output error' in line['problem'], done
    assert (machine.show('one', 'MainPID'), registry.images(machine)) == (pid, before)
    machine.run('systemctl restart one')
    assert runs(machine) == 'first'
    assert update(machine)['one']['updated'] == 'true' and runs(machine) == 'second'


def test_a_bad_image_is_rolled_back_and_leaves_nothing(machine):
    prepare(machine)
    before = registry.images(machine)
    for turn in range(int(os.environ.get('KEYTURN_TEST_ROLLBACKS', 2)) // len(BAD)):
        for bad, cmd in BAD.items():
            registry.push(machine, 'app:1', cmd, env=[f'IS={bad}-{turn}'], size=100000)
            line = update(machine, status=1)['one']
            assert line['updated'] == 'rolled back', line
            assert (machine.show('one', 'ActiveState'), runs(machine)) == ('active', 'first')
            assert registry.images(machine) == before
    assert len(machine.run('ls /var/lib/keyturn/images').out.split()) == 2  # the name's and the command's own
    # The same image is not tried again by itself, be it by Pull=, or over a reboot; by its name it is.
    pid = machine.show('one', 'MainPID')
    line = update(machine)['one']
    assert line['updated'] == 'false' and 'rolled back' in line['problem'], line
    assert machine.show('one', 'MainPID') == pid
    machine.container('one', machine.read('/etc/containers/systemd/one.container').replace('Pull=missing', 'Pull=always'))
    machine.run('systemctl restart one')
    assert runs(machine) == 'first' and 'not pulled again' in machine.journal('keyturn-pull-one.service')
    # Nor where nobody says which one the registry has.
    machine.write('/usr/local/bin/skopeo', '#!/bin/sh\ncase "$*" in *inspect*) exit 1;; esac\nexec /usr/bin/skopeo "$@"\n', mode=0o755)
    machine.run('systemctl restart one; rm /usr/local/bin/skopeo')
    assert runs(machine) == 'first' and 'may have what did not work' in machine.journal('keyturn-pull-one.service')
    # Nor where it cannot be told for a moment what is in the store.
    done = machine.run('strace -f -qq -o /run/traced -P /etc/containers/storage.conf -e trace=openat -e inject=openat:error=EMFILE:when=1 '
                       f'/usr/lib/keyturn/keyturn-image pull --policy=always {registry.NAME}/app:1', check=False)
    assert 'INJECTED' in machine.read('/run/traced') and done.status == 0 and 'not pulled again' in done.err, done
    assert update(machine, 'one', status=1)['one']['updated'] == 'rolled back'
    # And one that works comes.
    registry.push(machine, 'app:1', env=['IS=third'])
    assert update(machine)['one']['updated'] == 'true'
    assert runs(machine) == 'third'


def test_a_pull_that_fails_or_is_killed_forgets_no_rollback(machine):
    """Of the image that is tried once more, by its name: the next update would try it by itself, and Pull= would bring it."""
    prepare(machine)
    registry.push(machine, 'app:1', BAD['ends-soon'], env=['IS=bad'], size=1000)
    assert update(machine, status=1)['one']['updated'] == 'rolled back'
    for what, status in (('exit 1', 1), ('kill -KILL $PPID', 137)):
        machine.write('/usr/local/bin/skopeo', f"""#!/bin/sh
            case "$*" in *docker:*containers-storage:*) {what};; esac
            exec /usr/bin/skopeo "$@"
        """, mode=0o755)
        assert machine.run('keyturnctl update one', check=False).status == status
        machine.run('rm /usr/local/bin/skopeo')
        line = update(machine)['one']
        assert line['updated'] == 'false' and 'rolled back' in line['problem'] and runs(machine) == 'first', (what, line)


def test_a_restart_limit_does_not_keep_the_old_one_from_starting(machine):
    prepare(machine, more='[Service]\nRestart=always\nRestartSec=50ms\n[Unit]\nStartLimitBurst=2\nStartLimitIntervalSec=1h\n')
    registry.push(machine, 'app:1', BAD['ends-soon'], env=['IS=bad'])
    assert update(machine, status=1)['one']['updated'] == 'rolled back'
    assert (machine.show('one', 'ActiveState'), runs(machine)) == ('active', 'first')


def test_a_restart_before_ours_is_over_does_not_count(machine):
    """systemd's own, of a service that has failed: as a payload that is killed before systemctl says that it is up."""
    prepare(machine, more='[Service]\nRestart=always\nRestartSec=50ms\n[Unit]\nStartLimitIntervalSec=0\n')
    registry.push(machine, 'app:1', BAD['cannot-be-executed'], env=['IS=bad'])
    machine.write('/usr/local/bin/systemctl', """#!/bin/sh
        /usr/bin/systemctl "$@" || exit
        [ "$2" = restart ] || exit 0
        /usr/bin/systemctl kill --signal=KILL one
        until [ "$(/usr/bin/systemctl show --value --property=NRestarts one)" -ge 1 ] &&
              /usr/bin/systemctl --quiet is-active one; do sleep 0.05; done
    """, mode=0o755)
    line = update(machine, status=1)['one']
    assert line['updated'] == 'rolled back', line
    assert machine.show('one', 'NRestarts') != '0' and runs(machine) == 'first'


def test_containers_of_one_image_are_updated_together(machine):
    prepare(machine, 'a', 'b')
    # Only one of them cannot live with the new image.
    machine.container('b', machine.read('/etc/containers/systemd/b.container').replace(
        '[Container]\n', '[Container]\nEnvironment=B=1\n'))
    machine.run('systemctl restart b')
    registry.push(machine, 'app:1', ['sh', '-c', 'test -z $B && exec sleep 1000'], env=['IS=second'])
    lines = update(machine, status=1)
    assert {line['updated'] for line in lines.values()} == {'rolled back'}, lines
    assert (runs(machine, 'a'), runs(machine, 'b')) == ('first', 'first')
    registry.push(machine, 'app:1', env=['IS=third'])
    assert {line['updated'] for line in update(machine).values()} == {'true'}
    assert (runs(machine, 'a'), runs(machine, 'b')) == ('third', 'third')


def test_who_runs_what_was_replaced_is_told(machine):
    """Its files are gone when the image is removed, which has no name any more."""
    prepare(machine, 'a', 'b')
    machine.container('b', machine.read('/etc/containers/systemd/b.container').replace('AutoUpdate=registry\n', ''))
    machine.run('systemctl restart b')
    registry.push(machine, 'app:1', env=['IS=second'])
    said = machine.run('keyturnctl update --watch=1').err
    assert 'b.service runs an image' in said and 'a.service runs' not in said, said
    machine.run('systemctl restart b')
    said = machine.run('keyturnctl update --watch=1').err
    assert 'runs an image' not in said, said


def test_health_decides(machine):
    """The payload runs on, and its health check says that it does not work."""
    prepare(machine, 'one', 'two', keys='HealthCmd=test $$IS != sick\nHealthInterval=300ms\nHealthRetries=2')
    registry.push(machine, 'app:1', env=['IS=sick'])
    line = update(machine, status=1)['one']
    assert line['updated'] == 'rolled back' and 'not healthy' in line['problem'], line
    assert runs(machine) == 'first'
    registry.push(machine, 'app:1', env=['IS=well'])
    assert update(machine)['one']['updated'] == 'true'
    assert (runs(machine), runs(machine, 'two')) == ('well', 'well')


def test_an_interrupted_update_is_ended_by_the_next_one(machine):
    """It is killed when the new image has the name, and nobody knows yet whether that works."""
    for env, cmd, updated, status, image in (('bad', ['sh', '-c', 'sleep 5; exit 1'], 'rolled back', 1, 'first'),
                                             ('good', ['sleep', '1000'], 'true', 0, 'good')):
        prepare(machine)
        registry.push(machine, 'app:1', cmd, env=[f'IS={env}'])
        # It waits for READY=1 of the start job, or watches: in both cases the new image is in its place.
        kill_update(machine)
        if env == 'bad':
            machine.wait_for(lambda: machine.show('one', 'ActiveState') == 'failed')
        assert update(machine, status=status)['one']['updated'] == updated
        assert (machine.show('one', 'ActiveState'), runs(machine)) == ('active', image)


def test_a_power_cut_is_ended_at_the_next_boot(machine):
    """The machine comes up with the new image, and nobody asks for an update."""
    for env, cmd, image in (('bad', ['sh', '-c', 'sleep 3; exit 1'], 'first'), ('good', ['sleep', '1000'], 'good')):
        machine.run('systemctl stop one; systemctl reset-failed', check=False)
        prepare(machine, more='[Install]\nWantedBy=multi-user.target\n')
        dropin = '/run/systemd/generator/multi-user.target.d/50-keyturn-update.conf'
        assert 'Wants=keyturn-update-resume.service' in machine.read(dropin)
        registry.push(machine, 'app:1', cmd, env=[f'IS={env}'])
        kill_update(machine)
        # A boot: all are started anew, and then what multi-user.target wants.
        machine.run('systemctl stop one; systemctl start one')
        assert machine.run('systemctl start keyturn-update-resume', check=False).status == (env == 'bad')
        assert (machine.show('one', 'ActiveState'), runs(machine)) == ('active', image)
        assert machine.run('test -e /var/lib/keyturn/images/updating', check=False).status != 0
        assert machine.show('one', 'NRestarts') == '0'
        # The next boot has nothing to do.
        machine.run('systemctl start keyturn-update-resume')
        assert machine.show('keyturn-update-resume', 'ConditionResult') == 'no'


def interrupt(machine, cmd, name='one', size=0):
    """An update that is killed when the new image has its name."""
    registry.push(machine, 'app:1', cmd, env=['IS=new'], size=size)
    kill_update(machine, name, of=name)


def resume(machine):
    """What a boot does when all containers have started: what it says of `one`, its lines of the journal."""
    since = machine.run('date +%s.%N').out.strip()
    machine.run('systemctl reset-failed keyturn-update-resume; systemctl start keyturn-update-resume', check=False)
    machine.sync_journal()
    said = machine.run(f'journalctl -o cat --since=@{since} -u keyturn-update-resume').out
    return next((line for line in said.splitlines() if line.startswith('one.service')), said)


def test_what_may_be_torn_is_taken_back_and_comes_again(machine):
    """The power was cut when the new image had its name, and before it was on the disk."""
    prepare(machine)
    machine.run('systemctl start one')
    interrupt(machine, ['sleep', '1000'])
    machine.run('systemctl stop one; systemctl start one')
    assert runs(machine) == 'new'
    registry.mark_cut(machine, 'app:1')
    said = resume(machine)
    assert 'rolled back' in said and 'may not be whole' in said and runs(machine) == 'first', said
    assert update(machine)['one']['updated'] == 'true' and runs(machine) == 'new'
    assert machine.run(f'test -e {registry.find_mark("app:1")}', check=False).status


def test_an_image_that_no_container_can_start_from_is_taken_back(machine):
    """The power was cut when the new image had its name, and nothing else of it was on the disk."""
    prepare(machine)
    machine.container('one', machine.read('/etc/containers/systemd/one.container').replace('Pull=missing\n', ''))
    machine.run('systemctl restart one')
    before = registry.images(machine)
    interrupt(machine, ['sleep', '1000'], size=100000)
    registry.tear(machine, 'app:1', all_of_it=True)
    registry.mark_cut(machine, 'app:1')
    machine.run('systemctl restart one', check=False)
    assert machine.show('one', 'ActiveState') == 'failed'
    said = resume(machine)
    assert 'rolled back' in said and 'may not be whole' in said and runs(machine) == 'first', said
    assert registry.images(machine) == before and not is_marked(machine)
    assert machine.run(f'test -e {registry.find_mark("app:1")}', check=False).status
    assert update(machine)['one']['updated'] == 'true' and runs(machine) == 'new'
    assert machine.run('keyturnctl exec one stat -c %s /random').out == '100000\n'


def test_layers_of_before_a_power_cut_are_not_taken(machine):
    """The power was cut before the new image had the name: a layer of it is in the store, and torn."""
    prepare(machine)
    first, = registry.images(machine, f'{registry.NAME}/app:1')
    registry.push(machine, 'app:1', env=['IS=second'], size=100000)
    size = 'keyturnctl exec one stat -c %s /random'
    for is_cut in (False, True):
        machine.run('keyturnctl update --watch=1')
        if not is_cut:
            registry.tear(machine, 'app:1')
        registry.lose(machine, 'app:1')
        machine.run(f'skopeo copy -q containers-storage:@{first.removeprefix("sha256:")} containers-storage:{registry.NAME}/app:1')
        machine.run('systemctl restart one')
        assert runs(machine) == 'first'
        if is_cut:
            registry.mark_cut(machine, 'app:1')
        said = machine.run('keyturnctl update --watch=1').err
        assert ('pulled without that' in said) == is_cut and runs(machine) == 'second', said
        # Without the mark it is taken as it is.
        assert machine.run(size).out == ('100000\n' if is_cut else '0\n')
    assert machine.run(f'test -e {registry.find_mark("app:1")}', check=False).status


def is_marked(machine):
    return machine.run('test -e /var/lib/keyturn/images/updating', check=False).status == 0


def test_an_image_that_ends_does_not_work(machine):
    """Not with status 0 either. systemd remembers how it ended, as a target wants it."""
    prepare(machine, more='[Install]\nWantedBy=multi-user.target\n')
    interrupt(machine, ['sleep', '1'])
    machine.run('systemctl stop one; systemctl start one')
    machine.wait_for(lambda: machine.show('one', 'ActiveState') == 'inactive')
    line = resume(machine)
    assert 'rolled back  one.service has ended' in line, line
    assert (machine.show('one', 'ActiveState'), runs(machine)) == ('active', 'first')
    assert not is_marked(machine)


def test_the_way_back_stays_until_a_container_shows_something(machine):
    """It has not been started yet, systemd knows nothing any more of how it ended, or somebody has stopped it."""
    registry.start(machine)
    for more, stop in (('', 'systemctl stop one'), ('[Install]\nWantedBy=multi-user.target\n', 'systemctl stop one'),
                       ('', 'keyturnctl list')):
        prepare(machine, more=more + '[Service]\nSuccessExitStatus=SIGKILL\n')
        machine.container('other', f'[Container]\nImage={registry.NAME}/other:1\nStopSignal=SIGKILL\n'
                                   'AutoUpdate=registry\nPull=missing\n')
        registry.push(machine, 'other:1', env=['IS=other'])
        machine.run('systemctl start other')
        interrupt(machine, ['sleep', '1'] if stop == 'keyturnctl list' else ['sleep', '1000'])
        machine.run(stop)
        machine.wait_for(lambda: machine.show('one', 'ActiveState') == 'inactive')
        for _ in range(2):
            line = resume(machine)
            assert 'false    it does not run, so it does not show' in line, line
        assert machine.show('one', 'ActiveState') == 'inactive'
        # Another's update does not take away the mark, and one of all does not take it for good.
        update(machine, 'other')
        assert 'it does not run' in update(machine)['one']['problem']
        assert is_marked(machine)
        # Now it shows it.
        machine.run('systemctl start one')
        if stop == 'keyturnctl list':
            machine.container('one', machine.read('/etc/containers/systemd/one.container') +
                              '\n[Install]\nWantedBy=multi-user.target\n')
            machine.run('systemctl start one')
            machine.wait_for(lambda: machine.show('one', 'ActiveState') == 'inactive')
            assert update(machine, status=1)['one']['updated'] == 'rolled back'
            assert runs(machine) == 'first'
        else:
            assert update(machine)['one']['updated'] == 'true'
            assert runs(machine) == 'new'
        assert not is_marked(machine)
        machine.run('systemctl stop one other; rm /etc/containers/systemd/other.container')


def test_what_ended_before_says_nothing(machine):
    """A job that ended with the old image, and a oneshot, whenever it ended."""
    wanted = '[Install]\nWantedBy=multi-user.target\n'
    prepare(machine, 'one', 'job', more=wanted)
    machine.container('once', machine.read('/etc/containers/systemd/one.container') + '[Service]\nType=oneshot\n')
    file = machine.read('/etc/containers/systemd/once.container').replace('[Container]\n', '[Container]\nExec=true\n')
    machine.container('once', file)
    machine.container('job', file.replace('Type=oneshot\n', ''))
    machine.run('systemctl restart job; systemctl start once')
    machine.wait_for(lambda: machine.show('job', 'ActiveState') == 'inactive')
    interrupt(machine, ['sleep', '1000'])
    machine.run('systemctl start once')
    lines = update(machine)
    assert {name: line['updated'] for name, line in lines.items()} == {'one': 'true', 'job': 'false', 'once': 'false'}
    assert (runs(machine), machine.show('job', 'ActiveState')) == ('new', 'inactive')
    machine.run('systemctl stop one; rm /etc/containers/systemd/job.container /etc/containers/systemd/once.container')
    machine.reload()


def kill_in_its_pull(machine, begun):
    """Kills an update to a large image. begun: succeeds when it has come far enough."""
    registry.push(machine, 'app:1', env=['IS=second'], size=200000000)
    machine.run('systemd-run -q --collect --unit=killed keyturnctl update --watch=60')
    machine.wait_for(lambda: machine.run(begun, check=False).status == 0)
    machine.run('systemctl kill -s KILL killed; systemctl reset-failed killed', check=False)
    wait_for_killed(machine)


def test_an_update_killed_in_its_pull_begins_anew(machine):
    prepare(machine)
    kill_in_its_pull(machine, 'grep -l previous= /var/lib/keyturn/images/*')
    assert runs(machine) == 'first'
    assert update(machine)['one']['updated'] == 'true'
    assert runs(machine) == 'second'


def test_what_an_update_has_left_that_was_killed_is_removed_before_it_is_forgotten(machine):
    """By the next one, which is killed, too. The registry has the old image again, and nothing is pulled."""
    prepare(machine)
    kill_in_its_pull(machine, 'find /var/lib/keyturn/pulling -type f -size +1M | grep .')
    machine.wait_for(lambda: machine.run('pgrep skopeo', check=False).status != 0)
    assert machine.run('ls -A /var/lib/keyturn/pulling').out
    registry.push(machine, 'app:1', env=['IS=first'])
    done = machine.run('strace -qq -e trace=fdatasync -e inject=fdatasync:signal=KILL:when=1 -o /run/traced keyturnctl update', check=False)
    assert done.status == 137, done
    assert update(machine)['one']['updated'] == 'false' and runs(machine) == 'first'
    assert machine.run('ls -A /var/lib/keyturn/pulling').out == '' and not is_marked(machine)


KILL_AT_SECOND_RESTART = """#!/bin/sh
        if [ "$2" = restart ] && [ -e /run/restarted ]; then
                rm /run/restarted
                kill -KILL $PPID
                exit 1
        fi
        [ "$2" != restart ] || touch /run/restarted
        exec /usr/bin/systemctl "$@"
    """


def test_a_rollback_that_is_killed_goes_on(machine):
    """The old image has its name again, and the container runs the one that is ill; or has failed with it, which systemd has
    forgotten, to start it anew."""
    prepare(machine, keys='HealthCmd=test $$IS != sick\nHealthInterval=100ms\nHealthRetries=1')
    before = registry.images(machine)
    for kind, state in (('sick', 'active'), ('cannot-be-executed', 'inactive')):
        registry.push(machine, 'app:1', BAD.get(kind, ('sleep', '1000')), env=[f'IS={kind}'], size=1000)
        machine.write('/usr/local/bin/systemctl', KILL_AT_SECOND_RESTART, mode=0o755)
        assert machine.run('keyturnctl update', check=False).status == 137
        machine.run('rm /usr/local/bin/systemctl')
        assert (machine.show('one', 'ActiveState'), is_marked(machine)) == (state, True)
        assert state != 'active' or runs(machine) == kind
        assert update(machine, status=1)['one']['updated'] == 'rolled back'
        assert (machine.show('one', 'ActiveState'), runs(machine), is_marked(machine)) == ('active', 'first', False)
        assert registry.images(machine) == before
        assert 'was rolled back' in update(machine)['one']['problem'] and runs(machine) == 'first'
        assert machine.run('ls /run/keyturn/one/.restarting', check=False).status != 0


def test_what_is_stopped_after_a_kill_stays_so(machine):
    """The kill came when systemd had forgotten that the container had failed; then somebody has started it, and stopped it."""
    prepare(machine, more='[Service]\nSuccessExitStatus=SIGKILL\n')
    registry.push(machine, 'app:1', BAD['cannot-be-executed'], env=['IS=bad'], size=1000)
    machine.write('/usr/local/bin/systemctl', KILL_AT_SECOND_RESTART, mode=0o755)
    assert machine.run('keyturnctl update', check=False).status == 137
    machine.run('rm /usr/local/bin/systemctl; systemctl start one; systemctl stop one')
    assert 'it does not run' in update(machine)['one']['problem']
    assert machine.show('one', 'ActiveState') == 'inactive'


def test_a_rollback_is_on_the_disk_before_it_is_over(machine):
    """Or a power cut leaves the name with the image that does not work, and nothing that says so."""
    prepare(machine)
    before = registry.images(machine)
    registry.push(machine, 'app:1', BAD['ends-soon'], env=['IS=bad'], size=1000)
    traced = 'strace -f -qq -e trace=syncfs,fdatasync,execve -o /run/traced'
    # Two are the pull's.
    done = machine.run(f'{traced} -e inject=syncfs:error=EIO:when=3 keyturnctl update --watch=10', check=False)
    assert done.status == 1 and 'once more: The image store cannot be written to its disk: Input/output error' in done.err, done
    assert runs(machine) == 'first' and is_marked(machine)
    assert update(machine, status=1)['one']['updated'] == 'rolled back'
    # By its name it is tried again.
    done = machine.run(f'{traced} keyturnctl update --watch=10 one', check=False)
    assert 'rolled back' in done.out and (runs(machine), is_marked(machine), registry.images(machine)) == ('first', False, before), done
    calls = re.findall(r'(?:syncfs|fdatasync|execve)(?=\(.* = 0)', machine.read('/run/traced'))
    assert calls[-2:] == ['syncfs', 'fdatasync'], calls
    assert 'was rolled back' in update(machine)['one']['problem']


def test_a_rollback_goes_on_where_one_does_not_start(machine):
    """With the old image neither. The others have it, and the one that does not work is gone."""
    prepare(machine, 'a', 'b')
    before = registry.images(machine)
    for name, more in (('a', '[Service]\nExecStartPre=/bin/sh -c "echo >>/run/starts; test $$(wc -l </run/starts) != 2"\n'),
                       ('b', 'Environment=B=1\n')):
        machine.container(name, machine.read(f'/etc/containers/systemd/{name}.container') + more)
    machine.run('rm -f /run/starts; systemctl restart b')
    registry.push(machine, 'app:1', ['sh', '-c', 'test -z $B && exec sleep 1000'], env=['IS=second'], size=1000)
    lines = update(machine, status=1)
    assert {line['updated'] for line in lines.values()} == {'failed'}, lines
    assert (machine.show('a', 'ActiveState'), machine.show('b', 'ActiveState')) == ('failed', 'active'), lines
    assert (runs(machine, 'b'), registry.images(machine), is_marked(machine)) == ('first', before, False)


def test_a_rollback_that_is_killed_as_it_begins_goes_on(machine):
    """It has noted what does not work, and not got further. The container has ended with that, by itself."""
    prepare(machine, more='[Install]\nWantedBy=multi-user.target\n')
    before = registry.images(machine)
    registry.push(machine, 'app:1', ['sh', '-c', 'sleep 0.3'], env=['IS=bad'], size=1000)
    done = machine.run('strace -qq -e trace=fdatasync -e inject=fdatasync:signal=KILL:when=2 -o /run/traced '
                       'keyturnctl update --watch=10', check=False)
    assert (machine.show('one', 'ActiveState'), is_marked(machine)) == ('inactive', True), done
    assert 'bad=' in machine.read(registry.find_notes('app:1'))
    assert update(machine, status=1)['one']['updated'] == 'rolled back'
    assert (machine.show('one', 'ActiveState'), runs(machine), registry.images(machine)) == ('active', 'first', before)


def test_a_rollback_of_another_forgets_no_restart(machine):
    """One was killed where systemd had forgotten that the container had failed. Another container's comes between."""
    prepare(machine)
    registry.push(machine, 'other:1', env=['IS=other'])
    machine.container('other', f'[Container]\nImage={registry.NAME}/other:1\nStopSignal=SIGKILL\nAutoUpdate=registry\nPull=missing\n')
    machine.run('systemctl start other')
    registry.push(machine, 'app:1', BAD['cannot-be-executed'], env=['IS=bad'])
    machine.write('/usr/local/bin/systemctl', KILL_AT_SECOND_RESTART, mode=0o755)
    assert machine.run('keyturnctl update one', check=False).status == 137
    machine.run('rm /usr/local/bin/systemctl')
    assert machine.show('one', 'ActiveState') == 'inactive'
    registry.push(machine, 'other:1', BAD['cannot-be-executed'], env=['IS=bad'])
    assert update(machine, 'other', status=1)['other']['updated'] == 'rolled back' and runs(machine, 'other') == 'other'
    assert update(machine, status=1)['one']['updated'] == 'rolled back'
    assert (machine.show('one', 'ActiveState'), runs(machine)) == ('active', 'first')


def marks(machine):
    """Of what is not on the disk, or may be torn."""
    return machine.run('find /var/lib/keyturn/unsynced /var/lib/keyturn/cut -type f', check=False).out


def test_what_came_before_a_kill_is_on_the_disk_before_the_way_back_is_forgotten(machine):
    """The new image had its name, and was not written to the disk yet."""
    prepare(machine)
    machine.write('/usr/local/bin/skopeo', """#!/bin/sh
        /usr/bin/skopeo "$@" || exit
        case "$*" in *docker:*containers-storage:*) kill -KILL $PPID;; esac
    """, mode=0o755)
    for kind, updated, status in (('good', 'true', 0), ('ends-soon', 'rolled back', 1)):
        registry.push(machine, 'app:1', BAD.get(kind, ('sleep', '1000')), env=[f'IS={kind}'], size=1000)
        assert machine.run('keyturnctl update', check=False).status == 137 and marks(machine)
        machine.run('mv /usr/local/bin/skopeo /run/skopeo')
        done = machine.run('strace -f -qq -e trace=syncfs,fdatasync -o /run/traced keyturnctl update --json --watch=10',
                           check=False)
        machine.run('mv /run/skopeo /usr/local/bin/skopeo')
        assert done.status == status and json.loads(done.out)[0]['updated'] == updated, done
        calls = re.findall(r'(?:syncfs|fdatasync)(?=\(.* = 0)', machine.read('/run/traced'))
        assert 'syncfs' in calls and calls[-1] == 'fdatasync', calls
        assert (runs(machine), marks(machine), is_marked(machine)) == ('good', '', False)


def test_no_mark_of_a_power_cut_stays_where_a_rollback_is_killed(machine):
    prepare(machine)
    machine.run('systemctl start one')
    interrupt(machine, ['sleep', '1000'])
    registry.mark_cut(machine, 'app:1')
    machine.run('touch /run/restarted')
    machine.write('/usr/local/bin/systemctl', KILL_AT_SECOND_RESTART, mode=0o755)
    assert machine.run('keyturnctl update --resume', check=False).status == 137
    machine.run('rm /usr/local/bin/systemctl')
    said = resume(machine)
    assert 'rolled back' in said and (runs(machine), marks(machine), is_marked(machine)) == ('first', '', False), said


def test_an_interrupted_update_is_forgotten_where_nobody_asks_for_the_image(machine):
    """Any more: AutoUpdate= was removed, or the file, or it names another image."""
    registry.start(machine)
    registry.push(machine, 'other:1', env=['IS=other'])
    registry.push(machine, 'app:2', env=['IS=another'])
    notes, file = registry.find_notes('app:1'), '/etc/containers/systemd/one.container'
    for words, change in (('', 's/AutoUpdate=.*//'), ('--resume', '/./d'), ('', 's/app:1/app:2/')):
        machine.run('systemctl stop one', check=False)
        prepare(machine)
        interrupt(machine, ['sleep', '1000'])
        machine.run(f"sed -i '{change}' {file}; [ -n \"$(cat {file})\" ] || rm {file}")
        machine.container('other', f'[Container]\nImage={registry.NAME}/other:1\nStopSignal=SIGKILL\nAutoUpdate=registry\nPull=missing\n')
        if not words:
            # Nor is it all that there is where one container is updated, or its file cannot be read, or nobody knows its instances.
            machine.run('systemctl start other; keyturnctl update other; keyturnctl update --dry-run')
            for name, keys in (('wrong', 'Nonsense=1'), ('job@', 'AutoUpdate=registry')):
                machine.container(name, f'[Container]\nImage={registry.NAME}/app:1\n{keys}\n')
                machine.run('keyturnctl update --resume')
                machine.run(f'rm /etc/containers/systemd/{name}.container')
                machine.reload()
            assert is_marked(machine) and 'previous=' in machine.read(notes) and 'rejected=' in machine.read(notes)
        machine.run(f'keyturnctl update --watch=1 {words}')
        assert (is_marked(machine), machine.read(notes).strip()) == (False, ''), (words, change)
    machine.run('systemctl stop one other; rm /etc/containers/systemd/other.container')


def test_what_was_not_judged_may_be_pulled_where_nobody_asks_for_updates(machine):
    prepare(machine)
    kill_in_its_pull(machine, 'grep -l previous= /var/lib/keyturn/images/*')
    machine.run("sed -i 's/AutoUpdate=.*//; s/Pull=missing/Pull=newer/' /etc/containers/systemd/one.container")
    machine.reload()
    for expected in ('first', 'second'):
        machine.run('systemctl restart one')
        assert runs(machine) == expected
        machine.run('keyturnctl update')
    # What did not work is no more pulled than before.
    machine.run('systemctl stop one')
    prepare(machine)
    registry.push(machine, 'app:1', BAD['cannot-be-executed'], env=['IS=bad'], size=1000)
    machine.write('/usr/local/bin/systemctl', KILL_AT_SECOND_RESTART, mode=0o755)
    assert machine.run('keyturnctl update', check=False).status == 137
    machine.run("rm /usr/local/bin/systemctl; sed -i 's/AutoUpdate=.*//' /etc/containers/systemd/one.container")
    machine.reload()
    machine.run('keyturnctl update')
    said = machine.read(registry.find_notes('app:1')).strip()
    assert said.startswith('rejected=') and '\n' not in said and not is_marked(machine), said


def test_an_interrupted_update_to_a_local_image_is_ended_by_the_next_one(machine):
    """Whose name somebody else has given to it, and who may want it still where it does not work."""
    for kind, updated, status in (('ends-soon', 'rolled back', 1), ('good', 'true', 0)):
        for moment in ('watched', 'rolled back') if kind != 'good' else ('watched',):
            machine.run('systemctl stop one', check=False)
            prepare(machine, policy='local')
            ends = ('sh', '-c', 'sleep 5; exit 1') if moment == 'watched' else BAD['ends-soon']
            registry.push(machine, 'app:1', ('sleep', '1000') if kind == 'good' else ends, env=[f'IS={kind}', f'AT={moment}'],
                          size=1000)
            machine.run(f'skopeo copy -q docker://{registry.NAME}/app:1 containers-storage:{registry.NAME}/app:1')
            before = registry.images(machine)
            if moment == 'watched':
                kill_update(machine)
            else:
                machine.write('/usr/local/bin/systemctl', KILL_AT_SECOND_RESTART, mode=0o755)
                assert machine.run('keyturnctl update --watch=10', check=False).status == 137
                machine.run('rm /usr/local/bin/systemctl')
            if kind != 'good':
                machine.wait_for(lambda: machine.show('one', 'ActiveState') != 'active')
            assert is_marked(machine)
            assert update(machine, status=status)['one']['updated'] == updated
            assert (machine.show('one', 'ActiveState'), runs(machine)) == ('active', 'good' if kind == 'good' else 'first')
            assert (registry.images(machine), is_marked(machine)) == (before, False)
            assert update(machine)['one']['updated'] == 'false'


def left(machine):
    """What an update may not leave."""
    return machine.run('ls -A /var/lib/keyturn/pulling; ls -d /var/lib/keyturn/images/updating /var/tmp/container* 2>/dev/null; '
                       "pgrep -l 'skopeo|keyturnctl'; cat /proc/mounts | grep -c /var/lib/containers/storage/overlay/; true").out + marks(machine)


def test_a_kill_at_any_moment_is_ended_by_the_next_one(machine):
    """Of keyturnctl alone, or of all that the update has started; of an image that works, or is ill, or cannot start. Before the next
    one the container may be started anew, as by a boot."""
    kills, seed = (int(os.environ.get(f'KEYTURN_TEST_{name}', otherwise)) for name, otherwise in (('KILLS', 4), ('SEED', time.time())))
    chance = random.Random(seed)
    prepare(machine, keys='HealthCmd=test $$IS != sick\nHealthInterval=100ms\nHealthRetries=1')
    registry.push(machine, 'app:1', env=['IS=good'], size=500000)
    begin = time.monotonic()
    assert update(machine)['one']['updated'] == 'true'
    good, before, seconds, done = 'good', left(machine), 1.2 * (time.monotonic() - begin), 0
    for turn in range(kills):
        kind, who, again = chance.choice(('good', 'sick', 'cannot-be-executed')), chance.choice(('main', 'all')), chance.random() < 0.3
        after = chance.uniform(0, seconds)
        what = f'KEYTURN_TEST_SEED={seed}, kill {turn + 1}: {kind}, {who} after {after:.3f} s, {again}'
        name = f'{kind}-{turn}' if kind != 'sick' else 'sick'
        images = registry.images(machine)
        registry.push(machine, 'app:1', BAD.get(kind, ('sleep', '1000')), env=[f'IS={name}', f'TURN={turn}'], size=500000)
        # Or systemd starts nothing any more, where this is quick.
        machine.run('systemctl reset-failed')
        machine.run('systemd-run -q --collect --unit=killed keyturnctl update --watch=1')
        time.sleep(after)
        done += machine.run(f'systemctl kill -s KILL --kill-whom={who} killed', check=False).status == 0
        # Not while it is deactivating: what it has started is there until that is over.
        machine.wait_for(lambda: machine.show('killed', 'ActiveState') in ('inactive', 'failed'))
        if again:
            machine.run('systemctl restart one', check=False)
        machine.run('systemctl start keyturn-update', check=False)
        good = name if kind == 'good' else good
        said = machine.journal('keyturn-update.service')
        # The health of its image may just have had it started anew.
        for _ in range(400):
            state = machine.show('one', 'ActiveState'), machine.show('one', 'MainPID') != '0' and runs(machine), left(machine)
            if state == ('active', good, before):
                break
            time.sleep(0.1)
        assert state == ('active', good, before), (what, state, said)
        # One that works replaces the other, which stays without its name; a bad one is gone.
        now = registry.images(machine)
        assert len(now) == len(images) + (kind == 'good') and set(images) <= set(now), (what, images, now, said)
    print(f'# {done} of {kills} kills came before the end; KEYTURN_TEST_SEED={seed}')


def test_a_local_image(machine):
    prepare(machine, policy='local')
    registry.push(machine, 'app:1', env=['IS=second'])
    assert update(machine)['one']['updated'] == 'false', 'the registry was asked'
    machine.run(f'skopeo copy -q docker://{registry.NAME}/app:1 containers-storage:{registry.NAME}/app:1')
    assert update(machine)['one']['updated'] == 'true'
    assert runs(machine) == 'second'
    registry.push(machine, 'app:1', BAD['ends-soon'], env=['IS=bad'])
    machine.run(f'skopeo copy -q docker://{registry.NAME}/app:1 containers-storage:{registry.NAME}/app:1')
    assert update(machine, status=1)['one']['updated'] == 'rolled back'
    assert runs(machine) == 'second'


def test_a_registry_that_goes_away_changes_nothing(machine):
    prepare(machine)
    before, pid = registry.images(machine), machine.show('one', 'MainPID')
    registry.push(machine, 'app:1', env=['IS=second'], size=3000000)
    # The manifest comes, and a layer stops in its middle; then nothing comes at all.
    machine.run(f'for f in $(find {registry.DATA} -name data -size +2M); do cp $f $f.whole; truncate -s 1M $f; done')
    for trouble in ('true', 'systemctl stop test-registry'):
        machine.run(trouble, check=False)
        line = update(machine, status=1)['one']
        assert line['updated'] == 'failed' and line['problem'], line
        assert machine.show('one', 'MainPID') == pid and registry.images(machine) == before
    machine.run(f'for f in $(find {registry.DATA} -name data.whole); do mv $f ${{f%.whole}}; done')
    registry.restart(machine)
    assert update(machine)['one']['updated'] == 'true'


def test_a_full_disk_changes_nothing(machine):
    small = '/srv/small'
    conf = '[storage]\ndriver = "overlay"\ngraphroot = "{}"\nrunroot = "{}"\n'
    machine.run(f'mkdir -p {small} && mount -t tmpfs -o size=24M small {small}')
    try:
        machine.write('/etc/containers/storage.conf', conf.format(small, '/run/containers/small'))
        prepare(machine)
        before, pid = registry.images(machine), machine.show('one', 'MainPID')
        used = int(machine.run(f'du -s {small} | cut -f1').out)
        registry.push(machine, 'app:1', env=['IS=second'], size=30000000)
        line = update(machine, status=1)['one']
        assert line['updated'] == 'failed' and 'no space left' in line['problem'], line
        assert machine.show('one', 'MainPID') == pid and registry.images(machine) == before
        assert abs(int(machine.run(f'du -s {small} | cut -f1').out) - used) < 500
        machine.run('systemctl restart one')
        assert runs(machine) == 'first'
        registry.push(machine, 'app:1', env=['IS=third'])
        assert update(machine)['one']['updated'] == 'true'
    finally:
        machine.run(f'systemctl stop one; umount -l {small}', check=False)


def test_the_timer_is_off_until_somebody_wants_it(machine):
    assert machine.show('keyturn-update.timer', 'ActiveState', 'UnitFileState') == \
        {'ActiveState': 'inactive', 'UnitFileState': 'disabled'}
    prepare(machine)
    machine.run('systemctl start keyturn-update.service')
    said = machine.journal('keyturn-update.service')
    assert f'one.service  systemd-one  {registry.NAME}/app:1  registry  false' in said, said


DEADLINES = '[Service]\nEnvironment=KEYTURN_ASK_SEC=6 KEYTURN_STALL_SEC=6\n'


def prepare_slow(machine, mode):
    """One container of a registry that answers, and one of a registry that does not: both images are to be updated."""
    prepare(machine, 'other')
    registry.start(machine, names=(slow_registry.NAME,))
    machine.run(f'skopeo copy -q containers-storage:{registry.NAME}/app:1 containers-storage:{slow_registry.NAME}/app:1')
    machine.container('late', f'[Container]\nImage={slow_registry.NAME}/app:1\nStopSignal=SIGKILL\nAutoUpdate=registry\n')
    machine.run('systemctl start late')
    registry.push(machine, 'app:1', env=['IS=second'], size=1500000)
    machine.write('/etc/systemd/system/keyturn-update.service.d/deadlines.conf', DEADLINES)
    machine.reload()
    return slow_registry.run(machine, mode)


def check_late(machine, mode):
    with prepare_slow(machine, mode):
        assert machine.run('systemctl start keyturn-update', check=False, timeout=90).status == 1, mode
    said = machine.journal('keyturn-update.service')
    assert f'{slow_registry.NAME}/app:1' in said, (mode, said)
    assert 'no answer within 6 s' in said or 'did not get on for 6 s' in said, (mode, said)
    # No other image waits for it, and it goes on where it was.
    assert (runs(machine, 'other'), runs(machine, 'late')) == ('second', 'first'), (mode, said)
    # What has come of the layer is gone.
    assert not machine.run('ls -d /var/tmp/container* /var/lib/keyturn/pulling/*', check=False).out, mode
    # The next run begins anew.
    with slow_registry.run(machine, 'slow'):
        assert machine.run('systemctl start keyturn-update', check=False, timeout=90).status == 0, machine.journal(
            'keyturn-update.service')
    assert runs(machine, 'late') == 'second', mode
    machine.run(f'systemctl stop late other; skopeo delete containers-storage:{slow_registry.NAME}/app:1')


def test_a_registry_that_takes_connections_and_is_silent(machine):
    check_late(machine, 'accept')


def test_a_registry_that_only_begins_to_answer(machine):
    check_late(machine, 'header')


def test_a_registry_without_manifests(machine):
    check_late(machine, 'manifest')


def test_a_registry_that_stops_within_a_layer(machine):
    check_late(machine, 'blob')


def test_a_registry_that_sends_a_byte_each_second(machine):
    check_late(machine, 'trickle')


def test_a_dry_run_waits_for_no_registry(machine):
    with prepare_slow(machine, 'accept'):
        done = machine.run('KEYTURN_ASK_SEC=6 keyturnctl update --dry-run --json', check=False)
    lines = {line['container'].removeprefix('systemd-'): line for line in json.loads(done.out)}
    assert done.status == 1 and lines['other']['updated'] == 'pending', done
    assert lines['late']['updated'] == 'failed' and 'no answer within 6 s' in lines['late']['problem'], done


def test_a_short_name_is_asked_of_no_registry_that_is_not_named(machine):
    """skopeo takes docker.io for a name without a registry."""
    registry.start(machine)
    machine.write('/usr/local/bin/skopeo', '#!/bin/sh\necho "$*" >>/run/asked\nexec /usr/bin/skopeo "$@"\n', 0o755)
    try:
        machine.run('rm -f /run/asked; /usr/bin/skopeo copy -q containers-storage:localhost/test/busybox '
                    'containers-storage:localhost/short:latest')
        machine.container('one', '[Container]\nImage=short\nExec=sleep 1000\nStopSignal=SIGKILL\nAutoUpdate=registry\n')
        machine.run('systemctl start one')
        line = update(machine, status=1)['one']
        assert line['updated'] == 'failed' and 'names no registry' in line['problem'], line
        assert 'docker://' not in machine.run('cat /run/asked', check=False).out
        # What registries.conf says is asked.
        machine.write('/etc/containers/registries.conf.d/60-short.conf', f'[aliases]\nshort = "{registry.NAME}/app"\n')
        line = update(machine, status=1)['one']
        assert f'docker://{registry.NAME}/app' in machine.run('cat /run/asked').out, line
    finally:
        machine.run('rm -f /usr/local/bin/skopeo /run/asked /etc/containers/registries.conf.d/60-short.conf; '
                    'podman rmi localhost/short:latest', check=False)


def test_what_a_registry_is_asked(machine):
    """What keyturn-fleet(7) counts with: requests for one image."""
    def asked(count):
        """Its lines come after its answers. The end of a registry is the last that it writes."""
        registry.restart(machine)
        before = len(log())
        update(machine)
        machine.wait_for(lambda: len(log()) >= before + count)
        registry.restart(machine)
        return log()[before:]

    def log():
        machine.sync_journal()
        lines = machine.run('journalctl --quiet --output=cat --unit=test-registry').out.splitlines()
        return re.findall(r'"(GET|HEAD) (\S+) HTTP', '\n'.join(lines))

    prepare(machine)
    machine.write(f'{registry.WORK}/config.yml', registry.CONFIG.replace('disabled: true', 'disabled: false'))
    ask = [('GET', '/v2/'), ('GET', '/v2/app/manifests/1')]
    assert asked(2) == ask
    registry.push(machine, 'app:1', env=['IS=second'], size=1000)
    # Once to see that it is new, once to pull it: its configuration, and the one layer that is not here yet.
    asks = asked(6)
    assert asks[:4] == ask * 2 and len(asks) == 6 and all('/blobs/' in path for _, path in asks[4:]), asks
    registry.stop(machine)
