//! Which columns of a submission are the lower and upper bounds of intervals, by their names.

/// The columns with the lower and with the upper bound: by words in their names, or by quantiles, else the first and the second.
/// `None` if there are not two.
pub fn bounds(columns: &[String]) -> Option<[String; 2]> {
    let [one, two] = columns else { return None };
    let is_lower = |name: &String| has_prefix(name, ["lo", "low", "min"]);
    let is_upper = |name: &String| has_prefix(name, ["hi", "upp", "max"]);
    let by_words = is_upper(one) && !is_upper(two) || is_lower(two) && !is_lower(one);
    // A word in both names, such as that of the target, says nothing.
    let are_alike = is_lower(one) == is_lower(two) && is_upper(one) == is_upper(two);
    let by_quantiles = are_alike && number(one).zip(number(two)).is_some_and(|(one, two)| one > two);
    Some(if by_words || by_quantiles { [two.clone(), one.clone()] } else { [one.clone(), two.clone()] })
}

/// Whether a word of a name begins like this.
fn has_prefix(name: &str, starts: [&str; 3]) -> bool {
    let name = name.to_lowercase();
    let mut words = name.split(|letter: char| !letter.is_alphabetic());
    words.any(|word| starts.iter().any(|start| word.starts_with(start)))
}

/// The number in a name.
fn number(name: &str) -> Option<f64> {
    let digits: String = name.chars().filter(|letter| letter.is_ascii_digit() || *letter == '.').collect();
    digits.parse().ok()
}
