//! A seat, and the game that is played at it.

use mastermind::{
    Code, Feedback, Knowledge, Lifeline, Revealed, Rules, ServerMessage,
    game::{Availability, TURNS},
    protocol::Turn,
    view::{Ending, Over, Shown, TurnRecord},
};

use super::{
    rules::{
        ANY_PLACE, AVAILABILITY, BLOCKED, CODES, FEEDBACK, FIRST_TURN, LIFELINE_1, LIFELINE_2, LOST, RESIGNED, ROW,
        SEAT, TURN, WON,
    },
    visitor::{Visitor, said},
};
use crate::{
    judge::{Halt, Judge, Played},
    mastermind::answers::answer,
    rule::Rule,
};

/// The turns that each lifeline takes.
const COSTS: [usize; 2] = [1, 2];

impl Visitor {
    /// Takes a seat and starts the first game at it.
    pub(super) fn sit(mut self, judge: &mut Judge, name: &str) -> Played<Player> {
        self.connection.rename(name);
        self.say(format!("PLAY {name}"));
        self.seated(judge, name)
    }

    /// Receives the messages after PLAY.
    pub(super) fn seated(mut self, judge: &mut Judge, name: &str) -> Played<Player> {
        let heard = self.own(judge)?;
        let seat = match heard {
            Ok(ServerMessage::Ok(seat)) if seat > 0 => Ok(seat),
            heard => Err(format!("expected OK with a seat from 1 after PLAY, received {}", said(&heard))),
        };
        let seat = judge.expect(&SEAT, seat)?;
        self.seat = Some(seat);
        let heard = self.own(judge)?;
        let right = matches!(&heard, Ok(ServerMessage::Seat(_, told)) if told.as_str() == name);
        judge.require(&SEAT, right, || {
            format!("expected SEAT {seat} {name} after OK {seat}, received {}", said(&heard))
        })?;
        let rules = self.room.rules;
        let mut player = Player { visitor: self, seat, game: Game::none(rules) };
        player.begins(judge, &SEAT, (rules.length(), rules.repeats()))?;
        Ok(player)
    }
}

/// The known state of a game.
pub(super) struct Game {
    pub(super) number: u32,
    pub(super) rules: Rules,
    pub(super) turn: Turn,
    pub(super) rows: Vec<(Code, Feedback)>,
    revealed: Option<Revealed>,
    gone: usize,
    /// The code, if the game is over.
    pub(super) code: Option<Code>,
}

impl Game {
    const fn none(rules: Rules) -> Self {
        let turn = Turn { turn: 1, lifelines: [Availability::Available; 2], hints: 0 };
        Self { number: 0, rules, turn, rows: Vec::new(), revealed: None, gone: 0, code: None }
    }

    /// What the player knows about the code, without the assumption that it has no repeats.
    pub(super) fn knowledge(&self) -> anyhow::Result<Knowledge> {
        let mut knowledge = Knowledge::new(Rules::new(self.rules.length(), self.rules.colours(), true)?);
        self.rows.iter().for_each(|(guess, feedback)| knowledge.answered(*guess, *feedback));
        Ok(knowledge)
    }

    fn expected_lifelines(&self) -> [Availability; 2] {
        COSTS.map(|cost| match self.revealed {
            Some(_) => Availability::Used,
            None if self.gone + cost >= TURNS => Availability::Blocked,
            None => Availability::Available,
        })
    }
}

/// A client with a seat.
pub(super) struct Player {
    pub(super) visitor: Visitor,
    pub(super) seat: u8,
    pub(super) game: Game,
}

impl Player {
    /// Receives the GAME that must follow, with its first TURN.
    pub(super) fn begins(&mut self, judge: &mut Judge, rule: &'static Rule, wanted: (usize, bool)) -> Played {
        let (length, repeats) = wanted;
        let heard = self.visitor.own(judge)?;
        let game = match heard {
            Ok(ServerMessage::Game { number, rules, .. })
                if (rules.length(), rules.repeats()) == wanted && number > 0 =>
            {
                Ok((number, rules))
            }
            heard => {
                let word = if repeats { "yes" } else { "no" };
                Err(format!("expected GAME {} with its number, {length} {word}, received {}", self.seat, said(&heard)))
            }
        };
        let (number, rules) = judge.expect(rule, game)?;
        let colours = self.visitor.room.rules.colours();
        self.game = Game { number, ..Game::none(Rules::new(length, colours, repeats).unwrap_or(rules)) };
        let heard = self.visitor.own(judge)?;
        let first = matches!(&heard, Ok(ServerMessage::Turn(turn)) if *turn == self.game.turn);
        judge.check(&FIRST_TURN, first, || format!("expected TURN 1 available available 0, received {}", said(&heard)));
        // The game can continue without lifelines.
        let begun = matches!(&heard, Ok(ServerMessage::Turn(turn)) if turn.turn == 1);
        if begun { Ok(()) } else { Err(Halt::Broken) }
    }

    /// Requests another game with these rules, or with those of the room.
    pub(super) fn new_game(&mut self, judge: &mut Judge, rule: &'static Rule, wanted: Option<(usize, bool)>) -> Played {
        let rules = self.visitor.room.rules;
        let asked = wanted
            .map_or_else(String::new, |(length, repeats)| format!(" {length} {}", if repeats { "yes" } else { "no" }));
        self.visitor.say(format!("NEW{asked}"));
        self.begins(judge, rule, wanted.unwrap_or((rules.length(), rules.repeats())))
    }

    /// Sends a guess and checks its effects.
    pub(super) fn guess(&mut self, judge: &mut Judge, guess: Code) -> Played {
        self.visitor.say(format!("GUESS {guess}"));
        self.answered(judge, guess)
    }

    /// Checks the effects of a guess that was sent.
    pub(super) fn answered(&mut self, judge: &mut Judge, guess: Code) -> Played {
        let heard = self.visitor.own(judge)?;
        let (turn, wanted) = (self.game.turn.turn, Shown::Code(guess));
        let feedback = match heard {
            Ok(ServerMessage::Line(_, TurnRecord::Row { turn: of, guess, feedback }))
                if (of, guess) == (turn, wanted) =>
            {
                Ok(feedback)
            }
            heard => {
                Err(format!("expected ROW {} {turn} {guess} after GUESS {guess}, received {}", self.seat, said(&heard)))
            }
        };
        let feedback = judge.expect(&ROW, feedback)?;
        self.game.rows.push((guess, feedback));
        self.game.gone += 1;
        if feedback.is_win(self.game.rules.length()) {
            return self.over(judge, &WON, Ending::Won);
        }
        if self.game.gone >= TURNS {
            return self.over(judge, &LOST, Ending::Lost);
        }
        self.next_turn(judge, &TURN)
    }

    /// Receives the TURN that must follow. A wrong number breaks `rule`.
    fn next_turn(&mut self, judge: &mut Judge, rule: &'static Rule) -> Played {
        let heard = self.visitor.own(judge)?;
        let wanted = self.game.gone + 1;
        let turn = match heard {
            Ok(ServerMessage::Turn(turn)) if turn.turn == wanted && turn.hints == self.game.turn.hints => Ok(turn),
            heard => Err(format!("expected TURN {wanted}, received {}", said(&heard))),
        };
        self.game.turn = judge.expect(rule, turn)?;
        let expected = self.game.expected_lifelines();
        let told = self.game.turn.lifelines;
        judge.check(&AVAILABILITY, told == expected, || {
            let [came, right] =
                [self.game.turn, Turn { lifelines: expected, ..self.game.turn }].map(ServerMessage::Turn);
            format!("expected '{right}', received '{came}'")
        });
        Ok(())
    }

    /// Receives the OVER that must follow, and checks that the code matches all revealed information.
    pub(super) fn over(&mut self, judge: &mut Judge, rule: &'static Rule, how: Ending) -> Played {
        let heard = self.visitor.own(judge)?;
        let (gone, hints) = (self.game.gone, self.game.turn.hints);
        let code = match heard {
            Ok(ServerMessage::Over(_, Over { how: told, turns, hints: of, code: Shown::Code(code) }))
                if (told, turns, of) == (how, gone, hints) =>
            {
                Ok(code)
            }
            heard => Err(format!(
                "expected OVER {} {} {gone} {hints} and the code, received {}",
                self.seat,
                how.word(),
                said(&heard)
            )),
        };
        let code = judge.expect(rule, code)?;
        let rules = self.game.rules;
        judge
            .require(&CODES, rules.allows_secret(code), || format!("expected a code with {rules}, received {code}"))?;
        for (guess, told) in &self.game.rows {
            let right = answer(code, *guess)?;
            judge.check(&FEEDBACK, *told == right, || {
                format!("expected {right} for {guess} and the code {code}, received {told}")
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

    /// Resigns. Returns the code.
    pub(super) fn resign(&mut self, judge: &mut Judge) -> Played<Code> {
        self.visitor.say("RESIGN");
        self.over(judge, &RESIGNED, Ending::Resigned)?;
        self.game.code.ok_or_else(|| anyhow::anyhow!("a completed game has a code").into())
    }

    /// Uses a lifeline that must be granted. Returns the revealed information.
    pub(super) fn lifeline(&mut self, judge: &mut Judge, lifeline: Lifeline) -> Played<Revealed> {
        let number = lifeline.number();
        let rule = if number == 1 { &LIFELINE_1 } else { &LIFELINE_2 };
        self.visitor.say(format!("LIFELINE {number}"));
        let heard = self.visitor.own(judge)?;
        let turn = self.game.turn.turn;
        if matches!(heard, Ok(ServerMessage::No(_))) {
            // A server without this lifeline must not break the rule about counting.
            let rule = if turn <= 2 { rule } else { &BLOCKED };
            return judge.broken(rule, || format!("expected LIFELINE {number} in turn {turn}, received NO"));
        }
        let told = match heard {
            Ok(ServerMessage::Line(
                _,
                TurnRecord::Lifeline { turn: of, lifeline: which, revealed: Some(revealed) },
            )) if (of, which) == (turn, lifeline) => Ok(revealed),
            heard => {
                Err(format!("expected LIFELINE with its digit after LIFELINE {number}, received {}", said(&heard)))
            }
        };
        let revealed = judge.expect(rule, told)?;
        self.game.revealed = Some(revealed);
        self.game.gone += COSTS[number - 1];
        self.next_turn(judge, rule)?;
        Ok(revealed)
    }
}

/// Records whether the places that the lifelines revealed differ.
pub(super) fn look_at_places(judge: &mut Judge, which: usize, places: &[usize]) {
    let same = places.windows(2).all(|two| two[0] == two[1]);
    judge.check(&ANY_PLACE, !same, || {
        let place = places.first().map_or(0, |place| place + 1);
        format!("expected random places from lifeline {which}, received place {place} {} times", places.len())
    });
}
