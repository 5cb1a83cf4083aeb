//! `#[kernel]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Error, FnArg, ItemFn, ReturnType, Type, parse_quote, parse2};

pub fn expand(arguments: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    if !arguments.is_empty() {
        return Err(Error::new_spanned(arguments, "`#[kernel]` takes no arguments"));
    }
    let mut host: ItemFn = parse2(item)?;
    check(&host)?;
    let types: Vec<_> = host.sig.inputs.iter().map(parameter_type).collect::<syn::Result<_>>()?;
    host.block.stmts.insert(
        0,
        parse_quote! {{
            fn kernel_parameter_must_be_copy<T: Copy>() {}
            #(kernel_parameter_must_be_copy::<#types>();)*
        }},
    );

    let mut device = host.clone();
    device.sig.abi = Some(parse_quote!(extern "ptx-kernel"));
    Ok(quote! {
        #[cfg(target_arch = "nvptx64")]
        #[unsafe(no_mangle)]
        #device

        #[cfg(not(target_arch = "nvptx64"))]
        #host
    })
}

fn check(function: &ItemFn) -> syn::Result<()> {
    let signature = &function.sig;
    if signature.unsafety.is_none() {
        return Err(Error::new_spanned(signature, "Kernel functions must be marked as unsafe"));
    }
    if let ReturnType::Type(_, returned) = &signature.output {
        return Err(Error::new_spanned(returned, "Kernel functions should not return anything"));
    }
    if !signature.generics.params.is_empty() {
        return Err(Error::new_spanned(&signature.generics, "Kernel functions may not be generic"));
    }
    Ok(())
}

fn parameter_type(parameter: &FnArg) -> syn::Result<&Type> {
    match parameter {
        FnArg::Receiver(receiver) => Err(Error::new_spanned(receiver, "Kernel functions may not be struct methods")),
        FnArg::Typed(typed) => Ok(&typed.ty),
    }
}

#[cfg(test)]
mod tests {
    use super::expand;
    use proc_macro2::TokenStream;
    use quote::quote;

    fn refusal(item: TokenStream) -> String {
        expand(TokenStream::new(), item).unwrap_err().to_string()
    }

    #[test]
    fn refuses_what_is_no_kernel() {
        assert!(refusal(quote! { fn k() {} }).contains("unsafe"));
        assert!(refusal(quote! { unsafe fn k() -> u32 { 1 } }).contains("return"));
        assert!(refusal(quote! { unsafe fn k<T>(x: T) {} }).contains("generic"));
        assert!(refusal(quote! { unsafe fn k(self) {} }).contains("method"));
        assert!(expand(quote! { grid = 1 }, quote! { unsafe fn k() {} }).is_err());
    }

    #[test]
    fn exports_an_entry_point_on_the_device_only() {
        let text = expand(TokenStream::new(), quote! { pub unsafe fn k(n: u32) {} }).unwrap().to_string();
        let (device, host) = text.split_once("cfg (not").unwrap();
        assert!(device.contains("no_mangle") && device.contains("\"ptx-kernel\""));
        assert!(!host.contains("no_mangle") && !host.contains("extern"));
    }
}
