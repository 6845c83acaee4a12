# SPDX-License-Identifier: LGPL-2.1-or-later
"""TasksMax= of each unit that has a part in a start, from 1 on: it fails with a word of its reason, or starts; and a container
that has used up its own."""

BUSYBOX = 'localhost/test/busybox'
# The most that is tried. What starts with two numbers one after the other starts with more.
MOST = 40


def container(keys, service='SuccessExitStatus=SIGKILL'):
    return f'[Container]\nImage={BUSYBOX}\nStopSignal=SIGKILL\n{keys}\n[Service]\n{service}\n'


FILES = {
    'etc/subuid': 'containers:2147483647:2147483648\n',
    'etc/subgid': 'containers:2147483647:2147483648\n',
    'etc/containers/systemd/web.container': container('Network=none\nExec=sleep 1000'),
    'etc/containers/systemd/shop.network': '[Network]\n',
    'etc/containers/systemd/shop.pod': '[Pod]\nNetwork=shop.network\n',
    'etc/containers/systemd/net.container': container('Network=shop.network\nUserNS=auto\nVolume=data:/data\nExec=sleep 1000'),
    'etc/containers/systemd/talks.container': container(
        'Network=none\nExec=sh -c "i=0; while [ $$i -lt 20 ]; do i=$$((i + 1)); echo line $$i; sleep 0.05; done"', 'Type=oneshot'),
    'etc/containers/systemd/bomb.container': container(
        'Network=none\nPidsLimit=12\nHealthCmd=true\nHealthInterval=disable\nExec=sleep 1000'),
}

# UNIT STARTED: who is to have few tasks, and what starts and stops it.
SCRIPT = r'''
set +e
units='web net shop-pod talks keyturn-network@net keyturn-userns@net keyturn-volume@data shop-network'
stop_all() {
        timeout 200 systemctl stop $units
        systemctl reset-failed
        rm -rf /var/lib/containers/storage/volumes/data
}
left() {
        find /run/keyturn -xdev ! -path '*/seccomp*' ! -path '/run/keyturn/relay*' | sort
        cut -d' ' -f5 /proc/1/mountinfo | sort
        ip -o link | cut -d: -f2
        nft list ruleset
        # Those of a payload and of who makes it.
        ps -e -o comm= | grep -E '^(libstart|keyturn-|netavark|aardvark|busybox|sleep)' | grep -v keyturn-relay | sort
}
few() {
        local service=$1 unit=$2 limit=1 status said started=0
        systemctl start "$unit"
        stop_all 2>/dev/null
        sleep 3
        left >/run/before
        while [ $started -lt 2 ] && [ $limit -le MOST ]; do
                mkdir -p "/run/systemd/system/$service.d"
                printf '[Service]\nTasksMax=%s\n' $limit >"/run/systemd/system/$service.d/limit.conf"
                systemctl daemon-reload
                since=$(date '+%F %T')
                status=0
                timeout 300 systemctl start "$unit" 2>/dev/null || status=$?
                journalctl --sync
                said=$(systemctl show -P StatusText "$service"; journalctl -q -o cat -u "$service" --since "$since" | grep -v '^St[ao]')
                if [ $status = 0 ]; then
                        started=$((started + 1))
                else
                        started=0
                        echo "few $service $limit $status $(echo "$said" | grep -ciE 'temporarily unavailable|timed out')"
                        echo "$said" | sed "s/^/said $service $limit: /" | head -12
                fi
                stop_all 2>/dev/null
                rm -r "/run/systemd/system/$service.d"
                limit=$((limit + 1))
        done
        systemctl daemon-reload
        sleep 3
        left >/run/after
        diff /run/before /run/after | sed "s/^/left $service /"
        echo "enough $service $((limit - 2)) $started"
        systemctl start "$unit"
        stop_all 2>/dev/null
}
few web.service web
few net.service net
few keyturn-network@net.service net
few keyturn-userns@net.service net
few keyturn-volume@data.service net
few shop-network.service net
few shop-pod.service shop-pod

# The relay: no line is lost, however few workers it may have.
for limit in 1 2 3; do
        mkdir -p /run/systemd/system/keyturn-relay.service.d
        printf '[Service]\nTasksMax=%s\n' $limit >/run/systemd/system/keyturn-relay.service.d/limit.conf
        systemctl daemon-reload
        systemctl restart keyturn-relay
        since=$(date '+%F %T')
        status=0
        timeout 60 systemctl start talks || status=$?
        sleep 2
        journalctl --sync
        echo "talks $limit $status $(journalctl -q -o cat -u talks --since "$since" | grep -c '^line')"
        journalctl -q -o cat -u keyturn-relay --since "$since" | sed "s/^/said keyturn-relay.service $limit: /" | head
        rm -r /run/systemd/system/keyturn-relay.service.d
        systemctl daemon-reload
done
systemctl restart keyturn-relay

# A container that has used up its own: it can be stopped and started anew, and who wants more of it is told why.
left >/run/before
systemctl start bomb
for i in $(seq 14); do keyturnctl exec bomb sleep 1000 2>/dev/null & done
sleep 5
group=/sys/fs/cgroup$(systemctl show -P ControlGroup bomb)
echo "bomb $(cat "$group/pids.current")"
status=0
said=$(timeout 20 keyturnctl exec bomb true 2>&1) || status=$?
echo "exec $status $said"
status=0
timeout 60 systemctl start keyturn-health@bomb || status=$?
journalctl --sync
echo "health $status $(keyturnctl health bomb 2>&1 | tr '\n' ' ')"
journalctl -q -o cat -u keyturn-health@bomb | sed 's/^/said health: /'
for command in list 'inspect bomb' report 'restart bomb'; do
        [ "$command" = 'restart bomb' ] || timeout 60 keyturnctl $command >/dev/null 2>/run/err || echo "failed $command: $(cat /run/err)"
done
timeout 60 systemctl restart bomb && echo restarted
timeout 60 systemctl stop bomb && echo "stopped $(systemctl show -P Result bomb)"
systemctl reset-failed
sleep 2
left >/run/after
diff /run/before /run/after | sed 's/^/left bomb /'
true
'''


def run(vm):
    report = vm.boot(FILES, SCRIPT.replace('MOST', str(MOST)), seconds=2400)
    assert report.status == 0, report.trouble()
    said = [line.split() for line in report.out.splitlines() if line]
    few = [line[1:] for line in said if line[0] == 'few']
    # netavark tries for ever to make a thread: it is ended by the time-out of its service.
    for service, limit, status, words in few:
        assert status != '124' and words != '0', f'{service}, {limit}: {report.out}'
    enough = {line[1]: line[2:] for line in said if line[0] == 'enough'}
    for service, (limit, started) in enough.items():
        assert started == '2', f'{service}: {report.out}'
        vm.measured(f'TasksMax= that is enough for {service}', limit, '')
    assert len(enough) == 7 and len(few) >= 8, report.out
    # What the relay could not move for lack of a worker comes later.
    talks = [line[1:] for line in said if line[0] == 'talks']
    assert [status for _, status, _ in talks] == ['0', '0', '0'] and sum(int(lines) for _, _, lines in talks) == 60, talks
    word = {line[0]: line[1:] for line in said}
    assert word['bomb'][0] in ('11', '12') and word['exec'][0] != '0' and 'unavailable' in word['exec'], report.out
    assert word['health'][0] == '0' and 'restarted' in word and word['stopped'] == ['success'], report.out
    assert not any(line[0] in ('left', 'failed') for line in said), report.out
