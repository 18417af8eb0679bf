//! Checks the repository: modules, pages, links, dependencies, plugins and generated tables.

#[path = "../support/mod.rs"]
mod support;

mod architecture;
mod client_versions;
mod dependencies;
mod docs;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod plugins;
mod reference;
mod schema;
