//! Texture fetches.

use cuda_std::emulator::{Border, FaultKind, Filter, Launch, Texture3d, register_texture, run};
use cuda_std::prelude::*;
use cuda_std::texture::tex3d_f32;

#[kernel]
unsafe fn fetch(texture: u64, at: [f32; 3], out: DeviceSliceMut<[f32; 4]>) {
    // SAFETY: `out` has one element and the launch one thread; the caller says that there is the texture.
    unsafe { out.set(0, tex3d_f32(texture, at[0], at[1], at[2])) }
}

fn fetched(filter: Filter, border: Border, at: [f32; 3]) -> [f32; 4] {
    let texels = (0..24).map(|i| i as f32).collect();
    let texture = register_texture(Texture3d { size: [2, 3, 4], texels, filter, border });
    let mut out = [0.0; 4];
    // SAFETY: the memory outlives the launch, which alone uses it.
    let slice = unsafe { DeviceSliceMut::new(&raw mut out, 1) };
    // SAFETY: the texture is registered as long as the launch runs.
    run("fetch", &Launch::default(), || unsafe { fetch(texture.handle(), at, slice) }).unwrap();
    out
}

#[test]
fn texel_centres_are_at_halves() {
    for filter in [Filter::Point, Filter::Linear] {
        assert_eq!(fetched(filter, Border::Zero, [1.5, 2.5, 3.5]), [23.0, 0.0, 0.0, 1.0]);
        assert_eq!(fetched(filter, Border::Clamp, [0.5, 1.5, 2.5])[0], 14.0);
    }
}

#[test]
fn linear_fetches_interpolate_and_point_fetches_do_not() {
    assert_eq!(fetched(Filter::Linear, Border::Clamp, [0.75, 1.0, 2.0])[0], 0.25 + 0.5 * 2.0 + 1.5 * 6.0);
    assert_eq!(fetched(Filter::Point, Border::Clamp, [0.75, 1.0, 2.0])[0], 14.0);
}

#[test]
fn borders_are_clamped_or_zero() {
    assert_eq!(fetched(Filter::Linear, Border::Clamp, [-7.0, -7.0, 9.0])[0], 18.0);
    assert_eq!(fetched(Filter::Linear, Border::Zero, [-7.0, -7.0, 9.0])[0], 0.0);
    assert_eq!(fetched(Filter::Linear, Border::Zero, [2.0, 2.5, 3.5])[0], 11.5);
}

#[test]
fn an_unknown_handle_is_a_fault() {
    // SAFETY: a slice of no elements.
    let slice = unsafe { DeviceSliceMut::new(std::ptr::null_mut(), 0) };
    // SAFETY: the emulator stops the kernel at its fault.
    let fault = run("fetch", &Launch::default(), || unsafe { fetch(0, [0.0; 3], slice) }).unwrap_err();
    assert!(matches!(fault.kind, FaultKind::Misuse(_)), "{fault}");
}
