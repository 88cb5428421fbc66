import datasets

table = datasets.load_dataset("csv", data_files="input/train.csv", split="train")
table = table.map(lambda row: {"double": 2 * row["y"]}, num_proc=2)
table.save_to_disk("table")
score = sum(datasets.load_from_disk("table")["double"]) / len(table) / 2
print("Final Validation Performance:", score)
