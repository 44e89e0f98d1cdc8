//! What both servers share: their options, and the listening sockets, one for each loop (SO_REUSEPORT).

use socket2::{Domain, Socket, Type};
use std::net::{SocketAddr, TcpListener};
use std::process::exit;

pub struct Options {
    pub loops: usize,
    port: u16,
}

fn refuse(why: &str) -> ! {
    eprintln!("{why}\necho_mio, echo_tokio [--port P] [--loops N]");
    exit(2)
}

impl Options {
    pub fn parse() -> Options {
        let mut options = Options { loops: 1, port: 0 };
        let mut words = std::env::args().skip(1);
        while let Some(name) = words.next() {
            let value = words.next().unwrap_or_else(|| refuse(&format!("{name} needs a value")));
            let number: u16 = value.parse().unwrap_or_else(|_| refuse(&format!("{name} needs a number, not {value}")));
            match name.as_str() {
                "--port" => options.port = number,
                "--loops" if (1..=64).contains(&number) => options.loops = number as usize,
                _ => refuse(&format!("unknown option, or not 1 to 64: {name} {value}")),
            }
        }
        options
    }

    /// Listens with one socket for each loop, and says so.
    pub fn listen(&self, what: &str) -> Vec<TcpListener> {
        raise_open_files();
        let mut address = SocketAddr::from(([127, 0, 0, 1], self.port));
        let listeners = (0..self.loops)
            .map(|_| {
                let listener = listen_on(address).unwrap_or_else(|e| refuse(&format!("cannot listen on {address}: {e}")));
                address = listener.local_addr().expect("a bound socket has an address");
                listener
            })
            .collect();
        println!("listening on {address} ({what}, {} loops with SO_REUSEPORT)", self.loops);
        listeners
    }
}

fn listen_on(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
    socket.set_reuse_address(true)?;
    socket.set_reuse_port(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(4096)?;
    Ok(socket.into())
}

fn raise_open_files() {
    // SAFETY: both calls only read or write the struct.
    unsafe {
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        if libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) == 0 {
            limit.rlim_cur = limit.rlim_max;
            libc::setrlimit(libc::RLIMIT_NOFILE, &limit);
        }
    }
}

/// Runs the loop for each listener, the first on this thread.
pub fn run_all(mut listeners: Vec<TcpListener>, run: fn(TcpListener)) {
    let first = listeners.remove(0);
    for listener in listeners {
        std::thread::spawn(move || run(listener));
    }
    run(first);
}
