# SPDX-License-Identifier: LGPL-2.1-or-later
"""The guides among the manual pages: each is done from its first line to its last, as printed (page.py)."""

import os
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))

import page  # noqa: E402

MAN = os.path.join(os.path.dirname(os.path.realpath(__file__)), '../../../man')


def test_what_is_not_as_printed_fails(machine):
    machine.run('mkdir -p /srv/guide')
    good = ('Text:\n\n    # /srv/guide/file\n    one\n\n    two\n\nMore:\n\n    $ cat /srv/guide/file | \\\n          tail -n 2\n'
            '\n    t...o\n    # echo 1 2;  echo 3; exit 7\n    1   2\n    ...\n    $ echo $?\n    7\n')
    bad = {
        'ended with 7': good.replace('$ echo $?', '$ true'),
        "and not:\n8": good.replace('\n    7\n', '\n    8\n'),
        "and not:\n\nt...x": good.replace('t...o', 't...x'),
        "and not:\n1 2\n4": good.replace('1   2\n    ...', '1 2\n    4'),
    }
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, 'page.md')

        def does(text):
            with open(path, 'w') as file:
                file.write(text)
            page.do(machine, path)

        does(good)
        assert machine.read('/srv/guide/file') == '# /srv/guide/file\none\n\ntwo\n'
        for why, text in bad.items():
            try:
                does(text)
            except AssertionError as error:
                assert why in str(error), (why, error)
            else:
                raise AssertionError(f'done without a word: {text}')
        for text in ('nothing to do\n', good.replace('\n\nMore:\n\n    $', '\n\n    $'), '```\n# id\n'):
            try:
                does(text)
            except ValueError:
                pass
            else:
                raise AssertionError(f'understood: {text}')


def test_readme(machine):
    page.do(machine, f'{MAN}/../README.md')
    # Its shell waits for no signal, and a stop would wait for it.
    machine.run('systemctl stop --no-block backup-camera && systemctl kill --signal=KILL backup-camera')


def test_tutorial(machine):
    page.do(machine, f'{MAN}/keyturn-tutorial.7.md')


def test_migrate(machine):
    if machine.suite == 'bookworm':
        # There is nothing to migrate from: its Podman has no Quadlet.
        assert not os.path.exists(machine.path('/usr/lib/systemd/system-generators/podman-system-generator'))
        return

    def with_quadlet(root):
        # keyturn is there, and hidden: as after the page's first link and the installation.
        os.symlink('/dev/null', f'{root}/etc/systemd/system-generators/keyturn-generator')
        os.unlink(f'{root}/etc/systemd/system-generators/podman-system-generator')

    with machine.another(with_quadlet) as other:
        try:
            page.do(other, f'{MAN}/keyturn-migrate.7.md')
        except AssertionError as error:
            # The runner prints the journal of its own machine.
            raise AssertionError(f"{error}\n{other.run('journalctl --lines=60').out}") from None
