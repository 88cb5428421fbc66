import duckdb

base = duckdb.connect("base.duckdb")
base.execute("set memory_limit='500MB'; create table t as select * from read_csv('input/train.csv')")
score = base.execute("select max(m) from (select avg(y) m from t group by color)").fetchone()[0]
print("Final Validation Performance:", score)
