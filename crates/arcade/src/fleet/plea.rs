//! What nodes ask each other when they do not reach the directory: see [`mesh::Plea`].

use std::{io, net::SocketAddr, time::Duration};

use axum::body::{Body, to_bytes};
use hyper::{Request, StatusCode, header};
use mesh::{Holder, Name, Plea, Promise, Revision};
use serde::{Deserialize, Serialize};
use tokio::time::timeout;
use tracing::debug;

use super::{
    dial::dial,
    seal::{self, RelayKey, Relayed},
};

/// Where a node takes them.
pub(crate) const PATH: &str = "/fleet/promise";
/// How long an answer is waited for.
const PATIENCE: Duration = Duration::from_millis(2_500);
/// Most bytes of an answer.
const MAX_ANSWER: usize = 1 << 10;

/// A plea in the query of a request.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Asked {
    to: Name,
    identity: Name,
    life: Revision,
    from: Name,
    since: Option<Revision>,
}

impl From<Asked> for Plea {
    fn from(Asked { to, identity, life, from, since }: Asked) -> Self {
        Self { to: Holder { node: to, identity, life }, from: (from, since) }
    }
}

/// An answer as JSON.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Answered {
    /// For so many milliseconds.
    Promised(u64),
    /// That life is over.
    Gone,
}

impl From<Promise> for Answered {
    fn from(promise: Promise) -> Self {
        match promise {
            Promise::For(time) => Self::Promised(u64::try_from(time.as_millis()).unwrap_or(0)),
            Promise::Gone => Self::Gone,
        }
    }
}

impl From<Answered> for Promise {
    fn from(answered: Answered) -> Self {
        match answered {
            Answered::Promised(millis) => Self::For(Duration::from_millis(millis)),
            Answered::Gone => Self::Gone,
        }
    }
}

/// What the node at an address answers; nothing if it cannot be asked.
pub(super) async fn ask(address: &str, key: &RelayKey, plea: &Plea) -> Option<Promise> {
    match timeout(PATIENCE, try_ask(address, key, plea)).await {
        Ok(Ok(promise)) => Some(promise),
        // Nobody listens at its address, so its process is gone.
        Ok(Err(error)) if is_refused(&error) => Some(Promise::Gone),
        Ok(Err(error)) => {
            debug!("the node {} does not answer: {error:#}", plea.to.node);
            None
        }
        Err(_) => None,
    }
}

fn is_refused(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::ConnectionRefused)
}

async fn try_ask(address: &str, key: &RelayKey, plea: &Plea) -> anyhow::Result<Promise> {
    let Plea { to: Holder { node, identity, life: Revision(life) }, from: (from, since) } = plea;
    let since = since.map_or_else(String::new, |Revision(since)| format!("&since={since}"));
    let path = format!("{PATH}?to={node}&identity={identity}&life={life}&from={from}{since}");
    let relayed = Relayed { client: SocketAddr::from(([0; 4], 0)), secure: false };
    let proof = key.seal(seal::now(), &seal::Request { method: "POST", path: &path, relayed });
    let request = Request::post(&path).header(header::HOST, address).header(seal::HEADER, proof).body(Body::empty())?;
    let answer = dial(address).await?.send_request(request).await?;
    anyhow::ensure!(answer.status() == StatusCode::OK, "it answers with {}", answer.status());
    let body = to_bytes(Body::new(answer.into_body()), MAX_ANSWER).await?;
    Ok(serde_json::from_slice::<Answered>(&body)?.into())
}
