# SPDX-License-Identifier: LGPL-2.1-or-later
"""A network outside of the machine, and who asks whom there."""

from users import inside, make_user

WORLD, MACHINE = '10.11.12.1', '10.11.12.2'


def make_world(machine):
    """A network that leads out, with somebody there: once in a machine."""
    make_user(machine, 'alice')
    if machine.run('ip link show up0', check=False).status == 0:
        return
    machine.run('chmod 0666 /dev/net/tun; '  # as udev has it on a real machine
                'ip netns add world; ip link add up0 type veth peer name w0 netns world; '
                f'ip addr add {MACHINE}/24 dev up0; ip link set up0 up; ip route add default via {WORLD}; '
                f'ip -n world addr add {WORLD}/24 dev w0; ip -n world link set w0 up; ip -n world link set lo up; '
                'mkdir -p /srv/world; echo from the world >/srv/world/index.html')
    machine.run('systemd-run --unit world ip netns exec world busybox httpd -f -p 80 -h /srv/world')
    machine.wait_for(lambda: fetch(machine, 80, WORLD) == 'from the world')


def serve_locally(machine):
    """What nobody inside is to reach."""
    machine.run('systemctl is-active -q local || systemd-run --unit local busybox httpd -f -p 127.0.0.1:9000 -h /srv/world')
    machine.wait_for(lambda: fetch(machine, 9000) == 'from the world')


def take_port(machine, port):
    """Of the machine's, by the unit `taken`."""
    machine.run(f'systemd-run --collect --unit taken busybox httpd -f -p {port} -h /srv/world')
    machine.wait_for(lambda: fetch(machine, port) == 'from the world')


SERVER = 'sh -c "mkdir /www; echo from inside >/www/index.html; exec httpd -f -p 80 -h /www"'


# Not by busybox's wget, which crashes where it is static.
def ask(host, port, seconds=5):
    return f'printf "GET /index.html HTTP/1.0\\r\\n\\r\\n" | timeout {seconds} busybox nc -w {seconds} {host} {port}'


def last(said):
    return said.strip().splitlines()[-1] if said.strip() else ''


def fetch(machine, port, host='127.0.0.1'):
    return last(machine.run(ask(host, port), check=False).out)


def fetch_inside(machine, host=WORLD, port=80, name='mine', seconds=5):
    return last(inside(machine, ask(host, port, seconds), name, check=False))
