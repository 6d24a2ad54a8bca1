#!/usr/bin/env python3
"""A player of the game of 21, written from docs/protocols/blackjack.md alone.

    python3 player.py NAME HOST PORT

It speaks the text dialect, plays by the usual chart for a player who may only hit or stand, and ends with status 0 after
QUIT, with 1 when something is wrong.
"""

import argparse
import socket
import sys

# ---- Cards and hands -------------------------------------------------------------------------------------------------

RANKS = "Ace Two Three Four Five Six Seven Eight Nine Ten Jack Queen King".split()
SUITS = "Clubs Diamonds Hearts Spades".split()
# The value of each card by its name.
VALUES = {f"{rank} of {suit}": 11 if rank == "Ace" else min(number, 10)
          for suit in SUITS for number, rank in enumerate(RANKS, 1)}


def points(hand):
    """The total of a hand of names, and whether it is soft: an ace still counts 11."""
    values = [VALUES[name] for name in hand]
    total, elevens = sum(values), values.count(11)
    while total > 21 and elevens:
        total, elevens = total - 10, elevens - 1
    return total, elevens > 0


def hits(hand, upcard):
    """Whether to take a card."""
    total, soft = points(hand)
    against = VALUES[upcard]
    if soft:
        return total <= 17 or total == 18 and against >= 9
    if against >= 7:
        return total <= 16
    if against >= 4:
        return total <= 11
    return total <= 12


# ---- Messages --------------------------------------------------------------------------------------------------------

LONGEST = 256  # bytes of a message without its zero byte


class Violation(Exception):
    """The dealer did something else than the protocol says."""


def messages(connection):
    """Each message of the dealer. One `recv` may return half a message or several, so bytes are collected and split."""
    collected = b""
    while arrived := connection.recv(4096):
        collected += arrived
        while True:
            text, zero, rest = collected.partition(b"\0")
            if len(text) > LONGEST:
                raise Violation(f"more than {LONGEST} bytes without a zero byte")
            if not zero:
                break
            collected = rest
            yield text.decode("ascii", "replace")
    raise Violation("the connection ended without QUIT")


# ---- The game --------------------------------------------------------------------------------------------------------


class Player:
    """What a player remembers of the round, and what it has won."""

    REWARDS = {"WIN": 1, "PUSH": 0, "LOOSE": -1, "LOSE": -1, "BUST": -1}

    def __init__(self):
        self.hand, self.upcard = [], None
        self.rounds = self.reward = 0

    def hear(self, text):
        """Takes a message. Returns the answer, or None if none is asked for."""
        word, space, rest = text.partition(" ")
        if text == "BEGIN":
            # Also in the middle of a round: the hand so far is dropped.
            self.hand, self.upcard = [], None
        elif word == "CARD" and rest in VALUES:
            self.hand.append(rest)
        elif word == "DEALER" and rest in VALUES:
            self.upcard = rest
        elif text == "DECISION":
            if self.upcard is None or len(self.hand) < 2:
                raise Violation("DECISION came before two CARDs and DEALER")
            return "HIT" if hits(self.hand, self.upcard) else "STAND"
        elif word == "RESULT" and rest in self.REWARDS:
            self.rounds += 1
            self.reward += self.REWARDS[rest]
            self.hand, self.upcard = [], None
        else:
            raise Violation(f"{text[:40]!r} is no message of a dealer")
        return None


def say(connection, text):
    connection.sendall(text.encode("ascii") + b"\0")


def play(connection, name):
    player = Player()
    say(connection, "JOIN " + name)
    for text in messages(connection):
        if text == "QUIT":
            break
        answer = player.hear(text)
        if answer:
            say(connection, answer)
    print(f"{player.rounds} rounds, reward {player.reward}")


def port(word):
    if not (word.isascii() and word.isdecimal() and 1 <= int(word) <= 65535):
        raise argparse.ArgumentTypeError(f"'{word}' is no port; a port is a number from 1 to 65535")
    return int(word)


def player_name(word):
    if not 1 <= len(word) <= 64 or not all("!" <= letter <= "~" for letter in word):
        raise argparse.ArgumentTypeError(f"'{word}' is no name; it has 1 to 64 printable characters without a space")
    return word


def main():
    parser = argparse.ArgumentParser(description="Plays the game of 21.")
    parser.add_argument("name", type=player_name)
    parser.add_argument("host")
    parser.add_argument("port", type=port)
    args = parser.parse_args()
    try:
        with socket.create_connection((args.host, args.port)) as connection:
            # An answer is one small message: it must not wait for more bytes.
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            play(connection, args.name)
    except (OSError, Violation) as why:
        print(f"player: {why}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    if "--fault" in sys.argv:
        # To test the tester: with `--fault NAME` the program does one thing wrong.
        import faults

        faults.begin("player", globals())
    sys.exit(main())
