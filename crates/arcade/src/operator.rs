mod agones;
#[cfg(unix)]
mod backup;
#[cfg(unix)]
pub(crate) mod commands;
#[cfg(unix)]
mod control;
mod data;
#[cfg(unix)]
pub(crate) mod doctor;
#[cfg(unix)]
mod drain;
pub(crate) mod host;
#[cfg(unix)]
pub(crate) mod ladder;
#[cfg(unix)]
pub(crate) mod replay;
#[cfg(unix)]
mod reports;
#[cfg(unix)]
pub(crate) mod restore;
#[cfg(unix)]
pub(crate) mod results;
#[cfg(unix)]
mod transfer;
#[cfg(unix)]
mod wire;
