//! Reports the state of the hub to the SDK server of Agones in its pod. It uses REST, since gRPC would need a code
//! generator for four calls: <https://agones.dev/site/docs/guides/client-sdks/rest/>.

use std::{env, fmt, sync::Arc, time::Duration};

use anyhow::{Context as _, bail};
use axum::body::Body;
use hyper::{Method, Request, StatusCode, client::conn::http1, header};
use hyper_util::rt::TokioIo;
use tokio::{net::TcpStream, sync::oneshot, task::JoinHandle, time};
use tracing::{info, warn};

use crate::hub::Hub;

/// Set by Agones.
const PORT: &str = "AGONES_SDK_HTTP_PORT";
const USUAL_PORT: u16 = 9358;
/// By default Agones considers the hub dead after three periods of five seconds without a report.
const HEALTHY_EVERY: Duration = Duration::from_secs(2);
const PATIENCE: Duration = Duration::from_secs(2);
const COUNTER: &str = "rooms";

#[derive(Debug, Clone, Copy)]
pub(super) struct Sdk {
    port: u16,
}

#[derive(Debug, PartialEq, Eq)]
enum Message {
    Ready,
    Health,
    Rooms(usize),
    Shutdown,
}

impl Message {
    // Numbers are strings in this interface.
    fn request(&self) -> (Method, String, String) {
        let post = |path: &str| (Method::POST, path.to_owned(), "{}".to_owned());
        match self {
            Self::Ready => post("/ready"),
            Self::Health => post("/health"),
            Self::Shutdown => post("/shutdown"),
            Self::Rooms(rooms) => {
                (Method::PATCH, format!("/v1beta1/counters/{COUNTER}"), format!(r#"{{"count":"{rooms}"}}"#))
            }
        }
    }
}

#[derive(Debug)]
struct BadStatus(StatusCode);

impl fmt::Display for BadStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "it responded with {}", self.0)
    }
}

impl std::error::Error for BadStatus {}

impl Sdk {
    pub(super) fn from_env() -> anyhow::Result<Self> {
        let Some(port) = env::var_os(PORT) else { return Ok(Self { port: USUAL_PORT }) };
        let parsed = port.to_str().and_then(|port| port.parse().ok()).filter(|port| *port > 0);
        let port =
            parsed.with_context(|| format!("invalid {PORT} '{}': expected a port from 1 to 65535", port.display()))?;
        Ok(Self { port })
    }

    async fn send(self, message: &Message) -> anyhow::Result<()> {
        match time::timeout(PATIENCE, self.exchange(message)).await {
            Ok(sent) => sent,
            Err(_) => bail!("it does not respond within {} s", PATIENCE.as_secs()),
        }
    }

    async fn exchange(self, message: &Message) -> anyhow::Result<()> {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).await?;
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        let connection = tokio::spawn(connection);
        let (method, path, body) = message.request();
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header(header::HOST, format!("localhost:{}", self.port))
            .header(header::CONTENT_TYPE, "application/json")
            .body(Body::from(body))?;
        let answer = sender.send_request(request).await;
        connection.abort();
        match answer?.status() {
            StatusCode::OK => Ok(()),
            status => Err(BadStatus(status).into()),
        }
    }
}

pub(super) struct Reporter {
    end: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

/// Reports readiness once, then regularly the health and the number of rooms.
pub(super) fn start(sdk: Sdk, hub: Arc<Hub>) -> Reporter {
    let (end, ended) = oneshot::channel();
    let task = tokio::spawn(async move {
        let mut news = News::default();
        let reporting = async {
            loop {
                news.send(sdk, &hub).await;
                time::sleep(HEALTHY_EVERY).await;
            }
        };
        tokio::select! {
            () = reporting => {}
            _ = ended => {}
        }
        if let Err(error) = sdk.send(&Message::Shutdown).await {
            warn!("cannot report to Agones that the hub ends: {error:#}");
        }
    });
    Reporter { end, task }
}

impl Reporter {
    pub(super) async fn shut_down(self) {
        let _ = self.end.send(());
        let _ = self.task.await;
    }
}

#[derive(Debug, Default)]
struct News {
    is_ready: bool,
    is_away: bool,
    rooms: Option<usize>,
    has_no_counter: bool,
}

impl News {
    // The server may start after the hub, so each message is repeated until it is answered.
    async fn send(&mut self, sdk: Sdk, hub: &Hub) {
        match self.try_report(sdk, hub).await {
            Ok(()) if self.is_away => {
                self.is_away = false;
                info!("Agones responds again");
            }
            Err(error) if !self.is_away => {
                self.is_away = true;
                warn!("the SDK server of Agones at 127.0.0.1:{}: {error:#}; the hub continues and retries", sdk.port);
            }
            Ok(()) | Err(_) => {}
        }
    }

    async fn try_report(&mut self, sdk: Sdk, hub: &Hub) -> anyhow::Result<()> {
        if !self.is_ready {
            sdk.send(&Message::Ready).await?;
            self.is_ready = true;
            info!("reported to Agones that the hub is ready");
        }
        sdk.send(&Message::Health).await?;
        let rooms = hub.rooms.all().len();
        if self.has_no_counter || self.rooms == Some(rooms) {
            return Ok(());
        }
        match sdk.send(&Message::Rooms(rooms)).await {
            Err(error)
                if error.downcast_ref::<BadStatus>().is_some_and(|refused| refused.0 == StatusCode::NOT_FOUND) =>
            {
                self.has_no_counter = true;
                warn!("Agones has no counter '{COUNTER}' for this hub; its fleet must list it under 'counters'");
            }
            sent => {
                sent?;
                self.rooms = Some(rooms);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_have_the_form_of_the_interface() {
        let text = |message: Message| {
            let (method, path, body) = message.request();
            format!("{method} {path} {body}")
        };
        assert_eq!(text(Message::Ready), "POST /ready {}");
        assert_eq!(text(Message::Health), "POST /health {}");
        assert_eq!(text(Message::Shutdown), "POST /shutdown {}");
        assert_eq!(text(Message::Rooms(12)), r#"PATCH /v1beta1/counters/rooms {"count":"12"}"#);
    }
}
