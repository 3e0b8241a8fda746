//! The replacements of modules in builds without the features `node` and `net`: `network.rs` replaces the module
//! `network`, and `remote.rs` replaces `remote`. Their commands and stores are errors that say how to get the feature.

/// The command that installs a build with this feature.
pub fn install(feature: &str) -> String {
    format!("cargo install --path doors/furui-cli --features {feature}")
}
