use super::sight_tests::{client, player as ann};
use super::*;
use netcore::Client as _;
use ratatui::{Terminal, backend::TestBackend};

const MAP: [&str; 6] = [
    "+------------------+",
    "|@..........*....B.|",
    "|..................####",
    "|..................|",
    "|.................C|",
    "+------------------+",
];

fn player() -> Client {
    client(ann(), &MAP)
}

fn terminal(view: &mut View, client: &Client, width: u16, height: u16) -> Terminal<TestBackend> {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    view.prepare(client, Size::new(width, height));
    terminal.draw(|frame| frame.render_widget(&view.picture(client, Time::ZERO), frame.area())).unwrap();
    terminal
}

fn screen(view: &mut View, client: &Client, width: u16, height: u16) -> Vec<String> {
    let terminal = terminal(view, client, width, height);
    let row = |cells: &[ratatui::buffer::Cell]| cells.iter().map(ratatui::buffer::Cell::symbol).collect::<String>();
    terminal.backend().buffer().content.chunks(usize::from(width)).map(|cells| row(cells).trim_end().into()).collect()
}

fn view() -> View {
    View::new(Palette::COLOUR, false)
}

#[test]
fn the_status_is_in_line_1_and_the_map_begins_in_line_2() {
    let shown = screen(&mut view(), &player(), 34, 9);
    assert_eq!(shown[0], "A 0 gold, 250 left");
    assert_eq!(shown[1..7], MAP);
    assert_eq!(shown[7..], ["", ""]);
    assert_eq!(screen(&mut view(), &player(), 60, 7)[0], "Player A has 0 nuggets (250 nuggets unclaimed).");
}

#[test]
fn a_window_as_narrow_as_its_map_cuts_the_status_at_the_right_edge() {
    let narrow = client(Participant::Spectator, &["+---+", "|A.*|", "+---+"]);
    assert_eq!(screen(&mut view(), &narrow, 5, 4), ["250 l", "+---+", "|A.*|", "+---+"]);
}

#[test]
fn smaller_window_follows_the_player_and_marks_hidden_sides() {
    let mut client = player();
    let mut view = view();
    assert_eq!(
        screen(&mut view, &client, 16, 4),
        ["A 0, 250 left", "+---------------", "|@..........*...", "|..............."]
    );
    let rows = MAP.map(|row| format!("{:23}\n", row.replace('@', "."))).concat();
    let moved = rows.replace('C', "@");
    client.receive(Time::ZERO, format!("DISPLAY\n{moved}").as_bytes()).unwrap();
    assert_eq!(screen(&mut view, &client, 16, 4), ["A 0, 250 left", "............|", "...........@|", "------------+"]);
    let wide = screen(&mut view, &client, 34, 4);
    assert_eq!(wide[0], "A 0 gold, 250 left               ^");
    assert_eq!(wide[1..], MAP[3..].iter().map(|row| row.replace('C', "@")).collect::<Vec<_>>());
}

#[test]
fn a_large_window_has_the_map_in_its_middle() {
    let shown = screen(&mut view(), &player(), 123, 31);
    assert_eq!(shown[0], "Player A has 0 nuggets (250 nuggets unclaimed).");
    let middle = MAP.map(|row| " ".repeat(50) + row);
    assert_eq!(shown[13..19], middle);
    assert!(shown[1..13].iter().chain(&shown[19..]).all(String::is_empty));
}

#[test]
fn key_hints_are_shown_if_there_is_room() {
    let (client, mut view) = (player(), view().taking_part("here".to_owned()));
    let shown = screen(&mut view, &client, 80, 24);
    let status = "Player A has 0 nuggets (250 nuggets unclaimed).";
    assert_eq!(shown[0], format!(" NUGGETS   {status:63}online"));
    assert_eq!(shown[23], "hjkl move   HJKL run   yubn diagonally   ? keys   Q leave");
    let shown = screen(&mut view, &client, 80, 8);
    assert_eq!(shown[0], format!(" NUGGETS   {status:54}? keys  Q leave"));
    assert_eq!(shown[7], "You (A) 0 · Others 0 · in sight B C");
    assert_eq!(screen(&mut view, &client, 60, 8)[0], format!(" NUGGETS   {status}"));
    assert_eq!(screen(&mut view, &client, 56, 8)[0], status);
    assert_eq!(screen(&mut view, &client, 38, 4)[0], "A 0 gold, 250 left  ? keys  Q leave  v");
}

#[test]
fn first_screen_has_the_common_header_and_footer() {
    for (width, height) in [(80, 24), (120, 40)] {
        for participant in [ann(), Participant::Spectator] {
            let waiting = Client::new(participant, Time::ZERO);
            let mut view = view().taking_part("localhost".to_owned());
            let shown = screen(&mut view, &waiting, width, height);
            assert!(shown[0].starts_with(" NUGGETS   ") && shown[0].ends_with("joining"), "{shown:#?}");
            assert_eq!(shown[usize::from(height) - 1], "? keys   Q leave");
        }
    }
}

#[test]
fn standings_are_beside_the_map() {
    let mut view = view().taking_part("here".to_owned());
    let mut client = player();
    screen(&mut view, &client, 80, 24);
    client.receive(Time::ZERO, b"GOLD 30 30 100").unwrap();
    let shown = screen(&mut view, &client, 80, 24);
    let row =
        |text: &str| shown.iter().position(|row| row.contains(text)).unwrap_or_else(|| panic!("{text}: {shown:#?}"));
    assert!(row("Gold") < row("Others     120  ████████████") && row("Others") < row("You (A)     30  ███"));
    assert!(row("You (A)") < row("Left       100  ██████████") && row("Left") < row("In sight B C"));
    let narrow = screen(&mut view, &client, 46, 24);
    assert!(!narrow.concat().contains("Others     120"), "{narrow:#?}");
    assert_eq!(narrow[22], "Others 120 · You (A) 30 · in sight B C");
}

// A player at the first room spot of a map, with 30 of 150 collected nuggets.
fn on_map(map: &str) -> Client {
    let mut client = client(ann(), &map.replacen('.', "@", 1).lines().collect::<Vec<_>>());
    client.receive(Time::ZERO, b"GOLD 0 30 100").unwrap();
    client
}

const MAIN: &str = include_str!("../../../../maps/main.txt");
const WARREN: &str = include_str!("../../../../maps/warren.txt");
const CONTINENT: &str = include_str!("../../../../maps/continent.txt");

#[test]
fn standings_are_shown_at_every_window_of_80_by_24_or_more() {
    for (name, map, width, height, panel) in [
        ("main", MAIN, 80, 24, false),
        ("main", MAIN, 120, 40, true),
        ("warren", WARREN, 80, 24, false),
        ("warren", WARREN, 120, 40, false),
        ("continent", CONTINENT, 80, 24, false),
        ("continent", CONTINENT, 120, 40, false),
        ("warren", WARREN, 140, 45, true),
    ] {
        let (client, mut view) = (on_map(map), view().taking_part("here".to_owned()));
        view.total = 250;
        let shown = screen(&mut view, &client, width, height);
        let last = usize::from(height) - 1;
        let what = format!("{name} at {width} x {height}: {shown:#?}");
        assert!(shown[0].starts_with(" NUGGETS   Player A has 30 nuggets") && shown[0].contains("  online"), "{what}");
        assert!(shown[last].contains("? keys   Q leave"), "{what}");
        assert_eq!(shown.iter().any(|row| row.contains("Others     120")), panel, "{what}");
        assert_eq!(shown[last - 1] == "Others 120 · You (A) 30", !panel, "{what}");
        assert!(shown[1..last - 1].concat().contains('@'), "{what}");
    }
}

#[test]
fn compact_standings_highlight_the_own_entry() {
    let (client, mut view) = (on_map(MAIN), view().taking_part("here".to_owned()));
    view.total = 250;
    let terminal = terminal(&mut view, &client, 80, 24);
    let reversed = |x: u16| terminal.backend().buffer()[(x, 22)].modifier.contains(Modifier::REVERSED);
    assert_eq!((0..80).filter(|&x| reversed(x)).collect::<Vec<_>>(), (13..23).collect::<Vec<_>>());
}

#[test]
fn standings_are_in_the_status_line_without_a_spare_row() {
    let (client, mut view) = (on_map(&MAP.join("\n")), view().taking_part("here".to_owned()));
    view.total = 250;
    let shown = screen(&mut view, &client, 90, 7);
    assert!(shown[0].contains("(100 nuggets unclaimed).  Others 120"), "{shown:#?}");
    assert_eq!(shown[6].trim_start(), MAP[5]);
}

#[test]
fn compact_standings_of_a_spectator_are_cut_with_a_count() {
    let mut rows = vec!["A*.B*.C*.D*.".to_owned()];
    let mut client = client(Participant::Spectator, &[&rows[0]]);
    for (number, gold) in [(0, 30), (1, 60), (2, 12), (3, 5)] {
        let mut row = rows.last().unwrap().clone();
        row.replace_range(3 * number..3 * number + 2, &format!(".{}", ["A", "B", "C", "D"][number]));
        let left = client.remaining() - gold;
        client.receive(Time::ZERO, format!("GOLD 0 0 {left}").as_bytes()).unwrap();
        client.receive(Time::ZERO, format!("DISPLAY\n{row}\n").as_bytes()).unwrap();
        rows.push(row);
    }
    let mut view = view().taking_part("here".to_owned());
    let mut line = |width| screen(&mut view, &client, width, 5)[3].clone();
    assert_eq!(line(80), "B 60 · A 30 · C 12 · D 5 · in sight A B C D");
    assert_eq!(line(30), "B 60 · A 30 · C 12 · D 5");
    assert_eq!(line(20), "B 60 · A 30 · +2");
    let shown = screen(&mut view, &client, 80, 3);
    assert!(shown[0].contains("143 nuggets unclaimed."), "{shown:#?}");
    assert!(!shown[0].contains("Seen") && shown[2].starts_with("B 60"), "{shown:#?}");
    let shown = screen(&mut view, &client, 80, 2);
    assert!(shown[0].contains("Seen: B 60, A 30, C 12, D 5"), "{shown:#?}");
}

#[test]
fn result_is_drawn_over_or_beside_the_board() {
    let mut client = player();
    client.receive(Time::ZERO, b"QUIT GAME OVER:\nA         50 Ann\nB        200 Bob").unwrap();
    let mut view = view();
    let mut verdict = Verdict::of(&client);
    verdict.keys = vec!["Q leave".into()];
    view.set_verdict(Some(verdict));
    let shown = screen(&mut view, &client, 80, 24);
    let row = |text: &str| shown.iter().position(|line| line.contains(text)).unwrap();
    assert!(row("┌ Game over") < row("  1. B Bob  200 ★") && row("200 ★") < row("> 2. A Ann   50"), "{shown:#?}");
    assert!(row("Q leave") > row("> 2."));
    assert!(shown.iter().any(|line| line.contains("|..................####")), "beside it: {shown:#?}");
    assert_eq!(view.context(&client).shown, Content::Result);
    assert!(screen(&mut view, &client, 34, 8).iter().any(|line| line.contains("200 ★")));
    view.board = !view.board;
    assert_eq!(screen(&mut view, &client, 34, 8)[1..7], MAP);
    view.board = !view.board;
    let tiny = screen(&mut view, &client, 34, 3);
    assert!(tiny[0].ends_with("> 2. A Ann   50") && tiny[2].ends_with("Q leave"), "{tiny:?}");
}

#[test]
fn a_spectator_moves_the_map_by_hand() {
    let (client, mut view) = (
        client(Participant::Spectator, &MAP.map(|row| if row == MAP[1] { "|A..........*....B.|" } else { row })),
        view(),
    );
    screen(&mut view, &client, 18, 4);
    view.scroll(&client, Direction::DownRight);
    let part: Vec<&str> = MAP[3..].iter().map(|row| &row[5..]).collect();
    assert_eq!(screen(&mut view, &client, 18, 4)[1..], part);
}

#[test]
fn kinds_of_cells_differ_with_and_without_colour() {
    for palette in [Palette::COLOUR, Palette::MONO] {
        let view = View::new(palette, false);
        let styles = [
            view.style(b'@', true),
            view.style(b'B', true),
            view.style(b'*', true),
            view.style(b'.', true),
            view.style(b'.', false),
        ];
        for (index, style) in styles.iter().enumerate() {
            assert!(!styles[..index].contains(style), "{palette:?} {index}");
        }
        assert!(view.style(b'|', false).add_modifier.contains(Modifier::DIM));
        assert!(!view.style(b'|', true).add_modifier.contains(Modifier::DIM));
    }
    let mono = View::new(Palette::MONO, false);
    assert!(b"@A*.#|".iter().all(|&byte| mono.style(byte, true).fg.is_none()));
}

#[test]
fn remembered_cells_are_dim() {
    let passage = client(ann(), &["+--+    ", "|..|    ", "|..##@# ", "+--+    "]);
    let terminal = terminal(&mut view(), &passage, 10, 5);
    let dim = |x: u16, y: u16| terminal.backend().buffer()[(x, y)].modifier.contains(Modifier::DIM);
    assert!(dim(1, 2) && dim(0, 1) && dim(3, 3));
    assert!(!dim(4, 3) && !dim(5, 3) && !dim(6, 3));
}
