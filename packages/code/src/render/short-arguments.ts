import type { JsonValue } from "@keelson/protocol";
import { patchedPaths } from "../edits/patched-paths.ts";
import { truncated } from "../text/display-width.ts";
import { printableLine } from "../text/printable.ts";

/** The argument that says most, by tool; for other tools the first of these that is there, else the whole input. */
const TELLING = ["command", "path", "pattern", "query", "url", "name"];

/** What stands behind a tool's name in a header: `bash npm test`, `grep TODO in src`. */
export function shortArguments(input: JsonValue | undefined, columns: number): string {
  if (input === undefined || input === null) return "";
  if (typeof input !== "object") return line(String(input), columns);
  if (Array.isArray(input)) return line(JSON.stringify(input), columns);
  const fields = input as { readonly [name: string]: JsonValue | undefined };
  const pattern = fields["pattern"];
  const path = fields["path"];
  if (typeof pattern === "string" && typeof path === "string" && path !== "." && path !== "") return line(`${pattern} in ${path}`, columns);
  if (typeof pattern === "string") return line(pattern, columns);
  const patched = typeof fields["input"] === "string" ? patchedPaths(fields["input"]) : [];
  if (patched.length > 0) return line(patched.join(", "), columns);
  if (typeof fields["search"] === "string" && typeof fields["replace"] === "string")
    return line(`${fields["search"]} → ${fields["replace"]}${typeof path === "string" ? ` in ${path}` : ""}`, columns);
  const { tasks, plan } = fields;
  if (Array.isArray(tasks)) return line(`${tasks.length} ${tasks.length === 1 ? "task" : "tasks"}`, columns);
  // The heading of a plan says what it is about.
  if (typeof plan === "string" && plan.trim() !== "") return line(plan.trim().split("\n", 1)[0] ?? "", columns);
  for (const key of TELLING) {
    const value = fields[key];
    if (typeof value === "string" && value !== "") return line(value, columns);
  }
  return Object.keys(fields).length === 0 ? "" : line(JSON.stringify(fields), columns);
}

function line(text: string, columns: number): string {
  // Cut before measuring: an argument can be a whole file.
  return truncated(printableLine(text.slice(0, columns * 4).trim()), columns);
}
