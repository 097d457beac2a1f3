"""CSV files as they come: delimiters, encodings, gzip, decimal commas, spaces; declared, and read strictly."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from curador.curator.curator import Curator
from curador.engines.duckdb.engine import DuckDB
from curador.engines.duckdb.files import has_csv_fields
from curador.errors import InvalidParameter
from curador.privacy import PureDP
from curador.query.plan.identity import declared
from curador.query.sql_plan.prepared import schema_digest
from curador.query.tables.csv_format import CsvFormat
from curador.query.tables.sources import Files, read_source
from curador.query.tables.table import Table

COLUMNS: dict[str, object] = {
    "town": {"type": "text", "keys": ["León", "Vigo"]},
    "pay": {"type": "real", "bounds": [0, 100], "step": 0.5},
}
PRECISE = 10_000
"""An epsilon at which noise is zero but for a chance of e**-5000."""


def answers(path: Path, columns: dict[str, object] = COLUMNS, **csv: object) -> dict[str, tuple[int, float]]:
    """Counts and sums of pay by town."""
    curator = Curator({"t": Table(str(path), columns=columns, csv=csv or None)}, budget=PureDP(2 * PRECISE))
    text = "SELECT town, COUNT(*) AS n, SUM(pay) AS pay FROM t GROUP BY town"
    found = curator.sql(text, epsilon=PRECISE, because="exact", override=True)
    curator.close()
    rows = zip(found["town"], found.numbers("n"), found.numbers("pay"), strict=True)
    return {str(town): (int(n), float(pay)) for town, n, pay in rows}


ROWS = ["León,1.5", "Vigo,2", "León,3"]
RIGHT = {"León": (2, 4.5), "Vigo": (1, 2.0)}


@pytest.mark.parametrize(
    ("name", "content", "csv"),
    [
        ("t.csv", "town,pay\n" + "\n".join(ROWS), {}),
        ("t.csv", "town;pay\n" + "\n".join(ROWS).replace(",", ";"), {"delimiter": ";"}),
        ("t.csv", "town\tpay\r\n" + "\r\n".join(ROWS).replace(",", "\t"), {"delimiter": "\t"}),
        ("t.csv", "town|pay\n" + "\n".join(ROWS).replace(",", "|"), {"delimiter": "|"}),
        ("t.csv", "town;pay\nLeón;1,5\nVigo;2\nLeón;3,0\n", {"delimiter": ";", "decimal": ","}),
        ("t.csv", 'town,pay\nLeón,"1,5"\nVigo,2\nLeón,3\n', {"decimal": ","}),
        ("t.csv", "\n".join(ROWS), {"header": False, "names": ["town", "pay"]}),
        ("t.data", "\n".join(ROWS), {"header": False, "names": ("town", "pay")}),
        ("t.csv", "2019,2020\n" + "\n".join(ROWS), {"names": ["town", "pay"]}),
        ("t.csv", " town, pay\n" + "\n".join(ROWS).replace(",", "\t , "), {"trim": True}),
        ("t.txt.GZ", "town,pay\n" + "\n".join(ROWS), {"header": True}),
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
@pytest.mark.parametrize("zipped", [False, True])
def test_one_table_however_it_is_written(
    tmp_path: Path, name: str, content: str, csv: dict[str, Any], encoding: str, zipped: bool
) -> None:
    raw = content.encode(encoding)
    path = tmp_path / (f"{name}.gz" if zipped and not name.endswith("GZ") else name)
    path.write_bytes(gzip.compress(raw) if path.suffix.lower() == ".gz" else raw)
    if encoding != "utf-8":
        csv = {**csv, "encoding": encoding}
    assert answers(path, **csv) == RIGHT


def test_values_that_are_written_otherwise_are_null(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("town;pay\nVigo;1.5\nVigo;1.000,5\nVigo;,5\nVigo;7,\nVigo; 8,5 \n Vigo;9\n")
    assert answers(path, delimiter=";", decimal=",")["Vigo"] == (5, 0.5 + 7 + 8.5)
    assert answers(path, delimiter=";")["Vigo"] == (5, 1.5)
    assert answers(path, delimiter=";", trim=True)["Vigo"] == (6, 1.5 + 9)
    path.write_text("town,pay\n \t,1\nVigo, \n")
    assert answers(path, {**COLUMNS, "pay": "text"} | {"pay": COLUMNS["pay"]}, trim=True)["Vigo"] == (1, 0.0)


@pytest.mark.parametrize("decimal", [".", ","])
def test_integers_are_read_as_pandas_writes_them_where_one_is_missing(tmp_path: Path, decimal: str) -> None:
    """With a fraction of zeros, all of them: they were NULL, and so were ids, without a word."""
    path = tmp_path / "t.csv"
    frame = pd.DataFrame({"pid": [1, 2, None, 2], "age": [30, None, 40, 50]})
    frame.to_csv(path, index=False, sep=";", decimal=decimal)
    assert f"30{decimal}0" in path.read_text()
    columns = {"pid": {"type": "integer"}, "age": {"type": "integer", "bounds": [0, 100]}}
    table = Table(path, unit="pid", contribution=5, columns=columns, csv={"delimiter": ";", "decimal": decimal})
    curator = Curator({"t": table}, budget=PureDP(10**6))
    asked = "SELECT COUNT(*) AS n, COUNT(age) AS ages, SUM(age) AS total FROM t"
    found = curator.ask(asked, epsilon=10**5, because="to see", override=True)
    assert [found[name][0] for name in ("n", "ages", "total")] == [3, 2, 80]  # without an id, a row is nobody's


@pytest.mark.parametrize("mark", [".", ",", " ", "'", "\u00a0"])
@pytest.mark.parametrize("decimal", [".", ","])
@pytest.mark.parametrize("kind", ["real", "integer"])
def test_marks_between_thousands_are_read_as_declared(tmp_path: Path, mark: str, decimal: str, kind: str) -> None:
    """A number is read whole or is NULL, for every text in its place: no row makes an error."""
    if mark == decimal:
        with pytest.raises(InvalidParameter, match="Thousands cannot be parted"):
            CsvFormat(decimal=decimal, thousands=mark)
        return
    read: dict[str, float] = {
        "1": 1,
        "1_234": 1234,
        "1_234_567": 1234567,
        "-1_234": -1234,
        " +12_345 ": 12345,
        "1234567": 1234567,
    }
    if kind == "real":
        read |= {"1_234~5": 1234.5, "12~25": 12.25, "1_000~": 1000}
    wrong = ["1_23", "12_34", "1_2345", "1234_567", "1__234", "1~234_567", "_", "a_123", "1_234_56"]
    wrong += [] if mark.isspace() else ["_123", "1_234_"]  # around a number spaces are nothing
    wrong += ["9_" * 50 + "999", "1_234~5" if kind == "integer" else "1_234~5~5", "x" * 5000]
    texts = [text.replace("_", mark).replace("~", decimal) for text in (*read, *wrong)]
    path = tmp_path / "t.csv"
    path.write_text("town;pay\n" + "".join(f"Vigo;{text}\n" for text in texts))
    pay = {"type": kind, "bounds": [-(10**7), 10**7], **({"step": 0.25} if kind == "real" else {})}
    columns = {**COLUMNS, "pay": {**pay, "nullable": True}}
    csv = {"delimiter": ";", "decimal": decimal, "thousands": mark}
    curator = Curator({"t": Table(str(path), columns=columns, csv=csv)}, budget=PureDP(2 * PRECISE))
    counts = ", ".join(f"COUNT_IF(pay = {x}) AS c{i}" for i, x in enumerate(set(read.values())))
    asked = f"SELECT COUNT(*) AS n, COUNT(pay) AS read, {counts} FROM t"
    found = curator.sql(asked, epsilon=PRECISE, because="exact", override=True)
    assert (found["n"], found["read"]) == ((len(texts),), (len(read),))
    times = [found[f"c{i}"] for i in range(len(set(read.values())))]
    assert times == [(list(read.values()).count(x),) for x in set(read.values())]
    curator.close()


ODD = [
    "",
    " ",
    "x" * 5000,
    "31",
    "31/12",
    "2024",
    "-00-00",
    "32/01/2024",
    "00/01/2024",
    "29/02/2023",
    "1/1/24",
    "١/١/٢٠٢٤",
]
"""Texts that are no date, however dates are written."""


@pytest.mark.parametrize(
    ("dates", "read", "wrong"),
    [
        ("yyyy-mm-dd", ["2024-02-01"], ["01/02/2024", "2024-2-1", "2024/02/01"]),
        (
            "dd/mm/yyyy",
            ["01/02/2024", "1/2/2024", "01/2/2024"],
            ["2024-02-01", "01-02-2024", "13/13/2024", " 1/2/2024"],
        ),
        ("mm/dd/yyyy", ["02/01/2024", "2/1/2024"], ["2024-02-01", "31/12/2024", "2/1/2024\x0b"]),
        ("dd-mm-yyyy", ["01-02-2024"], ["2024-02-01", "01/02/2024", "01-02-02024"]),
        ("mm-dd-yyyy", ["02-01-2024"], ["31-12-2024"]),
        ("dd.mm.yyyy", ["01.02.2024", "1.2.2024"], ["01x02x2024", "01/02/2024"]),
        ("yyyy/mm/dd", ["2024/02/01", "2024/2/1"], ["2024-02-01", "2024/31/12"]),
        ("yyyymmdd", ["20240201"], ["2024021", "202402010", "2024-02-01"]),
    ],
)
@pytest.mark.parametrize("kind", ["date", "timestamp"])
def test_dates_are_read_as_declared(tmp_path: Path, dates: str, read: list[str], wrong: list[str], kind: str) -> None:
    """A date is read whole or is NULL, for every text in its place: no row makes an error, and none another's day."""
    texts = [*read, *wrong, *ODD]
    if kind == "timestamp":
        hour = " 8:30" if dates != "yyyy-mm-dd" else " 08:30"
        read = [*read, *(f"{x}{hour}" for x in read), *(f"{x} 08:30:00" for x in read)]
        texts = [
            *read,
            *wrong,
            *ODD,
            *(f"{x} 25:00" for x in read),
            f"{read[0]} 8",
            f"{read[0]} 8:3",
            f"{read[0]} x:30",
        ]
    path = tmp_path / "t.csv"
    path.write_text("town;day\n" + "".join(f"Vigo;{text}\n" for text in texts))
    columns = {"town": COLUMNS["town"], "day": kind}
    csv = {"delimiter": ";", "dates": dates}
    curator = Curator({"t": Table(str(path), columns=columns, csv=csv)}, budget=PureDP(2 * PRECISE))
    asked = (
        "SELECT COUNT(day) AS read, COUNT_IF(day >= DATE '2024-02-01' AND day < DATE '2024-02-02') AS right_day FROM t"
    )
    found = curator.sql(asked, epsilon=PRECISE, because="exact", override=True)
    assert (found["read"], found["right_day"]) == ((len(read),), (len(read),))
    curator.close()


def test_words_of_truth_are_read_as_declared(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    texts = ["sí", "Sí", "SÍ", "true", "1", "no", "NUNCA", "nunca", "si", "síí", "", "x" * 5000]
    path.write_text("town,is\n" + "".join(f"Vigo,{text}\n" for text in texts))

    def counted(**csv: object) -> tuple[object, object]:
        columns: dict[str, object] = {"town": COLUMNS["town"], "is": "boolean"}
        curator = Curator({"t": Table(str(path), columns=columns, csv=csv)}, budget=PureDP(2 * PRECISE))
        asked = 'SELECT COUNT_IF("is") AS yes, COUNT_IF(NOT "is") AS no FROM t'
        found = curator.sql(asked, epsilon=PRECISE, because="exact", override=True)
        curator.close()
        return found["yes"], found["no"]

    assert counted(yes=["sí"], no=["nunca"]) == ((5,), (3,))
    assert counted(header=True) == ((2,), (1,))


@pytest.mark.parametrize(
    "wrong",
    [
        {"dates": "dd/mm/yy"}, {"dates": 5}, {"yes": "sí"}, {"yes": [1]}, {"yes": [""]}, {"no": ["yes"]},
        {"yes": ["quizá"], "no": ["Quizá"]}, {"yes": ["a"] * 21}, {"no": ["\0"]}, {"yes": 3},
    ],
)  # fmt: skip
def test_ways_of_writing_that_are_none_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter):
        CsvFormat(**wrong)


def test_what_was_bought_before_there_were_dates_is_the_same_question() -> None:
    """Its identity holds how files are written: a setting that is not stated may not change it."""
    code = CsvFormat(delimiter=";").code
    assert sorted(code) == ["decimal", "delimiter", "encoding", "header", "names", "thousands", "trim"]
    assert CsvFormat(dates="dd/mm/yyyy").code != CsvFormat(dates="mm/dd/yyyy").code != CsvFormat().code
    assert CsvFormat(yes=("sí",)).code != CsvFormat().code


NOT_TABLES: dict[str, tuple[bytes, dict[str, Any]]] = {
    "another encoding": ("town,pay\nLeón,1\n".encode("latin-1"), {}),
    "bytes that Latin-1 has not": (b"town,pay\n\x80,1\n", {"encoding": "latin-1"}),
    "too few fields": (b"town;pay\nLugo\n", {"delimiter": ";"}),
    "too many fields": (b"town;pay\nLugo;1;2\n", {"delimiter": ";"}),
    "a broken quote": (b'town;pay\nLugo;"1\n2\n', {"delimiter": ";"}),
    "quotes inside a field": (b'town|pay\nLu"go|1\n"a|2\n', {"delimiter": "|"}),
    "mixed line ends": (b"town;pay\r\nLugo;1\nVigo;2\r\n", {"delimiter": ";"}),
    "a row of another width": (b"1,2\n1,2,3\n", {"header": False, "names": ["town", "pay"]}),
}


@pytest.mark.parametrize("what", NOT_TABLES)
@pytest.mark.parametrize("zipped", [False, True])
def test_what_is_no_table_is_refused_at_opening_with_one_message(tmp_path: Path, what: str, zipped: bool) -> None:
    content, csv = NOT_TABLES[what]
    path = tmp_path / ("t.csv.gz" if zipped else "t.csv")
    path.write_bytes(gzip.compress(content) if zipped else content)
    engine = DuckDB({"t": read_source(str(path), csv or None)})
    with pytest.raises(InvalidParameter) as refused:
        engine.check({"t": Table(str(path), columns={"town": "text"}, csv=csv or None)})
    assert refused.value.code == "csv-unreadable"
    assert "iconv -f windows-1252" in refused.value.fix  # the words are the same whatever is wrong
    engine.close()


@pytest.mark.parametrize("name", ["windows-1252", "CP1252", "ansi"])
def test_the_encoding_of_spreadsheets_is_refused_with_the_way_out(name: str) -> None:
    with pytest.raises(InvalidParameter) as refused:
        CsvFormat(encoding=name)
    assert "windows-1252 is not read" in refused.value.what
    assert "iconv -f windows-1252" in refused.value.fix


@pytest.mark.parametrize("damage", ["cut", "checksum", "garbage"])
def test_damaged_gzip_is_refused(tmp_path: Path, damage: str) -> None:
    whole = gzip.compress(b"town,pay\n" + b"Lugo,1\n" * 1000)
    broken = bytearray(whole)
    broken[-6] ^= 1  # in the checksum, which DuckDB does not look at
    path = tmp_path / "t.csv.gz"
    path.write_bytes({"cut": whole[:-20], "checksum": bytes(broken), "garbage": whole + b"x" * 30}[damage])
    engine = DuckDB({"t": Files(str(path), "csv")})
    with pytest.raises(InvalidParameter, match="cannot be read as a table"):
        engine.check({"t": Table(str(path), columns={"town": "text"})})
    engine.close()


def test_fields_are_seen_alike_in_gzip_and_without(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut into parts of any size, a file is fields or it is not."""
    contents = [
        b'a;b\r\n"x;""y""\r\n";1\r\n;\r\n',
        b'a;b\r\n"x"";1\r\n2;3\r\n',
        b'a;b\n1;"2"3\n',
        b'a;b\n1; "2"\n',
        b"a;b\r\n1;2\n",
        b"\xef\xbb\xbfa;b\r\n1;2",
        b'"',
        b"a\r",
    ]
    for content in contents:
        plain, zipped = tmp_path / "t.csv", tmp_path / "t.csv.gz"
        plain.write_bytes(content)
        zipped.write_bytes(gzip.compress(content))
        right = has_csv_fields(str(plain), ";")
        for size in (3, 4, 5, 7, 1 << 20):
            monkeypatch.setattr("curador.engines.duckdb.files._CHUNK", size)
            assert has_csv_fields(str(zipped), ";") == right, (content, size)
    assert has_csv_fields(str(plain), ";") is False


def test_how_a_file_is_written_is_part_of_the_declaration() -> None:
    def code(**csv: object) -> object:
        return declared(Table("t.csv", columns={"a": "text"}, csv=csv or None))

    assert code() == code(header=True) == code(decimal=".", encoding="UTF8")
    others: list[dict[str, object]] = [
        {"delimiter": ";"},
        {"encoding": "latin-1"},
        {"decimal": ","},
        {"trim": True},
        {"header": False, "names": ["a"]},
        {"names": ["a"]},
    ]
    assert len({str(code(**csv)) for csv in [{}, *others]}) == len(others) + 1
    # A copy that was prepared from fields read otherwise is of other values.
    tables = [Table("t.csv", columns={"a": "text"}, csv=csv or None) for csv in [{}, *others]]
    assert len(set(map(schema_digest, tables))) == len(tables)


@pytest.mark.parametrize(
    ("source", "csv", "said"),
    [
        ("t.parquet", {}, "this is none"),
        ("postgresql://db/x#t", {}, "this is none"),
        (object(), {}, "this is none"),
        ("t.csv", {"delimiter": "::"}, "cannot be delimited"),
        ("t.csv", {"encoding": "utf-16"}, "not read here"),
        ("t.csv", {"decimal": ";"}, "cannot begin"),
        ("t.csv", {"header": False}, "needs the names"),
        ("t.csv", {"names": "a,b"}, "are a list"),
        ("t.csv", {"names": ["a", "A"]}, "fold case"),
        ("t.csv", {"trim": "yes"}, "true or false"),
        ("t.csv", {"trimmed": True}, "unknown setting"),
        ("t.csv", ";", "csv is ';'"),
        ("t.parquet.gz", None, "neither Parquet nor CSV"),
    ],
)
def test_formats_that_cannot_be(source: object, csv: Any, said: str) -> None:
    with pytest.raises(InvalidParameter) as refused:
        Table(source, columns={"a": "text"}, csv=csv)
    assert said in refused.value.what


def test_names_that_do_not_fit_the_first_line_are_refused(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b,c\n1,2,3\n")
    with pytest.raises(InvalidParameter, match=r"2 columns are named, and the first line of 't\.csv' has 3"):
        DuckDB({"t": Files(str(tmp_path / "t.csv"), "csv", CsvFormat(names=("a", "b")))})


def test_a_file_without_header_is_not_read_before_it_is_asked(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("Ana,1\nBea,2\n")
    engine = DuckDB({"t": Files(str(tmp_path / "t.csv"), "csv", CsvFormat(header=False, names=("who", "n")))})
    assert engine.describe("t") == [("who", "VARCHAR"), ("n", "VARCHAR")]
    engine.close()
