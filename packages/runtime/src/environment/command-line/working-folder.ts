import { noteTouched, type Touched } from "./noted-places.ts";
import { placesOf } from "./paths.ts";
import type { ProgramFacts } from "./program-facts.ts";
import type { Reading, Scope } from "./reading.ts";

/** The scope of a command that works in another folder: `git -C sub`, `make -C sub`. */
export function within({ folder }: ProgramFacts, scope: Scope, reading: Reading): Scope {
  return folder === undefined ? scope : { ...scope, folders: placesOf(folder, scope, reading)?.map(({ path }) => path) };
}

/**
 * Notes the files that a command touches, from the folder in which it works. A folder outside of the workspace is not understood, since the
 * program obeys files in it.
 */
export function noteWithin(facts: ProgramFacts, scope: Scope, reading: Reading): Touched {
  const { folder, repository } = facts;
  const inner = within(facts, scope, reading);
  // A path behind a colon begins at the top of the repository, which may be above this folder.
  if (repository?.fromTop === true && inner.folders?.some((path) => path !== (reading.workspace ?? ".")) !== false)
    reading.mayTouch.add("*");
  const touched = noteTouched(facts, inner, reading);
  if (folder === undefined) return touched;
  const { isInside } = noteTouched({ looks: [folder] }, scope, reading);
  return { isInside: touched.isInside && isInside, leadingOut: [...(isInside ? [] : [folder.text]), ...touched.leadingOut] };
}
