# SPDX-License-Identifier: LGPL-2.1-or-later
"""AppArmor: a profile that the system has loaded confines a payload, as under Podman; one that is missing does not."""

SUITE = 'trixie-labels'

PROFILE = '''
#include <tunables/global>
profile camera flags=(attach_disconnected,mediate_deleted) {
  file,
  capability,
  network,
  signal,
  deny /etc/secret r,
}
'''

CONTAINER = '''
[Container]
Image=localhost/test/busybox
Network=none
Volume=/srv/look:/look:ro
Volume=/srv/secret:/etc/secret:ro
Exec=sh /look
{more}
[Service]
Type=oneshot
'''

LOOK = '''
cat /proc/self/attr/current
cat /etc/secret
'''

UNITS = {
    'plain': '',
    'confined': 'AppArmor=camera',
    'option': 'PodmanArgs=--security-opt apparmor=camera\nVolume=/srv/look:/shared:rslave',
    'unconfined': 'AppArmor=unconfined',
    'missing': 'AppArmor=nothing',
    'early': 'AppArmor=camera\n[Keyturn]\nEarly=yes',
}

SCRIPT = rf'''
said() {{ journalctl --sync; journalctl --quiet --output=cat "_SYSTEMD_UNIT=$1.service"; }}
podman() {{ command podman run --rm --network=none -v /srv/look:/look:ro -v /srv/secret:/etc/secret:ro "$@" \
        localhost/test/busybox sh /look 2>&1 || true; }}

for unit in {' '.join(name for name in UNITS if name != 'early')}; do systemctl start $unit 2>/dev/null || true; done
for unit in {' '.join(UNITS)}; do echo "== $unit"; said $unit; done
# A command gives up its rights before such a payload sees it, and has its label by then.
systemctl start traces
echo "== traces"
keyturnctl exec traces cat /proc/self/attr/current
echo "== podman"
podman --security-opt apparmor=camera
podman --security-opt apparmor=unconfined
podman --security-opt apparmor=nothing
'''

CONFINED = "camera (enforce)\ncat: can't open '/etc/secret': Permission denied\n"
UNCONFINED = 'unconfined\nsecret\n'
MISSING = ("AppArmor's profile 'nothing' (AppArmor=) is not loaded: put it into /etc/apparmor.d, from where "
           'apparmor.service loads it at boot, and now run apparmor_parser -r on it\n')

# The early one has run at boot, before basic.target.
EXPECTED = f'''== plain
{UNCONFINED}== confined
{CONFINED}== option
{CONFINED}== unconfined
{UNCONFINED}== missing
{MISSING}== early
{CONFINED}== traces
camera (enforce)
== podman
{CONFINED}{UNCONFINED}Error: AppArmor profile "nothing" specified but not loaded
'''


def run(vm):
    files = {
        'etc/apparmor.d/camera': PROFILE,
        'srv/look': LOOK,
        'srv/secret': 'secret\n',
        'etc/containers/systemd/traces.container': '[Container]\nImage=localhost/test/busybox\nNetwork=none\nAppArmor=camera\n'
                                                   'AddCapability=SYS_PTRACE\nExec=sleep 1000\n[Service]\nKillSignal=SIGKILL\n',
        **{f'etc/containers/systemd/{name}.container': CONTAINER.format(more=more) for name, more in UNITS.items()},
    }
    report = vm.boot(files, SCRIPT)
    assert report.status == 0 and report.out == EXPECTED, report.trouble()
    assert 'ordering cycle' not in report.journal, report.trouble()

    # A kernel without AppArmor.
    report = vm.boot(files, SCRIPT.split('for unit')[0] + '''
systemctl start confined 2>/dev/null || true
systemctl start unconfined
said confined
said unconfined
''', cmdline='apparmor=0')
    assert report.status == 0, report.trouble()
    assert "AppArmor is not enabled on this system" in report.out, report.trouble()
    assert report.out.endswith('\nsecret\n'), report.trouble()
