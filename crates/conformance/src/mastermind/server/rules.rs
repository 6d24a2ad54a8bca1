//! The requirements for a mastermind server.

use crate::rule::rules;

rules! {
    LISTENS: Protocol(1, "What a server answers, a connection") "listens" in "protocols/mastermind.md#what-a-server-answers",
        "The server takes connections at its port",
        "Listen at the port of the command line, on all addresses or on 127.0.0.1.";
    GRAMMAR: Protocol(2, "Messages") "grammar" in "protocols/mastermind.md#messages",
        "Each message is one that the protocol lists, in printable ASCII of at most 256 bytes, ended by one line feed",
        "No blank at the end, no carriage return, no zero in front of a number.";
    ROOM: Protocol(2, "What a server answers, a connection") "room" in "protocols/mastermind.md#what-a-server-answers",
        "The first message of a connection is ROOM, here of a solo room",
        "Send it when somebody connects, before anything is asked for.";
    SEAT: Protocol(3, "What a server answers, PLAY") "seat" in "protocols/mastermind.md#what-a-server-answers",
        "PLAY is answered by OK, SEAT with the name, and GAME",
        "Answer in this order, and with the name that PLAY had.";
    FIRST_TURN: Protocol(2, "What a server answers, PLAY") "first-turn" in "protocols/mastermind.md#what-a-server-answers",
        "GAME is followed by TURN 1 available available 0",
        "TURN follows GAME at once, with two words and the hints so far.";
    NAMES: Protocol(1, "Messages, PLAY") "names" in "protocols/mastermind.md#messages",
        "A name is cut to 24 bytes, and bytes that are not printable ASCII become _",
        "Count bytes and not letters: é has two in UTF-8.";
    NUMBERS: Protocol(1, "Messages, GAME") "numbers" in "protocols/mastermind.md#messages",
        "Each game of the room has a number of its own",
        "Count the games of the room and not those of a seat.";
    ROW: Protocol(4, "What a server answers, GUESS") "row" in "protocols/mastermind.md#what-a-server-answers",
        "GUESS is answered by ROW with the seat, the turn and the guess",
        "Repeat the guess, and count turns from 1.";
    FEEDBACK: Protocol(5, "Mastermind, The game") "feedback" in "mastermind.md#the-game",
        "Red and white are those of the code that is told at the end",
        "Each digit of the code counts once, and exact matches count first: for the code 2111, the guess 1222 gets 0 and 2.";
    TURN: Protocol(3, "What a server answers, GUESS") "turn" in "protocols/mastermind.md#what-a-server-answers",
        "ROW is followed by TURN with the next turn, as long as the game goes on",
        "Count the turns that lifelines have taken, too.";
    WON: Protocol(3, "What a server answers, GUESS") "won" in "protocols/mastermind.md#what-a-server-answers",
        "The right code ends the game: OVER won, with the turns, the hints and the code",
        "Count the turn of the right guess too, and those of a lifeline.";
    LOST: Protocol(3, "What a server answers, GUESS") "lost" in "protocols/mastermind.md#what-a-server-answers",
        "The tenth turn ends the game: OVER lost 10, with the code",
        "Look after each ROW whether that was the tenth turn.";
    RESIGNED: Protocol(2, "What a server answers, RESIGN") "resigned" in "protocols/mastermind.md#what-a-server-answers",
        "RESIGN ends the game: OVER resigned, with the turns that are gone and the code",
        "The turn that is next is not gone yet.";
    CODES: Protocol(3, "Mastermind, The game") "codes" in "mastermind.md#the-game",
        "The code has the length of the game, digits of its colours, and none of them twice where repeats are refused",
        "Where repeats are refused, shuffle the digits and take as many as the code has.";
    REPEATS: Protocol(1, "Mastermind, The game") "repeats" in "mastermind.md#the-game",
        "Where repeats are allowed, codes have some",
        "Draw each digit by itself.";
    RANDOM: Protocol(2, "Mastermind, The game") "random" in "mastermind.md#the-game",
        "Codes differ from game to game, and from one start of the server to the next",
        "Seed the generator once, with something else at each start.";
    LIFELINE_1: Protocol(2, "Mastermind, Lifelines") "lifeline-1" in "mastermind.md#lifelines",
        "LIFELINE 1 tells a digit of the code without its place, and takes one turn",
        "Write `*` for the place.";
    LIFELINE_2: Protocol(2, "Mastermind, Lifelines") "lifeline-2" in "mastermind.md#lifelines",
        "LIFELINE 2 tells a place, counted from 1, and its digit, and takes two turns",
        "The first place is 1 and not 0.";
    ANY_PLACE: Protocol(1, "Mastermind, Lifelines") "any-place" in "mastermind.md#lifelines",
        "Lifelines tell of a random place",
        "Draw the place each time. The first one that is not known is no random one.";
    ONE_LIFELINE: Protocol(1, "Mastermind, Lifelines") "one-lifeline" in "mastermind.md#lifelines",
        "There is one lifeline in a game: after it both are refused",
        "One flag for both.";
    BLOCKED: Protocol(1, "Mastermind, Lifelines") "blocked" in "mastermind.md#lifelines",
        "A lifeline is granted exactly if it leaves a turn for a guess",
        "Ten turns and two for the second lifeline: it is granted in turn 8, and not in turn 9.";
    AVAILABILITY: Protocol(1, "Messages, TURN") "availability" in "protocols/mastermind.md#messages",
        "TURN says of each lifeline whether it would be granted: available, used or blocked",
        "Compute the word by the rule that also refuses the lifeline.";
    NEW: Protocol(2, "What a server answers, NEW") "new" in "protocols/mastermind.md#what-a-server-answers",
        "After a game NEW begins the next one, with the rules of the room",
        "Keep the seat, and draw another code. The turns begin at 1.";
    NEW_RULES: Protocol(2, "What a server answers, NEW") "new-rules" in "protocols/mastermind.md#what-a-server-answers",
        "NEW with a length and yes or no begins a game with these rules",
        "Read the length and the word, and use both for this game alone.";
    REFUSED: Protocol(1, "Messages, lines that are no messages") "refused" in "protocols/mastermind.md#messages",
        "A line that is no message is answered by NO, and nothing else happens",
        "Check the whole line: what follows the last word, how many digits there are, and which.";
    NO_EFFECT: Protocol(1, "Messages, NO") "no-effect" in "protocols/mastermind.md#messages",
        "A message at the wrong time is answered by NO, and nothing else happens",
        "Look first whether there is a seat, and whether its game goes on.";
    LOWER_CASE: Protocol(1, "Messages") "lower-case" in "protocols/mastermind.md#messages",
        "A player may write the first word in lower case",
        "Compare the first word alone without regard to case.";
    CARRIAGE_RETURN: Protocol(1, "Messages") "carriage-return" in "protocols/mastermind.md#messages",
        "A carriage return before the line feed is ignored",
        "Remove it in one place, before the line is read.";
    PIECES: Protocol(1, "Messages") "pieces" in "protocols/mastermind.md#messages",
        "Messages count the same when they arrive byte by byte",
        "A read is not a message: collect bytes until the line feed.";
    MERGED: Protocol(1, "Messages") "merged" in "protocols/mastermind.md#messages",
        "Messages count the same when several arrive together",
        "A read is not a message: keep what is behind the line feed for the next one.";
    LONG_LINE: Protocol(1, "Messages") "long-line" in "protocols/mastermind.md#messages",
        "A line of 64 bytes is read; a longer one ends the connection with BYE, also before its line feed has come",
        "Count while you collect: do not wait for the line feed.";
    QUIT: Protocol(2, "What a server answers, QUIT") "quit" in "protocols/mastermind.md#what-a-server-answers",
        "QUIT is answered by BYE, and the connection is closed",
        "Send BYE, then close.";
    LEFT: Protocol(1, "What a server answers, QUIT") "left" in "protocols/mastermind.md#what-a-server-answers",
        "When a player has gone, everybody else gets LEFT with its seat",
        "A connection also ends without QUIT.";
    SEEN: Protocol(2, "Who may see what") "seen" in "protocols/mastermind.md#who-may-see-what",
        "In a solo room everybody gets the SEAT, GAME, ROW, LIFELINE and OVER of each player",
        "Those who only look on get them too.";
    OWN_TURN: Protocol(1, "What a server answers") "own-turn" in "protocols/mastermind.md#what-a-server-answers",
        "OK, TURN and NO go to the player whom they concern, and to nobody else",
        "Keep apart what all get and what its player gets.";
    STATE: Protocol(2, "What a server answers, a connection") "state" in "protocols/mastermind.md#what-a-server-answers",
        "Whoever connects gets, for each taken seat, SEAT, GAME, its ROWs and LIFELINEs and its OVER",
        "Keep the rows and the lifeline of each game, and send them to whoever connects, after ROOM.";
    HINT: Protocol(1, "What a server answers, HINT") "hint" in "protocols/mastermind.md#what-a-server-answers",
        "HINT is refused, or answered by TURN, HINT with the number of possible codes, and POSSIBLE if they are few",
        "Without a codebreaker, answer NO.";
    MANY: Advice "many" in "protocols/mastermind.md#what-a-server-answers",
        "Twenty players play at the same time, each at a seat and at a game of its own",
        "Each connection has its own seat and game. Do not stop at a number of seats.";
    OTHERS: Protocol(2, "Messages, lines that are no messages") "others" in "protocols/mastermind.md#what-a-server-answers",
        "Whatever one peer sends or does, the others play on",
        "Take that peer out instead of ending the program, and never wait for one of them.";
    NEVER_READS: Advice "never-reads" in "protocols/mastermind.md#what-a-server-answers",
        "A peer that asks and never reads does not keep the others from playing",
        "Writing to a full connection blocks. Queue up to a bound, and then close it.";
    NO_CRASH: Protocol(3, "Messages, lines that are no messages") "no-crash" in "protocols/mastermind.md#what-a-server-answers",
        "Nothing that a peer sends or does crashes the server",
        "Check lengths before you copy, and ignore SIGPIPE: a peer may go away at any time.";
}
