    # Target means of every category, cross-fitted within the fitting rows.
{% if not p.grouping %}
    from sklearn.model_selection import KFold
{% endif %}
    from sklearn.preprocessing import TargetEncoder

    means_of_all = TargetEncoder(target_type={{ p.target_type | py }}, cv={{ p.inner_folds }})
    learnt = means_of_all.fit_transform(fit[CATEGORICAL], y_fit)
    blocks.append((learnt, lambda rows: means_of_all.transform(rows[CATEGORICAL])))
