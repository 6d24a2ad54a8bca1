use std::{
    io::{Read, Write, stdin},
    net::TcpListener,
    thread,
    time::{Duration, Instant},
};

/// Announces a port, reads its script, accepts the scripted number of connections, and writes each frame to all of them
/// when due.
pub(crate) fn run() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    println!("floor at port {}", listener.local_addr().expect("bound").port());
    std::io::stdout().flush().expect("a reader");
    netshell::raise_open_files();
    let mut script = vec![];
    stdin().read_to_end(&mut script).expect("a script");
    let mut rest = &script[..];
    let mut number = || {
        let (number, behind) = rest.split_first_chunk::<8>().expect("a number");
        rest = behind;
        u64::from_be_bytes(*number)
    };
    let (connections, nanos, frames) = (number(), number(), number());
    let lengths: Vec<usize> = (0..frames).map(|_| usize::try_from(number()).expect("short")).collect();
    let mut streams: Vec<_> = (0..connections)
        .map(|_| {
            let (stream, _) = listener.accept().expect("a connection");
            stream.set_nodelay(true).expect("a connection");
            stream
        })
        .collect();
    let start = Instant::now();
    for (turn, length) in (0..).zip(lengths) {
        let (frame, behind) = rest.split_at(length);
        rest = behind;
        let due = start + Duration::from_nanos(nanos) * turn;
        thread::sleep(due.saturating_duration_since(Instant::now()));
        for stream in &mut streams {
            // The connection may have been closed.
            let _ = stream.write(frame);
        }
    }
    // The measuring process ends this one.
    thread::sleep(Duration::from_secs(60));
}

pub(crate) fn write_script(out: &mut impl Write, connections: usize, turn: Duration, frames: &[Vec<u8>]) {
    let wide = |number: usize| u64::try_from(number).expect("64 bits").to_be_bytes();
    let nanos = u64::try_from(turn.as_nanos()).expect("short").to_be_bytes();
    let numbers =
        [wide(connections), nanos, wide(frames.len())].into_iter().chain(frames.iter().map(|frame| wide(frame.len())));
    let mut script: Vec<u8> = numbers.flatten().collect();
    script.extend(frames.iter().flatten());
    out.write_all(&script).expect("a reader");
}
