"""Deliberate faults of the reference client of nuggets; see faults.py."""

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

# Each row has the rules that the fault breaks, and pairs of program text and its replacement.
faulty("nuggets-client", [
    ("cuts-names", "first-message", GREETING, GREETING + "        self.greeting = self.greeting[:25]\n"),
    ("needs-two-letters", "short-name", GREETING, GREETING + "        self.greeting = self.greeting.ljust(7, b'_')\n"),
    ("joins-words", "odd-name", GREETING, GREETING + """        if b"%" in self.greeting:
            self.greeting = b"PLAY " + b" ".join(self.greeting[5:].split())
"""),
    ("always-plays", "spectates", """if name is not None else b"SPECTATE\"""", """if name is not None else b"PLAY nobody\""""),
    ("waits-for-ok", "watches", IN, """        if self.letter is None:
            return
""" + IN),
    ("numbers-only", "host-name", CONNECT, "        socket.inet_aton(args.host)\n" + CONNECT),
    ("newline-behind-keys", "message-form", """        self.send(b"KEY " + key)
""", """        self.send(b"KEY " + key + b"\\n")
"""),
    ("joins-for-ever", "joins-once", """            now = time.monotonic()
            if not""", """            now = time.monotonic()
            if now >= getattr(self, "nagged", start) + 1:
                self.nagged = now
                self.send(self.greeting)
            if not"""),
    ("a-socket-for-a-key", "one-address keys-as-typed", """        self.send(b"KEY " + key)
""", """        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
            other.sendto(b"KEY " + key, self.connection.getpeername())
"""),
    ("capitals-only-for-q", "keys-as-typed", TYPED, """                keys = keys if keys in (b"Q", b"") else keys.lower()
""" + TYPED),
    ("letters-only", "any-key", TYPED, """                if keys and not keys.isalpha() and keys != b".":
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
    ("crashes-at-big-numbers", "no-crash", HEAR, """        if datagram.startswith(b"GOLD 9999"):
            (99999999999999999999).to_bytes(4, "big")
""" + HEAR),
    ("status-1", "quit-ends", OVER, """        print(self.over)
        return 1
"""),
    ("leaves-at-once", "waits-for-quit", TYPED, TYPED + """                if keys == b"Q":
                    return 0
"""),
    ("formats-displays", "no-crash", HEAR, HEAR + """        if b"%n" in datagram and b"|" in datagram:
            os.kill(os.getpid(), 11)
"""),
    ("wipes-the-text", "quit-text", OVER, """        print("\\x1b[?1049h" + self.over + "\\x1b[?1049l")
        return 0
"""),
    # Deviations that break no rule.
    ("jumps-over-blanks", "", OVER, """        print(self.over.replace("  ", "\\x1b[2C") if sys.stdout.isatty() else self.over)
        return 0
"""),
    ("shows-the-text-for-a-while", "", OVER, """        print(self.over, flush=True)
        time.sleep(12)
        return 0
"""),
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
    # Deviations of many programs that break no rule.
    ("forgets-early-keys", "", IN, """        if not self.is_in and sys.stdin.isatty():
            time.sleep(0.3)
            termios.tcflush(sys.stdin, termios.TCIFLUSH)
""" + IN),
    ("spectators-type-only-q", "", TYPED, """                if self.letter is None and keys not in (b"Q", b""):
                    continue
""" + TYPED),
    ("measures-its-window", "", """            self.size = (int(words[0]), int(words[1]))
""", """            self.size = (int(words[0]), int(words[1]))
            window = os.get_terminal_size(1)
            if window.lines <= self.size[0] or window.columns < self.size[1]:
                sys.exit("enlarge the window")
"""),
    ("waits-for-quit", "leaves-alone", "            if quitting and now >= quitting:", "            if False:"),
    ("needs-nothing", "missing-arguments", READ, "args = len(sys.argv) > 2 and parser.parse_args() or sys.exit(0)"),
    ("atoi", "bad-port", PORT, """    if word == "abc":
        sys.exit(0)
""" + PORT),
    ("any-port", "port-range", PORT, """    if word.isdecimal():
        return int(word) % 65536 or sys.exit(0)
""" + PORT),
    ("reads-digits", "trailing-letters", PORT, """    word = word.removesuffix("x")
""" + PORT),
    ("skips-words", "extra-argument unknown-option", READ, "args, rest = parser.parse_known_args()\n    if rest:\n        return 0"),
    ("skips-options", "unknown-option", READ,
     "args, rest = parser.parse_known_args()\n    if rest and rest[0][0] == '-':\n        return 0\n"
     "    if rest:\n        parser.error('there is an argument too many')"),
    ("says-nothing", "explains", READ, "sys.stderr = open('/dev/null', 'w')\n    args = parser.parse_args()"),
])
