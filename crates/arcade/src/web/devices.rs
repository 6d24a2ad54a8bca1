//! Codes that move a name to another device, replacement of keys, and the release of names.

use std::sync::Arc;

use axum::{
    Json, Router,
    extract::State,
    http::{Extensions, HeaderMap, StatusCode},
    response::{IntoResponse as _, Response},
    routing::post,
};
use serde::Deserialize;
use serde_json::json;
use store::{MAX_KEYS, RedeemOutcome, ReplaceOutcome, Store, unix_now};

use super::{
    api::{Answer, ApiError, JsonBody, query_store},
    caller::{self, Caller},
    names::{KeyHash, too_many_names},
    response::too_many,
};
use crate::{
    hub::{
        self, Hub,
        codes::{self, AttemptResult, LINK_LIVES, Purpose},
    },
    message::{Message, message},
};

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

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct NameProof {
    name: String,
    key: String,
}

pub(super) fn not_owner() -> ApiError {
    ApiError::Wrong(StatusCode::FORBIDDEN, message!("wrong_key", "this key does not own this name"))
}

async fn link(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    extensions: Extensions,
    headers: HeaderMap,
    JsonBody(NameProof { name, key }): JsonBody<NameProof>,
) -> Answer {
    let key = hash(&key, "key")?;
    let code = codes::draw()
        .map_err(|error| ApiError::Later(Message::new("no_random", format!("no code can be drawn: {error:#}"))))?;
    let code_hash = codes::hash(&code).ok_or_else(|| ApiError::Later(message!("no_random", "no code can be drawn")))?;
    let expires = unix_now() + u64::try_from(LINK_LIVES.as_millis()).unwrap_or(u64::MAX);
    let issued = async move |store: Store| Ok(store.issue_code(&name, &key.0, &code_hash, expires).await?);
    if !query_store(&hub, caller, issued).await? {
        return Err(not_owner());
    }
    // Drawn here: the address of a picture would contain the code, and proxies log addresses.
    let url = caller::public_url(&hub, &extensions, &headers, &format!("/#name={code}"));
    let qr = url.as_deref().and_then(hub::address::picture);
    let seconds = LINK_LIVES.as_secs();
    Ok(Json(json!({ "code": code, "seconds": seconds, "url": url, "qr": qr })).into_response())
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Redeem {
    code: String,
    key: String,
}

async fn redeem(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    JsonBody(Redeem { code, key }): JsonBody<Redeem>,
) -> Answer<Response> {
    let key = hash(&key, "key")?;
    let found = async {
        let code = codes::hash(&code)?;
        let redeemed = query_store(&hub, caller, async move |store: Store| {
            Ok(store.redeem_code(&code, &key.0, unix_now()).await?)
        })
        .await;
        (!matches!(redeemed, Ok(RedeemOutcome::Unknown))).then_some(redeemed)
    };
    let redeemed = match hub.look_up(caller.host(), Purpose::DeviceCode, || false, found).await {
        AttemptResult::Right(redeemed) => redeemed?,
        AttemptResult::Wrong => RedeemOutcome::Unknown,
        AttemptResult::TooMany(wait) => return Ok(too_many(wait)),
    };
    match redeemed {
        RedeemOutcome::Name(name) => Ok(Json(json!({ "name": name })).into_response()),
        RedeemOutcome::Unknown => Err(ApiError::missing(message!(
            "unknown_device_code",
            "no name has this code; a code is valid once, for ten minutes"
        ))),
        RedeemOutcome::TooManyKeys => Err(ApiError::conflict(message!(
            "too_many_devices",
            "this name is on {count} devices already; give it a new key first",
            count = MAX_KEYS
        ))),
        RedeemOutcome::TooManyNames => Err(ApiError::conflict(too_many_names())),
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Replace {
    name: String,
    key: String,
    new: String,
}

async fn replace(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    JsonBody(Replace { name, key, new }): JsonBody<Replace>,
) -> Answer {
    let (key, new) = (hash(&key, "key")?, hash(&new, "new")?);
    let of = name.clone();
    let replaced = async move |store: Store| Ok(store.replace_keys(&of, &key.0, &new.0, unix_now()).await?);
    match query_store(&hub, caller, replaced).await? {
        ReplaceOutcome::Done => {
            revoke_proofs(&hub, name);
            Ok(StatusCode::NO_CONTENT.into_response())
        }
        ReplaceOutcome::NotOwner => Err(not_owner()),
        ReplaceOutcome::TooManyNames => Err(ApiError::conflict(too_many_names())),
    }
}

async fn release(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    JsonBody(NameProof { name, key }): JsonBody<NameProof>,
) -> Answer {
    let key = hash(&key, "key")?;
    let of = name.clone();
    if !query_store(&hub, caller, async move |store: Store| Ok(store.release_name(&of, &key.0, unix_now()).await?))
        .await?
    {
        return Err(not_owner());
    }
    revoke_proofs(&hub, name);
    Ok(StatusCode::NO_CONTENT.into_response())
}

// Revokes proofs of seats and programs by keys that lost this name.
pub(super) fn revoke_proofs(hub: &Hub, name: String) {
    hub.revoke_names(&[name]);
}
