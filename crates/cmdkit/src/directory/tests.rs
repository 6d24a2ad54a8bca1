use std::{
    io::{Read as _, Write as _},
    net::{Ipv4Addr, TcpListener},
    thread,
};

use super::*;

#[test]
fn room_url_is_that_of_its_page_or_of_its_api() {
    for (typed, read) in [
        ("http://10.0.0.11:8080/rooms/nuggets-1", "http://10.0.0.11:8080/api/rooms/nuggets-1"),
        ("HTTP://hub.example/api/rooms/friday/", "http://hub.example:80/api/rooms/friday"),
        ("http://[::1]:81/rooms/a?x=1#y", "http://[::1]:81/api/rooms/a"),
    ] {
        assert_eq!(typed.parse::<RoomUrl>().unwrap().to_string(), read);
    }
    let long = format!("http://h/rooms/{}", "x".repeat(MAX_ID + 1));
    for (wrong, why) in [
        ("localhost:2000", "not a URL"),
        ("ftp://h/rooms/a", "unsupported scheme"),
        ("http://h", "the room is missing"),
        ("http://h/", "has no room"),
        ("http://h/rooms/", "has no room"),
        ("http://h/rooms/a/b", "has no room"),
        ("http://h/rooms/a%20b", "has no room"),
        ("http://h/j/CODE", "has no room"),
        ("http:///rooms/a", "the host is missing"),
        ("http://h:0/rooms/a", "invalid port"),
        ("http://u:p@h/rooms/a", "a user name is not supported"),
        ("http://h\r\nX: y/rooms/a", "invalid port"),
        (&*long, "has no room"),
    ] {
        let error = wrong.parse::<RoomUrl>().unwrap_err();
        assert!(error.contains(why) && error.contains("as in"), "{wrong}: {error}");
    }
    let error = "https://h/rooms/a".parse::<RoomUrl>().unwrap_err();
    assert!(error.contains("TLS is not supported") && error.contains("http://HOST:PORT/rooms/ID"), "{error}");
}

fn hub(answer: impl Into<Vec<u8>>) -> RoomUrl {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let url = format!("http://{}/rooms/nuggets-1", listener.local_addr().unwrap()).parse().unwrap();
    let answer = answer.into();
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut heard = vec![];
        while !heard.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            if stream.read(&mut byte).unwrap() == 0 {
                return;
            }
            heard.extend(byte);
        }
        assert!(heard.starts_with(b"GET /api/rooms/nuggets-1 HTTP/1.1\r\n"), "{}", heard.escape_ascii());
        let _ = stream.write_all(&answer);
    });
    url
}

fn ok(body: &str) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

fn directory(urls: Vec<RoomUrl>) -> Directory {
    DirectoryArgs { directory: urls }.of("nuggets").unwrap()
}

#[test]
fn first_answering_hub_locates_the_room() {
    let gone = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap();
    let urls = vec![
        format!("http://{gone}/rooms/nuggets-1").parse().unwrap(),
        hub("HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n"),
        hub(ok(r#"{"id":"nuggets-1","game":"nuggets","port":2101,"host":"10.0.0.12","more":[1]}"#)),
    ];
    let directory = directory(urls);
    let place = HostPort { host: "10.0.0.12".into(), port: 2101 };
    assert_eq!(directory.find(), Ok(place.clone()));
    assert_eq!(directory.find(), Ok(place));
    // A single hub does not report its host.
    let place = self::directory(vec![hub(ok(r#"{"id":"nuggets-1","game":"nuggets","port":2101}"#))]).find();
    assert_eq!(place, Ok(HostPort { host: "127.0.0.1".into(), port: 2101 }));
    assert!(DirectoryArgs::default().of("nuggets").is_none());
}

#[test]
fn invalid_answers_are_refused_with_a_reason() {
    let room = |id: &str, game: &str, rest: &str| ok(&format!(r#"{{"id":"{id}","game":"{game}",{rest}}}"#));
    let long = format!("HTTP/1.1 200 OK\r\ncontent-length: {0}\r\n\r\n{1}", (2 << 20), " ".repeat(2 << 20));
    for (answer, why) in [
        (ok("[]"), "sent an invalid description of the room"),
        (ok("{\"id\":"), "sent an invalid description of the room"),
        (room("nuggets-2", "nuggets", r#""port":1"#), "another room, 'nuggets-2'"),
        (room("nuggets-1", "robots", r#""port":1"#), "a room of robots, but this program plays nuggets"),
        (room("nuggets-1", "nuggets", r#""port":0"#), "it is not public"),
        (room("nuggets-1", "nuggets", r#""port":65536"#), "sent an invalid description of the room"),
        (room("nuggets-1", "nuggets", r#""port":1,"host":"""#), "an invalid host"),
        (room("nuggets-1", "nuggets", r#""port":1,"host":"0.0.0.0""#), "an invalid host"),
        (room("nuggets-1", "nuggets", r#""port":1,"host":"a b""#), "an invalid host"),
        (long.into_bytes(), "more than 1 MiB"),
        (b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n".to_vec(), "has no public room of this name"),
        (b"HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n".to_vec(), "status 302"),
        (b"SSH-2.0-x\r\n\r\n".to_vec(), "cannot be queried"),
        (b"".to_vec(), "cannot be queried"),
    ] {
        let url = hub(answer);
        let told = directory(vec![url.clone()]).find().unwrap_err();
        assert!(told.starts_with(&url.to_string()) && told.contains(why) && told.lines().count() == 1, "{told}");
    }
}

#[test]
fn wait_for_a_silent_hub_is_bounded() {
    let silent = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let url: RoomUrl = format!("http://{}/rooms/nuggets-1", silent.local_addr().unwrap()).parse().unwrap();
    let directory = Directory { patience: 1, ..directory(vec![url]) };
    assert!(directory.find().unwrap_err().contains("did not respond within 1 s"));
}
