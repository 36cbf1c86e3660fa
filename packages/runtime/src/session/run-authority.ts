import type { Authority, PermissionMode } from "@keelson/protocol";
import { withPermissionMode } from "./permission-mode.ts";
import { withRaisedLimits } from "./raised-limits.ts";
import type { RaisedLimits } from "./record-data.ts";
import type { RunState } from "./session-state.ts";

/** Returns the authority of a run, with what changed since it began: its own limits that were raised, and the permission mode that was set. */
export interface RunAuthority {
  (run: RunState | undefined): Authority;
}

/** Creates the function for one run. It returns the same object as long as nothing changed, so that policies are compiled once. */
export function createRunAuthority(given: Authority): RunAuthority {
  let limits: RaisedLimits | undefined;
  let mode: PermissionMode | undefined;
  let current = given;
  return (run) => {
    const { raisedLimits, callsPermissionMode } = run ?? {};
    if (limits === raisedLimits && mode === callsPermissionMode) return current;
    limits = raisedLimits;
    mode = callsPermissionMode;
    const raised = limits === undefined ? given : withRaisedLimits(given, limits);
    current = mode === undefined ? raised : withPermissionMode(raised, mode, run?.terms?.ownPolicy === true);
    return current;
  };
}
