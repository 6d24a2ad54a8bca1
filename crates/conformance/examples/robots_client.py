#!/usr/bin/env python3
"""A robots client: `robots_client.py -d GUI -n NAME -p PORT -s SERVER`.

It joins and forwards keys. It draws only the lobby: the pictures of the game are left to you.
"""

import argparse
import select
import socket
import struct
import sys


class Reader:
    """If bytes are missing, it raises IndexError or struct.error."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def number(self, shape):
        (value,), self.at = struct.unpack_from(">" + shape, self.data, self.at), self.at + struct.calcsize(">" + shape)
        return value

    def skip(self, count):
        if self.at + count > len(self.data):
            raise IndexError
        self.at += count

    def skip_items(self, skip_item):
        for _ in range(self.number("I")):
            skip_item()

    def skip_player(self):
        self.skip(self.number("B"))
        self.skip(self.number("B"))

    def skip_event(self):
        tag = self.number("B")
        if tag > 3:
            sys.exit(f"an event with the tag {tag}")
        self.skip({0: 8, 1: 4, 2: 5, 3: 4}[tag])
        if tag == 1:
            self.skip_items(lambda: self.skip(1))
            self.skip_items(lambda: self.skip(4))

    def message(self):
        """Reads the next message. Storing more of its content is left to you: a picture of the game needs it."""
        tag = self.number("B")
        start = self.at
        if tag > 4:
            sys.exit(f"a message with the tag {tag}")
        if tag == 0:
            self.skip(self.number("B"))
            self.skip(11)
        elif tag == 1:
            self.skip(1)
            self.skip_player()
        elif tag == 2:
            self.skip_items(lambda: (self.skip(1), self.skip_player()))
        elif tag == 3:
            self.skip(2)
            self.skip_items(self.skip_event)
        else:
            self.skip_items(lambda: self.skip(5))
        return tag, self.data[start:self.at]


parser = argparse.ArgumentParser()
for option in "dnps":
    parser.add_argument("-" + option, required=True)
args = parser.parse_args()
host, _, port = args.s.rpartition(":")
keys = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
keys.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
keys.bind(("", int(args.p)))
server = socket.create_connection((host.strip("[]"), int(port)))
server.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
gui = socket.getaddrinfo(*[part.strip("[]") for part in args.d.rsplit(":", 1)], type=socket.SOCK_DGRAM)[0]
screen = socket.socket(gui[0], socket.SOCK_DGRAM)
arrived, plays, name, players, hello = b"", False, args.n.encode(), [], b""
while True:
    ready, _, _ = select.select([server, keys], [], [])
    if keys in ready:
        key = keys.recv(65536)
        if key in (b"\0", b"\1") or len(key) == 2 and key[0] == 2 and key[1] < 4:
            # In the lobby, each key joins. In a game, it is forwarded with its tag increased by one.
            server.sendall(bytes([key[0] + 1]) + key[1:] if plays else bytes([0, len(name)]) + name)
    if server in ready:
        more = server.recv(65536)
        if not more:
            sys.exit("the server has gone")
        arrived += more
        try:
            while arrived:
                reader = Reader(arrived)
                tag, rest = reader.message()
                arrived, plays = arrived[reader.at:], tag == 2 or plays and tag != 4
                hello = hello or rest
                players = players + [rest] if tag == 1 else [] if tag == 4 else players
                if tag in (0, 1, 4):
                    screen.sendto(b"\0" + hello + struct.pack(">I", len(players)) + b"".join(players), gui[4])
        except (IndexError, struct.error):
            pass  # the message is incomplete
