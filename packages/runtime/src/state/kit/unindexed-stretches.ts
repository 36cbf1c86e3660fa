import type { UnindexedRecords } from "@keelson/protocol";

/** Appends that follow one another are one stretch. @param appends of each log, last first */
export function unindexedStretches(appends: readonly UnindexedRecords[]): readonly UnindexedRecords[] {
  const stretches: UnindexedRecords[] = [];
  for (const found of appends) {
    const later = stretches.at(-1);
    if (later?.generation === found.generation && later.after === found.upTo)
      stretches[stretches.length - 1] = { ...later, after: found.after };
    else stretches.push(found);
  }
  return stretches;
}
