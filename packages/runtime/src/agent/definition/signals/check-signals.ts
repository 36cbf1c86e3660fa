import { AgentError, signalCodec, type FsmStateId, type Signal, type SignalAction, type SignalRoute } from "@keelson/protocol";
import { sourceLine } from "../../../session/untrusted-sources.ts";
import type { AgentOptions } from "../agent.ts";

const ACTIONS: ReadonlySet<string> = new Set<SignalAction["type"]>(["continue", "graceful-stop", "force-stop", "transition", "custom"]);

/** @throws AgentError of kind `invalid-option` for routes that are none, or lead to a state or handler that is not there */
export function checkSignalOptions(options: AgentOptions<unknown>): void {
  const { signalRoutes, onSignal, strategy } = options;
  if (onSignal !== undefined && (typeof onSignal !== "object" || onSignal === null || Array.isArray(onSignal)))
    throw invalid("onSignal", "must be an object of handlers by name, as in { refund: async (signal) => … }");
  if (onSignal !== undefined)
    for (const [name, handler] of Object.entries(onSignal))
      if (typeof handler !== "function") throw invalid(`onSignal.${name}`, "must be a function");
  if (signalRoutes !== undefined && !Array.isArray(signalRoutes)) throw invalid("signalRoutes", "must be a list of routes");
  for (const [index, route] of (signalRoutes ?? []).entries()) checkRoute(`signalRoutes[${index}]`, route, options);
  for (const [index, route] of (strategy?.signalRoutes() ?? []).entries()) checkRoute(`strategy.signalRoutes()[${index}]`, route, options);
}

function checkRoute(option: string, route: SignalRoute, { strategy, onSignal }: AgentOptions<unknown>): void {
  const { kind, action, priority, predicate } = (route ?? {}) as Partial<SignalRoute>;
  if (typeof kind !== "string" || kind === "") throw invalid(option, "needs the kind of signal it is for");
  if (action === undefined || !ACTIONS.has(action.type))
    throw invalid(option, `must have an action of the type ${[...ACTIONS].join(", ")}, not ${JSON.stringify(action)}`);
  if (typeof priority !== "number" || Number.isNaN(priority))
    throw invalid(option, `must have a priority that is a number, not ${String(priority)}`);
  if (predicate !== undefined && typeof predicate !== "function") throw invalid(option, "has a predicate that is no function");
  if (action.type === "transition" && !strategy?.machine?.states.has(action.state as FsmStateId))
    throw invalid(option, `moves to the state ${JSON.stringify(action.state)}, which the agent's strategy does not have`);
  if (action.type === "custom" && (onSignal === undefined || !Object.hasOwn(onSignal, action.name)))
    throw invalid(option, `names the handler ${JSON.stringify(action.name)}, which onSignal does not have`);
}

/** A signal as it goes into an inbox. @throws AgentError of kind `invalid-option` */
export function checkSignal(signal: Signal): Signal {
  const { kind, untrusted } = (signal ?? {}) as Partial<Signal>;
  if (typeof kind !== "string" || kind === "") throw invalid("signal", `needs a kind, which ${JSON.stringify(signal)} has not`);
  if (untrusted !== undefined && !(Array.isArray(untrusted) && untrusted.every((source) => typeof source === "string")))
    throw invalid("signal", `"${kind}" must name in \`untrusted\` where its text is from, as in ["webhook of example.com"]`);
  try {
    return signalCodec.decode({
      kind,
      payload: (signal.payload as unknown) ?? null,
      ...(untrusted && { untrusted: untrusted.map(sourceLine) }),
    });
  } catch (cause) {
    throw new AgentError(
      { kind: "invalid-option", option: "signal", message: `The signal "${kind}" must have a payload that is JSON.` },
      { cause },
    );
  }
}

function invalid(option: string, problem: string): AgentError {
  return new AgentError({ kind: "invalid-option", option, message: `${option} ${problem}.` });
}
