import { describe, expect, it } from "vitest";
import { readRateLimit } from "./rate-limit.ts";
import { failureInResponse, failureOfStatus, type HeaderLookup, readVendorError, retryAfterMs } from "./vendor-failure.ts";

const headers = (values: Record<string, string>): HeaderLookup => ({ header: (name) => values[name] });
const none = headers({});
const context = { provider: "p", model: "m" };

describe("a vendor's error", () => {
  it("is one line with the title if a proxy answers with a page, alone or within JSON", () => {
    const style = `<style>${".a{color:red}".repeat(5000)}</style>`;
    const page = `<!DOCTYPE html>\n<html><head>${style}<title>\n502 Bad\nGateway &amp; more</title></head><body><h1>Sorry</h1>${"<p>no</p>".repeat(9000)}</body></html>`;
    for (const body of [page, JSON.stringify({ error: { message: page } }), JSON.stringify({ error: page })]) {
      const { message } = failureOfStatus(502, { header: () => undefined }, body, { provider: "p", model: "m" });
      expect(message).toBe('an HTML page: "502 Bad Gateway & more" (p, HTTP 502)');
    }
    expect(readVendorError("<html><body><h1>Blocked</h1></body></html>").message).toBe("Blocked");
    expect(readVendorError(`<html>${"<p>no</p>".repeat(9000)}</html>`).message).toBe("an HTML page without a title");
    expect(readVendorError("<".repeat(200_000)).message.length).toBeLessThan(600);
  });

  it.each([
    ['{"error":{"message":"m","type":"t","code":"c"}}', { message: "m", type: "t", code: "c" }],
    ['{"type":"error","error":{"type":"t","message":"m"},"request_id":"r"}', { message: "m", type: "t", requestId: "r" }],
    ['{"error":"words"}', { message: "words" }],
    ['{"message":"words","code":404}', { message: "words", code: "404" }],
    ['{"detail":"words"}', { message: "words" }],
    ['{"detail":[{"loc":["body"],"msg":"required"}]}', { message: '[{"loc":["body"],"msg":"required"}]' }],
    ['[{"error":{"message":"m","code":400}}]', { message: "m", code: "400" }],
    ['{"error":{"message":"m","code":null,"type":""}}', { message: "m" }],
    ['{"strange":1}', { message: '{"strange":1}' }],
    ["<html><style>p{}</style><h1>502</h1>\n<p>Bad gateway</p>", { message: "502 Bad gateway" }],
    ["upstream   connect error", { message: "upstream connect error" }],
    ["", { message: "" }],
    ["null", { message: "null" }],
  ])("is read from %s [PV-09]", (body, expected) => {
    expect(readVendorError(body)).toEqual(expected);
  });

  it.each([
    [{ message: "x", code: "502" }, "server-error"],
    [{ message: "x", code: "429" }, "rate-limit"],
    [{ message: "x", code: "rate_limit_exceeded" }, "rate-limit"],
    [{ message: "x", type: "overloaded_error" }, "server-error"],
    [{ message: "x", code: "tool_use_failed", type: "invalid_request_error" }, "invalid-response"],
    [{ message: "x", type: "authentication_error" }, "authentication"],
    [{ message: "x", code: "insufficient_quota" }, "billing"],
    [{ message: "prompt is too long", type: "invalid_request_error" }, "context-overflow"],
    [{ message: "x", type: "invalid_request_error" }, "invalid-request"],
    [{ message: "x", code: "content_filter" }, "content-blocked"],
    [{ message: "x", code: "weird" }, "server-error"],
    [{ message: "x" }, "server-error"],
  ])("inside a response is of the kind its own code says: %j is %s [PV-09]", (error, kind) => {
    expect(failureInResponse(error, context, "r").failure).toMatchObject({ kind, requestId: "r", provider: "p" });
  });

  it.each([
    [400, '{"error":{"message":"Incorrect API key provided: x"}}', "authentication"],
    [400, '{"error":{"type":"exceed_context_size_error","message":"x"}}', "context-overflow"],
    [413, '{"error":{"message":"maximum context length is 8192 tokens"}}', "context-overflow"],
    [413, '{"error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}', "context-overflow"],
    [413, "<h1>Request Entity Too Large</h1>", "context-overflow"],
    [400, '{"error":{"message":"input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000"}}', "context-overflow"],
    [400, '{"error":"This model\'s maximum prompt length is 131072 but the request contains 537812 tokens."}', "context-overflow"],
    [400, '{"error":{"message":"prompt token count of 70000 exceeds the limit of 64000"}}', "context-overflow"],
    [400, '{"error":{"code":"content_policy_violation","message":"x"}}', "content-blocked"],
    [405, "", "invalid-request"],
    [599, "", "server-error"],
    [418, "", "invalid-request"],
  ])("of status %i with %s is %s [PV-09]", (status, body, kind) => {
    expect(failureOfStatus(status, none, body, context).failure.kind).toBe(kind);
  });

  it("names the request, and only says how long to wait where waiting helps", () => {
    expect(failureOfStatus(429, headers({ "x-request-id": "r", "retry-after": "2" }), "", context).failure).toMatchObject({
      requestId: "r",
      retryAfterMs: 2000,
    });
    expect(failureOfStatus(400, headers({ "apim-request-id": "a", "retry-after": "2" }), "", context).failure).toEqual({
      kind: "invalid-request",
      message: expect.any(String),
      provider: "p",
      model: "m",
      status: 400,
      requestId: "a",
    });
  });
});

it.each([
  [{ "retry-after": "2" }, 2000],
  [{ "retry-after": "0.5" }, 500],
  [{ "retry-after-ms": "12.2" }, 13],
  [{ "retry-after": "1", "retry-after-ms": "0" }, 1000],
  [{ "retry-after": "1", "retry-after-ms": "1500" }, 1500],
  [{ "retry-after": "Sat, 21 Nov 2026 10:00:05 GMT", "date": "Sat, 21 Nov 2026 10:00:00 GMT" }, 5000],
  [{ "retry-after": "Sat, 21 Nov 2026 09:00:00 GMT", "date": "Sat, 21 Nov 2026 10:00:00 GMT" }, 0],
  [{ "retry-after": "soon" }, undefined],
  [{ "retry-after": "-1" }, 0],
  [{}, undefined],
])("the wait that %j asks for is %s ms", (values, expected) => {
  // Dates before now, which a negative number may pass for, ask for no wait.
  expect(retryAfterMs(headers(values as Record<string, string>))).toBe(expected);
});

it("reads rate limits of both header families, in dates and durations, and only when they are nearly used up", () => {
  const chat = (remaining: string, reset = "6m0s"): unknown =>
    readRateLimit(
      headers({ "x-ratelimit-limit-requests": "100", "x-ratelimit-remaining-requests": remaining, "x-ratelimit-reset-requests": reset }),
      "x-ratelimit",
      1000,
    );
  expect(chat("0")).toEqual({ utilization: 1, resetAt: 361_000, allowed: true });
  expect(chat("10", "20ms")).toMatchObject({ resetAt: 1020 });
  expect(chat("10", "1h2m1.5s")).toMatchObject({ resetAt: 1000 + 3_600_000 + 121_500 });
  expect([chat("50"), chat("x"), readRateLimit(none, "anthropic-ratelimit", 0)]).toEqual([undefined, undefined, undefined]);
});
