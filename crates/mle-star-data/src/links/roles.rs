//! Several columns that refer to the rows of the same table, each in a role of its own: `home_team` and `away_team` for `team`
//! of `teams.csv`.

use super::super::keys::names_rows;
use super::super::profile::{Column, ColumnKind, Table};
use super::super::split::says_role;
use super::{Link, Links, could_be, could_refer, is_whole, names_its_rows};

/// The share of the values of such a column that the table has.
const SHARE: f64 = 0.8;
/// Values that are found by chance are few.
const FEWEST: usize = 3;
/// The greatest number of such columns for a table.
const MOST: usize = 4;

/// A column of the training table and the test table, and what it refers to.
struct Role<'a> {
    column: &'a Column,
    own: &'a Column,
    /// Whether the name says so, not only the values.
    is_named: bool,
}

impl Links<'_> {
    /// All links of a table to the training table and the test table. `found` is the one by equal or similar names.
    pub(super) fn with_roles(&self, at: usize, found: Option<Link>) -> Vec<Link> {
        let table = self.tables[at].table;
        // A table by the ID tells about one row each.
        if found.as_ref().is_some_and(|found| self.id.is_some_and(|id| found.columns == [id])) {
            return found.into_iter().collect();
        }
        let (mut links, mut replaces) = (Vec::new(), false);
        for role in self.roles(at, found.as_ref()) {
            if names_its_rows(role.own, table) {
                links.push(super::link((at, None), role.own, role.column, true));
            } else if let Some(link) = found.as_ref().and_then(|found| role.beside(found, table)) {
                replaces |= !found.as_ref().is_some_and(|found| found.unique);
                links.push(link);
            } else if role.is_named && found.as_ref().is_none_or(|found| !found.unique) {
                links.push(super::link((at, None), role.own, role.column, false));
            }
        }
        links.truncate(MOST);
        found.filter(|_| !replaces).into_iter().chain(links).collect()
    }

    /// The columns that refer to a table, in the order of the training table.
    fn roles(&self, at: usize, found: Option<&Link>) -> Vec<Role<'_>> {
        let table = self.tables[at].table;
        let position = |column: &Column| table.columns.iter().position(|own| own.name == column.name);
        let mut owns: Vec<(&Column, Vec<String>)> = self.tables[at]
            .columns
            .iter()
            .map(|(letters, own)| (*own, self.tables[at].said(letters, own)))
            .collect();
        owns.sort_by_key(|(own, _)| (!names_its_rows(own, table), position(own)));
        let is_free = |column: &&Column| {
            let is_known = found.is_some_and(|found| found.columns.contains(&column.name));
            self.train.columns.values().any(|free| free.name == column.name)
                && Some(column.name.as_str()) != self.id
                && !is_known
        };
        let role = |column: &'_ Column| {
            let mut all =
                owns.iter().map(|(own, said)| (*own, said.iter().any(|said| says_role(&column.name, said))));
            let named = |(own, is_named): &(&Column, bool)| *is_named && self.refers(column, own, table);
            let valued = |(own, _): &(&Column, bool)| self.refers_by_values(column, own, table);
            all.clone().find(named).or_else(|| all.find(valued))
        };
        let all = self.profile.train.columns.iter().filter(is_free);
        all.filter_map(|column| role(column).map(|(own, is_named)| Role { column, own, is_named })).collect()
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

    /// Whether words of a column name rows of a table, whatever it is called: `origin` has codes of airports.
    fn refers_by_values(&self, column: &Column, own: &Column, table: &Table) -> bool {
        let is_word = |column: &Column| column.kind == ColumnKind::Category && !column.nearly_numbers;
        let may = is_word(column) && is_word(own) && column.distinct >= FEWEST;
        may && is_whole(table) && names_its_rows(own, table) && self.refers(column, own, table)
    }
}

impl Role<'_> {
    /// The link by this column and columns of a link, if they name the rows of the table: teams of a season are found by
    /// `home_team` and `season`.
    fn beside(&self, found: &Link, table: &Table) -> Option<Link> {
        let others = found.own.iter().zip(&found.columns).filter(|(own, _)| **own != self.own.name);
        let (mut own, mut columns): (Vec<String>, Vec<String>) =
            others.map(|(own, column)| (own.clone(), column.clone())).unzip();
        own.push(self.own.name.clone());
        columns.push(self.column.name.clone());
        let keys: Vec<&Column> = own.iter().filter_map(|name| table.column(name)).collect();
        (own.len() > 1 && names_rows(&keys, table)).then(|| Link {
            own,
            columns,
            unique: true,
            ..found.clone()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::check_with;

    const TEAMS: &str = "team,rank,town\nfoxes,1,Ulm\nbears,2,Bonn\nowls,3,Jena\ncrows,4,Bonn\n";

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
        check(
            ["team", "opponent"],
            NAMES,
            &[("teams.csv", TEAMS)],
            &["teams team=team train one", "teams team=opponent train one"],
        );
    }

    #[test]
    fn words_refer_by_their_values_and_numbers_by_their_names() {
        let airports = ("airports.csv", "code,height\nfoxes,1.5\nbears,2.5\nowls,3.5\ncrows,4.5\n");
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
        // Few values in common.
        check(["origin", "dest"], ["foxes", "a", "b", "c"], &[airports], &[]);
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
        let both = ["wins team+season=team+season train one", "wins season+team=season+rival_team train one"];
        check(["team", "rival_team"], NAMES, &[("wins.csv", &seasons)], &both);
        // Several rows of each team.
        let games = "team,goals\nfoxes,1\nfoxes,2\nbears,2\nowls,3\ncrows,0\ncrows,4\n";
        let both = ["games team=home_team train many", "games team=away_team train many"];
        check(["home_team", "away_team"], NAMES, &[("games.csv", games)], &both);
    }
}
