import { describe, expect, it } from "vitest";
import { OVERFLOW_WORDINGS, saysOverflow } from "./overflow-wordings.ts";
import { failureInResponse, failureOfStatus, readVendorError } from "./vendor-failure.ts";

const context = { provider: "p", model: "m" };
const headers = { header: () => undefined };
const kindOf = (status: number, message: string, more: object = {}): string =>
  failureOfStatus(status, headers, JSON.stringify({ error: { message, ...more } }), context).failure.kind;

describe("the message of an input that is too long", () => {
  it.each(OVERFLOW_WORDINGS)("is recognised as $source words it: $example", ({ pattern, example }) => {
    expect(pattern.test(example)).toBe(true);
    expect(saysOverflow(example)).toBe(true);
    expect(kindOf(400, example, { type: "invalid_request_error" })).toBe("context-overflow");
    expect(kindOf(422, example)).toBe("context-overflow");
    expect(failureInResponse(readVendorError({ error: example }), context, undefined).failure.kind).toBe("context-overflow");
  });

  it("is recognised behind the status 500 of a proxy, and behind a code of an internal error", () => {
    const detail = "[address=0.0.0.0:43769, pid=1065] The decoder prompt (length 66501) is longer than the maximum model length of 65536.";
    expect(failureOfStatus(500, headers, JSON.stringify({ detail }), context).failure.kind).toBe("context-overflow");
    const message = "Range of input length should be [1, 30720]";
    const error = readVendorError({ error: { code: "InternalError.Algo.InvalidParameter", message } });
    expect(failureInResponse(error, context, undefined).failure.kind).toBe("context-overflow");
    expect(kindOf(503, message)).toBe("server-error");
  });

  it("is the message of vLLM about max_tokens only if the input takes half of the context", () => {
    const message = (input: number): string =>
      `'max_tokens' or 'max_completion_tokens' is too large: 8192. This model's maximum context length is 8192 tokens and your request has ${input} input tokens (8192 > 8192 - ${input}).`;
    expect(kindOf(400, message(6000))).toBe("context-overflow");
    expect(kindOf(400, message(500))).toBe("invalid-request");
  });

  it.each([
    [
      429,
      "Request too large for model in organization on tokens per minute (TPM): Limit 6000, Requested 9000, please reduce the length of the messages",
      "rate-limit",
    ],
    [
      400,
      "Throttling: too many tokens per minute, the context length of your requests exceeds the context window quota",
      "invalid-request",
    ],
    [
      400,
      "max_tokens is too large: 200000. This model supports at most 16384 completion tokens, whereas you provided 200000.",
      "invalid-request",
    ],
    [
      400,
      "`max_tokens` must be less than or equal to `8192`, the maximum value for `max_tokens` is less than the `context_window` for this model",
      "invalid-request",
    ],
    [400, "Range of max_tokens should be [1, 8192]", "invalid-request"],
    [400, "Invalid max_tokens value, the valid range of max_tokens is [1, 8192]", "invalid-request"],
    [400, "the context window of this model cannot be changed", "invalid-request"],
    [400, "Unknown parameter: context_length", "invalid-request"],
  ])("is not a limit of rate, nor a limit of the response: %i %s", (status, message, kind) => {
    expect(kindOf(status, message)).toBe(kind);
  });

  it("is not a request that is larger than the tokens of a minute, which Groq refuses by the status 413", () => {
    const message =
      "Request too large for model `x` on tokens per minute (TPM): Limit 6000, Requested 9000, please reduce your message size";
    expect(kindOf(413, message, { code: "rate_limit_exceeded", type: "tokens" })).toBe("rate-limit");
    expect(kindOf(413, "Request Entity Too Large")).toBe("context-overflow");
  });
});
