//! How the game stands, in the frame of the messages.

use mastermind::{
    Lifeline, Style,
    game::{Outcome, TURNS},
};
use ratatui::buffer::Buffer;

use super::View;
use crate::{
    panel::{layout::Panels, look::Role, state::State},
    round::Round,
    voice,
};

/// Columns of the title of the messages.
const TITLE: usize = " THE MASTERMIND ".len();
/// The key that shows all keys.
const KEYS: &str = " ? keys ";
/// Keys after a game, from the longest form to the shortest.
const AGAIN: [&str; 2] = [" ENTER plays again   ESC menu   Q leaves ", " ENTER again  Q leave "];

impl View<'_> {
    pub(super) fn standing(&self, buffer: &mut Buffer, panels: Panels) {
        let (panel, bottom) = (panels.log, panels.log.bottom() - 1);
        let width = usize::from(panel.width.saturating_sub(4));
        self.at_right(buffer, panel, bottom, KEYS);
        let Some(game) = self.table.round.as_ref().map(Round::game) else { return };
        let hints = match game.hints() {
            0 => String::new(),
            1 => ", 1 hint".into(),
            hints => format!(", {hints} hints"),
        };
        let row = match game.outcome() {
            None => format!("row {}/{TURNS}", game.turn()),
            Some(Outcome::Won(turns)) => format!("won in {turns}/{TURNS}"),
            Some(Outcome::Lost(_)) => "lost".into(),
        };
        let row = format!(" {row}{hints} ");
        let known = format!(" code {} ", game.hint_code());
        // In a narrow frame the title gives way to what informs.
        let free = usize::from(panel.width).saturating_sub(TITLE) / 2;
        if row.len() + 2 > free || known.len() + 2 > free {
            let line = "─".repeat(usize::from(panel.width - 2));
            self.put(buffer, panel.x + 1, panel.y, &line, Role::Quiet);
        }
        self.put(buffer, panel.x + 2, panel.y, &row, Role::Plain);
        let known_width = u16::try_from(known.len()).unwrap_or(0);
        self.put(buffer, panel.right() - known_width - 2, panel.y, &known, Role::Plain);
        if game.outcome().is_some() {
            let over = self.table.state == State::Over && !self.quiet;
            let room = width - KEYS.len();
            if let Some(again) = AGAIN.iter().find(|again| over && again.len() <= room) {
                self.put(buffer, panel.x + 2, bottom, again, Role::Plain);
            }
            return;
        }
        let [long, short] = [true, false].map(|long| {
            let lifelines = Lifeline::ALL.map(|lifeline| {
                let (number, status) = (lifeline.number(), voice::status(game, lifeline));
                let cost = voice::cost(lifeline, Style::Panel);
                if long { format!("#{number} {status}, {cost}") } else { format!("#{number} {status}") }
            });
            lifelines.join(if long { "; " } else { "  " })
        });
        let forms = [format!(" lifelines: {long} "), format!(" {long} "), format!(" {short} ")];
        let fitting = forms.iter().find(|form| form.len() + KEYS.len() <= width);
        self.put(buffer, panel.x + 2, bottom, fitting.unwrap_or(&forms[2]), Role::Plain);
    }
}
