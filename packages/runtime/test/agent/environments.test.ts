import {
  createAgent,
  defineTool,
  EnvironmentError,
  type AgentOptions,
  type CallEffects,
  type Environment,
  type EnvironmentSpec,
  type Executor,
  type PermissionRule,
} from "keelson";
import { createMemoryVfs } from "keelson/environment";
import { scriptedModel, type ScriptedTurn } from "keelson/testing";
import { describe, expect, it } from "vitest";
import { ofType, runnerOf, sharedServices, watch } from "./support.ts";

type SandboxConfig = NonNullable<AgentOptions["sandbox"]>;
const sandbox: SandboxConfig = { enabled: true, deniedCommands: ["curl"] };
const run = (command = "pwd"): ScriptedTurn => ({ toolCalls: [{ name: "shell", input: { command } }] });

/** Tells who ran what it is given. */
function executor(name: string): Executor {
  return {
    async execute({ command = "", cwd = "nowhere", env = {} }) {
      const stdout = `${name} ran ${command} in ${cwd} with ${JSON.stringify(env)}`;
      return { exitCode: 0, signal: null, stdout, stderr: "", stdoutBytes: 0, stderrBytes: 0, timedOut: false, durationMs: 1 };
    },
  };
}

const shell = defineTool({
  name: "shell",
  description: "Runs a command.",
  effect: "idempotent",
  input: { type: "object" },
  async execute(input: unknown, { exec, files, environment }) {
    if (exec === undefined) return "no programs";
    const { stdout } = await exec.execute({ command: (input as { command: string }).command });
    const where = [files && "files", environment && "environment", environment?.exec === exec && "its programs"];
    return `${stdout}; ${where.filter(Boolean).join(", ")}`;
  },
});

/** An environment that notes what is asked of it. */
function notingEnvironment(fields: { readonly files?: boolean; readonly refuses?: Error; readonly closing?: Error } = {}) {
  const specs: EnvironmentSpec[] = [];
  const log: string[] = [];
  const environment: Environment = {
    run: () => Promise.reject(new Error("it runs no operator")),
    async open(spec, { runId }) {
      specs.push(spec);
      if (fields.refuses) throw fields.refuses;
      log.push(`open ${runId}`);
      return {
        exec: executor("the environment"),
        ...(fields.files && { files: createMemoryVfs() }),
        async [Symbol.asyncDispose]() {
          log.push(`close ${runId}`);
          if (fields.closing) throw fields.closing;
        },
      };
    },
  };
  return { environment, specs, log };
}

function agentWith(turns: readonly ScriptedTurn[], options: Partial<AgentOptions> = {}) {
  const model = scriptedModel(turns);
  return { model, agent: createAgent({ name: "a", model, tools: [shell], permissions: { mode: "bypass-all" }, ...options }) };
}

const outputs = async (given: ReturnType<ReturnType<typeof runnerOf>["run"]>): Promise<readonly unknown[]> =>
  ofType((await watch(given)).events, "tool-result").map(({ output }) => output);

describe("a tool that runs its commands with what its run gives it", () => {
  const told = defineTool({
    name: "shell",
    description: "Runs a command.",
    category: "shell",
    risk: "high",
    input: { type: "object" },
    effectsOf(input, { exec }) {
      const effects: CallEffects = { commands: [{ text: String(input["command"]) }], unknown: ["What it does can't be read."] };
      return exec?.confine?.(effects) ?? effects;
    },
    permissionText: (input) => String(input["command"]),
    execute: async (input, { exec }) => (await exec?.execute({ command: String(input["command"]) }))?.stdout ?? "no programs",
  });
  /** Confines what it runs, and refuses `mount`. */
  const confining = (name: string): Executor => ({
    ...executor(name),
    confine(effects) {
      const mounts = effects.commands?.some(({ text }) => text === "mount") === true;
      return { ...effects, confined: { refused: mounts ? ["It starts mount."] : [], reaches: "none" } };
    },
  });
  const environment = (exec: Executor): Environment => ({
    run: () => Promise.reject(new Error("it runs no operator")),
    open: async () => ({ exec, async [Symbol.asyncDispose]() {} }),
  });
  const outcomeOf = async (command: string, services: Parameters<typeof runnerOf>[1], rules: PermissionRule[] = []) => {
    const { agent } = agentWith([run(command), "done"], { tools: [told], permissions: { rules } });
    const { events, outcome } = await watch(runnerOf(agent, { approvalWaitMs: 0, ...services }).run("go"));
    return ofType(events, "tool-result").map(({ output }) => String(output))[0] ?? outcome.reason;
  };

  it("is not asked about where the run's environment confines them, and refused what that would refuse", async () => {
    expect(await outcomeOf("make", {})).toBe("awaiting-approval");
    expect(await outcomeOf("make", { environment: environment(executor("it")) })).toBe("awaiting-approval");
    expect(await outcomeOf("make", { environment: environment(confining("it")) })).toContain("it ran make");
    expect(await outcomeOf("make", { exec: confining("the runner") })).toContain("the runner ran make");
    expect(await outcomeOf("mount", { environment: environment(confining("it")) })).not.toContain("ran mount");
    // What the runner has is not what the run works with.
    const outside = { exec: confining("the runner"), environment: environment(executor("it")) };
    expect(await outcomeOf("make", outside)).toBe("awaiting-approval");
  });

  it("is still asked about or denied where a rule says so", async () => {
    const held = { environment: environment(confining("it")) };
    expect(await outcomeOf("make", held, [{ pattern: "shell(make)", behavior: "ask" }])).toBe("awaiting-approval");
    expect(await outcomeOf("make", held, [{ pattern: "shell(make)", behavior: "deny" }])).toContain("Not permitted");
  });
});

describe("a run whose agent is held in a sandbox", () => {
  it("ends before any model call where its runner has nothing that could hold it, and says what to do [AG-21] [EN-03]", async () => {
    const { agent, model } = agentWith([run(), "done"], { sandbox });
    const outcome = await runnerOf(agent, { exec: executor("the runner") }).run("go").outcome;
    expect(outcome).toMatchObject({ reason: "error", error: { failure: { cause: { kind: "provision-failed" } } } });
    expect(outcome.error?.message).toContain("createSandboxEnvironment({ workspace })");
    expect(model.requests).toEqual([]);
  });

  it("begins without one where the sandbox says that it is not enabled", async () => {
    const { agent } = agentWith(["done"], { sandbox: { ...sandbox, enabled: false } });
    expect((await runnerOf(agent).run("go").outcome).reason).toBe("complete");
  });

  it("has its tools work in the environment and nowhere else, opened once and closed at its end [AG-21] [AG-22]", async () => {
    const { environment, specs, log } = notingEnvironment();
    const { agent } = agentWith([run(), run("ls"), "done"], { sandbox, cwd: "/project", env: { NAME: "value" } });
    const runner = runnerOf(agent, { environment, exec: executor("the runner"), files: createMemoryVfs() });
    const given = runner.run("go");
    expect(await outputs(given)).toEqual([
      'the environment ran pwd in /project with {"NAME":"value"}; environment, its programs',
      'the environment ran ls in /project with {"NAME":"value"}; environment, its programs',
    ]);
    expect(specs).toEqual([{ isolation: [], credentials: [], sandboxes: [sandbox] }]);
    expect(log).toEqual([`open ${given.id}`, `close ${given.id}`]);
  });

  it("hands what the runner asks of every run to the environment as well, and its files to tools [EN-02]", async () => {
    const { environment, specs } = notingEnvironment({ files: true });
    const environmentSpec: EnvironmentSpec = { isolation: [{ type: "process" }], credentials: [], resources: { memory: "1Gi" } };
    const { agent } = agentWith([run(), "done"]);
    expect(await outputs(runnerOf(agent, { environment, environmentSpec }).run("go"))).toEqual([
      "the environment ran pwd in nowhere with {}; files, environment, its programs",
    ]);
    expect(specs).toEqual([environmentSpec]);
  });

  it("ends with the environment's own reason where that can't be opened [EN-05]", async () => {
    for (const [refuses, kind, message] of [
      [
        new EnvironmentError({ kind: "credential-failed", credential: "key", message: "no such key" }),
        "credential-failed",
        /^no such key$/,
      ],
      [new RangeError("no such key"), "other", /^The environment could not be opened: .*no such key/],
    ] as const) {
      const { agent, model } = agentWith([run(), "done"], { sandbox });
      const outcome = await runnerOf(agent, { environment: notingEnvironment({ refuses }).environment }).run("go").outcome;
      expect(outcome).toMatchObject({ reason: "error", error: { failure: { message: expect.stringMatching(message), cause: { kind } } } });
      expect(model.requests).toEqual([]);
    }
  });

  it("tells of an environment that could not be closed, and keeps its outcome", async () => {
    const { environment } = notingEnvironment({ closing: new Error("it is stuck") });
    const { events, outcome } = await watch(runnerOf(agentWith(["done"], { sandbox }).agent, { environment }).run("go"));
    expect(outcome.reason).toBe("complete");
    expect(ofType(events, "status").map(({ status }) => status)).toContain("The environment of the run could not be closed: it is stuck");
  });

  it("opens it again when the run is taken up, and closes it when it waits [AG-21]", async () => {
    const { environment, specs, log } = notingEnvironment();
    const services = sharedServices();
    const { agent } = agentWith([run(), "done"], { sandbox, permissions: { rules: [{ pattern: "shell", behavior: "ask" }] } });
    const first = await runnerOf(agent, { ...services, environment, approvalWaitMs: 0 }).run("go", { session: "s" }).outcome;
    expect(first.reason).toBe("awaiting-approval");
    expect(log.map((line) => line.split(" ")[0])).toEqual(["open", "close"]);
    const runner = runnerOf(agent, { ...services, environment });
    for (const { token } of await runner.approvals.list()) await runner.approve(token, { type: "allow" });
    const resumed = await watch(await runner.resume("s"));
    expect(ofType(resumed.events, "tool-result")).toMatchObject([{ output: expect.stringContaining("the environment ran") }]);
    expect(log.map((line) => line.split(" ")[0])).toEqual(["open", "close", "open", "close"]);
    expect(specs[1]).toEqual(specs[0]);
  });

  it("hands it down to its children, whose own can only take more away [AG-21]", async () => {
    const { environment, specs } = notingEnvironment();
    const own: SandboxConfig = { enabled: true, deniedCommands: ["wget"], network: { enabled: true, deniedDomains: [] } };
    const child = (name: string, more: Partial<AgentOptions> = {}) =>
      createAgent({ name, model: scriptedModel(["found"]), permissions: { mode: "bypass-all" }, ...more });
    const lead = createAgent({
      name: "lead",
      model: scriptedModel([{ toolCalls: ["plain", "free", "strict"].map((name) => ({ name, input: { task: "look" } })) }, "done"]),
      agents: {
        plain: child("plain"),
        free: child("free", { sandbox: { ...own, enabled: false } }),
        strict: child("strict", { sandbox: own }),
      },
      sandbox,
    });
    expect((await runnerOf(lead, { environment }).run("go").outcome).reason).toBe("complete");
    expect(specs.map(({ sandboxes }) => sandboxes)).toEqual([[sandbox], [sandbox], [sandbox], [sandbox, own]]);
  });

  it("is refused by a runner whose environment gives tools nothing to work with", () => {
    const { agent } = agentWith(["done"]);
    expect(() => runnerOf(agent, { environment: { run: () => Promise.reject(new Error()) } })).toThrow(
      /environment must be an object with open/,
    );
  });
});
