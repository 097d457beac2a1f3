"""What an agent is told: explain before you pay, say why, read intervals.

An agent reads these texts as its manual, so that each tool's says what to do before and after it.
"""

from __future__ import annotations

from pathlib import Path

INSTRUCTIONS = """\
You are the analyst {analyst} of private tables. Nobody shows you rows: you ask questions in SQL, and each answer is \
noised on purpose (differential privacy) and paid for from a privacy budget of your own, which never comes back.

1. list_tables first: it is public and free. Ask only about the columns, bounds and keys that are declared there.
2. explain before every ask. It is free, reads no data, and says what the answer would cost, how wrong it would be \
and how many such answers you can still buy. Choose the smallest epsilon whose error your purpose can bear; or give \
the error you can bear as accuracy, and the price is found.
3. ask pays. Say in because, truly and in one sentence, what you need the number for: the holder of the data reads \
every question you asked, and why.
4. Report the interval, not the number alone. The true value lies in it as often as the confidence says. Two numbers \
whose intervals overlap may be equal. A negative count is noise, not an error: do not mend it, and do not ask again \
for a nicer one.
5. The same question at the same price again is free and gives the same numbers. Another wording, group or filter is \
another purchase: ask for all you need in one question, with GROUP BY, instead of many small ones.
6. A refusal says what happened, what to do and what it cost. Do what it says; do not try variants at random.
7. The resource curador://sql describes the SQL that is understood: one SELECT of aggregates, with joins, conditions, \
groups, windows over the answers, and what is refused.
"""

SQL = "curador://sql"
"""The address of the resource that describes the SQL."""

SQL_TITLE = "The SQL that is understood: what may be written, and what is refused, why, and what to write instead"


def sql_page() -> str:
    """The reference of the SQL: beside this file where it was installed, in the documentation of a checkout."""
    places = (Path(__file__).with_name("sql.md"), Path(__file__).parents[4] / "docs" / "reference" / "sql.md")
    return next(place for place in places if place.is_file()).read_text(encoding="utf-8")


TABLES = """\
The tables you may ask about: columns, types, bounds, keys, and whom an answer protects (the unit). Free and public; \
call it first. Of a column with more than 200 keys the first are listed: with table, column and start it lists the \
others. Values outside the bounds are clipped to them, and keys that are not declared are not counted, so that what is \
stated here is what an answer is about."""

EXPLAIN = """\
What an answer would cost and how wrong it would be, before you pay: free, and the same whatever the data is. Always \
call it before ask, with the same arguments. Read: the cost (epsilon), the expected error of each output, what was \
bought before, values that no declaration allows, and fits, how many such answers your budget still covers. If the \
error is too large for your purpose, raise epsilon or group by less; if it is smaller than you need, lower epsilon \
and keep the rest of your budget."""

ASK = """\
Pay for a question and get the noised answer with its intervals. Call explain first, with the same arguments. \
because is required: one sentence on what the number is for; the holder of the data reads it. Read each number as \
its interval: the true value is inside as often as confidence says, and nothing finer is known. The same question \
again is free and gives the same numbers; so does sending it again after a failure, and with a key of your own it \
never buys twice. Do not ask variants to average the noise away: every one is paid for. A comparison with a value \
that no declaration allows (a misspelt key, a 13th month) is refused at no cost: correct the value as the refusal \
says. Only if you mean that very value, send anyway: true."""

FITS = """\
How many answers like this one your budget still covers: free. null means that it costs nothing. Use it to plan a \
series of questions before you buy the first."""

BUDGET = """\
Your own privacy budget: granted, spent, remaining. Free. What is spent never comes back; only the curator can grant \
more."""

HISTORY = """\
What you bought so far, oldest first: the question, why, what it cost, and the id of its charge. Free. Look here \
before you buy, and after a failure: what was charged stays charged, and show_release gives its answer again for \
nothing."""

RELEASE = """\
An answer you bought before, again, by the id of its charge (see history): free, the same numbers and intervals."""
