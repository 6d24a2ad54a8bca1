//! Mutants: defects that the simulations must find.
//!
//! Each test applies a defect to a copy of the sources, compiles it, and expects a simulation to fail with the message
//! of the check for it. The tests of one module change one crate, so they compile the same crates again.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
    sync::{Mutex, PoisonError},
    time::Instant,
};

use ::testkit::programs::{cargo, workspace};

/// Relative to the root of the workspace.
const SOURCES: [&str; 7] = [".cargo", "Cargo.lock", "Cargo.toml", "crates", "examples", "maps", "tests"];
const LEFT_OUT: [&str; 2] = ["node_modules", "target"];

struct Mutant {
    name: &'static str,
    file: &'static str,
    /// Each text must occur exactly once in the file.
    edits: &'static [(&'static str, &'static str)],
    simulation: Simulation,
    /// Messages of the checks that may find the defect.
    messages: &'static [&'static str],
}

struct Simulation {
    package: &'static str,
    test: &'static str,
    variables: &'static [(&'static str, &'static str)],
}

const SEEDS: &[(&str, &str)] = &[("TESTKIT_SEEDS", "400")];
const BLACKJACK: Simulation =
    Simulation { package: "testkit", test: "simulation::blackjack_loses_nothing_that_was_delivered", variables: SEEDS };
const NUGGETS: Simulation =
    Simulation { package: "testkit", test: "simulation::nuggets_loses_nothing_that_was_delivered", variables: SEEDS };
const ROBOTS: Simulation =
    Simulation { package: "testkit", test: "simulation::robots_loses_nothing_that_was_delivered", variables: SEEDS };

/// Some defects require a rare order of events, so their first seed is shortly before it.
const fn fleets(test: &'static str, variables: &'static [(&'static str, &'static str)]) -> Simulation {
    Simulation { package: "mesh", test, variables }
}

const FLEETS: Simulation = fleets("simulation::no_fleet_breaks_a_promise", &[("MESH_SEEDS", "1600")]);

/// A test per mutant. The modules are named after the changed crates.
macro_rules! mutants {
    ($($package:ident {
        $($name:ident: $file:literal, $simulation:expr, $messages:expr, $($from:literal => $to:literal),+;)+
    })+) => {
        const MUTANTS: &[Mutant] = &[$($(Mutant {
            name: concat!(stringify!($package), "::", stringify!($name)),
            file: $file,
            edits: &[$(($from, $to)),+],
            simulation: $simulation,
            messages: &$messages,
        },)+)+];

        $(mod $package {
            $(#[test]
            #[ignore = "compiles some crates again; CONTRIBUTING.md has the command"]
            fn $name() {
                super::check(concat!(stringify!($package), "::", stringify!($name)));
            })+
        })+
    };
}

mutants! {
    journal_core {
        cut_after_partial_record: "crates/journal-core/src/sink/ending.rs", ROBOTS, ["is damaged"],
            "let end = segment.positions.offset(inner.written);" =>
                "let end = if state == SegmentState::Cut { segment.file.about().map_or(0, |about| about.length) }
                 else { segment.positions.offset(inner.written) };";
        earlier_segment_continued: "crates/journal-core/src/segment.rs", ROBOTS,
            [
                "the segment that continues it is missing",
                "the server resumes from another state",
                "and the replay sends only",
            ],
            "let found = segments(disk, journal, true)?;" =>
                "let mut found = segments(disk, journal, true)?;
                 if found.len() > 1 { found.pop(); return Ok(Some(found)); }";
        old_segment_not_synced: "crates/journal-core/src/sink/writing.rs", ROBOTS,
            ["it ends before the next segment begins"],
            "old.file.sync().map_err(Refusal::Fatal)?;" => "";
        outputs_released_without_cut: "crates/journal-core/src/sink/ending.rs", ROBOTS, ["and the replay sends only"],
            "return self.not_cut(&error);" => "let _ = error; self.become_state(status); return Next::Wait;";
        record_dropped: "crates/journal-core/src/room.rs", ROBOTS, ["the match never had the state after"],
            "self.sink.push(&self.body);" => "if self.arrivals % 100 != 99 { self.sink.push(&self.body); }";
        records_do_not_wake_writer: "crates/journal-core/src/scribe.rs", ROBOTS,
            ["the thread that writes journals sleeps although something is ready for it"],
            "writer.into_iter().for_each(Waker::wake);" => "drop(writer);";
        released_outputs_do_not_wake_host: "crates/journal-core/src/sink.rs", ROBOTS,
            ["the server sleeps although something is ready for it"],
            "            waker.wake();" => "drop(waker);";
        snapshot_at_later_position: "crates/journal-core/src/room.rs", ROBOTS, ["the match never had the state after"],
            "if codec::encode_within(&state, &mut snapshot.state, MAX_SNAPSHOT) {" =>
                "(snapshot.offset, snapshot.sum) = sink.position();
                 if codec::encode_within(&state, &mut snapshot.state, MAX_SNAPSHOT) {";
        status_ahead_of_sync: "crates/journal-core/src/sink/writing.rs", ROBOTS, ["is damaged"],
            "if synced < written" => "if synced > written";
        synced_before_write: "crates/journal-core/src/sink/writing.rs", ROBOTS,
            ["and the replay sends only", "is damaged"],
            "file.write_at(at, bytes).map_err(|error|" =>
                "let _ = file.sync(); file.write_at(at, bytes).map_err(|error|",
            "SyncPolicy::Always => file.sync().map_err(|error|" => "SyncPolicy::Always => Ok(()).map_err(|error|";
    }
    mesh {
        claim_overwrites_claim: "crates/mesh/src/local.rs", FLEETS,
            ["two owners", "the sent state of", "the stored state of"],
            "if there.map(|entry| entry.revision) != expected {" =>
                "if there.map(|entry| entry.revision) != expected && expected.is_some() {";
        dead_node_continues: "crates/mesh/src/node/life.rs", FLEETS, ["two owners"],
            "fn end_life(&mut self, now: Time) {" => "fn end_life(&mut self, now: Time) { if now > Time::ZERO { return; }",
            "(Written::Conflict(_), Some(_)) => self.end_life(now)," =>
                "(Written::Conflict(_), Some(life)) => {
                     life.entry_lease = at.plus(LEASE);
                     self.next_entry = at.plus(HEARTBEAT);
                 }";
        expired_too_early: "crates/mesh/src/node/leases.rs",
            fleets(FLEETS.test, &[("MESH_SEED", "80"), ("MESH_SEEDS", "1600")]), ["two owners", "the stored state of"],
            "if knows { EXPIRY } else" => "if knows { EXPIRY / 4 } else";
        fence_not_checked: "crates/mesh/src/log.rs", FLEETS, ["the sent state of", "a follower of"],
            "if head.fence > append.fence {" => "if false {",
            "if !is_ours {" => "if !is_ours && false {",
            "if last.head.fence > fence {" => "if false {";
        former_nodes_ignored: "crates/mesh/src/node/view.rs",
            fleets("simulation::a_rolling_upgrade_breaks_no_promise", &[("MESH_SEEDS", "1600")]),
            ["two owners", "the stored state of"],
            "self.node(name).is_some_and(|entry| {" => "true || self.node(name).is_some_and(|entry| {";
        heartbeats_not_ended: "crates/mesh/src/node/view.rs", FLEETS, ["two owners", "the stored state of"],
            "let is_apart = matches!(" => "let is_apart = false && matches!(";
        journal_read_before_opened: "crates/mesh/src/writer.rs",
            fleets(
                "simulation::frozen_clocks_lose_no_sent_state",
                &[("MESH_SEED", "2100"), ("MESH_SEEDS", "1600")],
            ),
            ["the sent state of", "the stored state of"],
            "Self::new(fence, Step::Open { then_read: true })" => "Self::new(fence, Step::Read { end: Sequence(0) })",
            "self.step = Step::Append(Some(end));\n                return" =>
                "self.step = if end == Sequence(0) { Step::Open { then_read: false } } else { Step::Append(Some(end)) };
                 return";
        journal_sought_in_the_wrong_stream: "crates/mesh/src/node/rooms.rs",
            fleets("simulation::a_rolling_upgrade_breaks_no_promise", &[("MESH_SEEDS", "1600")]),
            ["the sent state of", "the stored state of"],
            "room.placement() == Placement::Single || self.settings.streams" => "true";
        lease_ignored: "crates/mesh/src/node/leases.rs", FLEETS, ["two owners", "the stored state of"],
            "Some(life.lease().max(all))" => "Some(all.max(Time::from_nanos(u64::MAX)))";
        newcomer_expires_nodes: "crates/mesh/src/node/leases.rs",
            fleets(FLEETS.test, &[("MESH_SEED", "500"), ("MESH_SEEDS", "1600")]), ["two owners", "the stored state of"],
            "let knows = self.is_known_to(name, entry);" => "let knows = true || self.is_known_to(name, entry);";
        lease_grant_forgotten: "crates/mesh/src/node/leases.rs",
            fleets(FLEETS.test, &[("MESH_SEED", "2400"), ("MESH_SEEDS", "1600")]), ["two owners", "the stored state of"],
            "self.leases.given.get(name).map_or(due, |given| due.max(*given))" => "due";
        published_before_stored: "crates/mesh/src/writer.rs", FLEETS, ["the sent state of"],
            "        self.stored\n" => "self.written\n";
        result_acknowledged_before_commit: "crates/mesh/src/results.rs", FLEETS, ["the result of"],
            "let committed = match" => "results.acknowledge(&delivery.receipt).await?; let committed = match";
        retry_stored_twice: "crates/mesh/src/log.rs", FLEETS, ["the sent state of", "a follower of"],
            "if is_same && last.body == append.body {" => "if is_same && false {",
            "if !is_ours {" => "if !is_ours && false {";
        room_released_too_early: "crates/mesh/src/node/rooms.rs", FLEETS,
            ["two owners", "the sent state of", "the stored state of"],
            "self.claim.filter(|_| !is_silent)" => "self.claim.filter(|_| !is_silent || true)",
            "Aim::HandOver(HandoverStep::Suspending);" => "Aim::HandOver(HandoverStep::Suspended);";
        unknown_claim_stays: "crates/mesh/src/node/rooms.rs",
            fleets("simulation::a_lossy_network_breaks_no_promise", &[("MESH_SEEDS", "1600")]),
            ["a closed room stays in the directory", "stands still"],
            "Orphan::StaleClaim => Some(since)," => "Orphan::StaleClaim => None,";
        watch_skips_change: "crates/mesh/src/local.rs", FLEETS, ["a watcher misses a change", "stands still"],
            "last: since }" => "last: since.map(|since| Revision(since.0 + 1)) }";
    }
    // Compiled into all other crates.
    netcore {
        decoder_reads_ahead: "crates/netcore/src/room.rs", BLACKJACK, ["the replay diverges from the match"],
            "match decode::<E>(&mut entry.decoder, message, entry.link.framing()) {" =>
                "match decode::<E>(&mut entry.decoder, message, entry.link.framing()) {
                     Ok(_) if entry.ahead && E::Protocol::AHEAD.is_some() => {
                         let _ = self.malformed(now, peer, DecodeError::invalid(\"bytes behind a message\", 0), out);
                         Progress::Decoded
                     }";
    }
    netshell {
        failed_socket_not_polled: "crates/netshell/src/udp.rs", NUGGETS,
            ["the server sleeps although a datagram waits"],
            "retry.into_iter().chain(resume)" => "retry.into_iter().chain(resume.filter(|_| false))";
        outputs_not_held: "crates/netshell/src/host/held_outputs.rs", ROBOTS, ["and the replay sends only"],
            "let position = self.hold.position();" => "let position = 0;";
        room_time_goes_back: "crates/netshell/src/host.rs", ROBOTS, ["the time of the room goes back"],
            "self.now = self.now.max(now);" => "self.now = now;";
    }
    nuggets {
        quitters_forgotten: "crates/nuggets/src/server.rs", NUGGETS,
            ["a client that had quit plays again", "it cannot be resumed: the replay diverges"],
            "server.quitters = state.quitters;" => "";
    }
    testkit {
        directory_name_not_synced: "crates/testkit/src/disk/calls.rs", ROBOTS,
            ["the journal has a name that a power cut takes away"],
            "change.path.parent() != Some(path)" => "change.path.parent() != Some(path) || !path.ends_with(\"games\")";
        file_name_not_synced: "crates/testkit/src/disk/calls.rs", ROBOTS,
            ["the journal has a name that a power cut takes away"],
            "change.path.parent() != Some(path)" => "change.path.parent() != Some(path) || path.ends_with(\"games\")";
        lock_granted_twice: "crates/testkit/src/disk/calls.rs", ROBOTS,
            ["a second server resumes a journal that is in use"],
            "(self.opening, process)).0 == self.opening)" => "(self.opening, process)).0 > 0)";
    }
}

impl Mutant {
    fn apply(&self, text: &str) -> String {
        self.edits.iter().fold(text.to_owned(), |text, (from, to)| {
            let count = text.matches(from).count();
            assert_eq!(count, 1, "{}: {} contains this {count} times: {from}", self.name, self.file);
            text.replace(from, to)
        })
    }
}

#[test]
fn each_mutant_applies_to_the_sources() {
    for mutant in MUTANTS {
        let text = fs::read_to_string(workspace().join(mutant.file)).unwrap();
        assert_ne!(mutant.apply(&text), text, "{}", mutant.name);
    }
}

struct Changed {
    path: PathBuf,
    original: String,
}

impl Drop for Changed {
    fn drop(&mut self) {
        fs::write(&self.path, &self.original).unwrap();
    }
}

fn check(name: &str) {
    static COPY: Mutex<Option<PathBuf>> = Mutex::new(None);
    let mut copy = COPY.lock().unwrap_or_else(PoisonError::into_inner);
    let copy = copy.get_or_insert_with(copy_sources);
    let mutant = MUTANTS.iter().find(|mutant| mutant.name == name).unwrap();
    let path = copy.join(mutant.file);
    let changed = Changed { original: fs::read_to_string(&path).unwrap(), path };
    fs::write(&changed.path, mutant.apply(&changed.original)).unwrap();

    let Simulation { package, test, variables } = &mutant.simulation;
    let begun = Instant::now();
    let (is_compiled, output) = run(test_command(copy, package).arg("--no-run"));
    assert!(is_compiled, "{name} does not compile:\n{output}");
    let compiled = begun.elapsed();
    let (passes, output) =
        run(test_command(copy, package).args(["--", "--exact", test]).envs(variables.iter().copied()));
    let tested = begun.elapsed().saturating_sub(compiled);
    assert!(output.contains("running 1 test"), "{package} has no test {test}:\n{output}");
    assert!(!passes, "{name} is not found in {tested:.1?}");
    let is_expected = mutant.messages.iter().any(|message| output.contains(message));
    assert!(is_expected, "{name}: another check fails:\n{output}");
    let seed = output.lines().find(|line| line.contains("failed with seed")).unwrap_or_default();
    eprintln!("{name}: compiled in {compiled:.1?}, found in {tested:.1?}: {seed}");
}

fn test_command(copy: &Path, package: &str) -> Command {
    let mut command = cargo("test");
    // Only a small part of one crate changes.
    command
        .current_dir(copy)
        .env("CARGO_INCREMENTAL", "1")
        .args(["-p", package, "--test", "tests", "--target-dir"])
        .arg(copy.with_file_name("target"));
    command
}

fn run(command: &mut Command) -> (bool, String) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&text).into_owned())
}

/// The copy stays in the target directory, so that a later run compiles only changes.
fn copy_sources() -> PathBuf {
    let own = env::current_exe().unwrap();
    let target = own.ancestors().find(|path| path.join(".rustc_info.json").exists()).unwrap();
    let copy = target.join("mutants/sources");
    fs::create_dir_all(&copy).unwrap();
    for name in SOURCES {
        synchronize(&workspace().join(name), &copy.join(name));
    }
    copy
}

/// Files with the same content keep their time, so that they are not compiled again.
fn synchronize(from: &Path, to: &Path) {
    if !from.is_dir() {
        let content = fs::read(from).unwrap();
        if fs::read(to).ok().as_ref() != Some(&content) {
            fs::write(to, content).unwrap();
        }
        return;
    }
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(to).unwrap().map(Result::unwrap) {
        if !from.join(entry.file_name()).exists() {
            let path = entry.path();
            if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }.unwrap();
        }
    }
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        if !LEFT_OUT.iter().any(|name| entry.file_name() == *name) {
            synchronize(&entry.path(), &to.join(entry.file_name()));
        }
    }
}
