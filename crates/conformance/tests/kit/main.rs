//! Tests of the kit. They mostly wait for programs, so all of them are in one executable, where they run in parallel.

mod cards;
mod class;
mod documents;
mod examples;
mod mastermind;
mod nuggets;
mod program;
mod references;
mod report;
mod robots;
mod strangers;
mod support;
