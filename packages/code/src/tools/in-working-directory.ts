import type { CallPlace, Tool } from "@keelson/protocol";
import { directoryOf, fromDirectory, usablePath } from "./call-directory.ts";

type Place = Pick<CallPlace, "kept" | "context" | "environment">;
type PutPath = (path: string) => string;

const MAX_DEPTH = 4;
/** Members of an input that hold one path. */
const NAMES: readonly string[] = ["path", "folder"];

/**
 * Returns the same tool, whose relative paths start in the working directory of the call: in what permissions see of it, when it is executed, and when it
 * is asked what became of it. `~` is the home folder. Paths are the members `path`, `folder` and `paths`, at any depth of the input; one that may be missing stands for the folder itself.
 */
export function inWorkingDirectory<Context>(tool: Tool<unknown, Context>): Tool<unknown, Context> {
  const { properties = {} } = tool.inputSchema as { readonly properties?: { readonly [name: string]: unknown } };
  const own = NAMES.filter((name) => Object.hasOwn(properties, name));
  const placed = (input: unknown, place: Place, put: PutPath): unknown => {
    const found = placePaths(input, put, 0);
    if (directoryOf(place) === "." || typeof found !== "object" || found === null) return found;
    const missing = own.filter((name) => !(name in found) || (found as { readonly [name: string]: unknown })[name] === undefined);
    return { ...found, ...Object.fromEntries(missing.map((name) => [name, directoryOf(place)])) };
  };
  return {
    ...tool,
    ...(tool.effectsOf && {
      effectsOf: async (input, where) =>
        (tool.effectsOf as NonNullable<Tool["effectsOf"]>)(
          placed(input, where, (path) => fromDirectory(where, path)),
          where,
        ),
    }),
    execute: async (input, call) =>
      tool.execute(
        placed(input, call, (path) => usablePath(call, path, tool.name)),
        call,
      ),
    ...(tool.reconcile && {
      reconcile: async (input, call) =>
        (tool.reconcile as NonNullable<Tool["reconcile"]>)(
          placed(input, call, (path) => fromDirectory(call, path)),
          call,
        ),
    }),
  };
}

function placePaths(value: unknown, put: PutPath, depth: number): unknown {
  if (depth > MAX_DEPTH || typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => placePaths(item, put, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([name, member]): [string, unknown] => {
      if (NAMES.includes(name) && typeof member === "string") return [name, put(member)];
      if (name === "paths" && Array.isArray(member))
        return [name, member.map((path: unknown) => (typeof path === "string" ? put(path) : path))];
      return [name, placePaths(member, put, depth + 1)];
    }),
  );
}
