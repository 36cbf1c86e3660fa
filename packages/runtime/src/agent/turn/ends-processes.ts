import type { RunState } from "../../session/session-state.ts";

const MAX_STALLS = 3;

/** Whether a run was recovered again and again and got nowhere: what it is to do next counts as what ends its process each time. */
export function endsProcesses({ stalls }: RunState): boolean {
  return stalls > MAX_STALLS;
}
