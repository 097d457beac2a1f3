"""The page that says how to ask people is followed to the letter: its commands, its script and its web page."""

from __future__ import annotations

import json
import re
import shlex
import socket
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "how-to" / "ask-people.md").read_text()
# What a browser has and Node has not; the first message that is posted gets lost.
BROWSER = """
globalThis.crypto ??= require("node:crypto").webcrypto;
const { readFileSync } = require("node:fs");
const kept = {}, posted = [], said = [], told = {}, place = {};
let locked = false;
globalThis.localStorage = {
  getItem: (name) => kept[name] ?? null,
  setItem: (name, x) => { kept[name] = x; },
  removeItem: (name) => { delete kept[name]; },
};
globalThis.document = { getElementById: () => told };
const request = async (name, run) => {
  locked = true;
  try { return await run(); } finally { locked = false; }
};
Object.defineProperty(globalThis, "navigator", { value: { locks: { request } } });
globalThis.fetch = async (address, options) => {
  if (!options) return { json: async () => JSON.parse(readFileSync(address)) };
  if (locked) throw new Error("posted inside of the lock");
  posted.push(options.body);
  if (posted.length === 1) throw new Error("No network.");
  return posted.length === 2 ? { ok: false, status: 503 } : { ok: true };
};
"""


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def run(command: list[str], folder: Path, **options: Any) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return str(done.stdout)


def typed(block: str, folder: Path) -> list[str]:
    program = str(Path(sys.executable).parent / "curador")
    return [run([program, *shlex.split(line)[1:]], folder) for line in block.splitlines()]


@pytest.fixture
def asked(tmp_path: Path) -> Path:
    """A folder after the first block, with the page's three programs."""
    typed(blocks("sh")[0], tmp_path)
    (tmp_path / "page.html").write_text(blocks("html")[0])
    for name, program in zip(("serve.py", "answer.py"), blocks("python"), strict=True):
        assert f"`{name}`" in PAGE
        (tmp_path / name).write_text(program)
    return tmp_path


def script(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "answer.py", *arguments]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def from_script(folder: Path) -> str:
    """Run by three people at once who share a device: one is answered, the others are told why not."""
    runs = [script(folder, "tea").communicate for _ in range(3)]
    outs, errors = zip(*(done() for done in runs), strict=True)
    assert sorted(errors) == ["", *["Not answered: This task was answered.\n"] * 2]
    for name in ("device.json", "device.lock"):
        assert (folder / name).stat().st_mode & 0o777 == 0o600
    assert not (folder / "device.part").exists()
    (folder / "device.json").unlink()  # another person
    return "".join(outs)


def test_a_script_saves_the_name_too(asked: Path) -> None:
    """File and folder are written out before the message is."""
    watched = """
import os, stat
real = os.fsync
def fsync(file):
    real(file)
    print("folder" if stat.S_ISDIR(os.fstat(file).st_mode) else "file")
os.fsync = fsync
"""
    (asked / "answer.py").write_text(watched + (asked / "answer.py").read_text())
    assert run([sys.executable, "answer.py", "tea"], asked).splitlines()[:2] == ["file", "folder"]


def from_page(folder: Path) -> list[str]:
    """Pressed until it is sent, and once more."""
    [program] = [part for part in re.findall(r"<script>(.*?)</script>", blocks("html")[0], re.DOTALL) if part.strip()]
    end = """
    (async () => {
      kept.curador = "{broken";  // a device that cannot be read is refused, and kept as it is
      await answer("tea");
      said.push(told.textContent);
      delete kept.curador;
      for (const value of ["tea", "tea", "tea", "water"]) {
        await answer(value);
        said.push(told.textContent);
      }
      console.log(JSON.stringify([posted, said, kept]));
    })();"""
    (folder / "page.cjs").write_text(f'{BROWSER}\nrequire("./curador_device.js");\n{program}\n{end}')
    posted, said, kept = json.loads(run(["node", "page.cjs"], folder))
    assert said == [
        "Not answered: This is not a device's state.",
        "Not sent: No network. Please press again.",
        "Not sent: The server says 503. Please press again.",
        "Thank you.",
        "Not answered: This task was answered.",
    ]
    assert len(posted) == 3
    assert len(set(posted)) == 1  # the same message, so that its token is taken once
    assert set(kept) == {"curador"}
    assert json.loads(kept["curador"])["answered"][0]["epsilon"] == "1"
    return list(posted[1:])


def through_server(folder: Path, message: str) -> None:
    """The server of the page takes a message, gives the page, and hides everything else."""
    program = (folder / "serve.py").read_text()
    assert '("localhost", 8000)' in program
    port = 'import sys\nserver = Server(("localhost", 0), Collector)\nprint(server.server_port, flush=True)\n'
    tried = program.replace('Server(("localhost", 8000), Collector)', f"{port}server")
    command = [sys.executable, "-c", tried]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            number = int(server.stdout.readline())
            address = f"http://localhost:{number}"
            stalled = [socket.create_connection(("localhost", number)) for _ in range(3)]
            stalled[0].sendall(b"POST /reports HTTP/1.1\r\nContent-Length: 100\r\n\r\nhalf")  # and then nothing
            stalled[1].sendall(b"GET /pa")
            sizes = (b"x", b"-1", b"131073", b"99999999999", b"00000000099999999999", b"0" * 9 + b"131073")
            for head in (b"", *(b"Content-Length: %b\r\n" % size for size in sizes)):
                with socket.create_connection(("localhost", number)) as odd:
                    odd.sendall(b"POST /reports HTTP/1.1\r\n" + head + b"\r\n")
                    assert odd.recv(12)[9:] in (b"411", b"413")
            with socket.create_connection(("localhost", number)) as rude:  # gone before it is answered
                rude.sendall(b"POST /reports HTTP/1.1\r\nContent-Length: 5\r\n\r\nab")
                rude.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            with urlopen(f"{address}/page.html", timeout=60) as page:
                assert page.read().decode() == blocks("html")[0]
            with urlopen(Request(f"{address}/reports", message.encode()), timeout=60) as reply:
                assert reply.status == 204
            with pytest.raises(HTTPError, match="404"):
                urlopen(f"{address}/messages.ndjson", timeout=60)
            for one in stalled:
                one.close()
        finally:
            server.terminate()
        assert server.stderr is not None
        assert server.stderr.read() == ""


def test_the_page_is_a_whole_document() -> None:
    [page] = blocks("html")
    for part in ('<html lang="en">', 'charset="utf-8"', "<title>", 'name="viewport"', "answer('water')"):
        assert part in page
    keys = re.search(r"--keys ([a-z,]+)", blocks("sh")[0])
    assert keys
    assert re.findall(r"answer\('(\w+)'\)", page) == keys[1].split(",")


def test_the_page_works(asked: Path) -> None:
    through_server(asked, from_script(asked).strip())
    with (asked / "messages.ndjson").open("a") as file:
        file.write("\n".join([*from_page(asked), "no message"]) + "\n")
    collected, estimated = typed(blocks("sh")[1], asked)
    assert re.search(r"accepted\s+2", collected)
    assert re.search(r"malformed\s+1", collected)
    assert re.search(r"replayed\s+1", collected)
    assert "tea" in estimated
