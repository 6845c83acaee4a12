# SPDX-License-Identifier: LGPL-2.1-or-later
"""The clock jumps by years, forward and back, while containers run: nothing hangs, storms or is killed, and no line is lost."""

BUSYBOX = 'localhost/test/busybox'
# Where 32 bits end, a battery that is empty, and back.
JUMPS = ('2032-06-01', '2038-01-19T03:14:05', '2061-07-28', '1999-12-31T23:59:58', '1970-01-02', '2027-01-01')

FILES = {
    'etc/containers/systemd/shop.network': '[Network]\nDisableDNS=true\n',
    # Who is not well for the time of a jump is killed and started anew, which is seen.
    'etc/containers/systemd/web.container': f'''
[Container]
Image={BUSYBOX}
Network=shop.network
UserNS=auto
StopSignal=SIGKILL
AutoUpdate=local
Exec=sh -c "i=0; while :; do i=$$((i + 1)); echo line $$i; sleep 0.2; done"
HealthCmd=echo . >>/tmp/checks
HealthInterval=1s
HealthTimeout=20s
HealthRetries=1
HealthOnFailure=kill
[Service]
Restart=always
SuccessExitStatus=SIGKILL
''',
    'etc/containers/systemd/other.container': f'''
[Container]
Image={BUSYBOX}
Network=shop.network
UserNS=auto
Volume=data:/data
StopSignal=SIGKILL
Exec=sleep 1000
[Service]
SuccessExitStatus=SIGKILL
''',
    'etc/containers/systemd/job.container': f'''
[Container]
Image={BUSYBOX}
Network=none
Exec=true
[Service]
Type=oneshot
''',
    'etc/systemd/system/job.timer': '[Timer]\nOnUnitActiveSec=2s\nOnActiveSec=1s\nAccuracySec=1ms\n',
    'etc/subuid': 'containers:2147483647:2147483648\n',
    'etc/subgid': 'containers:2147483647:2147483648\n',
}

# After each jump six seconds of the monotonic clock, in which five or six checks and three jobs are due.
SCRIPT = r'''
mkdir -p /var/lib/prometheus/node-exporter
systemctl start keyturn-update.timer keyturn-metrics.timer job.timer web
checks() { keyturnctl exec web wc -l /tmp/checks | cut -d' ' -f1; }
# The journal's order is that of its entries, whatever the clock says.
count() { journalctl -q -o cat -u "$1" -b | grep -c "$2" || true; }
until checked=$(checks 2>/dev/null) && [ "${checked:-0}" -gt 2 ]; do sleep 0.5; done
pid=$(systemctl show -P MainPID web)
lease=$(cat /var/lib/keyturn/leases/web)
for when in JUMPS; do
        checked=$(checks) jobs=$(count job.service Finished) updates=$(count keyturn-update.service Finished)
        begin=$(cut -d. -f1 /proc/uptime)
        date -s "$when" >/dev/null
        sleep 6
        checked=$(($(checks) - checked)) jobs=$(($(count job.service Finished) - jobs))
        updates=$(($(count keyturn-update.service Finished) - updates))
        took=$(($(cut -d. -f1 /proc/uptime) - begin))
        status=0
        timeout 60 systemctl start other || status=start
        timeout 60 keyturnctl update >/run/said 2>&1 || { status=update; cat /run/said >&2; }
        timeout 60 systemctl start keyturn-metrics || status=metrics
        for command in list 'health web' 'exec web true' 'inspect web' 'analyze other' report; do
                timeout 60 keyturnctl $command >/run/said 2>&1 || { status="$command"; cat /run/said >&2; }
        done
        # Started in one time, stopped in another.
        date -s "$when +1000 days" >/dev/null
        timeout 60 systemctl stop other keyturn-network@other keyturn-userns@other keyturn-volume@data || status=stop
        echo "jump $when ${status// /-} $took $checked $jobs $updates" \
             "$(systemctl show -P ActiveState web) $(systemctl show -P NRestarts web)" \
             "$([ "$(systemctl show -P MainPID web)" = "$pid" ] && echo same) $(systemctl show -P ActiveState job.timer)" \
             "$([ "$(cat /var/lib/keyturn/leases/web)" = "$lease" ] && echo leased)"
done
systemctl stop web
journalctl --sync
journalctl -q -o cat -u web -b _TRANSPORT=stdout | grep '^line' | awk '$2 != NR { wrong++ } END { print "lines", NR, wrong + 0 }'
systemctl --failed --plain --no-legend | sed 's/^/failed /'
'''


def run(vm):
    # The machine's clocks count instructions, and the time in which it is idle: on a busy machine nothing is late in it.
    report = vm.boot(FILES, SCRIPT.replace('JUMPS', ' '.join(JUMPS)), seconds=1800, more=['-icount', 'shift=0,sleep=on'])
    assert report.status == 0, report.trouble()
    said = [line.split() for line in report.out.splitlines()]
    jumps = [line[1:] for line in said if line[0] == 'jump']
    assert [line[0] for line in jumps] == list(JUMPS), report.trouble()
    for when, status, took, checks, jobs, updates, *web in jumps:
        assert status == '0', f'{when}: {status} fails\n{report.trouble()}'
        assert web == ['active', '0', 'same', 'active', 'leased'], f'{when}: {web}\n{report.trouble()}'
        took = int(took)
        # Neither none, nor all those that the clock has jumped over.
        assert 2 <= int(checks) <= 2 * took + 2, f'{when}: {checks} checks in {took} s\n{report.trouble()}'
        assert 1 <= int(jobs) <= took + 1, f'{when}: {jobs} jobs in {took} s\n{report.trouble()}'
        assert int(updates) <= 2, f'{when}: {updates} updates\n{report.trouble()}'
    lines, = (line for line in said if line[0] == 'lines')
    assert int(lines[1]) > 100 and lines[2] == '0', f'{lines}\n{report.trouble()}'
    assert not any(line[0] == 'failed' for line in said), report.trouble()
    vm.measured('health checks, after each of the jumps', ' '.join(line[3] for line in jumps), '')
    vm.measured('lines of a container that wrote all the time', lines[1], '')
