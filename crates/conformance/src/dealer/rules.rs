//! What a dealer must do.

use crate::report::rules;

rules! {
    LISTENS: required "listens" "The dealer takes connections at its port";
    GRAMMAR: required "grammar"
        "Every message is one of BEGIN, CARD, DEALER, DECISION, RESULT and QUIT, spelled exactly, with one NUL at its end";
    ROUND_BEGINS: required "round-begins"
        "A round begins with BEGIN, once all players have joined, and again after each RESULT";
    DEAL: required "deal" "BEGIN is followed by two CARDs, DEALER and, when it is the player's turn, DECISION";
    ONE_DECK: required "one-deck" "No card is dealt twice in one round, neither to a player nor at the whole table";
    SHUFFLED: required "shuffled" "Rounds are dealt from shuffled decks";
    SAME_UPCARD: required "same-upcard" "All players are told the same card of the dealer";
    HIT: required "hit" "HIT is answered by one CARD";
    ASKED_AGAIN: required "asked-again" "After a CARD that makes 21 or less, the player is asked again";
    BUST_ENDS: required "bust-ends" "After a CARD that makes more than 21, the player is not asked again";
    RESULT: required "result" "A round ends with one RESULT: BUST above 21, else WIN, LOOSE or PUSH";
    FAIR: required "fair"
        "The RESULTs of a round fit a dealer who stands on 17 or more: 21 never loses, less than 17 never ties";
    RESULT_AT_END: required "result-at-end" "RESULT is sent when the hands of all players are over, BUST too";
    PIECES: required "pieces" "Messages of a player count the same when they arrive byte by byte";
    ROUNDS: required "rounds" "As many rounds are played as the command line says, then QUIT is sent";
    CLOSES: required "closes" "After QUIT the dealer sends nothing and closes the connection";
    EARLY_ANSWER: required "early-answer" "An answer that came before its question is not taken for the next one";
    OFFENDER: required "offender"
        "A player who breaks the protocol wins nothing more, is sent at most QUIT, and its connection is closed";
    OTHERS: required "others" "When a player breaks the protocol or leaves, the others play all their rounds";
    BAD_JOIN: required "bad-join" "A first message that is not JOIN closes that connection, and the seat stays open";
    HALF_CLOSE: required "half-close" "A player who closes its sending side after its last answer gets RESULT and QUIT";
    EXIT_STATUS: advice "exit-status" "After the last round the dealer ends with status 0";
}
