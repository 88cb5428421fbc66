# expect: selected-before-split 15
import pandas as pd
from scipy.stats import f_oneway, spearmanr
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import accuracy_score
from sklearn.model_selection import train_test_split

LABEL = "species"


def by_anova(table, columns, alpha=0.05):
    kept = []
    for column in columns:
        samples = [group[column].values for _, group in table.groupby(LABEL)]
        statistic, p_value = f_oneway(*samples)
        if p_value < alpha:
            kept.append(column)
    return kept


table = pd.read_csv("leaves.csv")
columns = [c for c in table.columns if c != LABEL]
columns = by_anova(table, columns)
train, valid = train_test_split(table, test_size=0.2, random_state=0)
clf = RandomForestClassifier().fit(train[columns], train[LABEL])
print(f"Final Validation Performance: {accuracy_score(valid[LABEL], clf.predict(valid[columns]))}")
