import { ModelError } from "@keelson/protocol";
import { fieldsOf } from "../wire-decoder.ts";

/** The part of a web stream that is read. */
export interface AiSdkStream {
  getReader(): AiSdkReader;
}
export interface AiSdkReader {
  read(): Promise<{ readonly done: boolean; readonly value?: unknown }>;
  cancel(reason?: unknown): Promise<void>;
}

/**
 * A language model as the AI SDK's providers make them (`LanguageModelV2` to `V4` of `@ai-sdk/provider`), by the part that is
 * used here. What it streams is read with care, since the versions differ in it.
 */
export interface AiSdkModel {
  /** `v4`; `v3` and `v2` are understood too. */
  readonly specificationVersion: string;
  readonly provider: string;
  readonly modelId: string;
  // In method syntax, so that models with stricter options fit.
  doStream(options: { [option: string]: unknown }): PromiseLike<{
    readonly stream: AiSdkStream;
    readonly response?: { readonly headers?: { readonly [name: string]: string | undefined } | undefined } | undefined;
  }>;
}

/** @throws ModelError of kind `invalid-request` for what no provider of the AI SDK makes as a language model */
export function checkAiSdkModel(model: unknown, name = "ai-sdk"): asserts model is AiSdkModel {
  const problem = problemOf(model);
  if (problem === undefined) return;
  throw new ModelError({
    kind: "invalid-request",
    progress: "unsent",
    message: `createAiSdkProvider takes a language model of the AI SDK, such as anthropic("claude-haiku-4-5"), or a function that makes one of a model's name: ${problem}`,
    provider: name,
  });
}

function problemOf(model: unknown): string | undefined {
  if (model instanceof Promise) return "this is a promise; await it first";
  if (typeof model === "string") return `this is the text ${JSON.stringify(model)}; a name alone finds no model here`;
  const fields = fieldsOf(model);
  if (fields === undefined) return `this is ${model === null ? "null" : Array.isArray(model) ? "a list" : `of type ${typeof model}`}`;
  if (typeof fields["doStream"] !== "function") {
    if (typeof fields["doEmbed"] === "function") return "this is an embedding model";
    if (typeof fields["languageModel"] === "function") return "this is a whole provider; pass its languageModel function";
    return "this has no doStream()";
  }
  const version = fields["specificationVersion"];
  if (typeof version !== "string" || !/^v\d+$/.test(version)) return "this names no specificationVersion";
  if (version === "v1") return "this is of version 1 of its interface; update the package that makes it";
  for (const name of ["provider", "modelId"]) if (typeof fields[name] !== "string") return `this names no ${name}`;
  return undefined;
}

export type AiSdkVersion = 2 | 3 | 4;

/** Newer versions are taken for the newest that is known. */
export function versionOf({ specificationVersion }: AiSdkModel): AiSdkVersion {
  return specificationVersion === "v2" ? 2 : specificationVersion === "v3" ? 3 : 4;
}
