use std::{
    io::{Read as _, Write as _},
    net::{TcpListener, TcpStream},
    path::Path,
    process::{Child, Command, Stdio},
    time::Instant,
};

use testkit::{PATIENCE, TempDir, eventually};

use super::set;

pub(super) struct Database {
    directory: TempDir,
    port: u16,
    server: Option<Child>,
}

impl Database {
    pub(super) fn start() -> Self {
        let begun = Instant::now();
        loop {
            let port = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port();
            let mut database = Self { directory: TempDir::new(), port, server: None };
            if database.run() {
                return database;
            }
            // Another program has taken the port meanwhile.
            assert!(begun.elapsed() < PATIENCE, "the server does not start");
        }
    }

    // Returns whether it accepts sessions.
    fn run(&mut self) -> bool {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.ci/postgres-server");
        let mut command = Command::new(script);
        command.arg(set("ARCADE_TEST_POSTGRES_PROGRAMS")).arg(self.directory.path()).arg(self.port.to_string());
        let server = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        self.server = Some(server);
        let mut answers = false;
        eventually("the database neither takes sessions nor ends", || {
            answers = self.answers();
            answers || self.server.as_mut().is_none_or(|server| server.try_wait().unwrap().is_some())
        });
        answers
    }

    // Returns `false` while it recovers, since it then answers with an error.
    fn answers(&self) -> bool {
        let Ok(mut link) = TcpStream::connect(("127.0.0.1", self.port)) else { return false };
        let mut hello = vec![0, 0, 0, 0, 0, 3, 0, 0];
        hello.extend(b"user\0arcade\0database\0postgres\0\0");
        hello[3] = u8::try_from(hello.len()).unwrap();
        let mut kind = [0];
        link.write_all(&hello).is_ok() && link.read_exact(&mut kind).is_ok() && kind == *b"R"
    }

    pub(super) fn address(&self) -> String {
        format!("postgres://arcade@127.0.0.1:{}/postgres", self.port)
    }

    /// With SIGKILL, which sessions notice later.
    pub(super) fn kill(&mut self) {
        if let Some(mut server) = self.server.take() {
            server.kill().unwrap();
            server.wait().unwrap();
        }
    }

    /// Retries, since the server does not start while a session of the previous one is ending.
    pub(super) fn restart(&mut self) {
        let begun = Instant::now();
        while !self.run() {
            assert!(begun.elapsed() < PATIENCE, "the server does not start again");
        }
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        self.kill();
    }
}
