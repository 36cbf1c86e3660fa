/** The names of the tools that a request offers. They separate a name that comes in pieces from two names. */
export class ToolNames {
  readonly #names: ReadonlySet<string>;

  constructor(tools: readonly { readonly name: string }[] = []) {
    this.#names = new Set(tools.map(({ name }) => name));
  }

  has(name: string): boolean {
    return this.#names.has(name);
  }

  /** True if more letters could make this name that of another tool. Without any tools, every name may go on. */
  mayGoOn(name: string): boolean {
    return this.#names.size === 0 || [...this.#names].some((offered) => offered !== name && offered.startsWith(name));
  }

  /** True if these are the first letters of the name of a tool, and no name by themselves. */
  isPart(name: string): boolean {
    return this.#names.size > 0 && !this.has(name) && this.mayGoOn(name);
  }

  /**
   * The name that a further piece makes of the name so far, or `undefined` if the piece is a name by itself. A gateway sends the next
   * letters of a name, or the name so far once more.
   */
  joined(before: string, piece: string): string | undefined {
    if (this.#names.size === 0) return piece.startsWith(before) ? piece : before + piece;
    if (this.#begins(before + piece) && !(this.has(before) && this.has(piece))) return before + piece;
    return piece.startsWith(before) && this.#begins(piece) && !this.has(before) ? piece : undefined;
  }

  #begins(name: string): boolean {
    return this.has(name) || this.mayGoOn(name);
  }
}
