#!/usr/bin/env python3
"""A blackjack player: `player.py NAME HOST PORT`. Make it better: it stands on 17, whatever the dealer shows."""

import socket
import sys

RANKS = "Ace Two Three Four Five Six Seven Eight Nine Ten Jack Queen King".split()


def total(hand):
    """Returns the total of a hand. An ace counts 11 unless the total would exceed 21."""
    values = [min(RANKS.index(rank) + 1, 10) for rank in hand]
    return sum(values) + (10 if 1 in values and sum(values) <= 11 else 0)


def messages(connection):
    """A read may return a part of a message, or several."""
    arrived = b""
    while more := connection.recv(4096):
        arrived += more
        *complete, arrived = arrived.split(b"\0")
        yield from (message.decode("latin-1") for message in complete)
        if len(arrived) > 256:
            sys.exit("256 bytes without a zero byte")
    sys.exit("the dealer has gone")


def main(name, host, port):
    connection = socket.create_connection((host, int(port)))
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.sendall(f"JOIN {name}\0".encode())
    hand, reward = [], 0
    for message in messages(connection):
        kind, _, rest = message.partition(" ")
        rank = rest.split(" ")[0]
        if kind == "BEGIN":
            hand = []
        elif kind == "CARD" and rank in RANKS:
            hand.append(rank)
        elif kind == "DECISION":
            connection.sendall(b"STAND\0" if total(hand) >= 17 else b"HIT\0")
        elif kind == "RESULT" and rest in ("WIN", "PUSH", "LOOSE", "LOSE", "BUST"):
            reward += {"WIN": 1, "PUSH": 0}.get(rest, -1)
        elif kind == "QUIT":
            print("reward", reward)
            return
        elif kind != "DEALER" or rank not in RANKS:
            sys.exit(f"the dealer says {message!r}")


main(*sys.argv[1:])
