//! What a player must do.

use crate::report::rules;

rules! {
    JOINS: required "joins" "The player connects and sends JOIN with its name, ended by one NUL, before anything else";
    ANSWERS: required "answers" "Each DECISION is answered by exactly HIT or STAND, ended by one NUL";
    QUIET: required "quiet" "The player sends nothing that it is not asked for: one answer for each DECISION";
    NAMES: required "names" "The player understands the names of all 52 cards";
    PIECES: required "pieces" "Messages count the same when they arrive byte by byte";
    MERGED: required "merged"
        "Messages count the same when several arrive together, RESULT and the next round among them";
    LOSE: required "lose" "LOSE is understood as another spelling of LOOSE";
    BEGIN_AGAIN: required "begin-again" "BEGIN in the middle of a round drops the hand and begins another";
    QUITS: required "quits" "After QUIT, which may come at any time, the player closes the connection and ends";
    EXIT_STATUS: required "exit-status" "After QUIT the player ends with status 0";
    SURVIVES: advice "survives" "The player goes on after a card that comes twice and after RESULT without a DECISION";
    BAD_MESSAGE: advice "bad-message" "The player ends the connection after a message that is none of the protocol";
    DEALER_GONE: advice "dealer-gone"
        "When the connection ends without QUIT, the player ends with another status than 0";
}
