#!/usr/bin/env python3
"""A blackjack dealer for one player: `dealer.py PORT ROUNDS`. docs/protocols/blackjack.md has the rest."""

import random
import socket
import sys

RANKS = "Ace Two Three Four Five Six Seven Eight Nine Ten Jack Queen King".split()
SUITS = "Clubs Diamonds Hearts Spades".split()


def total(hand):
    """Returns the total of a hand. An ace counts 11 unless the total would exceed 21."""
    values = [min(RANKS.index(card.split()[0]) + 1, 10) for card in hand]
    return sum(values) + (10 if 1 in values and sum(values) <= 11 else 0)


class Player:
    def __init__(self, connection):
        self.connection, self.arrived = connection, b""

    def say(self, text):
        self.connection.sendall(text.encode() + b"\0")

    def hear(self):
        """A read may return a part of a message, or several."""
        while b"\0" not in self.arrived:
            more = self.connection.recv(4096)
            if not more or len(self.arrived) > 256:
                sys.exit("the player has left or sends no messages")
            self.arrived += more
        message, _, self.arrived = self.arrived.partition(b"\0")
        return message.decode("latin-1")


def play(player):
    deck = [f"{rank} of {suit}" for suit in SUITS for rank in RANKS]
    random.shuffle(deck)
    hand, dealer = [deck.pop(), deck.pop()], [deck.pop(), deck.pop()]
    for text in ("BEGIN", "CARD " + hand[0], "CARD " + hand[1], "DEALER " + dealer[1], "DECISION"):
        player.say(text)
    while (answer := player.hear()) == "HIT":
        hand.append(deck.pop())
        player.say("CARD " + hand[-1])
        if total(hand) > 21:
            return player.say("RESULT BUST")
        player.say("DECISION")
    if answer != "STAND":
        sys.exit(f"the player says {answer!r}")
    while total(dealer) < 17:
        dealer.append(deck.pop())
    mine, theirs = total(dealer), total(hand)
    player.say("RESULT " + ("WIN" if mine > 21 or theirs > mine else "PUSH" if theirs == mine else "LOOSE"))


with socket.create_server(("", int(sys.argv[1]))) as listener:
    player = Player(listener.accept()[0])
if not player.hear().startswith("JOIN "):
    sys.exit("that is no player")
for _ in range(int(sys.argv[2])):
    play(player)
player.say("QUIT")
