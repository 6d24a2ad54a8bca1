use store::{Attempt, Challenge, ChallengeScore, Claim, Match, RedeemOutcome};

use crate::support::{self, a_match, entry};

const TODAY: Challenge<'_> = Challenge { game: "nuggets", day: 20_000 };

fn played(number: u32, room: &str, score: i64) -> Match {
    let challenge = Some(ChallengeScore { day: TODAY.day, score });
    let players = vec![entry(1, "Ann", score)];
    Match { room: room.into(), challenge, casual: "challenge".into(), ..a_match(number, "nuggets", players) }
}

#[tokio::test]
async fn first_attempt_of_a_key_counts_and_only_the_first_match_of_its_room() {
    support::on_each_prepared(async |store, _| {
        let (ann, bob) = ([1; 32], [2; 32]);
        assert_eq!(store.attempt(TODAY, &ann).await.unwrap(), None);
        assert_eq!(store.begin_challenge(TODAY, &ann, "nuggets-7").await.unwrap(), None);
        let open = Attempt { room: "nuggets-7".into(), score: None, match_id: None };
        assert_eq!(store.begin_challenge(TODAY, &ann, "nuggets-8").await.unwrap(), Some(open.clone()));
        assert_eq!(store.begin_challenge(TODAY, &bob, "nuggets-9").await.unwrap(), None);
        assert_eq!(store.challenge_scores(TODAY).await.unwrap(), []);
        for (number, room, score) in [(1, "nuggets-7", 80), (2, "nuggets-7", 250), (3, "nuggets-8", 250)] {
            assert!(store.record(&played(number, room, score)).await.unwrap());
        }
        assert!(store.record(&played(4, "nuggets-9", 80)).await.unwrap());
        let scored = Attempt { score: Some(80), match_id: Some("j1-1".into()), ..open };
        assert_eq!(store.attempt(TODAY, &ann).await.unwrap(), Some(scored));
        assert_eq!(store.challenge_scores(TODAY).await.unwrap(), [(80, 2)]);
        // Other games and days have attempts of their own.
        for other in [Challenge { game: "robots", ..TODAY }, Challenge { day: TODAY.day + 1, ..TODAY }] {
            assert_eq!(store.begin_challenge(other, &ann, "nuggets-10").await.unwrap(), None);
            assert_eq!(store.challenge_scores(other).await.unwrap(), []);
        }
    })
    .await;
}

#[tokio::test]
async fn devices_of_one_name_share_an_attempt() {
    support::on_each_prepared(async |store, _| {
        let (computer, phone, other) = ([1; 32], [2; 32], [3; 32]);
        assert_eq!(store.claim("Ann", &computer, 1).await.unwrap(), Claim::Own);
        for (code, device) in [([9; 32], phone), ([8; 32], other)] {
            assert!(store.issue_code("Ann", &computer, &code, 9).await.unwrap());
            assert_eq!(store.redeem_code(&code, &device, 8).await.unwrap(), RedeemOutcome::Name("Ann".into()));
        }
        assert_eq!(store.begin_challenge(TODAY, &phone, "nuggets-7").await.unwrap(), None);
        for device in [computer, phone, other] {
            let earlier = store.begin_challenge(TODAY, &device, "nuggets-8").await.unwrap();
            assert_eq!(earlier.unwrap().room, "nuggets-7");
        }
    })
    .await;
}

#[tokio::test]
async fn attempt_is_cancelled_only_without_a_result() {
    support::on_each_prepared(async |store, _| {
        let ann = [1; 32];
        store.begin_challenge(TODAY, &ann, "nuggets-7").await.unwrap();
        store.cancel_challenge(TODAY, &ann).await.unwrap();
        assert_eq!(store.begin_challenge(TODAY, &ann, "nuggets-8").await.unwrap(), None);
        store.record(&played(1, "nuggets-8", 80)).await.unwrap();
        store.cancel_challenge(TODAY, &ann).await.unwrap();
        assert_eq!(store.attempt(TODAY, &ann).await.unwrap().unwrap().score, Some(80));
    })
    .await;
}

#[tokio::test]
async fn old_attempts_are_removed() {
    support::on_each_prepared(async |store, _| {
        assert_eq!(store.begin_challenge(TODAY, &[1; 32], "nuggets-7").await.unwrap(), None);
        let later = Challenge { day: TODAY.day + 3, ..TODAY };
        store.begin_challenge(later, &[2; 32], "nuggets-8").await.unwrap();
        assert!(store.attempt(TODAY, &[1; 32]).await.unwrap().is_some());
        store.begin_challenge(Challenge { day: TODAY.day + 4, ..TODAY }, &[2; 32], "nuggets-9").await.unwrap();
        assert_eq!(store.attempt(TODAY, &[1; 32]).await.unwrap(), None);
    })
    .await;
}
