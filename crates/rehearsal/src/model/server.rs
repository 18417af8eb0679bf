//! The HTTP server of the scripted model, on loopback.
//!
//! It supports only what the client needs: a request with a length, one answer, and the connection is closed. It limits what
//! it reads. Each connection has a thread, because agents run in parallel and a step may wait.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::{Value, json};

use super::answer::Message;
use super::{Request, Script, ScriptedAnswer};
use crate::actions::ActionRunner;
use crate::error::{Error, Result};
use crate::observer::RunEvent;
use crate::scenario::{Action, Answer, Step};
use crate::variables::Variables;

const HEAD_LIMIT: usize = 64 * 1024;
const BODY_LIMIT: usize = 64 * 1024 * 1024;
const READ_TIMEOUT: Duration = Duration::from_mins(5);

/// What the server and the host report to the thread that plays.
pub(crate) enum Report {
    Request(Request),
    Moment(RunEvent),
    /// A part of the scenario that could not be played as written.
    Problem(String),
}

/// What a connection needs to answer.
pub(crate) struct ServerState {
    pub(crate) script: Mutex<Script>,
    pub(crate) variables: Variables,
    pub(crate) actions: ActionRunner,
    pub(crate) notes: Mutex<Sender<Report>>,
    pub(crate) in_flight: Arc<AtomicUsize>,
}

pub(crate) struct ModelServer {
    address: SocketAddr,
    closing: Arc<AtomicBool>,
    in_flight: Arc<AtomicUsize>,
    listener: Option<TcpListener>,
    thread: Option<JoinHandle<()>>,
}

impl ModelServer {
    /// Takes a free port. Requests are answered after [`open`](Self::open).
    pub(crate) fn bind() -> Result<Self> {
        let bind = || {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
            Ok((listener.local_addr()?, listener))
        };
        let (address, listener) = bind().map_err(Error::machine("listen on loopback"))?;
        Ok(Self {
            address,
            closing: Arc::default(),
            in_flight: Arc::default(),
            listener: Some(listener),
            thread: None,
        })
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    /// A flag that is set when the run is over, to end all waits.
    pub(crate) fn closing(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.closing)
    }

    /// The number of received requests without an answer.
    pub(crate) fn in_flight(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.in_flight)
    }

    pub(crate) fn open(
        &mut self,
        script: Script,
        variables: Variables,
        actions: ActionRunner,
        notes: Sender<Report>,
    ) {
        let Some(listener) = self.listener.take() else {
            return;
        };
        let state = Arc::new(ServerState {
            script: Mutex::new(script),
            variables,
            actions,
            notes: Mutex::new(notes),
            in_flight: self.in_flight(),
        });
        let closing = self.closing();
        self.thread = Some(thread::spawn(move || {
            for stream in listener.incoming() {
                if closing.load(Ordering::SeqCst) {
                    break;
                }
                let Ok(stream) = stream else { continue };
                let state = Arc::clone(&state);
                // If a connection breaks, the client tries again.
                thread::spawn(move || state.answer(stream));
            }
        }));
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.closing.store(true, Ordering::SeqCst);
        // A connection wakes the listener from `accept`.
        let _ = TcpStream::connect_timeout(&self.address, Duration::from_secs(1));
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl ServerState {
    fn answer(&self, stream: TcpStream) -> io::Result<()> {
        stream.set_read_timeout(Some(READ_TIMEOUT))?;
        let mut reader = BufReader::new(stream.try_clone()?);
        match read_request(&mut reader) {
            Ok(call) => {
                self.in_flight.fetch_add(1, Ordering::SeqCst);
                let sent = self.reply(&call).send(stream);
                self.in_flight.fetch_sub(1, Ordering::SeqCst);
                sent
            }
            Err(Refusal::Broken(error)) => Err(error),
            Err(Refusal::Status(status)) => Reply::json(status, &json!({})).send(stream),
        }
    }

    fn reply(&self, call: &HttpCall) -> Reply {
        let path = call.path.split('?').next().unwrap_or_default();
        let (address, path) = path.split_at(path.find("/v1/").unwrap_or_default());
        match (call.method.as_str(), path) {
            ("HEAD", _) => Reply::json(200, &json!({})).without_body(),
            ("POST", "/v1/messages/count_tokens") => Reply::json(200, &json!({"input_tokens": 10})),
            ("POST", "/v1/messages") => match serde_json::from_slice(&call.body) {
                Ok(body) => self.answer_message(address, body),
                Err(_) => Reply::api_error(400, "invalid_request_error", "not JSON"),
            },
            _ => Reply::api_error(404, "not_found_error", "there is nothing here"),
        }
    }

    fn answer_message(&self, address: &str, body: Value) -> Reply {
        let cue = self.script.lock().unwrap_or_else(PoisonError::into_inner).next_step(address, &body);
        let streamed = body["stream"] == true;
        let Some(ScriptedAnswer { route, n, step }) = cue else {
            self.report(Report::Request(Request::new(None, 0, body)));
            return Reply::api_error(
                400,
                "invalid_request_error",
                "no route of the scenario takes this request",
            );
        };
        self.report(Report::Request(Request::new(Some(route.clone()), n, body.clone())));
        let report = |action: &Action| self.report(Report::Moment(RunEvent::Outside(action.describe())));
        if let Err(problem) = self.actions.perform(&step.before, &super::all_text(&body["messages"]), report)
        {
            self.report(Report::Problem(format!("before step {n} of route `{route}`: {problem}")));
        }
        self.deliver(&route, n, &step, &body, streamed)
    }

    fn deliver(&self, route: &str, n: usize, step: &Step, body: &Value, streamed: bool) -> Reply {
        let (text, calls, is_cut) = match &step.answer {
            Answer::Error(error) => {
                self.report(Report::Moment(RunEvent::Failed {
                    route: route.to_owned(),
                    status: error.status,
                }));
                return Reply::api_error(error.status, &error.kind, &error.message);
            }
            Answer::Message { text, calls, is_cut } => (text.as_deref(), calls.as_slice(), *is_cut),
        };
        let word: String = route.chars().filter(char::is_ascii_alphanumeric).take(12).collect();
        let (message, problems) =
            Message::compose(&format!("{word}_{n}"), (text, calls, is_cut), body, &self.variables);
        for problem in problems {
            self.report(Report::Problem(format!("step {n} of route `{route}`: {problem}")));
        }
        self.report(Report::Moment(RunEvent::Answered {
            route: route.to_owned(),
            n,
            text: message.text(),
            calls: message.calls(),
        }));
        if streamed {
            Reply::new(200, "text/event-stream", message.to_event_stream())
        } else {
            Reply::json(200, &message.to_json())
        }
    }

    fn report(&self, note: Report) {
        // The receiver is gone when the run is over.
        let _ = self.notes.lock().unwrap_or_else(PoisonError::into_inner).send(note);
    }
}

struct HttpCall {
    method: String,
    path: String,
    body: Vec<u8>,
}

enum Refusal {
    Broken(io::Error),
    Status(u16),
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        Self::Broken(error)
    }
}

fn read_request(reader: &mut impl BufRead) -> std::result::Result<HttpCall, Refusal> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let read = reader.by_ref().take(HEAD_LIMIT as u64).read_until(b'\n', &mut head)?;
        if read == 0 {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
        }
        if head.len() > HEAD_LIMIT {
            return Err(Refusal::Status(431));
        }
    }
    let mut headers = [httparse::EMPTY_HEADER; 100];
    let mut parsed = httparse::Request::new(&mut headers);
    if !parsed.parse(&head).is_ok_and(|status| status.is_complete()) {
        return Err(Refusal::Status(400));
    }
    let header = |name: &str| {
        let header = parsed.headers.iter().find(|header| header.name.eq_ignore_ascii_case(name))?;
        std::str::from_utf8(header.value).ok()
    };
    if header("transfer-encoding").is_some() {
        return Err(Refusal::Status(411));
    }
    let length: usize = match header("content-length").map(str::parse) {
        None => 0,
        Some(Ok(length)) => length,
        Some(Err(_)) => return Err(Refusal::Status(400)),
    };
    if length > BODY_LIMIT {
        return Err(Refusal::Status(413));
    }
    let method = parsed.method.unwrap_or_default().to_owned();
    let path = parsed.path.unwrap_or_default().to_owned();
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(HttpCall { method, path, body })
}

struct Reply {
    status: u16,
    kind: &'static str,
    body: String,
    bodiless: bool,
}

impl Reply {
    fn new(status: u16, kind: &'static str, body: String) -> Self {
        Self { status, kind, body, bodiless: false }
    }

    fn json(status: u16, body: &Value) -> Self {
        Self::new(status, "application/json", body.to_string())
    }

    fn api_error(status: u16, kind: &str, message: &str) -> Self {
        Self::json(status, &json!({"type": "error", "error": {"type": kind, "message": message}}))
    }

    fn without_body(mut self) -> Self {
        self.bodiless = true;
        self
    }

    fn send(&self, mut stream: TcpStream) -> io::Result<()> {
        let Self { status, kind, body, bodiless } = self;
        let length = body.len();
        let head = format!(
            "HTTP/1.1 {status} Scripted\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n"
        );
        let body = if *bodiless { "" } else { body };
        stream.write_all(format!("{head}{body}").as_bytes())?;
        stream.flush()
    }
}

#[cfg(test)]
#[path = "server_tests.rs"]
mod tests;
