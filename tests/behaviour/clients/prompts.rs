//! Which prompts of other clients are the user's.

use super::{guarded_project, recorded, shell_event};

/// The recorded prompt of each client that reports one, and a shell call of the same session.
const PROMPTS: &[(&str, &str, &str)] = &[
    ("codex", "UserPromptSubmit", "PreToolUse.Bash"),
    ("copilot", "UserPromptSubmit", "PreToolUse.Bash"),
    ("gemini", "BeforeAgent", "BeforeTool.run_shell_command"),
    ("qwen", "UserPromptSubmit", "PreToolUse.run_shell_command"),
    ("grok", "UserPromptSubmit", "PreToolUse.run_terminal_command"),
    ("kimi", "UserPromptSubmit", "PreToolUse.Bash"),
];
const SUBAGENT_PROMPTS: &[(&str, &str)] = &[
    ("codex", "UserPromptSubmit.subagent"),
    ("copilot", "UserPromptSubmit.subagent"),
    ("grok", "UserPromptSubmit.subagent"),
];
const OVERRIDE: &str = "provost override rule:no-tags the release is today";

/// An event with this session.
fn in_session(event: &[u8], session: &str) -> Vec<u8> {
    let mut event: serde_json::Value = serde_json::from_slice(event).unwrap();
    for name in ["session_id", "sessionId"] {
        if event.get(name).is_some() {
            event[name] = session.into();
        }
    }
    event.to_string().into_bytes()
}

#[test]
fn the_user_overrides_a_rule_once_on_every_client_with_prompts() {
    for (client, prompt, call) in PROMPTS {
        let project = guarded_project();
        let prompt = recorded(&project, client, prompt).replace("do the thing", OVERRIDE);
        project.hook_bytes(&[], &in_session(prompt.as_bytes(), "s1"));
        let call = in_session(&shell_event(&project, client, call, "git tag v1"), "s1");
        assert!(project.hook_bytes(&[], &call).find_denial().is_err(), "{client}: the override counts");
        let again = String::from_utf8(call)
            .unwrap()
            .replace("call_", "call_again_")
            .replace("toolu_", "toolu_again_");
        let answer = project.hook_bytes(&[], again.as_bytes());
        assert!(
            answer.whole().contains("releases are tagged"),
            "{client}: it counts once: {}",
            answer.whole()
        );
    }
}

#[test]
fn a_prompt_that_an_agent_wrote_overrides_nothing() {
    for (client, prompt) in SUBAGENT_PROMPTS {
        let project = guarded_project();
        let prompt = recorded(&project, client, prompt).replace("SUBTASK do it", OVERRIDE);
        project.hook_bytes(&[], &in_session(prompt.as_bytes(), "s1"));
        let (_, _, call) = PROMPTS.iter().find(|(known, ..)| known == client).unwrap();
        let call = in_session(&shell_event(&project, client, call, "git tag v1"), "s1");
        let answer = project.hook_bytes(&[], &call);
        assert!(answer.whole().contains("releases are tagged"), "{client}: {}", answer.whole());
    }
}
