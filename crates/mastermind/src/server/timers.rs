//! What happens by time: the day of a daily room, silent players, and races that take too long.

use alloc::{format, vec::Vec};
use core::time::Duration;
use netcore::{Departure, Outbox, Time};

use super::{IDLE, Server, contest::Contest};
use crate::{config::Mode, puzzle::Day, view::Ending};

const DAY: Duration = Duration::from_secs(86_400);

impl Server {
    pub(super) fn elapsed(&mut self, now: Time, out: &mut Outbox) {
        if let Some((day, ended)) = self.today.filter(|(_, ends)| *ends <= now) {
            let days = u32::try_from(now.since(ended).as_secs() / DAY.as_secs()).unwrap_or(u32::MAX).saturating_add(1);
            self.today = Some((Day(day.0.saturating_add(days)), ended.plus(DAY.saturating_mul(days))));
            for &peer in self.peers.keys() {
                self.welcome(peer, out);
            }
        }
        let idle = self.seats.values().filter(|seat| now.since(seat.last) >= IDLE).map(|seat| seat.peer);
        let minutes = IDLE.as_secs() / 60;
        for peer in idle.collect::<Vec<_>>() {
            let text = format!("you said nothing for {minutes} minutes and have lost your seat");
            self.dismiss(peer, &text, Departure::Dismissed(format!("said nothing for {minutes} minutes")), out);
        }
        if matches!(self.config.mode, Mode::Race(_)) {
            let late = self.contests.values().filter(|race| now.since(race.started) >= self.config.limit);
            for seat in late.flat_map(Contest::running).collect::<Vec<_>>() {
                self.finish(seat, Ending::Late, out);
            }
        }
    }

    pub(super) fn due(&self) -> Option<Time> {
        let idle = self.seats.values().map(|seat| seat.last.plus(IDLE));
        let race = matches!(self.config.mode, Mode::Race(_));
        let late = self.contests.values().filter(|_| race).map(|contest| contest.started.plus(self.config.limit));
        idle.chain(late).chain(self.today.map(|(_, ends)| ends)).min()
    }
}
