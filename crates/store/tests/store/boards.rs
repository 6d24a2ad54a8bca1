use store::{ALL_TIME, Board, DAILY, LADDER, Match, MatchPlayer, Order, PlayerKind, Score, Store, season_of};

use crate::support::{self, a_match, board, entry, leaders, leaders_on};

fn at_host(host: &str, players: Vec<MatchPlayer>) -> Vec<MatchPlayer> {
    players.into_iter().map(|player| MatchPlayer { host: host.into(), ..player }).collect()
}

fn proven(player: MatchPlayer) -> MatchPlayer {
    MatchPlayer { kind: PlayerKind::Proven, ..player }
}

fn bot(rank: u32, name: &str, level: &str) -> MatchPlayer {
    MatchPlayer { kind: PlayerKind::Bot, level: level.into(), ..entry(rank, name, 0) }
}

async fn score(store: &Store, name: &str, kind: PlayerKind) -> Option<Score> {
    store.scores((name, kind), ALL_TIME, 0).await.unwrap().pop().map(|(_, _, score)| score)
}

async fn casual(store: &Store, number: u32) -> String {
    store.find(&format!("j1-{number}")).await.unwrap().unwrap().casual
}

/// The matches against names of other hosts that a name needs to count against names of its own.
async fn play_outside(store: &Store, first: u32, player: MatchPlayer) {
    for number in first..first + 10 {
        store.record(&a_match(number, "blackjack", vec![player.clone(), entry(2, "Far", 0)])).await.unwrap();
    }
}

#[tokio::test]
async fn names_of_one_host_count_after_ten_matches_against_other_hosts() {
    support::on_each_prepared(async |store, _| {
        let expect = async |planned: &Match, reason: Option<&str>| {
            assert_eq!(store.casual_reason(planned).await.unwrap(), reason);
        };
        let (ann, eve) = (proven(entry(1, "Ann", 9)), proven(entry(2, "Eve", 1)));
        let pair = |number, ann: &MatchPlayer, eve: &MatchPlayer| {
            a_match(number, "nuggets", at_host("h", vec![ann.clone(), eve.clone()]))
        };
        for number in 1..=12 {
            let new = proven(entry(2, &format!("New {}", number % 4), 1));
            store.record(&pair(number, &ann, &new)).await.unwrap();
            assert_eq!(casual(&store, number).await, "network");
            let players = vec![ann.clone(), bot(2, "Bot Ada", "easy")];
            store.record(&a_match(100 + number, "robots", players)).await.unwrap();
        }
        assert_eq!(score(&store, "New 1", PlayerKind::Proven).await, None);
        store.record(&pair(13, &ann, &eve)).await.unwrap();
        assert_eq!(casual(&store, 13).await, "network", "bots have no host");
        expect(&pair(0, &ann, &eve), Some("network")).await;
        // Only the comparison of the two names is left out.
        let mut three = pair(14, &ann, &eve);
        three.players.push(entry(3, "Bob", 0));
        expect(&three, None).await;
        store.record(&three).await.unwrap();
        assert_eq!(casual(&store, 14).await, "");
        for name in ["Ann", "Eve"] {
            let score = store.rating(board("nuggets"), (name, PlayerKind::Proven), 0).await.unwrap();
            assert!(score.unwrap().0 > 1_000, "{name} has beaten Bob");
        }
        play_outside(&store, 200, ann.clone()).await;
        store.record(&pair(15, &ann, &eve)).await.unwrap();
        assert_eq!(casual(&store, 15).await, "network", "Eve has one match");
        play_outside(&store, 300, eve.clone()).await;
        expect(&pair(0, &ann, &eve), None).await;
        store.record(&pair(16, &ann, &eve)).await.unwrap();
        assert_eq!(casual(&store, 16).await, "");
    })
    .await;
}

#[tokio::test]
async fn two_names_of_one_host_count_three_times_a_day_against_each_other() {
    support::on_each_prepared(async |store, _| {
        for (first, name) in [(100, "Ann"), (200, "Eve"), (300, "Cy")] {
            play_outside(&store, first, proven(entry(1, name, 1))).await;
        }
        for number in 1..=12 {
            let players = at_host("h", vec![proven(entry(1, "Ann", 9)), proven(entry(2, "Eve", 1))]);
            let new = a_match(number, "nuggets", players);
            let expected = store.casual_reason(&new).await.unwrap();
            assert_eq!(expected, if number <= 3 { None } else { Some("pair") });
            store.record(&new).await.unwrap();
            assert_eq!(casual(&store, number).await, expected.unwrap_or_default());
        }
        let ann = score(&store, "Ann", PlayerKind::Proven).await.unwrap();
        assert_eq!((ann.matches, ann.wins, ann.history.len(), ann.ranked), (3, 3, 3, false));
        // As in a classroom with one address.
        let players =
            at_host("h", vec![proven(entry(1, "Ann", 9)), proven(entry(2, "Eve", 1)), proven(entry(3, "Cy", 0))]);
        store.record(&a_match(13, "nuggets", players)).await.unwrap();
        let [before, after] = [ann.rating, score(&store, "Ann", PlayerKind::Proven).await.unwrap().rating];
        assert!(after > before, "against Cy");
        let eve = score(&store, "Eve", PlayerKind::Proven).await.unwrap();
        assert_eq!(eve.matches, 4);
        assert!(eve.history[3].1 > eve.history[2].1, "only Cy counts, whom she has beaten");
        let mut tomorrow =
            a_match(14, "nuggets", at_host("h", vec![proven(entry(1, "Ann", 9)), proven(entry(2, "Eve", 1))]));
        tomorrow.ended += 86_400_000;
        store.record(&tomorrow).await.unwrap();
        assert_eq!(casual(&store, 14).await, "");
    })
    .await;
}

#[tokio::test]
async fn unproven_names_of_one_host_count_as_one_opponent() {
    support::on_each_prepared(async |store, _| {
        play_outside(&store, 100, proven(entry(1, "Ann", 1))).await;
        for (first, name) in [(200, "Dan"), (300, "Bob")] {
            play_outside(&store, first, entry(1, name, 1)).await;
        }
        for number in 1..=8 {
            let name = format!("Eve {number}");
            play_outside(&store, 1_000 + 10 * number, entry(1, &name, 1)).await;
            let players = at_host("h", vec![proven(entry(1, "Ann", 9)), entry(2, &name, 1)]);
            store.record(&a_match(number, "nuggets", players)).await.unwrap();
        }
        assert_eq!(score(&store, "Ann", PlayerKind::Proven).await.unwrap().matches, 3);
        // An unknown host matches every host.
        for number in 11..=18 {
            let unknown = MatchPlayer { host: String::new(), ..entry(2, "Bob", 1) };
            store.record(&a_match(number, "robots", vec![entry(1, "Dan", 9), unknown])).await.unwrap();
        }
        assert_eq!(score(&store, "Dan", PlayerKind::Unproven).await.unwrap().matches, 3);
        // Matches between different known hosts are not limited.
        for number in 21..=28 {
            store.record(&a_match(number, "robots", vec![entry(1, "Fay", 9), entry(2, "Gus", 1)])).await.unwrap();
        }
        assert_eq!(score(&store, "Fay", PlayerKind::Unproven).await.unwrap().matches, 8);
    })
    .await;
}

#[tokio::test]
async fn bots_are_rated_by_level_and_not_by_name() {
    support::on_each_prepared(async |store, _| {
        for number in 1..=12 {
            let name = format!("Bot {number}");
            let (easy, hard) = (bot(2, &name, "easy"), bot(1, "Bot Ada", "hard"));
            let players = vec![hard, easy, bot(2, "Bot Alan", "easy"), entry(4, "Ann", 0), bot(5, "Bot of old", "")];
            store.record(&a_match(number, "nuggets", players)).await.unwrap();
        }
        let rows = leaders(&store, "nuggets").await;
        let names: Vec<_> =
            rows.iter().map(|leader| (leader.rank, leader.name.as_str(), leader.score.matches)).collect();
        assert_eq!(names, [(1, "bot, hard", 12), (2, "bot, easy", 12), (3, "Ann", 12)]);
        assert!(rows.iter().all(|leader| leader.score.ranked));
        assert_eq!(store.kinds("bot, easy").await.unwrap(), [PlayerKind::Bot]);
        let easy = score(&store, "bot, easy", PlayerKind::Bot).await.unwrap();
        // Two seats with equal ranks that lose to one player and beat another nearly keep their rating.
        assert!((900..1_100).contains(&easy.rating), "{easy:?}");
        let found = store.find("j1-1").await.unwrap().unwrap();
        assert_eq!(found.players.iter().filter(|player| player.rating.is_none()).count(), 1, "{found:?}");
    })
    .await;
}

#[tokio::test]
async fn ladder_has_fixed_ratings_of_bots_and_no_limit_for_pairs_of_a_host() {
    support::on_each_prepared(async |store, _| {
        let of_the_ladder = |number, players| Match { class: LADDER.into(), ..a_match(number, "robots", players) };
        for number in 1..=12 {
            let against_bot = vec![proven(entry(1, "Ann", 0)), bot(2, "Bot Ada", "hard")];
            store.record(&of_the_ladder(number, against_bot)).await.unwrap();
            let pair = at_host("h", vec![proven(entry(1, "Ann", 0)), proven(entry(2, "Eve", 1))]);
            store.record(&of_the_ladder(100 + number, pair)).await.unwrap();
            assert_eq!(casual(&store, 100 + number).await, "");
        }
        let ladder = Board { game: "robots", class: LADDER, season: ALL_TIME };
        let rating = async |name, kind, now| store.rating(ladder, (name, kind), now).await.unwrap();
        for now in [0, 1_000 * 86_400_000] {
            assert_eq!(rating("bot, hard", PlayerKind::Bot, now).await, Some((1_200, 0)));
        }
        let (ann, eve) =
            (rating("Ann", PlayerKind::Proven, 0).await.unwrap(), rating("Eve", PlayerKind::Proven, 0).await.unwrap());
        assert!(ann.0 > 1_200 && eve.0 < ann.0 && ann.1 < 667, "{ann:?} {eve:?}");
        assert_eq!(rating("Ann", PlayerKind::Unproven, 0).await, None);
        let rows = leaders_on(&store, ladder, Order::Rating).await;
        let hard = rows.iter().find(|leader| leader.name == "bot, hard").unwrap();
        assert_eq!((hard.score.rating, hard.score.uncertainty, hard.score.matches), (1_200, 0, 12));
    })
    .await;
}

#[tokio::test]
async fn player_that_leaves_is_ranked_last() {
    support::on_each_prepared(async |store, _| {
        let gone = MatchPlayer { quit: true, ..entry(1, "Ann", 200) };
        store.record(&a_match(1, "nuggets", vec![gone, entry(2, "Bob", 30), entry(3, "Cy", 20)])).await.unwrap();
        let rows = leaders(&store, "nuggets").await;
        let names: Vec<_> = rows.iter().map(|leader| (leader.name.as_str(), leader.score.wins)).collect();
        assert_eq!(names, [("Bob", 0), ("Cy", 0), ("Ann", 0)]);
        assert!(store.find("j1-1").await.unwrap().unwrap().players[0].quit);
    })
    .await;
}

#[tokio::test]
async fn casual_match_changes_no_board() {
    support::on_each_prepared(async |store, _| {
        let seeded =
            Match { casual: "seed".into(), ..a_match(1, "nuggets", vec![entry(1, "Ann", 200), entry(2, "Bob", 30)]) };
        assert!(store.record(&seeded).await.unwrap());
        assert_eq!(leaders(&store, "nuggets").await, []);
        let found = store.find("j1-1").await.unwrap().unwrap();
        assert_eq!((found.casual.as_str(), found.class.as_str(), found.players[0].rating), ("seed", "main", None));
    })
    .await;
}

#[tokio::test]
async fn daily_puzzle_counts_once_for_a_proven_name() {
    support::on_each_prepared(async |store, _| {
        let puzzle = |number: u32, player: MatchPlayer| Match {
            class: DAILY.into(),
            ..a_match(number, "mastermind", vec![player])
        };
        let daily = Board { class: DAILY, ..board("mastermind") };
        store.record(&puzzle(1, entry(1, "Guest", 7))).await.unwrap();
        assert_eq!(casual(&store, 1).await, "unproven");
        store.record(&puzzle(2, proven(entry(1, "Ann", 6)))).await.unwrap();
        store.record(&puzzle(3, proven(entry(1, "Ann", 1)))).await.unwrap();
        assert_eq!((casual(&store, 2).await, casual(&store, 3).await), (String::new(), "again".into()));
        let rows = leaders_on(&store, daily, Order::LowestScore).await;
        assert_eq!(
            rows.iter().map(|leader| (leader.name.as_str(), leader.score.mean_score)).collect::<Vec<_>>(),
            [("Ann", 6.0)]
        );
        assert_eq!(leaders_on(&store, board("mastermind"), Order::LowestScore).await, [], "outside the other means");
    })
    .await;
}

#[tokio::test]
async fn player_is_ranked_after_ten_matches_and_falls_behind_while_inactive() {
    support::on_each_prepared(async |store, _| {
        for number in 1..=12 {
            let mut late = a_match(number, "nuggets", vec![entry(1, "Ann", 9), entry(2, "Bob", 5)]);
            if number > 9 {
                late.players[1] = entry(2, "Cy", 5);
            }
            store.record(&late).await.unwrap();
        }
        let now = 12_000_000;
        let ask = async |ranked, now| store.leaders(board("nuggets"), (Order::Rating, ranked), 10, now).await.unwrap();
        let names = |rows: &[store::Leader]| rows.iter().map(|leader| leader.name.clone()).collect::<Vec<_>>();
        assert_eq!(names(&ask(true, now).await), ["Ann"]);
        let mut others = names(&ask(false, now).await);
        others.sort_unstable();
        assert_eq!(others, ["Bob", "Cy"]);
        let year = 365 * 86_400_000;
        let (before, after) = (ask(true, now).await.remove(0).score, ask(true, now + year).await.remove(0).score);
        assert!(after.uncertainty > before.uncertainty + 50, "{before:?} {after:?}");
        assert_eq!(after.rating, before.rating);
        // Fay, who has played since, is ahead, although Ann's lower bound was higher when she last played.
        for number in 21..=30 {
            let mut new = a_match(number, "nuggets", vec![entry(1, "Fay", 9), entry(2, "Gus", 5)]);
            (new.started, new.ended) = (new.started + 2 * year, new.ended + 2 * year);
            store.record(&new).await.unwrap();
        }
        assert_eq!(names(&ask(true, now + 2 * year).await)[0], "Fay");
        // The next match starts with the current uncertainty, so it changes the rating more.
        let mut back = a_match(40, "nuggets", vec![entry(1, "Gus", 9), entry(2, "Ann", 5)]);
        (back.started, back.ended) = (now + 2 * year, now + 2 * year);
        store.record(&back).await.unwrap();
        let ann = ask(true, now + 2 * year).await.into_iter().find(|leader| leader.name == "Ann").unwrap().score;
        assert!(ann.uncertainty > before.uncertainty && ann.rating < before.rating - 50, "{before:?} {ann:?}");
    })
    .await;
}

#[tokio::test]
async fn each_season_has_its_own_boards() {
    support::on_each_prepared(async |store, _| {
        let mut first = a_match(1, "nuggets", vec![entry(1, "Ann", 9), entry(2, "Bob", 5)]);
        first.ended = 1_790_812_799_999;
        let mut second = a_match(2, "nuggets", vec![entry(1, "Bob", 9), entry(2, "Ann", 5)]);
        second.ended = 1_790_812_800_000;
        for new in [&first, &second] {
            store.record(new).await.unwrap();
        }
        assert_eq!([season_of(first.ended), season_of(second.ended)], ["2026-3", "2026-4"]);
        assert_eq!(store.seasons().await.unwrap(), ["2026-3", "2026-4"]);
        for (season, best, matches) in [("2026-3", "Ann", 1), ("2026-4", "Bob", 1), (ALL_TIME, "Bob", 2)] {
            let rows = leaders_on(&store, Board { season, ..board("nuggets") }, Order::Rating).await;
            assert_eq!((rows[0].name.as_str(), rows[0].score.matches), (best, matches), "{season}");
        }
    })
    .await;
}
