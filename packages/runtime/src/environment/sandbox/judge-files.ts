import { relative } from "node:path";
import type { CallEffects } from "@keelson/protocol";
import { isNowhere } from "../command-line/paths.ts";
import { isWithin, policyPath } from "./policy-path.ts";
import { deniedPaths, isProtected, type PolicyPlaces, SYSTEM_FILES, SYSTEM_FOLDERS } from "./policy-places.ts";
import type { FilesystemPolicy } from "./sandbox-policy.ts";

type State = "writable" | "read-only" | "hidden";
interface Place {
  readonly path: string;
  readonly state: State;
}

/** Folders of a command's own: what is written there is gone with it. */
export const OWN_FOLDERS: readonly string[] = ["/tmp", "/var/tmp", "/dev/shm", "/run"];
const KERNEL_FOLDERS = ["/dev", "/proc", "/sys"];
// Later ones win at the same path.
const ORDER: readonly State[] = ["writable", "read-only", "hidden"];

/** What of the files of a call a sandbox of this policy refuses, a sentence each. The deeper of two paths holds, and at the same path a denial. */
export function judgeFiles(filesystem: FilesystemPolicy, effects: CallEffects, places: PolicyPlaces): readonly string[] {
  return judge(filesystem, effects, places, () => true);
}

/** The same without a sandbox: writes are only held to writable roots that the policy names, and its defaults hide and protect nothing. */
export function judgeBoundFiles(filesystem: FilesystemPolicy, effects: CallEffects, places: PolicyPlaces): readonly string[] {
  const { writableRoots, hideCredentials = false, protectedPaths: guarded = [] } = filesystem;
  const said = { ...filesystem, hideCredentials, protectedPaths: guarded };
  return judge(said, effects, places, (isNamed) => isNamed || writableRoots !== undefined);
}

function judge(
  filesystem: FilesystemPolicy,
  { reads = [], writes = [] }: CallEffects,
  places: PolicyPlaces,
  /** Whether it may be refused to write what no writable root holds. `isNamed`: the policy denies it by name. */
  holdsWrites: (isNamed: boolean) => boolean,
): readonly string[] {
  const { workspace, home } = places;
  const absolute = (path: string): string => policyPath(path, workspace, home);
  const roots = (filesystem.writableRoots ?? [workspace]).map(absolute);
  const readable = filesystem.readableRoots?.map(absolute);
  const denied = deniedPaths(filesystem, places);
  const map: readonly Place[] = [
    ...placed(["/"], readable === undefined ? "read-only" : "hidden"),
    ...placed([...SYSTEM_FOLDERS, ...SYSTEM_FILES, ...KERNEL_FOLDERS, ...(readable ?? [])], "read-only"),
    ...placed([...OWN_FOLDERS, ...roots, ...(filesystem.cacheFolders ?? []).map(absolute)], "writable"),
    ...placed(denied, "hidden"),
  ];
  const isNamed = (path: string): boolean => denied.some((one) => isWithin(path, one));
  const whyHidden = (path: string): string => `which the policy ${isNamed(path) ? "denies" : "does not allow"}`;

  const refusedWrite = (path: string): string | undefined => {
    const state = stateOf(path, map);
    if (state !== "writable" && holdsWrites(state === "hidden" && isNamed(path)))
      return state === "hidden" ? whyHidden(path) : `and only ${roots.join(", ")} can be written`;
    // A root within a protected folder is meant to be written.
    const root = roots.filter((one) => one !== path && isWithin(path, one)).toSorted((one, other) => other.length - one.length)[0];
    return root !== undefined && isProtected(filesystem, relative(root, path)) ? "which the policy protects" : undefined;
  };
  const refusedRead = (path: string): string | undefined => (stateOf(path, map) === "hidden" ? whyHidden(path) : undefined);

  const told = (does: string, paths: readonly string[], refused: (path: string) => string | undefined): readonly string[] =>
    [...new Set(paths)].flatMap((given) => {
      const path = absolute(given);
      const why = isNowhere(path) ? undefined : refused(path);
      return why === undefined ? [] : [`It ${does} ${JSON.stringify(given)}, ${why}.`];
    });
  return [...told("writes", writes, refusedWrite), ...told("reads", reads, refusedRead)];
}

function placed(paths: readonly string[], state: State): Place[] {
  return paths.map((path) => ({ path, state }));
}

/** What the deepest of the places around a path says of it. */
function stateOf(path: string, places: readonly Place[]): State {
  let found: Place = { path: "", state: "hidden" };
  for (const place of places) {
    if (!isWithin(path, place.path)) continue;
    const isDeeper = place.path.length > found.path.length;
    if (isDeeper || (place.path.length === found.path.length && ORDER.indexOf(place.state) > ORDER.indexOf(found.state))) found = place;
  }
  return found.state;
}
