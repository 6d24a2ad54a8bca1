use blackjack::{
    Client, Config, DealerMessage, Dialect, Name, Policy, QTable, Score, StateSpace,
    client::MessageEffect,
    exact::Solver,
    learn::{Chance, Choice, Explore, Trainer},
};

use netcore::{Client as _, Framing, Time};

use crate::room::{Room, config};

fn epsilon() -> Explore {
    Explore::Epsilon(Chance::new(0.1).unwrap())
}

fn train(space: StateSpace, explore: Explore, seed: u64, rounds: u64) -> QTable {
    let mut trainer = Trainer::seeded(QTable::new(space), explore, seed, 0);
    trainer.play(rounds).unwrap();
    trainer.into_table()
}

#[test]
#[ignore = "half a minute in release"]
fn tables_of_a_hundred_million_rounds_reach_the_expected_values() {
    let solver = Solver::new();
    let value = |space, explore| solver.value(&train(space, explore, 1, 100_000_000).policy());
    let coarse = value(StateSpace::Coarse, epsilon());
    assert!(coarse >= -0.051_474 - 0.0005, "{coarse}");
    let soft = value(StateSpace::Soft, epsilon());
    assert!(soft >= -0.0435, "{soft}");
    let confident = value(StateSpace::Soft, Explore::UntilConfident);
    assert!(confident >= soft, "{confident} until confident, {soft} by epsilon");
}

#[test]
fn learning_until_confident_is_better_after_the_same_rounds() {
    let solver = Solver::new();
    let mean = |explore, rounds| {
        let value = |seed| solver.value(&train(StateSpace::Soft, explore, seed, rounds).policy());
        (1..=5).map(value).sum::<f64>() / 5.0
    };
    let (confident, epsilon) = (mean(Explore::UntilConfident, 300_000), mean(epsilon(), 300_000));
    assert!(confident > epsilon, "{confident} until confident, {epsilon} by epsilon");
    assert!(confident > -0.046, "{confident}");
}

#[test]
fn a_randomly_trained_table_approaches_its_limit_and_never_plays_well() {
    let solver = Solver::new();
    for space in [StateSpace::Coarse, StateSpace::Soft] {
        let limit = solver.limit_of_random(space);
        let table = train(space, Explore::Random, 4, 2_000_000);
        let mut checked = 0;
        for (state, entry) in table.visited() {
            let values = limit.values(state);
            for (tally, expected) in [(entry.hit, values.hit), (entry.stand, values.stand)] {
                let Some(mean) = tally.mean() else { continue };
                #[expect(clippy::cast_precision_loss, reason = "a bound")]
                let bound = 4.5 / (tally.n as f64).sqrt();
                assert!((mean - expected).abs() <= bound, "{state}: {mean} after {} is not {expected}", tally.n);
                checked += 1;
            }
        }
        assert_eq!(checked, 2 * space.states().count(), "every state and action is met");
        let value = solver.value(&table.policy());
        assert!(value < -0.11, "{value}");
    }
}

// Plays over the wire.
fn play(config: Config, dialect: Dialect, mut decide: impl FnMut(&Client) -> Choice, table: &mut QTable) -> Score {
    let mut room = Room::new(config);
    room.connect("Ann");
    let mut client = Client::new(Name::new(b"Ann").unwrap(), dialect, Framing::Stream, table.space());
    let mut score = Score::default();
    while !client.is_over() {
        while let Some(message) = client.take_outgoing() {
            room.send("Ann", &message);
        }
        client.receive(Time::ZERO, &room.bytes("Ann")).unwrap();
        while let Some(event) = client.poll_event() {
            assert_eq!(event.anomaly, None, "our dealer does nothing odd");
            match event.effect {
                MessageEffect::DecisionDue => {
                    let choice = decide(&client);
                    client.act(Time::ZERO, choice);
                }
                MessageEffect::Ended { verdict, lesson, .. } => {
                    score.add(verdict);
                    lesson.expect("a sound round").teach(table, verdict);
                }
                MessageEffect::Quit => assert_eq!(event.message, DealerMessage::Quit),
                MessageEffect::Began | MessageEffect::Dealt | MessageEffect::Ignored => {}
            }
        }
    }
    score
}

#[test]
fn value_of_play_over_the_wire_matches_the_solver() {
    play_is_worth_what_the_solver_says(100_000);
}

#[test]
#[ignore = "some seconds in release"]
fn value_of_a_million_rounds_over_the_wire_matches_the_solver() {
    play_is_worth_what_the_solver_says(1_000_000);
}

fn play_is_worth_what_the_solver_says(rounds: u32) {
    let solver = Solver::new();
    for (dialect, policy, rounds) in [
        (Dialect::Binary, solver.best(StateSpace::Soft), rounds),
        (Dialect::Binary, Policy::mimic(), rounds),
        (Dialect::Text, solver.best(StateSpace::Coarse), rounds / 2),
    ] {
        let decide = |player: &Client| {
            let upcard = player.upcard().unwrap().value();
            Choice::sure(policy.decide(player.points(), upcard))
        };
        let mut learned = QTable::new(StateSpace::Coarse);
        let score = play(config(rounds), dialect, decide, &mut learned);
        let error = score.mean() - solver.value(&policy);
        assert_eq!(score.rounds(), u64::from(rounds));
        assert!(error.abs() <= 3.0 * 0.95 / f64::from(rounds).sqrt(), "{error}");
        // Each round ends with one STAND or bust.
        let stands: u64 = learned.visited().map(|(_, entry)| entry.stand.n).sum();
        assert_eq!(stands + score.busts, score.rounds());
    }
}
