//! `apply_patch`, whose patch is an argument, a here-document or what another command prints.

use std::path::Path;

use crate::effect::{Effect, WriteContent};
use crate::effects;

#[test]
fn a_patch_in_a_here_document_changes_its_files() {
    let patch = "*** Begin Patch\n*** Update File: src/a.rs\n+new\n*** Delete File: b\n*** End Patch\n";
    for line in [
        format!("apply_patch <<'EOF'\n{patch}EOF\n"),
        format!("cd /p && apply_patch <<EOF && git diff\n{patch}EOF\n"),
        format!("bash -lc \"apply_patch <<'EOF'\n{patch}EOF\n\""),
        format!("apply_patch '{patch}'"),
        format!("apply_patch <<<'{patch}'"),
        format!("printf '%s' '{patch}' | apply_patch"),
    ] {
        let effects = effects(&line, Path::new("/p"), None);
        let has = |wanted: &dyn Fn(&Effect) -> bool| effects.iter().any(wanted);
        assert!(
            has(&|effect| matches!(effect, Effect::Write { path, content: WriteContent::Adds { text } }
                if path.ends_with("src/a.rs") && &**text == "new\n")),
            "{line}: {effects:?}"
        );
        assert!(has(&|effect| matches!(effect, Effect::Delete { path } if path.ends_with("b"))), "{line}");
    }
    for unknown in
        ["apply_patch < p.diff", "apply_patch \"$PATCH\"", "apply_patch <<EOF\n*** Add File: $X\n+a\nEOF\n"]
    {
        let effects = effects(unknown, Path::new("/p"), None);
        assert!(
            effects.iter().any(|effect| matches!(effect, Effect::UnknownTarget { .. })),
            "{unknown}: {effects:?}"
        );
    }
}
