# SPDX-License-Identifier: LGPL-2.1-or-later
"""systemctl soft-reboot: user space starts anew on the same kernel, and so do cameras, early, mapped, bridged; nothing is left over."""

import lanes

NAMES = ('camera', 'eye', 'mapped', 'bridged')

# /run survives, so the first life can tell the second.
SCRIPT = r'''
systemctl is-system-running --wait >/dev/null || true
life() {
        systemctl is-active camera eye mapped bridged | sort | uniq -c
        grep -c keyturn /proc/1/mountinfo || true
        sort /proc/$(systemctl show --property=MainPID --value mapped)/uid_map
        sed -n 's/^host //p' /run/keyturn/network/bridged/names
        ls /run/keyturn | sort
        ip -o link | sed 's/^[0-9]*: //; s/[@:<].*//; s/veth[0-9]*/veth/' | sort
        nft -s list ruleset | grep -c .
}
if [ ! -e /run/vm/first-life ]; then
        life >/run/vm/first-life
        systemctl show --property=MainPID --value camera eye mapped bridged | grep . >/run/vm/first-pids
        systemctl soft-reboot
        sleep 60
        exit 1
fi
life >/run/vm/second-life
echo "lives $(systemctl show --property=SoftRebootsCount --value)"
head -n 1 /run/vm/second-life
diff /run/vm/first-life /run/vm/second-life && echo same
while read -r old; do
        if [ -e "/proc/$old" ] && grep -q camera "/proc/$old/comm"; then echo "$old has survived"; fi
done </run/vm/first-pids
'''


def run(vm):
    more = {
        'eye': lanes.EARLY,
        'mapped': 'UserNS=auto\n',
        'bridged': 'PublishPort=8080:80\n',
    }
    files = {f'etc/containers/systemd/{name}.container': lanes.CONTAINER.format(more=text) for name, text in more.items()}
    bridged = 'etc/containers/systemd/bridged.container'
    files[bridged] = files[bridged].replace('Network=host', 'Network=bridge')
    ids = 'containers:2147483647:2147483648\n'
    report = vm.boot({**lanes.keyturn(), **files, 'etc/subuid': ids, 'etc/subgid': ids}, SCRIPT)
    assert report.status == 0, report.trouble()
    assert report.out.splitlines() == ['lives 1', f'      {len(NAMES)} active', 'same'], report.trouble()
    for name in NAMES:
        assert len(lanes.frames(report, name)) == 2, f'{name}: {report.trouble()}'
