//! How the auxiliary tables of a data folder hang together, as the tables of a database do.

use super::keys::{Key, alike, is_nameable, key, same_type};
use super::profile::{Column, Profile, ROWS_LOOKED_AT, Table};

/// Names of columns that number the rows of any table.
const BARE: [&str; 5] = ["id", "index", "no", "row", "unnamed0"];

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
/// has none.
pub fn links(profile: &Profile, target: Option<&str>, id: Option<&str>) -> Vec<Link> {
    let mut links = Vec::new();
    // Every table may call its rows `id`, so such a name alone is the last resort.
    let bare = id.filter(|id| BARE.contains(&letters(id).as_str()));
    for excluded in [[target, bare], [target, None]] {
        for (at, table) in profile.auxiliary.iter().enumerate() {
            if !is_linked(&links, at) {
                links.extend(direct(profile, (at, table), &excluded, id));
            }
        }
        follow(profile, &mut links);
    }
    links
}

/// Adds the tables that join linked ones, those that join the added ones, and so on.
fn follow(profile: &Profile, links: &mut Vec<Link>) {
    let mut next = 0;
    while let Some(link) = links.get(next) {
        let to = link.table;
        for (at, table) in profile.auxiliary.iter().enumerate() {
            if !is_linked(links, at) {
                links.extend(indirect((at, table), (to, &profile.auxiliary[to])));
            }
        }
        next += 1;
    }
}

fn is_linked(links: &[Link], table: usize) -> bool {
    links.iter().any(|link| link.table == table)
}

/// The link to the training table and the test table, by other columns than the `excluded` ones.
fn direct(
    profile: &Profile,
    (at, table): (usize, &Table),
    excluded: &[Option<&str>],
    id: Option<&str>,
) -> Option<Link> {
    let same = key(profile, table, excluded).map(|Key { columns, unique }| Link {
        table: at,
        to: None,
        own: columns.clone(),
        columns,
        unique,
    });
    let is_id = |link: &Link| link.columns.iter().eq(id);
    match same {
        Some(link) if !is_id(&link) => Some(link),
        same => by_similar_names(profile, (at, table), &[excluded, &[id]].concat()).or(same),
    }
}

/// A column that identifies the rows of the table, and one of the other tables whose name says the same.
fn by_similar_names(
    profile: &Profile,
    (at, table): (usize, &Table),
    excluded: &[Option<&str>],
) -> Option<Link> {
    let in_test = |column: &&Column| {
        profile.test.as_ref().is_none_or(|test| test.column(&column.name).is_some())
            && !excluded.contains(&Some(column.name.as_str()))
    };
    let own = table.columns.iter().filter(|column| names_its_rows(column, table));
    let pair = |own: &Column| {
        let is_twin = |column: &&Column| could_refer(column, own) && means_same(table, own, column);
        let twin = profile.train.columns.iter().filter(in_test).find(is_twin)?;
        Some(link((at, None), own, twin, true))
    };
    own.into_iter().find_map(pair)
}

/// The link of a table to another auxiliary table: one of both has a row for each key.
fn indirect((at, table): (usize, &Table), (to, other): (usize, &Table)) -> Option<Link> {
    let lookup = reference(table, other).map(|(own, column)| link((at, Some(to)), own, column, true));
    lookup.or_else(|| reference(other, table).map(|(column, own)| link((at, Some(to)), own, column, false)))
}

fn link((table, to): (usize, Option<usize>), own: &Column, column: &Column, unique: bool) -> Link {
    Link { table, to, own: vec![own.name.clone()], columns: vec![column.name.clone()], unique }
}

/// The column that identifies the rows of a table, and the column of another one that refers to it.
fn reference<'a>(named: &'a Table, other: &'a Table) -> Option<(&'a Column, &'a Column)> {
    named.columns.iter().filter(|column| names_its_rows(column, named)).find_map(|own| {
        let refers = |column: &&Column| {
            let is_same = own.name == column.name && !BARE.contains(&letters(&own.name).as_str());
            (is_same || means_same(named, own, column)) && could_refer(column, own)
        };
        Some((own, other.columns.iter().find(refers)?))
    })
}

/// Whether every row that was looked at has another value.
fn names_its_rows(column: &Column, table: &Table) -> bool {
    is_nameable(column) && column.missing == 0 && column.distinct == table.rows.min(ROWS_LOOKED_AT)
}

/// Whether values of one column can be those of the other.
fn could_refer(column: &Column, named: &Column) -> bool {
    let overlap = match (column.range, named.range) {
        (Some((low, high)), Some((first, last))) => low <= last && first <= high,
        _ => true,
    };
    is_nameable(column) && column.distinct > 1 && same_type(column, named) && alike(column, named) && overlap
}

/// Whether the names differ in their spelling only, or the column's name has the table's name in it, such as `store_id` or
/// `store` for `id` of `stores.csv`.
fn means_same(table: &Table, own: &Column, column: &Column) -> bool {
    let (own, name) = (letters(&own.name), letters(&column.name));
    let stem = letters(&table.file.file_stem().unwrap_or_default().to_string_lossy());
    let is_bare = BARE.contains(&own.as_str());
    name == own && !is_bare
        || name.strip_suffix(&own).is_some_and(|begin| !begin.is_empty() && is_singular(begin, &stem))
        || ["id", "name", "code"].contains(&own.as_str()) && is_singular(&name, &stem)
        || own == format!("{name}id")
        || name == format!("{own}id")
}

/// Whether a word is another one, or its singular.
fn is_singular(word: &str, plural: &str) -> bool {
    let stem = word.strip_suffix('y').map_or_else(|| word.to_owned(), |stem| format!("{stem}ie"));
    plural == word
        || [format!("{word}s"), format!("{word}es"), format!("{stem}s")].iter().any(|form| form == plural)
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
    fn check_with(own: [(&str, &str); 2], id: &str, tables: &[(&str, &str)], expected: &[&str]) {
        let dir = folder(&[own.as_slice(), tables].concat());
        let profile = profile::read(dir.path()).unwrap();
        let name = |at: usize| profile.auxiliary[at].file.file_stem().unwrap().to_str().unwrap().to_owned();
        let found: Vec<String> = links(&profile, Some("y"), Some(id))
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
        // Numbers of rows, ranges without a common value, values that repeat on both sides, numbers and texts.
        let orders = ("orders.csv", "id,client,day,amount\n1,1,3,20\n2,1,4,20\n3,4,5,30\n");
        let only = ["orders client=client train many"];
        check(&[orders, ("notes.csv", "id,length\n1,20\n2,30\n3,40\n")], &only);
        check(&[orders, ("rates.csv", "day,rate\n2000,0.2\n2001,0.3\n2002,0.4\n")], &only);
        check(&[orders, ("prices.csv", "amount,sort\n20,a\n20,b\n30,c\n")], &only);
        check(&[orders, ("days.csv", "day,rate\nmonday,0.2\nfriday,0.3\nsunday,0.4\n")], &only);
    }

    #[test]
    fn rows_of_several_tables_may_be_called_id() {
        let own =
            [("train.csv", "id,client,y\n1,1,0\n2,2,1\n3,1,0\n"), ("test.csv", "id,client\n4,2\n5,1\n")];
        check_with(
            own,
            "id",
            &[
                ("more.csv", "id,height\n1,2.5\n2,3.5\n3,1.5\n4,2.5\n5,0.5\n"),
                ("orders.csv", "id,client,day\n1,1,3\n2,1,4\n3,2,5\n"),
                ("refunds.csv", "id,order_id,amount\n1,1,0.5\n2,3,0.5\n"),
            ],
            &["orders client=client train many", "refunds order_id=id orders many", "more id=id train one"],
        );
    }

    #[test]
    fn words_have_a_singular() {
        let check =
            |word: &str, plural: &str, expected| assert_eq!(is_singular(word, plural), expected, "{word}");
        check("store", "stores", true);
        check("store", "store", true);
        check("category", "categories", true);
        check("branch", "branches", true);
        check("play", "players", false);
    }
}
