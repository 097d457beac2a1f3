"""A group and its members, through the server: each sees what they received themselves, and a group has no token."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from tests.server.console.browsing import visitor
from tests.server.served import Served, serving, write_study

SQL = "SELECT COUNT(*) AS n FROM people WHERE age > {}"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(write_study(tmp_path_factory.mktemp("study"))) as found:
        yield found


def granted(client: httpx.Client, scope: str, group: str | None = None) -> httpx.Response:
    return client.post("/v1/grants", json={"scope": scope, "epsilon": "2", "group": group, "because": "a trial"})


def test_what_members_ask_is_not_shown_to_who_asks_as_the_group(served: Served) -> None:
    with served.client("curator") as client:
        assert granted(client, "lab").status_code == 200
        # Given before it has members, as its name alone does not say what it is for: refused from then on.
        served.tokens["lab"] = served.give("analyst", "lab")
        for name in ("eva", "gil"):
            assert granted(client, name, "lab").status_code == 200
            made = client.post("/v1/tokens", json={"role": "analyst", "analyst": name})
            served.tokens[name] = made.json()["token"]
        refused = client.post("/v1/tokens", json={"role": "analyst", "analyst": "lab"})
        assert (refused.status_code, refused.json()["type"]) == (422, "urn:curador:name-of-another-kind")
        for name in ("ana", "eva"):
            refused = granted(client, "tom", name)
            assert (refused.status_code, refused.json()["type"]) == (422, "urn:curador:name-of-another-kind")
    charges = {}
    for above, who in enumerate(("eva", "gil", "lab", "ana")):
        with served.client(who) as client:
            asked = {"sql": SQL.format(above), "epsilon": "0.1", "because": f"a secret of {who}"}
            charges[who] = client.post("/v1/ask", json=asked).json()["charge"]
    for who, own in charges.items():
        with served.client(who) as client:
            for path in ("/v1/history", "/v1/releases"):
                shown = client.get(path).text
                assert [name for name in charges if f"a secret of {name}" in shown] == [who]
            found = {name: client.get(f"/v1/releases/{id}").status_code for name, id in charges.items()}
            assert found == {name: 200 if name == who else 404 for name in charges}
        with visitor(served, who) as client:
            for path in ("/console/releases", "/console/overview", "/console/models"):
                shown = client.get(path).text
                assert [id for id in charges.values() if f'releases/{id}"' in shown] in ([], [own])
            found = {name: client.get(f"/console/releases/{id}").status_code for name, id in charges.items()}
            assert found == {name: 200 if name == who else 404 for name in charges}


def test_the_page_of_analysts_offers_each_name_for_what_it_is(served: Served) -> None:
    with served.client("curator") as client:
        assert [granted(client, *who).status_code for who in (("team",), ("kit", "team"))] == [200, 200]
    with visitor(served, "curator") as client:
        page = client.get("/console/analysts").text
    groups, people = (page.split(f'name="{field}"')[1].split("</select>")[0] for field in ("group", "analyst"))
    assert ('value="team"' in groups, 'value="team"' in people) == (True, False)
    assert ('value="ana"' in groups, 'value="ana"' in people) == (False, True)
