/** Learned in vain this often, an envelope stops trying: the vendor changes something in every event. */
const MAX_FAILURES = 8;
/** No vendor text can hold it unescaped by chance, and JSON takes it as it is. */
const PROBE = "\u{E000}keelson\u{E001}";
const PROBE_NUMBER = 271828182;

const QUOTE = 34;
const BACKSLASH = 92;

type Noise = "spaces" | "padding";

interface Envelope {
  /** Up to the text, or up to the counter where that stands before the text. */
  readonly before: string;
  /** From the counter to the text. */
  readonly between: string | undefined;
  readonly after: string;
  /** What follows a counter that stands behind the text. */
  readonly afterCounter: string | undefined;
  readonly noise: Noise;
  readonly last: string;
}

interface Learned extends Envelope {
  /** All that stands between the texts of two events of which the first holds no noise; empty where there is a counter. */
  readonly joint: string;
}

/**
 * Reads the text out of an event that differs from an earlier one in nothing but that text, without parsing the event.
 *
 * A stream repeats one envelope around every piece of text. `learn` finds in a parsed event the string literal that holds the
 * text and proves it: with a probe in the literal's place, parsing must give the probe as the text. From then on an event that
 * has the same bytes before and after a string literal means the same, with another text, since JSON has no other context. What
 * may differ besides is spaces before the last brace (Anthropic pads its events) and the value of an `obfuscation` member
 * (OpenAI does so with random letters), which says nothing, and the number of the member that is named as a counter.
 *
 * Decoding streams is the one place that is written for speed before it is written to be read: an answer comes in thousands of pieces.
 * See *one answer of 20,000 chunks* in docs/benchmarks.md.
 */
export class DeltaEnvelope {
  readonly #member: string;
  readonly #textOf: (event: unknown) => unknown;
  readonly #counter: string | undefined;
  #learned: Learned | undefined;
  #failures = 0;

  /**
   * `member` is the name of the member that holds the text, `textOf` finds it in a parsed event. `counter` is a member of the event
   * that holds a whole number, which says nothing.
   */
  constructor(member: string, textOf: (event: unknown) => unknown, counter?: string) {
    this.#member = `"${member}":"`;
    this.#textOf = textOf;
    this.#counter = counter;
  }

  /**
   * Takes the events that stand in `text` from `at` on as long as they are whole and of the learned form, and puts their texts into
   * `texts` unless they are empty. Returns where the first other event begins.
   */
  skim(text: string, at: number, texts: string[]): number {
    const learned = this.#learned;
    if (learned === undefined) return at;
    const { before, joint } = learned;
    let event = at;
    let from = textStart(text, event, learned);
    while (from >= 0) {
      let escaped = false;
      let to = from;
      let unit = 0;
      while (to < text.length && (unit = text.charCodeAt(to)) !== QUOTE && unit >= 32) {
        if (unit === BACKSLASH) {
          escaped = true;
          to += 1;
        }
        to += 1;
      }
      if (unit !== QUOTE) break;
      const piece = escaped ? unescaped(text.slice(from - 1, to + 1)) : text.slice(from, to);
      if (piece === undefined) break;
      const next = to + joint.length;
      // Comparing a slice is several times as fast as `startsWith`.
      if (next > to && text.slice(to, next) === joint) {
        event = next - before.length;
        from = next;
      } else {
        const end = eventEnd(text, to, learned);
        if (end < 0) break;
        event = end;
        from = textStart(text, event, learned);
      }
      if (piece !== "") texts.push(piece);
    }
    if (event > at) this.#failures = 0;
    return event;
  }

  /** What was learned holds no more: the same bytes would mean something else. */
  forget(): void {
    this.#learned = undefined;
  }

  /**
   * Takes an event that was parsed and gave nothing but a piece of text as the model of those to come. Its lines start at `start`
   * (nothing is learned when that is negative), its data stands from `dataStart` to `end`. Returns whether it was learned.
   */
  learn(text: string, start: number, dataStart: number, end: number): boolean {
    if (start < 0 || this.#failures >= MAX_FAILURES) return false;
    this.#failures += 1;
    this.#learned = undefined;
    const lines = text.slice(start, dataStart);
    const event = text.slice(dataStart, end);
    for (let found = event.indexOf(this.#member); found >= 0; found = event.indexOf(this.#member, found + 1)) {
      const from = found + this.#member.length;
      const to = literalEnd(event, from);
      if (to < 0) return false;
      const before = event.slice(0, from);
      const rest = event.slice(to);
      const padding = /^(.*"obfuscation":")[0-9A-Za-z]*("\s*\})$/s.exec(rest);
      const spaces = /^(.*[}\]"\w]) *(\})$/s.exec(rest);
      const parts = padding ?? spaces;
      if (parts === null) continue;
      const [, after = "", last = ""] = parts;
      const noise: Noise = padding === null ? "spaces" : "padding";
      const learned = this.#withCounter(before, after, noise, last);
      if (this.#proves(learned)) {
        const whole = { ...learned, before: lines + learned.before, last: `${last}\n\n` };
        const counts = learned.between !== undefined || learned.afterCounter !== undefined;
        this.#learned = { ...whole, joint: counts ? "" : whole.after + whole.last + whole.before };
        return true;
      }
    }
    return false;
  }

  #withCounter(before: string, after: string, noise: Noise, last: string): Envelope {
    if (this.#counter !== undefined) {
      const counter = new RegExp(`^(.*"${this.#counter}":\\s*)\\d+(\\D.*)$`, "s");
      const early = counter.exec(before);
      if (early !== null) return { before: early[1] as string, between: early[2] as string, after, afterCounter: undefined, noise, last };
      // Behind it the last brace may follow at once: it stands in `last`.
      const late = counter.exec(`${after} `);
      if (late !== null)
        return { before, between: undefined, after: late[1] as string, afterCounter: (late[2] as string).slice(0, -1), noise, last };
    }
    return { before, between: undefined, after, afterCounter: undefined, noise, last };
  }

  #proves({ before, between, after, afterCounter, noise, last }: Envelope): boolean {
    const counted = between !== undefined || afterCounter !== undefined;
    const head = between === undefined ? before : `${before}${PROBE_NUMBER}${between}`;
    const tail = afterCounter === undefined ? after : `${after}${PROBE_NUMBER}${afterCounter}`;
    try {
      const event = JSON.parse(head + PROBE + tail + (noise === "padding" ? PROBE : " ") + last) as { readonly [name: string]: unknown };
      if (this.#textOf(event) !== PROBE || (noise === "padding" && event["obfuscation"] !== PROBE)) return false;
      return !counted || event[this.#counter as string] === PROBE_NUMBER;
    } catch {
      return false;
    }
  }
}

/** Where the text begins of the event that begins at `at`; -1 when it is not of the learned form. */
function textStart(text: string, at: number, { before, between }: Learned): number {
  const start = at + before.length;
  if (text.slice(at, start) !== before) return -1;
  return between === undefined ? start : counterEnd(text, start, between);
}

/** Where the event ends whose text ends at `at`; -1 when what follows is not of the learned form. */
function eventEnd(text: string, at: number, { after, afterCounter, noise, last }: Learned): number {
  let end = at + after.length;
  if (text.slice(at, end) !== after) return -1;
  if (afterCounter !== undefined) end = counterEnd(text, end, afterCounter);
  if (end < 0) return -1;
  while (end < text.length && isNoise(text.charCodeAt(end), noise)) end += 1;
  const over = end + last.length;
  return text.slice(end, over) === last ? over : -1;
}

/** Where that ends which follows the counter at `at`; -1 when it does not. */
function counterEnd(text: string, at: number, following: string): number {
  const counted = numberEnd(text, at);
  const end = counted + following.length;
  return counted < 0 || text.slice(counted, end) !== following ? -1 : end;
}

/** Where the whole number ends that begins at `at`; -1 when none does. */
function numberEnd(text: string, at: number): number {
  let end = at;
  while (text.charCodeAt(end) >= 48 && text.charCodeAt(end) <= 57) end += 1;
  return end === at || (end > at + 1 && text.charCodeAt(at) === 48) ? -1 : end;
}

function unescaped(literal: string): string | undefined {
  try {
    return JSON.parse(literal) as string;
  } catch {
    return undefined;
  }
}

function literalEnd(text: string, from: number): number {
  for (let at = from; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit === QUOTE) return at;
    if (unit === BACKSLASH) at += 1;
  }
  return -1;
}

function isNoise(unit: number, noise: Noise): boolean {
  if (noise === "spaces") return unit === 32;
  return (unit >= 48 && unit <= 57) || (unit >= 65 && unit <= 90) || (unit >= 97 && unit <= 122);
}
