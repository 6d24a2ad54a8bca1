"""The faults of the reference server of robots. `faults.py` explains what they are for, `mastermind_faults.py` what a row is."""

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
OPENED = "self.game = None"

# Sums of rules: what all actions, or all explosions, go wrong with is seen in the busy game too.
faulty("robots-server", [
    # The command line.
    ("runs-without-arguments", "no-arguments",
     PARSED, 'args = parser.parse_args() if sys.argv[1:] else sys.exit(0)'),
    ("guesses-players", "required-options", '"--players-count", type=number(1, 255), required=True',
     '"--players-count", type=number(1, 255), default=2'),
    ("wraps-below-zero", "below-zero", NUMBER, 'word = word.lstrip("-")\n        ' + NUMBER),
    ("wraps-large-numbers", "too-large", NUMBER,
     'word = str(int(word) % (highest + 1)) if word.isdecimal() else word\n        ' + NUMBER),
    ("stops-at-letters", "not-a-number", NUMBER,
     'word = "".join(__import__("re").findall(r"^[0-9]*", word)) or ("0" if not word else word)\n        ' + NUMBER),
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
    ("signed-options", "largest-values large-board wide-blast no-seed", "any16 = number(1, 65535), number(0, 65535)",
     "any16 = number(1, 32767), number(0, 65535)"),
    ("short-server-name", "server-name", "text(setup.server_name)", "text(setup.server_name[:100])"),
    ("exits-with-2", "exit-status-1", "self.exit(1, f", "self.exit(2, f"),
    # The network.
    ("local-only", "ipv6 all-addresses", LISTEN + "\n                                        " + DUAL,
     'listener = socket.create_server(("127.0.0.1", args.port), backlog=64)'),
    ("no-reuse", "restart", LISTEN + "\n                                        " + DUAL,
     """listener = socket.socket(family)
        listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        listener.bind(("", args.port))
        listener.listen(64)"""),
    ("at-most-300", "crowd", "self.clients.append(client)", "self.clients.append(client) if len(self.clients) < 300 else client.connection.close()"),
    ("never-closes", "visitors bad-bytes bad-direction bad-name before-bad-bytes strict-utf8", "self.clients.remove(client)", "self.kept = getattr(self, 'kept', []) + [self.clients.pop(self.clients.index(client))]",
     "            client.connection.close()\n\n    def accept", "            len(getattr(self, 'kept', [])) > 500 and sys.exit(1)\n\n    def accept"),
    ("reads-to-the-end", "flood", "arrived = client.connection.recv(65536)",
     """arrived = client.connection.recv(65536)
        try:
            while len(arrived) >= 4096:
                select.select([client.connection], [], [], 0.05)
                arrived = arrived[(len(arrived) - 4096) // 256 * 256:] + client.connection.recv(65536)
        except BlockingIOError:
            pass"""),
    ("ends-at-a-reset", "resets", DEAD, "(BrokenPipeError, EOFError, Malformed) as why:",
     "Server(args, listener).run()", """try:
        Server(args, listener).run()
    except ConnectionResetError:
        return 1"""),
    ("crashes-at-a-reset", "no-crash resets", "arrived = client.connection.recv(65536)", f"""try:
            arrived = client.connection.recv(65536)
        except ConnectionResetError:
            {CRASH}"""),
    ("loses-what-does-not-fit", "nothing-lost", "del self.unsent[:sent]", "self.unsent.clear()"),
    ("one-buffer", "own-buffers others-undisturbed half-a-join", 'self.arrived, self.unsent = b"", bytearray()', "self.unsent = bytearray()",
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
    # The lobby.
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
    ("spares-robots", "blocks-under-robots draws rebirth-on-block seed-zero", "if spot not in self.blocks:\n                self.blocks.add(spot)\n                self.opening",
     "if spot not in self.blocks and spot not in self.robots.values():\n                self.blocks.add(spot)\n                self.opening"),
    ("15-bits", "large-board wide-blast", "return x, self.draws.draw() % self.setup.size_y",
     "return x & 0x7fff, self.draws.draw() % self.setup.size_y & 0x7fff"),
    # Actions.
    ("one-too-far", "far-edge turns", MOVE, "size = self.setup.size_x, self.setup.size_y\n"
     "            if 0 <= target[0] <= size[0] and 0 <= target[1] <= size[1] and target not in self.blocks:"),
    ("stays-on-blocks", "leave-block turns", MOVE, "if self.is_on_board(target) and target not in self.blocks and spot not in self.blocks:"),
    ("bombs-are-walls", "over-bombs", MOVE,
     "if self.is_on_board(target) and target not in self.blocks and target not in [bomb[0] for bomb in self.bombs.values()]:"),
    ("robots-are-walls", "shared-field", MOVE,
     "if self.is_on_board(target) and target not in self.blocks and target not in self.robots.values():"),
    ("no-block-on-others", "block-on-others", BLOCK, BLOCK + " and list(self.robots.values()).count(spot) == 1"),
    ("one-bomb-a-field", "bombs-on-one-field bomb-timer", BOMB,
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
    ("spares-owners", "own-bomb", BOMB, BOMB + "\n            self.owners = {**getattr(self, 'owners', {}), bomb: player}",
     FOUND, "robots = sorted(player for player, where in self.robots.items() if where in fields and player != self.owners[bomb])"),
    ("bombs-leave-too", "bomb-of-leaver bomb-timer", BOMB, BOMB + "\n            self.owners = {**getattr(self, 'owners', {}), bomb: player}",
     "if client in self.clients:", """if self.game and client.player is not None:
                self.game.bombs = {bomb: what for bomb, what in self.game.bombs.items() if self.game.owners[bomb] != client.player}
            if client in self.clients:"""),
    ("chain-reaction", "no-chain bomb-timer bombs-on-one-field", EXPLODED, EXPLODED + """
            for other, (place, _) in list(self.bombs.items()):
                if other > bomb and place in fields:
                    self.bombs[other] = (place, 1)""", DUE, "for bomb, (spot, _) in sorted(self.bombs.items()):\n            timer = self.bombs[bomb][1]"),
    ("forgets-words", "last-words", "if client in self.clients:", """if self.game and client.player is not None:
                self.actions.pop(client.player, None)
            if client in self.clients:"""),
    # Explosions.
    ("blasts-through-its-block", "bomb-on-block rebirth-on-block", "if center in self.blocks:\n            return fields", ""),
    ("shelters", "no-shelter", FOUND, "robots = sorted(player for player, where in self.robots.items() if where in fields and (where == spot or where not in self.blocks))"),
    ("lists-four-times", "listed-once own-bomb", EXPLODED,
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
    ("ends-without-clients", "nobody-there", "client.connection.close()\n\n    def accept", """client.connection.close()
            if not self.clients:
                self.open_lobby()

    def accept"""),
    ("last-500-turns", "long-history", "self.history.append(message)", "self.history = self.history[:1] + self.history[1:][-500:] + [message]"),
    ("tells-old-games", "old-history", "self.history = []  # what a newcomer is sent after Hello", "self.history = getattr(self, 'history', [])"),
    ("old-blocks", "next-board", STARTED, "old = getattr(self, 'last', None)\n        " + STARTED + "\n        self.last = self.game\n        self.game.blocks |= old.blocks if old else set()"),
    ("old-bombs", "next-board", STARTED, "old = getattr(self, 'last', None)\n        " + STARTED + "\n        self.last = self.game\n        self.game.bombs = {999 + bomb: what for bomb, what in old.bombs.items()} if old else {}"),
    ("old-scores", "next-scores", STARTED, "old = getattr(self, 'last', None)\n        " + STARTED + "\n        self.last = self.game\n        self.game.scores = old.scores if old else self.game.scores"),
    ("one-turn-at-least", "no-turns", "if self.game.turn == self.setup.game_length:", "if self.game.turn == max(1, self.setup.game_length):"),
    ("no-zeros", "score-zeros 255-players", "for player, score in sorted(self.game.scores.items())]", "for player, score in sorted(self.game.scores.items()) if score]"),
])
