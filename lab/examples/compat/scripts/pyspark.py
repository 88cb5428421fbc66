from pyspark.ml.classification import LogisticRegression
from pyspark.ml.feature import VectorAssembler
from pyspark.sql import SparkSession

spark = SparkSession.builder.master("local[2]").config("spark.driver.memory", "1g").getOrCreate()
spark.sparkContext.setLogLevel("ERROR")
table = spark.read.csv("input/train.csv", header=True, inferSchema=True)
table = VectorAssembler(inputCols=[f"x{n}" for n in range(5)], outputCol="features").transform(table)
score = LogisticRegression(labelCol="y").fit(table).summary.accuracy
spark.stop()
assert score > 0.7
print("Final Validation Performance:", score)
