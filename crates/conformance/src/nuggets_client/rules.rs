//! The requirements for a client.

use crate::rule::rules;

rules! {
    FIRST: Protocol(3, "Requirements: Network protocol, PLAY") "first-message" in "protocols/nuggets.md#a-client",
        "The client sends PLAY, one space and its name as the first message",
        "Send the name exactly as given, including blanks, without a newline or a zero byte.";
    SHORT_NAME: Protocol(1, "Requirements: Network protocol, PLAY") "short-name" in "protocols/nuggets.md#a-client",
        "The client sends a name of one character unchanged",
        "Take the whole argument, however short it is.";
    ODD_NAME: Protocol(1, "Requirements: Network protocol, PLAY") "odd-name" in "protocols/nuggets.md#a-client",
        "The client sends all blanks, percent signs and other characters of a name",
        "Do not join or split words, and do not use the name as a format.";
    SPECTATES: Protocol(2, "Requirements: Client, join as spectator") "spectates" in "protocols/nuggets.md#a-client",
        "Without a name the client sends SPECTATE as the first message",
        "Check whether there is a third argument.";
    WATCHES: Protocol(2, "Requirements: Client interface, spectator keystrokes") "watches" in "protocols/nuggets.md#a-client",
        "A spectator starts with GRID, without an OK, and sends Q when the user types it",
        "Do not wait for OK: the spectator has no letter.";
    HOST_NAME: Protocol(1, "Requirements: Client, hostname or IP address") "host-name" in "protocols/nuggets.md#the-command-line",
        "The client accepts a host name, such as localhost",
        "inet_addr accepts only numeric addresses. Use getaddrinfo with the address family of your socket.";
    FORM: Protocol(2, "Requirements: Network protocol") "message-form" in "protocols/nuggets.md#messages",
        "Each message is exactly PLAY and a name, SPECTATE, or KEY and one character",
        "The length of the datagram ends a message: send strlen bytes, without the zero byte or a newline.";
    ADDRESS: Protocol(2, "Requirements: Network protocol") "one-address" in "protocols/nuggets.md#messages",
        "The client sends all messages from one UDP port",
        "Open one socket and keep it. The server identifies a client by its address and port.";
    ONCE: Protocol(1, "Requirements: Network protocol, PLAY") "joins-once" in "protocols/nuggets.md#a-client",
        "The client does not repeat PLAY or SPECTATE after the server has accepted it",
        "Repeat PLAY only until OK or GRID arrives, then stop the timer.";
    KEYS: Protocol(5, "Requirements: Network protocol, KEY") "keys-as-typed" in "protocols/nuggets.md#a-client",
        "The client sends each typed key as one KEY, in order, and nothing else",
        "Switch the terminal to single keys (no line buffer, no echo), and send one KEY for each byte read.";
    ANY_KEY: Protocol(1, "Requirements: Network protocol, KEY") "any-key" in "protocols/nuggets.md#a-client",
        "The client sends every printable character, even if it is not a key of the game",
        "Do not filter keys: the server answers unknown ones with ERROR.";
    MANY_KEYS: Protocol(1, "Requirements: Network protocol, KEY") "many-keys" in "protocols/nuggets.md#a-client",
        "The client sends a hundred quickly typed keys one by one, without loss or repetition",
        "A read may return many keys: send a KEY for each byte.";
    DISPLAYS: Protocol(2, "Requirements: Network protocol, DISPLAY") "any-display" in "protocols/nuggets.md#a-client",
        "The client handles repeated DISPLAYs and DISPLAYs after a delay",
        "Draw the last DISPLAY received. Do not count DISPLAYs or wait for one after each KEY.";
    BIG_MAP: Protocol(2, "Requirements: Valid maps") "big-map" in "protocols/nuggets.md#a-client",
        "The client handles a map of 90 rows and 280 columns",
        "A DISPLAY may have 65,507 bytes. Allocate a buffer for the size in GRID, or for the largest datagram.";
    STATE_AGAIN: Advice "state-again" in "protocols/nuggets.md#a-client",
        "The client accepts a second OK, GRID, GOLD and DISPLAY",
        "A server repeats its answer if it receives PLAY twice. Use the repeated state as the latest one.";
    ERRORS: Protocol(2, "Requirements: Malformed messages, ERROR") "goes-on-after-error" in "protocols/nuggets.md#a-client",
        "The client continues after ERROR",
        "Show ERROR to the user, and do not stop.";
    MALFORMED: Protocol(1, "Requirements: Malformed messages") "malformed-ignored" in "protocols/nuggets.md#a-client",
        "The client continues after messages of unknown kinds",
        "Compare the whole first word, and ignore a message whose first word is unknown.";
    NO_WORDS: Protocol(1, "Requirements: Malformed messages") "no-words-ignored" in "protocols/nuggets.md#a-client",
        "The client continues after empty and binary datagrams",
        "A datagram may have 0 bytes, and bytes above 127.";
    BAD_NUMBERS: Protocol(1, "Requirements: Malformed messages") "bad-numbers-ignored" in "protocols/nuggets.md#a-client",
        "The client continues after OK, GRID and GOLD with missing or invalid values",
        "Check the result of sscanf and the range of numbers before you use them.";
    BAD_DISPLAYS: Protocol(1, "Requirements: Malformed messages") "bad-displays-ignored" in "protocols/nuggets.md#a-client",
        "The client continues after a DISPLAY whose rows do not fit the grid",
        "Count rows and columns before you draw: reading a missing one exceeds the buffer.";
    WHITE_SPACE: Protocol(1, "Requirements: Malformed messages") "white-space" in "protocols/nuggets.md#a-client",
        "The client continues after messages with trailing zeros and newlines, or several spaces between numbers",
        "Accept different white space: the servers of the course differ.";
    QUIT: Protocol(3, "Requirements: Network protocol, QUIT") "quit-ends" in "protocols/nuggets.md#a-client",
        "The client exits with status 0 after QUIT",
        "Restore the terminal and exit with status 0. QUIT is the normal end, whatever its text is.";
    TEXT: Protocol(3, "Requirements: Network protocol, QUIT") "quit-text" in "protocols/nuggets.md#a-client",
        "The client prints the text of QUIT on standard output",
        "End the full-screen mode before you print. Otherwise the text disappears with the screen.";
    EXACT_TEXT: Protocol(1, "Requirements: Network protocol, QUIT") "exact-text" in "protocols/nuggets.md#a-client",
        "The client prints the text of QUIT unchanged, including percent signs and backslashes",
        "Print it with puts or with printf and %s, not as a format.";
    EMPTY_TEXT: Protocol(1, "Requirements: Network protocol, QUIT") "empty-text" in "protocols/nuggets.md#a-client",
        "The client exits with status 0 after a QUIT with an empty text",
        "The text after QUIT may be empty.";
    QUIT_NUL: Advice "quit-with-zero" in "protocols/nuggets.md#a-client",
        "The client prints the text and exits after a QUIT with a trailing zero byte",
        "Some servers send the zero byte of the string: accept it.";
    REFUSED: Protocol(2, "Requirements: Network protocol, QUIT") "refused" in "protocols/nuggets.md#a-client",
        "The client prints the text and exits if it receives QUIT instead of OK",
        "The game may be full. Handle QUIT from the first message on.";
    FAREWELL: Advice "waits-for-quit" in "protocols/nuggets.md#a-client",
        "After the user types Q, the client waits for QUIT and prints its text",
        "Send KEY Q like any other key, and exit at the QUIT that answers it.";
    SILENT: Advice "silent-after-quit" in "protocols/nuggets.md#a-client",
        "The client sends nothing after QUIT",
        "The game is over: do not answer QUIT with KEY Q.";
    LONG: Protocol(2, "Requirements: Network protocol, QUIT") "long-quit" in "protocols/nuggets.md#a-client",
        "The client prints the whole table of 26 players from one QUIT and exits",
        "A datagram may have 65,507 bytes. recvfrom discards what does not fit into its buffer.";
    INPUT: Protocol(2, "Requirements: Client, EOF on stdin") "end-of-input" in "protocols/nuggets.md#a-client",
        "The client sends KEY Q at the end of standard input",
        "A read that returns 0 bytes is the end of the input. EOF is not a character: store it in an int.";
    NO_CRASH: Protocol(2, "Requirements: Malformed messages") "no-crash" in "protocols/nuggets.md#a-client",
        "The client does not crash, whatever a server sends",
        "Check lengths before you copy, and the result of a parser before you use it.";
    MISSING: Protocol(1, "Requirements: Client, verify its arguments") "missing-arguments" in "protocols/nuggets.md#the-command-line",
        "Without arguments, or without the port, the client exits with a nonzero status",
        "Check argc before you use argv.";
    PORT_WORD: Protocol(1, "Requirements: Client, verify its arguments") "bad-port" in "protocols/nuggets.md#the-command-line",
        "If the port is not a number, the client exits with a nonzero status",
        "Check that the whole word is a number, with the end pointer of strtol.";
    PORT_RANGE: Protocol(1, "Requirements: Client, verify its arguments") "port-range" in "protocols/nuggets.md#the-command-line",
        "If the port is 0 or above 65535, the client exits with a nonzero status",
        "A port is from 1 to 65535: htons drops the higher bits.";
    STRANGERS: Advice "strangers-ignored" in "protocols/nuggets.md#a-client",
        "The client ignores messages from addresses other than the server's",
        "Connect the UDP socket to the server: the system then drops datagrams from other addresses.";
    AGAIN: Advice "asks-again" in "protocols/nuggets.md#a-client",
        "The client repeats its first message until the server answers",
        "Datagrams may get lost: wait with a timeout, and send the first message again.";
    LATE: Advice "late-server" in "protocols/nuggets.md#a-client",
        "The client joins the game if its first message was lost and the second is answered",
        "Send the first message again from the same socket.";
    LEAVES: Advice "leaves-alone" in "protocols/nuggets.md#a-client",
        "The client exits if no QUIT answers the KEY Q that it sent at the end of the input",
        "QUIT may get lost: wait a moment, send KEY Q again, and exit.";
    TRAILING: Advice "trailing-letters" in "protocols/nuggets.md#the-command-line",
        "If letters follow the port, the client exits with a nonzero status",
        "strtol returns the end of the number, which must be the end of the word.";
    EXTRA: Protocol(1, "Requirements: Client, verify its arguments") "extra-argument" in "protocols/nuggets.md#the-command-line",
        "With an extra argument, the client exits with a nonzero status",
        "Compare argc with the exact number.";
    UNKNOWN_OPTION: Advice "unknown-option" in "protocols/nuggets.md#the-command-line",
        "With an unknown option, the client exits with a nonzero status",
        "Reject each argument that you do not know.";
    EXPLAINS: Advice "explains" in "protocols/nuggets.md#the-command-line",
        "A client that rejects its arguments prints the reason on standard error",
        "Write a line with fprintf(stderr, ...) before you exit.";
}
