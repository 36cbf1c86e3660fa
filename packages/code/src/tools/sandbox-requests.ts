import { relative, resolve } from "node:path/posix";
import type { CallEffects, CallPlace, ExecuteRequest, ToolCall } from "@keelson/protocol";
import type { BashInput, BashOptions } from "./bash-input.ts";

// Other ports need a policy that names them.
const USUAL_PORTS: ReadonlySet<number> = new Set([80, 443]);

/** True if the call runs outside of the sandbox that confines the others. Without a sandbox `outside` says nothing. */
export function isOutside(
  { outside = false }: Pick<BashInput, "outside">,
  { environment }: Pick<ToolCall, "environment"> | Pick<CallPlace, "environment">,
  { leaving }: Pick<BashOptions, "leaving">,
): boolean {
  return outside && leaving !== undefined && environment === undefined;
}

/** Adds to the effects of a line what the call asks of the sandbox. */
export function withRequests(effects: CallEffects, { hosts = [], publish = [], reveal = [] }: BashInput, cwd?: string): CallEffects {
  const all = [...new Set([...(effects.hosts ?? []), ...hosts.map(hostName)])];
  const reveals = [...new Set(reveal.map((path) => belowFolder(path, cwd)))];
  return {
    ...effects,
    ...(all.length > 0 && { hosts: all }),
    ...(publish.length > 0 && { ports: [...new Set(publish)] }),
    ...(reveals.length > 0 && { reveals }),
  };
}

/**
 * Shows the hidden files of a call that runs: those that it asks for, and those that its line names, because both were asked about or a rule allowed
 * them. Of others, rules and answers decide.
 */
export function revealJudge(
  { reads = [], writes = [] }: CallEffects,
  reveal: readonly string[],
  call: Pick<ToolCall, "mayReveal" | "cwd">,
): Pick<ExecuteRequest, "mayReveal"> {
  const named = new Set([...reads, ...writes, ...reveal].map((path) => belowFolder(path, call.cwd)));
  return { mayReveal: (path) => named.has(path) || call.mayReveal?.(path) === true };
}

/** A path below a folder as it is shown, others as they are. */
function belowFolder(path: string, folder = "/"): string {
  const below = relative(folder, resolve(folder, path.trim()));
  return below === "" || below === ".." || below.startsWith("../") ? path.trim() : below;
}

/** Opens the hosts of a call that runs: they were listed, or a person or a rule allowed them. Of others, rules and answers decide as they come. */
export function hostJudge(named: readonly string[], call: Pick<ToolCall, "judgeHost">): Pick<ExecuteRequest, "judgeHost"> {
  const names = new Set(named.map(hostName));
  return {
    judgeHost: (host, port) => (names.has(host) && USUAL_PORTS.has(port) ? "open" : (call.judgeHost?.(host, port) ?? "unlisted")),
  };
}

/** Models also write an address for a host. */
function hostName(given: string): string {
  const text = given.trim().toLowerCase();
  return URL.parse(text.includes("://") ? text : `http://${text}`)?.hostname ?? text;
}
