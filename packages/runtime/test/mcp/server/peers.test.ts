import { execFile } from "node:child_process";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import type * as V2 from "@modelcontextprotocol/client";
import type * as V2Stdio from "@modelcontextprotocol/client/stdio";
import { serveMcpHttp } from "keelson/mcp";
import { describe, expect, it } from "vitest";
import { everythingServer } from "../../../../../examples/mcp-everything/server.ts";
import { importCompiled } from "./import-compiled.ts";
import { isWithoutPeers, needsPeers, peers } from "../peers.ts";

const root = resolve(import.meta.dirname, "../../../../..");
const SERVER = { command: process.execPath, args: ["--conditions=source", join(root, "examples/mcp-everything/server.ts")], cwd: root };
const VALUE = "This is a simple text response for testing.";

/** What all three clients have in common, as far as it is used. */
interface AnyClient {
  connect(transport: unknown): Promise<void>;
  setRequestHandler(what: unknown, answer: (request: never) => object): void;
  listTools(): Promise<{ readonly tools: readonly { readonly name: string }[] }>;
  callTool(params: object, ...rest: readonly unknown[]): Promise<{ readonly content?: unknown; readonly structuredContent?: unknown }>;
  readResource(params: { readonly uri: string }): Promise<{ readonly contents: readonly unknown[] }>;
  getPrompt(params: object): Promise<{ readonly messages: readonly unknown[] }>;
  complete(params: object): Promise<{ readonly completion: { readonly values: readonly string[] } }>;
  close(): Promise<void>;
}

/** Uses a part of everything that there is. */
async function tryOut(client: AnyClient, transport: unknown): Promise<void> {
  await client.connect(transport);
  try {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain("test_simple_text");
    expect((await client.callTool({ name: "test_simple_text", arguments: {} })).content).toEqual([{ type: "text", text: VALUE }]);
    expect((await client.readResource({ uri: "test://static-text" })).contents).toHaveLength(1);
    expect((await client.getPrompt({ name: "test_prompt_with_image" })).messages).toHaveLength(2);
    const ref = { type: "ref/prompt", name: "test_prompt_with_arguments" };
    expect((await client.complete({ ref, argument: { name: "arg1", value: "par" } })).completion.values).toEqual([
      "paris",
      "park",
      "party",
    ]);
    const asked = await client.callTool({ name: "test_elicitation", arguments: { message: "Who are you?" } });
    expect(JSON.stringify(asked.content)).toContain("ada@example.org");
  } finally {
    await client.close();
  }
}

const PERSON = () => ({ action: "accept", content: { username: "ada", email: "ada@example.org" } });
const CAPABILITIES = { capabilities: { elicitation: { form: {} } } };

describe("the official client, version 2", () => {
  const load = () => importCompiled<typeof V2>("@modelcontextprotocol/client");
  const REVISIONS = [{}, { versionNegotiation: { mode: "auto" } }] as const;

  it.each(REVISIONS)("uses the server over standard input and output %j", async (negotiation) => {
    const { Client } = await load();
    const { StdioClientTransport } = await importCompiled<typeof V2Stdio>("@modelcontextprotocol/client/stdio");
    const client = new Client({ name: "v2", version: "1" }, { ...CAPABILITIES, ...negotiation }) as unknown as AnyClient;
    client.setRequestHandler("elicitation/create", PERSON);
    await tryOut(client, new StdioClientTransport(SERVER));
  });

  it.each(REVISIONS)("uses it over HTTP %j", async (negotiation) => {
    const { Client, StreamableHTTPClientTransport } = await load();
    await using http = await serveMcpHttp(everythingServer());
    const client = new Client({ name: "v2", version: "1" }, { ...CAPABILITIES, ...negotiation }) as unknown as AnyClient;
    client.setRequestHandler("elicitation/create", PERSON);
    await tryOut(client, new StreamableHTTPClientTransport(new URL(http.url)));
  });
});

describe.skipIf(isWithoutPeers)(`the official client, version 1${needsPeers}`, () => {
  const load = async <Module>(path: string) => importCompiled<Module>(join(peers, "sdk/dist/esm", path));

  async function newClient(): Promise<AnyClient> {
    const { Client } = await load<{ Client: new (info: object, options: object) => AnyClient }>("client/index.js");
    const { ElicitRequestSchema } = await load<{ ElicitRequestSchema: unknown }>("types.js");
    const client = new Client({ name: "v1", version: "1" }, CAPABILITIES);
    client.setRequestHandler(ElicitRequestSchema, PERSON);
    return client;
  }

  it("uses the server over standard input and output", async () => {
    const { StdioClientTransport } = await load<{ StdioClientTransport: new (server: object) => object }>("client/stdio.js");
    await tryOut(await newClient(), new StdioClientTransport(SERVER));
  });

  it("uses it over HTTP", async () => {
    const { StreamableHTTPClientTransport } = await load<{ StreamableHTTPClientTransport: new (url: URL) => object }>(
      "client/streamableHttp.js",
    );
    await using http = await serveMcpHttp(everythingServer());
    await tryOut(await newClient(), new StreamableHTTPClientTransport(new URL(http.url)));
  });
});

describe.skipIf(isWithoutPeers)(`the inspector's command line${needsPeers}`, () => {
  const inspector = join(peers, "inspector/clients/launcher/build/index.js");
  const inspect = async (...args: readonly string[]): Promise<string> => {
    const { stdout } = await promisify(execFile)(process.execPath, [inspector, "--cli", ...args], { cwd: root });
    return stdout;
  };

  it("lists and calls tools over standard input and output", async () => {
    const stdio = [SERVER.command, ...SERVER.args];
    expect(await inspect(...stdio, "--method", "tools/list")).toContain("test_simple_text");
    expect(await inspect(...stdio, "--method", "tools/call", "--tool-name", "test_simple_text")).toContain(VALUE);
  }, 60_000);

  it("reads resources and gets prompts over HTTP, with a token", async () => {
    const token = "a-token-for-the-inspector";
    await using http = await serveMcpHttp(everythingServer(), { authenticate: token });
    const where = [http.url, "--transport", "http", "--header", `Authorization: Bearer ${token}`];
    expect(await inspect(...where, "--method", "resources/read", "--uri", "test://static-text")).toContain("static text resource");
    expect(await inspect(...where, "--method", "prompts/get", "--prompt-name", "test_simple_prompt")).toContain("simple prompt");
  }, 60_000);
});
