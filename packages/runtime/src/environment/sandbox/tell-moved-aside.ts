import { relative } from "node:path";
import type { ExecuteRequest, ExecuteResponse, MovedEntry } from "@keelson/protocol";

const MAX_SHOWN = 20;

/** A response that names, at the end of its standard error, what was moved aside; paths in the workspace relative to it. */
export function withMovedAside(
  response: ExecuteResponse,
  movedAside: readonly MovedEntry[],
  { workspace, request }: { readonly workspace: string; readonly request: Pick<ExecuteRequest, "onOutput"> },
): ExecuteResponse {
  if (movedAside.length === 0) return response;
  const text = `${response.stderr === "" || response.stderr.endsWith("\n") ? "" : "\n"}${describe(movedAside, workspace)}\n`;
  request.onOutput?.("stderr", text);
  return { ...response, stderr: response.stderr + text, stderrBytes: response.stderrBytes + Buffer.byteLength(text), movedAside };
}

function describe(moved: readonly MovedEntry[], workspace: string): string {
  // Names may hold line ends and control characters.
  const quoted = (path: string): string => JSON.stringify(path.startsWith(`${workspace}/`) ? relative(workspace, path) : path);
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
