//! The rules of nuggets as transcripts of a server: the inputs, and the exact bytes of the outputs.
//!
//! [`table`] simulates the network: it identifies peers by name and forwards datagrams like the UDP shell. [`room`]
//! passes bytes to a room over any link.
//!
//! Where the sources of the rules disagree, a test defines the behaviour of this server:
//!
//! | point | test |
//! |-------|------|
//! | collision | `movement::stepping_onto_a_player_swaps_the_two`, `options::stealing_takes_the_floor_of_the_share` |
//! | a run meets gold, a player | `movement::a_run_does_not_stop_on_gold`, `movement::a_run_does_not_stop_at_players` |
//! | sight blockers | `sight::passage_spots_block_sight` |
//! | crossings between two cells | `sight::one_room_spot_of_two_is_enough` |
//! | memory, remembered gold | `sight::known_cells_remain_shown`, `sight::remembered_gold_is_shown_as_bare_map` |
//! | stepping on `#`, the cell left behind | `movement::passages_are_walked`, `sight::a_cell_left_behind_is_bare_map` |
//! | OK and DISPLAY on joining | `admission::joining_player_gets_ok_grid_gold_and_display` |
//! | GOLD traffic | `movement::a_pile_goes_into_the_purse_whole` |
//! | KEY of wrong length, unknown kinds | `malformed::malformed_datagram_is_answered_and_changes_nothing` |
//! | unknown key, a spectator's key | `movement::any_other_key_is_unknown`, `movement::the_spectator_has_no_key_but_q` |
//! | one QUIT for Q | `games::quitter_receives_one_quit_and_no_further_messages` |
//! | last nugget | `games::gold_and_display_come_before_the_quit` |
//! | dropping the gold | `options::every_pile_holds_at_least_one_nugget` |
//! | seed | `replay::long_game_is_the_same_on_every_machine`, `replay::different_seeds_give_different_games` |

#![expect(clippy::unwrap_used, reason = "tests fail by panicking, in helpers too")]

#[macro_use]
#[path = "../../../testkit/rules/transcript.rs"]
mod transcript;

mod admission;
mod document;
mod events;
mod games;
mod hidden;
mod limits;
mod links;
mod malformed;
mod maps;
mod movement;
mod options;
mod page;
mod replay;
mod room;
mod sight;
mod table;
