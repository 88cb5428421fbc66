//! Which user of this machine is asking: everyone on it can reach its loopback addresses, and what the page can do is
//! for its owner.

use std::fs;
use std::net::{IpAddr, SocketAddr};

use nix::unistd::geteuid;

/// May whoever asks from `peer` use a page of this user that listens on `port`? Another user of this machine may not.
/// Who cannot be told (the other end is in another network namespace), and the administrator, may.
pub fn is_welcome(peer: SocketAddr, port: u16) -> bool {
    !peer.ip().is_loopback() || user_of(peer, port).is_none_or(|user| [0, geteuid().as_raw()].contains(&user))
}

/// The user whose socket `peer` is, connected to `port`.
fn user_of(peer: SocketAddr, port: u16) -> Option<u32> {
    let table = if peer.is_ipv4() { "/proc/net/tcp" } else { "/proc/net/tcp6" };
    found(&fs::read_to_string(table).ok()?, peer, port)
}

/// In the system's table of connections: number, local and remote address, five columns of state, the user.
fn found(table: &str, peer: SocketAddr, port: u16) -> Option<u32> {
    let local = format!("{}:{:04X}", hex(peer.ip()), peer.port());
    let remote_end = format!(":{port:04X}");
    table.lines().skip(1).find_map(|line| {
        let columns: Vec<&str> = line.split_whitespace().collect();
        let is_it = columns.get(1) == Some(&local.as_str()) && columns.get(2)?.ends_with(&remote_end);
        is_it.then(|| columns.get(7)?.parse().ok()).flatten()
    })
}

/// An address as the table has it: words in the machine's order.
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
    fn the_user_of_a_connection_is_found() {
        for host in ["127.0.0.1:0", "[::1]:0"] {
            let listener = TcpListener::bind(host).unwrap();
            let port = listener.local_addr().unwrap().port();
            let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let peer = client.local_addr().unwrap();
            assert_eq!(user_of(peer, port), Some(geteuid().as_raw()), "{host}");
            assert_eq!(user_of(peer, port.wrapping_add(1)), None, "{host}");
            assert!(is_welcome(peer, port));
        }
    }

    #[test]
    fn another_users_connection_is_told_from_ours() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n   \
                     0: 0100007F:1D97 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1\n   \
                     1: 0100007F:C001 0100007F:1D97 01 00000000:00000000 00:00000000 00000000  1001        0 2\n";
        let check = |peer: &str, expected: Option<u32>| {
            assert_eq!(found(table, peer.parse().unwrap(), 0x1D97), expected, "{peer}");
        };
        // The table is as a machine with the usual order of bytes writes it.
        if cfg!(target_endian = "little") {
            check("127.0.0.1:49153", Some(1001));
        }
        check("127.0.0.1:49154", None);
        check("10.0.0.1:49153", None);
    }
}
