import type { JsonObject, JsonValue, ToolAnswer, ToolQuestion } from "@keelson/protocol";
import type { ServerContext } from "@modelcontextprotocol/server";
import { pageUrl } from "../../tools/page-url.ts";
import { ClientAnswers, type WireQuestion } from "./client-answers.ts";
import { answerOf, formOf } from "./elicitation.ts";
import type { ClientOffer, McpRequest, ClientRoot } from "./mcp-request.ts";
import { inferenceAnswer, samplingRequest } from "./sampling.ts";
import { checkMethodOptions, type MethodOptions } from "../../json/check-method-options.ts";

const REQUEST_METHODS: MethodOptions<McpRequest> = { ask: [1, { key: true }], infer: [1, { key: true }], roots: [0, { key: true }] };

/** What a request comes with that says nothing of what is asked for. */
export interface RequestOrigin {
  readonly era: McpRequest["era"];
  readonly context: ServerContext;
  readonly client: { readonly name: string; readonly version: string } | undefined;
  readonly capabilities: ClientOffers | undefined;
  /** How long a person has for an answer where the request stays open meanwhile. */
  readonly waitMs: number;
  readonly onError: (error: Error) => void;
}

/** The part of a client's capabilities that is looked at. */
interface ClientOffers {
  readonly elicitation?: { readonly form?: unknown; readonly url?: unknown } | undefined;
  readonly sampling?: unknown;
  readonly roots?: unknown;
}

/** A request at work; in the stateless revision one of several that come to the same. */
export interface OpenRequest {
  readonly request: McpRequest;
  /** What was required of the client, which does not offer it. */
  readonly lacking: ReadonlySet<ClientOffer>;
  /** Of the stateless revision alone. */
  readonly answers: ClientAnswers;
  /** A later request took the place of the one that it was opened with: what is told goes there. */
  moveTo(origin: RequestOrigin): void;
}

export function openRequest(first: RequestOrigin, signal: AbortSignal, given: { readonly [key: string]: unknown }): OpenRequest {
  let origin = first;
  let told = 0;
  const answers = new ClientAnswers(given);
  const lacking = new Set<ClientOffer>();
  const { elicitation, sampling, roots } = first.capabilities ?? {};
  const offers: McpRequest["offers"] = {
    // A client of an earlier revision says only that it can be asked, which was by forms then.
    forms: elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined),
    urls: elicitation?.url !== undefined,
    sampling: sampling !== undefined,
    roots: roots !== undefined,
  };
  const principal = first.context.http?.authInfo?.clientId;
  const fail = (error: unknown): void => origin.onError(error instanceof Error ? error : new Error(String(error)));

  async function put<Answer>(
    key: string | undefined,
    question: WireQuestion,
    read: (response: unknown) => Promise<Answer | undefined> | Answer | undefined,
    mayRepeat?: boolean,
  ): Promise<Answer> {
    if (origin.era === "stateless") return answers.answer(key ?? answers.nextKey(), question, read, mayRepeat);
    for (;;) {
      const options = { signal, timeout: origin.waitMs };
      const answer = await read(await origin.context.mcpReq.send(question as never, options));
      if (answer !== undefined) return answer;
    }
  }

  const request: McpRequest = {
    method: first.context.mcpReq.method,
    era: first.era,
    ...(first.client !== undefined && { client: first.client }),
    ...(principal !== undefined && { principal }),
    offers,
    meta: (first.context.mcpReq._meta ?? {}) as JsonObject,
    signal,
    log(level, data, logger) {
      void origin.context.mcpReq.log(level, data, logger).catch(fail);
    },
    progress(message, ratio) {
      const progressToken = origin.context.mcpReq._meta?.progressToken;
      if (progressToken === undefined || signal.aborted) return;
      // It has to grow with each, whatever a tool says.
      const wanted = ratio === undefined ? told + 1 : Math.min(Math.max(ratio, 0), 1) * 100;
      told = wanted > told ? wanted : told + 0.001;
      const params = { progressToken, progress: told, ...(ratio !== undefined && { total: Math.max(100, told) }), message };
      void origin.context.mcpReq.notify({ method: "notifications/progress", params }).catch(fail);
    },
    async ask(question, { key } = {}) {
      if (question.url !== undefined) {
        if (!offers.urls) return unable("it can't open pages for a person");
        const page = pageUrl(question.url);
        if ("problem" in page) return unable(page.problem);
        const params = {
          mode: "url",
          message: question.message,
          url: page.url,
          // Told apart by it in the handshake revision; the stateless one has none.
          ...(origin.era === "handshake" && { elicitationId: `${String(origin.context.mcpReq.id)}-${answers.nextKey()}` }),
        };
        return await asked(key, { method: "elicitation/create", params }, question);
      }
      const form = formOf(question);
      if (!offers.forms) return unable("it can't ask a person");
      if (form === undefined) return unable("no form of the protocol can hold an answer of this schema: its members must be plain");
      return await asked(key, { method: "elicitation/create", params: { mode: "form", ...form } }, question);
    },
    async infer(inference, { key } = {}) {
      if (!offers.sampling) return { type: "refused", reason: "The client does not let servers ask its model." };
      try {
        return await put(key, { method: "sampling/createMessage", params: samplingRequest(inference) }, inferenceAnswer);
      } catch (error) {
        return { type: "refused", reason: `The client did not ask its model: ${said(error)}` };
      }
    },
    require(offer) {
      const offered: { readonly [Offer in ClientOffer]: boolean } = {
        elicitation: offers.forms || offers.urls,
        sampling: offers.sampling,
        roots: offers.roots,
      };
      if (offered[offer]) return;
      lacking.add(offer);
      throw new Error(`The client does not offer ${offer}, without which this can't be done.`);
    },
    async roots({ key } = {}) {
      if (!offers.roots) return undefined;
      try {
        return await put(key, { method: "roots/list", params: {} }, rootsOf);
      } catch {
        return undefined;
      }
    },
  };

  async function asked(key: string | undefined, wire: WireQuestion, question: ToolQuestion): Promise<ToolAnswer> {
    try {
      return await put(key, wire, (response) => answerOf(question, response), question.mayRepeat);
    } catch (error) {
      return { type: "cancelled", reason: `The client was asked and gave no answer: ${said(error)}` };
    }
  }

  checkMethodOptions("request", request, REQUEST_METHODS);
  return {
    request,
    lacking,
    answers,
    moveTo(next) {
      origin = next;
    },
  };
}

function unable(why: string): { readonly type: "cancelled"; readonly reason: string } {
  return { type: "cancelled", reason: `The client was not asked: ${why}.` };
}

function said(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function rootsOf(response: unknown): readonly ClientRoot[] | undefined {
  const roots = (response as { readonly roots?: JsonValue } | null)?.roots;
  if (!Array.isArray(roots) || !roots.every((root) => typeof (root as JsonObject | null)?.["uri"] === "string")) return undefined;
  return (roots as readonly JsonObject[]).map(({ uri, name }) => ({
    uri: uri as string,
    ...(typeof name === "string" && { name }),
  }));
}
