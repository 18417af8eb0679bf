//! `provost report --transcripts`: replays past sessions for the report.

use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::cli::overview::Overview;
use crate::cli::replay::replay_with_progress;
use crate::cli::{CommandError, CurrentProject, current_client, current_directory};
use crate::environment::read_places;
use crate::replay::ReplayRequest;
use crate::replay::judge::ConfigSource;
use crate::replay::selection::{Scope, select};
use crate::report::model::TranscriptTotals;
use crate::report::transcripts::sum_replay;
use crate::text::make_one_line;

/// Replays all transcripts of a directory, whatever their age, or else those of this project or of `all` projects since a
/// time, in seconds since 1970.
pub(super) fn replay(
    directory: Option<&Path>,
    all: bool,
    since: u64,
    here: &CurrentProject,
) -> Result<TranscriptTotals, CommandError> {
    let client = current_client();
    let Some(past) = &client.past_sessions else {
        return Err(CommandError::Io(format!("`{}` keeps no records of past sessions", client.name)));
    };
    let scope = match directory {
        Some(place) => Scope::Place(current_directory()?.join(place)),
        None if all => Scope::All,
        None => Scope::Project(here.project.clone()),
    };
    let place = match &scope {
        Scope::Place(place) | Scope::Project(place) => place.to_string_lossy().into_owned(),
        Scope::All | Scope::Session(_) => "all projects".into(),
    };
    let since = directory.is_none().then_some(since);
    let places = read_places();
    let changed = since.map(|since| SystemTime::UNIX_EPOCH + Duration::from_secs(since));
    let selection = select(past, &places, &scope, changed)
        .map_err(|error| CommandError::Io(format!("{}: {error}", make_one_line(&place))))?;
    let named_packs = Overview::open_here()?.packs_only_named();
    let configs = [ConfigSource { layers: here.layers.clone(), with_last_good: true, named_packs }];
    let since = since.map(|since| since.saturating_mul(1000));
    let request = ReplayRequest { client, places: &places, selection: &selection, configs: &configs, since };
    Ok(sum_replay(&replay_with_progress(&request), &place))
}
