/// The transport of a node's connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// TCP, for nodes on different machines or processes.
    Tcp,
    /// Channels within this process, for tests. Connections are encrypted as over TCP.
    Memory,
}
