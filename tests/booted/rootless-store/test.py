# SPDX-License-Identifier: LGPL-2.1-or-later
"""Where users' managers find images: places with variables, and additional stores."""

import contextlib

from users import IMAGE, as_user, container, fails, inside, make_user, printed, start

PACKAGES = ('attr',)
MACHINES = '/usr/share/containers/storage'
LAYERS = 'localhost/test/layers:4'


def configure(machine, text):
    make_user(machine, 'alice')
    machine.write('/home/alice/.config/containers/storage.conf', '[storage]\ndriver = "overlay"\n' + text)
    machine.run('chown -R alice: /home/alice/.config')
    return as_user(machine, 'systemctl --user reset-failed; systemctl --user restart keyturn-view', check=False).status


def add(machine, store):
    configure(machine, f'[storage.options]\nadditionalimagestores = ["{store}"]\n')


def graph_root(machine):
    return as_user(machine, "podman info --format '{{.Store.GraphRoot}}'").out.strip()


def make_machines_store(machine):
    """As on a product's disk; an overlay, which this machine's root is, cannot be mapped. Alice has no images of her own."""
    make_user(machine, 'alice')
    if machine.run(f'mountpoint -q {MACHINES}', check=False).status:
        machine.run(f'mkdir -p {MACHINES}; mount -t tmpfs -o mode=0755 tmpfs {MACHINES}; cp -a /var/lib/containers/storage/. {MACHINES}/')
        as_user(machine, 'podman rmi -a -f >/dev/null')
    assert not as_user(machine, 'podman images -q').out


@contextlib.contextmanager
def moved(machine, place):
    """Her store; Podman remembers its place."""
    def move(source, target):
        machine.run(f'rm -rf {target}; mv {source} {target}; rm -rf {target}/libpod {target}/db.sql')
    usual = '/home/alice/.local/share/containers/storage'
    move(usual, place)
    try:
        yield
    finally:
        move(place, usual)


@contextlib.contextmanager
def machines_file(machine, text):
    """Other scenarios have none."""
    machine.write('/etc/containers/storage.conf', '[storage]\ndriver = "overlay"\nrunroot = "/run/containers/storage"\n'
                  'graphroot = "/var/lib/containers/storage"\n' + text)
    try:
        yield
    finally:
        machine.run('rm /etc/containers/storage.conf')


# ---- her own

def test_a_place_that_the_machine_names(machine):
    place = '/home/alice/.local/share/containers/alice-1234'
    configure(machine, '')
    machine.run('rm /home/alice/.config/containers/storage.conf')
    conf = 'rootless_storage_path = "$HOME/.local/share/containers/${USER}-$UID"\n'
    with machines_file(machine, conf), moved(machine, place):
        as_user(machine, 'systemctl --user restart keyturn-view')
        assert graph_root(machine) == place
        start(machine, keys='Volume=kept:/kept')
        assert machine.run(f'ls {place}/volumes').out == 'kept\n'
        # It is no matter of root's.
        machine.container('systems', f'[Container]\nImage={IMAGE}\nExec=true\n[Service]\nType=oneshot\n')
        machine.run('systemctl start systems')
    fails(machine, 'is not in the image stores')


def test_a_place_that_she_names(machine):
    place = '/home/alice/.local/share/containers/hers'
    for line in ('graphroot = "$HOME/.local/share/containers/hers"', 'rootless_storage_path = "/home/$USER/.local/share/containers/hers"'):
        assert configure(machine, line + '\n') == 0
        with moved(machine, place):
            assert graph_root(machine) == place
            start(machine)


def test_a_variable_that_is_not_there(machine):
    assert configure(machine, 'graphroot = "$NOWHERE/x"\n')
    assert "/home/alice/.config/containers/storage.conf:3: 'graphroot' of [storage]: '$NOWHERE/x' has a variable that is not set" in \
        machine.journal()
    assert configure(machine, '') == 0


def test_another_store_of_hers(machine):
    configure(machine, '')
    machine.run('cp -a /var/lib/containers/storage /home/alice/more; chown -R alice: /home/alice/more')
    as_user(machine, f'podman rmi -f {LAYERS}')
    container(machine, 'mine', f'[Container]\nImage={LAYERS}\nExec=sleep 1000\n[Service]\nKillSignal=SIGKILL\n')
    assert as_user(machine, 'systemctl --user restart mine', check=False).status
    add(machine, '/home/alice/more')
    as_user(machine, 'systemctl --user restart mine')
    assert inside(machine, 'id -u') == '1500'
    as_user(machine, 'systemctl --user stop mine')
    machine.run('rm -rf /home/alice/more')


# ---- the machine's

def test_stores_of_the_machines_file_are_not_hers(machine):
    make_machines_store(machine)
    configure(machine, '')
    machine.run('rm /home/alice/.config/containers/storage.conf')
    with machines_file(machine, f'[storage.options]\nadditionalimagestores = ["{MACHINES}"]\n'):
        as_user(machine, 'systemctl --user restart keyturn-view')
        assert IMAGE not in as_user(machine, 'podman images').out
        fails(machine, 'is not in the image stores')


def test_a_store_with_others_ids_is_refused(machine):
    make_machines_store(machine)
    add(machine, MACHINES)
    fails(machine, f"needs a mount with the user's ids (keyturn-user-generator(8), IMAGES OF THE MACHINE): Cannot open '{MACHINES}/overlay-images")
    assert as_user(machine, f'podman run --rm --network host {IMAGE} true', check=False).status
    # All may read it: it would be nobody's, in which nobody but nobody could write.
    machine.run(f'mkdir -p /srv/open; mountpoint -q /srv/open || mount -t tmpfs tmpfs /srv/open; cp -a {MACHINES}/. /srv/open/; '
                'chmod -R a+rX /srv/open')
    add(machine, '/srv/open')
    fails(machine, "/diff' belongs to an id that this user has not: mount the store once more, with her ids")
    assert as_user(machine, f'podman run --rm --network host {IMAGE} true', check=False).status
    machine.run('umount -l /srv/open')


def test_the_machines_images_as_the_manual_says(machine):
    mount, settings, attributes = printed('IMAGES OF THE MACHINE')
    make_machines_store(machine)
    assert 'alice:100000:65536' in machine.read('/etc/subuid') and 'alice:100000:65536' in machine.read('/etc/subgid')
    machine.run(attributes)
    machine.write('/etc/systemd/system/srv-alice-images.mount', mount)
    machine.run('systemctl daemon-reload; systemctl enable --now srv-alice-images.mount')
    try:
        add(machine, '/srv/alice/images')
        assert machine.read('/home/alice/.config/containers/storage.conf').split() == settings.split()
        if machine.suite == 'bookworm':  # its mount(8) takes the option for a comment
            fails(machine, "needs a mount with the user's ids")
            return
        use_the_machines_images(machine)
    finally:
        machine.run('systemctl disable --now srv-alice-images.mount')


def listing(machine):
    return machine.run(f'cd {MACHINES} && find . -printf "%p %i %u:%g %m %s %T@ %C@\\n" | sort | sha256sum').out


def use_the_machines_images(machine):
    before = listing(machine)
    facts = 'id; stat -c "%u:%g %a %n" / /etc /etc/passwd /tmp /bin /data /data/* /volume; ls /data /data/opaque; cat /proc/1/status | grep Cap'
    podman = as_user(machine, f"podman run --rm --network host {LAYERS} sh -c '{facts}'").out
    container(machine, 'layers', f'[Container]\nImage={LAYERS}\nExec=sleep 1000\n[Service]\nKillSignal=SIGKILL\n')
    as_user(machine, 'systemctl --user restart layers')
    assert inside(machine, facts, 'layers') == podman.strip()
    assert inside(machine, 'ls /data/opaque', 'layers') == 'new'
    start(machine)
    assert inside(machine, 'touch /x /etc/x /tmp/x; echo >>/etc/passwd; mkdir /y; chown 7:8 /bin; stat -c %u:%g / /bin /etc/passwd') == \
        '0:0\n7:8\n0:0'
    # What she has of it is to be read, by her alone.
    for command in ('touch /srv/alice/images/x', 'chmod 0777 /srv/alice/images/overlay', 'rm -rf /srv/alice/images/*',
                    'podman unshare sh -c "mount -o remount,bind,rw /srv/alice/images && touch /srv/alice/images/x"',
                    'podman unshare sh -c "mount --bind /srv/alice/images /mnt && mount -o remount,bind,rw /mnt && touch /mnt/x"'):
        assert as_user(machine, command, check=False).status, command
    make_user(machine, 'bob')
    assert as_user(machine, 'ls /srv/alice/images/overlay', 'bob', check=False).status
    assert listing(machine) == before, 'the store has changed'
    # An image's program with set-user-id is in there alice's, and does nothing for who executes it.
    machine.run(f'cp /usr/bin/id {MACHINES}/id; chmod 4755 {MACHINES}/id')
    try:
        assert machine.run('stat -c %u:%a /srv/alice/images/id').out == '1234:4755\n'
        assert as_user(machine, '/srv/alice/images/id -u', 'bob').out == '1235\n'
    finally:
        machine.run(f'rm {MACHINES}/id')
    as_user(machine, 'systemctl --user stop mine layers')
