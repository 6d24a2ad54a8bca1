//! The requirements for a mastermind server.

use crate::rule::rules;

rules! {
    LISTENS: Protocol(1, "What a server answers, a connection") "listens" in "protocols/mastermind.md#what-a-server-answers",
        "The server accepts connections on its port",
        "Listen on the port from the command line, on all addresses or on 127.0.0.1.";
    GRAMMAR: Protocol(2, "Messages") "grammar" in "protocols/mastermind.md#messages",
        "The server sends only messages of the protocol: at most 256 bytes of printable ASCII and one line feed",
        "Send no blank at the end, no carriage return and no leading zeros.";
    ROOM: Protocol(2, "What a server answers, a connection") "room" in "protocols/mastermind.md#what-a-server-answers",
        "The server sends ROOM as the first message of a connection, here for a solo room",
        "Send ROOM as soon as a client connects, before it sends anything.";
    SEAT: Protocol(3, "What a server answers, PLAY") "seat" in "protocols/mastermind.md#what-a-server-answers",
        "The server answers PLAY with OK, SEAT with the name, and GAME",
        "Send them in this order, with the name from PLAY.";
    FIRST_TURN: Protocol(2, "What a server answers, PLAY") "first-turn" in "protocols/mastermind.md#what-a-server-answers",
        "After GAME the server sends TURN 1 available available 0",
        "Send TURN immediately after GAME, with two words and the number of hints so far.";
    NAMES: Protocol(1, "Messages, PLAY") "names" in "protocols/mastermind.md#messages",
        "The server cuts a name to 24 bytes and replaces bytes other than printable ASCII with _",
        "Count bytes, not letters: é has two bytes in UTF-8.";
    NUMBERS: Protocol(1, "Messages, GAME") "numbers" in "protocols/mastermind.md#messages",
        "Each game in the room has a different number",
        "Count the games of the room, not those of one seat.";
    ROW: Protocol(4, "What a server answers, GUESS") "row" in "protocols/mastermind.md#what-a-server-answers",
        "The server answers GUESS with ROW, which has the seat, the turn and the guess",
        "Repeat the guess, and count turns from 1.";
    FEEDBACK: Protocol(5, "Mastermind, The game") "feedback" in "mastermind.md#the-game",
        "The red and white counts in ROW match the code in OVER",
        "Use each digit of the code once, and count exact matches first. For the code 2111, the guess 1222 gets 0 and 2.";
    TURN: Protocol(3, "What a server answers, GUESS") "turn" in "protocols/mastermind.md#what-a-server-answers",
        "After ROW the server sends TURN with the next turn, unless the game is over",
        "Count the turns used by lifelines too.";
    WON: Protocol(3, "What a server answers, GUESS") "won" in "protocols/mastermind.md#what-a-server-answers",
        "The server answers the right code with OVER won, the turns, the hints and the code",
        "Count the turn of the right guess, and those of a lifeline.";
    LOST: Protocol(3, "What a server answers, GUESS") "lost" in "protocols/mastermind.md#what-a-server-answers",
        "After the tenth turn the server sends OVER lost 10 with the code",
        "After each ROW, check whether it was the tenth turn.";
    RESIGNED: Protocol(2, "What a server answers, RESIGN") "resigned" in "protocols/mastermind.md#what-a-server-answers",
        "The server answers RESIGN with OVER resigned, the completed turns and the code",
        "Do not count the current turn.";
    CODES: Protocol(3, "Mastermind, The game") "codes" in "mastermind.md#the-game",
        "The code has the length and the colours of the game, and no digit twice if repeats are not allowed",
        "Without repeats, shuffle the digits and take as many as the code needs.";
    REPEATS: Protocol(1, "Mastermind, The game") "repeats" in "mastermind.md#the-game",
        "If repeats are allowed, some codes have repeated digits",
        "Draw each digit independently.";
    RANDOM: Protocol(2, "Mastermind, The game") "random" in "mastermind.md#the-game",
        "Codes differ between games and between starts of the server",
        "Seed the generator once, with a different value at each start.";
    LIFELINE_1: Protocol(2, "Mastermind, Lifelines") "lifeline-1" in "mastermind.md#lifelines",
        "LIFELINE 1 reveals a digit of the code without its place, and takes one turn",
        "Write `*` as the place.";
    LIFELINE_2: Protocol(2, "Mastermind, Lifelines") "lifeline-2" in "mastermind.md#lifelines",
        "LIFELINE 2 reveals a place, counted from 1, and its digit, and takes two turns",
        "The first place is 1, not 0.";
    ANY_PLACE: Protocol(1, "Mastermind, Lifelines") "any-place" in "mastermind.md#lifelines",
        "Lifelines reveal a random place",
        "Draw the place each time. Do not take the first unknown place.";
    ONE_LIFELINE: Protocol(1, "Mastermind, Lifelines") "one-lifeline" in "mastermind.md#lifelines",
        "The server grants one lifeline in a game, and then refuses both",
        "Use one flag for both lifelines.";
    BLOCKED: Protocol(1, "Mastermind, Lifelines") "blocked" in "mastermind.md#lifelines",
        "The server grants a lifeline exactly if it leaves a turn for a guess",
        "With ten turns, grant the second lifeline, which takes two, in turn 8 but not in turn 9.";
    AVAILABILITY: Protocol(1, "Messages, TURN") "availability" in "protocols/mastermind.md#messages",
        "TURN shows for each lifeline whether the server would grant it: available, used or blocked",
        "Use one function both to show the word and to refuse the lifeline.";
    NEW: Protocol(2, "What a server answers, NEW") "new" in "protocols/mastermind.md#what-a-server-answers",
        "After a game the server answers NEW with the next game, by the rules of the room",
        "Keep the seat, and draw a new code. Start at turn 1.";
    NEW_RULES: Protocol(2, "What a server answers, NEW") "new-rules" in "protocols/mastermind.md#what-a-server-answers",
        "The server answers NEW with a length and yes or no with a game by these rules",
        "Parse the length and the word, and use them for this game only.";
    REFUSED: Protocol(1, "Messages, lines that are no messages") "refused" in "protocols/mastermind.md#messages",
        "The server answers an invalid line with NO and does nothing else",
        "Check the whole line: the number of digits, each digit, and that nothing follows.";
    NO_EFFECT: Protocol(1, "Messages, NO") "no-effect" in "protocols/mastermind.md#messages",
        "The server answers a message at the wrong time with NO and does nothing else",
        "First check whether the client has a seat and a game in progress.";
    LOWER_CASE: Protocol(1, "Messages") "lower-case" in "protocols/mastermind.md#messages",
        "The server accepts the first word in lower case",
        "Ignore case in the first word only.";
    CARRIAGE_RETURN: Protocol(1, "Messages") "carriage-return" in "protocols/mastermind.md#messages",
        "The server ignores a carriage return before the line feed",
        "Remove it in one place, before you parse the line.";
    PIECES: Protocol(1, "Messages") "pieces" in "protocols/mastermind.md#messages",
        "The server accepts messages that arrive byte by byte",
        "A read may return a part of a message: collect bytes up to the line feed.";
    MERGED: Protocol(1, "Messages") "merged" in "protocols/mastermind.md#messages",
        "The server accepts several messages that arrive together",
        "A read may return several messages: keep the bytes after the line feed for the next one.";
    LONG_LINE: Protocol(1, "Messages") "long-line" in "protocols/mastermind.md#messages",
        "The server accepts a line of 64 bytes, and ends the connection with BYE after a longer one, even without its line feed",
        "Count bytes while you collect them. Do not wait for the line feed.";
    QUIT: Protocol(2, "What a server answers, QUIT") "quit" in "protocols/mastermind.md#what-a-server-answers",
        "The server answers QUIT with BYE and closes the connection",
        "Send BYE, then close.";
    LEFT: Protocol(1, "What a server answers, QUIT") "left" in "protocols/mastermind.md#what-a-server-answers",
        "When a player leaves, the server sends LEFT with its seat to all other clients",
        "A connection may also end without QUIT.";
    SEEN: Protocol(2, "Who may see what") "seen" in "protocols/mastermind.md#who-may-see-what",
        "In a solo room the server sends SEAT, GAME, ROW, LIFELINE and OVER of each player to all clients",
        "Send them to observers too.";
    OWN_TURN: Protocol(1, "What a server answers") "own-turn" in "protocols/mastermind.md#what-a-server-answers",
        "The server sends OK, TURN and NO only to the player concerned",
        "Separate messages for all clients from messages for one player.";
    STATE: Protocol(2, "What a server answers, a connection") "state" in "protocols/mastermind.md#what-a-server-answers",
        "The server sends a new client SEAT, GAME, the ROWs and LIFELINEs, and OVER of each taken seat",
        "Keep the rows and the lifeline of each game, and send them to each new client after ROOM.";
    HINT: Protocol(1, "What a server answers, HINT") "hint" in "protocols/mastermind.md#what-a-server-answers",
        "The server answers HINT with NO, or with TURN, HINT with the number of possible codes, and POSSIBLE if they are few",
        "Without a codebreaker, answer NO.";
    MANY: Advice "many" in "protocols/mastermind.md#what-a-server-answers",
        "The server serves twenty players at the same time, each with its own seat and game",
        "Give each connection its own seat and game. Do not limit the number of seats.";
    OTHERS: Protocol(2, "Messages, lines that are no messages") "others" in "protocols/mastermind.md#what-a-server-answers",
        "A misbehaving client does not disturb the other players",
        "Disconnect that client without ending the program, and never block on one client.";
    NEVER_READS: Advice "never-reads" in "protocols/mastermind.md#what-a-server-answers",
        "A client that sends requests and never reads does not block the other players",
        "Writing to a full socket blocks. Queue a limited number of messages, then close the connection.";
    NO_CRASH: Protocol(3, "Messages, lines that are no messages") "no-crash" in "protocols/mastermind.md#what-a-server-answers",
        "The server does not crash, whatever a client sends or does",
        "Check lengths before you copy, and ignore SIGPIPE: a client may disconnect at any time.";
}
