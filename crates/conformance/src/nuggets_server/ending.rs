//! The end of a game.

use super::{
    displays::shown,
    party::{GOLD, Kind, Party, kinds},
    rules,
    wire::key_message,
};
use crate::judge::Played;

/// The bytes of a row with the longest name.
const LONGEST_ROW: usize = 13 + 50;

impl Party<'_> {
    /// Types the key that takes the last pile.
    pub(super) fn end(&mut self, number: usize, key: u8) -> Played {
        let letter = self.letter(number)?;
        let (world, _) = self.world()?.forecast(letter, key);
        self.world = Some(world);
        for client in &mut self.clients {
            client.leaving = true;
        }
        let told = self.active();
        self.send(number, &key_message(key));
        self.wait(|party| told.iter().all(|&number| party.clients[number].quit.is_some()));
        let table = self.table(number);
        for number in told {
            self.attend(number);
            let who = self.who(number);
            let client = &self.clients[number];
            let (text, log, left) = (client.quit.clone(), client.log.clone(), client.left);
            let Some(text) = text else {
                self.judge.check(&rules::OVER, false, || format!("{who} got no QUIT when the last nugget was taken"));
                continue;
            };
            let text = String::from_utf8_lossy(&text).into_owned();
            let mut lines = text.lines();
            let begins = lines.next() == Some("GAME OVER:");
            self.judge.check(&rules::OVER, begins, || {
                format!("{who} got QUIT {} when the last nugget was taken", shown(text.as_bytes()))
            });
            if begins {
                self.rows(&who, &lines.map(str::to_owned).collect::<Vec<_>>(), &table);
            }
            let before = &log[..log.iter().position(|&kind| kind == Kind::Quit).unwrap_or(log.len())];
            let last = left == Some(0) && before.contains(&Kind::Gold);
            self.judge
                .check(&rules::LAST, last, || format!("{who} got {} when the last nugget was taken", kinds(&log)));
            let shown = before.contains(&Kind::Display);
            self.judge
                .check(&rules::SHOW, shown, || format!("{who} got {} when the last nugget was taken", kinds(&log)));
        }
        Ok(())
    }

    /// The rows of the final table, when `last` has taken all that was left.
    pub(super) fn table(&self, last: usize) -> Vec<String> {
        let purse = |number: usize| self.clients[number].purse;
        let others: u32 =
            self.joined.iter().filter(|(.., number)| *number != last).map(|(.., number)| purse(*number)).sum();
        let row = |(letter, name, number): &(_, nuggets::Name, usize)| {
            let purse =
                if *number == last { self.total.unwrap_or(GOLD).saturating_sub(others) } else { purse(*number) };
            format!("{letter} {purse:>10} {name}")
        };
        self.joined.iter().map(row).collect()
    }

    fn rows(&mut self, who: &str, rows: &[String], table: &[String]) {
        let count = (rows.len(), table.len());
        let left = self.joined.iter().filter(|(.., number)| self.clients[*number].has_left).count();
        let rule = if left > 0 && count.0 + left == count.1 { &rules::QUITTER_ROW } else { &rules::TABLE };
        let kept = self.judge.check(rule, count.0 == count.1, || {
            format!("{who} got a table of {} rows; {} players joined", count.0, count.1)
        });
        if !kept {
            return;
        }
        if left > 0 {
            self.judge.check(&rules::QUITTER_ROW, true, String::new);
        }
        for (row, right) in rows.iter().zip(table) {
            // The name stands behind the letter, a space, ten columns and a space.
            let (numbers, name) = (row.get(..13), row.get(13..));
            self.judge.check(&rules::TABLE, numbers == right.get(..13), || {
                format!("{who} got the row {}; {} would be right", shown(row.as_bytes()), shown(right.as_bytes()))
            });
            if numbers == right.get(..13) {
                let is_cut = right.len() == LONGEST_ROW;
                self.judge.check(
                    if is_cut { &rules::NAME_LENGTH } else { &rules::NAMES },
                    name == right.get(13..),
                    || {
                        format!(
                            "{who} got the row {}; {} would be right",
                            shown(row.as_bytes()),
                            shown(right.as_bytes())
                        )
                    },
                );
            }
        }
    }
}
