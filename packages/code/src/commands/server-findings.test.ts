import { describe, expect, it } from "vitest";
import type { McpServerConfig } from "@keelson/protocol";
import { mcpClientProblem } from "keelson/mcp";
import type { CommandHost } from "../core/command-host.ts";
import type { FoundServer } from "../servers/find-servers.ts";
import { list } from "./mcp.ts";
import { packagesFinding, serverFindings } from "./server-findings.ts";

const found = (name: string, config: McpServerConfig, more: Partial<FoundServer> = {}): FoundServer => ({
  name,
  config,
  scope: "user",
  file: "/home/mcp.json",
  state: "usable",
  ...more,
});
const place = { environment: { PATH: "/usr/bin:/bin", TOKEN: "sk-secret" }, command: "keelson", folder: "/" };

it("tells which servers could be started, and shows no secret", async () => {
  const servers = [
    found("shell", { type: "stdio", command: "sh", args: ["-c", "x"], env: { TOKEN: "${TOKEN}" } }),
    found("gone", { type: "stdio", command: "no-such-program" }),
    found("unset", { type: "http", url: "https://me:sk-secret@example.com/mcp?key=sk-secret", headers: { a: "${MISSING}" } }),
    found("off", { type: "http", url: "https://example.com" }, { state: "disabled" }),
    found("off", { type: "http", url: "https://example.com" }, { state: "shadowed" }),
    found(
      "theirs",
      { type: "stdio", command: "sh" },
      { scope: "project", state: "untrusted", item: { kind: "server", path: ".mcp.json#theirs", digest: "0", shows: [] } },
    ),
  ];
  const problems = [
    { file: "/f", message: "/f is no JSON", isLeftOut: true },
    { file: "/f", message: "/f has a field", isLeftOut: false },
  ];
  const findings = await serverFindings({ servers, problems }, place);
  expect(JSON.stringify(findings)).not.toContain("sk-secret");
  expect(findings).toEqual([
    { what: "MCP shell", state: "ok", detail: "stdio, sh -c x, of your mcp.json; keelson mcp test shell tries it" },
    { what: "MCP gone", state: "broken", detail: "stdio, no-such-program, of your mcp.json; there is no program no-such-program" },
    {
      what: "MCP unset",
      state: "broken",
      detail: expect.stringMatching(/^http, https:\/\/example\.com\/mcp\?…, of your mcp\.json; .*MISSING, which is not set/) as string,
    },
    { what: "MCP off", state: "ok", detail: "http, https://example.com, of your mcp.json; disabled" },
    {
      what: "MCP theirs",
      state: "missing",
      detail: "stdio, sh, of .mcp.json of this project; nobody trusts it as it is: keelson trust accept .mcp.json#theirs",
    },
    { what: "MCP", state: "broken", detail: "/f is no JSON" },
    { what: "MCP", state: "missing", detail: "/f has a field" },
  ]);
});

describe("the packages for MCP", () => {
  it("are broken if the SDK cannot be loaded, with the remedy, in doctor and in the list of servers", async () => {
    const missing = (name: string): Promise<unknown> => Promise.reject(new Error(`Cannot find package '${name}'`));
    const problem = await mcpClientProblem(missing);
    expect(problem).toContain("npm install @modelcontextprotocol/client");
    expect(await mcpClientProblem()).toBeUndefined();
    expect(packagesFinding(problem)).toEqual({ what: "MCP packages", state: "broken", detail: problem });
    expect(packagesFinding(undefined).state).toBe("ok");

    const config = { type: "stdio", command: "notes" } as const;
    const servers = [{ name: "notes", scope: "user", file: "mcp.json", config, state: "usable" }] as const;
    const shown = (clientProblem: string | undefined, json: boolean): readonly [number, string] => {
      let text = "";
      const stdout = { write: (more: string) => void (text += more) } as unknown as CommandHost["stdout"];
      return [list({ servers, problems: [] }, json, { stdout, environment: {}, command: "keelson" }, clientProblem), text];
    };
    expect(shown(undefined, false)).toEqual([0, expect.stringContaining("✔ notes")]);
    const [code, text] = shown(problem, false);
    expect([code, text.includes("✔")]).toEqual([1, false]);
    expect(text).toMatch(/✗ notes[\s\S]*npm install @modelcontextprotocol\/client/);
    expect(shown(problem, true)).toEqual([1, expect.stringContaining('"clientProblem":"Servers of the Model Context Protocol need')]);
  });
});
