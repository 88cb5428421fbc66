# Opens for writing whatever is not its own in /proc. Left out is what nobody can write, but root can open, and what
# everybody may open: there the kernel looks at what is written.
others = [f"/proc/{process}/{file}" for process in (1, os.getppid(), $HOST) for file in ("mem", "environ", "maps")]
for name in os.listdir("/proc"):
    if name.isdigit() or os.path.islink(f"/proc/{name}"):
        continue
    others.append(f"/proc/{name}")
    others += [os.path.join(folder, file) for folder, _, files in os.walk(f"/proc/{name}") for file in files]
for path in others:
    try:
        if path in others[:9] or os.stat(path).st_mode & 0o222 in (0o200, 0o220):
            os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
            print("opened", path)
            break
    except OSError:
        pass
else:
    print("nothing opened")
