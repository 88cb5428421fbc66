//! Counts what was sent into a closed network, with the kernel's counters.

use std::fs;
use std::net::{SocketAddr, UdpSocket};

/// Attempts to reach an address beyond loopback, and datagrams to loopback: names that were looked up.
pub fn attempts_to_leave() -> u64 {
    let of = |file: &str, key: &str| {
        let text = fs::read_to_string(file).unwrap();
        counter(&text, key).unwrap_or_else(|| panic!("{file} does not count {key}"))
    };
    of("/proc/self/net/snmp", "Ip OutNoRoutes")
        + of("/proc/self/net/snmp", "Udp OutDatagrams")
        + of("/proc/self/net/snmp6", "Ip6OutNoRoutes")
        + of("/proc/self/net/snmp6", "Udp6OutDatagrams")
}

/// Tries to reach an address outside, so that the counter must change.
pub fn try_to_leave() {
    let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
    let outside = SocketAddr::from(([192, 0, 2, 1], 53));
    assert!(socket.send_to(b"hello", outside).is_err(), "this network is not closed");
}

/// `Ip OutNoRoutes` out of two lines of names and numbers, `Ip6OutNoRoutes` out of one line each.
fn counter(text: &str, key: &str) -> Option<u64> {
    let Some((protocol, name)) = key.split_once(' ') else {
        let line = text.lines().find(|line| line.split_whitespace().next() == Some(key))?;
        return line.split_whitespace().nth(1)?.parse().ok();
    };
    let mut lines = text.lines().filter_map(|line| line.strip_prefix(protocol)?.strip_prefix(':'));
    let (names, values) = (lines.next()?, lines.next()?);
    let at = names.split_whitespace().position(|known| known == name)?;
    values.split_whitespace().nth(at)?.parse().ok()
}
