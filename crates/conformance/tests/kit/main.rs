//! Tests of the kit. They mostly wait for programs, so they run in parallel in one executable.

mod class;
mod deviations;
mod documents;
mod examples;
mod program;
mod references;
mod report;
mod strangers;
mod support;
