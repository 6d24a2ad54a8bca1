#!/usr/bin/env python3
"""A client of robots, written from docs/protocols/robots.md alone.

    python3 robots_client.py -d GUI_HOST:PORT -n NAME -p PORT -s SERVER_HOST:PORT

It converts the events of a server into pictures for a GUI, and forwards the inputs of the GUI to the server.
"""

import argparse
import select
import socket
import struct
import sys

LARGEST = 65507  # maximum bytes of a datagram


class Failed(Exception):
    """The client cannot continue."""


# ---- Bytes -----------------------------------------------------------------------------------------------------------


class Incomplete(Exception):
    """The message is not complete yet."""


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, length):
        if self.at + length > len(self.data):
            raise Incomplete
        self.at += length
        return self.data[self.at - length:self.at]

    def u8(self):
        return self.take(1)[0]

    def u16(self):
        return struct.unpack(">H", self.take(2))[0]

    def u32(self):
        return struct.unpack(">I", self.take(4))[0]

    def text(self):
        """Texts are forwarded unchanged, as bytes."""
        words = self.take(self.u8())
        try:
            words.decode("utf-8")
        except UnicodeDecodeError as why:
            raise Failed(f"the server sent a text that is not UTF-8: {words!r}") from why
        return words

    def position(self):
        return self.u16(), self.u16()

    def player(self):
        return self.text(), self.text()

    # Items are read one by one, so a large count allocates no memory in advance.
    def list(self, item):
        return [item() for _ in range(self.u32())]

    def map(self, key, value):
        return dict([(key(), value()) for _ in range(self.u32())])


def u8(number):
    return struct.pack(">B", number)


def u16(*numbers):
    return struct.pack(f">{len(numbers)}H", *numbers)


def u32(number):
    return struct.pack(">I", number)


def text(words):
    return u8(len(words)) + words


def many(encoded):
    encoded = list(encoded)
    return u32(len(encoded)) + b"".join(encoded)


def entries(values, encode):
    """The keys are in ascending order."""
    return many(u8(key) + encode(value) for key, value in sorted(values.items()))


# ---- The picture -----------------------------------------------------------------------------------------------------


class State:
    """According to the server's events."""

    def __init__(self):
        self.hello = None
        self.clear({})
        self.plays = False  # between GameStarted and GameEnded

    def clear(self, players):
        self.players = players
        self.positions, self.blocks, self.bombs, self.explosions = {}, set(), {}, set()
        self.scores = {player: 0 for player in players}

    def handle(self, reader):
        """Returns the picture that the message causes, if any."""
        tag = reader.u8()
        if tag == 0:
            hello = (reader.text(), reader.u8(), *[reader.u16() for _ in range(5)])
            self.hello = hello
            return self.lobby()
        if self.hello is None:
            raise Failed(f"the server sent the tag {tag} before Hello")
        if tag == 1:
            number, player = reader.u8(), reader.player()
            self.players[number] = player
            return self.lobby()
        if tag == 2:
            self.clear(reader.map(reader.u8, reader.player))
            self.plays = True
            return None
        if tag == 3:
            turn, events = reader.u16(), reader.list(lambda: self.event(reader))
            self.play(events)
            return self.game(turn)
        if tag == 4:
            reader.map(reader.u8, reader.u32)  # the scores are not shown
            self.clear({})
            self.plays = False
            return self.lobby()
        raise Failed(f"the server sent the unknown tag {tag}")

    @staticmethod
    def event(reader):
        tag = reader.u8()
        if tag == 0:
            return tag, reader.u32(), reader.position()
        if tag == 1:
            return tag, reader.u32(), reader.list(reader.u8), reader.list(reader.position)
        if tag == 2:
            return tag, reader.u8(), reader.position()
        if tag == 3:
            return tag, reader.position()
        raise Failed(f"the server sent an event with the unknown tag {tag}")

    def play(self, events):
        """The server is right, even if its events are inconsistent."""
        self.explosions = set()
        self.bombs = {bomb: (spot, max(0, timer - 1)) for bomb, (spot, timer) in self.bombs.items()}
        before = frozenset(self.blocks)
        destroyed = set()
        for tag, *rest in events:
            if tag == 0:
                self.bombs[rest[0]] = (rest[1], self.hello[6])
            elif tag == 1:
                bomb, robots, blocks = rest
                spot, _ = self.bombs.pop(bomb, (None, 0))
                self.explosions |= self.blast(spot, before) if spot else set()
                self.blocks -= set(blocks)
                destroyed |= set(robots)
            elif tag == 2:
                self.positions[rest[0]] = rest[1]
            else:
                self.blocks.add(rest[0])
        # One point for each robot, however many bombs hit it.
        for robot in destroyed & self.scores.keys():
            self.scores[robot] += 1

    def blast(self, center, blocks):
        """An arm ends at the edge, at its radius, or with the first block."""
        _, _, size_x, size_y, _, radius, _ = self.hello
        fields = {center}
        if center in blocks:
            return fields
        for right, up in ((0, 1), (1, 0), (0, -1), (-1, 0)):
            x, y = center
            for _ in range(radius):
                x, y = x + right, y + up
                if not (0 <= x < size_x and 0 <= y < size_y):
                    break
                fields.add((x, y))
                if (x, y) in blocks:
                    break
        return fields

    def named(self):
        return entries(self.players, lambda player: text(player[0]) + text(player[1]))

    def lobby(self):
        name, count, *numbers = self.hello
        return b"\0" + text(name) + u8(count) + u16(*numbers) + self.named()

    def game(self, turn):
        name, _, size_x, size_y, length, _, _ = self.hello
        return b"\1" + text(name) + u16(size_x, size_y, length, turn) + b"".join((
            self.named(),
            entries(self.positions, lambda spot: u16(*spot)),
            many(u16(*spot) for spot in sorted(self.blocks)),
            many(u16(*spot, timer) for spot, timer in self.bombs.values()),
            many(u16(*spot) for spot in sorted(self.explosions)),
            entries(self.scores, u32),
        ))


# ---- The client ------------------------------------------------------------------------------------------------------


def is_input(datagram):
    """Whether a datagram is a message of a GUI: place a bomb, place a block, or move."""
    return datagram in (b"\0", b"\1") or len(datagram) == 2 and datagram[0] == 2 and datagram[1] <= 3


class Client:
    def __init__(self, server, inputs, gui, name):
        self.server, self.inputs, self.name = server, inputs, name
        self.screen = socket.socket(gui[0], socket.SOCK_DGRAM)
        self.gui = gui[1]
        self.state, self.arrived = State(), b""

    def show(self, picture):
        if len(picture) > LARGEST:
            print(f"a picture of {len(picture)} bytes does not fit into a datagram", file=sys.stderr)
            return
        try:
            self.screen.sendto(picture, self.gui)
        except OSError:
            pass  # the GUI need not be there yet

    def read_server(self):
        arrived = self.server.recv(65536)
        if not arrived:
            raise Failed("the server closed the connection")
        self.arrived += arrived
        while self.arrived:
            reader = Reader(self.arrived)
            try:
                picture = self.state.handle(reader)
            except Incomplete:
                return
            self.arrived = self.arrived[reader.at:]
            if picture is not None:
                self.show(picture)

    def read_gui(self):
        datagram, _ = self.inputs.recvfrom(65536)
        if not is_input(datagram):
            return
        if self.state.plays:
            # Each tag is one higher in the server's protocol.
            self.server.sendall(u8(datagram[0] + 1) + datagram[1:])
        else:
            self.server.sendall(b"\0" + text(self.name))

    def run(self):
        while True:
            readable, _, _ = select.select([self.server, self.inputs], [], [])
            if self.server in readable:
                self.read_server()
            if self.inputs in readable:
                self.read_gui()


# ---- The command line ------------------------------------------------------------------------------------------------


class Arguments(argparse.ArgumentParser):
    def error(self, message):
        """The task requires status 1."""
        self.exit(1, f"robots_client.py: {message}\n")


def host_port(word):
    host, colon, port = word.rpartition(":")
    if not (colon and port.isascii() and port.isdecimal() and 1 <= int(port) <= 65535):
        raise argparse.ArgumentTypeError(f"'{word}' is no HOST:PORT")
    return host.removeprefix("[").removesuffix("]"), int(port)


def port_number(word):
    if not (word.isascii() and word.isdecimal() and int(word) <= 65535):
        raise argparse.ArgumentTypeError(f"'{word}' is no port")
    return int(word)


def player_name(word):
    name = word.encode("utf-8", "surrogateescape")
    if len(name) > 255:
        raise argparse.ArgumentTypeError("a name has at most 255 bytes")
    return name


def listen(port):
    """Opens a socket for datagrams over IPv4 and IPv6, from any address."""
    if not socket.has_dualstack_ipv6():
        inputs = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        inputs.bind(("", port))
        return inputs
    inputs = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    inputs.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
    inputs.bind(("", port))
    return inputs


def main():
    parser = Arguments(description="Connects a server and a GUI of robots.")
    parser.add_argument("-d", "--gui-address", type=host_port, required=True)
    parser.add_argument("-n", "--player-name", type=player_name, required=True)
    parser.add_argument("-p", "--port", type=port_number, required=True)
    parser.add_argument("-s", "--server-address", type=host_port, required=True)
    args = parser.parse_args()
    try:
        inputs = listen(args.port)
        family, _, _, _, gui = socket.getaddrinfo(*args.gui_address, type=socket.SOCK_DGRAM)[0]
        server = socket.create_connection(args.server_address)
        server.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        Client(server, inputs, (family, gui), args.player_name).run()
    except (OSError, Failed) as why:
        print(f"robots_client.py: {why}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
