import { readFileSync } from "node:fs";
import type { CallEffects, PermissionBehavior } from "@keelson/protocol";
import { compilePolicy, decidePermission } from "keelson/agent";
import { judgeEffects, readCommandLine, type SandboxPolicy } from "keelson/environment";
import { readPolicy } from "keelson/security";
import { describe, expect, it } from "vitest";

const cwd = "/home/somebody/project";
const text = (name: string): string => readFileSync(new URL(name, import.meta.url), "utf8");
const page = readFileSync(new URL("../../../../docs/evidence/permissions-2026-11-23.md", import.meta.url), "utf8");
const commands = text("everyday-commands.txt")
  .split("\n")
  .filter((line) => line !== "" && !line.startsWith("## "))
  .map((line) => line.replaceAll("⏎", "\n"));
const rules = text("everyday-rules.json");
const bash = { name: "bash", effect: "write", risk: "high", category: "shell" } as const;

interface Judged {
  readonly line: string;
  readonly behavior: PermissionBehavior;
}
async function judgeAll(file: unknown, sandbox?: SandboxPolicy): Promise<readonly Judged[]> {
  const policies = [compilePolicy({ mode: "default", ...readPolicy(file).permissions })];
  const judged = commands.map(async (line): Promise<Judged> => {
    const read = await readCommandLine(line, { cwd });
    const refused = sandbox && judgeEffects(sandbox, read, { workspace: cwd, home: "/home/somebody" });
    const effects: CallEffects = { ...read, ...(refused && { confined: { refused } }) };
    return { line, behavior: decidePermission({ policies, tool: bash, argumentText: line, effects, cwd }).behavior };
  });
  return Promise.all(judged);
}
const linesThat = (judged: readonly Judged[], behavior: PermissionBehavior): readonly string[] =>
  judged.filter((one) => one.behavior === behavior).map(({ line }) => line.replaceAll("\n", "⏎"));
const row = (what: string, judged: readonly Judged[]): string =>
  `| ${what} | ${linesThat(judged, "ask").length} of ${judged.length} | ${linesThat(judged, "deny").length} |`;

describe("200 everyday commands of developers", () => {
  it("are at most three in twenty asked about under a rule file of at most 15 lines that allows the tests and builds of the project [MC-15]", async () => {
    expect(commands).toHaveLength(200);
    expect(new Set(commands).size).toBe(200);
    expect(rules.trim().split("\n").length).toBeLessThanOrEqual(15);
    const judged = await judgeAll(JSON.parse(rules));
    expect(linesThat(judged, "ask").length).toBeLessThanOrEqual(30);
    expect(page).toContain(row("without a sandbox, under the rule file", judged));
    for (const line of linesThat(judged, "ask")) expect(page).toContain(`\n${line}\n`);
  });

  it("are at most one in fifty asked about or refused inside a sandbox, without any rule file", async () => {
    const alone = await judgeAll({}, {});
    expect(linesThat(alone, "ask").length + linesThat(alone, "deny").length).toBeLessThanOrEqual(4);
    expect(page).toContain(row("inside a sandbox, without any file", alone));
    const ruled = await judgeAll(JSON.parse(rules), {});
    expect(page).toContain(row("inside a sandbox, under the rule file", ruled));
  });

  it("are as often asked about without either as the page says", async () => {
    expect(page).toContain(row("without a sandbox, without any file", await judgeAll({})));
  });
});
