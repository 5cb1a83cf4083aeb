//! The kernels of the `flow` family, which optimise a displacement field.

use crate::backend::queue::kernels;
use gpu::kernels::flow::{
    copy, field as flow_field, force as flow_force, inverse as flow_inverse, landmarks as flow_landmarks,
    local as flow_local, pairs as flow_pairs, relax as flow_relax, resample as flow_resample, step as flow_step,
    table as flow_table,
};
use gpu::params;

kernels! {
    COPY_WORDS = copy::copy_words(params::CopyWords);
    FLOW_PAIRS = flow_pairs::flow_pairs(params::FlowPairs);
    FLOW_TABLE_SMOOTH = flow_table::flow_table_smooth(params::FlowTable);
    FLOW_TABLE_DENSITY = flow_table::flow_table_density(params::FlowTable);
    FLOW_TABLE_SCORES = flow_table::flow_table_scores(params::FlowTable);
    FLOW_FORCE = flow_force::flow_force(params::FlowForce);
    FLOW_LOCAL_FIXED = flow_local::flow_local_fixed(params::FlowLocal);
    FLOW_LOCAL_VARIANCE = flow_local::flow_local_variance(params::FlowLocal);
    FLOW_LOCAL_MOVING = flow_local::flow_local_moving(params::FlowLocal);
    FLOW_LOCAL_AGREEMENT = flow_local::flow_local_agreement(params::FlowLocal);
    FLOW_LOCAL_FORCE = flow_local::flow_local_force(params::FlowLocal);
    FLOW_RESAMPLE = flow_resample::flow_resample(params::FlowResample);
    FLOW_LANDMARKS = flow_landmarks::flow_landmarks(params::FlowLandmarks);
    FLOW_UPDATE = flow_step::flow_update(params::FlowStep);
    FLOW_COMPOSE = flow_step::flow_compose(params::FlowStep);
    FLOW_REFINE = flow_field::flow_refine(params::FlowRefine);
    FLOW_SUBTRACT = flow_field::flow_subtract(params::FlowSubtract);
    FLOW_VECTORS = flow_field::flow_vectors(params::FlowVectors);
    FLOW_JACOBIAN = flow_field::flow_jacobian(params::FlowJacobian);
    FLOW_MARK_OUTSIDE_LIMITS = flow_relax::flow_mark_outside_limits(params::FlowRelax);
    FLOW_RELAX = flow_relax::flow_relax(params::FlowRelax);
    FLOW_MOVED = flow_field::flow_moved(params::FlowMoved);
    FLOW_INVERSE = flow_inverse::flow_inverse(params::FlowInverse);
    FLOW_INVERSE_ERROR = flow_inverse::flow_inverse_error(params::FlowInverse);
}
