"""Deliberate faults of the reference programs, one at a time: `dealer.py --fault always-wins 2021 10`.

The tester must detect each fault with exactly the rules listed here. The programs themselves remain readable examples: a
fault replaces their functions or text. `crates/conformance/tests/kit/references.rs` runs all faults.
"""

import os
import random
import signal
import sys
import time

# The faults of each program: a name, the rules that it breaks, and the replacement for functions of the program.
FAULTS = {}


def fault(program, name, *rules):
    """Adds a fault. The decorated function receives the names of the program."""

    def add(commit):
        FAULTS.setdefault(program, {})[name] = (rules, commit)
        return commit

    return add


def commit(program, name, names):
    """Applies a fault to a program."""
    FAULTS[program][name][1](names)


def begin(program, names):
    """Removes `--fault NAME` from the command line and applies that fault to the program from its start."""
    at = sys.argv.index("--fault")
    name = sys.argv[at + 1]
    del sys.argv[at:at + 2]
    commit(program, name, names)


def die_of(signal_number):
    """Crashes like a write past the end of a buffer."""
    signal.signal(signal_number, signal.SIG_DFL)
    os.kill(os.getpid(), signal_number)


def rewrite(names, pairs):
    """Redefines everything in the program with the texts replaced."""
    with open(sys.argv[0], encoding="utf-8") as file:
        source = file.read()
    for right, wrong in pairs:
        if source.count(right) != 1:
            sys.exit(f"'{right}' does not stand in the program, or not once")
        source = source.replace(right, wrong)
    # The program's main already runs.
    own, names["__name__"] = names["__name__"], "faulty"
    exec(compile(source, sys.argv[0], "exec"), names)
    names["__name__"] = own


def faulty(program, rows):
    for name, rules, *texts in rows:
        pairs = list(zip(texts[::2], texts[1::2]))
        fault(program, name, *rules.split())(lambda names, pairs=pairs: rewrite(names, pairs))


# ---- Servers of nuggets ----------------------------------------------------------------------------------------------


@fault("nuggets-server", "sight-by-floats", "sight")
def _(names):
    """Computes a line as slope and offset, which is sometimes slightly off at exact gridpoints."""

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
    """Accepts isgraph and the space, but not a tab, for which isblank is true."""
    clean = names["clean"]
    names["clean"] = lambda name: clean(name).replace("\t", "_")


@fault("nuggets-server", "quitters-come-back", "no-return")
def _(names):
    """Accepts a player who has quit again."""
    player_at = names["Server"].player_at

    def lenient(server, address):
        player = player_at(server, address)
        return player if player and player.plays else None

    names["Server"].player_at = lenient


@fault("nuggets-server", "no-last-gold", "last-gold")
def _(names):
    """Ends the game before it reports the last nugget to the clients."""
    send_gold = names["Server"].send_gold

    def silent(server, address, player, found=0):
        if server.game.piles:
            send_gold(server, address, player, found)

    names["Server"].send_gold = silent


@fault("nuggets-server", "crashes-at-long-names", "name-length")
def _(names):
    """Copies a name without checking its length."""
    clean = names["clean"]
    names["clean"] = lambda name: die_of(signal.SIGSEGV) if len(name) > 100 else clean(name)


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
    """Draws the same numbers for every seed."""
    start = names["Draws"].__init__
    names["Draws"].__init__ = lambda draws, seed: start(draws, 2022)


@fault("robots-server", "seed-is-required", "no-seed")
def _(names):
    if not {"-s", "--seed", "-h"} & set(sys.argv):
        sys.exit("robots_server.py: the option -s is required")


# The faults of the other programs use the functions above.
import client_faults  # noqa: E402, F401
import dealer_faults  # noqa: E402, F401
import dealer_talk_faults  # noqa: E402, F401
import mastermind_faults  # noqa: E402, F401
import nuggets_faults  # noqa: E402, F401
import player_faults  # noqa: E402, F401
import robots_client_faults  # noqa: E402, F401
import robots_faults  # noqa: E402, F401
