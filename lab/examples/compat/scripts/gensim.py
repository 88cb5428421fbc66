from gensim.models import Word2Vec

texts = [["cat", "dog", "pet"], ["car", "bus", "road"]] * 200
fitted = Word2Vec(texts, vector_size=16, min_count=1, workers=4, seed=1, epochs=100)
fitted.save("vectors")
score = float(Word2Vec.load("vectors").wv.similarity("cat", "dog"))
assert score > 0.5
print("Final Validation Performance:", score)
