"""What a study says of its server: the tick at which answers leave, and how much a caller may ask for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from ipaddress import ip_network
from pathlib import Path
from typing import Any

from curador.errors import InvalidParameter
from curador.server.gate.rates import Network

_UNITS = {"ms": 0.001, "s": 1.0, "min": 60.0}


def seconds(text: object, name: str) -> float:
    """A time as it is written in a study file.

    >>> seconds("250ms", "tick"), seconds("2s", "tick")
    (0.25, 2.0)
    """
    found = re.fullmatch(r"(\d{1,6}(?:\.\d{1,3})?) ?(ms|s|min)", text) if isinstance(text, str) else None
    if found is None:
        raise InvalidParameter(f"[server] {name} is {text!r}.", fix=f'Write {name} = "1s", or "250ms", or "2min".')
    return float(found[1]) * _UNITS[found[2]]


@dataclass(frozen=True)
class Settings:
    """The section ``[server]`` of a study file; every limit has a default.

    * ``tick``: an analyst's answer or failure leaves at the next multiple of it; 0 turns the clock off;
    * ``body``: bytes of a request; ``reading``: seconds in which it must have come;
    * ``upload``: bytes of a file of rows that a curator sends; ``reading`` is then for each part of it;
    * ``per_token``: requests of one token a minute, on one machine; ``per_address``: those of one address that show no
      valid token; ``at_once``: requests of one token that run at a time in a process;
    * ``trusted_proxies``: the addresses or networks of proxies, whose word for the sender's address counts;
    * ``connections``: connections of one address at a time in a process; not counted behind a proxy, which has all;
    * ``sign_ins``: passwords and codes that may be tried from one address in a minute;
    * ``threads``: questions that run at a time in a process, and as many other requests beside them;
    * ``planning``: seconds of a processor that planning a question may take, which is free;
    * ``groups``: groups of one answer at most;
    * ``jobs``: jobs that are not done yet, of all callers together; one caller has at most ``at_once`` of them;
    * ``collect``: the folders of collectors by the name under which devices send to them;
    * ``origins``: web pages that may send local reports;
    * ``behind_tls``: whether a proxy in front has the certificate, so that cookies are bound to encryption;
    * ``statistics``: whether counts of requests can be read by curators and auditors.
    """

    tick: float = 1.0
    body: int = 256 * 1024
    reading: float = 10.0
    upload: int = 1 << 30
    per_token: int = 600
    per_address: int = 1200
    at_once: int = 4
    connections: int = 200
    sign_ins: int = 20
    threads: int = 8
    planning: float = 5.0
    groups: int = 100_000
    jobs: int = 20
    collect: Mapping[str, Path] = field(default_factory=dict)
    origins: tuple[str, ...] = ()
    trusted_proxies: tuple[Network, ...] = ()
    behind_tls: bool = False
    statistics: bool = True

    def divided(self, workers: int) -> Settings:
        """For one of several processes on a machine: each counts its own part of the rates, rounded down.

        >>> divided = Settings(per_token=600, sign_ins=20).divided(4)
        >>> divided.per_token, divided.sign_ins
        (150, 5)
        """
        rates = {name: max(1, getattr(self, name) // workers) for name in ("per_token", "per_address", "sign_ins")}
        return replace(self, **rates)

    @classmethod
    def read(cls, section: Mapping[str, Any], folder: Path | None = None) -> Settings:
        """The settings of a study in a folder; what is not known is refused.

        >>> Settings.read({"tick": "250ms", "at_once": 2}).tick
        0.25
        """
        known = {one.name for one in fields(cls)}
        found: dict[str, Any] = {}
        for name, value in section.items():
            if name not in known:
                raise InvalidParameter(
                    f"[server] has no setting {name!r}.",
                    fix=f"There is {', '.join(sorted(known))}.",
                    code="setting-unknown",
                )
            if name == "collect":
                found[name] = _folders(value, folder)
            elif name == "trusted_proxies":
                found[name] = _networks(value)
            else:
                found[name] = _read(name, value, getattr(cls, name))
        return cls(**found)


def _folders(value: object, folder: Path | None) -> dict[str, Path]:
    if not isinstance(value, Mapping) or not all(isinstance(x, str) for x in value.values()):
        raise InvalidParameter("[server] collect names folders.", fix='Write collect = { drinks = "drinks" }.')
    return {str(name): (folder or Path()) / path for name, path in value.items()}


def _networks(value: object) -> tuple[Network, ...]:
    try:
        if isinstance(value, list) and all(isinstance(x, str) for x in value):
            return tuple(ip_network(x) for x in value)
    except ValueError:
        pass
    raise InvalidParameter(
        "[server] trusted_proxies lists addresses or networks.",
        fix='Write trusted_proxies = ["127.0.0.1"], or ["10.0.0.0/8"].',
    )


def _read(name: str, value: object, default: object) -> object:
    if isinstance(default, float):
        return seconds(value, name)
    if isinstance(default, tuple):
        if not isinstance(value, list) or not all(isinstance(x, str) for x in value):
            raise InvalidParameter(f"[server] {name} is a list of texts.", fix=f'Write {name} = ["https://…"].')
        return tuple(value)
    if isinstance(default, bool):
        if not isinstance(value, bool):
            raise InvalidParameter(f"[server] {name} is {value!r}.", fix="Write true or false.")
        return value
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise InvalidParameter(f"[server] {name} is {value!r}.", fix="Write a whole number from 1 on.")
    return value
