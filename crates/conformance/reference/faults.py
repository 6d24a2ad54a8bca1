"""Deliberate faults of the reference programs, one at a time: `faults.py dealer always-wins dealer.py 2021 10`.

The tester must detect each fault with exactly the rules listed here. The programs themselves remain readable examples: a
fault replaces parts of their text. `crates/conformance/tests/kit/references.rs` runs all faults.
"""

import os
import signal
import sys

# The faults of each program: the rules that the fault breaks, and the replacements in the text of the program.
FAULTS = {}


def faulty(program, *rows):
    """Adds faults. A row has a name, the rules that the fault breaks, and pairs of program text and its replacement.

    In a replacement, @@ stands for the replaced text.
    """
    faults = FAULTS.setdefault(program, {})
    for name, rules, *texts in rows:
        faults[name] = (rules.split(), [(right, wrong.replace("@@", right)) for right, wrong in zip(texts[::2], texts[1::2])])


def run(program, name, path, *arguments):
    """Runs the program at this path with the fault."""
    with open(path, encoding="utf-8") as file:
        source = file.read()
    for right, wrong in FAULTS[program][name][1]:
        if source.count(right) != 1:
            sys.exit(f"'{right}' is not in the program, or more than once")
        source = source.replace(right, wrong)
    sys.argv = [path, *arguments]
    exec(compile(source, path, "exec"), {"__name__": "__main__"})


def die_of(number):
    """Crashes, for example like a write past the end of a buffer."""
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


# Pieces of program text that rows of several programs use.
CRASH = '__import__("faults").die_of(11)'
HANG = '__import__("time").sleep(1000)'
DICE = '__import__("random").Random'
PARSED = "args = parser.parse_args()"
SILENT = "sys.stderr = open('/dev/null', 'w')\n    @@"

import blackjack_faults  # noqa: E402, F401
import mastermind_faults  # noqa: E402, F401
import nuggets_faults  # noqa: E402, F401
import robots_faults  # noqa: E402, F401

if __name__ == "__main__":
    # The faults are in the module that the imports above have loaded.
    import faults

    faults.run(*sys.argv[1:])
