//! `sink`: the server side of `tcp://` targets.

use network::{ConnectionEnd, NetworkToken, Sink, SinkOptions};
use plan::TcpAddress;

use crate::args::SinkArgs;
use crate::failure::{CliError, Exit};
use crate::signals::stop_flag;
use crate::terminal::print;

/// Serves until Ctrl-C.
pub(crate) fn sink(args: &SinkArgs, on_second_interrupt: fn() -> !) -> Result<Exit, CliError> {
    let token = match &args.token_file {
        Some(path) => Some(NetworkToken::in_file(path)?),
        None => None,
    };
    let sink = Sink::listen(SinkOptions {
        listen: args.listen,
        token,
        connections_max: args.connections,
    })?;
    let stop = stop_flag(on_second_interrupt)?;
    // The kernel chooses the port if the user gave port 0.
    let address = sink.address()?;
    let target = TcpAddress {
        host: address.ip().to_string(),
        port: address.port(),
    };
    print(format!("{target}\n"))?;
    sink.run(&stop, &|peer, ended| {
        let why = match ended {
            ConnectionEnd::Closed => return,
            ConnectionEnd::Broken => "ended in the middle of a transaction",
            ConnectionEnd::Refused => "was refused: it is not pgmeter, or has another version",
            ConnectionEnd::Unproven => "was refused: it has another token",
        };
        tell!("connection of {peer} {why}");
    })?;
    Ok(Exit::Success)
}
