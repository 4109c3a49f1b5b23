//! `sink`: the far end of `tcp://` targets.

use network::{Ended, Sink, SinkOptions, Token};
use plan::TcpAddress;

use crate::args::SinkArgs;
use crate::failure::{Exit, Failure};
use crate::signals::stop_flag;
use crate::terminal::print;

/// Serves until Ctrl-C.
pub(crate) fn sink(args: &SinkArgs, at_once: fn() -> !) -> Result<Exit, Failure> {
    let token = match &args.token_file {
        Some(path) => Some(Token::in_file(path)?),
        None => None,
    };
    let sink = Sink::listen(SinkOptions {
        listen: args.listen,
        token,
        connections_max: args.connections,
    })?;
    let stop = stop_flag(at_once)?;
    let address = sink.address()?;
    let target = TcpAddress {
        host: address.ip().to_string(),
        port: address.port(),
    };
    print(format!("{target}\n"))?;
    sink.run(&stop, &|peer, ended| {
        let why = match ended {
            Ended::Closed => return,
            Ended::Broken => "ended in the middle of a transaction",
            Ended::Refused => "was refused: it is no pgmeter, or one of another version",
            Ended::Unproven => "was refused: it has another token",
        };
        tell!("connection of {peer} {why}");
    })?;
    Ok(Exit::Measured)
}
