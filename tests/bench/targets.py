# SPDX-License-Identifier: LGPL-2.1-or-later
"""What keyturn promises about its speed, as ratios and differences of one run."""


class Values:
    """Results by name, each as one number: the median or the minimum."""

    def __init__(self, results, which):
        self.results = results
        self.which = which

    def __call__(self, name):
        return self.results[name][self.which]

    def slowest(self, beginning):
        return max(self(name) for name in self.results if name.startswith(beginning))


def ratio(one, other):
    return lambda value: value(one) / value(other)


def difference(one, other):
    return lambda value: value(one) - value(other)


def share_of_podman(value):
    native = value('units/start-1/native')
    return (value('units/start-1/keyturn') - native) / (value('units/start-1/podman') - native)


def own_variables(value):
    """Without what env(1) and the kernel need for so many themselves."""
    return (difference('environment/libstart/5004', 'environment/libstart/4')(value) -
            difference('environment/exec/5004', 'environment/exec/4')(value))


def own_pace(value):
    """On a busy machine the kernel makes any paced start wait, the floor too."""
    return (ratio('paced/libstart/100ms', 'paced/libstart/back-to-back')(value) /
            ratio('paced/floor/100ms', 'paced/floor/back-to-back')(value))


def against_the_slowest(value):
    return value('generator/keyturn/20') / value.slowest('generator/systemd-')


def beside_50(what):
    return lambda value: value(f'resident/keyturn/{what}')


def beside_podman(what, way):
    """How much worse: more time, or less in the same time."""
    kinds = ('keyturn', 'podman') if what == 'latency' else ('podman', 'keyturn')
    return ratio(*(f'bridge/{what}/{kind}/{way}' for kind in kinds))


def overheads(value):
    """Of each application the ratios of time and of processor time, each with its lower quartile.
    What the kernel's overlay costs, in-image, is no part of it."""
    if value.which != 'median':
        raise KeyError('ratios have no minimum that says anything')
    found = {}
    for name, result in value.results.items():
        group, app, *kind = name.split('/')
        if group == 'apps' and kind[0] == 'keyturn' and not app.endswith('-in-image'):
            found.setdefault(app, []).append((result['median'], result['quartiles'][0]))
    return found


def share_beyond(most):
    """Of the applications; what spans 1 with its quartiles is noise."""
    def formula(value):
        found = overheads(value)
        beyond = [app for app, ratios in found.items() if any(median > most and low > 1 for median, low in ratios)]
        return len(beyond) / len(found) if found else value('apps')
    return formula


def worst_application(value):
    return max(median for ratios in overheads(value).values() for median, _ in ratios)


def off_the_clock(value):
    return abs(value('flame/added, sum without idle') / value('flame/added, by the clock') - 1)


START, STOP = 'units/start-', 'units/stop-'

# What, how it is computed, the most it may be, its unit ('' is a ratio or a count).
TARGETS = (
    ('libstart / floor with the same filter', ratio('single/libstart', 'single/floor-seccomp'), 1.4, ''),
    ('libstart / floor without a filter', ratio('single/libstart', 'single/floor'), 1.4, ''),
    ('systemctl start: keyturn - native', difference(START + '1/keyturn', START + '1/native'), 4, 'ms'),
    ('  what keyturn adds / what Podman adds', share_of_podman, 1 / 8, ''),
    ('  keyturn / RootDirectory=', ratio(START + '1/keyturn', START + '1/root-directory'), 1, ''),
    ('50 at once: keyturn / native', ratio(START + '50/keyturn', START + '50/native'), 1.5, ''),
    ('stop of one: keyturn / native', ratio(STOP + '1/keyturn', STOP + '1/native'), 1.3, ''),
    ('stop of 50 at once: keyturn / native', ratio(STOP + '50/keyturn', STOP + '50/native'), 1.5, ''),
    ('5,004 variables - 4', difference('environment/libstart/5004', 'environment/libstart/4'), 1, 'ms'),
    ('  less what env(1) itself needs for them', own_variables, 1, 'ms'),
    ('100 ms before / back to back', ratio('paced/libstart/100ms', 'paced/libstart/back-to-back'), 1.2, ''),
    ('  the same / the floor\'s', own_pace, 1.2, ''),
    ('generator, 20 files / slowest of systemd', against_the_slowest, 1, ''),
    ('generator, 1000 files', lambda value: value('generator/keyturn/1000'), 30, 'ms'),
    ('descriptor of a user namespace, 64 MiB', lambda value: value('userns/zombie/64-MiB'), 150, 'us'),
    ('  pinned ahead', lambda value: value('userns/pinned/64-MiB'), 10, 'us'),
    ('processes of containers, beside 50', beside_50('processes-of-containers'), 0, ''),
    ('  their memory', beside_50('memory-of-containers'), 0, 'KiB'),
    ('  memory with the one relay for all', beside_50('memory'), 0, 'KiB'),
    ('  timers', beside_50('timers'), 0, ''),
    ('  wake-ups in 30 s', beside_50('wake-ups'), 0, ''),
    ('health checks of 50 / Podman\'s', ratio('health/keyturn/50', 'health/podman/50'), 1 / 10, ''),
    ("start: on a bridge - the host's network", difference('bridge/start/bridge', 'bridge/start/host'), 1.5, 'ms'),
    ('restart: the same', difference('bridge/restart/bridge', 'bridge/restart/host'), 1.5, 'ms'),
    ("stop: on a bridge / the host's network", ratio('bridge/stop/bridge', 'bridge/stop/host'), 1.1, ''),
    ('  its network goes, too', ratio('bridge/stop/bridge-that-goes', 'bridge/stop/host'), 1.1, ''),
    ("stop and start, alone on a bridge - the host's", difference('bridge/again/bridge', 'bridge/again/host'), 5, 'ms'),
    ('  a start where no network is there', difference('bridge/anew/bridge', 'bridge/anew/host'), 25, 'ms'),
    ('latency to a bridge: keyturn / Podman', beside_podman('latency', 'address'), 1.1, ''),
    ('  to a published port', beside_podman('latency', 'port'), 1.1, ''),
    ('throughput from a bridge: Podman / keyturn', beside_podman('throughput', 'address'), 1.1, ''),
    ('  from a published port', beside_podman('throughput', 'port'), 1.1, ''),
    ('crash to service: keyturn - native', difference('crash/keyturn/host', 'crash/native'), 4, 'ms'),
    ('  keyturn / RootDirectory=', ratio('crash/keyturn/host', 'crash/root-directory'), 1, ''),
    ("  on a bridge - the host's network", difference('crash/keyturn/bridge', 'crash/keyturn/host'), 1.5, 'ms'),
    ("  in a pod - the host's network", difference('crash/keyturn/pod', 'crash/keyturn/host'), 1.5, 'ms'),
    ('applications that cost more than 1 %', share_beyond(1.01), 0.1, ''),
    ('  the one that costs most', worst_application, 1.03, ''),
    ('parts of a profile: off what the clock says', off_the_clock, 0.1, ''),
    ("a user's start: keyturn - native", difference('rootless/start-1/keyturn', 'rootless/start-1/native'), 5, 'ms'),
    ('  50 at once: keyturn / native', ratio('rootless/start-50/keyturn', 'rootless/start-50/native'), 1.8, ''),
)


def compute(formula, results, which):
    """None where one of the numbers is not there."""
    try:
        return formula(Values(results, which))
    except (KeyError, ValueError):
        return None


def verdicts(results):
    """(what, by medians, by minima, target, unit, 'met' | 'missed' | 'not measured') of each target."""
    for what, formula, target, unit in TARGETS:
        median, least = (compute(formula, results, which) for which in ('median', 'min'))
        verdict = 'not measured' if median is None else 'met' if median <= target else 'missed'
        yield what, median, least, target, unit, verdict


def number(value, unit):
    if value is None:
        return '-'
    return f'{f"{value:.0f}" if value >= 1000 else f"{value:.3g}"} {unit}'.strip()


def table(results):
    lines = [f'{"target":42} {"at most":>10} {"median":>10} {"minimum":>10}']
    for what, median, least, target, unit, verdict in verdicts(results):
        numbers = ' '.join(f'{number(value, unit):>10}' for value in (target, median, least))
        lines.append(f'{what:42} {numbers}  {verdict}')
    return '\n'.join(lines)
