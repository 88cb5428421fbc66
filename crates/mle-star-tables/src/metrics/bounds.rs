//! Matches the columns of a submission to classes, and to the bounds of intervals.

/// The class of each column, if each begins or ends with the name of a class, whatever its capitals, and no two with that
/// of the same one. Of several names, the longest counts.
pub(super) fn matched(columns: &[String], classes: &[impl AsRef<str>]) -> Option<Vec<usize>> {
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
