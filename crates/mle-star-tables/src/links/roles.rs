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

    const TEAMS: &str = "team,rank,town\nfoxes,1,Ulm\nbears,2,Bonn\nowls,3,Jena\ncrows,4,Bonn\n";
    const MORE: &str = "a,5,c\nb,6,c\nd,7,c\ne,8,c\nf,9,c\ng,10,c\n";

    /// Checks the links of tables of matches with these two columns.
    #[track_caller]
    fn check([one, other]: [&str; 2], names: [&str; 4], tables: &[(&str, &str)], expected: &[&str]) {
        let rows = |pairs: &[[usize; 2]], first: usize, ends: &str| -> String {
            let row = |(at, [a, b]): (usize, &[usize; 2])| {
                format!("{},{},{},20{at}{ends}\n", first + at, names[*a], names[*b])
            };
            pairs.iter().enumerate().map(row).collect()
        };
        let pairs = [[0, 1], [1, 2], [2, 3], [3, 0], [0, 2], [1, 3]];
        let train = format!("match,{one},{other},season,y\n{}", rows(&pairs, 1, ",0"));
        let test = format!("match,{one},{other},season\n{}", rows(&pairs[1..5], 7, ""));
        check_with([("train.csv", &train), ("test.csv", &test)], "match", tables, expected);
    }

    const NAMES: [&str; 4] = ["foxes", "bears", "owls", "crows"];

    #[test]
    fn columns_refer_to_the_same_table_in_several_roles() {
        let both = |one: &str, other: &str| [one, other].map(|name| format!("teams team={name} train one"));
        for columns in
            [["home_team", "away_team"], ["team1", "team2"], ["team_a", "team_b"], ["homeTeam", "awayTeamId"]]
        {
            let expected = both(columns[0], columns[1]);
            check(columns, NAMES, &[("teams.csv", TEAMS)], &expected.each_ref().map(String::as_str));
        }
        // One role has the name of the column itself.
        let teams = format!("{TEAMS}{MORE}");
        check(
            ["team", "opponent"],
            NAMES,
            &[("teams.csv", &teams)],
            &["teams team=team train one", "teams team=opponent train one"],
        );
    }

    #[test]
    fn words_refer_by_their_values_and_numbers_by_their_names() {
        let few = format!("code,height,town\n{}", &TEAMS[15..]);
        let airports = format!("{few}{MORE}");
        let airports = ("airports.csv", airports.as_str());
        let both = ["airports code=origin train one", "airports code=dest train one"];
        check(["origin", "dest"], NAMES, &[airports], &both);
        let numbered = ("airports.csv", "airport_id,height\n11,1.5\n12,2.5\n13,3.5\n14,4.5\n");
        check(["origin", "dest"], ["11", "12", "13", "14"], &[numbered], &[]);
        let named = [
            "airports airport_id=origin_airport_id train one",
            "airports airport_id=dest_airport_id train one",
        ];
        check(["origin_airport_id", "dest_airport_id"], ["11", "12", "13", "14"], &[numbered], &named);
        // Numbers of something else.
        check(["first_airport_id", "x"], ["1", "2", "3", "4"], &[numbered], &[]);
        // Few words, and few in common.
        check(["origin", "dest"], NAMES, &[("airports.csv", &few)], &[]);
        check(["origin", "dest"], ["foxes", "x", "y", "z"], &[airports], &[]);
    }

    #[test]
    fn a_role_may_need_a_further_key() {
        let lines = |season: usize| {
            format!("foxes,20{season},1\nbears,20{season},2\nowls,20{season},3\ncrows,20{season},4\n")
        };
        let seasons = format!("team,season,wins\n{}", (0..6).map(lines).collect::<String>());
        let both =
            ["wins season+team=season+home_team train one", "wins season+team=season+away_team train one"];
        check(["home_team", "away_team"], NAMES, &[("wins.csv", &seasons)], &both);
        let both = ["wins team+season=team+season train one", "wins team+season=rival_team+season train one"];
        check(["team", "rival_team"], NAMES, &[("wins.csv", &seasons)], &both);
        // A number of the row tells rows apart, too.
        let mut numbered =
            seasons.lines().enumerate().map(|(at, line)| format!("{at},{line}\n")).collect::<String>();
        numbered.replace_range(..1, "id");
        let rows = |first: usize, end: &str| -> String {
            (0..6)
                .map(|at| format!("{},{},{},20{at}{end}\n", first + at, NAMES[at % 4], NAMES[(at + 1) % 4]))
                .collect()
        };
        let header = "match_id,home_team,away_team,season";
        let (train, test) = (format!("{header},y\n{}", rows(1, ",0")), format!("{header}\n{}", rows(7, "")));
        check_with(
            [("train.csv", &train), ("test.csv", &test)],
            "match_id",
            &[("wins.csv", &numbered)],
            &["wins season+team=season+home_team train one", "wins season+team=season+away_team train one"],
        );
        // Several rows of each team.
        let games = "team,goals\nfoxes,1\nfoxes,2\nbears,2\nowls,3\ncrows,0\ncrows,4\n";
        let both = ["games team=home_team train many", "games team=away_team train many"];
        check(["home_team", "away_team"], NAMES, &[("games.csv", games)], &both);
    }

    /// Checks the links of tables of customers with a further column, whose values these are.
    #[track_caller]
    fn check_column(column: &str, values: [&str; 4], tables: &[(&str, &str)], expected: &[&str]) {
        let rows = |first: usize, end: &str| -> String {
            let row = |at: usize| format!("{},{},{}{end}\n", first + at, at % 5, values[at % 4]);
            (0..8).map(row).collect()
        };
        let train = format!("id,customer,{column},y\n{}", rows(1, ",0"));
        let test = format!("id,customer,{column}\n{}", rows(9, ""));
        check_with([("train.csv", &train), ("test.csv", &test)], "id", tables, expected);
    }

    #[test]
    fn columns_may_only_look_like_roles() {
        // Counts, measures and columns that name nothing.
        let stores = ("stores.csv", "id,size\n1,1.5\n2,2.5\n3,3.5\n4,4.5\n");
        for column in ["num_stores", "days_since_store", "store_count", "big_stores"] {
            check_column(column, ["1", "2", "3", "4"], &[stores], &[]);
        }
        check_column("last_store", ["1", "2", "3", "4"], &[stores], &["stores id=last_store train one"]);
        let ratings = ("ratings.csv", "who,rating\nann,1\nbob,2\ncem,3\ndan,4\nann,2\n");
        check_column("item_rating", ["1", "2", "3", "4"], &[ratings], &[]);
        // A summary by customer says more than one month of it.
        let usage: String = (0..20).map(|at| format!("{},{},{at}\n", at % 5, at / 5 + 1)).collect();
        let usage = format!("customer,month,minutes\n{usage}");
        let only = ["usage customer=customer train many"];
        check_column("signup_month", ["1", "2", "3", "4"], &[("usage.csv", &usage)], &only);
    }

    #[test]
    fn roles_take_nothing_away() {
        // Orders need their products.
        let orders = ("orders.csv", "customer,product\n1,11\n1,11\n2,13\n3,14\n4,12\n");
        let products = ("products.csv", "product,price\n11,1.5\n12,2.5\n13,3.5\n14,4.5\n");
        check_column(
            "favourite_product",
            ["11", "12", "13", "14"],
            &[orders, products],
            &[
                "orders customer=customer train many",
                "products product=favourite_product train one",
                "products product=product orders one",
            ],
        );
        // A row for each row.
        let extra: String =
            (1..17).map(|at| format!("{at},{},{at}.5\n", ["a", "b", "c", "d"][at % 4])).collect();
        let extra = format!("id,category,score\n{extra}");
        check_column(
            "main_category",
            ["a", "b", "c", "d"],
            &[("extra.csv", &extra)],
            &["extra id=id train one"],
        );
        // Of more columns than can be joined, those that name something.
        let teams: String = (1..13).map(|at| format!("{at},t{at},{at}.5\n")).collect();
        let teams = format!("rank,team,budget\n{teams}");
        check_column(
            "best_team",
            ["t1", "t2", "t3", "t4"],
            &[("teams.csv", &teams)],
            &["teams team=best_team train one"],
        );
        check_column("best_rank", ["1", "2", "3", "4"], &[("teams.csv", &teams)], &[]);
    }

    #[test]
    fn tables_look_up_the_same_table() {
        let log = |first: usize| -> String {
            (0..6).map(|at| format!("{},{}\n", at % 5, (at + first) % 4 + 11)).collect()
        };
        let [views, orders] = [0, 1].map(|first| format!("customer,product\n{}", log(first)));
        let products = ("products.csv", "product,price\n11,1.5\n12,2.5\n13,3.5\n14,4.5\n");
        check_column(
            "x",
            ["1", "2", "3", "4"],
            &[("orders.csv", &orders), products, ("views.csv", &views)],
            &[
                "orders customer=customer train many",
                "views customer=customer train many",
                "products product=product orders one",
                "products product=product views one",
            ],
        );
    }
}
