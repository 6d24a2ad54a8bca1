#!/usr/bin/env python3
"""A server of robots, written from docs/protocols/robots.md alone.

    python3 robots_server.py -b BOMB_TIMER -c PLAYERS -d TURN_MS -e RADIUS -k BLOCKS -l LENGTH -n NAME -p PORT -x X -y Y [-s SEED]

It hosts successive games. The file contains the encoding, the rules, and the connections, in this order.
"""

import argparse
import secrets
import select
import signal
import socket
import struct
import sys
import time

# ---- Bytes -----------------------------------------------------------------------------------------------------------


def u8(number):
    return struct.pack(">B", number)


def u16(number):
    return struct.pack(">H", number)


def u32(number):
    return struct.pack(">I", number)


def text(words):
    encoded = words.encode("utf-8")
    return u8(len(encoded)) + encoded


def items(encoded):
    """Encodes a list or a map: a count, then the items or the keys with their values."""
    return u32(len(encoded)) + b"".join(encoded)


def position(spot):
    return u16(spot[0]) + u16(spot[1])


def bomb_placed(bomb, spot):
    return b"\0" + u32(bomb) + position(spot)


def bomb_exploded(bomb, robots, blocks):
    return b"\1" + u32(bomb) + items([u8(robot) for robot in robots]) + items([position(spot) for spot in blocks])


def player_moved(player, spot):
    return b"\2" + u8(player) + position(spot)


def block_placed(spot):
    return b"\3" + position(spot)


class Malformed(Exception):
    """The bytes are not a message of a client."""


JOIN, PLACE_BOMB, PLACE_BLOCK, MOVE = range(4)


def parse(data):
    """Returns the first message as (kind, name or direction) and its length, or None if it is not complete."""
    if not data:
        return None
    kind = data[0]
    if kind == JOIN:
        if len(data) < 2 or len(data) < 2 + data[1]:
            return None
        end = 2 + data[1]
        try:
            return (JOIN, data[2:end].decode("utf-8")), end
        except UnicodeDecodeError as why:
            raise Malformed("a name that is not UTF-8") from why
    if kind in (PLACE_BOMB, PLACE_BLOCK):
        return (kind, None), 1
    if kind == MOVE:
        if len(data) < 2:
            return None
        if data[1] > 3:
            raise Malformed(f"the direction {data[1]}")
        return (MOVE, data[1]), 2
    raise Malformed(f"the tag {kind}")


# ---- The rules -------------------------------------------------------------------------------------------------------

DIRECTIONS = ((0, 1), (1, 0), (0, -1), (-1, 0))  # up, right, down, left


class Draws:
    """The generator of the protocol, which is never reset."""

    def __init__(self, seed):
        self.state = seed

    def draw(self):
        self.state = self.state * 48271 % 2147483647
        return self.state


class Game:
    """A game from turn 0 on. Fields are (x, y)."""

    def __init__(self, setup, players, draws):
        self.setup, self.draws = setup, draws
        self.robots = {}
        self.blocks = set()
        self.bombs = {}  # id: (field, turns until it explodes)
        self.next_bomb = 0
        self.scores = {player: 0 for player in range(players)}
        self.turn = 0
        self.opening = [self.drop(player) for player in range(players)]
        for _ in range(setup.initial_blocks):
            spot = self.draw_field()
            if spot not in self.blocks:
                self.blocks.add(spot)
                self.opening.append(block_placed(spot))

    def draw_field(self):
        x = self.draws.draw() % self.setup.size_x  # x is always drawn first
        return x, self.draws.draw() % self.setup.size_y

    def drop(self, player):
        self.robots[player] = self.draw_field()
        return player_moved(player, self.robots[player])

    def is_on_board(self, spot):
        return 0 <= spot[0] < self.setup.size_x and 0 <= spot[1] < self.setup.size_y

    def blast(self, center):
        """An arm ends at the edge, at its radius, or with the first block."""
        fields = {center}
        if center in self.blocks:
            return fields
        for right, up in DIRECTIONS:
            spot = center
            for _ in range(self.setup.explosion_radius):
                spot = (spot[0] + right, spot[1] + up)
                if not self.is_on_board(spot):
                    break
                fields.add(spot)
                if spot in self.blocks:
                    break
        return fields

    def play_turn(self, actions):
        """Takes the action of each player who sent one. Returns the events."""
        self.turn += 1
        events = []
        hit_robots, hit_blocks = set(), set()
        for bomb, (spot, timer) in sorted(self.bombs.items()):
            if timer > 1:
                self.bombs[bomb] = (spot, timer - 1)
                continue
            # All bombs of a turn use the blocks and robots at its start.
            fields = self.blast(spot)
            robots = sorted(player for player, where in self.robots.items() if where in fields)
            blocks = sorted(fields & self.blocks)
            events.append(bomb_exploded(bomb, robots, blocks))
            hit_robots.update(robots)
            hit_blocks.update(blocks)
            del self.bombs[bomb]
        self.blocks -= hit_blocks
        for player in sorted(self.robots):
            if player in hit_robots:
                self.scores[player] += 1
                events.append(self.drop(player))
            elif player in actions:
                events.extend(self.act(player, *actions[player]))
        return events

    def act(self, player, kind, direction):
        """Yields the event of the action, if it has an effect."""
        spot = self.robots[player]
        if kind == PLACE_BOMB:
            bomb, self.next_bomb = self.next_bomb, self.next_bomb + 1
            self.bombs[bomb] = (spot, self.setup.bomb_timer)
            yield bomb_placed(bomb, spot)
        elif kind == PLACE_BLOCK and spot not in self.blocks:
            self.blocks.add(spot)
            yield block_placed(spot)
        elif kind == MOVE:
            right, up = DIRECTIONS[direction]
            target = (spot[0] + right, spot[1] + up)
            if self.is_on_board(target) and target not in self.blocks:
                self.robots[player] = target
                yield player_moved(player, target)


# ---- The server ------------------------------------------------------------------------------------------------------

MAX_LAG = 64 << 20  # maximum unsent bytes for a client


class Client:
    def __init__(self, connection, address):
        connection.setblocking(False)
        # A turn is one small message and must not wait for more data.
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.connection = connection
        host, port = address[0].removeprefix("::ffff:"), address[1]
        self.address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        self.arrived, self.unsent = b"", bytearray()
        self.player = None  # its id, once it has joined

    def fileno(self):
        return self.connection.fileno()

    def send(self, message=b""):
        """Sends as many bytes as the connection accepts. The rest stays in the buffer."""
        self.unsent += message
        try:
            sent = self.connection.send(self.unsent) if self.unsent else 0
        except BlockingIOError:
            return
        del self.unsent[:sent]


class Server:
    def __init__(self, setup, listener):
        self.setup, self.listener = setup, listener
        self.draws = Draws(setup.seed)
        self.clients = []
        self.hello = b"\0" + text(setup.server_name) + u8(setup.players_count) + b"".join(map(u16, (
            setup.size_x, setup.size_y, setup.game_length, setup.explosion_radius, setup.bomb_timer)))
        self.open_lobby()

    def open_lobby(self):
        self.game = None
        self.players = []  # their encoded records
        self.history = []  # the messages for a late joiner after Hello
        for client in self.clients:
            client.player = None

    def send_all(self, message):
        self.history.append(message)
        for client in list(self.clients):
            self.try_to(client, lambda: client.send(message))

    def try_to(self, client, act):
        """Drops the client if it has disconnected or broken the protocol."""
        try:
            act()
            if len(client.unsent) > MAX_LAG:
                raise Malformed(f"{len(client.unsent)} bytes that it does not read")
        except (OSError, EOFError, Malformed) as why:
            print(f"{client.address} is dropped: {why}", file=sys.stderr)
            if client in self.clients:
                self.clients.remove(client)
            client.connection.close()

    def accept(self):
        try:
            client = Client(*self.listener.accept())
        except OSError:
            return  # it has already disconnected
        self.clients.append(client)
        self.try_to(client, lambda: client.send(self.hello + b"".join(self.history)))

    def read(self, client):
        arrived = client.connection.recv(65536)
        if not arrived:
            raise EOFError("the end of the connection")
        client.arrived += arrived
        while found := parse(client.arrived):
            message, length = found
            client.arrived = client.arrived[length:]
            self.handle(client, *message)

    def handle(self, client, kind, value):
        if self.game and client.player is not None and kind != JOIN:
            self.actions[client.player] = (kind, value)  # the last action counts
        elif not self.game and client.player is None and kind == JOIN:
            client.player = len(self.players)
            player = u8(client.player) + text(value) + text(client.address)
            self.players.append(player)
            self.send_all(b"\1" + player)
            if len(self.players) == self.setup.players_count:
                self.start()

    def start(self):
        # Clients that connect from now on receive the game and not the lobby.
        self.history = []
        self.send_all(b"\2" + items(self.players))
        self.game, self.actions = Game(self.setup, len(self.players), self.draws), {}
        self.began = time.monotonic()
        self.send_turn(self.game.opening)

    def send_turn(self, events):
        self.send_all(b"\3" + u16(self.game.turn) + items(events))
        if self.game.turn == self.setup.game_length:
            scores = [u8(player) + u32(score) for player, score in sorted(self.game.scores.items())]
            self.send_all(b"\4" + items(scores))
            self.open_lobby()

    def due(self):
        """Counted from turn 0, so that turns do not drift."""
        return self.began + (self.game.turn + 1) * self.setup.turn_duration / 1000

    def run(self):
        while True:
            timeout = max(0, self.due() - time.monotonic()) if self.game else None
            waiting = [client for client in self.clients if client.unsent]
            readable, writable, _ = select.select([self.listener, *self.clients], waiting, [], timeout)
            for client in writable:
                self.try_to(client, client.send)
            for source in readable:
                if source is self.listener:
                    self.accept()
                elif source in self.clients:
                    self.try_to(source, lambda: self.read(source))
            if self.game and time.monotonic() >= self.due():
                actions, self.actions = self.actions, {}
                self.send_turn(self.game.play_turn(actions))


# ---- The command line ------------------------------------------------------------------------------------------------


class Arguments(argparse.ArgumentParser):
    def error(self, message):
        """The task requires status 1."""
        self.exit(1, f"robots_server.py: {message}\n")


def number(lowest, highest):
    def parse_number(word):
        if not (word.isascii() and word.isdecimal() and lowest <= int(word) <= highest):
            raise argparse.ArgumentTypeError(f"'{word}' is no number from {lowest} to {highest}")
        return int(word)

    return parse_number


def short_text(word):
    if len(word.encode("utf-8", "surrogateescape")) > 255:
        raise argparse.ArgumentTypeError("a name has at most 255 bytes")
    return word


def arguments():
    parser = Arguments(description="Hosts games of robots.")
    small, any16 = number(1, 65535), number(0, 65535)
    parser.add_argument("-b", "--bomb-timer", type=small, required=True)
    parser.add_argument("-c", "--players-count", type=number(1, 255), required=True)
    parser.add_argument("-d", "--turn-duration", type=number(0, 2**64 - 1), required=True, help="in milliseconds")
    parser.add_argument("-e", "--explosion-radius", type=any16, required=True)
    parser.add_argument("-k", "--initial-blocks", type=any16, required=True)
    parser.add_argument("-l", "--game-length", type=any16, required=True)
    parser.add_argument("-n", "--server-name", type=short_text, required=True)
    parser.add_argument("-p", "--port", type=any16, required=True)
    parser.add_argument("-s", "--seed", type=number(0, 2**32 - 1), default=None)
    parser.add_argument("-x", "--size-x", type=small, required=True)
    parser.add_argument("-y", "--size-y", type=small, required=True)
    args = parser.parse_args()
    if args.seed is None:
        args.seed = secrets.randbits(32)
    return args


def main():
    args = arguments()
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    family = socket.AF_INET6 if socket.has_dualstack_ipv6() else socket.AF_INET
    try:
        # IPv4 and IPv6. Python sets SO_REUSEADDR here.
        listener = socket.create_server(("", args.port), family=family, backlog=64,
                                        dualstack_ipv6=family == socket.AF_INET6)
    except OSError as why:
        print(f"robots_server.py: cannot listen at port {args.port}: {why}", file=sys.stderr)
        return 1
    listener.setblocking(False)
    print(f"port {listener.getsockname()[1]}", flush=True)
    Server(args, listener).run()
    return 0


if __name__ == "__main__":
    sys.exit(main())
