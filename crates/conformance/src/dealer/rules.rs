//! What a dealer must do.

use crate::report::Rule;

pub(super) static LISTENS: Rule = Rule::required("listens", "The dealer takes connections at its port");
pub(super) static GRAMMAR: Rule = Rule::required(
    "grammar",
    "Every message is one of BEGIN, CARD, DEALER, DECISION, RESULT and QUIT, spelled exactly, with one NUL at its end",
);
pub(super) static ROUND_BEGINS: Rule = Rule::required(
    "round-begins",
    "A round begins with BEGIN, once all players have joined, and again after each RESULT",
);
pub(super) static DEAL: Rule =
    Rule::required("deal", "BEGIN is followed by two CARDs, DEALER and, when it is the player's turn, DECISION");
pub(super) static ONE_DECK: Rule =
    Rule::required("one-deck", "No card is dealt twice in one round, neither to a player nor at the whole table");
pub(super) static SHUFFLED: Rule = Rule::required("shuffled", "Rounds are dealt from shuffled decks");
pub(super) static SAME_UPCARD: Rule = Rule::required("same-upcard", "All players are told the same card of the dealer");
pub(super) static HIT: Rule = Rule::required("hit", "HIT is answered by one CARD");
pub(super) static ASKED_AGAIN: Rule =
    Rule::required("asked-again", "After a CARD that makes 21 or less, the player is asked again");
pub(super) static BUST_ENDS: Rule =
    Rule::required("bust-ends", "After a CARD that makes more than 21, the player is not asked again");
pub(super) static RESULT: Rule =
    Rule::required("result", "A round ends with one RESULT: BUST above 21, else WIN, LOOSE or PUSH");
pub(super) static FAIR: Rule = Rule::required(
    "fair",
    "The RESULTs of a round fit a dealer who stands on 17 or more: 21 never loses, less than 17 never ties",
);
pub(super) static RESULT_AT_END: Rule =
    Rule::required("result-at-end", "RESULT is sent when the hands of all players are over, BUST too");
pub(super) static PIECES: Rule =
    Rule::required("pieces", "Messages of a player count the same when they arrive byte by byte");
pub(super) static ROUNDS: Rule =
    Rule::required("rounds", "As many rounds are played as the command line says, then QUIT is sent");
pub(super) static CLOSES: Rule =
    Rule::required("closes", "After QUIT the dealer sends nothing and closes the connection");
pub(super) static EARLY_ANSWER: Rule =
    Rule::required("early-answer", "An answer that came before its question is not taken for the next one");
pub(super) static OFFENDER: Rule = Rule::required(
    "offender",
    "A player who breaks the protocol wins nothing more, is sent at most QUIT, and its connection is closed",
);
pub(super) static OTHERS: Rule =
    Rule::required("others", "When a player breaks the protocol or leaves, the others play all their rounds");
pub(super) static BAD_JOIN: Rule =
    Rule::required("bad-join", "A first message that is not JOIN closes that connection, and the seat stays open");
pub(super) static HALF_CLOSE: Rule =
    Rule::required("half-close", "A player who closes its sending side after its last answer gets RESULT and QUIT");
pub(super) static EXIT_STATUS: Rule = Rule::advice("exit-status", "After the last round the dealer ends with status 0");

pub(super) static RULES: &[&Rule] = &[
    &LISTENS,
    &GRAMMAR,
    &ROUND_BEGINS,
    &DEAL,
    &ONE_DECK,
    &SHUFFLED,
    &SAME_UPCARD,
    &HIT,
    &ASKED_AGAIN,
    &BUST_ENDS,
    &RESULT,
    &FAIR,
    &RESULT_AT_END,
    &PIECES,
    &ROUNDS,
    &CLOSES,
    &EARLY_ANSWER,
    &OFFENDER,
    &OTHERS,
    &BAD_JOIN,
    &HALF_CLOSE,
    &EXIT_STATUS,
];
