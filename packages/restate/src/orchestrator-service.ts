import {
  decisionCodec,
  messageCodec,
  OrchestratorError,
  operatorInputCodec,
  queryCodec,
  signalCodec,
  type Authority,
  type JsonValue,
  type RunId,
  type SessionId,
} from "@keelson/protocol";
import { createDurableOrchestrator, type AnyRunner, type DurableOrchestrator } from "keelson/orchestration";
import { jsonValue } from "keelson/tools";
import { CancelledError, handlers, service, TerminalError, type Context, type ServiceDefinition } from "@restatedev/restate-sdk";
import { granted, refused, type Answer } from "./answer.ts";
import { isPassing, UnreachableError } from "./passing-failure.ts";
import { orchestratorOptions, type ServiceNames } from "./service-options.ts";
import { sendAdvance } from "./session-object.ts";

/** What who attached is told: what the run came to, or when to ask again. */
export type Attached = { readonly output: JsonValue } | { readonly askAgainInMs: number };

export interface StartRequest {
  readonly id: RunId;
  readonly operator: string;
  readonly input: JsonValue;
  readonly parent?: RunId;
  readonly parentSession?: SessionId;
  readonly deadline?: number;
  readonly authority?: JsonValue;
}

export interface AttachRequest {
  readonly id: RunId;
  readonly waitMs: number;
}

export interface CancelRequest {
  readonly id: RunId;
  readonly how: "stop" | "abort";
}

export interface SignalRequest {
  readonly target: string;
  readonly signal: JsonValue;
}

export interface SteerRequest {
  readonly target: string;
  readonly message: JsonValue;
  readonly interrupt: boolean;
}

export interface QueryRequest {
  readonly target: string;
  readonly query: JsonValue;
}

export interface ApproveRequest {
  readonly token: string;
  readonly decision: JsonValue;
}

/**
 * How many callers of a process wait in a request of their own. Each takes one of the thousand invocations that a server of Restate has under
 * way at once by default: those that wait must leave room for those that work.
 */
const MAX_WAITING = 200;

const ASK_AGAIN_MS = 1000;

/** How long a write is tried again while the log can't be reached, or another process has the session, before its caller is told. */
const WRITE_RETRIES = { initialRetryInterval: 50, retryIntervalFactor: 2, maxRetryInterval: 1000, maxRetryDuration: 15_000 } as const;

export interface OrchestratorServiceOptions {
  readonly names: ServiceNames;
  readonly journalRetentionMs: number;
  /** Fires where this process takes no more requests: whoever waits in one is told to ask again. */
  readonly closing: AbortSignal;
}

/** What callers outside ask of runs. It keeps nothing either: the log knows each run, and which session it works in. */
export function orchestratorService(
  runner: AnyRunner,
  { names, journalRetentionMs, closing }: OrchestratorServiceOptions,
): ServiceDefinition<string, unknown> {
  let waiting = 0;
  const reader = createDurableOrchestrator({ runner: () => runner, wake: async () => {} });

  /** Writes to the log, then has woken by Restate whom that concerns: the one and the other happen, whatever fails in between. */
  async function write<T extends JsonValue>(
    ctx: Context,
    what: string,
    act: (orchestrator: DurableOrchestrator) => Promise<T>,
  ): Promise<Answer<T>> {
    const written = async () => {
      const woken = new Set<SessionId>();
      const orchestrator = createDurableOrchestrator({ runner: () => runner, wake: async (session) => void woken.add(session) });
      const answer = await answerOf(() => act(orchestrator));
      return { answer, woken: [...woken] };
    };
    try {
      const { answer, woken } = await ctx.run(what, written, WRITE_RETRIES);
      for (const session of woken) sendAdvance(ctx, names, session);
      return answer;
    } catch (error) {
      if (!(error instanceof TerminalError) || error instanceof CancelledError) throw error;
      return refused(
        new UnreachableError(`${what} was tried for ${WRITE_RETRIES.maxRetryDuration / 1000} s in vain: ${error.message}`, error),
      );
    }
  }

  return service({
    name: names.service,
    options: orchestratorOptions(journalRetentionMs),
    handlers: {
      start: (ctx: Context, { id, operator, input, authority, ...options }: StartRequest): Promise<Answer<RunId>> =>
        write(ctx, "start", (orchestrator) =>
          orchestrator.start(operator, operatorInputCodec.decode(input), {
            ...options,
            id,
            ...(authority !== undefined && { authority: authority as unknown as Authority }),
          }),
        ),
      cancel: (ctx: Context, { id, how }: CancelRequest): Promise<Answer<null>> =>
        write(ctx, "cancel", async (orchestrator) => {
          await orchestrator.cancel(id, how);
          return null;
        }),
      signal: (ctx: Context, { target, signal }: SignalRequest): Promise<Answer<null>> => {
        const key = ctx.request().id;
        return write(ctx, "signal", async (orchestrator) => {
          await orchestrator.signal(target, signalCodec.decode(signal), { key });
          return null;
        });
      },
      steer: (ctx: Context, { target, message, interrupt }: SteerRequest): Promise<Answer<null>> => {
        const key = ctx.request().id;
        return write(ctx, "steer", async (orchestrator) => {
          await orchestrator.steer(target, messageCodec.decode(message), { interrupt, key });
          return null;
        });
      },
      approve: (
        ctx: Context,
        { token, decision }: ApproveRequest,
      ): Promise<Answer<{ readonly session: SessionId; readonly runId: RunId }>> => {
        const key = ctx.request().id;
        return write(ctx, "approve", (orchestrator) => orchestrator.approve(token, decisionCodec.decode(decision), { key }));
      },
      attach: handlers.handler({ journalRetention: 0 }, (ctx: Context, { id, waitMs }: AttachRequest): Promise<Answer<Attached>> => {
        const mayWait = waiting < MAX_WAITING;
        const signal = AbortSignal.any([AbortSignal.timeout(mayWait ? waitMs : 0), ctx.request().attemptCompletedSignal, closing]);
        return answerOf(async () => {
          waiting++;
          try {
            return { output: jsonValue(await reader.attach(id, { signal })) };
          } catch (error) {
            if (signal.aborted && OrchestratorError.is(error, "cancelled")) return { askAgainInMs: mayWait ? 0 : ASK_AGAIN_MS };
            throw error;
          } finally {
            waiting--;
          }
        });
      }),
      query: handlers.handler({ journalRetention: 0 }, (_ctx: Context, { target, query }: QueryRequest): Promise<Answer<JsonValue>> =>
        answerOf(() => reader.query(target, queryCodec.decode(query))),
      ),
    },
  });
}

/** Refusals are answers; what may be well a moment later is thrown, and Restate asks again. */
async function answerOf<T extends JsonValue>(act: () => Promise<T>): Promise<Answer<T>> {
  try {
    return granted(await act());
  } catch (error) {
    if (isPassing(error)) throw error;
    return refused(error);
  }
}
