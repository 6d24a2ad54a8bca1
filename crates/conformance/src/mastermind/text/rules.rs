//! The requirements for the mastermind text game.

use crate::rule::rules;

rules! {
    SHOWN: Advice "shown" in "mastermind.md#the-dialogue",
        "All that is printed is there before an answer is awaited, also through a pipe",
        "Through a pipe, flush the output before you read: what printf prints stays in a buffer there.";
    LENGTHS: Protocol(2, "MP2 User Manual 1, code length") "lengths" in "mastermind.md#the-dialogue",
        "The length is a whole number from 4 to 8; after anything else the game asks again",
        "Read a line, and look at all of it. An empty line is an answer too.";
    BOUNDS: Advice "bounds" in "mastermind.md#the-dialogue",
        "Whoever types another length is told the bounds 4 and 8",
        "Say both numbers in the line that asks again.";
    YES_OR_NO: Protocol(1, "MP2 User Manual 1, repeat") "yes-or-no" in "mastermind.md#the-dialogue",
        "Questions take yes and no in any mixture of small and capital letters; after anything else the game asks again",
        "Compare in small letters, and ask again after anything else. An empty line is not no.";
    TURN_BLOCK: Protocol(2, "MP2 Implementation 1, prompt detailing turn count and hint code") "turn-block" in "mastermind.md#the-dialogue",
        "Each turn shows its number, both lifelines and what is known of the code",
        "Print `Turn #: 1`, `lifeline#1: AVAILABLE`, `lifeline#2: AVAILABLE` and `Code  : ****` before each input.";
    EXACT_LINES: Advice "exact-lines" in "mastermind.md#the-dialogue",
        "A turn begins with the lines Turn #, lifeline#1, lifeline#2 and Code, written exactly",
        "`Turn #: 1`, `lifeline#1: AVAILABLE`, `Code  : ****`, with two blanks behind Code.";
    PROMPT: Protocol(1, "MP2 User Manual 1, prompt for a guess") "prompt" in "mastermind.md#the-dialogue",
        "A prompt with the word Guess asks for each input",
        "Print `Guess : ` before you read. It may end without a line feed. Through a pipe, flush the output after it.";
    ANSWERS: Protocol(3, "MP2 User Manual 1, feedback") "answers" in "mastermind.md#the-dialogue",
        "A guess that is not the code is answered by `Red: ` and `White: ` with their numbers, in the tenth turn too",
        "Print both before you look whether that was the last turn.";
    FEEDBACK: Protocol(4, "MP2 User Manual 1, Red and White") "feedback" in "mastermind.md#the-game",
        "Red and white are those of the code that is told at the end",
        "Each digit of the code counts once, and exact matches count first: for the code 2111, the guess 1222 gets 0 and 2.";
    COUNTS: Protocol(3, "MP2 User Manual 1, ten turns") "turns" in "mastermind.md#the-game",
        "The first turn is 1, a guess takes one, and after the tenth the game is over",
        "Count the turn when it is over. Input that is no guess takes none.";
    LOSS: Protocol(1, "MP2 Implementation 1, loss message") "loss" in "mastermind.md#the-dialogue",
        "After a loss a line with the word Code has the digits of the code",
        "Print the code after the tenth answer, before you ask for another game.";
    WIN: Protocol(2, "MP2 Implementation 1, win") "win" in "mastermind.md#the-dialogue",
        "The right code ends the game",
        "Compare before you count the turn. The tenth guess may be right too.";
    CODES: Protocol(2, "MP2 Implementation 1, randomize a code") "codes" in "mastermind.md#the-game",
        "The code has the length that was chosen, and no digit twice where repeats are refused",
        "Where repeats are refused, draw again what is there already, or shuffle the eight digits.";
    REPEATS: Protocol(1, "MP2 Implementation 1, randomize a code") "repeats" in "mastermind.md#the-game",
        "Where repeats are allowed, codes have some, and guesses may have them always",
        "Draw each digit by itself. A guess is checked for its length and its digits alone.";
    RANDOM: Protocol(1, "MP2 Implementation 1, randomize a code") "random" in "mastermind.md#the-game",
        "Codes differ from game to game, and from one start of the program to the next",
        "Seed the generator once, with something else at each start.";
    INVALID: Protocol(2, "MP2 User Manual 1, loop until a valid input") "invalid" in "mastermind.md#the-dialogue",
        "Input that is neither a guess nor a lifeline takes no turn, and the turn is shown again",
        "Check the number of characters, and that each is one of 1 to 8.";
    SAYS_HOW: Advice "says-how" in "mastermind.md#the-dialogue",
        "A line after such input says what can be typed, lifelines too",
        "Name `lifeline#1` and `lifeline#2` in the line that says what is wrong.";
    LIFELINE_1: Protocol(2, "MP2 User Manual 1, lifeline#1") "lifeline-1" in "mastermind.md#lifelines",
        "lifeline#1 tells a digit of the code without its place, and takes two turns",
        "Draw one of the places, tell its digit, and add two to the turn.";
    LIFELINE_2: Protocol(2, "MP2 User Manual 1, lifeline#2") "lifeline-2" in "mastermind.md#lifelines",
        "lifeline#2 tells a digit and its place, shows it in Code from then on, and takes three turns",
        "Count places from 1, keep what was revealed until the game ends, and add three to the turn.";
    ONE_LIFELINE: Advice "one-lifeline" in "mastermind.md#lifelines",
        "There is one lifeline in a game: after it both are refused, which takes no turn",
        "One flag for both.";
    TOO_LATE: Protocol(1, "MP2 User Manual 1, blocked lifelines") "too-late" in "mastermind.md#lifelines",
        "A lifeline that leaves no turn for a guess is refused; up to a turn before that it is granted",
        "Compare the turn that would follow with ten.";
    AVAILABLE: Advice "available" in "mastermind.md#lifelines",
        "A lifeline is shown as AVAILABLE exactly when it would be granted",
        "Compute the word by the rule that also refuses the lifeline.";
    AGAIN: Protocol(2, "MP2 Implementation 1, play again") "again" in "mastermind.md#the-dialogue",
        "After a game the program asks whether to play another; yes begins anew with the length",
        "Set back the turn, the lifelines and what was revealed.";
    ENDS: Protocol(1, "MP2 Implementation 1, exit") "ends" in "mastermind.md#the-dialogue",
        "After no the program ends with status 0",
        "Return 0 from main. No may be written NO.";
    END_OF_INPUT: Advice "end-of-input" in "mastermind.md#the-dialogue",
        "The end of the input, at any question, ends the program with status 0",
        "Look whether a line came before you use it.";
    TERMINAL: Protocol(1, "MP2 User Manual 1, text interface") "terminal" in "mastermind.md#the-dialogue",
        "At a terminal the game is the same as through a pipe",
        "Do not ask whether standard input is a terminal, or play the same game then.";
    NO_CRASH: Protocol(2, "MP2 User Manual 1, validated input") "no-crash" in "mastermind.md#the-dialogue",
        "Nothing that is typed crashes the program",
        "A line may be long, empty or no text at all: check it before you index into it.";
}
