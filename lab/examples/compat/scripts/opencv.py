import cv2
import numpy as np

picture = np.zeros((64, 64, 3), np.uint8)
cv2.circle(picture, (32, 32), 10, (255, 255, 255), -1)
cv2.imwrite("picture.png", picture)
found = cv2.findContours(cv2.imread("picture.png", 0), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)[0]
video = cv2.VideoWriter("video.avi", cv2.VideoWriter_fourcc(*"MJPG"), 5, (64, 64))
video.write(picture)
video.release()
assert cv2.VideoCapture("video.avi").read()[0]
score = len(found)
print("Final Validation Performance:", score)
