//! Formats money and tokens. An unknown cost is shown as `unknown`, never as 0.

use mle_star_domain::effects::Usage;

/// US dollars with the significant digits: `$1.23`, `$0.0042`, `<$0.0001`.
pub fn usd(amount: f64) -> String {
    match amount.abs() {
        0.0 => "$0".to_owned(),
        tiny if tiny < 0.000_05 => "<$0.0001".to_owned(),
        small if small < 0.1 => format!("${amount:.4}"),
        _ => format!("${amount:.2}"),
    }
}

/// A cost: `$1.23`, or `~$1.23` if a part of it is estimated; `None`: unknown.
pub fn cost(cost_usd: Option<f64>, estimated_usd: f64) -> String {
    let mark = if estimated_usd > 0.0 { "~" } else { "" };
    cost_usd.map_or_else(|| "unknown".to_owned(), |known| format!("{mark}{}", usd(known)))
}

/// The cost of calls; `>$1.23` if that of others among them is unknown.
pub fn cost_of(usage: &Usage) -> String {
    let more = if usage.cost_usd.is_some() && usage.unpriced() > 0 { ">" } else { "" };
    format!("{more}{}", cost(usage.cost_usd, usage.estimated_usd))
}

/// A number of tokens: `950`, `12k`, `1.2M`.
pub fn tokens(count: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "shown with two digits")]
    let size = count as f64;
    match count {
        0..1_000 => count.to_string(),
        1_000..9_950 => format!("{:.1}k", size / 1e3),
        9_950..999_500 => format!("{:.0}k", size / 1e3),
        _ => format!("{:.1}M", size / 1e6),
    }
}

/// Whether the calls used no tokens and cost nothing.
pub fn is_free(usage: &Usage) -> bool {
    costs_nothing(all_tokens(usage), usage.cost_usd)
}

/// Whether these tokens and US dollars are both zero.
pub fn costs_nothing(tokens: u64, cost_usd: Option<f64>) -> bool {
    tokens == 0 && cost_usd == Some(0.0)
}

/// All tokens read and written, cached ones included.
pub fn all_tokens(usage: &Usage) -> u64 {
    tokens_in(usage) + usage.output
}

/// All tokens read, cached ones included.
pub fn tokens_in(usage: &Usage) -> u64 {
    usage.input + usage.cache_read + usage.cache_write
}

/// `$0.0042, 1.2k tokens in, 300 out`.
pub fn usage(usage: &Usage) -> String {
    let cost = usage.cost_usd.map_or_else(|| "cost unknown".to_owned(), |_| cost_of(usage));
    format!("{cost}, {} tokens in, {} out", tokens(tokens_in(usage)), tokens(usage.output))
}
