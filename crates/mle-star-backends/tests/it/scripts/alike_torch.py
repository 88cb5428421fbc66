import os, torch
print(torch.__version__, torch.get_num_threads(), torch.get_num_interop_threads(), torch.get_default_dtype())
print(torch.cuda.is_available(), torch.cuda.device_count(), torch.cuda.is_initialized(), torch.is_grad_enabled())
print([name for name in os.environ if name.startswith(('TORCH', 'TRITON', 'PYTORCH', 'CUDA', 'OMP'))])
#---
import torch
from torch import nn
torch.manual_seed(0); torch.set_num_threads(1)  # With two, the last digits are others now and then.
x = torch.randn(4000, 50); y = (x[:, :1] + torch.randn(4000, 1) > 0).float()
m = nn.Sequential(nn.Linear(50, 128), nn.ReLU(), nn.Dropout(0.1), nn.BatchNorm1d(128), nn.Linear(128, 1))
for make in (torch.optim.Adam, torch.optim.SGD, torch.optim.AdamW):
    o = make(m.parameters(), lr=1e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(o, 5)
    for _ in range(5):
        o.zero_grad(); loss = nn.functional.binary_cross_entropy_with_logits(m(x), y); loss.backward(); o.step(); schedule.step()
    print(loss.item(), m[0].weight.sum().item())
m.eval(); print('Final Validation Performance:', ((m(x) > 0) == (y > 0)).float().mean().item())
torch.save(m.state_dict(), 'm.pt'); m.load_state_dict(torch.load('m.pt')); print(len(m.state_dict()))
#---
import torch
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(1)
data = TensorDataset(torch.arange(64).float()[:, None], torch.arange(64))
if __name__ == '__main__':
    for context in (None, 'fork', 'spawn'):
        loader = DataLoader(data, batch_size=16, shuffle=True, num_workers=2, multiprocessing_context=context)
        print(context, [y.tolist()[:4] for _, y in loader], sum(x.sum().item() for x, _ in loader))
#---
import numpy as np, random, torch
from torch.utils.data import DataLoader, Dataset
class Noise(Dataset):
    def __len__(self): return 8
    def __getitem__(self, i): return torch.rand(1).item(), torch.initial_seed() - i * 0
def seed(worker): np.random.seed(torch.initial_seed() % 2**32); random.seed(worker)
g = torch.Generator(); g.manual_seed(3)
print([b[0].tolist() for b in DataLoader(Noise(), batch_size=4, num_workers=2, worker_init_fn=seed, generator=g, persistent_workers=True)])
#---
import torch
torch.set_num_threads(2)
a = torch.randn(500, 500, generator=torch.Generator().manual_seed(0))
print(torch.get_num_threads(), (a @ a).sum().item(), torch.linalg.svdvals(a)[:3])
#---
import torch
torch.set_num_threads(1); torch.set_num_interop_threads(1)
print(torch.get_num_threads(), torch.get_num_interop_threads(), torch.__config__.parallel_info().count('OpenMP'))
#---
import torch
x = torch.linspace(-1, 1, 5, requires_grad=True)
y = (x ** 3).sum(); g, = torch.autograd.grad(y, x, create_graph=True); print(g, torch.autograd.grad(g.sum(), x))
print(torch.func.vmap(torch.func.grad(torch.sin))(torch.arange(3.)))
class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a): return a * 2
    @staticmethod
    def backward(ctx, g): return g * 2
Twice.apply(x).sum().backward(); print(x.grad)
#---
import torch, lightgbm
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler
from sklearn.ensemble import RandomForestClassifier
x, y = load_breast_cancer(return_X_y=True); x = StandardScaler().fit_transform(x)
print(lightgbm.LGBMClassifier(n_estimators=20, n_jobs=2, verbose=-1).fit(x, y).score(x, y))
torch.manual_seed(0)
m = torch.nn.Linear(30, 1); o = torch.optim.Adam(m.parameters(), 0.1)
tx, ty = torch.tensor(x).float(), torch.tensor(y).float()
for _ in range(20): o.zero_grad(); l = torch.nn.functional.binary_cross_entropy_with_logits(m(tx)[:, 0], ty); l.backward(); o.step()
print(l.item(), RandomForestClassifier(20, n_jobs=2, random_state=0).fit(x, y).score(x, y))
#---
import torch, torch.multiprocessing as mp
def add(tensor, n): tensor += n
def square(x): return x * x
if __name__ == '__main__':
    for method in ('fork', 'spawn'):
        context = mp.get_context(method); t = torch.zeros(3).share_memory_()
        children = [context.Process(target=add, args=(t, n)) for n in (1, 2)]
        for c in children: c.start(); c.join()
        with context.Pool(2) as pool: print(method, t, pool.map(square, [torch.tensor(2.), torch.tensor(3.)]))
#---
import torch
torch.zeros(1).cuda()
#---
import torch
torch.ones(2, 3) @ torch.ones(2, 3)
#---
import torch, sys
sys.exit(3)
#---
import torch
raise SystemExit('stopped early')
#---
import torch, warnings
torch.tensor(torch.ones(1))
m = torch.nn.Linear(1, 1); torch.optim.lr_scheduler.StepLR(torch.optim.SGD(m.parameters(), 1), 1).step()
#---
import torch
torch.use_deterministic_algorithms(True); torch.manual_seed(0)
print(torch.nn.Conv2d(3, 4, 3)(torch.rand(2, 3, 8, 8)).sum(), torch.nn.LSTM(4, 5)(torch.rand(3, 2, 4))[0].sum())
print(torch.nn.TransformerEncoderLayer(8, 2, batch_first=True).eval()(torch.rand(2, 3, 8)).sum())
#---
import torch
@torch.jit.script
def f(x):
    if x.sum() > 0: return x * 2
    return -x
print(f(torch.ones(2)), torch.jit.trace(torch.nn.ReLU(), torch.ones(1))(torch.tensor([-1.])))
#---
import torch
@torch.compile(backend='eager')
def f(x): return torch.sin(x) + x.cos().sum()
print(f(torch.arange(4.)), torch._dynamo.utils.counters['stats']['unique_graphs'])
#---
import torch, numpy as np
a = np.arange(4.); t = torch.from_numpy(a); t += 1
print(a, t.numpy() is not a, np.asarray(torch.ones(2)))
#---
import joblib, torch
def total(seed): torch.manual_seed(seed); return torch.rand(100, 100).sum().item()
print(joblib.Parallel(n_jobs=2)(joblib.delayed(total)(n) for n in range(3)))
#---
import os, torch, torch._dynamo, triton
print(triton.knobs.cache.home_dir == os.path.expanduser('~/'), triton.knobs.cache.dir.startswith(os.environ['HOME']))
#---
import torch
@torch.compile
def f(x): return torch.sin(x) * 2 + x.mean()
print(f(torch.arange(8.)), f(torch.arange(3.)))
