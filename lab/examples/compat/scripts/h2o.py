import h2o
from h2o.estimators import H2OGradientBoostingEstimator

h2o.init(max_mem_size="1g", nthreads=2)
table = h2o.import_file("input/train.csv")
table["y"] = table["y"].asfactor()
fitted = H2OGradientBoostingEstimator(ntrees=20, nfolds=3, seed=1)
fitted.train(x=[f"x{n}" for n in range(5)], y="y", training_frame=table)
score = fitted.auc(xval=True)
h2o.cluster().shutdown()
assert score > 0.7
print("Final Validation Performance:", score)
