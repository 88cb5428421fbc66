//! Several columns that refer to the rows of the same table, each in a role of its own: `home_team` and `away_team` for `team`
//! of `teams.csv`.

use super::super::keys::names_rows;
use super::super::profile::{Column, ColumnKind, Table};
use super::{Link, Links, Named, could_be, could_refer, is_of_times, is_whole, names_its_rows};
use crate::column_names::{says_code, says_measure, says_role, says_time};

/// The share of the values of such a column that the table has.
const SHARE: f64 = 0.8;
/// Columns and tables with fewer words have some in common by chance.
const FEWEST: usize = 3;
const FEWEST_OF_TABLE: usize = 10;
/// The greatest number of columns that refer to a table, and of links by roles.
const MOST: usize = 4;
const MOST_LINKS: usize = 12;

/// A column of the training table and the test table, and what it refers to.
struct Role<'a> {
    column: &'a Column,
    own: &'a Column,
}

impl Links<'_> {
    /// Adds links to tables of which a column names the row, alone or with the keys of a link that is there.
    pub(super) fn add_lookups(&mut self) {
        for at in 0..self.tables.len() {
            let table = self.tables[at].table;
            let found = self.found.iter().find(|link| link.table == at && link.to.is_none());
            let natural = found.cloned().or_else(|| self.direct(at, None));
            // A table by the ID tells about one row each.
            if natural.as_ref().is_some_and(|link| self.id.is_some_and(|id| link.columns == [id])) {
                continue;
            }
            let lookup = |role: Role<'_>| match &natural {
                _ if names_its_rows(role.own, table) => {
                    Some(super::link((at, None), role.own, role.column, true))
                }
                Some(link) => role.beside(link, table),
                None => None,
            };
            let room = MOST - usize::from(natural.is_some());
            let links: Vec<Link> =
                self.roles(at, natural.as_ref()).into_iter().filter_map(lookup).take(room).collect();
            self.add(links);
        }
    }

    /// Adds links to tables that have several rows for what a column refers to, if nothing else links them.
    pub(super) fn add_summaries(&mut self) {
        for at in 0..self.tables.len() {
            let other = self.direct(at, self.id);
            let is_free = other.is_none_or(|link| is_of_times(&link, self.profile)) && !self.is_linked(at);
            if is_free && is_whole(self.tables[at].table) {
                let links = self.roles(at, None).into_iter().take(MOST);
                let links = links.map(|role| super::link((at, None), role.own, role.column, false));
                self.add(links.collect());
            }
        }
    }

    fn add(&mut self, links: Vec<Link>) {
        let left = MOST_LINKS.saturating_sub(self.by_roles);
        self.by_roles += links.len().min(left);
        self.found.extend(links.into_iter().take(left));
    }

    /// The columns that refer to a table beside those of a link, in the order of the training table.
    fn roles(&self, at: usize, found: Option<&Link>) -> Vec<Role<'_>> {
        let named = &self.tables[at];
        let position = |own: &Column| named.table.columns.iter().position(|column| column.name == own.name);
        let owns = named.columns.iter().filter(|(letters, own)| may_be_referred_to(letters, own, named));
        let mut owns: Vec<(&Column, Vec<String>)> =
            owns.map(|(letters, own)| (*own, named.said_in_roles(letters, own))).collect();
        owns.sort_by_key(|(own, _)| {
            (!names_its_rows(own, named.table), !says_code(&own.name), position(own))
        });
        let has_other_use = |column: &Column| {
            let name = &column.name;
            Some(name.as_str()) == self.id
                || self.targets.contains(&name.as_str())
                || found.is_some_and(|found| found.columns.contains(name))
                || column.kind.is_number() && says_measure(name)
        };
        let role = |column: &Column| {
            let fits: Vec<_> = owns.iter().filter(|(own, _)| self.refers(column, own, named.table)).collect();
            let is_named = |said: &[String]| said.iter().any(|said| says_role(&column.name, said));
            let by_name = fits.iter().find(|(_, said)| is_named(said));
            let by_values = || fits.iter().find(|(own, _)| has_names(column, own, named.table));
            by_name.or_else(by_values).map(|(own, _)| *own)
        };
        let all = self.profile.train.columns.iter().filter(|column| !has_other_use(column));
        all.filter_map(|column| role(column).map(|own| Role { column, own })).collect()
    }

    /// Whether a table has most values of a column of the training table and the test table.
    fn refers(&self, column: &Column, own: &Column, table: &Table) -> bool {
        let has_most = |twin: &Column| {
            could_be(twin, own)
                && (!is_whole(table) || twin.sketch.share_in(&own.sketch).is_some_and(|share| share >= SHARE))
        };
        let twin = |test: &Table| test.column(&column.name).is_some_and(has_most);
        column.name != own.name
            && could_refer(column, own)
            && has_most(column)
            && self.profile.test.as_ref().is_none_or(twin)
    }
}

impl Named<'_> {
    /// What columns in roles may end with. Numbers such as `num_stores` are no stores.
    fn said_in_roles(&self, letters: &str, own: &Column) -> Vec<String> {
        let is_plural = |said: &String| {
            let stem = self.names.last().filter(|_| self.names.len() > 1);
            stem.is_some_and(|stem| said.starts_with(stem.as_str()))
        };
        let said = self.said(letters, own).into_iter();
        said.filter(|said| !(own.kind.is_number() && is_plural(said))).collect()
    }
}

/// Whether a column names something that others may refer to: as the name says, or words, or each day.
fn may_be_referred_to(letters: &String, own: &Column, named: &Named<'_>) -> bool {
    match own.kind {
        ColumnKind::Boolean => false,
        ColumnKind::Date => names_its_rows(own, named.table),
        ColumnKind::Category if !own.nearly_numbers => !says_time(&own.name),
        // Several ratings may be equal, and then they name nothing.
        _ if names_its_rows(own, named.table) && named.names.contains(letters) => true,
        _ => says_code(&own.name),
    }
}

/// Whether words of a column name rows of a table, whatever it is called: `origin` has codes of airports.
fn has_names(column: &Column, own: &Column, table: &Table) -> bool {
    let is_word = |column: &Column| column.kind == ColumnKind::Category && !column.nearly_numbers;
    let has_many = column.distinct >= FEWEST && own.distinct >= FEWEST_OF_TABLE;
    has_many && is_word(column) && is_word(own) && is_whole(table) && names_its_rows(own, table)
}

impl Role<'_> {
    /// The link by this column and columns of a link, if they name the rows of the table: teams of a season are found by
    /// `home_team` and `season`.
    fn beside(&self, found: &Link, table: &Table) -> Option<Link> {
        let mut link = Link { unique: true, ..found.clone() };
        match link.own.iter().position(|own| *own == self.own.name) {
            Some(place) => link.columns[place].clone_from(&self.column.name),
            None => {
                link.own.push(self.own.name.clone());
                link.columns.push(self.column.name.clone());
            }
        }
        let keys: Vec<&Column> = link.own.iter().filter_map(|name| table.column(name)).collect();
        (link.own.len() > 1 && names_rows(&keys, table)).then_some(link)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::check_with;

    #[test]
    fn columns_refer_to_the_same_table_in_several_roles() {
        let teams = "team,rank,town\nfoxes,1,Ulm\nbears,2,Bonn\nowls,3,Jena\ncrows,4,Bonn\na,5,c\nb,6,c\nd,7,c\ne,8,c\n\
                     f,9,c\ng,10,c\n";
        let names = ["foxes", "bears", "owls", "crows"];
        let rows = |first: usize, ends: &str| -> String {
            let row = |at: usize| {
                format!("{},{},{},20{at}{ends}\n", first + at, names[at % 4], names[(at * 3 + 1) % 4])
            };
            (0..6).map(row).collect()
        };
        for [one, other] in [
            ["home_team", "away_team"],
            ["team_a", "team_b"],
            ["homeTeam", "awayTeamId"],
            ["team", "opponent"],
        ] {
            let train = format!("match,{one},{other},season,y\n{}", rows(1, ",0"));
            let test = format!("match,{one},{other},season\n{}", rows(7, ""));
            let expected = [one, other].map(|name| format!("teams team={name} train one"));
            check_with(
                [("train.csv", &train), ("test.csv", &test)],
                "match",
                &[("teams.csv", teams)],
                &expected.each_ref().map(String::as_str),
            );
        }
    }
}
