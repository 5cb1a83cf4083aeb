//! The kernels of Mattes mutual information.

use crate::backend::queue::kernels;
use gpu::kernels::mattes::{histogram as mattes_histogram, slope as mattes_slope, value as mattes_value};
use gpu::params;

kernels! {
    MATTES_HISTOGRAM = mattes_histogram::mattes_histogram(params::MattesHistogram);
    MATTES_HISTOGRAM_BOTH = mattes_histogram::mattes_histogram_both(params::MattesHistogram);
    MATTES_MARGINALS = mattes_value::mattes_marginals(params::MattesValue);
    MATTES_VALUE = mattes_value::mattes_value(params::MattesValue);
    MATTES_SLOPE = mattes_slope::mattes_slope(params::MattesSlope);
    MATTES_SLOPE_BOTH = mattes_slope::mattes_slope_both(params::MattesSlope);
    MATTES_FOLD = mattes_slope::mattes_fold(params::MattesFold);
}
