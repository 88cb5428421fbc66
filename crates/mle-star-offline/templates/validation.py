# === Validation ===
validated, final = postprocess(oof, predicted)
score = metric(y, validated)
print(f"Final Validation Performance: {score}")
