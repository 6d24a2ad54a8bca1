use super::{Client, Dealer};

const PLAY: &str = "--delay-ms 0 --seed 17";

/// Plays to the end: one hit in each round, then a stand.
fn transcript(client: &mut Client) -> String {
    let mut lines = vec![];
    let mut hits = 0;
    loop {
        let texts = client.until_asked();
        lines.push(texts.clone());
        if !texts.ends_with("DECISION") {
            return lines.join("\n");
        }
        hits = if texts.contains("BEGIN") { 0 } else { hits + 1 };
        if hits < 1 {
            client.hit();
            lines.push("> HIT".into());
        } else {
            client.stand();
            lines.push("> STAND".into());
        }
    }
}

const GOLDEN: &str = "\
BEGIN, CARD Four of Clubs, CARD Eight of Spades, DEALER Five of Hearts, DECISION\n\
> HIT\n\
CARD Ace of Spades, DECISION\n\
> STAND\n\
RESULT WIN, BEGIN, CARD King of Clubs, CARD Seven of Diamonds, DEALER Ten of Spades, DECISION\n\
> HIT\n\
CARD Two of Diamonds, DECISION\n\
> STAND\n\
RESULT LOOSE, BEGIN, CARD Three of Hearts, CARD King of Spades, DEALER Nine of Clubs, DECISION\n\
> HIT\n\
CARD Eight of Spades, DECISION\n\
> STAND\n\
RESULT WIN, BEGIN, CARD King of Clubs, CARD Seven of Hearts, DEALER Five of Spades, DECISION\n\
> HIT\n\
CARD Eight of Diamonds, RESULT BUST, BEGIN, CARD Ace of Spades, CARD Two of Spades, DEALER Ace of Diamonds, DECISION\n\
> HIT\n\
CARD Three of Hearts, DECISION\n\
> STAND\n\
RESULT LOOSE, BEGIN, CARD Queen of Spades, CARD Six of Hearts, DEALER Four of Hearts, DECISION\n\
> HIT\n\
CARD Six of Spades, RESULT BUST, QUIT";

#[test]
fn a_whole_game_of_a_seed_is_the_same_in_both_dialects() {
    let text = transcript(&mut Dealer::start(&format!("6 {PLAY}")).text("Ann"));
    assert_eq!(text, GOLDEN);
    let binary = transcript(&mut Dealer::start(&format!("6 {PLAY}")).binary("Ann"));
    assert_eq!(binary, GOLDEN);
}
