//! How the auxiliary tables of a data folder hang together, as the tables of a database do.

mod roles;

use std::collections::HashMap;

use super::keys::{Key, alike, is_nameable, key, same_type};
use super::profile::{Column, ColumnKind, Profile, ROWS_LOOKED_AT, Table};
use crate::column_names::{says_code, says_counter, says_time, without_id};

/// Names of columns that number the rows of any table.
const BARE: [&str; 5] = ["id", "index", "no", "row", "unnamed0"];
/// Names of columns that name the rows of any table, so that other tables may call them like the table.
const NAMES: [&str; 4] = ["code", "id", "key", "name"];
/// Fewer values in common with the key column of another table are chance: of one of both columns, at least this share.
const SHARE: f64 = 0.5;
/// Less of the rows are chance if a table has just numbers of rows.
const FEW: f64 = 0.1;
/// The greatest number of auxiliary tables that join others, and of further links of such tables.
const MOST_TABLES: usize = 12;
const MOST_SHARED: usize = 12;

/// An auxiliary table that joins another table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The position among the auxiliary tables.
    pub table: usize,
    /// The position of the auxiliary table that it joins; `None` if it joins the training table and the test table.
    pub to: Option<usize>,
    /// The key columns of the table.
    pub own: Vec<String>,
    /// The same columns of the table that it joins.
    pub columns: Vec<String>,
    /// Whether each key occurs once in the table.
    pub unique: bool,
}

/// The links of the auxiliary tables. A table that joins neither the training table and the test table nor a table that does
/// has none. It has several if several columns refer to it, or several tables look its rows up.
pub fn links(profile: &Profile, target: Option<&str>, id: Option<&str>) -> Vec<Link> {
    let targets = target.map_or_else(Vec::new, |target| profile.targets(target, id));
    let tables = profile.auxiliary.iter().map(|table| Named::new(table, &targets)).collect();
    let train = Named::new(&profile.train, &targets);
    let mut links =
        Links { profile, targets, id, train, tables, found: Vec::new(), by_names: Vec::new(), by_roles: 0 };
    // Every table may call its rows `id`, and have some of every day, so such a name alone is nearly the last resort.
    links.find(
        |table, id| !is_bare(id) || has_rows_of_both(profile, table),
        |link| !is_of_times(link, profile),
    );
    links.add_lookups();
    links.add_summaries();
    links.add_indirect();
    links.find(|_, _| true, |_| true);
    links.add_indirect();
    links.add_shared();
    links.found
}

/// The links found so far.
struct Links<'a> {
    profile: &'a Profile,
    targets: Vec<&'a str>,
    id: Option<&'a str>,
    train: Named<'a>,
    tables: Vec<Named<'a>>,
    found: Vec<Link>,
    /// The tables with a link to the training table by the same or similar names.
    by_names: Vec<usize>,
    /// How many links are by columns in a role.
    by_roles: usize,
}

/// A table, and its columns by the letters of their names.
struct Named<'a> {
    table: &'a Table,
    columns: HashMap<String, &'a Column>,
    /// The table's name, and what one of its rows may be called.
    names: Vec<String>,
}

impl Links<'_> {
    /// Adds the tables that join the training table and the test table by the same or similar names. `joins_by_id` tells whether a
    /// table may join by the ID, and `is_wanted` which links count.
    fn find(&mut self, joins_by_id: impl Fn(&Table, &str) -> bool, is_wanted: impl Fn(&Link) -> bool) {
        for at in 0..self.tables.len() {
            if !self.is_linked(at) {
                let id = self.id.filter(|id| joins_by_id(self.tables[at].table, id));
                let link = self.direct(at, id).filter(|link| is_wanted(link));
                self.by_names.extend(link.is_some().then_some(at));
                self.found.extend(link);
            }
        }
    }

    /// Adds the tables that join those that are linked, those that join these, and so on.
    fn add_indirect(&mut self) {
        let mut next = 0;
        while let Some(to) = self.found.get(next).map(|link| link.table) {
            let left = MOST_TABLES.saturating_sub(self.found.iter().filter(|link| link.to.is_some()).count());
            let free = (0..self.tables.len()).filter(|at| !self.is_linked(*at));
            let added: Vec<Link> = free.filter_map(|at| self.indirect(at, to)).take(left).collect();
            self.found.extend(added);
            next += 1;
        }
    }

    /// Adds links of tables that several auxiliary tables look up.
    fn add_shared(&mut self) {
        let linked: Vec<usize> = self.found.iter().map(|link| link.table).collect();
        let mut left = MOST_SHARED;
        for to in (0..self.tables.len()).filter(|to| linked.contains(to)) {
            let shared = (0..self.tables.len()).filter(|at| self.is_shared(*at, to));
            let table = self.tables[to].table;
            // Who joins by the same key has the row already, and tables with a row for the same key have nothing to tell.
            let joins_by = |column: &Column| {
                let mut own = self.found.iter().filter(|link| link.table == to);
                own.any(|link| link.to.is_none() && link.own.contains(&column.name))
            };
            let is_lookup = |link: &Link| {
                let column = table.column(&link.columns[0]);
                let is_new = |column: &Column| !joins_by(column) && !names_its_rows(column, table);
                link.unique && column.is_some_and(is_new)
            };
            let links = shared.filter_map(|at| self.indirect(at, to)).filter(is_lookup);
            let links: Vec<Link> = links.take(left).collect();
            left -= links.len();
            self.found.extend(links);
        }
    }

    /// Whether a table that other auxiliary tables look up may be looked up by this one, too.
    fn is_shared(&self, at: usize, by: usize) -> bool {
        let mut own = self.found.iter().filter(|link| link.table == at).peekable();
        own.peek().is_some()
            && !self.by_names.contains(&at)
            && own.all(|link| link.unique && link.to != Some(by))
            && !self.leads_to(by, at)
    }

    /// Whether a table joins the other one, or one that does.
    fn leads_to(&self, from: usize, other: usize) -> bool {
        let joined = self.found.iter().filter(|link| link.table == from).filter_map(|link| link.to);
        from == other || joined.into_iter().any(|to| self.leads_to(to, other))
    }

    fn is_linked(&self, table: usize) -> bool {
        self.found.iter().any(|link| link.table == table)
    }

    /// The link to the training table and the test table. `id` is the ID if the table may join by it.
    fn direct(&self, at: usize, id: Option<&str>) -> Option<Link> {
        let mut excluded = self.targets.clone();
        excluded.extend(self.id.filter(|_| id.is_none()));
        let same = key(self.profile, self.tables[at].table, &excluded).map(|Key { columns, unique }| Link {
            table: at,
            to: None,
            own: columns.clone(),
            columns,
            unique,
        });
        let is_id = |link: &Link| link.columns.iter().map(String::as_str).eq(self.id);
        match same {
            Some(link) if !is_id(&link) => Some(link),
            Some(link) if is_bare(&link.columns[0]) => {
                Some(link).filter(|link| self.names_rows_of_both(link))
            }
            same => self.by_similar_names(at).or(same),
        }
    }

    /// Whether the key column of a link names training and test rows, too.
    fn names_rows_of_both(&self, link: &Link) -> bool {
        let table = self.tables[link.table].table;
        let own = table.column(&link.own[0]);
        let sides = || [Some(&self.profile.train), self.profile.test.as_ref()].into_iter().flatten();
        let columns = sides().filter_map(|side| side.column(&link.columns[0]));
        let is_small = sides().chain([table]).all(is_whole);
        let few = |one: &Column, own: &Column| {
            is_small && one.sketch.share_in(&own.sketch).is_some_and(|share| share < FEW)
        };
        own.is_some_and(|own| columns.into_iter().all(|column| could_be(column, own) && !few(column, own)))
    }

    /// A column that identifies the rows of the table, and one of the training table and the test table that refers to it.
    fn by_similar_names(&self, at: usize) -> Option<Link> {
        let is_fine = |own: &Column, column: &Column| {
            let twin = |test: &Table| test.column(&column.name).is_some_and(|twin| could_be(twin, own));
            Some(column.name.as_str()) != self.id && self.profile.test.as_ref().is_none_or(twin)
        };
        let (own, column) = self.tables[at].reference(&self.train, is_fine)?;
        Some(link((at, None), own, column, true))
    }

    /// The link of a table to another auxiliary table: one of both has a row for each key.
    fn indirect(&self, at: usize, to: usize) -> Option<Link> {
        let (table, other) = (&self.tables[at], &self.tables[to]);
        let is_small = [table, other].iter().all(|named| is_whole(named.table));
        let share = |one: &Column, other: &Column| one.sketch.share_in(&other.sketch);
        // Either table may lack rows, such as the days that are no holidays.
        let has_common = |own: &Column, column: &Column| {
            let shares = [share(own, column), share(column, own)].into_iter().flatten();
            !is_small || shares.reduce(f64::max).is_none_or(|share| share >= SHARE)
        };
        let lookup = table.reference(other, has_common);
        let lookup = lookup.map(|(own, column)| link((at, Some(to)), own, column, true));
        lookup.or_else(|| {
            let (column, own) = other.reference(table, has_common)?;
            Some(link((at, Some(to)), own, column, false))
        })
    }
}

impl<'a> Named<'a> {
    /// The table without its targets, and with the columns that may name something.
    fn new(table: &'a Table, targets: &[&str]) -> Self {
        let is_wanted = |column: &&Column| is_nameable(column) && !targets.contains(&column.name.as_str());
        let columns = table.columns.iter().filter(is_wanted).map(|column| (letters(&column.name), column));
        let stem = letters(&table.file.file_stem().unwrap_or_default().to_string_lossy());
        let singulars =
            [("ies", "y"), ("ches", "ch"), ("shes", "sh"), ("sses", "ss"), ("xes", "x"), ("s", "")]
                .map(|(end, instead)| stem.strip_suffix(end).map(|begin| format!("{begin}{instead}")));
        let names =
            singulars.into_iter().flatten().chain([stem.clone()]).filter(|name| !name.is_empty()).collect();
        Self { table, columns: columns.filter(|(letters, _)| !letters.is_empty()).collect(), names }
    }

    /// A column that identifies the rows of the table, and a column of another table that refers to it. Codes come first, and
    /// columns named like the table.
    fn reference(
        &self,
        other: &Named<'a>,
        is_fine: impl Fn(&Column, &Column) -> bool,
    ) -> Option<(&'a Column, &'a Column)> {
        let names_rows = |(_, column): &(&String, &&Column)| names_its_rows(column, self.table);
        let mut pairs: Vec<(usize, &Column, &Column)> = Vec::new();
        for (letters, own) in self.columns.iter().filter(names_rows) {
            let found =
                self.said(letters, own).into_iter().filter_map(|said| other.columns.get(&said).copied());
            let rank = usize::from(
                !(says_code(&own.name) || says_counter(&own.name) || self.names.contains(letters)),
            );
            let fine = found.filter(|column| could_refer(column, own) && is_fine(own, column));
            pairs.extend(fine.map(|column| (rank, *own, column)));
        }
        let position = |column: &Column| self.table.columns.iter().position(|own| own.name == column.name);
        let best = pairs.into_iter().min_by_key(|(rank, own, _)| (*rank, position(own)));
        best.map(|(_, own, column)| (own, column))
    }

    /// What other tables may call a column, such as `store_id` or `store` for `id` of `stores.csv`; letters only.
    fn said(&self, letters: &str, own: &Column) -> Vec<String> {
        let mut said: Vec<String> = self.names.iter().map(|name| format!("{name}{letters}")).collect();
        if NAMES.contains(&letters) {
            said.extend(self.names.iter().cloned());
        }
        if !BARE.contains(&letters) {
            said.extend([letters.to_owned(), format!("{letters}id")]);
            said.extend(without_id(&own.name));
        }
        said
    }
}

fn link((table, to): (usize, Option<usize>), own: &Column, column: &Column, unique: bool) -> Link {
    Link { table, to, own: vec![own.name.clone()], columns: vec![column.name.clone()], unique }
}

/// Whether a link joins several rows of a day, or another time, to every row of it.
fn is_of_times(link: &Link, profile: &Profile) -> bool {
    let is_time = |name: &String| {
        let column = profile.auxiliary[link.table].column(name);
        says_time(name) || column.is_some_and(|column| column.kind == ColumnKind::Date)
    };
    !link.unique && link.own.iter().all(is_time)
}

fn is_bare(name: &str) -> bool {
    BARE.contains(&letters(name).as_str())
}

/// Whether a table has about as many rows as the training and the test table together.
fn has_rows_of_both(profile: &Profile, table: &Table) -> bool {
    let rows = profile.train.rows + profile.test.as_ref().map_or(0, |test| test.rows);
    table.rows.abs_diff(rows) * 100 <= rows
}

/// Whether all rows were looked at, so that sketches are of all values.
fn is_whole(table: &Table) -> bool {
    table.rows <= ROWS_LOOKED_AT
}

/// Whether every row that was looked at has another value.
pub fn names_its_rows(column: &Column, table: &Table) -> bool {
    column.missing == 0 && column.distinct == table.rows.min(ROWS_LOOKED_AT)
}

/// Whether a column that has several values can be the key of another table's rows.
fn could_refer(column: &Column, named: &Column) -> bool {
    column.distinct > 1 && could_be(column, named)
}

/// Whether values of one column can be those of the other.
fn could_be(column: &Column, named: &Column) -> bool {
    let overlap = match (column.range, named.range) {
        (Some((low, high)), Some((first, last))) => low <= last && first <= high,
        _ => true,
    };
    // Scripts read truth values unlike other words.
    let same_kind = (column.kind == ColumnKind::Boolean) == (named.kind == ColumnKind::Boolean);
    is_nameable(column) && same_type(column, named) && same_kind && alike(column, named) && overlap
}

fn letters(text: &str) -> String {
    text.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile;
    use crate::testing::folder;

    const TRAIN: (&str, &str) = ("train.csv", "client,city_id,age,y\n1,1,30,0\n2,2,40,1\n3,1,50,0\n");
    const TEST: (&str, &str) = ("test.csv", "client,city_id,age\n4,2,35\n5,1,45\n");

    /// Checks the links of tables, such as `orders own=column train many`.
    #[track_caller]
    fn check(tables: &[(&str, &str)], expected: &[&str]) {
        check_with([TRAIN, TEST], "client", tables, expected);
    }

    #[track_caller]
    pub(super) fn check_with(own: [(&str, &str); 2], id: &str, tables: &[(&str, &str)], expected: &[&str]) {
        check_for("y", own, id, tables, expected);
    }

    #[track_caller]
    fn check_for(target: &str, own: [(&str, &str); 2], id: &str, tables: &[(&str, &str)], expected: &[&str]) {
        let dir = folder(&[own.as_slice(), tables].concat());
        let profile = profile::read(dir.path()).unwrap();
        let name = |at: usize| profile.auxiliary[at].file.file_stem().unwrap().to_str().unwrap().to_owned();
        let found: Vec<String> = links(&profile, Some(target), Some(id))
            .iter()
            .map(|link| {
                let to = link.to.map_or_else(|| "train".to_owned(), name);
                let rows = if link.unique { "one" } else { "many" };
                format!("{} {}={} {to} {rows}", name(link.table), link.own.join("+"), link.columns.join("+"))
            })
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn tables_are_linked_by_way_of_other_tables() {
        check(
            &[
                ("items.csv", "order,product,pieces\n10,7,1\n10,8,2\n11,7,1\n12,9,4\n"),
                ("kinds.csv", "kind,margin\nfood,0.1\ntoys,0.3\n"),
                ("orders.csv", "order,client,day\n10,1,3\n11,1,4\n12,4,5\n"),
                ("products.csv", "product,kind,price\n7,food,2.5\n8,toys,9.5\n9,food,1.5\n"),
            ],
            &[
                "orders client=client train many",
                "items order=order orders many",
                "products product=product items one",
                "kinds kind=kind products one",
            ],
        );
        // The names of a database: its tables call their own rows `id`.
        check(
            &[
                ("cities.csv", "id,country_id,people\n1,1,9.5\n2,2,3.5\n"),
                ("countries.csv", "id,income\n1,4.5\n2,7.5\n"),
                ("visits.csv", "id,city_id,days\n1,1,3\n2,1,4\n3,2,4\n"),
            ],
            &[
                "cities id=city_id train one",
                "visits city_id=city_id train many",
                "countries id=country_id cities one",
            ],
        );
    }

    #[test]
    fn columns_of_the_same_name_may_be_no_link() {
        // Numbers of rows, ranges without a common value, values that repeat on both sides, numbers and texts, other values.
        let orders = ("orders.csv", "id,client,day,amount,#\n1,1,3,20,5\n2,1,4,20,6\n3,4,5,30,7\n");
        let only = ["orders client=client train many"];
        check(&[orders, ("rates.csv", "day,rate\n2000,0.2\n2001,0.3\n2002,0.4\n")], &only);
        check(&[orders, ("prices.csv", "amount,sort\n20,a\n20,b\n30,c\n")], &only);
        check(&[orders, ("days.csv", "day,rate\nmonday,0.2\nfriday,0.3\nsunday,0.4\n")], &only);
        let clients = ("clients.csv", "client,name,rank\n1,Ann,2\n2,Bob,1\n3,Cem,3\n");
        let only = ["clients client=client train one"];
        check(&[clients, ("films.csv", "name,stars\nHeat,1.5\nUp,2.5\nAlien,3.5\n")], &only);
        // The first of the columns with a value for each row is not the key.
        check(
            &[
                ("items.csv", "client,product,price\n1,7,30\n2,8,20\n1,9,10\n3,7,30\n"),
                ("products.csv", "price,product,weight\n30,7,1\n20,8,1\n10,9,2\n"),
            ],
            &["items client=client train many", "products product=product items one"],
        );
    }

    #[test]
    fn the_target_links_nothing() {
        let own = [
            ("train.csv", "row,plot,species\n1,1,oak\n2,2,elm\n3,3,oak\n"),
            ("test.csv", "row,plot\n4,4\n5,5\n"),
        ];
        let tables = [
            ("plots.csv", "plot,species,wet\n1,oak,3\n2,elm,4\n3,oak,3\n4,ash,2\n"),
            ("species.csv", "species,height\noak,20.5\nelm,30.5\nash,25.5\n"),
        ];
        check_for("species", own, "row", &tables, &["plots plot=plot train one"]);
    }
}
