#!/usr/bin/env python3
"""A server of nuggets, written from docs/protocols/nuggets.md and docs/nuggets.md alone.

    python3 nuggets_server.py MAP [SEED]

It prints its UDP port on standard output, and the table at the end of the game.

The file contains the map, the sight of players, the game, and the messages, in this order.
"""

import argparse
import functools
import random
import signal
import socket
import sys
import time

GOLD = 250
PILES = (10, 30)
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
LONGEST_NAME = 50
LARGEST = 65507  # maximum bytes of a datagram

# ---- The map ---------------------------------------------------------------------------------------------------------


def load(path):
    """Returns the rows, all of the same length."""
    with open(path, encoding="ascii") as file:
        rows = [line.rstrip("\r\n") for line in file]
    width = max((len(row) for row in rows), default=0)
    rows = tuple(row.ljust(width) for row in rows)
    for number, row in enumerate(rows, 1):
        for letter in row:
            if letter not in " -|+.#":
                raise ValueError(f"row {number} has {letter!r}; a map is made of ' ', '-', '|', '+', '.' and '#'")
    if sum(row.count(".") for row in rows) < 2:
        raise ValueError("there are fewer than two room spots")
    if 8 + len(rows) * (width + 1) > LARGEST:
        raise ValueError(f"its DISPLAY would not fit into a datagram of {LARGEST} bytes")
    return rows


# ---- Sight -----------------------------------------------------------------------------------------------------------


def crossings(start, end):
    """Yields where the segment between two gridpoints crosses the rows strictly between them, as integers.

    For each such row: the column left of the crossing, or exactly at it, and whether it is exact. With swapped coordinates,
    the function yields the crossings of columns.
    """
    (row, column), (last, aim) = start, end
    step = 1 if last > row else -1
    for between in range(row + step, last, step):
        # The column is column + (aim - column) * (between - row) / (last - row). With integers, the remainder shows
        # whether the division is exact, which floating-point numbers do not.
        whole, rest = divmod((aim - column) * (between - row), last - row)
        yield between, column + whole, rest == 0


def sees(rows, start, end):
    """Only room spots are transparent."""

    def is_open(row, column):
        return rows[row][column] == "."

    for row, column, exact in crossings(start, end):
        if not (is_open(row, column) or not exact and is_open(row, column + 1)):
            return False
    for column, row, exact in crossings(start[::-1], end[::-1]):
        if not (is_open(row, column) or not exact and is_open(row + 1, column)):
            return False
    return True


@functools.lru_cache(maxsize=None)
def view(rows, spot):
    """Visible gridpoints depend only on the map, so they are cached."""
    points = ((row, column) for row in range(len(rows)) for column in range(len(rows[0])))
    return frozenset(point for point in points if sees(rows, spot, point))


# ---- The game --------------------------------------------------------------------------------------------------------

STEPS = {"h": (0, -1), "j": (1, 0), "k": (-1, 0), "l": (0, 1), "y": (-1, -1), "u": (-1, 1), "b": (1, -1), "n": (1, 1)}


class Player:
    def __init__(self, letter, name, address):
        self.letter, self.name, self.address = letter, name, address
        self.spot, self.purse, self.known = None, 0, set()
        self.plays = True  # until it quits
        self.welcomed = time.monotonic()  # when the first messages were sent to it, or None after its first KEY

    def stand(self, rows, spot):
        """The player remembers all that it sees from there."""
        self.spot = spot
        self.known |= view(rows, spot)


class Game:
    def __init__(self, rows, dice):
        self.rows, self.dice = rows, dice
        self.players = []  # all players who have joined, in the order of their letters
        self.piles = {}
        free = self.room_spots()
        count = min(dice.randint(*PILES), len(free) - 1)  # one spot remains for a player
        spots = dice.sample(free, count)
        for number, spot in enumerate(spots):
            # Each pile has at least one nugget, and the last one has the rest.
            others = count - number - 1
            left = GOLD - sum(self.piles.values())
            self.piles[spot] = dice.randint(1, min(left - others, 2 * left // (others + 1))) if others else left

    def room_spots(self):
        return [(row, column) for row, line in enumerate(self.rows) for column, what in enumerate(line) if what == "."]

    def left(self):
        return sum(self.piles.values())

    def at(self, spot):
        return next((player for player in self.players if player.plays and player.spot == spot), None)

    def join(self, name, address):
        """Returns a new player, or None if no letter or no spot is free."""
        free = [spot for spot in self.room_spots() if spot not in self.piles and not self.at(spot)]
        if len(self.players) == len(LETTERS) or not free:
            return None
        player = Player(LETTERS[len(self.players)], name, address)
        player.stand(self.rows, self.dice.choice(free))
        self.players.append(player)
        return player

    def can_stand(self, row, column):
        return 0 <= row < len(self.rows) and 0 <= column < len(self.rows[0]) and self.rows[row][column] in ".#"

    def step(self, player, way):
        """Returns whether the step was possible, and the gold found."""
        spot = (player.spot[0] + way[0], player.spot[1] + way[1])
        if not self.can_stand(*spot):
            return False, 0
        other, before = self.at(spot), player.spot
        if other:
            swap(self, other, before)
        player.stand(self.rows, spot)
        found = self.piles.pop(spot, 0)
        player.purse += found
        return True, found

    def move(self, player, key):
        """A capital letter is a run. Returns whether the player moved, and the gold found."""
        way = STEPS[key.lower()]
        moved, found = self.step(player, way)
        while key.isupper() and moved:
            goes_on, more = self.step(player, way)
            found += more
            if not goes_on:
                break
        return moved, found

    def picture(self, player):
        """The spectator (None) sees everything."""
        letters = {other.spot: other.letter for other in self.players if other.plays}
        seen = player and view(self.rows, player.spot)

        def cell(spot, ground):
            if player and spot == player.spot:
                return "@"
            if player and spot not in seen:
                return ground if spot in player.known else " "
            return letters.get(spot) or ("*" if spot in self.piles else ground)

        return "".join("".join(cell((row, column), ground) for column, ground in enumerate(line)) + "\n"
                       for row, line in enumerate(self.rows))

    def table(self):
        return "".join(f"\n{player.letter} {player.purse:10} {player.name}" for player in self.players)


def swap(game, pushed, spot):
    """The pushed player sees from its new spot."""
    pushed.stand(game.rows, spot)


# ---- Messages --------------------------------------------------------------------------------------------------------


class Over(Exception):
    """The game is over."""


def clean(name):
    """Returns a name for display: 50 bytes of graphic ASCII, spaces and tabs."""
    return "".join(chr(byte) if 33 <= byte <= 126 or byte in b" \t" else "_" for byte in name[:LONGEST_NAME])


class Server:
    def __init__(self, rows, dice, connection):
        self.game, self.connection = Game(rows, dice), connection
        self.spectator = None  # the address of the spectator

    def send(self, address, text):
        try:
            self.connection.sendto(text.encode("ascii"), address)
        except OSError:
            pass  # a disconnected client must not affect other clients

    def player_at(self, address):
        """Includes players that have quit."""
        return next((player for player in self.game.players if player.address == address), None)

    def recipients(self):
        """Returns the address of each client, and its player, or None for the spectator."""
        clients = [(player.address, player) for player in self.game.players if player.plays]
        return clients + ([(self.spectator, None)] if self.spectator else [])

    def send_gold(self, address, player, found=0):
        self.send(address, f"GOLD {found} {player.purse if player else 0} {self.game.left()}")

    def send_display(self, address, player):
        self.send(address, "DISPLAY\n" + self.game.picture(player))

    def welcome(self, address, player):
        if player:
            self.send(address, "OK " + player.letter)
        self.send(address, f"GRID {len(self.game.rows)} {len(self.game.rows[0])}")
        self.send_gold(address, player)
        self.send_display(address, player)

    def handle(self, message, address):
        """The first word, up to the first space or newline, is the kind."""
        kind = message.split(b" ")[0].split(b"\n")[0]
        if kind == b"PLAY" and message.startswith(b"PLAY "):
            self.play(message[5:], address)
        elif message == b"SPECTATE":
            self.spectate(address)
        elif kind == b"KEY" and message.startswith(b"KEY ") and len(message) == 5:
            self.key(message[4:].decode("latin-1"), address)
        elif kind not in (b"OK", b"GRID", b"GOLD", b"DISPLAY", b"QUIT", b"ERROR"):
            # Two servers that answer each other's messages would never stop.
            self.send(address, "ERROR malformed message: expected 'PLAY ' and a name, SPECTATE, or 'KEY ' and one byte")

    def play(self, name, address):
        player = self.player_at(address)
        if player and not player.plays:
            self.send(address, "QUIT You have left this game and cannot join it again.")
        elif player and player.welcomed is None:
            self.send(address, "ERROR you play already")
        elif player:
            # The first messages to it may have been lost.
            if time.monotonic() >= player.welcomed + 1:
                player.welcomed = time.monotonic()
                self.welcome(address, player)
        elif address == self.spectator:
            self.send(address, "ERROR you are the spectator")
        elif not name.strip():
            self.send(address, "QUIT Sorry - you must provide player's name.")
        else:
            player = self.game.join(clean(name), address)
            if not player:
                self.send(address, "QUIT Game is full: no more players can join.")
                return
            self.welcome(address, player)
            for other, of in self.recipients():
                if of is not player:
                    self.send_display(other, of)

    def spectate(self, address):
        player = self.player_at(address)
        if player and player.plays:
            self.send(address, "ERROR you play already")
            return
        if self.spectator and self.spectator != address:
            self.send(self.spectator, "QUIT You have been replaced by a new spectator.")
        self.spectator = address
        self.welcome(address, None)

    def key(self, key, address):
        player = self.player_at(address)
        if address == self.spectator and key == "Q":
            self.send(address, "QUIT Thanks for watching!")
            self.spectator = None
        if not player or not player.plays:
            return
        player.welcomed = None
        if key == "Q":
            player.plays = False
            self.send(address, "QUIT Thanks for playing!")
            self.show()
        elif key.lower() in STEPS:
            moved, found = self.game.move(player, key)
            if found:
                for other, of in self.recipients():
                    self.send_gold(other, of, found if of is player else 0)
            if moved:
                self.show()
            if not self.game.piles:
                raise Over
        else:
            self.send(address, "ERROR unknown keystroke")

    def show(self):
        for address, player in self.recipients():
            self.send_display(address, player)

    def end(self, text):
        for address, _ in self.recipients():
            self.send(address, f"QUIT {text}{self.game.table()}")

    def run(self):
        try:
            while True:
                self.handle(*self.connection.recvfrom(65536))
        except Over:
            self.end("GAME OVER:")
            print("GAME OVER:" + self.game.table())
        except KeyboardInterrupt:
            self.end("The server was stopped.")


def positive(word):
    if not (word.isascii() and word.isdecimal() and int(word) > 0):
        raise argparse.ArgumentTypeError(f"'{word}' is no number from 1 on")
    return int(word)


def stop(*_):
    raise KeyboardInterrupt


def main():
    parser = argparse.ArgumentParser(description="Serves a game of nuggets.")
    parser.add_argument("map", metavar="MAP")
    parser.add_argument("seed", metavar="SEED", type=positive, nargs="?", help="for the same game again")
    args = parser.parse_args()
    try:
        rows = load(args.map)
    except (OSError, ValueError) as why:
        print(f"cannot use the map {args.map}: {why}", file=sys.stderr)
        return 1
    signal.signal(signal.SIGTERM, stop)
    connection = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    connection.bind(("", 0))
    # Flushed, since a pipe would buffer it.
    print(f"waiting at port {connection.getsockname()[1]}", flush=True)
    Server(rows, random.Random(args.seed), connection).run()
    return 0


if __name__ == "__main__":
    sys.exit(main())
