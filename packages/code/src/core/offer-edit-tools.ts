import type { InferRequest, Provider, ToolSchema } from "@keelson/protocol";
import { toolsOfModel } from "../tools/edit-tools-of-model.ts";

/**
 * The same provider, which offers each model the tools for changing files that its family was trained on. The agent has all of them, so that a session can continue
 * with a model of another family, and its log stays valid.
 */
export function offerEditTools(provider: Provider): Provider {
  const offered = new WeakMap<readonly ToolSchema[], Map<string, readonly ToolSchema[]>>();
  const narrowed = (request: InferRequest): InferRequest => {
    const { tools, model } = request;
    if (tools === undefined) return request;
    let byModel = offered.get(tools);
    if (byModel === undefined) offered.set(tools, (byModel = new Map()));
    let list = byModel.get(model);
    if (list === undefined) byModel.set(model, (list = toolsOfModel(model, tools)));
    return { ...request, tools: list };
  };
  return {
    ...provider,
    stream: (request, options) => provider.stream(narrowed(request), options),
    ...(provider.outputBound && { outputBound: (request) => provider.outputBound?.(narrowed(request)) ?? null }),
  };
}
