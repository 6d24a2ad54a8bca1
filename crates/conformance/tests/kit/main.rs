//! Tests of the kit. They mostly wait for programs, so all of them are in one executable, where they run in parallel.

mod class;
mod deviations;
mod documents;
mod examples;
mod program;
mod references;
mod report;
mod strangers;
mod support;
