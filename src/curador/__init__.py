"""Curador: a trusted curator that answers through differential privacy.

Every public name is declared once, in ``__init__.pyi``, and loaded when first used, so that importing the package
stays light.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
__version__ = "0.1.0"
