#!/usr/bin/env python3
"""A player of the game of 21, written from docs/protocols/blackjack.md alone.

    python3 player.py NAME HOST PORT [--table FILE [--train]]

It uses the text dialect and plays by the usual chart for a player who may only hit or stand. It exits with status 0 after
QUIT, and with 1 after an error. With --table it plays by a table, and with --train it learns one.
"""

import argparse
import os
import socket
import sys

# ---- Cards and hands -------------------------------------------------------------------------------------------------

RANKS = "Ace Two Three Four Five Six Seven Eight Nine Ten Jack Queen King".split()
SUITS = "Clubs Diamonds Hearts Spades".split()
# The value of each card by its name.
VALUES = {f"{rank} of {suit}": 11 if rank == "Ace" else min(number, 10)
          for suit in SUITS for number, rank in enumerate(RANKS, 1)}


def points(hand):
    """Returns the total of a hand of card names, and whether it is soft: an ace still counts 11."""
    values = [VALUES[name] for name in hand]
    total, elevens = sum(values), values.count(11)
    while total > 21 and elevens:
        total, elevens = total - 10, elevens - 1
    return total, elevens > 0


def hits(hand, upcard):
    total, soft = points(hand)
    against = VALUES[upcard]
    if soft:
        return total <= 17 or total == 18 and against >= 9
    if against >= 7:
        return total <= 16
    if against >= 4:
        return total <= 11
    return total <= 12


# ---- Tables -----------------------------------------------------------------------------------------------------------

FIRST = "a table of 21"
# The relevant state of a hand: its total, whether it is soft, and the value of the dealer's card.
STATES = [(total, soft, against) for total in range(4, 22) for soft in (False, True) for against in range(2, 12)]
ENOUGH = 30  # the number of trials before an average is used
LARGEST = 100_000  # maximum bytes; a table whose numbers have 18 digits is smaller


class Damaged(Exception):
    """The file contains no valid table."""


class Table:
    """The trials of HIT and STAND in each state and the sums of their rewards: [times, sum, times, sum]."""

    def __init__(self):
        self.entries = {state: [0, 0, 0, 0] for state in STATES}

    def hits(self, hand, upcard):
        """Uses the better average, or the chart if either action was rarely tried."""
        hit, won_by_hit, stand, won_by_stand = self.entries[state(hand, upcard)]
        if min(hit, stand) < ENOUGH:
            return hits(hand, upcard)
        return won_by_hit * stand > won_by_stand * hit

    def tried(self, at):
        """Returns the number of visits of a state. At each tenth visit a learner takes the opposite action."""
        hit, _, stand, _ = self.entries[at]
        return hit + stand

    def learn(self, at, took_card, reward):
        entry = self.entries[at]
        place = 0 if took_card else 2
        entry[place] += 1
        entry[place + 1] += reward


def state(hand, upcard):
    return *points(hand), VALUES[upcard]


def read_table(path):
    """One line for each state, in order."""
    with open(path, "rb") as file:
        data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise Damaged(f"{path} is no table: it has more than {LARGEST} bytes")
    lines = data.decode("ascii", "replace").split("\n")
    if lines[0] != FIRST or len(lines) != len(STATES) + 2 or lines[-1]:
        raise Damaged(f"{path} is no table: it does not begin with '{FIRST}' and have {len(STATES)} lines more")
    table = Table()
    for number, (at, line) in enumerate(zip(STATES, lines[1:]), 2):
        words = line.split(" ")
        if len(words) != 4 or not all(word.removeprefix("-").isdecimal() and len(word) < 20 for word in words):
            raise Damaged(f"{path} is no table: line {number} is not four whole numbers")
        hit, won_by_hit, stand, won_by_stand = entry = [int(word) for word in words]
        if abs(won_by_hit) > hit or abs(won_by_stand) > stand:
            raise Damaged(f"{path} is no table: line {number} has rounds that were worth more than 1")
        table.entries[at] = entry
    return table


def write_table(path, table):
    """Atomic: a new file replaces the old one."""
    rows = [" ".join(map(str, table.entries[at])) for at in STATES]
    with open(path + ".new", "w", encoding="ascii") as file:
        file.write("\n".join([FIRST, *rows, ""]))
    os.replace(path + ".new", path)


# ---- Messages --------------------------------------------------------------------------------------------------------

LONGEST = 256  # maximum bytes of a message without its zero byte


class Violation(Exception):
    """The dealer broke the protocol."""


def messages(connection):
    """A `recv` may return a part of a message or several messages."""
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
    """The state of the round, and the total reward."""

    REWARDS = {"WIN": 1, "PUSH": 0, "LOOSE": -1, "LOSE": -1, "BUST": -1}

    def __init__(self, table=None, trains=False):
        self.table, self.trains = table, trains
        self.hand, self.upcard = [], None
        self.steps = []  # the states of this round and the actions in them
        self.rounds = self.reward = 0

    def handle(self, text):
        """Returns the answer, or None if it needs none."""
        word, space, rest = text.partition(" ")
        if text == "BEGIN":
            # BEGIN in the middle of a round drops the hand.
            self.hand, self.upcard, self.steps = [], None, []
        elif word == "CARD" and rest in VALUES:
            self.hand.append(rest)
        elif word == "DEALER" and rest in VALUES:
            self.upcard = rest
        elif text == "DECISION":
            if self.upcard is None or len(self.hand) < 2:
                raise Violation("DECISION came before two CARDs and DEALER")
            return "HIT" if self.chooses_hit() else "STAND"
        elif word == "RESULT" and rest in self.REWARDS:
            self.rounds += 1
            self.reward += self.REWARDS[rest]
            for step in self.steps if self.trains else []:
                self.table.learn(*step, self.REWARDS[rest])
            self.hand, self.upcard, self.steps = [], None, []
        else:
            raise Violation(f"{text[:40]!r} is no message of a dealer")
        return None


    def chooses_hit(self):
        if not self.table:
            return hits(self.hand, self.upcard)
        takes_card = self.table.hits(self.hand, self.upcard)
        if self.trains:
            at = state(self.hand, self.upcard)
            if self.table.tried(at) % 10 == 9:
                takes_card = not takes_card
            self.steps.append((at, takes_card))
        return takes_card


def send(connection, text):
    connection.sendall(text.encode("ascii") + b"\0")


def play(connection, name, player):
    send(connection, "JOIN " + name)
    for text in messages(connection):
        if text == "QUIT":
            break
        answer = player.handle(text)
        if answer:
            send(connection, answer)
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
    parser.add_argument("--table", metavar="FILE", help="play by this table")
    parser.add_argument("--train", action="store_true", help="learn the table, and create it if it does not exist")
    args = parser.parse_args()
    if args.train and not args.table:
        parser.error("--train needs --table")
    try:
        table = None
        if args.table:
            # The table is read before the dealer waits for an answer.
            table = Table() if args.train and not os.path.exists(args.table) else read_table(args.table)
        with socket.create_connection((args.host, args.port)) as connection:
            # An answer is one small message and must not wait for more data.
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            play(connection, args.name, Player(table, args.train))
        if args.train:
            write_table(args.table, table)
    except (OSError, Violation, Damaged) as why:
        print(f"player: {why}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
