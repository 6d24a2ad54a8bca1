use std::{
    net::{TcpListener, TcpStream},
    process::{Child, Command, Stdio},
    time::Instant,
};

use testkit::{PATIENCE, TempDir, eventually};

use super::set;

pub(super) struct Broker {
    directory: TempDir,
    port: u16,
    has_jetstream: bool,
    server: Option<Child>,
}

impl Broker {
    pub(super) fn start(has_jetstream: bool) -> Self {
        let begun = Instant::now();
        loop {
            let port = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port();
            let mut broker = Self { directory: TempDir::new(), port, has_jetstream, server: None };
            if broker.run() {
                return broker;
            }
            // Another program has taken the port meanwhile.
            assert!(begun.elapsed() < PATIENCE, "the server does not start");
        }
    }

    // Returns whether it accepts connections.
    fn run(&mut self) -> bool {
        let mut command = Command::new(set("ARCADE_TEST_NATS_SERVER"));
        command.args(["--addr", "127.0.0.1", "--port", &self.port.to_string()]);
        if self.has_jetstream {
            command.arg("--jetstream").arg("--store_dir").arg(self.directory.path());
        }
        let server = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let server = self.server.insert(server);
        let (port, mut accepts) = (self.port, false);
        eventually("the broker neither listens nor ends", || {
            accepts = TcpStream::connect(("127.0.0.1", port)).is_ok();
            accepts || server.try_wait().unwrap().is_some()
        });
        accepts
    }

    pub(super) fn address(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    pub(super) fn kill(&mut self) {
        if let Some(mut server) = self.server.take() {
            server.kill().unwrap();
            server.wait().unwrap();
        }
    }

    pub(super) fn restart(&mut self) {
        assert!(self.run(), "the server does not start again");
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        self.kill();
    }
}
