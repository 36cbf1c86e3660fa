import type { JsonValue, ToolRedirect } from "@keelson/protocol";
import { readPatchCommand } from "../edits/read-patch-command.ts";
import { toolFailure } from "./call-files.ts";

/** A command that only applies a patch is a call of the tool `apply_patch`, and is judged like one. */
export function redirectToPatch(input: JsonValue): ToolRedirect | undefined {
  if (typeof input !== "object" || input === null || Array.isArray(input)) return undefined;
  const { command, cmd, run_in_background, outside } = input as { readonly [name: string]: JsonValue | undefined };
  const given = command ?? cmd;
  const line = Array.isArray(given) ? lineOf(given) : given;
  if (typeof line !== "string" || run_in_background === true || outside === true) return undefined;
  const found = readPatchCommand(line);
  if (found === undefined) return undefined;
  return { tool: "apply_patch", input: { input: found.patch, ...(found.folder !== undefined && { folder: found.folder }) } };
}

/** `["apply_patch", PATCH]`, and `["bash", "-lc", LINE]`. */
function lineOf(words: readonly JsonValue[]): string | undefined {
  const [first, second, third] = words;
  if (words.length === 2 && first === "apply_patch" && typeof second === "string")
    return `apply_patch <<'END_OF_PATCH'\n${second}\nEND_OF_PATCH`;
  return words.length === 3 && typeof third === "string" && /^-l?c$/.test(String(second)) ? third : undefined;
}

/** Explains a patch beside other commands, instead of running a program that does not exist. */
export function refuseMixedPatch(command: string): void {
  if (!/(?:^|[\n;&|]\s*)apply_patch\s+(?:<<|['"]\*\*\* Begin Patch)/.test(command)) return;
  throw toolFailure(
    "bash",
    "apply_patch is no program here, and a command line that has it must have nothing else but a cd in front. Call the tool apply_patch with the patch, and run the other commands by themselves. Nothing was run.",
  );
}
