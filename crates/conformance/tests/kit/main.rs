//! Tests of the kit. They wait for programs most of the time, so all of them are one program, in which they wait side by side.

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
