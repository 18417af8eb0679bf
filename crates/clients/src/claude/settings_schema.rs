//! Which values make Claude Code ignore a whole settings file, with all its hooks and without a message.
//!
//! One value of the wrong type is enough, anywhere in a part of the file that Claude Code checks. An agent that leaves
//! `hooks` alone and writes `"permissions": 5` beside it switches every hook off. The tables below say what Claude Code
//! accepts for each key. Each line was measured on the real client (2.1.325) with a wrong value. `null` is wrong nearly
//! everywhere.
//!
//! The tables do not say what a value does, and they cannot know which keys a later version will check. Where Claude
//! Code checks more of a value than the tables say, [`is_fully_checked`] returns false.

use serde_json::{Map, Value};

use super::has_word;

#[derive(Clone, Copy)]
enum Shape {
    Text,
    TextLike(fn(&str) -> bool),
    Switch,
    Number(fn(f64) -> bool),
    OneOf(&'static [&'static str]),
    ListOf(&'static Shape),
    /// An object with any keys, whose values all have one shape.
    MapOf(&'static Shape),
    /// Required parts, then optional parts. Claude Code accepts others too, and may check some of them.
    Object(&'static [Part], &'static [Part]),
    /// An object whose `type` selects the shape.
    ByType(&'static [Part]),
    Either(&'static [Shape]),
    /// Claude Code tolerates a wrong value.
    Anything,
    /// Claude Code checks the value, but nobody has measured how.
    Unlisted,
}

use Shape::{
    Anything, ByType, Either, ListOf, MapOf, Number, Object, OneOf, Switch, Text, TextLike, Unlisted,
};

type Part = (&'static str, Shape);

const TEXTS: Shape = ListOf(&Text);
const COUNT: Shape = Number(|number| is_safe_integer(number) && number >= 1.0);
const CLOCK: Shape = TextLike(is_clock_time);
const COMMAND: &[Part] = &[("type", OneOf(&["command"])), ("command", Text)];

/// What Claude Code accepts for the top-level keys of a settings file, except for `hooks`. It tolerates any value of a
/// key that is missing here.
const KEYS: &[(Shape, &str)] = &[
    (
        Text,
        "$schema advisorModel agent apiKeyHelper attributionProject autoMemoryDirectory \
         awsAuthRefresh awsCredentialExport claudeMd gcpAuthRefresh language minimumVersion model \
         otelHeadersHelper outputStyle plansDirectory pluginTrustMessage prUrlTemplate processWrapper \
         proxyAuthHelper requiredMaximumVersion requiredMinimumVersion timeFormat timeZone",
    ),
    (
        Switch,
        "agentPushNotifEnabled allowAllClaudeAiMcps allowClaudeInChromeWithManagedMcp \
         allowManagedHooksOnly allowManagedMcpServersOnly allowManagedPermissionRulesOnly \
         alwaysThinkingEnabled autoCompactEnabled autoContinueAtUsageLimit autoDreamEnabled \
         autoMemoryEnabled autoScrollEnabled autoUploadSessions awaySummaryEnabled \
         bashEditDiffEnabled channelsEnabled clawdFileProgressEnabled disableAgentView \
         disableAllHooks disableArtifact disableBundledSkills disableClaudeAiConnectors \
         disableCommandPluginSources disableRemoteControl disableReplyCheck disableSideloadFlags \
         disableSkillShellExecution disableWindowsBashCommandSplit disableWorkflows doneMeansMerged \
         emojiCompletionEnabled enableAllProjectMcpServers enableArtifact enableWorkflows \
         enforceAvailableModels fastMode fastModePerSessionOptIn fileCheckpointingEnabled \
         forceRemoteSettingsRefresh idleCompaction includeCoAuthoredBy includeGitInstructions \
         inputNeededNotifEnabled isolatePeerMachines precomputeCompactionEnabled prefersReducedMotion \
         promptSuggestionEnabled remoteControlAtStartup respectGitignore respondToBashCommands \
         responseComparisonEnabled showClearContextOnPlanAccept showMessageTimestamps \
         showThinkingSummaries showTurnDuration skipDangerousModePermissionPrompt \
         skipWebFetchPreflight skipWorkflowUsageWarning spinnerTipsEnabled switchModelsOnFlag \
         syncClaudeAiPlugins syncClaudeAiSkills syntaxHighlightingDisabled terminalProgressBarEnabled \
         terminalTitleFromRename todoFeatureEnabled totalTokensReminderAfterUserTurn verbose \
         wheelScrollAccelerationEnabled workflowKeywordTriggerEnabled wslInheritsWindowsSettings",
    ),
    (
        TEXTS,
        "allowedHttpHookUrls availableModels claudeMdExcludes companyAnnouncements \
         disabledMcpjsonServers enabledMcpjsonServers fallbackModel httpHookAllowedEnvVars \
         pluginSuggestionMarketplaces",
    ),
    (COUNT, "cleanupPeriodDays skillListingMaxDescChars totalTokensReminderBudget"),
    (Number(|number| is_safe_integer(number) && number >= 0.0), "desktopSessionCleanupPeriodDays"),
    (Number(|number| (0.0..=1.0).contains(&number)), "feedbackSurveyRate"),
    (Number(|number| number > 0.0 && number <= 1.0), "skillListingBudgetFraction"),
    (OneOf(&["latest", "stable", "rc"]), "autoUpdatesChannel"),
    (OneOf(&["transient", "ask"]), "daemonColdStart"),
    (OneOf(&["bash", "powershell"]), "defaultShell"),
    (OneOf(&["disable"]), "disableAutoMode"),
    (OneOf(&["notify", "quiet", "off"]), "feedbackDrafts"),
    (OneOf(&["first-wins", "merge"]), "managedSourcesBehavior parentSettingsBehavior"),
    (OneOf(&["off", "infinite", "fixed", "countdown", "padded-countdown"]), "totalTokensReminder"),
    (OneOf(&["default", "fullscreen"]), "tui"),
    (OneOf(&["unrestricted", "small", "medium", "large"]), "workflowSizeGuideline"),
    (MapOf(&Anything), "env"),
    (MapOf(&Text), "modelOverrides"),
    (MapOf(&OneOf(&["on", "name-only", "user-invocable-only", "off"])), "skillOverrides"),
    (MapOf(&Either(&[Switch, TEXTS])), "enabledPlugins"),
    (Either(&[Text, TEXTS]), "forceLoginOrgUUID"),
    (PERMISSIONS, "permissions"),
    (
        Object(
            COMMAND,
            &[("padding", Number(|_| true)), ("hideVimModeIndicator", Switch), ("refreshInterval", Anything)],
        ),
        "statusLine",
    ),
    (Object(COMMAND, &[]), "fileSuggestion"),
    (
        Either(&[Switch, Object(&[], &[("commit", Text), ("pr", Text), ("sessionUrl", Switch)])]),
        "attribution",
    ),
    (
        Object(
            &[],
            &[
                ("enabled", Switch),
                ("intervalMinutes", COUNT),
                ("breakThresholdMinutes", COUNT),
                ("message", Text),
            ],
        ),
        "breakReminder",
    ),
    (Object(&[], &[("enabled", Switch), ("start", CLOCK), ("end", CLOCK)]), "quietHours"),
    (Object(&[("mode", OneOf(&["append", "replace"])), ("verbs", TEXTS)], &[]), "spinnerVerbs"),
    (Object(&[], &[("enabled", Switch), ("mode", OneOf(&["hold", "tap"])), ("autoSubmit", Switch)]), "voice"),
    (Object(&[], &[("defaultEnvironmentId", Text)]), "remote"),
    (Object(&[], &[("allowUnattendedServing", Switch)]), "remoteTools"),
    (Object(&[], &[("symlinkDirectories", TEXTS), ("sparsePaths", TEXTS)]), "worktree"),
    (
        Object(&[], &[("enabled", Switch), ("excludedCommands", TEXTS), ("network", Object(&[], &[]))]),
        "sandbox",
    ),
    (Object(&[], &[("allow", TEXTS)]), "autoMode"),
    (MapOf(&Object(&[], &[])), "pluginConfigs"),
    (
        ListOf(&Unlisted),
        "allowedChannelPlugins allowedMarketplaces blockedMarketplaces sshConfigs \
         strictKnownMarketplaces",
    ),
];

const PERMISSIONS: Shape = Object(
    &[],
    &[
        ("allow", ListOf(&Anything)),
        ("deny", ListOf(&Anything)),
        ("ask", ListOf(&Anything)),
        ("additionalDirectories", TEXTS),
        (
            "defaultMode",
            OneOf(&["default", "plan", "acceptEdits", "auto", "dontAsk", "bypassPermissions", "manual"]),
        ),
        ("disableBypassPermissionsMode", OneOf(&["disable"])),
        ("disableAutoMode", OneOf(&["disable"])),
    ],
);

/// The events whose hooks Claude Code checks strictly. For other events it drops only the invalid entry.
const STRICT_EVENTS: &[&str] = &["PreToolUse", "PermissionRequest"];

const GROUPS: Shape = ListOf(&Object(&[("hooks", ListOf(&HOOK))], &[("matcher", Text)]));

const HOOK: Shape = ByType(&[
    (
        "command",
        Object(
            &[("command", Text)],
            &[
                ("args", TEXTS),
                ("shell", OneOf(&["bash", "powershell"])),
                ("async", Switch),
                ("asyncRewake", Switch),
                ("rewakeMessage", Text),
                ("rewakeSummary", Text),
                ("onFailure", ON_FAILURE),
            ],
        ),
    ),
    ("prompt", Object(&[("prompt", Text)], &[("model", Text), ("continueOnBlock", Switch)])),
    ("agent", Object(&[("prompt", Text)], &[("model", Text)])),
    (
        "http",
        Object(
            &[("url", TextLike(is_url))],
            &[("headers", MapOf(&Text)), ("allowedEnvVars", TEXTS), ("onFailure", ON_FAILURE)],
        ),
    ),
    ("mcp_tool", Object(&[("server", Text), ("tool", Text)], &[("input", MapOf(&Anything))])),
]);

/// The optional parts of a hook of any type.
const ANY_HOOK: Shape = Object(
    &[],
    &[("timeout", Number(|number| number > 0.0)), ("if", Text), ("once", Switch), ("statusMessage", Text)],
);

const ON_FAILURE: Shape = OneOf(&["continue", "block"]);

/// The path of the first value for which Claude Code ignores the whole file. The value itself may be a secret, so it is
/// left out.
pub(super) fn find_invalid_value(file: &Map<String, Value>) -> Option<String> {
    let check_key = |(key, value): (&String, &Value)| {
        let path = find_shape(key)?.find_mismatch(value)?;
        Some(format!("{key}{path}"))
    };
    let check_event = |event: &&str| {
        // An event that is `null` counts as absent.
        let groups = file.get("hooks")?.get(event).filter(|groups| !groups.is_null())?;
        Some(format!("hooks.{event}{}", GROUPS.find_mismatch(groups)?))
    };
    file.iter().find_map(check_key).or_else(|| STRICT_EVENTS.iter().find_map(check_event))
}

/// Whether Claude Code certainly accepts a value in which [`find_invalid_value`] finds nothing.
pub(super) fn is_fully_checked(key: &str, value: &Value) -> bool {
    key != "__proto__" && find_shape(key).is_none_or(|shape| shape.is_complete_for(value))
}

fn find_shape(key: &str) -> Option<Shape> {
    KEYS.iter().find(|(_, keys)| has_word(keys, key)).map(|(shape, _)| *shape)
}

impl Shape {
    /// The path of the part that does not have this shape: `""` for the value itself.
    fn find_mismatch(self, value: &Value) -> Option<String> {
        let fits = match self {
            Anything | Unlisted => true,
            Text => value.is_string(),
            TextLike(test) => value.as_str().is_some_and(test),
            Switch => value.is_boolean(),
            Number(test) => value.as_f64().is_some_and(test),
            OneOf(words) => value.as_str().is_some_and(|word| words.contains(&word)),
            Either(shapes) => shapes.iter().any(|shape| shape.find_mismatch(value).is_none()),
            ListOf(shape) => {
                let Some(list) = value.as_array() else { return Some(String::new()) };
                let mut parts = list.iter().enumerate();
                return parts.find_map(|(at, part)| Some(format!("[{at}]{}", shape.find_mismatch(part)?)));
            }
            // The keys may be secrets, so the path leaves them out.
            MapOf(shape) => value
                .as_object()
                .is_some_and(|map| map.values().all(|part| shape.find_mismatch(part).is_none())),
            Object(needed, more) => {
                let Some(map) = value.as_object() else { return Some(String::new()) };
                let missing = needed.iter().find(|(name, _)| !map.contains_key(*name));
                let wrong =
                    |(name, shape): &Part| Some(format!(".{name}{}", shape.find_mismatch(map.get(*name)?)?));
                return missing
                    .map(|(name, _)| format!(".{name}"))
                    .or_else(|| needed.iter().chain(more).find_map(wrong));
            }
            ByType(types) => {
                let kind = value["type"].as_str();
                let Some((_, shape)) = types.iter().find(|(name, _)| Some(*name) == kind) else {
                    return Some(if value.is_object() { ".type" } else { "" }.into());
                };
                return shape.find_mismatch(value).or_else(|| ANY_HOOK.find_mismatch(value));
            }
        };
        (!fits).then(String::new)
    }

    /// Whether Claude Code checks nothing more in a matching value than this shape says.
    fn is_complete_for(self, value: &Value) -> bool {
        match self {
            Unlisted => false,
            ListOf(shape) => {
                value.as_array().is_none_or(|list| list.iter().all(|part| shape.is_complete_for(part)))
            }
            MapOf(shape) => {
                value.as_object().is_none_or(|map| map.values().all(|part| shape.is_complete_for(part)))
            }
            Object(needed, more) => value.as_object().is_none_or(|map| {
                map.iter().all(|(name, part)| {
                    let mut parts = needed.iter().chain(more);
                    parts.any(|(known, shape)| known == name && shape.is_complete_for(part))
                })
            }),
            Either(shapes) => shapes.iter().all(|shape| shape.is_complete_for(value)),
            _ => true,
        }
    }
}

/// Whether a number is an integer that JavaScript represents exactly.
fn is_safe_integer(number: f64) -> bool {
    const LARGEST: f64 = 9_007_199_254_740_991.0;
    number.fract() == 0.0 && number.abs() <= LARGEST
}

/// Whether a text is a time such as `7:05` or `23:59`.
fn is_clock_time(text: &str) -> bool {
    let below = |digits: &str, limit: u8| {
        digits.bytes().all(|byte| byte.is_ascii_digit()) && digits.parse().is_ok_and(|n: u8| n < limit)
    };
    text.split_once(':').is_some_and(|(hour, minute)| {
        matches!(hour.len(), 1 | 2) && below(hour, 24) && minute.len() == 2 && below(minute, 60)
    })
}

/// Whether JavaScript's `URL` accepts a text: a scheme and, for the web, a plausible host.
fn is_url(text: &str) -> bool {
    let Some((scheme, rest)) = text.trim().split_once(':') else { return false };
    let named = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    if !matches!(scheme.to_ascii_lowercase().as_str(), "http" | "https") {
        return named;
    }
    let rest = rest.trim_start_matches(['/', '\\']);
    let host = rest.split(['/', '\\', '?', '#']).next().unwrap_or_default();
    let host = host.rsplit('@').next().unwrap_or_default();
    let (name, port) = match host.rsplit_once(':') {
        Some((name, port)) if !port.ends_with(']') => (name, port),
        _ => (host, "0"),
    };
    let closed = name.starts_with('[') == name.ends_with(']');
    let strange = |c: char| c.is_whitespace() || "<>^|%".contains(c);
    let port_fits = port.is_empty() || port.parse::<u16>().is_ok();
    !name.is_empty() && closed && port_fits && !name.contains(strange)
}

#[cfg(test)]
mod tests;
