//! The signal SIGHUP. It does not end a hub, but reloads the certificate.

use std::{io, sync::Arc};

use tokio::{
    signal::unix::{SignalKind, signal},
    task::block_in_place,
};
use tracing::{error, info};

use crate::web::tls::Tls;

/// Renews the certificate at each SIGHUP from now on.
pub(super) fn on_hang_up(tls: Option<Arc<Tls>>) -> io::Result<()> {
    let mut hang_ups = signal(SignalKind::hangup())?;
    tokio::spawn(async move {
        while hang_ups.recv().await.is_some() {
            match tls.as_deref().map(|tls| block_in_place(|| tls.renew())) {
                None => info!("SIGHUP reloads the certificate of --tls, but this hub has none"),
                Some(Ok(())) => {}
                Some(Err(error)) => error!("keeping the previous certificate: {error}"),
            }
        }
    });
    Ok(())
}
