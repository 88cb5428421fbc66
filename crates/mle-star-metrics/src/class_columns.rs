//! Matches the columns of a submission to classes, and to the bounds of intervals.

/// The class of each column, if each begins or ends with the name of a class, whatever its capitals, and no two with that
/// of the same one. Of several names, the longest counts.
pub fn matched(columns: &[String], classes: &[impl AsRef<str>]) -> Option<Vec<usize>> {
    let classes: Vec<String> = classes.iter().map(|class| class.as_ref().trim().to_lowercase()).collect();
    let class_of = |column: &String| {
        let column = column.to_lowercase();
        let fits = |class: &&String| {
            !class.is_empty() && (column.starts_with(class.as_str()) || column.ends_with(class.as_str()))
        };
        let longest = classes.iter().filter(fits).map(String::len).max()?;
        let mut found = (0..classes.len()).filter(|at| fits(&&classes[*at]) && classes[*at].len() == longest);
        found.next().filter(|_| found.next().is_none())
    };
    let found: Vec<usize> = columns.iter().map(class_of).collect::<Option<_>>()?;
    let is_single = |at: usize| found.iter().filter(|other| **other == at).count() == 1;
    (columns.len() == classes.len() && (0..classes.len()).all(is_single)).then_some(found)
}

/// The columns with the lower and with the upper bound: by words in their names, or by quantiles, else the first and the second.
/// `None` if there are not two.
pub fn bounds(columns: &[String]) -> Option<[String; 2]> {
    let [one, two] = columns else { return None };
    let is_lower = |name: &String| says(name, ["lo", "low", "min"]);
    let is_upper = |name: &String| says(name, ["hi", "upp", "max"]);
    let by_words = is_upper(one) && !is_upper(two) || is_lower(two) && !is_lower(one);
    // A word in both names, such as that of the target, says nothing.
    let are_alike = is_lower(one) == is_lower(two) && is_upper(one) == is_upper(two);
    let by_quantiles = are_alike && number(one).zip(number(two)).is_some_and(|(one, two)| one > two);
    Some(if by_words || by_quantiles { [two.clone(), one.clone()] } else { [one.clone(), two.clone()] })
}

/// Whether a word of a name begins like this.
fn says(name: &str, starts: [&str; 3]) -> bool {
    let name = name.to_lowercase();
    let mut words = name.split(|letter: char| !letter.is_alphabetic());
    words.any(|word| starts.iter().any(|start| word.starts_with(start)))
}

/// The number in a name.
fn number(name: &str) -> Option<f64> {
    let digits: String = name.chars().filter(|letter| letter.is_ascii_digit() || *letter == '.').collect();
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_show_their_classes() {
        let check = |columns: &[&str], classes: &[&str], expected: Option<&[usize]>| {
            let columns: Vec<String> = columns.iter().map(|column| (*column).to_owned()).collect();
            assert_eq!(matched(&columns, classes).as_deref(), expected, "{columns:?}");
        };
        check(&["prob_low", "prob_medium", "prob_high"], &["High", "Low", "Medium"], Some(&[1, 2, 0]));
        check(&["Low_prob", "High_prob"], &["High", "Low"], Some(&[1, 0]));
        check(&["10_p", "1_p"], &["1", "10"], Some(&[1, 0]));
        check(&["p_very high", "p_high"], &["high", "very high"], Some(&[1, 0]));
        check(&["first", "second"], &["a", "b"], None);
        // The name does not say which of the two.
        check(&["ab", "ba"], &["a", "b"], None);
        check(&["p_a", "q_a"], &["a", "b"], None);
        check(&["p_a", "p_b", "p_c"], &["a", "b"], None);
    }

    #[test]
    fn bounds_are_known_by_their_names() {
        let check = |columns: [&str; 2], expected: [&str; 2]| {
            let columns = columns.map(str::to_owned);
            assert_eq!(bounds(&columns).unwrap(), expected, "{columns:?}");
        };
        check(["lower", "upper"], ["lower", "upper"]);
        check(["y_upper", "y_lower"], ["y_lower", "y_upper"]);
        check(["PI high", "PI low"], ["PI low", "PI high"]);
        check(["q95", "q5"], ["q5", "q95"]);
        check(["0.05", "0.95"], ["0.05", "0.95"]);
        check(["min_1", "max_0"], ["min_1", "max_0"]);
        check(["a", "b"], ["a", "b"]);
    }
}
