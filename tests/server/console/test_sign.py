"""Signing in and out: codes, passwords, tokens, sessions; and what strangers, other sites and thieves try."""

from __future__ import annotations

import html
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser

from curador import Access
from curador.errors import CuradorError, NotAllowed
from curador.server.access.auth import FIRST_START, digest, exchange, give, has_curator
from curador.server.access.passwords import change_password, set_password
from curador.server.access.people import first_code, issue
from curador.server.access.sessions import LASTS, form_token
from curador.server.gate.cookies import SESSION, VISIT
from tests.server.console.browsing import screen, screens, session_of, visitor
from tests.server.served import Served, serving, write_study

PASSWORD = "four words are long"
HOME = "/console/overview"


def start(client: httpx.Client, code: str, login: str, password: str = PASSWORD) -> httpx.Response:
    form = {"code": code, "login": login, "password": password, "again": password}
    return client.post("/console/start", data=form)


def signed_up(served: Served, login: str, role: str = "curator", who: str = "") -> None:
    """Give a login the usual password."""
    with visitor(served) as stranger:
        assert start(stranger, served.give(role, who, once=True), login).status_code == 303


@screens(en="dark", es="light")
def test_the_first_link_makes_a_curator(
    browser: Browser, served: Served, language: str, theme: str, width: int
) -> None:
    """As a person does it, without a mouse: the link, a name, a password; out, and in again."""
    login, code = f"root-{language}-{width}", served.give("curator", once=True)
    button = {"en": "Use the link and sign in", "es": "Usar el enlace e iniciar sesión"}[language]
    enter, leave = {"en": ("Sign in", "Sign out"), "es": ("Iniciar sesión", "Cerrar sesión")}[language]
    with screen(browser, served, language=language, theme=theme, width=width) as seen:
        page = seen.open(f"/console/start#{code}")
        assert page.url == f"{served.url}/console/start"  # the code stays in no history
        assert page.input_value("#code") == code
        seen.look(f"start-{language}-{theme}-{width}")
        page.focus("#login")
        for text in (login, PASSWORD, PASSWORD):
            page.keyboard.type(text)
            page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.textContent") == button
        page.keyboard.press("Enter")
        page.wait_for_url(f"**{HOME}")
        page.get_by_role("button", name=leave).press("Enter")
        page.wait_for_url("**/console/sign-in")
        page.go_back()
        page.reload()  # what was shown is not shown from a cache either
        page.wait_for_url("**/console/sign-in**")
        page.fill("#login", login)
        page.fill("#password", "something else")
        page.get_by_role("button", name=enter, exact=True).press("Enter")
        page.wait_for_selector("#password[aria-invalid=true]")
        assert page.locator("#password-wrong").is_visible()
        seen.look(f"sign-in-wrong-{language}-{theme}-{width}")
        page.fill("#password", PASSWORD)
        page.get_by_role("button", name=enter, exact=True).press("Enter")
        page.wait_for_url(f"**{HOME}")
        assert login in page.inner_text("header")


def test_only_the_link_of_the_last_start_makes_the_curator_and_none_after(tmp_path: Path) -> None:
    """A start that failed, or was forgotten, leaves a link in a terminal's history."""
    with serving(write_study(tmp_path), tokens=False) as found:
        ledger = found.curator.ledger
        for one in ledger.accesses():
            ledger.end_access(one.token)
        assert not has_curator(ledger)
        older, newer = first_code(ledger), first_code(ledger)
        another = found.give("curator", label=FIRST_START, once=True)  # as of a start at the same time
        assert older
        assert newer
        with visitor(found) as stranger:
            assert start(stranger, older, "intruder").status_code == 403
            assert start(stranger, newer, "marta").status_code == 303
        with visitor(found) as stranger:
            assert start(stranger, another, "intruder").status_code == 403
            assert stranger.post("/v1/session", json={"code": another}).status_code == 401
        assert has_curator(ledger)
        assert first_code(ledger) is None
        invited = found.give("curator", label="for the deputy", once=True)
        with visitor(found) as stranger:
            assert start(stranger, invited, "deputy").status_code == 303


def test_a_curator_made_by_a_program_ends_the_links_of_starts(tmp_path: Path) -> None:
    with serving(write_study(tmp_path), tokens=False) as found:
        ledger = found.curator.ledger
        for exchanged in (True, False):
            for one in ledger.accesses():
                if not one.ended:
                    ledger.end_access(one.token)
            code = first_code(ledger)
            other = found.give("curator", label=FIRST_START, once=True)
            assert code
            assert exchange(ledger, code) if exchanged else issue(found.curator, "curator", None, "", None)
            with pytest.raises(NotAllowed):
                exchange(ledger, other)


def test_language_and_theme_are_chosen_and_kept(browser: Browser, served: Served) -> None:
    with screen(browser, served, "curator") as seen:
        page = seen.open(HOME)
        page.get_by_role("button", name="Español").click()
        page.wait_for_selector("html[lang=es]")
        light = page.evaluate("getComputedStyle(document.body).backgroundColor")
        page.get_by_role("button", name="Oscuro").click()
        page.wait_for_selector("html[data-theme=dark]")
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") != light
        assert seen.open(HOME).get_attribute("html", "lang") == "es"
        seen.look("chosen-dark")


def test_another_language_keeps_what_the_address_asks(browser: Browser, served: Served) -> None:
    with screen(browser, served, "curator") as seen:
        page = seen.open("/console/playground/accuracy?epsilon=0.25&people=77")
        page.get_by_role("button", name="Español").click()
        page.wait_for_selector("html[lang=es]")
        assert (page.input_value("#epsilon"), page.input_value("#people")) == ("0.25", "77")


@pytest.mark.parametrize(
    "back", ["//evil", "https://evil/console/", "/console/a?x=\r\nSet-Cookie: a=b", "/console/a?<b>"]
)
def test_no_choice_of_language_leads_elsewhere(served: Served, back: str) -> None:
    with visitor(served, "ana") as ana:
        answer = ana.post("/console/preferences", data={"language": "es", "back": back})
    assert answer.headers["location"] == HOME


def test_another_language_keeps_the_code_of_a_link(browser: Browser, served: Served) -> None:
    code = served.give("analyst", "ana", once=True)
    with screen(browser, served) as seen:
        page = seen.open(f"/console/start#{code}")
        page.fill("#login", "Julián")
        page.click("button[value=es]")
        page.wait_for_selector("html[lang=es]")
        assert (page.input_value("#code"), page.input_value("#login")) == (code, "Julián")
        assert page.evaluate("sessionStorage.getItem('start')") is None
        for box in ("#password", "#again"):
            page.fill(box, PASSWORD)
        page.click("main button")
        page.wait_for_url(f"**{HOME}")
        assert page.inner_text("header .name") == "Julián"  # what one signs in with
        assert page.inner_text("header .role").lower() == "analista ana"


def test_who_comes_without_a_session_finds_the_question_of_the_address_after_signing_in(served: Served) -> None:
    asked = "/console/ask?sql=SELECT+COUNT(*)+AS+n+FROM+people+WHERE+sex+=+'F'"
    with visitor(served) as stranger:
        place = stranger.get(asked).headers["location"]
        page = stranger.get(place).text
        back = html.unescape(re.findall(r'name="next" value="([^"]*)"', page)[0])
        entered = stranger.post("/console/sign-in", data={"token": served.tokens["ana"], "next": back})
        assert stranger.get("/console/").headers["location"] == HOME
    with visitor(served, "ana") as ana:
        found = html.unescape(ana.get(entered.headers["location"]).text)
    assert "SELECT COUNT(*) AS n FROM people WHERE sex = 'F'</textarea>" in found


def test_looking_at_a_link_spends_nothing_and_using_it_does(served: Served) -> None:
    code = served.give("analyst", "ana", once=True)
    with visitor(served) as stranger:
        for _ in range(3):
            assert stranger.get("/console/start").status_code == 200
        assert start(stranger, code, "Ana").status_code == 303
        assert start(stranger, code, "other").status_code == 403
    with visitor(served) as stranger:
        form = {"login": "ANA", "password": PASSWORD}
        assert stranger.post("/console/sign-in", data=form).headers["location"] == HOME
        assert "epsilon 9.3" in stranger.get(HOME, headers={"X-Form-Token": ""}).text


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"password": "short", "again": "short"}, "password-wrong"),
        ({"password": "x" * 201, "again": "x" * 201}, "password-wrong"),
        ({"again": "four words are short"}, "again-wrong"),
        ({"login": ""}, "login-wrong"),
        ({"login": "a\x00b"}, "login-wrong"),
        ({"code": "cur_nothing"}, "code-wrong"),
        ({"code": ""}, "code-wrong"),
    ],
)
def test_what_is_wrong_stands_next_to_its_field_and_spends_nothing(
    served: Served, changes: dict[str, str], place: str
) -> None:
    code = served.give("reader", once=True)
    form = {"code": code, "login": "rea", "password": PASSWORD, "again": PASSWORD, **changes}
    with visitor(served) as stranger:
        answer = stranger.post("/console/start", data=form)
    assert answer.status_code in (403, 422)
    assert f'id="{place}"' in answer.text
    assert form["password"] not in answer.text
    found = served.curator.ledger.access(digest(code))
    assert found is not None
    assert not found.ended


def test_a_login_that_is_taken_is_not_taken_over(served: Served) -> None:
    signed_up(served, "Holder")
    code = served.give("curator", once=True)
    with visitor(served) as stranger:
        answer = start(stranger, code, "HOLDER", "another password")
    assert (answer.status_code, 'id="login-wrong"' in answer.text) == (422, True)


@pytest.mark.parametrize("name", ["ana", "Ana", "ANA "])
@pytest.mark.parametrize(("role", "who"), [("curator", ""), ("analyst", "bea")])
def test_nobody_takes_the_name_of_an_analyst_but_that_analyst(tmp_path: Path, name: str, role: str, who: str) -> None:
    """Pages show names: a curator called ana would be taken for the analyst ana, and their spending for one's own."""
    with serving(write_study(tmp_path)) as served, visitor(served) as stranger:
        code = served.give(role, who, once=True)
        answer = start(stranger, code, name)
        assert (answer.status_code, 'id="login-wrong"' in answer.text) == (422, True)
        assert "An analyst of this study has this name" in answer.text
        assert start(stranger, code, "another").status_code == 303  # the refusal has not spent the link


def test_a_name_is_shown_as_it_was_typed_and_matched_without_case(served: Served) -> None:
    signed_up(served, "Núria")
    with visitor(served) as stranger:
        form = {"login": "NÚRIA", "password": PASSWORD}
        assert stranger.post("/console/sign-in", data=form).headers["location"] == HOME
        assert ">Núria</a>" in stranger.get(HOME, headers={"X-Form-Token": ""}).text


def test_all_that_is_wrong_with_a_password_is_said_at_once(served: Served) -> None:
    form = {"code": served.give("reader", once=True), "login": "rex", "password": "short", "again": "shorter"}
    with visitor(served) as stranger:
        said = stranger.post("/console/start", data=form).text
    assert 'id="password-wrong"' in said
    assert 'id="again-wrong"' in said


def test_unknown_names_and_wrong_passwords_are_refused_in_the_same_words(served: Served) -> None:
    signed_up(served, "known")
    seen = set()
    with visitor(served) as stranger:
        for login, password in (("known", "wrong"), ("unknown", PASSWORD), ("", ""), ("x" * 500, "y" * 500)):
            answer = stranger.post("/console/sign-in", data={"login": login, "password": password})
            (said,) = re.findall(r'id="password-wrong".*?</div>', answer.text, re.DOTALL)
            seen.add((answer.status_code, said))
    assert len(seen) == 1


def test_tokens_sign_in_and_links_codes_and_cookies_do_not(served: Served) -> None:
    ledger = served.curator.ledger
    cookie = session_of(served, "curator")
    with visitor(served) as stranger:
        for token in (
            served.give("curator", once=True),
            served.give("reader", charge="1"),
            cookie,
            "cur_x",
            "x" * 3000,
        ):
            assert stranger.post("/console/sign-in", data={"token": token}).status_code == 403
        assert stranger.post("/console/sign-in", data={"token": served.tokens["ana"]}).status_code == 303
        assert "epsilon 9.3" in stranger.get(HOME).text
    assert {one.kind for one in ledger.accesses()} <= {"token", "code", "link", "password"}


# ---- one's own password ----------------------------------------------------------------------------------------------

OWN = "/console/password"


@pytest.mark.parametrize(("language", "theme", "width"), [("en", "light", 1280), ("es", "dark", 390)])
def test_a_password_is_changed_and_other_sessions_end(
    browser: Browser, served: Served, language: str, theme: str, width: int
) -> None:
    login, other = f"changing-{language}", "five words are longer"
    signed_up(served, login, "analyst", "ana")
    with visitor(served) as elsewhere:
        elsewhere.post("/console/sign-in", data={"login": login, "password": PASSWORD})
        assert elsewhere.get(HOME).status_code == 200
        with screen(browser, served, language=language, theme=theme, width=width) as seen:
            page = seen.open("/console/sign-in")
            page.fill("#login", login)
            page.fill("#password", PASSWORD)
            page.locator("main button").first.press("Enter")
            page.wait_for_url(f"**{HOME}")
            page.locator("header a.name").press("Enter")
            page.wait_for_url(f"**{OWN}")
            page.focus("#old")
            for text in ("not the one I have", other, other):
                page.keyboard.type(text)
                page.keyboard.press("Tab")
            page.keyboard.press("Enter")
            page.wait_for_selector("#old[aria-invalid=true]")
            seen.look(f"password-{language}-{theme}-{width}")
            for field, text in (("#old", PASSWORD), ("#password", other), ("#again", other)):
                page.fill(field, text)
            page.locator("main button").press("Enter")
            page.wait_for_selector("p.good[role=status]")
            assert page.goto(served.url + HOME)
            assert page.url.endswith(HOME)  # this browser stays signed in
        assert elsewhere.get(HOME).status_code == 303
    with visitor(served) as stranger:
        assert stranger.post("/console/sign-in", data={"login": login, "password": PASSWORD}).status_code == 403
        assert stranger.post("/console/sign-in", data={"login": login, "password": other}).status_code == 303


def test_only_who_knows_a_password_changes_it_and_only_once(served: Served) -> None:
    signed_up(served, "Careful")
    ledger = served.curator.ledger
    (entry,) = [one for one in ledger.accesses() if one.login == "Careful"]
    with visitor(served) as one:
        one.post("/console/sign-in", data={"login": "careful", "password": PASSWORD})
        one.headers["X-Form-Token"] = form_token(one.cookies[served.cookie(SESSION)])
        good = {"old": PASSWORD, "password": "five words are longer", "again": "five words are longer"}
        for changes, place in (
            ({"old": "wrong"}, "old"), ({"old": ""}, "old"), ({"again": "five words are shorter"}, "again"),
            ({"password": "short", "again": "short"}, "password"),
        ):  # fmt: skip
            answer = one.post(OWN, data={**good, **changes})
            assert f'id="{place}-wrong"' in answer.text
            assert PASSWORD not in answer.text
            assert ledger.access(entry.token) == entry
        change_password(ledger, entry.token, PASSWORD, good["password"])
        assert one.post(OWN, data=good).status_code == 403  # its session has ended meanwhile
        with pytest.raises(NotAllowed):
            change_password(ledger, entry.token, PASSWORD, good["password"])
    (now,) = [one for one in ledger.accesses() if one.login == "Careful" and not one.ended]
    assert (now.role, now.who, now.once, now.expires) == (entry.role, entry.who, entry.once, entry.expires)


def test_who_signed_in_with_a_token_has_no_password_to_change(served: Served) -> None:
    with visitor(served, "curator") as client:
        assert 'name="old"' not in client.get(OWN).text
        answer = client.post(OWN, data={"old": "", "password": PASSWORD, "again": PASSWORD})
    assert answer.status_code == 403


# ---- sessions --------------------------------------------------------------------------------------------------------


def test_a_cookie_opens_pages_alone_and_a_token_the_api_alone(served: Served) -> None:
    cookie = session_of(served, "curator")
    with httpx.Client(base_url=served.url) as client:
        held, shown = (
            {"Cookie": f"{served.cookie(SESSION)}={cookie}"},
            {"Authorization": f"Bearer {served.tokens['curator']}"},
        )
        assert client.get(HOME, headers=held).status_code == 200
        assert client.get("/v1/budget", headers=held).status_code == 401
        assert client.get("/v1/budget", headers={"Authorization": f"Bearer {cookie}"}).status_code == 401
        assert client.get("/v1/budget", headers=shown).status_code == 200
        assert client.get(HOME, headers=shown).status_code == 303
        token = {"Cookie": f"{served.cookie(SESSION)}={served.tokens['curator']}"}
        assert client.get(HOME, headers=token).status_code == 303


def test_signing_in_gives_a_new_cookie_and_ends_the_old_session(served: Served) -> None:
    """A cookie that somebody planted before is worth nothing after."""
    planted = session_of(served, "reader")
    with visitor(served) as stranger:
        stranger.cookies.set(served.cookie(SESSION), planted)
        stranger.headers["X-Form-Token"] = form_token(planted)
        answer = stranger.post("/console/sign-in", data={"token": served.tokens["curator"]})
    fresh = answer.cookies[served.cookie(SESSION)]
    assert fresh != planted
    assert served.service.visitor(planted) is None
    found = served.service.visitor(fresh)
    assert found is not None
    assert found.role == "curator"
    flags = answer.headers["set-cookie"].lower()
    assert all(flag in flags for flag in ("httponly", "samesite=strict", "path=/"))


def test_a_session_ends_with_signing_out_with_its_token_and_with_time(served: Served) -> None:
    ledger, sessions = served.curator.ledger, served.service.sessions
    with visitor(served, "curator") as client:
        cookie = client.cookies[served.cookie(SESSION)]
        assert client.post("/console/sign-out").status_code == 303
    assert sessions.visitor(ledger, cookie) is None
    token = served.give("auditor")
    parent = ledger.access(digest(token))
    assert parent is not None
    cookie = sessions.begin(ledger, parent)
    assert sessions.visitor(ledger, cookie) is not None
    assert sessions.visitor(ledger, cookie, datetime.now(UTC) + LASTS) is None
    ledger.end_access(digest(token))
    assert sessions.visitor(ledger, cookie) is None
    brief = served.give("auditor", expires=datetime.now(UTC) + timedelta(hours=1))
    parent = ledger.access(digest(brief))
    assert parent is not None
    cookie = sessions.begin(ledger, parent)
    assert sessions.visitor(ledger, cookie, datetime.now(UTC) + timedelta(hours=2)) is None


def test_no_secret_is_listed(served: Served) -> None:
    signed_up(served, "listed")
    with served.client("auditor") as client:
        said = client.get("/v1/tokens").text
    assert "argon2" not in said
    assert '"kind":"password"' in said.replace(" ", "")
    assert "argon2" not in repr(served.curator.ledger.accesses())


# ---- other sites -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "headers",
    [
        {"X-Form-Token": ""},
        {"X-Form-Token": "0" * 64},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://["},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_forms_of_other_sites_are_refused(served: Served, headers: dict[str, str]) -> None:
    with visitor(served, "curator", **headers) as client:
        cookie = client.cookies[served.cookie(SESSION)]
        answer = client.post("/console/sign-out")
        assert answer.status_code == 403
        assert "not valid any more" in answer.text
    assert served.service.visitor(cookie) is not None


def test_a_form_of_one_session_is_not_valid_in_another(served: Served) -> None:
    with visitor(served, "curator") as one, visitor(served, "curator") as other:
        shown = {"X-Form-Token": form_token(one.cookies[served.cookie(SESSION)])}
        assert other.post("/console/sign-out", headers=shown).status_code == 403
    with visitor(served) as stranger:
        del stranger.cookies[served.cookie(VISIT)]
        assert stranger.post("/console/sign-in", data={"token": served.tokens["curator"]}).status_code == 403


@pytest.mark.parametrize("next_", ["https://evil.example", "//evil.example", "/\\evil.example", "/v1/tokens", ""])
def test_signing_in_leads_nowhere_else(served: Served, next_: str) -> None:
    with visitor(served) as stranger:
        form = {"token": served.tokens["ana"], "next": next_}
        assert stranger.post("/console/sign-in", data=form).headers["location"] == HOME


def test_two_studies_on_one_machine_sign_nobody_out(served: Served, tmp_path: Path) -> None:
    """Browsers, and this client, send a cookie to every port of a host."""
    with serving(write_study(tmp_path)) as other, httpx.Client() as client:
        for one in (served, other):
            page = client.get(f"{one.url}/console/sign-in")
            token = form_token(client.cookies[one.cookie(VISIT)])
            assert page.status_code == 200
            form = {"token": one.tokens["curator"]}
            answer = client.post(f"{one.url}/console/sign-in", data=form, headers={"X-Form-Token": token})
            assert answer.headers["location"] == HOME
        for one in (served, other, served):
            assert client.get(one.url + HOME).status_code == 200


def test_whoever_comes_before_there_is_a_curator_is_told_where_the_link_is(tmp_path: Path) -> None:
    with serving(write_study(tmp_path), tokens=False) as found:
        with visitor(found) as stranger:
            assert "terminal" not in stranger.get("/console/sign-in").text
        for one in found.curator.ledger.accesses():
            found.curator.ledger.end_access(one.token)
        with visitor(found) as stranger:
            assert "link that the terminal shows" in stranger.get("/console/sign-in").text
            assert "terminal" in stranger.post("/console/sign-in", data={"login": "x", "password": "y"}).text


def test_tries_are_limited_and_said_so_on_a_page(tmp_path: Path) -> None:
    with (
        serving(write_study(tmp_path), sign_ins=3) as served,
        visitor(served, None, **{"Accept-Language": "es"}) as stranger,
    ):
        seen = [stranger.post("/console/sign-in", data={"token": "cur_x"}) for _ in range(4)]
    assert [answer.status_code for answer in seen] == [403, 403, 403, 429]
    assert "Espere un minuto" in seen[-1].text
    assert seen[-1].headers["retry-after"] == "60"


def test_what_decorates_pages_is_kept_by_browsers_and_known_by_its_content(served: Served) -> None:
    with visitor(served) as stranger:
        links = set(re.findall(r'"(/console/static/[^"]+)"', stranger.get("/console/sign-in").text))
        assert len(links) == 4
        for link in links:
            answer = stranger.get(link)
            assert answer.status_code == 200
            assert "immutable" in answer.headers["cache-control"]
            older = stranger.get(f"/console/static/{'0' * 16}/{link.rpartition('/')[2]}")
            assert older.status_code == 404
            assert older.headers["cache-control"] == "no-store"


@pytest.mark.parametrize("behind", [False, True])
def test_behind_a_proxy_that_has_the_certificate_cookies_are_bound_to_it(tmp_path: Path, behind: bool) -> None:
    with serving(write_study(tmp_path), behind_tls=behind) as served, served.client() as client:
        said = client.get("/console/sign-in", headers={"X-Forwarded-Proto": "https"}).headers["set-cookie"]
        assert said.startswith("__Host-") is behind
        assert ("; Secure" in said) is behind


def test_no_first_link_works_beside_a_curator_however_they_came(tmp_path: Path) -> None:
    """One that was made in the very moment in which a token was given."""
    with serving(write_study(tmp_path)) as one:
        ledger = one.curator.ledger
        for access in ledger.accesses():
            ledger.end_access(access.token)
        code = first_code(ledger)
        assert code is not None
        give(ledger, Access("", "curator"))
        for spend in (lambda: exchange(ledger, code), lambda: set_password(ledger, code, "eve", "four words are long")):
            with pytest.raises(CuradorError):
                spend()
