//! What a player must do.

use crate::rule::rules;

rules! {
    JOINS: Protocol 2 "joins" in "protocols/blackjack.md#messages",
        "The player connects and sends JOIN with its name, ended by one NUL, before anything else",
        "Send the zero byte too: it belongs to the message, and strlen does not count it.";
    ANSWERS: Protocol 2 "answers" in "protocols/blackjack.md#messages",
        "Each DECISION is answered by exactly HIT or STAND, ended by one NUL",
        "No newline, no lower case, and exactly one zero byte.";
    QUIET: Protocol 1 "quiet" in "protocols/blackjack.md#messages",
        "The player sends nothing that it is not asked for: one answer for each DECISION",
        "Answer DECISION alone: CARD, DEALER and RESULT are only told.";
    NAMES: Protocol 1 "names" in "protocols/blackjack.md#cards-and-rules",
        "The player understands the names of all 52 cards",
        "A card is 'rank of suit' with words: Ten, Jack, Queen, King, Ace.";
    PIECES: Protocol 2 "pieces" in "protocols/blackjack.md#hints",
        "Messages count the same when they arrive byte by byte",
        "A read is not a message: collect bytes until the zero byte.";
    MERGED: Protocol 2 "merged" in "protocols/blackjack.md#hints",
        "Messages count the same when several arrive together, RESULT and the next round among them",
        "A read is not a message: keep what is behind the zero byte for the next message.";
    LOSE: Protocol 1 "lose" in "protocols/blackjack.md#messages",
        "LOSE is understood as another spelling of LOOSE",
        "Some dealers write LOSE. Accept both.";
    BEGIN_AGAIN: Protocol 1 "begin-again" in "protocols/blackjack.md#hints",
        "BEGIN in the middle of a round drops the hand and begins another",
        "Clear the hand at BEGIN, not at RESULT.";
    QUITS: Protocol 1 "quits" in "protocols/blackjack.md#hints",
        "After QUIT, which may come at any time, the player closes the connection and ends",
        "Look for QUIT wherever a message may come, and leave then.";
    NO_CRASH: Protocol 2 "no-crash" in "protocols/blackjack.md#when-a-peer-does-something-else",
        "Nothing that a dealer sends or does crashes the player",
        "Check the length before you copy into a buffer, and what a parser returns before you use it.";
    EXIT_STATUS: Protocol 1 "exit-status" in "protocols/blackjack.md#hints",
        "After QUIT the player ends with status 0",
        "QUIT is the regular end: return 0 from main.";
    SURVIVES: Arcade 0 "survives" in "protocols/blackjack.md#hints",
        "The player goes on after a card that comes twice and after RESULT without a DECISION",
        "Play with what the dealer says, and do not check the dealer's cards.";
    BAD_MESSAGE: Arcade 0 "bad-message" in "protocols/blackjack.md#when-a-peer-does-something-else",
        "The player ends the connection after a message that is none of the protocol",
        "There is no way to go on after a message that is not understood: close the connection.";
    DEALER_GONE: Arcade 0 "dealer-gone" in "protocols/blackjack.md#when-a-peer-does-something-else",
        "When the connection ends without QUIT, the player ends with another status than 0",
        "A read that gives 0 before QUIT is an error: say so and return 1.";
}
