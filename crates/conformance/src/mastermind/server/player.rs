use mastermind::{
    Code, Feedback, Knowledge, Lifeline, Revealed, Rules, ServerMessage,
    game::{Availability, TURNS},
    protocol::Turn,
    view::{GameOutcome, GameResult, MaskedCode, TurnRecord},
};

use super::{
    client::{Client, describe},
    rules::{
        ANY_PLACE, AVAILABILITY, BLOCKED, CODES, FEEDBACK, FIRST_TURN, LIFELINE_1, LIFELINE_2, LOST, RESIGNED, ROW,
        SEAT, TURN, WON,
    },
};
use crate::{
    judge::{Halt, Judge, ScenarioResult},
    mastermind::answers::answer,
    rule::Rule,
};

/// The turns that each lifeline takes.
const COSTS: [usize; 2] = [1, 2];

impl Client {
    pub(super) fn take_seat(mut self, judge: &mut Judge, name: &str) -> ScenarioResult<Player> {
        self.connection.rename(name);
        self.send(format!("PLAY {name}"));
        self.receive_seat(judge, name)
    }

    pub(super) fn receive_seat(mut self, judge: &mut Judge, name: &str) -> ScenarioResult<Player> {
        let received = self.receive_own(judge)?;
        let seat = match received {
            Ok(ServerMessage::Ok(seat)) if seat > 0 => Ok(seat),
            received => Err(format!("expected OK with a seat from 1 after PLAY, received {}", describe(&received))),
        };
        let seat = judge.expect(&SEAT, seat)?;
        self.seat = Some(seat);
        let received = self.receive_own(judge)?;
        let right = matches!(&received, Ok(ServerMessage::Seat(_, reported)) if reported.as_str() == name);
        judge.require(&SEAT, right, || {
            format!("expected SEAT {seat} {name} after OK {seat}, received {}", describe(&received))
        })?;
        let rules = self.room.rules;
        let mut player = Player { client: self, seat, game: Game::none(rules) };
        player.expect_game(judge, &SEAT, (rules.length(), rules.repeats()))?;
        Ok(player)
    }
}

pub(super) struct Game {
    pub(super) number: u32,
    pub(super) rules: Rules,
    pub(super) turn: Turn,
    pub(super) rows: Vec<(Code, Feedback)>,
    revealed: Option<Revealed>,
    played: usize,
    /// Known when the game is over.
    pub(super) code: Option<Code>,
}

impl Game {
    const fn none(rules: Rules) -> Self {
        let turn = Turn { turn: 1, lifelines: [Availability::Available; 2], hints: 0 };
        Self { number: 0, rules, turn, rows: Vec::new(), revealed: None, played: 0, code: None }
    }

    pub(super) fn knowledge(&self) -> anyhow::Result<Knowledge> {
        let mut knowledge = Knowledge::new(Rules::new(self.rules.length(), self.rules.colours(), true)?);
        self.rows.iter().for_each(|(guess, feedback)| knowledge.answered(*guess, *feedback));
        Ok(knowledge)
    }

    fn expected_lifelines(&self) -> [Availability; 2] {
        COSTS.map(|cost| match self.revealed {
            Some(_) => Availability::Used,
            None if self.played + cost >= TURNS => Availability::Blocked,
            None => Availability::Available,
        })
    }
}

pub(super) struct Player {
    pub(super) client: Client,
    pub(super) seat: u8,
    pub(super) game: Game,
}

impl Player {
    pub(super) fn expect_game(
        &mut self,
        judge: &mut Judge,
        rule: &'static Rule,
        wanted: (usize, bool),
    ) -> ScenarioResult {
        let (length, repeats) = wanted;
        let received = self.client.receive_own(judge)?;
        let game = match received {
            Ok(ServerMessage::Game { number, rules, .. })
                if (rules.length(), rules.repeats()) == wanted && number > 0 =>
            {
                Ok((number, rules))
            }
            received => {
                let word = if repeats { "yes" } else { "no" };
                Err(format!(
                    "expected GAME {} with its number, {length} {word}, received {}",
                    self.seat,
                    describe(&received)
                ))
            }
        };
        let (number, rules) = judge.expect(rule, game)?;
        let colours = self.client.room.rules.colours();
        self.game = Game { number, ..Game::none(Rules::new(length, colours, repeats).unwrap_or(rules)) };
        let received = self.client.receive_own(judge)?;
        let first = matches!(&received, Ok(ServerMessage::Turn(turn)) if *turn == self.game.turn);
        judge.check(&FIRST_TURN, first, || {
            format!("expected TURN 1 available available 0, received {}", describe(&received))
        });
        // The game can continue without lifelines.
        let begun = matches!(&received, Ok(ServerMessage::Turn(turn)) if turn.turn == 1);
        if begun { Ok(()) } else { Err(Halt::Broken) }
    }

    /// `None` requests the rules of the room.
    pub(super) fn new_game(
        &mut self,
        judge: &mut Judge,
        rule: &'static Rule,
        wanted: Option<(usize, bool)>,
    ) -> ScenarioResult {
        let rules = self.client.room.rules;
        let request = wanted
            .map_or_else(String::new, |(length, repeats)| format!(" {length} {}", if repeats { "yes" } else { "no" }));
        self.client.send(format!("NEW{request}"));
        self.expect_game(judge, rule, wanted.unwrap_or((rules.length(), rules.repeats())))
    }

    pub(super) fn guess(&mut self, judge: &mut Judge, guess: Code) -> ScenarioResult {
        self.client.send(format!("GUESS {guess}"));
        self.expect_row(judge, guess)
    }

    pub(super) fn expect_row(&mut self, judge: &mut Judge, guess: Code) -> ScenarioResult {
        let received = self.client.receive_own(judge)?;
        let (turn, wanted) = (self.game.turn.turn, MaskedCode::Code(guess));
        let feedback = match received {
            Ok(ServerMessage::Line(_, TurnRecord::Row { turn: of, guess, feedback }))
                if (of, guess) == (turn, wanted) =>
            {
                Ok(feedback)
            }
            received => Err(format!(
                "expected ROW {} {turn} {guess} after GUESS {guess}, received {}",
                self.seat,
                describe(&received)
            )),
        };
        let feedback = judge.expect(&ROW, feedback)?;
        self.game.rows.push((guess, feedback));
        self.game.played += 1;
        if feedback.is_win(self.game.rules.length()) {
            return self.over(judge, &WON, GameOutcome::Won);
        }
        if self.game.played >= TURNS {
            return self.over(judge, &LOST, GameOutcome::Lost);
        }
        self.next_turn(judge, &TURN)
    }

    /// A wrong number breaks `rule`.
    fn next_turn(&mut self, judge: &mut Judge, rule: &'static Rule) -> ScenarioResult {
        let received = self.client.receive_own(judge)?;
        let wanted = self.game.played + 1;
        let turn = match received {
            Ok(ServerMessage::Turn(turn)) if turn.turn == wanted && turn.hints == self.game.turn.hints => Ok(turn),
            received => Err(format!("expected TURN {wanted}, received {}", describe(&received))),
        };
        self.game.turn = judge.expect(rule, turn)?;
        let expected = self.game.expected_lifelines();
        let reported = self.game.turn.lifelines;
        judge.check(&AVAILABILITY, reported == expected, || {
            let [came, right] =
                [self.game.turn, Turn { lifelines: expected, ..self.game.turn }].map(ServerMessage::Turn);
            format!("expected '{right}', received '{came}'")
        });
        Ok(())
    }

    /// Checks that the code matches all revealed information.
    pub(super) fn over(&mut self, judge: &mut Judge, rule: &'static Rule, how: GameOutcome) -> ScenarioResult {
        let received = self.client.receive_own(judge)?;
        let (played, hints) = (self.game.played, self.game.turn.hints);
        let code = match received {
            Ok(ServerMessage::Over(
                _,
                GameResult { how: reported, turns, hints: of, code: MaskedCode::Code(code) },
            )) if (reported, turns, of) == (how, played, hints) => Ok(code),
            received => Err(format!(
                "expected OVER {} {} {played} {hints} and the code, received {}",
                self.seat,
                how.word(),
                describe(&received)
            )),
        };
        let code = judge.expect(rule, code)?;
        let rules = self.game.rules;
        judge
            .require(&CODES, rules.allows_secret(code), || format!("expected a code with {rules}, received {code}"))?;
        for (guess, reported) in &self.game.rows {
            let right = answer(code, *guess)?;
            judge.check(&FEEDBACK, *reported == right, || {
                format!("expected {right} for {guess} and the code {code}, received {reported}")
            });
        }
        match self.game.revealed {
            Some(Revealed::Colour(peg)) => {
                judge.check(&LIFELINE_1, code.pegs().any(|of| of == peg), || {
                    format!("expected a digit of the code {code}, received {peg}")
                });
            }
            Some(Revealed::Place { place, peg }) => {
                judge.check(&LIFELINE_2, code.peg(place) == Some(peg), || {
                    format!("expected the digit at place {} of the code {code}, received {peg}", place + 1)
                });
            }
            None => {}
        }
        self.game.code = Some(code);
        Ok(())
    }

    pub(super) fn resign(&mut self, judge: &mut Judge) -> ScenarioResult<Code> {
        self.client.send("RESIGN");
        self.over(judge, &RESIGNED, GameOutcome::Resigned)?;
        self.game.code.ok_or_else(|| anyhow::anyhow!("a completed game has a code").into())
    }

    pub(super) fn lifeline(&mut self, judge: &mut Judge, lifeline: Lifeline) -> ScenarioResult<Revealed> {
        let number = lifeline.number();
        let rule = if number == 1 { &LIFELINE_1 } else { &LIFELINE_2 };
        self.client.send(format!("LIFELINE {number}"));
        let received = self.client.receive_own(judge)?;
        let turn = self.game.turn.turn;
        if matches!(received, Ok(ServerMessage::No(_))) {
            // A server without this lifeline must not break the rule about counting.
            let rule = if turn <= 2 { rule } else { &BLOCKED };
            return judge.broken(rule, || format!("expected LIFELINE {number} in turn {turn}, received NO"));
        }
        let reported = match received {
            Ok(ServerMessage::Line(
                _,
                TurnRecord::Lifeline { turn: of, lifeline: which, revealed: Some(revealed) },
            )) if (of, which) == (turn, lifeline) => Ok(revealed),
            received => Err(format!(
                "expected LIFELINE with its digit after LIFELINE {number}, received {}",
                describe(&received)
            )),
        };
        let revealed = judge.expect(rule, reported)?;
        self.game.revealed = Some(revealed);
        self.game.played += COSTS[number - 1];
        self.next_turn(judge, rule)?;
        Ok(revealed)
    }
}

/// The places that the lifelines revealed must differ.
pub(super) fn check_places(judge: &mut Judge, which: usize, places: &[usize]) {
    let same = places.windows(2).all(|two| two[0] == two[1]);
    judge.check(&ANY_PLACE, !same, || {
        let place = places.first().map_or(0, |place| place + 1);
        format!("expected random places from lifeline {which}, received place {place} {} times", places.len())
    });
}
