//! A dealer that is written down and read again goes on as if nothing had happened; one that was damaged on the way is
//! refused, or found by its digest, and never does harm.

use std::time::Duration;

use blackjack::{Config, Seed, Server};
use netcore::{Hosted, Recorded as _, Room as _, Time};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use serde_json::{Value, json};

use crate::{
    drive::Drive,
    room::{self, Recorded, Room, Step, take, written_and_read},
};

fn config(seed: u64) -> Config {
    let players = usize::try_from(seed % 3).unwrap() + 1;
    let forever = !seed.is_multiple_of(4);
    Config {
        players,
        tables: 2,
        forever,
        trace: seed.is_multiple_of(2),
        accounts: seed.is_multiple_of(5).then_some(Duration::from_secs(1)),
        delay: Duration::from_millis(if seed.is_multiple_of(7) { 0 } else { 50 }),
        ..Config::new(3, Seed::from_number(seed))
    }
}

// A random game in which the dealer is killed now and then.
fn game(seed: u64, steps: usize) -> (Drive, Pcg64Mcg) {
    let mut drive = Drive::new(config(seed), seed);
    let mut rng = Pcg64Mcg::seed_from_u64(seed);
    for _ in 0..steps {
        if rng.random_range(0..60) == 0 {
            drive.interrupt();
        } else {
            drive.random();
        }
    }
    (drive, rng)
}

fn record(drive: &Drive) -> &[Recorded] {
    drive.room.record.as_deref().unwrap()
}

// The same steps lead to the same outputs and digests.
#[track_caller]
fn check_again(again: &mut Hosted<Server>, record: &[Recorded], what: &str) {
    for (number, (now, step, outputs, digest)) in record.iter().enumerate() {
        let same = take(again, *now, step).0 == *outputs && again.digest() == *digest;
        assert!(same, "{what}, step {number}: {step:?}");
    }
    assert!(again.outcome().is_some());
}

#[test]
fn a_dealer_that_is_copied_or_read_again_goes_the_same_way() {
    for seed in 0..60 {
        let (mut drive, mut rng) = game(seed, 0);
        let mut kept: Vec<(usize, Hosted<Server>)> = vec![(0, written_and_read(&drive.room.hosted))];
        for _ in 0..400 {
            if rng.random_range(0..80) == 0 {
                drive.interrupt();
            } else {
                drive.random();
            }
            if rng.random_range(0..20) == 0 {
                let hosted = &drive.room.hosted;
                let again = if rng.random() { hosted.clone() } else { written_and_read(hosted) };
                kept.push((record(&drive).len(), again));
            }
        }
        drive.room.stop();
        for (from, mut again) in kept {
            check_again(&mut again, &record(&drive)[from..], &format!("seed {seed}, from {from}"));
            assert_eq!(again.deadline(), drive.room.hosted.deadline());
        }
    }
}

#[test]
fn a_dealer_that_is_set_up_again_is_a_new_one() {
    for seed in 0..20 {
        let server = Server::new(config(seed)).unwrap();
        let setup = serde_json::from_str(&serde_json::to_string(&server.setup()).unwrap()).unwrap();
        let again = Hosted::new(Server::from_setup(setup).unwrap());
        assert_eq!(again.digest(), Hosted::new(server).digest());
    }
    for (field, value) in [("players", json!(7)), ("tables", json!(0)), ("rounds", json!(0)), ("tables", json!(4_097))]
    {
        let mut setup = serde_json::to_value(config(0)).unwrap();
        setup[field] = value;
        assert!(Server::from_setup(serde_json::from_value(setup).unwrap()).is_err(), "{field}");
    }
}

// Where everything is that can be changed, as JSON pointers.
fn pointers(value: &Value, at: &str, all: &mut Vec<String>) {
    all.push(at.to_owned());
    match value {
        Value::Array(items) => {
            (0..).zip(items).for_each(|(number, item): (usize, _)| pointers(item, &format!("{at}/{number}"), all));
        }
        Value::Object(fields) => fields.iter().for_each(|(name, field)| pointers(field, &format!("{at}/{name}"), all)),
        _ => {}
    }
}

// What damage may make of a value.
fn damaged(value: &Value) -> Vec<Value> {
    match value {
        Value::Bool(is) => vec![json!(!is)],
        Value::Number(number) => {
            let number = number.as_u64().unwrap_or(0);
            let numbers =
                [0, 1, number.wrapping_add(1), number.wrapping_sub(1), 6, 255, u64::from(u32::MAX), 1 << 62, u64::MAX];
            numbers.into_iter().map(Value::from).chain([Value::Null]).collect()
        }
        Value::Null => vec![json!(0), json!(1), json!(u64::MAX), json!([])],
        Value::String(_) => {
            let words =
                ["", "Ann", "Quit", "Decision", "Absent", "Playing", "Stood", "Bust", "Forfeited", "Free", "Other"];
            words.into_iter().chain(["Text", "Binary", "Finished", "Deserted", "Stopped"]).map(Value::from).collect()
        }
        Value::Array(items) => {
            let (front, back): (Vec<_>, Vec<_>) = (items.iter().skip(1).collect(), items.iter().rev().collect());
            let double: Vec<_> = items.iter().flat_map(|item| [item, item]).collect();
            let short: Vec<_> = items.iter().take(items.len().saturating_sub(1)).collect();
            vec![json!([]), json!(front), json!(back), json!(double), json!(short), Value::Null]
        }
        Value::Object(fields) => {
            let others = fields.keys().map(|gone| {
                let rest = fields.iter().filter(|(name, _)| *name != gone);
                Value::Object(rest.map(|(name, field)| (name.clone(), field.clone())).collect())
            });
            others.chain([Value::Null]).collect()
        }
    }
}

// Without what only says when the dealer is woken, how a full bucket became full, and what the room remembers of streams.
fn what_matters(mut state: Value) -> Value {
    match &mut state {
        Value::Object(fields) => {
            fields.retain(|name, _| !["alarm", "filled", "level", "lines", "looked", "stale"].contains(&name.as_str()));
            fields.values_mut().for_each(|field| *field = what_matters(field.take()));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| *item = what_matters(item.take())),
        _ => {}
    }
    state
}

#[test]
fn a_damaged_state_is_refused_or_does_no_harm() {
    let (mut refused, mut taken) = (0, 0);
    for seed in 0..14 {
        let steps = 60 + usize::try_from(seed).unwrap() * 17;
        let (mut drive, mut rng) = game(seed, steps);
        let (setup, digest) = (drive.room.server().setup(), drive.room.hosted.digest());
        let state = serde_json::to_value(drive.room.hosted.state()).unwrap();
        let from = record(&drive).len();
        (0..40).for_each(|_| drop(drive.random()));
        drive.interrupt();
        (0..40).for_each(|_| drop(drive.random()));
        drive.room.now = drive.room.now.plus(Duration::from_secs(60));
        drive.room.apply(Step::Elapsed);
        drive.room.stop();
        let mut all = vec![];
        pointers(&state, "", &mut all);
        for pointer in all {
            // Of the cards of a deck a few are enough.
            if pointer.contains("/deck/") && rng.random_range(0..10) != 0 {
                continue;
            }
            let original = state.pointer(&pointer).unwrap();
            for value in damaged(original).into_iter().filter(|value| value != original) {
                let mut other = state.clone();
                *other.pointer_mut(&pointer).unwrap() = value.clone();
                let what = format!("seed {seed}: {pointer} from {original} to {value}");
                let Some(mut restored) =
                    serde_json::from_value(other).ok().and_then(|other| Hosted::<Server>::restore(setup, other).ok())
                else {
                    refused += 1;
                    continue;
                };
                taken += 1;
                let same =
                    || what_matters(serde_json::to_value(restored.state()).unwrap()) == what_matters(state.clone());
                assert!(restored.digest() != digest || same(), "{what}: nobody would find it");
                for (now, step, ..) in &record(&drive)[from..] {
                    take(&mut restored, *now, step);
                    let _ = (restored.deadline(), restored.status());
                }
                take(&mut restored, Time::from_nanos(u64::MAX), &Step::Elapsed);
            }
        }
    }
    assert!(refused > 1_000 && taken > 1_000, "{refused} refused, {taken} taken");
}

// Ann is asked and Bob waits for his turn, Cyd waits for a seat, Dee has not joined, and Wes looks on.
fn scene() -> Room {
    let mut room = Room::joined(Config { players: 2, forever: true, ..room::config(3) }, &["Ann", "Bob", "Cyd"]);
    room.connect("Dee");
    room.watch("Wes");
    room
}

#[test]
fn what_no_dealer_can_be_in_is_refused() {
    let played = serde_json::to_value(scene().hosted.state()).unwrap();
    let mut room = scene();
    room.kill();
    let paused = serde_json::to_value(room.hosted.state()).unwrap();
    let setup = scene().server().setup();
    let restore = |state: Value| Hosted::<Server>::restore(setup, serde_json::from_value(state).ok()?).ok();
    assert!(restore(played.clone()).is_some() && restore(paused.clone()).is_some());
    let twice = played.pointer("/engine/tables/0/table/game/deck/1").unwrap().clone();
    for (state, pointer, value) in [
        // Clients that are in two places, in none, or nobody's.
        (&played, "clients/0/0", json!(77)),
        (&played, "clients/3/0", json!(0)),
        (&played, "clients", json!([])),
        (&played, "strangers", json!([])),
        (&played, "strangers/0/0", json!(0)),
        (&played, "waiting", json!([])),
        (&played, "waiting/0/0", json!(1)),
        (&played, "queue/lines", json!([])),
        (&played, "queue/lines/0/peers", json!([])),
        (&played, "queue/lines/0/peers/0/1", json!(0)),
        (&played, "queue/lines/0/host", json!("Other")),
        (&played, "queue/next", json!(0)),
        (&played, "queue/next", json!(u64::MAX)),
        (&played, "audience/watchers/0/0", json!(0)),
        // Counts that do not go together.
        (&played, "begun", json!(0)),
        (&played, "complete", json!(1)),
        (&played, "rounds", json!(1)),
        (&played, "ended", json!("Stopped")),
        (&played, "accounts", json!({"due": 0, "last": 0, "rounds": 0})),
        (&played, "printer/deserted", Value::Null),
        (&played, "printer/deserted/rate/burst", json!(11)),
        (&played, "printer/deserted/rate/per_second", json!(2)),
        // A table that nobody looks after, or whose seats and cards do not go together.
        (&played, "tables/0/alarm", Value::Null),
        (&played, "tables/0/alarm", json!(u64::MAX)),
        (&played, "tables/0/table/number", json!(2)),
        (&played, "tables/0/table/ended", json!("Finished")),
        (&played, "tables/0/table/places/0", json!("Free")),
        (&played, "tables/0/table/places/0", json!({"Held": 0})),
        (&played, "tables/0/table/places/0/Occupied/asked", json!(false)),
        (&played, "tables/0/table/places/0/Occupied/due", Value::Null),
        (&played, "tables/0/table/places/0/Occupied/leaving", json!(true)),
        (&played, "tables/0/table/places/0/Occupied/mute", json!(true)),
        (&played, "tables/0/table/places/0/Occupied/queue", json!(["Quit"])),
        (&played, "tables/0/table/places/0/Occupied/told/cards", json!(1)),
        (&played, "tables/0/table/places/1/Occupied/asked", json!(true)),
        (&played, "tables/0/table/places/1/Occupied/queue", json!(["Decision"])),
        (&played, "tables/0/table/places/1/Occupied/queue", json!(vec!["Begin"; 33])),
        (&played, "tables/0/table/game/records/0/present", json!(false)),
        (&played, "tables/0/table/game/records/0/score/wins", json!(3)),
        (&played, "tables/0/table/game/records/0/score/wins", json!(u64::MAX)),
        (&played, "tables/0/table/game/records/0/forfeits", json!(1)),
        (&played, "tables/0/table/game/records", json!([])),
        (&played, "tables/0/table/game/deck/0", twice),
        (&played, "tables/0/table/game/revealed", json!(vec![10; 4])),
        (&played, "tables/0/table/game/round", Value::Null),
        (&played, "tables/0/table/game/round/0/stage", json!("Bust")),
        (&played, "tables/0/table/game/round/0/stage", json!("Absent")),
        (&played, "tables/0/table/game/round/1/hits", json!(1)),
        // Seats that are held for nobody, or for whom they are not.
        (&paused, "held", json!([])),
        (&paused, "held/0/seat", json!(2)),
        (&paused, "held/0/table", json!(2)),
        (&paused, "tables/0/table/places", json!(["Free", "Free"])),
        (&paused, "tables/0/table/places/0", json!("Free")),
    ] {
        let mut damaged = state.clone();
        let place = damaged.pointer_mut(&format!("/engine/{pointer}")).unwrap_or_else(|| panic!("{pointer}: {state}"));
        *place = value.clone();
        assert!(restore(damaged).is_none(), "{pointer}: {value}");
    }
}
