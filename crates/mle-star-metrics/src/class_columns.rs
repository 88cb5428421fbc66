//! Matches the columns of a submission to classes.

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
}
