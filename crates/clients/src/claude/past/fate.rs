//! What became of a call, by its result.
//!
//! Newer versions of Claude Code record who decided. Older ones have only the text that the model read. A command can
//! print any text, so a mark in a result counts only if the result is an error.

use super::record::{Record, start_of_content};
use crate::claude::settings;
use crate::past::json_scan::{read_string, visit_fields};
use crate::past::{CallFate, PastCall};
use std::path::Path;

/// How the result of a call begins that reached no hook.
const NEVER_ASKED: &[u8] = b"<tool_use_error>";

pub(super) fn find_fate(content: &[u8], is_error: &[u8], record: &Record<'_>) -> CallFate {
    let decoded;
    let mut start = start_of_content(content);
    if start.starts_with(b"\\") {
        decoded = read_string(content).unwrap_or_default();
        start = decoded.as_bytes();
    }
    // The result of a tool that ran is an object.
    let may_be_error = is_error == b"true" || is_error.is_empty() && !record.tool_result.starts_with(b"{");
    if start.starts_with(NEVER_ASKED) && may_be_error {
        return CallFate::NeverAsked;
    }
    if let Some(fate) = read_decision(record.permission) {
        return fate;
    }
    if is_error != b"true" {
        return CallFate::Succeeded;
    }
    let starts_with = |text: &str| start.starts_with(text.as_bytes());
    match () {
        () if starts_with("PreToolUse:") && memchr::memmem::find(start, b"hook error").is_some() => {
            CallFate::DeniedByHook
        }
        () if starts_with("The user doesn't want to") || starts_with("[Request interrupted") => {
            CallFate::RejectedByUser
        }
        () if starts_with("Permission to use") || starts_with("Claude requested permissions") => {
            CallFate::DeniedByPermission
        }
        () => CallFate::Failed,
    }
}

/// The recorded decision, if it kept the call from running.
fn read_decision(permission: &[u8]) -> Option<CallFate> {
    let (mut decision, mut source) = (&b""[..], &b""[..]);
    visit_fields(permission, |name, value| match name {
        b"decision" => decision = value,
        b"source" => source = value,
        _ => {}
    })
    .ok()?;
    (decision == b"\"reject\"").then_some(match source {
        b"\"hook\"" => CallFate::DeniedByHook,
        b"\"user_reject\"" | b"\"user_temporary\"" => CallFate::RejectedByUser,
        _ => CallFate::DeniedByPermission,
    })
}

/// Adds what the result of a file tool says about the file. Claude Code corrects wrong names of fields, and the call has
/// them as the model wrote them.
pub(super) fn read_changed_file(call: &mut PastCall, result: &[u8], with_content: bool) {
    if !matches!(&*call.tool, "Write" | "Edit" | "MultiEdit" | "NotebookEdit") {
        return;
    }
    let mut before = None;
    let _ = visit_fields(result, |name, value| match name {
        b"filePath" => call.file = read_string(value).map(std::borrow::Cow::into_owned),
        b"originalFile" => before = Some(value),
        _ => {}
    });
    let is_settings = || call.file.as_ref().is_some_and(|file| settings::is_settings_file(Path::new(file)));
    if let Some(before) = before.filter(|_| with_content || is_settings()) {
        call.file_before = Some(read_string(before).map(std::borrow::Cow::into_owned));
    }
}
