/* Curador on a device: read a task, check that it keeps its epsilon, and answer it.  One file, no dependencies.
 *
 * A script in a page or an ES module finds everything in `globalThis.curador`; Node's `require` gives it too.  Every
 * random decision is made in integers from `crypto.getRandomValues`; docs/reference/wire.md states the format, and
 * which bytes are read in which order.  The program equals curador_device.py, which gives the reasons.
 *
 *     const task = curador.readTask(await (await fetch("task.json")).json());
 *     const sent = JSON.stringify(curador.message(task, "tea"));
 */
(function () {
  "use strict";

  const VERSION = 1;
  const LEVELS = 2 ** 16; // steps between the bounds of a number
  const WIDE = 2 ** 32; // thresholds without a field "bits" have 32 of them
  const PRECISION = 192n; // bits after the point when e**epsilon is bounded from below
  const ENOUGH = 64n; // no threshold of 32 bits makes a ratio of e**64
  const DIGITS = 40; // of a fraction's numerator and denominator, each
  const REPORT_MOST = 2 ** 16; // bytes
  const KEPT_MOST = 2 ** 12; // bits
  const LISTED_MOST = 2 ** 16; // keys
  const TABLE_MOST = 2 ** 28; // numbers that a collector counts
  const NAMES_MOST = 2 ** 10; // attributes of a record
  const LABEL_MOST = 2 ** 8; // bytes of a name, a period or a segment
  const PERIODS_MOST = 2 ** 12; // of one task that remembers
  const LABELS = ["name", "period", "segment"];
  const FETCH = 64; // bytes are asked for in at least this many
  const PLANES = 12; // and for many coins in about as many planes as they usually need
  const NUMERAL_MOST = 64; // characters of a number that is given as text
  const NUMERAL = /^[ \t\n\f\r]*([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)[ \t\n\f\r]*$/;
  const FINEST = 2n ** 40n; // bounds are at least this part of their size apart: doubles separate its steps

  /** A refusal of a task, or of a report that would cost too much: never because of a value. */
  class Refused extends Error {
    constructor(what) {
      super(what);
      this.name = "Refused";
    }
  }

  function must(holds, what) {
    if (!holds) throw new Refused(what);
  }

  // ---- random decisions ---------------------------------------------------------------------------------------------

  function systemBytes(n) {
    must(globalThis.crypto && crypto.getRandomValues, "crypto.getRandomValues is missing here.");
    const bytes = new Uint8Array(n);
    for (let i = 0; i < n; i += 65536) crypto.getRandomValues(bytes.subarray(i, i + 65536));
    return bytes;
  }

  /** Random decisions with exact laws; `fetch(n)` returns n fair random bytes.  Make one for each report. */
  class Source {
    constructor(fetch = systemBytes) {
      this.fetch = fetch;
      this.bytes = new Uint8Array(0);
      this.at = 0;
    }

    more(wanted) {
      const fetched = this.fetch(wanted);
      const right = fetched instanceof Uint8Array && fetched.length === wanted;
      must(right, "The source did not give the bytes that it was asked for.");
      const left = this.bytes.subarray(this.at);
      this.bytes = fetched;
      if (left.length) {
        this.bytes = new Uint8Array(left.length + wanted);
        this.bytes.set(left);
        this.bytes.set(fetched, left.length);
      }
      this.at = 0;
    }

    byte() {
      if (this.at === this.bytes.length) this.more(FETCH);
      return this.bytes[this.at++];
    }

    /** The next `n` bytes, at most six, as one integer, the highest first. */
    take(n) {
      let x = 0;
      for (let i = 0; i < n; i++) x = x * 256 + this.byte();
      return x;
    }

    /** Draw `n` independent coins as packed bits, each 1 with probability threshold / 2**bits.
     *
     * Each coin compares a uniform number with the threshold.  All coins do so at once, one binary digit after another
     * from the highest.  The digits of all numbers at one position are a plane of n bits, in ⌈n/8⌉ bytes.  Drawing ends
     * when no number ties.
     */
    coins(threshold, bits, n) {
      const size = Math.ceil(n / 8);
      const tied = new Uint8Array(size).fill(255);
      tied[size - 1] = 255 << (8 * size - n);
      if (threshold >= 2 ** bits) return tied;
      if (this.bytes.length - this.at < size * PLANES) this.more(Math.max(size * PLANES, FETCH));
      const ones = new Uint8Array(size);
      for (let left = 1; left && threshold; ) {
        const unit = 2 ** --bits;
        const below = threshold >= unit; // where a 0 is below; elsewhere a 1 is above
        if (below) threshold -= unit;
        left = 0;
        for (let i = 0; i < size; i++) {
          const high = tied[i] & this.byte();
          if (below) {
            ones[i] |= tied[i] ^ high;
            tied[i] = high;
          } else {
            tied[i] ^= high;
          }
          left |= tied[i];
        }
      }
      return ones;
    }

    /** Draw a bit, 1 with probability threshold / 2**bits; its lower half is drawn only if the upper half ties. */
    coin(threshold, bits) {
      if (threshold >= 2 ** bits) return true;
      const half = 2 ** (bits / 2);
      const high = Math.floor(threshold / half);
      const low = threshold % half;
      const first = this.take(bits / 16);
      return first < high || (first === high && low > 0 && this.take(bits / 16) < low);
    }

    /** Draw a uniform integer below `n`, n up to 2**32; a draw out of range is discarded whole. */
    uniform(n) {
      const bits = n > 1 ? 32 - Math.clz32(n - 1) : 0;
      for (;;) {
        const drawn = this.take((bits + 7) >> 3) % 2 ** bits;
        if (drawn < n) return drawn;
      }
    }

    /** Draw a uniform BigInt of any size, from the same bytes as `uniform`. */
    bigUniform(n) {
      const bits = n > 1n ? (n - 1n).toString(2).length : 0;
      for (;;) {
        let drawn = 0n;
        for (let i = 0; i < bits; i += 8) drawn = (drawn << 8n) | BigInt(this.byte());
        drawn = BigInt.asUintN(bits, drawn);
        if (drawn < n) return drawn;
      }
    }

    /** Draw a uniform set of `chosen` integers below `of`, in rising order, by Floyd's algorithm. */
    subset(chosen, of) {
      const found = new Set();
      for (let top = of - chosen; top < of; top++) {
        const drawn = this.uniform(top + 1);
        found.add(found.has(drawn) ? top : drawn);
      }
      return [...found].sort((a, b) => a - b);
    }

    /** Draw a bit that is 1 with probability n/d, of BigInts. */
    chance(n, d) {
      return this.bigUniform(d) < n;
    }

    /** Draw a bit, 1 with probability exp(-n/d), for 0 <= n <= d: if a run of coins n/d, n/2d, ... is even. */
    expCoin(n, d) {
      let k = 1n;
      while (this.chance(n, d * k)) k += 1n;
      return k % 2n === 1n;
    }

    /** Draw an integer x with probability proportional to exp(-|x| s / t) [Canonne, Kamath, Steinke 2020]. */
    laplace(t, s) {
      for (;;) {
        const u = this.bigUniform(t);
        if (!this.expCoin(u, t)) continue;
        let v = 0n;
        while (this.expCoin(1n, 1n)) v += 1n;
        const size = (u + t * v) / s;
        const minus = this.uniform(2);
        if (size || !minus) return minus ? -size : size; // zero must not be drawn in two ways
      }
    }

    /** Round `fine` / 2**16 to one of the two next steps, right on average.  Rounding precedes the noise. */
    level(fine) {
      return Math.floor(fine / 65536) + Number(this.coin(fine % 65536, 16));
    }
  }

  // ---- the parts of a document --------------------------------------------------------------------------------------

  const isObject = (x) => typeof x === "object" && x !== null && !Array.isArray(x);
  const sameNames = (x, names) =>
    Object.keys(x).length === names.length && names.every((name) => Object.hasOwn(x, name));
  const isKey = (x) => typeof x === "string" || Number.isSafeInteger(x);
  const abs = (x) => (x < 0n ? -x : x);
  const least = (x, y) => (x < y ? x : y);

  function gcd(a, b) {
    while (b) [a, b] = [b, a % b];
    return abs(a);
  }

  /** A fraction: an integer over a positive one, in lowest terms, of BigInts. */
  class Fraction {
    constructor(n, d = 1n) {
      const common = gcd(n, d);
      this.n = n / common;
      this.d = d / common;
    }
    plus(other) {
      // The common factor of the denominators comes out first, so that nothing larger than the sum is divided.
      const common = gcd(this.d, other.d);
      const [mine, theirs] = [this.d / common, other.d / common];
      const n = this.n * theirs + other.n * mine;
      const left = gcd(n, common);
      const sum = Object.create(Fraction.prototype);
      return Object.assign(sum, { n: n / left, d: mine * (other.d / left) });
    }
    minus(other) {
      return this.plus(new Fraction(-other.n, other.d));
    }
    compare(other) {
      const difference = this.n * other.d - other.n * this.d;
      return difference < 0n ? -1 : difference > 0n ? 1 : 0;
    }
    toString() {
      return this.d === 1n ? `${this.n}` : `${this.n}/${this.d}`;
    }
  }

  function whole(x, name) {
    must(Number.isSafeInteger(x), `${name} is not an integer that all devices can read.`);
    return x;
  }

  function fraction(x, name) {
    const number = `[1-9][0-9]{0,${DIGITS - 1}}`;
    const found = typeof x === "string" ? new RegExp(`^(0|-?${number})(?:/(${number}))?$`).exec(x) : null;
    must(found, `${name} is not a fraction such as "1" or "1/2", of ${DIGITS} digits each at most.`);
    const [n, d] = [BigInt(found[1]), BigInt(found[2] || 1)];
    must(gcd(n, d) === 1n && found[2] !== "1", `${name} is not in lowest terms.`);
    return new Fraction(n, d);
  }

  function keys(x, name) {
    if (!Array.isArray(x)) return whole(x, name);
    must(x.length <= LISTED_MOST, `More than ${LISTED_MOST} keys are listed.`);
    const found = new Map(x.map((key, i) => [key, i]));
    must(x.every(isKey) && found.size === x.length, "Keys are different strings or integers.");
    return found;
  }

  function text(x, name) {
    must(typeof x === "string", `${name} is not a string.`);
    return x;
  }

  function label(x, name) {
    const size = typeof x === "string" ? utf8(x).length : 0;
    must(0 < size && size <= LABEL_MOST, `${name} is not a text of 1 to ${LABEL_MOST} bytes.`);
    return x;
  }

  const any = (x) => x;

  /** Prove n/d <= e**epsilon by a partial sum of the series, every term rounded down; else return false. */
  function keeps(n, d, epsilon) {
    const x = epsilon.n > ENOUGH * epsilon.d ? new Fraction(ENOUGH) : epsilon;
    let term = 1n << PRECISION;
    let total = term;
    for (let k = 1n; term; k++) {
      term = (term * x.n) / (x.d * k);
      total += term;
    }
    return n << PRECISION <= total * d;
  }

  /** The number of bytes of an integer below `n` in a report. */
  const bytesFor = (n) => (n <= 2 ** 8 ? 1 : n <= 2 ** 16 ? 2 : 4);

  /** Encode integers in `size` bytes each, the highest byte first. */
  function words(numbers, size) {
    const bytes = [];
    for (const x of numbers) for (let i = size - 1; i >= 0; i--) bytes.push(Math.floor(x / 256 ** i) % 256);
    return bytes;
  }

  /** Pack bits, the first as the highest of the first byte. */
  function packed(cells) {
    const bytes = new Array(Math.ceil(cells.length / 8)).fill(0);
    cells.forEach((cell, i) => {
      if (cell) bytes[i >> 3] |= 128 >> (i & 7);
    });
    return bytes;
  }

  function odd(x) {
    let ones = 0;
    for (; x; x &= x - 1) ones ^= 1;
    return ones;
  }

  /** Encode as UTF-8 and keep half a surrogate pair as it is, like Python's "surrogatepass". */
  function utf8(string) {
    const bytes = [];
    for (const character of string) {
      const c = character.codePointAt(0);
      if (c < 0x80) bytes.push(c);
      else if (c < 0x800) bytes.push(0xc0 | (c >> 6), 0x80 | (c & 63));
      else if (c < 0x10000) bytes.push(0xe0 | (c >> 12), 0x80 | ((c >> 6) & 63), 0x80 | (c & 63));
      else bytes.push(0xf0 | (c >> 18), 0x80 | ((c >> 12) & 63), 0x80 | ((c >> 6) & 63), 0x80 | (c & 63));
    }
    return bytes;
  }

  // The first 32 bits after the point of the roots of the first primes, as FIPS 180-4 has them; computed in integers.
  const [ROUNDS, START] = (function () {
    const primes = [];
    for (let n = 2; primes.length < 64; n++) if (primes.every((p) => n % p)) primes.push(n);
    const root = (n, power) => {
      let [low, high] = [0n, n];
      while (high - low > 1n) {
        const middle = (low + high) >> 1n;
        if (middle ** power <= n) low = middle;
        else high = middle;
      }
      return Number(BigInt.asIntN(32, low));
    };
    const cube = primes.map((p) => root(BigInt(p) << 96n, 3n));
    return [cube, primes.slice(0, 8).map((p) => root(BigInt(p) << 64n, 2n))];
  })();

  /** SHA-256 of bytes; the browser's own exists only in secure pages, and is asynchronous. */
  function sha256(message) {
    const bits = message.length * 8;
    const bytes = [...message, 0x80];
    while (bytes.length % 64 !== 56) bytes.push(0);
    bytes.push(...words([Math.floor(bits / 2 ** 32), bits % 2 ** 32], 4));
    const hash = [...START];
    const w = new Int32Array(64);
    const turn = (x, n) => (x >>> n) | (x << (32 - n));
    for (let at = 0; at < bytes.length; at += 64) {
      for (let i = 0; i < 16; i++) {
        const j = at + 4 * i;
        w[i] = (bytes[j] << 24) | (bytes[j + 1] << 16) | (bytes[j + 2] << 8) | bytes[j + 3];
      }
      for (let i = 16; i < 64; i++) {
        const s0 = turn(w[i - 15], 7) ^ turn(w[i - 15], 18) ^ (w[i - 15] >>> 3);
        const s1 = turn(w[i - 2], 17) ^ turn(w[i - 2], 19) ^ (w[i - 2] >>> 10);
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
      }
      let [a, b, c, d, e, f, g, h] = hash;
      for (let i = 0; i < 64; i++) {
        const t1 = h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + ROUNDS[i] + w[i];
        const t2 = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        [a, b, c, d, e, f, g, h] = [(t1 + t2) | 0, a, b, c, (d + t1) | 0, e, f, g];
      }
      [a, b, c, d, e, f, g, h].forEach((x, i) => (hash[i] = (hash[i] + x) | 0));
    }
    return words(hash.map((x) => x >>> 0), 4);
  }

  const hex = (bytes) => bytes.map((x) => x.toString(16).padStart(2, "0")).join("");
  const unhex = (digits) => digits.match(/../g).map((x) => parseInt(x, 16));

  /** Hash a key's code to a place of this row: the lowest bits of the first eight bytes of a SHA-256. */
  function place(salt, row, code, places) {
    const bytes = sha256([...utf8(`${salt}\n${row}\n`), ...code]);
    return (bytes[5] * 65536 + bytes[6] * 256 + bytes[7]) % places; // a power of two, at most 2**24
  }

  /** The canonical text of a task: keys sorted, no spaces, everything beyond ASCII escaped. */
  function canonical(x) {
    if (typeof x === "string") {
      const escape = (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`;
      return JSON.stringify(x).replace(/[\u007f-\uffff]/g, escape);
    }
    if (Array.isArray(x)) return `[${x.map(canonical).join(",")}]`;
    if (!isObject(x)) return JSON.stringify(x);
    const items = Object.keys(x).sort();
    return `{${items.map((name) => `${canonical(name)}:${canonical(x[name])}`).join(",")}}`;
  }

  // ---- values -------------------------------------------------------------------------------------------------------
  // A person may have any value, and anyone may write a task.  Every value makes one report: a device that refused some
  // values would reveal them by its silence, at no cost.

  /** Read a part of a value; undefined if that runs code which fails, as a getter or a proxy may. */
  function looked(look) {
    try {
      return look();
    } catch {
      return undefined;
    }
  }

  /** Convert either kind of number, or decimals in a short text; null for NaN, truth values and the rest. */
  function numberOf(value) {
    if (typeof value === "bigint") return value;
    if (typeof value === "number") return Number.isNaN(value) ? null : value;
    const found = typeof value === "string" && value.length <= NUMERAL_MOST ? NUMERAL.exec(value) : null;
    return found ? Number(found[1]) : null;
  }

  /** The value as a BigInt if it is an integer, such as 1 or 1.0, between -2**63 and 2**63. */
  function integerOf(value) {
    const number = numberOf(value);
    const integer = typeof number === "bigint" || Number.isInteger(number) ? BigInt(number) : null;
    return integer !== null && abs(integer) < 1n << 63n ? integer : null;
  }

  /** Encode a string or an integer between -2**63 and 2**63; everything else counts as the empty string. */
  function keyCode(value) {
    if (typeof value === "string") return utf8(`s${value}`);
    const integer = integerOf(value);
    return utf8(integer === null ? "s" : `i${integer}`);
  }

  const double = ({ n, d }) => Number(n) / Number(d);
  const description = (counts_as, note = "") => ({ counts_as, note });

  // ---- the mechanisms -----------------------------------------------------------------------------------------------

  /** A question that was read and proved to keep its epsilon; `readTask` makes it. */
  class Task {
    static fields = { epsilon: fraction };

    constructor(body) {
      for (const [name, read] of Object.entries(this.constructor.fields)) this[name] = read(body[name], name);
      const { n, d } = this.epsilon;
      must(d <= n << 30n && n <= d << 10n, "epsilon is not from 2**-30 to 1024.");
      this.remembers = false;
      this.check();
      must(this.reportBytes <= REPORT_MOST, `Reports on this task would have more than ${REPORT_MOST} bytes.`);
    }

    between(first, last, ...names) {
      for (const name of names)
        must(first <= this[name] && this[name] <= last, `${name} is not from ${first} to ${last}.`);
    }

    /** Refuse unless (n/d)**times keeps epsilon; n/d is the largest ratio only if it is above 1. */
    promise(n, d, times = 1) {
      must(n > d, "These reports would say nothing.");
      const each = new Fraction(this.epsilon.n, this.epsilon.d * BigInt(times));
      must(keeps(n, d, each), `This task's thresholds do not keep epsilon = ${this.epsilon}.`);
    }

    /** Refuse unless an answer that is true for `threshold` of `unit` draws keeps epsilon. */
    truePromise(threshold, unit, times = 1) {
      this.promise(BigInt(threshold), BigInt(unit - threshold), times);
    }
  }

  /** A task about keys that are listed, or numbered from 0. */
  class Keyed extends Task {
    static fields = { ...Task.fields, keys, rest: any, bits: whole };

    check() {
      this.size = this.keys instanceof Map ? this.keys.size : this.keys;
      must(2 <= this.size && this.size <= 2 ** 24, "There are not 2 to 2**24 keys.");
      must(this.bits === 16 || this.bits === 32, "bits is not 16 or 32.");
      this.unit = 2 ** this.bits;
      this.reportBytes = bytesFor(this.size);
      const found = isKey(this.rest) ? this.listed(this.rest) : null;
      must(this.rest === null || found !== null, "rest is none of the keys.");
      this.otherNumber = found ?? 0; // without a rest the first key, as numbers are clamped to their bounds
    }

    listed(key) {
      if (this.keys instanceof Map) return this.keys.get(key) ?? null;
      return Number.isInteger(key) && 0 <= key && key < this.size ? key + 0 : null; // -0 is 0
    }

    number(value) {
      const found = typeof value === "string" || typeof value === "number" ? this.listed(value) : null;
      if (found !== null) return found;
      const integer = integerOf(value); // a text may be that of an integer key
      return integer !== null && Number.isSafeInteger(Number(integer)) ? this.listed(Number(integer)) : null;
    }

    seen(value) {
      return this.number(value) ?? this.otherNumber;
    }

    describe(value) {
      const own = this.seen(value);
      const key = this.keys instanceof Map ? [...this.keys.keys()][own] : own;
      return description(key, this.number(value) === null ? "It is not among the keys." : "");
    }

    keepOrRedraw(own, keep, size, source) {
      const other = source.uniform(size); // drawn in any case
      return source.coin(keep, this.bits) ? own : other;
    }

    keepPromise(keep, size, times = 1) {
      this.promise(BigInt(this.unit) + BigInt(keep) * BigInt(size - 1), BigInt(this.unit - keep), times);
    }
  }

  class Krr extends Keyed {
    static fields = { ...Keyed.fields, keep: whole };

    check() {
      super.check();
      this.between(1, this.unit - 1, "keep");
      this.keepPromise(this.keep, this.size);
    }

    draw(own, source) {
      return words([this.keepOrRedraw(own, this.keep, this.size, source)], this.reportBytes);
    }
  }

  class Unary extends Keyed {
    static fields = { ...Keyed.fields, own: whole, other: whole };

    check() {
      super.check();
      this.between(1, this.unit - 1, "own", "other");
      const [own, other, unit] = [this.own, this.other, this.unit].map(BigInt);
      this.promise(own * (unit - other), other * (unit - own));
      this.reportBytes = Math.ceil(this.size / 8);
    }

    draw(own, source) {
      const cells = source.coins(this.other, this.bits, this.size);
      const place = 128 >> (own & 7);
      cells[own >> 3] |= place;
      if (!source.coin(this.own, this.bits)) cells[own >> 3] ^= place;
      return cells;
    }
  }

  class Olh extends Keyed {
    static fields = { ...Keyed.fields, keep: whole, hash_bits: whole };

    check() {
      super.check();
      this.between(1, this.unit - 1, "keep");
      this.between(1, 8, "hash_bits");
      this.keepPromise(this.keep, 2 ** this.hash_bits);
      this.masks = 2 ** (32 - Math.clz32(this.size - 1));
      this.word = bytesFor(Math.max(this.masks, 2 ** this.hash_bits));
      this.reportBytes = this.word * (this.hash_bits + 1);
    }

    draw(own, source) {
      return words(this.hashed(own, source), this.word);
    }

    /** Draw the masks of a hash function, and the answer. */
    hashed(own, source) {
      const masks = [];
      for (let j = 0; j < this.hash_bits; j++) masks.push(source.uniform(this.masks));
      const answer = masks.reduce((sum, mask, j) => sum + (odd(mask & own) << j), 0);
      return [...masks, this.keepOrRedraw(answer, this.keep, 2 ** this.hash_bits, source)];
    }
  }

  class Hadamard extends Keyed {
    static fields = { ...Keyed.fields, true: whole };

    check() {
      super.check();
      this.between(1, this.unit - 1, "true");
      this.truePromise(this.true, this.unit);
      this.order = 2 ** (32 - Math.clz32(this.size));
      this.reportBytes = bytesFor(this.order);
    }

    draw(own, source) {
      const row = own + 1;
      let column = source.uniform(this.order);
      // Flipping the lowest bit of the row pairs each column of one sign with one of the other.
      if (source.coin(this.true, this.bits) === Boolean(odd(row & column))) column ^= row & -row;
      return words([column], this.reportBytes);
    }
  }

  class Subset extends Keyed {
    static fields = { ...Keyed.fields, chosen: whole, inside: whole };

    check() {
      super.check();
      this.between(1, this.unit - 1, "inside");
      this.between(1, this.size - 1, "chosen");
      const [inside, chosen, unit, size] = [this.inside, this.chosen, this.unit, this.size].map(BigInt);
      this.promise(inside * (size - chosen), (unit - inside) * chosen);
      this.reportBytes = Math.ceil(this.size / 8);
    }

    draw(own, source) {
      const withOwn = source.coin(this.inside, this.bits);
      const last = this.size - 1;
      const cells = new Array(this.size).fill(false);
      for (const other of source.subset(this.chosen - Number(withOwn), last))
        cells[other !== own ? other : last] = true; // the last key stands in for the own one
      cells[own] = withOwn;
      return packed(cells);
    }
  }

  class DBitFlip extends Keyed {
    static fields = { ...Keyed.fields, true: whole, sampled: whole };

    check() {
      super.check();
      this.between(1, this.unit - 1, "true");
      this.between(1, this.size, "sampled");
      this.truePromise(this.true, this.unit, Math.min(2, this.sampled));
      this.word = bytesFor(2 * this.size);
      this.reportBytes = this.word * this.sampled;
    }

    draw(own, source) {
      const asked = source.subset(this.sampled, this.size);
      const answers = asked.map((v) => 2 * v + Number((v === own) === source.coin(this.true, this.bits)));
      return words(answers, this.word);
    }
  }

  class Longitudinal extends Keyed {
    static fields = { ...Keyed.fields, keep: whole, again: whole, values: whole };

    check() {
      super.check();
      this.between(1, this.unit - 1, "keep", "again");
      this.between(1, 1024, "values");
      const bits = 2 * this.values * (32 - Math.clz32(this.size - 1));
      must(bits <= KEPT_MOST, `A device would have to remember more than ${KEPT_MOST} bits.`);
      this.keepPromise(this.keep, this.size, this.values);
      this.remembers = true;
    }

    draw(own, source) {
      return this.reportOn(this.remember(own, null, source), source);
    }

    /** Update the state after a value: a permanent answer for each of the first `values` values. */
    remember(own, kept, source) {
      let { met, answers, last } = kept || { met: [], answers: [], last: -1 };
      if (met.includes(own)) {
        last = met.indexOf(own);
      } else if (met.length < this.values) {
        // Later values repeat the last answer, since silence would reveal a change.
        answers = [...answers, this.keepOrRedraw(own, this.keep, this.size, source)];
        [met, last] = [[...met, own], met.length];
      }
      return { met, answers, last };
    }

    reportOn(kept, source) {
      return words([this.keepOrRedraw(kept.answers[kept.last], this.again, this.size, source)], this.reportBytes);
    }

    /** Check that `remember` can have made this state. */
    isKept(kept) {
      if (!isObject(kept) || !sameNames(kept, ["met", "answers", "last"])) return false;
      const { met, answers, last } = kept;
      if (!Array.isArray(met) || !Array.isArray(answers) || met.length !== answers.length) return false;
      const numbers = [...met, ...answers].every((x) => Number.isInteger(x) && 0 <= x && x < this.size);
      const sizes = new Set(met).size === met.length && met.length <= this.values;
      return numbers && sizes && Number.isInteger(last) && 0 <= last && last < met.length;
    }
  }

  /** A finite number as a fraction of BigInts. */
  function ratio(value) {
    let twos = 0n;
    for (; typeof value === "number" && !Number.isInteger(value); value *= 2) twos += 1n; // exact
    return [BigInt(value), 1n << twos];
  }

  /** A task about numbers between bounds. */
  class Bounded extends Task {
    static fields = { ...Task.fields, low: fraction, high: fraction };

    check() {
      must(this.low.compare(this.high) < 0, "low is not below high.");
      this.across = this.high.minus(this.low);
      const sizes = [this.low, this.high].map((x) => new Fraction(abs(x.n), x.d));
      const wide = new Fraction(this.across.n * FINEST, this.across.d);
      const apart = sizes.every((size) => size.compare(wide) <= 0);
      must(apart, "Doubles do not tell the values between low and high apart.");
    }

    seen(value) {
      const [n, d] = this.share(value, LEVELS * 65536);
      return Number((2n * n + d) / (2n * d)); // to the nearest; halves go up
    }

    describe(value) {
      const number = numberOf(value);
      if (number === null) return description(double(this.low), "It is not a number.");
      const [n, d] = Number.isFinite(number) || typeof number === "bigint" ? ratio(number) : [number > 0 ? 1n : -1n, 0n]; // infinite
      if (n * this.low.d < this.low.n * d) return description(double(this.low), "It is beyond the bounds.");
      if (n * this.high.d > this.high.n * d) return description(double(this.high), "It is beyond the bounds.");
      return description(Number(number));
    }

    /** The value's distance above low as a fraction of `steps`, clamped: exact, so the same in every language. */
    share(given, steps) {
      const value = numberOf(given);
      if (value === null) return [0n, 1n]; // it counts as low
      if (value === Infinity || value === -Infinity) return [value > 0 ? BigInt(steps) : 0n, 1n];
      const [n, d] = ratio(value);
      const above = (n * this.low.d - this.low.n * d) * this.across.d;
      const width = this.across.n * this.low.d * d;
      const held = above < 0n ? 0n : least(above, width);
      return [held * BigInt(steps), width];
    }
  }

  class Laplace extends Bounded {
    check() {
      super.check();
      this.scale = new Fraction(BigInt(LEVELS) * this.epsilon.d, this.epsilon.n); // at most 2**46
      this.beyond = 64n * ((this.scale.n + this.scale.d - 1n) / this.scale.d);
      this.reportBytes = 8;
    }

    draw(own, source) {
      const noisy = BigInt(source.level(own)) + source.laplace(this.scale.n, this.scale.d);
      // The collector accepts no noise from farther, where it ends once in e**64 reports.
      const held = noisy < 0n ? -least(-noisy, this.beyond) : least(noisy, BigInt(LEVELS) + this.beyond);
      const bits = BigInt.asUintN(64, held);
      return words([Number(bits >> 32n), Number(bits & 0xffffffffn)], 4);
    }
  }

  function duchiBit(level, slope, source) {
    const [lean, own, fair] = [source.coin(slope, 16), source.coin(level, 16), source.coin(2 ** 15, 16)];
    return Number(lean ? own : fair);
  }

  class Duchi extends Bounded {
    static fields = { ...Bounded.fields, slope: whole };

    check() {
      super.check();
      this.between(1, LEVELS - 1, "slope");
      this.promise(BigInt(LEVELS + this.slope), BigInt(LEVELS - this.slope));
      this.reportBytes = 1;
    }

    draw(own, source) {
      return [duchiBit(source.level(own), this.slope, source)];
    }
  }

  /** A task whose reports are cells, usually of a window that moves with the value. */
  class Windowed extends Bounded {
    static fields = { ...Bounded.fields, window: whole, inside: whole };

    checkWindow(widest, outside) {
      this.between(1, widest, "window");
      this.between(1, WIDE - 1, "inside");
      const [inside, window] = [BigInt(this.inside), BigInt(this.window)];
      this.promise(inside * BigInt(outside), (BigInt(WIDE) - inside) * window);
      this.outside = outside;
      this.reportBytes = bytesFor(outside + this.window);
    }

    cell(start, source) {
      const near = start + source.uniform(this.window);
      const far = source.uniform(this.outside);
      return source.coin(this.inside, 32) ? near : far + (far >= start ? this.window : 0); // past the window
    }
  }

  class Piecewise extends Windowed {
    check() {
      super.check();
      this.checkWindow(LEVELS - 1, LEVELS);
    }

    draw(own, source) {
      return words([this.cell(source.level(own), source)], this.reportBytes);
    }
  }

  class Hybrid extends Piecewise {
    static fields = { ...Piecewise.fields, slope: whole, mix: whole };

    check() {
      Duchi.prototype.check.call(this);
      super.check();
      this.between(0, WIDE - 1, "mix");
      this.reportBytes = bytesFor(this.mix ? LEVELS + this.window + 2 : 2);
    }

    draw(own, source) {
      const level = source.level(own);
      let report = duchiBit(level, this.slope, source);
      if (this.mix) {
        const cell = this.cell(level, source) + 2;
        report = source.coin(this.mix, 32) ? cell : report;
      }
      return words([report], this.reportBytes);
    }
  }

  class SquareWave extends Windowed {
    static fields = { ...Windowed.fields, buckets: whole };

    check() {
      super.check();
      this.between(2, 2 ** 16, "buckets");
      this.checkWindow(this.buckets, this.buckets - 1);
    }

    seen(value) {
      const [n, d] = this.share(value, this.buckets);
      return Math.min(Number(n / d), this.buckets - 1);
    }

    draw(own, source) {
      return words([this.cell(own, source)], this.reportBytes);
    }
  }

  class DuchiVector extends Bounded {
    static fields = { ...Bounded.fields, dimension: whole, true: whole };

    check() {
      super.check();
      this.between(1, 2 ** 16, "dimension");
      this.between(1, WIDE - 1, "true");
      this.truePromise(this.true, WIDE);
      this.reportBytes = Math.ceil(this.dimension / 8);
    }

    seen(value) {
      return this.given(value).map((x) => super.seen(x));
    }

    describe(value) {
      const each = this.given(value).map((x) => super.describe(x));
      const odd = each.filter((one) => one.note).length;
      const note = `${odd} of its coordinates are no numbers, or beyond the bounds.`;
      return description(each.map((one) => one.counts_as), odd ? note : "");
    }

    given(value) {
      const given = looked(() => Array.isArray(value) || ArrayBuffer.isView(value)) ? value : [];
      return Array.from({ length: this.dimension }, (_, i) => looked(() => given[i]));
    }

    draw(own, source) {
      const corner = own.map((x) => source.coin(source.level(x), 16));
      const drawn = own.map(() => source.coin(2 ** 15, 16));
      const lean = 2 * drawn.filter((bit, i) => bit === corner[i]).length - own.length;
      const wrong = source.coin(this.true, 32) ? lean < 0 : lean > 0;
      return packed(drawn.map((bit) => bit !== wrong));
    }
  }

  /** A task about strings or integers without a list of them. */
  class Hashed extends Task {
    static fields = { ...Task.fields, true: whole };

    seen(value) {
      return keyCode(value);
    }

    describe(value) {
      if (typeof value === "string") return description(value);
      const integer = integerOf(value);
      if (integer === null) return description("", "It is neither a string nor an integer.");
      return description(Number.isSafeInteger(Number(integer)) ? Number(integer) : integer);
    }

    checkPlaces(name, most, times) {
      const places = this[name];
      const power = 2 <= places && places <= most && !(places & (places - 1));
      must(power, `${name} is not a power of two from 2 to ${most}.`);
      this.between(1, WIDE - 1, "true");
      this.truePromise(this.true, WIDE, times);
      this.reportBytes = 2 + Math.ceil(places / 8);
    }
  }

  class Rappor extends Hashed {
    static fields = { ...Hashed.fields, bloom: whole, hashes: whole, cohorts: whole, high: whole, low: whole };

    check() {
      this.between(1, 16, "hashes");
      this.between(1, 2 ** 16, "cohorts");
      this.between(1, WIDE - 1, "high", "low");
      must(this.low < this.high, "These reports would say nothing.");
      this.checkPlaces("bloom", KEPT_MOST, 2 * this.hashes);
      this.remembers = true;
      this.values = 1;
    }

    draw(own, source) {
      return this.reportOn(this.remember(own, null, source), source);
    }

    /** Return the state of the first value; later values do not change it, and every report is made from it. */
    remember(own, kept, source) {
      if (kept) return kept;
      const cohort = source.uniform(this.cohorts);
      const mine = new Set();
      for (let j = 0; j < this.hashes; j++) mine.add(place(this.series, cohort * this.hashes + j, own, this.bloom));
      const cells = flips(source, this.true, this.bloom);
      for (const place of mine) cells[place >> 3] ^= 128 >> (place & 7);
      return { row: hex([...words([cohort], 2), ...cells]) };
    }

    reportOn(kept, source) {
      const row = unhex(kept.row);
      const [high, low] = [this.high, this.low].map((threshold) => source.coins(threshold, 32, this.bloom));
      return row.map((ones, i) => (i < 2 ? ones : low[i - 2] ^ (ones & (low[i - 2] ^ high[i - 2]))));
    }

    /** Check that `remember` can have made this state. */
    isKept(kept) {
      if (!isObject(kept) || !sameNames(kept, ["row"]) || typeof kept.row !== "string") return false;
      if (kept.row.length !== 2 * this.reportBytes || !/^[0-9a-f]+$/.test(kept.row)) return false;
      const spare = this.bloom < 8 ? 8 - this.bloom : 0;
      const clean = !(parseInt(kept.row.slice(-2), 16) & (2 ** spare - 1));
      return clean && parseInt(kept.row.slice(0, 4), 16) < this.cohorts;
    }
  }

  /** Draw the flipped bits among `n`, packed; each is kept with probability threshold / 2**32. */
  function flips(source, threshold, n) {
    const kept = source.coins(threshold, 32, n);
    return kept.map((x, i) => ~x & (i === kept.length - 1 ? 255 << (8 * kept.length - n) : 255));
  }

  class CountMean extends Hashed {
    static fields = { ...Hashed.fields, rows: whole, places: whole };

    check() {
      this.between(1, 2 ** 16, "rows");
      this.checkPlaces("places", 2 ** 24, 2);
      must(this.rows * this.places <= TABLE_MOST, "rows and places are too many to count.");
    }

    draw(own, source) {
      const row = source.uniform(this.rows);
      const mine = place(this.series, row, own, this.places);
      const cells = flips(source, this.true, this.places);
      cells[mine >> 3] ^= 128 >> (mine & 7);
      return [...words([row], 2), ...cells];
    }
  }

  class HadamardCountMean extends Hashed {
    static fields = CountMean.fields;

    check() {
      this.between(1, 2 ** 16, "rows");
      this.checkPlaces("places", 2 ** 24, 1);
      must(this.rows * this.places <= TABLE_MOST, "rows and places are too many to count.");
      this.word = bytesFor(Math.max(this.rows, this.places));
      this.reportBytes = 3 * this.word;
    }

    draw(own, source) {
      const row = source.uniform(this.rows);
      const column = source.uniform(this.places);
      const minus = odd(column & place(this.series, row, own, this.places));
      return words([row, column, Number(source.coin(this.true, 32) !== Boolean(minus))], this.word);
    }
  }

  class HeavyHitters extends Task {
    static fields = {
      ...Task.fields,
      ...{ kind: text, length: whole, last: whole },
      ...{ rows: whole, places: whole, hash_bits: whole, keep: whole },
    };

    check() {
      must(this.kind === "text" || this.kind === "integers", "kind is not text or integers.");
      this.between(1, 64, "length", "last");
      this.between(2, 2 ** 16 - 1, "places");
      let prime = true;
      for (let i = 2; i * i <= this.places; i++) prime &&= this.places % i !== 0;
      must(prime, "places is not prime.");
      this.between(1, this.places, "rows");
      const oracle = { keys: this.places, rest: null, bits: 32, hash_bits: this.hash_bits, keep: this.keep };
      this.oracle = Object.freeze(new Olh({ epsilon: `${this.epsilon}`, ...oracle }));
      this.first = Math.min(2, this.length);
      this.levels = this.length - this.first + 1;
      const table = this.levels * (1 + this.rows * this.oracle.masks); // the numbers that a collector counts
      must(table <= TABLE_MOST, "rows and places are too many to count.");
      this.word = bytesFor(Math.max(this.levels, this.rows, this.oracle.masks, 2 ** this.hash_bits));
      this.reportBytes = this.word * (this.hash_bits + 3);
    }

    describe(value) {
      const code = this.seen(value);
      if (this.kind === "text") {
        const text = typeof value === "string" ? value : "";
        const note = typeof value === "string" ? "" : "It is not a text.";
        const end = code.findIndex((byte) => byte >= 0xfe);
        const exact = new TextDecoder("utf-8", { ignoreBOM: true }); // a mark is part of the text
        const kept = exact.decode(Uint8Array.from(end < 0 ? code : code.slice(0, end)));
        const changed = text === kept ? "" : "Half a character is replaced.";
        return description(kept, code[end] === 0xfe ? "It is cut." : note || changed);
      }
      const number = numberOf(value);
      const held = BigInt(`0x${hex(code)}`) - (1n << BigInt(8 * this.length - 1));
      const shown = Number.isSafeInteger(Number(held)) ? Number(held) : held;
      return description(shown, number === null ? "It is not a number." : number == held ? "" : "It is cut.");
    }

    seen(value) {
      if (this.kind === "text") return textCode(typeof value === "string" ? value : "", this.length);
      const half = 1n << BigInt(8 * this.length - 1);
      const number = numberOf(value) ?? 0;
      const beyond = number < -half ? -half : number >= half ? half - 1n : null;
      const held = beyond ?? BigInt(typeof number === "number" ? Math.trunc(number) : number); // towards 0
      return unhex((held + half).toString(16).padStart(2 * this.length, "0"));
    }

    draw(own, source) {
      const level = Math.min(source.uniform(this.levels - 1 + this.last), this.levels - 1);
      const row = source.uniform(this.rows);
      const bytes = sha256([...utf8(`${this.series}\n`), ...own.slice(0, this.first + level)]);
      const word = (i) => bytes.slice(i, i + 4).reduce((x, byte) => x * 256 + byte, 0) % this.places;
      const place = (word(0) + word(4) * row + word(8) * row * row) % this.places; // below 2**49 before
      return words([level, row, ...this.oracle.hashed(place, source)], this.word);
    }
  }

  /** Encode a string in `length` bytes: its UTF-8, padded with FF.
   *
   * A longer one is cut to the characters that fit, then FE and FF.
   */
  function textCode(value, length) {
    const code = utf8(value.replace(/\p{Surrogate}/gu, "\ufffd")); // half a pair, as TextEncoder has it
    if (code.length > length) {
      let end = length - 1;
      while ((code[end] & 0xc0) === 0x80) end--; // whole characters only
      code.splice(end, Infinity, 0xfe);
    }
    while (code.length < length) code.push(0xff);
    return code;
  }

  const given = (value, name) =>
    looked(() => (isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined));

  class Record extends Task {
    static fields = { ...Task.fields, names: any, parts: any, sampled: whole };

    check() {
      const listed = Array.isArray(this.names) && Array.isArray(this.parts);
      const paired = listed && 0 < this.names.length && this.names.length === this.parts.length;
      must(paired, "A record has one part for each name.");
      must(this.names.length <= NAMES_MOST, `A record has more than ${NAMES_MOST} attributes.`);
      const texts = this.names.every((name) => typeof name === "string");
      const unlike = new Set(this.names).size === this.names.length;
      must(texts && unlike, "A record's names are not different strings.");
      this.between(1, this.names.length, "sampled");
      this.each = this.parts.map((part) => Object.freeze(read(part, PARTS)));
      const most = this.each.map((part) => part.epsilon).sort((a, b) => b.compare(a));
      const sum = most.slice(0, this.sampled).reduce((a, b) => a.plus(b));
      must(sum.compare(this.epsilon) <= 0, `This record's parts do not keep epsilon = ${this.epsilon}.`);
      this.slot = 2 + this.each.reduce((most, part) => Math.max(most, part.reportBytes), 0);
      this.reportBytes = this.sampled * this.slot;
    }

    seen(value) {
      return this.each.map((part, j) => part.seen(given(value, this.names[j])));
    }

    describe(value) {
      const each = this.each.map((part, j) => [this.names[j], part.describe(given(value, this.names[j]))]);
      return description(Object.fromEntries(each), looked(() => isObject(value)) ? "" : "It is not a record.");
    }

    draw(own, source) {
      const report = [];
      for (const j of source.subset(this.sampled, this.names.length)) {
        const mine = [...words([j], 2), ...this.each[j].draw(own[j], source)];
        for (let i = 0; i < this.slot; i++) report.push(mine[i] ?? 0);
      }
      return report;
    }
  }

  const PARTS = new Map([
    ["krr", Krr],
    ["sue", Unary],
    ["oue", Unary],
    ["olh", Olh],
    ["hadamard", Hadamard],
    ["subset", Subset],
    ["duchi", Duchi],
    ["piecewise", Piecewise],
    ["hybrid", Hybrid],
  ]);
  const KINDS = new Map([
    ...PARTS,
    ["laplace", Laplace],
    ["duchi-vector", DuchiVector],
    ["record", Record],
    ["square-wave", SquareWave],
    ["dbitflip", DBitFlip],
    ["rappor", Rappor],
    ["count-mean", CountMean],
    ["hadamard-count-mean", HadamardCountMean],
    ["longitudinal", Longitudinal],
    ["heavy-hitters", HeavyHitters],
  ]);

  // ---- tasks and messages -------------------------------------------------------------------------------------------

  function read(body, kinds) {
    const kind = isObject(body) ? kinds.get(body.mechanism) : undefined;
    must(kind, "This task's mechanism is not known here.");
    const names = ["mechanism", ...Object.keys(kind.fields)];
    must(sameNames(body, names), `A ${body.mechanism} task has other fields.`);
    return new kind(body);
  }

  /** Read the task of a published document, refused if it was altered or does not keep its epsilon.
   *
   * Every value, of any type, makes a report, so that silence reveals nothing.  A value that is not a number counts as
   * low.  An unlisted value counts as the task's rest or, without a rest, as its first key.  Work and bytes are bounded.
   */
  function readTask(document) {
    const named = isObject(document) && sameNames(document, ["curador", "id", "task"]);
    must(named, "This is not a task.");
    must(document.curador === VERSION, "This task is of another version.");
    const body = document.task;
    const labelled = isObject(body) && LABELS.every((part) => Object.hasOwn(body, part));
    const own = (x) => Object.fromEntries(Object.entries(x).filter(([part]) => !LABELS.includes(part)));
    const task = read(labelled ? own(body) : body, KINDS);
    must(labelled, "This task has no name, period and segment.");
    task.name = label(body.name, "name");
    for (const part of ["period", "segment"]) task[part] = body[part] === null ? null : label(body[part], part);
    task.id = digestOf(body).slice(0, 32);
    must(document.id === task.id, "This task was altered after it was published.");
    // A task that remembers is one for all periods: they share the permanent answer, its cost and its hash functions.
    task.digest = digestOf(task.remembers ? { ...body, period: null } : body);
    task.series = task.digest.slice(0, 32);
    return Object.freeze(task);
  }

  const digestOf = (body) => hex(sha256(utf8(canonical(body))));

  /** For developers: what a value counts as on this task, with a note if that differs from the value.
   *
   * Nothing is drawn.  The result is the value itself, so it must never be sent.
   */
  function check(task, value) {
    return task.describe(value);
  }

  /** Draw a report on a value, as bytes. */
  function report(task, value, source = new Source()) {
    return Uint8Array.from(task.draw(task.seen(value), source));
  }

  /** Draw a message to send once.  A Device also counts the budget spent, and remembers answers. */
  function message(task, value, source = new Source()) {
    return toMessage(task, report(task, value, source), source);
  }

  function toMessage(task, bytes, source) {
    const token = [];
    for (let i = 0; i < 16; i++) token.push(source.byte());
    return { task: task.id, epsilon: `${task.epsilon}`, token: hex(token), report: base64(bytes) };
  }

  /** Encode bytes as text that may stand in an address, without padding. */
  function base64(bytes) {
    const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let written = "";
    for (let i = 0; i < bytes.length; i += 3) {
      const three = (bytes[i] << 16) | ((bytes[i + 1] || 0) << 8) | (bytes[i + 2] || 0);
      const size = Math.min(3, bytes.length - i) + 1;
      for (let j = 0; j < size; j++) written += letters[(three >> (18 - 6 * j)) & 63];
    }
    return written;
  }

  // ---- what a device keeps ------------------------------------------------------------------------------------------

  /** Add epsilons; round the sum up if its denominator would exceed 128 bits. */
  function sum(spent, epsilon) {
    const found = spent.plus(epsilon);
    if (found.d < 1n << 128n) return found;
    return new Fraction(((found.n << 64n) + found.d - 1n) / found.d, 1n << 64n);
  }

  /** A person's device: its answers, its remaining budget, and its permanent answers.
   *
   * `save` gets the state, a plain object, before any message is released; it may return a promise, and the next save
   * begins when that is settled.  If it fails, the report counts as spent although it is never released.  It must not
   * wait for an answer of the device that it saves.  Some tasks ask for more than one value of a person; their epsilon
   * does not cover a change of value.  They are answered only if `changes` is true.
   *
   * Whether a task is refused depends on the task and on earlier answers, never on the value.
   */
  class Device {
    #limit;
    #changes;
    #answered;
    #spent;
    #kept;
    #save;
    #saving = Promise.resolve();
    #busy = false; // while a value is read and its report drawn

    constructor(limit, save, options = {}) {
      const changes = Object.hasOwn(options, "changes") ? options.changes : false; // never a prototype's
      this.#begin({ curador: VERSION, limit: String(limit), changes, answered: [], kept: {} }, save);
    }

    /** Restore a device from a saved state; refuse anything else: a new device would spend the budget again. */
    static fromJSON(state, save) {
      const made = new Device(0, save);
      made.#begin(state, save);
      return made;
    }

    #begin(state, save) {
      if (typeof save !== "function") throw new TypeError("save is not a function.");
      const broken = "This is not a device's state.";
      must(isObject(state) && sameNames(state, ["curador", "limit", "changes", "answered", "kept"]), broken);
      must(state.curador === VERSION && typeof state.changes === "boolean", broken);
      must(Array.isArray(state.answered) && isObject(state.kept), broken);
      this.#limit = fraction(state.limit, "limit");
      this.#changes = state.changes;
      this.#answered = new Map();
      this.#spent = new Fraction(0n);
      for (const one of state.answered) {
        must(isObject(one) && sameNames(one, ["task", "digest", "epsilon", "periods"]), broken);
        const [digest, epsilon] = [text(one.digest, "digest"), fraction(one.epsilon, "epsilon")];
        must(/^[0-9a-f]{64}$/.test(digest) && one.task === digest.slice(0, 32) && epsilon.n > 0n, broken);
        const periods = one.periods;
        must(Array.isArray(periods) && periods.length <= PERIODS_MOST, broken);
        must(periods.every((x) => typeof x === "string") && new Set(periods).size === periods.length, broken);
        this.#charge(digest, epsilon, periods);
      }
      must(this.#answered.size === state.answered.length, broken);
      this.#kept = new Map(Object.entries(structuredClone(state.kept)));
      must([...this.#kept.keys()].every((name) => this.#answered.has(name)), broken);
      this.#save = save;
    }

    #charge(digest, epsilon, periods) {
      this.#answered.set(digest.slice(0, 32), { digest, epsilon, periods: [...periods] });
      this.#spent = sum(this.#spent, epsilon);
    }

    /** The epsilon of all answered tasks together, as text such as "3/2". */
    get spent() {
      return `${this.#spent}`;
    }

    /** The epsilon that further tasks may cost, as text. */
    get remaining() {
      return `${this.#limit.minus(this.#spent)}`;
    }

    /** The state as a document; `fromJSON` reads it, in any language. */
    toJSON() {
      const written = ([task, { digest, epsilon, periods }]) =>
        ({ task, digest, epsilon: `${epsilon}`, periods: [...periods] });
      const answered = [...this.#answered].map(written);
      const kept = structuredClone(Object.fromEntries(this.#kept));
      return { curador: VERSION, limit: `${this.#limit}`, changes: this.#changes, answered, kept };
    }

    /** Promise a message on the task.
     *
     * A first message is charged and saved.  Later ones need a task that remembers: all its periods are charged once,
     * and each is answered once.  Other tasks are new tasks in every period.
     */
    async message(task, value, source = new Source()) {
      // Reading a value, or asking a source, may run code that asks this device again, between check and charge.
      if (this.#busy) throw new Error("A value or a source must not answer with the device that reads it.");
      this.#busy = true;
      let made;
      try {
        made = this.#answer(task, value, source);
      } finally {
        this.#busy = false;
      }
      await this.#saveNext();
      return made;
    }

    #answer(task, value, source) {
      let kept = this.#checked(task); // before reading the value
      const own = task.seen(value);
      let bytes;
      if (task.remembers) {
        kept = task.remember(own, kept, source);
        bytes = task.reportOn(kept, source);
      } else {
        bytes = task.draw(own, source);
      }
      const made = toMessage(task, bytes, source);
      // A source that fails before this has cost nothing, since nothing about the value has left.  Nothing was
      // awaited since the check, so that two concurrent messages do not both see the same remaining budget.
      if (!this.#answered.has(task.series)) this.#charge(task.digest, task.epsilon, []);
      if (task.remembers) this.#kept.set(task.series, kept);
      if (task.remembers && task.period !== null) this.#answered.get(task.series).periods.push(task.period);
      return made;
    }

    /** Save after all earlier saves, with every charge made by then: an older state never lands last. */
    #saveNext() {
      const mine = this.#saving.then(() => this.#save(this.toJSON()));
      this.#saving = mine.catch(() => {}); // its own caller sees the failure; the next save runs all the same
      return mine;
    }

    /** Return the state of a task that may be answered now, or refuse the task before anything is drawn. */
    #checked(task) {
      if (!(task instanceof Task)) throw new TypeError("This is not a task that was read.");
      if (this.#answered.has(task.series)) {
        const { digest, periods } = this.#answered.get(task.series);
        must(digest === task.digest, "This device answered another task of the same id.");
        must(task.remembers && !periods.includes(task.period), "This task was answered.");
        must(periods.length < PERIODS_MOST, `This device answered ${PERIODS_MOST} periods of this task.`);
        const kept = this.#kept.get(task.series);
        must(task.isKept(kept), "What this device kept of the task is lost or broken.");
        return kept;
      }
      const changes = "Epsilon of this task does not cover that a value changed, and this device answers no such task.";
      must(this.#changes || (task.values ?? 1) === 1, changes);
      const left = this.#limit.minus(this.#spent);
      must(task.epsilon.compare(left) <= 0, `This task costs ${task.epsilon}, more than remains.`);
      return null;
    }
  }

  const curador = Object.freeze({ readTask, check, report, message, Device, Source, Refused });
  globalThis.curador = curador;
  if (typeof module === "object" && module.exports) module.exports = curador;
})();
