"""Statements as nobody should write them: legal ones with words lost, doubled, swapped or replaced; some by hand."""

from __future__ import annotations

import re
from random import Random

WORD = re.compile(r"\s+|'(?:[^']|'')*'|\"[^\"]*\"|\w+|[^\w\s]")

_ODD = """
' '' " "" -- /* */ ; , . .. * ** ( ) (( )) [ ] { } ? $1 :x @x # \\ ` ~ ! != <> << >> => -> ->> :: || | & ^ := % // /
NULL TRUE FALSE 0 -0 1 -1 1e9 1e99 1e-99 .5 5. 0x1F 1_000 00012 1e 1.2.3 9223372036854775807 9223372036854775808
4611686018427387904 -4611686018427387905 123456789012345678901234567890123456789012 0.1 0.30000000000000004 1e308
'' 'a' '%' '_' '\\' 'it''s' '2024-02-30' '0000-00-00' '9999-12-31' '-1' DATE TIMESTAMP INTERVAL 'NaN' '\u0000'
SELECT FROM WHERE GROUP BY HAVING ORDER LIMIT OFFSET AS ON USING JOIN LEFT RIGHT FULL CROSS NATURAL UNION ALL EXCEPT
WITH RECURSIVE DISTINCT EXISTS IN NOT AND OR IS BETWEEN LIKE ILIKE ESCAPE CASE WHEN THEN ELSE END OVER PARTITION FILTER
WITHIN ROLLUP CUBE QUALIFY VALUES LATERAL UNNEST CAST TRY_CAST EXTRACT COUNT SUM AVG MIN MAX MEDIAN QUANTILE HISTOGRAM
TOP_K BOUNDS BIN ROUND FLOOR MOD POWER SQRT LN EXP DATE_TRUNC DATEDIFF MAKE_DATE STRFTIME UPPER SUBSTRING COALESCE
NULLIF LEAST GREATEST ROW_NUMBER RANK pid age pay cost day seen sex town device ok visits stays places nobody t g n
DECIMAL(10,2) BIGINT DOUBLE VARCHAR BOOLEAN INT[] STRUCT MAP CURRENT_DATE RANDOM() NOW() SESSION_USER
ñ é 漢字 🦉 \u200b \u00a0 \ufeff \u202e \u2019 \uff08 \uff09 ｓｅｌｅｃｔ K ſ İ \u0301 \ud800
"""
ODD = _ODD.split()


def mutated(draw: Random, text: str) -> str:
    """A statement with one to four words changed."""
    words = WORD.findall(text)
    for _ in range(draw.choice([1, 1, 1, 2, 2, 3, 4])):
        if not words:
            break
        i, j = draw.randrange(len(words)), draw.randrange(len(words))
        low, high = min(i, j), max(i, j)
        match draw.randrange(9):
            case 0:
                del words[i]
            case 1:
                words.insert(i, words[i])
            case 2:
                words[i], words[j] = words[j], words[i]
            case 3:
                words[i] = draw.choice(ODD)
            case 4:
                words.insert(i, f" {draw.choice(ODD)} ")
            case 5:
                del words[low : low + draw.randrange(1, 6)]
            case 6:
                words[i:i] = words[low : min(high, low + 12)]
            case 7:
                words[i] = f"{words[i]}{draw.choice(ODD)}"
            case _:
                words[i] = f"({words[i]})"
    return "".join(words)


def _nested(depth: int, before: str, inside: str, after: str) -> str:
    return before * depth + inside + after * depth


COUNT = "SELECT COUNT(*) AS n FROM visits WHERE "
BY_HAND = [
    "",
    " ",
    ";",
    ";;",
    "--",
    "/*",
    "SELECT",
    "SELECT *",
    "SELECT COUNT(*)",
    "WITH",
    "WITH a AS",
    "\x00",
    "\ud800",
    "'",
    '"',
    "SELECT COUNT(*) AS n FROM visits;;",
    "SELECT COUNT(*) AS n FROM visits; SELECT 1",
    "SELECT COUNT(*) AS n FROM visits --",
    "SELECT COUNT(*) AS n FROM visits /* open",
    "/* first */ SELECT COUNT(*) AS n FROM visits",
    'SELECT COUNT(*) n FROM visits WHERE town = "Lugo"',
    'SELECT COUNT(*) AS "" FROM visits',
    'SELECT COUNT(*) AS "a b" FROM visits',
    f"SELECT COUNT(*) AS {'n' * 5000} FROM visits",
    "SELECT COUNT(*) AS n, COUNT(*) AS N FROM visits",
    "SELECT COUNT(*) AS \u200b FROM visits",
    'SELECT COUNT(*) AS n FROM "visits"""',
    "SELECT COUNT(*) AS n FROM visits WHERE town = '" + "x" * 19_000 + "'",
    "SELECT COUNT(*) AS n FROM visits" + " " * 30_000,
    COUNT + _nested(99, "(", "ok", ")"),
    COUNT + _nested(101, "(", "ok", ")"),
    COUNT + _nested(5000, "(", "ok", ")"),
    COUNT + _nested(99, "NOT ", "ok", ""),
    COUNT + _nested(900, "NOT ", "ok", ""),
    COUNT + "- " * 900 + "age > 1",
    COUNT + _nested(40, "CASE WHEN ok THEN ", "ok", " ELSE ok END"),
    COUNT + _nested(99, "COALESCE(", "ok", ", ok)"),
    COUNT + " AND ".join(["ok"] * 900),
    COUNT + " OR ".join(f"age = {i}" for i in range(900)),
    COUNT + " + ".join(["age"] * 900) + " > 1",
    COUNT + " * ".join(["age"] * 50) + " > 1",
    COUNT + " / ".join(["age"] * 50) + " > 1",
    COUNT + " || ".join(["town"] * 50) + " = 'x'",
    COUNT + f"age IN ({', '.join(map(str, range(1500)))})",
    COUNT + "age IN ()",
    COUNT + "age IN (1, 1, 1)",
    COUNT + "town IN ('a', 1)",
    COUNT + "age = 1e999999999",
    COUNT + "age = 1" + "0" * 200,
    COUNT + "age > 99999999999999999999",
    COUNT + "age // 0 = 1",
    COUNT + "pay = 1e-40",
    COUNT + "age * 4611686018427387904 > 0",
    COUNT + "age % 4611686018427387904 > 0",
    COUNT + "ROUND(pay, 400) > 0",
    COUNT + "ROUND(age, -400) > 0",
    COUNT + "POWER(pay, 999999999) > 0",
    COUNT + "SUBSTRING(town, 999999999999999999999, 1) = ''",
    COUNT + "LEFT(town, -99999999999999999999) = ''",
    COUNT + "day + 99999999999999999999 > day",
    COUNT + "day + INTERVAL 999999999999 MONTH > day",
    COUNT + "day - INTERVAL 99999999999 DAY > day",
    COUNT + "seen + INTERVAL 999999999999 HOUR > seen",
    COUNT + "day = '2024-02-30'",
    COUNT + "day = DATE '10000-01-01'",
    COUNT + "day = ''",
    COUNT + "town LIKE '" + "%a" * 3000 + "'",
    COUNT + "town LIKE '" + "_" * 3000 + "'",
    COUNT + "town LIKE '%' ESCAPE ''",
    COUNT + "town LIKE 'a' ESCAPE 'ab'",
    COUNT + "REPLACE(town, 'o', '" + "oo" * 5000 + "') = 'x'",
    COUNT + "STRFTIME(day, '" + "%Y" * 5000 + "') = 'x'",
    COUNT + "STRFTIME(day, '%') = ''",
    COUNT + "WIDTH_BUCKET(age, 0, 100, 999999999) = 1",
    COUNT + "WIDTH_BUCKET(age, 5, 5, 3) = 1",
    COUNT + f"BIN(age, {', '.join(map(str, range(3000)))}) = 1",
    "SELECT QUANTILE(age, 1.5) AS q FROM visits",
    "SELECT QUANTILE(age, []) AS q FROM visits",
    f"SELECT QUANTILE(age, [{', '.join(f'0.{i:03}' for i in range(1, 500))}]) AS q FROM visits",
    "SELECT HISTOGRAM(age, 3, 2, 1) AS h FROM visits",
    "SELECT town, TOP_K(0) AS n FROM visits GROUP BY town",
    "SELECT town, TOP_K(-1.5) AS n FROM visits GROUP BY town",
    "SELECT COUNT(*) AS n FROM visits LIMIT -1",
    "SELECT COUNT(*) AS n FROM visits LIMIT 1e30",
    "SELECT COUNT(*) AS n FROM visits OFFSET 99999999999999999999",
    "SELECT COUNT(*) AS n FROM visits GROUP BY 99",
    "SELECT COUNT(*) AS n FROM visits ORDER BY 0",
    f"SELECT {', '.join(f'COUNT(*) AS n{i}' for i in range(500))} FROM visits",
    "SELECT " + ", ".join(f"SUM(age + {i}) AS s{i}" for i in range(99)) + " FROM visits",
    _nested(60, "SELECT * FROM (", "SELECT COUNT(*) AS n FROM visits", ") t"),
    "SELECT COUNT(*) AS n FROM " + _nested(60, "(SELECT * FROM ", "visits", ") t"),
    "SELECT COUNT(*) AS n FROM " + _nested(30, "(SELECT *, age + 1 AS age FROM ", "visits", ") t"),
    "SELECT COUNT(*) AS n FROM " + _nested(30, "(SELECT pid, COUNT(*) AS c FROM ", "visits", " t GROUP BY pid) t"),
    "SELECT COUNT(*) AS n FROM (" + " UNION ALL ".join(["SELECT pid FROM visits"] * 300) + ") t",
    COUNT + _nested(40, "pid IN (SELECT pid FROM visits WHERE ", "ok", ")"),
    "WITH "
    + ", ".join(f"a{i} AS (SELECT * FROM {f'a{i - 1}' if i else 'visits'})" for i in range(200))
    + " SELECT COUNT(*) AS n FROM a199",
    "WITH "
    + ", ".join(
        f"a{i} AS (SELECT pid, {'age' if not i else 'x + x'} AS x FROM {f'a{i - 1}' if i else 'visits'})"
        for i in range(40)
    )
    + " SELECT SUM(x) AS n FROM a39",
    "SELECT COUNT(*) AS n FROM visits " + " ".join(f"JOIN stays s{i} ON visits.pid = s{i}.person" for i in range(50)),
    "SELECT COUNT(*) AS n FROM visits JOIN visits ON TRUE",
    "SELECT a.b.c.d.e AS n FROM visits",
    "SELECT COUNT(*) AS n FROM a.b.visits",
    'SELECT "count"(*) AS n FROM visits',
    "SELECT COUNT(*) AS n FROM visits WHERE town = E'a\\n'",
    "SELECT SUM(x) AS s FROM (SELECT pid, SUM(age) AS x FROM visits GROUP BY pid, pid, pid) t",
    "SELECT age, age, COUNT(*) AS n FROM visits GROUP BY age, age",
    "SELECT COUNT(*)AS n FROM(visits)",
    "SELECT(COUNT(*))AS n FROM visits",
    "ＳＥＬＥＣＴ COUNT(*) AS n FROM visits",
    "SELECT COUNT(*) AS n\u00a0FROM visits",
    "\ufeffSELECT COUNT(*) AS n FROM visits",
    "SELECT " + "SQRT(" * 90 + "COUNT(*)" + ")" * 90 + " AS n FROM visits",
    "SELECT " + " / ".join(["COUNT(*)"] * 90) + " AS n FROM visits",
    "SELECT COUNT(*) " + "* 1e90 " * 9 + "AS n FROM visits",
    "SELECT town, RANK() OVER (ORDER BY "
    + ", ".join(["COUNT(*)"] * 90)
    + ") AS r, COUNT(*) AS n FROM visits GROUP BY town",
    "SELECT EXP(EXP(EXP(COUNT(*)))) AS n FROM visits",
    "SELECT ROUND(COUNT(*), 400) AS n FROM visits",
    "SELECT COUNT(*) // 0 AS n FROM visits",
    "SELECT COUNT(*) % 0.0 AS n FROM visits",
    "SELECT LN(COUNT(*) - COUNT(*)) AS n FROM visits",
    "DROP TABLE visits",
    "SELECT COUNT(*) AS n FROM visits UNION SELECT 1",
    "EXPLAIN SELECT COUNT(*) FROM visits",
    "PRAGMA x",
    "COPY visits TO 'x'",
    "ATTACH 'x'",
    "SELECT * FROM read_csv('x')",
    "SELECT COUNT(*) AS n FROM 'x.csv'",
    "SELECT COUNT(*) AS n FROM read_csv('x')",
    "SELECT COUNT(*) AS n FROM visits WHERE getenv('HOME') = ''",
    "CALL x()",
    "BEGIN",
    "SET x = 1",
    "VALUES (1)",
]
