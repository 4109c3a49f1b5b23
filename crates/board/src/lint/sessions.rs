//! Applies the rules about reports of PostMark to an import.

use results::ImportRecord;

use super::imports::place;
use super::pool::PoolModel;
use super::reports::ReportCheck;
use super::rule::FindingList;
use super::terse;
use crate::BoardConfig;
use crate::session::PoolSession;

/// Checks all reports of an import.
pub(super) fn check(
    import: &ImportRecord,
    config: &BoardConfig,
    model: &mut PoolModel,
    found: &mut FindingList,
) {
    for session in PoolSession::all(import) {
        let sizes = config.tables.iter().filter_map(|it| it.pool);
        let size = sizes.into_iter().find(|it| session.fits(*it));
        let mut report = ReportCheck {
            at: place(session.result),
            session,
            size,
            found,
        };
        report.sums();
        let totals = report.totals(model);
        match report.is_terse() {
            true => terse::check(&mut report, &totals),
            false => {
                report.counts(&totals);
                report.whole_seconds();
            }
        }
        report.transactions();
    }
}
