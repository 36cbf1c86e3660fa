import type { ToolCall } from "@keelson/protocol";
import { truncateText } from "../json/index.ts";
import { describeValue } from "./describe-value.ts";

/** UTF-8 bytes of a message. */
const MAX_MESSAGE_BYTES = 4 * 1024;
/** Events of one turn of the event loop; the values after them are reported together, by the last of them. */
const MAX_PER_TURN = 16;

interface Report {
  readonly message: string;
  readonly ratio?: number;
}

/** Reports what a generator yields as the progress of its call. A flood of values makes a bounded number of events. */
export class YieldProgress {
  readonly #call: ToolCall;
  #reported = 0;
  #held: Report | undefined;
  #turn: NodeJS.Immediate | undefined;

  constructor(call: ToolCall) {
    this.#call = call;
  }

  report(value: unknown): void {
    const report = reportOf(value);
    if (report === undefined) return;
    if (this.#reported < MAX_PER_TURN) this.#send(report);
    else this.#held = report;
  }

  /** Reports what is held. */
  end(): void {
    clearImmediate(this.#turn);
    this.#turn = undefined;
    this.#reported = 0;
    if (this.#held === undefined) return;
    const held = this.#held;
    this.#held = undefined;
    this.#call.progress(held.message, held.ratio);
  }

  #send({ message, ratio }: Report): void {
    this.#reported++;
    this.#turn ??= setImmediate(() => this.end());
    this.#call.progress(message, ratio);
  }
}

/** True for `{ message, ratio }`: a yield of this form is never the result of its call. */
export function isProgressReport(value: unknown): value is Required<Report> {
  return isReport(value) && typeof value.ratio === "number";
}

function isReport(value: unknown): value is Report {
  if (typeof value !== "object" || value === null) return false;
  const { message, ratio, ...rest } = value as { readonly [member: string]: unknown };
  return typeof message === "string" && (ratio === undefined || typeof ratio === "number") && Object.keys(rest).length === 0;
}

/** `undefined` for a value that says nothing. */
function reportOf(value: unknown): Report | undefined {
  if (value === undefined || value === null || value === "") return undefined;
  if (isReport(value)) return { message: bounded(value.message), ...(value.ratio !== undefined && { ratio: value.ratio }) };
  if (typeof value === "string") return { message: bounded(value) };
  return { message: bounded(value instanceof Uint8Array ? Buffer.from(value).toString() : describeValue(value)) };
}

function bounded(text: string): string {
  return truncateText(text, MAX_MESSAGE_BYTES).text;
}
