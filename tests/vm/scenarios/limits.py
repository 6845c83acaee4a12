# SPDX-License-Identifier: LGPL-2.1-or-later
"""systemd's limits hold for a container, with the kernel's controllers: memory, processes, CPU time."""

MEMORY = '''
[Container]
Image=localhost/test/busybox
Network=none
Exec=sh -c "echo begins; tail /dev/zero"

[Service]
MemoryMax=32M
MemorySwapMax=0
'''

# 20 processes and no more; what cannot be made is reported by the shell, which then goes on.
TASKS = '''
[Container]
Image=localhost/test/busybox
Network=none
PidsLimit=20
Exec=sh -c "n=0; while [ $$n -lt 40 ]; do n=$$((n+1)); (sleep 1000 &) ; done; echo all were made; sleep 1000"
'''

CPU = '''
[Container]
Image=localhost/test/busybox
Network=none
Exec=sh -c "while :; do :; done"

[Service]
CPUQuota=10%%
'''.replace('%%', '%')

# What is written outside of volumes is memory, and the unit's.
LAYER = '''
[Container]
Image=localhost/test/busybox
Network=none
Exec=sh -c "{command}; sleep 1000"
Volume=/srv/out:/out
[Keyturn]
WritableLayerSize={size}
[Service]
MemoryMax=32M
MemorySwapMax=0
'''

# A payload that is root sees its cgroup where it mounts it itself, and from a namespace that begins below it could write to it.
LIFT = '''
[Container]
Rootfs=/srv/own
Volume=/usr:/usr:ro
Volume=/etc/lift:/lift:ro
Network=none
PidsLimit=20
Exec=sh /lift
[Service]
MemoryMax=32M
CPUQuota=50%
'''
ATTACK = r'''
attack='cd /mnt && for file in memory.max memory.swap.max pids.max cpu.max; do echo max >$file; done; echo tried'
unshare -UrmC sh -c "mount -t cgroup2 none /mnt && mkdir /mnt/below && echo 0 >/mnt/below/cgroup.procs && unshare -C sh -c '$attack'"
sleep 1000
'''

SCRIPT = r'''
value() { systemctl show --property="$2" --value "$1.service"; }
group() { echo "/sys/fs/cgroup$(value "$1" ControlGroup)"; }

systemctl start memory.service
for i in $(seq 300); do [ "$(value memory ActiveState)" = failed ] && break; sleep 0.1; done
echo "memory $(value memory Result)"

mkdir /srv/out
mounts=$(cat /proc/1/mountinfo)
systemctl start layer.service
for i in $(seq 300); do [ "$(value layer ActiveState)" = failed ] && break; sleep 0.1; done
systemctl start full.service
for i in $(seq 300); do [ -s /srv/out/size ] && break; sleep 0.1; done
echo "layer $(value layer Result) $(value full ActiveState) $(awk '$NF == "/" { print $2 }' /srv/out/size)" \
     "$(du -s /run/keyturn/full | awk '{ print ($1 < 100 ? "small" : $1) }')" \
     "$([ "$mounts" = "$(cat /proc/1/mountinfo)" ] && echo unseen)"

systemctl start tasks.service
for i in $(seq 300); do [ "$(awk '$1 == "max" { print $2 }' "$(group tasks)/pids.events")" -gt 0 ] && break; sleep 0.1; done
sleep 1
echo "tasks $(cat "$(group tasks)/pids.max") $(cat "$(group tasks)/pids.current")" \
     "$(awk '$1 == "max" { print ($2 > 0 ? "refused" : "none refused") }' "$(group tasks)/pids.events")"

systemctl start busy.service
sleep 1
used() { awk '$1 == "usage_usec" { print $2 }' "$(group busy)/cpu.stat"; }
before=$(used)
at=$(cut -d' ' -f1 /proc/uptime)
# A time for which the emulator had no processor was one of the container's, which it has to pay back.
for i in $(seq 24); do
        sleep 5
        after=$(used)
        end=$(cut -d' ' -f1 /proc/uptime)
        echo "$before $after $at $end" |
                awk '{ share = ($2 - $1) / 1e6 / ($4 - $3); exit !(share > 0.07 && share < 0.13) }' && break
done
echo "cpu $before $after $at $end $(awk '$1 == "nr_throttled" { print $2 }' "$(group busy)/cpu.stat")"

mkdir -p /srv/own/{usr,proc,sys,dev,run,tmp,mnt,etc}
for link in bin sbin lib lib64; do [ ! -L /$link ] || cp -a /$link /srv/own/; done
systemctl start lift.service
for i in $(seq 300); do journalctl --quiet --output=cat --unit=lift | grep tried && break; sleep 0.1; done >/dev/null
echo "lift $(journalctl --quiet --output=cat --unit=lift | grep -c tried)" \
     "$(cd "$(group lift)" && cat memory.max memory.swap.max pids.max cpu.max | xargs)"
systemctl stop lift.service

echo "procs $(grep -cx "$(value busy MainPID)" "$(group busy)/payload/cgroup.procs")"
systemd-cgtop --batch --iterations=2 --delay=1 --raw --depth=3 |
        awk '$1 ~ "busy.service$" && !seen { print "cgtop", $1; seen = 1 }'
systemctl stop tasks.service busy.service
'''


# As on a Raspberry Pi, whose firmware says cgroup_disable=memory. What systemd cannot limit, it would start without.
WITHOUT = r'''
grep -qw memory /sys/fs/cgroup/cgroup.controllers && exit 1
systemctl start tasks.service && echo "limited $(systemctl is-active tasks.service)"
systemctl start kept.service || true
journalctl --sync
systemctl status kept.service || true
'''

KEPT = '''
[Container]
Image=localhost/test/busybox
Network=none
Memory=32m
Exec=sleep 1000
'''


def check_missing_controller(vm):
    report = vm.boot({'etc/containers/systemd/tasks.container': TASKS, 'etc/containers/systemd/kept.container': KEPT},
                     WITHOUT, cmdline='cgroup_disable=memory')
    assert report.status == 0, report.trouble()
    assert 'limited active' in report.out, report.trouble()
    assert "kept.container:4: 'Memory=': the kernel would not keep to it" in report.out, report.trouble()


def run(vm):
    report = vm.boot({
        'etc/containers/systemd/memory.container': MEMORY,
        'etc/containers/systemd/layer.container': LAYER.format(command='dd if=/dev/zero of=/f bs=1M count=64', size='100m'),
        'etc/containers/systemd/full.container': LAYER.format(
            command='dd if=/dev/zero of=/f bs=1M count=64 || df -k / >/out/size', size='4m'),
        'etc/containers/systemd/tasks.container': TASKS,
        'etc/containers/systemd/busy.container': CPU,
        'etc/containers/systemd/lift.container': LIFT,
        'etc/lift': ATTACK,
    }, SCRIPT)
    assert report.status == 0, report.trouble()
    said = {line.split(' ', 1)[0]: line.split()[1:] for line in report.out.splitlines()}

    assert said['memory'] == ['oom-kill'], f'MemoryMax=: {said["memory"]}\n{report.trouble()}'
    assert said['layer'] == ['oom-kill', 'active', '4096', 'small', 'unseen'], said['layer']
    limit, used, refused = said['tasks'][0], int(said['tasks'][1]), ' '.join(said['tasks'][2:])
    assert (limit, refused) == ('20', 'refused') and used <= 20, f'TasksMax=: {said["tasks"]}\n{report.trouble()}'

    before, after, start, end, throttled = (float(word) for word in said['cpu'])
    share = (after - before) / 1e6 / (end - start)
    vm.measured('CPU time of a container with CPUQuota=10%', round(share * 100), '% ')
    assert 0.05 < share < 0.15 and throttled > 0, f'CPUQuota=10%: used {share:.2f} of a CPU\n{report.trouble()}'

    assert said['lift'] == ['1', '33554432', 'max', '20', '50000', '100000'], f'{said["lift"]}\n{report.trouble()}'

    assert said['procs'] == ['1'], 'the payload is not in the cgroup below its unit\'s'
    assert said.get('cgtop') == ['system.slice/busy.service'], f'systemd-cgtop: {said.get("cgtop")}'

    check_missing_controller(vm)
