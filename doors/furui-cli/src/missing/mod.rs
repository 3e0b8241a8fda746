//! What a build lacks without the features `node` and `net`: `network.rs` stands in the place of the module `network` then,
//! and `remote.rs` in that of `remote`, so that commands and stores say how to get them.

/// How to get a build that has a feature.
pub fn install(feature: &str) -> String {
    format!("cargo install --path doors/furui-cli --features {feature}")
}
