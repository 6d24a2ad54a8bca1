//! Transfers a file of unknown length over the command socket: chunks, an empty chunk, and a line with the outcome and
//! the digest, to detect an incomplete file.

use std::io::{self, BufRead, Write};

use anyhow::{Context as _, bail};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::wire::Reply;

/// In bytes.
const CHUNK: usize = 64 << 10;
/// In bytes, of the final line.
const MAX_END: u64 = 64 << 10;

pub(crate) struct Sender<W: Write> {
    out: W,
    chunk: Vec<u8>,
    digest: Sha256,
}

impl<W: Write> Sender<W> {
    pub(crate) fn new(out: W) -> Self {
        Self { out, chunk: Vec::with_capacity(CHUNK), digest: Sha256::new() }
    }

    fn send(&mut self) -> io::Result<()> {
        // A chunk has at most [`CHUNK`] bytes.
        let length = u32::try_from(self.chunk.len()).unwrap_or(u32::MAX);
        self.out.write_all(&length.to_be_bytes())?;
        self.out.write_all(&self.chunk)?;
        self.digest.update(&self.chunk);
        self.chunk.clear();
        Ok(())
    }

    /// Sends the rest and the outcome: a description of the complete file, or the error.
    pub(crate) fn finish(mut self, end: anyhow::Result<Value>) -> anyhow::Result<()> {
        if !self.chunk.is_empty() {
            self.send()?;
        }
        self.send()?;
        let sha256 = format!("{:x}", self.digest.finalize());
        let reply = match end {
            Ok(about) => Reply::Done(json!({ "sha256": sha256, "about": about })),
            Err(error) => Reply::Error(format!("{error:#}")),
        };
        let mut text = serde_json::to_string(&reply)?;
        text.push('\n');
        self.out.write_all(text.as_bytes())?;
        Ok(self.out.flush()?)
    }
}

impl<W: Write> Write for Sender<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(CHUNK - self.chunk.len());
        self.chunk.extend_from_slice(&bytes[..taken]);
        if self.chunk.len() == CHUNK {
            self.send()?;
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Returns the sender's description. Fails if the file is incomplete or cannot be written.
pub(crate) fn receive(mut input: impl BufRead, mut out: impl Write) -> anyhow::Result<Value> {
    let (mut digest, mut chunk) = (Sha256::new(), vec![0; CHUNK]);
    let cut_off = "the hub ended before the transfer was complete";
    loop {
        let mut length = [0; 4];
        input.read_exact(&mut length).context(cut_off)?;
        let length = u32::from_be_bytes(length) as usize;
        let Some(chunk) = chunk.get_mut(..length) else {
            bail!("unexpected reply of the hub; is it of the same version?");
        };
        if chunk.is_empty() {
            break;
        }
        input.read_exact(chunk).context(cut_off)?;
        digest.update(&*chunk);
        out.write_all(chunk)?;
    }
    let mut end = String::new();
    input.take(MAX_END).read_line(&mut end).context(cut_off)?;
    let about = match serde_json::from_str(&end).context(cut_off)? {
        Reply::Done(about) => about,
        Reply::Error(why) => bail!(why),
    };
    if about["sha256"] != format!("{:x}", digest.finalize()) {
        bail!("the transfer was corrupted; try again");
    }
    Ok(about["about"].clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(content: &[u8], end: anyhow::Result<Value>) -> Vec<u8> {
        let mut wire = vec![];
        let mut sender = Sender::new(&mut wire);
        sender.write_all(content).unwrap();
        sender.finish(end).unwrap();
        wire
    }

    #[test]
    fn transfer_delivers_the_complete_file() {
        for length in [0, 1, CHUNK - 1, CHUNK, 3 * CHUNK + 7] {
            let content: Vec<u8> = (0..length).map(|number| number.to_le_bytes()[0]).collect();
            let wire = sent(&content, Ok(json!(length)));
            let mut out = vec![];
            assert_eq!(receive(&wire[..], &mut out).unwrap(), json!(length));
            assert!(out == content);
            for cut in [0, 3, wire.len() / 2, wire.len() - 2] {
                let error = receive(&wire[..cut], io::sink()).unwrap_err();
                assert!(error.to_string().contains("ended before"), "{cut}: {error}");
            }
        }
        let mut changed = sent(b"content", Ok(Value::Null));
        changed[5] ^= 1;
        assert!(receive(&changed[..], io::sink()).unwrap_err().to_string().contains("the transfer was corrupted"));
    }

    #[test]
    fn failure_during_a_transfer_is_reported() {
        let wire = sent(b"half", Err(anyhow::anyhow!("the disk fails")));
        assert_eq!(receive(&wire[..], io::sink()).unwrap_err().to_string(), "the disk fails");
        let error = receive(&b"{\"error\":\"?\"}\n"[..], io::sink()).unwrap_err();
        assert!(error.to_string().contains("same version"), "{error}");
    }
}
