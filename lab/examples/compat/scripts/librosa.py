import librosa
import numpy as np
import soundfile

tone = librosa.tone(440, sr=22050, duration=1)
soundfile.write("tone.wav", tone, 22050)
sound, rate = librosa.load("tone.wav")
features = librosa.feature.mfcc(y=sound, sr=rate)
pitch = float(np.median(librosa.yin(sound, fmin=200, fmax=800, sr=rate)))
assert features.shape[0] == 20
score = pitch / 440
print("Final Validation Performance:", score)
