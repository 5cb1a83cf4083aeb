//! The choice between the PTX just compiled, the committed one, and an error.

use crate::CudaBuilderError;
use crate::device::Failure;

/// The PTX to include.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    /// The PTX just compiled.
    Compiled(String),
    /// The committed PTX, and a line that says why.
    Committed(String, String),
}

/// Chooses between the result of the compilation (`None` if there is no compiler) and the committed PTX, which is given
/// only if it was made from the present sources. With `update`, only compiled PTX is accepted.
///
/// If there is matching committed PTX, the sources are known to compile, so that a failure is one of the compiler. The
/// build then continues with the committed PTX.
pub(crate) fn settle(
    compiled: Option<Result<String, Failure>>,
    committed: Option<String>,
    update: bool,
) -> Result<Choice, CudaBuilderError> {
    match (compiled, committed.filter(|_| !update)) {
        (Some(Ok(text)), _) => Ok(Choice::Compiled(text)),
        (None, Some(text)) => Ok(Choice::Committed(text, "no device compiler found".into())),
        (Some(Err(failure)), Some(text)) => {
            Ok(Choice::Committed(text, format!("the device compiler failed ({})", failure.reason)))
        }
        (None, None) if update => Err(CudaBuilderError::NoDeviceCompiler("CUDA_BUILDER_UPDATE=1 asks for one")),
        (None, None) => Err(CudaBuilderError::NoDeviceCompiler("no committed PTX was made from these sources")),
        (Some(Err(failure)), None) => Err(CudaBuilderError::BuildFailed(failure.reason, failure.messages)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ptx(name: &str) -> Option<String> {
        Some(name.to_owned())
    }

    fn failure() -> Option<Result<String, Failure>> {
        Some(Err(Failure { reason: "error: offline".into(), messages: "error: offline\nmore".into() }))
    }

    #[test]
    fn the_compiled_ptx_comes_first() {
        for (committed, update) in [(ptx("old"), false), (ptx("old"), true), (None, false), (None, true)] {
            let choice = settle(Some(Ok("new".into())), committed, update).unwrap();
            assert_eq!(choice, Choice::Compiled("new".into()));
        }
    }

    #[test]
    fn a_committed_one_that_matches_serves_without_a_working_compiler() {
        let why = |choice| match choice {
            Choice::Committed(text, why) if text == "old" => why,
            other => panic!("{other:?}"),
        };
        assert_eq!(why(settle(None, ptx("old"), false).unwrap()), "no device compiler found");
        assert!(why(settle(failure(), ptx("old"), false).unwrap()).contains("error: offline"));
    }

    #[test]
    fn otherwise_the_build_stops() {
        for (committed, update) in [(None, false), (None, true), (ptx("old"), true)] {
            let error = settle(None, committed.clone(), update).unwrap_err();
            assert!(matches!(error, CudaBuilderError::NoDeviceCompiler(_)));
            assert!(error.to_string().contains("apt-get install") && error.to_string().lines().count() == 1);
            let error = settle(failure(), committed, update).unwrap_err();
            assert!(matches!(error, CudaBuilderError::BuildFailed(..)));
            assert!(error.to_string().contains("error: offline") && error.to_string().lines().count() == 1);
        }
    }
}
