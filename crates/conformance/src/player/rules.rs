//! The requirements for a player.

use crate::rule::rules;

rules! {
    JOINS: Protocol(3, "Requirements, player 1, 2") "joins" in "protocols/blackjack.md#messages",
        "The player connects and sends JOIN with the name that it was given, before anything else",
        "Take name, host and port from the command line, connect, and send JOIN at once: the dealer waits for it.";
    GRAMMAR: Protocol(2, "Requirements, messages: JOIN, HIT or STAND") "grammar" in "protocols/blackjack.md#messages",
        "Every message is JOIN, HIT or STAND, spelled exactly, with one NUL at its end",
        "Send the zero byte too: it belongs to the message, and strlen does not count it. No newline, no lower case.";
    LONG_NAME: Advice "long-name" in "protocols/blackjack.md#messages",
        "A name of 64 characters is sent whole",
        "JOIN and a name take up to 69 bytes and the zero byte.";
    SHORT_NAME: Advice "short-name" in "protocols/blackjack.md#messages",
        "A name of one character is sent as it is",
        "A name has 1 to 64 characters.";
    ODD_NAME: Advice "odd-name" in "protocols/blackjack.md#messages",
        "A name is sent as it was given, whatever printable characters it has",
        "Send the name as a string of its own, not as a format of printf.";
    ONE_CONNECTION: Protocol(1, "Requirements, player 2") "one-connection" in "protocols/blackjack.md#messages",
        "The player opens one connection",
        "A second connection would take another seat: keep the first one.";
    HOST_NAME: Advice "host-name" in "protocols/blackjack.md#the-command-lines",
        "The host may be a name, as localhost",
        "inet_addr knows numbers only: use getaddrinfo, and try each address that it gives.";
    ANSWERS: Protocol(4, "Requirements, messages: HIT or STAND") "answers" in "protocols/blackjack.md#messages",
        "Each DECISION is answered by HIT or STAND",
        "Answer whenever DECISION comes, also after a card that you took.";
    QUIET: Protocol(2, "Requirements, messages: DECISION") "quiet" in "protocols/blackjack.md#messages",
        "The player sends nothing that it is not asked for: one answer for each DECISION",
        "Answer DECISION alone: CARD, DEALER and RESULT are only told.";
    NAMES: Protocol(2, "Requirements, messages: CARD") "names" in "protocols/blackjack.md#cards-and-rules",
        "The player understands the names of all 52 cards",
        "A card is 'rank of suit' with words: Ten, Jack, Queen, King, Ace.";
    UPCARDS: Protocol(2, "Requirements, messages: DEALER") "upcards" in "protocols/blackjack.md#cards-and-rules",
        "The player understands all 52 cards as the dealer's card",
        "DEALER has the name of a card behind it, as CARD has.";
    NATURAL: Protocol(1, "Requirements, messages: HIT or STAND") "natural" in "protocols/blackjack.md#messages",
        "The player answers with two cards that make 21",
        "There is no blackjack in this game: the dealer asks as with any other hand.";
    TWO_ACES: Protocol(1, "Implementation Spec: hand_getValue") "two-aces" in "protocols/blackjack.md#cards-and-rules",
        "The player answers with two aces, which are 12",
        "While the total is above 21 and an ace counts 11, count it 1. A table may have no row for 22.";
    RESULTS: Protocol(3, "Requirements, messages: RESULT") "results" in "protocols/blackjack.md#messages",
        "The player goes on after each of WIN, PUSH and LOOSE",
        "Read all four words, and wait for BEGIN or QUIT then.";
    MANY_ROUNDS: Protocol(6, "Requirements, player 3") "many-rounds" in "protocols/blackjack.md#messages",
        "The player plays 100 rounds as it plays one",
        "Release what a round needs, and keep no list that ends.";
    PATIENT: Protocol(1, "Requirements, messages: DECISION") "patient" in "protocols/blackjack.md#hints",
        "The player waits for a dealer that pauses",
        "A read may take as long as the dealer does, with other players to be asked.";
    PIECES: Advice "pieces" in "protocols/blackjack.md#hints",
        "Messages count the same when they arrive byte by byte",
        "A read is not a message: collect bytes until the zero byte.";
    MERGED: Advice "merged" in "protocols/blackjack.md#hints",
        "Messages count the same when several arrive together, RESULT and the next round among them",
        "A read is not a message: keep what is behind the zero byte for the next message.";
    STRADDLING: Advice "straddling" in "protocols/blackjack.md#hints",
        "Messages count the same when a segment has the end of one and the beginning of the next",
        "Keep what is behind the last zero byte until the rest has come.";
    LOSE: Advice "lose" in "protocols/blackjack.md#messages",
        "LOSE is understood as another spelling of LOOSE",
        "Some dealers write LOSE. Accept both.";
    BEGIN_AGAIN: Protocol(1, "Requirements, messages: BEGIN") "begin-again" in "protocols/blackjack.md#hints",
        "BEGIN in the middle of a round drops the hand and begins another",
        "Clear the hand at BEGIN, not at RESULT.";
    QUITS: Protocol(2, "Requirements, messages: QUIT") "quits" in "protocols/blackjack.md#hints",
        "After QUIT the player closes the connection",
        "Look for QUIT wherever a message may come, and leave then.";
    QUIT_AT_ONCE: Advice "quit-at-once" in "protocols/blackjack.md#hints",
        "The player ends when QUIT comes before any round",
        "Look for QUIT where BEGIN may come.";
    QUIT_IN_ROUND: Advice "quit-in-round" in "protocols/blackjack.md#hints",
        "The player ends when QUIT comes in the middle of a round",
        "Look for QUIT wherever a message may come.";
    QUIT_AND_CLOSE: Protocol(1, "Requirements, messages: QUIT") "quit-and-close" in "protocols/blackjack.md#messages",
        "QUIT counts when the connection is closed with it, and the exit status is 0",
        "Read what has come before you look whether the connection has ended.";
    ENDS: Protocol(1, "Requirements, messages: QUIT") "ends" in "protocols/blackjack.md#hints",
        "The program ends after QUIT",
        "End every thread, and wait for no key.";
    NO_CRASH: Protocol(4, "Implementation Spec: Error handling and recovery") "no-crash" in "protocols/blackjack.md#when-a-peer-does-something-else",
        "Nothing that a dealer sends or does crashes the player",
        "Check the length before you copy into a buffer, and what a parser returns before you use it.";
    EXIT_STATUS: Protocol(1, "Implementation Spec: Play") "exit-status" in "protocols/blackjack.md#hints",
        "After QUIT the player ends with status 0",
        "QUIT is the regular end: return 0 from main.";
    MISSING: Protocol(2, "Requirements, player 1") "missing-arguments" in "protocols/blackjack.md#the-command-lines",
        "Without arguments, or without the port, the player ends with a status other than 0",
        "Look at argc before you use argv.";
    PORT_WORD: Protocol(1, "Implementation Spec: Error handling and recovery") "port-word" in "protocols/blackjack.md#the-command-lines",
        "With a port that is no number the player ends with a status other than 0",
        "atoi makes 0 of a word that is no number. strtol tells where the number ends.";
    PORT_RANGE: Protocol(1, "Implementation Spec: Error handling and recovery") "port-too-large" in "protocols/blackjack.md#the-command-lines",
        "With a port above 65535 the player ends with a status other than 0",
        "A port has 16 bits: htons cuts off what is more, and you connect to somebody else.";
    NO_DEALER: Protocol(2, "Implementation Spec: Error handling and recovery") "no-dealer" in "protocols/blackjack.md#the-command-lines",
        "When nobody listens at the port, the player ends with a status other than 0",
        "Look at what connect returns.";
    SURVIVES: Advice "survives" in "protocols/blackjack.md#hints",
        "The player goes on after a card that comes twice and after RESULT without a DECISION",
        "Play with what the dealer says, and do not check the dealer's cards.";
    BAD_MESSAGE: Advice "bad-message" in "protocols/blackjack.md#when-a-peer-does-something-else",
        "The player ends the connection after a word that the protocol does not have",
        "There is no way to go on after a message that is not understood: close the connection.";
    DEALER_GONE: Advice "dealer-gone" in "protocols/blackjack.md#when-a-peer-does-something-else",
        "When the connection ends without QUIT, the player ends with another status than 0",
        "A read that gives 0 before QUIT is an error: say so and return 1.";
    BAD_CARD: Advice "bad-card" in "protocols/blackjack.md#when-a-peer-does-something-else",
        "The player ends the connection after a card that does not exist",
        "Compare both words with those of the table.";
    TOO_LONG: Advice "too-long" in "protocols/blackjack.md#when-a-peer-does-something-else",
        "The player ends the connection after more than 256 bytes without a zero byte",
        "A message has at most 256 bytes: without a bound a dealer can fill your memory.";
    GONE_EARLY: Advice "gone-early" in "protocols/blackjack.md#when-a-peer-does-something-else",
        "When the connection ends before the first round, the player ends with another status than 0",
        "A read that gives 0 before QUIT is an error also when nothing was dealt.";
    RESET: Advice "reset" in "protocols/blackjack.md#when-a-peer-does-something-else",
        "When the connection is reset, the player ends with another status than 0",
        "A read that fails is an error: say so and return 1.";
    PROMPT: Advice "prompt" in "protocols/blackjack.md#hints",
        "An answer comes within the 26 ms for which the course's dealers wait",
        "Answer at once: do not sleep, and set TCP_NODELAY.";
    STANDS_AT_21: Advice "stands-at-21" in "protocols/blackjack.md#cards-and-rules",
        "The player stands at 21",
        "No card can make 21 better.";
    HITS_LOW: Advice "hits-low" in "protocols/blackjack.md#cards-and-rules",
        "The player takes a card when no card can make it bust",
        "Below 12, HIT is never worse than STAND.";
    TRAILING: Advice "trailing-letters" in "protocols/blackjack.md#the-command-lines",
        "With letters behind the port the player ends with a status other than 0",
        "strtol tells where the number ends: that must be the end of the word.";
    EMPTY_NAME: Advice "empty-name" in "protocols/blackjack.md#the-command-lines",
        "With an empty name the player ends with a status other than 0",
        "A name has at least one character.";
    NAME_TOO_LONG: Advice "name-too-long" in "protocols/blackjack.md#the-command-lines",
        "With a name of 65 characters the player ends with a status other than 0",
        "A name has at most 64 characters.";
    BLANK_IN_NAME: Advice "blank-in-name" in "protocols/blackjack.md#the-command-lines",
        "With a name that has a blank the player ends with a status other than 0",
        "A blank ends a word: the dealer would read another message.";
    EXTRA: Advice "extra-argument" in "protocols/blackjack.md#the-command-lines",
        "With an argument too many the player ends with a status other than 0",
        "Compare argc with the exact number.";
    UNKNOWN_OPTION: Advice "unknown-option" in "protocols/blackjack.md#the-command-lines",
        "With an option that it does not know the player ends with a status other than 0",
        "Report what you cannot read.";
    TRAINS: Advice "trains" in "blackjack.md#tables",
        "Training writes a table, and ends with status 0 after QUIT",
        "Write what was learned before you close the connection, to the file that you were given.";
    PLAYS_TABLE: Advice "plays-by-its-table" in "blackjack.md#tables",
        "The player plays by a table that its training has written",
        "Read back all that you write, also a state that was never visited.";
    LEAVES_TABLE: Advice "leaves-its-table" in "blackjack.md#tables",
        "A game without training leaves the table as it was",
        "Open the file for reading only, and write it after training only.";
    TRAINS_ON: Advice "trains-on" in "blackjack.md#tables",
        "Training goes on with a table that is there, and writes one that can be read again",
        "Replace the old table: mode \"a\" of fopen leaves two in one file.";
    CUT_TABLE: Advice "cut-table" in "blackjack.md#tables",
        "A table that is cut off is refused with the reason, and stays as it is",
        "Count what you read: fscanf gives EOF and leaves the rest as it was.";
    EMPTY_TABLE: Advice "empty-table" in "blackjack.md#tables",
        "An empty table is refused with the reason, and stays as it is",
        "A file without a line is no table that was never written.";
    NAN_TABLE: Advice "table-of-nan" in "blackjack.md#tables",
        "A table whose numbers are NaN is refused with the reason, and stays as it is",
        "strtod and Python's float() take the word nan, and no comparison with NaN is true: check each number.";
    TWICE_TABLE: Advice "table-twice" in "blackjack.md#tables",
        "A file of two tables is refused with the reason, and stays as it is",
        "Nothing may follow the last state.";
    GARBAGE_TABLE: Advice "garbage-table" in "blackjack.md#tables",
        "A table of random bytes is refused with the reason, and stays as it is",
        "Let a table begin with a word that no other file begins with.";
    LARGE_TABLE: Advice "large-table" in "blackjack.md#tables",
        "A table of 1 GiB is refused with the reason, and stays as it is",
        "Look at the size before you read, or read no more than a table can have.";
    EXPLAINS: Advice "explains" in "protocols/blackjack.md#the-command-lines",
        "A player that does not start says why on standard error",
        "Write a line with fprintf(stderr, ...) before you exit.";
}
