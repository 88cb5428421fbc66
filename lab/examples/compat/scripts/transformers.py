from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast, Trainer, TrainingArguments

words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "good", "bad", "film"]
open("vocab.txt", "w").write("\n".join(words))
tokenizer = BertTokenizerFast("vocab.txt") if False else BertTokenizerFast(vocab={w: n for n, w in enumerate(words)})
size = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
model = BertForSequenceClassification(BertConfig(vocab_size=len(words), num_labels=2, **size))
texts = ["good film", "bad film"] * 40
tokens = tokenizer(texts, padding=True)
rows = [{"input_ids": ids, "attention_mask": mask, "labels": int(text.startswith("good"))} for ids, mask, text in zip(tokens["input_ids"], tokens["attention_mask"], texts)]
settings = TrainingArguments("trained", num_train_epochs=10, learning_rate=5e-3, report_to=[], dataloader_num_workers=0, use_cpu=True, disable_tqdm=True, save_strategy="no")
trainer = Trainer(model, settings, train_dataset=rows)
trainer.train()
model.save_pretrained("trained")
model = BertForSequenceClassification.from_pretrained("trained")
score = float((trainer.predict(rows).predictions.argmax(1) == [row["labels"] for row in rows]).mean())
assert score > 0.9
print("Final Validation Performance:", score)
