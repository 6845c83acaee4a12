# SPDX-License-Identifier: LGPL-2.1-or-later
"""The unit tests that user-mode emulation cannot run: the suite not-emulated of a cross build."""

import json
import os
import re

from vm import HERE, host

FOREIGN = True

SCRIPT = '''
cd /opt/units
chmod +x test-*
for program in test-*; do
        echo "== $program"
        LD_LIBRARY_PATH=. CK_TIMEOUT_MULTIPLIER=30 ./$program || echo "ended with $?"
done
'''


def programs(build):
    """Those that are programs of their own. Left is seccomp/compare-with-podman, which wants Python beside Podman."""
    tests = json.loads(host('meson', 'introspect', '--tests', build))
    return [test['cmd'][0] for test in tests
            if any(suite.endswith('not-emulated') for suite in test['suite']) and len(test['cmd']) == 1]


def read(path):
    with open(path, 'rb') as file:
        return file.read()


def run(vm):
    sysroot = host(os.path.join(HERE, '../cross/sysroot'), vm.arch).strip()
    library, = host('find', sysroot + '/usr/lib', '-name', 'libsubunit.so.0').split()
    paths = programs(vm.build)
    assert len(paths) >= 6, f'only {len(paths)} programs are in the suite not-emulated: {paths}'
    report = vm.boot({f'opt/units/{os.path.basename(path)}': read(path) for path in [*paths, library]}, SCRIPT)
    assert report.status == 0, report.trouble()
    total = 0
    said = re.split(r'^== (.*)\n', report.out, flags=re.M)[1:]
    assert len(said) == 2 * len(paths), report.trouble()
    for name, tap in zip(said[::2], said[1::2]):
        passed, planned = len(re.findall(r'^ok ', tap, re.M)), re.search(r'^1\.\.(\d+)$', tap, re.M)
        assert planned and passed == int(planned[1]) > 0 and 'ended with' not in tap, f'{name}:\n{tap}'
        total += passed
    vm.measured('tests', total, '')
    vm.measured('programs', len(paths), '')
