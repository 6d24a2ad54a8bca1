use std::{
    env,
    net::{TcpListener, TcpStream},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use async_nats::jetstream;
use tempfile::TempDir;

use crate::PATIENCE;

pub(super) struct Servers {
    directory: TempDir,
    ports: Vec<u16>,
    routes: Vec<u16>,
    has_jetstream: bool,
    running: Vec<Option<Child>>,
}

impl Servers {
    pub(super) fn start(count: usize, has_jetstream: bool) -> Self {
        let begun = Instant::now();
        loop {
            // Reserve all ports at the same time, so that they differ.
            let free: Vec<_> = (0..2 * count).map(|_| TcpListener::bind(("127.0.0.1", 0)).unwrap()).collect();
            let mut ports: Vec<u16> = free.iter().map(|listener| listener.local_addr().unwrap().port()).collect();
            drop(free);
            let routes = ports.split_off(count);
            let directory = tempfile::tempdir().unwrap();
            let mut servers = Self { directory, ports, routes, has_jetstream, running: vec![] };
            servers.running = (0..count).map(|number| Some(servers.spawn(number))).collect();
            if (0..count).all(|number| servers.answers(number)) {
                return servers;
            }
            // Another program has taken one of the ports.
            assert!(begun.elapsed() < PATIENCE, "the servers do not start");
        }
    }

    fn spawn(&self, number: usize) -> Child {
        let program = env::var_os("ARCADE_TEST_NATS_SERVER").expect("run the test by .ci/with-nats");
        let mut command = Command::new(program);
        command.args(["--name", &format!("server-{number}"), "--addr", "127.0.0.1"]);
        command.args(["--port", &self.ports[number].to_string()]);
        if self.has_jetstream {
            command.arg("--jetstream").arg("--store_dir").arg(self.directory.path().join(number.to_string()));
        }
        if self.ports.len() > 1 {
            let routes: Vec<String> = self.routes.iter().map(|port| format!("nats://127.0.0.1:{port}")).collect();
            command.args(["--cluster_name", "test", "--cluster", &routes[number], "--routes", &routes.join(",")]);
        }
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    // Returns `false` if it has exited instead.
    fn answers(&mut self, number: usize) -> bool {
        let begun = Instant::now();
        while TcpStream::connect(("127.0.0.1", self.ports[number])).is_err() {
            let has_ended = self.running[number].as_mut().is_none_or(|server| server.try_wait().unwrap().is_some());
            if has_ended || begun.elapsed() > PATIENCE {
                return false;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        true
    }

    pub(super) fn addresses(&self) -> Vec<String> {
        self.ports.iter().map(|port| format!("nats://127.0.0.1:{port}")).collect()
    }

    pub(super) fn kill(&mut self, number: usize) {
        if let Some(mut server) = self.running[number].take() {
            server.kill().unwrap();
            server.wait().unwrap();
        }
    }

    pub(super) fn restart(&mut self, number: usize) {
        self.running[number] = Some(self.spawn(number));
        assert!(self.answers(number), "server {number} does not start again");
    }

    async fn info(&self, stream: &str) -> jetstream::stream::Info {
        let client = async_nats::connect(&self.addresses()[..]).await.unwrap();
        let stream = jetstream::new(client).get_stream(stream).await.unwrap();
        stream.get_info().await.unwrap()
    }

    pub(super) async fn copies(&self, stream: &str) -> usize {
        self.info(stream).await.config.num_replicas
    }

    pub(super) async fn leader(&self, stream: &str) -> usize {
        let leader = self.info(stream).await.cluster.unwrap().leader.unwrap();
        leader.trim_start_matches("server-").parse().unwrap()
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        (0..self.running.len()).for_each(|number| self.kill(number));
    }
}
