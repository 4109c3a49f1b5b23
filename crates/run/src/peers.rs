//! TCP peers of a run, found before the first cell and started if the plan requires it.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use network::{CONNECTIONS_MAX, NetworkToken, Peer, Sink, SinkOptions};
use plan::TcpAddress;
use plan::{Cell, EngineKind, Plan, TargetKind};
use results::{Warning, WarningCode};

use crate::RunError;

/// Peers by target, and the sink that the run itself started.
#[derive(Debug, Default)]
pub(crate) struct Peers {
    by_target: BTreeMap<u32, Arc<Peer>>,
    // Declared last, because it must be dropped after the peers connected to it.
    own_sink: Option<OwnSink>,
}

/// Sink on its own thread, which ends when this is dropped.
#[derive(Debug)]
struct OwnSink {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Peers {
    /// Connects to the peers of all cells that do I/O.
    pub fn find(plan: &Plan, token_file: Option<&Path>) -> Result<Self, RunError> {
        let mut peers = Self::default();
        let token = match token_file {
            Some(path) => Some(NetworkToken::in_file(path)?),
            None => None,
        };
        for (target_index, target) in (0..).zip(&plan.targets) {
            if target.kind != TargetKind::Network || !is_touched(plan, target_index) {
                continue;
            }
            let name = target.path.to_string_lossy();
            let address = TcpAddress::of(&name).map_err(|refused| RunError::Peer {
                message: refused.message,
            })?;
            let peer = match address.is_own() {
                true => {
                    let own = peers.own_address()?;
                    Peer::find(&own.ip().to_string(), own.port(), None)?
                }
                false => Peer::find(&address.host, address.port, token.clone())?,
            };
            peers.by_target.insert(target_index, Arc::new(peer));
        }
        Ok(peers)
    }

    /// Address of the run's own sink, which the first call starts.
    fn own_address(&mut self) -> Result<SocketAddr, RunError> {
        if let Some(own) = &self.own_sink {
            return Ok(own.address);
        }
        let own = OwnSink::start()?;
        let address = own.address;
        self.own_sink = Some(own);
        Ok(address)
    }

    /// Peer of a target.
    pub fn get(&self, target_index: u32) -> Option<Arc<Peer>> {
        self.by_target.get(&target_index).map(Arc::clone)
    }

    /// Warnings about peers on this machine.
    pub fn warnings(&self, plan: &Plan) -> Vec<Warning> {
        let local = self.by_target.iter().filter(|(_, it)| it.is_this_machine());
        let warning = |(target_index, _): (&u32, &Arc<Peer>)| {
            let path = &plan.targets[*target_index as usize].path;
            let message = format!(
                "`{}` is this machine: the run measures the kernel's loopback, not a network, and \
                 both ends share the CPUs",
                path.display()
            );
            Warning::of_run(WarningCode::NetworkLoopback, message)
        };
        local.map(warning).collect()
    }
}

fn is_touched(plan: &Plan, target_index: u32) -> bool {
    let uses = |cell: &&Cell| cell.own_target_indexes().any(|it| it == target_index);
    let mut users = plan.cells.iter().filter(uses);
    users.any(|cell| cell.engine != EngineKind::Null)
}

impl OwnSink {
    fn start() -> Result<Self, RunError> {
        let sink = Sink::listen(SinkOptions {
            // Only this machine can connect, so the sink needs no token.
            listen: (Ipv4Addr::LOCALHOST, 0).into(),
            token: None,
            connections_max: CONNECTIONS_MAX,
        })?;
        let address = sink.address()?;
        let stop = Arc::new(AtomicBool::new(false));
        let ends = Arc::clone(&stop);
        let serve = move || {
            // A failure shows when a client cannot connect.
            let _ = sink.run(&ends, &|_, _| {});
        };
        let thread = std::thread::Builder::new().name("sink".to_owned());
        let thread = thread.spawn(serve).map_err(|source| RunError::System {
            what: "start the thread of a sink".to_owned(),
            source,
        })?;
        Ok(Self {
            address,
            stop,
            thread: Some(thread),
        })
    }
}

impl Drop for OwnSink {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // The sink has no result to report.
            let _ = thread.join();
        }
    }
}
