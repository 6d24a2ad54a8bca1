"""Faults of the reference programs of mastermind; see `faults.py`."""

from faults import CRASH, HANG, faulty

COMMON = "common = sum(min(code.count(digit), guess.count(digit)) for digit in set(guess))"

# ---- Text games ------------------------------------------------------------------------------------------------------

LIFELINE = 'print(f"The code has a {self.code[place]} in it.")'
GRANTED = "return not self.used and self.turn + TAKES[which] <= TURNS"
YES = 'return answer == "yes"'

faulty(
    "mastermind-text",
    ("length-is-not-checked", "lengths", 'answer in list("45678")', "4 <= int(answer) <= 8"),
    ("only-lower-case", "yes-or-no", 'YES or NO? ").lower()', 'YES or NO? ")'),
    ("shows-no-lifelines", "turn-block exact-lines", "        for which in TAKES:\n            print(f\"lifeline#{which}",
     "        for which in ():\n            print(f\"lifeline#{which}"),
    ("all-in-one-line", "exact-lines", 'print(f"Turn #: {self.turn}")', 'print(f"Turn #: {self.turn}", end=" ")'),
    ("empty-lines", "exact-lines", 'print(f"Turn #: {self.turn}")', 'print(f"\\nTurn #: {self.turn}\\n")'),
    ("prompt-ends-the-line", "", '"Guess : "', '"Guess : \\n"'),
    ("empty-line-behind-the-prompt", "", 'answer = read_answer("Guess : ")', 'answer = read_answer("Guess : ")\n            print()'),
    ("no-prompt", "prompt", '"Guess : "', '""'),
    ("red-and-white-in-one-line", "", "Red: {red}\\nWhite", "Red: {red}, White"),
    ("no-colons", "answers", "Red: {red}\\nWhite: ", "Red {red}\\nWhite "),
    ("counts-digits-twice", "feedback", COMMON, "common = sum(digit in code for digit in guess)"),
    ("nine-turns", "turns", "TURNS = 10", "TURNS = 9"),
    ("keeps-the-code", "loss", 'print(f"You lose, as expected. Code: {self.code}")', 'print("You lose, as expected.")'),
    ("never-wins", "win", "careless.\")\n                    return", "careless.\")"),
    ("one-seed-for-all", "random", "TURNS = 10", "TURNS = 10\nDICE = random.Random(2021)",
     "draw_code(length, repeats, dice)\n        self.dice", "draw_code(length, repeats, DICE)\n        self.dice"),
    ("takes-0-and-9", "invalid", "all(digit in COLOURS for digit in answer)", "answer.isdecimal()"),
    ("lies-about-the-digit", "lifeline-1", LIFELINE, LIFELINE.replace(
        "self.code[place]", "min(set(COLOURS) - set(self.code))")),
    ("places-from-the-right", "lifeline-2", "position {place + 1}.", "position {len(self.code) - place}."),
    ("two-lifelines", "one-lifeline", GRANTED, "return self.turn + TAKES[which] <= TURNS"),
    ("grants-the-last-turns", "too-late", GRANTED, "return not self.used"),
    ("one-game-only", "again", YES, YES + ' and "Another" not in question'),
    ("status-3", "ends", YES, YES + ' or "Another" in question and sys.exit(3)'),
    ("other-words-at-a-terminal", "terminal", 'f"Turn #: {self.turn}"',
     'f"Turn #: {self.turn}" if not sys.stdout.isatty() else "-- your turn --"'),
    ("crashes-at-long-lines", "no-crash", "return line.strip()", f"return line.strip() if len(line) < 256 else {CRASH}"),
)

# ---- Servers ---------------------------------------------------------------------------------------------------------

TOLD = '"*" if which == 1 else place + 1, self.code[place])'
SAY_OK = 'peer.send(f"OK {peer.seat}")'
SAY_SEAT = 'self.broadcast(f"SEAT {peer.seat} {peer.name}")'

faulty(
    "mastermind-server",
    ("another-port", "listens", 'socket.create_server(("", args.port))', 'socket.create_server(("", 0))'),
    ("ends-lines-with-cr", "grammar", 'line.encode("ascii") + b"\\n"', 'line.encode("ascii") + b"\\r\\n"'),
    ("seat-before-ok", "seat", f"{SAY_OK}\n        {SAY_SEAT}", f"{SAY_SEAT}\n        {SAY_OK}"),
    ("long-names", "names", "name[:24]", "name[:30]"),
    ("numbers-of-seats", "numbers", "self.games += 1", "self.games = 1"),
    ("row-of-the-next-turn", "row", "row = (self.turn, guess", "row = (self.turn + 1, guess"),
    ("counts-digits-twice", "feedback", COMMON, "common = sum(digit in code for digit in guess)"),
    ("resigned-a-turn-later", "resigned", '"resigned", game.turn - 1', '"resigned", game.turn'),
    ("lies-about-the-digit", "lifeline-1", TOLD,
     TOLD[:-1] + ' if which == 2 else min(set("12345678") - set(self.code)))'),
    ("never-blocked", "availability", 'return "available" if self.can_use(which) else "blocked"', 'return "available"'),
    ("new-with-repeats", "new", "length, repeats = self.length, self.repeats", "length, repeats = self.length, True"),
    ("takes-what-follows-quit", "refused", '"QUIT" and not space', '"QUIT"'),
    ("silent-about-a-second-play", "no-effect", 'raise Refused("you have a seat already")', "return"),
    ("leaves-without-bye", "quit", 'peer.send("BYE thanks for playing")', "pass"),
    ("watchers-see-nothing", "seen", "lines.append(line)\n        self.broadcast(line)",
     "lines.append(line)\n        peer.send(line)"),
    ("watchers-get-refusals", "own-turn", 'peer.send(f"NO {why}")',
     '[other.send(f"NO {why}") for other in self.peers if other is peer or not other.seat]'),
    ("silent-about-hints", "hint", 'raise Refused("this room gives no hints" if not space else "nothing follows HINT")',
     'if space:\n                raise Refused("nothing follows HINT")'),
    ("crashes-at-many-bytes", "no-crash others never-reads", "peer.arrived += arrived",
     f"peer.arrived += arrived if len(arrived) < 1000 else {CRASH}"),
)

# ---- Clients ---------------------------------------------------------------------------------------------------------

ROOM = "first, self.colours = self.colours is None, int(words[2])"
PLAY = 'return f"PLAY {self.name}" if first else None'
GUESS = 'return f"GUESS {random.choice(self.possible)}"'
OVER = 'elif kind == "OVER" and own:'
ROW = 'elif kind == "ROW" and own:'

faulty(
    "mastermind-client",
    ("never-joins", "joins", PLAY, "return None"),
    ("first-word-of-the-name", "name", PLAY, PLAY.replace("self.name", "self.name.split()[0]")),
    ("seats-of-one-digit", "seat", "self.seat = words[0]", "self.seat = words[0][0]"),
    ("sleeps-in-turn-2", "plays", 'elif kind == "TURN":', 'elif kind == "TURN" and words[0] != "2":'),
    ("five-digits-at-most", "length", "int(words[2]), words[3]", "min(5, int(words[2])), words[3]"),
    ("waits-when-late", "late", OVER, 'elif kind == "OVER" and own and words[1] != "late":'),
    ("ends-with-others", "others stars", OVER, 'elif kind == "OVER" and self.seat:'),
    ("ends-with-others-before-it", "state", OVER, 'elif kind == "OVER" and (own or not self.seat):'),
    ("does-not-wait", "race", 'elif kind == "TURN":', 'elif kind == "WAIT" and self.seat:\n            return "NEW"\n        elif kind == "TURN":'),
    ("no-dates", "daily room-again", 'if kind == "ROOM":', 'if kind == "ROOM" and words[0] != "daily":'),
    ("insists", "refused", 'raise Failed(f"the server refuses: {line}")', GUESS),
    ("stays-after-bye", "bye", 'if line.startswith("BYE"):\n                return', f'if line.startswith("BYE"):\n                {HANG}'),
    ("status-1-after-bye", "exit-status", 'if line.startswith("BYE"):\n                return', 'if line.startswith("BYE"):\n                continue'),
    ("counts-no-words", "no-crash", "except (IndexError, ValueError):", "except KeyError:"),
    ("forgets-answers", "fits", "self.possible = [code for code in self.possible if feedback(code, words[2]) == answer]", "pass"),
)
