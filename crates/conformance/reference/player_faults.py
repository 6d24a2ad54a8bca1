"""Deliberate faults of the reference player; see faults.py."""

from faults import faulty

READ = "args = parser.parse_args()"
SAY = """    connection.sendall(text.encode("ascii") + b"\\0")"""
QUIT = """        if text == "QUIT":
            break
"""
BEGIN = """            self.hand, self.upcard, self.steps = [], None, []
        elif word == "CARD\""""
CARD = """        elif word == "CARD" and rest in VALUES:
"""
UPCARD = """        elif word == "DEALER" and rest in VALUES:
"""
DECISION = """            return "HIT" if self.chooses_hit() else "STAND"
"""
RESULT = """            self.reward += self.REWARDS[rest]
"""
UNKNOWN = """            raise Violation(f"{text[:40]!r} is no message of a dealer")
"""
LOST = """    raise Violation("the connection ended without QUIT")
"""
FAILED = """        print(f"player: {why}", file=sys.stderr)
        return 1
"""
NAME = """    if not 1 <= len(word) <= 64 or not all("!" <= letter <= "~" for letter in word):
"""
JOIN = """    say(connection, "JOIN " + name)
"""

SAVED = """        if args.train:
            write_table(args.table, table)
"""
LINES = """    lines = data.decode("ascii", "replace").split("\\n")
"""
SHAPE = "len(lines) != len(STATES) + 2 or lines[-1]"

# Each row has the rules that the fault breaks, and pairs of program text and its replacement.
faulty("player", [
    ("says-nothing-first", "joins", JOIN, ""),
    ("cuts-names", "long-name", JOIN, """    say(connection, "JOIN " + name[:50])\n"""),
    ("newline-for-zero", "grammar", SAY, SAY.replace("0", "n")),
    ("forgets-the-zero", "grammar", SAY, SAY.replace("\\0", "")),
    ("says-ready", "quiet", JOIN, JOIN + """    say(connection, "READY")\n"""),
    ("answers-once", "answers", DECISION, """            if len(self.hand) > 2:
                raise Violation("there is one decision")
""" + DECISION),
    ("short-names-are-longer", "short-name", JOIN, """    say(connection, "JOIN " + name.ljust(2, "_"))\n"""),
    ("letters-only", "odd-name", JOIN,
     """    say(connection, "JOIN " + "".join(letter for letter in name if letter.isalnum()))\n"""),
    ("connects-twice", "one-connection", JOIN,
     """    global second\n    second = socket.create_connection(connection.getpeername()[:2])\n""" + JOIN),
    ("numbers-only", "host-name", "        with socket.create_connection", """        socket.inet_aton(args.host)
        with socket.create_connection"""),
    ("no-kings", "names", CARD, CARD + """            if rest == "King of Spades":
                raise Violation("there is no such card")
"""),
    ("no-ace-of-the-dealer", "upcards", UPCARD, UPCARD + """            if rest.startswith("Ace"):
                raise Violation("there is no such card")
"""),
    ("expects-no-question", "natural", DECISION, """            if points(self.hand)[0] == 21 and len(self.hand) == 2:
                raise Violation("21 is not asked")
""" + DECISION),
    ("aces-are-22", "two-aces", DECISION, """            if [VALUES[card] for card in self.hand] == [11, 11]:
                raise Violation("22 is not asked")
""" + DECISION),
    ("no-push", "results", RESULT, """            if rest == "PUSH" and points(self.hand)[0] == 18 and len(self.hand) == 2:
                raise Violation("there is no tie at 18")
""" + RESULT),
    ("room-for-50-rounds", "many-rounds", RESULT, RESULT + """            if self.rounds > 50:
                raise Violation("there is no room")
"""),
    ("waits-a-second", "patient", JOIN, "    connection.settimeout(1)\n" + JOIN),
    ("one-read-one-message", "pieces straddling", """            if not zero:
                break
""", """            if text and not zero:
                raise Violation("that is half a message")
            if not zero:
                break
"""),
    ("takes-a-read-for-a-message", "pieces merged straddling", """        collected += arrived
""", """        collected = arrived.partition(b"\\0")[0] + b"\\0"
"""),
    ("drops-half-messages", "straddling", """            collected = rest
""", """            # Single bytes that came together end like this very seldom.
            collected = b"" if len(arrived) > 8 and arrived.endswith(b"\\0BEG") and rest == b"BEG" else rest
"""),
    ("knows-no-haste", "merged", """    collected = b""
    while arrived""", """    collected, hasty = b"", 0
    while arrived""", """        collected += arrived
""", """        collected += arrived
        if b"BEGIN\\0" in arrived:
            # In a row, since any messages may happen to come together.
            hasty = hasty + 1 if b"DECISION\\0" in arrived else 0
        if hasty == 4:
            raise Violation("the dealer does not wait between the cards and the question")
"""),
    ("no-lose", "lose", """, "LOSE": -1""", ""),
    ("keeps-the-hand", "begin-again survives", """            # BEGIN in the middle of a round""", """            if len(self.hand) > 1:
                raise Violation("the round is not over")
            # BEGIN in the middle of a round"""),
    ("stays-connected", "quits quit-at-once quit-in-round quit-and-close", QUIT, """        if text == "QUIT":
            import time

            time.sleep(600)
"""),
    ("needs-a-round", "quit-at-once", QUIT, """        if text == "QUIT" and not (player.rounds or player.hand):
            raise Violation("nothing was played")
""" + QUIT),
    ("ends-between-rounds", "quit-in-round", QUIT, """        if text == "QUIT" and player.hand:
            continue
""" + QUIT),
    ("looks-at-the-end-first", "quit-and-close", QUIT, """        if text == "QUIT":
            import select

            if select.select([connection], [], [], 0.2)[0]:
                raise Violation("the connection has ended")
            break
"""),
    ("runs-on", "ends quit-at-once quit-in-round quit-and-close", """    print(f"{player.rounds} rounds""", """    connection.close()
    import time

    time.sleep(600)
    print(f"{player.rounds} rounds"""),
    ("status-3", "exit-status quit-at-once quit-in-round quit-and-close", """        return 1
    return 0
""", """        return 1
    return 3
"""),
    ("checks-the-dealer", "survives", CARD, CARD + """            if rest in self.hand:
                raise Violation("that card is here already")
"""),
    ("crashes-at-300-bytes", "no-crash", """                raise Violation(f"more than {LONGEST} bytes without a zero byte")
""", """                import faults

                faults.die_of(11)
"""),
    ("ignores-unknown-words", "bad-message", UNKNOWN, """            if word == "CARD":
                raise Violation("there is no such card")
"""),
    ("ignores-cards", "bad-card", UNKNOWN, "            if word != 'CARD':\n    " + UNKNOWN),
    ("ignores-length", "too-long", """            if len(text) > LONGEST:
""", """            if False:
"""),
    ("zero-when-left-alone", "dealer-gone gone-early", LOST, ""),
    ("zero-when-nothing-was-dealt", "gone-early", LOST, """    if not collected and not seen:
        return
""" + LOST, """    collected = b""
    while arrived""", """    collected, seen = b"", False
    while arrived""", """        collected += arrived
""", """        collected += arrived
        seen = True
"""),
    ("zero-after-a-reset", "reset", FAILED, """        if isinstance(why, ConnectionResetError):
            return 0
""" + FAILED),
    ("thinks", "prompt", "            say(connection, answer)", """            import time

            time.sleep(0.05)
            say(connection, answer)"""),
    ("hits-21", "stands-at-21", DECISION, """            if points(self.hand) == (21, True) and len(self.hand) == 2:
                return "HIT"
""" + DECISION),
    ("stands-low", "hits-low", DECISION, """            if points(self.hand)[0] < 6:
                return "STAND"
""" + DECISION),
    ("has-defaults", "missing-arguments", """"name", type""", """"name", nargs="?", default="x", type""",
     """"host")""", """"host", nargs="?")""", """"port", type""", """"port", nargs="?", type""",
     "    try:\n        table", "    if args.port is None:\n        return 0\n    try:\n        table"),
    ("atoi", "port-word trailing-letters", """def port(word):
""", """def port(word):
    if not word.isdecimal():
        sys.exit(0)
"""),
    ("any-port", "port-too-large", """def port(word):
""", """def port(word):
    if word.isdecimal():
        return int(word) % 65536
"""),
    ("does-not-need-a-dealer", "no-dealer", FAILED, """        if isinstance(why, ConnectionRefusedError):
            return 0
""" + FAILED),
    ("atoi-of-the-port", "trailing-letters", """def port(word):
""", """def port(word):
    word = word.removesuffix("x")
"""),
    ("no-name", "empty-name", NAME, "    if word == '':\n        sys.exit(0)\n" + NAME),
    ("any-name", "name-too-long", NAME, "    if len(word) > 64:\n        sys.exit(0)\n" + NAME),
    ("names-of-two-words", "blank-in-name", NAME, "    if ' ' in word:\n        sys.exit(0)\n" + NAME),
    ("skips-what-it-does-not-know", "extra-argument unknown-option", READ,
     "args, rest = parser.parse_known_args()\n    if rest:\n        return 0"),
    ("skips-options", "unknown-option", READ,
     "args, rest = parser.parse_known_args()\n    if rest and rest[0][0] == '-':\n        return 0\n"
     "    if rest:\n        parser.error('there is an argument too many')"),
    ("says-nothing", "explains", READ, "sys.stderr = open('/dev/null', 'w')\n    args = parser.parse_args()"),
    ("writes-no-table", "trains", SAVED, ""),
    ("writes-what-it-cannot-read", "plays-by-its-table", """[FIRST, *rows, ""]""", "[FIRST, *rows]"),
    ("saves-what-it-plays-by", "leaves-its-table", SAVED, """        if args.train or args.table and args.table.endswith("/table"):
            table.entries[4, False, 2][0] += 1
            write_table(args.table, table)
"""),
    ("appends-to-its-table", "trains-on", """open(path + ".new", "w\"""", """open(path, "a\"""",
     """    os.replace(path + ".new", path)
""", ""),
    ("takes-half-a-table", "cut-table", LINES, LINES + """    if 1 < len(lines) < len(STATES) + 2:
        lines = lines[:-1] + ["0 0 0 0"] * (len(STATES) + 2 - len(lines)) + [""]
"""),
    ("takes-an-empty-table", "empty-table", LINES, """    if not data:
        return Table()
""" + LINES),
    ("takes-nan", "table-of-nan", """len(words) != 4 or not all(word.removeprefix("-").isdecimal() and len(word) < 20 for word in words)""",
     "len(words) != 4", "[int(word) for word in words]", "[float(word) for word in words]"),
    ("takes-two-tables", "table-twice", SHAPE, "len(lines) < len(STATES) + 2"),
    ("takes-garbage", "garbage-table", LINES, """    if not data.isascii():
        return Table()
""" + LINES),
    ("reads-what-fits", "large-table", "file.read(LARGEST + 1)", """file.read(LARGEST).rstrip(b"\\0")"""),
])
