//! Open connections: bounds on all of them and on those of one address. Where a bound is reached, a connection that
//! waits for a request makes room, so that slow clients cannot keep others out.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;

/// Maximum number of open connections.
pub(super) const MAX_CONNECTIONS: usize = 1_024;

/// Maximum number of open connections of one address other than loopback, from which a reverse proxy on this machine
/// connects. A reverse proxy on another machine may use half of all connections.
pub(super) const MAX_CONNECTIONS_PER_ADDRESS: usize = MAX_CONNECTIONS / 2;

/// An open connection. While it exists, it counts.
#[derive(Debug)]
pub(super) struct HttpConnection {
    address: Option<IpAddr>,
    /// A request of it is carried out.
    is_busy: AtomicBool,
    /// It has had a request of a caller whose credential GitLab accepts.
    is_trusted: AtomicBool,
    closing: Notify,
}

impl HttpConnection {
    /// Waits until the connection has to be closed.
    pub(super) async fn closing(&self) {
        self.closing.notified().await;
    }

    /// Marks the connection of a caller whose credential GitLab accepts: it is closed after those of others.
    pub(super) fn trust(&self) {
        self.is_trusted.store(true, Ordering::Relaxed);
    }

    /// A request is carried out until the value is dropped. Meanwhile the connection is not closed for another one.
    pub(super) fn begin_request(self: &Arc<Self>) -> RunningRequest {
        self.is_busy.store(true, Ordering::Relaxed);
        RunningRequest(Arc::clone(self))
    }
}

/// A request that is carried out.
#[derive(Debug)]
pub(super) struct RunningRequest(Arc<HttpConnection>);

impl Drop for RunningRequest {
    fn drop(&mut self) {
        self.0.is_busy.store(false, Ordering::Relaxed);
    }
}

/// Table of the open connections.
#[derive(Debug, Default)]
pub(super) struct Connections {
    table: Mutex<ConnectionTable>,
    freed: Notify,
}

#[derive(Debug, Default)]
struct ConnectionTable {
    /// By a number that grows: the oldest first.
    open: BTreeMap<u64, Arc<HttpConnection>>,
    next: u64,
}

/// The place of a connection in the table.
#[derive(Debug)]
pub(super) struct ConnectionPlace {
    pub(super) connection: Arc<HttpConnection>,
    number: u64,
    connections: Arc<Connections>,
}

impl Drop for ConnectionPlace {
    fn drop(&mut self) {
        let mut table = self.connections.table.lock().unwrap_or_else(PoisonError::into_inner);
        table.open.remove(&self.number);
        drop(table);
        self.connections.freed.notify_one();
    }
}

impl Connections {
    /// A place for a connection from this address. Waits while requests are carried out on all connections. None if
    /// they are carried out on as many connections as one address may have.
    pub(super) async fn admit(self: &Arc<Self>, peer: Option<IpAddr>) -> Option<ConnectionPlace> {
        let address = peer.and_then(bounded_address);
        loop {
            let freed = self.freed.notified();
            {
                let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
                let of_address = |connection: &HttpConnection| connection.address == address;
                if address.is_some() && !table.make_room(MAX_CONNECTIONS_PER_ADDRESS, &of_address) {
                    return None;
                }
                if table.make_room(MAX_CONNECTIONS, &|_| true) {
                    return Some(self.place(&mut table, address));
                }
            }
            freed.await;
        }
    }

    fn place(self: &Arc<Self>, table: &mut ConnectionTable, address: Option<IpAddr>) -> ConnectionPlace {
        let connection = Arc::new(HttpConnection {
            address,
            is_busy: AtomicBool::default(),
            is_trusted: AtomicBool::default(),
            closing: Notify::new(),
        });
        let number = table.next;
        table.next += 1;
        table.open.insert(number, Arc::clone(&connection));
        ConnectionPlace { connection, number, connections: Arc::clone(self) }
    }

    /// Closes a connection that waits for a request. Returns false if there is none.
    pub(super) fn close_one(&self) -> bool {
        self.table.lock().unwrap_or_else(PoisonError::into_inner).close_waiting(&|_| true)
    }

    /// The number of open connections.
    #[cfg(test)]
    pub(super) fn count(&self) -> usize {
        self.table.lock().unwrap_or_else(PoisonError::into_inner).open.len()
    }
}

impl ConnectionTable {
    /// True if fewer than `most` of these connections are open, or one of them was closed.
    fn make_room(&mut self, most: usize, is_counted: &dyn Fn(&HttpConnection) -> bool) -> bool {
        let count = self.open.values().filter(|connection| is_counted(connection)).count();
        count < most || self.close_waiting(is_counted)
    }

    /// Closes one of these connections on which no request is carried out: the oldest of those that no accepted
    /// caller has used, else the oldest.
    fn close_waiting(&mut self, is_counted: &dyn Fn(&HttpConnection) -> bool) -> bool {
        let is_busy = |connection: &HttpConnection| connection.is_busy.load(Ordering::Relaxed);
        let waiting =
            self.open.iter().filter(|(_, connection)| is_counted(connection) && !is_busy(connection));
        let first = waiting
            .min_by_key(|(number, connection)| (connection.is_trusted.load(Ordering::Relaxed), **number));
        let Some(number) = first.map(|(number, _)| *number) else { return false };
        if let Some(connection) = self.open.remove(&number) {
            connection.closing.notify_one();
        }
        true
    }
}

/// The address whose connections are counted together: of IPv6 the network of 64 bits, which one machine may have as a
/// whole. None for loopback.
fn bounded_address(peer: IpAddr) -> Option<IpAddr> {
    match peer.to_canonical() {
        peer if peer.is_loopback() => None,
        IpAddr::V6(ip) => Some(IpAddr::V6(Ipv6Addr::from_bits(ip.to_bits() >> 64 << 64))),
        peer @ IpAddr::V4(_) => Some(peer),
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    const LOCAL: IpAddr = IpAddr::V6(Ipv6Addr::LOCALHOST);

    fn admit(connections: &Arc<Connections>, peer: IpAddr) -> ConnectionPlace {
        connections.admit(Some(peer)).now_or_never().unwrap().unwrap()
    }

    fn is_closed(place: &ConnectionPlace) -> bool {
        place.connection.closing().now_or_never().is_some()
    }

    #[test]
    fn the_oldest_waiting_connection_makes_room() {
        let connections = Arc::default();
        let places: Vec<ConnectionPlace> = (0..MAX_CONNECTIONS).map(|_| admit(&connections, LOCAL)).collect();
        let running = places[0].connection.begin_request();
        places[1].connection.trust();
        let newest = admit(&connections, LOCAL);
        assert_eq!(connections.count(), MAX_CONNECTIONS);
        let closed: Vec<usize> = (0..places.len()).filter(|number| is_closed(&places[*number])).collect();
        assert_eq!(closed, [2], "neither the busy one nor that of an accepted caller");
        drop(running);
        let _further = admit(&connections, LOCAL);
        assert!(is_closed(&places[0]) && !is_closed(&places[1]) && !is_closed(&newest));
    }

    #[tokio::test]
    async fn a_connection_waits_while_all_others_are_busy() {
        let connections = Arc::default();
        let mut places: Vec<ConnectionPlace> =
            (0..MAX_CONNECTIONS).map(|_| admit(&connections, LOCAL)).collect();
        let running: Vec<_> = places.iter().map(|place| place.connection.begin_request()).collect();
        let mut waiting = Box::pin(connections.admit(Some(LOCAL)));
        assert!(waiting.as_mut().now_or_never().is_none());
        places.pop();
        assert!(waiting.await.is_some());
        drop(running);
    }

    #[test]
    fn an_address_has_half_of_the_connections_and_makes_room_for_its_own_alone() {
        let connections = Arc::default();
        let [one, other] = ["203.0.113.1", "::ffff:203.0.113.2"].map(|ip| ip.parse::<IpAddr>().unwrap());
        let first = admit(&connections, other);
        let places: Vec<ConnectionPlace> =
            (0..MAX_CONNECTIONS_PER_ADDRESS).map(|_| admit(&connections, one)).collect();
        let new = admit(&connections, one);
        assert_eq!(connections.count(), MAX_CONNECTIONS_PER_ADDRESS + 1);
        assert!(is_closed(&places[0]) && !is_closed(&first));
        let running: Vec<_> = places.iter().map(|place| place.connection.begin_request()).collect();
        let _busy = new.connection.begin_request();
        assert!(connections.admit(Some(one)).now_or_never().unwrap().is_none(), "all of them are busy");
        assert!(connections.admit(Some(other)).now_or_never().unwrap().is_some());
        drop(running);
    }

    #[test]
    fn an_ipv6_network_is_one_address_and_loopback_none() {
        let address = |text: &str| bounded_address(text.parse().unwrap());
        assert_eq!(address("2001:db8::1"), address("2001:db8::ffff:ffff:ffff:ffff"));
        assert_ne!(address("2001:db8::1"), address("2001:db8:0:1::1"));
        assert_eq!(address("::ffff:203.0.113.2"), address("203.0.113.2"));
        for local in ["127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1"] {
            assert_eq!(address(local), None, "{local}");
        }
    }
}
