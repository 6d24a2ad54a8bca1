//! The requirements for a player.

use crate::rule::rules;

rules! {
    JOINS: Protocol(3, "Requirements, player 1, 2") "joins" in "protocols/blackjack.md#messages",
        "The player connects and sends JOIN with the given name before anything else",
        "Take name, host and port from the command line, connect, and send JOIN immediately. The dealer waits for it.";
    GRAMMAR: Protocol(2, "Requirements, messages: JOIN, HIT or STAND") "grammar" in "protocols/blackjack.md#messages",
        "Each message is JOIN, HIT or STAND, spelled exactly and terminated by one NUL",
        "Send the terminating zero byte, which strlen does not count. Send no newline and no lower case.";
    LONG_NAME: Advice "long-name" in "protocols/blackjack.md#messages",
        "The player sends all of a name of 64 characters",
        "JOIN and a name take up to 69 bytes, plus the zero byte.";
    SHORT_NAME: Advice "short-name" in "protocols/blackjack.md#messages",
        "The player sends a name of one character unchanged",
        "A name has 1 to 64 characters.";
    ODD_NAME: Advice "odd-name" in "protocols/blackjack.md#messages",
        "The player sends its name unchanged, whatever printable characters it contains",
        "Send the name as a string, not as a format of printf.";
    ONE_CONNECTION: Protocol(1, "Requirements, player 2") "one-connection" in "protocols/blackjack.md#messages",
        "The player opens one connection",
        "A second connection would take another seat: keep the first one.";
    HOST_NAME: Advice "host-name" in "protocols/blackjack.md#the-command-lines",
        "The player accepts a host name, such as localhost",
        "inet_addr accepts only numeric addresses. Use getaddrinfo, and try each address that it returns.";
    ANSWERS: Protocol(4, "Requirements, messages: HIT or STAND") "answers" in "protocols/blackjack.md#messages",
        "The player answers each DECISION with HIT or STAND",
        "Answer every DECISION, including the one after a CARD that you took.";
    QUIET: Protocol(2, "Requirements, messages: DECISION") "quiet" in "protocols/blackjack.md#messages",
        "The player sends one answer for each DECISION and nothing else",
        "Answer only DECISION. CARD, DEALER and RESULT need no answer.";
    NAMES: Protocol(2, "Requirements, messages: CARD") "names" in "protocols/blackjack.md#cards-and-rules",
        "The player parses the names of all 52 cards",
        "A card is 'rank of suit' in words: Ten, Jack, Queen, King, Ace.";
    UPCARDS: Protocol(2, "Requirements, messages: DEALER") "upcards" in "protocols/blackjack.md#cards-and-rules",
        "The player parses all 52 cards in DEALER",
        "DEALER contains the name of a card, as CARD does.";
    NATURAL: Protocol(1, "Requirements, messages: HIT or STAND") "natural" in "protocols/blackjack.md#messages",
        "The player answers with two cards that make 21",
        "This game has no blackjack: the dealer sends DECISION as for any other hand.";
    TWO_ACES: Protocol(1, "Implementation Spec: hand_getValue") "two-aces" in "protocols/blackjack.md#cards-and-rules",
        "The player answers with two aces, which make 12",
        "While the total is above 21 and an ace counts 11, count that ace as 1. A strategy table may have no row for 22.";
    RESULTS: Protocol(3, "Requirements, messages: RESULT") "results" in "protocols/blackjack.md#messages",
        "The player continues after each of WIN, PUSH and LOOSE",
        "Parse all four results, then wait for BEGIN or QUIT.";
    MANY_ROUNDS: Protocol(6, "Requirements, player 3") "many-rounds" in "protocols/blackjack.md#messages",
        "The player plays 100 rounds as well as one",
        "Release the resources of each round, and use no list of a fixed size.";
    PATIENT: Protocol(1, "Requirements, messages: DECISION") "patient" in "protocols/blackjack.md#hints",
        "The player waits for a dealer that pauses",
        "Do not limit the time of a read: the dealer may be waiting for other players.";
    PIECES: Advice "pieces" in "protocols/blackjack.md#hints",
        "The player accepts messages that arrive byte by byte",
        "A read may return a part of a message: collect bytes up to the zero byte.";
    MERGED: Advice "merged" in "protocols/blackjack.md#hints",
        "The player accepts several messages that arrive together, such as RESULT and the next round",
        "A read may return several messages: keep the bytes after the zero byte for the next one.";
    STRADDLING: Advice "straddling" in "protocols/blackjack.md#hints",
        "The player accepts a segment with the end of one message and the start of the next",
        "Keep the bytes after the last zero byte until the rest arrives.";
    LOSE: Advice "lose" in "protocols/blackjack.md#messages",
        "The player accepts LOSE as another spelling of LOOSE",
        "Some dealers send LOSE. Accept both.";
    BEGIN_AGAIN: Protocol(1, "Requirements, messages: BEGIN") "begin-again" in "protocols/blackjack.md#hints",
        "At BEGIN in the middle of a round the player drops its hand and starts a new round",
        "Clear the hand at BEGIN, not at RESULT.";
    QUITS: Protocol(2, "Requirements, messages: QUIT") "quits" in "protocols/blackjack.md#hints",
        "The player closes the connection after QUIT",
        "Handle QUIT wherever a message may arrive, then close the connection.";
    QUIT_AT_ONCE: Advice "quit-at-once" in "protocols/blackjack.md#hints",
        "The player exits when it receives QUIT before any round",
        "Handle QUIT where you expect BEGIN.";
    QUIT_IN_ROUND: Advice "quit-in-round" in "protocols/blackjack.md#hints",
        "The player exits when it receives QUIT in the middle of a round",
        "Handle QUIT wherever a message may arrive.";
    QUIT_AND_CLOSE: Protocol(1, "Requirements, messages: QUIT") "quit-and-close" in "protocols/blackjack.md#messages",
        "The player processes a QUIT that arrives with the end of the connection, and exits with status 0",
        "Process all received data before you handle the end of the connection.";
    ENDS: Protocol(1, "Requirements, messages: QUIT") "ends" in "protocols/blackjack.md#hints",
        "The program exits after QUIT",
        "End all threads, and do not wait for a key.";
    NO_CRASH: Protocol(4, "Implementation Spec: Error handling and recovery") "no-crash" in "protocols/blackjack.md#when-a-peer-does-something-else",
        "The player does not crash, whatever a dealer sends or does",
        "Check lengths before you copy into a buffer, and the result of a parser before you use it.";
    EXIT_STATUS: Protocol(1, "Implementation Spec: Play") "exit-status" in "protocols/blackjack.md#hints",
        "After QUIT the player exits with status 0",
        "QUIT is the normal end: return 0 from main.";
    MISSING: Protocol(2, "Requirements, player 1") "missing-arguments" in "protocols/blackjack.md#the-command-lines",
        "Without arguments, or without the port, the player exits with a nonzero status",
        "Check argc before you use argv.";
    PORT_WORD: Protocol(1, "Implementation Spec: Error handling and recovery") "port-word" in "protocols/blackjack.md#the-command-lines",
        "If the port is not a number, the player exits with a nonzero status",
        "atoi returns 0 for a word that is not a number. Use strtol, which returns the end of the number.";
    PORT_RANGE: Protocol(1, "Implementation Spec: Error handling and recovery") "port-too-large" in "protocols/blackjack.md#the-command-lines",
        "If the port is above 65535, the player exits with a nonzero status",
        "A port has 16 bits: htons drops the higher bits, so you connect to another port.";
    NO_DEALER: Protocol(2, "Implementation Spec: Error handling and recovery") "no-dealer" in "protocols/blackjack.md#the-command-lines",
        "If no dealer listens on the port, the player exits with a nonzero status",
        "Check the result of connect.";
    SURVIVES: Advice "survives" in "protocols/blackjack.md#hints",
        "The player continues after a repeated card and after RESULT without a DECISION",
        "Use the dealer's messages as they are, without checking its cards.";
    BAD_MESSAGE: Advice "bad-message" in "protocols/blackjack.md#when-a-peer-does-something-else",
        "The player closes the connection after an unknown message",
        "After an invalid message the stream cannot be parsed any further: close the connection.";
    DEALER_GONE: Advice "dealer-gone" in "protocols/blackjack.md#when-a-peer-does-something-else",
        "If the connection ends without QUIT, the player exits with a nonzero status",
        "A read that returns 0 before QUIT is an error: report it and return 1.";
    BAD_CARD: Advice "bad-card" in "protocols/blackjack.md#when-a-peer-does-something-else",
        "The player closes the connection after an invalid card",
        "Check that rank and suit are both valid words.";
    TOO_LONG: Advice "too-long" in "protocols/blackjack.md#when-a-peer-does-something-else",
        "The player closes the connection after more than 256 bytes without a zero byte",
        "A message has at most 256 bytes. Without a limit, a dealer can fill your memory.";
    GONE_EARLY: Advice "gone-early" in "protocols/blackjack.md#when-a-peer-does-something-else",
        "If the connection ends before the first round, the player exits with a nonzero status",
        "A read that returns 0 before QUIT is an error, even if no card was dealt.";
    RESET: Advice "reset" in "protocols/blackjack.md#when-a-peer-does-something-else",
        "If the connection is reset, the player exits with a nonzero status",
        "A failed read is an error: report it and return 1.";
    PROMPT: Advice "prompt" in "protocols/blackjack.md#hints",
        "The player answers within the 26 ms that the dealers of the course wait",
        "Answer immediately: do not sleep, and set TCP_NODELAY.";
    STANDS_AT_21: Advice "stands-at-21" in "protocols/blackjack.md#cards-and-rules",
        "The player stands at 21",
        "No card can improve 21.";
    HITS_LOW: Advice "hits-low" in "protocols/blackjack.md#cards-and-rules",
        "The player takes a card if no card can make it bust",
        "Below 12, HIT is never worse than STAND.";
    TRAILING: Advice "trailing-letters" in "protocols/blackjack.md#the-command-lines",
        "If letters follow the port, the player exits with a nonzero status",
        "strtol returns the end of the number, which must be the end of the word.";
    EMPTY_NAME: Advice "empty-name" in "protocols/blackjack.md#the-command-lines",
        "If the name is empty, the player exits with a nonzero status",
        "A name has at least one character.";
    NAME_TOO_LONG: Advice "name-too-long" in "protocols/blackjack.md#the-command-lines",
        "If the name has 65 characters, the player exits with a nonzero status",
        "A name has at most 64 characters.";
    BLANK_IN_NAME: Advice "blank-in-name" in "protocols/blackjack.md#the-command-lines",
        "If the name contains a blank, the player exits with a nonzero status",
        "A blank ends a word: the dealer would parse another message.";
    EXTRA: Advice "extra-argument" in "protocols/blackjack.md#the-command-lines",
        "With an extra argument, the player exits with a nonzero status",
        "Compare argc with the exact number.";
    UNKNOWN_OPTION: Advice "unknown-option" in "protocols/blackjack.md#the-command-lines",
        "With an unknown option, the player exits with a nonzero status",
        "Reject each argument that you do not know.";
    TRAINS: Advice "trains" in "blackjack.md#tables",
        "A training run writes a table, and the player exits with status 0 after QUIT",
        "Write the learned table to the given file before you close the connection.";
    PLAYS_TABLE: Advice "plays-by-its-table" in "blackjack.md#tables",
        "The player plays by the table that its training has written",
        "Read back everything that you write, including states that were never visited.";
    LEAVES_TABLE: Advice "leaves-its-table" in "blackjack.md#tables",
        "A game without training does not change the table",
        "Open the file read-only, and write it only after training.";
    TRAINS_ON: Advice "trains-on" in "blackjack.md#tables",
        "A training run continues with an existing table and writes a readable one",
        "Replace the old table: fopen with mode \"a\" leaves two in one file.";
    CUT_TABLE: Advice "cut-table" in "blackjack.md#tables",
        "The player rejects a truncated table with the reason, and does not change it",
        "Count the values that you read: at EOF, fscanf leaves the variables unchanged.";
    EMPTY_TABLE: Advice "empty-table" in "blackjack.md#tables",
        "The player rejects an empty table with the reason, and does not change it",
        "An empty file is not the same as a missing file.";
    NAN_TABLE: Advice "table-of-nan" in "blackjack.md#tables",
        "The player rejects a table of NaN with the reason, and does not change it",
        "strtod and Python's float() accept nan, and every comparison with NaN is false. Check each number.";
    TWICE_TABLE: Advice "table-twice" in "blackjack.md#tables",
        "The player rejects a file with two tables with the reason, and does not change it",
        "Check that nothing follows the last state.";
    GARBAGE_TABLE: Advice "garbage-table" in "blackjack.md#tables",
        "The player rejects a table of random bytes with the reason, and does not change it",
        "Start a table with a word that no other file starts with.";
    LARGE_TABLE: Advice "large-table" in "blackjack.md#tables",
        "The player rejects a table of 1 GiB with the reason, and does not change it",
        "Check the size before you read, or limit how much you read.";
    EXPLAINS: Advice "explains" in "protocols/blackjack.md#the-command-lines",
        "A player that rejects its arguments prints the reason on standard error",
        "Write a line with fprintf(stderr, ...) before you exit.";
}
