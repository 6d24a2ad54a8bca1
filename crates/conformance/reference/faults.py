"""What the reference programs do wrong on purpose, one thing at a time: `dealer.py --fault always-wins 2021 10`.

The tester must find each of these faults, and say it with exactly the rules that stand here. The programs themselves stay as
they should be read: a fault replaces one of their functions. `crates/conformance/tests/references.rs` runs all of them.
"""

import os
import random
import signal
import sys
import time

# The faults of each program: a name, the rules that it breaks, and what replaces functions of the program.
FAULTS = {}


def fault(program, name, *rules):
    """Adds a fault. What it decorates is called with the names of the program."""

    def add(commit):
        FAULTS.setdefault(program, {})[name] = (rules, commit)
        return commit

    return add


def commit(program, name, names):
    """Makes a program commit a fault."""
    FAULTS[program][name][1](names)


def die_of(signal_number):
    """What a write behind the end of a buffer does."""
    signal.signal(signal_number, signal.SIG_DFL)
    os.kill(os.getpid(), signal_number)


# ---- Dealers ---------------------------------------------------------------------------------------------------------


@fault("dealer", "always-wins", "odds")
def _(names):
    """Everybody who is not bust wins. Some total of a dealer explains each round."""
    names["verdict"] = lambda hand, dealer: "BUST" if names["total"](hand) > 21 else "WIN"


@fault("dealer", "hits-soft-17", "soft-17")
def _(names):
    names["dealer_draws"] = lambda hand: names["total"](hand) < 17 or names["points"](hand) == (17, True)


@fault("dealer", "biased-shuffle", "uniform")
def _(names):
    """Swaps each position with any position, as the course's own dealers do, and deals from the front."""

    def shuffled_deck():
        deck = list(range(1, 53))
        for position in range(52):
            other = random.randrange(52)
            deck[position], deck[other] = deck[other], deck[position]
        return deck[::-1]

    names["shuffled_deck"] = shuffled_deck


@fault("dealer", "reseeded-by-the-second", "shuffled")
def _(names):
    """Seeds the generator for each shuffle. The pause stands for those that dealers make between messages."""

    def shuffled_deck():
        time.sleep(0.4)
        random.seed(int(time.time()) ^ os.getpid())
        deck = list(range(1, 53))
        random.shuffle(deck)
        return deck

    names["shuffled_deck"] = shuffled_deck


@fault("dealer", "crashes-at-300-bytes", "no-crash", "others")
def _(names):
    """Copies a message into a buffer without a look at its length."""
    read = names["Line"].read

    def careless(line):
        read(line)
        if len(line.bytes.partition(b"\0")[0]) > 256:
            die_of(signal.SIGSEGV)

    names["Line"].read = careless


@fault("dealer", "dies-when-a-player-leaves", "no-crash", "others")
def _(names):
    """Leaves SIGPIPE as it is."""
    read = names["Line"].read

    def careless(line):
        try:
            read(line)
        except names["Violation"]:
            die_of(signal.SIGPIPE)

    names["Line"].read = careless


@fault("dealer", "one-read-one-message", "pieces")
def _(names):
    """Takes what one read returns for one message."""
    names["Line"].message = lambda line: (line.bytes.rstrip(b"\0"), setattr(line, "bytes", b""))[0] if line.bytes else None


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


# ---- Players ---------------------------------------------------------------------------------------------------------


@fault("player", "crashes-at-300-bytes", "no-crash")
def _(names):
    messages = names["messages"]

    def careless(connection):
        try:
            yield from messages(connection)
        except names["Violation"] as why:
            if "zero byte" in str(why):
                die_of(signal.SIGSEGV)
            raise

    names["messages"] = careless


@fault("player", "no-lose", "lose")
def _(names):
    """Knows only the spelling of the course."""
    del names["Player"].REWARDS["LOSE"]


@fault("player", "uncaught-error", "no-crash")
def _(names):
    """The exit status is not 0 after a card that does not exist, and yet this is no decent end."""
    known = names["Player"].hear

    def careless(player, text):
        if text.startswith("CARD "):
            assert names["VALUES"][text[5:]]
        return known(player, text)

    names["Player"].hear = careless


# ---- Servers of nuggets ----------------------------------------------------------------------------------------------


@fault("nuggets-server", "sight-by-floats", "memory-is-bare")
def _(names):
    """Computes a line as slope and offset. What is exactly on a gridpoint is then sometimes a little beside it."""

    def crossings(start, end):
        (row, column), (last, aim) = start, end
        if row != last:
            slope = (aim - column) / (last - row)
            offset = column - slope * row
            step = 1 if last > row else -1
            for between in range(row + step, last, step):
                at = slope * between + offset
                yield between, int(at // 1), at == at // 1

    names["crossings"] = crossings


@fault("nuggets-server", "no-tab-in-names", "names")
def _(names):
    """Knows isgraph and the space, and forgets that isblank is true for a tab."""
    clean = names["clean"]
    names["clean"] = lambda name: clean(name).replace("\t", "_")


@fault("nuggets-server", "quitters-come-back", "no-return")
def _(names):
    """Lets in again who has quit."""
    player_at = names["Server"].player_at

    def lenient(server, address):
        player = player_at(server, address)
        return player if player and player.plays else None

    names["Server"].player_at = lenient


@fault("nuggets-server", "no-last-gold", "last-gold")
def _(names):
    """Ends the game before anybody is told of the last nugget."""
    send_gold = names["Server"].send_gold

    def silent(server, address, player, found=0):
        if server.game.piles:
            send_gold(server, address, player, found)

    names["Server"].send_gold = silent


@fault("nuggets-server", "crashes-at-long-names", "keeps-running")
def _(names):
    """Copies a name without a look at its length."""
    clean = names["clean"]
    names["clean"] = lambda name: die_of(signal.SIGSEGV) if len(name) > 500 else clean(name)


# ---- Clients of nuggets ----------------------------------------------------------------------------------------------


@fault("nuggets-client", "cuts-names", "first-message")
def _(names):
    """Has room for 20 bytes of a name."""
    start = names["Client"].__init__

    def short(client, connection, name, explorer):
        start(client, connection, name[:20] if name is not None else None, explorer)

    names["Client"].__init__ = short


@fault("nuggets-client", "skips-big-messages", "long-quit")
def _(names):
    """Has a buffer that is too small for the table of many players."""
    hear = names["Client"].hear
    names["Client"].hear = lambda client, datagram: hear(client, datagram) if len(datagram) < 1024 else None


@fault("nuggets-client", "joins-for-ever", "joins-once")
def _(names):
    """Sends PLAY every second, also after OK."""
    type_key = names["Client"].hear

    def hear(client, datagram):
        type_key(client, datagram)
        if not hasattr(client, "nagging"):
            client.nagging = nag(client)
            client.nagging.start()

    names["Client"].hear = hear


def nag(client):
    import threading

    def run():
        while client.over is None:
            time.sleep(1)
            client.send(client.greeting)

    return threading.Thread(target=run, daemon=True)


# ---- Servers of robots -----------------------------------------------------------------------------------------------


@fault("robots-server", "drifts", "no-drift")
def _(names):
    """Waits for a whole turn after each turn."""
    tell_turn = names["Server"].tell_turn

    def tell(server, events):
        turn = server.game.turn
        tell_turn(server, events)
        server.began = time.monotonic() - turn * server.setup.turn_duration / 1000

    names["Server"].tell_turn = tell


@fault("robots-server", "no-tcp-nodelay", "no-delay")
def _(names):
    socket = names["socket"]
    start = names["Client"].__init__

    def slow(client, connection, address):
        start(client, connection, address)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 0)

    names["Client"].__init__ = slow


@fault("robots-server", "one-seed-for-all", "draws", "no-seed")
def _(names):
    """Draws the same numbers, whatever the seed is."""
    start = names["Draws"].__init__
    names["Draws"].__init__ = lambda draws, seed: start(draws, 2022)


@fault("robots-server", "seed-is-required", "no-seed")
def _(names):
    if not {"-s", "--seed", "-h"} & set(sys.argv):
        sys.exit("robots_server.py: the option -s is required")


# ---- Clients of robots -----------------------------------------------------------------------------------------------


@fault("robots-client", "cuts-names", "join")
def _(names):
    """Has room for 50 bytes of a name."""
    start = names["Client"].__init__
    names["Client"].__init__ = lambda client, server, inputs, gui, name: start(client, server, inputs, gui, name[:50])


@fault("robots-client", "skips-big-messages", "big-turn")
def _(names):
    """Draws nothing of what is longer than its buffer."""
    show = names["Client"].show
    names["Client"].show = lambda client, picture: show(client, picture) if len(picture) < 30_000 else None


# They need what stands above.
import mastermind_faults  # noqa: E402, F401
import nuggets_faults  # noqa: E402, F401
import robots_faults  # noqa: E402, F401
