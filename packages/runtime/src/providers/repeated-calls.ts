/** Separates calls that a response repeats from new ones, on wires whose calls come whole. A call without an id is always a new one. */
export class RepeatedCalls {
  readonly #seen = new Set<string>();

  /** True if a call with this id, name and arguments came before. Remembers it. */
  add(id: string, name: string, input: string): boolean {
    if (id === "") return false;
    const key = JSON.stringify([id, name, input]);
    if (this.#seen.has(key)) return true;
    this.#seen.add(key);
    return false;
  }
}
