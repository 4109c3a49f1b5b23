//! Runs inside another kind of page. Each can be opened in place, so that the page is complete when
//! sent to others.

use maud::{Markup, html};
use results::RunRecord;

use super::run::Run;
use super::{first, run_sections, sweeps};
use crate::html::{opening, sentence};

/// Runs of the same workload on the same target.
#[derive(Debug, Clone)]
pub(crate) struct RunGroup {
    /// Anchor of the group.
    pub id: String,
    /// Workload and target.
    pub name: String,
    /// Indexes of the runs among all runs of the page.
    pub runs: Vec<usize>,
}

/// Returns all groups of runs, each of which opens to the contents of the run's own page.
pub(crate) fn opened(records: &[RunRecord], groups: &[RunGroup]) -> Markup {
    let runs = Run::opened(records);
    let of = |group: &RunGroup| -> Vec<&Run> {
        let members = group.runs.iter().filter_map(|index| runs.get(*index));
        members.collect()
    };
    html! {
        @for group in groups {
            @match of(group).as_slice() {
                [] => {}
                [only] => {
                    details.cell #(group.id) {
                        // Always packed, because each run is as large as a page.
                        (opening(&summary(&group.name, only), &part(only), false))
                    }
                }
                several => {
                    details.cell #(group.id) {
                        summary {
                            h3 { (sentence(&group.name)) }
                            span.brief { (several.len()) " runs" }
                        }
                        @for (place, run) in several.iter().enumerate() {
                            @let name = format!("Repetition {}", place + 1);
                            details.cell.inner #(run.id("run")) {
                                (opening(&summary(&name, run), &part(run), false))
                            }
                        }
                    }
                }
            }
        }
    }
}

fn summary(name: &str, run: &Run) -> Markup {
    html! {
        h3 { (sentence(name)) }
        span.brief { (run.time()) }
    }
}

/// Returns the contents of a run's page without the frame.
fn part(run: &Run) -> Markup {
    let alone = std::slice::from_ref(run);
    html! {
        div.opened {
            (first::status(run))
            (first::of_run(run))
            (sweeps::section(alone))
            (run_sections(run))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    fn group(runs: &[usize]) -> RunGroup {
        RunGroup {
            id: "runs-0-0".to_owned(),
            name: "file-server on `ext4`".to_owned(),
            runs: runs.to_vec(),
        }
    }

    #[test]
    fn a_single_run_opens_directly_and_several_one_by_one() {
        let records = [sample::record(), sample::record()];
        let alone = opened(&records[..1], &[group(&[0])]).into_string();
        assert_eq!(alone.matches("<details").count(), 1, "{alone}");
        assert!(alone.contains("id=\"runs-0-0\""), "{alone}");
        let both = opened(&records, &[group(&[0, 1])]).into_string();
        assert_eq!(both.matches("<details").count(), 3, "{both}");
        for id in ["runs-0-0", "A-run", "B-run"] {
            assert!(both.contains(&format!("id=\"{id}\"")), "{id}: {both}");
        }
        assert!(opened(&records, &[group(&[])]).into_string().is_empty());
    }

    #[test]
    fn no_two_elements_of_opened_runs_share_an_id() {
        let records = [sample::record(), sample::record()];
        let runs = Run::opened(&records);
        let page: String = runs.iter().map(|run| part(run).into_string()).collect();
        let mut ids: Vec<&str> = page.split(" id=\"").skip(1).collect();
        ids.iter_mut()
            .for_each(|it| *it = it.split('"').next().unwrap_or_default());
        let count = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), count, "{ids:?}");
    }
}
