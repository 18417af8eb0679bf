//! The door by itself: what it refuses, and that it closes.

use super::*;
use std::sync::mpsc;

fn served(request: &[u8]) -> (String, Vec<Report>) {
    let dir = tempfile::tempdir().unwrap();
    let scenario = crate::Scenario::parse(
        "title='t'\nprompt='p'\n[[route]]\nwhen={first='hi'}\n[[route.step]]\ntext='done'",
        "test.toml",
    )
    .unwrap();
    let variables = Variables::default();
    let mut server = ModelServer::bind().unwrap();
    let actions = ActionRunner {
        project: dir.path().to_owned(),
        home: dir.path().to_owned(),
        environment: Vec::new(),
        variables: variables.clone(),
        recorder: crate::hooks::Recorder::new(dir.path(), dir.path()),
        hook_log: dir.path().join("log"),
        closing: server.closing(),
    };
    let (sender, notes) = mpsc::channel();
    server.open(Script::new(&scenario.routes, &variables), variables, actions, sender);
    let mut stream = TcpStream::connect(("127.0.0.1", server.port())).unwrap();
    stream.write_all(request).unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    drop(server);
    // This ends only when no thread of the server is left that could note anything. Whether the port answers
    // says nothing: another test may have it by now.
    (reply, notes.into_iter().collect())
}

fn post(path: &str, body: &str) -> (String, Vec<Report>) {
    let length = body.len();
    served(format!("POST {path} HTTP/1.1\r\nhost: x\r\nContent-Length: {length}\r\n\r\n{body}").as_bytes())
}

#[test]
fn a_message_is_answered_and_noted() {
    let (reply, notes) = post("/v1/messages?beta=true", r#"{"messages":[{"role":"user","content":"hi"}]}"#);
    assert!(reply.starts_with("HTTP/1.1 200"), "{reply}");
    assert!(reply.contains(r#""text":"done""#), "{reply}");
    assert!(matches!(&notes[..], [Report::Request(request), ..] if request.route.as_deref() == Some("main")));
}

#[test]
fn a_request_without_route_is_noted_and_refused() {
    let (reply, notes) = post("/v1/messages", r#"{"messages":[{"role":"user","content":"yo"}]}"#);
    assert!(reply.starts_with("HTTP/1.1 400"), "{reply}");
    assert!(matches!(&notes[..], [Report::Request(request), ..] if request.route.is_none()));
}

#[test]
fn the_rest_of_the_api_is_thin() {
    for (request, status) in [
        ("HEAD / HTTP/1.1\r\n\r\n", 200),
        ("GET /v1/models HTTP/1.1\r\n\r\n", 404),
        ("POST /v1/messages/count_tokens HTTP/1.1\r\ncontent-length: 2\r\n\r\n{}", 200),
        ("POST /elsewhere/v1/messages/count_tokens HTTP/1.1\r\ncontent-length: 2\r\n\r\n{}", 200),
        ("POST /elsewhere/messages HTTP/1.1\r\ncontent-length: 2\r\n\r\n{}", 404),
        ("POST /v1/messages HTTP/1.1\r\ncontent-length: 2\r\n\r\n{x", 400),
        ("POST /v1/messages HTTP/1.1\r\ncontent-length: 99999999999\r\n\r\n", 413),
        ("POST /v1/messages HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n", 411),
        ("nonsense\r\n\r\n", 400),
    ] {
        let (reply, _) = served(request.as_bytes());
        assert!(reply.starts_with(&format!("HTTP/1.1 {status}")), "{request}: {reply}");
    }
}
