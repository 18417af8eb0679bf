//! `flutter`, `dart` and `fvm`: questions and changes.

use super::{assert_mutates, assert_only_reads, assert_unparsed, list_changes};

#[test]
fn flutter_dart_and_fvm_answer_questions() {
    assert_only_reads(&[
        "flutter",
        "flutter --version",
        "flutter --version --machine",
        "flutter -h",
        "flutter help run",
        "flutter doctor -v",
        "flutter analyze --no-pub",
        "flutter analyze --no-pub --no-fatal-infos lib",
        "flutter analyze --pub --no-pub --current-package",
        "flutter analyze --help",
        "flutter devices",
        "flutter emulators",
        "flutter config --list",
        "flutter pub deps",
        "flutter pub outdated --json",
        "flutter run --help",
        "flutter -d x doctor",
        "dart --version",
        "dart info",
        "dart analyze",
        "dart analyze lib",
        "dart analyze --fatal-infos --format=machine lib test",
        "dart format --output=none --set-exit-if-changed .",
        "dart format -o none .",
        "dart format -onone .",
        "dart fix --dry-run",
        "dart pub deps --style=compact",
        "fvm --version",
        "fvm list",
        "fvm releases",
        "fvm doctor",
        "fvm flutter --version",
        "fvm flutter pub deps",
        "fvm dart analyze",
        "fvm",
    ]);
    let does = "runs or changes the project";
    for (line, by) in [
        ("flutter run", "flutter run"),
        ("flutter test", "flutter test"),
        ("flutter build apk", "flutter build"),
        ("flutter pub get", "flutter pub get"),
        ("flutter clean", "flutter clean"),
        ("flutter upgrade", "flutter upgrade"),
        ("flutter analyze --write=f", "flutter analyze --write"),
        ("flutter analyze --watch", "flutter analyze --watch"),
        ("flutter analyze --no-pub --benchmark", "flutter analyze --benchmark"),
        ("flutter analyze --no-pub --android", "flutter analyze --android"),
        ("flutter emulators --launch x", "flutter emulators --launch"),
        ("flutter doctor --android-licenses", "flutter doctor --android-licenses"),
        ("flutter --disable-analytics", "flutter --disable-analytics"),
        ("dart run x", "dart run"),
        ("dart test", "dart test"),
        ("dart bin/main.dart", "dart bin/main.dart"),
        ("dart fix --apply", "dart fix"),
        ("dart fix --dry-run --apply", "dart fix"),
        ("dart pub add x", "dart pub add"),
        ("fvm use 3.0", "fvm use"),
        ("fvm install", "fvm install"),
        ("fvm flutter run", "flutter run"),
        ("fvm dart run", "dart run"),
        ("flutter -d x run", "flutter run"),
    ] {
        assert_eq!(list_changes(line), [format!("{by}: {does}")], "{line}");
    }
    for line in [
        "flutter analyze",
        "flutter analyze lib",
        "flutter analyze --no-fatal-infos lib",
        "flutter analyze --no-pub --pub",
        "flutter analyze -- --no-pub",
        "fvm flutter analyze",
        "flutter -d x analyze",
    ] {
        let does = "flutter analyze: runs `flutter pub get` first, unless it has `--no-pub`";
        assert_eq!(list_changes(line), [does], "{line}");
    }
    for line in [
        "dart analyze --cache=x",
        "dart analyze --cache x lib",
        "dart analyze --cach=x",
        "fvm dart analyze --cache=x",
    ] {
        assert_eq!(
            list_changes(line),
            ["dart analyze --cache: writes files to the cache that it is given"],
            "{line}"
        );
    }
    assert_mutates(&[
        ("dart analyze --sdk-path=x", "dart analyze --sdk-path: runs another program"),
        ("dart analyze --protocol-traffic-log=f", "write /p/f"),
        ("dart format .", "dart format: writes the files that it is given"),
        ("dart format -o none -o write .", "dart format: writes the files that it is given"),
        ("flutter config --no-analytics", "flutter config: changes settings"),
        ("fvm exec rm f", "delete /p/f"),
    ]);
    assert_unparsed(&["flutter analyze --no-pub --made-up", "dart analyze --made-up", "dart analyze $X"]);
    assert_unparsed(&["flutter --made-up doctor", "dart --enable-vm-service x", "flutter $X", "fvm \"$X\""]);
}
