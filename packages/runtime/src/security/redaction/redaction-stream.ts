import type { FoundSecret, SecretFinder } from "../../environment/secrets/find-secrets.ts";
import { LOOK_BEHIND } from "../../environment/secrets/secret-shape.ts";

/**
 * Takes secrets out of a text that comes in pieces. All that it gives, put together, is what it would give for the whole text at once,
 * wherever that is cut. It holds back what may be the beginning of a secret, and no more than the longest reach of what it looks for.
 */
export class RedactionStream {
  readonly #finder: SecretFinder;
  readonly #replacement: (kind: string) => string;
  /** What may still be looked at: what is undecided, and what patterns may look back at. */
  #text = "";
  /** Up to here it is decided where secrets begin. */
  #decided = 0;
  /** Up to here it has been given out. */
  #given = 0;
  /** Found further on than it is decided: what begins later may be taken out earlier. */
  #found: FoundSecret[] = [];
  /** A secret, or several that overlap, of which the last may still grow. */
  #open: FoundSecret | undefined;

  constructor(finder: SecretFinder, replacement: (kind: string) => string) {
    this.#finder = finder;
    this.#replacement = replacement;
  }

  /** What can be shown, now that this has come. */
  push(piece: string): string {
    this.#text += piece;
    const shown = this.#advance(false);
    this.#forget();
    return shown;
  }

  /** The rest, with a last piece. What comes after it is another text. */
  end(piece: string = ""): string {
    this.#text += piece;
    const rest = this.#advance(true);
    this.#text = "";
    this.#decided = this.#given = 0;
    return rest;
  }

  #advance(isWhole: boolean): string {
    const { found, upTo } = this.#finder.find(this.#text, this.#decided, isWhole);
    this.#decided = upTo;
    this.#found = [...this.#found, ...found].sort((a, b) => a.start - b.start);
    let shown = "";
    while (this.#found[0] !== undefined && this.#found[0].start < upTo) shown += this.#take(this.#found.shift() as FoundSecret);
    if (this.#open !== undefined && this.#open.end <= upTo) shown += this.#close(this.#open);
    return this.#open === undefined ? shown + this.#give(isWhole ? upTo : withoutHalf(this.#text, upTo)) : shown;
  }

  #take(secret: FoundSecret): string {
    if (this.#open !== undefined && secret.start < this.#open.end) {
      const { kind, isKnown } = this.#open.isKnown ? this.#open : secret.isKnown ? secret : this.#open;
      this.#open = { kind, isKnown, start: this.#open.start, end: Math.max(this.#open.end, secret.end) };
      return "";
    }
    const before = (this.#open === undefined ? "" : this.#close(this.#open)) + this.#give(secret.start);
    this.#open = secret;
    return before;
  }

  #close({ kind, end }: FoundSecret): string {
    this.#open = undefined;
    this.#given = end;
    return this.#replacement(kind);
  }

  #give(upTo: number): string {
    const shown = this.#text.slice(this.#given, upTo);
    this.#given = Math.max(this.#given, upTo);
    return shown;
  }

  #forget(): void {
    const needed = this.#open === undefined ? Math.min(this.#given, this.#decided - LOOK_BEHIND) : this.#decided - LOOK_BEHIND;
    if (needed <= 0) return;
    const moved = (secret: FoundSecret): FoundSecret => ({ ...secret, start: secret.start - needed, end: secret.end - needed });
    this.#text = this.#text.slice(needed);
    this.#decided -= needed;
    this.#given -= needed;
    this.#found = this.#found.map(moved);
    if (this.#open !== undefined) this.#open = moved(this.#open);
  }
}

/** A character that is written as a pair isn't given out in halves. */
function withoutHalf(text: string, upTo: number): number {
  return /[\uD800-\uDBFF]/.test(text.charAt(upTo - 1)) ? upTo - 1 : upTo;
}
