//! The requirements for a dealer.

use crate::rule::{Rule, rules};

/// The rules that can be observed only at a table of several players.
pub(super) static OF_SEVERAL: [&Rule; 16] = [
    &WAITS,
    &SAME_NAME,
    &SAME_UPCARD,
    &RESULT_AT_END,
    &OTHERS_HIDDEN,
    &OTHERS,
    &LEAVES,
    &LEAVES_EARLY,
    &LEAVES_LATE,
    &RESETS,
    &HALF_CLOSES,
    &FLOODS,
    &SENDS_AHEAD,
    &PLAYERS_ZERO,
    &PLAYERS_WORD,
    &PLAYERS_MANY,
];

rules! {
    LISTENS: Protocol(1, "Requirements, dealer 2") "listens" in "protocols/blackjack.md#messages",
        "The dealer accepts connections on its port",
        "Listen before you do anything else, on the port from the command line. Bind to all addresses or to 127.0.0.1.";
    SPEAKS_SECOND: Protocol(1, "Requirements, messages: JOIN") "speaks-second" in "protocols/blackjack.md#messages",
        "The dealer sends nothing on a connection before it receives JOIN",
        "The player sends first: its first byte selects the dialect of the connection.";
    GRAMMAR: Protocol(3, "Requirements, dealer 3") "grammar" in "protocols/blackjack.md#messages",
        "Each message is BEGIN, CARD, DEALER, DECISION, RESULT or QUIT, spelled exactly and terminated by one NUL",
        "Send the terminating zero byte, which strlen does not count. The protocol spells LOOSE with two Os.";
    ROUND_BEGINS: Protocol(2, "Requirements, messages: BEGIN") "round-begins" in "protocols/blackjack.md#messages",
        "The dealer starts the first round with BEGIN when all players have joined, and each further round after RESULT",
        "JOIN has no reply. Send BEGIN as the first message, when the announced number of players has joined.";
    WAITS: Advice "waits-for-all" in "protocols/blackjack.md#messages",
        "The dealer starts no round before all seats of the table are taken",
        "Accept all players first, then deal.";
    LONG_NAME: Advice "long-name" in "protocols/blackjack.md#messages",
        "The dealer accepts a player name of 64 characters",
        "JOIN and a name take up to 69 bytes, plus the zero byte.";
    SHORT_NAME: Advice "short-name" in "protocols/blackjack.md#messages",
        "The dealer accepts a player name of one character",
        "A name has 1 to 64 characters.";
    ODD_NAME: Advice "odd-name" in "protocols/blackjack.md#messages",
        "The dealer accepts all printable characters in a name, such as %s or a quotation mark",
        "Do not use a name as a format: write printf(\"%s\", name).";
    SAME_NAME: Advice "same-name" in "protocols/blackjack.md#messages",
        "The dealer accepts two players with the same name",
        "Identify players by their connections.";
    DEAL: Protocol(3, "Requirements, messages: CARD, DEALER") "deal" in "protocols/blackjack.md#messages",
        "After BEGIN the dealer sends two CARDs, DEALER and, when it is the player's turn, DECISION",
        "Send two CARDs, then DEALER with the dealer's first card. The dealer's second card stays hidden.";
    NATURAL: Protocol(1, "Requirements, messages: HIT or STAND") "natural" in "protocols/blackjack.md#cards-and-rules",
        "The dealer sends DECISION for two cards that make 21, and no early RESULT",
        "This game has no blackjack: an ace and a ten are 21, and the player answers STAND.";
    ONE_DECK: Protocol(2, "Requirements, dealer 3, a deck of 52 cards") "one-deck" in "protocols/blackjack.md#cards-and-rules",
        "The dealer deals no card twice in a round, neither to one player nor to the whole table",
        "All hands of a round share one deck. Draw each card from the remaining deck, not at random from all 52.";
    SHUFFLED: Protocol(2, "Requirements, dealer 3, shuffle") "shuffled" in "protocols/blackjack.md#cards-and-rules",
        "The dealer shuffles a new deck for each round",
        "Seed the generator once, at startup. srand(time(NULL)) before each shuffle deals the same cards for a whole second.";
    UNIFORM: Advice "uniform" in "protocols/blackjack.md#cards-and-rules",
        "Each card is equally likely at each position of the players' first two cards",
        "Swap each position with one that is not final yet (Fisher-Yates). Swapping with any position favours some orders.";
    UPCARD_UNIFORM: Protocol(1, "Requirements, dealer 3, shuffle") "upcard-uniform" in "protocols/blackjack.md#cards-and-rules",
        "Each card is equally likely to be the dealer's upcard",
        "Take the dealer's cards from the same shuffled deck as all others.";
    DRAWN_UNIFORM: Protocol(1, "Requirements, dealer 3, shuffle") "drawn-uniform" in "protocols/blackjack.md#cards-and-rules",
        "Each card that is not on the table yet is equally likely to follow HIT",
        "Take the next card of the deck. If you choose a card by its value, or put cards back, some become more likely.";
    NEIGHBOURS: Protocol(1, "Requirements, dealer 3, shuffle") "neighbours" in "protocols/blackjack.md#cards-and-rules",
        "Each card is independent of the card dealt before it",
        "Shuffle single cards. If you only cut the deck or keep pairs together, neighbouring cards stay neighbours.";
    WHOLE_DECK: Protocol(1, "Requirements, dealer 3, a deck of 52 cards") "whole-deck" in "protocols/blackjack.md#cards-and-rules",
        "The cards of a round appear in the next round as often as a full deck predicts",
        "Put all cards back and shuffle before each round. Do not continue with the rest of the deck.";
    FRESH: Protocol(1, "Requirements, dealer 3, shuffle") "fresh-cards" in "protocols/blackjack.md#cards-and-rules",
        "A dealer that is restarted later deals different cards",
        "Seed the generator at startup, for example with srand(time(NULL)). Without srand, rand() repeats the same numbers.";
    SAME_UPCARD: Advice "same-upcard" in "protocols/blackjack.md#cards-and-rules",
        "The dealer sends the same upcard to all players",
        "A table has one dealer and one deck.";
    HIT: Protocol(2, "Requirements, messages: HIT or STAND") "hit" in "protocols/blackjack.md#messages",
        "The dealer sends one CARD after HIT",
        "Send one CARD for each HIT, then wait for the next answer.";
    ASKED_AGAIN: Protocol(2, "Requirements, messages: HIT or STAND") "asked-again" in "protocols/blackjack.md#messages",
        "The dealer sends DECISION after a CARD that makes less than 21",
        "Check the total after each card, and send DECISION unless it is above 21.";
    ASKED_AT_21: Protocol(1, "Requirements, messages: HIT or STAND") "asked-at-21" in "protocols/blackjack.md#messages",
        "The dealer sends DECISION after a CARD that makes exactly 21",
        "Send DECISION at exactly 21 too: the player answers STAND.";
    ACE_ONE: Protocol(1, "Implementation Spec: hand_getValue") "ace-counts-1" in "protocols/blackjack.md#cards-and-rules",
        "The dealer counts an ace as 1 if 11 would make the hand bust, and sends DECISION",
        "While the total is above 21 and an ace counts 11, count that ace as 1. Two aces are 12.";
    BUST_ENDS: Protocol(1, "Requirements, messages: HIT or STAND") "bust-ends" in "protocols/blackjack.md#messages",
        "The dealer sends no DECISION after a CARD that makes more than 21",
        "Before you send DECISION, check the total. Count aces as 1 where 11 is too much.";
    RESULT: Protocol(3, "Requirements, messages: RESULT") "result" in "protocols/blackjack.md#messages",
        "The dealer ends the round of a player who stands with one RESULT: WIN, LOOSE or PUSH",
        "Send one RESULT to each player at the end of the round. BUST is only for hands above 21.";
    BUST: Protocol(1, "Requirements, messages: RESULT") "bust" in "protocols/blackjack.md#messages",
        "The dealer ends the round of a hand above 21 with RESULT BUST",
        "A player who is bust loses, even if the dealer is bust too.";
    BEST_HAND: Protocol(1, "Implementation Spec: calculateGameResult") "21-never-loses" in "protocols/blackjack.md#cards-and-rules",
        "The dealer never sends RESULT LOOSE for a hand of 21",
        "A dealer who is not bust has at most 21: compare with less-than, not with less-or-equal.";
    LOW_TIE: Protocol(1, "Implementation Spec: dealer, main") "low-never-ties" in "protocols/blackjack.md#cards-and-rules",
        "The dealer never sends RESULT PUSH for a hand below 17",
        "The dealer draws until it has 17 or more, so it has at least 17 or is bust. Draw before you compare totals.";
    FAIR: Protocol(2, "Implementation Spec: calculateGameResult") "fair" in "protocols/blackjack.md#cards-and-rules",
        "All RESULTs of a round are consistent with one total of the dealer",
        "Compare each hand with the same final hand of the dealer, not with another player's hand.";
    WINS: Protocol(2, "Implementation Spec: calculateGameResult") "wins" in "protocols/blackjack.md#cards-and-rules",
        "Over many rounds, the share of WIN matches the rules",
        "Check that the dealer draws until it has 17 and that totals are compared in the right direction. A dealer who is bust draws no more.";
    PUSHES: Protocol(1, "Implementation Spec: calculateGameResult") "pushes" in "protocols/blackjack.md#cards-and-rules",
        "Over many rounds, the share of PUSH matches the rules",
        "Equal totals are PUSH, not WIN or LOOSE.";
    UPCARDS: Protocol(1, "Implementation Spec: hand_getValue") "upcards" in "protocols/blackjack.md#cards-and-rules",
        "For each upcard, the players' mean winnings match the rules",
        "An ace of the dealer counts 11 unless the hand would be bust. Pictures count 10.";
    SOFT_17: Protocol(1, "Implementation Spec: dealer, main") "soft-17" in "protocols/blackjack.md#cards-and-rules",
        "The dealer stands on a soft 17 as on any other 17",
        "Some casinos draw on an ace and a six. This dealer stands.";
    RESULT_AT_END: Advice "result-at-end" in "protocols/blackjack.md#messages",
        "The dealer sends RESULT, including BUST, only when the hands of all players are complete",
        "After a bust, continue with the next player. Send all RESULTs after the last player.";
    OTHERS_HIDDEN: Advice "others-hidden" in "protocols/blackjack.md#messages",
        "The dealer does not send the cards of one player to another",
        "Send a card only to its own player.";
    PIECES: Advice "pieces" in "protocols/blackjack.md#hints",
        "The dealer accepts messages that arrive byte by byte",
        "A read may return a part of a message: collect bytes up to the zero byte, and keep the rest.";
    ROUNDS: Protocol(12, "Requirements, dealer 1") "rounds" in "protocols/blackjack.md#messages",
        "The dealer plays the number of rounds given on the command line",
        "Count from 1 up to and including the number from the command line.";
    QUIT: Protocol(4, "Requirements, dealer 4") "quit" in "protocols/blackjack.md#messages",
        "The dealer sends QUIT after the RESULT of the last round",
        "Send QUIT to each player before you close the connection.";
    CLOSES: Protocol(1, "Implementation Spec: closeServer") "closes" in "protocols/blackjack.md#messages",
        "The dealer closes the connection after QUIT",
        "After QUIT, close the connection of each player, not only the listening socket.";
    NOTHING_MORE: Protocol(1, "Requirements, dealer 4") "nothing-after-quit" in "protocols/blackjack.md#messages",
        "The dealer sends nothing after QUIT",
        "Send QUIT as the last message, after all RESULTs.";
    NO_CRASH: Protocol(4, "Implementation Spec: Error handling and recovery") "no-crash" in "protocols/blackjack.md#when-a-peer-does-something-else",
        "The dealer does not crash, whatever a player sends or does",
        "Check lengths before you copy into a buffer. Ignore SIGPIPE: a player may disconnect at any time.";
    OTHERS: Advice "others" in "protocols/blackjack.md#when-a-peer-does-something-else",
        "If a player breaks the protocol, the other players finish all rounds",
        "Remove that player from the game. Do not end the program.";
    LEAVES: Advice "leaves-when-asked" in "protocols/blackjack.md#when-a-peer-does-something-else",
        "If a player leaves during its own turn, the other players finish all rounds",
        "A read that returns 0 means that this player has disconnected. Continue with the next player.";
    LEAVES_EARLY: Advice "leaves-before-its-turn" in "protocols/blackjack.md#when-a-peer-does-something-else",
        "If a player leaves before its turn, the other players finish all rounds",
        "Sending to a player who has left fails or raises SIGPIPE. Ignore the signal, and check the result of send.";
    LEAVES_LATE: Advice "leaves-after-its-turn" in "protocols/blackjack.md#when-a-peer-does-something-else",
        "If a player leaves after standing, the other players finish all rounds",
        "Sending RESULT or BEGIN to a player who has left fails: remove that player from the game.";
    RESETS: Advice "neighbour-resets" in "protocols/blackjack.md#when-a-peer-does-something-else",
        "If the connection of a player is reset, the other players finish all rounds",
        "A read that fails with ECONNRESET affects only one player.";
    HALF_CLOSES: Advice "neighbour-half-closes" in "protocols/blackjack.md#when-a-peer-does-something-else",
        "If a player closes its sending side during its turn, the other players finish all rounds",
        "A read that returns 0 is no answer: do not repeat it in a loop.";
    FLOODS: Advice "neighbour-floods" in "protocols/blackjack.md#when-a-peer-does-something-else",
        "If a player sends without end, the other players finish all rounds",
        "Stop reading after 256 bytes without a zero byte. Otherwise the dealer never reads from the other players.";
    SENDS_AHEAD: Advice "neighbour-sends-ahead" in "protocols/blackjack.md#when-a-peer-does-something-else",
        "If a player sends answers before DECISION, the other players finish all rounds",
        "Use the data of one player only for the decisions of that player.";
    LATECOMERS: Advice "latecomers" in "protocols/blackjack.md#when-a-peer-does-something-else",
        "Clients that connect during a game do not disturb it",
        "Serve the players of the game. Leave further connections in the queue, or close them.";
    MISSING: Protocol(2, "Implementation Spec: Testing plan, dealer") "missing-arguments" in "protocols/blackjack.md#the-command-lines",
        "Without arguments, or without the number of rounds, the dealer exits with a nonzero status",
        "Check argc before you use argv.";
    PORT_WORD: Protocol(1, "Implementation Spec: Testing plan, dealer") "port-word" in "protocols/blackjack.md#the-command-lines",
        "If the port is not a number, the dealer exits with a nonzero status",
        "atoi returns 0 for a word that is not a number. Use strtol, which returns the end of the number.";
    PORT_RANGE: Protocol(1, "Implementation Spec: Error handling and recovery") "port-too-large" in "protocols/blackjack.md#the-command-lines",
        "If the port is above 65535, the dealer exits with a nonzero status",
        "A port has 16 bits: htons drops the higher bits, so you listen on another port.";
    PORT_TAKEN: Protocol(2, "Implementation Spec: Error handling and recovery") "port-taken" in "protocols/blackjack.md#the-command-lines",
        "If its port is in use, the dealer exits with a nonzero status",
        "Check the results of bind and listen.";
    ROUNDS_WORD: Protocol(1, "Implementation Spec: Testing plan, dealer") "rounds-word" in "protocols/blackjack.md#the-command-lines",
        "If the number of rounds is not a number, the dealer exits with a nonzero status",
        "Check that the word is a number.";
    ROUNDS_ZERO: Protocol(1, "Implementation Spec: Error handling and recovery") "rounds-zero" in "protocols/blackjack.md#the-command-lines",
        "If the number of rounds is 0, the dealer exits with a nonzero status",
        "A game has at least one round.";
    ROUNDS_NEGATIVE: Protocol(1, "Implementation Spec: Error handling and recovery") "rounds-negative" in "protocols/blackjack.md#the-command-lines",
        "If the number of rounds is negative, the dealer exits with a nonzero status",
        "An unsigned conversion turns -3 into a huge number: check the sign.";
    PLAYERS_ZERO: Advice "players-zero" in "protocols/blackjack.md#the-command-lines",
        "If the number of seats is 0, the dealer exits with a nonzero status",
        "A table has at least one seat.";
    PLAYERS_WORD: Advice "players-word" in "protocols/blackjack.md#the-command-lines",
        "If the number of seats is not a number, the dealer exits with a nonzero status",
        "Check that the word is a number.";
    EARLY_ANSWER: Advice "early-answer" in "protocols/blackjack.md#when-a-peer-does-something-else",
        "The dealer does not use an early answer for the next DECISION",
        "Discard pending input of a player before you send DECISION.";
    OFFENDER: Advice "offender" in "protocols/blackjack.md#when-a-peer-does-something-else",
        "If a player breaks the protocol, the dealer sends at most QUIT, no WIN or PUSH, and closes the connection",
        "If a player sends an unexpected message, close its connection. You may send QUIT first.";
    BAD_JOIN: Advice "bad-join" in "protocols/blackjack.md#when-a-peer-does-something-else",
        "If the first message is not JOIN, the dealer closes that connection and keeps the seat free",
        "Close that connection, and accept another player for the seat.";
    HALF_CLOSE: Advice "half-close" in "protocols/blackjack.md#when-a-peer-does-something-else",
        "The dealer sends RESULT to a player who closes its sending side after the last answer",
        "A read that returns 0 means that the player sends no more. It may still receive: send the pending messages.";
    SEEDED: Advice "seeded" in "protocols/blackjack.md#cards-and-rules",
        "Two dealers that start at the same time deal different cards",
        "A seed from the clock is the same for all programs within a second. Use the random source of the system.";
    EXIT_STATUS: Advice "exit-status" in "protocols/blackjack.md#messages",
        "After the last round the dealer exits with status 0",
        "Return 0 from main when all connections are closed.";
    PLAYERS_MANY: Advice "players-too-many" in "protocols/blackjack.md#the-command-lines",
        "With more than six seats, the dealer exits with a nonzero status",
        "A table has at most six seats.";
    ROUNDS_MANY: Advice "rounds-too-many" in "protocols/blackjack.md#the-command-lines",
        "If the number of rounds is too large for an integer, the dealer exits with a nonzero status",
        "strtol sets errno to ERANGE.";
    TRAILING: Advice "trailing-letters" in "protocols/blackjack.md#the-command-lines",
        "If letters follow a number, the dealer exits with a nonzero status",
        "strtol returns the end of the number, which must be the end of the word.";
    EMPTY: Advice "empty-argument" in "protocols/blackjack.md#the-command-lines",
        "If a number is an empty word, the dealer exits with a nonzero status",
        "strtol reads no digits and returns 0: check its end pointer.";
    EXTRA: Advice "extra-argument" in "protocols/blackjack.md#the-command-lines",
        "With an extra argument, the dealer exits with a nonzero status",
        "Compare argc with the exact number.";
    UNKNOWN_OPTION: Advice "unknown-option" in "protocols/blackjack.md#the-command-lines",
        "With an unknown option, the dealer exits with a nonzero status",
        "Reject each argument that you do not know.";
    EXPLAINS: Advice "explains" in "protocols/blackjack.md#the-command-lines",
        "A dealer that rejects its arguments prints the reason on standard error",
        "Write a line with fprintf(stderr, ...) before you exit.";
    LATE_JOIN: Advice "late-join" in "protocols/blackjack.md#when-a-peer-does-something-else",
        "The dealer accepts a JOIN that arrives some time after the connection",
        "Wait as long for JOIN as for an answer, not only a millisecond.";
    LATE_ANSWER: Advice "late-answer" in "protocols/blackjack.md#when-a-peer-does-something-else",
        "The dealer waits for a slow answer",
        "Give people time: 30 seconds, not 26 milliseconds.";
    VISITOR: Advice "visitor" in "protocols/blackjack.md#when-a-peer-does-something-else",
        "A client that connects and disconnects without JOIN takes no seat",
        "Assign the seat at JOIN, not at accept.";
    ALONE: Advice "alone" in "protocols/blackjack.md#when-a-peer-does-something-else",
        "The dealer exits when all players have left",
        "Count the remaining players, and stop at zero.";
    RESTART: Advice "restart" in "protocols/blackjack.md#the-command-lines",
        "A new dealer can listen on the port of one that has just ended",
        "Set SO_REUSEADDR before bind.";
}
