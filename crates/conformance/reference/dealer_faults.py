"""Deliberate faults of the reference dealer in cards, rules, and short replacements; see faults.py."""

import random
import secrets
import time

from faults import fault, faulty

# ---- Dealers: cards --------------------------------------------------------------------------------------------------


def shuffled(deck=range(1, 53)):
    deck = list(deck)
    random.SystemRandom().shuffle(deck)
    return deck


def deals(name, *rules):
    """Builds the deck in this way. The last card is dealt first."""

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


# Different numbers in each run.
own = secrets.randbelow(1 << 30)


@deals("reseeded-by-the-second", "shuffled")
def _():
    """Seeds the generator for each shuffle. The pause represents those that dealers make between messages."""
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
    """Shuffles only when too few cards remain for another round."""
    if len(rest) < 30:
        rest[:] = shuffled()
    return rest


@deals("same-cards-in-each-run", "fresh-cards", "seeded")
def _():
    """Does not seed the generator."""
    global generator
    generator = generator or random.Random(1)
    return generator.sample(range(1, 53), 52)


generator = None


@deals("deals-cards-again", "one-deck")
def _():
    """Draws from 52 cards each time."""
    return [secrets.randbelow(52) + 1 for _ in range(52)]


@deals("seeded-by-the-second", "seeded")
def _():
    """Seeds like srand(time(NULL)) at startup, which is good enough unless two dealers start together."""
    global seeded
    seeded = seeded or random.Random(int(time.time()))
    return seeded.sample(range(1, 53), 52)


seeded = None


@fault("dealer", "shows-no-ace", "upcard-uniform")
def _(names):
    """Deals itself another card instead of a visible ace."""
    shuffle = names["shuffled_deck"]

    def shuffled_deck():
        # The upcard is the last card of the deal, after two cards for each seat and the hidden card.
        deck = shuffle()
        at = len(deck) - 1 - (2 * seats[0] + 1)
        other = next((place for place in range(at) if deck[place] % 13 != 1), at)
        if deck[at] % 13 == 1:
            deck[at], deck[other] = deck[other], deck[at]
        return deck

    seats = count_seats(names)
    names["shuffled_deck"] = shuffled_deck


def count_seats(names):
    """Returns a list with the number of seats that play the next round."""
    play_round, seats = names["play_round"], [1]

    def counted(of):
        seats[0] = len(of)
        return play_round(of)

    names["play_round"] = counted
    return seats


@fault("dealer", "draws-no-pictures", "drawn-uniform")
def _(names):
    """Deals no picture to a player that takes a card."""
    play = names["Seat"].play

    class Chosen(list):
        def pop(self, *place):
            at = next((at for at in range(len(self) - 1, -1, -1) if (self[at] - 1) % 13 < 10), len(self) - 1)
            return super().pop(at)

    def chosen(seat, deck):
        better = Chosen(deck)
        play(seat, better)
        # No other player may get the skipped pictures.
        deck[:] = shuffled(better)

    names["Seat"].play = chosen


# ---- Dealers: rules of the game --------------------------------------------------------------------------------------


@fault("dealer", "always-wins", "wins", "pushes")
def _(names):
    """All players who are not bust win. Each round is consistent with some total of the dealer."""
    names["verdict"] = lambda hand, dealer: "BUST" if names["total"](hand) > 21 else "WIN"


def judges(name, *rules):
    """Sends another result, computed from the right one, the total of the hand, and the dealer's cards."""

    def add(change):
        def commit(names):
            verdict = names["verdict"]
            names["verdict"] = lambda hand, dealer: change(verdict(hand, dealer), names["total"](hand), dealer)

        fault("dealer", name, *rules)(commit)
        return change

    return add


@judges("pays-against-an-ace", "upcards")
def _(told, total, dealer):
    """A player wins against an ace."""
    return "WIN" if told != "BUST" and dealer[1] % 13 == 1 else told


@fault("dealer", "hits-soft-17", "soft-17")
def _(names):
    names["dealer_draws"] = lambda hand: names["total"](hand) < 17 or names["points"](hand) == (17, True)


@judges("spares-low-hands", "low-never-ties")
def _(told, total, dealer):
    return "PUSH" if told == "LOOSE" and total < 17 else told


@fault("dealer", "stands-on-16", "fair")
def _(names):
    """The dealer wins a tie at 16, so that only the combination of several results shows the fault."""
    verdict, total = names["verdict"], names["total"]
    names["dealer_draws"] = lambda hand: total(hand) < 16
    names["verdict"] = lambda hand, dealer: "LOOSE" if total(hand) == 16 == total(dealer) else verdict(hand, dealer)


@fault("dealer", "loses-at-21", "21-never-loses")
def _(names):
    """Compares with less-or-equal at 21."""
    verdict = names["verdict"]
    names["verdict"] = lambda hand, dealer: (
        "LOOSE" if names["total"](hand) == names["total"](dealer) == 21 else verdict(hand, dealer)
    )


@fault("dealer", "bust-loses", "bust")
def _(names):
    """The course's template has no BUST."""
    verdict = names["verdict"]
    names["verdict"] = lambda hand, dealer: verdict(hand, dealer).replace("BUST", "LOOSE")


@fault("dealer", "bust-for-a-loss", "result")
def _(names):
    verdict = names["verdict"]
    names["verdict"] = lambda hand, dealer: verdict(hand, dealer).replace("LOOSE", "BUST")


def plays(name, *rules):
    """Plays a player's hand while this condition holds."""

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
    """Treats a hand as bust if it would be with 11 for each ace."""
    verdict = names["verdict"]

    def hard(hand):
        ranks = [(card - 1) % 13 + 1 for card in hand]
        return sum(11 if rank == 1 else min(rank, 10) for rank in ranks)

    def play(seat, deck):
        while hard(seat.hand) <= 21 and seat.ask():
            seat.deal(deck.pop())

    names["Seat"].play = play
    names["verdict"] = lambda hand, dealer: "BUST" if hard(hand) > 21 else verdict(hand, dealer)


# ---- Dealers: the command line ---------------------------------------------------------------------------------------


def lenient(program, name, rule, is_wrong, instead):
    """Accepts some invalid arguments."""

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
SAID = """self.connection.sendall(text.encode("ascii") + b"\\0")"""
TAKEN = """        print(f"cannot listen at port {args.port}: {why}", file=sys.stderr)
        return """

# Each row has the rules that the fault breaks, and pairs of program text and its replacement.
faulty("dealer", [
    ("listens-over-ipv6-only", "listens", """("", args.port), backlog""", """("", args.port), family=socket.AF_INET6, backlog"""),
    ("another-upcard-for-each", "same-upcard", "card_name(dealer[1])", "card_name(dealer[1 - seats.index(seat) % 2])"),
    ("waits-for-one-more", "round-begins", "while len(seats) < count:", "while len(seats) <= count:"),
    ("newline-before-zero", "grammar", SAID, SAID.replace("\\0", "\\n\\0")),
    ("forgets-the-zero", "grammar", SAID, SAID.replace("\\0", "")),
    ("newline-for-zero", "grammar", SAID, SAID.replace("\\0", "\\n")),
    ("takes-queued-answers", "early-answer", """        if select.select([self.line], [], [], 0)[0]:
            self.line.read()
        if self.line.bytes:
            raise Violation(f"{self.line.bytes[:40]!r} came before DECISION")
""", ""),
    ("a-seat-for-each-connection", "bad-join visitor", """                del waiting[line]
                line.close()
""", """                del waiting[line]
                line.close()
                count -= 1
"""),
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
