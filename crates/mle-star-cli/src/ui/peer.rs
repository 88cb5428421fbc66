//! Finds the user behind a connection: every user of this machine can reach its loopback addresses, but the page
//! is for one.
//!
//! The system's connection tables have the owner of the other end while it is open and in this network namespace.
//! A connection that is not in the tables is refused.

use std::fs;
use std::net::{IpAddr, SocketAddr};

use nix::unistd::geteuid;

/// The tables of IPv4 and IPv6 connections; an IPv6 socket can connect to an IPv4 address.
const TABLES: [&str; 2] = ["/proc/net/tcp", "/proc/net/tcp6"];
/// Both ends are open. A closing connection has user 0 in the table.
const ESTABLISHED: &str = "01";

/// Whether this system has tables with the owners of connections.
pub fn can_tell() -> bool {
    fs::read_to_string(TABLES[0]).is_ok()
}

/// Whether the user behind `peer` may use this user's page on `port`. This user and root may.
pub fn is_welcome(peer: SocketAddr, port: u16) -> bool {
    let tables = TABLES.map(|table| fs::read_to_string(table).unwrap_or_default());
    let users: Vec<u32> = tables.iter().flat_map(|table| users(table, peer, port)).collect();
    !users.is_empty() && users.iter().all(|user| [0, geteuid().as_raw()].contains(user))
}

/// The users with a connection from `peer` to `port` in one of the tables: number, local and remote address, state,
/// three columns of queues and timers, the user.
fn users(table: &str, peer: SocketAddr, port: u16) -> Vec<u32> {
    let locals = written(peer.ip()).map(|ip| format!("{ip}:{:04X}", peer.port()));
    let remote_end = format!(":{port:04X}");
    let user = |line: &str| {
        let columns: Vec<&str> = line.split_whitespace().collect();
        let is_it = locals.iter().any(|local| columns.get(1) == Some(&local.as_str()))
            && columns.get(2)?.ends_with(&remote_end)
            && columns.get(3) == Some(&ESTABLISHED);
        is_it.then(|| columns.get(7)?.parse().ok()).flatten()
    };
    table.lines().skip(1).filter_map(user).collect()
}

/// The forms of an address in the tables: an IPv6 socket has an IPv4 address in mapped form.
fn written(ip: IpAddr) -> [String; 2] {
    match ip.to_canonical() {
        IpAddr::V4(ip) => [hex(ip.into()), hex(ip.to_ipv6_mapped().into())],
        IpAddr::V6(ip) => [hex(ip.into()), hex(ip.into())],
    }
}

/// An address in the format of the table: words in the machine's byte order.
fn hex(ip: IpAddr) -> String {
    let bytes = match ip {
        IpAddr::V4(ip) => ip.octets().to_vec(),
        IpAddr::V6(ip) => ip.octets().to_vec(),
    };
    let words = bytes.as_chunks::<4>().0;
    words.iter().map(|word| format!("{:08X}", u32::from_ne_bytes(*word))).collect()
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn only_open_connections_of_ours_are_welcome() {
        let check = |listening: &str, connect: &str| {
            let listener = TcpListener::bind(listening).unwrap();
            let port = listener.local_addr().unwrap().port();
            let client = TcpStream::connect((connect, port)).unwrap();
            let (server, peer) = listener.accept().unwrap();
            assert!(is_welcome(peer, port), "{connect}");
            assert!(!is_welcome(peer, port.wrapping_add(1)), "{connect}");
            drop(client);
            assert!(!is_welcome(peer, port), "{connect}, closed");
            drop(server);
            assert!(!is_welcome(peer, port), "{connect}, closed on both ends");
        };
        check("127.0.0.1:0", "127.0.0.1");
        check("[::1]:0", "::1");
        check("127.0.0.1:0", "::ffff:127.0.0.1");
        assert!(can_tell());
    }
}
