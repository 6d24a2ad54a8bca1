//! What is required of a client.

use crate::rule::rules;

rules! {
    FIRST: Protocol 1 "first-message" in "protocols/nuggets.md#a-client",
        "The first message is PLAY, one space and the name that was given; without a name it is SPECTATE",
        "Send the name as it stands on the command line, blanks within it included, without a newline or a zero byte.";
    FORM: Protocol 1 "message-form" in "protocols/nuggets.md#messages",
        "Every message is exactly PLAY and a name, SPECTATE, or KEY and one character",
        "The length of the datagram ends a message: send strlen bytes, so neither the zero byte nor a newline.";
    ADDRESS: Protocol 1 "one-address" in "protocols/nuggets.md#messages",
        "All messages come from one UDP port",
        "Open one socket and keep it: a server knows a client by its address and port.";
    ONCE: Protocol 1 "joins-once" in "protocols/nuggets.md#a-client",
        "Once the server has let the client in, it does not send PLAY or SPECTATE again",
        "Repeat PLAY only until OK or GRID has come, and stop the timer then.";
    KEYS: Protocol 1 "keys-as-typed" in "protocols/nuggets.md#a-client",
        "Each key that is typed is sent as one KEY, in order, and nothing else is",
        "Switch the terminal to single keys (no line buffer, no echo), and send each byte that is read as one KEY.";
    DISPLAYS: Protocol 1 "any-display" in "protocols/nuggets.md#a-client",
        "DISPLAYs that come twice, late or long after each other do no harm",
        "Draw whatever DISPLAY came last, and do not count DISPLAYs or wait for one after each KEY.";
    ERRORS: Protocol 1 "goes-on-after-error" in "protocols/nuggets.md#a-client",
        "The client goes on after ERROR",
        "ERROR is for the user to read and not a reason to stop.";
    MALFORMED: Protocol 1 "malformed-ignored" in "protocols/nuggets.md#a-client",
        "The client goes on after what is no message of a server, or is damaged",
        "Check a message before you use it: its first word, how many numbers there are, and that the rows fit the grid.";
    QUIT: Protocol 1 "quit-ends" in "protocols/nuggets.md#a-client",
        "QUIT ends the client with exit status 0",
        "Restore the terminal and end with status 0; QUIT is the regular end, whatever its text says.";
    TEXT: Protocol 1 "quit-text" in "protocols/nuggets.md#a-client",
        "The text of QUIT is printed on standard output",
        "End the screen first and print the text then, or it goes away with the screen.";
    LONG: Protocol 1 "long-quit" in "protocols/nuggets.md#a-client",
        "The table of 26 players, in one QUIT, ends the client too and is printed whole",
        "A datagram may have 65,507 bytes. What does not fit into the buffer of recvfrom is lost.";
    INPUT: Protocol 1 "end-of-input" in "protocols/nuggets.md#a-client",
        "At the end of standard input the client sends KEY Q",
        "A read that gives 0 bytes is the end of input. EOF is no character: keep it in an int.";
    ARGUMENTS: Protocol 1 "bad-port" in "protocols/nuggets.md#a-client",
        "A port that is no number from 1 to 65535 ends the client with a status other than 0",
        "Check that the whole word is a number (look at the end pointer of strtol) and that it is from 1 to 65535.";
    STRANGERS: Arcade 0 "strangers-ignored" in "protocols/nuggets.md#a-client",
        "Messages from any other address than the server's are ignored",
        "Connect the UDP socket to the server, and the system drops what others send.";
    AGAIN: Arcade 0 "asks-again" in "protocols/nuggets.md#a-client",
        "While the server does not answer, the first message is sent again",
        "Datagrams may get lost: wait with a time limit, and send the first message again when it is over.";
}
