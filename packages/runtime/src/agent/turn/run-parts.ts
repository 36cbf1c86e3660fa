/** Names what one feature keeps for a run. Whoever has the key can read it; the loop itself knows none of them. */
export class PartKey<Part> {
  readonly name: string;
  /** Only a type: what is kept under this key. */
  declare readonly part: Part;

  constructor(name: string) {
    this.name = name;
  }
}

/** What the features of a run keep while this process works on it. An agent that does not use a feature has no part of it. */
export class RunParts {
  readonly #parts = new Map<PartKey<unknown>, unknown>();

  get<Part>(key: PartKey<Part>): Part | undefined {
    return this.#parts.get(key) as Part | undefined;
  }

  /** Of a feature that every run has. */
  need<Part>(key: PartKey<Part>): Part {
    const part = this.get(key);
    if (part === undefined) throw new TypeError(`the run was begun without its ${key.name}`);
    return part;
  }

  /** @param part nothing where the agent does not use the feature */
  set<Part>(key: PartKey<Part>, part: Part | undefined): void {
    if (part !== undefined) this.#parts.set(key, part);
  }
}
