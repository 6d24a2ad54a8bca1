//! Tests of the kit. They wait for programs most of the time, so all of them are one program, in which they wait side by side.

mod class;
mod dealer;
mod documents;
mod examples;
mod nuggets_client;
mod nuggets_server;
mod player;
mod program;
mod references;
mod report;
mod robots_client;
mod robots_server;
mod strangers;
mod support;
