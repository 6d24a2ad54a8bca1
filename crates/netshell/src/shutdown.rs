use std::io;

/// Waits for one of the signals in [`sigkit::ending`], or for Ctrl-C on systems without signals.
#[cfg(unix)]
pub fn shutdown() -> io::Result<impl Future<Output = ()>> {
    any_of(sigkit::ending())
}

/// Like `shutdown`, for a program that SIGHUP does not end.
#[cfg(unix)]
pub fn request_to_end() -> io::Result<impl Future<Output = ()>> {
    any_of(sigkit::REQUESTS.into_iter())
}

#[cfg(unix)]
fn any_of(signals: impl Iterator<Item = i32>) -> io::Result<impl Future<Output = ()>> {
    use std::{future::poll_fn, task::Poll};

    use tokio::signal::unix::{SignalKind, signal};

    // Registered here and not at the first poll, because a signal in between would kill the process.
    let mut signals = signals.map(|number| signal(SignalKind::from_raw(number))).collect::<io::Result<Vec<_>>>()?;
    Ok(poll_fn(move |context| {
        if signals.iter_mut().any(|signal| signal.poll_recv(context).is_ready()) {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }))
}

/// Waits for Ctrl-C.
#[cfg(not(unix))]
pub fn shutdown() -> io::Result<impl Future<Output = ()>> {
    Ok(async {
        let _ = tokio::signal::ctrl_c().await;
    })
}

/// Like `shutdown`.
#[cfg(not(unix))]
pub fn request_to_end() -> io::Result<impl Future<Output = ()>> {
    shutdown()
}
