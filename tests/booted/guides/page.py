# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a page of Markdown has its reader write and type, and doing the same on a machine.

Read are blocks that are indented by four blanks or fenced, whose first line is one of

    # /some/path              and nothing else: the block is that file, this line included; so is what follows such a
                              line behind an empty one
    $ command, # command      a command; what follows, up to the next command, is what it prints

All other blocks are only looked at. A command goes on in the next line behind a backslash at its end, and in lines that
begin with '> '. In what is printed '...' stands for anything within a line, and a line that is '...' for any lines, also
none; how many blanks there are does not count. Where a page shows nothing, nothing is compared.

A command must succeed, unless the next one is 'echo $?'. The words of '$?' are the last command's, as in a shell; other
variables do not outlive their command.

    python3 page.py PAGE      prints what is found

With KEYTURN_TEST_SHOW=1 a test shows all that was typed and printed, for whoever writes a page.
"""

import os
import re
import sys
import time
from dataclasses import dataclass

PROMPT = re.compile(r'[#$] (?=\S)')
# These only look, at what a payload does by and by: the reader would look again, and is slower than we are.
LOOKS = re.compile(r'(sleep|journalctl|keyturnctl logs|busybox wget|busybox nc) ')
AGAIN = 10
FILE = re.compile(r'# (/[^\s]+)')


@dataclass
class File:
    line: int
    path: str
    text: str


@dataclass
class Command:
    line: int
    text: str
    shown: list


def blocks(text):
    """The number of the first line, and the lines, of each block of code."""
    lines = text.split('\n')
    number = 0
    while number < len(lines):
        first = number
        if lines[number].startswith('```'):
            number += 1
            while number < len(lines) and not lines[number].startswith('```'):
                number += 1
            if number == len(lines):
                raise ValueError(f'line {first + 1}: a fence without an end')
            yield first + 2, lines[first + 1:number]
            number += 1
        elif lines[number].startswith('    ') and (number == 0 or not lines[number - 1].strip()):
            while number < len(lines) and (lines[number].startswith('    ') or not lines[number].strip()):
                number += 1
            yield first + 1, '\n'.join(line[4:] for line in lines[first:number]).rstrip().split('\n')
        else:
            number += 1


def files(page, first, lines):
    """Files that follow each other are one block for Markdown. A command among them would become a comment."""
    found = []
    before = ''
    for number, line in enumerate(lines, first):
        named = FILE.fullmatch(line)
        if named and not before.strip():
            found.append(File(number, named[1], ''))
        elif PROMPT.match(line) and not before.strip():
            raise ValueError(f"{page}:{number}: is '{line}' a command? Put a sentence between it and the file above")
        found[-1].text += line + '\n'
        before = line
    for file in found:
        file.text = file.text.rstrip('\n') + '\n'
    return found


def commands(first, lines):
    found = []
    continues = False
    for number, line in enumerate(lines, first):
        if continues or line.startswith('> '):
            found[-1].text += '\n' + (line if continues else line[2:])
        elif PROMPT.match(line):
            found.append(Command(number, line[2:], []))
        else:
            found[-1].shown.append(line)
        continues = not found[-1].shown and found[-1].text.endswith('\\')
    for command in found:
        while command.shown and not command.shown[-1].strip():
            command.shown.pop()
    return found


def steps(path):
    """The files and commands of a page, in its order."""
    with open(path) as file:
        text = file.read()
    found = []
    for first, lines in blocks(text):
        if FILE.fullmatch(lines[0]):
            found += files(path, first, lines)
        elif PROMPT.match(lines[0]):
            found += commands(first, lines)
    if not found:
        raise ValueError(f"'{path}' has neither files nor commands")
    return found


def pattern(shown):
    """A regular expression for what is printed."""
    parts = []
    for line in shown:
        if line.strip() == '...':
            parts.append(r'(?:.*\n)*')
        else:
            words = r'\s+'.join(r'.*'.join(re.escape(part) for part in word.split('...')) for word in line.split())
            parts.append(rf'[^\S\n]*{words}[^\S\n]*\n'.replace(r'\s+', r'[^\S\n]+'))
    return re.compile(''.join(parts))


def do(machine, path):
    """Does all that a page says on a booted machine. AssertionError has the page's line."""
    found = steps(path)
    status = 0
    page = os.path.basename(path)
    for step, following in zip(found, [*found[1:], None]):
        where = f'{page}:{step.line}'
        if isinstance(step, File):
            machine.write(step.path, step.text)
            continue
        expected = isinstance(following, Command) and following.text == 'echo $?'
        command = ['/bin/bash', '-c', f'exec 2>&1\n(exit {status})\n{step.text}\n']
        deadline = time.monotonic() + (AGAIN if LOOKS.match(step.text) else 0)
        while True:
            machine.sync_journal()
            done = machine.run(command, check=False)
            status = done.status
            if os.environ.get('KEYTURN_TEST_SHOW'):
                print(f'# {where}: {step.text}\n{done.out}', end='', file=sys.stderr)
            printed = done.out if not done.out or done.out.endswith('\n') else done.out + '\n'
            if status != 0 and not expected:
                wrong = f'ended with {status}:\n{done.out}'
            elif step.shown and not pattern(step.shown).fullmatch(printed):
                wrong = f'printed:\n{printed}\nand not:\n' + '\n'.join(step.shown)
            else:
                break
            if time.monotonic() >= deadline:
                raise AssertionError(f'{where}: {step.text}\n{wrong}')
            time.sleep(0.2)


def main():
    if len(sys.argv) != 2:
        print('usage: page.py PAGE', file=sys.stderr)
        return 2
    for step in steps(sys.argv[1]):
        if isinstance(step, File):
            print(f'{step.line}: file {step.path}')
        else:
            print(f'{step.line}: {step.text}', *(f'    {line}' for line in step.shown), sep='\n')
    return 0


if __name__ == '__main__':
    sys.exit(main())
