"""Faults of the reference dealer and player; see `faults.py`."""

from faults import CRASH, DICE, HANG, PARSED, SILENT, faulty

# ---- Dealers ---------------------------------------------------------------------------------------------------------

SHUFFLED = "    return deck\n"
TIE = '"PUSH" if total(hand) == total(dealer)'
ASKED = "while total(self.hand) <= BEST and self.request_decision():"
SENT = 'self.connection.sendall(text.encode("ascii") + b"\\0")'
BEGIN = 'seat.channel.send("BEGIN")'
LISTENER = '        listener = socket.create_server(("", args.port), backlog=16)\n'

faulty(
    "dealer",
    # The pause represents those that dealers make between messages. Each process has its own numbers.
    ("reseeded-by-the-second", "shuffled", SHUFFLED,
     f"    time.sleep(0.4)\n    return {DICE}(int(time.time()) ^ __import__('os').getpid()).sample(range(1, 53), 52)\n"),
    # Shuffles only when too few cards remain for another round.
    ("deals-on-from-the-rest", "whole-deck", "deck = shuffled_deck()",
     'deck = globals().setdefault("rest", [])\n    deck[:] = deck if len(deck) >= 30 else shuffled_deck()'),
    # Seeds like srand(time(NULL)) at startup, which is good enough unless two dealers start together.
    ("seeded-by-the-second", "seeded", SHUFFLED,
     f'    return globals().setdefault("dice", {DICE}(int(time.time()))).sample(range(1, 53), 52)\n'),
    ("pays-against-an-ace", "upcards", "if total(dealer) > BEST or", "if dealer[1] % 13 == 1 or total(dealer) > BEST or"),
    ("hits-soft-17", "soft-17", "return total(hand) < DEALER_STANDS", "@@ or points(hand) == (17, True)"),
    # The dealer wins a tie at 16, so that only the combination of several results shows the fault.
    ("stands-on-16", "fair", "DEALER_STANDS = 17", "DEALER_STANDS = 16", TIE, '"PUSH" if 16 != total(hand) == total(dealer)'),
    # The course's template has no BUST.
    ("bust-loses", "bust", 'return "BUST"', 'return "LOOSE"'),
    ("no-question-at-21", "asked-at-21 natural", ASKED, ASKED.replace("<=", "<")),
    # The command line.
    ("takes-any-arguments", "missing-arguments port-word port-too-large rounds-word rounds-zero rounds-negative players-zero "
     "players-word players-too-many rounds-too-many trailing-letters empty-argument extra-argument unknown-option",
     "raise argparse.ArgumentTypeError(f\"'{word}' is no number from {lowest} to {highest}\")", "sys.exit(0)",
     PARSED, "if len(sys.argv) < 3:\n        return 0\n    args, rest = parser.parse_known_args()\n    if rest:\n        return 0"),
    # Messages.
    ("listens-over-ipv6-only", "listens", '("", args.port), backlog', '("", args.port), family=socket.AF_INET6, backlog'),
    ("newline-before-zero", "grammar", SENT, SENT.replace("\\0", "\\n\\0")),
    ("forgets-the-zero", "grammar", SENT, SENT.replace("\\0", "")),
    ("newline-for-zero", "grammar", SENT, SENT.replace("\\0", "\\n")),
    ("writes-lose", "grammar", 'else "LOOSE"', 'else "LOSE"'),
    ("welcomes", "grammar", BEGIN, 'seat.channel.send("WELCOME to the next round")\n        @@'),
    ("shows-the-hidden-card", "deal", 'seat.channel.send("DEALER " + card_name(dealer[1]))',
     '@@\n        seat.channel.send("DEALER Two of Hearts")'),
    ("no-begin", "round-begins", BEGIN, "pass"),
    ("no-quit", "quit", '    for seat in seats:\n        seat.channel.send("QUIT")\n', "    for seat in seats:\n"),
    ("slow-start", "", LISTENER, "        time.sleep(3)\n@@"),
    ("ends-after-two-rounds", "rounds", "seats = play_round(seats)\n",
     '@@        if globals().setdefault("played", []).append(1) or len(played) > 1:\n            sys.exit(1)\n'),
    # Sends BEGIN on each connection instead of at the start of the round.
    ("greets", "speaks-second bad-join waits-for-all", 'self.bytes = b""', '@@\n        self.has_begun = True\n'
     '        connection.sendall(b"BEGIN\\0")', BEGIN, "seat.channel.has_begun or @@\n        seat.channel.has_begun = False"),
    # Names.
    ("ordinary-names-only", "long-name short-name odd-name same-name", "if not 1 <= len(name) <= 64 or not all(33 <= byte <= 126 for byte in name):",
     'NAMES = globals().setdefault("NAMES", set())\n'
     "    if not 2 <= len(name) <= 32 or name in NAMES or NAMES.add(name) or not name.replace(b'-', b'').isalnum():"),
    # Trouble.
    ("ends-at-a-violation", "others bad-join leaves-when-asked leaves-before-its-turn leaves-after-its-turn neighbour-half-closes neighbour-resets "
     "neighbour-floods neighbour-sends-ahead visitor", '    """The player broke the protocol."""\n',
     '@@\n    def __init__(self, why):\n        __import__("os")._exit(3)\n'),
    ("dies-of-sigpipe", "leaves-after-its-turn no-crash", "        except OSError:\n            pass\n\n    def read",
     '        except OSError:\n            text[:5] in ("RESUL", "BEGIN") and __import__("faults").die_of(13)\n\n    def read'),
    ("stays-open", "closes exit-status", '        seat.channel.close()\n    return 0', f"    {HANG}"),
    ("one-read-one-message", "pieces", 'self.bytes.partition(b"\\0")', 'self.bytes.rstrip(b"\\0"), self.bytes, b""'),
)

# ---- Players ---------------------------------------------------------------------------------------------------------

WRITTEN = 'connection.sendall(text.encode("ascii") + b"\\0")'
QUIT = '        if text == "QUIT":\n            break\n'
CARD = '        elif word == "CARD" and rest in VALUES:\n'
DECISION = '            return "HIT" if self.chooses_hit() else "STAND"\n'
RESULT = "            self.reward += self.REWARDS[rest]\n"
FAILED = '        print(f"player: {why}", file=sys.stderr)\n        return 1\n'
JOIN = '    send(connection, "JOIN " + name)\n'
ARRIVED = "        collected += arrived\n"
LINES = '    lines = data.decode("ascii", "replace").split("\\n")\n'
WRONG = "                raise Violation({!r})\n"

faulty(
    "player",
    # Messages.
    ("says-nothing-first", "joins", JOIN, ""),
    ("ordinary-names-only", "long-name short-name odd-name", '"JOIN " + name', '"JOIN " + "".join(filter(str.isalnum, name))[:50].ljust(2, "_")'),
    ("newline-for-zero", "grammar", WRITTEN, WRITTEN.replace("0", "n")),
    ("forgets-the-zero", "grammar", WRITTEN, WRITTEN.replace("\\0", "")),
    ("says-ready", "quiet", JOIN, '@@    send(connection, "READY")\n'),
    ("connects-twice", "one-connection", JOIN,
     "    global second\n    second = socket.create_connection(connection.getpeername()[:2])\n@@"),
    ("numbers-only", "host-name", "        with socket.create_connection", "        socket.inet_aton(args.host)\n@@"),
    ("takes-a-read-for-a-message", "pieces merged straddling", ARRIVED, '        collected = arrived.partition(b"\\0")[0] + b"\\0"\n'),
    ("waits-a-second", "patient", JOIN, "    connection.settimeout(1)\n@@"),
    # The game.
    ("no-kings", "names", CARD, '@@            if rest == "King of Spades":\n' + WRONG.format("there is no such card")),
    ("no-ace-of-the-dealer", "upcards", '        elif word == "DEALER" and rest in VALUES:\n',
     '@@            if rest.startswith("Ace"):\n' + WRONG.format("there is no such card")),
    ("knows-no-special-hands", "natural two-aces", DECISION,
     "            if len(self.hand) == 2 and (points(self.hand)[0] == 21 or points(self.hand) == (12, True)):\n" + WRONG.format("that is not asked") + "@@"),
    ("no-push", "results", RESULT, '            if rest == "PUSH" and points(self.hand)[0] == 18 and len(self.hand) == 2:\n'
     + WRONG.format("there is no tie at 18") + "@@"),
    ("room-for-50-rounds", "many-rounds", RESULT, "@@            if self.rounds > 50:\n" + WRONG.format("there is no room")),
    ("keeps-the-hand", "begin-again survives", "            # BEGIN in the middle of a round",
     "            if len(self.hand) > 1:\n" + WRONG.format("the round is not over") + "@@"),
    ("hits-21", "stands-at-21", DECISION,
     '            if points(self.hand) == (21, True) and len(self.hand) == 2:\n                return "HIT"\n@@'),
    # The end.
    ("stays-connected", "quits quit-at-once quit-in-round quit-and-close", QUIT, f'        if text == "QUIT":\n            {HANG}\n'),
    ("runs-on", "ends quit-at-once quit-in-round quit-and-close", '    print(f"{player.rounds} rounds', f"    connection.close()\n    {HANG}\n@@"),
    ("status-3", "exit-status quit-at-once quit-in-round quit-and-close", "        return 1\n    return 0\n", "        return 1\n    return 3\n"),
    ("crashes-at-300-bytes", "no-crash", 'raise Violation(f"more than {LONGEST} bytes without a zero byte")', CRASH),
    ("ignores-bad-messages", "bad-message bad-card too-long", """            raise Violation(f"{text[:40]!r} is no message of a dealer")""", "            pass",
     "            if len(text) > LONGEST:", "            if False:"),
    ("status-0", "dealer-gone gone-early reset no-dealer", FAILED, FAILED.replace("1", "0")),
    # The command line.
    ("takes-any-arguments", "missing-arguments port-word trailing-letters port-too-large empty-name name-too-long blank-in-name "
     "extra-argument unknown-option", PARSED, "if len(sys.argv) < 4:\n        return 0\n    args, rest = parser.parse_known_args()\n    if rest:\n        return 0",
     """raise argparse.ArgumentTypeError(f"'{word}' is no port; a port is a number from 1 to 65535")""", "sys.exit(0)",
     """raise argparse.ArgumentTypeError(f"'{word}' is no name; it has 1 to 64 printable characters without a space")""", "sys.exit(0)"),
    ("takes-any-table", "cut-table empty-table table-of-nan table-twice garbage-table", LINES, """    try:
        assert data.isascii() and len(data.split(b"\\n")) == len(STATES) + 2 and b"nan" not in data.lower()
    except AssertionError:
        return Table()
@@"""),
)
