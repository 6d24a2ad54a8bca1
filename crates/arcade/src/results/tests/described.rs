//! Journals that describe their rooms and seats, while the database knows nothing of them.

use std::collections::BTreeSet;

use journal_core::{JournalFacts, Peer};
use netcore::{GameEvent, HostId, Level, Phase};

use super::*;
use crate::room::{
    info::Player,
    register::{Description, Register},
    roster::Roster,
};

pub(super) fn described() -> Description {
    Description { room: "robots-9".into(), title: "tiny".into(), class: "standard".into(), casual: String::new() }
}

/// The register of a room whose journal is not looked at.
pub(super) fn register(directory: &Path, roster: Arc<Roster>, players: &[Player]) -> Arc<Register> {
    let mut facts = None;
    play_as(directory, 0, MAX_SIZE, &Facts::new(), |_, end, _| facts = Some(end.facts()));
    Arc::new(Register::new(facts.unwrap(), &described(), roster, players))
}

const ANN: &str = "10.0.0.1:1";
const BOB: &str = "10.0.0.2:2";

/// A journal of matches between Ann, who proves her name when the first match is almost over, and a bot that plays well.
fn play_described(directory: &Path, matches: usize, max: u64) -> PathBuf {
    let roster = Arc::<Roster>::default();
    roster.open_seat(ANN.parse().unwrap());
    roster.set_seat_host(ANN.parse().unwrap(), HostId::of("192.0.2.7:1"));
    roster.add_bot(BOB.parse().unwrap(), Level::Hard);
    let mut register = None;
    let begin = |facts: JournalFacts| Register::new(facts, &described(), Arc::clone(&roster), &[]);
    play_as(directory, matches, max, &described().facts(), |room, end, outputs| {
        let register = register.get_or_insert_with(|| begin(end.facts()));
        if outputs.iter().any(|output| matches!(output, Output::Event(GameEvent::Ended { .. }))) {
            roster.set_names(ANN.parse().unwrap(), &["Ann".into()]);
        }
        let address = |peer| room.peer(peer).map(|Peer { address, .. }| address.as_str());
        register.follow(outputs, Phase::Lobby, address, |_| None);
    })
}

/// What results have of the room and of the players.
fn facts_in(new: &NewMatch) -> (Description, BTreeSet<(&str, Kind, bool, &str)>) {
    let NewMatch { room, title, class, casual, .. } = new.clone();
    let of = new.players.iter().map(|of| (&*of.name, of.kind, !of.host.is_empty(), &*of.level)).collect();
    (Description { room, title, class, casual }, of)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_result_needs_nothing_but_its_journal() {
    let directory = TempDir::new();
    let journals = directory.path().join("journals");
    let path = play_described(&journals, 2, MAX_SIZE);
    let nothing = JournalNote::default();
    let source = || examine::Source {
        path: path.clone(),
        note: nothing.clone(),
        seats: HashMap::new(),
        known: Known::default(),
    };
    let (found, _) = read(source());
    assert_eq!(found.len(), 2);
    for new in &found {
        let players = BTreeSet::from([("Ann", Kind::Proven, true, ""), ("Bob", Kind::Bot, true, "hard")]);
        assert_eq!(facts_in(new), (described(), players), "match {}", new.number);
    }
    // A database that has never heard of the room.
    let (results, _waiting) = prepared(directory.path()).await;
    results.catch_up(|_| true).await;
    let stored = results.store.matches(&MatchFilter { limit: 9, ..MatchFilter::default() }).await.unwrap();
    let rooms: Vec<_> = stored.iter().map(|of| (&*of.room, &*of.title, &*of.class, &*of.casual)).collect();
    assert_eq!(rooms, [("robots-9", "tiny", "standard", ""); 2]);
}

#[test]
fn a_result_needs_nothing_of_its_journal_that_is_not_kept() {
    let directory = TempDir::new();
    let path = play_described(&directory.path().join("journals"), LONG, 8 << 10);
    assert!(!path.exists());
    let source = examine::Source { path, note: JournalNote::default(), seats: HashMap::new(), known: Known::default() };
    let (found, _) = read(source);
    assert!((1..LONG).contains(&found.len()), "{} matches", found.len());
    for new in &found {
        let players = BTreeSet::from([("Ann", Kind::Proven, true, ""), ("Bob", Kind::Bot, true, "hard")]);
        assert_eq!(facts_in(new), (described(), players), "match {}", new.number);
    }
}

#[test]
fn name_that_loses_its_key_during_a_match_is_unproven_in_the_result() {
    let directory = TempDir::new();
    let (roster, ann) = (Arc::<Roster>::default(), ANN.parse().unwrap());
    roster.open_seat(ann);
    roster.set_names(ann, &["Ann".into()]);
    let (mut register, mut live) = (None, vec![]);
    let begin = |facts: JournalFacts| Register::new(facts, &described(), Arc::clone(&roster), &[]);
    let path = play_as(directory.path(), 1, MAX_SIZE, &described().facts(), |room, end, outputs| {
        let register = register.get_or_insert_with(|| begin(end.facts()));
        let address = |peer| room.peer(peer).map(|Peer { address, .. }| address.as_str());
        register.follow(outputs, Phase::Playing, address, |_| None);
        for output in outputs {
            match output {
                Output::Event(GameEvent::Started { .. }) => {
                    let kinds: Vec<_> = register.seats().into_values().map(|fact| fact.seated.kind).collect();
                    assert!(kinds.contains(&Kind::Proven), "{kinds:?}");
                    roster.remove_names(&["Ann".into()]);
                    register.revoke(&["Ann".into()]);
                }
                Output::Event(GameEvent::Ended { game, .. }) => live = register.take_ended(*game).kinds,
                _ => {}
            }
        }
    });
    let source = examine::Source { path, note: JournalNote::default(), seats: HashMap::new(), known: Known::default() };
    let (found, _) = read(source);
    let kinds: Vec<_> = found[0].players.iter().map(|player| player.kind).collect();
    assert_eq!(kinds, [Kind::Unproven; 2]);
    assert!(live.len() == 2 && live.iter().all(|(_, _, kind)| *kind == Kind::Unproven), "{live:?}");
}
