//! What is required of a client.

use crate::report::rules;

rules! {
    FIRST: required "first-message"
        "The first message is PLAY, one space and the name that was given; without a name it is SPECTATE";
    FORM: required "message-form" "Every message is exactly PLAY and a name, SPECTATE, or KEY and one character";
    ADDRESS: required "one-address" "All messages come from one UDP port";
    ONCE: required "joins-once" "Once the server has let the client in, it does not send PLAY or SPECTATE again";
    KEYS: required "keys-as-typed" "Each key that is typed is sent as one KEY, in order, and nothing else is";
    DISPLAYS: required "any-display" "DISPLAYs that come twice, late or long after each other do no harm";
    ERRORS: required "goes-on-after-error" "The client goes on after ERROR";
    MALFORMED: required "malformed-ignored" "The client goes on after what is no message of a server, or is damaged";
    QUIT: required "quit-ends" "QUIT ends the client with exit status 0";
    TEXT: required "quit-text" "The text of QUIT is printed on standard output";
    INPUT: required "end-of-input" "At the end of standard input the client sends KEY Q";
    ARGUMENTS: required "bad-port"
        "A port that is no number from 1 to 65535 ends the client with a status other than 0";
    STRANGERS: advice "strangers-ignored" "Messages from any other address than the server's are ignored";
    AGAIN: advice "asks-again" "While the server does not answer, the first message is sent again";
}
