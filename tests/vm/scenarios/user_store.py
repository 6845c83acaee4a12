# SPDX-License-Identifier: LGPL-2.1-or-later
"""Store=user on Debian 13's kernel: containers of the system whose images only the user has."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
import rootless  # noqa: E402
from old_kernel import LAYERS, LOOK, container  # noqa: E402

SUITE = 'trixie-payload'
STORE = f'{rootless.HOME}/.local/share/containers/storage'

# As root of the container: all of it in the writable layer.
WRITE = r'''
cd /data
echo more >>changed
rm -r opaque link turned && mkdir opaque && touch opaque/mine turned && chown 7:8 turned && chmod 4755 kept
echo "$(tail -n 1 changed), $(ls opaque), $(ls -d link 2>&1 | sed 's/.*: //'), $(stat -c '%u:%g' turned), $(stat -c %a kept)"
'''


def hers(command, more='', image='localhost/hers:1', keyturn='Store=user', service=f'User={rootless.NAME}'):
    return container(command, f'HealthCmd=none\n{more}\n[Service]\n{service}\n[Keyturn]\n{keyturn}', what=f'Image={image}')


UNITS = {
    'root': hers('sh /look; sh /write', 'User=root\nVolume=/srv/write:/write:ro'),
    'driver': hers('sh /look; cat /volume/file; stat -c %%u:%%g /volume/file', 'ReadOnly=true\nVolume=kept:/volume'),
    'single': hers('ls -d /bin /data 2>/dev/null', image='localhost/hers:2'),
    'bridge': hers('ip -o link | grep -c eth0; cat /data/changed', 'User=root\nNetwork=bridge').replace('Network=none\n', ''),
    'damaged': hers('cat /data/changed', 'User=root'),
    # Both have its image.
    'common': hers('cat /data/changed', 'User=root', image='localhost/test/layers:4'),
    'systems': hers('cat /data/changed', 'User=root', image='localhost/test/layers:4', keyturn=''),
    'nobodys': hers('true', image='localhost/nobodys:1'),
    'not-hers': hers('true', keyturn=''),
}

FILES = {
    **rootless.USER,
    f'{rootless.HOME[1:]}/.config/containers/storage.conf': '[storage]\ndriver = "overlay"\n',  # Podman 4.3 would take vfs
    'srv/look': LOOK,
    'srv/write': WRITE,
    **{f'etc/containers/systemd/{name}.container': text for name, text in UNITS.items()},
}

SCRIPT = rf'''
value() {{ systemctl show --property="$2" --value "$1.service"; }}
said() {{ journalctl --sync; journalctl --quiet --output=cat "_SYSTEMD_UNIT=$1.service"; }}
wait_for() {{ for i in $(seq 150); do if [ "$("${{@:2}}")" = "$1" ]; then return; fi; sleep 0.1; done; "${{@:2}}"; }}
ready() {{ said "$1" | grep -cx ready || true; }}
overlays() {{ cat /sys/module/overlay/refcnt; }}
hers() {{ setpriv --reuid {rootless.UID} --regid {rootless.UID} --init-groups env -C {rootless.HOME} HOME={rootless.HOME} \
        USER={rootless.NAME} XDG_RUNTIME_DIR=/run/hers "$@"; }}
# Her own, and those of her namespace.
processes() {{ ps -e -o uid= -o comm= | awk '$1 == {rootless.UID} || ($1 >= 100000 && $1 < 165536)'; }}
store() {{ (cd {STORE}; find . -printf '%P %y %m %U:%G %s %T@ %C@\n'; find . -type f -exec sha256sum {{}} +) | sort; }}
refused() {{
        echo "$1:"
        if systemctl start "$1" 2>/dev/null; then echo "it has started"; fi
        said "$1" | tail -n 1 | sed -E "s/[0-9a-f]{{64}}/ID/g; s/; there is [^;]*;/;/g"
}}
about() {{
        wait_for "$2" ready "$1"
        echo "$1: $(value "$1" Type), $(value "$1" ActiveState), process of $(stat -c %u "/proc/$(value "$1" MainPID)")"
        said "$1"
}}

uname -r >kernel
install -d -m 0700 -o {rootless.NAME} -g {rootless.NAME} /run/hers
chown -R {rootless.NAME}: {rootless.HOME}
cut -d ' ' -f 1 /proc/uptime >began
number=0
for image in layers:4 busybox; do
        number=$((number + 1))
        podman save --quiet "localhost/test/$image" >/run/image.tar
        chmod 0644 /run/image.tar
        hers podman load --quiet --input /run/image.tar >&2
        hers podman tag "localhost/test/$image" "localhost/hers:$number"
        rm /run/image.tar
done
cut -d ' ' -f 1 /proc/uptime >ended
hers podman info --format '{{{{.Store.GraphDriverName}}}}'
processes >left
if [ -e /run/hers/libpod/tmp/pause.pid ]; then kill "$(cat /run/hers/libpod/tmp/pause.pid)"; fi
wait_for '' processes
store >before
findmnt --noheadings --types overlay --output TARGET || true
echo "overlays: $(overlays)"

systemctl start root driver single bridge systems
about root 1
about driver 1
about single 1
about bridge 1
about systems 1
echo "overlays: $(grep -c overlay /proc/mounts) of the host's, $(overlays) in all"
keyturnctl exec root sh -c 'id -u; ls /data/new /data/opaque'
xargs <"/proc/$(value root MainPID)/uid_map"
was=$(value root MainPID)
systemctl restart root
wait_for 2 ready root
test "$was" != "$(value root MainPID)"
keyturnctl exec root cat /data/changed
store >after
diff before after

refused nobodys
refused not-hers
systemctl stop bridge driver

# One of the large image's, and of no other.
layer=$(echo {STORE}/overlay/*/diff/volume)
layer=${{layer%/diff/volume}}
mv "$layer/diff" "$layer/away"
refused damaged
mv "$layer/away" "$layer/diff"
mv "$layer" {STORE}/away
refused damaged
refused common
echo "$(value root ActiveState) $(value single ActiveState)"
systemctl restart single systems
wait_for 2 ready single
wait_for 2 ready systems
mv {STORE}/away "$layer"
systemctl reset-failed
systemctl start damaged common
wait_for 1 ready common
wait_for 1 ready damaged

systemctl stop root damaged single common systems
for unit in {' '.join(UNITS)}; do test ! -e "/run/keyturn/$unit"; done
# It stays as long as the file is there, for the next start.
ls /run/keyturn/userns
processes
wait_for 0 overlays
'''

WHERE = {'hers': f"'{STORE}'", 'systems': "'/var/lib/containers/storage', '/usr/share/containers/storage'"}


def missing(image, store):
    return f"""Image '{image}': it is not in the image stores (looked for '{image}' in {WHERE[store]}); get it with 'podman pull', or \
put it into a store of 'additionalimagestores' in storage.conf"""


IN_HERS = f"In the store of '{rootless.NAME}' (Store=user): "
EXPECTED = f"""
overlay
overlays: 0
root: notify, active, process of {rootless.UID}
user 0:0
{LAYERS}
new
new
masked: 0 bytes, 0 files
more, mine, No such file or directory, 7:8, 4755
ready
driver: notify, active, process of 101499
user 1500:1501
{LAYERS}
Read-only file system
new
masked: 0 bytes, 0 files
content of the image
1500:1501
ready
single: notify, active, process of {rootless.UID}
/bin
ready
bridge: notify, active, process of {rootless.UID}
1
from the top layer
ready
systems: notify, active, process of {rootless.UID}
from the top layer
ready
overlays: 0 of the host's, 9 in all
0
/data/new

/data/opaque:
mine
0 {rootless.UID} 1 1 100000 65536
from the top layer
more
nobodys:
{IN_HERS}{missing('localhost/nobodys:1', 'hers')}. In the system's: {missing('localhost/nobodys:1', 'systems')}
not-hers:
{missing('localhost/hers:1', 'systems')}
damaged:
{IN_HERS}Image 'localhost/hers:1': layer '{STORE}/overlay/ID/diff' is missing: No such file or directory
damaged:
{IN_HERS}Image 'localhost/hers:1': its uppermost layer 'ID' is in none of the stores
common:
{IN_HERS}Image 'localhost/test/layers:4': its uppermost layer 'ID' is in none of the stores
active active
bridge
"""


def run(vm):
    report = vm.boot(FILES, SCRIPT, seconds=900)
    assert report.status == 0 and report.out == EXPECTED.lstrip(), report.trouble()
    assert not report['failed'], report.trouble()
    kernel = report['kernel'].strip()
    vm.measured(f"until the user's Podman has two images, on Linux {kernel}", round(float(report['ended']) - float(report['began'])), 's')
    return kernel
