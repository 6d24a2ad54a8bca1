use store::{
    ALL_TIME, Claim, JournalNote, MAX_NAMES, Match, MatchFilter, NameChanges, Order, PlayerKind, RedeemOutcome,
    ReplaceOutcome, RoomTime, Store, Ties,
};
use testkit::{PATIENCE, TempDir};
use tokio::time::timeout;

use crate::support::{self, a_match, board, entry, leaders, leaders_on};

#[tokio::test]
async fn match_is_stored_once_with_its_ratings() {
    support::on_each_prepared(async |store, open| {
        let first = a_match(1, "nuggets", vec![entry(1, "Ann", 200), entry(2, "Bob", 50)]);
        assert!(store.record(&first).await.unwrap());
        let leaders = leaders(&store, "nuggets").await;
        // A repeated result is ignored, even after a restart and with another content.
        assert!(!store.record(&first).await.unwrap());
        let again = open();
        again.prepare().await.unwrap();
        let other = Match { players: vec![entry(1, "Eve", 250)], ..first.clone() };
        assert!(!again.record(&other).await.unwrap());
        assert_eq!(support::leaders(&again, "nuggets").await, leaders);
        let [ann, bob] = leaders.as_slice() else { panic!("{leaders:?}") };
        assert_eq!((ann.rank, ann.name.as_str(), ann.score.matches, ann.score.wins), (1, "Ann", 1, 1));
        assert_eq!((bob.rank, bob.name.as_str(), bob.score.matches, bob.score.wins), (2, "Bob", 1, 0));
        assert!(ann.score.rating > bob.score.rating);
        let found = again.find("j1-1").await.unwrap().unwrap();
        assert_eq!((found.players.len(), found.players[0].score, found.ends), (2, 200, 90_000_005));
        assert_eq!(found.players[0].rating, Some(ann.score.rating));
        assert_eq!(again.find("j1-2").await.unwrap(), None);
    })
    .await;
}

#[tokio::test]
async fn examination_creates_no_tables() {
    support::on_each(async |open, _| {
        let store = open();
        for _ in 0..2 {
            let ahead = store.examine().await.unwrap();
            assert!(ahead.is_none_or(|ahead| ahead.abs() < 5_000), "a server on this machine has its clock: {ahead:?}");
            store.prepare().await.unwrap();
        }
    })
    .await;
}

#[tokio::test]
async fn same_match_from_two_hubs_is_stored_once() {
    support::on_each_prepared(async |store, open| {
        let stores = [store, open()];
        let record = async |store: &Store| {
            for number in 1..=20 {
                let new = a_match(number, "robots", vec![entry(1, "Ann", 0), entry(2, "Bob", 3)]);
                while store.record(&new).await.is_err() {}
            }
        };
        let both = async { tokio::join!(record(&stores[0]), record(&stores[1])) };
        timeout(PATIENCE, both).await.unwrap();
        let leaders = leaders(&stores[0], "robots").await;
        assert_eq!(
            leaders.iter().map(|leader| (leader.score.matches, leader.score.wins)).collect::<Vec<_>>(),
            [(20, 20), (20, 0)]
        );
    })
    .await;
}

#[tokio::test]
async fn name_with_and_without_proof_is_two_persons() {
    support::on_each_prepared(async |store, _| {
        let mut players = vec![entry(1, "Ann", 9), entry(2, "Ann", 5), entry(3, "Ann", 1), entry(4, "Ann", 0)];
        players[0].kind = PlayerKind::Proven;
        (players[2].kind, players[2].level) = (PlayerKind::Bot, "easy".into());
        for (player, host) in players.iter_mut().zip(["a", "b", "c", "b"]) {
            player.host = host.into();
        }
        store.record(&a_match(1, "nuggets", players)).await.unwrap();
        let leaders = leaders(&store, "nuggets").await;
        let kinds: Vec<PlayerKind> = leaders.iter().map(|leader| leader.kind).collect();
        assert_eq!(kinds, [PlayerKind::Proven, PlayerKind::Unproven, PlayerKind::Bot]);
        assert!(leaders.iter().all(|leader| leader.score.matches == 1));
        assert_eq!(store.kinds("Ann").await.unwrap(), [PlayerKind::Proven, PlayerKind::Unproven, PlayerKind::Bot]);
        let ties = store.against(("Ann", PlayerKind::Proven), ("Ann", PlayerKind::Unproven)).await.unwrap();
        assert_eq!(ties, [("nuggets".to_owned(), Ties { wins: 1, losses: 0, ties: 0 })]);
    })
    .await;
}

#[tokio::test]
async fn matches_are_listed_in_pages_newest_first() {
    support::on_each_prepared(async |store, _| {
        for number in 1..=7 {
            let (game, second) = if number % 2 == 0 { ("robots", "Bob") } else { ("nuggets", "Eve") };
            store.record(&a_match(number, game, vec![entry(1, "Ann", 1), entry(1, second, 1)])).await.unwrap();
        }
        let filter = MatchFilter { limit: 3, ..MatchFilter::default() };
        let numbers = async |filter: MatchFilter| {
            let found = store.matches(&filter).await.unwrap();
            found.iter().map(|found| found.number).collect::<Vec<_>>()
        };
        assert_eq!(numbers(filter.clone()).await, [7, 6, 5]);
        assert_eq!(numbers(MatchFilter { before: "j1-5".into(), ..filter.clone() }).await, [4, 3, 2]);
        assert_eq!(numbers(MatchFilter { before: "j1-1".into(), ..filter.clone() }).await, [] as [u32; 0]);
        assert_eq!(numbers(MatchFilter { before: "no such".into(), ..filter.clone() }).await, [] as [u32; 0]);
        assert_eq!(numbers(MatchFilter { game: "robots".into(), ..filter.clone() }).await, [6, 4, 2]);
        let eve = MatchFilter { player: "Ann".into(), against: "Eve".into(), ..filter.clone() };
        assert_eq!(numbers(eve).await, [7, 5, 3]);
        let proven = MatchFilter { player: "Ann".into(), kind: Some(PlayerKind::Proven), ..filter };
        assert_eq!(numbers(proven).await, [] as [u32; 0]);
        let ties = store.against(("Ann", PlayerKind::Unproven), ("Bob", PlayerKind::Unproven)).await.unwrap();
        assert_eq!(ties, [("robots".to_owned(), Ties { wins: 0, losses: 0, ties: 3 })]);
        let scores = store.scores(("Ann", PlayerKind::Unproven), ALL_TIME, 9_000_000).await.unwrap();
        let points: Vec<_> = scores.iter().map(|(game, _, score)| (game.as_str(), score.history.len())).collect();
        assert_eq!(points, [("nuggets", 4), ("robots", 3)]);
        assert!(scores[0].2.history.is_sorted());
    })
    .await;
}

#[tokio::test]
async fn aborted_and_single_player_matches_are_not_rated() {
    support::on_each_prepared(async |store, _| {
        let broken = Match {
            complete: false,
            casual: "unfinished".into(),
            ..a_match(1, "nuggets", vec![entry(1, "Ann", 1), entry(2, "Bob", 0)])
        };
        store.record(&broken).await.unwrap();
        assert_eq!(leaders(&store, "nuggets").await, []);
        assert_eq!(store.find("j1-1").await.unwrap().unwrap().players[0].rating, None);
        for (number, name, guesses) in [(2, "Ann", 9), (3, "Bob", 4), (4, "Ann", 3), (5, "Eve", 6)] {
            store.record(&a_match(number, "mastermind", vec![entry(1, name, guesses)])).await.unwrap();
        }
        let leaders = leaders_on(&store, board("mastermind"), Order::LowestScore).await;
        let names: Vec<_> =
            leaders.iter().map(|leader| (leader.rank, leader.name.as_str(), leader.score.mean_score)).collect();
        assert_eq!(names, [(1, "Bob", 4.0), (2, "Ann", 6.0), (2, "Eve", 6.0)]);
        assert!(!store.record(&a_match(6, "nuggets", vec![])).await.unwrap());
    })
    .await;
}

#[tokio::test]
async fn name_belongs_to_the_first_key() {
    support::on_each_prepared(async |store, _| {
        let name = "Zoë'); DROP TABLE names; --";
        assert_eq!(store.names_of(&[1; 32]).await.unwrap(), [] as [&str; 0]);
        store.changed_names(&mut NameChanges::default(), 6).await.unwrap();
        assert_eq!(store.claim(name, &[1; 32], 7).await.unwrap(), Claim::Own);
        assert_eq!(store.recent_names_of(&[1; 32]), [name]);
        assert_eq!(store.recent_names_of(&[2; 32]), [] as [&str; 0]);
        assert_eq!(store.claim(name, &[2; 32], 8).await.unwrap(), Claim::Taken);
        assert_eq!(store.claim(name, &[1; 32], 9).await.unwrap(), Claim::Own);
        assert_eq!(store.names_of(&[1; 32]).await.unwrap(), [name]);
        assert_eq!(store.names_of(&[2; 32]).await.unwrap(), [] as [&str; 0]);
        for number in 1..MAX_NAMES {
            assert_eq!(store.claim(&number.to_string(), &[1; 32], 10).await.unwrap(), Claim::Own);
        }
        assert_eq!(store.claim("one more", &[1; 32], 11).await.unwrap(), Claim::TooMany);
        assert_eq!(store.claim(name, &[1; 32], 12).await.unwrap(), Claim::Own);
    })
    .await;
}

#[tokio::test]
async fn name_that_resembles_a_taken_one_is_rejected() {
    support::on_each_prepared(async |store, _| {
        assert_eq!(store.claim("Bill", &[1; 32], 7).await.unwrap(), Claim::Own);
        // This name is not public yet.
        assert_eq!(store.claim("BiIl", &[2; 32], 8).await.unwrap(), Claim::Resembles(None));
        assert_eq!(store.names_of(&[2; 32]).await.unwrap(), [] as [&str; 0]);
        store.mark_name_used("Bill").await.unwrap();
        let like_bill = Claim::Resembles(Some("Bill".into()));
        assert_eq!(store.claim("Bi1l", &[2; 32], 9).await.unwrap(), like_bill);
        // These letters belong to one script, and look the same.
        assert_eq!(store.claim("\u{441}\u{43e}\u{440}\u{430}", &[1; 32], 10).await.unwrap(), Claim::Own);
        assert_eq!(store.claim("copa", &[2; 32], 11).await.unwrap(), Claim::Resembles(None));
        assert_eq!(store.claim("Billy", &[2; 32], 12).await.unwrap(), Claim::Own);
    })
    .await;
}

#[tokio::test]
async fn unused_names_are_released() {
    support::on_each_prepared(async |store, _| {
        for (time, name) in (1..).zip(["Ann", "Bob", "Cy", "Dan", "Eve"]) {
            assert_eq!(store.claim(name, &[1; 32], time).await.unwrap(), Claim::Own);
        }
        assert_eq!(store.claim("Held", &[3; 32], 1).await.unwrap(), Claim::Own);
        store.mark_name_used("Held").await.unwrap();
        let mut players = vec![entry(1, "Ann", 9), entry(2, "Dan", 5)];
        players[0].kind = PlayerKind::Proven;
        store.record(&a_match(1, "nuggets", players)).await.unwrap();
        store.mark_name_used("Bob").await.unwrap();
        let mut released = store.release_unused_names(5, 9).await.unwrap();
        released.sort_unstable();
        assert_eq!(released, ["Cy", "Dan"]);
        assert_eq!(store.release_unused_names(5, 9).await.unwrap(), [] as [&str; 0]);
        assert_eq!(store.changed_names(&mut NameChanges::default(), 9).await.unwrap(), ["Cy", "Dan"]);
        for names in [store.recent_names_of(&[1; 32]), store.names_of(&[1; 32]).await.unwrap()] {
            assert_eq!(names, ["Ann", "Bob", "Eve"]);
        }
        assert_eq!(store.names_of(&[3; 32]).await.unwrap(), ["Held"]);
        assert_eq!(store.claim("Cy", &[2; 32], 9).await.unwrap(), Claim::Own);
    })
    .await;
}

#[tokio::test]
async fn records_of_journals_are_stored() {
    support::on_each_prepared(async |store, open| {
        let known = RoomTime { until: 7, zero: 8 };
        for (file, position) in [("a.journal", 9), ("a.journal", 10), ("b.journal", 20)] {
            store.note_examined(file, position, known).await.unwrap();
        }
        let journals = open().journals().await.unwrap();
        assert_eq!((journals.len(), journals["a.journal"].examined, journals["b.journal"].examined), (2, 10, 20));
        assert_eq!(store.journal("a.journal").await.unwrap(), journals["a.journal"]);
        assert_eq!(journals["a.journal"].known, known);
        assert_eq!(store.journal("none.journal").await.unwrap(), JournalNote::default());
        store.delete_journal("a.journal", "").await.unwrap();
        assert_eq!(store.journals().await.unwrap().len(), 1);
    })
    .await;
}

#[tokio::test]
async fn backup_is_a_database() {
    let directory = TempDir::new();
    let store = Store::file(&directory.path().join("results.db")).unwrap();
    store.prepare().await.unwrap();
    store.record(&a_match(1, "nuggets", vec![entry(1, "Ann", 1)])).await.unwrap();
    let copy = directory.path().join("copy.db");
    store.backup(&copy).await.unwrap();
    assert!(store.backup(&copy).await.is_err(), "nothing is replaced");
    let copy = Store::file(&copy).unwrap();
    copy.prepare().await.unwrap();
    assert!(copy.find("j1-1").await.unwrap().is_some());
}

const fn key(number: u8) -> [u8; 32] {
    [number; 32]
}

async fn add_key(store: &Store, owner: u8, number: u8) -> RedeemOutcome {
    assert!(store.issue_code("Ann", &key(owner), &[number], 100).await.unwrap());
    store.redeem_code(&[number], &key(number), 99).await.unwrap()
}

#[tokio::test]
async fn name_is_proven_by_the_keys_of_its_owner_until_they_are_replaced_or_it_is_released() {
    support::on_each_prepared(async |store, _| {
        let ann = || RedeemOutcome::Name("Ann".into());
        assert_eq!(store.claim("Ann", &key(1), 7).await.unwrap(), Claim::Own);
        for number in [2, 1, 2, 3, 4] {
            assert_eq!(add_key(&store, 1, number).await, ann(), "{number}");
        }
        assert_eq!(add_key(&store, 4, 5).await, RedeemOutcome::TooManyKeys);
        for number in 1..=4 {
            assert_eq!(store.names_of(&key(number)).await.unwrap(), ["Ann"], "{number}");
            assert_eq!(store.claim("Ann", &key(number), 9).await.unwrap(), Claim::Own);
        }
        // The limit of names per key includes redeemed ones.
        for number in 1..MAX_NAMES {
            assert_eq!(store.claim(&format!("Bob {number}"), &key(4), 9).await.unwrap(), Claim::Own);
        }
        assert_eq!(store.claim("one more", &key(4), 9).await.unwrap(), Claim::TooMany);
        assert_eq!(store.claim("Cy", &key(7), 9).await.unwrap(), Claim::Own);
        assert!(store.issue_code("Cy", &key(7), &[7], 100).await.unwrap());
        assert_eq!(store.redeem_code(&[7], &key(4), 9).await.unwrap(), RedeemOutcome::TooManyNames);
        assert_eq!(
            store.redeem_code(&[7], &key(8), 9).await.unwrap(),
            RedeemOutcome::Name("Cy".into()),
            "it stayed valid"
        );
        assert_eq!(store.replace_keys("Cy", &key(8), &key(4), 9).await.unwrap(), ReplaceOutcome::TooManyNames);
        assert_eq!(store.replace_keys("Ann", &key(9), &key(9), 9).await.unwrap(), ReplaceOutcome::NotOwner);
        assert_eq!(store.replace_keys("Ann", &key(2), &key(3), 9).await.unwrap(), ReplaceOutcome::Done);
        assert_eq!(store.names_of(&key(3)).await.unwrap(), ["Ann"]);
        for number in [1, 2] {
            assert_eq!(store.names_of(&key(number)).await.unwrap(), [] as [&str; 0]);
            assert_eq!(store.claim("Ann", &key(number), 9).await.unwrap(), Claim::Taken);
        }
        assert_eq!(add_key(&store, 3, 8).await, ann());
        assert!(!store.release_name("Ann", &key(1), 9).await.unwrap());
        assert!(store.release_name("Ann", &key(8), 9).await.unwrap());
        assert_eq!(store.recent_names_of(&key(3)), [] as [&str; 0]);
        assert_eq!(store.names_of(&key(3)).await.unwrap(), [] as [&str; 0]);
        assert_eq!(store.names_of(&key(8)).await.unwrap(), ["Cy"]);
        // The skeleton and the other keys of the name are deleted too.
        assert_eq!(store.claim("Ann", &key(9), 10).await.unwrap(), Claim::Own);
        assert_eq!(store.names_of(&key(8)).await.unwrap(), ["Cy"]);
    })
    .await;
}

#[tokio::test]
async fn code_is_void_when_it_expires_or_its_key_does_not_own_the_name() {
    support::on_each_prepared(async |store, _| {
        let redeem = async |code: u8| store.redeem_code(&[code], &key(6), 9).await.unwrap();
        assert_eq!(store.claim("Ann", &key(1), 7).await.unwrap(), Claim::Own);
        assert!(!store.issue_code("Ann", &key(2), &[1], 100).await.unwrap(), "another key");
        assert!(!store.issue_code("Bob", &key(1), &[1], 100).await.unwrap(), "no such name");
        assert_eq!(redeem(1).await, RedeemOutcome::Unknown);
        assert!(store.issue_code("Ann", &key(1), &[1], 9).await.unwrap());
        assert_eq!(redeem(1).await, RedeemOutcome::Unknown, "it has expired");
        assert!(store.issue_code("Ann", &key(1), &[1], 100).await.unwrap());
        assert!(store.issue_code("Ann", &key(1), &[2], 100).await.unwrap());
        assert_eq!(redeem(1).await, RedeemOutcome::Unknown, "the next code of the name replaces it");
        assert_eq!(store.replace_keys("Ann", &key(1), &key(3), 9).await.unwrap(), ReplaceOutcome::Done);
        assert_eq!(redeem(2).await, RedeemOutcome::Unknown, "of the key that was replaced");
        assert!(store.issue_code("Ann", &key(3), &[4], 100).await.unwrap());
        assert!(store.release_name("Ann", &key(3), 9).await.unwrap());
        assert_eq!(store.claim("Ann", &key(5), 9).await.unwrap(), Claim::Own);
        assert_eq!(redeem(4).await, RedeemOutcome::Unknown, "of an earlier owner");
        assert!(store.issue_code("Ann", &key(5), &[5], 100).await.unwrap());
        assert_eq!(store.release_unused_names(50, 50).await.unwrap(), ["Ann"]);
        assert_eq!(redeem(5).await, RedeemOutcome::Unknown);
        assert_eq!(store.names_of(&key(6)).await.unwrap(), [] as [&str; 0]);
    })
    .await;
}

#[tokio::test]
async fn name_that_loses_a_key_at_one_hub_loses_it_at_others() {
    support::on_each_prepared(async |one, open| {
        let other = open();
        other.prepare().await.unwrap();
        let (mut applied, hour) = (NameChanges::default(), 3_600_000);
        let mut changed = async |now| other.changed_names(&mut applied, now).await.unwrap();
        assert_eq!(changed(hour).await, [] as [&str; 0]);
        for name in ["Ann", "Bob"] {
            assert_eq!(one.claim(name, &key(1), 7).await.unwrap(), Claim::Own);
        }
        assert_eq!(other.names_of(&key(1)).await.unwrap(), ["Ann", "Bob"]);
        assert_eq!(one.replace_keys("Ann", &key(1), &key(2), hour).await.unwrap(), ReplaceOutcome::Done);
        assert_eq!(changed(hour + 2_000).await, ["Ann"]);
        assert_eq!(other.recent_names_of(&key(1)), ["Bob"]);
        assert_eq!(changed(hour + 4_000).await, [] as [&str; 0], "each change is read once");
        // By a hub whose clock is one minute behind.
        assert!(one.release_name("Ann", &key(2), hour - 60_000).await.unwrap());
        assert_eq!(changed(hour + 6_000).await, ["Ann"]);
    })
    .await;
}
