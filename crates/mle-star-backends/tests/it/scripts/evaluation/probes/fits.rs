//! Real scripts whose fits are watched.

use std::fmt::Write as _;
use std::fs;
use std::time::Duration;

use mle_star::backend::ScriptRunner as _;
use mle_star_domain::effects::{DataView, Fits, Fitted, Purpose, ScriptOutcome, ScriptRequest};
use mle_star_needs::needs;
use mle_star_tables::metrics::Metric;

use super::super::super::world::{World, request};

/// Reads the tables; `write` writes validation predictions for the training rows, or for those with these IDs.
const START: &str = "
import numpy as np, pandas as pd
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict, train_test_split
train, test = pd.read_csv('input/train.csv'), pd.read_csv('input/test.csv')
X, y, group, T = train[['a', 'b']], train.y, train.g, test[['a', 'b']]
label = (y > 0).astype(int)
folds = list(KFold(5, shuffle=True, random_state=0).split(X))
def write(values, ids=train.id):
    pd.DataFrame({'id': ids, 'y': values}).to_csv('final/validation_predictions.csv', index=False)
def out_of_fold(predict, table=X):
    values = np.zeros(len(table))
    for fit, validated in folds:
        values[validated] = predict(fit, validated)
    return values
";
/// The line of the script's own first line.
const FIRST: u64 = 16;

async fn watched(world: &World, script: &str) -> ScriptOutcome {
    let request = ScriptRequest {
        purpose: Purpose::Probe,
        data: DataView::ReplacedTestRows,
        ..request(script, Duration::from_secs(100))
    };
    world.runner().run(&request).await.unwrap()
}

/// 600 rows, of which few have the same group, and 50 test rows.
async fn world() -> World {
    let draw = |row: u64, seed: u64| {
        let mut bits =
            (row + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ seed.wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 30)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (bits >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
    };
    let (mut train, mut test) = ("id,a,b,g,y\n".to_owned(), "id,a,b,g\n".to_owned());
    for row in 0..650 {
        let (a, b, group) = (draw(row, 1), draw(row, 2), row % 150);
        match row < 600 {
            true => writeln!(train, "{row},{a},{b},g{group},{}", a + 0.5 * b + draw(row, 3)).unwrap(),
            false => writeln!(test, "{row},{a},{b},g{group}").unwrap(),
        }
    }
    let mut world = super::super::world(&train, Metric::Mae, Some("id")).await;
    fs::write(world.setup.data_dir.join("test.csv"), test).unwrap();
    world.setup.environment.python = mle_star_needs::python_with_libraries();
    world
}

async fn fits(world: &World, script: &str) -> Fits {
    let outcome = watched(world, &format!("{START}{}", script.trim_start())).await;
    assert!(!outcome.is_error(), "{outcome:?}");
    outcome.fits.unwrap_or_else(|| panic!("no report: {script}"))
}

#[tokio::test]
async fn models_that_predict_what_they_were_fitted_on_are_found() {
    needs!(Libraries);
    let world = world().await;
    let check = async |script: &str, name: &str, fitted: Fitted, at: u64| {
        let expected =
            Fits::Leak { estimator: name.to_owned(), by: fitted, line: FIRST + at, rows: 600, of: 600 };
        assert_eq!(fits(&world, script).await, expected, "{script}");
    };
    let model = Fitted::Model;
    check("model = Ridge().fit(X, y)\nwrite(model.predict(X))", "Ridge", model, 0).await;
    check(
        "model = Ridge().fit(X, y)\nwrite(out_of_fold(lambda _, rows: model.predict(X.iloc[rows])))",
        "Ridge",
        model,
        0,
    )
    .await;
    check("search = GridSearchCV(Ridge(), {'alpha': [1, 2]}).fit(X, y)\nwrite(search.best_estimator_.predict(X))", "GridSearchCV", model, 0).await;
    check("from sklearn.feature_extraction.text import TfidfVectorizer\nwords = TfidfVectorizer().fit_transform(X.a.astype(str) + ' ' + group)\nmodel = LogisticRegression().fit(words, label)\nwrite(model.predict_proba(words)[:, 1])", "LogisticRegression", model, 2).await;
    // What predictions for the other folds are put together by is fitted on its own rows.
    check("parts = np.c_[cross_val_predict(Ridge(), X, y), cross_val_predict(Ridge(9), X[['a']], y)]\nlast = Ridge().fit(parts, y)\nwrite(last.predict(parts))", "Ridge", model, 1).await;
    check("import lightgbm\nmodel = lightgbm.LGBMRegressor(n_estimators=9, verbose=-1).fit(X, y)\nwrite(model.predict(X))", "LGBMRegressor", model, 1).await;
    check("import lightgbm\nmodel = lightgbm.train({'verbose': -1}, lightgbm.Dataset(X, y), 9)\nwrite(model.predict(X))", "Booster", model, 1).await;
    check("import xgboost\nmodel = xgboost.train({}, xgboost.DMatrix(X, label=y), 9)\nwrite(model.predict(xgboost.DMatrix(X)))", "Booster", model, 1).await;
    check("import catboost\nmodel = catboost.CatBoostRegressor(iterations=9, verbose=0, allow_writing_files=False)\nmodel.fit(catboost.Pool(X, y))\nwrite(model.predict(X))", "CatBoostRegressor", model, 2).await;
}

#[tokio::test]
async fn transformers_that_learn_from_labels_before_the_folds_are_found() {
    needs!(Libraries);
    let world = world().await;
    let check = async |script: &str, name: &str, at: u64| {
        let by = Fitted::Transformer;
        let expected = Fits::Leak { estimator: name.to_owned(), by, line: FIRST + at, rows: 600, of: 600 };
        assert_eq!(fits(&world, script).await, expected, "{script}");
    };
    let folds = "\nwrite(out_of_fold(lambda fit, rows: Ridge().fit(Z[fit], y[fit]).predict(Z[rows])))";
    let select = "from sklearn.feature_selection import SelectKBest, f_regression\nnoise = np.random.default_rng(0).normal(size=(600, 300))\nZ = SelectKBest(f_regression, k=9).fit_transform(noise, y)";
    check(&format!("{select}{folds}"), "SelectKBest", 2).await;
    let encode = "from sklearn.preprocessing import TargetEncoder\nfrom sklearn.compose import ColumnTransformer\nencoder = ColumnTransformer([('mean', TargetEncoder(), ['g'])], remainder='passthrough').fit(train[['a', 'g']], y)\nZ = encoder.transform(train[['a', 'g']])";
    check(&format!("{encode}{folds}"), "ColumnTransformer", 2).await;
}

#[tokio::test]
async fn honest_scripts_pass_whatever_else_they_predict() {
    needs!(Libraries);
    let world = world().await;
    let check = async |script: &str, rows: u64| {
        assert_eq!(fits(&world, script).await, Fits::Clean { rows, of: rows }, "{script}");
    };
    // Scores of training rows, and a last fit on all rows.
    let further =
        "\nmodel = Ridge().fit(X, y)\nprint(model.score(X, y), model.predict(X)[:3])\nmodel.predict(T)";
    check(&format!("write(out_of_fold(lambda fit, rows: Ridge().fit(X.iloc[fit], y[fit]).predict(X.iloc[rows]))){further}"), 600).await;
    check("def predict(fit, rows):\n    return LogisticRegression().fit(X.iloc[fit], label[fit]).predict(X.iloc[rows])\nwrite(out_of_fold(predict))\nprint((LogisticRegression().fit(X, label).predict(X) == label).mean())", 600).await;
    check(&format!("fit, held, of_fit, _ = train_test_split(X, y, random_state=0)\nwrite(Ridge().fit(fit, of_fit).predict(held), train.id[held.index]){further}"), 150).await;
    check(&format!("def predict(fit, rows):\n    models = [Ridge(alpha).fit(X.iloc[fit], y[fit]) for alpha in (1, 99)]\n    return 0.3 * models[0].predict(X.iloc[rows]) + 0.7 * models[1].predict(X.iloc[rows])\nwrite(out_of_fold(predict)){further}"), 600).await;
    check("import lightgbm\ndef predict(fit, rows):\n    model = lightgbm.LGBMRegressor(n_estimators=9, verbose=-1)\n    return model.fit(X.iloc[fit], y[fit], eval_set=[(X.iloc[rows], y[rows])]).predict(X.iloc[rows])\nwrite(out_of_fold(predict))", 600).await;
    // The selections of all folds keep the same column, so that rows look alike after them.
    check("from sklearn.feature_selection import SelectKBest, f_regression\nparts = []\nfor fit, rows in folds:\n    select = SelectKBest(f_regression, k=1)\n    parts.append((select.fit_transform(X.iloc[fit], y[fit]), y[fit], rows, select.transform(X.iloc[rows])))\nvalues = np.zeros(600)\nfor fit, known, rows, held in parts:\n    values[rows] = Ridge().fit(fit, known).predict(held)\nwrite(values)", 600).await;
    // A row with weight zero is not learnt from.
    check("def predict(fit, rows):\n    weights = np.ones(600)\n    weights[rows] = 0\n    return Ridge().fit(X, y, sample_weight=weights).predict(X.iloc[rows])\nwrite(out_of_fold(predict))", 600).await;
}

#[tokio::test]
async fn what_is_not_certain_is_not_reported() {
    needs!(Libraries);
    let world = world().await;
    let check = async |script: &str, expected: &str| {
        let Fits::Unknown { why } = fits(&world, script).await else { panic!("{script}") };
        assert!(why.contains(expected), "{script}: {why}");
    };
    let other = "the validation predictions are not as any model predicted them";
    check("write(y * 0.9)\nRidge().fit(X, y).predict(X)", other).await;
    check("pass", "the script left no predictions for validation rows").await;
    // Rows that look alike: it is not known which of them a model was fitted on.
    check("few = X.round(0)\nwrite(Ridge().fit(few, y).predict(few) + y / 99)", other).await;
    // A defect of the watch is no defect of the script.
    check(
        "import mle_star_watch\nmle_star_watch.known_rows = None\nwrite(Ridge().fit(X, y).predict(X))",
        "the watch failed: TypeError",
    )
    .await;
}

/// Where no library is imported, nothing is changed.
#[tokio::test]
async fn a_script_without_models_runs_as_ever() {
    let world = super::super::world("id,y\n1,1\n2,3\n", Metric::Mae, Some("id")).await;
    fs::write(world.setup.data_dir.join("test.csv"), "id\n3\n4\n").unwrap();
    let script = "import sys, os\nprint(__name__, sys.argv, 'numpy' in sys.modules)\nopen('final/validation_predictions.csv', 'w').write('id,y\\n1,1\\n2,2\\n')";
    let outcome = watched(&world, script).await;
    assert_eq!(outcome.stdout.head, "__main__ ['solution.py'] False\n", "{outcome:?}");
    assert_eq!(outcome.fits, Some(Fits::Unknown { why: "no fit of a known library was seen".to_owned() }));
    assert!((outcome.measured.unwrap().score - 0.5).abs() < 1e-12, "its score is told, too");
    let stopped = watched(&world, "import os\nos._exit(0)").await;
    assert_eq!(stopped.fits, Some(Fits::Unknown { why: "the script left no report of its fits".to_owned() }));
    let ordinary = world.run("import sys\nprint('mle_star_watch' in sys.modules)").await;
    assert_eq!((ordinary.stdout.head.as_str(), ordinary.fits), ("False\n", None));
}
