import { type SentValue, isSameJsonText, sentValue } from "../json/index.ts";

/** The longest text of pieces that is kept beside the copy that they may be. */
const MAX_DOUBT = 64 * 1024;

const EMPTY_OBJECT = /^\s*\{\s*\}\s*$/;

/** Pieces that begin with all the text before them: parts of the arguments, or cumulative copies of them. */
interface Doubt {
  /** The last copy, if they are copies. */
  copy: string;
  /** All of them, if they are parts; `undefined` once there are too many for that. */
  parts: string | undefined;
  /** The pieces that follow the last copy. */
  rest: string;
}

/**
 * Joins the pieces in which the arguments of one call arrive. Some gateways send with each piece all of the text so far. A piece that
 * begins with the whole text is therefore kept until the end shows how the pieces make an object; every other piece is given on
 * immediately.
 */
export class ArgumentText {
  #text = "";
  /** The end of the text that was not taken yet. */
  #fresh = "";
  /** The length of an empty object before the arguments. */
  #opening = 0;
  #doubt: Doubt | undefined;

  add(piece: string): void {
    if (piece === "") return;
    if (this.#doubt !== undefined) {
      addInDoubt(this.#doubt, piece);
      return;
    }
    if (this.#opening === 0 && this.#text.length <= 16 && EMPTY_OBJECT.test(this.#text)) this.#opening = this.#text.length;
    if (piece.length >= this.#text.length - this.#opening) {
      const before = this.#text.slice(this.#opening);
      if (piece.startsWith(before) && /^\s*\{/.test(before)) {
        this.#doubt = { copy: piece, parts: piece, rest: "" };
        return;
      }
    }
    this.join(piece);
  }

  /** Adds a piece that is a part in any case, as of free text. */
  join(piece: string): void {
    this.#text += piece;
    this.#fresh += piece;
  }

  /** The length of what is kept until the end. */
  get pending(): number {
    const doubt = this.#doubt;
    return doubt === undefined ? 0 : doubt.copy.length + doubt.rest.length;
  }

  /** True if nothing but blanks came. */
  get isBlank(): boolean {
    return this.#doubt === undefined && this.#text.trim() === "";
  }

  /** True if this is the whole text, without a doubt. */
  isText(text: string): boolean {
    return this.#doubt === undefined && this.#text === text;
  }

  /** The complete object that came, as text; `undefined` if there is none. */
  get object(): string | undefined {
    const text = this.#likelyText();
    const last = text.trimEnd().at(-1);
    if (last !== "}" && last !== "]" && last !== ">") return undefined;
    const sent = objectIn(text);
    return sent.type === "closed" ? sent.text : undefined;
  }

  /** True if the object of these arguments is that of others. */
  repeats(other: ArgumentText): boolean {
    const [mine, others] = [this.object, other.object];
    return mine !== undefined && others !== undefined && isSameJsonText(mine, others);
  }

  /** The text that was not taken yet and is not in doubt. */
  take(): string {
    const text = this.#fresh;
    this.#fresh = "";
    return text;
  }

  /**
   * No more pieces come: what was in doubt is decided.
   * @param whole - the whole arguments, if the vendor sent them at the end; they are taken if they continue what was taken
   */
  finish(whole = ""): void {
    const taken = this.#text.length - this.#fresh.length;
    const likely = this.#likelyText();
    this.#text = whole !== "" && whole.startsWith(likely.slice(0, taken)) ? whole : likely;
    this.#fresh = this.#text.slice(taken);
    this.#doubt = undefined;
  }

  #likelyText(): string {
    const doubt = this.#doubt;
    const text = this.#text;
    if (doubt === undefined) return text;
    const copied = text.slice(0, this.#opening) + doubt.copy + doubt.rest;
    if (doubt.parts === undefined) return copied;
    const joined = text + doubt.parts;
    if (isJson(joined)) return joined;
    const [asCopies, asParts] = [objectIn(copied), objectIn(joined)];
    if (asCopies.type !== "closed") return joined;
    return asParts.type === "closed" && !isSameJsonText(asParts.text, asCopies.text) ? joined : copied;
  }
}

function addInDoubt(doubt: Doubt, piece: string): void {
  if (doubt.rest === "" && piece.startsWith(doubt.copy)) {
    doubt.copy = piece;
    if (doubt.parts !== undefined) doubt.parts = doubt.parts.length + piece.length > MAX_DOUBT ? undefined : doubt.parts + piece;
    return;
  }
  doubt.rest += piece;
  if (doubt.parts !== undefined) doubt.parts += piece;
}

function objectIn(text: string): SentValue {
  const trimmed = text.trim();
  return trimmed.startsWith("{") ? sentValue(trimmed) : { type: "truncated" };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
