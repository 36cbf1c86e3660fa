import { AgentError, type PermissionRule } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { createAgent } from "../create-agent.ts";
import { checkRuleTools } from "./check-rule-tools.ts";
import { defineTool } from "../../../tools/define-tool.ts";

const tool = (name: string, aliases: readonly string[] = []) =>
  defineTool({ name, description: "A tool.", aliases, input: { type: "object" }, effectsOf: () => ({}), execute: () => "done" });
const agentWith = (patterns: readonly string[], { mute = false, agents = {} as object } = {}) => {
  const { effectsOf: _effectsOf, ...silent } = tool("note");
  return createAgent({
    name: "a",
    model: "scripted/model",
    tools: mute ? [silent] : [tool("bash", ["run_command"]), tool("grep")],
    agents: agents as never,
    permissions: { rules: patterns.map((pattern): PermissionRule => ({ pattern, behavior: "deny" })) },
  });
};
const problem = (pattern: string, options?: Parameters<typeof agentWith>[1]): string => {
  try {
    agentWith([pattern], options);
  } catch (error) {
    if (AgentError.is(error, "invalid-option")) return error.message;
    throw error;
  }
  return "accepted";
};

describe("a rule that no call can match", () => {
  it("is refused where the agent is defined, with the rule that was meant [MC-10]", () => {
    expect(problem("Bash(rm*)")).toMatch(/permissions\.rules\[0\].*"Bash\(rm\*\)".*Did you mean "bash\(rm\*\)"/);
    expect(problem("bsh")).toMatch(/Did you mean "bash"/);
    expect(problem("run_command(rm*)")).toMatch(/Did you mean "bash\(rm\*\)"/);
    expect(problem("Read(./.env)")).toMatch(/Did you mean "read_file\(\.\/\.env\)"/);
    expect(problem("Edit(docs/**)")).toMatch(/Did you mean "edit_file\(docs\/\*\*\)"/);
    expect(problem("Bas*")).toMatch(/Did you mean "bas\*"/);
  });

  it("is suggested in our words if it is in those of another coding agent, whatever name that has for the tool [MC-10]", () => {
    expect(problem("Bash(npm test:*)")).toMatch(/Did you mean "bash\(npm test \*\)"/);
    expect(problem("WebFetch(domain:Example.com)")).toMatch(/Did you mean "web_fetch\(example\.com\)"/);
    expect(problem("str_replace_editor(docs/**)")).toMatch(/Did you mean "edit_file\(docs\/\*\*\)"/);
    expect(problem("run_shell_command(ls*)")).toMatch(/Did you mean "bash\(ls\*\)"/);
    expect(problem("NotebookEdit")).toMatch(/Did you mean "edit_file"/);
  });

  it("is refused where it is about a path as no path is written [MC-10]", () => {
    expect(problem("read_file(src/../x)")).toMatch(/"read_file\(src\/\.\.\/x\)", which no call can match.*Did you mean "read_file\(x\)"/);
    expect(problem("read_file(./)")).toMatch(/Did you mean "read_file\(\*\*\)"/);
    expect(problem("edit_file(src/)")).toMatch(/Did you mean "edit_file\(src\/\*\*\)"/);
    expect(problem("write_file(/srv/./a//b)")).toMatch(/Did you mean "write_file\(\/srv\/a\/b\)"/);
    expect(problem("read_file(**/../x)")).toMatch(/Write the path as it is without "\.\."/);
    for (const pattern of ["./src/**", "..", "../x", ".", "/", "/etc/**", "~/x", "...", "a..b/*", '{"path":"src/../x"}'])
      expect(problem(`read_file(${pattern})`), pattern).toBe("accepted");
    for (const pattern of ["bash(cat src/../x)", "bash(ls src/)", "*(src/../x)"]) expect(problem(pattern), pattern).toBe("accepted");
  });

  it("is not one about tools that come later, about files and hosts, or about agents that it may start", () => {
    const accepted = ["mcp:*", "mcp__git__push", "plugin_*", "*", "read_file(.env)", "web_fetch(x.org)", "grep", "b*(x)"];
    for (const pattern of accepted) expect(problem(pattern), pattern).toBe("accepted");
    const below = createAgent({ name: "b", model: "scripted/model", tools: [tool("deploy")] });
    expect(problem("deploy(x)", { agents: { below } })).toBe("accepted");
    expect(problem("below", { agents: { below } })).toBe("accepted");
  });

  it("is refused at the latest where all agents are known, also where nothing like it is there", () => {
    const made = (pattern: string) => () => checkRuleTools([{ pattern, behavior: "deny" }], [tool("bash"), tool("grep")]);
    expect(made("nosuchtool")).toThrow(/no tool "nosuchtool"\. There are bash, grep, read_file/);
    expect(made("deploy(x)")).toThrow(/no tool "deploy"/);
    expect(made("nosuch*")).not.toThrow();
  });
});
