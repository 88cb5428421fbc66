import spacy
from spacy.training import Example

nlp = spacy.blank("en")
classes = nlp.add_pipe("textcat")
texts = [("good fine nice", 1), ("bad awful poor", 0)] * 10
examples = [Example.from_dict(nlp.make_doc(t), {"cats": {"pos": float(y), "neg": 1.0 - y}}) for t, y in texts]
optimizer = nlp.initialize(lambda: examples)
for _ in range(20):
    nlp.update(examples, sgd=optimizer)
docs = list(nlp.pipe([t for t, _ in texts], n_process=2))
score = sum((doc.cats["pos"] > 0.5) == y for doc, (_, y) in zip(docs, texts)) / len(texts)
assert score > 0.9
print("Final Validation Performance:", score)
