# SPDX-License-Identifier: LGPL-2.1-or-later
"""An application as people write it, under keyturn and under Podman: networks of several kinds, pods, names and ports."""

import re

QUADLET = '/usr/libexec/podman/quadlet'
TEST_SECONDS = 300  # what is not answered takes three seconds each
SERVE = 'httpd -f -p [::]:80 -h /www'

POD = 'PodmanArgs=--infra-image=localhost/test/busybox "--infra-command=sleep 1000"\n'

FILES = {
    'front.network': '''
        [Network]
        Subnet=10.92.1.0/24
        Gateway=10.92.1.254
        IPRange=10.92.1.64/26
        Label=app=shop
        Options=mtu=1400
        DNS=192.0.2.2
    ''',
    'back.network': '''
        [Network]
        Internal=true
        Subnet=10.92.2.0/24
    ''',
    'six.network': '''
        [Network]
        IPv6=true
        Subnet=fd92:6::/64
        Gateway=fd92:6::ffff
        DisableDNS=true
    ''',
    'dual.network': '''
        [Network]
        IPv6=true
        Subnet=10.92.3.0/24
        Subnet=fd92:3::/64
        IPRange=10.92.3.100-10.92.3.120
        IPRange=fd92:3::100/120
        Options=isolate=true
        NetworkName=dual
    ''',
    'car.network': '''
        [Network]
        Driver=macvlan
        Options=parent=cable
        Subnet=192.168.7.0/24
        Gateway=192.168.7.1
        DisableDNS=true
    ''',
    'db.container': '''
        [Container]
        Network=back.network
        IP=10.92.2.10
        NetworkAlias=database
        HostName=db-host
        Exec={serve}
    ''',
    'app.container': '''
        [Unit]
        Requires=db.container
        After=db.container
        [Container]
        Image=localhost/test/debian
        Network=back.network:ip=10.92.2.20,alias=api
        Network=front.network:ip=10.92.1.20,mac=92:00:00:00:00:20
        AddHost=machine:host-gateway
        AddHost=other:10.92.2.99
        ExposeHostPort=80
        Exec=sleep 1000
    ''',
    'proxy.container': '''
        [Container]
        Network=front.network
        IP=10.92.1.30
        PublishPort=8080:80
        PublishPort=[::]:8081:80
        DNS=192.0.2.9
        DNSSearch=shop.example
        DNSOption=ndots:3
        Exec={serve}
    ''',
    'six.container': '''
        [Container]
        Network=six.network:ip6=fd92:6::20
        PublishPort=[::1]:8082:80
        PublishPort=8083:80
        HostName=six-host
        Exec={serve}
    ''',
    'dual.container': '''
        [Container]
        Network=dual.network:ip=10.92.3.50,ip6=fd92:3::50
        PublishPort=8084:80/tcp
        Exec={serve}
    ''',
    'car.container': '''
        [Container]
        Network=car.network:ip=192.168.7.20,interface_name=can0
        Exec={serve}
    ''',
    'shop.pod': '''
        [Pod]
        Network=front.network
        IP=10.92.1.40
        NetworkAlias=shop
        PublishPort=127.0.0.1:8085:80
        AddHost=outer:10.1.1.1
        {pod}
    ''',
    'shop-web.container': '''
        [Container]
        Pod=shop.pod
        Exec={serve}
    ''',
    'shop-look.container': '''
        [Container]
        Image=localhost/test/debian
        Pod=shop.pod
        Exec=sleep 1000
    ''',
    'lab.pod': '''
        [Pod]
        PodName=lab
        PodmanArgs=--hostname lab-host
        Network=back.network:ip=10.92.2.41
        Network=dual.network:ip=10.92.3.41,ip6=fd92:3::41
        PublishPort=8086:80
        {pod}
    ''',
    'lab-web.container': '''
        [Container]
        Pod=lab.pod
        Exec={serve}
    ''',
}
CONTAINERS = [name.removesuffix('.container') for name in FILES if name.endswith('.container')]
SERVING = [name for name in CONTAINERS if '{serve}' in FILES[f'{name}.container']]
SERVICES = 'db app proxy six dual car shop-pod lab-pod'


def text_of(name):
    text = re.sub('^ +', '', FILES[name].format(serve=SERVE, pod=POD), flags=re.M)
    if name.endswith('.container'):
        more = f'ContainerName={name.removesuffix(".container")}\nStopSignal=SIGKILL\nVolume=/run/www:/www:ro\n'
        more += '' if 'Image=' in text else 'Image=localhost/test/busybox\n'
        text = text.replace('[Container]\n', f'[Container]\n{more}')
    return text


def prepare(machine):
    """A cable, and another machine at its end."""
    machine.run('mkdir -p /run/www; echo hello >/run/www/index.html; ip netns add world; '
                'ip link add cable type veth peer name cable netns world; ip addr add 192.0.2.1/24 dev cable; '
                'ip -6 addr add 2001:db8::1/64 dev cable nodad; ip link set cable up; '
                'ip netns exec world sh -ec "'
                'ip addr add 192.0.2.2/24 dev cable; ip -6 addr add 2001:db8::2/64 dev cable nodad; ip link set cable up; '
                'ip link set lo up; ip route add default via 192.0.2.1; ip -6 route add default via 2001:db8::1; '
                'ip addr add 192.168.7.1/24 dev cable"')


def ask(machine, address, where=''):
    host, _, port = address.rpartition('/')
    get = f'exec 3<>/dev/tcp/{host}/{port}; echo GET / HTTP/1.0 >&3; echo >&3; tail -n 1 <&3'
    return machine.run(f'{where} timeout 3 bash -c "{get}" 2>/dev/null', check=False).out


# In a container: who it knows, and what others answer.
LOOK = r'''
    for host in {hosts}; do echo "knows $host: $(timeout 3 getent ahosts $host | grep STREAM | tr -s " " | sort | tr "\n" " ")"; done
    for address in {addresses}; do
        echo "asks $address: $(timeout 3 bash -c "exec 3<>/dev/tcp/$address; echo GET / HTTP/1.0 >&3; echo >&3; tail -n 1 <&3" 2>&1)"
    done
'''
# On the machine, in one's namespaces.
SEE = r'''
    nsenter -t {pid} -n ip -o link | grep -o "mtu [0-9]*" | sort
    nsenter -t {pid} -n ip -o addr show scope global | cut -d " " -f 2-7 | sort
    nsenter -t {pid} -n sh -c "ip route; ip -6 route" | grep -v fe80 | sort
    nsenter -t {pid} -u hostname
    sort /proc/{pid}/root/etc/hosts
    sort /proc/{pid}/root/etc/resolv.conf
    cat /proc/{pid}/root/etc/hostname
'''
SEEN_BY_APP = {
    'hosts': 'db database db-host api proxy shop lab other',
    'addresses': 'db/80 proxy/80 shop/80 10.92.3.50/80',
}
SEEN_BY_SHOP = {
    'hosts': 'app proxy shop systemd-shop shop-web outer host.containers.internal',
    'addresses': 'proxy/80 localhost/80 10.92.3.50/80 10.92.2.10/80 host.containers.internal/8080',
}

# What Podman leaves to chance, or gives to the infra container, which there is none of here.
CHANCE = [
    (r'\b[0-9a-f]{12}\b', 'ID'),
    (r'\b10\.89\.0\.(?!1\b)\d+', '10.89.0.N'),
    (r' systemd-shop-infra', ''),
    (r'lab-infra', 'lab'),
    (r'eth\d', 'eth'),
    (r'dns\.podman dns\.podman', 'dns.podman'),
    (r'10\.92\.2\.1\tmachine\n', '10.92.1.254\tmachine\n'),
]


# Of several networks, the first that Go comes upon, be it an internal one. The machine is not seen on a macvlan.
SEVERAL = ('app', 'lab-web', 'car')


def settle(name, text):
    if name in SEVERAL:
        text = re.sub(r'\S+\thost\.containers\.internal host\.docker\.internal\n', '', text)
    for pattern, replacement in CHANCE:
        text = re.sub(pattern, replacement, text)
    return '\n'.join(sorted(text.splitlines()))


def looks(machine, pid_of, inside):
    """What there is to see of each container, inside and from outside."""
    for name in SERVING:
        machine.wait_for(lambda name=name: machine.run(f'nsenter -t {pid_of(name)} -n ss -Hltn sport = :80').out)
    machine.run('ip neigh flush all; ip netns exec world ip neigh flush all')
    found = {name: settle(name, machine.run(SEE.format(pid=pid_of(name))).out) for name in CONTAINERS}
    found['by app'] = inside('app', LOOK.replace('{hosts}', SEEN_BY_APP['hosts']).replace('{addresses}', SEEN_BY_APP['addresses']))
    found['by shop'] = inside('shop-look', LOOK.replace('{hosts}', SEEN_BY_SHOP['hosts']).replace('{addresses}', SEEN_BY_SHOP['addresses']))
    for address in ('127.0.0.1/8080', '192.0.2.1/8080', '::1/8081', '::1/8082', '127.0.0.1/8083', '127.0.0.1/8084', '::1/8084',
                    '127.0.0.1/8085', '192.0.2.1/8085', '127.0.0.1/8086', '10.92.2.10/80'):
        found[f'machine asks {address}'] = ask(machine, address)
    for address in ('192.0.2.1/8080', '2001:db8::1/8080', '192.0.2.1/8081', '2001:db8::1/8082', '192.0.2.1/8083',
                    '2001:db8::1/8083', '2001:db8::1/8084', '192.0.2.1/8085', '192.0.2.1/8086', '192.168.7.20/80', '10.92.2.10/80'):
        found[f'world asks {address}'] = ask(machine, address, 'ip netns exec world')
    return found


def run_with_keyturn(machine):
    for name in FILES:
        machine.container(name, text_of(name), reload=False)
    machine.run(f'systemctl daemon-reload; systemctl start {SERVICES}', timeout=90)
    found = looks(machine, lambda name: machine.show(name, 'MainPID'),
                  lambda name, command: machine.run(['keyturnctl', 'exec', name, 'bash', '-c', command], check=False).out)
    machine.run(f'systemctl stop {SERVICES} proxy; cd /etc/containers/systemd; rm *.container *.pod *.network', timeout=60)
    machine.wait_for(lambda: machine.run('ls /run/keyturn/network', check=False).out == '')
    machine.wait_for(lambda: machine.run('pgrep aardvark', check=False).status == 1)
    return found


def run_with_podman(machine):
    for name in FILES:
        machine.write(f'/run/quadlets/{name}', text_of(name))
    machine.run(f'mkdir -p /run/units; QUADLET_UNIT_DIRS=/run/quadlets {QUADLET} -no-kmsg-log /run/units; '
                'cp /run/units/*.service /run/systemd/system/; sed -i /network-online/d /run/systemd/system/*.service; '
                f'systemctl daemon-reload; systemctl start {SERVICES}', timeout=120)
    found = looks(machine, lambda name: machine.run(f'podman inspect -f "{{{{.State.Pid}}}}" {name}').out.strip(),
                  lambda name, command: machine.run(['podman', 'exec', name, 'bash', '-c', command], check=False).out)
    machine.run(f'systemctl stop {SERVICES}; cd /run/units; for i in *; do rm -f /run/systemd/system/$i; done; systemctl daemon-reload',
                timeout=60)
    return found


def test_it_works_as_under_podman(machine):
    prepare(machine)
    ours = run_with_keyturn(machine)
    assert 'asks db/80: hello' in ours['by app'] and 'asks host.containers.internal/8080: hello' in ours['by shop'], ours
    assert ours['world asks 2001:db8::1/8084'] == ours['world asks 192.168.7.20/80'] == ours['machine asks 127.0.0.1/8085'] == 'hello\n', ours
    assert ours['world asks 192.0.2.1/8085'] == ours['world asks 10.92.2.10/80'] == '', ours
    if machine.suite != 'bookworm':  # whose Podman has no Quadlet
        podmans = run_with_podman(machine)
        different = [f'{what}:\nPodman: {podmans[what]!r}\nkeyturn: {ours[what]!r}' for what in ours if ours[what] != podmans[what]]
        assert not different, '\n'.join(different)
    machine.run('ip netns del world; podman network rm -f dual systemd-front systemd-back systemd-six systemd-car', check=False)
