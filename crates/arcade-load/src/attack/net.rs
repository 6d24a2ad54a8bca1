//! Connections and requests from a chosen address of this machine.

use std::{
    io::{self, ErrorKind},
    net::{Ipv4Addr, SocketAddr},
    time::Duration,
};

use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::{TcpSocket, TcpStream},
    time::timeout,
};

/// How long a connection or an answer may take.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);
/// The longest body and the longest head of an answer that are read.
const MAX_BODY: usize = 16 << 20;
const MAX_HEAD: usize = 16 << 10;

/// Connects from this address.
pub(crate) async fn connect(from: Ipv4Addr, to: SocketAddr) -> io::Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    // Else the ports of connections that ended a minute ago could not be used.
    socket.set_reuseaddr(true)?;
    socket.bind((from, 0).into())?;
    let stream = timeout(PATIENCE, socket.connect(to)).await??;
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// What went wrong, in a word for a table.
pub(crate) fn word(error: &io::Error) -> &'static str {
    match error.kind() {
        ErrorKind::ConnectionRefused => "refused",
        ErrorKind::ConnectionReset | ErrorKind::BrokenPipe | ErrorKind::ConnectionAborted => "reset",
        ErrorKind::UnexpectedEof => "closed",
        ErrorKind::TimedOut => "no answer",
        ErrorKind::AddrNotAvailable | ErrorKind::AddrInUse => "no port left here",
        _ => "other error",
    }
}

/// Reads until the connection ends; in what way, unless it is kept for this long.
pub(crate) async fn heard_out(stream: &mut TcpStream, at_most: Duration) -> &'static str {
    let mut heard = [0; 1024];
    let end = async {
        loop {
            match stream.read(&mut heard).await {
                Ok(0) => return "closed",
                Ok(_) => {}
                Err(error) => return word(&error),
            }
        }
    };
    timeout(at_most, end).await.unwrap_or("kept")
}

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
}

/// A client for requests, which keeps its connection.
#[derive(Debug)]
pub(crate) struct Http {
    from: Ipv4Addr,
    hub: SocketAddr,
    stream: Option<BufReader<TcpStream>>,
}

impl Http {
    pub(crate) const fn new(from: Ipv4Addr, hub: SocketAddr) -> Self {
        Self { from, hub, stream: None }
    }

    /// Gets a page.
    pub(crate) async fn get(&mut self, path: &str) -> io::Result<Answer> {
        self.request("GET", path, "", "").await
    }

    /// Posts JSON.
    pub(crate) async fn post(&mut self, path: &str, body: &str) -> io::Result<Answer> {
        self.request("POST", path, "", body).await
    }

    /// Makes a request with these headers, each line ended by CR LF. A `Host` among them replaces the usual one.
    pub(crate) async fn request(&mut self, method: &str, path: &str, headers: &str, body: &str) -> io::Result<Answer> {
        let host = if headers.starts_with("Host: ") { String::new() } else { format!("Host: {}\r\n", self.hub) };
        let kind = if body.is_empty() { "" } else { "Content-Type: application/json\r\n" };
        let length = body.len();
        let text = format!("{method} {path} HTTP/1.1\r\n{host}{headers}{kind}Content-Length: {length}\r\n\r\n{body}");
        let kept = self.stream.is_some();
        match timeout(PATIENCE, self.exchange(&text)).await? {
            // The hub may have closed the connection since the last answer, which is its right.
            Err(error) if kept && word(&error) != "other error" => timeout(PATIENCE, self.exchange(&text)).await?,
            done => done,
        }
    }

    async fn exchange(&mut self, request: &str) -> io::Result<Answer> {
        let mut stream = match self.stream.take() {
            Some(stream) => stream,
            None => BufReader::new(connect(self.from, self.hub).await?),
        };
        stream.write_all(request.as_bytes()).await?;
        let (answer, stays) = read(&mut stream).await?;
        if stays {
            self.stream = Some(stream);
        }
        Ok(answer)
    }
}

// Reads an answer, and whether the connection stays open.
async fn read(stream: &mut BufReader<TcpStream>) -> io::Result<(Answer, bool)> {
    let invalid = || io::Error::from(ErrorKind::InvalidData);
    let (mut status, mut length, mut chunked, mut stays, mut first) = (0, 0_usize, false, true, true);
    let mut read = 0;
    loop {
        let line = line(stream).await?;
        read += line.len();
        if read > MAX_HEAD {
            return Err(invalid());
        }
        if line.is_empty() {
            break;
        }
        if first {
            status = line.split(' ').nth(1).and_then(|code| code.parse().ok()).ok_or_else(invalid)?;
            first = false;
            continue;
        }
        let (name, value) = line.split_once(':').ok_or_else(invalid)?;
        match (&*name.to_ascii_lowercase(), value.trim()) {
            ("content-length", value) => length = value.parse().map_err(|_| invalid())?,
            ("transfer-encoding", "chunked") => chunked = true,
            ("connection", "close") => stays = false,
            _ => {}
        }
    }
    let mut body = vec![];
    if !chunked {
        piece(stream, length, &mut body).await?;
        return Ok((Answer { status, body }, stays));
    }
    loop {
        let size = usize::from_str_radix(&line(stream).await?, 16).map_err(|_| invalid())?;
        piece(stream, size, &mut body).await?;
        line(stream).await?;
        if size == 0 {
            return Ok((Answer { status, body }, stays));
        }
    }
}

async fn line(stream: &mut BufReader<TcpStream>) -> io::Result<String> {
    let mut line = String::new();
    let limit = u64::try_from(MAX_HEAD).unwrap_or(u64::MAX);
    if stream.take(limit).read_line(&mut line).await? == 0 {
        return Err(ErrorKind::UnexpectedEof.into());
    }
    Ok(line.trim_end().to_owned())
}

async fn piece(stream: &mut BufReader<TcpStream>, size: usize, body: &mut Vec<u8>) -> io::Result<()> {
    let before = body.len();
    if before + size > MAX_BODY {
        return Err(ErrorKind::InvalidData.into());
    }
    body.resize(before + size, 0);
    stream.read_exact(&mut body[before..]).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::net::TcpListener;

    #[tokio::test(flavor = "current_thread")]
    async fn answers_of_both_forms_are_read_from_one_connection_and_then_from_another() -> anyhow::Result<()> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let hub = listener.local_addr()?;
        let server = tokio::spawn(async move {
            let (mut first, peer) = listener.accept().await?;
            let mut heard = vec![0; 1024];
            for answer in [
                "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi",
                "HTTP/1.1 404 Not Found\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\nA\r\n0123456789\r\n0\r\n\r\n",
            ] {
                let _ = first.read(&mut heard).await?;
                first.write_all(answer.as_bytes()).await?;
            }
            drop(first);
            let (mut second, _) = listener.accept().await?;
            let count = second.read(&mut heard).await?;
            second
                .write_all(b"HTTP/1.1 429 Too Many Requests\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
                .await?;
            heard.truncate(count);
            io::Result::Ok((peer, heard))
        });
        let mut http = Http::new(Ipv4Addr::new(127, 0, 0, 7), hub);
        let hi = http.get("/").await?;
        assert_eq!((hi.status, &hi.body[..]), (200, &b"hi"[..]));
        let missing = http.get("/x").await?;
        assert_eq!((missing.status, &missing.body[..]), (404, &b"abc0123456789"[..]));
        assert_eq!(http.request("POST", "/y", "Host: evil.example\r\n", "{}").await?.status, 429);
        let (peer, heard) = server.await??;
        assert_eq!(peer.ip().to_string(), "127.0.0.7");
        let heard = String::from_utf8(heard)?;
        assert!(heard.starts_with("POST /y HTTP/1.1\r\nHost: evil.example\r\nContent-Type: "), "{heard}");
        assert!(heard.ends_with("Content-Length: 2\r\n\r\n{}"), "{heard}");
        Ok(())
    }
}
