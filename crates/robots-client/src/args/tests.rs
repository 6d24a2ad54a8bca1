use super::*;
use clap::error::ErrorKind;

fn parse(line: &str) -> Result<Args, clap::Error> {
    Args::try_parse_from(std::iter::once("robots-client").chain(line.split_whitespace()))
}

fn plan(line: &str) -> Plan {
    Plan::of(&parse(line).unwrap()).unwrap()
}

fn there(text: &str) -> HostPort {
    text.parse().unwrap()
}

fn names(names: &[&str]) -> Vec<ShortText> {
    names.iter().map(|&name| text(name)).collect()
}

#[test]
fn options_are_short_and_long_and_what_is_left_out_has_a_default() {
    let screen = Screen::Gui { address: there("gui:7"), port: 9, bind: vec![] };
    let role = Role::Player(text("Ann"));
    let expected = Plan {
        server: Some(there("[::1]:5")),
        directory: DirectoryArgs::default(),
        retry: false,
        screen,
        role,
        level: Level::Normal,
    };
    for line in [
        "-d gui:7 -s ::1:5 -n Ann -p 9",
        "--gui-address gui:7 --server-address [::1]:5 --player-name Ann --port 9",
        "--gui-address=gui:7 --server-address=[::1]:5 --player-name=Ann --port=9",
        "-dgui:7 -s[::1]:5 -nAnn -p9",
    ] {
        assert_eq!(plan(line), expected, "{line}");
    }
    let Plan { screen, role, .. } = plan("-d g:1 -s s:1 --bind 127.0.0.1 --bind ::1");
    let bind = vec!["127.0.0.1".parse().unwrap(), "::1".parse().unwrap()];
    assert_eq!(screen, Screen::Gui { address: there("g:1"), port: 2023, bind });
    let Role::Player(login) = role else { panic!("{role:?}") };
    assert!(!login.is_empty());
}

#[test]
fn the_login_name_is_what_the_environment_says_and_else_the_password_database() {
    let says = |name: &str| login(|variable| (variable == name).then(|| "ann".into()));
    assert!(["LOGNAME", "USER", "USERNAME"].into_iter().all(|name| says(name).as_deref() == Some("ann")));
    let empty = login(|variable| Some(if variable == "LOGNAME" { "" } else { "ann" }.into()));
    assert_eq!(empty.as_deref(), Some("ann"));
    // A user whom the database does not have is known by a number only.
    #[cfg(unix)]
    {
        let id = std::process::Command::new("id").arg("-un").output().unwrap();
        let known = id.status.success().then(|| String::from_utf8(id.stdout).unwrap().trim().to_owned());
        assert_eq!(login(|_| None), known);
    }
}

#[test]
fn a_name_has_0_to_255_bytes() {
    for good in ["", " ", "Żółć!", &"x".repeat(255), &"ó".repeat(127)] {
        let args = Args::try_parse_from(["c", "-s", "h:1", "-d", "h:1", "-n", good]).unwrap();
        assert_eq!(args.player_name, Some(text(good)));
    }
    let error = Args::try_parse_from(["c", "-s", "h:1", "-d", "h:1", "-n", &"ó".repeat(128)]).unwrap_err();
    assert!(error.to_string().contains("at most 255 bytes, and this one has 256"), "{error}");
}

#[test]
fn bots_have_names_and_need_no_gui() {
    let bots = |list: &[&str], games| Role::Bots { names: names(list), games };
    assert_eq!(plan("-s h:1 --bot").role, bots(&["bot"], None));
    assert_eq!(plan("-s h:1 --bot -n Zed --games 3").role, bots(&["Zed"], Some(3)));
    let Plan { server, directory, retry, .. } = plan("--gui --directory http://h:1/rooms/robots-1");
    assert!(server.is_none() && directory.directory.len() == 1 && retry, "the directory tells where the server is");
    assert_eq!(plan("-s h:1 --headless 3 --retry").role, bots(&["bot1", "bot2", "bot3"], None));
    assert_eq!(plan("-s h:1 --bot --headless 1 -n x").role, bots(&["x1"], None));
    assert_eq!(plan("-s h:1 --headless 3").screen, Screen::None);
    assert_eq!(plan("-s h:1 --bot --gui").screen, Screen::Terminal);
    assert!(matches!(plan("-s h:1 --bot -d g:1").screen, Screen::Gui { .. }));
    let long = "ó".repeat(127);
    let Role::Bots { names, .. } = plan(&format!("-s h:1 --headless 12 -n {long}")).role else { panic!() };
    assert_eq!(&*names[11], format!("{}12", "ó".repeat(126)));
}

#[test]
fn a_server_without_a_port_is_at_the_usual_one_and_a_demonstration_needs_none() {
    assert_eq!(plan("-s localhost --gui").server, Some(there("localhost:2022")));
    let Plan { server, screen, role, level, .. } = plan("--demo -n Ann");
    assert_eq!((server, screen, role, level), (None, Screen::Terminal, Role::Player(text("Ann")), Level::Normal));
    assert_eq!(plan("--demo --level hard").level, Level::Hard);
    assert_eq!(plan("-s h --headless 3 --level easy").level, Level::Easy);
    for line in ["--demo -s h:1", "--demo -d h:1", "--demo --gui", "--demo --observe", "--demo --headless 2"] {
        assert_eq!(parse(line).unwrap_err().kind(), ErrorKind::ArgumentConflict, "{line}");
    }
}

#[test]
fn words_without_an_option_are_explained() {
    let refused = |line: &str| Plan::of(&parse(line).unwrap()).unwrap_err().0;
    assert!(refused("-s localhost 2023 --gui").contains("-s localhost:2023"));
    assert!(refused("-s localhost --gui Ann").contains("your name behind -n"));
    assert!(refused("-s h:1 --gui --level easy").contains("--level is for bots"));
}

#[test]
fn what_is_missing_or_not_known_is_refused() {
    for (line, kind) in [
        ("", ErrorKind::MissingRequiredArgument),
        ("-s h:1", ErrorKind::MissingRequiredArgument),
        ("-d h:1", ErrorKind::MissingRequiredArgument),
        ("--bot", ErrorKind::MissingRequiredArgument),
        ("-s h:1 --observe", ErrorKind::MissingRequiredArgument),
        ("-s h:1 -d h:1 --no-such", ErrorKind::UnknownArgument),
        ("-s h:1 -s h:1 -d h:1", ErrorKind::ArgumentConflict),
        ("-s h:1 -d", ErrorKind::InvalidValue),
        ("-s h:1 --bot --level best", ErrorKind::InvalidValue),
    ] {
        assert_eq!(parse(line).unwrap_err().kind(), kind, "{line}");
    }
}

#[test]
fn what_does_not_fit_together_is_refused_by_name() {
    for (line, named) in [
        ("-s h:1 -d h:1 --headless 2", ["--gui-address", "--headless"]),
        ("-s h:1 --bot --observe", ["--bot", "--observe"]),
        ("-s h:1 --headless 2 --observe", ["--headless", "--observe"]),
        ("-s h:1 --gui -d h:1", ["--gui", "--gui-address"]),
        ("-s h:1 --gui --headless 2", ["--gui", "--headless"]),
        ("-s h:1 --gui --gui", ["--gui", "multiple times"]),
        ("-s h:1 --gui -p 5", ["--gui", "--port"]),
        ("-s h:1 --gui --bind ::1", ["--gui", "--bind"]),
        ("-s h:1 --headless 2 --port 5", ["--headless", "--port"]),
        ("-s h:1 --bot -p 5", ["required", "--gui-address"]),
        ("-s h:1 --bot --bind ::1", ["required", "--gui-address"]),
    ] {
        let error = parse(line).unwrap_err().to_string();
        assert!(named.iter().all(|named| error.contains(named)), "{line}: {error}");
    }
    let error = Plan::of(&parse("-s h:1 -d h:1 --games 1").unwrap()).unwrap_err();
    assert!(error.0.contains("--bot or --headless"), "{error}");
}

#[test]
fn values_that_are_none_are_refused_with_what_would_be_right() {
    let bots = "1 to 1000, as in 4";
    for (option, wrong, right) in [
        ("-p", "65536", "0 to 65535, as in 2023"),
        ("-d", "h", "the port is missing"),
        ("-s", "", "the host is missing"),
        ("--headless", "0", bots),
        ("--headless", "1001", bots),
        ("--games", "0", "1 to 1000000000, as in 1"),
        ("--bind", "localhost", "as in 127.0.0.1"),
    ] {
        let error = Args::try_parse_from(["c", option, wrong]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ValueValidation, "{option} {wrong:?}: {error}");
        let error = error.to_string();
        assert!(error.contains(&format!("'{wrong}'")) && error.contains(right), "{option} {wrong:?}: {error}");
    }
}
