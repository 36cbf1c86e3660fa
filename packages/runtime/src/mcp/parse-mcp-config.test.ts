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
  expect(messages(given, { inputs: [], $schema: "s", profiles: {} })).toEqual([
    '.mcp.json has the field "profiles", which is not known and was passed over.',
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

it("reads the spellings of other programs: comments, lists, addresses, variables and commands in one list", () => {
  const text = `// servers of an editor
  {
    "inputs": [{ "id": "token", "type": "promptString" }],
    "servers": {
      "files": { "type": "local", "command": ["npx", "-y", "files"], "environment": { "TOKEN": "\${env:TOKEN}" }, },
      "web": { "httpUrl": "https://example.com/mcp", "headers": { "Authorization": "Bearer \${env:WEB_TOKEN}" } },
      "surf": { "serverUrl": "https://example.com/mcp", /* as one editor writes it */ },
      "stream": { "transport": "streamable_http", "url": "https://example.com/\${TEAM:-ours}" },
      "far": { "type": "remote", "url": "https://example.com/mcp" },
    },
  }`;
  expect(parseMcpConfig(text, ".vscode/mcp.json")).toEqual({
    servers: {
      files: { type: "stdio", command: "npx", args: ["-y", "files"], env: { TOKEN: "${TOKEN}" } },
      web: { type: "http", url: "https://example.com/mcp", headers: { Authorization: "Bearer ${WEB_TOKEN}" } },
      surf: { type: "http", url: "https://example.com/mcp" },
      stream: { type: "http", url: "https://example.com/${TEAM:-ours}" },
      far: { type: "http", url: "https://example.com/mcp" },
    },
    problems: [],
  });
});

it("leaves a server out that an editor would ask for a value, or whose field confines it, and says what to write", () => {
  const problem = (entry: object) => {
    const { servers, problems } = parse({ it: { command: "run", ...entry } });
    return [Object.keys(servers).length, problems[0]?.message.replace('.mcp.json: the server "it" ', "")];
  };
  expect(problem({ env: { KEY: "${input:api-key}" } })).toEqual([
    0,
    "has ${input:api-key}, which an editor would ask you for: set a variable of the environment, such as API_KEY, and write ${API_KEY}.",
  ]);
  expect(problem({ args: ["${workspaceFolder}/x"] })[1]).toMatch(/a variable of editors: paths are relative/);
  expect(problem({ args: ["${userHome}/x"] })[1]).toMatch(/write \$\{HOME\}/);
  expect(problem({ args: ["${command:pick}"] })).toEqual([0, expect.stringMatching(/not understood: write \$\{NAME\}/)]);
  expect(problem({ excludeTools: ["rm"] })).toEqual([0, expect.stringMatching(/not supported: deny these tools/)]);
  expect(problem({ url: "https://a.example", httpUrl: "https://b.example" })).toEqual([0, expect.stringMatching(/remove one/)]);
  expect(problem({ trust: true })).toEqual([1, expect.stringMatching(/passed over: no file says/)]);
  expect(problem({ timeout: 5 })).toEqual([1, expect.stringMatching(/write "timeoutMs"/)]);
  expect(problem({ type: "ws" })).toEqual([0, 'has the "type" "ws": it must be stdio, http or sse.']);
});

it("uses the server of mcpServers if servers has one of its name", () => {
  const { servers, problems } = parse({ a: { command: "one" } }, { servers: { a: { command: "two" }, b: { command: "three" } } });
  expect(servers).toEqual({ a: { type: "stdio", command: "one" }, b: { type: "stdio", command: "three" } });
  expect(problems.map(({ message }) => message)).toEqual([
    '.mcp.json: the server "a" stands in "mcpServers" and in "servers": that in "servers" is not used.',
  ]);
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
    "httpUrl",
    "transport",
    "environment",
    "excludeTools",
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
