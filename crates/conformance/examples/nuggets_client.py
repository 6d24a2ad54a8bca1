#!/usr/bin/env python3
"""A nuggets client: `nuggets_client.py HOST PORT [NAME]`.

It sends typed keys one by one, and shows the latest picture.

Without a name it is a spectator. `yes hjkl | tr -d '\\n' | nuggets_client.py localhost 2021 Ann` moves around.
"""

import atexit
import os
import select
import socket
import sys
import termios
import time
import tty

REPEATS = (1, 3, 7, 15)  # seconds until the first message is repeated; at the last one, the client exits


def main(host, port, *name):
    if not (port.isdecimal() and 0 < int(port) < 65536):
        sys.exit(f"{port} is no port")
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.connect((host, int(port)))  # receives datagrams only from this address
    greeting = b"PLAY " + os.fsencode(name[0]) if name else b"SPECTATE"
    server.send(greeting)
    if sys.stdin.isatty():
        modes = termios.tcgetattr(sys.stdin)
        atexit.register(termios.tcsetattr, sys.stdin, termios.TCSANOW, modes)
        tty.setcbreak(sys.stdin)  # single keys without echo
    start, repeats, is_in, leaves = time.monotonic(), list(REPEATS), False, None
    while True:
        now = time.monotonic()
        if repeats and now > start + repeats[0]:
            if len(repeats) == 1:
                sys.exit("nobody answers")
            repeats.pop(0)
            server.send(greeting)
        if leaves and now > leaves:
            server.send(b"KEY Q")  # the key or its answer was lost
            return
        ready, _, _ = select.select([server] + [sys.stdin] * (is_in and not leaves), [], [], 0.1)
        if sys.stdin in ready:
            key = os.read(0, 1)
            leaves = None if key else now + 2
            server.send(b"KEY " + (key or b"Q"))
        if server in ready:
            try:
                message = server.recv(65536).decode("latin-1")
            except ConnectionError:
                continue  # the server may be unreachable for a moment
            repeats = []
            kind = message.replace("\n", " ").split(" ")[0]
            if kind == "DISPLAY":
                is_in = True
                if sys.stdout.isatty():
                    print("\x1b[H\x1b[2J" + message.partition("\n")[2], flush=True)
            elif kind == "ERROR":
                print(message, file=sys.stderr)
            elif kind == "QUIT":
                print(message[5:].rstrip("\0\n"))
                return


main(*sys.argv[1:])
