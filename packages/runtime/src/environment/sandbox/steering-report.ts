import { basename, relative } from "node:path";
import type { ExecuteRequest, ExecuteResponse, MovedEntry } from "@keelson/protocol";

const MAX_SHOWN = 20;

/** Findings about files that steer later work, which no result has named yet. */
export interface SteeringReport {
  readonly movedAside: MovedEntry[];
  /** Sentences about folders that were not searched. */
  readonly notices: string[];
  /** Files that exist and were read-only for the last command. */
  kept: readonly string[];
}

const REFUSALS = /Read-only file system|Device or resource busy|\b(?:EROFS|EBUSY)\b/;
const MAX_KEPT_SHOWN = 10;

/** A response that names, at the end of its standard error, what was moved aside, and files that a command could not write; paths in the workspace relative to it. */
export function withSteeringReport(
  response: ExecuteResponse,
  report: SteeringReport,
  { workspace, request }: { readonly workspace: string; readonly request: Pick<ExecuteRequest, "onOutput"> },
): ExecuteResponse {
  // Names may hold line ends and control characters.
  const quoted = (path: string): string => JSON.stringify(path.startsWith(`${workspace}/`) ? relative(workspace, path) : path);
  const movedAside = report.movedAside.splice(0);
  // The exit code says nothing: git ends with 0 after a checkout that could not change a file.
  const { stderr } = response;
  const kept = REFUSALS.test(stderr) ? report.kept.filter((path) => stderr.includes(basename(path))) : [];
  const lines = [
    ...report.notices.splice(0),
    ...(movedAside.length > 0 ? [describe(movedAside, quoted)] : []),
    ...(kept.length > 0 ? [describeKept(kept, quoted)] : []),
  ];
  if (lines.length === 0) return response;
  const text = `${response.stderr === "" || response.stderr.endsWith("\n") ? "" : "\n"}${lines.join("\n")}\n`;
  request.onOutput?.("stderr", text);
  return {
    ...response,
    stderr: response.stderr + text,
    stderrBytes: response.stderrBytes + Buffer.byteLength(text),
    ...(movedAside.length > 0 && { movedAside }),
  };
}

function describeKept(kept: readonly string[], quoted: (path: string) => string): string {
  const more = kept.length > MAX_KEPT_SHOWN ? ` and ${kept.length - MAX_KEPT_SHOWN} more` : "";
  return `Sandbox: read-only for commands, because programs outside of the sandbox obey them: ${kept.slice(0, MAX_KEPT_SHOWN).map(quoted).join(", ")}${more}. A tool that edits files can change one, which asks; a command that has to, such as git for another branch, runs outside of the sandbox.`;
}

function describe(moved: readonly MovedEntry[], quoted: (path: string) => string): string {
  const lines = moved.slice(0, MAX_SHOWN).map(({ path, to, problem }) => {
    if (to === undefined)
      return `  ${quoted(path)} could NOT be moved: ${problem ?? "the reason is not known"}. Delete it before you go on.`;
    return `  ${quoted(path)} is now ${quoted(to.slice(to.lastIndexOf("/") + 1))}`;
  });
  return [
    "Sandbox: moved aside what programs outside of the sandbox would obey, because no command may make it:",
    ...lines,
    ...(moved.length > MAX_SHOWN ? [`  and ${moved.length - MAX_SHOWN} more, whose names end with .withheld-1 or another number`] : []),
    "  If it is wanted, write it to its place with a tool that edits files, which asks; else delete it.",
  ].join("\n");
}
