//! The standard deviation of numbers.

/// The standard deviation of a sample; `None` for less than two finite values.
pub fn standard_deviation(values: &[f64]) -> Option<f64> {
    let values: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
    let count = values.len() as f64;
    if values.len() < 2 {
        return None;
    }
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    Some((squares / (count - 1.0)).sqrt())
}
