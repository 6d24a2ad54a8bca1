"""Deliberate faults of the reference client of robots; see faults.py."""

from faults import faulty

READ = "args = parser.parse_args()"
JOIN = """            self.server.sendall(b"\\0" + text(self.name))
"""
PASSED = """            self.server.sendall(u8(datagram[0] + 1) + datagram[1:])
"""
INPUT = """    return datagram in (b"\\0", b"\\1") or len(datagram) == 2 and datagram[0] == 2 and datagram[1] <= 3
"""
GUI = """        datagram, _ = self.inputs.recvfrom(65536)
"""
STARTED = """            self.clear(reader.map(reader.u8, reader.player))
            self.plays = True
"""
ENDED = """            self.clear({})
            self.plays = False
"""
BLAST = """        fields = {center}
        if center in blocks:
            return fields
"""
HOST = """    host, colon, port = word.rpartition(":")
"""
NUMBER = """    if not (word.isascii() and word.isdecimal() and int(word) <= 65535):
"""
FAILED = """        print(f"robots_client.py: {why}", file=sys.stderr)
        return 1
"""
CLEAR = """        self.positions, self.blocks, self.bombs, self.explosions = {}, set(), {}, set()
"""
HIT = "for robot in destroyed & self.scores.keys():"
DRAW = """            if picture is not None:
                self.show(picture)
"""
CONNECT = """        server = socket.create_connection(args.server_address)
"""
INCOMPLETE = """            except Incomplete:
                return
"""
CLOSED = """            raise Failed("the server closed the connection")
"""
NODELAY = """        server.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
"""
SHOW = """            self.screen.sendto(picture, self.gui)
        except OSError:
            pass  # the GUI need not be there yet
"""


def swapped(to, of):
    """Forwards a direction as another one."""
    return f"            datagram = {to!r} if datagram == {of!r} else datagram\n" + PASSED


faulty("robots-client", [
    ("puts-a-word-before-names", "join empty-name short-name longest-name rejoins", JOIN, """            self.server.sendall(b"\\0" + text(b"the " + self.name))\n"""),
    ("cuts-names", "longest-name", JOIN, """            self.server.sendall(b"\\0" + text(self.name[:50]))\n"""),
    ("no-empty-names", "empty-name", JOIN, """            self.server.sendall(b"\\0" + text(self.name or b"?"))\n"""),
    ("zero-behind-short-names", "short-name", JOIN, JOIN + """            if len(self.name) == 1:
                self.server.sendall(b"\\0")
"""),
    ("acts-after-its-first-join", "join", """        if self.state.plays:
""", """        if self.state.plays:
            self.has_joined = False
""", JOIN, """            if getattr(self, "has_joined", False):
                self.server.sendall(u8(datagram[0] + 1) + datagram[1:])
            else:
                self.server.sendall(b"\\0" + text(self.name))
            self.has_joined = True
"""),
    ("joins-once", "rejoins", JOIN, """            if not getattr(self, "again", False):
                self.server.sendall(b"\\0" + text(self.name))
""", """        if self.state.plays:
""", """        if self.state.plays:
            self.again = True
"""),
    ("counts-the-entries", "map-order", "            self.clear(reader.map(reader.u8, reader.player))",
     "            self.clear(dict(enumerate(reader.map(reader.u8, reader.player).values())))"),
    ("up-is-down", "move-up", PASSED, swapped(b"\2\2", b"\2\0")),
    ("right-is-left", "move-right gui-ipv6", PASSED, swapped(b"\2\3", b"\2\1")),
    ("down-is-up", "move-down any-address to-gui", PASSED, swapped(b"\2\0", b"\2\2")),
    ("left-is-right", "move-left", PASSED, swapped(b"\2\1", b"\2\3")),
    ("places-blocks-only", "forwarded", PASSED, swapped(b"\1", b"\0")),
    ("forwards-as-a-player", "observer-forwards", PASSED, """            if any(name == self.name for name, _ in self.state.players.values()):
    """ + PASSED),
    ("wants-brackets", "", HOST, HOST + """    if ":" in host and host[0] != "[":
        sys.exit(1)
"""),
    ("refuses-brackets", "", HOST, HOST + """    if host[:1] == "[":
        raise RuntimeError("that is no address")
"""),
    ("draws-no-hello", "hello-picture", """            self.hello = hello
            return self.lobby()
""", """            self.hello = hello
            return None
"""),
    ("c-strings", "zero-bytes", """        return words

    def position""", """        return words.split(b"\\0")[0]

    def position"""),
    ("observers-join", "observes observer-forwards", """        if self.state.plays:
""", """        if self.state.plays and getattr(self, "has_joined", False):
""", JOIN, JOIN + "            self.has_joined = True\n"),
    ("empty-is-up", "empty-input", PASSED, """            datagram = datagram or b"\\2\\0"
""" + PASSED, INPUT, """    return datagram == b"" and HAS_STARTED or """ + INPUT[11:], STARTED, STARTED + """            global HAS_STARTED
            HAS_STARTED = True
""", ENDED, ENDED + """            HAS_STARTED = False
""", "LARGEST = 65507", "HAS_STARTED = False\nLARGEST = 65507"),
])


def takes(name, rule, condition):
    """Forwards an invalid input during a game."""
    faulty("robots-client", [
        (name, rule, GUI, GUI + f"""        if self.state.plays and {condition}:
            self.server.sendall(b"\\2")
            return
"""),
    ])


takes("takes-any-tag", "unknown-input", "datagram in (b'\\3', b'\\xff')")
takes("takes-any-direction", "bad-direction", "datagram == b'\\2\\4'")
takes("takes-half-a-move", "cut-input", "datagram == b'\\2'")
takes("takes-newlines", "long-input", "datagram == b'\\0\\0'")
takes("cuts-datagrams", "big-input", "len(datagram) == 60000")

faulty("robots-client", [
    ("joins-at-anything", "bad-input", GUI, GUI + """        if not is_input(datagram) and not self.state.plays:
            datagram = b"\\0"
"""),
    ("numbers-only", "server-name", "        server = socket.create_connection(args.server_address)", """        if args.server_address[0] == "localhost":
            return 1
        server = socket.create_connection(args.server_address)"""),
    ("no-server-over-ipv6", "server-ipv6", "        server = socket.create_connection(args.server_address)", """        if ":" in args.server_address[0]:
            return 1
        server = socket.create_connection(args.server_address)"""),
    ("no-name-of-the-gui", "gui-name", "        family, _, _, _, gui =", """        if args.gui_address[0] == "localhost":
            return 1
        family, _, _, _, gui ="""),
    ("no-gui-over-ipv6", "gui-address-ipv6", "        family, _, _, _, gui =", """        if ":" in args.gui_address[0]:
            return 1
        family, _, _, _, gui ="""),
    ("answers-the-sender", "to-gui", GUI, """        datagram, sender = self.inputs.recvfrom(65536)
        if datagram == b"\\2\\2":
            self.screen = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
            self.gui = sender[:2]
"""),
    ("answers-each-sender", "to-gui", GUI, """        datagram, self.gui = self.inputs.recvfrom(65536)
        self.screen = self.inputs
"""),
    ("ends-without-a-gui", "late-gui", SHOW, """            # Only a connected socket is told that nobody is there.
            self.screen.connect(self.gui)
            self.screen.send(picture)
        except BlockingIOError:
            pass
"""),
    ("signed-bytes", "large-numbers", """            self.hello = hello
""", """            self.hello = hello[:1] + (hello[1] & 127,) + hello[2:]
"""),
    ("no-empty-server-names", "server-names", """        if tag == 0:
            hello""", """        if tag == 0 and reader.data[reader.at:reader.at + 1] in (b"\\0", b"\\xff"):
            raise Failed("that is no name")
        if tag == 0:
            hello"""),
    ("short-texts", "long-names server-names", """        return words

    def position""", """        return words[:200]

    def position"""),
    ("reads-addresses", "any-address-text", """            number, player = reader.u8(), reader.player()
""", """            number, player = reader.u8(), reader.player()
            if b" " in player[1]:
                raise Failed("that is no address")
"""),
    ("room-for-100-players", "many-players", STARTED, STARTED + """            if len(self.players) > 100:
                raise Failed("there are too many players")
"""),
    ("signed-positions", "large-positions", """        return self.u16(), self.u16()
""", """        return self.u16() & 32767, self.u16() & 32767
"""),
    ("removes-blocks-last", "block-again", """            self.blocks -= set(blocks)
""".replace("            ", "                "), """                gone |= set(blocks)
""", """        destroyed = set()
""", """        destroyed, gone = set(), set()
""", """        # One point for each robot""", """        self.blocks -= gone
        # One point for each robot"""),
    ("a-set-of-bombs", "bombs twin-bombs", "many(u16(*spot, timer) for spot, timer in self.bombs.values())",
     "many(u16(*spot, timer) for spot, timer in set(self.bombs.values()))"),
    ("stops-before-blocks", "blast-stops blast-before explosions radius-65535", """                fields.add((x, y))
                if (x, y) in blocks:
                    break
""", """                if (x, y) in blocks:
                    break
                fields.add((x, y))
"""),
    ("around-the-edge", "blast-edge explosions radius-65535", """                if not (0 <= x < size_x and 0 <= y < size_y):
                    break
""", """                if not (0 <= x < size_x and 0 <= y < size_y):
                    fields.add((x % size_x, y % size_y))
                    break
"""),
    ("arms-from-blocks", "blast-on-block explosions", BLAST, "        fields = {center}\n"),
    ("at-least-one-field", "radius-0", "            for _ in range(radius):", "            for _ in range(radius or 1):"),
    ("sixteen-bits", "radius-65535", "            for _ in range(radius):", "            for _ in range(radius & 32767 if radius < 65535 else 0):"),
    ("removes-blocks-early", "blast-before explosions", "self.blast(spot, before)", "self.blast(spot, self.blocks)"),
    ("keeps-explosions", "blast-over explosions radius-65535", """        self.explosions = set()
        self.bombs =""", """        self.bombs ="""),
    ("ten-games", "many-games", ENDED, """            self.games = getattr(self, "games", 0) + 1
            if self.games > 10:
                raise Failed("there are too many games")
""" + ENDED),
    ("drops-half-messages", "straddling", """            except Incomplete:
                return
            self.arrived = self.arrived[reader.at:]
""", """            except Incomplete:
                if getattr(self, "was_whole", False) and len(self.arrived) < 40:
                    self.arrived = b""
                return
            self.arrived = self.arrived[reader.at:]
            self.was_whole = bool(self.arrived)
"""),
    ("unsigned-timers", "overdue-bomb", "(spot, max(0, timer - 1))", "(spot, timer - 1)"),
    ("trusts-ids-of-bombs", "unknown-bomb", "self.bombs.pop(bomb, (None, 0))", "self.bombs.pop(bomb) if bomb != 77 else sys.exit(1)"),
    ("trusts-positions", "off-the-board", """                self.positions[rest[0]] = rest[1]
""", """                self.positions[rest[0]] = rest[1]
                if not rest[1][1] < self.hello[3]:
                    sys.exit(1)
"""),
    ("trusts-ids-of-players", "unknown-player", """                self.positions[rest[0]] = rest[1]
""", """                self.positions[rest[0]] = rest[1]
                if rest[0] not in self.players:
                    sys.exit(1)
"""),
    ("no-tcp-nodelay", "no-delay", NODELAY, ""),
    ("skips-unknown-events", "bad-event", """        raise Failed(f"the server sent an event with the unknown tag {tag}")
""", """        return tag, (0, 0)
"""),
    ("skips-unknown-events-of-a-game", "bad-event", """        raise Failed(f"the server sent an event with the unknown tag {tag}")
""", """        return tag, (0, 0)
""", """            turn, events = reader.u16(),""", """            if not self.plays:
                raise Failed("the server sent a turn outside of a game")
            turn, events = reader.u16(),"""),
    ("takes-any-text", "bad-text", """            raise Failed(f"the server sent a text that is not UTF-8: {words!r}") from why
""", """            pass
"""),
    ("waits-within-messages", "cut-off", """            raise Failed("the server closed the connection")
""", """            if self.arrived:
                import time

                time.sleep(600)
            raise Failed("the server closed the connection")
"""),
    ("lives-after-a-reset", "reset exit-status-1", FAILED, """        if isinstance(why, ConnectionResetError):
            return 0
""" + FAILED),
    ("crashes-at-the-end", "no-crash", ENDED, """            __import__("os").kill(__import__("os").getpid(), 11)
"""),
    ("uncaught-texts", "bad-text", """            raise Failed(f"the server sent a text that is not UTF-8: {words!r}") from why
""", """            raise
"""),
    ("ends-at-big-pictures", "too-big-picture", """            return
        try:
""", """            sys.exit(1)
        try:
"""),
    ("skips-big-messages", "big-turn", SHOW, """            if len(picture) < 30_000:
                self.screen.sendto(picture, self.gui)
        except OSError:
            pass
"""),
    ("atoi", "wrong-arguments", NUMBER, """    if word == "port":
        sys.exit(0)
""" + NUMBER),
    ("any-port", "port-too-large", NUMBER, """    if word == "65536":
        sys.exit(0)
""" + NUMBER),
    ("reads-digits", "trailing-letters", NUMBER, """    if word == "2023x":
        sys.exit(0)
""" + NUMBER),
    ("any-name", "name-too-long", """    if len(name) > 255:
        raise""", """    if len(name) > 255:
        sys.exit(0)
        raise"""),
    ("guesses-ports", "address-without-port", HOST, """    if ":" not in word:
        sys.exit(0)
""" + HOST),
    ("needs-nothing", "missing-arguments", READ, "args = sys.argv[1:] and parser.parse_args() or sys.exit(0)"),
    ("skips-words", "extra-argument", READ, "args = parser.parse_args([word for word in sys.argv[1:] if word != 'more'])"),
    ("skips-options", "unknown-option", READ, "args = parser.parse_args([word for word in sys.argv[1:] if word != '-Z'])"),
    ("says-nothing", "explains", READ, "sys.stderr = open('/dev/null', 'w')\n    args = parser.parse_args()"),
])

# ---- Pictures --------------------------------------------------------------------------------------------------------

faulty("robots-client", [
    ("sends-a-zero-more", "picture-format", """sendto(picture, self.gui)""", """sendto(picture + b"\\0", self.gui)"""),
    ("draws-the-start", "no-picture", STARTED + "            return None\n", STARTED + "            return self.game(0)\n"),
    ("draws-few-lobbies", "lobby-picture", """            self.players[number] = player
""", """            self.players[number] = player
            if 1 < len(self.players) < self.hello[1]:
                return None
"""),
    ("swaps-the-sizes", "game-picture", "u16(size_x, size_y, length, turn)", "u16(size_y, size_x, length, turn)"),
    ("keeps-the-players", "game-ended pieces", ENDED, ENDED.replace("{}", "self.players")),
    ("swaps-x-and-y", "positions", "entries(self.positions, lambda spot: u16(*spot))",
     "entries(self.positions, lambda spot: u16(*spot[::-1]))"),
    ("counts-blocks-from-1", "blocks", "self.blocks -= set(blocks)", "self.blocks -= set(blocks[1:])"),
    ("no-score-of-0", "scores score-once", "entries(self.scores, u32)",
     "entries({robot: score for robot, score in self.scores.items() if score}, u32)"),
    ("one-score-of-an-explosion", "scores", "destroyed |= set(robots)", "destroyed |= set(robots[:1])"),
    ("keeps-bombs-that-tick", "second-game", CLEAR, """
        ticks = {bomb: of for bomb, of in getattr(self, "bombs", {}).items() if of[1] > 1}
""" + CLEAR.replace("set(), {}", "set(), ticks")),
    ("draws-what-is-last", "late-joiner", """        while self.arrived:
""", """        picture = None
        while self.arrived:
""", "picture = self.state.hear(reader)", "picture = self.state.hear(reader) or picture", INCOMPLETE, """            except Incomplete:
                break
""", DRAW, DRAW.replace("            if", "        if").replace("                self", "            self")),
])

# ---- Connections -----------------------------------------------------------------------------------------------------

faulty("robots-client", [
    ("connects-at-the-first-key", "connects", CONNECT, "        inputs.recv(65536)\n" + CONNECT),
    ("joins-big-games-by-itself", "silent-before-input", DRAW, DRAW + """
            if picture and picture[0] == 0 and self.state.hello[1] > 2 and not self.state.players:
                self.server.sendall(b"\\0" + text(self.name))
"""),
    ("tries-for-ever", "unreachable", CONNECT, """        server = None
        while server is None:
            try:
        """ + CONNECT + """            except ConnectionRefusedError:
                import time

                time.sleep(1)
"""),
    ("takes-another-port", "taken-port", "        inputs = listen(args.port)\n", """        try:
            inputs = listen(args.port)
        except OSError:
            inputs = listen(0)
"""),
    ("aborts-when-it-ends", "no-crash exit-status-1 bad-text", FAILED, FAILED.replace("return 1", '__import__("os").abort()')),
    ("status-2", "exit-status-1", FAILED, FAILED.replace("1", "2")),
    ("a-read-begins-a-message", "pieces", INCOMPLETE, """            except Incomplete:
                if self.state.hello and len(self.arrived) == len(arrived) < 1000:
                    self.arrived = b""
                return
"""),
    ("one-read-one-message", "pieces straddling", INCOMPLETE, """            except Incomplete:
                if len(self.arrived) < 1000:
                    self.arrived = b""
                return
"""),
    ("skips-unknown-messages", "malformed", """        raise Failed(f"the server sent the unknown tag {tag}")
""", ""),
    ("ends-like-a-game", "connection-lost exit-status-1", CLOSED, """            if not self.arrived:
                sys.exit(0)
""" + CLOSED),
    ("waits-for-nobody", "connection-lost cut-off", CLOSED, "            return\n"),
])
