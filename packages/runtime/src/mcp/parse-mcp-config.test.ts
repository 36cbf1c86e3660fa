import { createMcpManager } from "keelson/mcp";
import fc from "fast-check";
import { expect, it } from "vitest";
import { parseMcpConfig } from "./parse-mcp-config.ts";

const parse = (mcpServers: unknown, more: object = {}) => parseMcpConfig(JSON.stringify({ mcpServers, ...more }), ".mcp.json");
const messages = (mcpServers: unknown, more: object = {}) => parse(mcpServers, more).problems.map(({ message }) => message);

it("reads servers as the field writes them, with and without their type, and our settings [EF-03]", () => {
  const { servers, problems } = parse({
    files: { command: "npx", args: ["-y", "files"], env: { TOKEN: "${TOKEN}" } },
    typed: { type: "stdio", command: "run", cwd: "sub", required: true, startupWaitMs: 0, timeoutMs: 5, trustAnnotations: true },
    web: { type: "http", url: "https://example.com/mcp", headers: { "x-team": "${TEAM:-ours}" } },
    plain: { url: "https://example.com/mcp" },
    old: { type: "sse", url: "https://example.com/sse", enabled: false },
    other: { type: "streamable-http", url: "https://example.com/mcp", disabled: true },
    known: { url: "https://example.com/mcp", oauth: { clientId: "me", scope: "read" } },
  });
  expect(problems).toEqual([]);
  expect(servers).toEqual({
    files: { type: "stdio", command: "npx", args: ["-y", "files"], env: { TOKEN: "${TOKEN}" } },
    typed: { type: "stdio", command: "run", cwd: "sub", required: true, startupWaitMs: 0, timeoutMs: 5, trustAnnotations: true },
    web: { type: "http", url: "https://example.com/mcp", headers: { "x-team": "${TEAM:-ours}" } },
    plain: { type: "http", url: "https://example.com/mcp" },
    old: { type: "sse", url: "https://example.com/sse", enabled: false },
    other: { type: "http", url: "https://example.com/mcp", enabled: false },
    known: { type: "http", url: "https://example.com/mcp", oauth: { clientId: "me", scope: "read" } },
  });
});

it("tells of each server that can't be used what is wrong, and keeps the others", () => {
  const { servers, problems } = parse({
    "good": { command: "run" },
    "empty": {},
    "list": [],
    "kind": { type: "in-process", name: "x" },
    "half": { type: "http", command: "run" },
    "typed": { command: "run", args: "-y", env: { PORT: 80 } },
    "": { command: "run" },
    "client": { url: "https://example.com", oauth: { clientSecret: "${SECRET}" } },
    "words": { url: "https://example.com", oauth: { scope: ["read"] } },
    "waits": { command: "run", timeoutMs: 0, startupWaitMs: -1 },
  });
  expect(Object.keys(servers)).toEqual(["good"]);
  expect(problems.every(({ file, isLeftOut }) => file === ".mcp.json" && isLeftOut)).toBe(true);
  expect(problems.map(({ message }) => message)).toEqual([
    '.mcp.json: the server "empty" needs a "command" to start, or a "url".',
    '.mcp.json: the server "list" must be an object.',
    '.mcp.json: the server "kind" has the "type" "in-process": it must be stdio, http or sse.',
    '.mcp.json: the server "half" needs a "url", as it is of type http.',
    '.mcp.json: the server "typed" has a "args" that is not a list of texts.',
    '.mcp.json: the server "typed" has a "env" that is not an object of texts.',
    '.mcp.json: the server "" needs a name.',
    '.mcp.json: the server "client" can\'t be used: The server "client" has an `oauth.clientSecret`, and no `oauth.clientId` that it is of.',
    '.mcp.json: the server "words" has a "oauth" that is not an object of texts.',
    '.mcp.json: the server "waits" has a "timeoutMs" that is not a number over 0.',
    '.mcp.json: the server "waits" has a "startupWaitMs" that is not a number from 0.',
  ]);
});

it("passes over fields that it does not know, and says so", () => {
  const given = { mine: { command: "run", icon: "x", url: "https://example.com" } };
  expect(parse(given).servers).toEqual({ mine: { type: "stdio", command: "run" } });
  expect(messages(given, { inputs: [], $schema: "s" })).toEqual([
    '.mcp.json has the field "inputs", which is not known and was passed over.',
    '.mcp.json: the server "mine" has the field "icon", which is not known and was passed over.',
    '.mcp.json: the server "mine" has the field "url", which is not known and was passed over.',
  ]);
  expect(parse(given).problems.map(({ isLeftOut }) => isLeftOut)).toEqual([false, false]);
});

it("tells what is wrong with a file as a whole", () => {
  const problem = (text: string): string | undefined => parseMcpConfig(text, "a.json").problems[0]?.message;
  expect(problem("{")).toMatch(/^a\.json is no JSON: /);
  for (const text of ["[]", "{}", "null", '{ "mcpServers": [] }']) expect(problem(text)).toMatch(/^a\.json has no object "mcpServers"/);
  expect(parseMcpConfig('\uFEFF{ "mcpServers": {} }', "a.json")).toEqual({ servers: {}, problems: [] });
});

it("gives nothing that a manager refuses, whatever the file holds", () => {
  const value = fc.oneof(
    fc.json().map((text): unknown => JSON.parse(text)),
    fc.constantFrom<unknown>("x", 1, true, [], ["x"], { x: "y" }),
  );
  const field = fc.constantFrom(
    "type",
    "command",
    "args",
    "env",
    "url",
    "headers",
    "oauth",
    "timeoutMs",
    "startupWaitMs",
    "disabled",
    "other",
  );
  const entry = fc.dictionary(field, fc.oneof(value, fc.constantFrom("stdio", "http")));
  fc.assert(
    fc.property(fc.dictionary(fc.string(), entry), (entries) => {
      const { servers, problems } = parse(entries);
      createMcpManager({ servers });
      const told = new Set(problems.filter(({ isLeftOut }) => isLeftOut).map(({ server }) => server));
      for (const name of Object.keys(entries)) expect(told.has(name)).toBe(!Object.hasOwn(servers, name));
    }),
  );
});
