import type { ModelInfo } from "@keelson/protocol";
import { modelInfo } from "./model-list.ts";
import { type Fields, stringOf } from "./wire-decoder.ts";

/** OpenAI lists nothing but ids, so that the ids must tell what the models can do. */
export function openAiModelInfo(model: Fields): ModelInfo {
  const id = stringOf(model["id"]);
  const reasons = /^(?:o\d|gpt-[5-9])/.test(id);
  const other = /embedding|whisper|tts|dall-e|image|moderation|realtime|transcribe|audio|davinci|babbage|sora/.test(id);
  const vision = !other && /^(?:o\d|gpt-4|gpt-[5-9]|chatgpt)/.test(id);
  return modelInfo(
    model,
    { toolCalling: !other, vision, streaming: !other, structuredOutput: !other, effortLevels: reasons && !other },
    reasons && !other ? ["low", "medium", "high"] : [],
  );
}
