//! Each scenario starts a server with its own options, connects players and observers, and folds the events. Since the
//! seed is known, each turn is known too, except for the freedom of the protocol: the ids of bombs, the order of
//! explosions, and the choice between two turns for an action that is sent at the end of a turn.

mod arguments;
mod attribution;
mod board;
mod bytes;
mod clock;
mod diagnosis;
mod explanation;
mod extremes;
mod game;
mod lobby;
mod model;
mod neighbours;
mod openings;
mod rules;
mod running;
mod session;
mod setup;

use self::Course::{Scene, Scripted};
use self::board::{Script, script};
use self::rules::{
    ACCEPTED, ADDRESS, ADDRESS_OF_PEER, ALL_ADDRESSES, ANY_SEED, BAD_BYTES, BAD_DIRECTION, BAD_NAME, BEFORE_BAD,
    BELOW_ZERO, BLAST, BLOCK, BLOCK_ON_BOTH, BLOCK_STOPS, BLOCK_TWICE, BLOCKS_UNDER_ROBOTS, BOMB, BOMB_IDS,
    BOMB_OF_LEAVER, BOMB_TIMER, BOMBS_ON_ONE, BOTH_BLOCK, BUSY, COALESCED, COMES_BACK, CROWD, DEAD_ACT, DRAWS, EDGE,
    EMPTY_NAME, ENDED, EQUAL_NAMES, EVENT_ORDER, EXIT_ONE, FAR_EDGE, FLOOD, FREED, GAME_STARTED, HALF_A_JOIN,
    HALF_MORE, HELP, IMPOSSIBLE, INTO_BLOCK, IPV6, JOIN_IN_GAME, LARGE_BOARD, LARGEST_VALUES, LAST_COUNTS, LAST_WORDS,
    LATE, LEAVE_BLOCK, LEAVER, LISTED_ONCE, LOBBY_ACTIONS, LOBBY_LEAVER, LONG_HISTORY, LONG_OPTIONS, LONG_SERVER_NAME,
    LONGEST_NAME, MANY_CLIENTS, MANY_PLAYERS, MOVE, NAME_BYTES, NEVER_READS, NEXT_BOARD, NEXT_GAME, NEXT_SCORES,
    NO_ARGUMENTS, NO_CHAIN, NO_CRASH, NO_DELAY, NO_DRIFT, NO_SEED, NO_TURNS, NOBODY_THERE, NOT_A_NUMBER, NOT_RESET,
    NOTHING_LOST, OBSERVER, OFFENDER, OLD_HISTORY, ON_BOMBED_BLOCK, OVER_BOMBS, OWN_BUFFERS, PIECES, PLAYED_ONCE,
    REBIRTH, REBIRTH_ON_BLOCK, REQUIRED_OPTIONS, RESET, RESTART, RULES, SAME_FOR_ALL, SAYS_WHY, SCORE_ONCE,
    SCORE_ZEROS, SCORES, SECOND_JOIN, SEED_ZERO, SERVER_NAME, SHARED_FIELD, SHELTER, STOOD, STRAY_WORD, STRICT_UTF8,
    TAKEN_PORT, TIMER_ONE, TOO_LARGE, TURN_DURATION, TURN_NUMBERS, UNDISTURBED, UNITED, UNKNOWN_OPTION, VISITORS,
    WIDE_BLAST, WRONG_ARGUMENTS, ZERO, ZERO_RADIUS,
};
use crate::{
    judge::{self, Judge, ScenarioResult, scene},
    launch::Launcher,
    robots::context::Context,
    rule::Rule,
    tester::{Options, Tester},
};

pub static TESTER: Tester = Tester {
    kind: "robots-server",
    is_server: true,
    usual: "-b {bomb-timer} -c {players} -d {turn} -e {radius} -k {blocks} -l {length} -n {name} -p {port} -s {seed} \
            -x {x} -y {y}",
    known: PLACEHOLDERS,
    needed: PLACEHOLDERS,
    rules: RULES,
    takes_part: &[&rules::HELLO, &ACCEPTED, &GAME_STARTED, &TURN_NUMBERS, &MOVE, &ENDED],
    play,
};

static PLACEHOLDERS: &[&str] =
    &["bomb-timer", "players", "turn", "radius", "blocks", "length", "name", "port", "seed", "x", "y"];

fn play(judge: &mut Judge, launcher: &dyn Launcher, options: &Options) -> anyhow::Result<()> {
    let context = &Context::new(launcher, options, "server", &EXIT_ONE);
    if let Some(address) = launcher.address() {
        return judge.play("the running server", |judge| running::play(context, judge, address));
    }
    // Each group uses the results of the previous groups.
    judge.side_by_side(scenes(context, &FIRST))?;
    judge.side_by_side(details(context, &DETAILS))?;
    judge.side_by_side(scenes(context, &LAST))?;
    // This scenario uses a whole processor.
    judge.side_by_side(details(context, &FLOODS))
}

fn scenes<'s>(context: &'s Context<'_>, of: &[(&'static str, Meant, Play)]) -> Vec<judge::Scene<'s>> {
    let scene = |&(name, meant, play): &(&'static str, Meant, Play)| {
        let attempt = move |judge: &mut Judge, number| {
            let played = play(&context.attempt(number, None), judge);
            if played.is_err() && judge.has_crashed() {
                judge.ended_by(&NO_CRASH);
            }
            played
        };
        let run = move |judge: &mut Judge| judge.repeated(ATTEMPTS, attempt);
        scene(name, run).shows(meant.iter().copied())
    };
    of.iter().map(scene).collect()
}

fn details<'s>(context: &'s Context<'_>, of: &'static [Detail]) -> Vec<judge::Scene<'s>> {
    let detail = |(name, rule, course): &'static Detail| {
        let (name, rule) = (*name, *rule);
        let also = [&EXIT_ONE, &SAYS_WHY].into_iter().filter(move |_| rule.id == NO_ARGUMENTS.id);
        let attempt = move |judge: &mut Judge, number| {
            if !rule.is_required() {
                // The task does not define the behavior, so a crash breaks only this rule.
                judge.judges_crashes();
            }
            let own = context.attempt(number, Some(rule));
            let played = match course {
                Scene(play) => play(&own, judge),
                Scripted(script) => script.play(&own, judge),
            };
            let (crashed, failed) = (judge.has_crashed(), judge.has_failed(rule));
            // A crash breaks one rule: in a scenario for advice, that of the scenario, unless the crash was recorded
            // before.
            let is_apart = if rule.is_required() { played.is_err() } else { judge.has_failed(&NO_CRASH) };
            match (&played, own.hidden_by.get()) {
                _ if crashed && is_apart => {
                    judge.retract(rule);
                    judge.leave_out_for([rule], &NO_CRASH);
                }
                _ if failed => {}
                _ if crashed && !rule.is_required() => {
                    judge.check(rule, false, || "expected no crash, but the server crashed".to_owned());
                }
                (Ok(()), None) => {
                    judge.check(rule, true, String::new);
                }
                // Correct behavior before the scenario ended is not an observation.
                (_, known) => {
                    judge.retract(rule);
                    if let Some(known) = known {
                        judge.leave_out_for([rule], known);
                    }
                }
            }
            played
        };
        let run = move |judge: &mut Judge| judge.repeated(ATTEMPTS, attempt);
        scene(name, run).shows([rule].into_iter().chain(also))
    };
    of.iter().map(detail).collect()
}

/// Repetitions of a scenario if the tester does not keep up with the turns.
const ATTEMPTS: u32 = 4;

type Play = fn(&Context<'_>, &mut Judge) -> ScenarioResult;

/// If empty, the scenario may observe any rule.
type Meant = &'static [&'static Rule];

/// The scenarios for details use the results of these.
static FIRST: [(&str, Meant, Play); 15] = [
    ("a lobby", &[], lobby::whole_lobby),
    ("actions in the lobby", &[&LOBBY_ACTIONS], lobby::early_actions),
    ("two Joins of one player", &[&SECOND_JOIN, &ACCEPTED, &ADDRESS, &ADDRESS_OF_PEER], lobby::second_join),
    ("messages byte by byte", &[&PIECES], lobby::pieces),
    ("invalid bytes", &[&BAD_BYTES, &UNDISTURBED], lobby::wrong_bytes),
    ("a name that is not UTF-8", &[&BAD_NAME], lobby::bad_name),
    ("many clients", &[&MANY_CLIENTS], lobby::many),
    ("IPv6", &[&IPV6], lobby::over_ipv6),
    ("moves of one robot", &[&MOVE, &EDGE, &IMPOSSIBLE, &PLAYED_ONCE], game::moves),
    ("blocks and bombs of one robot", &[&BLOCK, &BLOCK_TWICE, &BOMB, &LEAVE_BLOCK, &INTO_BLOCK], game::blocks),
    ("several messages in a turn", &[&LAST_COUNTS, &JOIN_IN_GAME], game::several_messages),
    ("an invalid port", &[&WRONG_ARGUMENTS, &EXIT_ONE], arguments::no_port),
    ("a port in use", &[&TAKEN_PORT, &EXIT_ONE], lobby::taken_port),
    ("a single bomb", &[&BLAST, &BOMB_TIMER], board::single_bomb),
    ("a bomb under two robots", &[&BLAST, &REBIRTH], board::bomb_under_two),
];

/// A scenario for one rule. An error that was not recorded before breaks only this rule.
type Detail = (&'static str, &'static Rule, Course);

enum Course {
    Scene(Play),
    Scripted(Script),
}

static DETAILS: [Detail; 62] = [
    ("500 connections", &CROWD, Scene(neighbours::crowd)),
    ("255 players", &MANY_PLAYERS, Scene(extremes::many_players)),
    ("visitors", &VISITORS, Scene(neighbours::visitors)),
    ("a long game", &LONG_HISTORY, Scene(extremes::long_history)),
    ("servers without a seed", &NO_SEED, Scene(clock::without_seed)),
    ("a walk over a bomb", &OVER_BOMBS, Scripted(Script { timer: 50, ..script("0 .", "0* 0> 0< -") })),
    ("two robots on a field", &SHARED_FIELD, Scripted(script("0 1", "0> 1< 0< -"))),
    ("a block on two robots", &BLOCK_ON_BOTH, Scripted(script("01", "0# -"))),
    ("two bombs on a field", &BOMBS_ON_ONE, Scripted(script("0", "0* 0* - -"))),
    ("two blocks on a field", &BOTH_BLOCK, Scripted(script("01", "0#+1# -"))),
    ("a field freed by a bomb", &FREED, Scripted(script("0 # 1", "0* - 1< -"))),
    ("a walk into a blast", &STOOD, Scripted(script("0 2 1", "0* - 1<+2> -"))),
    ("an action of a destroyed robot", &DEAD_ACT, Scripted(script("0", "0* - 0# -"))),
    ("a bomb of a player who has left", &BOMB_OF_LEAVER, Scene(board::bomb_of_leaver)),
    ("a bomb beside a bomb", &NO_CHAIN, Scripted(script("0 1", "0* 1* - -"))),
    ("a bomb on a block", &ON_BOMBED_BLOCK, Scripted(Script { radius: 2, ..script("0 1 .", "0# 0* - -") })),
    ("a robot on a block", &SHELTER, Scripted(script("0 1 .", "0*+1# - -"))),
    ("radius 0", &ZERO_RADIUS, Scripted(Script { radius: 0, ..script("0 1", "0* - -") })),
    ("the largest radius", &WIDE_BLAST, Scene(extremes::wide_blast)),
    ("the shortest timer", &TIMER_ONE, Scripted(Script { timer: 1, ..script("0", "0* -") })),
    ("a rebirth on a block", &REBIRTH_ON_BLOCK, Scene(board::rebirth_on_block)),
    ("an action before leaving", &LAST_WORDS, Scene(board::action_before_leaving)),
    ("the board of the next game", &NEXT_BOARD, Scene(extremes::next_board)),
    ("the scores of the next game", &NEXT_SCORES, Scene(extremes::next_scores)),
    ("a player who sends invalid bytes", &OFFENDER, Scene(neighbours::offender)),
    ("the far edges", &FAR_EDGE, Scene(board::far_edge)),
    ("a block in the way", &BLOCK_STOPS, Scripted(script("1 0", "0#+1> -"))),
    ("no arguments", &NO_ARGUMENTS, Scene(arguments::none)),
    ("missing options", &REQUIRED_OPTIONS, Scene(arguments::required)),
    ("numbers below 0", &BELOW_ZERO, Scene(arguments::below_zero)),
    ("numbers out of range", &TOO_LARGE, Scene(arguments::too_large)),
    ("invalid numbers", &NOT_A_NUMBER, Scene(arguments::not_a_number)),
    ("a server name of 256 bytes", &LONG_SERVER_NAME, Scene(arguments::long_name)),
    ("an unknown option", &UNKNOWN_OPTION, Scene(arguments::unknown)),
    ("an extra word", &STRAY_WORD, Scene(arguments::stray)),
    ("zeros", &ZERO, Scene(arguments::zero)),
    ("help", &HELP, Scene(arguments::help)),
    ("long options", &LONG_OPTIONS, Scene(arguments::long_options)),
    ("the largest values", &LARGEST_VALUES, Scene(arguments::largest)),
    ("server names", &SERVER_NAME, Scene(bytes::server_name)),
    ("another address", &ALL_ADDRESSES, Scene(neighbours::all_addresses)),
    ("restart on the same port", &RESTART, Scene(neighbours::restart)),
    ("the longest name", &LONGEST_NAME, Scene(bytes::longest_name)),
    ("a name with special characters", &NAME_BYTES, Scene(bytes::name_bytes)),
    ("equal names", &EQUAL_NAMES, Scene(bytes::equal_names)),
    ("a player who joins again", &COMES_BACK, Scene(bytes::comes_back)),
    ("half of a Join", &HALF_A_JOIN, Scene(neighbours::partial_join)),
    ("the seed 0", &SEED_ZERO, Scene(extremes::seed_zero)),
    ("large seeds", &ANY_SEED, Scene(extremes::any_seed)),
    ("a block on a robot", &BLOCKS_UNDER_ROBOTS, Scene(board::blocks_under_robots)),
    ("the largest board", &LARGE_BOARD, Scene(extremes::large_board)),
    ("a game without clients", &NOBODY_THERE, Scene(extremes::nobody_there)),
    ("a new client after a game", &OLD_HISTORY, Scene(extremes::old_history)),
    ("a game without turns", &NO_TURNS, Scene(extremes::no_turns)),
    ("pieces of two messages", &OWN_BUFFERS, Scene(neighbours::own_buffers)),
    ("a message and a half", &HALF_MORE, Scene(bytes::half_more)),
    ("a message before invalid bytes", &BEFORE_BAD, Scene(bytes::before_bad)),
    ("unknown directions", &BAD_DIRECTION, Scene(bytes::bad_direction)),
    ("names that are almost UTF-8", &STRICT_UTF8, Scene(bytes::strict_utf8)),
    ("connections that are reset", &RESET, Scene(neighbours::resets)),
    ("several messages in one segment", &COALESCED, Scene(lobby::coalesced)),
    ("a player without a name", &EMPTY_NAME, Scene(bytes::empty_name)),
];

static FLOODS: [Detail; 1] = [("a flood", &FLOOD, Scene(neighbours::flood))];

static BUSY_RULES: Meant = &[
    &SAME_FOR_ALL,
    &BOMB_IDS,
    &OBSERVER,
    &EVENT_ORDER,
    &BOMB_TIMER,
    &BLAST,
    &UNITED,
    &LISTED_ONCE,
    &REBIRTH,
    &BUSY,
    &LATE,
    &SCORES,
    &SCORE_ONCE,
    &SCORE_ZEROS,
    &TURN_NUMBERS,
    &DRAWS,
];

/// The slowest scenarios, and those that cover all remaining rules.
static LAST: [(&str, Meant, Play); 6] = [
    ("a busy game", BUSY_RULES, game::busy),
    ("long turns", &[&TURN_DURATION, &GAME_STARTED, &ENDED], game::long_turns),
    ("a client that never reads", &[&NEVER_READS, &NOTHING_LOST], game::never_reading),
    ("a fast game", &[&NO_DRIFT, &NO_DELAY], clock::fast),
    ("players who leave", &[&LOBBY_LEAVER, &LEAVER, &UNITED, &SCORE_ONCE], game::leaving_players),
    ("two games", &[&NEXT_GAME, &NOT_RESET, &JOIN_IN_GAME, &TURN_DURATION], game::two_games),
];
