"""Faults of the reference server and client of robots; see `faults.py`."""

from faults import PARSED, SILENT, faulty

# ---- Servers ---------------------------------------------------------------------------------------------------------

BOMB = "bomb, self.next_bomb = self.next_bomb, self.next_bomb + 1"
BLOCK = "kind == PLACE_BLOCK and spot not in self.blocks"
MOVE = "if self.is_on_board(target) and target not in self.blocks:"
FOUND = "robots = sorted(player for player, where in self.robots.items() if where in fields)"
EXPLODED = "events.append(bomb_exploded(bomb, robots, blocks))"
DUE = "for bomb, (spot, timer) in sorted(self.bombs.items()):"
REBORN = """self.scores[player] += 1
                events.append(self.drop(player))"""
DEAD = "(OSError, EOFError, Malformed) as why:"
RECEIVED = "arrived = client.connection.recv(65536)"
ARRIVED = "client.arrived += arrived"
APPENDED = "self.clients.append(client)"
LISTENER = '''listener = socket.create_server(("", args.port), family=family, backlog=64,
                                        dualstack_ipv6=family == socket.AF_INET6)'''
STARTED = "self.game, self.actions = Game(self.setup, len(self.players), self.draws), {}"
GREETED = "client.send(self.hello + b\"\".join(self.history))"
JOINED = "elif not self.game and client.player is None and kind == JOIN:"
ACCEPTED = "player = u8(client.player) + text(value) + text(client.address)"
ACTED = "self.actions[client.player] = (kind, value)  # the last action counts"
TAKEN = "actions, self.actions = self.actions, {}"
TARGET = "target = (spot[0] + right, spot[1] + up)"
HITS = "hit_robots.update(robots)"
ENDED = 'self.send_all(b"\\4" + items(scores))'
BROADCAST = 'self.send_all(b"\\1" + player)'
LEFT = "if client in self.clients:"
DUE_AT = "return self.began + (self.game.turn + 1) * self.setup.turn_duration / 1000"
REFUSED = 'self.exit(1, f"robots_server.py: {message}\\n")'
SENT = """        for client in list(self.clients):
            self.try_to(client, lambda: client.send(message))"""
# The bombs get owners.
OWNED = (BOMB, BOMB + "\n            self.owners = {**getattr(self, 'owners', {}), bomb: player}")

# The busy game also detects faults in all actions or in all explosions, which break several rules.
faulty(
    "robots-server",
    # Command line.
    ("runs-without-arguments", "no-arguments exit-status-1", PARSED, 'args = parser.parse_args() if sys.argv[1:] else sys.exit(0)'),
    ("takes-any-arguments", "required-options below-zero too-large not-a-number wrong-arguments long-server-name unknown-option "
     "stray-word exit-status-1", REFUSED, "self.exit(0 if sys.argv[1:] else 1, message)"),
    ("says-nothing", "says-why", REFUSED, "self.exit(1)"),
    ("has-short-options-only", "help long-options", PARSED, 'sys.exit(1) if {"--bomb-timer", "-h", "--help"} & {*sys.argv} else None\n    @@'),
    ("signed-options", "largest-values large-board wide-blast", "any16 = number(1, 65535), number(0, 65535)",
     "any16 = number(1, 32767), number(0, 65535)"),
    ("aborts-at-wrong-arguments", "no-crash exit-status-1", REFUSED, '__import__("os").abort()'),
    # Network.
    ("local-only", "ipv6 all-addresses", LISTENER, 'listener = socket.create_server(("127.0.0.1", args.port), backlog=64)'),
    ("ipv4-only", "ipv6", "family = socket.AF_INET6 if socket.has_dualstack_ipv6() else socket.AF_INET", "family = socket.AF_INET"),
    ("ignores-that-its-port-is-taken", "taken-port exit-status-1", "        return 1\n    listener", "        return 0\n    listener"),
    ("aborts-at-a-taken-port", "no-crash", "        return 1\n    listener", "        raise\n    listener"),
    ("no-tcp-nodelay", "no-delay", "        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)\n", ""),
    ("waits-for-readers", "never-reads", "connection.setblocking(False)", "connection.setblocking(True)"),
    ("numbers-blocks-4", "well-formed", 'return b"\\3" + position(spot)', 'return b"\\4" + position(spot)'),
    ("reads-the-length-too-soon", "pieces", "if len(data) < 2 or len(data) < 2 + data[1]:",
     'data = data if len(data) > 1 else data + b"\\0"\n        if len(data) < 2 + data[1]:'),
    ("never-closes", "visitors bad-bytes bad-direction bad-name strict-utf8", "self.clients.remove(client)", "self.kept = getattr(self, 'kept', []) + [self.clients.pop(self.clients.index(client))]",
     "            client.connection.close()\n\n    def accept", "            len(getattr(self, 'kept', [])) > 500 and sys.exit(1)\n\n    def accept"),
    ("reads-to-the-end", "flood", RECEIVED, """@@
        try:
            while len(arrived) >= 4096:
                select.select([client.connection], [], [], 0.05)
                arrived = arrived[(len(arrived) - 4096) // 256 * 256:] + client.connection.recv(65536)
        except BlockingIOError:
            pass"""),
    ("ends-when-a-client-leaves-before-hello", "", "        " + APPENDED, """        time.sleep(0.005)
        try:
            if not client.connection.recv(1, socket.MSG_PEEK):
                sys.exit(1)
        except BlockingIOError:
            pass
@@"""),
    ("ends-at-a-reset", "resets", DEAD, "(BrokenPipeError, EOFError, Malformed) as why:",
     "Server(args, listener).run()", "try:\n        @@\n    except ConnectionResetError:\n        return 1"),
    ("loses-what-does-not-fit", "nothing-lost", "del self.unsent[:sent]", "self.unsent.clear()"),
    ("one-buffer", "own-buffers others-undisturbed half-a-join address-of-peer", 'self.arrived, self.unsent = b"", bytearray()', "self.unsent = bytearray()",
     ARRIVED, "Client.arrived = getattr(Client, 'arrived', b'') + arrived",
     "while found := parse(client.arrived):\n            message, length = found\n            client.arrived = client.arrived[length:]",
     "while found := parse(Client.arrived):\n            message, length = found\n            Client.arrived = Client.arrived[length:]"),
    ("slow-start", "", "def main():\n", "def main():\n    time.sleep(3)\n"),
    ("skips-the-third-hello", "hello many-clients", GREETED, GREETED.replace("self.hello", '(b"" if len(self.clients) == 3 else self.hello)')),
    ("serves-one-client", "255-players crowd many-clients", APPENDED,
     "if self.clients:\n            client.connection.close()\n            return\n        @@"),
    ("ends-with-its-game", "next-game", ENDED, "@@\n            sys.exit(0)"),
    # Its thread for a new client does not immediately notice who joins.
    ("misses-joins-while-it-greets", "", "self.player = None  # its id", "self.since, self.player = time.monotonic(), None  # its id",
     SENT, SENT.replace("            self", '''            if message[0] == 1 and len(self.players) == self.setup.players_count and time.monotonic() < client.since + 0.05:
                continue
            self''')),
    ("swaps-timer-and-radius", "hello", "setup.explosion_radius, setup.bomb_timer", "setup.bomb_timer, setup.explosion_radius"),
    # Lobby.
    ("no-empty-names", "empty-name", JOINED, JOINED.replace("kind == JOIN", "kind == JOIN and value")),
    ("accepts-twice", "accepted", BROADCAST, 'self.send_all(2 * (b"\\1" + player))'),
    ("no-address", "address address-of-peer", ACCEPTED, ACCEPTED.replace("client.address", '"somewhere"')),
    ("remembers-actions-of-the-lobby", "lobby-actions", "self.player = None  # its id", "self.early = None\n        @@",
     JOINED, "elif not self.game and kind != JOIN:\n            client.early = (kind, value)\n        @@",
     STARTED, "@@\n        self.actions = {client.player: client.early for client in self.clients if client.early}"),
    ("forgets-who-leaves-the-lobby", "lobby-leaver comes-back", LEFT,
     "if not self.game and client.player is not None:\n                del self.players[client.player]\n            @@"),
    ("starts-with-its-first-player", "game-started", "if len(self.players) == self.setup.players_count:", "if len(self.players) == 1:"),
    ("short-texts", "server-name longest-name name-bytes", ACCEPTED, ACCEPTED.replace("value", "value[:200].split('\\0')[0]"),
     "text(setup.server_name)", "text(setup.server_name[:100])"),
    ("one-of-a-name", "equal-names comes-back", JOINED,
     "elif not self.game and client.player is None and kind == JOIN and u8(len(self.players) - 1 & 255) + text(value) not in\\\n"
     "                [player[:2 + len(value.encode())] for player in self.players]:"),
    # Draws.
    ("spares-robots", "blocks-under-robots rebirth-on-block seed-zero", "if spot not in self.blocks:\n                self.blocks.add(spot)\n                self.opening",
     "if spot not in self.blocks and spot not in self.robots.values():\n                self.blocks.add(spot)\n                self.opening"),
    ("begins-draws-again", "generator-goes-on", STARTED, STARTED.replace("self.draws", "Draws(self.setup.seed)")),
    ("one-seed-for-all", "draws no-seed", "self.state = seed", "self.state = 2022"),
    ("seeds-by-time", "", "secrets.randbits(32)", "int(time.time())"),
    # Actions.
    ("keeps-events", "own-events", "self.turn += 1\n        events = []", "self.turn += 1\n        events = self.opening = list(self.opening)"),
    ("goes-down-to-the-left", "move", TARGET, "target = (spot[0] + right - (direction == 2 and spot[0] > 0), spot[1] + up)"),
    ("says-nothing-of-blocks", "place-block bombs-together", "            yield block_placed(spot)", "            yield from ()"),
    ("counts-bombs-on-the-board", "bomb-ids", BOMB, "bomb = len(self.bombs)"),
    ("first-counts", "last-counts impossible-displaces", ACTED, "self.actions.setdefault(client.player, (kind, value))"),
    ("keeps-actions", "played-once join-in-game", TAKEN, "actions = self.actions"),
    ("groups-events", "event-order", "return events\n\n    def act", "return sorted(events, key=lambda event: event[0])\n\n    def act"),
    ("one-too-far", "blast bomb-timer bombs-together far-edge", MOVE, "size = self.setup.size_x, self.setup.size_y\n"
     "            if 0 <= target[0] <= size[0] and 0 <= target[1] <= size[1] and target not in self.blocks:"),
    ("stays-on-blocks", "into-block leave-block", MOVE, MOVE[:-1] + " and spot not in self.blocks:"),
    # Late turns make the tester believe that it was delayed itself.
    ("bombs-are-walls-and-turns-late", "over-bombs", MOVE, MOVE[:-1] + " and target not in [bomb[0] for bomb in self.bombs.values()]:",
     SENT, """        message, self.late = getattr(self, "late", b"") + message, b""
        if self.game and 0 < self.game.turn < self.setup.game_length and time.monotonic() < self.began + 0.4:
            self.late = message
            return
@@"""),
    ("robots-are-walls", "freed-field shared-field where-it-stood", MOVE, MOVE[:-1] + " and target not in self.robots.values():"),
    ("no-block-on-others", "block-on-others last-words one-block-of-two", BLOCK, "@@ and list(self.robots.values()).count(spot) == 1"),
    ("bombs-leave-too", "bomb-of-leaver", *OWNED, LEFT, """if self.game and client.player is not None:
                self.game.bombs = {bomb: what for bomb, what in self.game.bombs.items() if self.game.owners[bomb] != client.player}
            @@"""),
    ("chain-reaction", "bombs-on-one-field no-chain", EXPLODED, """@@
            for other, (place, _) in list(self.bombs.items()):
                if other > bomb and place in fields:
                    self.bombs[other] = (place, 1)""", DUE, "for bomb, (spot, _) in sorted(self.bombs.items()):\n            timer = self.bombs[bomb][1]"),
    # Explosions.
    ("says-nothing-of-rebirth", "blast rebirth", "events.append(self.drop(player))", "self.drop(player)"),
    ("blasts-through-its-block", "bomb-on-block rebirth-on-block", "if center in self.blocks:\n            return fields", ""),
    ("shelters", "no-shelter", FOUND, FOUND[:-1] + " and (where == spot or where not in self.blocks))"),
    # Games.
    ("drifts", "no-drift", DUE_AT, "return self.sent + self.setup.turn_duration / 1000",
     "        if self.game.turn == self.setup.game_length:", "        self.sent = time.monotonic()\n@@"),
    ("turns-by-the-clock", "turn-duration", DUE_AT,
     "turn = self.setup.turn_duration / 1000\n        return self.began - self.began % max(turn, 0.001) + (self.game.turn + 1) * turn"),
    ("turns-in-a-byte", "turn-numbers long-history", "u16(self.game.turn)", "u16(self.game.turn % 256)"),
    ("tells-latecomers-of-the-lobby", "late-joiner", 'self.history = []\n        self.send_all(b"\\2"', 'self.send_all(b"\\2"'),
    ("tells-latecomers-of-the-lobby-only", "late-joiner", 'self.history = []\n        self.send_all(b"\\2"',
     "self.lobby = list(self.history)\n        @@", GREETED,
     'client.send(self.hello + b"".join(self.lobby if self.game else self.history))'),
    ("plays-with-its-first-client", "many-clients game-started flood crowd 255-players", APPENDED,
     "if self.clients:\n            return client.connection.close()\n        @@",
     "if len(self.players) == self.setup.players_count:", "if self.players:"),
    ("hides-bombs-from-observers", "same-for-all", 'self.send_all(b"\\3" + u16(self.game.turn) + items(events))',
     """turn, bombless = b"\\3" + u16(self.game.turn), [event for event in events if event[0] != 0]
        self.history.append(turn + items(events))
        for client in list(self.clients):
            self.try_to(client, lambda: client.send(turn + items(bombless if client.player is None else events)))"""),
    ("ends-a-turn-later", "game-ended", "        if self.game.turn == self.setup.game_length:", "\n    def send_end(self):\n        if True:",
     "self.send_turn(self.game.play_turn(actions))", "@@ if self.game.turn < self.setup.game_length else self.send_end()"),
    ("ends-for-the-first-client", "game-ended", 'self.send_all(b"\\4" + items(scores))',
     "self.try_to(self.clients[0], lambda: self.clients[0].send(b'\\4' + items(scores)))"),
    ("hides-the-end-of-large-games", "game-ended", ENDED, "len(self.game.blocks) > 50_000 or @@"),
    ("scores-each-bomb", "score-once", REBORN, "events.append(self.drop(player))",
     HITS, "@@\n            for player in robots:\n                self.scores[player] += 1"),
    ("begins-again-at-turn-1", "next-game", "self.turn = 0\n", "self.turn = getattr(draws, 'games', 0)\n        draws.games = 1\n"),
    ("one-game-has-turns", "next-game", "self.turn = 0\n",
     "self.turn, self.is_silent = 0, getattr(draws, 'games', 0)\n        draws.games = 1\n",
     "if self.game and time.monotonic() >= self.due()", "if self.game and not self.game.is_silent and time.monotonic() >= self.due()",
     "timeout = max(0, self.due()", "timeout = max(0.02, self.due()"),
    ("hangs-in-the-second-game", "next-game", STARTED, "self.games = getattr(self, 'games', 0) + 1\n"
     "        time.sleep(1000) if self.games > 1 else None\n        @@"),
    ("greets-again-after-a-game", "next-game", ENDED + "\n            self.open_lobby()", """@@
            for client in list(self.clients):
                self.try_to(client, lambda: client.send(self.hello))"""),
    ("accepts-the-last-of-the-first-lobby-only", "next-game", STARTED, "@@\n        self.has_played = True",
     BROADCAST, 'hasattr(self, "has_played") and len(self.players) == self.setup.players_count or @@'),
    ("counts-ids-over-games", "next-game", STARTED, "@@\n        self.games = getattr(self, 'games', 0) + 1",
     BROADCAST, 'self.send_all(b"\\1" + u8(player[0] + 3 * getattr(self, "games", 0) & 255) + player[1:])'),
    ("counts-no-scores", "well-formed", ENDED, 'self.send_all(b"\\4" + b"".join(scores) + u32(0))'),
    ("tells-old-games", "old-history", "self.history = []  # the messages for a late joiner after Hello", "self.history = getattr(self, 'history', [])"),
    ("keeps-boards-and-scores", "next-board next-scores", STARTED, """old = getattr(self, "last", None)
        @@
        self.last = self.game
        if old:
            self.game.blocks |= old.blocks
            self.game.scores = old.scores"""),
    ("one-turn-at-least", "no-turns", "if self.game.turn == self.setup.game_length:", "if self.game.turn == max(1, self.setup.game_length):"),
    ("no-zeros", "score-zeros", "for player, score in sorted(self.game.scores.items())]", "for player, score in sorted(self.game.scores.items()) if score]"),
)

# ---- Clients ---------------------------------------------------------------------------------------------------------

JOIN = '            self.server.sendall(b"\\0" + text(self.name))\n'
PASSED = "            self.server.sendall(u8(datagram[0] + 1) + datagram[1:])\n"
GUI = "        datagram, _ = self.inputs.recvfrom(65536)\n"
STARTED = "            self.clear(reader.map(reader.u8, reader.player))\n            self.plays = True\n"
ENDED = "            self.clear({})\n            self.plays = False\n"
HOST = '    host, colon, port = word.rpartition(":")\n'
FAILED = '        print(f"robots_client.py: {why}", file=sys.stderr)\n        return 1\n'
CONNECT = "        server = socket.create_connection(args.server_address)\n"
INCOMPLETE = "            except Incomplete:\n                return\n"
CLOSED = '            raise Failed("the server closed the connection")\n'
PLACED = "                self.positions[rest[0]] = rest[1]\n"
TEXT = "        return words\n"
SIZED = "            self.hello = hello\n"
PICTURED = """            if picture is not None:
                self.show(picture)
"""
EDGE = """                if not (0 <= x < size_x and 0 <= y < size_y):
                    break
"""
STOP = """                fields.add((x, y))
                if (x, y) in blocks:
                    break
"""


def swapped(to, of):
    """Forwards a direction as another one."""
    return f"            datagram = {to!r} if datagram == {of!r} else datagram\n@@"


faulty(
    "robots-client",
    # Inputs.
    ("puts-a-word-before-names", "join empty-name short-name longest-name rejoins", JOIN, JOIN.replace("self.name", 'b"the " + self.name')),
    ("right-is-left", "move-right gui-ipv6", PASSED, swapped(b"\2\3", b"\2\1")),
    ("down-is-up", "move-down any-address to-gui", PASSED, swapped(b"\2\0", b"\2\2")),
    ("forwards-as-a-player", "observer-forwards", PASSED,
     "            if any(name == self.name for name, _ in self.state.players.values()):\n    @@"),
    ("observers-join", "observes observer-forwards", "        if self.state.plays:\n",
     '        if self.state.plays and getattr(self, "has_joined", False):\n', JOIN, "@@            self.has_joined = True\n"),
    ("forwards-anything", "unknown-input bad-direction cut-input long-input big-input", GUI, """@@        if self.state.plays and datagram and not is_input(datagram):
            self.server.sendall(b"\\2")
            return
"""),
    ("joins-at-anything", "bad-input", GUI, """@@        if not is_input(datagram) and not self.state.plays:
            datagram = b"\\0"
"""),
    # Addresses and the command line.
    ("numbers-only", "server-name server-ipv6", CONNECT, """        if args.server_address[0] == "localhost" or ":" in args.server_address[0]:
            return 1
@@"""),
    ("numbers-only-of-the-gui", "gui-name gui-address-ipv6", "        family, _, _, _, gui =", """        if args.gui_address[0] == "localhost" or ":" in args.gui_address[0]:
            return 1
@@"""),
    ("wants-brackets", "", HOST, '@@    if ":" in host and host[0] != "[":\n        sys.exit(1)\n'),
    ("refuses-brackets", "", HOST, '@@    if host[:1] == "[":\n        raise RuntimeError("that is no address")\n'),
    ("takes-any-arguments", "wrong-arguments port-too-large trailing-letters name-too-long address-without-port missing-arguments extra-argument "
     "unknown-option", 'self.exit(1, f"robots_client.py: {message}\\n")', "self.exit(0)"),
    ("says-nothing", "explains", PARSED, SILENT),
    # Connections.
    ("connects-at-the-first-key", "connects", CONNECT, "        inputs.recv(65536)\n@@"),
    ("joins-big-games-by-itself", "silent-before-input", PICTURED, """@@
            if picture and picture[0] == 0 and self.state.hello[1] > 2 and not self.state.players:
                self.server.sendall(b"\\0" + text(self.name))
"""),
    ("aborts-when-it-ends", "no-crash exit-status-1 bad-text", FAILED, FAILED.replace("return 1", '__import__("os").abort()')),
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
    ("lives-after-a-reset", "reset exit-status-1", FAILED, """        if isinstance(why, ConnectionResetError):
            return 0
@@"""),
    ("waits-for-nobody", "connection-lost cut-off", CLOSED, "            return\n"),
    ("no-tcp-nodelay", "no-delay", "        server.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)\n", ""),
    # Unusual messages.
    ("c-strings", "zero-bytes", TEXT, TEXT[:-1] + '.split(b"\\0")[0]\n'),
    ("short-texts", "long-names server-names", TEXT, TEXT[:-1] + "[:200]\n"),
    ("signed-numbers", "large-numbers large-positions", SIZED, "            self.hello = hello[:1] + (hello[1] & 127,) + hello[2:]\n",
     "        return self.u16(), self.u16()\n", "        return self.u16() & 32767, self.u16() & 32767\n"),
    ("trusts-the-server", "unknown-bomb off-the-board unknown-player", PLACED, """@@                if not rest[1][1] < self.hello[3] or rest[0] not in self.players:
                    sys.exit(1)
""", "self.bombs.pop(bomb, (None, 0))", "self.bombs.pop(bomb) if bomb != 77 else sys.exit(1)"),
    ("ends-at-big-pictures", "too-big-picture", "            return\n        try:\n", "            sys.exit(1)\n        try:\n"),
    # Pictures.
    ("draws-no-hello", "hello-picture", SIZED + "            return self.lobby()\n", SIZED + "            return None\n"),
    ("sends-a-zero-more", "picture-format", "sendto(picture, self.gui)", 'sendto(picture + b"\\0", self.gui)'),
    ("draws-the-start", "no-picture", STARTED + "            return None\n", STARTED + "            return self.game(0)\n"),
    ("swaps-the-sizes", "game-picture", "u16(size_x, size_y, length, turn)", "u16(size_y, size_x, length, turn)"),
    ("keeps-the-players", "game-ended pieces", ENDED, ENDED.replace("{}", "self.players")),
    ("no-score-of-0", "scores score-once", "entries(self.scores, u32)",
     "entries({robot: score for robot, score in self.scores.items() if score}, u32)"),
    ("keeps-bombs-that-tick", "second-game", "self.positions, self.blocks, self.bombs, self.explosions = {}, set(), {}, set()",
     '''ticks = {bomb: of for bomb, of in getattr(self, "bombs", {}).items() if of[1] > 1}
        self.positions, self.blocks, self.bombs, self.explosions = {}, set(), ticks, set()'''),
    ("draws-what-is-last", "late-joiner", "        while self.arrived:\n", "        picture = None\n@@",
     "picture = self.state.handle(reader)", "picture = self.state.handle(reader) or picture", INCOMPLETE, INCOMPLETE.replace("return", "break"),
     PICTURED, PICTURED.replace("            if", "        if").replace("                self", "            self")),
    ("a-set-of-bombs", "bombs twin-bombs", "many(u16(*spot, timer) for spot, timer in self.bombs.values())",
     "many(u16(*spot, timer) for spot, timer in set(self.bombs.values()))"),
    ("stops-before-blocks", "blast-stops blast-before explosions radius-65535", STOP, "".join(STOP.splitlines(True)[1:] + STOP.splitlines(True)[:1])),
    ("around-the-edge", "blast-edge explosions radius-65535", EDGE, EDGE.replace("break", "fields.add((x % size_x, y % size_y))\n                    break")),
    ("arms-from-blocks", "blast-on-block explosions", "        if center in blocks:\n            return fields\n", ""),
    ("keeps-explosions", "blast-over explosions radius-65535", "        self.explosions = set()\n        self.bombs =", "        self.bombs ="),
)
