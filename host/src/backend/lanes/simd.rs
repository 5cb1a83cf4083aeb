//! Chooses the widest vector instructions that the processor has, at run time.

/// Compiles a function for AVX-512, for AVX2 with FMA and for the target's baseline, and calls the best that the
/// processor supports. All give the same results, because neither the order of additions nor the fusing of
/// multiply-adds is left to the compiler.
macro_rules! widest {
    ($(#[$meta:meta])* $visibility:vis fn $name:ident($($arg:ident: $type:ty),* $(,)?) $(-> $out:ty)? $body:block) => {
        $(#[$meta])*
        $visibility fn $name($($arg: $type),*) $(-> $out)? {
            #[inline(always)]
            fn body($($arg: $type),*) $(-> $out)? $body

            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
                fn avx512($($arg: $type),*) $(-> $out)? {
                    body($($arg),*)
                }

                #[target_feature(enable = "avx2,fma")]
                fn avx2($($arg: $type),*) $(-> $out)? {
                    body($($arg),*)
                }

                let fma = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
                let avx512_all = is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl");
                if fma && avx512_all {
                    // SAFETY: the processor has these instructions.
                    return unsafe { avx512($($arg),*) };
                }
                if fma {
                    // SAFETY: the processor has these instructions.
                    return unsafe { avx2($($arg),*) };
                }
            }
            body($($arg),*)
        }
    };
}

pub(crate) use widest;
