# CONTRIBUTING.md lists the recipes too.

# Host a game of nuggets.
play-nuggets:
    cargo run -p nuggets-server

# Host games of robots.
play-robots:
    cargo run -p robots-server -- -c 2 -x 10 -y 10

# All tests.
test:
    cargo test --workspace

# All checks of a pull request: format, lints, docs, tests, the rules without an operating system.
check:
    .ci/run

# The cost of a nuggets move, against a bare loop in the same run.
bench-nuggets:
    cargo bench -p nuggets-server --bench wire

# How often a simulated person beats each level of the nuggets bots, on four maps; two minutes.
measure-bots:
    cargo test -p nuggets --test levels -- --ignored --nocapture

# The punctuality and cost of robots turns, against bare loops in the same run.
bench-robots:
    cargo bench -p robots -p robots-server --bench turn --bench turns

# The cost of comparing a guess with all codes, against a plain loop in the same run, and the time of the codebreaker.
bench-mastermind:
    cargo bench -p mastermind --bench feedback --bench solver

# The speed of the blackjack learner, and rounds a second over loopback, against bare loops in the same run.
bench-blackjack:
    cargo bench -p blackjack -p dealer --bench train --bench wire

# An hour of all attacks in parallel from ten hosts beside eight ordinary players; `just attack 0.5` is half a minute.
attack minutes="60":
    cargo build --release -p arcade && cargo run --release -p arcade-load -- attack --minutes {{minutes}}

# The long proofs: blackjack takes a minute or two, mastermind's 16.7 million codes of eight pegs a quarter of an hour.
prove:
    cargo test --release -p blackjack -p conformance -p e2e -p mastermind -- --ignored --nocapture --test-threads 1

# A league of our bots, a random walker and a crasher, killed and resumed; two minutes.
league:
    cargo test --release -p e2e -- --ignored --nocapture league::

# Ten minutes of matches with kills, disk faults and lossy networks; prints the simulated hours.
simulate:
    cargo test --release -p testkit --test tests simulate_for_long -- --ignored --nocapture

# Many fleets of hubs, with lossy networks, pauses and crashes.
simulate-fleets:
    cargo test --release -p mesh --test tests simulate_for_long -- --ignored

# Defects in a copy of the sources, each of which a simulation must find; `just mutants mesh` runs those of one crate.
mutants name="":
    cargo test -p testkit --test tests -- --ignored --nocapture --test-threads 1 mutants::{{name}}

# A hundred days of the ladder in simulated time.
simulate-ladder:
    cargo test --release -p ladder -- --ignored

# Interleavings of the threads that write journals, explored by shuttle.
interleave:
    RUSTFLAGS="--cfg shuttle" cargo test -p journal-core --test threads --target-dir target/shuttle

# Fuzzes each target for this many minutes; fuzz/README.md lists them.
fuzz minutes:
    cargo fuzz list | xargs -I TARGET cargo fuzz run --sanitizer none TARGET -- -max_total_time=$((60 * {{minutes}}))

# The rules as one WebAssembly module, which must import nothing.
wasm:
    cargo run --manifest-path wasm/Cargo.toml

# The animation of README.md, from a game of bots.
record:
    docs/pictures/record

# The archive of a release; docs/releasing.md lists the contents.
dist:
    packaging/dist

# Checks the files for operators against a built hub.
agree:
    packaging/check
