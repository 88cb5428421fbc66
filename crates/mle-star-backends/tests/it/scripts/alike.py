print('Final Validation Performance: 0.5')
#---
import sys
print(sys.argv, sys.orig_argv, sys.flags, sys.path, sys.executable, sys.prefix)
print(__name__, __file__, __package__, __spec__, __doc__, __builtins__)
print(list(globals()), dir())
#---
import sys
for stream in sys.stdin, sys.stdout, sys.stderr, sys.__stdin__:
    print(stream, stream.name, stream.mode, stream.encoding, stream.errors, stream.newlines, stream.isatty(),
          stream.seekable(), stream.line_buffering, stream.write_through, type(stream.buffer), stream.buffer.name)
print(sys.stdin is sys.__stdin__, sys.stdin.closed, repr(sys.stdin.read()), repr(sys.stdin.buffer.raw)[:25])
#---
input('anybody there? ')
#---
import os, sys
print([name for name in os.environ if name != 'MLE_STAR_CHILD'])
print({k: v for k, v in os.environ.items() if 'PYTHON' in k or k in ('HOME', 'LC_CTYPE')}, os.path.isdir(os.environ['TMPDIR']))
print(sorted(os.listdir('.')), os.getcwd(), os.path.expanduser('~'))
print(open('/proc/self/cmdline').read().split('\0')[1:])
os.system('echo $HOME $PYTHONHASHSEED; ls /proc/self/fd | wc -l')
#---
import os, signal, threading
print(os.getpid() == os.getsid(0) == os.getpgid(0), len(os.listdir('/proc/self/fd')))
print({s: signal.getsignal(s) for s in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD, signal.SIGPIPE)})
print(signal.pthread_sigmask(signal.SIG_BLOCK, []), threading.main_thread() is threading.current_thread())
print(threading.enumerate()[0].name, threading.active_count(), os.nice(0), os.umask(0))
#---
import inspect, sys
print(inspect.stack()[0].filename, len(inspect.stack()), sys._getframe().f_back, sys.getrecursionlimit())
def f(): return inspect.getsource(f)
print(f())
#---
def f(n): return f(n + 1)
try:
    f(0)
except RecursionError as error:
    import traceback
    print(len(traceback.extract_tb(error.__traceback__)))
#---
raise ValueError('no')
#---
def f():
    return {}['k']
try:
    f()
except KeyError as error:
    raise RuntimeError('chained') from error
#---
print('x'
this is no python
#---
x = (1,
#---
# -*- coding: latin-1 -*-
print('é')
#---
raise SystemExit
#---
raise SystemExit(3)
#---
import sys; sys.exit('a text')
#---
import sys; sys.exit(-1)
#---
import sys; sys.exit((1, 2))
#---
raise SystemExit(1 << 40)
#---
import os; os._exit(7)
#---
raise KeyboardInterrupt
#---
import os, signal, time
os.kill(os.getpid(), signal.SIGINT)
time.sleep(60)
#---
import os, signal; os.kill(os.getpid(), signal.SIGSEGV)
#---
import os; os.abort()
#---
import os, signal; os.kill(os.getpid(), signal.SIGTERM)
#---
raise ExceptionGroup('several', [ValueError(1), TypeError(2)]) if hasattr(__builtins__, 'ExceptionGroup') else ValueError
#---
import sys
def hook(kind, value, trace): print('hook', kind, value, trace.tb_frame.f_code.co_name, trace.tb_next)
sys.excepthook = hook
1 / 0
#---
import sys
sys.excepthook = None
1 / 0
#---
import atexit, sys
atexit.register(print, 'first registered')
atexit.register(lambda: print('at exit', sorted(n for n in vars(sys.modules['__main__']) if n[0] != '_')))
print('end')
#---
import atexit
class F:
    def __call__(self): raise ValueError('at exit')
    def __repr__(self): return 'F'
atexit.register(F())
#---
import atexit, sys
atexit.register(sys.exit, 5)
#---
import atexit, os
atexit.register(os._exit, 6)
raise SystemExit(2)
#---
class Tells:
    def __init__(self, name): self.name = name
    def __del__(self): print('gone', self.name, flush=True)
_private, public, cycle = Tells('private'), Tells('public'), Tells('cycle')
cycle.itself = cycle
held = [Tells('held')]
print('end')
#---
class Tells:
    def __del__(self): print('gone')
x = Tells()
raise SystemExit(4)
#---
import weakref
class C: pass
c = C()
weakref.finalize(c, print, 'finalized')
#---
import threading, time
def late():
    time.sleep(0.2)
    print('late', threading.main_thread().is_alive())
threading.Thread(target=late).start()
print('main ends')
#---
import threading, time
threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
print('main ends')
#---
import threading
t = threading.Thread(target=lambda: 1 / 0, name='broken'); t.start(); t.join()
#---
import sys, os
sys.stdout.close(); sys.stderr.close()
#---
import os
os.close(1)
print('unread')
#---
import sys
sys.stdout.buffer.write(b'\xff\n'); print('\udcff')
#---
import sys
print('to stderr', file=sys.stderr); print('é ü \N{SNOWMAN}')
#---
import ctypes
ctypes.CDLL(None).printf(b'from C\n')
print('from python')
#---
print({'a', 'b', 'c', 'd'}, hash('text'), list({'x', 'y', 'z'}))
#---
import random
random.seed(0); print(random.random(), random.Random(1).random())
#---
import pickle, copy
class C:
    def __init__(self): self.x = 1
    def __eq__(self, other): return self.x == other.x
print(pickle.dumps(C()), pickle.loads(pickle.dumps(C())) == C(), copy.deepcopy(C()).x)
import __main__
print(__main__.C is C, __main__.__file__ == __file__)
#---
import multiprocessing as mp
def square(x): return x * x
class Point:
    def __init__(self, x): self.x = x
def shift(p): return Point(p.x + 1)
if __name__ == '__main__':
    for method in ('fork', 'spawn', 'forkserver'):
        with mp.get_context(method).Pool(2) as pool:
            print(method, pool.map(square, range(5)), [p.x for p in pool.map(shift, [Point(1), Point(2)])])
#---
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
def square(x): return x * x
if __name__ == '__main__':
    for executor in (ProcessPoolExecutor, ThreadPoolExecutor):
        with executor(2) as pool: print(list(pool.map(square, range(5))))
#---
import multiprocessing as mp
def die(): raise ValueError('in the child')
if __name__ == '__main__':
    child = mp.get_context('fork').Process(target=die); child.start(); child.join()
    print(child.exitcode)
#---
import os, sys
if os.fork() == 0:
    print('child'); sys.exit(3)
print('parent', os.waitstatus_to_exitcode(os.wait()[1]))
#---
import os
if os.fork() == 0:
    print('child falls off the end')
else:
    print('parent', os.waitstatus_to_exitcode(os.wait()[1]))
#---
import subprocess, sys
print(subprocess.run([sys.executable, '-c', 'import sys; print(sys.argv, sys.path[0], "sitecustomize" in sys.modules)'], capture_output=True, text=True).stdout)
#---
import tempfile, os
with tempfile.NamedTemporaryFile() as f: print(os.path.dirname(f.name) == os.environ['TMPDIR'] == tempfile.gettempdir())
#---
import asyncio
async def main(): await asyncio.sleep(0.01); print('done')
asyncio.run(main())
#---
import logging
logging.basicConfig(format='%(levelname)s %(name)s %(message)s %(filename)s:%(lineno)d')
logging.warning('hello'); logging.getLogger('x').error('there')
#---
import warnings
warnings.warn('first'); warnings.warn('old', DeprecationWarning); warnings.warn('deep', stacklevel=2)
def f(): warnings.warn('caller', stacklevel=2)
f()
#---
import time
print(time.process_time() < 5, time.strftime('%Z'))
#---
import sys, gc
print(gc.isenabled(), gc.get_threshold(), 'sitecustomize' in sys.modules, [str(n).split(' at ')[0] for n in sys.meta_path], sys.dont_write_bytecode)
print(hasattr(sys, 'last_value'), sys.exc_info(), sys.gettrace(), sys.getprofile(), sys.excepthook is sys.__excepthook__)
#---
import helper_that_is_not_there
#---
open('helper.py', 'w').write('import sys\nprint(__name__, __file__)\nclass T:\n    def f(self): raise ValueError\n')
import helper
helper.T().f()
#---
import runpy, os
open('other.py', 'w').write('print(__name__, __file__)\n')
runpy.run_path('other.py', run_name='__main__')
exec(compile('print(__name__)', 'x', 'exec'))
#---
import unittest
class T(unittest.TestCase):
    def test(self): self.assertEqual(1, 2)
result = unittest.main(exit=False, verbosity=0, testRunner=unittest.TextTestRunner(stream=open('log', 'w'))).result
print(result.failures[0][1])
#---
import os
os.makedirs('final', exist_ok=True)
open('final/submission.csv', 'w').write('id,y\n1,0\n2,1\n')
#---
import faulthandler, sys
print(faulthandler.is_enabled(), sys.getswitchinterval(), sys.getfilesystemencoding(), sys.getdefaultencoding())
#---
import locale
print(locale.getpreferredencoding(False), locale.getlocale())
#---
import argparse
argparse.ArgumentParser().parse_args(['--no-such-option'])
#---
import os, shutil
shutil.rmtree(os.getcwd(), ignore_errors=True); os.chdir('/')
raise ValueError('the source is gone')
#---
import resource
print(resource.getrlimit(resource.RLIMIT_NOFILE), resource.getrlimit(resource.RLIMIT_AS), resource.getrlimit(resource.RLIMIT_CORE))
#---
while True:
    break
del __file__
#---
class Exit(SystemExit):
    code = 3
raise Exit
#---
class Exit(SystemExit): pass
class Last(Exit):
    code = property(lambda self: 4)
raise Last
#---
import sys
try:
    sys.exit(3)
except SystemExit as error:
    print(error.code, error.args); error.code = 5
    del error.code
    print(error.code)
#---
try:
    raise SystemExit(2)
except SystemExit as error:
    error.code = 6
    raise
#---
import sys
def hook(*_): sys.exit(9)
sys.excepthook = hook
1 / 0
#---
import sys
try:
    1 / 0
except ZeroDivisionError as error:
    sys.last_value = sys.last_exc = error
#---
class Tells:
    def __del__(self): print('gone')
def f(held): 1 / 0
f(Tells())
#---
import os, sys, threading, warnings
warnings.simplefilter('always')
t = threading.Thread(target=sys.exit, args=(3,)); t.start(); t.join()
if os.fork() == 0: os._exit(0)
print(os.wait()[1])
#---
import os, threading, warnings
warnings.simplefilter('error')
stop = threading.Event(); threading.Thread(target=stop.wait).start()
try:
    if os.fork() == 0: os._exit(0)
finally:
    stop.set()
#---
import multiprocessing as mp, sys
def square(x): return x * x
if __name__ == '__main__':
    print(mp.get_start_method(), mp.get_all_start_methods())
    with mp.Pool(2) as pool: print(pool.map(square, range(5)))
#---
import os
os.environ['FORCE_COLOR'] = '1'
def f(): return 1 / 0
f()
#---
import sys
if hasattr(sys, 'monitoring'):
    print([sys.monitoring.get_tool(n) for n in range(6)])
    sys.monitoring.use_tool_id(3, 'x'); print(sys.monitoring.get_events(3))
print(sys.version_info, sys._git if hasattr(sys, '_git') else None, len(sys.warnoptions), sys._xoptions)
#---
import builtins
builtins.kept = open('final/submission.csv', 'w')
builtins.kept.write('id,y\n1,0.5\n2,0.5\n')
#---
import builtins, gzip, sys
builtins.packed = gzip.open('final/x.gz', 'wt')
builtins.packed.write('x')
builtins.kept = open('final/submission.csv', 'w')
builtins.kept.write('id,y\n1,0.5\n2,0.5\n')
sys.exit(0)
