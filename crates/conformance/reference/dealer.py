#!/usr/bin/env python3
"""A dealer of the game of 21, written from docs/protocols/blackjack.md alone.

    python3 dealer.py PORT ROUNDS [--players COUNT]

It uses the text dialect. Port 0 selects any free port. The port is printed on standard output.

The file contains the rules of the game, the messages, and the table, in this order.
"""

import argparse
import secrets
import select
import socket
import sys
import time

# ---- Cards and hands -------------------------------------------------------------------------------------------------

RANKS = "Ace Two Three Four Five Six Seven Eight Nine Ten Jack Queen King".split()
SUITS = "Clubs Diamonds Hearts Spades".split()
BEST = 21
DEALER_STANDS = 17


def card_name(card):
    """A card is a number from 1 to 52: ace to king of clubs, then diamonds, hearts and spades."""
    suit, rank = divmod(card - 1, 13)
    return f"{RANKS[rank]} of {SUITS[suit]}"


def points(hand):
    """Returns the total of a hand, and whether it is soft: an ace still counts 11."""
    ranks = [(card - 1) % 13 + 1 for card in hand]
    total = sum(11 if rank == 1 else min(rank, 10) for rank in ranks)
    elevens = ranks.count(1)
    while total > BEST and elevens:
        total, elevens = total - 10, elevens - 1
    return total, elevens > 0


def total(hand):
    return points(hand)[0]


def shuffled_deck():
    """Fisher-Yates: each card is drawn from the remaining ones."""
    deck = list(range(1, 53))
    for last in range(51, 0, -1):
        other = secrets.randbelow(last + 1)
        deck[last], deck[other] = deck[other], deck[last]
    return deck


def dealer_draws(hand):
    """The dealer stands on 17 or more, including a soft 17."""
    return total(hand) < DEALER_STANDS


def verdict(hand, dealer):
    if total(hand) > BEST:
        return "BUST"
    if total(dealer) > BEST or total(hand) > total(dealer):
        return "WIN"
    return "PUSH" if total(hand) == total(dealer) else "LOOSE"


# ---- Messages --------------------------------------------------------------------------------------------------------

LONGEST = 256  # maximum bytes of a message without its zero byte
PATIENCE = 30  # seconds to wait for JOIN and for each answer


class Violation(Exception):
    """The player broke the protocol."""


class Channel:
    """A connection that carries messages, each terminated by a zero byte.

    TCP is a byte stream: one `recv` may return a part of a message or several. Bytes are collected and split at zeros.
    """

    def __init__(self, connection):
        connection.settimeout(PATIENCE)
        # Otherwise the system delays small messages to merge them into one segment.
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.connection = connection
        self.bytes = b""

    def fileno(self):
        return self.connection.fileno()

    def send(self, text):
        """The next read detects a disconnected player."""
        try:
            self.connection.sendall(text.encode("ascii") + b"\0")
        except OSError:
            pass

    def read(self):
        """Reads the available bytes, or waits for the next ones."""
        try:
            arrived = self.connection.recv(4096)
        except TimeoutError as error:
            raise Violation(f"nothing came within {PATIENCE} s") from error
        except OSError as error:
            raise Violation(f"the connection is lost: {error}") from error
        if not arrived:
            raise Violation("the connection was closed")
        self.bytes += arrived

    def message(self):
        """Returns the first complete message, or None if it is not complete yet."""
        text, zero, rest = self.bytes.partition(b"\0")
        if len(text) > LONGEST:
            raise Violation(f"more than {LONGEST} bytes without a zero byte")
        if not zero:
            return None
        self.bytes = rest
        return text

    def receive(self):
        """The timeout also limits a player that sends single bytes."""
        end = time.monotonic() + PATIENCE
        while (text := self.message()) is None:
            if time.monotonic() > end:
                raise Violation(f"no message came within {PATIENCE} s")
            self.read()
        return text

    def close(self):
        try:
            self.connection.setblocking(False)
            # Unread bytes would make the system reset the connection, which would lose QUIT.
            while self.connection.recv(4096):
                pass
        except OSError:
            pass
        self.connection.close()


class Seat:
    def __init__(self, channel, name):
        self.channel, self.name, self.hand = channel, name, []

    def deal(self, card):
        self.hand.append(card)
        self.channel.send("CARD " + card_name(card))

    def request_decision(self):
        """Returns whether the player takes a card."""
        # Discard input that arrived before the question.
        if select.select([self.channel], [], [], 0)[0]:
            self.channel.read()
        if self.channel.bytes:
            raise Violation(f"{self.channel.bytes[:40]!r} came before DECISION")
        self.channel.send("DECISION")
        answer = self.channel.receive()
        if answer not in (b"HIT", b"STAND"):
            raise Violation(f"{answer[:40]!r} is neither HIT nor STAND")
        return answer == b"HIT"

    def play(self, deck):
        while total(self.hand) <= BEST and self.request_decision():
            self.deal(deck.pop())


# ---- The table -------------------------------------------------------------------------------------------------------


def name_in(text):
    word, _, name = text.partition(b" ")
    if word != b"JOIN":
        raise Violation(f"{text[:40]!r} is no JOIN")
    if not 1 <= len(name) <= 64 or not all(33 <= byte <= 126 for byte in name):
        raise Violation(f"{name[:70]!r} is no name; it has 1 to 64 printable characters without a space")
    return name.decode("ascii")


def gather(listener, count):
    """A silent client does not delay the others."""
    seats, waiting = [], {}
    while len(seats) < count:
        timeout = max(0, min(waiting.values()) - time.monotonic()) if waiting else None
        ready, _, _ = select.select([listener, *waiting], [], [], timeout)
        for channel in ready:
            if channel is listener:
                waiting[Channel(listener.accept()[0])] = time.monotonic() + PATIENCE
        for channel, end in list(waiting.items()):
            try:
                if channel in ready:
                    channel.read()
                text = channel.message()
                if text is not None and len(seats) < count:
                    seats.append(Seat(channel, name_in(text)))
                    del waiting[channel]
                elif time.monotonic() > end:
                    raise Violation("there is no JOIN in time")
            except Violation as why:
                print(f"a client does not get a seat: {why}", file=sys.stderr)
                del waiting[channel]
                channel.close()
    for channel in waiting:
        channel.close()
    return seats


def play_round(seats):
    """Returns the seats of the remaining players."""
    deck = shuffled_deck()
    for seat in seats:
        seat.hand = []
        seat.channel.send("BEGIN")
        seat.deal(deck.pop())
    dealer = [deck.pop()]  # face down
    for seat in seats:
        seat.deal(deck.pop())
    dealer.append(deck.pop())  # face up
    for seat in seats:
        seat.channel.send("DEALER " + card_name(dealer[1]))
    staying = []
    for seat in seats:
        try:
            seat.play(deck)
            staying.append(seat)
        except Violation as why:
            print(f"{seat.name} forfeits: {why}", file=sys.stderr)
            seat.channel.send("QUIT")
            seat.channel.close()
    if any(total(seat.hand) <= BEST for seat in staying):
        while dealer_draws(dealer):
            dealer.append(deck.pop())
    for seat in staying:
        seat.channel.send("RESULT " + verdict(seat.hand, dealer))
    return staying


def play(listener, rounds, players):
    seats = gather(listener, players)
    for _ in range(rounds):
        seats = play_round(seats)
        if not seats:
            print("no player is left", file=sys.stderr)
            return 1
    for seat in seats:
        seat.channel.send("QUIT")
        seat.channel.close()
    return 0


def number(lowest, highest):
    def parse(word):
        if not (word.isascii() and word.isdecimal() and lowest <= int(word) <= highest):
            raise argparse.ArgumentTypeError(f"'{word}' is no number from {lowest} to {highest}")
        return int(word)

    return parse


def main():
    parser = argparse.ArgumentParser(description="Deals the game of 21.")
    parser.add_argument("port", type=number(0, 65535))
    parser.add_argument("rounds", type=number(1, 1_000_000_000))
    parser.add_argument("--players", type=number(1, 6), default=1, metavar="COUNT")
    args = parser.parse_args()
    try:
        listener = socket.create_server(("", args.port), backlog=16)
    except OSError as why:
        print(f"cannot listen at port {args.port}: {why}", file=sys.stderr)
        return 1
    print(f"port {listener.getsockname()[1]}", flush=True)
    return play(listener, args.rounds, args.players)


if __name__ == "__main__":
    sys.exit(main())
