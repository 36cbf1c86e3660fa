import type { JsonObject, StateReader } from "@keelson/protocol";
import { sourcesIn } from "../../session/untrusted-sources.ts";

/** A reader that tells when it hands out what was written with untrusted text in context: the label stands in the metadata of the value. */
export function labelledState(state: StateReader, mark: (source: string) => void): StateReader {
  const note = (metadata: JsonObject | undefined): void => sourcesIn(metadata).forEach(mark);
  return {
    async read(scope, key) {
      const stored = await state.read(scope, key);
      note(stored?.metadata);
      return stored;
    },
    list: (scope, prefix, page) => state.list(scope, prefix, page),
    async search(scope, query, options) {
      const results = await state.search(scope, query, options);
      for (const { key, metadata } of results) note(metadata ?? (await state.read(scope, key))?.metadata);
      return results;
    },
  };
}
