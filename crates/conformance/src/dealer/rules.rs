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
        "The dealer takes connections at its port",
        "Listen before anything else, on all addresses or on 127.0.0.1, at the port of the command line.";
    SPEAKS_SECOND: Protocol(1, "Requirements, messages: JOIN") "speaks-second" in "protocols/blackjack.md#messages",
        "The dealer sends nothing to a connection before its JOIN",
        "The player speaks first: its first byte says which dialect both use.";
    GRAMMAR: Protocol(3, "Requirements, dealer 3") "grammar" in "protocols/blackjack.md#messages",
        "Every message is one of BEGIN, CARD, DEALER, DECISION, RESULT and QUIT, spelled exactly, with one NUL at its end",
        "Send the zero byte too: it belongs to the message, and strlen does not count it. The course spells LOOSE.";
    ROUND_BEGINS: Protocol(2, "Requirements, messages: BEGIN") "round-begins" in "protocols/blackjack.md#messages",
        "A round begins with BEGIN, once all players have joined, and again after each RESULT",
        "JOIN is answered by nothing; the first message is BEGIN, when as many players as announced have joined.";
    WAITS: Advice "waits-for-all" in "protocols/blackjack.md#messages",
        "No round begins before as many players have joined as the table has seats",
        "Accept all players first, and deal then.";
    LONG_NAME: Advice "long-name" in "protocols/blackjack.md#messages",
        "A player whose name has 64 characters plays as any other",
        "JOIN and a name take up to 69 bytes and the zero byte.";
    SHORT_NAME: Advice "short-name" in "protocols/blackjack.md#messages",
        "A player whose name has one character plays as any other",
        "A name has 1 to 64 characters.";
    ODD_NAME: Advice "odd-name" in "protocols/blackjack.md#messages",
        "A name may have any printable characters, such as %s or a quotation mark",
        "Print a name with a format of your own, as in printf(\"%s\", name).";
    SAME_NAME: Advice "same-name" in "protocols/blackjack.md#messages",
        "Two players may have the same name",
        "Tell players apart by their connections.";
    DEAL: Protocol(3, "Requirements, messages: CARD, DEALER") "deal" in "protocols/blackjack.md#messages",
        "BEGIN is followed by two CARDs, DEALER and, when it is the player's turn, DECISION",
        "Two CARDs, then DEALER with the first card of the dealer; the second one stays hidden.";
    NATURAL: Protocol(1, "Requirements, messages: HIT or STAND") "natural" in "protocols/blackjack.md#cards-and-rules",
        "Two cards that make 21 are asked as any other hand, and get no RESULT by themselves",
        "There is no blackjack in this game: an ace and a ten are 21, and the player says STAND.";
    ONE_DECK: Protocol(2, "Requirements, dealer 3, a deck of 52 cards") "one-deck" in "protocols/blackjack.md#cards-and-rules",
        "No card is dealt twice in one round, neither to a player nor at the whole table",
        "All hands of a round come from one deck. Draw each card from what is left of it, not at random from 52.";
    SHUFFLED: Protocol(2, "Requirements, dealer 3, shuffle") "shuffled" in "protocols/blackjack.md#cards-and-rules",
        "Each round is dealt from a deck that is shuffled anew",
        "Seed the generator once, when the program starts. srand(time(NULL)) in front of each shuffle deals the same cards for a whole second.";
    UNIFORM: Advice "uniform" in "protocols/blackjack.md#cards-and-rules",
        "Each card is as likely as any other at each place of the players' first two cards",
        "Swap each position with one that is not final yet (Fisher and Yates). Swapping with any position prefers some orders.";
    UPCARD_UNIFORM: Protocol(1, "Requirements, dealer 3, shuffle") "upcard-uniform" in "protocols/blackjack.md#cards-and-rules",
        "Each card is as likely as any other to be the dealer's card that is shown",
        "The dealer's cards come from the same shuffled deck as all others.";
    DRAWN_UNIFORM: Protocol(1, "Requirements, dealer 3, shuffle") "drawn-uniform" in "protocols/blackjack.md#cards-and-rules",
        "Each card that is not on the table yet is as likely as any other to be drawn for HIT",
        "Take the next card of the deck. A card that is chosen by its value, or put back, makes others likelier.";
    NEIGHBOURS: Protocol(1, "Requirements, dealer 3, shuffle") "neighbours" in "protocols/blackjack.md#cards-and-rules",
        "A card says nothing about the one that is dealt after it",
        "Shuffle single cards. A deck that is only cut, or whose cards stay together in pairs, keeps neighbours.";
    WHOLE_DECK: Protocol(1, "Requirements, dealer 3, a deck of 52 cards") "whole-deck" in "protocols/blackjack.md#cards-and-rules",
        "The cards of a round come again in the next one as often as in a whole deck",
        "Put all cards back and shuffle before each round, and do not deal on from the rest.";
    FRESH: Protocol(1, "Requirements, dealer 3, shuffle") "fresh-cards" in "protocols/blackjack.md#cards-and-rules",
        "A dealer that is started again, some time later, deals other cards",
        "Seed the generator when the program starts, as with srand(time(NULL)): rand() without srand gives the same numbers in each run.";
    SAME_UPCARD: Advice "same-upcard" in "protocols/blackjack.md#cards-and-rules",
        "All players are told the same card of the dealer",
        "There is one dealer at a table, and one deck.";
    HIT: Protocol(2, "Requirements, messages: HIT or STAND") "hit" in "protocols/blackjack.md#messages",
        "HIT is answered by one CARD",
        "One HIT, one CARD. Wait for the next answer before another card is dealt.";
    ASKED_AGAIN: Protocol(2, "Requirements, messages: HIT or STAND") "asked-again" in "protocols/blackjack.md#messages",
        "After a CARD that makes less than 21, the player is asked again",
        "Look at the total after each card, and ask again as long as it is not above 21.";
    ASKED_AT_21: Protocol(1, "Requirements, messages: HIT or STAND") "asked-at-21" in "protocols/blackjack.md#messages",
        "After a CARD that makes exactly 21, the player is asked again",
        "Exactly 21 is asked too: the player says STAND.";
    ACE_ONE: Protocol(1, "Implementation Spec: hand_getValue") "ace-counts-1" in "protocols/blackjack.md#cards-and-rules",
        "A hand that 11 for an ace would make bust counts it as 1, and is asked",
        "While the total is above 21 and an ace counts 11, count it 1. Two aces are 12.";
    BUST_ENDS: Protocol(1, "Requirements, messages: HIT or STAND") "bust-ends" in "protocols/blackjack.md#messages",
        "After a CARD that makes more than 21, the player is not asked again",
        "Look at the total after each card, aces counted as 1 where 11 is too much, before you ask again.";
    RESULT: Protocol(3, "Requirements, messages: RESULT") "result" in "protocols/blackjack.md#messages",
        "A round of a player who has stood ends with one RESULT: WIN, LOOSE or PUSH",
        "Send one RESULT to each player at the end of the round. BUST is for hands above 21.";
    BUST: Protocol(1, "Requirements, messages: RESULT") "bust" in "protocols/blackjack.md#messages",
        "A round of a hand above 21 ends with RESULT BUST",
        "A player who is bust has lost, also when the dealer is bust.";
    BEST_HAND: Protocol(1, "Implementation Spec: calculateGameResult") "21-never-loses" in "protocols/blackjack.md#cards-and-rules",
        "A hand of 21 never gets LOOSE",
        "The dealer has 21 at most when it is not bust: compare with less-than, not with less-or-equal.";
    LOW_TIE: Protocol(1, "Implementation Spec: dealer, main") "low-never-ties" in "protocols/blackjack.md#cards-and-rules",
        "A hand below 17 never gets PUSH",
        "The dealer stands on 17 or more, and else is bust: it must draw before totals are compared.";
    FAIR: Protocol(2, "Implementation Spec: calculateGameResult") "fair" in "protocols/blackjack.md#cards-and-rules",
        "The RESULTs of all players of a round fit one total of the dealer",
        "Compare each hand with the same final hand of the dealer, not with another player's.";
    WINS: Protocol(2, "Implementation Spec: calculateGameResult") "wins" in "protocols/blackjack.md#cards-and-rules",
        "Over many rounds, WIN comes as often as the rules make it",
        "Does the dealer draw until it has 17, compare totals in the right direction, and not draw again when it is bust?";
    PUSHES: Protocol(1, "Implementation Spec: calculateGameResult") "pushes" in "protocols/blackjack.md#cards-and-rules",
        "Over many rounds, PUSH comes as often as the rules make it",
        "Equal totals are PUSH, neither WIN nor LOOSE.";
    UPCARDS: Protocol(1, "Implementation Spec: hand_getValue") "upcards" in "protocols/blackjack.md#cards-and-rules",
        "With each upcard, the players win as much as the rules make it",
        "An ace of the dealer counts 11 as long as that is not too much, and pictures count 10.";
    SOFT_17: Protocol(1, "Implementation Spec: dealer, main") "soft-17" in "protocols/blackjack.md#cards-and-rules",
        "The dealer stands on a soft 17 as on any other",
        "Some casinos draw on an ace and a six; this dealer does not.";
    RESULT_AT_END: Advice "result-at-end" in "protocols/blackjack.md#messages",
        "RESULT is sent when the hands of all players are over, BUST too",
        "Go on to the next player at a bust, and send all RESULTs when the last one is done.";
    OTHERS_HIDDEN: Advice "others-hidden" in "protocols/blackjack.md#messages",
        "While another player is asked, a player whose hand is over is told nothing of those cards",
        "Send a card to its player alone.";
    PIECES: Advice "pieces" in "protocols/blackjack.md#hints",
        "Messages of a player count the same when they arrive byte by byte",
        "A read is not a message: collect bytes until the zero byte, and keep what is behind it.";
    ROUNDS: Protocol(12, "Requirements, dealer 1") "rounds" in "protocols/blackjack.md#messages",
        "As many rounds are played as the command line says",
        "Count from 1 to the number of the command line, the last one included.";
    QUIT: Protocol(4, "Requirements, dealer 4") "quit" in "protocols/blackjack.md#messages",
        "After the RESULT of the last round QUIT is sent",
        "Send QUIT to each player before you close the connection.";
    CLOSES: Protocol(1, "Implementation Spec: closeServer") "closes" in "protocols/blackjack.md#messages",
        "After QUIT the dealer closes the connection",
        "Close each player's connection after QUIT, not only the listening one.";
    NOTHING_MORE: Protocol(1, "Requirements, dealer 4") "nothing-after-quit" in "protocols/blackjack.md#messages",
        "After QUIT the dealer sends nothing more",
        "QUIT is the last message, whatever is still to be counted.";
    NO_CRASH: Protocol(4, "Implementation Spec: Error handling and recovery") "no-crash" in "protocols/blackjack.md#when-a-peer-does-something-else",
        "Nothing that a player sends or does crashes the dealer",
        "Check the length before you copy into a buffer, and ignore SIGPIPE: a player may go away at any time.";
    OTHERS: Advice "others" in "protocols/blackjack.md#when-a-peer-does-something-else",
        "When a player breaks the protocol, the others play all their rounds",
        "Take that player out of the game instead of ending the program.";
    LEAVES: Advice "leaves-when-asked" in "protocols/blackjack.md#when-a-peer-does-something-else",
        "When a player leaves who is asked, the others play all their rounds",
        "A read that gives 0 says that this player has gone. Go on with the next one.";
    LEAVES_EARLY: Advice "leaves-before-its-turn" in "protocols/blackjack.md#when-a-peer-does-something-else",
        "When a player leaves before it is asked, the others play all their rounds",
        "Sending to a player who has gone fails, or raises SIGPIPE: ignore the signal, and look at what send returns.";
    LEAVES_LATE: Advice "leaves-after-its-turn" in "protocols/blackjack.md#when-a-peer-does-something-else",
        "When a player leaves who has stood, the others play all their rounds",
        "Sending RESULT or BEGIN to a player who has gone fails: take the player out of the game.";
    RESETS: Advice "neighbour-resets" in "protocols/blackjack.md#when-a-peer-does-something-else",
        "When the connection of a player is reset, the others play all their rounds",
        "A read that fails with ECONNRESET concerns one player alone.";
    HALF_CLOSES: Advice "neighbour-half-closes" in "protocols/blackjack.md#when-a-peer-does-something-else",
        "When a player who is asked closes its sending side, the others play all their rounds",
        "A read that gives 0 at once is no answer. Do not read again and again.";
    FLOODS: Advice "neighbour-floods" in "protocols/blackjack.md#when-a-peer-does-something-else",
        "When a player sends without end, the others play all their rounds",
        "Stop reading after 256 bytes without a zero byte, or nobody else is ever read.";
    SENDS_AHEAD: Advice "neighbour-sends-ahead" in "protocols/blackjack.md#when-a-peer-does-something-else",
        "When a player sends answers before it is asked, the others play all their rounds",
        "What one player has sent answers no question of another.";
    LATECOMERS: Advice "latecomers" in "protocols/blackjack.md#when-a-peer-does-something-else",
        "Clients that connect while a game goes on do not disturb it",
        "Serve the players of the game, and leave further connections waiting or close them.";
    MISSING: Protocol(2, "Implementation Spec: Testing plan, dealer") "missing-arguments" in "protocols/blackjack.md#the-command-lines",
        "Without arguments, or without the number of rounds, the dealer ends with a status other than 0",
        "Look at argc before you use argv.";
    PORT_WORD: Protocol(1, "Implementation Spec: Testing plan, dealer") "port-word" in "protocols/blackjack.md#the-command-lines",
        "With a port that is no number the dealer ends with a status other than 0",
        "atoi makes 0 of a word that is no number. strtol tells where the number ends.";
    PORT_RANGE: Protocol(1, "Implementation Spec: Error handling and recovery") "port-too-large" in "protocols/blackjack.md#the-command-lines",
        "With a port above 65535 the dealer ends with a status other than 0",
        "A port has 16 bits: htons cuts off what is more, and you listen somewhere else.";
    PORT_TAKEN: Protocol(2, "Implementation Spec: Error handling and recovery") "port-taken" in "protocols/blackjack.md#the-command-lines",
        "When its port is taken, the dealer ends with a status other than 0",
        "Look at what bind and listen return.";
    ROUNDS_WORD: Protocol(1, "Implementation Spec: Testing plan, dealer") "rounds-word" in "protocols/blackjack.md#the-command-lines",
        "With a number of rounds that is no number the dealer ends with a status other than 0",
        "Check that the word is a number.";
    ROUNDS_ZERO: Protocol(1, "Implementation Spec: Error handling and recovery") "rounds-zero" in "protocols/blackjack.md#the-command-lines",
        "With 0 rounds the dealer ends with a status other than 0",
        "A game has at least one round.";
    ROUNDS_NEGATIVE: Protocol(1, "Implementation Spec: Error handling and recovery") "rounds-negative" in "protocols/blackjack.md#the-command-lines",
        "With a negative number of rounds the dealer ends with a status other than 0",
        "An unsigned number of -3 is huge: look for the sign.";
    PLAYERS_ZERO: Advice "players-zero" in "protocols/blackjack.md#the-command-lines",
        "With 0 seats the dealer ends with a status other than 0",
        "A table has at least one seat.";
    PLAYERS_WORD: Advice "players-word" in "protocols/blackjack.md#the-command-lines",
        "With a number of seats that is no number the dealer ends with a status other than 0",
        "Check that the word is a number.";
    EARLY_ANSWER: Advice "early-answer" in "protocols/blackjack.md#when-a-peer-does-something-else",
        "An answer that came before its question is not taken for the next one",
        "Throw away what a player has sent before you send DECISION.";
    OFFENDER: Advice "offender" in "protocols/blackjack.md#when-a-peer-does-something-else",
        "A player who breaks the protocol wins nothing more, is sent at most QUIT, and its connection is closed",
        "Close the connection of a player who says what nobody asked for, with QUIT before at most.";
    BAD_JOIN: Advice "bad-join" in "protocols/blackjack.md#when-a-peer-does-something-else",
        "A first message that is not JOIN closes that connection, and the seat stays open",
        "Close that connection and accept another one for the seat.";
    HALF_CLOSE: Advice "half-close" in "protocols/blackjack.md#when-a-peer-does-something-else",
        "A player who closes its sending side after its last answer gets the RESULT",
        "A read that gives 0 says that nothing more will come, not that nobody listens: send what is due.";
    SEEDED: Advice "seeded" in "protocols/blackjack.md#cards-and-rules",
        "Two dealers that are started together deal different cards",
        "A seed from the clock is the same for everybody within a second; take one from the system.";
    EXIT_STATUS: Advice "exit-status" in "protocols/blackjack.md#messages",
        "After the last round the dealer ends with status 0",
        "Return 0 from main when all connections are closed.";
    PLAYERS_MANY: Advice "players-too-many" in "protocols/blackjack.md#the-command-lines",
        "With more than six seats the dealer ends with a status other than 0",
        "Our tables have six seats.";
    ROUNDS_MANY: Advice "rounds-too-many" in "protocols/blackjack.md#the-command-lines",
        "With a number of rounds that fits no variable the dealer ends with a status other than 0",
        "strtol sets errno to ERANGE.";
    TRAILING: Advice "trailing-letters" in "protocols/blackjack.md#the-command-lines",
        "With letters behind a number the dealer ends with a status other than 0",
        "strtol tells where the number ends: that must be the end of the word.";
    EMPTY: Advice "empty-argument" in "protocols/blackjack.md#the-command-lines",
        "With an empty word for a number the dealer ends with a status other than 0",
        "strtol reads no digits then, and gives 0.";
    EXTRA: Advice "extra-argument" in "protocols/blackjack.md#the-command-lines",
        "With an argument too many the dealer ends with a status other than 0",
        "Compare argc with the exact number.";
    UNKNOWN_OPTION: Advice "unknown-option" in "protocols/blackjack.md#the-command-lines",
        "With an option that it does not know the dealer ends with a status other than 0",
        "Report what you cannot read.";
    EXPLAINS: Advice "explains" in "protocols/blackjack.md#the-command-lines",
        "A dealer that does not start says why on standard error",
        "Write a line with fprintf(stderr, ...) before you exit.";
    LATE_JOIN: Advice "late-join" in "protocols/blackjack.md#when-a-peer-does-something-else",
        "A client that says JOIN a while after it has connected gets its seat",
        "Wait for JOIN as long as for an answer, and not for a millisecond.";
    LATE_ANSWER: Advice "late-answer" in "protocols/blackjack.md#when-a-peer-does-something-else",
        "A player who answers after a while is heard",
        "Give people time: 30 seconds, and not 26 milliseconds.";
    VISITOR: Advice "visitor" in "protocols/blackjack.md#when-a-peer-does-something-else",
        "A client that connects and leaves without a word takes no seat",
        "Give the seat at JOIN, and not when a connection is accepted.";
    ALONE: Advice "alone" in "protocols/blackjack.md#when-a-peer-does-something-else",
        "When no player is left, the dealer ends",
        "Count the players who are still there, and stop at none.";
    RESTART: Advice "restart" in "protocols/blackjack.md#the-command-lines",
        "A dealer can be started again at the same port when the last one has ended",
        "Set SO_REUSEADDR before bind.";
}
