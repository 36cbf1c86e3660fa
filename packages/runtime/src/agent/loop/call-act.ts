import type { StepAttempt, StepResult } from "@keelson/protocol";
import type { PendingCall } from "../gates/pending-call.ts";
import { executeCall, type Execution } from "./execute-call.ts";
import type { Loop } from "./loop.ts";

/** What a call that ran came to. */
export type Executed = Execution & { readonly durationMs: number };

/** One execution of a call, and what it came to. */
export class CallAct {
  readonly #loop: Loop;
  readonly call: PendingCall;
  readonly key: string;
  readonly number: number;
  result: Executed | undefined;

  constructor(loop: Loop, call: PendingCall, number: number) {
    this.#loop = loop;
    this.call = call;
    this.key = call.key;
    this.number = number;
  }

  run({ signal, number }: StepAttempt): Execution | Promise<Execution> {
    return executeCall(this.#loop, this.call, number, signal);
  }

  settle(result: StepResult<Execution>): void {
    const durationMs = result.endedAt - result.startedAt;
    this.result = result.ok ? { ...result.value, durationMs } : { output: result.failure.message, isError: true, durationMs };
  }
}
