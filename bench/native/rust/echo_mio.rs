//! An echo server on mio, by its rules: edge-triggered, registered once for both directions, a socket is read until it
//! would block (mio makes no promise about short reads). One read buffer for all; what a full socket does not take is kept in the
//! connection, which is read again only when all of it is sent.
//!
//! echo_mio [--port P] [--loops N]: N threads, each with a Poll and a listening socket of its own (SO_REUSEPORT).

mod options;

use mio::event::Event;
use mio::net::{TcpListener, TcpStream};
use mio::{Events, Interest, Poll, Token};
use std::io::{ErrorKind, Read, Result, Write};

const BUFFER: usize = 64 * 1024;
const LISTENER: Token = Token(usize::MAX);

struct Connection {
    stream: TcpStream,
    rest: Vec<u8>,
    from: usize,
    unread: bool,
}

impl Connection {
    /// False: the connection is at its end.
    fn serve(&mut self, event: &Event, buffer: &mut [u8]) -> Result<bool> {
        self.unread |= event.is_readable() || event.is_read_closed() || event.is_error();
        if !self.flush()? {
            return Ok(true);
        }
        while self.unread {
            match self.stream.read(buffer) {
                Ok(0) => return Ok(false),
                Ok(n) => {
                    let sent = self.write(&buffer[..n])?;
                    if sent < n {
                        self.rest.extend_from_slice(&buffer[sent..n]);
                        return Ok(true);
                    }
                }
                Err(e) if e.kind() == ErrorKind::WouldBlock => self.unread = false,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        Ok(true)
    }

    /// Writes until the socket would block; returns how much it took.
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        let mut sent = 0;
        while sent < bytes.len() {
            match self.stream.write(&bytes[sent..]) {
                Ok(n) => sent += n,
                Err(e) if e.kind() == ErrorKind::WouldBlock => break,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        Ok(sent)
    }

    /// Whether nothing is left to send.
    fn flush(&mut self) -> Result<bool> {
        if self.rest.is_empty() {
            return Ok(true);
        }
        let rest = std::mem::take(&mut self.rest);
        let sent = self.write(&rest[self.from..]);
        self.rest = rest;
        self.from += sent?;
        if self.from < self.rest.len() {
            return Ok(false);
        }
        self.rest.clear();
        self.from = 0;
        Ok(true)
    }
}

#[derive(Default)]
struct Connections {
    slots: Vec<Option<Connection>>,
    free: Vec<usize>,
}

impl Connections {
    fn accept_all(&mut self, poll: &Poll, listener: &TcpListener) -> Result<()> {
        loop {
            let mut stream = match listener.accept() {
                Ok((stream, _)) => stream,
                Err(e) if e.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(e) if matches!(e.kind(), ErrorKind::ConnectionAborted | ErrorKind::Interrupted) => continue,
                Err(e) => return Err(e),
            };
            stream.set_nodelay(true)?;
            let slot = self.free.pop().unwrap_or_else(|| {
                self.slots.push(None);
                self.slots.len() - 1
            });
            poll.registry().register(&mut stream, Token(slot), Interest::READABLE | Interest::WRITABLE)?;
            self.slots[slot] = Some(Connection { stream, rest: Vec::new(), from: 0, unread: false });
        }
    }

    fn serve(&mut self, slot: usize, event: &Event, buffer: &mut [u8]) {
        if let Some(connection) = &mut self.slots[slot] {
            if !matches!(connection.serve(event, buffer), Ok(true)) {
                self.slots[slot] = None; // closes it, and so takes it out of the poll
                self.free.push(slot);
            }
        }
    }
}

fn serve_forever(listener: std::net::TcpListener) -> Result<()> {
    let mut listener = TcpListener::from_std(listener);
    let mut poll = Poll::new()?;
    poll.registry().register(&mut listener, LISTENER, Interest::READABLE)?;
    let mut events = Events::with_capacity(1024);
    let mut buffer = vec![0; BUFFER];
    let mut connections = Connections::default();
    loop {
        match poll.poll(&mut events, None) {
            Err(e) if e.kind() == ErrorKind::Interrupted => continue,
            polled => polled?,
        }
        for event in &events {
            match event.token() {
                LISTENER => connections.accept_all(&poll, &listener)?,
                Token(slot) => connections.serve(slot, event, &mut buffer),
            }
        }
    }
}

fn run(listener: std::net::TcpListener) {
    if let Err(e) = serve_forever(listener) {
        eprintln!("cannot go on: {e}");
        std::process::exit(2);
    }
}

fn main() {
    let options = options::Options::parse();
    options::run_all(options.listen("Rust, mio"), run);
}
