import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { ToolEffect } from "@keelson/protocol";
import { CHILD_MARK } from "../../session/session-id.ts";

/** One execution of a tool that changes something, as the world outside of the process knows it. */
export interface CountedCall {
  readonly session: string;
  /** Of an effect that was declared, its id. */
  readonly callId: string;
  readonly tool: string;
  readonly effect: ToolEffect;
  readonly idempotencyKey: string;
  readonly attempt: number;
  /** The message of the error that the tool threw after it had changed something. */
  readonly failure?: string;
}

const FILE = "tool-calls.jsonl";

/** One line in one write: it is there when this returns, and outlives the process. */
export function countCall(directory: string, call: CountedCall): void {
  appendFileSync(join(directory, FILE), `${JSON.stringify(call)}\n`);
}

/** What the tools of a session and of the children below it did, in order. */
export function countedCalls(directory: string, session: string): readonly CountedCall[] {
  let text: string;
  try {
    text = readFileSync(join(directory, FILE), "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as CountedCall)
    .filter((call) => call.session === session || call.session.startsWith(`${session}${CHILD_MARK}`));
}
