#!/usr/bin/env python3
"""A player that drops its connection in the middle of a match, reconnects once and plays on.

    python3 reconnect.py GAME HOST PORT NAME

It reports on standard error what the server sends first after that.
"""

import socket
import sys


class Connection:
    """A connection of a game with texts that end with the same byte."""

    def __init__(self, address, end, join):
        self.socket = socket.create_connection(address)
        self.end, self.buffer = end, b""
        self.send(join)

    def send(self, text):
        self.socket.sendall(text.encode() + self.end)

    def texts(self):
        while True:
            while self.end in self.buffer:
                text, self.buffer = self.buffer.split(self.end, 1)
                yield text.decode()
            received = self.socket.recv(4096)
            if not received:
                return
            self.buffer += received


def play(address, end, join, request, answer):
    """Reconnects instead of answering the third request, and answers it then."""
    connection = Connection(address, end, join)
    requests = 0
    while True:
        for text in connection.texts():
            if requests == 3:
                print("first:", text, file=sys.stderr, flush=True)
            if requests >= 3 or text.startswith(request):
                requests += 1
            if text.startswith(request):
                if requests == 3:
                    break
                connection.send(answer)
        else:
            return
        connection.socket.close()
        connection = Connection(address, end, join)


def nuggets(address, name):
    def join():
        server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        server.connect(address)
        server.send(b"PLAY " + name.encode())
        return server

    server, keys = join(), 0
    while True:
        message = server.recv(65536)
        if keys == 20:
            print("first:", message.split(b"\n")[0].decode(), file=sys.stderr, flush=True)
            keys += 1
        if message.startswith(b"QUIT"):
            return
        if message.startswith(b"DISPLAY"):
            server.send(b"KEY " + b"hjkl"[keys % 4 :][:1])
            keys += 1
            if keys == 20:
                # The old socket stays open, as that of a program that has crashed does for the server.
                old, server = server, join()


def main(game, host, port, name):
    address = (host, int(port))
    if game == "nuggets":
        nuggets(address, name)
    elif game == "mastermind":
        play(address, b"\n", f"PLAY {name}", "TURN", "GUESS 1122")
    else:
        play(address, b"\0", f"JOIN {name}", "DECISION", "STAND")


if __name__ == "__main__":
    main(*sys.argv[1:])
