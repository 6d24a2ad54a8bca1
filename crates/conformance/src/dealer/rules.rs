//! What a dealer must do.

use crate::rule::rules;

rules! {
    LISTENS: Protocol 1 "listens" in "protocols/blackjack.md#messages",
        "The dealer takes connections at its port",
        "Listen before anything else, on all addresses or on 127.0.0.1, at the port of the command line.";
    GRAMMAR: Protocol 2 "grammar" in "protocols/blackjack.md#messages",
        "Every message is one of BEGIN, CARD, DEALER, DECISION, RESULT and QUIT, spelled exactly, with one NUL at its end",
        "Send the zero byte too: it belongs to the message, and strlen does not count it. The course spells LOOSE.";
    ROUND_BEGINS: Protocol 1 "round-begins" in "protocols/blackjack.md#messages",
        "A round begins with BEGIN, once all players have joined, and again after each RESULT",
        "JOIN is answered by nothing; the first message is BEGIN, when as many players as announced have joined.";
    DEAL: Protocol 1 "deal" in "protocols/blackjack.md#messages",
        "BEGIN is followed by two CARDs, DEALER and, when it is the player's turn, DECISION",
        "Two CARDs, then DEALER with the first card of the dealer; the second one stays hidden.";
    ONE_DECK: Course 2 "one-deck" in "protocols/blackjack.md#cards-and-rules",
        "No card is dealt twice in one round, neither to a player nor at the whole table",
        "All hands of a round come from one deck. Draw each card from what is left of it, not at random from 52.";
    SHUFFLED: Course 2 "shuffled" in "protocols/blackjack.md#cards-and-rules",
        "Each round is dealt from a deck that is shuffled anew",
        "Seed the generator once, when the program starts. srand(time(NULL)) in front of each shuffle deals the same cards for a whole second.";
    UNIFORM: Course 1 "uniform" in "protocols/blackjack.md#cards-and-rules",
        "Each card is as likely as any other at each place of a deal",
        "Swap each position with one that is not final yet (Fisher and Yates). Swapping with any position prefers some orders.";
    SAME_UPCARD: Protocol 1 "same-upcard" in "protocols/blackjack.md#cards-and-rules",
        "All players are told the same card of the dealer",
        "There is one dealer at a table, and one deck. Give the command {players}, or this cannot be tested.";
    HIT: Protocol 1 "hit" in "protocols/blackjack.md#messages",
        "HIT is answered by one CARD",
        "One HIT, one CARD. Wait for the next answer before another card is dealt.";
    ASKED_AGAIN: Protocol 1 "asked-again" in "protocols/blackjack.md#messages",
        "After a CARD that makes 21 or less, the player is asked again",
        "Exactly 21 is asked too: the player says STAND. An ace counts 1 where 11 would make more than 21.";
    BUST_ENDS: Protocol 1 "bust-ends" in "protocols/blackjack.md#messages",
        "After a CARD that makes more than 21, the player is not asked again",
        "Look at the total after each card, aces counted as 1 where 11 is too much, before you ask again.";
    RESULT: Protocol 2 "result" in "protocols/blackjack.md#messages",
        "A round ends with one RESULT: BUST above 21, else WIN, LOOSE or PUSH",
        "A player who is bust has lost, also when the dealer is bust.";
    FAIR: Course 2 "fair" in "protocols/blackjack.md#cards-and-rules",
        "The RESULTs of a round fit a dealer who stands on 17 or more: 21 never loses, less than 17 never ties",
        "Compare each hand with the dealer's final hand, not with its upcard or with another player's.";
    ODDS: Course 2 "odds" in "protocols/blackjack.md#cards-and-rules",
        "Over many rounds, WIN, PUSH and LOOSE come as often as the rules make them",
        "Does the dealer draw until it has 17, compare totals in the right direction, and not draw again when it is bust?";
    SOFT_17: Course 1 "soft-17" in "protocols/blackjack.md#cards-and-rules",
        "The dealer stands on a soft 17 as on any other",
        "Some casinos draw on an ace and a six; this dealer does not.";
    RESULT_AT_END: Protocol 1 "result-at-end" in "protocols/blackjack.md#messages",
        "RESULT is sent when the hands of all players are over, BUST too",
        "Go on to the next player at a bust, and send all RESULTs when the last one is done.";
    PIECES: Protocol 2 "pieces" in "protocols/blackjack.md#hints",
        "Messages of a player count the same when they arrive byte by byte",
        "A read is not a message: collect bytes until the zero byte, and keep what is behind it.";
    ROUNDS: Protocol 1 "rounds" in "protocols/blackjack.md#messages",
        "As many rounds are played as the command line says, then QUIT is sent",
        "Count from 1 to the number of the command line, the last one included, and send QUIT behind the last RESULT.";
    CLOSES: Protocol 1 "closes" in "protocols/blackjack.md#messages",
        "After QUIT the dealer sends nothing and closes the connection",
        "Close each player's connection after QUIT, not only the listening one.";
    NO_CRASH: Protocol 2 "no-crash" in "protocols/blackjack.md#when-a-peer-does-something-else",
        "Nothing that a player sends or does crashes the dealer",
        "Check the length before you copy into a buffer, and ignore SIGPIPE: a player may go away at any time.";
    OTHERS: Protocol 2 "others" in "protocols/blackjack.md#when-a-peer-does-something-else",
        "When a player breaks the protocol or leaves, the others play all their rounds",
        "Take that player out of the game instead of ending the program. Give the command {players}, or this cannot be tested.";
    EARLY_ANSWER: Arcade 0 "early-answer" in "protocols/blackjack.md#when-a-peer-does-something-else",
        "An answer that came before its question is not taken for the next one",
        "Throw away what a player has sent before you send DECISION.";
    OFFENDER: Arcade 0 "offender" in "protocols/blackjack.md#when-a-peer-does-something-else",
        "A player who breaks the protocol wins nothing more, is sent at most QUIT, and its connection is closed",
        "Close the connection of a player who says what nobody asked for, with QUIT before at most.";
    BAD_JOIN: Arcade 0 "bad-join" in "protocols/blackjack.md#when-a-peer-does-something-else",
        "A first message that is not JOIN closes that connection, and the seat stays open",
        "Close that connection and accept another one for the seat.";
    HALF_CLOSE: Arcade 0 "half-close" in "protocols/blackjack.md#when-a-peer-does-something-else",
        "A player who closes its sending side after its last answer gets RESULT and QUIT",
        "A read that gives 0 says that nothing more will come, not that nobody listens: send what is due.";
    SEEDED: Arcade 0 "seeded" in "protocols/blackjack.md#cards-and-rules",
        "Two dealers that are started together deal different cards",
        "A seed from the clock is the same for everybody within a second; take one from the system.";
    EXIT_STATUS: Arcade 0 "exit-status" in "protocols/blackjack.md#messages",
        "After the last round the dealer ends with status 0",
        "Return 0 from main when all connections are closed.";
}
