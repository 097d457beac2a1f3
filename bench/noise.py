"""Exact noise, as mechanisms release it, against NumPy's inexact floats and OpenDP's exact integers, per sample.

NumPy's side is its modern generator (``np.random.Generator(np.random.PCG64())``), which draws faster than the old
``np.random.laplace`` and ``np.random.normal``.
"""

from __future__ import annotations

from bench.cases import Case, Code

TITLE = "Noise"

MANY = 1_000_000
FEW = 5_000  # OpenDP's cost per sample is flat, and a million would take a quarter of a minute
OURS = "import numpy as np\nimport curador as cu\nfrom fractions import Fraction\nfrom curador import noise\n"
REALS = OURS + "one = Fraction(1)\ne = noise.grid_exponent(one)\n"
NUMPY = "import numpy as np\npcg64 = np.random.Generator(np.random.PCG64())\n"
OPENDP = "import opendp.prelude as dp\ndp.enable_features('contrib')\n"


def numpy_side(call: str) -> Code:
    return Code(f"pcg64.{call}", NUMPY, per=MANY)


def opendp_side(law: str, kind: str, scale: str, n: int = FEW) -> Code:
    """OpenDP's vector sampler; ``law`` is laplace or gaussian, ``kind`` i64 or f64."""
    metric = {"laplace": "l1_distance", "gaussian": "l2_distance"}[law]
    atom = "dp.atom_domain(T='i64')" if kind == "i64" else "dp.atom_domain(T='f64', nan=False)"
    make = f"mechanism = dp.m.make_{law}(dp.vector_domain({atom}), dp.{metric}(T='{kind}'), scale={scale})\n"
    zeros = f"zeros = [{'0' if kind == 'i64' else '0.0'}] * {n}\n"
    return Code("mechanism(zeros)", OPENDP + make + zeros, per=n)


def released(name: str, law: str, made: str, kind: str, scale: str, faster: dict[str, float]) -> Case:
    """A million zeros through a mechanism's ``release``."""
    call = {"laplace": "laplace", "gaussian": "normal"}[law]
    zeros = f"zeros = np.zeros({MANY}, np.int64)\n" if kind == "i64" else f"zeros = np.zeros({MANY})\n"
    return Case(
        f"{name}, a million (NumPy by PCG64)",
        Code("mechanism.release(zeros)", f"{OURS}mechanism = cu.{made}\n{zeros}", per=MANY),
        {"numpy": numpy_side(f"{call}(0, {scale}, {MANY})"), "opendp": opendp_side(law, kind, scale)},
        faster=faster,
    )


def single(name: str, law: str, made: str, scale: str) -> Case:
    return Case(
        f"integer {name}, one draw",
        Code("law.draw()", f"{OURS}law = noise.{made}\n"),
        {"opendp": opendp_side(law, "i64", scale, n=1)},
        most=10e-6,
    )


def single_real(name: str, law: str) -> Case:
    return Case(
        f"real {name}, one draw",
        Code(f"noise.real_{law}_one(value, one, e)", f"{REALS}value = Fraction(120)\n"),
        {"opendp": opendp_side(law, "f64", "1.0", n=1)},
        most=10e-6,
    )


def importing(module: str) -> Code:
    code = f"subprocess.run([sys.executable, '-c', 'import {module}'], check=True)"
    return Code(code, "import subprocess, sys\n", clock="children")


ALL = f"coordinates={MANY}"
CASES = [
    released(
        "integer Laplace, scale 1",
        "laplace",
        "IntegerLaplace(1, scale=1)",
        "i64",
        "1.0",
        {"numpy": 3, "opendp": 100},
    ),
    released(
        "integer Laplace, scale 10⁴",
        "laplace",
        "IntegerLaplace(1, scale=10**4)",
        "i64",
        "1e4",
        {"numpy": 1.2, "opendp": 20},
    ),
    released(
        "integer Gaussian, σ 1",
        "gaussian",
        f"IntegerGaussian(1, sigma=1, {ALL})",
        "i64",
        "1.0",
        {"numpy": 2, "opendp": 100},
    ),
    released(
        "integer Gaussian, σ 10⁴",
        "gaussian",
        f"IntegerGaussian(1, sigma=10**4, {ALL})",
        "i64",
        "1e4",
        {"numpy": 0.8, "opendp": 20},
    ),
    released("real Laplace, scale 1", "laplace", f"Laplace(1, scale=1, {ALL})", "f64", "1.0", {"numpy": 1}),
    released("real Gaussian, σ 1", "gaussian", f"Gaussian(1, sigma=1, {ALL})", "f64", "1.0", {"numpy": 0.7}),
    single("Laplace, scale 1", "laplace", "DiscreteLaplace(Fraction(1))", "1.0"),
    single("Laplace, scale 10⁴", "laplace", "DiscreteLaplace(Fraction(10**4))", "1e4"),
    single("Gaussian, σ 1", "gaussian", "DiscreteGaussian(Fraction(1))", "1.0"),
    single("Gaussian, σ 10⁴", "gaussian", "DiscreteGaussian(Fraction(10**8))", "1e4"),
    single_real("Laplace, scale 1", "laplace"),
    single_real("Gaussian, σ 1", "gaussian"),
    Case(
        "import",
        importing("curador"),
        {"numpy": importing("numpy"), "opendp": importing("opendp.prelude"), "diffprivlib": importing("diffprivlib")},
        most=0.5,
    ),
]
