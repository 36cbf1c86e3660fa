import type { JsonObject } from "@keelson/protocol";

/** More than that are not named to anybody; that there is such text is known all the same. */
const MAX_SOURCES = 16;
const MAX_CHARACTERS = 200;

/**
 * Both lists of sources of untrusted text as one, each once, the newest last; of too many the newest. The first list itself where the other
 * adds nothing.
 */
export function unitedSources(known: readonly string[], added: readonly string[] | undefined): readonly string[] {
  if (added === undefined || added.length === 0 || added === known) return known;
  const distinct = new Set(added);
  return [...known.filter((source) => !distinct.has(source)), ...distinct].slice(-MAX_SOURCES);
}

/** A source as it is kept and shown to people: one line, and no longer than they read. It may stand in what a model or a page wrote. */
export function sourceLine(source: string): string {
  // oxlint-disable-next-line no-control-regex
  const line = source.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, " ").trim();
  return line.length <= MAX_CHARACTERS ? line : `${line.slice(0, MAX_CHARACTERS)}…`;
}

/** The member of a stored value's metadata that says so. */
export function untrustedMetadata(sources: readonly string[]): JsonObject {
  return sources.length === 0 ? {} : { untrusted: sources };
}

/** The sources that the metadata of a stored value names; any other label there counts as one. */
export function sourcesIn(metadata: JsonObject | undefined): readonly string[] {
  const label = metadata?.["untrusted"];
  if (label === undefined || label === null || label === false) return [];
  const sources = Array.isArray(label) ? label.filter((source) => typeof source === "string") : [];
  return sources.length > 0 ? sources : ["a stored value"];
}
