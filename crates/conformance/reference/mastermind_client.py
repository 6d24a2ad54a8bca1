#!/usr/bin/env python3
"""A client that plays mastermind by itself, written from docs/protocols/mastermind.md alone.

    python3 mastermind_client.py NAME HOST PORT [--games 1]

It guesses a code that fits all previous answers, and prints a line for each game.
"""

import argparse
import itertools
import random
import socket
import sys


def feedback(code, guess):
    """Returns the digits in the right place, and further digits of the code in a wrong place."""
    red = sum(one == other for one, other in zip(code, guess))
    common = sum(min(code.count(digit), guess.count(digit)) for digit in set(guess))
    return red, common - red


class Failed(Exception):
    """The server broke the protocol."""


def lines(connection):
    """A line may arrive in pieces, and several lines together."""
    collected = b""
    while arrived := connection.recv(4096):
        collected += arrived
        *complete, collected = collected.split(b"\n")
        for line in complete:
            yield line.removesuffix(b"\r").decode("ascii", "replace")
    raise Failed("the connection ended without BYE")


class Player:
    """Keeps all codes that are still possible, which are few."""

    def __init__(self, name, games):
        self.name, self.games = name, games
        self.colours, self.seat, self.possible = None, None, []

    def handle(self, line):
        """Returns the answer, if there is one."""
        kind, *words = line.split(" ")
        own = bool(words) and self.seat is not None and words[0] == self.seat
        if kind == "ROOM":
            first, self.colours = self.colours is None, int(words[2])
            return f"PLAY {self.name}" if first else None
        if kind == "OK":
            self.seat = words[0]
        elif kind == "GAME" and own:
            digits = "".join(map(str, range(1, self.colours + 1)))
            length, repeats = int(words[2]), words[3] == "yes"
            codes = itertools.product(digits, repeat=length) if repeats else itertools.permutations(digits, length)
            self.possible = ["".join(code) for code in codes]
        elif kind == "ROW" and own:
            answer = (int(words[3]), int(words[4]))
            self.possible = [code for code in self.possible if feedback(code, words[2]) == answer]
        elif kind == "LIFELINE" and own:
            place, digit = words[3], words[4]
            fits = (lambda code: digit in code) if place == "*" else (lambda code: code[int(place) - 1] == digit)
            self.possible = [code for code in self.possible if fits(code)]
        elif kind == "TURN":
            if not self.possible:
                raise Failed("no code fits the answers of the server")
            return f"GUESS {random.choice(self.possible)}"
        elif kind == "OVER" and own:
            print(f"{words[1]} after {words[2]} turns: {words[4]}", flush=True)
            self.games -= 1
            return "NEW" if self.games > 0 else "QUIT"
        elif kind == "NO":
            raise Failed(f"the server refuses: {line}")
        return None

    def play(self, connection):
        for line in lines(connection):
            if line.startswith("BYE"):
                return
            try:
                answer = self.handle(line)
            except (IndexError, ValueError):
                raise Failed(f"no message of a server: {line!r}") from None
            if answer:
                connection.sendall(answer.encode("ascii") + b"\n")


def main():
    parser = argparse.ArgumentParser(description="Plays mastermind.")
    parser.add_argument("name")
    parser.add_argument("host")
    parser.add_argument("port", type=int)
    parser.add_argument("--games", type=int, default=1)
    args = parser.parse_args()
    try:
        with socket.create_connection((args.host, args.port)) as connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            Player(args.name, args.games).play(connection)
    except (OSError, Failed) as why:
        print(f"mastermind_client.py: {why}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
