//! What a run leaves behind: report.json and its neighbours.
