import { ModelError, type ModelInfo } from "@keelson/protocol";
import { readTextUpTo, readWholeText, type TransportResponse } from "../transport/index.ts";
import { failureOfStatus, MAX_ERROR_BYTES } from "./vendor-failure.ts";
import { type Fields, fieldsOf, stringOf } from "./wire-decoder.ts";

export interface ModelPage {
  readonly models: readonly Fields[];
  /** The id after which the next page begins. */
  readonly next: string | undefined;
}

/** Reads one page of `GET /models`: both vendors respond with `{ data: [{ id, … }] }`. */
export async function readModelPage(response: TransportResponse, provider: string): Promise<ModelPage> {
  const { items, body } = await readListing(response, provider, "data");
  return { models: items, next: body["has_more"] === true ? stringOf(body["last_id"]) || undefined : undefined };
}

/** Reads a list of models whose items stand in the member `member`. */
export async function readListing(
  response: TransportResponse,
  provider: string,
  member: string,
): Promise<{ readonly items: readonly Fields[]; readonly body: Fields }> {
  if (response.status !== 200) {
    throw failureOfStatus(response.status, response, await readTextUpTo(response.body, MAX_ERROR_BYTES), {
      provider,
      model: "",
    });
  }
  const text = await readWholeText(response.body, []);
  let body: Fields | undefined;
  try {
    const parsed: unknown = JSON.parse(text);
    // Some respond with the bare list (Together).
    body = Array.isArray(parsed) ? { [member]: parsed } : fieldsOf(parsed);
  } catch (cause) {
    throw new ModelError(
      {
        kind: "invalid-response",
        message: `${provider} responded to the request for its models with no JSON: ${text.slice(0, 120)}`,
        provider,
      },
      { cause },
    );
  }
  const items = body?.[member];
  if (body === undefined || !Array.isArray(items))
    throw new ModelError({
      kind: "invalid-response",
      message: `${provider} responded to the request for its models without ${member}`,
      provider,
    });
  return { items: items.map(fieldsOf).filter((model) => model !== undefined), body };
}

export function modelInfo(
  model: Fields,
  capabilities: ModelInfo["capabilities"],
  effortLevels: ModelInfo["supportedEffortLevels"],
): ModelInfo {
  const id = stringOf(model["id"]);
  return {
    id,
    displayName: stringOf(model["display_name"]) || id,
    description: stringOf(model["description"]),
    capabilities,
    contextWindow: positive(model["max_input_tokens"]) ?? positive(model["context_length"]) ?? positive(model["max_model_len"]),
    maxOutputTokens: positive(model["max_tokens"]) ?? positive(model["max_output_tokens"]),
    supportedEffortLevels: effortLevels,
  };
}

export function positive(value: unknown): number | null {
  return typeof value === "number" && value > 0 ? value : null;
}
