//! What is required of a client.

use crate::rule::rules;

rules! {
    FIRST: Protocol 1 "first-message" in "protocols/nuggets.md#a-client",
        "The first message is PLAY, one space and the name that was given; without a name it is SPECTATE",
        "";
    FORM: Protocol 1 "message-form" in "protocols/nuggets.md#messages",
        "Every message is exactly PLAY and a name, SPECTATE, or KEY and one character",
        "";
    ADDRESS: Protocol 1 "one-address" in "protocols/nuggets.md#messages",
        "All messages come from one UDP port",
        "";
    ONCE: Protocol 1 "joins-once" in "protocols/nuggets.md#a-client",
        "Once the server has let the client in, it does not send PLAY or SPECTATE again",
        "";
    KEYS: Protocol 1 "keys-as-typed" in "protocols/nuggets.md#a-client",
        "Each key that is typed is sent as one KEY, in order, and nothing else is",
        "";
    DISPLAYS: Protocol 1 "any-display" in "protocols/nuggets.md#a-client",
        "DISPLAYs that come twice, late or long after each other do no harm",
        "";
    ERRORS: Protocol 1 "goes-on-after-error" in "protocols/nuggets.md#a-client",
        "The client goes on after ERROR",
        "";
    MALFORMED: Protocol 1 "malformed-ignored" in "protocols/nuggets.md#a-client",
        "The client goes on after what is no message of a server, or is damaged",
        "";
    QUIT: Protocol 1 "quit-ends" in "protocols/nuggets.md#a-client",
        "QUIT ends the client with exit status 0",
        "";
    TEXT: Protocol 1 "quit-text" in "protocols/nuggets.md#a-client",
        "The text of QUIT is printed on standard output",
        "";
    LONG: Protocol 1 "long-quit" in "protocols/nuggets.md#a-client",
        "The table of 26 players, in one QUIT, ends the client too and is printed whole",
        "A datagram may have 65,507 bytes. What does not fit into the buffer of recvfrom is lost.";
    INPUT: Protocol 1 "end-of-input" in "protocols/nuggets.md#a-client",
        "At the end of standard input the client sends KEY Q",
        "";
    ARGUMENTS: Protocol 1 "bad-port" in "protocols/nuggets.md#a-client",
        "A port that is no number from 1 to 65535 ends the client with a status other than 0",
        "";
    STRANGERS: Arcade 0 "strangers-ignored" in "protocols/nuggets.md#a-client",
        "Messages from any other address than the server's are ignored",
        "";
    AGAIN: Arcade 0 "asks-again" in "protocols/nuggets.md#a-client",
        "While the server does not answer, the first message is sent again",
        "";
}
