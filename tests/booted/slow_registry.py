# SPDX-License-Identifier: LGPL-2.1-or-later
"""A registry that answers late, or never: what it says is what the other one says (registry.py), as far as it says it.

usage: slow_registry.py MODE

  accept    takes connections
  header    begins an answer
  manifest  answers whatever is no manifest
  blob      sends half of a blob
  trickle   sends half of a blob, and then a byte each second
  slow      sends all of a blob, 64 KiB each half second
"""

import contextlib
import http.client
import http.server
import os
import subprocess
import sys
import time

NAME = 'localhost:5001'


@contextlib.contextmanager
def run(machine, mode):
    """It runs outside, with the network of the machine, where there is no Python."""
    server = subprocess.Popen(['nsenter', '-t', str(machine.pid1), '-n', sys.executable, os.path.realpath(__file__), mode])
    try:
        machine.wait_for(lambda: machine.run("bash -c ': </dev/tcp/127.0.0.1/5001'", check=False).status == 0)
        yield
    finally:
        server.kill()
        server.wait()


def silence():
    time.sleep(10000)


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        mode = sys.argv[1]
        if mode == 'header':
            self.wfile.write(b'HTTP/1.1 200 OK\r\n')
        if mode in ('accept', 'header') or (mode == 'manifest' and '/manifests/' in self.path):
            silence()
        connection = http.client.HTTPConnection('127.0.0.1', 5000)
        connection.request(self.command, self.path, headers=dict(self.headers))
        answer = connection.getresponse()
        body = answer.read()
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in ('date', 'server'):
                self.send_header(name, value)
        self.end_headers()
        if '/blobs/' in self.path and len(body) > 100000 and mode != 'manifest':
            self.send_slowly(body, mode)
        elif self.command != 'HEAD':
            self.wfile.write(body)

    do_HEAD = do_GET

    def send_slowly(self, body, mode):
        if mode == 'slow':
            for at in range(0, len(body), 65536):
                self.wfile.write(body[at:at + 65536])
                time.sleep(0.5)
            return
        self.wfile.write(body[:len(body) // 2])
        for at in range(len(body) // 2, len(body)):
            if mode == 'blob':
                silence()
            self.wfile.write(body[at:at + 1])
            time.sleep(1)

    def log_message(self, *words):
        pass


if __name__ == '__main__':
    http.server.ThreadingHTTPServer(('127.0.0.1', 5001), Handler).serve_forever()
