import { OrchestratorError, type JsonValue, type Orchestrator, type RunId, type Signal } from "@keelson/protocol";
import { observe, type ObserveOptions } from "./observe.ts";
import { checkOptionNames } from "../../json/option-names.ts";
import { POSITIVE_OPTION } from "../../json/option-rules.ts";

/** What may be done to a dispatch at work: tell it something, have it end soon, end it at once, or send any other signal. */
export type Intervention =
  | { readonly type: "steer"; readonly text: string }
  | { readonly type: "stop" }
  | { readonly type: "abort" }
  | { readonly type: "signal"; readonly signal: Signal };

/**
 * Watches a dispatch as `observe` does, and acts on it where `decide` says so, once for each answer. What comes after its end has no
 * effect. @returns what was done, in order
 */
export async function intervene(
  orchestrator: Pick<Orchestrator, "attach" | "query" | "signal" | "cancel">,
  id: RunId | string,
  decide: (answer: JsonValue) => Intervention | undefined | Promise<Intervention | undefined>,
  options: ObserveOptions = {},
): Promise<readonly Intervention[]> {
  checkOptionNames("intervene", options, { query: true, everyMs: POSITIVE_OPTION, signal: true, clock: true });
  const done: Intervention[] = [];
  let isOver = false;
  const end = (): void => void (isOver = true);
  orchestrator.attach(id as RunId).then(end, end);
  for await (const answer of observe(orchestrator, id, options)) {
    const intervention = await decide(answer);
    if (intervention === undefined || isOver || options.signal?.aborted) continue;
    try {
      await act(orchestrator, id, intervention);
      done.push(intervention);
    } catch (error) {
      // It ended in the meantime.
      if (!OrchestratorError.is(error, "signal-failed") || !isOver) throw error;
    }
  }
  return done;
}

async function act(orchestrator: Pick<Orchestrator, "signal" | "cancel">, id: string, intervention: Intervention): Promise<void> {
  switch (intervention.type) {
    case "steer":
      return orchestrator.signal(id, { kind: "user-message", payload: intervention.text });
    case "signal":
      return orchestrator.signal(id, intervention.signal);
    default:
      return orchestrator.cancel(id as RunId, intervention.type);
  }
}
