/**
 * A string that grows from small pieces. The pieces are slices of the text that arrived and keep it in memory, so that they are joined
 * after a while.
 */
export class OpenString {
  #joined = "";
  #pieces: string[] = [];
  /** The first half of a surrogate pair without the second. */
  #half = "";

  push(piece: string): void {
    let whole = this.#half + piece;
    const last = whole.charCodeAt(whole.length - 1);
    this.#half = last >= 0xd800 && last <= 0xdbff ? whole.slice(-1) : "";
    if (this.#half !== "") whole = whole.slice(0, -1);
    if (whole !== "" && this.#pieces.push(whole) === 1024) this.#join();
  }

  read(): string {
    if (this.#pieces.length > 0) this.#join();
    return this.#joined;
  }

  close(): string {
    return this.read() + this.#half;
  }

  /** Copies the pieces only: engines concatenate long strings without a copy. */
  #join(): void {
    this.#joined += this.#pieces.length === 1 ? this.#pieces[0] : this.#pieces.join("");
    this.#pieces = [];
  }
}
