#!/usr/bin/env python3
"""The text game of mastermind, written from docs/mastermind.md alone.

    python3 mastermind_play.py

It reads line by line, so that a program can play through pipes. At the end of the input it exits with status 0.
"""

import argparse
import random
import sys

TURNS = 10
COLOURS = "12345678"
TAKES = {1: 2, 2: 3}  # turns that each lifeline takes, including the current one


def draw_code(length, repeats, dice):
    return "".join(dice.choices(COLOURS, k=length) if repeats else dice.sample(COLOURS, length))


def feedback(code, guess):
    """Red: digits in the right place. White: further digits of the code in a wrong place."""
    red = sum(one == other for one, other in zip(code, guess))
    common = sum(min(code.count(digit), guess.count(digit)) for digit in set(guess))
    return red, common - red


def read_answer(prompt):
    print(prompt, end="", flush=True)
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    return line.strip()


def read_length():
    while True:
        answer = read_answer("How long is the code, from 4 to 8? ")
        if answer in list("45678"):
            return int(answer)
        print(f"'{answer}' is no length; type a number from 4 to 8.")


def read_yes(question):
    while True:
        answer = read_answer(f"{question} YES or NO? ").lower()
        if answer in ("yes", "no"):
            return answer == "yes"
        print(f"'{answer}' is neither YES nor NO.")


class Game:
    def __init__(self, length, repeats, dice):
        self.code = draw_code(length, repeats, dice)
        self.dice = dice
        self.shown = ["*"] * length  # digits revealed by the second lifeline
        self.turn = 1
        self.used = False

    def can_use(self, which):
        """A game has one lifeline, which must leave a turn for a guess."""
        return not self.used and self.turn + TAKES[which] <= TURNS

    def show(self):
        print(f"Turn #: {self.turn}")
        for which in TAKES:
            print(f"lifeline#{which}: {'AVAILABLE' if self.can_use(which) else 'USED UP'}")
        print(f"Code  : {''.join(self.shown)}")

    def lifeline(self, which):
        if not self.can_use(which):
            print(f"You cannot use lifeline#{which} now.")
            return
        print(f"Here is your lifeline#{which}, for {TAKES[which]} turns.")
        place = self.dice.randrange(len(self.code))
        if which == 1:
            print(f"The code has a {self.code[place]} in it.")
        else:
            print(f"The code has a {self.code[place]} at position {place + 1}.")
            self.shown[place] = self.code[place]
        self.used = True
        self.turn += TAKES[which]

    def play(self):
        while self.turn <= TURNS:
            self.show()
            answer = read_answer("Guess : ")
            if answer.lower() in ("lifeline#1", "lifeline#2"):
                self.lifeline(int(answer[-1]))
            elif len(answer) == len(self.code) and all(digit in COLOURS for digit in answer):
                red, white = feedback(self.code, answer)
                if red == len(self.code):
                    print("You have found it. I must have been careless.")
                    return
                print(f"Red: {red}\nWhite: {white}")
                self.turn += 1
            else:
                print(f"Type {len(self.code)} digits from 1 to 8, or lifeline#1 or lifeline#2.")
        print(f"You lose, as expected. Code: {self.code}")


def main():
    parser = argparse.ArgumentParser(description="Plays mastermind line by line.")
    parser.parse_args()
    dice = random.SystemRandom()
    try:
        while True:
            length = read_length()
            Game(length, read_yes("May a digit occur twice?"), dice).play()
            if not read_yes("Another game?"):
                return 0
    except (EOFError, KeyboardInterrupt):
        print()
        return 0


if __name__ == "__main__":
    sys.exit(main())
