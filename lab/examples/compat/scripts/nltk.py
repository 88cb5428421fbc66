from nltk import FreqDist, ngrams
from nltk.metrics import edit_distance
from nltk.stem import SnowballStemmer
from nltk.tokenize import TreebankWordTokenizer

words = TreebankWordTokenizer().tokenize("The models are modelling the modelled data.")
stems = [SnowballStemmer("english").stem(word) for word in words]
assert FreqDist(ngrams(stems, 1)).most_common(1)[0][1] == 3 and edit_distance("ab", "ac") == 1
score = stems.count("model") / 3
print("Final Validation Performance:", score)
