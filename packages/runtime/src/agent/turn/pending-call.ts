import type { AlwaysChoice, JsonValue, Tool, ToolCallPart } from "@keelson/protocol";
import type { Admission } from "./declaration.ts";
import type { Executed } from "./call-result.ts";

/** A call on its way through the gates. */
export interface PendingCall {
  readonly part: ToolCallPart;
  /** Place in the log: `<turn>/call/<callId>`. */
  readonly key: string;
  tool?: Tool;
  /** The final arguments, once parsed, validated and transformed. */
  input?: JsonValue;
  /** The canonical JSON of these arguments, and what the loop guard knows the call by. */
  guarded?: { readonly input: JsonValue | undefined; readonly text: string; key?: string };
  /** What the tool's schema made of them (defaults, transforms): what it is executed with. */
  value?: unknown;
  /** Where the call ends without running: what the model is told instead. */
  answer?: { readonly output: JsonValue; readonly isError: boolean };
  /** The answer is that the user steered away before it started. */
  skipped?: true;
  /** The answer is that of an execution, though not of one in this process. */
  ran?: true;
  /** The answer is what a person said, who knew that it may have run. */
  settled?: true;
  /** The answer is that the arguments are not valid. */
  invalid?: true;
  /** Why a gate wants a person's word; absent when nobody needs to be asked. */
  ask?: string;
  /** What a person may allow for good; absent where some gate would ask all the same. */
  always?: readonly AlwaysChoice[];
  /** What it reads, as its tool said. */
  reads?: readonly string[];
  /** Effects that its execution declared; they count with its result. */
  declared?: Admission[];
  /** Which of its executions is the next, or under way; from 1. */
  number: number;
  /** What it came to, once it ran in this process. */
  result?: Executed;
  /** Among the calls of its response, from 0. */
  readonly index: number;
  /** Edits by approvers so far. */
  edits: number;
}

/** Ends the call here, with an error that the model can act on. */
export function refuse(call: PendingCall, message: string): void {
  call.answer = { output: message, isError: true };
}
