//! Properties of the parsers of mastermind.

use mastermind::{
    Code, Day, Origin, Puzzle, Record, Rules,
    code::{MAX_COLOURS, MAX_LENGTH, MIN_LENGTH},
    game::Action,
    record::MAX_RECORD,
};

/// Lines typed by a player.
pub fn line(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if let Ok(code) = text.parse::<Code>() {
        assert_eq!(code.to_string(), text, "a code is written as it is read");
        assert!((MIN_LENGTH..=MAX_LENGTH).contains(&code.len()));
        assert_eq!(Action::parse(&text), Ok(Action::Guess(code)));
        assert_eq!(Code::new(&code.pegs().collect::<Vec<_>>()), Ok(code));
        assert_eq!(code.counts().iter().map(|&count| usize::from(count)).sum::<usize>(), code.len());
    }
    match Action::parse(&text) {
        Ok(Action::Guess(code)) => assert_eq!(code.to_string(), text),
        Ok(Action::Lifeline(lifeline)) => assert!(text.eq_ignore_ascii_case(match lifeline {
            mastermind::Lifeline::Colour => "lifeline#1",
            mastermind::Lifeline::Place => "lifeline#2",
        })),
        Err(error) => assert!(error.to_string().len() < 200, "an error is a line: {error}"),
    }
}

/// Record files: encoding reverses decoding.
pub fn record(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    match text.parse::<Record>() {
        Ok(record) => {
            let written = record.to_string();
            assert!(written.len() <= MAX_RECORD);
            assert_eq!(written.parse(), Ok(record.clone()));
            assert!(record.streak() <= record.best_streak() && record.lost() <= record.played());
            for width in [0, 1, 40] {
                let bars = record.bars(width);
                assert_eq!(bars.lines().count(), record.won().len() + 1);
                let longest = bars.lines().map(|line| line.chars().filter(|&shown| shown == '█').count()).max();
                assert!(longest <= Some(width.max(1)), "{bars}");
            }
            // Another puzzle can be added, however many there are.
            let rules = Rules::new(MAX_LENGTH, MAX_COLOURS, true).expect("the largest game");
            let mut record = record;
            for origin in [Origin::Day(Day(u32::MAX)), Origin::Seed(u64::MAX)] {
                let puzzle = Puzzle { rules, origin };
                record.begin(puzzle);
                assert!(record.has_begun(puzzle) && !record.begin(puzzle));
                let written = record.to_string();
                assert!(written.len() <= MAX_RECORD);
                assert_eq!(written.parse(), Ok(record.clone()));
            }
        }
        Err(error) => assert!(error.to_string().len() < 200, "an error is a line: {error}"),
    }
}
