//! The static allocation behind `shared_slice!` and `shared_array!` on the device.

use proc_macro2::TokenStream;
use quote::quote;
use std::sync::atomic::{AtomicU32, Ordering};
use syn::parse::{Parse, ParseStream};
use syn::{Expr, Token, Type, parse2};

struct Allocation {
    element: Type,
    length: Expr,
}

impl Parse for Allocation {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        let element = input.parse()?;
        input.parse::<Token![;]>()?;
        Ok(Self { element, length: input.parse()? })
    }
}

pub fn expand(input: TokenStream) -> syn::Result<TokenStream> {
    let Allocation { element, length } = parse2(input)?;
    let symbol = unique_symbol();
    let declaration = format!(".shared .align 16 .b8 {symbol}[{{}}];");
    let address = format!("mov.u32 {{}}, {symbol};");
    // This is module-level assembly, so that there is one allocation even if the function around it is inlined several
    // times. It is in its own module because `global_asm!` cannot be a statement.
    Ok(quote! {{
        mod allocation {
            #[allow(unused_imports)]
            use super::*;
            ::core::arch::global_asm!(#declaration, const ::core::mem::size_of::<#element>() * (#length));
        }
        let address: u32;
        // SAFETY: takes the address of the allocation above.
        #[allow(unused_unsafe)]
        unsafe {
            ::core::arch::asm!(#address, out(reg32) address, options(pure, nomem, nostack, preserves_flags));
        }
        address
    }})
}

/// Returns a PTX symbol that is unique among all expansions in this and other crates.
fn unique_symbol() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let krate = std::env::var("CARGO_CRATE_NAME").unwrap_or_default();
    format!("__shared_{krate}_{}", NEXT.fetch_add(1, Ordering::Relaxed))
}
