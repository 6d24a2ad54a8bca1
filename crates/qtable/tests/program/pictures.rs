use std::{collections::BTreeSet, fs, path::Path};

use blackjack::{QTable, StateSpace, exact::Solver};
use resvg::{
    tiny_skia::Pixmap,
    usvg::roxmltree::{Document, Node},
};
use testkit::{TempDir, process::Process, terminal::Terminal};

use crate::{fails, names, qtable, trained, works};

// The number of elements in valid XML.
fn elements(xml: &str) -> usize {
    Document::parse(xml).unwrap().descendants().filter(Node::is_element).count()
}

fn count(svg: &str, what: &str) -> usize {
    svg.matches(what).count()
}

// The width, the height and the number of colours.
fn decoded(path: &Path) -> (u32, u32, usize) {
    let picture = Pixmap::load_png(path).unwrap();
    let colours: BTreeSet<_> =
        picture.pixels().iter().map(|pixel| (pixel.red(), pixel.green(), pixel.blue())).collect();
    (picture.width(), picture.height(), colours.len())
}

#[test]
fn a_chart_has_a_cell_for_every_state_and_a_mark_where_it_is_not_the_best() {
    let folder = TempDir::new();
    let solver = Solver::new();
    for (space, width) in [(StateSpace::Coarse, 970), (StateSpace::Soft, 1104)] {
        let table = trained(space, 3, 20_000);
        let differs = table.policy().differences(&solver.best(space)).count();
        assert!(differs > 3);
        folder.file("qtable", table.to_file());
        works(&folder, "chart --svg chart.svg --png chart.png");
        let svg = fs::read_to_string(folder.path().join("chart.svg")).unwrap();
        assert!(elements(&svg) > 3 * space.states().count());
        let (hits, stands) = (count(&svg, "<g class=\"hit"), count(&svg, "<g class=\"stand"));
        assert_eq!(hits + stands, space.states().count());
        assert_eq!(count(&svg, "differs\"><title>"), differs);
        assert_eq!(count(&svg, "; the best table differs</title>"), differs);
        assert!(svg.contains(&format!("{differs} of {} decisions differ", space.states().count())));
        assert!(svg.contains("<title id=\"title\">What 'qtable' has learned</title>"));
        assert!(svg.contains(&format!("width=\"{width}\" height=\"680\"")), "{}", &svg[..200]);
        let (pixels, lines, colours) = decoded(&folder.path().join("chart.png"));
        assert_eq!((pixels, lines), (2 * width, 2 * 680));
        assert!(colours > 50, "{colours}");
        // The terminal shows the same chart, and the letters are the same with and without colours.
        let plain = works(&folder, "chart");
        let marks: usize = ["[H]", "[S]", "[h]", "[s]"].iter().map(|mark| count(&plain, mark)).sum();
        assert_eq!(marks, differs, "{plain}");
        let coloured = works(&folder, "chart --colour always");
        assert!(count(&coloured, "\x1b[38;5;16;48;5;214m") == hits && count(&coloured, "48;5;25m") == stands);
        let bare: String =
            coloured.split('\x1b').map(|part| part.split_once('m').map_or(part, |(_, text)| text)).collect();
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(words(&bare)[8..], words(&plain)[8..]);
    }
}

#[test]
fn file_extension_selects_the_format() {
    let folder = TempDir::new();
    works(&folder, "chart --policy best -o chart.png --output chart.SVG");
    decoded(&folder.path().join("chart.png"));
    elements(&fs::read_to_string(folder.path().join("chart.SVG")).unwrap());
    works(&folder, "curve --rounds 1e3 --runs 1 --explore doubt -o curve.csv -o curve.svg");
    assert_eq!(names(&folder), ["chart.SVG", "chart.png", "curve.csv", "curve.svg"]);
    for (options, endings) in [
        ("chart --policy best -o chart.gif", ".svg or .png"),
        ("chart --policy best -o chart.csv", ".svg or .png"),
        ("curve --rounds 1000 -o png", ".svg or .png or .csv"),
    ] {
        assert!(fails(&folder, options, 2).contains(&format!("expected an extension of {endings}")), "{options}");
    }
}

#[test]
fn piped_chart_has_no_colours() {
    let folder = TempDir::new();
    for options in ["chart --policy best", "chart --policy best --colour never"] {
        assert!(!works(&folder, options).contains('\x1b'));
    }
    let asked = Process::run(qtable(&folder, "chart --policy best --color always").env("NO_COLOR", "1"));
    assert!(asked.stdout.contains('\x1b'));
}

#[test]
fn policies_without_a_table_can_be_drawn() {
    let folder = TempDir::new();
    let best = works(&folder, "chart --policy best --state soft");
    assert!(best.contains("Every decision is that of the best table.") && best.contains("Worth -0.0428"), "{best}");
    let limit = works(&folder, "chart --policy random-limit");
    assert!(limit.contains("Worth -0.1263"), "{limit}");
    let mimic = works(&folder, "chart --policy mimic --state soft");
    assert!(mimic.contains("Worth -0.0801") && !mimic.contains("small letter"), "{mimic}");
    // A comparison with a best table that distinguishes soft hands draws them for a coarse table, too.
    let coarse = works(&folder, "chart --policy best --against soft");
    assert!(coarse.contains("(A,7)") && coarse.contains("of 280 decisions differ"), "{coarse}");
}

#[test]
fn untried_actions_are_marked() {
    let folder = TempDir::new();
    folder.file("qtable", QTable::new(StateSpace::Coarse).to_file());
    let text = works(&folder, "chart");
    // A total of 21 leaves no decision to learn.
    let rows: String = text.lines().skip(3).take(18).collect();
    assert_eq!(["h", "H", "s", "S"].map(|letter| count(&rows, letter)), [13 * 10, 0, 4 * 10, 10], "{text}");
}

#[test]
fn names_and_titles_do_not_break_the_picture() {
    let folder = TempDir::new();
    let name = "a<b>&\"c\" with spaces";
    folder.file(name, trained(StateSpace::Coarse, 1, 10).to_file());
    let mut command = qtable(&folder, "chart --svg chart.svg --png chart.png");
    let finished = Process::run(command.arg(name));
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    let svg = fs::read_to_string(folder.path().join("chart.svg")).unwrap();
    elements(&svg);
    assert!(svg.contains("a&lt;b&gt;&amp;"), "{}", &svg[..500]);
    let long = "long ".repeat(200);
    let finished = Process::run(qtable(&folder, "chart --policy best --png long.png --title").arg(long));
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    decoded(&folder.path().join("long.png"));
}

#[test]
fn curves_cover_all_runs() {
    let folder = TempDir::new();
    let outputs = "--csv curve.csv --svg curve.svg --png curve.png";
    works(&folder, &format!("curve --rounds 100000 --runs 3 --threads 2 --epsilon 0.2 {outputs}"));
    let csv = fs::read_to_string(folder.path().join("curve.csv")).unwrap();
    assert_eq!(csv, works(&folder, "curve --rounds 100000 --runs 3 --threads 1 --epsilon 0.2"), "however many threads");
    let mut lines = csv.lines();
    assert_eq!(lines.next(), Some("explore,states,seed,rounds,value,optimum,mimic"));
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    // 1, 1.5, 2, 3, 5 and 7 thousand and ten thousand, and 100 thousand.
    assert_eq!(rows.len(), 3 * 3 * 13);
    for row in &rows {
        let value: f64 = row[4].parse().unwrap();
        assert!((-0.4..=-0.051_474).contains(&value), "{row:?}");
        assert_eq!(row[5..], ["-0.051474", "-0.080092"]);
        if row[3] == "100000" {
            assert_eq!(value < -0.1, row[0] == "random", "{row:?}");
        }
    }
    let svg = fs::read_to_string(folder.path().join("curve.svg")).unwrap();
    elements(&svg);
    for (class, expected) in [("run", 9), ("mean", 3), ("point", 3 * 13), ("reference", 2)] {
        assert_eq!(count(&svg, &format!("<g class=\"{class}\">")), expected, "{class}");
    }
    for label in
        ["random", "epsilon 0.2", "until-confident", "best table", "dealer's strategy", "10 thousand", "(log scale)"]
    {
        assert!(svg.contains(&format!("{label}</text>")), "{label}");
    }
    let (width, height, colours) = decoded(&folder.path().join("curve.png"));
    assert!((width, height) == (2240, 1260) && colours > 50);
}

#[test]
fn a_curve_of_one_short_run_is_drawn_too() {
    let folder = TempDir::new();
    works(&folder, "curve --rounds 1000 --runs 1 --explore doubt --state soft --svg curve.svg --png curve.png");
    let svg = fs::read_to_string(folder.path().join("curve.svg")).unwrap();
    elements(&svg);
    assert_eq!(count(&svg, "<g class=\"point\">"), 1);
}

const PROGRAM: &str = env!("CARGO_BIN_EXE_qtable");

#[test]
fn curves_are_drawn_in_a_terminal() {
    let terminal = Terminal::start(PROGRAM, &["curve", "--rounds", "1e4", "--runs", "1"], 80, 24);
    for text in ["How many rounds it takes to learn 21", "-0.0515", "best table", "dealer's strategy", "10 k"] {
        terminal.wait_for(text);
    }
    for name in ["random -0.", "epsilon 0.1 -0.", "until-confident -0."] {
        terminal.wait_for(name);
    }
    assert_eq!(terminal.end(), 0);
}

#[test]
fn training_draws_its_curve_below_the_progress_line() {
    let folder = TempDir::new();
    let table = folder.path().join("table");
    let arguments = ["train", "--rounds", "200_000", "--seed", "1", "-o", table.to_str().unwrap()];
    let terminal = Terminal::start(PROGRAM, &arguments, 100, 40);
    for text in ["100 %", "best table", "epsilon 0.1 -0.", "200 k", "trained  200000 rounds", "saved"] {
        terminal.wait_for(text);
    }
    assert_eq!(terminal.end(), 0);
    let terminal = Terminal::start(PROGRAM, &arguments, 100, 12);
    terminal.wait_for("saved");
    assert!(!terminal.with_screen(|screen| screen.contents().contains("best table")));
    assert_eq!(terminal.end(), 0);
}
