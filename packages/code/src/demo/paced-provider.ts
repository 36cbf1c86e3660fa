import type { InferEvent, InferRequest, Provider, Usage } from "@keelson/protocol";

export interface PacedOptions {
  /** Between words; 0 writes as fast as it can. */
  readonly wordMs: number;
  sleep(ms: number, signal: AbortSignal | undefined): Promise<void>;
}

// About what vendors' tokenizers make of English and code.
const BYTES_PER_TOKEN = 4;

/**
 * A scripted provider as one would see a model: its text comes word by word, and its tokens are estimated from the text,
 * since a script has none.
 */
export function createPacedProvider(provider: Provider, { wordMs, sleep }: PacedOptions): Provider {
  return {
    name: provider.name,
    wire: provider.wire,
    async *stream(request, options) {
      let outputBytes = 0;
      for await (const event of provider.stream(request, options)) {
        if (event.type === "end") {
          yield { ...event, usage: estimatedUsage(request, outputBytes) };
          continue;
        }
        if (event.type !== "text-delta") {
          if (event.type === "tool-call-delta") outputBytes += event.text.length;
          yield event;
          continue;
        }
        outputBytes += event.text.length;
        for (const text of event.text.match(/\s*\S+\s*$|\s*\S+/g) ?? [event.text]) {
          if (wordMs > 0) await sleep(wordMs, options?.signal);
          yield { type: "text-delta", text } satisfies InferEvent;
        }
      }
    },
  };
}

function estimatedUsage(request: InferRequest, outputBytes: number): Usage {
  return {
    inputTokens: Math.ceil(JSON.stringify(request).length / BYTES_PER_TOKEN),
    outputTokens: Math.ceil(outputBytes / BYTES_PER_TOKEN),
    cacheReadTokens: null,
    cacheCreationTokens: null,
    reasoningTokens: null,
  };
}
