//! A separate thread writes standard output. While its reader stalls, senders wait, but signals are handled.

use std::{
    io::{self, Write},
    thread,
    time::Duration,
};

use serde_json::{Map, Value as Json};
use tokio::{
    sync::{mpsc, oneshot},
    time::timeout,
};

use crate::{
    json,
    report::Report,
    text::{self, TransportKind},
};

const WAITING: usize = 64;
const PATIENCE: Duration = Duration::from_secs(1);

/// As text, and as fields of a line of JSON. Either may be empty.
#[derive(Debug, Clone, Default)]
pub(crate) struct Source {
    pub(crate) words: String,
    pub(crate) fields: Map<String, Json>,
}

#[derive(Debug, Clone)]
pub(crate) struct Printer {
    json: bool,
    texts: mpsc::Sender<String>,
}

#[derive(Debug)]
pub(crate) struct Written(oneshot::Receiver<io::Result<()>>);

impl Printer {
    pub(crate) fn start(json: bool) -> (Self, Written) {
        let (texts, mut waiting) = mpsc::channel::<String>(WAITING);
        let (tell, written) = oneshot::channel();
        thread::spawn(move || {
            let mut stdout = io::stdout();
            let mut result = Ok(());
            while let Some(text) = waiting.blocking_recv() {
                result = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
                if result.is_err() {
                    break;
                }
            }
            let _ = tell.send(result);
        });
        (Self { json, texts }, Written(written))
    }

    /// Returns [`io::ErrorKind::BrokenPipe`] if writing has failed before; [`Written::finish`] returns the reason.
    pub(crate) async fn report(&self, report: &Report, source: &Source, transport: TransportKind) -> io::Result<()> {
        let text = if self.json {
            format!("{}\n", json::report(report, &source.fields, transport))
        } else {
            text::report(report, &source.words, transport)
        };
        self.write(text).await
    }

    /// Writes the source and `words`, or a JSON object with the fields of the source and `fields`.
    pub(crate) async fn print_note(&self, source: &Source, words: &str, fields: &[(&str, Json)]) -> io::Result<()> {
        let text = if self.json {
            let mut line = source.fields.clone();
            line.extend(fields.iter().map(|(key, value)| ((*key).to_owned(), value.clone())));
            format!("{}\n", Json::Object(line))
        } else {
            text::line(words, &source.words)
        };
        self.write(text).await
    }

    pub(crate) async fn broken(&self) {
        self.texts.closed().await;
    }

    async fn write(&self, text: String) -> io::Result<()> {
        self.texts.send(text).await.map_err(|_| io::ErrorKind::BrokenPipe.into())
    }
}

impl Written {
    /// Waits up to a second. Every [`Printer`] must have been dropped.
    pub(crate) async fn finish(self) -> io::Result<()> {
        match timeout(PATIENCE, self.0).await {
            Ok(Ok(result)) => result,
            // The reader has closed standard output.
            _ => Ok(()),
        }
    }
}
