//! The way in: a listener that can be shut and opened again, and connections that can be cut.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::extract::connect_info::Connected;
use axum::serve::{IncomingStream, Listener};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// How long a listener that can't accept, or bind its port again, waits before it tries again.
const AGAIN: Duration = Duration::from_millis(20);

/// Whether connections are taken, and how often all of them were cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Doors {
    pub(super) open: bool,
    pub(super) cuts: u64,
}

impl Doors {
    /// Open, and nothing was cut yet.
    pub(super) fn new() -> watch::Sender<Self> {
        watch::Sender::new(Self {
            open: true,
            cuts: 0,
        })
    }
}

/// A listener that is closed, port and all, while the doors are.
#[derive(Debug)]
pub(super) struct Entrance {
    /// `None` while the doors are shut.
    listener: Option<TcpListener>,
    addr: SocketAddr,
    doors: watch::Receiver<Doors>,
}

impl Entrance {
    pub(super) fn new(listener: TcpListener, doors: watch::Receiver<Doors>) -> io::Result<Self> {
        Ok(Self {
            addr: listener.local_addr()?,
            listener: Some(listener),
            doors,
        })
    }

    /// The listener, bound again where the doors were shut meanwhile.
    async fn open(&mut self) -> &TcpListener {
        if !self.doors.borrow_and_update().open {
            self.listener = None;
            // Fails only where nobody can open them any more, and then the server is over.
            if self.doors.wait_for(|doors| doors.open).await.is_err() {
                std::future::pending::<()>().await;
            }
        }
        let listener = match self.listener.take() {
            Some(listener) => listener,
            None => loop {
                match TcpListener::bind(self.addr).await {
                    Ok(listener) => break listener,
                    Err(_) => tokio::time::sleep(AGAIN).await,
                }
            },
        };
        self.listener.insert(listener)
    }
}

impl Listener for Entrance {
    type Io = Connection;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        loop {
            let mut doors = self.doors.clone();
            let listener = self.open().await;
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                _ = doors.wait_for(|doors| !doors.open) => continue,
            };
            match accepted {
                Ok((stream, from)) => {
                    // Without this the kernel holds small chunks back for the client's acknowledgement.
                    let _ = stream.set_nodelay(true);
                    return (Connection::new(stream, self.doors.clone()), from);
                }
                Err(_) => tokio::time::sleep(AGAIN).await,
            }
        }
    }

    fn local_addr(&self) -> io::Result<Self::Addr> {
        Ok(self.addr)
    }
}

/// A connection that ends when all are cut, unless it is spared: the one that asks for the cut is.
pub(super) struct Connection {
    stream: TcpStream,
    cut: Pin<Box<dyn Future<Output = ()> + Send>>,
    is_cut: bool,
    spared: Spared,
}

/// Whether a connection outlives a cut.
#[derive(Debug, Clone, Default)]
pub(super) struct Spared(Arc<AtomicBool>);

impl Spared {
    /// Lets it live.
    pub(super) fn spare(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Connected<IncomingStream<'_, Entrance>> for Spared {
    fn connect_info(stream: IncomingStream<'_, Entrance>) -> Self {
        stream.io().spared.clone()
    }
}

impl Connection {
    fn new(stream: TcpStream, mut doors: watch::Receiver<Doors>) -> Self {
        let before = doors.borrow().cuts;
        Self {
            stream,
            cut: Box::pin(async move {
                if doors.wait_for(|doors| doors.cuts > before).await.is_err() {
                    std::future::pending::<()>().await;
                }
            }),
            is_cut: false,
            spared: Spared::default(),
        }
    }

    /// An error once it is cut.
    fn alive(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        self.is_cut = self.is_cut || self.cut.as_mut().poll(context).is_ready();
        if self.is_cut && !self.spared.0.load(Ordering::Relaxed) {
            return Err(io::ErrorKind::ConnectionReset.into());
        }
        Ok(())
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.alive(context)?;
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.alive(context)?;
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.alive(context)?;
        Pin::new(&mut self.stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
