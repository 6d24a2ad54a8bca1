//! NATS servers of a test's own, to be killed.

use std::{
    io::{BufRead as _, BufReader, Write as _},
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
    // Its number in a cluster, and the ports by which its servers reach each other.
    cluster: Option<(usize, Vec<u16>)>,
    server: Option<Child>,
}

impl Broker {
    pub(super) fn start(has_jetstream: bool) -> Self {
        let begun = Instant::now();
        loop {
            let port = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port();
            let mut broker = Self { directory: TempDir::new(), port, has_jetstream, cluster: None, server: None };
            if broker.run() {
                return broker;
            }
            // Another program has taken the port in between.
            assert!(begun.elapsed() < PATIENCE, "the server does not start");
        }
    }

    /// Starts three that are one cluster.
    pub(super) fn three() -> Vec<Self> {
        let begun = Instant::now();
        loop {
            // All at once, so that they differ.
            let free: Vec<_> = (0..6).map(|_| TcpListener::bind(("127.0.0.1", 0)).unwrap()).collect();
            let mut ports: Vec<u16> = free.iter().map(|listener| listener.local_addr().unwrap().port()).collect();
            drop(free);
            let routes = ports.split_off(3);
            let brokers = ports.into_iter().enumerate().map(|(number, port)| {
                let cluster = Some((number, routes.clone()));
                Self { directory: TempDir::new(), port, has_jetstream: true, cluster, server: None }
            });
            let mut brokers: Vec<_> = brokers.collect();
            if brokers.iter_mut().all(Self::run) {
                return brokers;
            }
            assert!(begun.elapsed() < PATIENCE, "the servers do not start");
        }
    }

    /// The number of the server of the same cluster that leads a stream.
    pub(super) fn leader(&self, stream: &str) -> usize {
        let mut link = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let ask = format!("CONNECT {{}}\r\nSUB in 1\r\nPUB $JS.API.STREAM.INFO.{stream} in 0\r\n\r\n");
        link.write_all(ask.as_bytes()).unwrap();
        let answer = BufReader::new(link).lines().map(Result::unwrap).find(|line| line.starts_with('{')).unwrap();
        let answer: serde_json::Value = serde_json::from_str(&answer).unwrap();
        let leader = answer["cluster"]["leader"].as_str().unwrap_or_else(|| panic!("{answer}"));
        leader.trim_start_matches("server-").parse().unwrap()
    }

    // Whether it runs.
    fn run(&mut self) -> bool {
        let mut command = Command::new(set("ARCADE_TEST_NATS_SERVER"));
        command.args(["--addr", "127.0.0.1", "--port", &self.port.to_string()]);
        if self.has_jetstream {
            command.arg("--jetstream").arg("--store_dir").arg(self.directory.path());
        }
        if let Some((number, routes)) = &self.cluster {
            let all: Vec<String> = routes.iter().map(|port| format!("nats://127.0.0.1:{port}")).collect();
            command.args(["--name", &format!("server-{number}"), "--cluster_name", "test"]);
            command.args(["--cluster", &all[*number], "--routes", &all.join(",")]);
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

    /// Kills it as `kill -9` does.
    pub(super) fn kill(&mut self) {
        if let Some(mut server) = self.server.take() {
            server.kill().unwrap();
            server.wait().unwrap();
        }
    }

    /// Starts it again with what is on its disk.
    pub(super) fn restart(&mut self) {
        assert!(self.run(), "the server does not start again");
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        self.kill();
    }
}
