"""The faults of the reference server of nuggets. `faults.py` explains what they are for, `mastermind_faults.py` what a row is."""

from mastermind_faults import faulty

PARSED = "args = parser.parse_args()"
RUN = "while key.isupper() and moved:"
JOINED = "player = self.game.join(clean(name), address)"
MOVED = "moved, found = self.game.move(player, key)"
HEARD = 'kind = message.split(b" ")[0].split(b"\\n")[0]'
FOUND = "found = self.piles.pop(spot, 0)"
WATCHED = "if player and player.plays:\n            self.send(address, \"ERROR you play already\")\n            return"

faulty("nuggets-server", [
    # The command line.
    ("ignores-more-arguments", "extra-argument", PARSED, "args = parser.parse_args(sys.argv[1:3])"),
    ("any-seed", "bad-seed", "type=positive, nargs", "nargs"),
    ("empty-maps", "bad-map", 'raise ValueError("there are fewer than two room spots")', 'sys.exit(print("no room", file=sys.stderr) or 0)'),
    ("any-map", "bad-arguments", 'print(f"cannot use the map {args.map}: {why}", file=sys.stderr)\n        return 1',
     'print("no map", file=sys.stderr)\n        return 0 if isinstance(why, OSError) else 1'),
    ("says-nothing", "says-why", 'print(f"cannot use the map {args.map}: {why}", file=sys.stderr)', "pass"),
    ("no-seed-is-1", "no-seed", "random.Random(args.seed)", "random.Random(args.seed or 1)"),
    ("one-seed-for-all", "no-seed other-seed", "random.Random(args.seed)", "random.Random(1)"),
    # Maps.
    ("piles-in-passages", "piles-in-rooms joining-place", 'if what == "."]', 'if what in ".#"]'),
    ("buffer-of-30000", "large-map", 'text.encode("ascii"), address)', 'text.encode("ascii")[:30000], address)'),
    # Keys.
    ("diagonals-are-mirrored", "diagonal-step", "way = STEPS[key.lower()]", 'way = STEPS[key.lower() if key not in "yu" else "uy"["yu".index(key)]]'),
    ("diagonal-runs-are-steps", "diagonal-run run-over-gold", RUN, 'while key in "HJKL" and moved:'),
    ("gold-stops-runs", "run-over-gold", RUN, "while key.isupper() and moved and not found:"),
    ("players-stop-runs", "run-through-players", RUN, "while key.isupper() and moved and not self.swapped:",
     "other, before = self.at(spot), player.spot", "other, before = self.at(spot), player.spot\n        self.swapped = bool(other)"),
    ("small-q-quits", "small-q", 'player.welcomed = None\n        if key == "Q":', 'player.welcomed = None\n        if key in "qQ":'),
    # Sight.
    ("sees-along-passages", "passage-sight sight memory-is-bare", "    def is_open(row, column):\n        return rows[row][column] == \".\"",
     "    def is_open(row, column):\n        return rows[row][column] == \".\" or rows[start[0]][start[1]] == rows[row][column] == \"#\""),
    ("forgets-when-pushed", "pushed-player", "pushed.stand(game.rows, spot)", "pushed.spot = spot"),
    # Spectators.
    ("spectators-stay", "spectator-quits", 'if address == self.spectator and key == "Q":', "if False:"),
    ("replaces-itself", "watch-again", "if self.spectator and self.spectator != address:", "if self.spectator:"),
    ("players-may-watch", "player-watches", WATCHED, "pass"),
    # Players.
    ("letters-come-back", "letter-kept", 'player = Player(LETTERS[len(self.players)], name, address)',
     'free_letters = [letter for letter in LETTERS if letter not in [other.letter for other in self.players if other.plays]]\n'
     '        player = Player(free_letters[0], name, address)'),
    ("forgets-quitters", "quitter-row summary", "for player in self.players)", "for player in self.players if player.plays)"),
    ("cuts-at-49", "name-length", "LONGEST_NAME = 50", "LONGEST_NAME = 49"),
    ("one-of-a-name", "equal-names", JOINED, "player = clean(name) not in [other.name for other in self.game.players] and " + JOINED[len("player = "):]),
    # Datagrams.
    ("empty-is-the-end", "empty-datagram", HEARD, 'message = message or b"KEY Q"\n        ' + HEARD),
    ("ends-with-an-empty-one", "keeps-running", HEARD, "if not message:\n            sys.exit(1)\n        " + HEARD),
    ("c-strings", "zero-bytes", HEARD, 'message = message.split(b"\\0")[0]\n        ' + HEARD),
    ("no-room-for-a-zero", "longest-datagram", HEARD, 'message = message if len(message) < 65507 else b"KEY Q"\n        ' + HEARD),
    ("answers-servers", "silent-to-servers", 'elif kind not in (b"OK", b"GRID", b"GOLD", b"DISPLAY", b"QUIT", b"ERROR"):', "else:"),
    ("says-nothing-of-errors", "malformed-told", 'self.send(address, "ERROR malformed message: expected \'PLAY \' and a name, SPECTATE, or \'KEY \' and one byte")', "pass"),
])
