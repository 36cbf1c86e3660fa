import type { Workspace } from "../keelson-process.ts";

/** Returns rows of a screen without what differs from run to run: folders, ids, digests, times, and the frame of the spinner. */
export function stableScreen(workspace: Pick<Workspace, "project" | "home">, rows: readonly string[]): string {
  return rows
    .map((row) =>
      row
        .replaceAll(workspace.project, "/project")
        .replaceAll(workspace.home, "/home")
        .replaceAll(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/g, "*")
        .replaceAll(/\b(\d+ m )?\d+(\.\d)? m?s\b/g, "0 s")
        // Only what took long shows its time.
        .replace(/^([●✗] .*)(?: {2}|, )0 s$/, "$1")
        .replace(/^(\* .*) 0 s · 0 s$/, "$1 · 0 s")
        .replaceAll(/\b\d+ min ago\b/g, "just now")
        .replaceAll(/\b[\da-f]{8}(-[\da-f-]{27})?\b/g, "<id>")
        .replaceAll(/\b(?=[a-f]*\d)(?=\d*[a-f])[\da-f]{12}\b/g, "<digest>"),
    )
    .join("\n");
}
