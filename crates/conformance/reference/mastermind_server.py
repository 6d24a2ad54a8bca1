#!/usr/bin/env python3
"""A solo room of mastermind, written from docs/protocols/mastermind.md and docs/mastermind.md alone.

    python3 mastermind_server.py PORT [--length 4] [--colours 8] [--repeats]

It prints its port. Each player plays its own games, which all clients in the room see. `nc` works as a client.
The file contains the rules, the room, and the connections, in this order.
"""

import argparse
import secrets
import select
import socket
import sys

TURNS = 10
LONGEST = 64  # maximum bytes of a player's line
ROWS = {1: 1, 2: 2}  # the number of turns that each lifeline takes
MAX_WAITING = 1 << 16  # maximum unsent bytes for a player

# ---- The rules -------------------------------------------------------------------------------------------------------


def draw_code(length, colours, repeats):
    digits = [str(digit) for digit in range(1, colours + 1)]
    if repeats:
        return "".join(secrets.choice(digits) for _ in range(length))
    return "".join(digits.pop(secrets.randbelow(len(digits))) for _ in range(length))


def feedback(code, guess):
    """Returns the digits in the right place, and further digits of the code in a wrong place."""
    red = sum(one == other for one, other in zip(code, guess))
    common = sum(min(code.count(digit), guess.count(digit)) for digit in set(guess))
    return red, common - red


class Game:
    def __init__(self, number, length, colours, repeats):
        self.number, self.length, self.repeats = number, length, repeats
        self.code = draw_code(length, colours, repeats)
        self.turn = 1
        self.used = None  # the lifeline used in this game
        self.lines = []  # the messages about it that all clients received
        self.end = None  # won, lost or resigned
        self.played = 0  # the number of turns at the end

    def guess(self, guess):
        red, white = feedback(self.code, guess)
        row = (self.turn, guess, red, white)
        self.turn += 1
        if red == self.length:
            self.over("won", row[0])
        elif self.turn > TURNS:
            self.over("lost", TURNS)
        return row

    def over(self, how, played):
        self.end, self.played = how, played

    def can_use(self, which):
        """A game has one lifeline, which must leave a turn for a guess."""
        return self.used is None and self.turn + ROWS[which] <= TURNS

    def lifeline(self, which):
        place = secrets.randbelow(self.length)
        line = (self.turn, which, "*" if which == 1 else place + 1, self.code[place])
        self.used = which
        self.turn += ROWS[which]
        return line

    def state(self, which):
        if self.used:
            return "used"
        return "available" if self.can_use(which) else "blocked"


# ---- The room --------------------------------------------------------------------------------------------------------


def word(flag):
    return "yes" if flag else "no"


class Refused(Exception):
    """The message is rejected. The text is the reason."""


class Left(Exception):
    """The connection has ended."""


class Peer:
    def __init__(self, connection):
        connection.setblocking(False)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.connection, self.arrived, self.unsent = connection, b"", b""
        self.seat, self.name, self.game = None, None, None
        self.lost = False  # whether it has too many unread bytes

    def fileno(self):
        return self.connection.fileno()

    def send(self, line=None):
        """Sends a line, or as many bytes as the connection accepts. The rest stays in the buffer."""
        if line is not None:
            self.unsent += line.encode("ascii") + b"\n"
        try:
            self.unsent = self.unsent[self.connection.send(self.unsent):] if self.unsent else b""
        except BlockingIOError:
            pass
        except OSError:
            self.unsent = b""  # the client has disconnected, which the next read detects
        if len(self.unsent) > MAX_WAITING:
            self.unsent, self.lost = b"", True


class Room:
    def __init__(self, length, colours, repeats):
        self.length, self.colours, self.repeats = length, colours, repeats
        self.peers, self.games = [], 0

    def broadcast(self, line):
        for peer in list(self.peers):
            peer.send(line)

    def enter(self, connection):
        peer = Peer(connection)
        peer.send(f"ROOM solo {self.length} {self.colours} {word(self.repeats)}")
        for other in sorted((other for other in self.peers if other.seat), key=lambda other: other.seat):
            peer.send(f"SEAT {other.seat} {other.name}")
            for line in other.game.lines:
                peer.send(line)
        self.peers.append(peer)

    def leave(self, peer):
        if peer in self.peers:
            self.peers.remove(peer)
        peer.connection.close()
        if peer.seat:
            self.broadcast(f"LEFT {peer.seat}")

    def handle(self, peer, line):
        """The first word is the kind and may be in lower case."""
        kind, space, rest = line.partition(" ")
        kind = kind.upper()
        if kind == "PLAY" and rest:
            self.play(peer, rest)
        elif kind == "QUIT" and not space:
            peer.send("BYE thanks for playing")
            raise Left
        elif kind in ("GUESS", "LIFELINE", "HINT", "NEW", "RESIGN"):
            self.move(peer, kind, rest, space)
        else:
            raise Refused("say PLAY and a name, GUESS and digits, LIFELINE 1 or 2, NEW, RESIGN or QUIT")

    def play(self, peer, name):
        if peer.seat:
            raise Refused("you have a seat already")
        taken = {other.seat for other in self.peers}
        peer.seat = next(seat for seat in range(1, len(self.peers) + 2) if seat not in taken)
        peer.name = "".join(letter if " " <= letter <= "~" else "_" for letter in name[:24])
        peer.send(f"OK {peer.seat}")
        self.broadcast(f"SEAT {peer.seat} {peer.name}")
        self.begin(peer, self.length, self.repeats)

    def begin(self, peer, length, repeats):
        self.games += 1
        peer.game = Game(self.games, length, self.colours, repeats)
        self.record(peer, f"GAME {peer.seat} {peer.game.number} {length} {word(repeats)}")
        self.turn(peer)

    def record(self, peer, line):
        """All clients receive the line now, and later clients when they connect."""
        peer.game.lines.append(line)
        self.broadcast(line)

    def turn(self, peer):
        game = peer.game
        peer.send(f"TURN {game.turn} {game.state(1)} {game.state(2)} 0")

    def over(self, peer):
        game = peer.game
        self.record(peer, f"OVER {peer.seat} {game.end} {game.played} 0 {game.code}")

    def move(self, peer, kind, rest, space):
        game = peer.game
        if not game:
            raise Refused("say PLAY and your name first")
        if kind == "NEW":
            self.new(peer, rest, space)
        elif game.end:
            raise Refused("this game is over; say NEW for another one")
        elif kind == "GUESS":
            digits = "".join(map(str, range(1, self.colours + 1)))
            if len(rest) != game.length or not all(digit in digits for digit in rest):
                raise Refused(f"a guess has {game.length} digits from 1 to {self.colours}")
            turn, guess, red, white = game.guess(rest)
            self.record(peer, f"ROW {peer.seat} {turn} {guess} {red} {white}")
            if game.end:
                self.over(peer)
            else:
                self.turn(peer)
        elif kind == "LIFELINE":
            if rest not in ("1", "2"):
                raise Refused("there are LIFELINE 1 and LIFELINE 2")
            if not game.can_use(int(rest)):
                raise Refused("that lifeline cannot be used now")
            turn, which, place, digit = game.lifeline(int(rest))
            self.record(peer, f"LIFELINE {peer.seat} {turn} {which} {place} {digit}")
            self.turn(peer)
        elif kind == "HINT":
            raise Refused("this room gives no hints" if not space else "nothing follows HINT")
        elif not space:
            game.over("resigned", game.turn - 1)
            self.over(peer)
        else:
            raise Refused("nothing follows RESIGN")

    def new(self, peer, rest, space):
        if not peer.game.end:
            raise Refused("finish this game first, or say RESIGN")
        length, repeats = self.length, self.repeats
        if space:
            words = rest.split(" ")
            if len(words) != 2 or words[0] not in list("45678") or words[1] not in ("yes", "no"):
                raise Refused("say NEW, or NEW with a length from 4 to 8 and yes or no, as in NEW 5 yes")
            length, repeats = int(words[0]), words[1] == "yes"
        if not repeats and length > self.colours:
            raise Refused(f"{self.colours} colours are not enough for {length} digits without repeats")
        self.begin(peer, length, repeats)

    def read(self, peer):
        try:
            arrived = peer.connection.recv(4096)
        except BlockingIOError:
            return
        except OSError:
            raise Left from None
        if not arrived:
            raise Left
        peer.arrived += arrived
        while b"\n" in peer.arrived[:LONGEST + 2]:
            line, peer.arrived = peer.arrived.split(b"\n", 1)
            line = line.removesuffix(b"\r")
            if len(line) > LONGEST:
                self.too_long(peer)
            try:
                self.handle(peer, line.decode("latin-1"))
            except Refused as why:
                peer.send(f"NO {why}")
            if peer.lost:
                raise Left
        if len(peer.arrived) > LONGEST + 1:  # plus one for a carriage return
            self.too_long(peer)

    def too_long(self, peer):
        peer.send(f"BYE a line has at most {LONGEST} bytes")
        raise Left

    def run(self, listener):
        while True:
            waiting = [peer for peer in self.peers if peer.unsent]
            readable, writable, _ = select.select([listener, *self.peers], waiting, [])
            for peer in writable:
                peer.send()
            for source in readable:
                if source is listener:
                    self.enter(listener.accept()[0])
                else:
                    try:
                        self.read(source)
                    except Left:
                        self.leave(source)
            for peer in [peer for peer in self.peers if peer.lost]:
                self.leave(peer)


def main():
    parser = argparse.ArgumentParser(description="Hosts a solo room of mastermind.")
    parser.add_argument("port", type=int)
    parser.add_argument("--length", type=int, choices=range(4, 9), default=4)
    parser.add_argument("--colours", type=int, choices=range(2, 9), default=8)
    parser.add_argument("--repeats", action="store_true")
    args = parser.parse_args()
    if not args.repeats and args.length > args.colours:
        parser.error(f"{args.colours} colours are not enough for {args.length} digits without repeats")
    listener = socket.create_server(("", args.port))
    print(f"port {listener.getsockname()[1]}", flush=True)
    Room(args.length, args.colours, args.repeats).run(listener)
    return 0


if __name__ == "__main__":
    sys.exit(main())
