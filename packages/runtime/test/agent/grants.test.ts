import { createAgent, createRunner, defineTool } from "keelson";
import { scriptedModel, type ScriptedTurn } from "keelson/testing";
import type { AgentError, ApprovalRequest, CallEffects, Decision, EventLog, PermissionRule, ToolEffect } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { ofType, sharedServices, watch } from "./support.ts";

/** A shell as rules see it: parts between semicolons, of which `ls` changes nothing. */
function effectsOf(line: string): CallEffects {
  const parts = line.split("; ");
  return { commands: parts.map((text) => ({ text, ...(text.startsWith("ls") && { readOnly: true }) })) };
}

function shell({ later = false }: { readonly later?: boolean } = {}) {
  const ran: string[] = [];
  const bash = defineTool<{ readonly command: string }>({
    name: "bash",
    description: "Runs a command line.",
    effect: "write",
    risk: "high",
    input: { type: "object", properties: { command: { type: "string" } }, required: ["command"] } as never,
    permissionText: ({ command }) => command,
    effectsOf: ({ command }) => (later ? Promise.resolve(effectsOf(command)) : effectsOf(command)),
    execute: ({ command }) => (ran.push(command), "done"),
  });
  return { bash, ran };
}
const line = (command: string): ScriptedTurn => ({ toolCalls: [{ name: "bash", input: { command } }] });

interface WorkOptions {
  readonly decide?: (request: ApprovalRequest) => Decision | undefined;
  readonly rules?: readonly PermissionRule[];
  readonly log?: (log: EventLog) => EventLog;
  readonly later?: boolean;
}
/** Runs these lines one after another, each in a run of its own of the same session. */
async function work(lines: readonly string[], { decide, rules = [], log = (same) => same, later = false }: WorkOptions = {}) {
  const services = sharedServices();
  const { bash, ran } = shell({ later });
  const model = scriptedModel(lines.flatMap((command): ScriptedTurn[] => [line(command), "done"]));
  const agent = createAgent({ name: "a", model, tools: [bash], permissions: { rules }, loopGuard: false });
  const asked: ApprovalRequest[] = [];
  const approvals = (request: ApprovalRequest): Decision | undefined => (asked.push(request), decide?.(request));
  const kept = log(services.log);
  // A runner for each: what was allowed has to be in the log.
  const runner = () => createRunner({ ...services, log: kept, agent, approvals });
  const told = [];
  for (const _line of lines) told.push(await watch(runner().run("go", { session: "s" })));
  return {
    asked: asked.map(({ input }) => (input as { readonly command: string }).command),
    requests: asked,
    ran,
    told,
    runner,
    world: services,
  };
}

describe("allow-always", () => {
  it("allows the narrowest of what the question offered: this very line, and no other of the tool [AV-02, AP-07]", async () => {
    const { asked, requests, ran, told } = await work(["echo hello; ls", "echo hello; ls", "rm -rf build", "echo hello; rm -rf build"], {
      decide: ({ input }) => ({ type: JSON.stringify(input).includes("rm") ? "deny" : "allow-always" }),
    });
    expect(asked).toEqual(["echo hello; ls", "rm -rf build", "echo hello; rm -rf build"]);
    expect(ran).toEqual(["echo hello; ls", "echo hello; ls"]);
    expect(requests[0]?.always).toEqual([
      { scope: "exact", rules: ["bash(echo hello; ls)"] },
      { scope: "command", rules: ["bash(echo **)"] },
      { scope: "tool", rules: ["bash"] },
    ]);
    expect(ofType(told[0]?.events ?? [], "approval-decision")).toMatchObject([{ rules: ["bash(echo hello; ls)"] }]);
  });

  it("allows the rules that the decision names, in later runs too; what a rule denies or asks for stays as it is [AV-02, MC-15]", async () => {
    const decide = ({ input }: ApprovalRequest): Decision =>
      JSON.stringify(input).includes("npm test") ? { type: "allow-always", rules: ["bash(npm *)"] } : { type: "deny" };
    const rules: readonly PermissionRule[] = [
      { pattern: "bash(npm publish*)", behavior: "ask" },
      { pattern: "bash(npm unpublish*)", behavior: "deny" },
    ];
    const lines = ["npm test", "npm run build; ls", "npm publish", "npm unpublish x", "npm test; rm x"];
    const { asked, ran, requests } = await work(lines, { decide, rules, later: true });
    expect(asked).toEqual(["npm test", "npm publish", "npm test; rm x"]);
    expect(ran).toEqual(["npm test", "npm run build; ls"].concat("npm test; rm x"));
    expect(requests[1]?.always).toBeUndefined();
  });

  it("allows this call alone where the question offers nothing more", async () => {
    const rules: readonly PermissionRule[] = [{ pattern: "bash", behavior: "ask" }];
    const { asked, ran } = await work(["ls", "ls"], { rules, decide: () => ({ type: "allow-always" }) });
    expect([asked, ran]).toEqual([
      ["ls", "ls"],
      ["ls", "ls"],
    ]);
  });

  it("with a rule that is none is refused, and the question stays open [AV-02]", async () => {
    const { told, runner, ran } = await work(["npm test"]);
    const [wait] = told[0]?.outcome.waits ?? [];
    const token = wait?.type === "approval" ? wait.token : "";
    const refused = async (rules: unknown) =>
      (await runner()
        .approve(token, { type: "allow-always", rules } as Decision)
        .catch((error: unknown) => error)) as AgentError;
    expect(await refused(["Bash(npm*)"])).toMatchObject({ failure: { kind: "invalid-option", option: "decision.rules" } });
    expect((await refused(["Bash(npm*)"])).message).toMatch(/"Bash\(npm\*\)".*Did you mean "bash\(npm\*\)"/);
    expect((await refused(["bash(npm"])).message).toMatch(/has a "\(" without a "\)"/);
    expect((await refused("bash")).failure.kind).toBe("invalid-option");
    expect((await refused([7])).failure.kind).toBe("invalid-option");
    await runner().approve(token, { type: "allow-always", rules: ["bash(npm *)"] });
    const outcome = await (await runner().resume("s")).outcome;
    expect([outcome.reason, ran]).toEqual(["complete", ["npm test"]]);
  });

  it("of the first release, which kept the tool's name, allows the arguments that were asked about and nothing else", async () => {
    const asWritten = (log: EventLog): EventLog => ({
      ...log,
      append: (id, seq, records, options) =>
        log.append(
          id,
          seq,
          records.map((record) => {
            if (record.type !== "approval-decision") return record;
            const { rules: _rules, ...data } = record.data as { readonly rules?: unknown };
            return { ...record, data: { ...data, grant: "bash" } as never };
          }),
          options,
        ),
    });
    const decide = ({ input }: ApprovalRequest): Decision => ({ type: JSON.stringify(input).includes("rm") ? "deny" : "allow-always" });
    const { asked, ran } = await work(["echo hello; cat *", "echo hello; cat *", "rm -rf build"], { log: asWritten, decide });
    expect(asked).toEqual(["echo hello; cat *", "rm -rf build"]);
    expect(ran).toEqual(["echo hello; cat *", "echo hello; cat *"]);
  });
});

describe("a tool that says what its calls would do", () => {
  it("is asked once about a call, also where no rule judges it: a call that only reads may be repeated", async () => {
    let asked = 0;
    const { bash } = shell();
    const counting = { ...bash, effectsOf: (input: never, where: object) => (asked++, bash.effectsOf?.(input, where) ?? {}) };
    const run = (mode: "default" | "bypass-all", rules: readonly PermissionRule[] = [], effect: ToolEffect = "write") =>
      createRunner({
        agent: createAgent({
          name: "a",
          model: scriptedModel([line("ls"), "done"]),
          tools: [{ ...counting, effect }],
          permissions: { mode, rules },
        }),
      })
        .run("go")
        .outcome.then(() => asked);
    // It could say nothing less of itself.
    expect(await run("bypass-all", [], "read")).toBe(0);
    expect(await run("bypass-all")).toBe(1);
    expect(await run("bypass-all", [{ pattern: "bash(rm*)", behavior: "deny" }])).toBe(2);
    expect(await run("default")).toBe(3);
  });

  it("is told the agent's folder, and ends the run where it throws", async () => {
    const seen: object[] = [];
    const { bash, ran } = shell();
    const outcomeOf = (effects: () => CallEffects | Promise<CallEffects>) => {
      const tool = { ...bash, effectsOf: (_input: unknown, where: object) => (seen.push(where), effects()) };
      const agent = createAgent({ name: "a", model: scriptedModel([line("ls"), "done"]), tools: [tool], cwd: "/srv/app" });
      return createRunner({ agent }).run("go").outcome;
    };
    const thrown = (): never => {
      throw new Error("no parser");
    };
    for (const effects of [thrown, async () => thrown()]) {
      const { reason, error } = await outcomeOf(effects);
      expect([reason, error?.failure]).toEqual([
        "error",
        { kind: "panic", callback: "effectsOf of bash", message: expect.stringContaining("no parser") },
      ]);
    }
    expect([seen[0], ran]).toEqual([{ cwd: "/srv/app", kept: {} }, []]);
  });
});
