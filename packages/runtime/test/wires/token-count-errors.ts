import type { Content } from "@keelson/protocol";
import { createTokenCounter, type TokenTarget } from "keelson/providers";
import { outputParts } from "../../src/providers/history.ts";
import { readsUnseen } from "../../src/providers/token-bound.ts";
import type { CountedRecording } from "./counted-recordings.ts";

/** How far off the count of one recorded request is. */
export interface CountError {
  readonly id: string;
  readonly wire: string;
  readonly exact: boolean;
  readonly told: number;
  readonly tokens: number;
  readonly error: number;
}

export const targetOf = ({ recording: { wire, provider }, request: { model } }: CountedRecording): TokenTarget => ({
  wire,
  model: `${provider}/${model}`,
});

/** Nothing but text, calls and their results, all of which stands in the request. */
export function isTextOnly({ request, recording }: CountedRecording): boolean {
  const isText = (part: Content): boolean => {
    if (part.type !== "tool-result") return part.type === "text" || part.type === "refusal" || part.type === "tool-call";
    return outputParts(part.output) === undefined;
  };
  const kept = recording.request.body?.["previous_response_id"] ?? recording.request.body?.["conversation"];
  return !readsUnseen(request.extra, request.model) && kept === undefined && request.messages.every(({ content }) => content.every(isText));
}

/**
 * Counts each recorded request with a counter that was told what was counted for all others but those held out with it.
 * @param heldOut two recordings of which this says the same are never used for each other
 */
export async function countErrors(
  all: readonly CountedRecording[],
  heldOut: (counted: CountedRecording) => string,
): Promise<readonly CountError[]> {
  const errors: CountError[] = [];
  for (const group of Map.groupBy(all, heldOut).values()) {
    const name = heldOut(group[0] as CountedRecording);
    const counter = createTokenCounter();
    for (const other of all) if (heldOut(other) !== name) counter.report(other.request, targetOf(other), other.usage);
    for (const each of group) {
      const told = each.usage.inputTokens ?? 0;
      const { tokens, exact } = await counter.count(each.request, targetOf(each));
      errors.push({ id: each.recording.id, wire: each.recording.wire, exact, told, tokens, error: Math.abs(tokens - told) / told });
    }
  }
  return errors;
}

/** Lines of a table, by wire: how many, the middle and the ninth of ten. */
export function errorTable(errors: readonly CountError[]): readonly string[] {
  return [...Map.groupBy(errors, ({ wire, exact }) => `${wire} | ${exact ? "exact" : "calibrated"}`)]
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(([name, of]) => `| ${name} | ${of.length} | ${percent(quantile(of, 0.5))} | ${percent(quantile(of, 0.9))} |`);
}

export function quantile(errors: readonly CountError[], part: number): number {
  const ascending = errors.map(({ error }) => error).toSorted((a, b) => a - b);
  const at = part * (ascending.length - 1);
  const below = ascending[Math.floor(at)] as number;
  return below + (at - Math.floor(at)) * ((ascending[Math.ceil(at)] as number) - below);
}

function percent(value: number): string {
  return `${(100 * value).toFixed(1)} %`;
}
