import { homedir } from "node:os";
import type { CallEffects, EffectBounds } from "@keelson/protocol";
import { deniedPaths } from "../../../environment/sandbox/policy-places.ts";
import { judgeBoundEffects } from "../../../environment/sandbox/judge-effects.ts";

// Where no working directory is known, relative paths lie in a folder of their own.
const UNKNOWN_FOLDER = "/.working-directory";

/** What the bounds deny by name, as absolute paths. */
export function deniedByBounds({ filesystem }: EffectBounds, cwd: string | undefined): readonly string[] {
  if (filesystem === undefined) return [];
  const { hideCredentials = false } = filesystem;
  return deniedPaths({ ...filesystem, hideCredentials }, { workspace: cwd ?? UNKNOWN_FOLDER, home: homedir() });
}

/** What the bounds of a policy refuse of these effects, a sentence each. */
export function judgeBounds(bounds: EffectBounds, effects: CallEffects, cwd: string | undefined): readonly string[] {
  return judgeBoundEffects(bounds, effects, { workspace: cwd ?? UNKNOWN_FOLDER, home: homedir() });
}
