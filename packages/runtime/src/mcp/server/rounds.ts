import type { JsonObject } from "@keelson/protocol";
import type { InputRequiredResult, RequestStateCodec, ServerContext } from "@modelcontextprotocol/server";
import { randomId } from "../../json/random-id.ts";
import type { ServerSdk } from "./load-server-sdk.ts";
import type { ClientOffer } from "./mcp-request.ts";
import { type OpenRequest, openRequest, type RequestOrigin } from "./open-request.ts";

/** What a client of the stateless revision brings back with an answer, signed. */
interface RoundState {
  /** What was asked for: an answer to one request is none to another. */
  readonly subject: string;
  /** The same in all rounds of a request. */
  readonly id: string;
  readonly answers: JsonObject;
  readonly kept: JsonObject;
  /** The work is held in this process under `id`, and goes on. */
  readonly held?: true;
}

/** A request on its way through its rounds. */
export interface Round {
  readonly open: OpenRequest;
  readonly id: string;
  /** What an earlier round kept for this one. */
  readonly kept: JsonObject;
  keep(data: JsonObject): void;
}

export interface RoundWork<Result> {
  readonly subject: string;
  /** Whether it may be done again from its start with an answer. Else it is held while the client is asked. */
  readonly mayRepeat: boolean;
  do(round: Round): Promise<Result>;
  /** The process that held it is gone, or did not wait for so long. */
  lost(): Result;
}

interface Held {
  readonly work: Promise<unknown>;
  readonly round: KeptRound;
  readonly controller: AbortController;
  readonly timer: ReturnType<typeof setTimeout>;
}

interface KeptRound extends Round {
  kept: JsonObject;
}

const MAX_HELD = 256;

/** Takes requests of both eras through what they ask their client. */
export class Rounds {
  readonly #sdk: ServerSdk;
  readonly #codec: RequestStateCodec<RoundState>;
  readonly #waitMs: number;
  readonly #held = new Map<string, Held>();

  constructor(sdk: ServerSdk, options: { readonly key: Uint8Array; readonly waitMs: number }) {
    this.#sdk = sdk;
    this.#waitMs = options.waitMs;
    this.#codec = sdk.createRequestStateCodec<RoundState>({
      key: options.key,
      // What was held longer is told as lost, not as wrong.
      ttlSeconds: Math.ceil(options.waitMs / 1000) + 60,
      bind: (context) => `${context.mcpReq.method}\0${context.http?.authInfo?.clientId ?? ""}`,
    });
  }

  verify = (state: string, context: ServerContext): Promise<RoundState> => this.#codec.verify(state, context);

  async take<Result>(origin: RequestOrigin, work: RoundWork<Result>): Promise<Result | InputRequiredResult> {
    const { context } = origin;
    if (origin.era === "handshake") {
      const round = newRound(openRequest(origin, context.mcpReq.signal, {}), randomId(), {});
      return work.do(round);
    }
    const state = context.mcpReq.requestState<RoundState>();
    if (state !== undefined && state.subject !== work.subject) {
      const { ProtocolError, ProtocolErrorCode } = this.#sdk;
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        "This requestState belongs to another request. Send it with the request that it came for.",
      );
    }
    const responses = context.mcpReq.inputResponses ?? {};
    if (state?.held) return await this.#goOn(origin, work, state, responses);
    const controller = new AbortController();
    const open = openRequest(origin, controller.signal, { ...state?.answers, ...responses });
    const round = newRound(open, state?.id ?? randomId(), state?.kept ?? {});
    return await this.#race(origin, work, { round, controller, work: work.do(round) });
  }

  async #goOn<Result>(
    origin: RequestOrigin,
    work: RoundWork<Result>,
    state: RoundState,
    responses: { readonly [key: string]: unknown },
  ): Promise<Result | InputRequiredResult> {
    const held = this.#held.get(state.id);
    if (held === undefined) return work.lost();
    this.#held.delete(state.id);
    clearTimeout(held.timer);
    held.round.open.moveTo(origin);
    held.round.open.answers.hear(responses);
    return await this.#race(origin, work, held);
  }

  /** To the end of the work, or to what it asks. */
  async #race<Result>(origin: RequestOrigin, work: RoundWork<Result>, at: Omit<Held, "timer">): Promise<Result | InputRequiredResult> {
    const { signal } = origin.context.mcpReq;
    const { round, controller } = at;
    const cancel = (): void => controller.abort(signal.reason);
    if (signal.aborted) cancel();
    signal.addEventListener("abort", cancel, { once: true });
    try {
      const first = await Promise.race([at.work as Promise<Result>, round.open.answers.asked().then(() => ASKED)]);
      if (round.open.lacking.size > 0) throw this.#lacking(round.open.lacking);
      if (first !== ASKED) return first as Result;
    } finally {
      signal.removeEventListener("abort", cancel);
    }
    const { answers } = round.open;
    const inputRequests = answers.open;
    const repeat = answers.mayRepeat(work.mayRepeat);
    // Held work has no one to tell of its failure until it is asked for.
    at.work.catch(() => {});
    if (repeat) controller.abort(new Error("The client is asked; the call is made again with its answer."));
    else this.#hold(at);
    const state: RoundState = {
      subject: work.subject,
      id: round.id,
      answers: answers.known,
      kept: round.kept,
      ...(!repeat && { held: true }),
    };
    const requestState = await this.#codec.mint(state, origin.context);
    return this.#sdk.inputRequired({ inputRequests: inputRequests as never, requestState });
  }

  #lacking(offers: ReadonlySet<ClientOffer>): Error {
    const requiredCapabilities = Object.fromEntries([...offers].map((offer) => [offer, {}]));
    return new this.#sdk.MissingRequiredClientCapabilityError({ requiredCapabilities });
  }

  #hold(at: Omit<Held, "timer">): void {
    const giveUp = (): void => {
      this.#held.delete(at.round.id);
      at.round.open.answers.cancel();
    };
    const timer = setTimeout(giveUp, this.#waitMs);
    timer.unref();
    this.#held.set(at.round.id, { ...at, timer });
    if (this.#held.size <= MAX_HELD) return;
    const [oldest] = this.#held.values();
    if (oldest === undefined) return;
    clearTimeout(oldest.timer);
    this.#held.delete(oldest.round.id);
    oldest.round.open.answers.cancel();
  }

  /** Nobody will answer any more: what is held goes on as if it had been cancelled. */
  close(): void {
    for (const { timer, round } of this.#held.values()) {
      clearTimeout(timer);
      round.open.answers.cancel();
    }
    this.#held.clear();
  }
}

const ASKED: unique symbol = Symbol("asked");

function newRound(open: OpenRequest, id: string, kept: JsonObject): KeptRound {
  const round: KeptRound = {
    open,
    id,
    kept,
    keep(data) {
      round.kept = { ...round.kept, ...data };
    },
  };
  return round;
}
