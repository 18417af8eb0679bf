//! What `init` finds: the project, the client, the packs whose files are there, and hooks of others.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::cli::change::shown;
use crate::cli::screen::{CYAN, DIM, GREEN, labelled, painted, width, wrapped};
use crate::cli::settings_file::short;
use crate::clients::{Client, Scope, Source};
use crate::config::{Layer, settings};
use crate::faults;
use crate::phases::ground;
use crate::registry::PACKS;
use crate::review_loop::plan;
use crate::reviewer;
use crate::text::one_line;
use crate::workspace::Workspace;

/// The pack that is always there.
pub(super) const SELF: &str = "self";
/// The pack that affects every plan, so it is added only if somebody wants it.
pub(super) const GATE: &str = "plan-gate";

/// Whether a pack is added.
pub(super) struct Choice {
    pub(super) pack: &'static str,
    pub(super) is_wanted: bool,
    /// Why, where it is not for its files.
    pub(super) why: &'static str,
}

pub(super) struct Found {
    pub(super) root: PathBuf,
    home: Option<PathBuf>,
    client: String,
    /// Every place that registers hooks.
    pub(super) sources: Vec<Source>,
    /// Each pack that has something of its own here, and what.
    pub(super) signs: Vec<(&'static str, String)>,
    /// Whether it is this project that wants the plan gate.
    pub(super) gate_is_of_project: bool,
}

impl Found {
    pub(super) fn look(root: PathBuf, workspace: &Workspace) -> Self {
        Self {
            client: client(workspace.client),
            sources: (workspace.client.registrations)(&workspace.places, &root),
            signs: signs(&root, workspace),
            gate_is_of_project: matches!(
                workspace.config.get(settings::PLAN_GATE),
                Some((Layer::Project, _))
            ),
            home: workspace.places.home.clone(),
            root,
        }
    }

    pub(super) fn sign(&self, pack: &str) -> Option<&str> {
        self.signs.iter().find(|(known, _)| *known == pack).map(|(_, sign)| sign.as_str())
    }

    /// A path as a person would write it.
    pub(super) fn short(&self, path: &Path) -> String {
        short(path, &self.root, self.home.as_deref())
    }

    pub(super) fn show(&self, out: &mut impl Write, settings: &str, packs: &[Choice]) -> io::Result<()> {
        labelled(out, "project", &shown(&self.root))?;
        labelled(out, "client", &self.client)?;
        labelled(out, "settings", settings)?;
        labelled(out, "others", &one_line(&self.others()))?;
        labelled(out, "plugins", &one_line(&self.plugins()))?;
        for (at, choice) in packs.iter().enumerate() {
            let word = if choice.is_wanted { painted(GREEN, "yes") } else { painted(DIM, "no ") };
            // A line begins behind the label, the word and the name of the pack.
            let reason = wrapped(&one_line(&self.reason(choice)), 29, width());
            let label = painted(CYAN, &format!("{:9}", if at == 0 { "packs" } else { "" }));
            writeln!(out, "{label}  {word}  {:11}  {}", choice.pack, reason.trim_start())?;
        }
        writeln!(out)
    }

    /// Why a pack is added or left out.
    fn reason(&self, choice: &Choice) -> String {
        match self.sign(choice.pack) {
            Some(sign) if choice.is_wanted => return sign.to_owned(),
            Some(sign) => return format!("{sign} here, but you did not name it"),
            None => {}
        }
        let needs = match choice.pack {
            "planner" => "agent of `planner.agents`".to_owned(),
            "review-loop" => format!("`{}`", plan::PLANS),
            "phases" => format!("`{}`", ground::FOLDER),
            _ if choice.is_wanted => return choice.why.to_owned(),
            _ => return format!("`{}` is not set", settings::PLAN_GATE),
        };
        let awaited = if needs.starts_with('`') { needs.clone() } else { format!("an {needs}") };
        match (choice.is_wanted, choice.why) {
            (true, "") => format!("inactive until there is {awaited}"),
            (true, why) => format!("{why}; inactive until there is {awaited}"),
            (false, _) => format!("there is no {needs}"),
        }
    }

    /// Hooks that are not Provost's: how many, and where.
    fn others(&self) -> String {
        let mut places = Vec::new();
        let mut all = 0;
        for source in &self.sources {
            let mut events: Vec<&str> = Vec::new();
            let mut count = 0;
            for hook in source.hooks.iter().filter(|hook| !hook.calls_provost) {
                count += 1;
                if !events.contains(&hook.event.as_str()) {
                    events.push(&hook.event);
                }
            }
            all += count;
            if count > 0 {
                let hooks = if count == 1 { "1 hook".into() } else { format!("{count} hooks") };
                let place = match &source.scope {
                    Scope::Plugin { name, .. } => format!("the plugin {name}"),
                    _ => self.short(&source.file),
                };
                places.push(format!("{hooks} in {place} ({})", one_line(&events.join(", "))));
            }
        }
        match all {
            0 => "no other hooks".into(),
            _ => format!("{}; unchanged", places.join("; ")),
        }
    }

    fn plugins(&self) -> String {
        let brings = |source: &&Source| {
            matches!(source.scope, Scope::Plugin { .. }) && source.hooks.iter().any(|hook| hook.calls_provost)
        };
        let names: Vec<String> = self
            .sources
            .iter()
            .filter(brings)
            .filter_map(|source| match &source.scope {
                Scope::Plugin { name, .. } => {
                    Some(format!("{} ({})", one_line(name), packs_of(source).join(", ")))
                }
                _ => None,
            })
            .collect();
        if names.is_empty() {
            "none with Provost".into()
        } else {
            format!("{}, with Provost", names.join(", "))
        }
    }
}

/// The packs that a place has asked.
pub(super) fn packs_of(source: &Source) -> Vec<&str> {
    let mut packs: Vec<&str> = Vec::new();
    for hook in source.hooks.iter().filter(|hook| hook.calls_provost) {
        // An entry that names none has all asked.
        let all = if hook.packs.is_empty() { PACKS } else { &[] };
        let named = hook.packs.iter().map(String::as_str).chain(all.iter().map(|pack| pack.name));
        for pack in named {
            if !packs.contains(&pack) {
                packs.push(pack);
            }
        }
    }
    packs
}

/// What each pack has of its own in this project.
fn signs(root: &Path, workspace: &Workspace) -> Vec<(&'static str, String)> {
    let mut signs = vec![(SELF, "always".to_owned())];
    if workspace.config.switch(settings::PLAN_GATE) {
        signs.push((GATE, format!("`{}` is set", settings::PLAN_GATE)));
    }
    let agents = workspace.config.words(settings::PLANNER_AGENTS);
    let folders = [Some(root.to_owned()), workspace.places.home.clone()];
    let described = |name: &&String| {
        let file =
            |folder: &PathBuf| folder.join(workspace.client.folder).join("agents").join(format!("{name}.md"));
        folders.iter().flatten().any(|folder| file(folder).is_file())
    };
    if let Some(agent) = agents.iter().find(described) {
        signs.push(("planner", format!("there is an agent `{}`", one_line(agent))));
    } else if workspace.config.get(settings::PLANNER_AGENTS).is_some() && !agents.is_empty() {
        signs.push(("planner", format!("`{}` is set", settings::PLANNER_AGENTS)));
    }
    for (pack, folder) in [("review-loop", plan::PLANS), ("phases", ground::FOLDER)] {
        if [root, &workspace.project].iter().any(|place| place.join(folder).is_dir()) {
            signs.push((pack, format!("there is `{folder}`")));
        }
    }
    signs
}

/// The client's version and its program.
fn client(client: &Client) -> String {
    let Ok(program) = reviewer::own_program(client) else {
        return format!(
            "`{}` not found; the entries take effect once it is installed",
            client.reviewer.program
        );
    };
    let place = shown(&program);
    version(&program).map_or(place.clone(), |version| format!("{}, {place}", one_line(&version)))
}

/// The version that a program prints. A busy machine may need seconds to start the client, so only a program
/// that hangs is given up.
pub(super) fn version(program: &Path) -> Option<String> {
    const PATIENCE: Duration = Duration::from_secs(10);
    const LONGEST: u64 = 200;
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    let mut pipe = child.stdout.take()?.take(LONGEST);
    let listener = thread::spawn(move || {
        let mut said = Vec::new();
        let _ = pipe.read_to_end(&mut said);
        said
    });
    let end = Instant::now() + faults::extend_limit(PATIENCE);
    while child.try_wait().ok()?.is_none() {
        if Instant::now() > end {
            let _ = child.kill();
            let _ = child.wait();
            return None;
        }
        thread::sleep(Duration::from_millis(5));
    }
    // Somebody whom it started may still hold the pipe.
    while !listener.is_finished() {
        if Instant::now() > end {
            return None;
        }
        thread::sleep(Duration::from_millis(5));
    }
    let said = String::from_utf8_lossy(&listener.join().ok()?).into_owned();
    said.lines().next().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned)
}
