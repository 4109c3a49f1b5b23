//! Comparisons of made-up and of simulated runs.

mod chance;
mod made;
mod matching;
mod verdicts;
