//! Tables to which several columns or several tables refer.

use mle_star_needs::needs;

use super::folders::{Folder, PLAIN, check, check_with};
use super::joins::table;

/// Matches of teams, which have towns, seasons and goals; goals and cards have players.
const MATCHES: Folder = Folder {
    name: "matches",
    features: "id,season,home_team,away_team,a,b",
    cells: |row, [a, b]| {
        format!("{row},{},T{},T{},{a:.3},{b:.3}", 2018 + row % 3, row % 8, (row * 3 + row / 8 + 1) % 8)
    },
    families: &["LightGBM", "Linear model"],
    further: &[
        ("cards", || table("card,team,player", 60, |at| format!("{at},T{},P{}", at * 3 % 8, at * 5 % 20))),
        ("goals", || {
            table("team,player,minute", 99, |at| format!("T{},P{},{}", at * 3 % 8, at * 7 % 20, at % 90))
        }),
        ("players", || table("player,age", 20, |at| format!("P{at},{}", 18 + at * at % 17))),
        ("seasons", || {
            table("team,season,rank", 21, |at| format!("T{},{},{}", at % 7, 2018 + at / 7, at * 5 % 21))
        }),
        ("teams", || {
            table("team,school,town_id,price", 8, |at| format!("T{at},S{},{},{at}.5", at % 3, at * 3 % 5))
        }),
        ("towns", || table("id,latitude,longitude", 5, |at| format!("{at},4{at}.5,{at}.25"))),
    ],
    ..PLAIN
};

/// Flights between airports whose codes have another name in their table.
pub(super) const FLIGHTS: Folder = Folder {
    name: "flights",
    features: "id,origin,dest,a,b",
    cells: |row, [a, b]| format!("{row},A{},A{},{a:.3},{b:.3}", row % 9, (row * 2 + 1) % 9),
    families: &["LightGBM"],
    further: &[("airports", || table("code,height,lat,lon", 12, |at| format!("A{at},{at}0,4{at}.5,{at}.5")))],
    ..PLAIN
};

#[test]
fn a_table_is_joined_in_each_role() {
    needs!(Libraries);
    let matches = r#"
tables = {name: pd.read_csv(f"./input/{name}.csv") for name in ("cards", "goals", "players", "seasons", "teams", "towns")}
near = lambda one, other: abs(one - other) < 1e-9 or pd.isna(one) and pd.isna(other)
for table in (train, test):
    for _, row in table.iterrows():
        ranks = []
        for role in ("home_team", "away_team"):
            own = {name: rows[rows["team"] == row[role]] for name, rows in tables.items() if "team" in rows}
            team = own["teams"].iloc[0]
            town = tables["towns"][tables["towns"]["id"] == team["town_id"]].iloc[0]
            assert row[f"{role}_teams_school"] == team["school"]
            assert row[f"{role}_teams_price"] == team["price"]
            assert town["latitude"] in [row[name] for name in table if name.startswith(f"{role}_teams_towns")]
            season = own["seasons"][own["seasons"]["season"] == row["season"]]
            ranks.append(season["rank"].iloc[0] if len(season) else np.nan)
            assert near(row[f"{role}_rank"], ranks[-1])
            for name in ("cards", "goals"):
                prefix = f"{role}_{name}"
                assert near(row[f"{prefix}_rows"], len(own[name]) or np.nan)
                ages = own[name].merge(tables["players"], on="player")["age"]
                age = [column for column in table if column.startswith(prefix) and column.endswith("age_mean")]
                assert any(near(row[column], ages.mean()) for column in age), (age, ages.mean())
        assert near(row["home_team_rank_minus_away_team_rank"], ranks[0] - ranks[1])
        same = row["home_team_teams_school"] == row["away_team_teams_school"]
        assert row["home_team_teams_school_is_away_team_teams_school"] == float(same)
assert train["home_team_rank_minus_away_team_rank"].nunique() > 9
assert train["home_team_teams_school_is_away_team_teams_school"].nunique() == 2
assert train.columns.is_unique and len(train) == 90 and len(test) == 12
"#;
    let flights = r#"
airports = pd.read_csv("./input/airports.csv").set_index("code")
for table in (train, test):
    for role in ("origin", "dest"):
        assert (table[f"{role}_height"].to_numpy() == airports.loc[table[role], "height"].to_numpy()).all()
    between = (airports.loc[table["origin"], "height"].to_numpy() - airports.loc[table["dest"], "height"].to_numpy())
    assert (table["origin_height_minus_dest_height"].to_numpy() == between).all()
    assert (table["way_km"] > 50).mean() > 0.5
"#;
    check_with(&[(MATCHES, matches), (FLIGHTS, flights)]);
    check(&[MATCHES, FLIGHTS]);
}
