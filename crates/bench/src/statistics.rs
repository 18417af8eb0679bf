//! Statistics for start-up times.
//!
//! Start-up times have a minimum and a long tail of interruptions, so they are described by medians and quartiles, not means.

/// The number of bootstrap samples for an interval.
const DRAWS: usize = 2000;

/// The value below which this share of the values lies, interpolated.
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
pub fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let place = share * last as f64;
    let below = place.floor() as usize;
    let above = (below + 1).min(last);
    sorted[below] + (sorted[above] - sorted[below]) * (place - place.floor())
}

pub fn median(values: &[f64]) -> f64 {
    quantile(values, 0.5)
}

/// The 95 % interval of the ratio of two medians, by bootstrap. Whole rounds are drawn, so that interruptions that affected
/// both programs stay together.
pub fn ratio_interval(values: &[f64], base: &[f64]) -> (f64, f64) {
    let mut random = fastrand::Rng::with_seed(2);
    let ratios: Vec<f64> = (0..DRAWS)
        .map(|_| {
            let rounds: Vec<usize> = (0..values.len()).map(|_| random.usize(..values.len())).collect();
            let drawn = |from: &[f64]| rounds.iter().map(|&round| from[round]).collect::<Vec<_>>();
            median(&drawn(values)) / median(&drawn(base))
        })
        .collect();
    (quantile(&ratios, 0.025), quantile(&ratios, 0.975))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-9
    }

    #[test]
    fn quantiles_are_interpolated() {
        let values = [4.0, 1.0, 3.0, 2.0];
        assert!(close(median(&values), 2.5));
        assert!(close(quantile(&values, 0.0), 1.0) && close(quantile(&values, 1.0), 4.0));
        assert!(close(quantile(&values, 0.25), 1.75));
        assert!(close(median(&[7.0]), 7.0));
    }

    #[test]
    fn the_interval_contains_the_ratio_and_is_a_point_without_noise() {
        let base = [10.0; 50];
        let (low, high) = ratio_interval(&[15.0; 50], &base);
        assert!(close(low, 1.5) && close(high, 1.5));
        let noisy: Vec<f64> = (0..50).map(|round| 15.0 + f64::from(round % 7)).collect();
        let (low, high) = ratio_interval(&noisy, &base);
        assert!(low < high && low <= median(&noisy) / 10.0 && median(&noisy) / 10.0 <= high);
    }
}
