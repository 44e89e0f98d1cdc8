//! An echo server on tokio, as its tutorial has it: a task for each connection that reads and writes all, in a loop.
//!
//! echo_tokio [--port P] [--loops N]: N threads, each with a current_thread runtime and a listening socket of its own
//! (SO_REUSEPORT). A buffer of 16 KiB for each connection.

mod options;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Builder;

const BUFFER: usize = 16 * 1024;

async fn echo(mut stream: TcpStream) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut buffer = vec![0; BUFFER];
    loop {
        let n = stream.read(&mut buffer).await?;
        if n == 0 {
            return Ok(());
        }
        stream.write_all(&buffer[..n]).await?;
    }
}

async fn accept_forever(listener: std::net::TcpListener) -> std::io::Result<()> {
    let listener = TcpListener::from_std(listener)?;
    loop {
        let (stream, _) = listener.accept().await?;
        tokio::spawn(async move {
            // An error means that the client is gone; there is nobody to tell.
            let _ = echo(stream).await;
        });
    }
}

fn run(listener: std::net::TcpListener) {
    let runtime = Builder::new_current_thread().enable_io().build();
    if let Err(e) = runtime.and_then(|runtime| runtime.block_on(accept_forever(listener))) {
        eprintln!("cannot go on: {e}");
        std::process::exit(2);
    }
}

fn main() {
    let options = options::Options::parse();
    options::run_all(options.listen("Rust, tokio, current_thread"), run);
}
