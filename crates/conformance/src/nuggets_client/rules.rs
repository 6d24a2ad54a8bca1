//! The requirements for a client.

use crate::rule::rules;

rules! {
    FIRST: Protocol(3, "Requirements: Network protocol, PLAY") "first-message" in "protocols/nuggets.md#a-client",
        "The first message is PLAY, one space and the name that was given",
        "Send the name as it stands on the command line, blanks within it included, without a newline or a zero byte.";
    SHORT_NAME: Protocol(1, "Requirements: Network protocol, PLAY") "short-name" in "protocols/nuggets.md#a-client",
        "A name of one character is sent as it is",
        "Take the whole argument, however short it is.";
    ODD_NAME: Protocol(1, "Requirements: Network protocol, PLAY") "odd-name" in "protocols/nuggets.md#a-client",
        "A name is sent with all its blanks, percent signs and other characters",
        "Join no words, split none, and do not use the name as a format.";
    SPECTATES: Protocol(2, "Requirements: Client, join as spectator") "spectates" in "protocols/nuggets.md#a-client",
        "Without a name the first message is SPECTATE",
        "Look whether there is a third argument.";
    WATCHES: Protocol(2, "Requirements: Client interface, spectator keystrokes") "watches" in "protocols/nuggets.md#a-client",
        "A spectator, who gets no OK, is in with GRID, and Q is sent when it is typed",
        "Do not wait for OK: the spectator has no letter.";
    HOST_NAME: Protocol(1, "Requirements: Client, hostname or IP address") "host-name" in "protocols/nuggets.md#the-command-line",
        "The host may be a name, as localhost",
        "inet_addr knows numbers only: use getaddrinfo, with the family of your socket.";
    FORM: Protocol(2, "Requirements: Network protocol") "message-form" in "protocols/nuggets.md#messages",
        "Every message is exactly PLAY and a name, SPECTATE, or KEY and one character",
        "The length of the datagram ends a message: send strlen bytes, so neither the zero byte nor a newline.";
    ADDRESS: Protocol(2, "Requirements: Network protocol") "one-address" in "protocols/nuggets.md#messages",
        "All messages come from one UDP port",
        "Open one socket and keep it: a server knows a client by its address and port.";
    ONCE: Protocol(1, "Requirements: Network protocol, PLAY") "joins-once" in "protocols/nuggets.md#a-client",
        "Once the server has let the client in, it does not send PLAY or SPECTATE again",
        "Repeat PLAY only until OK or GRID has come, and stop the timer then.";
    KEYS: Protocol(5, "Requirements: Network protocol, KEY") "keys-as-typed" in "protocols/nuggets.md#a-client",
        "Each key that is typed is sent as one KEY, in order, and nothing else is",
        "Switch the terminal to single keys (no line buffer, no echo), and send each byte that is read as one KEY.";
    ANY_KEY: Protocol(1, "Requirements: Network protocol, KEY") "any-key" in "protocols/nuggets.md#a-client",
        "Every printable character that is typed is sent, also one that is no key of the game",
        "The server knows the keys: it answers ERROR to the others.";
    MANY_KEYS: Protocol(1, "Requirements: Network protocol, KEY") "many-keys" in "protocols/nuggets.md#a-client",
        "A hundred keys that are typed at once are sent one by one, none is lost and none comes twice",
        "A read may return many keys: send a KEY for each byte.";
    DISPLAYS: Protocol(2, "Requirements: Network protocol, DISPLAY") "any-display" in "protocols/nuggets.md#a-client",
        "DISPLAYs that come twice, late or long after each other do no harm",
        "Draw whatever DISPLAY came last, and do not count DISPLAYs or wait for one after each KEY.";
    BIG_MAP: Protocol(2, "Requirements: Valid maps") "big-map" in "protocols/nuggets.md#a-client",
        "A map of 90 rows of 280 columns does no harm",
        "A DISPLAY may have 65,507 bytes. Allocate what GRID says, or as much as a datagram may have.";
    STATE_AGAIN: Advice "state-again" in "protocols/nuggets.md#a-client",
        "OK, GRID, GOLD and DISPLAY may come once more",
        "A server repeats its answer when it gets PLAY twice. Take it as the newest state.";
    ERRORS: Protocol(2, "Requirements: Malformed messages, ERROR") "goes-on-after-error" in "protocols/nuggets.md#a-client",
        "The client goes on after ERROR",
        "ERROR is for the user to read and not a reason to stop.";
    MALFORMED: Protocol(1, "Requirements: Malformed messages") "malformed-ignored" in "protocols/nuggets.md#a-client",
        "The client goes on after messages of kinds that no server sends",
        "Compare the whole first word, and ignore a message whose first word you do not know.";
    NO_WORDS: Protocol(1, "Requirements: Malformed messages") "no-words-ignored" in "protocols/nuggets.md#a-client",
        "The client goes on after datagrams that are empty or no text",
        "A datagram may have 0 bytes, and bytes above 127.";
    BAD_NUMBERS: Protocol(1, "Requirements: Malformed messages") "bad-numbers-ignored" in "protocols/nuggets.md#a-client",
        "The client goes on after OK, GRID and GOLD without what belongs to them",
        "Look at what sscanf returns, and at the size of numbers, before you use them.";
    BAD_DISPLAYS: Protocol(1, "Requirements: Malformed messages") "bad-displays-ignored" in "protocols/nuggets.md#a-client",
        "The client goes on after a DISPLAY whose rows do not fit the grid",
        "Count the rows and columns before you draw: what is missing is behind the end of the buffer.";
    WHITE_SPACE: Protocol(1, "Requirements: Malformed messages") "white-space" in "protocols/nuggets.md#a-client",
        "The client goes on after zeros and newlines at the end of messages, and several spaces between numbers",
        "Servers of the course differ in white space.";
    QUIT: Protocol(3, "Requirements: Network protocol, QUIT") "quit-ends" in "protocols/nuggets.md#a-client",
        "QUIT ends the client with exit status 0",
        "Restore the terminal and end with status 0; QUIT is the regular end, whatever its text says.";
    TEXT: Protocol(3, "Requirements: Network protocol, QUIT") "quit-text" in "protocols/nuggets.md#a-client",
        "The text of QUIT is printed on standard output",
        "End the screen first and print the text then, or it goes away with the screen.";
    EXACT_TEXT: Protocol(1, "Requirements: Network protocol, QUIT") "exact-text" in "protocols/nuggets.md#a-client",
        "The text of QUIT is printed as it is, with percent signs and backslashes",
        "Print it by puts or by printf with %s, not as a format.";
    EMPTY_TEXT: Protocol(1, "Requirements: Network protocol, QUIT") "empty-text" in "protocols/nuggets.md#a-client",
        "QUIT with an empty text ends the client too, with exit status 0",
        "The text behind QUIT may be empty.";
    QUIT_NUL: Advice "quit-with-zero" in "protocols/nuggets.md#a-client",
        "QUIT with a zero byte at its end ends the client too, and the text is printed",
        "Some servers send the zero byte of the string.";
    REFUSED: Protocol(2, "Requirements: Network protocol, QUIT") "refused" in "protocols/nuggets.md#a-client",
        "QUIT that comes instead of OK ends the client too, and its text is printed",
        "The game may be full. Look for QUIT from the first message on.";
    FAREWELL: Advice "waits-for-quit" in "protocols/nuggets.md#a-client",
        "After Q is typed the client waits for QUIT and prints its text",
        "Send KEY Q as any other key, and end with the QUIT that answers it.";
    SILENT: Advice "silent-after-quit" in "protocols/nuggets.md#a-client",
        "After QUIT nothing is sent",
        "It is over: do not send KEY Q to a server that has said so.";
    LONG: Protocol(2, "Requirements: Network protocol, QUIT") "long-quit" in "protocols/nuggets.md#a-client",
        "The table of 26 players, in one QUIT, ends the client too and is printed whole",
        "A datagram may have 65,507 bytes. What does not fit into the buffer of recvfrom is lost.";
    INPUT: Protocol(2, "Requirements: Client, EOF on stdin") "end-of-input" in "protocols/nuggets.md#a-client",
        "At the end of standard input the client sends KEY Q",
        "A read that gives 0 bytes is the end of input. EOF is no character: keep it in an int.";
    NO_CRASH: Protocol(2, "Requirements: Malformed messages") "no-crash" in "protocols/nuggets.md#a-client",
        "Nothing that a server sends crashes the client",
        "Check lengths before you copy, and what a parser returns before you use it.";
    MISSING: Protocol(1, "Requirements: Client, verify its arguments") "missing-arguments" in "protocols/nuggets.md#the-command-line",
        "Without arguments, or without the port, the client ends with a status other than 0",
        "Look at argc before you use argv.";
    PORT_WORD: Protocol(1, "Requirements: Client, verify its arguments") "bad-port" in "protocols/nuggets.md#the-command-line",
        "A port that is no number ends the client with a status other than 0",
        "Check that the word is a number: look at the end pointer of strtol.";
    PORT_RANGE: Protocol(1, "Requirements: Client, verify its arguments") "port-range" in "protocols/nuggets.md#the-command-line",
        "Port 0, and a port above 65535, end the client with a status other than 0",
        "A port is from 1 to 65535: htons cuts off what is more.";
    STRANGERS: Advice "strangers-ignored" in "protocols/nuggets.md#a-client",
        "Messages from any other address than the server's are ignored",
        "Connect the UDP socket to the server, and the system drops what others send.";
    AGAIN: Advice "asks-again" in "protocols/nuggets.md#a-client",
        "While the server does not answer, the first message is sent again",
        "Datagrams may get lost: wait with a time limit, and send the first message again when it is over.";
    LATE: Advice "late-server" in "protocols/nuggets.md#a-client",
        "A client whose first message was lost is in when the second is answered",
        "Send the first message again from the same socket.";
    LEAVES: Advice "leaves-alone" in "protocols/nuggets.md#a-client",
        "When no QUIT follows the KEY Q of the end of input, the client ends by itself",
        "QUIT may get lost: wait a moment, send KEY Q once more, and leave.";
    TRAILING: Advice "trailing-letters" in "protocols/nuggets.md#the-command-line",
        "With letters behind the port the client ends with a status other than 0",
        "strtol tells where the number ends: that must be the end of the word.";
    EXTRA: Protocol(1, "Requirements: Client, verify its arguments") "extra-argument" in "protocols/nuggets.md#the-command-line",
        "With an argument too many the client ends with a status other than 0",
        "Compare argc with the exact number.";
    UNKNOWN_OPTION: Advice "unknown-option" in "protocols/nuggets.md#the-command-line",
        "With an option that it does not know the client ends with a status other than 0",
        "Report what you cannot read.";
    EXPLAINS: Advice "explains" in "protocols/nuggets.md#the-command-line",
        "A client that does not start says why on standard error",
        "Write a line with fprintf(stderr, ...) before you exit.";
}
