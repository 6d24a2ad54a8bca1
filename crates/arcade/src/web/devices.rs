//! Names on other devices: a code takes a name there, another key takes the place of all, and a name is given up.

use std::sync::Arc;

use axum::{
    Json, Router,
    extract::{State, rejection::JsonRejection},
    http::{Extensions, HeaderMap, StatusCode},
    response::{IntoResponse as _, Response},
    routing::post,
};
use serde::Deserialize;
use serde_json::json;
use store::{Added, MAX_KEYS, MAX_NAMES, Store};

use super::{
    address,
    api::{Answer, ApiError, ask},
    caller::Caller,
    join::too_many,
    names::KeyHash,
};
use crate::{
    hub::{self, Hub, links::LINK_LIVES, tries::Tried},
    results::clock::unix_now,
};

/// The routes.
pub(super) fn routes() -> Router<Arc<Hub>> {
    Router::new()
        .route("/api/names/link", post(link))
        .route("/api/names/redeem", post(redeem))
        .route("/api/names/key", post(replace))
        .route("/api/names/release", post(release))
}

fn hash(key: &str, what: &str) -> Answer<KeyHash> {
    KeyHash::of(key).ok_or_else(|| ApiError::bad(format!("'{what}' is 32 random bytes in base64url without padding")))
}

/// A name, and the key that proves it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Own {
    name: String,
    key: String,
}

// Whether the key proves the name.
async fn check(store: &Store, name: &str, key: KeyHash) -> Answer<()> {
    if store.names_of(&key.0).await?.iter().any(|own| own == name) {
        return Ok(());
    }
    Err(ApiError::Wrong(StatusCode::FORBIDDEN, "this key does not prove this name".into()))
}

async fn link(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    extensions: Extensions,
    headers: HeaderMap,
    body: Result<Json<Own>, JsonRejection>,
) -> Answer {
    let Json(Own { name, key }) = body?;
    let key = hash(&key, "key")?;
    let of = name.clone();
    ask(&hub, caller, async move |store: Store| check(&store, &of, key).await).await?;
    let code = hub.links.draw(caller.host(), &name)?;
    let code = code.map_err(|error| ApiError::Later(format!("no code can be made just now: {error:#}")))?;
    // Drawn here, since the address of a picture would have the code in it, and proxies write addresses to their logs.
    let url = address::shown(&hub, &extensions, &headers, &format!("/#name={code}"));
    let qr = url.as_deref().and_then(hub::address::picture);
    let seconds = LINK_LIVES.as_secs();
    Ok(Json(json!({ "code": code, "seconds": seconds, "url": url, "qr": qr })).into_response())
}

/// A code, and the key of the device to which the name goes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Redeem {
    code: String,
    key: String,
}

async fn redeem(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    body: Result<Json<Redeem>, JsonRejection>,
) -> Answer<Response> {
    let Json(Redeem { code, key }) = body?;
    let key = hash(&key, "key")?;
    let name = match hub.tries.attempt(caller.host(), || hub.links.redeem(&code)) {
        Tried::Right(name) => name,
        Tried::Wrong => {
            return Err(ApiError::missing("no name has this code; it is valid once, and for ten minutes"));
        }
        Tried::TooMany(wait) => return Ok(too_many(wait)),
    };
    let of = name.clone();
    let added = ask(&hub, caller, async move |store: Store| Ok(store.add_key(&of, &key.0, unix_now()).await?)).await?;
    let conflict = |text: String| Err(ApiError::Wrong(StatusCode::CONFLICT, text));
    match added {
        Added::Own => Ok(Json(json!({ "name": name })).into_response()),
        Added::TooManyKeys => conflict(format!("this name is on {MAX_KEYS} devices already; give it a new key first")),
        Added::TooManyNames => conflict(format!("you have {MAX_NAMES} names already; use one of them")),
        Added::Gone => conflict("this name was given up meanwhile; you can claim it".into()),
    }
}

/// A name, the key that proves it, and the one that is to prove it alone.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Replace {
    name: String,
    key: String,
    new: String,
}

async fn replace(State(hub): State<Arc<Hub>>, caller: Caller, body: Result<Json<Replace>, JsonRejection>) -> Answer {
    let Json(Replace { name, key, new }) = body?;
    let (key, new) = (hash(&key, "key")?, hash(&new, "new")?);
    let of = name.clone();
    let asked = async move |store: Store| {
        check(&store, &of, key).await?;
        let names = store.names_of(&new.0).await?;
        if names.len() as u64 >= MAX_NAMES.unsigned_abs() && !names.contains(&of) {
            let text = format!("the new key has {MAX_NAMES} names already");
            return Err(ApiError::Wrong(StatusCode::CONFLICT, text));
        }
        Ok(store.replace_keys(&of, &new.0).await?)
    };
    ask(&hub, caller, asked).await?;
    forget(&hub, name);
    Ok(StatusCode::NO_CONTENT.into_response())
}

async fn release(State(hub): State<Arc<Hub>>, caller: Caller, body: Result<Json<Own>, JsonRejection>) -> Answer {
    let Json(Own { name, key }) = body?;
    let key = hash(&key, "key")?;
    let of = name.clone();
    let asked = async move |store: Store| {
        check(&store, &of, key).await?;
        Ok(store.release_name(&of).await?)
    };
    ask(&hub, caller, asked).await?;
    forget(&hub, name);
    Ok(StatusCode::NO_CONTENT.into_response())
}

// Seats that were taken with a key that does not prove the name any more.
pub(super) fn forget(hub: &Hub, name: String) {
    let names = [name];
    hub.rooms.all().iter().for_each(|room| room.known.forget(&names));
}
