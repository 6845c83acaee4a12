# SPDX-License-Identifier: LGPL-2.1-or-later
"""A user's camera with linger: native user service, user's container, and the same file with User= in a system's."""

import lanes
from vm import Link

# A user whom every Debian has. The images are root's, below /usr, and hers by a mount with her ids.
NAME, UID, HOME = 'www-data', 33, '/var/www'
IDS = ' '.join(f'{kind}:0:{UID}:1 {kind}:1:100000:65536' for kind in 'ug')
IMAGES = f'''
[Mount]
What=/usr/share/containers/storage
Where=/srv/user/images
Options=bind,ro,nosuid,nodev,X-mount.idmap={IDS}
'''
MASKED = {'etc/systemd/user-generators/podman-user-generator': Link('/dev/null')}
LINGER = {
    f'var/lib/systemd/linger/{NAME}': '',
    # Debian's manager of a user wants libpam-systemd for this, which the disk has not.
    f'etc/systemd/system/user@{UID}.service.d/50.conf': f'[Service]\nEnvironment=XDG_RUNTIME_DIR=/run/user/{UID}\nPAMName=\n',
}
USER = {
    **lanes.OVERLAY,
    'etc/tmpfiles.d/user.conf': f'd {HOME} 0755 {NAME} {NAME}\n',
    **{f'etc/{file}': f'{NAME}:100000:65536\n' for file in ('subuid', 'subgid')},
}


def native():
    return {**USER, **LINGER, **lanes.NO_KEYTURN, **MASKED,
            'etc/systemd/user-generators/keyturn-user-generator': Link('/dev/null'),
            'etc/systemd/user/camera.service': lanes.SERVICE.replace('multi-user', 'default'),
            'etc/systemd/user/default.target.wants/camera.service': Link('../camera.service')}


def images():
    return {'etc/systemd/system/srv-user-images.mount': IMAGES,
            'etc/systemd/system/local-fs.target.wants/srv-user-images.mount': Link('../srv-user-images.mount'),
            f'{HOME[1:]}/.config/containers/storage.conf':
                '[storage]\ndriver = "overlay"\n[storage.options]\nadditionalimagestores = ["/srv/user/images"]\n'}


def container():
    return {**USER, **LINGER, **MASKED, **images(),
            f'etc/containers/systemd/users/{UID}/camera.container':
                lanes.CONTAINER.format(more='').replace('multi-user', 'default')}


def system():
    text = lanes.CONTAINER.format(more=f'[Service]\nUser={NAME}\n')
    return {**USER, 'etc/containers/systemd/camera.container': text}


LANES = (
    ('native', 'native service of a user with linger', native, True),
    ('user', 'keyturn: container of a user with linger', container, True),
    ('system', 'keyturn: the same file as the system\'s, with User=', system, False),
)

# Whose the first process is, and that it is the camera.
SCRIPT = '''
pgrep -x camera >/run/pid
cat /proc/$(cat /run/pid)/cgroup
stat -c %u /proc/$(cat /run/pid)
'''


def run(vm):
    data, first = [], {}
    for name, title, files, is_users in LANES:
        report = vm.boot(files(), exact=True, script=SCRIPT, seconds=600)
        assert report.status == 0 and len(lanes.frames(report)) == 1, f'{name}: {report.trouble()}'
        cgroup, uid = report.out.split()
        assert uid == str(UID) and (f'/user@{UID}.service/' in cgroup) == is_users and \
            cgroup.endswith('/camera.service'), f'{name}: {report.out}'
        assert report.manager['NFailedUnits'] == '0', f'{name}: {report.trouble()}'
        frame, = lanes.frames(report)
        first[name] = frame - report.microseconds('Userspace')
        data.append({'name': name, 'title': title, 'first-frame': first[name]})
        vm.measured(f'{name}: first frame after the start of user space', first[name])
        vm.measured(f'{name}: user space until all is started',
                    report.microseconds('Finish') - report.microseconds('Userspace'))
    vm.data['rootless'] = data
    vm.measured('user: later than native', first['user'] - first['native'])
    vm.measured('system: later than native', first['system'] - first['native'])
    # In one boot 3302, 5189 and 5499 ms.
    assert first['system'] < first['native'], "User= in a system's file comes later than a service of a user's manager"
    assert first['user'] < 1.25 * first['native'], "a user's container comes a quarter later than her native service"
