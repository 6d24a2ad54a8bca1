//! The rules crates as one WebAssembly module.
//!
//! Each exported function plays a whole game from a seed, with the server's engine, the clients and the bots in one
//! place, and returns a hash of every byte that was sent. The module shows two things: that the rules link without an
//! operating system, and that they require nothing from their host. `wasm/check` builds it and fails if it imports
//! anything.
//!
//! The hash is the same on every machine. It is 0 if the game could not be set up or did not end.

mod games;
mod hall;
mod transcript;

// Without `no_mangle` the module exports nothing, and the linker drops the rules as unused. Two functions with one name
// are undefined behaviour, hence `unsafe`; these names are used nowhere else.
macro_rules! export {
    ($($(#[$doc:meta])* $name:ident = $game:path;)*) => {$(
        $(#[$doc])*
        #[expect(unsafe_code, reason = "an exported name must be unique, and the compiler cannot check that")]
        #[unsafe(no_mangle)]
        pub extern "C" fn $name(seed: u64) -> u64 {
            $game(seed).unwrap_or_default()
        }
    )*};
}

export! {
    /// A game of nuggets between three explorers.
    play_nuggets = games::nuggets;
    /// Twenty rounds of blackjack at a table of three, in both dialects. One of the players is trained first.
    play_blackjack = games::blackjack;
    /// A game of robots between three bots.
    play_robots = games::robots;
    /// Three games of mastermind, played by the hints of the codebreaker.
    solve_mastermind = games::mastermind;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_game_ends_and_depends_on_the_seed() {
        for play in [play_nuggets, play_blackjack, play_robots, solve_mastermind] {
            let [first, again, other] = [1, 1, 2].map(|seed| play(seed));
            assert_ne!(first, 0, "it was not set up or did not end");
            assert_eq!(first, again);
            assert_ne!(first, other);
        }
    }
}
