"""What peers make of the same encoded rows, each in its own environment: code that prints JSON."""

from __future__ import annotations

import json
import os
import subprocess
from typing import Any

import numpy as np

from bench.sides import ONE_THREAD, ROOT, PeerMissing, interpreter

CLASSIFIERS = """
import json, sys, time, warnings
import numpy as np
warnings.simplefilter("ignore")
from diffprivlib.models import GaussianNB, LogisticRegression
data = np.load(sys.argv[1])
X, y, Xt, yt = (data[k] for k in ("X", "y", "Xt", "yt"))
norm = float(np.sqrt(data["features"]))
found = {}
for name, make in {
    "LogisticRegression": lambda: LogisticRegression(epsilon=1, data_norm=norm, max_iter=500),
    "GaussianNB": lambda: GaussianNB(epsilon=1, bounds=(X.min(axis=0) * 0, X.max(axis=0) * 0 + 1)),
}.items():
    right, spent = [], 0.0
    for _ in range(10):
        start = time.process_time()
        model = make().fit(X, y)
        spent += time.process_time() - start
        right.append(float((model.predict(Xt) == yt).mean()))
    found[name] = [float(np.mean(right)), float(np.std(right)), spent / 10]
print(json.dumps(found))
"""
"""diffprivlib's classifiers at a pure epsilon of 1."""

OPACUS = """
import json, sys, time, warnings
warnings.simplefilter("ignore")
import numpy as np, torch
from opacus import PrivacyEngine
torch.set_num_threads(1)
data, rate, steps, noise = np.load(sys.argv[1]), *map(float, sys.argv[2:5])
X, Xt = (torch.tensor(data[k], dtype=torch.float32) for k in ("X", "Xt"))
y, yt = torch.tensor(data["y"], dtype=torch.float32), data["yt"]
right, spent = [], 0.0
for _ in range(3):
    model = torch.nn.Linear(X.shape[1], 1)
    torch.nn.init.zeros_(model.weight), torch.nn.init.zeros_(model.bias)
    optimizer, loss = torch.optim.SGD(model.parameters(), lr=4.0), torch.nn.BCEWithLogitsLoss()
    rows = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(X, y), batch_size=round(rate * len(X)))
    engine = PrivacyEngine()
    model, optimizer, rows = engine.make_private(
        module=model, optimizer=optimizer, data_loader=rows, noise_multiplier=noise, max_grad_norm=1.0
    )
    start, done = time.process_time(), 0
    while done < steps:
        for some, labels in rows:
            if done == steps:
                break
            done += 1
            optimizer.zero_grad()
            loss(model(some).squeeze(-1), labels).backward()
            optimizer.step()
    spent += time.process_time() - start
    with torch.no_grad():
        right.append(float(((model(Xt).squeeze(-1) > 0).numpy() == yt).mean()))
print(json.dumps({"right": right, "spent": spent / 3, "epsilon": engine.get_epsilon(1e-5)}))
"""
"""Opacus's DP-SGD of a linear model."""

SUMS = """
import json, sys, time, warnings
import numpy as np
warnings.simplefilter("ignore")
from diffprivlib.models import KMeans, LinearRegression, PCA
data = np.load(sys.argv[1])
found = {}
def tried(name, make, judge, times):
    got, spent = [], 0.0
    for _ in range(times):
        start = time.process_time()
        model = make()
        spent += time.process_time() - start
        got.append(judge(model))
    found[name] = [got, spent / times]
X, y, Xt, yt = (data[k] for k in ("eight", "hours", "eight_test", "hours_test"))
ends = np.zeros(X.shape[1]), np.ones(X.shape[1])
tried("regression", lambda: LinearRegression(epsilon=1, bounds_X=ends, bounds_y=(1, 99)).fit(X, y),
      lambda m: float(1 - ((m.predict(Xt).ravel() - yt) ** 2).sum() / ((yt - yt.mean()) ** 2).sum()), 10)
X6 = data["six"]
near = lambda m: float(((X6[:, None] - m.cluster_centers_) ** 2).sum(axis=2).min(axis=1).mean())
tried("clusters", lambda: KMeans(8, epsilon=1, bounds=(np.zeros(6), np.ones(6))).fit(X6), near, 10)
X10, spread = data["ten"], data["spread"]
held = lambda m: float(np.trace(m.components_[:3] @ spread @ m.components_[:3].T))
pca = lambda: PCA(3, epsilon=1, bounds=(-np.ones(10), np.ones(10)), data_norm=10**0.5).fit(X10)
tried("components", pca, held, 1)  # two minutes each
print(json.dumps(found))
"""
"""diffprivlib's models made of sums, at a pure epsilon of 1."""


def there(peer: str, code: str, arrays: dict[str, Any], *more: object) -> dict[str, Any] | str:
    """What a peer's code prints about arrays, in its own environment with one thread; or what went wrong."""
    folder = ROOT / ".bench" / "data"
    folder.mkdir(parents=True, exist_ok=True)
    np.savez(folder / "adult.npz", **arrays)
    try:
        python = interpreter(peer)
    except PeerMissing as error:
        return f"not installed: {error}"
    done = subprocess.run(
        [python, "-c", code, folder / "adult.npz", *map(str, more)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **ONE_THREAD},
    )
    if done.returncode:
        return (done.stderr.strip().splitlines() or ["failed"])[-1]
    found: dict[str, Any] = json.loads(done.stdout)
    return found
