import type { InferEvent, InferRequest, Provider, Usage } from "@keelson/protocol";
import type { ShowPace } from "./show-pace.ts";

// About what vendors' tokenizers make of English and code.
const BYTES_PER_TOKEN = 4;
// A pace that can be read along with.
const THINK_MS = 1_100;
const WORD_MS = 27;

/**
 * A scripted provider as one would see a model: it thinks, its text comes word by word, and its tokens are estimated from the text, since a script
 * has none. Each turn is a step of the show.
 * @param pace absent: no person reads along, and it writes as fast as it can
 */
export function createPacedProvider(provider: Provider, pace?: ShowPace): Provider {
  return {
    name: provider.name,
    wire: provider.wire,
    async *stream(request, options) {
      let outputBytes = 0;
      pace?.step();
      await pace?.sleep(THINK_MS, options?.signal);
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
          await pace?.sleep(WORD_MS, options?.signal);
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
