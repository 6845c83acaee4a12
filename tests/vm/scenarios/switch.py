# SPDX-License-Identifier: LGPL-2.1-or-later
"""From Podman to keyturn and back on one machine: the same file, the same unit, the same store, untouched."""

import lanes

GENERATORS = '/etc/systemd/system-generators'

SCRIPT = rf'''
systemctl is-system-running --wait >/dev/null || true
store() {{ (cd /usr/share/containers/storage && find . -type f ! -name '*.lock' -print0 | sort -z |
        xargs -0 sha256sum | sha256sum); }}
main() {{ cat "/proc/$(systemctl show --property=MainPID --value camera.service)/comm"; }}
podman_store() {{ podman images --format '{{{{.Repository}}}}' | sort | tr '\n' ' '; echo; }}

main
images=$(podman_store)
before=$(store)

systemctl stop camera.service
ln -s /dev/null {GENERATORS}/podman-system-generator
rm {GENERATORS}/keyturn-generator
systemctl daemon-reload
systemctl start keyturn-relay.socket
systemctl start camera.service
main
[ "$(store)" = "$before" ] && echo untouched
[ "$(podman_store)" = "$images" ] && echo "$images"
podman ps --all --quiet | wc -l

systemctl stop camera.service
rm {GENERATORS}/podman-system-generator
ln -s /dev/null {GENERATORS}/keyturn-generator
systemctl daemon-reload
systemctl start camera.service
main
'''


def run(vm):
    # Podman's machine to begin with; keyturn's units are there, as on a machine where its package is installed.
    files = {name: text for name, text in lanes.podman_early().items() if not name.endswith(('.socket', '.service'))}
    report = vm.boot(files, SCRIPT, seconds=400)
    assert report.status == 0, report.trouble()
    assert report.out.splitlines() == [
        'conmon', 'camera', 'untouched', 'localhost/keyturn-demo/camera localhost/test/busybox ', '0', 'conmon',
    ], report.trouble()
    assert len(lanes.frames(report)) == 3, report.trouble()
