// Runs jobs with the JavaScript client: a list of them from standard input, a list of their results to standard output.
"use strict";
globalThis.crypto ??= require("node:crypto").webcrypto; // Node 18 has it under this name only
const curador = require("../../../src/curador/local/devices/curador_device.js");

/** From here on the system's bytes are these, the same every time. */
function seed(key) {
  const cipher = require("node:crypto").createCipheriv("aes-128-ctr", Buffer.from(key, "hex"), Buffer.alloc(16));
  const value = (into) => (into.set(cipher.update(new Uint8Array(into.length))), into);
  Object.defineProperty(globalThis.crypto, "getRandomValues", { value });
}

/** Bytes from a text, and none after its end. */
function scripted(text) {
  const bytes = Buffer.from(text, "base64");
  let at = 0;
  return new curador.Source((n) => {
    if (at >= bytes.length) throw new Error("the script is at its end");
    const found = new Uint8Array(n);
    found.set(bytes.subarray(at, (at += n)));
    return found;
  });
}

/** What JSON cannot say. */
function revived(value) {
  if (Array.isArray(value)) return value.map(revived);
  if (typeof value !== "object" || value === null) return value;
  if ("$number" in value) return Number(value.$number);
  if ("$undefined" in value) return undefined;
  if ("$integer" in value) return BigInt(value.$integer);
  return Object.fromEntries(Object.entries(value).map(([name, x]) => [name, revived(x)]));
}

function or(run) {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof curador.Refused)) throw error;
    return { refused: error.message };
  }
}

const jobs = {
  seed: ({ key }) => seed(key) ?? null,

  read: ({ document }) => or(() => ({ id: curador.readTask(document).id })),

  checks: ({ document, values }) => {
    const task = curador.readTask(document);
    const plain = (x) => (typeof x === "bigint" ? { $integer: `${x}` } : x);
    return values.map((value) => JSON.parse(JSON.stringify(curador.check(task, revived(value)), (_, x) => plain(x))));
  },

  coins({ threshold, bits, n, script }) {
    const source = scripted(script);
    const found = source.coins(threshold, bits, n);
    return { coins: Buffer.from(found).toString("hex"), next: source.take(4) };
  },

  messages({ document, values, script }) {
    const task = curador.readTask(document);
    const source = scripted(script);
    const sent = values.map((value) => or(() => curador.message(task, revived(value), source)));
    return { sent, next: source.take(4) };
  },

  reports({ document, values }) {
    const task = curador.readTask(document);
    const start = process.hrtime.bigint();
    const rows = values.map((value) => curador.report(task, revived(value)));
    const seconds = Number(process.hrtime.bigint() - start) / 1e9;
    return { rows: Buffer.concat(rows).toString("base64"), seconds };
  },

  async device({ limit, changes, state, steps, script }) {
    const saved = [];
    const save = (now) => saved.push(now);
    const source = scripted(script);
    const options = { changes };
    let device;
    const begun = or(() => {
      device = state ? curador.Device.fromJSON(state, save) : new curador.Device(limit, save, options);
    });
    if (begun) return begun;
    const sent = [];
    for (const { document, value } of steps) {
      try {
        sent.push(await device.message(curador.readTask(document), revived(value), source));
      } catch (error) {
        if (!(error instanceof curador.Refused)) throw error;
        sent.push({ refused: error.message });
      }
    }
    return { sent, saved, state: device.toJSON(), spent: device.spent, remaining: device.remaining };
  },

  /** Two messages at once, while saving takes its time. */
  async race({ limit, documents, value }) {
    const device = new curador.Device(limit, () => new Promise((done) => setTimeout(done, 5)));
    const both = documents.map((document) => device.message(curador.readTask(document), value));
    return (await Promise.allSettled(both)).map((one) => one.reason?.message ?? "sent");
  },

  /** Messages at once, each of whose saves takes its own time, and one of which fails. */
  async saves({ documents, waits, failing }) {
    let [disk, started, running, atOnce] = [null, 0, 0, 0];
    const device = new curador.Device("9", async (state) => {
      const mine = started++;
      atOnce = Math.max(atOnce, ++running);
      await new Promise((done) => setTimeout(done, waits[mine]));
      running--;
      if (mine === failing) throw new Error("full");
      disk = state;
    });
    const all = documents.map((document) => device.message(curador.readTask(document), 0));
    const told = (await Promise.allSettled(all)).map((one) => one.reason?.message ?? "sent");
    return { told, disk, at_once: atOnce };
  },

  /** Messages from sources that give no bytes, too few, too many and none of the kind, and from the system's. */
  async sources({ document, value }) {
    const fail = () => {
      throw new Error("no bytes yet");
    };
    const fetches = [fail, () => new Uint8Array(0), (n) => new Uint8Array(n + 1), (n) => new Array(n).fill(0)];
    const [told, spent] = [[], []];
    const device = new curador.Device("2", () => {});
    for (const source of [...fetches.map((fetch) => new curador.Source(fetch)), undefined]) {
      const message = device.message(curador.readTask(document), value, source);
      told.push(await message.then(() => "sent", (error) => error.message));
      spent.push(device.spent);
    }
    return { told, spent };
  },

  /** What a programmer may get wrong. */
  async mistakes({ document }) {
    const told = [];
    try {
      new curador.Device("9");
    } catch (error) {
      told.push(`${error}`);
    }
    await new curador.Device("9", () => {}).message(document, "tea").catch((error) => told.push(`${error}`));
    return told;
  },

  /** Reports on, and checks of, values that fail when they are looked at. */
  failing({ document }) {
    const task = curador.readTask(document);
    const fail = () => {
      throw new Error("not fetched");
    };
    const traps = { get: fail, has: fail, ownKeys: fail, getOwnPropertyDescriptor: fail, getPrototypeOf: fail };
    const gone = (held) => {
      const { proxy, revoke } = Proxy.revocable(held, {});
      revoke();
      return proxy;
    };
    const list = Object.defineProperty([0.5, 0.5, 0.5], 1, { get: fail });
    const record = Object.defineProperty({ b: "tea" }, "a", { get: fail, enumerable: true });
    const dull = { toString: fail, valueOf: fail, [Symbol.toPrimitive]: fail, a: fail };
    const values = [gone({}), gone([]), gone(fail), new Proxy({}, traps), new Proxy([], traps), list, record, dull];
    return values.map((value) => {
      const sent = curador.message(task, value);
      return { sent: Object.keys(sent), checked: Object.keys(curador.check(task, value)) };
    });
  },

  /** Messages from a value, and from a source, that ask the device again while it reads them. */
  async again({ document, limit }) {
    const task = curador.readTask(document);
    const found = [];
    for (const inside of ["value", "source"]) {
      const device = new curador.Device(limit, () => {});
      const more = [];
      const ask = () => {
        if (more.length < 3) more.push(device.message(task, { a: "tea" }).then(() => "sent", (error) => error.message));
      };
      const value = inside === "value" ? { get a() { return ask(), "tea"; } } : { a: "tea" };
      const fetch = (n) => (inside === "source" && ask(), crypto.getRandomValues(new Uint8Array(n)));
      const first = await device.message(task, value, new curador.Source(fetch)).then(() => "sent");
      found.push({ told: [first, ...(await Promise.all(more))], spent: device.spent });
    }
    return found;
  },

  /** A state as a page makes it in which another script has put names into every object. */
  polluted({ names }) {
    for (const name of names) Object.prototype[name] = true;
    try {
      return [new curador.Device("9", () => {}), new curador.Device("9", () => {}, {})].map((one) => one.toJSON());
    } finally {
      for (const name of names) delete Object.prototype[name];
    }
  },

  /** A message while nothing can be saved, and one after it. */
  async unsaved({ document, value }) {
    const device = new curador.Device("9", async () => {
      throw new Error("full");
    });
    const task = curador.readTask(document);
    const told = [];
    for (let i = 0; i < 2; i++) told.push(await device.message(task, value).then(() => "sent", (error) => error.message));
    return { told, spent: device.spent };
  },
};

async function main() {
  let text = "";
  for await (const piece of process.stdin) text += piece;
  const results = [];
  for (const job of JSON.parse(text)) results.push(await jobs[job.do](job));
  process.stdout.write(JSON.stringify(results));
}

main();
