"""What the reference clients of nuggets and robots do wrong on purpose; see faults.py."""

from faults import faulty

# ---- Clients of nuggets ----------------------------------------------------------------------------------------------

READ = "args = parser.parse_args()"
GREETING = """        self.greeting = b"PLAY " + os.fsencode(name) if name is not None else b"SPECTATE"
"""
HEAR = """        message = datagram.decode("latin-1")
"""
DISPLAY = """        if self.size is None or len(rows) != self.size[0] or any(len(row) != self.size[1] for row in rows):
            return
"""
TYPED = """                self.type(keys or b"Q")
                quitting = 0 if keys else now + 2
"""
OVER = """        print(self.over)
        return 0
"""
QUIT = """            self.over = rest.rstrip("\\0\\n")
"""
IN = """        self.is_in = True
"""
PORT = """    if not (word.isascii() and word.isdecimal() and 1 <= int(word) <= 65535):
        raise argparse.ArgumentTypeError(f"'{word}' is no port; a"""
CONNECT = """        connection.connect((args.host, args.port))
"""

# Each with the rules that it breaks, and pairs of a text of the program and what stands there instead.
faulty("nuggets-client", [
    ("cuts-names", "first-message", GREETING, GREETING + "        self.greeting = self.greeting[:25]\n"),
    ("needs-two-letters", "short-name", GREETING, GREETING + "        self.greeting = self.greeting.ljust(7, b'_')\n"),
    ("joins-words", "odd-name", GREETING, GREETING + """        if b"%" in self.greeting:
            self.greeting = b"PLAY " + b" ".join(self.greeting[5:].split())
"""),
    ("always-plays", "spectates watches", """if name is not None else b"SPECTATE\"""", """if name is not None else b"PLAY nobody\""""),
    ("waits-for-ok", "spectates watches", IN, """        if self.letter is None:
            return
""" + IN),
    ("numbers-only", "host-name", CONNECT, "        socket.inet_aton(args.host)\n" + CONNECT),
    ("newline-behind-keys", "message-form keys-as-typed", """        self.send(b"KEY " + key)
""", """        self.send(b"KEY " + key + b"\\n")
"""),
    ("joins-for-ever", "joins-once", """            now = time.monotonic()
            if not""", """            now = time.monotonic()
            if now >= getattr(self, "nagged", start) + 1:
                self.nagged = now
                self.send(self.greeting)
            if not"""),
    ("capitals-only-for-q", "keys-as-typed", TYPED, """                keys = keys if keys in (b"Q", b"") else keys.lower()
""" + TYPED),
    ("letters-only", "any-key keys-as-typed", TYPED, """                if keys and not keys.isalpha() and keys != b".":
                    continue
""" + TYPED),
    ("a-key-for-a-read", "many-keys", "os.read(sys.stdin.fileno(), 1)", "os.read(sys.stdin.fileno(), 64)[:1]"),
    ("counts-displays", "keys-as-typed any-display state-again", DISPLAY, """        if rows == self.rows and len(self.rows[0]) < 80:
            sys.exit(1)
""" + DISPLAY),
    ("ends-at-an-error", "goes-on-after-error white-space", """            self.note = rest
""", """            sys.exit(1)
"""),
    ("room-for-a-screen", "big-map", HEAR, HEAR + """        if len(datagram) > 20000 and datagram.count(b"\\n") > 50:
            sys.exit(1)
"""),
    ("joins-one-game", "state-again white-space", """            self.letter = words[0]
""", """            if self.letter:
                sys.exit(1)
            self.letter = words[0]
"""),
    ("knows-all-kinds", "malformed-ignored no-words-ignored", QUIT, QUIT + """        elif kind not in ("OK", "GRID", "GOLD"):
            sys.exit(1)
"""),
    ("needs-text", "no-words-ignored", HEAR, """        if not datagram or datagram[0] == 0xff:
            sys.exit(1)
""" + HEAR),
    ("trusts-numbers", "bad-numbers-ignored", HEAR, """        if datagram in (b"GRID x y", b"GOLD a b c"):
            sys.exit(1)
""" + HEAR),
    ("trusts-displays", "bad-displays-ignored", DISPLAY, """        if self.size and len(rows) != self.size[0]:
            sys.exit(1)
"""),
    ("one-space-only", "white-space", HEAR, """        if b"  " in datagram and datagram[:4] in (b"GRID", b"GOLD"):
            sys.exit(1)
""" + HEAR),
    ("crashes-at-big-numbers", "bad-numbers-ignored no-crash", HEAR, """        if datagram.startswith(b"GOLD 9999"):
            (99999999999999999999).to_bytes(4, "big")
""" + HEAR),
    ("status-1", "quit-ends long-quit refused exact-text empty-text quit-with-zero", OVER, """        print(self.over)
        return 1
"""),
    ("prints-nothing", "quit-text long-quit refused exact-text quit-with-zero", OVER, "        return 0\n"),
    ("skips-big-messages", "long-quit", QUIT, "            self.over = None if len(datagram) > 1024 else rest\n"),
    ("uses-formats", "exact-text", QUIT, QUIT + """            self.over = self.over.replace("%%", "%")
"""),
    ("needs-a-text", "empty-text", QUIT, """            self.over = rest.rstrip("\\0\\n") or None
"""),
    ("no-zeros", "quit-with-zero", QUIT, """            self.over = None if rest.endswith("\\0") else rest
"""),
    ("plays-first", "refused", QUIT, """            self.over = rest.rstrip("\\0\\n") if self.is_in else None
"""),
    ("says-goodbye", "silent-after-quit", OVER, """        self.type(b"Q")
""" + OVER),
    ("ends-with-the-input", "end-of-input", TYPED, """                if not keys:
                    return 0
""" + TYPED),
    ("listens-to-all", "strangers-ignored", CONNECT, """        connection.bind((args.host, 0))
""", """            self.connection.send(message)
""", """            self.connection.sendto(message, (sys.argv[1], int(sys.argv[2])))
"""),
    ("asks-once", "asks-again", "            if not self.answered and repeats and now >= repeats[0]:", "            if False:"),
    ("deaf-once-it-asked-again", "late-server", """                repeats.pop(0)
""", """                repeats.pop(0)
                self.deaf = True
""", HEAR, """        if getattr(self, "deaf", False):
            return
""" + HEAR),
    ("asks-from-elsewhere", "asks-again one-address", """                repeats.pop(0)
""", """                repeats.pop(0)
                peer = self.connection.getpeername()
                self.connection = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
                self.connection.connect(peer)
"""),
    ("waits-for-quit", "leaves-alone", "            if quitting and now >= quitting:", "            if False:"),
    ("needs-nothing", "missing-arguments", READ, "args = len(sys.argv) > 2 and parser.parse_args() or sys.exit(0)"),
    ("atoi", "bad-port", PORT, """    if word == "abc":
        sys.exit(0)
""" + PORT),
    ("any-port", "port-range", PORT, """    if word in ("0", "65536"):
        sys.exit(0)
""" + PORT),
    ("reads-digits", "trailing-letters", PORT, """    if word == "2021x":
        sys.exit(0)
""" + PORT),
    ("skips-words", "extra-argument unknown-option", READ, "args, rest = parser.parse_known_args()\n    if rest:\n        return 0"),
    ("skips-options", "unknown-option", READ,
     "args, rest = parser.parse_known_args()\n    if rest and rest[0][0] == '-':\n        return 0\n"
     "    if rest:\n        parser.error('there is an argument too many')"),
    ("says-nothing", "explains", READ, "sys.stderr = open('/dev/null', 'w')\n    args = parser.parse_args()"),
])

# ---- Clients of robots -----------------------------------------------------------------------------------------------

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
STOPS = """                if (x, y) in blocks:
                    break
"""
EVENTS = """        for tag, *rest in events:
            if tag == 0:
"""
HOST = """    host, colon, port = word.rpartition(":")
"""
NUMBER = """    if not (word.isascii() and word.isdecimal() and int(word) <= 65535):
"""
FAILED = """        print(f"robots_client.py: {why}", file=sys.stderr)
        return 1
"""
NODELAY = """        server.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
"""
SHOW = """            self.screen.sendto(picture, self.gui)
        except OSError:
            pass  # the GUI need not be there yet
"""


def swapped(to, of):
    """Passes a direction on as another."""
    return f"            datagram = {to!r} if datagram == {of!r} else datagram\n" + PASSED


faulty("robots-client", [
    ("cuts-names", "join", JOIN, """            self.server.sendall(b"\\0" + text(self.name[:50]))\n"""),
    ("no-empty-names", "empty-name", JOIN, """            self.server.sendall(b"\\0" + text(self.name or b"?"))\n"""),
    ("zero-behind-short-names", "short-name", JOIN, JOIN + """            if len(self.name) == 1:
                self.server.sendall(b"\\0")
"""),
    ("joins-once", "rejoins join", JOIN, """            if not getattr(self, "again", False):
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
    ("observers-join", "observes", """        if self.state.plays:
""", """        if self.state.plays and getattr(self, "has_joined", False):
""", JOIN, JOIN + "            self.has_joined = True\n"),
    ("empty-is-up", "empty-input", PASSED, """            datagram = datagram or b"\\2\\0"
""" + PASSED, INPUT, """    return datagram == b"" and HAS_STARTED or """ + INPUT[11:], STARTED, STARTED + """            global HAS_STARTED
            HAS_STARTED = True
""", ENDED, ENDED + """            HAS_STARTED = False
""", "LARGEST = 65507", "HAS_STARTED = False\nLARGEST = 65507"),
])


def takes(name, rule, condition):
    """A client that passes on in a game what is no input."""
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
    ("ends-without-a-gui", "late-gui", SHOW, """            # Only a connected socket is told that nobody is there.
            self.screen.connect(self.gui)
            self.screen.send(picture)
        except BlockingIOError:
            pass
"""),
    ("signed-bytes", "large-numbers many-players", """            self.hello = hello
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
""", """        # Once for each robot""", """        self.blocks -= gone
        # Once for each robot"""),
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
    ("unsigned-timers", "overdue-bomb no-crash", "(spot, max(0, timer - 1))", "(spot, timer - 1)"),
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
    ("takes-any-text", "bad-text", """            raise Failed(f"the server sent a text that is not UTF-8: {words!r}") from why
""", """            pass
"""),
    ("waits-within-messages", "cut-off", """            raise Failed("the server closed the connection")
""", """            if self.arrived:
                import time

                time.sleep(600)
            raise Failed("the server closed the connection")
"""),
    ("lives-after-a-reset", "reset", FAILED, """        if isinstance(why, ConnectionResetError):
            return 0
""" + FAILED),
    ("uncaught-texts", "no-crash", """            raise Failed(f"the server sent a text that is not UTF-8: {words!r}") from why
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
