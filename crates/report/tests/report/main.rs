//! Reports of a made-up run.

#[cfg(test)]
mod chart_numbers;
#[cfg(test)]
mod cluster;
#[cfg(test)]
mod exchange;
mod formats;
#[cfg(test)]
mod html;
#[cfg(test)]
mod iometer;
#[cfg(test)]
mod machine;
#[cfg(test)]
mod numbers;
#[cfg(test)]
mod people;
#[cfg(test)]
mod shown;

#[path = "../../../results/tests/results/sample.rs"]
mod sample;

#[cfg(test)]
#[path = "../../examples/pages/clusters.rs"]
mod clusters;
#[cfg(test)]
#[path = "../../examples/pages/first.rs"]
mod first;
#[cfg(test)]
#[path = "../../examples/pages/loads.rs"]
mod loads;

#[path = "../../examples/pages/made_up.rs"]
mod made_up;
#[cfg(test)]
#[path = "../../examples/pages/odd.rs"]
mod odd;
#[cfg(test)]
#[path = "../../examples/pages/runs.rs"]
mod runs;
