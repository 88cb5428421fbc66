//! A column that only identifies rows is a feature.

use std::rc::Rc;

use crate::report::{Cause, Report};
use crate::site::Site;

pub(super) fn find(report: &Report<'_>) -> Vec<Cause> {
    let cause = |(site, id): &(Site, Rc<str>)| {
        let fit = report.code(*site);
        (*site, format!("{fit} has the column `{id}` among its features, which only identifies rows"))
    };
    report.machine.seen.ids.iter().map(cause).collect()
}
