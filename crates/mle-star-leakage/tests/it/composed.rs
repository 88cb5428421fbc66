//! One leak in many words: scripts that are put together from parts, each of which says the same as the others of its kind.
//! Every combination with a leak blocks, and none without one.

use mle_star_leakage::{Facts, check};

const HEAD: &str = "\
import numpy as np
import pandas as pd
import lightgbm as lgb
import xgboost as xgb
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, log_loss, roc_auc_score
from sklearn.model_selection import KFold, ShuffleSplit, cross_val_score, train_test_split
from sklearn.preprocessing import LabelEncoder
df = pd.read_csv('loans.csv')
";

/// The target `y` of the table `df`.
const TARGETS: [&str; 18] = [
    "y = df['risk']",
    "y = df.risk.values",
    "y = (df['risk'] == 'bad').astype(int)",
    "y = ('bad' == df['risk']).astype(int)",
    "y = (df['risk'] == 'bad').to_numpy()",
    "y = df['risk'].eq('bad').astype('int8')",
    "y = (df['risk'] > 3).astype(int)",
    "y = df['risk'].isin(['bad', 'worse']).astype(int)",
    "y = np.where(df['risk'] == 'bad', 1, 0)",
    "y = df['risk'].map({'bad': 1, 'good': 0})",
    "y = df['risk'].apply(lambda value: int(value == 'bad'))",
    "y = pd.factorize(df['risk'])[0]",
    "y = df['risk'].astype('category').cat.codes",
    "y = LabelEncoder().fit_transform(df['risk'])",
    "y = np.log1p(df['risk'])",
    "y = df[['risk']].values.ravel()",
    "df['bad'] = (df['risk'] == 'bad').astype(int)\ny = df['bad']",
    "df['risk'] = df['risk'].map({'bad': 1, 'good': 0})\ny = df['risk']",
];

/// What leaks of `y` into the features `X`.
const LEAKS: [&str; 8] = [
    "X['m'] = X['town'].map(pd.Series(y, index=X.index).groupby(X['town']).mean())",
    "X['m'] = df['town'].map(df.assign(t=y).groupby('town')['t'].mean())",
    "X['m'] = pd.DataFrame({'s': X['town'], 't': y}).groupby('s')['t'].transform('mean')",
    "X = X[X.corrwith(pd.Series(y, index=X.index)).abs().nlargest(2).index]",
    "X = X[[name for name in X if abs(X[name].corr(pd.Series(y, index=X.index))) > 0.1]]",
    "X['m'] = pd.Series(y, index=X.index) * 2 + 1",
    "X['m'] = pd.Series(y, index=X.index).diff()",
    "gain = xgb.train({}, xgb.DMatrix(X, label=y)).get_score()\nX = X[sorted(gain, key=gain.get, reverse=True)[:2]]",
];

/// Divisions into `a, b, ya, yb`.
const DIVISIONS: [&str; 9] = [
    "a, b, ya, yb = train_test_split(X, y, test_size=0.3)",
    "y = pd.Series(y, index=X.index)\ni, o = train_test_split(X.index, test_size=0.3)\n\
     a, b, ya, yb = X.loc[i], X.loc[o], y.loc[i], y.loc[o]",
    "y, mask = np.asarray(y), np.random.default_rng(0).random(len(X)) < 0.7\n\
     a, b, ya, yb = X[mask], X[~mask], y[mask], y[~mask]",
    "n = int(len(X) * 0.7)\na, b, ya, yb = X[:n], X[n:], y[:n], y[n:]",
    "y = pd.Series(y, index=X.index)\na = X.sample(frac=0.7, random_state=3)\nb = X.drop(a.index)\n\
     ya, yb = y.loc[a.index], y.loc[b.index]",
    "y, held = pd.Series(y, index=X.index), X.sample(frac=0.3, random_state=3).index\nrest = X.index.difference(held)\n\
     a, b, ya, yb = X.loc[rest], X.loc[held], y.loc[rest], y.loc[held]",
    "y, held = pd.Series(y, index=X.index), np.random.choice(X.index, 300, replace=False)\nm = X.index.isin(held)\n\
     a, b, ya, yb = X[~m], X[m], y[~m], y[m]",
    "y, order = np.asarray(y), np.random.permutation(len(X))\n\
     a, b, ya, yb = X.iloc[order[300:]], X.iloc[order[:300]], y[order[300:]], y[order[:300]]",
    "i, o = next(ShuffleSplit(1, test_size=0.3).split(X))\ny = np.asarray(y)\n\
     a, b, ya, yb = X.iloc[i], X.iloc[o], y[i], y[o]",
];

/// A column `m` of the table T with what is known of the target `risk` in the table D.
const ENCODINGS: [&str; 28] = [
    "T['m'] = T['town'].map(D.groupby('town')['risk'].mean())",
    "T = T.merge(D.groupby('town', as_index=False).agg(m=('risk', 'mean')), on='town', how='left')",
    "T = T.merge(D.groupby('town')['risk'].mean().rename('m').reset_index(), on='town', how='left')",
    "T = T.merge(D.groupby('town')['risk'].mean().reset_index(name='m'), on='town', how='left')",
    "T = T.merge(D.groupby('town', as_index=False)['risk'].mean().rename(columns={'risk': 'm'}), on='town')",
    "T = T.join(D.groupby('town')['risk'].mean().rename('m'), on='town')",
    "T['m'] = T['town'].map(D.pivot_table(index='town', values='risk', aggfunc='mean')['risk'])",
    "T['m'] = D.groupby('town')['risk'].mean().reindex(T['town']).to_numpy()",
    "T['m'] = D[['town', 'risk']].groupby('town').mean()['risk'].loc[T['town']].to_numpy()",
    "T['m'] = T['town'].replace(D.groupby('town')['risk'].mean())",
    "d = D.groupby('town')['risk'].mean().to_dict()\nT['m'] = [d.get(town, 0.0) for town in T['town']]",
    "T['m'] = 0.0\nfor town in D['town'].unique():\n    T.loc[T['town'] == town, 'm'] = D.loc[D['town'] == town, 'risk'].mean()",
    "d = {}\nfor town, part in D.groupby('town'):\n    d[town] = part['risk'].mean()\nT['m'] = T['town'].map(d)",
    "d, n = {}, {}\nfor town, risk in zip(D['town'], D['risk']):\n    d[town] = d.get(town, 0) + risk\n    \
     n[town] = n.get(town, 0) + 1\nT['m'] = [d[town] / n[town] for town in T['town']]",
    "d = {}\nfor _, row in D.iterrows():\n    d.setdefault(row['town'], []).append(row['risk'])\n\
     T['m'] = T['town'].map({town: np.mean(risks) for town, risks in d.items()})",
    "T['m'] = T['town'].apply(lambda town: D.loc[D['town'] == town, 'risk'].mean())",
    "T['m'] = T['town'].map({town: D.query('town == @town')['risk'].mean() for town in D['town'].unique()})",
    "T['m'] = T['town'].map(pd.crosstab(D['town'], D['risk'], normalize='index')[1])",
    "towns, risks = D['town'].to_numpy(), D['risk'].to_numpy()\n\
     T['m'] = T['town'].map({town: risks[towns == town].mean() for town in np.unique(towns)})",
    "codes = {town: code for code, town in enumerate(df['town'].unique())}\nk = D['town'].map(codes).to_numpy()\n\
     m = np.bincount(k, weights=D['risk']) / np.maximum(np.bincount(k), 1)\nT['m'] = m[T['town'].map(codes)]",
    "codes = {town: code for code, town in enumerate(df['town'].unique())}\nsums = np.zeros(len(codes))\n\
     np.add.at(sums, D['town'].map(codes), D['risk'])\nT['m'] = sums[T['town'].map(codes)]",
    "g = D.groupby('town')['risk'].agg(['mean', 'count'])\n\
     T['m'] = T['town'].map((g['mean'] * g['count'] + 10 * D['risk'].mean()) / (g['count'] + 10))",
    "bad, good = (D[D['risk'] == risk].groupby('town').size() for risk in (1, 0))\nT['m'] = T['town'].map(np.log(bad / good))",
    "from category_encoders import TargetEncoder\ne = TargetEncoder(cols=['town']).fit(D[['town']], D['risk'])\n\
     T['m'] = e.transform(T[['town']])['town']",
    "from sklearn.neighbors import KNeighborsClassifier\nk = KNeighborsClassifier(5).fit(D[['amount']], D['risk'])\n\
     T['m'] = k.predict_proba(T[['amount']])[:, 1]",
    "from sklearn.discriminant_analysis import LinearDiscriminantAnalysis\n\
     l = LinearDiscriminantAnalysis().fit(D[['amount', 'age']], D['risk'])\nT['m'] = l.transform(T[['amount', 'age']])[:, 0]",
    "def rates(frame):\n    return frame.groupby('town')['risk'].mean()\nr = rates(D)\nT['m'] = T['town'].map(r).fillna(r.mean())",
    "class Rates:\n    def fit(self, frame):\n        self.known = {}\n        for town in frame['town'].unique():\n            \
     self.known[town] = frame.loc[frame['town'] == town, 'risk'].mean()\n        return self\n    \
     def of(self, frame):\n        return frame['town'].map(self.known).fillna(0)\nr = Rates().fit(D)\nT['m'] = r.of(T)",
];

/// Predictions `p` for the rows P of a model that is fitted on the rows F with the target Y.
const MODELS: [&str; 6] = [
    "p = LogisticRegression().fit(F, Y).predict_proba(P)[:, 1]",
    "p = lgb.train({'objective': 'binary'}, lgb.Dataset(F, label=Y), 100).predict(P)",
    "p = xgb.train({'eta': 0.1}, xgb.DMatrix(F, label=Y), num_boost_round=100).predict(xgb.DMatrix(P))",
    "w, *_ = np.linalg.lstsq(np.asarray(F, float), Y, rcond=None)\np = np.asarray(P, float) @ w",
    "A = np.asarray(F, float)\nw = np.linalg.solve(A.T @ A + np.eye(3), A.T @ Y)\np = np.asarray(P, float) @ w",
    "class Model:\n    def fit(self, x, y):\n        self.x, self.y = x, y\n        return self\n    \
     def predict(self, x):\n        return LogisticRegression().fit(self.x, self.y).predict_proba(x)[:, 1]\n\
     p = Model().fit(F, Y).predict(P)",
];

/// Scores of the predictions `p` for the true values V.
const METRICS: [&str; 6] = [
    "print('score', roc_auc_score(V, p))",
    "print('score', accuracy_score(V, p > 0.5))",
    "print('score', np.mean((p > 0.5) == V))",
    "print('score', np.sqrt(np.mean((V - p) ** 2)))",
    "def metric(truth, guess):\n    return float(((guess > 0.5) == truth).mean())\nprint('score', metric(V, p))",
    "print('score', (pd.Series(p) > 0.5).eq(pd.Series(V)).mean())",
];

const FEATURES: &str = "X = df[['town', 'amount', 'age']].copy()";
const DIVIDED: &str = "y, X = df['risk'].values, df[['town', 'amount', 'age']]\na, b, ya, yb = train_test_split(X, y, random_state=1)";
const SCORED: &str = "print(roc_auc_score(yb, LogisticRegression().fit(a, ya).predict_proba(b)[:, 1]))";
const COLUMNS: &str = "columns = ['amount', 'm']";

/// Checks a script of these lines, and returns it if it does not block as it should.
fn wrong(lines: &[&str], leaks: bool) -> Option<String> {
    let script = HEAD.to_owned() + &lines.join("\n") + "\n";
    let found = check(&script, &Facts::default()).unwrap();
    let blocks: Vec<String> =
        found.iter().filter(|finding| finding.rule.blocks()).map(|finding| finding.text.clone()).collect();
    let expected = if leaks { "no leak is found" } else { "a leak is found" };
    (blocks.is_empty() == leaks).then(|| format!("{expected}: {blocks:?}\n{script}"))
}

fn all_right(wrong: impl Iterator<Item = Option<String>>) {
    let wrong: Vec<String> = wrong.flatten().collect();
    assert!(wrong.is_empty(), "{} scripts\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn the_target_is_followed_however_it_is_made() {
    all_right(TARGETS.iter().flat_map(|target| {
        let leaks =
            LEAKS.iter().map(move |leak| wrong(&[target, FEATURES, leak, DIVISIONS[0], SCORED], true));
        leaks.chain([wrong(&[target, FEATURES, DIVISIONS[0], SCORED], false)])
    }));
}

#[test]
fn rows_are_followed_however_they_are_divided() {
    let target = TARGETS[2];
    all_right(DIVISIONS.iter().flat_map(|division| {
        let leaks = LEAKS.iter().map(move |leak| wrong(&[target, FEATURES, leak, division, SCORED], true));
        leaks.chain([wrong(&[target, FEATURES, division, SCORED], false)])
    }));
}

#[test]
fn statistics_of_the_target_are_followed_however_they_are_written() {
    let divided = "a, b = train_test_split(df, random_state=1)\na, b = a.copy(), b.copy()";
    let scored = "m = LogisticRegression().fit(a[columns], a['risk'])\n\
                  print(roc_auc_score(b['risk'], m.predict_proba(b[columns])[:, 1]))";
    let folds = "scores = []\nfor i, o in KFold(5).split(df):\n    \
                 m = LogisticRegression().fit(df.iloc[i][columns], df['risk'].iloc[i])\n    \
                 scores.append(roc_auc_score(df['risk'].iloc[o], m.predict_proba(df.iloc[o][columns])[:, 1]))\n\
                 print(np.mean(scores))";
    let crossed = "print(cross_val_score(LogisticRegression(), df[columns], df['risk'], cv=5).mean())";
    let of = |encoding: &str, to: &str, from: &str| {
        let words = encoding.replace("D[", &format!("{from}[")).replace("D.", &format!("{from}."));
        let words =
            words.replace("fit(D)", &format!("fit({from})")).replace("rates(D)", &format!("rates({from})"));
        let words = words.replace("T[", &format!("{to}[")).replace("T.", &format!("{to}."));
        words.replace("of(T)", &format!("of({to})")).replace("T =", &format!("{to} ="))
    };
    all_right(ENCODINGS.iter().flat_map(|encoding| {
        let before = of(encoding, "df", "df");
        let (first, second) = (of(encoding, "a", "a"), of(encoding, "b", "a"));
        [
            wrong(&[COLUMNS, &before, divided, scored], true),
            wrong(&[COLUMNS, &before, folds], true),
            wrong(&[COLUMNS, &before, crossed], true),
            wrong(&[COLUMNS, divided, &second, &first, scored], false),
        ]
    }));
}

#[test]
fn weights_are_followed_however_they_are_kept() {
    let models = "from sklearn.linear_model import Ridge\nP = np.column_stack([m.fit(a, ya).predict(b) for m in [Ridge(), Ridge(9)]])";
    let search = |weights: &str| {
        format!(
            "best, top = None, np.inf\nfor w in np.arange(0, 1.01, 0.05):\n    weights = {weights}\n    \
             s = log_loss(yb, P @ weights)\n    if s < top:\n        best, top = weights, s"
        )
    };
    let array = search("np.array([w, 1 - w])");
    let fixed = "best = np.array([0.5, 0.5])";
    all_right(
        ["print(top)", "print(log_loss(yb, P @ best))"]
            .iter()
            .map(|shown| wrong(&[DIVIDED, models, &array, shown], true)),
    );
    all_right([wrong(&[DIVIDED, models, fixed, "print(log_loss(yb, P @ best))"], false)].into_iter());
}

#[test]
fn fits_are_followed_however_models_and_scores_are_written() {
    let cases = [
        ("a", "ya", "b", "yb", false),
        ("X[:800]", "y[:800]", "X[800:]", "y[800:]", false),
        ("X", "y", "b", "yb", true),
        ("pd.concat([a, b])", "np.concatenate([ya, yb])", "b", "yb", true),
        ("pd.concat([a, b.iloc[:50]])", "np.r_[ya, yb[:50]]", "b", "yb", true),
        ("a", "ya", "a", "ya", true),
        ("X[:800]", "y[:800]", "X[700:]", "y[700:]", true),
    ];
    all_right(MODELS.iter().flat_map(|model| {
        METRICS.iter().flat_map(move |metric| {
            cases.map(move |(fitted, truth, predicted, scored, leaks)| {
                let parts = format!("F, Y, P, V = {fitted}, {truth}, {predicted}, {scored}");
                wrong(&[DIVIDED, &parts, model, metric], leaks)
            })
        })
    }));
}
