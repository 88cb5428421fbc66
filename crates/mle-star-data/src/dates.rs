//! Recognizes dates.

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// Whether this text is a date, with or without a time of day.
///
/// Accepted: `2024-01-31`, `2024/1/31`, `31.01.2024`, `1/31/2024`, `2024-01`, `31-Jan-2024`, `Jan 31, 2024`, each
/// optionally followed by a time and an offset.
pub(super) fn is_date(text: &str) -> bool {
    let text = text.trim();
    let starts_like_a_date = text.starts_with(|first: char| first.is_ascii_alphanumeric());
    if !starts_like_a_date || text.len() < 6 || text.len() > 40 {
        return false;
    }
    let (date, time) = split_time(text);
    (is_numeric_date(date) || has_month_name(date)) && time.is_none_or(is_time)
}

fn split_time(text: &str) -> (&str, Option<&str>) {
    let Some(colon) = text.find(':') else { return (text, None) };
    match text[..colon].rfind([' ', 'T']) {
        Some(at) => (text[..at].trim_end(), Some(text[at + 1..].trim())),
        None => (text, None),
    }
}

fn is_numeric_date(date: &str) -> bool {
    ['-', '/', '.'].into_iter().any(|separator| {
        let parts: Vec<Option<u32>> = date.split(separator).map(number).collect();
        match parts.as_slice() {
            [Some(a), Some(b), Some(c)] => in_order(&[*a, *b, *c]),
            [Some(year), Some(month)] => separator != '.' && is_year(*year) && (1..=12).contains(month),
            _ => false,
        }
    })
}

/// Year first or last; day and month in either order.
fn in_order(parts: &[u32; 3]) -> bool {
    let [a, b, c] = *parts;
    let day_and_month = |x: u32, y: u32| x.min(y) >= 1 && x.min(y) <= 12 && x.max(y) <= 31;
    (is_year(a) && day_and_month(b, c)) || ((is_year(c) || c < 100) && day_and_month(a, b))
}

fn has_month_name(date: &str) -> bool {
    let mut parts = date.split([' ', '-', ',', '/']).filter(|part| !part.is_empty()).collect::<Vec<_>>();
    let is_month =
        |part: &&str| part.get(..3).is_some_and(|s| MONTHS.contains(&s.to_ascii_lowercase().as_str()));
    let Some(month) = parts.iter().position(is_month) else { return false };
    parts.remove(month);
    let numbers: Option<Vec<u32>> = parts.iter().map(|part| number(part)).collect();
    numbers
        .is_some_and(|n| (1..=2).contains(&n.len()) && n.iter().any(|&value| value < 100 || is_year(value)))
}

fn is_time(time: &str) -> bool {
    let digits = time.chars().filter(char::is_ascii_digit).count();
    let allowed = |c: char| c.is_ascii_digit() || ":.+-, ZAPMapmUTC".contains(c);
    digits >= 3 && time.chars().all(allowed) && time.starts_with(|c: char| c.is_ascii_digit())
}

fn is_year(number: u32) -> bool {
    (1000..=2999).contains(&number)
}

fn number(text: &str) -> Option<u32> {
    let short = (1..=4).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    short.then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::is_date;

    #[test]
    fn dates_are_distinguished_from_other_texts() {
        for date in [
            "2024-01-31",
            "2024/1/31",
            "31.01.2024",
            "1/31/24",
            "2024-01",
            "31-Jan-2024",
            "Jan 31, 2024",
            "2024-01-31 10:20:30",
            "2024-01-31T10:20:30.123Z",
            "2024-01-31 10:20:30+02:00",
            "12/31/2024 11:59 PM",
        ] {
            assert!(is_date(date), "{date}");
        }
        for other in [
            "1.2.3",
            "10-20-30-40",
            "B/12/S",
            "555-1234",
            "192.168.0.1",
            "12:30",
            "3.14",
            "May",
            "2024-13-40",
            "",
        ] {
            assert!(!is_date(other), "{other}");
        }
    }
}
