//! Reports of a made-up run.

#[cfg(test)]
mod cluster;
mod formats;
#[cfg(test)]
mod html;
#[cfg(test)]
mod iometer;
#[cfg(test)]
mod machine;
#[cfg(test)]
mod people;

#[path = "../../../results/tests/results/sample.rs"]
mod sample;

#[path = "../../examples/pages/made_up.rs"]
#[expect(dead_code, reason = "the example makes more pages")]
mod made_up;
