//! The requirements for a mastermind client.

use crate::rule::rules;

rules! {
    JOINS: Protocol(3, "What a server answers, PLAY") "joins" in "protocols/mastermind.md#messages",
        "The client connects and takes a seat with PLAY and its name",
        "Take host and port from the command line, and send PLAY after ROOM.";
    GRAMMAR: Protocol(2, "Messages") "grammar" in "protocols/mastermind.md#messages",
        "The client sends only player messages of the protocol, of at most 64 bytes and a line feed",
        "Send one blank between words and none at the end.";
    NAME: Protocol(1, "Messages, PLAY") "name" in "protocols/mastermind.md#messages",
        "The client sends its name unchanged, including blanks",
        "Take the whole argument, and send all of it.";
    SEAT: Protocol(2, "Messages, OK") "seat" in "protocols/mastermind.md#messages",
        "The client accepts any seat number in OK",
        "Compare the first number of GAME, ROW and OVER with the number in OK. Seats may have two digits.";
    PLAYS: Protocol(5, "What a server answers, GUESS") "plays" in "protocols/mastermind.md#what-a-server-answers",
        "The client answers TURN with GUESS, LIFELINE, HINT or RESIGN",
        "Answer TURN, not ROW or GAME.";
    QUIET: Protocol(2, "What a server answers, GUESS") "quiet" in "protocols/mastermind.md#what-a-server-answers",
        "The client sends one message for each TURN, and waits for the next TURN",
        "Send a message after TURN only, not after each ROW or after a delay.";
    LENGTH: Protocol(3, "Messages, GAME") "length" in "protocols/mastermind.md#messages",
        "A guess has the number of digits in GAME, here from four to six",
        "Take the length from GAME, not from ROOM: games in one room may differ.";
    COLOURS: Protocol(2, "Messages, ROOM") "colours" in "protocols/mastermind.md#messages",
        "A guess contains only the colours of ROOM",
        "In ROOM the length comes first and the number of colours second.";
    AFTER_OVER: Protocol(4, "What a server answers, NEW") "after-over" in "protocols/mastermind.md#what-a-server-answers",
        "After OVER the client sends NEW or QUIT, or closes the connection",
        "React only to the OVER of your own seat. The server sends no TURN until you send NEW.";
    LATE: Protocol(1, "Messages, OVER") "late" in "protocols/mastermind.md#who-may-see-what",
        "The client accepts an OVER before it has found the code, such as OVER late in a race",
        "Do not wait for TURN after each ROW: OVER may come instead.";
    NEXT_GAME: Protocol(3, "What a server answers, NEW") "next-game" in "protocols/mastermind.md#what-a-server-answers",
        "The client plays the next game by the rules in its GAME, and discards the answers of the last game",
        "Clear the answers at GAME. Use {games} in the command, or the kit cannot test this with a client that plays one game.";
    OTHERS: Protocol(2, "Who may see what") "others" in "protocols/mastermind.md#messages",
        "The client ignores GAME, ROW, LIFELINE and OVER of other seats",
        "Compare the seat first.";
    STATE: Protocol(2, "What a server answers, a connection") "state" in "protocols/mastermind.md#what-a-server-answers",
        "The client takes a seat in a room where a game is already in progress",
        "Between ROOM and OK, expect SEAT, GAME, ROW and OVER of other players.";
    STARS: Protocol(1, "Who may see what") "stars" in "protocols/mastermind.md#who-may-see-what",
        "The client accepts stars in messages of other seats and in its own OVER",
        "A code or guess of another player may consist of stars: do not parse it as digits.";
    RACE: Protocol(2, "What a server answers, PLAY") "race" in "protocols/mastermind.md#what-a-server-answers",
        "In a race the client waits until all players are ready",
        "WAIT is not TURN: send no guess.";
    DAILY: Protocol(2, "Messages, ROOM") "daily" in "protocols/mastermind.md#messages",
        "The client plays in a room with the daily puzzle",
        "ROOM daily ends with a date.";
    ROOM_AGAIN: Protocol(1, "What a server answers, NEW") "room-again" in "protocols/mastermind.md#what-a-server-answers",
        "If the server repeats ROOM and the complete state, the client keeps its seat and continues",
        "Send PLAY once. Replace the known rows with the repeated ones.";
    REFUSED: Protocol(1, "Messages, NO") "refused" in "protocols/mastermind.md#messages",
        "After NO the client does not repeat the same message endlessly",
        "Send the next message that can be valid, or disconnect.";
    PIECES: Protocol(1, "Messages") "pieces" in "protocols/mastermind.md#messages",
        "The client accepts messages that arrive byte by byte",
        "A read may return a part of a message: collect bytes up to the line feed.";
    MERGED: Protocol(1, "Messages") "merged" in "protocols/mastermind.md#messages",
        "The client accepts several messages that arrive together",
        "A read may return several messages: keep the bytes after the line feed for the next one.";
    CARRIAGE_RETURN: Protocol(1, "Messages") "carriage-return" in "protocols/mastermind.md#messages",
        "The client ignores a carriage return before the line feed",
        "Remove it in one place, before you parse the line.";
    BYE: Protocol(2, "Messages, BYE") "bye" in "protocols/mastermind.md#messages",
        "The client exits after BYE, at any time, and the end of the connection",
        "Handle BYE in every state.";
    EXIT_STATUS: Advice "exit-status" in "protocols/mastermind.md#what-a-server-answers",
        "After QUIT and BYE the client exits with status 0",
        "Return 0 from main.";
    SERVER_GONE: Protocol(1, "Messages, BYE") "server-gone" in "protocols/mastermind.md#messages",
        "The client exits when the connection ends without BYE",
        "A read of 0 bytes is the end of the connection.";
    NO_CRASH: Protocol(3, "Messages") "no-crash" in "protocols/mastermind.md#messages",
        "The client does not crash, whatever a server sends",
        "Check the number of words in a line before you use them.";
    FITS: Advice "fits" in "mastermind.md#the-game",
        "Each guess is consistent with all previous answers",
        "Keep the codes that would get the same answers, and guess one of them.";
}
