use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg64;
use testkit::{properties::rooms::room, seeds::for_each_seed};

const SCRIPTS: u64 = 1_000;
const STEPS: usize = 40;

const SENT: [&[&[u8]]; 5] = [
    &[
        b"PLAY Ann",
        b"SPECTATE",
        b"KEY h",
        b"KEY L",
        b"KEY Q",
        b"KEY ?",
        b"KEY",
        b"nonsense",
        b"\0\0\0\x08PLAY Ann",
        b"\0\0\0\x05KEY h",
        b"\0\0\0\x05KEY Q",
        b"\0\0\0\x02hi",
        b"\0\xff\xff\xff",
    ],
    &[
        b"JOIN Ann\0",
        b"HIT\0",
        b"STAND\0",
        b"JOIN \0",
        b"\0\0\0\x05\x01\x01Ann",
        b"\0\0\0\x01\x06",
        b"\0\0\0\x01\x07",
        b"\0\0\0\0",
        b"\0\0\x02\0",
        b"x",
    ],
    &[b"\0\x03Ann", b"\0\0", b"\x01", b"\x02", b"\x03\x02", b"\x03", b"\x03\x09", b"\x04", b"\0\x02\xff\xff"],
    &[
        b"PLAY Ann\n",
        b"GUESS 1234\n",
        b"GUESS 9\r\n",
        b"LIFELINE 1\n",
        b"HINT\n",
        b"NEW\n",
        b"RESIGN\n",
        b"QUIT\n",
        b"PLAY Ann",
        b"GUESS 1122",
        b"\n",
        b"longer than any line of this game, which ends nowhere and goes on and on",
    ],
    &[
        b"PLAY Ann\n",
        b"PLAY Bob\n",
        b"MOVE 1\n",
        b"MOVE 4\n",
        b"MOVE 7\r\n",
        b"MOVE 9\n",
        b"AGAIN\n",
        b"RESIGN\n",
        b"QUIT\n",
        b"PLAY Ann",
        b"MOVE 4",
        b"\n",
        b"longer than any line of this game, which ends nowhere and goes on and on",
    ],
];

fn script(game: u8, rng: &mut impl Rng) -> Vec<u8> {
    // A turn-based game has its number in the upper bits.
    let first = if game < 4 { game | rng.random_range(0..2) << 2 } else { (game - 3) << 3 };
    let mut script = vec![first];
    for guest in 0..3 {
        script.push(guest | connect(rng));
    }
    for _ in 0..STEPS {
        let guest = rng.random_range(0..4_u8);
        match rng.random_range(0..20) {
            0 => script.push(guest | connect(rng)),
            1 => script.push(guest | 6 << 2 | rng.random_range(0..4) << 5),
            2 => script.push(guest | 7 << 2),
            3..=6 => script.push(5 << 2 | rng.random_range(0..8) << 5),
            _ => {
                let sent = SENT[usize::from(game)];
                let messages = rng.random_range(1..4);
                let bytes = (0..messages).map(|_| sent[rng.random_range(0..sent.len())]).collect::<Vec<_>>().concat();
                let (front, back) = bytes.split_at(rng.random_range(0..=bytes.len()));
                for piece in [front, back] {
                    script.extend([guest | 1 << 2, u8::try_from(piece.len()).unwrap()]);
                    script.extend(piece);
                }
            }
        }
    }
    script
}

// Mostly players on streams.
fn connect(rng: &mut impl Rng) -> u8 {
    let link = [0, 0, 0, 1, 2][rng.random_range(0..5_usize)];
    link << 5 | u8::from(rng.random_range(0..8) == 0) << 7
}

#[test]
fn replay_of_each_game_ends_in_the_state_of_its_room() {
    for (number, game) in (0..).zip(["nuggets", "blackjack", "robots", "mastermind", "four-in-a-row"]) {
        // Shown only if the test fails, as the last line.
        eprintln!("{game}");
        for_each_seed(SCRIPTS, |seed| room(&script(number, &mut Pcg64::seed_from_u64(seed))));
    }
}
