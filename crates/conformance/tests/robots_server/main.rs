//! The tester of servers of robots: a right server passes, and for each rule one that breaks just it is found out.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod server;
#[path = "../support/mod.rs"]
mod support;

use std::time::Duration;

use conformance::{Launcher, Options, Report, Run, Values, robots_server::TESTER};

use server::serve;
use support::{assert_all_pass, find_out, start};

/// What a server does wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Crime {
    None,
    Silent,
    Crashes,
    V4Only,
    Few,
    AnyArguments,
    AnyPort,
    ExitTwo,
    Garbage,
    HelloTimer,
    IdsFromOne,
    AddressWithoutPort,
    AddressOfOther,
    NoNews,
    JoinsTwice,
    RemembersLobby,
    ForgetsLeaver,
    StartsEmpty,
    BlockTwiceAtStart,
    YBeforeX,
    SkipsTurn,
    ShortTurns,
    TellsOneOnly,
    UpIsDown,
    NoEdge,
    WalksIntoBlocks,
    NoBlocks,
    BlockTwice,
    NoBombOnBlock,
    SameBombId,
    FirstCounts,
    PossibleCounts,
    JoinDisplaces,
    PlaysAgain,
    ObserverPlays,
    ExplosionsLast,
    SlowBombs,
    LongBlast,
    OneAfterTheOther,
    NoRebirth,
    DropsActions,
    LeaverWalks,
    LateGetsLast,
    LateEnd,
    NoZeros,
    CountsHits,
    IdsGoOn,
    Resets,
    WholeReads,
    OneOfRead,
    IgnoresBad,
    AnyName,
    BadKills,
    Blocks,
}

use Crime as C;

/// Each crime and the rule that it breaks.
const CRIMES: &[(Crime, &str)] = &[
    (C::Silent, "hello"),
    (C::Crashes, "listens"),
    (C::V4Only, "ipv6"),
    (C::Few, "many-clients"),
    (C::AnyArguments, "wrong-arguments"),
    (C::AnyPort, "taken-port"),
    (C::ExitTwo, "exit-status-1"),
    (C::Garbage, "well-formed"),
    (C::HelloTimer, "hello"),
    (C::IdsFromOne, "accepted"),
    (C::AddressWithoutPort, "address"),
    (C::AddressOfOther, "address-of-peer"),
    (C::NoNews, "newcomer-in-lobby"),
    (C::JoinsTwice, "second-join"),
    (C::RemembersLobby, "lobby-actions"),
    (C::ForgetsLeaver, "lobby-leaver"),
    (C::StartsEmpty, "game-started"),
    (C::BlockTwiceAtStart, "turn-0"),
    (C::YBeforeX, "draws"),
    (C::SkipsTurn, "turn-numbers"),
    (C::ShortTurns, "turn-duration"),
    (C::TellsOneOnly, "same-for-all"),
    (C::UpIsDown, "move"),
    (C::NoEdge, "edge"),
    (C::WalksIntoBlocks, "into-block"),
    (C::NoBlocks, "place-block"),
    (C::BlockTwice, "block-twice"),
    (C::NoBombOnBlock, "place-bomb"),
    (C::SameBombId, "bomb-ids"),
    (C::FirstCounts, "last-counts"),
    (C::PossibleCounts, "impossible-displaces"),
    (C::JoinDisplaces, "join-in-game"),
    (C::PlaysAgain, "played-once"),
    (C::ObserverPlays, "observer"),
    (C::ExplosionsLast, "event-order"),
    (C::SlowBombs, "bomb-timer"),
    (C::LongBlast, "blast"),
    (C::OneAfterTheOther, "bombs-together"),
    (C::NoRebirth, "rebirth"),
    (C::DropsActions, "turns"),
    (C::LeaverWalks, "leaver"),
    (C::LateGetsLast, "late-joiner"),
    (C::LateEnd, "game-ended"),
    (C::NoZeros, "scores"),
    (C::CountsHits, "score-once"),
    (C::IdsGoOn, "next-game"),
    (C::Resets, "generator-goes-on"),
    (C::WholeReads, "pieces"),
    (C::OneOfRead, "coalesced"),
    (C::IgnoresBad, "bad-bytes"),
    (C::AnyName, "bad-name"),
    (C::BadKills, "others-undisturbed"),
    (C::Blocks, "never-reads"),
];

struct Crooked(Crime);

impl Launcher for Crooked {
    fn takes(&self, _: &str) -> bool {
        true
    }

    fn start(&self, values: Values<'_>) -> anyhow::Result<Box<dyn Run>> {
        let (crime, values) = (self.0, values.to_vec());
        Ok(start(move |console| serve(crime, &values, console)))
    }
}

fn tried(crime: Crime, patience: u64) -> Report {
    let options = Options { patience: Duration::from_millis(patience), players: 1 };
    (TESTER.test)(&Crooked(crime), &options).unwrap()
}

#[test]
fn a_right_server_passes_all_rules() {
    let report = tried(C::None, 2000);
    assert_all_pass(&report);
}

#[test]
fn whoever_breaks_a_rule_is_found_out() {
    find_out(&TESTER, CRIMES, CRIMES.len(), |crime| tried(crime, 1000));
}
