import { noteTouched, type Touched } from "../noted-places.ts";
import { placesOf } from "../paths.ts";
import type { ProgramFacts } from "../program-facts.ts";
import type { Reading, Scope } from "../reading.ts";

/** The scope of a command of git, which works in another folder with `-C`. */
export function within({ repository }: ProgramFacts, scope: Scope, reading: Reading): Scope {
  const folder = repository?.folder;
  return folder === undefined ? scope : { ...scope, folders: placesOf(folder, scope, reading)?.map(({ path }) => path) };
}

/** Notes the files that a command of git touches, from the folder in which it works. */
export function noteOfRepository(facts: ProgramFacts, scope: Scope, reading: Reading): Touched {
  const { folder, fromTop } = facts.repository ?? { fromTop: false };
  const inner = within(facts, scope, reading);
  // A path behind a colon begins at the top of the repository, which may be above this folder.
  if (fromTop && inner.folders?.some((path) => path !== (reading.workspace ?? ".")) !== false) reading.mayTouch.add("*");
  const touched = noteTouched(facts, inner, reading);
  if (folder === undefined) return touched;
  const outer = noteTouched({ looks: [folder] }, scope, reading);
  return { isInside: touched.isInside && outer.isInside, leadingOut: [...outer.leadingOut, ...touched.leadingOut] };
}
