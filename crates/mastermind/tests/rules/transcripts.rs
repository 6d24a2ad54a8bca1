use crate::server::{Room, daily, race, solo};

const SOLO: &str = "
    w comes
    w < ROOM solo 4 8 no
    Ann > PLAY Ann
    Ann < ROOM solo 4 8 no
    Ann < OK 1
    Ann < SEAT 1 Ann
    Ann < GAME 1 1 4 no
    Ann < TURN 1 available available 0
    w < SEAT 1 Ann
    w < GAME 1 1 4 no
    Ann > GUESS 1234
    Ann < ROW 1 1 1234 0 2
    Ann < TURN 2 available available 0
    w < ROW 1 1 1234 0 2
    Ann > GUESS 12345
    Ann < NO a guess has 4 pegs in this game, not 5
    Ann > GUESS 1290
    Ann < NO byte 8: no guess; say GUESS and 4 to 8 digits from 1 to 8
    Ann > HINT
    Ann < TURN 2 available available 1
    Ann < HINT 2 504 2356 3.06 77.0 134 yes
    Ann > HINT
    Ann < HINT 2 504 2356 3.06 77.0 134 yes
    bob > play  Bob <b>é
    Ann < SEAT 2 Bob <b>__
    Ann < GAME 2 2 4 no
    bob < ROOM solo 4 8 no
    bob < SEAT 1 Ann
    bob < GAME 1 1 4 no
    bob < ROW 1 1 1234 0 2
    bob < OK 2
    bob < SEAT 2 Bob <b>__
    bob < GAME 2 2 4 no
    bob < TURN 1 available available 0
    w < SEAT 2 Bob <b>__
    w < GAME 2 2 4 no
    Ann > LIFELINE 2
    Ann < LIFELINE 1 2 2 1 4
    Ann < TURN 4 used used 1
    bob < LIFELINE 1 2 2 1 4
    w < LIFELINE 1 2 2 1 4
    Ann > LIFELINE 1
    Ann < NO lifeline#1 cannot be used: the one use of a lifeline in this game is spent
    Ann > what
    Ann < NO byte 0: no message; say PLAY <name>, GUESS <digits>, LIFELINE 1, LIFELINE 2, HINT, NEW, RESIGN or QUIT
    Ann > RESIGN
    Ann < OVER 1 resigned 3 1 4367
    bob < OVER 1 resigned 3 1 4367
    w < OVER 1 resigned 3 1 4367
    Ann > NEW 5 yes
    Ann < GAME 1 3 5 yes
    Ann < TURN 1 available available 0
    bob < GAME 1 3 5 yes
    w < GAME 1 3 5 yes
    Ann > GUESS 11111
    Ann < ROW 1 1 11111 1 0
    Ann < TURN 2 available available 0
    bob < ROW 1 1 11111 1 0
    w < ROW 1 1 11111 1 0
    Ann refresh
    Ann < ROOM solo 4 8 no
    Ann < OK 1
    Ann < SEAT 1 Ann
    Ann < GAME 1 3 5 yes
    Ann < ROW 1 1 11111 1 0
    Ann < SEAT 2 Bob <b>__
    Ann < GAME 2 2 4 no
    Ann < TURN 2 available available 0
    w refresh
    w < ROOM solo 4 8 no
    w < SEAT 1 Ann
    w < GAME 1 3 5 yes
    w < ROW 1 1 11111 1 0
    w < SEAT 2 Bob <b>__
    w < GAME 2 2 4 no
    bob > GUESS 4367
    Ann < ROW 2 1 4367 0 2
    bob < ROW 2 1 4367 0 2
    bob < TURN 2 available available 0
    w < ROW 2 1 4367 0 2
    bob > QUIT
    Ann < LEFT 2
    bob < BYE thanks for playing
    w < LEFT 2
    bob closed
    Ann broke
    w < LEFT 1
    Ann closed
    stop
    w < BYE the server was stopped
    w closed
";

const RACE: &str = "
    Ann > PLAY Ann
    Ann < ROOM race 4 8 no 2
    Ann < WAIT 2
    Ann < OK 1
    Ann < SEAT 1 Ann
    Ann < WAIT 1
    Ann > GUESS 1234
    Ann < NO the race has not begun
    bob > PLAY Bob
    Ann < SEAT 2 Bob
    Ann < GAME 1 1 4 no
    Ann < GAME 2 1 4 no
    Ann < TURN 1 available available 0
    bob < ROOM race 4 8 no 2
    bob < SEAT 1 Ann
    bob < WAIT 1
    bob < OK 2
    bob < SEAT 2 Bob
    bob < GAME 1 1 4 no
    bob < GAME 2 1 4 no
    bob < TURN 1 available available 0
    w comes
    w < ROOM race 4 8 no 2
    w < SEAT 1 Ann
    w < GAME 1 1 4 no
    w < SEAT 2 Bob
    w < GAME 2 1 4 no
    bob > HINT
    bob < NO there are no hints in a race
    Ann > GUESS 1234
    Ann < ROW 1 1 1234 0 2
    Ann < TURN 2 available available 0
    bob < ROW 1 1 **** 0 2
    w < ROW 1 1 **** 0 2
    w > PLAY x
    w < NO you only look on here; open the room to play
    Cyd > PLAY Cyd
    Cyd < ROOM race 4 8 no 2
    Cyd < SEAT 1 Ann
    Cyd < GAME 1 1 4 no
    Cyd < ROW 1 1 **** 0 2
    Cyd < SEAT 2 Bob
    Cyd < GAME 2 1 4 no
    Cyd < NO all seats are taken; try again later
    bob > LIFELINE 2
    Ann < LIFELINE 2 1 2 * *
    Cyd < LIFELINE 2 1 2 * *
    bob < LIFELINE 2 1 2 1 4
    bob < TURN 3 used used 0
    w < LIFELINE 2 1 2 * *
    Ann > RESIGN
    Ann < OVER 1 resigned 1 0 ****
    Cyd < OVER 1 resigned 1 0 ****
    bob < OVER 1 resigned 1 0 ****
    w < OVER 1 resigned 1 0 ****
    Ann refresh
    Ann < ROOM race 4 8 no 2
    Ann < OK 1
    Ann < SEAT 1 Ann
    Ann < GAME 1 1 4 no
    Ann < ROW 1 1 1234 0 2
    Ann < OVER 1 resigned 1 0 ****
    Ann < SEAT 2 Bob
    Ann < GAME 2 1 4 no
    Ann < LIFELINE 2 1 2 * *
    wait 600 s
    Ann < OVER 2 late 2 0 ****
    Ann < ROW 1 1 1234 0 2
    Ann < OVER 1 resigned 1 0 4367
    Ann < LIFELINE 2 1 2 1 4
    Ann < OVER 2 late 2 0 4367
    Cyd < OVER 2 late 2 0 ****
    Cyd < ROW 1 1 1234 0 2
    Cyd < OVER 1 resigned 1 0 4367
    Cyd < LIFELINE 2 1 2 1 4
    Cyd < OVER 2 late 2 0 4367
    bob < OVER 2 late 2 0 ****
    bob < ROW 1 1 1234 0 2
    bob < OVER 1 resigned 1 0 4367
    bob < LIFELINE 2 1 2 1 4
    bob < OVER 2 late 2 0 4367
    w < OVER 2 late 2 0 ****
    w < ROW 1 1 1234 0 2
    w < OVER 1 resigned 1 0 4367
    w < LIFELINE 2 1 2 1 4
    w < OVER 2 late 2 0 4367
    Ann > NEW 5 yes
    Ann < NO in a race everybody has the rules of the room; say NEW without any
    Ann > NEW
    Ann < WAIT 1
    Cyd < WAIT 1
    bob < WAIT 1
    w < WAIT 1
    bob > NEW
    Ann < GAME 1 2 4 no
    Ann < GAME 2 2 4 no
    Ann < TURN 1 available available 0
    Cyd < GAME 1 2 4 no
    Cyd < GAME 2 2 4 no
    bob < GAME 1 2 4 no
    bob < GAME 2 2 4 no
    bob < TURN 1 available available 0
    w < GAME 1 2 4 no
    w < GAME 2 2 4 no
    Ann > GUESS 7281
    Ann < ROW 1 1 7281 0 2
    Ann < TURN 2 available available 0
    Cyd < ROW 1 1 **** 0 2
    bob < ROW 1 1 **** 0 2
    w < ROW 1 1 **** 0 2
    bob broke
    Ann < LEFT 2
    Cyd < LEFT 2
    w < LEFT 2
    bob closed
    Ann > GUESS 1234
    Ann < ROW 1 2 1234 0 3
    Ann < TURN 3 available available 0
    Cyd < ROW 1 2 **** 0 3
    w < ROW 1 2 **** 0 3
";

const DAY: &str = "
    Ann > PLAY Ann
    Ann < ROOM daily 4 8 yes 2026-01-13
    Ann < OK 1
    Ann < SEAT 1 Ann
    Ann < GAME 1 1 4 yes
    Ann < TURN 1 available available 0
    bob > PLAY Bob
    Ann < SEAT 2 Bob
    Ann < GAME 2 2 4 yes
    bob < ROOM daily 4 8 yes 2026-01-13
    bob < SEAT 1 Ann
    bob < GAME 1 1 4 yes
    bob < OK 2
    bob < SEAT 2 Bob
    bob < GAME 2 2 4 yes
    bob < TURN 1 available available 0
    Ann > GUESS 1234
    Ann < ROW 1 1 1234 0 3
    Ann < TURN 2 available available 0
    bob < ROW 1 1 **** 0 3
    Ann > LIFELINE 1
    Ann < LIFELINE 1 2 1 * 1
    Ann < TURN 3 used used 0
    bob < LIFELINE 1 2 1 * *
    Ann > RESIGN
    Ann < OVER 1 resigned 2 0 3451
    bob < OVER 1 resigned 2 0 ****
    Ann > NEW
    Ann < NO there is one puzzle a day; the next one comes at midnight in Greenwich
    bob refresh
    bob < ROOM daily 4 8 yes 2026-01-13
    bob < OK 2
    bob < SEAT 1 Ann
    bob < GAME 1 1 4 yes
    bob < ROW 1 1 **** 0 3
    bob < LIFELINE 1 2 1 * *
    bob < OVER 1 resigned 2 0 ****
    bob < SEAT 2 Bob
    bob < GAME 2 2 4 yes
    bob < TURN 1 available available 0
    bob > GUESS 3451
    Ann < ROW 2 1 **** 4 0
    Ann < OVER 2 won 1 0 ****
    bob < ROW 2 1 3451 4 0
    bob < OVER 2 won 1 0 3451
    wait 600 s
    Ann < ROOM daily 4 8 yes 2026-01-14
    Ann < OK 1
    Ann < SEAT 1 Ann
    Ann < GAME 1 1 4 yes
    Ann < ROW 1 1 1234 0 3
    Ann < LIFELINE 1 2 1 * 1
    Ann < OVER 1 resigned 2 0 3451
    Ann < SEAT 2 Bob
    Ann < GAME 2 2 4 yes
    Ann < ROW 2 1 **** 4 0
    Ann < OVER 2 won 1 0 ****
    bob < ROOM daily 4 8 yes 2026-01-14
    bob < OK 2
    bob < SEAT 1 Ann
    bob < GAME 1 1 4 yes
    bob < ROW 1 1 **** 0 3
    bob < LIFELINE 1 2 1 * *
    bob < OVER 1 resigned 2 0 ****
    bob < SEAT 2 Bob
    bob < GAME 2 2 4 yes
    bob < ROW 2 1 3451 4 0
    bob < OVER 2 won 1 0 3451
    Ann > NEW
    Ann < GAME 1 3 4 yes
    Ann < TURN 1 available available 0
    bob < GAME 1 3 4 yes
    wait 300 s
    Ann < LEFT 2
    bob < BYE you said nothing for 15 minutes and have lost your seat
    bob closed
";

transcripts! {
    solo_room: Room::new(solo()) => SOLO;
    race_room: Room::new(race(2)) => RACE;
    daily_room: Room::new(daily()) => DAY;
}
