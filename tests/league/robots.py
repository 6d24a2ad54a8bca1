#!/usr/bin/env python3
"""Weak and faulty robots players.

    python3 robots.py WHAT HOST PORT NAME

WHAT is `walk` (moves at random and sometimes places a bomb), `crash` (fails after some turns), `silent` (never joins),
`twice` (joins twice), `return` (reconnects once) or `often` (reconnects every few turns).
"""

import random
import socket
import struct
import sys


def connect(host, port):
    server = socket.create_connection((host, int(port)))
    server.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return server


def main(what, host, port, name):
    if what == "silent":
        server = connect(host, port)
        while server.recv(4096):
            pass
        return
    server = connect(host, port)
    both = [server, connect(host, port)] if what == "twice" else [server]
    join = b"\x00" + bytes([len(name)]) + name.encode()
    for connection in both:
        connection.sendall(join)
    chance = random.Random(1)
    reads = 0
    times = {"return": 1, "often": 1000}.get(what, 0)
    # Every turn arrives in one read here, so each is answered once.
    while server.recv(65536):
        reads += 1
        if times and reads % 8 == 0:
            times -= 1
            server.close()
            try:
                server = connect(host, port)
                server.sendall(join)
                # The game so far begins with Hello.
                is_back = server.recv(1) == b"\x00"
            except ConnectionError:
                # The match may be over.
                is_back = False
            if not is_back:
                raise RuntimeError("my seat is gone")
            print("I am back", file=sys.stderr, flush=True)
        if what == "crash" and reads > 5:
            raise RuntimeError("I have had enough")
        bomb = chance.randrange(8) == 0
        server.sendall(b"\x01" if bomb else struct.pack("BB", 3, chance.randrange(4)))


if __name__ == "__main__":
    main(*sys.argv[1:])
