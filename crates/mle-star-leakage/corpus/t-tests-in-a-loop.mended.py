import pandas as pd
from scipy import stats
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

genes = pd.read_csv("expression.csv", index_col=0)
feature_cols = [c for c in genes.columns if c != "diseased"]
train, valid = train_test_split(genes, test_size=0.3, random_state=8, stratify=genes["diseased"])

significant = []
for col in feature_cols:
    sick = train.loc[train["diseased"] == 1, col]
    healthy = train.loc[train["diseased"] == 0, col]
    t, p = stats.ttest_ind(sick, healthy)
    if p < 0.01:
        significant.append(col)
print(len(significant), "genes")

model = GradientBoostingClassifier()
model.fit(train[significant], train["diseased"])
p_valid = model.predict_proba(valid[significant])[:, 1]
print(f"Final Validation Performance: {roc_auc_score(valid['diseased'], p_valid):.4f}")
