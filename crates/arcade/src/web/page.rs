//! The one page of the hub, with the lobby in it so that it can be shown at once. It is rendered and compressed once for all who ask until
//! the lobby changes.

use std::sync::{Arc, Mutex, PoisonError};

use axum::{
    http::{HeaderMap, header},
    response::{IntoResponse as _, Response},
};
use bytes::Bytes;
use flate2::Compression;
use netcore::HostId;

use super::assets::{self, gzip, takes_gzip};
use crate::hub::lobby::{Lists, Look, Looking};

/// The page as it was last rendered.
#[derive(Debug)]
pub(crate) struct Page {
    rooms_are_here: bool,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    lobby: Looking,
    made: Option<Made>,
}

#[derive(Debug, Clone)]
struct Made {
    // Of the frame that is in it.
    number: u64,
    plain: Bytes,
    compressed: Bytes,
}

impl Page {
    /// The page with the first rooms of this list, and whether native clients reach rooms from this machine only.
    pub(crate) fn of(lists: &Arc<Lists>, rooms_are_here: bool) -> Arc<Self> {
        let lobby = lists.look(HostId::Other, Look::default());
        Arc::new(Self { rooms_are_here, state: Mutex::new(State { lobby, made: None }) })
    }

    /// An answer with the page. `None` if the program was built without it.
    pub(crate) fn answer(&self, request: &HeaderMap) -> Option<Response> {
        self.answer_with(request, None)
    }

    /// The same with these elements in its head.
    pub(crate) fn answer_with(&self, request: &HeaderMap, head: Option<&str>) -> Option<Response> {
        let Made { mut plain, mut compressed, .. } = self.made()?;
        if let Some(head) = head {
            plain = String::from_utf8_lossy(&plain).replacen("</head>", &format!("{head}</head>"), 1).into();
            if takes_gzip(request) {
                compressed = gzip(&plain, Compression::fast());
            }
        }
        let headers = [
            (header::CONTENT_TYPE, "text/html; charset=utf-8"),
            (header::CACHE_CONTROL, "no-store"),
            (header::VARY, "accept-encoding"),
        ];
        Some(if takes_gzip(request) {
            (headers, [(header::CONTENT_ENCODING, "gzip")], compressed).into_response()
        } else {
            (headers, plain).into_response()
        })
    }

    // Rendering holds the lock: others who ask meanwhile would only render the same.
    fn made(&self) -> Option<Made> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let frame = Arc::clone(&state.lobby.frames.borrow());
        if let Some(made) = state.made.as_ref().filter(|made| made.number == frame.number) {
            return Some(made.clone());
        }
        let plain = Bytes::from(assets::page(&String::from_utf8_lossy(&frame.whole()), self.rooms_are_here)?);
        let compressed = gzip(&plain, Compression::fast());
        let made = Made { number: frame.number, plain, compressed };
        state.made = Some(made.clone());
        Some(made)
    }
}
