use robots::{Action, Direction, Event, Position, ServerMessage};

pub(crate) fn action(words: &[&str]) -> Action {
    match words {
        ["PlaceBomb"] => Action::PlaceBomb,
        ["PlaceBlock"] => Action::PlaceBlock,
        ["Move", "Up"] => Action::Move(Direction::Up),
        ["Move", "Right"] => Action::Move(Direction::Right),
        ["Move", "Down"] => Action::Move(Direction::Down),
        ["Move", "Left"] => Action::Move(Direction::Left),
        _ => panic!("{words:?} is no message"),
    }
}

fn at(position: Position) -> String {
    format!("({},{})", position.x, position.y)
}

pub(crate) fn shown(message: &ServerMessage) -> String {
    match message {
        ServerMessage::Hello(_) => "Hello".to_owned(),
        ServerMessage::AcceptedPlayer { id, player } => {
            format!("AcceptedPlayer {} {} {}", id.0, player.name, player.address)
        }
        ServerMessage::GameStarted { players } => {
            let players: Vec<_> = players.iter().map(|(id, player)| format!(" {} {}", id.0, player.name)).collect();
            "GameStarted".to_owned() + &players.join(",")
        }
        ServerMessage::Turn { turn, events } => {
            let events: Vec<_> = events.iter().map(event).collect();
            format!("Turn {turn}{}", events.concat())
        }
        ServerMessage::GameEnded { scores } => {
            let scores: Vec<_> = scores.iter().map(|(id, score)| format!(" {}: {score}", id.0)).collect();
            "GameEnded".to_owned() + &scores.join(",")
        }
    }
}

fn event(event: &Event) -> String {
    match event {
        Event::BombPlaced { id, position } => format!("; bomb {} {}", id.0, at(*position)),
        Event::BombExploded { id, robots_destroyed, blocks_destroyed } => {
            let robots = robots_destroyed.iter().map(|id| format!(" robot {}", id.0));
            let blocks = blocks_destroyed.iter().map(|&position| format!(" block {}", at(position)));
            format!("; boom {}{}", id.0, robots.chain(blocks).collect::<String>())
        }
        Event::PlayerMoved { id, position } => format!("; robot {} {}", id.0, at(*position)),
        Event::BlockPlaced { position } => format!("; block {}", at(*position)),
    }
}
