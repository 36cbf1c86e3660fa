import { inboxLog, type Wait } from "@keelson/protocol";
import { foldSession } from "../../session/fold-session.ts";
import type { SessionState } from "../../session/session-state.ts";
import type { RunnerServices } from "./runner-services.ts";
import { isTimeOver } from "./time-left.ts";

/**
 * Whether a run that waits can go on: its time has come, or that of a question, which is then asked anew; it may not go on for longer;
 * something was written to it; or a child that it waits for is over or can go on.
 */
export async function hasNews(services: RunnerServices, { id, inboxRead, run }: SessionState): Promise<boolean> {
  const { log, blobs, clock, orchestrator } = services;
  if (run !== undefined && isTimeOver(run, clock.now())) return true;
  if (run?.waits.some((wait) => isDue(wait, clock.now()))) return true;
  if ((await log.head(inboxLog(id))) > inboxRead) return true;
  for (const child of run?.children?.all.values() ?? []) {
    if (child.session === undefined || child.status !== "working") continue;
    const state = await foldSession(log, blobs, child.session);
    // What works elsewhere goes on by itself; else it is its parent that takes it up.
    if (orchestrator?.wake) {
      if (state.run?.id !== child.id || state.run.status === "ended") return true;
    } else if (state.run?.status !== "suspended" || (await hasNews(services, state))) return true;
  }
  return false;
}

/** Whether a wait is over by itself. */
export function isDue(wait: Wait, now: number): boolean {
  if (wait.type === "timer") return wait.at <= now;
  return (wait.type === "approval" || wait.type === "decision") && wait.expiresAt !== undefined && wait.expiresAt <= now;
}
