import {
  EnvironmentError,
  type DurableEvent,
  type Environment,
  type EnvironmentSpec,
  type OperatorOutput,
  type RunId,
  type SessionId,
  type TransientEvent,
} from "@keelson/protocol";
import { OperatorContext, operatorInput } from "keelson/orchestration";
import { systemClock } from "keelson/session";

/** The module of the operator of these tests. */
export const served: URL = new URL("served.ts", import.meta.url);
export const open: EnvironmentSpec = { isolation: [], credentials: [] };
export const alone: EnvironmentSpec = { isolation: [{ type: "process" }], credentials: [] };

export interface Run {
  readonly output: Promise<OperatorOutput>;
  /** Resolves with the first event. */
  readonly begun: Promise<void>;
  readonly events: (DurableEvent | TransientEvent)[];
  readonly abort: () => void;
}

/** Runs what a message says in an environment, with the execution context of an operator. */
export function run(
  environment: Environment,
  message: string,
  spec: EnvironmentSpec = alone,
  startChild?: OperatorContext["startChild"],
): Run {
  const controller = new AbortController();
  const events: Run["events"] = [];
  const begun = Promise.withResolvers<void>();
  const context = new OperatorContext({
    clock: systemClock,
    operator: "served",
    runId: "r_1" as RunId,
    session: "s" as SessionId,
    parent: { run: "r_0" as RunId },
    signal: controller.signal,
    deadline: 4_000_000_000_000,
    authority: { policies: [], depth: 3 },
    onEvent(event) {
      events.push(event);
      begun.resolve();
    },
    ...(startChild && { startChild }),
  });
  const output = environment.run(operatorInput(message, "task"), spec, context).finally(() => context.end());
  output.catch(() => {});
  return { output, events, begun: begun.promise, abort: () => controller.abort(new Error("enough")) };
}

export const textOf = ({ message }: OperatorOutput): string => message.map((part) => (part.type === "text" ? part.text : "")).join("");
export const say = async (environment: Environment, message: string, spec?: EnvironmentSpec): Promise<string> =>
  textOf(await run(environment, message, spec).output);
/** What several messages come to, in one process. */
export const sayEach = async (environment: Environment, messages: readonly string[], spec?: EnvironmentSpec): Promise<string[]> =>
  JSON.parse(await say(environment, `each|${JSON.stringify(messages)}`, spec)) as string[];
export const failureOf = async (work: Promise<unknown>): Promise<EnvironmentError["failure"]> => {
  const error: unknown = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!EnvironmentError.is(error)) throw new Error("it was no EnvironmentError", { cause: error });
  return error.failure;
};
