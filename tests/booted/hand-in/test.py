# SPDX-License-Identifier: LGPL-2.1-or-later
"""What systemd and a payload tell each other: readiness, watchdog, sockets; and systemd's own restart."""

NOTIFY = '''\
use Socket;
sub say_to_systemd { socket(my $s, AF_UNIX, SOCK_DGRAM, 0) or die; send($s, $_[0], 0, sockaddr_un($ENV{NOTIFY_SOCKET})) or die $! }
'''


def perl(machine, name, script, container='', service=''):
    machine.write(f'/etc/{name}.pl', NOTIFY + script)
    machine.container(name, f'''
        [Container]
        Image=localhost/test/debian
        Volume=/etc/{name}.pl:/script:ro
        Exec=perl /script
        StopSignal=SIGKILL
        {container}

        [Service]
        {service}
    ''')


def test_ready_and_status_come_from_the_payload(machine):
    for keys in ('', 'Tmpfs=/t', 'UIDMap=0:100000:65536\n        GIDMap=0:100000:65536',
                 'Tmpfs=/t\n        UIDMap=0:100000:65536\n        GIDMap=0:100000:65536'):
        machine.run('mkdir -p /srv/go && rm -f /srv/go/now')
        perl(machine, 'told', 'say_to_systemd("STATUS=warming up"); select(undef, undef, undef, 0.05) until -e "/go/now";'
                              'say_to_systemd("READY=1\nSTATUS=at work"); sleep 1000;',
             f'Notify=true\n        Volume=/srv/go:/go\n        {keys}')
        machine.run('systemctl start --no-block told')
        machine.wait_for(lambda: machine.show('told', 'StatusText') == 'warming up')
        assert machine.show('told', 'ActiveState') == 'activating', keys
        machine.run('touch /srv/go/now')
        machine.wait_for(lambda: machine.show('told', 'ActiveState') == 'active')
        assert machine.show('told', 'StatusText') == 'at work', keys
        machine.run('systemctl stop told')


def test_payload_that_dies_before_it_is_ready(machine):
    perl(machine, 'early', 'exit 7;', 'Notify=true')
    for _ in range(10):
        assert machine.run('systemctl start early', check=False).status != 0
        shown = machine.show('early', 'Result', 'ExecMainStatus')
        assert shown == {'Result': 'exit-code', 'ExecMainStatus': '7'}, shown
        machine.run('systemctl reset-failed early')


def test_watchdog(machine):
    machine.run('mkdir -p /srv/go && rm -f /srv/go/silent')
    perl(machine, 'dog', 'say_to_systemd("READY=1");'
                         'until (-e "/go/silent") { select(undef, undef, undef, 0.1); say_to_systemd("WATCHDOG=1") } sleep 1000;',
         'Notify=true\n        Volume=/srv/go:/go', 'WatchdogSec=3\n        TimeoutAbortSec=1')
    machine.run('systemctl start dog')
    machine.run('sleep 4')
    assert machine.show('dog', 'ActiveState', 'NRestarts') == {'ActiveState': 'active', 'NRestarts': '0'}
    machine.run('touch /srv/go/silent')
    machine.wait_for(lambda: machine.show('dog', 'Result') == 'watchdog')
    machine.wait_for(lambda: machine.show('dog', 'ActiveState') == 'failed')


def test_socket_activation(machine):
    perl(machine, 'bell', '''
        open(my $listener, "+<&=", 3) or die $!;
        while (accept(my $client, $listener)) {
            syswrite($client, "fds $ENV{LISTEN_FDS} pid $ENV{LISTEN_PID} $$ name $ENV{LISTEN_FDNAMES}\\n");
        }
    ''')
    machine.unit('bell.socket', '''
        [Socket]
        ListenStream=127.0.0.1:7777
        FileDescriptorName=ring
    ''')
    machine.run('systemctl start bell.socket')
    assert machine.show('bell', 'ActiveState') == 'inactive'
    for _ in range(3):
        answer = machine.run('busybox nc 127.0.0.1 7777 </dev/null').out
        assert answer == 'fds 1 pid 1 1 name ring\n', answer
    machine.run('systemctl stop bell.socket bell')


def test_containers_outlive_a_restart_of_systemd(machine):
    machine.container('kept', '''
        [Container]
        Image=localhost/test/busybox
        Exec=sh -c "while :; do echo tick; sleep 0.1; done"
        StopSignal=SIGKILL
    ''')
    machine.run('systemctl start kept')
    pid = machine.show('kept', 'MainPID')
    for how in ('daemon-reload', 'daemon-reexec', 'daemon-reload'):
        machine.run(f'systemctl {how}')
        assert machine.show('kept', 'MainPID', 'ActiveState') == {'MainPID': pid, 'ActiveState': 'active'}
        machine.mark()
        machine.wait_for(lambda: 'tick' in machine.journal('kept'))
    machine.run(f'kill -SEGV {pid}; kill -KILL {pid}')
    machine.wait_for(lambda: machine.show('kept', 'ActiveState') == 'failed')
    assert machine.show('kept', 'Result') == 'signal'
    assert machine.run('ls /run/keyturn').out.split().count('kept') == 0


def test_starts_while_systemd_reloads(machine):
    machine.container('busy@', '''
        [Container]
        Image=localhost/test/busybox
        Exec=sleep 1000
        StopSignal=SIGKILL
    ''')
    machine.run('for i in $(seq 15); do systemctl start --no-block busy@$i; systemctl daemon-reload; done', timeout=100)
    for i in range(1, 16):
        machine.wait_for(lambda: machine.show(f'busy@{i}', 'ActiveState') == 'active')
    machine.run("systemctl stop 'busy@*'")
    assert 'not our child' not in machine.journal()
