//! Where leaks can start after a change.

use std::collections::BTreeSet;
use std::fs;
use std::ops::RangeInclusive;
use std::path::Path;

use mle_star_leakage::where_leaks_can_start;

use crate::scripts::scripts;

/// A script with the changed lines marked by `# <`, and the lines that are to be given by `# !`.
fn check(script: &str) {
    let marked = |mark: &str| -> Vec<usize> {
        let lines = script.lines().zip(1..);
        lines.filter(|(line, _)| line.contains(mark)).map(|(_, number)| number).collect()
    };
    let changed: Vec<RangeInclusive<usize>> = marked("# <").into_iter().map(|line| line..=line).collect();
    let found: BTreeSet<usize> = where_leaks_can_start(script, &changed).into_iter().flatten().collect();
    let expected: BTreeSet<usize> = marked("# !").into_iter().chain(marked("# <!")).collect();
    assert_eq!(found, expected, "{script}");
}

const HEAD: &str = "\
import numpy as np
import pandas as pd
import lightgbm as lgb
import matplotlib.pyplot as plt
import warnings
from sklearn.base import clone
from sklearn.ensemble import RandomForestRegressor, StackingRegressor, VotingRegressor
from sklearn.linear_model import Ridge
from sklearn.metrics import mean_squared_error
from sklearn.model_selection import KFold, train_test_split
from sklearn.preprocessing import StandardScaler, OrdinalEncoder
df = pd.read_csv('train.csv')
X, y = df.drop(columns='price'), df['price']
X_tr, X_va, y_tr, y_va = train_test_split(X, y, random_state=0)
";

fn check_all(bodies: &[&str]) {
    for body in bodies {
        check(&format!("{HEAD}{body}"));
    }
}

const SCORED: &str = "model.fit(X_tr, y_tr)\nscore = mean_squared_error(y_va, model.predict(X_va))\nprint(f'Final Validation Performance: {score}')\n";

/// Settings, models and seeds.
#[test]
fn settings_of_models_are_harmless() {
    for body in [
        "model = lgb.LGBMRegressor(learning_rate=0.05, n_estimators=500)  # <\n",
        "model = lgb.LGBMRegressor(\n    learning_rate=0.05,  # <\n    n_jobs=-1,  # <\n)\n",
        "model = RandomForestRegressor(n_estimators=500, max_features='sqrt', random_state=3)  # <\n",
        "from sklearn.ensemble import ExtraTreesRegressor  # <\nmodel = ExtraTreesRegressor(n_estimators=500)  # <\n",
        "RATE = 0.05  # <\nmodel = lgb.LGBMRegressor(learning_rate=RATE)\n",
        "params = {'learning_rate': 0.05, 'num_leaves': 63}  # <\nmodel = lgb.LGBMRegressor(**params, n_jobs=4)\n",
        "params = {\n    'learning_rate': 0.05,  # <\n}\nparams['seed'] = 7  # <\nmodel = lgb.LGBMRegressor(**params)\n",
        "params = {'learning_rate': 0.05}  # <\nROUNDS = 900  # <\nbooster = lgb.train(params, lgb.Dataset(X_tr, y_tr), ROUNDS)\nmodel = Ridge()\n",
        "class CFG:\n    rate = 0.05  # <\n    seeds = [1, 2]  # <\nfor seed in CFG.seeds:\n    model = lgb.LGBMRegressor(learning_rate=CFG.rate, random_state=seed)\n",
        "def made(rate):\n    return lgb.LGBMRegressor(learning_rate=rate, num_leaves=9)  # <\nmodel = made(0.1)  # <\n",
        "STRENGTH = 2  # <\ndef made(strength):\n    return Ridge(alpha=strength)\nmodel = made(STRENGTH)\n",
        "model = VotingRegressor([('r', Ridge(alpha=3.0)), ('f', RandomForestRegressor())])  # <\n",
        "model = StackingRegressor(estimators=[('r', Ridge())], final_estimator=Ridge(), cv=5)  # <\n",
    ] {
        check(&format!("{HEAD}{body}{SCORED}"));
    }
    for body in [
        "SEEDS = [1, 2, 3]  # <\np = 0\nfor seed in SEEDS:\n    model = Ridge(random_state=seed)\n    model.fit(X_tr, y_tr)\n    p = p + model.predict(X_va) / len(SEEDS)\nprint(mean_squared_error(y_va, p))\n",
        "N = 5  # <\np = np.zeros(len(X_va))\nfor seed in range(N):\n    model = Ridge(random_state=seed)\n    model.fit(X_tr, y_tr)\n    p += model.predict(X_va) / N\nprint(mean_squared_error(y_va, p))\n",
        "p = 0\nfor seed in range(7):  # <\n    model = Ridge(random_state=seed)\n    model.fit(X_tr, y_tr)\n    p = p + model.predict(X_va)\n",
        "models = [Ridge(alpha=a) for a in [0.1, 1.0]]  # <\nfor model in models:\n    model.fit(X_tr, y_tr)\n",
    ] {
        check(&format!("{HEAD}{body}"));
    }
}

#[test]
fn prints_plots_comments_and_imports_are_harmless() {
    check_all(&[
        "print('rows', len(df), df.shape)  # <\n",
        "print(df.head())  # <\nprint(f'{X_tr.shape} {df.dtypes}')  # <\n",
        "for fold, (a, b) in enumerate(KFold(5).split(X)):\n    print(f'fold {fold}')  # <\n",
        "plt.hist(df['price'])  # <\nplt.title('prices')  # <\nplt.show()  # <\n",
        "figure, axes = plt.subplots()  # <\naxes.plot(df['price'])  # <\naxes.set_title('prices')  # <\n",
        "# a comment  # <\n\nx = 1\n",
        "import os  # <\nfrom sklearn.svm import SVR  # <\n",
        "np.random.seed(3)  # <\nwarnings.filterwarnings('ignore')  # <\n",
        "def f(x):\n    # a comment  # <\n    '''Text.'''  # <\n    return x.mean()\nf(df)\n",
    ]);
}

#[test]
fn what_works_on_data_can_leak() {
    check_all(&[
        "X_tr = X  # <!\n",
        "X_tr = X_tr[X_tr['size'] > 3]  # <!\n",
        "X_tr['m'] = 0  # <!\n",
        "X_tr, X_va, y_tr, y_va = train_test_split(X, y, random_state=1)  # <!\n",
        "model = Ridge().fit(X_tr, y_tr)  # <!\n",
        "model = Ridge()\nmodel.fit(  # !\n    X,  # <!\n    y,  # !\n)  # !\n",
        "X_tr = StandardScaler().fit_transform(X_tr)  # <!\n",
        "s = StandardScaler()  # <!\n",
        "m = df.groupby('town')['price'].transform('mean')  # <!\n",
        "d = df.merge(pd.read_csv('more.csv'), on='id')  # <!\n",
        "x = df['price'].shift(-1)  # <!\n",
        "df.sort_values('day', inplace=True)  # <!\n",
        "more = pd.read_csv('more.csv')  # <!\n",
        "model = Ridge().fit(X_tr, y_tr)\nprint(mean_squared_error(y_va, model.predict(X_va)))  # <!\n",
        "model = Ridge().fit(X_tr, y_tr)\ns = mean_squared_error(y_va, model.predict(X_va))\nprint('score', s)  # <!\n",
        "model = Ridge().fit(X_tr, y_tr)\nerror = y_va - model.predict(X_va)\nprint(np.sqrt(np.mean(error ** 2)))  # <!\n",
        "print('Final Validation Performance: 0.1')  # <!\n",
        "print(Ridge().fit(X, y))  # <!\n",
        "exec('X_tr = X')  # <!\n",
        "X_tr = eval('X')  # <!\n",
        "import strange\nX_tr = strange.changed(X_tr)  # <!\n",
        "X_tr.strange(X)  # <!\n",
        "model = lgb.LGBMRegressor(early_stopping_rounds=50)  # <!\n",
        "model = StackingRegressor([('r', Ridge())], cv='prefit')  # <!\n",
        "from strange import Encoder\ne = Encoder()  # <!\n",
        "from strange import Encoder as Ridge  # <!\n",
        "from strange import *  # <!\n",
        "full = Ridge().fit(X, y)\nbest = full  # <!\n",
        "full = Ridge()\nbest = full  # <!\nfull.fit(X, y)\n",
        "k = KFold(5, shuffle=True)  # <!\n",
        "f = open('answers.csv')  # <!\n",
        "if True:  # <!\n    X_tr = X  # !\n",
        "for a, b in [(X, X)]:  # <!\n    z = 1  # !\n",
        "try:  # !\n    X_tr = X  # !\nexcept ValueError:  # <!\n    pass  # !\n",
        "assert len(X)  # <!\n",
        "del df  # <!\n",
    ]);
}

/// Constants are followed to where they are used.
#[test]
fn constants_that_choose_rows_or_columns_can_leak() {
    check_all(&[
        "LAG = -1  # <!\nx = df['price'].shift(LAG)  # !\n",
        "COLUMNS = ['size', 'price']  # <!\nX_tr = df[COLUMNS]  # !\n",
        "COLUMNS = ['size']\nCOLUMNS.append('price')  # <!\nX_tr = df[COLUMNS]\n",
        "PATH = 'answers.csv'  # <!\nmore = pd.read_csv(PATH)  # !\n",
        "N = 100  # <!\nX_tr = X[:N]  # !\n",
        "WHOLE = True  # <!\nif WHOLE:  # !\n    X_tr = X\n",
        "class CFG:\n    lag = -1  # <!\nx = df['price'].shift(CFG.lag)  # !\n",
        "def columns():\n    return ['price']  # <!\nnames = columns()  # !\nX_tr = df[names]\n",
        "A = -1  # <!\nB = A  # !\nx = df['price'].shift(B)\n",
        "from sklearn.preprocessing import TargetEncoder\nencoder = OrdinalEncoder\nencoder = TargetEncoder  # <!\nX_tr = encoder().fit_transform(X_tr, y_tr)  # !\n",
        "for lag in [1, -1]:  # <!\n    x = df['price'].shift(lag)  # !\n",
        "params = {'early_stopping_rounds': 5}  # <!\nmodel = lgb.LGBMRegressor(**params)  # !\n",
    ]);
}

/// The lines that use a changed function are given as well.
#[test]
fn functions_are_given_with_their_uses() {
    check_all(&[
        "def prepared(t):\n    t = t.copy()\n    t['m'] = t['size'].mean()  # <!\n    return t\nX_tr = prepared(X_tr)  # !\nX_va = prepared(X_va)  # !\nz = 3\n",
        "def inner(t):\n    return t.fillna(t.mean())  # <!\ndef outer(t):\n    return inner(t)  # !\nX_tr = outer(X_tr)  # !\n",
        "def prepared(t, k=1):  # <!\n    return t.shift(k)  # !\nX_tr = prepared(X_tr)  # !\n",
        "def prepared(t):\n    return t.dropna()\nX_tr = prepared(X_tr)  # <!\n",
        "def never(t):\n    return t.dropna()  # <!\n",
        "class Prepared:\n    def fit(self, t):\n        self.m = t.mean()  # <!\n        return self\np = Prepared()  # !\np.fit(X)  # !\n",
    ]);
}

#[test]
fn what_cannot_be_parsed_can_leak_whole() {
    assert_eq!(where_leaks_can_start("x = (\ny = 1\n", &[1..=1]), [1..=2]);
    assert!(where_leaks_can_start("x = (\n", &[]).is_empty());
    assert!(where_leaks_can_start("", &[1..=9]).is_empty());
    assert!(where_leaks_can_start("x = 1\n", &[40..=50]).is_empty());
}

/// The lines of a leaking script that are not those of its mended twin. Beside lines that only the twin has are others.
fn changed(pair: &str) -> Vec<RangeInclusive<usize>> {
    let (mut line, mut changed) = (1, Vec::new());
    for text in pair.lines() {
        match text.as_bytes().first() {
            Some(b'+') => changed.push(line - 1..=line),
            Some(b'-') => changed.push(line..=line),
            _ => {}
        }
        line += usize::from(!text.starts_with('+'));
    }
    changed
}

/// A change that makes a script leak is always seen.
#[test]
fn changes_that_make_leaks_are_given() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../mle-star-leakage/corpus");
    let mut wrong = Vec::new();
    let mut pairs = 0;
    for (name, leaking) in scripts("leaks") {
        let Ok(pair) = fs::read_to_string(folder.join(format!("{name}.pair"))) else { continue };
        pairs += 1;
        if where_leaks_can_start(&leaking, &changed(&pair)).is_empty() {
            wrong.push(format!("{name}: {:?}", changed(&pair)));
        }
    }
    assert!(pairs > 100 && wrong.is_empty(), "{} scripts\n{}", wrong.len(), wrong.join("\n"));
}
