#!/usr/bin/env python3
"""A mastermind server with a solo room: `mastermind_server.py PORT`.

Lifelines and hints are left to you (docs/protocols/mastermind.md).
"""

import asyncio
import secrets
import sys

seats, games = {}, 0  # the messages about each seat, and the number of games


def tell(line, to=None):
    for writer in [to] if to else list(writers):
        writer.write(line.encode("ascii") + b"\n")


def record(seat, line):
    seats[seat].append(line)
    tell(line)


def begin(seat, length, repeats):
    """Returns the code and the turn."""
    global games
    games += 1
    digits = list("12345678")
    draw = (lambda: secrets.choice(digits)) if repeats else (lambda: digits.pop(secrets.randbelow(len(digits))))
    seats[seat] = seats[seat][:1]
    record(seat, f"GAME {seat} {games} {length} {'yes' if repeats else 'no'}")
    return ["".join(draw() for _ in range(length)), 1]


def feedback(code, guess):
    red = sum(map(str.__eq__, code, guess))
    return red, sum(min(code.count(digit), guess.count(digit)) for digit in set(guess)) - red


async def serve(reader, writer):
    writers.append(writer)
    seat, game = None, None
    tell("ROOM solo 4 8 no", writer)
    for lines in seats.values():
        for line in lines:
            tell(line, writer)
    try:
        while line := await reader.readuntil(b"\n"):
            line = line[:-1].removesuffix(b"\r").decode("latin-1")
            if len(line) > 64:
                raise asyncio.LimitOverrunError("", 0)
            kind, *words = line.split(" ")
            match [kind.upper(), *words]:
                case ["PLAY", name, *_] if seat is None and name:
                    seat = next(seat for seat in range(1, len(seats) + 2) if seat not in seats)
                    name = "".join(letter if " " <= letter <= "~" else "_" for letter in line[5:29])
                    seats[seat] = []
                    tell(f"OK {seat}", writer)
                    record(seat, f"SEAT {seat} {name}")
                    game = begin(seat, 4, False)
                case ["GUESS", guess] if game and len(guess) == len(game[0]) and set(guess) <= set("12345678"):
                    (code, turn), (red, white) = game, feedback(game[0], guess)
                    record(seat, f"ROW {seat} {turn} {guess} {red} {white}")
                    game[1] = turn + 1
                    if red == len(code) or turn == 10:
                        record(seat, f"OVER {seat} {'won' if red == len(code) else 'lost'} {turn} 0 {code}")
                        game = None
                case ["RESIGN"] if game:
                    record(seat, f"OVER {seat} resigned {game[1] - 1} 0 {game[0]}")
                    game = None
                case ["NEW"] if seat and not game:
                    game = begin(seat, 4, False)
                case ["NEW", "4" | "5" | "6" | "7" | "8" as length, "yes" | "no" as repeats] if seat and not game:
                    game = begin(seat, int(length), repeats == "yes")
                case ["QUIT"]:
                    tell("BYE thanks for playing", writer)
                    break
                case _:
                    tell("NO you cannot say that now", writer)
                    continue
            if game:
                tell(f"TURN {game[1]} blocked blocked 0", writer)
    except asyncio.LimitOverrunError:
        tell("BYE a line has at most 64 bytes", writer)
    except (asyncio.IncompleteReadError, OSError):
        pass  # the client has disconnected
    writers.remove(writer)
    writer.close()
    if seats.pop(seat, None):
        tell(f"LEFT {seat}")


async def main():
    await (await asyncio.start_server(serve, None, int(sys.argv[1]), limit=66)).serve_forever()


writers = []
asyncio.run(main())
