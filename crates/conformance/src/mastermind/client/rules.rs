//! The requirements for a mastermind client.

use crate::rule::rules;

rules! {
    JOINS: Protocol(3, "What a server answers, PLAY") "joins" in "protocols/mastermind.md#messages",
        "The client connects and takes a seat with PLAY and its name",
        "Take host and port from the command line, and say PLAY when ROOM has come.";
    GRAMMAR: Protocol(2, "Messages") "grammar" in "protocols/mastermind.md#messages",
        "Each message is one that the protocol lists for players, at most 64 bytes and a line feed",
        "One blank between words, none at the end.";
    NAME: Protocol(1, "Messages, PLAY") "name" in "protocols/mastermind.md#messages",
        "The name is sent as it was given, with blanks inside",
        "Take the whole argument, and send all of it.";
    SEAT: Protocol(2, "Messages, OK") "seat" in "protocols/mastermind.md#messages",
        "The client plays at whatever seat OK gives it",
        "Compare the first number of GAME, ROW and OVER with that of OK. Seats may have two digits.";
    PLAYS: Protocol(5, "What a server answers, GUESS") "plays" in "protocols/mastermind.md#what-a-server-answers",
        "TURN is answered: by GUESS, LIFELINE, HINT or RESIGN",
        "TURN is the question. ROW or GAME is none.";
    QUIET: Protocol(2, "What a server answers, GUESS") "quiet" in "protocols/mastermind.md#what-a-server-answers",
        "One message for each TURN, and none before the next one has come",
        "Say something when TURN comes, not at each ROW, and not after a while.";
    LENGTH: Protocol(3, "Messages, GAME") "length" in "protocols/mastermind.md#messages",
        "A guess has as many digits as GAME says, from four to six here",
        "Take the length from GAME and not from ROOM: games of one room may differ.";
    COLOURS: Protocol(2, "Messages, ROOM") "colours" in "protocols/mastermind.md#messages",
        "A guess has only digits of the colours that ROOM says",
        "ROOM has the length first and the colours second.";
    AFTER_OVER: Protocol(4, "What a server answers, NEW") "after-over" in "protocols/mastermind.md#what-a-server-answers",
        "After OVER the client says NEW or QUIT, or leaves",
        "Only the OVER of the own seat counts. TURN does not come by itself again.";
    LATE: Protocol(1, "Messages, OVER") "late" in "protocols/mastermind.md#who-may-see-what",
        "OVER may come before the code is found, as late in a race",
        "Do not wait for TURN after each ROW.";
    NEXT_GAME: Protocol(3, "What a server answers, NEW") "next-game" in "protocols/mastermind.md#what-a-server-answers",
        "The next game is played by the rules of its GAME, and without the answers of the one before",
        "Give the command {games}, or this cannot be tested with a client that plays one game.";
    OTHERS: Protocol(2, "Who may see what") "others" in "protocols/mastermind.md#messages",
        "GAME, ROW, LIFELINE and OVER of other seats change nothing",
        "Compare the seat first.";
    STATE: Protocol(2, "What a server answers, a connection") "state" in "protocols/mastermind.md#what-a-server-answers",
        "The client takes its seat in a room where others have played for a while",
        "ROOM is followed by SEAT, GAME, ROW and OVER of others before OK comes.";
    STARS: Protocol(1, "Who may see what") "stars" in "protocols/mastermind.md#who-may-see-what",
        "Stars in the messages of other seats, and in the own OVER, are understood",
        "A code or a guess of others may be stars: do not read it as digits.";
    RACE: Protocol(2, "What a server answers, PLAY") "race" in "protocols/mastermind.md#what-a-server-answers",
        "In a race the client waits until all are ready",
        "WAIT is no TURN.";
    DAILY: Protocol(2, "Messages, ROOM") "daily" in "protocols/mastermind.md#messages",
        "The client plays in a room with the puzzle of the day",
        "ROOM daily ends with a date.";
    ROOM_AGAIN: Protocol(1, "What a server answers, NEW") "room-again" in "protocols/mastermind.md#what-a-server-answers",
        "When ROOM and the complete state come again, the client keeps its seat and goes on",
        "Say PLAY once. Rows that come again replace those that are known.";
    REFUSED: Protocol(1, "Messages, NO") "refused" in "protocols/mastermind.md#messages",
        "After NO the client does not say the same again and again",
        "Take the next message that could be right, or leave.";
    PIECES: Protocol(1, "Messages") "pieces" in "protocols/mastermind.md#messages",
        "Messages count the same when they arrive byte by byte",
        "A read is not a message: collect bytes until the line feed.";
    MERGED: Protocol(1, "Messages") "merged" in "protocols/mastermind.md#messages",
        "Messages count the same when several arrive together",
        "A read is not a message: keep what is behind the line feed for the next one.";
    CARRIAGE_RETURN: Protocol(1, "Messages") "carriage-return" in "protocols/mastermind.md#messages",
        "A carriage return before the line feed is ignored",
        "Remove it in one place, before the line is read.";
    BYE: Protocol(2, "Messages, BYE") "bye" in "protocols/mastermind.md#messages",
        "After BYE, which may come at any time, and the end of the connection the client ends",
        "End at BYE, whatever was awaited.";
    EXIT_STATUS: Advice "exit-status" in "protocols/mastermind.md#what-a-server-answers",
        "After QUIT and BYE the client ends with status 0",
        "Return 0 from main.";
    SERVER_GONE: Protocol(1, "Messages, BYE") "server-gone" in "protocols/mastermind.md#messages",
        "When the connection ends without BYE, the client ends",
        "A read of no bytes is the end of the connection.";
    NO_CRASH: Protocol(3, "Messages") "no-crash" in "protocols/mastermind.md#messages",
        "Nothing that a server sends crashes the client",
        "Check how many words a line has before you use them.";
    FITS: Advice "fits" in "mastermind.md#the-game",
        "Each guess fits the answers before it",
        "Keep the codes that get the same answers, and guess one of them.";
}
