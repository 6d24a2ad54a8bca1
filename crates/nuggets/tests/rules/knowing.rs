//! What a DISPLAY shows of what was seen before. [`crate::model`] compares all of it in random games.

use crate::table::{plain, transcripts};

transcripts! {
    // In the passage Alice sees its next spots only, but remembers the room and the whole way.
    known_cells_stay: plain("..A###.7") => "
        Alice > KEY l
            Alice < DISPLAY [...@#   ]
        Alice > KEY l
            Alice < DISPLAY [...#@#  ]
        Alice > KEY l
            Alice < DISPLAY [...##@.*]
        Alice > KEY l
            Alice < DISPLAY [...###@*]
    ";

    remembered_gold_is_shown_as_bare_map: plain("3.A##.4") => "
        Alice > KEY l
            Alice < DISPLAY [*..@#  ]
        Alice > KEY l
            Alice < DISPLAY [...#@.*]
    ";

    // A pile's spot is an empty one, a passage spot is one again.
    a_cell_left_behind_is_bare_map: plain("A3##.4") => "
        Alice types l
        Alice > KEY l
            Alice < DISPLAY [..@#  ]
        Alice > KEY l
            Alice < DISPLAY [..#@.*]
    ";
}
