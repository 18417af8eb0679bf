//! The layers of the configuration.

/// The layer of a file. The first that sets a key wins.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ConfigLayer {
    Managed,
    Project,
    #[default]
    User,
}

impl ConfigLayer {
    pub fn name(self) -> &'static str {
        match self {
            Self::Managed => "managed",
            Self::Project => "project",
            Self::User => "user",
        }
    }
}
