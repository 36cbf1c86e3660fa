import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import type * as V2 from "@modelcontextprotocol/client";
import type * as V2Stdio from "@modelcontextprotocol/client/stdio";
import { describe, expect, it, vi } from "vitest";
import { isWithoutPeers, needsPeers, peers } from "../../runtime/test/mcp/peers.ts";
import { importCompiled } from "../../runtime/test/mcp/server/import-compiled.ts";
import { CLI, MODELS, openWorkspace, type Workspace } from "./keelson-process.ts";

// Every test starts processes, on machines that may be busy.
vi.setConfig({ testTimeout: 120_000 });

/** What the clients have in common, as far as it is used. */
interface AnyClient {
  connect(transport: unknown): Promise<void>;
  listTools(): Promise<{ readonly tools: readonly { readonly name: string }[] }>;
  callTool(params: object): Promise<{ readonly structuredContent?: unknown }>;
  listResources(): Promise<{ readonly resources: readonly { readonly uri: string }[] }>;
  close(): Promise<void>;
}

const TOKEN = "a-token-for-clients";
const SERVE = ["--model", MODELS.anthropic, "mcp", "serve"];
const SAID = "It says: buy milk.";
/** Each conversation with the model: it reads the note and says so. */
const openProject = (conversations: number): Promise<Workspace> =>
  openWorkspace(
    Array.from({ length: conversations }, () => [
      { toolCalls: [{ name: "read_file", input: { path: "note.txt" } }] },
      { text: SAID },
    ]).flat(),
    { "note.txt": "buy milk" },
  );

function program({ project, environment }: Workspace) {
  return { command: process.execPath, args: ["--conditions=source", CLI, ...SERVE], env: { ...environment }, cwd: project };
}

/** Has the server at work over HTTP meanwhile. */
async function overHttp(workspace: Workspace, use: (url: URL, token: { readonly Authorization: string }) => Promise<void>): Promise<void> {
  const { child, finished, until, output } = workspace.start([...SERVE, "--port", "0"], { env: { KEELSON_MCP_TOKEN: TOKEN } });
  let errors = "";
  child.stderr?.on("data", (text: string) => (errors += text));
  await until(/http:\/\/\S+/);
  const url = /http:\/\/[^\s"]+/.exec(output() + errors)?.[0] ?? "";
  await use(new URL(url), { Authorization: `Bearer ${TOKEN}` });
  child.kill("SIGTERM");
  await finished;
}

/** Lists what there is, has the agent work, and finds its session. */
async function tryOut(client: AnyClient, transport: unknown): Promise<void> {
  await client.connect(transport);
  try {
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain("keelson");
    const called = await client.callTool({ name: "keelson", arguments: { task: "What does the note say?" } });
    expect(called).toMatchObject({ structuredContent: { reason: "complete", text: SAID } });
    const { session } = called.structuredContent as { readonly session: string };
    expect((await client.listResources()).resources.map(({ uri }) => uri)).toContain(`keelson://sessions/${session}`);
  } finally {
    await client.close();
  }
}

describe.each([{}, { versionNegotiation: { mode: "auto" } }] as const)(
  "keelson mcp serve, by the official client of version 2 %j",
  (options) => {
    const newClient = async (): Promise<AnyClient> => {
      const { Client } = await importCompiled<typeof V2>("@modelcontextprotocol/client");
      return new Client({ name: "v2", version: "1" }, options) as unknown as AnyClient;
    };

    it("works over standard input and output", async () => {
      await using workspace = await openProject(1);
      const { StdioClientTransport } = await importCompiled<typeof V2Stdio>("@modelcontextprotocol/client/stdio");
      await tryOut(await newClient(), new StdioClientTransport(program(workspace)));
    });

    it("works over HTTP", async () => {
      await using workspace = await openProject(1);
      const { StreamableHTTPClientTransport } = await importCompiled<typeof V2>("@modelcontextprotocol/client");
      await overHttp(workspace, async (url, headers) => {
        await tryOut(await newClient(), new StreamableHTTPClientTransport(url, { requestInit: { headers: { ...headers } } }));
      });
    });
  },
);

describe.skipIf(isWithoutPeers)(`keelson mcp serve, by others${needsPeers}`, () => {
  const load = async <Module>(path: string) => importCompiled<Module>(join(peers, "sdk/dist/esm", path));
  const newClient = async (): Promise<AnyClient> => {
    const { Client } = await load<{ Client: new (info: object) => AnyClient }>("client/index.js");
    return new Client({ name: "v1", version: "1" });
  };

  it("works with the official client of version 1, over standard input and output", async () => {
    await using workspace = await openProject(1);
    const { StdioClientTransport } = await load<{ StdioClientTransport: new (server: object) => object }>("client/stdio.js");
    await tryOut(await newClient(), new StdioClientTransport(program(workspace)));
  });

  it("works with the official client of version 1, over HTTP", async () => {
    await using workspace = await openProject(1);
    type Http = { StreamableHTTPClientTransport: new (url: URL, options: object) => object };
    const { StreamableHTTPClientTransport } = await load<Http>("client/streamableHttp.js");
    await overHttp(workspace, async (url, headers) => {
      await tryOut(await newClient(), new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
    });
  });

  it("works with the inspector's command line, over both", async () => {
    await using workspace = await openProject(2);
    const inspector = join(peers, "inspector/clients/launcher/build/index.js");
    const inspect = async (...args: readonly string[]): Promise<string> => {
      const { stdout } = await promisify(execFile)(process.execPath, [inspector, "--cli", ...args], { cwd: workspace.project });
      return stdout;
    };
    const call = ["--method", "tools/call", "--tool-name", "keelson", "--tool-arg", "task=What does the note say?"];
    const { command, args, env } = program(workspace);
    // It passes on little of its own environment.
    const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
    expect(await inspect("env", ...variables, command, ...args, ...call)).toContain(SAID);
    await overHttp(workspace, async (url, { Authorization }) => {
      expect(await inspect(url.href, "--transport", "http", "--header", `Authorization: ${Authorization}`, ...call)).toContain(SAID);
    });
  });
});
