//! The program `robots-gui`.

mod args;

use std::process::ExitCode;

use cmdkit::{EXIT_FAILURE, Usage};
use robots_gui::Window;
use tokio::runtime;

use crate::args::Args;

/// The course's programs exit with 1 on wrong usage.
const USAGE: Usage = Usage { code: EXIT_FAILURE, example: "-c localhost:2023 -p 2024" };

fn main() -> ExitCode {
    cmdkit::run(USAGE, |args| program(&args))
}

fn program(args: &Args) -> anyhow::Result<ExitCode> {
    args.logs.start("warn", true)?;
    let client = args.client_address.resolve()?;
    let sockets = netshell::bind_udp(&args.bind, args.port).map_err(|taken| taken.naming("--port"))?;
    let follow = args.follow.clone().unwrap_or_default();
    let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let window = Window::new(sockets, client, follow)?.with_client_name(args.client_address.to_string());
        window.run().await.report();
        Ok(ExitCode::SUCCESS)
    })
}
