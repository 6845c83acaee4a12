# SPDX-License-Identifier: LGPL-2.1-or-later
"""keyturnctl --user update: new images for users' containers with AutoUpdate=, and the way back."""

import json
import os

import registry

from users import as_user, container, make_podmans, show

APP = f'{registry.NAME}/app:1'
NOTES = '/home/alice/.local/share/keyturn/images'


def prepare(machine, *names, keys='', policy='registry', user='alice'):
    """Containers of hers that run the first image of the registry."""
    make_podmans(machine, user)
    as_user(machine, 'systemctl --user restart keyturn-view', user)
    registry.start(machine)
    registry.push(machine, 'app:1', env=['IS=first'])
    as_user(machine, f'podman rmi -f {APP}; rm -rf ~/.local/share/keyturn/images', user, check=False)
    for name in names or ('one',):
        container(machine, name, f'[Container]\nImage={APP}\nStopSignal=SIGKILL\nAutoUpdate={policy}\nPull=missing\n{keys}\n', user)
        as_user(machine, f'systemctl --user restart {name}', user)


def update(machine, *words, status=0, watch=None, user='alice'):
    """What ends soon, or does not become healthy, is seen before the time of `watch` is over, which is short for what works."""
    watch = watch or (10 if status else 1)
    done = as_user(machine, f'keyturnctl --user update --json --watch={watch} {" ".join(words)}', user, check=False)
    assert done.status == status, done
    return {line['unit'].removesuffix('.service'): line for line in json.loads(done.out)}


def runs(machine, name='one', user='alice'):
    environment = machine.run(f"tr '\\0' '\\n' </proc/{show(machine, name, 'MainPID', user=user)}/environ", check=False).out
    return next((line[3:] for line in environment.splitlines() if line.startswith('IS=')), None)


def images(machine):
    return sorted(as_user(machine, 'podman images -a -q --no-trunc').out.split())


def test_a_new_image_is_pulled_and_started(machine):
    prepare(machine)
    assert update(machine)['one']['updated'] == 'false'
    pid = show(machine, 'one', 'MainPID')
    registry.push(machine, 'app:1', env=['IS=second'])
    assert update(machine, '--dry-run')['one']['updated'] == 'pending'
    assert show(machine, 'one', 'MainPID') == pid
    line = update(machine)['one']
    assert (line['updated'], line['policy'], line['image']) == ('true', 'registry', APP), line
    assert runs(machine) == 'second'
    assert update(machine)['one']['updated'] == 'false'
    # Podman can use what was brought, and nothing of it is the machine's root's.
    assert 'IS=second' in as_user(machine, f'podman run --rm --network host {APP} env').out
    assert not machine.run('find /home/alice/.local/share/containers /home/alice/.local/share/keyturn -uid 0', check=False).out
    as_user(machine, 'systemctl --user stop one')
    assert 'does not run' in update(machine)['one']['problem']


def test_that_a_power_cut_may_have_torn_an_image_is_said(machine):
    """As of root's (images/), in her view."""
    prepare(machine)
    mark = f'~/.local/share/keyturn/unsynced/{os.path.basename(registry.find_mark("app:1"))}'
    assert as_user(machine, f'test -e {mark}', check=False).status
    as_user(machine, f'echo 0 >{mark}; systemctl --user restart one')
    assert 'may be damaged' in machine.journal() and as_user(machine, f'test -e {mark}', check=False).status


def test_a_bad_image_is_rolled_back_and_leaves_nothing(machine):
    prepare(machine)
    before = images(machine)
    for bad, command in (('cannot', ['/no/such/program']), ('ends', ['sh', '-c', 'sleep 0.3; exit 1'])):
        registry.push(machine, 'app:1', command, env=[f'IS={bad}'], size=100000)
        line = update(machine, status=1)['one']
        assert line['updated'] == 'rolled back', line
        assert (show(machine, 'one', 'ActiveState'), runs(machine)) == ('active', 'first')
        assert images(machine) == before
    line = update(machine)['one']
    assert line['updated'] == 'false' and 'rolled back' in line['problem'], line
    registry.push(machine, 'app:1', env=['IS=third'])
    assert update(machine)['one']['updated'] == 'true' and runs(machine) == 'third'
    assert machine.run(f'ls {NOTES}/updating', check=False).status


def test_readiness_and_health_decide(machine):
    prepare(machine, 'one', keys='HealthCmd=test $$IS != sick\nHealthInterval=300ms\nHealthRetries=2')
    registry.push(machine, 'app:1', env=['IS=sick'])
    line = update(machine, status=1)['one']
    assert line['updated'] == 'rolled back' and 'not healthy' in line['problem'], line
    assert runs(machine) == 'first'


def test_local(machine):
    prepare(machine, policy='local')
    registry.push(machine, 'app:1', env=['IS=second'])
    assert update(machine)['one']['updated'] == 'false'
    as_user(machine, f'podman pull -q {APP}')
    assert update(machine)['one']['updated'] == 'true' and runs(machine) == 'second'


def test_one_that_was_killed_is_ended_by_the_next(machine):
    """At the start of her manager, too."""
    prepare(machine)
    registry.push(machine, 'app:1', ['sh', '-c', 'sleep 6; exit 1'], env=['IS=bad'])
    as_user(machine, 'keyturnctl --user update --watch=60 >/dev/null 2>&1 & until [ "$(podman images -q | wc -l)" -gt 99 ] || '
                     'grep -q . ~/.local/share/keyturn/images/updating 2>/dev/null || [ -e ~/.local/share/keyturn/images/updating ]; '
                     'do sleep 0.1; done', check=False)
    machine.wait_for(lambda: show(machine, 'one', 'MainPID') != '0' and runs(machine) == 'bad', 20)
    machine.run('pkill -9 -u alice keyturnctl')
    machine.run(f'test -e {NOTES}/updating')
    assert 'keyturn-update-resume.service' in as_user(machine, 'systemctl --user show -p Wants --value default.target').out
    as_user(machine, 'systemctl --user start keyturn-update-resume', check=False)  # 1: not the new image
    machine.wait_for(lambda: show(machine, 'one', 'ActiveState') == 'active' and runs(machine) == 'first', 30)
    assert machine.run(f'test -e {NOTES}/updating', check=False).status


def test_the_timer(machine):
    prepare(machine)
    registry.push(machine, 'app:1', env=['IS=second'])
    as_user(machine, 'systemctl --user enable --now keyturn-update.timer')
    assert show(machine, 'keyturn-update.timer', 'ActiveState') == 'active'
    as_user(machine, 'systemctl --user start keyturn-update.service')
    assert runs(machine) == 'second'
    as_user(machine, 'systemctl --user disable --now keyturn-update.timer')


# ---- others

def test_updates_are_the_users_own(machine):
    """Neither root's containers nor bob's are hers to update, and her notes are none of theirs."""
    prepare(machine)
    prepare(machine, user='bob')
    registry.push(machine, 'app:1', env=['IS=second'])
    assert list(update(machine)) == ['one']
    assert (runs(machine), runs(machine, user='bob')) == ('second', 'first')
    said = machine.run('keyturnctl update --json').out
    assert '"one.service"' not in said, said
    assert update(machine, user='bob')['one']['updated'] == 'true'
    for path in (NOTES, '/home/alice/.local/share/containers/storage'):
        assert as_user(machine, f'ls {path}', 'bob', check=False).status


def test_what_she_may_have_put_there(machine):
    """Her own notes and links lead nobody elsewhere: all of it is done as she."""
    prepare(machine)
    machine.run('echo keep >/srv/roots-file; chmod 0600 /srv/roots-file')
    as_user(machine, 'cd ~/.local/share/keyturn/images; ln -sf /srv/roots-file updating; for i in *; do test -L $i || '
                     'printf "format=9\\nrejected=x\\n" >$i; done')
    as_user(machine, 'keyturnctl --user update --watch=1', check=False)
    assert machine.read('/srv/roots-file') == 'keep\n'
    as_user(machine, 'rm -rf ~/.local/share/keyturn/images')
    assert update(machine)['one']['updated'] == 'false'
