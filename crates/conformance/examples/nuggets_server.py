#!/usr/bin/env python3
"""A nuggets server: `nuggets_server.py MAP [SEED]`. Players see the whole map: sight is left to you."""

import random
import socket
import sys

STEPS = {"h": (0, -1), "j": (1, 0), "k": (-1, 0), "l": (0, 1), "y": (-1, -1), "u": (-1, 1), "b": (1, -1), "n": (1, 1)}
ROWS = [line.rstrip("\n") for line in open(sys.argv[1], encoding="ascii")]
if sys.argv[2:] and not (sys.argv[2].isdecimal() and int(sys.argv[2]) > 0):
    sys.exit(f"{sys.argv[2]} is no seed from 1 on")
DICE = random.Random(*sys.argv[2:])
SPOTS = [(row, column) for row, line in enumerate(ROWS) for column, what in enumerate(line) if what == "."]


class Client:
    """A player or, without a letter, the spectator."""

    def __init__(self, address, letter=None, name=None, spot=None):
        self.address, self.letter, self.name, self.spot = address, letter, name, spot
        self.purse, self.is_here = 0, True


def bury():
    """Places 250 nuggets in up to 10 piles."""
    spots = DICE.sample(SPOTS, min(10, len(SPOTS) - 1))
    cuts = [0, *sorted(DICE.sample(range(1, 250), len(spots) - 1)), 250]
    return {spot: cuts[at + 1] - cuts[at] for at, spot in enumerate(spots)}


server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind(("", 0))
print("port", server.getsockname()[1], flush=True)
players, spectators, piles = [], [], bury()


def send(client, text):
    if client.is_here:
        server.sendto(text.encode("ascii"), client.address)


def show(clients):
    letters = {player.spot: player.letter for player in players if player.is_here}
    for client in clients:
        own = letters | ({client.spot: "@"} if client.letter else {})
        text = "DISPLAY\n"
        for row, line in enumerate(ROWS):
            for column, what in enumerate(line):
                text += own.get((row, column)) or ("*" if (row, column) in piles else what)
            text += "\n"
        send(client, text)


def gold(client, found=0):
    send(client, f"GOLD {found} {client.purse} {sum(piles.values())}")


def welcome(client):
    if client.letter:
        send(client, "OK " + client.letter)
    send(client, f"GRID {len(ROWS)} {len(ROWS[0])}")
    gold(client)
    show([client])


def join(name, address):
    taken = {player.spot for player in players if player.is_here}
    free = [spot for spot in SPOTS if spot not in piles and spot not in taken]
    if not name.strip():
        return server.sendto(b"QUIT Sorry - you must provide player's name.", address)
    if len(players) == 26 or not free:
        return server.sendto(b"QUIT Game is full: no more players can join.", address)
    clean = "".join(chr(byte) if 32 <= byte <= 126 or byte == 9 else "_" for byte in name[:50])
    players.append(Client(address, chr(ord("A") + len(players)), clean, DICE.choice(free)))
    welcome(players[-1])
    show(players[:-1] + spectators)


def step(player, key):
    """Swaps places with a player on the spot. Returns the gold found, or None if blocked."""
    spot = tuple(map(sum, zip(player.spot, STEPS[key])))
    if not (0 <= spot[0] < len(ROWS) and 0 <= spot[1] < len(ROWS[0])) or ROWS[spot[0]][spot[1]] not in ".#":
        return None
    for other in players:
        if other.is_here and other.spot == spot:
            other.spot = player.spot
    player.spot = spot
    found = piles.pop(spot, 0)
    player.purse += found
    return found


while piles:
    message, address = server.recvfrom(65536)
    client = next((client for client in players + spectators if client.address == address), None)
    key = message[4:].decode("latin-1") if message[:4] == b"KEY " and len(message) == 5 else None
    if message[:5] == b"PLAY ":
        if not client:
            join(message[5:], address)
        elif not client.is_here:
            send(client, "QUIT You have left this game and cannot join it again.")
    elif message == b"SPECTATE" and client not in players:
        for other in spectators if client not in spectators else []:
            send(other, "QUIT You have been replaced by a new spectator.")
        spectators[:] = [Client(address)]
        welcome(spectators[0])
    elif client and client.is_here and key == "Q":
        send(client, "QUIT Thanks for " + ("playing!" if client.letter else "watching!"))
        client.is_here = False
        show(players + spectators)
    elif client in players and client.is_here and key and key.lower() in STEPS:
        before, moved = client.purse, step(client, key.lower()) is not None
        while moved and key.isupper() and step(client, key.lower()) is not None:
            pass
        for other in players + spectators if client.purse > before else []:
            gold(other, client.purse - before if other is client else 0)
        if moved:
            show(players + spectators)
    elif client in players and client.is_here and key:
        send(client, "ERROR unknown keystroke")
    elif not key and message.split(b" ")[0].split(b"\n")[0] not in (b"OK", b"GRID", b"GOLD", b"DISPLAY", b"QUIT", b"ERROR"):
        server.sendto(b"ERROR malformed message", address)
table = "GAME OVER:" + "".join(f"\n{player.letter} {player.purse:10} {player.name}" for player in players)
for client in players + spectators:
    send(client, "QUIT " + table)
print(table)
