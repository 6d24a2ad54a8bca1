//! Finds problems that keep a hub from working on this machine, and suggests remedies.

mod clock;
mod machine;
mod network;

use std::{io::Write as _, process::ExitCode, time::SystemTime};

use cmdkit::{EXIT_FAILURE, become_owner, printable_json, printable_lines};
use humantime::format_rfc3339_seconds;
use netshell::raise_open_files;
use serde_json::json;
use store::Store;

use self::clock::Clocks;
use super::data::RESULTS;
use crate::{
    args::Args,
    fleet,
    operator::{commands::send, wire::Request},
    web::tls::Certificate,
};

/// Days before its end at which a certificate should be renewed.
const RENEWAL: u64 = 14;

/// The exit code is 1 if a problem was found.
pub(crate) fn examine(args: &Args, as_json: bool) -> anyhow::Result<ExitCode> {
    let clocks = Clocks::start();
    let (bind, for_rooms) = (args.page_addresses(), args.room_addresses());
    // Checked as root, because the service unit allows the hub ports that its user may not bind.
    let page = network::page(args.port, &bind);
    become_owner(&args.data)?;
    let running = send(&args.data, &Request::Status).ok();
    let held = running.as_ref().and_then(|status| status["ports"].as_u64()).unwrap_or_default();
    let (database, ahead) = match database(args) {
        Ok((text, ahead)) => (Ok(text), ahead),
        Err(text) => (Err(text), None),
    };
    // Each check, with its state or the remedy.
    let findings = [
        ("data", machine::data(&args.data)),
        ("disk", machine::disk(&args.data)),
        ("files", machine::files(raise_open_files())),
        ("database", database),
        ("broker", broker(args)),
        (
            "page",
            match running {
                Some(status) => network::running(status["port"].as_u64(), &bind),
                None => page,
            },
        ),
        ("tls", tls(args)),
        ("ports", network::ports(args.ports.clone(), &for_rooms, held)),
        // Last, so that the clocks have time to diverge.
        ("clock", clocks.examine(&args.data, ahead)),
    ];
    let well = findings.iter().all(|(_, verdict)| verdict.is_ok());
    let mut out = std::io::stdout().lock();
    if as_json {
        let findings = findings.iter().map(|(what, verdict)| {
            let (Ok(text) | Err(text)) = verdict;
            json!({ "what": what, "ok": verdict.is_ok(), "text": text })
        });
        let report = json!({ "ok": well, "findings": findings.collect::<Vec<_>>() }).to_string();
        writeln!(out, "{}", printable_json(&report))?;
    } else {
        for (what, verdict) in &findings {
            match verdict {
                Ok(text) => writeln!(out, "ok    {what:<8} {}", printable_lines(text))?,
                Err(text) => writeln!(out, "TO DO {what:<8} {}", printable_lines(text))?,
            }
        }
    }
    out.flush()?;
    Ok(if well { ExitCode::SUCCESS } else { ExitCode::from(EXIT_FAILURE) })
}

// Also returns the lead of the server's clock, in milliseconds.
fn database(args: &Args) -> Result<(String, Option<i64>), String> {
    let file = args.data.join(RESULTS);
    let (store, place) = match &args.database {
        // The address may contain a password.
        Some(address) => (Store::server(address), "the PostgreSQL server".to_owned()),
        None if !file.exists() => return Ok((format!("'{}' will be created", file.display()), None)),
        None => (Store::file(&file), format!("'{}'", file.display())),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| format!("the system provides no timers ({error})"))?;
    runtime.block_on(async {
        let store = store.map_err(|error| error.to_string())?;
        let say = |error| format!("{:#}", anyhow::Error::from(error));
        let tables =
            if store.probe().await.map_err(say)? { "has the tables of results" } else { "will get its tables" };
        let ahead = store.examine().await.map_err(say)?;
        Ok((format!("{place} responds, is writable, and {tables}"), ahead))
    })
}

fn broker(args: &Args) -> Result<String, String> {
    if args.nats.is_empty() {
        return Ok("this hub is the only one; --nats makes it one of several".into());
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| format!("the system provides no timers ({error})"))?;
    runtime.block_on(fleet::examine(args.nats.clone(), args.arcade.clone())).map_err(|error| error.to_string())
}

fn tls(args: &Args) -> Result<String, String> {
    let Some(files) = args.certificate() else {
        return Ok("the page has no TLS; on the internet, set a certificate with --tls or use a reverse proxy".into());
    };
    let certificate = Certificate::read(&files).map_err(|error| error.to_string())?;
    let now = SystemTime::now();
    let flaws: Vec<_> = certificate.flaws(now, &args.tls_names()).iter().map(ToString::to_string).collect();
    if !flaws.is_empty() {
        return Err(flaws.join("; "));
    }
    let Some(ends) = certificate.ends() else { return Ok("the certificate is valid".into()) };
    let days = ends.duration_since(now).unwrap_or_default().as_secs() / 86_400;
    let date = format_rfc3339_seconds(ends);
    if days < RENEWAL {
        return Err(format!("the certificate ends in {days} days, on {date}; renew it, then send the hub SIGHUP"));
    }
    let whose = match args.tls_names().as_slice() {
        [] => "no --public-url sets the required names".to_owned(),
        names => format!("it is for {}", names.join(", ")),
    };
    Ok(format!("the certificate and its key belong together, {whose}, and it ends in {days} days, on {date}"))
}
