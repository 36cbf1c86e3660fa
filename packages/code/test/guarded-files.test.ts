import type { Approver, JsonValue, PermissionPolicy } from "@keelson/protocol";
import { createAgent, createRunner } from "keelson";
import { scriptedModel } from "keelson/testing";
import { describe, expect, it } from "vitest";
import { createToolWorkspace } from "./tool-workspace.ts";

/** One call of a coding tool by an agent with these permissions, and what came of it. */
async function call(name: string, input: JsonValue, permissions: Partial<PermissionPolicy> = {}) {
  using workspace = createToolWorkspace();
  for (const path of [".env", ".env.example", "certs/a.pem", "src/a.ts", "private/b.ts"]) workspace.put(path, "TOKEN=1\n");
  const model = scriptedModel([{ toolCalls: [{ name, input }] }, "done"]);
  const agent = createAgent({ name: "coder", model, tools: workspace.tools, cwd: workspace.root, permissions });
  const asked: string[] = [];
  const approvals: Approver = ({ reason }) => (asked.push(reason), { type: "allow" });
  const outcome = await createRunner({ agent, approvals, context: () => workspace.context }).run("go").outcome;
  const results = model.requests.at(-1)?.messages.at(-1)?.content as readonly { readonly output: string }[];
  return { asked, output: results[0]?.output ?? "", outcome };
}

describe("files that rules guard, or that are sensitive", () => {
  it("are left out by grep, which says so, in every form of its output", async () => {
    for (const mode of ["content", "files", "count"]) {
      const { asked, output } = await call("grep", { pattern: "TOKEN", mode });
      expect(asked).toEqual([]);
      expect(output.split("\n").filter((line) => !line.startsWith("["))).toEqual(
        [".env.example", "private/b.ts", "src/a.ts"].map(
          (path) => ({ content: `${path}:1:TOKEN=1`, files: path, count: `${path}:1` })[mode],
        ),
      );
      expect(output).toContain("[Left out, since the permission rules guard them: .env, certs/a.pem.");
    }
  });

  it("are left out by glob, which says so; rules of read_file count like those of its own", async () => {
    const permissions = { rules: [{ pattern: "read_file(private/**)", behavior: "deny" }] } as const;
    const { output } = await call("glob", { pattern: "**/*.{ts,pem}" }, permissions);
    expect(output).toBe(
      "src/a.ts\n[Left out, since the permission rules guard them: certs/a.pem, private/b.ts. Name one as path to ask for it.]",
    );
  });

  it("are searched where they were named and allowed, and where nothing is guarded", async () => {
    const named = await call("grep", { pattern: "TOKEN", path: ".env" });
    expect(named.asked).toEqual([expect.stringContaining('it reads ".env"')]);
    expect(named.output).toBe(".env:1:TOKEN=1");
    const bypassed = await call("grep", { pattern: "TOKEN", mode: "files" }, { mode: "bypass-all" });
    expect(bypassed.output).toBe(".env\n.env.example\ncerts/a.pem\nprivate/b.ts\nsrc/a.ts");
  });

  it("are denied to every tool by a rule of read_file, by whatever spelling [MC-15]", async () => {
    const permissions = { mode: "bypass-all", rules: [{ pattern: "read_file(**/.env)", behavior: "deny" }] } as const;
    const calls: readonly (readonly [string, JsonValue])[] = [
      ["read_file", { path: ".env" }],
      ["read_file", { path: "./src/../.env" }],
      ["grep", { pattern: "T", path: ".env" }],
      ["list_directory", { path: ".env" }],
      ["glob", { pattern: "*", path: ".env" }],
      ["edit_file", { path: ".env", old_string: "1", new_string: "2" }],
    ];
    for (const [name, input] of calls) expect((await call(name, input, permissions)).output, name).toContain("Not permitted");
  });

  it("that steer what runs later are asked about in accept-edits, others are not", async () => {
    const asked = async (path: string) => (await call("write_file", { path, content: "x" }, { mode: "accept-edits" })).asked.length;
    for (const path of [".git/hooks/pre-commit", "AGENTS.md", ".husky/pre-push", ".vscode/tasks.json", ".env.local"])
      expect(await asked(path), path).toBe(1);
    for (const path of ["src/new.ts", "docs/agents.txt", ".env.sample"]) expect(await asked(path), path).toBe(0);
  });
});
