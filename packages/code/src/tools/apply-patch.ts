import { join } from "node:path/posix";
import type { CallPlace, JsonValue, Reconciliation, Tool, Vfs } from "@keelson/protocol";
import { defineTool } from "keelson/tools";
import { isHomePath } from "../core/home-path.ts";
import { readEditable } from "../edits/editable-text.ts";
import type { FilePatch } from "../edits/file-patch.ts";
import { parsePatch } from "../edits/parse-patch.ts";
import { patchVerdict } from "../edits/patch-verdict.ts";
import { fromDirectory, usablePath } from "./call-directory.ts";
import { compactDiff } from "./compact-diff.ts";
import { makeChanges, type PlannedChange } from "./make-changes.ts";
import { planPatch } from "./plan-patch.ts";
import { editEffects } from "./programs-of.ts";
import { readExisting } from "./read-existing.ts";
import type { SeenFiles } from "../workspace/seen-files.ts";
import { optional, text, toolInput } from "./tool-input.ts";
import type { EditContext, EditToolOptions } from "./edit-context.ts";
import { filesOf, plannedPath, realPath, shownPath, toolFailure } from "./call-files.ts";

export interface ApplyPatchInput {
  readonly input: string;
  readonly folder?: string;
}

const DESCRIPTION = `Change files by a patch, all of it or nothing:
*** Begin Patch
*** Update File: path/to/file.py
@@ class A
@@     def f(self):
 a line around the change
-a line to remove
+a line to add
*** Add File: path/to/new.txt
+the lines of the new file
*** Delete File: path/to/old.txt
*** End Patch
"*** Move to: new/path" behind "*** Update File" renames the file. Lines around a change begin with a blank, and with the removed lines they must occur once in the file; if they do not, take more of them, or name the class or function behind "@@". "*** End of File" says that the lines are the last ones. A unified diff works, too. Paths are relative to the working directory.`;

/** Applies a patch to files. */
export function createApplyPatchTool({ exec }: EditToolOptions = {}): Tool<ApplyPatchInput, EditContext> {
  return defineTool.for<EditContext>()<ApplyPatchInput>({
    name: "apply_patch",
    description: DESCRIPTION,
    effect: "write",
    category: "edit",
    risk: "medium",
    input: toolInput({
      input: text("The whole patch."),
      folder: optional(text("The folder that its paths are relative to. Default: the working directory.")),
    }),
    permissionText: (given, effects) => (effects?.writes ?? pathsOf(given)).join(", "),
    async effectsOf(given, where) {
      const read = parsePatch(given.input);
      // A patch that cannot be read changes nothing.
      if (read.problem !== undefined) return { reads: [], writes: [] };
      const planned = (paths: readonly string[]): Promise<string[]> =>
        Promise.all([...new Set(paths)].map((path) => plannedPath(where, within(given, path, where))));
      const reads = read.files.flatMap(({ kind, path }) => (kind === "add" ? [] : [path]));
      const writes = read.files.flatMap((file) =>
        file.kind === "update" && file.moveTo !== undefined ? [file.path, file.moveTo] : [file.path],
      );
      return editEffects({ reads: await planned(reads), writes: await planned(writes) }, where, exec);
    },

    async execute(given, call) {
      const { signal, session } = call;
      const { changes, seen } = call.context;
      const files = filesOf(call, "apply_patch");
      const { patches, notes } = read(given, call);
      const open = call.attempt > 1 ? await openPatches(patches, files, signal) : patches;
      const plan = await planPatch(open, files, signal);
      await makeChanges("apply_patch", plan.changes, { files, changes, call });
      const lines: string[] = [];
      for (const change of plan.changes) {
        lines.push(await describe(change, files));
        if (change.kind === "delete") continue;
        seeChange(seen, session, change, {
          from: await realPath(files, change.path),
          to: await realPath(files, change.kind === "move" ? change.to : change.path),
        });
      }
      const told = [...notes, ...plan.notes].map((note) => `[${note}]`);
      if (lines.length === 0) return ["The files are as the patch wants them already; nothing was changed.", ...told].join("\n");
      return [...lines, ...told].join("\n");
    },

    /** A patch of several files may have been made in part. It can continue if each file shows its state. */
    async reconcile(given, call): Promise<Reconciliation<JsonValue>> {
      const files = filesOf(call, "apply_patch");
      const parsed = parsePatch(given.input);
      if (parsed.problem !== undefined) return "not-done";
      const verdicts = await verdictsOf(patchesIn(given, parsed.files, call), files, call.signal);
      if (verdicts.includes("unknown")) return "unknown";
      if (verdicts.includes("not-done")) return "not-done";
      return { output: `Applied the patch to ${parsed.files.map(({ path }) => shownPath(files, within(given, path, call))).join(", ")}.` };
    },
  });
}

function read(given: ApplyPatchInput, place: PatchPlace): { readonly patches: readonly FilePatch[]; readonly notes: readonly string[] } {
  const parsed = parsePatch(given.input);
  if (parsed.problem === undefined) return { patches: patchesIn(given, parsed.files, place), notes: parsed.notes };
  const at = parsed.line === undefined ? "" : `, at line ${parsed.line} of the patch`;
  throw toolFailure("apply_patch", `The patch cannot be read${at}: ${parsed.problem}. Nothing was changed.`);
}

function patchesIn(given: ApplyPatchInput, patches: readonly FilePatch[], place: PatchPlace): readonly FilePatch[] {
  return patches.map((patch) => {
    const path = usableWithin(given, patch.path, place);
    return patch.kind === "update" && patch.moveTo !== undefined
      ? { ...patch, path, moveTo: usableWithin(given, patch.moveTo, place) }
      : { ...patch, path };
  });
}

function pathsOf(given: ApplyPatchInput): readonly string[] {
  const parsed = parsePatch(given.input);
  return parsed.problem === undefined ? parsed.files.map(({ path }) => within(given, path, {})) : [];
}

/** The place of a call, without its working directory: that is the folder of the call already. */
type PatchPlace = Pick<CallPlace, "environment">;

/** @throws ToolError for a path in a home folder that is not known */
function usableWithin(given: ApplyPatchInput, path: string, { environment }: PatchPlace): string {
  return isHomePath(path) ? usablePath({ ...(environment && { environment }) }, path, "apply_patch") : within(given, path, {});
}

function within({ folder }: ApplyPatchInput, path: string, { environment }: PatchPlace): string {
  if (isHomePath(path)) return fromDirectory({ ...(environment && { environment }) }, path);
  return folder === undefined || path.startsWith("/") ? path : join(folder, path);
}

type Verdict = "done" | "not-done" | "unknown";

function verdictsOf(patches: readonly FilePatch[], files: Vfs, signal: AbortSignal): Promise<Verdict[]> {
  return Promise.all(
    patches.map(async (patch) =>
      patchVerdict(patch, {
        at: (await readExisting(files, patch.path, signal)) ?? null,
        target: patch.kind === "update" && patch.moveTo !== undefined ? ((await readExisting(files, patch.moveTo, signal)) ?? null) : null,
      }),
    ),
  );
}

/** The parts of a patch that an earlier process did not reach. */
async function openPatches(patches: readonly FilePatch[], files: Vfs, signal: AbortSignal): Promise<readonly FilePatch[]> {
  const verdicts = await verdictsOf(patches, files, signal);
  return verdicts.includes("unknown") ? patches : patches.filter((_, index) => verdicts[index] === "not-done");
}

/** A file that the session knew is known after the change, too. The rest of one that it did not know was not shown to it. */
function seeChange(
  seen: SeenFiles,
  session: string,
  { before, after }: Exclude<PlannedChange, { readonly kind: "delete" }>,
  { from, to }: { readonly from: string; readonly to: string },
): void {
  if (before === null || seen.check(session, from, before) === "current") seen.see(session, to, after);
}

async function describe(change: PlannedChange, files: Vfs): Promise<string> {
  const shown = shownPath(files, change.path);
  if (change.kind === "delete") return `Deleted ${shown}.`;
  if (change.kind === "write" && change.before === null) return `Made ${shown}.`;
  const before = readEditable(change.before as Uint8Array)?.text ?? "";
  const after = readEditable(change.after)?.text ?? "";
  const diff = before === after ? "" : `\n${await compactDiff(before, after)}`;
  return change.kind === "move" ? `Moved ${shown} to ${shownPath(files, change.to)}.${diff}` : `Updated ${shown}.${diff}`;
}
