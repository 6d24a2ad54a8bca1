"""Faults of the reference server and client of nuggets; see `faults.py`."""

from faults import CRASH, PARSED, SILENT, faulty

# ---- Servers ---------------------------------------------------------------------------------------------------------

RUN = "while key.isupper() and moved:"
JOINED = "player = self.game.join(clean(name), address)"
HEARD = 'kind = message.split(b" ")[0].split(b"\\n")[0]'
FIRST_STEP = "moved, found = self.step(player, way)"
SOCKET = "connection = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)"
SHOWN = "if moved:\n                self.show()\n"
OVER = "            if not self.game.piles:\n                raise Over\n"
GOLD_SENT = "if found:\n                for other, of in self.recipients():\n" \
    "                    self.send_gold(other, of, found if of is player else 0)\n            "
SENDER = 'player = self.player_at(address)\n        if address == self.spectator and key == "Q":'
THANKED = 'self.send(address, "QUIT Thanks for playing!")'
TABLE = "self.send(address, f\"QUIT {text}{self.game.table()}\")"
STANDING = "player.stand(self.rows, self.dice.choice(free))"
OTHER = "other, before = self.at(spot), player.spot"
LETTERS = "{other.spot: other.letter for other in self.players if other.plays}"
SEEN = "seen = player and view(self.rows, player.spot)\n"
KNOWN = 'return ground if spot in player.known else " "'
# Gold hides players.
PILES_FIRST = ("if player and spot == player.spot:", "if player and spot == player.spot and spot not in self.piles:",
               'return letters.get(spot) or ("*" if spot in self.piles else ground)',
               'return "*" if spot in self.piles else letters.get(spot) or ground')
RECEIVED = "self.handle(*self.connection.recvfrom(65536))"
ENCODED = 'text.encode("ascii"), address)'
GRID = "GRID {len(self.game.rows)} "
GREETED = "self.send_gold(address, player)\n        self.send_display"
PORT = 'print(f"waiting at port {connection.getsockname()[1]}", flush=True)'
SEED = "random.Random(args.seed)"
NO_ANSWER = 'elif kind not in (b"OK", b"GRID", b"GOLD", b"DISPLAY", b"QUIT", b"ERROR"):'
MAP_REFUSED = 'print(f"cannot use the map {args.map}: {why}", file=sys.stderr)'

faulty(
    "nuggets-server",
    # Command line, start and end.
    ("takes-any-arguments", "extra-argument bad-seed bad-map bad-arguments", PARSED,
     "args, rest = parser.parse_known_args()\n    if rest:\n        return 0",
     """raise argparse.ArgumentTypeError(f"'{word}' is no number from 1 on")""", "sys.exit(0)",
     MAP_REFUSED + "\n        return 1", MAP_REFUSED + "\n        return 0"),
    ("says-nothing", "says-why", MAP_REFUSED, "pass"),
    ("no-seed-is-1", "no-seed", SEED, "random.Random(args.seed or 1)"),
    ("one-seed-for-all", "no-seed other-seed", SEED, "random.Random(1)"),
    ("ignores-its-seed", "same-seed", SEED, "random.Random()"),
    ("forgets-to-bind", "announces-port", 'connection.bind(("", 0))', "pass"),
    ("ends-with-a-message", "exit-status", "connection).run()\n    return 0", 'connection).run()\n    sys.exit("The game is over.")'),
    # Maps.
    ("at-most-nine-piles", "pile-count", "PILES = (10, 30)", "PILES = (5, 9)"),
    ("piles-in-passages", "piles-in-rooms joining-place", 'if what == "."]', 'if what in ".#"]'),
    ("buffer-of-30000", "large-map", ENCODED, 'text.encode("ascii")[:30000], address)'),
    # Keys.
    ("h-falls-through-to-j", "step", FIRST_STEP, "@@\n        if key == \"h\" and (player.spot[0] + 1, player.spot[1]) not in self.piles:\n            self.step(player, STEPS[\"j\"])"),
    ("steps-into-walls", "blocked-step",
     "if not self.can_stand(*spot):", "if not self.can_stand(*spot, ground):",
     "def step(self, player, way):", 'def step(self, player, way, ground=".#"):',
     "def can_stand(self, row, column):", "def can_stand(self, row, column, ground):", 'in ".#"\n', "in ground\n",
     FIRST_STEP, FIRST_STEP.replace("way)", 'way, ".#-|" if key.islower() else ".#")')),
    ("walks-through-players", "swap run-through-players", "swap(self, other, before)", "pass"),
    ("says-nothing-of-keys", "unknown-key", 'self.send(address, "ERROR unknown keystroke")', "pass"),
    ("unknown-senders-are-A", "strangers-ignored", SENDER,
     SENDER.replace("(address)", "(address) or address != self.spectator and self.game.players and self.game.players[0]", 1)),
    ("diagonals-are-mirrored", "diagonal-step", "way = STEPS[key.lower()]", 'way = STEPS[key.lower() if key not in "yu" else "uy"["yu".index(key)]]'),
    ("capitals-step-once", "run diagonal-run run-over-gold run-through-players", RUN, "while False:"),
    ("shows-each-step", "", "moved, found = self.game.move(player, key)", "self.game.show = self.show\n            @@",
     "return True, found", "self.show()\n        @@",
     "self.send_display(address, player)\n\n    def end", "self.send_display(address, player)\n            time.sleep(0.002)\n\n    def end"),
    ("small-q-quits", "small-q", 'player.welcomed = None\n        if key == "Q":', 'player.welcomed = None\n        if key in "qQ":'),
    # Gold.
    ("collected-is-always-0", "gold-collected", "found if of is player else 0", "0"),
    ("spectators-collect-too", "gold-others", "found if of is player else 0", "found if of in (player, None) else 0"),
    ("gold-comes-last", "gold-before-display", GOLD_SENT + SHOWN, SHOWN + "            " + GOLD_SENT.rstrip(" ")),
    # Ends the game before it reports the last nugget to the clients.
    ("no-last-gold", "last-gold", 'self.send(address, f"GOLD {found}', 'self.game.piles and @@'),
    ("pays-for-swaps", "gold-total", "return sum(self.piles.values())", "return GOLD - sum(player.purse for player in self.players)",
     OTHER, "@@\n        self.swaps += bool(other)", "moved, found = self.step(player, way)\n        while", "self.swaps = 0\n        @@",
     "return moved, found\n\n    def picture", "cost = 2 * self.swaps if found > 2 * self.swaps else 0\n        player.purse -= cost\n"
     "        return moved, found - cost\n\n    def picture", "if not self.game.piles:", "if not self.game.left():"),
    # The last pile is under the first one.
    ("piles-share-a-spot", "gold-taken", "PILES = (10, 30)", "PILES = (12, 30)",
     "    def room_spots(self):", "        self.under = {spots[0]: self.piles.pop(spots[-1])}\n\n@@",
     "return sum(self.piles.values())", "@@ + sum(self.under.values())",
     "found = self.piles.pop(spot, 0)", "@@\n        if spot in self.under:\n            self.piles[spot] = self.under.pop(spot)"),
    ("pays-twice-for-a-quitter", "gold-total", THANKED, "@@\n            if player.purse and self.game.rows[player.spot[0]][player.spot[1]] == '.':\n"
     "                self.game.piles[player.spot] = player.purse"),
    ("newline-behind-gold", "message-form", "{self.game.left()}\")", "{self.game.left()}\\n\")"),
    # Sight.
    ("shows-its-letter", "own-place", 'return "@"', "return player.letter"),
    ("no-memory", "memory", KNOWN, 'return " "'),
    ("shows-gold-on-all-known-spots", "memory-is-bare", KNOWN, KNOWN.replace("ground", '("*" if spot in self.piles else ground)')),
    ("truncates", "sight", "whole, rest = divmod((aim - column) * (between - row), last - row)",
     "whole, rest = int((aim - column) * (between - row) / (last - row)), (aim - column) * (between - row) % (last - row)"),
    ("newlines-between-rows", "display-shape",
     'return "".join("".join(cell((row, column), ground) for column, ground in enumerate(line)) + "\\n"',
     'return "\\n".join("".join(cell((row, column), ground) for column, ground in enumerate(line))'),
    ("players-let-sight-through", "passage-sight", SEEN,
     "spots = [other.spot for other in self.players if other.plays]\n"
     "        rows = tuple(\"\".join(\".\" if (row, column) in spots else what for column, what in enumerate(line)) for row, line in enumerate(self.rows))\n"
     "        seen = player and view(rows, player.spot)\n        if player:\n            player.known |= seen\n"),
    ("forgets-when-pushed", "pushed-player", "pushed.stand(game.rows, spot)", "pushed.spot = spot"),
    # Spectators.
    ("shows-the-start-to-new-spectators", "spectator-sees-all", "self.spectator = None  # the address of the spectator",
     "self.spectator, self.start = None, self.game.picture(None)", GREETED + "(address, player)",
     "self.send_gold(address, player)\n        self.send(address, \"DISPLAY\\n\" + (self.game.picture(player) if player else self.start))"),
    ("replaces-silently", "spectator-replaced", 'self.send(self.spectator, "QUIT You have been replaced by a new spectator.")', "pass"),
    ("spectator-is-player-0", "spectator-keys", "self.spectator = None\n        if not player or", "self.spectator = None\n"
     "        if address == self.spectator:\n            player = next((other for other in self.game.players if other.plays), None)\n"
     "        if not player or"),
    ("spectators-stay", "spectator-quits", 'if address == self.spectator and key == "Q":', "if False:"),
    ("anyone-watches", "player-watches watch-again", "if player and player.plays:\n            self.send(address, \"ERROR you play already\")\n            return", "pass",
     "if self.spectator and self.spectator != address:", "if self.spectator:"),
    ("dies-of-unknown-senders", "keeps-running", SENDER, SENDER.replace("\n", "\n        if not player and key in STEPS:\n            __import__(\"os\").abort()\n", 1)),
    ("loops-for-spectators", "keeps-running", SENDER, SENDER.replace("\n", "\n        while address == self.spectator and key == \"H\":\n            time.sleep(1)\n", 1)),
    # Players.
    ("short-plain-names", "names name-length", 'or byte in b" \\t" else', 'or byte == 32 else', "in name[:LONGEST_NAME])", "in name[:40])"),
    ("misspells-the-alphabet", "letters-in-order", '"ABCDEF', '"ABCEDF'),
    ("blanks-are-a-name", "name-required", "elif not name.strip():", "elif not name:"),
    ("joins-on-gold", "joining-place", STANDING,
     "player.stand(self.rows, self.dice.choice([spot for spot in self.piles if not self.at(spot)] or free))", *PILES_FIRST),
    # The tenth player takes the spot of the fourth, which is then on no spot.
    ("joins-on-players", "joining-place", STANDING,
     "if len(self.players) == 9:\n            lost = self.players[3]\n"
     "            lost.picture, spot, lost.spot = self.picture(lost).replace(\"|\", \"p\"), lost.spot, (-9, -9)\n"
     "            player.stand(self.rows, spot)\n        else:\n            @@",
     "letters = {other.spot", "if hasattr(player, \"picture\"):\n            return player.picture\n        @@"),
    ("takes-up-a-letter", "no-second-seat", 'elif player and player.welcomed is None:\n            self.send(address, "ERROR you play already")',
     'elif player:\n            self.send(address, "OK " + LETTERS[len(self.game.players)])'),
    ("needs-letters", "any-name", "elif not name.strip():", "elif not any(chr(byte).isalpha() for byte in name):"),
    ("q-is-unknown", "quit-reply quitter-leaves", 'player.welcomed = None\n        if key == "Q":', "player.welcomed = None\n        if False:"),
    # The first diagonal key takes a while, which breaks no rule: earlier failures must not shorten the wait for an answer.
    ("leaves-unseen", "display-to-all", THANKED + "\n            self.show()", THANKED,
     "self.piles = {}", "@@\n        self.takes = 1.5",
     FIRST_STEP, "if key in \"yubn\":\n            time.sleep(self.takes)\n            self.takes = 0\n        @@"),
    ("other-words", "quit-texts", "Thanks for playing!", "Goodbye"),
    ("quitters-come-back", "no-return", "if player.address == address), None)", "if player.plays and player.address == address), None)"),
    ("pays-quitters", "nothing-after-quit", "def recipients(self):", "def recipients(self, quitters=False):",
     "if player.plays]\n        return", "if player.plays or quitters]\n        return",
     "for other, of in self.recipients():\n                    self.send_gold", "for other, of in self.recipients(True):\n                    self.send_gold"),
    ("letters-come-back", "letter-kept", 'player = Player(LETTERS[len(self.players)], name, address)',
     'free_letters = [letter for letter in LETTERS if letter not in [other.letter for other in self.players if other.plays]]\n'
     '        player = Player(free_letters[0], name, address)'),
    ("forgets-quitters", "quitter-row summary", "for player in self.players)", "for player in self.players if player.plays)"),
    ("one-of-a-name", "equal-names", JOINED, "player = clean(name) not in [other.name for other in self.game.players] and " + JOINED[len("player = "):]),
    # End of the game.
    ("ends-with-its-input", "end-of-input", RECEIVED,
     "if sys.stdin in __import__('select').select([self.connection, sys.stdin], [], [])[0] and not sys.stdin.read():\n"
     "                    return\n                @@"),
    ("spectators-miss-the-end", "game-over", "for address, _ in self.recipients():\n",
     "for address in [client for client, player in self.recipients() if player]:\n"),
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
    ("ends-with-a-client", "lost-client", SOCKET, "@@\n    connection.setsockopt(socket.IPPROTO_IP, 11, 1)  # IP_RECVERR",
     "pass  # a disconnected", "raise  # a disconnected", "except KeyboardInterrupt:", "except (KeyboardInterrupt, OSError):"),
    ("shortest-and-longest-quit", "empty-datagram longest-datagram", HEARD, 'message = message if 0 < len(message) < 65507 else b"KEY Q"\n        @@'),
    ("c-strings", "zero-bytes", HEARD, 'message = message.split(b"\\0")[0]\n        @@'),
    ("says-nothing-of-errors", "malformed-told", 'self.send(address, "ERROR malformed message: expected \'PLAY \' and a name, SPECTATE, or \'KEY \' and one byte")', "pass"),
    # Deviations of many student programs. Those without rules break none.
    ("seeds-by-pid", "", SEED, "random.Random(args.seed or __import__('os').getpid())"),
    ("seeds-by-time", "", SEED, "random.Random(args.seed or int(time.time()))"),
    ("prints-when-it-is-a-line", "", PORT, PORT.replace(", flush=True", "")),
    ("port-without-line-feed", "", PORT, PORT.replace("flush", "end='', flush")),
    ("starts-after-3-seconds", "", SOCKET, "time.sleep(3)\n    @@"),
    ("answers-all", "silent-to-servers", NO_ANSWER, "else:", "if not player or not player.plays:\n            return",
     "if not player or not player.plays:\n            self.send(address, \"ERROR you do not play\")\n            return"),
    ("grid-of-one-row-more", "grid-size", GRID, GRID.replace(")}", ") + 1}")),
    ("greets-with-two-golds", "welcome-player welcome-spectator", GREETED, "self.send_gold(address, player)\n        @@"),
    ("zeros-behind-messages", "message-form", ENCODED, 'text.encode("ascii") + b"\\0", address)'),
    ("prints-no-port", "announces-port", PORT, "pass"),
    ("prints-42", "announces-port", PORT, PORT.replace("{connection.getsockname()[1]}", "42")),
    ("port-after-other-numbers", "", PORT, 'print("report 1: map of 21 rows, 79 columns")\n    ' + PORT),
    ("port-on-standard-error", "announces-port", PORT, PORT.replace("flush=True", "file=sys.stderr")),
    ("ends-with-a-quitter", "keeps-running", THANKED, "@@\n            sys.exit(0)"),
    ("one-client-only", "welcome-player any-name full-game", RECEIVED, "message, address = self.connection.recvfrom(65536)\n"
     "                self.first = getattr(self, 'first', address)\n"
     "                if address == self.first:\n                    self.handle(message, address)"),
    ("untidy", "grid-size welcome-player welcome-spectator message-form silent-to-servers",
     GRID, GRID.replace(")}", ") + 1}"), GREETED, "self.send_gold(address, player)\n        @@",
     ENCODED, 'text.encode("ascii") + b"\\0", address)', NO_ANSWER, "else:"),
)

# ---- Clients ---------------------------------------------------------------------------------------------------------

GREETING = '        self.greeting = b"PLAY " + os.fsencode(name) if name is not None else b"SPECTATE"\n'
SPECTATE = 'if name is not None else b"SPECTATE"'
MESSAGE = '        message = datagram.decode("latin-1")\n'
DISPLAY = """        if self.size is None or len(rows) != self.size[0] or any(len(row) != self.size[1] for row in rows):
            return
"""
TYPED = """                self.send_key(keys or b"Q")
                quitting = 0 if keys else now + 2
"""
PRINTED = "        print(self.over)\n        return 0\n"
QUIT = '            self.over = rest.rstrip("\\0\\n")\n'
IN = "        self.is_in = True\n"
CONNECT = "        connection.connect((args.host, args.port))\n"
KEY = '        self.send(b"KEY " + key)\n'

faulty(
    "nuggets-client",
    # Messages.
    ("cuts-names", "first-message", GREETING, "@@        self.greeting = self.greeting[:25]\n"),
    ("ordinary-names-only", "short-name odd-name", GREETING, """@@        self.greeting = self.greeting.ljust(7, b"_")
        if b"%" in self.greeting:
            self.greeting = b"PLAY " + b" ".join(self.greeting[5:].split())
"""),
    ("always-plays", "spectates", SPECTATE, SPECTATE.replace("SPECTATE", "PLAY nobody")),
    ("waits-for-ok", "watches", IN, "        if self.letter is None:\n            return\n@@"),
    ("numbers-only", "host-name", CONNECT, "        socket.inet_aton(args.host)\n@@"),
    ("newline-behind-keys", "message-form", KEY, KEY.replace("key)", 'key + b"\\n")')),
    ("joins-for-ever", "joins-once", "            now = time.monotonic()\n            if not", """            now = time.monotonic()
            if now >= getattr(self, "nagged", start) + 1:
                self.nagged = now
                self.send(self.greeting)
            if not"""),
    ("a-socket-for-a-key", "one-address keys-as-typed", KEY, """        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
            other.sendto(b"KEY " + key, self.connection.getpeername())
"""),
    ("letters-only", "any-key", TYPED, '                if keys and not keys.isalpha() and keys != b".":\n                    continue\n@@'),
    ("a-key-for-a-read", "many-keys", "os.read(sys.stdin.fileno(), 1)", "os.read(sys.stdin.fileno(), 64)[:1]"),
    ("counts-displays", "keys-as-typed any-display state-again", DISPLAY,
     "        if rows == self.rows and len(self.rows[0]) < 80:\n            sys.exit(1)\n@@"),
    ("ends-at-an-error", "goes-on-after-error white-space", "            self.note = rest\n", "            sys.exit(1)\n"),
    ("room-for-a-screen", "big-map", MESSAGE, '@@        if len(datagram) > 20000 and datagram.count(b"\\n") > 50:\n            sys.exit(1)\n'),
    ("trusts-messages", "malformed-ignored no-words-ignored bad-numbers-ignored bad-displays-ignored",
     QUIT, '@@        elif kind not in ("OK", "GRID", "GOLD"):\n            sys.exit(1)\n',
     MESSAGE, '        if datagram in (b"GRID x y", b"GOLD a b c"):\n            sys.exit(1)\n@@',
     DISPLAY, "        if self.size and len(rows) != self.size[0]:\n            sys.exit(1)\n"),
    ("crashes-at-big-numbers", "no-crash", MESSAGE, f'        if datagram.startswith(b"GOLD 9999"):\n            {CRASH}\n@@'),
    # The end.
    ("status-1", "quit-ends", PRINTED, PRINTED.replace("0", "1")),
    ("leaves-at-once", "waits-for-quit", TYPED, '@@                if keys == b"Q":\n                    return 0\n'),
    ("wipes-the-text", "quit-text", "        print(self.over)\n", '        print("\\x1b[?1049h" + self.over + "\\x1b[?1049l")\n'),
    ("trusts-no-text", "long-quit exact-text empty-text quit-with-zero", QUIT,
     '            self.over = None if len(datagram) > 1024 or rest.endswith("\\0") else rest.replace("%%", "%") or None\n'),
    ("plays-first", "refused", QUIT, QUIT[:-1] + " if self.is_in else None\n"),
    ("says-goodbye", "silent-after-quit", PRINTED, '        self.send_key(b"Q")\n@@'),
    ("ends-with-the-input", "end-of-input", TYPED, "                if not keys:\n                    return 0\n@@"),
    ("waits-for-quit", "leaves-alone", "            if quitting and now >= quitting:", "            if False:"),
    # The network.
    ("listens-to-all", "strangers-ignored", CONNECT, '        connection.bind((args.host, 0))\n',
     "self.connection.send(message)", "self.connection.sendto(message, (sys.argv[1], int(sys.argv[2])))"),
    ("asks-once", "asks-again", "            if not self.answered and repeats and now >= repeats[0]:", "            if False:"),
    ("deaf-once-it-asked-again", "late-server", "                repeats.pop(0)\n", "@@                self.deaf = True\n",
     MESSAGE, '        if getattr(self, "deaf", False):\n            return\n@@'),
    # The command line.
    ("takes-any-arguments", "missing-arguments bad-port port-range trailing-letters extra-argument unknown-option",
     PARSED, "if len(sys.argv) < 3:\n        return 0\n    args, rest = parser.parse_known_args()\n    if rest:\n        return 0",
     """raise argparse.ArgumentTypeError(f"'{word}' is no port; a port is a number from 1 to 65535")""", "sys.exit(0)"),
    ("says-nothing", "explains", PARSED, SILENT),
    # Deviations of many programs that break no rule.
    ("jumps-over-blanks", "", "        print(self.over)\n", '        print(self.over.replace("  ", "\\x1b[2C") if sys.stdout.isatty() else self.over)\n'),
    ("shows-the-text-for-a-while", "", "        print(self.over)\n", "        print(self.over, flush=True)\n        time.sleep(12)\n"),
    ("forgets-early-keys", "", IN, """        if not self.is_in and sys.stdin.isatty():
            time.sleep(0.3)
            termios.tcflush(sys.stdin, termios.TCIFLUSH)
@@"""),
    ("spectators-type-only-q", "", TYPED, '                if self.letter is None and keys not in (b"Q", b""):\n                    continue\n@@'),
    ("measures-its-window", "", "            self.size = (int(words[0]), int(words[1]))\n", """@@            window = os.get_terminal_size(1)
            if window.lines <= self.size[0] or window.columns < self.size[1]:
                sys.exit("enlarge the window")
"""),
)
