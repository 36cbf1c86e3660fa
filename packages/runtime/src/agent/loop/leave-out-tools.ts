import type { InferRequest, ModelFailure, ToolSchema } from "@keelson/protocol";
import type { Model } from "../definition/model-source.ts";
import { offeredTools } from "../features/output/output-request.ts";
import { outputOf } from "../features/output/run-output.ts";
import { openedSources } from "../features/tool-sources/run-sources.ts";
import { runOf, type Loop } from "../turn/loop.ts";
import { PartKey } from "../turn/run-parts.ts";

/** The tools that a run does not offer to a model, because the model's vendor would refuse the request, or did. */
interface ToolsLeftOut {
  /** By model: the reason by the tool's name. */
  readonly refused: Map<string, Map<string, string>>;
  /** The warnings that were given. */
  readonly told: Set<string>;
  /** The last list without them, and the list that it was made of: the same list again, so that requests may be cached by it. */
  last?: { readonly from: readonly ToolSchema[]; readonly names: string; readonly tools: readonly ToolSchema[] };
}

const LEFT_OUT = new PartKey<ToolsLeftOut>("tools left out");

/** The most tools that one turn leaves out because the vendor named them in an error. */
const MAX_REFUSED = 16;
const MAX_WORDS = 300;

/** The request without the tools that the model's vendor accepts in no form. The first time, a warning names tool and server. */
export function withoutUnfitTools(loop: Loop, model: Model, request: InferRequest): InferRequest {
  const { tools } = request;
  if (tools === undefined || tools.length === 0) return request;
  const fit = fitList(loop, model, tools);
  if (fit === tools) return request;
  const { toolChoice, ...rest } = request;
  const isOffered = typeof toolChoice !== "object" || fit.some(({ name }) => name === toolChoice.name);
  return { ...rest, tools: fit, ...(toolChoice !== undefined && isOffered && { toolChoice }) };
}

/**
 * Stops offering the tool that a vendor's error names, for the rest of the run.
 * @param before the number of tools that were left out in this turn
 * @returns false if the error names no tool
 */
export function leaveOutTool(loop: Loop, failure: ModelFailure, before: number): boolean {
  if (failure.kind !== "invalid-request" || before >= MAX_REFUSED) return false;
  const model = loop.models.resolve(runOf(loop).model);
  const tools = fitList(loop, model, offeredTools(loop));
  const tool = namedTool(tools, failure.message);
  if (tool === undefined || tool === outputOf(loop).form?.tool?.name) return false;
  const { refused } = partOf(loop);
  const ofModel = refused.get(model.reference) ?? new Map<string, string>();
  refused.set(model.reference, ofModel);
  ofModel.set(tool, `its vendor refused it: ${failure.message.slice(0, MAX_WORDS)}`);
  return true;
}

function partOf({ parts }: Loop): ToolsLeftOut {
  const part = parts.get(LEFT_OUT) ?? { refused: new Map(), told: new Set() };
  parts.set(LEFT_OUT, part);
  return part;
}

function fitList(loop: Loop, model: Model, tools: readonly ToolSchema[]): readonly ToolSchema[] {
  const unfit = model.provider.unfitTools?.(tools) ?? [];
  const refused = loop.parts.get(LEFT_OUT)?.refused.get(model.reference);
  if (unfit.length === 0 && refused === undefined) return tools;
  const part = partOf(loop);
  const reasons = new Map([...unfit.map(({ tool, problem }) => [tool, problem] as const), ...(refused ?? [])]);
  for (const [tool, problem] of reasons) if (tools.some(({ name }) => name === tool)) tell(loop, part, model, tool, problem);
  const names = [...reasons.keys()].join(" ");
  if (part.last?.from !== tools || part.last.names !== names)
    part.last = { from: tools, names, tools: tools.filter(({ name }) => !reasons.has(name)) };
  return part.last.tools.length === tools.length ? tools : part.last.tools;
}

function tell(loop: Loop, { told }: ToolsLeftOut, model: Model, tool: string, problem: string): void {
  const key = `${model.reference} ${tool}`;
  if (told.has(key)) return;
  told.add(key);
  const origin = originOf(loop, tool);
  const status = `The tool "${tool}"${origin === undefined ? "" : ` of ${origin}`} is not offered to ${model.reference}: ${problem}. The other tools are; mend its schema, or take it off with excludedTools.`;
  loop.execution.emit({ type: "status", status, level: "warn" });
}

function originOf(loop: Loop, name: string): string | undefined {
  for (const source of openedSources(loop)?.all ?? []) {
    const tool = source.find(name);
    if (tool !== undefined) return tool.origin ?? `the source of tools "${source.name}"`;
  }
  return undefined;
}

/** The places of tools in a request, as errors name them. */
const PLACES = [/function_?declarations?\[(\d+)\]/i, /\btools[.[](\d+)\b/];
const NAME = /\b(?:function|tool) [`'"]([^`'"]+)[`'"]/i;

function namedTool(tools: readonly ToolSchema[], words: string): string | undefined {
  const [, name] = NAME.exec(words) ?? [];
  const byName = name === undefined ? undefined : tools.find((tool) => tool.name === name);
  if (byName !== undefined) return byName.name;
  for (const place of PLACES) {
    const [, at] = place.exec(words) ?? [];
    if (at !== undefined) return tools[Number(at)]?.name;
  }
  return undefined;
}
