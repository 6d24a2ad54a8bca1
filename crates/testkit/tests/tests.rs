//! Tests of the helpers, and those that need nothing but them.
#![allow(clippy::unwrap_used, reason = "what helps a test fails as a test does")]

/// Every file of the fuzz corpus keeps the property of its target.
mod corpus;
/// A nuggets client, and the bot that plays at it.
mod explorer;
/// Whole games over every link.
mod games;
/// A host with transports that do what the test says.
mod host;
/// Nuggets clients and the server over a network that loses, doubles and reorders.
mod lossy;
/// Servers that are killed and go on with their journals.
mod simulation;
