#!/usr/bin/env python3
"""A client of nuggets, written from docs/protocols/nuggets.md and docs/nuggets.md alone.

    python3 nuggets_client.py HOST PORT [NAME] [--explore]

Without a name it is a spectator. It sends the keys from standard input one by one, and prints the text of QUIT. With
--explore it plays by itself: it walks to gold that it has seen, or else to the nearest spot with an unknown neighbour.
"""

import argparse
import collections
import os
import random
import select
import socket
import sys
import termios
import time
import tty

AGAIN = (1, 2, 4)  # seconds until each repetition of the first message
GIVE_UP = 15  # seconds without any answer until the client exits
LOST = 0.5  # seconds until the explorer considers its key or the answer lost

# ---- The explorer ----------------------------------------------------------------------------------------------------

KEYS = {"h": (0, -1), "j": (1, 0), "k": (-1, 0), "l": (0, 1), "y": (-1, -1), "u": (-1, 1), "b": (1, -1), "n": (1, 1)}


class Explorer:
    def __init__(self):
        self.visited = set()
        self.gold = set()  # spots of seen gold; a picture shows gold only in sight
        self.expected = None  # the spot to which the last key leads

    def key(self, rows, is_late):
        """Returns the next key, or None while the last one has had no effect and may still have one."""
        cells = {(row, column): what for row, line in enumerate(rows) for column, what in enumerate(line)}
        here = next((spot for spot, what in cells.items() if what == "@"), None)
        if here is None or not is_late and self.expected not in (None, here):
            return None
        self.visited.add(here)
        self.gold |= {spot for spot, what in cells.items() if what == "*"}
        self.gold.discard(here)
        key = self.choose(cells, here)
        self.expected = (here[0] + KEYS[key][0], here[1] + KEYS[key][1])
        return key

    def choose(self, cells, here):
        def can_stand(spot):
            what = cells.get(spot, " ")
            return what in ".#*@" or what.isalpha()

        def is_new(spot):
            around = ((spot[0] + down, spot[1] + right) for down in (-1, 0, 1) for right in (-1, 0, 1))
            return spot not in self.visited and any(cells.get(near) == " " for near in around)

        # The nearest gold first, then the nearest spot next to an unknown one, then any spot that was not visited.
        for is_goal in (self.gold.__contains__, is_new, lambda spot: spot not in self.visited):
            key = first_step(here, can_stand, is_goal)
            if key:
                return key
        # All spots were visited: other players may have blocked the way.
        self.visited.clear()
        return random.choice(list(KEYS))


def first_step(here, can_stand, is_goal):
    """Returns the first key of a shortest path to a goal (breadth-first search)."""
    first = {here: None}
    queue = collections.deque([here])
    while queue:
        spot = queue.popleft()
        if spot != here and is_goal(spot):
            return first[spot]
        for key, (down, right) in KEYS.items():
            near = (spot[0] + down, spot[1] + right)
            if near not in first and can_stand(near):
                first[near] = first[spot] or key
                queue.append(near)
    return None


# ---- The client ------------------------------------------------------------------------------------------------------


class Client:
    def __init__(self, connection, name, explorer):
        self.connection, self.explorer = connection, explorer
        # All characters after the single space are the name.
        self.greeting = b"PLAY " + os.fsencode(name) if name is not None else b"SPECTATE"
        self.letter, self.size, self.gold, self.note = None, None, None, ""
        self.answered = self.is_in = False
        self.over = None  # the text of QUIT
        self.rows, self.walked = None, time.monotonic()  # the latest picture, and when the explorer sent its last key

    def send(self, message):
        try:
            self.connection.send(message)
        except OSError:
            pass  # the server may be unreachable for a moment

    def send_key(self, key):
        self.send(b"KEY " + key)

    def handle(self, datagram):
        """Accepts different white space, and ignores unknown kinds and damaged messages."""
        self.answered = True
        message = datagram.decode("latin-1")
        kind, _, rest = message.partition("\n" if message.startswith("DISPLAY") else " ")
        words = rest.strip("\0 \n").split()
        if kind == "OK" and len(words) == 1 and len(words[0]) == 1 and "A" <= words[0] <= "Z":
            self.letter = words[0]
        elif kind == "GRID" and len(words) == 2 and all(word.isdecimal() for word in words):
            self.size = (int(words[0]), int(words[1]))
        elif kind == "GOLD" and len(words) == 3 and all(word.isdecimal() for word in words):
            self.gold = words
        elif kind.rstrip(" ") == "DISPLAY":
            self.display(rest.rstrip("\0").removesuffix("\n").split("\n"))
        elif kind == "ERROR":
            self.note = rest
        elif kind == "QUIT":
            self.over = rest.rstrip("\0\n")

    def display(self, rows):
        """A picture that does not fit the grid is damaged."""
        if self.size is None or len(rows) != self.size[0] or any(len(row) != self.size[1] for row in rows):
            return
        self.is_in = True
        if sys.stdout.isatty():
            purse, left = self.gold[1:] if self.gold else ("0", "?")
            who = f"Player {self.letter} has {purse} nuggets" if self.letter else "Spectator"
            text = "".join(letter if letter.isprintable() else "?" for letter in self.note)
            print("\x1b[H\x1b[2J" + f"{who}, {left} unclaimed. {text}", *rows, sep="\n", flush=True)
        self.note = ""
        self.walk(rows)

    def walk(self, rows):
        self.rows = rows
        is_late = time.monotonic() >= self.walked + LOST
        key = self.explorer and self.letter and self.explorer.key(rows, is_late)
        if key:
            self.walked = time.monotonic()
            self.send_key(key.encode())

    def run(self):
        """At a terminal, keys are read one by one. Returns the exit status."""
        if not sys.stdin.isatty():
            return self.play()
        modes = termios.tcgetattr(sys.stdin)
        tty.setcbreak(sys.stdin)
        try:
            return self.play()
        finally:
            termios.tcsetattr(sys.stdin, termios.TCSANOW, modes)

    def play(self):
        start = time.monotonic()
        repeats = [start + sum(AGAIN[:count]) for count in range(1, len(AGAIN) + 1)]
        quitting = 0
        self.send(self.greeting)
        while self.over is None:
            now = time.monotonic()
            if not self.answered and repeats and now >= repeats[0]:
                repeats.pop(0)
                self.send(self.greeting)
            if not self.answered and now >= start + GIVE_UP:
                print("nobody answers", file=sys.stderr)
                return 1
            if self.rows and now >= self.walked + LOST:
                self.walk(self.rows)
            if quitting and now >= quitting:
                # QUIT or KEY Q was lost.
                self.send_key(b"Q")
                return 0
            # Keys have no effect before the server accepts the client.
            listens = self.is_in and not quitting and not self.explorer
            ready, _, _ = select.select([self.connection] + [sys.stdin] * listens, [], [], 0.1)
            if sys.stdin in ready:
                keys = os.read(sys.stdin.fileno(), 1)
                # The end of the input means quit.
                self.send_key(keys or b"Q")
                quitting = 0 if keys else now + 2
            if self.connection in ready:
                try:
                    self.handle(self.connection.recv(65536))
                except OSError:
                    pass  # an earlier message was refused
        print(self.over)
        return 0


def port(word):
    if not (word.isascii() and word.isdecimal() and 1 <= int(word) <= 65535):
        raise argparse.ArgumentTypeError(f"'{word}' is no port; a port is a number from 1 to 65535")
    return int(word)


def main():
    parser = argparse.ArgumentParser(description="Plays or watches a game of nuggets.")
    parser.add_argument("host", metavar="HOST")
    parser.add_argument("port", metavar="PORT", type=port)
    parser.add_argument("name", metavar="NAME", nargs="?")
    parser.add_argument("--explore", action="store_true", help="play without keys")
    args = parser.parse_args()
    connection = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        # A connected socket receives datagrams only from this address.
        connection.connect((args.host, args.port))
    except OSError as why:
        print(f"cannot reach {args.host} port {args.port}: {why}", file=sys.stderr)
        return 1
    return Client(connection, args.name, Explorer() if args.explore else None).run()


if __name__ == "__main__":
    sys.exit(main())
