//! The panel game: three panels that fill the terminal.

mod layout;
mod log;
mod look;
mod result;
mod state;
mod table;
#[cfg(test)]
mod tests;
mod view;

use std::{
    io::{self, Write},
    time::{Duration, SystemTime},
};

use ratatui::layout::Size;
use termkit::{Depth, Source, Stage, StageEvent};
use tokio::runtime;

use self::{
    state::{Command, Request, command},
    table::Table,
    view::{View, is_small},
};
use crate::{
    book::Book,
    round::{Round, Settings},
    today,
};

const RESULT: Duration = Duration::from_secs(1);

/// Restores the terminal before it returns.
pub(crate) fn play(settings: Settings, book: &Book) -> anyhow::Result<()> {
    let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
    let table = runtime.block_on(async {
        let stage = Stage::enter(true, Source::TerminalAndMouse)?;
        let table = Table::new(settings);
        anyhow::Ok(Player { stage, table, depth: Depth::from_environment(), window: Size::ZERO, book }.run().await)
    })?;
    // On the normal screen, where it can be copied.
    if let Some(share) = table.share {
        let mut out = io::stdout().lock();
        writeln!(out, "{share}")?;
        out.flush()?;
    }
    Ok(())
}

struct Player<'a> {
    stage: Stage,
    table: Table,
    depth: Depth,
    window: Size,
    book: &'a Book,
}

impl Player<'_> {
    async fn run(mut self) -> Table {
        self.table.statistics(self.book.read());
        loop {
            self.keep_date();
            let (table, depth, window) = (&self.table, self.depth, &mut self.window);
            let quiet = self.stage.ignores_keys();
            self.stage.draw(|frame| {
                *window = frame.area().as_size();
                frame.render_widget(&View::new(table, depth).quiet(quiet), frame.area());
            });
            if self.handle_next().await {
                return self.table;
            }
        }
    }

    /// Returns whether the program should end.
    async fn handle_next(&mut self) -> bool {
        let event = self.stage.next(true).await;
        // Midnight may have passed.
        self.keep_date();
        let was_over = self.table.is_over();
        let fits = !is_small(self.window);
        let request = match event {
            StageEvent::Key(typed) => match command(typed) {
                Command::Press(key) if fits => self.table.press(key),
                Command::Press(_) => Request::Nothing,
                Command::Leave => Request::Leave,
                Command::Redraw => {
                    self.stage.invalidate();
                    Request::Nothing
                }
                Command::Suspend => {
                    self.stage.suspend();
                    Request::Nothing
                }
            },
            StageEvent::Mouse(mouse) if fits => {
                let target = View::new(&self.table, self.depth).target(self.window, mouse);
                target.map_or(Request::Nothing, |target| self.table.point(target, mouse.gesture))
            }
            StageEvent::Leave | StageEvent::Gone(_) => Request::Leave,
            _ => return false,
        };
        self.stage.change();
        if self.table.is_over() && !was_over {
            // Keys meant for the last guess must not close the result.
            self.stage.ignore_keys(RESULT);
        }
        match request {
            Request::Nothing => {}
            Request::Leave => return true,
            Request::Begin => {
                if let Some(puzzle) = self.table.round.as_ref().and_then(Round::puzzle) {
                    let begun = self.book.begin(puzzle);
                    self.table.begun(begun);
                }
            }
            Request::Count => {
                if let Some(round) = &self.table.round {
                    let added = self.book.add(round);
                    self.table.counted(added);
                }
            }
        }
        false
    }

    /// Between games, the puzzle of the day follows the date. A running game keeps its own.
    fn keep_date(&mut self) {
        if let Ok(day) = today(SystemTime::now()) {
            self.table.turn_page(day);
        }
    }
}
