import { ModelError } from "@keelson/protocol";
import { readTextUpTo, type RequestOrigin, type TransportResponse } from "../../transport/index.ts";
import { type ApiCall, ApiClient, type ProviderOptions } from "../provider-options.ts";
import { failureOfStatus, MAX_ERROR_BYTES } from "../vendor-failure.ts";
import { ollamaAddress } from "./ollama-address.ts";

/** The client of an Ollama server: `baseUrl`, `OLLAMA_HOST`, or the local one. */
export function createOllamaClient(options: ProviderOptions, provider: string): Pick<ApiClient, "send" | "keys"> {
  const base = ollamaAddress(options.baseUrl ?? process.env["OLLAMA_HOST"] ?? "");
  const client = new ApiClient({
    // A key in the environment is none of a local server's business.
    options: { ...options, baseUrl: base, apiKey: options.apiKey ?? "" },
    provider,
    defaultBaseUrl: base,
    environmentVariable: "OLLAMA_API_KEY",
    keyOptional: true,
    authorize: (key) => ({ authorization: `Bearer ${key}` }),
  });
  return {
    keys: client.keys,
    async send(call: ApiCall) {
      const response = await client.send(call).catch((error: unknown) => {
        throw ModelError.is(error) && error.failure.code === "ECONNREFUSED" ? notRunning(error, base) : error;
      });
      if (response.status === 404) throw await notFound(response, provider, call.origin);
      return response;
    },
  };
}

function notRunning(error: ModelError, base: string): ModelError {
  const message = `${error.failure.message}; is Ollama running at ${base}? Start it with \`ollama serve\`, or set OLLAMA_HOST`;
  return new ModelError({ ...error.failure, message }, { cause: error });
}

async function notFound(response: TransportResponse, provider: string, { model = "" }: RequestOrigin): Promise<ModelError> {
  const body = await readTextUpTo(response.body, MAX_ERROR_BYTES);
  const error = failureOfStatus(404, response, body, { provider, model });
  if (model === "" || !/model.*not found/.test(error.failure.message)) return error;
  return new ModelError({ ...error.failure, message: `${error.failure.message}; get it with \`ollama pull ${model}\`` });
}
