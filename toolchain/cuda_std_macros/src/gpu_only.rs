//! `#[gpu_only]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{ItemFn, parse2};

pub fn expand(item: TokenStream) -> syn::Result<TokenStream> {
    let ItemFn { attrs, vis, sig, block } = parse2(item)?;
    let message = format!("`{}` can only be used on the GPU", sig.ident);
    let host_sig = syn::Signature { abi: None, ..sig.clone() };
    Ok(quote! {
        #[cfg(target_arch = "nvptx64")]
        #(#attrs)* #vis #sig #block

        #[cfg(not(target_arch = "nvptx64"))]
        #[allow(unused_variables)]
        #(#attrs)* #vis #host_sig { ::core::panic!(#message) }
    })
}
