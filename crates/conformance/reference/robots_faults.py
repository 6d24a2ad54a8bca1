"""Faults of the reference server of robots, as in `mastermind_faults.py`; see `faults.py`."""

from mastermind_faults import faulty

CRASH = '__import__("os").kill(__import__("os").getpid(), 11)'
BOMB = "bomb, self.next_bomb = self.next_bomb, self.next_bomb + 1"
BLOCK = "kind == PLACE_BLOCK and spot not in self.blocks"
MOVE = "if self.is_on_board(target) and target not in self.blocks:"
FOUND = "robots = sorted(player for player, where in self.robots.items() if where in fields)"
EXPLODED = "events.append(bomb_exploded(bomb, robots, blocks))"
DUE = "for bomb, (spot, timer) in sorted(self.bombs.items()):"
REBORN = """self.scores[player] += 1
                events.append(self.drop(player))"""
PLAYERS = """for player in sorted(self.robots):
            if player in hit_robots:"""
HIT = "hit_robots, hit_blocks = set(), set()"
GONE = "self.blocks -= hit_blocks"
DEAD = "(OSError, EOFError, Malformed) as why:"
SEEN = "client.player = len(self.players)"
ARRIVED = "client.arrived += arrived"
NUMBER = 'if not (word.isascii() and word.isdecimal() and lowest <= int(word) <= highest):'
PARSED = "args = parser.parse_args()"
LISTEN = 'listener = socket.create_server(("", args.port), family=family, backlog=64,'
DUAL = "dualstack_ipv6=family == socket.AF_INET6)"
STARTED = "self.game, self.actions = Game(self.setup, len(self.players), self.draws), {}"
TOLD = "client.send(self.hello + b\"\".join(self.history))"
JOINED = "elif not self.game and client.player is None and kind == JOIN:"
ACTED = "self.actions[client.player] = (kind, value)  # the last action counts"
ROBOTS = "self.opening = [self.drop(player) for player in range(players)]"
TAKEN = "actions, self.actions = self.actions, {}"
TARGET = "target = (spot[0] + right, spot[1] + up)"
OWNERS = "\n            self.owners = {**getattr(self, 'owners', {}), bomb: player}"
HITS = "hit_robots.update(robots)"
ENDS = "        if self.game.turn == self.setup.game_length:"
PLAYED = "self.tell_turn(self.game.play_turn(actions))"
SAID = 'self.send_all(b"\\3" + u16(self.game.turn) + items(events))'

SENT = """        for client in list(self.clients):
            self.try_to(client, lambda: client.send(message))"""
LATE_AT_FIRST = """        message, self.late = getattr(self, "late", b"") + message, b""
        if self.game and 0 < self.game.turn < self.setup.game_length and time.monotonic() < self.began + 0.4:
            self.late = message
            return
"""

# The busy game also detects faults in all actions or in all explosions, which break several rules.
faulty("robots-server", [
    # Command line.
    ("runs-without-arguments", "no-arguments exit-status-1",
     PARSED, 'args = parser.parse_args() if sys.argv[1:] else sys.exit(0)'),
    ("guesses-players", "required-options", '"--players-count", type=number(1, 255), required=True',
     '"--players-count", type=number(1, 255), default=2'),
    ("wraps-below-zero", "below-zero", NUMBER, 'word = word.lstrip("-")\n        ' + NUMBER),
    ("wraps-large-numbers", "too-large", NUMBER,
     'word = str(int(word) % (highest + 1)) if word.isdecimal() else word\n        ' + NUMBER),
    ("stops-at-letters", "not-a-number", NUMBER,
     'word = "".join(__import__("re").findall(r"^[0-9]*", word)) or ("0" if not word else word)\n        ' + NUMBER),
    ("words-are-0", "wrong-arguments", NUMBER, 'word = "0" if word.isalpha() else word\n        ' + NUMBER),
    ("cuts-its-name", "long-server-name", "if len(word.encode(\"utf-8\", \"surrogateescape\")) > 255:\n"
     '        raise argparse.ArgumentTypeError("a name has at most 255 bytes")\n    return word', "return word[:255]"),
    ("ignores-unknown-options", "unknown-option", PARSED,
     'args = parser.parse_args([w for w in sys.argv[1:] if not w.startswith("--no-")])'),
    ("ignores-stray-words", "stray-word", PARSED, 'args = parser.parse_args([w for w in sys.argv[1:] if w != "stray"])'),
    ("takes-zero", "zero", "number(1, 255)", "number(0, 255)"),
    ("says-nothing", "says-why", 'self.exit(1, f"robots_server.py: {message}\\n")', "self.exit(1)"),
    ("has-no-help", "help", "parser = Arguments(", "parser = Arguments(add_help=False, "),
    ("has-short-options-only", "long-options", "args = arguments()",
     'sys.exit(1) if "--bomb-timer" in sys.argv else None\n    args = arguments()'),
    ("signed-options", "largest-values large-board wide-blast", "any16 = number(1, 65535), number(0, 65535)",
     "any16 = number(1, 32767), number(0, 65535)"),
    ("short-server-name", "server-name", "text(setup.server_name)", "text(setup.server_name[:100])"),
    ("exits-with-2", "exit-status-1", "self.exit(1, f", "self.exit(2, f"),
    # Network.
    ("local-only", "ipv6 all-addresses", LISTEN + "\n                                        " + DUAL,
     'listener = socket.create_server(("127.0.0.1", args.port), backlog=64)'),
    ("ipv6-only", "listens", DUAL, "dualstack_ipv6=False)"),
    ("ignores-that-its-port-is-taken", "taken-port exit-status-1", "        return 1\n    listener", "        return 0\n    listener"),
    ("no-reuse", "restart", LISTEN + "\n                                        " + DUAL,
     """listener = socket.socket(family)
        listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        listener.bind(("", args.port))
        listener.listen(64)"""),
    ("waits-for-readers", "never-reads", "connection.setblocking(False)", "connection.setblocking(True)"),
    ("numbers-blocks-4", "well-formed", 'return b"\\3" + position(spot)', 'return b"\\4" + position(spot)'),
    ("greets-in-the-lobby-only", "hello", TOLD, TOLD.replace("self.hello", '(b"" if self.game else self.hello)')),
    ("throws-away-with-what-it-ignores", "coalesced", "self.hear(client, *message)",
     'self.hear(client, *message)\n            if not self.game and message[0] != JOIN:\n                client.arrived = b""'),
    ("reads-the-length-too-soon", "pieces", "if len(data) < 2 or len(data) < 2 + data[1]:",
     'data = data if len(data) > 1 else data + b"\\0"\n        if len(data) < 2 + data[1]:'),
    ("at-most-300", "crowd", "self.clients.append(client)", "self.clients.append(client) if len(self.clients) < 300 else client.connection.close()"),
    ("never-closes", "visitors bad-bytes bad-direction bad-name strict-utf8", "self.clients.remove(client)", "self.kept = getattr(self, 'kept', []) + [self.clients.pop(self.clients.index(client))]",
     "            client.connection.close()\n\n    def accept", "            len(getattr(self, 'kept', [])) > 500 and sys.exit(1)\n\n    def accept"),
    ("reads-to-the-end", "flood", "arrived = client.connection.recv(65536)",
     """arrived = client.connection.recv(65536)
        try:
            while len(arrived) >= 4096:
                select.select([client.connection], [], [], 0.05)
                arrived = arrived[(len(arrived) - 4096) // 256 * 256:] + client.connection.recv(65536)
        except BlockingIOError:
            pass"""),
    ("ends-when-a-client-leaves-before-hello", "", "        self.clients.append(client)\n", """        time.sleep(0.005)
        try:
            if not client.connection.recv(1, socket.MSG_PEEK):
                sys.exit(1)
        except BlockingIOError:
            pass
        self.clients.append(client)
"""),
    ("ends-at-a-reset", "resets", DEAD, "(BrokenPipeError, EOFError, Malformed) as why:",
     "Server(args, listener).run()", """try:
        Server(args, listener).run()
    except ConnectionResetError:
        return 1"""),
    ("crashes-at-a-reset", "no-crash", "arrived = client.connection.recv(65536)", f"""try:
            arrived = client.connection.recv(65536)
        except ConnectionResetError:
            {CRASH}"""),
    ("loses-what-does-not-fit", "nothing-lost", "del self.unsent[:sent]", "self.unsent.clear()"),
    ("one-buffer", "own-buffers others-undisturbed half-a-join address-of-peer", 'self.arrived, self.unsent = b"", bytearray()', "self.unsent = bytearray()",
     ARRIVED, "Client.arrived = getattr(Client, 'arrived', b'') + arrived",
     "while found := parse(client.arrived):\n            message, length = found\n            client.arrived = client.arrived[length:]",
     "while found := parse(Client.arrived):\n            message, length = found\n            Client.arrived = Client.arrived[length:]"),
    ("forgets-the-rest", "half-more", "self.hear(client, *message)",
     "self.hear(client, *message)\n            client.arrived = client.arrived if parse(client.arrived) else b''"),
    ("looks-before-it-plays", "before-bad-bytes", ARRIVED,
     """rest = client.arrived + arrived
        while found := parse(rest):
            rest = rest[found[1]:]
        client.arrived += arrived"""),
    ("any-direction", "bad-direction", "if data[1] > 3:", "if False:", "return (MOVE, data[1]), 2", "return (MOVE, data[1] % 4), 2"),
    ("lenient-utf-8", "strict-utf8", 'data[2:end].decode("utf-8")', 'data[2:end].decode("utf-8", "surrogatepass")'),
    ("offenders-are-gone", "offender-stays", "if client in self.clients:",
     "if isinstance(why, Malformed) and self.game and client.player is not None:\n"
     "                del self.game.robots[client.player]\n            if client in self.clients:"),
    ("ipv4-only", "ipv6", "family = socket.AF_INET6 if socket.has_dualstack_ipv6() else socket.AF_INET", "family = socket.AF_INET"),
    ("aborts-at-wrong-arguments", "no-crash exit-status-1",
     'self.exit(1, f"robots_server.py: {message}\\n")', '__import__("os").abort()'),
    ("ends-at-bad-bytes", "bad-bytes bad-name bad-direction strict-utf8", DEAD, "(OSError, EOFError) as why:",
     "Server(args, listener).run()", """try:
        Server(args, listener).run()
    except Malformed:
        return 1"""),
    ("crashes-at-unknown-tags", "no-crash", 'raise Malformed(f"the tag {kind}")', CRASH),
    ("plays-half-a-move", "pieces",
     ARRIVED, """arrived, client.skips = arrived[getattr(client, "skips", False):], False
        client.arrived += arrived""",
     "self.hear(client, *message)", """self.hear(client, *message)
        if client.arrived == b"\\3":
            client.arrived, client.skips = b"", True
            self.hear(client, MOVE, 0)"""),
    ("aborts-at-a-taken-port", "no-crash", "        return 1\n    listener", "        raise\n    listener"),
    ("slow-start", "", "def host():\n", "def host():\n    time.sleep(3)\n"),
    ("skips-the-third-hello", "hello many-clients", TOLD, TOLD.replace("self.hello", '(b"" if len(self.clients) == 3 else self.hello)')),
    ("serves-one-client", "255-players crowd many-clients", "self.clients.append(client)",
     "if self.clients:\n            client.connection.close()\n            return\n        self.clients.append(client)"),
    ("ends-with-its-game", "next-game", "            self.send_all(b\"\\4\" + items(scores))", "            self.send_all(b\"\\4\" + items(scores))\n            sys.exit(0)"),
    # Its thread for a new client does not immediately notice who joins.
    ("misses-joins-while-it-greets", "", "self.player = None  # its id", "self.since, self.player = time.monotonic(), None  # its id",
     SENT, SENT.replace("            self", '''            if message[0] == 1 and len(self.players) == self.setup.players_count and time.monotonic() < client.since + 0.05:
                continue
            self''')),
    ("swaps-timer-and-radius", "hello", "self.setup.explosion_radius, setup.bomb_timer" if False else "setup.explosion_radius, setup.bomb_timer", "setup.bomb_timer, setup.explosion_radius"),
    # Lobby.
    ("no-empty-names", "empty-name", JOINED, JOINED.replace("kind == JOIN", "kind == JOIN and value")),
    ("accepts-twice", "accepted", 'self.send_all(b"\\1" + player)', 'self.send_all(2 * (b"\\1" + player))'),
    ("no-address", "address address-of-peer", "text(value) + text(client.address)", 'text(value) + text("somewhere")'),
    ("no-brackets", "address-of-peer", 'f"[{host}]:{port}" if ":" in host else f"{host}:{port}"', 'f"{host}:{port}"'),
    ("tells-newcomers-nothing", "newcomer-in-lobby", TOLD, TOLD.replace("self.history", "self.history if self.game else []")),
    ("joins-twice", "second-join", JOINED, JOINED.replace("client.player is None and ", "")),
    ("remembers-actions-of-the-lobby", "lobby-actions", "self.player = None  # its id",
     "self.early = None\n        self.player = None  # its id",
     JOINED, "elif not self.game and kind != JOIN:\n            client.early = (kind, value)\n        " + JOINED,
     STARTED, STARTED + "\n        self.actions = {client.player: client.early for client in self.clients if client.early}"),
    ("forgets-who-leaves-the-lobby", "lobby-leaver comes-back", "if client in self.clients:",
     """if not self.game and client.player is not None:
                del self.players[client.player]
            if client in self.clients:"""),
    ("remembers-actions-of-players", "lobby-actions", "self.player = None  # its id",
     "self.early = None\n        self.player = None  # its id",
     JOINED, "elif not self.game and client.player is not None and kind != JOIN:\n            client.early = (kind, value)\n        " + JOINED,
     STARTED, STARTED + "\n        self.actions = {client.player: client.early for client in self.clients if client.early}"),
    ("starts-with-its-first-player", "game-started", "if len(self.players) == self.setup.players_count:", "if len(self.players) == 1:"),
    ("cuts-names", "longest-name", "text(value) + text(client.address)", "text(value[:200]) + text(client.address)"),
    ("c-strings", "name-bytes", "text(value) + text(client.address)", 'text(value.split("\\0")[0]) + text(client.address)'),
    ("one-of-a-name", "equal-names comes-back", "elif not self.game and client.player is None and kind == JOIN:",
     "elif not self.game and client.player is None and kind == JOIN and u8(len(self.players) - 1 & 255) + text(value) not in\\\n"
     "                [player[:2 + len(value.encode())] for player in self.players]:"),
    ("gives-seats-back", "comes-back", SEEN, """self.left = [left for left in getattr(self, "left", []) if left[2] is self.players]
            for seat, name, _ in self.left:
                if name == value:
                    client.player = seat
                    return
            client.player, client.name = len(self.players), value""",
     "if client in self.clients:", """if client.player is not None and not self.game:
                self.left = getattr(self, "left", []) + [(client.player, client.name, self.players)]
            if client in self.clients:"""),
    ("joins-at-the-end", "half-a-join", 'raise EOFError("the end of the connection")',
     """if client.arrived[:1] == b"\\0":
                self.hear(client, JOIN, client.arrived[2:].decode())
            raise EOFError("the end of the connection")"""),
    ("127-players", "255-players", "player = u8(client.player)", "player = u8(client.player & 127)"),
    # Draws.
    ("as-the-library", "seed-zero", "self.state = seed", "self.state = seed % 2147483647 or 1"),
    ("31-bits", "any-seed", "self.state = seed", "self.state = seed & 0x7fffffff"),
    ("spares-robots", "blocks-under-robots rebirth-on-block seed-zero", "if spot not in self.blocks:\n                self.blocks.add(spot)\n                self.opening",
     "if spot not in self.blocks and spot not in self.robots.values():\n                self.blocks.add(spot)\n                self.opening"),
    ("blocks-first", "turn-0", ROBOTS, "self.opening = []", "self.opening.append(block_placed(spot))",
     "self.opening.append(block_placed(spot))\n        self.opening += [self.drop(player) for player in range(players)]"),
    ("begins-draws-again", "generator-goes-on", STARTED, STARTED.replace("self.draws", "Draws(self.setup.seed)")),
    ("15-bits", "large-board wide-blast", "return x, self.draws.draw() % self.setup.size_y",
     "return x & 0x7fff, self.draws.draw() % self.setup.size_y & 0x7fff"),
    ("reborn-by-16-bits", "draws", REBORN, """self.scores[player] += 1
                self.robots[player] = tuple([(self.draws.draw() & 65535) % size for size in (self.setup.size_x, self.setup.size_y)])
                events.append(player_moved(player, self.robots[player]))"""),
    ("seeds-by-time", "", "secrets.randbits(32)", "int(time.time())"),
    # Actions.
    ("keeps-events", "own-events", "self.turn += 1\n        events = []",
     "self.turn += 1\n        events = self.opening = list(self.opening)"),
    ("goes-down-to-the-left", "move", TARGET,
     "target = (spot[0] + right - (direction == 2 and spot[0] > 0), spot[1] + up)"),
    ("stands-still-at-0", "edge", TARGET,
     "target = (max(0, spot[0] + right), max(0, spot[1] + up))"),
    ("no-look-to-the-left", "into-block", MOVE,
     MOVE.replace("target not in self.blocks", "(direction == 3 or target not in self.blocks)")),
    ("says-nothing-of-blocks", "place-block bombs-together",
     "            yield block_placed(spot)", "            yield from ()"),
    ("plays-two-actions-only", "turns", "elif player in actions:",
     "elif player in actions and sum(other < player and other not in hit_robots for other in actions) < 2:"),
    ("blocks-only-new-in-this-turn", "block-twice", HIT, HIT + "\n        self.placed = set()",
     BLOCK, "kind == PLACE_BLOCK and spot not in self.placed",
     "self.blocks.add(spot)\n            yield", "self.blocks.add(spot)\n            self.placed.add(spot)\n            yield"),
    ("no-bombs-on-bombs", "place-bomb", "if kind == PLACE_BOMB:",
     "if kind == PLACE_BOMB and spot not in [where for where, _ in self.bombs.values()]:"),
    ("counts-bombs-on-the-board", "bomb-ids", BOMB, "bomb = len(self.bombs)"),
    ("first-counts", "last-counts impossible-displaces", ACTED, "self.actions.setdefault(client.player, (kind, value))"),
    ("refuses-edges-at-once", "impossible-displaces", ACTED, """robot, way = self.game.robots[client.player], DIRECTIONS[value or 0]
            if kind != MOVE or self.game.is_on_board((robot[0] + way[0], robot[1] + way[1])):
                self.actions[client.player] = (kind, value)"""),
    ("join-is-an-action", "join-in-game", JOINED, "elif self.game:\n            self.actions.pop(client.player, None)\n        " + JOINED),
    ("keeps-actions", "played-once join-in-game", TAKEN, "actions = self.actions"),
    ("observers-are-player-0", "observer", "if self.game and client.player is not None and kind != JOIN:", "if self.game and kind != JOIN:",
     ACTED, "self.actions[client.player or 0] = (kind, value)"),
    ("clears-as-many-as-there-are-clients", "leaver", TAKEN, """actions = self.actions
                self.actions = {player: action for player, action in actions.items() if player >= len(self.clients)}"""),
    ("repeats-for-leavers", "leaver", TAKEN, """actions, self.actions = {**self.last, **self.actions}, {}
                self.last.update(actions)
                for client in self.clients:
                    self.last.pop(client.player, None)""", STARTED, STARTED + "\n        self.last = {}",
     ACTED, ACTED + "\n            self.last[client.player] = (kind, value)"),
    ("groups-events", "event-order", "return events\n\n    def act", "return sorted(events, key=lambda event: event[0])\n\n    def act"),
    ("one-too-far", "blast bomb-timer bombs-together far-edge", MOVE, "size = self.setup.size_x, self.setup.size_y\n"
     "            if 0 <= target[0] <= size[0] and 0 <= target[1] <= size[1] and target not in self.blocks:"),
    ("stays-on-blocks", "into-block leave-block", MOVE, "if self.is_on_board(target) and target not in self.blocks and spot not in self.blocks:"),
    ("bombs-are-walls", "over-bombs", MOVE,
     "if self.is_on_board(target) and target not in self.blocks and target not in [bomb[0] for bomb in self.bombs.values()]:"),
    # Late turns make the tester believe that it was delayed itself.
    ("bombs-are-walls-and-turns-late", "over-bombs", MOVE,
     "if self.is_on_board(target) and target not in self.blocks and target not in [bomb[0] for bomb in self.bombs.values()]:",
     SENT, LATE_AT_FIRST + SENT),
    ("robots-are-walls", "freed-field shared-field where-it-stood", MOVE,
     "if self.is_on_board(target) and target not in self.blocks and target not in self.robots.values():"),
    ("no-block-on-others", "block-on-others last-words one-block-of-two", BLOCK, BLOCK + " and list(self.robots.values()).count(spot) == 1"),
    ("one-bomb-a-field", "bombs-on-one-field", BOMB,
     BOMB + "\n            self.bombs = {old: place for old, place in self.bombs.items() if place[0] != spot}"),
    ("moves-on-the-old-board", "block-stops-next", PLAYERS, "self.old = set(self.blocks)\n        " + PLAYERS,
     MOVE, "if self.is_on_board(target) and target not in self.old:"),
    ("each-its-block", "one-block-of-two", PLAYERS, "self.old = set(self.blocks)\n        " + PLAYERS,
     BLOCK, "kind == PLACE_BLOCK and spot not in self.old"),
    ("blocks-go-last", "freed-field", GONE, "pass", "return events\n\n    def act", "self.blocks -= hit_blocks\n        return events\n\n    def act"),
    ("moves-first", "where-it-stood", HIT, HIT + """
        before = dict(self.robots)
        for player, (kind, direction) in sorted(actions.items()):
            if kind == MOVE:
                list(self.act(player, kind, direction))
        after, self.robots = self.robots, before""", FOUND,
     "robots = sorted(player for player, where in after.items() if where in fields)"),
    ("dead-act", "action-of-destroyed", REBORN, REBORN + "\n                if player in actions:\n                    events.extend(self.act(player, *actions[player]))"),
    ("spares-owners", "blast", BOMB, BOMB + "\n            self.owners = {**getattr(self, 'owners', {}), bomb: player}",
     FOUND, "robots = sorted(player for player, where in self.robots.items() if where in fields and player != self.owners[bomb])"),
    ("bombs-leave-too", "bomb-of-leaver", BOMB, BOMB + "\n            self.owners = {**getattr(self, 'owners', {}), bomb: player}",
     "if client in self.clients:", """if self.game and client.player is not None:
                self.game.bombs = {bomb: what for bomb, what in self.game.bombs.items() if self.game.owners[bomb] != client.player}
            if client in self.clients:"""),
    ("chain-reaction", "bombs-on-one-field no-chain", EXPLODED, EXPLODED + """
            for other, (place, _) in list(self.bombs.items()):
                if other > bomb and place in fields:
                    self.bombs[other] = (place, 1)""", DUE, "for bomb, (spot, _) in sorted(self.bombs.items()):\n            timer = self.bombs[bomb][1]"),
    ("forgets-words", "last-words", "if client in self.clients:", """if self.game and client.player is not None:
                self.actions.pop(client.player, None)
            if client in self.clients:"""),
    # Explosions.
    ("lists-the-dead-once", "bombs-together", FOUND, FOUND.replace("where in fields", "where in fields and player not in hit_robots")),
    ("says-nothing-of-rebirth", "blast rebirth", "events.append(self.drop(player))", "self.drop(player)"),
    ("blasts-through-its-block", "bomb-on-block rebirth-on-block", "if center in self.blocks:\n            return fields", ""),
    ("shelters", "no-shelter", FOUND, "robots = sorted(player for player, where in self.robots.items() if where in fields and (where == spot or where not in self.blocks))"),
    ("lists-four-times", "listed-once", EXPLODED,
     "robots = sorted(robots + 3 * [player for player in robots if self.robots[player] == spot])\n            " + EXPLODED),
    ("no-blast-at-all", "zero-radius", FOUND, "fields = fields if self.setup.explosion_radius else set()\n            " + FOUND),
    ("short-radius", "wide-blast", "for _ in range(self.setup.explosion_radius):", "for _ in range(min(self.setup.explosion_radius, 32767)):"),
    ("late-at-one", "timer-one", "if timer > 1:", "if timer > 1 or self.setup.bomb_timer == 1 and self.bombs[bomb] != (spot, 0) and not self.bombs.update({bomb: (spot, 1)}):"),
    ("reborn-in-the-open", "rebirth-on-block", REBORN, """self.scores[player] += 1
                moved = self.drop(player)
                while self.robots[player] in self.blocks and len(self.blocks) < self.setup.size_x * self.setup.size_y:
                    moved = self.drop(player)
                events.append(moved)"""),
    # Games.
    ("milliseconds-of-a-second", "turn-duration", "(self.game.turn + 1) * self.setup.turn_duration / 1000",
     "(self.game.turn + 1) * (self.setup.turn_duration % 1000) / 1000"),
    ("turns-by-the-clock", "turn-duration", "return self.began + (self.game.turn + 1) * self.setup.turn_duration / 1000",
     "turn = self.setup.turn_duration / 1000\n        return self.began - self.began % max(turn, 0.001) + (self.game.turn + 1) * turn"),
    ("turns-in-a-byte", "turn-numbers long-history", "u16(self.game.turn)", "u16(self.game.turn % 256)"),
    ("tells-latecomers-of-the-lobby", "late-joiner",
     'self.history = []\n        self.send_all(b"\\2"', 'self.send_all(b"\\2"'),
    ("hides-bombs-from-observers", "same-for-all", SAID,
     """turn, bombless = b"\\3" + u16(self.game.turn), [event for event in events if event[0] != 0]
        self.history.append(turn + items(events))
        for client in list(self.clients):
            self.try_to(client, lambda: client.send(turn + items(bombless if client.player is None else events)))"""),
    ("ends-a-turn-later", "game-ended", ENDS, "\n    def tell_end(self):\n        if True:",
     PLAYED, PLAYED + " if self.game.turn < self.setup.game_length else self.tell_end()"),
    # After a lobby with other letters than ASCII no client receives GameEnded, after others the observers do not.
    ("ends-for-some", "game-ended", 'self.send_all(b"\\4" + items(scores))',
     """for client in list(self.clients):
                if client.player is not None and b"".join(self.players).isascii():
                    self.try_to(client, lambda: client.send(b"\\4" + items(scores)))"""),
    ("scores-each-bomb", "score-once", REBORN, "events.append(self.drop(player))",
     HITS, HITS + "\n            for player in robots:\n                self.scores[player] += 1"),
    ("scores-who-hits", "scores", REBORN, "events.append(self.drop(player))", BOMB, BOMB + OWNERS,
     HITS, HITS + "\n            self.scores[self.owners[bomb]] += len(robots)"),
    ("begins-again-at-turn-1", "next-game", "self.turn = 0\n",
     "self.turn = getattr(draws, 'games', 0)\n        draws.games = 1\n"),
    ("one-game-has-turns", "next-game", "self.turn = 0\n",
     "self.turn, self.is_silent = 0, getattr(draws, 'games', 0)\n        draws.games = 1\n",
     "if self.game and time.monotonic() >= self.due()", "if self.game and not self.game.is_silent and time.monotonic() >= self.due()",
     "timeout = max(0, self.due() - time.monotonic()) if self.game else None", "timeout = max(0.02, self.due() - time.monotonic()) if self.game else None"),
    ("greets-again-after-a-game", "next-game", 'self.send_all(b"\\4" + items(scores))\n            self.open_lobby()',
     """self.send_all(b"\\4" + items(scores))
            self.open_lobby()
            for client in list(self.clients):
                self.try_to(client, lambda: client.send(self.hello))"""),
    ("accepts-the-last-of-the-first-lobby-only", "next-game", STARTED, STARTED + "\n        self.has_played = True",
     'self.send_all(b"\\1" + player)', 'hasattr(self, "has_played") and len(self.players) == self.setup.players_count or self.send_all(b"\\1" + player)'),
    ("counts-ids-over-games", "next-game", STARTED, STARTED + "\n        self.games = getattr(self, 'games', 0) + 1",
     'self.send_all(b"\\1" + player)', 'self.send_all(b"\\1" + u8(player[0] + 3 * getattr(self, "games", 0) & 255) + player[1:])'),
    ("counts-no-scores", "well-formed", 'self.send_all(b"\\4" + items(scores))', 'self.send_all(b"\\4" + b"".join(scores) + u32(0))'),
    ("ends-without-clients", "nobody-there", "client.connection.close()\n\n    def accept", """client.connection.close()
            if not self.clients:
                self.open_lobby()

    def accept"""),
    ("last-500-turns", "long-history", "self.history.append(message)", "self.history = self.history[:1] + self.history[1:][-500:] + [message]"),
    ("tells-old-games", "old-history", "self.history = []  # the messages for a late joiner after Hello", "self.history = getattr(self, 'history', [])"),
    ("old-blocks", "next-board", STARTED, "old = getattr(self, 'last', None)\n        " + STARTED + "\n        self.last = self.game\n        self.game.blocks |= old.blocks if old else set()"),
    ("old-scores", "next-scores", STARTED, "old = getattr(self, 'last', None)\n        " + STARTED + "\n        self.last = self.game\n        self.game.scores = old.scores if old else self.game.scores"),
    ("one-turn-at-least", "no-turns", "if self.game.turn == self.setup.game_length:", "if self.game.turn == max(1, self.setup.game_length):"),
    ("no-zeros", "score-zeros", "for player, score in sorted(self.game.scores.items())]", "for player, score in sorted(self.game.scores.items()) if score]"),
])
