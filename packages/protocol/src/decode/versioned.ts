import type { JsonValue } from "../json.ts";
import { isObject, payload, refuse, type Codec } from "./codec.ts";

/** Turns a payload of one version into the same fact as the next version says it. It doesn't touch `v`. */
export type Upcast = (old: Record<string, unknown>) => Record<string, unknown>;

/**
 * A payload with a version `v`: absent means 1. `upcasts[0]` turns version 1 into 2, and so on, so the version that is
 * written is one more than there are upcasts. Fields and union members may be added without a new version; a version that
 * this program doesn't know is refused, since it may mean something else by the same words.
 */
export function versioned<T>(name: string, codec: Codec<T>, upcasts: readonly Upcast[] = []): Codec<T> {
  const current = upcasts.length + 1;
  const part = codec.part ?? codec;
  return payload(name, {
    decode(value) {
      if (!isObject(value)) return part.decode(value);
      const { v: version = 1 } = value;
      if (typeof version !== "number" || !Number.isSafeInteger(version) || version < 1)
        refuse(`has the version ${JSON.stringify(version)}: "v" must be a whole number from 1`);
      if (version > current) {
        refuse(
          `has version ${version}, and this version of Keelson reads up to ${current}. Use the version of Keelson that wrote it, or a later one.`,
          { payload: name, version, supported: current },
        );
      }
      if (version === current) return part.decode(value);
      const upcasted = upcasts.slice(version - 1).reduce((old, upcast) => upcast(old), value as Record<string, unknown>);
      return part.decode({ ...upcasted, v: current });
    },
    encode: (value): JsonValue => part.encode(value),
  });
}
