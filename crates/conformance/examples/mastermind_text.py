#!/usr/bin/env python3
"""The mastermind text game. docs/mastermind.md#the-dialogue defines its output, and the words around it are up to you."""

import random
import sys

COSTS = {1: 2, 2: 3}  # turns that each lifeline takes


def ask(prompt):
    print(prompt, end="", flush=True)  # buffered output is not visible
    line = sys.stdin.readline()
    return line.strip() if line else sys.exit(0)


def ask_yes(prompt):
    while (answer := ask(prompt + " YES or NO? ").lower()) not in ("yes", "no"):
        print("That is neither YES nor NO.")
    return answer == "yes"


def feedback(code, guess):
    """Counts exact matches first. Then each remaining digit of the code matches at most one of the guess."""
    red = sum(map(str.__eq__, code, guess))
    return red, sum(min(code.count(digit), guess.count(digit)) for digit in set(guess)) - red


def game():
    while (length := ask("How long is the code, from 4 to 8? ")) not in list("45678"):
        print("The length is a whole number from 4 to 8.")
    length = int(length)
    draw = random.choices if ask_yes("May digits repeat?") else random.sample
    code = "".join(draw("12345678", k=length))
    turn, used, shown = 1, False, ["*"] * length
    while turn <= 10:
        granted = {which: not used and turn + cost <= 10 for which, cost in COSTS.items()}
        print(f"Turn #: {turn}")
        for which in COSTS:
            print(f"lifeline#{which}: {'AVAILABLE' if granted[which] else 'USED UP'}")
        print("Code  :", "".join(shown))
        answer = ask("Guess : ").lower()
        if answer in ("lifeline#1", "lifeline#2"):
            which, place = int(answer[-1]), random.randrange(length)
            if not granted[which]:
                print(f"There is no lifeline#{which} now.")
                continue
            print(f"Your lifeline#{which}:")
            print(f"the code has a {code[place]}" + (f" at position {place + 1}." if which == 2 else "."))
            if which == 2:
                shown[place] = code[place]
            turn, used = turn + COSTS[which], True
        elif len(answer) == length and set(answer) <= set("12345678"):
            red, white = feedback(code, answer)
            print(f"Red: {red}\nWhite: {white}")
            if red == length:
                return print("You have found it.")
            turn += 1
        else:
            print(f"Type {length} digits from 1 to 8, or lifeline#1 or lifeline#2.")
    print("You lose. Code:", code)


game()
while ask_yes("Another game?"):
    game()
