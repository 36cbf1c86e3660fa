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

export type AiSdkVersion = 2 | 3 | 4;

/** Newer versions are taken for the newest that is known. */
export function versionOf({ specificationVersion }: AiSdkModel): AiSdkVersion {
  return specificationVersion === "v2" ? 2 : specificationVersion === "v3" ? 3 : 4;
}
