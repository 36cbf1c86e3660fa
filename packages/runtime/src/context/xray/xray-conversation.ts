import type { InferRequest, ToolSchema, Usage } from "@keelson/protocol";
import type { ModelPrice } from "../../providers/model-price.ts";
import type { TokenTarget } from "../../providers/token-bound.ts";
import { createTokenCounter } from "../../providers/token-count/create-token-counter.ts";
import { deferredTools } from "./deferred-tools.ts";
import { type Xray, type XrayOptions, xrayRequest } from "./xray-request.ts";

/** A request as a conversation would make it now, and what was reported of its last one. */
export interface PlannedRequest {
  readonly request: InferRequest;
  readonly target: TokenTarget;
  readonly price: ModelPrice | null;
  /** How many of the messages the last request held, and what its vendor counted. */
  readonly last?: { readonly messages: number; readonly usage: Usage };
  readonly filesOf?: XrayOptions["filesOf"];
  readonly systemFiles?: XrayOptions["systemFiles"];
  /** Its tools, if none of them were told by name alone, and how many are. */
  readonly deferral?: { readonly whole: readonly ToolSchema[]; readonly deferred: number };
}

/**
 * @param which `last`: the request that was made last, as its vendor counted it, where that is known; `next`: what would be sent now,
 * expected from that
 */
export async function xrayConversation(planned: PlannedRequest, which: "next" | "last"): Promise<Xray> {
  const { request, target, deferral } = planned;
  const xray = await xrayPlanned(planned, which);
  if (deferral === undefined) return xray;
  return { ...xray, deferred: await deferredTools(request.model, target, { sent: request.tools ?? [], ...deferral }) };
}

async function xrayPlanned({ request, target, price, last, filesOf, systemFiles }: PlannedRequest, which: "next" | "last"): Promise<Xray> {
  const options = { target, price, ...(filesOf && { filesOf }), ...(systemFiles && { systemFiles }) };
  if (last === undefined) return xrayRequest(request, options);
  const sent: InferRequest = { ...request, messages: request.messages.slice(0, last.messages) };
  if (which === "last") return xrayRequest(sent, { ...options, usage: last.usage });
  const counter = createTokenCounter();
  counter.report(sent, target, last.usage);
  return xrayRequest(request, { ...options, counter });
}
