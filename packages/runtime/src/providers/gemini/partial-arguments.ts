import type { JsonValue } from "@keelson/protocol";
import { arrivedIntegers, markInteger } from "../../json/index.ts";
import type { HeldText } from "../held-text.ts";
import { type Fields, fieldsOf, stringOf } from "../wire-decoder.ts";

type Container = Record<string, JsonValue> | JsonValue[];

/**
 * The arguments of a call that Vertex streams value by value (`streamFunctionCallArguments`): each piece names the place of its
 * value by a JSON path, and pieces of one string are joined.
 */
export class PartialArguments {
  readonly #root: Record<string, JsonValue> = {};
  readonly #held: HeldText | undefined;

  constructor(held?: HeldText) {
    this.#held = held;
  }

  get value(): JsonValue {
    return this.#root;
  }

  add(pieces: unknown): void {
    if (!Array.isArray(pieces)) return;
    this.#held?.add(JSON.stringify(pieces).length);
    for (const piece of pieces.map(fieldsOf)) {
      if (piece === undefined) continue;
      const path = pathOf(stringOf(piece["jsonPath"]));
      const integer = arrivedIntegers(piece).find(({ path: [name] }) => name === "numberValue");
      this.#put(path, valueOf(piece), integer === undefined);
      if (integer !== undefined) markInteger(this.#root, path, integer.digits);
    }
  }

  #put(path: readonly (string | number)[], value: JsonValue, joins: boolean): void {
    let at: Container = this.#root;
    for (const [depth, name] of path.entries()) {
      const next = path[depth + 1];
      if (next === undefined) {
        const before = own(at, name);
        set(at, name, joins && typeof before === "string" && typeof value === "string" ? before + value : value);
        return;
      }
      let inner = own(at, name);
      if (typeof inner !== "object" || inner === null) {
        inner = typeof next === "number" ? [] : {};
        set(at, name, inner);
      }
      at = inner as Container;
    }
  }
}

function own(container: Container, name: string | number): JsonValue | undefined {
  return Object.hasOwn(container, name) ? (container as Record<string | number, JsonValue>)[name] : undefined;
}

/** A key `__proto__` is a key like others. */
function set(container: Container, name: string | number, value: JsonValue): void {
  Object.defineProperty(container, name, { value, writable: true, enumerable: true, configurable: true });
}

/** Longer lists than this come from no model. */
const MAX_INDEX = 100_000;

/** `$.a.b[0]["c d"]` in steps. */
function pathOf(path: string): readonly (string | number)[] {
  const steps: (string | number)[] = [];
  for (const [, name, index, double, single] of path.matchAll(/\.([^.[\]]+)|\[(\d+)\]|\["([^"]*)"\]|\['([^']*)'\]/g)) {
    if (index !== undefined) steps.push(Math.min(Number(index), MAX_INDEX));
    else steps.push(name ?? double ?? single ?? "");
  }
  return steps;
}

function valueOf(piece: Fields): JsonValue {
  for (const name of ["stringValue", "numberValue", "boolValue"]) {
    const value = piece[name];
    if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return value;
  }
  return null;
}
