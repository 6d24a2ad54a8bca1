#!/usr/bin/env python3
"""Weak and faulty robots players.

    python3 robots.py WHAT HOST PORT NAME

WHAT is `walk` (moves at random and sometimes places a bomb), `crash` (fails after some turns), `silent` (never joins) or
`twice` (joins twice).
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
    for connection in both:
        connection.sendall(b"\x00" + bytes([len(name)]) + name.encode())
    chance = random.Random(1)
    reads = 0
    # Every turn arrives in one read here, so each is answered once.
    while server.recv(65536):
        reads += 1
        if what == "crash" and reads > 5:
            raise RuntimeError("I have had enough")
        bomb = chance.randrange(8) == 0
        server.sendall(b"\x01" if bomb else struct.pack("BB", 3, chance.randrange(4)))


if __name__ == "__main__":
    main(*sys.argv[1:])
