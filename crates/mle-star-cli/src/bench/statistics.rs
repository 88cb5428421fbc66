//! Statistics of a few values.

/// The mean; `None` of no values.
pub fn mean(values: &[f64]) -> Option<f64> {
    #[expect(clippy::cast_precision_loss, reason = "there are few values")]
    let count = values.len() as f64;
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / count)
}

/// The standard error of the mean; `None` of fewer than two values.
pub fn standard_error(values: &[f64]) -> Option<f64> {
    let mean = mean(values).filter(|_| values.len() > 1)?;
    #[expect(clippy::cast_precision_loss, reason = "there are few values")]
    let count = values.len() as f64;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    Some((squares / (count - 1.0) / count).sqrt())
}

/// A quantile, interpolated linearly between the values next to it, as numpy does; `None` of no values.
pub fn quantile(values: &[f64], share: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().checked_sub(1)?;
    #[expect(clippy::cast_precision_loss, reason = "there are few values")]
    let at = share.clamp(0.0, 1.0) * last as f64;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and the last")]
    let below = at.floor() as usize;
    let above = (below + 1).min(last);
    Some(sorted[below] + (sorted[above] - sorted[below]) * at.fract())
}

/// A count as a share of another; 0 of nothing.
pub fn share(count: usize, of: usize) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "counts of runs")]
    let share = count as f64 / of.max(1) as f64;
    share
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_are_those_of_numpy() {
        let values = [4.0, 1.0, 2.0, 8.0];
        assert_eq!((mean(&values), mean(&[])), (Some(3.75), None));
        assert_eq!([0.25, 0.5, 0.75].map(|share| quantile(&values, share).unwrap()), [1.75, 3.0, 5.0]);
        assert_eq!((quantile(&[7.0], 0.25), quantile(&[], 0.5)), (Some(7.0), None));
        assert!((standard_error(&values).unwrap() - 1.547_847_968_417_257).abs() < 1e-12);
        assert_eq!(standard_error(&[1.0]), None);
    }
}
