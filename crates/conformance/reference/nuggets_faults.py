"""Faults of the reference server of nuggets, as in `mastermind_faults.py`; see `faults.py`."""

from mastermind_faults import faulty

PARSED = "args = parser.parse_args()"
RUN = "while key.isupper() and moved:"
JOINED = "player = self.game.join(clean(name), address)"
HEARD = 'kind = message.split(b" ")[0].split(b"\\n")[0]'
FOUND = "found = self.piles.pop(spot, 0)"
WATCHED = "if player and player.plays:\n            self.send(address, \"ERROR you play already\")\n            return"
FIRST_STEP = "moved, found = self.step(player, way)"
SOCKET = "connection = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)"
START = "Server(rows, random.Random(args.seed), connection).run()\n    return 0"
SHOWN = "if moved:\n                self.show()\n"
OVER = "            if not self.game.piles:\n                raise Over\n"
TOLD = "if found:\n                for other, of in self.everybody():\n" \
    "                    self.send_gold(other, of, found if of is player else 0)\n            "
TOLD_TO_ALL = "for other, of in self.everybody():\n                    self.send_gold"
SENDER = 'player = self.player_at(address)\n        if address == self.spectator and key == "Q":'
THANKED = 'self.send(address, "QUIT Thanks for playing!")'
TABLE = "self.send(address, f\"QUIT {text}{self.game.table()}\")"

WHOLE = "whole, rest = divmod((aim - column) * (between - row), last - row)"
# The last pile is under the first one.
SHARED = ("PILES = (10, 30)", "PILES = (12, 30)",
          "    def room_spots(self):", "        self.under = {spots[0]: self.piles.pop(spots[-1])}\n\n    def room_spots(self):",
          "return sum(self.piles.values())", "return sum(self.piles.values()) + sum(self.under.values())",
          FOUND, FOUND + "\n        if spot in self.under:\n            self.piles[spot] = self.under.pop(spot)")
EACH_STEP = ("moved, found = self.game.move(player, key)", "self.game.show = self.show\n            moved, found = self.game.move(player, key)",
             "return True, found", "self.show()\n        return True, found",
             "self.send_display(address, player)\n\n    def end", "self.send_display(address, player)\n            time.sleep(0.002)\n\n    def end")
STAYING = (FOUND, "found = self.piles.get(spot, 0)\n        if found:\n            self.piles[spot] = 0",
           "if not self.game.piles:", "if not self.game.left():")
# Gold hides players.
PILES_FIRST = ("if player and spot == player.spot:", "if player and spot == player.spot and spot not in self.piles:",
               'return letters.get(spot) or ("*" if spot in self.piles else ground)',
               'return "*" if spot in self.piles else letters.get(spot) or ground')
RECEIVED = "self.hear(*self.connection.recvfrom(65536))"
ENCODED = 'text.encode("ascii"), address)'
GRID = "GRID {len(self.game.rows)} "
GREETED = "self.send_gold(address, player)\n        self.send_display"
PORT = 'print(f"waiting at port {connection.getsockname()[1]}", flush=True)'

faulty("nuggets-server", [
    # Command line.
    ("ignores-more-arguments", "extra-argument", PARSED, "args = parser.parse_args(sys.argv[1:3])"),
    ("any-seed", "bad-seed", "type=positive, nargs", "nargs"),
    ("empty-maps", "bad-map", 'raise ValueError("there are fewer than two room spots")', 'sys.exit(print("no room", file=sys.stderr) or 0)'),
    ("any-map", "bad-arguments", 'print(f"cannot use the map {args.map}: {why}", file=sys.stderr)\n        return 1',
     'print("no map", file=sys.stderr)\n        return 0 if isinstance(why, OSError) else 1'),
    ("says-nothing", "says-why", 'print(f"cannot use the map {args.map}: {why}", file=sys.stderr)', "pass"),
    ("no-seed-is-1", "no-seed", "random.Random(args.seed)", "random.Random(args.seed or 1)"),
    ("one-seed-for-all", "no-seed other-seed", "random.Random(args.seed)", "random.Random(1)"),
    ("ignores-its-seed", "same-seed", "random.Random(args.seed)", "random.Random()"),
    # Start and end.
    ("forgets-to-bind", "announces-port", 'connection.bind(("", 0))', "pass"),
    ("ends-with-a-message", "exit-status", START, START.replace("return 0", 'sys.exit("The game is over.")')),
    # Maps.
    ("at-most-nine-piles", "pile-count", "PILES = (10, 30)", "PILES = (5, 9)"),
    ("divides-without-the-rest", "gold-total", "dice.randint(1, min(left - others, 2 * left // (others + 1))) if others else left",
     "GOLD // count"),
    ("columns-first-for-players", "grid-size", 'self.send(address, f"GRID {len(self.game.rows)} {len(self.game.rows[0])}")',
     'rows, columns = len(self.game.rows), len(self.game.rows[0])\n'
     '        self.send(address, f"GRID {columns} {rows}" if player else f"GRID {rows} {columns}")'),
    ("piles-in-passages", "piles-in-rooms joining-place", 'if what == "."]', 'if what in ".#"]'),
    ("buffer-of-30000", "large-map", 'text.encode("ascii"), address)', 'text.encode("ascii")[:30000], address)'),
    # Keys.
    ("h-falls-through-to-j", "step", FIRST_STEP, FIRST_STEP + "\n        if key == \"h\" and (player.spot[0] + 1, player.spot[1]) not in self.piles:\n            self.step(player, STEPS[\"j\"])"),
    ("steps-into-walls", "blocked-step",
     "if not self.can_stand(*spot):", "if not self.can_stand(*spot, ground):",
     "def step(self, player, way):", 'def step(self, player, way, ground=".#"):',
     "def can_stand(self, row, column):", "def can_stand(self, row, column, ground):", 'in ".#"\n', "in ground\n",
     FIRST_STEP, FIRST_STEP.replace("way)", 'way, ".#-|" if key.islower() else ".#")')),
    ("runs-need-two-free-spots", "run diagonal-run", FIRST_STEP,
     "if key.isupper() and not self.can_stand(player.spot[0] + 2 * way[0], player.spot[1] + 2 * way[1]):\n"
     "            return False, 0\n        " + FIRST_STEP),
    ("players-block-steps", "swap", FIRST_STEP, "if key.islower() and self.at((player.spot[0] + way[0], player.spot[1] + way[1])):\n"
     "            return False, 0\n        " + FIRST_STEP),
    ("walks-through-players", "swap run-through-players", "swap(self, other, before)", "pass"),
    ("says-nothing-of-keys", "unknown-key", 'self.send(address, "ERROR unknown keystroke")', "pass"),
    ("unknown-senders-are-A", "strangers-ignored", SENDER,
     SENDER.replace("(address)", "(address) or address != self.spectator and self.game.players and self.game.players[0]", 1)),
    ("diagonals-are-mirrored", "diagonal-step", "way = STEPS[key.lower()]", 'way = STEPS[key.lower() if key not in "yu" else "uy"["yu".index(key)]]'),
    ("gold-stops-runs", "run-over-gold", RUN, "while key.isupper() and moved and not found:"),
    ("capitals-step-once", "run diagonal-run run-over-gold run-through-players", RUN, "while False:"),
    ("shows-each-step", "", *EACH_STEP),
    ("shows-each-step-and-keeps-piles", "gold-taken", *EACH_STEP, *STAYING),
    ("ends-before-the-last-step-is-shown", "last-display gold-before-display", EACH_STEP[0], EACH_STEP[1], "return True, found",
     "if self.left():\n            self.show()\n        return True, found", SHOWN, "pass\n"),
    ("players-stop-runs", "run-through-players", RUN, "while key.isupper() and moved and not self.swapped:",
     "other, before = self.at(spot), player.spot", "other, before = self.at(spot), player.spot\n        self.swapped = bool(other)"),
    ("small-q-quits", "small-q", 'player.welcomed = None\n        if key == "Q":', 'player.welcomed = None\n        if key in "qQ":'),
    # Gold.
    ("collected-is-always-0", "gold-collected", "found if of is player else 0", "0"),
    ("spectators-collect-too", "gold-others", "found if of is player else 0", "found if of in (player, None) else 0"),
    ("gold-comes-last", "gold-before-display", TOLD + SHOWN, SHOWN + "            " + TOLD.rstrip(" ")),
    ("pays-for-swaps", "gold-total", "return sum(self.piles.values())", "return GOLD - sum(player.purse for player in self.players)",
     "other, before = self.at(spot), player.spot", "other, before = self.at(spot), player.spot\n        self.swaps += bool(other)",
     "moved, found = self.step(player, way)\n        while", "self.swaps = 0\n        moved, found = self.step(player, way)\n        while",
     "return moved, found\n\n    def picture", "cost = 2 * self.swaps if found > 2 * self.swaps else 0\n        player.purse -= cost\n"
     "        return moved, found - cost\n\n    def picture", "if not self.game.piles:", "if not self.game.left():"),
    ("piles-share-a-spot", "gold-taken", *SHARED),
    ("piles-share-a-spot-and-hide-players", "gold-taken", *SHARED, *PILES_FIRST),
    ("piles-of-nothing", "gold-total", "others = count - number - 1\n", "others = count - number - 1\n            self.piles[spot] = 0\n"
     "            if number < count // 3:\n                continue\n",
     "if not self.game.piles:", "if not self.game.left():"),
    ("tells-the-last-gold-again", "gold-others", "self.spot, self.purse, self.known = None, 0, set()",
     "self.spot, self.purse, self.known, self.found = None, 0, set(), 0", "player.purse += found\n", "player.purse += found\n        player.found = found or player.found\n",
     "found if of is player else 0", "found if of is player else of.found if of else 0"),
    ("pays-twice-for-a-quitter", "gold-total", THANKED, THANKED + "\n            if player.purse and self.game.rows[player.spot[0]][player.spot[1]] == '.':\n"
     "                self.game.piles[player.spot] = player.purse"),
    ("newline-behind-gold", "message-form", "{self.game.left()}\")", "{self.game.left()}\\n\")"),
    # Sight.
    ("shows-its-letter", "own-place", 'return "@"', "return player.letter"),
    ("no-memory", "memory", 'return ground if spot in player.known else " "', 'return " "'),
    ("remembers-gold", "memory-is-bare", "self.known |= view(rows, spot)", "self.known |= view(rows, spot)\n        self.gold = getattr(self, \"gold\", set())",
     "seen = player and view(self.rows, player.spot)\n", "seen = player and view(self.rows, player.spot)\n        if player:\n"
     "            player.gold = player.gold - seen | seen & set(self.piles)\n",
     'return ground if spot in player.known else " "', 'return "*" if spot in player.gold else ground if spot in player.known else " "'),
    ("shows-gold-on-all-known-spots", "memory-is-bare", 'return ground if spot in player.known else " "',
     'return ("*" if spot in self.piles else ground) if spot in player.known else " "'),
    ("slopes-are-integers", "sight", WHOLE, "whole, rest = int((aim - column) / (last - row)) * (between - row), (aim - column) * (between - row) % (last - row)"),
    ("truncates", "sight", WHOLE, "whole, rest = int((aim - column) * (between - row) / (last - row)), (aim - column) * (between - row) % (last - row)"),
    ("newlines-between-rows", "display-shape",
     'return "".join("".join(cell((row, column), ground) for column, ground in enumerate(line)) + "\\n"',
     'return "\\n".join("".join(cell((row, column), ground) for column, ground in enumerate(line))'),
    ("sees-along-passages", "passage-sight", "    def is_open(row, column):\n        return rows[row][column] == \".\"",
     "    def is_open(row, column):\n        return rows[row][column] == \".\" or rows[start[0]][start[1]] == rows[row][column] == \"#\""),
    ("players-let-sight-through", "passage-sight", "seen = player and view(self.rows, player.spot)\n",
     "spots = [other.spot for other in self.players if other.plays]\n"
     "        rows = tuple(\"\".join(\".\" if (row, column) in spots else what for column, what in enumerate(line)) for row, line in enumerate(self.rows))\n"
     "        seen = player and view(rows, player.spot)\n        if player:\n            player.known |= seen\n"),
    ("forgets-when-pushed", "pushed-player", "pushed.stand(game.rows, spot)", "pushed.spot = spot"),
    # Spectators.
    ("ten-clients-at-most", "display-to-all", "return clients + ([(self.spectator, None)] if self.spectator else [])",
     "return (clients + ([(self.spectator, None)] if self.spectator else []))[:10]"),
    ("spectators-get-a-letter", "welcome-spectator", 'if player:\n            self.send(address, "OK " + player.letter)',
     'self.send(address, "OK " + (player.letter if player else "S"))'),
    ("shows-the-start-to-new-spectators", "spectator-sees-all", "self.spectator = None  # the address of the spectator",
     "self.spectator, self.start = None, self.game.picture(None)",
     "self.send_gold(address, player)\n        self.send_display(address, player)",
     "self.send_gold(address, player)\n        self.send(address, \"DISPLAY\\n\" + (self.game.picture(player) if player else self.start))"),
    ("replaces-silently", "spectator-replaced", 'self.send(self.spectator, "QUIT You have been replaced by a new spectator.")', "pass"),
    ("spectator-is-player-0", "spectator-keys", "self.spectator = None\n        if not player or", "self.spectator = None\n"
     "        if address == self.spectator:\n            player = next((other for other in self.game.players if other.plays), None)\n"
     "        if not player or"),
    ("spectators-stay", "spectator-quits", 'if address == self.spectator and key == "Q":', "if False:"),
    ("replaces-itself", "watch-again", "if self.spectator and self.spectator != address:", "if self.spectator:"),
    ("players-may-watch", "player-watches", WATCHED, "pass"),
    ("anyone-watches", "player-watches watch-again", WATCHED, "pass", "if self.spectator and self.spectator != address:", "if self.spectator:"),
    ("dies-of-unknown-senders", "keeps-running", SENDER, SENDER.replace("\n", "\n        if not player and key in STEPS:\n            __import__(\"os\").abort()\n", 1)),
    ("loops-for-spectators", "keeps-running", SENDER, SENDER.replace("\n", "\n        while address == self.spectator and key == \"H\":\n            time.sleep(1)\n", 1)),
    # Players.
    ("shows-all-before-the-welcome", "welcome-player", "self.welcome(address, player)\n            for other",
     "self.show()\n            self.welcome(address, player)\n            for other"),
    ("misspells-the-alphabet", "letters-in-order", '"ABCDEF', '"ABCEDF'),
    ("blanks-are-a-name", "name-required", "elif not name.strip():", "elif not name:"),
    ("small-letters", "message-form", '"OK " + player.letter', '"OK " + player.letter.lower()'),
    ("joins-on-gold", "joining-place", "player.stand(self.rows, self.dice.choice(free))",
     "player.stand(self.rows, self.dice.choice([spot for spot in self.piles if not self.at(spot)] or free))", *PILES_FIRST),
    # The tenth player takes the spot of the fourth, which is then on no spot.
    ("joins-on-players", "joining-place", "player.stand(self.rows, self.dice.choice(free))",
     "if len(self.players) == 9:\n            lost = self.players[3]\n"
     "            lost.picture, spot, lost.spot = self.picture(lost).replace(\"|\", \"p\"), lost.spot, (-9, -9)\n"
     "            player.stand(self.rows, spot)\n        else:\n            player.stand(self.rows, self.dice.choice(free))",
     "letters = {other.spot", "if hasattr(player, \"picture\"):\n            return player.picture\n        letters = {other.spot"),
    ("takes-up-a-letter", "no-second-seat", 'elif player and player.welcomed is None:\n            self.send(address, "ERROR you play already")',
     'elif player:\n            self.send(address, "OK " + LETTERS[len(self.game.players)])'),
    ("needs-letters", "any-name", "elif not name.strip():", "elif not any(chr(byte).isalpha() for byte in name):"),
    ("full-is-an-error", "full-game", '"QUIT Game is full', '"ERROR Game is full'),
    ("q-is-unknown", "quit-reply quitter-leaves", 'player.welcomed = None\n        if key == "Q":', "player.welcomed = None\n        if False:"),
    ("leaves-unseen", "display-to-all", THANKED + "\n            self.show()", THANKED),
    ("quits-twice", "strangers-ignored", "if not player or not player.plays:\n            return",
     "if player and not player.plays and key == \"Q\":\n            self.game.wiped = player.spot\n        if not player or not player.plays:\n            return",
     "self.spot = spot\n", "self.spot = spot\n        self.is_wiped = False\n",
     "letters = {other.spot: other.letter for other in self.players if other.plays}",
     "for other in self.players:\n            other.is_wiped |= other.plays and other.spot == getattr(self, \"wiped\", None)\n        self.wiped = None\n"
     "        letters = {other.spot: other.letter for other in self.players if other.plays and not other.is_wiped}"),
    ("leaves-silently", "quit-reply", THANKED, "pass"),
    ("other-words", "quit-texts", "Thanks for playing!", "Goodbye"),
    ("quitters-stay", "quitter-leaves", "{other.spot: other.letter for other in self.players if other.plays}",
     "{other.spot: other.letter for other in self.players}"),
    ("pays-quitters", "nothing-after-quit", "def everybody(self):", "def everybody(self, quitters=False):",
     "if player.plays]\n        return", "if player.plays or quitters]\n        return",
     TOLD_TO_ALL, TOLD_TO_ALL.replace("()", "(True)")),
    ("letters-come-back", "letter-kept", 'player = Player(LETTERS[len(self.players)], name, address)',
     'free_letters = [letter for letter in LETTERS if letter not in [other.letter for other in self.players if other.plays]]\n'
     '        player = Player(free_letters[0], name, address)'),
    ("forgets-quitters", "quitter-row summary", "for player in self.players)", "for player in self.players if player.plays)"),
    ("one-of-a-name", "equal-names", JOINED, "player = clean(name) not in [other.name for other in self.game.players] and " + JOINED[len("player = "):]),
    # End of the game.
    ("ends-with-the-last-player", "keeps-running", THANKED + "\n            self.show()",
     THANKED + "\n            self.show()\n            any(other.plays for other in self.game.players) or sys.exit(0)"),
    ("ends-with-its-input", "end-of-input", RECEIVED,
     "if sys.stdin in __import__('select').select([self.connection, sys.stdin], [], [])[0] and not sys.stdin.read():\n"
     "                    return\n                self.hear(*self.connection.recvfrom(65536))"),
    ("spectators-miss-the-end", "game-over", "for address, _ in self.everybody():\n",
     "for address in [client for client, player in self.everybody() if player]:\n"),
    ("aligns-left", "table-form", TABLE,
     'table = "".join(f"\\n{player.letter} {player.purse:<10} {player.name}" for player in self.game.players)\n'
     '            self.send(address, f"QUIT {text}{table}")'),
    ("counts-one-too-many", "final-table summary", "{player.purse:10}", "{player.purse + 1:10}"),
    ("ends-before-the-last-pile", "no-early-quit", SHOWN + OVER, OVER[12:].replace("not self.game.piles", "len(self.game.piles) < 2") +
     "            " + SHOWN),
    ("ends-before-it-shows", "last-display", SHOWN + OVER, OVER[12:] + "            " + SHOWN),
    # Datagrams.
    ("compares-eight-bytes", "malformed-ignored", 'elif message == b"SPECTATE":', 'elif message[:8] == b"SPECTATE":'),
    # Linux reports closed ports only if IP_RECVERR is set; other systems always do.
    ("ends-with-a-client", "lost-client", SOCKET, SOCKET + "\n    connection.setsockopt(socket.IPPROTO_IP, 11, 1)  # IP_RECVERR",
     "pass  # a disconnected", "raise  # a disconnected", "except KeyboardInterrupt:", "except (KeyboardInterrupt, OSError):"),
    ("empty-is-the-end", "empty-datagram", HEARD, 'message = message or b"KEY Q"\n        ' + HEARD),
    ("c-strings", "zero-bytes", HEARD, 'message = message.split(b"\\0")[0]\n        ' + HEARD),
    ("no-room-for-a-zero", "longest-datagram", HEARD, 'message = message if len(message) < 65507 else b"KEY Q"\n        ' + HEARD),
    ("answers-servers", "silent-to-servers", 'elif kind not in (b"OK", b"GRID", b"GOLD", b"DISPLAY", b"QUIT", b"ERROR"):', "else:"),
    ("says-nothing-of-errors", "malformed-told", 'self.send(address, "ERROR malformed message: expected \'PLAY \' and a name, SPECTATE, or \'KEY \' and one byte")', "pass"),
    # Deviations of many student programs. Those without rules break none.
    ("seeds-by-pid", "", "random.Random(args.seed)", "random.Random(args.seed or __import__('os').getpid())"),
    ("seeds-by-time", "", "random.Random(args.seed)", "random.Random(args.seed or int(time.time()))"),
    ("prints-when-it-is-a-line", "", PORT, PORT.replace(", flush=True", "")),
    ("port-without-line-feed", "", PORT, PORT.replace("flush", "end='', flush")),
    ("starts-after-3-seconds", "", SOCKET, "time.sleep(3)\n    " + SOCKET),
    ("answers-all", "silent-to-servers", 'elif kind not in (b"OK", b"GRID", b"GOLD", b"DISPLAY", b"QUIT", b"ERROR"):', "else:",
     "if not player or not player.plays:\n            return", "if not player or not player.plays:\n"
     "            self.send(address, \"ERROR you do not play\")\n            return"),
    ("grid-of-one-row-more", "grid-size", GRID, GRID.replace(")}", ") + 1}")),
    ("greets-with-two-golds", "welcome-player welcome-spectator", GREETED, "self.send_gold(address, player)\n        " + GREETED),
    ("zeros-behind-messages", "message-form", ENCODED, 'text.encode("ascii") + b"\\0", address)'),
    ("prints-no-port", "announces-port", PORT, "pass"),
    ("prints-42", "announces-port", PORT, PORT.replace("{connection.getsockname()[1]}", "42")),
    ("port-after-other-numbers", "", PORT, 'print("report 1: map of 21 rows, 79 columns")\n    ' + PORT),
    ("port-on-standard-error", "announces-port", PORT, PORT.replace("flush=True", "file=sys.stderr")),
    ("ends-with-a-quitter", "keeps-running", THANKED, THANKED + "\n            sys.exit(0)"),
    ("one-client-only", "welcome-player any-name full-game", RECEIVED, "message, address = self.connection.recvfrom(65536)\n"
     "                self.first = getattr(self, 'first', address)\n"
     "                if address == self.first:\n                    self.hear(message, address)"),
    ("untidy", "grid-size welcome-player welcome-spectator message-form silent-to-servers",
     GRID, GRID.replace(")}", ") + 1}"), GREETED, "self.send_gold(address, player)\n        " + GREETED,
     ENCODED, 'text.encode("ascii") + b"\\0", address)',
     'elif kind not in (b"OK", b"GRID", b"GOLD", b"DISPLAY", b"QUIT", b"ERROR"):', "else:"),
])
