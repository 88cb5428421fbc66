    for fit_rows, valid_rows in FOLDS:
        model = learnt_from(fit_rows)
        oof[valid_rows] = model(x_train.iloc[valid_rows])
        predicted += model(x_test) / len(FOLDS)
        # Otherwise a model is not needed any more.
        models.extend([model] if KEEPS_MODEL else [])

    def predict(rows):
        x = features(rows)
        return sum(model(x) / len(models) for model in models)

    return oof, predicted, predict
