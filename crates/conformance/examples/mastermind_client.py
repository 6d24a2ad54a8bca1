#!/usr/bin/env python3
"""A mastermind client: `mastermind_client.py NAME HOST PORT [GAMES]`.

It guesses a code that fits all answers.
"""

import itertools
import socket
import sys


def feedback(code, guess):
    red = sum(map(str.__eq__, code, guess))
    return red, sum(min(code.count(digit), guess.count(digit)) for digit in set(guess)) - red


def lines(connection):
    """A read may return a part of a message, or several."""
    arrived = b""
    while more := connection.recv(4096):
        arrived += more
        *complete, arrived = arrived.split(b"\n")
        yield from (line.removesuffix(b"\r").decode("latin-1") for line in complete)
    sys.exit("the server has gone")


def main(name, host, port, games=1):
    connection = socket.create_connection((host, int(port)))
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    games, colours, seat, possible = int(games), None, None, []

    def say(line):
        connection.sendall(line.encode() + b"\n")

    for line in lines(connection):
        match line.split(" "):
            case ["ROOM", _, _, count, *_]:
                if colours is None:
                    say(f"PLAY {name}")
                colours = int(count)
            case ["OK", number]:
                seat = number
            case ["GAME", whose, _, length, repeats] if whose == seat:
                digits = "12345678"[:colours]
                codes = itertools.product(digits, repeat=int(length)) if repeats == "yes" else \
                    itertools.permutations(digits, int(length))
                possible = ["".join(code) for code in codes]
            case ["ROW", whose, _, guess, red, white] if whose == seat:
                answer = (int(red), int(white))
                possible = [code for code in possible if feedback(code, guess) == answer]
            case ["TURN", *_] if possible:
                say(f"GUESS {possible[len(possible) // 2]}")
            case ["OVER", whose, how, turns, *_] if whose == seat:
                print(how, "after", turns, "turns")
                games -= 1
                say("NEW" if games > 0 else "QUIT")
            case ["NO", *_]:
                sys.exit(f"the server refuses: {line}")
            case ["BYE", *_]:
                return


try:
    main(*sys.argv[1:])
except ValueError as why:
    sys.exit(f"a message with a wrong number: {why}")
