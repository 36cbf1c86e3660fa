import { describe, expect, it } from "vitest";
import type { CommandLine, RunCommand } from "./command-line.ts";
import { parseCommandLine } from "./parse-command-line.ts";
import { UsageError } from "./usage-error.ts";

const parse = (...argv: string[]): CommandLine => parseCommandLine(argv, "1.2.3");
const parseRun = (...argv: string[]): RunCommand => {
  const command = parse(...argv);
  if (command.type !== "run") throw new Error(`expected a run, got ${command.type}`);
  return command;
};
const refusal = (...argv: string[]): UsageError => {
  try {
    parse(...argv);
  } catch (error) {
    if (error instanceof UsageError) return error;
    throw error;
  }
  throw new Error(`${argv.join(" ")} was accepted`);
};

describe("parseCommandLine", () => {
  it("takes the bare words as the task", () => {
    expect(parseRun("fix", "the", "build")).toEqual({
      type: "run",
      task: "fix the build",
      print: false,
      outputFormat: "text",
      onApproval: "suspend",
      session: { type: "new" },
      fork: false,
      trust: false,
      agent: { rules: [] },
    });
    expect(parseRun()).not.toHaveProperty("task");
  });

  it("reads the wish for output for a screen reader, which is absent by default", () => {
    expect(parseRun("--screen-reader").screenReader).toBe(true);
    expect("screenReader" in parseRun()).toBe(false);
  });

  it("reads the name of a worktree, which may be missing, and the task behind it", () => {
    const read = (...argv: string[]) => {
      const { worktree, task, fork } = parseRun(...argv);
      return [worktree, task, fork];
    };
    expect([
      read("--worktree"),
      read("--worktree", "-p", "mend it"),
      read("--worktree", "--", "mend it"),
      read("--worktree=fix", "mend it"),
      read("--worktree", "fix", "mend it"),
      read("-c", "--fork", "--worktree=fix"),
      read("mend it"),
    ]).toEqual([
      [true, undefined, false],
      [true, "mend it", false],
      [true, "mend it", false],
      ["fix", "mend it", false],
      ["fix", "mend it", false],
      ["fix", undefined, true],
      [undefined, "mend it", false],
    ]);
  });

  it("reads every option of a run", () => {
    expect(
      parseRun(
        "-p",
        "--model",
        "openai/gpt-5",
        "--fallback-model",
        "openai/gpt-5-mini",
        "--output-format",
        "stream-json",
        "--permission-mode",
        "accept-edits",
        "--max-turns",
        "7",
        "--max-budget-usd",
        "0.50",
        "--on-budget",
        "ask",
        "--timeout",
        "10m",
        "-r",
        "s1",
        "--fork",
        "--trust",
        "-C",
        "/tmp",
        "--on-approval",
        "deny",
        "--no-mcp",
        "--mcp-config",
        "servers.json",
        "go",
      ),
    ).toEqual({
      type: "run",
      task: "go",
      print: true,
      outputFormat: "stream-json",
      onApproval: "deny",
      session: { type: "named", id: "s1" },
      fork: true,
      trust: true,
      cwd: "/tmp",
      agent: {
        model: "openai/gpt-5",
        fallbackModel: "openai/gpt-5-mini",
        permissionMode: "accept-edits",
        maxTurns: 7,
        maxCost: "0.5",
        onBudget: "ask",
        timeoutMs: 600_000,
        mcp: false,
        mcpConfig: "servers.json",
        rules: [],
      },
    });
  });

  it("keeps the rules in the order they were given, across behaviours", () => {
    expect(parseRun("--allow", "bash(npm test*)", "--deny", "bash(rm *)", "--ask", "write_file", "--allow", "glob").agent.rules).toEqual([
      { pattern: "bash(npm test*)", behavior: "allow" },
      { pattern: "bash(rm *)", behavior: "deny" },
      { pattern: "write_file", behavior: "ask" },
      { pattern: "glob", behavior: "allow" },
    ]);
  });

  it("forgets the rules of an earlier command line", () => {
    parseRun("--allow", "bash");
    expect(parseRun("go").agent.rules).toEqual([]);
  });

  it("prints instead of conversing when a format for programs is asked for", () => {
    expect(parseRun("--output-format", "json", "go").print).toBe(true);
  });

  it("reads a task that begins with a dash after --", () => {
    expect(parseRun("-p", "--", "-v is not documented").task).toBe("-v is not documented");
  });

  it("reads approve", () => {
    expect(parse("approve", "tok", "allow")).toEqual({ type: "approve", token: "tok", decision: "allow" });
    expect(parse("approve", "tok", "allow-modified", '{"a":1}')).toEqual({
      type: "approve",
      token: "tok",
      decision: "allow-modified",
      value: '{"a":1}',
    });
    expect(parse("approve", "tok", "deny", "-")).toMatchObject({ value: "-" });
    expect(parse("approve", "tok", "allow-always", "bash(npm test*)", "read_file")).toEqual({
      type: "approve",
      token: "tok",
      decision: "allow-always",
      rules: ["bash(npm test*)", "read_file"],
    });
  });

  it("reads every action on sessions", () => {
    expect(parse("sessions", "list", "--all", "--json")).toEqual({ type: "sessions", json: true, action: { type: "list", all: true } });
    expect(parse("sessions", "list", "-C", "/tmp")).toEqual({
      type: "sessions",
      json: false,
      cwd: "/tmp",
      action: { type: "list", all: false },
    });
    expect(parse("sessions", "list", "--agent", "code", "--tag", "x", "--state", "ended", "--since", "7d")).toMatchObject({
      action: { type: "list", all: false, agent: "code", tag: "x", state: "ended", since: { ageMs: 604_800_000 } },
    });
    expect(parse("sessions", "search", "harbour", "map", "--session", "s1", "--limit", "3")).toMatchObject({
      action: { type: "search", text: "harbour map", session: "s1", limit: 3 },
    });
    expect(parse("sessions", "fork", "s1", "--at", "12")).toMatchObject({ action: { type: "fork", id: "s1", seq: 12 } });
    expect(parse("sessions", "show", "s1")).toMatchObject({ action: { type: "show", id: "s1" } });
    expect(parse("sessions", "fork", "s1", "--name", "copy", "--turn", "3")).toMatchObject({
      action: { type: "fork", id: "s1", name: "copy", turn: 3 },
    });
    expect(parse("sessions", "rewind", "s1", "2")).toMatchObject({ action: { type: "rewind", id: "s1", turn: 2 } });
    expect(parse("sessions", "rename", "s1", "a name")).toMatchObject({ action: { type: "rename", id: "s1", name: "a name" } });
    expect(parse("sessions", "tag", "s1", "x", "y")).toMatchObject({ action: { type: "tag", id: "s1", tags: ["x", "y"] } });
    expect(parse("sessions", "delete", "s1")).toMatchObject({ action: { type: "delete", id: "s1" } });
    expect(parse("sessions", "export", "s1", "-")).toMatchObject({ action: { type: "export", id: "s1", file: "-" } });
    expect(parse("sessions", "import", "f", "--as", "s2")).toMatchObject({ action: { type: "import", file: "f", as: "s2" } });
    expect(parse("sessions", "check")).toEqual({ type: "sessions", json: false, action: { type: "check" } });
    expect(parse("sessions", "rehearse", "s1")).toEqual({ type: "sessions", json: false, action: { type: "rehearse", session: "s1" } });
    expect(parse("sessions", "repair", "s1")).toMatchObject({ action: { type: "repair", id: "s1" } });
    expect(parse("sessions", "prune", "--older-than", "30d", "--max-size", "2G", "--archive", "a", "--dry-run")).toMatchObject({
      action: { type: "prune", maxAgeMs: 2_592_000_000, maxBytes: 2_000_000_000, archive: "a", dryRun: true },
    });
    expect(parse("sessions", "prune", "--seal-after", "7d")).toMatchObject({
      action: { type: "prune", sealAfterMs: 604_800_000, dryRun: false },
    });
    expect(() => parse("sessions", "prune")).toThrow("needs to know what may go");
    expect(parse("sessions", "check", "s1")).toMatchObject({ action: { type: "check", session: "s1" } });
  });

  it("reads doctor", () => {
    expect(parse("doctor")).toEqual({ type: "doctor", json: false });
  });

  it("answers --help and --version with text", () => {
    expect(parse("--version")).toEqual({ type: "text", text: "1.2.3\n" });
    const help = parse("--help");
    expect(help.type === "text" && help.text).toMatch(/Usage: keelson[\s\S]*--permission-mode[\s\S]*Exit codes: 0 done/);
  });

  it.each([
    [["--modle", "a/b"], /unknown option '--modle'[\s\S]*--model/],
    [["--model", "gpt"], /provider\/id/],
    [["--output-format", "xml"], /Allowed choices are text, json, stream-json/],
    [["--permission-mode", "yolo"], /default, accept-edits/],
    [["--max-turns", "0"], /at least 1/],
    [["--max-turns", "many"], /whole number/],
    [["--max-budget-usd", "-1"], /no amount/],
    [["--max-budget-usd", "1.2.3"], /no amount/],
    [["--timeout", "soon"], /no duration/],
    [["--timeout", "900h"], /no duration/],
    [["--allow", "bash(npm"], /is no rule/],
    [["--allow", "bash()"], /is no rule/],
    [["--allow", ""], /is no rule/],
    [["-c", "-r", "s1"], /exclude each other/],
    [["--fork"], /needs a session/],
    [["approve", "tok"], /there is no decision about tok/],
    [["-c", "--worktree"], /goes on in the folder that it works in/],
    [["-r", "3fa2", "--worktree=fix"], /goes on in the folder that it works in/],
    [["approve", "tok", "deny", "not", "that"], /takes one value, not 2/],
    [["approve", "tok", "allow-always", "bash("], /is no rule/],
    [["approve", "tok", "maybe"], /Allowed choices are allow, deny/],
    [["sessions"], /needs an action/],
    [["sessions", "rewind", "s1", "x"], /whole number/],
    [["sessions", "list", "--state", "asleep"], /--state must be one of working, suspended, ended/],
    [["sessions", "list", "--since", "yesterday"], /--since "yesterday" is no time/],
    [["sessions", "search"], /missing required argument 'text'/],
    [["sessions", "search", "x", "--limit", "0"], /--limit must be at least 1/],
    [["sessions", "fork", "s1", "--turn", "1", "--at", "2"], /--turn or --at, not both/],
    [["sessions", "explode"], /unknown command 'explode'/],
  ])("refuses %j and says what is wrong", (argv, words) => {
    expect(refusal(...argv).message).toMatch(words);
    expect(refusal(...argv).hint).not.toBe("");
  });

  it("takes -r alone for the wish to choose a session", () => {
    expect(parseRun("-r").session).toEqual({ type: "choose" });
    expect(parseRun("-r", "0192").session).toEqual({ type: "named", id: "0192" });
    expect(parseRun("-r", "--fork")).toMatchObject({ session: { type: "choose" }, fork: true });
  });

  it("knows the permissions of a project", () => {
    expect(parse("permissions")).toEqual({ type: "permissions", action: { type: "list", all: false }, json: false });
    expect(parse("permissions", "list", "--all", "--json")).toMatchObject({ action: { type: "list", all: true }, json: true });
    expect(parse("-C", "sub", "permissions", "remove", "bash(npm test*)")).toEqual({
      type: "permissions",
      action: { type: "remove", rule: "bash(npm test*)" },
      json: false,
      cwd: "sub",
    });
  });
});

it("knows servers: programs with their arguments after --, and URLs", () => {
  expect(parse("mcp", "add", "files", "-e", "A=b", "--env", "C=${D:-e=f}", "--required", "--", "npx", "-y", "--json", "x")).toEqual({
    type: "mcp",
    action: {
      type: "add",
      name: "files",
      scope: "user",
      entry: { command: "npx", args: ["-y", "--json", "x"], env: { A: "b", C: "${D:-e=f}" }, required: true },
    },
    json: false,
    trust: false,
    agent: { rules: [] },
  });
  const entryOf = (...argv: string[]) =>
    (parse("mcp", "add", "web", ...argv) as { readonly action: { readonly entry: object } }).action.entry;
  expect(entryOf("https://example.com/mcp", "-H", "x-team: ours")).toEqual({
    type: "http",
    url: "https://example.com/mcp",
    headers: { "x-team": "ours" },
  });
  expect(entryOf("https://example.com/mcp", "--client-id", "me")).toMatchObject({ oauth: { clientId: "me" } });
  expect(parse("mcp", "login", "web")).toMatchObject({ action: { type: "login", name: "web" }, json: false });
  expect(parse("mcp", "logout", "web", "--json")).toMatchObject({ action: { type: "logout", name: "web" }, json: true });
  expect(entryOf("--transport", "sse", "${BASE}/sse")).toEqual({ type: "sse", url: "${BASE}/sse" });
  expect(entryOf("--transport", "stdio", "--", "https://is-a-program")).toEqual({ command: "https://is-a-program" });
  expect(parse("--trust", "--mcp-config", "s.json", "-C", "sub", "mcp", "test", "web", "--json")).toMatchObject({
    action: { type: "test", name: "web" },
    json: true,
    trust: true,
    cwd: "sub",
    agent: { mcpConfig: "s.json" },
  });
});

it("gives the policy to the command that it is for, wherever it stands before --", () => {
  const policyOf = (...argv: string[]) => (parseCommandLine(argv, "1.0.0") as { readonly policy?: string }).policy;
  expect(policyOf("sandbox", "--policy", "p.json", "--", "npm", "--policy", "x")).toBe("p.json");
  expect(policyOf("--policy", "p.json", "sandbox", "--", "npm")).toBe("p.json");
  expect(policyOf("sandbox", "--", "npm", "--policy", "x")).toBeUndefined();
  expect(parseCommandLine(["permissions", "explain", "--policy", "p.json", "--", "npm test"], "1.0.0")).toMatchObject({
    action: { type: "explain", command: "npm test", agent: { policy: "p.json" } },
  });
});
