"""Deliberate faults of the reference dealer in messages and in handling misbehaving players; see faults.py."""

import os
import signal
import sys
import time

from faults import die_of, fault

# ---- Dealers: messages -----------------------------------------------------------------------------------------------


def says(name, *rules):
    """Sends other messages, given the seat's line, the text, and the function that sends it."""

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


@says("welcomes", "grammar")
def _(line, text, say):
    """Sends an extra message before each round."""
    if text == "BEGIN":
        say("WELCOME to the next round")
    say(text)


@says("shows-the-hidden-card", "deal")
def _(line, text, say):
    """Sends DEALER twice."""
    say(text)
    if text.startswith("DEALER"):
        say("DEALER Two of Hearts")


@says("no-begin", "round-begins")
def _(line, text, say):
    if text != "BEGIN":
        say(text)


@says("no-quit", "quit")
def _(line, text, say):
    """Closes the connection after the last RESULT."""
    if text != "QUIT":
        say(text)


@says("score-after-quit", "nothing-after-quit", "offender")
def _(line, text, say):
    say(text)
    if text == "QUIT":
        say("RESULT WIN")


@fault("dealer", "one-round-more", "rounds")
def _(names):
    play = names["play"]
    names["play"] = lambda listener, rounds, players: play(listener, rounds + 1, players)


@fault("dealer", "slow-start")
def _(names):
    """Takes three seconds before it listens, which is allowed."""
    play, main = names["socket"].create_server, time.sleep

    def slow(*arguments, **options):
        main(3)
        return play(*arguments, **options)

    names["socket"].create_server = slow


@fault("dealer", "ends-after-two-rounds", "rounds")
def _(names):
    """Ends in the middle of a game."""
    play_round, played = names["play_round"], [0]

    def twice(seats):
        if played[0] == 2:
            sys.exit(1)
        played[0] += 1
        return play_round(seats)

    names["play_round"] = twice


@fault("dealer", "greets", "speaks-second", "bad-join", "waits-for-all")
def _(names):
    """Sends BEGIN on each connection instead of at the start of the round."""
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
    """Sends BEGIN to each player immediately when it joins."""
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
    """Sends each drawn card also to players who have finished."""
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
    """Sends RESULT BUST immediately after a bust."""
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
    """Rejects some names."""

    def commit(names):
        name_in = names["name_in"]

        def strict(text):
            joined = name_in(text)
            if is_refused(joined):
                raise names["Violation"](f"{joined} is no name")
            return joined

        names["name_in"] = strict

    fault("dealer", name, rule)(commit)


@fault("dealer", "reads-30-bytes-of-a-join", "long-name")
def _(names):
    """Uses the rest of a longer JOIN as the first answer."""
    message, ask = names["Line"].message, names["Seat"].ask

    def first(line):
        text = message(line)
        if text and text.startswith(b"JOIN") and len(text) > 30:
            line.has_rest = True
            return text[:30]
        return text

    def answered(seat):
        if getattr(seat.line, "has_rest", False):
            seat.line.has_rest = False
            seat.line.say("DECISION")
            return False
        return ask(seat)

    names["Line"].message, names["Seat"].ask = first, answered


joins("no-long-names", "long-name", lambda name: len(name) > 32)
joins("no-short-names", "short-name", lambda name: len(name) < 2)
joins("no-odd-names", "odd-name", lambda name: not all(letter.isalnum() or letter in "-." for letter in name))
names_so_far = []
joins("no-twins", "same-name", lambda name: name in names_so_far or names_so_far.append(name))

# ---- Dealers: trouble ------------------------------------------------------------------------------------------------


def ends_at(name, *rules):
    """Ends the whole game if the reason for removing a player contains this text."""

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
    """Does not ignore SIGPIPE when RESULT or BEGIN has no receiver."""
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
    """Ends when another client connects."""
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
    """Waits only briefly, like the course's own dealers with 26 ms."""
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
    """Checks whether the player is still connected before it sends the result."""
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


@fault("dealer", "no-reuse", "restart")
def _(names):
    """Does not set SO_REUSEADDR."""
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


@fault("dealer", "one-read-one-message", "pieces")
def _(names):
    """Treats the bytes of each read as one message."""
    names["Line"].message = lambda line: (line.bytes.rstrip(b"\0"), setattr(line, "bytes", b""))[0] if line.bytes else None


@fault("dealer", "waits-for-nobody", "alone")
def _(names):
    play = names["play"]

    def stays(*arguments):
        status = play(*arguments)
        if status:
            time.sleep(600)
        return status

    names["play"] = stays
