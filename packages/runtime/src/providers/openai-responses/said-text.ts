/** Less than this may be said twice on purpose. */
const LEAST_REPEAT = 32;
/** As much of the beginning as is compared; what goes on the same for so long is the same. */
const COMPARED = 4096;

/**
 * What the messages of a response have said so far, so that what says it again is known: some servers repeat the whole text in a last
 * delta, or in message after message, each with all of the text up to there (OpenAI's models over Bedrock's own endpoint).
 */
export class SaidText {
  #beginning = "";
  #length = 0;

  add(text: string): void {
    this.#length += text.length;
    if (this.#beginning.length < COMPARED) this.#beginning = (this.#beginning + text).slice(0, COMPARED);
  }

  /** Whether this one piece says all of it again. */
  isRepeated(text: string): boolean {
    return text.length === this.#length && text.length >= LEAST_REPEAT && text.startsWith(this.#beginning);
  }

  /** For a further message; none where too little was said to be sure. */
  echo(): Echo | undefined {
    return this.#length < LEAST_REPEAT ? undefined : new Echo(this.#beginning, this.#length);
  }
}

/** A message that may begin with what was said before it. */
export class Echo {
  readonly #beginning: string;
  readonly #length: number;
  /** How much of it came again; `undefined` once the message goes on by itself. */
  #at: number | undefined = 0;

  constructor(beginning: string, length: number) {
    this.#beginning = beginning;
    this.#length = length;
  }

  /** What of this piece is new, with what was kept back before it where that was no repetition. */
  rest(text: string): string {
    const at = this.#at;
    if (at === undefined) return text;
    const compared = this.#beginning.slice(at, at + text.length);
    if (!text.startsWith(compared)) {
      this.#at = undefined;
      return this.#beginning.slice(0, at) + text;
    }
    const end = at + text.length;
    if (end <= this.#length) {
      this.#at = end;
      return "";
    }
    this.#at = undefined;
    return text.slice(this.#length - at);
  }

  /** The message is over. @returns what was kept back and is too little to be a repetition */
  end(): string {
    const at = this.#at;
    this.#at = undefined;
    return at === undefined || at >= LEAST_REPEAT ? "" : this.#beginning.slice(0, at);
  }
}
