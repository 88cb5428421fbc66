# Names threads as CUDA does when it starts.
import threading


def name(who):
    comm = f"/proc/self/task/{threading.get_native_id()}/comm"
    try:
        file = os.open(comm, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
    except OSError:
        return
    os.write(file, b"cuda" + who[:3].encode())
    os.close(file)
    print(who, "named" if open(comm).read() == f"cuda{who[:3]}\n" else "lied", flush=True)


name("own")
thread = threading.Thread(target=name, args=["thread"])
thread.start()
thread.join()
if os.fork() == 0:
    name("child")
    os._exit(0)
os.wait()
code = "import os\nfile = os.open('/proc/thread-self/comm', os.O_WRONLY | os.O_CREAT | os.O_TRUNC)\nos.write(file, b'x')"
if subprocess.run([sys.executable, "-c", code], stderr=subprocess.DEVNULL).returncode == 0:
    print("program named")
