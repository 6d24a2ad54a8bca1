"""What the reference dealer and player do wrong on purpose; see faults.py."""

import os
import random
import secrets
import signal
import sys
import time

from faults import die_of, fault, faulty

# ---- Dealers: cards --------------------------------------------------------------------------------------------------


def shuffled(deck=range(1, 53)):
    deck = list(deck)
    random.SystemRandom().shuffle(deck)
    return deck


def deals(name, *rules):
    """A dealer that makes its deck like this. The last card is dealt first."""

    def add(make):
        fault("dealer", name, *rules)(lambda names: names.update(shuffled_deck=make))
        return make

    return add


@deals("biased-shuffle", "uniform")
def _():
    """Swaps each position with any position, as the course's own dealers do, and deals from the front."""
    deck = list(range(1, 53))
    for position in range(52):
        other = random.randrange(52)
        deck[position], deck[other] = deck[other], deck[position]
    return deck[::-1]


# Other numbers in each run.
own = secrets.randbelow(1 << 30)


@deals("reseeded-by-the-second", "shuffled")
def _():
    """Seeds the generator for each shuffle. The pause stands for those that dealers make between messages."""
    time.sleep(0.4)
    random.seed(int(time.time()) ^ own)
    deck = list(range(1, 53))
    random.shuffle(deck)
    return deck


@deals("cards-in-pairs", "neighbours")
def _():
    """Shuffles pairs of cards."""
    return [2 * pair + card for pair in shuffled(range(26)) for card in shuffled((1, 2))]


rest = []


@deals("deals-on-from-the-rest", "whole-deck")
def _():
    """Shuffles only when the cards of the last round would not do for another."""
    if len(rest) < 30:
        rest[:] = shuffled()
    return rest


@deals("same-cards-in-each-run", "fresh-cards", "seeded")
def _():
    """Forgets to seed the generator."""
    global generator
    generator = generator or random.Random(1)
    return generator.sample(range(1, 53), 52)


generator = None


@deals("deals-cards-again", "one-deck")
def _():
    """Draws from 52 cards each time."""
    return [secrets.randbelow(52) + 1 for _ in range(52)]


@deals("never-shuffles", "shuffled", "fresh-cards", "seeded")
def _():
    return list(range(1, 53))


@fault("dealer", "shows-no-ace", "upcard-uniform")
def _(names):
    """Deals itself another card instead of an ace that everybody would see."""
    shuffle = names["shuffled_deck"]

    def shuffled_deck():
        # The upcard is the last card of the deal: behind a card for each seat, the hidden one, and a second for each seat.
        deck = shuffle()
        at = len(deck) - 1 - (2 * seats[0] + 1)
        other = next((place for place in range(at) if deck[place] % 13 != 1), at)
        if deck[at] % 13 == 1:
            deck[at], deck[other] = deck[other], deck[at]
        return deck

    seats = count_seats(names)
    names["shuffled_deck"] = shuffled_deck


def count_seats(names):
    """A list with the number of seats that play the next round."""
    play_round, seats = names["play_round"], [1]

    def counted(of):
        seats[0] = len(of)
        return play_round(of)

    names["play_round"] = counted
    return seats


@fault("dealer", "draws-no-pictures", "drawn-uniform")
def _(names):
    """Who takes a card gets none of the pictures."""
    play = names["Seat"].play

    class Chosen(list):
        def pop(self, *place):
            at = next((at for at in range(len(self) - 1, -1, -1) if (self[at] - 1) % 13 < 10), len(self) - 1)
            return super().pop(at)

    def chosen(seat, deck):
        better = Chosen(deck)
        play(seat, better)
        # Nobody else is to be dealt the pictures that were passed over.
        deck[:] = shuffled(better)

    names["Seat"].play = chosen


# ---- Dealers: rules of the game --------------------------------------------------------------------------------------


@fault("dealer", "always-wins", "wins", "pushes")
def _(names):
    """Everybody who is not bust wins. Some total of a dealer explains each round."""
    names["verdict"] = lambda hand, dealer: "BUST" if names["total"](hand) > 21 else "WIN"


@fault("dealer", "ties-below-21-lose", "pushes", "fair")
def _(names):
    verdict = names["verdict"]

    def strict(hand, dealer):
        told = verdict(hand, dealer)
        return "LOOSE" if told == "PUSH" and names["total"](hand) < 21 else told

    names["verdict"] = strict


@fault("dealer", "pays-against-an-ace", "upcards")
def _(names):
    """Who plays against an ace wins."""
    verdict = names["verdict"]

    def kind(hand, dealer):
        told = verdict(hand, dealer)
        return "WIN" if told != "BUST" and dealer[1] % 13 == 1 else told

    names["verdict"] = kind


@fault("dealer", "hits-soft-17", "soft-17")
def _(names):
    names["dealer_draws"] = lambda hand: names["total"](hand) < 17 or names["points"](hand) == (17, True)


@fault("dealer", "spares-low-hands", "low-never-ties")
def _(names):
    verdict = names["verdict"]

    def kind(hand, dealer):
        told = verdict(hand, dealer)
        return "PUSH" if told == "LOOSE" and names["total"](hand) < 17 else told

    names["verdict"] = kind


@fault("dealer", "stands-on-16", "fair")
def _(names):
    """A tie at 16 goes to the dealer, so that nothing is seen but what several results have in common."""
    verdict, total = names["verdict"], names["total"]
    names["dealer_draws"] = lambda hand: total(hand) < 16
    names["verdict"] = lambda hand, dealer: "LOOSE" if total(hand) == 16 == total(dealer) else verdict(hand, dealer)


@fault("dealer", "a-hand-for-each-player", "fair")
def _(names):
    """Compares each player with a hand of the dealer that is drawn for it alone."""
    verdict = names["verdict"]

    def other(hand, dealer):
        own = dealer[:2]
        deck = [card for card in shuffled() if card not in hand and card not in own]
        own = [deck.pop(), own[1]]
        while names["dealer_draws"](own):
            own.append(deck.pop())
        return verdict(hand, own)

    names["verdict"] = other


@fault("dealer", "loses-at-21", "21-never-loses")
def _(names):
    """Compares with less-or-equal at 21."""
    verdict = names["verdict"]
    names["verdict"] = lambda hand, dealer: (
        "LOOSE" if names["total"](hand) == names["total"](dealer) == 21 else verdict(hand, dealer)
    )


@fault("dealer", "bust-loses", "bust")
def _(names):
    """The seed of the course knows no BUST."""
    verdict = names["verdict"]
    names["verdict"] = lambda hand, dealer: verdict(hand, dealer).replace("BUST", "LOOSE")


@fault("dealer", "bust-for-a-loss", "result")
def _(names):
    verdict = names["verdict"]
    names["verdict"] = lambda hand, dealer: verdict(hand, dealer).replace("LOOSE", "BUST")


def plays(name, *rules):
    """A dealer that plays a hand as long as this says."""

    def add(goes_on):
        def commit(names):
            def play(seat, deck):
                while goes_on(names, seat.hand) and seat.ask():
                    seat.deal(deck.pop())

            names["Seat"].play = play

        fault("dealer", name, *rules)(commit)
        return goes_on

    return add


plays("no-question-at-21", "asked-at-21")(lambda names, hand: names["total"](hand) < 21 or len(hand) == 2 and names["total"](hand) == 21)
plays("pays-blackjack", "natural")(lambda names, hand: names["total"](hand) <= 21 and not (len(hand) == 2 and names["total"](hand) == 21))
plays("asks-the-bust", "bust-ends")(lambda names, hand: names["total"](hand) <= 21 or len(hand) < 4)
plays("asks-once", "asked-again")(lambda names, hand: names["total"](hand) <= 21 and (len(hand) == 2 or names["total"](hand) == 21))


@fault("dealer", "an-ace-is-11", "ace-counts-1")
def _(names):
    """A hand is bust when it would be with 11 for each ace."""
    verdict = names["verdict"]

    def hard(hand):
        ranks = [(card - 1) % 13 + 1 for card in hand]
        return sum(11 if rank == 1 else min(rank, 10) for rank in ranks)

    def play(seat, deck):
        while hard(seat.hand) <= 21 and seat.ask():
            seat.deal(deck.pop())

    names["Seat"].play = play
    names["verdict"] = lambda hand, dealer: "BUST" if hard(hand) > 21 else verdict(hand, dealer)


# ---- Dealers: messages -----------------------------------------------------------------------------------------------


def says(name, *rules):
    """A dealer that says something else: this gets the seat's line, the text, and what says it."""

    def add(change):
        def commit(names):
            say = names["Line"].say
            names["Line"].say = lambda line, text: change(line, text, lambda other: say(line, other))

        fault("dealer", name, *rules)(commit)
        return change

    return add


@says("writes-lose", "grammar")
def _(line, text, say):
    say(text.replace("LOOSE", "LOSE"))


@says("no-begin", "round-begins")
def _(line, text, say):
    if text != "BEGIN":
        say(text)


@says("upcard-first", "deal")
def _(line, text, say):
    """Shows its own card behind the first one of the player."""
    if text.startswith("DEALER"):
        say(text)
        say(line.kept)
    elif text.startswith("CARD") and getattr(line, "begun", 0) == 1:
        line.kept = text
    else:
        say(text)
    line.begun = 0 if text == "BEGIN" else getattr(line, "begun", 9) + 1


@says("no-quit", "quit", "half-close")
def _(line, text, say):
    """Closes the connection behind the last RESULT."""
    if text != "QUIT":
        say(text)


@says("score-after-quit", "nothing-after-quit", "offender")
def _(line, text, say):
    say(text)
    if text == "QUIT":
        say("RESULT WIN")


@fault("dealer", "one-round-more", "rounds", "half-close")
def _(names):
    play = names["play"]
    names["play"] = lambda listener, rounds, players: play(listener, rounds + 1, players)


@fault("dealer", "one-round-less", "rounds")
def _(names):
    play = names["play"]
    names["play"] = lambda listener, rounds, players: play(listener, max(1, rounds - 1), players)


@fault("dealer", "greets", "speaks-second", "bad-join", "waits-for-all")
def _(names):
    """Says BEGIN to each connection, and not when the round begins."""
    start = names["Line"].__init__

    def greet(line, connection):
        start(line, connection)
        line.connection.sendall(b"BEGIN\0")
        line.greeted = True

    names["Line"].__init__ = greet
    say = names["Line"].say

    def once(line, text):
        if text == "BEGIN" and line.greeted:
            line.greeted = False
        else:
            say(line, text)

    names["Line"].say = once


@fault("dealer", "begins-at-join", "waits-for-all")
def _(names):
    """Tells each player at once that the first round begins."""
    start, say = names["Seat"].__init__, names["Line"].say

    def begin(seat, line, name):
        start(seat, line, name)
        say(line, "BEGIN")
        line.begun = True

    def once(line, text):
        if text == "BEGIN" and line.begun:
            line.begun = False
        else:
            say(line, text)

    names["Seat"].__init__, names["Line"].say = begin, once


@fault("dealer", "tells-cards-to-all", "others-hidden")
def _(names):
    """Shows each card that is drawn to those who have played already."""
    play, deal, over = names["Seat"].play, names["Seat"].deal, []

    def tell(seat, card):
        deal(seat, card)
        if len(seat.hand) > 2:
            for other in over:
                other.line.say("CARD " + names["card_name"](card))
        else:
            over.clear()

    def told(seat, deck):
        play(seat, deck)
        over.append(seat)

    names["Seat"].play, names["Seat"].deal = told, tell


@fault("dealer", "result-at-bust", "result-at-end")
def _(names):
    """Tells a player at once that it is bust."""
    play, say = names["Seat"].play, names["Line"].say

    def tell(seat, deck):
        play(seat, deck)
        if names["total"](seat.hand) > 21:
            seat.line.say("RESULT BUST")
            seat.line.told = True

    def once(line, text):
        if text.startswith("RESULT") and getattr(line, "told", False):
            line.told = False
        else:
            say(line, text)

    names["Seat"].play, names["Line"].say = tell, once


@fault("dealer", "two-cards-for-hit", "hit")
def _(names):
    deal = names["Seat"].deal

    def twice(seat, card):
        deal(seat, card)
        if len(seat.hand) > 2 and names["total"](seat.hand) <= 21:
            deal(seat, card % 52 + 1)

    names["Seat"].deal = twice


# ---- Dealers: names --------------------------------------------------------------------------------------------------


def joins(name, rule, is_refused):
    """A dealer that gives no seat to some names."""

    def commit(names):
        name_in = names["name_in"]

        def strict(text):
            joined = name_in(text)
            if is_refused(joined):
                raise names["Violation"](f"{joined} is no name")
            return joined

        names["name_in"] = strict

    fault("dealer", name, rule)(commit)


joins("no-long-names", "long-name", lambda name: len(name) > 32)
joins("no-short-names", "short-name", lambda name: len(name) < 2)
joins("no-odd-names", "odd-name", lambda name: not all(letter.isalnum() or letter in "-." for letter in name))
names_so_far = []
joins("no-twins", "same-name", lambda name: name in names_so_far or names_so_far.append(name))

# ---- Dealers: trouble ------------------------------------------------------------------------------------------------


@fault("dealer", "crashes-at-300-bytes", "no-crash", "others", "neighbour-floods")
def _(names):
    """Copies a message into a buffer without a look at its length."""
    read = names["Line"].read

    def careless(line):
        read(line)
        if len(line.bytes.partition(b"\0")[0]) > 256:
            die_of(signal.SIGSEGV)

    names["Line"].read = careless


@fault("dealer", "one-read-one-message", "pieces")
def _(names):
    """Takes what one read returns for one message."""
    names["Line"].message = lambda line: (line.bytes.rstrip(b"\0"), setattr(line, "bytes", b""))[0] if line.bytes else None


def ends_at(name, *rules):
    """A dealer that ends for all when this text is in the reason for which a player is out."""

    def commit(names):
        violation = names["Violation"]
        start = violation.__init__

        def init(why, text):
            start(why, text)
            if name_of(text):
                os._exit(3)

        violation.__init__ = init

    def add(is_meant):
        nonlocal name_of
        name_of = is_meant
        fault("dealer", name, *rules)(commit)

    name_of = None
    return add


ends_at("ends-at-a-wrong-word", "others", "bad-join")(lambda text: "neither" in text or "is no JOIN" in text)
ends_at("ends-when-a-player-leaves", "leaves-when-asked", "leaves-before-its-turn", "leaves-after-its-turn",
        "neighbour-half-closes", "visitor")(
    lambda text: "was closed" in text)
ends_at("ends-at-a-reset", "neighbour-resets")(lambda text: "is lost" in text)
ends_at("ends-at-a-flood", "others", "neighbour-floods")(lambda text: "without a zero byte" in text)
ends_at("ends-at-early-answers", "neighbour-sends-ahead")(lambda text: "came before DECISION" in text)


@fault("dealer", "dies-of-sigpipe", "leaves-after-its-turn", "no-crash")
def _(names):
    """Leaves SIGPIPE as it is when RESULT or BEGIN finds nobody."""
    names["Line"].say = sigpipe(lambda text: text.startswith(("RESULT", "BEGIN")))


def sigpipe(is_fatal):
    def say(line, text):
        try:
            line.connection.sendall(text.encode("ascii") + b"\0")
        except OSError:
            if is_fatal(text):
                die_of(signal.SIGPIPE)

    return say


@fault("dealer", "takes-latecomers", "latecomers")
def _(names):
    """Ends when somebody else connects."""
    play_round = names["play_round"]
    gather = names["gather"]
    listeners = []

    def gathered(listener, count):
        listeners.append(listener)
        return gather(listener, count)

    def watched(seats):
        import select

        staying = play_round(seats)
        if select.select(listeners, [], [], 0)[0]:
            os._exit(3)
        return staying

    names["gather"], names["play_round"] = gathered, watched


@fault("dealer", "plays-on-with-offenders", "early-answer", "offender")
def _(names):
    """What only our dealer does: nothing that fails another one."""
    names["Seat"].ask = plays_on(names["Seat"].ask, names["Violation"])


def plays_on(ask, violation):
    def lenient(seat):
        try:
            return ask(seat)
        except violation as why:
            if "connection" in str(why) or "zero byte" in str(why):
                raise
            return False

    return lenient


@fault("dealer", "gives-no-time", "late-answer")
def _(names):
    """The course's own dealers wait 26 ms."""
    ask = names["Seat"].ask

    def hasty(seat):
        seat.line.connection.settimeout(0.4)
        return ask(seat)

    names["Seat"].ask = hasty


@fault("dealer", "gives-no-time-to-join", "late-join")
def _(names):
    gather = names["gather"]

    def hasty(listener, count):
        patience, names["PATIENCE"] = names["PATIENCE"], 0.3
        seats = gather(listener, count)
        for seat in seats:
            seat.line.connection.settimeout(patience)
        names["PATIENCE"] = patience
        return seats

    names["gather"] = hasty


@fault("dealer", "half-closed-is-closed", "half-close")
def _(names):
    """Looks whether the player is still there before it says how the round ended."""
    play = names["Seat"].play

    def strict(seat, deck):
        play(seat, deck)
        seat.line.connection.settimeout(0.05)
        try:
            seat.line.read()
        except names["Violation"] as why:
            if "closed" in str(why):
                raise
        seat.line.connection.settimeout(names["PATIENCE"])

    names["Seat"].play = strict


@fault("dealer", "waits-for-nobody", "alone")
def _(names):
    play = names["play"]

    def stays(*arguments):
        status = play(*arguments)
        if status:
            time.sleep(600)
        return status

    names["play"] = stays


@fault("dealer", "no-reuse", "restart")
def _(names):
    """Does without SO_REUSEADDR."""
    socket = names["socket"]

    class Plain:
        def __getattr__(self, name):
            return getattr(socket, name)

        def create_server(self, address, backlog):
            listener = socket.socket()
            listener.bind(address)
            listener.listen(backlog)
            return listener

    names["socket"] = Plain()


@fault("dealer", "status-3", "exit-status")
def _(names):
    play = names["play"]
    names["play"] = lambda *arguments: play(*arguments) or 3


# ---- Dealers: the command line ---------------------------------------------------------------------------------------


def lenient(program, name, rule, is_wrong, instead):
    """A program that takes some wrong words for others."""

    def commit(names):
        number = names["number"]

        def kind(lowest, highest):
            parse = number(lowest, highest)
            return lambda word: parse(instead if is_wrong(word, highest) else word)

        names["number"] = kind

    fault(program, name, rule)(commit)


PORTS, ROUNDS, SEATS = 65535, 1_000_000_000, 6
for title, rule, highest, word, instead in [
    ("any-port-word", "port-word", PORTS, "port", "0"),
    ("any-port", "port-too-large", PORTS, "65536", "0"),
    ("any-rounds-word", "rounds-word", ROUNDS, "many", "1"),
    ("no-rounds", "rounds-zero", ROUNDS, "0", "1"),
    ("unsigned-rounds", "rounds-negative", ROUNDS, "-3", "9"),
    ("no-seats", "players-zero", SEATS, "0", "1"),
    ("any-seats-word", "players-word", SEATS, "two", "2"),
    ("seven-seats", "players-too-many", SEATS, "7", "6"),
    ("saturated", "rounds-too-many", ROUNDS, "99999999999999999999", "1000000000"),
    ("atoi", "trailing-letters", ROUNDS, "12x", "12"),
    ("nothing-is-one", "empty-argument", ROUNDS, "", "1"),
]:
    lenient("dealer", title, rule, lambda typed, most, of=highest, word=word: (typed, most) == (word, of), instead)


READ = "args = parser.parse_args()"
TAKEN = """        print(f"cannot listen at port {args.port}: {why}", file=sys.stderr)
        return """

# Each with the rules that it breaks, and pairs of a text of the program and what stands there instead.
faulty("dealer", [
    ("another-upcard-for-each", "same-upcard", "card_name(dealer[1])", "card_name(dealer[1 - seats.index(seat) % 2])"),
    ("stays-open", "closes exit-status", """        seat.line.say("QUIT")
        seat.line.close()
    return 0""", """        seat.line.say("QUIT")
    time.sleep(600)"""),
    ("ends-when-one-left-early", "leaves-before-its-turn leaves-after-its-turn", """            self.line.read()
        if self.line.bytes:""", """            self.line.connection.recv(1, socket.MSG_PEEK) or sys.exit(3)
            self.line.read()
        if self.line.bytes:"""),
    ("has-defaults", "missing-arguments", """"port", type""", """"port", nargs="?", default=0, type""",
     """"rounds", type""", """"rounds", nargs="?", default=1, type"""),
    ("does-not-need-the-port", "port-taken", TAKEN + "1", TAKEN + "0"),
    ("skips-what-it-does-not-know", "extra-argument unknown-option", READ, "args, _ = parser.parse_known_args()"),
    ("skips-options", "unknown-option", READ, "args = parser.parse_args([w for w in sys.argv[1:] if w[:4] != '--no'])"),
    ("says-nothing", "explains", READ, "sys.stderr = open('/dev/null', 'w')\n    args = parser.parse_args()"),
])

# ---- Players ---------------------------------------------------------------------------------------------------------

SAY = """    connection.sendall(text.encode("ascii") + b"\\0")"""
PLAY = """    say(connection, "JOIN " + name)
    for text in messages(connection):
        if text == "QUIT":
            break
        answer = player.hear(text)
        if answer:
            say(connection, answer)
"""
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
PORT = """    parser.add_argument("port", type=port)
"""
JOIN = """    say(connection, "JOIN " + name)
"""

LOADED = """            table = Table() if args.train and not os.path.exists(args.table) else read_table(args.table)
"""
SAVED = """        if args.train:
            write_table(args.table, table)
"""
LINES = """    lines = data.decode("ascii", "replace").split("\\n")
"""
SHAPE = "len(lines) != len(STATES) + 2 or lines[-1]"
ALL_DAMAGE = "cut-table empty-table table-of-nan table-twice garbage-table large-table"

# Each with the rules that it breaks, and pairs of a text of the program and what stands there instead.
faulty("player", [
    ("says-nothing-first", "joins", JOIN, ""),
    ("cuts-names", "long-name", JOIN, """    say(connection, "JOIN " + name[:50])\n"""),
    ("short-names-are-longer", "short-name", JOIN, """    say(connection, "JOIN " + name.ljust(2, "_"))\n"""),
    ("letters-only", "odd-name", JOIN,
     """    say(connection, "JOIN " + "".join(letter for letter in name if letter.isalnum()))\n"""),
    ("connects-twice", "one-connection", JOIN,
     """    global second\n    second = socket.create_connection(connection.getpeername()[:2])\n""" + JOIN),
    ("numbers-only", "host-name", "        with socket.create_connection", """        socket.inet_aton(args.host)
        with socket.create_connection"""),
    ("lower-case", "answers", "            say(connection, answer)", "            say(connection, answer.lower())"),
    ("answers-twice", "quiet", "            say(connection, answer)", "            say(connection, answer)\n" * 2),
    ("no-kings", "names", CARD, CARD + """            if rest == "King of Spades":
                raise Violation("there is no such card")
"""),
    ("no-ace-of-the-dealer", "upcards", UPCARD, UPCARD + """            if rest.startswith("Ace"):
                raise Violation("there is no such card")
"""),
    ("expects-no-question", "natural results", DECISION, """            if points(self.hand)[0] == 21 and len(self.hand) == 2:
                raise Violation("21 is not asked")
""" + DECISION),
    ("aces-are-22", "two-aces", DECISION, """            if [VALUES[card] for card in self.hand] == [11, 11]:
                raise Violation("22 is not asked")
""" + DECISION),
    ("no-push", "results", RESULT, """            if rest == "PUSH" and points(self.hand)[0] == 21 and len(self.hand) == 2:
                raise Violation("nobody ties at 21")
""" + RESULT),
    ("room-for-100-rounds", "many-rounds", RESULT, RESULT + """            if self.rounds > 100:
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
    ("drops-half-messages", "straddling", """            collected = rest
""", """            # Single bytes that came together end like this very seldom.
            collected = b"" if len(arrived) > 8 and arrived.endswith(b"\\0BEG") and rest == b"BEG" else rest
"""),
    ("no-lose", "lose", """, "LOSE": -1""", ""),
    ("keeps-the-hand", "begin-again survives", """            # Also in the middle of a round""", """            if len(self.hand) > 1:
                raise Violation("the round is not over")
            # Also in the middle of a round"""),
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
    ("uncaught-error", "no-crash", """        elif word == "CARD" and rest in VALUES:
            self.hand.append(rest)
""", """        elif word == "CARD":
            self.hand.append(rest)
            points(self.hand)
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
    if word == "65536":
        sys.exit(0)
"""),
    ("does-not-need-a-dealer", "no-dealer", FAILED, """        if isinstance(why, ConnectionRefusedError):
            return 0
""" + FAILED),
    ("atoi-of-the-port", "trailing-letters", """def port(word):
""", """def port(word):
    if word == "2021x":
        sys.exit(0)
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
    ("crashes-at-an-empty-table", "empty-table", LINES, "    data[0]\n" + LINES),
    ("takes-nan", "table-of-nan", """len(words) != 4 or not all(word.removeprefix("-").isdecimal() and len(word) < 20 for word in words)""",
     "len(words) != 4", "[int(word) for word in words]", "[float(word) for word in words]"),
    ("takes-two-tables", "table-twice", SHAPE, "len(lines) < len(STATES) + 2"),
    ("takes-garbage", "garbage-table", LINES, """    if not data.isascii():
        return Table()
""" + LINES),
    ("reads-what-fits", "large-table", "file.read(LARGEST + 1)", """file.read(LARGEST).rstrip(b"\\0")"""),
    ("begins-anew", ALL_DAMAGE, LOADED, """            try:
    """ + LOADED + """            except Damaged:
                table = Table()
"""),
    ("overwrites-damaged-tables", ALL_DAMAGE, LOADED, """            try:
    """ + LOADED + """            except Damaged:
                write_table(args.table, Table())
                raise
"""),
    ("status-0-at-damage", ALL_DAMAGE, FAILED, """        if isinstance(why, Damaged):
            return 0
""" + FAILED),
])
