pub(crate) mod client;
mod context;
mod draws;
pub(crate) mod server;
mod show;
