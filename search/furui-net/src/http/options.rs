use furui_search::Wants;

use super::Token;
use crate::watched::Watched;

/// The options of a node's HTTP interface.
#[derive(Clone, Debug)]
pub struct ServeOptions {
    /// The coding of sets for searches that do not state one.
    pub wants: Wants,
    /// The token that every client must show; `None` if everybody who reaches the address may use the node.
    pub token: Option<Token>,
    /// The host names, apart from IP addresses and `localhost`, by which browsers may reach the node through a proxy.
    pub hosts: Vec<String>,
    /// The watched directories, whose published files can be opened.
    pub watched: Option<Watched>,
}

impl Default for ServeOptions {
    fn default() -> Self {
        Self { wants: Wants::Best, token: None, hosts: vec![], watched: None }
    }
}
