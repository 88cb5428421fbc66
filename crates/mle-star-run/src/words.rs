//! Numbers in words.

/// A count with its noun: `1 call`, `2 calls`.
pub fn counted(count: u64, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// Seconds as `8.1 s`, `3m 12s`, `2h 05m`.
pub fn duration(seconds: f64) -> String {
    let whole = jiff::SignedDuration::try_from_secs_f64(seconds.max(0.0)).unwrap_or_default().as_secs();
    match whole {
        0..10 => format!("{:.1} s", seconds.max(0.0)),
        10..60 => format!("{whole} s"),
        60..3600 => format!("{}m {:02}s", whole / 60, whole % 60),
        _ => format!("{}h {:02}m", whole / 3600, whole % 3600 / 60),
    }
}
