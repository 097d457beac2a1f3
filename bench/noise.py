"""Exact noise against NumPy's inexact floats and OpenDP's exact integers, per sample."""

from __future__ import annotations

from bench.cases import Case, Code

TITLE = "Noise"

MANY = 1_000_000
FEW = 5_000  # OpenDP's cost per sample is flat, and a million would take a quarter of a minute
OURS = "from fractions import Fraction\nimport numpy as np\nfrom curador import noise\n"
REALS = OURS + "one = Fraction(1)\ne = noise.grid_exponent(one)\n"
NUMPY = "import numpy as np\n"
OPENDP = "import opendp.prelude as dp\ndp.enable_features('contrib')\n"


def numpy_side(call: str) -> Code:
    return Code(f"np.random.{call}", NUMPY, per=MANY)


def opendp_side(law: str, kind: str, scale: str, n: int = FEW) -> Code:
    """OpenDP's vector sampler; ``law`` is laplace or gaussian, ``kind`` i64 or f64."""
    metric = {"laplace": "l1_distance", "gaussian": "l2_distance"}[law]
    atom = "dp.atom_domain(T='i64')" if kind == "i64" else "dp.atom_domain(T='f64', nan=False)"
    make = f"mechanism = dp.m.make_{law}(dp.vector_domain({atom}), dp.{metric}(T='{kind}'), scale={scale})\n"
    zeros = f"zeros = [{'0' if kind == 'i64' else '0.0'}] * {n}\n"
    return Code("mechanism(zeros)", OPENDP + make + zeros, per=n)


def integers(name: str, law: str, made: str, scale: str, call: str, faster: float) -> Case:
    return Case(
        f"integer {name}, a million",
        Code(f"law.sample({MANY})", f"{OURS}law = noise.{made}\n", per=MANY),
        {"numpy": numpy_side(call), "opendp": opendp_side(law, "i64", scale)},
        faster={"numpy": faster, "opendp": 300},
    )


def reals(name: str, law: str, call: str, faster: float) -> Case:
    return Case(
        f"real {name}, a million",
        Code(f"noise.real_{law}(zeros, one, e)", f"{REALS}zeros = np.zeros({MANY})\n", per=MANY),
        {"numpy": numpy_side(call), "opendp": opendp_side(law, "f64", "1.0")},
        faster={"numpy": faster},
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


CASES = [
    integers("Laplace, scale 1", "laplace", "DiscreteLaplace(Fraction(1))", "1.0", f"laplace(0, 1, {MANY})", 3),
    integers(
        "Laplace, scale 10⁴", "laplace", "DiscreteLaplace(Fraction(10**4))", "1e4", f"laplace(0, 1e4, {MANY})", 1.5
    ),
    integers("Gaussian, σ 1", "gaussian", "DiscreteGaussian(Fraction(1))", "1.0", f"normal(0, 1, {MANY})", 3),
    integers("Gaussian, σ 10⁴", "gaussian", "DiscreteGaussian(Fraction(10**8))", "1e4", f"normal(0, 1e4, {MANY})", 0.7),
    reals("Laplace, scale 1", "laplace", f"laplace(0, 1, {MANY})", 0.7),
    reals("Gaussian, σ 1", "gaussian", f"normal(0, 1, {MANY})", 0.5),
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
