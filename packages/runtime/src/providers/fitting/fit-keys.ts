import type { JsonObject, JsonValue } from "@keelson/protocol";
import { standInName } from "./fit-name.ts";
import { isObject } from "./schema-value.ts";
import { COMMON_NAMES, isFitName, type NameRule } from "./wire-rules.ts";

/** Property keys as a vendor accepts them. The same key gives the same each time, and never one that the schema already has. */
export class FitKeys {
  readonly #rule: NameRule | undefined;
  readonly #taken: ReadonlySet<string>;
  /** The key in the vendor's schema by the original key. */
  readonly #keys = new Map<string, string>();

  constructor(schema: JsonObject, rule: NameRule | undefined) {
    this.#rule = rule;
    this.#taken = rule === undefined ? new Set() : keysIn(schema);
  }

  fit(name: string): string {
    const known = this.#keys.get(name);
    if (known !== undefined) return known;
    let key = name;
    if (!name.isWellFormed() || (this.#rule !== undefined && !isFitName(name, this.#rule))) {
      const rule = this.#rule ?? COMMON_NAMES;
      key = standInName(name, rule);
      for (let salt = 1; this.#taken.has(key); salt += 1) key = standInName(name, rule, String(salt));
    }
    this.#keys.set(name, key);
    return key;
  }

  /** The original by the key in the vendor's schema, for keys that were renamed. */
  get originals(): ReadonlyMap<string, string> {
    return new Map([...this.#keys].filter(([original, key]) => original !== key).map(([original, key]) => [key, original]));
  }
}

function keysIn(schema: JsonValue | undefined): Set<string> {
  const keys = new Set<string>();
  const visit = (value: JsonValue | undefined): void => {
    if (Array.isArray(value)) for (const each of value as readonly JsonValue[]) visit(each);
    else if (isObject(value))
      for (const [name, inner] of Object.entries(value)) {
        keys.add(name);
        visit(inner);
      }
  };
  visit(schema);
  return keys;
}
