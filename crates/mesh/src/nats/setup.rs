use std::{collections::BTreeSet, error::Error, time::Duration};

use async_nats::{
    Client, ConnectOptions, ServerAddr, ServerInfo,
    jetstream::{
        self, Context,
        consumer::{AckPolicy, PullConsumer, pull},
        context::GetStreamErrorKind,
        kv,
        stream::{Config, DiscardPolicy, RetentionPolicy, StorageType},
    },
};

use super::{
    BrokerSettings, Limits,
    log::Logs,
    stream::{PATIENCE, Stream, away},
};
use crate::{
    ENTRY_AGE_SECONDS, ErrorKind, MAX_APPEND, MAX_RESULTS, MeshError, REMEMBERED_SECONDS, log::Bounds, value::MAX_HEAD,
};

/// The oldest server version that the client supports.
const OLDEST: (u32, u32) = (2, 10);
const LONGEST_PAUSE: Duration = Duration::from_secs(4);
const MAX_REQUESTS: usize = 1_024;
const LOOKS: usize = 3;
/// Replicas with which one of three servers may fail.
const COPIES: usize = 3;

const ENTRY_AGE: Duration = Duration::from_secs(ENTRY_AGE_SECONDS);
/// The limit of a bucket with at most one entry per node.
const SMALL_BYTES: i64 = 1 << 20;
const DIRECTORY: &str = "directory";
/// The directory of an arcade that an earlier version created, which stays as it is.
const FORMER_DIRECTORY_BYTES: i64 = 64 << 20;
const DEAD_LETTERS_AGE: Duration = Duration::from_secs(30 * 24 * 60 * 60);
const DEAD_LETTERS_BYTES: i64 = 16 << 20;

#[derive(Clone)]
pub(super) struct Broker {
    context: Context,
    prefix: String,
    place: String,
    copies: usize,
}

fn setup_error(what: &str, place: &str, why: impl std::fmt::Display, advice: &str) -> MeshError {
    MeshError::new(ErrorKind::Setup, what, place, why, advice)
}

pub(super) async fn connect(place: &BrokerSettings) -> Result<Broker, MeshError> {
    let what = "connect to NATS";
    let mut servers = vec![];
    for server in &place.servers {
        // The address may contain a password.
        let shown = server.rsplit('@').next().unwrap_or_default();
        let address: ServerAddr =
            server.parse().map_err(|error| setup_error(what, shown, error, "expected nats://HOST:PORT"))?;
        servers.push(address);
    }
    let hosts: Vec<String> = servers.iter().map(|server| format!("{}:{}", server.host(), server.port())).collect();
    let shown = hosts.join(", ");
    if servers.is_empty() {
        return Err(setup_error(what, "no server", "none is given", "give at least one, as nats://HOST:PORT"));
    }
    let options = ConnectOptions::new()
        .name("arcade")
        .connection_timeout(PATIENCE)
        .request_timeout(Some(PATIENCE))
        .client_capacity(MAX_REQUESTS)
        .reconnect_delay_callback(|attempts| {
            let doublings = u32::try_from(attempts).unwrap_or(u32::MAX).min(8);
            LONGEST_PAUSE.min(Duration::from_millis(50) * 2_u32.pow(doublings))
        });
    let client = options.connect(servers).await.map_err(|error| away(what, &shown, chain(&error)))?;
    let info = client.server_info();
    check_server(&info, &shown)?;
    let known: BTreeSet<&String> = info.connect_urls.iter().collect();
    let can = if info.cluster.is_some() && known.len().max(hosts.len()) >= COPIES { COPIES } else { 1 };
    let copies = place.limits.copies.unwrap_or(can);
    Ok(Broker { context: context(client), prefix: place.prefix.to_string(), place: shown, copies })
}

fn context(client: Client) -> Context {
    let mut context = jetstream::new(client);
    context.set_timeout(PATIENCE);
    context
}

fn check_server(info: &ServerInfo, place: &str) -> Result<(), MeshError> {
    let what = "use the NATS server";
    let mut numbers = info.version.split(['.', '-']).map_while(|number| number.parse::<u32>().ok());
    let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    if version < OLDEST {
        let why = format!("it is version {}, but 2.10 or later is required", info.version);
        return Err(setup_error(what, place, why, "install a newer nats-server"));
    }
    if !info.jetstream {
        return Err(setup_error(what, place, "it runs without JetStream", "start it with --jetstream and --store_dir"));
    }
    Ok(())
}

fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        // Some errors repeat their cause.
        if !text.contains(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        source = cause.source();
    }
    text
}

impl Broker {
    /// Returns the version of the server after `JetStream` has responded.
    pub(super) async fn version(&self) -> Result<String, MeshError> {
        let mut account = self.context.query_account().await;
        for _ in 1..LOOKS {
            // Started servers do not respond for some seconds, until they have elected a leader.
            if account.is_err() {
                account = self.context.query_account().await;
            }
        }
        account.map_err(|error| away("request the account", &self.place, chain(&error)))?;
        Ok(self.context.client().server_info().version.clone())
    }

    pub(super) fn client(&self) -> Client {
        self.context.client()
    }

    pub(super) fn prefix(&self) -> &str {
        &self.prefix
    }

    fn config(&self, kind: &str) -> Config {
        Config {
            name: format!("{}-{kind}", self.prefix),
            subjects: vec![format!("{}.{kind}.*", self.prefix)],
            storage: StorageType::File,
            num_replicas: self.copies,
            // A message contains an append and at most one head.
            max_message_size: i32::try_from(MAX_APPEND + 2 * MAX_HEAD).unwrap_or(i32::MAX),
            ..Config::default()
        }
    }

    fn stream(&self, stream: jetstream::stream::Stream, subjects: String) -> Stream {
        Stream::new(self.context.clone(), stream, subjects, self.place.clone())
    }

    pub(super) async fn directory(&self, limits: &Limits) -> Result<Stream, MeshError> {
        self.bucket(DIRECTORY, "Nodes, rooms, codes and seats of an arcade", ENTRY_AGE, limits.directory_bytes).await
    }

    pub(super) async fn heartbeats(&self) -> Result<Stream, MeshError> {
        self.bucket("heartbeats", "Heartbeats of the nodes of an arcade", ENTRY_AGE, SMALL_BYTES).await
    }

    pub(super) async fn common(&self) -> Result<Stream, MeshError> {
        self.bucket("common", "Secrets that all nodes of an arcade share", Duration::ZERO, SMALL_BYTES).await
    }

    async fn bucket(&self, kind: &str, about: &str, max_age: Duration, max_bytes: i64) -> Result<Stream, MeshError> {
        let bucket = format!("{}-{kind}", self.prefix);
        let name = format!("KV_{bucket}");
        let wanted = kv::Config {
            bucket: bucket.clone(),
            description: about.to_owned(),
            history: 1,
            max_age,
            max_bytes,
            max_value_size: i32::try_from(2 * MAX_HEAD).unwrap_or(i32::MAX),
            num_replicas: self.copies,
            ..kv::Config::default()
        };
        if self.context.get_stream(&name).await.is_err() {
            let created = self.context.create_key_value(wanted).await;
            // Another node may have created it; its limits are checked below.
            if let Err(error) = created
                && self.context.get_stream(&name).await.is_err()
            {
                return Err(self.cannot_create(&name, &error));
            }
        }
        let stream = self.existing(&name).await?;
        let there = &stream.cached_info().config;
        let is_former = kind == DIRECTORY && there.max_bytes == FORMER_DIRECTORY_BYTES;
        let same = [
            ("max_msgs_per_subject", there.max_messages_per_subject == 1, "1".to_owned()),
            ("max_bytes", there.max_bytes == max_bytes || is_former, max_bytes.to_string()),
            ("max_age", there.max_age == max_age, format!("{} s", max_age.as_secs())),
            ("num_replicas", there.num_replicas >= self.copies, format!("at least {}", self.copies)),
        ];
        self.check(&name, &same)?;
        Ok(self.stream(stream, format!("$KV.{bucket}")))
    }

    /// `kind` is part of the name of the stream and of its subjects.
    pub(super) async fn logs(&self, kind: &str, bounds: Bounds, max_bytes: i64) -> Result<Logs, MeshError> {
        let is_old_dropped = bounds.name == "events";
        let config = Config {
            retention: RetentionPolicy::Limits,
            discard: if is_old_dropped { DiscardPolicy::Old } else { DiscardPolicy::New },
            max_age: Duration::from_secs(bounds.age_seconds),
            max_bytes,
            // Unlimited: each followed room has a consumer per following node. Servers limit streams that set no value.
            max_consumers: -1,
            ..self.config(kind)
        };
        let stream = self.ensure(config).await?;
        Ok(Logs::new(self.stream(stream, format!("{}.{kind}", self.prefix)), bounds))
    }

    pub(super) async fn results(&self, limits: &Limits) -> Result<(Stream, PullConsumer), MeshError> {
        let config = Config {
            retention: RetentionPolicy::WorkQueue,
            discard: DiscardPolicy::New,
            max_messages: i64::try_from(MAX_RESULTS).unwrap_or(i64::MAX),
            max_bytes: limits.results_bytes,
            duplicate_window: Duration::from_secs(REMEMBERED_SECONDS),
            ..self.config("results")
        };
        let stream = self.ensure(config).await?;
        let consumer = pull::Config {
            durable_name: Some("results".to_owned()),
            ack_policy: AckPolicy::Explicit,
            ack_wait: Duration::from_secs(limits.taken_seconds),
            ..pull::Config::default()
        };
        let consumer = stream
            .get_or_create_consumer("results", consumer)
            .await
            .map_err(|error| self.cannot_create("the consumer of results", &error))?;
        Ok((self.stream(stream, format!("{}.results", self.prefix)), consumer))
    }

    pub(super) async fn dead_letters(&self) -> Result<Stream, MeshError> {
        let config = Config {
            retention: RetentionPolicy::Limits,
            // A new dead letter is always stored.
            discard: DiscardPolicy::Old,
            max_age: DEAD_LETTERS_AGE,
            max_bytes: DEAD_LETTERS_BYTES,
            duplicate_window: Duration::from_secs(REMEMBERED_SECONDS),
            ..self.config("dead")
        };
        Ok(self.stream(self.ensure(config).await?, format!("{}.dead", self.prefix)))
    }

    async fn ensure(&self, wanted: Config) -> Result<jetstream::stream::Stream, MeshError> {
        let name = wanted.name.clone();
        if self.context.get_stream(&name).await.is_err()
            && let Err(error) = self.context.create_stream(wanted.clone()).await
            && self.context.get_stream(&name).await.is_err()
        {
            return Err(self.cannot_create(&name, &error));
        }
        let stream = self.existing(&name).await?;
        let there = &stream.cached_info().config;
        let window = wanted.duplicate_window;
        let same = [
            ("subjects", there.subjects == wanted.subjects, format!("{:?}", wanted.subjects)),
            ("retention", there.retention == wanted.retention, format!("{:?}", wanted.retention)),
            ("discard", there.discard == wanted.discard, format!("{:?}", wanted.discard)),
            ("max_age", there.max_age == wanted.max_age, format!("{} s", wanted.max_age.as_secs())),
            ("max_bytes", there.max_bytes == wanted.max_bytes, wanted.max_bytes.to_string()),
            (
                "max_msgs",
                wanted.max_messages == 0 || there.max_messages == wanted.max_messages,
                wanted.max_messages.to_string(),
            ),
            (
                "duplicate_window",
                window.is_zero() || there.duplicate_window == window,
                format!("{} s", window.as_secs()),
            ),
            ("num_replicas", there.num_replicas >= wanted.num_replicas, format!("at least {}", wanted.num_replicas)),
        ];
        self.check(&name, &same)?;
        Ok(stream)
    }

    pub(super) async fn has_stream(&self, kind: &str) -> Result<bool, MeshError> {
        let name = format!("{}-{kind}", self.prefix);
        match self.context.get_stream(&name).await {
            Ok(_) => Ok(true),
            Err(error) if matches!(error.kind(), GetStreamErrorKind::JetStream(error) if error.code() == 404) => {
                Ok(false)
            }
            Err(error) => Err(away(&format!("look for the stream {name}"), &self.place, chain(&error))),
        }
    }

    async fn existing(&self, name: &str) -> Result<jetstream::stream::Stream, MeshError> {
        let found = self.context.get_stream(name).await;
        found.map_err(|error| away(&format!("read the limits of the stream {name}"), &self.place, chain(&error)))
    }

    fn check(&self, name: &str, limits: &[(&str, bool, String)]) -> Result<(), MeshError> {
        let Some((limit, _, wanted)) = limits.iter().find(|(_, is_same, _)| !is_same) else { return Ok(()) };
        Err(setup_error(
            &format!("use the stream {name}"),
            &self.place,
            format!("its {limit} is not {wanted}"),
            "change it with `nats stream edit`, remove the stream, or use another prefix",
        ))
    }

    fn cannot_create(&self, name: &str, error: &dyn Error) -> MeshError {
        let why = chain(error);
        // Started servers of a cluster need a moment to discover each other.
        let is_passing =
            ["timed out", "10008", "10005", "no suitable peers"].iter().any(|passing| why.contains(passing));
        let what = format!("create {name} with {} copies", self.copies);
        if is_passing {
            return away(&what, &self.place, why);
        }
        setup_error(&what, &self.place, why, "give JetStream enough storage, or lower the limits in bytes")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(version: &str, jetstream: bool) -> Result<(), String> {
        let info = ServerInfo { version: version.to_owned(), jetstream, ..ServerInfo::default() };
        check_server(&info, "10.0.0.1:4222").map_err(|error| error.to_string())
    }

    #[test]
    fn old_server_is_rejected_with_advice() {
        assert_eq!(
            checked("2.9.10", true),
            Err("cannot use the NATS server at 10.0.0.1:4222: it is version 2.9.10, but 2.10 or later is required; \
                 install a newer nats-server"
                .to_owned())
        );
        assert!(checked("unknown", true).is_err());
        for version in ["2.10.0", "2.15.1", "2.10.0-RC.1", "3.0.0"] {
            assert_eq!(checked(version, true), Ok(()), "{version}");
        }
        assert!(checked("2.15.1", false).unwrap_err().contains("without JetStream; start it with --jetstream"));
    }
}
