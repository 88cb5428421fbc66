from tokenizers import Tokenizer, models, pre_tokenizers, trainers

tokenizer = Tokenizer(models.BPE(unk_token="?"))
tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
tokenizer.train_from_iterator(["the cat sat on the mat"] * 100, trainers.BpeTrainer(special_tokens=["?"]))
tokenizer.save("tokenizer.json")
score = len(Tokenizer.from_file("tokenizer.json").encode_batch(["the cat"] * 10)[0].ids) / 2
assert score == 1
print("Final Validation Performance:", score)
