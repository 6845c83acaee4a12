# SPDX-License-Identifier: LGPL-2.1-or-later
"""The keys of Quadlet files: what Podman has (the list `keys`), and what the generator's tables make of each."""

import collections
import pathlib
import re

TOP = pathlib.Path(__file__).resolve().parents[2]

Pinned = collections.namedtuple('Pinned', 'since difference')
Row = collections.namedtuple('Row', 'read reason fine')  # reason: why it is refused, or None


def pinned():
    """Podman's release, and section -> key -> Pinned."""
    release, sections = None, {}
    for line in (TOP / 'tests/quadlet/keys').read_text().splitlines():
        if line.startswith('release '):
            release = line.split()[1]
        elif line.startswith('['):
            keys = sections[line.strip('[]')] = {}
        elif line and not line.startswith('#'):
            key, since, difference = re.fullmatch(r'(\w+) ([\d.]+|next)(?:: (.+))?', line).groups()
            assert key not in keys, f'{key} is there twice'
            keys[key] = Pinned(since, difference)
    return release, sections


def string(text, macros):
    """Of C: literals, one after the other, and names of macros that are such."""
    parts = re.findall(r'"((?:[^"\\]|\\.)*)"|\b([A-Z_]+)\b', text)
    return ''.join(macros[macro] if macro else literal.replace('\\"', '"') for literal, macro in parts if macro != 'NULL')


def tables():
    """Section -> key -> Row, of all tables of the generator, in their order."""
    found = {}
    for path in sorted(TOP.glob('generator/**/*.c')):
        text = path.read_text()
        macros = dict(re.findall(r'^#define (\w+) "(.*)"$', text, re.M))
        for section, array in re.findall(r'KeyTable \w+ = \{ "(\w+)", (\w+),', text):
            body = re.search(rf'Key {array}\[\] = \{{\n(.*?)^\s*\}};', text, re.S | re.M)[1]
            rows = re.findall(r'\{ "(\w+)",\s*(READ_\w+),\s*(\w+)(?:,\s*(.*?))?\s*\},', body, re.S)
            assert len(rows) == len(re.findall(r'^ +\{ "', body, re.M)), f'{path}: not all rows of {array} are understood'
            for key, read, handler, rest in rows:
                reason, _, fine = rest.partition('.fine =')
                found.setdefault(section, {})[key] = Row(
                    read, string(reason, macros) if handler == 'NULL' else None, string(fine, macros))
    return found


def page_of(section):
    """The manual page of section 5 that describes its keys."""
    return 'keyturn.' + {'Artifact': 'image', 'Build': 'image', 'Quadlet': 'container'}.get(section, section.lower())
