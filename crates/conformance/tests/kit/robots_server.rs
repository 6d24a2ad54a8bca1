//! The tester of servers of robots: a right server passes, and for each rule one that breaks just it is found out.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod server;
use conformance::ROBOTS_SERVER as TESTER;

use crate::support::{assert_all_pass, crimes, find_out, tried, tried_for};
use server::serve;

/// Trials at the same time, each with several scenarios.
const AT_ONCE: usize = 12;

crimes! {
    None,
    Silent => "hello",
    Crashes => "listens",
    V4Only => "ipv6",
    Few => "many-clients",
    AnyArguments => "wrong-arguments",
    AnyPort => "taken-port",
    ExitTwo => "exit-status-1",
    Garbage => "well-formed",
    HelloTimer => "hello",
    IdsFromOne => "accepted",
    AddressWithoutPort => "address",
    AddressOfOther => "address-of-peer",
    NoNews => "newcomer-in-lobby",
    JoinsTwice => "second-join",
    RemembersLobby => "lobby-actions",
    ForgetsLeaver => "lobby-leaver",
    StartsEmpty => "game-started",
    BlockTwiceAtStart => "turn-0",
    YBeforeX => "draws",
    SkipsTurn => "turn-numbers",
    ShortTurns => "turn-duration",
    Drifts => "no-drift",
    NoDelay => "no-delay",
    NeedsSeed => "no-seed",
    TellsOneOnly => "same-for-all",
    UpIsDown => "move",
    NoEdge => "edge",
    WalksIntoBlocks => "into-block",
    NoBlocks => "place-block",
    BlockTwice => "block-twice",
    NoBombOnBlock => "place-bomb",
    SameBombId => "bomb-ids",
    FirstCounts => "last-counts",
    PossibleCounts => "impossible-displaces",
    JoinDisplaces => "join-in-game",
    PlaysAgain => "played-once",
    ObserverPlays => "observer",
    ExplosionsLast => "event-order",
    SlowBombs => "bomb-timer",
    LongBlast => "blast",
    OneAfterTheOther => "bombs-together",
    NoRebirth => "rebirth",
    DropsActions => "turns",
    LeaverWalks => "leaver",
    LateGetsLast => "late-joiner",
    LateEnd => "game-ended",
    LosesScores => "scores",
    NoZeros => "score-zeros",
    CountsHits => "score-once",
    IdsGoOn => "next-game",
    Resets => "generator-goes-on",
    WholeReads => "pieces",
    OneOfRead => "coalesced",
    IgnoresBad => "bad-bytes",
    AnyName => "bad-name",
    BadKills => "others-undisturbed",
    Blocks => "never-reads",
}

#[test]
fn a_right_server_passes_all_rules() {
    assert_all_pass(&tried(&TESTER, serve, C::None, 5000));
}

#[test]
fn whoever_breaks_a_rule_is_found_out() {
    find_out(&TESTER, CRIMES, AT_ONCE, |crime, rule| tried_for(&TESTER, serve, crime, rule, 1000));
}
