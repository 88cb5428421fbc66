import pyarrow.compute as pc
import pyarrow.csv as csv
import pyarrow.dataset as dataset
import pyarrow.parquet as parquet

table = csv.read_csv("input/train.csv")
parquet.write_to_dataset(table, "parts", partition_cols=["color"])
score = pc.mean(dataset.dataset("parts", partitioning="hive").to_table()["y"]).as_py()
print("Final Validation Performance:", score)
